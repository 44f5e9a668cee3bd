//! kernel_arguments: the memory layout of a list on a GPU, and the arguments of its kernels.
//!
//! promises  every argument has a byte range or a value; ranges start at multiples of 256 bytes;
//!           results of launches are where the plan's arena puts them; what the plan leaves on the
//!           host is in pinned memory, with the same row strides
//! never     launches
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use arrow_buffer::{ArrowNativeType, Buffer};
use bytemuck::Pod;
use rayon::prelude::*;
use warploom_contract::{
    ErrorKind, StageError,
    kinds::partition::{GroupViews, row_lists::WalkedRows},
};
use warploom_cuda::memory_estimate::{ALIGNMENT, SizeCounts, element_bytes};
use warploom_cuda::{
    Argument, Blocks, Cut, DevicePlan, Grouped, Groups, Kernel, ListPart, TICKETS, TierCounts,
    WalkedLists, loss_of,
};
use warploom_device::gpu::{ArgumentValue, Grid, Memory, Parameter, ParameterKind, Start};
use warploom_device::{Fault, Gpu};
use warploom_ir::{Direction, Loss};
use warploom_launch::{Element, LaunchList, Role, Rows};
use warploom_shell::graph_reads;
use warploom_tuning as tuning;

use super::count_rows;
use crate::{
    buffers::{Buffers, Place},
    inputs::device_groups::DeviceGroups,
    inputs::input_data::{Data, SparseFeatures},
    precision::Precision,
    resolved_program::ResolvedProgram,
};

/// A byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// First byte.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

/// The memory that a buffer is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySpace {
    /// Device memory.
    Device,
    /// Pinned host memory.
    Host,
}

/// The layout of a buffer that kernels read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferPlacement {
    /// Its byte range.
    pub place: ByteRange,
    /// The memory of that range.
    pub side: MemorySpace,
    /// Elements of a row.
    pub columns: usize,
    /// Row stride, in elements.
    pub stride: usize,
    /// Bytes of an element: ids and bools have 4 on a GPU, and 8 on the host.
    pub element_bytes: usize,
}

impl BufferPlacement {
    /// Bytes of such rows at this stride.
    pub fn padded_bytes<E: Pod>(&self, rows: &[E]) -> usize {
        rows.len().checked_div(self.columns).unwrap_or(0) * self.stride * size_of::<E>()
    }

    /// Copies part of some host rows, from the byte `at` of the padded layout on; padding is zero.
    pub fn copy_padded<E: Pod>(&self, rows: &[E], at: usize, to: &mut [u8]) {
        let rows: &[u8] = bytemuck::cast_slice(rows);
        let (width, stride) = (self.columns * size_of::<E>(), self.stride * size_of::<E>());
        if width == stride {
            return to.copy_from_slice(&rows[at..at + to.len()]);
        }
        let (mut row, mut within, mut rest) = (at / stride, at % stride, to);
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut(rest.len().min(stride - within));
            let of_row = &rows[row * width..(row + 1) * width];
            let filled = width.saturating_sub(within).min(now.len());
            now[..filled]
                .copy_from_slice(&of_row[width - width.saturating_sub(within)..][..filled]);
            now[filled..].fill(0);
            (row, within, rest) = (row + 1, 0, later);
        }
    }

    /// Host rows in the padded layout.
    pub fn pad_rows<E: Pod + Sync>(&self, rows: &[E]) -> Vec<u8> {
        let mut bytes = vec![0; self.padded_bytes(rows)];
        bytes
            .par_chunks_mut(tuning::upload_bytes())
            .enumerate()
            .for_each(|(piece, to)| self.copy_padded(rows, piece * tuning::upload_bytes(), to));
        bytes
    }

    /// Copies host rows to the device, padded on the way.
    pub fn upload<E: Pod + Sync>(
        &self,
        gpu: &Gpu,
        memory: &Memory,
        rows: &[E],
    ) -> Result<(), Fault> {
        gpu.upload_made(memory, self.place.offset, self.padded_bytes(rows), |at, piece| {
            self.copy_padded(rows, at, piece)
        })
    }

    /// Copies whole numbers to the device, in the width that they have there.
    pub fn upload_wholes(&self, gpu: &Gpu, memory: &Memory, rows: &[i64]) -> Result<(), Fault> {
        if self.element_bytes == size_of::<i64>() {
            return self.upload(gpu, memory, rows);
        }
        let bytes = size_of_val(rows) / size_of::<i64>() * self.element_bytes;
        gpu.upload_made(memory, self.place.offset, bytes, |at, piece| {
            let values = &rows[at / size_of::<u32>()..];
            for (to, value) in piece.chunks_exact_mut(size_of::<u32>()).zip(values) {
                to.copy_from_slice(&(*value as u32).to_le_bytes());
            }
        })
    }

    /// Reads whole numbers in the width that they have on the device.
    pub fn read_wholes(
        &self,
        rows: &mut [i64],
        get: impl FnOnce(&mut [u8]) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        if self.element_bytes == size_of::<i64>() {
            return self.read_unpadded(rows, get);
        }
        let mut there = vec![0u32; rows.len()];
        get(bytemuck::cast_slice_mut(&mut there))?;
        rows.iter_mut().zip(there).for_each(|(to, value)| *to = i64::from(value));
        Ok(())
    }

    /// Writes host rows into the range of this buffer in `all`, padded with zeros.
    pub fn write_padded<E: Pod + Send + Sync>(
        &self,
        all: &mut [u8],
        rows: &[E],
    ) -> Result<(), StageError> {
        let wrong = || {
            StageError::defect(format!(
                "rows of {} bytes do not fit into {} bytes at offset {}",
                size_of_val(rows),
                self.place.bytes,
                self.place.offset
            ))
        };
        let start = usize::try_from(self.place.offset).map_err(|_| wrong())?;
        let bytes = rows.len() / self.columns.max(1) * self.stride * size_of::<E>();
        let room = all
            .get_mut(start..)
            .and_then(|room| room.get_mut(..bytes))
            .filter(|_| bytes as u64 <= self.place.bytes)
            .ok_or_else(wrong)?;
        let lying: &mut [E] = bytemuck::try_cast_slice_mut(room).map_err(|_| wrong())?;
        if self.columns > 0 {
            // A single row is too little work for a task.
            let together = tuning::upload_rows();
            let pairs = lying
                .par_chunks_mut(together * self.stride)
                .zip(rows.par_chunks(together * self.columns));
            pairs.for_each(|(to, from)| {
                to.chunks_exact_mut(self.stride)
                    .zip(from.chunks_exact(self.columns))
                    .for_each(|(to, from)| self.pad_row(to, from))
            });
        }
        Ok(())
    }

    fn pad_row<E: Pod>(&self, to: &mut [E], from: &[E]) {
        to[..self.columns].copy_from_slice(from);
        to[self.columns..].fill(E::zeroed());
    }

    /// Reads rows of the padded layout without padding; `get` fills bytes from the device.
    pub fn read_unpadded<E: Pod>(
        &self,
        rows: &mut [E],
        get: impl FnOnce(&mut [u8]) -> Result<(), StageError>,
    ) -> Result<(), StageError> {
        if self.stride == self.columns {
            return get(bytemuck::cast_slice_mut(rows));
        }
        let mut lying = vec![E::zeroed(); rows.len() / self.columns * self.stride];
        get(bytemuck::cast_slice_mut(&mut lying))?;
        for (to, from) in rows.chunks_exact_mut(self.columns).zip(lying.chunks_exact(self.stride)) {
            to.copy_from_slice(&from[..self.columns]);
        }
        Ok(())
    }
}

/// The memory layout of a list.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Bytes of device memory.
    pub bytes: u64,
    /// Bytes of pinned host memory.
    pub bytes_pinned: u64,
    buffers: BTreeMap<String, BufferPlacement>,
    parts: Vec<(Argument, ByteRange)>,
}

/// What kernels walk.
fn walked_lists(planned: &DevicePlan) -> BTreeSet<WalkedLists> {
    let of = |argument: &Argument| match argument {
        Argument::Items(walked, _) | Argument::Count(walked, ..) | Argument::Slots(_, walked) => {
            Some(walked.clone())
        }
        _ => None,
    };
    planned.arguments().filter_map(of).collect()
}

/// The tables of the partition that kernels walk.
pub type Lists<'a> = BTreeMap<WalkedLists, &'a WalkedRows>;

/// All tables that kernels walk. Those in the order of the csr are no such tables.
pub fn find_walked_lists<'a, T: Precision>(
    list: &LaunchList,
    planned: &DevicePlan,
    data: &'a Data<T>,
) -> Result<Lists<'a>, StageError> {
    let mut lists = Lists::new();
    for walked in walked_lists(planned) {
        let found = match &walked {
            WalkedLists::CsrEdges(_) | WalkedLists::Ascending(_) => continue,
            WalkedLists::Edges(Direction::In) => data.row_lists.walked_in.as_ref(),
            WalkedLists::Edges(Direction::Out) => data.row_lists.walked_out.as_ref(),
            WalkedLists::Edges(Direction::Both) => data.row_lists.walked_both.as_ref(),
            WalkedLists::Entries(..) => graph_reads::feature_walk(list, &walked)
                .and_then(|walk| data.feature_walks.get(&walk)),
        };
        let absent =
            || StageError::defect(format!("kernels walk {walked:?}, whose tables were not mapped"));
        lists.insert(walked.clone(), found.ok_or_else(absent)?);
    }
    Ok(lists)
}

/// Rows of each tier, by walk and cut.
pub type Tiers = BTreeMap<(WalkedLists, Cut), TierCounts>;

/// Checks that the plan has the tiers of every walk, and that they are of its rows.
pub fn check_tiers(planned: &DevicePlan, lists: &Lists) -> Result<(), StageError> {
    for (walked, cut) in planned.walks_in_tiers() {
        let Some(list) = lists.get(&walked) else { continue };
        let rows = list.rows.len() as u64;
        let Some(of_walk) = planned.tiers.get(&(walked.clone(), cut)) else {
            let what =
                format!("tiers.arrow: expected tiers of {rows} rows of {walked:?}, found none");
            return Err(StageError::new(ErrorKind::Damaged, what));
        };
        let of_tiers = [of_walk.hubs, of_walk.blocks, of_walk.warps];
        let shared = u64::from(of_walk.hubs) * u64::from(of_walk.pieces);
        if u64::from(of_walk.all) != rows
            || of_tiers.map(u64::from).iter().sum::<u64>() > rows
            || shared > u64::from(cut.hub_blocks)
        {
            let what = format!(
                "tiers.arrow: expected tiers of {rows} rows, with {} blocks of rows that several \
                 share, found {of_walk:?}",
                cut.hub_blocks
            );
            return Err(StageError::new(ErrorKind::Damaged, what));
        }
    }
    Ok(())
}

/// The sparse features that a buffer stands for.
fn find_sparse_features<'a, T: Precision>(
    features: &str,
    list: &LaunchList,
    data: &'a Data<T>,
) -> Option<&'a SparseFeatures<T>> {
    match list.buffers.iter().find(|buffer| buffer.name == features)?.role {
        Role::SparseFeatures => data.sparse_features(None),
        Role::SparseFeaturesOf { kind, .. } => data.sparse_features(Some(kind)),
        _ => None,
    }
}

impl Layout {
    /// Assigns ranges to the buffers of a list, of which some stay on the host, and to all other
    /// arguments of its kernels.
    pub fn new<T: Precision>(
        list: &LaunchList,
        planned: &DevicePlan,
        on_host: &[String],
        data: &Data<T>,
    ) -> Result<Self, StageError> {
        let mut layout =
            Layout { bytes: list.arena.bytes.next_multiple_of(ALIGNMENT), ..Layout::default() };
        let counts = size_counts(data);
        for buffer in list
            .buffers
            .iter()
            .filter(|buffer| !buffer.role.is_sparse() && !list.arena.nowhere.contains(&buffer.name))
        {
            let bytes = counts.buffer_bytes(buffer);
            let side = if on_host.contains(&buffer.name) {
                MemorySpace::Host
            } else {
                MemorySpace::Device
            };
            let place = match list.arena.place(&buffer.name) {
                Some(_) if side == MemorySpace::Host => {
                    return Err(StageError::defect(format!(
                        "the plan leaves `{}` on the host, which has memory on the device",
                        buffer.name
                    )));
                }
                Some(place) if place.bytes < bytes => {
                    let what = format!(
                        "the plan was made for {} bytes of `{}`, and the graph makes {bytes}",
                        place.bytes, buffer.name
                    );
                    return Err(StageError::new(ErrorKind::Damaged, what));
                }
                Some(place) => ByteRange { offset: place.offset, bytes },
                None => layout.reserve(side, bytes),
            };
            let stride = buffer.stride(counts.bytes_per_real) as usize;
            layout.buffers.insert(
                buffer.name.clone(),
                BufferPlacement {
                    place,
                    side,
                    columns: buffer.columns as usize,
                    stride,
                    element_bytes: element_bytes(buffer.element, counts.bytes_per_real) as usize,
                },
            );
        }
        for argument in planned.arguments() {
            if layout.argument_range(argument).is_none()
                && let Some(bytes) = counts.argument_bytes(argument, list, planned)
            {
                let place = layout.reserve(MemorySpace::Device, bytes);
                layout.parts.push((argument.clone(), place));
            }
        }
        Ok(layout)
    }

    fn reserve(&mut self, side: MemorySpace, bytes: u64) -> ByteRange {
        let end = match side {
            MemorySpace::Device => &mut self.bytes,
            MemorySpace::Host => &mut self.bytes_pinned,
        };
        let place = ByteRange { offset: *end, bytes };
        *end += bytes.max(1).next_multiple_of(ALIGNMENT);
        place
    }

    /// The layout of a buffer.
    pub fn buffer(&self, name: &str) -> Option<BufferPlacement> {
        self.buffers.get(name).copied()
    }

    /// The range of another argument.
    pub fn argument_range(&self, argument: &Argument) -> Option<ByteRange> {
        self.parts.iter().find(|(known, _)| known == argument).map(|(_, place)| *place)
    }

    /// All other arguments with their ranges.
    pub fn argument_ranges(&self) -> impl Iterator<Item = (&Argument, ByteRange)> {
        self.parts.iter().map(|(argument, place)| (argument, *place))
    }
}

/// The actual sizes that the plan could only predict.
fn size_counts<T: Precision>(data: &Data<T>) -> SizeCounts {
    SizeCounts {
        nodes: data.nodes as u64,
        edges: data.edges as u64,
        sparse_features: data.sparse_features(None).map(|sparse| sparse.values.len() as u64),
        graphs: data.edge_graph().graphs.map(|graphs| graphs.offsets.len() as u64 - 1),
        bytes_per_real: size_of::<T>() as u64,
        is_reordered: data.old_of_new.is_some(),
        groups: data.device_groups.as_ref().map(DeviceGroups::rows).unwrap_or_default(),
    }
}

/// Rows of the target.
fn target_rows<T: Precision>(list: &LaunchList, data: &Data<T>) -> usize {
    list.buffers
        .iter()
        .find(|buffer| buffer.role == Role::Target)
        .map_or(0, |buffer| count_rows(buffer.rows, data))
}

/// The initial bytes of an argument.
pub enum ArgumentBytes<'a> {
    /// Borrowed from the host data.
    Lent(&'a [u8]),
    /// Built for the device.
    Made(Buffer),
}

impl std::ops::Deref for ArgumentBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            ArgumentBytes::Lent(bytes) => bytes,
            ArgumentBytes::Made(buffer) => buffer,
        }
    }
}

/// The initial bytes of an argument; none for results of launches.
pub fn initial_bytes<'a, T: Precision>(
    argument: &Argument,
    data: &'a Data<T>,
    list: &LaunchList,
    program: &ResolvedProgram<T>,
    buffers: &Buffers<T>,
    lists: &Lists<'a>,
) -> Option<ArgumentBytes<'a>> {
    let graph = data.edge_graph();
    let words = |words: &'a [u32]| Some(ArgumentBytes::Lent(bytemuck::cast_slice(words)));
    let owned = |words: Vec<u32>| Some(ArgumentBytes::Made(Buffer::from_vec(words)));
    let bytes = |bytes: Vec<u8>| Some(ArgumentBytes::Made(Buffer::from_vec(bytes)));
    match argument {
        Argument::Slots(name, walked) => {
            let edges = edge_rows(walked, lists, data)?;
            let banks = buffers.read_banks();
            Some(ArgumentBytes::Made(match *program.places.get(name)? {
                Place::Real(index) => gather_values(banks.reals.get(index), &edges),
                Place::Whole(index) => {
                    let buffer = list.buffers.iter().find(|buffer| buffer.name == *name)?;
                    gather_wholes(banks.wholes.get(index), &edges, buffer.element)
                }
                _ => return None,
            }))
        }
        Argument::Items(walked, part) => walked_list(walked, *part, data, list, lists),
        Argument::Groups(direction, groups, list) => {
            words(group_list(data.device_groups.as_ref()?.table(*direction, *groups)?, *list)?)
        }
        Argument::Inverse(name, count) => {
            let Place::Whole(index) = *program.places.get(name)? else { return None };
            owned(invert_index(buffers.read_banks().wholes.get(index), *count))
        }
        Argument::RowInGraph => words(data.old_of_new.as_deref()?),
        Argument::GraphOf => words(graph.graphs?.of_vertex),
        Argument::GraphOffsets => match graph.graphs {
            Some(graphs) => owned(graphs.offsets.iter().map(|&offset| offset as u32).collect()),
            None => owned(vec![0, data.nodes as u32]),
        },
        Argument::GraphVertices => words(graph.graphs?.vertices),
        Argument::Source => words(graph.source),
        Argument::Target => words(graph.target),
        Argument::Split => {
            let mut split = vec![0u8; target_rows(list, data)];
            // A row in several splits counts for the first of them; training comes first.
            for (number, rows) in data.splits.iter().enumerate().rev() {
                rows.iter().for_each(|&row| split[row as usize] = number as u8 + 1);
            }
            bytes(split)
        }
        Argument::Ticket | Argument::TicketAside => bytes(vec![0; TICKETS as usize * 4]),
        Argument::LossTerms => {
            bytes(loss_terms(list, data, program, buffers)?.to_le_bytes().to_vec())
        }
        _ => None,
    }
}

/// The bytes of a list of a walk.
fn walked_list<'a, T: Precision>(
    walked: &WalkedLists,
    part: ListPart,
    data: &'a Data<T>,
    list: &LaunchList,
    lists: &Lists<'a>,
) -> Option<ArgumentBytes<'a>> {
    let words = |words: &'a [u32]| Some(ArgumentBytes::Lent(bytemuck::cast_slice(words)));
    let made = |words: Vec<u32>| Some(ArgumentBytes::Made(Buffer::from_vec(words)));
    match (part, walked) {
        (part, WalkedLists::Ascending(direction)) => {
            let side = usize::from(*direction == Direction::Out);
            let rows = data.row_lists.ascending[side].as_ref()?;
            match part {
                ListPart::Offset => words(&rows.offsets),
                ListPart::Far => words(&rows.edges.far),
                ListPart::Edge => words(rows.edges.edge.as_ref()?),
                ListPart::Row | ListPart::Relation | ListPart::Value => None,
            }
        }
        (ListPart::Row, _) => words(&lists.get(walked)?.rows),
        (ListPart::Offset, _) => words(&lists.get(walked)?.offsets),
        (ListPart::Far, WalkedLists::CsrEdges(direction)) => {
            words(data.device_groups.as_ref()?.far(*direction))
        }
        (ListPart::Far, _) => words(&lists.get(walked)?.edges.far),
        (ListPart::Edge, _) => match edge_rows(walked, lists, data)? {
            Cow::Borrowed(edges) => words(edges),
            Cow::Owned(edges) => made(edges),
        },
        (ListPart::Relation, _) => {
            let graph = data.edge_graph();
            let of = |edge: &u32| {
                let relation = graph.relation.get(*edge as usize % graph.edge_count.max(1));
                relation.map_or(u32::MAX, |relation| u32::from(*relation))
            };
            made(edge_rows(walked, lists, data)?.par_iter().map(of).collect())
        }
        (ListPart::Value, WalkedLists::Entries(features, _)) => {
            let values = &find_sparse_features(features, list, data)?.values;
            Some(ArgumentBytes::Made(gather_values(values, &edge_rows(walked, lists, data)?)))
        }
        (ListPart::Value, _) => None,
    }
}

/// The edge row of each slot of a walk.
fn edge_rows<'a, T: Precision>(
    walked: &WalkedLists,
    lists: &Lists<'a>,
    data: &'a Data<T>,
) -> Option<Cow<'a, [u32]>> {
    if let WalkedLists::CsrEdges(direction) = walked {
        let edges = data.device_groups.as_ref()?.edges(*direction);
        return Some(Cow::Owned(edges.par_iter().map(|&edge| edge as u32).collect()));
    }
    let list: &'a WalkedRows = lists.get(walked)?;
    list.edges.edge.as_deref().map(Cow::Borrowed)
}

/// A list of a table of groups; none for a number.
fn group_list(table: &GroupViews, list: Grouped) -> Option<&[u32]> {
    Some(match list {
        Grouped::Row => &table.node,
        Grouped::Start => &table.start,
        Grouped::End => &table.end,
        Grouped::SpanRow => &table.span_node,
        Grouped::SpanBlock => &table.span_block,
        Grouped::SpanBlocks => &table.span_blocks,
        Grouped::Count | Grouped::SpanCount => return None,
    })
}

/// The values at these indices, in their order.
fn gather_values<E: ArrowNativeType>(values: &[E], numbers: &[u32]) -> Buffer {
    Buffer::from_vec(numbers.par_iter().map(|&number| values[number as usize]).collect::<Vec<E>>())
}

/// The same of whole numbers, in the width that they have on a device.
fn gather_wholes(values: &[i64], numbers: &[u32], element: Element) -> Buffer {
    if element_bytes(element, 8) == 8 {
        return gather_values(values, numbers);
    }
    let narrow = numbers.par_iter().map(|&number| values[number as usize] as u32);
    Buffer::from_vec(narrow.collect::<Vec<u32>>())
}

/// Inverts an index: the start of the rows that name each of `count` table rows, and the end; then
/// those rows, ascending for each table row.
fn invert_index(index: &[i64], count: u32) -> Vec<u32> {
    let of = |wanted: &i64| {
        u32::try_from(*wanted).ok().filter(|wanted| *wanted < count).map(|wanted| wanted as usize)
    };
    let mut words = vec![0u32; count as usize + 1];
    index.iter().filter_map(of).for_each(|wanted| words[wanted + 1] += 1);
    for row in 0..count as usize {
        words[row + 1] += words[row];
    }
    let mut next: Vec<usize> =
        words[..count as usize].iter().map(|start| *start as usize).collect();
    let mut rows = vec![0u32; words[count as usize] as usize];
    for (row, wanted) in
        index.iter().enumerate().filter_map(|(row, wanted)| Some((row, of(wanted)?)))
    {
        rows[next[wanted]] = row as u32;
        next[wanted] += 1;
    }
    words.append(&mut rows);
    words
}

/// The divisor of the summed loss.
fn loss_terms<T: Precision>(
    list: &LaunchList,
    data: &Data<T>,
    program: &ResolvedProgram<T>,
    buffers: &Buffers<T>,
) -> Option<f64> {
    let (kind, columns) = loss_of(list)?;
    let (rows, columns) = (&data.splits[0], columns as usize);
    Some(match kind {
        Loss::CrossEntropy => rows.len() as f64,
        Loss::MeanSquares => (rows.len() * columns) as f64,
        Loss::Binary => {
            let target = list.buffers.iter().find(|buffer| buffer.role == Role::Target)?;
            let Place::Real(index) = *program.places.get(&target.name)? else { return None };
            let reals = buffers.reals();
            let values = reals.get(index);
            let known = |row: &u32| {
                values[*row as usize * columns..][..columns]
                    .iter()
                    .filter(|value| !value.widened().is_nan())
                    .count()
            };
            rows.iter().map(known).sum::<usize>() as f64
        }
    })
}

/// The parameters that a kernel declares.
pub fn kernel_parameters(kernel: &Kernel) -> Vec<Parameter> {
    let of = |(number, argument): (usize, &Argument)| {
        let kind = match argument {
            Argument::Count(..)
            | Argument::Number(_)
            | Argument::Parts { .. }
            | Argument::RowCount(_)
            | Argument::Training => ParameterKind::U32,
            Argument::Groups(_, _, list) if list.is_count() => ParameterKind::U32,
            Argument::Seed => ParameterKind::U64,
            _ => ParameterKind::Pointer,
        };
        Parameter::new(format!("{number} {argument:?}"), kind)
    };
    kernel.arguments.iter().enumerate().map(of).collect()
}

/// What is needed to give arguments their values.
pub struct BoundArguments<'a, T: Precision> {
    /// The memory layout.
    pub layout: &'a Layout,
    /// The base address on the device, and that on the host.
    pub bases: [u64; 2],
    /// The inputs.
    pub data: &'a Data<T>,
    /// Tiers of each walk.
    pub tiers: &'a Tiers,
    /// The seed of the run.
    pub seed: u64,
}

impl<T: Precision> BoundArguments<'_, T> {
    /// The value of an argument, in a training or a measuring pass.
    pub fn argument_value(
        &self,
        argument: &Argument,
        training: bool,
    ) -> Result<ArgumentValue, StageError> {
        let [device, host] = self.bases;
        let at = |place: ByteRange| ArgumentValue::Pointer(device + place.offset);
        Ok(match argument {
            Argument::Buffer(name) => {
                match self.layout.buffer(name).ok_or_else(|| {
                    StageError::defect(format!("`{name}` has no memory on the device"))
                })? {
                    BufferPlacement { place, side: MemorySpace::Device, .. } => at(place),
                    BufferPlacement { place, side: MemorySpace::Host, .. } => {
                        ArgumentValue::Pointer(host + place.offset)
                    }
                }
            }
            Argument::Count(walked, cut, tier) => {
                ArgumentValue::U32(self.tiers_of(walked, *cut).count(*tier))
            }
            Argument::Groups(direction, groups, list) if list.is_count() => {
                ArgumentValue::U32(self.group_count(*direction, *groups, *list))
            }
            Argument::Number(number) => ArgumentValue::U32(*number),
            Argument::Parts { rows, each, most } => {
                ArgumentValue::U32(self.part_count(*rows, *each, *most))
            }
            Argument::RowCount(rows) => ArgumentValue::U32(count_rows(*rows, self.data) as u32),
            Argument::Seed => ArgumentValue::U64(self.seed),
            Argument::Training => ArgumentValue::U32(u32::from(training)),
            Argument::Measures if training => ArgumentValue::Pointer(0),
            other => self.layout.argument_range(other).map_or(ArgumentValue::Pointer(0), at),
        })
    }

    /// How many rows of a walk have several blocks, a block or a warp each.
    fn tiers_of(&self, walked: &WalkedLists, cut: Cut) -> TierCounts {
        self.tiers.get(&(walked.clone(), cut)).copied().unwrap_or_default()
    }

    /// The number of groups, or of rows whose groups are in several blocks.
    fn group_count(&self, direction: Direction, groups: Groups, list: Grouped) -> u32 {
        let table = self.data.device_groups.as_ref().and_then(|of| of.table(direction, groups));
        table.map_or(0, |table| match list {
            Grouped::SpanCount => table.span_node.len() as u32,
            _ => table.node.len() as u32,
        })
    }

    /// The number of parts that rows are divided into; at least one, which writes the empty sum.
    fn part_count(&self, rows: Rows, each: u32, most: u32) -> u32 {
        (count_rows(rows, self.data) as u32).div_ceil(each).clamp(1, most)
    }

    /// The grid of a kernel.
    pub fn grid(&self, kernel: &Kernel) -> Grid {
        let blocks = match &kernel.blocks {
            Blocks::Rows { rows, each, slices } => {
                [(count_rows(*rows, self.data) as u32).div_ceil(*each), *slices, 1]
            }
            Blocks::Fixed(blocks) => *blocks,
            Blocks::Together(count) => [*count, 1, 1],
            Blocks::Groups { direction, groups, spans, slices } => {
                let list = if *spans { Grouped::SpanCount } else { Grouped::Count };
                [
                    self.group_count(*direction, *groups, list).div_ceil(groups.per_block()),
                    *slices,
                    1,
                ]
            }
            Blocks::Parts { rows, each, most, tiles: [first, second] } => {
                [self.part_count(*rows, *each, *most), *first, *second]
            }
            Blocks::Items { walked, cut, slices } => {
                [self.tiers_of(walked, *cut).grid_blocks(*cut), *slices, 1]
            }
        };
        let start = match kernel.blocks {
            Blocks::Together(_) => Start::Together,
            _ => Start::Early,
        };
        Grid { blocks, threads: kernel.threads, shared: kernel.shared_bytes, start }
    }
}

#[cfg(test)]
mod tests {
    use warploom_contract::kinds::partition::row_lists::{RowEdges, WalkedRows};
    use warploom_cuda::{Blocks, Cut, DevicePlan, Kernel, TierCounts, WalkedLists};
    use warploom_ir::Direction;

    use super::{BufferPlacement, ByteRange, Lists, MemorySpace, check_tiers, invert_index};

    #[test]
    fn tiers_that_no_walk_has_are_refused() {
        let cut = Cut {
            groups_of_warp: 8,
            warps: 8,
            in_flight: 8,
            blocks_per_processor: 4,
            hub_blocks: 4,
            rows_of_group: 1,
        };
        let walk = WalkedLists::Edges(Direction::In);
        let kernel = Kernel {
            name: "k".to_owned(),
            arguments: Vec::new(),
            blocks: Blocks::Items { walked: walk.clone(), cut, slices: 1 },
            threads: 256,
            shared_bytes: 0,
        };
        let edges = RowEdges { far: vec![0; 10].into(), edge: None, path: "here".into() };
        let rows = WalkedRows { rows: (0..3).collect(), offsets: vec![0, 9, 10, 10].into(), edges };
        let lists = Lists::from([(walk.clone(), &rows)]);
        let check = |tiers: Option<TierCounts>| {
            let tiers = tiers.map(|tiers| ((walk.clone(), cut), tiers)).into_iter().collect();
            let launches = vec![vec![kernel.clone()]];
            let planned = DevicePlan { processors: 132, launches, tiers, ..DevicePlan::default() };
            check_tiers(&planned, &lists)
        };
        let counted = TierCounts { pieces: 1, warps: 1, all: 3, ..TierCounts::default() };
        assert!(check(Some(counted)).is_ok());
        let error = check(None).unwrap_err();
        assert!(
            error.what.ends_with("expected tiers of 3 rows of Edges(In), found none"),
            "{error}"
        );
        for wrong in [
            TierCounts { all: 4, ..counted },
            TierCounts { warps: 4, ..counted },
            TierCounts { hubs: 2, pieces: 3, ..counted },
        ] {
            let error = check(Some(wrong)).unwrap_err();
            assert!(error.what.starts_with("tiers.arrow: expected tiers of 3 rows"), "{error}");
        }
    }

    #[test]
    fn rows_are_laid_out_piece_by_piece_as_in_one() {
        let rows: Vec<f64> = (0..35u8).map(f64::from).collect();
        for (columns, stride) in [(5, 8), (7, 7), (1, 4), (35, 36)] {
            let lying = BufferPlacement {
                place: ByteRange { offset: 0, bytes: 0 },
                side: MemorySpace::Device,
                columns,
                stride,
                element_bytes: 4,
            };
            let whole = lying.pad_rows(&rows);
            let of_rows: Vec<f64> = rows
                .chunks(columns)
                .flat_map(|row| row.iter().copied().chain(std::iter::repeat(0.0)).take(stride))
                .collect();
            assert_eq!(whole, bytemuck::cast_slice::<f64, u8>(&of_rows));
            // Pieces may end anywhere, also within a number.
            for length in [1, 3, 8, 13, 64, 1000] {
                let mut pieces = vec![7; whole.len()];
                pieces
                    .chunks_mut(length)
                    .enumerate()
                    .for_each(|(piece, to)| lying.copy_padded(&rows, piece * length, to));
                assert_eq!(pieces, whole, "{columns} columns at {stride}, pieces of {length}");
            }
        }
        let nothing = BufferPlacement {
            place: ByteRange { offset: 0, bytes: 0 },
            side: MemorySpace::Device,
            columns: 0,
            stride: 0,
            element_bytes: 4,
        };
        assert_eq!(nothing.pad_rows::<f32>(&[]), [0u8; 0]);
    }

    #[test]
    fn rows_are_laid_out_at_their_stride_and_taken_back() {
        let lying = BufferPlacement {
            place: ByteRange { offset: 0, bytes: 32 },
            side: MemorySpace::Device,
            columns: 3,
            stride: 4,
            element_bytes: 4,
        };
        let there = lying.pad_rows(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(
            bytemuck::cast_slice::<u8, f32>(&there),
            [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]
        );
        let mut back = [0.0f32; 6];
        let get = |bytes: &mut [u8]| {
            bytes.copy_from_slice(&there);
            Ok(())
        };
        lying.read_unpadded(&mut back, get).unwrap();
        assert_eq!(back, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn rows_that_stay_on_the_host_lie_there_as_on_a_device() {
        let mut all = vec![7.0f32; 16];
        let rows: Vec<f32> = (1..=6u8).map(f32::from).collect();
        for (columns, stride) in [(3, 4), (2, 2)] {
            let lying = BufferPlacement {
                place: ByteRange { offset: 16, bytes: 32 },
                side: MemorySpace::Host,
                columns,
                stride,
                element_bytes: 4,
            };
            lying.write_padded(bytemuck::cast_slice_mut(&mut all), &rows).unwrap();
            let there = lying.pad_rows(&rows);
            assert_eq!(&bytemuck::cast_slice::<f32, u8>(&all)[16..][..there.len()], &*there);
        }
        assert_eq!(
            (all[..4].to_vec(), all[12..].to_vec()),
            (vec![7.0; 4], vec![7.0; 4]),
            "nothing else is written"
        );
        let beyond = BufferPlacement {
            place: ByteRange { offset: 40, bytes: 32 },
            side: MemorySpace::Host,
            columns: 3,
            stride: 4,
            element_bytes: 4,
        };
        assert!(beyond.write_padded(bytemuck::cast_slice_mut(&mut all), &rows).is_err());
        let narrow = BufferPlacement {
            place: ByteRange { offset: 0, bytes: 16 },
            side: MemorySpace::Host,
            columns: 3,
            stride: 4,
            element_bytes: 4,
        };
        assert!(narrow.write_padded(bytemuck::cast_slice_mut(&mut all), &rows).is_err());
    }

    #[test]
    fn rows_of_an_index_are_listed_by_what_they_name() {
        assert_eq!(invert_index(&[2, 0, -1, 2, 3, i64::MAX, 2, 0], 3), [0, 2, 2, 5, 1, 7, 0, 3, 6]);
        assert_eq!(invert_index(&[], 2), [0, 0, 0]);
        assert_eq!(invert_index(&[0, 1], 0), [0]);
    }
}
