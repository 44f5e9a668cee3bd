//! tuning_file: rows of the tuning table that a file replaces (`--tuning FILE`).
//!
//! promises  an invalid row is an error with the file, its line, what was expected and found, and a
//!           similar name; a process has one table from its first stage on, and refuses a plan that
//!           was made with another
//! never     changes a key where no row is replaced
use std::path::Path;

use serde_json::{Value, json};
use warploom_contract::{Digest, ErrorKind, StageError, regular_file};
use warploom_tuning as tuning;
use warploom_tuning::{Misfit, ReplaceError, Replaced};

/// The largest file that is read.
const BYTES_MOST: u64 = 1 << 20;

/// Replaces rows of the compiled-in table by those of a file.
pub fn apply_file(file: Option<&Path>) -> Result<(), StageError> {
    let Some(file) = file else { return Ok(()) };
    let text = regular_file::read_text(file, BYTES_MOST).map_err(|error| {
        StageError::io("read rows of the tuning table", file, &error)
            .hint("--tuning takes a file of rows  name,value")
    })?;
    let replaced = tuning::read(&text).map_err(|misfit| misfit_error(file, &misfit))?;
    tuning::replace(&replaced).map_err(|error| match error {
        ReplaceError::Misfit(misfit) => misfit_error(file, &misfit),
        ReplaceError::AlreadyInUse(_) => {
            StageError::defect("the tuning table was read before its rows were replaced".to_owned())
        }
    })
}

/// Applies the rows that a plan was made with. If the process has others, or has used the
/// compiled-in ones, the plan is refused: it would be emitted with other kernels.
pub fn apply_plan_rows(replaced: &Replaced) -> Result<(), StageError> {
    tuning::replace(replaced).map_err(|error| match error {
        ReplaceError::Misfit(misfit) => StageError::new(
            ErrorKind::Specification,
            format!("plan.json: rows of the tuning table: {misfit}"),
        )
        .hint("plan again with this version"),
        ReplaceError::AlreadyInUse(found) => StageError::new(
            ErrorKind::Specification,
            format!(
                "the plan was made with other rows of the tuning table: expected {}, found {}",
                format_rows(replaced),
                format_rows(found.replaced)
            ),
        )
        .hint(
            "give the file that the plan was made with as  --tuning FILE  , or none where it was \
             made without",
        ),
    })
}

/// The rows as text.
fn format_rows(replaced: &Replaced) -> String {
    if replaced.is_empty() {
        return "none replaced".to_owned();
    }
    let rows: Vec<String> =
        replaced.iter().map(|(name, value)| format!("`{name},{value}`")).collect();
    rows.join(" ")
}

/// The digest of replaced rows for a key document; none where no row is replaced.
pub fn rows_digest(replaced: &Replaced) -> Option<Value> {
    let document = json!(replaced).to_string();
    (!replaced.is_empty()).then(|| json!(Digest::from_bytes(document.as_bytes())))
}

fn misfit_error(file: &Path, misfit: &Misfit) -> StageError {
    let place = misfit.line.map_or_else(String::new, |line| format!(":{line}"));
    let near = warploom_spec::nearest(&misfit.name, tuning::NAMES.iter().copied());
    let hint = match near.filter(|near| *near != misfit.name) {
        Some(near) => format!("did you mean  {near}  ?"),
        None => "rows are  name,value  with names and allowed values of \
             kernels/tuning/src/tuning.csv"
            .to_owned(),
    };
    StageError::new(ErrorKind::Specification, format!("{}{place}: {misfit}", file.display()))
        .hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_do_not_fit_are_said_with_file_and_line() {
        let says = |text: &str| {
            let misfit = tuning::read(text).unwrap_err();
            let error = misfit_error(Path::new("rows.csv"), &misfit);
            (error.what, error.hint.unwrap_or_default())
        };
        let (what, hint) = says("\nwide_edge,2");
        assert_eq!(
            what,
            "rows.csv:2: row `wide_edge`: expected the name of a row, found `wide_edge`"
        );
        assert_eq!(hint, "did you mean  wide_edges  ?");
        let (what, hint) = says("wide_edges,3");
        assert_eq!(what, "rows.csv:1: row `wide_edges`: expected 1|2|4|8, found `3`");
        assert!(hint.contains("tuning.csv"), "{hint}");
    }

    #[test]
    fn rows_that_are_not_replaced_are_in_no_key() {
        assert_eq!(rows_digest(&Replaced::new()), None);
        let of = |value: &str| rows_digest(&[("wide_edges".to_owned(), value.to_owned())].into());
        assert!(of("2").is_some());
        assert_ne!(of("2"), of("8"));
    }
}
