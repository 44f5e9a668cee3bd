//! gpu_error: what a GPU, its driver or its compiler refused, with what was attempted.
//!
//! promises  the driver's own name of an error and its words are kept; a fault of memory says what
//!           was wanted and what is free
//! never     decides how a program ends: whoever calls maps `Code` to an exit code
use std::{error::Error, fmt};

/// A call that did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was attempted, with its sizes.
    pub what: String,
    /// Why it did not work.
    pub code: Code,
    /// What to do about it, if something can be done.
    pub hint: Option<String>,
}

/// Why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// No driver, no device, no compiler; `what` says which.
    Absent,
    /// The device has no such stretch of memory.
    Memory {
        /// Bytes asked for; 0 where the driver asked for itself.
        wanted: u64,
        /// Bytes that nobody had at that time.
        free: u64,
        /// Bytes of the device.
        total: u64,
    },
    /// The driver's name of the error, and its words.
    Driver(String),
    /// A kernel that does not compile.
    Compile {
        /// What the compiler said, and the lines around its first error.
        log: String,
    },
    /// A wrong call: out of bounds, wrong parameters; `what` says which. Nothing was sent to the
    /// device.
    Misuse,
}

impl Fault {
    /// Something is not there.
    pub(crate) fn absent(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Fault { what: what.into(), code: Code::Absent, hint: Some(hint.into()) }
    }

    /// A call that cannot be meant.
    pub(crate) fn misuse(what: impl Into<String>) -> Self {
        Fault { what: what.into(), code: Code::Misuse, hint: None }
    }

    /// The driver or the compiler library refused, in its own words.
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

/// Bytes as a person reads them, and as they are.
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
