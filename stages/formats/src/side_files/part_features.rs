//! Features of a part of a graph: `features-KIND` of the nodes of a kind, `edge-features` of the
//! edges.
//!
//! promises  row i is the i-th node of the kind by ascending id, or the i-th edge of the file;
//!           another number of rows is an error
//! never     replaces features that there are
use super::{
    feature_tables,
    node_arrays::{
        ArrayRole, ArrayValues, FileArrays, FoundArray, describe_array, read_arrays_as, role_name,
        stem_and_end,
    },
};
use crate::{
    out_of_core::Spilled,
    raw_graph::{EdgeFeatures, Features, RawGraph},
    read_error::{Read, ReadError},
};
use std::path::Path;

/// Values that features of edges may have in any case, and for each that is not 0.
const DENSE_ALWAYS: usize = 1 << 24;
const DENSE_AN_ENTRY: usize = 1 << 8;

/// What features are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FeatureOwner {
    /// Nodes of this kind.
    Kind(String),
    /// Edges.
    Edges,
}

impl FeatureOwner {
    /// By the name of a file.
    pub(super) fn from_stem(stem: &str) -> Option<FeatureOwner> {
        match stem.strip_prefix("features-") {
            Some(kind) if !kind.is_empty() => Some(FeatureOwner::Kind(kind.to_owned())),
            _ => ["edge-features", "edge_features"].contains(&stem).then_some(FeatureOwner::Edges),
        }
    }
}

/// All that were found.
#[derive(Default)]
pub(super) struct PartFeatures {
    found: Vec<(FeatureOwner, FoundArray)>,
    /// Arrays of other names in their files.
    passed_over: Vec<String>,
}

impl PartFeatures {
    /// Reads a file if its name says that it is of a part; says whether.
    pub(super) fn take(&mut self, path: &Path) -> Read<bool> {
        let (stem, end) = stem_and_end(path);
        let Some(part) = FeatureOwner::from_stem(&stem) else { return Ok(false) };
        let values = if feature_tables::reads(&end) {
            feature_tables::read(path)?
        } else {
            let FileArrays { known, others } =
                read_arrays_as(path, &end, Some(ArrayRole::Features))?;
            let (features, further): (Vec<_>, Vec<_>) =
                known.into_iter().partition(|(role, _)| *role == ArrayRole::Features);
            let Some((_, values)) = features.into_iter().next() else { return Ok(false) };
            let further = further.iter().map(|(role, _)| describe_array(role_name(*role), path));
            self.passed_over
                .extend(further.chain(others.iter().map(|name| describe_array(name, path))));
            values
        };
        if let Some((_, other)) = self.found.iter().find(|(known, _)| *known == part) {
            let error =
                ReadError::new(path, "two files have the features of the same part of the graph");
            return Err(Box::new(
                error.expected("one of them", format!("{} too", other.from.display())),
            ));
        }
        self.found.push((part, FoundArray { from: path.to_path_buf(), values }));
        Ok(true)
    }

    /// Numbers in a row of the features of edges.
    pub(super) fn columns_of_edges(&self) -> u64 {
        let of_edges = self.found.iter().find(|(part, _)| *part == FeatureOwner::Edges);
        of_edges.map_or(0, |(_, found)| match &found.values {
            ArrayValues::Array(array) => {
                array.shape.get(1..).unwrap_or_default().iter().product::<u64>()
            }
            ArrayValues::Sparse(entries) | ArrayValues::Entries(entries) => {
                u64::from(entries.columns)
            }
        })
    }

    /// Puts them into the graph; features of edges where these are.
    pub(super) fn fill(self, graph: &mut RawGraph, mut spilled: Option<&mut Spilled>) -> Read<()> {
        graph.passed_over.extend(self.passed_over);
        for (part, found) in self.found {
            let from = found.from.clone();
            match part {
                FeatureOwner::Edges => {
                    let edges = spilled
                        .as_ref()
                        .map_or(graph.edges.len(), |spilled| spilled.edges as usize);
                    let are_there = graph.edges.features.is_some()
                        || spilled.as_ref().is_some_and(|spilled| spilled.features.is_some());
                    let features = rows_of(found, edges, "edge", are_there)?;
                    if too_sparse(&features, edges) {
                        let error = ReadError::new(
                            &from,
                            "the features of edges are kept with all their zeros, and nearly all \
                             of these are",
                        );
                        return Err(Box::new(error.hint("leave out columns that few edges have")));
                    }
                    let features = EdgeFeatures {
                        columns: features.columns(),
                        values: features.into_dense(edges),
                    };
                    match spilled.as_deref_mut() {
                        Some(spilled) => spilled.set_features(&features)?,
                        None => graph.edges.features = Some(features),
                    }
                }
                FeatureOwner::Kind(name) => fill_kind(graph, &name, found, &from)?,
            }
        }
        Ok(())
    }
}

fn fill_kind(graph: &mut RawGraph, name: &str, found: FoundArray, from: &Path) -> Read<()> {
    let known = graph
        .kinds
        .as_ref()
        .map_or_else(|| "nodes without kinds".to_owned(), |kinds| kinds.names.join(", "));
    let place = graph
        .kinds
        .as_mut()
        .and_then(|kinds| Some((kinds.names.iter().position(|known| known == name)?, kinds)));
    let Some((place, kinds)) = place else {
        let error = ReadError::new(
            from,
            "these are features of a kind of nodes that the graph does not have",
        );
        return Err(Box::new(
            error
                .expected(format!("nodes of the kind `{name}`"), known)
                .hint("name the file  features-KIND  after a kind"),
        ));
    };
    let rows = kinds.of_node.iter().filter(|&&kind| usize::from(kind) == place).count();
    kinds.features[place] = Some(rows_of(
        found,
        rows,
        &format!("node of the kind `{name}`"),
        kinds.features[place].is_some(),
    )?);
    Ok(())
}

/// Features with so many rows, where there are none yet.
fn rows_of(mut found: FoundArray, count: usize, of: &str, are_there: bool) -> Read<Features> {
    if are_there {
        let error = ReadError::new(&found.from, format!("there are features of each {of} already"));
        return Err(Box::new(error.expected("them in one place", "this file too")));
    }
    found.expect_rows(count)?;
    match found.rows(ArrayRole::Features, count as u64)? {
        Some(rows) if rows != count as u64 => {
            let error = ReadError::new(&found.from, format!("there is not a row for each {of}"));
            Err(Box::new(error.expected(format!("{count} rows"), rows.to_string())))
        }
        _ => found.into_features(),
    }
}

/// Whether a matrix with its zeros is far larger than what was read of it.
fn too_sparse(features: &Features, rows: usize) -> bool {
    match features {
        Features::Dense { .. } => false,
        Features::Sparse { columns, index, .. } => {
            rows.saturating_mul(*columns as usize) > DENSE_ALWAYS + DENSE_AN_ENTRY * index.len()
        }
    }
}
