//! Artifacts of other formats: in folders `<kind>-v<N>` of which N is not the version of this
//! build.
//!
//! promises  nothing of this version reads them; `gc` removes those of older formats when it is
//!           asked to
//! never     takes those of a newer format for garbage: a newer version made them, in a store that
//!           both use
use std::path::PathBuf;

use super::{
    Store,
    folders::{entries, size_of},
};
use crate::{Key, Kind, StageError};

/// An artifact of another format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its kind.
    pub kind: Kind,
    /// Its key.
    pub key: Key,
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// All artifacts of other formats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherFormats {
    /// Of formats before this version's.
    pub older: Vec<Foreign>,
    /// Of formats after it.
    pub newer: Vec<Foreign>,
}

impl Store {
    /// What is in the store that this version does not read.
    pub fn other_formats(&self) -> Result<OtherFormats, StageError> {
        let mut found = OtherFormats::default();
        for (kind, version, folder) in self.folders_of_kinds()? {
            if version == kind.version() {
                continue;
            }
            let side = if version < kind.version() { &mut found.older } else { &mut found.newer };
            for path in entries(&folder)? {
                let Some(key) =
                    path.file_name().and_then(|name| name.to_str()).and_then(Key::parse)
                else {
                    continue;
                };
                side.push(Foreign { kind, key, bytes: size_of(&path)?, path });
            }
        }
        Ok(found)
    }

    /// Folders of kinds that may hold what this version or an older one left.
    pub(super) fn folders_up_to_now(&self) -> Result<Vec<PathBuf>, StageError> {
        let folders = self.folders_of_kinds()?.into_iter();
        Ok(folders
            .filter(|(kind, version, _)| *version <= kind.version())
            .map(|(.., folder)| folder)
            .collect())
    }

    /// Folders named `<kind>-v<N>`, by kind and version.
    fn folders_of_kinds(&self) -> Result<Vec<(Kind, u32, PathBuf)>, StageError> {
        let read = |path: PathBuf| {
            let (kind, version) = path.file_name()?.to_str()?.rsplit_once("-v")?;
            Some((Kind::parse(kind)?, version.parse().ok()?, path.clone()))
        };
        let mut folders: Vec<_> = entries(self.root())?.into_iter().filter_map(read).collect();
        folders.sort();
        Ok(folders)
    }
}
