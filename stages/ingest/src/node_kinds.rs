//! node_kinds: node types from types of entities, which one relation states (such as `rdf:type`),
//! or a table beside triples.
//!
//! promises  of several types the first in the given order is the node type, else the first by
//!           bytes; an entity without a type has node type `entity`, an RDF literal `literal`
//! promises  node types ascend by the bytes of their names; each has a node; features of all nodes
//!           stay one table
//! never     assigns node types unless requested; changes a label, a split or, unless type
//!           statements are to be removed, an edge
use std::collections::BTreeSet;

use warploom_catalog::entry;
use warploom_contract::kinds::graph;
use warploom_formats::{
    out_of_core::{Edge, Spilled},
    raw_graph::{Kinds, Labels, NO_CLASS, NodeIds, RawGraph},
    read_error::ReadError,
    readers::ntriples::{self, is_literal, last_step},
};
use warploom_shell::requests::IngestRequest;
use warploom_spec as spec;

use crate::subset;

/// The node type of an entity without a type.
const ENTITY: &str = "entity";
/// The node type of a literal.
const LITERAL: &str = "literal";
/// Short form of the default relation.
const TYPE_SHORT: &str = "rdf:type";
/// A node that has no type.
const NONE: u32 = u32::MAX;

/// How node types are assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name of the relation, full or its last component.
    pub relation: String,
    /// Types that take precedence over others, the first wins.
    pub order: Vec<String>,
    /// Whether type statements stay edges.
    pub keeps_edges: bool,
    /// Whether nodes with the syntax of RDF literals are literals.
    pub literals: bool,
}

/// Why node types cannot be assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindsError {
    /// The data set has its own node types.
    OwnKinds(Vec<String>),
    /// There is no relation of this name, and no table of types.
    NoRelation(String, Vec<String>),
    /// Several relations end in this name.
    SeveralRelations(String, Vec<String>),
    /// No node has a type of the given order.
    NoType(String, Vec<String>),
    /// More types than 16 bits.
    TooMany(usize),
}

/// The rule of the pipeline, else of the catalogue; none: nodes keep one type.
pub fn kind_rule(request: &IngestRequest) -> Option<Rule> {
    let literals = request.entry.format.as_str() == ntriples::FORMAT.name;
    let made = |relation: &String, order: &[String], keeps_edges| Rule {
        relation: relation.clone(),
        order: order.to_vec(),
        keeps_edges,
        literals,
    };
    match (&request.spec.entity_types, &request.entry.entity_types) {
        (Some(told), _) => {
            Some(made(&told.relation, &told.order, told.edges == spec::TypeEdges::Keep))
        }
        (None, Some(usual)) => {
            Some(made(&usual.relation, &usual.order, usual.edges == entry::TypeEdges::Keep))
        }
        (None, None) => None,
    }
}

/// Why node types cannot be assigned with edges in a file.
#[derive(Debug)]
pub enum FileKindsError {
    /// An error as in memory.
    Refused(KindsError),
    /// An error of the file.
    Read(Box<ReadError>),
}

/// Assigns node types.
pub fn assign_kinds(graph: RawGraph, rule: &Rule) -> Result<RawGraph, KindsError> {
    let relation = find_type_relation(&graph, rule)?;
    let ends = graph
        .edges
        .source
        .iter()
        .zip(&graph.edges.target)
        .zip(graph.edges.relation.iter().flatten());
    let stated = ends
        .filter(|(_, of_edge)| Some(**of_edge) == relation)
        .map(|((&source, &target), _)| (source, target))
        .collect();
    let (graph, is_typed) = build_kinds(graph, rule, stated)?;
    match relation {
        Some(relation) if !rule.keeps_edges => {
            Ok(remove_type_statements(graph, relation, &is_typed))
        }
        _ => Ok(graph),
    }
}

/// Assigns node types with edges in a file, which is scanned; type statements are held, 8 bytes for
/// each.
pub fn assign_kinds_from_file(
    graph: RawGraph,
    spilled: Spilled,
    rule: &Rule,
) -> Result<(RawGraph, Spilled), FileKindsError> {
    let relation = find_type_relation(&graph, rule).map_err(FileKindsError::Refused)?;
    let mut stated = Vec::new();
    if let Some(relation) = relation {
        let take = |edge: Edge| {
            stated.extend((edge.relation == relation).then_some((edge.source, edge.target)));
            Ok(())
        };
        spilled.each(take).map_err(FileKindsError::Read)?;
    }
    let targets: BTreeSet<u32> = stated.iter().map(|(_, target)| *target).collect();
    let (mut graph, is_typed) =
        build_kinds(graph, rule, stated).map_err(FileKindsError::Refused)?;
    let Some(relation) = relation.filter(|_| !rule.keeps_edges) else {
        return Ok((graph, spilled));
    };
    let mut stays = vec![true; graph.ids.len()];
    targets.iter().for_each(|&target| {
        stays[target as usize] =
            is_typed[target as usize] || is_labelled(graph.labels.as_ref(), target as usize)
    });
    let spilled = spilled.without_relation(relation).map_err(FileKindsError::Read)?;
    let keep = |edge: Edge| {
        (stays[edge.source as usize], stays[edge.target as usize]) = (true, true);
        Ok(())
    };
    spilled.each(keep).map_err(FileKindsError::Read)?;
    graph.relations.remove(usize::from(relation));
    let spilled = spilled.keep_nodes(subset::new_rows(&stays)).map_err(FileKindsError::Read)?;
    Ok((subset::keep_nodes(graph, &stays), spilled))
}

/// Assigns node types from type statements (node and type) and from a table; also returns which
/// nodes have a type.
fn build_kinds(
    mut graph: RawGraph,
    rule: &Rule,
    stated: Vec<(u32, u32)>,
) -> Result<(RawGraph, Vec<bool>), KindsError> {
    let types = Types::new(&graph, stated);
    let kind_of = types.choose_types(&rule.order)?;
    let names: Vec<String> = types.names;
    let usual = |row: usize| match &graph.ids {
        NodeIds::Strings(ids) if rule.literals && is_literal(&ids[row]) => LITERAL,
        _ => ENTITY,
    };
    let name_of = |row: usize| {
        if kind_of[row] == NONE { usual(row) } else { names[kind_of[row] as usize].as_str() }
    };
    let is_typed: Vec<bool> = kind_of.iter().map(|kind| *kind != NONE).collect();
    let used: BTreeSet<&str> = (0..kind_of.len()).map(name_of).collect();
    let used: Vec<&str> = used.into_iter().collect();
    if used.len() > usize::from(u16::MAX) {
        return Err(KindsError::TooMany(used.len()));
    }
    let of_node: Vec<u16> = (0..kind_of.len())
        .map(|row| used.partition_point(|name| *name < name_of(row)) as u16)
        .collect();
    let names: Vec<String> = used.into_iter().map(str::to_owned).collect();
    graph.kinds = Some(Kinds { of_node, features: vec![None; names.len()], names });
    graph.types = None;
    Ok((graph, is_typed))
}

/// The relation that states types; none: a table has them.
fn find_type_relation(graph: &RawGraph, rule: &Rule) -> Result<Option<u16>, KindsError> {
    if let Some(kinds) = &graph.kinds {
        return Err(KindsError::OwnKinds(kinds.names.clone()));
    }
    let wanted = if rule.relation == TYPE_SHORT { ntriples::TYPE } else { &rule.relation };
    let number = |name: &String| {
        graph.relations.iter().position(|known| known == name).map(|place| place as u16)
    };
    if let Some(whole) = number(&wanted.to_owned()) {
        return Ok(Some(whole));
    }
    let ending: Vec<&String> =
        graph.relations.iter().filter(|name| last_step(name) == wanted).collect();
    match ending[..] {
        [only] => Ok(number(only)),
        [] if graph.types.is_some() && wanted == ntriples::TYPE => Ok(None),
        [] => Err(KindsError::NoRelation(wanted.to_owned(), graph.relations.clone())),
        _ => Err(KindsError::SeveralRelations(
            wanted.to_owned(),
            ending.into_iter().cloned().collect(),
        )),
    }
}

/// Nodes with their types.
struct Types {
    nodes: usize,
    /// Ascending by bytes.
    names: Vec<String>,
    /// Node and index into `names`, in any order.
    of_nodes: Vec<(u32, u32)>,
}

impl Types {
    /// The types of statements and those of the table.
    fn new(graph: &RawGraph, stated: Vec<(u32, u32)>) -> Types {
        let targets: BTreeSet<u32> = stated.iter().map(|(_, target)| *target).collect();
        let table = graph.types.as_ref();
        let mut names: Vec<String> =
            targets.iter().map(|&target| id_text(&graph.ids, target)).collect();
        names.extend(table.iter().flat_map(|table| table.names.iter().cloned()));
        names.sort_unstable();
        names.dedup();
        let place = |name: &String| names.partition_point(|known| known < name) as u32;
        let mut place_of = vec![NONE; graph.ids.len()];
        targets
            .iter()
            .for_each(|&target| place_of[target as usize] = place(&id_text(&graph.ids, target)));
        let mut of_nodes: Vec<(u32, u32)> = stated
            .into_iter()
            .map(|(source, target)| (source, place_of[target as usize]))
            .collect();
        if let Some(table) = table {
            let places: Vec<u32> = table.names.iter().map(place).collect();
            of_nodes
                .extend(table.of_nodes.iter().map(|&(node, name)| (node, places[name as usize])));
        }
        Types { nodes: graph.ids.len(), names, of_nodes }
    }

    /// The type of each node, by precedence.
    fn choose_types(&self, order: &[String]) -> Result<Vec<u32>, KindsError> {
        let mut rank = vec![order.len(); self.names.len()];
        for (place, wanted) in order.iter().enumerate().rev() {
            let is_meant = |name: &String| name == wanted || last_step(name) == wanted;
            let meant: Vec<usize> =
                (0..self.names.len()).filter(|&name| is_meant(&self.names[name])).collect();
            if meant.is_empty() {
                return Err(KindsError::NoType(wanted.clone(), self.names.clone()));
            }
            meant.into_iter().for_each(|name| rank[name] = place);
        }
        let strength = |name: u32| (rank[name as usize], name);
        let mut chosen = vec![NONE; self.nodes];
        for &(node, name) in &self.of_nodes {
            let best = &mut chosen[node as usize];
            if *best == NONE || strength(name) < strength(*best) {
                *best = name;
            }
        }
        Ok(chosen)
    }
}

/// A node's data set id as text.
fn id_text(ids: &NodeIds, row: u32) -> String {
    match ids {
        NodeIds::Count(_) => row.to_string(),
        NodeIds::Numbers(numbers) => numbers[row as usize].to_string(),
        NodeIds::Strings(words) => words[row as usize].clone(),
    }
}

/// Removes the statements of a relation, and the nodes that are only types: targets of such
/// statements without another edge, a type or a label.
fn remove_type_statements(mut graph: RawGraph, relation: u16, is_typed: &[bool]) -> RawGraph {
    let of_edge = graph.edges.relation.clone().unwrap_or_default();
    let mut stays = vec![true; graph.ids.len()];
    let targets =
        graph.edges.target.iter().zip(&of_edge).filter(|(_, of_edge)| **of_edge == relation);
    targets.for_each(|(&target, _)| {
        stays[target as usize] =
            is_typed[target as usize] || is_labelled(graph.labels.as_ref(), target as usize)
    });
    let edge_stays: Vec<bool> = of_edge.iter().map(|of_edge| *of_edge != relation).collect();
    graph.edges = subset::keep_edges(graph.edges, &edge_stays);
    graph
        .edges
        .source
        .iter()
        .chain(&graph.edges.target)
        .for_each(|&row| stays[row as usize] = true);
    graph
        .edges
        .relation
        .iter_mut()
        .flatten()
        .for_each(|of_edge| *of_edge -= u16::from(*of_edge > relation));
    graph.relations.remove(usize::from(relation));
    subset::keep_nodes(graph, &stays)
}

fn is_labelled(labels: Option<&Labels>, row: usize) -> bool {
    match labels {
        None => false,
        Some(Labels::Classes { class, .. }) => class[row] != NO_CLASS,
        Some(Labels::Values(values)) => !values[row].is_nan(),
        Some(Labels::Rows { columns, values }) => values[row * *columns as usize..]
            [..*columns as usize]
            .iter()
            .any(|value| !value.is_nan()),
    }
}

/// Makes names of node types valid in file and parameter names; returns the changed ones as a fact
/// for the manifest.
pub fn make_names_plain(graph: &mut RawGraph) -> Option<serde_json::Value> {
    let kinds = graph.kinds.as_mut()?;
    let plain = graph::kind_names(&kinds.names);
    let own = std::mem::replace(&mut kinds.names, plain);
    if own == kinds.names {
        return None;
    }
    Some(
        kinds
            .names
            .iter()
            .cloned()
            .zip(own.into_iter().map(serde_json::Value::from))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    )
}

#[cfg(test)]
mod tests;
