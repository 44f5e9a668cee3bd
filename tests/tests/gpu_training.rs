//! Proves that whole trainings on a GPU, epochs as captured graphs with dropout and measurements in
//! a ring, are those of the CPU: on the emulated GPU of `tests/emulator`, which runs what is
//! emitted where there is none.
use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use warploom_test_support::emulator::emulate;
use warploom_test_support::process::start;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

use crate::training_settings::people;

/// A run's record, on the CPU or on the emulated GPU; none where that cannot be built.
fn record(sandbox: &Sandbox, recipe: &Recipe, device: &str, test: &str) -> Option<Value> {
    let arguments = recipe.arguments(&["pipeline", "--device", device, "--format", "json"]);
    let mut command = sandbox.command("warploom", &arguments);
    if device != "cpu" && !emulate(&mut command, test) {
        return None;
    }
    let output = start(command).wait().expect(0);
    let line = output
        .lines()
        .into_iter()
        .rfind(|line| line["stage"] == "run")
        .expect("the last stage is told");
    Some(
        serde_json::from_slice(&fs::read(folder(&line, "run").join("record.json")).unwrap())
            .unwrap(),
    )
}

fn measures(record: &Value) -> BTreeMap<String, f64> {
    let of = record["metrics"].as_object().expect("a record has measures");
    of.iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
}

/// Epochs in 64 bits, and how far they may be apart: the first two one by one, then sixteen as one
/// graph, then the others.
const EXACT: (&[&str], f64) = (&["run.epochs=20", "run.dtype=f64"], 1e-8);
/// Few of them.
const FEW: (&[&str], f64) = (&["run.epochs=5", "run.dtype=f64"], 1e-8);

/// Both trainings end with the same measures, as far as sums in another order allow.
fn agree(test: &str, (programs, dataset): (&[&str], &str), (settings, apart): (&[&str], f64)) {
    for program in programs {
        let recipe = settings
            .iter()
            .fold(Recipe::of(program, dataset), |recipe, setting| recipe.set(setting));
        both(test, (&Sandbox::stand_in(), &recipe), apart);
    }
}

/// The measures that both end with; none where there is no emulated GPU.
fn both(
    test: &str,
    (sandbox, recipe): (&Sandbox, &Recipe),
    apart: f64,
) -> Option<BTreeMap<String, f64>> {
    let gpu = record(sandbox, recipe, "cuda", test)?;
    let cpu = record(sandbox, recipe, "cpu", test).expect("a CPU is here");
    assert!(is_gpus(&gpu), "{}", gpu["device"]);
    // What the plan said of the device's memory is what the run took of it.
    let bytes = |name: &str| gpu[name].as_f64().expect("a record tells bytes");
    assert!(
        (bytes("bytes_predicted") / bytes("bytes_peak") - 1.0).abs() <= 0.02,
        "{} and {}",
        gpu["bytes_predicted"],
        gpu["bytes_peak"]
    );
    // And what its driver says: code and graphs take nothing of an emulated one.
    assert_eq!(bytes("bytes_driver"), bytes("bytes_peak"));
    let (cpu, gpu) = (measures(&cpu), measures(&gpu));
    assert!(cpu.contains_key("loss") && cpu.len() == gpu.len(), "{cpu:?} and {gpu:?}");
    for (name, wanted) in &cpu {
        let found = gpu[name];
        assert!(
            (found - wanted).abs() <= apart * wanted.abs().max(1.0),
            "`{name}` is {found} on the GPU and {wanted} on the CPU"
        );
    }
    Some(gpu)
}

fn is_gpus(record: &Value) -> bool {
    record["device"]["name"].as_str().is_some_and(|name| name.contains("h200"))
}

/// Errors of numbers are added up beside the loss, and an area under a curve is measured at the
/// end: the host looks at no epoch.
#[test]
fn trainings_to_numbers_and_to_two_classes_agree() {
    for (target, measure) in [("height", "train_mae"), ("label", "train_auc")] {
        let recipe = Recipe::of("gcn", "people")
            .set("run.epochs=20")
            .set("run.dtype=f64")
            .set("plan.set.hidden=5")
            .set(&format!("run.target={target}"));
        let Some(measures) = both(
            "gpu_training::trainings_to_numbers_and_to_two_classes_agree",
            (&people(), &recipe),
            1e-8,
        ) else {
            return;
        };
        assert!(measures.contains_key(measure), "{measures:?}");
    }
}

/// What goes by validation rows is decided between epochs that the host does not see: the best
/// parameters, shorter steps, the end.
#[test]
fn what_measurements_decide_is_decided_on_a_gpu() {
    let test = "gpu_training::what_measurements_decide_is_decided_on_a_gpu";
    let plateau = "run.schedule={plateau: {patience: 1, factor: 0.5, least: 0.01}}";
    let cases: [(&str, &[&str]); 5] = [
        ("label", &["run.keep=best", "run.early_stop={patience: 4}"]),
        ("label", &["run.early_stop={patience: 3}", plateau]),
        ("label", &["run.keep=best", "run.metric=f1", plateau]),
        (
            "height",
            &["run.keep=best", "run.early_stop={patience: 2}", "run.optimizer={adam: {lr: 3.0}}"],
        ),
        (
            "height",
            &["run.early_stop={patience: 2}", "run.metric=mae", "run.optimizer={adam: {lr: 3.0}}"],
        ),
    ];
    for (target, settings) in cases {
        let given = [
            "run.epochs=40",
            "run.dtype=f64",
            "plan.set.hidden=5",
            &format!("run.target={target}"),
        ];
        let recipe = given
            .iter()
            .chain(settings)
            .fold(Recipe::of("gcn", "people"), |recipe, setting| recipe.set(setting));
        let sandbox = people();
        let Some(measures) = both(test, (&sandbox, &recipe), 1e-8) else { return };
        let [cpu, gpu] = ["cpu", "cuda"]
            .map(|device| record(&sandbox, &recipe, device, test).expect("it ran just now"));
        for fact in ["epochs", "epoch_kept"] {
            assert_eq!(cpu[fact], gpu[fact], "{fact} of {settings:?}: {measures:?}");
        }
        let ended = gpu["epochs"].as_u64().expect("a record tells epochs");
        assert!(
            ended > 2
                && (ended < 40) == settings.iter().any(|setting| setting.contains("early_stop")),
            "{settings:?} took {ended} epochs"
        );
    }
}

/// The host sees a loss that is not finite epochs later; what it says of it is what there was then.
#[test]
fn a_loss_that_is_not_finite_is_told_as_on_a_cpu() {
    let recipe = Recipe::of("gcn", "karate")
        .set("run.epochs=40")
        .set("plan.set.drop=0.0")
        .set("run.optimizer={sgd: {lr: 3.0e5}}");
    let sandbox = Sandbox::stand_in();
    let said = ["cpu", "cuda"].map(|device| {
        let mut command =
            sandbox.command("warploom", &recipe.arguments(&["pipeline", "--device", device]));
        let is_there = device == "cpu"
            || emulate(&mut command, "gpu_training::a_loss_that_is_not_finite_is_told_as_on_a_cpu");
        is_there.then(|| start(command).wait().expect(1).stderr)
    });
    let [Some(cpu), Some(gpu)] = said else { return };
    let epoch = |said: &str| {
        said.lines()
            .find(|line| line.starts_with("error"))
            .map(|line| line.split("; ").next().unwrap_or_default().to_owned())
    };
    assert!(
        epoch(&cpu).is_some_and(|told| told.contains("the loss is")) && epoch(&cpu) == epoch(&gpu),
        "{cpu}\n{gpu}"
    );
    assert_eq!(
        cpu.contains("is not finite after"),
        gpu.contains("is not finite after"),
        "{cpu}\n{gpu}"
    );
}

#[test]
fn auto_is_a_gpu_for_what_has_kernels_there() {
    let sandbox = Sandbox::stand_in();
    let taken = |recipe: &Recipe| {
        record(&sandbox, recipe, "auto", "gpu_training::auto_is_a_gpu_for_what_has_kernels_there")
            .map(|record| is_gpus(&record))
    };
    let Some(of_training) = taken(&Recipe::of("gcn", "karate").set("run.epochs=1")) else { return };
    assert!(of_training);
    assert_eq!(taken(&Recipe::of("pagerank", "karate")), Some(true));
    assert_eq!(taken(&Recipe::of("triangles", "karate")), Some(true));
    assert_eq!(
        taken(&Recipe::of("gcn", "karate").set("run.epochs=1").set("run.dtype=bf16")),
        Some(false)
    );
}

#[test]
fn trainings_of_vertices_agree() {
    agree("gpu_training::trainings_of_vertices_agree", (&["gcn", "sage", "gin"], "karate"), EXACT);
}

#[test]
fn trainings_of_edges_agree() {
    agree(
        "gpu_training::trainings_of_edges_agree",
        (&["gat", "gatv2", "graph_transformer"], "karate"),
        FEW,
    );
}

/// Rows of cora are few and have 1,433 columns: the warps of a block share them, on tensor cores.
#[test]
fn products_of_few_long_rows_agree() {
    agree(
        "gpu_training::products_of_few_long_rows_agree",
        (&["gcn"], "cora"),
        (&["run.epochs=3", "plan.set.drop=0.0"], 1e-5),
    );
}

/// Rows that only their sum asks for lie nowhere on a GPU: the plan's memory is without them, a
/// training is the same, and the plan proves.
#[test]
fn what_no_kernel_puts_down_has_no_place() {
    let test = "gpu_training::what_no_kernel_puts_down_has_no_place";
    // Two classes: the slope of the layer between is a narrow product, whose sum is the gradient of
    // a bias.
    let (sandbox, recipe) = (
        people(),
        ["plan.set.drop=0.0", "plan.set.drop_shares=0.0", "run.epochs=20"]
            .iter()
            .fold(Recipe::of("gat", "people"), |recipe, setting| recipe.set(setting)),
    );
    if both(test, (&sandbox, &recipe), 1e-4).is_none() {
        return;
    }
    let pages = sandbox.view().of_kind("plan").into_iter().map(|plan| {
        serde_json::from_slice::<Value>(&fs::read(plan.path.join("plan.json")).unwrap()).unwrap()
    });
    let arena = |page: &Value, what: &str| page["launches"]["arena"][what].clone();
    let (gpu, cpu): (Vec<Value>, Vec<Value>) = pages.partition(is_gpus);
    let nowhere = arena(&gpu[0], "nowhere");
    let names = nowhere.as_array().expect("a plan for a GPU has what lies nowhere");
    let places = arena(&gpu[0], "places");
    assert!(
        !names.is_empty()
            && names.iter().all(|name| places
                .as_array()
                .unwrap()
                .iter()
                .all(|place| place["buffer"] != *name)),
        "{names:?}"
    );
    assert!(arena(&cpu[0], "nowhere").is_null(), "{}", arena(&cpu[0], "nowhere"));
    let mut check = sandbox.command("warploom", &recipe.arguments(&["check", "--device", "cuda"]));
    emulate(&mut check, test);
    start(check).wait().expect(0);
}
