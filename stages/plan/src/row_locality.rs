//! row_locality: whether neighbouring rows read near rows, so that what one reads is in a GPU's
//! cache when the next is done.
//!
//! promises  follows from the edges as they are numbered alone: `reorder` states in its manifest
//!           what a walk moves on shipped devices, so that plan's key holds what is looked at
//! never     opens an edge
use warploom_contract::{Inputs, Kind, StageError, kinds::permutation};
use warploom_vertex::emit::cuda::Order;
use warploom_vertex::tuning;

/// Of the graph that is planned for: local, where a walk over all rows fetches little more than
/// each row once, on that of the shipped devices whose cache holds most. Nothing of it is asked for
/// a CPU.
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
