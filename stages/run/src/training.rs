//! training: epochs of full-batch training.
//!
//! promises  row t of the history is measured, without dropout, on the parameters after t updates;
//!           a list without dropout measures and trains in one forward pass; a run that was stopped
//!           and resumed, however often, ends with the same bits as one that was not
//! never     continues with a loss that is not finite; saves half an epoch
//! limits    epochs < 2^32; only parameters and moments carry over from one epoch to the next
pub(crate) mod history;
pub(crate) mod learning_rate;
pub mod metrics;
pub(crate) mod optimizers;
mod pipelined_epochs;

use std::time::Instant;

use warploom_contract::{Context, ErrorKind, StageError, progress::StopFlag};
use warploom_ir::Loss;
use warploom_launch::{LaunchList, Rows};
use warploom_shell::{requests::RunRequest, signals};
use warploom_spec::{Keep, RunSpec};

use history::{Row, VALIDATION};
use learning_rate::TrainingMonitor;
use metrics::{Measure, MetricInputs};
use optimizers::Moments;
use pipelined_epochs::EpochsInFlight;

use crate::{
    backend::{Backend, Halt},
    checkpoints::{Checkpoints, collect_facts, parse_fact},
    host_state::HostState,
    nonfinite_trace, parameters,
    precision::Precision,
    resolved_program::{Action, Part, Pass},
    tensors::{Tensor, Tensors},
};

/// The outcome of a training; the backend holds the kept parameters and their result.
#[derive(Clone, Debug)]
pub struct TrainingOutcome {
    /// One row for each epoch.
    pub history: Vec<Row>,
    /// Updates before the parameters that were kept.
    pub epoch_kept: u64,
    /// Epochs that were done when this start began.
    pub resumed_at: u64,
    /// Median seconds of an epoch of this start.
    pub seconds_step: f64,
    /// The loss.
    pub kind: Loss,
    /// The metrics of each epoch; first the one of `run.metric`.
    pub measures: Vec<Measure>,
    /// Metrics that are measured once, on the kept parameters.
    pub kept: Vec<(Measure, [Option<f64>; 3])>,
}

/// The best parameters so far.
#[derive(Clone, Debug)]
struct Best<T> {
    epoch: u64,
    quality: f64,
    parameters: Vec<Vec<T>>,
}

/// The state that carries over from epoch to epoch.
#[derive(Clone, Debug)]
struct State<T> {
    done: u64,
    history: Vec<Row>,
    best: Option<Best<T>>,
    seconds_before: f64,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        State { done: 0, history: Vec::new(), best: None, seconds_before: 0.0 }
    }
}

/// The buffers of the loss launch.
#[derive(Clone, Copy)]
struct LossBuffers {
    kind: Loss,
    result: usize,
    target: usize,
}

struct Training<'a, T: Precision> {
    context: &'a Context<'a>,
    list: &'a LaunchList,
    spec: &'a RunSpec,
    backend: &'a mut dyn Backend<T>,
    loss: LossBuffers,
    measures: Vec<Measure>,
    watch: TrainingMonitor,
    state: State<T>,
    begun: Instant,
    /// Seconds of an epoch, from the last ones.
    seconds_each: f64,
    /// Pipelined epochs that the host has not read.
    in_flight: Option<EpochsInFlight>,
    /// When epochs were last read back.
    last_readback: Instant,
}

/// Trains from the start or from the newest saved state.
pub fn train<T: Precision>(
    context: &Context,
    list: &LaunchList,
    request: &RunRequest,
    backend: &mut dyn Backend<T>,
    checkpoints: &mut Checkpoints,
) -> Result<TrainingOutcome, StageError> {
    let spec = &request.spec;
    let loss = find_loss(backend.host());
    refuse_untrainable(backend.host(), spec, loss)?;
    let [measures, last] = metrics::choose_measures(
        spec.metric,
        loss.kind,
        backend.host().buffers.reals().shape(loss.result).1,
    )?;
    backend.set_parameters(&parameters::initial_parameters(
        list,
        spec,
        request.init_digest.as_ref(),
    )?)?;
    let names: Vec<String> =
        list.parameters.iter().map(|parameter| parameter.name.clone()).collect();
    backend.set_optimizers(optimizers::make_optimizers(&spec.optimizer, &names)?)?;
    let state = checkpoints
        .load_newest(|saved| restore_state(backend, saved, spec.epochs, measures.len()))?
        .unwrap_or_default();
    let resumed_at = state.done;
    let updates = backend.host().program.part(Part::Update).len();
    let epochs = if updates == 0 { 0 } else { spec.epochs };
    context.progress.begin("training", epochs, "epochs");
    context.progress.advance(resumed_at);
    let mut watch = TrainingMonitor::new(spec, measures[0]);
    for row in &state.history {
        watch.record_quality(row.quality(VALIDATION));
    }
    let (begun, seconds_each) = (Instant::now(), state.seconds_before / state.done.max(1) as f64);
    let mut training = Training {
        context,
        list,
        spec,
        backend,
        loss,
        measures,
        watch,
        state,
        begun,
        seconds_each,
        in_flight: None,
        last_readback: begun,
    };
    let outcome = training.run(epochs, checkpoints);
    context.progress.end();
    let (seconds, epoch_kept) = match outcome {
        Ok(done) => done,
        Err(Halt::Failed(error)) => return Err(error),
        Err(Halt::Stopped) => return Err(training.save_and_stop(checkpoints)),
    };
    let kept = if last.is_empty() { Vec::new() } else { training.evaluate_measures(&last)? };
    let kept = last.into_iter().zip(kept).collect();
    let Training { state, measures, .. } = training;
    Ok(TrainingOutcome {
        history: state.history,
        epoch_kept,
        resumed_at,
        seconds_step: history::median(seconds),
        kind: loss.kind,
        measures,
        kept,
    })
}

impl<T: Precision> Training<'_, T> {
    /// Runs all remaining epochs and the last measurement, and restores the kept parameters. Gives
    /// the seconds of each epoch and the kept epoch.
    fn run(&mut self, epochs: u64, checkpoints: &mut Checkpoints) -> Result<(Vec<f64>, u64), Halt> {
        self.backend.run(Part::Prepare, Pass { epoch: 0, training: false }, self.context.stop)?;
        let mut seconds = Vec::new();
        loop {
            let begun = Instant::now();
            if self.advance_pipeline(epochs, checkpoints, &mut seconds)? {
                if self.watch.is_over() {
                    break;
                }
                continue;
            }
            self.measure_epoch()?;
            if self.state.done >= epochs || self.watch.is_over() {
                break;
            }
            self.run_update()?;
            self.seconds_each = begun.elapsed().as_secs_f64();
            seconds.push(self.seconds_each);
            self.context.progress.advance(1);
            if self.state.done < epochs && checkpoints.is_due(self.state.done) {
                self.save_checkpoint(checkpoints, false);
            }
        }
        if self.state.done < epochs {
            let patience = self.spec.early_stop.patience.unwrap_or_default();
            self.context.progress.note(&format!(
                "no improvement in {patience} epochs: training ends after {} of {epochs}",
                self.state.done
            ));
        }
        Ok((seconds, self.restore_best()?))
    }

    /// Saves the state: the current one, or that read back with the oldest batch.
    fn save_checkpoint(&mut self, checkpoints: &mut Checkpoints, of_batch: bool) {
        let elapsed = self.elapsed();
        let (state, backend) = (&self.state, &mut *self.backend);
        checkpoints.save_in_background(self.state.done, || {
            match backend.pipelined_epochs().filter(|_| of_batch) {
                Some(pipelined) => pipelined.fetch_batch_state()?,
                None => backend.fetch_state()?,
            }
            Ok(collect_state(backend.host(), state, elapsed))
        });
    }

    /// Every metric of each split, from counts.
    fn qualities_from_counts(&self, counts: &[u32]) -> Vec<[Option<f64>; 3]> {
        let columns = self.backend.host().buffers.reals().shape(self.loss.result).1;
        let rows = self.backend.host().data.splits.each_ref().map(|rows| rows.len());
        self.measures
            .iter()
            .map(|measure| measure.evaluate_counts(counts, self.loss.kind, columns, rows))
            .collect()
    }

    /// Computes the gradients and updates the parameters, after a measurement.
    fn run_update(&mut self) -> Result<(), Halt> {
        self.backend.host_mut().pace = self.watch.pace(self.state.done);
        let pass = Pass { epoch: self.state.done, training: true };
        if self.backend.host().program.draws {
            self.backend.run(Part::Forward, pass, self.context.stop)?;
            self.backend.run(Part::Loss, pass, self.context.stop)?;
            self.refuse_nonfinite_loss(pass)?;
        }
        self.backend.run(Part::Backward, pass, self.context.stop)?;
        self.backend.run(Part::Update, pass, self.context.stop)?;
        self.backend.keep_statistics()?;
        self.state.done += 1;
        Ok(())
    }

    /// A forward pass without dropout, and its row of the history.
    fn measure_epoch(&mut self) -> Result<(), Halt> {
        let pass = Pass { epoch: self.state.done, training: false };
        self.backend.run(Part::Forward, pass, self.context.stop)?;
        self.backend.run(Part::Loss, pass, self.context.stop)?;
        self.refuse_nonfinite_loss(pass)?;
        let qualities = self.qualities()?;
        let state = self.backend.host();
        let (loss, quality) = (state.loss, qualities[0][VALIDATION]);
        self.keep_row(pass.epoch, loss, quality, qualities)
    }

    /// Every metric of each split.
    fn qualities(&mut self) -> Result<Vec<[Option<f64>; 3]>, StageError> {
        if self.measures.iter().all(|measure| measure.is_counted())
            && let Some(counts) = self.backend.counts()?
        {
            return Ok(self.qualities_from_counts(&counts));
        }
        self.evaluate_measures(&self.measures.clone())
    }

    /// Metrics of each split, from the last result.
    fn evaluate_measures(
        &mut self,
        measures: &[Measure],
    ) -> Result<Vec<[Option<f64>; 3]>, StageError> {
        self.backend.fetch_results()?;
        let state = self.backend.host();
        let reals = state.buffers.reals();
        let (result, target) = (reals.slot(self.loss.result), reals.get(self.loss.target));
        let compared = MetricInputs {
            result: result.contents,
            target,
            columns: result.columns,
            kind: self.loss.kind,
        };
        let of_measure = |measure: &Measure| {
            state.data.splits.each_ref().map(|rows| measure.evaluate(compared, rows))
        };
        Ok(measures.iter().map(of_measure).collect())
    }

    /// Adds a row to the history; keeps the parameters if they are the best so far.
    fn keep_row(
        &mut self,
        epoch: u64,
        loss: f64,
        quality: Option<f64>,
        qualities: Vec<[Option<f64>; 3]>,
    ) -> Result<(), Halt> {
        if let Some(quality) = self.add_row(epoch, loss, quality, qualities) {
            self.backend.fetch_state()?;
            self.state.best = Some(Best {
                epoch: self.state.done,
                quality,
                parameters: self.backend.host().parameters(),
            });
        }
        Ok(())
    }

    /// Adds a row to the history; gives its metric if its parameters are to be kept.
    fn add_row(
        &mut self,
        epoch: u64,
        loss: f64,
        quality: Option<f64>,
        qualities: Vec<[Option<f64>; 3]>,
    ) -> Option<f64> {
        let is_best = self.watch.record_quality(quality);
        let row = Row {
            epoch,
            loss,
            pace: self.watch.pace(self.state.done),
            qualities,
            seconds: self.elapsed(),
        };
        self.show_progress(&row);
        self.state.history.push(row);
        quality.filter(|_| is_best && self.spec.keep == Keep::Best)
    }

    fn show_progress(&self, row: &Row) {
        let mut text = format!("loss {:.4}", row.loss);
        if let Some(quality) = row.quality(VALIDATION) {
            text.push_str(&format!(
                ", validation {} {}",
                self.measures[0].display_name(),
                self.measures[0].format_quality(quality)
            ));
        }
        self.context.progress.note(&text);
    }

    /// Puts the kept parameters and their result into the buffers. A stop waits for this forward
    /// pass: the last parameters, which a checkpoint would need, are gone.
    fn restore_best(&mut self) -> Result<u64, Halt> {
        let Some(best) = self.state.best.take().filter(|best| best.epoch != self.state.done) else {
            return Ok(self.state.done);
        };
        self.backend.set_parameters(&best.parameters)?;
        self.backend.run(
            Part::Forward,
            Pass { epoch: best.epoch, training: false },
            &StopFlag::new(),
        )?;
        Ok(best.epoch)
    }

    fn refuse_nonfinite_loss(&mut self, pass: Pass) -> Result<(), StageError> {
        if self.backend.host().loss.is_finite() {
            return Ok(());
        }
        // Where the parameters cannot be fetched, the trace begins from the last ones that were.
        let _unless_the_device_failed = self.backend.fetch_state();
        Err(nonfinite_trace::loss_error(self.backend, self.list, pass, &self.spec.optimizer))
    }

    fn elapsed(&self) -> f64 {
        self.state.seconds_before + self.begun.elapsed().as_secs_f64()
    }

    /// Saves the state of the last full epoch, and says so. A row of a partial epoch is dropped. If
    /// the best parameters are those of this epoch they stay: measured again, they are not better
    /// than themselves.
    fn save_and_stop(&mut self, checkpoints: &mut Checkpoints) -> StageError {
        let done = self.state.done;
        self.state.history.truncate(done as usize);
        let fetched = self.backend.fetch_state();
        if done > 0
            && let Err(mut error) = fetched.and_then(|()| {
                checkpoints
                    .save(done, &collect_state(self.backend.host(), &self.state, self.elapsed()))
            })
        {
            error.what = format!(
                "stopped by a signal after epoch {done}, and the state could not be saved: {}",
                error.what
            );
            return error;
        }
        signals::stop_error_after("epoch", done)
    }
}

fn find_loss<T: Precision>(host: &HostState<T>) -> LossBuffers {
    let found =
        host.program.steps[host.program.part(Part::Loss)].iter().find_map(|step| {
            match step.action {
                Action::Loss(kind, [result, target, ..]) => {
                    Some(LossBuffers { kind, result, target })
                }
                _ => None,
            }
        });
    found.expect("a validated list that trains has a loss")
}

/// Refuses what can be seen before the first launch: no training rows, no validation rows to choose
/// by, or a row without a usable label.
fn refuse_untrainable<T: Precision>(
    host: &HostState<T>,
    spec: &RunSpec,
    loss: LossBuffers,
) -> Result<(), StageError> {
    let data = &host.data;
    let refuse = |what: String, hint: &str| Err(StageError::new(ErrorKind::Data, what).hint(hint));
    let (result, target) =
        (host.buffers.reals().slot(loss.result), host.buffers.reals().slot(loss.target));
    let labelled = if matches!(target.rows, Rows::Graphs(_)) { "graphs" } else { "nodes" };
    let split = spec.splits.as_ref().map_or_else(
        || format!("split {}", spec.split),
        |path| format!("split {} of {}", spec.split, path.display()),
    );
    if data.splits[0].is_empty() {
        let drawn = "have splits drawn:  --set 'ingest.split={fractions: {}}'  , or name a table \
                     of the columns id and split:  --set run.splits=FILE";
        let hint = if spec.splits.is_some() {
            "assign some rows of the table to the split  train"
        } else {
            drawn
        };
        return refuse(format!("{split} has no training {labelled}"), hint);
    }
    if spec.keep == Keep::Best && data.splits[VALIDATION].is_empty() {
        return refuse(
            format!("`run.keep: best` chooses by validation {labelled}, and {split} has none"),
            "--set run.keep=last",
        );
    }
    for (part, rows) in history::PARTS.into_iter().zip(&data.splits) {
        let odd = rows.iter().find(|&&row| {
            let labels = &target.contents[row as usize * target.columns..][..target.columns];
            match loss.kind {
                Loss::CrossEntropy => !labels
                    .iter()
                    .all(|label| (0.0..result.columns as f64).contains(&label.widened())),
                Loss::MeanSquares => !labels.iter().all(|label| label.widened().is_finite()),
                Loss::Binary => !labels.iter().all(|label| {
                    label.widened().is_nan() || (0.0..=1.0).contains(&label.widened())
                }),
            }
        });
        if let Some(&row) = odd {
            let (shown, what) =
                (data.describe_row(target.rows, row as usize), labelled.trim_end_matches('s'));
            let hint = if loss.kind == Loss::Binary {
                "`run.loss: bce` takes labels in 0 to 1"
            } else {
                "give it a label, or leave it out of the split:  --set run.splits=FILE"
            };
            return refuse(format!("{shown} is a {part} {what} and has no usable label"), hint);
        }
    }
    if let Some(setting) =
        TrainingMonitor::needs_validation(spec).filter(|_| data.splits[VALIDATION].is_empty())
    {
        return refuse(
            format!("`{setting}` needs validation {labelled}, and {split} has none"),
            "leave it out, or choose another split",
        );
    }
    let is_known = |row: &u32| {
        target.contents[*row as usize * target.columns..][..target.columns]
            .iter()
            .any(|label| !label.widened().is_nan())
    };
    let nothing_known =
        |part: usize| loss.kind == Loss::Binary && !data.splits[part].iter().any(is_known);
    if nothing_known(0) {
        return refuse(
            format!("every label of the training {labelled} is unknown"),
            "choose another split:  --set run.split=1",
        );
    }
    if spec.keep == Keep::Best && nothing_known(VALIDATION) {
        return refuse(
            format!(
                "`run.keep: best` chooses by validation {labelled}, and all their labels are \
                 unknown"
            ),
            "--set run.keep=last",
        );
    }
    Ok(())
}

/// Everything that the next epoch depends on.
fn collect_state<T: Precision>(host: &HostState<T>, state: &State<T>, seconds: f64) -> Tensors {
    let mut saved = Tensors {
        facts: collect_facts([
            ("mode", "train".to_owned()),
            ("epochs_done", state.done.to_string()),
            ("seconds", format!("{seconds:?}")),
        ]),
        ..Tensors::default()
    };
    saved.arrays.insert("history".to_owned(), history::to_tensor(&state.history));
    for (index, learned) in host.program.parameters.iter().enumerate() {
        let mut keep = |kind: &str, values: &[T]| {
            saved.arrays.insert(
                format!("{kind}.{}", learned.name),
                Tensor::from_reals(&[values.len()], values),
            )
        };
        keep("parameter", host.buffers.reals().get(learned.buffer));
        let Moments { first, second } = &host.moments[index];
        keep("first", first);
        keep("second", second);
        if let Some(best) = &state.best {
            keep("best", &best.parameters[index]);
        }
    }
    if let Some(best) = &state.best {
        saved.facts.extend(collect_facts([
            ("best_epoch", best.epoch.to_string()),
            ("best_quality", format!("{:?}", best.quality)),
        ]));
    }
    saved
}

/// Restores a saved state if all of it fits; else says what does not, and changes nothing.
fn restore_state<T: Precision>(
    backend: &mut dyn Backend<T>,
    saved: &Tensors,
    epochs: u64,
    measures: usize,
) -> Result<State<T>, String> {
    if parse_fact::<String>(saved, "mode")? != "train" {
        return Err("it is not the state of a training".to_owned());
    }
    let array = |name: String, count: usize| -> Result<Vec<T>, String> {
        let tensor = saved.arrays.get(&name).ok_or_else(|| format!("it has no `{name}`"))?;
        let values =
            tensor.reals::<T>().ok_or_else(|| format!("its `{name}` is not {}", T::NAME))?;
        if values.len() == count {
            Ok(values)
        } else {
            Err(format!("its `{name}` has {} numbers, expected {count}", values.len()))
        }
    };
    let (mut parameters, mut moments, mut best) = (Vec::new(), Vec::new(), Vec::new());
    let has_best = saved.facts.contains_key("best_epoch");
    let host = backend.host();
    for (learned, wanted) in host.program.parameters.iter().zip(&host.moments) {
        let count = host.buffers.reals().get(learned.buffer).len();
        parameters.push(array(format!("parameter.{}", learned.name), count)?);
        let first = array(format!("first.{}", learned.name), wanted.first.len())?;
        moments.push(Moments {
            first,
            second: array(format!("second.{}", learned.name), wanted.second.len())?,
        });
        if has_best {
            best.push(array(format!("best.{}", learned.name), count)?);
        }
    }
    let done: u64 = parse_fact(saved, "epochs_done")?;
    let history = saved
        .arrays
        .get("history")
        .and_then(|rows| history::from_tensor(rows, measures))
        .unwrap_or_default();
    if done > epochs || history.len() as u64 != done {
        return Err(format!(
            "it is of epoch {done} of {epochs}, with {} rows of history",
            history.len()
        ));
    }
    let best = if has_best {
        Some(Best {
            epoch: parse_fact(saved, "best_epoch")?,
            quality: parse_fact(saved, "best_quality")?,
            parameters: best,
        })
    } else {
        None
    };
    let seconds_before = parse_fact(saved, "seconds")?;
    backend.host_mut().moments = moments;
    backend.set_parameters(&parameters).map_err(|error| error.what)?;
    Ok(State { done, history, best, seconds_before })
}
