//! check: the check of ingest: tests the artifact against the settings, with sets instead of sorts.
use std::collections::{HashMap, HashSet};

use warploom_contract::{
    Artifact, Provenance, Violation,
    kinds::graph::{self, EdgeTable, Features, Ids, Labels, NodeTable},
};
use warploom_shell::requests::IngestRequest;
use warploom_spec::{Duplicates, Normalize, SelfLoops, Symmetrize};

use crate::node_kinds;

/// Tolerance of the row sum of normalised features.
const ROW_SUM_ERROR: f32 = 1e-4;

/// Checks that the graph has the properties that its settings ask for.
pub fn graph_keeps_settings(artifact: &Artifact, request: &IngestRequest) -> Result<(), Violation> {
    let edges = graph::read_edges(artifact)?;
    let nodes = graph::read_nodes(artifact)?;
    let count = nodes.ids.len();
    let mut times: HashMap<(u32, u32, u16), u32> = HashMap::with_capacity(edges.source.len());
    for (edge, (&source, &target)) in edges.source.iter().zip(&edges.target).enumerate() {
        let relation = edges.kind.as_ref().map_or(0, |kind| kind[edge]);
        *times.entry((source, target, relation)).or_default() += 1;
    }
    let loops: HashSet<u32> = times
        .keys()
        .filter(|(source, target, _)| source == target)
        .map(|(source, ..)| *source)
        .collect();
    match request.spec.self_loops {
        SelfLoops::Drop if !loops.is_empty() => {
            return Err(Violation::new(format!("expected no self loops, found {}", loops.len())));
        }
        SelfLoops::Add | SelfLoops::Replace if loops.len() != count => {
            return Err(Violation::new(format!(
                "expected a self loop at each of {count} nodes, found {}",
                loops.len()
            )));
        }
        _ => {}
    }
    if request.spec.duplicates != Duplicates::Keep
        && let Some(((source, target, _), times)) = times.iter().find(|(_, times)| **times > 1)
    {
        return Err(Violation::new(format!(
            "expected one edge {source} -> {target}, found {times}"
        )));
    }
    let symmetric = match request.spec.symmetrize {
        Symmetrize::Auto => request.entry.symmetrize && !request.entry.inferred,
        Symmetrize::True => true,
        Symmetrize::False => false,
    };
    let back =
        |&(source, target, relation): &(u32, u32, u16)| times.get(&(target, source, relation));
    if symmetric
        && let Some(((source, target, _), _)) =
            times.iter().find(|(edge, count)| back(edge) != Some(count))
    {
        return Err(Violation::new(format!(
            "expected as many edges {target} -> {source} as back, found others"
        )));
    }
    check_labels(count, nodes.labels.as_ref(), &nodes.splits)?;
    check_kinds(artifact, request, &edges, &nodes)?;
    let manifest = &artifact.manifest;
    let given = manifest.provenance == Provenance::Real
        && !manifest.made_up.iter().any(|what| what == "features");
    if given && request.spec.normalize == Normalize::Row {
        check_row_sums(artifact)
    } else {
        Ok(())
    }
}

/// Checks node types: they exist if requested, and type statements are gone if they were to be
/// removed. In an RDF graph with all nodes and edges of the files, the type of a node is one of
/// those in its type statements.
fn check_kinds(
    artifact: &Artifact,
    request: &IngestRequest,
    edges: &EdgeTable,
    nodes: &NodeTable,
) -> Result<(), Violation> {
    let Some(rule) = node_kinds::kind_rule(request) else { return Ok(()) };
    let names = graph::open_names(artifact)?;
    let Some(of_node) = &nodes.kind else {
        return Err(Violation::new("expected node types, found none"));
    };
    let relation = names.relations.iter().position(|name| *name == rule.relation);
    let (Some(relation), Some(of_edge)) = (relation, &edges.kind) else { return Ok(()) };
    if !rule.keeps_edges {
        return Err(Violation::new(format!("expected no relation `{}`, found it", rule.relation)));
    }
    let spec = &request.spec;
    let is_whole = spec.keep_classes.is_empty()
        && !spec.largest_component
        && spec.symmetrize != Symmetrize::True
        && !request.entry.symmetrize;
    let (true, Ids::Strings(ids)) = (rule.literals && is_whole, &nodes.ids) else { return Ok(()) };
    let own_names = artifact.manifest.facts.get("kinds");
    let mut fits: HashMap<u32, bool> = HashMap::new();
    for edge in (0..edges.source.len()).filter(|&edge| usize::from(of_edge[edge]) == relation) {
        let (row, found) =
            (edges.source[edge], &names.kinds[usize::from(of_node[edges.source[edge] as usize])]);
        let own = own_names.and_then(|names| names.get(found)?.as_str()).unwrap_or(found);
        *fits.entry(row).or_default() |= own == ids[edges.target[edge] as usize];
    }
    match fits.into_iter().filter(|(_, fits)| !fits).map(|(row, _)| row).min() {
        Some(row) => Err(Violation::new(format!(
            "the type of node row {row} is none of those in its type statements"
        ))),
        None => Ok(()),
    }
}

fn check_labels(
    nodes: usize,
    labels: Option<&Labels>,
    splits: &[Vec<u8>],
) -> Result<(), Violation> {
    for split in splits {
        if split.len() != nodes || split.iter().any(|&part| part > 3) {
            return Err(Violation::new(
                "a split has another length than the nodes, or a part beyond 3",
            ));
        }
        if let Some(Labels::Classes(classes)) = labels
            && let Some(node) = (0..nodes).find(|&node| split[node] != 0 && classes[node].is_none())
        {
            return Err(Violation::new(format!("node row {node} is in a split but has no class")));
        }
    }
    Ok(())
}

fn check_row_sums(artifact: &Artifact) -> Result<(), Violation> {
    let wrong = |row: usize, sum: f32| {
        (sum != 0.0 && (sum - 1.0).abs() > ROW_SUM_ERROR)
            .then(|| Violation::new(format!("feature row {row}: expected sum 1 or 0, found {sum}")))
    };
    let found = match graph::open_features(artifact)? {
        None => None,
        Some(Features::Dense { columns, values }) => values
            .chunks(columns.max(1))
            .enumerate()
            .find_map(|(row, values)| wrong(row, values.iter().map(|value| value.abs()).sum())),
        Some(Features::Sparse { entries, .. }) => {
            entries.offsets.windows(2).enumerate().find_map(|(row, ends)| {
                let values = &entries.values[ends[0] as usize..ends[1] as usize];
                wrong(row, values.iter().map(|value| value.abs()).sum())
            })
        }
    };
    found.map_or(Ok(()), Err)
}
