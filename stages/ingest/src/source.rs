//! source: reads a graph with the reader of its format, or generates it.
//!
//! promises  a graph as listed, untransformed; a prominent notice announces a stand-in
use warploom_catalog::{Catalog, Source, imported_sets::ENTRY_FILE};
use warploom_contract::{Context, ErrorKind, Provenance, StageError, progress::Phase};
use warploom_shell::{
    hints,
    requests::{IngestRequest, catalog_error, read_error},
};
use warploom_spec::{Ids, Symmetrize, Weights};

use crate::{
    generate::synthetic_source, memory_limit::edge_limit, node_kinds, reading::SourceGraph,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError},
    time::Duration,
};
use warploom_formats::{
    FileHeads, Format, column_report,
    containers::raw_file::stored_bytes_read,
    out_of_core::{LoadedGraph, Spilled, are_both_ways, features_have_to_fit, note_large_weights},
    raw_graph::RawGraph,
    read_error::ReadError,
    readers::ogb,
    side_files,
};

/// Interval of progress reports while reading.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Prefix of the line about directed edges.
const ONE_WAY: &str = "edges are directed; for both directions:";

/// Reads the files, or generates the stand-in.
pub fn read_source(context: &Context, request: &IngestRequest) -> Result<SourceGraph, StageError> {
    match &request.source {
        Source::Real { folder, files } => {
            let bytes = files
                .iter()
                .filter_map(|file| fs::metadata(file).ok())
                .map(|facts| facts.len())
                .sum();
            let reading = Phase::begin(context.progress, "reading", bytes, "bytes");
            let own_words = |hint: &str| adapt_hint(request, folder, files, hint);
            let loaded = report_reading(&reading, || read_files(context, request, files));
            let LoadedGraph { mut graph, spilled } = loaded.map_err(|error| {
                let error = read_error(&error);
                StageError { hint: error.hint.as_deref().map(own_words), ..error }
            })?;
            graph.notes.extend(
                note_one_way_edges(request, &graph, spilled.as_ref())
                    .map_err(|error| read_error(&error))?,
            );
            graph.notes.iter_mut().for_each(|note| *note = own_words(note));
            drop(reading);
            graph.passed_over.extend(find_link_splits(request, folder)?);
            if request.entry.inferred {
                graph.passed_over.extend(
                    warploom_catalog::unlisted_files(folder, files)
                        .map_err(|error| catalog_error(&error))?,
                );
            }
            if graph.types.is_some() && node_kinds::kind_rule(request).is_none() {
                graph.passed_over.push(
                    "types of entities, of which  ingest.entity_types  makes kinds".to_owned(),
                );
            }
            if !graph.passed_over.is_empty() {
                context.progress.warn(&format!(
                    "`{}`: ignored: {}",
                    request.entry.name,
                    graph.passed_over.join(", ")
                ));
            }
            if has_other_name(request, folder) {
                context.progress.say(&format!(
                    "`{}`: its files were found in  {}",
                    request.entry.name,
                    folder.display()
                ));
            }
            let edge_columns = graph.edges.features.as_ref().map(|features| features.columns);
            let edge_columns = edge_columns
                .or(spilled.as_ref().and_then(|spilled| Some(spilled.features.as_ref()?.columns)))
                .unwrap_or(0);
            let report = column_report::report(&graph, edge_columns);
            let mut report: Vec<String> = report
                .into_iter()
                .map(|(what, text)| format!("{what}: {}", own_words(&text)))
                .collect();
            report.extend(
                direction_line(request, &graph, spilled.as_ref())
                    .map_err(|error| read_error(&error))?,
            );
            report.iter().for_each(|line| {
                context.progress.say(&format!("`{}`: {line}", request.entry.name))
            });
            graph.notes.iter().for_each(|note| {
                context.progress.warn(&format!("`{}`: {note}", request.entry.name))
            });
            if request.entry.home.is_some()
                && Catalog::discover()
                    .has_entry(&request.entry.name)
                    .map_err(|error| catalog_error(&error))?
            {
                context.progress.say(&format!(
                    "`{}`: its entry is  {} , not the catalogue's",
                    request.entry.name, request.entry.place
                ));
            }
            if let Some(old) = Catalog::discover()
                .legacy_import_entry(&request.entry.name)
                .filter(|_| request.entry.home.is_none())
            {
                let (name, new) = (&request.entry.name, folder.join(ENTRY_FILE));
                context.progress.warn(&format!(
                    "the entry of `{name}` is found from this folder only: an earlier version \
                     wrote it; to have it found with its files:  mv {} {}",
                    old.display(),
                    new.display()
                ));
            }
            if request.entry.inherited.stand_in {
                context.progress.warn(&format!(
                    "`{}` was imported from files of a STAND-IN: a generated graph; \
                     results say nothing about real data",
                    request.entry.name
                ));
            }
            Ok(SourceGraph {
                graph,
                provenance: Provenance::Real,
                community: None,
                spilled,
                report,
            })
        }
        Source::Generated => synthetic_source::generate_set(context, request),
        Source::StandIn { why } => {
            let name = &request.entry.name;
            context.progress.warn(&format!(
                "`{name}` is a STAND-IN: a generated graph with its counts, because \
                    {why}\n         results say nothing about the real data; get them with  {}",
                request.entry.download_hint()
            ));
            generate_stand_in(context, request)
        }
    }
}

/// A hint or a note of a reader, for how the set is read. Those about what a program wrote name its
/// files without the draft that they are in.
fn adapt_hint(request: &IngestRequest, folder: &Path, files: &[PathBuf], hint: &str) -> String {
    match (&request.program, request.entry.inferred) {
        (Some(_), _) => hint.replace(&format!("{}/", folder.display()), ""),
        (None, true) => hints::adapt_to_folder(hint, files.first().map_or(folder, |file| file)),
        (None, false) => hints::adapt_to_entry(hint, &request.entry.place),
    }
}

/// Whether the folder of a set's files has a name that is none of the set's.
fn has_other_name(request: &IngestRequest, folder: &Path) -> bool {
    let mut names = std::iter::once(&request.entry.name).chain(&request.entry.found_as);
    request.program.is_none() && !names.any(|name| folder.ends_with(name))
}

/// Reports the bytes of files read so far, while reading.
fn report_reading<T>(reading: &Phase<'_>, read: impl FnOnce() -> T) -> T {
    let (over, ends) = mpsc::channel::<()>();
    // Counted before the thread starts: what is read until then is reported too.
    let mut before = stored_bytes_read();
    let watch = move || {
        while ends.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            let now = stored_bytes_read();
            reading.add(now - before);
            before = now;
        }
    };
    std::thread::scope(|scope| {
        // If no thread can start, nothing is reported before the end.
        let _none = std::thread::Builder::new().name("watch".to_owned()).spawn_scoped(scope, watch);
        // Dropped when reading ends, also by a panic: this ends the reports.
        let _reading = over;
        read()
    })
}

/// The line that edges of a user's own files are directed, where neither files nor settings say so.
fn direction_line(
    request: &IngestRequest,
    graph: &RawGraph,
    spilled: Option<&Spilled>,
) -> Result<Option<String>, Box<ReadError>> {
    let is_own = request.entry.inferred || request.entry.home.is_some();
    let leads_one_way = request.entry.inferred && graph.directed.is_none()
        || request.entry.home.is_some() && !request.entry.symmetrize;
    if !is_own
        || !leads_one_way
        || request.spec.symmetrize != Symmetrize::Auto
        || are_both_ways(&graph.edges, spilled)?
    {
        return Ok(None);
    }
    Ok(Some(match graph.relations.is_empty() {
        true => format!("{ONE_WAY}  --set ingest.symmetrize=true"),
        false => format!(
            "{ONE_WAY}  --set ingest.symmetrize=true , or under relations of their own:  --set \
             ingest.inverse_relations=true"
        ),
    }))
}

/// Prints a note if undirected edges are listed once and the settings do not add their reverses.
fn note_one_way_edges(
    request: &IngestRequest,
    graph: &RawGraph,
    spilled: Option<&Spilled>,
) -> Result<Option<String>, Box<ReadError>> {
    let undirected = if request.entry.inferred {
        graph.directed == Some(false)
    } else {
        !request.entry.directed && request.entry.symmetrize
    };
    if request.spec.symmetrize != Symmetrize::False
        || graph.halved
        || !undirected
        || are_both_ways(&graph.edges, spilled)?
    {
        return Ok(None);
    }
    let what = "edges have no direction and are listed once, and  ingest.symmetrize: false  lets \
                each lead one way; for both ways:  --set ingest.symmetrize=true";
    Ok(Some(what.to_owned()))
}

/// Files of link splits in an OGB set, which are not read.
fn find_link_splits(request: &IngestRequest, folder: &Path) -> Result<Option<String>, StageError> {
    if request.entry.format.as_str() != ogb::FORMAT.name {
        return Ok(None);
    }
    let mut names = Vec::new();
    // `split/HOW/valid_edge.csv`
    for path in list_folder(&folder.join("split"))? {
        let files = if path.is_dir() { list_folder(&path)? } else { vec![path] };
        names.extend(files.iter().filter_map(|path| {
            Some(path.strip_prefix(folder).ok()?.to_string_lossy().into_owned())
        }));
    }
    Ok(ogb::passed_over(names.iter().map(String::as_str)))
}

/// The paths in a folder; none if it does not exist.
fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, StageError> {
    let list = || match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    };
    list().map_err(|error| StageError::io("list", folder, &error))
}

/// The provenance of the graph of a request, and its synthetic data, including those inherited from
/// an exported graph.
pub fn provenance(
    request: &IngestRequest,
    found: Provenance,
    mut made_up: Vec<String>,
) -> (Provenance, Vec<String>) {
    let inherited = &request.entry.inherited;
    if !matches!(request.source, Source::Real { .. }) {
        return (found, made_up);
    }
    if inherited.stand_in {
        return (Provenance::StandIn, Vec::new());
    }
    made_up.extend(
        inherited
            .made_up
            .iter()
            .filter(|what| !made_up.contains(what))
            .cloned()
            .collect::<Vec<_>>(),
    );
    (found, made_up)
}

fn read_files(
    context: &Context,
    request: &IngestRequest,
    files: &[PathBuf],
) -> Result<LoadedGraph, Box<ReadError>> {
    let mut options = request.entry.read.clone();
    match request.spec.ids {
        Ids::Auto => {}
        Ids::Number => options.ids = warploom_formats::Ids::Number,
        Ids::String => options.ids = warploom_formats::Ids::String,
    }
    if request.spec.weights != Weights::Keep {
        // Weights that are dropped need not be numbers.
        options.weight = Some("none".to_owned());
        options.weights_dropped = true;
    }
    let format = request.entry.format.reader();
    let (own, beside) = read_format_and_arrays(format, files)?;
    let mut found = (format.read_within)(&own, &options, &edge_limit(context))?;
    if let Some(path) = beside.iter().find(|path| side_files::has_features_of_edges(path)) {
        let edges =
            found.spilled.as_ref().map_or(found.graph.edges.len() as u64, |spilled| spilled.edges);
        let bytes = 4 * edges * side_files::columns_of_edges(path)?;
        if !edge_limit(context).admits(bytes) {
            return Err(features_have_to_fit(path, bytes));
        }
    }
    note_large_weights(format.name, &mut found)?;
    let used = side_files::attach_within(&mut found, &beside)?;
    if request.entry.inferred || request.program.is_some() {
        let unused =
            beside.iter().filter(|path| !used.contains(path)).filter_map(|path| path.file_name());
        found.graph.passed_over.extend(unused.map(|name| {
            format!(
                "the file `{}` (arrays of other names than `features`, `labels` and so on)",
                name.to_string_lossy()
            )
        }));
    }
    Ok(found)
}

/// Reads the files of the format, and the arrays beside them.
fn read_format_and_arrays(
    format: &Format,
    files: &[PathBuf],
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Box<ReadError>> {
    let Some(own) = format.recognised(&FileHeads::new(files))? else {
        return Ok((files.to_vec(), Vec::new()));
    };
    Ok(files
        .iter()
        .cloned()
        .partition(|path| own.contains(path) || !side_files::may_stand_beside(path)))
}

fn generate_stand_in(
    context: &Context,
    request: &IngestRequest,
) -> Result<SourceGraph, StageError> {
    let missing = || {
        StageError::new(
            ErrorKind::Input,
            format!("`{}` is not here, and it has no stand-in", request.entry.name),
        )
    };
    let recipe = request.entry.stand_in.ok_or_else(missing)?;
    synthetic_source::generate_planted(context, request, &recipe, Provenance::StandIn)
}

#[cfg(test)]
mod tests;
