//! Proves that a full disk, a limit on files and a store that cannot be written end with an error
//! that names them, that nothing half-written gets a final name, that the same command succeeds
//! once there is room, and that a store may lie under any name.
//!
//! Mounts are made in a mount namespace of their own, which ends with the shell that made it.
use std::{collections::BTreeMap, fs, os::unix::ffi::OsStringExt, path::PathBuf, process::Command};

use warploom_test_support::process::{Output, start};
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::skipped;
use warploom_test_support::store_view::StoreView;

/// Runs a script of `sh` in front of a program: `"$@"` is the program with its arguments.
fn behind(sandbox: &Sandbox, script: &str, recipe: &Recipe, further: &[&str]) -> Output {
    let mut program = sandbox.command(
        "warploom",
        &recipe.arguments(&[&["pipeline", "--format", "json"], further].concat()),
    );
    program.env("STORE", &sandbox.store).env("OUT", sandbox.path(""));
    start(wrapped(&program, &["sh", "-c", script, "sh"])).wait()
}

/// A command with others in front of it.
pub fn wrapped(program: &Command, front: &[&str]) -> Command {
    let mut command = Command::new(front[0]);
    command.args(&front[1..]).arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = program.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

/// Whether mounts can be made in a namespace of one's own; says so if not.
fn can_mount(test: &str) -> bool {
    let script = "mkdir -p \"$0/m\" && mount -t tmpfs -o size=64k tmpfs \"$0/m\"";
    let sandbox = Sandbox::stand_in();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).arg(sandbox.path(""));
    let works = command.output().is_ok_and(|output| output.status.success());
    if !works {
        skipped(test, "no mounts here: `unshare -m` and `mount` need root");
    }
    works
}

fn undisturbed(sandbox: &Sandbox, recipe: &Recipe) -> BTreeMap<String, String> {
    let sandbox = sandbox.with_store("undisturbed");
    sandbox.build(recipe);
    sandbox.view().digests()
}

/// What an error about room says.
#[track_caller]
fn is_about_room(output: &Output) {
    let error =
        &output.lines().pop().unwrap_or_else(|| panic!("no JSON line of\n{output}"))["error"];
    assert_eq!(error["kind"], "disk_full", "{output}");
    let said = |words: &str| output.stderr.contains(words);
    let full = said("No space left on device") && said("hint: free some space");
    // However much space there is.
    let limited = said("File too large")
        && said("hint: files may not be larger here")
        && said("ulimit -f")
        && !said("free some space");
    assert!(full || limited, "{output}");
}

#[test]
fn a_full_disk_is_named_and_nothing_half_written_has_a_final_name() {
    if !can_mount("disk::a_full_disk_is_named_and_nothing_half_written_has_a_final_name") {
        return;
    }
    let sandbox = Sandbox::stand_in();
    let digests = undisturbed(&sandbox, &Recipe::small());
    // The store is copied out before the namespace ends; then there is room, and the same command
    // is started again.
    let script = "mkdir -p \"$STORE\" && mount -t tmpfs -o size=$SIZE tmpfs \"$STORE\" || exit 99\n\
        \"$@\"; code=$?\n\
        mkdir -p \"$OUT/full-$SIZE\" && cp -a \"$STORE/.\" \"$OUT/full-$SIZE\" || exit 98\n\
        mount -o remount,size=64m \"$STORE\" && \"$@\" >\"$OUT/again-$SIZE.json\" 2>&1 || exit 97\n\
        mkdir -p \"$OUT/whole-$SIZE\" && cp -a \"$STORE/.\" \"$OUT/whole-$SIZE\" || exit 96\n\
        exit $code";
    let mut failed_at = Vec::new();
    for kibibytes in [8, 20, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176] {
        let size = format!("{kibibytes}k");
        let mut program = sandbox
            .command("warploom", &Recipe::small().arguments(&["pipeline", "--format", "json"]));
        program.env("STORE", &sandbox.store).env("OUT", sandbox.path("")).env("SIZE", &size);
        let output = start(wrapped(&program, &["unshare", "-m", "sh", "-c", script, "sh"])).wait();
        let (full, whole) = (
            StoreView::of(&sandbox.path(&format!("full-{size}"))),
            StoreView::of(&sandbox.path(&format!("whole-{size}"))),
        );
        assert_eq!(full.flaws(), [""; 0], "{size}: {output}");
        assert_eq!(whole.digests(), digests, "{size}");
        if output.code == Some(0) {
            continue;
        }
        let output = output.expect(1);
        is_about_room(&output);
        assert!(
            full.leftovers().is_empty(),
            "{size}: left over on a full disk: {:?}",
            full.leftovers()
        );
        failed_at.push(output.lines().last().unwrap()["stage"].as_str().unwrap().to_owned());
    }
    failed_at.dedup();
    assert!(failed_at.len() >= 3, "the disk was full in {failed_at:?} only");
}

#[test]
fn a_limit_on_files_is_named_and_nothing_half_written_has_a_final_name() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("gcn", "cora").set("run.epochs=2");
    let digests = undisturbed(&sandbox, &recipe);
    let mut failed_at = Vec::new();
    // `ulimit -f` counts blocks of 512 bytes in some shells and of 1024 in others.
    for blocks in [1, 8, 32, 128, 240, 512, 4096] {
        let limited = sandbox.with_store(format!("limited-{blocks}"));
        // A file beyond the limit ends no process: the write fails.
        let output = behind(&limited, &format!("ulimit -f {blocks}; exec \"$@\""), &recipe, &[]);
        assert_eq!(limited.view().flaws(), [""; 0], "{blocks}: {output}");
        let output = output.expect(1);
        is_about_room(&output);
        assert!(
            limited.view().leftovers().is_empty(),
            "{blocks}: left over {:?}",
            limited.view().leftovers()
        );
        failed_at.push(output.lines().last().unwrap()["stage"].as_str().unwrap().to_owned());
        limited.build(&recipe);
        assert_eq!(limited.view().digests(), digests, "{blocks}");
    }
    assert!(failed_at.contains(&"ingest".to_owned()), "{failed_at:?}");
}

/// Runs a program while the store cannot be written.
fn read_only(sandbox: &Sandbox, program: &Command) -> Output {
    let script =
        "mount --bind \"$STORE\" \"$STORE\" && mount -o remount,ro,bind \"$STORE\" && exec \"$@\"";
    let mut command = wrapped(program, &["unshare", "-m", "sh", "-c", script, "sh"]);
    command.env("STORE", &sandbox.store);
    start(command).wait()
}

#[test]
fn a_store_that_cannot_be_written_serves_hits_and_refuses_the_rest() {
    if !can_mount("disk::a_store_that_cannot_be_written_serves_hits_and_refuses_the_rest") {
        return;
    }
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let before = sandbox.view().snapshot();
    let with = |recipe: &Recipe, further: &[&str]| {
        read_only(
            &sandbox,
            &sandbox
                .command("warploom", &recipe.arguments(&[further, &["--format", "json"]].concat())),
        )
    };
    let hits = with(&Recipe::small(), &["pipeline"]).expect(0).stages();
    assert_eq!(crate::pipeline::each(&hits, "status"), ["hit"; crate::pipeline::STAGES.len()]);
    with(&Recipe::small(), &["pipeline", "--verify"]).expect(0);
    with(&Recipe::small(), &["check"]).expect(0);
    with(&Recipe::small(), &["explain"]).expect(0);
    with(&Recipe::small().set("run.seed=7"), &["pipeline"]).expect(1).says(&[
        "Read-only file system",
        "hint:",
        "--store DIR",
    ]);
    with(&Recipe::small().set("ingest.seed=7"), &["pipeline"])
        .expect(1)
        .says(&["Read-only file system"]);
    for arguments in [&["store", "gc"][..], &["store", "gc", "--keep", "0B", "--runs"]] {
        read_only(&sandbox, &sandbox.command("warploom", arguments))
            .expect(1)
            .says(&["Read-only file system"]);
    }
    read_only(&sandbox, &sandbox.command("warploom", &["store", "verify"])).expect(0);
    read_only(&sandbox, &sandbox.command("warploom", &["store", "ls"]))
        .expect(0)
        .prints(&["9 artifacts"]);
    assert!(before == sandbox.view().snapshot());
}

#[test]
fn a_store_whose_folder_belongs_to_somebody_else_is_an_error_with_a_hint() {
    let sandbox = Sandbox::stand_in();
    let file = sandbox.write("a file", "");
    let under = sandbox.with_store(file.join("store"));
    under.front("pipeline", &Recipe::small(), &[]).expect(1).says(&["error:", "a file/store"]);
}

#[test]
fn stores_data_and_pipelines_may_have_any_name() {
    let sandbox = Sandbox::stand_in();
    let digests = undisturbed(&sandbox, &Recipe::small());
    let mut odd = sandbox.with_store("a store with 'quotes' and spaces, ümläute and 図 日本");
    let data = sandbox.path("raw däta");
    fs::rename(&sandbox.data, &data).unwrap();
    odd.data = data;
    let program = fs::read(repository().join("pipelines/programs/gcn.py")).unwrap();
    odd.write("my pipelines/prög/gcn.py", program);
    let text =
        fs::read_to_string(Recipe::small().file).unwrap().replace("programs/gcn.py", "prög/gcn.py");
    let recipe =
        Recipe { file: odd.write("my pipelines/ä b.yaml", text), sets: Recipe::small().sets };
    let lines = odd.build(&recipe);
    assert!(lines[0]["artifacts"][0]["path"].as_str().unwrap().contains("ümläute and 図 日本"));
    assert_eq!(odd.view().digests(), digests);
    odd.front("check", &recipe, &[]).expect(0);
    odd.warploom(&["store", "verify"]).expect(0);
    odd.warploom(&["store", "gc"]).expect(0);
    // The hint of a damaged artifact can still be pasted.
    let plan = odd.view().of_kind("plan").remove(0).path;
    fs::write(plan.join("plan.json"), "").unwrap();
    let said = odd.front("pipeline", &recipe, &[]).expect(1).stderr;
    let hint = said
        .lines()
        .find_map(|line| line.split_once("rm -r "))
        .map(|(_, rest)| format!("rm -r {rest}"))
        .unwrap();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(hint);
    start(shell).wait().expect(0);
    assert!(!plan.exists());
}

#[test]
fn data_that_cannot_be_written_to_stdout_are_an_error_and_a_reader_that_went_away_is_none() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    for arguments in [
        Recipe::small().arguments(&["pipeline", "--format", "json"]),
        vec!["schema".into()],
        vec!["store".into(), "ls".into()],
    ] {
        let program = sandbox.command("warploom", &arguments);
        start(wrapped(&program, &["sh", "-c", "exec \"$@\" >/dev/full", "sh"]))
            .wait()
            .expect(1)
            .says(&["No space left on device", "redirect stdout to a place that has room"]);
        start(wrapped(&program, &["sh", "-c", "{ \"$@\"; echo $? >&2; } | true", "sh"]))
            .wait()
            .expect(0)
            .says(&["0\n"]);
    }
}

#[test]
fn a_name_that_is_not_utf_8_is_no_defect() {
    let sandbox = Sandbox::stand_in();
    let name = std::ffi::OsString::from_vec(b"st\xffre".to_vec());
    let odd = sandbox.with_store(PathBuf::from(name));
    for format in ["human", "json"] {
        let output = odd.warploom(&Recipe::small().arguments(&["pipeline", "--format", format]));
        assert!(matches!(output.code, Some(0..=2)), "{output}");
        assert!(!output.stderr.contains("defect"), "{output}");
    }
}
