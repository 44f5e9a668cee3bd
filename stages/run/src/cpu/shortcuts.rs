//! shortcuts: runs a loop by the shortcut algorithm of its plan (BFS, delta-stepping, components,
//! k-core) instead of by supersteps.
//!
//! promises  the same states, to the bit, as supersteps; an algorithm is used only after its
//!           conditions on the values were checked
//! never     runs where the number of supersteps is bounded: then the states after exactly so many
//!           are asked for
//! limits    4 to 20 bytes a vertex besides the arena; saves no checkpoint, and a stop is honoured
//!           between two rounds
use rayon::prelude::*;
use warploom_contract::progress::StopFlag;
use warploom_cpu::shortcuts::{
    GoOn, NeighbourLists,
    bfs::{self, FAR, Search},
    components,
    delta_stepping::{self, Lengths, Ways},
    k_core,
};
use warploom_ir::{Direction, Number};
use warploom_launch::{Course, EdgeLength};

use crate::{
    buffers::{Buffers, Place},
    host_state::HostState,
    inputs::input_data::{Data, Neighbours},
    precision::Precision,
};

/// Elements of one task.
const TASK: usize = 1 << 14;
/// Parts of which few are looked at: one thread takes so many.
const PARTS: usize = 64;

/// The name of the algorithm and its rounds. None where it does not apply; `Some(None)` where it
/// was stopped.
pub fn run_shortcut<T: Precision>(
    host: &mut HostState<T>,
    number: usize,
    stop: &StopFlag,
) -> Option<Option<(&'static str, u64)>> {
    let course = host.program.loops[number].course.clone()?;
    let (state, next) = *host.program.loops[number].commits.first()?;
    let go_on: GoOn = &|| !stop.is_set();
    let sides = LoopEdges::new(&host.data, course.direction())?;
    let rounds = match course {
        Course::Cores { .. } => sides.run_k_core(&mut host.buffers, state, go_on),
        Course::Least { step: EdgeLength::Nothing, .. } => {
            sides.run_components(&mut host.buffers, state, next, go_on)
        }
        Course::Least { step: EdgeLength::Number(Number::Int(step)), .. } => {
            sides.run_bfs(&mut host.buffers, state, step, go_on)
        }
        Course::Least { step: EdgeLength::Number(step), .. } => {
            sides.run_delta_stepping(&mut host.buffers, state, Some(T::rounded(step.real())), go_on)
        }
        Course::Least { step: EdgeLength::Weight, .. } => {
            sides.run_delta_stepping(&mut host.buffers, state, None, go_on)
        }
    }?;
    Some(rounds.map(|rounds| (course.name(), rounds)))
}

/// The result of an algorithm: none if it does not apply, `Some(None)` if it was stopped, else its
/// rounds.
type Rounds = Option<Option<u64>>;

/// The edges of a loop.
struct LoopEdges<'a, T: Precision> {
    data: &'a Data<T>,
    /// From a vertex to its readers.
    push: Vec<&'a Neighbours<T>>,
    /// From a vertex to the vertices that it reads.
    pull: Vec<&'a Neighbours<T>>,
    direction: Direction,
}

impl<'a, T: Precision> LoopEdges<'a, T> {
    fn new(data: &'a Data<T>, direction: Direction) -> Option<Self> {
        let [push, pull] = data.push_and_pull(direction)?;
        Some(LoopEdges { data, push, pull, direction })
    }

    /// Whether every edge is read from both ends: for one direction, that reads all lists.
    fn reads_both_ends(&self) -> bool {
        self.direction == Direction::Both || self.data.is_symmetric()
    }

    fn push_lists(&self) -> Vec<NeighbourLists<'a>> {
        self.push.iter().map(|side| side.neighbour_lists()).collect()
    }

    fn pull_lists(&self) -> Vec<NeighbourLists<'a>> {
        self.pull.iter().map(|side| side.neighbour_lists()).collect()
    }

    /// Connected components, from a state to the buffer of its successor; both are swapped then.
    fn run_components(
        &self,
        buffers: &mut Buffers<T>,
        state: Place,
        next: Place,
        go_on: GoOn,
    ) -> Rounds {
        if let Place::Real(state) = state
            && is_any_unordered(buffers.reals().get(state))
        {
            return None;
        }
        if !self.reads_both_ends() {
            return None;
        }
        let Some(parts) = components::parts(&self.pull_lists(), go_on) else { return Some(None) };
        match (state, next) {
            (Place::Real(state), Place::Real(next)) => buffers.write_real(next, |next, banks| {
                components::assign_least(next, banks.reals.get(state), &parts)
            }),
            (Place::Whole(state), Place::Whole(next)) => buffers
                .write_whole(next, |next, banks| {
                    components::assign_least(next, banks.wholes.get(state), &parts)
                }),
            _ => return None,
        }
        buffers.swap(state, next);
        Some(Some(1))
    }

    /// BFS: integers of which some have the smallest value and all others the largest.
    fn run_bfs(&self, buffers: &mut Buffers<T>, state: Place, step: i64, go_on: GoOn) -> Rounds {
        let Place::Whole(state) = state else { return None };
        let values = buffers.wholes().get(state);
        let parts: Vec<(i64, i64)> = values.par_chunks(TASK).map(least_and_most).collect();
        let Some(least) = parts.iter().map(|part| part.0).min() else { return Some(Some(1)) };
        let most = parts.iter().map(|part| part.1).max().unwrap_or(least);
        // The largest value plus a step must not overflow; the least int stays what it is.
        most.checked_add(step)?;
        if least == i64::MIN {
            return None;
        }
        let apart = most.checked_sub(least)?;
        if apart == 0 {
            return Some(Some(1));
        }
        let sources = rows_of(values, &parts, [least, most])?;
        let last = u32::try_from((apart - 1) / step).unwrap_or(FAR).min(FAR - 1);
        let (push, pull) = (self.push_lists(), self.pull_lists());
        let Some((levels, rounds)) =
            bfs::levels(&Search { push: &push, pull: &pull, sources: &sources, last }, go_on)
        else {
            return Some(None);
        };
        buffers.write_whole(state, |values, _| {
            values.par_iter_mut().zip(&levels).with_min_len(TASK).for_each(|(value, level)| {
                *value = if *level == FAR { most } else { least + i64::from(*level) * step };
            });
        });
        Some(Some(u64::from(rounds)))
    }

    /// Shortest paths: every edge has the same length, or its weight.
    fn run_delta_stepping(
        &self,
        buffers: &mut Buffers<T>,
        state: Place,
        length: Option<T>,
        go_on: GoOn,
    ) -> Rounds {
        let Place::Real(state) = state else { return None };
        let way = |side: &&'a Neighbours<T>| {
            let lengths = match (length, &side.weights) {
                (Some(length), _) => Lengths::Same(length),
                (None, Some(weights)) => Lengths::Each(weights),
                (None, None) => Lengths::Same(T::ONE),
            };
            Ways { lists: side.neighbour_lists(), lengths }
        };
        let ways: Vec<Ways<T>> = self.push.iter().map(way).collect();
        let first = buffers.reals().get(state);
        if !delta_stepping::may_begin(first)
            || !ways.iter().all(|way| delta_stepping::may_be(way.lengths))
        {
            return None;
        }
        let Some((sums, rounds)) = delta_stepping::paths(first, &ways, go_on) else {
            return Some(None);
        };
        buffers.write_real(state, |values, _| {
            let parts = values.par_chunks_mut(TASK).zip(sums.par_chunks(TASK));
            parts.for_each(|(values, sums)| values.copy_from_slice(sums));
        });
        Some(Some(rounds))
    }

    fn run_k_core(&self, buffers: &mut Buffers<T>, state: Place, go_on: GoOn) -> Rounds {
        let Place::Whole(state) = state else { return None };
        let (push, pull) = (self.push_lists(), self.pull_lists());
        let degree =
            |vertex: usize| pull.iter().map(|lists| lists.degree(vertex)).sum::<usize>() as i64;
        if buffers
            .wholes()
            .get(state)
            .par_iter()
            .with_min_len(TASK)
            .enumerate()
            .any(|(vertex, value)| *value != degree(vertex))
        {
            return None;
        }
        let Some(cores) = k_core::cores(&push, &pull, go_on) else { return Some(None) };
        buffers.write_whole(state, |values, _| {
            values
                .par_iter_mut()
                .zip(&cores)
                .with_min_len(TASK)
                .for_each(|(value, core)| *value = i64::from(*core))
        });
        Some(Some(1))
    }
}

/// The least and the largest value of a part, which is not empty.
fn least_and_most(values: &[i64]) -> (i64, i64) {
    let both = (i64::MAX, i64::MIN);
    values.iter().fold(both, |(least, most), &value| (least.min(value), most.max(value)))
}

/// The rows of the least of two values; none where a value is neither. The least and the largest
/// value of each part say which parts need no look.
fn rows_of(values: &[i64], parts: &[(i64, i64)], [least, most]: [i64; 2]) -> Option<Vec<u32>> {
    let rows = |(part, values): (usize, &[i64])| {
        if parts[part] == (most, most) {
            return Some(Vec::new());
        }
        let are_two = values.iter().all(|&value| value == least || value == most);
        let at = |at: usize| (part * TASK + at) as u32;
        let found = values.iter().enumerate().filter(|(_, value)| **value == least);
        are_two.then(|| found.map(|(row, _)| at(row)).collect())
    };
    let mixed: Option<Vec<Vec<u32>>> =
        values.par_chunks(TASK).enumerate().with_min_len(PARTS).map(rows).collect();
    mixed.map(|parts| parts.concat())
}

/// Whether the order of comparisons decides the result for some value: NaN or negative zero.
fn is_any_unordered<T: Precision>(values: &[T]) -> bool {
    let is_unordered = |value: f64| value.is_nan() || (value == 0.0 && value.is_sign_negative());
    values.par_iter().with_min_len(TASK).any(|value| is_unordered(value.widened()))
}
