//! From a graph as listed to a graph as asked: edges transformed, and what a run needs filled in.
//!
//! promises  counts that the catalogue expects are compared before anything is written; everything drawn for a real graph
//!           is named in the list that is returned (a stand-in is drawn as a whole and says so itself)
use warploom_catalog::{
    Source,
    entry::{Expected, Recipe, SplitRule},
};
use warploom_contract::{Context, ErrorKind, Provenance, StageError};
use warploom_shell::requests::IngestRequest;
use warploom_spec::{self as spec, Symmetrize};

use crate::{
    fill::{
        self,
        split::{Fractions, PerClass},
    },
    source::Read,
    transform::{self, Counts, Duplicates, SelfLoops},
};
use warploom_formats::raw::{Labels, RawGraph};

/// Width of made-up features when neither catalogue nor data say one.
const WIDTH: u32 = 16;
/// Nodes in a community of a real graph, in the mean.
const COMMUNITY: u32 = 128;
/// Degrees above count as this one.
const DEGREE_MOST: u32 = 255;

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
    // Made-up rows are drawn at unit scale around 0: a row sum means nothing for them.
    let given = !filler.made_up.iter().any(|what| what == "features");
    if given
        && request.spec.normalize == spec::Normalize::Row
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
            return Err(StageError::new(ErrorKind::Data, message).at(request.digests.keys().next().map_or("", String::as_str)).hint(format!(
                "fetch it again ( warploom data fetch {} ), or put the file under another name with a catalogue entry of its own",
                request.entry.name
            )));
        }
    }
    Ok(())
}

/// Adds what is missing.
struct Filler<'a> {
    request: &'a IngestRequest,
    /// Planted communities, or those found in the real graph once they were needed.
    community: Option<Vec<u32>>,
    made_up: Vec<String>,
    seed: u64,
}

impl Filler<'_> {
    /// The class that each node's community stands for.
    fn planted(&mut self, graph: &RawGraph, classes: u32) -> Vec<u32> {
        let seed = self.seed;
        let community = self.community.get_or_insert_with(|| fill::communities::find(&graph.edges, graph.nodes(), COMMUNITY, seed));
        fill::labels::planted_classes(community, classes.max(1))
    }

    /// The recipe, where the graph is a stand-in.
    fn recipe(&self) -> Option<Recipe> {
        self.request.entry.stand_in.filter(|_| matches!(self.request.source, Source::StandIn { .. }))
    }

    fn labels(&mut self, graph: &mut RawGraph) {
        let classes = self.recipe().map_or(self.request.entry.made_up.classes, |recipe| recipe.classes);
        if graph.labels.is_some() || classes == 0 {
            return;
        }
        let planted = self.planted(graph, classes);
        graph.labels = Some(fill::labels::noisy(&planted, classes, self.seed));
        self.made_up.push("labels".to_owned());
    }

    fn features(&mut self, graph: &mut RawGraph) -> Result<(), StageError> {
        use spec::Features as Wanted;
        let refuse = |what: String| Err(StageError::new(ErrorKind::Specification, what).hint("let them be made:  --set ingest.features=random"));
        let name = &self.request.entry.name;
        let width = self.recipe().map_or(self.request.entry.made_up.features, |recipe| recipe.features);
        match self.request.spec.features {
            Wanted::None => graph.features = None,
            Wanted::Auto if graph.features.is_some() || width == 0 => {}
            Wanted::Given if graph.features.is_some() => {}
            Wanted::Given => return refuse(format!("`ingest.features: given`, and `{name}` has no features")),
            Wanted::OneHotLabel => return refuse(format!("`ingest.features: one_hot_label`, and the only labels of `{name}` are the target")),
            Wanted::Degree => graph.features = Some(fill::features::degree(&graph.edges, graph.nodes(), DEGREE_MOST)),
            Wanted::Constant => graph.features = Some(fill::features::constant(graph.nodes(), 1)),
            Wanted::Auto | Wanted::Random => {
                let classes = match &graph.labels {
                    Some(Labels::Classes { names, .. }) => names.len() as u32,
                    _ => 1,
                };
                let planted = self.planted(graph, classes);
                graph.features = Some(fill::features::around_classes(&planted, if width == 0 { WIDTH } else { width }, self.seed));
                self.made_up.push("features".to_owned());
            }
        }
        self.made_up.sort();
        Ok(())
    }

    fn splits(&mut self, graph: &mut RawGraph) {
        let Some(labels) = &graph.labels else { return };
        if !graph.splits.is_empty() {
            return;
        }
        let (nodes, seed) = (graph.nodes(), self.seed);
        let split = match self.request.entry.split {
            SplitRule::None => return,
            SplitRule::PerClass { train, validation, test } => fill::split::per_class(labels, nodes, &PerClass { train, validation, test }, seed),
            SplitRule::Fractions { train, validation, test } => fill::split::fractions(labels, nodes, &Fractions { train, validation, test }, seed),
            // The published split belongs to the real files; a stand-in gets one of the usual kind.
            SplitRule::Given => fill::split::usual(labels, nodes, seed),
        };
        graph.splits.push(split);
    }
}
