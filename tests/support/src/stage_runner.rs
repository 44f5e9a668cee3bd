//! stage_runner: graph artifacts from plain vectors, and the real stages over them in a store of
//! their own.
//!
//! promises  every stage gets its request, key and inputs as the shell makes them from a pipeline
//!           file
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use arrow_array::{ArrayRef, cast::AsArray, types::Float64Type};
use serde_json::json;
use warploom_contract::{
    Artifact, Context, Contract, Inputs, KeyDocument, Kind, Outputs, Stage, StageError, Store,
    arrow_file::{write_rows, write_sparse_rows},
    kinds::{
        graph::{self, EdgeTable, GraphTable, NodeTable},
        plan,
        run::{METRICS_FILE, PARAMETERS_FILE, PREDICTIONS_FILE, RECORD_FILE, Record, VALUES_FILE},
    },
    parquet_file::{Table, read_table},
    progress::{Progress, Silence, StopFlag},
};
use warploom_launch::LaunchList;
use warploom_run::{RunStage, tensors::Tensors};
use warploom_shell::{
    Chain, Environment, Step, environment::Verify, flags::Format, flags::Real, requests::Request,
};
use warploom_spec::Pipeline;

/// A graph before it is an artifact.
#[derive(Clone, Debug)]
pub struct GraphTables {
    /// Edges, with weights and relations.
    pub edges: EdgeTable,
    /// Nodes, with labels, splits and columns.
    pub nodes: NodeTable,
    /// Graphs of a set of many.
    pub graphs: Option<GraphTable>,
    /// Features of nodes.
    pub features: Features,
    /// Columns and a row for each edge.
    pub edge_features: Option<(usize, Vec<f32>)>,
}

#[derive(Clone, Debug)]
/// Features of nodes, a row each.
pub enum Features {
    /// There are none.
    None,
    /// Every number.
    Dense {
        /// Length of a row.
        columns: usize,
        /// Rows one after the other.
        values: Vec<f32>,
    },
    /// Numbers that are not 0.
    Sparse {
        /// Length of a row.
        columns: usize,
        /// Where the entries of each row begin.
        offsets: Vec<u64>,
        /// Column of each entry.
        index: Vec<u32>,
        /// Value of each entry.
        values: Vec<f32>,
    },
}

/// What is kept of dense rows as sparse ones: offsets, columns, values.
pub fn entries(values: &[f32], columns: usize) -> (Vec<u64>, Vec<u32>, Vec<f32>) {
    let (mut offsets, mut index, mut kept) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks(columns) {
        for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            index.push(column as u32);
            kept.push(*value);
        }
        offsets.push(index.len() as u64);
    }
    (offsets, index, kept)
}

/// A folder with a store.
pub struct StageRunner {
    /// The folder, which is removed with this.
    pub folder: tempfile::TempDir,
    /// What a stage is told of its surroundings.
    pub environment: Environment,
}

/// What a run has left, by file name.
pub struct RunFiles {
    /// Where the files are.
    pub folder: PathBuf,
    /// Contents of each file.
    pub bytes: BTreeMap<String, Vec<u8>>,
    /// Held, since dropping it removes the folder.
    _outputs: Outputs,
}

const INGEST: Contract =
    Contract { name: "ingest", version: 1, reads: &[], writes: &[Kind::Graph] };

impl Default for StageRunner {
    fn default() -> Self {
        StageRunner::new()
    }
}

impl StageRunner {
    /// A folder with an empty store.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment {
            store: Store::new(folder.path().join("store")),
            data: Vec::new(),
            threads: 2,
            memory: 1 << 34,
            device: None,
            real: Real::No,
            force: false,
            verify: Verify::Inputs,
            network: false,
            format: Format::Human,
        };
        StageRunner { folder, environment }
    }

    /// A file to name in a pipeline.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Publishes a graph.
    pub fn graph(&self, given: &GraphTables) -> Artifact {
        self.try_graph(given).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, where it may be refused.
    pub fn try_graph(&self, given: &GraphTables) -> Result<Artifact, StageError> {
        self.try_graph_with(given, |_| Ok(()))
    }

    /// With whatever else is written into it.
    pub fn try_graph_with(
        &self,
        given: &GraphTables,
        more: impl FnOnce(&mut Outputs) -> Result<(), StageError>,
    ) -> Result<Artifact, StageError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let request = json!({"number": NUMBER.fetch_add(1, Ordering::Relaxed)});
        let document = KeyDocument::new(INGEST.name, INGEST.version, INGEST.writes, request);
        let store = &self.environment.store;
        let mut outputs =
            Outputs::begin(store, &INGEST, document, &warploom_contract::Inputs::new()).unwrap();
        graph::write_nodes(&mut outputs, given.nodes.clone()).unwrap();
        if let Some(graphs) = &given.graphs {
            graph::write_graphs(&mut outputs, graphs, given.nodes.labels.is_some()).unwrap();
        }
        graph::write_edges(&mut outputs, given.edges.clone(), &|_| {}).unwrap();
        match given.features.clone() {
            Features::None => {}
            Features::Dense { columns, values } => {
                write_rows(
                    &outputs.file(Kind::Graph, graph::FEATURES_FILE),
                    graph::FEATURES_COLUMN,
                    columns,
                    values,
                )
                .unwrap();
                outputs.count(Kind::Graph, "feature_columns", columns as u64);
            }
            Features::Sparse { columns, offsets, index, values } => {
                outputs.count(Kind::Graph, "feature_columns", columns as u64);
                outputs.count(Kind::Graph, "feature_entries", index.len() as u64);
                write_sparse_rows(
                    &outputs.file(Kind::Graph, graph::FEATURES_SPARSE_FILE),
                    graph::FEATURES_COLUMN,
                    offsets,
                    index,
                    values,
                )
                .unwrap();
            }
        }
        if let Some((columns, values)) = given.edge_features.clone() {
            write_rows(
                &outputs.file(Kind::Graph, graph::EDGE_FEATURES_FILE),
                graph::FEATURES_COLUMN,
                columns,
                values,
            )
            .unwrap();
            outputs.count(Kind::Graph, "edge_feature_columns", columns as u64);
        }
        more(&mut outputs)?;
        Ok(outputs.publish(store)?.remove(0))
    }

    /// A pipeline for one of the shipped programs; `rest` are further lines of the file.
    pub fn pipeline(&self, program: &str, rest: &str) -> Pipeline {
        self.pipeline_on("none", program, rest)
    }

    /// The same, of a data set by name.
    pub fn pipeline_on(&self, dataset: &str, program: &str, rest: &str) -> Pipeline {
        let file = program_file(program);
        let text = format!(
            "pipeline: test\ndataset: {dataset}\npartition: {{unit_edges: 64}}\nplan:\n  \
             program: {}\n{rest}\n",
            file.display()
        );
        let read = warploom_spec::read_text(&text, &self.folder.path().join("test.yaml"), &[]);
        read.unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0)
    }

    /// Everything up to the plan.
    pub fn planned<'a>(
        &'a self,
        graph: &Artifact,
        pipeline: &'a Pipeline,
    ) -> Result<Chain<'a>, StageError> {
        let mut chain = Chain::new(&self.environment, pipeline);
        chain.add_available(std::slice::from_ref(graph));
        self.build::<warploom_extract::Extract>(&mut chain)?;
        self.build::<warploom_reorder::Reorder>(&mut chain)?;
        self.build::<warploom_partition::PartitionStage>(&mut chain)?;
        self.build::<warploom_plan::PlanStage>(&mut chain)?;
        Ok(chain)
    }

    fn build<S>(&self, chain: &mut Chain<'_>) -> Result<(), StageError>
    where
        S: Stage,
        S::Request: Request,
    {
        self.build_with::<S>(chain, &Silence)
    }

    /// Runs a stage, which reports to a listener, and publishes.
    pub fn build_with<S>(
        &self,
        chain: &mut Chain<'_>,
        progress: &dyn Progress,
    ) -> Result<(), StageError>
    where
        S: Stage,
        S::Request: Request,
    {
        let stop = StopFlag::new();
        let context = self.context(progress, &stop);
        let mut step = chain.resolve_step::<S::Request>()?;
        if step.request.pending_decision().is_some() {
            S::decide(&context, &step.inputs, &mut step.request)?;
            step = Step::new(step.request, step.inputs);
        }
        let mut outputs =
            Outputs::begin(&self.environment.store, &S::CONTRACT, step.document, &step.inputs)?;
        S::run(&context, &mut outputs, &step.inputs, &step.request)?;
        chain.add_available(&outputs.publish(&self.environment.store)?);
        Ok(())
    }

    /// What a stage is called with.
    pub fn context<'a>(&'a self, progress: &'a dyn Progress, stop: &'a StopFlag) -> Context<'a> {
        Context {
            store: &self.environment.store,
            threads: self.environment.threads,
            memory: self.environment.memory,
            progress,
            stop,
        }
    }

    /// Runs, and leaves what was made unpublished, so that the same key can be run again.
    pub fn run(
        &self,
        chain: &Chain,
        progress: &dyn Progress,
        stop: &StopFlag,
    ) -> Result<RunFiles, StageError> {
        let outputs = self.begin(chain, progress, stop)?;
        let folder = outputs.file(Kind::Run, "x").parent().unwrap().to_path_buf();
        let files = std::fs::read_dir(&folder).unwrap().flatten();
        let bytes = files
            .map(|file| {
                (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())
            })
            .collect();
        Ok(RunFiles { folder, bytes, _outputs: outputs })
    }

    /// Runs and publishes.
    pub fn published(&self, chain: &Chain) -> Result<Artifact, StageError> {
        let outputs = self.begin(chain, &Silence, &StopFlag::new())?;
        Ok(outputs.publish(&self.environment.store)?.remove(0))
    }

    fn begin(
        &self,
        chain: &Chain,
        progress: &dyn Progress,
        stop: &StopFlag,
    ) -> Result<Outputs, StageError> {
        let step = chain.resolve_step::<<RunStage as Stage>::Request>()?;
        let mut outputs = Outputs::begin(
            &self.environment.store,
            &RunStage::CONTRACT,
            step.document,
            &step.inputs,
        )?;
        RunStage::run(&self.context(progress, stop), &mut outputs, &step.inputs, &step.request)?;
        Ok(outputs)
    }

    /// Proves an artifact with the stage's own `check`, which may read all of the inputs.
    pub fn check(&self, chain: &Chain, run: &Artifact) -> Result<(), StageError> {
        let step = chain.resolve_step::<<RunStage as Stage>::Request>().unwrap();
        let outputs = as_inputs(std::slice::from_ref(run));
        let inputs = self.whole(&step.inputs)?;
        RunStage::check(&self.context(&Silence, &StopFlag::new()), &outputs, &inputs, &step.request)
            .map_err(|violation| violation.0)
    }

    /// Inputs with all of their files, as a check is given them.
    pub fn whole(&self, inputs: &Inputs) -> Result<Inputs, StageError> {
        let open =
            |input: &Artifact| self.environment.store.open(input.kind, &input.manifest.key, true);
        Ok(as_inputs(&inputs.iter().map(open).collect::<Result<Vec<_>, _>>()?))
    }
}

/// Where a shipped program stands.
fn program_file(name: &str) -> PathBuf {
    let folder = crate::repository().join("pipelines/programs").canonicalize().unwrap();
    folder.join(format!("{name}.py"))
}

/// The text of a shipped program.
pub fn program_text(name: &str) -> String {
    std::fs::read_to_string(program_file(name)).unwrap()
}

/// Artifacts as a check gets them.
pub fn as_inputs(artifacts: &[Artifact]) -> warploom_contract::Inputs {
    let mut inputs = warploom_contract::Inputs::new();
    artifacts.iter().for_each(|artifact| inputs.insert(artifact.clone()));
    inputs
}

/// The launch list that the plan stage has made.
pub fn list_of(chain: &Chain) -> LaunchList {
    let page = plan::open(chain.available(Kind::Plan).unwrap()).unwrap();
    serde_json::from_value(page.launches).unwrap()
}

/// Runs a pipeline to its end, silently.
pub fn finished(runner: &StageRunner, graph: &Artifact, pipeline: &Pipeline) -> RunFiles {
    let chain = runner.planned(graph, pipeline).unwrap_or_else(|error| panic!("{error}"));
    runner.run(&chain, &Silence, &StopFlag::new()).unwrap_or_else(|error| panic!("{error}"))
}

impl RunFiles {
    /// The record of the run.
    pub fn record(&self) -> Record {
        serde_json::from_slice(&self.bytes[RECORD_FILE]).unwrap()
    }

    /// The parameters that were learned.
    pub fn parameters(&self) -> Tensors {
        Tensors::from_bytes(&self.bytes[PARAMETERS_FILE]).unwrap()
    }

    /// A table by the name of its file.
    pub fn table(&self, file: &str) -> Table {
        read_table(&self.folder.join(file), None).unwrap()
    }

    /// A column of metrics.parquet; null is not a number.
    pub fn metrics(&self, name: &str) -> Vec<f64> {
        let table = self.table(METRICS_FILE);
        table
            .column(name)
            .unwrap()
            .as_primitive::<Float64Type>()
            .iter()
            .map(|value| value.unwrap_or(f64::NAN))
            .collect()
    }

    /// A column of predictions.parquet.
    pub fn predictions(&self, name: &str) -> Vec<f64> {
        reals(self.table(PREDICTIONS_FILE).column(name).unwrap())
    }

    /// A column of values.parquet.
    pub fn values(&self, name: &str) -> Vec<f64> {
        reals(self.table(VALUES_FILE).column(name).unwrap())
    }

    /// What must not depend on threads, stops or time.
    pub fn fixed(&self) -> BTreeMap<&str, &[u8]> {
        let told = [RECORD_FILE, METRICS_FILE];
        self.bytes
            .iter()
            .filter(|(name, _)| !told.contains(&name.as_str()))
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
            .collect()
    }
}

/// Numbers of any column, lists one after the other.
fn reals(column: &ArrayRef) -> Vec<f64> {
    use arrow_array::types::{Float32Type, Int64Type, UInt32Type, UInt64Type};
    if let Some(lists) = column.as_fixed_size_list_opt() {
        return reals(lists.values());
    }
    if let Some(numbers) = column.as_primitive_opt::<Float32Type>() {
        return numbers.values().iter().map(|&number| f64::from(number)).collect();
    }
    if let Some(numbers) = column.as_primitive_opt::<UInt32Type>() {
        return numbers.values().iter().map(|&number| f64::from(number)).collect();
    }
    if let Some(numbers) = column.as_primitive_opt::<UInt64Type>() {
        return numbers.values().iter().map(|&number| number as f64).collect();
    }
    if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
        return numbers.values().iter().map(|&number| number as f64).collect();
    }
    column.as_primitive::<Float64Type>().values().to_vec()
}
