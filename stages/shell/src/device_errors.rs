//! device_errors: faults of a GPU as errors of a stage: the kind, which gives the exit code, and
//! what to do.
//!
//! promises  only what may pass (a device that failed, memory that others hold) is transient, which
//!           batch scripts start again; what an installation lacks is an input error, a wrong
//!           address a defect
//! never     looks at a device
use warploom_contract::{ErrorKind, StageError};
use warploom_device::{Cause, Fault};

/// An alternative that needs less device memory.
pub const ON_HOST: &str = "leave features on the host:  --set plan.features=host";
/// An alternative that needs no device memory.
pub const ON_CPU: &str = "run on  --device cpu";

/// The start of the hint where others hold device memory.
const WAIT: &str = "wait until other processes free device memory (`nvidia-smi` lists them), ";

/// Whether this is the error of device memory that lacks, held by others or not.
pub fn is_memory_error(error: &StageError) -> bool {
    error.kind == ErrorKind::Memory
        || error.hint.as_deref().is_some_and(|hint| hint.starts_with(WAIT))
}

/// The kind of an error by its cause.
pub fn error_kind(cause: Cause) -> ErrorKind {
    match cause {
        Cause::Device => ErrorKind::Transient,
        Cause::Setup | Cause::Code => ErrorKind::Input,
        Cause::Memory => ErrorKind::Memory,
        Cause::Program => ErrorKind::Defect,
    }
}

/// A fault of the device as a stage's error. Memory that others hold may be freed: it is transient.
pub fn device_error(fault: Fault) -> StageError {
    let (is_of_others, cause) = (fault.is_memory_of_others(), fault.cause());
    let kind = if is_of_others { ErrorKind::Transient } else { error_kind(cause) };
    let error = StageError::new(kind, fault.to_string());
    let hint = match (fault.hint, cause) {
        (Some(hint), _) => Some(hint),
        (None, Cause::Memory) => Some(format!(
            "{}take another GPU, make rows narrower, for example with  --set \
                 plan.set.hidden=8  , {ON_HOST}  , or {ON_CPU}",
            if is_of_others { WAIT } else { "" }
        )),
        (None, Cause::Program) => StageError::defect("").hint,
        (None, _) => None,
    };
    StageError { hint, ..error }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use warploom_device::{Code, driver_errors::DRIVER_ERRORS};

    use super::*;

    fn fault(number: u32) -> Fault {
        let code = Code::Driver { number: Some(number), words: "words".to_owned() };
        Fault { what: "launch".to_owned(), code, hint: None }
    }

    #[test]
    fn only_what_may_pass_is_started_again() {
        let code = |number| device_error(fault(number)).kind.exit_code();
        assert_eq!([214, 719, 999, 802, 46, 3].map(code), [4; 6]);
        assert_eq!([700, 716, 1, 400].map(code), [255; 4]);
        assert_eq!([222, 803, 804, 209, 200, 100].map(code), [1; 6]);
        let hint = device_error(fault(700)).hint.unwrap();
        assert!(hint.contains("please report it"), "{hint}");
    }

    #[test]
    fn a_shared_device_that_is_full_may_be_free_later() {
        let lacks = |held: u64| {
            let code = Code::Memory { wanted: 4 << 30, free: 1 << 30, total: 80 << 30, held };
            device_error(Fault { what: "allocate".to_owned(), code, hint: None })
        };
        let (shared, alone) = (lacks(78 << 30), lacks(1 << 29));
        assert_eq!((shared.kind.exit_code(), alone.kind.exit_code()), (4, 1));
        assert!(shared.hint.unwrap().starts_with("wait until other processes free"));
        assert!(alone.hint.unwrap().starts_with("take another GPU"));
    }

    #[test]
    fn the_documentation_has_every_row() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md");
        let text = std::fs::read_to_string(page).unwrap();
        let rows: Vec<String> = DRIVER_ERRORS
            .iter()
            .map(|row| {
                let exit = match row.cause {
                    Cause::Memory => "1 or 4".to_owned(),
                    cause => error_kind(cause).exit_code().to_string(),
                };
                format!("| {} | `{}` | {exit} | {} |", row.number, row.name, row.meaning)
            })
            .collect();
        let missing: Vec<&String> = rows.iter().filter(|row| !text.contains(*row)).collect();
        assert!(
            missing.is_empty(),
            "docs/faults.md lacks rows; the table is:\n{}",
            rows.join("\n")
        );
    }
}
