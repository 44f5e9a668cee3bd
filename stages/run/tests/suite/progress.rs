//! progress: every phase of ingest, extract, reorder, partition and plan is reported as it goes, in
//! whole units, to its end.
use std::{
    fs,
    sync::Mutex,
    time::{Duration, Instant},
};

use warploom_contract::{Stage, progress::Progress};
use warploom_extract::Extract;
use warploom_ingest::Ingest;
use warploom_partition::PartitionStage;
use warploom_plan::PlanStage;
use warploom_reorder::Reorder;
use warploom_shell::{Chain, requests::Request};

use warploom_test_support::stage_runner::StageRunner;

/// Reading is sampled every 20 ms (a test of ingest checks that each sample reports): reading that
/// took this long was sampled several times, however busy the host is.
const LOOKED_AT: Duration = Duration::from_millis(500);

/// A phase as it was reported.
#[derive(Clone, Debug)]
struct Reported {
    what: String,
    unit: &'static str,
    total: u64,
    moves: Vec<u64>,
    began: Instant,
    /// From its beginning to the last move.
    took: Duration,
}

impl Reported {
    fn done(&self) -> u64 {
        self.moves.iter().sum()
    }
}

/// Writes down what it hears.
#[derive(Default)]
struct Listener(Mutex<Vec<Reported>>);

impl Progress for Listener {
    fn begin(&self, what: &str, total: u64, unit: &'static str) {
        self.0.lock().unwrap().push(Reported {
            what: what.to_owned(),
            unit,
            total,
            moves: Vec::new(),
            began: Instant::now(),
            took: Duration::ZERO,
        });
    }

    fn advance(&self, units: u64) {
        let mut phases = self.0.lock().unwrap();
        let phase = phases.last_mut().unwrap();
        phase.moves.push(units);
        phase.took = phase.began.elapsed();
    }

    fn note(&self, _: &str) {}
    fn end(&self) {}
    fn warn(&self, _: &str) {}
}

/// A runner with raw data.
fn place() -> StageRunner {
    let mut runner = StageRunner::new();
    runner.environment.data = vec![runner.folder.path().join("raw")];
    runner
}

/// An edge list of pairs that look drawn, with a third column where there are relations.
fn edge_list(place: &StageRunner, name: &str, (nodes, edges): (u32, u32), relations: Option<u32>) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut draw = |below: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as u32 % below
    };
    let columns = if relations.is_some() { "source,target,relation" } else { "source,target" };
    let mut text = format!("{columns}\n");
    for _ in 0..edges {
        let (source, target) = (draw(nodes), draw(nodes));
        let more = relations.map_or_else(String::new, |count| format!(",r{}", draw(count)));
        text += &format!("{source},{target}{more}\n");
    }
    let folder = place.folder.path().join("raw").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("edges.csv"), text).unwrap();
}

/// Runs a stage, and gives the phases that it reported.
fn phases<S>(place: &StageRunner, chain: &mut Chain<'_>) -> Vec<Reported>
where
    S: Stage,
    S::Request: Request,
{
    let listener = Listener::default();
    place.build_with::<S>(chain, &listener).unwrap_or_else(|error| panic!("{error}"));
    listener.0.into_inner().unwrap()
}

/// Takes what a stage has left in the store.
fn found<S>(chain: &mut Chain<'_>)
where
    S: Stage,
    S::Request: Request,
{
    let step = chain.resolve_step::<S::Request>().unwrap();
    let artifacts = chain.find_artifacts(S::Request::STAGE, &step.key()).unwrap().unwrap();
    chain.add_available(&artifacts);
}

/// Reported to its end.
fn judge_ends(reported: &[Reported]) {
    assert!(!reported.is_empty());
    for phase in reported {
        assert!(phase.total == 0 || phase.done() == phase.total, "{phase:?}");
        assert!(phase.done() > 0, "nothing is reported: {phase:?}");
    }
}

/// The same, and more than takes a moment in several pieces.
fn judge(reported: &[Reported]) {
    judge_ends(reported);
    for phase in reported {
        let is_long = match phase.unit {
            "bytes" => phase.took >= LOOKED_AT,
            // A row group.
            "edges" => phase.done() >= 1 << 20,
            _ => phase.done() >= 100_000,
        };
        let in_one = phase.moves.iter().max().is_some_and(|most| *most == phase.done());
        assert!(!is_long || !in_one, "all is reported at once: {phase:?}");
    }
}

fn names(reported: &[Reported]) -> Vec<(&str, &str)> {
    reported.iter().map(|phase| (phase.what.as_str(), phase.unit)).collect()
}

const LARGE: &str =
    "ingest: {features: random, symmetrize: true, duplicates: merge, self_loops: drop}";

#[test]
fn every_phase_on_a_large_graph_moves() {
    let place = place();
    edge_list(&place, "drawn", (150_000, 2_200_000), None);
    for method in ["rabbit", "rcm", "bfs", "degree", "auto"] {
        let rest = format!("{LARGE}\nreorder: {{method: {method}}}");
        let pipeline = place.pipeline_on("drawn", "pagerank", &rest);
        let mut chain = Chain::new(&place.environment, &pipeline);
        if method == "rabbit" {
            let ingest = phases::<Ingest>(&place, &mut chain);
            judge(&ingest);
            let wanted = [
                ("reading", "bytes"),
                ("sorting", "edges"),
                ("looking for communities", "nodes"),
                ("filling in labels, features and splits", "nodes"),
                ("writing", "nodes"),
                ("writing", "edges"),
            ];
            assert_eq!(names(&ingest), wanted);
            let extract = phases::<Extract>(&place, &mut chain);
            judge(&extract);
            let wanted = [
                ("reading", "edges"),
                ("grouping", "edges"),
                ("measuring degrees", "nodes"),
                ("looking for communities", "nodes"),
                ("measuring", "groups of figures"),
                ("writing degrees and figures", "files"),
                ("writing", "files"),
            ];
            assert_eq!(names(&extract), wanted);
        } else {
            found::<Ingest>(&mut chain);
            found::<Extract>(&mut chain);
        }
        let reorder = phases::<Reorder>(&place, &mut chain);
        judge(&reorder);
        assert!(names(&reorder).contains(&("measuring the order", "figures")), "{reorder:?}");
        judge_ends(&phases::<PartitionStage>(&place, &mut chain));
        judge(&phases::<PlanStage>(&place, &mut chain));
    }
}

#[test]
fn every_phase_on_relations_and_on_generated_graphs_moves() {
    let place = place();
    edge_list(&place, "related", (120_000, 300_000), Some(3));
    for dataset in ["related", "rmat-14-16", "grid-400-400", "clique-batch-3000-8", "star-200000"] {
        let pipeline = place.pipeline_on(dataset, "pagerank", "reorder: {method: degree}");
        let mut chain = Chain::new(&place.environment, &pipeline);
        judge(&phases::<Ingest>(&place, &mut chain));
        judge(&phases::<Extract>(&place, &mut chain));
        judge(&phases::<Reorder>(&place, &mut chain));
    }
}

#[test]
fn a_plan_is_reported_step_by_step() {
    let mut place = place();
    place.environment.device = Some("h200".to_owned());
    let raw = place.folder.path().join("raw/karate");
    fs::create_dir_all(&raw).unwrap();
    fs::write(raw.join(".absent"), "2026-01-01\nno network in tests\n").unwrap();
    let pipeline = place.pipeline_on("karate", "gcn", "run: {mode: train}");
    let mut chain = Chain::new(&place.environment, &pipeline);
    judge(&phases::<Ingest>(&place, &mut chain));
    judge(&phases::<Extract>(&place, &mut chain));
    judge(&phases::<Reorder>(&place, &mut chain));
    judge_ends(&phases::<PartitionStage>(&place, &mut chain));
    let plan = phases::<PlanStage>(&place, &mut chain);
    judge(&plan);
    assert_eq!(plan.len(), 3, "{plan:?}");
    assert!(plan.iter().all(|phase| phase.moves.len() > 1), "{plan:?}");
}
