//! The store's guarantees, on a small permutation artifact.
use super::*;
use crate::{
    ErrorKind, Inputs, KeyDocument, Outputs, Provenance, Reads,
    kinds::permutation::{Quality, Standing},
    row_order::AesRule,
    stage::Contract,
};
use serde_json::json;

const CONTRACT: Contract =
    Contract { name: "reorder", version: 1, reads: &[], writes: &[Kind::Permutation] };

fn quality() -> Quality {
    let aes_rule = AesRule { left: 0.0, right: 0.0, worth_it: false };
    Quality {
        method: "none".into(),
        why: "test".into(),
        weighed: None,
        aes_rule,
        communities: None,
        cut: None,
        before: Standing::default(),
        after: Standing::default(),
    }
}

fn document(seed: u64) -> KeyDocument {
    KeyDocument::new(CONTRACT.name, CONTRACT.version, CONTRACT.writes, json!({"seed": seed}))
}

fn draft(store: &Store, seed: u64, numbers: Vec<u32>) -> Outputs {
    let mut outputs = Outputs::begin(store, &CONTRACT, document(seed), &Inputs::new()).unwrap();
    crate::kinds::permutation::write(&mut outputs, numbers, &quality()).unwrap();
    outputs
}

fn publish(store: &Store, seed: u64, numbers: Vec<u32>) -> Artifact {
    draft(store, seed, numbers).publish(store).unwrap().remove(0)
}

#[test]
fn what_is_published_is_found_and_opens() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("a store with spaces and ümläute"));
    let artifact = publish(&store, 1, vec![2, 0, 1]);
    assert_eq!(store.find(Kind::Permutation, &document(1).key()).unwrap().unwrap(), artifact);
    let opened = store.open(Kind::Permutation, &document(1).key(), true).unwrap();
    assert_eq!(&crate::kinds::permutation::open(&opened).unwrap()[..], &[2, 0, 1]);
    assert_eq!(store.find(Kind::Permutation, &document(2).key()).unwrap(), None);
}

#[test]
fn an_unpublished_draft_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    drop(draft(&store, 1, vec![0, 1]));
    assert_eq!(fs::read_dir(store.kind_directory(Kind::Permutation)).unwrap().count(), 0);
}

#[test]
fn invalid_contents_are_never_published() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let error = draft(&store, 1, vec![0, 0]).publish(&store).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Defect);
    assert!(error.what.contains("new number 0 is given twice"), "{}", error.what);
    assert_eq!(store.find(Kind::Permutation, &document(1).key()).unwrap(), None);
}

#[test]
fn the_loser_of_a_race_takes_the_winners() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let (first, second) = (draft(&store, 1, vec![0, 1]), draft(&store, 1, vec![0, 1]));
    let winner = second.publish(&store).unwrap();
    assert_eq!(first.publish(&store).unwrap(), winner);
    assert_eq!(fs::read_dir(store.kind_directory(Kind::Permutation)).unwrap().count(), 1);
}

#[test]
fn a_reader_at_the_moment_of_publishing_sees_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = publish(&Store::new(folder.path()), 1, vec![1, 0]);
    let aside = folder.path().join("aside");
    for round in 0..2000 {
        fs::rename(&artifact.path, &aside).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| fs::rename(&aside, &artifact.path).unwrap());
            while Manifest::read(&artifact.path, Kind::Permutation)
                .unwrap_or_else(|error| panic!("round {round}: {}", error.what))
                .is_none()
            {}
        });
    }
}

#[test]
fn force_keeps_equal_bytes_and_replaces_different_ones() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    publish(&store, 1, vec![0, 1]);
    assert!(!draft(&store, 1, vec![0, 1]).publish_over(&store).unwrap()[0].1);
    let (artifact, replaced) = draft(&store, 1, vec![1, 0]).publish_over(&store).unwrap().remove(0);
    assert!(replaced);
    assert_eq!(&crate::kinds::permutation::open(&artifact).unwrap()[..], &[1, 0]);
    // A file of the same length with other bytes is not what its manifest says.
    let file = artifact.file(&artifact.manifest.files[0].name);
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&file, bytes).unwrap();
    let (artifact, replaced) = draft(&store, 1, vec![1, 0]).publish_over(&store).unwrap().remove(0);
    assert!(replaced && artifact.manifest.check_digests(&artifact.path).is_ok());
    assert_eq!(fs::read_dir(store.kind_directory(Kind::Permutation)).unwrap().count(), 1);
}

#[test]
fn what_is_made_again_of_checked_inputs_says_so_though_its_bytes_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let mut inputs = Inputs::new();
    inputs.insert(publish(&store, 1, vec![0, 1]));
    let made = |verified: bool| {
        let mut outputs = Outputs::begin(&store, &CONTRACT, document(2), &inputs).unwrap();
        crate::kinds::permutation::write(&mut outputs, vec![1, 0], &quality()).unwrap();
        outputs.set_inputs_verified(verified);
        let (artifact, replaced) = outputs.publish_over(&store).unwrap().remove(0);
        (artifact.manifest.inputs_verified, replaced)
    };
    assert_eq!(made(false), (Some(false), false));
    assert_eq!(made(true), (Some(true), false));
    assert_eq!(made(false), (Some(true), false));
    assert_eq!(
        store
            .find(Kind::Permutation, &document(1).key())
            .unwrap()
            .unwrap()
            .manifest
            .inputs_verified,
        None
    );
}

#[test]
fn a_manifest_that_cannot_be_one_is_damaged_and_nothing_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0]);
    let path = artifact.file(MANIFEST_FILE);
    let found = || store.find(Kind::Permutation, &document(1).key()).unwrap_err();
    for name in ["/etc/passwd", "../../etc/passwd"] {
        let mut forged = artifact.manifest.clone();
        forged.files[0].name = name.into();
        fs::write(&path, forged.to_text()).unwrap();
        assert!(found().what.contains("expected plain names of files"), "{}", found());
    }
    for put in ["mkfifo", "mkdir", "ln -s /dev/zero"] {
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).unwrap();
        let command = format!("{put} '{}'", path.display());
        assert!(
            std::process::Command::new("sh").args(["-c", &command]).status().unwrap().success()
        );
        assert_eq!(found().kind, ErrorKind::Damaged);
        assert!(found().what.contains("expected a regular file"), "{}", found());
    }
}

#[test]
fn truncation_deletion_and_flipped_bits_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let key = document(1).key();
    let artifact = publish(&store, 1, (0..1000).collect());
    let path = artifact.file("new_of_old.arrow");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[900] ^= 4;
    fs::write(&path, &flipped).unwrap();
    let error = store.open(Kind::Permutation, &key, true).unwrap_err();
    assert!(
        error.to_string().contains("new_of_old.arrow") && error.what.contains("contents changed"),
        "{error}"
    );
    fs::write(&path, &whole[..900]).unwrap();
    let error = store.find(Kind::Permutation, &key).unwrap_err();
    assert!(error.what.starts_with("expected ") && error.hint.unwrap().contains("rm -r"));
    fs::remove_file(&path).unwrap();
    assert!(store.find(Kind::Permutation, &key).unwrap_err().what.contains("missing"));
    fs::write(&path, &whole).unwrap();
    assert!(store.open(Kind::Permutation, &key, true).is_ok());
}

#[test]
fn a_changed_manifest_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let path = publish(&store, 1, vec![0]).file(MANIFEST_FILE);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"real\"", "\"stand-in\"")).unwrap();
    let error = store.find(Kind::Permutation, &document(1).key()).unwrap_err();
    assert!(error.what.contains("its own digest does not fit"), "{}", error.what);
}

#[test]
fn a_manifest_of_a_newer_version_is_told_as_such_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0, 1]);
    let path = artifact.file(MANIFEST_FILE);
    // The page with one more field, sealed as every version does it.
    let mut open = artifact.manifest.clone();
    open.self_digest = None;
    let more =
        |text: String| text.replacen(r#""made_up":"#, r#""made \"by\\":"a b", "made_up":"#, 1);
    let seal = crate::Digest::from_bytes(
        more(serde_json::to_string(&open).unwrap()).replace("b\", \"m", "b\",\"m").as_bytes(),
    );
    let page =
        more(serde_json::to_string_pretty(&open).unwrap().replace("made_up\": ", "made_up\":"));
    let page = page.replace("\"self_digest\": null", &format!("\"self_digest\": \"{seal}\""));
    fs::write(&path, &page).unwrap();
    let error = store.find(Kind::Permutation, &document(1).key()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Input, "{error}");
    assert!(
        error.what.starts_with("a newer version of Warploom wrote this manifest")
            && error.what.contains("unknown field"),
        "{error}"
    );
    assert!(draft(&store, 1, vec![0, 1]).publish(&store).is_err());
    // It stays, and keeps nobody from collecting the rest.
    publish(&store, 2, vec![0, 1]);
    let report =
        store.collect(&gc::Request { keep_bytes: Some(0), ..gc::Request::default() }).unwrap();
    assert_eq!((report.removed.len(), report.leased), (1, 1));
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
    // A field's name with a bit that is lost is damage.
    fs::write(&path, page.replace("\"counts\"", "\"councs\"")).unwrap();
    assert_eq!(
        store.find(Kind::Permutation, &document(1).key()).unwrap_err().kind,
        ErrorKind::Damaged
    );
}

#[test]
fn a_damaged_artifact_is_replaced_by_the_next_build() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0, 1]);
    fs::remove_file(artifact.file("quality.json")).unwrap();
    publish(&store, 1, vec![0, 1]);
    assert!(store.open(Kind::Permutation, &document(1).key(), true).is_ok());
}

#[test]
fn collecting_spares_leases_runs_and_what_plans_need() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let kept = publish(&store, 1, vec![0, 1]);
    publish(&store, 2, vec![0, 1]);
    let lease = store.lease(&kept.manifest.key);
    let all = gc::Request { keep_bytes: Some(0), ..gc::Request::default() };
    let report = store.collect(&all).unwrap();
    assert_eq!((report.removed.len(), report.leased), (1, 1));
    assert!(store.find(Kind::Permutation, &document(1).key()).unwrap().is_some());
    drop(lease);
    assert_eq!(store.collect(&all).unwrap().removed.len(), 1);
    assert_eq!(store.list(Kind::Permutation), []);
}

#[test]
fn leftovers_of_dead_writers_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let live = store.begin(Kind::Csr, &document(1).key()).unwrap();
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    let process = dead.id();
    dead.wait().unwrap();
    let left = store.kind_directory(Kind::Csr).join(format!(
        ".tmp-{}-{process}-0@{}",
        document(2).key(),
        lease::host()
    ));
    fs::create_dir(&left).unwrap();
    fs::write(left.join("x"), b"half").unwrap();
    let dry = store.collect(&gc::Request { dry: true, ..gc::Request::default() }).unwrap();
    assert!(left.exists() && dry.removed.len() == 1);
    assert_eq!(store.collect(&gc::Request::default()).unwrap().removed[0].path, left);
    assert!(!left.exists() && live.file("").exists());
}

/// Makes a file or folder seem to have been changed so many hours ago.
fn age(path: &Path, hours: u64) {
    let time = SystemTime::now() - Duration::from_secs(hours * 3600);
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

/// The number of a process that has ended.
fn ended_process() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

/// This process's place with another PID name space.
fn other_name_space() -> String {
    let place = writer::Writer::own().place();
    let mut parts: Vec<&str> = place.split('-').collect();
    assert_eq!(parts.len(), 4, "this test needs /proc");
    parts[2] = "1";
    parts.join("-")
}

#[test]
fn a_draft_of_a_living_writer_is_spared_however_old_and_touched_as_its_leases_are() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let outputs = draft(&store, 1, vec![1, 0]);
    let path = outputs.file(Kind::Permutation, "x").parent().unwrap().to_path_buf();
    age(&path, 25);
    assert_eq!(store.collect(&gc::Request::default()).unwrap().removed, []);
    drafts::touch_all();
    assert!(folders::age(&path).unwrap() < Duration::from_secs(60));
    assert!(outputs.publish(&store).is_ok());
}

#[test]
fn of_a_writer_in_another_name_space_the_last_touch_decides() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let (key, process) = (document(1).key(), ended_process());
    fs::create_dir_all(store.kind_directory(Kind::Csr)).unwrap();
    let named = |place: &str, process: u32| {
        let path = store.kind_directory(Kind::Csr).join(format!(".tmp-{key}-{process}-0@{place}"));
        fs::create_dir(&path).unwrap();
        path
    };
    let (inside, old) =
        (named(&other_name_space(), process), named(&other_name_space(), process + 1));
    age(&inside, 23);
    age(&old, 25);
    // As process 1 of a container: the number lives, and is another process.
    let again = named(&format!("{}0", writer::Writer::own().place()), std::process::id());
    let mut removed: Vec<PathBuf> = store
        .collect(&gc::Request::default())
        .unwrap()
        .removed
        .into_iter()
        .map(|removed| removed.path)
        .collect();
    removed.sort();
    let mut expected = vec![old, again];
    expected.sort();
    assert_eq!(removed, expected);
    assert!(inside.exists());
}

#[test]
fn leases_and_notes_of_the_dead_go_at_once_and_spare_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let (first, second) = (publish(&store, 1, vec![0, 1]), publish(&store, 2, vec![1, 0]));
    let (leases, seen) = (folder.path().join("leases"), folder.path().join("seen-v1"));
    fs::create_dir(&leases).unwrap();
    fs::create_dir(&seen).unwrap();
    let (dead, own) = (ended_process(), std::process::id());
    let write = |path: PathBuf| {
        fs::write(&path, "").unwrap();
        path
    };
    let place = writer::Writer::own().place();
    let mut gone = vec![
        write(leases.join(format!("{place}-{dead}-{}", first.manifest.key))),
        write(leases.join(format!("{}-{dead}-{}", lease::host(), first.manifest.key))),
        write(seen.join(format!("{}.{dead}.tmp", crate::Digest::from_bytes(b"raw")))),
    ];
    let kept = [
        write(leases.join(format!("{place}-{own}-{}", second.manifest.key))),
        write(leases.join(format!("{}-{dead}-{}", other_name_space(), document(3).key()))),
        // An earlier version's, whose process may have its number in another name space.
        write(leases.join(format!("{}-{dead}-{}", lease::host(), document(3).key()))),
        write(seen.join(format!("{}.{own}.tmp", crate::Digest::from_bytes(b"raw")))),
        write(seen.join(crate::Digest::from_bytes(b"raw").as_str())),
    ];
    age(&kept[0], 25);
    age(&gone[1], 2);
    let report =
        store.collect(&gc::Request { keep_bytes: Some(0), ..gc::Request::default() }).unwrap();
    let mut removed: Vec<PathBuf> =
        report.removed.into_iter().map(|removed| removed.path).collect();
    gone.push(first.path);
    gone.sort();
    removed.sort();
    assert_eq!((removed, report.leased), (gone, 1));
    assert!(kept.iter().all(|path| path.exists()) && second.path.exists());
}

#[test]
fn a_folder_that_is_removed_under_its_writer_is_made_again_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    // Before the first file nothing is lost: training writes at its end.
    let outputs = Outputs::begin(&store, &CONTRACT, document(1), &Inputs::new()).unwrap();
    let remove = || {
        let parent = store.kind_directory(Kind::Permutation);
        fs::read_dir(parent)
            .unwrap()
            .flatten()
            .for_each(|entry| fs::remove_dir_all(entry.path()).unwrap());
    };
    remove();
    let mut outputs = outputs;
    crate::kinds::permutation::write(&mut outputs, vec![1, 0], &quality()).unwrap();
    let path = outputs.publish(&store).unwrap().remove(0).path;
    fs::remove_dir_all(path).unwrap();
    // After it, it is said.
    let outputs = draft(&store, 1, vec![1, 0]);
    let place = outputs.file(Kind::Permutation, "x").parent().unwrap().display().to_string();
    remove();
    let error = outputs.explain_loss(StageError::defect("cannot create"));
    assert!(
        error.what.contains(
            "the folder in which this `permutation` was being written was removed by somebody else"
        ),
        "{error}"
    );
    let error = outputs.publish(&store).unwrap_err();
    assert!(
        error.what.contains("was removed by somebody else") && error.place == Some(place),
        "{error}"
    );
}

#[test]
fn removing_by_key_refuses_what_is_in_use_or_needed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let needed = publish(&store, 1, vec![0, 1]);
    let key = needed.manifest.key.clone();
    let lease = store.lease(&key);
    let error = store.remove(std::slice::from_ref(&key), false).unwrap_err();
    assert!(
        error.what.contains("is in use by a process") && error.hint.unwrap().contains("--force"),
        "{}",
        error.what
    );
    drop(lease);
    // A plan that stays and was made from it.
    let mut plan = needed.manifest.clone();
    plan.kind = Kind::Plan.name().to_owned();
    plan.format = Kind::Plan.version();
    plan.key_document = document(2);
    plan.key = document(2).key();
    plan.inputs = vec![crate::manifest::InputEntry {
        kind: "permutation".into(),
        key: key.clone(),
        digest: needed.manifest.digest.clone(),
    }];
    let place = store.path(Kind::Plan, &plan.key);
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join(MANIFEST_FILE), plan.to_text()).unwrap();
    let error = store.remove(std::slice::from_ref(&key), false).unwrap_err();
    assert!(
        error.what.contains(&format!("is what plan {} was made from", plan.key)),
        "{}",
        error.what
    );
    let removed = store.remove(&[key, plan.key], false).unwrap().removed;
    assert_eq!((removed.len(), needed.path.exists(), place.exists()), (2, false, false));
}

#[test]
fn shared_files_are_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0, 1]);
    let draft = store.begin(Kind::Permutation, &document(2).key()).unwrap();
    draft.share("new_of_old.arrow", &artifact.file("new_of_old.arrow")).unwrap();
    assert_eq!(
        fs::read(draft.file("new_of_old.arrow")).unwrap(),
        fs::read(artifact.file("new_of_old.arrow")).unwrap()
    );
}

#[test]
fn sharing_a_file_never_writes_into_the_published_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0, 1]);
    let draft = store.begin(Kind::Permutation, &document(2).key()).unwrap();
    let from = artifact.file("new_of_old.arrow");
    // A network file system sent the link again, and answers that it is there.
    fs::hard_link(&from, draft.file("new_of_old.arrow")).unwrap();
    draft.share("new_of_old.arrow", &from).unwrap();
    // A name of the draft that is another file of the artifact is refused, not written into.
    fs::hard_link(artifact.file("quality.json"), draft.file("x")).unwrap();
    assert!(draft.share("x", &from).is_err());
    artifact.manifest.check_digests(&artifact.path).unwrap();
}

#[test]
fn force_replaces_what_is_damaged_and_what_says_other_facts() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0, 1]);
    for name in ["new_of_old.arrow", "quality.json"] {
        let mut bytes = fs::read(artifact.file(name)).unwrap();
        bytes[9] ^= 4;
        fs::write(artifact.file(name), bytes).unwrap();
        assert!(draft(&store, 1, vec![0, 1]).publish_over(&store).unwrap()[0].1);
        assert!(store.open(Kind::Permutation, &document(1).key(), true).is_ok());
    }
    let mut outputs = draft(&store, 1, vec![0, 1]);
    outputs.fact(Kind::Permutation, "method", "other");
    let (made, replaced) = outputs.publish_over(&store).unwrap().remove(0);
    assert_eq!((made.find_fact("method"), replaced), (Some(&json!("other")), false));
    assert_eq!(store.find(Kind::Permutation, &document(1).key()).unwrap(), Some(made));
}

#[test]
fn provenance_of_inputs_is_inherited() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let mut outputs = draft(&store, 1, vec![0]);
    outputs.set_provenance(Provenance::StandIn, vec!["labels".into()]);
    let mut inputs = Inputs::new();
    inputs.insert(outputs.publish(&store).unwrap().remove(0));
    assert_eq!(
        (inputs.provenance(), inputs.made_up()),
        (Provenance::StandIn, vec!["labels".to_owned()])
    );
}

#[test]
fn saved_states_that_cannot_be_read_are_no_reason_to_begin_anew() {
    use crate::kinds::checkpoint::{STATE_FILE, read_steps, save};
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let key = document(1).key();
    assert_eq!(read_steps(&store, &key).unwrap(), (Vec::new(), Vec::new()));
    save(&store, &document(1), Provenance::Real, 5, b"five").unwrap();
    save(&store, &document(1), Provenance::Real, 6, b"six").unwrap();
    let (steps, _) = read_steps(&store, &key).unwrap();
    fs::write(&steps[1].state, b"sax").unwrap();
    let (sound, damaged) = read_steps(&store, &key).unwrap();
    assert_eq!((sound, damaged.len()), (steps[..1].to_vec(), 1));
    assert!(damaged[0].place.as_ref().unwrap().ends_with(STATE_FILE), "{}", damaged[0]);
    // A fault of the file system: links that lead in a circle.
    let manifest = steps[0].state.with_file_name(MANIFEST_FILE);
    fs::remove_file(&manifest).unwrap();
    std::os::unix::fs::symlink(&manifest, &manifest).unwrap();
    assert!(read_steps(&store, &key).is_err());
}

#[test]
fn what_cannot_be_read_is_neither_replaced_nor_collected() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let manifest = publish(&store, 1, vec![0, 1]).file(MANIFEST_FILE);
    fs::remove_file(&manifest).unwrap();
    std::os::unix::fs::symlink(&manifest, &manifest).unwrap();
    assert_ne!(draft(&store, 1, vec![0, 1]).publish(&store).unwrap_err().kind, ErrorKind::Damaged);
    assert!(store.collect(&gc::Request { keep_bytes: Some(0), ..gc::Request::default() }).is_err());
    assert!(manifest.parent().unwrap().join("quality.json").exists());
}

#[test]
fn checkpoints_keep_the_two_newest() {
    use crate::kinds::checkpoint::{remove, save, steps};
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    for number in [5, 10, 15] {
        save(&store, &document(1), Provenance::Real, number, &[number as u8; 9]).unwrap();
    }
    let numbers: Vec<u64> =
        steps(&store, &document(1).key()).iter().map(|step| step.number).collect();
    assert_eq!(numbers, [10, 15]);
    remove(&store, &document(1).key());
    assert_eq!(steps(&store, &document(1).key()), []);
}

/// Of an artifact that a stage reads a part of, the rest is in no key of it and can be read by no
/// way.
#[test]
fn what_is_withheld_is_in_no_key_and_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![2, 0, 1]);
    let of_numbers = Reads { files: ["new_of_old.arrow"].into(), ..Reads::default() };
    let numbers = artifact.restricted(&of_numbers);
    assert_eq!(
        numbers.input_facts().digest,
        artifact.manifest.digest,
        "all but the record are read"
    );
    assert_eq!(numbers.manifest.files.len(), 1);
    assert!(numbers.input_facts().counts.is_empty() && numbers.input_facts().facts.is_empty());
    let of_counts = artifact.restricted(&Reads {
        counts: ["nod*"].into(),
        facts: ["method"].into(),
        ..Reads::default()
    });
    assert_eq!(of_counts.input_facts().counts, [("nodes".to_owned(), 3)].into());
    assert_eq!(of_counts.find_fact("method"), Some(&json!("none")));
    assert_ne!(of_counts.input_facts().digest, artifact.manifest.digest);
    let record =
        artifact.restricted(&Reads { records: ["quality.json"].into(), ..Reads::default() });
    assert!(
        record.file("quality.json").exists()
            && record.input_facts().digest == of_counts.input_facts().digest
    );
    let found =
        |ask: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)).is_err();
    let hidden: [&dyn Fn(); 4] = [
        &|| drop(of_counts.file("new_of_old.arrow")),
        &|| drop(of_counts.has("new_of_old.arrow").then_some(String::new())),
        &|| drop(numbers.count("nodes")),
        &|| drop(numbers.find_fact("method").cloned()),
    ];
    assert!(hidden.iter().all(|ask| found(ask)));
    assert!(numbers.find_fact("none of its facts").is_none());
}

/// The artifact under a name of an artifact aside, as a process of this number leaves it.
fn leave_aside(artifact: &Artifact, process: u32) -> PathBuf {
    let name =
        format!("{}{}-{process}-0@{}", ASIDE, artifact.manifest.key, writer::Writer::own().place());
    let aside = artifact.path.with_file_name(name);
    fs::rename(&artifact.path, &aside).unwrap();
    aside
}

#[test]
fn what_is_leased_while_gc_removes_it_has_its_name_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0, 1]);
    let key = &artifact.manifest.key;
    let remove = |between: &dyn Fn()| {
        store.remove_unused_with(&artifact.path, key.as_str(), between).unwrap()
    };
    let lease = std::cell::RefCell::new(None);
    let begin_to_use = || {
        assert_eq!(store.find(Kind::Permutation, key).unwrap(), None, "it has no name now");
        *lease.borrow_mut() = Some(store.lease(key));
    };
    assert_eq!(remove(&begin_to_use), removal::Removal::InUse);
    store.open(Kind::Permutation, key, true).unwrap();
    // Another gc, which sees the lease first, gives it back.
    lease.take();
    let other_gc = || {
        begin_to_use();
        store.collect(&gc::Request::default()).unwrap();
    };
    assert_eq!(remove(&other_gc), removal::Removal::InUse);
    store.open(Kind::Permutation, key, true).unwrap();
    // Who found nothing made it again: the later one stays.
    lease.take();
    let make_again = || {
        begin_to_use();
        publish(&store, 1, vec![1, 0]);
    };
    assert_eq!(remove(&make_again), removal::Removal::Gone);
    let opened = store.open(Kind::Permutation, key, true).unwrap();
    assert_eq!(&crate::kinds::permutation::open(&opened).unwrap()[..], &[1, 0]);
    lease.take();
    assert_eq!(remove(&|| {}), removal::Removal::Gone);
    assert_eq!(
        fs::read_dir(store.kind_directory(Kind::Permutation)).unwrap().count(),
        0,
        "nothing is left aside"
    );
}

#[test]
fn what_a_killed_gc_left_aside_is_removed_or_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let (used, unused) = (publish(&store, 1, vec![0, 1]), publish(&store, 2, vec![0, 1]));
    let (of_living, dead) = (publish(&store, 3, vec![0, 1]), ended_process());
    let left = leave_aside(&used, dead);
    let removed = leave_aside(&unused, dead);
    let living = leave_aside(&of_living, std::process::id());
    let lease = store.lease(&used.manifest.key);
    let dry = store.collect(&gc::Request { dry: true, ..gc::Request::default() }).unwrap();
    assert!(dry.removed.len() == 1 && left.exists() && removed.exists());
    let report = store.collect(&gc::Request::default()).unwrap();
    assert_eq!((report.removed.len(), &report.removed[0].path), (1, &removed));
    assert!(report.removed[0].bytes > 0 && !removed.exists() && !left.exists() && living.exists());
    store.open(Kind::Permutation, &used.manifest.key, true).unwrap();
    drop(lease);
    // Given back by a living gc, or made again meanwhile: what is aside goes.
    let left = leave_aside(&used, dead);
    publish(&store, 1, vec![0, 1]);
    let _lease = store.lease(&used.manifest.key);
    store.collect(&gc::Request::default()).unwrap();
    assert!(!left.exists() && used.path.exists());
}

#[test]
fn artifacts_of_older_formats_go_when_asked_for_and_those_of_newer_ones_never() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let key = document(1).key();
    let put = |kind: &str| {
        let path = folder.path().join(kind).join(key.as_str());
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join(MANIFEST_FILE), "of another version").unwrap();
        path
    };
    let (plan, run, newer) = (put("plan-v1"), put("run-v0"), put("graph-v99"));
    let left =
        folder.path().join(format!("plan-v1/.tmp-{key}-{}-0@{}", ended_process(), lease::host()));
    fs::create_dir(&left).unwrap();
    let paths = |report: &gc::Report| -> Vec<PathBuf> {
        report.removed.iter().map(|removed| removed.path.clone()).collect()
    };
    let all = gc::Request {
        keep_bytes: Some(0),
        older_than: Some(Duration::ZERO),
        unreachable: true,
        runs: true,
        ..gc::Request::default()
    };
    let report = store.collect(&all).unwrap();
    assert_eq!(
        (paths(&report), report.other_formats.older.len(), report.other_formats.newer.len()),
        (vec![left], 2, 1)
    );
    let asked = gc::Request { older_formats: true, ..gc::Request::default() };
    let lease = store.lease(&key);
    assert!(paths(&store.collect(&asked).unwrap()).is_empty(), "an older version may use it");
    drop(lease);
    assert_eq!(
        paths(&store.collect(&gc::Request { dry: true, ..asked.clone() }).unwrap()),
        vec![plan.clone()]
    );
    let report = store.collect(&asked).unwrap();
    assert_eq!(
        (paths(&report), report.other_formats.older.len()),
        (vec![plan.clone()], 1),
        "results of runs are a person's"
    );
    assert!(!plan.parent().unwrap().exists() && run.exists());
    assert_eq!(paths(&store.collect(&gc::Request { runs: true, ..asked }).unwrap()), [run]);
    assert!(newer.exists());
}

#[test]
fn what_was_used_within_the_hour_before_the_limit_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0, 1]);
    let older_than = |hours: u64| gc::Request {
        older_than: Some(Duration::from_secs(hours * 3600)),
        ..gc::Request::default()
    };
    // Noted 90 minutes ago, and perhaps used since: such a use is not noted within an hour.
    let time = SystemTime::now() - Duration::from_secs(90 * 60);
    fs::File::open(artifact.file(MANIFEST_FILE)).unwrap().set_modified(time).unwrap();
    assert_eq!(store.collect(&older_than(1)).unwrap().removed, []);
    age(&artifact.file(MANIFEST_FILE), 3);
    assert_eq!(store.collect(&older_than(1)).unwrap().removed.len(), 1);
}

#[test]
fn counts_that_nothing_has_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let artifact = publish(&store, 1, vec![0, 1]);
    for (name, count) in [("nodes", u64::MAX), ("nodes", crate::NODES_MAX + 1), ("edges", 1 << 63)]
    {
        let mut forged = artifact.manifest.clone();
        forged.counts.insert(name.into(), count);
        fs::write(artifact.file(MANIFEST_FILE), forged.to_text()).unwrap();
        let error = store.open(Kind::Permutation, &document(1).key(), false).unwrap_err();
        assert!(
            error.kind == ErrorKind::Damaged && error.what.contains(&format!("found {count}")),
            "{error}"
        );
    }
}
