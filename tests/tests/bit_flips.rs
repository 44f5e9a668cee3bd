//! Proves that a flipped bit in any file of a store changes no result: five commands meet it, and
//! each is right or names the file.
//!
//! promises  no wrong result, no exit 255, no signal; `store verify` and `--verify` find every
//!           flip. `make test` flips a bit in one file of three, `make test-long` 20 bits in each
use std::{collections::BTreeMap, fs, path::Path};

use warploom_test_support::draws::Draws;
use warploom_test_support::process::Output;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;
use warploom_test_support::store_view::StoredArtifact;

use crate::{
    damage::{files, replace},
    faults::{fault_of, sum_up},
    pipeline::STAGES,
};

/// The place of the stage that made an artifact; none where its manifest cannot be read, which is
/// then before all others. The choice of an order is made by the stage that makes the order.
pub fn stage_of(artifact: &StoredArtifact) -> Option<usize> {
    let producer = artifact.manifest["producer"]["stage"].as_str()?;
    let stage = if producer == "order-choice" { "reorder" } else { producer };
    STAGES.iter().position(|name| *name == stage)
}

/// What five commands make of a flipped bit: `warploom pipeline` where all are hits, with
/// `--verify` and where all that follows is made anew from the damaged file, `check`, and `store
/// verify`. What is not as it should be.
fn commands(
    sandbox: &Sandbox,
    (recipe, sound): (&Recipe, &BTreeMap<String, String>),
    (artifact, path): (&StoredArtifact, &Path),
) -> Vec<String> {
    let name = path.to_str().unwrap();
    let mut wrong = Vec::new();
    let mut judge = |what: &str, output: &Output, codes: &[i32], is_named: bool| {
        wrong.extend(fault_of(output, "").map(|fault| format!("{what}: {fault}")));
        if !output.code.is_some_and(|code| codes.contains(&code)) {
            wrong.push(format!("{what}: expected one of {codes:?}, ended with {:?}", output.code));
        }
        if is_named && !output.stderr.contains(name) {
            wrong.push(format!(
                "{what}: it does not name the file: {}",
                output.stderr.lines().next().unwrap_or_default()
            ));
        }
    };
    judge("hits", &sandbox.front("pipeline", recipe, &[]), &[0, 1], false);
    judge("pipeline --verify", &sandbox.front("pipeline", recipe, &["--verify"]), &[1], true);
    judge("check", &sandbox.front("check", recipe, &[]), &[0, 1, 3], false);
    judge("store verify", &sandbox.warploom(&["store", "verify"]), &[3], true);
    let later =
        sandbox.view().artifacts().into_iter().filter(|found| stage_of(found) > stage_of(artifact));
    later.for_each(|found| fs::remove_dir_all(&found.path).unwrap());
    let rebuilt = sandbox.front("pipeline", recipe, &[]);
    judge("made anew", &rebuilt, &[0, 1], rebuilt.code == Some(1));
    // A damaged manifest that was named is still there.
    let own = format!("{}/{}", artifact.kind, artifact.key);
    let mut now = sandbox
        .view()
        .digests()
        .into_iter()
        .filter(|(key, _)| rebuilt.code == Some(0) || *key != own);
    if let Some((other, _)) = now.find(|(key, digest)| sound.get(key) != Some(digest)) {
        wrong.push(format!(
            "made anew: WRONG RESULT: the digest of {other} is not the one without damage, and the \
             exit code is {:?}",
            rebuilt.code
        ));
    }
    wrong
}

/// Copies a folder with what is below it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

/// Random bits of every file in the long form, of one file in three in the short one.
fn flips(recipe: &Recipe, seed: u64) {
    let sandbox = Sandbox::stand_in();
    let sound = sandbox.with_store("sound");
    sound.build(recipe);
    let digests = sound.view().digests();
    let mut draws = Draws::seeded(seed);
    let (mut endings, mut all) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (number, (found, path, bytes)) in files(&sound).into_iter().enumerate() {
        assert!(stage_of(&found).is_some(), "{} says no stage that made it", path.display());
        if !is_long() && !(number as u64 + seed).is_multiple_of(3) {
            continue;
        }
        for flip in 0..if is_long() { 20 } else { 1 } {
            let sandbox = sandbox.with_store(format!("damaged-{number}-{flip}"));
            copy(&sound.store, &sandbox.store);
            let of_copy =
                |path: &Path| sandbox.store.join(path.strip_prefix(&sound.store).unwrap());
            let (at, bit) =
                ((draws.unit() * bytes.len() as f64) as usize, (draws.unit() * 8.0) as u32);
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let damaged = of_copy(&path);
            replace(&damaged, &flipped);
            let wrong = commands(&sandbox, (recipe, &digests), (&found, &damaged));
            *endings
                .entry(if wrong.is_empty() { "as it should".to_owned() } else { "not".to_owned() })
                .or_default() += 1;
            let file = path.strip_prefix(&sound.store).unwrap().display();
            all.extend(
                wrong.into_iter().map(|what| format!("{file}, bit {bit} of byte {at}: {what}")),
            );
            fs::remove_dir_all(&sandbox.store).unwrap();
        }
    }
    sum_up("flipped bits, five commands each", &endings, &all);
}

#[test]
fn flipped_bits_of_a_training_change_no_result() {
    flips(&Recipe::small(), 31);
}

#[test]
fn flipped_bits_of_an_iteration_change_no_result() {
    flips(&Recipe::of("pagerank", "karate"), 32);
}
