//! optimizer: one step of Adam, AdamW or SGD on one parameter, as PyTorch defines them.
//!
//! promises  in the run's type, element by element; constants are computed in f64 and rounded once.
//!           Adam adds `weight_decay * p` to the gradient, AdamW first scales p by `1 - rate *
//!           weight_decay`
//! never     allocates moments: they belong to the executor and start at 0
pub mod reference;
#[cfg(test)]
mod tests;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::Real;

/// An optimiser with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// Kingma & Ba 2015.
    Adam(Adam),
    /// Loshchilov & Hutter 2019: decoupled weight decay.
    AdamW(Adam),
    /// Gradient descent; with momentum, `m = momentum * m + g` and `p -= rate * m`.
    Sgd {
        /// Learning rate.
        rate: f64,
        /// In [0, 1); 0 for none.
        momentum: f64,
        /// Added to the gradient, times p.
        weight_decay: f64,
    },
}

impl Optimizer {
    /// The same with the learning rate scaled.
    #[must_use]
    pub fn paced(self, pace: f64) -> Self {
        let with = |adam: Adam| Adam { rate: adam.rate * pace, ..adam };
        match self {
            Optimizer::Adam(adam) => Optimizer::Adam(with(adam)),
            Optimizer::AdamW(adam) => Optimizer::AdamW(with(adam)),
            Optimizer::Sgd { rate, momentum, weight_decay } => {
                Optimizer::Sgd { rate: rate * pace, momentum, weight_decay }
            }
        }
    }
}

/// Settings of Adam and AdamW.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Learning rate.
    pub rate: f64,
    /// Decay of the first moment.
    pub beta_first: f64,
    /// Decay of the second moment.
    pub beta_second: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Weight decay.
    pub weight_decay: f64,
}

impl Default for Adam {
    /// As in PyTorch.
    fn default() -> Self {
        Adam { rate: 1e-3, beta_first: 0.9, beta_second: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// A parameter and its moments. SGD does not use `second`, nor `first` without momentum.
#[derive(Debug)]
pub struct Learned<'a, T> {
    /// The parameter.
    pub parameter: &'a mut [T],
    /// First moment, or momentum.
    pub first: &'a mut [T],
    /// Second moment.
    pub second: &'a mut [T],
}

/// Elements per task.
const TASK_ELEMENTS: usize = 16 * 1024;

/// Applies step number `step` (the first is 1). An optimiser that does not use a moment accepts an
/// empty
/// one.
pub fn optimize<T: Real>(learned: Learned<T>, gradient: &[T], optimizer: &Optimizer, step: u64) {
    T::run_optimize(learned, gradient, optimizer, step);
}

pub(crate) fn optimize_of_type<T: Real>(
    learned: Learned<T>,
    gradient: &[T],
    optimizer: &Optimizer,
    step: u64,
) {
    let arch = pulp::Arch::new();
    let Learned { parameter, first, second } = learned;
    assert_eq!(parameter.len(), gradient.len(), "gradient has the shape of the parameter");
    let constants = Constants::new(optimizer, step);
    let parameters =
        parameter.par_chunks_mut(TASK_ELEMENTS).zip(gradient.par_chunks(TASK_ELEMENTS));
    match constants.rule {
        Rule::Plain => parameters.for_each(|(parameter, gradient)| {
            let (first, second) = (&mut [][..], &mut [][..]);
            arch.dispatch(Chunk { parameter, first, second, gradient, constants });
        }),
        Rule::Momentum => {
            assert_eq!(first.len(), gradient.len(), "momentum has the shape of the parameter");
            parameters.zip(first.par_chunks_mut(TASK_ELEMENTS)).for_each(
                |((parameter, gradient), first)| {
                    arch.dispatch(Chunk { parameter, first, second: &mut [], gradient, constants });
                },
            );
        }
        Rule::Moments => {
            assert_eq!(
                first.len(),
                gradient.len(),
                "the first moment has the shape of the parameter"
            );
            assert_eq!(
                second.len(),
                gradient.len(),
                "the second moment has the shape of the parameter"
            );
            let moments =
                first.par_chunks_mut(TASK_ELEMENTS).zip(second.par_chunks_mut(TASK_ELEMENTS));
            parameters.zip(moments).for_each(|((parameter, gradient), (first, second))| {
                arch.dispatch(Chunk { parameter, first, second, gradient, constants });
            });
        }
    }
}

/// The three kinds of update.
#[derive(Clone, Copy)]
enum Rule {
    Plain,
    Momentum,
    Moments,
}

/// The constants of a step, rounded once.
#[derive(Clone, Copy)]
struct Constants<T> {
    rule: Rule,
    /// Learning rate; with moments divided by the first bias correction.
    rate: T,
    /// Decay of the first moment, or momentum.
    keep_first: T,
    add_first: T,
    keep_second: T,
    add_second: T,
    /// Root of the second bias correction.
    root: T,
    epsilon: T,
    /// Weight decay added to the gradient.
    decay: T,
    /// Factor of p for decoupled weight decay.
    shrink: T,
}

impl<T: Real> Constants<T> {
    fn new(optimizer: &Optimizer, step: u64) -> Self {
        let real = T::rounded;
        match *optimizer {
            Optimizer::Adam(adam) => Self::from_adam(&adam, step, real(adam.weight_decay), T::ONE),
            Optimizer::AdamW(adam) => {
                Self::from_adam(&adam, step, T::ZERO, real(1.0 - adam.rate * adam.weight_decay))
            }
            Optimizer::Sgd { rate, momentum, weight_decay } => Constants {
                rule: if momentum == 0.0 { Rule::Plain } else { Rule::Momentum },
                rate: real(rate),
                keep_first: real(momentum),
                add_first: T::ONE,
                keep_second: T::ZERO,
                add_second: T::ZERO,
                root: T::ONE,
                epsilon: T::ZERO,
                decay: real(weight_decay),
                shrink: T::ONE,
            },
        }
    }

    fn from_adam(adam: &Adam, step: u64, decay: T, shrink: T) -> Self {
        let correction = |beta: f64| 1.0 - beta.powf(step as f64);
        Constants {
            rule: Rule::Moments,
            rate: T::rounded(adam.rate / correction(adam.beta_first)),
            keep_first: T::rounded(adam.beta_first),
            add_first: T::rounded(1.0 - adam.beta_first),
            keep_second: T::rounded(adam.beta_second),
            add_second: T::rounded(1.0 - adam.beta_second),
            root: T::rounded(correction(adam.beta_second).sqrt()),
            epsilon: T::rounded(adam.epsilon),
            decay,
            shrink,
        }
    }
}

struct Chunk<'a, T> {
    parameter: &'a mut [T],
    first: &'a mut [T],
    second: &'a mut [T],
    gradient: &'a [T],
    constants: Constants<T>,
}

impl<T: Real> WithSimd for Chunk<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Chunk { parameter, first, second, gradient, constants: with } = self;
        let parameters = parameter.iter_mut().zip(gradient);
        match with.rule {
            Rule::Plain => {
                for (parameter, &gradient) in parameters {
                    *parameter = *parameter - with.rate * (gradient + with.decay * *parameter);
                }
            }
            Rule::Momentum => {
                for ((parameter, &gradient), first) in parameters.zip(first) {
                    *first = with.keep_first * *first + (gradient + with.decay * *parameter);
                    *parameter = *parameter - with.rate * *first;
                }
            }
            Rule::Moments => {
                for ((parameter, &gradient), (first, second)) in
                    parameters.zip(first.iter_mut().zip(second))
                {
                    let gradient = gradient + with.decay * *parameter;
                    *first = with.keep_first * *first + with.add_first * gradient;
                    *second = with.keep_second * *second + with.add_second * (gradient * gradient);
                    let step = *first / (second.root() / with.root + with.epsilon);
                    *parameter = *parameter * with.shrink - with.rate * step;
                }
            }
        }
    }
}
