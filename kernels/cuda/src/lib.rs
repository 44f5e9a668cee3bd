//! cuda: translates the launches of a list to CUDA source, for NVRTC.
//!
//! promises  each launch becomes one kernel or a few, whose text follows from the list and the
//!           settings alone; a kernel's parameters are listed in order, so that its caller cannot
//!           guess; floats are always summed in the same order
//! never     names a driver, compiles, or looks at a graph
mod consecutive_rows;
pub mod device_plan;
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
mod tiers;
pub mod training_control;
mod unfused_edge_ops;
mod walk_lowering;
mod walk_steps;
mod warpgroup_products;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

pub use device_plan::{
    Argument, Blocks, Cut, DevicePlan, Grouped, Groups, Kernel, ListPart, Tier, WalkedLists,
};
pub use schedule_kinds::ScheduleKind;
pub use tiers::{TierCounts, WalkedDegrees};

use kernel_parameters::Parameters;

use warploom_ir::{Loss, Op};
use warploom_launch::{
    Body, Buffer, BufferName, Element, Launch, LaunchList, MergedLaunches, Operation, Rows,
    off_path_launches,
};

/// The device code that every source includes.
const PRELUDE: &str = include_str!("prelude.cuh");

/// Completion counters on the device: the maximum number of heavy rows, or row tiles, that blocks
/// share.
pub const TICKETS: u32 = 2048;

/// Threads per block.
const THREADS: u32 = 256;

/// The device properties and options that the source depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuTarget {
    /// Bytes of a float: 4 or 8.
    pub bytes_per_real: u64,
    /// SMs of the device: how finely sums over all rows are split.
    pub processors: u32,
    /// Maximum shared memory per block.
    pub shared_bytes: u32,
    /// How float products use tensor cores.
    pub matmul: Matmul,
    /// Locality of the node order.
    pub order: Order,
    /// Whether the device has warpgroup MMA (wgmma): only compute capability 9.0.
    pub warpgroups: bool,
}

/// Locality of the node order: which rows the edges of consecutive rows read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Any rows.
    #[default]
    Spread,
    /// Nearby rows: a row's neighbours are in L2 when the next row is processed.
    Local,
}

/// The part of an FP32 operand that tensor cores multiply; accumulation is in FP32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matmul {
    /// All bits: split in two TF32 parts, in three products (3xTF32).
    #[default]
    F32,
    /// TF32.
    Tf32,
    /// BF16.
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

    /// The constants that the prelude expects.
    fn constants(self) -> String {
        let bits = if self == Matmul::Bf16 { 8 } else { 11 };
        format!(
            "constexpr bool ALL_BITS = {};  // products of {}\nconstexpr int FIRST_BITS = {bits};\n",
            self == Matmul::F32,
            self.name()
        )
    }
}

/// The CUDA source of a list, and how it is launched; derefs to the latter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// One translation unit.
    pub source: String,
    /// What is launched.
    pub plan: DevicePlan,
}

impl std::ops::Deref for Emitted {
    type Target = DevicePlan;

    fn deref(&self) -> &DevicePlan {
        &self.plan
    }
}

/// A launch for which no kernel can be emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoKernel {
    /// Name of the launch.
    pub launch: String,
    /// The unsupported operation.
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

/// The source of a list that trains, or that runs once.
pub fn emit(list: &LaunchList, target: GpuTarget) -> Result<Emitted, NoKernel> {
    emit_in_groups(list, target, &[])
}

/// The same, with edge walks split into these neighbour groups, in the order of the list, where
/// supported (`neighbour_group_walk.rs`); other walks process whole rows.
pub fn emit_in_groups(
    list: &LaunchList,
    target: GpuTarget,
    groups: &[Option<Groups>],
) -> Result<Emitted, NoKernel> {
    let real = if target.bytes_per_real == 8 { "double" } else { "float" };
    let mut source = format!(
        "typedef {real} real;\n{}{PRELUDE}{}",
        target.matmul.constants(),
        if target.warpgroups { warpgroup_products::PRELUDE } else { "" }
    );
    let mut emitted = DevicePlan {
        processors: target.processors,
        aside: off_path_launches(list),
        ..DevicePlan::default()
    };
    let (joined, vertices) = (MergedLaunches::from_list(list), arena_vertices(list, target));
    let (mut known, mut elsewhere) = (BTreeMap::new(), BTreeMap::new());
    let twins = shared_read_sums::find_second_outers(list, target, &joined);
    let shares = online_softmax::find_softmax_exponentials(list, target);
    let beside = shared_read_sums::find_shared_sums(list, target, &joined, &twins);
    for (number, launch) in list.launches().into_iter().enumerate() {
        let groups = groups.get(number).copied().flatten();
        let (beside, twins, shares, joined) = (&beside, &twins, &shares, &joined);
        let (kernels, unmade, writes) =
            (Vec::new(), Vec::new(), std::mem::take(&mut emitted.writes));
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
            vertices,
            known,
            kernels,
            source: String::new(),
            writes,
            scratch_bytes: 0,
            schedules,
        };
        unit.write().map_err(|refused| NoKernel { launch: launch.name.clone(), ..refused })?;
        source.push_str(&unit.source);
        emitted.writes = unit.writes;
        emitted.unmade.extend(unit.unmade);
        emitted.add_launch(unit.kernels, unit.schedules, unit.scratch_bytes);
        (known, elsewhere) = (unit.known, unit.elsewhere);
    }
    if let Some((kind, columns)) = loss_of(list) {
        source.push_str(epoch_clock::CLOCKWORK);
        emitted.clockwork = epoch_clock::emit_clock_kernel(kind, columns);
        let (text, kernels) =
            training_control::emit_watch(list, kind, columns, target.bytes_per_real);
        source.push_str(&text);
        emitted.watch = kernels;
    }
    Ok(Emitted { source: indented(&source), plan: emitted })
}

/// The number of vertices, derived from the arena; 0 if unknown.
fn arena_vertices(list: &LaunchList, target: GpuTarget) -> u64 {
    let of = |buffer: &Buffer| {
        let is_row =
            buffer.rows == Rows::Nodes && buffer.element == Element::Real && buffer.columns > 0;
        let place = list.arena.place(&buffer.name).filter(|_| is_row)?;
        Some(place.bytes / (buffer.stride(target.bytes_per_real) * target.bytes_per_real))
    };
    list.buffers.iter().find_map(of).unwrap_or(0)
}

/// Indents lines by the depth of the braces around them.
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

/// A definition with its names numbered in order of appearance: definitions that differ in names
/// alone are equal.
fn anonymous(definition: &str) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut text = String::with_capacity(definition.len());
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    for piece in definition.split_inclusive(|letter| !is_of_word(letter)) {
        let word = piece.trim_end_matches(|letter| !is_of_word(letter));
        if is_own_name(word) {
            let next = numbers.len();
            text.push('@');
            text.push_str(&numbers.entry(word).or_insert(next).to_string());
        } else {
            text.push_str(word);
        }
        text.push_str(&piece[word.len()..]);
    }
    text
}

/// Whether a word of a definition is a name that the emitter gave: of a buffer, a table or a value.
fn is_own_name(word: &str) -> bool {
    let ends_in_number = || {
        word.rsplit_once('_').is_some_and(|(_, end)| {
            !end.is_empty() && end.bytes().all(|digit| digit.is_ascii_digit())
        })
    };
    (["b_", "o_", "slots_", "table_"].iter().any(|start| word.starts_with(start))
        || ends_in_number())
        && !word.starts_with("stream_")
        && !word.starts_with(|first: char| first.is_ascii_digit())
}

/// The text of one kernel of a launch.
struct KernelText<'a> {
    /// The file and the function that emit the body.
    maker: &'a str,
    /// Suffix of its name, where the launch has several kernels.
    suffix: &'a str,
    parameters: Parameters,
    /// Constant tables, emitted before the kernel.
    tables: &'a str,
    body: &'a str,
    /// Whether its body itself waits for the preceding kernels, where it needs their results. If
    /// not, the kernel waits at its start.
    waits: bool,
    threads: u32,
    /// Minimum resident blocks per SM (`__launch_bounds__`).
    resident: u32,
    grid: Blocks,
    shared_bytes: u32,
}

impl KernelText<'_> {
    /// A kernel with blocks of the default size.
    fn new(parameters: Parameters, grid: Blocks) -> Self {
        KernelText {
            maker: "",
            suffix: "",
            parameters,
            tables: "",
            body: "",
            waits: false,
            threads: THREADS,
            resident: 1,
            grid,
            shared_bytes: 0,
        }
    }
}

/// The kernels of one launch, while they are emitted.
struct Unit<'a> {
    list: &'a LaunchList,
    target: GpuTarget,
    /// The neighbour groups of its edges, if requested.
    groups: Option<Groups>,
    /// Sums over rows computed by other launches, and outer products.
    beside: &'a shared_read_sums::SharedSums,
    twins: &'a shared_read_sums::SecondOuters,
    /// Names of softmax exponentials.
    shares: &'a BTreeSet<String>,
    /// Products merged into one kernel and, as emission proceeds, launches merged with these, and
    /// buffers that are never materialised.
    joined: &'a MergedLaunches,
    elsewhere: BTreeMap<usize, usize>,
    unmade: Vec<BufferName>,
    number: usize,
    launch: &'a Launch,
    /// The number of vertices; 0 if unknown.
    vertices: u64,
    /// Names of emitted definitions, by their anonymous text.
    known: BTreeMap<String, String>,
    kernels: Vec<Kernel>,
    source: String,
    /// Which parameters kernels write through.
    writes: BTreeMap<String, Vec<bool>>,
    scratch_bytes: u64,
    /// How the launch is executed.
    schedules: BTreeSet<ScheduleKind>,
}

impl Unit<'_> {
    /// Records the schedules whose condition holds.
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

    /// Defines a kernel and its tables, or finds an equal one that is already defined. Returns its
    /// name.
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
        self.source.push_str(&format!("//   (text: cuda/src/{maker})\n"));
        self.source.push_str(&tables.replace("TABLE_", &own));
        self.source.push_str(&format!(
            "extern \"C\" __global__ void {}",
            text.replacen("KERNEL", &name, 1).replace("TABLE_", &own)
        ));
        self.known.insert(anonymous, name.clone());
        // If the text of an equal kernel is reused, it writes through the same parameters.
        self.writes.insert(name.clone(), kernel.parameters.written());
        name
    }

    fn write(&mut self) -> Result<(), NoKernel> {
        match &self.launch.operation {
            Operation::Loss { .. } => self.emit_loss(),
            Operation::Optimize { parameter } => self.emit_optimizer(parameter),
            Operation::SparseProduct { .. } => self.emit_sparse_product(),
            Operation::SparseProductOverRows { .. } => self.emit_sparse_gradient(),
            Operation::Evaluate { op: Op::Product { .. }, .. } => self.emit_product(),
            Operation::Fused { steps, .. } if steps.iter().any(is_product) => self.emit_product(),
            Operation::Evaluate { op: Op::SumRows | Op::Outer, .. } => self.emit_total(),
            Operation::Evaluate { op: Op::Pool(pooling), .. } => self.emit_pool(*pooling),
            Operation::Evaluate { op: Op::Winner(..) | Op::Others(_) | Op::Fold(..), .. } => {
                self.note([(ScheduleKind::EdgesAmongRow, true)]);
                self.emit_edge_operation()
            }
            Operation::Evaluate { op: Op::Turn, .. } => {
                self.note([(ScheduleKind::ReversedEdges, true)]);
                self.emit_reversal()
            }
            Operation::Evaluate { op: Op::Lookup { transposed }, .. } => {
                self.note([(ScheduleKind::TableLookup, true)]);
                self.emit_lookup(*transposed)
            }
            Operation::Evaluate { op: Op::Scatter { transposed }, .. } => {
                self.note([(ScheduleKind::TableScatter, true)]);
                self.emit_scatter(*transposed)
            }
            // Sparse features as dense rows: their readers materialise them.
            Operation::Evaluate { op: Op::Input(_), .. } => Ok(()),

            // `WalkLowering::lower_step` reports the operations that no walk supports.
            Operation::Evaluate { .. } | Operation::Fused { .. } => self.emit_walk(),
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

    /// A unique and readable name for a kernel.
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

    /// Describes the launch in a comment above its kernel.
    fn header(&mut self) {
        let text = self.launch.operation.described();
        self.source.push_str("\n// ");
        self.source.push_str(&self.launch.name);
        self.source.push_str(&format!(": {} bytes at least{}\n", self.launch.bytes, self.lines()));
        for line in text.lines() {
            self.source.push_str(&format!("//   {line}\n"));
        }
    }

    /// The program lines that the launch comes from.
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

    /// Describes the kernel's schedule, in a comment below the launch.
    fn schedule(&mut self, words: &str) {
        self.source.push_str(&format!("//   ({words})\n"));
    }
}

fn is_product(step: &Operation) -> bool {
    matches!(step, Operation::Evaluate { op: Op::Product { .. }, .. })
}

/// The loss that a list trains with, and the columns of its result.
pub fn loss_of(list: &LaunchList) -> Option<(Loss, u64)> {
    let Body::Train(train) = &list.body else { return None };
    let Operation::Loss { kind, result, .. } = &train.loss.operation else { return None };
    let columns = list.buffers.iter().find(|buffer| buffer.name == *result)?.columns;
    Some((*kind, columns))
}
