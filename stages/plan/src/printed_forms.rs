//! printed_forms: the forms of a vertex program between its text and its launch list, as text.
//!
//! promises  every form can be shown; `shell::program` says what a program is and compiles it
//! never     reads a file
use warploom_contract::StageError;
pub use warploom_shell::program::{Compilation, Program};

/// Forms that can be shown.
pub const FORMS: [&str; 6] = ["gir", "autodiff", "clean", "fused", "launches", "source"];

/// One of the forms before kernels, as text.
pub fn print_form(compiled: &Compilation, form: &str, text: &str) -> Result<String, StageError> {
    match form {
        "gir" => Ok(compiled.traced.gir.print(Some(text))),
        "autodiff" => Ok(compiled.with_gradients.print(Some(text))),
        "clean" => Ok(format!("{}{}", compiled.clean.print(Some(text)), compiled.decisions())),
        "launches" => Ok(compiled.apart.render()),
        "fused" => Ok(compiled.list.render()),
        other => {
            Err(StageError::defect(format!("a program has no form `{other}` before its kernels")))
        }
    }
}
