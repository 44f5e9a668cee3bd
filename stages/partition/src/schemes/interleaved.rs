//! interleaved: scheme `interleaved`: a message buffer with coalesced reads: vertices in groups of
//! `lanes`, inside a group column by column with one lane for each vertex, up to the group's
//! largest degree; groups are consecutive (PregelGPU, section 4.2.2).
//!
//! promises  message k of lane l of a group is at the group's first place + k * lanes + l; the last
//!           group has places for lanes without a vertex
//! never     moves a vertex: padding is least after an order by degree
//! limits    O(edges); twice the table of places while it is built; u64 places where the padded
//!           buffer exceeds 2^32
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
};

use super::row_major::{Arrivals, places};
use crate::{check::expect_equal, size_estimate::Outline};

const GROUPS: &str = "interleaved_groups";
const PLACES: &str = "interleaved_places";

/// First place of each group, and the number of places.
fn group_starts(csr: &Csr, lanes: u64) -> Vec<u64> {
    let offsets = &csr.incoming.offsets;
    let (mut firsts, mut before) = (vec![0], 0);
    for from in (0..csr.nodes()).step_by(lanes as usize) {
        let rows = &offsets[from..=csr.nodes().min(from + lanes as usize)];
        before += lanes * rows.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        firsts.push(before);
    }
    firsts
}

/// The size of the scheme.
pub fn outline(csr: &Csr, lanes: u64) -> Outline {
    let edges = csr.edges() as u64;
    let firsts = group_starts(csr, lanes);
    let all = firsts.last().copied().unwrap_or(0);
    let places = TableFacts::single(PLACES, edges, Width::from_largest(all));
    Outline {
        scheme: Scheme::Interleaved { lanes },
        scratch_bytes: places.bytes() + 8 * firsts.len() as u64,
        tables: vec![
            TableFacts::single(GROUPS, firsts.len() as u64, Width::from_largest(all)),
            places,
        ],
        padding: Some(Padding { places: all, empty: all - edges }),
    }
}

/// Builds the tables.
pub fn build(csr: &Csr, lanes: u64) -> Vec<Table> {
    let firsts = group_starts(csr, lanes);
    let width = Width::from_largest(firsts.last().copied().unwrap_or(0));
    let offsets = &csr.incoming.offsets;
    let place_of = |row: usize, slot: usize| {
        let (group, lane) = (row as u64 / lanes, row as u64 % lanes);
        firsts[group as usize] + (slot as u64 - offsets[row]) * lanes + lane
    };
    let places = places(csr, width, place_of);
    let mut groups = Cells::room(width, firsts.len() as u64);
    firsts.iter().for_each(|&first| groups.push(first));
    vec![Table::single(GROUPS, groups), Table::single(PLACES, places)]
}

/// Checks independently: from a place to its group, lane and column, and from there to the in-slot.
pub fn prove(csr: &Csr, tables: &Tables, lanes: u64) -> Result<Option<Padding>, Violation> {
    let (groups, offsets) = (tables.only_column(GROUPS)?, &csr.incoming.offsets);
    let mut arrivals = Arrivals::new(csr, PLACES);
    let mut longest = vec![0u64; groups.len().saturating_sub(1)];
    for (at, place) in tables.only_column(PLACES)?.iter().enumerate() {
        // The group is found by the target, not by the place, so that a wrong first place is
        // detected.
        let group = u64::from(csr.outgoing.neighbours[at]) / lanes;
        let first =
            if group as usize + 1 < groups.len() { groups.get(group as usize) } else { u64::MAX };
        let inside = place.checked_sub(first).ok_or_else(|| {
            arrivals.cover.violation(
                at,
                format!("place {place} is before group {group}, which starts at {first}"),
            )
        })?;
        let (column, row) = (inside / lanes, group * lanes + inside % lanes);
        let in_slot =
            offsets.get(row as usize).map_or(u64::MAX, |first| first.saturating_add(column));
        arrivals.check_message(at, in_slot)?;
        longest[group as usize] = (column + 1).max(longest[group as usize]);
    }
    arrivals.cover.finish()?;
    let mut before = 0;
    for (group, longest) in longest.iter().enumerate() {
        expect_equal(|| format!("{GROUPS}, group {group}"), before, groups.get(group))?;
        before += lanes * longest;
    }
    expect_equal(
        || format!("{GROUPS}: groups"),
        (csr.nodes() as u64).div_ceil(lanes),
        longest.len() as u64,
    )?;
    expect_equal(|| format!("{GROUPS}: places"), before, groups.last().unwrap_or(u64::MAX))?;
    Ok(Some(Padding { places: before, empty: before - csr.edges() as u64 }))
}
