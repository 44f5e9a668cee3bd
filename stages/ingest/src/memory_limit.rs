//! memory_limit: how much memory a graph may take, and where its edges go beyond that.
use warploom_contract::Context;
use warploom_formats::out_of_core::Limit;

/// What the process takes for itself, for blocks of a file and of the table that is written, on any
/// number of threads up to 8: 5 M edges of text take 39 MiB with 1 thread under `--memory 1MiB`,
/// and 46 MiB with 8.
pub const MEMORY_LEAST: u64 = 48 << 20;

/// What edges may take, and where they go beyond it.
pub fn edge_limit(context: &Context) -> Limit {
    Limit { memory: context.memory, folder: context.store.root().to_path_buf() }
}
