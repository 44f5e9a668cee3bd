//! facts: what the compiler must know of graph and run, gathered from manifests, the profile and
//! the names of columns.
//!
//! promises  a graph that cannot be trained on is refused here, with what it lacks and how to
//!           provide it
//! never     reads rows, except those of the column that `run.target` names, to count its classes
use std::{collections::BTreeMap, io::Read};

use warploom_contract::{
    Artifact, ErrorKind, Inputs, Kind, StageError,
    kinds::{
        csr,
        graph::{self, Labels, LearnedRows, WholeNumbers},
        profile,
    },
    parquet_file::describe,
};
use warploom_ir::{Data, Loss as LossKind, NodeKind, Target};
use warploom_shell::{
    column_names, data_needs, program,
    requests::{PlanRequest, TargetShape},
};
use warploom_spec::{Loss, Mode, nearest};

/// What a compiled program may know of this graph.
pub fn describe_data(
    inputs: &Inputs,
    request: &PlanRequest,
    training: bool,
) -> Result<Data, StageError> {
    let artifact = inputs.get(Kind::Graph)?;
    let profile = profile::open(inputs.get(Kind::Profile)?)?;
    let count = |name: &str| artifact.find_count(name).unwrap_or(0);
    let (_, schema) = describe(&artifact.file(graph::NODES_FILE))?;
    let typed = inputs.get(Kind::Csr)?.find_fact(csr::TYPED).is_some_and(|typed| typed == true);
    let features = Some(count("feature_columns")).filter(|columns| *columns > 0);
    let inferring = request.run.mode == Mode::Infer && !training;
    let rows = learned_rows(artifact, request);
    let before = read_earlier_target(request, inferring)?;
    let learned = if before.is_some() { None } else { read_learned(artifact, request, rows)? };
    let names = graph::open_names(artifact)?;
    if training {
        refuse_without_labels(artifact, request, rows, learned.as_ref())?;
    }
    // Where graphs have the labels, a column of nodes with the target's name is not the target.
    let hidden =
        if rows == LearnedRows::Graphs { graph::LABEL } else { request.run.target.as_str() };
    Ok(Data {
        features,
        // Manifests count entries of sparse features only.
        sparse_features: artifact.find_count("feature_entries"),
        edge_features: count("edge_feature_columns"),
        weighted: profile.weighted,
        symmetric: profile.symmetric,
        relations: if typed {
            relation_names(names.relations, profile.relations)
        } else {
            Vec::new()
        },
        kinds: names.kinds.into_iter().map(|name| node_kind(artifact, name)).collect(),
        columns: column_names::readable_columns(&schema, (training || inferring).then_some(hidden))
            .collect(),
        target: match before {
            Some(target) => Some(target),
            None => {
                learned.map(|learned| choose_target(request, &learned, training)).transpose()?
            }
        },
        training,
        inferring,
        graphs: artifact.find_count("graphs").unwrap_or(1),
        many_graphs: artifact.find_count("graphs").is_some(),
        labels_of_nodes: rows == LearnedRows::Nodes,
        bytes_per_real: program::bytes_per_real(request.run.dtype),
        half: program::half_format(request.run.dtype),
        lanes: request.device.kind == warploom_device::Kind::Cuda,
        ..Data::bare(profile.nodes, profile.edges)
    })
}

/// What is learned: the labels of the data set, if it has any, or the column that is named.
fn read_learned(
    artifact: &Artifact,
    request: &PlanRequest,
    rows: LearnedRows,
) -> Result<Option<TargetShape>, StageError> {
    if request.run.target == graph::LABEL {
        return Ok(own_labels(artifact, rows));
    }
    if let Some(known) = request.learned.get() {
        return Ok(Some(known.clone()));
    }
    let (name, there) = (&request.run.target, graph::learnable(artifact, rows)?);
    if !there.contains(name) {
        return Err(missing_column_error(artifact, rows, name, there));
    }
    let graph::Learned { labels, classes } = graph::read_learned(
        artifact,
        rows,
        name,
        WholeNumbers::from_loss(request.run.loss.fits_numbers()),
    )?;
    let found = match labels {
        Labels::Classes(_) => TargetShape {
            form: "classes".to_owned(),
            columns: classes.len() as u64,
            is_binary: false,
        },
        Labels::Values(_) => {
            TargetShape { form: "values".to_owned(), columns: 1, is_binary: false }
        }
        Labels::Rows { columns, values } => {
            let is_binary =
                values.iter().all(|value| value.is_nan() || *value == 0.0 || *value == 1.0);
            TargetShape { form: "rows".to_owned(), columns: columns as u64, is_binary }
        }
    };
    Ok(Some(request.learned.get_or_init(|| found).clone()))
}

/// The labels of the data set, as ingest counted them.
fn own_labels(artifact: &Artifact, rows: LearnedRows) -> Option<TargetShape> {
    let fact = |name: &str| artifact.find_fact(&rows.fact_name(artifact, name));
    let count = |name: &str| artifact.find_count(&rows.fact_name(artifact, name)).unwrap_or(0);
    let form = fact("labels").and_then(|labels| labels.as_str()).filter(|form| *form != "none")?;
    let columns = match form {
        "classes" => count("classes"),
        "rows" => count("label_columns"),
        _ => 1,
    };
    Some(TargetShape {
        form: form.to_owned(),
        columns,
        is_binary: fact("label_values").is_some_and(|values| values == "binary"),
    })
}

/// The error of a target that does not exist, with the columns that do, the nearest first.
fn missing_column_error(
    artifact: &Artifact,
    rows: LearnedRows,
    name: &str,
    mut there: Vec<String>,
) -> StageError {
    let of = if rows == LearnedRows::Graphs { "graphs" } else { "nodes" };
    let near = nearest(name, there.iter().map(String::as_str)).map(str::to_owned);
    there.sort_by_key(|column| Some(column) != near.as_ref());
    let (listed, hint) = match there.as_slice() {
        [] => (
            "a column of numbers or words, of which there is none".to_owned(),
            "give the data set such a column, or labels".to_owned(),
        ),
        [first, ..] => (
            format!(
                "one of {}",
                there.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            ),
            format!("--set run.target={first}"),
        ),
    };
    let what = format!("`run.target: {name}` is no column of the {of} that could be learned");
    let detail = format!("       = expected {listed}, found `{name}`");
    StageError::new(ErrorKind::Specification, what)
        .at(artifact.file(rows.file()).display())
        .detail(detail)
        .hint(hint)
}

/// Names of all relations that edges have; a relation without a name gets its number.
fn relation_names(mut names: Vec<String>, count: u64) -> Vec<String> {
    names.extend((names.len() as u64..count).map(|relation| relation.to_string()));
    names
}

/// A kind of nodes, with the counts of the manifest.
fn node_kind(artifact: &Artifact, name: String) -> NodeKind {
    let count = |what: &str| artifact.find_count(&format!("{what}.{name}"));
    NodeKind {
        nodes: count("nodes").unwrap_or(0),
        features: count("feature_columns").filter(|columns| *columns > 0),
        // Manifests count entries of sparse features only.
        sparse_features: count("feature_entries"),
        name,
    }
}

/// Whether nodes or graphs are learned; where both have labels, what the program returns decides.
pub fn learned_rows(artifact: &Artifact, request: &PlanRequest) -> LearnedRows {
    LearnedRows::from_artifact(artifact)
        .or_else(|| data_needs::learned_rows(&request.text, &request.spec))
        .unwrap_or(LearnedRows::Nodes)
}

/// The target and its loss.
fn choose_target(
    request: &PlanRequest,
    learned: &TargetShape,
    training: bool,
) -> Result<Target, StageError> {
    let wanted = if training { request.run.loss } else { Loss::Auto };
    let loss = match (wanted, learned.form.as_str()) {
        (Loss::Auto | Loss::CrossEntropy, "classes") => LossKind::CrossEntropy,
        (Loss::Auto, "rows") if learned.is_binary => LossKind::Binary,
        (Loss::Auto | Loss::Mse, "values" | "rows") => LossKind::MeanSquares,
        (Loss::Bce, "values" | "rows") => LossKind::Binary,
        (Loss::Bce, form) => {
            return Err(loss_error("bce", "binary labels, 1 or 0", form));
        }
        (Loss::Mse, form) => return Err(loss_error("mse", "numbers to fit", form)),
        (_, form) => return Err(loss_error("cross_entropy", "classes", form)),
    };
    Ok(Target { columns: learned.columns, loss })
}

/// The target that the applied parameters were learned for, if their file says so: the graph need
/// not have labels.
fn read_earlier_target(
    request: &PlanRequest,
    inferring: bool,
) -> Result<Option<Target>, StageError> {
    let Some(path) = request.run.init.as_deref().filter(|_| inferring) else { return Ok(None) };
    let facts = read_saved_facts(path)?;
    let columns = facts.get("columns").and_then(|columns| columns.parse().ok());
    let loss = facts
        .get("loss")
        .and_then(|loss| serde_json::from_value(serde_json::Value::from(loss.as_str())).ok());
    Ok(columns.zip(loss).map(|(columns, loss)| Target { columns, loss }))
}

/// The largest header that the safetensors format allows.
const HEADER_MAX: u64 = 100_000_000;

/// The metadata of a safetensors file; empty if it is malformed: the loader of the tensors reports
/// what is wrong.
fn read_saved_facts(path: &std::path::Path) -> Result<BTreeMap<String, String>, StageError> {
    let failed = |error: std::io::Error| StageError::io("read initial parameters", path, &error);
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let (mut length, mut header) = ([0; 8], Vec::new());
    match file.read_exact(&mut length) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            return Ok(BTreeMap::new());
        }
        read => read.map_err(failed)?,
    }
    if u64::from_le_bytes(length) > HEADER_MAX {
        return Ok(BTreeMap::new());
    }
    file.take(u64::from_le_bytes(length)).read_to_end(&mut header).map_err(failed)?;
    let header: serde_json::Value = serde_json::from_slice(&header).unwrap_or_default();
    Ok(serde_json::from_value(header["__metadata__"].clone()).unwrap_or_default())
}

fn refuse_without_labels(
    artifact: &Artifact,
    request: &PlanRequest,
    rows: LearnedRows,
    learned: Option<&TargetShape>,
) -> Result<(), StageError> {
    let refuse = |what: String, hint: &str| {
        Err(StageError::new(ErrorKind::Data, what).at(artifact.path.display()).hint(hint))
    };
    let Some(learned) = learned else {
        let hint = "choose a data set with labels:  warploom data ls  , or learn another column:  \
                    --set run.target=COLUMN ; link prediction is not supported in this version \
                    yet: score links by a column of edges";
        return refuse("the graph has no labels, and training needs a target".into(), hint);
    };
    refuse_without_classes(artifact, request, Some(learned))?;
    let splits = artifact.find_count(&rows.fact_name(artifact, "splits")).unwrap_or(0);
    // A table named by `run.splits` has its own splits, which the run reads.
    if request.splits_digest.is_none() && request.run.split >= splits {
        let what = format!("split {} was asked for, and the graph has {splits}", request.run.split);
        let table = "name a table of the columns id and split:  --set run.splits=FILE";
        // Splits are drawn only over rows with a label of the data set.
        let none = match request.run.target == graph::LABEL {
            true => {
                &format!("{table}  , or have one drawn:  --set 'ingest.split={{fractions: {{}}}}'")
            }
            false => table,
        };
        let hint = if splits == 0 { none } else { "splits are counted from 0:  --set run.split=0" };
        return refuse(what, hint);
    }
    Ok(())
}

fn refuse_without_classes(
    artifact: &Artifact,
    request: &PlanRequest,
    learned: Option<&TargetShape>,
) -> Result<(), StageError> {
    let has_none = learned.is_some_and(|learned| learned.form == "classes" && learned.columns == 0);
    if !has_none || request.run.target == graph::LABEL {
        return Ok(());
    }
    let what = format!("no row has a class in the column `{}`", request.run.target);
    Err(StageError::new(ErrorKind::Data, what)
        .at(artifact.path.display())
        .hint("learn another column:  --set run.target=COLUMN"))
}

/// Refuses a target column without any class: a program that reads `v.classes` cannot be traced
/// then.
pub fn refuse_no_classes(inputs: &Inputs, request: &PlanRequest) -> Result<(), StageError> {
    let artifact = inputs.get(Kind::Graph)?;
    refuse_without_classes(
        artifact,
        request,
        read_learned(artifact, request, learned_rows(artifact, request))?.as_ref(),
    )
}

fn loss_error(loss: &str, needs: &str, labels: &str) -> StageError {
    StageError::new(
        ErrorKind::Specification,
        format!("`run.loss: {loss}` needs {needs}, and the labels of this graph are {labels}"),
    )
    .hint("leave  run.loss  out: it follows from the labels")
}
