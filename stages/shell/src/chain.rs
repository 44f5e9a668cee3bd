//! The chain of keys: each stage's key holds the digests of those files of the stages before it
//! that it reads.
//!
//! promises  a key is known only when the stages before are in the store; then it costs a few small
//!           files to compute
//! never     runs a stage
use warploom_contract::{
    Artifact, Inputs, Key, KeyDocument, Kind, StageError, error::shell_quoted, store::lease::Lease,
};
use warploom_spec::{ExtractSpec, Pipeline};

use crate::{
    Environment, StageName,
    requests::{IngestRequest, PartitionRequest, PlanRequest, ReorderRequest, Request, RunRequest},
};

/// A pipeline and what is in the store of it so far.
pub struct Chain<'a> {
    /// Where it runs.
    pub environment: &'a Environment,
    /// What is to be made.
    pub pipeline: &'a Pipeline,
    available: Inputs,
    /// On what is available, for as long as the chain is followed: a stage may read it hours after
    /// it was found.
    leases: Vec<Lease>,
}

/// A stage's place in a chain: everything but the work.
pub struct Step<R> {
    /// What it is told.
    pub request: R,
    /// What its key is the hash of.
    pub document: KeyDocument,
    /// What it reads: each artifact with the files that are in the key and no others.
    pub inputs: Inputs,
}

impl<R: Request> Step<R> {
    /// With the document of a request that leaves nothing open.
    pub fn of(request: R, inputs: Inputs) -> Self {
        let contract = R::STAGE.contract();
        let mut document =
            KeyDocument::new(contract.name, contract.version, contract.writes, request.document());
        document.inputs.extend(
            inputs.iter().map(|artifact| (artifact.kind.name().to_owned(), artifact.input_facts())),
        );
        Step { request, document, inputs }
    }

    /// The document, if nothing is to be decided before.
    fn known(self) -> Known {
        match self.request.undecided() {
            None => Known::Document(self.document),
            Some(what) => Known::Undecided(what),
        }
    }

    /// The stage's key.
    pub fn key(&self) -> Key {
        self.document.key()
    }
}

/// A stage's key document, or what has to be decided before it has one.
#[derive(Clone, Debug)]
pub enum Known {
    /// What its key is the hash of.
    Document(KeyDocument),
    /// What the stage decides when it is run.
    Undecided(&'static str),
}

impl<'a> Chain<'a> {
    /// Nothing is known yet.
    pub fn new(environment: &'a Environment, pipeline: &'a Pipeline) -> Self {
        Chain { environment, pipeline, available: Inputs::new(), leases: Vec::new() }
    }

    /// Resolves a stage whose inputs are available.
    pub fn step<R: Request>(&self) -> Result<Step<R>, StageError> {
        let mut request = R::resolve(self.environment, self.pipeline)?;
        let mut inputs = Inputs::new();
        for &kind in R::STAGE.contract().reads {
            inputs.insert(self.available.get(kind)?.restricted(&request.reads(kind)));
        }
        match request.settle(&self.environment.store, &inputs) {
            // What is damaged is decided anew.
            Err(error)
                if self.environment.force
                    && error.kind == warploom_contract::ErrorKind::Damaged => {}
            settled => settled?,
        }
        Ok(Step::of(request, inputs))
    }

    /// The artifacts of a key, if all kinds of the stage are there.
    pub fn find(&self, stage: StageName, key: &Key) -> Result<Option<Vec<Artifact>>, StageError> {
        let writes = stage.contract().writes;
        writes.iter().map(|&kind| self.environment.store.find(kind, key)).collect()
    }

    /// The artifacts of a key with a lease on them, if all kinds of the stage are there.
    pub fn find_leased(
        &mut self,
        stage: StageName,
        key: &Key,
    ) -> Result<Option<Vec<Artifact>>, StageError> {
        if self.find(stage, key)?.is_none() {
            return Ok(None);
        }
        self.lease(key);
        // It may have been collected before the lease was there.
        let writes = stage.contract().writes;
        writes.iter().map(|&kind| self.environment.store.find_again(kind, key)).collect()
    }

    /// Whether anything that was found or made is not there any more.
    pub fn has_lost(&self) -> bool {
        self.available.iter().any(Artifact::is_gone)
    }

    /// Makes a stage's artifacts available to the stages after it.
    pub fn accept(&mut self, artifacts: &[Artifact]) {
        for artifact in artifacts {
            self.available.insert(artifact.clone());
        }
    }

    /// Keeps what has this key, or will have it, from being collected while the chain is followed.
    pub fn lease(&mut self, key: &Key) {
        self.leases.push(self.environment.store.lease(key));
    }

    /// Key document of a stage, which must have nothing left to decide.
    pub fn document(&self, stage: StageName) -> Result<KeyDocument, StageError> {
        match self.known(stage)? {
            Known::Document(document) => Ok(document),
            Known::Undecided(what) => {
                let what = format!("`{stage}` has no key yet: it is not decided {what}");
                let hint = format!(
                    "run the stage, which decides:  warploom-{stage} --pipeline {}",
                    shell_quoted(&self.pipeline.file)
                );
                Err(StageError::new(warploom_contract::ErrorKind::Input, what).hint(hint))
            }
        }
    }

    /// Key document of a stage, or what is to be decided before.
    pub fn known(&self, stage: StageName) -> Result<Known, StageError> {
        Ok(match stage {
            StageName::Ingest => self.step::<IngestRequest>()?.known(),
            StageName::Extract => self.step::<ExtractSpec>()?.known(),
            StageName::Reorder => self.step::<ReorderRequest>()?.known(),
            StageName::Partition => self.step::<PartitionRequest>()?.known(),
            StageName::Plan => self.step::<PlanRequest>()?.known(),
            StageName::Run => self.step::<RunRequest>()?.known(),
        })
    }

    /// Looks up, without building, every stage before this one; the first that is missing is an
    /// error.
    pub fn follow_to(&mut self, stage: StageName) -> Result<(), StageError> {
        self.follow(stage.earlier())
    }

    /// Looks up, without building, every stage up to this one, and this one.
    pub fn follow_through(&mut self, stage: StageName) -> Result<(), StageError> {
        self.follow(stage.through())
    }

    fn follow(&mut self, stages: &[StageName]) -> Result<(), StageError> {
        for &stage in stages {
            let Known::Document(document) = self.known(stage)? else {
                return Err(self.missing(stage, None));
            };
            match self.find_leased(stage, &document.key())? {
                Some(artifacts) => self.accept(&artifacts),
                None => return Err(self.missing(stage, Some(&document.key()))),
            }
        }
        Ok(())
    }

    fn missing(&self, stage: StageName, key: Option<&Key>) -> StageError {
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

    /// The artifact of a kind that is available now.
    pub fn available(&self, kind: Kind) -> Option<&Artifact> {
        self.available.get(kind).ok()
    }
}
