//! Drafts: folders that are written under a name of their own,
//! `.tmp-<what>-<process>-<number>@<host>-<boot>-<name space>-<start>`, until their contents get
//! theirs.
//!
//! promises  a draft goes when it is dropped and when a signal ends the process; what a killed
//!           process left is recognised by its name, and removed by the next that drafts the same
//!           in the same place (in a store: by `gc`); a draft is touched every ten minutes
//! never     removes what a living process writes, however old, or a folder that is not named as a
//!           draft is: in a store, names that start as a draft's are drafts; elsewhere process,
//!           number and place have to be there too
//! limits    whether a process of another host or PID name space lives is not known: its drafts are
//!           left-overs a day after the last touch
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, Once,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use super::{
    folders::age,
    writer::{self, Life, Writer},
};
use crate::{StageError, eintr::retry};

/// A draft is a left-over at this age where it is unknown whether its writer lives.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 3600);
/// Sweeps over a draft that is removed while it is written; a second one is rarely needed.
const REMOVALS: usize = 100;

/// Directories being written by this process, so that a signal can remove them before the process
/// ends.
static DRAFTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static DRAFT_NUMBER: AtomicU64 = AtomicU64::new(0);
static TOUCHED: Once = Once::new();

/// A folder being written outside of a store. Dropped, it removes itself with whatever was not
/// moved out of it.
#[derive(Debug)]
pub struct Beside {
    path: PathBuf,
}

impl Beside {
    /// Makes a draft in a folder that is there, after removing what dead processes left of the
    /// same.
    pub fn begin(folder: &Path, what: &str) -> Result<Beside, StageError> {
        sweep(folder, what);
        let path = begin(folder, what)
            .map_err(|error| StageError::io("make a folder in", folder, &error))?;
        Ok(Beside { path })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        discard(&self.path);
    }
}

/// Does something that a signal must find done or not begun, such as giving several names at once.
pub fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let _held = drafts();
    work()
}

/// Whether a folder holds what a process left that died while it wrote `what`.
pub fn holds_leftover(folder: &Path, what: &str) -> bool {
    leftovers(folder, what).next().is_some()
}

/// Removes whatever this process was writing, before it ends by a signal.
///
/// The lock on the drafts is never given back: no draft begins any more, and none is published half
/// removed.
pub(super) fn abandon_all() {
    let drafts = drafts();
    drafts.iter().for_each(|draft| remove_while_written(draft));
    std::mem::forget(drafts);
}

/// Makes the folder of a draft that was removed under it; never after `abandon_all`, which keeps the
/// lock.
pub(super) fn make_again(draft: &Path) -> io::Result<()> {
    let _held = drafts();
    retry(|| fs::create_dir(draft))
}

/// Makes and remembers a draft.
pub(crate) fn begin(folder: &Path, what: &str) -> io::Result<PathBuf> {
    let path = folder.join(name(".tmp-", what));
    TOUCHED.call_once(|| writer::keep_touched(touch_all));
    let mut drafts = drafts();
    retry(|| fs::create_dir(&path))?;
    drafts.insert(path.clone());
    Ok(path)
}

/// Touches what this process is writing, so that others see that it lives.
pub(super) fn touch_all() {
    let drafts: Vec<PathBuf> = drafts().iter().cloned().collect();
    for draft in drafts {
        // One that was published or removed meanwhile needs none.
        let _gone =
            fs::File::open(&draft).and_then(|folder| folder.set_modified(SystemTime::now()));
    }
}

/// Renames a draft to its final name, and forgets it.
pub(crate) fn give_name(draft: &Path, target: &Path) -> io::Result<()> {
    // Under the lock, so that a signal removes a draft or finds it published, never a part of what
    // was published.
    let mut drafts = drafts();
    retry(|| fs::rename(draft, target))?;
    drafts.remove(draft);
    Ok(())
}

/// Removes a draft that was not published; after publishing there is nothing under this name any
/// more.
pub(crate) fn discard(draft: &Path) {
    let mut drafts = drafts();
    if drafts.remove(draft) {
        // What cannot be removed is a left-over of this process, which `gc` takes once it has
        // ended.
        let _left = retry(|| fs::remove_dir_all(draft));
    }
}

/// A name that no other draft has: `.tmp-<what>-<process>-<number>@<place>`.
pub(crate) fn name(start: &str, what: &str) -> String {
    let own = Writer::own();
    format!(
        "{start}{what}-{}-{}@{}",
        own.process(),
        DRAFT_NUMBER.fetch_add(1, Ordering::Relaxed),
        own.place()
    )
}

/// Who writes a draft, by its name; none of what is not named as `name` does it.
fn writer(name: &str) -> Option<Writer> {
    let (rest, place) = name.rsplit_once('@')?;
    let mut parts = rest.rsplit('-');
    parts.next()?.parse::<u64>().ok()?;
    Writer::read(parts.next()?, place)
}

/// Whether a name is that of a draft, or of one on its way out, whose writer has ended.
pub(super) fn is_abandoned(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    if ![".tmp-", super::TRASH, super::ASIDE].iter().any(|start| name.starts_with(start)) {
        return false;
    }
    match writer(name).map_or(Life::Unknown, |writer| writer.life()) {
        Life::Lives => false,
        Life::Ended => true,
        Life::Unknown => age(path).is_some_and(|age| age > LEFTOVER_AGE),
    }
}

/// What dead processes left in a folder that drafted this.
fn leftovers(folder: &Path, what: &str) -> impl Iterator<Item = PathBuf> {
    let starts = [format!(".tmp-{what}-"), format!(".trash-{what}-")];
    // What is not seen now is swept the next time.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // The folder is a user's: what only begins as a draft does, and says of no process, is not
    // ours, however old.
    let is_draft = move |name: &str| {
        starts.iter().any(|start| name.starts_with(start)) && writer(name).is_some()
    };
    entries
        .filter(move |entry| entry.file_name().to_str().is_some_and(&is_draft))
        .map(|entry| entry.path())
        .filter(|path| is_abandoned(path))
}

/// Removes what dead processes left in a folder that drafted this.
pub fn sweep(folder: &Path, what: &str) {
    for path in leftovers(folder, what) {
        // What cannot be removed only takes room; the next one tries again.
        let _left = remove(&path);
    }
}

/// Removes a folder with all that is in it, or a file. What another process removed first is done.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match retry(|| if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes a draft into which other threads may be writing. It loses its name first: what is
/// created by that name from then on fails, and only what was under way can still be added.
fn remove_while_written(draft: &Path) {
    let name = draft.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let aside = draft.with_file_name(name.replacen(".tmp-", ".trash-", 1));
    let path = if fs::rename(draft, &aside).is_ok() { &aside } else { draft };
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => return,
        }
    }
}

fn drafts() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a process that has ended.
    fn dead() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = child.id();
        child.wait().unwrap();
        process
    }

    #[test]
    fn the_next_draft_removes_what_the_dead_left_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (dead, own, host) = (dead(), std::process::id(), writer::host());
        let (dead_here, again) = (Writer::own().place(), format!("{}0", Writer::own().place()));
        let gone = [
            format!(".tmp-import-{dead}-0@{host}"),
            format!(".trash-import-{dead}-7@{host}"),
            format!(".tmp-import-{dead}-0@{dead_here}"),
            format!(".tmp-import-{own}-0@{again}"),
        ];
        let kept = [
            format!(".tmp-import-{own}-999@{host}"),
            format!(".tmp-export-{dead}-0@{host}"),
            format!(".tmp-import-{dead}-0@elsewhere"),
            format!(".tmp-import-{own}-998@{}", Writer::own().place()),
            ".tmp-import-mine".to_owned(),
            ".tmp-import-mine-of-may@home".to_owned(),
            format!("tmp-import-{dead}-0@{host}"),
        ];
        for name in gone.iter().chain(&kept) {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("x"), "half").unwrap();
        }
        // The age decides for drafts of unknown writers, never for what is no draft.
        for name in [".tmp-import-mine", ".tmp-import-mine-of-may@home"] {
            fs::File::open(folder.path().join(name))
                .unwrap()
                .set_modified(SystemTime::now() - 2 * LEFTOVER_AGE)
                .unwrap();
        }
        assert!(holds_leftover(folder.path(), "import"));
        let draft = Beside::begin(folder.path(), "import").unwrap();
        assert!(!holds_leftover(folder.path(), "import"));
        let there = |name: &String| folder.path().join(name).exists();
        assert!(!gone.iter().any(there) && kept.iter().all(there) && draft.path().is_dir());
        let path = draft.path().to_owned();
        drop(draft);
        assert!(!path.exists());
    }

    #[test]
    fn a_draft_is_removed_while_others_write_into_it() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let draft = folder.path().join(format!(".tmp-key-1-{round}@host"));
            fs::create_dir(&draft).unwrap();
            let over = std::sync::atomic::AtomicBool::new(false);
            std::thread::scope(|scope| {
                for writer in 0..3 {
                    let (draft, over) = (&draft, &over);
                    scope.spawn(move || {
                        (0..).take_while(|_| !over.load(Ordering::Relaxed)).for_each(|file| {
                            drop(fs::write(draft.join(format!("{writer}-{file}")), b"x"))
                        });
                    });
                }
                while fs::read_dir(&draft).unwrap().count() < 20 {}
                remove_while_written(&draft);
                over.store(true, Ordering::Relaxed);
            });
            let left: Vec<_> =
                fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect();
            assert!(left.is_empty(), "round {round}: {left:?}");
        }
    }
}
