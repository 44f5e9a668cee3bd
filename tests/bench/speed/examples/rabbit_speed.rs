//! rabbit_speed: times Rabbit order on a csr without writing files, the best round, beside what
//! its communities and its order are worth. One JSON line.
//!
//! usage: rabbit_speed CSR_FOLDER THREADS      (CSR_FOLDER: an artifact of kind `csr`)
//! limits the peak of memory counts what the method holds beside the graph, and is 0 where the
//! kernel does not tell it
use warploom_bench::{folder_and_threads, time};
use warploom_contract::{
    Artifact, Kind, communities,
    kinds::{csr::Csr, permutation::inverse},
    row_order,
};
use warploom_reorder::{methods::rabbit, permute::permute, undirected_neighbours::Undirected};

/// Rounds go on for so long.
const SECONDS: f64 = 0.5;
const ROUNDS_LEAST: f64 = 4.0;
const ROUNDS_MOST: f64 = 100.0;

/// A line of what the kernel says of this process, in bytes.
fn of_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| {
        rest.trim_start_matches(':').trim().strip_suffix(" kB")?.parse::<u64>().ok()
    })
    .unwrap_or(0)
        * 1024
}

fn main() {
    let (folder, threads) = folder_and_threads();
    let csr =
        Csr::open(&Artifact::from_folder(Kind::Csr, &folder).expect("an artifact")).expect("a csr");
    let (seconds_undirected, graph) = time(|| Undirected::from_csr(&csr));
    // From here on the peak is that of the method.
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = of_status("VmRSS");
    let (mut seconds, found) = time(|| rabbit::order(&graph, &|_| {}));
    let peak = if reset { of_status("VmHWM").saturating_sub(before) } else { 0 };
    for _ in 0..(SECONDS / seconds).clamp(ROUNDS_LEAST, ROUNDS_MOST) as usize {
        let (again, other) = time(|| rabbit::order(&graph, &|_| {}));
        assert!(other == found, "another order in another run");
        seconds = seconds.min(again);
    }
    let figures = communities::figures(&found.community, graph.rows(), graph.rows());
    let renumbered = permute(&csr, &inverse(&found.old_of_new));
    println!(
        "{{\"threads\": {threads}, \"nodes\": {}, \"edges\": {}, \"seconds\": {seconds:.4}, \
         \"seconds_undirected\": {seconds_undirected:.4}, \"communities\": {}, \"modularity\": \
         {:.5}, \"lines_before\": {:.3}, \"lines\": {:.3}, \"bytes_peak\": {peak}}}",
        graph.nodes(),
        csr.edges(),
        figures.count,
        figures.modularity,
        row_order::measure(csr.incoming.rows()).lines_per_32_edges,
        row_order::measure(renumbered.incoming.rows()).lines_per_32_edges,
    );
}
