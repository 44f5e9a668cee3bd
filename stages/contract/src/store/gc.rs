//! Collecting garbage: left-overs of killed writers, artifacts that are old, too many or reachable from no run.
//!
//! promises  never removes what is leased, what a kept plan needs, or a run's results unless runs are asked for; a reader
//!           sees an artifact whole or not at all
//! never     waits for anybody; touches a read-only store
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{Store, drafts, lease};
use crate::{Key, Kind, Manifest, StageError, manifest::MANIFEST_FILE};

/// What to remove beside left-overs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Artifacts not used for so long.
    pub older_than: Option<Duration>,
    /// The least recently used, until so many bytes are left.
    pub keep_bytes: Option<u64>,
    /// What no run was made from.
    pub unreachable: bool,
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

impl Store {
    /// Removes what `request` asks for.
    pub fn collect(&self, request: &Request) -> Result<Report, StageError> {
        if !request.dry && self.root().exists() {
            prove_writable(self.root())?;
        }
        let mut report = Report::default();
        self.collect_leftovers(request, &mut report)?;
        let items = self.items();
        report.leased = items.iter().filter(|item| item.leased).count() as u64;
        let doomed = choose(&items, request);
        for (index, item) in items.iter().enumerate() {
            match doomed.get(&index) {
                None => report.bytes_kept += item.bytes,
                Some(why) => {
                    if !request.dry {
                        self.trash(&item.path)?;
                    }
                    report.removed.push(Removed { path: item.path.clone(), bytes: item.bytes, why: why.clone() });
                }
            }
        }
        Ok(report)
    }

    fn collect_leftovers(&self, request: &Request, report: &mut Report) -> Result<(), StageError> {
        let mut doomed: Vec<(PathBuf, &str)> = Vec::new();
        for kind in Kind::ALL {
            for path in entries(&self.kind_directory(kind)) {
                if drafts::is_abandoned(&path) {
                    doomed.push((path, "left by a writer that ended before it was done"));
                }
            }
        }
        for path in entries(&self.root().join("leases")) {
            if age(&path).is_some_and(|age| age > lease::LEASE_VALID) {
                doomed.push((path, "a lease of nobody"));
            }
        }
        for (path, why) in doomed {
            let bytes = size_of(&path);
            if !request.dry {
                let gone = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                gone.map_err(|error| StageError::io("remove", &path, &error))?;
            }
            report.removed.push(Removed { path, bytes, why: why.to_owned() });
        }
        Ok(())
    }

    fn items(&self) -> Vec<Item> {
        let leased = self.leased_keys();
        let mut items = Vec::new();
        for kind in Kind::ALL {
            for path in entries(&self.kind_directory(kind)) {
                let Some(key) = path.file_name().and_then(|name| name.to_str()).and_then(Key::parse) else { continue };
                let manifest = Manifest::read(&path, kind).ok().flatten();
                let used = [path.join(MANIFEST_FILE), path.clone()].iter().find_map(|path| fs::metadata(path).and_then(|facts| facts.modified()).ok());
                let needs = manifest.iter().flat_map(|manifest| manifest.inputs.iter());
                let needs = needs.filter_map(|input| Some((Kind::parse(&input.kind)?, input.key.to_string()))).collect();
                let (bytes, leased) = (size_of(&path), leased.contains(key.as_str()));
                items.push(Item { path, kind, key: key.to_string(), bytes, used: used.unwrap_or(SystemTime::UNIX_EPOCH), needs, leased });
            }
        }
        items
    }

    fn leased_keys(&self) -> BTreeSet<String> {
        let young = |path: &PathBuf| age(path).is_none_or(|age| age <= lease::LEASE_VALID);
        let key = |path: PathBuf| path.file_name()?.to_str()?.rsplit('-').next().map(str::to_owned);
        entries(&self.root().join("leases")).into_iter().filter(young).filter_map(key).collect()
    }
}

/// Which items go, and why.
fn choose(items: &[Item], request: &Request) -> BTreeMap<usize, String> {
    let index_of: BTreeMap<(Kind, &str), usize> = items.iter().enumerate().map(|(index, item)| ((item.kind, item.key.as_str()), index)).collect();
    let needs = |index: usize| items[index].needs.iter().filter_map(|(kind, key)| index_of.get(&(*kind, key.as_str())).copied()).collect::<Vec<_>>();
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
        let mut reached = BTreeSet::new();
        let mut open: Vec<usize> = (0..items.len()).filter(|&index| items[index].kind == Kind::Run || safe.contains(&index)).collect();
        while let Some(index) = open.pop() {
            if reached.insert(index) {
                open.extend(needs(index));
            }
        }
        // A choice stays with the graph that it was made for: without it, what was made of that graph is no hit.
        let is_choice = |index: usize| items[index].kind == Kind::Tune && needs(index).iter().any(|need| reached.contains(need));
        doomed.extend(
            (0..items.len()).filter(|&index| !reached.contains(&index) && !is_choice(index)).map(|index| (index, "no run was made from it".to_owned())),
        );
    }
    // Least recently used first; what a kept plan needs stays until the plan goes.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&index| (items[index].used, std::cmp::Reverse(items[index].kind)));
    let mut bytes: u64 = items.iter().enumerate().filter(|(index, _)| !doomed.contains_key(index)).map(|(_, item)| item.bytes).sum();
    loop {
        let needed: BTreeSet<usize> =
            (0..items.len()).filter(|index| items[*index].kind == Kind::Plan && !doomed.contains_key(index)).flat_map(needs).collect();
        let free = |index: &usize| !doomed.contains_key(index) && !safe.contains(index) && !needed.contains(index);
        let why = |item: &Item| {
            let age = item.used.elapsed().unwrap_or_default();
            match (request.older_than, request.keep_bytes) {
                (Some(limit), _) if age > limit => Some(format!("not used for {}", span_words(age))),
                (_, Some(keep)) if bytes > keep => Some("the least recently used, to make room".to_owned()),
                _ => None,
            }
        };
        let Some((index, why)) = order.iter().copied().filter(free).find_map(|index| Some((index, why(&items[index])?))) else { break };
        bytes -= items[index].bytes;
        doomed.insert(index, why);
    }
    doomed
}

/// A span in the largest unit of which it has at least two: `3 days`, `26 hours`, `90 seconds`.
fn span_words(span: Duration) -> String {
    let seconds = span.as_secs();
    let unit = [(86400, "days"), (3600, "hours"), (60, "minutes")].into_iter().find(|(length, _)| seconds >= 2 * length);
    match unit {
        Some((length, name)) => format!("{} {name}", seconds / length),
        None if seconds == 1 => "1 second".to_owned(),
        None => format!("{seconds} seconds"),
    }
}

fn prove_writable(root: &Path) -> Result<(), StageError> {
    let probe = root.join(drafts::name(".tmp-", "probe"));
    fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).map_err(|error| StageError::io("collect garbage in a store", root, &error))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default();
    paths.sort();
    paths
}

/// How long ago it was changed.
pub(super) fn age(path: &Path) -> Option<Duration> {
    fs::metadata(path).and_then(|facts| facts.modified()).ok()?.elapsed().ok()
}

fn size_of(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => entries(path).iter().map(|path| size_of(path)).sum(),
        Ok(facts) => facts.len(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_never_none_of_a_unit() {
        let words = [0, 1, 90, 61 * 60, 26 * 3600, 48 * 3600, 400 * 86400].map(|seconds| span_words(Duration::from_secs(seconds)));
        assert_eq!(words, ["0 seconds", "1 second", "90 seconds", "61 minutes", "26 hours", "2 days", "400 days"]);
    }
}
