//! frontier: the active rows of a loop: which rows the next superstep computes.
//!
//! promises  the same states, to the bit, as supersteps over all rows: a row that neither changed
//!           nor reads a change keeps its value
//! never     survives a restart: the first superstep after one computes all rows; decides from what
//!           part of the edges on all rows are computed: the plan says it
//! limits    two bits a vertex
use warploom_cpu::frontier::{
    Marks, Run, all_rows, entries, mark_readers, mark_reals, mark_wholes,
};
use warploom_launch::FrontierPlan;

use crate::{
    backend::Change,
    buffers::{Banks, Place},
    host_state::HostState,
    inputs::input_data::Neighbours,
    precision::Precision,
    resolved_program::ResolvedLoop,
};

/// The frontier of a loop.
#[derive(Debug)]
pub struct Frontier {
    plan: FrontierPlan,
    changed: Marks,
    readers: Marks,
    runs: Option<Vec<Run>>,
}

impl Frontier {
    /// For a loop whose plan uses a frontier; none for another.
    pub fn from_loop<T: Precision>(host: &HostState<T>, repeated: &ResolvedLoop) -> Option<Self> {
        let nodes = host.data.nodes;
        repeated.frontier.map(|plan| Frontier {
            plan,
            changed: Marks::empty(nodes),
            readers: Marks::empty(nodes),
            runs: None,
        })
    }

    /// The rows that the superstep computes; none if it computes all.
    pub fn runs(&self) -> Option<&[Run]> {
        self.runs.as_deref()
    }

    /// Finds the rows of the next superstep from what this one changed, before its commits.
    pub fn advance<T: Precision>(
        &mut self,
        host: &HostState<T>,
        repeated: &ResolvedLoop,
        change: &Change,
    ) {
        let made = self.runs.take();
        let data = &host.data;
        let FrontierPlan { direction, changed_part, readers_part } = self.plan;
        let (nodes, all) = (data.nodes as u64, (data.nodes + data.edges) as u64);
        if !repeated.watched.is_empty() && change.changed > nodes / changed_part {
            return;
        }
        let made = made.unwrap_or_else(|| all_rows(data.nodes));
        self.changed.clear();
        let banks = host.buffers.read_banks();
        repeated
            .commits
            .iter()
            .for_each(|(state, next)| mark_changed(&self.changed, &banks, *state, *next, &made));
        let changed: Vec<u32> = self.changed.rows().collect();
        let Some(ways) = data.push_and_pull(direction) else { return };
        let [push, pull] = ways
            .map(|sides| sides.into_iter().map(Neighbours::neighbour_lists).collect::<Vec<_>>());
        let of_changed = changed.len() + entries(changed.iter().copied(), &push);
        if of_changed as u64 > all / changed_part {
            return;
        }
        self.readers.clear();
        mark_readers(&self.readers, &changed, &push);
        if entries(self.readers.rows(), &pull) as u64 <= all / readers_part {
            self.runs = Some(self.readers.runs());
        }
    }
}

fn mark_changed<T: Precision>(
    marks: &Marks,
    Banks { reals, wholes, .. }: &Banks<T>,
    state: Place,
    next: Place,
    made: &[Run],
) {
    match (state, next) {
        (Place::Real(state), Place::Real(next)) => {
            mark_reals(marks, reals.get(state), reals.get(next), reals.slot(state).columns, made)
        }
        (Place::Whole(state), Place::Whole(next)) => mark_wholes(
            marks,
            wholes.get(state),
            wholes.get(next),
            wholes.slot(state).columns,
            made,
        ),
        _ => unreachable!("a validated list commits like to like"),
    }
}
