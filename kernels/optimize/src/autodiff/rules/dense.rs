//! dense: gradients of products with shared matrices, of table lookups, and of the loss.
use super::super::{GradientWalk, Refusal};
use super::axes;
use warploom_ir::{Misfit, Node, NodeId, NodeResult, Op};

/// Products, tables, losses.
pub(super) fn rule(walk: &mut GradientWalk<'_>, node: &Node, g: NodeId) -> Result<(), Refusal> {
    let inputs = [node.inputs[0], node.inputs[1]];
    match node.op {
        Op::Product { transposed } => product(walk, transposed, inputs, g)?,
        Op::Outer => outer(walk, inputs, g)?,
        // table += g, scatter-added at the index
        Op::Lookup { transposed } => {
            let shape = walk.builder.node(inputs[0]).shape.clone();
            let part =
                walk.builder.make_shaped(Op::Scatter { transposed }, &[g, inputs[1]], &shape)?;
            walk.give(inputs[0], part)?;
        }
        // rows += the row of g at the index
        Op::Scatter { transposed } => {
            let part = walk.builder.make(Op::Lookup { transposed }, &[g, inputs[1]])?;
            walk.give(inputs[0], part)?;
        }
        // result += g * gradient of the loss; g is 1 unless the program continues after its loss
        Op::Loss(loss) => {
            let slope = walk.builder.make(Op::LossSlope(loss), &inputs)?;
            let one = walk.builder.real(1.0);
            let part = if g == one { slope } else { walk.times(slope, g)? };
            walk.give(inputs[0], part)?;
        }
        _ => {}
    }
    Ok(())
}

/// Rows times a matrix: as saved `[n, k]`, y = a m^T:  a += g m,  m += sum of g (x) a;  else `[k, n]`, y = a m:  a += g m^T,  m += sum of a (x) g
fn product(
    walk: &mut GradientWalk<'_>,
    transposed: bool,
    [a, matrix]: [NodeId; 2],
    g: NodeId,
) -> Result<(), Misfit> {
    if walk.active.carries(a) {
        let part = walk.builder.make(Op::Product { transposed: !transposed }, &[g, matrix])?;
        walk.give(a, part)?;
    }
    if walk.active.carries(matrix) {
        let rows = still_rows(walk, g, a)?;
        let pair = if transposed { [g, rows] } else { [rows, g] };
        let part = walk.builder.make(Op::Outer, &pair)?;
        walk.give(matrix, part)?;
    }
    Ok(())
}

/// Sum of a (x) b, g `[n, k]`:  a += g b (rows `[n]`),  b += g^T a (rows `[k]`)
fn outer(walk: &mut GradientWalk<'_>, [a, b]: [NodeId; 2], g: NodeId) -> Result<(), Misfit> {
    for (to, from, transposed) in [(a, b, true), (b, a, false)] {
        if walk.active.carries(to) {
            let part = walk.builder.make(Op::Product { transposed }, &[from, g])?;
            walk.give(to, part)?;
        }
    }
    Ok(())
}

/// The rows that a gradient is multiplied with: 0 where the gradient's row is all 0 and theirs may
/// be infinite, as in `GradientWalk::times`.
fn still_rows(walk: &mut GradientWalk<'_>, g: NodeId, rows: NodeId) -> NodeResult {
    if !walk.finite.is_kept(walk.current) || !walk.finite.may_not_be(&walk.builder.gir, rows) {
        return Ok(rows);
    }
    let moved = axes::moved(walk, g)?;
    let zero = walk.builder.real(0.0);
    walk.builder.select(moved, rows, zero)
}
