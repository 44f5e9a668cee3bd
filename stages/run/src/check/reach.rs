//! reach: how far away the result of a node looks, so that it can be recomputed from a part of the
//! graph.
//!
//! promises  a reach is given only where results depend on edges, features, weights and degrees
//!           within that many hops, and on nothing of all nodes
//! never     runs a launch
use std::collections::BTreeMap;

use warploom_ir::{Direction, EdgeSet, Input, Op};
use warploom_launch::{Launch, LaunchList, Operation, Role};

/// The hops between a node and what its result depends on, and the edges that are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub hops: u8,
    /// From target to source.
    pub incoming: bool,
    /// From source to target.
    pub outgoing: bool,
}

impl Reach {
    fn follow(&mut self, direction: Direction) {
        self.incoming |= direction != Direction::Out;
        self.outgoing |= direction != Direction::In;
    }
}

/// The reach of a result of these launches, if it has one.
pub(super) fn reach<'l>(
    list: &LaunchList,
    launches: impl Iterator<Item = &'l Launch>,
    result: &str,
) -> Option<Reach> {
    let mut reach = Reach::default();
    let mut hops: BTreeMap<String, u8> = BTreeMap::new();
    for buffer in &list.buffers {
        match &buffer.role {
            Role::Given(Input::Weight) => {}
            Role::Given(Input::Degree(EdgeSet { direction, relation: None })) => {
                reach.follow(*direction);
                hops.insert(buffer.name.to_string(), 1);
            }
            Role::Given(_) | Role::SparseFeaturesOf { .. } => return None,
            _ => {}
        }
    }
    for operation in launches.flat_map(|launch| launch.operation.steps()) {
        let walked = walked(operation)?;
        walked.into_iter().for_each(|direction| reach.follow(direction));
        let read = operation.reads();
        let before = read.iter().filter_map(|name| hops.get(&**name)).copied().max().unwrap_or(0);
        let after = before.saturating_add(u8::from(walked.is_some()));
        hops.extend(operation.writes().iter().map(|name| (name.to_string(), after)));
    }
    Some(Reach { hops: hops.get(result).copied().unwrap_or(0), ..reach })
}

/// The edges that an operation reduces, if any; none at all of an operation that reads rows of
/// other nodes than neighbours.
fn walked(operation: &Operation) -> Option<Option<Direction>> {
    match operation {
        Operation::SparseProduct { .. } => Some(None),
        Operation::Evaluate { op, .. } => match op {
            Op::Reduce(_, EdgeSet { direction, relation: None }) => Some(Some(*direction)),
            Op::Input(Input::Features)
            | Op::Unary(_)
            | Op::Binary(_)
            | Op::Select
            | Op::Cast(_)
            | Op::Dropout { .. }
            | Op::Detach
            | Op::WhenTraining
            | Op::Axis(..)
            | Op::Reshape
            | Op::Expand
            | Op::Concat(_)
            | Op::Slice { .. }
            | Op::Product { .. } => Some(None),
            _ => None,
        },
        _ => None,
    }
}
