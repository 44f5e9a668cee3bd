//! program: a graph that a program of the user's writes, for `format: program`.
//!
//! reads     the folder that the program wrote, as that of a data set
//! promises  every file of the folder is read; an error has the file, the place in it and the end
//!           of what the program printed; nothing of the folder stays
//! never     runs it itself: `shell` does (`external_program`)
use std::{
    fs,
    path::{Path, PathBuf},
};

use warploom_catalog::{
    CatalogError, Entry, Source, WrittenFiles, recognise_written, unlisted_files,
};
use warploom_contract::{Context, ErrorKind, Kind, Outputs, StageError};
use warploom_formats::raw_graph::RawGraph;
use warploom_shell::{
    external_program::{ExternalProgram, Printed},
    hints,
    requests::IngestRequest,
};

/// The folder WARPLOOM_OUTPUT, in the draft of the graph.
const FOLDER: &str = "written";
/// What `passed_over` calls a file by.
const UNREAD_FILE: &str = "the file `";
const HINT: &str = "edges.parquet has the columns source and target, and may have weight and type; \
                    nodes.parquet beside it may have id, label, split and features; or write \
                    another format of docs/data.md";

/// A graph that a program wrote.
pub struct WrittenGraph<'a> {
    /// The request of its folder: what there was to read is not the raw data any more.
    pub request: IngestRequest,
    program: &'a ExternalProgram,
    folder: PathBuf,
    printed: Printed,
}

/// Runs the program of a request; none if no program is asked for.
pub fn run<'a>(
    context: &Context,
    outputs: &Outputs,
    request: &'a IngestRequest,
) -> Result<Option<WrittenGraph<'a>>, StageError> {
    let Some(program) = &request.program else { return Ok(None) };
    let folder = outputs.file(Kind::Graph, FOLDER);
    fs::create_dir(&folder).map_err(|error| StageError::io("make a folder", &folder, &error))?;
    let raw = match &request.source {
        Source::Real { folder, .. } => Some(folder.as_path()),
        _ => {
            let name = &request.entry.name;
            context.progress.say(&format!(
                "`{name}`: no folder has this name: the program is given no raw data"
            ));
            None
        }
    };
    let printed = program.write_graph(context, raw, &folder)?;
    refuse_odd_files(program, &folder, &printed)?;
    let wrong = |error: CatalogError| {
        let mut shown = StageError::new(ErrorKind::Data, error.what);
        // The place is the folder itself.
        shown.detail = error.detail;
        program.error_of_reader(shown, &folder, &printed).hint(HINT)
    };
    let WrittenFiles { format, files, inherited } = recognise_written(&folder).map_err(wrong)?;
    let others = unlisted_files(&folder, &files).map_err(wrong)?;
    if !others.is_empty() {
        return Err(left_over(program, &others, &printed));
    }
    let mut entry = Entry { format, ..request.entry.clone() };
    entry.inherited.stand_in |= inherited.stand_in;
    entry.inherited.made_up.extend(inherited.made_up);
    let source = Source::Real { folder: folder.clone(), files };
    let request = IngestRequest { entry, source, ..request.clone() };
    Ok(Some(WrittenGraph { request, program, folder, printed }))
}

impl WrittenGraph<'_> {
    /// Refuses files that the reader did not use.
    pub fn refuse_unread(&self, graph: &RawGraph) -> Result<(), StageError> {
        let is_file = |what: &&String| what.starts_with(UNREAD_FILE);
        let others: Vec<String> = graph.passed_over.iter().filter(is_file).cloned().collect();
        if others.is_empty() {
            Ok(())
        } else {
            Err(left_over(self.program, &others, &self.printed))
        }
    }

    /// An error about a file of the folder, as one of the program.
    pub fn explain(&self, error: StageError) -> StageError {
        let shown = self.folder.display().to_string();
        let is_own = error.place.as_ref().is_some_and(|place| place.starts_with(&shown));
        if !(is_own && matches!(error.kind, ErrorKind::Data | ErrorKind::Input)) {
            return error;
        }
        let hint = hints::adapt_to_program(error.hint.as_deref().unwrap_or_default(), HINT);
        self.program.error_of_reader(error.hint(hint), &self.folder, &self.printed)
    }

    /// Removes the folder, which is in no artifact.
    pub fn remove(self) -> Result<(), StageError> {
        fs::remove_dir_all(&self.folder)
            .map_err(|error| StageError::io("remove", &self.folder, &error))
    }
}

fn left_over(program: &ExternalProgram, others: &[String], printed: &Printed) -> StageError {
    let what = format!("left what is no part of a graph in WARPLOOM_OUTPUT: {}", others.join(", "));
    program.error(what, printed).hint(HINT)
}

/// Refuses an empty folder, links and pipes: the graph has to be there, and nowhere else.
fn refuse_odd_files(
    program: &ExternalProgram,
    folder: &Path,
    printed: &Printed,
) -> Result<(), StageError> {
    let mut folders = vec![folder.to_path_buf()];
    let mut files = 0;
    while let Some(next) = folders.pop() {
        let cannot = |error: std::io::Error| StageError::io("list", &next, &error);
        for entry in fs::read_dir(&next).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let kind = entry.file_type().map_err(cannot)?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files += 1;
            } else {
                let path = entry.path();
                let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                let what = format!("made {name} a link or a device, expected a plain file");
                return Err(program.error(what, printed).hint(HINT));
            }
        }
    }
    match files {
        0 => Err(program.error("left no file in WARPLOOM_OUTPUT".into(), printed).hint(HINT)),
        _ => Ok(()),
    }
}
