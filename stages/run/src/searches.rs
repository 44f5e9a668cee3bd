//! searches: runs a program once from each vertex of `run.sources`, over one loaded graph.
//!
//! promises  the values of each search are those of a run of its own, to the bit; between two
//!           searches only the input of the vertex setting changes: nothing is loaded, compiled or
//!           uploaded again; the values of one search are in memory, those before it are written
//! never     saves a state: a stop ends the whole run, and the same command begins it again
use std::time::Instant;

use rayon::prelude::*;
use serde_json::{Value, json};
use warploom_contract::{
    Context, ErrorKind, Outputs, StageError,
    kinds::{
        graph::Ids,
        run::{MedianSearch, SearchRecord},
    },
    progress::Progress,
};
use warploom_ir::Input;
use warploom_launch::{Body, LaunchList, Role};
use warploom_shell::{requests::RunRequest, search_sources, signals};

use crate::{
    backend::Backend,
    buffers::{OutputSlice, Place},
    checkpoints::Checkpoints,
    host_state::HostState,
    inputs::{input_data::format_id, vertices},
    iteration::{self, IterationOutcome},
    precision::Precision,
    results::search_blocks::SearchBlocks,
    training::history::median,
};

/// A search that has ended.
#[derive(Clone, Debug)]
pub struct Search {
    /// The data set's own id of the vertex that it started from.
    pub source: Value,
    /// Seconds from setting the source to the results.
    pub seconds: f64,
    /// How it ended.
    pub outcome: IterationOutcome,
}

/// Refuses a plan that cannot be searched from several vertices.
pub fn refuse_other_plans(list: &LaunchList, request: &RunRequest) -> Result<(), StageError> {
    let learns = matches!(list.body, Body::Train(_));
    search_sources::refuse_learning(&request.spec, &list.program, learns)?;
    let results = list.results.iter();
    search_sources::refuse_results(
        &request.spec,
        results.map(|result| (result.name.as_str(), result.edges.is_some())),
    )
}

/// Runs all searches, in the order of the sources, and writes their values.
pub fn run_searches<T: Precision>(
    context: &Context,
    outputs: &mut Outputs,
    list: &LaunchList,
    request: &RunRequest,
    backend: &mut dyn Backend<T>,
    checkpoints: &mut Checkpoints,
) -> Result<Vec<Search>, StageError> {
    let none = || StageError::defect("searches without a source");
    let sources = request.sources().ok_or_else(none)?;
    let rows = vertices::find_source_rows(sources, &backend.host().data.ids)?;
    let mut blocks = SearchBlocks::new(outputs);
    let mut searches: Vec<Search> = Vec::with_capacity(rows.len());
    context.progress.begin("searching", rows.len() as u64, "searches");
    let inner = Context { progress: &WarningsOnly(context.progress), ..*context };
    let mut earlier = None;
    for &row in &rows {
        let at = SearchPlace { number: searches.len() + 1, count: rows.len() };
        if context.stop.is_set() {
            return Err(at.stop_error());
        }
        let begun = Instant::now();
        earlier = set_source(list, &sources.setting, row, earlier, backend)?;
        let outcome = iteration::iterate(&inner, list, &request.spec, backend, checkpoints)
            .map_err(|error| {
                at.explain(error, &format_id(&backend.host().data.ids, row as usize))
            })?;
        backend.fetch_results()?;
        let seconds = begun.elapsed().as_secs_f64();
        blocks.write(backend.host(), row as usize)?;
        searches.push(Search { source: id_value(&backend.host().data.ids, row), seconds, outcome });
        signals::record_steps_done(searches.len() as u64);
        context.progress.advance(1);
    }
    context.progress.end();
    blocks.finish(outputs, backend.host(), rows.len() as u64)?;
    Ok(searches)
}

/// What a record has of the searches, and their medians.
pub fn search_records(searches: &[Search]) -> (Vec<SearchRecord>, Option<MedianSearch>) {
    let record = |search: &Search| SearchRecord {
        source: search.source.clone(),
        supersteps: search.outcome.supersteps,
        supersteps_of_loops: search.outcome.supersteps_of_loops.clone(),
        courses: search.outcome.courses.clone(),
        converged: search.outcome.converged,
        seconds: search.seconds,
    };
    let median_of = |value: fn(&Search) -> f64| median(searches.iter().map(value).collect());
    let medians = MedianSearch {
        supersteps: median_of(|search| search.outcome.supersteps as f64),
        seconds: median_of(|search| search.seconds),
    };
    (searches.iter().map(record).collect(), (!searches.is_empty()).then_some(medians))
}

/// Sets the input of the vertex setting to one row of the node table; gives its row here, from
/// which the next search takes it. A program that does not use its setting has no such input.
fn set_source<T: Precision>(
    list: &LaunchList,
    setting: &str,
    source: u64,
    earlier: Option<usize>,
    backend: &mut dyn Backend<T>,
) -> Result<Option<usize>, StageError> {
    let is_chosen =
        |role: &Role| matches!(role, Role::Given(Input::Chosen(chosen)) if chosen == setting);
    let input = list.buffers.iter().find(|buffer| is_chosen(&buffer.role));
    let HostState { program, data, buffers, .. } = backend.host_mut();
    let place = input.and_then(|buffer| program.places.get(&buffer.name));
    let row = match &data.old_of_new {
        None => Some(source as usize),
        Some(old_of_new) => old_of_new.par_iter().position_any(|&old| u64::from(old) == source),
    };
    if let (Some(&place @ Place::Whole(_)), Some(row)) = (place, row) {
        buffers.write_all(&[place], false, |made, _| {
            for made in made {
                let OutputSlice::Whole(values) = made else { continue };
                match earlier {
                    Some(earlier) => values[earlier] = 0,
                    None => values.fill(0),
                }
                values[row] = 1;
            }
        });
    }
    backend.begin_again(input.map(|buffer| buffer.name.as_str()))?;
    Ok(row)
}

/// The data set's own id of a node, as a record has it: a number or a word.
pub fn id_value(ids: &Ids, row: u64) -> Value {
    match ids {
        Ids::Numbers(ids) => json!(ids[row as usize]),
        Ids::Strings(ids) => json!(ids[row as usize]),
    }
}

/// The number of a search, from 1.
#[derive(Clone, Copy)]
struct SearchPlace {
    number: usize,
    count: usize,
}

impl SearchPlace {
    /// The error of a run that a signal stopped in this search, or before it.
    fn stop_error(self) -> StageError {
        signals::stop_error(&format!(
            "in search {} of {}; nothing of a run with `{}` is kept before its last search has \
             ended. The same command begins the run again",
            self.number,
            self.count,
            search_sources::SOURCES
        ))
    }

    /// An error of this search with its source.
    fn explain(self, mut error: StageError, source: &str) -> StageError {
        if matches!(error.kind, ErrorKind::Interrupted | ErrorKind::Stopped) {
            return self.stop_error();
        }
        let SearchPlace { number, count } = self;
        error.what = format!("search {number} of {count}, from `{source}`: {}", error.what);
        error
    }
}

/// Progress of a single search: warnings are shown, and the searches are counted outside.
struct WarningsOnly<'a>(&'a dyn Progress);

impl Progress for WarningsOnly<'_> {
    fn begin(&self, _: &str, _: u64, _: &'static str) {}
    fn advance(&self, _: u64) {}
    fn note(&self, text: &str) {
        self.0.note(text);
    }
    fn end(&self) {}
    fn warn(&self, text: &str) {
        self.0.warn(text);
    }
}
