//! Where a graph comes from: the reader of its format, or the generator.
//!
//! promises  a graph as listed, untransformed; a stand-in is announced with a notice that cannot be overlooked
use warploom_catalog::Source;
use warploom_contract::{Context, ErrorKind, Provenance, StageError};
use warploom_shell::requests::IngestRequest;
use warploom_spec::Ids;

use crate::generate::communities::{self, Recipe};
use warploom_formats::raw::{NodeIds, RawGraph, ReadError};

/// What was read or made.
pub struct Read {
    /// As listed.
    pub graph: RawGraph,
    /// Real or stand-in.
    pub provenance: Provenance,
    /// Communities that the generator planted.
    pub community: Option<Vec<u32>>,
}

/// Reads the files, or makes the stand-in.
pub fn read(context: &Context, request: &IngestRequest) -> Result<Read, StageError> {
    match &request.source {
        Source::Real { files, .. } => {
            let bytes = files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|facts| facts.len()).sum();
            context.progress.begin("reading", bytes, "bytes");
            let graph = read_files(request, files).map_err(|error| read_error(&error))?;
            context.progress.advance(bytes);
            Ok(Read { graph, provenance: Provenance::Real, community: None })
        }
        Source::StandIn { why } => {
            context.progress.warn(&format!(
                "`{0}` is a STAND-IN: a generated graph with its counts, because {why}\n         results say nothing about the real data; get them with  warploom data fetch {0}",
                request.entry.name
            ));
            stand_in(context, request)
        }
    }
}

fn read_files(request: &IngestRequest, files: &[std::path::PathBuf]) -> Result<RawGraph, Box<ReadError>> {
    let mut options = request.entry.read.clone();
    match request.spec.ids {
        Ids::Auto => {}
        Ids::Number => options.ids = warploom_formats::Ids::Number,
        Ids::String => options.ids = warploom_formats::Ids::String,
    }
    (request.entry.format.reader().read)(files, &options)
}

/// A reader's error as the stage's.
fn read_error(error: &ReadError) -> StageError {
    let kind = match error.io {
        Some(std::io::ErrorKind::StorageFull) => ErrorKind::DiskFull,
        Some(_) => ErrorKind::Input,
        None => ErrorKind::Data,
    };
    let mut converted = StageError::new(kind, error.what.clone()).at(error.location());
    converted.detail = error.detail();
    converted.hint = (!error.hint.is_empty()).then(|| error.hint.clone());
    converted
}

fn stand_in(context: &Context, request: &IngestRequest) -> Result<Read, StageError> {
    let missing = || StageError::new(ErrorKind::Input, format!("`{}` is not here, and it has no stand-in", request.entry.name));
    let recipe = request.entry.stand_in.ok_or_else(missing)?;
    context.progress.begin("generating", recipe.edges, "edges");
    let made = communities::generate(&Recipe {
        nodes: recipe.nodes,
        edges: recipe.edges,
        symmetric: recipe.symmetric,
        max_degree: recipe.max_degree,
        community: recipe.community,
        inside: recipe.inside,
        seed: recipe.seed ^ request.spec.seed,
    });
    let made = made.map_err(|error| StageError::new(ErrorKind::Specification, format!("the stand-in of `{}`: {error}", request.entry.name)))?;
    context.progress.advance(recipe.edges);
    let graph = RawGraph { ids: NodeIds::Count(recipe.nodes), edges: made.edges, directed: Some(!recipe.symmetric), ..RawGraph::default() };
    Ok(Read { graph, provenance: Provenance::StandIn, community: Some(made.community) })
}
