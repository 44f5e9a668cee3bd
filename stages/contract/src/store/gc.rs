//! Collecting garbage: left-overs of killed writers, artifacts that are old, too many or reachable
//! from no run, or of older formats.
//!
//! promises  never removes what is leased, what a kept plan needs, or a run's results unless runs
//!           are asked for; a reader sees an artifact whole or not at all; a manifest that cannot
//!           be read now (but is not damaged) ends it before anything goes
//! never     waits for anybody; touches a read-only store; removes what a living process of this
//!           PID name space writes or uses, or anything of a newer format
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    MARK_EVERY, Store, claim, drafts,
    folders::{age, entries, present, size_of},
    formats::{Foreign, OtherFormats},
    lease,
    removal::{Removal, is_aside},
    writer,
};
use crate::{ErrorKind, Key, Kind, Manifest, StageError, eintr::retry, manifest::MANIFEST_FILE};

/// A note that a process of this number is still writing is a left-over at this age: the number was
/// given again.
const NOTE_AGE: Duration = Duration::from_secs(3600);

/// What to remove beside left-overs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Artifacts not used for so long. Uses are noted to the hour: what may have been used since
    /// stays.
    pub older_than: Option<Duration>,
    /// The least recently used, until so many bytes are left.
    pub keep_bytes: Option<u64>,
    /// What no run was made from.
    pub unreachable: bool,
    /// Artifacts of formats that this version replaced.
    pub older_formats: bool,
    /// Results of runs too.
    pub runs: bool,
    /// Only say what would be removed.
    pub dry: bool,
}

/// Something removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Where it was.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Why it went.
    pub why: String,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What went, or would go.
    pub removed: Vec<Removed>,
    /// Bytes of artifacts that stay.
    pub bytes_kept: u64,
    /// Artifacts spared because somebody uses them.
    pub leased: u64,
    /// Artifacts of other formats that stay.
    pub other_formats: OtherFormats,
    /// What was to go and did not, and why; all the rest went.
    pub failed: Vec<StageError>,
}

/// An artifact that is to go.
struct Place<'a> {
    path: &'a Path,
    key: &'a str,
    bytes: u64,
}

impl Report {
    /// What was to go has gone, or stays.
    fn note(&mut self, place: &Place<'_>, why: &str, gone: Result<(), StageError>) {
        match gone {
            Ok(()) => self.removed.push(Removed {
                path: place.path.to_owned(),
                bytes: place.bytes,
                why: why.to_owned(),
            }),
            Err(error) => {
                self.bytes_kept += place.bytes;
                self.failed.push(error);
            }
        }
    }
}

struct Item {
    path: PathBuf,
    kind: Kind,
    key: String,
    bytes: u64,
    used: SystemTime,
    needs: Vec<(Kind, String)>,
    leased: bool,
}

impl Item {
    fn place(&self) -> Place<'_> {
        Place { path: &self.path, key: &self.key, bytes: self.bytes }
    }
}

impl Store {
    /// Removes what `request` asks for.
    pub fn collect(&self, request: &Request) -> Result<Report, StageError> {
        if !request.dry && self.root().exists() {
            prove_writable(self.root())?;
        }
        let mut report = Report::default();
        self.collect_leftovers(request, &mut report)?;
        let items = self.items()?;
        report.leased += items.iter().filter(|item| item.leased).count() as u64;
        let doomed = choose(&items, request);
        for (index, item) in items.iter().enumerate() {
            match doomed.get(&index) {
                None => report.bytes_kept += item.bytes,
                Some(why) => self.collect_item(&item.place(), why, request.dry, &mut report),
            }
        }
        self.collect_other_formats(request, &mut report)?;
        Ok(report)
    }

    /// Removes everything that has one of these keys. Refuses what is in use or what a kept plan or
    /// run was made from, unless `force`.
    pub fn remove(&self, keys: &[Key], force: bool) -> Result<Report, StageError> {
        prove_writable(self.root())?;
        let items = self.items()?;
        let asked = |item: &Item| keys.iter().any(|key| key.as_str() == item.key);
        if !force {
            items
                .iter()
                .filter(|item| asked(item))
                .try_for_each(|item| refuse_needed(item, &items, asked))?;
        }
        let mut report = Report::default();
        for item in &items {
            if !asked(item) {
                report.bytes_kept += item.bytes;
                continue;
            }
            let removed = if force {
                self.trash(&item.path).map(|()| Removal::Gone)
            } else {
                self.remove_unused(&item.path, &item.key)
            };
            // Whoever began to use it after the first look has a lease by now.
            let removed = removed.and_then(|removal| {
                if removal == Removal::Gone {
                    Ok(())
                } else {
                    Err(refusal(item, "is in use by a process"))
                }
            });
            report.note(&item.place(), "asked for", removed);
        }
        Ok(report)
    }

    /// Removes what was chosen, unless somebody began to use it after the first look.
    fn collect_item(&self, place: &Place<'_>, why: &str, dry: bool, report: &mut Report) {
        match if dry { Ok(Removal::Gone) } else { self.remove_unused(place.path, place.key) } {
            Ok(Removal::Gone) => report.note(place, why, Ok(())),
            Ok(Removal::InUse) => {
                report.leased += 1;
                report.bytes_kept += place.bytes;
            }
            Err(error) => report.note(place, why, Err(error)),
        }
    }

    /// Nothing of this version reads artifacts of older formats; results of their runs are a
    /// person's all the same.
    fn collect_other_formats(
        &self,
        request: &Request,
        report: &mut Report,
    ) -> Result<(), StageError> {
        let OtherFormats { older, newer } = self.other_formats()?;
        let goes = |foreign: &Foreign| {
            request.older_formats && (request.runs || foreign.kind != Kind::Run)
        };
        let (doomed, older): (Vec<Foreign>, Vec<Foreign>) = older.into_iter().partition(goes);
        report.other_formats = OtherFormats { older, newer };
        for Foreign { path, key, bytes, .. } in &doomed {
            self.collect_item(
                &Place { path, key: key.as_str(), bytes: *bytes },
                "of a format that this version replaced",
                request.dry,
                report,
            );
        }
        if !request.dry {
            let folders: BTreeSet<&Path> =
                doomed.iter().filter_map(|foreign| foreign.path.parent()).collect();
            // One that holds anything stays.
            folders.into_iter().for_each(|folder| drop(fs::remove_dir(folder)));
        }
        Ok(())
    }

    fn collect_leftovers(&self, request: &Request, report: &mut Report) -> Result<(), StageError> {
        let mut doomed: Vec<(PathBuf, &str)> = Vec::new();
        for folder in self.folders_up_to_now()? {
            for path in entries(&folder)? {
                if is_aside(&path) {
                    self.collect_aside(path, request.dry, report)?;
                } else if drafts::is_abandoned(&path) {
                    doomed.push((path, "left by a writer that ended before it was done"));
                }
            }
        }
        let leases = entries(&self.root().join("leases"))?;
        let now = if leases.is_empty() { SystemTime::UNIX_EPOCH } else { lease::now(self) };
        for path in leases {
            if !lease::is_valid(&path, now) {
                doomed.push((path, "a lease of a process that has ended"));
            }
        }
        for path in claim::stale_claims(self)? {
            doomed.push((path, "a claim without a holder"));
        }
        for path in entries(&self.root().join("seen-v1"))? {
            if is_abandoned_note(&path) {
                doomed.push((path, "a note of a process that has ended"));
            }
        }
        for (path, why) in doomed {
            let bytes = size_of(&path)?;
            match if request.dry { Ok(()) } else { drafts::remove(&path) } {
                Ok(()) => report.removed.push(Removed { path, bytes, why: why.to_owned() }),
                Err(error) => report.failed.push(StageError::io("remove", &path, &error)),
            }
        }
        Ok(())
    }

    /// Ends what another `gc` began, if that one has ended or somebody uses what it took the name
    /// of.
    fn collect_aside(
        &self,
        path: PathBuf,
        dry: bool,
        report: &mut Report,
    ) -> Result<(), StageError> {
        let bytes = size_of(&path)?;
        match self.settle_aside(&path, dry) {
            Ok(Some(Removal::Gone)) => report.removed.push(Removed {
                path,
                bytes,
                why: "another `gc` ended while it removed this".to_owned(),
            }),
            Ok(_) => {}
            Err(error) => report.failed.push(error),
        }
        Ok(())
    }

    fn items(&self) -> Result<Vec<Item>, StageError> {
        let leased = lease::protected_keys(self)?;
        let mut items = Vec::new();
        for kind in Kind::ALL {
            for path in entries(&self.kind_directory(kind))? {
                let Some(key) =
                    path.file_name().and_then(|name| name.to_str()).and_then(Key::parse)
                else {
                    continue;
                };
                let mut of_newer = None;
                let manifest = match Manifest::read(&path, kind) {
                    Ok(manifest) => manifest,
                    // What it was made from is not known; a checkpoint's folder holds steps.
                    Err(error) if error.kind == ErrorKind::Damaged => None,
                    Err(error) => {
                        of_newer = Some(Manifest::inputs_of_newer(&path)?.ok_or(error)?);
                        None
                    }
                };
                // Another process removed it since it was listed.
                if manifest.is_none() && path.symlink_metadata().is_err() {
                    continue;
                }
                let inputs = manifest.iter().flat_map(|manifest| manifest.inputs.iter());
                let inputs = inputs.map(|input| (input.kind.clone(), input.key.to_string()));
                // What a newer version wrote stays, with what it was made from, as if it were in
                // use.
                let leased = of_newer.is_some() || leased.contains(key.as_str());
                let needs = inputs
                    .chain(of_newer.into_iter().flatten())
                    .filter_map(|(kind, key)| Some((Kind::parse(&kind)?, key)))
                    .collect();
                let (bytes, used) = (size_of(&path)?, last_used(&path)?);
                items.push(Item { path, kind, key: key.to_string(), bytes, used, needs, leased });
            }
        }
        Ok(items)
    }
}

/// Refuses to remove what is in use, or what a plan or run that stays was made from.
fn refuse_needed(
    item: &Item,
    items: &[Item],
    goes: impl Fn(&Item) -> bool,
) -> Result<(), StageError> {
    let needs = |other: &&Item| {
        other.needs.iter().any(|(kind, key)| *kind == item.kind && *key == item.key)
    };
    if item.leased || items.iter().filter(|other| other.leased).any(|other| needs(&other)) {
        return Err(refusal(item, "is in use by a process"));
    }
    match items
        .iter()
        .filter(needs)
        .find(|other| matches!(other.kind, Kind::Plan | Kind::Run) && !goes(other))
    {
        Some(user) => {
            Err(refusal(item, &format!("is what {} {} was made from", user.kind.name(), user.key)))
        }
        None => Ok(()),
    }
}

fn refusal(item: &Item, what: &str) -> StageError {
    let error =
        StageError::new(ErrorKind::Input, format!("{} {} {what}", item.kind.name(), item.key))
            .at(item.path.display());
    error.hint("remove it nevertheless with  --force")
}

/// Whether a file beside the digests of raw files is one that its writer, `<hash>.<process>.tmp`,
/// did not finish.
fn is_abandoned_note(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let process =
        name.strip_suffix(".tmp").and_then(|rest| rest.rsplit_once('.')?.1.parse::<i32>().ok());
    // The file is written within milliseconds; a writer that loses it in another name space reads
    // the raw file once more.
    process.is_some_and(|process| {
        !writer::is_there(process) || age(path).is_some_and(|age| age > NOTE_AGE)
    })
}

/// Items that no run and nothing safe was made from.
fn unreached(
    items: &[Item],
    safe: &BTreeSet<usize>,
    needs: impl Fn(usize) -> Vec<usize>,
) -> Vec<usize> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<usize> = (0..items.len())
        .filter(|&index| items[index].kind == Kind::Run || safe.contains(&index))
        .collect();
    while let Some(index) = open.pop() {
        if reached.insert(index) {
            open.extend(needs(index));
        }
    }
    // A choice stays with the graph that it was made for, in whichever store that is: without it,
    // what was made of that graph is no hit.
    let names = |item: &'_ Item| -> Vec<(Kind, String)> {
        item.needs.iter().cloned().chain([(item.kind, item.key.clone())]).collect()
    };
    let wanted: BTreeSet<(Kind, String)> =
        reached.iter().flat_map(|&index| names(&items[index])).collect();
    let is_choice = |index: usize| {
        items[index].kind == Kind::Tune
            && items[index].needs.iter().any(|need| wanted.contains(need))
    };
    (0..items.len()).filter(|&index| !reached.contains(&index) && !is_choice(index)).collect()
}

/// Which items go, and why.
fn choose(items: &[Item], request: &Request) -> BTreeMap<usize, String> {
    let index_of: BTreeMap<(Kind, &str), usize> = items
        .iter()
        .enumerate()
        .map(|(index, item)| ((item.kind, item.key.as_str()), index))
        .collect();
    let needs = |index: usize| {
        items[index]
            .needs
            .iter()
            .filter_map(|(kind, key)| index_of.get(&(*kind, key.as_str())).copied())
            .collect::<Vec<_>>()
    };
    let mut safe: BTreeSet<usize> = BTreeSet::new();
    let mut reach = |start: Vec<usize>| {
        let mut open = start;
        while let Some(index) = open.pop() {
            if safe.insert(index) {
                open.extend(needs(index));
            }
        }
    };
    reach((0..items.len()).filter(|&index| items[index].leased).collect());
    if !request.runs {
        safe.extend((0..items.len()).filter(|&index| items[index].kind == Kind::Run));
    }
    let mut doomed = BTreeMap::new();
    if request.unreachable {
        let unreached = unreached(items, &safe, needs).into_iter();
        doomed.extend(unreached.map(|index| (index, "no run was made from it".to_owned())));
    }
    // Least recently used first; what a kept plan needs stays until the plan goes.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&index| (items[index].used, std::cmp::Reverse(items[index].kind)));
    let mut bytes: u64 = items
        .iter()
        .enumerate()
        .filter(|(index, _)| !doomed.contains_key(index))
        .map(|(_, item)| item.bytes)
        .sum();
    loop {
        let needed: BTreeSet<usize> = (0..items.len())
            .filter(|index| items[*index].kind == Kind::Plan && !doomed.contains_key(index))
            .flat_map(needs)
            .collect();
        let free = |index: &usize| {
            !doomed.contains_key(index) && !safe.contains(index) && !needed.contains(index)
        };
        let why = |item: &Item| {
            let age = item.used.elapsed().unwrap_or_default();
            match (request.older_than, request.keep_bytes) {
                (Some(limit), _) if is_older(age, limit) => {
                    Some(format!("not used for {}", span_words(age)))
                }
                (_, Some(keep)) if bytes > keep => {
                    Some("the least recently used, to make room".to_owned())
                }
                _ => None,
            }
        };
        let Some((index, why)) =
            order.iter().copied().filter(free).find_map(|index| Some((index, why(&items[index])?)))
        else {
            break;
        };
        bytes -= items[index].bytes;
        doomed.insert(index, why);
    }
    doomed
}

/// Whether what was noted as used so long ago was not used within the limit. A use is noted unless
/// one was within the hour before.
fn is_older(age: Duration, limit: Duration) -> bool {
    let unnoted = if limit.is_zero() { Duration::ZERO } else { MARK_EVERY };
    age > limit.saturating_add(unnoted)
}

/// A span in the largest unit of which it has at least two: `3 days`, `26 hours`, `90 seconds`.
fn span_words(span: Duration) -> String {
    let seconds = span.as_secs();
    let unit = [(86400, "days"), (3600, "hours"), (60, "minutes")]
        .into_iter()
        .find(|(length, _)| seconds >= 2 * length);
    match unit {
        Some((length, name)) => format!("{} {name}", seconds / length),
        None if seconds == 1 => "1 second".to_owned(),
        None => format!("{seconds} seconds"),
    }
}

fn prove_writable(root: &Path) -> Result<(), StageError> {
    let probe = root.join(writer::unique_name(".tmp-", "probe"));
    fs::write(&probe, b"")
        .and_then(|()| retry(|| fs::remove_file(&probe)))
        .map_err(|error| StageError::io("collect garbage in a store", root, &error))
}

/// When an artifact was last used: the time of its manifest, or of its folder.
fn last_used(path: &Path) -> Result<SystemTime, StageError> {
    for place in [&path.join(MANIFEST_FILE), path] {
        if let Some(time) = present(retry(|| fs::metadata(place)?.modified()), "look at", place)? {
            return Ok(time);
        }
    }
    Ok(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_used_since_it_was_noted_is_not_old() {
        let hours = |count: u64| Duration::from_secs(count * 3600);
        assert!(!is_older(hours(24) + MARK_EVERY, hours(24)) && is_older(hours(26), hours(24)));
        // Within no time nothing was used.
        assert!(
            is_older(Duration::from_secs(1), Duration::ZERO) && !is_older(hours(1), Duration::MAX)
        );
    }

    #[test]
    fn a_span_is_never_none_of_a_unit() {
        let words = [0, 1, 90, 61 * 60, 26 * 3600, 48 * 3600, 400 * 86400]
            .map(|seconds| span_words(Duration::from_secs(seconds)));
        assert_eq!(
            words,
            ["0 seconds", "1 second", "90 seconds", "61 minutes", "26 hours", "2 days", "400 days"]
        );
    }
}
