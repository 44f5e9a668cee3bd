//! runs: `warploom runs`: lists the runs of a store, newest first; also the one-line title of a
//! run.
//!
//! reads     the manifest and record.json of runs
//! promises  a run of an older version without the requesting pipeline is listed too, with the data
//!           of its manifest
//! never     opens results
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    time::SystemTime,
};

use serde_json::{Value, json};
use warploom_contract::{
    Artifact, ErrorKind, Key, Kind, Provenance, StageError,
    kinds::run::{self, Record},
};
use warploom_shell::{
    Environment, binary::print_data, flags::Format, machine_limits::count_with_unit, signals,
};
use warploom_spec::{Pipeline, shell_word};

use crate::artifacts;

/// The filter and order of runs.
#[derive(Clone, Debug, Default)]
pub struct RunsRequest<'a> {
    /// Runs of this data set.
    pub dataset: Option<&'a str>,
    /// Runs of the pipeline or file of this name.
    pub pipeline: Option<&'a str>,
    /// Sort by this metric, the best first.
    pub sort: Option<&'a str>,
    /// Output format.
    pub format: Format,
}

/// A run with its record.
pub struct Run {
    /// The artifact.
    pub artifact: Artifact,
    record: Record,
    dataset: Option<String>,
    metrics: BTreeMap<String, f64>,
}

/// Name of the time in CSV and JSON.
const SECONDS: &str = "seconds";

impl Run {
    /// Reads the record; the data set is that of the record, else the one given.
    pub fn open(artifact: Artifact, dataset: Option<&str>) -> Result<Run, StageError> {
        let record = run::open_record(&artifact)?;
        let metrics = run::metrics(&artifact, &record);
        let dataset = record
            .asked
            .as_ref()
            .map(|asked| asked.dataset.clone())
            .or_else(|| dataset.map(str::to_owned));
        Ok(Run { artifact, record, dataset, metrics })
    }

    /// The data set, or `-` if it is unknown.
    pub fn dataset(&self) -> &str {
        self.dataset.as_deref().unwrap_or("-")
    }

    /// The pipeline, else the program.
    fn name(&self) -> &str {
        self.record.asked.as_ref().map_or(&self.record.program, |asked| &asked.pipeline)
    }

    fn learns(&self) -> bool {
        self.record.mode == "train"
    }

    fn is_stand_in(&self) -> bool {
        self.artifact.manifest.provenance == Provenance::StandIn
    }

    fn device(&self) -> &str {
        self.record.device["name"].as_str().unwrap_or("-")
    }

    /// Settings that differ from the pipeline file, without data set and seed, which have their own
    /// columns.
    fn changed_settings(&self) -> Vec<&(String, String)> {
        let all = self.record.asked.iter().flat_map(|asked| &asked.changed);
        all.filter(|(name, _)| name != "dataset" && name != "run.seed").collect()
    }

    /// The number of searches, or of supersteps, of a run without training.
    fn steps_text(&self) -> String {
        match self.record.supersteps {
            _ if !self.record.searches.is_empty() => {
                count_searches(self.record.searches.len() as u64)
            }
            0 => "one pass".to_owned(),
            steps => count_with_unit(steps, "superstep"),
        }
    }

    /// The main metrics; without training the number of supersteps.
    fn metrics_text(&self) -> String {
        let metrics = run::main_metrics(&self.artifact, &self.record);
        let told: Vec<String> = metrics
            .iter()
            .take(2)
            .map(|(name, value)| format!("{} {value:.4}", run::metric_words(name)))
            .collect();
        match (told.is_empty(), self.learns()) {
            (false, _) => told.join(", "),
            (true, true) => count_with_unit(self.record.epochs, "epoch"),
            (true, false) => self.steps_text(),
        }
    }

    /// Settings that differ from the pipeline file, in the form of `--set`.
    fn changed_words(&self) -> Vec<String> {
        self.changed_settings().iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    /// The title of the run: `gcn on cora, STAND-IN, seed 42, plan.set.hidden=8, test accuracy
    /// 0.8210`.
    pub fn title(&self) -> String {
        let mut parts = vec![format!("{} on {}", self.name(), self.dataset())];
        parts.extend(self.is_stand_in().then(|| "STAND-IN".to_owned()));
        parts.extend(self.learns().then(|| format!("seed {}", self.record.seed)));
        parts.extend(self.changed_words());
        let best = run::main_metrics(&self.artifact, &self.record).into_iter().next();
        parts.push(best.map_or_else(
            || self.metrics_text(),
            |(name, value)| format!("{} {value:.4}", run::metric_words(&name)),
        ));
        parts.join(", ")
    }

    /// Whether it belongs to the pipeline or file of this name.
    fn matches_pipeline(&self, pipeline: &str) -> bool {
        let file_name = |path: &str| {
            std::path::Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned())
        };
        let known = self.record.asked.as_ref();
        known.is_some_and(|known| {
            known.pipeline == pipeline || file_name(&known.file) == file_name(pipeline)
        })
    }

    fn to_json(&self) -> Value {
        let Run { artifact, record, metrics, .. } = self;
        let asked = record.asked.clone().unwrap_or_default();
        let or_null = |text: String| if text.is_empty() { Value::Null } else { json!(text) };
        let changed: serde_json::Map<String, Value> =
            asked.changed.into_iter().map(|(name, value)| (name, json!(value))).collect();
        let mut line = json!({
            "run": artifact.manifest.key, "created": artifact.manifest.created, "pipeline": or_null(asked.pipeline), "file": or_null(asked.file),
            "program": record.program, "dataset": self.dataset, "provenance": artifact.manifest.provenance.name(), "changed": changed,
            "seed": record.seed, "device": self.device(), "mode": record.mode, "epochs": record.epochs, "supersteps": record.supersteps,
            "metrics": metrics, SECONDS: record.seconds, "path": artifact.path.to_string_lossy(),
        });
        add_searches(&mut line, record);
        line
    }

    /// The time of publishing; within one second the time of the record file.
    fn age(&self) -> (&str, Option<SystemTime>) {
        let written = std::fs::metadata(self.artifact.file(run::RECORD_FILE))
            .and_then(|facts| facts.modified())
            .ok();
        (&self.artifact.manifest.created, written)
    }
}

/// A number of searches with its unit.
pub fn count_searches(count: u64) -> String {
    if count == 1 { "1 search".to_owned() } else { format!("{count} searches") }
}

/// Adds the number of searches and their medians, where a run has several.
fn add_searches(line: &mut Value, record: &Record) {
    if !record.searches.is_empty() {
        line["searches"] = json!(record.searches.len());
        line["median_search"] = json!(record.median_search);
    }
}

/// The last JSON line of a run of `warploom pipeline`.
pub fn summary(pipeline: &Pipeline, run: &Run) -> Value {
    let Run { artifact, record, metrics, .. } = run;
    let (name, steps) =
        if run.learns() { ("epochs", record.epochs) } else { ("supersteps", record.supersteps) };
    let mut own = json!({
        "metrics": metrics, "device": run.device(), "run": artifact.manifest.key, SECONDS: record.seconds, "status": "done", name: steps,
    });
    add_searches(&mut own, record);
    summary_with(pipeline, artifact.manifest.provenance, own)
}

/// The JSON summary of a run that a signal stopped: progress, checkpoint, and seconds of the
/// stopped stage.
pub fn summary_of_stopped(
    environment: &Environment,
    pipeline: &Pipeline,
    provenance: Provenance,
    seconds: f64,
) -> Value {
    let device = environment.device_facts(pipeline).ok().map(|facts| facts.name);
    let mut own = json!({"metrics": {}, "device": device, "run": null, SECONDS: seconds, "status": "stopped"});
    if let Some(reached) = signals::run_progress() {
        let plural = if reached.unit == "search" { "es" } else { "s" };
        own[format!("{}{plural}", reached.unit)] = json!(reached.done);
        own["saved"] = json!(reached.saved);
    }
    summary_with(pipeline, provenance, own)
}

/// The fields of every summary, and its own.
fn summary_with(pipeline: &Pipeline, provenance: Provenance, own: Value) -> Value {
    let variant: serde_json::Map<String, Value> =
        pipeline.variant.iter().map(|(path, value)| (path.clone(), json!(value))).collect();
    let mut summary = json!({
        "pipeline": pipeline.name, "dataset": pipeline.dataset, "provenance": provenance.name(), "variant": variant, "seed": pipeline.run.seed,
    });
    own.as_object().into_iter().flatten().for_each(|(name, value)| summary[name] = value.clone());
    json!({ "summary": summary })
}

/// The command that exports a run into a folder, with `--store` if needed.
pub fn export_command(environment: &Environment, key: &Key, folder: &str) -> String {
    export_command_of(environment, key.short(), folder)
}

/// `export_command` for a run by its first digits, or for `last`.
pub fn export_command_of(environment: &Environment, run: &str, folder: &str) -> String {
    format!("warploom export {run} -o {}{}", shell_word(folder), environment.store_option())
}

/// Prints the runs of the store.
pub fn list(environment: &Environment, asked: &RunsRequest<'_>) -> Result<(), StageError> {
    let mut runs = read_runs(environment);
    let total = runs.len();
    runs.retain(|run| {
        asked.dataset.is_none_or(|name| run.dataset() == name)
            && asked.pipeline.is_none_or(|pipeline| run.matches_pipeline(pipeline))
    });
    runs.sort_by(|one, other| other.age().cmp(&one.age()));
    if let Some(metric) = asked.sort {
        sort_by(&mut runs, metric)?;
    }
    match asked.format {
        Format::Human => warploom_shell::binary::print_text(&table(&runs, total)),
        Format::Json => runs.iter().for_each(|run| print_data(&format!("{}\n", run.to_json()))),
        Format::Csv => print_data(&csv(&runs)),
    }
    Ok(())
}

/// Every run with a readable record; others are reported on stderr. Data sets missing in a record
/// are looked up by the inputs.
fn read_runs(environment: &Environment) -> Vec<Run> {
    let told = |error: StageError| {
        let place = error.place.map(|place| format!(" ({place})")).unwrap_or_default();
        warploom_shell::binary::print_stderr(&format!(
            "warning: a run is left out: {}{place}\n",
            error.what
        ));
    };
    let runs = environment
        .store
        .list(Kind::Run)
        .into_iter()
        .filter_map(|artifact| Run::open(artifact, None).map_err(told).ok());
    let mut runs: Vec<Run> = runs.collect();
    if runs.iter().any(|run| run.dataset.is_none()) {
        let artifacts = artifacts::read_all(environment);
        let names = artifacts::data_sets(&artifacts);
        for run in runs.iter_mut().filter(|run| run.dataset.is_none()) {
            run.dataset =
                names.get(run.artifact.manifest.key.as_str()).map(|name| (*name).to_owned());
        }
    }
    runs
}

/// The runs of a pipeline file, newest first.
pub fn runs_of_file(environment: &Environment, file: &std::path::Path) -> Vec<Run> {
    let mut runs = read_runs(environment);
    runs.retain(|run| run.matches_pipeline(&file.to_string_lossy()));
    runs.sort_by(|one, other| other.age().cmp(&one.age()));
    runs
}

/// Whether a lower value of the metric is better.
fn is_loss(metric: &str) -> bool {
    ["loss", "mse", "mae", SECONDS].iter().any(|name| metric.ends_with(name))
}

/// Sorts runs, the best first; runs without the metric come last, newest first.
fn sort_by(runs: &mut [Run], metric: &str) -> Result<(), StageError> {
    let wanted = metric.trim().to_lowercase().replace([' ', '-'], "_");
    let known: BTreeSet<String> = runs
        .iter()
        .flat_map(|run| run.metrics.keys().cloned())
        .chain([SECONDS.to_owned()])
        .collect();
    // `test` is the main metric of the test split.
    let value = |run: &Run| {
        let judged = || {
            run::main_metrics(&run.artifact, &run.record)
                .into_iter()
                .find(|(name, _)| name.split('_').next() == Some(&wanted))
        };
        let exact = run.metrics.get(&wanted).map(|value| (wanted.clone(), *value));
        let seconds = (wanted == SECONDS).then(|| (wanted.clone(), run.record.seconds));
        exact
            .or_else(judged)
            .or(seconds)
            .map(|(name, value)| (is_loss(&name), if is_loss(&name) { value } else { -value }))
    };
    if !runs.is_empty() && runs.iter().all(|run| value(run).is_none()) {
        let near =
            warploom_spec::nearest(&wanted, known.iter().map(String::as_str)).unwrap_or("test");
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        let error = StageError::new(ErrorKind::Input, format!("no run has a metric `{metric}`"))
            .at("--sort");
        return Err(error
            .detail(format!("  there are  {}", names.join(", ")))
            .hint(format!("--sort {near}")));
    }
    runs.sort_by(|one, other| match (value(one), value(other)) {
        (Some(one), Some(other)) => one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)),
        (one, other) => other.is_some().cmp(&one.is_some()),
    });
    Ok(())
}

/// The text table of runs.
fn table(runs: &[Run], total: usize) -> String {
    let head =
        ["run", "when", "pipeline", "program", "data set", "seed", "device", "metrics", "changed"]
            .map(str::to_owned);
    let row = |run: &Run| {
        let pipeline = run.record.asked.as_ref().map_or("-", |asked| asked.pipeline.as_str());
        let changed = run.changed_words();
        let dataset = if run.is_stand_in() {
            format!("{} (STAND-IN)", run.dataset())
        } else {
            run.dataset().to_owned()
        };
        let seed = if run.learns() { run.record.seed.to_string() } else { "-".to_owned() };
        let words = [pipeline, &run.record.program].map(str::to_owned);
        let [pipeline, program] = words;
        let (key, when) = (
            run.artifact.manifest.key.short().to_owned(),
            local_time(&run.artifact.manifest.created),
        );
        [
            key,
            when,
            pipeline,
            program,
            dataset,
            seed,
            run.device().to_owned(),
            run.metrics_text(),
            changed.join(" "),
        ]
    };
    let rows: Vec<[String; 9]> = std::iter::once(head).chain(runs.iter().map(row)).collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 9] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _infallible = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    let of = if runs.len() == total { String::new() } else { format!(" of {total}") };
    text + &format!("{}{of}\n", count_with_unit(runs.len() as u64, "run"))
}

/// The CSV table of runs, with a column for each metric of any run.
fn csv(runs: &[Run]) -> String {
    let metrics: BTreeSet<&String> = runs.iter().flat_map(|run| run.metrics.keys()).collect();
    let fixed = [
        "run",
        "created",
        "pipeline",
        "file",
        "program",
        "dataset",
        "provenance",
        "changed",
        "seed",
        "device",
        "mode",
        "epochs",
        "supersteps",
        SECONDS,
    ];
    let names: Vec<&str> =
        fixed.into_iter().chain(metrics.iter().map(|name| name.as_str())).collect();
    let mut text = names.join(",") + "\n";
    for run in runs {
        let line = run.to_json();
        let changed = |value: &Value| {
            let pairs = value.as_object().into_iter().flatten();
            pairs
                .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Object(_) => changed(value),
            other => other.to_string(),
        };
        let of_metric =
            |name: &&String| run.metrics.get(*name).map_or_else(String::new, f64::to_string);
        let cells =
            fixed.into_iter().map(|name| cell(&line[name])).chain(metrics.iter().map(of_metric));
        text += &(cells.map(|cell| csv_cell(&cell)).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A manifest's UTC time in local time, to the minute.
pub fn local_time(created: &str) -> String {
    let here = chrono::DateTime::parse_from_rfc3339(created)
        .map(|time| time.with_timezone(&chrono::Local));
    here.map_or_else(|_| created.to_owned(), |time| time.format("%Y-%m-%d %H:%M").to_string())
}
