//! `warploom doctor`: what this machine has and what is missing, each failing line with its fix.
//!
//! promises  leaves nothing behind in the store; exits 0 when everything needed works, 1 otherwise: a machine without a GPU or its
//!           compiler is told how to get them, and is as good as another
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::json;
use warploom_contract::{ErrorKind, StageError, mapped};
use warploom_device::{Fault, Gpu, Nvrtc};
use warploom_shell::{Environment, limits, limits::show_size};

struct Line {
    what: &'static str,
    found: String,
    /// What to do, when the line is bad news.
    fix: Option<String>,
    /// What to do to have more than is needed.
    advice: Option<String>,
}

impl Line {
    fn hint(&self) -> Option<&String> {
        self.fix.as_ref().or(self.advice.as_ref())
    }

    /// Something that only some need.
    fn extra(what: &'static str, found: Result<String, Fault>) -> Self {
        match found {
            Ok(found) => Line { what, found, fix: None, advice: None },
            Err(fault) => {
                let (found, advice) = (fault.to_string(), fault.hint.unwrap_or_else(|| "only work on a GPU needs it".to_owned()));
                Line { what, found, fix: None, advice: Some(advice) }
            }
        }
    }
}

/// Looks and reports.
pub fn run(environment: &Environment) -> Result<(), StageError> {
    let mut lines = machine(environment);
    lines.extend(store(environment.store.root()));
    lines.push(catalog());
    lines.extend([driver(), compiler()]);
    let failed = lines.iter().filter(|line| line.fix.is_some()).count();
    crate::print_as(
        environment,
        || {
            let mut text = String::new();
            for line in &lines {
                let verdict = if line.fix.is_some() { "BAD" } else { line.advice.as_ref().map_or("ok", |_| "-") };
                text += &format!("{verdict:<4} {:<22} {}\n", line.what, line.found);
                if let Some(hint) = line.hint() {
                    text += &format!("     hint: {hint}\n");
                }
            }
            text
        },
        || lines.iter().map(|line| json!({"what": line.what, "found": line.found, "ok": line.fix.is_none(), "hint": line.hint()})).collect(),
    );
    match failed {
        0 => Ok(()),
        some => Err(StageError::new(ErrorKind::Input, format!("{some} of {} lines are bad", lines.len())).hint("each bad line above says what to do")),
    }
}

fn machine(environment: &Environment) -> Vec<Line> {
    let plain = |what, found: String| Line { what, found, fix: None, advice: None };
    let total = limits::meminfo("MemTotal:").unwrap_or(0);
    let free = limits::meminfo("MemAvailable:").unwrap_or(0);
    let group = limits::cgroup_memory().map_or_else(|| "no limit".to_owned(), show_size);
    vec![
        plain("processor", format!("{} ({}, {})", warploom_device::processor(), std::env::consts::ARCH, warploom_device::simd_class())),
        plain("threads", format!("{} to use", environment.threads)),
        plain("memory", format!("{} in all, {} free", show_size(total), show_size(free))),
        plain("memory of the cgroup", group),
        plain("scheduler", if limits::under_scheduler() { "a batch job: --real and --verify are on" } else { "none" }.to_owned()),
        plain("devices", "cpu, and `cuda` where GPUs of NVIDIA are (programs that learn)".to_owned()),
    ]
}

fn store(root: &Path) -> Vec<Line> {
    let existing = root.ancestors().find(|folder| folder.is_dir()).map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let existing = if existing.as_os_str().is_empty() { PathBuf::from(".") } else { existing };
    let mut lines = vec![space(root, &existing)];
    let fix = || Some("choose another place:  --store DIR  or  export WARPLOOM_STORE=DIR".to_owned());
    let probe = existing.join(format!(".tmp-doctor-{}", std::process::id()));
    let tried = |what: &'static str, result: std::io::Result<String>| match result {
        Ok(found) => Line { what, found, fix: None, advice: None },
        Err(error) => Line { what, found: format!("{}: {error}", existing.display()), fix: fix(), advice: None },
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
        Err(error) => Line { what: "store: space", found: error.to_string(), fix: None, advice: None },
        Ok(facts) => {
            let free = facts.f_bavail.saturating_mul(facts.f_frsize);
            let fix = (free < 1 << 30).then(|| "free some:  warploom store gc --keep 10GiB  or choose another place with  --store DIR".to_owned());
            Line { what: "store: space", found: format!("{} free at {}", show_size(free), root.display()), fix, advice: None }
        }
    }
}

fn catalog() -> Line {
    let names = warploom_catalog::names();
    let broken: Vec<String> = names.iter().filter_map(|name| warploom_catalog::find(name).err()).map(|error| error.what).collect();
    match broken.first() {
        None => Line { what: "catalogue", found: format!("{} data sets", names.len()), fix: None, advice: None },
        Some(what) => Line { what: "catalogue", found: what.clone(), fix: Some("mend the entry, or unset WARPLOOM_CATALOG".to_owned()), advice: None },
    }
}

/// The driver of NVIDIA and what it sees.
fn driver() -> Line {
    let found = Gpu::driver_version().and_then(|version| {
        let devices = (0..Gpu::count()?).map(|ordinal| {
            let device = Gpu::look(ordinal)?;
            let (major, minor) = device.capability;
            Ok(format!("{ordinal}: {}, {}, compute capability {major}.{minor}", device.name, show_size(device.memory_bytes)))
        });
        let devices = devices.collect::<Result<Vec<_>, Fault>>()?;
        let all = if devices.is_empty() { "no device".to_owned() } else { devices.join("; ") };
        Ok(format!("speaks CUDA {version}; {all}"))
    });
    Line::extra("GPU driver", found)
}

/// The compiler of kernels for GPUs.
fn compiler() -> Line {
    let found = Nvrtc::find().map(|nvrtc| {
        let (major, minor) = nvrtc.version;
        format!("{major}.{minor}, {}", nvrtc.file.map_or_else(|| "where the system looks for libraries".to_owned(), |file| file.display().to_string()))
    });
    Line::extra("NVRTC", found)
}
