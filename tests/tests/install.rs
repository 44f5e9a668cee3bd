//! Proves what `make install` writes and `make uninstall` removes, that programs run from there in
//! an empty folder, and that manual pages, completions and recipes have what they promise.
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use tempfile::TempDir;
use warploom_test_support::process::{Output, start};
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::skipped;

use crate::help::FRONT_DOOR;
use crate::pipeline::STAGES;

/// Where an installation keeps the list of its files.
const MANIFEST: &str = "share/warploom/manifest.txt";

/// The folder of the programs under test.
fn binaries() -> PathBuf {
    let command = Sandbox::stand_in().bare("warploom");
    Path::new(command.get_program()).parent().expect("a program is in a folder").to_path_buf()
}

fn programs() -> Vec<String> {
    let stages = STAGES.iter().map(|stage| format!("warploom-{stage}"));
    ["warploom".to_owned()].into_iter().chain(stages).collect()
}

/// `make TARGET` with the programs under test.
fn make(target: &str, prefix: &Path, further: &[&str]) -> Output {
    let mut command = Command::new("make");
    command
        .args(["--no-print-directory", target])
        .arg(format!("BINARIES={}", binaries().display()))
        .arg(format!("PREFIX={}", prefix.display()))
        .args(further)
        .current_dir(repository())
        .env_remove("MAKEFLAGS");
    start(command).wait()
}

/// One installation for all tests that only read it.
static INSTALLED: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    make("install", &folder.path().join("opt"), &[]).expect(0);
    folder
});

fn installed() -> PathBuf {
    INSTALLED.path().join("opt")
}

/// The files below a folder, by their paths from there, with their contents.
fn contents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(root, &path, found),
                false => {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

/// The names of the files of a folder of the repository that end so.
fn names(folder: &str, end: &str) -> Vec<String> {
    let files = fs::read_dir(repository().join(folder)).into_iter().flatten();
    files
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(end))
        .collect()
}

/// The manual pages: file, program, and its arguments before `--help`.
fn pages() -> Vec<(String, String, Vec<&'static str>)> {
    let stages = STAGES
        .iter()
        .map(|stage| (format!("warploom-{stage}.1"), format!("warploom-{stage}"), Vec::new()));
    let front = FRONT_DOOR.iter().filter(|words| !is_hidden(words)).map(|words| {
        let name = ["warploom"].iter().chain(*words).copied().collect::<Vec<_>>().join("-");
        (format!("{name}.1"), "warploom".to_owned(), words.to_vec())
    });
    front.chain(stages).collect()
}

/// Whether the help of `warploom` does not list a sub-command.
fn is_hidden(words: &[&str]) -> bool {
    static HELP: LazyLock<String> = LazyLock::new(|| help("warploom", &[]));
    words.first().is_some_and(|word| !HELP.contains(&format!("\n  {word} ")))
}

fn help(program: &str, words: &[&str]) -> String {
    let sandbox = Sandbox::stand_in();
    let mut command = sandbox.bare(program);
    command.args(words).arg("--help");
    start(command).wait().expect(0).stdout
}

/// The long options that a help describes: the first words of its lines.
fn long_options(help: &str) -> BTreeSet<String> {
    let first = |line: &str| {
        let words = line.trim_start();
        let is_short = words.starts_with('-') && !words.starts_with("--");
        let option = words.split_once(", ").filter(|_| is_short).map_or(words, |both| both.1);
        let end = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '-');
        option.starts_with("--").then(|| option.split(end).next().unwrap().to_owned())
    };
    help.lines().filter(|line| line.starts_with("  ")).filter_map(first).collect()
}

/// The names of the rows of a section of a help.
fn section_names(help: &str, title: &str) -> Vec<String> {
    let rows = help.split(&format!("{title}:\n")).nth(1).expect("the help has the section");
    let names = rows.lines().take_while(|line| line.starts_with("  "));
    names.map(|line| line.trim_start().split("  ").next().unwrap().to_owned()).collect()
}

#[test]
fn an_installation_is_the_expected_tree_and_its_manifest_lists_it() {
    let root = installed();
    let mut expected: BTreeSet<String> = BTreeSet::from([MANIFEST.to_owned()]);
    for program in programs() {
        expected.insert(format!("bin/{program}"));
        expected.insert(format!("share/bash-completion/completions/{program}"));
        expected.insert(format!("share/zsh/site-functions/_{program}"));
        expected.insert(format!("share/fish/vendor_completions.d/{program}.fish"));
    }
    expected.extend(pages().into_iter().map(|(page, ..)| format!("share/man/man1/{page}")));
    for (folder, end, to) in [
        ("pipelines", ".yaml", "share/warploom/pipelines"),
        ("pipelines", ".json", "share/warploom/pipelines"),
        ("pipelines/programs", ".py", "share/warploom/pipelines/programs"),
        ("pipelines/sites", ".yaml", "share/warploom/pipelines/sites"),
        ("data/catalog", ".yaml", "share/warploom/data/catalog"),
        ("docs", ".md", "share/doc/warploom"),
    ] {
        expected.extend(names(folder, end).into_iter().map(|name| format!("{to}/{name}")));
    }
    for name in ["README.md", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"] {
        expected.insert(format!("share/doc/warploom/{name}"));
    }
    let found = contents(&root);
    let files: BTreeSet<String> = found.keys().cloned().collect();
    assert_eq!(
        (files.difference(&expected).collect::<Vec<_>>(), expected.difference(&files).collect()),
        (Vec::new(), Vec::<&String>::new()),
        "what is there and should not be, and what is missing"
    );
    let manifest = String::from_utf8(found[MANIFEST].clone()).unwrap();
    let listed: BTreeSet<String> =
        manifest.lines().filter(|line| !line.ends_with('/')).map(str::to_owned).collect();
    assert_eq!(listed, files);
    let place = root.to_str().unwrap().as_bytes();
    let naming: Vec<&String> = found
        .iter()
        .filter(|(_, bytes)| bytes.windows(place.len()).any(|window| window == place))
        .map(|(name, _)| name)
        .collect();
    assert!(naming.is_empty(), "an installation may be moved; these name its place: {naming:?}");
}

#[test]
fn an_installation_replaces_an_older_one_and_goes_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (prefix, destdir) =
        (Path::new("/apps/warploom"), format!("DESTDIR={}", folder.path().display()));
    let root = folder.path().join("apps/warploom");
    fs::create_dir_all(root.join("share/man")).unwrap();
    fs::write(root.join("share/man/theirs"), "of another package").unwrap();
    make("install", prefix, &[&destdir]).expect(0).prints(&["installed warploom"]);
    let first = contents(&root);

    // A file of an older version, as its manifest lists it.
    let stale = "share/warploom/pipelines/stale.yaml";
    fs::write(root.join(stale), "").unwrap();
    let manifest = fs::read_to_string(root.join(MANIFEST)).unwrap();
    fs::write(root.join(MANIFEST), format!("{manifest}{stale}\n")).unwrap();
    // Another name of the file shows whether it is replaced or written into.
    let kept = folder.path().join("kept");
    fs::write(root.join("bin/warploom"), "of a running job").unwrap();
    fs::hard_link(root.join("bin/warploom"), &kept).unwrap();
    make("install", prefix, &[&destdir]).expect(0);
    assert!(contents(&root) == first, "a second installation gives the same files");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "of a running job");
    fs::remove_file(kept).unwrap();

    make("uninstall", prefix, &[&destdir]).expect(0).prints(&["removed from"]);
    assert_eq!(
        contents(folder.path()).into_keys().collect::<Vec<_>>(),
        ["apps/warploom/share/man/theirs"]
    );
    let left: Vec<_> =
        fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["share"]);
    make("uninstall", prefix, &[&destdir]).expect(2).says(&["is not installed", "hint:"]);
}

#[test]
fn an_installation_of_its_own_folder_is_removed_with_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("warploom");
    make("install", &prefix, &[]).expect(0);
    make("uninstall", &prefix, &[]).expect(0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_installed_is_an_error_that_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script = |arguments: &[&str]| {
        let mut command = Command::new(repository().join("packaging/install.sh"));
        command.args(arguments).current_dir(folder.path());
        start(command).wait().expect(2)
    };
    let programs = binaries();
    let programs = programs.to_str().unwrap();
    script(&[programs, ""]).says(&["no folder to install into", "hint: make install PREFIX="]);
    script(&[programs, "opt"]).says(&["not an absolute path", "hint: make install PREFIX=/"]);
    let nowhere = folder.path().join("opt");
    script(&[".", nowhere.to_str().unwrap()]).says(&["no program ./warploom", "BINARIES=DIR"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    fs::create_dir_all(nowhere.join("share/warploom")).unwrap();
    fs::write(nowhere.join(MANIFEST), "../precious\n").unwrap();
    fs::write(folder.path().join("precious"), "").unwrap();
    make("uninstall", &nowhere, &[]).expect(2).says(&["names files outside of"]);
    assert!(folder.path().join("precious").exists());
}

/// An installed program in the empty folder of a sandbox.
fn installed_program(sandbox: &Sandbox, program: &str, arguments: &[&str]) -> Output {
    let under_test = sandbox.command(program, arguments);
    let mut command = Command::new(installed().join("bin").join(program));
    command.args(under_test.get_args()).current_dir(under_test.get_current_dir().unwrap());
    for (name, value) in under_test.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    start(command).wait()
}

#[test]
fn installed_programs_run_in_an_empty_folder() {
    let sandbox = Sandbox::stand_in();
    let run = |program: &str, arguments: &[&str]| installed_program(&sandbox, program, arguments);
    for program in programs() {
        run(&program, &["--version"]).expect(0).prints(&[&program, env!("CARGO_PKG_VERSION")]);
    }
    // A shipped pipeline by its name, by every command that reads one.
    let small = ["--set", "dataset=karate", "--set", "run.epochs=2"];
    let with = |words: &[&'static str]| [words, &small].concat();
    run("warploom-ingest", &with(&["--pipeline", "gcn"])).expect(0);
    run("warploom", &with(&["pipeline", "gcn"])).expect(0).prints(&["gcn on karate", "run"]);
    run("warploom", &with(&["explain", "gcn"])).expect(0).prints(&["hit"]);
    run("warploom", &with(&["check", "gcn"])).expect(0);
    run("warploom", &["data", "ls"]).expect(0).prints(&["karate", "amazon0505"]);
    run("warploom", &["runs", "--pipeline", "gcn"]).expect(0).prints(&["karate"]);
    // A new program, as the README says.
    run("warploom", &["new", "mine", "--like", "gat"]).expect(0);
    run("warploom", &["check", "mine.py"]).expect(0);
    run("warploom", &with(&["pipeline", "mine.yaml"])).expect(0).prints(&["mine on karate"]);
    // A name that is nearly one of a shipped pipeline, and one of a file here.
    run("warploom", &["pipeline", "gcm"])
        .expect(1)
        .says(&["no shipped pipeline", "did you mean  gcn"]);
    run("warploom", &["pipeline", "mine"]).expect(1).says(&["no such pipeline file", "mine.yaml"]);
}

#[test]
fn a_running_program_keeps_the_one_that_it_was_started_from() {
    let sandbox = Sandbox::stand_in();
    let recipe = Recipe::of("gcn", "karate").set("reorder.method=metis");
    sandbox.stage("ingest", &recipe, &[]).expect(0);
    sandbox.stage("extract", &recipe, &[]).expect(0);
    let program = sandbox.path("bin/warploom-reorder");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::copy(binaries().join("warploom-reorder"), &program).unwrap();

    let options = ["--pipeline", "-", "--set", "dataset=karate", "--set", "reorder.method=metis"];
    let under_test = sandbox.command("warploom-reorder", &options);
    let mut command = Command::new(&program);
    command.args(under_test.get_args()).env("WARPLOOM_STORE", &sandbox.store);
    command.current_dir(repository().join("pipelines"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It waits for its pipeline while the next installation takes its name.
    let next = sandbox.write("bin/next", "#!/bin/sh\nexit 9\n");
    fs::rename(next, &program).unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(&recipe.file).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "METIS runs in a child, the same program: {said}");
}

#[test]
fn manual_pages_have_every_option_variable_and_exit_code() {
    let sandbox = Sandbox::stand_in();
    sandbox.warploom(&["man", "-o", "man/man1"]).expect(0);
    let written = contents(&sandbox.path("man/man1"));
    let pages = pages();
    let names: BTreeSet<&String> = pages.iter().map(|(page, ..)| page).collect();
    assert_eq!(written.keys().collect::<BTreeSet<_>>(), names);
    let front = help("warploom", &[]);
    let (codes, variables) =
        (section_names(&front, "Exit codes"), section_names(&front, "Environment"));
    assert!(codes.len() >= 8 && variables.len() >= 6, "{codes:?} {variables:?}");
    let mut missing = Vec::new();
    for (page, program, words) in &pages {
        let text = String::from_utf8(written[page].clone()).unwrap().replace("\\-", "-");
        let lines: BTreeSet<&str> = text.lines().collect();
        let options = long_options(&help(program, words));
        assert!(options.len() >= 16, "{page}: {options:?}");
        let absent = options.iter().filter(|option| !text.contains(&format!("\\fB{option}\\fR")));
        missing.extend(absent.map(|option| format!("{page}: {option}")));
        let absent = codes
            .iter()
            .chain(&variables)
            .filter(|name| !lines.contains(&*format!("\\fB{name}\\fR")));
        missing.extend(absent.map(|name| format!("{page}: {name}")));
        for title in ["NAME", "SYNOPSIS", "DESCRIPTION", "\"EXIT STATUS\""] {
            missing.extend(
                (!lines.contains(&*format!(".SH {title}"))).then(|| format!("{page}: {title}")),
            );
        }
        missing.extend(text.contains("--tuning").then(|| format!("{page}: has a hidden option")));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Variables that the sources read have a line in the manual.
#[test]
fn the_manual_has_every_variable_that_the_programs_read() {
    let front = help("warploom", &[]);
    let known = section_names(&front, "Environment").join(", ");
    let mut missing = BTreeSet::new();
    for (path, text) in crate::tidy::rust() {
        let is_program =
            path.contains("/src/") && !path.starts_with("tests/") && !path.contains("test");
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
        for word in text.split('"').filter(|_| is_program) {
            let is_variable = ["WARPLOOM_", "SLURM_", "PBS_", "LSB_", "XDG_"]
                .iter()
                .any(|start| word.starts_with(start))
                && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
            // What `record.json` notes of a batch job changes nothing.
            let is_noted = path.ends_with("shell/src/scheduler.rs") && word != "SLURM_LOCALID";
            let is_of_tests = word == "WARPLOOM_SHARED" || word.starts_with("WARPLOOM_TEST_");
            // The variable of a template is no variable that a program reads.
            let is_example = path.ends_with("spec/src/site.rs");
            // A user's program is given these, and Warploom does not read them.
            let is_given = path.ends_with("shell/src/external_program/child_process.rs");
            if is_variable
                && !(is_noted || is_of_tests || is_example || is_given)
                && !known.split(", ").any(|name| name == word)
            {
                missing.insert(format!("{word} ({path})"));
            }
        }
    }
    assert!(missing.is_empty(), "stages/pipeline/src/surroundings.rs has no line for {missing:?}");
}

#[test]
fn completions_have_every_option_and_no_hidden_one() {
    let sandbox = Sandbox::stand_in();
    for (shell, check) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        sandbox.warploom(&["completions", shell, "-o", shell]).expect(0);
        let written = contents(&sandbox.path(shell));
        assert_eq!(written.len(), programs().len());
        let can_parse = start_quietly(check, &["-c", "true"]);
        if !can_parse {
            skipped("completions", format!("there is no {check}, which would parse its scripts"));
        }
        for (name, text) in written {
            let text = String::from_utf8(text).unwrap();
            let program = name.trim_start_matches('_').trim_end_matches(".fish");
            let of_fish = |option: &String| format!("-l {}", option.trim_start_matches('-'));
            for option in long_options(&help(program, &[])) {
                let shown = if shell == "fish" { of_fish(&option) } else { option };
                assert!(text.contains(&shown), "{shell} {name} lacks {shown}");
            }
            assert!(!text.contains("tuning"), "{shell} {name} offers a hidden option");
            assert!(
                !text.contains("Not in this version"),
                "{shell} {name} offers a hidden command"
            );
            let path = sandbox.path(shell).join(&name);
            assert!(
                !can_parse || start_quietly(check, &["-n", path.to_str().unwrap()]),
                "{shell} {name}"
            );
        }
    }
}

/// Whether a program is here and succeeds.
fn start_quietly(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The oldest glibc that docs/install.md states.
fn stated_glibc() -> String {
    let page = fs::read_to_string(repository().join("docs/install.md")).unwrap();
    let stated = page.split(" or newer").next().and_then(|text| text.rsplit("glibc ").next());
    stated.expect("docs/install.md states the oldest glibc").to_owned()
}

#[test]
fn programs_need_no_newer_glibc_than_stated() {
    if !start_quietly("objdump", &["--version"]) {
        return skipped("glibc", "there is no objdump (package binutils)");
    }
    let floor = |most: &str| {
        let mut command = Command::new(repository().join("tests/glibc-floor.sh"));
        command
            .args(["--most", most])
            .args(programs().iter().map(|program| binaries().join(program)));
        start(command).wait()
    };
    let output = floor(&stated_glibc()).expect(0);
    assert_eq!(output.stdout.lines().count(), programs().len(), "{output}");
    floor("2.4").expect(1).says(&["needs glibc", "2.4 is the newest that may be needed"]);
}

#[test]
fn container_recipes_copy_what_there_is_with_the_compiler_of_this_workspace() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let docker = read("packaging/Dockerfile");
    let copies = docker.lines().filter_map(|line| line.strip_prefix("COPY "));
    let of_docker: BTreeSet<String> = copies
        .filter(|line| !line.starts_with("--from"))
        .flat_map(|line| line.split(' ').collect::<Vec<_>>().split_last().unwrap().1.to_vec())
        .map(str::to_owned)
        .collect();
    let apptainer = read("packaging/warploom.def");
    let lines = apptainer.split("%files\n").nth(1).unwrap().lines();
    let of_apptainer: BTreeSet<String> = lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let (from, to) = line.trim().split_once(' ').unwrap();
            assert_eq!(to, format!("/source/{from}"));
            from.to_owned()
        })
        .collect();
    assert_eq!(of_docker, of_apptainer);
    for path in &of_docker {
        assert!(repository().join(path).exists(), "the recipes copy {path}, which is not here");
    }
    // What cargo and `make install` read.
    let workspace = read("Cargo.toml");
    let members = workspace.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    let roots =
        members.split(", ").map(|member| member.trim_matches('"').split('/').next().unwrap());
    let needed =
        ["Cargo.toml", "Cargo.lock", "Makefile", "packaging", "pipelines", "data/catalog", "docs"];
    for path in roots.chain(needed) {
        assert!(of_docker.contains(path), "the recipes do not copy {path}");
    }
    let channel = read("rust-toolchain.toml");
    let channel = channel.split("channel = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(docker.contains(&format!("ARG RUST={channel}\n")), "rust-toolchain.toml: {channel}");
    assert!(apptainer.contains(&format!("    RUST={channel}\n")), "rust-toolchain.toml: {channel}");
}
