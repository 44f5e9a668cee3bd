//! liveness: the lifetimes of buffers, over the order in which a list is executed.
//!
//! promises  a value that crosses parts is live between them, and, if its reader's part is
//!           repeated, during all of that part; states and successors of a loop are live until
//!           their last reader; if a walk recomputes only some rows, the others are live from
//!           superstep to superstep; accesses between two launches (results, conditions,
//!           statistics, checkpoints) count as reads; features that only launches before the first
//!           epoch read are live until the last of these, if the caller asks for them
//! never     looks at sizes; includes inputs or parameters
//! limits    one interval per buffer: between two writes it is live too
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::off_critical_path::off_path_launches;
use super::{
    Body, Commit, Element, Iterate, Launch, LaunchList, Loop, MergedLaunches, Operation, Role,
    StopCondition, Train,
};
use warploom_ir::Op;

/// The first and the last moment at which a buffer is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The first launch that writes it.
    pub first: usize,
    /// Its last reader.
    pub last: usize,
}

impl Lifetime {
    /// Whether two lifetimes overlap.
    pub fn meets(self, other: Lifetime) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Whether a buffer is live at a moment.
    pub fn covers(self, moment: usize) -> bool {
        self.first <= moment && moment <= self.last
    }

    /// The union of both, with what is between them.
    #[must_use]
    pub fn union(self, other: Lifetime) -> Lifetime {
        Lifetime { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

/// The accesses of an execution, in order.
#[derive(Debug, Default)]
pub struct Timeline<'a> {
    moments: Vec<Moment<'a>>,
    /// Moments that are repeated.
    rounds: Vec<Range<usize>>,
    /// Buffers that are exchanged: each takes the place of the other.
    exchanged: Vec<&'a Commit>,
    /// Moment of each launch, in order of launches.
    launches: Vec<usize>,
    /// Moments of sums over all vertices.
    sums: Vec<usize>,
}

/// A launch, or what an executor does between two.
#[derive(Debug)]
struct Moment<'a> {
    reads: Vec<Cow<'a, str>>,
    writes: Vec<Cow<'a, str>>,
}

impl<'a> Timeline<'a> {
    /// The accesses of a list.
    pub fn new(list: &'a LaunchList) -> Self {
        Timeline::with_merged(list, &MergedLaunches::from_list(list))
    }

    /// The same, where the launches that may be merged are known.
    pub fn with_merged(list: &'a LaunchList, merged: &MergedLaunches) -> Self {
        let mut timeline = Timeline::default();
        let results: Vec<&str> = list.results.iter().map(|result| result.buffer.as_str()).collect();
        match &list.body {
            Body::Train(train) => timeline.train(train, &results),
            Body::Iterate(iterate) => timeline.iterate(iterate, &results),
        }
        timeline.join(merged);
        timeline.keep_aside(list);
        timeline
    }

    /// Moment of each launch, in order of launches.
    pub fn launches(&self) -> &[usize] {
        &self.launches
    }

    fn part(&mut self, launches: &'a [Launch]) {
        for launch in launches {
            self.launches.push(self.moments.len());
            if matches!(launch.operation, Operation::Evaluate { op: Op::SumRows, .. }) {
                self.sums.push(self.moments.len());
            }
            self.moments.push(Moment {
                reads: launch.operation.reads(),
                writes: launch.operation.writes(),
            });
        }
    }

    fn look(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.moments
            .push(Moment { reads: names.into_iter().map(Cow::from).collect(), writes: Vec::new() });
    }

    /// Metrics are computed after the loss, and nothing follows the forward part of the last epoch.
    /// part.
    fn train(&mut self, train: &'a Train, results: &[&'a str]) {
        self.part(&train.prepare);
        let start = self.moments.len();
        self.part(&train.forward);
        self.part(std::slice::from_ref(&train.loss));
        self.make_beside(train);
        self.look(results.iter().copied());
        let start_of_backward = self.moments.len();
        self.part(&train.backward);
        self.make_where_made(start_of_backward);
        self.part(&train.update);
        self.look(train.statistics.iter().map(|commit| commit.next.as_str()));
        self.rounds.push(start..self.moments.len());
    }

    /// Kernels that support it sum the rows of the loss's gradient where they compute them.
    fn make_beside(&mut self, train: &'a Train) {
        let (Operation::Loss { gradient, .. }, Some(loss)) =
            (&train.loss.operation, self.moments.last_mut())
        else {
            return;
        };
        let is_sum = |operation: &Operation| {
            matches!(operation, Operation::Evaluate { op: Op::SumRows, .. })
                && operation.reads().iter().all(|read| read == gradient)
        };
        loss.writes.extend(
            train
                .backward
                .iter()
                .map(|launch| &launch.operation)
                .filter(|operation| is_sum(operation))
                .flat_map(Operation::writes),
        );
    }

    /// Likewise for rows that a backward launch computes: their sums, which are small, are live
    /// from then on.
    fn make_where_made(&mut self, start: usize) {
        for sum in start..self.moments.len() {
            let Moment { reads, writes } = &self.moments[sum];
            let [read] = reads.as_slice() else { continue };
            let maker = (start..sum).rev().find(|maker| self.moments[*maker].writes.contains(read));
            let is_sum = self.sums.contains(&sum);
            if let (true, Some(maker)) = (is_sum, maker) {
                let writes = writes.clone();
                self.moments[maker].writes.extend(writes);
            }
        }
    }

    /// Products may be merged with others: their inputs are live until then, and their results from
    /// then on.
    fn join(&mut self, joined: &MergedLaunches) {
        for (first, second) in joined.firsts.iter().chain(&joined.twins).chain(&joined.sums) {
            let [first, second] = [first, second].map(|launch| self.launches[*launch]);
            let reads = self.moments[first].reads.clone();
            self.moments[second].reads.extend(reads);
        }
        // Rows that are computed where they are multiplied: their inputs are live until then.
        for (maker, last) in &joined.sources {
            let of_maker = [Some(*maker), joined.first_of(*maker)].into_iter().flatten();
            let reads: Vec<_> = of_maker
                .flat_map(|launch| self.moments[self.launches[launch]].reads.clone())
                .collect();
            self.moments[self.launches[*last]].reads.extend(reads);
        }
        for (follower, head) in joined.followers.iter().chain(&joined.walked) {
            let [follower, head] = [follower, head].map(|launch| self.launches[*launch]);
            let writes = self.moments[follower].writes.clone();
            self.moments[head].writes.extend(writes);
        }
    }

    /// Launches off the critical path: their inputs and results are live as long as other launches
    /// run.
    fn keep_aside(&mut self, list: &LaunchList) {
        let Body::Train(train) = &list.body else { return };
        let last = self.launches[train.prepare.len() + train.forward.len() + train.backward.len()];
        for number in off_path_launches(list) {
            let reads = self.moments[self.launches[number]].reads.clone();
            self.moments[last].reads.extend(reads);
        }
    }

    fn iterate(&mut self, iterate: &'a Iterate, results: &[&'a str]) {
        for (number, repeated) in iterate.loops.iter().enumerate() {
            self.part(&repeated.prepare);
            let start = self.moments.len();
            self.part(&repeated.superstep);
            if repeated.frontier.is_some() {
                self.keep_rows();
            }
            // A checkpoint has the states of this loop and of all before it.
            let states = iterate.loops[..=number]
                .iter()
                .flat_map(|repeated| &repeated.commit)
                .map(|commit| commit.state.as_str());
            let next = repeated.commit.iter().map(|commit| commit.next.as_str());
            self.look(states.chain(next).chain(active(repeated)));
            self.rounds.push(start..self.moments.len());
            self.exchanged.extend(&repeated.commit);
        }
        self.part(&iterate.finish);
        self.look(results.iter().copied());
    }

    /// The last launch recomputes some rows and keeps the others, so it reads what it writes.
    fn keep_rows(&mut self) {
        if let Some(last) = self.moments.last_mut() {
            last.reads.extend(last.writes.iter().cloned());
        }
    }

    /// The lifetime of each value and gradient that is accessed.
    pub fn lifetimes(&self, list: &'a LaunchList) -> BTreeMap<&'a str, Lifetime> {
        let mut touched: BTreeMap<&str, Vec<(usize, Touch)>> = BTreeMap::new();
        for (moment, Moment { reads, writes }) in self.moments.iter().enumerate() {
            reads
                .iter()
                .for_each(|name| touched.entry(name).or_default().push((moment, Touch::Read)));
            writes
                .iter()
                .for_each(|name| touched.entry(name).or_default().push((moment, Touch::Write)));
        }
        let made = list
            .buffers
            .iter()
            .filter(|buffer| matches!(buffer.role, Role::Value | Role::Gradient));
        let span = |buffer: &'a super::Buffer| {
            Some((buffer.name.as_str(), self.span(touched.get(buffer.name.as_str())?)?))
        };
        let mut lifetimes: BTreeMap<&str, Lifetime> = made.filter_map(span).collect();
        for Commit { state, next } in &self.exchanged {
            let (Some(first), Some(second)) =
                (lifetimes.get(state.as_str()), lifetimes.get(next.as_str()))
            else {
                continue;
            };
            let both = first.union(*second);
            lifetimes.extend([(state.as_str(), both), (next.as_str(), both)]);
        }
        lifetimes
    }

    /// The lifetime of features that no epoch reads, in a list that trains: from the start, since
    /// they are loaded before it.
    pub fn features_wanted_once(&self, list: &'a LaunchList) -> BTreeMap<&'a str, Lifetime> {
        let (Body::Train(train), Some(epoch)) = (&list.body, self.rounds.first()) else {
            return BTreeMap::new();
        };
        let last = |name: &str| {
            self.moments.iter().rposition(|moment| moment.reads.iter().any(|read| read == name))
        };
        let features = list.buffers.iter().filter(|buffer| {
            buffer.role == Role::Features
                && buffer.element == Element::Real
                && !train.backward.is_empty()
        });
        let wanted =
            features.filter_map(|buffer| Some((buffer.name.as_str(), last(&buffer.name)?)));
        wanted
            .filter(|(_, last)| *last < epoch.start)
            .map(|(name, last)| (name, Lifetime { first: 0, last }))
            .collect()
    }

    fn span(&self, touches: &[(usize, Touch)]) -> Option<Lifetime> {
        let mut span = Lifetime { first: touches.first()?.0, last: touches.last()?.0 };
        for round in &self.rounds {
            let first = touches.iter().find(|(moment, _)| round.contains(moment));
            // A value that is read before it is written is live across repetitions.
            if matches!(first, Some((_, Touch::Read))) {
                span = span.union(Lifetime { first: round.start, last: round.end - 1 });
            }
        }
        Some(span)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    Read,
    Write,
}

/// The bools that a loop's stop condition tests.
fn active(repeated: &Loop) -> Option<&str> {
    match &repeated.until {
        StopCondition::Nowhere(buffer) => Some(buffer),
        StopCondition::ChangeAtMost(..) | StopCondition::Unchanged(_) => None,
    }
}
