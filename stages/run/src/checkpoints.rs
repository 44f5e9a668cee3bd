//! checkpoints: when the state of a run is saved, and from which state it resumes.
//!
//! promises  a state is loaded only if its digests hold and it fits the run as it is now; one that
//!           does not is reported and skipped; checkpoints of a published run are removed, so that
//!           `--force` starts from the beginning; a periodic save is written while the run
//!           continues; saves by time take at most a hundredth of it, however slow the disk is
//! never     decides what a state holds; ends a run because a periodic save failed (at a stop, a
//!           failed save is an error); writes two states at a time, or leaves a partial one behind
//!           when the run ends
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use warploom_contract::{
    Context, Inputs, KeyDocument, Kind, Outputs, Provenance, StageError, kinds::checkpoint,
};
use warploom_shell::signals;
use warploom_spec::RunSpec;

use crate::tensors::Tensors;

/// The checkpoints of one run.
pub struct Checkpoints<'a> {
    context: &'a Context<'a>,
    document: KeyDocument,
    provenance: Provenance,
    /// Epochs or supersteps between two saves, whatever they cost.
    every_steps: Option<u64>,
    interval: SaveInterval,
    /// Whether states are saved and loaded; not those of several searches, which begin again.
    is_on: bool,
    /// The state that is being written: its number of steps, and the writing thread.
    writing: Option<(u64, JoinHandle<Result<Duration, StageError>>)>,
}

/// The time between two saves, as multiples of what the last one took.
const PAUSE_OF_SAVES: u32 = 100;

/// When the next save by time is due.
#[derive(Clone, Copy, Debug)]
struct SaveInterval {
    /// The least time between the starts of two saves.
    every: Duration,
    /// When the last save, or the run, began.
    begun: Instant,
    /// How long the last save took: fetching the state, and writing it.
    took: Duration,
}

impl SaveInterval {
    fn begin(every: Duration) -> Self {
        SaveInterval { every, begun: Instant::now(), took: Duration::ZERO }
    }

    /// The time from the start of the last save to the next one.
    fn pause(&self) -> Duration {
        self.every.max(self.took.saturating_mul(PAUSE_OF_SAVES))
    }

    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.pause()
    }
}

impl<'a> Checkpoints<'a> {
    /// The checkpoints below the key of the outputs.
    pub fn new(
        context: &'a Context<'a>,
        outputs: &Outputs,
        inputs: &Inputs,
        spec: &RunSpec,
    ) -> Self {
        let document = outputs.document().clone();
        if matches!(context.store.find(Kind::Run, &document.key()), Ok(Some(_))) {
            checkpoint::remove(context.store, &document.key());
        }
        Checkpoints {
            context,
            document,
            provenance: inputs.provenance(),
            every_steps: spec.checkpoint.every_epochs,
            interval: SaveInterval::begin(Duration::from_secs(spec.checkpoint.every_seconds)),
            is_on: spec.sources.is_none(),
            writing: None,
        }
    }

    /// The newest state that `fit` accepts; `fit` says why it refuses one.
    pub fn load_newest<R>(
        &self,
        mut fit: impl FnMut(&Tensors) -> Result<R, String>,
    ) -> Result<Option<R>, StageError> {
        if !self.is_on {
            return Ok(None);
        }
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

    /// The steps that may be done before a save by their number is due; at least one.
    pub fn steps_until_due(&self, done: u64) -> u64 {
        let every = self.every_steps.filter(|_| self.is_on);
        every.map_or(u64::MAX, |every| every.saturating_sub(done % every).max(1))
    }

    /// Whether a save is due after so many steps. By time, none is due while one is written.
    pub fn is_due(&mut self, done: u64) -> bool {
        if !self.is_on {
            return false;
        }
        signals::record_steps_done(done);
        if self.writing.as_ref().is_some_and(|(_, writer)| writer.is_finished()) {
            self.join_writer();
        }
        let counted = self.every_steps.is_some_and(|every| done.is_multiple_of(every));
        counted || self.writing.is_none() && self.interval.is_over()
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
        self.interval.begun = Instant::now();
        let (store, document, provenance) =
            (self.context.store.clone(), self.document.clone(), self.provenance);
        let begun = self.interval.begun;
        let write = |bytes: Vec<u8>| {
            let writer = std::thread::Builder::new().name("checkpoint".to_owned());
            // Recorded in the thread: a signal may come before the thread is joined.
            let save = move || {
                checkpoint::save(&store, &document, provenance, done, &bytes)?;
                signals::record_steps_saved(done);
                Ok(begun.elapsed())
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
        if self.writing.is_none() {
            self.interval.took = self.interval.begun.elapsed();
        }
    }

    /// Saves and waits for the write.
    pub fn save(&mut self, done: u64, state: &Tensors) -> Result<(), StageError> {
        if !self.is_on {
            return Ok(());
        }
        self.join_writer();
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

    /// Waits until everything that was to be saved is.
    pub fn finish(&mut self) {
        self.join_writer();
    }

    /// Waits for the current write.
    fn join_writer(&mut self) {
        let Some((done, writer)) = self.writing.take() else { return };
        match writer.join() {
            Ok(Ok(took)) => {
                self.interval.took = took;
                return;
            }
            Ok(Err(error)) => self.warn_unsaved(done, &error),
            Err(_) => {
                self.warn_unsaved(done, &StageError::defect("the thread that saves it panicked"))
            }
        }
        self.interval.took = self.interval.begun.elapsed();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saves_by_time_take_at_most_a_hundredth_of_it() {
        let after = |took: u64| {
            let took = Duration::from_millis(took);
            SaveInterval { took, ..SaveInterval::begin(Duration::from_secs(600)) }.pause()
        };
        assert_eq!(after(20), Duration::from_secs(600), "a quick save does not delay the next");
        assert_eq!(after(60_000), Duration::from_secs(6000), "one that takes a minute does");
    }
}
