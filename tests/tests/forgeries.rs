//! Proves that an artifact with wrong contents under a right digest, as only somebody makes it who
//! can write the store, ends no program in another way than an error: five commands meet it.
//!
//! promises  no exit 255, no signal, no hang, whatever stands in a file. Results may be wrong: a
//!           store is trusted by whoever reads it. `make test` forges each kind of file a few
//!           times, `make test-long` every file many times
use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};
use warploom_contract::Manifest;
use warploom_test_support::draws::Draws;
use warploom_test_support::process::Output;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;
use warploom_test_support::store_view::StoredArtifact;

use crate::{
    bit_flips::{copy, stage_of},
    damage::{files, forge, replace},
    faults::{fault_of, sum_up},
};

/// Ids and offsets that no graph has, and numbers that are none, as 4 bytes.
const WORDS: [u32; 10] =
    [0, 1, 7, 34, 35, 1 << 31, u32::MAX - 1, u32::MAX, 0x7fc0_0000, 0xff80_0000];
/// The same, as 8 bytes.
const LONG_WORDS: [u64; 8] = [0, 1, 34, 156, 1 << 32, (1 << 63) - 1, 1 << 63, u64::MAX];
/// Before them lie the metadata of an Arrow file's batch, in files of these graphs.
const METADATA_BYTES: usize = 1024;

fn draw(draws: &mut Draws, count: usize) -> usize {
    ((draws.unit() * count as f64) as usize).min(count.saturating_sub(1))
}

/// Overwrites one aligned word: in the long form of a case of the metadata, else anywhere.
fn with_other_word(bytes: &[u8], draws: &mut Draws) -> (Vec<u8>, String) {
    let range = if draws.unit() < 0.5 { bytes.len().min(METADATA_BYTES) } else { bytes.len() };
    let word = match draws.unit() < 0.5 {
        true => WORDS[draw(draws, WORDS.len())].to_le_bytes().to_vec(),
        false => LONG_WORDS[draw(draws, LONG_WORDS.len())].to_le_bytes().to_vec(),
    };
    let at = draw(draws, range.saturating_sub(word.len()) / word.len() + 1) * word.len();
    let mut changed = bytes.to_vec();
    for (byte, with) in changed.iter_mut().skip(at).zip(&word) {
        *byte = *with;
    }
    (changed, format!("{word:?} at byte {at}"))
}

/// Places of all numbers and words of a page.
fn leaves(page: &Value, place: &str, found: &mut Vec<String>) {
    let below = |name: &str| format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
    match page {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| leaves(value, &below(name), found))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| leaves(value, &below(&index.to_string()), found)),
        _ => found.push(place.to_owned()),
    }
}

/// Changes one number or word of a page.
fn with_other_leaf(page: &mut Value, draws: &mut Draws) -> String {
    let mut places = Vec::new();
    leaves(page, "", &mut places);
    let others = [
        json!(0),
        json!(1),
        json!(7),
        json!(-1),
        json!(u32::MAX),
        json!(1u64 << 63),
        json!(u64::MAX),
        json!(1e308),
        json!(null),
        json!("x"),
        json!([]),
    ];
    let (place, other) = (&places[draw(draws, places.len())], &others[draw(draws, others.len())]);
    *page.pointer_mut(place).unwrap() = other.clone();
    format!("{place} = {other}")
}

/// Forges a file at random; what was done.
fn forge_file(path: &Path, bytes: &[u8], draws: &mut Draws) -> String {
    if path.ends_with("manifest.json") {
        let mut manifest: Manifest = serde_json::from_slice(bytes).unwrap();
        let mut counts = json!(manifest.counts);
        if manifest.counts.is_empty() {
            manifest.made_up.push("nothing".to_owned());
        } else {
            with_other_leaf(&mut counts, draws);
            manifest.counts = serde_json::from_value(counts).unwrap_or_default();
        }
        replace(path, manifest.to_text().as_bytes());
        return format!("counts = {:?}", manifest.counts);
    }
    let (changed, what) = match serde_json::from_slice::<Value>(bytes) {
        Ok(mut page) => {
            let what = with_other_leaf(&mut page, draws);
            (page.to_string().into_bytes(), what)
        }
        Err(_) => with_other_word(bytes, draws),
    };
    forge(path, &changed);
    what
}

/// What five commands make of a forged file. What is not as it should be.
fn commands(sandbox: &Sandbox, recipe: &Recipe, artifact: &StoredArtifact) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut judge = |what: &str, output: &Output, codes: &[i32]| {
        wrong.extend(fault_of(output, "").map(|fault| format!("{what}: {fault}")));
        if !output.code.is_some_and(|code| codes.contains(&code)) {
            wrong.push(format!("{what}: expected one of {codes:?}, ended with {:?}", output.code));
        }
    };
    judge("hits", &sandbox.front("pipeline", recipe, &[]), &[0, 1, 3]);
    judge("check", &sandbox.front("check", recipe, &[]), &[0, 1, 3]);
    judge("store verify", &sandbox.warploom(&["store", "verify"]), &[0, 1, 3]);
    let key = format!("{}/{}", artifact.kind, artifact.key);
    for form in [&[][..], &["--as", "csv"]] {
        let output = sandbox.path("exported");
        judge(
            "export",
            &sandbox.warploom(
                &[&["export", &key, "-o", output.to_str().unwrap(), "--force"], form].concat(),
            ),
            &[0, 1, 2],
        );
    }
    let later =
        sandbox.view().artifacts().into_iter().filter(|found| stage_of(found) > stage_of(artifact));
    later.for_each(|found| fs::remove_dir_all(&found.path).unwrap());
    judge("made anew", &sandbox.front("pipeline", recipe, &[]), &[0, 1, 3]);
    wrong
}

fn campaign(recipe: &Recipe, seed: u64, rounds: usize) {
    let sandbox = Sandbox::stand_in();
    let sound = sandbox.with_store("sound");
    sound.build(recipe);
    let mut draws = Draws::seeded(seed);
    let (mut endings, mut all) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (number, (found, path, bytes)) in files(&sound).into_iter().enumerate() {
        for round in 0..if is_long() {
            rounds
        } else {
            usize::from((number as u64 + seed).is_multiple_of(3))
        } {
            let sandbox = sandbox.with_store(format!("forged-{number}-{round}"));
            copy(&sound.store, &sandbox.store);
            let file = path.strip_prefix(&sound.store).unwrap();
            let what = forge_file(&sandbox.store.join(file), &bytes, &mut draws);
            // Seen if a program does not end.
            println!("{}, {what}", file.display());
            let wrong = commands(&sandbox, recipe, &found);
            *endings
                .entry(if wrong.is_empty() { "as it should".to_owned() } else { "not".to_owned() })
                .or_default() += 1;
            all.extend(
                wrong.into_iter().map(|wrong| format!("{}, {what}: {wrong}", file.display())),
            );
            fs::remove_dir_all(&sandbox.store).unwrap();
        }
    }
    sum_up("forged files, six commands each", &endings, &all);
}

#[test]
fn forged_files_of_a_training_are_errors_or_read() {
    campaign(&Recipe::small(), 41, 16);
}

#[test]
fn forged_files_of_an_iteration_are_errors_or_read() {
    campaign(&Recipe::of("pagerank", "karate"), 42, 16);
}

#[test]
fn forged_files_of_many_graphs_are_errors_or_read() {
    campaign(&Recipe::of("gin", "tu-mutag").set("run.epochs=1"), 43, 16);
}

#[test]
fn forged_files_of_relations_are_errors_or_read() {
    campaign(&Recipe::of("rgcn", "aifb").set("run.epochs=1"), 44, 4);
}
