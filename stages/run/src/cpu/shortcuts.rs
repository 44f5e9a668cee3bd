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

/// The name of the algorithm and its rounds. None where it does not apply; `Some(None)` where it
/// was stopped.
pub fn run_shortcut<T: Precision>(
    host: &mut HostState<T>,
    number: usize,
    stop: &StopFlag,
) -> Option<Option<(&'static str, u64)>> {
    let course = host.program.loops[number].course.clone()?;
    let state = host.program.loops[number].commits.first()?.0;
    let go_on: GoOn = &|| !stop.is_set();
    let sides = LoopEdges::new(&host.data, course.direction())?;
    let rounds = match course {
        Course::Cores { .. } => sides.run_k_core(&mut host.buffers, state, go_on),
        Course::Least { step: EdgeLength::Nothing, .. } => {
            sides.run_components(&mut host.buffers, state, go_on)
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
    /// From a vertex to its readers.
    push: Vec<&'a Neighbours<T>>,
    /// From a vertex to the vertices that it reads.
    pull: Vec<&'a Neighbours<T>>,
    direction: Direction,
}

impl<'a, T: Precision> LoopEdges<'a, T> {
    fn new(data: &'a Data<T>, direction: Direction) -> Option<Self> {
        let [push, pull] = data.push_and_pull(direction)?;
        Some(LoopEdges { push, pull, direction })
    }

    /// Whether every edge is read from both ends: for one direction, that reads all lists.
    fn reads_both_ends(&self) -> bool {
        self.direction == Direction::Both
            || self.push[0].neighbour_lists().are(&self.pull[0].neighbour_lists())
    }

    fn push_lists(&self) -> Vec<NeighbourLists<'a>> {
        self.push.iter().map(|side| side.neighbour_lists()).collect()
    }

    fn pull_lists(&self) -> Vec<NeighbourLists<'a>> {
        self.pull.iter().map(|side| side.neighbour_lists()).collect()
    }

    fn run_components(&self, buffers: &mut Buffers<T>, state: Place, go_on: GoOn) -> Rounds {
        if let Place::Real(state) = state
            && is_any_unordered(buffers.reals().get(state))
        {
            return None;
        }
        if !self.reads_both_ends() {
            return None;
        }
        let Some(parts) = components::parts(&self.pull_lists(), go_on) else { return Some(None) };
        match state {
            Place::Real(state) => {
                let least = components::least(buffers.reals().get(state), &parts);
                buffers.write_real(state, |values, _| assign_components(values, &least, &parts));
            }
            Place::Whole(state) => {
                let least = components::least(buffers.wholes().get(state), &parts);
                buffers.write_whole(state, |values, _| assign_components(values, &least, &parts));
            }
            Place::Half(..) | Place::Sparse(_) => return None,
        }
        Some(Some(1))
    }

    /// BFS: integers of which some have the smallest value and all others the largest.
    fn run_bfs(&self, buffers: &mut Buffers<T>, state: Place, step: i64, go_on: GoOn) -> Rounds {
        let Place::Whole(state) = state else { return None };
        let values = buffers.wholes().get(state);
        let ends = values.par_chunks(TASK).map(|values| (values.iter().min(), values.iter().max()));
        let (least, most) = ends.reduce(
            || (None, None),
            |one, other| {
                (one.0.into_iter().chain(other.0).min(), one.1.into_iter().chain(other.1).max())
            },
        );
        let (Some(&least), Some(&most)) = (least, most) else { return Some(Some(1)) };
        // The largest value plus a step must not overflow; the least int stays what it is.
        most.checked_add(step)?;
        if least == i64::MIN {
            return None;
        }
        let apart = most.checked_sub(least)?;
        if apart == 0 {
            return Some(Some(1));
        }
        let sources = rows_of(values, least, most)?;
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

/// The rows of the least value; none where a value is neither that nor the other.
fn rows_of(values: &[i64], least: i64, other: i64) -> Option<Vec<u32>> {
    let rows = |(part, values): (usize, &[i64])| {
        let mut rows = Vec::new();
        for (at, &value) in values.iter().enumerate() {
            if value == least {
                rows.push((part * TASK + at) as u32);
            } else if value != other {
                return None;
            }
        }
        Some(rows)
    };
    let parts: Option<Vec<_>> = values.par_chunks(TASK).enumerate().map(rows).collect();
    parts.map(|parts| parts.concat())
}

/// Whether the order of comparisons decides the result for some value: NaN or negative zero.
fn is_any_unordered<T: Precision>(values: &[T]) -> bool {
    let is_unordered = |value: f64| value.is_nan() || (value == 0.0 && value.is_sign_negative());
    values.par_iter().with_min_len(TASK).any(|value| is_unordered(value.widened()))
}

/// Gives every vertex the value at the first vertex of its component.
fn assign_components<E: Copy + Send + Sync>(values: &mut [E], least: &[E], parts: &[u32]) {
    values
        .par_iter_mut()
        .zip(parts)
        .with_min_len(TASK)
        .for_each(|(value, &part)| *value = least[part as usize]);
}
