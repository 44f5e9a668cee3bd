//! memory_limit: the memory limit of edges, and the folder to which they spill beyond it.
use warploom_contract::Context;
use warploom_formats::out_of_core::Limit;

/// Memory of the process itself, for blocks of input files and of the output table, with up to 8
/// threads: 5 M edges of text take 39 MiB with 1 thread under `--memory 1MiB`, and 46 MiB with 8.
pub const MEMORY_LEAST: u64 = 48 << 20;

/// The memory limit of edges, and where they spill.
pub fn edge_limit(context: &Context) -> Limit {
    Limit { memory: context.memory, folder: context.store.root().to_path_buf() }
}
