//! Arrays in the file of a graph that are not its edges: features, labels and splits by the names
//! that their own files would have.
//!
//! promises  an array of such a name is read if the graph has nothing of the kind yet; every other
//!           one is named in `passed_over`
//! promises  rows beyond the nodes that edges name are nodes, as side_files.rs has it, unless the
//!           file counts its nodes
//! never     unpacks an array that it passes over, `ids` among them: the edges name their nodes
use super::node_arrays::{
    ArrayRole, FoundArray, assign_rows, dense_or_matrix, fill_graph, find_role, refuse_second,
};
use crate::{
    containers::npy::Array,
    raw_graph::RawGraph,
    read_error::{Read, ReadError},
};
use std::{collections::BTreeMap, path::Path};

/// Reads what has a meaning among arrays of these names, which are not those of the edges.
pub(crate) fn attach(
    graph: &mut RawGraph,
    path: &Path,
    names: &[&str],
    array: impl Fn(&str) -> Read<Array>,
) -> Read<()> {
    let mut found: BTreeMap<ArrayRole, FoundArray> = BTreeMap::new();
    for name in names {
        match find_role(name).filter(|role| is_lacking(graph, *role) && !found.contains_key(role)) {
            Some(role) => drop(found.insert(
                role,
                FoundArray { from: path.join(name), values: dense_or_matrix(array(name)?)? },
            )),
            None => graph.passed_over.push(format!("array `{name}`")),
        }
    }
    refuse_second(graph, &found)?;
    let hint = "write a row for each node, or leave the array out";
    assign_rows(graph, &found)
        .map_err(|error| Box::new(ReadError { hint: hint.to_owned(), ..*error }))?;
    fill_graph(graph, found, None)
}

fn is_lacking(graph: &RawGraph, role: ArrayRole) -> bool {
    match role {
        ArrayRole::Ids => false,
        ArrayRole::Features => graph.features.is_none(),
        ArrayRole::Labels => graph.labels.is_none(),
        ArrayRole::Split | ArrayRole::Mask(_) | ArrayRole::List(_) => graph.splits.is_empty(),
    }
}
