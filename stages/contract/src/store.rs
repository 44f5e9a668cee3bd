//! store: artifacts as directories named by kind and key, shared by any number of processes and
//! hosts.
//!
//! promises  a directory under its final name is complete: everything in it was synced before the
//!           rename that gave it its name; if several writers race, the first one publishes and the
//!           others discard their drafts; a killed writer leaves only a directory that starts with
//!           `.tmp-`, which `gc` recognises
//! never     locks; changes a published file, except for the time stamp of the manifest, which says
//!           when the artifact was last used
//! limits    needs `rename` of directories to be atomic, as on every local file system, NFS, Lustre
//!           and GPFS
pub mod artifact;
pub mod claim;
pub(crate) mod digest_cache;
pub mod drafts;
mod folders;
pub mod formats;
pub mod gc;
pub mod last_run;
pub mod later_stores;
pub mod lease;
mod removal;
pub(crate) mod renames;
mod writer;

pub use artifact::Artifact;
pub use writer::host;

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use rayon::prelude::*;
use serde_json::Value;

use crate::{
    ErrorKind, Key, Kind, Manifest, StageError,
    eintr::retry,
    manifest::{FileEntry, MANIFEST_FILE},
    progress::Advance,
    regular_file::Refusal,
    stage_record::StageMeter,
};

/// Prefix of what is being removed: some of its files may be gone.
const TRASH: &str = ".trash-";
/// Prefix of artifacts that are removed unless a process uses them. They are complete.
const ASIDE: &str = ".aside-";
/// How long a network file system may take to show what another host published.
const SHOWN_AFTER: Duration = Duration::from_secs(10);
/// The least time between two notes that an artifact is used.
const MARK_EVERY: Duration = Duration::from_secs(3600);

/// A store in a folder, and others that are only read. Making it is cheap, and creates no directory
/// until something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
    /// Folders of stores that are only read.
    later: Vec<PathBuf>,
}

/// Removes the drafts, claims and leases of this process. For signal handlers that end the process
/// right after: those that begin later block.
pub fn abandon_drafts() {
    drafts::abandon_all();
    claim::release_all();
    lease::release_all();
}

impl Store {
    /// The store in this folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Store { root: root.into(), later: Vec::new() }
    }

    /// The folder that is written.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Directory of all artifacts of a kind.
    pub fn kind_directory(&self, kind: Kind) -> PathBuf {
        self.root.join(format!("{}-v{}", kind.name(), kind.version()))
    }

    /// Directory of an artifact, whether it exists or not.
    pub fn path(&self, kind: Kind, key: &Key) -> PathBuf {
        self.kind_directory(kind).join(key.as_str())
    }

    /// Looks an artifact up, and checks manifest and sizes. `Ok(None)` when it is not there.
    pub fn find(&self, kind: Kind, key: &Key) -> Result<Option<Artifact>, StageError> {
        match self.find_own(kind, key)? {
            None if !self.later.is_empty() => self.find_later(kind, key),
            found => Ok(found),
        }
    }

    /// The same in the store that is written alone.
    pub(crate) fn find_own(&self, kind: Kind, key: &Key) -> Result<Option<Artifact>, StageError> {
        let path = self.path(kind, key);
        let Some(manifest) = Manifest::read(&path, kind)? else { return Ok(None) };
        match manifest.check_sizes(&path) {
            // Another process removed it after the manifest was read.
            Err(_) if is_gone(&path) => Ok(None),
            Err(error) => Err(error),
            Ok(()) => Ok(Some(Artifact::new(kind, path, manifest))),
        }
    }

    /// Looks an artifact up; an error if it is not there.
    pub fn get(&self, kind: Kind, key: &Key) -> Result<Artifact, StageError> {
        let absent = || {
            StageError::new(
                ErrorKind::Input,
                format!("no `{}` with key {key} in the store", kind.name()),
            )
            .at(self.path(kind, key).display())
            .hint("run the stage that makes it, or the whole pipeline:  warploom pipeline FILE")
        };
        self.find_again(kind, key)?.ok_or_else(absent)
    }

    /// Opens an artifact for use: `get`, then `look`, which checks its files. Both are repeated
    /// once after damage is found: the artifact may have been replaced since it was found, or may
    /// have no name for a moment.
    pub fn open_with(
        &self,
        kind: Kind,
        key: &Key,
        look: impl Fn(&Artifact) -> Result<(), StageError>,
    ) -> Result<Artifact, StageError> {
        let found = self.get(kind, key)?;
        match look(&found) {
            Ok(()) => Ok(found),
            Err(error) if !matches!(error.kind, ErrorKind::Input | ErrorKind::Damaged) => {
                Err(error)
            }
            Err(_) => {
                let found = self.get(kind, key)?;
                look(&found).map(|()| found)
            }
        }
    }

    /// Every artifact of a kind whose manifest can be read, by key. It serves lists, explanations
    /// and reuse of work; no output may depend on it.
    pub fn list(&self, kind: Kind) -> Vec<Artifact> {
        let mut keys: Vec<Key> = Vec::new();
        for store in self.each() {
            let Ok(entries) = retry(|| fs::read_dir(store.kind_directory(kind))) else { continue };
            let key = |entry: fs::DirEntry| Key::parse(entry.file_name().to_str()?);
            keys.extend(entries.flatten().filter_map(key));
        }
        keys.sort();
        keys.dedup();
        keys.iter().filter_map(|key| self.find(kind, key).ok().flatten()).collect()
    }

    /// Notes for `gc` that an artifact is used now: at most once an hour, and never in a read-only
    /// store, without an error.
    pub fn mark_used(&self, artifact: &Artifact) {
        let path = artifact.path.join(MANIFEST_FILE);
        let recent = |time: SystemTime| time.elapsed().is_ok_and(|age| age < MARK_EVERY);
        if fs::metadata(&path).and_then(|facts| facts.modified()).is_ok_and(recent) {
            return;
        }
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _unimportant = folders::touch(&file);
        }
    }

    /// Starts a draft of an artifact in the folder of its kind.
    pub fn begin(&self, kind: Kind, key: &Key) -> Result<Draft, StageError> {
        let parent = self.kind_directory(kind);
        let wrong =
            |error: io::Error| StageError::io("make a folder of the store", &parent, &error);
        retry(|| fs::create_dir_all(&parent)).map_err(wrong)?;
        let path = drafts::begin(&parent, key.as_str()).map_err(wrong)?;
        Ok(Draft {
            kind,
            key: key.clone(),
            path,
            written: AtomicBool::new(false),
            counts: BTreeMap::new(),
            facts: BTreeMap::new(),
            meter: None,
        })
    }

    /// Gives a sealed draft its final name, or discards it when another writer was first. Replaces
    /// a damaged artifact and, with `replace`, one that has other bytes or facts. Says whether
    /// other bytes were replaced.
    pub fn publish(&self, sealed: Sealed, replace: bool) -> Result<(Artifact, bool), StageError> {
        let Sealed { draft, manifest } = sealed;
        let target = self.path(draft.kind, &draft.key);
        let (mut makes_way, mut replaced) = (false, false);
        // A damaged artifact is replaced below.
        if replace && let Ok(Some(old)) = self.find_own(draft.kind, &draft.key) {
            let now_verified = manifest.inputs_verified == Some(true)
                && old.manifest.inputs_verified != Some(true);
            // Only digests show damage that leaves the sizes as they were.
            let has_same_bytes = old.manifest.digest == manifest.digest
                && old.manifest.check_digests_once(&old.path, |_| {}).is_ok();
            let has_same_facts =
                (&old.manifest.counts, &old.manifest.facts) == (&manifest.counts, &manifest.facts);
            if has_same_bytes && has_same_facts && !now_verified {
                return Ok((old, false));
            }
            makes_way = true;
            replaced = !has_same_bytes;
        }
        // A fault of the file system does not mean damage: the rename below fails if the artifact
        // is there.
        let is_damaged = || matches!(self.find_own(draft.kind, &draft.key), Err(error) if error.kind == ErrorKind::Damaged);
        if makes_way || is_damaged() {
            // It has other bytes or facts under --force, or the same ones from inputs that were not
            // verified, or it is damaged. It gets another name first, so that no reader sees a part
            // of it. If its removal fails, it takes room until `gc` removes it.
            let _for_gc = self.set_aside(&target, TRASH)?.map(|aside| drafts::remove(&aside));
        }
        match drafts::give_name(&draft.path, &target) {
            Ok(()) => {
                sync_directory(&self.kind_directory(draft.kind))?;
                let artifact = Artifact::new(draft.kind, target, manifest);
                Ok((artifact, replaced))
            }
            Err(error) if is_taken(&error) || target.exists() => {
                let winner = self.wait_for_winner(draft.kind, &draft.key)?;
                winner
                    .map(|artifact| (artifact, false))
                    .ok_or_else(|| StageError::passing("publish", &target, &error))
            }
            Err(error) => Err(draft.explain_loss(StageError::io("publish", &target, &error))),
        }
    }

    /// The artifact of a writer that was first. A network file system may show it late, though it
    /// refuses to give its name to another one.
    fn wait_for_winner(&self, kind: Kind, key: &Key) -> Result<Option<Artifact>, StageError> {
        let begun = Instant::now();
        loop {
            match self.find_own(kind, key) {
                Ok(None) if begun.elapsed() < SHOWN_AFTER => {
                    self.refresh(kind);
                    std::thread::sleep(SHOWN_AFTER / 100);
                }
                found => return found,
            }
        }
    }

    /// Renames a directory and removes it.
    pub(crate) fn trash(&self, path: &Path) -> Result<(), StageError> {
        let Some(aside) = self.set_aside(path, TRASH)? else { return Ok(()) };
        drafts::remove(&aside).map_err(|error| StageError::io("remove", &aside, &error))
    }

    /// Renames a directory, to a name in the folder of its kind, where `gc` looks; none if it is
    /// not there.
    fn set_aside(&self, path: &Path, start: &str) -> Result<Option<PathBuf>, StageError> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("unknown");
        let folder =
            path.ancestors().find(|folder| folder.parent() == Some(self.root())).unwrap_or(path);
        let aside = folder.join(writer::unique_name(start, name));
        match renames::rename(path, &aside) {
            Ok(()) => Ok(Some(aside)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StageError::io("remove", path, &error)),
        }
    }
}

/// An artifact that is being written. It is removed if it is dropped before it is published.
#[derive(Debug)]
pub struct Draft {
    kind: Kind,
    key: Key,
    path: PathBuf,
    /// Whether a path in it was given out: from then on its folder is not created again.
    written: AtomicBool,
    /// Numbers for the manifest.
    pub counts: BTreeMap<String, u64>,
    /// Facts for the manifest.
    pub facts: BTreeMap<String, Value>,
    /// What the stage takes, for the manifest.
    pub(crate) meter: Option<Arc<StageMeter>>,
}

/// A draft whose files are synced, valid and listed in a manifest.
#[derive(Debug)]
pub struct Sealed {
    draft: Draft,
    manifest: Manifest,
}

impl Draft {
    /// Its kind.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Where to write a file.
    pub fn file(&self, name: &str) -> PathBuf {
        if !self.written.swap(true, Ordering::Relaxed) && is_gone(&self.path) {
            // A stage may train for hours before it writes the first file. If the folder was
            // removed meanwhile, nothing is lost yet. If this fails, writing the file fails too,
            // and `explain_loss` says why.
            let _fails_again = drafts::make_again(&self.path);
        }
        self.path.join(name)
    }

    /// Hard-links (or copies) a published file. A copy never overwrites a file that is there: that
    /// may be a hard link to a published one.
    pub fn share(&self, name: &str, from: &Path) -> Result<(), StageError> {
        let to = self.file(name);
        let copy =
            || io::copy(&mut fs::File::open(from)?, &mut fs::File::create_new(&to)?).map(drop);
        let linked = digest_cache::link(from, &to).or_else(|_| copy());
        linked.map_err(|error| self.explain_loss(StageError::io("copy", &to, &error)))
    }

    /// Replaces an error that comes from a removed folder by one that says so; returns any other
    /// error as it is.
    pub fn explain_loss(&self, error: StageError) -> StageError {
        if !is_gone(&self.path) {
            return error;
        }
        let what = format!(
            "the folder in which this `{}` was being written was removed by somebody else, and \
             what was in it is lost",
            self.kind.name()
        );
        StageError::new(ErrorKind::Input, what)
            .at(self.path.display())
            .detail(format!("  so this failed: {}", error.what))
            .hint(
                "start again, and let only `warploom store gc` of this version or a later one \
                 clean a store in use: it spares what living processes write",
            )
    }

    /// Digests and syncs every file, and writes the manifest if `validate` returns no error.
    pub(crate) fn seal_with(
        mut self,
        manifest: Manifest,
        advance: Advance<'_>,
        validate: impl FnOnce(&Path, &Manifest) -> Result<(), StageError>,
    ) -> Result<Sealed, StageError> {
        match self.sealed_manifest(manifest, advance, validate) {
            Ok(manifest) => Ok(Sealed { draft: self, manifest }),
            Err(error) => Err(self.explain_loss(error)),
        }
    }

    /// Names of the files that were written, ascending.
    pub fn names(&self) -> Result<Vec<String>, StageError> {
        names_of_files(&self.path)
    }

    /// Bytes of its files, without those that are links to files of other artifacts.
    pub(crate) fn bytes_written(&self) -> Result<u64, StageError> {
        let bytes = |name: &String| {
            let path = self.path.join(name);
            match retry(|| fs::metadata(&path)) {
                Ok(facts) if facts.nlink() > 1 => Ok(0),
                Ok(facts) => Ok(facts.len()),
                Err(error) => {
                    Err(self.explain_loss(StageError::io("look at a file", &path, &error)))
                }
            }
        };
        self.names()?.iter().map(bytes).sum()
    }

    fn sealed_manifest(
        &mut self,
        mut manifest: Manifest,
        advance: Advance<'_>,
        validate: impl FnOnce(&Path, &Manifest) -> Result<(), StageError>,
    ) -> Result<Manifest, StageError> {
        let names = self.names()?;
        let entry = |name: &String| -> Result<FileEntry, StageError> {
            let path = self.path.join(name);
            let wrong = |error: io::Error| StageError::io("write", &path, &error);
            fs::File::open(&path).and_then(|file| file.sync_all()).map_err(wrong)?;
            let (blake3, _) = digest_cache::digest(&path).map_err(wrong)?;
            advance(1);
            Ok(FileEntry {
                name: name.clone(),
                bytes: retry(|| fs::metadata(&path)).map_err(wrong)?.len(),
                blake3,
            })
        };
        manifest.files = names.par_iter().map(entry).collect::<Result<_, _>>()?;
        manifest.digest = manifest.digest_of_files(self.kind);
        manifest.counts = std::mem::take(&mut self.counts);
        manifest.facts = std::mem::take(&mut self.facts);
        validate(&self.path, &manifest)?;
        manifest.record = self.meter.as_ref().map(|meter| meter.record());
        let path = self.path.join(MANIFEST_FILE);
        let written = manifest.to_text();
        let write = || -> io::Result<()> {
            let mut file = fs::File::create_new(&path)?;
            io::Write::write_all(&mut file, written.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|error| StageError::io("write", &path, &error))?;
        sync_directory(&self.path)?;
        let text = fs::read(&path).map_err(|error| StageError::io("read", &path, &error))?;
        if text.len() != written.len() {
            return Err(StageError::io(
                "read",
                &path,
                &Refusal::CutShort(text.len() as u64, written.len() as u64).into(),
            ));
        }
        serde_json::from_slice(&text)
            .map_err(|error| StageError::defect(format!("a manifest does not read back: {error}")))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        drafts::discard(&self.path);
    }
}

/// Whether a path does not exist. After any other fault of the file system it may exist.
fn is_gone(path: &Path) -> bool {
    matches!(retry(|| fs::symlink_metadata(path)), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Whether a folder could not be renamed because another one has the name.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}

/// Names of the files of a draft. A folder in it is an error: the manifest names each file by one
/// part of a path.
fn names_of_files(directory: &Path) -> Result<Vec<String>, StageError> {
    let wrong = |error: io::Error| StageError::io("list", directory, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        if entry.file_type().map_err(wrong)?.is_dir() {
            return Err(StageError::defect("an artifact that is written has a folder")
                .at(entry.path().display()));
        }
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

pub(crate) fn sync_directory(path: &Path) -> Result<(), StageError> {
    let sync = fs::File::open(path).and_then(|directory| directory.sync_all());
    match sync {
        // Some network file systems cannot sync a directory; then they decide how durable the
        // rename is.
        Err(error)
            if error.kind() == io::ErrorKind::InvalidInput
                || error.kind() == io::ErrorKind::Unsupported =>
        {
            Ok(())
        }
        other => other.map_err(|error| StageError::io("sync a folder", path, &error)),
    }
}

#[cfg(test)]
mod tests;
