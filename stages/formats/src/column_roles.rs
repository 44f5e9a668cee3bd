//! What a column of a table of nodes is, by its name: one rule for text, Parquet and Arrow.
//!
//! promises  features are the columns that options name, in that order; else a column of lists with
//!           one of `FEATURE_LISTS` as its name; else the columns `x0`, `f12`, `feat_age` and the
//!           like, in the order of the table; no other number is a feature
//! promises  the label is the column that options name, else the first of `LABELS` that is there:
//!           but for one with another word in every row, which is a name, and for a `y` beside an
//!           `x` of single numbers, which is a place
use crate::raw_graph::{TEST, TRAIN, VALIDATION};

/// Names of the column of ids.
pub const IDS: &[&str] = &["id", "node_id", "nodeid", "node", "vertex_id", "vertex", "key"];
/// Names of the column of labels.
pub const LABELS: &[&str] = &["label", "labels", "class", "target", "y"];
/// Names of the column that says the kind of a node.
pub const KINDS: &[&str] = &["kind", "node_type", "nodetype", "type"];
/// Names of the column that says the graph of a node.
pub const GRAPHS: &[&str] = &["graph", "graph_id", "graphid"];
/// Names of columns of lists, and of arrays, that are features.
pub const FEATURE_LISTS: &[&str] = &[
    "features",
    "feature",
    "feats",
    "feat",
    "x",
    "attr",
    "attributes",
    "node_features",
    "node_feat",
    "embedding",
];
/// Columns of 0 and 1 that say who is in a part, with the part.
pub const MASKS: [(&[&str], u8); 3] = [
    (&["train_mask"], TRAIN),
    (&["val_mask", "valid_mask", "validation_mask"], VALIDATION),
    (&["test_mask"], TEST),
];

/// `x0`, `f12`, `feat_3`, `feature_age`, in any case of letters.
pub fn is_feature(name: &str) -> bool {
    let name = name.to_lowercase();
    let numbered = |start: &str| {
        name.strip_prefix(start)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    ["x", "f", "x_", "f_", "feat", "feature"].iter().any(|start| numbered(start))
        || name.starts_with("feat_")
        || name.starts_with("feature_")
}

/// Whether a name is that of a column of parts: `split`, `split_NAME`.
pub fn is_split(name: &str) -> bool {
    let name = name.to_lowercase();
    name == "split" || name == "splits" || name.starts_with("split_")
}

/// A column of the edges that nothing was read from, as `passed_over` has it.
pub fn unread_of_edges(name: &str) -> String {
    format!("column `{name}` of the edges")
}
