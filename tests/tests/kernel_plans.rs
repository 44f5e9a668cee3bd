//! Plans for a GPU that is not here: what they hold, how much, and what is told of them.
use std::fs;
use std::path::PathBuf;

use warploom_test_support::sandbox::{Recipe, Sandbox};

use crate::damage::{forge, replace};

const FILES: [&str; 4] = ["launches.arrow", "kernels.arrow", "tiers.arrow", "kernels.cu"];

/// Plans a recipe for an H200.
fn plan(sandbox: &Sandbox, recipe: &Recipe) {
    for stage in ["ingest", "extract", "reorder", "partition", "plan"] {
        sandbox.stage(stage, recipe, &[]).expect(0);
    }
}

fn of_gpu() -> Recipe {
    Recipe::of("gcn", "karate").set("plan.device=h200")
}

/// The file of the only plan.
fn file(sandbox: &Sandbox, name: &str) -> PathBuf {
    let plans = sandbox.view().of_kind("plan");
    assert_eq!(plans.len(), 1);
    plans[0].path.join(name)
}

#[test]
fn a_sweep_over_one_graph_adds_little_for_a_cell() {
    let sandbox = Sandbox::stand_in();
    for hidden in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64] {
        let recipe = of_gpu().set(&format!("plan.set.hidden={hidden}"));
        plan(&sandbox, &recipe);
    }
    let of = |kind: &str| sandbox.view().of_kind(kind);
    assert_eq!((of("plan").len(), of("partition").len(), of("graph").len()), (12, 1, 1));
    for plan in of("plan") {
        let bytes: u64 = plan
            .files()
            .iter()
            .map(|name| fs::metadata(plan.path.join(name)).expect("it is listed").len())
            .sum();
        assert!(bytes < 1 << 20, "{}: {bytes} bytes", plan.path.display());
        assert!(FILES.iter().all(|name| plan.files().iter().any(|file| file == name)));
    }
}

#[test]
fn the_kernels_of_a_plan_are_printed_as_a_table() {
    let sandbox = Sandbox::stand_in();
    plan(&sandbox, &of_gpu());
    let arguments = of_gpu().arguments(&["explain", "-v"]);
    sandbox.warploom(&arguments).expect(0).prints(&[
        "kernels, in order:",
        "kernel ",
        "schedule ",
        "k6_loss",
        "in the kernel of another launch",
        "edges in flight",
        "edges-of-rows: Edges of a row by a group of lanes",
    ]);
    let arguments = of_gpu().arguments(&["explain", "--format", "json"]);
    let lines = sandbox.warploom(&arguments).expect(0).lines();
    let plan = lines.iter().find(|line| line["choice"] == "plan").expect("the plan is told");
    let kernels = plan["kernels"].as_array().expect("it has kernels");
    assert!(kernels.iter().any(|kernel| kernel["schedules"][0] == "edges-of-rows"));
    assert!(kernels.iter().all(|kernel| kernel["bytes"].as_u64().is_some_and(|bytes| bytes > 0)));
}

/// What is damaged and not noticed by its digest is found by a check, which names the file; no
/// damage is a panic.
#[test]
fn damaged_tables_of_kernels_are_named() {
    let sandbox = Sandbox::stand_in();
    plan(&sandbox, &of_gpu());
    sandbox.stage("plan", &of_gpu(), &["check"]).expect(0);
    for name in FILES {
        let path = file(&sandbox, name);
        let (sound, page) = (fs::read(&path).unwrap(), path.with_file_name("manifest.json"));
        let manifest = fs::read(&page).unwrap();
        // Cut short, with a digest that fits.
        forge(&path, &sound[..sound.len() / 2]);
        let output = sandbox.stage("plan", &of_gpu(), &["check"]);
        assert!([1, 3].contains(&output.code.unwrap_or(255)), "{output:?}");
        output.says(&[name]);
        for at in (0..sound.len()).step_by(sound.len() / 40 + 1) {
            let mut other = sound.clone();
            other[at] ^= 0x10;
            forge(&path, &other);
            let output = sandbox.stage("plan", &of_gpu(), &["check"]);
            // Some bytes of an Arrow file are padding.
            assert!([0, 1, 3].contains(&output.code.unwrap_or(255)), "{at}: {output:?}");
            if output.code != Some(0) {
                output.says(&[name]);
            }
        }
        replace(&path, &sound);
        replace(&page, &manifest);
    }
    sandbox.stage("plan", &of_gpu(), &["check"]).expect(0);
}
