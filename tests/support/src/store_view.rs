//! store_view: a look into a store from outside: folders, manifests as plain JSON, digests computed
//! again.
//!
//! never     opens an artifact through the product's own store
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use warploom_contract::Digest;

/// A store seen from outside.
#[derive(Clone, Debug)]
pub struct StoreView {
    root: PathBuf,
}

/// A folder under a final name.
#[derive(Clone, Debug)]
pub struct StoredArtifact {
    /// Its kind.
    pub kind: String,
    /// Its key, and for a checkpoint its step.
    pub key: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Its manifest; null if it cannot be read.
    pub manifest: Value,
}

/// Folder of the artifact of a kind, from a stage's line.
pub fn folder(line: &Value, kind: &str) -> PathBuf {
    let artifacts = line["artifacts"].as_array().expect("a line lists what was made");
    let artifact = artifacts
        .iter()
        .find(|artifact| artifact["kind"] == kind)
        .expect("the stage writes that kind");
    PathBuf::from(artifact["path"].as_str().expect("an artifact has a path"))
}

impl StoredArtifact {
    /// Names of its files but the manifest.
    pub fn files(&self) -> Vec<String> {
        let files = self.manifest["files"].as_array().cloned().unwrap_or_default();
        files.iter().filter_map(|file| file["name"].as_str().map(str::to_owned)).collect()
    }

    /// The record of a run.
    pub fn record(&self) -> Value {
        let text = fs::read_to_string(self.path.join("record.json")).expect("a run has a record");
        serde_json::from_str(&text).expect("a record is JSON")
    }

    /// Why it is not whole, if it is not.
    fn flaw(&self) -> Option<String> {
        let Some(listed) = self.manifest["files"].as_array() else {
            return Some("no readable manifest".to_owned());
        };
        let mut names: Vec<String> = tree(&self.path)
            .into_iter()
            .filter_map(|path| Some(path.strip_prefix(&self.path).ok()?.display().to_string()))
            .collect();
        names.retain(|name| name != "manifest.json");
        let mut expected = self.files();
        names.sort();
        expected.sort();
        if names != expected {
            return Some(format!("expected files {expected:?}, found {names:?}"));
        }
        listed.iter().find_map(|file| {
            let path = self.path.join(file["name"].as_str()?);
            let bytes = fs::metadata(&path).map(|facts| facts.len()).ok();
            let digest = Digest::from_file(&path).ok();
            let sound = bytes == file["bytes"].as_u64()
                && digest.as_ref().map(Digest::as_str) == file["blake3"].as_str();
            (!sound).then(|| format!("{} is not what the manifest says", path.display()))
        })
    }
}

impl StoreView {
    /// Of the store at this path.
    pub fn of(root: &Path) -> Self {
        StoreView { root: root.to_path_buf() }
    }

    /// Every folder under a final name, sorted by kind and key.
    pub fn artifacts(&self) -> Vec<StoredArtifact> {
        let mut found = Vec::new();
        for kind in self.kinds() {
            for path in entries(&self.root.join(&kind)) {
                let key = name_of(&path);
                if !is_key(&key) {
                    continue;
                }
                let kind = kind.split('-').next().unwrap_or(&kind).to_owned();
                if kind == "checkpoint" {
                    let steps = entries(&path)
                        .into_iter()
                        .map(|step| open(&kind, format!("{key}/{}", name_of(&step)), step));
                    found.extend(steps);
                } else {
                    found.push(open(&kind, key, path));
                }
            }
        }
        found
    }

    /// Those of one kind.
    pub fn of_kind(&self, kind: &str) -> Vec<StoredArtifact> {
        self.artifacts().into_iter().filter(|found| found.kind == kind).collect()
    }

    /// Input digest of every artifact by `kind/key`, but of checkpoints.
    pub fn digests(&self) -> BTreeMap<String, String> {
        let all = self.artifacts().into_iter().filter(|found| found.kind != "checkpoint");
        all.map(|found| {
            (
                format!("{}/{}", found.kind, found.key),
                found.manifest["digest"].as_str().unwrap_or("none").to_owned(),
            )
        })
        .collect()
    }

    /// Every file with its bytes.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        tree(&self.root)
            .into_iter()
            .map(|path| (path.clone(), fs::read(&path).expect("a file of a store can be read")))
            .collect()
    }

    /// Folders that a writer or a `gc` left in a folder of a kind.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let all = self.kinds().into_iter().flat_map(|kind| entries(&self.root.join(kind)));
        all.filter(|path| {
            [".tmp-", ".trash-", ".aside-"].iter().any(|start| name_of(path).starts_with(start))
        })
        .collect()
    }

    /// What lies where only artifacts and left-overs may, and artifacts that are not whole:
    /// nothing, ever.
    pub fn flaws(&self) -> Vec<String> {
        let mut flaws: Vec<String> = self
            .artifacts()
            .iter()
            .filter_map(|found| {
                found.flaw().map(|flaw| format!("{}: {flaw}", found.path.display()))
            })
            .collect();
        let left = self.leftovers();
        for kind in self.kinds() {
            let odd = entries(&self.root.join(kind))
                .into_iter()
                .filter(|path| !is_key(&name_of(path)) && !left.contains(path));
            flaws.extend(
                odd.map(|path| format!("{}: neither an artifact nor a left-over", path.display())),
            );
        }
        flaws
    }

    /// Folders that are named like a kind.
    fn kinds(&self) -> Vec<String> {
        let names = entries(&self.root).into_iter().map(|path| name_of(&path));
        names
            .filter(|name| {
                name.rsplit_once("-v")
                    .is_some_and(|(kind, version)| kind != "seen" && version.parse::<u32>().is_ok())
            })
            .collect()
    }
}

fn open(kind: &str, key: String, path: PathBuf) -> StoredArtifact {
    let manifest = fs::read(path.join("manifest.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok());
    StoredArtifact { kind: kind.to_owned(), key, path, manifest: manifest.unwrap_or(Value::Null) }
}

fn is_key(name: &str) -> bool {
    name.len() == 32
        && name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// What a folder holds, sorted; nothing if there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    paths.sort();
    paths
}

/// Every file below a folder, sorted.
fn tree(folder: &Path) -> Vec<PathBuf> {
    entries(folder)
        .into_iter()
        .flat_map(|path| if path.is_dir() { tree(&path) } else { vec![path] })
        .collect()
}
