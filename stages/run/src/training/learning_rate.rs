//! learning_rate: the learning-rate factor of each epoch, and early stopping.
//!
//! promises  a function of the settings and of the validation metrics seen so far, so that a
//!           resumed training continues the same way
//! never     reads a clock
use warploom_spec::{EarlyStopSpec, FallSpec, RunSpec, Schedule};

use crate::{backend::training_control, training::metrics::Measure};

/// The schedule and the validation metric, epoch by epoch.
#[derive(Clone, Debug)]
pub struct TrainingMonitor {
    schedule: Schedule,
    early_stop: EarlyStopSpec,
    epochs: u64,
    measure: Measure,
    best: Option<f64>,
    /// Epochs since the best one.
    stale: u64,
    /// Epochs since the best one or the last decay of a plateau.
    waited: u64,
    fallen: f64,
}

impl TrainingMonitor {
    /// For a run that is judged by this metric.
    pub fn new(spec: &RunSpec, measure: Measure) -> Self {
        let (schedule, early_stop) = (spec.schedule.clone(), spec.early_stop.clone());
        TrainingMonitor {
            schedule,
            early_stop,
            epochs: spec.epochs,
            measure,
            best: None,
            stale: 0,
            waited: 0,
            fallen: 1.0,
        }
    }

    /// The setting that needs validation metrics, if one does.
    pub fn needs_validation(spec: &RunSpec) -> Option<&'static str> {
        match spec.schedule {
            _ if spec.early_stop.patience.is_some() => Some("run.early_stop"),
            Schedule::Plateau(_) => Some("run.schedule: plateau"),
            _ => None,
        }
    }

    /// Records the validation metric of the next epoch; whether it is the best so far.
    pub fn record_quality(&mut self, quality: Option<f64>) -> bool {
        let is_better = quality.is_some_and(|quality| {
            self.best.is_none_or(|best| self.measure.is_better(quality, best))
        });
        if is_better {
            (self.best, self.stale, self.waited) = (quality, 0, 0);
            return true;
        }
        self.stale += 1;
        self.waited += 1;
        if let Schedule::Plateau(plateau) = &self.schedule
            && self.waited > plateau.patience
        {
            self.fallen = (self.fallen * plateau.factor).max(plateau.least);
            self.waited = 0;
        }
        false
    }

    /// Whether metrics, not only the epoch number, decide what an epoch does.
    pub fn is_adaptive(&self) -> bool {
        self.early_stop.patience.is_some() || matches!(self.schedule, Schedule::Plateau(_))
    }

    /// The same state for a device that continues alone: the index of the metric that it counts,
    /// the number of validation rows, and whether it keeps the best parameters.
    pub fn device_state(
        &self,
        measure: u32,
        rows: usize,
        keeps: bool,
    ) -> training_control::TrainingState {
        let short = |epochs: u64| u32::try_from(epochs).unwrap_or(u32::MAX - 1);
        let plateau =
            if let Schedule::Plateau(plateau) = &self.schedule { Some(plateau) } else { None };
        training_control::TrainingState {
            measure,
            keeps,
            patience: self.early_stop.patience.map(short),
            plateau: plateau.map(|plateau| short(plateau.patience)),
            rows: rows as u32,
            best: self.best,
            stale: short(self.stale),
            waited: short(self.waited),
            over: false,
            kept: 0,
            factor: plateau.map_or(1.0, |plateau| plateau.factor),
            least: plateau.map_or(0.0, |plateau| plateau.least),
            fallen: self.fallen,
        }
    }

    /// Whether a device that continued alone reached the same state.
    pub fn agrees_with_device(&self, device: &training_control::TrainingState) -> bool {
        let seen = self.device_state(device.measure, device.rows as usize, device.keeps);
        training_control::TrainingState { over: device.over, kept: device.kept, ..seen } == *device
            && (self.is_over() == device.over)
    }

    /// Whether patience is exhausted: so many epochs without a better one.
    pub fn is_over(&self) -> bool {
        self.early_stop.patience.is_some_and(|patience| self.stale >= patience)
    }

    /// The learning-rate factor after so many epochs.
    pub fn pace(&self, done: u64) -> f64 {
        match &self.schedule {
            Schedule::Constant(constant) => warmup_factor(done, constant.warmup),
            Schedule::Step(step) => step.factor.powf((done / step.every) as f64),
            Schedule::Exponential(exponential) => exponential.factor.powf(done as f64),
            Schedule::Linear(fall) => {
                warmup_factor(done, fall.warmup)
                    * (1.0 - (1.0 - fall.last) * self.schedule_fraction(done, fall))
            }
            Schedule::Cosine(fall) => {
                let left =
                    0.5 * (1.0 + (std::f64::consts::PI * self.schedule_fraction(done, fall)).cos());
                warmup_factor(done, fall.warmup) * (fall.last + (1.0 - fall.last) * left)
            }
            Schedule::Plateau(_) => self.fallen,
        }
    }

    /// The finished fraction of the epochs after the warm-up.
    fn schedule_fraction(&self, done: u64, fall: &FallSpec) -> f64 {
        let all = self.epochs.saturating_sub(fall.warmup).max(1);
        done.saturating_sub(fall.warmup) as f64 / all as f64
    }
}

fn warmup_factor(done: u64, warmup: u64) -> f64 {
    if done < warmup { (done + 1) as f64 / warmup as f64 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use warploom_spec::{ConstantSpec, ExponentialSpec, PlateauSpec, StepSpec};

    use super::*;

    fn watch(schedule: Schedule) -> TrainingMonitor {
        TrainingMonitor::new(
            &RunSpec { schedule, epochs: 10, ..RunSpec::default() },
            Measure::Accuracy,
        )
    }

    /// The first values are those of torch.optim.lr_scheduler with the same settings and a learning
    /// rate of 1.
    #[test]
    fn paces() {
        let paces = |schedule: Schedule| -> Vec<f64> {
            (0..4).map(|done| watch(schedule.clone()).pace(done)).collect()
        };
        assert_eq!(paces(Schedule::default()), [1.0; 4]);
        assert_eq!(paces(Schedule::Constant(ConstantSpec { warmup: 2 })), [0.5, 1.0, 1.0, 1.0]);
        assert_eq!(paces(Schedule::Step(StepSpec { every: 2, factor: 0.5 })), [1.0, 1.0, 0.5, 0.5]);
        assert_eq!(
            paces(Schedule::Exponential(ExponentialSpec { factor: 0.5 })),
            [1.0, 0.5, 0.25, 0.125]
        );
        let line = paces(Schedule::Linear(FallSpec { warmup: 0, last: 0.5 }));
        assert!(
            line.iter()
                .zip([1.0, 0.95, 0.9, 0.85])
                .all(|(pace, expected)| (pace - expected).abs() < 1e-12),
            "{line:?}"
        );
        let cosine = paces(Schedule::Cosine(FallSpec { warmup: 0, last: 0.0 }));
        let expected =
            [1.0, 0.975_528_258_147_576_8, 0.904_508_497_187_473_7, 0.793_892_626_146_236_6];
        assert!(
            cosine.iter().zip(expected).all(|(pace, expected)| (pace - expected).abs() < 1e-12),
            "{cosine:?}"
        );
        let warmed = paces(Schedule::Cosine(FallSpec { warmup: 2, last: 0.0 }));
        assert_eq!((warmed[0], warmed[1], warmed[2]), (0.5, 1.0, 1.0));
        assert!(warmed[3] < 1.0);
    }

    #[test]
    fn a_plateau_lowers_the_pace_once_more_after_each_wait() {
        let mut watch =
            watch(Schedule::Plateau(PlateauSpec { patience: 1, factor: 0.5, least: 0.2 }));
        let mut paces = Vec::new();
        for quality in [
            Some(0.5),
            Some(0.5),
            Some(0.4),
            Some(0.6),
            None,
            Some(0.6),
            Some(0.6),
            Some(0.6),
            Some(0.6),
            Some(0.6),
        ] {
            watch.record_quality(quality);
            paces.push(watch.pace(0));
        }
        assert_eq!(paces, [1.0, 1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2, 0.2]);
    }

    #[test]
    fn training_is_over_when_nothing_got_better_for_so_long() {
        let spec =
            RunSpec { early_stop: EarlyStopSpec { patience: Some(2) }, ..RunSpec::default() };
        let mut watch = TrainingMonitor::new(&spec, Measure::SquaredError);
        let over: Vec<bool> = [3.0, 2.0, 2.5, 1.0, 1.0, 4.0]
            .map(|quality| {
                watch.record_quality(Some(quality));
                watch.is_over()
            })
            .into();
        assert_eq!(over, [false, false, false, false, false, true]);
        assert_eq!(TrainingMonitor::needs_validation(&spec), Some("run.early_stop"));
    }
}
