//! row_locality: whether neighbouring rows read nearby rows, so that a row read by one is still in
//! the GPU's L2 when the next needs it.
//!
//! promises  follows from the numbering of the nodes alone: the manifest of `reorder` states how
//!           many bytes a walk fetches on shipped devices, and plan's key holds that figure
//! never     reads an edge
use warploom_contract::{Inputs, Kind, StageError, kinds::permutation};
use warploom_cuda::Order;
use warploom_tuning as tuning;

/// `Local` where a walk over all rows fetches little more than each row once, on the shipped device
/// with the largest L2. Always `Spread` for a CPU, which does not use it.
pub fn row_order(is_gpu: bool, inputs: &Inputs) -> Result<Order, StageError> {
    if !is_gpu {
        return Ok(Order::Spread);
    }
    let artifact = inputs.get(Kind::Permutation)?;
    let (nodes, edges) = (artifact.count("nodes")?, inputs.get(Kind::Csr)?.count("edges")?);
    let row = 4 * permutation::WALK_COLUMNS;
    let streamed = 4 * (nodes + 1 + edges) + row * nodes;
    let fetched =
        artifact.find_count(permutation::WALK_BYTES).map(|bytes| bytes.saturating_sub(streamed));
    let is_local = fetched.is_some_and(|fetched| {
        nodes > 0 && fetched as f64 <= tuning::local_fetch() * (row * nodes) as f64
    });
    Ok(if is_local { Order::Local } else { Order::Spread })
}
