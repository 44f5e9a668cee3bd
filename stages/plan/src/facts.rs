//! What the compiler must know of graph and run, gathered from manifests, the profile and the names of columns.
//!
//! promises  a graph that cannot be trained on is refused here, with what it lacks and how to give it
//! never     reads a row
use std::{collections::BTreeMap, io::Read};

use warploom_contract::{
    Artifact, ErrorKind, Inputs, Kind, StageError,
    kinds::{graph, profile},
    parquet_file::describe,
};
use warploom_shell::{columns, requests::PlanRequest};
use warploom_spec::{Loss, Mode};
use warploom_vertex::{
    Facts,
    gir::{Data, NodeKind, Target},
    launch::LossKind,
};

/// What a compiled program may know of this graph.
pub fn data(inputs: &Inputs, request: &PlanRequest, training: bool) -> Result<Data, StageError> {
    let artifact = inputs.get(Kind::Graph)?;
    let profile = profile::open(inputs.get(Kind::Profile)?)?;
    let count = |name: &str| artifact.manifest.counts.get(name).copied().unwrap_or(0);
    let (_, schema) = describe(&artifact.file(graph::NODES_FILE))?;
    let typed = inputs.get(Kind::Csr)?.has("types.arrow");
    let features = Some(count("feature_columns")).filter(|columns| *columns > 0);
    let labels = labels(artifact);
    let names = graph::open_names(artifact)?;
    let inferring = request.run.mode == Mode::Infer && !training;
    if training {
        refuse_without_labels(artifact, request, &labels)?;
    }
    Ok(Data {
        features,
        sparse_features: artifact.has(graph::FEATURES_SPARSE_FILE).then(|| count("feature_entries")),
        edge_features: count("edge_feature_columns"),
        weighted: profile.weighted,
        relations: if typed { relations(names.relations, profile.relations) } else { Vec::new() },
        kinds: names.kinds.into_iter().map(|name| kind(artifact, name)).collect(),
        columns: columns::readable(&schema, training || inferring).collect(),
        target: match learned_before(request, inferring)? {
            Some(target) => Some(target),
            None => target(request, (artifact, &labels), training, count)?,
        },
        training,
        inferring,
        graphs: if artifact.has(graph::GRAPHS_FILE) { count("graphs") } else { 1 },
        many_graphs: artifact.has(graph::GRAPHS_FILE),
        labels_of_nodes: !are_of_graphs(artifact),
        bytes_per_real: crate::bytes_per_real(request.run.dtype),
        ..Data::bare(profile.nodes, profile.edges)
    })
}

fn labels(artifact: &Artifact) -> String {
    artifact.manifest.facts.get("labels").and_then(|labels| labels.as_str()).unwrap_or("none").to_owned()
}

/// Names of as many relations as edges are of; a number where there is no name.
fn relations(mut names: Vec<String>, count: u64) -> Vec<String> {
    names.extend((names.len() as u64..count).map(|relation| relation.to_string()));
    names
}

/// A kind of nodes, as the manifest counts them.
fn kind(artifact: &Artifact, name: String) -> NodeKind {
    let count = |what: &str| artifact.manifest.counts.get(&format!("{what}.{name}")).copied().unwrap_or(0);
    let is_sparse = artifact.has(&graph::features_sparse_file(&name));
    NodeKind {
        nodes: count("nodes"),
        features: Some(count("feature_columns")).filter(|columns| *columns > 0),
        sparse_features: is_sparse.then(|| count("feature_entries")),
        name,
    }
}

/// Whether labels belong to the graphs of a set of many.
pub fn are_of_graphs(artifact: &Artifact) -> bool {
    artifact.manifest.facts.get("target").is_some_and(|target| target == "graphs")
}

/// What is learned, if there are labels.
fn target(request: &PlanRequest, (artifact, labels): (&Artifact, &str), training: bool, count: impl Fn(&str) -> u64) -> Result<Option<Target>, StageError> {
    let loss = if training { request.run.loss } else { Loss::Auto };
    let binary = artifact.manifest.facts.get("label_values").is_some_and(|values| values == "binary");
    let (columns, loss) = match (loss, labels) {
        (_, "none") => return Ok(None),
        (Loss::Auto | Loss::CrossEntropy, "classes") => (count("classes"), LossKind::CrossEntropy),
        (Loss::Auto | Loss::Mse, "values") => (1, LossKind::MeanSquares),
        (Loss::Auto, "rows") if binary => (count("label_columns"), LossKind::Binary),
        (Loss::Auto | Loss::Mse, "rows") => (count("label_columns"), LossKind::MeanSquares),
        (Loss::Bce, "rows") => (count("label_columns"), LossKind::Binary),
        (Loss::Bce, "values") => (1, LossKind::Binary),
        (Loss::Bce, _) => return Err(loss_error("bce", "labels that hold or do not, 1 or 0,", labels)),
        (Loss::Mse, _) => return Err(loss_error("mse", "numbers to fit", labels)),
        _ => return Err(loss_error("cross_entropy", "classes", labels)),
    };
    Ok(Some(Target { columns, loss }))
}

/// What the parameters that are applied were learned for, if their file says so: the graph that they are applied to need have no labels.
fn learned_before(request: &PlanRequest, inferring: bool) -> Result<Option<Target>, StageError> {
    let Some(path) = request.run.init.as_deref().filter(|_| inferring) else { return Ok(None) };
    let facts = saved_facts(path)?;
    let columns = facts.get("columns").and_then(|columns| columns.parse().ok());
    let loss = facts.get("loss").and_then(|loss| serde_json::from_value(serde_json::Value::from(loss.as_str())).ok());
    Ok(columns.zip(loss).map(|(columns, loss)| Target { columns, loss }))
}

/// Most bytes of the header of a file of parameters, as its format has it.
const HEADER_MAX: u64 = 100_000_000;

/// What a safetensors file says of itself; nothing, if it does not read: who loads the tensors says what is wrong.
fn saved_facts(path: &std::path::Path) -> Result<BTreeMap<String, String>, StageError> {
    let failed = |error: std::io::Error| StageError::io("read initial parameters", path, &error);
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let (mut length, mut header) = ([0; 8], Vec::new());
    if file.read_exact(&mut length).is_err() || u64::from_le_bytes(length) > HEADER_MAX {
        return Ok(BTreeMap::new());
    }
    file.take(u64::from_le_bytes(length)).read_to_end(&mut header).map_err(failed)?;
    let header: serde_json::Value = serde_json::from_slice(&header).unwrap_or_default();
    Ok(serde_json::from_value(header["__metadata__"].clone()).unwrap_or_default())
}

/// What a list that was fused by hand is made for.
pub fn built_in(inputs: &Inputs, request: &PlanRequest, training: bool) -> Result<Facts, StageError> {
    let symmetric = profile::open(inputs.get(Kind::Profile)?)?.symmetric;
    Ok(Facts { symmetric, ..Facts::of(&data(inputs, request, training)?) })
}

fn refuse_without_labels(artifact: &Artifact, request: &PlanRequest, labels: &str) -> Result<(), StageError> {
    let count = |name: &str| artifact.manifest.counts.get(name).copied().unwrap_or(0);
    let refuse = |what: String, hint: &str| Err(StageError::new(ErrorKind::Data, what).at(artifact.path.display()).hint(hint));
    if labels == "none" {
        return refuse("the graph has no labels, and training needs a target".into(), "choose a data set with labels:  warploom data ls");
    }
    if request.run.split >= count("splits") {
        let what = format!("split {} was asked for, and the graph has {}", request.run.split, count("splits"));
        return refuse(what, "splits are counted from 0:  --set run.split=0");
    }
    Ok(())
}

fn loss_error(loss: &str, needs: &str, labels: &str) -> StageError {
    StageError::new(ErrorKind::Specification, format!("`run.loss: {loss}` needs {needs}, and the labels of this graph are {labels}"))
        .hint("leave  run.loss  out: it follows from the labels")
}
