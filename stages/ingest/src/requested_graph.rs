//! requested_graph: from a graph as listed to the requested one: transforms edges, and fills in
//! what a run needs.
//!
//! promises  counts of the catalogue are compared before anything is written; all synthetic data of
//!           a real graph is in the returned list (a stand-in is synthetic as a whole, as its
//!           provenance says)
use warploom_catalog::{
    Source,
    digests::RECORD_FILE,
    entry::{ExpectedCounts, Recipe, SplitRule},
};
use warploom_contract::{
    Context, ErrorKind, Provenance, StageError,
    progress::{Advance, Phase},
};
use warploom_shell::requests::{IngestRequest, read_error};
use warploom_spec::{self as spec, Symmetrize};

use crate::{
    fill::{
        self,
        split::{ClassCounts, Fractions},
    },
    node_kinds,
    reading::SourceGraph,
    relations, subset,
    transform::{self, Counts, Duplicates, SelfLoops},
};
use warploom_formats::{
    out_of_core::{Edge, Spilled},
    raw_graph::{Features, Labels, NO_CLASS, NodeIds, RawGraph},
    read_error::ReadError,
};

/// Columns of synthetic features if neither catalogue nor data say.
const WIDTH: u32 = 16;
/// Mean size of a community of a real graph.
pub const COMMUNITY: u32 = 128;
/// Word for a row of graph labels.
const GRAPH: &str = "graph";
/// Name of synthetic node labels where graphs have their own labels.
const NODE_LABELS: &str = "node_labels";
/// Number of passes over all nodes while filling in.
const FILLINGS: u64 = 3;
/// Most lines of a notice.
const LINES_SHOWN: usize = 6;
/// Largest one-hot degree; higher ones count as this.
const DEGREE_MOST: u32 = 255;

/// The part of a graph that stays, with its edges as listed and earlier counts.
pub struct NarrowedGraph {
    /// The graph, without edges if these are in a file.
    pub graph: RawGraph,
    /// The edges in a file, if they exceed the memory limit.
    pub spilled: Option<Spilled>,
    /// The number of the first inverse relation, if edges in a file get inverses.
    pub inverse: Option<u16>,
    /// Real or stand-in.
    pub provenance: Provenance,
    /// Communities that the generator planted.
    pub community: Option<Vec<u32>>,
    /// In-degree of each node, if the sorted edges are in a file and features need it.
    pub in_degrees: Option<Vec<u32>>,
    listed_nodes: u32,
    listed: u64,
}

/// Removes what was not requested from the graph.
pub fn narrow_graph(
    request: &IngestRequest,
    read: SourceGraph,
) -> Result<NarrowedGraph, StageError> {
    let SourceGraph { mut graph, provenance, community, mut spilled, .. } = read;
    let (listed_nodes, listed) =
        (graph.nodes(), spilled.as_ref().map_or(graph.edges.len() as u64, |spilled| spilled.edges));
    if provenance == Provenance::Real {
        compare_contents(request, &graph)?;
    }
    let mut inverse = None;
    if let Some(listed) = spilled.take() {
        let stays;
        (graph, stays) = select_parts(request, graph, listed)?;
        let spilled = spilled.insert(stays);
        if request.spec.inverse_relations {
            let named = if spilled.typed {
                relations::name_inverses(&mut graph.relations)
            } else {
                Err(relations::InverseError::NoRelations)
            };
            inverse = Some(named.map_err(|refused| inverse_error(request, refused))?);
        }
    } else {
        graph = narrow_listed_edges(request, graph)?;
    }
    if request.spec.relabel {
        graph.ids = NodeIds::Count(graph.nodes());
    }
    // Planted communities are indexed by row.
    let community = community.filter(|_| graph.nodes() == listed_nodes);
    Ok(NarrowedGraph {
        graph,
        spilled,
        inverse,
        provenance,
        community,
        in_degrees: None,
        listed_nodes,
        listed,
    })
}

/// Selects the nodes that stay, and the edges between them: edges are scanned once for components
/// and once to be counted, and for node types a few more times.
pub fn select_parts(
    request: &IngestRequest,
    mut graph: RawGraph,
    mut spilled: Spilled,
) -> Result<(RawGraph, Spilled), StageError> {
    let fault = |error: Box<ReadError>| read_error(&error);
    if let Some(rule) = node_kinds::kind_rule(request) {
        (graph, spilled) = node_kinds::assign_kinds_from_file(graph, spilled, &rule).map_err(
            |error| match error {
                node_kinds::FileKindsError::Refused(refused) => kinds_error(request, refused),
                node_kinds::FileKindsError::Read(error) => read_error(&error),
            },
        )?;
    }
    if let Some(stays) = nodes_of_kept_classes(request, &graph)? {
        spilled = spilled.keep_nodes(subset::new_rows(&stays)).map_err(fault)?;
        graph = subset::keep_nodes(graph, &stays);
    }
    if request.spec.largest_component {
        let mut components = subset::Components::new(graph.nodes());
        let join = |edge: Edge| {
            components.join(edge.source, edge.target);
            Ok(())
        };
        spilled.each(join).map_err(fault)?;
        let stays = components.largest();
        spilled = spilled.keep_nodes(subset::new_rows(&stays)).map_err(fault)?;
        graph = subset::keep_nodes(graph, &stays);
    }
    Ok((graph, spilled))
}

impl NarrowedGraph {
    /// Compares with the counts of the catalogue; `counts` are of the sorted edges.
    pub fn compare_counts(
        &self,
        request: &IngestRequest,
        counts: &Counts,
    ) -> Result<(), StageError> {
        if self.provenance != Provenance::Real {
            return Ok(());
        }
        let whole = counts.listed == self.listed && self.graph.nodes() == self.listed_nodes;
        compare_counts(request, self.listed_nodes, self.listed, whole.then_some(counts))
    }
}

/// Refuses shares of a split with a sum above 1.
pub fn refuse_shares(request: &IngestRequest) -> Result<(), StageError> {
    let Some(spec::Split::Fractions(rule)) = &request.spec.split else { return Ok(()) };
    let sum = rule.train + rule.validation + rule.test;
    if sum <= 1.0 + 1e-9 {
        return Ok(());
    }
    let what = format!(
        "ingest.split: the shares of train, validation and test sum to {sum:.3}, and there is no \
         more than 1"
    );
    Err(StageError::new(ErrorKind::Specification, what).hint(
        "for example  --set 'ingest.split={fractions: {train: 0.6, validation: 0.2, test: 0.2}}'",
    ))
}

/// A graph with labels, features and splits.
pub struct FilledGraph {
    /// The graph.
    pub graph: RawGraph,
    /// Synthetic data of a real graph.
    pub made_up: Vec<String>,
    /// Shortages of the split, a line each.
    pub short: Vec<String>,
}

/// Transforms the edges and fills in missing data.
pub fn transform_and_fill(
    context: &Context,
    request: &IngestRequest,
    mut narrowed: NarrowedGraph,
) -> Result<FilledGraph, StageError> {
    let edges = std::mem::take(&mut narrowed.graph.edges);
    let options = transform_options(request, &narrowed.graph);
    let nodes = narrowed.graph.nodes();
    let sorting = Phase::begin(context.progress, "sorting", edges.len() as u64, "edges")
        .passes(transform::passes(&options));
    let transformed = transform::transform_with_progress(
        edges,
        nodes,
        narrowed.graph.relations.len(),
        &options,
        &|edges| sorting.add(edges),
    )
    .map_err(transform_error)?;
    drop(sorting);
    narrowed.compare_counts(request, &transformed.counts)?;
    narrowed.graph.edges = transformed.edges;
    fill_graph(context, request, narrowed)
}

/// Prints which data of a real graph are synthetic: because it has none and the program reads them,
/// or because other features were requested.
fn announce_made_up(
    context: &Context,
    request: &IngestRequest,
    had_features: bool,
    made_up: &[String],
) {
    let name = &request.entry.name;
    let (replaced, lacking): (Vec<String>, Vec<String>) =
        made_up.iter().cloned().partition(|what| had_features && what == "features");
    let lacking = request.needs.filter_made_up(&lacking);
    if !replaced.is_empty() {
        context.progress.warn(&format!(
            "`{name}` has features, and they are ignored: those of `ingest.features: random` \
             are MADE UP from communities of the real graph"
        ));
    }
    if !lacking.is_empty() {
        context.progress.warn(&format!(
            "`{name}` has no {}: they are MADE UP from communities of the real graph",
            lacking.join(" and no ")
        ));
    }
}

/// Fills in missing labels, features and splits.
pub fn fill_graph(
    context: &Context,
    request: &IngestRequest,
    narrowed: NarrowedGraph,
) -> Result<FilledGraph, StageError> {
    let NarrowedGraph { mut graph, provenance, community, in_degrees, .. } = narrowed;
    let had_features = graph.features.is_some();
    let community = community.or_else(|| find_communities(context, request, &graph));
    let filling = Phase::begin(
        context.progress,
        "filling in labels, features and splits",
        u64::from(graph.nodes()),
        "nodes",
    )
    .passes(FILLINGS);
    let (made_up, short) =
        fill_missing(request, &mut graph, community, in_degrees, &|nodes| filling.add(nodes))?;
    drop(filling);
    if let Err(broken) = graph.validate() {
        return Err(StageError::defect(format!("ingest built an invalid graph: {broken}")));
    }
    if !short.is_empty() {
        context.progress.warn(&format!(
            "`{}`: the split has fewer rows than requested: {}",
            request.entry.name,
            first_lines(&short)
        ));
    }
    if provenance != Provenance::Real {
        return Ok(FilledGraph { graph, made_up: Vec::new(), short });
    }
    announce_made_up(context, request, had_features, &made_up);
    if request.needs.features
        && graph.features.is_none()
        && graph.kinds.is_none()
        && request.spec.features == spec::Features::Auto
    {
        let nodes = graph.nodes();
        context.progress.say(&format!(
            "`{}`: no features: a program that reads them gets a column for each node (one-hot, \
             {nodes})",
            request.entry.name
        ));
    }
    Ok(FilledGraph { graph, made_up, short })
}

/// The first lines; the manifest has them all.
fn first_lines(lines: &[String]) -> String {
    let more = lines.len().saturating_sub(LINES_SHOWN);
    let shown = lines[..lines.len().min(LINES_SHOWN)].join("; ");
    if more == 0 { shown } else { format!("{shown}; and {more} more, which the manifest names") }
}

/// Communities of a graph in memory, if synthetic data need them.
fn find_communities(
    context: &Context,
    request: &IngestRequest,
    graph: &RawGraph,
) -> Option<Vec<u32>> {
    needs_communities(request, graph, false).then(|| {
        context.progress.begin("looking for communities", 0, "nodes");
        fill::communities::find(
            &graph.edges,
            graph.nodes(),
            COMMUNITY,
            request.spec.seed,
            &|nodes| context.progress.advance(nodes),
        )
    })
}

/// Fills in missing labels, features and splits, by communities and in-degrees where these are
/// known already; returns what is synthetic, and shortages of the split.
fn fill_missing(
    request: &IngestRequest,
    graph: &mut RawGraph,
    community: Option<Vec<u32>>,
    in_degrees: Option<Vec<u32>>,
    advance: Advance<'_>,
) -> Result<(Vec<String>, Vec<String>), StageError> {
    let nodes = u64::from(graph.nodes());
    let mut filler = Filler {
        request,
        community,
        in_degrees,
        made_up: Vec::new(),
        short: Vec::new(),
        seed: request.spec.seed,
    };
    filler.fill_labels(graph);
    advance(nodes);
    filler.fill_features(graph, advance)?;
    filler.fill_splits(graph);
    advance(nodes);
    // Synthetic rows have unit scale around 0: they are not normalised by row sums.
    let given = !filler.made_up.iter().any(|what| what == "features");
    if given && request.spec.normalize == spec::Normalize::Row {
        graph.features.iter_mut().for_each(fill::features::normalize_rows);
        graph
            .kinds
            .iter_mut()
            .flat_map(|kinds| &mut kinds.features)
            .flatten()
            .for_each(fill::features::normalize_rows);
    }
    Ok((filler.made_up, filler.short))
}

/// Selects the part of the graph that stays, with the requested relations and weights.
fn narrow_listed_edges(
    request: &IngestRequest,
    mut graph: RawGraph,
) -> Result<RawGraph, StageError> {
    let spec = &request.spec;
    if let Some(rule) = node_kinds::kind_rule(request) {
        graph = node_kinds::assign_kinds(graph, &rule)
            .map_err(|refused| kinds_error(request, refused))?;
    }
    if let Some(stays) = nodes_of_kept_classes(request, &graph)? {
        graph = subset::keep_nodes(graph, &stays);
    }
    if spec.largest_component {
        let stays = subset::largest_component(&graph.edges, graph.nodes());
        graph = subset::keep_nodes(graph, &stays);
    }
    if spec.inverse_relations {
        relations::add_inverses(&mut graph).map_err(|refused| inverse_error(request, refused))?;
    }
    match spec.weights {
        spec::Weights::Keep => {}
        spec::Weights::Drop => graph.edges.weight = None,
        spec::Weights::One => graph.edges.weight = Some(vec![1.0; graph.edges.len()]),
    }
    Ok(graph)
}

/// Which nodes have a class of `ingest.keep_classes`; none: all stay.
pub fn nodes_of_kept_classes(
    request: &IngestRequest,
    graph: &RawGraph,
) -> Result<Option<Vec<bool>>, StageError> {
    let (name, wanted, labels) =
        (&request.entry.name, &request.spec.keep_classes, graph.labels.as_ref());
    if wanted.is_empty() {
        return Ok(None);
    }
    subset::nodes_of_classes(labels, wanted)
        .map(Some)
        .map_err(|what| classes_error(name, labels, &what))
}

fn classes_error(name: &str, labels: Option<&Labels>, what: &str) -> StageError {
    let error = StageError::new(
        ErrorKind::Specification,
        format!("`ingest.keep_classes` of `{name}`: {what}"),
    );
    match labels {
        // As JSON, which is valid YAML: names with commas and colons are quoted.
        Some(Labels::Classes { names, .. }) => {
            let some = serde_json::to_string(&names[..names.len().min(2)]).unwrap_or_default();
            error.hint(format!(
                "name classes as the data have them:  --set 'ingest.keep_classes={some}'"
            ))
        }
        _ => error.hint("leave out  ingest.keep_classes"),
    }
}

fn inverse_error(request: &IngestRequest, refused: relations::InverseError) -> StageError {
    let refuse = |what: String| StageError::new(ErrorKind::Specification, what);
    match refused {
        relations::InverseError::NoRelations => refuse(format!(
            "`ingest.inverse_relations`, and edges of `{}` have no relations",
            request.entry.name
        ))
        .hint("for a reverse of each edge without relations add  --set ingest.symmetrize=true"),
        relations::InverseError::TooMany(count) => refuse(format!(
            "`ingest.inverse_relations`: twice {count} relations are more than 65535"
        )),
    }
}

pub fn kinds_error(request: &IngestRequest, refused: node_kinds::KindsError) -> StageError {
    let name = &request.entry.name;
    let refuse = |what: String| {
        StageError::new(
            ErrorKind::Specification,
            format!("`ingest.entity_types` of `{name}`: {what}"),
        )
    };
    let some = |names: &[String]| match names {
        [] => "none".to_owned(),
        _ => names
            .iter()
            .take(12)
            .cloned()
            .chain((names.len() > 12).then(|| format!("{} more", names.len() - 12)))
            .collect::<Vec<_>>()
            .join(", "),
    };
    match refused {
        node_kinds::KindsError::OwnKinds(names) => {
            refuse(format!("its nodes have types already: {}", some(&names)))
                .hint("leave out  ingest.entity_types")
        }
        node_kinds::KindsError::NoRelation(..)
            if matches!(request.source, Source::StandIn { .. }) =>
        {
            refuse("its stand-in has no types of entities".to_owned())
                .hint(format!("get the real files with  {}", request.entry.download_hint()))
        }
        node_kinds::KindsError::NoRelation(relation, known) => refuse(format!(
            "no relation is called `{relation}`: expected one of {}",
            some(&known)
        ))
        .hint(
            "name the relation:  --set 'ingest.entity_types={relation: NAME}' , or put a table of \
             types beside triples: entity2type.txt",
        ),
        node_kinds::KindsError::SeveralRelations(relation, known) => {
            refuse(format!("several relations end in `{relation}`: {}", some(&known)))
                .hint("write its full name:  ingest.entity_types.relation")
        }
        node_kinds::KindsError::NoType(wanted, known) => refuse(format!(
            "no node has the type `{wanted}` of `order`: expected some of {}",
            some(&known)
        )),
        node_kinds::KindsError::TooMany(count) => {
            refuse(format!("expected at most 65535 types, found {count}"))
        }
    }
}

/// The error of a transform that is refused, in terms of the settings.
pub fn transform_error(refused: transform::TransformError) -> StageError {
    let refuse = |what: String| StageError::new(ErrorKind::Specification, what);
    match refused {
        transform::TransformError::TooMany { nodes, relations } => refuse(format!(
            "{nodes} nodes and {relations} relations are too many at once: expected at most 64 \
             bits for two nodes and a relation"
        )),
        transform::TransformError::LoopOfNoRelation => refuse(
            "self loops were to be added, and edges have relations: an added loop would belong to \
             none"
                .to_owned(),
        )
        .hint("leave out  ingest.self_loops"),
        transform::TransformError::TooManyWithFeatures => {
            refuse("expected at most 4294967294 edges with features, found more".to_owned())
        }
    }
}

/// The transform of the edges. A file with half of a symmetric matrix always gets the other half,
/// whatever the settings.
pub fn transform_options(request: &IngestRequest, graph: &RawGraph) -> transform::Options {
    let wanted = match request.spec.symmetrize {
        // In a folder without a catalogue entry only the format may say it.
        Symmetrize::Auto if request.entry.inferred => graph.directed == Some(false),
        Symmetrize::Auto => request.entry.symmetrize,
        Symmetrize::True => true,
        Symmetrize::False => false,
    };
    let symmetrize = wanted || graph.halved;
    let self_loops = match request.spec.self_loops {
        spec::SelfLoops::Keep => SelfLoops::Keep,
        spec::SelfLoops::Drop => SelfLoops::Drop,
        spec::SelfLoops::Add => SelfLoops::Add,
        spec::SelfLoops::Replace => SelfLoops::Replace,
    };
    let duplicates = match request.spec.duplicates {
        spec::Duplicates::Keep => Duplicates::Keep,
        spec::Duplicates::Merge => Duplicates::Merge,
        spec::Duplicates::Sum => Duplicates::Sum,
        spec::Duplicates::Min => Duplicates::Min,
        spec::Duplicates::Max => Duplicates::Max,
        spec::Duplicates::First => Duplicates::First,
    };
    transform::Options { symmetrize, self_loops, duplicates }
}

/// Compares graphs, features, classes and relations with the counts of the catalogue.
fn compare_contents(request: &IngestRequest, graph: &RawGraph) -> Result<(), StageError> {
    let holds = &request.entry.holds;
    let labels =
        graph.graphs.as_ref().map_or(graph.labels.as_ref(), |graphs| graphs.labels.as_ref());
    let (classes, labelled) = match labels {
        Some(Labels::Classes { class, names }) => {
            (names.len(), class.iter().filter(|&&class| class != NO_CLASS).count())
        }
        Some(Labels::Rows { columns, values }) => (
            *columns as usize,
            values
                .chunks((*columns).max(1) as usize)
                .filter(|row| row.iter().any(|value| !value.is_nan()))
                .count(),
        ),
        Some(Labels::Values(values)) => (0, values.iter().filter(|value| !value.is_nan()).count()),
        None => (0, 0),
    };
    let features = graph.features.as_ref().map_or(0, |features| u64::from(features.columns()));
    let found = [
        ("graphs", holds.graphs, graph.graphs.as_ref().map_or(0, |graphs| graphs.len() as u64)),
        (
            "feature columns",
            holds.features.filter(|_| graph.kinds.is_none()).map(u64::from),
            features,
        ),
        ("classes", holds.classes.map(u64::from), classes as u64),
        ("labelled rows", holds.labelled, labelled as u64),
        ("relations", holds.relations.map(u64::from), graph.relations.len() as u64),
    ];
    match found
        .into_iter()
        .find(|(_, expected, found)| expected.is_some_and(|expected| expected != *found))
    {
        Some((what, Some(expected), found)) => {
            Err(count_mismatch_error(request, what, expected, found))
        }
        _ => Ok(()),
    }
}

fn count_mismatch_error(
    request: &IngestRequest,
    what: &str,
    expected: u64,
    found: u64,
) -> StageError {
    let message = format!(
        "`{}` is not the data set of the catalogue: expected {expected} {what}, found {found}",
        request.entry.name
    );
    // Existing files are not downloaded again, so they must be removed first.
    let (place, gone) = match &request.source {
        Source::Real { folder, files } => {
            let shown = |path: &std::path::Path| path.display().to_string();
            let gone: Vec<String> = files
                .iter()
                .map(|file| shown(file))
                .chain([shown(&folder.join(RECORD_FILE))])
                .collect();
            (
                files.first().map(|file| shown(file)).unwrap_or_default(),
                format!("rm -f {}  and  ", gone.join(" ")),
            )
        }
        _ => (String::new(), String::new()),
    };
    let name = &request.entry.name;
    let hint = format!(
        "to fetch it again:  {gone}warploom data fetch {name};  or put the file under another name \
         with a catalogue entry of its own"
    );
    let own = format!("correct the program, or the counts of the entry  {}", request.entry.place);
    let hint = if request.program.is_some() { own } else { hint };
    StageError::new(ErrorKind::Data, message).at(place).hint(hint)
}

/// Compares edge counts with those of the catalogue; `counts` are those of the whole graph, if no
/// part was removed.
fn compare_counts(
    request: &IngestRequest,
    nodes: u32,
    edges: u64,
    counts: Option<&Counts>,
) -> Result<(), StageError> {
    let ExpectedCounts { nodes: expected_nodes, listed, distinct, symmetric } =
        request.entry.expected;
    let found = [
        ("nodes", expected_nodes, Some(u64::from(nodes))),
        ("listed edges", listed, Some(edges)),
        ("distinct edges", distinct, counts.map(|counts| counts.distinct)),
        ("edges after symmetrising", symmetric, counts.and_then(|counts| counts.symmetric)),
    ];
    for (what, expected, found) in found {
        if let (Some(expected), Some(found)) = (expected, found)
            && expected != found
        {
            return Err(count_mismatch_error(request, what, expected, found));
        }
    }
    Ok(())
}

/// The learning task of a graph, as in manifests.
pub fn learning_task(graph: &RawGraph, union: bool) -> &'static str {
    let of_graphs =
        graph.graphs.as_ref().filter(|_| !union).and_then(|graphs| graphs.labels.as_ref());
    let binary = |values: &[f32]| {
        values.iter().all(|value| value.is_nan() || *value == 0.0 || *value == 1.0)
    };
    match (of_graphs, graph.labels.as_ref()) {
        (Some(Labels::Classes { .. }), _) => "graph_classification",
        (Some(Labels::Rows { values, .. }), _) if binary(values) => {
            "graph_multi_label_classification"
        }
        (Some(Labels::Values(_) | Labels::Rows { .. }), _) => "graph_regression",
        (None, Some(Labels::Classes { .. })) => "node_classification",
        (None, Some(Labels::Rows { values, .. })) if binary(values) => {
            "node_multi_label_classification"
        }
        (None, Some(Labels::Values(_) | Labels::Rows { .. })) => "node_regression",
        (None, None) => "none",
    }
}

/// Whether synthetic data need communities found in the edges. `planted`: they are known already.
pub fn needs_communities(request: &IngestRequest, graph: &RawGraph, planted: bool) -> bool {
    use spec::Features as Wanted;
    let filler = Filler {
        request,
        community: None,
        in_degrees: None,
        made_up: Vec::new(),
        short: Vec::new(),
        seed: request.spec.seed,
    };
    let labels = !filler.is_labelled(graph) && filler.class_count() > 0;
    let given = graph.features.is_some()
        || graph.node_labels.as_ref().and_then(fill::features::one_hot_label).is_some();
    let features = match request.spec.features {
        _ if graph.kinds.is_some() => false,
        Wanted::Random => true,
        Wanted::Auto => !given && filler.feature_width() > 0,
        _ => false,
    };
    !planted && (labels || features)
}

/// Whether features are in-degrees, so that edges in a file have to be counted.
pub fn needs_degrees(request: &IngestRequest, graph: &RawGraph) -> bool {
    use spec::Features as Wanted;
    let given = graph.features.is_some()
        || graph.node_labels.as_ref().and_then(fill::features::one_hot_label).is_some();
    graph.kinds.is_none()
        && (request.spec.features == Wanted::Degree
            || request.spec.features == Wanted::Auto && !given && graph.graphs.is_some())
}

/// Fills in missing data.
struct Filler<'a> {
    request: &'a IngestRequest,
    /// Planted communities, or those found in the real graph when first needed.
    community: Option<Vec<u32>>,
    /// In-degrees of edges in a file.
    in_degrees: Option<Vec<u32>>,
    made_up: Vec<String>,
    short: Vec<String>,
    seed: u64,
}

impl Filler<'_> {
    /// The class of each node's community.
    fn planted_classes(&mut self, graph: &RawGraph, classes: u32) -> Vec<u32> {
        let seed = self.seed;
        let community = self.community.get_or_insert_with(|| {
            fill::communities::find(&graph.edges, graph.nodes(), COMMUNITY, seed, &|_| {})
        });
        fill::labels::planted_classes(community, classes.max(1))
    }

    /// One-hot in-degree features.
    fn degree_features(&mut self, graph: &RawGraph) -> Features {
        let degrees = self
            .in_degrees
            .take()
            .unwrap_or_else(|| fill::features::in_degrees(&graph.edges, graph.nodes()));
        fill::features::degree(&degrees, DEGREE_MOST)
    }

    /// The recipe, if the graph is a stand-in.
    fn recipe(&self) -> Option<Recipe> {
        self.request
            .entry
            .stand_in
            .filter(|_| matches!(self.request.source, Source::StandIn { .. }))
    }

    /// Number of classes of synthetic labels.
    fn class_count(&self) -> u32 {
        let entry = &self.request.entry;
        let own = self.recipe().map_or(entry.made_up.classes, |recipe| recipe.classes);
        // Nodes of a union have as many classes as its graphs.
        if own == 0 && self.request.union { entry.holds.classes.unwrap_or(2) } else { own }
    }

    /// Number of columns of synthetic features.
    fn feature_width(&self) -> u32 {
        self.recipe().map_or(self.request.entry.made_up.features, |recipe| recipe.features)
    }

    /// Whether there are labels: nodes of a union need their own, else labels of graphs are enough.
    fn is_labelled(&self, graph: &RawGraph) -> bool {
        let of_graphs = graph.graphs.as_ref().is_some_and(|graphs| graphs.labels.is_some());
        graph.labels.is_some() || of_graphs && !self.request.union
    }

    fn fill_labels(&mut self, graph: &mut RawGraph) {
        let classes = self.class_count();
        if self.is_labelled(graph) || classes == 0 {
            return;
        }
        let planted = self.planted_classes(graph, classes);
        graph.labels = Some(fill::labels::add_label_noise(&planted, classes, self.seed));
        // A run that learns graph labels does not use synthetic node labels.
        let graphs_are_labelled =
            graph.graphs.as_ref().is_some_and(|graphs| graphs.labels.is_some());
        self.made_up.push(if graphs_are_labelled { NODE_LABELS } else { "labels" }.to_owned());
    }

    /// Nodes of several types have their own features, or none.
    fn fill_kind_features(&self, graph: &mut RawGraph) -> Result<(), StageError> {
        use spec::Features as Wanted;
        let Some(kinds) = &mut graph.kinds else { return Ok(()) };
        match self.request.spec.features {
            Wanted::Auto | Wanted::Given => Ok(()),
            Wanted::None => {
                kinds.features.fill(None);
                graph.features = None;
                Ok(())
            }
            other => {
                let (name, names) = (&self.request.entry.name, kinds.names.join(", "));
                let what = format!(
                    "`ingest.features: {other}` is for nodes of one kind, and `{name}` has {names}"
                );
                let hint = "leave it out: kinds without features get a row of parameters for each \
                            node";
                Err(StageError::new(ErrorKind::Specification, what).hint(hint))
            }
        }
    }

    fn fill_features(
        &mut self,
        graph: &mut RawGraph,
        advance: Advance<'_>,
    ) -> Result<(), StageError> {
        use spec::Features as Wanted;
        let name = &self.request.entry.name;
        let refuse = |what: String| {
            StageError::new(ErrorKind::Specification, what)
                .hint("let them be made:  --set ingest.features=random")
        };
        let wanted = self.request.spec.features;
        if graph.kinds.is_some() {
            return self.fill_kind_features(graph);
        }
        let width = self.feature_width();
        let one_hot = graph.node_labels.as_ref().and_then(fill::features::one_hot_label);
        let given = std::mem::take(&mut graph.features);
        graph.features = match (wanted, given, one_hot) {
            (Wanted::None, ..) => None,
            (Wanted::Auto, Some(given), Some(one_hot)) => {
                Some(fill::features::concat_columns(given, one_hot))
            }
            (Wanted::Auto, given @ Some(_), None) | (Wanted::Given, given @ Some(_), _) => given,
            (Wanted::Auto, None, one_hot @ Some(_))
            | (Wanted::OneHotLabel, _, one_hot @ Some(_)) => one_hot,
            (Wanted::Given, None, _) => {
                return Err(refuse(format!(
                    "`ingest.features: given`, and `{name}` has no features"
                )));
            }
            (Wanted::OneHotLabel, _, None) => {
                return Err(refuse(format!(
                    "`ingest.features: one_hot_label`, and `{name}` has no node labels beside what \
                     is learned"
                )));
            }
            (Wanted::Auto, None, None) if graph.graphs.is_some() && width == 0 => {
                Some(self.degree_features(graph))
            }
            (Wanted::Auto, None, None) if width == 0 => None,
            (Wanted::Degree, ..) => Some(self.degree_features(graph)),
            (Wanted::Constant, ..) => Some(fill::features::constant(graph.nodes(), 1)),
            (Wanted::Auto | Wanted::Random, ..) => {
                let classes = match &graph.labels {
                    Some(Labels::Classes { names, .. }) => names.len() as u32,
                    _ => 1,
                };
                let planted = self.planted_classes(graph, classes);
                self.made_up.push("features".to_owned());
                Some(fill::features::draw_around_classes(
                    &planted,
                    if width == 0 { WIDTH } else { width },
                    self.seed,
                    advance,
                ))
            }
        };
        self.made_up.sort();
        Ok(())
    }

    /// Fills in the splits of labelled rows: of nodes, of graphs, or of both.
    fn fill_splits(&mut self, graph: &mut RawGraph) {
        let nodes = graph.nodes();
        if let Some(graphs) = graph.graphs.as_mut().filter(|graphs| graphs.labels.is_some()) {
            let rows = graphs.len() as u32;
            self.fill_split(graphs.labels.as_ref(), rows, &mut graphs.splits, GRAPH);
            if graph.labels.is_none() {
                return;
            }
        }
        self.fill_split(graph.labels.as_ref(), nodes, &mut graph.splits, "node");
    }

    fn fill_split(
        &mut self,
        labels: Option<&Labels>,
        rows: u32,
        splits: &mut Vec<Vec<u8>>,
        of: &str,
    ) {
        let seed = self.seed;
        let published = !splits.is_empty();
        let Some(labels) = labels else {
            if self.request.spec.split.is_some() && !published {
                self.short.push(format!("there are no labels, so no {of} is in a part"));
            }
            return;
        };
        let Some(rule) = split_rule(self.request, published, of) else { return };
        let (drawn, short) = match rule {
            Rule::PerClass(rule) => {
                let split = fill::split::split_per_class(labels, rows, &rule, seed);
                let short = fill::split::shortages(labels, &split, &rule, of);
                (vec![split], short)
            }
            Rule::Fractions(rule) => {
                let split = vec![fill::split::split_by_fractions(labels, rows, &rule, seed)];
                let short = fill::split::empty_parts(
                    &split,
                    [rule.train, rule.validation, rule.test].map(|share| share > 0.0),
                    of,
                );
                (split, short)
            }
            Rule::Folds(count) => {
                let splits = fill::split::split_into_folds(labels, rows, count, seed);
                let empty = fill::split::empty_parts(&splits, [true; 3], of);
                let short = fill::split::small_classes(labels, count, of)
                    .into_iter()
                    .chain(empty)
                    .collect();
                (splits, short)
            }
            Rule::Usual => {
                let split = vec![fill::split::split_by_default(labels, rows, seed)];
                let short = fill::split::empty_parts(&split, [true; 3], of);
                (split, short)
            }
        };
        *splits = drawn;
        self.short.extend(short);
    }
}

/// How a split is drawn.
enum Rule {
    PerClass(ClassCounts),
    Fractions(Fractions),
    Folds(u32),
    Usual,
}

/// How the split is drawn, if it is; `of` is what has the labels: nodes or graphs.
fn split_rule(request: &IngestRequest, published: bool, of: &str) -> Option<Rule> {
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Some(match (&request.spec.split, request.entry.split) {
        (Some(spec::Split::PerClass(rule)), _) => Rule::PerClass(ClassCounts {
            train: narrow(rule.train),
            validation: narrow(rule.validation),
            test: narrow(rule.test),
        }),
        (Some(spec::Split::Fractions(rule)), _) => Rule::Fractions(Fractions {
            train: rule.train,
            validation: rule.validation,
            test: rule.test,
        }),
        (Some(spec::Split::Folds(rule)), _) => Rule::Folds(narrow(rule.count)),
        (None, _) if published => return None,
        (None, SplitRule::None) if !request.entry.inferred => return None,
        (None, SplitRule::PerClass { train, validation, test }) => {
            Rule::PerClass(ClassCounts { train, validation, test })
        }
        (None, SplitRule::Fractions { train, validation, test }) => {
            Rule::Fractions(Fractions { train, validation, test })
        }
        (None, SplitRule::Folds { count }) => Rule::Folds(count),
        // The published split belongs to the real files; a stand-in, or a folder without one, gets
        // the default split.
        (None, SplitRule::Given | SplitRule::None) if of == GRAPH => {
            Rule::Fractions(fill::split::EIGHTY_TEN_TEN)
        }
        (None, SplitRule::Given | SplitRule::None) => Rule::Usual,
    })
}
