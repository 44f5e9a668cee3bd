//! The chain of keys: each stage's key holds the digests of what the stages before it wrote.
//!
//! promises  a key is known only when the stages before are in the store; then it costs a few small files to compute
//! never     runs a stage
use warploom_contract::{Artifact, Contract, InputFacts, Inputs, Key, KeyDocument, Kind, StageError, error::quoted};
use warploom_spec::Pipeline;

use crate::{
    Environment, contracts,
    requests::{IngestRequest, PartitionRequest, PlanRequest, ReorderRequest, Request, RunRequest},
};

/// A pipeline and what is in the store of it so far.
pub struct Chain<'a> {
    /// Where it runs.
    pub environment: &'a Environment,
    /// What is to be made.
    pub pipeline: &'a Pipeline,
    available: Inputs,
}

/// A stage's place in a chain: everything but the work.
pub struct Step<R> {
    /// What it is told.
    pub request: R,
    /// What its key is the hash of.
    pub document: KeyDocument,
    /// What it reads.
    pub inputs: Inputs,
}

impl<R> Step<R> {
    /// The stage's key.
    pub fn key(&self) -> Key {
        self.document.key()
    }
}

impl<'a> Chain<'a> {
    /// Nothing is known yet.
    pub fn new(environment: &'a Environment, pipeline: &'a Pipeline) -> Self {
        Chain { environment, pipeline, available: Inputs::new() }
    }

    /// Resolves a stage whose inputs are available.
    pub fn step<R: Request>(&self, contract: &Contract) -> Result<Step<R>, StageError> {
        let request = R::resolve(self.environment, self.pipeline)?;
        let mut inputs = Inputs::new();
        let mut document = KeyDocument::new(contract.name, contract.version, contract.writes, request.document());
        for &kind in contract.reads {
            let artifact = self.available.get(kind)?.clone();
            let manifest = &artifact.manifest;
            let facts = InputFacts { digest: manifest.digest.clone(), provenance: manifest.provenance, made_up: manifest.made_up.clone() };
            document.inputs.insert(kind.name().to_owned(), facts);
            inputs.insert(artifact);
        }
        Ok(Step { request, document, inputs })
    }

    /// The artifacts of a key, if all kinds of the stage are there.
    pub fn find(&self, contract: &Contract, key: &Key) -> Result<Option<Vec<Artifact>>, StageError> {
        let found: Result<Option<Vec<Artifact>>, StageError> = contract.writes.iter().map(|&kind| self.environment.store.find(kind, key)).collect();
        found
    }

    /// Makes a stage's artifacts available to the stages after it.
    pub fn accept(&mut self, artifacts: &[Artifact]) {
        for artifact in artifacts {
            self.available.insert(artifact.clone());
        }
    }

    /// Key document of a stage by name.
    pub fn document(&self, contract: &Contract) -> Result<KeyDocument, StageError> {
        Ok(match contract.name {
            "ingest" => self.step::<IngestRequest>(contract)?.document,
            "extract" => self.step::<warploom_spec::ExtractSpec>(contract)?.document,
            "reorder" => self.step::<ReorderRequest>(contract)?.document,
            "partition" => self.step::<PartitionRequest>(contract)?.document,
            "plan" => self.step::<PlanRequest>(contract)?.document,
            _ => self.step::<RunRequest>(contract)?.document,
        })
    }

    /// Looks up, without building, every stage before `name`; the first that is missing is an error.
    pub fn follow_to(&mut self, name: &str) -> Result<(), StageError> {
        for contract in contracts::ALL.iter().take_while(|contract| contract.name != name) {
            let key = self.document(contract)?.key();
            match self.find(contract, &key)? {
                Some(artifacts) => self.accept(&artifacts),
                None => return Err(self.missing(contract, &key)),
            }
        }
        Ok(())
    }

    fn missing(&self, contract: &Contract, key: &Key) -> StageError {
        let file = quoted(&self.pipeline.file);
        StageError::new(warploom_contract::ErrorKind::Input, format!("the stage `{}` before this one has not been run", contract.name))
            .at(self.environment.store.path(contract.writes[0], key).display())
            .hint(format!("run  warploom-{} --pipeline {file}  with the same options, or all stages:  warploom pipeline {file}", contract.name))
    }

    /// The artifact of a kind that is available now.
    pub fn available(&self, kind: Kind) -> Option<&Artifact> {
        self.available.get(kind).ok()
    }
}
