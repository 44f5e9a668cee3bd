//! edges: gradients of gathers (vertices to edges) and scatters (edges to vertices).
//!
//! A row by edge id is the same row for in-edges and out-edges, so that an edge value's gradient
//! needs no renumbering: the sum over the far end's own edges is a sum over the reversed set. Over
//! `Both` an edge has two rows, which are exchanged as seen from its other end (`Turn`). A view has
//! rows for all edges, whatever the relation of its list; a reduction over one relation reads the
//! rows of that relation, so that others get 0 from it. `reverse_edges` narrows the sum over all
//! edges that a view propagates to that relation.
use super::super::{GradientWalk, Refusal};
use warploom_ir::{
    Binary, EdgeRows, EdgeSet, Input, Misfit, Node, NodeId, NodeResult, Number, Op, Reduction,
};

/// Views (gathers), and reductions to vertices.
pub(super) fn rule(walk: &mut GradientWalk<'_>, node: &Node, g: NodeId) -> Result<(), Refusal> {
    let a = node.inputs[0];
    match &node.op {
        // a += sum of g over the edges whose far end is the vertex
        Op::Far(edges) => {
            let seen = if edges.rows() == EdgeRows::Twice {
                walk.builder.make(Op::Turn, &[g])?
            } else {
                g
            };
            let part = walk.builder.reduce(
                Reduction::Sum,
                EdgeSet { relation: None, ..edges.reversed() },
                seen,
                None,
            )?;
            walk.give(a, part)?;
        }
        // a += sum of g over the edges whose near end is the vertex
        Op::Near(edges) => {
            let part = walk.builder.reduce(
                Reduction::Sum,
                EdgeSet { relation: None, ..*edges },
                g,
                None,
            )?;
            walk.give(a, part)?;
        }
        // a += g, turned back
        Op::Turn => {
            let part = walk.builder.make(Op::Turn, &[g])?;
            walk.give(a, part)?;
        }
        Op::Reduce(reduction, edges) => reduce(walk, *reduction, *edges, node, g)?,
        _ => {}
    }
    Ok(())
}

/// Of `[a]` or `[a, mask]`; each edge that counts reads the g of its vertex.
fn reduce(
    walk: &mut GradientWalk<'_>,
    reduction: Reduction,
    edges: EdgeSet,
    node: &Node,
    g: NodeId,
) -> Result<(), Misfit> {
    let (a, mask) = (node.inputs[0], node.inputs.get(1).copied());
    let seen = walk.builder.make(Op::Near(edges), &[g])?;
    let part = match reduction {
        // a += g of the vertex
        Reduction::Sum => seen,
        // a += g * product of the vertex's other edges
        Reduction::Product => {
            let others = walk.builder.make(Op::Others(edges), &node.inputs)?;
            walk.times(seen, others)?
        }
        // a += g on the edge that attains the result, the smallest edge id of ties
        Reduction::Minimum | Reduction::Maximum => {
            let winner = walk
                .builder
                .make(Op::Winner(reduction == Reduction::Maximum, edges), &node.inputs)?;
            let zero = walk.builder.real(0.0);
            walk.builder.select(winner, seen, zero)?
        }
        // Integers and bools carry no gradient; `mode` is refused before the walk.
        Reduction::Any
        | Reduction::All
        | Reduction::Count
        | Reduction::Mode
        | Reduction::HIndex => return Ok(()),
    };
    let shown = match mask {
        Some(mask) => {
            let mask = shaped_mask(walk, mask)?;
            let zero = walk.builder.real(0.0);
            walk.builder.select(mask, part, zero)?
        }
        None => part,
    };
    let kept = mask_relation(walk, edges, shown)?;
    walk.give(a, kept)
}

/// A mask of shape `[1]` as one of shape `[]`, so that it broadcasts to rows of any shape and adds
/// no axis.
fn shaped_mask(walk: &mut GradientWalk<'_>, mask: NodeId) -> NodeResult {
    walk.builder.make_shaped(Op::Reshape, &[mask], &[])
}

/// The value on edges of the relation, 0 on the others.
fn mask_relation(walk: &mut GradientWalk<'_>, edges: EdgeSet, value: NodeId) -> NodeResult {
    let Some(relation) = edges.relation else { return Ok(value) };
    let zero = walk.builder.real(0.0);
    let same = if edges.rows() == EdgeRows::Once {
        let kind = walk.builder.make(Op::Input(Input::EdgeType), &[])?;
        let number = walk.builder.constant(Number::Int(i64::from(relation)));
        walk.builder.binary(Binary::Equal, kind, number)?
    } else {
        // Edge types have a row per edge, lists over `Both` have two. A product of ones over the
        // other edges is 1, and 0 on masked edges.
        let one = walk.builder.real(1.0);
        let ones = walk.builder.broadcast_to_edges(EdgeSet::BOTH, one)?;
        let others = walk.builder.make(Op::Others(edges), &[ones])?;
        walk.builder.binary(Binary::Less, zero, others)?
    };
    walk.builder.select(same, value, zero)
}
