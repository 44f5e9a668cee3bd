//! moved_bytes: what a sum over edges and what rows move, by which passes choose.
//!
//! promises  figures of one formula for both ways of a choice: a sum reads for each edge its far
//!           vertex (4 bytes), its edge values and the far row, and writes a row a vertex; rows are
//!           read and written once by each operation that is no neighbour of its producer
//! never     knows caches: a row read by many edges counts for each of them, as it goes through the
//!           device's second cache (the measure of `sDE`); edges of one relation count as all
//!           edges, since their number is not known here
use crate::gir::{Builder, Data, EdgeSet, Gir, Node, NodeId, Op, Place, Type};

/// Bytes of so many elements in each row of the vertices.
pub(super) fn rows(data: &Data, columns: u64) -> u64 {
    data.nodes.saturating_mul(columns).saturating_mul(data.bytes_per_real)
}

/// Bytes that a sum over these edges reads: the far vertex of each edge and so many columns of
/// elements.
pub(super) fn gather(data: &Data, edges: EdgeSet, columns: u64) -> u64 {
    let times = if edges.rows() == crate::gir::EdgeRows::Twice { 2 } else { 1 };
    (data.edges * times).saturating_mul(4 + columns.saturating_mul(data.bytes_per_real))
}

/// Columns that computing an edge value reads for each edge: of far rows and of stored edge values;
/// rows of the summing vertex are read once a vertex and count nothing.
pub(super) fn columns_per_edge(builder: &Builder<'_>, edges: EdgeSet, ids: &[NodeId]) -> u64 {
    leaves(&builder.gir, edges, ids).iter().map(|leaf| width(builder.node(*leaf))).sum()
}

/// What computing edge values reads: views of far rows, and stored edge values.
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

/// Elements of a row in units of a real; a bool is an eighth at least, an int two, an id one.
fn width(node: &Node) -> u64 {
    match node.kind {
        Type::Int => 2 * node.columns(),
        _ => node.columns(),
    }
}
