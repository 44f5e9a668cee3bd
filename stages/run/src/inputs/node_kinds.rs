//! node_kinds: data sets with several kinds of nodes: the kind of each node, and the features of
//! each kind.
//!
//! promises  features of a kind stay in the order of the graph artifact, a row for each of its
//!           nodes, under any permutation; dense f32 features are the mapped file; the index by
//!           which a program reads them is permuted instead
//! never     pads the features of a kind to the width of another
use std::collections::BTreeMap;

use warploom_contract::{
    Artifact, ErrorKind, StageError,
    arrow_file::View,
    kinds::graph::{self, Features},
};
use warploom_launch::{LaunchList, Role};

use crate::{
    buffers::Contents,
    inputs::input_data::{Data, InputRows, SparseFeatures, absent_input_error},
    precision::Precision,
};

/// The kind of each node, in the order of the graph artifact.
fn kinds_by_node<'a, T: Precision>(
    data: &'a Data<T>,
    artifact: &Artifact,
) -> Result<&'a [u16], StageError> {
    if data.kind_of_node.len() == data.nodes {
        Ok(&data.kind_of_node)
    } else {
        Err(absent_input_error(artifact, "kinds of nodes"))
    }
}

/// The kind of each row.
pub fn kinds_by_row<T: Precision>(
    data: &Data<T>,
    artifact: &Artifact,
) -> Result<Vec<i64>, StageError> {
    let of_node = kinds_by_node(data, artifact)?;
    Ok((0..data.nodes).map(|row| i64::from(of_node[data.artifact_row(row)])).collect())
}

/// The position of each row among the nodes of these kinds, as `Input::PlaceAmong` counts; -1 for
/// other kinds.
pub fn places_among<T: Precision>(
    data: &Data<T>,
    kinds: &[u32],
    artifact: &Artifact,
) -> Result<Vec<i64>, StageError> {
    let of_node = kinds_by_node(data, artifact)?;
    let mut counts: BTreeMap<u16, i64> = BTreeMap::new();
    of_node.iter().for_each(|kind| *counts.entry(*kind).or_default() += 1);
    let (mut next, mut start): (BTreeMap<u16, i64>, i64) = (BTreeMap::new(), 0);
    for kind in kinds.iter().filter_map(|kind| u16::try_from(*kind).ok()) {
        next.insert(kind, start);
        start += counts.get(&kind).copied().unwrap_or(0);
    }
    let mut place = |kind: &u16| {
        let Some(next) = next.get_mut(kind) else { return -1 };
        *next += 1;
        *next - 1
    };
    let by_artifact: Vec<i64> = of_node.iter().map(&mut place).collect();
    Ok((0..data.nodes).map(|row| by_artifact[data.artifact_row(row)]).collect())
}

/// Features of a kind.
fn open_kind_features(artifact: &Artifact, kind: u32) -> Result<Option<Features>, StageError> {
    match graph::open_names(artifact)?.kinds.get(kind as usize) {
        Some(name) => graph::open_features_of_kind(artifact, name),
        None => Ok(None),
    }
}

/// Dense features of a kind.
pub fn open_dense_features<T: Precision>(
    artifact: &Artifact,
    kind: u32,
) -> Result<InputRows<T>, StageError> {
    match open_kind_features(artifact, kind)? {
        Some(Features::Dense { values, .. }) => {
            Ok(InputRows::Real(Contents::Shared(T::from_view(&values))))
        }
        _ => Err(absent_input_error(artifact, &format!("dense features of kind {kind}"))),
    }
}

/// Sparse features of the kinds that a list reads, with a transpose if gradients need it.
pub fn open_sparse_features<T: Precision>(
    artifact: &Artifact,
    list: &LaunchList,
    by_columns: bool,
) -> Result<BTreeMap<u32, SparseFeatures<T>>, StageError> {
    let mut all = BTreeMap::new();
    for buffer in &list.buffers {
        let Role::SparseFeaturesOf { kind, .. } = buffer.role else { continue };
        let Some(Features::Sparse { columns, entries }) = open_kind_features(artifact, kind)?
        else {
            return Err(absent_input_error(artifact, &format!("sparse features of kind {kind}")));
        };
        let offsets: Vec<u64> = entries.offsets.iter().map(|&offset| offset as u64).collect();
        let rows = (offsets.len() as u64).saturating_sub(1);
        if !matches!(buffer.rows, warploom_launch::Rows::Fixed(planned) if planned == rows)
            || buffer.columns != columns as u64
        {
            let what = format!(
                "the plan was made for features of kind {kind} of {} x {}, the graph has {rows} x \
                 {columns}",
                buffer.rows, buffer.columns
            );
            return Err(StageError::new(ErrorKind::Damaged, what));
        }
        let values: View<T> = T::from_view(&entries.values);
        let mut sparse = SparseFeatures {
            offsets: offsets.into(),
            index: entries.index.clone(),
            values,
            columns,
            by_columns: None,
        };
        sparse.by_columns = by_columns.then(|| sparse.as_rows().transpose());
        all.insert(kind, sparse);
    }
    Ok(all)
}

/// Features of a kind as dense rows, for the reference executor.
pub fn reference_rows(artifact: &Artifact, kind: u32) -> Result<Vec<f64>, StageError> {
    match open_kind_features(artifact, kind)? {
        Some(Features::Dense { values, .. }) => {
            Ok(values.iter().map(|&value| f64::from(value)).collect())
        }
        Some(Features::Sparse { columns, entries }) => {
            let count = entries.offsets.len().saturating_sub(1);
            let mut rows = vec![0.0; count * columns];
            for row in 0..count {
                for entry in entries.offsets[row] as usize..entries.offsets[row + 1] as usize {
                    rows[row * columns + entries.index[entry] as usize] +=
                        f64::from(entries.values[entry]);
                }
            }
            Ok(rows)
        }
        None => Err(absent_input_error(artifact, &format!("features of kind {kind}"))),
    }
}
