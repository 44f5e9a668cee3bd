//! frontier: which rows the next superstep of a loop makes.
//!
//! promises  the states of supersteps that make all rows, to the bit: a row that neither changed
//!           nor reads a change is what it was
//! never     is kept over a start: the first superstep after it makes all rows
//! limits    two bits a vertex; where more than a part of the edges would be read, all rows are
//!           made, since that goes in order
use warploom_ops::frontier::{
    Marks, Run, all_rows, entries, mark_readers, mark_reals, mark_wholes,
};
use warploom_vertex::launch::Direction;

use crate::{
    buffers::{Banks, Place},
    executor::{Change, Executor},
    input_data::Neighbours,
    precision::Precision,
    resolved_program::ResolvedLoop,
};

/// Of all rows and edges, the part that what changed may have so that its readers are looked for.
const PART_CHANGED: usize = 5;

/// The part that what is made again may have: a row by itself costs about as much as two in order.
const PART_READERS: usize = 2;

/// What a loop goes by.
#[derive(Debug)]
pub struct Frontier {
    direction: Direction,
    changed: Marks,
    readers: Marks,
    runs: Option<Vec<Run>>,
}

impl Frontier {
    /// Of a loop that goes by one.
    pub fn from_loop<T: Precision>(
        executor: &Executor<T>,
        repeated: &ResolvedLoop,
    ) -> Option<Self> {
        let nodes = executor.state.data.nodes;
        repeated.frontier.map(|direction| Frontier {
            direction,
            changed: Marks::empty(nodes),
            readers: Marks::empty(nodes),
            runs: None,
        })
    }

    /// The rows that a superstep makes; nothing where it makes all.
    pub fn runs(&self) -> Option<&[Run]> {
        self.runs.as_deref()
    }

    /// Looks at what a superstep changed, before its commits.
    pub fn advance<T: Precision>(
        &mut self,
        executor: &Executor<T>,
        repeated: &ResolvedLoop,
        change: &Change,
    ) {
        let made = self.runs.take();
        let data = &executor.state.data;
        let all = data.nodes + data.edges;
        if !repeated.watched.is_empty() && change.changed as usize > data.nodes / PART_CHANGED {
            return;
        }
        let made = made.unwrap_or_else(|| all_rows(data.nodes));
        self.changed.clear();
        let banks = executor.state.buffers.read_banks();
        repeated
            .commits
            .iter()
            .for_each(|(state, next)| mark_changed(&self.changed, &banks, *state, *next, &made));
        let changed: Vec<u32> = self.changed.rows().collect();
        let Some(ways) = data.push_and_pull(self.direction) else { return };
        let [push, pull] = ways
            .map(|sides| sides.into_iter().map(Neighbours::neighbour_lists).collect::<Vec<_>>());
        if changed.len() + entries(changed.iter().copied(), &push) > all / PART_CHANGED {
            return;
        }
        self.readers.clear();
        mark_readers(&self.readers, &changed, &push);
        if entries(self.readers.rows(), &pull) <= all / PART_READERS {
            self.runs = Some(self.readers.runs());
        }
    }
}

fn mark_changed<T: Precision>(
    marks: &Marks,
    Banks { reals, ids, wholes, .. }: &Banks<T>,
    state: Place,
    next: Place,
    made: &[Run],
) {
    match (state, next) {
        (Place::Real(state), Place::Real(next)) => {
            mark_reals(marks, reals.get(state), reals.get(next), reals.slot(state).columns, made)
        }
        (Place::Id(state), Place::Id(next)) => {
            mark_wholes(marks, ids.get(state), ids.get(next), ids.slot(state).columns, made)
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
