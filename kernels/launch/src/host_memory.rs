//! host_memory: predicts the memory of a run on a CPU: that of its process, and, separately, pages
//! of mapped files.
//!
//! promises  `Stored::is_mapped` is the single rule of which data is read from a mapped file, and
//!           `Needs` of which edges are walked: both the run and this prediction follow them. A use
//!           counts while it is live: while inputs are loaded, buffers are allocated, launches run,
//!           or results are written; the peak is that of the worst of these phases. Sums saturate,
//!           never wrap
//! never     measures; counts scratch of launches, a few MiB per thread, except for triangle
//!           counting and the arrays of shortcut algorithms
//! limits    if values do not meet the requirements of a shortcut algorithm, the supersteps take
//!           more
use serde::{Deserialize, Serialize};

use super::cost::{ListNeeds, buffer_bytes, nonzeros, sum, width};
use super::{Body, Buffer, Course, EdgeLength, Element, Launch, LaunchList, Operation, Role, Rows};
use crate::GraphFacts;
use warploom_ir::{Input, Op};

// These are fitted: tests/bench/record/2026-11-28-amd-epyc-2-cores-peak-memory.
/// Memory of a process before it opens a graph, including its first thread.
const PROCESS: u64 = 5 << 20;
/// Memory of each further thread: its stack, and the buffers of kernels.
pub const BYTES_PER_THREAD: u64 = 5 << 19;
/// Pages of the program itself.
const CODE: u64 = 26 << 20;
/// Smaller arrays stay with the process when they are freed: the allocator keeps them.
const KEPT_BELOW: u64 = 32 << 20;
/// An arena up to this size is resident at once; pages of a larger one when they are first written.
pub const TOUCHED_AT_ONCE: u64 = 64 << 20;
/// Rows of results that are encoded before they are written.
const ROWS_WRITTEN: u64 = 1 << 20;
/// Maximum memory of writing a table, in addition to its encoded rows: a part of each column,
/// dictionaries, the compressor; for a small one this many times its bytes.
const TABLE_WRITER: u64 = 12 << 20;
const TABLE_WRITER_TIMES: u64 = 4;

/// Bytes per edge of triangle counting: each pair of neighbours once, in parts and combined.
const EDGE_OF_PAIRS: u64 = 6;
/// Bytes per node there: rank, first pair, and marks and counts of two threads.
const NODE_OF_PAIRS: u64 = 26;
/// Copies of the parameters while their file is assembled.
const PARAMETERS_WRITTEN: u64 = 4;

/// How rows of the data set are stored, as far as that decides whether a run copies them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Whether nodes are renumbered relative to the data set.
    pub renumbered: bool,
    /// Bytes per node of the tables that loading reads, decoded and as vectors.
    pub node_bytes: u64,
    /// The part of them that a run keeps.
    pub node_bytes_kept: u64,
}

impl Stored {
    /// Whether float rows are read from the mapped file: it has f32, in the order of the data set.
    pub fn is_mapped(self, rows: Rows, bytes_per_real: u64) -> bool {
        bytes_per_real == 4 && !(self.renumbered && rows == Rows::Nodes)
    }
}

/// Predicted memory of a list while it runs on a CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Peak memory of the process, with one thread.
    pub bytes_peak: u64,
    /// Peak pages of mapped files.
    pub bytes_mapped: u64,
    /// The bytes of `bytes_peak` by use.
    pub uses: Vec<(String, u64)>,
}

/// The name of the use for everything that launches write.
pub const MADE: &str = "values of launches";

/// The name of the use for the tables that loading reads.
const NODE_TABLES: &str = "tables of nodes";

/// Which parts of a graph the launches read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// In-edges.
    pub incoming: bool,
    /// Out-edges.
    pub outgoing: bool,
    /// Weights of edges.
    pub weights: bool,
    /// Sparse features by columns.
    pub sparse_by_columns: bool,
    /// Edges in the order of their ids.
    pub lists: ListNeeds,
    /// The part of these lists that only supersteps need, which a shortcut algorithm replaces.
    pub lists_later: Option<ListNeeds>,
    /// Whether the lists of both directions are the same, which a shortcut algorithm asks.
    pub symmetry: bool,
}

impl Needs {
    /// What the launches of a list read.
    pub fn from_list(list: &LaunchList) -> Self {
        let mut needs = Needs { lists: ListNeeds::from_list(list), ..Needs::default() };
        if let Body::Iterate(iterate) = &list.body
            && iterate.loops.iter().any(|repeated| repeated.frontier.is_some())
        {
            // From changed rows to their readers, and back.
            (needs.incoming, needs.outgoing) = (true, true);
        }
        for launch in list.launches() {
            needs.sparse_by_columns |=
                matches!(launch.operation, Operation::SparseProductOverRows { .. });
        }
        needs
    }

    /// The same, if loops use their shortcut algorithms, which walk both directions.
    pub fn with_shortcuts(list: &LaunchList) -> Self {
        let mut needs = Needs::from_list(list);
        for course in list.courses() {
            (needs.incoming, needs.outgoing) = (true, true);
            needs.weights |= matches!(course, Course::Least { step: EdgeLength::Weight, .. });
            needs.symmetry |= course.asks_symmetry();
            needs.lists_later = Some(ListNeeds::from_list(list));
        }
        needs.lists = ListNeeds::with_shortcuts(list);
        needs
    }
}

/// The phases in which a use is live: loading inputs, allocating buffers, running launches, writing
/// results.
type When = [bool; 4];

const ALWAYS: When = [true; 4];
const LOADING: When = [true, false, false, false];
const MAKING: When = [false, true, false, false];
const UNTIL_RUN: When = [true, true, true, false];
const RUNNING: When = [false, false, true, true];
const LAUNCHES: When = [false, false, true, false];
/// Mapped rows become resident when the first launch reads them.
const FROM_BUFFERS: When = [false, true, true, false];
const FROM_MAKING: When = [false, true, true, true];
const WRITING: When = [false, false, false, true];

/// Uses, each with the phases in which it is live.
#[derive(Default)]
struct MemoryUses {
    own: Vec<(String, u64, When)>,
    mapped: Vec<(u64, When)>,
}

impl MemoryUses {
    fn own(&mut self, name: impl Into<String>, bytes: u64, when: When) {
        self.own.push((name.into(), bytes, when));
    }

    /// Rows of the data set, in a file: mapped, or copied with this many bytes per element. Returns
    /// whether they are mapped.
    fn rows(&mut self, name: &str, elements: u64, copied: u64, is_mapped: bool) {
        self.mapped
            .push((elements.saturating_mul(4), if is_mapped { FROM_BUFFERS } else { LOADING }));
        if !is_mapped {
            self.own(name, elements.saturating_mul(copied), UNTIL_RUN);
        }
    }

    /// The phase with the most memory, and its bytes by use.
    fn peak(&self) -> (u64, Vec<(String, u64)>) {
        let at = |moment: usize| {
            self.own.iter().filter(move |(_, bytes, when)| when[moment] && *bytes > 0)
        };
        let bytes = |moment: usize| sum(at(moment).map(|(_, bytes, _)| *bytes));
        let most = (0..4).max_by_key(|&moment| bytes(moment)).unwrap_or(0);
        (bytes(most), at(most).map(|(name, bytes, _)| (name.clone(), *bytes)).collect())
    }

    fn mapped(&self) -> u64 {
        let bytes = |moment: usize| {
            sum(self.mapped.iter().filter(|(_, when)| when[moment]).map(|(bytes, _)| *bytes))
        };
        (0..4).map(bytes).max().unwrap_or(0)
    }
}

impl LaunchList {
    /// Predicted memory of a run on a CPU, whose launches read these edges.
    pub fn memory(&self, facts: &GraphFacts, stored: Stored, needs: Needs) -> Memory {
        let mut uses = MemoryUses::default();
        uses.own("process", PROCESS, ALWAYS);
        uses.mapped.push((CODE, ALWAYS));
        let loaded = facts.nodes.saturating_mul(stored.node_bytes);
        let kept = facts.nodes.saturating_mul(stored.node_bytes_kept);
        let is_kept = facts.nodes.saturating_mul(8) < KEPT_BELOW;
        uses.own(NODE_TABLES, if is_kept { loaded } else { kept }, FROM_MAKING);
        uses.own(NODE_TABLES, loaded, LOADING);
        if stored.renumbered {
            uses.own("order of nodes", facts.nodes.saturating_mul(4), ALWAYS);
        }
        self.edges(&mut uses, needs, facts);
        for buffer in &self.buffers {
            self.inputs(&mut uses, buffer, needs, facts, stored);
        }
        self.learned(&mut uses, facts);
        uses.own(MADE, self.arena.bytes, RUNNING);
        if self.arena.bytes <= TOUCHED_AT_ONCE {
            uses.own(MADE, self.arena.bytes, MAKING);
        }
        if needs.lists_later.is_some() {
            let courses =
                self.courses().map(|it| it.bytes_on_cpu(facts.nodes, facts.bytes_per_real));
            // Loops run in sequence.
            uses.own("arrays of shortcuts", courses.max().unwrap_or(0), LAUNCHES);
        }
        if self.counts_triangles() {
            let pairs = sum([
                facts.edges.saturating_mul(EDGE_OF_PAIRS),
                facts.nodes.saturating_mul(NODE_OF_PAIRS),
            ]);
            uses.own("pairs of neighbours", pairs, LAUNCHES);
        }
        uses.own("results that are written", self.written(facts, stored), WRITING);
        let (bytes_peak, by_use) = uses.peak();
        Memory { bytes_peak, bytes_mapped: uses.mapped(), uses: by_use }
    }

    /// The shortcut algorithms of the loops.
    fn courses(&self) -> impl Iterator<Item = &Course> {
        let loops = match &self.body {
            Body::Iterate(iterate) => &iterate.loops[..],
            Body::Train(_) => &[],
        };
        loops.iter().filter_map(|repeated| repeated.course.as_ref())
    }

    /// Whether a launch counts common neighbours.
    fn counts_triangles(&self) -> bool {
        let is_of = |launch: &&Launch| {
            matches!(
                &launch.operation,
                Operation::Evaluate { op: Op::CommonNeighbors | Op::CommonNeighborsSum(_), .. }
            )
        };
        self.launches().iter().any(is_of)
    }

    /// Mapped edges and lists, and lists that are made.
    fn edges(&self, uses: &mut MemoryUses, needs: Needs, facts: &GraphFacts) {
        let GraphFacts { nodes, edges, .. } = *facts;
        let offsets = nodes.saturating_add(1).saturating_mul(8);
        // Loading checks every id of both directions, edge ids included.
        uses.mapped.push((sum([offsets, edges.saturating_mul(12)]).saturating_mul(2), LOADING));
        let sides = u64::from(needs.incoming) + u64::from(needs.outgoing);
        uses.mapped.push((sum([offsets, edges.saturating_mul(4)]).saturating_mul(sides), RUNNING));
        let weights = if needs.weights && facts.weighted { edges } else { 0 };
        uses.mapped.push((weights.saturating_mul(4), UNTIL_RUN));
        // Weights are in the order of in-edges, as f32.
        let turned =
            u64::from(needs.outgoing) + u64::from(needs.incoming && facts.bytes_per_real != 4);
        uses.own(
            "weights of edges",
            weights.saturating_mul(facts.bytes_per_real).saturating_mul(turned),
            ALWAYS,
        );
        uses.own(
            "weights on the way",
            if needs.outgoing { weights.saturating_mul(facts.bytes_per_real) } else { 0 },
            LOADING,
        );
        uses.mapped.push((needs.lists.mapped_bytes(facts), ALWAYS));
        uses.own("lists of edges", needs.lists.own_bytes(facts), ALWAYS);
    }

    /// The input of a buffer: mapped, or its copy.
    fn inputs(
        &self,
        uses: &mut MemoryUses,
        buffer: &Buffer,
        needs: Needs,
        facts: &GraphFacts,
        stored: Stored,
    ) {
        let elements = facts.count(buffer.rows).saturating_mul(buffer.columns);
        let (real, name) = (facts.bytes_per_real, buffer.name.as_str());
        match &buffer.role {
            Role::Features if matches!(buffer.element, Element::Half(_)) => {
                uses.own(name, elements.saturating_mul(width(buffer.element, facts)), FROM_BUFFERS);
                let is_mapped = stored.is_mapped(buffer.rows, real);
                uses.mapped
                    .push((elements.saturating_mul(4), if is_mapped { MAKING } else { LOADING }));
                let unrounded = if is_mapped { 0 } else { elements.saturating_mul(real) };
                uses.own(
                    format!("{name} before it is rounded"),
                    unrounded,
                    [true, true, false, false],
                );
            }
            Role::Features => uses.rows(name, elements, real, stored.is_mapped(buffer.rows, real)),
            Role::SparseFeatures | Role::SparseFeaturesOf { .. } => {
                sparse(uses, buffer, needs, facts, stored)
            }
            Role::Given(Input::EdgeFeatures | Input::FeaturesOf(_)) => {
                uses.rows(name, elements, real, stored.is_mapped(Rows::Edges, real));
            }
            Role::Target | Role::Given(_) => {
                uses.own(name, buffer_bytes(buffer, facts), UNTIL_RUN);
                uses.own(format!("{name} on the way"), buffer_bytes(buffer, facts), LOADING);
            }
            Role::Parameter | Role::Gradient | Role::Value => {}
        }
    }

    /// Parameters, their best checkpoint, and the moments of the optimiser.
    fn learned(&self, uses: &mut MemoryUses, facts: &GraphFacts) {
        let parameters = self.buffers.iter().filter(|buffer| buffer.role == Role::Parameter);
        for buffer in parameters {
            uses.own(buffer.name.clone(), buffer_bytes(buffer, facts), FROM_MAKING);
            uses.own(
                "parameters that are written",
                buffer_bytes(buffer, facts).saturating_mul(PARAMETERS_WRITTEN),
                WRITING,
            );
        }
        let Body::Train(train) = &self.body else { return };
        let index = self.index();
        let updated = train.update.iter().flat_map(|launch| launch.operation.writes());
        let bytes =
            sum(updated
                .map(|name| index.get(&*name).map_or(0, |buffer| buffer_bytes(buffer, facts))));
        uses.own("moments", bytes.saturating_mul(2), RUNNING);
        uses.own("best parameters", bytes, [false, false, true, false]);
    }

    /// Results that are assembled and encoded before they are written.
    fn written(&self, facts: &GraphFacts, stored: Stored) -> u64 {
        // An id, and a class.
        const NAMED: u64 = 12;
        let buffers = self
            .results
            .iter()
            .filter_map(|result| self.buffers.iter().find(|buffer| buffer.name == result.buffer));
        let of_row = |buffer: &Buffer| {
            buffer.columns.saturating_mul(width(buffer.element, facts)).saturating_add(NAMED)
        };
        let table = |buffer: &Buffer| {
            facts.count(buffer.rows).min(ROWS_WRITTEN).saturating_mul(of_row(buffer))
        };
        let order = if stored.renumbered { facts.nodes.saturating_mul(4) } else { 0 };
        let tables = sum(buffers.map(table));
        sum([tables, TABLE_WRITER.min(tables.saturating_mul(TABLE_WRITER_TIMES)), order])
    }
}

/// Sparse features: those of all nodes are copied, row by row; those of a kind are not renumbered.
fn sparse(
    uses: &mut MemoryUses,
    buffer: &Buffer,
    needs: Needs,
    facts: &GraphFacts,
    stored: Stored,
) {
    let (entries, real) = (nonzeros(buffer, facts), facts.bytes_per_real);
    let offsets = |rows: u64| rows.saturating_add(1).saturating_mul(8);
    let by_entry = |bytes: u64| entries.saturating_mul(bytes);
    let rows = facts.count(buffer.rows);
    let is_mapped = buffer.rows != Rows::Nodes && stored.is_mapped(buffer.rows, real);
    uses.mapped
        .push((sum([offsets(rows), by_entry(8)]), if is_mapped { FROM_BUFFERS } else { LOADING }));
    let copied = if is_mapped { offsets(rows) } else { sum([offsets(rows), by_entry(4 + real)]) };
    uses.own(buffer.name.clone(), copied, UNTIL_RUN);
    if needs.sparse_by_columns {
        uses.own(
            format!("{} by columns", buffer.name),
            sum([offsets(buffer.columns), by_entry(4 + real)]),
            UNTIL_RUN,
        );
    }
}
