//! machine_limits: how much of the host may be used: CPU threads and memory that the cgroup or the
//! scheduler allows.
//!
//! promises  an explicit flag wins; without one, never more than the cgroup or `ulimit` allows
//! never     changes a result: limits are in no key
use std::fs;

use rustix::process::{Resource, getrlimit};

use crate::scheduler;

/// CPU threads that this process may use.
pub fn allowed_threads() -> usize {
    // This call already respects affinity and the quota of the cgroup.
    let available = std::thread::available_parallelism().map_or(1, |count| count.get());
    let scheduler =
        std::env::var("SLURM_CPUS_PER_TASK").ok().and_then(|text| text.parse::<usize>().ok());
    scheduler.map_or(available, |count| count.clamp(1, available))
}

/// Bytes of memory that this process may use.
pub fn allowed_memory() -> u64 {
    let total =
        meminfo_bytes("MemAvailable:").or_else(|| meminfo_bytes("MemTotal:")).unwrap_or(1 << 30);
    let mut limits = vec![total];
    limits.extend(cgroup_memory());
    // Beyond `ulimit -v` or `ulimit -d` an allocation fails, which ends the process.
    limits.extend(
        [Resource::As, Resource::Data].iter().filter_map(|&resource| getrlimit(resource).current),
    );
    if let Some(megabytes) =
        std::env::var("SLURM_MEM_PER_NODE").ok().and_then(|text| text.parse::<u64>().ok())
    {
        limits.push(megabytes << 20);
    }
    limits.into_iter().min().unwrap_or(total)
}

/// The memory limit of the cgroup, if it has one.
pub fn cgroup_memory() -> Option<u64> {
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok())
        .filter(|&bytes| bytes < 1 << 60)
}

/// A line of /proc/meminfo in bytes.
pub fn meminfo_bytes(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}

/// Whether this is a batch job. If so, a stand-in is an error and digests are verified by default.
pub fn is_batch_job() -> bool {
    scheduler::is_batch_job()
}

/// Reads a size: `50GiB`, `10G`, `1.5 TB`, `4096`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1048576.0,
        "g" | "gib" => 1073741824.0,
        "t" | "tib" => 1099511627776.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err(format!("expected a size such as 50GiB, 800MB or 4096, found `{text}`")),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("expected a size such as 50GiB, 800MB or 4096, found `{text}`"))?;
    Ok((number * scale) as u64)
}

/// Reads a span of time: `30d`, `12h`, `45m`, `90s`.
pub fn parse_age(text: &str) -> Result<std::time::Duration, String> {
    let wrong = || format!("expected a span such as 30d, 12h, 45m or 90s, found `{text}`");
    let (number, unit) = text.trim().split_at(text.trim().len().saturating_sub(1));
    let seconds = match unit {
        "d" => 86400,
        "h" => 3600,
        "m" => 60,
        "s" => 1,
        _ => return Err(wrong()),
    };
    let number: u64 = number.trim().parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).map(std::time::Duration::from_secs).ok_or_else(wrong)
}

/// Writes a size with three digits: `1.23 GiB`.
pub fn show_size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ if value < 10.0 => format!("{value:.2} {}", units[unit]),
        _ if value < 100.0 => format!("{value:.1} {}", units[unit]),
        _ => format!("{value:.0} {}", units[unit]),
    }
}

/// Bytes of a MiB.
const MIB: u64 = 1 << 20;

/// The option that allows so much memory, for a hint: in whole MiB, below one in bytes.
pub fn memory_option(bytes: u64) -> String {
    if bytes < MIB {
        format!("--memory {bytes}  if the machine has it")
    } else {
        format!("--memory {}MiB  if the machine has it", bytes.div_ceil(MIB))
    }
}

/// Writes a time with about three digits: `3.20 us`, `12.3 ms`, `104 s`.
pub fn show_time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "us"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    match value {
        v if v < 10.0 => format!("{v:.2} {unit}"),
        v if v < 100.0 => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

/// A count with its unit: `1 superstep`, `19 supersteps`.
pub fn count_with_unit(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_counts_are_short() {
        assert_eq!(
            [0.0, 3.2e-6, 0.01234, 0.5, 104.2].map(show_time),
            ["0.00 us", "3.20 us", "12.3 ms", "500 ms", "104 s"]
        );
        assert_eq!(
            [0, 1, 2].map(|count| count_with_unit(count, "superstep")),
            ["0 supersteps", "1 superstep", "2 supersteps"]
        );
    }

    #[test]
    fn sizes_and_spans_are_read() {
        assert_eq!(parse_size("50GiB"), Ok(50 << 30));
        assert_eq!(parse_size("1.5 MB"), Ok(1_500_000));
        assert_eq!(parse_size("4096"), Ok(4096));
        assert!(parse_size("many").unwrap_err().contains("found `many`"));
        assert_eq!(parse_age("2d").unwrap().as_secs(), 172_800);
        assert!(parse_age("").is_err() && parse_age("5").is_err() && parse_age("xd").is_err());
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(
            [0, 999, 1000, 1536, 123 << 20].map(show_size),
            ["0 B", "999 B", "0.98 KiB", "1.50 KiB", "123 MiB"]
        );
    }

    #[test]
    fn there_is_something_to_use() {
        assert!(allowed_threads() >= 1 && allowed_memory() > 1 << 20);
    }
}
