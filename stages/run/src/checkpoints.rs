//! checkpoints: when the state of a run is saved, and from which state it resumes.
//!
//! promises  a state is loaded only if it fits the run as it is now; one that does not is reported
//!           and skipped; checkpoints of a published run are removed, so that `--force` starts from
//!           the beginning; a periodic save is written while the run continues
//! never     decides what a state holds; ends a run because a periodic save failed (at a stop, a
//!           failed save is an error); writes two states at a time, or leaves a partial one behind
//!           when the run ends
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use warploom_contract::{
    Context, Inputs, KeyDocument, Kind, Outputs, Provenance, StageError, kinds::checkpoint,
};
use warploom_shell::signals;
use warploom_spec::CheckpointSpec;

use crate::tensors::Tensors;

/// The checkpoints of one run.
pub struct Checkpoints<'a> {
    context: &'a Context<'a>,
    document: KeyDocument,
    provenance: Provenance,
    spec: CheckpointSpec,
    last: Instant,
    /// The state that is being written: its number of steps, and the writing thread.
    writing: Option<(u64, JoinHandle<Result<(), StageError>>)>,
}

impl<'a> Checkpoints<'a> {
    /// The checkpoints below the key of the outputs.
    pub fn new(
        context: &'a Context<'a>,
        outputs: &Outputs,
        inputs: &Inputs,
        spec: &CheckpointSpec,
    ) -> Self {
        let document = outputs.document().clone();
        if matches!(context.store.find(Kind::Run, &document.key()), Ok(Some(_))) {
            checkpoint::remove(context.store, &document.key());
        }
        Checkpoints {
            context,
            document,
            provenance: inputs.provenance(),
            spec: spec.clone(),
            last: Instant::now(),
            writing: None,
        }
    }

    /// The newest state that `fit` accepts; `fit` says why it refuses one.
    pub fn load_newest<R>(
        &self,
        mut fit: impl FnMut(&Tensors) -> Result<R, String>,
    ) -> Result<Option<R>, StageError> {
        let (steps, damaged) = checkpoint::read_steps(self.context.store, &self.document.key())?;
        for error in damaged {
            self.context.progress.warn(&format!(
                "a checkpoint is damaged ({}): {}",
                error.what,
                error.place.unwrap_or_default()
            ));
        }
        for step in steps.iter().rev() {
            let read = std::fs::read(&step.state).map_err(|error| error.to_string());
            match read.and_then(|bytes| Tensors::from_bytes(&bytes)).and_then(|state| fit(&state)) {
                Ok(state) => {
                    signals::record_steps_saved(step.number);
                    return Ok(Some(state));
                }
                Err(why) => self.context.progress.warn(&format!(
                    "a checkpoint cannot be used ({why}): {}",
                    step.state.display()
                )),
            }
        }
        Ok(None)
    }

    /// Whether a save is due after so many steps.
    pub fn is_due(&self, done: u64) -> bool {
        signals::record_steps_done(done);
        let counted = self.spec.every_epochs.is_some_and(|every| done.is_multiple_of(every));
        counted || self.last.elapsed() >= Duration::from_secs(self.spec.every_seconds)
    }

    /// Saves if a save is due.
    pub fn save_if_due(&mut self, done: u64, state: impl FnOnce() -> Result<Tensors, StageError>) {
        if self.is_due(done) {
            self.save_in_background(done, state);
        }
    }

    /// Takes the state after so many steps; a thread writes it. A failure is a warning, and the run
    /// continues.
    pub fn save_in_background(
        &mut self,
        done: u64,
        state: impl FnOnce() -> Result<Tensors, StageError>,
    ) {
        self.join_writer();
        self.last = Instant::now();
        let (store, document, provenance) =
            (self.context.store.clone(), self.document.clone(), self.provenance);
        let write = |bytes: Vec<u8>| {
            let writer = std::thread::Builder::new().name("checkpoint".to_owned());
            // Recorded in the thread: a signal may come before the thread is joined.
            let save = move || {
                checkpoint::save(&store, &document, provenance, done, &bytes)
                    .inspect(|()| signals::record_steps_saved(done))
            };
            let made = writer.spawn(save);
            made.map_err(|error| {
                StageError::io(
                    "start a thread that saves a checkpoint",
                    self.context.store.root(),
                    &error,
                )
            })
        };
        match state().and_then(|state| state.to_bytes()).and_then(write) {
            Ok(writer) => self.writing = Some((done, writer)),
            Err(error) => self.warn_unsaved(done, &error),
        }
    }

    /// Saves and waits for the write.
    pub fn save(&mut self, done: u64, state: &Tensors) -> Result<(), StageError> {
        self.join_writer();
        self.last = Instant::now();
        checkpoint::save(
            self.context.store,
            &self.document,
            self.provenance,
            done,
            &state.to_bytes()?,
        )?;
        signals::record_steps_saved(done);
        Ok(())
    }

    /// Waits for the current write.
    fn join_writer(&mut self) {
        let Some((done, writer)) = self.writing.take() else { return };
        match writer.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.warn_unsaved(done, &error),
            Err(_) => {
                self.warn_unsaved(done, &StageError::defect("the thread that saves it panicked"))
            }
        }
    }

    fn warn_unsaved(&self, done: u64, error: &StageError) {
        self.context
            .progress
            .warn(&format!("the state after {done} steps was not saved: {}", error.what));
    }
}

impl Drop for Checkpoints<'_> {
    fn drop(&mut self) {
        self.join_writer();
    }
}

/// A value among the facts of a state.
pub fn parse_fact<N: std::str::FromStr>(state: &Tensors, name: &str) -> Result<N, String> {
    let text = state.facts.get(name).ok_or_else(|| format!("it has no `{name}`"))?;
    text.parse().map_err(|_| format!("its `{name}` is `{text}`"))
}

/// Makes facts of names and texts.
pub fn collect_facts<const COUNT: usize>(
    pairs: [(&str, String); COUNT],
) -> std::collections::BTreeMap<String, String> {
    pairs.map(|(name, text)| (name.to_owned(), text)).into()
}
