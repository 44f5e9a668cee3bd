//! results: what a run leaves behind, under the data set's own ids.
//!
//! promises  rows stand in the order of nodes.parquet, or, where they are of graphs, of graphs.parquet; reals in the run's type; ids are written as the data set's own, the
//!           sentinel as null; the same values give the same bytes
//! never     turns scores into shares: they are the program's result as it is
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, FixedSizeListArray, Int64Array, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use rayon::prelude::*;
use warploom_contract::{
    Kind, Outputs, StageError,
    kinds::{graph::Ids, run},
    parquet_file::write_table,
};
use warploom_vertex::{
    gir::{EdgeSet, Type},
    launch::{Direction, LaunchList, LossKind, Rows},
};

use crate::{executor::Executor, history, parameters, precision::Precision, program::Place, train::Trained};

/// Name of the column of ids.
pub const ID: &str = "id";
/// Name of the column of classes.
pub const CLASS: &str = "class";
/// Name of the column of scores.
pub const SCORES: &str = "scores";
/// Name of the column of fitted values.
pub const VALUE: &str = "value";

/// Writes parameters, predictions and metrics of a training run.
pub fn write_training<T: Precision>(outputs: &mut Outputs, executor: &Executor<T>, list: &LaunchList, trained: &Trained, seed: u64) -> Result<(), StageError> {
    history::write(&outputs.file(Kind::Run, run::METRICS_FILE), &trained.measures, &trained.history)?;
    write_predictions(outputs, executor, list, (trained.kind, seed))
}

/// Writes parameters and what they predict, by what they were learned for.
pub fn write_predictions<T: Precision>(
    outputs: &mut Outputs,
    executor: &Executor<T>,
    list: &LaunchList,
    (kind, seed): (LossKind, u64),
) -> Result<(), StageError> {
    let data = &executor.machine.data;
    let Some(&Place::Real(index)) = executor.program.results.first().map(|result| &result.place) else {
        return Err(StageError::defect("a plan that predicts returns no reals"));
    };
    let reals = executor.machine.buffers.reals();
    let (rows, columns) = reals.shape(index);
    let scores = data.in_order(rows, reals.get(index), columns);
    let mut table = vec![not_null(ID, data.ids_of(rows).to_array())];
    match kind {
        LossKind::CrossEntropy => {
            let classes: UInt32Array = scores.par_chunks(columns.max(1)).map(class_of).collect::<Vec<_>>().into();
            table.push((Field::new(CLASS, DataType::UInt32, classes.null_count() > 0), Arc::new(classes) as ArrayRef));
            table.push(not_null(SCORES, list_of(scores, columns)?));
        }
        LossKind::Binary => table.push(not_null(SCORES, list_of(scores, columns)?)),
        LossKind::MeanSquares => table.push(not_null(VALUE, column_of(scores, columns)?)),
    }
    write_table(&outputs.file(Kind::Run, run::PREDICTIONS_FILE), table)?;
    let path = outputs.file(Kind::Run, run::PARAMETERS_FILE);
    let mut file = parameters::file(list, (kind, columns, seed), &executor.parameters());
    if let Some(learned) = &data.learned {
        file.facts.extend(learned.facts());
    }
    let bytes = file.to_bytes()?;
    std::fs::write(&path, bytes).map_err(|error| StageError::io("write", &path, &error))?;
    count_rows(outputs, executor, rows);
    Ok(())
}

/// Says how many rows the table has, and what they are.
fn count_rows<T: Precision>(outputs: &mut Outputs, executor: &Executor<T>, rows: Rows) {
    let data = &executor.machine.data;
    outputs.count(Kind::Run, "nodes", data.nodes as u64);
    if let Rows::Graphs(count) = rows {
        outputs.count(Kind::Run, "graphs", count);
    }
}

/// Writes the values of an iteration: one table of the nodes, or of the graphs of a set of many, and one for each list of edges that values are returned of.
pub fn write_iteration<T: Precision>(outputs: &mut Outputs, executor: &Executor<T>) -> Result<(), StageError> {
    let data = &executor.machine.data;
    let rows = executor.program.results.iter().find(|result| result.edges.is_none()).map_or(Rows::Nodes, |result| result.rows);
    let mut table = vec![not_null(ID, data.ids_of(rows).to_array())];
    for result in executor.program.results.iter().filter(|result| result.edges.is_none()) {
        table.push(match result.place {
            Place::Real(index) => {
                let columns = executor.machine.buffers.reals().slot(index).columns;
                not_null(&result.name, column_of(data.in_order(rows, executor.machine.buffers.reals().get(index), columns), columns)?)
            }
            Place::Id(index) => {
                let own = own_ids(&data.ids, &data.unpermuted(executor.machine.buffers.ids().get(index), 1));
                nullable(&result.name, own)
            }
            Place::Whole(index) => {
                let columns = executor.machine.buffers.wholes().slot(index).columns;
                let values = data.in_order(rows, executor.machine.buffers.wholes().get(index), columns);
                nullable(&result.name, whole_column(&data.ids, result.kind, &values, columns)?)
            }
            Place::Half(..) | Place::Sparse(_) => return Err(StageError::defect("a plan returns its sparse features, or halves")),
        });
    }
    write_table(&outputs.file(Kind::Run, run::VALUES_FILE), table)?;
    count_rows(outputs, executor, rows);
    let mut lists: Vec<EdgeSet> = Vec::new();
    for edges in executor.program.results.iter().filter_map(|result| result.edges) {
        if !lists.contains(&edges) {
            lists.push(edges);
        }
    }
    for (number, edges) in lists.into_iter().enumerate() {
        write_edges(outputs, executor, (number, edges))?;
    }
    Ok(())
}

/// Writes the values of one list of edges: both ends by the data set's own ids, in the order of edge ids; over both
/// directions all edges as in-edges, then all again as out-edges, with the vertex that owns them.
fn write_edges<T: Precision>(outputs: &mut Outputs, executor: &Executor<T>, (number, edges): (usize, EdgeSet)) -> Result<(), StageError> {
    let data = &executor.machine.data;
    let graph = data.edge_graph();
    let passes: &[bool] = match edges.direction {
        Direction::In => &[true],
        Direction::Out => &[false],
        Direction::Both => &[true, false],
    };
    let mut rows: Vec<(usize, usize, bool)> = Vec::new();
    for (pass, &incoming) in passes.iter().enumerate() {
        let is_of = |edge: &usize| edges.relation.is_none_or(|relation| graph.relation.get(*edge).is_some_and(|found| u32::from(*found) == relation));
        rows.extend((0..graph.edge_count).filter(is_of).map(|edge| (pass * graph.edge_count + edge, edge, incoming)));
    }
    let end = |of: &dyn Fn(&(usize, usize, bool)) -> u32| own_ids(&data.ids, &rows.iter().map(|row| data.old(of(row) as usize) as u32).collect::<Vec<_>>());
    let mut table = vec![not_null("source", end(&|row| graph.source[row.1])), not_null("target", end(&|row| graph.target[row.1]))];
    if passes.len() == 2 {
        table.push(not_null("of", end(&|row| if row.2 { graph.target[row.1] } else { graph.source[row.1] })));
    }
    for result in executor.program.results.iter().filter(|result| result.edges == Some(edges)) {
        table.push(match result.place {
            Place::Real(index) => {
                let slot = executor.machine.buffers.reals().slot(index);
                let values = rows.iter().flat_map(|row| slot.contents[row.0 * slot.columns..][..slot.columns].iter().copied()).collect();
                not_null(&result.name, column_of(values, slot.columns)?)
            }
            Place::Whole(index) => {
                let slot = executor.machine.buffers.wholes().slot(index);
                let values: Vec<i64> = rows.iter().flat_map(|row| slot.contents[row.0 * slot.columns..][..slot.columns].iter().copied()).collect();
                nullable(&result.name, whole_column(&data.ids, result.kind, &values, slot.columns)?)
            }
            Place::Half(..) | Place::Id(_) | Place::Sparse(_) => return Err(StageError::defect("values of edges are real or whole")),
        });
    }
    let file = if number == 0 { run::EDGE_VALUES_FILE.to_owned() } else { run::EDGE_VALUES_FILE.replace(".parquet", &format!("_{number}.parquet")) };
    write_table(&outputs.file(Kind::Run, &file), table)
}

fn nullable(name: &str, array: ArrayRef) -> (Field, ArrayRef) {
    (Field::new(name, array.data_type().clone(), array.null_count() > 0), array)
}

/// Bools, ints with null for what stands beyond every int, or the data set's own ids.
fn whole_column(ids: &Ids, kind: Type, values: &[i64], columns: usize) -> Result<ArrayRef, StageError> {
    let array: ArrayRef = match kind {
        Type::Bool => Arc::new(BooleanArray::from_iter(values.iter().map(|&value| Some(value != 0)))),
        Type::Id => own_ids(ids, &values.iter().map(|&value| u32::try_from(value).unwrap_or(u32::MAX)).collect::<Vec<_>>()),
        Type::Int | Type::Real => Arc::new(Int64Array::from_iter(values.iter().map(|&value| (value != i64::MAX && value != i64::MIN).then_some(value)))),
    };
    if columns == 1 { Ok(array) } else { listed(array, columns) }
}

/// The column of the largest score, the first of several; none where a score is not a number.
pub fn class_of<T: Precision>(scores: &[T]) -> Option<u32> {
    let mut best = None;
    for (column, &score) in scores.iter().enumerate() {
        score.partial_cmp(&score)?;
        if best.is_none_or(|best: usize| score > scores[best]) {
            best = Some(column);
        }
    }
    best.map(|best| best as u32)
}

fn not_null(name: &str, array: ArrayRef) -> (Field, ArrayRef) {
    (Field::new(name, array.data_type().clone(), false), array)
}

/// One number a row as a plain column, several as a list of fixed size.
fn column_of<T: Precision>(values: Vec<T>, columns: usize) -> Result<ArrayRef, StageError> {
    if columns == 1 { Ok(T::array(values)) } else { list_of(values, columns) }
}

fn list_of<T: Precision>(values: Vec<T>, columns: usize) -> Result<ArrayRef, StageError> {
    listed(T::array(values), columns)
}

fn listed(values: ArrayRef, columns: usize) -> Result<ArrayRef, StageError> {
    let defect = |error: String| StageError::defect(format!("rows of {columns} numbers cannot be written: {error}"));
    let width = i32::try_from(columns).map_err(|error| defect(error.to_string()))?;
    let item = Arc::new(Field::new_list_field(values.data_type().clone(), values.null_count() > 0));
    let list = FixedSizeListArray::try_new(item, width, values, None).map_err(|error| defect(error.to_string()))?;
    Ok(Arc::new(list))
}

/// The data set's own id of each node; null beyond the last.
fn own_ids(ids: &Ids, nodes: &[u32]) -> ArrayRef {
    match ids {
        Ids::Numbers(ids) => Arc::new(UInt64Array::from_iter(nodes.iter().map(|&node| ids.get(node as usize).copied()))),
        Ids::Strings(ids) => Arc::new(StringArray::from_iter(nodes.iter().map(|&node| ids.get(node as usize)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_class_wins_a_tie_and_a_nan_has_none() {
        assert_eq!(class_of(&[1.0f32, 2.0, 2.0]), Some(1));
        assert_eq!(class_of(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), Some(0));
        assert_eq!(class_of(&[1.0, f64::NAN]), None);
        assert_eq!(class_of::<f32>(&[]), None);
    }
}
