//! memory_estimate: the memory of a reorder method, known before it is allocated.
//!
//! promises  an upper bound for every graph of these counts, without mapped files; a method that
//!           needs more than there is, is refused early
use warploom_contract::{ErrorKind, StageError, kinds::csr::Csr};
use warploom_shell::machine_limits::{memory_option, show_size};
use warploom_spec::Method;

/// Peak bytes, beside the mapped csr.
pub fn peak_bytes(csr: &Csr, method: Method) -> u64 {
    let (nodes, edges) = (csr.nodes() as u64, csr.edges() as u64);
    // The figures: a walk whose blocks are all sampled.
    let figures = 8 * edges + 24 * nodes;
    // The new csr and both permutations; weights and types by edge id and in their new order.
    let traits =
        if csr.weights.is_some() { 8 } else { 0 } + if csr.types.is_some() { 4 } else { 0 };
    let permuted = (24 + traits) * edges + 32 * nodes + figures;
    // Both ends of each pair, at first with duplicates.
    let undirected = 16 * edges + 8 * nodes;
    let found = match method {
        Method::None => return figures + 8 * nodes,
        Method::Random
        | Method::Degree
        | Method::ApproximateDegree
        | Method::HubSort
        | Method::HubCluster
        | Method::Program => 32 * nodes,
        // Ids of the data set and of the table, most of them short words.
        Method::File => 200 * nodes,
        Method::FirstColumn | Method::ColumnsThenRows => 32 * nodes,
        Method::Breadth | Method::Rcm => undirected + 24 * nodes,
        Method::Auto | Method::Rabbit => undirected + 16 * edges + 120 * nodes,
        // Copies of the graph in this process and the child, and METIS's coarser graphs.
        Method::Metis => undirected + 68 * edges + 100 * nodes,
    };
    permuted.max(found + figures)
}

/// Refuses a method that needs more memory than there is; the error has both numbers.
pub fn refuse_too_large(csr: &Csr, method: Method, memory: u64) -> Result<(), StageError> {
    let needed = peak_bytes(csr, method);
    if needed <= memory {
        return Ok(());
    }
    let what = format!(
        "an order by `{}` needs {} ({needed} bytes) for {} nodes and {} edges, and {} ({memory} \
         bytes) may be used",
        method.name(),
        show_size(needed),
        csr.nodes(),
        csr.edges(),
        show_size(memory)
    );
    let lighter = if method == Method::None { "" } else { "; or  --set reorder.method=none" };
    Err(StageError::new(ErrorKind::Memory, what).hint(memory_option(needed) + lighter))
}
