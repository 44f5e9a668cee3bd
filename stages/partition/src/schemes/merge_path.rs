//! merge_path: scheme `merge-path`: equal chunks of rows and nonzeros together, across row ends
//! (Merrill and Garland 2016).
//!
//! promises  a row costs its nonzeros plus one; all chunks but the last have equal cost, whatever
//!           the degree of a hub
//! never     reads a nonzero
//! limits    O(chunks log rows)
use rayon::prelude::*;
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
};

use crate::{
    check::{Cover, expect_equal},
    directions::{Side, both_sides},
    size_estimate::Outline,
};

fn chunk_count(side: Side<'_>, merge_items: u64) -> u64 {
    (side.nodes() + side.edges()).div_ceil(merge_items)
}

/// The size of the scheme.
pub fn outline(csr: &Csr, merge_items: u64) -> Outline {
    let slots = Width::from_largest(csr.edges() as u64);
    let facts = |side: Side<'_>| {
        TableFacts::new(
            side.table_name("merge_path"),
            chunk_count(side, merge_items) + 1,
            &[("row", Width::U32), ("slot", slots)],
        )
    };
    let sides = both_sides(csr);
    let starts: u64 = sides.iter().map(|side| 8 * (chunk_count(*side, merge_items) + 1)).sum();
    Outline {
        scheme: Scheme::MergePath { merge_items },
        tables: sides.map(facts).into(),
        padding: None,
        scratch_bytes: starts,
    }
}

/// Builds the table: the start of each chunk, and the end of the last.
pub fn build(side: Side<'_>, merge_items: u64) -> Vec<Table> {
    let (count, all) = (chunk_count(side, merge_items), side.nodes() + side.edges());
    // Row `r` ends after its nonzeros and the row ends before it: the rows finished at a place are
    // those that end before it.
    let ended = |chunk: u64| {
        let place = all.min(chunk * merge_items);
        rows_ended(side.rows.offsets, place)
    };
    let rows: Vec<u64> = (0..count + 1).into_par_iter().map(ended).collect();
    let (mut row, mut slot) = (
        Cells::room(Width::U32, count + 1),
        Cells::room(Width::from_largest(side.edges()), count + 1),
    );
    for (chunk, ended) in (0..).zip(rows) {
        row.push(ended);
        slot.push(all.min(chunk * merge_items) - ended);
    }
    vec![Table::new(side.table_name("merge_path"), vec![("row", row), ("slot", slot)])]
}

fn rows_ended(offsets: &[u64], place: u64) -> u64 {
    let (mut low, mut high) = (0, offsets.len() - 1);
    while low < high {
        let middle = (low + high) / 2;
        if offsets[middle + 1] + (middle as u64) < place {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low as u64
}

/// Checks independently: follows the merge path step by step.
pub fn prove(
    side: Side<'_>,
    tables: &Tables,
    merge_items: u64,
) -> Result<Option<Padding>, Violation> {
    let name = side.table_name("merge_path");
    let (row, slot) = (tables.column(&name, "row")?, tables.column(&name, "slot")?);
    let (nodes, edges, offsets) = (side.nodes(), side.edges(), side.rows.offsets);
    let mut cover = Cover::new(&name, side.rows);
    let (mut at_row, mut at_slot) = (0u64, 0u64);
    for chunk in 0..row.len() {
        expect_equal(|| format!("{name}, chunk {chunk}: row"), row.get(chunk), at_row)?;
        expect_equal(|| format!("{name}, chunk {chunk}: slot"), slot.get(chunk), at_slot)?;
        for _ in 0..merge_items {
            if at_row == nodes {
                break;
            }
            if at_slot == offsets[at_row as usize + 1] {
                at_row += 1;
            } else {
                cover.mark_edge(chunk, at_row, at_slot)?;
                at_slot += 1;
            }
        }
    }
    cover.finish()?;
    expect_equal(
        || format!("{name}: rows and slots that chunks reach"),
        nodes + edges,
        at_row + at_slot,
    )?;
    Ok(None)
}
