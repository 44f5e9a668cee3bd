//! Leases: a file that says "this process uses that artifact", so that `gc` spares it.
//!
//! promises  a lease is touched every ten minutes while it is held and removed when it is dropped
//! never     blocks anybody: a store that cannot be written simply has no leases
use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{Mutex, OnceLock},
    time::{Duration, SystemTime},
};

use super::{Artifact, Store};

/// A lease younger than this protects its artifact.
pub const LEASE_VALID: Duration = Duration::from_secs(3600);
const LEASE_TOUCH: Duration = Duration::from_secs(600);

/// Held leases: path -> how many holders in this process.
static HELD: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());
static TOUCHER: OnceLock<()> = OnceLock::new();

/// A held lease.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
}

impl Store {
    /// Takes a lease on an artifact.
    pub fn lease(&self, artifact: &Artifact) -> Lease {
        let folder = self.root().join("leases");
        let path = folder.join(format!("{}-{}-{}", host(), std::process::id(), artifact.manifest.key));
        {
            // Written under the lock, so that a signal finds every lease that is there.
            let mut held = held();
            *held.entry(path.clone()).or_insert(0) += 1;
            // In a read-only store nothing is collected, so nothing is lost when these fail.
            let _unimportant = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, b""));
        }
        TOUCHER.get_or_init(|| drop(std::thread::Builder::new().name("leases".into()).spawn(touch_for_ever)));
        Lease { path }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut held = held();
        if let Some(count) = held.get_mut(&self.path) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.path);
                let _unimportant = fs::remove_file(&self.path);
            }
        }
    }
}

/// Removes all leases of this process, before it ends by a signal. The lock is never given back: none is taken any more.
pub(crate) fn release_all() {
    let held = held();
    for path in held.keys() {
        let _unimportant = fs::remove_file(path);
    }
    std::mem::forget(held);
}

/// This host's name, with nothing in it that a file name could not bear.
pub fn host() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect();
    if plain.is_empty() { "host".to_owned() } else { plain }
}

/// Whether a process of this host lives.
pub(crate) fn process_lives(process: i32) -> bool {
    let Some(process) = rustix::process::Pid::from_raw(process) else { return false };
    !matches!(rustix::process::test_kill_process(process), Err(error) if error == rustix::io::Errno::SRCH)
}

fn held() -> std::sync::MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn touch_for_ever() {
    loop {
        std::thread::sleep(LEASE_TOUCH);
        for path in held().keys() {
            if let Ok(file) = fs::File::options().append(true).open(path) {
                let _unimportant = file.set_modified(SystemTime::now());
            }
        }
    }
}
