//! The way of a graph whose edges do not fit the memory that may be used: from a list in a file by way of sorted runs to the artifact.
//!
//! promises  the same bytes as the way in memory
//! never     does what needs all sorted edges at once: anything made up of communities. That is an error that says what to leave out, or how
//!           much memory would do; so are kinds of edges that never were in memory. Components and degrees cost 8 and 4 bytes a node
use warploom_contract::{
    Context, ErrorKind, Kind, Outputs, Provenance, StageError,
    kinds::graph::{EdgeTable, EdgeWriter},
    parquet_file::ROW_GROUP,
};
use warploom_formats::{
    raw::{RawGraph, ReadError},
    spill::{Edge, Spilled},
};
use warploom_shell::requests::{IngestRequest, read_error};
use warploom_spec::Weights;

use crate::{
    kinds, source, subset,
    target::{self, Filled, Narrowed},
    transform::{
        self, Counts, Duplicates,
        external::{Runs, Stored},
    },
    write,
};

/// The edges, where they do not fit the memory that may be used: those that were read that way, or that are held and take too much to be
/// sorted.
pub fn edges(context: &Context, request: &IngestRequest, narrowed: &mut Narrowed) -> Result<Option<Spilled>, StageError> {
    let limit = source::limit(context);
    let edges = &narrowed.graph.edges;
    if narrowed.spilled.is_none() && limit.admits(edges.bytes()) {
        return Ok(None);
    }
    let (count, bytes) = narrowed.spilled.as_ref().map_or((edges.len() as u64, edges.bytes()), |spilled| (spilled.edges, bytes(spilled)));
    let needed = if edges.features.is_some() { Some("their features") } else { None };
    let needed = needed.or(target::needs_sorted_edges(request, &narrowed.graph, narrowed.community.is_some()));
    if let Some(what) = needed {
        return Err(refuse(count, bytes, what));
    }
    if narrowed.spilled.is_none() {
        let edges = std::mem::take(&mut narrowed.graph.edges);
        narrowed.spilled = Some(Spilled::of(edges, &limit).map_err(|error| read_error(&error))?);
    }
    Ok(narrowed.spilled.take())
}

/// Bytes that the edges would take in memory.
fn bytes(spilled: &Spilled) -> u64 {
    spilled.edges * (8 + 4 * u64::from(spilled.weighted) + 2 * u64::from(spilled.typed))
}

/// Sorts, merges and writes.
pub fn ingest(context: &Context, outputs: &mut Outputs, request: &IngestRequest, mut narrowed: Narrowed, spilled: &Spilled) -> Result<(), StageError> {
    let sorting = Sorting { context, spilled, inverse: narrowed.inverse, nodes: narrowed.graph.nodes(), relations: narrowed.graph.relations.len() };
    let options = target::options(request, &narrowed.graph);
    let weighted = match request.spec.weights {
        Weights::Keep => spilled.weighted,
        Weights::Drop => false,
        Weights::One => true,
    };
    let mut in_degrees = target::needs_degrees(request, &narrowed.graph).then(|| vec![0u32; narrowed.graph.nodes() as usize]);
    let counts = if weighted || options.duplicates == Duplicates::Sum {
        let ones = request.spec.weights != Weights::Keep || !spilled.weighted;
        sorting.sort_and_write(outputs, options, in_degrees.as_mut(), |weight| if ones { 1.0 } else { weight })?
    } else {
        sorting.sort_and_write(outputs, options, in_degrees.as_mut(), |_| ())?
    };
    narrowed.compare_counts(request, &counts)?;
    narrowed.graph.edges = Default::default();
    narrowed.in_degrees = in_degrees;
    let found = narrowed.provenance;
    let Filled { mut graph, made_up, short } = target::filled_in(context, request, narrowed)?;
    split_facts(outputs, &short);
    let (provenance, made_up) = source::provenance(request, found, made_up);
    outputs.set_provenance(provenance, made_up);
    outputs.fact(Kind::Graph, "task", target::task(&graph));
    if let Some(own_names) = kinds::name_plainly(&mut graph) {
        outputs.fact(Kind::Graph, "kinds", own_names);
    }
    write::write_all_but_edges(outputs, &mut graph)
}

/// The nodes that are to stay, and the edges between them: these are gone through once for the components and once to be counted. Kinds
/// of types need all edges at once, and are refused.
pub fn parts_that_stay(request: &IngestRequest, mut graph: RawGraph, mut spilled: Spilled) -> Result<(RawGraph, Spilled), StageError> {
    let fault = |error: Box<ReadError>| read_error(&error);
    if kinds::rule(request).is_some() {
        return Err(refuse(spilled.edges, bytes(&spilled), "ingest.entity_types"));
    }
    if let Some(stays) = target::of_kept_classes(request, &graph)? {
        spilled = spilled.only(subset::new_rows(&stays)).map_err(fault)?;
        graph = subset::keep(graph, &stays);
    }
    if request.spec.largest_component {
        let mut components = subset::Components::new(graph.nodes());
        let join = |edge: Edge| {
            components.join(edge.source, edge.target);
            Ok(())
        };
        spilled.each(join).map_err(fault)?;
        let stays = components.largest();
        spilled = spilled.only(subset::new_rows(&stays)).map_err(fault)?;
        graph = subset::keep(graph, &stays);
    }
    Ok((graph, spilled))
}

fn refuse(edges: u64, bytes: u64, what: &str) -> StageError {
    let needed = 4 * bytes / (1 << 20) + 64;
    let message = format!("{edges} edges do not fit the memory that may be used, and {what} would need all of them at once");
    let hint = if what.starts_with("made-up") { "or leave it out:  --set ingest.features=none" } else { "or leave it out" };
    StageError::new(ErrorKind::Specification, message).hint(format!("allow  --memory {needed}MiB  {hint}"))
}

/// Edges on their way from the file to the artifact.
struct Sorting<'a> {
    context: &'a Context<'a>,
    spilled: &'a Spilled,
    inverse: Option<u16>,
    nodes: u32,
    relations: usize,
}

impl Sorting<'_> {
    /// Runs of sorted edges, merged into `edges.parquet`; how many end at each node is counted by the way.
    fn sort_and_write<C: Stored + Weight>(
        &self,
        outputs: &mut Outputs,
        options: transform::Options,
        mut in_degrees: Option<&mut Vec<u32>>,
        carried: impl Fn(f32) -> C,
    ) -> Result<Counts, StageError> {
        let Sorting { context, spilled, .. } = self;
        let limit = source::limit(context);
        let fault = |error: std::io::Error| StageError::io("write beside", &limit.folder, &error);
        let layout = transform::layout(self.nodes, self.relations, spilled.typed, &options).map_err(target::transform_error)?;
        let mut runs = Runs::<C>::new(layout, self.nodes, options, &limit).map_err(fault)?;
        context.progress.begin("sorting", spilled.edges, "edges");
        let push = |edge: Edge| {
            let carried = carried(edge.weight);
            runs.push(edge, carried)?;
            match self.inverse {
                Some(first) => runs.push(Edge { source: edge.target, target: edge.source, relation: edge.relation + first, ..edge }, carried),
                None => Ok(()),
            }
        };
        spilled.each(push).map_err(|error| read_error(&error))?;
        context.progress.begin("merging", spilled.edges, "edges");
        let mut writer = EdgeWriter::create(outputs, C::WEIGHTED, spilled.typed)?;
        let empty = || EdgeTable { kind: spilled.typed.then(Vec::new), weight: C::WEIGHTED.then(Vec::new), ..EdgeTable::default() };
        let mut group = empty();
        let counts = runs.merge(|source, target, relation, carried: C| -> Result<(), Fault> {
            if let Some(degrees) = in_degrees.as_mut() {
                degrees[target as usize] = degrees[target as usize].saturating_add(1);
            }
            group.source.push(source);
            group.target.push(target);
            group.kind.iter_mut().for_each(|kind| kind.push(relation));
            group.weight.iter_mut().for_each(|weight| weight.push(carried.weight()));
            if group.source.len() == ROW_GROUP {
                context.progress.advance(ROW_GROUP as u64);
                writer.write(std::mem::replace(&mut group, empty()))?;
            }
            Ok(())
        });
        let counts = counts.map_err(|error| match error {
            Fault::Stage(error) => error,
            Fault::Io(error) => fault(error),
        })?;
        writer.write(group)?;
        writer.finish(outputs)?;
        Ok(counts)
    }
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

/// What an edge carries, as a column of the table.
trait Weight: Copy {
    const WEIGHTED: bool;
    fn weight(self) -> f32;
}

impl Weight for () {
    const WEIGHTED: bool = false;

    fn weight(self) -> f32 {
        1.0
    }
}

impl Weight for f32 {
    const WEIGHTED: bool = true;

    fn weight(self) -> f32 {
        self
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

/// The fact of the manifest that says where a split is shorter than it should be; also for both ways.
pub fn split_facts(outputs: &mut Outputs, short: &[String]) {
    if !short.is_empty() {
        outputs.fact(Kind::Graph, "split_short", short.to_vec());
    }
}
