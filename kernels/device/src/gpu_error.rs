//! gpu_error: errors of a GPU, its driver or its compiler, with what was attempted.
//!
//! promises  the driver's name and description of an error are kept; an out-of-memory error says
//!           what was requested and what is free
//! never     decides how a program ends: the caller maps `Code` to an exit code
use std::{error::Error, fmt};

use crate::driver_errors::{Cause, driver_error};

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

/// What a context, its code and its graphs take of a device, at most.
const OWN_MOST: u64 = 1 << 30;

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
        /// Bytes that were taken when this process opened the device: mostly by others.
        held: u64,
    },
    /// An error of the driver or the compiler library.
    Driver {
        /// The driver's number of it; none for one of the compiler library.
        number: Option<u32>,
        /// Its name and description.
        words: String,
    },
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

    /// An error of the compiler library, in its own words.
    pub(crate) fn library(what: impl Into<String>, words: impl Into<String>) -> Self {
        Fault {
            what: what.into(),
            code: Code::Driver { number: None, words: words.into() },
            hint: None,
        }
    }

    /// An error of the driver, in its own words, with the hint of its row.
    pub(crate) fn driver(what: impl Into<String>, number: u32, words: impl Into<String>) -> Self {
        let hint = driver_error(number).hint;
        Fault {
            what: what.into(),
            code: Code::Driver { number: Some(number), words: words.into() },
            hint: (!hint.is_empty()).then(|| hint.to_owned()),
        }
    }

    /// Where it comes from.
    pub fn cause(&self) -> Cause {
        match &self.code {
            Code::Absent => Cause::Setup,
            Code::Memory { .. } => Cause::Memory,
            Code::Driver { number: Some(number), .. } => driver_error(*number).cause,
            Code::Driver { number: None, .. } => Cause::Device,
            Code::Compile { .. } | Code::Misuse => Cause::Program,
        }
    }

    /// Whether memory lacks because others hold it: the device as a whole has enough.
    pub fn is_memory_of_others(&self) -> bool {
        matches!(self.code, Code::Memory { wanted, total, held, .. }
            if held >= OWN_MOST && wanted <= total.saturating_sub(OWN_MOST))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.code {
            Code::Absent | Code::Misuse => Ok(()),
            Code::Memory { wanted: 0, free, total, .. } => {
                write!(f, ": out of memory, {} of {} are free", size(*free), size(*total))
            }
            Code::Memory { wanted, free, total, .. } => write!(
                f,
                ": wanted {}, and {} of {} are free",
                size(*wanted),
                size(*free),
                size(*total)
            ),
            Code::Driver { words, .. } => write!(f, ": {words}"),
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
    fn memory_that_others_hold_is_told_from_a_device_that_is_too_small() {
        let lacks = |wanted: u64, held: u64| {
            let code = Code::Memory { wanted: wanted << 30, free: 0, total: 80 << 30, held };
            Fault { what: String::new(), code, hint: None }.is_memory_of_others()
        };
        assert!(lacks(40, 50 << 30) && lacks(0, 2 << 30));
        assert!(!lacks(40, 500 << 20), "only this process is there");
        assert!(!lacks(80, 50 << 30) && !lacks(100, 50 << 30), "it never fits");
    }

    #[test]
    fn a_fault_says_what_was_attempted_and_why_it_failed() {
        let memory = Fault {
            what: "allocate on device 0".to_owned(),
            code: Code::Memory { wanted: 3 << 30, free: 1 << 20, total: 2 << 30, held: 0 },
            hint: None,
        };
        assert_eq!(
            memory.to_string(),
            "allocate on device 0: wanted 3.0 GiB (3221225472 bytes), and 1.0 MiB (1048576 bytes) \
             of 2.0 GiB (2147483648 bytes) are free"
        );
        assert_eq!(
            Fault::driver("load `a`", 200, "CUDA_ERROR_INVALID_IMAGE: bad").to_string(),
            "load `a`: CUDA_ERROR_INVALID_IMAGE: bad"
        );
        assert_eq!(
            Fault::driver("load `a`", 700, "x").hint,
            None,
            "an error of the program has no hint"
        );
        assert_eq!(Fault::misuse("fill 4 bytes at 8 of 8").to_string(), "fill 4 bytes at 8 of 8");
        assert_eq!(size(1023), "1023 bytes");
    }
}
