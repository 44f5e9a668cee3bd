//! rules: the gradient of each operation (vector-Jacobian product), one file per family.
//!
//! Formulas write `g` for the gradient of the node (in its shape and place), `y` for its value and
//! `a`, `b` for its inputs; a line `a += f` says what the gradient of `a` gains.
//! `GradientWalk::give` sums over broadcast axes.
//!
//! promises  every operation is listed here or in a family's file: a new one does not compile until
//!           it has a rule
mod axes;
mod dense;
mod edges;
mod elementwise;

use super::{GradientWalk, Refusal};
use warploom_ir::{Node, NodeId, Op};

/// Runs the rule of one node.
pub(super) fn rule(
    walk: &mut GradientWalk<'_>,
    id: NodeId,
    node: &Node,
    slope: NodeId,
) -> Result<(), Refusal> {
    match &node.op {
        // A leaf keeps its gradient.
        Op::Constant(_) | Op::Input(_) | Op::Parameter(_) => Ok(()),
        Op::Unary(operator) => elementwise::unary(walk, *operator, id, node.inputs[0], slope),
        Op::Binary(operator) => {
            elementwise::binary(walk, *operator, id, [node.inputs[0], node.inputs[1]], slope)
        }
        Op::Select | Op::Cast(_) | Op::Dropout { .. } | Op::WhenTraining => {
            elementwise::passed(walk, node, slope)
        }
        Op::Far(_) | Op::Near(_) | Op::Turn | Op::Reduce(..) => edges::rule(walk, node, slope),
        Op::Pool(_) | Op::Give | Op::SumRows => axes::rows(walk, id, node, slope),
        Op::Axis(..)
        | Op::Reshape
        | Op::Expand
        | Op::Concat(_)
        | Op::Slice { .. }
        | Op::Unslice { .. } => axes::rule(walk, id, node, slope),
        Op::Product { .. } | Op::Outer | Op::Lookup { .. } | Op::Scatter { .. } | Op::Loss(_) => {
            dense::rule(walk, node, slope)
        }
        // `active_values` has refused these, or they carry no gradient.
        Op::State(_)
        | Op::Ended(..)
        | Op::Fold(..)
        | Op::Winner(..)
        | Op::Others(_)
        | Op::LossSlope(_)
        | Op::Detach
        | Op::CommonNeighbors
        | Op::CommonNeighborsSum(_) => Err(Refusal::new(
            format!("no gradient goes through `{}`", walk.builder.gir.operation(node)),
            "take it by values that do not pass there",
        )),
    }
}
