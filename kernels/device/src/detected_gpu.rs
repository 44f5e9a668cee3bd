//! detected_gpu: facts of a GPU of this machine, for planning.
//!
//! promises  measured rates come first: those measured on this machine, then those shipped with the
//!           program; for other devices they are estimated from what the driver reports, and marked
//!           so
//! never     measures, or opens the device
//! limits    gather rates of an unmeasured device are those of the H200, scaled by bandwidth alone:
//!           table sizes stay as they are, whatever the size of its L2
use std::path::PathBuf;

use crate::{
    capability::Capability,
    facts::{Cache, Facts, Flops, Grid},
    gpu::Device,
    gpu_error::Fault,
    measured_facts, shipped_facts,
};

/// The device with shipped rates: a word of its name, and its facts file.
const MEASURED: (&str, &str) = ("H200", "h200");
/// A word in the names of MIG slices, which have a share of the device's rates.
const PART: &str = "MIG";
/// The share of the theoretical bandwidth (clock times bus width) that copies reach, about.
const REACHED: f64 = 0.85;
/// FP32 additions or multiplications of an SM per clock, from capability 8.6 on and on 9 and 10.
const LANES_F32: u64 = 128;

/// The source of rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rates {
    /// Measured on this machine, and kept in this file.
    Kept(PathBuf),
    /// Measured on such a device, and shipped with the program.
    Shipped,
    /// Estimated from what the driver reports.
    Estimated,
}

/// Facts of this device for a plan, and the source of its rates.
pub(crate) fn facts(device: &Device) -> Result<(Facts, Rates), Fault> {
    let kept = measured_facts::find(device)?.zip(measured_facts::file(device));
    facts_by(device, kept)
        .ok_or_else(|| Fault::misuse("the facts file of the H200 cannot be parsed"))
}

/// The same, with the facts measured on this machine, if any.
fn facts_by(device: &Device, kept: Option<(Facts, PathBuf)>) -> Option<(Facts, Rates)> {
    if let Some((facts, file)) = kept {
        return Some((own(device, facts), Rates::Kept(file)));
    }
    let facts = expected(device)?;
    let rates = if facts.is_estimated { Rates::Estimated } else { Rates::Shipped };
    Some((facts, rates))
}

/// Facts, with the values that the driver reports in place of those of a file.
fn own(device: &Device, facts: Facts) -> Facts {
    Facts {
        architecture: device.capability.architecture(),
        memory_bytes: Some(device.memory_bytes),
        cache: Cache { bytes: device.cache_bytes, ..facts.cache },
        grid: Some(Grid {
            processors: device.processors,
            lanes: device.lanes,
            threads_most: device.threads_most,
            shared_bytes_most: device.shared_bytes_most,
        }),
        ..facts
    }
}

/// Facts of a device that was not measured on this machine.
pub(crate) fn expected(device: &Device) -> Option<Facts> {
    let measured = shipped_facts(MEASURED.1)?;
    let has_word = |wanted: &str| device.name.split(' ').any(|word| word == wanted);
    if has_word(MEASURED.0) && !has_word(PART) {
        return Some(own(device, measured));
    }
    // Two transfers per clock (DDR). Where the driver does not report the clock, the rate of the
    // measured device is the best guess.
    let promised =
        2.0 * f64::from(device.memory_clock_khz) * 1000.0 * f64::from(device.memory_bus_bits) / 8.0
            * REACHED;
    let bytes_per_second =
        if promised >= 1.0 { promised.round() as u64 } else { measured.bytes_per_second };
    let scale = bytes_per_second as f64 / measured.bytes_per_second as f64;
    let mut facts = own(device, measured);
    for gather in &mut facts.gather {
        for [_, rate] in &mut gather.tables {
            *rate = ((*rate as f64 * scale).round() as u64).max(1);
        }
    }
    let f32 = u64::from(device.processors) * u64::from(device.clock_khz) * 1000 * LANES_F32 * 2;
    // FP64 runs at half the FP32 rate on data-center devices, at 1/64 on the others.
    let Capability { major, minor } = device.capability;
    let f64 = if minor == 0 && (8..=10).contains(&major) { f32 / 2 } else { f32 / 64 };
    Some(Facts {
        name: measured_facts::plain(&device.name),
        bytes_per_second,
        flops_per_second: Flops { f32, f64 },
        is_estimated: true,
        ..facts
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn device(name: &str, major: u32, minor: u32) -> Device {
        Device {
            ordinal: 0,
            name: name.to_owned(),
            uuid: "GPU-0".to_owned(),
            capability: Capability::new(major, minor),
            processors: 108,
            lanes: 32,
            threads_most: 1024,
            shared_bytes_most: 166_912,
            registers: 65_536,
            cache_bytes: 40 << 20,
            memory_bytes: 80 << 30,
            memory_free_bytes: None,
            clock_khz: 1_410_000,
            memory_clock_khz: 1_593_000,
            memory_bus_bits: 5120,
            driver: "13.0".to_owned(),
        }
    }

    #[test]
    fn a_device_that_was_measured_keeps_its_rates() {
        let (found, file) =
            (expected(&device("NVIDIA H200", 9, 0)).unwrap(), shipped_facts("h200").unwrap());
        assert_eq!(
            (found.bytes_per_second, &found.gather, found.is_estimated),
            (file.bytes_per_second, &file.gather, false)
        );
        assert_eq!(
            (found.name.as_str(), found.memory_bytes, found.cache.bytes),
            ("h200", Some(80 << 30), 40 << 20)
        );
        assert_eq!(found.grid.unwrap().processors, 108);
        for other in ["NVIDIA GH200 480GB", "NVIDIA H200 MIG 1g.18gb", "NVIDIA H20"] {
            assert!(expected(&device(other, 9, 0)).unwrap().is_estimated, "{other}");
        }
    }

    #[test]
    fn any_other_is_estimated_and_says_so() {
        let found = expected(&device("NVIDIA A100-SXM4-80GB", 8, 0)).unwrap();
        assert_eq!(
            (found.name.as_str(), found.architecture.as_str(), found.is_estimated),
            ("nvidia-a100-sxm4-80gb", "sm_80", true)
        );
        // Theoretical bandwidth 2.04 TB/s; about 1.75 are reached.
        assert_eq!(found.bytes_per_second, 1_733_184_000_000);
        assert_eq!(
            found.flops_per_second,
            Flops { f32: 38_983_680_000_000, f64: 19_491_840_000_000 }
        );
        assert!(
            (found.gathered_per_second(64, 2_000_000_000) / (2.2e12 * 1.733184 / 4.28) - 1.0).abs()
                < 1e-9
        );
        assert_eq!(
            expected(&device("NVIDIA RTX 6000", 8, 9)).unwrap().flops_per_second.f64,
            38_983_680_000_000 / 64
        );
        let silent = Device { memory_clock_khz: 0, ..device("other", 12, 0) };
        assert_eq!(expected(&silent).unwrap().bytes_per_second, 4_280_000_000_000);
    }

    #[test]
    fn facts_that_are_no_estimates_do_not_say_so_in_keys() {
        let text = |facts: &Facts| serde_yaml::to_string(facts).unwrap();
        assert!(!text(&shipped_facts("h200").unwrap()).contains("estimated"));
        let estimated = expected(&device("NVIDIA A100", 8, 0)).unwrap();
        assert_eq!(serde_yaml::from_str::<Facts>(&text(&estimated)).unwrap(), estimated);
    }

    #[test]
    fn what_was_measured_here_comes_before_anything_else() {
        for (name, before) in
            [("NVIDIA H200", Rates::Shipped), ("NVIDIA A100-SXM4-80GB", Rates::Estimated)]
        {
            let device = device(name, 9, 0);
            let (facts, rates) = facts_by(&device, None).unwrap();
            assert_eq!(rates, before);
            // The file has another driver's figure of memory.
            let kept =
                Facts { bytes_per_second: 7, is_estimated: false, memory_bytes: Some(1), ..facts };
            let (facts, rates) =
                facts_by(&device, Some((kept.clone(), PathBuf::from("a.yaml")))).unwrap();
            assert_eq!(
                (facts.bytes_per_second, facts.is_estimated, facts.memory_bytes),
                (7, false, Some(80 << 30))
            );
            assert_eq!((facts.name, rates), (kept.name, Rates::Kept(PathBuf::from("a.yaml"))));
        }
    }
}
