//! Removing an artifact beside processes that may begin to use it at that moment.
//!
//! promises  an artifact loses its name first, and leases are looked at after that: who leased it before gets it back under its name, who
//!           comes later does not find it; an artifact beside its name is whole, so that it can have its name back at any time
//! never     gives back what was published anew meanwhile; waits for anybody
//! limits    a process that looks between the two renames does not find what it has leased: it looks again, or makes it again
use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Store, TRASH, drafts, lease};
use crate::{Key, StageError, eintr::retry};

/// How names begin of artifacts that are to be removed unless somebody uses them. What has such a name is whole.
pub(super) const ASIDE: &str = ".aside-";

/// What became of an artifact that was to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// It is not there any more.
    Gone,
    /// A process uses it, and it stays.
    InUse,
}

impl Store {
    /// Removes an artifact unless a process uses it.
    pub(super) fn remove_unused(&self, path: &Path, key: &str) -> Result<Removal, StageError> {
        self.remove_unused_with(path, key, || {})
    }

    /// The same; `between` is done while the artifact has no name.
    pub(super) fn remove_unused_with(&self, path: &Path, key: &str, between: impl FnOnce()) -> Result<Removal, StageError> {
        if lease::protected_keys(self)?.contains(key) {
            return Ok(Removal::InUse);
        }
        let Some(aside) = self.set_aside(path, ASIDE)? else { return Ok(Removal::Gone) };
        between();
        match lease::protected_keys(self) {
            Ok(keys) => self.settle(&aside, path, keys.contains(key)),
            // Nobody knows whether it is used, so it stays.
            Err(error) => give_back(&aside, path).and(Err(error)),
        }
    }

    /// Ends what a process began that ended between its two looks at the leases; none of what is to be left to the process that began it.
    pub(super) fn settle_aside(&self, aside: &Path, dry: bool) -> Result<Option<Removal>, StageError> {
        let Some((target, key)) = named_aside(aside) else { return Ok(None) };
        let leased = lease::protected_keys(self)?.contains(key.as_str());
        match (leased, drafts::is_abandoned(aside)) {
            (false, false) => Ok(None),
            _ if dry => Ok(Some(if leased { Removal::InUse } else { Removal::Gone })),
            _ => self.settle(aside, &target, leased).map(Some),
        }
    }

    /// Gives an artifact its name back, or removes it where nobody uses it or another one has its name.
    fn settle(&self, aside: &Path, path: &Path, leased: bool) -> Result<Removal, StageError> {
        if leased && give_back(aside, path)? {
            return Ok(Removal::InUse);
        }
        let key = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let trash = aside.with_file_name(drafts::name(TRASH, &key));
        match retry(|| fs::rename(aside, &trash)) {
            Ok(()) => drafts::remove(&trash).map_err(|error| StageError::io("remove", &trash, &error))?,
            // Another process gave it back or removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.exists() => return Ok(Removal::InUse),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StageError::io("remove", aside, &error)),
        }
        Ok(Removal::Gone)
    }
}

/// Renames an artifact back; not where its name was taken meanwhile. Says whether it, or what another process gave back, is there.
fn give_back(aside: &Path, path: &Path) -> Result<bool, StageError> {
    match retry(|| fs::rename(aside, path)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.exists()),
        Err(_) if path.symlink_metadata().is_ok() => Ok(false),
        Err(error) => Err(StageError::io("give back its name to", path, &error)),
    }
}

/// Where an artifact aside was, and its key, by its name `.aside-<key>-<process>-<number>@<place>`.
fn named_aside(aside: &Path) -> Option<(PathBuf, Key)> {
    let key = Key::parse(aside.file_name()?.to_str()?.strip_prefix(ASIDE)?.split('-').next()?)?;
    Some((aside.with_file_name(key.as_str()), key))
}

/// Whether a name is that of an artifact aside.
pub(super) fn is_aside(path: &Path) -> bool {
    named_aside(path).is_some()
}
