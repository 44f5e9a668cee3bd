//! Proves that whole trainings on a GPU, epochs as captured graphs with dropout and measurements in a ring, are those of the CPU: on the
//! emulated GPU of `tests/emulator`, which runs what is emitted where there is none.
use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use warploom_cases::emulator::emulate;
use warploom_tests::{Recipe, Scene, folder, start};

/// A run's record, on the CPU or on the emulated GPU; none where that cannot be built.
fn record(scene: &Scene, recipe: &Recipe, device: &str, test: &str) -> Option<Value> {
    let arguments = recipe.arguments(&["pipeline", "--device", device, "--format", "json"]);
    let mut command = scene.command("warploom", &arguments);
    if device == "cuda" && !emulate(&mut command, test) {
        return None;
    }
    let output = start(command).wait().expect(0);
    let line = output.lines().into_iter().rfind(|line| line["stage"] == "run").expect("the last stage is told");
    Some(serde_json::from_slice(&fs::read(folder(&line, "run").join("record.json")).unwrap()).unwrap())
}

fn measures(record: &Value) -> BTreeMap<String, f64> {
    let of = record["metrics"].as_object().expect("a record has measures");
    of.iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
}

/// Epochs in 64 bits, and how far they may be apart.
const EXACT: (&[&str], f64) = (&["run.epochs=7", "run.dtype=f64"], 1e-8);

/// Both trainings end with the same measures, as far as sums in another order allow.
fn agree(test: &str, (programs, dataset): (&[&str], &str), (settings, apart): (&[&str], f64)) {
    for program in programs {
        let scene = Scene::stand_in();
        let recipe = settings.iter().fold(Recipe::of(program, dataset), |recipe, setting| recipe.set(setting));
        let Some(gpu) = record(&scene, &recipe, "cuda", test) else { return };
        let cpu = record(&scene, &recipe, "cpu", test).expect("a CPU is here");
        assert_eq!(gpu["device"]["name"].as_str().map(|name| name.contains("h200")), Some(true), "{}", gpu["device"]);
        // What the plan said of the device's memory is what the run took of it.
        let bytes = |name: &str| gpu[name].as_f64().expect("a record tells bytes");
        assert!((bytes("bytes_predicted") / bytes("bytes_peak") - 1.0).abs() <= 0.02, "{program}: {} and {}", gpu["bytes_predicted"], gpu["bytes_peak"]);
        let (cpu, gpu) = (measures(&cpu), measures(&gpu));
        assert!(cpu.contains_key("loss") && cpu.len() == gpu.len(), "{program}: {cpu:?} and {gpu:?}");
        for (name, wanted) in &cpu {
            let found = gpu[name];
            assert!((found - wanted).abs() <= apart * wanted.abs().max(1.0), "{program}: `{name}` is {found} on the GPU and {wanted} on the CPU");
        }
    }
}

#[test]
fn trainings_of_vertices_agree() {
    agree("emulated::trainings_of_vertices_agree", (&["gcn", "sage", "gin"], "karate"), EXACT);
}

#[test]
fn trainings_of_edges_agree() {
    agree("emulated::trainings_of_edges_agree", (&["gat", "gatv2", "graph_transformer"], "karate"), EXACT);
}

/// Rows of cora are few and have 1,433 columns: the warps of a block share them, on tensor cores.
#[test]
fn products_of_few_long_rows_agree() {
    agree("emulated::products_of_few_long_rows_agree", (&["gcn"], "cora"), (&["run.epochs=3", "plan.set.drop=0.0"], 1e-5));
}
