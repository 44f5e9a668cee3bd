//! program_inputs: inputs of a compiled program from the data set, except features and target.
//!
//! promises  rows of nodes are in the order of the permuted graph, rows of edges in the order of
//!           edge ids; an input that the graph lacks is an error with its name
//! never     loads what no launch reads
use std::collections::BTreeMap;

use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{
        Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
        UInt32Type, UInt64Type,
    },
};
use rayon::prelude::*;
use warploom_contract::{
    Artifact, StageError,
    kinds::{csr::Csr, graph},
    parquet_file::read_table,
};
use warploom_ir::{Direction, EdgeSet, Input, Type};
use warploom_launch::{BufferName, LaunchList, Role};
use warploom_shell::column_names;

use crate::{
    buffers::{Aligned, Contents},
    inputs::edge_lists,
    inputs::input_data::{Data, InputRows, absent_input_error},
    inputs::node_kinds,
    precision::Precision,
};

/// Rows that one task fills, at least.
const TASK_ROWS: usize = 1 << 14;

/// Loads the buffers of role `given`.
pub fn load_inputs<T: Precision>(
    data: &Data<T>,
    list: &LaunchList,
    csr: &Csr,
    artifact: &Artifact,
) -> Result<BTreeMap<BufferName, InputRows<T>>, StageError> {
    let mut given = BTreeMap::new();
    for buffer in &list.buffers {
        if let Role::Given(input) = &buffer.role {
            given.insert(buffer.name.clone(), load_input(data, input, csr, artifact)?);
        }
    }
    Ok(given)
}

fn load_input<T: Precision>(
    data: &Data<T>,
    input: &Input,
    csr: &Csr,
    artifact: &Artifact,
) -> Result<InputRows<T>, StageError> {
    match input {
        Input::Kind => whole_rows(&node_kinds::kinds_by_row(data, artifact)?),
        Input::PlaceAmong(kinds) => whole_rows(&node_kinds::places_among(data, kinds, artifact)?),
        Input::FeaturesOf(kind) => node_kinds::open_dense_features(artifact, *kind),
        Input::Chosen(setting) => {
            let rows = data.chosen.get(setting).ok_or_else(|| {
                StageError::defect(format!(
                    "the plan reads the nodes that `{setting}` names, and the run knows none"
                ))
            })?;
            integer_rows(data.nodes, |row| {
                i64::from(rows.contains(&(data.artifact_row(row) as u64)))
            })
        }
        Input::Id => integer_rows(data.nodes, |row| data.artifact_row(row) as i64),
        Input::Degree(edges) => whole_rows(&degrees(csr, *edges)),
        Input::Weight => match csr.weights.as_ref() {
            None => float_rows(data.edges, |_| T::rounded(1.0)),
            Some(weights) => {
                let by_edge = edge_lists::order_by_edge(csr, weights);
                float_rows(data.edges, |edge| T::from_f32(by_edge[edge]))
            }
        },
        Input::EdgeType => match csr.types.as_ref() {
            None => Err(absent_input_error(artifact, "relations")),
            Some(types) => {
                let by_edge = edge_lists::order_by_edge(csr, types);
                integer_rows(data.edges, |edge| i64::from(by_edge[edge]))
            }
        },
        Input::GraphSize => match &data.lists.graphs {
            None => integer_rows(1, |_| data.nodes as i64),
            Some(graphs) => whole_rows(&graphs.sizes().collect::<Vec<i64>>()),
        },
        Input::Column(name) => column_rows(data, name, artifact),
        Input::EdgeFeatures => match graph::open_edge_features(artifact)? {
            None => Err(absent_input_error(artifact, "edge features")),
            Some((columns, values)) => {
                let found = values.len().checked_div(columns).unwrap_or(0);
                if found != data.edges {
                    let path = artifact.file(graph::EDGE_FEATURES_FILE);
                    return Err(StageError::damaged(
                        &path,
                        format!(
                            "expected rows for {} edges, as the csr has, found {found}",
                            data.edges
                        ),
                    ));
                }
                Ok(InputRows::Real(Contents::Shared(T::from_view(&values))))
            }
        },
        Input::Features | Input::Target => {
            Err(StageError::defect("features and targets have roles of their own"))
        }
    }
}

/// So many rows, made in parallel.
fn integer_rows<T: Precision>(
    count: usize,
    of: impl Fn(usize) -> i64 + Sync,
) -> Result<InputRows<T>, StageError> {
    let mut kept = Aligned::zeros(count)?;
    fill_rows(&mut kept, of);
    Ok(InputRows::Whole(Contents::Owned(kept)))
}

fn whole_rows<T: Precision>(values: &[i64]) -> Result<InputRows<T>, StageError> {
    integer_rows(values.len(), |row| values[row])
}

fn float_rows<T: Precision>(
    count: usize,
    of: impl Fn(usize) -> T + Sync,
) -> Result<InputRows<T>, StageError> {
    let mut kept = Aligned::zeros(count)?;
    fill_rows(&mut kept, of);
    Ok(InputRows::Real(Contents::Owned(kept)))
}

fn fill_rows<E: Send>(rows: &mut [E], of: impl Fn(usize) -> E + Sync) {
    rows.par_iter_mut().enumerate().with_min_len(TASK_ROWS).for_each(|(row, kept)| *kept = of(row));
}

/// Number of edges of each vertex.
fn degrees(csr: &Csr, edges: EdgeSet) -> Vec<i64> {
    let counted = |offsets: &[u64]| {
        offsets.windows(2).map(|pair| (pair[1] - pair[0]) as i64).collect::<Vec<_>>()
    };
    match (edges.relation, edges.direction) {
        (Some(relation), direction) => degrees_in_relation(csr, direction, relation),
        (None, Direction::In) => counted(&csr.incoming.offsets),
        (None, Direction::Out) => counted(&csr.outgoing.offsets),
        (None, Direction::Both) => {
            let outgoing = counted(&csr.outgoing.offsets);
            counted(&csr.incoming.offsets).iter().zip(outgoing).map(|(a, b)| a + b).collect()
        }
    }
}

/// Number of edges of a relation of each vertex.
fn degrees_in_relation(csr: &Csr, direction: Direction, relation: u32) -> Vec<i64> {
    let types = csr.types.as_deref().unwrap_or(&[]);
    let mut counts = vec![0; csr.nodes()];
    for (vertex, pair) in csr.incoming.offsets.windows(2).enumerate() {
        for slot in pair[0] as usize..pair[1] as usize {
            if types.get(slot).is_none_or(|found| u32::from(*found) != relation) {
                continue;
            }
            counts[vertex] += i64::from(direction != Direction::Out);
            counts[csr.incoming.neighbours[slot] as usize] += i64::from(direction != Direction::In);
        }
    }
    counts
}

/// A column of nodes.parquet in the artifact's order; a missing value is NaN, for integers the
/// sentinel.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeColumn {
    /// Floats.
    Real(Vec<f64>),
    /// Bools and integers.
    Whole(Vec<i64>),
}

/// Reads a column of nodes.parquet.
pub fn read_column(artifact: &Artifact, name: &str) -> Result<NodeColumn, StageError> {
    let path = artifact.file(graph::NODES_FILE);
    let table = read_table(&path, Some(&[name]))?;
    let column = table
        .column(name)
        .ok_or_else(|| absent_input_error(artifact, &format!("the column `{name}`")))?;
    match column_names::column_type(column.data_type()) {
        None => Err(StageError::damaged(
            &path,
            format!("column `{name}`: no numbers, but {}", column.data_type()),
        )),
        Some(Type::Real) => Ok(NodeColumn::Real(read_floats(column))),
        Some(_) => Ok(NodeColumn::Whole(read_integers(column))),
    }
}

fn column_rows<T: Precision>(
    data: &Data<T>,
    name: &str,
    artifact: &Artifact,
) -> Result<InputRows<T>, StageError> {
    match read_column(artifact, name)? {
        NodeColumn::Real(values) => {
            float_rows(data.nodes, |row| T::rounded(values[data.artifact_row(row)]))
        }
        NodeColumn::Whole(values) => integer_rows(data.nodes, |row| values[data.artifact_row(row)]),
    }
}

fn read_floats(column: &ArrayRef) -> Vec<f64> {
    if let Some(values) = column.as_primitive_opt::<Float32Type>() {
        return values.iter().map(|value| value.map_or(f64::NAN, f64::from)).collect();
    }
    column.as_primitive_opt::<Float64Type>().map_or_else(Vec::new, |values| {
        values.iter().map(|value| value.unwrap_or(f64::NAN)).collect()
    })
}

fn read_integers(column: &ArrayRef) -> Vec<i64> {
    if let Some(bools) = column.as_boolean_opt() {
        return bools.iter().map(|value| i64::from(value.unwrap_or(false))).collect();
    }
    macro_rules! of {
        ($($kind:ty),*) => {$(
            if let Some(values) = column.as_primitive_opt::<$kind>() {
                return values.iter().map(|value| value.map_or(i64::MAX, |value| i64::try_from(value).unwrap_or(i64::MAX))).collect();
            }
        )*};
    }
    of!(Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type);
    vec![i64::MAX; column.len()]
}
