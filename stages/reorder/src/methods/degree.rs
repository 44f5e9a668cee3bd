//! degree: order by degree, descending by default, ties in the old order: often read rows are
//! adjacent, and heavy rows start first.
//!
//! limits    O(nodes log nodes), one sort; 20 bytes a node
use warploom_contract::row_order::order_by_degree;

/// The old number of each new one.
pub fn order(degrees: &[u64], ascending: bool) -> Vec<u32> {
    order_by_degree(degrees.len(), |node| degrees[node as usize], ascending)
}
