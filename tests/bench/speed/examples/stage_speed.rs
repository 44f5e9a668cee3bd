//! stage_speed: times what the stage `reorder` does beside finding an order, part by part,
//! without reading or writing files. One JSON line for each part.
//!
//! usage: stage_speed CSR_FOLDER THREADS      (CSR_FOLDER: an artifact of kind `csr`)
use warploom_bench::{best_seconds, folder_and_threads, keep};
use warploom_contract::{
    Artifact, Kind,
    kinds::{csr::Csr, permutation::inverse},
    row_order, windows,
};
use warploom_reorder::{
    cache::{MissCurve, Walk},
    check,
    methods::{rabbit, random},
    order_quality,
    permute::permute,
    undirected_neighbours::Undirected,
};

const ROUNDS: usize = 5;

fn main() {
    let (folder, threads) = folder_and_threads();
    let csr =
        Csr::open(&Artifact::from_folder(Kind::Csr, &folder).expect("an artifact")).expect("a csr");
    let (incoming, outgoing, edges) =
        (csr.incoming.rows(), csr.outgoing.rows(), csr.edges() as f64);
    let say = |part: &str, work: &dyn Fn()| {
        let best = best_seconds(ROUNDS, work);
        println!(
            "{{\"part\": \"{part}\", \"threads\": {threads}, \"edges\": {edges}, \"seconds\": \
             {best:.4}, \"edges_per_second\": {:.3e}}}",
            edges / best
        );
    };
    let shuffled = inverse(&random::order(csr.nodes(), 1));
    check::same_edges(&csr, &Csr::from(permute(&csr, &shuffled)), &shuffled)
        .expect("the same edges");
    let kept: Vec<u32> = (0..csr.nodes() as u32).collect();
    say("permute, at random", &|| keep(permute(&csr, &shuffled)));
    let by_rabbit = inverse(&rabbit::order(&Undirected::from_csr(&csr), &|_| {}).old_of_new);
    say("permute, by rabbit", &|| keep(permute(&csr, &by_rabbit)));
    say("permute, as it stands", &|| keep(permute(&csr, &kept)));
    say("order", &|| keep(row_order::measure(incoming)));
    say("windows", &|| keep(windows::windows(incoming, csr.edges() as u64)));
    say("curve of rows", &|| keep(MissCurve::from_walk(&Walk::new(incoming, outgoing, None), 1)));
    say("curve of pairs of rows", &|| {
        keep(MissCurve::from_walk(&Walk::new(incoming, outgoing, None), 2))
    });
    let devices = warploom_device::shipped();
    say("standing", &|| {
        keep(order_quality::measure_standing(
            incoming,
            outgoing,
            csr.types.is_some(),
            &devices,
            &|_| {},
        ))
    });
}
