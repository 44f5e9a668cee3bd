//! program: a table of groups that a program of the user's writes, for scheme `program`.
//!
//! reads     `groups.parquet`, which the program wrote: the table that scheme `file` reads
//! promises  what it wrote is checked as a table of scheme `file` is; an error has the end of what
//!           it printed, and nothing of it stays
//! never     runs it itself: `shell` does (`external_program`)
use std::{fs, path::PathBuf};

use warploom_contract::{
    Context, Digest, ErrorKind, Inputs, Kind, Outputs, StageError, kinds::csr::Csr,
};
use warploom_shell::{external_program::Printed, requests::PartitionRequest};
use warploom_spec::Scheme as Asked;

use crate::{
    schemes,
    size_estimate::{Outline, Room},
};

/// The file that a program writes into the folder WARPLOOM_OUTPUT.
const GROUPS_FILE: &str = "groups.parquet";
const HINT: &str = "groups.parquet is a Parquet table with the columns node, start and end: a row \
                    for each group of in-neighbours, and each in-edge in one group";

/// What a program wrote.
pub struct WrittenGroups {
    file: PathBuf,
    printed: Printed,
}

/// Runs the program of a request, which from then on names the table that it wrote; none if no
/// program is asked for.
pub fn run(
    context: &Context,
    outputs: &Outputs,
    inputs: &Inputs,
    request: &mut PartitionRequest,
) -> Result<Option<WrittenGroups>, StageError> {
    let Some(program) = &request.program else { return Ok(None) };
    let file = outputs.file(Kind::Partition, GROUPS_FILE);
    let printed = program.write_file(context, inputs, &file, HINT)?;
    let digest = Digest::from_file(&file)
        .map_err(|error| StageError::io("read the groups of a program", &file, &error))?;
    request.groups_digest = Some(digest.as_str().to_owned());
    request.spec.groups = Some(file.clone());
    Ok(Some(WrittenGroups { file, printed }))
}

impl WrittenGroups {
    /// The size of the division that the table says, or what is wrong with the table.
    pub fn outline(
        &self,
        csr: &Csr,
        request: &PartitionRequest,
        room: Room,
    ) -> Result<Outline, StageError> {
        schemes::outline(Asked::Program, csr, request, room).map_err(|error| {
            let (ErrorKind::Data, Some(program)) = (error.kind, &request.program) else {
                return error;
            };
            let folder = self.file.parent().map(|folder| format!("{}/", folder.display()));
            let place = error.place.unwrap_or_default();
            let place = folder.and_then(|folder| place.strip_prefix(&folder).map(str::to_owned));
            let place = place.unwrap_or_else(|| GROUPS_FILE.to_owned());
            let what = format!("wrote groups that are not valid: {place}: {}", error.what);
            program.error(what, &self.printed).hint(error.hint.unwrap_or_else(|| HINT.to_owned()))
        })
    }

    /// Removes the table, which is in no artifact.
    pub fn remove(self) -> Result<(), StageError> {
        fs::remove_file(&self.file).map_err(|error| StageError::io("remove", &self.file, &error))
    }
}
