//! Proves how a run ends where its GPU fails, is full, hidden or of another kind, and that the same
//! command then ends with the same bits: on the emulated GPU of `tests/emulator`, whose calls and
//! kernels fail as asked. Batch scripts start again what ends with 4, and nothing else of this.
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use warploom_test_support::emulator::emulate;
use warploom_test_support::process::{Output, Running, start};
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

/// A variable and its value.
type Variable<'a> = (&'a str, &'a str);

/// No compiler is found.
const NO_NVRTC: Variable = ("WARPLOOM_NVRTC", "/nowhere");

/// Digests of all but compiled kernels: what the emulator's compiler writes depends on where it
/// worked.
fn digests(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let mut digests = sandbox.view().digests();
    digests.retain(|name, _| !name.starts_with("cubin/"));
    digests
}

fn training() -> Recipe {
    Recipe::of("gcn", "karate")
        .set("run.epochs=40")
        .set("plan.set.hidden=4")
        .set("run.checkpoint.every_epochs=5")
}

/// `warploom pipeline` on the emulated GPU; none where that cannot be built.
fn command(
    sandbox: &Sandbox,
    recipe: &Recipe,
    device: &str,
    variables: &[Variable],
) -> Option<Command> {
    let actions = ["pipeline", "--device", device, "--format", "json", "--real=no"];
    let mut command = sandbox.command("warploom", &recipe.arguments(&actions));
    if !emulate(&mut command, "gpu_faults") {
        return None;
    }
    command.envs(variables.iter().copied());
    Some(command)
}

fn run(sandbox: &Sandbox, recipe: &Recipe, variables: &[Variable]) -> Option<Output> {
    command(sandbox, recipe, "cuda", variables).map(|command| start(command).wait())
}

/// The error of the stage that failed, in JSON.
fn error(output: &Output) -> Value {
    let failed = output.lines().into_iter().find(|line| line["status"] == "failed");
    failed.unwrap_or_else(|| panic!("no stage failed: {output}"))["error"].clone()
}

/// Expects words in what an error says and in its hint.
#[track_caller]
fn says(output: &Output, what: &[&str], hint: &[&str]) {
    let error = error(output);
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    for word in what {
        assert!(text("what").contains(word), "`{word}` is not in {error}");
    }
    for word in hint {
        assert!(text("hint").contains(word), "`{word}` is not in the hint of {error}");
    }
}

/// The record of a start that ended well.
#[track_caller]
fn record(output: Output) -> Value {
    let lines = output.expect(0).lines();
    let line = lines.iter().rfind(|line| line["stage"] == "run").expect("a run is told");
    serde_json::from_slice(&fs::read(folder(line, "run").join("record.json")).unwrap()).unwrap()
}

/// A store with an undisturbed training, and how many kernels that ran.
fn undisturbed(sandbox: &Sandbox) -> Option<(Sandbox, u64)> {
    let (whole, counts) = (sandbox.with_store("whole"), sandbox.path("kernels"));
    run(&whole, &training(), &[("EMULATOR_COUNT", counts.to_str().unwrap())])?.expect(0);
    let kernels = fs::read_to_string(counts).unwrap().trim().parse().unwrap();
    assert!(kernels > 100, "{kernels}");
    Some((whole, kernels))
}

#[test]
fn a_device_that_is_lost_in_a_training_leaves_a_checkpoint_to_go_on_from() {
    let sandbox = Sandbox::stand_in();
    let Some((whole, kernels)) = undisturbed(&sandbox) else { return };
    let names = [
        (214, "CUDA_ERROR_ECC_UNCORRECTABLE"),
        (719, "CUDA_ERROR_LAUNCH_FAILED"),
        (999, "CUDA_ERROR_UNKNOWN"),
    ];
    for (number, name) in names {
        let lost = sandbox.with_store(format!("lost-{number}"));
        // Twice, late and later: the second loss comes to a start that had resumed.
        for part in [5, 3] {
            let fault = format!("kernel:{number}:{}", kernels * part / 8);
            let output = run(&lost, &training(), &[("EMULATOR_FAULT", &fault)]).unwrap().expect(4);
            says(&output, &[name], &["goes on from the last checkpoint", "Xid"]);
            assert_eq!(error(&output)["kind"], "transient");
            assert_eq!(lost.view().flaws(), [""; 0], "what is saved is whole");
            assert!(output.stderr.contains("saved up to epoch"), "{output}");
        }
        let record = record(run(&lost, &training(), &[]).unwrap());
        assert!(record["resumed_at"].as_u64() >= Some(15), "{record}");
        assert_eq!(digests(&lost), digests(&whole), "{name}");
    }
}

#[test]
fn a_wrong_address_is_a_defect_and_not_worth_another_start() {
    let sandbox = Sandbox::stand_in();
    for (number, name) in
        [(700, "CUDA_ERROR_ILLEGAL_ADDRESS"), (716, "CUDA_ERROR_MISALIGNED_ADDRESS")]
    {
        let fault = format!("kernel:{number}:60");
        let Some(output) = run(&sandbox, &training(), &[("EMULATOR_FAULT", &fault)]) else {
            return;
        };
        says(&output.expect(255), &[name, "after the launch of"], &["compute-sanitizer"]);
    }
}

#[test]
fn a_device_that_is_not_ready_may_be_later() {
    let sandbox = Sandbox::stand_in();
    for (fault, name) in [
        ("cuInit:802", "CUDA_ERROR_SYSTEM_NOT_READY"),
        ("cuInit:999", "CUDA_ERROR_UNKNOWN"),
        ("cuInit:3", "CUDA_ERROR_NOT_INITIALIZED"),
        ("cuDevicePrimaryCtxRetain:46", "CUDA_ERROR_DEVICE_UNAVAILABLE"),
    ] {
        let Some(output) = run(&sandbox, &training(), &[("EMULATOR_FAULT", fault)]) else {
            return;
        };
        says(&output.expect(4), &[name], &["same command"]);
    }
    // `auto` takes the CPU at a desk; a batch job that lost its GPU is started again.
    let auto = |variables: &[Variable]| {
        let command = command(&sandbox, &Recipe::small(), "auto", variables).unwrap();
        start(command).wait()
    };
    let fault = ("EMULATOR_FAULT", "cuInit:999");
    auto(&[fault]).expect(0);
    auto(&[fault, ("SLURM_JOB_ID", "1")]).expect(4);
}

#[test]
fn memory_that_others_hold_may_be_free_later() {
    let sandbox = Sandbox::stand_in();
    let Some(output) = run(&sandbox, &training(), &[("EMULATOR_MEMORY", "20000")]) else { return };
    says(&output.expect(4), &["are free"], &["wait until other processes free"]);
    // Nobody holds much: it never fits.
    let full = [("EMULATOR_FAULT", "cuMemAlloc_v2:2")];
    says(&run(&sandbox, &training(), &full).unwrap().expect(1), &["are free"], &["--device cpu"]);
    run(&sandbox, &training(), &[]).unwrap().expect(0);
}

#[test]
fn kept_kernels_need_no_compiler() {
    let sandbox = Sandbox::stand_in();
    // Nothing is kept: said before the first stage.
    let Some(output) = run(&sandbox, &training(), &[NO_NVRTC]) else { return };
    says(&output.expect(1), &["no NVRTC"], &["pip install nvidia-cuda-nvrtc"]);
    assert!(sandbox.view().artifacts().is_empty());
    run(&sandbox, &training(), &[]).unwrap().expect(0);
    // Other kernels are kept: said by the run.
    let other = Recipe::of("sage", "karate").set("run.epochs=3");
    let output = run(&sandbox, &other, &[NO_NVRTC]).unwrap().expect(1);
    says(&output, &["no compiled kernels for this plan"], &["pip install nvidia-cuda-nvrtc"]);
    // The same kernels are kept, and a run with another seed takes them.
    let seed = training().set("run.seed=7");
    let without = sandbox.with_store("without");
    run(&without, &training(), &[]).unwrap().expect(0);
    run(&without, &seed, &[NO_NVRTC]).unwrap().expect(0);
    run(&sandbox, &seed, &[]).unwrap().expect(0);
    let runs = |sandbox: &Sandbox| {
        let mut digests = sandbox.view().digests();
        digests.retain(|name, _| name.starts_with("run"));
        digests
    };
    let (with, without) = (runs(&sandbox), runs(&without));
    assert!(!without.is_empty() && without.iter().all(|(name, bytes)| with[name] == *bytes));
}

#[test]
fn kept_kernels_that_do_not_load_are_compiled_again() {
    let sandbox = Sandbox::stand_in();
    if run(&sandbox, &training(), &[]).is_none() {
        return;
    }
    for (number, seed) in [(209, "run.seed=1"), (200, "run.seed=2"), (222, "run.seed=3")] {
        let fault = format!("cuModuleLoadData:{number}");
        let recipe = training().set(seed);
        let output = run(&sandbox, &recipe, &[("EMULATOR_FAULT", &fault)]).unwrap().expect(0);
        assert!(output.stderr.contains("they are compiled again"), "{output}");
    }
    // Neither kept code nor new code loads.
    let last = training().set("run.seed=4");
    let output = run(&sandbox, &last, &[("EMULATOR_FAULT", "cuModuleLoadData:222:1+")]).unwrap();
    let hint = ["code for sm_90", "its driver speaks CUDA 13.0"];
    says(&output.expect(1), &["CUDA_ERROR_UNSUPPORTED_PTX_VERSION"], &hint);
    let all = [NO_NVRTC, ("EMULATOR_FAULT", "cuModuleLoadData:209:1+")];
    let output = run(&sandbox, &last, &all).unwrap().expect(1);
    says(
        &output,
        &["what is kept does not load", "CUDA_ERROR_NO_BINARY_FOR_GPU"],
        &["pip install"],
    );
    // A device that is lost meanwhile is no reason to compile.
    let lost = run(&sandbox, &last, &[("EMULATOR_FAULT", "cuModuleLoadData:214")]).unwrap();
    says(&lost.expect(4), &["CUDA_ERROR_ECC_UNCORRECTABLE"], &[]);
}

#[test]
fn two_runs_on_one_gpu_are_both_right() {
    let sandbox = Sandbox::stand_in();
    let recipes = [training(), training().set("run.seed=5")];
    let alone = sandbox.with_store("alone");
    for recipe in &recipes {
        let Some(output) = run(&alone, recipe, &[]) else { return };
        output.expect(0);
    }
    let both: Vec<Running> = recipes
        .iter()
        .map(|recipe| start(command(&sandbox, recipe, "cuda", &[]).unwrap()))
        .collect();
    both.into_iter().for_each(|running| drop(running.wait().expect(0)));
    assert_eq!(digests(&sandbox), digests(&alone));
}

#[test]
fn visible_devices_are_named_and_tasks_share_them() {
    let sandbox = Sandbox::stand_in();
    let start_on = |device: &str, visible: &str, further: &[Variable], seed: u32| {
        let two = [("EMULATOR_DEVICES", "2"), ("CUDA_VISIBLE_DEVICES", visible)];
        let recipe = Recipe::small().set(&format!("run.seed={seed}"));
        let command = command(&sandbox, &recipe, device, &[&two, further].concat())?;
        Some(start(command).wait())
    };
    let Some(hidden) = start_on("cuda", "", &[], 0) else { return };
    says(&hidden.expect(1), &["CUDA_VISIBLE_DEVICES is empty"], &["unset CUDA_VISIBLE_DEVICES"]);
    let unknown = start_on("cuda", "GPU-7", &[], 0).unwrap().expect(1);
    says(&unknown, &["CUDA_VISIBLE_DEVICES is `GPU-7`"], &["nvidia-smi -L"]);
    let second = start_on("cuda:1", "1", &[], 0).unwrap().expect(1);
    says(&second, &["no device 1", "CUDA_VISIBLE_DEVICES is `1`"], &["--device cuda:0"]);
    let uuid = |device, visible, further: &[Variable], seed| {
        let record = record(start_on(device, visible, further, seed).unwrap());
        record["device"]["uuid"].as_str().unwrap().chars().last().unwrap()
    };
    let task = [("SLURM_JOB_ID", "1"), ("SLURM_LOCALID", "3")];
    let by_name = "GPU-00000000-0000-0000-0000-000000000001,0";
    assert_eq!(uuid("cuda", "1", &[], 1), '1');
    assert_eq!(uuid("cuda", by_name, &[], 2), '1');
    assert_eq!(uuid("cuda", "0,1", &task, 3), '1', "task 3 of 2 devices");
    assert_eq!(uuid("cuda:0", "0,1", &task, 4), '0', "the name says which");
    assert_eq!(uuid("cuda", "0,1", &task[..1], 5), '0', "no rank is known");
}

#[test]
fn an_unfit_driver_says_what_is_needed_and_found() {
    let sandbox = Sandbox::stand_in();
    let Some(old) = run(&sandbox, &training(), &[("EMULATOR_DRIVER", "11040")]) else { return };
    let words = ["the NVIDIA driver is too old: it speaks CUDA 11.4, expected 12.8 or newer"];
    says(&old.expect(1), &words, &["install the driver"]);
    for (fault, name) in [
        ("cuInit:803", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        ("cuInit:804", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"),
    ] {
        let output = run(&sandbox, &training(), &[("EMULATOR_FAULT", fault)]).unwrap().expect(1);
        says(&output, &[name, "which speaks CUDA 13.0"], &["newer driver"]);
    }
}

#[test]
fn a_training_on_a_gpu_that_was_killed_goes_on_with_the_same_bits() {
    let sandbox = Sandbox::stand_in();
    let Some((whole, _)) = undisturbed(&sandbox) else { return };
    let killed = sandbox.with_store("killed");
    let running = start(command(&killed, &training(), "cuda", &[]).unwrap());
    // As soon as a second state is saved.
    let saved = || {
        let kind = fs::read_dir(killed.store.join("checkpoint-v1")).into_iter().flatten().flatten();
        let steps = kind.filter_map(|entry| fs::read_dir(entry.path()).ok()).flatten().flatten();
        steps.filter(|step| step.file_name().to_string_lossy().starts_with("step-")).count()
    };
    let begun = Instant::now();
    while saved() < 2 && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(1));
    }
    running.signal(Signal::KILL);
    let output = running.wait();
    assert!(output.signal == Some(9) || output.code == Some(0), "{output}");
    let record = record(run(&killed, &training(), &[]).unwrap());
    assert!(output.code == Some(0) || record["resumed_at"].as_u64() >= Some(5), "{record}");
    assert_eq!(digests(&killed), digests(&whole));
    assert_eq!(killed.view().flaws(), [""; 0]);
}
