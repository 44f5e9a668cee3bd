//! rows: scheme `rows`: ranges of whole rows with about equal work, where a row costs its edges
//! plus one; and the edges of each row as executors walk them (`walked_lists`).
//!
//! promises  units ascend and cover every row once; a unit of several rows stays within the target
//!           size; rows of equal degree are sorted by number; the division depends on the graph and
//!           the target size alone
//! limits    O(rows log rows + edges); 24 bytes for each row and direction beside the tables
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Scheme, Table, TableFacts, Tables, Width},
    },
    row_order::WalkOrder,
};

use crate::{
    check::expect_equal,
    directions::{Side, both_sides, build_tables, map_sides},
    schemes::walked_lists,
    size_estimate::Outline,
};

/// Units of a small graph, at least: as many as a desktop has cores.
const UNITS: u64 = 32;
/// Work of a unit that costs more to schedule than to run.
const LEAST_WORK: u64 = 2 * 1024;

/// The work of a unit: what is set, and less where a graph would have too few units.
pub fn unit_work(csr: &Csr, unit_edges: u64) -> u64 {
    let all = csr.edges() as u64 + csr.nodes() as u64;
    (all / UNITS).clamp(LEAST_WORK.min(unit_edges), unit_edges)
}

/// The size of the scheme, with units of this work; with tables over both directions together where
/// they are asked for.
pub fn outline(csr: &Csr, unit_edges: u64, with_both: bool) -> Outline {
    let units = map_sides(csr, |side| divide_rows(side.rows.offsets, unit_edges));
    let of_unit = both_sides(csr)
        .into_iter()
        .zip(&units)
        .map(|(side, starts)| largest_unit(side.rows.offsets, starts));
    let unit_edges_max = of_unit.max().unwrap_or(0);
    let facts = |(side, starts): (Side<'_>, &Vec<u32>)| {
        let starts = TableFacts::single(side.table_name("rows"), starts.len() as u64, Width::U32);
        std::iter::once(starts).chain(walked_lists::outline(side))
    };
    let mut tables: Vec<TableFacts> =
        both_sides(csr).into_iter().zip(&units).flat_map(facts).collect();
    let both_walk = with_both.then(|| walked_lists::order_of_both(csr));
    tables.extend(both_walk.into_iter().flat_map(|_| walked_lists::outline_both(csr)));
    let units = units.map(|starts| starts.len() as u64 - 1);
    Outline {
        scheme: Scheme::Rows {
            unit_edges,
            units,
            unit_edges_max,
            walk: WalkOrder::choose(csr.nodes(), csr.edges() as u64),
            both_walk,
        },
        tables,
        padding: None,
        scratch_bytes: 48 * csr.nodes() as u64,
    }
}

/// Builds its tables.
pub fn build(
    csr: &Csr,
    unit_edges: u64,
    walk: WalkOrder,
    both_walk: Option<WalkOrder>,
) -> Vec<Table> {
    let mut tables = build_tables(csr, |side| build_side(side, unit_edges, walk));
    tables.extend(both_walk.into_iter().flat_map(|walk| walked_lists::build_both(csr, walk)));
    tables
}

/// Builds the tables of one direction.
fn build_side(side: Side<'_>, unit_edges: u64, walk: WalkOrder) -> Vec<Table> {
    let starts = Cells::U32(divide_rows(side.rows.offsets, unit_edges));
    let mut tables = vec![Table::single(side.table_name("rows"), starts)];
    tables.extend(walked_lists::build(side, walk));
    tables
}

/// Checks independently: assigns rows to units one by one.
pub fn prove(
    csr: &Csr,
    tables: &Tables,
    unit_edges: u64,
    units: [u64; 2],
    unit_edges_max: u64,
) -> Result<(), Violation> {
    let mut largest = 0;
    for (side, units) in both_sides(csr).into_iter().zip(units) {
        let starts = tables.only_column(&side.table_name("rows"))?;
        expect_equal(|| format!("{}-units", side.name), starts.len() as u64, units + 1)?;
        let starts: Vec<u32> = starts.iter().map(|start| start as u32).collect();
        largest = prove_units(side.name, side.rows.offsets, &starts, unit_edges)?.max(largest);
    }
    expect_equal(|| "most edges of a unit".to_owned(), largest, unit_edges_max)
}

/// First row of each unit, and the number of rows.
pub fn divide_rows(offsets: &[u64], unit_edges: u64) -> Vec<u32> {
    let rows = offsets.len() - 1;
    let mut starts = vec![0u32];
    let mut cost = 0;
    for row in 0..rows {
        let own = offsets[row + 1] - offsets[row] + 1;
        if cost > 0 && cost + own > unit_edges {
            starts.push(row as u32);
            cost = 0;
        }
        cost += own;
    }
    if rows > 0 {
        starts.push(rows as u32);
    }
    starts
}

/// Most edges of a unit.
fn largest_unit(offsets: &[u64], starts: &[u32]) -> u64 {
    starts
        .windows(2)
        .map(|pair| offsets[pair[1] as usize] - offsets[pair[0] as usize])
        .max()
        .unwrap_or(0)
}

/// Assigns rows to units one by one; returns the most edges of a unit.
fn prove_units(
    side: &str,
    offsets: &[u64],
    starts: &[u32],
    unit_edges: u64,
) -> Result<u64, Violation> {
    let rows = offsets.len() - 1;
    if starts.first() != Some(&0) || starts.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Violation::new(format!(
            "{side}-units: expected the first row of each, from 0 on and ascending"
        )));
    }
    let mut largest = 0;
    let mut claimed = vec![0u8; rows];
    for (unit, pair) in starts.windows(2).enumerate() {
        let mut cost = 0;
        for row in pair[0]..pair[1] {
            let slot = claimed.get_mut(row as usize).ok_or_else(|| {
                Violation::new(format!("{side}-unit {unit}: row {row} of only {rows}"))
            })?;
            *slot = slot.saturating_add(1);
            cost += offsets[row as usize + 1] - offsets[row as usize] + 1;
        }
        largest = (cost - u64::from(pair[1] - pair[0])).max(largest);
        // The cost of the next row.
        let next = offsets.get(pair[1] as usize + 1).map(|end| end - offsets[pair[1] as usize] + 1);
        if next.is_some_and(|next| cost + next <= unit_edges) {
            return Err(Violation::new(format!(
                "{side}-unit {unit} ends before row {}, with which it would stay within the aim \
                 {unit_edges}",
                pair[1]
            )));
        }
        if pair[1] - pair[0] > 1 && cost > unit_edges {
            return Err(Violation::new(format!(
                "{side}-unit {unit}: work {cost} of {} rows exceeds the aim {unit_edges}",
                pair[1] - pair[0]
            )));
        }
    }
    match claimed.iter().position(|&times| times != 1) {
        Some(row) => Err(Violation::new(format!(
            "{side}: row {row} is in {} units, expected one",
            claimed[row]
        ))),
        None => Ok(largest),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn degenerate_graphs() {
        assert_eq!(divide_rows(&[0], 64), [0]);
        assert_eq!(divide_rows(&[0, 0], 64), [0, 1]);
        assert_eq!(divide_rows(&[0, 1000, 1000, 1001], 64), [0, 1, 3]);
    }

    #[test]
    fn a_wrong_division_is_found() {
        let offsets = [0, 60, 70, 80];
        assert!(prove_units("in", &offsets, &[0, 1, 3], 64).is_ok());
        assert!(prove_units("in", &offsets, &[0, 1, 2], 64).is_err());
        assert!(prove_units("in", &offsets, &[0, 3], 20).is_err());
        assert!(prove_units("in", &offsets, &[0, 2, 4], 64).is_err());
    }

    proptest! {
        #[test]
        fn every_division_is_proved(degrees in proptest::collection::vec(0u64..200, 0..300), unit_edges in 1u64..500) {
            let offsets: Vec<u64> = std::iter::once(0).chain(degrees.iter().scan(0, |sum, degree| { *sum += degree; Some(*sum) })).collect();
            prop_assert!(prove_units("in", &offsets, &divide_rows(&offsets, unit_edges), unit_edges).is_ok());
        }
    }
}
