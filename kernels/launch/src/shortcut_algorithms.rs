//! shortcut_algorithms: which loops have a fixed point that a faster algorithm computes.
//!
//! promises  an algorithm is found only if the fixed point of the superstep is what it computes,
//!           for any graph; its requirements on values (no negative length, initial values,
//!           symmetric lists) are stated with it, and checked before it is used
//! never     knows the program's name; claims that an algorithm is faster (on every graph that was
//!           measured, it is)
//!
//! All of them have one state, one number per vertex, and run until nothing changes. `min` is
//! idempotent and commutative, so that the order of messages does not matter; since rounding is
//! monotonic, this holds for sums of floats too.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Body, BufferName, LaunchList, Loop, Operand, Operation, Reason, Role, Rowed, Rows,
    StopCondition, View,
};
use warploom_ir::{Binary, Direction, EdgeSet, Input, Number, Op, Reduction};

/// A faster algorithm for a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Course {
    /// `state = min(state, min over edges of (the far end's state, and a step))`.
    Least {
        /// The state.
        state: BufferName,
        /// The edges that are read.
        direction: Direction,
        /// What an edge adds.
        step: EdgeLength,
    },
    /// `state = h-index over edges of the far end's state`, starting from the degree (core
    /// numbers).
    Cores {
        /// The state.
        state: BufferName,
        /// The edges that are read.
        direction: Direction,
    },
}

/// What a value grows by along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeLength {
    /// Nothing: if every edge is read from both ends, the smallest value of each connected
    /// component.
    Nothing,
    /// The same number, above 0: if all values but the initial ones are the largest, levels of a
    /// breadth-first search.
    Number(Number),
    /// The edge's weight: shortest paths, if no weight is negative.
    Weight,
}

impl Course {
    /// The state whose fixed point it computes.
    pub fn state(&self) -> &str {
        match self {
            Course::Least { state, .. } | Course::Cores { state, .. } => state,
        }
    }

    /// Which edges are read.
    pub fn direction(&self) -> Direction {
        match self {
            Course::Least { direction, .. } | Course::Cores { direction, .. } => *direction,
        }
    }

    /// Its name in plans and records.
    pub fn name(&self) -> &'static str {
        match self {
            Course::Least { step: EdgeLength::Nothing, .. } => "joined trees",
            Course::Least { step: EdgeLength::Number(Number::Int(_)), .. } => "levels",
            Course::Least { .. } => "delta-stepping",
            Course::Cores { .. } => "peeling",
        }
    }

    /// Bytes of its arrays on a CPU that have an element of each vertex. Not counted are lists that
    /// grow with a frontier, a wave or a bucket.
    pub fn bytes_on_cpu(&self, nodes: u64, bytes_per_real: u64) -> u64 {
        // Vertex numbers, levels and degrees.
        let numbers = nodes.saturating_mul(4);
        match self {
            // The tree of each vertex.
            Course::Least { step: EdgeLength::Nothing, .. } => numbers,
            // Levels; bits of what is reached, and of two frontiers.
            Course::Least { step: EdgeLength::Number(Number::Int(_)), .. } => {
                numbers.saturating_add(nodes.div_ceil(64).saturating_mul(3 * 8))
            }
            // Distances, those at the last expansion, and the results.
            Course::Least { .. } => nodes.saturating_mul(3 * bytes_per_real),
            // Degrees, and the vertices that are left.
            Course::Cores { .. } => numbers.saturating_mul(2),
        }
    }

    /// Whether it asks that every edge is read from both ends, of edges read from one.
    pub fn asks_symmetry(&self) -> bool {
        matches!(self, Course::Least { step: EdgeLength::Nothing, .. })
            && self.direction() != Direction::Both
    }

    /// Its requirements on values, which are not known when planning.
    fn asks(&self) -> &'static str {
        match self {
            Course::Least { step: EdgeLength::Nothing, .. } => "every edge is read from both ends",
            Course::Least { step: EdgeLength::Number(Number::Int(_)), .. } => {
                "all first values are one of two"
            }
            Course::Least { .. } => "neither weights nor first values are below 0",
            Course::Cores { .. } => "the first values are the numbers of edges",
        }
    }
}

impl LaunchList {
    /// Finds the algorithm of every loop, and adds it to the reasons.
    pub(crate) fn set_courses(&mut self) {
        let Body::Iterate(iterate) = &self.body else { return };
        let found: Vec<Option<Course>> =
            iterate.loops.iter().map(|repeated| course(self, repeated)).collect();
        let Body::Iterate(iterate) = &mut self.body else { return };
        for (number, (repeated, course)) in iterate.loops.iter_mut().zip(found).enumerate() {
            if let Some(course) = &course {
                self.reasons.push(Reason {
                    what: format!("course of loop {number}"),
                    chosen: course.name().to_owned(),
                    why: format!(
                        "it ends where supersteps end, if {}; else, and where supersteps are \
                         bounded, it goes in supersteps",
                        course.asks()
                    ),
                    alternatives: BTreeMap::new(),
                });
            }
            repeated.course = course;
        }
    }
}

/// The algorithm of a loop, if one is proved.
pub fn course(list: &LaunchList, repeated: &Loop) -> Option<Course> {
    let StopCondition::Unchanged(watched) = &repeated.until else { return None };
    let ([commit], [state]) = (repeated.commit.as_slice(), watched.as_slice()) else { return None };
    if commit.state != *state {
        return None;
    }
    let look = StepFinder { list, steps: steps(repeated), state, next: &commit.next };
    let held = list.buffers.iter().find(|buffer| buffer.name == *state)?;
    if (held.rows, held.columns) != (Rows::Nodes, 1) {
        return None;
    }
    look.evaluated()
}

/// All operations of a superstep, including those of fused launches.
fn steps(repeated: &Loop) -> Vec<&Operation> {
    let mut all = Vec::new();
    for launch in &repeated.superstep {
        match &launch.operation {
            Operation::Fused { steps, .. } => all.extend(steps),
            operation => all.push(operation),
        }
    }
    all
}

struct StepFinder<'a> {
    list: &'a LaunchList,
    steps: Vec<&'a Operation>,
    state: &'a str,
    next: &'a str,
}

impl<'a> StepFinder<'a> {
    /// A loop whose superstep is evaluated operations.
    fn evaluated(&self) -> Option<Course> {
        let (op, inputs) = self.producer(self.next)?;
        let state = self.state.to_owned();
        match (op, inputs) {
            (Op::Reduce(Reduction::HIndex, edges), [read]) => {
                let direction = unfiltered_direction(*edges)?;
                (self.far(read) == Some((self.state, *edges)))
                    .then_some(Course::Cores { state, direction })
            }
            (Op::Binary(Binary::Minimum), [one, other]) => {
                let reduced = match (own(one)?, own(other)?) {
                    (kept, reduced) | (reduced, kept) if kept == self.state => reduced,
                    _ => return None,
                };
                let (Op::Reduce(Reduction::Minimum, edges), [read]) = self.producer(reduced)?
                else {
                    return None;
                };
                let direction = unfiltered_direction(*edges)?;
                Some(Course::Least { state, direction, step: self.step(read, *edges)? })
            }
            _ => None,
        }
    }

    /// The operation that computes a value.
    fn producer(&self, name: &str) -> Option<(&'a Op, &'a [Operand])> {
        self.steps.iter().find_map(|step| match step {
            Operation::Evaluate { out, op, inputs, .. } if out == name => {
                Some((op, inputs.as_slice()))
            }
            _ => None,
        })
    }

    /// What the state grows by between two reads.
    fn step(&self, read: &Operand, edges: EdgeSet) -> Option<EdgeLength> {
        if let Some((far, seen)) = self.far(read) {
            if seen != edges {
                return None;
            }
            return if far == self.state {
                Some(EdgeLength::Nothing)
            } else {
                self.sum(far, |operand| own(operand) == Some(self.state))
            };
        }
        self.sum(own(read)?, |operand| self.far(operand) == Some((self.state, edges)))
    }

    /// The other term of a sum of which one is the state.
    fn sum(&self, name: &str, is_state: impl Fn(&Operand) -> bool) -> Option<EdgeLength> {
        let (Op::Binary(Binary::Add), [one, other]) = self.producer(name)? else {
            return None;
        };
        let term = match (is_state(one), is_state(other)) {
            (true, false) => other,
            (false, true) => one,
            _ => return None,
        };
        match term {
            Operand::Number(number) if number.real() > 0.0 && number.real().is_finite() => {
                Some(EdgeLength::Number(*number))
            }
            Operand::Rows(Rowed { buffer, view: View::Own, .. }) => {
                let held = self.list.buffers.iter().find(|held| held.name == *buffer)?;
                (held.role == Role::Given(Input::Weight)).then_some(EdgeLength::Weight)
            }
            _ => None,
        }
    }

    /// A value read at the far ends of edges.
    fn far<'o>(&self, operand: &'o Operand) -> Option<(&'o str, EdgeSet)> {
        match operand {
            Operand::Rows(Rowed { buffer, view: View::Far(edges), .. }) => Some((buffer, *edges)),
            _ => None,
        }
    }
}

/// A value read without a view.
fn own(operand: &Operand) -> Option<&str> {
    match operand {
        Operand::Rows(Rowed { buffer, view: View::Own, .. }) => Some(buffer),
        _ => None,
    }
}

/// The direction, if edges of all relations are read.
fn unfiltered_direction(edges: EdgeSet) -> Option<Direction> {
    edges.relation.is_none().then_some(edges.direction)
}
