//! requests: the request of each stage: its settings from the pipeline file, and everything else
//! that goes into its key.
//!
//! promises  a request holds everything that the stage may depend on, except its input artifacts;
//!           `document` holds all of it but paths
//! never     does the stage's work
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use serde_json::{Value, json};
use warploom_catalog::{Entry, Generator, Source, entry::Task};
use warploom_contract::{
    Artifact, Digest, ErrorKind, Inputs, Kind, Reads, StageError, Store,
    kinds::{
        graph::{self, LearnedRows},
        partition::{STAGED_BYTES, WARP},
        plan::{GraphFiles, RunReads},
        profile,
        run::Asked,
    },
};
use warploom_device::{Facts, Kind as DeviceKind};
use warploom_spec::{
    ExtractSpec, Graphs, IngestSpec, Method, Mode, PartitionSpec, Pipeline, PlanSpec, ReorderSpec,
    RunSpec, Scheme, Spec,
};

pub use crate::stage_errors::{catalog_error, mistake_error, read_error};
use warploom_tuning::Replaced;

use crate::{
    Environment, StageName,
    data_needs::{DataNeeds, learned_rows},
    data_set::{DataSet, raw_digests},
    device_choice::{self, TablesRead},
    edge_schedules,
    external_program::{ExternalProgram, ProgramSettings},
    memory_budget,
    order_choice_cache::{self, OrderChoice},
    plan_settings::{pipeline_settings, program_text},
    search_sources, stage_inputs, tuning_file, vertices,
};

/// The request of a stage, resolved from the pipeline and the options; `document` is in the key.
pub trait Request: Sized {
    /// The stage.
    const STAGE: StageName;
    /// Resolves names, files and devices.
    fn resolve(environment: &Environment, pipeline: &Pipeline) -> Result<Self, StageError>;
    /// The request as the key document holds it.
    fn document(&self) -> Value;
    /// Learns from an input what the stage reads of other inputs.
    fn learn_reads(&mut self, _available: &Inputs) -> Result<(), StageError> {
        Ok(())
    }
    /// What the stage reads of an input of this kind, after `learn_reads`.
    fn reads(&self, kind: Kind) -> Reads;
    /// Whether the stage needs an input of this kind, which its contract names.
    fn needs(&self, _kind: Kind) -> bool {
        true
    }
    /// Loads the decision for these inputs from the store, if it was made before.
    fn load_decision(&mut self, _store: &Store, _inputs: &Inputs) -> Result<(), StageError> {
        Ok(())
    }
    /// The decision that the stage (`Stage::decide`) must make before there is a key.
    fn pending_decision(&self) -> Option<&'static str> {
        None
    }

    /// Everything that the pending decision weighs, beside the inputs.
    fn weighed(&self) -> Value {
        Value::Null
    }
    /// Takes the seconds of the stages that this process ran before; for a record, in no key.
    fn take_stage_seconds(&mut self, _seconds: &BTreeMap<String, f64>) {}
}

/// The request of `ingest`.
#[derive(Clone, Debug)]
pub struct IngestRequest {
    /// Settings.
    pub spec: IngestSpec,
    /// The entry of the data set in the catalogue.
    pub entry: Entry,
    /// Raw files, or why there are none.
    pub source: Source,
    /// Digest of each raw file by its name.
    pub digests: BTreeMap<String, String>,
    /// The program that reads them, where it is asked for.
    pub program: Option<ExternalProgram>,
    /// Whether a set of many graphs is read as one graph, whose nodes are learned.
    pub union: bool,
    /// What the program reads: only for messages, in no key.
    pub needs: DataNeeds,
}

impl Request for IngestRequest {
    const STAGE: StageName = StageName::Ingest;

    fn resolve(environment: &Environment, pipeline: &Pipeline) -> Result<Self, StageError> {
        let set = DataSet::find(environment, pipeline)?;
        let source = set.locate(environment)?;
        let digests = raw_digests(environment, &set.entry, &source)?;
        let DataSet { entry, program, .. } = set;
        let union = match pipeline.ingest.graphs {
            Graphs::Separate => false,
            Graphs::Union => true,
            Graphs::Auto => {
                has_many_graphs(&entry)
                    && learned_rows(&program_text(pipeline)?, &pipeline.plan)
                        == Some(LearnedRows::Nodes)
            }
        };
        Ok(IngestRequest {
            spec: pipeline.ingest.clone(),
            entry,
            source,
            digests,
            program,
            union,
            needs: DataNeeds::from_pipeline(pipeline),
        })
    }

    fn document(&self) -> Value {
        let source = match &self.source {
            Source::Real { .. } => json!({"files": self.digests}),
            Source::StandIn { .. } => json!("stand-in"),
            Source::Generated => json!("generated"),
        };
        let mut catalog = self.entry.key_fields();
        if let (Source::Real { .. }, Some(shape)) = (&self.source, catalog.as_object_mut()) {
            // The recipe of a stand-in does not count where real data are read.
            shape.remove("stand_in");
        }
        let mut settings = self.spec.document();
        if let Some(settings) = settings.as_object_mut() {
            // The key has the resolved choice, not the setting that led to it.
            settings.remove("graphs");
            if self.union {
                settings.insert("graphs".to_owned(), json!("union"));
            }
            // Of a program, the key has the digests of files, not their paths.
            settings.remove("format");
            settings.remove("command");
        }
        let mut document = json!({
            "dataset": self.entry.name, "catalog": catalog, "settings": settings, "source": source,
        });
        if let Some(program) = &self.program {
            document["command"] = program.key_document();
        }
        document
    }

    fn reads(&self, _kind: Kind) -> Reads {
        Reads::default()
    }
}

/// Whether a data set has many graphs, as far as is known before it is read.
fn has_many_graphs(entry: &Entry) -> bool {
    let is_batch = matches!(entry.generator, Some(Generator::CliqueBatch { .. }));
    let of_graphs = matches!(entry.task, Task::GraphClassification | Task::GraphRegression);
    is_batch
        || of_graphs
        || entry.holds.graphs.is_some()
        || entry.inferred && ["tu", "adjacency_text"].contains(&entry.format.as_str())
}

/// The request of `extract`: only its section of the pipeline.
impl Request for ExtractSpec {
    const STAGE: StageName = StageName::Extract;

    fn resolve(_environment: &Environment, pipeline: &Pipeline) -> Result<Self, StageError> {
        Ok(pipeline.extract.clone())
    }

    fn document(&self) -> Value {
        json!({"settings": Spec::document(self)})
    }

    fn reads(&self, kind: Kind) -> Reads {
        stage_inputs::extract_inputs(kind)
    }
}

/// The request of `partition`.
#[derive(Clone, Debug, Default)]
pub struct PartitionRequest {
    /// Settings.
    pub spec: PartitionSpec,
    /// Digest of the file of groups, where a scheme reads it.
    pub groups_digest: Option<String>,
    /// The program that writes the groups, where it is asked for.
    pub program: Option<ExternalProgram>,
    /// Whether it is for a GPU, which walks lists of its own.
    pub is_for_gpu: bool,
    /// Whether features of the graph are sparse, whose entries are then listed for a GPU too.
    pub has_sparse_features: bool,
    /// The tables that kernels read, which are then made too.
    pub tables_read: TablesRead,
}

impl Request for PartitionRequest {
    const STAGE: StageName = StageName::Partition;

    fn resolve(environment: &Environment, pipeline: &Pipeline) -> Result<Self, StageError> {
        let spec = edge_schedules::partition_settings(pipeline)?;
        refuse_large_tiles(&spec)?;
        refuse_two_tables(&spec)?;
        let groups_digest = groups_digest(environment, &spec)?;
        let settings = ProgramSettings {
            stage: StageName::Partition,
            choice: "scheme",
            is_asked: spec.scheme.contains(&Scheme::Program),
            command: &spec.command,
            inputs: &spec.inputs,
        };
        let program = ExternalProgram::resolve(environment, pipeline, settings)?;
        let device = environment.device_facts(pipeline)?;
        let tables_read = device_choice::find_tables_read(&device, pipeline);
        Ok(PartitionRequest {
            spec,
            groups_digest,
            program,
            is_for_gpu: device.kind == DeviceKind::Cuda,
            has_sparse_features: false,
            tables_read,
        })
    }

    fn learn_reads(&mut self, available: &Inputs) -> Result<(), StageError> {
        self.has_sparse_features =
            self.is_for_gpu && graph::has_sparse_features(available.get(Kind::Graph)?);
        let TablesRead { on_symmetric, on_others } = self.tables_read;
        let differ = on_symmetric != on_others;
        let tables = if differ && profile::open(available.get(Kind::Profile)?)?.symmetric {
            on_symmetric
        } else {
            on_others
        };
        self.spec.both_directions |= tables.both_directions;
        self.spec.ascending_edges |= tables.ascending_edges;
        Ok(())
    }

    /// Leaves settings that no requested scheme reads out of the key.
    fn document(&self) -> Value {
        let read: Vec<&str> = self
            .spec
            .scheme
            .iter()
            .flat_map(|scheme| scheme.settings())
            .copied()
            .chain(["scheme", "unit_edges", "parts"])
            .chain(Some("both_directions").filter(|_| self.spec.both_directions))
            .chain(Some("ascending_edges").filter(|_| self.spec.ascending_edges))
            .collect();
        let mut settings = self.spec.document();
        if let Some(settings) = settings.as_object_mut() {
            // The key has the digests of files, not their paths.
            let is_file = |name: &str| ["groups", "command", "inputs"].contains(&name);
            settings.retain(|name, _| !is_file(name) && read.contains(&name.as_str()));
        }
        let mut document = json!({"settings": settings});
        if let Some(digest) = &self.groups_digest {
            document["groups"] = json!(digest);
        }
        if let Some(program) = &self.program {
            document["command"] = program.key_document();
        }
        document
    }

    fn needs(&self, kind: Kind) -> bool {
        kind == Kind::Csr
            || self.has_sparse_features && [Kind::Graph, Kind::Permutation].contains(&kind)
            || self.program.as_ref().is_some_and(|program| program.is_given(kind))
    }

    fn reads(&self, kind: Kind) -> Reads {
        stage_inputs::partition_inputs(kind, &self.spec, self.has_sparse_features)
    }
}

/// The digest of the table of groups, where a scheme reads one.
fn groups_digest(
    environment: &Environment,
    spec: &PartitionSpec,
) -> Result<Option<String>, StageError> {
    match (&spec.groups, spec.scheme.contains(&Scheme::File)) {
        (None, false) => Ok(None),
        (None, true) => {
            let what = "scheme `file` needs a table of groups, and none is named";
            let hint = "name a Parquet table with the columns node, start and end:  --set \
                        partition.groups=GROUPS.parquet";
            Err(StageError::new(ErrorKind::Specification, what).at("partition.groups").hint(hint))
        }
        (Some(path), false) => {
            let what = "a table of groups is named, and no scheme reads it";
            let hint =
                "ask for it with  --set partition.scheme=file  or leave `partition.groups` out";
            Err(StageError::new(ErrorKind::Specification, what).at(path.display()).hint(hint))
        }
        (Some(path), true) => {
            let hint =
                "`partition.groups` is a Parquet table with the columns  node, start  and  end";
            let read = "read the groups of `partition.groups`";
            table_digest(environment, path, read).map_err(|error| error.hint(hint))
        }
    }
}

/// The digest of a user's table.
fn table_digest(
    environment: &Environment,
    path: &Path,
    read: &str,
) -> Result<Option<String>, StageError> {
    let digest = warploom_catalog::digest_cache::digest(
        path,
        Some(&environment.digest_cache_path()),
        environment.rereads_raw_files(),
    );
    digest.map(Some).map_err(|error| StageError::io(read, path, &error))
}

/// Refuses two schemes with the same tables.
fn refuse_two_tables(spec: &PartitionSpec) -> Result<(), StageError> {
    if !(spec.scheme.contains(&Scheme::File) && spec.scheme.contains(&Scheme::Program)) {
        return Ok(());
    }
    let what = "schemes `file` and `program` are both a division of your own, and there is room \
                for one";
    Err(StageError::new(ErrorKind::Specification, what)
        .at("partition.scheme")
        .hint("leave one of them out of  partition.scheme"))
}

/// Refuses tiles that do not fit into the shared memory of a block.
fn refuse_large_tiles(spec: &PartitionSpec) -> Result<(), StageError> {
    let warps = spec.block_threads / WARP;
    let tiles = [
        (Scheme::WarpTiles, "warp_tile", spec.warp_tile, warps),
        (Scheme::BlockTiles, "block_tile", spec.block_tile, 1),
    ];
    for (scheme, setting, tile, count) in tiles {
        let (needed, most) =
            (tile.saturating_mul(count * STAGED_BYTES), spec.shared_bytes / (count * STAGED_BYTES));
        if spec.scheme.contains(&scheme) && needed > spec.shared_bytes {
            let what = format!(
                "{count} x `{setting}` of {tile} nonzeros takes {needed} bytes of shared memory, \
                 and a block has {}: expected 1 to {most}",
                spec.shared_bytes
            );
            let hint = format!(
                "--set partition.{setting}={most} , or more of  partition.shared_bytes  if the \
                 device has it (227 KiB at most)"
            );
            return Err(StageError::new(ErrorKind::Specification, what)
                .at(format!("partition.{setting}"))
                .hint(hint));
        }
    }
    Ok(())
}

/// The request of `reorder`: its settings, and what `auto` weighs.
#[derive(Clone, Debug)]
pub struct ReorderRequest {
    /// Settings.
    pub spec: ReorderSpec,
    /// Static facts of the device.
    pub device: Facts,
    /// The least number of walks over all edges in a run, with epochs rounded to a power of ten.
    pub walks: u64,
    /// The choice of `auto`, once it is made.
    pub chosen: Option<OrderChoice>,
    /// Digest of the table of the order, where a method reads it.
    pub order_digest: Option<String>,
    /// The program that makes the order, where it is asked for.
    pub program: Option<ExternalProgram>,
}

impl ReorderRequest {
    /// The method that runs: `auto` until it is chosen.
    pub fn method(&self) -> Method {
        self.chosen.as_ref().map_or(self.spec.method, |chosen| chosen.method)
    }

    /// Settings without those that do not change the output.
    fn key_settings(&self, none: &[&str]) -> Value {
        let mut settings = self.spec.document();
        if let Some(settings) = settings.as_object_mut() {
            // A time limit does not change the output, and the key has digests in place of paths.
            settings.retain(|name, _| {
                !OUTSIDE.contains(&name.as_str()) && !none.contains(&name.as_str())
            });
        }
        settings
    }

    /// Everything that `auto` weighs, except the graph.
    pub fn auto_inputs(&self) -> Value {
        let device = json!({"name": self.device.name, "cache": self.device.cache, "gather": self.device.gather});
        // The version of `reorder` makes choices among older methods a miss.
        json!({"settings": self.key_settings(&[]), "device": device, "walks": self.walks, "reorder": StageName::Reorder.contract().version})
    }
}

/// Settings that are in no key as they are written.
const OUTSIDE: [&str; 4] = ["seconds", "order", "command", "inputs"];
/// Walks of an epoch: two layers, forward and backward.
const WALKS_OF_EPOCH: u64 = 4;
/// Assumed walks of an iteration, whose number of supersteps is not known before.
const WALKS_OF_LOOP: u64 = 20;

impl Request for ReorderRequest {
    const STAGE: StageName = StageName::Reorder;

    fn resolve(environment: &Environment, pipeline: &Pipeline) -> Result<Self, StageError> {
        let walks = match pipeline.run.mode {
            Mode::Iterate => WALKS_OF_LOOP,
            _ => WALKS_OF_EPOCH * 10u64.pow(pipeline.run.epochs.max(1).ilog10()),
        };
        let spec = pipeline.reorder.clone();
        let settings = ProgramSettings {
            stage: StageName::Reorder,
            choice: "method",
            is_asked: spec.method == Method::Program,
            command: &spec.command,
            inputs: &spec.inputs,
        };
        let program = ExternalProgram::resolve(environment, pipeline, settings)?;
        Ok(ReorderRequest {
            device: environment.device_facts(pipeline)?,
            walks,
            chosen: None,
            order_digest: order_digest(environment, &spec)?,
            program,
            spec,
        })
    }

    fn document(&self) -> Value {
        // What `auto` weighs is in the key of its choice (`order_choice_cache`); the key of the
        // order has only the chosen method.
        let mut settings = self.key_settings(&["columns", "runs"]);
        settings["method"] = json!(self.method().name());
        let mut document = json!({"settings": settings});
        if let Some(digest) = &self.order_digest {
            document["order"] = json!(digest);
        }
        if let Some(program) = &self.program {
            document["command"] = program.key_document();
        }
        document
    }

    fn needs(&self, kind: Kind) -> bool {
        kind == Kind::Csr
            || kind == Kind::Graph && self.order_digest.is_some()
            || self.program.as_ref().is_some_and(|program| program.is_given(kind))
    }

    fn load_decision(&mut self, store: &Store, inputs: &Inputs) -> Result<(), StageError> {
        if self.pending_decision().is_some() {
            self.chosen = order_choice_cache::find_choice(store, inputs, self.auto_inputs())?;
        }
        Ok(())
    }

    fn pending_decision(&self) -> Option<&'static str> {
        (self.method() == Method::Auto).then_some(
            "which order is the fastest (`reorder.method: auto` weighs the edges of this graph)",
        )
    }

    fn weighed(&self) -> Value {
        self.auto_inputs()
    }

    fn reads(&self, kind: Kind) -> Reads {
        stage_inputs::reorder_inputs(kind, self.spec.method)
    }
}

/// The digest of the table of an order, where the method reads one.
fn order_digest(
    environment: &Environment,
    spec: &ReorderSpec,
) -> Result<Option<String>, StageError> {
    match (&spec.order, spec.method == Method::File) {
        (None, false) => Ok(None),
        (None, true) => {
            let what = "method `file` needs the table of an order, and none is named";
            let hint = "name a table with the column id, a row for each node in the new order:  \
                        --set reorder.order=ORDER.csv";
            Err(StageError::new(ErrorKind::Specification, what).at("reorder.order").hint(hint))
        }
        (Some(path), false) => {
            let what = "the table of an order is named, and the method does not read it";
            let hint = "ask for it with  --set reorder.method=file  or leave `reorder.order` out";
            Err(StageError::new(ErrorKind::Specification, what).at(path.display()).hint(hint))
        }
        (Some(path), true) => {
            let hint = "`reorder.order` is a table with the column  id  or an array of ids";
            let read = "read the order of `reorder.order`";
            table_digest(environment, path, read).map_err(|error| error.hint(hint))
        }
    }
}

/// The request of `plan`: its settings, the program's text, the device, and those settings of `run`
/// that change the launches.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// Settings.
    pub spec: PlanSpec,
    /// Text of the program.
    pub text: String,
    /// Static facts of the device.
    pub device: Facts,
    /// Settings of `run`: mode, target, loss, dtype, optimizer kind and split are in the key of
    /// `plan`; the others are not.
    pub run: RunSpec,
    /// The form of the column of `run.target`, once it was read; not in the key, which has the
    /// graph.
    pub learned: OnceLock<TargetShape>,
    /// Digest of the file of parameters, in inference: the file says what they were learned for.
    pub init_digest: Option<Digest>,
    /// Digest of the file of `run.splits`, where one is named.
    pub splits_digest: Option<String>,
    /// Compiler version.
    pub compiler: u32,
    /// Rows of the tuning table that are replaced.
    pub tuning: Replaced,
}

/// The form of the learned target, as `plan` needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetShape {
    /// `classes`, `values` or `rows`.
    pub form: String,
    /// How many classes, or numbers in a row.
    pub columns: u64,
    /// Whether all numbers of the rows are 0, 1 or unknown.
    pub is_binary: bool,
}

impl Request for PlanRequest {
    const STAGE: StageName = StageName::Plan;

    fn resolve(environment: &Environment, pipeline: &Pipeline) -> Result<Self, StageError> {
        let text = program_text(pipeline)?;
        let device = environment.device_facts(pipeline)?;
        let init_digest =
            if pipeline.run.mode == Mode::Infer { init_digest(&pipeline.run)? } else { None };
        let splits_digest = splits_digest(environment, &pipeline.run)?;
        let (spec, run, learned) = (pipeline.plan.clone(), pipeline.run.clone(), OnceLock::new());
        Ok(PlanRequest {
            spec,
            text,
            device,
            run,
            learned,
            init_digest,
            splits_digest,
            compiler: warploom_compiler::VERSION,
            tuning: warploom_tuning::replaced().clone(),
        })
    }

    fn document(&self) -> Value {
        let mut settings = self.spec.document();
        if let Some(settings) = settings.as_object_mut() {
            // The key has no paths, and the facts of the device instead of its name.
            settings.remove("program");
            settings.remove("device");
            if self.spec.matmul == PlanSpec::default().matmul {
                settings.remove("matmul");
            }
            if self.spec.schedule == PlanSpec::default().schedule {
                settings.remove("schedule");
            }
            // The result of `auto` follows from the device.
            if self.spec.features == PlanSpec::default().features {
                settings.remove("features");
            }
            // Defaults are filled in, so that writing a default down does not change the key.
            if let Some(resolved) = self.resolved_settings() {
                settings.insert("set".to_owned(), resolved);
            }
        }
        let run = self.run.document();
        let optimizer =
            run["optimizer"].as_object().and_then(|optimizer| optimizer.keys().next().cloned());
        let mut document = json!({
            "settings": settings, "entry": self.spec.program.entry, "program": self.text, "device": self.device, "compiler": self.compiler,
            "run": {"mode": run["mode"], "loss": run["loss"], "dtype": run["dtype"], "split": run["split"], "optimizer": optimizer},
        });
        if let Some(digest) = &self.init_digest {
            document["init"] = json!(digest);
        }
        if self.run.target != RunSpec::default().target {
            document["run"]["target"] = run["target"].clone();
        }
        if let Some(digest) = &self.splits_digest {
            document["run"]["splits"] = json!(digest);
        }
        if let Some(digest) = tuning_file::rows_digest(&self.tuning) {
            document["tuning"] = digest;
        }
        document
    }

    fn reads(&self, kind: Kind) -> Reads {
        stage_inputs::plan_inputs(kind, &self.run, self.device.kind)
    }
}

impl PlanRequest {
    /// The program's settings with defaults filled in, if program and settings are valid.
    fn resolved_settings(&self) -> Option<Value> {
        let (entry, given) = (&self.spec.program.entry, self.pipeline_settings());
        let declared = warploom_language::trace::settings_of(&self.text, entry).ok()?;
        let mut resolved: BTreeMap<String, Value> =
            declared.into_iter().map(|setting| (setting.name, setting.default)).collect();
        // Vertex settings belong to the run, so that one plan serves every choice of vertices.
        let of_run: Vec<String> = warploom_language::trace::vertex_settings_of(&self.text, entry)
            .into_iter()
            .map(|setting| setting.name)
            .collect();
        for (name, value) in given {
            if of_run.contains(&name) {
                continue;
            }
            // An integer given for a float setting is that float.
            let slot = resolved.get_mut(&name)?;
            *slot = if slot.is_f64() { value.as_f64().map_or(value, Value::from) } else { value };
        }
        serde_json::to_value(resolved).ok()
    }

    /// The program's settings as written in the pipeline.
    pub fn pipeline_settings(&self) -> BTreeMap<String, Value> {
        pipeline_settings(&self.spec)
    }
}

fn init_digest(spec: &RunSpec) -> Result<Option<Digest>, StageError> {
    let hint = "`run.init` is a safetensors file:  warploom export run --pipeline FILE -o DIR --as \
                files  leaves  DIR/parameters.safetensors";
    let digest = |path: &PathBuf| {
        Digest::from_file(path)
            .map_err(|error| StageError::io("read initial parameters", path, &error).hint(hint))
    };
    spec.init.as_ref().map(digest).transpose()
}

/// Digest of `run.splits`; cached like digests of raw files, since the table may be as long as the
/// graph.
fn splits_digest(environment: &Environment, spec: &RunSpec) -> Result<Option<String>, StageError> {
    let Some(path) = &spec.splits else { return Ok(None) };
    let digest = warploom_catalog::digest_cache::digest(
        path,
        Some(&environment.digest_cache_path()),
        environment.rereads_raw_files(),
    );
    let hint = "`run.splits` is a table with the columns  id  and  split";
    digest
        .map(Some)
        .map_err(|error| StageError::io("read the splits of `run.splits`", path, &error).hint(hint))
}

/// The request of `run`.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Settings.
    pub spec: RunSpec,
    /// Digest of the file of initial parameters.
    pub init_digest: Option<Digest>,
    /// Digest of the file of `run.splits`, where one is named.
    pub splits_digest: Option<String>,
    /// The device, by its static facts: results belong to a device.
    pub device: Facts,
    /// The pipeline that asked; in the record, in no key.
    pub asked: Option<Asked>,
    /// Nodes that the program's vertex settings name; with `run.sources`, those of all searches.
    pub chosen: Vec<vertices::ChosenVertices>,
    /// Seconds of the stages that this process ran before; in the record, in no key.
    pub stage_seconds: BTreeMap<String, f64>,
    /// The files of csr and partition that the plan has a run read.
    pub graph_files: GraphFiles,
}

impl RunRequest {
    /// The sources of `run.sources`, from each of which the program runs once.
    pub fn sources(&self) -> Option<&vertices::ChosenVertices> {
        self.chosen.first().filter(|_| self.spec.sources.is_some())
    }
}

impl Request for RunRequest {
    const STAGE: StageName = StageName::Run;

    fn take_stage_seconds(&mut self, seconds: &BTreeMap<String, f64>) {
        self.stage_seconds.clone_from(seconds);
    }

    fn resolve(environment: &Environment, pipeline: &Pipeline) -> Result<Self, StageError> {
        let spec = pipeline.run.clone();
        let (init_digest, splits_digest) =
            (init_digest(&spec)?, splits_digest(environment, &spec)?);
        let chosen = search_sources::read_chosen_vertices(pipeline)?;
        let asked = Asked {
            pipeline: pipeline.name.clone(),
            file: pipeline.file.display().to_string(),
            dataset: pipeline.dataset.clone(),
            changed: pipeline.changed.clone(),
        };
        Ok(RunRequest {
            spec,
            init_digest,
            splits_digest,
            device: environment.device_facts(pipeline)?,
            chosen,
            asked: Some(asked),
            stage_seconds: BTreeMap::new(),
            graph_files: GraphFiles::default(),
        })
    }

    fn document(&self) -> Value {
        let mut settings = self.spec.document();
        if let Some(settings) = settings.as_object_mut() {
            // Paths and the times of checkpoints change no result, and a repeat equals the run with
            // its seed.
            settings.remove("init");
            settings.remove("splits");
            settings.remove("checkpoint");
            settings.remove("repeat");
            // The key has the sources beside the settings, so that keys from before them hold.
            settings.remove("sources");
            // Keys from before `passes` hold for one pass.
            if self.spec.passes == RunSpec::default().passes {
                settings.remove("passes");
            }
            // The default target is in no key, so that keys from before `target` hold.
            if self.spec.target == RunSpec::default().target {
                settings.remove("target");
            }
        }
        let mut document =
            json!({"settings": settings, "init": self.init_digest, "device": self.device});
        match self.sources() {
            Some(sources) => document["sources"] = vertices::ordered_key_document(sources),
            None if self.chosen.is_empty() => {}
            None => document["vertices"] = vertices::key_document(&self.chosen),
        }
        if let Some(digest) = &self.splits_digest {
            document["splits"] = json!(digest);
        }
        document
    }

    fn learn_reads(&mut self, available: &Inputs) -> Result<(), StageError> {
        let Artifact { path, manifest, .. } = available.get(Kind::Plan)?;
        let reads = RunReads::from_manifest(path, manifest)?;
        self.graph_files = reads.files(memory_budget::uses_shortcuts(&self.spec)).clone();
        Ok(())
    }

    fn reads(&self, kind: Kind) -> Reads {
        stage_inputs::run_inputs(kind, &self.graph_files)
    }
}
