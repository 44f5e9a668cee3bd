//! walked_lists: the edges of each row as executors walk them: rows in the order of their numbers
//! (CPU), and rows with most edges first (GPU), also those of both directions together.
//!
//! promises  the edges of a row ascend by edge id, so that sums do not depend on the order of the
//!           nodes; of both directions in-edges come first, and ids of out-edges follow those of
//!           all in-edges; rows of more than `sorted_above` edges come first, those with most edges
//!           first; the others stand in windows of consecutive rows, inside which those with most
//!           edges come first; rows of equal degree ascend
//! never     depends on a program, a device or the number of threads
//! limits    memory: the tables, and 16 bytes for each row
use rayon::prelude::*;
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Column, Table, TableFacts, Tables, Width},
    },
    mapped_file::zeros,
    row_order::WalkOrder,
};

use crate::{
    check::{check_rows_once, expect_equal},
    directions::{Side, both_sides},
};

/// Tables over both directions together, and the order of their rows.
const BOTH: [&str; 3] = ["both_walk_rows", "both_walk_offsets", "both_walk_edges"];

/// Rows that one task copies.
const TASK_ROWS: usize = 1 << 12;

/// The sizes of the tables of one direction.
pub fn outline(side: Side<'_>) -> [TableFacts; 4] {
    let slots = Width::from_largest(side.edges());
    let edges = [("far", Width::U32), ("edge", slots)];
    [
        TableFacts::new(side.table_name("edges"), side.edges(), &edges),
        TableFacts::single(side.table_name("walk_rows"), side.nodes(), Width::U32),
        TableFacts::single(side.table_name("walk_offsets"), side.nodes() + 1, slots),
        TableFacts::new(side.table_name("walk_edges"), side.edges(), &edges),
    ]
}

/// The order of walks over both directions together.
pub fn order_of_both(csr: &Csr) -> WalkOrder {
    WalkOrder::choose(csr.nodes(), 2 * csr.edges() as u64)
}

/// The sizes of the tables over both directions together.
pub fn outline_both(csr: &Csr) -> [TableFacts; 3] {
    let (nodes, edges) = (csr.nodes() as u64, 2 * csr.edges() as u64);
    let (slots, [rows, offsets, walk_edges]) = (Width::from_largest(edges), BOTH);
    [
        TableFacts::single(rows, nodes, Width::U32),
        TableFacts::single(offsets, nodes + 1, slots),
        TableFacts::new(walk_edges, edges, &[("far", Width::U32), ("edge", slots)]),
    ]
}

/// Builds the tables over both directions together.
pub fn build_both(csr: &Csr, order: WalkOrder) -> [Table; 3] {
    let sides = both_sides(csr);
    let degree = |row: u32| sides.iter().map(|side| side.rows.degree(row as usize)).sum();
    let walked_rows = order.sort(csr.nodes(), degree);
    let offsets = offsets_of(&walked_rows, degree);
    let [rows, walk_offsets, walk_edges] = BOTH;
    let edges = |far: Vec<u32>, edge: Cells| {
        Table::new(walk_edges, vec![("far", Cells::U32(far)), ("edge", edge)])
    };
    let (edges, offsets) = if Width::from_largest(2 * csr.edges() as u64) == Width::U32 {
        let listed = Listed::of_both(sides, &walked_rows, &offsets, |edge| edge as u32);
        (edges(listed.far, Cells::U32(listed.edge)), narrow_offsets(&offsets))
    } else {
        let listed = Listed::of_both(sides, &walked_rows, &offsets, |edge| edge);
        (edges(listed.far, Cells::U64(listed.edge)), Cells::U64(offsets))
    };
    let single = |name: &str, cells: Cells| Table::single(name, cells);
    [single(rows, Cells::U32(walked_rows)), single(walk_offsets, offsets), edges]
}

/// Builds the tables of one direction.
pub fn build(side: Side<'_>, order: WalkOrder) -> Vec<Table> {
    let degree = |row: u32| side.rows.degree(row as usize);
    let rows = order.sort(side.rows.len(), degree);
    let offsets = offsets_of(&rows, degree);
    let table = |name: &str, far: Vec<u32>, edge: Cells| {
        Table::new(side.table_name(name), vec![("far", Cells::U32(far)), ("edge", edge)])
    };
    let (edges, walk_edges, walk_offsets);
    if Width::from_largest(side.edges()) == Width::U32 {
        let listed = Listed::by_number(side, EdgeOrder::Id, |edge| edge as u32);
        let walked = listed.in_order(side.rows.offsets, &rows, &offsets);
        edges = table("edges", listed.far, Cells::U32(listed.edge));
        walk_edges = table("walk_edges", walked.far, Cells::U32(walked.edge));
        walk_offsets = narrow_offsets(&offsets);
    } else {
        let listed = Listed::by_number(side, EdgeOrder::Id, |edge| edge);
        let walked = listed.in_order(side.rows.offsets, &rows, &offsets);
        edges = table("edges", listed.far, Cells::U64(listed.edge));
        walk_edges = table("walk_edges", walked.far, Cells::U64(walked.edge));
        walk_offsets = Cells::U64(offsets);
    }
    vec![
        edges,
        Table::single(side.table_name("walk_rows"), Cells::U32(rows)),
        Table::single(side.table_name("walk_offsets"), walk_offsets),
        walk_edges,
    ]
}

/// The table with this name of the edges of each row in this order, rows by their numbers.
pub fn list_edges(side: Side<'_>, name: &str, order: EdgeOrder) -> Table {
    let (far, edge) = if Width::from_largest(side.edges()) == Width::U32 {
        let listed = Listed::by_number(side, order, |edge| edge as u32);
        (listed.far, Cells::U32(listed.edge))
    } else {
        let listed = Listed::by_number(side, order, |edge| edge);
        (listed.far, Cells::U64(listed.edge))
    };
    Table::new(side.table_name(name), vec![("far", Cells::U32(far)), ("edge", edge)])
}

/// Where the edges of each of these rows start, and the end.
pub fn offsets_of(rows: &[u32], degree: impl Fn(u32) -> u64) -> Vec<u64> {
    let mut end = 0;
    let ends = rows.iter().map(|&row| {
        end += degree(row);
        end
    });
    std::iter::once(0).chain(ends).collect()
}

fn narrow_offsets(offsets: &[u64]) -> Cells {
    Cells::U32(offsets.iter().map(|&offset| offset as u32).collect())
}

/// What the edges of a row ascend by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeOrder {
    /// Their ids.
    Id,
    /// Their far ends, those of equal ends their ids.
    FarEnd,
}

impl EdgeOrder {
    /// What is compared of the id and the far end of an edge.
    fn key<E: Copy + Into<u64>>(self, id: E, far: u32) -> (u64, u64) {
        match self {
            EdgeOrder::Id => (id.into(), u64::from(far)),
            EdgeOrder::FarEnd => (u64::from(far), id.into()),
        }
    }
}

/// Far ends and edge ids, row after row.
struct Listed<E> {
    far: Vec<u32>,
    edge: Vec<E>,
}

impl<E: Copy + Default + Into<u64> + Send + Sync> Listed<E> {
    /// The edges of each row in this order, rows by their numbers.
    fn by_number(side: Side<'_>, order: EdgeOrder, narrow: impl Fn(u64) -> E + Sync) -> Self {
        let offsets = side.rows.offsets;
        let mut listed = Listed::zeros(side.edges() as usize);
        listed.fill(
            side.rows.len(),
            |row| offsets[row],
            |rows, from, far, edge| {
                let mut sorted: Vec<(E, u32)> = Vec::new();
                for row in rows {
                    sort_row(side, row, order, &mut sorted, &narrow);
                    let at = offsets[row] as usize - from;
                    for (place, &(id, end)) in (at..).zip(&sorted) {
                        (far[place], edge[place]) = (end, id);
                    }
                }
            },
        );
        listed
    }

    /// The edges of both directions, rows in this order: in-edges of a row by id, then its
    /// out-edges, whose ids follow those of all in-edges.
    fn of_both(
        sides: [Side<'_>; 2],
        order: &[u32],
        walk_offsets: &[u64],
        narrow: impl Fn(u64) -> E + Sync,
    ) -> Self {
        let in_edges = sides[0].edges();
        let mut walked = Listed::zeros(2 * in_edges as usize);
        walked.fill(
            order.len(),
            |item| walk_offsets[item],
            |items, from, far, edge| {
                let mut sorted: Vec<(E, u32)> = Vec::new();
                for item in items {
                    let mut place = walk_offsets[item] as usize - from;
                    for (side, shift) in sides.into_iter().zip([0, in_edges]) {
                        let shifted = |edge: u64| narrow(edge + shift);
                        let row = order[item] as usize;
                        sort_row(side, row, EdgeOrder::Id, &mut sorted, &shifted);
                        for &(id, end) in &sorted {
                            (far[place], edge[place]) = (end, id);
                            place += 1;
                        }
                    }
                }
            },
        );
        walked
    }

    /// The same edges, rows in another order.
    fn in_order(&self, offsets: &[u64], order: &[u32], walk_offsets: &[u64]) -> Self {
        let mut walked = Listed::zeros(self.far.len());
        walked.fill(
            order.len(),
            |item| walk_offsets[item],
            |items, from, far, edge| {
                for item in items {
                    let row = order[item] as usize;
                    let slots = offsets[row] as usize..offsets[row + 1] as usize;
                    let places =
                        walk_offsets[item] as usize - from..walk_offsets[item + 1] as usize - from;
                    far[places.clone()].copy_from_slice(&self.far[slots.clone()]);
                    edge[places].copy_from_slice(&self.edge[slots]);
                }
            },
        );
        walked
    }

    fn zeros(edges: usize) -> Self {
        Listed { far: zeros(edges), edge: zeros(edges) }
    }

    /// Fills rows in parallel: `work` gets a range of rows, where their edges start, and the places
    /// of these edges.
    fn fill(
        &mut self,
        rows: usize,
        start: impl Fn(usize) -> u64,
        work: impl Fn(std::ops::Range<usize>, usize, &mut [u32], &mut [E]) + Sync,
    ) {
        let mut tasks = Vec::with_capacity(rows.div_ceil(TASK_ROWS));
        let (mut far, mut edge) = (self.far.as_mut_slice(), self.edge.as_mut_slice());
        let mut from = 0;
        for first in (0..rows).step_by(TASK_ROWS) {
            let end = rows.min(first + TASK_ROWS);
            let until = start(end) as usize;
            let (far_here, far_later) = far.split_at_mut(until - from);
            let (edge_here, edge_later) = edge.split_at_mut(until - from);
            tasks.push((first..end, from, far_here, edge_here));
            (far, edge, from) = (far_later, edge_later, until);
        }
        tasks.into_par_iter().for_each(|(rows, from, far, edge)| work(rows, from, far, edge));
    }
}

/// Fills `sorted` with ids and far ends of the edges of a row, in this order.
fn sort_row<E: Copy + Into<u64>>(
    side: Side<'_>,
    row: usize,
    order: EdgeOrder,
    sorted: &mut Vec<(E, u32)>,
    narrow: &impl Fn(u64) -> E,
) {
    let slots = side.rows.offsets[row] as usize..side.rows.offsets[row + 1] as usize;
    let pairs = side.edge_ids[slots.clone()].iter().zip(&side.rows.neighbours[slots]);
    sorted.clear();
    sorted.extend(pairs.map(|(&edge, &far)| (narrow(edge), far)));
    if !sorted.is_sorted_by_key(|&(id, far)| order.key(id, far)) {
        sorted.sort_unstable_by_key(|&(id, far)| order.key(id, far));
    }
}

/// Checks the tables over both directions together: each row in walked order against its lists by
/// number, which `prove` compares with the csr.
pub fn prove_both(csr: &Csr, tables: &Tables, order: WalkOrder) -> Result<(), Violation> {
    let (sides, [rows, walk_offsets, walk_edges]) = (both_sides(csr), BOTH);
    let degree = |row: u64| sides.iter().map(|side| side.rows.degree(row as usize)).sum();
    let walked = tables.only_column(rows)?;
    check_rows_once(rows, walked.iter(), csr.nodes())?;
    prove_order(degree, walked, order, rows)?;
    let offsets = tables.only_column(walk_offsets)?;
    let column = |table: &str, column: &str| tables.column(table, column);
    let (walk_far, walk_edge) = (column(walk_edges, "far")?, column(walk_edges, "edge")?);
    let mut lists = Vec::new();
    for (side, shift) in sides.into_iter().zip([0, csr.edges() as u64]) {
        let name = side.table_name("edges");
        lists.push((side.rows.offsets, column(&name, "far")?, column(&name, "edge")?, shift));
    }
    let mut next = 0;
    for item in 0..walked.len() {
        let row = walked.get(item) as usize;
        expect_equal(|| format!("{walk_offsets}, place {item}"), next, offsets.get(item))?;
        for (of_rows, far, edge, shift) in &lists {
            for slot in of_rows[row] as usize..of_rows[row + 1] as usize {
                let what =
                    |column: &str| format!("{walk_edges}, entry {next}, {column} of row {row}");
                let id = edge.get(slot) + shift;
                expect_equal(|| what("far"), far.get(slot), walk_far.get(next as usize))?;
                expect_equal(|| what("edge"), id, walk_edge.get(next as usize))?;
                next += 1;
            }
        }
    }
    expect_equal(|| format!("{walk_offsets}, the last"), next, offsets.get(walked.len()))
}

/// Checks the tables of one direction without the code that builds them: each edge by its id
/// against the csr, each row in walked order against its list by number.
pub fn prove(side: Side<'_>, tables: &Tables, order: WalkOrder) -> Result<(), Violation> {
    prove_lists(side, tables, "edges", EdgeOrder::Id)?;
    let name = side.table_name("walk_rows");
    let walked = tables.only_column(&name)?;
    check_rows_once(&name, walked.iter(), side.rows.len())?;
    prove_order(|row| side.rows.degree(row as usize), walked, order, &name)?;
    let offsets = tables.only_column(&side.table_name("walk_offsets"))?;
    let column = |table: &str, column: &str| tables.column(&side.table_name(table), column);
    let (far, edge) = (column("edges", "far")?, column("edges", "edge")?);
    let (walk_far, walk_edge) = (column("walk_edges", "far")?, column("walk_edges", "edge")?);
    let mut next = 0;
    for item in 0..walked.len() {
        let row = walked.get(item) as usize;
        let what = || format!("{}, place {item}", side.table_name("walk_offsets"));
        expect_equal(what, next, offsets.get(item))?;
        for slot in side.rows.offsets[row]..side.rows.offsets[row + 1] {
            let what = |column: &str| {
                format!("{}, entry {next}, {column} of row {row}", side.table_name("walk_edges"))
            };
            expect_equal(|| what("far"), far.get(slot as usize), walk_far.get(next as usize))?;
            expect_equal(|| what("edge"), edge.get(slot as usize), walk_edge.get(next as usize))?;
            next += 1;
        }
    }
    expect_equal(
        || format!("{}, the last", side.table_name("walk_offsets")),
        next,
        offsets.get(walked.len()),
    )
}

/// Checks that the list of each row in this table has the row's edges, in this order.
pub fn prove_lists(
    side: Side<'_>,
    tables: &Tables,
    table: &str,
    order: EdgeOrder,
) -> Result<(), Violation> {
    let name = side.table_name(table);
    let (far, edge) = (tables.column(&name, "far")?, tables.column(&name, "edge")?);
    let mut ends_of_edge = vec![(u32::MAX, 0u32); side.edges() as usize];
    for (row, start, end) in side.spans() {
        for slot in start as usize..end as usize {
            ends_of_edge[side.edge_ids[slot] as usize] = (row as u32, side.rows.neighbours[slot]);
        }
    }
    for (row, start, end) in side.spans() {
        let mut before = None;
        for slot in start as usize..end as usize {
            let (id, far) = (edge.get(slot), far.get(slot));
            if ends_of_edge.get(id as usize).map(|&(row, far)| (u64::from(row), u64::from(far)))
                != Some((row, far))
            {
                return Err(Violation::new(format!(
                    "{name}, entry {slot}: edge {id} does not connect row {row} and row {far}"
                )));
            }
            let key = match order {
                EdgeOrder::Id => (id, far),
                EdgeOrder::FarEnd => (far, id),
            };
            if before.is_some_and(|before| before >= key) {
                return Err(Violation::new(format!(
                    "{name}, entry {slot}: edge {id} of row {row} does not ascend"
                )));
            }
            before = Some(key);
        }
    }
    Ok(())
}

/// Checks the order of rows, each of which is there once.
pub fn prove_order(
    degree: impl Fn(u64) -> u64,
    walked: &Column,
    order: WalkOrder,
    name: &str,
) -> Result<(), Violation> {
    let nodes = walked.len() as u64;
    let is_long = |row: u64| degree(row) > order.sorted_above;
    let long = (0..nodes).filter(|&row| is_long(row)).count();
    // The window of each row that stays in one: they count such rows alone.
    let mut window = vec![u64::MAX; walked.len()];
    for (short, row) in (0u64..).zip((0..nodes).filter(|&row| !is_long(row))) {
        window[row as usize] = short / order.window_rows.max(1);
    }
    let cost = |place: usize| {
        let row = walked.get(place);
        let window = if place < long { 0 } else { window[row as usize] + 1 };
        (window, std::cmp::Reverse(degree(row)), row)
    };
    for place in 0..walked.len() {
        let row = walked.get(place);
        if is_long(row) != (place < long) {
            return Err(Violation::new(format!(
                "{name}, place {place}: the {long} rows of more than {} edges come first, found \
                 row {row} of {}",
                order.sorted_above,
                degree(row)
            )));
        }
        if place > 0 && cost(place - 1) >= cost(place) {
            return Err(Violation::new(format!(
                "{name}, place {place}: row {row} does not come after row {}",
                walked.get(place - 1)
            )));
        }
    }
    Ok(())
}
