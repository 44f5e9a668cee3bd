//! later_stores: stores that are read after the one that is written: a shared one under a private
//! one.
//!
//! promises  an artifact is found in the first store that has it whole; nothing is written to a
//!           later store but, where that is allowed, leases and the time at which an artifact of it
//!           was used
//! never     removes, replaces or publishes anything in a later store
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
};

use super::{Artifact, Store};
use crate::{ErrorKind, Key, Kind, StageError};

/// Damaged artifacts of later stores that this process takes as missing, so that they are made
/// again in the first store.
static AVOIDED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl Store {
    /// The same store, and others that are only read, in this order.
    pub fn with_later(mut self, roots: impl IntoIterator<Item = PathBuf>) -> Self {
        for root in roots {
            if root != self.root && !self.later.contains(&root) {
                self.later.push(root);
            }
        }
        self
    }

    /// The folders of all stores; the first one is written.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.root).chain(&self.later).map(PathBuf::as_path)
    }

    /// Each store alone, the one that is written first.
    pub fn each(&self) -> Vec<Store> {
        self.roots().map(Store::new).collect()
    }

    /// The folder of the later store in which a path is; none if it is in the first store or
    /// nowhere.
    pub fn later_root(&self, path: &Path) -> Option<&Path> {
        if path.starts_with(&self.root) {
            return None;
        }
        self.later.iter().map(PathBuf::as_path).find(|root| path.starts_with(root))
    }

    /// Looks an artifact up in the later stores. Damage in one is an error only if no other has it.
    pub(super) fn find_later(&self, kind: Kind, key: &Key) -> Result<Option<Artifact>, StageError> {
        let mut damage = None;
        for root in &self.later {
            let store = Store::new(root);
            if is_avoided(&store.path(kind, key)) {
                continue;
            }
            match store.find_own(kind, key) {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(error) if error.kind == ErrorKind::Damaged => {
                    damage.get_or_insert_with(|| name_store(error, root));
                }
                Err(error) => return Err(error),
            }
        }
        damage.map_or(Ok(None), Err)
    }

    /// Takes a damaged artifact of a later store as missing from now on: that which an error is
    /// about. Returns its folder; none if the error is about something else.
    pub fn avoid_damaged(&self, error: &StageError) -> Option<PathBuf> {
        let place = Path::new(error.place.as_deref()?);
        let root = self.later_root(place).filter(|_| error.kind == ErrorKind::Damaged)?;
        let mut parts = place.strip_prefix(root).ok()?.components();
        let path = root.join(parts.next()?).join(parts.next()?);
        avoided().insert(path.clone()).then_some(path)
    }

    /// Replaces the hint of an error about damage in a later store, which advises to remove the
    /// artifact, by one that leaves it.
    pub fn explain_later(&self, error: StageError) -> StageError {
        let root = error.place.as_deref().and_then(|place| self.later_root(Path::new(place)));
        match root.map(Path::to_owned) {
            Some(root) if error.kind == ErrorKind::Damaged => name_store(error, &root),
            _ => error,
        }
    }
}

/// Whether an artifact of a later store was found to be damaged.
pub(super) fn is_avoided(path: &Path) -> bool {
    avoided().contains(path)
}

fn name_store(error: StageError, root: &Path) -> StageError {
    let store = crate::error::shell_quoted(root);
    error.hint(format!(
        "it is in the store {store}, which is only read here: `warploom pipeline FILE` makes it \
         again in the first store; the owner of that store repairs it, after  warploom store \
         verify --store {store}"
    ))
}

fn avoided() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    AVOIDED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
