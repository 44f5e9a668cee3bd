//! doctor: `warploom doctor`: what this machine has and what is missing, each failing line with its
//! fix. `--measure` measures the rates of its GPUs.
//!
//! promises  leaves nothing in the store; exits 0 if everything required works, else 1: a GPU and
//!           its compiler are optional, with a line on how to get them; measured rates are stored
//!           where planning finds them
//! never     measures without `--measure`
use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    ops::Deref,
    path::{Path, PathBuf},
};

use serde_json::json;
use warploom_contract::{ErrorKind, StageError, mapped_file};
use warploom_device::{
    AUTO, Code, Facts, Fault, Gpu, Nvrtc, Rates, gpu::Device, measure as rates, measured_facts,
};
use warploom_shell::{Environment, machine_limits, machine_limits::show_size};

struct Line {
    what: &'static str,
    found: String,
    /// The fix of a failing line.
    fix: Option<String>,
    /// An optional improvement.
    advice: Option<String>,
}

impl Line {
    fn hint(&self) -> Option<&String> {
        self.fix.as_ref().or(self.advice.as_ref())
    }

    /// A line on an optional component.
    fn optional(what: &'static str, found: Result<String, Fault>) -> Self {
        match found {
            Ok(found) => Line { what, found, fix: None, advice: None },
            Err(fault) => {
                let (found, advice) = (
                    fault.to_string(),
                    fault.hint.unwrap_or_else(|| "only needed for work on a GPU".to_owned()),
                );
                Line { what, found, fix: None, advice: Some(advice) }
            }
        }
    }
}

/// Bytes of the timed upload.
const UPLOADED: usize = 256 << 20;
/// Least rate of an upload as a share of a pinned copy's rate.
const SHARE_LEAST: f64 = 0.8;

/// Checks everything and prints the report.
pub fn run(environment: &Environment) -> Result<(), StageError> {
    let mut lines = check_machine(environment);
    lines.extend(check_store(environment.store.root()));
    lines.push(check_catalog());
    lines.push(check_driver());
    lines.extend(list_gpus().unwrap_or_default().iter().map(rates_of));
    lines.push(check_compiler());
    print_report(environment, &lines)
}

/// Measures all GPUs, or the named one, stores their rates, and prints them.
pub fn measure(environment: &Environment) -> Result<(), StageError> {
    let devices = match environment.device.as_deref() {
        None | Some(AUTO) => list_gpus(),
        Some(name) => match warploom_device::ordinal(name) {
            Some(ordinal) => Gpu::look(ordinal).map(|device| vec![device]),
            None => {
                return Err(crate::usage_error(
                    format!("there is no GPU `{name}`"),
                    "warploom doctor --measure --device cuda:0",
                ));
            }
        },
    };
    let devices = devices.map_err(fault_error)?;
    if devices.is_empty() {
        return Err(StageError::new(
            ErrorKind::Input,
            "there is no GPU whose rates could be measured",
        )
        .hint("`warploom doctor` says what is missing"));
    }
    let nvrtc = Nvrtc::find().map_err(fault_error)?;
    let maps = map_numbers(environment.store.root())?;
    let maps: Vec<&[u8]> = maps.iter().map(Deref::deref).collect();
    let (mut lines, mut places) = (Vec::new(), BTreeSet::new());
    // The first of devices that share a file.
    for device in devices.into_iter().filter(|device| places.insert(measured_facts::file(device))) {
        let gpu = Gpu::open(device.ordinal).map_err(fault_error)?;
        let facts = rates::measure(&gpu, &nvrtc, &maps).map_err(fault_error)?;
        let place = measured_facts::keep(&device, &facts).map_err(fault_error)?;
        lines.extend(measured_lines(&device, &facts, &place));
    }
    print_report(environment, &lines)
}

fn print_report(environment: &Environment, lines: &[Line]) -> Result<(), StageError> {
    let failed = lines.iter().filter(|line| line.fix.is_some()).count();
    crate::print_as(
        environment,
        || {
            let mut text = String::new();
            for line in lines {
                let verdict = if line.fix.is_some() {
                    "BAD"
                } else {
                    line.advice.as_ref().map_or("ok", |_| "-")
                };
                text += &format!("{verdict:<4} {:<22} {}\n", line.what, line.found);
                if let Some(hint) = line.hint() {
                    text += &format!("     hint: {hint}\n");
                }
            }
            text
        },
        || {
            lines.iter().map(|line| json!({"what": line.what, "found": line.found, "ok": line.fix.is_none(), "hint": line.hint()})).collect()
        },
    );
    match failed {
        0 => Ok(()),
        some => Err(StageError::new(
            ErrorKind::Input,
            format!("{some} of {} lines are bad", lines.len()),
        )
        .hint("each bad line above says what to do")),
    }
}

/// A device fault as an error.
fn fault_error(fault: Fault) -> StageError {
    let code = fault.code.clone();
    let error = warploom_run::cuda::device_error(fault);
    match code {
        Code::Memory { .. } => error
            .hint("wait until other processes free the device's memory: `nvidia-smi` lists them"),
        _ => error,
    }
}

/// All GPUs of the driver.
fn list_gpus() -> Result<Vec<Device>, Fault> {
    (0..Gpu::count()?).map(Gpu::look).collect()
}

/// Maps a temporary file of numbers once for each upload: a run also maps its files anew, and
/// touches their pages then. The file is removed with its last map.
fn map_numbers(root: &Path) -> Result<Vec<impl Deref<Target = [u8]>>, StageError> {
    let folder = existing_parent(root);
    let path = folder.join(format!(".tmp-doctor-{}-numbers", std::process::id()));
    let some: Vec<u8> =
        (0..1 << 18).flat_map(|number: u32| (number as f32).to_le_bytes()).collect();
    let written = fs::File::create(&path)
        .and_then(|mut file| (0..UPLOADED / some.len()).try_for_each(|_| file.write_all(&some)));
    let mapped = written.map_err(|error| StageError::io("write", &path, &error)).and_then(|()| {
        (0..=rates::ROUNDS).map(|_| mapped_file::map_file(&path)).collect::<Result<Vec<_>, _>>()
    });
    let _gone = fs::remove_file(&path);
    mapped
}

/// The line on the source of a GPU's rates.
fn rates_of(device: &Device) -> Line {
    let what = "GPU rates";
    let number = device.ordinal;
    match warploom_device::rates(device) {
        Err(fault) => {
            Line { what, found: format!("{number}: {fault}"), fix: fault.hint, advice: None }
        }
        Ok((facts, rates)) => {
            let copied = format!("{} copied", format_rate(facts.bytes_per_second));
            let (found, advice) = match rates {
                Rates::Kept(file) => {
                    (format!("{number}: measured here, {copied}: {}", file.display()), None)
                }
                Rates::Shipped => (
                    format!("{number}: measured on another `{}`, {copied}", facts.name),
                    Some(measured_facts::COMMAND),
                ),
                Rates::Estimated => (
                    format!("{number}: estimated from clocks, {copied}"),
                    Some(measured_facts::COMMAND),
                ),
            };
            Line {
                what,
                found,
                fix: None,
                advice: advice.map(|command| format!("{command}  measures them for plans, once")),
            }
        }
    }
}

/// The lines of measured rates of a GPU.
fn measured_lines(device: &Device, facts: &Facts, place: &Path) -> Vec<Line> {
    let plain = |what, found: String| Line { what, found, fix: None, advice: None };
    let mut lines = vec![
        plain(
            "GPU",
            format!(
                "{}: {}, {} and {} MHz at most",
                device.ordinal,
                device.name,
                device.clock_khz / 1000,
                device.memory_clock_khz / 1000
            ),
        ),
        plain("copy", format_rate(facts.bytes_per_second)),
    ];
    for gather in &facts.gather {
        let of_table =
            |[bytes, rate]: &[u64; 2]| format!("{} MB {}", bytes / 1_000_000, format_rate(*rate));
        let rates: Vec<String> = gather.tables.iter().map(of_table).collect();
        lines.push(plain(
            "rows at random",
            format!("{} bytes of tables of {}", gather.row_bytes, rates.join(", ")),
        ));
    }
    let flops =
        [facts.flops_per_second.f32, facts.flops_per_second.f64].map(|flops| flops as f64 / 1e12);
    lines.push(plain(
        "arithmetic",
        format!(
            "{:.3} TFLOP/s in f32, {:.3} in f64; a launch takes {} ns",
            flops[0], flops[1], facts.launch_nanoseconds
        ),
    ));
    lines.push(plain(
        "read by kernels",
        format!("{} of the host's memory", format_rate(facts.bytes_per_second_of_host())),
    ));
    if let Some(measured) = &facts.measured {
        let (share, pinned) =
            (measured.upload_share(), format_rate(measured.pinned_bytes_per_second));
        let found = format!(
            "{} of a mapped file, {share:.2} of a pinned copy's {pinned}",
            format_rate(measured.upload_bytes_per_second)
        );
        let advice = (share < SHARE_LEAST).then(|| {
            format!(
                "{SHARE_LEAST} is the aim: is the machine busy, or are threads few ( --threads N )?"
            )
        });
        lines.push(Line { what: "upload", found, fix: None, advice });
    }
    lines.push(plain("kept", place.display().to_string()));
    lines
}

/// `2.95 TB/s`.
fn format_rate(bytes: u64) -> String {
    let (unit, name) = if bytes >= 1_000_000_000_000 { (1e12, "TB/s") } else { (1e9, "GB/s") };
    format!("{:.2} {name}", bytes as f64 / unit)
}

/// The nearest existing parent folder.
fn existing_parent(root: &Path) -> PathBuf {
    let existing = root
        .ancestors()
        .find(|folder| folder.is_dir())
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    if existing.as_os_str().is_empty() { PathBuf::from(".") } else { existing }
}

fn check_machine(environment: &Environment) -> Vec<Line> {
    let plain = |what, found: String| Line { what, found, fix: None, advice: None };
    let total = machine_limits::meminfo_bytes("MemTotal:").unwrap_or(0);
    let free = machine_limits::meminfo_bytes("MemAvailable:").unwrap_or(0);
    let group = machine_limits::cgroup_memory().map_or_else(|| "no limit".to_owned(), show_size);
    vec![
        plain(
            "processor",
            format!(
                "{} ({}, {})",
                warploom_device::processor(),
                std::env::consts::ARCH,
                warploom_device::simd_class()
            ),
        ),
        plain("threads", format!("{} to use", environment.threads)),
        plain("memory", format!("{} in all, {} free", show_size(total), show_size(free))),
        plain("memory of the cgroup", group),
        plain(
            "scheduler",
            if machine_limits::is_batch_job() {
                "a batch job: --real and --verify are on"
            } else {
                "none"
            }
            .to_owned(),
        ),
        plain("devices", "cpu; `cuda` with an NVIDIA GPU, for training and inference".to_owned()),
    ]
}

fn check_store(root: &Path) -> Vec<Line> {
    let existing = existing_parent(root);
    let mut lines = vec![check_space(root, &existing)];
    let fix =
        || Some("choose another place:  --store DIR  or  export WARPLOOM_STORE=DIR".to_owned());
    let probe = existing.join(format!(".tmp-doctor-{}", std::process::id()));
    let tried = |what: &'static str, result: std::io::Result<String>| match result {
        Ok(found) => Line { what, found, fix: None, advice: None },
        Err(error) => Line {
            what,
            found: format!("{}: {error}", existing.display()),
            fix: fix(),
            advice: None,
        },
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
        // A rename onto a nonempty directory must fail: this is how the first of two writers wins.
        fs::create_dir(&probe)?;
        fs::write(probe.join("b"), b"")?;
        match fs::rename(&probe, &twin) {
            Err(_) => Ok("is atomic, and the first writer wins".to_owned()),
            Ok(()) => Err(std::io::Error::other("a folder that was there was replaced")),
        }
    });
    lines.push(tried("store: rename", renamed));
    let mapped =
        mapped_file::map_file(&twin.join("a")).map_err(|error| std::io::Error::other(error.what));
    lines.push(tried(
        "store: mmap",
        mapped.and_then(|bytes| {
            if bytes.iter().all(|&byte| byte == 7) {
                Ok("works".to_owned())
            } else {
                Err(std::io::Error::other("other bytes than written"))
            }
        }),
    ));
    for folder in [&probe, &twin] {
        let _gone = fs::remove_dir_all(folder);
    }
    lines
}

fn check_space(root: &Path, existing: &Path) -> Line {
    match rustix::fs::statvfs(existing) {
        Err(error) => {
            Line { what: "store: space", found: error.to_string(), fix: None, advice: None }
        }
        Ok(facts) => {
            let free = facts.f_bavail.saturating_mul(facts.f_frsize);
            let fix = (free < 1 << 30).then(|| {
                "free some:  warploom store gc --keep 10GiB  or choose another place with  --store \
                 DIR"
                .to_owned()
            });
            Line {
                what: "store: space",
                found: format!("{} free at {}", show_size(free), root.display()),
                fix,
                advice: None,
            }
        }
    }
}

fn check_catalog() -> Line {
    let names = warploom_catalog::names();
    let broken: Vec<String> = names
        .iter()
        .filter_map(|name| warploom_catalog::find(name).err())
        .map(|error| error.what)
        .collect();
    match broken.first() {
        None => Line {
            what: "catalogue",
            found: format!("{} data sets", names.len()),
            fix: None,
            advice: None,
        },
        Some(what) => Line {
            what: "catalogue",
            found: what.clone(),
            fix: Some("fix the entry, or unset WARPLOOM_CATALOG".to_owned()),
            advice: None,
        },
    }
}

/// The line on the NVIDIA driver and its devices.
fn check_driver() -> Line {
    let found = Gpu::driver_version().and_then(|version| {
        let devices = (0..Gpu::count()?).map(|ordinal| {
            let device = Gpu::look(ordinal)?;
            Ok(format!(
                "{ordinal}: {}, {}, compute capability {}",
                device.name,
                show_size(device.memory_bytes),
                device.capability
            ))
        });
        let devices = devices.collect::<Result<Vec<_>, Fault>>()?;
        let all = if devices.is_empty() { "no device".to_owned() } else { devices.join("; ") };
        Ok(format!("speaks CUDA {version}; {all}"))
    });
    Line::optional("GPU driver", found)
}

/// The line on NVRTC, the compiler of GPU kernels.
fn check_compiler() -> Line {
    let found = Nvrtc::find().map(|nvrtc| {
        let (major, minor) = nvrtc.version;
        format!(
            "{major}.{minor}, {}",
            nvrtc.file.map_or_else(
                || "where the system looks for libraries".to_owned(),
                |file| file.display().to_string()
            )
        )
    });
    Line::optional("NVRTC", found)
}
