//! results: writes the results of a run, with the data set's own ids.
//!
//! promises  rows are in the order of nodes.parquet, or of graphs.parquet for rows of graphs;
//!           floats have the run's type; ids are the data set's own, the sentinel is null; the same
//!           values give the same bytes
//! never     normalises scores: they are the result of the program as it is
pub mod search_blocks;

use std::{ops::Range, path::Path, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Int64Array, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field};
use rayon::prelude::*;
use warploom_contract::{
    Kind, Outputs, StageError,
    kinds::{graph::Ids, run},
    parquet_file::TableWriter,
};
use warploom_cpu::evaluate::EdgeGraph;
use warploom_ir::{Direction, EdgeSet, Loss, Type};
use warploom_launch::{LaunchList, Rows};

use crate::{
    buffers::Place, host_state::HostState, inputs::input_data::Data, parameters,
    precision::Precision, resolved_program::ResolvedResult, training::TrainingOutcome,
    training::history,
};

/// Name of the column of ids.
pub const ID: &str = "id";
/// Name of the column of classes.
pub const CLASS: &str = "class";
/// Name of the column of scores.
pub const SCORES: &str = "scores";
/// Name of the column of fitted values.
pub const VALUE: &str = "value";

/// Writes parameters, predictions and metrics of a training run.
pub fn write_training<T: Precision>(
    outputs: &mut Outputs,
    host: &HostState<T>,
    list: &LaunchList,
    trained: &TrainingOutcome,
    seed: u64,
) -> Result<(), StageError> {
    history::write_metrics(
        &outputs.file(Kind::Run, run::METRICS_FILE),
        &trained.measures,
        &trained.history,
    )?;
    write_predictions(outputs, host, list, trained.kind, seed)
}

/// Writes parameters and their predictions, in the form of the loss that they were learned for.
pub fn write_predictions<T: Precision>(
    outputs: &mut Outputs,
    host: &HostState<T>,
    list: &LaunchList,
    kind: Loss,
    seed: u64,
) -> Result<(), StageError> {
    let data = &host.data;
    let Some(&Place::Real(index)) = host.program.results.first().map(|result| &result.place) else {
        return Err(StageError::defect("a plan for inference returns no floats"));
    };
    let reals = host.buffers.reals();
    let (rows, columns) = reals.shape(index);
    let order = RowOrder::new(data, rows);
    let mut table = ResultTable::new(data.row_ids(rows));
    match kind {
        Loss::CrossEntropy => {
            let classes = |piece| {
                order
                    .gather_rows(reals.get(index), columns, piece)
                    .par_chunks(columns.max(1))
                    .map(predicted_class)
                    .collect::<Vec<_>>()
            };
            let some_has_none =
                reals.get(index).par_iter().any(|score| score.partial_cmp(score).is_none());
            table.push(Field::new(CLASS, DataType::UInt32, some_has_none), 1, move |piece| {
                Ok(Arc::new(UInt32Array::from(classes(piece))))
            });
            table.push_reals(SCORES, reals.get(index), columns, &order, Shape::List);
        }
        Loss::Binary => table.push_reals(SCORES, reals.get(index), columns, &order, Shape::List),
        Loss::MeanSquares => {
            table.push_reals(VALUE, reals.get(index), columns, &order, Shape::from_columns(columns))
        }
    }
    table.write(&outputs.file(Kind::Run, run::PREDICTIONS_FILE))?;
    write_parameters(outputs, host, list, Some((kind, columns)), seed)?;
    count_rows(outputs, host, rows);
    Ok(())
}

/// Writes the parameters, with their loss and width if they make scores.
pub fn write_parameters<T: Precision>(
    outputs: &mut Outputs,
    host: &HostState<T>,
    list: &LaunchList,
    scores: Option<(Loss, usize)>,
    seed: u64,
) -> Result<(), StageError> {
    let path = outputs.file(Kind::Run, run::PARAMETERS_FILE);
    let mut file = parameters::parameter_tensors(list, scores, seed, &host.parameters());
    if let Some(learned) = &host.data.learned {
        file.facts.extend(learned.facts());
    }
    let bytes = file.to_bytes()?;
    std::fs::write(&path, bytes).map_err(|error| StageError::io("write", &path, &error))
}

/// Counts the rows of the table in the manifest.
fn count_rows<T: Precision>(outputs: &mut Outputs, host: &HostState<T>, rows: Rows) {
    let data = &host.data;
    outputs.count(Kind::Run, "nodes", data.nodes as u64);
    if let Rows::Graphs(count) = rows {
        outputs.count(Kind::Run, "graphs", count);
    }
}

/// Writes the values of an iteration: one table of nodes, or of the graphs of a set of many, one
/// table for each list of edges with results, and the applied parameters, if any.
pub fn write_iteration<T: Precision>(
    outputs: &mut Outputs,
    host: &HostState<T>,
    list: &LaunchList,
    seed: u64,
) -> Result<(), StageError> {
    if !list.parameters.is_empty() {
        write_parameters(outputs, host, list, None, seed)?;
    }
    let data = &host.data;
    let of_rows: Vec<&ResolvedResult> =
        host.program.results.iter().filter(|result| result.edges.is_none()).collect();
    let rows = of_rows.first().map_or(Rows::Nodes, |result| result.rows);
    let order = RowOrder::new(data, rows);
    let mut table = ResultTable::new(data.row_ids(rows));
    for result in of_rows {
        table.push_returned(host, result, &order)?;
    }
    table.write(&outputs.file(Kind::Run, run::VALUES_FILE))?;
    count_rows(outputs, host, rows);
    let mut lists: Vec<EdgeSet> = Vec::new();
    for edges in host.program.results.iter().filter_map(|result| result.edges) {
        if !lists.contains(&edges) {
            lists.push(edges);
        }
    }
    for (number, edges) in lists.into_iter().enumerate() {
        write_edge_values(outputs, host, number, edges)?;
    }
    Ok(())
}

/// Writes the values of one list of edges: both ends by the data set's own ids, in the order of
/// edge ids. Over both directions, all edges as in-edges come first, then all again as out-edges,
/// with the vertex that each belongs to.
fn write_edge_values<T: Precision>(
    outputs: &mut Outputs,
    host: &HostState<T>,
    number: usize,
    edges: EdgeSet,
) -> Result<(), StageError> {
    let data = &host.data;
    let graph = data.edge_graph();
    let count = graph.edge_count;
    let is_of = |edge: &u32, relation: u32| {
        graph.relation.get(*edge as usize).is_some_and(|found| u32::from(*found) == relation)
    };
    let chosen: Option<Vec<u32>> = edges
        .relation
        .map(|relation| (0..count as u32).filter(|edge| is_of(edge, relation)).collect());
    let each = chosen.as_ref().map_or(count, Vec::len);
    let twice = edges.direction == Direction::Both;
    // The edge of a row of the table, and whether the row is an out-edge.
    let edge = |row: usize| {
        let (row, turned) =
            if row < each { (row, edges.direction == Direction::Out) } else { (row - each, true) };
        (chosen.as_ref().map_or(row, |chosen| chosen[row] as usize), turned)
    };
    let end = |of: fn(&EdgeGraph, usize, bool) -> u32| {
        move |piece: RowRange| {
            let ends = piece.map(|row| {
                let (edge, turned) = edge(row);
                data.artifact_row(of(&graph, edge, turned) as usize) as u32
            });
            Ok(own_id_array(&data.ids, &ends.collect::<Vec<u32>>()))
        }
    };
    let rows = each * (1 + usize::from(twice));
    let again =
        |chosen: &Vec<u32>| chosen.iter().map(|edge| count as u32 + edge).collect::<Vec<u32>>();
    let order = RowOrder(chosen.as_ref().map(|chosen| {
        if twice { [chosen.clone(), again(chosen)].concat() } else { chosen.clone() }
    }));
    let mut table = ResultTable::empty(rows);
    let field =
        |name: &str| Field::new(name, own_id_array(&data.ids, &[]).data_type().clone(), false);
    table.push(field("source"), 1, end(|graph, edge, _| graph.source[edge]));
    table.push(field("target"), 1, end(|graph, edge, _| graph.target[edge]));
    if twice {
        table.push(
            field("of"),
            1,
            end(|graph, edge, turned| if turned { graph.source[edge] } else { graph.target[edge] }),
        );
    }
    for result in host.program.results.iter().filter(|result| result.edges == Some(edges)) {
        table.push_returned(host, result, &order)?;
    }
    let file = if number == 0 {
        run::EDGE_VALUES_FILE.to_owned()
    } else {
        run::EDGE_VALUES_FILE.replace(".parquet", &format!("_{number}.parquet"))
    };
    table.write(&outputs.file(Kind::Run, &file))
}

/// Rows of a table that are built and written together.
type RowRange = Range<usize>;

/// The row of a buffer for each row of a table; none where they are equal.
struct RowOrder(Option<Vec<u32>>);

impl RowOrder {
    /// Only rows of nodes are permuted; rows of graphs are in the order of their table.
    fn new<T: Precision>(data: &Data<T>, rows: Rows) -> Self {
        RowOrder(data.new_of_old().filter(|_| rows == Rows::Nodes))
    }

    fn gather_rows<E: Copy>(&self, elements: &[E], columns: usize, piece: RowRange) -> Vec<E> {
        match &self.0 {
            None => elements[piece.start * columns..piece.end * columns].to_vec(),
            Some(order) => order[piece]
                .iter()
                .flat_map(|&row| &elements[row as usize * columns..(row as usize + 1) * columns])
                .copied()
                .collect(),
        }
    }
}

/// How the columns of a row are written.
#[derive(Clone, Copy)]
enum Shape {
    /// As a single value.
    Plain,
    /// As a list of fixed size.
    List,
}

impl Shape {
    fn from_columns(columns: usize) -> Self {
        if columns == 1 { Shape::Plain } else { Shape::List }
    }
}

/// A table that is built in row ranges, so that it needs memory for one range only.
struct ResultTable<'a> {
    rows: usize,
    columns: Vec<(Field, Make<'a>)>,
    /// Elements of a row.
    width: usize,
    /// Whether the types of columns are those of any values, not only of these.
    fits_any_values: bool,
}

type Make<'a> = Box<dyn Fn(RowRange) -> Result<ArrayRef, StageError> + 'a>;

/// Elements of a row range, approximately.
const PIECE_ELEMENTS: usize = 1 << 20;

/// Row ranges are a multiple of this number of rows, after which the encoder checks whether a page
/// is full: ranges do not change the file.
const PIECE_ROWS: usize = 1 << 10;

impl<'a> ResultTable<'a> {
    /// A table of so many rows, without columns.
    fn empty(rows: usize) -> Self {
        ResultTable { rows, columns: Vec::new(), width: 0, fits_any_values: false }
    }

    /// A table with a column of ids.
    fn new(ids: &'a Ids) -> Self {
        let mut table = ResultTable::empty(ids.len());
        table.push_ids(ids);
        table
    }

    fn push_ids(&mut self, ids: &'a Ids) {
        let kind = ids.slice(0..0).to_array().data_type().clone();
        self.push(Field::new(ID, kind, false), 1, |piece| Ok(ids.slice(piece).to_array()));
    }

    fn push(
        &mut self,
        field: Field,
        width: usize,
        make: impl Fn(RowRange) -> Result<ArrayRef, StageError> + 'a,
    ) {
        self.columns.push((field, Box::new(make)));
        self.width += width;
    }

    fn push_reals<T: Precision>(
        &mut self,
        name: &str,
        values: &'a [T],
        columns: usize,
        order: &'a RowOrder,
        shape: Shape,
    ) {
        let field = shaped_type(T::array(Vec::new()).data_type().clone(), columns, shape, false);
        self.push(Field::new(name, field, false), columns, move |piece| {
            shape_column(T::array(order.gather_rows(values, columns, piece)), columns, shape, false)
        });
    }

    /// Adds a result of the program.
    fn push_returned<T: Precision>(
        &mut self,
        host: &'a HostState<T>,
        result: &'a ResolvedResult,
        order: &'a RowOrder,
    ) -> Result<(), StageError> {
        let (buffers, ids) = (&host.buffers, &host.data.ids);
        match result.place {
            Place::Real(index) => {
                let slot = buffers.reals().slot(index);
                self.push_reals(
                    &result.name,
                    slot.contents,
                    slot.columns,
                    order,
                    Shape::from_columns(slot.columns),
                );
            }
            Place::Whole(index) => {
                let (slot, kind) = (buffers.wholes().slot(index), result.kind);
                let (values, columns, shape) =
                    (slot.contents, slot.columns, Shape::from_columns(slot.columns));
                let nulls = self.fits_any_values && kind != Type::Bool
                    || values.par_iter().any(|&value| is_null(ids, kind, value));
                let element = integer_array(ids, kind, &[]).data_type().clone();
                let field = Field::new(
                    &result.name,
                    shaped_type(element, columns, shape, nulls),
                    nulls && columns == 1,
                );
                self.push(field, columns, move |piece| {
                    shape_column(
                        integer_array(ids, kind, &order.gather_rows(values, columns, piece)),
                        columns,
                        shape,
                        nulls,
                    )
                });
            }
            Place::Half(..) | Place::Sparse(_) => {
                return Err(StageError::defect(
                    "a plan returns its sparse features, or 16-bit floats",
                ));
            }
        }
        Ok(())
    }

    fn write(self, path: &Path) -> Result<(), StageError> {
        let mut writer = TableWriter::create(path, self.fields())?;
        self.write_rows(&mut writer)?;
        writer.finish()
    }

    fn fields(&self) -> Vec<Field> {
        self.columns.iter().map(|(field, _)| field.clone()).collect()
    }

    fn write_rows(&self, writer: &mut TableWriter) -> Result<(), StageError> {
        let in_piece = (PIECE_ELEMENTS / self.width.max(1) / PIECE_ROWS).max(1) * PIECE_ROWS;
        for first in (0..self.rows.max(1)).step_by(in_piece) {
            let piece = first..(first + in_piece).min(self.rows);
            let arrays = self.columns.iter().map(|(_, make)| make(piece.clone()));
            writer.write(arrays.collect::<Result<_, _>>()?)?;
        }
        Ok(())
    }
}

/// Bools, integers with null for the sentinels, or the data set's own ids.
fn integer_array(ids: &Ids, kind: Type, values: &[i64]) -> ArrayRef {
    match kind {
        Type::Bool => {
            Arc::new(BooleanArray::from_iter(values.iter().map(|&value| Some(value != 0))))
        }
        Type::Id => own_id_array(
            ids,
            &values
                .iter()
                .map(|&value| u32::try_from(value).unwrap_or(u32::MAX))
                .collect::<Vec<_>>(),
        ),
        Type::Int | Type::Real => Arc::new(Int64Array::from_iter(
            values.iter().map(|&value| (!is_null(ids, kind, value)).then_some(value)),
        )),
    }
}

fn is_null(ids: &Ids, kind: Type, value: i64) -> bool {
    match kind {
        Type::Bool => false,
        Type::Id => usize::try_from(value).map_or(true, |node| node >= ids.len()),
        Type::Int | Type::Real => value == i64::MAX || value == i64::MIN,
    }
}

/// The Arrow type of a column.
fn shaped_type(element: DataType, columns: usize, shape: Shape, nulls: bool) -> DataType {
    match shape {
        Shape::Plain => element,
        Shape::List => DataType::FixedSizeList(
            Arc::new(Field::new_list_field(element, nulls)),
            i32::try_from(columns).unwrap_or(i32::MAX),
        ),
    }
}

/// Elements as an Arrow column.
fn shape_column(
    values: ArrayRef,
    columns: usize,
    shape: Shape,
    nulls: bool,
) -> Result<ArrayRef, StageError> {
    if let Shape::Plain = shape {
        return Ok(values);
    }
    let defect = |error: String| {
        StageError::defect(format!("rows of {columns} numbers cannot be written: {error}"))
    };
    let width = i32::try_from(columns).map_err(|error| defect(error.to_string()))?;
    let item = Arc::new(Field::new_list_field(values.data_type().clone(), nulls));
    let list = FixedSizeListArray::try_new(item, width, values, None)
        .map_err(|error| defect(error.to_string()))?;
    Ok(Arc::new(list))
}

/// The column of the largest score, the first of equal ones; none if a score is NaN.
pub fn predicted_class<T: Precision>(scores: &[T]) -> Option<u32> {
    let mut best = None;
    for (column, &score) in scores.iter().enumerate() {
        score.partial_cmp(&score)?;
        if best.is_none_or(|best: usize| score > scores[best]) {
            best = Some(column);
        }
    }
    best.map(|best| best as u32)
}

/// The data set's own id of each node; null for the sentinel.
fn own_id_array(ids: &Ids, nodes: &[u32]) -> ArrayRef {
    match ids {
        Ids::Numbers(ids) => Arc::new(UInt64Array::from_iter(
            nodes.iter().map(|&node| ids.get(node as usize).copied()),
        )),
        Ids::Strings(ids) => {
            Arc::new(StringArray::from_iter(nodes.iter().map(|&node| ids.get(node as usize))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_class_wins_a_tie_and_a_nan_has_none() {
        assert_eq!(predicted_class(&[1.0f32, 2.0, 2.0]), Some(1));
        assert_eq!(predicted_class(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), Some(0));
        assert_eq!(predicted_class(&[1.0, f64::NAN]), None);
        assert_eq!(predicted_class::<f32>(&[]), None);
    }
}
