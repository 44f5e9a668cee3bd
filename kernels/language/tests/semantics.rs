//! Programs as text, traced and interpreted on five edges, against numbers worked by hand: that
//! text means what the page of the language says.
//!
//! never     takes an expected number from the interpreter or from another program

use std::collections::BTreeMap;

use warploom_ir::interpret::{ElementRows, Interpreter, Values, World};
use warploom_ir::{Data, Type};
use warploom_language::trace::trace;

const INF: f64 = f64::INFINITY;
/// The id beyond every vertex.
const NOBODY: f64 = u32::MAX as f64;

/// Four vertices, the last isolated; edges 0->1, 2->1, 2->1 again, 1->1, 1->0 of relations a b a b
/// a.
fn world(features: bool) -> (Data, World) {
    let mut world = World::bare(4, vec![0, 2, 2, 1, 1], vec![1, 1, 1, 1, 0]);
    world.weight = Some(vec![0.5, 2.0, 4.0, 1.0, 3.0]);
    world.edge_type = vec![0, 1, 0, 1, 0];
    world.features = features
        .then(|| ElementRows::from_reals(4, 2, vec![1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0]));
    let columns = [
        ("c", ElementRows::from_reals(4, 1, vec![3.0, 1.0, 2.0, 5.0])),
        ("k", ElementRows::from_integers(4, 1, vec![3, 1, 2, 5])),
    ];
    world.columns = columns.map(|(name, rows)| (name.to_owned(), rows)).into();
    let mut data = Data::bare(4, 5);
    (data.weighted, data.features) = (true, features.then_some(2));
    data.relations = ["a", "b"].map(str::to_owned).to_vec();
    data.columns =
        [("c", Type::Real), ("k", Type::Int)].map(|(name, kind)| (name.to_owned(), kind)).into();
    (data, world)
}

/// The first result of a program whose parameters are set to these values.
fn run(text: &str, (data, world): &(Data, World), parameters: &[(&str, &[f64])]) -> Vec<f64> {
    let traced = trace(text, "f", &BTreeMap::new(), data);
    let traced = traced.unwrap_or_else(|found| {
        panic!("{}", found.iter().map(|found| found.render("f.py", text)).collect::<String>())
    });
    assert!(traced.warnings.is_empty(), "{text}: {:?}", traced.warnings);
    let mut interpreter = Interpreter::new(&traced.gir, data, world).unwrap();
    for (name, values) in parameters {
        interpreter.set_parameter(name, values).unwrap();
    }
    interpreter.run(100);
    match &interpreter.result(&traced.gir.results[0].name).unwrap().values {
        Values::Real(values) => values.clone(),
        Values::Whole(values) => values.iter().map(|value| *value as f64).collect(),
    }
}

#[track_caller]
fn same(text: &str, found: &[f64], expected: &[f64]) {
    let close = |(found, expected): (&f64, &f64)| {
        found == expected || (found - expected).abs() <= 1e-12 * expected.abs()
    };
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(close),
        "{text}\nexpected {expected:?}\nfound {found:?}"
    );
}

/// An expression of `v` on the five edges.
#[track_caller]
fn gives(expression: &str, expected: [f64; 4]) {
    let text = format!("def f(v):\n    return {expression}\n\ndef plus(a, b):\n    return a + b\n");
    same(&text, &run(&text, &world(true), &[]), &expected);
}

/// Statements that make `v.a`.
#[track_caller]
fn makes(statements: &str, expected: [f64; 4]) {
    let text = format!("def f(v):\n    {}\n    return v.a\n", statements.replace('\n', "\n    "));
    same(&text, &run(&text, &world(true), &[]), &expected);
}

#[test]
fn edges_are_reduced_at_the_vertex_that_they_belong_to() {
    gives("sum(e.w for e in v.inedges)", [3.0, 7.5, 0.0, 0.0]);
    gives("sum(e.w for e in v.outedges)", [0.5, 4.0, 6.0, 0.0]);
    gives("sum(u.c for u in v.innbs)", [1.0, 8.0, 0.0, 0.0]);
    gives("sum(u.c for u in v.outnbs)", [1.0, 4.0, 2.0, 0.0]);
    gives("sum(u.c for u in v.nbs)", [2.0, 12.0, 2.0, 0.0]);
    gives("sum(u.c for u in v.innbs[\"b\"])", [0.0, 3.0, 0.0, 0.0]);
    gives(
        "sum(sum(e.w for e in v.outedges[r]) * (1 if r == \"a\" else 10) for r in \
         v.graph.relations)",
        [0.5, 13.0, 24.0, 0.0],
    );
    gives("sum(e.dst.c - e.src.c for e in v.inedges)", [2.0, -4.0, 0.0, 0.0]);
    gives("sum(e.dst.c - e.src.c for e in v.outedges)", [-2.0, 2.0, -2.0, 0.0]);
    gives("sum(v.c * e.w + e.type for e in v.inedges)", [9.0, 9.5, 0.0, 0.0]);
    gives("v.degree * 100 + v.indegree * 10 + v.outdegree", [211.0, 642.0, 202.0, 0.0]);
    gives("mean(u.c for u in v.nbs)", [1.0, 2.0, 1.0, 0.0]);
}

#[test]
fn each_reduction_means_what_it_says_also_over_nothing() {
    gives("mean(u.c for u in v.innbs)", [1.0, 2.0, 0.0, 0.0]);
    gives("max(u.c for u in v.innbs)", [1.0, 3.0, -INF, -INF]);
    gives("min((u.c for u in v.innbs), default=v.c)", [1.0, 1.0, 2.0, 5.0]);
    gives("mean((u.c for u in v.innbs if u.c > 1), default=-1)", [-1.0, 7.0 / 3.0, -1.0, -1.0]);
    gives("min(u.id for u in v.innbs)", [1.0, 0.0, NOBODY, NOBODY]);
    gives("count(u for u in v.innbs if u.c > 1)", [0.0, 3.0, 0.0, 0.0]);
    gives("count(e for e in v.outedges)", [1.0, 2.0, 2.0, 0.0]);
    gives("prod(e.w for e in v.inedges)", [3.0, 4.0, 1.0, 1.0]);
    gives("logsumexp(0 * e.w for e in v.inedges)", [0.0, 4.0_f64.ln(), -INF, -INF]);
    gives("mode(u.k for u in v.innbs)", [1.0, 2.0, i64::MAX as f64, i64::MAX as f64]);
    gives("hindex(u.k for u in v.innbs)", [1.0, 2.0, 0.0, 0.0]);
    gives("any(u.c > 2 for u in v.innbs)", [0.0, 1.0, 0.0, 0.0]);
    gives("all(u.c > 2 for u in v.innbs)", [0.0, 0.0, 1.0, 1.0]);
    gives("fold(plus, [e.w for e in v.inedges], 0)", [3.0, 7.5, 0.0, 0.0]);
    gives("sum(u.c > 1 for u in v.innbs)", [0.0, 3.0, 0.0, 0.0]);
    gives(
        "sum(a * e.src.c for a, e in zip(softmax([0 * e.w for e in v.inedges]), v.inedges))",
        [1.0, 2.0, 0.0, 0.0],
    );
    gives("sum(a for a in softmax(e.w for e in v.inedges if e.w > 1.5))", [1.0, 1.0, 0.0, 0.0]);
    // Only the two ends of the loop at 1 have third vertices, 0 and 2, in common.
    gives("sum(common_neighbors(u, v) for u in v.innbs)", [0.0, 2.0, 0.0, 0.0]);
    gives("pool_sum(v.c) + pool_max(v.k) + pool_mean(v.c)", [18.75; 4]);
}

#[test]
fn rows_and_numbers_follow_numpy_and_python() {
    gives("v.x[..., 1] * 2 + v.x[..., -2]", [-1.0, -2.0, -3.0, -4.0]);
    gives("sum(v.x * v.x, axis=0)", [2.0, 8.0, 18.0, 32.0]);
    gives("dot(v.x, v.x)", [2.0, 8.0, 18.0, 32.0]);
    gives("norm(v.x) ** 2 - max(v.x, axis=-1)", [1.0, 6.0, 15.0, 28.0]);
    gives("sum(sum(reshape(concat(v.x, v.c), (3, 1)), axis=0), axis=0)", [3.0, 1.0, 2.0, 5.0]);
    gives("sum(softmax(v.x, axis=0), axis=0) + 0 * v.c", [1.0; 4]);
    gives("v.k // 2 - v.k % 2", [0.0, -1.0, 1.0, 1.0]);
    gives("v.k ** -1 + v.k ** 2", [9.0 + 1.0 / 3.0, 2.0, 4.5, 25.2]);
    gives("v.k * 0 + -7 // 2 + 7 % -2", [-5.0; 4]);
    gives("not (0 < v.c < 3)", [1.0, 0.0, 0.0, 1.0]);
    gives("v.c > 2 and v.c < 4 or v.id == 2", [1.0, 0.0, 1.0, 0.0]);
    gives("v.id in (0, 3)", [1.0, 0.0, 0.0, 1.0]);
    gives("v.k not in (1, 2)", [1.0, 0.0, 0.0, 1.0]);
    gives("clamp(v.c, 2, 4) + (1 if v.c > 2 else -1)", [4.0, 1.0, 1.0, 5.0]);
    gives("where(v.c > 2, 1 / (v.c - 3), inf)", [INF, INF, INF, 0.5]);
    gives("max(v.k, 2.5) + min(v.k, 2, 3)", [5.0, 3.5, 4.5, 7.0]);
    gives("int(v.c / 2) + floor(v.c / 2) + float(v.k)", [5.0, 1.0, 4.0, 9.0]);
    gives("v.c + sum(k for k in range(4) if k != 2) + len((1, 2))", [9.0, 7.0, 8.0, 11.0]);
}

#[test]
fn assignments_are_complete_before_the_next_statement() {
    makes(
        "v.a = v.c\nv.a = sum(u.a for u in v.innbs)\nv.a = sum(u.a for u in v.innbs)",
        [8.0, 9.0, 0.0, 0.0],
    );
    makes(
        "for e in v.inedges:\n    e.s = e.src.c - e.dst.c\nv.a = sum(e.s for e in v.outedges)",
        [2.0, -2.0, 2.0, 0.0],
    );
    makes(
        "for e in v.inedges:\n    e.s = e.w\nfor e in v.inedges[\"b\"]:\n    e.s = 0\nv.a = \
            sum(e.s for e in v.inedges)",
        [3.0, 4.5, 0.0, 0.0],
    );
    makes("v.a, v.b = v.c, v.k\nv.a, v.b = v.b, v.a\nv.a += v.b * 10", [33.0, 11.0, 22.0, 55.0]);
    makes(
        "t = v.c\nv.a = 0\nfor k in range(3):\n    t = t * 2\n    v.a += t",
        [42.0, 14.0, 28.0, 70.0],
    );
}

#[test]
fn loops_are_tested_after_each_pass() {
    makes(
        "v.a = v.id\nwhile changed(v.a):\n    v.a = min(v.a, min(u.a for u in v.nbs))",
        [0.0, 0.0, 0.0, 3.0],
    );
    makes(
        "v.a = 0.0 if v.id == 0 else inf\nwhile changed(v.a):\n    v.a = min(v.a, min(e.src.a + \
            e.w for e in v.inedges))",
        [0.0, 0.5, INF, INF],
    );
    makes("v.a = 1.0\nwhile change(v.a) > 0.6:\n    v.a = v.a / 2", [0.125; 4]);
    makes("v.a = 0\nwhile active(v.a < 3):\n    v.a = v.a + 1", [3.0; 4]);
    makes("v.a = 9\nwhile active(v.a < 3):\n    v.a = v.a + 1", [10.0; 4]);
    let carried = "v.a = 0.0\nfor e in v.inedges:\n    e.m = e.w\nwhile active(v.a < 4):\n    v.a \
        = v.a + 1\n    for e in v.inedges:\n        e.m = 2 * e.m\nv.a = sum(e.m for e in \
        v.inedges)";
    makes(carried, [48.0, 120.0, 0.0, 0.0]);
}

#[test]
fn learned_layers_are_those_of_pytorch() {
    let with =
        |expression: &str, features: bool, parameters: &[(&str, &[f64])], expected: &[f64]| {
            let text = format!("def f(v):\n    return {expression}\n");
            same(&text, &run(&text, &world(features), parameters), expected);
        };
    let weight: &[f64] = &[1.0, 0.0, 0.0, 2.0];
    with(
        "linear(v.x, 2)",
        true,
        &[("f.f.0.linear.0.weight", weight), ("f.f.0.linear.0.bias", &[5.0, 7.0])],
        &[6.0, 5.0, 7.0, 3.0, 8.0, 1.0, 9.0, -1.0],
    );
    with(
        "sum(linear(v.x, (2, 1), bias=False), axis=0)",
        true,
        &[("f.f.0.linear.0.weight", weight)],
        &[-1.0, -2.0, -3.0, -4.0],
    );
    with(
        "v.x @ param((2, 1)) + bias()",
        true,
        &[("f.f.0.param.0", &[3.0, 1.0]), ("f.f.0.bias.0", &[1.0])],
        &[3.0, 5.0, 7.0, 9.0],
    );
    let unit = |a: f64| a / (a * a + 1e-5).sqrt();
    with("layer_norm(v.x)[..., 0]", true, &[], &[unit(1.0), unit(2.0), unit(3.0), unit(4.0)]);
    let table: &[(&str, &[f64])] = &[("f.f.0.w.weight", &[10.0, 20.0, 30.0, 40.0])];
    with("linear(v.x, 1, bias=False, name=\"w\")", false, table, &[10.0, 20.0, 30.0, 40.0]);
    with(
        "linear(mean(u.x for u in v.innbs), 1, bias=False, name=\"w\")",
        false,
        table,
        &[20.0, 22.5, 0.0, 0.0],
    );
    with(
        "linear(v.x + sum(e.w * e.src.x for e in v.inedges) - 2 * v.x, 1, bias=False, name=\"w\")",
        false,
        table,
        &[50.0, 185.0, -30.0, -40.0],
    );
    with(
        "sum(linear(u.x, 1, bias=False, name=\"w\") for u in v.innbs)",
        false,
        table,
        &[20.0, 90.0, 0.0, 0.0],
    );
    with("embedding(v.id, 1, name=\"w\")", false, table, &[10.0, 20.0, 30.0, 40.0]);
}
