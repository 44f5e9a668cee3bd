//! Lifetimes of small lists made here, and places of random buffers.
use proptest::prelude::*;

use super::*;
use crate::{
    Body, Buffer, Commit, Element, FrontierPlan, Iterate, Launch, Loop, Operand, Operation, Over,
    Parameter, ResultColumn, Role, Rowed, Rows, StopCondition, Train, View, gradient_buffer,
    parameter_buffer,
};
use warploom_ir::{Direction, Loss, Op};

/// Rows of 256 bytes: one stretch a buffer with one row a node.
const NODES: u64 = 64;

fn facts() -> GraphFacts {
    GraphFacts {
        half: None,
        lanes: false,
        nodes: NODES,
        edges: 0,
        sparse_features: None,
        weighted: false,
        training: true,
        bytes_per_real: 4,
    }
}

/// An operation that reads these rows. Lifetimes follow from names alone, but for sums of rows.
fn evaluate(op: Op, out: &str, reads: &[&str]) -> Operation {
    let rows = |name: &&str| {
        Operand::Rows(Rowed { buffer: (*name).to_owned(), shape: Vec::new(), view: View::Own })
    };
    Operation::Evaluate {
        out: out.to_owned(),
        shape: Vec::new(),
        op,
        inputs: reads.iter().map(rows).collect(),
    }
}

/// A launch that reads these rows.
fn launch(out: &str, reads: &[&str]) -> Launch {
    Launch::unreckoned(out.to_owned(), evaluate(Op::Detach, out, reads))
}

fn list(given: &[(&str, Role)], body: Body, result: &str) -> LaunchList {
    let results =
        vec![ResultColumn { name: "r".to_owned(), buffer: result.to_owned(), edges: None }];
    let mut list = LaunchList {
        program: "p".to_owned(),
        buffers: Vec::new(),
        parameters: Vec::new(),
        body,
        results,
        arena: Arena::default(),
        reasons: Vec::new(),
        lines: BTreeMap::new(),
    };
    let buffer = |name: &str, rows: Rows, role: Role| Buffer {
        name: name.to_owned(),
        rows,
        columns: 1,
        element: Element::Real,
        role,
    };
    let mut buffers: Vec<Buffer> =
        given.iter().map(|(name, role)| buffer(name, Rows::Nodes, role.clone())).collect();
    for launch in list.launches() {
        for name in launch.operation.writes() {
            if !buffers.iter().any(|buffer| buffer.name == *name) {
                let fixed = name == "loss" || name.starts_with("gradient.");
                let role = if name.starts_with("gradient.") { Role::Gradient } else { Role::Value };
                buffers.push(buffer(&name, if fixed { Rows::Fixed(1) } else { Rows::Nodes }, role));
            }
        }
    }
    list.buffers = buffers;
    list.reckon(&facts());
    list
}

fn training() -> LaunchList {
    let loss = Operation::Loss {
        kind: Loss::MeanSquares,
        result: "scores".to_owned(),
        target: "target".to_owned(),
        gradient: "slope".to_owned(),
        value: "loss".to_owned(),
    };
    let outer = evaluate(Op::Outer, &gradient_buffer("w"), &["d", "d"]);
    let body = Body::Train(Train {
        prepare: vec![launch("once", &["x"]), launch("held", &["once"])],
        forward: vec![
            launch("a", &["x", "parameter.w"]),
            launch("b", &["a"]),
            launch("next", &["b"]),
            launch("scores", &["b"]),
        ],
        loss: Launch::unreckoned("loss".to_owned(), loss),
        backward: vec![
            launch("d", &["slope", "b", "held"]),
            Launch::unreckoned("outer".to_owned(), outer),
        ],
        update: vec![Launch::unreckoned(
            "step".to_owned(),
            Operation::Optimize { parameter: "w".to_owned() },
        )],
        statistics: vec![Commit { state: "parameter.s".to_owned(), next: "next".to_owned() }],
        draws: true,
    });
    let given = [
        ("x", Role::Features),
        ("target", Role::Target),
        ("parameter.w", Role::Parameter),
        ("parameter.s", Role::Parameter),
    ];
    let mut list = list(&given, body, "scores");
    for name in ["w", "s"] {
        let parameter = Parameter {
            name: name.to_owned(),
            shape: vec![1],
            init: warploom_ir::Init::Zero,
            learned: name == "w",
        };
        assert!(list.buffers.iter().any(|buffer| buffer.name == parameter_buffer(name)));
        list.parameters.push(parameter);
    }
    list
}

fn lifetimes(list: &LaunchList) -> Vec<(String, usize, usize)> {
    let lifetimes = Timeline::new(list).lifetimes(list);
    lifetimes.into_iter().map(|(name, life)| (name.to_owned(), life.first, life.last)).collect()
}

fn expected(lifetimes: &[(&str, usize, usize)]) -> Vec<(String, usize, usize)> {
    lifetimes.iter().map(|(name, first, last)| ((*name).to_owned(), *first, *last)).collect()
}

/// Moments: 0 once, 1 held, 2 a, 3 b, 4 next, 5 scores, 6 loss, 7 measuring, 8 d, 9 outer, 10 step,
/// 11 statistics.
#[test]
fn lifetimes_of_training() {
    let wanted = [
        ("a", 2, 3),
        ("b", 3, 8),
        ("d", 8, 9),
        ("gradient.w", 9, 10),
        // Made once and read in every epoch.
        ("held", 1, 11),
        ("loss", 6, 6),
        // Copied when the epoch ends.
        ("next", 4, 11),
        ("once", 0, 1),
        // Measured after the loss.
        ("scores", 5, 7),
        ("slope", 6, 8),
    ];
    assert_eq!(lifetimes(&training()), expected(&wanted));
}

#[test]
fn places_of_training() {
    let list = training();
    assert_eq!(list.arena_flaws(), Vec::new());
    // Lines live during each launch: 1 once, 2 held, 3 a, ... the most during the loss: held, b,
    // next, scores, slope, loss.
    assert_eq!(list.arena.live, [1, 2, 2, 3, 3, 4, 6, 5, 4, 3].map(|lines| lines * ALIGNMENT));
    assert_eq!(list.arena.bytes, 6 * ALIGNMENT);
    let peak = list.peak().unwrap();
    assert_eq!((peak.launch, peak.bytes), ("loss", 6 * ALIGNMENT));
    let names: Vec<&str> = peak.buffers.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["b", "held", "next", "scores", "slope", "loss"]);
    assert_eq!(list.arena.without_reuse().bytes, ALIGNMENT * 10);
}

fn repeated(
    prepare: Vec<Launch>,
    superstep: Vec<Launch>,
    state: &str,
    until: StopCondition,
) -> Loop {
    Loop {
        prepare,
        superstep,
        commit: vec![Commit { state: state.to_owned(), next: format!("{state}.next") }],
        until,
        course: None,
        frontier: None,
    }
}

/// Moments: 0 s, 1 k, 2 t, 3 active, 4 s.next, 5 its end, 6 u, 7 v, 8 u.next, 9 its end, 10 r, 11
/// results.
#[test]
fn lifetimes_of_loops() {
    let first = vec![launch("t", &["s", "k"]), launch("active", &["t"]), launch("s.next", &["s"])];
    let second = vec![launch("v", &["u"]), launch("u.next", &["v"])];
    let loops = vec![
        repeated(
            vec![launch("s", &["x"]), launch("k", &["x"])],
            first,
            "s",
            StopCondition::Nowhere("active".to_owned()),
        ),
        repeated(
            vec![launch("u", &["x"])],
            second,
            "u",
            StopCondition::Unchanged(vec!["u".to_owned()]),
        ),
    ];
    let list = list(
        &[("x", Role::Features)],
        Body::Iterate(Iterate { loops, finish: vec![launch("r", &["u", "v"])] }),
        "r",
    );
    let wanted = [
        // Read when the superstep has ended.
        ("active", 3, 5),
        // Read in every superstep.
        ("k", 1, 5),
        ("r", 10, 11),
        // A checkpoint of the second loop holds the states of the first; either may lie where the
        // other did.
        ("s", 0, 9),
        ("s.next", 0, 9),
        ("t", 2, 3),
        ("u", 6, 10),
        ("u.next", 6, 10),
        // What the last superstep made is read after the loop.
        ("v", 7, 10),
    ];
    assert_eq!(lifetimes(&list), expected(&wanted));
    assert_eq!(list.arena_flaws(), Vec::new());
}

#[test]
fn a_buffer_that_is_read_before_it_is_written_stays_in_the_round() {
    let superstep = vec![launch("a", &["old"]), launch("old", &["s"]), launch("s.next", &["a"])];
    let loops = vec![repeated(
        vec![launch("s", &["x"]), launch("old", &["s"])],
        superstep,
        "s",
        StopCondition::Unchanged(vec!["s".to_owned()]),
    )];
    let list =
        list(&[("x", Role::Features)], Body::Iterate(Iterate { loops, finish: Vec::new() }), "s");
    let lifetimes = Timeline::new(&list).lifetimes(&list);
    assert_eq!(lifetimes["old"], Lifetime { first: 1, last: 5 });
    assert_eq!(lifetimes["a"], Lifetime { first: 2, last: 4 });
}

/// The last launch makes some rows of `v` and `s.next`, and what it made of the others before is
/// read after the loop.
#[test]
fn what_a_frontier_keeps_stays_in_the_round() {
    let lifetimes_with = |frontier: Option<FrontierPlan>| {
        let superstep = [
            launch("a", &["s"]),
            launch("b", &["a"]),
            launch("v", &["b"]),
            launch("s.next", &["v"]),
        ];
        let fused = |name: &str, launches: &[Launch]| {
            let steps = launches.iter().map(|launch| launch.operation.clone()).collect();
            Launch::unreckoned(
                name.to_owned(),
                Operation::Fused { over: Over::EdgesOf(Direction::In), locals: Vec::new(), steps },
            )
        };
        let superstep =
            vec![superstep[0].clone(), superstep[1].clone(), fused("walk", &superstep[2..])];
        let mut round = repeated(
            vec![launch("s", &["x"])],
            superstep,
            "s",
            StopCondition::Unchanged(vec!["s".to_owned()]),
        );
        round.frontier = frontier;
        let list = list(
            &[("x", Role::Features)],
            Body::Iterate(Iterate { loops: vec![round], finish: vec![launch("r", &["v"])] }),
            "r",
        );
        assert_eq!(list.arena_flaws(), Vec::new());
        Timeline::new(&list).lifetimes(&list)["v"]
    };
    // Moments: 0 s, 1 a, 2 b, 3 the walk, 4 its end, 5 r.
    assert_eq!(lifetimes_with(None), Lifetime { first: 3, last: 5 });
    let frontier = FrontierPlan { direction: Direction::In, changed_part: 5, readers_part: 2 };
    assert_eq!(lifetimes_with(Some(frontier)), Lifetime { first: 1, last: 5 });
}

#[test]
fn each_thing_that_is_wrong_with_an_arena_is_found() {
    let finds = |change: &dyn Fn(&mut Arena), wanted: &str| {
        let mut list = training();
        change(&mut list.arena);
        let flaws = list.arena_flaws();
        assert!(
            flaws
                .iter()
                .any(|(what, expected, found)| format!("{what}: {expected}; {found}") == wanted),
            "{wanted} is not among {flaws:#?}"
        );
    };
    let at = |arena: &mut Arena, name: &str| {
        arena.places.iter().position(|place| place.buffer == name).unwrap()
    };
    finds(
        &|arena| {
            let (held, b) = (at(arena, "held"), at(arena, "b"));
            (arena.places[held].offset, arena.places[b].offset) = (0, 0);
        },
        "places of `b` and `held`: disjoint: their lifetimes overlap; to 256 and from 0",
    );
    finds(
        &|arena| {
            let d = at(arena, "d");
            arena.places.remove(d);
        },
        "place of `d`: one, since launches write it; none",
    );
    finds(
        &|arena| {
            let d = at(arena, "d");
            arena.places[d].offset = 1536;
        },
        "place of `d`: a multiple of 256, ending by 1536; 1536 to 1792",
    );
    finds(
        &|arena| {
            let d = at(arena, "d");
            arena.places[d].offset = 4;
        },
        "place of `d`: a multiple of 256, ending by 1536; 4 to 260",
    );
    finds(
        &|arena| {
            arena.live.pop();
        },
        "bytes of wanted buffers: for 10 launches; for 9",
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever wants a place: none share a byte at one time, in either order, and never more than
    /// one after the other.
    #[test]
    fn places_of_any_buffers(buffers in proptest::collection::vec((0u64..2000, 0usize..30, 0usize..10), 0..60)) {
        let made: Vec<BufferRequest> =
            buffers.iter().map(|&(bytes, first, span)| BufferRequest { name: "b", bytes, life: Lifetime { first, last: first + span } }).collect();
        let order: Vec<usize> = (0..made.len()).collect();
        let offsets = placed(&made, &order);
        for (index, (first, &start)) in made.iter().zip(&offsets).enumerate() {
            prop_assert!(start.is_multiple_of(ALIGNMENT));
            for (second, &other) in made[index + 1..].iter().zip(&offsets[index + 1..]) {
                prop_assert!(!first.life.meets(second.life) || start + first.bytes <= other || other + second.bytes <= start);
            }
        }
        let live = (0..40).map(|moment| sum(made.iter().filter(|made| made.life.covers(moment)).map(|made| aligned(made.bytes)))).max().unwrap();
        let all = sum(made.iter().map(|made| aligned(made.bytes)));
        prop_assert!((live..=all).contains(&end(&made, &offsets)));
    }
}

#[test]
fn features_that_no_epoch_reads_give_their_place_up_on_a_gpu() {
    let on_gpu = GraphFacts { lanes: true, ..facts() };
    let mut list = training();
    list.reckon(&on_gpu);
    assert!(list.features_in_arena().is_none(), "`a` reads them in each epoch");
    let wanted = list.arena.clone();
    let Body::Train(train) = &mut list.body else { panic!("it trains") };
    train.forward[0] = launch("a", &["held", "parameter.w"]);
    list.reckon(&facts());
    assert!(list.features_in_arena().is_none(), "a CPU reads them where they are mapped");
    let without = list.arena.bytes;
    list.reckon(&on_gpu);
    assert_eq!(list.arena_flaws(), []);
    let (features, once) =
        (list.arena.place("x").unwrap().clone(), list.arena.place("once").unwrap().clone());
    assert!(
        features.offset + features.bytes <= once.offset
            || once.offset + once.bytes <= features.offset
    );
    assert_eq!(list.arena.bytes, without, "what epochs make lies where features did");
    list.keep_features_apart(&on_gpu);
    assert!(list.features_in_arena().is_none());
    list.arena = wanted;
    list.arena.places.push(features);
    let Body::Train(train) = &mut list.body else { panic!("it trains") };
    train.forward[0] = launch("a", &["x", "parameter.w"]);
    assert_eq!(list.arena_flaws()[0].0, "place of `x`");
}
