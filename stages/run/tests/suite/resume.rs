//! resume: a run that was stopped and started again leaves the bytes of one that was not.
use std::sync::atomic::{AtomicU64, Ordering};

use warploom_contract::{
    ErrorKind, Kind,
    kinds::checkpoint,
    progress::{Progress, Silence, StopFlag},
};
use warploom_ir::Loss;
use warploom_shell::Chain;

use crate::custom_programs::own_text;
use crate::differential::{CHOICES, direct_of};
use crate::golden::given;
use crate::threads::community;
use warploom_test_support::graph_inputs::{random, uniform};
use warploom_test_support::list_runner::gpu;
use warploom_test_support::skips::skipped;
use warploom_test_support::stage_runner::{RunFiles, StageRunner};

/// Epochs after each of which the host looks, on a GPU, too.
const LOOKED_AT: u64 = 2;

/// A listener that asks for a stop: at the note of this number in a start (in the middle of an
/// epoch) or when so many steps are done in all (between two).
struct Stopper<'a> {
    stop: &'a StopFlag,
    at_note: Option<u64>,
    at_advance: Option<u64>,
    notes: AtomicU64,
    advances: AtomicU64,
}

impl Progress for Stopper<'_> {
    fn begin(&self, _: &str, _: u64, _: &'static str) {}

    fn advance(&self, units: u64) {
        // Steps of an earlier start are told at once.
        if Some(self.advances.fetch_add(units, Ordering::SeqCst) + units) == self.at_advance {
            self.stop.set();
        }
    }

    fn note(&self, _: &str) {
        if Some(self.notes.fetch_add(1, Ordering::SeqCst) + 1) == self.at_note {
            self.stop.set();
        }
    }

    fn end(&self) {}

    fn warn(&self, text: &str) {
        panic!("unexpected warning: {text}");
    }
}

/// Stops a start after some steps; gives the error, or the result where the run ended before.
pub fn stopped(
    runner: &StageRunner,
    chain: &Chain,
    at_note: Option<u64>,
    at_advance: Option<u64>,
) -> Result<RunFiles, warploom_contract::StageError> {
    let stop = StopFlag::new();
    let stopper = Stopper {
        stop: &stop,
        at_note,
        at_advance,
        notes: AtomicU64::new(0),
        advances: AtomicU64::new(0),
    };
    runner.run(chain, &stopper, &stop)
}

pub fn same(what: &str, got: &RunFiles, want: &RunFiles) {
    for (name, bytes) in want.fixed() {
        assert!(got.fixed()[name] == bytes, "{what}: {name} differs");
    }
}

/// All columns of the metrics but the seconds, by their bits.
pub fn metrics(left: &RunFiles) -> Vec<Vec<u64>> {
    ["loss", "train", "validation", "test"]
        .iter()
        .map(|name| left.metrics(name).iter().map(|value| value.to_bits()).collect())
        .collect()
}

#[test]
fn a_training_stopped_at_any_epoch_ends_the_same() {
    for (keep, drop, optimizer) in [
        ("last", 0.0, "adam: {weight_decay: 0.01}"),
        ("best", 0.5, "adamw: {weight_decay: 0.1}"),
        ("best", 0.0, "sgd: {lr: 0.5, momentum: 0.9}"),
    ] {
        let runner = StageRunner::new();
        let graph = runner.graph(&community(false));
        let rest = format!(
            "  set: {{hidden: 6, drop: {drop}}}\nreorder: {{method: degree}}\nrun: {{epochs: 12, \
                keep: {keep}, optimizer: {{{optimizer}}}}}"
        );
        let pipeline = runner.pipeline("gcn", &rest);
        let chain = runner.planned(&graph, &pipeline).unwrap();
        let whole = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
        let key = chain.key_document(warploom_shell::StageName::Run).unwrap().key();
        for trial in 0..4 {
            checkpoint::remove(&runner.environment.store, &key);
            let [first, second] = match gpu() {
                Some(_) => [1 + trial as u64 % LOOKED_AT, 1],
                None => [50, 51].map(|stream| 1 + (uniform(stream, trial) * 5.0) as u64),
            };
            // In the middle of an epoch, then at the end of one.
            let error = stopped(&runner, &chain, Some(first), None).err().unwrap();
            assert_eq!((error.kind, error.kind.exit_code()), (ErrorKind::Stopped, 75), "{error}");
            let done = checkpoint::steps(&runner.environment.store, &key)
                .last()
                .map_or(0, |step| step.number);
            assert_eq!(done, first - 1, "the half epoch is dropped");
            let error = stopped(&runner, &chain, None, Some(done + second)).err().unwrap();
            let boundary = format!("after epoch {}", done + second);
            assert!(
                error.kind == ErrorKind::Stopped && error.what.contains(&boundary),
                "{boundary}: {error}"
            );
            let resumed = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
            assert_eq!(resumed.record().resumed_at, done + second);
            same(
                &format!("{keep}, {optimizer}, stopped after {done} and {second} more"),
                &resumed,
                &whole,
            );
            assert_eq!(metrics(&resumed), metrics(&whole));
        }
    }
}

/// A bound below the usual one: loops with a course go in supersteps, which are saved.
const BOUNDED: &str = "\nrun: {max_supersteps: 9999}";

#[test]
fn an_iteration_stopped_anywhere_ends_the_same() {
    for (program, rest, course) in [
        ("pagerank", "  set: {tolerance: 1.0e-7}", "supersteps"),
        ("components", BOUNDED, "frontier"),
    ] {
        let runner = StageRunner::new();
        let graph = runner.graph(&community(true));
        let pipeline = runner.pipeline(program, &format!("{rest}\nreorder: {{method: degree}}"));
        let chain = runner.planned(&graph, &pipeline).unwrap();
        let whole = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
        let course = if gpu().is_some() { "supersteps" } else { course };
        assert_eq!(whole.record().courses, [course]);
        let supersteps = whole.record().supersteps;
        // On a GPU the host looks after four.
        let each = if gpu().is_some() { 4 } else { 1 };
        let ends = [each, 2 * each].into_iter().filter(|end| *end < supersteps);
        assert!(supersteps > 2);
        let mut last = 0;
        for end in ends {
            let error = stopped(&runner, &chain, None, Some(end)).err().unwrap();
            assert!(error.what.contains(&format!("after superstep {end}")), "{error}");
            last = end;
        }
        let resumed = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
        assert_eq!((resumed.record().resumed_at, resumed.record().supersteps), (last, supersteps));
        same(program, &resumed, &whole);
    }
}

/// Two loops one after the other; the first carries a column of edges.
const TWO_LOOPS: &str = "def two(v):
    v.near = v.id
    for e in v.inedges:
        e.seen = 0
    while changed(v.near):
        for e in v.inedges:
            e.seen = min(e.seen + 1, 4)
        v.near = min(v.near, min(u.near for u in v.nbs))
    v.share = 1.0 + v.degree
    while change(v.share) > 1.0e-9:
        v.share = 0.5 * mean(u.share for u in v.nbs) + 0.1
    return v.near, v.share, sum(e.seen for e in v.inedges)
";

#[test]
fn compiled_loops_stopped_anywhere_end_the_same() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(true));
    let order = "reorder: {method: degree}";
    for (name, pipeline) in [
        ("two", own_text(&runner, "two", TWO_LOOPS, order)),
        ("hits", runner.pipeline("hits", order)),
        ("kcore", runner.pipeline("kcore", &format!("{order}{BOUNDED}"))),
        ("sssp", runner.pipeline("sssp", &format!("{order}{BOUNDED}"))),
    ] {
        let chain =
            runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{name}: {error}"));
        let whole = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
        let supersteps = whole.record().supersteps;
        assert!(supersteps > 3, "{name}: {supersteps} supersteps");
        let key = chain.key_document(warploom_shell::StageName::Run).unwrap().key();
        let ends = match whole.record().supersteps_of_loops.as_slice() {
            _ if gpu().is_none() => vec![1, supersteps / 2, supersteps - 1],
            // The host looks after the first four of a loop.
            [first, _, ..] => vec![first + 4],
            _ => vec![4],
        };
        for at in ends.into_iter().filter(|end| *end < supersteps) {
            checkpoint::remove(&runner.environment.store, &key);
            let error = stopped(&runner, &chain, None, Some(at)).err().unwrap();
            assert!(error.what.contains(&format!("after superstep {at}")), "{name}: {error}");
            let resumed = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
            assert_eq!(
                (resumed.record().resumed_at, resumed.record().supersteps),
                (at, supersteps),
                "{name}"
            );
            same(&format!("{name}, stopped after {at}"), &resumed, &whole);
        }
    }
}

/// A loop that takes a course, and one that goes in supersteps.
const COURSE_AND_LOOP: &str = "def mixed(v):
    v.core = v.indegree
    while changed(v.core):
        v.core = hindex(u.core for u in v.innbs)
    v.share = 1.0 + v.core
    while change(v.share) > 1.0e-9:
        v.share = 0.5 * mean(u.share for u in v.nbs) + 0.1
    return v.core, v.share
";

#[test]
fn a_loop_after_a_course_goes_on_and_is_proved() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(true));
    let pipeline = own_text(&runner, "mixed", COURSE_AND_LOOP, "reorder: {method: degree}");
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let whole = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    assert_eq!(whole.record().courses, ["peeling", "supersteps"]);
    // The host of a GPU looks after the first four supersteps of the second loop.
    let at = if gpu().is_some() { 5 } else { 4 };
    let error = stopped(&runner, &chain, None, Some(at)).err().unwrap();
    assert!(error.what.contains(&format!("after superstep {at}")), "{error}");
    let resumed = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    assert_eq!(
        (resumed.record().resumed_at, resumed.record().courses),
        (at, whole.record().courses)
    );
    same("mixed", &resumed, &whole);
    runner
        .check(&chain, &runner.published(&chain).unwrap())
        .unwrap_or_else(|error| panic!("{error}"));
}

/// A training of six epochs, stopped in the third and again after the fifth (on a GPU in the second
/// and after it), ends as one that was not.
pub fn stopped_twice_ends_the_same(runner: &StageRunner, chain: &Chain, name: &str) {
    let whole = runner.run(chain, &Silence, &StopFlag::new()).unwrap();
    let [first, second] = if gpu().is_some() { [1, LOOKED_AT] } else { [2, 5] };
    let error = stopped(runner, chain, Some(first + 1), None).err().unwrap();
    assert!(error.what.contains(&format!("after epoch {first}")), "{error}");
    let error = stopped(runner, chain, None, Some(second)).err().unwrap();
    assert!(error.what.contains(&format!("after epoch {second}")), "{error}");
    let resumed = runner.run(chain, &Silence, &StopFlag::new()).unwrap();
    assert_eq!(resumed.record().resumed_at, second);
    same(name, &resumed, &whole);
    assert_eq!(metrics(&resumed), metrics(&whole));
}

#[test]
fn a_compiled_training_stopped_at_any_epoch_ends_the_same() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let rest = "  set: {hidden: 3, heads: 2, drop: 0.4, drop_shares: 0.4}\nreorder: {method: \
        degree}\nrun: {epochs: 6, keep: best}";
    let pipeline = runner.pipeline("gat", rest);
    let chain = runner.planned(&graph, &pipeline).unwrap();
    stopped_twice_ends_the_same(&runner, &chain, "gat");
}

/// The epoch that a message of a stop names.
fn epoch_of(what: &str) -> Option<u64> {
    what.split_once("after epoch ")?.1.split(';').next()?.parse().ok()
}

/// Stops a training in the second epoch, after an epoch whose metrics the host reads, and twice
/// where a checkpoint was due, with the next epochs in flight. The number in flight depends on the
/// time of an epoch: on a busy machine it is smaller. Gives the epochs done.
fn stop_four_times(runner: &StageRunner, chain: &Chain, program: &str) -> u64 {
    let ends = [
        (Some(2), None, 1..=1),
        (None, Some(2), 2..=2),
        (None, Some(5), 5..=10),
        (None, Some(15), 15..=20),
    ];
    let mut done = 0;
    for (at_note, at_advance, expected) in ends {
        let error = stopped(runner, chain, at_note, at_advance)
            .err()
            .unwrap_or_else(|| panic!("{program} was not stopped in {expected:?}"));
        assert_eq!(error.kind, ErrorKind::Stopped, "{program}: {error}");
        done = epoch_of(&error.what).unwrap_or_else(|| panic!("{program}: {error}"));
        assert!(expected.contains(&done), "{program}, {expected:?}: {error}");
    }
    done
}

/// Epochs that a GPU does alone are stopped between its graphs, of which a state that is due is an
/// end; those that were asked for are still done, and whoever goes on has other graphs.
#[test]
fn a_training_stopped_between_graphs_of_epochs_ends_the_same() {
    let Some(facts) = gpu() else {
        return skipped(
            "resume::a_training_stopped_between_graphs_of_epochs_ends_the_same",
            "NOTHING WAS RECORDED: no GPU is asked for",
        );
    };
    let runner = StageRunner::new();
    // Few rows: as many epochs are asked for at once as take a second, and five must, also on an
    // emulated GPU of a busy machine.
    let direct = direct_of(&random("few", 40, 200, 6), (CHOICES[1], 6), Loss::CrossEntropy);
    let graph = runner.graph(&given(&direct, false, false));
    for (program, set) in [
        ("gcn", "hidden: 5, drop: 0.4"),
        ("gin", "hidden: 5, layers: 2, norm: true, drop: 0.4"),
        ("gat", "hidden: 3, heads: 2, drop: 0.4, drop_shares: 0.3"),
        ("sage", "hidden: 5, drop: 0.0"),
    ] {
        let pipeline_of = |saved: &str| {
            runner.pipeline(
                program,
                &format!(
                    "  set: {{{set}}}\nreorder: {{method: \
                degree}}\nrun: {{epochs: 24, keep: best{saved}}}"
                ),
            )
        };
        let pipeline = pipeline_of("");
        let whole = runner
            .run(&runner.planned(&graph, &pipeline).unwrap(), &Silence, &StopFlag::new())
            .unwrap();
        assert_eq!(
            whole.record().device["name"],
            facts.name,
            "{program}: {}",
            whole.record().device
        );
        let pipeline = pipeline_of(", checkpoint: {every_epochs: 5}");
        let chain = runner.planned(&graph, &pipeline).unwrap();
        let done = stop_four_times(&runner, &chain, program);
        let resumed = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
        assert_eq!((resumed.record().resumed_at, resumed.record().epochs), (done, 24), "{program}");
        same(&format!("{program}, stopped four times"), &resumed, &whole);
        assert_eq!(metrics(&resumed), metrics(&whole), "{program}");
        assert!(
            metrics(&whole)[0].windows(2).all(|pair| pair[0] != pair[1]),
            "{program}: an epoch changes nothing"
        );
    }
}

#[test]
fn periodic_states_are_kept_and_a_published_run_leaves_none() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let pipeline = runner
        .pipeline("gcn", "  set: {hidden: 4}\nrun: {epochs: 9, checkpoint: {every_epochs: 2}}");
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let key = chain.key_document(warploom_shell::StageName::Run).unwrap().key();
    let store = &runner.environment.store;
    let steps =
        || checkpoint::steps(store, &key).iter().map(|step| step.number).collect::<Vec<_>>();
    let whole = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    assert_eq!(steps(), [6, 8]);
    let resumed = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    assert_eq!(resumed.record().resumed_at, 8);
    same("from a periodic state", &resumed, &whole);
    runner.published(&chain).unwrap();
    // As with --force: the run is there, so what is left over belongs to its making.
    let again = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    assert_eq!(again.record().resumed_at, 0);
    same("again", &again, &whole);
}

/// A listener that keeps what it was warned of.
#[derive(Default)]
pub struct Warnings(pub std::sync::Mutex<Vec<String>>);

impl Progress for Warnings {
    fn begin(&self, _: &str, _: u64, _: &'static str) {}
    fn advance(&self, _: u64) {}
    fn note(&self, _: &str) {}
    fn end(&self) {}
    fn warn(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

#[test]
fn a_state_that_does_not_fit_is_told_and_left() {
    let runner = StageRunner::new();
    let graph = runner.graph(&community(false));
    let pipeline = runner.pipeline("gcn", "  set: {hidden: 4, drop: 0.0}\nrun: {epochs: 5}");
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let document = chain.key_document(warploom_shell::StageName::Run).unwrap();
    let store = &runner.environment.store;
    let whole = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    stopped(&runner, &chain, None, Some(2)).err().unwrap();
    let provenance = chain.available(Kind::Graph).unwrap().manifest.provenance;
    checkpoint::save(store, &document, provenance, 3, b"not a state").unwrap();
    let warnings = Warnings::default();
    let resumed = runner.run(&chain, &warnings, &StopFlag::new()).unwrap();
    assert_eq!(resumed.record().resumed_at, 2, "the older state is used");
    same("past a bad state", &resumed, &whole);
    let warnings = warnings.0.into_inner().unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("step-000000000003"), "{warnings:?}");
}
