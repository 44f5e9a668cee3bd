//! need: the memory that an order takes, told before any of it is asked for.
//!
//! promises  an upper bound that holds for every graph of these counts, beyond what is mapped; refused early where it is not there
use warploom_contract::{ErrorKind, StageError, kinds::csr::Csr};
use warploom_shell::limits::show_size;
use warploom_spec::Method;

/// Bytes at the peak, beside the mapped csr.
pub fn bytes(csr: &Csr, method: Method) -> u64 {
    let (nodes, edges) = (csr.nodes() as u64, csr.edges() as u64);
    let slots = 24 + if csr.weights.is_some() { 4 } else { 0 } + if csr.types.is_some() { 4 } else { 0 };
    // The new csr, numbers there and back, and what figures are made with.
    let permuted = slots * edges + 32 * nodes + 24 * nodes;
    // Both ends of each pair, at first with those that come twice.
    let undirected = 16 * edges + 8 * nodes;
    let found = match method {
        Method::None => return 32 * nodes,
        Method::Random | Method::Degree | Method::ApproximateDegree | Method::HubSort | Method::HubCluster => 32 * nodes,
        Method::FirstColumn | Method::ColumnsThenRows => 32 * nodes,
        Method::Breadth | Method::Rcm => undirected + 24 * nodes,
        Method::Auto | Method::Rabbit => undirected + 16 * edges + 120 * nodes,
        // The graph twice more, here and in the child, and what METIS makes of it: each level has half of the edges of the one before.
        Method::Metis => undirected + 8 * edges + 60 * edges + 100 * nodes,
    };
    permuted.max(found + 8 * nodes)
}

/// An error that says what is needed and what there is.
pub fn refuse_too_large(csr: &Csr, method: Method, memory: u64) -> Result<(), StageError> {
    let needed = bytes(csr, method);
    if needed <= memory {
        return Ok(());
    }
    let what = format!(
        "an order by `{}` needs {} ({needed} bytes) for {} nodes and {} edges, and {} ({memory} bytes) may be used",
        method.name(),
        show_size(needed),
        csr.nodes(),
        csr.edges(),
        show_size(memory)
    );
    let lighter = if method == Method::None { "" } else { " , or  --set reorder.method=none" };
    Err(StageError::new(ErrorKind::Memory, what).hint(format!("--memory {needed}  if the machine has it{lighter}")))
}
