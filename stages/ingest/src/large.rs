//! The way of a graph whose edges do not fit the memory that may be used: from the list in a file by way of sorted runs to the artifact.
//!
//! promises  the same bytes as the way in memory
//! never     does what needs all edges at once: components, inverse relations, degrees as features, anything made up. That is an error
//!           that says what to leave out, or how much memory would do
use warploom_contract::{
    Context, ErrorKind, Kind, Outputs, Provenance, StageError,
    kinds::graph::{EdgeTable, EdgeWriter},
    parquet_file::ROW_GROUP,
};
use warploom_formats::{edge_list::Spilled, raw::RawGraph};
use warploom_shell::requests::IngestRequest;
use warploom_spec::{Features, Weights};

use crate::{
    kinds, source, target,
    transform::{
        Counts, Duplicates,
        external::{Runs, Stored},
    },
    write,
};

/// Bytes an edge that the way in memory takes at its peak.
const BYTES_IN_MEMORY: u64 = 24;

/// Sorts, merges and writes.
pub fn ingest(context: &Context, outputs: &mut Outputs, request: &IngestRequest, mut graph: RawGraph, spilled: &Spilled) -> Result<(), StageError> {
    target::compare_holds(request, &graph)?;
    refuse_what_needs_all_edges(request, &graph, spilled)?;
    let options = target::options(request, &graph);
    let weighted = match request.spec.weights {
        Weights::Keep => spilled.weighted,
        Weights::Drop => false,
        Weights::One => true,
    };
    let counts = if weighted || options.duplicates == Duplicates::Sum {
        let ones = request.spec.weights == Weights::One || !spilled.weighted;
        sort_and_write(context, outputs, request, graph.nodes(), spilled, |weight| if ones { 1.0 } else { weight })?
    } else {
        sort_and_write(context, outputs, request, graph.nodes(), spilled, |_| ())?
    };
    target::compare_counts(request, graph.nodes(), spilled.edges, Some(&counts))?;
    if request.spec.relabel {
        graph.ids = warploom_formats::raw::NodeIds::Count(graph.nodes());
    }
    let made_up = target::fill_in(request, &mut graph, None)?;
    let (provenance, made_up) = source::provenance(request, Provenance::Real, made_up);
    outputs.set_provenance(provenance, made_up);
    outputs.fact(Kind::Graph, "task", target::task(&graph));
    write::write_all_but_edges(outputs, &mut graph)
}

fn refuse_what_needs_all_edges(request: &IngestRequest, graph: &RawGraph, spilled: &Spilled) -> Result<(), StageError> {
    let (spec, made_up) = (&request.spec, &request.entry.made_up);
    let lacks_features = graph.features.is_none() && graph.node_labels.is_none();
    let asked = [
        (spec.largest_component, "ingest.largest_component"),
        (spec.inverse_relations, "ingest.inverse_relations"),
        (kinds::rule(request).is_some(), "ingest.entity_types"),
        (!spec.keep_classes.is_empty(), "ingest.keep_classes"),
        (matches!(spec.features, Features::Degree | Features::Random), "ingest.features: degree or random"),
        (spec.features == Features::Auto && lacks_features && made_up.features > 0, "made-up features"),
        (graph.labels.is_none() && made_up.classes > 0, "made-up labels"),
    ];
    let Some((_, what)) = asked.into_iter().find(|(asked, _)| *asked) else { return Ok(()) };
    let needed = spilled.edges * BYTES_IN_MEMORY * 2 / (1 << 20) + 64;
    let message = format!("{} edges do not fit the memory that may be used, and {what} would need all of them at once", spilled.edges);
    let hint = if what.starts_with("made-up") { "or leave it out:  --set ingest.features=none" } else { "or leave it out" };
    Err(StageError::new(ErrorKind::Specification, message).hint(format!("allow  --memory {needed}MiB  {hint}")))
}

/// Runs of sorted edges, merged into `edges.parquet`.
fn sort_and_write<C: Stored + Weight>(
    context: &Context,
    outputs: &mut Outputs,
    request: &IngestRequest,
    nodes: u32,
    spilled: &Spilled,
    carried: impl Fn(f32) -> C,
) -> Result<Counts, StageError> {
    let folder = context.store.root();
    let fault = |error: std::io::Error| StageError::io("write beside", folder, &error);
    let options = target::options(request, &RawGraph::default());
    let mut runs = Runs::<C>::new(nodes, options, context.memory, folder).map_err(fault)?;
    context.progress.begin("sorting", spilled.edges, "edges");
    spilled.each(|source, target, weight| runs.push(source, target, carried(weight))).map_err(|error| source::read_error(&error))?;
    context.progress.begin("merging", spilled.edges, "edges");
    let mut writer = EdgeWriter::create(outputs, C::WEIGHTED, false)?;
    let mut group = EdgeTable::default();
    let counts = runs.merge(|source, target, carried: C| -> Result<(), Fault> {
        group.source.push(source);
        group.target.push(target);
        carried.add_to(&mut group.weight);
        if group.source.len() == ROW_GROUP {
            context.progress.advance(ROW_GROUP as u64);
            writer.write(std::mem::take(&mut group))?;
        }
        Ok(())
    });
    let counts = counts.map_err(|error| match error {
        Fault::Stage(error) => error,
        Fault::Io(error) => fault(error),
    })?;
    if C::WEIGHTED && group.weight.is_none() {
        group.weight = Some(Vec::new());
    }
    writer.write(group)?;
    writer.finish(outputs)?;
    Ok(counts)
}

/// What can fail while merging.
enum Fault {
    Stage(StageError),
    Io(std::io::Error),
}

impl From<StageError> for Fault {
    fn from(error: StageError) -> Self {
        Fault::Stage(error)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Fault::Io(error)
    }
}

/// What becomes of what an edge carries in the table.
trait Weight {
    const WEIGHTED: bool;
    fn add_to(self, column: &mut Option<Vec<f32>>);
}

impl Weight for () {
    const WEIGHTED: bool = false;
    fn add_to(self, _: &mut Option<Vec<f32>>) {}
}

impl Weight for f32 {
    const WEIGHTED: bool = true;

    fn add_to(self, column: &mut Option<Vec<f32>>) {
        column.get_or_insert_default().push(self);
    }
}

/// Facts of the manifest that both ways write.
pub fn facts(outputs: &mut Outputs, request: &IngestRequest, graph: &RawGraph, provenance: Provenance) {
    outputs.fact(Kind::Graph, "dataset", request.entry.name.clone());
    outputs.fact(Kind::Graph, "format", if provenance == Provenance::Real { request.entry.format.as_str() } else { "generated" });
    outputs.fact(Kind::Graph, "task", target::task(graph));
    if !graph.passed_over.is_empty() {
        outputs.fact(Kind::Graph, "passed_over", graph.passed_over.clone());
    }
}
