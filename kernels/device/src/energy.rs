//! energy: how much energy a device uses while something runs on it.
//!
//! promises  a GPU's is that of its own counter, found by its UUID; a CPU's is the sum of its
//!           packages by RAPL (`/sys/class/powercap`), whose counters may wrap around; none where a
//!           counter is missing, not readable, or fails
//! never     needs a permission that it lacks; counts for one process: a counter is the device's
//! limits    a slice of a GPU (MIG) has no counter; memory and other parts of a host are left out
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use crate::nvml::{Handle, Nvml};

/// Where Linux shows the counters of CPU packages.
const POWERCAP: &str = "/sys/class/powercap";
/// Time between two readings: the smallest counters wrap around after about ten minutes.
const PAUSE: Duration = Duration::from_secs(60);

/// A running measurement.
pub struct EnergyMeter(Counter);

enum Counter {
    Gpu { nvml: Nvml, device: Handle, first: u64 },
    Cpu(PackageCounters),
}

impl EnergyMeter {
    /// Begins with a GPU.
    pub fn begin_gpu(uuid: &str) -> Option<Self> {
        let nvml = Nvml::open()?;
        let device = nvml.device(uuid)?;
        let first = nvml.millijoules(device)?;
        Some(EnergyMeter(Counter::Gpu { nvml, device, first }))
    }

    /// Begins with the CPU packages of this host.
    pub fn begin_cpu() -> Option<Self> {
        PackageCounters::begin(Path::new(POWERCAP))
            .map(|counters| EnergyMeter(Counter::Cpu(counters)))
    }

    /// Joules until now.
    pub fn joules(&self) -> Option<f64> {
        match &self.0 {
            Counter::Gpu { nvml, device, first } => {
                let used = nvml.millijoules(*device)?.checked_sub(*first)?;
                Some(used as f64 / 1e3)
            }
            Counter::Cpu(counters) => counters.joules(),
        }
    }
}

/// The counter of a CPU package, in microjoules.
#[derive(Debug)]
struct PackageCounter {
    file: PathBuf,
    /// The counter starts at 0 again after this.
    largest: u64,
    last: u64,
    used: u64,
}

impl PackageCounter {
    /// The counter of a folder, if it is that of a package and can be read.
    fn open(folder: &Path) -> Option<Self> {
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        if !read("name")?.starts_with("package") {
            return None;
        }
        let (last, largest) = (number("energy_uj")?, number("max_energy_range_uj")?);
        Some(PackageCounter { file: folder.join("energy_uj"), largest, last, used: 0 })
    }

    fn read(&mut self) -> Option<()> {
        let now = fs::read_to_string(&self.file).ok()?.trim().parse::<u64>().ok()?;
        self.used += match now.checked_sub(self.last) {
            Some(more) => more,
            None => self.largest.saturating_sub(self.last).saturating_add(now),
        };
        self.last = now;
        Some(())
    }
}

/// Counters of all packages, read by a thread until they are dropped.
struct PackageCounters {
    /// None once a reading failed.
    counters: Arc<Mutex<Option<Vec<PackageCounter>>>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PackageCounters {
    fn begin(root: &Path) -> Option<Self> {
        let folders = fs::read_dir(root).ok()?.flatten().map(|entry| entry.path());
        let is_zone = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.strip_prefix("intel-rapl:").is_some_and(|rest| !rest.contains(':'))
        };
        let found: Option<Vec<_>> = folders
            .filter(is_zone)
            .filter(|folder| {
                fs::read_to_string(folder.join("name"))
                    .is_ok_and(|name| name.starts_with("package"))
            })
            .map(|folder| PackageCounter::open(&folder))
            .collect();
        let found = found.filter(|found| !found.is_empty())?;
        let (counters, ends) =
            (Arc::new(Mutex::new(Some(found))), Arc::new(AtomicBool::new(false)));
        let (read, ended) = (Arc::clone(&counters), Arc::clone(&ends));
        let look = move || {
            while !ended.load(Ordering::Relaxed) {
                std::thread::park_timeout(PAUSE);
                sum(&read);
            }
        };
        let thread = std::thread::Builder::new().name("energy".to_owned()).spawn(look).ok()?;
        Some(PackageCounters { counters, ends, thread: Some(thread) })
    }

    fn joules(&self) -> Option<f64> {
        sum(&self.counters).map(|microjoules| microjoules as f64 / 1e6)
    }
}

/// Reads all counters, and adds them up; none once one could not be read.
fn sum(counters: &Mutex<Option<Vec<PackageCounter>>>) -> Option<u64> {
    let mut held = counters.lock().unwrap_or_else(PoisonError::into_inner);
    let read = held.as_mut()?.iter_mut().try_for_each(PackageCounter::read);
    if read.is_none() {
        *held = None;
    }
    Some(held.as_ref()?.iter().map(|counter| counter.used).sum())
}

impl Drop for PackageCounters {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ended = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(root: &Path, folder: &str, name: &str, energy: &str) {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("name"), name).unwrap();
        fs::write(folder.join("energy_uj"), energy).unwrap();
        fs::write(folder.join("max_energy_range_uj"), "1000000\n").unwrap();
    }

    #[test]
    fn packages_are_added_up_and_may_wrap_around() {
        let root = tempfile::tempdir().unwrap();
        let write = |folder: &str, energy: &str| {
            fs::write(root.path().join(folder).join("energy_uj"), energy).unwrap();
        };
        zone(root.path(), "intel-rapl:0", "package-0\n", "900000\n");
        zone(root.path(), "intel-rapl:1", "package-1\n", "0\n");
        zone(root.path(), "intel-rapl:0:0", "core\n", "5\n");
        zone(root.path(), "intel-rapl:2", "psys\n", "7\n");
        let counters = PackageCounters::begin(root.path()).unwrap();
        assert_eq!(counters.joules(), Some(0.0));
        write("intel-rapl:0", "100000\n");
        write("intel-rapl:1", "300000\n");
        write("intel-rapl:2", "999999\n");
        assert_eq!(counters.joules(), Some(0.5));
        write("intel-rapl:0", "150000\n");
        assert_eq!(counters.joules(), Some(0.55));
        // A counter that fails ends the measurement.
        write("intel-rapl:1", "none\n");
        assert_eq!((counters.joules(), counters.joules()), (None, None));
    }

    #[test]
    fn without_counters_there_is_no_measurement() {
        let root = tempfile::tempdir().unwrap();
        assert!(PackageCounters::begin(root.path()).is_none());
        assert!(PackageCounters::begin(&root.path().join("none")).is_none());
        zone(root.path(), "intel-rapl:0", "package-0\n", "not a number\n");
        assert!(PackageCounters::begin(root.path()).is_none());
    }
}
