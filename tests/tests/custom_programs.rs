//! Proves that a program of one's own goes all the way: compiled, run, found again in the store and
//! proved; that a wrong one is refused with its line; and that a program can be looked at and
//! checked without running it.
use warploom_test_support::sandbox::{Recipe, Sandbox};

use crate::pipeline::each;

const REACH: &str = "def reach(v, source=0, steps=3):\n    \"Share of the neighbours that a walk from one vertex reaches in some steps.\"\n    \
v.near = 1.0 if v.id == source else 0.0\n    for k in range(steps):\n        v.near = max(v.near, max(u.near for u in v.nbs))\n    \
return v.near, mean(u.near for u in v.innbs)\n";

fn recipe(sandbox: &Sandbox, program: &str, text: &str) -> Recipe {
    sandbox.write(&format!("{program}.py"), text);
    Recipe::file(sandbox.write(
        &format!("{program}.yaml"),
        format!("pipeline: own\ndataset: karate\nplan: {{program: {program}.py}}\n"),
    ))
}

#[test]
fn a_program_of_ones_own_is_built_once_and_proved() {
    let sandbox = Sandbox::stand_in();
    let recipe = recipe(&sandbox, "reach", REACH);
    let first = sandbox.build(&recipe);
    assert_eq!(each(&first, "status"), ["built"; crate::pipeline::STAGES.len()]);
    assert_eq!(each(&sandbox.build(&recipe), "status"), ["hit"; crate::pipeline::STAGES.len()]);
    sandbox.front("check", &recipe, &[]).expect(0);
    // A default that is written down changes no key, another value does.
    assert_eq!(
        each(&sandbox.build(&recipe.clone().set("plan.set.steps=3")), "status"),
        ["hit"; crate::pipeline::STAGES.len()]
    );
    let other = sandbox.build(&recipe.clone().set("plan.set.steps=2"));
    assert_eq!(each(&other, "status"), ["hit", "hit", "hit", "hit", "built", "built"]);
    for dtype in ["f32", "f64"] {
        sandbox.build(&recipe.clone().set(&format!("run.dtype={dtype}")));
    }
}

#[test]
fn a_tuple_of_a_program_is_set_by_a_list() {
    let sandbox = Sandbox::stand_in();
    let recipe = recipe(
        &sandbox,
        "tuple",
        "def tuple(v, factors=(2, 3)):\n    return v.indegree * sum(factors[k] for k in \
            range(len(factors)))\n",
    );
    sandbox.build(&recipe);
    let other = sandbox.build(&recipe.clone().set("plan.set.factors=[1, 2, 4]"));
    assert_eq!(each(&other, "status"), ["hit", "hit", "hit", "hit", "built", "built"]);
    assert_eq!(
        each(&sandbox.build(&recipe.clone().set("plan.set.factors=[2, 3]")), "status"),
        ["hit"; crate::pipeline::STAGES.len()]
    );
    let plan = || recipe.clone().set("plan.set.factors=[1, two]");
    sandbox
        .front("pipeline", &plan(), &[])
        .expect(1)
        .says(&["the setting `factors` does not fit", "a list, each a whole number"]);
}

#[test]
fn a_wrong_program_is_refused_with_its_line() {
    let sandbox = Sandbox::stand_in();
    let recipe = recipe(
        &sandbox,
        "reach",
        &REACH.replace("u.near for u in v.innbs", "u.naer for u in v.innbs"),
    );
    let output =
        sandbox.front("pipeline", &recipe, &[]).expect(1).says(&["reach.py:6:", "naer", "^"]);
    let last = output.lines().pop().unwrap();
    assert_eq!(
        (last["stage"].as_str(), last["status"].as_str(), last["error"]["kind"].as_str()),
        (Some("plan"), Some("failed"), Some("specification"))
    );
    assert!(
        sandbox.view().of_kind("permutation").is_empty(),
        "what the graph's columns decide is found as soon as there is a graph"
    );
    sandbox.warploom(&["check", "reach.py"]).expect(1).says(&["reach.py:6:", "naer"]);
}

#[test]
fn a_program_is_checked_and_shown_without_being_run() {
    let sandbox = Sandbox::stand_in();
    let recipe = recipe(&sandbox, "reach", REACH);
    let check = |arguments: &[&str]| sandbox.warploom(&[&["check"], arguments].concat());
    check(&["reach.py"]).expect(0).prints(&["reach", "source=0", "near"]);
    check(&["reach.py", "--set", "plan.set.stps=2"]).expect(1).says(&["stps", "plan.set.steps"]);
    check(&["reach.py", "--set", "plan.sett.steps=2"])
        .expect(1)
        .says(&["no setting `sett`", "plan.set.steps=2"]);
    check(&["reach.py", "--dataset", "karat"]).expect(1).says(&["karat", "did you mean `karate`?"]);
    sandbox.write("two.py", format!("{REACH}\ndef half(v, by=2):\n    return v.indegree / by\n"));
    check(&["two.py:half"]).expect(0).prints(&["half: OK", "by=2"]);
    check(&["two.py:hlaf"]).expect(1).says(&["hlaf", "file.py:half"]);
    let lines = check(&["reach.py", "--format", "json"]).expect(0).lines();
    assert_eq!(
        (lines[0]["program"].as_str(), lines[0]["trains"].as_bool()),
        (Some("reach"), Some(false))
    );
    sandbox.build(&recipe);
    check(&["reach.py", "--dataset", "karate"]).expect(0).prints(&["karate"]);
    // The graph of other settings tells names and widths too.
    let other = ["check", "reach.py", "--dataset", "karate", "--set", "ingest.self_loops=add"];
    sandbox.warploom(&other).expect(0).prints(&[
        "checked against the newest graph of karate in the store (",
        "none of these exact settings",
    ]);
    sandbox.write("wide.py", "def wide(v):\n    return linear(v.x, v.classes)\n");
    let width =
        sandbox.view().of_kind("graph")[0].manifest["counts"]["feature_columns"].as_u64().unwrap();
    let wide = ["check", "wide.py", "--dataset", "karate", "--set", "ingest.self_loops=add"];
    sandbox
        .warploom(&wide)
        .expect(0)
        .prints(&["the newest graph of karate", &format!("({} numbers)", 2 * (width + 1))]);
    check(&["reach.py", "--dataset", "cora"])
        .expect(0)
        .says(&["no graph of `cora` is in the store", "hint:"]);
    check(&["reach.py", "--show", "gir"]).expect(0).prints(&[
        "program reach",
        "reduce maximum.both",
        "# near",
    ]);
    check(&["reach.py", "--show", "launches"])
        .expect(0)
        .prints(&["program reach: iterate", "results"]);
    check(&["reach.yaml", "--show", "gir"]).expect(2).says(&["FILE.py"]);
    let show = |form: &str| sandbox.run("warploom-plan", &recipe.arguments(&["--show", form]));
    show("gir").expect(0).prints(&["program reach", "return near"]);
    show("clean").expect(0).prints(&["program reach"]);
    show("launches").expect(0).prints(&["program reach: iterate", "results"]);
    show("fused")
        .expect(0)
        .prints(&["program reach: iterate", "steps over vertices and their edges"]);
    show("source").expect(2).says(&["`cpu` has no CUDA source", "--device cuda"]);
}

/// The values of a program on 0 -> 1 -> 2 -> 3, as they are printed in JSON; each proved.
fn on_a_path(sandbox: &Sandbox, text: &str, sets: &[&str]) -> Vec<Vec<Option<i64>>> {
    sandbox.write("own.py", text);
    let file = sandbox.write(
        "own.yaml",
        "pipeline: own\ndataset: path\ningest: {symmetrize: false}\nplan: {program: own.py}\n",
    );
    let recipe = sets.iter().fold(Recipe::file(file), |recipe, set| recipe.set(set));
    let lines = sandbox.build(&recipe);
    sandbox.front("check", &recipe, &[]).expect(0);
    let folder = std::path::PathBuf::from(lines[5]["artifacts"][0]["path"].as_str().unwrap());
    let table =
        warploom_contract::parquet_file::read_table(&folder.join("values.parquet"), None).unwrap();
    let columns = table.batch.columns().iter().skip(1);
    columns
        .map(|column| (0..4).map(|row| column.is_valid(row).then(|| whole(column, row))).collect())
        .collect()
}

fn whole(column: &arrow_array::ArrayRef, row: usize) -> i64 {
    use arrow_array::{Int64Array, UInt64Array};
    let signed = column.as_any().downcast_ref::<Int64Array>().map(|values| values.value(row));
    signed
        .unwrap_or_else(|| column.as_any().downcast_ref::<UInt64Array>().unwrap().value(row) as i64)
}

fn path() -> Sandbox {
    Sandbox::edge_lists(&[("path", "0 1\n1 2\n2 3\n")], "symmetrize: false\nsplit: {rule: none}")
}

#[test]
fn what_is_of_nothing_stays_so() {
    let sandbox = path();
    let level = "def own(v):\n    v.level = 0 if v.id == 0 else 1000\n    while changed(v.level):\n        \
v.level = min(v.level, min(u.level for u in v.innbs) + 1)\n    v.past = max(u.level for u in v.innbs) * 2 - 3\n    \
return v.level, v.past, (min(u.level for u in v.innbs) + 1) // 2 - 5\n";
    let [some, none] = [Some, |_| None];
    assert_eq!(
        on_a_path(&sandbox, level, &[]),
        [
            [0, 1, 2, 3].map(some),
            [none(0), some(-3), some(-1), some(1)],
            [none(0), some(-5), some(-4), some(-4)]
        ]
    );
    let largest = "def own(v):\n    v.far = v.id\n    while changed(v.far):\n        v.far = max(v.far, max(u.far for u in v.innbs))\n    \
v.next = max(u.id for u in v.innbs)\n    return v.far, v.next, max(v.id, v.next), max(u.next for u in v.innbs)\n";
    let expected = [
        [0, 1, 2, 3].map(some),
        [none(0), some(0), some(1), some(2)],
        [0, 1, 2, 3].map(some),
        [none(0), none(0), some(0), some(1)],
    ];
    assert_eq!(on_a_path(&sandbox, largest, &[]), expected);
}

#[test]
fn each_loop_has_a_bound_of_its_own() {
    let sandbox = path();
    let text = "def own(v):\n    v.a = 0 if v.id == 0 else 9\n    while changed(v.a):\n        v.a = min(v.a, 1 + sum(u.a for u in v.innbs))\n    \
v.b = 0\n    while changed(v.b):\n        v.b = 5\n    return v.a, v.b\n";
    let both = on_a_path(&sandbox, text, &["run.max_supersteps=4"]);
    assert_eq!((both,), (on_a_path(&sandbox, text, &[]),));
    let recipe = Recipe::file(sandbox.path("own.yaml")).set("run.max_supersteps=2");
    sandbox
        .front("pipeline", &recipe, &[])
        .expect(3)
        .says(&["not converged after 2 supersteps of loop 0", "max_supersteps=20"]);
    let taken = on_a_path(&sandbox, text, &["run.max_supersteps=2", "run.allow_unconverged=true"]);
    assert_eq!(taken[1], [Some(5); 4]);
}
