//! reference: one step of an optimiser on one element in f64, as PyTorch documents it.
//!
//! promises  slow
//! never     runs in parallel
use super::Optimizer;

/// A parameter element and its moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ParameterElement {
    /// The parameter.
    pub parameter: f64,
    /// First moment, or momentum.
    pub first: f64,
    /// Second moment.
    pub second: f64,
}

/// The element after step number `step` (the first is 1).
pub fn optimize(
    element: ParameterElement,
    gradient: f64,
    optimizer: &Optimizer,
    step: u64,
) -> ParameterElement {
    let ParameterElement { mut parameter, mut first, mut second } = element;
    match *optimizer {
        Optimizer::Adam(adam) | Optimizer::AdamW(adam) => {
            let mut gradient = gradient;
            if matches!(optimizer, Optimizer::Adam(_)) {
                gradient += adam.weight_decay * parameter;
            } else {
                parameter -= adam.rate * adam.weight_decay * parameter;
            }
            first = adam.beta_first * first + (1.0 - adam.beta_first) * gradient;
            second = adam.beta_second * second + (1.0 - adam.beta_second) * gradient.powi(2);
            let first_corrected = first / (1.0 - adam.beta_first.powi(step as i32));
            let second_corrected = second / (1.0 - adam.beta_second.powi(step as i32));
            parameter -= adam.rate * first_corrected / (second_corrected.sqrt() + adam.epsilon);
        }
        Optimizer::Sgd { rate, momentum, weight_decay } => {
            let gradient = gradient + weight_decay * parameter;
            if momentum == 0.0 {
                parameter -= rate * gradient;
            } else {
                first = momentum * first + gradient;
                parameter -= rate * first;
            }
        }
    }
    ParameterElement { parameter, first, second }
}
