//! frontier: which loops need only recompute rows that read a changed row.
//!
//! promises  a loop is found only if the next values of a vertex depend on nothing but
//!           loop-invariant values, its own values and those at the other ends of its edges: then a
//!           row that reads no change keeps its value, bit for bit, whatever the reduction
//! never     claims that it is faster: how many rows read a change is known only at run time,
//!           superstep by superstep
//!
//! One walk over edges ends the superstep: rows that a second walk reads of the first would need
//! marks of their own. Launches before the walk, which compute vertex rows from their own rows
//! alone, run for all rows, sequentially in memory.
use std::collections::BTreeMap;

use super::{
    Body, FrontierPlan, LaunchList, Loop, Operand, Operation, Over, Reason, Rows, StopCondition,
    View, is_total,
};
use warploom_ir::{Direction, Op};
use warploom_tuning as tuning;

impl LaunchList {
    /// Finds the loops with frontiers, and adds a reason for each loop why it has one or not.
    pub(crate) fn set_frontiers(&mut self) {
        let Body::Iterate(iterate) = &self.body else { return };
        let found: Vec<FrontierChoice> =
            iterate.loops.iter().map(|repeated| look(self, repeated)).collect();
        let Body::Iterate(iterate) = &mut self.body else { return };
        for (number, (repeated, found)) in iterate.loops.iter_mut().zip(found).enumerate() {
            let found = found.map(FrontierPlan::from_tuning);
            let (chosen, why) = match found {
                Ok(FrontierPlan { changed_part, readers_part, .. }) => (
                    "frontier",
                    format!(
                        "a vertex reads its own values and its neighbours' alone: one that reads \
                         nothing that changed keeps what it has, to the bit; where more than 1 in \
                         {changed_part} of rows and edges changed, or more than 1 in \
                         {readers_part} would be read, all are made again"
                    ),
                ),
                Err(why) => ("all rows", why.to_owned()),
            };
            self.reasons.push(Reason {
                what: format!("supersteps of loop {number}"),
                chosen: chosen.to_owned(),
                why,
                alternatives: BTreeMap::new(),
            });
            repeated.frontier = found.ok();
        }
    }

    /// Adds the bytes of a whole superstep to each loop's alternatives, once they are known.
    pub(crate) fn weigh_loops(&mut self) {
        let Body::Iterate(iterate) = &self.body else { return };
        for (number, repeated) in iterate.loops.iter().enumerate() {
            let bytes = repeated
                .superstep
                .iter()
                .fold(0u64, |sum, launch| sum.saturating_add(launch.bytes));
            let of_loop =
                [format!("course of loop {number}"), format!("supersteps of loop {number}")];
            for reason in self.reasons.iter_mut().filter(|reason| of_loop.contains(&reason.what)) {
                reason.alternatives.insert("each superstep of all rows".to_owned(), bytes);
            }
        }
    }
}

impl FrontierPlan {
    /// With the parts of the tuning table.
    fn from_tuning(direction: Direction) -> Self {
        FrontierPlan {
            direction,
            changed_part: tuning::frontier_changed_part(),
            readers_part: tuning::frontier_readers_part(),
        }
    }
}

/// The edges along which changes propagate, or why all rows are recomputed each time.
type FrontierChoice = Result<Direction, &'static str>;

/// The edges along which changes propagate, if only rows that read one have to be recomputed.
pub fn frontier(list: &LaunchList, repeated: &Loop) -> Option<Direction> {
    look(list, repeated).ok()
}

fn look(list: &LaunchList, repeated: &Loop) -> FrontierChoice {
    if let StopCondition::ChangeAtMost(..) = repeated.until {
        return Err(
            "it ends when little changes, so that until then values change nearly everywhere",
        );
    }
    let walk = repeated.superstep.split_last().map(|(walk, before)| (&walk.operation, before));
    let Some((Operation::Fused { over: Over::EdgesOf(direction), steps, .. }, before)) = walk
    else {
        return Err("its last launch is no fused walk over edges");
    };
    if !steps.iter().all(is_near) {
        return Err("its walk reads from further than the ends of an edge, or draws");
    }
    if !before.iter().all(|launch| is_own(&launch.operation)) {
        return Err("more than one of its launches reads what other vertices have");
    }
    let of_vertices = |name: &str| {
        list.buffers.iter().any(|buffer| buffer.name == name && buffer.rows == Rows::Nodes)
    };
    let mut written = repeated.superstep.iter().flat_map(|launch| launch.operation.writes());
    if !written.all(|name| of_vertices(&name))
        || !repeated.commit.iter().all(|commit| of_vertices(&commit.state))
    {
        return Err("it has values that are not of vertices");
    }
    Ok(*direction)
}

/// Whether a step reads nothing further away than the ends of an edge, and draws nothing.
fn is_near(step: &Operation) -> bool {
    let is_far = |op: &Op| {
        is_total(op)
            || matches!(op, Op::Dropout { .. } | Op::CommonNeighbors | Op::CommonNeighborsSum(_))
    };
    matches!(step, Operation::Evaluate { op, .. } if !is_far(op))
}

/// Whether a launch computes vertex rows from rows of the same vertices.
fn is_own(operation: &Operation) -> bool {
    match operation {
        Operation::Fused { over, steps, .. } => *over == Over::Vertices && steps.iter().all(is_own),
        Operation::Evaluate { op, inputs, .. } => {
            let reads_own =
                inputs.iter().flat_map(Operand::rows).all(|rows| rows.view == View::Own);
            let of_edges = matches!(
                op,
                Op::Reduce(..) | Op::Winner(..) | Op::Others(_) | Op::Fold(..) | Op::Pool(_)
            );
            reads_own && !of_edges && is_near(operation)
        }
        _ => false,
    }
}
