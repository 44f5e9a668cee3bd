//! validation: checks of artifacts against their kind, before they are published and when they are
//! opened.
//!
//! promises  a draft is sealed only if all of it is valid; an artifact is opened only if its
//!           schema, sizes and offsets are valid; an error about damage has a hint that repairs it
//! never     knows what the files of a kind hold (`kinds` does) or where they are (`store` does)
use std::path::Path;

use crate::{
    Artifact, ErrorKind, Key, Kind, Manifest, Outputs, StageError, Store, caught_panics,
    kinds::{self, Depth},
    manifest::rebuild_hint,
    progress::Advance,
    store::{Draft, Sealed},
};

impl Artifact {
    /// Checks its files against its kind; an error has a hint that repairs them.
    pub fn validate(&self, depth: Depth) -> Result<(), StageError> {
        let looked =
            caught_panics::catch(|| kinds::validate(&self.path, &self.manifest, self.kind, depth));
        let damaged = |said: String| {
            caught_panics::out_of_memory(&said).unwrap_or_else(|| {
                StageError::damaged(&self.path, format!("reading its files fails: {said}"))
            })
        };
        looked.unwrap_or_else(|said| Err(damaged(said))).map_err(|error| self.with_repair(error))
    }

    /// The error of work that read this artifact. What looks like a defect may come from damage
    /// that `--no-verify` or a forged manifest let through. So everything in the artifact is
    /// checked, and damage that is found replaces the error.
    pub fn blame(&self, error: StageError) -> StageError {
        if error.kind != ErrorKind::Defect {
            return self.with_repair(error);
        }
        let prove = |whole: Artifact| {
            whole.manifest.check_digests(&whole.path).and_then(|()| whole.validate(Depth::Publish))
        };
        Artifact::from_folder(self.kind, &self.path).and_then(prove).err().unwrap_or(error)
    }

    /// Adds the hint that repairs this artifact to an error about its damage. An error without a
    /// place comes from a plan that contradicts the graph.
    fn with_repair(&self, error: StageError) -> StageError {
        if error.kind == ErrorKind::Damaged && error.place.is_none() && self.kind == Kind::Plan {
            return error
                .at(self.file(kinds::plan::PLAN_FILE).display())
                .hint(rebuild_hint(&self.path));
        }
        let is_here =
            error.place.as_deref().is_some_and(|place| Path::new(place).starts_with(&self.path));
        if error.kind == ErrorKind::Damaged && error.hint.is_none() && is_here {
            error.hint(rebuild_hint(&self.path))
        } else {
            error
        }
    }
}

impl Store {
    /// Opens an artifact for use: `get`, then schema and cheap invariants. With `verify`, reads
    /// every file and compares its digest too.
    pub fn open(&self, kind: Kind, key: &Key, verify: bool) -> Result<Artifact, StageError> {
        self.open_with(kind, key, |artifact| {
            if verify {
                artifact.manifest.check_digests(&artifact.path)?;
            }
            artifact.validate(Depth::Open)
        })
    }
}

impl Draft {
    /// Digests and syncs every file, validates the whole, and writes the manifest.
    pub fn seal(self, manifest: Manifest, advance: Advance<'_>) -> Result<Sealed, StageError> {
        let kind = self.kind();
        self.seal_with(manifest, advance, |path, manifest| {
            kinds::validate(path, manifest, kind, Depth::Publish)
                .map_err(|error| as_defect(kind, error))
        })
    }
}

/// Invalid output is a defect of the stage that wrote it; a fault of the disk is not.
fn as_defect(kind: Kind, error: StageError) -> StageError {
    match error.kind {
        ErrorKind::Damaged => StageError::defect(format!(
            "a `{}` that a stage wrote is not valid: {}",
            kind.name(),
            error.what
        ))
        .at(error.place.unwrap_or_default()),
        _ => error,
    }
}

impl Outputs {
    /// Validates, syncs and publishes every kind.
    pub fn publish(self, store: &Store) -> Result<Vec<Artifact>, StageError> {
        Ok(self
            .publish_with_progress(store, false, &|_| {})?
            .into_iter()
            .map(|(artifact, _)| artifact)
            .collect())
    }

    /// Like `publish`, but replaces an artifact that has other bytes; says which were replaced.
    pub fn publish_over(self, store: &Store) -> Result<Vec<(Artifact, bool)>, StageError> {
        self.publish_with_progress(store, true, &|_| {})
    }

    /// `publish_over` or, without `replace`, `publish`; reports each file.
    pub fn publish_with_progress(
        self,
        store: &Store,
        replace: bool,
        advance: Advance<'_>,
    ) -> Result<Vec<(Artifact, bool)>, StageError> {
        self.count_bytes()?;
        let sealed = self
            .into_drafts()
            .map(|(draft, manifest)| draft.seal(manifest, advance))
            .collect::<Result<Vec<Sealed>, StageError>>()?;
        sealed.into_iter().map(|draft| store.publish(draft, replace)).collect()
    }
}
