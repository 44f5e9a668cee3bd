//! cuda: translates the launches of a list to CUDA source, for NVRTC.
//!
//! promises  each launch becomes one kernel or a few, whose text follows from the list and the
//!           settings alone; a kernel's parameters are listed in order, so that its caller cannot
//!           guess; floats are always summed in the same order
//! never     names a driver, compiles, or looks at a graph
mod common_neighbours;
mod consecutive_rows;
pub mod device_plan;
mod edge_sums;
mod edge_walk_text;
pub mod epoch_clock;
mod frontier_supersteps;
mod graph_pooling;
mod heavy_rows;
pub mod host_reads;
mod kernel_parameters;
mod lane_broadcast;
mod lane_layout;
mod launch_walk;
pub mod loop_shortcuts;
mod loss;
mod loss_layout;
mod low_degree_rows;
pub mod memory_estimate;
mod mode_and_hindex;
mod neighbour_group_walk;
mod online_softmax;
mod operators;
mod outer_from_narrow_rows;
mod outer_products;
mod outer_sides;
mod padded_rows;
mod plain_products;
mod product_after_walk;
mod reduce_all_rows;
mod register_estimate;
mod row_stores;
mod row_values;
mod row_walk;
pub mod schedule_kinds;
mod shared_read_sums;
mod source_text;
mod sparse_features;
mod statement_text;
mod statements;
pub mod supersteps;
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
    Argument, Blocks, Cut, DevicePlan, Grouped, Groups, Kernel, ListPart, PairPart, ShortcutRoom,
    Tier, TierCounts, WalkedLists,
};
pub use schedule_kinds::ScheduleKind;
pub use tiers::WalkedDegrees;

use source_text::{KernelDraft, LaunchDraft, SourceText};

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

/// The kernels of a list, decided and not yet printed; derefs to what is launched.
pub struct DecidedKernels {
    /// What is launched. Each kernel has a name of its own.
    pub plan: DevicePlan,
    target: GpuTarget,
    /// What the source of each launch is printed from.
    drafts: Vec<LaunchDraft>,
    /// The same of supersteps of few vertices, by loop.
    frontiers: Frontiers,
}

/// The kernels for supersteps of few vertices, by loop, if it has one.
type Frontiers = Vec<Option<KernelDraft>>;

impl std::ops::Deref for DecidedKernels {
    type Target = DevicePlan;

    fn deref(&self) -> &DevicePlan {
        &self.plan
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
    decide(list, target, groups).map(|decided| decided.render(list))
}

/// Decides on the kernels of a list, and prints none.
pub fn decide(
    list: &LaunchList,
    target: GpuTarget,
    groups: &[Option<Groups>],
) -> Result<DecidedKernels, NoKernel> {
    let mut plan = DevicePlan {
        processors: target.processors,
        aside: off_path_launches(list),
        ..DevicePlan::default()
    };
    let (joined, vertices) = (MergedLaunches::from_list(list), arena_vertices(list, target));
    let twins = shared_read_sums::find_second_outers(list, target, &joined);
    let shares = launch_walk::find_softmax_exponentials(list, target);
    let beside = shared_read_sums::find_shared_sums(list, target, &joined, &twins);
    let are_repeated = supersteps::superstep_launches(list);
    let of_frontiers = frontier_supersteps::frontier_launches(list);
    let mut frontiers = Frontiers::from_iter(of_frontiers.iter().map(|_| None));
    let (mut elsewhere, mut drafts) = (BTreeMap::new(), Vec::new());
    for (number, launch) in list.launches().into_iter().enumerate() {
        let mut unit = Unit {
            list,
            target,
            groups: groups.get(number).copied().flatten(),
            beside: &beside,
            twins: &twins,
            shares: &shares,
            joined: &joined,
            elsewhere: &mut elsewhere,
            unmade: Vec::new(),
            number,
            launch,
            vertices,
            draft: LaunchDraft::default(),
            scratch_bytes: 0,
            schedules: BTreeSet::new(),
        };
        unit.decide().map_err(|refused| NoKernel { launch: launch.name.clone(), ..refused })?;
        if are_repeated[number] {
            unit.draft.kernels.iter_mut().for_each(KernelDraft::skip_after_end);
        }
        if let Some(of) = of_frontiers.iter().position(|launch| *launch == Some(number)) {
            frontiers[of] = unit.decide_frontier(&list.loops()[of]);
        }
        let kernels = unit.draft.kernels.iter().map(|draft| {
            let name = unit.name(draft.suffix);
            plan.writes.insert(name.clone(), draft.parameters.written());
            draft.kernel(name)
        });
        let kernels = kernels.collect();
        plan.unmade.extend(unit.unmade);
        plan.add_launch(kernels, unit.schedules, unit.scratch_bytes);
        drafts.push(unit.draft);
    }
    add_kernels_between(&mut plan, list, target, &frontiers);
    Ok(DecidedKernels { plan, target, drafts, frontiers })
}

/// Adds the kernels between epochs and supersteps, and those instead of supersteps.
fn add_kernels_between(
    plan: &mut DevicePlan,
    list: &LaunchList,
    target: GpuTarget,
    frontiers: &Frontiers,
) {
    let GpuTarget { processors, bytes_per_real, .. } = target;
    if let Some((kind, columns)) = loss_of(list) {
        plan.clockwork = epoch_clock::clock_kernel(kind, columns);
        plan.watch = training_control::watch_kernels(list, bytes_per_real);
    }
    plan.loops = supersteps::loop_kernels(list, bytes_per_real, processors);
    plan.shortcuts = loop_shortcuts::kernels(list, processors);
    plan.frontiers = frontier_supersteps::kernels(frontiers, processors);
    plan.scratch_bytes = plan.scratch_bytes.max(supersteps::scratch_bytes(list, processors));
}

impl DecidedKernels {
    /// Prints the source of the list that they were decided for. Kernels of equal text are one.
    pub fn render(self, list: &LaunchList) -> Emitted {
        let DecidedKernels { mut plan, target, drafts, frontiers } = self;
        let has_frontiers = frontiers.iter().any(Option::is_some);
        let mut source = SourceText::new(
            opening(target)
                + mode_and_hindex::opening(list)
                + common_neighbours::opening(list)
                + supersteps::opening(list)
                + &loop_shortcuts::opening(list, has_frontiers)
                + frontier_supersteps::opening(has_frontiers),
        );
        for (number, (launch, draft)) in list.launches().into_iter().zip(&drafts).enumerate() {
            source.add_launch(list, number, launch, draft, &mut plan.launches[number]);
        }
        // An equal kernel writes through the same parameters.
        let names: BTreeSet<&String> =
            plan.launches.iter().flatten().map(|kernel| &kernel.name).collect();
        plan.writes.retain(|name, _| names.contains(name));
        if let Some((kind, columns)) = loss_of(list) {
            source.push(epoch_clock::CLOCKWORK);
            source.push(&training_control::watch_source(list, kind, columns, &plan.watch));
        }
        source.push(&supersteps::source(list, target.bytes_per_real));
        source.push(&loop_shortcuts::source(list));
        for (kernels, draft) in plan.frontiers.iter_mut().zip(&frontiers) {
            if let (Some(kernel), Some(draft)) = (kernels.last_mut(), draft) {
                source.add_kernel(kernel, draft);
            }
        }
        Emitted { source: source.finish(), plan }
    }
}

/// What every source begins with.
fn opening(target: GpuTarget) -> String {
    format!(
        "typedef {} real;\n{}{PRELUDE}{}",
        if target.bytes_per_real == 8 { "double" } else { "float" },
        target.matmul.constants(),
        if target.warpgroups { warpgroup_products::PRELUDE } else { "" }
    )
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

/// The kernels of one launch, while they are decided.
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
    /// Products merged into one kernel and, as launches are decided, launches merged with these,
    /// and buffers that are never materialised.
    joined: &'a MergedLaunches,
    elsewhere: &'a mut BTreeMap<usize, usize>,
    unmade: Vec<BufferName>,
    number: usize,
    launch: &'a Launch,
    /// The number of vertices; 0 if unknown.
    vertices: u64,
    draft: LaunchDraft,
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
    fn add_kernel(&mut self, kernel: KernelDraft) {
        self.draft.kernels.push(kernel);
    }

    fn decide(&mut self) -> Result<(), NoKernel> {
        match &self.launch.operation {
            Operation::Loss { .. } => self.decide_loss(),
            Operation::Optimize { parameter } => self.decide_optimizer(parameter),
            Operation::SparseProduct { .. } => self.decide_sparse_product(),
            Operation::SparseProductOverRows { .. } => self.decide_sparse_gradient(),
            Operation::Evaluate { op: Op::Product { .. }, .. } => self.decide_product(),
            Operation::Fused { steps, .. } if steps.iter().any(is_product) => self.decide_product(),
            Operation::Evaluate { op: Op::SumRows | Op::Outer, .. } => self.decide_total(),
            Operation::Evaluate { op: Op::Pool(pooling), .. } => self.decide_pool(*pooling),
            Operation::Evaluate { op: Op::Winner(..) | Op::Others(_) | Op::Fold(..), .. } => {
                self.note([(ScheduleKind::EdgesAmongRow, true)]);
                self.decide_edge_operation()
            }
            Operation::Evaluate { op, .. } if mode_and_hindex::is_collected(op) => {
                self.decide_collected()
            }
            Operation::Evaluate { op, .. } if common_neighbours::counts_common_neighbours(op) => {
                self.decide_common_neighbours()
            }
            Operation::Evaluate { op: Op::Turn, .. } => {
                self.note([(ScheduleKind::ReversedEdges, true)]);
                self.decide_reversal()
            }
            Operation::Evaluate { op: Op::Lookup { transposed }, .. } => {
                self.note([(ScheduleKind::TableLookup, true)]);
                self.decide_lookup(*transposed)
            }
            Operation::Evaluate { op: Op::Scatter { transposed }, .. } => {
                self.note([(ScheduleKind::TableScatter, true)]);
                self.decide_scatter(*transposed)
            }
            // Sparse features as dense rows: their readers materialise them.
            Operation::Evaluate { op: Op::Input(_), .. } => Ok(()),

            // `WalkLowering::lower_step` reports the operations that no walk supports.
            Operation::Evaluate { .. } | Operation::Fused { .. } => self.decide_walk(),
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
        self.draft.is_described = true;
    }

    /// Notes that the kernel of another launch computes this one.
    fn merged_into(&mut self, maker: String) {
        self.header();
        self.draft.merged_into = Some(maker);
    }

    /// Describes the kernel's schedule, in a comment below the launch.
    fn schedule(&mut self, words: String) {
        self.draft.notes.push(words);
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
