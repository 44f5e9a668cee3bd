//! profile_speed: times the profile of a graph without reading or writing files, part by part.
//! One JSON line for each part; `all` is the whole.
//!
//! usage: profile_speed GRAPH_FOLDER THREADS      (GRAPH_FOLDER: an artifact of kind `graph`)
use warploom_bench::{best_seconds, folder_and_threads, keep};
use warploom_contract::{
    Artifact, Kind, communities as quality,
    kinds::graph::{NODES_FILE, read_edges},
    row_order, windows,
};
use warploom_extract::{
    group::build_csr,
    profile::{Attributes, communities, components, degrees, labels, measure},
};

const ROUNDS: usize = 5;

fn main() {
    let (folder, threads) = folder_and_threads();
    let artifact = Artifact::from_folder(Kind::Graph, &folder).expect("a graph artifact");
    let rows = build_csr(
        artifact.count("nodes").expect("counted") as usize,
        &read_edges(&artifact).expect("edges"),
    );
    let (incoming, outgoing) = (rows.incoming.rows(), rows.outgoing.rows());
    let attributes = Attributes::read(&artifact).expect(NODES_FILE);
    let entries = incoming.neighbours.len() as u64;
    let say = |part: &str, work: &dyn Fn()| {
        let best = best_seconds(ROUNDS, work);
        println!(
            "{{\"part\": \"{part}\", \"threads\": {threads}, \"edges\": {entries}, \"seconds\": \
             {best:.4}}}"
        );
    };
    say("attributes", &|| keep(Attributes::read(&artifact)));
    say("degrees", &|| keep((degrees::degree_spread(incoming), degrees::degree_spread(outgoing))));
    say("order", &|| keep(row_order::measure(incoming)));
    say("components", &|| keep(components::components(incoming)));
    say("blocks", &|| keep(components::diagonal_blocks(incoming, outgoing, u64::MAX)));
    say("windows", &|| keep(windows::windows(incoming, entries)));
    say("homophily", &|| {
        keep(
            attributes
                .labels
                .as_ref()
                .and_then(|labels| labels::homophily(labels, incoming, outgoing)),
        )
    });
    let found = communities::find(incoming, outgoing, &|_| {});
    say("communities", &|| keep(communities::find(incoming, outgoing, &|_| {})));
    say("communities' figures", &|| keep(quality::figures(&found, incoming, outgoing)));
    say("all", &|| keep(measure(&rows, attributes.clone(), &warploom_contract::progress::Silence)));
    println!(
        "{}",
        serde_json::to_string(
            &measure(&rows, attributes.clone(), &warploom_contract::progress::Silence).communities
        )
        .expect("plain numbers")
    );
}
