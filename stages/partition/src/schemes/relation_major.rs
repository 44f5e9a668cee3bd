//! relation_major: scheme `relation-major`: edges by relation, then row, so that one launch has the
//! edges of one relation.
//!
//! promises  inside a relation edges are sorted by row, then slot; relations without an edge are
//!           empty
//! never     accepts a graph without relations
//! limits    O(rows + edges + relations); relations of out-edges, twice 2 bytes for each edge,
//!           beside the tables
use std::borrow::Cow;

use warploom_contract::{
    ErrorKind, StageError, Violation,
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

/// Relations of in-edges; an error if there are none.
pub(super) fn in_edge_types<'a>(csr: &'a Csr, scheme: &str) -> Result<&'a [u16], StageError> {
    csr.types.as_deref().ok_or_else(|| {
        let what =
            format!("scheme `{scheme}` divides edges by relation, and this graph has no relations");
        let hint =
            format!("leave `{scheme}` out of  partition.scheme , or take a graph with edge types");
        StageError::new(ErrorKind::Specification, what).at("partition.scheme").hint(hint)
    })
}

/// Relations of the edges of both directions, each in slot order.
pub(super) fn edge_types<'a>(
    csr: &'a Csr,
    scheme: &str,
) -> Result<[Cow<'a, [u16]>; 2], StageError> {
    let types = in_edge_types(csr, scheme)?;
    Ok([Cow::Borrowed(types), Cow::Owned(csr.to_out_order(|_, slot| types[slot]))])
}

/// Bytes of the relations of out-edges while they are computed.
pub(super) fn transpose_bytes(csr: &Csr) -> u64 {
    2 * size_of::<u16>() as u64 * csr.edges() as u64
}

/// The size of the scheme.
pub fn outline(csr: &Csr) -> Result<Outline, StageError> {
    let relations =
        in_edge_types(csr, "relation-major")?.iter().max().map_or(0, |&last| u64::from(last) + 1);
    let slots = Width::from_largest(csr.edges() as u64);
    let facts = |side: Side<'_>| {
        [
            TableFacts::single(side.table_name("relations"), relations + 1, slots),
            TableFacts::new(
                side.table_name("relation_edges"),
                side.edges(),
                &[("row", Width::U32), ("neighbour", Width::U32), ("slot", slots)],
            ),
        ]
    };
    let tables = both_sides(csr).into_iter().flat_map(facts).collect();
    Ok(Outline {
        scheme: Scheme::RelationMajor { relations },
        tables,
        padding: None,
        scratch_bytes: transpose_bytes(csr) + 32 * relations,
    })
}

/// Builds the tables.
pub fn build(csr: &Csr, relations: u64) -> Result<Vec<Table>, StageError> {
    let [of_in, of_out] = edge_types(csr, "relation-major")?;
    let [incoming, outgoing] = both_sides(csr);
    let (mut tables, rest) = rayon::join(
        || build_side(incoming, &of_in, relations),
        || build_side(outgoing, &of_out, relations),
    );
    tables.extend(rest);
    Ok(tables)
}

fn build_side(side: Side<'_>, types: &[u16], relations: u64) -> Vec<Table> {
    let slots = Width::from_largest(side.edges());
    let mut heads = vec![0u64; relations as usize];
    types.iter().for_each(|&relation| heads[relation as usize] += 1);
    let mut starts = Cells::room(slots, relations + 1);
    let mut before = 0;
    for head in &mut heads {
        starts.push(before);
        (*head, before) = (before, before + *head);
    }
    starts.push(before);
    let zeros = |width| Cells::zeros(width, side.edges());
    let (mut row, mut neighbour, mut slot) = (zeros(Width::U32), zeros(Width::U32), zeros(slots));
    for (own, from, to) in side.spans() {
        for at in from as usize..to as usize {
            let head = &mut heads[types[at] as usize];
            row.set(*head as usize, own);
            neighbour.set(*head as usize, u64::from(side.rows.neighbours[at]));
            slot.set(*head as usize, at as u64);
            *head += 1;
        }
    }
    vec![
        Table::single(side.table_name("relations"), starts),
        Table::new(
            side.table_name("relation_edges"),
            vec![("row", row), ("neighbour", neighbour), ("slot", slot)],
        ),
    ]
}

/// Relations by edge id, for checks that are independent of slots.
pub(super) fn relation_of_edge(csr: &Csr, scheme: &str) -> Result<Vec<u16>, StageError> {
    let types = in_edge_types(csr, scheme)?;
    let mut by_edge = vec![0; types.len()];
    types
        .iter()
        .zip(csr.incoming.edges.iter())
        .for_each(|(&relation, &edge)| by_edge[edge as usize] = relation);
    Ok(by_edge)
}

/// Checks independently: looks up each entry in the csr by its slot, and its relation by edge id.
pub fn prove(csr: &Csr, tables: &Tables) -> Result<Option<Padding>, Violation> {
    let relation_of_edge = relation_of_edge(csr, "relation-major")?;
    for (side, direction) in both_sides(csr).into_iter().zip([&csr.incoming, &csr.outgoing]) {
        let name = side.table_name("relation_edges");
        let (starts, column) =
            (tables.only_column(&side.table_name("relations"))?, |column: &str| {
                tables.column(&name, column)
            });
        let (row, neighbour, slot) = (column("row")?, column("neighbour")?, column("slot")?);
        let mut cover = Cover::new(&name, side.rows);
        let mut counts = vec![0u64; starts.len().saturating_sub(1)];
        let mut before = None;
        for at in 0..slot.len() {
            cover.mark_coordinate(at, row.get(at), neighbour.get(at), slot.get(at))?;
            let relation = relation_of_edge[direction.edges[slot.get(at) as usize] as usize];
            let entry = (relation, row.get(at), slot.get(at));
            if before.is_some_and(|before| before >= entry) {
                return Err(cover.violation(
                    at,
                    format!(
                        "relation {relation}, row {} does not come after the previous entry",
                        entry.1
                    ),
                ));
            }
            let count = counts
                .get_mut(relation as usize)
                .ok_or_else(|| cover.violation(at, format!("relation {relation} has no start")))?;
            *count += 1;
            before = Some(entry);
        }
        cover.finish()?;
        let mut expected = 0;
        for (relation, found) in starts.iter().enumerate() {
            expect_equal(
                || format!("{}, relation {relation}", side.table_name("relations")),
                expected,
                found,
            )?;
            expected += counts.get(relation).copied().unwrap_or(0);
        }
    }
    Ok(None)
}
