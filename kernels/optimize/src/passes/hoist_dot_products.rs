//! hoist_dot_products: hoists a dot product with the summing vertex's own row out of the sum over
//! edges, where the far rows are summed anyway.
//!
//! reason    `sum over edges of f_e * dot(z_v, a_u)` is `dot(z_v, sum of f_e * a_u)`. As written,
//!           each edge needs a dot product across several lanes; hoisted, it is one more
//!           multiplication per element, next to a sum that reads `a_u` in any case. GAT's gradient
//!           of the source's score is such a sum, next to the gradient of the source's row
//! keeps     the sum as a real number; it is rounded in another order
//! also      hoists the sign of a summand along an axis: one row less that is written only to be
//!           read
//! weighs    nothing: it is done only where another sum over the same edges that depends on the
//!           loss as well reads the same far rows
use super::{
    Choice,
    distribute_over_sum::{EdgeSums, Term, is_own_row, terms},
    loop_invariants, moved_bytes,
    rebuild::rebuild,
};
use warploom_ir::{
    Binary, Builder, Data, EdgeSet, Gir, NodeId, Op, Place, Pooling, Reduction, Unary,
};

/// The program with such dot products hoisted.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    let after_loss = loop_invariants::depends_on_loss(&gir);
    let sums: Vec<(EdgeSet, NodeId, Vec<NodeId>)> = gir
        .ids()
        .filter_map(|id| match gir.node(id).op {
            Op::Reduce(Reduction::Sum, edges) if after_loss[id.index()] => {
                Some((edges, id, moved_bytes::leaves(&gir, edges, &gir.node(id).inputs)))
            }
            _ => None,
        })
        .collect();
    rebuild(&gir, data, None, &mut |builder, site| {
        if let Op::Axis(Pooling::Sum, axis) = &site.node.op
            && builder.node(site.inputs[0]).op == Op::Unary(Unary::Negative)
        {
            let inner = builder.node(site.inputs[0]).inputs[0];
            let sum = builder.make(Op::Axis(Pooling::Sum, *axis), &[inner])?;
            return builder.unary(Unary::Negative, sum).map(Some);
        }
        let Op::Reduce(Reduction::Sum, edges) = site.node.op else { return Ok(None) };
        let has_own_row = linear_in_own_rows(builder, edges);
        if !has_own_row[site.inputs[0].index()] {
            return Ok(None);
        }
        let is_known = |id: NodeId| !has_own_row.get(id.index()).copied().unwrap_or(false);
        let Some(terms) = terms(builder, edges, site.inputs[0], &is_known)? else {
            return Ok(None);
        };
        if terms.iter().all(|term| term.dot.is_none()) {
            return Ok(None);
        }
        // Far rows over these edges that other sums read, in numbers of the new program.
        let beside = sums
            .iter()
            .filter(|(over, id, _)| *over == edges && *id != site.id)
            .flat_map(|(.., leaves)| leaves);
        let read: Vec<NodeId> = beside
            .filter_map(|leaf| site.made[leaf.index()])
            .map(|leaf| shown(builder, leaf))
            .collect();
        let is_there = |leaf: &NodeId| read.contains(&shown(builder, *leaf));
        let is_read = |term: &Term| {
            term.dot.as_ref().is_none_or(|dot| {
                moved_bytes::leaves(&builder.gir, edges, dot.term.rest.as_slice())
                    .iter()
                    .all(is_there)
            })
        };
        if !terms.iter().all(is_read) {
            return Ok(None);
        }
        let sums = EdgeSums { edges, mask: site.inputs.get(1).copied(), kind: site.node.kind };
        let mut value: Option<NodeId> = None;
        for term in &terms {
            let term = sums.sum_term(builder, term, &mut Vec::new())?;
            value = Some(value.map_or(Ok(term), |value| builder.add(value, term))?);
        }
        let Some(value) = value else { return Ok(None) };
        builder.make_shaped(Op::Expand, &[value], &site.node.shape).map(Some)
    })
}

/// The viewed value: the far end of an out-edge is the near end of the same in-edge.
fn shown(builder: &Builder<'_>, leaf: NodeId) -> NodeId {
    let node = builder.node(leaf);
    if matches!(node.op, Op::Far(_) | Op::Near(_)) { node.inputs[0] } else { leaf }
}

/// For each value so far, whether it is an edge value and linear in a product of the summing
/// vertex's row with another.
fn linear_in_own_rows(builder: &Builder<'_>, edges: EdgeSet) -> Vec<bool> {
    let mut has_own_row = vec![false; builder.gir.nodes.len()];
    for id in builder.gir.ids() {
        let node = builder.node(id);
        if !matches!(node.place, Place::S(_) | Place::E(_)) {
            continue;
        }
        let of = |positions: std::ops::Range<usize>| {
            node.inputs[positions].iter().any(|input| has_own_row[input.index()])
        };
        has_own_row[id.index()] = match node.op {
            Op::Axis(Pooling::Sum, _) => of(0..1),
            Op::Unary(Unary::Negative) | Op::Reshape | Op::Dropout { .. } => of(0..1),
            Op::Binary(Binary::Multiply) => of(0..2) || is_product_with_own_row(builder, edges, id),
            Op::Binary(Binary::Add | Binary::Subtract) => of(0..2),
            Op::Binary(Binary::Divide) => of(0..1),
            Op::Select => of(1..3),
            _ => false,
        };
    }
    has_own_row
}

/// Whether an edge value is the summing vertex's row times values of the edges.
fn is_product_with_own_row(builder: &Builder<'_>, edges: EdgeSet, id: NodeId) -> bool {
    let node = builder.node(id);
    let is_own = |id: NodeId| is_own_row(&builder.node(id).op, edges);
    matches!((&node.op, node.inputs.as_slice()), (Op::Binary(Binary::Multiply), &[a, b]) if is_own(a) != is_own(b))
}
