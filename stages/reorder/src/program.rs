//! program: an order that a program of the user's makes.
//!
//! reads     `new_of_old.arrow`, which the program wrote: one column of u32 of that name, the new
//!           number of each node, in one uncompressed record batch
//! promises  what it wrote is checked before it is used; an error has the end of what it printed,
//!           and nothing of it stays
//! never     runs it itself: `shell` does (`external_program`)
use std::{fs, path::Path};

use warploom_contract::{
    Context, Inputs, Kind, Outputs, StageError,
    arrow_file::{View, open_numbers},
    kinds::{
        csr::Csr,
        permutation::{PERMUTATION_FILE, inverse},
    },
};
use warploom_shell::{
    external_program::{ExternalProgram, Printed},
    requests::ReorderRequest,
};

use crate::per_graph::{mixed_error, mixed_row};

const HINT: &str = "new_of_old.arrow is an Arrow file with one uncompressed record batch and one \
                    column, new_of_old of type u32: the new number of each node, from 0";

/// Runs the program of a request; returns the new number of each node.
pub fn run(
    context: &Context,
    outputs: &Outputs,
    inputs: &Inputs,
    request: &ReorderRequest,
    csr: &Csr,
) -> Result<Vec<u32>, StageError> {
    let program = request.program.as_ref();
    let program = program
        .ok_or_else(|| StageError::defect("method `program` was asked for without a command"))?;
    let file = outputs.file(Kind::Permutation, PERMUTATION_FILE);
    let printed = program.write_file(context, inputs, &file, HINT)?;
    let new_of_old = read_output(program, &file, csr, &printed)?;
    fs::remove_file(&file).map_err(|error| StageError::io("remove", &file, &error))?;
    Ok(new_of_old)
}

/// Reads and checks what the program wrote.
fn read_output(
    program: &ExternalProgram,
    path: &Path,
    csr: &Csr,
    printed: &Printed,
) -> Result<Vec<u32>, StageError> {
    let wrong = |what: String| {
        program.error(format!("wrote an order that is not valid: {what}"), printed).hint(HINT)
    };
    let view: View<u32> =
        open_numbers(path, "new_of_old").map_err(|error| wrong(error.what.clone()))?;
    if view.len() != csr.nodes() {
        return Err(wrong(format!("expected {} rows, found {}", csr.nodes(), view.len())));
    }
    let mut seen = vec![false; view.len()];
    for (row, &new) in view.iter().enumerate() {
        let slot = seen.get_mut(new as usize);
        let slot = slot.ok_or_else(|| {
            wrong(format!("row {row}: expected a number below {}, found {new}", csr.nodes()))
        })?;
        if std::mem::replace(slot, true) {
            return Err(wrong(format!(
                "row {row}: expected each number once, found {new}, which a row before has too"
            )));
        }
    }
    let new_of_old = view.to_vec();
    match mixed_row(csr, &inverse(&new_of_old)) {
        None => Ok(new_of_old),
        Some(new) => Err(mixed_error(Path::new(PERMUTATION_FILE), new, &format!("number {new}"))
            .at("reorder.command")),
    }
}
