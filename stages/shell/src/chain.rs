//! chain: the chain of keys. The key of a stage holds the digests of the files that it reads of
//! earlier stages.
//!
//! promises  a key is known only when the earlier stages are in the store; computing it then reads
//!           a few small files
//! never     runs a stage
use std::{collections::BTreeMap, path::Path};

use warploom_contract::{
    Artifact, Inputs, Key, KeyDocument, Kind, StageError, error::shell_quoted, store::lease::Lease,
};
use warploom_spec::{ExtractSpec, Pipeline};

use crate::{
    Environment, StageName,
    requests::{IngestRequest, PartitionRequest, PlanRequest, ReorderRequest, Request, RunRequest},
};

/// A pipeline, and its artifacts that are in the store so far.
pub struct Chain<'a> {
    /// The resolved options.
    pub environment: &'a Environment,
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    available: Inputs,
    /// Leases on the available artifacts while the chain lives: a stage may read one hours after it
    /// was found.
    leases: Vec<Lease>,
    /// Seconds of the stages that this process ran for it.
    seconds: BTreeMap<String, f64>,
}

/// A resolved stage of a chain: everything but the work.
pub struct Step<R> {
    /// Its settings, resolved.
    pub request: R,
    /// The document whose digest is its key.
    pub document: KeyDocument,
    /// What it reads: each artifact restricted to the files that are in the key.
    pub inputs: Inputs,
}

impl<R: Request> Step<R> {
    /// Makes the key document of a request that has no decision pending.
    pub fn new(request: R, inputs: Inputs) -> Self {
        let contract = R::STAGE.contract();
        let mut document =
            KeyDocument::new(contract.name, contract.version, contract.writes, request.document());
        document.inputs.extend(
            inputs.iter().map(|artifact| (artifact.kind.name().to_owned(), artifact.input_facts())),
        );
        Step { request, document, inputs }
    }

    /// The document, if no decision is pending.
    fn key_status(self) -> KeyStatus {
        match self.request.pending_decision() {
            None => KeyStatus::Document(self.document),
            Some(what) => KeyStatus::Undecided(what),
        }
    }

    /// The stage's key.
    pub fn key(&self) -> Key {
        self.document.key()
    }
}

/// The key document of a stage, or the decision that it waits for.
#[derive(Clone, Debug)]
pub enum KeyStatus {
    /// The document whose digest is the key.
    Document(KeyDocument),
    /// What the stage decides when it runs.
    Undecided(&'static str),
}

impl<'a> Chain<'a> {
    /// A chain without available artifacts.
    pub fn new(environment: &'a Environment, pipeline: &'a Pipeline) -> Self {
        Chain {
            environment,
            pipeline,
            available: Inputs::new(),
            leases: Vec::new(),
            seconds: BTreeMap::new(),
        }
    }

    /// Resolves a stage whose inputs are available.
    pub fn resolve_step<R: Request>(&self) -> Result<Step<R>, StageError> {
        let mut request = R::resolve(self.environment, self.pipeline)?;
        request.learn_reads(&self.available)?;
        let mut inputs = Inputs::new();
        for &kind in R::STAGE.contract().reads.iter().filter(|&&kind| request.needs(kind)) {
            inputs.insert(self.available.get(kind)?.restricted(&request.reads(kind)));
        }
        match request.load_decision(&self.environment.store, &inputs) {
            // With `--force`, a damaged decision is made again.
            Err(error)
                if self.environment.force
                    && error.kind == warploom_contract::ErrorKind::Damaged => {}
            settled => settled?,
        }
        Ok(Step::new(request, inputs))
    }

    /// The artifacts of a key, if all kinds of the stage are in the store.
    pub fn find_artifacts(
        &self,
        stage: StageName,
        key: &Key,
    ) -> Result<Option<Vec<Artifact>>, StageError> {
        let writes = stage.contract().writes;
        writes.iter().map(|&kind| self.environment.store.find(kind, key)).collect()
    }

    /// The artifacts of a key with a lease on them, if all kinds of the stage are in the store.
    pub fn find_leased(
        &mut self,
        stage: StageName,
        key: &Key,
    ) -> Result<Option<Vec<Artifact>>, StageError> {
        let Some(found) = self.find_artifacts(stage, key)? else { return Ok(None) };
        self.leases.push(self.environment.store.lease_artifacts(key, &found));
        // `gc` may have collected it before the lease was taken.
        let writes = stage.contract().writes;
        writes.iter().map(|&kind| self.environment.store.find_again(kind, key)).collect()
    }

    /// Whether an available artifact is no longer in the store.
    pub fn has_lost_artifact(&self) -> bool {
        self.available.iter().any(Artifact::is_gone)
    }

    /// Whether a path is an available artifact.
    pub(crate) fn has_available(&self, path: &Path) -> bool {
        self.available.iter().any(|artifact| artifact.path == path)
    }

    /// Makes a stage's artifacts available to the stages after it.
    pub fn add_available(&mut self, artifacts: &[Artifact]) {
        for artifact in artifacts {
            self.available.insert(artifact.clone());
        }
    }

    /// Notes how long a stage took that this process ran.
    pub fn note_seconds(&mut self, stage: StageName, seconds: f64) {
        self.seconds.insert(stage.to_string(), seconds);
    }

    /// Seconds of each stage that this process ran so far.
    pub fn seconds_by_stage(&self) -> &BTreeMap<String, f64> {
        &self.seconds
    }

    /// Keeps `gc` from collecting artifacts of this key, present or future, while the chain lives.
    pub fn lease(&mut self, key: &Key) {
        self.leases.push(self.environment.store.lease(key));
    }

    /// Key document of a stage, which must have no decision pending.
    pub fn key_document(&self, stage: StageName) -> Result<KeyDocument, StageError> {
        match self.key_status(stage)? {
            KeyStatus::Document(document) => Ok(document),
            KeyStatus::Undecided(what) => {
                let what = format!("`{stage}` has no key yet: it is not decided {what}");
                let hint = format!(
                    "run the stage, which decides:  warploom-{stage} --pipeline {}",
                    shell_quoted(&self.pipeline.file)
                );
                Err(StageError::new(warploom_contract::ErrorKind::Input, what).hint(hint))
            }
        }
    }

    /// Key document of a stage, or the decision that it waits for.
    pub fn key_status(&self, stage: StageName) -> Result<KeyStatus, StageError> {
        Ok(match stage {
            StageName::Ingest => self.resolve_step::<IngestRequest>()?.key_status(),
            StageName::Extract => self.resolve_step::<ExtractSpec>()?.key_status(),
            StageName::Reorder => self.resolve_step::<ReorderRequest>()?.key_status(),
            StageName::Partition => self.resolve_step::<PartitionRequest>()?.key_status(),
            StageName::Plan => self.resolve_step::<PlanRequest>()?.key_status(),
            StageName::Run => self.resolve_step::<RunRequest>()?.key_status(),
        })
    }

    /// Looks up every stage before this one without building; the first missing one is an error.
    pub fn look_up_before(&mut self, stage: StageName) -> Result<(), StageError> {
        self.look_up(stage.earlier_stages())
    }

    /// Looks up every stage up to and including this one without building.
    pub fn look_up_through(&mut self, stage: StageName) -> Result<(), StageError> {
        self.look_up(stage.stages_through())
    }

    pub(crate) fn look_up(&mut self, stages: &[StageName]) -> Result<(), StageError> {
        for &stage in stages {
            let KeyStatus::Document(document) = self.key_status(stage)? else {
                return Err(self.missing_stage_error(stage, None));
            };
            match self.find_leased(stage, &document.key())? {
                Some(artifacts) => self.add_available(&artifacts),
                None => return Err(self.missing_stage_error(stage, Some(&document.key()))),
            }
        }
        Ok(())
    }

    fn missing_stage_error(&self, stage: StageName, key: Option<&Key>) -> StageError {
        let file = shell_quoted(&self.pipeline.file);
        let (store, kind) = (&self.environment.store, stage.contract().writes[0]);
        StageError::new(
            warploom_contract::ErrorKind::Input,
            format!("the stage `{stage}` before this one has not been run"),
        )
        .at(key.map_or_else(|| store.kind_directory(kind), |key| store.path(kind, key)).display())
        .hint(format!(
            "run  warploom-{stage} --pipeline {file}  with the same options, or all stages:  \
             warploom pipeline {file}"
        ))
    }

    /// The artifacts that are available now.
    pub fn all_available(&self) -> impl Iterator<Item = &Artifact> {
        self.available.iter()
    }

    /// The artifact of a kind that is available now.
    pub fn available(&self, kind: Kind) -> Option<&Artifact> {
        self.available.get(kind).ok()
    }
}
