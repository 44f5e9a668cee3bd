//! drafts: folders that are written under a temporary name,
//! `.tmp-<what>-<process>-<number>@<host>-<boot>-<name space>-<start>`, and renamed once they are
//! complete.
//!
//! promises  a draft is removed when it is dropped and when a signal ends the process; the draft of
//!           a killed process is recognised by its name, and the next process that writes the same
//!           in the same folder removes it (in a store: `gc` does); a draft is touched every ten
//!           minutes
//! never     removes the draft of a living process, however old, or a folder without the name of a
//!           draft: in a store the prefix is enough, elsewhere process, number and place have to be
//!           in the name too
//! limits    whether a process of another host or PID name space lives is unknown: its drafts are
//!           left-overs a day after the last touch
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, Once},
    time::Duration,
};

use super::{
    folders::{age, touch},
    renames,
    writer::{self, Life, Writer},
};
use crate::{StageError, eintr::retry};

/// The age at which a draft is a left-over if it is unknown whether its writer lives.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 3600);
/// How often the removal of a draft is tried while it is written; a second try is rarely needed.
const REMOVALS: usize = 100;

/// Folders that this process is writing: a signal removes them before the process ends.
static DRAFTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Done once drafts are touched regularly.
static TOUCHED: Once = Once::new();

/// A folder that is being written outside of a store. When it is dropped, it is removed with all
/// that was not moved out of it.
#[derive(Debug)]
pub struct Beside {
    path: PathBuf,
}

impl Beside {
    /// Begins a draft in an existing folder, after it removes drafts that dead processes left
    /// there.
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

/// Does work that no signal may interrupt halfway, such as several renames.
pub fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let _held = drafts();
    work()
}

/// Whether a folder holds a draft of `what` that a dead process left.
pub fn holds_leftover(folder: &Path, what: &str) -> bool {
    leftovers(folder, what).next().is_some()
}

/// Removes all drafts of this process, before a signal ends it.
///
/// The lock on the drafts is never released: no draft begins any more, and no partly removed draft
/// is published.
pub(super) fn abandon_all() {
    let drafts = drafts();
    drafts.iter().for_each(|draft| remove_while_written(draft));
    std::mem::forget(drafts);
}

/// Creates the folder of a draft again after it was removed; never after `abandon_all`, which keeps
/// the lock.
pub(super) fn make_again(draft: &Path) -> io::Result<()> {
    let _held = drafts();
    retry(|| fs::create_dir(draft))
}

/// Creates the folder of a draft, and notes it for removal.
pub(crate) fn begin(folder: &Path, what: &str) -> io::Result<PathBuf> {
    let path = folder.join(writer::unique_name(".tmp-", what));
    TOUCHED.call_once(|| writer::keep_touched(touch_all));
    let mut drafts = drafts();
    renames::make_folder(&path)?;
    drafts.insert(path.clone());
    Ok(path)
}

/// Touches all drafts of this process, so that others see that it lives.
pub(super) fn touch_all() {
    let drafts: Vec<PathBuf> = drafts().iter().cloned().collect();
    for draft in drafts {
        // A draft that was published or removed meanwhile needs no touch.
        let _gone = fs::File::open(&draft).and_then(|folder| touch(&folder));
    }
}

/// Renames a draft to its final name; it is no draft any more.
pub(crate) fn give_name(draft: &Path, target: &Path) -> io::Result<()> {
    // Under the lock, so that a signal either removes the draft or finds it published, and never
    // removes a part of what was published.
    let mut drafts = drafts();
    renames::rename(draft, target)?;
    drafts.remove(draft);
    Ok(())
}

/// Removes a draft that was not published; a published one is not touched.
pub(crate) fn discard(draft: &Path) {
    let mut drafts = drafts();
    if drafts.remove(draft) {
        // If the removal fails, `gc` removes the left-over once this process has ended.
        let _left = retry(|| fs::remove_dir_all(draft));
    }
}

/// The writer that a name of `name` states; none of any other name.
pub(super) fn writer(name: &str) -> Option<Writer> {
    let (rest, place) = name.rsplit_once('@')?;
    let mut parts = rest.rsplit('-');
    parts.next()?.parse::<u64>().ok()?;
    Writer::read(parts.next()?, place)
}

/// Whether a path is a draft, or one that is being removed, whose writer has ended.
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

/// Drafts of `what` that dead processes left in a folder.
fn leftovers(folder: &Path, what: &str) -> impl Iterator<Item = PathBuf> {
    let starts = [format!(".tmp-{what}-"), format!(".trash-{what}-")];
    // The next sweep removes what cannot be listed now.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // The folder belongs to the user: a name that has the prefix of a draft and names no process
    // is not ours, however old.
    let is_draft = move |name: &str| {
        starts.iter().any(|start| name.starts_with(start)) && writer(name).is_some()
    };
    entries
        .filter(move |entry| entry.file_name().to_str().is_some_and(&is_draft))
        .map(|entry| entry.path())
        .filter(|path| is_abandoned(path))
}

/// Removes drafts of `what` that dead processes left in a folder.
pub fn sweep(folder: &Path, what: &str) {
    for path in leftovers(folder, what) {
        // What cannot be removed takes room only; the next sweep tries again.
        let _left = remove(&path);
    }
}

/// Removes a folder with its contents, or a file. It is no error if another process was first.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match retry(|| if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes a draft into which other threads may be writing. It is renamed first: from then on
/// creating a file under the old name fails, and only files that were being created can appear.
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
    use std::sync::atomic::Ordering;

    use std::time::SystemTime;

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
