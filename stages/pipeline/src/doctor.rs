//! `warploom doctor`: what this machine has and what is missing, each failing line with its fix.
//!
//! promises  leaves nothing behind in the store; exits 0 when everything needed works, 1 otherwise
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::json;
use warploom_contract::{ErrorKind, StageError, mapped};
use warploom_shell::{Environment, limits, limits::show_size};

struct Line {
    what: &'static str,
    found: String,
    /// What to do, when the line is bad news.
    fix: Option<String>,
}

/// Looks and reports.
pub fn run(environment: &Environment) -> Result<(), StageError> {
    let mut lines = machine(environment);
    lines.extend(store(environment.store.root()));
    lines.push(catalog());
    let failed = lines.iter().filter(|line| line.fix.is_some()).count();
    crate::print_as(
        environment,
        || {
            let mut text = String::new();
            for line in &lines {
                text += &format!("{:<4} {:<22} {}\n", if line.fix.is_none() { "ok" } else { "BAD" }, line.what, line.found);
                if let Some(fix) = &line.fix {
                    text += &format!("     hint: {fix}\n");
                }
            }
            text
        },
        || lines.iter().map(|line| json!({"what": line.what, "found": line.found, "ok": line.fix.is_none(), "hint": line.fix})).collect(),
    );
    match failed {
        0 => Ok(()),
        some => Err(StageError::new(ErrorKind::Input, format!("{some} of {} lines are bad", lines.len())).hint("each bad line above says what to do")),
    }
}

fn machine(environment: &Environment) -> Vec<Line> {
    let plain = |what, found: String| Line { what, found, fix: None };
    let total = limits::meminfo("MemTotal:").unwrap_or(0);
    let free = limits::meminfo("MemAvailable:").unwrap_or(0);
    let group = limits::cgroup_memory().map_or_else(|| "no limit".to_owned(), show_size);
    vec![
        plain("processor", format!("{} ({}, {})", warploom_device::processor(), std::env::consts::ARCH, warploom_device::simd_class())),
        plain("threads", format!("{} to use", environment.threads)),
        plain("memory", format!("{} in all, {} free", show_size(total), show_size(free))),
        plain("memory of the cgroup", group),
        plain("scheduler", if limits::under_scheduler() { "a batch job: --real and --verify are on" } else { "none" }.to_owned()),
        plain("devices", "cpu (this version has no GPU back end)".to_owned()),
    ]
}

fn store(root: &Path) -> Vec<Line> {
    let existing = root.ancestors().find(|folder| folder.is_dir()).map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let existing = if existing.as_os_str().is_empty() { PathBuf::from(".") } else { existing };
    let mut lines = vec![space(root, &existing)];
    let fix = || Some("choose another place:  --store DIR  or  export WARPLOOM_STORE=DIR".to_owned());
    let probe = existing.join(format!(".tmp-doctor-{}", std::process::id()));
    let tried = |what: &'static str, result: std::io::Result<String>| match result {
        Ok(found) => Line { what, found, fix: None },
        Err(error) => Line { what, found: format!("{}: {error}", existing.display()), fix: fix() },
    };
    let written = fs::create_dir(&probe).and_then(|()| {
        let mut file = fs::File::create(probe.join("a"))?;
        file.write_all(&[7; 4096])?;
        file.sync_all()?;
        fs::File::open(&probe)?.sync_all()
    });
    lines.push(tried("store: write and fsync", written.map(|()| "works".to_owned())));
    let twin = existing.join(format!(".tmp-doctor-{}-renamed", std::process::id()));
    let renamed = fs::rename(&probe, &twin).and_then(|()| {
        // A rename onto a directory that is not empty must fail: that is how the first of two writers wins.
        fs::create_dir(&probe)?;
        fs::write(probe.join("b"), b"")?;
        match fs::rename(&probe, &twin) {
            Err(_) => Ok("is atomic, and the first writer wins".to_owned()),
            Ok(()) => Err(std::io::Error::other("a folder that was there was replaced")),
        }
    });
    lines.push(tried("store: rename", renamed));
    let mapped = mapped::map_file(&twin.join("a")).map_err(|error| std::io::Error::other(error.what));
    lines.push(tried(
        "store: mmap",
        mapped.and_then(
            |bytes| if bytes.iter().all(|&byte| byte == 7) { Ok("works".to_owned()) } else { Err(std::io::Error::other("other bytes than written")) },
        ),
    ));
    for folder in [&probe, &twin] {
        let _gone = fs::remove_dir_all(folder);
    }
    lines
}

fn space(root: &Path, existing: &Path) -> Line {
    match rustix::fs::statvfs(existing) {
        Err(error) => Line { what: "store: space", found: error.to_string(), fix: None },
        Ok(facts) => {
            let free = facts.f_bavail.saturating_mul(facts.f_frsize);
            let fix = (free < 1 << 30).then(|| "free some:  warploom store gc --keep 10GiB  or choose another place with  --store DIR".to_owned());
            Line { what: "store: space", found: format!("{} free at {}", show_size(free), root.display()), fix }
        }
    }
}

fn catalog() -> Line {
    let names = warploom_catalog::names();
    let broken: Vec<String> = names.iter().filter_map(|name| warploom_catalog::find(name).err()).map(|error| error.what).collect();
    match broken.first() {
        None => Line { what: "catalogue", found: format!("{} data sets", names.len()), fix: None },
        Some(what) => Line { what: "catalogue", found: what.clone(), fix: Some("mend the entry, or unset WARPLOOM_CATALOG".to_owned()) },
    }
}
