//! check: verifies results with the reference executor.
//!
//! training    recomputes predictions from the saved parameters, in f64, on the edge list in the
//!             data set's own order: for all nodes, with the loss, where that takes at most
//!             `WORK_MAX` steps; else for as many of 32 sampled nodes as fit, each with everything
//!             that its prediction depends on. Every class must be the first largest score. Where
//!             graphs are learned, recomputes the predictions of all graphs
//! iteration   recomputes all of it in f64, where that takes at most `WORK_MAX` steps; else one
//!             more superstep from the values must meet the stop condition of the run, apart from
//!             rounding
//! inference   recomputes predictions, or values, from the applied parameters
//! searches    of `run.sources`: sources and ids of every block; as an iteration, as many searches,
//!             evenly spread, as take at most `WORK_MAX` steps together
//! always      ids and their order are those of nodes.parquet; there is a row of metrics for each
//!             epoch
//! never       reads csr, permutation or partition; verifies that training found the right
//!             parameters (the golden tests do)
use std::{collections::BTreeMap, path::Path};

use arrow_array::{
    ArrayRef,
    cast::AsArray,
    types::{UInt32Type, UInt64Type},
};
use warploom_contract::{
    Artifact, Context, Inputs as Artifacts, Kind, StageError, Violation,
    kinds::{
        graph::{self, EdgeTable, Features, GraphTable, Ids, Labels, NodeTable, Split},
        run::{self, Record},
    },
    parquet_file::{Table, read_table},
};
use warploom_ir::{Half, Input, Loss, Op};
use warploom_launch::reference::{Inputs, Reference, ReferenceError, ReferenceGraph};
use warploom_launch::{
    Body, Buffer, Element, Launch, LaunchList, Operand, Operation, Role, Rows, Train,
};
use warploom_shell::requests::RunRequest;

mod reach;
mod recompute;
mod searches;

use reach::Reach;

use crate::{
    inputs::graphs,
    inputs::node_kinds,
    inputs::program_inputs::{self, NodeColumn},
    inputs::target_and_splits::{self, DataSetLabels},
    inputs::vertices,
    precision::Precision,
    results::{CLASS, ID, SCORES, VALUE, predicted_class},
    tensors::Tensors,
};

/// Steps of the reference executor that a check may take: about ten seconds.
pub const WORK_MAX: u64 = 300_000_000;
/// Nodes that are sampled where all would be too many.
const SAMPLES: usize = 32;

/// Verifies the outputs of a run, with at most so many steps of the reference executor.
pub fn check_results<T: Precision>(
    context: &Context,
    outputs: &Artifacts,
    inputs: &Artifacts,
    request: &RunRequest,
    list: &LaunchList,
    predicts: Option<Loss>,
    work_max: u64,
) -> Result<(), Violation> {
    let artifact = outputs.get(Kind::Run)?;
    let graph = inputs.get(Kind::Graph)?;
    let (nodes, graphs) = (graph::read_nodes(graph)?, graphs::read_graph_table(graph, list)?);
    let record = run::open_record(artifact)?;
    let ids = ids_of_table(list, &nodes, graphs.as_ref());
    match (&list.body, predicts) {
        (Body::Train(train), _) => {
            let Operation::Loss { kind, .. } = train.loss.operation else {
                return Err(Violation::new("the loss launch of the plan is no loss"));
            };
            let scores = read_predictions::<T>(artifact, ids, kind)?;
            let losses = read_losses(artifact, &record)?;
            let proof = Proof {
                list,
                train,
                graph,
                nodes: &nodes,
                graphs: graphs.as_ref(),
                request,
                work_max,
            };
            let loss = losses.get(record.epoch_kept as usize).copied().unwrap_or(f64::NAN);
            proof.check_predictions::<T>(context, artifact, &scores, loss)
        }
        (Body::Iterate(_), predicts) => {
            let recomputation = recompute::Recomputation {
                artifact,
                graph,
                nodes: &nodes,
                ids,
                list,
                record: &record,
                chosen: &request.chosen,
                work_max,
            };
            match (predicts, request.sources()) {
                (Some(kind), _) => {
                    let scores = read_predictions::<T>(artifact, ids, kind)?;
                    recomputation.check_predictions::<T>(context, &scores)
                }
                (None, Some(sources)) => {
                    searches::check_searches::<T>(context, &recomputation, sources)
                }
                (None, None) => {
                    let found = read_checked_table(artifact, run::VALUES_FILE, ids)?;
                    recomputation.check_values::<T>(context, &found)
                }
            }
        }
    }
}

/// The data set's own ids of the rows of the table of results.
fn ids_of_table<'a>(
    list: &LaunchList,
    nodes: &'a NodeTable,
    graphs: Option<&'a GraphTable>,
) -> &'a Ids {
    let first = list.results.iter().find(|result| result.edges.is_none());
    let rows = first
        .and_then(|result| list.buffers.iter().find(|buffer| buffer.name == result.buffer))
        .map(|buffer| buffer.rows);
    graphs
        .filter(|_| matches!(rows, Some(Rows::Graphs(_))))
        .map_or(&nodes.ids, |graphs| &graphs.ids)
}

/// Reads a table of results; its ids must be those of the nodes or graphs.
fn read_checked_table(artifact: &Artifact, file: &str, ids: &Ids) -> Result<Table, Violation> {
    let path = artifact.file(file);
    let table = read_table(&path, None)?;
    if has_ids(&table, ids) { Ok(table) } else { Err(wrong_ids(&path)) }
}

/// Whether the ids of a table, in their order, are these.
fn has_ids(table: &Table, ids: &Ids) -> bool {
    table.column(ID).is_some_and(|found| **found == *ids.to_array())
}

fn wrong_ids(path: &Path) -> Violation {
    let what = "the ids, in their order, are not those of nodes.parquet, or of graphs.parquet \
                where rows are of graphs";
    violation(path, what.to_owned())
}

/// The scores, or fitted values, row by row; classes must follow from them.
fn read_predictions<T: Precision>(
    artifact: &Artifact,
    ids: &Ids,
    kind: Loss,
) -> Result<Vec<f64>, Violation> {
    let path = artifact.file(run::PREDICTIONS_FILE);
    let table = read_checked_table(artifact, run::PREDICTIONS_FILE, ids)?;
    let missing = |name: &str| {
        violation(&path, format!("expected a column `{name}` of {}, found none", T::NAME))
    };
    let is_classes = kind == Loss::CrossEntropy;
    let name = if kind == Loss::MeanSquares { VALUE } else { SCORES };
    let column = table.column(name).ok_or_else(|| missing(name))?;
    let (numbers, columns) = column_numbers::<T>(column).ok_or_else(|| missing(name))?;
    if is_classes {
        let classes = table
            .column(CLASS)
            .and_then(|column| column.as_primitive_opt::<UInt32Type>())
            .ok_or_else(|| missing(CLASS))?;
        for (row, (class, scores)) in classes.iter().zip(numbers.chunks(columns.max(1))).enumerate()
        {
            if class != predicted_class(scores) {
                return Err(violation(
                    &path,
                    format!(
                        "row {row}: the class is {class:?}, and the first largest score is at {:?}",
                        predicted_class(scores)
                    ),
                ));
            }
        }
    }
    Ok(numbers.iter().map(|number| number.widened()).collect())
}

/// A column of floats, or of lists of floats, and its elements in a row.
fn column_numbers<T: Precision>(column: &ArrayRef) -> Option<(Vec<T>, usize)> {
    if let Some(plain) = column.as_primitive_opt::<T::Arrow>() {
        return Some((plain.values().to_vec(), 1));
    }
    let lists = column.as_fixed_size_list_opt()?;
    Some((
        lists.values().as_primitive_opt::<T::Arrow>()?.values().to_vec(),
        lists.value_length() as usize,
    ))
}

/// The loss of each epoch; there must be one more than there were updates.
fn read_losses(artifact: &Artifact, record: &Record) -> Result<Vec<f64>, Violation> {
    let path = artifact.file(run::METRICS_FILE);
    let table = read_table(&path, None)?;
    let epochs: Vec<u32> = table.numbers("epoch")?;
    if !epochs.iter().copied().eq(0..=record.epochs as u32) {
        return Err(violation(
            &path,
            format!(
                "expected a row for each epoch from 0 to {}, found {} rows",
                record.epochs,
                epochs.len()
            ),
        ));
    }
    let column = table.column("loss").and_then(column_numbers::<f64>);
    column
        .map(|(losses, _)| losses)
        .ok_or_else(|| violation(&path, "expected a column `loss` of f64, found none".to_owned()))
}

/// What predictions are recomputed from.
struct Proof<'a> {
    list: &'a LaunchList,
    train: &'a Train,
    graph: &'a Artifact,
    nodes: &'a NodeTable,
    /// The graphs of a set of many, where the list has rows of graphs.
    graphs: Option<&'a GraphTable>,
    request: &'a RunRequest,
    work_max: u64,
}

/// A subgraph, in which results are exact at some nodes.
struct Excerpt {
    /// Rows of nodes.parquet, ascending.
    nodes: Vec<u32>,
    /// The rows of nodes with everything that their results depend on.
    exact: Vec<usize>,
    graph: ReferenceGraph,
}

impl Proof<'_> {
    fn check_predictions<T: Precision>(
        &self,
        context: &Context,
        artifact: &Artifact,
        scores: &[f64],
        loss: f64,
    ) -> Result<(), Violation> {
        let edges = graph::read_edges(self.graph)?;
        let count = self.nodes.ids.len();
        let whole = self.estimate_work(count as u64, edges.source.len() as u64) <= self.work_max;
        let excerpt =
            if whole { Some(whole_graph(count, &edges)) } else { self.sample_nodes(count, &edges) };
        let Some(excerpt) = excerpt else {
            context.progress.warn(
                "the predictions were not recomputed: even one node depends on too much of \
                 this graph",
            );
            return Ok(());
        };
        let inputs = self.reference_inputs::<T>(artifact, &excerpt, whole)?;
        let mut reference =
            Reference::new(self.list, &excerpt.graph, inputs).map_err(reference_error)?;
        reference.prepare();
        reference.forward();
        let (path, result) = (artifact.file(run::PREDICTIONS_FILE), &self.list.results[0].buffer);
        let expected = reference
            .get(result)
            .ok_or_else(|| violation(&path, format!("the program makes no `{result}`")))?;
        let places: Vec<(usize, usize)> = match self.labelled_graphs() {
            // Pooled values are recomputed for the whole set, or not at all.
            Some(graphs) => (0..graphs.ids.len()).map(|graph| (graph, graph)).collect(),
            None => excerpt.exact.iter().map(|&row| (row, excerpt.nodes[row] as usize)).collect(),
        };
        let held =
            if self.labelled_graphs().is_some() { places.len() } else { excerpt.nodes.len() };
        let columns = expected.len().checked_div(held).unwrap_or(0);
        let rows = || {
            places.iter().map(|&(row, own)| (own, &expected[row * columns..(row + 1) * columns]))
        };
        let scale = rows()
            .flat_map(|(_, row)| row)
            .fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let tolerance = tolerance::<T>(self.list);
        for (own, expected) in rows() {
            let found = &scores[own * columns..(own + 1) * columns];
            if let Some(column) = (0..columns)
                .find(|&column| !is_close(expected[column], found[column], tolerance, scale))
            {
                let what = format!(
                    "row {own}, column {column}: expected {:e}, as the reference makes of the \
                     saved parameters, found {:e}",
                    expected[column], found[column]
                );
                return Err(violation(&path, what));
            }
        }
        let recomputed = if whole { reference.loss() } else { loss };
        // Small errors of scores move a small loss by as much.
        let size =
            if tolerance > T::TOLERANCE { recomputed.abs().max(scale) } else { recomputed.abs() };
        if is_close(recomputed, loss, tolerance, size) {
            return Ok(());
        }
        Err(violation(
            &artifact.file(run::METRICS_FILE),
            format!("the loss of the kept parameters: expected {recomputed:e}, found {loss:e}"),
        ))
    }

    /// Launches before the result.
    fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.train.prepare.iter().chain(&self.train.forward)
    }

    /// Estimated steps of the reference over so many nodes and edges.
    fn estimate_work(&self, nodes: u64, edges: u64) -> u64 {
        let columns = |name: &str| {
            self.list
                .buffers
                .iter()
                .find(|buffer| buffer.name == name)
                .map_or(1, |buffer| buffer.columns)
        };
        let of_launch = |launch: &Launch| match &launch.operation {
            Operation::Evaluate { .. } | Operation::Fused { .. } => {
                evaluated_work(self.list, &launch.operation, GraphSize { nodes, edges })
            }
            Operation::SparseProduct { out, left, .. } => nodes * columns(left) * columns(out),
            other => other.writes().iter().map(|name| nodes * columns(name)).sum(),
        };
        self.launches().map(of_launch).sum()
    }

    /// As many sampled nodes, with what they depend on, as the work allows.
    fn sample_nodes(&self, count: usize, edges: &EdgeTable) -> Option<Excerpt> {
        let reach = reach::reach(self.list, self.launches(), &self.list.results[0].buffer)?;
        let candidates: Vec<usize> =
            (0..SAMPLES).map(|sample| sample * count / SAMPLES + count / (2 * SAMPLES)).collect();
        let halved =
            std::iter::successors(Some(SAMPLES), |&samples| (samples > 1).then_some(samples / 2));
        let sets = halved
            .map(|samples| candidates[..samples].to_vec())
            .chain(candidates.iter().map(|&node| vec![node]));
        for seeds in sets {
            let excerpt = excerpt_around(&seeds, count, edges, reach);
            if self.estimate_work(excerpt.nodes.len() as u64, excerpt.graph.source.len() as u64)
                <= self.work_max
            {
                return Some(excerpt);
            }
        }
        None
    }

    /// Features, targets and saved parameters for a subgraph; targets are 0 where only predictions
    /// are recomputed.
    fn reference_inputs<T: Precision>(
        &self,
        artifact: &Artifact,
        excerpt: &Excerpt,
        whole: bool,
    ) -> Result<Inputs, Violation> {
        let parameters = saved_parameters::<T>(artifact, self.list)?;
        let target_columns = self
            .list
            .buffers
            .iter()
            .find(|buffer| buffer.role == warploom_launch::Role::Target)
            .map_or(0, |buffer| buffer.columns);
        let features = read_features(self.graph, &excerpt.nodes)?;
        let mut inputs = Inputs {
            features,
            parameters,
            artifact_rows: excerpt.nodes.clone(),
            ..Inputs::default()
        };
        inputs.target = vec![0.0; excerpt.nodes.len() * target_columns as usize];
        if whole {
            read_list_inputs(&mut inputs, self.list, self.graph)?;
            inputs.chosen = vertices::find_rows(&self.request.chosen, &self.nodes.ids)?;
            read_graphs(&mut inputs, self.list, self.graph, self.nodes)?;
            let own = DataSetLabels::new(self.nodes, self.labelled_graphs());
            let aims = target_and_splits::read_target_and_splits(self.request, self.graph, own)?;
            inputs.target = target_numbers(aims.labels.as_deref());
            inputs.training_rows = (0..aims.parts.len())
                .filter(|&row| aims.parts[row] == Split::Train as u8)
                .map(|row| row as u32)
                .collect();
        }
        Ok(inputs)
    }

    /// The graphs, where graphs are learned.
    fn labelled_graphs(&self) -> Option<&GraphTable> {
        self.graphs.filter(|_| graphs::has_graph_labels(self.list))
    }
}

/// The subgraph of everything that the results of some nodes depend on.
fn excerpt_around(seeds: &[usize], count: usize, edges: &EdgeTable, reach: Reach) -> Excerpt {
    let Reach { hops, incoming, outgoing } = reach;
    let mut distance = vec![u8::MAX; count];
    seeds.iter().for_each(|&node| distance[node] = 0);
    let ends = || {
        edges
            .source
            .iter()
            .zip(&edges.target)
            .map(|(&source, &target)| (source as usize, target as usize))
    };
    for step in 0..hops {
        for (source, target) in ends() {
            if incoming && distance[target] == step && distance[source] == u8::MAX {
                distance[source] = step + 1;
            }
            if outgoing && distance[source] == step && distance[target] == u8::MAX {
                distance[target] = step + 1;
            }
        }
    }
    let nodes: Vec<u32> =
        (0..count as u32).filter(|&node| distance[node as usize] != u8::MAX).collect();
    let mut local = vec![u32::MAX; count];
    nodes.iter().enumerate().for_each(|(row, &node)| local[node as usize] = row as u32);
    let inside = |&(_, (source, target)): &(usize, (usize, usize))| {
        local[source] != u32::MAX && local[target] != u32::MAX
    };
    let kept: Vec<usize> = ends().enumerate().filter(inside).map(|(edge, _)| edge).collect();
    let of = |column: &[u32]| kept.iter().map(|&edge| local[column[edge] as usize]).collect();
    Excerpt {
        exact: nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| distance[**node as usize] == 0)
            .map(|(row, _)| row)
            .collect(),
        graph: ReferenceGraph {
            nodes: nodes.len() as u64,
            source: of(&edges.source),
            target: of(&edges.target),
            weight: edges
                .weight
                .as_ref()
                .map(|weight| kept.iter().map(|&edge| f64::from(weight[edge])).collect()),
        },
        nodes,
    }
}

/// The saved parameters of a run.
fn saved_parameters<T: Precision>(
    artifact: &Artifact,
    list: &LaunchList,
) -> Result<BTreeMap<String, Vec<f64>>, Violation> {
    let path = artifact.file(run::PARAMETERS_FILE);
    let bytes = std::fs::read(&path).map_err(|error| StageError::io("read", &path, &error))?;
    let file = Tensors::from_bytes(&bytes)
        .map_err(|error| violation(&path, format!("not a safetensors file: {error}")))?;
    let mut parameters = BTreeMap::new();
    for parameter in &list.parameters {
        let tensor = file.arrays.get(&parameter.name).filter(|tensor| {
            tensor.shape.iter().map(|&axis| axis as u64).eq(parameter.shape.iter().copied())
        });
        let values = tensor.and_then(|tensor| tensor.reals::<T>());
        let values = values.ok_or_else(|| {
            violation(
                &path,
                format!(
                    "expected `{}` of {} with shape {:?}, found none",
                    parameter.name,
                    T::NAME,
                    parameter.shape
                ),
            )
        })?;
        parameters
            .insert(parameter.name.clone(), values.iter().map(|value| value.widened()).collect());
    }
    Ok(parameters)
}

fn target_numbers(labels: Option<&Labels>) -> Vec<f64> {
    match labels {
        None => Vec::new(),
        Some(Labels::Classes(classes)) => {
            classes.iter().map(|class| class.map_or(f64::NAN, f64::from)).collect()
        }
        Some(Labels::Values(values) | Labels::Rows { values, .. }) => {
            values.iter().map(|&value| f64::from(value)).collect()
        }
    }
}

/// Dense rows of the features of some nodes.
fn read_features(graph: &Artifact, nodes: &[u32]) -> Result<Vec<f64>, StageError> {
    let mut rows = Vec::new();
    match graph::open_features(graph)? {
        None => {}
        Some(Features::Dense { columns, values }) => {
            for &node in nodes {
                rows.extend(
                    values[node as usize * columns..(node as usize + 1) * columns]
                        .iter()
                        .map(|&value| f64::from(value)),
                );
            }
        }
        Some(Features::Sparse { columns, entries }) => {
            rows.resize(nodes.len() * columns, 0.0);
            for (row, &node) in nodes.iter().enumerate() {
                for entry in entries.offsets[node as usize] as usize
                    ..entries.offsets[node as usize + 1] as usize
                {
                    rows[row * columns + entries.index[entry] as usize] +=
                        f64::from(entries.values[entry]);
                }
            }
        }
    }
    Ok(rows)
}

/// Relations, features of edges and columns of nodes that the list reads, for a whole graph.
fn read_list_inputs(
    inputs: &mut Inputs,
    list: &LaunchList,
    graph: &Artifact,
) -> Result<(), Violation> {
    let edges = graph::read_edges(graph)?;
    inputs.edge_type = edges.kind.iter().flatten().map(|&kind| u32::from(kind)).collect();
    inputs.kind_of_node =
        graph::read_nodes(graph)?.kind.iter().flatten().map(|&kind| u32::from(kind)).collect();
    for buffer in &list.buffers {
        if buffer.role == Role::Given(Input::EdgeFeatures) {
            let rows = graph::open_edge_features(graph)?;
            inputs.edge_features = rows
                .iter()
                .flat_map(|(_, values)| values.iter())
                .map(|&value| f64::from(value))
                .collect();
        }
        if let Role::Given(Input::FeaturesOf(kind)) | Role::SparseFeaturesOf { kind, .. } =
            &buffer.role
        {
            inputs.features_of_kind.insert(*kind, node_kinds::reference_rows(graph, *kind)?);
        }
        if let Role::Given(Input::Column(name)) = &buffer.role {
            let values = match program_inputs::read_column(graph, name)? {
                NodeColumn::Real(values) => values,
                NodeColumn::Whole(values) => values.into_iter().map(|value| value as f64).collect(),
            };
            inputs.columns.insert(name.clone(), values);
        }
    }
    Ok(())
}

/// The graph of each node, where the list needs it, for a whole set.
fn read_graphs(
    inputs: &mut Inputs,
    list: &LaunchList,
    graph: &Artifact,
    nodes: &NodeTable,
) -> Result<(), Violation> {
    if let Some(count) = graphs::graph_count(list) {
        inputs.graph_of_node =
            graphs::graph_of_each_node(graph, nodes, count as usize)?.unwrap_or_default();
    }
    Ok(())
}

/// The size of a graph.
#[derive(Clone, Copy)]
struct GraphSize {
    nodes: u64,
    edges: u64,
}

/// Estimated steps of the reference for an evaluated operation, which writes out values of edges.
fn evaluated_work(list: &LaunchList, operation: &Operation, size: GraphSize) -> u64 {
    let locals =
        if let Operation::Fused { locals, .. } = operation { locals.as_slice() } else { &[] };
    operation
        .steps()
        .iter()
        .fold(0, |sum: u64, step| sum.saturating_add(step_work(list, locals, step, size)))
}

fn step_work(
    list: &LaunchList,
    locals: &[Buffer],
    step: &Operation,
    GraphSize { nodes, edges }: GraphSize,
) -> u64 {
    let Operation::Evaluate { out, op, inputs, .. } = step else { return 0 };
    let buffer = |name: &str| locals.iter().chain(&list.buffers).find(|buffer| buffer.name == name);
    let rows = |rows: Rows| match rows {
        Rows::Nodes => nodes,
        Rows::Edges => edges,
        Rows::EdgesTwice => 2 * edges,
        Rows::Graphs(count) | Rows::Fixed(count) => count,
    };
    let size = |name: &str| {
        buffer(name).map_or(0, |buffer| rows(buffer.rows).saturating_mul(buffer.columns))
    };
    let seen = inputs.iter().flat_map(Operand::rows).map(|read| match read.view.edges() {
        None => size(&read.buffer),
        Some(_) => 2 * edges * buffer(&read.buffer).map_or(1, |buffer| buffer.columns),
    });
    let inner = match (op, inputs.first()) {
        (Op::Product { .. } | Op::Outer, Some(left)) => left.shape().last().copied().unwrap_or(1),
        _ => 1,
    };
    // An element of the interpreter costs some steps of the plain loops.
    4 * seen.sum::<u64>().saturating_add(size(out).saturating_mul(inner))
}

/// The whole graph.
fn whole_graph(count: usize, edges: &EdgeTable) -> Excerpt {
    Excerpt {
        nodes: (0..count as u32).collect(),
        exact: (0..count).collect(),
        graph: reference_graph(count, edges),
    }
}

fn reference_graph(count: usize, edges: &EdgeTable) -> ReferenceGraph {
    let weight = edges
        .weight
        .as_ref()
        .map(|weight| weight.iter().map(|&weight| f64::from(weight)).collect());
    ReferenceGraph {
        nodes: count as u64,
        source: edges.source.clone(),
        target: edges.target.clone(),
        weight,
    }
}

/// Rows of the nodes whose own ids are in a column; null is the sentinel.
fn rows_by_id(column: &ArrayRef, ids: &Ids) -> Option<Vec<f64>> {
    let row = |found: Option<Result<usize, usize>>| match found {
        None => Some(f64::from(u32::MAX)),
        Some(found) => found.ok().map(|row| row as f64),
    };
    match ids {
        Ids::Numbers(ids) => column
            .as_primitive_opt::<UInt64Type>()?
            .iter()
            .map(|id| row(id.map(|id| ids.binary_search(&id))))
            .collect(),
        Ids::Strings(ids) => {
            let column = column.as_string_opt::<i32>()?;
            column
                .iter()
                .map(|id| row(id.map(|id| ids.binary_search_by(|known| known.as_str().cmp(id)))))
                .collect()
        }
    }
}

/// Relative difference between a run of this list and the f64 reference that rounding allows.
fn tolerance<T: Precision>(list: &LaunchList) -> f64 {
    let of_halves = |buffer: &Buffer| match buffer.element {
        Element::Half(Half::Bf16) => 5e-2,
        Element::Half(Half::F16) => 1e-2,
        _ => T::TOLERANCE,
    };
    list.buffers.iter().map(of_halves).fold(T::TOLERANCE, f64::max)
}

fn is_close(expected: f64, found: f64, tolerance: f64, scale: f64) -> bool {
    expected == found
        || (expected.is_nan() && found.is_nan())
        || (expected - found).abs() <= tolerance * scale
}

fn violation(path: &Path, what: String) -> Violation {
    Violation(Violation::new(what).0.at(path.display()))
}

fn reference_error(error: ReferenceError) -> Violation {
    Violation::new(format!("the reference cannot run this plan on this graph: {error}"))
}
