//! scheme_speed: times every scheme on a csr without writing files: what it takes is
//! foreseen, its tables are built, and, apart, they are proved. One JSON line for each.
//!
//! usage: scheme_speed CSR_FOLDER THREADS [SETTING=VALUE ...]
//!        CSR_FOLDER: an artifact of kind `csr`; settings: those of `partition`; without
//!        `scheme=...` all schemes
use std::path::Path;

use warploom_bench::{folder_and_threads, time};
use warploom_contract::{
    Artifact, Kind,
    kinds::{csr::Csr, partition::Tables},
};
use warploom_partition::{
    schemes::{build, outline, prove},
    size_estimate::Room,
};
use warploom_shell::requests::PartitionRequest;
use warploom_spec::{Scheme, read_text};

const ROUNDS: usize = 5;

fn main() {
    let (folder, threads) = folder_and_threads();
    let settings: Vec<String> =
        std::env::args().skip(3).map(|setting| format!("partition.{setting}")).collect();
    let pipelines =
        read_text("dataset: none\nplan: {program: none.py}\n", Path::new("none.yaml"), &settings);
    let spec = pipelines.unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0).partition;
    let asked = spec.scheme.clone();
    let request = PartitionRequest { spec, ..PartitionRequest::default() };
    let csr =
        Csr::open(&Artifact::from_folder(Kind::Csr, &folder).expect("an artifact")).expect("a csr");
    let edges = csr.edges() as f64;
    let csr_bytes = 24 * csr.edges() as u64 + 16 * (csr.nodes() as u64 + 1);
    let wanted = |scheme: &&Scheme| {
        !matches!(scheme, Scheme::Auto | Scheme::File | Scheme::Program)
            && (asked.contains(&Scheme::Auto) || asked.contains(scheme))
    };
    for &scheme in Scheme::ALL.iter().filter(wanted) {
        let Ok(foreseen) = outline(scheme, &csr, &request, Room(u64::MAX)) else {
            println!(
                "{{\"scheme\": \"{scheme}\", \"left_out\": \"the graph lacks what it divides by\"}}"
            );
            continue;
        };
        // Tables are freed after the clock stopped.
        let once = |_| {
            time(|| {
                let outline =
                    outline(scheme, &csr, &request, Room(u64::MAX)).expect("it was foreseen");
                build(&outline.scheme, &csr, &[], &request).expect("it can be built")
            })
        };
        let seconds =
            (0..ROUNDS).map(once).fold(f64::INFINITY, |best, (seconds, _)| best.min(seconds));
        let tables: Tables = build(&foreseen.scheme, &csr, &[], &request)
            .expect("it can be built")
            .into_iter()
            .collect();
        let (prove_seconds, proved) = time(|| prove(&foreseen.scheme, &csr, &[], &tables));
        proved.unwrap_or_else(|wrong| panic!("{scheme}: {}", wrong.0));
        println!(
            "{{\"scheme\": \"{scheme}\", \"threads\": {threads}, \"edges\": {edges}, \"seconds\": \
             {seconds:.4}, \"edges_per_second\": {:.0}, \"bytes_peak\": {}, \"bytes_peak_of_csr\": \
             {:.3}, \"prove_seconds\": {:.4}}}",
            edges / seconds,
            foreseen.bytes_peak(),
            foreseen.bytes_peak() as f64 / csr_bytes as f64,
            prove_seconds,
        );
    }
}
