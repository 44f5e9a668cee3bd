//! run: how the plan is trained or iterated, and what is kept.
//!
//! promises  every choice that changes a result of the run stands here, beside limits and
//!           checkpoints
//! never     says which device runs it; that is `plan`
use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    declare::{choices, one_of, spec},
    field::Range,
};

spec! {
    /// Settings of the stage `run`.
    pub RunSpec {
        /// Whether the program is trained, applied or iterated.
        mode: Mode = Mode::Auto;
        /// How often all training nodes, or graphs, are seen.
        epochs: u64 = 200, range(Range::closed(1.0, 1e6)), unit("epochs");
        /// How parameters follow their gradients.
        optimizer: Optimizer = Optimizer::default();
        /// How the step size changes from epoch to epoch.
        schedule: Schedule = Schedule::default();
        /// Which parameters stay.
        keep: Keep = Keep::Last;
        /// When training ends before its last epoch.
        early_stop: EarlyStopSpec = EarlyStopSpec::default();
        /// The column of nodes, or of graphs where these have the labels, that is learned: words
        /// and whole numbers are classes, other numbers are fitted.
        target: String = "label".to_owned();
        /// What training makes small.
        loss: Loss = Loss::Auto;
        /// What `keep: best`, `early_stop` and the progress go by.
        metric: Metric = Metric::Auto;
        /// The numbers that are computed with.
        dtype: Dtype = Dtype::F32;
        /// For initial parameters and dropout.
        seed: u64 = 0;
        /// How many runs there are, with the seeds `seed`, `seed + 1` and so on; each is a run of
        /// its own, and their mean is told.
        repeat: u64 = 1, range(Range::closed(1.0, 10_000.0)), unit("runs");
        /// How often a program that is computed once, applied or without a loop, is computed, for
        /// the time of one; the results are those of one.
        passes: u64 = 1, range(Range::closed(1.0, 100_000.0)), unit("passes");
        /// Which of the published splits is used, from 0.
        split: u64 = 0;
        /// A table with the columns `id` and `split` (train, validation, test, none; or 1, 2, 3,
        /// 0), CSV or Parquet, in place of the splits of the data set; in YAML relative to the
        /// file, on the command line to the current folder.
        splits: Option<PathBuf> = None;
        /// Parameters to start from, a safetensors file; in YAML relative to the file, on the
        /// command line to the current folder.
        init: Option<PathBuf> = None;
        /// Which name in `init` a parameter of ours has there: ours to theirs.
        init_map: BTreeMap<String, String> = BTreeMap::new();
        /// When the state of a run is saved.
        checkpoint: CheckpointSpec = CheckpointSpec::default();
        /// How many supersteps a loop may take.
        max_supersteps: u64 = 10_000, range(Range::at_least(1.0)), unit("supersteps");
        /// Whether a loop that reached `max_supersteps` is a success.
        allow_unconverged: bool = false;
    }
}

spec! {
    /// When the state of a run is saved.
    pub CheckpointSpec {
        /// Save after so many epochs or supersteps, whatever the time.
        every_epochs: Option<u64> = None, range(Range::at_least(1.0)), unit("epochs");
        /// Save when so much time has passed since the last one.
        every_seconds: u64 = 600, range(Range::at_least(1.0)), unit("seconds");
    }
}

one_of! {
    /// How parameters follow their gradients.
    Optimizer {
        /// Adam (Kingma & Ba 2015); weight decay is added to the gradient.
        Adam(AdamSpec) = "adam",
        /// AdamW (Loshchilov & Hutter 2019); weight decay shrinks the parameter.
        Adamw(AdamSpec) = "adamw",
        /// Stochastic gradient descent, with momentum if asked for.
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
        /// The step size.
        lr: f64 = 0.01, range(Range::more_than(0.0));
        /// How much of the mean gradient stays at each step.
        beta1: f64 = 0.9, range(Range::half_open(0.0, 1.0));
        /// How much of the mean squared gradient stays at each step.
        beta2: f64 = 0.999, range(Range::half_open(0.0, 1.0));
        /// Added below the fraction.
        eps: f64 = 1e-8, range(Range::more_than(0.0));
        /// How strongly parameters are drawn to zero.
        weight_decay: f64 = 0.0, range(Range::at_least(0.0));
        /// Globs over parameter names; only these decay. Empty: all.
        decay_only: Vec<String> = Vec::new();
    }
}

spec! {
    /// Settings of `sgd`.
    pub SgdSpec {
        /// The step size.
        lr: f64 = 0.01, range(Range::more_than(0.0));
        /// How much of the last step stays.
        momentum: f64 = 0.0, range(Range::half_open(0.0, 1.0));
        /// How strongly parameters are drawn to zero.
        weight_decay: f64 = 0.0, range(Range::at_least(0.0));
        /// Globs over parameter names; only these decay. Empty: all.
        decay_only: Vec<String> = Vec::new();
    }
}

one_of! {
    /// How the step size changes from epoch to epoch; each gives what `lr` is multiplied with.
    Schedule {
        /// Not at all.
        Constant(ConstantSpec) = "constant",
        /// By a factor after every so many epochs.
        Step(StepSpec) = "step",
        /// By a factor after every epoch.
        Exponential(ExponentialSpec) = "exponential",
        /// Along a straight line to the last epoch.
        Linear(FallSpec) = "linear",
        /// Along half a cosine to the last epoch (Loshchilov & Hutter 2017, without restarts).
        Cosine(FallSpec) = "cosine",
        /// By a factor when the validation nodes, or graphs, have not got better for some epochs.
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
        /// Epochs in which the step grows from nothing to its size.
        warmup: u64 = 0, range(Range::closed(0.0, 1e6)), unit("epochs");
    }
}

spec! {
    /// Settings of `step`.
    pub StepSpec {
        /// Epochs between two changes.
        every: u64 = 50, range(Range::closed(1.0, 1e6)), unit("epochs");
        /// What the step is multiplied with.
        factor: f64 = 0.5, range(Range::more_than(0.0));
    }
}

spec! {
    /// Settings of `exponential`.
    pub ExponentialSpec {
        /// What the step is multiplied with.
        factor: f64 = 0.99, range(Range::more_than(0.0));
    }
}

spec! {
    /// Settings of `linear` and `cosine`.
    pub FallSpec {
        /// Epochs in which the step grows from nothing to its size, before it falls.
        warmup: u64 = 0, range(Range::closed(0.0, 1e6)), unit("epochs");
        /// What is left of it after the last epoch.
        last: f64 = 0.0, range(Range::closed(0.0, 1.0));
    }
}

spec! {
    /// Settings of `plateau`.
    pub PlateauSpec {
        /// How many epochs may pass without a better one.
        patience: u64 = 10, range(Range::closed(1.0, 1e6)), unit("epochs");
        /// What the step is multiplied with.
        factor: f64 = 0.5, range(Range::closed(0.0, 1.0));
        /// What at least is left of it.
        least: f64 = 0.0, range(Range::closed(0.0, 1.0));
    }
}

spec! {
    /// When training ends before its last epoch.
    pub EarlyStopSpec {
        /// How many epochs may pass without a better one on the validation nodes, or graphs;
        /// without, all epochs are done.
        patience: Option<u64> = None, range(Range::closed(1.0, 1e6)), unit("epochs");
    }
}

choices! {
    /// What says how good a result is.
    Metric {
        /// `accuracy` of classes and labels, `mse` of other numbers.
        Auto = "auto",
        /// The share that is right: of rows for classes, of known elements for labels.
        Accuracy = "accuracy",
        /// The F1 score: of classes its mean over classes (macro), of labels over all known
        /// elements (micro).
        F1 = "f1",
        /// The area under the ROC curve: of two classes, or the mean over columns of labels.
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
        /// What the program is: one with parameters is trained, one with a `while` is iterated.
        Auto = "auto",
        /// Parameters are learned.
        Train = "train",
        /// Parameters of a run before, which `init` names, are applied to this graph: predictions,
        /// and nothing is learned.
        Infer = "infer",
        /// Supersteps until nothing changes.
        Iterate = "iterate",
        /// Which pairs of nodes are joined is learned. Not in this version yet: it is refused.
        Link = "link",
    }
}

choices! {
    /// Which parameters stay.
    Keep {
        /// Those of the last epoch.
        Last = "last",
        /// Those of the epoch that was best on the validation nodes, or graphs.
        Best = "best",
    }
}

choices! {
    /// What training makes small.
    Loss {
        /// `cross_entropy` for classes; `bce` for rows of labels that all are 0, 1 or unknown;
        /// `mse` for other numbers.
        Auto = "auto",
        /// The cross entropy of softmax over the logits.
        CrossEntropy = "cross_entropy",
        /// The binary cross entropy of the sigmoid of each score with a label of 0 or 1; labels
        /// that are not a number are unknown and do not count.
        Bce = "bce",
        /// The mean squared error.
        Mse = "mse",
    }
}

impl Loss {
    /// Whether it fits numbers, whatever the labels look like.
    pub fn fits_numbers(self) -> bool {
        matches!(self, Loss::Bce | Loss::Mse)
    }
}

choices! {
    /// The numbers that are computed with.
    Dtype {
        /// 32 bits.
        F32 = "f32",
        /// 64 bits; on the CPU, for checking.
        F64 = "f64",
        /// Wide rows are kept in 16 bits with the range of f32, and computed with in f32; for
        /// training and predicting.
        Bf16 = "bf16",
        /// The same with 11 bits of precision and a range up to 65504; gradients of rows are kept
        /// as `bf16`.
        F16 = "f16",
    }
}
