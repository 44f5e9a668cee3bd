//! searches: verifies the searches of `run.sources`, each as a run of its own.
//!
//! promises  the record has the sources as they were asked for; every block of values.parquet has
//!           its source and the ids of the nodes; as many searches are recomputed, evenly spread
//!           over the list, as the work of a check allows, and at least one
//! never     has more than one block of values in memory; skips silently: searches that are left
//!           out are a warning
use warploom_contract::{
    Context, Violation,
    kinds::{
        graph,
        run::{self, Record, SearchRecord},
    },
    parquet_file::{Table, describe, read_rows},
};
use warploom_shell::{
    search_sources::SOURCE,
    vertices::{ChosenVertices, VertexName},
};

use super::{has_ids, recompute::Recomputation, rows_by_id, violation, wrong_ids};
use crate::{inputs::vertices, precision::Precision, searches::id_value};

/// Verifies all searches of a run.
pub(super) fn check_searches<T: Precision>(
    context: &Context,
    whole: &Recomputation,
    sources: &ChosenVertices,
) -> Result<(), Violation> {
    let rows = vertices::find_source_rows(sources, &whole.nodes.ids)?;
    let searches = &whole.record.searches;
    let wanted = rows.iter().map(|&row| id_value(&whole.nodes.ids, row));
    if !wanted.eq(searches.iter().map(|search| search.source.clone())) {
        let what = "the searches of the record are not those of `run.sources`, in its order";
        return Err(violation(&whole.artifact.file(run::RECORD_FILE), what.to_owned()));
    }
    let path = whole.artifact.file(run::VALUES_FILE);
    let (found, expected) = (describe(&path)?.0, (rows.len() * whole.ids.len()) as u64);
    if found != expected {
        let what = format!("expected {expected} rows, a block for each search, found {found}");
        return Err(violation(&path, what));
    }
    let edges = graph::read_edges(whole.graph)?;
    let (mut work, mut recomputed) = (0u64, vec![false; rows.len()]);
    for number in spread_order(rows.len()) {
        if work > whole.work_max {
            break;
        }
        let (record, chosen) =
            single_search(whole.record, &searches[number], sources, rows[number]);
        let search = Recomputation { record: &record, chosen: &[chosen], ..*whole };
        search.check_values::<T>(context, &read_block(whole, number, rows[number])?)?;
        work = work.saturating_add(search.estimate_work(&edges).max(1));
        recomputed[number] = true;
    }
    let left: Vec<usize> = (0..rows.len()).filter(|&number| !recomputed[number]).collect();
    for &number in &left {
        read_block(whole, number, rows[number])?;
    }
    if !left.is_empty() {
        context.progress.warn(&format!(
            "{} of {} searches were not recomputed, for the time that it takes; their sources and \
             ids are right",
            left.len(),
            rows.len()
        ));
    }
    Ok(())
}

/// The block of a search, whose source and ids are checked.
fn read_block(whole: &Recomputation, number: usize, source: u64) -> Result<Table, Violation> {
    let (path, count) = (whole.artifact.file(run::VALUES_FILE), whole.ids.len());
    let block = read_rows(&path, number * count, count)?;
    if !has_ids(&block, whole.ids) {
        return Err(wrong_ids(&path));
    }
    let found = block.column(SOURCE).and_then(|column| rows_by_id(column, &whole.nodes.ids));
    if !found.is_some_and(|found| found.iter().all(|&row| row == source as f64)) {
        let id = id_value(&whole.nodes.ids, source);
        let what = format!("block {number}: the column `{SOURCE}` is not {id} in every row");
        return Err(violation(&path, what));
    }
    Ok(block)
}

/// The record and the vertex of one search, as of a run of its own.
fn single_search(
    whole: &Record,
    search: &SearchRecord,
    sources: &ChosenVertices,
    row: u64,
) -> (Record, ChosenVertices) {
    let record = Record {
        searches: Vec::new(),
        supersteps: search.supersteps,
        supersteps_of_loops: search.supersteps_of_loops.clone(),
        courses: search.courses.clone(),
        converged: search.converged,
        ..whole.clone()
    };
    let named = vec![VertexName::Row(row)];
    (record, ChosenVertices { named, given: None, ..sources.clone() })
}

/// The numbers of a list, so that those of any beginning are spread over it: the first, then by
/// ever smaller steps.
fn spread_order(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count.min(1)).collect();
    let mut step = count.next_power_of_two();
    while step > 1 {
        order.extend((step / 2..count).step_by(step));
        step /= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_beginning_is_spread_over_the_list() {
        assert_eq!(spread_order(8), [0, 4, 2, 6, 1, 3, 5, 7]);
        assert_eq!(spread_order(1), [0]);
        assert!(spread_order(0).is_empty());
        for count in 2..40 {
            let mut order = spread_order(count);
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>(), "each once");
        }
    }
}
