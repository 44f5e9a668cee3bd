//! artifact: the kind, folder and manifest of a published artifact, and the part a stage reads.
//!
//! promises  a stage that reads what its key does not hold panics, and publishes nothing
//! never     reads a file other than the manifest: `kinds` does
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::is_gone;
use crate::{
    InputFacts, Kind, Manifest, StageError,
    manifest::{FileEntry, MANIFEST_FILE},
};

/// Names, or beginnings of names where they end in `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<&'static str>);

impl Names {
    /// Whether a name is among them.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| {
            known.strip_suffix('*').map_or(*known == name, |start| name.starts_with(start))
        })
    }
}

impl<const N: usize> From<[&'static str; N]> for Names {
    fn from(names: [&'static str; N]) -> Self {
        Names(names.into())
    }
}

/// What a stage reads of an input artifact. It gets nothing else of the artifact, and its key holds
/// all of this but the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Files.
    pub files: Names,
    /// Numbers of the manifest.
    pub counts: Names,
    /// Facts of the manifest.
    pub facts: Names,
    /// Files that are records: a stage may show them, but they change no byte of its output.
    pub records: Names,
}

/// A published artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// Its kind.
    pub kind: Kind,
    /// Its folder.
    pub path: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Files, `counts/NAME` and `facts/NAME` that the reading stage does not get: its key does not
    /// hold them.
    pub withheld: Vec<String>,
}

impl Artifact {
    /// An artifact of which nothing is withheld.
    pub fn new(kind: Kind, path: PathBuf, manifest: Manifest) -> Self {
        Artifact { kind, path, manifest, withheld: Vec::new() }
    }

    /// The artifact of a kind in a folder, which need not be in a store.
    pub fn from_folder(kind: Kind, folder: &Path) -> Result<Self, StageError> {
        let missing = || {
            StageError::damaged(
                &folder.join(MANIFEST_FILE),
                format!("expected the manifest of a `{}`, found none", kind.name()),
            )
        };
        Ok(Artifact::new(
            kind,
            folder.to_path_buf(),
            Manifest::read(folder, kind)?.ok_or_else(missing)?,
        ))
    }

    /// The part that a stage reads: its manifest has only the files, counts and facts that `reads`
    /// names, so `manifest.files` has the digests of exactly the files that are read.
    pub fn restricted(&self, reads: &Reads) -> Artifact {
        let Artifact { kind, path, mut manifest, mut withheld } = self.clone();
        let (read, others) = manifest
            .files
            .into_iter()
            .partition(|file| reads.files.has(&file.name) || reads.records.has(&file.name));
        manifest.files = read;
        withheld.extend(others.into_iter().map(|file: FileEntry| file.name));
        manifest.counts.retain(|name, _| {
            reads.counts.has(name) || withhold(&mut withheld, format!("counts/{name}"))
        });
        manifest.facts.retain(|name, _| {
            reads.facts.has(name) || withhold(&mut withheld, format!("facts/{name}"))
        });
        Artifact { kind, path, manifest, withheld }
    }

    /// What it contributes to a key; records and what is withheld contribute nothing.
    pub fn input_facts(&self) -> InputFacts {
        let Manifest { counts, facts, provenance, made_up, .. } = self.manifest.clone();
        InputFacts {
            digest: self.manifest.digest_of_files(self.kind),
            counts,
            facts,
            provenance,
            made_up,
        }
    }

    /// Whether its folder was removed since it was found.
    pub fn is_gone(&self) -> bool {
        is_gone(&self.path)
    }

    /// Path of one of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.need_given(name);
        self.path.join(name)
    }

    /// Whether it has a file.
    pub fn has(&self, name: &str) -> bool {
        self.need_given(name);
        self.manifest.files.iter().any(|file| file.name == name)
    }

    /// A count of its manifest.
    pub fn count(&self, name: &str) -> Result<u64, StageError> {
        let missing = || {
            StageError::damaged(
                &self.path.join(MANIFEST_FILE),
                format!("expected a count `{name}`, found none"),
            )
        };
        self.find_count(name).ok_or_else(missing)
    }

    /// A count of its manifest, if the manifest has it.
    pub fn find_count(&self, name: &str) -> Option<u64> {
        self.need_given(&format!("counts/{name}"));
        self.manifest.counts.get(name).copied()
    }

    /// A fact of its manifest, if the manifest has it.
    pub fn find_fact(&self, name: &str) -> Option<&Value> {
        self.need_given(&format!("facts/{name}"));
        self.manifest.facts.get(name)
    }

    /// Panics where a stage reads what its key does not hold: that is a defect, and nothing may be
    /// published.
    fn need_given(&self, name: &str) {
        let is_withheld = self.withheld.iter().any(|withheld| withheld == name);
        assert!(
            !is_withheld,
            "`{name}` of the {} is read, and the stage's key does not hold it",
            self.kind.name()
        );
    }
}

fn withhold(withheld: &mut Vec<String>, name: String) -> bool {
    withheld.push(name);
    false
}
