//! claim: a file `<store>/claims/<stage>-<key>`. It says that a process builds what will have this
//! key, so that others wait for it instead of doing the same work.
//!
//! promises  of any number of processes that take a free claim at once, one gets it; a claim is
//!           touched every ten seconds while it is held, and removed when it is dropped and when a
//!           signal ends the process; a claim whose holder is known to have ended, or that was not
//!           touched for a minute, is stolen by one process
//! promises  ages are measured by the clock of the file system alone: that of the claim, and that
//!           of a file which the observer has just written beside it
//! never     protects anything: publishing is safe against races without claims, so that a claim
//!           that cannot be made, is lost or is ignored costs work that is done twice; takes a
//!           lock; holds one claim while it waits for another
//! limits    needs hard links; where there are none, there are no claims
use std::{
    collections::BTreeMap,
    fmt, fs,
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, Once, OnceLock},
    time::{Duration, Instant, SystemTime},
};

use super::{
    Store, drafts,
    folders::{entries, folder_time, touch},
    writer::{self, Life, Writer},
};
use crate::{Key, Kind, StageError, eintr::retry, manifest::utc_timestamp, regular_file};

/// A claim that was not touched for so long is stale.
const EXPIRY: Duration = Duration::from_secs(60);
/// Touches, and looks at the clock of the file system, in the time of expiry.
const BEATS: u32 = 6;
const PROBES: u32 = 12;
/// Another expiry in milliseconds, for tests.
const EXPIRY_VARIABLE: &str = "WARPLOOM_TEST_CLAIM_EXPIRY";
/// The folder of claims in a store.
const FOLDER: &str = "claims";
/// What the name of a claim on the removal of a stale claim ends with.
const THEFT: &str = ".theft";
/// Prefix of files that claim nothing.
const UNNAMED: &str = ".tmp-";
/// How often a claim is tried that vanishes and comes back between two looks.
const TRIES: usize = 8;
/// A claim is one small page.
const MOST_BYTES: u64 = 4096;
/// Variables in which schedulers name the job.
const JOBS: [(&str, &str); 3] =
    [("Slurm", "SLURM_JOB_ID"), ("PBS", "PBS_JOBID"), ("LSF", "LSB_JOBID")];

/// Held claims: mark -> path.
static HELD: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
/// Done once claims are touched regularly.
static TOUCHED: Once = Once::new();

/// A held claim.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Its first line, which no other claim has.
    mark: String,
}

/// What came of a try to take a claim.
#[derive(Debug)]
pub enum Attempt {
    /// It is held now.
    Taken(Claim),
    /// Another process holds it.
    Held(Holder),
    /// There are no claims in this store: work may be done twice.
    Impossible,
}

/// A claim of another process, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Lines: mark, `process 12 on host`, and, where they are known, `job ID` and `since TIME`.
    text: String,
    /// When it was touched last, by the clock of the file system.
    touched: SystemTime,
}

impl Holder {
    fn mark(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    fn line(&self, start: &str) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix(start))
    }

    /// Since when it is held, by the clock of its host.
    pub fn since(&self) -> Option<&str> {
        self.line("since ")
    }

    fn life(&self) -> Life {
        drafts::writer(self.mark()).map_or(Life::Unknown, |writer| writer.life())
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line("process ") {
            Some(process) => write!(f, "process {process}")?,
            None => write!(f, "another process")?,
        }
        self.line("job ").map_or(Ok(()), |job| write!(f, " ({job})"))
    }
}

/// Looks at a claim again and again, and takes it as soon as it is free or stale.
#[derive(Debug)]
pub struct ClaimObserver {
    folder: PathBuf,
    path: PathBuf,
    name: String,
    expiry: Duration,
    /// What was read last, and when it was read first.
    seen: Option<(Option<Holder>, Instant)>,
    /// When the clock of the file system was read last.
    probed: Option<Instant>,
    /// What was judged stale last.
    judged: Option<Holder>,
    clock: fn(&Path) -> Option<SystemTime>,
}

impl Store {
    /// An observer of the claim on a key; `stage` is what is done under it.
    pub fn observe_claim(&self, stage: &str, key: &Key) -> ClaimObserver {
        let folder = self.root().join(FOLDER);
        let name = format!("{stage}-{key}");
        ClaimObserver {
            path: folder.join(&name),
            folder,
            name,
            expiry: expiry(),
            seen: None,
            probed: None,
            judged: None,
            clock: folder_time,
        }
    }

    /// Changes the folder of a kind: until then a network file system may say from its cache that
    /// an artifact is not there.
    pub fn refresh(&self, kind: Kind) {
        for folder in [self.root(), &self.kind_directory(kind)] {
            // In a read-only store nothing is published.
            let _unimportant = fs::File::open(folder).and_then(|folder| touch(&folder));
        }
    }
}

impl ClaimObserver {
    /// Takes the claim, if it is free or stale.
    pub fn attempt(&mut self) -> Attempt {
        let mut stale = false;
        for _ in 0..TRIES {
            let Ok(found) = read_claim(&self.path) else { return Attempt::Impossible };
            if let Some(holder) = found {
                stale = self.is_stale(&holder);
                match stale.then(|| self.steal(&holder)) {
                    None | Some(Ok(Theft::OfAnother)) => return Attempt::Held(holder),
                    Some(Ok(Theft::Done)) => {}
                    Some(Ok(Theft::Late)) => continue,
                    Some(Err(_)) => return Attempt::Impossible,
                }
            }
            match make_claim(&self.folder, &self.path, &self.name) {
                Ok(Some(claim)) => return Attempt::Taken(claim),
                Ok(None) => {}
                Err(_) => return Attempt::Impossible,
            }
        }
        // The name is taken, and the file system does not show by whom: it shows it later.
        if stale || self.time_unchanged(None) > self.expiry {
            return Attempt::Impossible;
        }
        Attempt::Held(Holder { text: String::new(), touched: SystemTime::UNIX_EPOCH })
    }

    fn is_stale(&mut self, holder: &Holder) -> bool {
        if self.judged.as_ref() == Some(holder) {
            return true;
        }
        let stale = self.judge(holder);
        if stale {
            self.judged = Some(holder.clone());
        }
        stale
    }

    fn judge(&mut self, holder: &Holder) -> bool {
        if holder.life() == Life::Ended || self.time_unchanged(Some(holder)) > self.expiry {
            return true;
        }
        if self.probed.is_some_and(|probed| probed.elapsed() < self.expiry / PROBES) {
            return false;
        }
        self.probed = Some(Instant::now());
        let now = (self.clock)(&self.folder);
        now.and_then(|now| now.duration_since(holder.touched).ok())
            .is_some_and(|age| age > self.expiry)
    }

    /// How long this observer has read the same.
    fn time_unchanged(&mut self, found: Option<&Holder>) -> Duration {
        match &self.seen {
            Some((seen, since)) if seen.as_ref() == found => since.elapsed(),
            _ => {
                self.seen = Some((found.cloned(), Instant::now()));
                Duration::ZERO
            }
        }
    }

    /// Removes a stale claim. Of several processes, the one that holds the claim on removing it
    /// does: otherwise one might remove what another has made in its place.
    fn steal(&mut self, stale: &Holder) -> io::Result<Theft> {
        let name = format!("{}{THEFT}", self.name);
        let path = self.folder.join(&name);
        let Some(_until_it_is_done) = make_claim(&self.folder, &path, &name)? else {
            // It ended halfway.
            if read_claim(&path)?.is_some_and(|thief| self.has_expired(&thief)) {
                retry(|| fs::remove_file(&path))?;
            }
            return Ok(Theft::OfAnother);
        };
        if read_claim(&self.path)?.as_ref() != Some(stale) {
            return Ok(Theft::Late);
        }
        retry(|| fs::remove_file(&self.path))?;
        Ok(Theft::Done)
    }

    /// Whether a process has ended, or has not touched its claim for long.
    fn has_expired(&self, holder: &Holder) -> bool {
        let age = || (self.clock)(&self.folder)?.duration_since(holder.touched).ok();
        holder.life() == Life::Ended || age().is_some_and(|age| age > self.expiry)
    }
}

/// What came of removing a stale claim.
enum Theft {
    /// It is removed.
    Done,
    /// The claim is another one by now.
    Late,
    /// Another process is at it.
    OfAnother,
}

/// Makes a claim under its name at once: it is written under another one and linked. None if the
/// name is taken.
fn make_claim(folder: &Path, path: &Path, name: &str) -> io::Result<Option<Claim>> {
    retry(|| fs::create_dir_all(folder))?;
    let mark = writer::unique_name(UNNAMED, name);
    let draft = folder.join(&mark);
    // Under the lock, so that a signal finds every claim.
    let mut held = held_claims();
    let written = fs::File::create_new(&draft)
        .and_then(|mut file| file.write_all(claim_text(&mark).as_bytes()));
    let linked = written.and_then(|()| match retry(|| fs::hard_link(&draft, path)) {
        Ok(()) => Ok(true),
        // The reply to a link that was made may have been lost, and the second try found it there.
        Err(_) if fs::metadata(&draft).is_ok_and(|facts| facts.nlink() == 2) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    });
    // `gc` removes what stays.
    let _left = retry(|| fs::remove_file(&draft));
    if !linked? {
        return Ok(None);
    }
    held.insert(mark.clone(), path.to_owned());
    drop(held);
    TOUCHED.call_once(keep_touched);
    Ok(Some(Claim { path: path.to_owned(), mark }))
}

fn claim_text(mark: &str) -> String {
    let job = JOBS.iter().find_map(|(scheduler, variable)| {
        let id: String =
            std::env::var(variable).ok()?.chars().filter(char::is_ascii_graphic).collect();
        Some(format!("job {scheduler} job {id}\n"))
    });
    format!("{mark}\n{}\n{}since {}\n", Writer::own(), job.unwrap_or_default(), utc_timestamp())
}

/// A claim as it is now; none if it is not there.
fn read_claim(path: &Path) -> io::Result<Option<Holder>> {
    // Opening asks the server of a network file system for the times.
    let read = || {
        let file = regular_file::open(path)?;
        let touched = file.metadata()?.modified()?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(Holder { text: String::from_utf8_lossy(&bytes).into_owned(), touched })
    };
    match retry(read) {
        Ok(holder) => Ok(Some(holder)),
        // Another host removed it while it was read.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::StaleNetworkFileHandle
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// How long a claim is valid after its last touch.
fn expiry() -> Duration {
    static EXPIRES: OnceLock<Duration> = OnceLock::new();
    *EXPIRES.get_or_init(|| {
        let named = std::env::var(EXPIRY_VARIABLE).ok().and_then(|value| value.parse().ok());
        named.map_or(EXPIRY, Duration::from_millis)
    })
}

/// Claims of processes that have ended or were not touched for long, and drafts of claims that
/// ended processes left.
pub(super) fn stale_claims(store: &Store) -> Result<Vec<PathBuf>, StageError> {
    let folder = store.root().join(FOLDER);
    let paths = entries(&folder)?;
    let now = if paths.is_empty() { None } else { folder_time(&folder) };
    let is_stale = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(UNNAMED) {
            return drafts::is_abandoned(path);
        }
        // What cannot be read now stays.
        let Ok(Some(holder)) = read_claim(path) else { return false };
        let age = now.and_then(|now| now.duration_since(holder.touched).ok());
        holder.life() == Life::Ended || age.is_some_and(|age| age > expiry())
    };
    Ok(paths.into_iter().filter(is_stale).collect())
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut held = held_claims();
        if held.remove(&self.mark).is_some() {
            release(&self.path, &self.mark);
        }
    }
}

/// Removes a claim, unless it was stolen.
fn release(path: &Path, mark: &str) {
    if matches!(read_claim(path), Ok(Some(holder)) if holder.mark() == mark) {
        // What stays is stale once this process has ended.
        let _left = retry(|| fs::remove_file(path));
    }
}

/// Removes all claims of this process, before a signal ends it. The lock is never released: no
/// claim is taken any more.
pub(crate) fn release_all() {
    let held = held_claims();
    held.iter().for_each(|(mark, path)| release(path, mark));
    std::mem::forget(held);
}

fn held_claims() -> MutexGuard<'static, BTreeMap<String, PathBuf>> {
    HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Touches the claims of this process from now on. If no thread can be started, they become stale
/// while they are held, and work may be done twice.
fn keep_touched() {
    let touch_repeatedly = || {
        loop {
            std::thread::sleep(expiry() / BEATS);
            // Not under the lock: a file system that hangs delays no signal.
            let held = held_claims().clone();
            held.iter().for_each(|(mark, path)| touch_own(path, mark));
        }
    };
    drop(std::thread::Builder::new().name("claims".into()).spawn(touch_repeatedly));
}

/// Touches a claim, unless it was stolen.
fn touch_own(path: &Path, mark: &str) {
    let Ok(mut file) = regular_file::open(path) else { return };
    let mut found = vec![0; mark.len()];
    if file.read_exact(&mut found).is_ok() && found == mark.as_bytes() {
        let _next_time = touch(&file);
    }
}

#[cfg(test)]
mod tests;
