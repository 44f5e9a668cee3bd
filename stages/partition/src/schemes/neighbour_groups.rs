//! neighbour_groups: scheme `neighbour-groups`: each row in groups of at most `ngs` neighbours,
//! with `dw` lanes for each (GNNAdvisor, sections 3.2.1 and 3.3.2).
//!
//! promises  a group has neighbours of one node; inside a thread block the groups of a node share
//!           one place in shared memory, counted from 0, and the first of them is the leader, which
//!           alone stores the place to memory. Corrects algorithm 3-1 as printed: `place` is an
//!           index that a kernel multiplies with the width in all three branches, and each group
//!           says whether it leads
//! never     needs atomics: nodes whose groups are in several blocks, or that have none, are
//!           listed, for a second pass in block order
//! limits    O(rows + groups)
use warploom_contract::{
    Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, Scheme, Table, TableFacts, Tables, Width},
    },
};
use warploom_spec::PartitionSpec;

use crate::{
    check::{Cover, expect_equal, first_entries},
    directions::{Side, both_sides},
    schemes::group_spans::{self, Spans, groups_per_block, is_listed},
    size_estimate::Outline,
};

/// Groups of a row of so many neighbours.
fn group_count(degree: u64, ngs: u64) -> u64 {
    degree.div_ceil(ngs)
}

/// Number of groups, and of nodes that no block finishes alone.
fn count_groups(side: Side<'_>, ngs: u64, of_block: u64) -> (u64, u64) {
    side.rows.degrees().fold((0, 0), |(groups, spans), degree| {
        let next = groups + group_count(degree, ngs);
        (next, spans + u64::from(is_listed(groups, next, of_block)))
    })
}

/// The size of the scheme.
pub fn outline(csr: &Csr, spec: &PartitionSpec) -> Outline {
    let (ngs, dw, block_threads) = (spec.ngs, spec.dw, spec.block_threads);
    let sides = both_sides(csr);
    let counts = sides.map(|side| count_groups(side, ngs, groups_per_block(dw, block_threads)));
    let slots = Width::from_largest(csr.edges() as u64);
    let facts = |(side, (groups, spans)): (Side<'_>, (u64, u64))| {
        let record = [
            ("node", Width::U32),
            ("start", slots),
            ("end", slots),
            ("place", Width::U16),
            ("leads", Width::U8),
        ];
        [
            TableFacts::new(side.table_name("groups"), groups, &record),
            TableFacts::single(
                side.table_name("group_first"),
                side.nodes() + 1,
                Width::from_largest(groups),
            ),
            group_spans::facts(side.table_name("group_spans"), spans, groups),
        ]
    };
    let places = (counts[0].0 + counts[1].0) * ngs;
    Outline {
        scheme: Scheme::NeighbourGroups {
            ngs,
            dw,
            block_threads,
            spanning: counts.map(|(_, spans)| spans),
        },
        tables: sides.into_iter().zip(counts).flat_map(facts).collect(),
        padding: Some(Padding { places, empty: places - 2 * csr.edges() as u64 }),
        scratch_bytes: 0,
    }
}

/// Builds the tables of one direction, row by row; a block has so many groups.
pub fn build(side: Side<'_>, ngs: u64, of_block: u64) -> Vec<Table> {
    let (groups, spans) = count_groups(side, ngs, of_block);
    let slots = Width::from_largest(side.edges());
    let (mut node, mut starts, mut ends) =
        (Cells::room(Width::U32, groups), Cells::room(slots, groups), Cells::room(slots, groups));
    let (mut places, mut leads) = (Cells::room(Width::U16, groups), Cells::room(Width::U8, groups));
    let mut first = Cells::room(Width::from_largest(groups), side.nodes() + 1);
    let mut spans = Spans::room(spans, groups, of_block);
    let (mut group, mut place) = (0, 0);
    first.push(0);
    for (row, from, to) in side.spans() {
        let first_of_row = group;
        for start in (from..to).step_by(ngs as usize) {
            let (begins_block, begins_row) = (group % of_block == 0, start == from);
            place = if begins_block { 0 } else { place + u64::from(begins_row) };
            node.push(row);
            starts.push(start);
            ends.push(to.min(start + ngs));
            places.push(place);
            leads.push(u64::from(begins_block || begins_row));
            group += 1;
        }
        first.push(group);
        spans.add(row, first_of_row, group);
    }
    vec![
        Table::new(
            side.table_name("groups"),
            vec![
                ("node", node),
                ("start", starts),
                ("end", ends),
                ("place", places),
                ("leads", leads),
            ],
        ),
        Table::single(side.table_name("group_first"), first),
        spans.into_table(side.table_name("group_spans")),
    ]
}

/// Checks independently: expands groups to edges, and recomputes places and leaders block by block.
pub fn prove(
    side: Side<'_>,
    tables: &Tables,
    ngs: u64,
    of_block: u64,
) -> Result<Option<Padding>, Violation> {
    let name = side.table_name("groups");
    let groups = tables.get(&name)?;
    let column = |column: &str| groups.column(column);
    let (node, start, end) = (column("node")?, column("start")?, column("end")?);
    let mut cover = Cover::new(&name, side.rows);
    for at in 0..groups.rows() {
        let slots = start.get(at)..end.get(at);
        let ends_row = side.rows.offsets.get(node.get(at) as usize + 1) == Some(&slots.end);
        if slots.is_empty()
            || slots.end - slots.start > ngs
            || !ends_row && slots.end - slots.start < ngs
        {
            return Err(cover.violation(
                at,
                format!(
                    "expected {ngs} neighbours, or the rest of node {}, found the slots \
                     {slots:?}",
                    node.get(at)
                ),
            ));
        }
        cover.mark_run(at, node.get(at), slots)?;
    }
    cover.finish()?;
    first_entries(
        &side.table_name("group_first"),
        tables.only_column(&side.table_name("group_first"))?.iter(),
        node.iter(),
        side.rows.len(),
    )?;
    prove_places(&name, groups, of_block as usize)?;
    let spans = side.table_name("group_spans");
    group_spans::prove(tables, &spans, node.iter(), of_block, side.rows.len())?;
    let places = groups.rows() as u64 * ngs;
    Ok(Some(Padding { places, empty: places - side.edges() }))
}

/// Recomputes places and leaders, block by block.
fn prove_places(name: &str, groups: &Table, of_block: usize) -> Result<(), Violation> {
    let (node, place, leads) =
        (groups.column("node")?, groups.column("place")?, groups.column("leads")?);
    for block in 0..groups.rows().div_ceil(of_block) {
        let mut here: Vec<u64> = Vec::new();
        for at in block * of_block..groups.rows().min((block + 1) * of_block) {
            let row = node.get(at);
            let known = here.iter().position(|&other| other == row);
            expect_equal(
                || format!("{name}, entry {at}: place"),
                known.unwrap_or(here.len()) as u64,
                place.get(at),
            )?;
            expect_equal(
                || format!("{name}, entry {at}: leads"),
                u64::from(known.is_none()),
                leads.get(at),
            )?;
            if known.is_none() {
                here.push(row);
            }
        }
    }
    Ok(())
}
