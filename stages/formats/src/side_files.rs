//! What stands beside a graph, found by name: features, labels and splits in `.npy`, `.npz` or
//! `.safetensors`; features in tables; names.
//!
//! reads     `features` (also x, feat, attr, node_features), `labels` (also y, node_labels),
//!           `split` (0 none, 1 train, 2 validation, 3 test), `train_mask`, `train_idx` and so on,
//!           `ids`: as files of these names, or as arrays of these names in one archive
//! reads     `features-KIND`: a row for each node of a kind; `edge-features`: a row for each edge;
//!           `names.json` (names_json.rs); features of all three sorts also in `.csv`, `.tsv`,
//!           Parquet or Arrow (feature_tables.rs)
//! promises  without `ids`, row i is node i where rows go beyond the largest id (nodes that no edge
//!           has are then added, and a note says so; an error where the graph's own file says how
//!           many nodes there are), else rows are the nodes by ascending id; with `ids`, each row
//!           is the node that its id names; any other number of rows is an error
//! promises  nothing is replaced: a graph that has features of its own and a file with more is an
//!           error
//! promises  an array of another name beside one that is read is named in `passed_over`; after an
//!           error the graph is to be thrown away
//! never     reads a file of another name; runs what a pickle names
//! limits    as containers/npy.rs and zip.rs; a safetensors file is read whole
mod feature_tables;
pub(crate) mod graph_file_arrays;
pub mod names_json;
mod node_arrays;
pub mod order_table;
mod part_features;
pub mod split_table;

use crate::{
    out_of_core::{LoadedGraph, Spilled},
    raw_graph::RawGraph,
    read_error::{Read, ReadError},
};
use node_arrays::{
    ArrayRole, FileArrays, FoundArray, assign_rows, describe_array, fill_graph, find_role,
    read_arrays_as, refuse_second, role_name, stem_and_end,
};
use part_features::PartFeatures;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Whether a file of this name may say something of a graph that it stands beside.
pub fn may_stand_beside(path: &Path) -> bool {
    let (stem, end) = stem_and_end(path);
    match end.as_str() {
        "npy" | "npz" | "safetensors" => true,
        "json" => stem == "names",
        end => {
            feature_tables::reads(end)
                && (stem == "features" || part_features::FeatureOwner::from_stem(&stem).is_some())
        }
    }
}

/// Whether a file that may stand beside a graph has features of its edges.
pub fn has_features_of_edges(path: &Path) -> bool {
    part_features::FeatureOwner::from_stem(&stem_and_end(path).0)
        == Some(part_features::FeatureOwner::Edges)
}

/// How many features of each edge a file has.
pub fn columns_of_edges(path: &Path) -> Read<u64> {
    let mut parts = PartFeatures::default();
    parts.take(path)?;
    Ok(parts.columns_of_edges())
}

/// Reads what stands beside a graph into it; the files that it used come back, others are left
/// alone.
pub fn attach(graph: &mut RawGraph, files: &[PathBuf]) -> Read<Vec<PathBuf>> {
    attach_to(graph, None, files)
}

/// The same for a graph whose edges are in a file: their rows and relations follow.
pub fn attach_within(loaded: &mut LoadedGraph, files: &[PathBuf]) -> Read<Vec<PathBuf>> {
    let LoadedGraph { graph, spilled } = loaded;
    let known = graph.ids.clone();
    let used = attach_to(graph, spilled.as_mut(), files)?;
    *spilled = spilled.take().map(|spilled| spilled.move_to_ids(&known, &graph.ids));
    Ok(used)
}

fn attach_to(
    graph: &mut RawGraph,
    mut spilled: Option<&mut Spilled>,
    files: &[PathBuf],
) -> Read<Vec<PathBuf>> {
    let mut files = files.to_vec();
    files.sort();
    let mut found: BTreeMap<ArrayRole, FoundArray> = BTreeMap::new();
    let mut parts = PartFeatures::default();
    let mut given = None;
    let (mut used, mut passed_over) = (Vec::new(), Vec::new());
    for path in files {
        if stem_and_end(&path) == ("names".to_owned(), "json".to_owned()) {
            given = Some((names_json::read(&path)?, path.clone()));
            used.push(path);
            continue;
        }
        if parts.take(&path)? {
            used.push(path);
            continue;
        }
        let FileArrays { known, others } = read_arrays(&path)?;
        if !known.is_empty() {
            used.push(path.clone());
            passed_over.extend(others.iter().map(|name| describe_array(name, &path)));
        }
        for (role, values) in known {
            if let Some(other) = found.insert(role, FoundArray { from: path.clone(), values }) {
                let error = ReadError::new(
                    &path,
                    format!("two files have the {} of the nodes", role_name(role)),
                );
                return Err(Box::new(
                    error.expected("one of them", format!("{} too", other.from.display())),
                ));
            }
        }
    }
    refuse_second(graph, &found)?;
    let order = assign_rows(graph, &found)?;
    fill_graph(graph, found, order.as_deref())?;
    if let Some((names, path)) = given {
        names_json::apply(graph, spilled.as_deref_mut(), &names, &path)?;
    }
    graph.passed_over.extend(passed_over);
    parts.fill(graph, spilled)?;
    Ok(used)
}

/// What a file holds.
fn read_arrays(path: &Path) -> Read<FileArrays> {
    let (stem, end) = stem_and_end(path);
    if stem == "features" && feature_tables::reads(&end) {
        return feature_tables::read(path)
            .map(|values| FileArrays::single(ArrayRole::Features, values));
    }
    read_arrays_as(path, &end, find_role(&stem))
}

#[cfg(test)]
mod tests;
