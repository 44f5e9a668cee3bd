//! store: `warploom store`: lists, finds, verifies and removes artifacts.
use std::collections::BTreeMap;

use serde_json::json;
use warploom_contract::{
    Artifact, ErrorKind, Key, Kind, StageError,
    store::{
        formats::{Foreign, OtherFormats},
        gc,
        lease::Lease,
    },
};
use warploom_shell::{
    Environment,
    machine_limits::{count_with_unit, show_size},
    progress::Talk,
};

use crate::{
    arguments::StoreAction,
    artifacts::{data_sets, programs, read_all},
    batch,
    runs::{Run, local_time},
};
use warploom_spec::shell_word;

mod verify;

/// Most artifacts that an error lists.
const CANDIDATES_MOST: usize = 12;

/// Runs a sub-command.
pub fn run(environment: &Environment, talk: &Talk, action: &StoreAction) -> Result<(), StageError> {
    match action {
        StoreAction::Ls { dataset } => print_list(environment, dataset.as_deref()),
        StoreAction::Path { key } => {
            for artifact in find_artifacts(environment, key)? {
                crate::print_as(
                    environment,
                    || format!("{}\n", artifact.path.display()),
                    || {
                        vec![
                            json!({"kind": artifact.kind.name(), "key": artifact.manifest.key, "path": artifact.path.to_string_lossy()}),
                        ]
                    },
                );
            }
            Ok(())
        }
        StoreAction::Verify { key } if key.as_deref() == Some(LAST) => verify::verify_store(
            environment,
            talk,
            Some(last_run(environment)?.manifest.key.as_str()),
        ),
        StoreAction::Verify { key } => verify::verify_store(environment, talk, key.as_deref()),
        StoreAction::Rm { keys } => remove_keys(environment, keys),
        StoreAction::Gc { older_than, keep, unreachable, older_formats, runs, dry_run } => {
            let (older_than, keep_bytes, dry) = (*older_than, *keep, *dry_run);
            let request = gc::Request {
                older_than,
                keep_bytes,
                unreachable: *unreachable,
                older_formats: *older_formats,
                runs: *runs,
                dry,
            };
            collect_garbage(environment, &request)
        }
    }
}

/// The name of the run that `warploom pipeline` built or found last.
pub const LAST: &str = "last";

/// Artifacts whose key starts with these digits, as `DIGITS` or `KIND/DIGITS`, or the last run;
/// kinds of one stage share a key, but two keys are ambiguous.
pub fn find_artifacts(
    environment: &Environment,
    digits: &str,
) -> Result<Vec<Artifact>, StageError> {
    if digits == LAST {
        return last_run(environment).map(|run| vec![run]);
    }
    let (kind, start) =
        digits.split_once('/').map_or((None, digits), |(kind, start)| (Some(kind), start));
    // The empty text of an unset shell variable would match all keys.
    if start.is_empty() {
        return Err(crate::usage_error(
            "expected the first digits of a key, found none",
            format!("list keys with  warploom store ls{}", environment.store_option()),
        ));
    }
    let is_meant = |artifact: &Artifact| {
        kind.is_none_or(|kind| artifact.kind.name() == kind)
            && artifact.manifest.key.as_str().starts_with(start)
    };
    let found: Vec<Artifact> = read_all(environment).into_iter().filter(is_meant).collect();
    let mut keys: Vec<&str> = found.iter().map(|artifact| artifact.manifest.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    match keys.len() {
        1 => Ok(found),
        0 => Err(StageError::new(
            ErrorKind::Input,
            format!("no artifact has a key that starts with `{digits}`"),
        )
        .at(environment.store.root().display())
        .hint(format!(
            "list runs with  warploom runs{0}  and all artifacts with  warploom store ls{0}",
            environment.store_option()
        ))),
        many => {
            let error =
                StageError::new(ErrorKind::Input, format!("{many} keys start with `{digits}`"));
            Err(error.detail(candidate_lines(environment, &found)).hint("give more digits"))
        }
    }
}

/// A found artifact, with a lease for as long as it is read.
pub fn lease_found(
    environment: &Environment,
    found: &Artifact,
) -> Result<(Lease, Artifact), StageError> {
    let lease = environment.store.lease_artifact(found);
    // It may have been collected before the lease.
    Ok((lease, environment.store.get(found.kind, &found.manifest.key)?))
}

fn last_run(environment: &Environment) -> Result<Artifact, StageError> {
    let hint = format!("list runs with  warploom runs{}", environment.store_option());
    let none = |what: String| {
        StageError::new(ErrorKind::Input, what)
            .at(environment.store.root().display())
            .hint(hint.clone())
    };
    let key = environment
        .store
        .last_run(None)
        .ok_or_else(|| none("no `warploom pipeline` has noted a run in this store".to_owned()))?;
    let found = environment.store.find(Kind::Run, &key)?;
    found
        .ok_or_else(|| none(format!("the last run, {}, is not in the store any more", key.short())))
}

/// Lines of some artifacts for an error, newest first, with data set, and for runs with their
/// titles.
pub fn candidate_lines(environment: &Environment, found: &[Artifact]) -> String {
    let mut found: Vec<&Artifact> = found.iter().collect();
    found.sort_by(|one, other| other.manifest.created.cmp(&one.manifest.created));
    let all = read_all(environment);
    let (sets, programs) = (data_sets(&all), programs(&all));
    let line = |artifact: &Artifact| {
        let manifest = &artifact.manifest;
        let name = |names: &BTreeMap<&str, &str>| {
            names.get(manifest.key.as_str()).map(|name| (*name).to_owned())
        };
        let counts = manifest.counts.iter().take(2).map(|(name, count)| format!("{name} {count}"));
        let about = || {
            name(&sets)
                .into_iter()
                .chain(name(&programs))
                .chain(counts)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let run = (artifact.kind == Kind::Run)
            .then(|| Run::open((*artifact).clone(), sets.get(manifest.key.as_str()).copied()).ok())
            .flatten();
        let about = run.map_or_else(about, |run| run.title());
        format!(
            "  {}/{}  {}  {about}",
            artifact.kind.name(),
            manifest.key,
            local_time(&manifest.created)
        )
    };
    let mut lines: Vec<String> =
        found.iter().take(CANDIDATES_MOST).map(|artifact| line(artifact)).collect();
    if found.len() > CANDIDATES_MOST {
        lines.push(format!("  and {} more", found.len() - CANDIDATES_MOST));
    }
    lines.join("\n")
}

fn print_list(environment: &Environment, dataset: Option<&str>) -> Result<(), StageError> {
    let all = read_all(environment);
    let (sets, programs) = (data_sets(&all), programs(&all));
    let is_asked = |artifact: &&Artifact| {
        dataset.is_none() || sets.get(artifact.manifest.key.as_str()).copied() == dataset
    };
    let asked: Vec<&Artifact> = all.iter().filter(is_asked).collect();
    let name = |names: &BTreeMap<&'_ str, &'_ str>, artifact: &Artifact| {
        names.get(artifact.manifest.key.as_str()).map(|name| (*name).to_owned())
    };
    let widest = |names: &BTreeMap<&str, &str>, head: &str| {
        names.values().map(|name| name.chars().count()).chain([head.len()]).max().unwrap_or(0)
    };
    let (set_width, program_width) = (widest(&sets, "data set"), widest(&programs, "program"));
    let mut total = 0;
    let mut text = format!(
        "{:<12} {:<32} {:<set_width$} {:<program_width$} {:>9}  {:<16} {:<9} counts\n",
        "kind", "key", "data set", "program", "size", "created", "data"
    );
    for artifact in &asked {
        let manifest = &artifact.manifest;
        total += manifest.bytes();
        let counts: Vec<String> =
            manifest.counts.iter().take(4).map(|(name, count)| format!("{name} {count}")).collect();
        text += &format!(
            "{:<12} {:<32} {:<set_width$} {:<program_width$} {:>9}  {:<16} {:<9} {}\n",
            artifact.kind.name(),
            manifest.key,
            name(&sets, artifact).unwrap_or_else(|| "-".to_owned()),
            name(&programs, artifact).unwrap_or_else(|| "-".to_owned()),
            show_size(manifest.bytes()),
            local_time(&manifest.created),
            manifest.provenance.name(),
            counts.join(", ")
        );
    }
    let of = if asked.len() == all.len() { String::new() } else { format!(" of {}", all.len()) };
    text +=
        &format!("{}{of}, {}\n", count_with_unit(asked.len() as u64, "artifact"), show_size(total));
    text += &store_lines(environment, &all);
    text += &formats_text(environment, &environment.store.other_formats()?);
    let line = |artifact: &&Artifact| {
        let manifest = &artifact.manifest;
        json!({"kind": artifact.kind.name(), "key": manifest.key, "dataset": name(&sets, artifact), "program": name(&programs, artifact),
            "path": artifact.path.to_string_lossy(), "bytes": manifest.bytes(), "created": manifest.created,
            "provenance": manifest.provenance.name(), "counts": manifest.counts,
            "record": manifest.record})
    };
    crate::print_as(environment, || text, || asked.iter().map(line).collect());
    Ok(())
}

/// Of several stores, a line each: what of the list is in it.
fn store_lines(environment: &Environment, all: &[Artifact]) -> String {
    let store = &environment.store;
    if store.roots().nth(1).is_none() {
        return String::new();
    }
    let line = |(number, root): (usize, &std::path::Path)| {
        let is_in = |artifact: &&Artifact| match number {
            0 => store.later_root(&artifact.path).is_none(),
            _ => store.later_root(&artifact.path) == Some(root),
        };
        let bytes: Vec<u64> =
            all.iter().filter(is_in).map(|found| found.manifest.bytes()).collect();
        format!(
            "{}: {}, {}{}\n",
            root.display(),
            count_with_unit(bytes.len() as u64, "artifact"),
            show_size(bytes.iter().sum()),
            if number == 0 { "" } else { ", only read" }
        )
    };
    store.roots().enumerate().map(line).collect()
}

/// Lines of artifacts that this version does not read, each with the command that removes them.
fn formats_text(environment: &Environment, found: &OtherFormats) -> String {
    let is_run = |foreign: &&Foreign| foreign.kind == Kind::Run;
    let runs: Vec<&Foreign> = found.older.iter().filter(is_run).collect();
    let others: Vec<&Foreign> = found.older.iter().filter(|foreign| !is_run(foreign)).collect();
    let newer: Vec<&Foreign> = found.newer.iter().collect();
    let mut text = String::new();
    let mut add = |title: &str, foreign: &[&Foreign], end: &str| {
        if !foreign.is_empty() {
            let bytes: u64 = foreign.iter().map(|foreign| foreign.bytes).sum();
            text += &format!(
                "{title}: {}, {}; {end}\n",
                count_with_unit(foreign.len() as u64, "artifact"),
                show_size(bytes)
            );
        }
    };
    let remove =
        format!("remove with  warploom store gc{} --older-formats", environment.store_option());
    add("older formats", &others, &remove);
    add("older formats, results of runs", &runs, &format!("{remove} --runs"));
    add("newer formats", &newer, "a newer version of Warploom reads them");
    text
}

/// Removes the artifacts of these keys, and prints the freed size.
fn remove_keys(environment: &Environment, asked: &[String]) -> Result<(), StageError> {
    let mut keys: Vec<Key> = Vec::new();
    for digits in asked {
        // A full key may be that of an unreadable artifact.
        let whole = Key::parse(digits).filter(|key| {
            Kind::ALL.into_iter().any(|kind| environment.store.path(kind, key).exists())
        });
        keys.extend(match whole {
            Some(key) => vec![key],
            None => removable_keys(environment, find_artifacts(environment, digits)?)?,
        });
    }
    print_removed(environment, environment.store.remove(&keys, environment.force)?, false)
}

/// The keys of artifacts that are in the store that is written.
fn removable_keys(environment: &Environment, found: Vec<Artifact>) -> Result<Vec<Key>, StageError> {
    let later = |artifact: &Artifact| environment.store.later_root(&artifact.path);
    if let Some((artifact, root)) =
        found.iter().find_map(|artifact| Some((artifact, later(artifact)?)))
        && found.iter().all(|artifact| later(artifact).is_some())
    {
        let (key, store) = (&artifact.manifest.key, shell_word(&root.to_string_lossy()));
        let what = format!("{} {key} is in a store that is only read", artifact.kind.name());
        return Err(StageError::new(ErrorKind::Input, what)
            .at(artifact.path.display())
            .hint(format!("remove it there:  warploom store rm {key} --store {store}")));
    }
    let own = found.into_iter().filter(|artifact| later(artifact).is_none());
    Ok(own.map(|artifact| artifact.manifest.key).collect())
}

fn collect_garbage(environment: &Environment, request: &gc::Request) -> Result<(), StageError> {
    let mut report = environment.store.collect(request)?;
    if let Some(age) = request.older_than {
        batch::remove_old(environment, age, request.dry, &mut report);
    }
    print_removed(environment, report, request.dry)
}

/// Prints removed artifacts, or those that would be; failures are the error.
fn print_removed(
    environment: &Environment,
    report: gc::Report,
    dry: bool,
) -> Result<(), StageError> {
    let bytes: u64 = report.removed.iter().map(|removed| removed.bytes).sum();
    let lines = report.removed.iter().map(|removed| json!({"path": removed.path.to_string_lossy(), "bytes": removed.bytes, "why": removed.why, "dry": dry}));
    crate::print_as(
        environment,
        || {
            let mut text = String::new();
            for removed in &report.removed {
                text += &format!(
                    "{:>9}  {}  ({})\n",
                    show_size(removed.bytes),
                    removed.path.display(),
                    removed.why
                );
            }
            let verb = if dry { "would be removed" } else { "removed" };
            let leased = if report.leased > 0 {
                format!("; {} in use were spared", report.leased)
            } else {
                String::new()
            };
            let several = environment.store.roots().nth(1).is_some();
            let place = environment.store.root().display();
            let of = if several { format!(" in {place}") } else { String::new() };
            text += &format!(
                "{} {verb}, {} stay{of}{leased}\n",
                show_size(bytes),
                show_size(report.bytes_kept)
            );
            text + &formats_text(environment, &report.other_formats)
        },
        || lines.collect(),
    );
    let mut failed = report.failed.into_iter();
    let Some(first) = failed.next() else { return Ok(()) };
    let others: Vec<String> = failed
        .map(|error| format!("  {}: {}", error.place.unwrap_or_default(), error.what))
        .collect();
    Err(if others.is_empty() { first } else { first.detail(others.join("\n")) })
}
