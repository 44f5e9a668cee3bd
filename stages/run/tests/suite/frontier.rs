//! frontier: supersteps that compute only readers of changes give the same bits as supersteps that
//! compute every row.
//!
//! promises  any reduction, bounded or not; states that return to earlier values; rows of many
//!           columns
use warploom_contract::{
    Artifact,
    kinds::run::VALUES_FILE,
    progress::{Silence, StopFlag},
    stage::Stage,
};
use warploom_launch::Body;
use warploom_run::{
    RunStage,
    buffers::Place,
    inputs::upload::{self, DataNeeds, Needs},
    iteration::frontier::Frontier,
    resolved_program::{Part, Pass},
};
use warploom_spec::Pipeline;

use crate::custom_programs::{own_text, proved, symmetric, weighted};
use crate::threads::{community, in_pool};
use warploom_test_support::list_runner::{Executor, cpu_executor};
use warploom_test_support::stage_runner::{StageRunner, list_of};

const PASS: Pass = Pass { epoch: 0, training: false };
const BOUND: usize = 60;

/// The bits of every state and of its successor.
fn bits(executor: &Executor<f32>) -> Vec<Vec<u64>> {
    let buffers = executor.host().buffers.read_banks();
    let of = |place: &Place| -> Vec<u64> {
        match place {
            Place::Real(index) => {
                buffers.reals.get(*index).iter().map(|value| u64::from(value.to_bits())).collect()
            }
            Place::Whole(index) => {
                buffers.wholes.get(*index).iter().map(|value| value.cast_unsigned()).collect()
            }
            Place::Half(..) | Place::Sparse(_) => unreachable!("no state"),
        }
    };
    executor.host().program.loops[0].commits.iter().map(|(state, _)| of(state)).collect()
}

/// Goes both ways side by side; gives how many supersteps made only some rows.
fn beside(runner: &StageRunner, graph: &Artifact, named: (&str, &Pipeline)) -> usize {
    beside_with_parts(runner, graph, named, None)
}

/// The same, with these parts of changed rows and of readers in the plan.
fn beside_with_parts(
    runner: &StageRunner,
    graph: &Artifact,
    (name, pipeline): (&str, &Pipeline),
    parts: Option<[u64; 2]>,
) -> usize {
    let chain = runner.planned(graph, pipeline).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut list = list_of(&chain);
    let text = list.render();
    let Body::Iterate(iterate) = &mut list.body else { panic!("{name} iterates") };
    let Some(planned) = &mut iterate.loops[0].frontier else {
        panic!("{name}: no frontier in\n{text}")
    };
    if let Some(parts) = parts {
        [planned.changed_part, planned.readers_part] = parts;
    }
    let step = chain.resolve_step::<<RunStage as Stage>::Request>().unwrap();
    let stop = StopFlag::new();
    let [mut all, mut some] = [(), ()].map(|()| {
        let data = upload::load_data::<f32>(
            &runner.context(&Silence, &stop),
            &step.inputs,
            &list,
            DataNeeds::new(&list, Needs::from_list(&list), None),
            &step.request,
        )
        .unwrap();
        let mut executor = cpu_executor(&list, data, 0);
        executor.run(Part::Before(0), PASS, &stop).unwrap();
        executor
    });
    let repeated = some.host().program.loops[0].clone();
    let mut frontier = Frontier::from_loop(some.host(), &repeated).unwrap();
    let mut partial = 0;
    for superstep in 0..BOUND {
        all.run(Part::Superstep(0), PASS, &stop).unwrap();
        let expected = all.supersteps().unwrap().measure_change(0, None);
        all.supersteps().unwrap().commit(0);
        partial += usize::from(frontier.runs().is_some());
        some.run_rows(Part::Superstep(0), PASS, frontier.runs(), &stop).unwrap();
        let found = some.supersteps().unwrap().measure_change(0, frontier.runs());
        frontier.advance(some.host(), &repeated, &found);
        some.supersteps().unwrap().commit(0);
        assert_eq!(found.changed, expected.changed, "{name}: superstep {superstep}");
        assert!(bits(&some) == bits(&all), "{name}: states differ after superstep {superstep}");
        if found.changed == 0 {
            break;
        }
    }
    partial
}

const LOOPS: [(&str, &str, &str); 8] = [
    (
        "widest path",
        "inf if v.id == 5 else 0.0",
        "max(v.a, max(min(e.src.a, e.w) for e in v.inedges))",
    ),
    ("largest label", "v.id", "max(v.a, max(u.a for u in v.nbs))"),
    ("smallest along some", "v.id", "min(v.a, min(u.a for u in v.innbs if u.indegree > 3))"),
    ("reached", "v.id == 5", "v.a or any(u.a for u in v.innbs)"),
    ("all the same", "v.indegree % 7 > 0", "v.a and all(u.a for u in v.outnbs)"),
    (
        "bounded counts",
        "1 if v.id == 5 else 0",
        "min(50, v.a + count(u for u in v.innbs if u.a > v.a))",
    ),
    (
        "sums that settle",
        "1.0 if v.id == 5 else 0.0",
        "min(1.0, v.a + 0.25 * sum(u.a for u in v.innbs if u.a > 0.9))",
    ),
    (
        "coming and going",
        "1 if v.id == 5 else 0",
        "(1 - v.a) if any(u.a > 0 for u in v.innbs if u.id > v.id) else v.a",
    ),
];

/// The program of such a loop.
fn loop_pipeline(runner: &StageRunner, (name, first, next): (&str, &str, &str)) -> Pipeline {
    let entry = name.replace(' ', "_");
    let text = format!(
        "def {entry}(v):\n    v.a = {first}\n    while changed(v.a):\n        v.a = {next}\n    \
            return v.a\n"
    );
    own_text(runner, &entry, &text, "reorder: {method: degree}")
}

/// The interpreter computes all rows.
#[test]
fn runs_end_as_the_interpreter_ends() {
    let runner = StageRunner::new();
    for given in [weighted(), symmetric()] {
        let graph = runner.graph(&given);
        for of_loop in LOOPS {
            if of_loop.0 != "coming and going" {
                proved(&runner, &graph, &loop_pipeline(&runner, of_loop));
            }
        }
    }
}

#[test]
fn states_are_those_of_whole_supersteps() {
    let runner = StageRunner::new();
    let mut partial = 0;
    for (shape, given) in [
        ("community", community(true)),
        ("weighted", weighted()),
        ("symmetric", symmetric()),
        ("tail", crate::loop_algorithms::hub_and_tail()),
    ] {
        let graph = runner.graph(&given);
        for of_loop in LOOPS {
            let name = format!("{} on {shape}", of_loop.0);
            let pipeline = loop_pipeline(&runner, of_loop);
            partial += beside(&runner, &graph, (&name, &pipeline));
        }
    }
    assert!(partial > 100, "only {partial} supersteps made some rows alone");
}

#[test]
fn two_states_of_which_one_is_watched() {
    let runner = StageRunner::new();
    let graph = runner.graph(&crate::loop_algorithms::hub_and_tail());
    let text = "def hops(v):\n    v.far = v.id == 5\n    v.hops = 0\n    while changed(v.far):\n        v.hops = v.hops + (0 if v.far else 1)\n        \
                v.far = v.far or any(u.far for u in v.innbs)\n    return v.hops, v.far\n";
    let pipeline = own_text(&runner, "hops", text, "");
    let some = beside(&runner, &graph, ("two states", &pipeline));
    // How far a frontier goes is the plan's, and changes no bit.
    let with = |parts| beside_with_parts(&runner, &graph, ("two states", &pipeline), Some(parts));
    assert!(with([u64::MAX, 1]) == 0 && some > 0);
    assert!(with([1, u64::MAX]) <= some && some <= with([1, 1]));
}

#[test]
fn runs_say_so_and_do_not_depend_on_threads() {
    let runner = StageRunner::new();
    let graph = runner.graph(&crate::loop_algorithms::hub_and_tail());
    let text = "def largest(v):\n    v.a = v.id\n    while changed(v.a):\n        v.a = max(v.a, \
        max(u.a for u in v.nbs))\n    return v.a\n";
    let pipeline = own_text(&runner, "largest", text, "");
    let chain = runner.planned(&graph, &pipeline).unwrap();
    let runs = [1, 3].map(|threads| {
        in_pool(threads, || runner.run(&chain, &Silence, &StopFlag::new()).unwrap())
    });
    assert!(runs[0].fixed()[VALUES_FILE] == runs[1].fixed()[VALUES_FILE]);
    assert_eq!(runs.map(|left| left.record().courses), [["frontier"], ["frontier"]]);
}
