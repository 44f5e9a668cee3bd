//! target_and_splits: the target, and the split of each row: those of the data set, or as
//! `run.target` and `run.splits` name them.
//!
//! promises  training and `check` use the same; rows are in the order of nodes.parquet, or of
//!           graphs.parquet where graphs have the labels; a table of splits has the bytes whose
//!           digest is in the key
//! never     is called for a plan that does not train
use std::{borrow::Cow, path::Path};

use warploom_contract::{
    Artifact, Digest, ErrorKind, StageError,
    kinds::graph::{self, GraphTable, Ids, Labels, LearnedRows, NodeTable, WholeNumbers},
};
use warploom_formats::side_files::split_table::{self, KnownIds, SplitParts};
use warploom_shell::requests::{RunRequest, read_error};

use crate::inputs::input_data::{LearnedColumn, format_id};

/// Labels and splits of the data set.
#[derive(Clone, Copy)]
pub struct DataSetLabels<'a> {
    /// Ids of the rows.
    pub ids: &'a Ids,
    /// Labels, if it has any.
    pub labels: Option<&'a Labels>,
    /// Published splits.
    pub splits: &'a [Vec<u8>],
    /// Whether rows are nodes or graphs.
    pub rows: LearnedRows,
}

impl<'a> DataSetLabels<'a> {
    /// Those of the graphs where these are learned, else those of the nodes.
    pub fn new(nodes: &'a NodeTable, learned_graphs: Option<&'a GraphTable>) -> Self {
        match learned_graphs {
            Some(graphs) => DataSetLabels {
                ids: &graphs.ids,
                labels: graphs.labels.as_ref(),
                splits: &graphs.splits,
                rows: LearnedRows::Graphs,
            },
            None => DataSetLabels {
                ids: &nodes.ids,
                labels: nodes.labels.as_ref(),
                splits: &nodes.splits,
                rows: LearnedRows::Nodes,
            },
        }
    }
}

/// The target, and the split of each row.
pub struct TargetAndSplits<'a> {
    /// The target of each row.
    pub labels: Option<Cow<'a, Labels>>,
    /// The split of each row; empty if the data set has no such split.
    pub parts: Cow<'a, [u8]>,
    /// The column that is learned, where it is not the data set's label.
    pub column: Option<LearnedColumn>,
    /// A warning for the user, if any.
    pub warning: Option<String>,
}

/// Reads the target and the splits of a request.
pub fn read_target_and_splits<'a>(
    request: &RunRequest,
    artifact: &Artifact,
    own: DataSetLabels<'a>,
) -> Result<TargetAndSplits<'a>, StageError> {
    let spec = &request.spec;
    let (parts, warning) = match &spec.splits {
        None => (
            Cow::Borrowed(own.splits.get(spec.split as usize).map_or(&[][..], Vec::as_slice)),
            None,
        ),
        Some(path) => {
            let (parts, warning) = read_split_table(path, request, own.ids)?;
            (Cow::Owned(parts), warning)
        }
    };
    if spec.target == graph::LABEL {
        return Ok(TargetAndSplits {
            labels: own.labels.map(Cow::Borrowed),
            parts,
            column: None,
            warning,
        });
    }
    let graph::Learned { labels, classes } = graph::read_learned(
        artifact,
        own.rows,
        &spec.target,
        WholeNumbers::from_loss(spec.loss.fits_numbers()),
    )?;
    Ok(TargetAndSplits {
        labels: Some(Cow::Owned(labels)),
        parts,
        column: Some(LearnedColumn { name: spec.target.clone(), classes }),
        warning,
    })
}

/// The splits of a table, and a warning about ids that it lacks.
fn read_split_table(
    path: &Path,
    request: &RunRequest,
    ids: &Ids,
) -> Result<(Vec<u8>, Option<String>), StageError> {
    let known = match ids {
        Ids::Numbers(ids) => KnownIds::Numbers(ids),
        Ids::Strings(ids) => KnownIds::Words(ids),
    };
    let SplitParts { mut splits, without } =
        split_table::read(path, known).map_err(|error| read_error(&error))?;
    let now = Digest::from_file(path)
        .map_err(|error| StageError::io("read the splits of `run.splits`", path, &error))?;
    if request.splits_digest.as_deref() != Some(now.as_str()) {
        let what = "the table of splits has changed since this run began";
        return Err(StageError::new(ErrorKind::Input, what)
            .at(path.display())
            .hint("start again; with  --verify  its digest is computed again"));
    }
    let (split, count) = (request.spec.split, splits.len() as u64);
    if split >= count {
        let what = format!("split {split} was asked for, and the table of splits has {count}");
        return Err(StageError::new(ErrorKind::Data, what)
            .at(path.display())
            .hint("splits are counted from 0:  --set run.split=0"));
    }
    let warning = without.first().map(|&first| {
        let first = format_id(ids, first as usize);
        format!(
            "{} has no row for {} of {} ids, which are in no split; the first is `{first}`",
            path.display(),
            without.len(),
            ids.len()
        )
    });
    Ok((splits.swap_remove(split as usize), warning))
}
