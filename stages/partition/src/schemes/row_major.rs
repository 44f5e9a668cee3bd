//! Scheme `row-major`: Medusa's message buffer, with which `interleaved` is compared: the messages
//! to a vertex lie side by side (PregelGPU, section 2.2.2).
//!
//! promises  the message of an out-edge lies where the edge lies in the reversed graph, hence at
//!           its in-slot
//! never     has a place without a message
//! limits    O(edges); twice the table on the way
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
};

use crate::{check::Cover, size_estimate::Outline};

const NAME: &str = "row_major_places";

/// What it will take.
pub fn outline(csr: &Csr) -> Outline {
    let edges = csr.edges() as u64;
    let table = TableFacts::single(NAME, edges, Width::of(edges));
    Outline {
        scheme: Scheme::RowMajor {},
        scratch_bytes: table.bytes(),
        tables: vec![table],
        padding: Some(Padding { places: edges, empty: 0 }),
    }
}

/// The table.
pub fn build(csr: &Csr) -> Vec<Table> {
    vec![Table::single(NAME, places(csr, Width::of(csr.edges() as u64), |_, slot| slot as u64))]
}

/// The place of the message of each out-slot, from row and slot of the in-edge that it is.
pub(super) fn places(csr: &Csr, width: Width, place_of: impl Fn(usize, usize) -> u64) -> Cells {
    match width {
        Width::U64 => Cells::U64(csr.in_order_of_out(place_of)),
        _ => Cells::U32(csr.in_order_of_out(|row, slot| place_of(row, slot) as u32)),
    }
}

/// The other road: the edge that leaves at an out-slot is the one that arrives at its place.
pub fn prove(csr: &Csr, tables: &Tables) -> Result<Option<Padding>, Violation> {
    let mut arrivals = Arrivals::new(csr, NAME);
    for (at, place) in tables.only(NAME)?.iter().enumerate() {
        arrivals.check_message(at, place)?;
    }
    arrivals.cover.finish()?;
    Ok(Some(Padding { places: csr.edges() as u64, empty: 0 }))
}

/// Judges messages: each out-edge arrives at one in-slot, by the ids of edges.
pub(super) struct Arrivals<'a> {
    csr: &'a Csr,
    pub cover: Cover<'a>,
}

impl<'a> Arrivals<'a> {
    pub fn new(csr: &'a Csr, table: &str) -> Self {
        Arrivals { csr, cover: Cover::new(table, csr.incoming.rows()) }
    }

    /// What leaves at an out-slot is said to arrive at an in-slot.
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
