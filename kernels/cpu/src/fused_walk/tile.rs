//! tile: a bounded number of edges of consecutive vertices, processed at once.
use std::ops::Range;

use warploom_ir::Direction;

use crate::evaluate::{EdgeGraph, EdgeList};

/// Edges in the order of their vertices, within a vertex in the order of edge ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Tile {
    /// The edge row of each.
    pub rows: Vec<u32>,
    /// The vertex at the far end of each.
    pub far: Vec<u32>,
    /// The vertex that owns each, relative to the first of the block.
    pub near: Vec<u32>,
    /// Where the edges of each vertex start, from `first` on; one more than there are vertices.
    pub starts: Vec<u32>,
    /// The first vertex that has edges here, relative to the first of the block.
    pub first: usize,
}

/// What a kernel reads of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Maximum number of edges.
    pub edges: usize,
    /// Whether it reads edge rows.
    pub rows: bool,
    /// Whether it reads rows of the vertices that own the edges.
    pub near: bool,
}

/// The position of a walk within a block.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    /// The next vertex, relative to the first of the block.
    row: usize,
    /// How many of its edges were visited.
    done: usize,
    /// The slots that are visited; all, where both directions are walked.
    slots: Range<u64>,
}

impl Cursor {
    /// Before the first edge of these slots.
    pub fn new(slots: Range<u64>) -> Self {
        Cursor { row: 0, done: 0, slots }
    }

    /// The slots of a vertex that are visited.
    fn slots_of(&self, list: &EdgeList, vertex: usize) -> Range<usize> {
        let (from, to) = (list.offsets[vertex], list.offsets[vertex + 1]);
        from.max(self.slots.start) as usize..to.min(self.slots.end) as usize
    }
}

/// The edge lists of a walk: one, or in-edges and then out-edges.
pub(super) struct WalkLists<'a> {
    lists: Vec<(EdgeList<'a>, usize)>,
}

impl<'a> WalkLists<'a> {
    pub fn new(graph: &EdgeGraph<'a>, direction: Direction) -> Self {
        let loaded = "the lists that are walked were made";
        let incoming = || (graph.incoming.expect(loaded), 0);
        let outgoing = |first: usize| (graph.outgoing.expect(loaded), first);
        let lists = match direction {
            Direction::In => vec![incoming()],
            Direction::Out => vec![outgoing(0)],
            Direction::Both => vec![incoming(), outgoing(graph.edge_count)],
        };
        WalkLists { lists }
    }
}

impl<'a> WalkLists<'a> {
    /// Each list, and the row of its edge 0 among rows of edges.
    pub fn numbered(&self) -> &[(EdgeList<'a>, usize)] {
        &self.lists
    }
}

impl Tile {
    /// Fills the tile with the next edges of a block of rows; false if none are left. Vertices
    /// without edges have a start too.
    pub fn next(
        &mut self,
        lists: &WalkLists,
        first_row: usize,
        rows: usize,
        cursor: &mut Cursor,
        wanted: Wanted,
    ) -> bool {
        if cursor.row >= rows {
            return false;
        }
        self.rows.clear();
        self.far.clear();
        self.near.clear();
        self.starts.clear();
        self.first = cursor.row;
        match lists.lists.as_slice() {
            [(list, _)] => self.fill_one_list(list, first_row, rows, cursor, wanted),
            _ => self.fill_both_lists(lists, first_row, rows, cursor, wanted),
        }
        true
    }

    /// Within one list the edges of consecutive vertices are contiguous.
    fn fill_one_list(
        &mut self,
        list: &EdgeList,
        first_row: usize,
        rows: usize,
        cursor: &mut Cursor,
        wanted: Wanted,
    ) {
        let begin = cursor.slots_of(list, first_row + cursor.row).start + cursor.done;
        let last = begin + wanted.edges;
        let mut end = begin;
        while cursor.row < rows && end < last {
            self.starts.push((end - begin) as u32);
            let slots = cursor.slots_of(list, first_row + cursor.row);
            let until = slots.end;
            let taken = until.min(last);
            if wanted.near {
                self.near.resize(taken - begin, cursor.row as u32);
            }
            end = taken;
            if taken < until {
                cursor.done = end - slots.start;
                break;
            }
            (cursor.row, cursor.done) = (cursor.row + 1, 0);
        }
        self.starts.push((end - begin) as u32);
        self.far.extend_from_slice(&list.far[begin..end]);
        if wanted.rows {
            self.rows.extend_from_slice(&list.edges[begin..end]);
        }
    }

    fn fill_both_lists(
        &mut self,
        lists: &WalkLists,
        first_row: usize,
        rows: usize,
        cursor: &mut Cursor,
        wanted: Wanted,
    ) {
        while cursor.row < rows && self.far.len() < wanted.edges {
            self.starts.push(self.far.len() as u32);
            let (vertex, mut skip, mut whole) = (first_row + cursor.row, cursor.done, true);
            for (list, first) in &lists.lists {
                let entries = list.offsets[vertex] as usize..list.offsets[vertex + 1] as usize;
                let (start, room) =
                    (entries.start + skip.min(entries.len()), wanted.edges - self.far.len());
                skip = skip.saturating_sub(entries.len());
                let end = entries.end.min(start + room);
                whole &= end == entries.end;
                self.far.extend_from_slice(&list.far[start..end]);
                if wanted.rows {
                    self.rows
                        .extend(list.edges[start..end].iter().map(|edge| edge + *first as u32));
                }
                cursor.done += end - start;
            }
            self.near.resize(self.far.len(), cursor.row as u32);
            if !whole {
                break;
            }
            (cursor.row, cursor.done) = (cursor.row + 1, 0);
        }
        self.starts.push(self.far.len() as u32);
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.far.len()
    }
}
