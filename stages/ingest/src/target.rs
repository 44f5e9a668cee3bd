//! From a graph as listed to a graph as asked: edges transformed, and what a run needs filled in.
//!
//! promises  counts that the catalogue expects are compared before anything is written; everything drawn for a real graph
//!           is named in the list that is returned (a stand-in is drawn as a whole and says so itself)
use warploom_catalog::entry::{Expected, SplitRule};
use warploom_contract::{Context, ErrorKind, Provenance, StageError};
use warploom_shell::requests::IngestRequest;
use warploom_spec::{self as spec, Symmetrize};

use crate::{
    fill,
    raw::{Features, Labels, RawGraph},
    source::Read,
    transform::{self, Counts, Duplicates, SelfLoops},
};

/// Width of made-up features when neither catalogue nor data say one.
const WIDTH: u32 = 16;

/// Transforms and fills in; returns what was made up of a real graph.
pub fn complete(context: &Context, request: &IngestRequest, read: Read) -> Result<(RawGraph, Vec<String>), StageError> {
    let Read { mut graph, provenance, community } = read;
    let nodes = graph.nodes();
    context.progress.begin("sorting", graph.edges.len() as u64, "edges");
    let transformed = transform::transform(std::mem::take(&mut graph.edges), nodes, &options(request));
    if provenance == Provenance::Real {
        compare_counts(request, nodes, &transformed.counts)?;
    }
    graph.edges = transformed.edges;
    let seed = request.spec.seed;
    let mut filler = Filler { request, community, made_up: Vec::new(), seed };
    filler.labels(&mut graph);
    filler.features(&mut graph)?;
    filler.splits(&mut graph);
    if request.spec.normalize == spec::Normalize::Row
        && let Some(features) = graph.features.as_mut()
    {
        fill::features::normalize_rows(features);
    }
    if let Err(broken) = graph.validate() {
        return Err(StageError::defect(format!("ingest made a graph that is none: {broken}")));
    }
    let made_up = if provenance == Provenance::Real { filler.made_up } else { Vec::new() };
    if !made_up.is_empty() {
        context.progress.warn(&format!("`{}` has no {}: they are MADE UP from communities of the real graph", request.entry.name, made_up.join(" and no ")));
    }
    Ok((graph, made_up))
}

fn options(request: &IngestRequest) -> transform::Options {
    let symmetrize = match request.spec.symmetrize {
        Symmetrize::Auto => request.entry.symmetrize,
        Symmetrize::True => true,
        Symmetrize::False => false,
    };
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

fn compare_counts(request: &IngestRequest, nodes: u32, counts: &Counts) -> Result<(), StageError> {
    let Expected { nodes: expected_nodes, listed, distinct, symmetric } = request.entry.expected;
    let found = [
        ("nodes", expected_nodes, Some(u64::from(nodes))),
        ("listed edges", listed, Some(counts.listed)),
        ("distinct edges", distinct, Some(counts.distinct)),
        ("edges after symmetrising", symmetric, counts.symmetric),
    ];
    for (what, expected, found) in found {
        if let (Some(expected), Some(found)) = (expected, found)
            && expected != found
        {
            let message = format!("`{}` is not the data set of the catalogue: expected {expected} {what}, found {found}", request.entry.name);
            return Err(StageError::new(ErrorKind::Data, message)
                .at(request.digests.keys().next().map_or("", String::as_str))
                .hint(format!("fetch it again ( warploom data fetch {} ), or put the file under another name with a catalogue entry of its own", request.entry.name)));
        }
    }
    Ok(())
}

/// Adds what is missing.
struct Filler<'a> {
    request: &'a IngestRequest,
    community: Option<Vec<u32>>,
    made_up: Vec<String>,
    seed: u64,
}

impl Filler<'_> {
    /// Planted communities, or clusters of the real graph, found once.
    fn communities(&mut self, graph: &RawGraph) -> &[u32] {
        let seed = self.seed;
        self.community.get_or_insert_with(|| fill::communities::cluster(graph.nodes(), &graph.edges.source, &graph.edges.target, seed))
    }

    fn classes(&self) -> u32 {
        let recipe = self.request.entry.stand_in.filter(|_| matches!(self.request.source, warploom_catalog::Source::StandIn { .. }));
        recipe.map_or(self.request.entry.made_up.classes, |recipe| recipe.classes)
    }

    fn labels(&mut self, graph: &mut RawGraph) {
        let (classes, seed) = (self.classes(), self.seed);
        if graph.labels.is_some() || classes == 0 {
            return;
        }
        let class = fill::labels::make(self.communities(graph), classes, seed);
        graph.labels = Some(Labels::Classes { class, names: (0..classes).map(|class| class.to_string()).collect() });
        self.made_up.push("labels".to_owned());
    }

    fn features(&mut self, graph: &mut RawGraph) -> Result<(), StageError> {
        use spec::Features as Wanted;
        let refuse = |what: String| Err(StageError::new(ErrorKind::Specification, what).hint("let them be made:  --set ingest.features=random"));
        let width = self.width(graph);
        match self.request.spec.features {
            Wanted::None => graph.features = None,
            Wanted::Auto if graph.features.is_some() || width == 0 => {}
            Wanted::Given if graph.features.is_some() => {}
            Wanted::Given => return refuse(format!("`ingest.features: given`, and `{}` has no features", self.request.entry.name)),
            Wanted::OneHotLabel => return refuse(format!("`ingest.features: one_hot_label`, and the only labels of `{}` are the target", self.request.entry.name)),
            Wanted::Degree => graph.features = Some(fill::features::degree(graph.nodes(), &graph.edges.target)),
            Wanted::Constant => graph.features = Some(fill::features::constant(graph.nodes())),
            Wanted::Auto | Wanted::Random => {
                let (seed, width) = (self.seed, if width == 0 { WIDTH } else { width });
                let classes = self.classes().max(match &graph.labels {
                    Some(Labels::Classes { names, .. }) => names.len() as u32,
                    _ => 0,
                });
                graph.features = Some(fill::features::make(self.communities(graph), classes, width, seed));
                self.made_up.push("features".to_owned());
            }
        }
        self.made_up.sort();
        Ok(())
    }

    fn width(&self, graph: &RawGraph) -> u32 {
        let given = graph.features.as_ref().map(Features::columns);
        let recipe = self.request.entry.stand_in.filter(|_| matches!(self.request.source, warploom_catalog::Source::StandIn { .. }));
        given.or(recipe.map(|recipe| recipe.features)).unwrap_or(self.request.entry.made_up.features)
    }

    fn splits(&mut self, graph: &mut RawGraph) {
        let Some(Labels::Classes { class, .. }) = &graph.labels else { return };
        if !graph.splits.is_empty() {
            return;
        }
        let split = match self.request.entry.split {
            SplitRule::None => return,
            SplitRule::PerClass { train, validation, test } => fill::splits::per_class(class, train, validation, test, self.seed),
            SplitRule::Fractions { train, validation, test } => fill::splits::fractions(class, train, validation, test, self.seed),
            // The published split belongs to the real files; a stand-in gets one of the same kind.
            SplitRule::Given => fill::splits::per_class(class, 20, 500, 1000, self.seed),
        };
        graph.splits.push(split);
    }
}
