//! edges: gradients of what goes from vertices to edges and back.
//!
//! A row by edge id is the same row for in-edges and out-edges, so that an edge value's gradient
//! needs no renumbering: the sum over the far end's own edges is a sum over the reversed set. Over
//! `Both` an edge has two rows, and seen from its other end they change places (`Turn`). A view has
//! rows for all edges, whatever the relation of its list; a reduction over one relation reads the
//! rows of that relation, so that others get 0 from it. The sum over all edges that a view hands on
//! is then narrowed to the relation by `orient`.
use super::super::{GradientWalk, Refusal};
use crate::gir::{
    Binary, EdgeRows, EdgeSet, Input, Misfit, Node, NodeId, NodeResult, Number, Op, Reduction,
};

/// Views, and reductions to vertices.
pub(super) fn rule(walk: &mut GradientWalk<'_>, node: &Node, g: NodeId) -> Result<(), Refusal> {
    let a = node.inputs[0];
    match &node.op {
        // a += sum of g over the edges whose far end the vertex is
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
        // a += sum of g over the edges whose near end the vertex is
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

/// Of `[a]` or `[a, mask]`; each edge that counts sees its vertex's g.
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
        // a += g on the edge that holds the result, the smallest edge id of equals
        Reduction::Minimum | Reduction::Maximum => {
            let winner = walk
                .builder
                .make(Op::Winner(reduction == Reduction::Maximum, edges), &node.inputs)?;
            let zero = walk.builder.real(0.0);
            walk.builder.select(winner, seen, zero)?
        }
        // Whole numbers and bools carry no gradient; `mode` is refused before the walk.
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
        // Types have a row for each edge, lists over `Both` have two. A product of ones over the
        // others is 1, and 0 on edges left out.
        let one = walk.builder.real(1.0);
        let ones = walk.builder.broadcast_to_edges(EdgeSet::BOTH, one)?;
        let others = walk.builder.make(Op::Others(edges), &[ones])?;
        walk.builder.binary(Binary::Less, zero, others)?
    };
    walk.builder.select(same, value, zero)
}
