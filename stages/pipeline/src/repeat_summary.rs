//! repeat_summary: mean and standard deviation of runs with different seeds, for `run.repeat`.
//!
//! promises  a line for each variant, and one for all published splits of a sweep over `run.split`,
//!           with the number of runs; a metric that a run lacks is left out
//! never     combines runs of different settings, except the split
use std::collections::BTreeMap;

use serde_json::json;
use warploom_contract::{Artifact, Provenance, StageError, kinds::run};
use warploom_spec::Pipeline;

/// The axis whose values are combined.
const SPLIT: &str = "run.split";

/// Runs that differ only in their seeds, and perhaps in their splits.
#[derive(Clone)]
pub struct Group {
    title: String,
    variant: Vec<(String, String)>,
    seeds: Vec<u64>,
    stand_in: bool,
    /// The reported metrics, the main one first.
    names: Vec<String>,
    /// The metrics of each run.
    runs: Vec<BTreeMap<String, f64>>,
}

/// Mean and sample standard deviation (with n - 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; 0 for one number.
    pub deviation: f64,
}

impl Spread {
    /// Mean and deviation of numbers; none if there are no numbers.
    pub fn from_numbers(numbers: &[f64]) -> Option<Spread> {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        (!numbers.is_empty())
            .then(|| Spread { mean, deviation: (squares / (count - 1.0).max(1.0)).sqrt() })
    }
}

/// Adds a run to the group of its variant; ignores pipelines without repeats.
pub fn add_run(
    groups: &mut Vec<Group>,
    pipeline: &Pipeline,
    artifact: &Artifact,
) -> Result<(), StageError> {
    let Some(repeat) = pipeline.repeat else { return Ok(()) };
    if repeat.number == 0 {
        let title = format!("{} on {}", pipeline.name, pipeline.dataset);
        groups.push(Group {
            title,
            variant: pipeline.variant.clone(),
            seeds: Vec::new(),
            stand_in: false,
            names: Vec::new(),
            runs: Vec::new(),
        });
    }
    let Some(group) = groups.last_mut() else { return Ok(()) };
    let record = run::open_record(artifact)?;
    group.seeds.push(pipeline.run.seed);
    group.stand_in |= artifact.manifest.provenance == Provenance::StandIn;
    let metrics = run::main_metrics(artifact, &record);
    for (name, _) in
        metrics.iter().filter(|(name, _)| !group.names.contains(name)).cloned().collect::<Vec<_>>()
    {
        group.names.push(name);
    }
    group.runs.push(metrics.into_iter().collect());
    Ok(())
}

/// The groups, where those that differ only in `run.split` are followed by their union.
pub fn add_joined_splits(groups: Vec<Group>) -> Vec<Group> {
    let rest = |group: &Group| {
        group.variant.iter().filter(|(path, _)| path != SPLIT).cloned().collect::<Vec<_>>()
    };
    let mut joined: Vec<Group> = Vec::new();
    for group in groups.iter().filter(|group| group.variant.iter().any(|(path, _)| path == SPLIT)) {
        let variant = rest(group);
        match joined.iter_mut().find(|all| all.variant == variant && all.title == group.title) {
            Some(all) => {
                all.runs.extend(group.runs.iter().cloned());
                all.stand_in |= group.stand_in;
            }
            None => joined.push(Group { variant, ..group.clone() }),
        }
    }
    joined.retain(|all| {
        groups.iter().any(|group| rest(group) == all.variant && group.runs.len() < all.runs.len())
    });
    groups
        .into_iter()
        .chain(
            joined
                .into_iter()
                .map(|all| Group { title: format!("{}, all splits", all.title), ..all }),
        )
        .collect()
}

impl Group {
    /// Mean and deviation of each metric that every run has.
    fn spreads(&self) -> Vec<(&str, Spread)> {
        let of_metric = |name: &'_ String| {
            let numbers: Option<Vec<f64>> =
                self.runs.iter().map(|run| run.get(name).copied()).collect();
            Spread::from_numbers(&numbers?)
        };
        self.names.iter().filter_map(|name| Some((name.as_str(), of_metric(name)?))).collect()
    }

    /// A line for people.
    pub fn to_text(&self) -> String {
        let variant: Vec<String> =
            self.variant.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let title = if variant.is_empty() {
            self.title.clone()
        } else {
            format!("{} ({})", self.title, variant.join(", "))
        };
        let spreads = self.spreads();
        let told: Vec<String> = spreads
            .iter()
            .map(|(name, Spread { mean, deviation })| {
                format!("{} {mean:.4} ± {deviation:.4}", run::metric_words(name))
            })
            .collect();
        let told = if told.is_empty() {
            "no metric that every run has".to_owned()
        } else {
            told.join(", ")
        };
        let seeds = match (self.seeds.first(), self.seeds.last()) {
            (Some(first), Some(last)) => format!(", seeds {first} to {last}"),
            _ => String::new(),
        };
        let mark = if self.stand_in {
            "; of a stand-in: they say nothing about the real data"
        } else {
            ""
        };
        format!(
            "{title}: {told} (mean ± standard deviation, n = {}{seeds}{mark})\n",
            self.runs.len()
        )
    }

    /// A line for programs.
    pub fn to_json(&self) -> serde_json::Value {
        let variant: serde_json::Map<String, serde_json::Value> =
            self.variant.iter().map(|(path, value)| (path.clone(), json!(value))).collect();
        let metrics: serde_json::Map<String, serde_json::Value> = self
            .spreads()
            .into_iter()
            .map(|(name, Spread { mean, deviation })| {
                (name.to_owned(), json!({"mean": mean, "deviation": deviation}))
            })
            .collect();
        let provenance = if self.stand_in { Provenance::StandIn } else { Provenance::Real };
        json!({"repeats": self.title, "variant": variant, "seeds": self.seeds, "n": self.runs.len(), "metrics": metrics, "provenance": provenance.name()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(variant: &[(&str, &str)], tests: &[Option<f64>]) -> Group {
        let variant =
            variant.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
        let names = ["test_accuracy", "train_accuracy"].map(str::to_owned);
        let run = |test: &Option<f64>| {
            [(&names[0], *test), (&names[1], Some(1.0))]
                .into_iter()
                .filter_map(|(name, number)| Some((name.clone(), number?)))
                .collect()
        };
        let runs = tests.iter().map(run).collect();
        Group {
            title: "gcn on cora".into(),
            variant,
            seeds: (0..tests.len() as u64).collect(),
            stand_in: false,
            names: names.to_vec(),
            runs,
        }
    }

    #[test]
    fn a_spread_is_that_of_a_sample() {
        assert_eq!(Spread::from_numbers(&[]), None);
        assert_eq!(Spread::from_numbers(&[0.5]), Some(Spread { mean: 0.5, deviation: 0.0 }));
        assert_eq!(
            Spread::from_numbers(&[1.0, 2.0, 3.0, 6.0]),
            Some(Spread { mean: 3.0, deviation: (14.0f64 / 3.0).sqrt() })
        );
    }

    #[test]
    fn a_line_says_what_every_run_has_and_how_many_there_are() {
        let text = group(&[("plan.set.hidden", "16")], &[Some(0.8), Some(0.9)]).to_text();
        assert_eq!(
            text,
            "gcn on cora (plan.set.hidden=16): test accuracy 0.8500 ± 0.0707, train accuracy \
                1.0000 ± 0.0000 (mean ± standard deviation, n = 2, seeds 0 to 1)\n"
        );
        let lacking = group(&[], &[Some(0.8), None]);
        assert!(
            lacking.to_text().starts_with("gcn on cora: train accuracy 1.0000"),
            "{}",
            lacking.to_text()
        );
        assert_eq!(
            lacking.to_json()["metrics"],
            json!({"train_accuracy": {"mean": 1.0, "deviation": 0.0}})
        );
    }

    #[test]
    fn splits_are_told_one_by_one_and_together() {
        let groups = ["0", "1"].iter().flat_map(|split| {
            let hidden = |width: &'static str, test: f64| {
                group(
                    &[("plan.set.hidden", width), (SPLIT, split)],
                    &[Some(test), Some(test + 0.1)],
                )
            };
            [hidden("16", 0.5), hidden("64", 0.7)]
        });
        let all = add_joined_splits(groups.collect());
        assert_eq!(all.len(), 6);
        let lines: Vec<String> = all[4..].iter().map(Group::to_text).collect();
        assert!(
            lines[0].starts_with(
                "gcn on cora, all splits (plan.set.hidden=16): test accuracy 0.5500 ± 0.0577"
            ),
            "{}",
            lines[0]
        );
        assert!(
            lines[0].contains("n = 4")
                && lines[1].contains("(plan.set.hidden=64): test accuracy 0.7500"),
            "{lines:?}"
        );
        // One split is not several.
        assert_eq!(
            add_joined_splits(vec![group(&[(SPLIT, "3")], &[Some(0.5), Some(0.6)])]).len(),
            1
        );
        assert_eq!(add_joined_splits(vec![group(&[], &[Some(0.5), Some(0.6)])]).len(), 1);
    }
}
