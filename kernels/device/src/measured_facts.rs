//! measured_facts: facts measured on GPUs of this machine, stored where planning finds them.
//!
//! promises  a file per kind of device, named by what the driver reports of it, not by its ordinal;
//!           a file is written atomically; one that is damaged, or of another device, is an error
//!           that names it
//! never     measures; reads a file twice in a process: what a plan is made with does not change
//!           midway
//! limits    devices that differ only in their slot share a file
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::{
    facts::{Facts, Grid, Measurement},
    gpu::Device,
    gpu_error::Fault,
};

/// Names the folder.
const VARIABLE: &str = "WARPLOOM_DEVICES";

/// Facts already read, by file.
static READ: Mutex<BTreeMap<PathBuf, Result<Option<Facts>, Fault>>> = Mutex::new(BTreeMap::new());

/// The facts file of a device: in `WARPLOOM_DEVICES`, else in the user's configuration folder; none
/// if there is neither.
pub fn file(device: &Device) -> Option<PathBuf> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let configuration =
        || of("XDG_CONFIG_HOME").or_else(|| of("HOME").map(|home| home.join(".config")));
    let folder = of(VARIABLE)
        .or_else(|| configuration().map(|folder| folder.join("warploom").join("devices")))?;
    Some(folder.join(name(device)))
}

/// `nvidia-h100-80gb-hbm3.sm_90.132.50MiB.2619MHz.5120bit.yaml`.
fn name(device: &Device) -> String {
    let (architecture, name) = (device.capability.architecture(), plain(&device.name));
    let (cache, clock) = (device.cache_bytes >> 20, device.memory_clock_khz / 1000);
    format!(
        "{name}.{architecture}.{}.{cache}MiB.{clock}MHz.{}bit.yaml",
        device.processors, device.memory_bus_bits
    )
}

/// `nvidia-a100-sxm4-80gb` for `NVIDIA A100-SXM4-80GB`.
pub(crate) fn plain(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// Facts measured on such a device, if any.
pub(crate) fn find(device: &Device) -> Result<Option<Facts>, Fault> {
    let Some(file) = file(device) else { return Ok(None) };
    let mut read_before = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read_before.entry(file).or_insert_with_key(|file| read(file, device)).clone()
}

/// Reads a file, and checks that it belongs to this device.
fn read(file: &Path, device: &Device) -> Result<Option<Facts>, Fault> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(file, &error.to_string())),
    };
    let facts = Facts::from_yaml(&text).map_err(|error| wrong(file, &error))?;
    let processors = facts.grid.map(|Grid { processors, .. }| processors);
    let is_its = |measured: &Measurement| {
        measured.device == device.name
            && measured.memory_clock_khz == device.memory_clock_khz
            && measured.memory_bus_bits == device.memory_bus_bits
    };
    if facts.architecture != device.capability.architecture()
        || processors != Some(device.processors)
        || !facts.measured.as_ref().is_some_and(is_its)
        || facts.gather.is_empty()
    {
        return Err(wrong(file, &format!("it holds no measured facts of `{}`", device.name)));
    }
    Ok(Some(facts))
}

fn wrong(file: &Path, why: &str) -> Fault {
    Fault::absent(
        format!("measured facts of a GPU cannot be read: `{}`: {why}", file.display()),
        format!("rm '{}'  and measure again:  {COMMAND}", file.display()),
    )
}

/// The command that measures.
pub const COMMAND: &str = "warploom doctor --measure";

/// Stores facts measured on a device, replacing earlier ones, and returns the path. This process
/// keeps the facts it has read.
pub fn keep(device: &Device, facts: &Facts) -> Result<PathBuf, Fault> {
    let no_place = || {
        Fault::absent(
            "there is no place to keep facts of a GPU: neither HOME nor XDG_CONFIG_HOME is set",
            format!("export {VARIABLE}=FOLDER"),
        )
    };
    let file = file(device).ok_or_else(no_place)?;
    let failed = |error: std::io::Error| {
        Fault::absent(
            format!("keep facts of a GPU in `{}`: {error}", file.display()),
            format!("export {VARIABLE}=FOLDER"),
        )
    };
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let begun = folder.join(format!(".tmp-{}-{}", name(device), std::process::id()));
    let text = facts
        .to_yaml()
        .map_err(|error| Fault::misuse(format!("facts of a GPU as text: {error}")))?;
    let text = format!(
        "# Rates of a GPU that was here, measured by  {COMMAND}  , which replaces this \
            file.\n{text}"
    );
    let written = fs::write(&begun, text)
        .and_then(|()| fs::File::open(&begun)?.sync_all())
        .and_then(|()| fs::rename(&begun, &file));
    written.map_err(|error| {
        let _gone = fs::remove_file(&begun);
        failed(error)
    })?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{capability::Capability, detected_gpu};

    fn device() -> Device {
        detected_gpu::tests::device("NVIDIA H100 80GB HBM3", 9, 0)
    }

    fn measured(device: &Device) -> Facts {
        let measured = Measurement {
            device: device.name.clone(),
            driver: device.driver.clone(),
            clock_khz: device.clock_khz,
            memory_clock_khz: device.memory_clock_khz,
            memory_bus_bits: device.memory_bus_bits,
            pinned_bytes_per_second: 50_000_000_000,
            upload_bytes_per_second: 45_000_000_000,
        };
        Facts {
            is_estimated: false,
            measured: Some(measured),
            ..detected_gpu::expected(device).unwrap()
        }
    }

    #[test]
    fn a_name_follows_from_what_the_driver_says_and_not_from_the_number() {
        assert_eq!(name(&device()), "nvidia-h100-80gb-hbm3.sm_90.108.40MiB.1593MHz.5120bit.yaml");
        let others = [
            Device { processors: 114, ..device() },
            Device { cache_bytes: 50 << 20, ..device() },
            Device { memory_clock_khz: 2_619_000, ..device() },
            Device { memory_bus_bits: 4096, ..device() },
            Device { capability: Capability::new(9, 1), ..device() },
        ];
        others.iter().for_each(|other| assert_ne!(name(other), name(&device())));
        let same =
            Device { ordinal: 3, uuid: "GPU-7".to_owned(), memory_free_bytes: Some(1), ..device() };
        assert_eq!(name(&same), name(&device()));
    }

    #[test]
    fn what_is_kept_reads_and_what_is_damaged_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (file, device) = (folder.path().join("a.yaml"), device());
        assert_eq!(read(&file, &device), Ok(None));
        fs::write(&file, measured(&device).to_yaml().unwrap()).unwrap();
        assert_eq!(read(&file, &device), Ok(Some(measured(&device))));
        let other = Device { processors: 7, ..device.clone() };
        assert!(
            read(&file, &other).unwrap_err().what.contains("no measured facts of `NVIDIA H100")
        );
        fs::write(&file, &measured(&device).to_yaml().unwrap()[..200]).unwrap();
        let fault = read(&file, &device).unwrap_err();
        assert!(
            fault.what.contains("a.yaml") && fault.hint.unwrap().contains("doctor --measure"),
            "{}",
            fault.what
        );
    }
}
