//! Proves that every piece of work of ingest, extract, reorder, partition and plan is told of as it
//! goes, in whole units, to its end.
use std::{fs, path::Path, sync::Mutex};

use warploom_contract::{
    Context, Outputs, Stage,
    stage::{Progress, StopFlag},
};
use warploom_shell::{
    Chain, Environment, Step, environment::Verify, flags::Format, flags::Real, requests::Request,
};
use warploom_spec::Pipeline;

/// A piece of work as it was told.
#[derive(Clone, Debug)]
struct Work {
    what: String,
    unit: &'static str,
    total: u64,
    moves: Vec<u64>,
}

impl Work {
    fn done(&self) -> u64 {
        self.moves.iter().sum()
    }
}

/// Writes down what it hears.
#[derive(Default)]
struct Listener(Mutex<Vec<Work>>);

impl Progress for Listener {
    fn begin(&self, what: &str, total: u64, unit: &'static str) {
        self.0.lock().unwrap().push(Work { what: what.to_owned(), unit, total, moves: Vec::new() });
    }

    fn advance(&self, units: u64) {
        self.0.lock().unwrap().last_mut().unwrap().moves.push(units);
    }

    fn note(&self, _: &str) {}
    fn end(&self) {}
    fn warn(&self, _: &str) {}
}

/// A folder with a store and data sets.
struct Place {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment {
            store: warploom_contract::Store::at(folder.path().join("store")),
            data: vec![folder.path().join("raw")],
            threads: 2,
            memory: 1 << 34,
            device: None,
            real: Real::No,
            force: false,
            verify: Verify::Inputs,
            network: false,
            format: Format::Human,
        };
        Place { folder, environment }
    }

    /// An edge list of pairs that look drawn, with a third column where there are relations.
    fn edge_list(&self, name: &str, (nodes, edges): (u32, u32), relations: Option<u32>) {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut draw = |below: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as u32 % below
        };
        let mut text = String::from(if relations.is_some() {
            "source,target,relation\n"
        } else {
            "source,target\n"
        });
        for _ in 0..edges {
            let (source, target) = (draw(nodes), draw(nodes));
            let more =
                relations.map_or_else(String::new, |relations| format!(",r{}", draw(relations)));
            text += &format!("{source},{target}{more}\n");
        }
        let place = self.folder.path().join("raw").join(name);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("edges.csv"), text).unwrap();
    }

    fn pipeline(&self, program: &str, rest: &str) -> Pipeline {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../pipelines/programs")
            .canonicalize()
            .unwrap()
            .join(program);
        let text = format!("pipeline: test\n{rest}\nplan:\n  program: {}\n", file.display());
        warploom_spec::read_text(&text, &self.folder.path().join("test.yaml"), &[])
            .unwrap_or_else(|mistakes| panic!("{mistakes}"))
            .remove(0)
    }

    /// Runs a stage, and gives what it told.
    fn told<S>(&self, chain: &mut Chain<'_>) -> Vec<Work>
    where
        S: Stage,
        S::Request: Request,
    {
        let (listener, stop) = (Listener::default(), StopFlag::new());
        let Environment { store, threads, memory, .. } = &self.environment;
        let context =
            Context { store, threads: *threads, memory: *memory, progress: &listener, stop: &stop };
        let mut step =
            chain.step::<S::Request>(&S::CONTRACT).unwrap_or_else(|error| panic!("{error}"));
        if step.request.undecided().is_some() {
            S::decide(&context, &step.inputs, &mut step.request)
                .unwrap_or_else(|error| panic!("{error}"));
            step = Step::of(&S::CONTRACT, step.request, step.inputs);
        }
        let mut outputs = Outputs::begin(store, &S::CONTRACT, step.document, &step.inputs).unwrap();
        S::run(&context, &mut outputs, &step.inputs, &step.request)
            .unwrap_or_else(|error| panic!("{error}"));
        chain.accept(&outputs.publish(store).unwrap());
        listener.0.into_inner().unwrap()
    }
}

/// Work that is told of to its end.
fn judge_ends(works: &[Work]) {
    assert!(!works.is_empty());
    for work in works {
        assert!(work.total == 0 || work.done() == work.total, "{work:?}");
        assert!(work.done() > 0, "nothing is told: {work:?}");
    }
}

/// The same, and more of it than takes a moment is told of in several pieces.
fn judge(works: &[Work]) {
    judge_ends(works);
    for work in works {
        let many = match work.unit {
            "bytes" => 20_000_000,
            // A row group.
            "edges" => 1 << 20,
            _ => 100_000,
        };
        let in_one = work.moves.iter().max().is_some_and(|most| *most == work.done());
        assert!(work.done() < many || !in_one, "all is told at once: {work:?}");
    }
}

fn names(works: &[Work]) -> Vec<(&str, &str)> {
    works.iter().map(|work| (work.what.as_str(), work.unit)).collect()
}

#[test]
fn every_piece_of_work_on_a_large_graph_moves() {
    let place = Place::new();
    place.edge_list("drawn", (150_000, 2_200_000), None);
    let settings = "dataset: drawn\ningest: {features: random, symmetrize: true, duplicates: \
        merge, self_loops: drop}";
    for method in ["rabbit", "rcm", "bfs", "degree", "auto"] {
        let pipeline =
            place.pipeline("pagerank.py", &format!("{settings}\nreorder: {{method: {method}}}"));
        let mut chain = Chain::new(&place.environment, &pipeline);
        if method == "rabbit" {
            let ingest = place.told::<warploom_ingest::Ingest>(&mut chain);
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
            let extract = place.told::<warploom_extract::Extract>(&mut chain);
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
            let step = chain
                .step::<<warploom_ingest::Ingest as Stage>::Request>(
                    &warploom_ingest::Ingest::CONTRACT,
                )
                .unwrap();
            let found =
                chain.find(&warploom_ingest::Ingest::CONTRACT, &step.key()).unwrap().unwrap();
            chain.accept(&found);
            let step = chain
                .step::<<warploom_extract::Extract as Stage>::Request>(
                    &warploom_extract::Extract::CONTRACT,
                )
                .unwrap();
            let found =
                chain.find(&warploom_extract::Extract::CONTRACT, &step.key()).unwrap().unwrap();
            chain.accept(&found);
        }
        let reorder = place.told::<warploom_reorder::Reorder>(&mut chain);
        judge(&reorder);
        assert!(names(&reorder).contains(&("measuring the order", "figures")), "{reorder:?}");
        judge_ends(&place.told::<warploom_partition::PartitionStage>(&mut chain));
        judge(&place.told::<warploom_plan::PlanStage>(&mut chain));
    }
}

#[test]
fn every_piece_of_work_on_relations_and_on_what_is_generated_moves() {
    let place = Place::new();
    place.edge_list("related", (120_000, 300_000), Some(3));
    for dataset in ["related", "rmat-14-16", "grid-400-400", "clique-batch-3000-8", "star-200000"] {
        let pipeline = place
            .pipeline("pagerank.py", &format!("dataset: {dataset}\nreorder: {{method: degree}}"));
        let mut chain = Chain::new(&place.environment, &pipeline);
        judge(&place.told::<warploom_ingest::Ingest>(&mut chain));
        judge(&place.told::<warploom_extract::Extract>(&mut chain));
        judge(&place.told::<warploom_reorder::Reorder>(&mut chain));
    }
}

#[test]
fn a_plan_is_told_of_step_by_step() {
    let place = Place::new();
    let raw = place.folder.path().join("raw/karate");
    fs::create_dir_all(&raw).unwrap();
    fs::write(raw.join(".absent"), "2026-01-01\nno network in tests\n").unwrap();
    let mut environment = place.environment.clone();
    environment.device = Some("h200".to_owned());
    let place = Place { environment, ..place };
    let pipeline = place.pipeline("gcn.py", "dataset: karate\nrun: {mode: train}");
    let mut chain = Chain::new(&place.environment, &pipeline);
    all_before_the_plan(&place, &mut chain);
    let plan = place.told::<warploom_plan::PlanStage>(&mut chain);
    judge(&plan);
    assert_eq!(plan.len(), 3, "{plan:?}");
    assert!(plan.iter().all(|work| work.moves.len() > 1), "{plan:?}");
}

fn all_before_the_plan(place: &Place, chain: &mut Chain<'_>) {
    judge(&place.told::<warploom_ingest::Ingest>(chain));
    judge(&place.told::<warploom_extract::Extract>(chain));
    judge(&place.told::<warploom_reorder::Reorder>(chain));
    judge_ends(&place.told::<warploom_partition::PartitionStage>(chain));
}
