//! buffer_access: which buffers a launch reads and writes, and the buffer names of parameters.
//!
//! promises  every buffer that an executor accesses for an operation is in `reads` or `writes`,
//!           each once
//! never     checks shapes (`validate`) or sizes (`cost`)
use std::borrow::Cow;

use super::{Body, BufferName, Expression, Launch, LaunchList, Operation, Schedule};

/// Name of the buffer that holds a parameter.
pub fn parameter_buffer(parameter: &str) -> BufferName {
    format!("parameter.{parameter}")
}

/// Name of the buffer that holds the gradient of the loss with respect to a parameter.
pub fn gradient_buffer(parameter: &str) -> BufferName {
    format!("gradient.{parameter}")
}

impl LaunchList {
    /// Every launch, in order.
    pub fn launches(&self) -> Vec<&Launch> {
        match &self.body {
            Body::Train(train) => {
                let before = train.prepare.iter().chain(&train.forward);
                let after = train.backward.iter().chain(&train.update);
                before.chain([&train.loss]).chain(after).collect()
            }
            Body::Iterate(iterate) => {
                let loops = iterate
                    .loops
                    .iter()
                    .flat_map(|repeated| repeated.prepare.iter().chain(&repeated.superstep));
                loops.chain(&iterate.finish).collect()
            }
        }
    }
}

impl Launch {
    /// A launch whose bytes are not computed yet.
    pub(crate) fn unreckoned(name: String, operation: Operation) -> Self {
        Launch { name, operation, schedule: Schedule::Whole, bytes: 0 }
    }
}

impl Operation {
    /// Buffers read, each once, operands before what the epilogue loads.
    pub fn reads(&self) -> Vec<Cow<'_, str>> {
        let mut names: Vec<Cow<'_, str>> = match self {
            Operation::NeighbourReduce { source, .. } => {
                source.iter().map(|name| name.as_str().into()).collect()
            }
            Operation::Product { left, right, .. }
            | Operation::ProductOverRows { left, right, .. }
            | Operation::SparseProduct { left, right, .. }
            | Operation::SparseProductOverRows { left, right, .. } => {
                vec![left.into(), right.into()]
            }
            Operation::Elementwise { .. } => Vec::new(),
            Operation::SumOverRows { source, .. } => vec![source.into()],
            Operation::Evaluate { inputs, .. } => inputs
                .iter()
                .flat_map(super::Operand::rows)
                .map(|rows| rows.buffer.as_str().into())
                .collect(),
            Operation::Fused { steps, .. } => {
                let made: Vec<Cow<'_, str>> = steps.iter().flat_map(Operation::writes).collect();
                steps
                    .iter()
                    .flat_map(Operation::reads)
                    .filter(|name| !made.contains(name))
                    .collect()
            }
            Operation::Loss { result, target, .. } => vec![result.into(), target.into()],
            // The parameter itself is read and written: it is among the writes.
            Operation::Optimize { parameter } => vec![gradient_buffer(parameter).into()],
        };
        if let Some(expression) = self.expression() {
            expression.walk(&mut |part| {
                if let Expression::Load(name) = part {
                    names.push(name.into());
                }
            });
        }
        let mut distinct: Vec<Cow<'_, str>> = Vec::with_capacity(names.len());
        for name in names {
            if !distinct.contains(&name) {
                distinct.push(name);
            }
        }
        distinct
    }

    /// Buffers written.
    pub fn writes(&self) -> Vec<Cow<'_, str>> {
        match self {
            Operation::NeighbourReduce { out, .. }
            | Operation::Product { out, .. }
            | Operation::ProductOverRows { out, .. }
            | Operation::SparseProduct { out, .. }
            | Operation::SparseProductOverRows { out, .. }
            | Operation::Elementwise { out, .. }
            | Operation::Evaluate { out, .. }
            | Operation::SumOverRows { out, .. } => vec![out.into()],
            Operation::Fused { locals, steps, .. } => {
                let is_local =
                    |name: &Cow<'_, str>| locals.iter().any(|local| local.name == **name);
                steps.iter().flat_map(Operation::writes).filter(|name| !is_local(name)).collect()
            }
            Operation::Loss { gradient, value, .. } => vec![gradient.into(), value.into()],
            Operation::Optimize { parameter } => vec![parameter_buffer(parameter).into()],
        }
    }

    /// The epilogue, or the expression of an `Elementwise`.
    pub fn expression(&self) -> Option<&Expression> {
        match self {
            Operation::NeighbourReduce { epilogue, .. }
            | Operation::Product { epilogue, .. }
            | Operation::SparseProduct { epilogue, .. } => Some(epilogue),
            Operation::Elementwise { expression, .. } => Some(expression),
            Operation::ProductOverRows { .. }
            | Operation::SparseProductOverRows { .. }
            | Operation::SumOverRows { .. }
            | Operation::Evaluate { .. }
            | Operation::Fused { .. }
            | Operation::Loss { .. }
            | Operation::Optimize { .. } => None,
        }
    }
}

impl Expression {
    /// Calls `visit` with this expression and all of its parts, outermost first, left to right.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expression)) {
        visit(self);
        match self {
            Expression::Made | Expression::Constant(_) | Expression::Load(_) | Expression::Id => {}
            Expression::Unary(_, operand) | Expression::Dropout(_, operand) => operand.walk(visit),
            Expression::Binary(_, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            Expression::Select(condition, taken, otherwise) => {
                condition.walk(visit);
                taken.walk(visit);
                otherwise.walk(visit);
            }
        }
    }
}
