//! sorted_columns: scheme `sorted-columns`: nonzeros as coordinates (COO) by column, then row, so
//! that consecutive ones read the same feature row (SpMM study, step 3).
//!
//! promises  parallel edges are sorted by slot; each entry has the slot of its nonzero in the csr,
//!           where weights and ids are
//! never     compares two nonzeros: without relations the other direction of the csr has this order
//! limits    O(rows + edges); 16 bytes for each row beside the tables, with relations 20 bytes for
//!           each edge, most of it only where one column has most edges
use rayon::prelude::*;
use warploom_contract::{
    Violation,
    edge_grouping::{Others, group, rows_of_edges},
    kinds::{
        csr::{Csr, DirectionParts, Rows},
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
    mapped_file::zeros,
};

use crate::{
    check::Cover,
    directions::{Side, both_sides},
    size_estimate::Outline,
};

/// The size of the scheme.
pub fn outline(csr: &Csr) -> Outline {
    let slots = Width::from_largest(csr.edges() as u64);
    let facts = |side: Side<'_>| {
        TableFacts::new(
            side.table_name("sorted_columns"),
            side.edges(),
            &[("column", Width::U32), ("row", Width::U32), ("slot", slots)],
        )
    };
    let (nodes, edges) = (csr.nodes() as u64, csr.edges() as u64);
    let scratch_bytes = if csr.types.is_some() { 20 * edges + 8 * nodes } else { 16 * nodes };
    Outline {
        scheme: Scheme::SortedColumns {},
        tables: both_sides(csr).map(facts).into(),
        padding: None,
        scratch_bytes,
    }
}

/// Builds the tables of both directions.
pub fn build(csr: &Csr) -> Vec<Table> {
    let [incoming, outgoing] = both_sides(csr);
    if csr.types.is_some() {
        // Grouping uses all threads, so the directions are built in sequence.
        return [incoming, outgoing].map(table_by_grouping).into();
    }
    let (of_in, of_out) = rayon::join(
        || table_from_transpose(incoming, outgoing.rows),
        || table_from_transpose(outgoing, incoming.rows),
    );
    vec![of_in, of_out]
}

/// Without relations the rows of the other direction are the columns of this one, in this order:
/// only slots are missing, and since neighbours ascend in rows, the edges of a row occur in slot
/// order.
fn table_from_transpose(side: Side<'_>, other: Rows<'_>) -> Table {
    let mut heads: Vec<u64> = side.rows.offsets[..side.rows.len()].to_vec();
    let mut slot = Cells::zeros(Width::from_largest(side.edges()), side.edges());
    for (at, &row) in other.neighbours.iter().enumerate() {
        slot.set(at, heads[row as usize]);
        heads[row as usize] += 1;
    }
    let (column, row) =
        (Cells::U32(rows_of_edges(other.offsets)), Cells::U32(other.neighbours.to_vec()));
    Table::new(
        side.table_name("sorted_columns"),
        vec![("column", column), ("row", row), ("slot", slot)],
    )
}

/// With relations, by which rows are sorted first, nonzeros are grouped by column.
fn table_by_grouping(side: Side<'_>) -> Table {
    let mut parts = DirectionParts::default();
    group(
        &mut parts,
        side.rows.len(),
        side.rows.neighbours,
        Others::Rows(side.rows.offsets),
        None,
        &|_| {},
    );
    let DirectionParts { offsets, neighbours: rows, edges: slots } = parts;
    let slot = match Width::from_largest(side.edges()) {
        Width::U64 => Cells::U64(slots),
        _ => {
            let mut narrow = zeros(slots.len());
            narrow.par_iter_mut().zip(slots).for_each(|(narrow, slot)| *narrow = slot as u32);
            Cells::U32(narrow)
        }
    };
    let column = Cells::U32(rows_of_edges(&offsets));
    Table::new(
        side.table_name("sorted_columns"),
        vec![("column", column), ("row", Cells::U32(rows)), ("slot", slot)],
    )
}

/// Checks independently: entries ascend, and each is looked up in the csr by its slot.
pub fn prove(side: Side<'_>, tables: &Tables) -> Result<Option<Padding>, Violation> {
    let name = side.table_name("sorted_columns");
    let (column, row, slot) = (
        tables.column(&name, "column")?,
        tables.column(&name, "row")?,
        tables.column(&name, "slot")?,
    );
    let mut cover = Cover::new(&name, side.rows);
    let mut before = None;
    for at in 0..slot.len() {
        let entry = (column.get(at), row.get(at), slot.get(at));
        cover.mark_coordinate(at, entry.1, entry.0, entry.2)?;
        if before.is_some_and(|before| before >= entry) {
            return Err(cover.violation(
                at,
                format!(
                    "column {}, row {} does not come after the previous entry",
                    entry.0, entry.1
                ),
            ));
        }
        before = Some(entry);
    }
    cover.finish()?;
    Ok(None)
}
