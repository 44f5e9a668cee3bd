//! ingest: the stage that reads raw files, or generates a stand-in, into a graph with features,
//! labels and splits.
//!
//! reads     raw files of a data set, or what a program of the user's makes of them
//! writes    graph
//! promises  the data set's own ids, sorted; counts that the catalogue expects
//! never     downloads (the chain of keys decides where data come from); publishes a graph whose
//!           counts differ from the catalogue's; draws synthetic data without a notice
//! limits    nodes < 2^32 - 1; memory for nodes and features once, and 33 bytes for each edge, 50
//!           with weights; beyond `--memory` edges are sorted on disk, and those of most formats
//!           are also read so
mod check;
pub mod fill;
pub mod generate;
mod memory_limit;
pub mod node_kinds;
mod out_of_core;
mod program;
mod reading;
mod relations;
mod requested_graph;
mod source;
mod subset;
pub mod transform;
mod union;
mod write;

use program::WrittenGraph;
use requested_graph::FilledGraph;
use warploom_contract::{Context, Contract, Inputs, Kind, Outputs, Stage, StageError, Violation};
use warploom_shell::{StageName, requests::IngestRequest};

/// The description in the help of its binary.
pub const ABOUT: &str =
    "Read raw files, or generate a stand-in, into a graph with features and labels";

/// The stage.
pub struct Ingest;

impl Stage for Ingest {
    type Request = IngestRequest;
    const CONTRACT: Contract = StageName::Ingest.contract();

    fn run(
        context: &Context,
        outputs: &mut Outputs,
        _inputs: &Inputs,
        request: &IngestRequest,
    ) -> Result<(), StageError> {
        requested_graph::refuse_shares(request)?;
        let Some(written) = program::run(context, outputs, request)? else {
            return build_graph(context, outputs, request, None);
        };
        build_graph(context, outputs, &written.request, Some(&written))
            .map_err(|error| written.explain(error))?;
        written.remove()
    }

    /// Reads the artifact back and tests the properties that its settings ask for, edge by edge
    /// with sets.
    fn check(
        _context: &Context,
        outputs: &Inputs,
        _inputs: &Inputs,
        request: &IngestRequest,
    ) -> Result<(), Violation> {
        check::graph_keeps_settings(outputs.get(Kind::Graph)?, request)
    }
}

/// Builds the graph of a request, whose files a program may have written.
fn build_graph(
    context: &Context,
    outputs: &mut Outputs,
    request: &IngestRequest,
    written: Option<&WrittenGraph>,
) -> Result<(), StageError> {
    let read = source::read_source(context, request)?;
    written.map_or(Ok(()), |written| written.refuse_unread(&read.graph))?;
    out_of_core::write_facts(outputs, request, &read);
    if let Some(graphs) =
        read.graph.graphs.as_ref().filter(|_| request.union && request.needs.node_labels)
    {
        context.progress.say(&union::union_notice(&request.entry.name, graphs.len()));
    }
    let mut narrowed = requested_graph::narrow_graph(request, read)?;
    if let Some(spilled) = out_of_core::spilled_edges(context, &mut narrowed)? {
        return out_of_core::ingest_spilled(context, outputs, request, narrowed, &spilled);
    }
    let found = narrowed.provenance;
    let FilledGraph { mut graph, made_up, short } =
        requested_graph::transform_and_fill(context, request, narrowed)?;
    out_of_core::write_split_facts(outputs, &short);
    let (provenance, made_up) = source::provenance(request, found, made_up);
    outputs.set_provenance(provenance, made_up);
    outputs.fact(Kind::Graph, "task", requested_graph::learning_task(&graph, request.union));
    if let Some(own_names) = node_kinds::make_names_plain(&mut graph) {
        outputs.fact(Kind::Graph, "kinds", own_names);
    }
    write::write_graph(outputs, graph, context.progress)
}
