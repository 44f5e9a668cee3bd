//! stage: a name, what the stage reads and writes, how it runs and how its output is checked.
//!
//! promises  all kinds of a stage's output are written under one key, and nothing is published
//!           before each of them is sealed
//! never     gives a stage a path other than those of its inputs and of its own output
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde_json::Value;

use crate::{
    Artifact, Digest, ErrorKind, Key, KeyDocument, Kind, Manifest, Provenance, StageError, Store,
    manifest::{InputEntry, Producer, utc_timestamp},
    progress::{Progress, StopFlag},
    stage_record::StageMeter,
    store::Draft,
};

/// A stage's name, version and kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// As in the pipeline file.
    pub name: &'static str,
    /// Raised when the same request and inputs give other bytes.
    pub version: u32,
    /// Kinds read, each from the latest stage before that writes it.
    pub reads: &'static [Kind],
    /// Kinds written, all under one key.
    pub writes: &'static [Kind],
}

/// A check that failed: what, expected against found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub StageError);

impl Violation {
    /// What does not hold.
    pub fn new(what: impl Into<String>) -> Self {
        Violation(StageError::new(ErrorKind::CheckFailed, what))
    }
}

impl From<StageError> for Violation {
    fn from(mut error: StageError) -> Self {
        if error.kind == ErrorKind::Damaged {
            error.kind = ErrorKind::CheckFailed;
        }
        Violation(error)
    }
}

/// One of the six steps.
pub trait Stage {
    /// All parameters of the stage: resolved settings, and all else that its key holds.
    type Request;
    /// Name, version, kinds.
    const CONTRACT: Contract;

    /// Decides what the request leaves open until inputs are read, and keeps the decision in the
    /// store. Most stages leave nothing open.
    fn decide(
        _context: &Context,
        _inputs: &Inputs,
        _request: &mut Self::Request,
    ) -> Result<(), StageError> {
        Ok(())
    }

    /// Makes the outputs.
    fn run(
        context: &Context,
        outputs: &mut Outputs,
        inputs: &Inputs,
        request: &Self::Request,
    ) -> Result<(), StageError>;

    /// Checks the outputs by an independent method; reads only artifacts.
    fn check(
        context: &Context,
        outputs: &Inputs,
        inputs: &Inputs,
        request: &Self::Request,
    ) -> Result<(), Violation>;
}

/// Store and resources of a stage; none of them may change a byte of the output.
pub struct Context<'a> {
    /// The store.
    pub store: &'a Store,
    /// Threads of the global pool.
    pub threads: usize,
    /// Bytes of memory that may be used.
    pub memory: u64,
    /// Receives progress.
    pub progress: &'a dyn Progress,
    /// Whether to stop at the next safe point, saving what can be saved.
    pub stop: &'a StopFlag,
}

/// Opened artifacts by kind.
#[derive(Clone, Debug, Default)]
pub struct Inputs(BTreeMap<Kind, Artifact>);

impl Inputs {
    /// No inputs.
    pub fn new() -> Self {
        Inputs::default()
    }

    /// Adds or replaces the artifact of a kind.
    pub fn insert(&mut self, artifact: Artifact) {
        self.0.insert(artifact.kind, artifact);
    }

    /// The artifact of a kind that the stage's contract names.
    pub fn get(&self, kind: Kind) -> Result<&Artifact, StageError> {
        self.0.get(&kind).ok_or_else(|| {
            StageError::defect(format!(
                "the stage asked for an input `{}` that it was not given",
                kind.name()
            ))
        })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Artifact> {
        self.0.values()
    }

    /// Stand-in if any input is one.
    pub fn provenance(&self) -> Provenance {
        if self.iter().any(|artifact| artifact.manifest.provenance == Provenance::StandIn) {
            Provenance::StandIn
        } else {
            Provenance::Real
        }
    }

    /// What was generated in any input.
    pub fn made_up(&self) -> Vec<String> {
        let mut all: Vec<String> =
            self.iter().flat_map(|artifact| artifact.manifest.made_up.iter().cloned()).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// The outputs of one stage under one key, being written.
pub struct Outputs {
    drafts: BTreeMap<Kind, Draft>,
    document: KeyDocument,
    provenance: Provenance,
    made_up: Vec<String>,
    inputs: Vec<InputEntry>,
    inputs_verified: Option<bool>,
}

impl Outputs {
    /// Opens a draft for each kind that the contract writes.
    pub fn begin(
        store: &Store,
        contract: &Contract,
        document: KeyDocument,
        inputs: &Inputs,
    ) -> Result<Self, StageError> {
        let key = document.key();
        let drafts = contract
            .writes
            .iter()
            .map(|&kind| Ok((kind, store.begin(kind, &key)?)))
            .collect::<Result<_, StageError>>()?;
        let entries = inputs.iter().map(|artifact| InputEntry {
            kind: artifact.kind.name().to_owned(),
            key: artifact.manifest.key.clone(),
            digest: artifact.manifest.digest.clone(),
        });
        Ok(Outputs {
            drafts,
            document,
            provenance: inputs.provenance(),
            made_up: inputs.made_up(),
            inputs: entries.collect(),
            inputs_verified: None,
        })
    }

    /// The key that everything here will have.
    pub fn key(&self) -> Key {
        self.document.key()
    }

    /// The document that the key is the hash of.
    pub fn document(&self) -> &KeyDocument {
        &self.document
    }

    /// Where to write a file of a kind; the folder exists.
    pub fn file(&self, kind: Kind, name: &str) -> PathBuf {
        self.draft(kind).file(name)
    }

    /// Makes a file of this output from a file of a published artifact: a hard link where the file
    /// system allows it, else a copy.
    pub fn share(&self, kind: Kind, name: &str, from: &std::path::Path) -> Result<(), StageError> {
        self.draft(kind).share(name, from)
    }

    /// States a number in the manifest of a kind.
    pub fn count(&mut self, kind: Kind, name: &str, value: u64) {
        self.draft_mut(kind).counts.insert(name.to_owned(), value);
    }

    /// States a fact in the manifest of a kind.
    pub fn fact(&mut self, kind: Kind, name: &str, value: impl Into<Value>) {
        self.draft_mut(kind).facts.insert(name.to_owned(), value.into());
    }

    /// Says where the data come from, for a stage without inputs.
    pub fn set_provenance(&mut self, provenance: Provenance, made_up: Vec<String>) {
        self.provenance = provenance;
        self.made_up = made_up;
    }

    /// States whether the files that are read of the inputs were compared with their digests;
    /// states nothing where there are no inputs.
    pub fn set_inputs_verified(&mut self, verified: bool) {
        self.inputs_verified = (!self.inputs.is_empty()).then_some(verified);
    }

    /// Lets each manifest record what the stage took, by a meter that began with the stage.
    pub fn set_meter(&mut self, meter: StageMeter) {
        let meter = Arc::new(meter);
        self.drafts.values_mut().for_each(|draft| draft.meter = Some(meter.clone()));
    }

    /// Replaces an error that comes from a removed draft by one that says so; returns any other
    /// error as it is.
    pub fn explain_loss(&self, error: StageError) -> StageError {
        self.drafts.values().fold(error, |error, draft| draft.explain_loss(error))
    }

    /// How many files were written.
    pub fn files(&self) -> Result<u64, StageError> {
        self.drafts.values().map(|draft| Ok(draft.names()?.len() as u64)).sum()
    }

    /// Tells the meter the bytes that the stage has written, before the first draft is sealed.
    pub(crate) fn count_bytes(&self) -> Result<(), StageError> {
        for draft in self.drafts.values() {
            if let Some(meter) = &draft.meter {
                meter.add_bytes(draft.bytes_written()?);
            }
        }
        Ok(())
    }

    /// Each draft with its manifest, which does not list the files yet.
    pub(crate) fn into_drafts(self) -> impl Iterator<Item = (Draft, Manifest)> {
        let Outputs { drafts, document, provenance, made_up, inputs, inputs_verified } = self;
        drafts.into_iter().map(move |(kind, draft)| {
            let manifest = Manifest {
                kind: kind.name().to_owned(),
                format: kind.version(),
                key: document.key(),
                key_document: document.clone(),
                producer: Producer { stage: document.stage.clone(), version: document.version },
                inputs: inputs.clone(),
                inputs_verified,
                files: Vec::new(),
                counts: BTreeMap::new(),
                facts: BTreeMap::new(),
                provenance,
                made_up: made_up.clone(),
                digest: Digest::from_bytes(b""),
                record: None,
                created: utc_timestamp(),
                self_digest: None,
            };
            (draft, manifest)
        })
    }

    fn draft(&self, kind: Kind) -> &Draft {
        self.drafts.get(&kind).expect("a stage writes only kinds of its contract")
    }

    fn draft_mut(&mut self, kind: Kind) -> &mut Draft {
        self.drafts.get_mut(&kind).expect("a stage writes only kinds of its contract")
    }
}
