//! estimate: predicted memory and time of a job: by the plan where it exists, else by the counts of
//! the graph.
//!
//! promises  a margin is added once, where a script asks for resources; unknown is 0
//! limits    stages before `run` are judged by edges, nodes and feature bytes alone, with rates
//!           measured on one machine with two cores (docs/design/025-batch-jobs.md)
use warploom_catalog::Catalog;
use warploom_contract::{
    Artifact, Kind,
    kinds::{plan, profile},
};
use warploom_shell::{Environment, StageName, memory_budget};
use warploom_spec::{Mode, Pipeline};

/// What a job is predicted to need, without margin; 0 where it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Bytes of memory.
    pub bytes: u64,
    /// Seconds.
    pub seconds: u64,
    /// Bytes of its output in the store.
    pub store_bytes: u64,
}

/// Counts of a graph.
#[derive(Clone, Copy, Debug)]
struct Counts {
    nodes: u64,
    edges: u64,
    feature_bytes: u64,
}

/// Predicts what a job needs; `artifacts` are those of the stages before it, as far as they exist.
pub fn predict(
    environment: &Environment,
    pipeline: &Pipeline,
    stage: StageName,
    artifacts: &[Artifact],
) -> Need {
    let of_kind = |kind: Kind| artifacts.iter().find(|artifact| artifact.kind == kind);
    let counts = of_kind(Kind::Profile)
        .and_then(|found| profile::open(found).ok())
        .map(|found| Counts {
            nodes: found.nodes,
            edges: found.edges,
            feature_bytes: found.features.iter().map(|table| table.rows * table.columns * 4).sum(),
        })
        .or_else(|| of_catalogue(environment, &pipeline.dataset));
    let need = counts.map_or_else(Need::default, |counts| of_counts(counts, stage, pipeline));
    match of_kind(Kind::Plan).and_then(|plan| plan::open_advice(plan).ok()) {
        Some(advice) if stage == StageName::Run => {
            let of_plan = of_plan(&advice, pipeline, environment.threads);
            Need { store_bytes: need.store_bytes, ..of_plan }
        }
        _ => need,
    }
}

/// By the plan's own prediction.
fn of_plan(advice: &plan::Advice, pipeline: &Pipeline, threads: usize) -> Need {
    let steps = match pipeline.run.mode {
        Mode::Train => pipeline.run.epochs,
        Mode::Infer => 1,
        _ => {
            pipeline.run.max_supersteps.min(STEPS_OF_LOOP).saturating_mul(count_searches(pipeline))
        }
    };
    let peak = memory_budget::predicted_peak(&advice.memory, &pipeline.run, threads);
    let nanoseconds = advice.predicted.nanoseconds_step.saturating_mul(steps);
    Need {
        bytes: peak.saturating_add(advice.memory.bytes_mapped).max(1),
        seconds: nanoseconds.div_ceil(1_000_000_000).max(1),
        store_bytes: 0,
    }
}

/// How often a run iterates its program.
fn count_searches(pipeline: &Pipeline) -> u64 {
    pipeline.run.sources.as_ref().map_or(1, |sources| sources.words.len() as u64)
}

/// Supersteps that a loop is assumed to take.
const STEPS_OF_LOOP: u64 = 100;

fn of_catalogue(environment: &Environment, dataset: &str) -> Option<Counts> {
    let entry = Catalog::discover().find_or_infer(dataset, &environment.data).ok()?;
    let expected = &entry.expected;
    // At most all of them get a reverse.
    let sides = if entry.symmetrize { 2 } else { 1 };
    let listed = || Some(expected.distinct.or(expected.listed)?.saturating_mul(sides));
    let edges = expected.symmetric.or_else(listed)?;
    let width = entry.holds.features.unwrap_or(entry.made_up.features);
    let nodes = expected.nodes?;
    Some(Counts { nodes, edges, feature_bytes: nodes.saturating_mul(4 * u64::from(width)) })
}

/// What a stage takes.
struct Rates {
    /// Bytes of memory for an edge, a node, and a byte of features.
    memory: [u64; 3],
    /// Edges in a second.
    edges_a_second: u64,
    /// Bytes of its output for an edge, a node, and a byte of features.
    store: [u64; 3],
}

fn rates(stage: StageName) -> Rates {
    let rates = |memory, edges_a_second, store| Rates { memory, edges_a_second, store };
    match stage {
        StageName::Ingest => rates([64, 128, 2], 500_000, [4, 8, 1]),
        StageName::Extract => rates([48, 32, 0], 5_000_000, [24, 16, 0]),
        StageName::Reorder => rates([64, 64, 0], 500_000, [24, 20, 0]),
        StageName::Partition => rates([24, 32, 0], 5_000_000, [0, 8, 0]),
        StageName::Plan => rates([0, 0, 0], 50_000_000, [0, 0, 0]),
        // With hidden layers of the usual widths; the plan's own prediction is better.
        StageName::Run => rates([32, 1024, 2], 50_000, [0, 32, 0]),
    }
}

/// Memory that every process takes, and disk of every artifact.
const PROCESS_BYTES: u64 = 64 << 20;
const ARTIFACT_BYTES: u64 = 64 << 10;

fn of_counts(counts: Counts, stage: StageName, pipeline: &Pipeline) -> Need {
    let Rates { memory, edges_a_second, store } = rates(stage);
    let sum = |least: u64, rates: [u64; 3]| {
        [counts.edges, counts.nodes, counts.feature_bytes]
            .into_iter()
            .zip(rates)
            .fold(least, |sum, (count, each)| sum.saturating_add(count.saturating_mul(each)))
    };
    let is_run = stage == StageName::Run;
    let repeats = if is_run { pipeline.run.epochs.div_ceil(100) } else { 1 };
    let searches = if is_run { count_searches(pipeline) } else { 1 };
    let walked = counts.edges.saturating_mul(repeats.max(1)).saturating_mul(searches);
    Need {
        bytes: sum(PROCESS_BYTES, memory),
        seconds: walked.div_ceil(edges_a_second).max(1),
        store_bytes: sum(ARTIFACT_BYTES, store).saturating_mul(searches),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each stage was seen to take of a graph of 410,236 nodes, 4.9 M edges and 96 features,
    /// of which the catalogue knows 3.4 M listed edges.
    #[test]
    fn predictions_cover_what_was_found() {
        let pipeline = warploom_spec::read_text(
            "dataset: ring\nplan: {program: gcn.py}\nrun: {epochs: 20}\n",
            std::path::Path::new("gcn.yaml"),
            &[],
        );
        let pipeline = pipeline.unwrap().remove(0);
        let counts = |edges| Counts { nodes: 410_236, edges, feature_bytes: 410_236 * 96 * 4 };
        let found = [294, 313, 263, 44, 18, 499];
        for (stage, mebibytes) in StageName::ALL.into_iter().zip(found) {
            let by_catalogue = of_counts(counts(2 * 3_356_824), stage, &pipeline);
            assert!(by_catalogue.bytes >= mebibytes << 20, "{stage}: {by_catalogue:?}");
            // By the profile it may be a little less; a script asks for half as much again.
            let by_profile = of_counts(counts(4_878_875), stage, &pipeline);
            assert!(by_profile.bytes * 3 / 2 >= mebibytes << 20, "{stage}: {by_profile:?}");
        }
    }
}
