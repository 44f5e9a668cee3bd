//! gpu_error: errors of a GPU, its driver or its compiler, with what was attempted.
//!
//! promises  the driver's name and description of an error are kept; an out-of-memory error says
//!           what was requested and what is free
//! never     decides how a program ends: the caller maps `Code` to an exit code
use std::{error::Error, fmt};

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was attempted, with its sizes.
    pub what: String,
    /// Why it failed.
    pub code: Code,
    /// What to do about it, if anything.
    pub hint: Option<String>,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// No driver, no device, no compiler; `what` says which.
    Absent,
    /// The device has no free block of that size.
    Memory {
        /// Bytes requested; 0 where the driver allocated for itself.
        wanted: u64,
        /// Bytes that were free.
        free: u64,
        /// Bytes of the device.
        total: u64,
    },
    /// The driver's name and description of the error.
    Driver(String),
    /// A kernel that does not compile.
    Compile {
        /// What the compiler reported, and the lines around its first error.
        log: String,
    },
    /// A misuse of this crate: out of bounds, wrong parameters; `what` says which. Nothing was sent
    /// to the
    /// device.
    Misuse,
}

impl Fault {
    /// A missing driver, device or compiler.
    pub(crate) fn absent(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Fault { what: what.into(), code: Code::Absent, hint: Some(hint.into()) }
    }

    /// A misuse of this crate.
    pub(crate) fn misuse(what: impl Into<String>) -> Self {
        Fault { what: what.into(), code: Code::Misuse, hint: None }
    }

    /// An error of the driver or the compiler library, in its own words.
    pub(crate) fn driver(what: impl Into<String>, words: impl Into<String>) -> Self {
        Fault { what: what.into(), code: Code::Driver(words.into()), hint: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.code {
            Code::Absent | Code::Misuse => Ok(()),
            Code::Memory { wanted: 0, free, total } => {
                write!(f, ": out of memory, {} of {} are free", size(*free), size(*total))
            }
            Code::Memory { wanted, free, total } => write!(
                f,
                ": wanted {}, and {} of {} are free",
                size(*wanted),
                size(*free),
                size(*total)
            ),
            Code::Driver(words) => write!(f, ": {words}"),
            Code::Compile { log } => write!(f, ":\n{log}"),
        }
    }
}

impl Error for Fault {}

/// Bytes with a unit, and exact.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name} ({bytes} bytes)", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_what_was_attempted_and_why_it_failed() {
        let memory = Fault {
            what: "allocate on device 0".to_owned(),
            code: Code::Memory { wanted: 3 << 30, free: 1 << 20, total: 2 << 30 },
            hint: None,
        };
        assert_eq!(
            memory.to_string(),
            "allocate on device 0: wanted 3.0 GiB (3221225472 bytes), and 1.0 MiB (1048576 bytes) \
             of 2.0 GiB (2147483648 bytes) are free"
        );
        assert_eq!(
            Fault::driver("load `a`", "CUDA_ERROR_INVALID_IMAGE: bad").to_string(),
            "load `a`: CUDA_ERROR_INVALID_IMAGE: bad"
        );
        assert_eq!(Fault::misuse("fill 4 bytes at 8 of 8").to_string(), "fill 4 bytes at 8 of 8");
        assert_eq!(size(1023), "1023 bytes");
    }
}
