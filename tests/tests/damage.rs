//! Proves that damage is named: a flipped bit, a truncated, grown or missing file, in every file of
//! every kind; that nothing is made of it; and that the hint repairs it.
use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use warploom_contract::{Digest, Manifest};
use warploom_test_support::process::start;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::StoredArtifact;

/// Every file of every artifact, with its contents.
pub fn files(sandbox: &Sandbox) -> Vec<(StoredArtifact, PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for artifact in sandbox.view().artifacts() {
        for name in artifact.files().iter().map(String::as_str).chain(["manifest.json"]) {
            let path = artifact.path.join(name);
            let bytes = fs::read(&path).unwrap();
            all.push((artifact.clone(), path, bytes));
        }
    }
    all
}

/// Puts other contents under a name, without writing through a hard link.
pub fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The file of an artifact of a kind whose name starts so; of two csr that of `reorder`, which
/// later stages read.
fn file_of(sandbox: &Sandbox, kind: &str, starts: &str) -> PathBuf {
    let names = |artifact: &StoredArtifact| {
        artifact.files().into_iter().map(|name| artifact.path.join(name)).collect::<Vec<_>>()
    };
    let mut artifacts = sandbox.view().of_kind(kind);
    artifacts.sort_by_key(|artifact| {
        std::cmp::Reverse(artifact.manifest["producer"]["stage"].to_string())
    });
    let all = artifacts.iter().flat_map(names).collect::<Vec<_>>();
    let found = all.into_iter().find(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(starts))
    });
    found.unwrap_or_else(|| panic!("no `{kind}` has a file {starts}"))
}

/// Flips a bit in the middle, which in an Arrow file is among the values; gives what was there.
fn flip(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    replace(path, &flipped);
    bytes
}

/// Puts contents into a published artifact whose manifest says that they are right.
pub fn forge(path: &Path, bytes: &[u8]) {
    replace(path, bytes);
    let page = path.with_file_name("manifest.json");
    let mut manifest: Manifest = serde_json::from_slice(&fs::read(&page).unwrap()).unwrap();
    let file = manifest.files.iter_mut().find(|file| path.ends_with(&file.name)).unwrap();
    (file.bytes, file.blake3) = (bytes.len() as u64, Digest::from_bytes(bytes));
    replace(&page, manifest.to_text().as_bytes());
}

fn remove(sandbox: &Sandbox, kind: &str) {
    sandbox
        .view()
        .of_kind(kind)
        .iter()
        .for_each(|artifact| fs::remove_dir_all(&artifact.path).unwrap());
}

#[test]
fn a_damaged_input_is_named_before_anything_is_made_of_it() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let digests = sandbox.view().digests();
    remove(&sandbox, "run");
    for (kind, starts) in
        [("graph", "features"), ("csr", "in_offsets"), ("permutation", "new_of_old")]
    {
        let path = file_of(&sandbox, kind, starts);
        let bytes = flip(&path);
        sandbox.front("pipeline", &Recipe::small(), &[]).expect(1).says(&[
            path.to_str().unwrap(),
            "contents changed",
            "hint:",
            "rm -r",
        ]);
        assert!(sandbox.view().of_kind("run").is_empty());
        replace(&path, &bytes);
    }
    sandbox.build(&Recipe::small());
    assert_eq!(sandbox.view().digests(), digests);
}

#[test]
fn a_file_that_the_run_does_not_read_is_neither_in_its_key_nor_looked_at() {
    let ring: String = (0..3000).map(|node| format!("{node} {}\n", (node + 1) % 3000)).collect();
    let sandbox = Sandbox::edge_lists(
        &[("ring", &ring)],
        "symmetrize: true\nmade_up: {features: 4, classes: 2}\n\
         split: {rule: fractions, train: 0.6, validation: 0.2, test: 0.2}",
    );
    let recipe = Recipe::of("gcn", "ring").set("run.epochs=2");
    sandbox.build(&recipe);
    let digests = sandbox.view().digests();
    let plan = sandbox.view().of_kind("plan").remove(0);
    let mut seen = [0, 0];
    for kind in ["csr", "partition"] {
        let read = plan.manifest["facts"]["run_reads"]["by_supersteps"][kind].clone();
        let artifact = file_of(&sandbox, kind, "in_").parent().unwrap().to_path_buf();
        let names = fs::read_dir(&artifact).unwrap().map(|file| file.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        // Units of work are few: what is in the middle of their files is no number.
        let is_long = |name: &String| !["in_rows.arrow", "out_rows.arrow"].contains(&name.as_str());
        for name in names.filter(|name| name.ends_with(".arrow")).filter(is_long) {
            let is_read = read.as_array().unwrap().iter().any(|file| file == name.as_str());
            seen[usize::from(is_read)] += 1;
            remove(&sandbox, "run");
            let path = artifact.join(&name);
            let bytes = flip(&path);
            let run = sandbox.front("pipeline", &recipe, &[]);
            replace(&path, &bytes);
            if is_read {
                run.expect(1).says(&[path.to_str().unwrap(), "contents changed"]);
                assert!(sandbox.view().of_kind("run").is_empty(), "{name}");
            } else {
                run.expect(0);
                assert_eq!(sandbox.view().digests(), digests, "{name}");
            }
        }
    }
    assert_eq!(seen, [10, 4], "files that are not read, and that are");
}

#[test]
fn what_is_made_of_unchecked_inputs_says_so_until_it_is_made_again() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    sandbox.warploom(&["store", "verify"]).expect(0).prints(&["9 artifacts checked, 0 damaged\n"]);
    let digests = sandbox.view().digests();
    remove(&sandbox, "run");
    let path = file_of(&sandbox, "graph", "features");
    let bytes = flip(&path);
    sandbox.front("pipeline", &Recipe::small(), &["--no-verify"]).expect(0);
    replace(&path, &bytes);
    let run = sandbox.view().of_kind("run").remove(0).key;
    let named = format!("`run` {run} was made of inputs that were not checked (--no-verify)");
    sandbox
        .warploom(&["store", "verify"])
        .expect(0)
        .says(&[&named, "--force"])
        .prints(&["0 damaged, 1 made of unchecked inputs\n"]);
    // A start that checks does not take it, and it is no input of anything that says that its
    // inputs were checked.
    let built = |further: &[&str]| -> Vec<Value> {
        let lines = sandbox.front("pipeline", &Recipe::small(), further).expect(0).stages();
        lines.into_iter().filter(|line| line["status"] == "built").collect()
    };
    assert_eq!(built(&["--no-verify"]), [Value::Null; 0]);
    let again = built(&[]);
    assert!(
        again.len() == 1
            && again[0]["stage"] == "run"
            && again[0]["why"].as_str().unwrap().contains("--no-verify"),
        "{again:?}"
    );
    assert_eq!(built(&[]), [Value::Null; 0]);
    assert_eq!(sandbox.warploom(&["store", "verify"]).expect(0).stderr, "");
    assert_eq!(sandbox.view().digests(), digests);
}

#[test]
fn a_process_digests_a_file_once() {
    let sandbox = Sandbox::stand_in();
    // Of each input of a stage: kind, files read to check their digests, files.
    let inputs = |stderr: &str| -> Vec<(String, u64, u64)> {
        let of_line = |line: &str| {
            let (kind, rest) = line.split_once(": ")?;
            let words: Vec<&str> = rest.strip_suffix(" bytes")?.split(' ').collect();
            let (read, of) = (words.first()?.parse().ok()?, words.get(2)?.parse().ok()?);
            rest.contains("files read to check their digests").then(|| (kind.to_owned(), read, of))
        };
        stderr.lines().filter_map(of_line).collect()
    };
    let of_one_start =
        inputs(&sandbox.front("pipeline", &Recipe::small(), &["-v"]).expect(0).stderr);
    assert!(
        of_one_start.len() >= 10 && of_one_start.iter().all(|(_, read, _)| *read == 0),
        "{of_one_start:?}"
    );
    // Another process reads each once.
    ["partition", "plan", "run"].into_iter().for_each(|kind| remove(&sandbox, kind));
    let of_another = inputs(&sandbox.front("pipeline", &Recipe::small(), &["-v"]).expect(0).stderr);
    let csr: Vec<_> = of_another
        .iter()
        .filter(|(kind, ..)| kind == "csr")
        .map(|&(_, read, of)| (read, of))
        .collect();
    assert!(
        csr.len() >= 2 && csr[0].0 == csr[0].1 && csr[1..].iter().all(|&(read, _)| read == 0),
        "{of_another:?}"
    );
}

#[test]
fn a_flipped_bit_in_any_file_is_named() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    for (artifact, path, bytes) in files(&sandbox) {
        assert!(!bytes.is_empty(), "{} is empty", path.display());
        let mut flipped = bytes.clone();
        flipped[bytes.len() * 2 / 3] ^= 4;
        replace(&path, &flipped);
        let name = path.to_str().unwrap();
        sandbox
            .warploom(&["store", "verify"])
            .expect(3)
            .says(&[name, "1 of 9 artifacts are damaged"]);
        sandbox.warploom(&["store", "verify", &artifact.key]).expect(3).says(&[name]);
        sandbox.front("pipeline", &Recipe::small(), &["--verify"]).expect(1).says(&[name, "hint:"]);
        replace(&path, &bytes);
    }
    sandbox.warploom(&["store", "verify"]).expect(0);
}

#[test]
fn a_file_that_was_cut_grown_or_deleted_is_named_without_being_asked() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    for (_, path, bytes) in files(&sandbox) {
        let name = path.to_str().unwrap();
        let mut grown = bytes.clone();
        grown.push(b'x');
        for damaged in [&bytes[..bytes.len() / 2], &bytes[..0], &grown] {
            replace(&path, damaged);
            sandbox
                .front("pipeline", &Recipe::small(), &[])
                .expect(1)
                .says(&[name, "hint:", "rm -r"]);
        }
        sandbox.warploom(&["store", "verify"]).expect(3).says(&[name]);
        fs::remove_file(&path).unwrap();
        sandbox
            .front("pipeline", &Recipe::small(), &[])
            .expect(1)
            .says(&[name, "missing", "hint:"]);
        fs::write(&path, &bytes).unwrap();
    }
}

#[test]
fn the_hint_repairs_and_so_does_force() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let digests = sandbox.view().digests();
    for artifact in sandbox.view().artifacts() {
        let Some(file) = artifact.files().first().map(|name| artifact.path.join(name)) else {
            panic!("no file in {}", artifact.path.display())
        };
        replace(&file, b"not what it was");
        let said = sandbox.front("pipeline", &Recipe::small(), &[]).expect(1).stderr;
        let command = said
            .lines()
            .find_map(|line| line.split_once("rm -r "))
            .map(|(_, rest)| format!("rm -r {rest}"));
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(command.unwrap_or_else(|| panic!("no command in\n{said}")));
        start(shell).wait().expect(0);
        sandbox.build(&Recipe::small());
        assert_eq!(sandbox.view().digests(), digests);
        replace(&file, b"not what it was");
        sandbox.front("pipeline", &Recipe::small(), &["--force"]).expect(0);
        assert_eq!(sandbox.view().digests(), digests);
        assert_eq!(sandbox.view().flaws(), [""; 0]);
    }
}

#[test]
fn a_damaged_artifact_is_not_read_by_the_stage_after_it() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let graph = sandbox.view().of_kind("graph").remove(0);
    let path = graph.path.join("edges.parquet");
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len() - 6;
    bytes[end] ^= 255;
    replace(&path, &bytes);
    for kind in ["csr", "profile"] {
        sandbox
            .view()
            .of_kind(kind)
            .iter()
            .for_each(|artifact| fs::remove_dir_all(&artifact.path).unwrap());
    }
    sandbox
        .front("pipeline", &Recipe::small(), &["--verify"])
        .expect(1)
        .says(&[path.to_str().unwrap()]);
    assert!(
        sandbox.view().of_kind("csr").is_empty() && sandbox.view().of_kind("profile").is_empty()
    );
}

/// The same bytes with others in one place.
fn overwrite(bytes: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at..at + with.len()].copy_from_slice(with);
    changed
}

#[test]
fn forged_and_unchecked_damage_is_named_and_no_panic() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let csr = sandbox
        .view()
        .of_kind("csr")
        .into_iter()
        .find(|artifact| artifact.manifest["producer"]["stage"] == "extract")
        .unwrap();
    for kind in ["permutation", "partition", "plan", "run"] {
        remove(&sandbox, kind);
    }
    let reordered =
        sandbox.view().of_kind("csr").into_iter().find(|artifact| artifact.key != csr.key).unwrap();
    fs::remove_dir_all(&reordered.path).unwrap();
    let page = fs::read(csr.path.join("manifest.json")).unwrap();
    for name in ["in_sources.arrow", "in_offsets.arrow", "out_edge.arrow"] {
        let path = csr.path.join(name);
        let bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2 / 64 * 64;
        let damaged = overwrite(&bytes, middle, &[0xff; 8]);
        // Unchecked: its digest is wrong.
        replace(&path, &damaged);
        sandbox.front("pipeline", &Recipe::small(), &["--no-verify"]).expect(1).says(&[
            path.to_str().unwrap(),
            "hint:",
            "rm -r",
        ]);
        // Forged: its digest is right.
        forge(&path, &damaged);
        for further in [&[][..], &["--no-verify"]] {
            sandbox.front("pipeline", &Recipe::small(), further).expect(1).says(&[
                path.parent().unwrap().to_str().unwrap(),
                "hint:",
                "rm -r",
            ]);
        }
        assert!(
            sandbox.view().of_kind("permutation").is_empty()
                && sandbox.view().of_kind("run").is_empty()
        );
        replace(&path, &bytes);
        replace(&csr.path.join("manifest.json"), &page);
    }
    sandbox.build(&Recipe::small());
}

#[test]
fn a_plan_that_does_not_fit_its_graph_is_damaged() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    remove(&sandbox, "run");
    let path = file_of(&sandbox, "plan", "plan.json");
    let mut page: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let places = page["launches"]["arena"]["places"].as_array_mut().expect("a plan has places");
    places.iter_mut().for_each(|place| place["bytes"] = 7.into());
    forge(&path, page.to_string().as_bytes());
    sandbox.front("pipeline", &Recipe::small(), &[]).expect(1).says(&[
        path.to_str().unwrap(),
        "the plan was made for 7 bytes",
        "rm -r",
    ]);
}

/// Every value of a plan is compared when it is checked: forged ones with digests that are right.
#[test]
fn a_forged_value_of_a_plan_is_named_by_its_place() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    for (file, place, value) in [
        ("plan.json", "/mode", Value::from("trainx")),
        ("plan.json", "/dtype", Value::from("f16")),
        ("plan.json", "/device/name", Value::from("other")),
        ("plan.json", "/launches/arena/places/0/bytes", Value::from(7)),
        ("plan.json", "/launches/program", Value::from("other")),
        ("advice.json", "/reasons/0/why", Value::from("because")),
        ("advice.json", "/memory/bytes_peak", Value::from(7)),
    ] {
        let path = file_of(&sandbox, "plan", file);
        let manifest = path.with_file_name("manifest.json");
        let [bytes, listed] = [&path, &manifest].map(|file| fs::read(file).unwrap());
        let mut page: Value = serde_json::from_slice(&bytes).unwrap();
        *page.pointer_mut(place).unwrap_or_else(|| panic!("{file} has no {place}")) = value;
        forge(&path, page.to_string().as_bytes());
        let said = sandbox.front("check", &Recipe::small(), &[]).expect(3);
        said.says(&[&format!("{file}: {}: expected", &place[1..])]);
        replace(&path, &bytes);
        replace(&manifest, &listed);
    }
    sandbox.front("check", &Recipe::small(), &[]).expect(0);
}

#[test]
fn metadata_of_an_arrow_file_may_be_damaged_anywhere() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    remove(&sandbox, "run");
    let path = file_of(&sandbox, "graph", "features");
    let bytes = fs::read(&path).unwrap();
    // The metadata of the batch lie before its values; every 64th byte of them is enough for an
    // end-to-end test.
    for at in (0..bytes.len().min(1024)).step_by(64).map(|at| at + 1) {
        let damaged = overwrite(&bytes, at, &[bytes[at] ^ 16]);
        replace(&path, &damaged);
        let said = sandbox.front("pipeline", &Recipe::small(), &["--no-verify"]);
        assert!(matches!(said.code, Some(0 | 1)), "byte {at}: {said}");
        remove(&sandbox, "run");
        sandbox.warploom(&["store", "verify"]).expect(3).says(&[path.to_str().unwrap()]);
    }
}

#[test]
fn nothing_waits_for_a_manifest_that_is_none() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let graph = sandbox.view().of_kind("graph").remove(0).path.join("manifest.json");
    let name = graph.to_str().unwrap();
    for put in ["mkfifo", "ln -s /dev/zero"] {
        fs::remove_file(&graph).unwrap();
        let command = format!("{put} '{name}'");
        assert!(
            std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success()
        );
        sandbox.front("pipeline", &Recipe::small(), &[]).expect(1).says(&[
            name,
            "expected a regular file",
            "rm -r",
        ]);
        sandbox.warploom(&["store", "verify"]).expect(3).says(&[name]);
        for action in ["ls", "gc"] {
            sandbox.warploom(&["store", action]).expect(0);
        }
        for setting in ["run.init", "run.splits"] {
            let asked = Recipe::small().set(&format!("{setting}={name}"));
            sandbox
                .with_store("other")
                .front("pipeline", &asked, &[])
                .expect(1)
                .says(&[name, "expected a regular file"]);
            sandbox
                .with_store("other")
                .stage("run", &asked, &[])
                .expect(1)
                .says(&[name, "expected a regular file"]);
        }
    }
}

#[test]
fn nothing_waits_for_facts_of_a_device_that_are_none() {
    let sandbox = Sandbox::stand_in();
    let facts = sandbox.path("mine.yaml");
    for (put, found) in [
        ("mkfifo", "a pipe, a socket or a device"),
        ("ln -s /dev/zero", "a pipe, a socket or a device"),
        ("mkdir", "a folder"),
    ] {
        let command = format!("{put} '{}'", facts.display());
        assert!(
            std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success()
        );
        let said = sandbox
            .front("pipeline", &Recipe::small(), &["--device", facts.to_str().unwrap()])
            .expect(1);
        said.says(&["mine.yaml", &format!("expected a file, found {found}")]);
        fs::remove_file(&facts).or_else(|_| fs::remove_dir(&facts)).unwrap();
    }
    fs::write(&facts, vec![b'#'; 1 << 21]).unwrap();
    sandbox
        .front("pipeline", &Recipe::small(), &["--device", facts.to_str().unwrap()])
        .expect(1)
        .says(&["expected at most 1048576 bytes"]);
}

#[test]
fn a_folder_that_is_missing_or_cannot_be_listed_is_told() {
    let sandbox = Sandbox::stand_in();
    sandbox.build(&Recipe::small());
    let folder = sandbox.store.join("graph-v1");
    fs::remove_dir_all(&folder).unwrap();
    sandbox.warploom(&["store", "verify"]).expect(0).says(&["no folder of kind `graph`"]);
    // A file cannot be listed, whoever asks.
    fs::write(&folder, "").unwrap();
    sandbox
        .warploom(&["store", "verify"])
        .expect(1)
        .says(&[folder.to_str().unwrap()])
        .prints(&["0 damaged, 1 could not be read"]);
}

#[test]
fn an_edge_of_a_relation_that_has_no_name_is_damage_before_anything_is_made_for_it() {
    let sandbox = Sandbox::stand_in();
    sandbox.write("raw/mine/train.txt", "ann\tknows\tbob\nbob\tlikes\teve\n");
    sandbox.write("raw/mine/valid.txt", "eve\tknows\tann\n");
    let recipe = Recipe::of("pagerank", "mine");
    sandbox.stage("ingest", &recipe, &[]).expect(0);
    let (names, edges) = (file_of(&sandbox, "graph", "names"), file_of(&sandbox, "graph", "edges"));
    let mut page: Value = serde_json::from_slice(&fs::read(&names).unwrap()).unwrap();
    assert_eq!(page["relations"].as_array().map(Vec::len), Some(2), "{page}");
    page["relations"].as_array_mut().unwrap().pop();
    forge(&names, page.to_string().as_bytes());
    sandbox.stage("extract", &recipe, &[]).expect(1).says(&[
        edges.to_str().unwrap(),
        "its relation is not one of 1",
        "rm -r",
    ]);
}
