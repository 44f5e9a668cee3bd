//! device_plan: how a launch list is executed on a GPU, as data.
//!
//! promises  it names every kernel with its grid, its parameters and what it writes; which kernels
//!           and schedules each launch has, which buffers are never stored, and how much scratch
//!           they share; it is written with the plan, and `run` launches what it says
//! never     decides anything; holds text of a kernel; `tiers` alone depends on a graph's edges
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ScheduleKind;
use warploom_ir::Direction;
use warploom_launch::{BufferName, Rows};

/// How a list is executed on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DevicePlan {
    /// SMs that the grids are for.
    pub processors: u32,
    /// Kernels by launch, in the order of `LaunchList::launches`.
    pub launches: Vec<Vec<Kernel>>,
    /// How each launch is executed, in the order of `launches`.
    pub schedules: Vec<BTreeSet<ScheduleKind>>,
    /// Launches off the critical path: their kernels have scratch and completion counters of their
    /// own.
    pub aside: BTreeSet<usize>,
    /// Bytes of scratch that the kernels of one launch share, at most; launches off the critical
    /// path have their own.
    pub scratch_bytes: u64,
    /// The same, for launches off the critical path.
    pub scratch_aside_bytes: u64,
    /// By kernel, which of its parameters it may write through. A kernel that is not listed may
    /// write through any.
    pub writes: BTreeMap<String, Vec<bool>>,
    /// For training: the kernel that advances the epoch counter.
    pub clockwork: Vec<Kernel>,
    /// For training: the kernels of early stopping and best checkpoint, if used; none if parameters
    /// are too large to be stored twice.
    pub watch: Vec<Kernel>,
    /// For each loop, the kernels that end a superstep, in the order in which they run.
    pub loops: Vec<Vec<Kernel>>,
    /// For each loop with an algorithm that replaces its supersteps, the kernel that computes it,
    /// after those that make the tables it needs, once.
    pub shortcuts: Vec<Vec<Kernel>>,
    /// For each loop that has supersteps of few vertices, the kernel that commits a superstep and
    /// runs those, after those that make the tables it needs, once.
    pub frontiers: Vec<Vec<Kernel>>,
    /// Buffers that are never materialised: their readers compute them.
    pub unmade: Vec<BufferName>,
    /// How many rows of a walk have several blocks, a block or a warp each, for walks whose degrees
    /// were known.
    pub tiers: BTreeMap<(WalkedLists, Cut), TierCounts>,
}

impl DevicePlan {
    /// The arguments of all its kernels, in order.
    pub fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.kernels().flat_map(|kernel| &kernel.arguments)
    }

    /// All its kernels: those of launches, then those between epochs and supersteps, and those
    /// instead of supersteps, or for several.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        let of_loops = self.loops.iter().chain(&self.shortcuts).chain(&self.frontiers).flatten();
        let between = self.clockwork.iter().chain(&self.watch).chain(of_loops);
        self.launches.iter().flatten().chain(between)
    }

    /// The walks that some kernel divides into tiers, each with its cut.
    pub fn walks_in_tiers(&self) -> BTreeSet<(WalkedLists, Cut)> {
        let of_argument = |argument: &Argument| match argument {
            Argument::Count(walked, cut, _) => Some((walked.clone(), *cut)),
            _ => None,
        };
        let of_grid = |kernel: &Kernel| match &kernel.blocks {
            Blocks::Items { walked, cut, .. } => Some((walked.clone(), *cut)),
            _ => None,
        };
        self.arguments().filter_map(of_argument).chain(self.kernels().filter_map(of_grid)).collect()
    }

    /// Adds the next launch of the list, which needs so many bytes of scratch.
    pub(super) fn add_launch(
        &mut self,
        mut kernels: Vec<Kernel>,
        schedules: BTreeSet<ScheduleKind>,
        scratch_bytes: u64,
    ) {
        let is_aside = self.aside.contains(&self.launches.len());
        let scratch =
            if is_aside { &mut self.scratch_aside_bytes } else { &mut self.scratch_bytes };
        *scratch = scratch_bytes.max(*scratch);
        if is_aside {
            kernels
                .iter_mut()
                .flat_map(|kernel| &mut kernel.arguments)
                .for_each(Argument::take_aside);
        }
        self.launches.push(kernels);
        self.schedules.push(schedules);
    }
}

/// A kernel and its launch configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Kernel {
    /// Its name in the source.
    pub name: String,
    /// Its parameters, in order.
    pub arguments: Vec<Argument>,
    /// The grid.
    pub blocks: Blocks,
    /// Threads per block.
    pub threads: u32,
    /// Dynamic shared memory per block.
    pub shared_bytes: u32,
}

/// The size of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocks {
    /// Rows per block, and slices.
    Rows {
        /// What a row corresponds to.
        rows: Rows,
        /// Rows per block.
        each: u32,
        /// Blocks that share a row.
        slices: u32,
    },
    /// Items of a walk over lists, by size class: several blocks, a block, a warp or a group of
    /// lanes each.
    Items {
        /// The lists.
        walked: WalkedLists,
        /// How they are split.
        cut: Cut,
        /// Blocks that share an item.
        slices: u32,
    },
    /// Row partitions with a minimum size and a maximum count, and tiles of the result.
    Parts {
        /// What a row corresponds to.
        rows: Rows,
        /// Minimum rows of a partition.
        each: u32,
        /// Maximum partitions.
        most: u32,
        /// Tiles along two axes.
        tiles: [u32; 2],
    },
    /// Neighbour groups, as many per block as its threads serve.
    Groups {
        /// The direction of the edges.
        direction: Direction,
        /// How rows are split.
        groups: Groups,
        /// Whether the blocks are for rows whose groups span several blocks, and not for groups.
        spans: bool,
        /// Blocks that share a row.
        slices: u32,
    },
    /// A constant grid.
    Fixed([u32; 3]),
    /// So many blocks, all at once: they wait for each other.
    Together(u32),
}

impl Blocks {
    /// Its numbers, for people.
    pub fn describe(&self, planned: &DevicePlan) -> String {
        let with_slices = |text: String, slices: u32| match slices {
            0 | 1 => text,
            slices => format!("{text}, {slices} column slices"),
        };
        match self {
            Blocks::Rows { each, slices, .. } => {
                with_slices(format!("{each} rows a block"), *slices)
            }
            Blocks::Items { walked, cut, slices } => {
                let tiers = planned.tiers.get(&(walked.clone(), *cut));
                let tiers = tiers.map_or_else(String::new, TierCounts::describe);
                with_slices(cut.describe() + &tiers, *slices)
            }
            Blocks::Parts { each, most, tiles: [across, down], .. } => {
                let most = match *most {
                    u32::MAX => String::new(),
                    most => format!(", at most {most} parts"),
                };
                format!("{each} rows a part or more{most}, {across} x {down} tiles")
            }
            Blocks::Groups { groups, spans, slices, .. } => {
                let what = if *spans { "rows of several blocks, " } else { "" };
                with_slices(format!("{what}{}", groups.describe()), *slices)
            }
            Blocks::Together(count) => format!("{count} blocks at once"),
            Blocks::Fixed([x, y, z]) => match (y, z) {
                (1, 1) => format!("{x} blocks"),
                (_, 1) => format!("{x} x {y} blocks"),
                _ => format!("{x} x {y} x {z} blocks"),
            },
        }
    }
}

impl Cut {
    fn describe(self) -> String {
        let lanes = 32 / self.groups_of_warp.max(1);
        let mut text = format!("{lanes} lanes a row, {} edges in flight", self.in_flight);
        if self.rows_of_group > 1 {
            text += &format!(", {} rows in turn", self.rows_of_group);
        }
        if self.hub_blocks > 0 {
            text += &format!(", at most {} blocks for heavy rows", self.hub_blocks);
        }
        text
    }
}

/// How the neighbours of a row are split into groups (neighbour grouping of GNNAdvisor), by tables
/// of `partition`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Groups {
    /// Maximum neighbours per group; 0 for a user's own groups of in-edges, of any size.
    pub neighbours: u32,
    /// Lanes per group: a power of two, at most a warp.
    pub lanes: u32,
    /// Threads per block: whole warps.
    pub threads: u32,
}

impl Groups {
    /// In words.
    pub fn describe(self) -> String {
        match self.neighbours {
            0 => format!("a user's own groups, {} lanes each", self.lanes),
            most => format!("groups of {most} neighbours, {} lanes each", self.lanes),
        }
    }

    /// Groups per block.
    pub fn per_block(self) -> u32 {
        self.threads / self.lanes
    }

    /// Whether they are a user's own.
    pub fn is_own(self) -> bool {
        self.neighbours == 0
    }

    /// Whether they divide the edges of a direction.
    pub fn divides(self, direction: Direction) -> bool {
        match direction {
            Direction::In => true,
            Direction::Out => !self.is_own(),
            Direction::Both => false,
        }
    }
}

/// How a walk maps rows to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Cut {
    /// Lane groups per warp.
    pub groups_of_warp: u32,
    /// Warps per block.
    pub warps: u32,
    /// Edges that a group loads at once.
    pub in_flight: u32,
    /// Minimum resident blocks per SM.
    pub blocks_per_processor: u32,
    /// Maximum blocks of all heavy rows together; 0 if one block at most processes a row.
    pub hub_blocks: u32,
    /// Rows that a group processes in sequence.
    pub rows_of_group: u32,
}

/// The number of rows of each tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct TierCounts {
    /// Rows that several blocks share.
    pub hubs: u32,
    /// Blocks of each.
    pub pieces: u32,
    /// Rows of a block each.
    pub blocks: u32,
    /// Rows of a warp each.
    pub warps: u32,
    /// All rows.
    pub all: u32,
}

impl TierCounts {
    /// The number of a tier.
    pub fn count(&self, tier: Tier) -> u32 {
        match tier {
            Tier::Hub => self.hubs,
            Tier::Pieces => self.pieces,
            Tier::Block => self.blocks,
            Tier::Warp => self.warps,
            Tier::All => self.all,
        }
    }

    /// The rows that have more than a group of lanes, as a part of a sentence; empty if none.
    fn describe(&self) -> String {
        let hubs = (self.hubs, format!("{} blocks", self.pieces));
        let tiers = [hubs, (self.blocks, "a block".to_owned()), (self.warps, "a warp".to_owned())];
        let of_tier = |(rows, what): (u32, String)| {
            (rows > 0)
                .then(|| format!(", {rows} {} of {what}", if rows == 1 { "row" } else { "rows" }))
        };
        tiers.into_iter().filter_map(of_tier).collect()
    }
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// A pointer to a buffer.
    Buffer(BufferName),
    /// An input edge value, permuted to the order in which this walk visits the edges.
    Slots(BufferName, WalkedLists),
    /// A list of a walk, in the order of work: rows, offsets, far ends, edge rows, relations,
    /// values.
    Items(WalkedLists, ListPart),
    /// The number of items in a size class; of all items.
    Count(WalkedLists, Cut, Tier),
    /// A list of neighbour groups.
    Groups(Direction, Groups, Grouped),
    /// Partial results of rows whose groups span several blocks: bytes for the first and the last
    /// row of each block.
    PartsOfSpans(Direction, Groups, u64),
    /// A list of pairs of adjacent vertices that the kernels of the launch of this number share.
    Pairs(usize, PairPart),
    /// The inverse of an index into a table with this many rows: offsets per table row, then the
    /// rows that name it, ascending. Out-of-range indices are omitted.
    Inverse(BufferName, u32),
    /// A 32-bit number.
    Number(u32),
    /// The number of row partitions, as in `Blocks::Parts`.
    Parts {
        /// What a row corresponds to.
        rows: Rows,
        /// Minimum rows of a partition.
        each: u32,
        /// Maximum partitions.
        most: u32,
    },
    /// The number of rows of this kind, 32-bit.
    RowCount(Rows),
    /// The row in the graph artifact of each node row; null for the identity.
    RowInGraph,
    /// The graph of each vertex; null for a single graph.
    GraphOf,
    /// Where the vertices of each graph start in `GraphVertices`.
    GraphOffsets,
    /// Vertices by graph.
    GraphVertices,
    /// Source of each edge.
    Source,
    /// Target of each edge.
    Target,
    /// The epoch counter.
    Clock,
    /// The seed, as two 32-bit numbers in place of a pointer.
    Seed,
    /// Whether this is a training pass.
    Training,
    /// Scratch shared by the kernels of a launch.
    Scratch,
    /// The same, for launches off the critical path.
    ScratchAside,
    /// The split of each row of the target: 0 none, 1 training, 2 validation, 3 test.
    Split,
    /// The number of terms of the mean loss: training rows, or their known elements; a double.
    LossTerms,
    /// Counts finished blocks of a kernel, or of each heavy row or row tile; 0 between kernels.
    Ticket,
    /// The same, for launches off the critical path.
    TicketAside,
    /// The counts of an evaluation pass, in the order of `epoch_clock::counts_of_part`; null in a
    /// training pass.
    Measures,
    /// The loss before rounding: a double.
    ExactLoss,
    /// Metrics of the last `epoch_clock::SLOTS` epochs: for each the loss as a double, and the
    /// counts.
    Ring,
    /// Learning-rate factors of epochs, by epoch number modulo `epoch_clock::SLOTS`: doubles.
    Paces,
    /// The first or second moment of the parameter of this number; null where its optimiser has
    /// none.
    Moment(usize, u8),
    /// Settings of the optimiser of the parameter of this number, as `epoch_clock::OPTIMIZER` lists
    /// them.
    Optimizer(usize),
    /// The state of early stopping between epochs: two copies of `training_control::TrainingState`.
    Watches,
    /// The best checkpoint of the parameter of this number.
    Kept(usize),
    /// Where a loop is: `supersteps::LoopState`.
    LoopState,
    /// First slot and number of slots of each vertex in the lists of a direction.
    SlotsOfVertices(Direction),
    /// Memory of an algorithm that replaces the supersteps of a loop.
    ShortcutRoom(ShortcutRoom),
}

/// The memory of an algorithm that replaces the supersteps of a loop: `loop_shortcuts::HEAD_BYTES`,
/// lists of tasks, and some bytes of each vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ShortcutRoom {
    /// Lists of edges that a vertex has.
    pub sides: u32,
    /// Lists of tasks, each with room for all edges.
    pub task_lists: u32,
    /// Edges of a task at most.
    pub piece: u32,
    /// Bytes of each vertex.
    pub vertex_bytes: u32,
}

impl Argument {
    /// Switches to the scratch and counters of launches off the critical path.
    fn take_aside(&mut self) {
        match self {
            Argument::Scratch => *self = Argument::ScratchAside,
            Argument::Ticket => *self = Argument::TicketAside,
            _ => {}
        }
    }

    /// Switches to the lists of edges in the order of the csr.
    pub(super) fn take_csr_order(&mut self) {
        if let Argument::Items(walked, _) | Argument::Slots(_, walked) = self
            && let WalkedLists::Edges(direction) = *walked
        {
            *walked = WalkedLists::CsrEdges(direction);
        }
    }
}

/// The lists of a walk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalkedLists {
    /// The edges of each vertex.
    Edges(Direction),
    /// The same in the order of the csr, of whose slots groups are ranges; no rows and offsets.
    CsrEdges(Direction),
    /// The edges of each vertex, vertices by number, far ends ascending; no rows. In one direction.
    Ascending(Direction),
    /// The nonzeros of each row, or column, of sparse features.
    Entries(BufferName, bool),
}

impl From<Direction> for WalkedLists {
    fn from(direction: Direction) -> WalkedLists {
        WalkedLists::Edges(direction)
    }
}

/// A list of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// A list of pairs of adjacent vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairPart {
    /// By vertex, the pairs that it keeps, and how many neighbours it has: `PairRow`.
    Row,
    /// The vertex that keeps each pair.
    Near,
    /// Its other vertex.
    Far,
    /// The number of its triangles.
    Count,
}

impl PairPart {
    /// All of them.
    pub const ALL: [PairPart; 4] = [PairPart::Row, PairPart::Near, PairPart::Far, PairPart::Count];
}

/// A list of neighbour groups, or their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouped {
    /// Row of each group: groups of a row are consecutive.
    Row,
    /// First slot of each group.
    Start,
    /// Where the slots of each group end.
    End,
    /// Number of groups.
    Count,
    /// Each row that no block finishes alone: its groups span several blocks, or it has none.
    SpanRow,
    /// The first of these blocks.
    SpanBlock,
    /// Number of these blocks; 0 for a row without edges.
    SpanBlocks,
    /// Number of such rows.
    SpanCount,
}

impl Grouped {
    /// Whether it is a number and not a list.
    pub fn is_count(self) -> bool {
        matches!(self, Grouped::Count | Grouped::SpanCount)
    }
}

/// A size class of items (rows).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Several blocks each (heavy rows).
    Hub,
    /// Not a class: the number of blocks of each heavy row.
    Pieces,
    /// A block each.
    Block,
    /// A warp each.
    Warp,
    /// All items.
    All,
}
