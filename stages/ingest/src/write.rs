//! write: writes a graph in memory as the files of a `graph` artifact.
//!
//! promises  very sparse features stay sparse
//! never     changes a value
use std::{collections::BTreeSet, sync::Arc};

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use warploom_contract::{
    Outputs, StageError,
    kinds::graph::{
        EdgeTable, FeatureRows, GraphTable, Ids, Labels, NODE_COLUMNS, Names, NodeTable,
        nodes_of_kinds, write_edge_features, write_edges, write_features, write_graphs,
        write_kinds, write_nodes,
    },
    progress::{Advance, Phase, Progress},
};
use warploom_formats::raw_graph::{self, Column, NO_CLASS, NodeIds, RawGraph};

/// Features stay sparse below this share of nonzeros: a sparse product then reads less than a dense
/// one.
const SPARSE_BELOW: f64 = 0.1;

/// Reports of each node while writing: its features, and its table row.
pub const TABLES: u64 = 2;

/// Writes all files of the graph.
pub fn write_graph(
    outputs: &mut Outputs,
    mut graph: RawGraph,
    progress: &dyn Progress,
) -> Result<(), StageError> {
    let writing =
        Phase::begin(progress, "writing", u64::from(graph.nodes()), "nodes").passes(TABLES);
    write_all_but_edges(outputs, &mut graph, &|nodes| writing.add(nodes))?;
    drop(writing);
    let edges = graph.edges;
    let writing = Phase::begin(progress, "writing", edges.len() as u64, "edges");
    if let Some(features) = edges.features {
        write_edge_features(outputs, features.columns as usize, features.values)?;
    }
    write_edges(
        outputs,
        EdgeTable {
            source: edges.source,
            target: edges.target,
            weight: edges.weight,
            kind: edges.relation,
        },
        &|count| writing.add(count),
    )
}

/// Writes nodes, features, node types, graphs and names, and removes them from the graph.
pub fn write_all_but_edges(
    outputs: &mut Outputs,
    graph: &mut RawGraph,
    advance: Advance<'_>,
) -> Result<(), StageError> {
    let nodes = graph.nodes();
    let target =
        graph.graphs.as_ref().and_then(|graphs| graphs.labels.as_ref()).or(graph.labels.as_ref());
    let classes = if let Some(raw_graph::Labels::Classes { names, .. }) = target {
        names.clone()
    } else {
        Vec::new()
    };
    let kinds = graph.kinds.as_ref().map(|kinds| kinds.names.clone()).unwrap_or_default();
    let names = Names { kinds, relations: std::mem::take(&mut graph.relations), classes };
    if let Some(features) = graph.features.take() {
        write_features(outputs, None, feature_rows(features, nodes as usize))?;
    }
    let mut of_node = None;
    if let Some(kinds) = graph.kinds.take() {
        let counts = nodes_of_kinds(&kinds.of_node, kinds.names.len());
        for ((name, features), count) in kinds.names.iter().zip(kinds.features).zip(counts) {
            if let Some(features) = features {
                write_features(outputs, Some(name), feature_rows(features, count))?;
            }
        }
        of_node = Some(kinds.of_node);
    }
    advance(nodes.into());
    let graphs = graph.graphs.take();
    let table = NodeTable {
        ids: ids(std::mem::take(&mut graph.ids)),
        labels: graph.labels.take().map(labels),
        splits: std::mem::take(&mut graph.splits),
        kind: of_node,
        graph: graphs.as_ref().map(|graphs| graphs.of_node.clone()),
        columns: columns(std::mem::take(&mut graph.columns)),
    };
    write_kinds(outputs, &names, &table)?;
    let nodes_are_labelled = table.labels.is_some();
    write_nodes(outputs, table)?;
    advance(nodes.into());
    match graphs {
        Some(graphs) => {
            let columns = columns(graphs.columns);
            let graphs = GraphTable {
                ids: ids(graphs.ids),
                labels: graphs.labels.map(labels),
                splits: graphs.splits,
                columns,
            };
            write_graphs(outputs, &graphs, nodes_are_labelled)
        }
        None => Ok(()),
    }
}

/// Further columns by ascending name, since not every format orders them; `label` and other
/// reserved names become `own_label` and so on.
fn columns(columns: Vec<(String, Column)>) -> Vec<(String, ArrayRef)> {
    let mut taken: BTreeSet<String> = columns
        .iter()
        .map(|(name, _)| name.clone())
        .chain(NODE_COLUMNS.map(str::to_owned))
        .collect();
    let mut named = |name: String| {
        if !NODE_COLUMNS.contains(&name.as_str()) {
            return name;
        }
        let mut own = format!("own_{name}");
        while !taken.insert(own.clone()) {
            own = format!("own_{own}");
        }
        own
    };
    let mut all: Vec<(String, ArrayRef)> =
        columns.into_iter().map(|(name, values)| (named(name), column(values))).collect();
    all.sort_by(|(name, _), (other, _)| name.cmp(other));
    all
}

fn ids(ids: NodeIds) -> Ids {
    match ids {
        NodeIds::Count(count) => Ids::Numbers((0..u64::from(count)).collect()),
        NodeIds::Numbers(numbers) => Ids::Numbers(numbers),
        NodeIds::Strings(strings) => Ids::Strings(strings),
    }
}

fn labels(labels: raw_graph::Labels) -> Labels {
    match labels {
        raw_graph::Labels::Classes { class, .. } => Labels::Classes(
            class.into_iter().map(|class| (class != NO_CLASS).then_some(class)).collect(),
        ),
        raw_graph::Labels::Values(values) => Labels::Values(values),
        raw_graph::Labels::Rows { columns, values } => {
            Labels::Rows { columns: columns as usize, values }
        }
    }
}

/// NaN is a missing value: arrays cannot express it otherwise.
fn column(values: Column) -> ArrayRef {
    match values {
        Column::Integers(values) => Arc::new(Int64Array::from(values)),
        Column::Reals(values) => Arc::new(Float64Array::from_iter(
            values.into_iter().map(|value| value.filter(|number| !number.is_nan())),
        )),
        Column::Texts(values) => Arc::new(StringArray::from(values)),
    }
}

/// Features in their stored form: sparse where that is less to read.
fn feature_rows(features: raw_graph::Features, rows: usize) -> FeatureRows {
    match features {
        raw_graph::Features::Dense { columns, values }
            if is_sparse(values.iter().filter(|value| **value != 0.0).count(), rows, columns) =>
        {
            let (mut offsets, mut index, mut entries) =
                (Vec::with_capacity(rows + 1), Vec::new(), Vec::new());
            offsets.push(0);
            for row in values.chunks_exact(columns as usize) {
                let there = row.iter().zip(0u32..).filter(|(value, _)| **value != 0.0);
                there.for_each(|(&value, column)| {
                    index.push(column);
                    entries.push(value);
                });
                offsets.push(index.len() as u64);
            }
            FeatureRows::Sparse { columns: columns as usize, offsets, index, values: entries }
        }
        raw_graph::Features::Dense { columns, values } => {
            FeatureRows::Dense { columns: columns as usize, values }
        }
        raw_graph::Features::Sparse { columns, offsets, index, values }
            if is_sparse(index.len(), rows, columns) =>
        {
            FeatureRows::Sparse { columns: columns as usize, offsets, index, values }
        }
        sparse => FeatureRows::Dense {
            columns: sparse.columns() as usize,
            values: sparse.into_dense(rows),
        },
    }
}

fn is_sparse(entries: usize, rows: usize, columns: u32) -> bool {
    (entries as f64) < SPARSE_BELOW * rows as f64 * f64::from(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_with_a_name_of_ours_gets_another() {
        let named = |names: &[&str]| {
            let made = columns(
                names
                    .iter()
                    .map(|name| ((*name).to_owned(), Column::Integers(vec![Some(1)])))
                    .collect(),
            );
            made.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(
            named(&["label", "age", "own_label", "kind"]),
            ["age", "own_kind", "own_label", "own_own_label"]
        );
        assert_eq!(named(&["Label", "id_2"]), ["Label", "id_2"]);
        let expected: ArrayRef = Arc::new(Float64Array::from(vec![None, None, Some(0.5)]));
        assert_eq!(&column(Column::Reals(vec![Some(f64::NAN), None, Some(0.5)])), &expected);
    }

    /// Two of twenty values are a tenth: stored dense from there on.
    #[test]
    fn very_sparse_features_stay_sparse() {
        let sparse = |entries: u64| {
            let index: Vec<u32> = (0..entries as u32).collect();
            let values = vec![2.0; entries as usize];
            feature_rows(
                raw_graph::Features::Sparse {
                    columns: 10,
                    offsets: vec![0, entries, entries],
                    index,
                    values,
                },
                2,
            )
        };
        assert_eq!(
            sparse(1),
            FeatureRows::Sparse {
                columns: 10,
                offsets: vec![0, 1, 1],
                index: vec![0],
                values: vec![2.0]
            }
        );
        let FeatureRows::Dense { columns: 10, values } = sparse(2) else {
            panic!("expected dense rows")
        };
        assert_eq!(
            (values[..3].to_vec(), values.len(), values.iter().sum::<f32>()),
            (vec![2.0, 2.0, 0.0], 20, 4.0)
        );
        // Rows that were read with their zeros are stored as those that were not.
        let dense = |entries: usize| {
            let mut values = vec![0.0; 20];
            values[..entries].fill(2.0);
            feature_rows(raw_graph::Features::Dense { columns: 10, values }, 2)
        };
        assert_eq!((dense(1), dense(2)), (sparse(1), sparse(2)));
        assert_eq!(
            feature_rows(raw_graph::Features::Dense { columns: 0, values: Vec::new() }, 2),
            FeatureRows::Dense { columns: 0, values: Vec::new() }
        );
    }
}
