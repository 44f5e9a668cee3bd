//! optimizers: the optimiser of each parameter, from the pipeline's settings, and its moments.
//!
//! promises  a parameter has weight decay if `decay_only` is empty or one of its globs matches the
//!           name; a glob that matches nothing is an error
//! never     reads a gradient
use warploom_contract::{ErrorKind, StageError};
use warploom_cpu::optimizer::{Adam, Optimizer};
use warploom_spec::{AdamSpec, Optimizer as OptimizerSpec, SgdSpec, glob_fits};

/// Moments of the optimiser, by parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments<T> {
    /// First moment, or momentum; empty where there is none.
    pub first: Vec<T>,
    /// Second moment; empty where there is none.
    pub second: Vec<T>,
}

/// One optimiser for each name.
pub fn make_optimizers(
    spec: &OptimizerSpec,
    names: &[String],
) -> Result<Vec<Optimizer>, StageError> {
    let globs = decay_only(spec);
    if let Some(glob) = globs.iter().find(|glob| !names.iter().any(|name| glob_fits(glob, name))) {
        return Err(unmatched_glob_error(spec, glob, names));
    }
    let decays = |name: &String| globs.is_empty() || globs.iter().any(|glob| glob_fits(glob, name));
    Ok(names.iter().map(|name| make_optimizer(spec, decays(name))).collect())
}

fn unmatched_glob_error(spec: &OptimizerSpec, glob: &str, names: &[String]) -> StageError {
    let path = format!("run.optimizer.{}.decay_only", name_and_rate(spec).0);
    let error = StageError::new(
        ErrorKind::Specification,
        format!("`{path}`: `{glob}` matches no parameter"),
    )
    .at(&path);
    let near = warploom_spec::nearest(glob, names.iter().map(String::as_str)).unwrap_or("*.weight");
    let set = warploom_spec::shell_word(&format!("{path}=[\"{near}\"]"));
    error.detail(format!("  there are  {}", names.join(", "))).hint(format!("--set {set}"))
}

/// The name of an optimiser in the pipeline file, and its learning rate.
pub fn name_and_rate(spec: &OptimizerSpec) -> (&'static str, f64) {
    match spec {
        OptimizerSpec::Adam(AdamSpec { lr, .. }) => ("adam", *lr),
        OptimizerSpec::Adamw(AdamSpec { lr, .. }) => ("adamw", *lr),
        OptimizerSpec::Sgd(SgdSpec { lr, .. }) => ("sgd", *lr),
    }
}

fn decay_only(spec: &OptimizerSpec) -> &[String] {
    match spec {
        OptimizerSpec::Adam(AdamSpec { decay_only, .. })
        | OptimizerSpec::Adamw(AdamSpec { decay_only, .. }) => decay_only,
        OptimizerSpec::Sgd(SgdSpec { decay_only, .. }) => decay_only,
    }
}

fn make_optimizer(spec: &OptimizerSpec, decays: bool) -> Optimizer {
    let decay = |weight_decay: f64| if decays { weight_decay } else { 0.0 };
    let adam = |adam: &AdamSpec| Adam {
        rate: adam.lr,
        beta_first: adam.beta1,
        beta_second: adam.beta2,
        epsilon: adam.eps,
        weight_decay: decay(adam.weight_decay),
    };
    match spec {
        OptimizerSpec::Adam(spec) => Optimizer::Adam(adam(spec)),
        OptimizerSpec::Adamw(spec) => Optimizer::AdamW(adam(spec)),
        OptimizerSpec::Sgd(spec) => Optimizer::Sgd {
            rate: spec.lr,
            momentum: spec.momentum,
            weight_decay: decay(spec.weight_decay),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fits_decays_and_what_fits_nothing_is_told() {
        let names = ["a.weight", "a.bias"].map(str::to_owned);
        let of = |globs: &[&str]| {
            let decay_only = globs.iter().map(|glob| (*glob).to_owned()).collect();
            make_optimizers(
                &OptimizerSpec::Adam(AdamSpec {
                    weight_decay: 0.5,
                    decay_only,
                    ..AdamSpec::default()
                }),
                &names,
            )
        };
        let optimizers = of(&["*.weight"]).unwrap();
        let decays = optimizers.iter().map(|optimizer| match optimizer {
            Optimizer::Adam(adam) => adam.weight_decay,
            other => panic!("{other:?}"),
        });
        assert_eq!(decays.collect::<Vec<_>>(), [0.5, 0.0]);
        let error = of(&["*.weight", "*.wight"]).unwrap_err();
        assert_eq!(
            (error.kind, error.what.as_str()),
            (
                ErrorKind::Specification,
                "`run.optimizer.adam.decay_only`: `*.wight` matches no parameter"
            )
        );
        assert!(
            error.detail.unwrap().contains("a.weight, a.bias")
                && error.hint.unwrap().starts_with("--set 'run.optimizer.adam.decay_only=[")
        );
    }
}
