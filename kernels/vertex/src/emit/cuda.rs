//! cuda: the launches of a list as CUDA source, for NVRTC.
//!
//! promises  each launch becomes one kernel or a few, whose text follows from the list and the
//!           settings alone; a kernel's parameters are listed in order, so that who launches it
//!           cannot guess; no float is added up in an order that varies
//! never     names a driver, compiles, or looks at a graph
mod consecutive_rows;
mod edge_sums;
pub mod epoch_clock;
mod graph_pooling;
mod heavy_rows;
pub mod host_reads;
mod kernel_parameters;
mod lane_broadcast;
mod lane_layout;
mod loss;
mod low_degree_rows;
pub mod memory_estimate;
mod neighbour_group_walk;
mod online_softmax;
mod operators;
mod outer_from_narrow_rows;
mod outer_products;
mod padded_rows;
mod plain_products;
mod product_after_walk;
mod reduce_all_rows;
mod row_walk;
pub mod schedule_kinds;
mod shared_read_sums;
mod sparse_features;
mod statement_text;
mod statements;
mod tensor_core_products;
mod tensor_core_shapes;
pub mod training_control;
mod unfused_edge_ops;
mod walk_lowering;
mod walk_steps;
mod warpgroup_products;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

pub use schedule_kinds::ScheduleKind;

use kernel_parameters::Parameters;

use crate::gir::Op;
use crate::launch::{
    Body, BufferName, Direction, Launch, LaunchList, LossKind, MergedLaunches, Operation, Rows,
    off_path_launches,
};

/// What every kernel is made of.
const PRELUDE: &str = include_str!("cuda/prelude.cuh");

/// Tickets that lie on the device: as many hubs, or tiles of rows, can be shared by blocks.
pub const TICKETS: u32 = 2048;

/// What the source is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuTarget {
    /// Bytes of a real: 4 or 8.
    pub bytes_per_real: u64,
    /// Processors of the device: how finely what is added up over all rows is cut.
    pub processors: u32,
    /// Shared memory of a block at most.
    pub shared_bytes: u32,
    /// What products of 32 bits are made of.
    pub matmul: Matmul,
    /// Which rows the edges of neighbouring rows read.
    pub order: Order,
    /// Whether four warps can multiply as one (wgmma): devices of 9.0 can, and no others.
    pub warpgroups: bool,
}

/// Which rows the edges of neighbouring rows read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Any.
    #[default]
    Spread,
    /// Near ones: what one row reads is in the cache when the next is done.
    Local,
}

/// What of a number of 32 bits tensor cores multiply; sums keep 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matmul {
    /// All of it: two parts of it, in three products.
    #[default]
    F32,
    /// Its first 11 bits.
    Tf32,
    /// Its first 8 bits.
    Bf16,
}

impl Matmul {
    /// As in `plan.matmul`.
    pub fn name(self) -> &'static str {
        match self {
            Matmul::F32 => "f32",
            Matmul::Tf32 => "tf32",
            Matmul::Bf16 => "bf16",
        }
    }

    /// What the prelude asks for.
    fn constants(self) -> String {
        let bits = if self == Matmul::Bf16 { 8 } else { 11 };
        format!(
            "constexpr bool ALL_BITS = {};  // products of {}\nconstexpr int FIRST_BITS = {bits};\n",
            self == Matmul::F32,
            self.name()
        )
    }
}

/// A list as source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// One translation unit.
    pub source: String,
    /// Kernels by launch, in the order of `LaunchList::launches`.
    pub launches: Vec<Vec<Kernel>>,
    /// Bytes that the kernels of one launch hand to each other, at most; those of launches that
    /// others do not wait for have their own.
    pub scratch_bytes: u64,
    /// The same of these.
    pub scratch_aside_bytes: u64,
    /// Launches that others need not wait for: their kernels have scratch and tickets of their own.
    pub aside: BTreeSet<usize>,
    /// By kernel, which of its parameters it may write through. What is not among them may write
    /// through any.
    pub writes: BTreeMap<String, Vec<bool>>,
    /// Of a training: what turns the clock to the next epoch.
    pub clockwork: Vec<Kernel>,
    /// Of a training: what decides by a measurement, where anything is decided; nothing where
    /// parameters are too large to be kept twice.
    pub watch: Vec<Kernel>,
    /// What no kernel puts down: whoever needs it has it at hand.
    pub unmade: Vec<BufferName>,
    /// How each launch is done, in the order of `launches`.
    pub schedules: Vec<BTreeSet<ScheduleKind>>,
}

impl Emitted {
    /// Everything that its kernels are given, in their order.
    pub fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.launches
            .iter()
            .flatten()
            .chain(&self.clockwork)
            .chain(&self.watch)
            .flat_map(|kernel| &kernel.arguments)
    }
}

/// One kernel and how it is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name in the source.
    pub name: String,
    /// Its parameters, in order.
    pub arguments: Vec<Argument>,
    /// Blocks.
    pub blocks: Blocks,
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory of a block beside what its source declares.
    pub shared_bytes: u32,
}

/// How many blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// So many rows a block, and so many slices.
    Rows {
        /// What a row stands for.
        rows: Rows,
        /// Rows of a block.
        each: u32,
        /// Blocks that share a row.
        slices: u32,
    },
    /// Items of a walk over lists: some have a block, some a warp, the others a group of lanes.
    Items {
        /// What is walked.
        walked: WalkedLists,
        /// How they are cut.
        cut: Cut,
        /// Blocks that share an item.
        slices: u32,
    },
    /// Parts of so many rows at least, and so many of them at most, and tiles of what is made.
    Parts {
        /// What a row stands for.
        rows: Rows,
        /// Rows of a part at least.
        each: u32,
        /// Parts at most.
        most: u32,
        /// Tiles along two axes.
        tiles: [u32; 2],
    },
    /// Groups of neighbours, of which a block has so many as its threads serve.
    Groups {
        /// Whose edges.
        direction: Direction,
        /// How rows are cut.
        groups: Groups,
        /// Rows whose groups lie in several blocks, in place of groups.
        spans: bool,
        /// Blocks that share a row.
        slices: u32,
    },
    /// So many along each axis.
    Fixed([u32; 3]),
}

/// How the neighbours of a row are cut into groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Groups {
    /// Neighbours of a group at most.
    pub neighbours: u32,
    /// Lanes that share a group: a power of two, a warp at most.
    pub lanes: u32,
    /// Threads of a block: whole warps.
    pub threads: u32,
}

impl Groups {
    /// Groups of a block.
    pub fn per_block(self) -> u32 {
        self.threads / self.lanes
    }

    /// Groups of so many rows with so many neighbours, at most.
    pub fn most(self, rows: u64, neighbours: u64) -> u64 {
        rows + neighbours / u64::from(self.neighbours)
    }
}

/// How a walk cuts its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cut {
    /// Groups of lanes of a warp.
    pub groups_of_warp: u32,
    /// Warps of a block.
    pub warps: u32,
    /// Edges that a group has at hand.
    pub in_flight: u32,
    /// Blocks that a processor holds at least.
    pub blocks_per_processor: u32,
    /// Blocks of rows that several blocks share, at most; none where a row is one block's.
    pub hub_blocks: u32,
    /// Rows that a group does one after the other.
    pub rows_of_group: u32,
}

/// What a kernel is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// First element of a buffer.
    Buffer(BufferName),
    /// A given value of edges, one a slot, in the order in which this walk takes the edges.
    Slots(BufferName, Direction),
    /// Of what is walked, in the order of work: rows, where each starts, far ends, rows of edges,
    /// relations, values.
    Items(WalkedLists, ListPart),
    /// Number of items that have several blocks, a block, or a warp; of all items.
    Count(WalkedLists, Cut, Tier),
    /// Of groups of neighbours.
    Groups(Direction, Groups, Grouped),
    /// What blocks have of rows whose groups lie in several: so many bytes for the first and for
    /// the last row of each block.
    PartsOfSpans(Direction, Groups, u64),
    /// For each row of a table of so many the rows of this given index that name it, ascending:
    /// where those of each row start and the end, then all of them. An index outside of the table
    /// is in none.
    Inverse(BufferName, u32),
    /// A number of 32 bits.
    Number(u32),
    /// Number of parts that rows are cut into, as `Blocks::Parts` has it.
    Parts {
        /// What a row stands for.
        rows: Rows,
        /// Rows of a part at least.
        each: u32,
        /// Parts at most.
        most: u32,
    },
    /// Rows of this kind, as a number of 32 bits.
    RowCount(Rows),
    /// The row in the graph artifact of each row of nodes; null where they are the same.
    RowInGraph,
    /// Graph of each vertex; null where there is one graph.
    GraphOf,
    /// Where the vertices of each graph start, and these.
    GraphOffsets,
    /// Vertices by graph.
    GraphVertices,
    /// Source of each edge.
    Source,
    /// Target of each edge.
    Target,
    /// The clock.
    Clock,
    /// The seed, as two numbers of 32 bits in one pointer's place.
    Seed,
    /// Whether the pass is one of training.
    Training,
    /// What kernels of a launch hand to each other.
    Scratch,
    /// The same of launches that others do not wait for.
    ScratchAside,
    /// For each row of the target the part that it belongs to: 0 none, 1 training, 2 validation, 3
    /// test.
    Split,
    /// Training rows, or known elements of these, over which the loss is a mean: a double.
    LossTerms,
    /// Counts the blocks of a kernel that are done, or of each of its hubs, or of its tiles of
    /// rows; 0 between kernels.
    Ticket,
    /// The same of launches that others do not wait for.
    TicketAside,
    /// What a pass of measuring counts, as `learn::counts_of_part` lists it; null in a pass of
    /// training.
    Measures,
    /// The loss before it is rounded: a double.
    ExactLoss,
    /// What was measured in the last `learn::SLOTS` epochs: for each a double, the loss, and its
    /// counts.
    Ring,
    /// What steps are multiplied with, for epochs by their number modulo `learn::SLOTS`: doubles.
    Paces,
    /// First, or second moment of the parameter of this number; null where its optimiser has none.
    Moment(usize, u8),
    /// Settings of the optimiser of the parameter of this number, as `learn::OPTIMIZER` lists them.
    Optimizer(usize),
    /// What is gone by between epochs: two `watch::Watch`.
    Watches,
    /// The parameter of this number as it was kept.
    Kept(usize),
}

impl Argument {
    /// What kernels of one launch alone see becomes that of launches which others do not wait for.
    fn take_aside(&mut self) {
        match self {
            Argument::Scratch => *self = Argument::ScratchAside,
            Argument::Ticket => *self = Argument::TicketAside,
            _ => {}
        }
    }
}

/// Lists that are walked, each of an item's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WalkedLists {
    /// Edges of each vertex.
    Edges(Direction),
    /// What sparse features keep of each row, or of each column.
    Entries(BufferName, bool),
}

impl From<Direction> for WalkedLists {
    fn from(direction: Direction) -> WalkedLists {
        WalkedLists::Edges(direction)
    }
}

/// A list of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListPart {
    /// Row of each item.
    Row,
    /// First slot of each item, and the end.
    Offset,
    /// Far vertex of each slot.
    Far,
    /// Row of the edge of each slot.
    Edge,
    /// Relation of each slot, as a number of 32 bits.
    Relation,
    /// Value of each entry.
    Value,
}

/// A list of groups, or how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grouped {
    /// Row of each group: groups of a row follow each other.
    Row,
    /// First slot of each group.
    Start,
    /// Where the slots of each group end.
    End,
    /// Number of groups.
    Count,
    /// Each row whose groups lie in several blocks.
    SpanRow,
    /// The first of these blocks.
    SpanBlock,
    /// Number of these blocks.
    SpanBlocks,
    /// Number of such rows.
    SpanCount,
}

impl Grouped {
    /// Whether it is a number and no list.
    pub fn is_count(self) -> bool {
        matches!(self, Grouped::Count | Grouped::SpanCount)
    }
}

/// Which items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Several blocks each.
    Hub,
    /// No item: how many blocks each of those has.
    Pieces,
    /// A block each.
    Block,
    /// A warp each.
    Warp,
    /// All.
    All,
}

/// What has no kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoKernel {
    /// Name of the launch.
    pub launch: String,
    /// What it asks for.
    pub what: String,
}

impl NoKernel {
    fn new(what: String) -> Self {
        NoKernel { launch: String::new(), what }
    }
}

impl fmt::Display for NoKernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.launch, self.what)
    }
}

/// The source of a list that trains, or is computed once.
pub fn emit(list: &LaunchList, target: GpuTarget) -> Result<Emitted, NoKernel> {
    emit_in_groups(list, target, &[])
}

/// The same, where launches that walk edges cut them so, in the order of the list; as far as they
/// can (`groups`): all others have rows.
pub fn emit_in_groups(
    list: &LaunchList,
    target: GpuTarget,
    groups: &[Option<Groups>],
) -> Result<Emitted, NoKernel> {
    let real = if target.bytes_per_real == 8 { "double" } else { "float" };
    let mut emitted = Emitted {
        source: format!(
            "typedef {real} real;\n{}{PRELUDE}{}",
            target.matmul.constants(),
            if target.warpgroups { warpgroup_products::PRELUDE } else { "" }
        ),
        launches: Vec::new(),
        scratch_bytes: 0,
        scratch_aside_bytes: 0,
        aside: off_path_launches(list),
        writes: BTreeMap::new(),
        clockwork: Vec::new(),
        watch: Vec::new(),
        unmade: Vec::new(),
        schedules: Vec::new(),
    };
    let (mut known, twins, shares) = (
        BTreeMap::new(),
        shared_read_sums::twins(list, target),
        online_softmax::shares(list, target),
    );
    let beside = shared_read_sums::sums(list, target, &twins);
    let (joined, mut elsewhere) = (MergedLaunches::from_list(list), BTreeMap::new());
    for (number, launch) in list.launches().into_iter().enumerate() {
        let groups = groups.get(number).copied().flatten();
        let (beside, twins, shares, joined) = (&beside, &twins, &shares, &joined);
        let (kernels, source, unmade, writes) =
            (Vec::new(), String::new(), Vec::new(), std::mem::take(&mut emitted.writes));
        let schedules = BTreeSet::new();
        let mut unit = Unit {
            list,
            target,
            groups,
            beside,
            twins,
            shares,
            joined,
            elsewhere,
            unmade,
            number,
            launch,
            known,
            kernels,
            source,
            writes,
            scratch_bytes: 0,
            schedules,
        };
        unit.write().map_err(|refused| NoKernel { launch: launch.name.clone(), ..refused })?;
        emitted.source.push_str(&unit.source);
        let scratch = if emitted.aside.contains(&number) {
            &mut emitted.scratch_aside_bytes
        } else {
            &mut emitted.scratch_bytes
        };
        *scratch = unit.scratch_bytes.max(*scratch);
        if emitted.aside.contains(&number) {
            unit.kernels
                .iter_mut()
                .flat_map(|kernel| &mut kernel.arguments)
                .for_each(Argument::take_aside);
        }
        emitted.writes = unit.writes;
        emitted.launches.push(unit.kernels);
        emitted.schedules.push(unit.schedules);
        emitted.unmade.extend(unit.unmade);
        (known, elsewhere) = (unit.known, unit.elsewhere);
    }
    if let Some((kind, columns)) = loss_of(list) {
        emitted.source.push_str(epoch_clock::CLOCKWORK);
        emitted.clockwork = epoch_clock::clockwork(kind, columns);
        let (source, kernels) = training_control::watch(list, kind, columns, target.bytes_per_real);
        emitted.source.push_str(&source);
        emitted.watch = kernels;
    }
    emitted.source = indented(&emitted.source);
    Ok(emitted)
}

/// Lines set in by the braces around them.
fn indented(source: &str) -> String {
    let (mut text, mut depth) = (String::with_capacity(source.len() + source.len() / 8), 0usize);
    for line in source.lines() {
        let line = line.trim();
        let code = if line.starts_with("//") { "" } else { line };
        let closes = code.chars().take_while(|letter| *letter == '}').count();
        let shown = depth.saturating_sub(closes);
        if !line.is_empty() {
            text.extend(std::iter::repeat_n("  ", shown));
        }
        text.push_str(line);
        text.push('\n');
        let (opened, closed) = (code.matches('{').count(), code.matches('}').count());
        depth = (depth + opened).saturating_sub(closed);
    }
    text
}

/// A definition with its names numbered as they come: definitions that differ in names alone are
/// one.
fn anonymous(definition: &str) -> String {
    let (mut numbers, mut text, mut word): (BTreeMap<String, usize>, String, String) =
        (BTreeMap::new(), String::new(), String::new());
    for letter in definition.chars().chain(['\n']) {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        let ends_in_number = word.rsplit_once('_').is_some_and(|(_, end)| {
            !end.is_empty() && end.bytes().all(|digit| digit.is_ascii_digit())
        });
        let is_ours = ["b_", "o_", "slots_", "table_"].iter().any(|start| word.starts_with(start))
            || ends_in_number;
        if is_ours
            && !word.starts_with("stream_")
            && !word.starts_with(|first: char| first.is_ascii_digit())
        {
            let next = numbers.len();
            text.push_str(&format!(
                "@{}",
                numbers.entry(std::mem::take(&mut word)).or_insert(next)
            ));
        } else {
            text.push_str(&std::mem::take(&mut word));
        }
        text.push(letter);
    }
    text
}

/// A kernel of a launch, in text.
struct KernelText<'a> {
    /// The file and the function that made the text.
    maker: &'a str,
    /// What its name ends with, where the launch has several.
    suffix: &'a str,
    parameters: Parameters,
    /// What stands before it.
    tables: &'a str,
    body: &'a str,
    /// Whether its body waits for the kernels in front of it where it needs what they make; others
    /// wait at once.
    waits: bool,
    threads: u32,
    /// Blocks that a processor can hold.
    resident: u32,
    grid: Blocks,
    shared_bytes: u32,
}

impl KernelText<'_> {
    /// One of ordinary blocks.
    fn new(parameters: Parameters, grid: Blocks) -> Self {
        KernelText {
            maker: "",
            suffix: "",
            parameters,
            tables: "",
            body: "",
            waits: false,
            threads: row_walk::THREADS,
            resident: 1,
            grid,
            shared_bytes: 0,
        }
    }
}

/// The kernels of one launch, as they are written.
struct Unit<'a> {
    list: &'a LaunchList,
    target: GpuTarget,
    /// How its edges are cut into groups, if that is asked for.
    groups: Option<Groups>,
    /// Sums over rows that others make, and outer products.
    beside: &'a shared_read_sums::SharedSums,
    twins: &'a shared_read_sums::Twins,
    /// Exponentials of softmaxes, by name.
    shares: &'a BTreeSet<String>,
    /// Products that one kernel may make, and, as it goes on, launches that others make, with
    /// these, and what nobody puts down.
    joined: &'a MergedLaunches,
    elsewhere: BTreeMap<usize, usize>,
    unmade: Vec<BufferName>,
    number: usize,
    launch: &'a Launch,
    /// Names of definitions that were written, by what they are without names.
    known: BTreeMap<String, String>,
    kernels: Vec<Kernel>,
    source: String,
    /// Which parameters kernels write through.
    writes: BTreeMap<String, Vec<bool>>,
    scratch_bytes: u64,
    /// How the launch is done.
    schedules: BTreeSet<ScheduleKind>,
}

impl Unit<'_> {
    /// Notes ways in which the launch is done, each where it is.
    fn note<const N: usize>(&mut self, ways: [(ScheduleKind, bool); N]) {
        self.schedules.extend(ways.into_iter().filter(|(_, is)| *is).map(|(way, _)| way));
    }

    /// Adds a kernel.
    fn add_kernel(&mut self, kernel: KernelText) {
        let name = self.define(&kernel);
        self.kernels.push(Kernel {
            name,
            arguments: kernel.parameters.into_arguments(),
            blocks: kernel.grid,
            threads: kernel.threads,
            shared_bytes: kernel.shared_bytes,
        });
    }

    /// Defines a kernel, or finds one that does the same: its name. Tables stand before it.
    fn define(&mut self, kernel: &KernelText) -> String {
        let KernelText { maker, suffix, threads, tables, body, waits, .. } = kernel;
        let waits = if *waits { "" } else { "after_others();\n" };
        let resident = match kernel.resident {
            few @ ..=2 => few.to_string(),
            many => format!("ON_HOPPER({many})"),
        };
        let parameters = kernel.parameters.text();
        let text = format!(
            "__launch_bounds__({threads}, {resident}) KERNEL({parameters}) {{\n{waits}{body}}}\n"
        );
        let anonymous = anonymous(&format!("{tables}{text}"));
        if let Some(name) = self.known.get(&anonymous) {
            let line = format!("// as {name}\n");
            self.source.push_str(&line);
            return name.clone();
        }
        let name = self.name(suffix);
        let own = format!("table_{}_{}_", self.number, self.kernels.len());
        self.source.push_str(&format!("//   (text: emit/cuda/{maker})\n"));
        self.source.push_str(&tables.replace("TABLE_", &own));
        self.source.push_str(&format!(
            "extern \"C\" __global__ void {}",
            text.replacen("KERNEL", &name, 1).replace("TABLE_", &own)
        ));
        self.known.insert(anonymous, name.clone());
        // Who is given a place of something else in the same kernel's text writes through the same
        // parameters.
        self.writes.insert(name.clone(), kernel.parameters.written());
        name
    }

    fn write(&mut self) -> Result<(), NoKernel> {
        match &self.launch.operation {
            Operation::Loss { .. } => self.loss(),
            Operation::Optimize { parameter } => self.optimize(parameter),
            Operation::SparseProduct { .. } => self.sparse_product(),
            Operation::SparseProductOverRows { .. } => self.sparse_product_over_rows(),
            Operation::Evaluate { op: Op::Product { .. }, .. } => self.product(),
            Operation::Fused { steps, .. } if steps.iter().any(is_product) => self.product(),
            Operation::Evaluate { op: Op::SumRows | Op::Outer, .. } => self.total(),
            Operation::Evaluate { op: Op::Pool(pooling), .. } => self.pool(*pooling),
            Operation::Evaluate { op: Op::Winner(..) | Op::Others(_) | Op::Fold(..), .. } => {
                self.note([(ScheduleKind::EdgesAmongRow, true)]);
                self.emit_edge_operation()
            }
            Operation::Evaluate { op: Op::Turn, .. } => {
                self.note([(ScheduleKind::ReversedEdges, true)]);
                self.turn()
            }
            Operation::Evaluate { op: Op::Lookup { transposed }, .. } => {
                self.note([(ScheduleKind::TableLookup, true)]);
                self.lookup(*transposed)
            }
            Operation::Evaluate { op: Op::Scatter { transposed }, .. } => {
                self.note([(ScheduleKind::TableScatter, true)]);
                self.scatter(*transposed)
            }
            // Sparse features as dense rows: whoever has them puts them down.
            Operation::Evaluate { op: Op::Input(_), .. } => Ok(()),
            // `WalkLowering::lower_step` names the operations that no walk has.
            Operation::Evaluate { .. } | Operation::Fused { .. } => self.walk(),
            Operation::NeighbourReduce { .. }
            | Operation::Product { .. }
            | Operation::ProductOverRows { .. }
            | Operation::Elementwise { .. }
            | Operation::SumOverRows { .. } => {
                let words = self.launch.operation.describe();
                Err(NoKernel::new(format!("{words} is for the CPU alone")))
            }
        }
    }

    /// A kernel's name: readable, and unlike all others.
    fn name(&self, suffix: &str) -> String {
        let plain: String = self
            .launch
            .name
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
            .collect();
        format!("k{}_{plain}{suffix}", self.number)
    }

    /// Elements from one row of a buffer to the next.
    fn stride(&self, name: &str) -> u64 {
        self.list
            .buffers
            .iter()
            .find(|buffer| buffer.name == name)
            .map_or(1, |buffer| buffer.stride(self.target.bytes_per_real))
    }

    /// What the launch is, in front of its kernel.
    fn header(&mut self) {
        let text = self.launch.operation.described();
        self.source.push_str("\n// ");
        self.source.push_str(&self.launch.name);
        self.source.push_str(&format!(": {} bytes at least{}\n", self.launch.bytes, self.lines()));
        for line in text.lines() {
            self.source.push_str(&format!("//   {line}\n"));
        }
    }

    /// Lines of the program that ask for it.
    fn lines(&self) -> String {
        let writes = self.launch.operation.steps().iter().flat_map(Operation::writes);
        let lines: BTreeSet<u32> =
            writes.filter_map(|name| self.list.lines.get(name.as_ref()).copied()).collect();
        let numbers = lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        match lines.len() {
            0 => String::new(),
            1 => format!(", line {numbers} of the program"),
            _ => format!(", lines {numbers} of the program"),
        }
    }

    /// How its kernel goes about it, below what it is.
    fn schedule(&mut self, words: &str) {
        self.source.push_str(&format!("//   ({words})\n"));
    }
}

fn is_product(step: &Operation) -> bool {
    matches!(step, Operation::Evaluate { op: Op::Product { .. }, .. })
}

/// Which loss a list trains with, and columns of its result.
pub fn loss_of(list: &LaunchList) -> Option<(LossKind, u64)> {
    let Body::Train(train) = &list.body else { return None };
    let Operation::Loss { kind, result, .. } = &train.loss.operation else { return None };
    let columns = list.buffers.iter().find(|buffer| buffer.name == *result)?.columns;
    Some((*kind, columns))
}
