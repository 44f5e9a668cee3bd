//! Leases: a file `<host>-<boot>-<name space>-<start>-<process>-<key>` that says "this process uses
//! what has that key", so that `gc` spares it.
//!
//! promises  a lease is touched every ten minutes while it is held and removed when it is dropped;
//!           that of a process that is known to live is valid however old it is, that of one that
//!           is known to have ended is not
//! never     blocks anybody: a store that cannot be written simply has no leases
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, Once},
    time::{Duration, SystemTime},
};

pub use super::writer::host;
use super::{
    Store, drafts,
    folders::{age, entries},
    writer::{self, Life, Writer},
};
use crate::{Key, StageError, eintr::retry};

/// A lease protects for so long after the last touch where it is unknown whether its process lives.
pub const LEASE_VALID: Duration = Duration::from_secs(3600);
/// How names of files begin that protect nothing.
const PROBE: &str = ".tmp-";

/// Held leases: path -> how many holders in this process.
static HELD: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());
static TOUCHED: Once = Once::new();

/// A held lease.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
}

impl Store {
    /// Takes a lease on whatever has a key.
    pub fn lease(&self, key: &Key) -> Lease {
        let folder = self.root().join("leases");
        let own = Writer::own();
        let path = folder.join(format!("{}-{}-{key}", own.place(), own.process()));
        {
            // Written under the lock, so that a signal finds every lease that is there.
            let mut held = held();
            *held.entry(path.clone()).or_insert(0) += 1;
            // In a read-only store nothing is collected, so nothing is lost when these fail.
            let _unimportant =
                retry(|| fs::create_dir_all(&folder)).and_then(|()| fs::write(&path, b""));
        }
        TOUCHED.call_once(|| writer::keep_touched(touch_all));
        Lease { path }
    }
}

/// Keys of what processes use now.
pub(super) fn protected_keys(store: &Store) -> Result<BTreeSet<String>, StageError> {
    let folder = store.root().join("leases");
    // A network file system may answer from memory what a folder holds, until this host changes the
    // folder. One that is not there or cannot be written is listed as it is.
    let probe = folder.join(drafts::name(PROBE, "probe"));
    let _unimportant = fs::write(&probe, b"").and_then(|()| retry(|| fs::remove_file(&probe)));
    Ok(entries(&folder)?.iter().filter_map(|path| protected_key(path)).map(str::to_owned).collect())
}

/// The key that a file of the folder of leases protects, if it does.
fn protected_key(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str().filter(|name| !name.starts_with(PROBE))?;
    is_valid(path).then(|| name.rsplit('-').next())?
}

/// Whether the holder of a lease lives, as far as anybody can say.
pub(super) fn is_valid(path: &Path) -> bool {
    let writer = path.file_name().and_then(|name| name.to_str()).and_then(|name| {
        let (holder, _key) = name.rsplit_once('-')?;
        let (place, process) = holder.rsplit_once('-')?;
        Writer::read(process, place)
    });
    // Names of earlier versions lack the PID name space, so whether their process has ended is
    // unknown.
    match writer.filter(|writer| writer.has_origin()).map_or(Life::Unknown, |writer| writer.life())
    {
        Life::Lives => true,
        Life::Ended => false,
        Life::Unknown => age(path).is_none_or(|age| age <= LEASE_VALID),
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut held = held();
        if let Some(count) = held.get_mut(&self.path) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.path);
                let _unimportant = retry(|| fs::remove_file(&self.path));
            }
        }
    }
}

/// Removes all leases of this process, before it ends by a signal. The lock is never given back:
/// none is taken any more.
pub(crate) fn release_all() {
    let held = held();
    for path in held.keys() {
        let _unimportant = retry(|| fs::remove_file(path));
    }
    std::mem::forget(held);
}

fn held() -> std::sync::MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn touch_all() {
    for path in held().keys() {
        // A store that cannot be written has no leases to touch.
        if let Ok(file) = fs::File::options().append(true).open(path) {
            let _unimportant = file.set_modified(SystemTime::now());
        }
    }
}
