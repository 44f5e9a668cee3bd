//! pipelined_epochs: batches of epochs that a device runs ahead of the host: the next batch is
//! enqueued before the host reads the one before.
//!
//! promises  the same history, parameters and end as epochs one by one; a checkpoint that is due is
//!           the state at the end of a batch, and is written while the device continues; it is a
//!           defect if the device decided otherwise than its own measurements say
//! never     lets epochs go unread for longer than about twice `SECONDS_AHEAD`, or two epochs;
//!           waits for a batch before the next one is enqueued, unless training ends, is stopped,
//!           or a checkpoint is due that is too large for readback with the batch
//! limits    where training ends within a batch, the device has computed the rest of it, and the
//!           next one, in vain
use std::time::Instant;

use warploom_contract::{StageError, progress::StopFlag};
use warploom_spec::Keep;

use super::{Best, Training};
use crate::{
    backend::{
        BATCH_EPOCHS_MOST, BatchReport, EpochBatch, Halt, PipelinedEpochs, TrainingState as Watched,
    },
    checkpoints::Checkpoints,
    precision::Precision,
    resolved_program::{Part, Pass},
    training::history::VALIDATION,
};

/// Epochs that run one by one first, with the host between them.
const FIRST_EPOCHS: usize = 2;

/// The approximate duration of a batch; results do not depend on it.
const SECONDS_AHEAD: f64 = 1.0;

/// Epochs that were enqueued and not yet read.
pub(super) struct EpochsInFlight {
    epochs: u64,
    begun: Instant,
}

/// How many epochs of so many seconds may go unread; 1 if the time is unknown.
fn epochs_between_readbacks(seconds_each: f64) -> u64 {
    if seconds_each > 0.0 { (SECONDS_AHEAD / seconds_each).max(1.0) as u64 } else { 1 }
}

impl<T: Precision> Training<'_, T> {
    /// Enqueues a batch of epochs, if the device may run ahead, and reads the batch before. Gives
    /// whether there was either; appends the seconds of each epoch that was read.
    pub(super) fn advance_pipeline(
        &mut self,
        epochs: u64,
        checkpoints: &mut Checkpoints,
        seconds: &mut Vec<f64>,
    ) -> Result<bool, Halt> {
        let before = self.in_flight.take();
        let done = self.state.done + before.as_ref().map_or(0, |before| before.epochs);
        let is_due = before.is_some() && done < epochs && checkpoints.is_due(done);
        let brought = match self.backend.pipelined_epochs() {
            Some(pipelined) if is_due => pipelined.enqueue_state_readback()?,
            _ => false,
        };
        // A checkpoint that is not read back with its batch is fetched before anything else is
        // enqueued.
        let ahead = if is_due && !brought { 0 } else { self.epochs_to_enqueue(epochs, done) };
        if ahead > 0 {
            self.in_flight = Some(self.enqueue_epochs(ahead, done)?);
        }
        let Some(EpochsInFlight { epochs: asked, begun }) = before else {
            return Ok(ahead > 0);
        };
        let first = self.state.done;
        self.read_batch()?;
        // Where training ended within a batch, the device computed more epochs; their time counts,
        // too.
        self.seconds_each = begun.max(self.last_readback).elapsed().as_secs_f64() / asked as f64;
        self.last_readback = Instant::now();
        seconds.extend(std::iter::repeat_n(self.seconds_each, (self.state.done - first) as usize));
        self.context.progress.advance(self.state.done - first);
        if !self.watch.is_over() && is_due {
            self.save_checkpoint(checkpoints, brought);
        }
        self.pipelined()?.drop_oldest();
        Ok(true)
    }

    /// How many epochs a device may run ahead after so many. None if the metrics cannot be counted
    /// on the device, or decide and cannot do so there; none of the first two epochs; not beyond an
    /// epoch with a checkpoint; and only for a limited time.
    fn epochs_to_enqueue(&mut self, epochs: u64, done: u64) -> u64 {
        let is_adaptive = self.is_adaptive();
        let Some(pipelined) = self.backend.pipelined_epochs() else { return 0 };
        let is_known = self.measures.iter().all(|measure| measure.is_counted())
            && (!is_adaptive || pipelined.can_decide());
        if !is_known
            || self.state.history.len() < FIRST_EPOCHS
            || self.context.stop.is_set()
            || self.watch.is_over()
        {
            return 0;
        }
        let until_saved =
            self.spec.checkpoint.every_epochs.map_or(u64::MAX, |every| every - done % every.max(1));
        epochs
            .saturating_sub(done)
            .min(BATCH_EPOCHS_MOST as u64)
            .min(until_saved)
            .min(epochs_between_readbacks(self.seconds_each))
    }

    /// Whether metrics decide what an epoch does, or which parameters are kept.
    fn is_adaptive(&self) -> bool {
        self.spec.keep == Keep::Best || self.watch.is_adaptive()
    }

    /// Enqueues epochs after so many, behind those in flight, if any.
    fn enqueue_epochs(&mut self, epochs: u64, done: u64) -> Result<EpochsInFlight, StageError> {
        let begun = Instant::now();
        let paces: Vec<f64> = (done..=done + epochs).map(|done| self.watch.pace(done)).collect();
        let rows = self.backend.host().data.splits[VALIDATION].len();
        let keeps = self.spec.keep == Keep::Best;
        let watched = self
            .is_adaptive()
            .then(|| self.watch.device_state(self.measures[0].device_index(), rows, keeps));
        let batch = EpochBatch { first: done, paces: &paces, decides_from: watched.as_ref() };
        self.pipelined()?.enqueue(batch)?;
        Ok(EpochsInFlight { epochs, begun })
    }

    fn pipelined(&mut self) -> Result<&mut dyn PipelinedEpochs<T>, StageError> {
        let none = || StageError::defect("no device runs epochs ahead");
        self.backend.pipelined_epochs().ok_or_else(none)
    }

    /// Reads the history of the oldest batch, up to the row that ends training.
    fn read_batch(&mut self) -> Result<(), Halt> {
        let BatchReport { measurements: measured, decisions: watched } =
            self.pipelined()?.read_report()?;
        let mut best = None;
        for (loss, counts) in measured {
            let epoch = self.state.done;
            self.backend.host_mut().loss = loss;
            self.refuse_nonfinite_loss(Pass { epoch, training: false })?;
            let qualities = self.qualities_from_counts(&counts);
            let is_best = self.add_row(epoch, loss, qualities[0][VALIDATION], qualities);
            best = is_best.map(|quality| (epoch, quality)).or(best);
            if self.watch.is_over() {
                break;
            }
            self.state.done += 1;
        }
        match watched {
            Some(watched) => self.take_kept_parameters(best, &watched),
            None => Ok(()),
        }
    }

    /// Takes over the parameters that the device kept: the best ones, or those of the epoch that
    /// ended training, which the device has left behind.
    fn take_kept_parameters(
        &mut self,
        best: Option<(u64, f64)>,
        watched: &Watched,
    ) -> Result<(), Halt> {
        let (is_over, done) = (self.watch.is_over(), self.state.done);
        let ends = is_over
            && (self.spec.keep == Keep::Last || self.state.best.is_none() && best.is_none());
        let kept = if ends { Some(done) } else { best.map(|(epoch, _)| epoch) };
        if !self.watch.agrees_with_device(watched)
            || kept.is_some_and(|kept| kept != u64::from(watched.kept))
        {
            let what = format!(
                "up to epoch {done} the device decided {watched:?}, and by what it measured it is \
                 {:?}, kept {kept:?}",
                self.watch
            );
            return Err(StageError::defect(what).into());
        }
        if kept.is_none() {
            return Ok(());
        }
        let parameters = self.pipelined()?.read_kept_parameters()?;
        if ends {
            self.backend.set_parameters(&parameters)?;
            return self.backend.run(
                Part::Forward,
                Pass { epoch: done, training: false },
                &StopFlag::new(),
            );
        }
        self.state.best = best.map(|(epoch, quality)| Best { epoch, quality, parameters });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_go_on_for_a_second_and_one_does_where_nothing_is_known() {
        assert_eq!([0.0, 1e-3, 0.3, 1.0, 60.0].map(epochs_between_readbacks), [1, 1000, 3, 1, 1]);
    }
}
