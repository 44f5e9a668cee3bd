//! synthetic_source: runs a generator of the catalogue; the graph has the form of one read from
//! files.
//!
//! promises  a stand-in gets its provenance here; a generated set that replaces nothing is real; a
//!           graph whose nodes alone need more than `--memory` is refused before it is generated
//! never     prints a notice (`source` does); reads a file
use warploom_catalog::{Generator, entry};
use warploom_contract::{
    Context, ErrorKind, Provenance, StageError,
    progress::{Advance, Phase},
};
use warploom_formats::raw_graph::{Graphs, NodeIds, RawGraph};
use warploom_shell::{
    machine_limits::{memory_option, show_size},
    requests::IngestRequest,
};

use super::{batch, communities, relations, shapes};
use crate::{fill::labels, memory_limit::MEMORY_LEAST, reading::SourceGraph};

/// Least bytes of a graph for each node: two numbers of 32 bits (degree and place in a list).
const NODE_BYTES: u64 = 8;

/// Refuses a graph whose nodes alone need more than the memory limit.
fn refuse_too_many_nodes(memory: u64, name: &str, nodes: u64) -> Result<(), StageError> {
    let needed = nodes.saturating_mul(NODE_BYTES);
    // A limit below the least memory of ingest is raised, with a warning elsewhere.
    if needed <= memory.max(MEMORY_LEAST) {
        return Ok(());
    }
    let (needs, may) = (show_size(needed), show_size(memory));
    let what = format!(
        "`{name}` has {nodes} nodes, which take {needs} ({needed} bytes) at least, and {may} \
         ({memory} bytes) may be used"
    );
    Err(StageError::new(ErrorKind::Memory, what)
        .hint(memory_option(needed) + "; or ask for fewer nodes"))
}

/// Generates a set of the catalogue.
pub fn generate_set(context: &Context, request: &IngestRequest) -> Result<SourceGraph, StageError> {
    let name = &request.entry.name;
    let generator = request
        .entry
        .generator
        .ok_or_else(|| StageError::defect(format!("`{name}` has no generator")))?;
    generator.check().map_err(|what| {
        StageError::new(ErrorKind::Specification, format!("`{name}` cannot be made: {what}"))
    })?;
    refuse_too_many_nodes(context.memory, name, generator.nodes())?;
    if let Generator::Planted(recipe) = &generator {
        return generate_planted(context, request, recipe, Provenance::Real);
    }
    let generating = Phase::begin(context.progress, "generating", generator.edges(), "edges");
    let own = request.spec.seed;
    let advance = |edges: u64| generating.add(edges);
    // `Generator::check` has checked that these fit.
    let edges = match generator {
        Generator::Rmat { nodes, edges, seed } => {
            shapes::rmat(nodes as u32, edges, seed ^ own, &advance)
        }
        Generator::Random { nodes, edges, seed } => {
            shapes::random(nodes as u32, edges, seed ^ own, &advance)
        }
        Generator::Grid { width, height } => shapes::grid(width as u32, height as u32, &advance),
        Generator::Star { nodes } => shapes::star(nodes as u32, &advance),
        Generator::CliqueBatch { count, size } => {
            shapes::cliques(count as u32, size as u32, &advance)
        }
        Generator::Planted(_) => return Err(StageError::defect("a planted graph was made twice")),
    };
    let nodes = generator.nodes() as u32;
    let mut graph = RawGraph {
        ids: NodeIds::Count(nodes),
        edges,
        directed: Some(request.entry.directed),
        ..RawGraph::default()
    };
    let mut community = None;
    if let Generator::CliqueBatch { count, size } = generator {
        let of_node: Vec<u32> = (0..nodes).map(|node| node / size as u32).collect();
        graph.graphs =
            Some(label_graphs(of_node.clone(), count as u32, request.entry.made_up.classes, own));
        community = Some(of_node);
    }
    Ok(SourceGraph {
        graph,
        provenance: Provenance::Real,
        community,
        spilled: None,
        report: Vec::new(),
    })
}

/// Generates a graph of planted communities, or many small graphs.
pub fn generate_planted(
    context: &Context,
    request: &IngestRequest,
    recipe: &entry::Recipe,
    provenance: Provenance,
) -> Result<SourceGraph, StageError> {
    refuse_too_many_nodes(context.memory, &request.entry.name, u64::from(recipe.nodes))?;
    let generating = Phase::begin(context.progress, "generating", recipe.edges, "edges").passes(2);
    let seed = recipe.seed ^ request.spec.seed;
    let (graph, community) =
        generate_recipe_with_progress(recipe, seed, &|edges| generating.add(edges)).map_err(
            |error| {
                let whose = if provenance == Provenance::StandIn { "the stand-in of " } else { "" };
                StageError::new(
                    ErrorKind::Specification,
                    format!("{whose}`{}`: {error}", request.entry.name),
                )
            },
        )?;
    Ok(SourceGraph {
        graph,
        provenance,
        community: Some(community),
        spilled: None,
        report: Vec::new(),
    })
}

/// Generates the graph of a recipe, with the community of each node.
pub fn generate_recipe(
    recipe: &entry::Recipe,
    seed: u64,
) -> Result<(RawGraph, Vec<u32>), communities::Impossible> {
    generate_recipe_with_progress(recipe, seed, &|_| {})
}

/// `generate_recipe` with progress; reports edges twice.
fn generate_recipe_with_progress(
    recipe: &entry::Recipe,
    seed: u64,
    advance: Advance<'_>,
) -> Result<(RawGraph, Vec<u32>), communities::Impossible> {
    let &entry::Recipe {
        nodes,
        edges,
        symmetric,
        max_degree,
        loops,
        graphs,
        community,
        inside,
        classes,
        ..
    } = recipe;
    let mut graph =
        RawGraph { ids: NodeIds::Count(nodes), directed: Some(!symmetric), ..RawGraph::default() };
    let planted = if graphs > 0 {
        let made =
            batch::generate(&batch::Recipe { graphs, nodes, edges, loops, max_degree, seed })?;
        graph.edges = made.edges;
        graph.graphs = Some(label_graphs(made.graph.clone(), graphs, classes, seed));
        made.graph
    } else {
        let made = communities::generate_with_progress(
            &communities::Recipe {
                nodes,
                edges,
                loops,
                symmetric,
                max_degree,
                community,
                inside,
                seed,
            },
            advance,
        )?;
        graph.edges = made.edges;
        made.community
    };
    if recipe.relations > 0 {
        graph.edges.relation =
            Some(relations::draw_relations(&graph.edges, &planted, recipe.relations, seed));
        graph.relations = relations::relation_names(recipe.relations);
    }
    if recipe.labelled > 0 && classes > 0 {
        let labels =
            labels::add_label_noise(&labels::planted_classes(&planted, classes), classes, seed);
        graph.labels = Some(labels::sample_labels(labels, recipe.labelled, seed));
    }
    Ok((graph, planted))
}

/// The graphs of a set of many, each with a label: that of its nodes, with noise.
fn label_graphs(of_node: Vec<u32>, graphs: u32, classes: u32, seed: u64) -> Graphs {
    let each: Vec<u32> = {
        // The class of the nodes of each graph, as in `fill`.
        let planted = labels::planted_classes(&of_node, classes);
        let mut class = vec![0; graphs as usize];
        of_node.iter().zip(planted).for_each(|(&graph, planted)| class[graph as usize] = planted);
        class
    };
    let labels = (classes > 0).then(|| labels::add_label_noise(&each, classes, seed ^ 1));
    Graphs { of_node, ids: NodeIds::Count(graphs), labels, ..Graphs::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warploom_formats::raw_graph::{Labels, NO_CLASS};

    fn recipe() -> entry::Recipe {
        let entry = warploom_catalog::Catalog::default().find("aifb").unwrap();
        entry.stand_in.unwrap()
    }

    #[test]
    fn nodes_beyond_the_memory_that_may_be_used_are_refused() {
        assert!(refuse_too_many_nodes(1 << 30, "random-1000-1", 1000).is_ok());
        let error =
            refuse_too_many_nodes(1 << 30, "random-4294967294-1", 4_294_967_294).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Memory);
        let what = "`random-4294967294-1` has 4294967294 nodes, which take 32.0 GiB (34359738352 \
                    bytes) at least, and 1.00 GiB (1073741824 bytes) may be used";
        assert_eq!(
            (error.what.as_str(), error.hint.unwrap().starts_with("--memory 32768MiB ")),
            (what, true)
        );
    }

    #[test]
    fn a_stand_in_with_relations_has_all_that_is_published() {
        let (graph, _) = generate_recipe(&recipe(), 5).unwrap();
        graph.validate().unwrap();
        assert_eq!((graph.nodes(), graph.edges.len(), graph.relations.len()), (8285, 29_043, 45));
        let Some(Labels::Classes { class, names }) = &graph.labels else {
            panic!("expected classes")
        };
        assert_eq!(
            (class.iter().filter(|&&class| class != NO_CLASS).count(), names.len()),
            (176, 4)
        );
    }

    #[test]
    fn a_stand_in_of_many_graphs_has_labels_for_them() {
        let recipe =
            warploom_catalog::Catalog::default().find("ENZYMES").unwrap().stand_in.unwrap();
        let (graph, planted) = generate_recipe(&recipe, 5).unwrap();
        graph.validate().unwrap();
        let graphs = graph.graphs.unwrap();
        assert_eq!((graphs.ids.len(), graph.edges.len(), &planted), (600, 74_564, &graphs.of_node));
        let Some(Labels::Classes { class, names }) = &graphs.labels else {
            panic!("expected classes")
        };
        let mut sizes = [0; 6];
        class.iter().for_each(|&class| sizes[class as usize] += 1);
        assert!(names.len() == 6 && sizes.iter().all(|size| (50..150).contains(size)), "{sizes:?}");
    }

    /// Every recipe of the catalogue of at most half a million edges is made; the others are too
    /// slow for a test.
    #[test]
    fn every_stand_in_of_the_catalogue_is_possible_and_exact() {
        let catalog = warploom_catalog::Catalog::default();
        let recipes = catalog
            .names()
            .into_iter()
            .filter_map(|name| Some((catalog.find(&name).unwrap().stand_in?, name)));
        for (recipe, name) in recipes.filter(|(recipe, _)| recipe.edges <= 500_000) {
            let (graph, _) = generate_recipe(&recipe, recipe.seed)
                .unwrap_or_else(|error| panic!("`{name}`: {error}"));
            graph.validate().unwrap();
            let mut pairs: Vec<u64> = graph
                .edges
                .source
                .iter()
                .zip(&graph.edges.target)
                .map(|(&source, &target)| u64::from(source) << 32 | u64::from(target))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(
                (pairs.len() as u64, graph.nodes()),
                (recipe.edges, recipe.nodes),
                "`{name}`"
            );
        }
    }
}
