//! moved_bytes: the bytes that sums over edges and rows move, by which passes choose.
//!
//! promises  one formula for both alternatives: a sum reads per edge its far vertex (4 bytes), its
//!           edge values and the far row, and writes a row per vertex; rows are read and written
//!           once by each operation that is not fused with its producer
//! never     models caches: a row read by many edges counts for each of them, as it passes through
//!           the device's L2 (the measure of `sDE`); edges of one relation count as all edges,
//!           since their number is not known here
use warploom_ir::{Builder, Data, EdgeSet, Gir, Node, NodeId, Op, Place, Type};

/// Bytes of this many elements in each row of the vertices.
pub(super) fn rows(data: &Data, columns: u64) -> u64 {
    data.nodes.saturating_mul(columns).saturating_mul(data.bytes_per_real)
}

/// Bytes that a sum over these edges reads: the far vertex of each edge and this many columns.
pub(super) fn gather(data: &Data, edges: EdgeSet, columns: u64) -> u64 {
    let times = if edges.rows() == warploom_ir::EdgeRows::Twice { 2 } else { 1 };
    (data.edges * times).saturating_mul(4 + columns.saturating_mul(data.bytes_per_real))
}

/// Columns that an edge value reads per edge: of far rows and of stored edge values; rows of the
/// summing vertex are read once per vertex and count nothing.
pub(super) fn columns_per_edge(builder: &Builder<'_>, edges: EdgeSet, ids: &[NodeId]) -> u64 {
    leaves(&builder.gir, edges, ids).iter().map(|leaf| width(builder.node(*leaf))).sum()
}

/// The inputs of edge values: views of far rows, and stored edge values.
pub(super) fn leaves(gir: &Gir, edges: EdgeSet, ids: &[NodeId]) -> Vec<NodeId> {
    let (mut waiting, mut seen, mut leaves) =
        (ids.to_vec(), std::collections::BTreeSet::new(), Vec::new());
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = gir.node(id);
        match (&node.op, node.place) {
            (_, Place::C | Place::P | Place::G | Place::D) => {}
            (op, _) if super::distribute_over_sum::is_own_row(op, edges) => {}
            (Op::Far(_) | Op::Near(_) | Op::Turn | Op::Input(_), _) => leaves.push(id),
            _ => waiting.extend(&node.inputs),
        }
    }
    leaves.sort();
    leaves
}

/// Elements of a row in units of a float; a bool is at least an eighth, an int two, an id one.
fn width(node: &Node) -> u64 {
    match node.kind {
        Type::Int => 2 * node.columns(),
        _ => node.columns(),
    }
}
