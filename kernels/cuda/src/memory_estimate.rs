//! memory_estimate: the device memory of a list, from the counts of a graph alone.
//!
//! promises  all arguments of kernels are included, with alignment; memory that only some graphs
//!           need (a row's number in the original graph) is counted
//! never     counts the driver's own memory, or code
use std::collections::BTreeMap;

use super::epoch_clock::{OPTIMIZER, PARTS, SLOTS, counts_of_part, slot_bytes};
use super::{
    Argument, DevicePlan, Grouped, Groups, ListPart, PairPart, WalkedLists, loop_shortcuts,
    loss_of, supersteps, training_control,
};
use warploom_ir::{Direction, Type};
use warploom_launch::{Buffer, BufferName, Element, GraphFacts, LaunchList, MADE, Role, Rows};

/// The alignment of buffers, in bytes.
pub const ALIGNMENT: u64 = 256;

/// Bytes of a `PairRow` of `common_neighbours.cuh`.
const PAIR_ROW_BYTES: u64 = 16;

/// Bytes by use, and their sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Predicted {
    /// The sum.
    pub bytes: u64,
    /// Bytes by use: the arena of launches, each buffer outside of it, lists of edges and entries,
    /// and the rest.
    pub by_use: BTreeMap<String, u64>,
}

impl Predicted {
    fn take(&mut self, of: impl Into<String>, bytes: u64) {
        let bytes = bytes.max(1).next_multiple_of(ALIGNMENT);
        self.bytes += bytes;
        *self.by_use.entry(of.into()).or_default() += bytes;
    }
}

/// Groups of one direction, and the rows that no block of them finishes alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableRows {
    /// Groups.
    pub groups: u64,
    /// Rows.
    pub spans: u64,
}

impl TableRows {
    /// Bytes of a list; none for a number.
    fn list_bytes(self, list: Grouped) -> Option<u64> {
        match list {
            Grouped::Row | Grouped::Start | Grouped::End => Some(self.groups * 4),
            Grouped::SpanRow | Grouped::SpanBlock | Grouped::SpanBlocks => Some(self.spans * 4),
            Grouped::Count | Grouped::SpanCount => None,
        }
    }

    /// Blocks of the groups.
    fn blocks(self, groups: Groups) -> u64 {
        self.groups.div_ceil(u64::from(groups.per_block()))
    }
}

/// The sizes of `partition`'s tables of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupRows {
    /// Of in-edges.
    pub incoming: TableRows,
    /// Of out-edges.
    pub outgoing: TableRows,
    /// A user's own.
    pub own: TableRows,
}

impl GroupRows {
    /// The table that these groups are in.
    pub fn table(&self, direction: Direction, groups: Groups) -> TableRows {
        match direction {
            _ if groups.is_own() => self.own,
            Direction::Out => self.outgoing,
            _ => self.incoming,
        }
    }
}

/// The sizes of kernel arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCounts {
    /// Vertices.
    pub nodes: u64,
    /// Stored edges.
    pub edges: u64,
    /// Entries of sparse features.
    pub sparse_features: Option<u64>,
    /// Graphs of a data set with several graphs.
    pub graphs: Option<u64>,
    /// Bytes of a float.
    pub bytes_per_real: u64,
    /// Whether rows are numbered differently than in the original graph.
    pub is_reordered: bool,
    /// Rows of the tables of groups.
    pub groups: GroupRows,
}

/// The memory of a list with these kernels, if the named buffers stay on the host.
pub fn predicted(
    list: &LaunchList,
    plan: &DevicePlan,
    facts: &GraphFacts,
    groups: GroupRows,
    on_host: &[BufferName],
) -> Predicted {
    let counts = SizeCounts { groups, ..SizeCounts::from_list(list, facts) };
    let is_apart = |buffer: &&Buffer| {
        list.arena.place(&buffer.name).is_none() && !list.arena.nowhere.contains(&buffer.name)
    };
    let is_here = |buffer: &&Buffer| {
        !buffer.role.is_sparse() && is_apart(buffer) && !on_host.contains(&buffer.name)
    };
    let mut predicted = Predicted::default();
    if list.arena.bytes > 0 {
        predicted.take(MADE, list.arena.bytes);
    }
    for buffer in list.buffers.iter().filter(is_here) {
        predicted.take(buffer.name.clone(), counts.buffer_bytes(buffer));
    }
    let mut known: Vec<&Argument> = Vec::new();
    for argument in plan.arguments() {
        if !known.contains(&argument)
            && let Some(bytes) = counts.argument_bytes(argument, list, plan)
        {
            known.push(argument);
            predicted.take(argument_group(argument), bytes);
        }
    }
    predicted
}

/// The use that an argument is counted under.
fn argument_group(argument: &Argument) -> &'static str {
    match argument {
        Argument::Items(WalkedLists::Entries(..), _) => "sparse features",
        Argument::Items(..) | Argument::Slots(..) | Argument::Groups(..) => "lists of edges",
        Argument::Pairs(..) => "pairs of neighbours",
        Argument::Inverse(..) => "lists of rows that look up",
        Argument::Moment(..) => "moments",
        Argument::Scratch | Argument::ScratchAside | Argument::PartsOfSpans(..) => "parts of sums",
        Argument::Ring | Argument::Paces | Argument::Measures => "measurements",
        Argument::SlotsOfVertices(_) | Argument::ShortcutRoom(_) => "lists of a search",
        _ => "lists of rows",
    }
}

/// Bytes of an element on a GPU: ids and bools have 4.
pub fn element_bytes(element: Element, bytes_per_real: u64) -> u64 {
    match element {
        Element::Real => bytes_per_real,
        Element::Half(_) => 2,
        Element::Whole(Type::Id | Type::Bool) => 4,
        Element::Whole(_) => 8,
    }
}

/// Bytes of the named buffers, each aligned to `ALIGNMENT`.
pub fn bytes_on_host(list: &LaunchList, facts: &GraphFacts, on_host: &[BufferName]) -> u64 {
    let counts = SizeCounts::from_list(list, facts);
    let of_name = list.buffers.iter().filter(|buffer| on_host.contains(&buffer.name));
    of_name
        .map(|buffer| counts.buffer_bytes(buffer).max(1).next_multiple_of(ALIGNMENT))
        .fold(0, u64::saturating_add)
}

impl SizeCounts {
    /// The counts that a plan knows; assumes that rows are reordered.
    fn from_list(list: &LaunchList, facts: &GraphFacts) -> SizeCounts {
        let graphs = |buffer: &Buffer| {
            if let Rows::Graphs(count) = buffer.rows { Some(count) } else { None }
        };
        let GraphFacts { nodes, edges, sparse_features, bytes_per_real, .. } = *facts;
        let graphs = list.buffers.iter().filter_map(graphs).max().filter(|count| *count > 1);
        SizeCounts {
            nodes,
            edges,
            sparse_features,
            graphs,
            bytes_per_real,
            is_reordered: true,
            groups: GroupRows::default(),
        }
    }

    /// Bytes of a buffer.
    pub fn buffer_bytes(&self, buffer: &Buffer) -> u64 {
        let width = element_bytes(buffer.element, self.bytes_per_real);
        self.rows(buffer).saturating_mul(buffer.stride(self.bytes_per_real)).saturating_mul(width)
    }

    fn rows(&self, buffer: &Buffer) -> u64 {
        buffer.rows.count(self.nodes, self.edges)
    }

    /// Rows and slots of a walk's lists.
    fn walked(&self, walked: &WalkedLists, list: &LaunchList) -> Option<(u64, u64)> {
        let SizeCounts { nodes, edges, sparse_features, .. } = *self;
        Some(match walked {
            WalkedLists::Edges(Direction::Both) => (nodes, 2 * edges),
            WalkedLists::Edges(_) | WalkedLists::CsrEdges(_) | WalkedLists::Ascending(_) => {
                (nodes, edges)
            }
            WalkedLists::Entries(features, by_columns) => {
                let buffer = find_buffer(list, features)?;
                let entries = if let Role::SparseFeaturesOf { entries, .. } = buffer.role {
                    entries
                } else {
                    sparse_features?
                };
                (if *by_columns { buffer.columns } else { self.rows(buffer) }, entries)
            }
        })
    }

    /// Bytes of a list of pairs of adjacent vertices: there are no more of these than edges.
    fn pair_bytes(&self, part: PairPart) -> u64 {
        match part {
            PairPart::Row => self.nodes * PAIR_ROW_BYTES,
            PairPart::Near | PairPart::Far | PairPart::Count => self.edges * 4,
        }
    }

    /// Bytes of a list of a walk.
    fn list_bytes(&self, walked: &WalkedLists, part: ListPart, list: &LaunchList) -> Option<u64> {
        let (rows, slots) = self.walked(walked, list)?;
        Some(match part {
            ListPart::Row => rows * 4,
            ListPart::Offset => (rows + 1) * 4,
            ListPart::Far | ListPart::Edge | ListPart::Relation => slots * 4,
            ListPart::Value => slots * self.bytes_per_real,
        })
    }

    /// Bytes of an argument that is memory but no buffer; none for numbers, buffers and null
    /// pointers.
    pub fn argument_bytes(
        &self,
        argument: &Argument,
        list: &LaunchList,
        plan: &DevicePlan,
    ) -> Option<u64> {
        let SizeCounts { nodes, edges, bytes_per_real: real, .. } = *self;
        let measured = || loss_of(list);
        Some(match argument {
            Argument::Slots(name, walked) => {
                self.walked(walked, list)?.1 * element_bytes(find_buffer(list, name)?.element, real)
            }
            Argument::Items(walked, part) => self.list_bytes(walked, *part, list)?,
            Argument::Groups(direction, groups, of) => {
                self.groups.table(*direction, *groups).list_bytes(*of)?
            }
            Argument::PartsOfSpans(direction, groups, bytes) => {
                2 * self.groups.table(*direction, *groups).blocks(*groups) * bytes
            }
            Argument::Pairs(_, part) => self.pair_bytes(*part),
            Argument::Inverse(name, count) => {
                (u64::from(*count) + 1 + self.rows(find_buffer(list, name)?)) * 4
            }
            Argument::RowInGraph => self.is_reordered.then_some(nodes * 4)?,
            Argument::GraphOf | Argument::GraphVertices => self.graphs.map(|_| nodes * 4)?,
            Argument::GraphOffsets => (self.graphs.unwrap_or(1) + 1) * 4,
            Argument::Source | Argument::Target => edges * 4,
            Argument::Clock => 24,
            Argument::Scratch => plan.scratch_bytes,
            Argument::ScratchAside => plan.scratch_aside_bytes,
            Argument::Split => list
                .buffers
                .iter()
                .find(|buffer| buffer.role == Role::Target)
                .map_or(0, |buffer| self.rows(buffer)),
            Argument::Ticket | Argument::TicketAside => u64::from(super::TICKETS) * 4,
            Argument::LossTerms | Argument::ExactLoss => 8,
            Argument::Ring => {
                measured().map(|(kind, columns)| (SLOTS * slot_bytes(kind, columns)) as u64)?
            }
            Argument::Paces => SLOTS as u64 * 8,
            Argument::Measures => measured()
                .map(|(kind, columns)| (PARTS * counts_of_part(kind, columns) * 4) as u64)?,
            Argument::Moment(number, _) | Argument::Kept(number) => {
                list.parameters.get(*number)?.shape.iter().product::<u64>() * real
            }
            Argument::Optimizer(_) => (OPTIMIZER * 8) as u64,
            Argument::Watches => 2 * training_control::BYTES as u64,
            Argument::LoopState => supersteps::BYTES as u64,
            Argument::SlotsOfVertices(_) => nodes * 8,
            Argument::ShortcutRoom(room) => loop_shortcuts::room_bytes(*room, nodes, edges),
            Argument::Buffer(_)
            | Argument::Count(..)
            | Argument::Number(_)
            | Argument::Parts { .. }
            | Argument::RowCount(_)
            | Argument::Seed
            | Argument::Training => return None,
        })
    }
}

fn find_buffer<'a>(list: &'a LaunchList, name: &str) -> Option<&'a Buffer> {
    list.buffers.iter().find(|buffer| buffer.name == name)
}
