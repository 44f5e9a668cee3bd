//! What every reader and generator hands over: a graph as its files tell it, in rows.
//!
//! promises  node rows are sorted by the data set's own ids (numbers by value, words by bytes);
//!           `source` and `target` are rows
//! never     merges, reverses or drops an edge: that is `transform`
//! limits    `NODES_MOST` nodes; edges by memory (8 bytes each, 12 with weights)
use crate::read_error::{Read, ReadError};

/// The largest number of nodes that a graph may have: row numbers and one spare value fit in `u32`.
pub const NODES_MOST: u64 = u32::MAX as u64 - 1;
/// The class of a node that has none.
pub const NO_CLASS: u32 = u32::MAX;
/// In a split: the node is in no part.
pub const IN_NO_PART: u8 = 0;
/// In a split: the node is trained on.
pub const TRAIN: u8 = 1;
/// In a split: the node chooses the epoch.
pub const VALIDATION: u8 = 2;
/// In a split: the node is judged.
pub const TEST: u8 = 3;

/// The part of a split that a word names, in any case of letters, or a digit as artifacts have it;
/// none: it names no part.
pub fn part_of(word: &str) -> Option<u8> {
    match word.trim().to_lowercase().as_str() {
        "train" | "training" | "1" => Some(TRAIN),
        "val" | "valid" | "validation" | "dev" | "2" => Some(VALIDATION),
        "test" | "testing" | "3" => Some(TEST),
        "" | "none" | "0" => Some(IN_NO_PART),
        _ => None,
    }
}

/// A graph as its files tell it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawGraph {
    /// The data set's own ids, in row order.
    pub ids: NodeIds,
    /// The edges, in the order of the file.
    pub edges: Edges,
    /// What the file says of directions, if it says anything.
    pub directed: Option<bool>,
    /// Whether the file says that each of its entries stands for two, (row, column) and (column,
    /// row), and keeps one (Matrix Market: `symmetric`): then the other direction is there whatever
    /// is asked of undirected graphs.
    pub halved: bool,
    /// Whether the files, or what is told of them, say how many nodes there are: then no array
    /// beside them adds any.
    pub nodes_told: bool,
    /// Labels of nodes.
    pub labels: Option<Labels>,
    /// Whether the names of classes are words of a column beside the labels, also where they look
    /// like numbers.
    pub classes_told: bool,
    /// Published splits; each has one byte a node.
    pub splits: Vec<Vec<u8>>,
    /// Features of nodes; none where kinds of nodes have features of their own.
    pub features: Option<Features>,
    /// What a set calls labels of its nodes where something else is to be learned: they become
    /// one-hot features.
    pub node_labels: Option<Labels>,
    /// Further columns of the nodes by name.
    pub columns: Vec<(String, Column)>,
    /// Whether options may make features of those (`node_features`).
    pub has_columns: bool,
    /// The columns that became features, labels and splits, as far as files name them.
    pub roles: ColumnRoles,
    /// Kinds of nodes, where there are several.
    pub kinds: Option<Kinds>,
    /// Types of nodes as a table beside the graph tells them: what kinds may be made of.
    pub types: Option<NodeTypes>,
    /// Names of the relations that `Edges::relation` counts; empty without relations.
    pub relations: Vec<String>,
    /// The graphs of a set of many.
    pub graphs: Option<Graphs>,
    /// What the files hold and the reader passed over, a line each, for the manifest.
    pub passed_over: Vec<String>,
    /// What was read in one way and may have been meant in another, a line each, for people and the
    /// manifest.
    pub notes: Vec<String>,
}

/// The names of the columns that became something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnRoles {
    /// Features, in their order.
    pub features: Vec<String>,
    /// Labels; several where they are the places of a row.
    pub labels: Vec<String>,
    /// Splits.
    pub splits: Vec<String>,
    /// Features of edges.
    pub edge_features: Vec<String>,
}

/// Kinds of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kinds {
    /// The kind of each node: index into `names`.
    pub of_node: Vec<u16>,
    /// Names of the kinds, distinct.
    pub names: Vec<String>,
    /// For each kind the features of its nodes, in row order among them.
    pub features: Vec<Option<Features>>,
}

/// Types of nodes, of which a node may have none or several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTypes {
    /// Node and index into `names`, ascending, each pair once.
    pub of_nodes: Vec<(u32, u32)>,
    /// Names of the types, ascending by bytes.
    pub names: Vec<String>,
}

/// The graphs of a set of many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graphs {
    /// The graph of each node, by its row; an edge joins nodes of one graph.
    pub of_node: Vec<u32>,
    /// The data set's own ids of the graphs, ascending.
    pub ids: NodeIds,
    /// Labels of graphs.
    pub labels: Option<Labels>,
    /// As `RawGraph::classes_told`.
    pub classes_told: bool,
    /// Published splits of graphs; each has one byte a graph.
    pub splits: Vec<Vec<u8>>,
    /// Further columns of the graphs by name.
    pub columns: Vec<(String, Column)>,
}

/// The data set's own names of its nodes, in row order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeIds {
    /// 0, 1, 2, ... up to this number.
    Count(u32),
    /// Ascending, distinct.
    Numbers(Vec<u64>),
    /// Ascending by bytes, distinct.
    Strings(Vec<String>),
}

/// Edges by row; all lists have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// Where each edge begins.
    pub source: Vec<u32>,
    /// Where each edge ends.
    pub target: Vec<u32>,
    /// The weight of each edge; none: the graph has no weights.
    pub weight: Option<Vec<f32>>,
    /// The relation of each edge; none: there is but one.
    pub relation: Option<Vec<u16>>,
    /// Features of each edge.
    pub features: Option<EdgeFeatures>,
}

/// Features of all edges, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeFeatures {
    /// Numbers in a row.
    pub columns: u32,
    /// Row by row.
    pub values: Vec<f32>,
}

/// Labels of all nodes, in row order.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// One class a node, `NO_CLASS` for none.
    Classes {
        /// Index into `names`.
        class: Vec<u32>,
        /// The data set's own names of the classes: in its own order where it numbers them, else
        /// numbers by value, words by bytes.
        names: Vec<String>,
    },
    /// One number a node, NaN for none.
    Values(Vec<f32>),
    /// A row of numbers a node (multi-label sets: 0 or 1).
    Rows {
        /// Numbers in a row.
        columns: u32,
        /// Row by row.
        values: Vec<f32>,
    },
}

/// Features of all nodes, in row order.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// Every value is stored.
    Dense {
        /// Numbers in a row.
        columns: u32,
        /// Row by row.
        values: Vec<f32>,
    },
    /// Only values that are not zero are stored.
    Sparse {
        /// Numbers in a row.
        columns: u32,
        /// Row `r` has the entries `offsets[r]..offsets[r + 1]`.
        offsets: Vec<u64>,
        /// Column of each entry, ascending and distinct inside a row.
        index: Vec<u32>,
        /// Value of each entry.
        values: Vec<f32>,
    },
}

/// A further column of the nodes; `None` where a node has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integers(Vec<Option<i64>>),
    /// Numbers.
    Reals(Vec<Option<f64>>),
    /// Words.
    Texts(Vec<Option<String>>),
}

impl Default for NodeIds {
    fn default() -> Self {
        NodeIds::Count(0)
    }
}

impl NodeIds {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        match self {
            NodeIds::Count(count) => *count as usize,
            NodeIds::Numbers(numbers) => numbers.len(),
            NodeIds::Strings(words) => words.len(),
        }
    }

    /// Whether there is no node at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ascending and distinct numbers; 0, 1, 2, ... is kept as a count.
    pub fn from_ascending(numbers: Vec<u64>) -> Self {
        debug_assert!(numbers.is_sorted_by(|a, b| a < b));
        match numbers.last() {
            None => NodeIds::Count(0),
            Some(&last) if last == numbers.len() as u64 - 1 => NodeIds::Count(numbers.len() as u32),
            Some(_) => NodeIds::Numbers(numbers),
        }
    }
}

impl Edges {
    /// How many edges there are.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    /// What they take, features included.
    pub fn bytes(&self) -> u64 {
        let weights = self.weight.as_ref().map_or(0, Vec::len)
            + self.features.as_ref().map_or(0, |features| features.values.len());
        (8 * self.len() + 4 * weights + 2 * self.relation.as_ref().map_or(0, Vec::len)) as u64
    }
}

impl Features {
    /// Numbers in a row.
    pub fn columns(&self) -> u32 {
        match self {
            Features::Dense { columns, .. } | Features::Sparse { columns, .. } => *columns,
        }
    }

    /// All values of so many rows, row by row, zeros too.
    pub fn into_dense(self, rows: usize) -> Vec<f32> {
        match self {
            Features::Dense { values, .. } => values,
            Features::Sparse { columns, offsets, index, values } => {
                let columns = columns as usize;
                let mut dense = vec![0.0; rows * columns];
                for row in 0..rows {
                    for entry in offsets[row] as usize..offsets[row + 1] as usize {
                        dense[row * columns + index[entry] as usize] = values[entry];
                    }
                }
                dense
            }
        }
    }
}

impl RawGraph {
    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.ids.len() as u32
    }

    /// Checks every promise of this file; the error says the first that is broken.
    pub fn validate(&self) -> Result<(), String> {
        let nodes = self.ids.len();
        let ascending = match &self.ids {
            NodeIds::Count(_) => true,
            NodeIds::Numbers(numbers) => numbers.is_sorted_by(|a, b| a < b),
            NodeIds::Strings(words) => words.is_sorted_by(|a, b| a < b),
        };
        let same = |name: &str, found: usize, expected: usize| {
            if found == expected {
                Ok(())
            } else {
                Err(format!("{name}: expected {expected} rows, found {found}"))
            }
        };
        if !ascending {
            return Err("node ids are not ascending and distinct".into());
        }
        same("targets", self.edges.target.len(), self.edges.len())?;
        if let Some(weight) = &self.edges.weight {
            same("weights", weight.len(), self.edges.len())?;
        }
        if let Some(relation) = &self.edges.relation {
            same("relations", relation.len(), self.edges.len())?;
            if let Some(far) =
                relation.iter().find(|&&relation| usize::from(relation) >= self.relations.len())
            {
                return Err(format!("an edge has relation {far} of {}", self.relations.len()));
            }
        }
        if let Some(features) = &self.edges.features {
            same(
                "features of edges",
                features.values.len(),
                self.edges.len() * features.columns as usize,
            )?;
        }
        if let Some(row) =
            self.edges.source.iter().chain(&self.edges.target).find(|&&row| row as usize >= nodes)
        {
            return Err(format!("an edge names row {row} of {nodes}"));
        }
        for split in &self.splits {
            same("split", split.len(), nodes)?;
        }
        for (name, column) in &self.columns {
            same(name, column.len(), nodes)?;
        }
        self.labels
            .iter()
            .chain(&self.node_labels)
            .try_for_each(|labels| labels.validate(nodes))?;
        self.features.iter().try_for_each(|features| features.validate(nodes))?;
        self.kinds.iter().try_for_each(|kinds| kinds.validate(nodes))?;
        self.types.iter().try_for_each(|types| types.validate(nodes))?;
        self.graphs.iter().try_for_each(|graphs| graphs.validate(nodes, &self.edges))
    }
}

impl Kinds {
    fn validate(&self, nodes: usize) -> Result<(), String> {
        if self.of_node.len() != nodes || self.features.len() != self.names.len() {
            return Err(format!(
                "kinds: expected {nodes} rows and features for {} kinds, found {} and {}",
                self.names.len(),
                self.of_node.len(),
                self.features.len()
            ));
        }
        let mut count = vec![0; self.names.len()];
        for &kind in &self.of_node {
            *count
                .get_mut(usize::from(kind))
                .ok_or_else(|| format!("a node has kind {kind} of {}", self.names.len()))? += 1;
        }
        self.features.iter().zip(count).try_for_each(|(features, count)| {
            features.iter().try_for_each(|features| features.validate(count))
        })
    }
}

impl NodeTypes {
    fn validate(&self, nodes: usize) -> Result<(), String> {
        let in_range = self
            .of_nodes
            .iter()
            .all(|&(node, name)| (node as usize) < nodes && (name as usize) < self.names.len());
        let ascends =
            self.of_nodes.is_sorted_by(|a, b| a < b) && self.names.is_sorted_by(|a, b| a < b);
        if in_range && ascends {
            Ok(())
        } else {
            Err("types: nodes and names are not in range, ascending and distinct".into())
        }
    }
}

impl Graphs {
    /// How many graphs there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn validate(&self, nodes: usize, edges: &Edges) -> Result<(), String> {
        if self.of_node.len() != nodes {
            return Err(format!("graphs: expected {nodes} rows, found {}", self.of_node.len()));
        }
        if let Some(far) = self.of_node.iter().find(|&&graph| graph as usize >= self.len()) {
            return Err(format!("a node is in graph {far} of {}", self.len()));
        }
        let mut ends = edges.source.iter().zip(&edges.target);
        if let Some((source, target)) = ends.find(|&(&source, &target)| {
            self.of_node[source as usize] != self.of_node[target as usize]
        }) {
            return Err(format!("an edge joins rows {source} and {target} of two graphs"));
        }
        if let Some(split) = self.splits.iter().find(|split| split.len() != self.len()) {
            return Err(format!(
                "split of graphs: expected {} rows, found {}",
                self.len(),
                split.len()
            ));
        }
        if let Some((name, column)) =
            self.columns.iter().find(|(_, column)| column.len() != self.len())
        {
            return Err(format!(
                "column `{name}` of graphs: expected {} rows, found {}",
                self.len(),
                column.len()
            ));
        }
        self.labels.iter().try_for_each(|labels| labels.validate(self.len()))
    }
}

impl Labels {
    fn validate(&self, nodes: usize) -> Result<(), String> {
        let (found, per_node) = match self {
            Labels::Classes { class, names } => {
                if let Some(class) =
                    class.iter().find(|&&class| class != NO_CLASS && class as usize >= names.len())
                {
                    return Err(format!("a node has class {class} of {}", names.len()));
                }
                (class.len(), 1)
            }
            Labels::Values(values) => (values.len(), 1),
            Labels::Rows { columns, values } => (values.len(), *columns as usize),
        };
        if found == nodes * per_node {
            Ok(())
        } else {
            Err(format!("labels: expected {}, found {found}", nodes * per_node))
        }
    }
}

impl Features {
    fn validate(&self, nodes: usize) -> Result<(), String> {
        match self {
            Features::Dense { columns, values } if values.len() == nodes * *columns as usize => {
                Ok(())
            }
            Features::Dense { values, .. } => {
                Err(format!("features: found {} values for {nodes} nodes", values.len()))
            }
            Features::Sparse { columns, offsets, index, values } => {
                let ends = offsets.len() == nodes + 1
                    && offsets.first() == Some(&0)
                    && offsets.last() == Some(&(index.len() as u64));
                if !ends || !offsets.is_sorted() || index.len() != values.len() {
                    return Err("features: the offsets do not fit the entries".into());
                }
                let sound = |row: &[u64]| {
                    let row = &index[row[0] as usize..row[1] as usize];
                    row.is_sorted_by(|a, b| a < b) && row.last().is_none_or(|last| last < columns)
                };
                if offsets.windows(2).all(sound) {
                    Ok(())
                } else {
                    Err("features: a row's columns are not ascending, distinct and in range".into())
                }
            }
        }
    }
}

impl Column {
    /// How many rows it has.
    pub fn len(&self) -> usize {
        match self {
            Column::Integers(values) => values.len(),
            Column::Reals(values) => values.len(),
            Column::Texts(values) => values.len(),
        }
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What to do about a feature that is no number.
pub const FEATURE_HINT: &str = "features are finite numbers: write 0 where there is none, as  \
                                numpy.nan_to_num(x, posinf=0, neginf=0)  does";

/// Refuses features that are NaN or infinite: `place` says the row and the column of a value,
/// `error` where they stand.
pub fn refuse_infinite(
    values: &[f32],
    place: impl Fn(usize) -> (usize, usize),
    error: impl Fn(String) -> ReadError,
) -> Read<()> {
    let Some(at) = values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let (row, column) = place(at);
    let error =
        error(format!("a feature is not a finite number: row {row}, column {column}, both from 0"));
    Err(Box::new(error.expected("a finite number", values[at].to_string()).hint(FEATURE_HINT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dense_run_of_ids_is_a_count() {
        assert_eq!(NodeIds::from_ascending(vec![0, 1, 2]), NodeIds::Count(3));
        assert_eq!(NodeIds::from_ascending(vec![1, 2]), NodeIds::Numbers(vec![1, 2]));
        assert_eq!(NodeIds::from_ascending(vec![u64::MAX]), NodeIds::Numbers(vec![u64::MAX]));
    }
}
