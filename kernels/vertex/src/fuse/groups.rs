//! groups: which launches of a part become one.
//!
//! promises  a group can be done vertex by vertex (or edge by edge) in any order; launches outside of groups come as early as they can,
//!           so that groups grow; the order depends on the list alone
use std::collections::BTreeSet;

use super::values::{Kind, Reading, Values};
use crate::launch::{Buffer, BufferName, Direction, Launch, Operand, Operation, Over, Role, Rows, View, reduced};

/// Columns of rows of vertices that one group holds at most, so that a block of rows stays in the cache.
const COLUMNS_MAX: u64 = 4096;

/// A launch that is to be placed.
struct Item<'a> {
    launch: &'a Launch,
    kind: Kind,
    reading: Reading,
    /// The edges that it reduces.
    direction: Option<Direction>,
}

/// Launches that become one.
pub(super) struct Group<'a> {
    members: Vec<Item<'a>>,
    over: Option<Over>,
    /// Buffers that it reads and does not make.
    pub reads: BTreeSet<BufferName>,
    made: BTreeSet<&'a str>,
    columns: u64,
}

/// The launches of a part in groups, in an order in which they can be done.
pub(super) fn grouped<'a>(values: &Values<'a>, part: usize, launches: &'a [Launch]) -> Vec<Group<'a>> {
    let is_needed = |launch: &&Launch| match values.kind(&launch.operation) {
        Kind::Edge(_) => launch.operation.writes().iter().any(|name| values.is_stored(name)),
        _ => true,
    };
    let mut waiting: Vec<Item> = launches.iter().filter(is_needed).map(|launch| Item::of(values, part, launch)).collect();
    let mut unmade: BTreeSet<&str> = waiting.iter().flat_map(Item::writes).collect();
    let mut groups = Vec::new();
    while !waiting.is_empty() {
        let is_ready =
            |item: &Item, group: &Group| item.reading.leaves.iter().all(|(name, _)| !unmade.contains(name.as_str()) || group.made.contains(name.as_str()));
        let nothing = Group::new();
        let apart = waiting.iter().position(|item| item.kind == Kind::Other && is_ready(item, &nothing));
        let first = apart.or_else(|| waiting.iter().position(|item| is_ready(item, &nothing))).unwrap_or(0);
        let mut group = Group::new();
        group.add(values, waiting.remove(first));
        let mut at = 0;
        while group.over.is_some() && at < waiting.len() {
            if is_ready(&waiting[at], &group) && group.takes(values, &waiting[at]) {
                group.add(values, waiting.remove(at));
                // What was passed over may have waited for this.
                at = 0;
            } else {
                at += 1;
            }
        }
        group.made.iter().for_each(|name| {
            unmade.remove(name);
        });
        groups.push(group);
    }
    groups
}

impl<'a> Item<'a> {
    fn of(values: &Values<'a>, part: usize, launch: &'a Launch) -> Self {
        let kind = values.kind(&launch.operation);
        let direction = match &launch.operation {
            Operation::Evaluate { op, .. } if kind == Kind::Vertex => reduced(op).map(|edges| edges.direction),
            _ => None,
        };
        Item { launch, kind, reading: values.reading(&launch.operation, part), direction }
    }

    fn writes(&self) -> Vec<&'a str> {
        match &self.launch.operation {
            Operation::Evaluate { out, .. } => vec![out.as_str()],
            other => other.writes().into_iter().filter_map(|name| if let std::borrow::Cow::Borrowed(name) = name { Some(name) } else { None }).collect(),
        }
    }
}

/// Whether a view, in a walk over the edges of vertices in this direction, is of another vertex.
fn is_far(view: View, direction: Option<Direction>) -> bool {
    match view {
        View::Own => false,
        View::Far(edges) => direction.is_none_or(|direction| edges.direction == direction || edges.reversed().direction != direction),
        View::Near(edges) => direction.is_none_or(|direction| edges.direction != direction),
    }
}

impl<'a> Group<'a> {
    fn new() -> Self {
        Group { members: Vec::new(), over: None, reads: BTreeSet::new(), made: BTreeSet::new(), columns: 0 }
    }

    fn direction(&self) -> Option<Direction> {
        if let Some(Over::EdgesOf(direction)) = self.over { Some(direction) } else { None }
    }

    /// Whether a launch, which is ready, can be done in the same walk.
    fn takes(&self, values: &Values, item: &Item) -> bool {
        let fits = match (self.over, item.kind) {
            (Some(Over::Edges(rows)), Kind::Edge(wanted)) => rows == wanted,
            (Some(Over::Vertices), Kind::Vertex) => true,
            (Some(Over::EdgesOf(direction)), Kind::Vertex) => item.direction.is_none_or(|wanted| wanted == direction),
            _ => false,
        };
        let direction = self.direction().or(item.direction);
        let at_hand = |(name, view): &(BufferName, View)| !self.made.contains(name.as_str()) || !is_far(*view, direction);
        fits && item.reading.leaves.iter().all(at_hand) && self.columns + columns(values, item) <= COLUMNS_MAX
    }

    fn add(&mut self, values: &Values, item: Item<'a>) {
        self.over = match (item.kind, item.direction) {
            (Kind::Other, _) => None,
            (Kind::Edge(rows), _) => Some(Over::Edges(rows)),
            (Kind::Vertex, Some(direction)) => Some(Over::EdgesOf(direction)),
            (Kind::Vertex, None) => self.over.or(Some(Over::Vertices)),
        };
        let new = item.reading.leaves.iter().map(|(name, _)| name).filter(|name| !self.made.contains(name.as_str()));
        self.reads.extend(new.cloned());
        self.made.extend(item.writes());
        self.columns += columns(values, &item);
        self.members.push(item);
    }

    /// The launch that does all of it; `is_read_outside` says what must lie somewhere.
    pub fn launch(&self, values: &Values<'a>, is_read_outside: &dyn Fn(&str) -> bool) -> Launch {
        let Some(over) = self.over else { return self.members[0].launch.clone() };
        let (mut locals, mut steps): (Vec<Buffer>, Vec<Operation>) = (Vec::new(), Vec::new());
        for member in &self.members {
            for name in &member.reading.steps {
                let (Some(operation), Some(buffer)) = (values.edge_operation(name), values.buffer(name)) else { continue };
                let local = local_name(values, name);
                if locals.iter().any(|known| known.name == local) || self.made.contains(local.as_str()) {
                    continue;
                }
                locals.push(Buffer { name: local, ..buffer.clone() });
                steps.push(renamed(values, operation, &member.reading.steps, true));
            }
            let Operation::Evaluate { out, .. } = &member.launch.operation else { continue };
            if let Some(buffer) = values.buffer(out).filter(|buffer| buffer.role == Role::Value && !is_read_outside(out)) {
                locals.push(buffer.clone());
            }
            steps.push(renamed(values, &member.launch.operation, &member.reading.steps, false));
        }
        let name = self.members.last().map_or_else(String::new, |member| member.launch.name.clone());
        Launch::unreckoned(name, Operation::Fused { over, locals, steps })
    }
}

/// Columns of rows of vertices that a launch adds to a group.
fn columns(values: &Values, item: &Item) -> u64 {
    let of = |name: &str| values.buffer(name).filter(|buffer| buffer.rows == Rows::Nodes).map_or(0, |buffer| buffer.columns);
    item.writes().iter().map(|name| of(name)).sum()
}

/// Name of a value of edges where it is made again: its own where it lies nowhere.
fn local_name(values: &Values, name: &str) -> BufferName {
    if values.is_stored(name) { format!("{name}.again") } else { name.to_owned() }
}

/// A step that reads values of edges under their local names, and has one itself if it is such.
fn renamed(values: &Values, operation: &Operation, made: &[BufferName], is_local: bool) -> Operation {
    let Operation::Evaluate { out, shape, op, inputs } = operation else { return operation.clone() };
    let out = if is_local { local_name(values, out) } else { out.clone() };
    let inputs = inputs.iter().map(|input| renamed_operand(values, input, made)).collect();
    Operation::Evaluate { out, shape: shape.clone(), op: op.clone(), inputs }
}

fn renamed_operand(values: &Values, operand: &Operand, made: &[BufferName]) -> Operand {
    match operand {
        Operand::Rows(rows) if made.contains(&rows.buffer) => {
            let mut rows = rows.clone();
            rows.buffer = local_name(values, &rows.buffer);
            Operand::Rows(rows)
        }
        Operand::Times(first, second) => {
            let of = |part: &Operand| Box::new(renamed_operand(values, part, made));
            Operand::Times(of(first), of(second))
        }
        other => other.clone(),
    }
}
