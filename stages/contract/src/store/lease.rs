//! lease: a file `<host>-<boot>-<name space>-<start>-<process>-<key>`. It says that the process
//! uses the artifacts of the key, so that `gc` keeps them.
//!
//! promises  a lease is touched every ten minutes while it is held, and removed when it is dropped;
//!           the lease of a process that is known to live is valid at any age, the lease of one
//!           that is known to have ended is not
//! promises  ages are measured by the clock of the file system alone
//! never     blocks a process or fails: a read-only store has no leases
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, Once},
    time::{Duration, SystemTime},
};

pub use super::writer::{host, start_of};
use super::{
    Artifact, Store,
    folders::{entries, folder_time, touch},
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
    let now = now(store);
    let paths = entries(&store.root().join("leases"))?;
    Ok(paths.iter().filter_map(|path| protected_key(path, now)).map(str::to_owned).collect())
}

/// The time by which leases are judged. A network file system may list the folder of leases from
/// its cache until this host changes it, as this does; one that is missing or read-only is listed
/// as it is.
pub(super) fn now(store: &Store) -> SystemTime {
    folder_time(&store.root().join("leases")).unwrap_or_else(SystemTime::now)
}

/// The key that a file of the folder of leases protects, if it is a valid lease.
fn protected_key(path: &Path, now: SystemTime) -> Option<&str> {
    let name = path.file_name()?.to_str().filter(|name| !name.starts_with(PROBE))?;
    is_valid(path, now).then(|| name.rsplit('-').next())?
}

/// Whether a lease counts: its process lives, or, where that is unknown, it is young enough.
pub(super) fn is_valid(path: &Path, now: SystemTime) -> bool {
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
        // One that was touched after that time, or cannot be looked at, counts.
        Life::Unknown => {
            let touched = retry(|| fs::metadata(path)?.modified()).ok();
            let age = touched.and_then(|touched| now.duration_since(touched).ok());
            age.is_none_or(|age| age <= LEASE_VALID)
        }
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
            let _unimportant = touch(&file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a lease of a process on another host, touched so long before `now`.
    fn lease_elsewhere(store: &Store, key: &Key, now: SystemTime, age: Duration) -> PathBuf {
        let folder = store.root().join("leases");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("node7-0a1b2c3d-4026531836-5-12-{key}"));
        fs::write(&path, "").unwrap();
        fs::File::open(&path).unwrap().set_modified(now - age).unwrap();
        path
    }

    #[test]
    fn a_lease_of_another_host_counts_for_an_hour_by_the_clock_of_the_file_system() {
        let folder = tempfile::tempdir().unwrap();
        let (store, key) = (Store::new(folder.path()), Key::parse(&"6".repeat(32)).unwrap());
        let second = Duration::from_secs(1);
        // The clock of this host may be a day ahead of the other one's or behind it.
        let day = Duration::from_secs(86_400);
        for now in [SystemTime::now(), SystemTime::now() + day, SystemTime::now() - day] {
            for (age, is_held) in
                [(second, true), (LEASE_VALID - second, true), (LEASE_VALID + second, false)]
            {
                let path = lease_elsewhere(&store, &key, now, age);
                assert_eq!(is_valid(&path, now), is_held, "{age:?}");
            }
        }
        let is_protected = || protected_keys(&store).unwrap().contains(key.as_str());
        lease_elsewhere(&store, &key, SystemTime::now(), LEASE_VALID / 2);
        assert!(is_protected());
        let old = lease_elsewhere(&store, &key, SystemTime::now(), LEASE_VALID + second);
        assert!(!is_protected());
        let report = store.collect(&super::super::gc::Request::default()).unwrap();
        assert!(report.removed.iter().any(|removed| removed.path == old), "{report:?}");
    }
}
