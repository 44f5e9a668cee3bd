//! external_sort: the transform for edges that exceed the memory limit: runs are sorted in memory,
//! stored in a file, and merged.
//!
//! promises  the same edges in the same order as the transform in memory, for any run size and
//!           number of threads
//! promises  at most `memory` bytes, beside the data of nodes; files are unnamed and end with the
//!           process
//! never     reads edge features: `ListedEdge` has the place of the edge that they belong to
use super::{
    Counts, Duplicates, Options, SelfLoops,
    sort::{EdgePayload, Ends, Layout, ListedEdge, SortedEdges},
};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
    fs::File,
    io::{self, BufWriter, Write},
    ops::Range,
    os::unix::fs::FileExt,
};
use warploom_formats::out_of_core::{Edge, Limit};

/// Bytes for each edge while a run is sorted, with weights and all buffers.
const SORT_BYTES: u64 = 64;
/// Least edges of a run.
const RUN_LEAST: usize = 1 << 12;
/// Least and most bytes that a merge reads from a run at once.
const READ_LEAST: usize = 1 << 12;
const READ_MOST: usize = 1 << 20;

/// A payload that can be stored beside a key.
pub trait Stored: EdgePayload {
    /// Bytes in a file.
    const BYTES: usize;
    /// Appends the bytes.
    fn store(self, out: &mut Vec<u8>);
    /// Reads them back.
    fn load(bytes: &[u8]) -> Self;
}

impl Stored for () {
    const BYTES: usize = 0;
    fn store(self, _: &mut Vec<u8>) {}
    fn load(_: &[u8]) {}
}

impl Stored for f32 {
    const BYTES: usize = 4;

    fn store(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn load(bytes: &[u8]) -> f32 {
        f32::from_le_bytes(std::array::from_fn(|at| bytes[at]))
    }
}

impl Stored for ListedEdge {
    const BYTES: usize = 8;

    fn store(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.weight.to_le_bytes());
        out.extend_from_slice(&self.at.to_le_bytes());
    }

    fn load(bytes: &[u8]) -> ListedEdge {
        let four = |first: usize| std::array::from_fn(|at| bytes[first + at]);
        ListedEdge { weight: f32::from_le_bytes(four(0)), at: u32::from_le_bytes(four(4)) }
    }
}

/// Edges in an unnamed file, as sorted runs; their reverses, if needed, are in separate runs.
pub struct Runs<C> {
    layout: Layout,
    nodes: u32,
    options: Options,
    memory: u64,
    /// Edges in a run.
    pub(super) run_edges: usize,
    pending: (Ends, Vec<C>),
    file: BufWriter<File>,
    written: u64,
    edges: Vec<Range<u64>>,
    reverses: Vec<Range<u64>>,
    listed: u64,
}

impl<C: Stored> Runs<C> {
    /// No edges yet.
    pub(crate) fn new(
        layout: Layout,
        nodes: u32,
        options: Options,
        limit: &Limit,
    ) -> io::Result<Runs<C>> {
        let run_edges =
            usize::try_from(limit.memory / 8 * 3 / SORT_BYTES).unwrap_or(usize::MAX).max(RUN_LEAST);
        let file = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(&limit.folder)?);
        let pending = (Ends::default(), Vec::new());
        Ok(Runs {
            layout,
            nodes,
            options,
            memory: limit.memory,
            run_edges,
            pending,
            file,
            written: 0,
            edges: Vec::new(),
            reverses: Vec::new(),
            listed: 0,
        })
    }

    /// Appends an edge; its weight is in `carried`.
    pub fn push(&mut self, edge: Edge, carried: C) -> io::Result<()> {
        let (ends, list) = &mut self.pending;
        ends.source.push(edge.source);
        ends.target.push(edge.target);
        if self.layout.has_relations() {
            ends.relation.get_or_insert_default().push(edge.relation);
        }
        list.push(carried);
        self.listed += 1;
        if list.len() == self.run_edges { self.flush() } else { Ok(()) }
    }

    /// Sorts pending edges into a run.
    fn flush(&mut self) -> io::Result<()> {
        let (ends, carried) = std::mem::take(&mut self.pending);
        if self.options.symmetrize {
            let reverse = Ends {
                source: ends.target.clone(),
                target: ends.source.clone(),
                relation: ends.relation.clone(),
            };
            let run = self.write(&SortedEdges::new(
                reverse,
                carried.clone(),
                self.layout,
                self.nodes,
                &|_| {},
            ))?;
            self.reverses.push(run);
        }
        let run = self.write(&SortedEdges::new(ends, carried, self.layout, self.nodes, &|_| {}))?;
        self.edges.push(run);
        Ok(())
    }

    fn write(&mut self, sorted: &SortedEdges<C>) -> io::Result<Range<u64>> {
        let start = self.written;
        let mut bytes = Vec::with_capacity(1 << 16);
        for (key, carried) in sorted.keys.iter().zip(&sorted.carried) {
            bytes.extend_from_slice(&key.to_le_bytes());
            carried.store(&mut bytes);
            if bytes.len() > (1 << 16) - 16 {
                self.file.write_all(&bytes)?;
                self.written += bytes.len() as u64;
                bytes.clear();
            }
        }
        self.file.write_all(&bytes)?;
        self.written += bytes.len() as u64;
        Ok(start..self.written)
    }

    /// Merges all runs, applies the options, and emits the edges in order: source, target, relation
    /// and payload.
    pub fn merge<E: From<io::Error>>(
        mut self,
        mut emit: impl FnMut(u32, u32, u16, C) -> Result<(), E>,
    ) -> Result<Counts, E> {
        if !self.pending.1.is_empty() {
            self.flush()?;
        }
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let runs = (self.edges.len() + self.reverses.len()).max(1);
        let buffer = usize::try_from(self.memory / 8).unwrap_or(usize::MAX) / runs;
        let buffer = buffer.clamp(READ_LEAST, READ_MOST) / (8 + C::BYTES) * (8 + C::BYTES);
        let mut edges = Merge::<C>::new(&file, &self.edges, buffer)?;
        let mut reverses = if self.options.symmetrize {
            Some(Merge::<C>::new(&file, &self.reverses, buffer)?)
        } else {
            None
        };
        let layout = self.layout;
        let mut steps = Steps {
            layout,
            nodes: self.nodes,
            options: self.options,
            next_loop: 0,
            emit: |key, carried| {
                emit(layout.source(key), layout.target(key), layout.relation(key), carried)
            },
        };
        let mut counts = Counts { listed: self.listed, ..Counts::default() };
        let (mut own, mut other, mut symmetric) = (Vec::new(), Vec::new(), 0);
        loop {
            let next =
                [edges.peek(), reverses.as_ref().and_then(Merge::peek)].into_iter().flatten().min();
            let Some(key) = next else { break };
            edges.take(key, &mut own)?;
            if let Some(reverses) = &mut reverses {
                reverses.take(key, &mut other)?;
            }
            counts.distinct += u64::from(!own.is_empty());
            counts.loops += u64::from(!own.is_empty() && layout.is_loop(key));
            symmetric += 1;
            // The first reverses match listed edges.
            let known = own.len().min(other.len());
            own.extend(other.drain(..).skip(known));
            steps.write_key(key, &own)?;
            own.clear();
        }
        counts.symmetric = self.options.symmetrize.then_some(symmetric);
        steps.finish()?;
        Ok(counts)
    }
}

/// Applies the options to the edges of one key.
struct Steps<F> {
    layout: Layout,
    nodes: u32,
    options: Options,
    /// The next node that may need a self loop.
    next_loop: u32,
    emit: F,
}

impl<F> Steps<F> {
    fn adds_loops(&self) -> bool {
        matches!(self.options.self_loops, SelfLoops::Add | SelfLoops::Replace)
    }

    fn write_key<C: Stored, E>(&mut self, key: u64, same: &[C]) -> Result<(), E>
    where
        F: FnMut(u64, C) -> Result<(), E>,
    {
        if self.layout.is_loop(key)
            && matches!(self.options.self_loops, SelfLoops::Drop | SelfLoops::Replace)
        {
            return Ok(());
        }
        if self.adds_loops() {
            self.add_loops_before(key)?;
            if self.layout.is_loop(key) {
                self.next_loop = self.layout.source(key) + 1;
            }
        }
        if self.options.duplicates == Duplicates::Keep {
            return same.iter().try_for_each(|&carried| (self.emit)(key, carried));
        }
        (self.emit)(key, C::join(same, self.options.duplicates))
    }

    fn add_loops_before<C: Stored, E>(&mut self, key: u64) -> Result<(), E>
    where
        F: FnMut(u64, C) -> Result<(), E>,
    {
        while self.next_loop < self.nodes
            && self.layout.key(self.next_loop, self.next_loop, 0) < key
        {
            (self.emit)(self.layout.key(self.next_loop, self.next_loop, 0), C::ADDED)?;
            self.next_loop += 1;
        }
        Ok(())
    }

    fn finish<C: Stored, E>(&mut self) -> Result<(), E>
    where
        F: FnMut(u64, C) -> Result<(), E>,
    {
        while self.adds_loops() && self.next_loop < self.nodes {
            (self.emit)(self.layout.key(self.next_loop, self.next_loop, 0), C::ADDED)?;
            self.next_loop += 1;
        }
        Ok(())
    }
}

/// Runs merged by key; equal keys in the order of the runs.
struct Merge<'a, C> {
    file: &'a File,
    runs: Vec<Run<C>>,
    /// The next key of each run that has one.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

/// A run of the file while it is read.
struct Run<C> {
    left: Range<u64>,
    buffer: Vec<u8>,
    at: usize,
    most: usize,
    carried: C,
}

impl<'a, C: Stored> Merge<'a, C> {
    fn new(file: &'a File, runs: &[Range<u64>], buffer: usize) -> io::Result<Self> {
        let run = |left: &Range<u64>| Run {
            left: left.clone(),
            buffer: Vec::new(),
            at: 0,
            most: buffer,
            carried: C::default(),
        };
        let mut merge = Merge {
            file,
            runs: runs.iter().map(run).collect(),
            heap: BinaryHeap::with_capacity(runs.len()),
        };
        for index in 0..merge.runs.len() {
            if let Some(key) = merge.runs[index].next(file)? {
                merge.heap.push(Reverse((key, index)));
            }
        }
        Ok(merge)
    }

    fn peek(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((key, _))| *key)
    }

    /// Appends the payloads of all edges with this key.
    fn take(&mut self, key: u64, out: &mut Vec<C>) -> io::Result<()> {
        while let Some(mut top) = self.heap.peek_mut() {
            let Reverse((found, index)) = *top;
            if found != key {
                break;
            }
            let run = &mut self.runs[index];
            out.push(run.carried);
            match run.next(self.file)? {
                Some(next) => *top = Reverse((next, index)),
                None => {
                    PeekMut::pop(top);
                }
            }
        }
        Ok(())
    }
}

impl<C: Stored> Run<C> {
    /// The next key; its payload is in `carried`.
    fn next(&mut self, file: &File) -> io::Result<Option<u64>> {
        let width = 8 + C::BYTES;
        if self.at == self.buffer.len() {
            let length = (self.left.end - self.left.start).min(self.most as u64) as usize;
            if length == 0 {
                return Ok(None);
            }
            self.buffer.resize(length, 0);
            file.read_exact_at(&mut self.buffer, self.left.start)?;
            self.left.start += length as u64;
            self.at = 0;
        }
        let record = &self.buffer[self.at..self.at + width];
        self.at += width;
        self.carried = C::load(&record[8..]);
        Ok(Some(u64::from_le_bytes(std::array::from_fn(|at| record[at]))))
    }
}
