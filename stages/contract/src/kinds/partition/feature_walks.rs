//! feature_walks: the entries of sparse features as a GPU walks them, by row and by column: rows
//! with most entries first, the entries of each in their order. Mapped tables of `feature-entries`.
//!
//! files     of the features of all nodes `feature_walk_rows_by_row` (rows with most entries
//!           first), `feature_walk_offsets_by_row` (where the entries of each start, and their
//!           number) and `feature_walk_entries_by_row` (`far`, the column, and `edge`, the position
//!           of the value of each entry); the same `by_column`, where `far` is the row; of nodes of
//!           kind k the same with `_of_kind_k` at the end
//! promises  what `check_entries` passed stays within rows, columns and entries
//! never     holds a value of a feature: an entry is the position of its value
use serde::{Deserialize, Serialize};

use super::{
    row_lists::{RowEdges, WalkedRows},
    tables,
};
use crate::{
    Artifact, StageError,
    arrow_file::{View, open_numbers},
};

/// How names of these files begin.
pub const FEATURE_FILES: &str = "feature_walk*";
/// How names of the files begin that say where rows start.
pub const FEATURE_OFFSETS_FILES: &str = "feature_walk_offsets*";

/// The size of the sparse features of all nodes, or of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSize {
    /// The kind of nodes, by its number; none: of all nodes.
    pub kind: Option<u32>,
    /// Nodes.
    pub rows: u64,
    /// Columns.
    pub columns: u64,
    /// Entries that are stored.
    pub entries: u64,
}

impl FeatureSize {
    /// Its walks, in the order of their tables.
    pub fn walks(self) -> [FeatureWalk; 2] {
        [false, true].map(|by_columns| FeatureWalk { kind: self.kind, by_columns })
    }

    /// What a walk takes as rows, and what entries connect these with.
    pub fn rows_and_far(self, walk: FeatureWalk) -> [u64; 2] {
        if walk.by_columns { [self.columns, self.rows] } else { [self.rows, self.columns] }
    }
}

/// A walk over entries of sparse features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeatureWalk {
    /// The kind of nodes, by its number; none: of all nodes.
    pub kind: Option<u32>,
    /// Whether columns are walked, and not rows.
    pub by_columns: bool,
}

/// A table of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureTable {
    /// The rows, or the columns.
    Rows,
    /// Where the entries of each start, and their number.
    Offsets,
    /// `far`, the column or the row of each entry; `edge`, the position of its value.
    Entries,
}

impl FeatureTable {
    /// All of them, in the order of the page.
    pub const ALL: [FeatureTable; 3] =
        [FeatureTable::Rows, FeatureTable::Offsets, FeatureTable::Entries];
}

impl FeatureWalk {
    /// The name of a table.
    pub fn table_name(self, table: FeatureTable) -> String {
        let part = match table {
            FeatureTable::Rows => "rows",
            FeatureTable::Offsets => "offsets",
            FeatureTable::Entries => "entries",
        };
        let by = if self.by_columns { "column" } else { "row" };
        let kind = self.kind.map_or_else(String::new, |kind| format!("_of_kind_{kind}"));
        format!("feature_walk_{part}_by_{by}{kind}")
    }

    /// Its files.
    pub fn files(self) -> [String; 3] {
        FeatureTable::ALL.map(|table| tables::table_file(&self.table_name(table)))
    }

    /// Whether an artifact has its tables.
    pub fn is_in(self, artifact: &Artifact) -> bool {
        artifact.has(&tables::table_file(&self.table_name(FeatureTable::Offsets)))
    }

    /// Maps where the entries of each row start.
    pub fn open_offsets(self, artifact: &Artifact) -> Result<View<u32>, StageError> {
        self.open_column(artifact, FeatureTable::Offsets)
    }

    /// Maps its tables.
    pub fn open(self, artifact: &Artifact) -> Result<WalkedRows, StageError> {
        let path = artifact.file(&tables::table_file(&self.table_name(FeatureTable::Entries)));
        let (far, edge) = (open_numbers(&path, "far")?, Some(open_numbers(&path, "edge")?));
        Ok(WalkedRows {
            rows: self.open_column(artifact, FeatureTable::Rows)?,
            offsets: self.open_offsets(artifact)?,
            edges: RowEdges { far, edge, path },
        })
    }

    fn open_column(
        self,
        artifact: &Artifact,
        table: FeatureTable,
    ) -> Result<View<u32>, StageError> {
        let name = self.table_name(table);
        open_numbers(&artifact.file(&tables::table_file(&name)), &name)
    }
}
