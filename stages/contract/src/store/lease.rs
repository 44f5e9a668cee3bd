//! lease: a file `<host>-<boot>-<name space>-<start>-<process>-<key>`. It says that the process
//! uses the artifacts of the key, so that `gc` keeps them.
//!
//! promises  a lease is touched every ten minutes while it is held, and removed when it is dropped;
//!           the lease of a process that is known to live is valid at any age, the lease of one
//!           that is known to have ended is not
//! never     blocks a process or fails: a read-only store has no leases
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, Once},
    time::{Duration, SystemTime},
};

pub use super::writer::host;
use super::{
    Artifact, Store, drafts,
    folders::{age, entries},
    writer::{self, Life, Writer},
};
use crate::{Key, StageError, eintr::retry};

/// How long after its last touch a lease is valid if it is unknown whether its process lives.
pub const LEASE_VALID: Duration = Duration::from_secs(3600);
/// Prefix of files that protect nothing.
const PROBE: &str = ".tmp-";

/// Held leases: path -> number of holders in this process.
static HELD: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());
/// Done once leases are touched regularly.
static TOUCHED: Once = Once::new();

/// A held lease.
#[derive(Debug)]
pub struct Lease {
    /// One file, and one in each later store that holds what is leased.
    paths: Vec<PathBuf>,
}

impl Store {
    /// Takes a lease on all artifacts of a key.
    pub fn lease(&self, key: &Key) -> Lease {
        Lease { paths: vec![hold(self.root(), key)] }
    }

    /// Takes a lease on artifacts of a key, also in the later stores that hold them.
    pub fn lease_artifacts(&self, key: &Key, artifacts: &[Artifact]) -> Lease {
        let mut lease = self.lease(key);
        let roots: BTreeSet<&Path> =
            artifacts.iter().filter_map(|artifact| self.later_root(&artifact.path)).collect();
        lease.paths.extend(roots.into_iter().map(|root| hold(root, key)));
        lease
    }

    /// Takes a lease on an artifact.
    pub fn lease_artifact(&self, artifact: &Artifact) -> Lease {
        self.lease_artifacts(&artifact.manifest.key, std::slice::from_ref(artifact))
    }
}

/// Notes in the store of this folder that this process uses a key.
fn hold(root: &Path, key: &Key) -> PathBuf {
    let folder = root.join("leases");
    let own = Writer::own();
    let path = folder.join(format!("{}-{}-{key}", own.place(), own.process()));
    {
        // Written under the lock, so that a signal finds every lease.
        let mut held = held_leases();
        *held.entry(path.clone()).or_insert(0) += 1;
        // These may fail in a read-only store, from which `gc` removes nothing.
        let _unimportant =
            retry(|| fs::create_dir_all(&folder)).and_then(|()| fs::write(&path, b""));
    }
    TOUCHED.call_once(|| writer::keep_touched(touch_all));
    path
}

/// Keys that processes use now.
pub(super) fn protected_keys(store: &Store) -> Result<BTreeSet<String>, StageError> {
    let folder = store.root().join("leases");
    // A network file system may list a folder from its cache until this host changes the folder.
    // A folder that is missing or read-only is listed as it is.
    let probe = folder.join(drafts::name(PROBE, "probe"));
    let _unimportant = fs::write(&probe, b"").and_then(|()| retry(|| fs::remove_file(&probe)));
    Ok(entries(&folder)?.iter().filter_map(|path| protected_key(path)).map(str::to_owned).collect())
}

/// The key that a file of the folder of leases protects, if it is a valid lease.
fn protected_key(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str().filter(|name| !name.starts_with(PROBE))?;
    is_valid(path).then(|| name.rsplit('-').next())?
}

/// Whether a lease counts: its process lives, or, where that is unknown, it is young enough.
pub(super) fn is_valid(path: &Path) -> bool {
    let writer = path.file_name().and_then(|name| name.to_str()).and_then(|name| {
        let (holder, _key) = name.rsplit_once('-')?;
        let (place, process) = holder.rsplit_once('-')?;
        Writer::read(process, place)
    });
    // Names of earlier versions lack the PID name space, so it is unknown whether their process
    // has ended.
    match writer.filter(|writer| writer.has_origin()).map_or(Life::Unknown, |writer| writer.life())
    {
        Life::Lives => true,
        Life::Ended => false,
        Life::Unknown => age(path).is_none_or(|age| age <= LEASE_VALID),
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut held = held_leases();
        for path in &self.paths {
            if let Some(count) = held.get_mut(path) {
                *count -= 1;
                if *count == 0 {
                    held.remove(path);
                    let _unimportant = retry(|| fs::remove_file(path));
                }
            }
        }
    }
}

/// Removes all leases of this process, before a signal ends it. The lock is never released: no
/// lease is taken any more.
pub(crate) fn release_all() {
    let held = held_leases();
    for path in held.keys() {
        let _unimportant = retry(|| fs::remove_file(path));
    }
    std::mem::forget(held);
}

fn held_leases() -> std::sync::MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn touch_all() {
    for path in held_leases().keys() {
        // A read-only store has no leases to touch.
        if let Ok(file) = fs::File::options().append(true).open(path) {
            let _unimportant = file.set_modified(SystemTime::now());
        }
    }
}
