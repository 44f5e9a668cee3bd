//! Proves that a program of one's own goes all the way: compiled, run, found again in the store and proved; that a wrong one is
//! refused with its line; and that a program can be looked at and checked without running it.
use warploom_tests::{Recipe, Scene};

use crate::pipeline::each;

const REACH: &str = "def reach(v, source=0, steps=3):\n    \"Share of the neighbours that a walk from one vertex reaches in some steps.\"\n    \
v.near = 1.0 if v.id == source else 0.0\n    for k in range(steps):\n        v.near = max(v.near, max(u.near for u in v.nbs))\n    \
return v.near, mean(u.near for u in v.innbs)\n";

fn recipe(scene: &Scene, program: &str, text: &str) -> Recipe {
    scene.write(&format!("{program}.py"), text);
    Recipe::file(scene.write(&format!("{program}.yaml"), format!("pipeline: own\ndataset: karate\nplan: {{program: {program}.py}}\n")))
}

#[test]
fn a_program_of_ones_own_is_built_once_and_proved() {
    let scene = Scene::stand_in();
    let recipe = recipe(&scene, "reach", REACH);
    let first = scene.build(&recipe);
    assert_eq!(each(&first, "status"), ["built"; 6]);
    assert_eq!(each(&scene.build(&recipe), "status"), ["hit"; 6]);
    scene.front("check", &recipe, &[]).expect(0);
    // A default that is written down changes no key, another value does.
    assert_eq!(each(&scene.build(&recipe.clone().set("plan.set.steps=3")), "status"), ["hit"; 6]);
    let other = scene.build(&recipe.clone().set("plan.set.steps=2"));
    assert_eq!(each(&other, "status"), ["hit", "hit", "hit", "hit", "built", "built"]);
    for dtype in ["f32", "f64"] {
        scene.build(&recipe.clone().set(&format!("run.dtype={dtype}")));
    }
}

#[test]
fn a_tuple_of_a_program_is_set_by_a_list() {
    let scene = Scene::stand_in();
    let recipe = recipe(&scene, "tuple", "def tuple(v, factors=(2, 3)):\n    return v.indegree * sum(factors[k] for k in range(len(factors)))\n");
    scene.build(&recipe);
    let other = scene.build(&recipe.clone().set("plan.set.factors=[1, 2, 4]"));
    assert_eq!(each(&other, "status"), ["hit", "hit", "hit", "hit", "built", "built"]);
    assert_eq!(each(&scene.build(&recipe.clone().set("plan.set.factors=[2, 3]")), "status"), ["hit"; 6]);
    let plan = || recipe.clone().set("plan.set.factors=[1, two]");
    scene.front("pipeline", &plan(), &[]).expect(1).says(&["the setting `factors` does not fit", "a list, each a whole number"]);
}

#[test]
fn a_wrong_program_is_refused_with_its_line() {
    let scene = Scene::stand_in();
    let recipe = recipe(&scene, "reach", &REACH.replace("u.near for u in v.innbs", "u.naer for u in v.innbs"));
    let output = scene.front("pipeline", &recipe, &[]).expect(1).says(&["reach.py:6:", "naer", "^"]);
    let last = output.lines().pop().unwrap();
    assert_eq!((last["stage"].as_str(), last["status"].as_str(), last["error"]["kind"].as_str()), (Some("plan"), Some("failed"), Some("specification")));
    scene.warploom(&["check", "reach.py"]).expect(1).says(&["reach.py:6:", "naer"]);
}

#[test]
fn a_program_is_checked_and_shown_without_being_run() {
    let scene = Scene::stand_in();
    let recipe = recipe(&scene, "reach", REACH);
    scene.warploom(&["check", "reach.py"]).expect(0).prints(&["reach", "source=0", "near"]);
    scene.warploom(&["check", "reach.py", "--set", "plan.set.stps=2"]).expect(1).says(&["stps", "plan.set.steps"]);
    scene.warploom(&["check", "reach.py", "--set", "plan.sett.steps=2"]).expect(1).says(&["no setting `sett`", "plan.set.steps=2"]);
    scene.warploom(&["check", "reach.py", "--dataset", "karat"]).expect(1).says(&["karat", "did you mean `karate`?"]);
    scene.write("two.py", format!("{REACH}\ndef half(v, by=2):\n    return v.indegree / by\n"));
    scene.warploom(&["check", "two.py:half"]).expect(0).prints(&["half: sound", "by=2"]);
    scene.warploom(&["check", "two.py:hlaf"]).expect(1).says(&["hlaf", "file.py:half"]);
    let lines = scene.warploom(&["check", "reach.py", "--format", "json"]).expect(0).lines();
    assert_eq!((lines[0]["program"].as_str(), lines[0]["trains"].as_bool()), (Some("reach"), Some(false)));
    scene.build(&recipe);
    scene.warploom(&["check", "reach.py", "--dataset", "karate"]).expect(0).prints(&["karate"]);
    scene.warploom(&["check", "reach.py", "--dataset", "cora"]).expect(0).says(&["cora", "not in the store", "hint:"]);
    scene.warploom(&["check", "reach.py", "--show", "gir"]).expect(0).prints(&["program reach", "reduce maximum.both", "# near"]);
    scene.warploom(&["check", "reach.py", "--show", "launches"]).expect(0).prints(&["program reach: iterate", "results"]);
    scene.warploom(&["check", "reach.yaml", "--show", "gir"]).expect(2).says(&["FILE.py"]);
    let show = |form: &str| scene.run("warploom-plan", &recipe.arguments(&["--show", form]));
    show("gir").expect(0).prints(&["program reach", "return near"]);
    show("clean").expect(0).prints(&["program reach"]);
    show("launches").expect(0).prints(&["program reach: iterate", "results"]);
    show("fused").expect(0).prints(&["program reach: iterate", "steps over vertices and their edges"]);
    show("source").expect(2).says(&["emits no source"]);
}
