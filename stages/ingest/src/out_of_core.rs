//! out_of_core: ingests a graph whose edges exceed the memory limit: from a list in a file through
//! sorted runs to the artifact.
//!
//! promises  the same bytes as in memory
//! promises  components take 8 bytes for each node, degrees 4, communities 32: for these the edges
//!           are sorted once more in both directions, and scanned in rounds
//! promises  edge features are gathered row by row while edges are merged, in a file of their own
//! never     holds the features of more than one group of edges
//! bounds    `--memory`, at least `MEMORY_LEAST`, beside the data of nodes; a smaller value gives a
//!           warning
//! bounds    gathered features are mapped while they are written, in pages that the system may
//!           reclaim (3 M edges with 8 features, in both directions, under `--memory 64MiB`: 29 MiB
//!           private memory, 216 MiB with such pages)
use std::{
    fs::File,
    io::{BufWriter, Write},
};
use warploom_contract::{
    Context, Kind, Outputs, Provenance, StageError,
    kinds::graph::{EdgeTable, EdgeWriter, write_edge_features_of},
    parquet_file::ROWS_WRITTEN,
    progress::{Advance, Phase},
};
use warploom_formats::out_of_core::{Edge, FeatureRows, Limit, Spilled};
use warploom_shell::requests::{IngestRequest, read_error};
use warploom_spec::Weights;

use crate::{
    fill,
    memory_limit::{MEMORY_LEAST, edge_limit},
    node_kinds,
    reading::SourceGraph,
    requested_graph::{self, FilledGraph, NarrowedGraph, transform_error},
    source,
    transform::{
        self, Counts, Duplicates, ListedEdge, NOT_LISTED,
        external_sort::{Runs, Stored},
    },
    write,
};

/// The edges in a file, if they exceed the memory limit: they were read so, or are held and take
/// too much memory to be sorted.
pub fn spilled_edges(
    context: &Context,
    narrowed: &mut NarrowedGraph,
) -> Result<Option<Spilled>, StageError> {
    let limit = edge_limit(context);
    let edges = &narrowed.graph.edges;
    if narrowed.spilled.is_none() && limit.admits(edges.bytes()) {
        return Ok(None);
    }
    if context.memory < MEMORY_LEAST {
        let least = MEMORY_LEAST >> 20;
        context.progress.warn(&format!(
            "--memory is less than ingest takes for itself: up to {least} MiB are used, and what \
             belongs to the nodes"
        ));
    }
    if narrowed.spilled.is_none() {
        let edges = std::mem::take(&mut narrowed.graph.edges);
        narrowed.spilled =
            Some(Spilled::write_edges(edges, &limit).map_err(|error| read_error(&error))?);
    }
    Ok(narrowed.spilled.take())
}

/// Sorts, merges and writes the edges.
pub fn ingest_spilled(
    context: &Context,
    outputs: &mut Outputs,
    request: &IngestRequest,
    mut narrowed: NarrowedGraph,
    spilled: &Spilled,
) -> Result<(), StageError> {
    let options = requested_graph::transform_options(request, &narrowed.graph);
    // The multiplicity of an unweighted edge is a sum of ones.
    let weighted = options.duplicates == Duplicates::Sum
        || match request.spec.weights {
            Weights::Keep => spilled.weighted,
            Weights::Drop => false,
            Weights::One => true,
        };
    let (inverse, nodes, relations) =
        (narrowed.inverse, narrowed.graph.nodes(), narrowed.graph.relations.len());
    let sorting = SpilledSort { context, spilled, inverse, nodes, relations, weighted };
    let mut neighbours = sorting.new_neighbour_writer(request, &narrowed)?;
    let mut in_degrees = requested_graph::needs_degrees(request, &narrowed.graph)
        .then(|| vec![0u32; narrowed.graph.nodes() as usize]);
    let ones = request.spec.weights != Weights::Keep || !spilled.weighted;
    let weight = |edge: &Edge| if ones { 1.0 } else { edge.weight };
    let (degrees, lists) = (in_degrees.as_mut(), neighbours.as_mut());
    let counts = if spilled.features.is_some() {
        if spilled.edges >= u64::from(NOT_LISTED) {
            return Err(transform_error(transform::TransformError::TooManyWithFeatures));
        }
        sorting.sort_and_write(outputs, options, degrees, lists, |edge| ListedEdge {
            weight: weight(edge),
            at: edge.at as u32,
        })?
    } else if sorting.weighted {
        sorting.sort_and_write(outputs, options, degrees, lists, weight)?
    } else {
        sorting.sort_and_write(outputs, options, degrees, lists, |_| ())?
    };
    narrowed.compare_counts(request, &counts)?;
    narrowed.graph.edges = Default::default();
    narrowed.in_degrees = in_degrees;
    if let Some(neighbours) = neighbours {
        context.progress.begin("looking for communities", 0, "nodes");
        let limit = edge_limit(context);
        let found = neighbours
            .communities(request.spec.seed, &limit, &|nodes| context.progress.advance(nodes));
        narrowed.community =
            Some(found.map_err(|error| StageError::io("write beside", &limit.folder, &error))?);
    }
    let found = narrowed.provenance;
    let FilledGraph { mut graph, made_up, short } =
        requested_graph::fill_graph(context, request, narrowed)?;
    write_split_facts(outputs, &short);
    let (provenance, made_up) = source::provenance(request, found, made_up);
    outputs.set_provenance(provenance, made_up);
    outputs.fact(Kind::Graph, "task", requested_graph::learning_task(&graph, request.union));
    if let Some(own_names) = node_kinds::make_names_plain(&mut graph) {
        outputs.fact(Kind::Graph, "kinds", own_names);
    }
    let writing = Phase::begin(context.progress, "writing", u64::from(graph.nodes()), "nodes")
        .passes(write::TABLES);
    write::write_all_but_edges(outputs, &mut graph, &|nodes| writing.add(nodes))
}

/// The external sort of edges from the file to the artifact.
struct SpilledSort<'a> {
    context: &'a Context<'a>,
    spilled: &'a Spilled,
    inverse: Option<u16>,
    nodes: u32,
    relations: usize,
    weighted: bool,
}

impl SpilledSort<'_> {
    /// A writer of neighbours, if communities are needed.
    fn new_neighbour_writer(
        &self,
        request: &IngestRequest,
        narrowed: &NarrowedGraph,
    ) -> Result<Option<Neighbours>, StageError> {
        let has_community = narrowed.community.is_some();
        let is_wanted = requested_graph::needs_communities(request, &narrowed.graph, has_community);
        is_wanted.then(|| self.new_neighbours()).transpose()
    }

    /// New runs for the edges as undirected pairs.
    fn new_neighbours(&self) -> Result<Neighbours, StageError> {
        let limit = edge_limit(self.context);
        let options = transform::Options { symmetrize: true, ..transform::Options::default() };
        let layout =
            transform::key_layout(self.nodes, 0, false, &options).map_err(transform_error)?;
        let runs = Runs::new(layout, self.nodes, options, &limit)
            .map_err(|error| StageError::io("write beside", &limit.folder, &error))?;
        Ok(Neighbours { runs, nodes: self.nodes })
    }

    /// Sorts edges into runs and merges them into `edges.parquet`; also counts in-degrees.
    fn sort_and_write<C: Stored + WeightedPayload>(
        &self,
        outputs: &mut Outputs,
        options: transform::Options,
        mut in_degrees: Option<&mut Vec<u32>>,
        mut neighbours: Option<&mut Neighbours>,
        carried: impl Fn(&Edge) -> C,
    ) -> Result<Counts, StageError> {
        let SpilledSort { context, spilled, .. } = self;
        let limit = edge_limit(context);
        let fault = |error: std::io::Error| StageError::io("write beside", &limit.folder, &error);
        let layout = transform::key_layout(self.nodes, self.relations, spilled.typed, &options)
            .map_err(transform_error)?;
        let mut runs = Runs::<C>::new(layout, self.nodes, options, &limit).map_err(fault)?;
        context.progress.begin("sorting", spilled.edges, "edges");
        let mut pushed = 0u64;
        let push = |edge: Edge| {
            pushed += 1;
            if pushed.is_multiple_of(ROWS_WRITTEN as u64) {
                context.progress.advance(ROWS_WRITTEN as u64);
            }
            let carried = carried(&edge);
            runs.push(edge, carried)?;
            match self.inverse {
                Some(first) => runs.push(
                    Edge {
                        source: edge.target,
                        target: edge.source,
                        relation: edge.relation + first,
                        ..edge
                    },
                    carried,
                ),
                None => Ok(()),
            }
        };
        spilled.each(push).map_err(|error| read_error(&error))?;
        context.progress.begin("merging", spilled.edges, "edges");
        let mut writer = EdgeWriter::create(outputs, self.weighted, spilled.typed)?;
        let empty = || EdgeTable {
            kind: spilled.typed.then(Vec::new),
            weight: self.weighted.then(Vec::new),
            ..EdgeTable::default()
        };
        let mut group = empty();
        let mut features = spilled
            .features
            .as_ref()
            .map(|rows| FeatureGatherer::new(rows, &limit))
            .transpose()
            .map_err(fault)?;
        let counts = runs.merge(|source, target, relation, carried: C| -> Result<(), MergeError> {
            if let Some(degrees) = in_degrees.as_mut() {
                degrees[target as usize] = degrees[target as usize].saturating_add(1);
            }
            if let Some(neighbours) = neighbours.as_mut() {
                neighbours.push(source, target)?;
            }
            features.iter_mut().try_for_each(|features| features.push(carried.place()))?;
            group.source.push(source);
            group.target.push(target);
            group.kind.iter_mut().for_each(|kind| kind.push(relation));
            group.weight.iter_mut().for_each(|weight| weight.push(carried.weight()));
            if group.source.len() == ROWS_WRITTEN {
                writer.write(std::mem::replace(&mut group, empty()), &|edges| {
                    context.progress.advance(edges)
                })?;
            }
            Ok(())
        });
        let counts = counts.map_err(|error| match error {
            MergeError::Stage(error) => error,
            MergeError::Io(error) => fault(error),
        })?;
        if let Some(features) = features {
            let columns = features.rows.columns as usize;
            write_edge_features_of(outputs, columns, &features.finish().map_err(fault)?)?;
        }
        writer.write(group, &|_| {})?;
        writer.finish(outputs)?;
        Ok(counts)
    }
}

/// The edges with their reverses, in runs of their own, for the communities of synthetic data.
struct Neighbours {
    runs: Runs<()>,
    nodes: u32,
}

impl Neighbours {
    fn push(&mut self, source: u32, target: u32) -> std::io::Result<()> {
        self.runs.push(Edge { source, target, relation: 0, weight: 1.0, at: 0 }, ())
    }

    /// The same communities as for edges in memory.
    fn communities(
        self,
        seed: u64,
        limit: &Limit,
        advance: Advance<'_>,
    ) -> std::io::Result<Vec<u32>> {
        let mut list = fill::communities::NeighbourWriter::new(self.nodes, limit)?;
        self.runs.merge(|source, target, _, ()| list.push(source, target))?;
        fill::communities::find_from_neighbours(
            &list.finish()?,
            requested_graph::COMMUNITY,
            seed,
            advance,
        )
    }
}

/// Errors while merging.
enum MergeError {
    Stage(StageError),
    Io(std::io::Error),
}

impl From<StageError> for MergeError {
    fn from(error: StageError) -> Self {
        MergeError::Stage(error)
    }
}

impl From<std::io::Error> for MergeError {
    fn from(error: std::io::Error) -> Self {
        MergeError::Io(error)
    }
}

/// Writes the features of edges in merge order to an unnamed temporary file.
struct FeatureGatherer<'a> {
    rows: &'a FeatureRows,
    row: Vec<u8>,
    zeros: Vec<u8>,
    file: BufWriter<File>,
}

impl<'a> FeatureGatherer<'a> {
    fn new(rows: &'a FeatureRows, limit: &Limit) -> std::io::Result<FeatureGatherer<'a>> {
        let file = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(&limit.folder)?);
        Ok(FeatureGatherer { rows, row: vec![0; rows.width()], zeros: vec![0; rows.width()], file })
    }

    /// Adds the row of the edge at this place in the list; zeros for an added edge.
    fn push(&mut self, place: u32) -> std::io::Result<()> {
        if place == NOT_LISTED {
            return self.file.write_all(&self.zeros);
        }
        self.rows.read(place.into(), &mut self.row)?;
        self.file.write_all(&self.row)
    }

    fn finish(self) -> std::io::Result<File> {
        self.file.into_inner().map_err(std::io::IntoInnerError::into_error)
    }
}

/// The payload of an edge in the sort.
trait WeightedPayload: Copy {
    fn weight(self) -> f32;

    /// Its place in the list.
    fn place(self) -> u32 {
        NOT_LISTED
    }
}

impl WeightedPayload for () {
    fn weight(self) -> f32 {
        1.0
    }
}

impl WeightedPayload for f32 {
    fn weight(self) -> f32 {
        self
    }
}

impl WeightedPayload for ListedEdge {
    fn weight(self) -> f32 {
        self.weight
    }

    fn place(self) -> u32 {
        self.at
    }
}

/// Facts of the manifest, in memory and out of core.
pub fn write_facts(outputs: &mut Outputs, request: &IngestRequest, read: &SourceGraph) {
    let SourceGraph { graph, provenance, report, .. } = read;
    outputs.fact(Kind::Graph, "dataset", request.entry.name.clone());
    outputs.fact(
        Kind::Graph,
        "format",
        if *provenance == Provenance::Real { request.entry.format.as_str() } else { "generated" },
    );
    outputs.fact(Kind::Graph, "task", requested_graph::learning_task(graph, request.union));
    if !graph.passed_over.is_empty() {
        outputs.fact(Kind::Graph, "passed_over", graph.passed_over.clone());
    }
    if !report.is_empty() {
        outputs.fact(Kind::Graph, "columns", report.clone());
    }
    if !graph.notes.is_empty() {
        outputs.fact(Kind::Graph, "notes", graph.notes.clone());
    }
}

/// The fact of the manifest with shortages of the split, in memory and out of core.
pub fn write_split_facts(outputs: &mut Outputs, short: &[String]) {
    if !short.is_empty() {
        outputs.fact(Kind::Graph, "split_short", short.to_vec());
    }
}
