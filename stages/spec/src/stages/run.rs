//! run: settings of the stage that trains or iterates a plan.
//!
//! promises  every choice that changes a result of the run is here, with limits and checkpoints
//! never     chooses the device (`plan` does)
use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    declare::{choices, one_of, spec},
    field::Range,
    vertex_list::VertexList,
};

spec! {
    /// Settings of the stage `run`.
    pub RunSpec {
        /// Whether the program is trained, applied or iterated.
        mode: Mode = Mode::Auto;
        /// Number of training epochs.
        epochs: u64 = 200, range(Range::closed(1.0, 1e6)), unit("epochs");
        /// The optimizer of the parameters.
        optimizer: Optimizer = Optimizer::default();
        /// The learning-rate schedule.
        schedule: Schedule = Schedule::default();
        /// Which parameters are kept: of the last or of the best epoch.
        keep: Keep = Keep::Last;
        /// When training stops early.
        early_stop: EarlyStopSpec = EarlyStopSpec::default();
        /// The target column of nodes, or of graphs if these have the labels: strings and integers
        /// are classes, other numbers are regression targets.
        target: String = "label".to_owned();
        /// The loss function.
        loss: Loss = Loss::Auto;
        /// The metric of `keep: best`, `early_stop` and the progress.
        metric: Metric = Metric::Auto;
        /// The number type of computations.
        dtype: Dtype = Dtype::F32;
        /// Seed of initial parameters and dropout.
        seed: u64 = 0;
        /// Number of runs, with the seeds `seed`, `seed + 1` and so on; each is a run of its own,
        /// and the summary has their mean.
        repeat: u64 = 1, range(Range::closed(1.0, 10_000.0)), unit("runs");
        /// The vertices from which the program starts, one search after the other: each is an id of
        /// the data set or `row:NUMBER`. The program has one setting that is compared with `v.id`,
        /// and each search has an entry in its place. All searches share one plan and one loaded
        /// graph, and `values.parquet` has a block of rows for each.
        sources: Option<VertexList> = None;
        /// Number of repeated passes, for timing: for inference and programs without a loop.
        /// Results are those of one pass.
        passes: u64 = 1, range(Range::closed(1.0, 100_000.0)), unit("passes");
        /// Index of the published split, from 0.
        split: u64 = 0;
        /// A table with the columns `id` and `split` (train, validation, test, none; or 1, 2, 3,
        /// 0), CSV or Parquet, in place of the splits of the data set; the path is relative to the
        /// YAML file, on the command line to the current folder.
        splits: Option<PathBuf> = None;
        /// Initial parameters, a safetensors file; the path is relative to the YAML file, on the
        /// command line to the current folder.
        init: Option<PathBuf> = None;
        /// Names of parameters in `init` where they differ, from the name in the program to that in
        /// the file.
        init_map: BTreeMap<String, String> = BTreeMap::new();
        /// When a checkpoint is saved.
        checkpoint: CheckpointSpec = CheckpointSpec::default();
        /// Most supersteps of a loop.
        max_supersteps: u64 = 10_000, range(Range::at_least(1.0)), unit("supersteps");
        /// Whether a run succeeds if a loop reaches `max_supersteps`.
        allow_unconverged: bool = false;
    }
}

spec! {
    /// When a checkpoint is saved.
    pub CheckpointSpec {
        /// Epochs or supersteps between two saves.
        every_epochs: Option<u64> = None, range(Range::at_least(1.0)), unit("epochs");
        /// Time between two saves.
        every_seconds: u64 = 600, range(Range::at_least(1.0)), unit("seconds");
    }
}

one_of! {
    /// The optimizer of the parameters.
    Optimizer {
        /// Adam (Kingma & Ba 2015); weight decay is added to the gradient.
        Adam(AdamSpec) = "adam",
        /// AdamW (Loshchilov & Hutter 2019); weight decay shrinks the parameter.
        Adamw(AdamSpec) = "adamw",
        /// Stochastic gradient descent, with optional momentum.
        Sgd(SgdSpec) = "sgd",
    }
}

impl Default for Optimizer {
    fn default() -> Self {
        Self::Adam(AdamSpec::default())
    }
}

spec! {
    /// Settings of `adam` and `adamw`.
    pub AdamSpec {
        /// The learning rate.
        lr: f64 = 0.01, range(Range::more_than(0.0));
        /// Decay rate of the mean gradient (beta 1).
        beta1: f64 = 0.9, range(Range::half_open(0.0, 1.0));
        /// Decay rate of the mean squared gradient (beta 2).
        beta2: f64 = 0.999, range(Range::half_open(0.0, 1.0));
        /// Added to the denominator (epsilon).
        eps: f64 = 1e-8, range(Range::more_than(0.0));
        /// Weight decay.
        weight_decay: f64 = 0.0, range(Range::at_least(0.0));
        /// Globs over parameter names; only these decay. Empty: all.
        decay_only: Vec<String> = Vec::new();
    }
}

spec! {
    /// Settings of `sgd`.
    pub SgdSpec {
        /// The learning rate.
        lr: f64 = 0.01, range(Range::more_than(0.0));
        /// Momentum: the share of the last step that is kept.
        momentum: f64 = 0.0, range(Range::half_open(0.0, 1.0));
        /// Weight decay.
        weight_decay: f64 = 0.0, range(Range::at_least(0.0));
        /// Globs over parameter names; only these decay. Empty: all.
        decay_only: Vec<String> = Vec::new();
    }
}

one_of! {
    /// Learning-rate schedules; each gives a factor of `lr` for an epoch.
    Schedule {
        /// A constant learning rate.
        Constant(ConstantSpec) = "constant",
        /// Step decay: by a factor after each `every` epochs.
        Step(StepSpec) = "step",
        /// Exponential decay: by a factor after every epoch.
        Exponential(ExponentialSpec) = "exponential",
        /// Linear decay to the last epoch.
        Linear(FallSpec) = "linear",
        /// Cosine decay to the last epoch (Loshchilov & Hutter 2017, without restarts).
        Cosine(FallSpec) = "cosine",
        /// Decay by a factor when the validation metric has not improved for some epochs.
        Plateau(PlateauSpec) = "plateau",
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Constant(ConstantSpec::default())
    }
}

spec! {
    /// Settings of `constant`.
    pub ConstantSpec {
        /// Warm-up epochs, in which the learning rate grows from 0 to its value.
        warmup: u64 = 0, range(Range::closed(0.0, 1e6)), unit("epochs");
    }
}

spec! {
    /// Settings of `step`.
    pub StepSpec {
        /// Epochs between two decays.
        every: u64 = 50, range(Range::closed(1.0, 1e6)), unit("epochs");
        /// Factor of the learning rate.
        factor: f64 = 0.5, range(Range::more_than(0.0));
    }
}

spec! {
    /// Settings of `exponential`.
    pub ExponentialSpec {
        /// Factor of the learning rate.
        factor: f64 = 0.99, range(Range::more_than(0.0));
    }
}

spec! {
    /// Settings of `linear` and `cosine`.
    pub FallSpec {
        /// Warm-up epochs, in which the learning rate grows from 0 to its value before it decays.
        warmup: u64 = 0, range(Range::closed(0.0, 1e6)), unit("epochs");
        /// Factor after the last epoch.
        last: f64 = 0.0, range(Range::closed(0.0, 1.0));
    }
}

spec! {
    /// Settings of `plateau`.
    pub PlateauSpec {
        /// Epochs without an improvement before a decay.
        patience: u64 = 10, range(Range::closed(1.0, 1e6)), unit("epochs");
        /// Factor of the learning rate.
        factor: f64 = 0.5, range(Range::closed(0.0, 1.0));
        /// Least factor of the learning rate.
        least: f64 = 0.0, range(Range::closed(0.0, 1.0));
    }
}

spec! {
    /// When training stops early.
    pub EarlyStopSpec {
        /// Epochs without an improvement of the validation metric before training stops; if left
        /// out, all epochs are done.
        patience: Option<u64> = None, range(Range::closed(1.0, 1e6)), unit("epochs");
    }
}

choices! {
    /// The metric of a result.
    Metric {
        /// `accuracy` for classes and multi-label targets, `mse` for other numbers.
        Auto = "auto",
        /// Accuracy: of rows for classes, of known elements for multi-label targets.
        Accuracy = "accuracy",
        /// F1 score: macro (mean over classes) for classes, micro (over all known elements) for
        /// multi-label targets.
        F1 = "f1",
        /// Area under the ROC curve: of two classes, or the mean over columns of multi-label
        /// targets.
        Auc = "auc",
        /// The mean squared error.
        Mse = "mse",
        /// The mean absolute error.
        Mae = "mae",
    }
}

choices! {
    /// Whether the program is trained, applied or iterated.
    Mode {
        /// By the program: one with parameters is trained, one with a `while` is iterated.
        Auto = "auto",
        /// Training.
        Train = "train",
        /// Inference: trained parameters, which `init` names, are applied to this graph.
        Infer = "infer",
        /// Supersteps until convergence.
        Iterate = "iterate",
        /// Link prediction. Not in this version yet: it is refused.
        Link = "link",
    }
}

choices! {
    /// Which parameters are kept: of the last or of the best epoch.
    Keep {
        /// Parameters of the last epoch.
        Last = "last",
        /// Parameters of the epoch with the best validation metric.
        Best = "best",
    }
}

choices! {
    /// The loss function.
    Loss {
        /// `cross_entropy` for classes; `bce` for multi-label targets (0, 1 or unknown); `mse` for
        /// other numbers.
        Auto = "auto",
        /// Softmax cross entropy of the logits.
        CrossEntropy = "cross_entropy",
        /// Binary cross entropy of the sigmoid of each score with a label of 0 or 1; NaN labels are
        /// unknown and ignored.
        Bce = "bce",
        /// The mean squared error.
        Mse = "mse",
    }
}

impl Loss {
    /// Whether it is a regression loss, for any labels.
    pub fn fits_numbers(self) -> bool {
        matches!(self, Loss::Bce | Loss::Mse)
    }
}

choices! {
    /// The number type of computations.
    Dtype {
        /// Single precision (f32).
        F32 = "f32",
        /// Double precision (f64), for verification.
        F64 = "f64",
        /// Wide rows are stored as bf16 and computed in f32; for training and inference.
        Bf16 = "bf16",
        /// As `bf16` with f16 storage: 11 bits of precision and a range up to 65504; gradients of
        /// rows are stored as `bf16`.
        F16 = "f16",
    }
}
