//! elementwise: gradients of copies and selects, and the building blocks for those of the
//! element-wise operators, which are defined in `ir/src/operators.rs`.
use super::super::{GradientWalk, Refusal};
use warploom_ir::{
    Binary, GradientSteps, Misfit, Node, NodeId, NodeResult, Number, Op, Unary, give_chosen,
};

impl GradientSteps for GradientWalk<'_> {
    type Misfit = Misfit;

    fn real(&mut self, number: f64) -> NodeId {
        self.builder.real(number)
    }

    fn unary(&mut self, operator: Unary, a: NodeId) -> NodeResult {
        self.builder.unary(operator, a)
    }

    fn binary(&mut self, operator: Binary, a: NodeId, b: NodeId) -> NodeResult {
        self.builder.binary(operator, a, b)
    }

    fn select(&mut self, condition: NodeId, yes: NodeId, no: NodeId) -> NodeResult {
        self.builder.select(condition, yes, no)
    }

    fn times(&mut self, gradient: NodeId, slope: NodeId) -> NodeResult {
        GradientWalk::times(self, gradient, slope)
    }

    fn divide(&mut self, gradient: NodeId, value: NodeId) -> NodeResult {
        GradientWalk::divide(self, gradient, value)
    }

    fn constant(&self, id: NodeId) -> Option<f64> {
        match self.builder.node(id).op {
            Op::Constant(Number::Real(number)) => Some(number),
            _ => None,
        }
    }

    fn carries(&self, id: NodeId) -> bool {
        self.active.carries(id)
    }

    fn give(&mut self, to: NodeId, part: NodeId) -> Result<(), Misfit> {
        GradientWalk::give(self, to, part)
    }
}

/// One operand.
pub(super) fn unary(
    walk: &mut GradientWalk<'_>,
    operator: Unary,
    y: NodeId,
    a: NodeId,
    g: NodeId,
) -> Result<(), Refusal> {
    match operator.gradient(walk, [y, a], g)? {
        Some(part) => Ok(walk.give(a, part)?),
        None => Ok(()),
    }
}

/// Two operands.
pub(super) fn binary(
    walk: &mut GradientWalk<'_>,
    operator: Binary,
    y: NodeId,
    operands: [NodeId; 2],
    g: NodeId,
) -> Result<(), Refusal> {
    Ok(operator.gradient(walk, y, operands, g)?)
}

/// Operations that copy an element, or leave it out.
pub(super) fn passed(walk: &mut GradientWalk<'_>, node: &Node, g: NodeId) -> Result<(), Refusal> {
    let a = node.inputs[0];
    match &node.op {
        // yes += g where the condition holds, no += g where it does not; 0 elsewhere
        Op::Select => give_chosen(walk, a, [node.inputs[1], node.inputs[2]], g)?,
        // a += g with the same dropout draws: they depend on seed, epoch, site and position alone
        Op::Dropout { .. } => {
            let part = walk.builder.dropout_at(node.place, &node.op, g)?;
            walk.give(a, part)?;
        }
        // a += g: floats cast to floats, and the training value
        _ => walk.give(a, g)?,
    }
    Ok(())
}
