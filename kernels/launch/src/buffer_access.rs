//! buffer_access: which buffers a launch reads and writes, and the buffer names of parameters.
//!
//! promises  every buffer that an executor accesses for an operation is in `reads` or `writes`,
//!           each once
//! never     checks shapes (`validate`) or sizes (`cost`)
use std::borrow::Cow;

use super::{Body, BufferName, Launch, LaunchList, Loop, Operation, Schedule};

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

    /// Its loops, in order; none of a training.
    pub fn loops(&self) -> &[Loop] {
        match &self.body {
            Body::Iterate(iterate) => &iterate.loops,
            Body::Train(_) => &[],
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
    /// Buffers read, each once.
    pub fn reads(&self) -> Vec<Cow<'_, str>> {
        let names: Vec<Cow<'_, str>> = match self {
            Operation::SparseProduct { left, right, .. }
            | Operation::SparseProductOverRows { left, right, .. } => {
                vec![left.into(), right.into()]
            }
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
            Operation::SparseProduct { out, .. }
            | Operation::SparseProductOverRows { out, .. }
            | Operation::Evaluate { out, .. } => vec![out.into()],
            Operation::Fused { locals, steps, .. } => {
                let is_local =
                    |name: &Cow<'_, str>| locals.iter().any(|local| local.name == **name);
                steps.iter().flat_map(Operation::writes).filter(|name| !is_local(name)).collect()
            }
            Operation::Loss { gradient, value, .. } => vec![gradient.into(), value.into()],
            Operation::Optimize { parameter } => vec![parameter_buffer(parameter).into()],
        }
    }
}
