//! Scheme `sorted-columns`: nonzeros as coordinates by column, then row, so that consecutive ones read the same row of features (document 001, variant 3).
//!
//! promises  repeats of an edge stand by slot; each entry has the slot of its nonzero in the csr, where weights and ids lie
//! never     sorts: rows are walked in order, and each nonzero goes behind those of its column that came before
//! limits    O(rows + edges); 8 bytes a column beside the tables
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
};

use crate::{
    outline::Outline,
    prove::Cover,
    sides::{Side, both},
};

/// What it will take.
pub fn outline(csr: &Csr) -> Outline {
    let slots = Width::of(csr.edges() as u64);
    let facts = |side: Side<'_>| TableFacts::new(side.named("sorted_columns"), side.edges(), &[("column", Width::U32), ("row", Width::U32), ("slot", slots)]);
    Outline { scheme: Scheme::SortedColumns {}, tables: both(csr).map(facts).into(), padding: None, scratch_bytes: 16 * csr.nodes() as u64 }
}

/// The tables of both directions: the columns of one are the rows of the other.
pub fn build(csr: &Csr) -> Vec<Table> {
    let [incoming, outgoing] = both(csr);
    let (of_in, of_out) = rayon::join(|| one(incoming, outgoing.rows.offsets), || one(outgoing, incoming.rows.offsets));
    vec![of_in, of_out]
}

fn one(side: Side<'_>, columns: &[u64]) -> Table {
    let mut column = Cells::room(Width::U32, side.edges());
    for (number, pair) in (0..).zip(columns.windows(2)) {
        (pair[0]..pair[1]).for_each(|_| column.push(number));
    }
    let (mut row, mut slot) = (Cells::zeros(Width::U32, side.edges()), Cells::zeros(Width::of(side.edges()), side.edges()));
    let mut heads: Vec<u64> = columns[..side.rows.len()].to_vec();
    for (own, from, to) in side.spans() {
        for at in from..to {
            let head = &mut heads[side.rows.neighbours[at as usize] as usize];
            row.set(*head as usize, own);
            slot.set(*head as usize, at);
            *head += 1;
        }
    }
    Table::new(side.named("sorted_columns"), vec![("column", column), ("row", row), ("slot", slot)])
}

/// The other road: entries ascend, and each is looked up in the csr by its slot.
pub fn prove(side: Side<'_>, tables: &Tables) -> Result<Option<Padding>, Violation> {
    let name = side.named("sorted_columns");
    let (column, row, slot) = (tables.column(&name, "column")?, tables.column(&name, "row")?, tables.column(&name, "slot")?);
    let mut cover = Cover::of(&name, side.rows);
    let mut before = None;
    for at in 0..slot.len() {
        let entry = (column.get(at), row.get(at), slot.get(at));
        cover.coordinate(at, (entry.1, entry.0), entry.2)?;
        if before.is_some_and(|before| before >= entry) {
            return Err(cover.wrong(at, format!("column {}, row {} does not stand behind the entry before", entry.0, entry.1)));
        }
        before = Some(entry);
    }
    cover.done()?;
    Ok(None)
}
