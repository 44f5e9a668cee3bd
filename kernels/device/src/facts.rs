//! facts: what is known of a device before anything runs on it, read from a facts file.
//!
//! promises  static: a file gives the same facts on every machine, so that a plan for a device can
//!           be made elsewhere; a file with a wrong or missing field is refused, and the field
//!           named
//! never     measures; rates were measured once and are in the file
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::capability::Capability;

/// What a plan is made for; nothing that changes between runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// `cpu`, or the name in the facts file.
    pub name: String,
    /// The back end that runs its launches.
    pub kind: Kind,
    /// The ordinal among the GPUs of this machine; no part of what a plan is made for.
    #[serde(skip)]
    pub ordinal: usize,
    /// Instruction set architecture.
    #[serde(default)]
    pub architecture: String,
    /// The widest vectors that kernels may use: `avx512`, `avx2`, `neon`, `none`; empty for a GPU.
    #[serde(default)]
    pub simd: String,
    /// Sequential memory bandwidth, bytes read plus written per second.
    #[serde(deserialize_with = "whole")]
    pub bytes_per_second: u64,
    /// Additions and multiplications per second.
    pub flops_per_second: Flops,
    /// The overhead of a launch.
    #[serde(deserialize_with = "whole")]
    pub launch_nanoseconds: u64,
    /// Device memory; none: it uses that of the host.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole_if_any")]
    pub memory_bytes: Option<u64>,
    /// Bytes of host memory that kernels read per second, where that was measured; else it follows
    /// from the architecture, and no key contains it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole_if_any")]
    pub host_bytes_per_second: Option<u64>,
    /// The cache that gathered rows are reused from.
    pub cache: Cache,
    /// The launch geometry of a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// Random row reads (gather), by row width, ascending.
    pub gather: Vec<Gather>,
    /// Whether rates were estimated from what a driver reports, and not measured; a key contains it
    /// only if they were.
    #[serde(default, rename = "estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_estimated: bool,
    /// How rates of a device of this machine were measured; no key contains it.
    #[serde(default, skip_serializing)]
    pub measured: Option<Measurement>,
}

/// The device that was measured, and results that no plan needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The name that the driver reports.
    pub device: String,
    /// The newest CUDA version that the driver supports.
    pub driver: String,
    /// The highest SM clock.
    pub clock_khz: u32,
    /// The highest memory clock.
    pub memory_clock_khz: u32,
    /// Width of the memory bus.
    pub memory_bus_bits: u32,
    /// Bytes of pinned memory that the driver copies to the device per second.
    #[serde(deserialize_with = "whole")]
    pub pinned_bytes_per_second: u64,
    /// Bytes of a mapped file that our upload brings to the device per second.
    #[serde(deserialize_with = "whole")]
    pub upload_bytes_per_second: u64,
}

/// The back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// By floating-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flops {
    /// FP32.
    #[serde(deserialize_with = "whole")]
    pub f32: u64,
    /// FP64.
    #[serde(deserialize_with = "whole")]
    pub f64: u64,
}

/// The cache that neighbours' rows are read through: L2 of a GPU, that of one core on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Its capacity.
    #[serde(deserialize_with = "whole")]
    pub bytes: u64,
    /// A cache line.
    #[serde(deserialize_with = "whole")]
    pub line_bytes: u64,
}

/// The launch geometry of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// SMs.
    pub processors: u32,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Maximum threads per block.
    pub threads_most: u32,
    /// Maximum shared memory per block.
    pub shared_bytes_most: u32,
}

/// Random row reads of one width.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gather {
    /// Bytes of a row.
    pub row_bytes: u64,
    /// Table size, and bytes of rows per second, by ascending size.
    #[serde(deserialize_with = "pairs")]
    pub tables: Vec<[u64; 2]>,
}

/// What reads over PCIe x16 reach, of generation 5 (theoretical 63 GB/s) and 4 (32): assumed, not
/// measured.
const BUS_OF_FIFTH: u64 = 50_000_000_000;
const BUS_OF_FOURTH: u64 = 25_000_000_000;
/// Compute capability of the first GPUs with PCIe 5.
const FIRST_OF_FIFTH: Capability = Capability::new(9, 0);

impl Measurement {
    /// The share of the pinned copy rate that uploads reach.
    pub fn upload_share(&self) -> f64 {
        self.upload_bytes_per_second as f64 / self.pinned_bytes_per_second.max(1) as f64
    }
}

/// Lanes of a warp on every NVIDIA GPU.
const LANES: u32 = 32;
/// Threads and bytes of shared memory per block that every tested GPU has.
const THREADS_LEAST: u32 = 1024;
const SHARED_LEAST: u32 = 48 << 10;

impl Facts {
    /// Reads a facts file; values that no device can have are refused, and the field named.
    pub fn from_yaml(text: &str) -> Result<Facts, String> {
        let facts: Facts = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        facts.refuse_impossible().map(|()| facts)
    }

    fn refuse_impossible(&self) -> Result<(), String> {
        let rates = [
            ("bytes_per_second", self.bytes_per_second),
            ("flops_per_second.f32", self.flops_per_second.f32),
            ("flops_per_second.f64", self.flops_per_second.f64),
            ("cache.bytes", self.cache.bytes),
            ("cache.line_bytes", self.cache.line_bytes),
            ("memory_bytes", self.memory_bytes.unwrap_or(1)),
            ("host_bytes_per_second", self.host_bytes_per_second.unwrap_or(1)),
        ];
        if let Some((field, _)) = rates.into_iter().find(|(_, number)| *number == 0) {
            return Err(format!("{field}: expected at least 1, found 0"));
        }
        if self.kind == Kind::Cpu {
            return Ok(());
        }
        if self.capability().is_none() {
            return Err(format!(
                "architecture: expected that of a GPU, `sm_90` for one, found `{}`",
                self.architecture
            ));
        }
        let Some(grid) = &self.grid else {
            return Err("grid: expected that of a GPU, found none".to_owned());
        };
        let least = [
            ("processors", grid.processors, 1),
            ("threads_most", grid.threads_most, THREADS_LEAST),
            ("shared_bytes_most", grid.shared_bytes_most, SHARED_LEAST),
        ];
        if let Some((field, number, least)) =
            least.into_iter().find(|(_, number, least)| number < least)
        {
            return Err(format!("grid.{field}: expected at least {least}, found {number}"));
        }
        if grid.lanes == LANES {
            Ok(())
        } else {
            Err(format!("grid.lanes: expected {LANES}, found {}", grid.lanes))
        }
    }

    /// As a facts file, with how its rates were measured.
    pub fn to_yaml(&self) -> Result<String, serde_yaml::Error> {
        let measured = self
            .measured
            .as_ref()
            .map(|measured| serde_yaml::to_string(&BTreeMap::from([("measured", measured)])))
            .transpose()?;
        Ok(serde_yaml::to_string(self)? + &measured.unwrap_or_default())
    }

    /// Bytes of host memory that kernels read per second: as the file says, else what the PCIe
    /// generation of such a GPU reaches.
    pub fn bytes_per_second_of_host(&self) -> u64 {
        let of_bus = || {
            if self.capability().is_none_or(|capability| capability >= FIRST_OF_FIFTH) {
                BUS_OF_FIFTH
            } else {
                BUS_OF_FOURTH
            }
        };
        self.host_bytes_per_second.unwrap_or_else(of_bus).max(1)
    }

    /// The compute capability in the architecture's name, such as `sm_90`.
    pub fn capability(&self) -> Option<Capability> {
        let number = self.architecture.strip_prefix("sm_")?.parse().ok()?;
        Some(Capability::from_number(number))
    }

    /// Gather rate in bytes per second, for rows of this width from a table of this size:
    /// interpolated between measurements on a logarithmic scale, and constant beyond them. Each row
    /// narrower than the narrowest costs as much as that one.
    pub fn gathered_per_second(&self, row_bytes: u64, table_bytes: u64) -> f64 {
        let Some(narrowest) = self.gather.first().map(|gather| gather.row_bytes) else {
            return self.bytes_per_second as f64;
        };
        let of_width: Vec<(f64, f64)> = self
            .gather
            .iter()
            .map(|gather| (logarithm(gather.row_bytes), logarithm_of_rate(gather, table_bytes)))
            .collect();
        let rate = interpolate(&of_width, logarithm(row_bytes.max(narrowest))).exp();
        rate * (row_bytes.max(1) as f64 / narrowest as f64).min(1.0)
    }
}

fn logarithm(number: u64) -> f64 {
    (number.max(1) as f64).ln()
}

fn logarithm_of_rate(gather: &Gather, table_bytes: u64) -> f64 {
    let of_table: Vec<(f64, f64)> =
        gather.tables.iter().map(|[bytes, rate]| (logarithm(*bytes), logarithm(*rate))).collect();
    interpolate(&of_table, logarithm(table_bytes))
}

/// Piecewise linear through these points; constant before the first and after the last.
fn interpolate(points: &[(f64, f64)], at: f64) -> f64 {
    let after = points.partition_point(|point| point.0 <= at);
    match (after.checked_sub(1).and_then(|before| points.get(before)), points.get(after)) {
        (Some(before), Some(after)) => {
            before.1 + (after.1 - before.1) * (at - before.0) / (after.0 - before.0)
        }
        (Some(only), None) | (None, Some(only)) => only.1,
        (None, None) => 0.0,
    }
}

/// A non-negative integer that a file may write as `4.28e12`.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if (0.0..1e18).contains(&number) && number.fract() == 0.0 {
        Ok(number as u64)
    } else {
        Err(serde::de::Error::custom(format!("expected a whole number from 0 on, found {number}")))
    }
}

fn whole_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    whole(deserializer).map(Some)
}

fn pairs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<[u64; 2]>, D::Error> {
    let pairs: Vec<[f64; 2]> = Deserialize::deserialize(deserializer)?;
    let is_sound = pairs.iter().flatten().all(|number| *number >= 1.0)
        && pairs.windows(2).all(|pair| pair[0][0] < pair[1][0]);
    if !is_sound || pairs.is_empty() {
        return Err(serde::de::Error::custom(
            "expected pairs of the size of a table and bytes in a second, by ascending size",
        ));
    }
    Ok(pairs.into_iter().map(|pair| pair.map(|number| number as u64)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_say_what_they_can() {
        let of = |name: &str| crate::resolve(name, crate::Best::Cpu).unwrap().capability();
        assert_eq!((of("h200"), of("cpu")), (Some(Capability::new(9, 0)), None));
    }

    #[test]
    fn rates_lie_between_what_was_measured() {
        let facts = crate::shipped_facts("h200").unwrap();
        assert_eq!(facts.gathered_per_second(64, 1000), 8.2e12_f64.ln().exp());
        let middle = facts.gathered_per_second(64, 80_000_000);
        assert!((2.8e12..5.3e12).contains(&middle), "{middle}");
        let wider = facts.gathered_per_second(96, 80_000_000);
        assert!(wider > middle);
        assert!((facts.gathered_per_second(16, 1 << 40) / (2.2e12 / 4.0) - 1.0).abs() < 1e-9);
        assert!((facts.gathered_per_second(4096, 1) / 9.6e12 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_way_from_the_host_is_what_a_file_says_or_that_of_the_architecture() {
        let facts = crate::shipped_facts("h200").unwrap();
        assert_eq!(facts.bytes_per_second_of_host(), 50_000_000_000);
        assert_eq!(
            Facts { architecture: "sm_80".to_owned(), ..facts.clone() }.bytes_per_second_of_host(),
            25_000_000_000
        );
        assert!(
            !serde_yaml::to_string(&facts).unwrap().contains("host_bytes_per_second"),
            "what is not said is in no key"
        );
        let text = format!("{}host_bytes_per_second: 400e9\n", include_str!("../facts/h200.yaml"));
        assert_eq!(
            serde_yaml::from_str::<Facts>(&text).unwrap().bytes_per_second_of_host(),
            400_000_000_000
        );
    }

    #[test]
    fn facts_are_written_as_they_read() {
        let device = "NVIDIA \"H100\" 80GB".to_owned();
        let [clock_khz, memory_clock_khz, memory_bus_bits] = [1_980_000, 2_619_000, 5120];
        let transfers = [55_100_000_001, 47_000_000_000];
        let [pinned_bytes_per_second, upload_bytes_per_second] = transfers;
        let measured = Measurement {
            device,
            driver: "13.0".to_owned(),
            clock_khz,
            memory_clock_khz,
            memory_bus_bits,
            pinned_bytes_per_second,
            upload_bytes_per_second,
        };
        let share = measured.upload_share();
        let facts = Facts {
            measured: Some(measured),
            host_bytes_per_second: Some(53_000_000_000),
            ..crate::shipped_facts("h200").unwrap()
        };
        assert_eq!(serde_yaml::from_str::<Facts>(&facts.to_yaml().unwrap()).unwrap(), facts);
        assert!((share - 0.853).abs() < 1e-3, "{share}");
        let key = serde_yaml::to_string(&facts).unwrap();
        assert!(
            !key.contains("measured")
                && !key.contains("clock")
                && key.contains("host_bytes_per_second"),
            "how it was measured is in no key: {key}"
        );
    }

    #[test]
    fn what_is_no_facts_file_is_refused_with_the_field() {
        let text = |bytes: &str| {
            format!(
                "{{name: x, kind: cuda, bytes_per_second: {bytes}, flops_per_second: {{f32: 1, \
                 f64: 1}}, launch_nanoseconds: 1, cache: {{bytes: 1, line_bytes: 1}}, gather: []}}"
            )
        };
        let read =
            |text: &str| serde_yaml::from_str::<Facts>(text).map_err(|error| error.to_string());
        assert!(read(&text("1e9")).is_ok());
        assert!(read(&text("-1")).unwrap_err().contains("from 0 on, found -1"));
        assert!(read("{name: x, kind: tpu}").unwrap_err().contains("tpu"));
    }

    #[test]
    fn what_no_device_has_is_refused_with_the_field() {
        let h200 = include_str!("../facts/h200.yaml");
        let of = |old: &str, new: &str| {
            assert!(h200.contains(old), "{old}");
            Facts::from_yaml(&h200.replace(old, new)).map(|_| ()).unwrap_err()
        };
        assert!(Facts::from_yaml(h200).is_ok());
        for (old, new, said) in [
            ("processors: 132", "processors: 0", "grid.processors: expected at least 1, found 0"),
            ("lanes: 32", "lanes: 7", "grid.lanes: expected 32, found 7"),
            (
                "threads_most: 1024",
                "threads_most: 0",
                "grid.threads_most: expected at least 1024, found 0",
            ),
            (
                "shared_bytes_most: 232448",
                "shared_bytes_most: 0",
                "grid.shared_bytes_most: expected at least 49152, found 0",
            ),
            (
                "bytes_per_second: 4.28e12",
                "bytes_per_second: 0",
                "bytes_per_second: expected at least 1, found 0",
            ),
            ("line_bytes: 128", "line_bytes: 0", "cache.line_bytes: expected at least 1, found 0"),
            (
                "architecture: sm_90",
                "architecture: foo",
                "architecture: expected that of a GPU, `sm_90` for one, found `foo`",
            ),
            (
                "grid: {processors: 132, lanes: 32, threads_most: 1024, shared_bytes_most: 232448}",
                "",
                "grid: expected that of a GPU, found none",
            ),
        ] {
            assert_eq!(of(old, new), said);
        }
    }
}
