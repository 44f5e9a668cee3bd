//! programs: `warploom check FILE.py[:NAME]`: compiles a program without running it, and prints its
//! errors.
//!
//! promises  checks against a data set in the store if there is one, else against a sample data set
//!           with every kind of column; prints all errors and warnings of the compiler
//! never     runs a stage; writes to the store
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use warploom_contract::{Artifact, ErrorKind, Kind, StageError};
use warploom_ir::Data;
use warploom_plan::printed_forms::{Compilation, Program, print_form};
use warploom_shell::{
    Chain, Environment, Options, StageName,
    binary::read_pipelines,
    program_file,
    progress::Talk,
    requests::{PlanRequest, Request, catalog_error, mistake_error},
    sample_data_sets::{full_sample, graph_set_sample},
};
use warploom_spec::{Mistakes, Pipeline};

use crate::runs::local_time;

/// The arguments of a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    /// The program.
    pub path: &'a Path,
    /// The data set to check against.
    pub dataset: Option<&'a str>,
    /// The stage of compilation to print.
    pub show: Option<&'a str>,
}

/// Checks a program.
pub fn check(
    environment: &Environment,
    talk: &Talk,
    options: &Options,
    asked: &CheckRequest,
) -> Result<(), StageError> {
    let CheckRequest { path, dataset, show } = *asked;
    let (path, entry) = split_entry(path);
    let path = path.as_path();
    let text = program_file::read_program(path)?;
    if let Some(name) = dataset {
        warploom_catalog::Catalog::discover()
            .find_or_infer(name, &environment.data)
            .map_err(|error| catalog_error(&error))?;
    }
    let (pipeline, mut known_of) = match (&options.pipeline, dataset) {
        (Some(file), _) => (read_pipeline(options, file)?, file.display().to_string()),
        (None, dataset) => {
            (program_pipeline(options, path, dataset)?, dataset.unwrap_or_default().to_owned())
        }
    };
    let request = PlanRequest { text, ..replace_program(environment, &pipeline, path)? };
    let settings = request.pipeline_settings();
    let entry = entry.unwrap_or_else(|| entry_of(path, &request, options));
    let program = Program { file: path, text: &request.text, entry: &entry, settings: &settings };
    let known = match dataset.is_some() || options.pipeline.is_some() {
        true => find_known_data(environment, &pipeline, &request)?,
        false => None,
    };
    match &known {
        Some(KnownData { other: Some(graph), .. }) => {
            known_of = describe_other_graph(&pipeline.dataset, graph)
        }
        Some(_) => {}
        None => {
            if !known_of.is_empty() {
                let hint = "hint: build it with  warploom pipeline FILE.yaml,  and check with  \
                            --pipeline FILE.yaml";
                talk.say(&format!(
                    "warning: no graph of `{}` is in the store, so its columns and \
                    widths are not known\n{hint}",
                    pipeline.dataset
                ));
            }
            known_of = "a sample data set with every kind of column".to_owned();
        }
    }
    let is_exact = known.as_ref().is_some_and(|known| known.other.is_none());
    let data = known.map(|known| known.data);
    let invented = data.is_none();
    let lanes = request.device.kind == warploom_device::Kind::Cuda;
    let [still, training] = data
        .unwrap_or_else(|| [full_sample(), Data { training: true, ..full_sample() }])
        .map(|data| Data { lanes, ..data });
    let made = match program.learns(&still)? {
        false => program.compile(still)?,
        // The sample data set may have labels of graphs or of vertices.
        true => program.compile(training).or_else(|error| {
            if invented {
                program
                    .compile(Data { lanes, training: true, ..graph_set_sample() })
                    .map_err(|_| error)
            } else {
                Err(error)
            }
        })?,
    };
    made.traced.warnings.iter().for_each(|warning| talk.say(program.render(warning).trim_end()));
    if let Some(form) = show {
        let page = match form {
            "source" if is_exact => kernel_source(environment, &pipeline, &request, &entry)?,
            "source" => warploom_plan::source_without_graph(&made, &request)?,
            _ => print_form(&made, form, &request.text)?,
        };
        crate::print_as(
            environment,
            || page.clone(),
            || vec![json!({"program": entry, "for": known_of, "form": form, "text": page})],
        );
        return Ok(());
    }
    crate::print_as(
        environment,
        || summary_line(&entry, &made, &known_of),
        || vec![summary_json(&entry, &made, &known_of)],
    );
    Ok(())
}

/// Whether a path is a program, FILE.py or FILE.py:NAME.
pub fn is_program(path: &Path) -> bool {
    split_entry(path).0.extension().is_some_and(|extension| extension == "py")
}

/// The file of a program, and the entry after the colon.
fn split_entry(path: &Path) -> (PathBuf, Option<String>) {
    match path.to_str().and_then(|text| text.rsplit_once(".py:")) {
        Some((stem, entry)) if !entry.contains('/') => {
            (PathBuf::from(format!("{stem}.py")), Some(entry.to_owned()))
        }
        _ => (path.to_path_buf(), None),
    }
}

fn read_pipeline(options: &Options, file: &Path) -> Result<Pipeline, StageError> {
    let pipelines =
        read_pipelines(options, Some(file.to_path_buf())).map_err(|refusal| refusal.error)?;
    pipelines.into_iter().next().ok_or_else(|| {
        StageError::new(ErrorKind::Specification, "the pipeline file has no pipeline")
            .at(file.display())
    })
}

/// A pipeline of this program alone.
fn program_pipeline(
    options: &Options,
    path: &Path,
    dataset: Option<&str>,
) -> Result<Pipeline, StageError> {
    let program =
        std::path::absolute(path).map_err(|error| StageError::io("find", path, &error))?;
    let text = format!(
        "pipeline: check\ndataset: {}\nplan:\n  program: {}\n",
        dataset.unwrap_or("none"),
        json!(program.to_string_lossy())
    );
    let pipelines = warploom_spec::read_text(&text, Path::new("check.yaml"), &options.set)
        .map_err(|mistakes| mistakes_error(&mistakes))?;
    pipelines
        .into_iter()
        .next()
        .ok_or_else(|| StageError::defect("no pipeline was read for one program"))
}

pub(crate) fn mistakes_error(mistakes: &Mistakes) -> StageError {
    mistakes.shown.first().map_or_else(
        || StageError::new(ErrorKind::Specification, mistakes.to_string()),
        mistake_error,
    )
}

/// The plan request with this program in place of the pipeline's.
fn replace_program(
    environment: &Environment,
    pipeline: &Pipeline,
    path: &Path,
) -> Result<PlanRequest, StageError> {
    let mut pipeline = pipeline.clone();
    pipeline.plan.program.file = path.to_path_buf();
    PlanRequest::resolve(environment, &pipeline)
}

/// The entry that the pipeline names for this file, else that of the file's name.
fn entry_of(path: &Path, request: &PlanRequest, options: &Options) -> String {
    let named = options.pipeline.is_some() && request.spec.program.file == path
        || options.pipeline.is_none();
    let stem =
        || path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if named && !request.spec.program.entry.is_empty() {
        request.spec.program.entry.clone()
    } else {
        stem()
    }
}

/// The known columns of a data set whose graph is in the store.
struct KnownData {
    /// Without and with training.
    data: [Data; 2],
    /// The graph, if its settings differ from those of the pipeline.
    other: Option<Artifact>,
}

/// The known columns of the data set: from the graph of the pipeline's settings, else from its
/// newest graph.
fn find_known_data(
    environment: &Environment,
    pipeline: &Pipeline,
    request: &PlanRequest,
) -> Result<Option<KnownData>, StageError> {
    let mut quiet = environment.clone();
    quiet.network = false;
    let mut chain = Chain::new(&quiet, pipeline);
    let is_exact = chain.look_up_before(StageName::Plan).is_ok();
    let found = [Kind::Graph, Kind::Csr, Kind::Profile]
        .map(|kind| chain.available(kind).filter(|_| is_exact).cloned());
    let (found, other) = match found {
        [Some(graph), Some(csr), Some(profile)] => ([graph, csr, profile], None),
        _ => {
            let Some(newest) = newest_graph(environment, &pipeline.dataset) else {
                return Ok(None);
            };
            let graph = newest[0].clone();
            (newest, Some(graph))
        }
    };
    let _leases = found.each_ref().map(|artifact| environment.store.lease_artifact(artifact));
    let mut inputs = warploom_contract::Inputs::new();
    found.into_iter().for_each(|artifact| inputs.insert(artifact));
    let still = warploom_plan::describe_data(&inputs, request, false)?;
    // Without labels there is no training, and the program's own error says so.
    let training = if still.target.is_some() {
        warploom_plan::describe_data(&inputs, request, true)?
    } else {
        Data { training: true, ..still.clone() }
    };
    Ok(Some(KnownData { data: [still, training], other }))
}

/// The newest graph of a data set that is in the store with its adjacency and profile.
fn newest_graph(environment: &Environment, dataset: &str) -> Option<[Artifact; 3]> {
    let store = &environment.store;
    let is_of_set = |graph: &Artifact| graph.manifest.key_document.request["dataset"] == *dataset;
    let mut graphs: Vec<Artifact> = store.list(Kind::Graph).into_iter().filter(is_of_set).collect();
    graphs.sort_by(|one, other| other.manifest.created.cmp(&one.manifest.created));
    let profiles = if graphs.is_empty() { Vec::new() } else { store.list(Kind::Profile) };
    graphs.into_iter().find_map(|graph| {
        let is_made_from = |profile: &&Artifact| {
            profile.manifest.inputs.iter().any(|input| input.key == graph.manifest.key)
        };
        let profile = profiles.iter().find(is_made_from)?;
        let csr = store.find(Kind::Csr, &profile.manifest.key).ok().flatten()?;
        Some([graph, csr, profile.clone()])
    })
}

/// Describes a graph of other settings.
fn describe_other_graph(dataset: &str, graph: &Artifact) -> String {
    let (key, created) = (graph.manifest.key.short(), local_time(&graph.manifest.created));
    format!(
        "the newest graph of {dataset} in the store ({key} of {created}; there is none of these \
         exact settings)"
    )
}

/// The kernel source of a plan for the graph in the store, with its partition and order.
fn kernel_source(
    environment: &Environment,
    pipeline: &Pipeline,
    request: &PlanRequest,
    entry: &str,
) -> Result<String, StageError> {
    let mut quiet = environment.clone();
    quiet.network = false;
    let mut chain = Chain::new(&quiet, pipeline);
    chain.look_up_before(StageName::Plan)?;
    let mut inputs = warploom_contract::Inputs::new();
    for artifact in
        StageName::Plan.contract().reads.iter().filter_map(|&kind| chain.available(kind))
    {
        inputs.insert(artifact.restricted(&request.reads(artifact.kind)));
    }
    let mut request = request.clone();
    entry.clone_into(&mut request.spec.program.entry);
    warploom_plan::show_form(&inputs, &request, "source")
}

fn parameters(made: &Compilation) -> Vec<(&str, &[u64])> {
    made.traced
        .gir
        .parameters
        .iter()
        .filter(|parameter| parameter.learned)
        .map(|parameter| (parameter.name.as_str(), &parameter.shape[..]))
        .collect()
}

fn results(made: &Compilation) -> Vec<String> {
    made.traced.gir.results.iter().map(|result| result.name.clone()).collect()
}

fn summary_line(entry: &str, made: &Compilation, known_of: &str) -> String {
    let settings: Vec<String> =
        made.traced.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let numbers: u64 =
        parameters(made).iter().map(|(_, shape)| shape.iter().product::<u64>()).sum();
    let kind = match parameters(made).len() {
        0 if made.traced.gir.loops.is_empty() => "no loop".to_owned(),
        0 => format!("{} loops", made.traced.gir.loops.len()).replace("1 loops", "1 loop"),
        count => format!("{count} parameters ({numbers} numbers)"),
    };
    let settings = if settings.is_empty() {
        "no settings".to_owned()
    } else {
        format!("settings {}", settings.join(", "))
    };
    format!(
        "{entry}: OK, checked against {known_of}; {settings}; {kind}; returns {}\n",
        results(made).join(", ")
    )
}

fn summary_json(entry: &str, made: &Compilation, known_of: &str) -> Value {
    let parameters: BTreeMap<&str, &[u64]> = parameters(made).into_iter().collect();
    json!({
        "program": entry, "for": known_of, "trains": !parameters.is_empty(), "settings": made.traced.settings, "parameters": parameters,
        "results": results(made), "warnings": made.traced.warnings.iter().map(|warning| warning.what.clone()).collect::<Vec<_>>(),
    })
}
