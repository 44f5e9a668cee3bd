//! row_lists: the edges of rows as executors read them: rows in the order of their numbers (CPU),
//! and rows with most edges first (GPU), mapped tables of scheme `rows`; rows whose edges ascend by
//! far end, which kernels search, mapped tables of scheme `ascending-edges` (`*_ascending_offsets`:
//! where those of each row start, and their number; `*_ascending_edges`: far ends and ids).
//!
//! promises  what `check_bounds` passed stays within nodes and edges
//! never     copies, but rows of a GPU that a host walks after all (`WalkedRows::by_number`)
//! limits    ids of edges have 32 bits: readers refuse graphs of more edges before
use std::path::PathBuf;

use rayon::prelude::*;

use super::{
    super::expect_length, ASCENDING_FILES, EDGES_FILES, RowUnits, SORTED_ABOVE,
    SORTED_ABOVE_OF_BOTH, UNITS_FILES, WALK_FILES, Width, tables,
};
use crate::{
    Artifact, StageError,
    arrow_file::{View, open_numbers},
};

/// Numbers that one task looks at.
const TASK_NUMBERS: usize = 1 << 16;

/// A direction that tables are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In-edges.
    In,
    /// Out-edges.
    Out,
    /// In-edges of a row, then its out-edges, whose ids follow those of all in-edges.
    Both,
}

impl Side {
    /// All of them, in the order of the tables.
    pub const ALL: [Side; 3] = [Side::In, Side::Out, Side::Both];

    /// How many edges the tables have, of a graph of so many.
    pub fn edges(self, edges: u64) -> u64 {
        if self == Side::Both { edges.saturating_mul(2) } else { edges }
    }

    /// As names of tables begin.
    pub fn name(self) -> &'static str {
        match self {
            Side::In => "in",
            Side::Out => "out",
            Side::Both => "both",
        }
    }

    /// File of a table.
    fn file(self, table: &str) -> String {
        tables::table_file(&format!("{}_{table}", self.name()))
    }
}

/// Edges row after row, those of a row by id, mapped.
#[derive(Clone, Debug)]
pub struct RowEdges {
    /// The other end of each edge.
    pub far: View<u32>,
    /// Id of each edge, where launches read any: 32 bits, so that programs which do are refused on
    /// graphs of more edges.
    pub edge: Option<View<u32>>,
    /// The file that they are in, for messages.
    pub path: PathBuf,
}

impl RowEdges {
    /// Checks that far ends and ids are below so many nodes and edges, of which each has an entry.
    pub fn check_bounds(&self, nodes: usize, edges: usize) -> Result<(), StageError> {
        let ids = self.edge.as_ref().map(|ids| ("edge", ids, edges));
        for (column, numbers, limit) in [("far", &self.far, nodes)].into_iter().chain(ids) {
            expect_length(&self.path, "rows", edges as u64, numbers.len() as u64)?;
            let beyond = numbers
                .par_chunks(TASK_NUMBERS)
                .position_first(|some| some.iter().any(|&number| number as usize >= limit));
            if let Some(task) = beyond {
                let first = task * TASK_NUMBERS;
                let some = &numbers[first..];
                let place = some.iter().position(|&number| number as usize >= limit).unwrap_or(0);
                let (row, found) = (first + place, some[place]);
                let what = format!(
                    "row {row}, column `{column}`: expected less than {limit}, found {found}"
                );
                return Err(StageError::damaged(&self.path, what));
            }
        }
        Ok(())
    }
}

/// Rows of one direction in the order in which a GPU takes them, mapped.
#[derive(Clone, Debug)]
pub struct WalkedRows {
    /// The rows.
    pub rows: View<u32>,
    /// Where the edges of each start, and their number.
    pub offsets: View<u32>,
    /// Their edges.
    pub edges: RowEdges,
}

impl WalkedRows {
    /// Where the edges of each row start, by the numbers of the rows, and these edges.
    pub fn by_number(&self) -> (Vec<u64>, RowEdges) {
        let mut slots = vec![0..0; self.rows.len()];
        for (&row, pair) in self.rows.iter().zip(self.offsets.windows(2)) {
            slots[row as usize] = pair[0] as usize..pair[1] as usize;
        }
        let in_order = |numbers: &View<u32>| -> View<u32> {
            slots.iter().flat_map(|slots| &numbers[slots.clone()]).copied().collect()
        };
        let mut offsets = vec![0];
        offsets.extend(slots.iter().scan(0, |end, slots| {
            *end += slots.len() as u64;
            Some(*end)
        }));
        let edges = RowEdges {
            far: in_order(&self.edges.far),
            edge: self.edges.edge.as_ref().map(&in_order),
            path: self.edges.path.clone(),
        };
        (offsets, edges)
    }

    /// In-edges, or out-edges, of a walk over both directions of a graph of so many edges.
    pub fn one_direction(&self, side: Side, edges: u32) -> WalkedRows {
        let shift = if side == Side::Out { edges } else { 0 };
        let ids = self.edges.edge.as_deref().unwrap_or(&[]);
        let (mut offsets, mut far, mut edge) = (vec![0], Vec::new(), Vec::new());
        for pair in self.offsets.windows(2) {
            for slot in pair[0] as usize..pair[1] as usize {
                let id = ids.get(slot).map_or(0, |id| *id);
                if (id >= edges) == (side == Side::Out) {
                    far.push(self.edges.far[slot]);
                    edge.push(id - shift);
                }
            }
            offsets.push(far.len() as u32);
        }
        let (far, edge, path) = (far.into(), Some(edge.into()), self.edges.path.clone());
        let edges = RowEdges { far, edge, path };
        WalkedRows { rows: self.rows.clone(), offsets: offsets.into(), edges }
    }

    /// Checks that rows, offsets, ends and ids are within a graph of so many nodes and edges.
    pub fn check_bounds(&self, nodes: usize, edges: usize) -> Result<(), StageError> {
        self.check_entries(nodes, nodes, edges)
    }

    /// Checks that so many rows, far ends and entries are what it has.
    pub fn check_entries(&self, nodes: usize, far: usize, edges: usize) -> Result<(), StageError> {
        self.edges.check_bounds(far, edges)?;
        let damaged = |what: &str| Err(StageError::damaged(&self.edges.path, what));
        if self.rows.len() != nodes || self.rows.par_iter().any(|&row| row as usize >= nodes) {
            return damaged("the rows of the walk are not those of the graph");
        }
        if !are_offsets(&self.offsets, nodes, edges) {
            return damaged("the offsets of the walk do not ascend from 0 to the number of edges");
        }
        Ok(())
    }
}

/// Whether numbers say where the edges of so many rows start, and end with their number.
fn are_offsets(offsets: &[u32], rows: usize, edges: usize) -> bool {
    let ends = (offsets.first(), offsets.last().map(|&end| end as usize));
    offsets.len() == rows + 1
        && ends == (Some(&0), Some(edges))
        && offsets.par_windows(2).all(|pair| pair[0] <= pair[1])
}

/// Rows of one direction by number, the edges of each by far end, mapped.
#[derive(Clone, Debug)]
pub struct AscendingRows {
    /// Where the edges of each row start, and their number.
    pub offsets: View<u32>,
    /// Their edges.
    pub edges: RowEdges,
}

impl AscendingRows {
    /// Checks that offsets, ends and ids are within a graph of so many nodes and edges.
    fn check_bounds(&self, nodes: usize, edges: usize) -> Result<(), StageError> {
        self.edges.check_bounds(nodes, edges)?;
        if are_offsets(&self.offsets, nodes, edges) {
            return Ok(());
        }
        let what = format!("the offsets of the rows do not ascend from 0 to {edges}");
        Err(StageError::damaged(&self.edges.path, what))
    }
}

/// What executors walk. Lists that no launch walks are absent.
#[derive(Clone, Debug)]
pub struct RowLists {
    /// Units of work of a CPU.
    pub units: RowUnits,
    /// In-edges of each row.
    pub incoming: Option<RowEdges>,
    /// Out-edges of each row.
    pub outgoing: Option<RowEdges>,
    /// In-edges in the order of a GPU.
    pub walked_in: Option<WalkedRows>,
    /// Out-edges in the order of a GPU.
    pub walked_out: Option<WalkedRows>,
    /// Edges of both directions together in the order of a GPU.
    pub walked_both: Option<WalkedRows>,
    /// In-edges and out-edges by far end.
    pub ascending: [Option<AscendingRows>; 2],
}

/// Which of these launches walk, for in-edges, out-edges and, on a GPU, both together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowListNeeds {
    /// Rows in the order of a GPU.
    pub walked: [bool; 3],
    /// Rows in the order of their numbers, which the host reads, and checks as it reads: they are
    /// mapped without a look at the numbers.
    pub by_host: [bool; 2],
    /// Whether the host reads their ids of edges too.
    pub ids_by_host: bool,
    /// Units of work of a CPU.
    pub units: [bool; 2],
    /// Rows whose edges ascend by far end.
    pub ascending: [bool; 2],
    /// Whether their ids of edges are read too.
    pub ascending_ids: [bool; 2],
}

impl RowListNeeds {
    /// The files that `open_row_lists` opens.
    pub fn files(self) -> Vec<&'static str> {
        let chosen = |files: [&'static str; 2], needs: [bool; 2]| {
            files.into_iter().zip(needs).filter(|(_, is_needed)| *is_needed).map(|(file, _)| file)
        };
        let walked = WALK_FILES.into_iter().zip(self.walked).filter(|(_, is_needed)| *is_needed);
        let ascending = ASCENDING_FILES.into_iter().zip(self.ascending);
        chosen(UNITS_FILES, self.units)
            .chain(chosen(EDGES_FILES, self.by_host))
            .chain(walked.flat_map(|(files, _)| files))
            .chain(ascending.filter(|(_, is_needed)| *is_needed).flat_map(|(files, _)| files))
            .collect()
    }
}

impl RowLists {
    /// Checks that rows in the order of their numbers are within a graph of so many nodes and
    /// edges.
    pub fn check_bounds(&self, nodes: usize, edges: usize) -> Result<(), StageError> {
        let mut lists = self.incoming.iter().chain(&self.outgoing);
        lists.try_for_each(|lists| lists.check_bounds(nodes, edges))
    }
}

/// Maps what is needed of a graph of so many nodes and edges, and checks that it is within it.
pub fn open_row_lists(
    artifact: &Artifact,
    needs: RowListNeeds,
    nodes: usize,
    edges: usize,
) -> Result<RowLists, StageError> {
    let by_number = |is_needed: bool, side: Side| {
        is_needed.then(|| open_row_edges(artifact, side, needs.ids_by_host)).transpose()
    };
    let walked = |is_needed: bool, side: Side| {
        let lists = is_needed.then(|| open_walked_rows(artifact, side)).transpose()?;
        let edges = side.edges(edges as u64) as usize;
        lists.iter().try_for_each(|lists| lists.check_bounds(nodes, edges))?;
        Ok::<_, StageError>(lists)
    };
    let ascending = |place: usize, side: Side| {
        let open = || open_ascending_rows(artifact, side, needs.ascending_ids[place]);
        let lists = needs.ascending[place].then(open).transpose()?;
        lists.iter().try_for_each(|lists| lists.check_bounds(nodes, edges))?;
        Ok::<_, StageError>(lists)
    };
    Ok(RowLists {
        units: super::open_rows(artifact, needs.units)?,
        incoming: by_number(needs.by_host[0], Side::In)?,
        outgoing: by_number(needs.by_host[1], Side::Out)?,
        walked_in: walked(needs.walked[0], Side::In)?,
        walked_out: walked(needs.walked[1], Side::Out)?,
        walked_both: walked(needs.walked[2], Side::Both)?,
        ascending: [ascending(0, Side::In)?, ascending(1, Side::Out)?],
    })
}

/// The degrees of rows in the order of a GPU.
#[derive(Clone, Debug)]
pub struct WalkOffsets {
    /// Where the edges of each row start, and their number.
    pub offsets: View<u32>,
    /// Rows of more edges come first, those with most edges first.
    pub sorted_above: u32,
}

/// Maps where the edges of each row start in the order of a GPU; none where the partition has no
/// such table, or its offsets have 64 bits.
pub fn open_walk_offsets(
    artifact: &Artifact,
    side: Side,
) -> Result<Option<WalkOffsets>, StageError> {
    if Width::from_largest(side.edges(artifact.count("edges")?)) != Width::U32 {
        return Ok(None);
    }
    let above = match side {
        Side::Both => artifact.find_count(SORTED_ABOVE_OF_BOTH),
        Side::In | Side::Out => Some(artifact.count(SORTED_ABOVE)?),
    };
    let Some(above) = above else { return Ok(None) };
    let sorted_above = u32::try_from(above).unwrap_or(u32::MAX);
    Ok(Some(WalkOffsets { offsets: open_offsets(artifact, side)?, sorted_above }))
}

fn open_offsets(artifact: &Artifact, side: Side) -> Result<View<u32>, StageError> {
    open_column(artifact, side, "walk_offsets")
}

/// Maps a table of one column.
fn open_column(artifact: &Artifact, side: Side, table: &str) -> Result<View<u32>, StageError> {
    open_numbers(&artifact.file(&side.file(table)), &format!("{}_{table}", side.name()))
}

/// Whether a partition has the edges of rows by far end, as numbers of 32 bits.
pub fn has_ascending_rows(artifact: &Artifact) -> Result<bool, StageError> {
    let is_narrow = Width::from_largest(artifact.count("edges")?) == Width::U32;
    Ok(is_narrow && ASCENDING_FILES.iter().all(|[offsets, _]| artifact.has(offsets)))
}

/// Maps the edges of each row of a direction.
fn open_row_edges(artifact: &Artifact, side: Side, with_ids: bool) -> Result<RowEdges, StageError> {
    open_edges(artifact.file(&side.file("edges")), with_ids)
}

fn open_edges(path: PathBuf, with_ids: bool) -> Result<RowEdges, StageError> {
    let edge = with_ids.then(|| open_numbers(&path, "edge")).transpose()?;
    Ok(RowEdges { far: open_numbers(&path, "far")?, edge, path })
}

/// Maps the rows of a direction in the order in which a GPU takes them.
fn open_walked_rows(artifact: &Artifact, side: Side) -> Result<WalkedRows, StageError> {
    Ok(WalkedRows {
        rows: open_column(artifact, side, "walk_rows")?,
        offsets: open_offsets(artifact, side)?,
        edges: open_edges(artifact.file(&side.file("walk_edges")), true)?,
    })
}

/// Maps the rows of a direction whose edges ascend by far end.
fn open_ascending_rows(
    artifact: &Artifact,
    side: Side,
    with_ids: bool,
) -> Result<AscendingRows, StageError> {
    Ok(AscendingRows {
        offsets: open_column(artifact, side, "ascending_offsets")?,
        edges: open_edges(artifact.file(&side.file("ascending_edges")), with_ids)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_gpu_go_back_to_the_order_of_their_numbers() {
        let walked = WalkedRows {
            rows: vec![2, 0, 1].into(),
            offsets: vec![0, 3, 4, 4].into(),
            edges: RowEdges {
                far: vec![0, 1, 2, 2].into(),
                edge: Some(vec![1, 2, 3, 0].into()),
                path: PathBuf::new(),
            },
        };
        let (offsets, RowEdges { far, edge, .. }) = walked.by_number();
        assert_eq!(offsets, [0, 1, 1, 4]);
        assert_eq!((&*far, &*edge.unwrap()), (&[2, 0, 1, 2][..], &[0, 1, 2, 3][..]));
    }

    #[test]
    fn both_directions_come_apart() {
        // The edges 0: 0 to 2, 1: 1 to 2, 2: 2 to 0.
        let both = WalkedRows {
            rows: vec![2, 0, 1].into(),
            offsets: vec![0, 3, 5, 6].into(),
            edges: RowEdges {
                far: vec![0, 1, 0, 2, 2, 2].into(),
                edge: Some(vec![0, 1, 5, 2, 3, 4].into()),
                path: PathBuf::new(),
            },
        };
        let apart = |side: Side| {
            let (offsets, RowEdges { far, edge, .. }) = both.one_direction(side, 3).by_number();
            (offsets, far.to_vec(), edge.unwrap().to_vec())
        };
        assert_eq!(apart(Side::In), (vec![0, 1, 1, 3], vec![2, 0, 1], vec![2, 0, 1]));
        assert_eq!(apart(Side::Out), (vec![0, 1, 2, 3], vec![2, 2, 0], vec![0, 1, 2]));
    }
}
