//! fusion_groups: which launches of a part are fused.
//!
//! promises  a group can run vertex by vertex (or edge by edge) in any order; launches outside of
//!           groups are scheduled as early as possible, so that groups grow; row operations are
//!           deferred to the group that reads them where running them earlier gains nothing (the
//!           mask of a relu is computed next to the gradient, and never stored); the order depends
//!           on the list alone
mod gpu_fusion_rules;

use std::collections::{BTreeMap, BTreeSet};

use super::inlined_edge_values::{FusionKind, ListValues, Reading};
use crate::{
    Buffer, BufferName, Launch, Operand, Operation, Over, Role, Rowed, Rows, View, is_row_wise,
    name_of_again, reduced, width,
};
use warploom_ir::Direction;
use warploom_tuning as tuning;

/// A launch that is not scheduled yet.
#[derive(Clone)]
struct Item<'a> {
    launch: &'a Launch,
    kind: FusionKind,
    reading: Reading,
    /// The direction of the edges that it reduces.
    direction: Option<Direction>,
    part: usize,
}

/// A group of launches to fuse.
pub(super) struct Group<'a> {
    members: Vec<Item<'a>>,
    over: Option<Over>,
    /// Buffers that it reads and does not compute.
    pub reads: BTreeSet<BufferName>,
    made: BTreeSet<&'a str>,
    /// Sums over all vertices: complete only when the launch ends.
    totals: BTreeSet<&'a str>,
    columns: u64,
}

/// Splits the launches of a part into groups, in a valid order.
pub(super) fn grouped<'a>(
    values: &ListValues<'a>,
    part: usize,
    launches: &'a [Launch],
) -> Vec<Group<'a>> {
    let is_needed = |launch: &&Launch| match values.kind(&launch.operation) {
        FusionKind::Edge(_) => launch.operation.writes().iter().any(|name| values.is_stored(name)),
        _ => true,
    };
    let mut waiting: Vec<Item> =
        launches.iter().filter(is_needed).map(|launch| Item::new(values, part, launch)).collect();
    let mut unmade: BTreeSet<&str> = waiting.iter().flat_map(Item::writes).collect();
    let mut followers = gpu_fusion_rules::Followers::new(&waiting);
    let mut groups = Vec::new();
    while !waiting.is_empty() {
        let nothing = Group::new();
        let ready: Vec<usize> =
            (0..waiting.len()).filter(|at| waiting[*at].is_ready(&unmade, &nothing)).collect();
        let late = late(values, &waiting, &unmade);
        let apart = ready.iter().copied().find(|at| waiting[*at].kind == FusionKind::Other);
        let in_time = ready.iter().copied().find(|at| !late[*at]);
        let following = ready
            .iter()
            .copied()
            .find(|at| values.facts.lanes && followers.has(values, &waiting[*at]));
        let first = apart.or(following).or(in_time).or_else(|| ready.first().copied()).unwrap_or(0);
        let grown = |first: usize| grown(values, &waiting, &unmade, &late, first);
        let mut members = grown(first);
        // Another group may be the one that these rows should be deferred to.
        if members.len() == 1 && can_wait(values, &waiting, &members, first) {
            let others =
                ready.iter().filter(|at| **at != first && !late[**at]).map(|at| grown(*at));
            members = others
                .into_iter()
                .find(|members| !can_wait(values, &waiting, members, members[0]))
                .unwrap_or(members);
        }
        let mut group = Group::new();
        // In the order in which they were found: the dependencies of each precede it.
        members.iter().for_each(|at| group.add(values, &waiting[*at]));
        let mut at = 0..waiting.len();
        waiting.retain(|_| !at.next().is_some_and(|at| members.contains(&at)));
        group.made.iter().chain(&group.totals).for_each(|name| {
            unmade.remove(name);
        });
        followers.note(&group);
        groups.push(group);
    }
    groups
}

/// Positions of the launches that are fused with the one at `first`, in a valid order.
fn grown<'a>(
    values: &ListValues<'a>,
    waiting: &[Item<'a>],
    unmade: &BTreeSet<&str>,
    late: &[bool],
    first: usize,
) -> Vec<usize> {
    let mut group = Group::new();
    group.add(values, &waiting[first]);
    let mut members = vec![first];
    let mut at = 0;
    while group.over.is_some() && at < waiting.len() {
        if !members.contains(&at)
            && (!late[at] || late[first])
            && waiting[at].is_ready(unmade, &group)
            && group.takes(values, &waiting[at])
        {
            group.add(values, &waiting[at]);
            members.push(at);
            // A launch that was skipped may have depended on this one.
            at = 0;
        } else {
            at += 1;
        }
    }
    while let Some(place) =
        members.iter().rposition(|at| members.len() > 1 && can_wait(values, waiting, &members, *at))
    {
        members.remove(place);
    }
    members
}

/// By position: whether a reduction is better deferred until another over the same edges that reads
/// the same far rows and depends only on row operations is ready: the rows are then read once for
/// both.
fn late(values: &ListValues, waiting: &[Item], unmade: &BTreeSet<&str>) -> Vec<bool> {
    let makes: BTreeMap<&str, usize> = (0..waiting.len())
        .flat_map(|at| waiting[at].writes().into_iter().map(move |name| (name, at)))
        .collect();
    // Whether all unscheduled inputs of this launch come from row operations, and some are read
    // from other vertices.
    let waits_for_rows = |at: usize| {
        let (mut open, mut seen, mut is_far_read) = (vec![at], BTreeSet::new(), false);
        while let Some(next) = open.pop() {
            for (name, view) in waiting[next]
                .reading
                .leaves
                .iter()
                .filter(|(name, _)| unmade.contains(name.as_str()))
            {
                let Some(maker) = makes.get(name.as_str()).copied() else { return false };
                if waiting[maker].kind != FusionKind::Vertex
                    || waiting[maker].direction.is_some()
                    || gpu_fusion_rules::is_product(&waiting[maker])
                {
                    return false;
                }
                is_far_read |= next == at && is_far(*view, waiting[at].direction);
                if seen.insert(maker) {
                    open.push(maker);
                }
            }
        }
        is_far_read
    };
    let far_rows = |at: usize| {
        let item = &waiting[at];
        let is_of_nodes =
            |name: &str| values.buffer(name).is_some_and(|buffer| buffer.rows == Rows::Nodes);
        item.reading
            .leaves
            .iter()
            .filter(|(name, view)| is_far(*view, item.direction) && is_of_nodes(name))
            .map(|(name, _)| name.as_str())
            .collect()
    };
    let reductions: Vec<(usize, BTreeSet<&str>)> = (0..waiting.len())
        .filter(|at| waiting[*at].direction.is_some())
        .map(|at| (at, far_rows(at)))
        .collect();
    let awaited: Vec<&(usize, BTreeSet<&str>)> =
        reductions.iter().filter(|(at, rows)| !rows.is_empty() && waits_for_rows(*at)).collect();
    let mut late = vec![false; waiting.len()];
    for (at, rows) in &reductions {
        late[*at] = awaited.iter().any(|(other, others)| {
            other != at
                && waiting[*other].direction == waiting[*at].direction
                && !rows.is_disjoint(others)
        });
    }
    late
}

/// Whether a member of a group, a row operation that no other member reads, is better deferred to
/// its readers: they read no more than its result would take, and compute it while its rows are in
/// cache.
fn can_wait(values: &ListValues, waiting: &[Item], members: &[usize], at: usize) -> bool {
    let item = &waiting[at];
    let Operation::Evaluate { out, op, .. } = &item.launch.operation else { return false };
    if values.facts.lanes && !gpu_fusion_rules::can_wait(waiting, at) {
        return false;
    }
    if item.kind != FusionKind::Vertex
        || item.direction.is_some()
        || !is_row_wise(op)
        || values.is_kept(out)
    {
        return false;
    }
    let reads_it = |other: &&Item| other.reading.leaves.iter().any(|(name, _)| name == out);
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..waiting.len())
        .filter(|other| reads_it(&&waiting[*other]))
        .partition(|other| members.contains(other));
    let at_hand = |other: &usize| {
        let leaves = &waiting[*other].reading.leaves;
        matches!(waiting[*other].kind, FusionKind::Vertex | FusionKind::Total)
            && leaves.iter().all(|(name, view)| name != out || *view == View::Own)
    };
    if !inside.is_empty()
        || outside.is_empty()
        || !outside.iter().all(at_hand)
        || values.is_read_after(out, item.part)
    {
        return false;
    }
    let of_rows = |name: &str| {
        values
            .buffer(name)
            .filter(|buffer| buffer.rows == Rows::Nodes)
            .map_or(0, |buffer| buffer.columns * width(buffer.element, values.facts))
    };
    let mut names: Vec<&str> = item.reading.leaves.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    // Inputs that the group computes for this launch alone would have to be stored.
    let is_made_here =
        |name: &str| members.iter().any(|other| waiting[*other].writes().contains(&name));
    let lies_anyway = |name: &str| {
        let others = (0..waiting.len()).filter(|other| *other != at && !members.contains(other));
        values.is_kept(name)
            || values.is_read_after(name, item.part)
            || others
                .into_iter()
                .any(|other| waiting[other].reading.leaves.iter().any(|(read, _)| read == name))
    };
    let read: u64 = names.iter().map(|name| of_rows(name)).sum();
    names.iter().all(|name| !is_made_here(name) || lies_anyway(name))
        && read <= tuning::waiting_reads() * of_rows(out)
}

impl<'a> Item<'a> {
    fn new(values: &ListValues<'a>, part: usize, launch: &'a Launch) -> Self {
        let kind = values.kind(&launch.operation);
        let direction = match &launch.operation {
            Operation::Evaluate { op, .. } if kind == FusionKind::Vertex => {
                reduced(op).map(|edges| edges.direction)
            }
            _ => None,
        };
        Item { launch, kind, reading: values.reading(&launch.operation, part), direction, part }
    }

    /// Whether all its inputs are available, or computed by the group.
    fn is_ready(&self, unmade: &BTreeSet<&str>, group: &Group) -> bool {
        self.reading
            .leaves
            .iter()
            .all(|(name, _)| !unmade.contains(name.as_str()) || group.made.contains(name.as_str()))
    }

    fn writes(&self) -> Vec<&'a str> {
        match &self.launch.operation {
            Operation::Evaluate { out, .. } => vec![out.as_str()],
            other => other
                .writes()
                .into_iter()
                .filter_map(|name| {
                    if let std::borrow::Cow::Borrowed(name) = name { Some(name) } else { None }
                })
                .collect(),
        }
    }
}

/// Whether a view, in a walk over edges in this direction, is of another vertex.
fn is_far(view: View, direction: Option<Direction>) -> bool {
    match view {
        View::Own => false,
        View::Far(edges) => direction.is_none_or(|direction| {
            edges.direction == direction || edges.reversed().direction != direction
        }),
        View::Near(edges) => direction.is_none_or(|direction| edges.direction != direction),
    }
}

impl<'a> Group<'a> {
    fn new() -> Self {
        Group {
            members: Vec::new(),
            over: None,
            reads: BTreeSet::new(),
            made: BTreeSet::new(),
            totals: BTreeSet::new(),
            columns: 0,
        }
    }

    fn direction(&self) -> Option<Direction> {
        if let Some(Over::EdgesOf(direction)) = self.over { Some(direction) } else { None }
    }

    /// Whether a ready launch can join the walk.
    fn takes(&self, values: &ListValues, item: &Item) -> bool {
        let fits = match (self.over, item.kind) {
            (Some(Over::Edges(rows)), FusionKind::Edge(wanted)) => rows == wanted,
            (Some(Over::Vertices), FusionKind::Vertex) => true,
            (Some(Over::Vertices | Over::EdgesOf(_)), FusionKind::Total) => true,
            (Some(Over::EdgesOf(direction)), FusionKind::Vertex) => {
                item.direction.is_none_or(|wanted| wanted == direction)
            }
            _ => false,
        };
        if values.facts.lanes && !gpu_fusion_rules::take(values, &self.members, item) {
            return false;
        }
        let direction = self.direction().or(item.direction);
        let at_hand = |(name, view): &(BufferName, View)| {
            !self.made.contains(name.as_str()) || !is_far(*view, direction)
        };
        fits && item.reading.leaves.iter().all(at_hand)
            && self.columns + columns(values, item) <= tuning::fused_columns()
    }

    fn add(&mut self, values: &ListValues, item: &Item<'a>) {
        self.over = match (item.kind, item.direction) {
            (FusionKind::Other, _) => None,
            (FusionKind::Edge(rows), _) => Some(Over::Edges(rows)),
            (FusionKind::Vertex, Some(direction)) => Some(Over::EdgesOf(direction)),
            (FusionKind::Vertex | FusionKind::Total, None) => self.over.or(Some(Over::Vertices)),
            (FusionKind::Total, Some(_)) => self.over,
        };
        let new = item
            .reading
            .leaves
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !self.made.contains(name.as_str()));
        self.reads.extend(new.cloned());
        if item.kind == FusionKind::Total { &mut self.totals } else { &mut self.made }
            .extend(item.writes());
        self.columns += columns(values, item);
        self.members.push(item.clone());
    }

    /// The fused launch; `is_read_outside` tells which results must be materialised.
    pub fn launch(
        &self,
        values: &ListValues<'a>,
        is_read_outside: &dyn Fn(&str) -> bool,
    ) -> Launch {
        let Some(over) = self.over else { return self.members[0].launch.clone() };
        if let [Item { kind: FusionKind::Total, launch, .. }] = self.members.as_slice() {
            return (*launch).clone();
        }
        let (mut locals, mut steps): (Vec<Buffer>, Vec<Operation>) = (Vec::new(), Vec::new());
        for member in &self.members {
            let read = |name: &str| {
                if member.reading.steps.iter().any(|step| step == name) {
                    local_name(values, name)
                } else {
                    name.to_owned()
                }
            };
            for name in &member.reading.steps {
                let (Some(operation), Some(buffer)) =
                    (values.edge_operation(name), values.buffer(name))
                else {
                    continue;
                };
                let local = local_name(values, name);
                if locals.iter().any(|known| known.name == local)
                    || self.made.contains(local.as_str())
                {
                    continue;
                }
                locals.push(Buffer { name: local, ..buffer.clone() });
                steps.push(renamed(operation, &|made| local_name(values, made), &read));
            }
            let Operation::Evaluate { out, .. } = &member.launch.operation else { continue };
            if let Some(buffer) = values.buffer(out).filter(|buffer| {
                buffer.role == Role::Value
                    && member.kind != FusionKind::Total
                    && !is_read_outside(out)
            }) {
                locals.push(buffer.clone());
            }
            steps.push(renamed(&member.launch.operation, &str::to_owned, &read));
        }
        let name =
            self.members.last().map_or_else(String::new, |member| member.launch.name.clone());
        Launch::unreckoned(name, Operation::Fused { over, locals, steps })
    }
}

/// Columns that a launch adds to the vertex rows of a group.
fn columns(values: &ListValues, item: &Item) -> u64 {
    let of = |name: &str| {
        values
            .buffer(name)
            .filter(|buffer| buffer.rows == Rows::Nodes)
            .map_or(0, |buffer| buffer.columns)
    };
    item.writes().iter().map(|name| of(name)).sum()
}

/// Name of an edge value where it is recomputed: its own if it is not stored.
fn local_name(values: &ListValues, name: &str) -> BufferName {
    if values.is_stored(name) { name_of_again(name) } else { name.to_owned() }
}

/// A step with its buffers renamed.
pub(super) fn renamed(
    operation: &Operation,
    made: &dyn Fn(&str) -> BufferName,
    read: &dyn Fn(&str) -> BufferName,
) -> Operation {
    let Operation::Evaluate { out, shape, op, inputs } = operation else {
        return operation.clone();
    };
    let inputs = inputs
        .iter()
        .map(|input| {
            input.changed(&|rows| {
                Operand::Rows(Rowed { buffer: read(&rows.buffer), ..rows.clone() })
            })
        })
        .collect();
    Operation::Evaluate { out: made(out), shape: shape.clone(), op: op.clone(), inputs }
}
