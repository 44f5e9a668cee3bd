//! device: devices to compute on, facts of devices that are elsewhere, and access to GPUs and their
//! compiler.
//!
//! promises  static facts (those that a plan's key may contain) never change while a process runs;
//!           an unknown device is an error that lists the known ones; a machine without CUDA works
//!           until a GPU is asked for
//! never     measures unless asked (`measure` does); allocates or launches for a query of facts
//! limits    NVIDIA GPUs; this is the only crate that names their driver. Its errors come back as
//!           `Fault`
use std::sync::OnceLock;

mod capability;
mod cubin;
mod detected_gpu;
pub mod driver_errors;
pub mod energy;
mod facts;
pub mod gpu;
mod gpu_error;
pub mod measure;
pub mod measured_facts;
pub mod nvml;
pub mod nvrtc;

pub use capability::Capability;
pub use cubin::{CompiledKernel, Cubin};
pub use detected_gpu::Rates;
pub use driver_errors::Cause;
pub use energy::EnergyMeter;
pub use facts::{Facts, Flops, Gather, Grid, Kind, Measurement};
pub use gpu::Gpu;
pub use gpu_error::{Code, Fault};
pub use nvrtc::Nvrtc;

/// A name that is no device of this machine or version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What was asked for.
    pub name: String,
    /// Why it is unknown.
    pub why: String,
    /// What to do about it, if that is known.
    pub hint: Option<String>,
    /// The cause of the fault of a GPU that was asked for.
    pub cause: Option<Cause>,
}

/// Devices that can be planned for on any machine.
pub const NAMES: [&str; 3] = [AUTO, "cpu", "h200"];

/// The best device of this machine.
pub const AUTO: &str = "auto";

/// The lowest compute capability that `auto` accepts: the oldest architecture that kernels are
/// tested for.
const CAPABILITY_LEAST: Capability = Capability::new(8, 0);

/// The extension of a facts file.
const EXTENSION: &str = ".yaml";

/// The largest facts file: shipped ones have about two thousand bytes.
const FACTS_BYTES_MOST: u64 = 1 << 20;

/// The facts files shipped with the program.
const FILES: [(&str, &str); 2] =
    [("cpu", include_str!("../facts/cpu.yaml")), ("h200", include_str!("../facts/h200.yaml"))];

/// Measured times of one neighbour sum on a device, for each partition into neighbour groups: CSV
/// with a header, columns `shape,nodes,edges,skew,columns,ngs,dw,tpb,microseconds`.
pub fn groupings(name: &str) -> Option<&'static str> {
    (name == "h200").then_some(include_str!("../facts/h200-grouping.csv"))
}

/// Facts of a device by name, or of a file; `auto` is the best device of this machine for `best`.
pub fn resolve(name: &str, best: Best) -> Result<Facts, Unknown> {
    let unknown = |why: String| Unknown { name: name.to_owned(), why, hint: None, cause: None };
    let absent = |fault: Fault, more: &str| Unknown {
        hint: fault.hint.clone(),
        cause: Some(fault.cause()),
        ..unknown(format!("{fault}{more}"))
    };
    if name.starts_with("cuda") {
        let ordinal =
            ordinal(name).ok_or_else(|| unknown("expected `cuda` or `cuda:N`".to_owned()))?;
        return cuda(ordinal)
            .map_err(|fault| absent(fault, "; a plan for one that is elsewhere: `h200`"));
    }
    if name.ends_with(EXTENSION) {
        let text =
            facts_file(name).map_err(|why| unknown(format!("its facts cannot be read: {why}")))?;
        return Facts::from_yaml(&text)
            .map_err(|error| unknown(format!("it is not a valid facts file: {error}")));
    }
    if let (Best::OfAll, AUTO, Some(found)) = (best, name, gpu_for_auto()) {
        return found.map_err(|fault| absent(fault, ""));
    }
    let facts = shipped_facts(if name == AUTO { "cpu" } else { name });
    let mut facts = facts.ok_or_else(|| {
        unknown(format!(
            "expected one of `{}`, `cuda`, `cuda:N`, or a facts file `NAME{EXTENSION}`",
            NAMES.join("`, `")
        ))
    })?;
    if facts.kind == Kind::Cpu {
        (facts.architecture, facts.simd) =
            (std::env::consts::ARCH.to_owned(), simd_class().to_owned());
    }
    Ok(facts)
}

/// The text of a facts file. Anything but a file is refused before it is opened: reading a pipe
/// would block, and a character device has no end.
fn facts_file(name: &str) -> Result<String, String> {
    let about = std::fs::metadata(name).map_err(|error| error.to_string())?;
    if !about.is_file() {
        let found = if about.is_dir() { "a folder" } else { "a pipe, a socket or a device" };
        return Err(format!("expected a file, found {found}"));
    }
    if about.len() > FACTS_BYTES_MOST {
        return Err(format!("expected at most {FACTS_BYTES_MOST} bytes, found {}", about.len()));
    }
    std::fs::read_to_string(name).map_err(|error| error.to_string())
}

/// The ordinal of a GPU named `cuda` or `cuda:N`.
pub fn ordinal(name: &str) -> Option<usize> {
    match name.strip_prefix("cuda")? {
        "" => Some(0),
        number => number.strip_prefix(':')?.parse().ok(),
    }
}

/// Facts of a GPU of this machine, by its ordinal.
pub fn cuda(ordinal: usize) -> Result<Facts, Fault> {
    rates(&Gpu::look(ordinal)?).map(|(facts, _)| facts)
}

/// Facts of a GPU, and the source of its rates.
pub fn rates(device: &gpu::Device) -> Result<(Facts, Rates), Fault> {
    detected_gpu::facts(device)
        .map(|(facts, rates)| (Facts { ordinal: device.ordinal, ..facts }, rates))
}

/// What `auto` may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// A GPU, if a suitable one is present, else the CPU.
    OfAll,
    /// The CPU: the request has no kernels on a GPU.
    Cpu,
}

/// Facts of the first GPU, if kernels are tested for its architecture and can be compiled here:
/// what `auto` chooses. Queried once. Measured facts that cannot be read are an error, and so is a
/// device that failed: no other device is chosen silently.
pub fn gpu_for_auto() -> Option<Result<Facts, Fault>> {
    static FOUND: OnceLock<Option<Result<Facts, Fault>>> = OnceLock::new();
    let look = || {
        let device = match Gpu::look(0) {
            Ok(device) if device.capability >= CAPABILITY_LEAST => device,
            Err(fault) if fault.cause() == Cause::Device => return Some(Err(fault)),
            _ => return None,
        };
        Nvrtc::find().ok()?;
        Some(rates(&device).map(|(facts, _)| facts))
    };
    FOUND.get_or_init(look).clone()
}

/// Facts of every device shipped with the program.
pub fn shipped() -> Vec<Facts> {
    FILES.iter().filter_map(|(name, _)| shipped_facts(name)).collect()
}

/// The facts of a file shipped with the program.
pub(crate) fn shipped_facts(name: &str) -> Option<Facts> {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name)?;
    Facts::from_yaml(text).ok()
}

/// The widest vector instructions of this CPU.
#[cfg(target_arch = "x86_64")]
pub fn simd_class() -> &'static str {
    if std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512vl") {
        "avx512"
    } else if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        "avx2"
    } else {
        "none"
    }
}

/// The widest vector instructions of this CPU.
#[cfg(target_arch = "aarch64")]
pub fn simd_class() -> &'static str {
    "neon"
}

/// The widest vector instructions of this CPU.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn simd_class() -> &'static str {
    "none"
}

/// The CPU's name as the system reports it, for records.
pub fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("model name").and_then(|rest| rest.split_once(':')));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_the_best_and_absent_devices_say_why() {
        let resolve = |name| resolve(name, Best::OfAll);
        assert_eq!(super::resolve(AUTO, Best::Cpu), resolve("cpu"));
        assert_eq!(
            resolve(AUTO),
            gpu_for_auto().map_or_else(|| resolve("cpu"), |found| Ok(found.unwrap()))
        );
        assert_eq!(resolve("cpu").unwrap().simd, simd_class());
        assert!(
            resolve("cuda:x").unwrap_err().why.contains("`cuda:N`") && resolve("cudamax").is_err()
        );
        assert!(resolve("h2o").unwrap_err().why.contains("`h200`"));
        assert!(resolve("none/there.yaml").unwrap_err().why.contains("cannot be read"));
    }

    #[test]
    fn every_file_that_comes_along_reads() {
        for (name, text) in FILES {
            let facts: Facts = serde_yaml::from_str(text).unwrap();
            assert_eq!((facts.name.as_str(), facts.gather.len()), (name, 4));
            assert_eq!(facts.grid.is_some(), facts.kind == Kind::Cuda);
        }
        assert_eq!(
            groupings("h200").unwrap().lines().next(),
            Some("shape,nodes,edges,skew,columns,ngs,dw,tpb,microseconds")
        );
    }
}
