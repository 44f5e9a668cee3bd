//! Times one method on a csr without writing files, beside what its order and its communities are worth. One JSON line.
//! `seconds` is the best round, `seconds_cpu` what all threads computed in the mean of all rounds.
//!
//! usage: order_speed CSR_FOLDER METHOD THREADS      (CSR_FOLDER: an artifact of kind `csr`; METHOD: see `order_of`)
//! limits the peak of memory counts what the method holds beside the graph, and is 0 where the kernel does not tell it
use std::{path::Path, time::Instant};

use warploom_contract::{
    Artifact, Kind, Manifest, communities,
    kinds::{csr::Csr, permutation::inverse},
    order,
};
use warploom_reorder::{
    methods::{approximate_degree, breadth, degree, hubs, rabbit, random, rcm},
    undirected::Undirected,
};

/// Rounds go on for so long.
const SECONDS: f64 = 0.5;
const ROUNDS_LEAST: f64 = 4.0;
const ROUNDS_MOST: f64 = 100.0;

/// An order and, where the method finds some, communities.
fn order_of(method: &str, graph: &Undirected) -> (Vec<u32>, Option<Vec<u32>>) {
    let degrees = || -> Vec<u64> { graph.rows().degrees().collect() };
    let order = match method {
        "none" => (0..graph.nodes() as u32).collect(),
        "random" => random::order(graph.nodes(), 0),
        "degree" => degree::order(&degrees(), false),
        "approx-degree" => approximate_degree::order(&degrees(), 1000, false),
        "hub-sort" => hubs::order(&degrees(), true),
        "hub-cluster" => hubs::order(&degrees(), false),
        "bfs" => breadth::order(graph),
        "rcm" => rcm::order(graph),
        "rabbit" => {
            let found = rabbit::order(graph);
            return (found.old_of_new, Some(found.community));
        }
        _ => panic!("no method `{method}`"),
    };
    (order, None)
}

/// A line of what the kernel says of this process, in bytes.
fn of_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.trim_start_matches(':').trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Seconds that all threads of this process have computed.
fn seconds_cpu() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of_task = |path: std::path::PathBuf| std::fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse::<u64>().ok();
    tasks.filter_map(|task| of_task(task.path())).sum::<u64>() as f64 * 1e-9
}

/// Runs work; gives its result and seconds.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begun = Instant::now();
    let result = work();
    (begun.elapsed().as_secs_f64(), result)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, method, threads] = &arguments[..] else { panic!("usage: order_speed CSR_FOLDER METHOD THREADS") };
    let (folder, threads) = (Path::new(folder), threads.parse().expect("a number of threads"));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("the first pool of the process");
    let manifest = Manifest::read(folder, Kind::Csr).expect("a manifest").expect("a csr artifact");
    let csr = Csr::open(&Artifact { kind: Kind::Csr, path: folder.to_path_buf(), manifest }).expect("a csr");
    let (seconds_undirected, graph) = timed(|| Undirected::of(&csr));
    // From here on the peak is that of the method.
    let reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = of_status("VmRSS");
    let (mut seconds, (old_of_new, community)) = timed(|| order_of(method, &graph));
    let peak = if reset { of_status("VmHWM").saturating_sub(before) } else { 0 };
    // What a thread computed is told by the tick: only the sum of many rounds is exact.
    let rounds = (SECONDS / seconds).clamp(ROUNDS_LEAST, ROUNDS_MOST) as usize;
    let begun = seconds_cpu();
    for _ in 0..rounds {
        let (again, (order, _)) = timed(|| order_of(method, &graph));
        assert!(order == old_of_new, "another order in another run");
        seconds = seconds.min(again);
    }
    let cpu = (seconds_cpu() - begun) / rounds as f64;
    let figures = community.map(|community| communities::figures(&community, graph.rows(), graph.rows()));
    let (count, modularity) = figures.map_or((0, 0.0), |figures| (figures.count, figures.modularity));
    let lines = |new_of_old: Option<&[u32]>| order::measure(csr.incoming.rows(), new_of_old).lines_per_32_edges;
    println!(
        "{{\"method\": \"{method}\", \"threads\": {threads}, \"nodes\": {}, \"edges\": {}, \"seconds\": {seconds:.4}, \
         \"seconds_cpu\": {cpu:.4}, \"seconds_undirected\": {seconds_undirected:.4}, \
         \"communities\": {count}, \"modularity\": {modularity:.5}, \"lines_before\": {:.3}, \"lines\": {:.3}, \"bytes_peak\": {peak}}}",
        graph.nodes(),
        csr.edges(),
        lines(None),
        lines(Some(&inverse(&old_of_new))),
    );
}
