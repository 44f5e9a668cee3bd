//! artifact: a published artifact as it is found in the store, and how much of it a stage reads.
//!
//! promises  a stage that reads what its key does not hold panics, so that nothing of it is
//!           published
//! never     looks into a file: `kinds` does
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

/// What a stage reads of an input artifact. It is given nothing else of it, and its key holds all
/// of it but the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Files.
    pub files: Names,
    /// Numbers of the manifest.
    pub counts: Names,
    /// Facts of the manifest.
    pub facts: Names,
    /// Files that are records: they may be shown, and may change no byte of what the stage writes.
    pub records: Names,
}

/// A published artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// Its kind.
    pub kind: Kind,
    /// Where it lies.
    pub path: PathBuf,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Its files, `counts/NAME` and `facts/NAME` that are withheld from the stage that reads it:
    /// its key does not hold them.
    pub withheld: Vec<String>,
}

impl Artifact {
    /// A whole artifact.
    pub fn new(kind: Kind, path: PathBuf, manifest: Manifest) -> Self {
        Artifact { kind, path, manifest, withheld: Vec::new() }
    }

    /// The artifact of a kind that a folder holds, wherever the folder lies.
    pub fn in_folder(kind: Kind, folder: &Path) -> Result<Self, StageError> {
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

    /// What a stage is given of it: its manifest has the files, counts and facts that the stage
    /// reads and no others, so that digests of the files that are read are those of
    /// `manifest.files`.
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

    /// What its files, as far as they are given, contribute to a key: records contribute nothing.
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

    /// Whether it was removed since it was found.
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

    /// A number of its manifest.
    pub fn count(&self, name: &str) -> Result<u64, StageError> {
        let missing = || {
            StageError::damaged(
                &self.path.join(MANIFEST_FILE),
                format!("expected a count `{name}`, found none"),
            )
        };
        self.find_count(name).ok_or_else(missing)
    }

    /// A number of its manifest, if that has it.
    pub fn find_count(&self, name: &str) -> Option<u64> {
        self.need_given(&format!("counts/{name}"));
        self.manifest.counts.get(name).copied()
    }

    /// A fact of its manifest, if that has it.
    pub fn find_fact(&self, name: &str) -> Option<&Value> {
        self.need_given(&format!("facts/{name}"));
        self.manifest.facts.get(name)
    }

    /// Panics where a stage reads what its key does not hold: a defect, of which nothing must be
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
