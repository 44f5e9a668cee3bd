//! bytes: what each launch must move, reckoned from shapes and facts alone.
//!
//! promises  a figure counts each operand once from memory, and a gathered row once for each edge
//!           or nonzero: no cache is assumed to keep a gathered row, none to lose anything else;
//!           sums saturate, never wrap
//! never     measures; counts the ids of the training rows, the partition's tables or an executor's
//!           scratch
use std::collections::BTreeMap;

use super::work::Look;
use super::{
    Arena, Body, Buffer, Direction, EdgeFactor, Element, Expression, Launch, LaunchList, Operand,
    Operation, Over, Role, Rows, Schedule, View,
};
use crate::facts::Facts;
use crate::gir::Op;

/// Bytes of one id or index.
const INDEX: u64 = 4;
/// Rows of a block of row-wise work: enough to hide the cost of a unit, few enough to balance.
const BLOCK_ROWS: u64 = 4096;
/// Elements of shared values that one unit takes.
const BLOCK_ELEMENTS: u64 = 65536;

impl LaunchList {
    /// Buffers by name; the last of two that share one.
    pub(crate) fn index(&self) -> BTreeMap<&str, &Buffer> {
        self.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer)).collect()
    }

    /// Fills in the bytes and the schedule of every launch, and where what they make lies.
    pub(crate) fn reckon(&mut self, facts: &Facts) {
        let buffers = std::mem::take(&mut self.buffers);
        let index: BTreeMap<&str, &Buffer> =
            buffers.iter().map(|buffer| (buffer.name.as_str(), buffer)).collect();
        let launches: Vec<&mut Launch> = match &mut self.body {
            Body::Train(train) => {
                let before = train.prepare.iter_mut().chain(&mut train.forward);
                before
                    .chain([&mut train.loss])
                    .chain(&mut train.backward)
                    .chain(&mut train.update)
                    .collect()
            }
            Body::Iterate(iterate) => {
                let loops = iterate.loops.iter_mut().flat_map(|repeated| {
                    repeated.prepare.iter_mut().chain(&mut repeated.superstep)
                });
                loops.chain(&mut iterate.finish).collect()
            }
        };
        for launch in launches {
            launch.bytes = moved(&launch.operation, &index, facts);
            launch.schedule = divided(&launch.operation, &index);
        }
        self.buffers = buffers;
        self.arena = Arena::of(self, facts);
    }
}

/// What evaluated operations, and tables of returned lists, need of the edges: lists by vertex in
/// the order of edge ids, and the ends and relations of edges by their id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// In-edges of each vertex.
    pub incoming: bool,
    /// Out-edges of each vertex.
    pub outgoing: bool,
    /// Source and target of each edge.
    pub ends: bool,
    /// Relation of each edge.
    pub relations: bool,
    /// Which vertices each graph of a set of many has, and the graph of each vertex.
    pub graphs: bool,
}

impl Lists {
    /// Of all launches and results together.
    pub fn of(list: &LaunchList) -> Self {
        Lists::of_launches(list, &list.launches())
    }

    /// The same where loops with a course take it: nothing for their supersteps.
    pub fn by_courses(list: &LaunchList) -> Self {
        let Body::Iterate(iterate) = &list.body else { return Lists::of(list) };
        let of_loop = |repeated: &'_ super::Loop| {
            repeated.superstep.len() * usize::from(repeated.course.is_none())
        };
        let loops = iterate.loops.iter().flat_map(|repeated| {
            repeated.prepare.iter().chain(&repeated.superstep[..of_loop(repeated)])
        });
        Lists::of_launches(list, &loops.chain(&iterate.finish).collect::<Vec<_>>())
    }

    fn of_launches(list: &LaunchList, launches: &[&Launch]) -> Self {
        let mut lists = Lists::default();
        for launch in launches {
            match &launch.operation {
                Operation::Fused { over, steps, .. } => {
                    steps.iter().for_each(|step| lists.of_step(step, Some(*over)))
                }
                operation => lists.of_step(operation, None),
            }
        }
        lists.graphs = list
            .buffers
            .iter()
            .any(|buffer| matches!(buffer.rows, Rows::Graphs(count) if count != 1));
        // The table of a returned list names both ends of each edge.
        for edges in list.results.iter().filter_map(|result| result.edges) {
            lists.ends = true;
            lists.relations |= edges.relation.is_some();
        }
        lists
    }

    /// What an evaluated operation needs, alone or in such a walk, which has the ends of its edges
    /// at hand.
    fn of_step(&mut self, operation: &Operation, over: Option<Over>) {
        let Operation::Evaluate { op, inputs, .. } = operation else { return };
        let walked = match (op, over) {
            (
                Op::Reduce(_, edges)
                | Op::Winner(_, edges)
                | Op::Others(edges)
                | Op::Fold(_, edges),
                _,
            ) => Some(*edges),
            (Op::CommonNeighbors | Op::CommonNeighborsSum(_), _) => Some(crate::gir::EdgeSet::BOTH),
            (_, Some(Over::EdgesOf(direction))) => {
                Some(crate::gir::EdgeSet { direction, relation: None })
            }
            _ => None,
        };
        self.incoming |= walked.is_some_and(|edges| edges.direction != Direction::Out);
        self.outgoing |= walked.is_some_and(|edges| edges.direction != Direction::In);
        self.relations |= walked.is_some_and(|edges| edges.relation.is_some());
        let seen = inputs.iter().flat_map(Operand::rows).any(|rows| rows.view != View::Own);
        let at_hand = matches!(over, Some(Over::Vertices | Over::EdgesOf(_)));
        self.ends |= (seen && !at_hand) || matches!(op, Op::Winner(..) | Op::Others(_));
    }

    /// Bytes of these lists as a run on a CPU makes them.
    pub(super) fn bytes(self, facts: &Facts) -> u64 {
        let list = facts
            .nodes
            .saturating_add(1)
            .saturating_mul(8)
            .saturating_add(facts.edges.saturating_mul(2 * INDEX));
        let directions = u64::from(self.incoming) + u64::from(self.outgoing);
        let by_edge = facts.edges.saturating_mul(
            if self.ends { 2 * INDEX } else { 0 } + if self.relations { 2 } else { 0 },
        );
        let by_graph = if self.graphs { facts.nodes.saturating_mul(2 * INDEX) } else { 0 };
        sum([list.saturating_mul(directions), by_edge, by_graph])
    }
}

/// Which arrays of one direction's CSR are read.
struct Walk {
    offsets: bool,
    neighbours: bool,
    weights: bool,
}

impl Walk {
    fn bytes(self, facts: &Facts) -> u64 {
        let offsets =
            if self.offsets { Facts::bytes_of_offsets(facts.nodes, facts.edges) } else { 0 };
        let neighbours = if self.neighbours { facts.edges.saturating_mul(INDEX) } else { 0 };
        let weights =
            if self.weights { facts.edges.saturating_mul(facts.bytes_per_real) } else { 0 };
        sum([offsets, neighbours, weights])
    }
}

/// Bytes that an operation reads and writes at least. Names that are not declared count nothing.
fn moved(operation: &Operation, index: &BTreeMap<&str, &Buffer>, facts: &Facts) -> u64 {
    match operation {
        Operation::Evaluate { out, op, inputs, .. } => {
            return evaluated((out, op), inputs, index, facts);
        }
        Operation::Fused { over, steps, .. } => {
            return fused(*over, steps, (index, operation), facts);
        }
        _ => {}
    }
    let size = |name: &str| index.get(name).map_or(0, |buffer| whole(buffer, facts));
    let columns = |name: &str| index.get(name).map_or(0, |buffer| buffer.columns);
    let reads = operation.reads();
    // A source that is gathered is counted by the edge or the nonzero, all else once.
    let gathered: Option<&str> = match operation {
        Operation::NeighbourReduce { source, .. } => source.as_deref(),
        Operation::SparseProduct { right, .. } => Some(right),
        Operation::SparseProductOverRows { left, .. } => Some(left),
        _ => None,
    };
    let loaded_again = operation.expression().is_some_and(|expression| loads(expression, gathered));
    let once = sum(reads
        .iter()
        .filter(|name| gathered != Some(&***name) || loaded_again)
        .map(|name| size(name)));
    let written = sum(operation.writes().iter().map(|name| size(name)));
    let extra = match operation {
        Operation::NeighbourReduce { source, direction, factor, .. } => {
            let walk = Walk {
                offsets: true,
                neighbours: source.is_some(),
                weights: *factor == EdgeFactor::Weight,
            };
            let element = source
                .as_deref()
                .and_then(|name| index.get(name))
                .map_or(0, |buffer| width(buffer.element, facts));
            let rows = source.as_deref().map_or(0, |name| {
                columns(name).saturating_mul(element).saturating_mul(facts.edges)
            });
            let passes = if *direction == Direction::Both { 2 } else { 1 };
            walk.bytes(facts).saturating_add(rows).saturating_mul(passes)
        }
        Operation::SparseProduct { out, left, .. } => {
            gathered_by_nonzero(columns(out), index.get(left.as_str()).copied(), facts)
        }
        Operation::SparseProductOverRows { left, right, .. } => {
            gathered_by_nonzero(columns(left), index.get(right.as_str()).copied(), facts)
        }
        // The parameter is read and written, and so are its two moments.
        Operation::Optimize { .. } => written.saturating_mul(5),
        _ => 0,
    };
    sum([once, written, extra])
}

/// Bytes of an evaluated operation: what edges see is counted by the edge, all else once.
fn evaluated(
    (out, op): (&str, &Op),
    inputs: &[Operand],
    index: &BTreeMap<&str, &Buffer>,
    facts: &Facts,
) -> u64 {
    let read = |rows: &super::Rowed| {
        let Some(buffer) = index.get(rows.buffer.as_str()) else { return 0 };
        let Some(edges) = rows.view.edges() else { return whole(buffer, facts) };
        let passes = if edges.direction == Direction::Both { 2 } else { 1 };
        let row = buffer.columns.saturating_mul(width(buffer.element, facts)).saturating_add(INDEX);
        facts.edges.saturating_mul(passes).saturating_mul(row)
    };
    let reads = sum(inputs.iter().flat_map(Operand::rows).map(read));
    let written = index.get(out).map_or(0, |buffer| whole(buffer, facts));
    let of_many = |name: &str| {
        index
            .get(name)
            .is_some_and(|buffer| matches!(buffer.rows, Rows::Graphs(count) if count != 1))
    };
    let walk = match op {
        Op::Reduce(_, edges) | Op::Winner(_, edges) | Op::Others(edges) | Op::Fold(_, edges) => {
            let passes = if edges.direction == Direction::Both { 2 } else { 1 };
            facts
                .nodes
                .saturating_add(1)
                .saturating_mul(8)
                .saturating_add(facts.edges.saturating_mul(INDEX))
                .saturating_mul(passes)
        }
        // Which vertices a graph has, or which graph a vertex has.
        Op::Pool(_) | Op::Give
            if inputs
                .iter()
                .flat_map(Operand::rows)
                .map(|rows| rows.buffer.as_str())
                .chain([out])
                .any(of_many) =>
        {
            facts.nodes.saturating_mul(INDEX)
        }
        _ => 0,
    };
    sum([reads, written, walk])
}

/// Bytes of a fused launch: what its steps see of other vertices once by the edge, all else that it
/// does not make itself once.
fn fused(
    over: Over,
    steps: &[Operation],
    (index, operation): (&BTreeMap<&str, &Buffer>, &Operation),
    facts: &Facts,
) -> u64 {
    let looked = Look { index, facts };
    let (edges, seen) = (looked.walked(over), looked.seen_by_steps(over, steps));
    let gathered = sum(seen.iter().map(|(_, gathered)| gathered.bytes()));
    let is_gathered = |wanted: &str| seen.iter().any(|(name, _)| *name == wanted);
    let reads = operation.reads();
    let once = sum(reads
        .iter()
        .filter(|name| !is_gathered(name))
        .map(|name| index.get(&**name).map_or(0, |buffer| whole(buffer, facts))));
    let written = sum(operation
        .writes()
        .iter()
        .map(|name| index.get(&**name).map_or(0, |buffer| whole(buffer, facts))));
    let walk = match over {
        Over::Vertices => 0,
        Over::EdgesOf(_) => Facts::bytes_of_offsets(facts.nodes, facts.edges)
            .saturating_add(edges.saturating_mul(INDEX)),
        Over::Edges(_) => edges.saturating_mul(2 * INDEX),
    };
    sum([gathered, once, written, walk])
}

fn loads(expression: &Expression, wanted: Option<&str>) -> bool {
    let mut found = false;
    expression
        .walk(&mut |part| found |= matches!(part, Expression::Load(name) if wanted == Some(name)));
    found
}

/// Nonzeros of sparse features.
pub(super) fn nonzeros(buffer: &Buffer, facts: &Facts) -> u64 {
    match buffer.role {
        Role::SparseFeaturesOf { entries, .. } => entries,
        _ => facts.sparse_features.unwrap_or(0),
    }
}

fn gathered_by_nonzero(columns: u64, features: Option<&Buffer>, facts: &Facts) -> u64 {
    features
        .map_or(0, |features| nonzeros(features, facts))
        .saturating_mul(columns)
        .saturating_mul(facts.bytes_per_real)
}

/// How an operation is divided: edges by the partition, rows in blocks, what is small at once.
fn divided(operation: &Operation, index: &BTreeMap<&str, &Buffer>) -> Schedule {
    let writes = operation.writes();
    let Some(out) = writes.first().and_then(|name| index.get(&**name)) else {
        return Schedule::Whole;
    };
    match (operation, out.rows) {
        (Operation::NeighbourReduce { .. }, _) => Schedule::PartitionRows,
        (
            Operation::ProductOverRows { .. }
            | Operation::SparseProductOverRows { .. }
            | Operation::SumOverRows { .. },
            _,
        ) => Schedule::RowBlocks(BLOCK_ROWS),
        (Operation::Fused { over: Over::EdgesOf(_), .. }, _) => Schedule::PartitionRows,
        (Operation::Fused { .. }, _) => Schedule::RowBlocks(BLOCK_ROWS),
        (Operation::Evaluate { op: Op::Reduce(..) | Op::Fold(..), .. }, _) => {
            Schedule::PartitionRows
        }
        (_, Rows::Nodes | Rows::Edges | Rows::EdgesTwice | Rows::Graphs(_)) => {
            Schedule::RowBlocks(BLOCK_ROWS)
        }
        (_, Rows::Fixed(rows)) if rows.saturating_mul(out.columns) <= BLOCK_ELEMENTS => {
            Schedule::Whole
        }
        (_, Rows::Fixed(_)) => Schedule::RowBlocks((BLOCK_ELEMENTS / out.columns.max(1)).max(1)),
    }
}

/// Bytes of a whole buffer; sparse features as offsets, indices and values.
pub(super) fn whole(buffer: &Buffer, facts: &Facts) -> u64 {
    let rows = facts.count(buffer.rows);
    if buffer.role.is_sparse() {
        let nonzeros = nonzeros(buffer, facts);
        let entries = nonzeros.saturating_mul(INDEX + facts.bytes_per_real);
        return Facts::bytes_of_offsets(rows, nonzeros).saturating_add(entries);
    }
    let stride = if facts.lanes { buffer.stride(facts.bytes_per_real) } else { buffer.columns };
    rows.saturating_mul(stride).saturating_mul(width(buffer.element, facts))
}

/// Bytes of an element.
pub(crate) fn width(element: Element, facts: &Facts) -> u64 {
    match element {
        Element::Real => facts.bytes_per_real,
        Element::Half(_) => 2,
        Element::Id => INDEX,
        Element::Whole(_) => 8,
    }
}

pub(super) fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}
