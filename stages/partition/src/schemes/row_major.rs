//! row_major: scheme `row-major`: Medusa's message buffer, the baseline of `interleaved`: the
//! messages to a vertex are consecutive (PregelGPU, section 2.2.2).
//!
//! promises  the place of an out-edge's message is the edge's slot in the reversed graph, which is
//!           its in-slot
//! never     has a place without a message
//! limits    O(edges); twice the table while it is built
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
};

use crate::{check::Cover, size_estimate::Outline};

const NAME: &str = "row_major_places";

/// The size of the scheme.
pub fn outline(csr: &Csr) -> Outline {
    let edges = csr.edges() as u64;
    let table = TableFacts::single(NAME, edges, Width::from_largest(edges));
    Outline {
        scheme: Scheme::RowMajor {},
        scratch_bytes: table.bytes(),
        tables: vec![table],
        padding: Some(Padding { places: edges, empty: 0 }),
    }
}

/// Builds the table.
pub fn build(csr: &Csr) -> Vec<Table> {
    vec![Table::single(
        NAME,
        places(csr, Width::from_largest(csr.edges() as u64), |_, slot| slot as u64),
    )]
}

/// The message place of each out-slot, computed from row and slot of the same edge among the
/// in-edges.
pub(super) fn places(csr: &Csr, width: Width, place_of: impl Fn(usize, usize) -> u64) -> Cells {
    match width {
        Width::U64 => Cells::U64(csr.to_out_order(place_of)),
        _ => Cells::U32(csr.to_out_order(|row, slot| place_of(row, slot) as u32)),
    }
}

/// Checks independently: the edge at an out-slot and the edge at its place have the same id.
pub fn prove(csr: &Csr, tables: &Tables) -> Result<Option<Padding>, Violation> {
    let mut arrivals = Arrivals::new(csr, NAME);
    for (at, place) in tables.only_column(NAME)?.iter().enumerate() {
        arrivals.check_message(at, place)?;
    }
    arrivals.cover.finish()?;
    Ok(Some(Padding { places: csr.edges() as u64, empty: 0 }))
}

/// Checks messages by edge id: each out-edge arrives at one in-slot.
pub(super) struct Arrivals<'a> {
    csr: &'a Csr,
    pub cover: Cover<'a>,
}

impl<'a> Arrivals<'a> {
    pub fn new(csr: &'a Csr, table: &str) -> Self {
        Arrivals { csr, cover: Cover::new(table, csr.incoming.rows()) }
    }

    /// Checks a message from an out-slot to an in-slot.
    pub fn check_message(&mut self, out_slot: usize, in_slot: u64) -> Result<(), Violation> {
        let leaves = self.csr.outgoing.edges[out_slot];
        match self.csr.incoming.edges.get(in_slot as usize) {
            Some(&arrives) if arrives == leaves => {
                let row = self.csr.outgoing.neighbours[out_slot];
                self.cover.mark_edge(out_slot, u64::from(row), in_slot)
            }
            found => Err(self.cover.violation(
                out_slot,
                format!("edge {leaves} leaves there, and at in-slot {in_slot} arrives {found:?}"),
            )),
        }
    }
}
