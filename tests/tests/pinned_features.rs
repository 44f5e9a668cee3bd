//! Proves that features which stay in pinned memory of the host change no bit of a training on a
//! GPU, that the plan says what they cost, and that what does not fit is refused with what would:
//! on the emulated GPU of `tests/emulator`, which counts the two memories apart.
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use warploom_test_support::emulator::emulate;
use warploom_test_support::process::{Output, start};
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

const TEST: &str = "pinned_features::*";

/// A training with so many epochs that some are graphs of launches, on 34 nodes with 16 dense
/// features each.
fn trained(program: &str, features: &str) -> Recipe {
    Recipe::of(program, "karate").set("run.epochs=20").set(&format!("plan.features={features}"))
}

/// `warploom ACTION` on the emulated GPU, with variables of its own; none where that cannot be
/// built.
fn front(
    sandbox: &Sandbox,
    (action, recipe): (&str, &Recipe),
    further: &[&str],
    variables: &[(&str, &str)],
) -> Option<Output> {
    let mut command =
        sandbox.command("warploom", &recipe.arguments(&[&[action], further].concat()));
    command.envs(variables.iter().copied());
    emulate(&mut command, TEST).then(|| start(command).wait())
}

/// What a pipeline made.
struct Made {
    run: PathBuf,
    record: Value,
    plan: Value,
    advice: Value,
}

fn made(sandbox: &Sandbox, recipe: &Recipe, device: &str) -> Option<Made> {
    let output =
        front(sandbox, ("pipeline", recipe), &["--device", device, "--format", "json"], &[])?
            .expect(0);
    let page = |kind: &str, file: &str| {
        let line = output
            .lines()
            .into_iter()
            .rfind(|line| line["stage"] == kind)
            .expect("the stage is told");
        let at = folder(&line, kind);
        let page: Value = serde_json::from_slice(&fs::read(at.join(file)).unwrap()).unwrap();
        (at, page)
    };
    let (run, record) = page("run", "record.json");
    Some(Made {
        run,
        record,
        plan: page("plan", "plan.json").1,
        advice: page("plan", "advice.json").1,
    })
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("expected a whole number, found {value}"))
}

/// A facts file of the emulated GPU with this much memory.
fn device_with(sandbox: &Sandbox, plan: &Value, bytes: u64) -> String {
    let mut facts = plan["device"].clone();
    facts["memory_bytes"] = bytes.into();
    sandbox.write("small.yaml", facts.to_string()).display().to_string()
}

fn bytes_of(made: &Made) -> Vec<Vec<u8>> {
    ["parameters.safetensors", "predictions.parquet"]
        .map(|file| fs::read(made.run.join(file)).unwrap())
        .into()
}

/// Both places give the same bits; the device has as much less as the host has more, and both as
/// foreseen.
#[track_caller]
fn same_bits(sandbox: &Sandbox, recipe: impl Fn(&str) -> Recipe) -> Option<Made> {
    let [device, host] =
        [made(sandbox, &recipe("device"), "cuda")?, made(sandbox, &recipe("host"), "cuda")?];
    assert_ne!(device.run, host.run, "each was computed");
    assert_eq!(bytes_of(&device), bytes_of(&host));
    assert_eq!(device.record["metrics"], host.record["metrics"]);
    assert!(device.plan.get("host").is_none() && device.record.get("bytes_pinned").is_none());
    let pinned = number(&host.plan["host"]["bytes"]);
    assert!(pinned > 0 && number(&host.record["bytes_pinned"]) == pinned, "{}", host.record);
    for record in [&device.record, &host.record] {
        let [predicted, peak] =
            ["bytes_predicted", "bytes_peak"].map(|name| number(&record[name]) as f64);
        assert!((predicted / peak - 1.0).abs() <= 0.02, "{predicted} and {peak}");
    }
    assert_eq!(number(&device.record["bytes_peak"]) - number(&host.record["bytes_peak"]), pinned);
    Some(host)
}

#[test]
fn trainings_end_with_the_same_bits_wherever_features_lie() {
    for program in ["gcn", "sage", "gin", "gat"] {
        let sandbox = Sandbox::stand_in();
        let Some(host) = same_bits(&sandbox, |features| trained(program, features)) else { return };
        assert_eq!(host.plan["host"]["buffers"], serde_json::json!(["x"]));
        assert!(
            number(&host.advice["over_bus"]["bytes_step"])
                + number(&host.advice["over_bus"]["bytes_once"])
                >= 34 * 16 * 4,
            "{}",
            host.advice["over_bus"]
        );
        // The plan is made again from its inputs, and the results from the edges.
        front(&sandbox, ("check", &trained(program, "host")), &["--device", "cuda"], &[])
            .unwrap()
            .expect(0);
    }
}

/// Features that no epoch reads have a place in the arena of a device, over which epochs put what
/// they make, and none where they stay on the host.
#[test]
fn features_that_are_summed_once_give_their_place_up() {
    let sandbox = Sandbox::stand_in();
    let recipe = |features: &str| trained("gcn", features).set("plan.set.drop=0.0");
    let Some(device) = made(&sandbox, &recipe("device"), "cuda") else { return };
    let host = made(&sandbox, &recipe("host"), "cuda").unwrap();
    let place = |made: &Made| {
        let places = made.plan["launches"]["arena"]["places"].as_array().unwrap();
        places
            .iter()
            .find(|place| place["buffer"] == "x")
            .map(|place| (number(&place["offset"]), number(&place["bytes"])))
    };
    let (start, bytes) = place(&device).expect("features lie in the arena");
    assert_eq!(place(&host), None);
    let places = device.plan["launches"]["arena"]["places"].as_array().unwrap();
    let over = places.iter().filter(|place| {
        place["buffer"] != "x"
            && number(&place["offset"]) < start + bytes
            && number(&place["offset"]) + number(&place["bytes"]) > start
    });
    assert!(over.count() > 0, "nothing was put where features were");
    assert_eq!(host.plan["host"]["buffers"], serde_json::json!(["x"]));
    assert_eq!(number(&host.advice["over_bus"]["bytes_step"]), 0, "they are read once");
    assert_eq!(bytes_of(&device), bytes_of(&host));
    for features in ["device", "host"] {
        front(&sandbox, ("check", &recipe(features)), &["--device", "cuda"], &[])
            .unwrap()
            .expect(0);
    }
}

/// Rows of 1,433 columns lie 1,440 apart: at lines of the cache.
#[test]
fn rows_lie_at_the_same_strides_on_the_host() {
    let recipe = |features: &str| {
        Recipe::of("gcn", "cora")
            .set("run.epochs=2")
            .set("plan.set.hidden=8")
            .set(&format!("plan.features={features}"))
    };
    let Some(host) = same_bits(&Sandbox::stand_in(), recipe) else { return };
    let rows = 2708 * 1440 * 4;
    assert_eq!(number(&host.plan["host"]["bytes"]), u64::next_multiple_of(rows, 256));
    // Measured and drawn, each reads them; the gradient reads what was left of them, which lies on
    // the device.
    assert_eq!(number(&host.advice["over_bus"]["bytes_step"]), 2 * rows);
}

/// A device that has a byte too little keeps features on the host by itself, and says so.
#[test]
fn auto_leaves_on_the_host_what_does_not_fit() {
    let sandbox = Sandbox::stand_in();
    let Some(device) = made(&sandbox, &trained("gcn", "auto"), "cuda") else { return };
    assert!(device.plan.get("host").is_none() && device.record.get("bytes_pinned").is_none());
    let needed = number(&device.record["bytes_peak"]);
    // A row's number in another order is foreseen, whether there is one or not.
    let foreseen = number(&device.advice["memory"]["bytes_peak"]);
    let small = device_with(&sandbox, &device.plan, foreseen - 1);
    let host = made(&sandbox, &trained("gcn", "auto"), &small).unwrap();
    assert_eq!(bytes_of(&device), bytes_of(&host));
    let pinned = number(&host.record["bytes_pinned"]);
    assert_eq!(
        (needed - number(&host.record["bytes_peak"]), number(&host.plan["host"]["bytes"])),
        (pinned, pinned)
    );
    let step = number(&host.advice["over_bus"]["bytes_step"]);
    assert_eq!(
        number(&host.advice["over_bus"]["nanoseconds_step"]),
        (1e9 * step as f64 / 50e9) as u64
    );
    let told = front(&sandbox, ("explain", &trained("gcn", "auto")), &["--device", &small], &[])
        .unwrap()
        .expect(0);
    told.prints(&[
        "features: pinned on the host (with them the run needs ",
        "over the bus in each epoch or pass, which takes ",
        "GB/s",
        "all on the device: ",
    ]);
    let exact = device_with(&sandbox, &device.plan, foreseen);
    assert!(
        made(&sandbox, &trained("gcn", "auto"), &exact).unwrap().plan.get("host").is_none(),
        "what fits stays on the device"
    );
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let sandbox = Sandbox::stand_in();
    let Some(host) = made(&sandbox, &trained("gcn", "host"), "cuda") else { return };
    let fits = number(&host.advice["memory"]["bytes_peak"]);
    let plan = |features: &str, bytes: u64| {
        let small = device_with(&sandbox, &host.plan, bytes);
        front(&sandbox, ("pipeline", &trained("gcn", features)), &["--device", &small], &[])
            .unwrap()
    };
    plan("device", fits).expect(1).says(&["may be used", "--set plan.features=host  which needs "]);
    for features in ["device", "host", "auto"] {
        let refused =
            plan(features, fits - 1).expect(1).says(&["may be used", "a device with more memory"]);
        assert!(
            !refused.stderr.contains("plan.features=host"),
            "it does not fit either:\n{refused}"
        );
    }
}

#[test]
fn a_host_without_pages_to_pin_is_told() {
    let sandbox = Sandbox::stand_in();
    let recipe = trained("gcn", "host");
    let Some(refused) = front(
        &sandbox,
        ("pipeline", &recipe),
        &["--device", "cuda"],
        &[("EMULATOR_PINNED", "1000")],
    ) else {
        return;
    };
    refused.expect(4).says(&[
        "pin 2.2 KiB (2304 bytes) of the host",
        "the host has no pages to pin",
        "hint: ",
        "--set plan.features=device",
    ]);
    // All but the run is there now.
    let refused =
        front(&sandbox, ("pipeline", &recipe), &["--device", "cuda", "--memory", "1000"], &[])
            .unwrap()
            .expect(1);
    refused.says(&[
        "need 2.25 KiB (2304 bytes) of its memory, and 0.98 KiB (1000 bytes) may be used",
        "--memory 2304",
        "--set plan.features=device",
    ]);
    assert!(!Path::new(&sandbox.store).join("run-v1").read_dir().is_ok_and(|mut runs| {
        runs.any(|run| !run.unwrap().file_name().to_string_lossy().starts_with('.'))
    }));
}

/// Sparse features, as those of the real cora, are walked by lists of the device; without features
/// there are none: nothing is left to stay.
#[test]
fn what_is_not_dense_does_not_stay_on_the_host() {
    let none = (Some(Sandbox::stand_in()), Recipe::of("gcn", "karate").set("ingest.features=none"));
    for (sandbox, recipe) in [none, (Sandbox::real(TEST), Recipe::of("gcn", "cora"))] {
        let Some(sandbox) = sandbox else { continue };
        let recipe = recipe.set("run.epochs=1").set("plan.set.hidden=4").set("plan.features=host");
        let Some(made) = made(&sandbox, &recipe, "cuda") else { return };
        assert!(made.plan.get("host").is_none() && made.record.get("bytes_pinned").is_none());
        let told =
            front(&sandbox, ("explain", &recipe), &["--device", "cuda"], &[]).unwrap().expect(0);
        told.prints(&["features: on the device (no features are kept dense"]);
    }
}

/// A CPU reads its own memory: the setting changes nothing there, and its default is in no key.
#[test]
fn a_cpu_has_no_such_choice() {
    let sandbox = Sandbox::stand_in();
    let keys = |recipe: &Recipe| -> Vec<Value> {
        sandbox.build(recipe).iter().map(|line| line["key"].clone()).collect()
    };
    let plain = Recipe::of("gcn", "karate").set("run.epochs=3");
    let by_default = keys(&plain.clone().set("plan.device=cpu"));
    assert_eq!(by_default, keys(&plain.clone().set("plan.device=cpu").set("plan.features=auto")));
    let host = keys(&plain.set("plan.device=cpu").set("plan.features=host"));
    assert_eq!(by_default[..4], host[..4]);
    assert_ne!(by_default[4], host[4]);
    assert_eq!(by_default[5], host[5], "the plans are the same, so the run is");
}
