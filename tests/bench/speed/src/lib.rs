//! warploom-bench: what benchmarks of single parts share. Each benchmark is a file of `examples`.
//!
//! usage  cargo run --release -p warploom-bench --example NAME -- ARGUMENTS
//!
//! never  is built by `make build` or `make test`; `tests/bench/run.sh` builds it
use std::path::PathBuf;
use std::time::Instant;

/// The first two arguments of a benchmark: a folder, and a number of threads, which are started.
pub fn folder_and_threads() -> (PathBuf, usize) {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    (folder.into(), start_threads(&arguments.next().expect("a number of threads")))
}

/// Starts the pool of the process with that many threads.
pub fn start_threads(count: &str) -> usize {
    let count = count.parse().expect("a number of threads");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
    pool.build_global().expect("the first pool of the process");
    count
}

/// Runs work; gives its seconds and its result.
pub fn time<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begun = Instant::now();
    let result = work();
    (begun.elapsed().as_secs_f64(), result)
}

/// The least seconds of several rounds.
pub fn best_seconds(rounds: usize, mut work: impl FnMut()) -> f64 {
    (0..rounds).map(|_| time(&mut work).0).fold(f64::INFINITY, f64::min)
}

/// Keeps the compiler from leaving the work out.
pub fn keep<T>(found: T) {
    std::hint::black_box(found);
}
