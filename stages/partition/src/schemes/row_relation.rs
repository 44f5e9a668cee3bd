//! row_relation: scheme `row-relation`: inside each row edges by relation, as the csr of a typed
//! graph lists them, with the ends of relations for a walk (Seastar, section 6.3.5).
//!
//! promises  a relation for each edge, or runs of one relation with their starts, by Seastar's
//!           rule: runs where edges (Ne) / distinct relations of each row, summed over rows (Nt),
//!           is more than 2; each direction by its own counts
//! never     accepts a graph without relations, or rows in which relations do not ascend
//! limits    O(rows + edges); relations of out-edges, twice 2 bytes for each edge, beside the
//!           tables
use warploom_contract::{
    StageError, Violation,
    kinds::{
        csr::Csr,
        partition::{Cells, Padding, RelationForm, Scheme, Table, TableFacts, Tables, Width},
    },
};

use super::relation_major::{edge_types, in_edge_types, relation_of_edge, transpose_bytes};
use crate::{
    check::{Cover, expect_equal, first_entries},
    directions::{Side, both_sides},
    size_estimate::{Outline, Room},
};

const NAME: &str = "row-relation";

/// Calls for each run of one relation in a row with its relation, row and first slot; an error
/// names a row in which relations do not ascend.
fn for_each_run(
    side: Side<'_>,
    types: &[u16],
    mut visit: impl FnMut(u16, u64, u64),
) -> Result<(), StageError> {
    for (row, from, to) in side.spans() {
        let mut last = None;
        for (slot, &relation) in (from..to).zip(&types[from as usize..to as usize]) {
            if last.is_some_and(|last| last > relation) {
                return Err(StageError::defect(format!(
                    "{}-row {row}: relations do not ascend at slot {slot}",
                    side.name
                )));
            }
            if last != Some(relation) {
                visit(relation, row, slot);
            }
            last = Some(relation);
        }
    }
    Ok(())
}

/// The size of the scheme.
pub fn outline(csr: &Csr, room: Room) -> Result<Outline, StageError> {
    in_edge_types(csr, NAME)?;
    // The memory for counting is checked before it is allocated.
    room.refuse_beyond(NAME, transpose_bytes(csr))?;
    let types = edge_types(csr, NAME)?;
    let form = |(side, types): (Side<'_>, &[u16])| {
        let mut distinct = 0;
        for_each_run(side, types, |_, _, _| distinct += 1)?;
        Ok(RelationForm::choose(side.edges(), distinct))
    };
    let [incoming, outgoing] = both_sides(csr);
    let (of_in, of_out) =
        rayon::join(|| form((incoming, &types[0])), || form((outgoing, &types[1])));
    let forms: [RelationForm; 2] = [of_in?, of_out?];
    let facts = |(side, form): (Side<'_>, RelationForm)| match form.runs {
        true => vec![
            TableFacts::single(
                side.table_name("row_runs"),
                side.nodes() + 1,
                Width::from_largest(form.distinct),
            ),
            TableFacts::new(
                side.table_name("runs"),
                form.distinct,
                &[("relation", Width::U16), ("start", Width::from_largest(form.edges))],
            ),
        ],
        false => vec![TableFacts::single(side.table_name("row_types"), side.edges(), Width::U16)],
    };
    let tables = both_sides(csr).into_iter().zip(forms).flat_map(facts).collect();
    Ok(Outline {
        scheme: Scheme::RowRelation { forms },
        tables,
        padding: None,
        scratch_bytes: transpose_bytes(csr),
    })
}

/// Builds the tables.
pub fn build(csr: &Csr, forms: [RelationForm; 2]) -> Result<Vec<Table>, StageError> {
    let types = edge_types(csr, NAME)?;
    let [incoming, outgoing] = both_sides(csr);
    let (of_in, of_out) = rayon::join(
        || build_side(incoming, &types[0], forms[0]),
        || build_side(outgoing, &types[1], forms[1]),
    );
    Ok(of_in?.into_iter().chain(of_out?).collect())
}

fn build_side(side: Side<'_>, types: &[u16], form: RelationForm) -> Result<Vec<Table>, StageError> {
    if !form.runs {
        return Ok(vec![Table::single(side.table_name("row_types"), Cells::U16(types.to_vec()))]);
    }
    let mut first = Cells::room(Width::from_largest(form.distinct), side.nodes() + 1);
    let (mut relations, mut starts) = (
        Cells::room(Width::U16, form.distinct),
        Cells::room(Width::from_largest(form.edges), form.distinct),
    );
    let (mut rows_begun, mut run) = (0, 0);
    for_each_run(side, types, |relation, row, start| {
        // Rows without edges begin and end at the next run.
        (rows_begun..row + 1).for_each(|_| first.push(run));
        rows_begun = row + 1;
        relations.push(u64::from(relation));
        starts.push(start);
        run += 1;
    })?;
    (rows_begun..side.nodes() + 1).for_each(|_| first.push(run));
    Ok(vec![
        Table::single(side.table_name("row_runs"), first),
        Table::new(side.table_name("runs"), vec![("relation", relations), ("start", starts)]),
    ])
}

/// Checks independently: expands tables to (row, relation, slot), with the relation of each edge by
/// its id.
pub fn prove(
    csr: &Csr,
    tables: &Tables,
    forms: [RelationForm; 2],
) -> Result<Option<Padding>, Violation> {
    let relation_of_edge = relation_of_edge(csr, NAME)?;
    for ((side, direction), form) in
        both_sides(csr).into_iter().zip([&csr.incoming, &csr.outgoing]).zip(forms)
    {
        let relation_at =
            |slot: u64| u64::from(relation_of_edge[direction.edges[slot as usize] as usize]);
        let mut pairs: Vec<(u64, u64)> = Vec::new();
        for (row, slot) in
            side.spans().flat_map(|(row, from, to)| (from..to).map(move |slot| (row, slot)))
        {
            let pair = (row, relation_at(slot));
            if pairs.last().is_some_and(|last| *last > pair) {
                return Err(Violation::new(format!(
                    "{}-row {row}: relations do not ascend at slot {slot}",
                    side.name
                )));
            }
            if pairs.last() != Some(&pair) {
                pairs.push(pair);
            }
        }
        if form != RelationForm::choose(side.edges(), pairs.len() as u64) {
            return Err(Violation::new(format!(
                "{}-rows have {} relations in all: {form:?} is not what the rule says",
                side.name,
                pairs.len()
            )));
        }
        if !form.runs {
            let name = side.table_name("row_types");
            let types = tables.only_column(&name)?;
            expect_equal(|| format!("{name}: rows"), side.edges(), types.len() as u64)?;
            for (slot, relation) in (0..).zip(types.iter()) {
                expect_equal(|| format!("{name}, slot {slot}"), relation_at(slot), relation)?;
            }
            continue;
        }
        let name = side.table_name("runs");
        let (relations, starts) =
            (tables.column(&name, "relation")?, tables.column(&name, "start")?);
        expect_equal(|| format!("{name}: runs"), pairs.len() as u64, relations.len() as u64)?;
        first_entries(
            &side.table_name("row_runs"),
            tables.only_column(&side.table_name("row_runs"))?.iter(),
            pairs.iter().map(|&(row, _)| row),
            side.rows.len(),
        )?;
        let mut cover = Cover::new(&name, side.rows);
        for (run, &(row, relation)) in pairs.iter().enumerate() {
            let end = if run + 1 < starts.len() { starts.get(run + 1) } else { side.edges() };
            expect_equal(|| format!("{name}, run {run}: relation"), relation, relations.get(run))?;
            cover.mark_run(run, row, starts.get(run)..end)?;
            for slot in starts.get(run)..end {
                expect_equal(
                    || format!("{name}, run {run}: relation at slot {slot}"),
                    relation_at(slot),
                    relation,
                )?;
            }
        }
        cover.finish()?;
    }
    Ok(None)
}
