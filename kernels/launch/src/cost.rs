//! cost: the bytes and flops of each launch, estimated from shapes and facts alone.
//!
//! promises  a figure counts each operand once from memory, and a gathered row once per edge or
//!           nonzero: gathered rows are assumed to miss every cache, everything else to be read
//!           once; gathers are a part of the bytes; sums saturate, never wrap
//! never     measures; knows a rate or a device; counts the ids of the training rows, the
//!           partition's tables or an executor's scratch
use std::collections::BTreeMap;

use super::{
    Body, Buffer, Element, Launch, LaunchList, Operand, Operation, Over, Role, Rows, Schedule, View,
};
use crate::GraphFacts;
use warploom_ir::{Direction, Op};
use warploom_tuning as tuning;

/// Bytes of one id or index.
const INDEX: u64 = 4;

impl GraphFacts {
    /// The number of rows.
    pub fn count(&self, rows: Rows) -> u64 {
        rows.count(self.nodes, self.edges)
    }
}

impl LaunchList {
    /// Buffers by name; the last of two that share one.
    pub fn index(&self) -> BTreeMap<&str, &Buffer> {
        self.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer)).collect()
    }
}

/// The largest number of edges that 32 bits count.
const COUNTED_MAX: u64 = u32::MAX as u64;

/// How far beyond the last edge a GPU's walk counts, at most: it takes edges in chunks, and shares
/// those of a row among all groups of many blocks.
const COUNTED_AHEAD: u64 = 1 << 24;

impl LaunchList {
    /// The most slots of a list that a GPU walks: of edges, or of entries of sparse features.
    pub fn most_slots_on_gpu() -> u64 {
        COUNTED_MAX - COUNTED_AHEAD
    }

    /// The most edges of a graph that this list can run on; none where nothing has a bound. Ids of
    /// edges, rows of edges and, on a GPU, offsets have 32 bits; where both directions are walked,
    /// out-edges are numbered after all in-edges.
    pub fn most_edges(&self, on_gpu: bool) -> Option<u64> {
        let needs = ListNeeds::from_list(self);
        let has_rows = |wanted: Rows| self.buffers.iter().any(|buffer| buffer.rows == wanted);
        let goes_by_edge = |launch: &&Launch| {
            matches!(launch.operation, Operation::Fused { over: Over::Edges(_), .. })
        };
        let numbered = needs.ids
            || has_rows(Rows::Edges)
            || has_rows(Rows::EdgesTwice)
            || self.launches().iter().any(goes_by_edge);
        let walked = needs.incoming || needs.outgoing;
        let twice = needs.both || has_rows(Rows::EdgesTwice);
        let most = if on_gpu { Self::most_slots_on_gpu() } else { COUNTED_MAX };
        (numbered || (on_gpu && walked)).then_some(if twice { most / 2 } else { most })
    }
}

/// The edge lists that evaluated operations, and tables of returned lists, need: lists by vertex in
/// the order of edge ids, and the ends and relations of edges by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListNeeds {
    /// In-edges of each vertex.
    pub incoming: bool,
    /// Out-edges of each vertex.
    pub outgoing: bool,
    /// In-edges and then out-edges, in one walk.
    pub both: bool,
    /// The ids of these edges: walks that read or make a row of an edge, and operations alone.
    pub ids: bool,
    /// Source and target of each edge.
    pub ends: bool,
    /// Relation of each edge.
    pub relations: bool,
    /// The vertices of each graph of a data set of many, and the graph of each vertex.
    pub graphs: bool,
}

impl ListNeeds {
    /// Of all launches and results together.
    pub fn from_list(list: &LaunchList) -> Self {
        ListNeeds::from_launches(list, &list.launches())
    }

    /// The same if loops use their shortcut algorithms: without their supersteps.
    pub fn with_shortcuts(list: &LaunchList) -> Self {
        let Body::Iterate(iterate) = &list.body else { return ListNeeds::from_list(list) };
        let of_loop = |repeated: &'_ super::Loop| {
            repeated.superstep.len() * usize::from(repeated.course.is_none())
        };
        let loops = iterate.loops.iter().flat_map(|repeated| {
            repeated.prepare.iter().chain(&repeated.superstep[..of_loop(repeated)])
        });
        ListNeeds::from_launches(list, &loops.chain(&iterate.finish).collect::<Vec<_>>())
    }

    fn from_launches(list: &LaunchList, launches: &[&Launch]) -> Self {
        let mut lists = ListNeeds::default();
        for launch in launches {
            match &launch.operation {
                Operation::Fused { over, locals, steps } => {
                    steps.iter().for_each(|step| lists.add_step(step, Some(*over)));
                    lists.ids |= matches!(over, Over::EdgesOf(_))
                        && steps.iter().any(|step| numbers_edges(step, locals, list));
                }
                operation => lists.add_step(operation, None),
            }
        }
        lists.graphs = list
            .buffers
            .iter()
            .any(|buffer| matches!(buffer.rows, Rows::Graphs(count) if count != 1));
        // The table of a returned list has both ends of each edge.
        for edges in list.results.iter().filter_map(|result| result.edges) {
            lists.ends = true;
            lists.relations |= edges.relation.is_some();
        }
        lists
    }

    /// The needs of an evaluated operation, alone or in a walk, which knows the ends of its edges.
    fn add_step(&mut self, operation: &Operation, over: Option<Over>) {
        let Operation::Evaluate { op, inputs, .. } = operation else { return };
        let walked = match (op, over) {
            (
                Op::Reduce(_, edges)
                | Op::Winner(_, edges)
                | Op::Others(edges)
                | Op::Fold(_, edges),
                _,
            ) => Some(*edges),
            (Op::CommonNeighbors | Op::CommonNeighborsSum(_), _) => {
                Some(warploom_ir::EdgeSet::BOTH)
            }
            (_, Some(Over::EdgesOf(direction))) => {
                Some(warploom_ir::EdgeSet { direction, relation: None })
            }
            _ => None,
        };
        self.ids |= over.is_none() && walked.is_some();
        self.both |= walked.is_some_and(|edges| edges.direction == Direction::Both);
        self.incoming |= walked.is_some_and(|edges| edges.direction != Direction::Out);
        self.outgoing |= walked.is_some_and(|edges| edges.direction != Direction::In);
        self.relations |= walked.is_some_and(|edges| edges.relation.is_some());
        let seen = inputs.iter().flat_map(Operand::rows).any(|rows| rows.view != View::Own);
        let at_hand = matches!(over, Some(Over::Vertices | Over::EdgesOf(_)));
        self.ends |= (seen && !at_hand) || matches!(op, Op::Winner(..) | Op::Others(_));
    }

    /// Bytes of the lists by vertex, which a run on a CPU maps.
    pub(super) fn mapped_bytes(self, facts: &GraphFacts) -> u64 {
        let offsets = facts.nodes.saturating_add(1).saturating_mul(8);
        let of_edge = if self.ids { 2 * INDEX } else { INDEX };
        let list = offsets.saturating_add(facts.edges.saturating_mul(of_edge));
        let directions = u64::from(self.incoming) + u64::from(self.outgoing);
        list.saturating_mul(directions)
    }

    /// Bytes of the other lists, which it makes.
    pub(super) fn own_bytes(self, facts: &GraphFacts) -> u64 {
        let by_edge = facts.edges.saturating_mul(
            if self.ends { 2 * INDEX } else { 0 } + if self.relations { 2 } else { 0 },
        );
        let by_graph = if self.graphs { facts.nodes.saturating_mul(2 * INDEX) } else { 0 };
        sum([by_edge, by_graph])
    }
}

/// Whether a step of a walk over edges of vertices asks for the number of an edge: for its row in a
/// buffer, for what is drawn for it, or for its relation.
fn numbers_edges(step: &Operation, locals: &[Buffer], list: &LaunchList) -> bool {
    let Operation::Evaluate { out, op, inputs, .. } = step else { return true };
    let is_of_edges = |buffers: &[Buffer], name: &str| {
        buffers.iter().any(|buffer| {
            buffer.name == name && matches!(buffer.rows, Rows::Edges | Rows::EdgesTwice)
        })
    };
    let reads = inputs.iter().flat_map(Operand::rows);
    let by_relation = matches!(op, Op::Reduce(_, edges) if edges.relation.is_some());
    let drawn = matches!(op, Op::Dropout { .. })
        && (is_of_edges(locals, out) || is_of_edges(&list.buffers, out));
    by_relation
        || drawn
        || is_of_edges(&list.buffers, out)
        || reads.into_iter().any(|rows| is_of_edges(&list.buffers, &rows.buffer))
}

/// Minimum bytes that an operation reads and writes. Names that are not declared count as 0.
pub(super) fn moved(
    operation: &Operation,
    index: &BTreeMap<&str, &Buffer>,
    facts: &GraphFacts,
) -> u64 {
    match operation {
        Operation::Evaluate { out, op, inputs, .. } => {
            return evaluated(out, op, inputs, index, facts);
        }
        Operation::Fused { over, steps, .. } => {
            return fused(*over, steps, index, operation, facts);
        }
        _ => {}
    }
    let size = |name: &str| index.get(name).map_or(0, |buffer| buffer_bytes(buffer, facts));
    let columns = |name: &str| index.get(name).map_or(0, |buffer| buffer.columns);
    let reads = operation.reads();
    // A gathered source counts per edge or nonzero, everything else once.
    let gathered: Option<&str> = match operation {
        Operation::SparseProduct { right, .. } => Some(right),
        Operation::SparseProductOverRows { left, .. } => Some(left),
        _ => None,
    };
    let once = sum(reads.iter().filter(|name| gathered != Some(&***name)).map(|name| size(name)));
    let written = sum(operation.writes().iter().map(|name| size(name)));
    let extra = match operation {
        Operation::SparseProduct { out, left, .. } => {
            gathered_by_nonzero(columns(out), index.get(left.as_str()).copied(), facts)
        }
        Operation::SparseProductOverRows { left, right, .. } => {
            gathered_by_nonzero(columns(left), index.get(right.as_str()).copied(), facts)
        }
        // The parameter and its two moments are read and written.
        Operation::Optimize { .. } => written.saturating_mul(5),
        _ => 0,
    };
    sum([once, written, extra])
}

/// Bytes of an evaluated operation: gathered operands count per edge, everything else once.
fn evaluated(
    out: &str,
    op: &Op,
    inputs: &[Operand],
    index: &BTreeMap<&str, &Buffer>,
    facts: &GraphFacts,
) -> u64 {
    let read = |rows: &super::Rowed| {
        let Some(buffer) = index.get(rows.buffer.as_str()) else { return 0 };
        let Some(edges) = rows.view.edges() else { return buffer_bytes(buffer, facts) };
        let passes = if edges.direction == Direction::Both { 2 } else { 1 };
        let row = buffer.columns.saturating_mul(width(buffer.element, facts)).saturating_add(INDEX);
        facts.edges.saturating_mul(passes).saturating_mul(row)
    };
    let reads = sum(inputs.iter().flat_map(Operand::rows).map(read));
    let written = index.get(out).map_or(0, |buffer| buffer_bytes(buffer, facts));
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
        // The vertices of each graph, or the graph of each vertex.
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

/// Bytes of a fused launch: rows of other vertices that its steps gather once per edge, everything
/// else that it does not compute itself once.
fn fused(
    over: Over,
    steps: &[Operation],
    index: &BTreeMap<&str, &Buffer>,
    operation: &Operation,
    facts: &GraphFacts,
) -> u64 {
    let looked = GatherFinder { index, facts };
    let (edges, seen) = (looked.walked(over), looked.gathered_by_steps(over, steps));
    let gathered = sum(seen.iter().map(|(_, gathered)| gathered.bytes()));
    let is_gathered = |wanted: &str| seen.iter().any(|(name, _)| *name == wanted);
    let reads = operation.reads();
    let once = sum(reads
        .iter()
        .filter(|name| !is_gathered(name))
        .map(|name| index.get(&**name).map_or(0, |buffer| buffer_bytes(buffer, facts))));
    let written = sum(operation
        .writes()
        .iter()
        .map(|name| index.get(&**name).map_or(0, |buffer| buffer_bytes(buffer, facts))));
    let walk = match over {
        Over::Vertices => 0,
        Over::EdgesOf(_) => GraphFacts::bytes_of_offsets(facts.nodes, facts.edges)
            .saturating_add(edges.saturating_mul(INDEX)),
        Over::Edges(_) => edges.saturating_mul(2 * INDEX),
    };
    sum([gathered, once, written, walk])
}

/// Nonzeros of sparse features.
pub(super) fn nonzeros(buffer: &Buffer, facts: &GraphFacts) -> u64 {
    match buffer.role {
        Role::SparseFeaturesOf { entries, .. } => entries,
        _ => facts.sparse_features.unwrap_or(0),
    }
}

fn gathered_by_nonzero(columns: u64, features: Option<&Buffer>, facts: &GraphFacts) -> u64 {
    features
        .map_or(0, |features| nonzeros(features, facts))
        .saturating_mul(columns)
        .saturating_mul(facts.bytes_per_real)
}

/// How an operation is split: edges by the partition, rows in blocks, small operations not at all.
pub(super) fn divided(operation: &Operation, index: &BTreeMap<&str, &Buffer>) -> Schedule {
    let writes = operation.writes();
    let Some(out) = writes.first().and_then(|name| index.get(&**name)) else {
        return Schedule::Whole;
    };
    match (operation, out.rows) {
        (Operation::SparseProductOverRows { .. }, _) => {
            Schedule::RowBlocks(tuning::cpu_block_rows())
        }
        (Operation::Fused { over: Over::EdgesOf(_), .. }, _) => Schedule::PartitionRows,
        (Operation::Fused { .. }, _) => Schedule::RowBlocks(tuning::cpu_block_rows()),
        (Operation::Evaluate { op: Op::Reduce(..) | Op::Fold(..), .. }, _) => {
            Schedule::PartitionRows
        }
        (_, Rows::Nodes | Rows::Edges | Rows::EdgesTwice | Rows::Graphs(_)) => {
            Schedule::RowBlocks(tuning::cpu_block_rows())
        }
        (_, Rows::Fixed(rows))
            if rows.saturating_mul(out.columns) <= tuning::cpu_block_elements() =>
        {
            Schedule::Whole
        }
        (_, Rows::Fixed(_)) => {
            Schedule::RowBlocks((tuning::cpu_block_elements() / out.columns.max(1)).max(1))
        }
    }
}

/// Bytes of a whole buffer; sparse features as CSR.
pub(super) fn buffer_bytes(buffer: &Buffer, facts: &GraphFacts) -> u64 {
    let rows = facts.count(buffer.rows);
    if buffer.role.is_sparse() {
        let nonzeros = nonzeros(buffer, facts);
        let entries = nonzeros.saturating_mul(INDEX + facts.bytes_per_real);
        return GraphFacts::bytes_of_offsets(rows, nonzeros).saturating_add(entries);
    }
    let stride = if facts.lanes { buffer.stride(facts.bytes_per_real) } else { buffer.columns };
    rows.saturating_mul(stride).saturating_mul(width(buffer.element, facts))
}

/// Bytes of an element.
pub fn width(element: Element, facts: &GraphFacts) -> u64 {
    match element {
        Element::Real => facts.bytes_per_real,
        Element::Half(_) => 2,
        Element::Whole(_) => 8,
    }
}

pub(super) fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

/// The cost of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Total bytes.
    pub bytes: u64,
    /// Randomly accessed rows.
    pub gathers: Vec<Gathered>,
    /// Additions and multiplications of matrix products.
    pub flops: u64,
}

/// A gather from one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// Number of rows read.
    pub count: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
    /// Bytes of the table.
    pub table_bytes: u64,
}

/// What one walk of a launch reads of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferReads {
    /// Bytes of its rows, each read once, in order.
    pub in_order: u64,
    /// Bytes of its rows, read per edge.
    pub by_edges: u64,
}

impl Gathered {
    /// Total bytes read.
    pub fn bytes(self) -> u64 {
        self.count.saturating_mul(self.row_bytes)
    }
}

impl LaunchList {
    /// The cost of a launch of this list.
    pub fn work(&self, launch: &Launch, facts: &GraphFacts) -> Work {
        let index = self.index();
        let looked = GatherFinder { index: &index, facts };
        let operation = &launch.operation;
        let gathers = match operation {
            Operation::SparseProduct { left, right, .. } => looked.rows_of_weight(left, right),
            Operation::SparseProductOverRows { left, right, .. } => {
                looked.rows(left, looked.entries(right)).into_iter().collect()
            }
            Operation::Evaluate { inputs, .. } => {
                unnamed(looked.gathered_reads(inputs.iter(), None))
            }
            Operation::Fused { over, steps, .. } => unnamed(looked.gathered_by_steps(*over, steps)),
            _ => Vec::new(),
        };
        let flops =
            operation.steps().iter().fold(0u64, |sum, step| sum.saturating_add(looked.flops(step)));
        Work { bytes: launch.bytes, gathers, flops }
    }
}

impl LaunchList {
    /// What a compiled launch of this list reads of a buffer.
    pub fn buffer_reads(&self, launch: &Launch, name: &str, facts: &GraphFacts) -> BufferReads {
        let index = self.index();
        let looked = GatherFinder { index: &index, facts };
        let operation = &launch.operation;
        let over = if let Operation::Fused { over, .. } = operation { Some(*over) } else { None };
        let inputs = || {
            operation.steps().iter().flat_map(|step| {
                if let Operation::Evaluate { inputs, .. } = step { inputs.as_slice() } else { &[] }
            })
        };
        let gathered = match over {
            Some(over) => looked.gathered_by_steps(over, operation.steps()),
            None => looked.gathered_reads(inputs(), None),
        };
        let by_edges = gathered
            .iter()
            .filter(|(of, _)| *of == name)
            .map(|(_, gathered)| gathered.bytes())
            .fold(0, u64::saturating_add);
        let is_own =
            |rows: &&super::Rowed| rows.buffer == name && !matches!(rows.view, View::Far(_));
        let is_read = inputs().flat_map(Operand::rows).any(|rows| is_own(&rows))
            || (by_edges == 0 && operation.reads().iter().any(|read| read == name));
        let in_order = if is_read {
            index.get(name).map_or(0, |buffer| buffer_bytes(buffer, facts))
        } else {
            0
        };
        BufferReads { in_order, by_edges }
    }
}

fn passes(direction: Direction) -> u64 {
    if direction == Direction::Both { 2 } else { 1 }
}

fn unnamed(gathers: Vec<(&str, Gathered)>) -> Vec<Gathered> {
    gathers.into_iter().map(|(_, gathered)| gathered).collect()
}

/// Finds gathers, for a launch's cost and bytes.
struct GatherFinder<'a> {
    index: &'a BTreeMap<&'a str, &'a Buffer>,
    facts: &'a GraphFacts,
}

impl GatherFinder<'_> {
    /// A gather of this many rows of a buffer; none for a value that is in no buffer.
    fn rows(&self, name: &str, count: u64) -> Option<Gathered> {
        let buffer = self.index.get(name)?;
        let row_bytes = buffer.columns.saturating_mul(width(buffer.element, self.facts));
        Some(Gathered { count, row_bytes, table_bytes: buffer_bytes(buffer, self.facts) })
    }

    fn entries(&self, features: &str) -> u64 {
        self.index.get(features).map_or(0, |buffer| nonzeros(buffer, self.facts))
    }

    /// A weight is `[out, in]`: a nonzero reads a column of it.
    fn rows_of_weight(&self, features: &str, weight: &str) -> Vec<Gathered> {
        let Some(buffer) = self.index.get(weight) else { return Vec::new() };
        let row_bytes =
            self.facts.count(buffer.rows).saturating_mul(width(buffer.element, self.facts));
        vec![Gathered {
            count: self.entries(features),
            row_bytes,
            table_bytes: buffer_bytes(buffer, self.facts),
        }]
    }

    /// Gathers of rows of other vertices, each table and view once: a row per edge of the view, or
    /// this many.
    fn gathered_reads<'rows>(
        &self,
        inputs: impl Iterator<Item = &'rows Operand>,
        count: Option<u64>,
    ) -> Vec<(&'rows str, Gathered)> {
        let mut known: Vec<(&str, View)> = Vec::new();
        for rows in inputs.flat_map(Operand::rows).filter(|rows| matches!(rows.view, View::Far(_)))
        {
            if !known.contains(&(rows.buffer.as_str(), rows.view)) {
                known.push((rows.buffer.as_str(), rows.view));
            }
        }
        let of_view = |view: View| {
            view.edges().map_or(0, |seen| self.facts.edges.saturating_mul(passes(seen.direction)))
        };
        known
            .into_iter()
            .filter_map(|(name, view)| {
                Some((name, self.rows(name, count.unwrap_or_else(|| of_view(view)))?))
            })
            .collect()
    }

    /// Gathers of rows of other vertices by all steps of one walk.
    fn gathered_by_steps<'rows>(
        &self,
        over: Over,
        steps: &'rows [Operation],
    ) -> Vec<(&'rows str, Gathered)> {
        let inputs = steps.iter().flat_map(|step| {
            if let Operation::Evaluate { inputs, .. } = step { inputs.as_slice() } else { &[] }
        });
        self.gathered_reads(inputs, Some(self.walked(over)))
    }

    /// The number of edges that a walk visits.
    fn walked(&self, over: Over) -> u64 {
        match over {
            Over::Vertices => 0,
            Over::EdgesOf(direction) => self.facts.edges.saturating_mul(passes(direction)),
            Over::Edges(rows) => self.facts.count(rows),
        }
    }

    fn flops(&self, operation: &Operation) -> u64 {
        let buffer = |name: &str| self.index.get(name).copied();
        let size = |name: &str| {
            buffer(name)
                .map_or(0, |buffer| self.facts.count(buffer.rows).saturating_mul(buffer.columns))
        };
        let columns = |name: &str| buffer(name).map_or(0, |buffer| buffer.columns);
        let twice = |first: u64, second: u64| first.saturating_mul(second).saturating_mul(2);
        match operation {
            Operation::SparseProduct { out, left, .. } => twice(self.entries(left), columns(out)),
            Operation::SparseProductOverRows { left, right, .. } => {
                twice(self.entries(right), columns(left))
            }
            Operation::Evaluate { out, shape, op: Op::Product { .. }, inputs, .. } => {
                let inner =
                    inputs.first().and_then(|left| left.shape().last().copied()).unwrap_or(1);
                let rows = buffer(out).map_or(self.facts.nodes, |buffer| {
                    if let Rows::Fixed(_) = buffer.rows { 1 } else { self.facts.count(buffer.rows) }
                });
                twice(rows.saturating_mul(shape.iter().product()), inner)
            }
            Operation::Evaluate { op: Op::Outer, inputs, .. } => {
                // Values local to a walk are rows of its vertices.
                let local = |rows: &super::Rowed| {
                    self.facts.nodes.saturating_mul(rows.shape.iter().product())
                };
                let size = |rows: &super::Rowed| {
                    if buffer(&rows.buffer).is_some() { size(&rows.buffer) } else { local(rows) }
                };
                let rows =
                    inputs.first().into_iter().flat_map(Operand::rows).map(size).max().unwrap_or(0);
                twice(
                    rows,
                    inputs.get(1).and_then(|right| right.shape().last().copied()).unwrap_or(1),
                )
            }
            _ => 0,
        }
    }
}
