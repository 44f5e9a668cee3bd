//! lane_broadcast: scalars of an edge that one lane computes and broadcasts to its group.
//!
//! promises  a step is broadcast only if it is an expensive scalar of an edge, an input of one, or
//!           a result of one, and is element-wise in scalars of the edge, of its ends and of the
//!           row; only if a group has a lane for each edge in flight
//! never     broadcasts what lanes compute together, or the bits that a dropout draws (those are
//!           `Stream::Kept`)
use super::walk_steps::{From, Input, Level, Read, Walk};
use warploom_ir::{Binary, Op, Property, Type};

/// The number of lanes from which on there is a lane for each edge in flight.
const LANES_FOR_EDGES: usize = 8;

/// The steps that single lanes may compute, each for its own edge.
#[derive(Clone, Debug, Default)]
pub(super) struct BroadcastSteps {
    /// Steps that are computed so and broadcast: once per edge and not once per lane.
    pub told: Vec<bool>,
    /// Steps that are scalars of an edge.
    numbers: Vec<bool>,
}

impl BroadcastSteps {
    /// No steps.
    pub fn empty(walk: &Walk) -> BroadcastSteps {
        BroadcastSteps {
            told: vec![false; walk.steps.len()],
            numbers: vec![false; walk.steps.len()],
        }
    }

    /// Whether lanes can add up a scalar of their own edges: it must depend on a step that is
    /// broadcast anyway.
    pub fn adds_up(&self, walk: &Walk, added: &Input) -> bool {
        let is_number = |read: &&Read| match read.from {
            From::Step(of) => {
                walk.steps[of].columns() == 1
                    && (walk.steps[of].level == Level::Row || self.numbers[of])
            }
            From::Leaf(_) => read.shape.iter().product::<u64>() == 1,
        };
        let reads = added.reads();
        reads.iter().all(is_number)
            && reads.iter().any(|read| matches!(read.from, From::Step(of) if self.told[of]))
    }
}

/// The broadcast steps of a walk: expensive functions of scalars of an edge, their inputs, and
/// their results.
pub(super) fn find_broadcast_steps(walk: &Walk, lanes: usize) -> BroadcastSteps {
    let count = walk.steps.len();
    let (mut is_plain, mut shared) = (vec![false; count], vec![false; count]);
    if lanes < LANES_FOR_EDGES || walk.passes() == 0 {
        return BroadcastSteps::empty(walk);
    }
    for (number, step) in walk.steps.iter().enumerate() {
        let of_one = |read: &&Read| match read.from {
            From::Step(of) => {
                walk.steps[of].columns() == 1
                    && (walk.steps[of].level == Level::Row || is_plain[of])
            }
            From::Leaf(_) => read.shape.iter().product::<u64>() == 1,
        };
        let is_number = matches!(
            step.op,
            Op::Unary(_)
                | Op::Binary(_)
                | Op::Select
                | Op::Cast(_)
                | Op::Detach
                | Op::Expand
                | Op::Reshape
        );
        is_plain[number] = step.level == Level::Edge
            && step.columns() == 1
            && is_number
            && step.inputs.iter().flat_map(Input::reads).all(|read| of_one(&read));
    }
    for (number, step) in walk.steps.iter().enumerate().rev() {
        shared[number] |= is_plain[number] && is_dear(&step.op);
        let of_shared = step.inputs.iter().flat_map(Input::reads).filter(|_| shared[number]);
        let made_of: Vec<usize> = of_shared
            .filter_map(|read| if let From::Step(of) = read.from { Some(of) } else { None })
            .collect();
        made_of.into_iter().for_each(|of| shared[of] |= is_plain[of]);
    }
    for (number, step) in walk.steps.iter().enumerate() {
        let is_of_shared = |read: &Read| matches!(read.from, From::Step(of) if shared[of]);
        shared[number] |= is_plain[number]
            && step.kind == Type::Real
            && step.inputs.iter().flat_map(Input::reads).any(is_of_shared);
    }
    BroadcastSteps { told: shared, numbers: is_plain }
}

/// Whether an operation takes many instructions.
fn is_dear(op: &Op) -> bool {
    match op {
        Op::Unary(operator) => !operator.has(Property::FewInstructions),
        Op::Binary(Binary::Divide | Binary::FloorDivide | Binary::Remainder | Binary::Power) => {
            true
        }
        _ => false,
    }
}
