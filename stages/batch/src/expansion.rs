//! expansion: the distinct jobs of the pipelines of a file.
//!
//! Two pipelines share the job of a stage if the requests of this stage and of all earlier ones are
//! the same. Keys cannot decide that: the key of a stage is known only once its inputs are there.
//!
//! reads     manifests; raw files as far as their digests are not known
//! promises  a job is a hit only if its output is in the store, and would be found by the task;
//!           there are jobs only of the stages that are asked for, and what is before them is there
//! never     runs a stage, downloads anything
use std::collections::BTreeMap;

use serde_json::{Value, json};
use warploom_contract::{Artifact, Digest, StageError};
use warploom_shell::{
    Chain, Environment, StageName,
    chain::KeyStatus,
    requests::{IngestRequest, PartitionRequest, PlanRequest, ReorderRequest, Request, RunRequest},
    stage_range::StageRange,
};
use warploom_spec::{ExtractSpec, Pipeline};

use crate::{estimate, job::Job};

/// How devices are known where jobs are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKnown {
    /// Tasks will find the device that is found here.
    Here,
    /// The device is that of the node where a task runs: keys from `reorder` on are not known.
    OnNodes,
}

/// The distinct jobs of a range of stages of pipelines, in an order in which a job stands after its
/// input.
pub fn expand(
    environment: &Environment,
    pipelines: &[Pipeline],
    range: &StageRange,
    device: DeviceKnown,
) -> Result<Vec<Job>, StageError> {
    let mut here = environment.clone();
    here.network = false;
    if device == DeviceKnown::OnNodes {
        // Any device tells the requests of jobs apart.
        here.device = Some("cpu".to_owned());
    }
    let mut expansion = Expansion {
        asked: environment,
        here: &here,
        range,
        device,
        jobs: Vec::new(),
        artifacts: Vec::new(),
        row_of: BTreeMap::new(),
        before: BTreeMap::new(),
    };
    for (number, pipeline) in pipelines.iter().enumerate() {
        let mut parent = expansion.before_range(pipeline)?;
        for &stage in range.stages() {
            parent = expansion.find_or_add(number as u32, pipeline, stage, parent)?;
        }
    }
    Ok(expansion.jobs)
}

/// A job, or what is before the range: its row, if it is in the list, and what makes it the same as
/// another.
struct Known {
    row: Option<u32>,
    identity: Digest,
}

/// The jobs so far.
struct Expansion<'a> {
    asked: &'a Environment,
    here: &'a Environment,
    range: &'a StageRange,
    device: DeviceKnown,
    jobs: Vec<Job>,
    /// For each job its artifacts and those of the jobs before it; none if one is missing.
    artifacts: Vec<Option<Vec<Artifact>>>,
    row_of: BTreeMap<Digest, u32>,
    /// The artifacts before the range, by what makes them the same.
    before: BTreeMap<Digest, Vec<Artifact>>,
}

impl Expansion<'_> {
    /// What is before the range, which has to be in the store.
    fn before_range(&mut self, pipeline: &Pipeline) -> Result<Known, StageError> {
        let root = json!([pipeline.dataset, self.range.given_key().map(|key| key.as_str())]);
        let mut identity = Digest::from_bytes(root.to_string().as_bytes());
        if self.range.given_key().is_none() {
            for &stage in self.range.first().earlier_stages() {
                identity = self.identity(pipeline, stage, &identity)?;
            }
        }
        if !self.before.contains_key(&identity) {
            let mut chain = Chain::new(self.here, pipeline);
            self.range.prepare(&mut chain)?;
            let found: Vec<Artifact> = chain.all_available().cloned().collect();
            found.iter().for_each(|artifact| self.here.store.mark_used(artifact));
            self.before.insert(identity.clone(), found);
        }
        Ok(Known { row: None, identity })
    }

    /// The job of a stage of a pipeline, after the job whose output it reads.
    fn find_or_add(
        &mut self,
        number: u32,
        pipeline: &Pipeline,
        stage: StageName,
        parent: Known,
    ) -> Result<Known, StageError> {
        let identity = self.identity(pipeline, stage, &parent.identity)?;
        if let Some(&row) = self.row_of.get(&identity) {
            self.jobs[row as usize].pipelines += 1;
            return Ok(Known { row: Some(row), identity });
        }
        let earlier = match parent.row {
            Some(row) => self.artifacts[row as usize].as_deref(),
            None => self.before.get(&parent.identity).map(Vec::as_slice),
        };
        let is_known = self.device == DeviceKnown::Here || stage < StageName::Reorder;
        let looked = match earlier.filter(|_| is_known) {
            Some(earlier) => look_up(self.here, pipeline, stage, earlier)?,
            None => LookedUp::default(),
        };
        let need = estimate::predict(self.here, pipeline, stage, earlier.unwrap_or(&[]));
        let row = self.jobs.len() as u32;
        self.jobs.push(Job {
            stage,
            parent: parent.row,
            pipeline: number,
            pipelines: 1,
            dataset: pipeline.dataset.clone(),
            title: title(pipeline, stage),
            key: looked.key,
            is_hit: looked.artifacts.is_some(),
            array: 0,
            task: 0,
            bytes: need.bytes,
            seconds: need.seconds,
            store_bytes: need.store_bytes,
        });
        self.artifacts.push(looked.artifacts);
        self.row_of.insert(identity.clone(), row);
        Ok(Known { row: Some(row), identity })
    }

    /// What makes two jobs the same: stage, request, and the job whose output is read.
    fn identity(
        &self,
        pipeline: &Pipeline,
        stage: StageName,
        parent: &Digest,
    ) -> Result<Digest, StageError> {
        // Jobs for other devices differ, whatever those devices will be.
        let node_device = (self.device == DeviceKnown::OnNodes && stage >= StageName::Reorder)
            .then(|| self.asked.device_name(pipeline));
        let request = request_document(self.here, pipeline, stage)?;
        let document = json!([stage.name(), parent.as_str(), node_device, request]);
        Ok(Digest::from_bytes(document.to_string().as_bytes()))
    }
}

/// The request of a stage.
fn request_document(
    environment: &Environment,
    pipeline: &Pipeline,
    stage: StageName,
) -> Result<Value, StageError> {
    Ok(match stage {
        StageName::Ingest => IngestRequest::resolve(environment, pipeline)?.document(),
        StageName::Extract => ExtractSpec::resolve(environment, pipeline)?.document(),
        StageName::Reorder => {
            let request = ReorderRequest::resolve(environment, pipeline)?;
            match request.pending_decision() {
                Some(_) => json!([request.document(), request.auto_inputs()]),
                None => request.document(),
            }
        }
        StageName::Partition => PartitionRequest::resolve(environment, pipeline)?.document(),
        StageName::Plan => PlanRequest::resolve(environment, pipeline)?.document(),
        StageName::Run => RunRequest::resolve(environment, pipeline)?.document(),
    })
}

/// What the store holds of a job.
#[derive(Default)]
struct LookedUp {
    key: Option<String>,
    /// The artifacts of earlier jobs and its own, if they are there.
    artifacts: Option<Vec<Artifact>>,
}

fn look_up(
    environment: &Environment,
    pipeline: &Pipeline,
    stage: StageName,
    earlier: &[Artifact],
) -> Result<LookedUp, StageError> {
    let mut chain = Chain::new(environment, pipeline);
    chain.add_available(earlier);
    let KeyStatus::Document(document) = chain.key_status(stage)? else {
        return Ok(LookedUp::default());
    };
    let key = document.key();
    let found = chain.find_artifacts(stage, &key)?;
    // Tasks will read them: `gc` by age or size takes others first.
    found.iter().flatten().for_each(|artifact| environment.store.mark_used(artifact));
    let artifacts = found.map(|own| {
        // A later stage reads the newest artifact of a kind.
        let is_replaced = |old: &Artifact| own.iter().any(|new| new.kind == old.kind);
        let kept = earlier.iter().filter(|old| !is_replaced(old)).cloned();
        kept.chain(own.iter().cloned()).collect()
    });
    Ok(LookedUp { key: Some(key.to_string()), artifacts })
}

/// What differs from the file, of the settings that a stage and the earlier ones read.
fn title(pipeline: &Pipeline, stage: StageName) -> String {
    let is_read = |path: &str| {
        let section = path.split('.').next().unwrap_or_default();
        StageName::ALL
            .into_iter()
            .find(|known| known.name() == section)
            .is_none_or(|of| of <= stage)
    };
    let mut parts: Vec<String> = pipeline
        .variant
        .iter()
        .filter(|(path, _)| path != "dataset" && is_read(path))
        .map(|(path, value)| format!("{path}={value}"))
        .collect();
    if stage == StageName::Run && pipeline.repeat.is_some() {
        parts.push(format!("run.seed={}", pipeline.run.seed));
    }
    parts.join(" ")
}
