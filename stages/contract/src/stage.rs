//! What a stage is: a name, what it reads and writes, how it runs and how its output is proved.
//!
//! promises  `Outputs` publishes all kinds of a stage or none that could be taken for done
//! never     lets a stage see a path that is not an input's or its own output's
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use serde_json::Value;

use crate::{
    Artifact, ErrorKind, Key, KeyDocument, Kind, Manifest, Provenance, StageError, Store,
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

/// Names, or beginnings of names where they end in `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<&'static str>);

impl Names {
    /// Whether a name is among them.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| {
            known.strip_suffix('*').map_or(*known == name, |start| name.starts_with(start))
        })
    }
}

impl<const N: usize> From<[&'static str; N]> for Names {
    fn from(names: [&'static str; N]) -> Self {
        Names(names.into())
    }
}

/// What a stage reads of an input artifact. It is given nothing else of it, and its key holds all
/// of it but the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Files.
    pub files: Names,
    /// Numbers of the manifest.
    pub counts: Names,
    /// Facts of the manifest.
    pub facts: Names,
    /// Files that are records: they may be shown, and may change no byte of what the stage writes.
    pub records: Names,
}

/// A proof that failed: what, expected against found.
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
    /// Everything the stage is told: resolved settings and whatever else goes into its key.
    type Request;
    /// Name, version, kinds.
    const CONTRACT: Contract;

    /// Decides, and keeps in the store, what the request leaves open until inputs are read. Most
    /// stages leave nothing open.
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

    /// Checks the outputs by other means than `run` used; reads only artifacts.
    fn check(
        context: &Context,
        outputs: &Inputs,
        inputs: &Inputs,
        request: &Self::Request,
    ) -> Result<(), Violation>;
}

/// How far a piece of work is, as a stage tells it; what becomes of it is the listener's business.
pub trait Progress: Sync {
    /// A piece of work begins: what it is, how many units in all (0: not known) and what a unit is.
    fn begin(&self, what: &str, total: u64, unit: &'static str);
    /// So many more units are done.
    fn advance(&self, units: u64);
    /// A word beside the bar: loss and accuracy.
    fn note(&self, text: &str);
    /// The piece of work is over.
    fn end(&self);
    /// Something that the person must read, such as a stand-in.
    fn warn(&self, text: &str);
    /// A line of what was found, as it should be.
    fn say(&self, _text: &str) {}
}

/// Reports that so many more units are done; called from any thread, some thousands of units at a
/// time.
pub type Advance<'a> = &'a (dyn Fn(u64) + Sync);

/// Units between two reports of a loop over indices.
pub const STRIDE: usize = 1 << 12;

/// Reports `STRIDE` units at each index that is a multiple of it: for loops that visit indices in
/// any order, on any thread.
pub fn advance_by_stride(advance: Advance<'_>, index: usize) {
    if index.is_multiple_of(STRIDE) {
        advance(STRIDE as u64);
    }
}

/// A phase of a stage, counted from any thread. However its loops count, never more is reported
/// than there is, and the rest is reported when it is dropped.
pub struct Phase<'a> {
    progress: &'a dyn Progress,
    total: u64,
    passes: u64,
    added: AtomicU64,
}

impl<'a> Phase<'a> {
    /// Begins a phase of so many units.
    pub fn begin(progress: &'a dyn Progress, what: &str, total: u64, unit: &'static str) -> Self {
        progress.begin(what, total, unit);
        Phase { progress, total, passes: 1, added: AtomicU64::new(0) }
    }

    /// Each unit is added so many times: all are gone through so often.
    pub fn passes(mut self, passes: u64) -> Self {
        self.passes = passes;
        self
    }

    /// So many more units are done.
    pub fn add(&self, units: u64) {
        let before = self.added.fetch_add(units, Ordering::Relaxed);
        let done = |added: u64| (added / self.passes).min(self.total);
        let new = done(before + units) - done(before);
        if new > 0 {
            self.progress.advance(new);
        }
    }
}

impl Drop for Phase<'_> {
    fn drop(&mut self) {
        self.add(self.total * self.passes);
    }
}

/// A listener that hears nothing.
pub struct Silence;

impl Progress for Silence {
    fn begin(&self, _: &str, _: u64, _: &'static str) {}
    fn advance(&self, _: u64) {}
    fn note(&self, _: &str) {}
    fn end(&self) {}
    fn warn(&self, _: &str) {}
}

/// Set by a signal; long work asks and stops.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicBool);

impl StopFlag {
    /// A flag that is not set.
    pub const fn new() -> Self {
        StopFlag(AtomicBool::new(false))
    }

    /// Asks for a stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether a stop was asked for.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Where and with how much a stage runs; nothing of it may change a byte of the output.
pub struct Context<'a> {
    /// The store.
    pub store: &'a Store,
    /// Threads of the global pool.
    pub threads: usize,
    /// Bytes that may be used.
    pub memory: u64,
    /// Who hears of progress.
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

    /// What was drawn in any input.
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
    inputs: Vec<crate::manifest::InputEntry>,
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
        let entries = inputs.iter().map(|artifact| crate::manifest::InputEntry {
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

    /// What the key is the hash of.
    pub fn document(&self) -> &KeyDocument {
        &self.document
    }

    /// Where to write a file of a kind; the folder exists.
    pub fn file(&self, kind: Kind, name: &str) -> PathBuf {
        self.draft(kind).file(name)
    }

    /// Makes a file of this output out of a file of an artifact that is already published: a hard
    /// link where the file system allows it, else a copy.
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

    /// Says whether the files that are read of the inputs were compared with their digests; without
    /// inputs there is nothing to say.
    pub fn set_inputs_verified(&mut self, verified: bool) {
        self.inputs_verified = (!self.inputs.is_empty()).then_some(verified);
    }

    /// The error of a work one of whose folders was removed under it says so; any other stays as it
    /// is.
    pub fn explain_loss(&self, error: StageError) -> StageError {
        self.drafts.values().fold(error, |error, draft| draft.explain_loss(error))
    }

    /// How many files were written.
    pub fn files(&self) -> Result<u64, StageError> {
        self.drafts.values().map(|draft| Ok(draft.names()?.len() as u64)).sum()
    }

    /// Validates, syncs and publishes every kind.
    pub fn publish(self, store: &Store) -> Result<Vec<Artifact>, StageError> {
        Ok(self
            .publish_with_progress(store, false, &|_| {})?
            .into_iter()
            .map(|(artifact, _)| artifact)
            .collect())
    }

    /// Like `publish`, but an artifact that is already there with other bytes is replaced; says
    /// which were.
    pub fn publish_over(self, store: &Store) -> Result<Vec<(Artifact, bool)>, StageError> {
        self.publish_with_progress(store, true, &|_| {})
    }

    /// `publish_over` or, without `replace`, `publish`; reports each file.
    pub fn publish_with_progress(
        self,
        store: &Store,
        replace: bool,
        advance: Advance<'_>,
    ) -> Result<Vec<(Artifact, bool)>, StageError> {
        let Outputs { drafts, document, provenance, made_up, inputs, inputs_verified } = self;
        let stage = (document.stage.clone(), document.version);
        let mut sealed = Vec::new();
        for (kind, draft) in drafts {
            let seed = Manifest {
                kind: kind.name().to_owned(),
                format: kind.version(),
                key: document.key(),
                key_document: document.clone(),
                producer: crate::manifest::Producer { stage: stage.0.clone(), version: stage.1 },
                inputs: inputs.clone(),
                inputs_verified,
                files: Vec::new(),
                counts: BTreeMap::new(),
                facts: BTreeMap::new(),
                provenance,
                made_up: made_up.clone(),
                digest: crate::Digest::of(b""),
                created: crate::manifest::now_text(),
                self_digest: None,
            };
            sealed.push(draft.seal(seed, advance)?);
        }
        sealed.into_iter().map(|draft| store.publish(draft, replace)).collect()
    }

    fn draft(&self, kind: Kind) -> &Draft {
        self.drafts.get(&kind).expect("a stage writes only kinds of its contract")
    }

    fn draft_mut(&mut self, kind: Kind) -> &mut Draft {
        self.drafts.get_mut(&kind).expect("a stage writes only kinds of its contract")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Listener(Mutex<Vec<u64>>);

    impl Progress for Listener {
        fn begin(&self, _: &str, _: u64, _: &'static str) {}
        fn advance(&self, units: u64) {
            self.0.lock().expect("no test panics with it").push(units);
        }
        fn note(&self, _: &str) {}
        fn end(&self) {}
        fn warn(&self, _: &str) {}
    }

    fn advance(work: impl FnOnce(&Listener)) -> Vec<u64> {
        let listener = Listener::default();
        work(&listener);
        listener.0.into_inner().expect("no test panics with it")
    }

    #[test]
    fn a_piece_of_work_is_told_of_to_its_end_and_not_beyond() {
        let once = advance(|listener| {
            let piece = Phase::begin(listener, "work", 10, "units");
            piece.add(4);
            piece.add(0);
            piece.add(9);
            piece.add(2);
        });
        assert_eq!(once, [4, 6]);
        let twice = advance(|listener| {
            let piece = Phase::begin(listener, "work", 10, "units").passes(2);
            [5, 5, 5].into_iter().for_each(|units| piece.add(units));
        });
        assert_eq!(twice, [2, 3, 2, 3]);
        assert_eq!(advance(|listener| drop(Phase::begin(listener, "work", 0, "units"))), [0; 0]);
    }

    #[test]
    fn a_loop_over_indices_tells_of_each_stride() {
        let sum = AtomicU64::new(0);
        let add = |units| {
            sum.fetch_add(units, Ordering::Relaxed);
        };
        (0..2 * STRIDE + 1).for_each(|index| advance_by_stride(&add, index));
        assert_eq!(sum.into_inner(), 3 * STRIDE as u64);
    }
}
