//! Removing an artifact beside processes that may begin to use it at that moment.
//!
//! promises  an artifact loses its name first, and leases are looked at after that: who leased it
//!           before gets it back under its name, who comes later does not find it; an artifact
//!           beside its name is whole, so that it can have its name back at any time
//! never     gives back what was published anew meanwhile; waits for a lease to end
//! limits    a process that looks between the two renames waits for `LOOKS` times `PAUSE`, then
//!           makes the artifact again
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{ASIDE, Artifact, Store, TRASH, drafts, folders::entries, lease, renames, writer};
use crate::{Key, Kind, StageError};

/// How often an artifact is looked for that `gc` has set aside, and the pause between two looks.
const LOOKS: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// What became of an artifact that was to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// It is not there any more.
    Gone,
    /// A process uses it, and it stays.
    InUse,
}

impl Store {
    /// Looks an artifact up, as `find` does; one that `gc` has set aside is waited for, since it
    /// gets its name back if it is leased.
    pub fn find_again(&self, kind: Kind, key: &Key) -> Result<Option<Artifact>, StageError> {
        for _ in 0..LOOKS {
            if let Some(found) = self.find(kind, key)? {
                return Ok(Some(found));
            }
            let is_of_key =
                |path: &PathBuf| named_aside(path).is_some_and(|(_, found)| found == *key);
            let mut is_aside = false;
            for store in self.each() {
                is_aside |= entries(&store.kind_directory(kind))?.iter().any(is_of_key);
            }
            if !is_aside {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        self.find(kind, key)
    }

    /// Removes an artifact unless a process uses it. A signal waits until it has its name back or
    /// has lost it.
    pub(super) fn remove_unused(&self, path: &Path, key: &str) -> Result<Removal, StageError> {
        drafts::undisturbed(|| self.look_twice(path, key, || {}))?.finish()
    }

    /// The same; `between` is done while the artifact has no name.
    #[cfg(test)]
    pub(super) fn remove_unused_with(
        &self,
        path: &Path,
        key: &str,
        between: impl FnOnce(),
    ) -> Result<Removal, StageError> {
        self.look_twice(path, key, between)?.finish()
    }

    fn look_twice(
        &self,
        path: &Path,
        key: &str,
        between: impl FnOnce(),
    ) -> Result<Settled, StageError> {
        if lease::protected_keys(self)?.contains(key) {
            return Ok(Settled::Is(Removal::InUse));
        }
        let Some(aside) = self.set_aside(path, ASIDE)? else {
            return Ok(Settled::Is(Removal::Gone));
        };
        between();
        match lease::protected_keys(self) {
            Ok(keys) => settle(&aside, path, keys.contains(key)),
            // Nobody knows whether it is used, so it stays.
            Err(error) => give_back(&aside, path).and(Err(error)),
        }
    }

    /// Ends what a process began that ended between its two looks at the leases; none of what is to
    /// be left to the process that began it.
    pub(super) fn settle_aside(
        &self,
        aside: &Path,
        dry: bool,
    ) -> Result<Option<Removal>, StageError> {
        let Some((target, key)) = named_aside(aside) else { return Ok(None) };
        let leased = lease::protected_keys(self)?.contains(key.as_str());
        match (leased, drafts::is_abandoned(aside)) {
            (false, false) => Ok(None),
            _ if dry => Ok(Some(if leased { Removal::InUse } else { Removal::Gone })),
            _ => drafts::undisturbed(|| settle(aside, &target, leased))?.finish().map(Some),
        }
    }
}

/// What was decided of an artifact aside.
enum Settled {
    Is(Removal),
    /// It has this name now, and is to be removed.
    Trash(PathBuf),
}

impl Settled {
    fn finish(self) -> Result<Removal, StageError> {
        match self {
            Settled::Is(removal) => Ok(removal),
            Settled::Trash(trash) => {
                drafts::remove(&trash).map_err(|error| StageError::io("remove", &trash, &error))?;
                Ok(Removal::Gone)
            }
        }
    }
}

/// Gives an artifact its name back if it is leased and its name is free; else renames it, to be
/// removed.
fn settle(aside: &Path, path: &Path, leased: bool) -> Result<Settled, StageError> {
    if leased && give_back(aside, path)? {
        return Ok(Settled::Is(Removal::InUse));
    }
    let key = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let trash = aside.with_file_name(writer::unique_name(TRASH, &key));
    match renames::rename(aside, &trash) {
        Ok(()) => Ok(Settled::Trash(trash)),
        // Another process gave it back or removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.exists() => {
            Ok(Settled::Is(Removal::InUse))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Settled::Is(Removal::Gone)),
        Err(error) => Err(StageError::io("remove", aside, &error)),
    }
}

/// Renames an artifact back; not where its name was taken meanwhile. Says whether it, or what
/// another process gave back, is there.
fn give_back(aside: &Path, path: &Path) -> Result<bool, StageError> {
    match renames::rename(aside, path) {
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
