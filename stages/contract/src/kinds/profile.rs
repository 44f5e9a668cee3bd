//! profile: what a planner must know of a graph, and what a person wants to know of a data set.
//!
//! files     `profile.json`; `degrees.parquet` (in u64, out u64 per node)
//! promises  exact counts, not estimates, but for the communities, which are found by a heuristic;
//!           every number is finite; 0 where a mean is of nothing
//! format 2  has all of these figures; format 1 had no Gini, histogram, bandwidth, community,
//!           window, feature or label
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Depth, need_file, read_json, write_json};
use crate::{Artifact, Kind, Manifest, Outputs, StageError, row_order::OrderFigures};

/// The readable page.
pub const PROFILE_FILE: &str = "profile.json";
/// Degrees of every node.
pub const DEGREES_FILE: &str = "degrees.parquet";
/// Classes that a page lists, at most.
pub const CLASSES_LISTED: usize = 1024;

/// How degrees spread over all nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Smallest.
    pub min: u64,
    /// The one in the middle of all in ascending order, the lower of two.
    pub median: u64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: u64,
    /// Standard deviation of the whole population.
    pub deviation: f64,
    /// Third standardised moment of the whole population; 0 when all are equal.
    pub skew: f64,
    /// Gini coefficient: the mean difference of two nodes' degrees over twice the mean degree; 0
    /// when all are equal, towards 1 when one node has every edge.
    pub gini: f64,
    /// Nodes by degree in powers of two, see `log_bin`.
    pub histogram: Vec<u64>,
}

/// The bin of a number in the histograms here: bin 0 holds 0, bin k holds 2^(k - 1) to 2^k - 1.
pub fn log_bin(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// The smallest number in a bin.
pub fn log_bin_start(bin: usize) -> u64 {
    if bin == 0 { 0 } else { 1 << (bin - 1) }
}

/// The adjacency as blocks on the diagonal: runs of consecutive nodes without an edge between runs;
/// an isolated node is a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockFigures {
    /// How many.
    pub count: u64,
    /// Nodes of the largest.
    pub largest: u64,
    /// Whether it is block diagonal in more than name, as sets of many small graphs are: at least 8
    /// blocks and none above an eighth of the nodes.
    pub diagonal: bool,
}

/// Communities of the nodes that have an edge, found by moving nodes, then communities, to where
/// modularity grows (Louvain).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommunityFigures {
    /// How many; isolated nodes are in none.
    pub count: u64,
    /// Nodes of the largest.
    pub largest: u64,
    /// Nodes of one, in the mean.
    pub mean: f64,
    /// Standard deviation of their sizes.
    pub deviation: f64,
    /// Newman's modularity of these communities in the undirected multigraph of all listed edges,
    /// without weights: the share of edges inside communities, less the share that would be if ends
    /// were joined at random.
    pub modularity: f64,
    /// Communities by size in powers of two, see `log_bin`.
    pub histogram: Vec<u64>,
}

/// How full tiles for tensor cores would be, for windows of so many consecutive target nodes;
/// parallel edges are one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowFigures {
    /// Targets in a window, R (the last window may have fewer).
    pub rows: u64,
    /// Nonzero R x 1 vectors: for each window the sources with an edge into it, summed.
    pub vectors: u64,
    /// Most vectors of a window.
    pub vectors_most: u64,
    /// Entries over places of those vectors: entries / (R * vectors).
    pub density: f64,
    /// R x 8 tiles that hold the vectors of each window side by side.
    pub tiles: u64,
    /// Entries over places of those tiles: entries / (8 * R * tiles).
    pub tile_density: f64,
}

/// Values of a table of features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureFigures {
    /// The kind of nodes that it is of, where kinds have tables of their own; none: it is of all
    /// nodes.
    pub kind: Option<String>,
    /// Rows.
    pub rows: u64,
    /// Width of a row.
    pub columns: u64,
    /// Whether the graph artifact stores only what is not 0.
    pub sparse: bool,
    /// Values that are not 0.
    pub nonzero: u64,
    /// Share of values that are not 0: nonzero / (rows * columns).
    pub density: f64,
    /// Rows whose values are all 0.
    pub empty_rows: u64,
}

/// Nodes, or graphs, of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassCount {
    /// The class.
    pub class: u32,
    /// Members of it.
    pub count: u64,
}

/// What is to be learned, of nodes or of graphs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum LabelFigures {
    /// One class each.
    Classes {
        /// Largest class + 1: the width of a classifier.
        classes: u64,
        /// Classes that have a member.
        present: u64,
        /// Members of all classes; the rest has no label.
        labelled: u64,
        /// Entropy of the shares of present classes over its largest value, ln(present): 1 when all
        /// are equal; 1 for one class.
        balance: f64,
        /// Classes by falling members, then by number; at most `CLASSES_LISTED`.
        listed: Vec<ClassCount>,
    },
    /// A number each.
    Values {
        /// How many are finite; the others are left out of the rest.
        labelled: u64,
        /// Smallest.
        min: f64,
        /// Mean.
        mean: f64,
        /// Largest.
        max: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// A row of numbers each: several classes at once where all are 0 or 1, else several targets.
    Rows {
        /// Width of a row.
        columns: u64,
        /// Rows of finite numbers; the others are left out of the rest.
        labelled: u64,
        /// Whether all values are 0 or 1.
        binary: bool,
        /// Values that are not 0, a row in the mean.
        nonzero_mean: f64,
        /// Rows that are not 0 in the column that has the fewest.
        column_least: u64,
        /// Rows that are not 0 in the column that has the most.
        column_most: u64,
    },
}

/// Whether edges join nodes of one class; over edges between two different nodes that both have a
/// class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Homophily {
    /// Those edges.
    pub edges: u64,
    /// Share of them whose ends have the same class (edge homophily).
    pub share: f64,
    /// The share that would be if ends were joined at random: sum over classes of the squared share
    /// of edge ends.
    pub by_chance: f64,
    /// (share - by_chance) / (1 - by_chance), adjusted homophily (Platonov et al. 2023): 1 when
    /// only equals are joined, 0 by chance, negative when edges avoid equals; 0 when all ends have
    /// one class.
    pub adjusted: f64,
}

/// The graphs of a set of many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphFigures {
    /// How many.
    pub count: u64,
    /// Nodes of the smallest.
    pub least: u64,
    /// Nodes of one, in the mean.
    pub mean: f64,
    /// Nodes of the largest.
    pub most: u64,
    /// Standard deviation of their nodes.
    pub deviation: f64,
    /// Labels of graphs, if there are any.
    pub labels: Option<LabelFigures>,
}

/// What profile.json says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Nodes.
    pub nodes: u64,
    /// Edges, parallel ones each.
    pub edges: u64,
    /// In-degrees; parallel edges count each, a self loop once.
    pub in_degree: Spread,
    /// Out-degrees.
    pub out_degree: Spread,
    /// Nodes without any edge.
    pub isolated: u64,
    /// Edges from a node to itself.
    pub self_loops: u64,
    /// Edges beyond the first between the same ends in the same direction.
    pub parallel_edges: u64,
    /// Whether each edge has its reverse (with the same multiplicity, weight and type).
    pub symmetric: bool,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Relations; 1 when the graph has no types.
    pub relations: u64,
    /// Edges of each relation, by number.
    pub relation_edges: Vec<u64>,
    /// Figures of the order in which the nodes stand.
    pub order: OrderFigures,
    /// Edges by |source - target| in powers of two, see `log_bin`.
    pub spans: Vec<u64>,
    /// Weakly connected components.
    pub components: u64,
    /// Nodes of the largest.
    pub component_largest: u64,
    /// Blocks of the adjacency.
    pub blocks: BlockFigures,
    /// Blocks of the adjacency without its farthest edges: those beyond the first bins of `spans`
    /// that hold 99 of 100 edges. What is diagonal here and not in `blocks` is nearly block
    /// diagonal.
    pub blocks_nearly: BlockFigures,
    /// Communities.
    pub communities: CommunityFigures,
    /// Windows of 8 targets (FlashSparse's vectors) and of 16 (F3S's blocks).
    pub windows: [WindowFigures; 2],
    /// Nodes of each kind, by number; empty when there is but one.
    pub kind_nodes: Vec<u64>,
    /// Features of nodes: one table, or one of each kind that has its own; empty without features.
    pub features: Vec<FeatureFigures>,
    /// Labels of nodes, if there are any.
    pub labels: Option<LabelFigures>,
    /// Where labels of nodes are classes.
    pub homophily: Option<Homophily>,
    /// In sets of many graphs.
    pub graphs: Option<GraphFigures>,
}

/// Writes the page.
pub fn write(outputs: &mut Outputs, profile: &Profile) -> Result<(), StageError> {
    write_json(&outputs.file(Kind::Profile, PROFILE_FILE), profile)?;
    outputs.count(Kind::Profile, "nodes", profile.nodes);
    outputs.count(Kind::Profile, "edges", profile.edges);
    Ok(())
}

/// Writes the degrees.
#[cfg(feature = "tables")]
pub fn write_degrees(
    outputs: &mut Outputs,
    incoming: Vec<u64>,
    outgoing: Vec<u64>,
) -> Result<(), StageError> {
    use crate::{
        arrow_file::numbers,
        parquet_file::{field, write_table},
    };
    use arrow_schema::DataType;
    let columns = vec![
        (field("in", DataType::UInt64), numbers(incoming)),
        (field("out", DataType::UInt64), numbers(outgoing)),
    ];
    write_table(&outputs.file(Kind::Profile, DEGREES_FILE), columns)
}

/// Reads the page.
pub fn open(artifact: &Artifact) -> Result<Profile, StageError> {
    read_json(&artifact.file(PROFILE_FILE))
}

/// Schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, _depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, PROFILE_FILE)?;
    need_file(directory, manifest, DEGREES_FILE)?;
    let path = directory.join(PROFILE_FILE);
    let profile: Profile = read_json(&path)?;
    #[cfg(feature = "tables")]
    {
        let degrees = directory.join(DEGREES_FILE);
        super::expect_length(
            &degrees,
            "nodes",
            profile.nodes,
            crate::parquet_file::describe(&degrees)?.0,
        )?;
    }
    match profile.contradiction() {
        None => Ok(()),
        Some(what) => {
            Err(StageError::damaged(&path, format!("counts contradict each other: {what}")))
        }
    }
}

impl Profile {
    /// What cannot be, whatever the graph.
    fn contradiction(&self) -> Option<&'static str> {
        let sum = |histogram: &[u64]| {
            histogram.iter().fold(0u64, |sum, count| sum.saturating_add(*count))
        };
        let over = |histogram: &[u64], count: u64| sum(histogram) != count;
        let rules = [
            (self.isolated > self.nodes, "more isolated nodes than nodes"),
            (
                self.self_loops > self.edges || self.parallel_edges > self.edges,
                "more loops or repeats than edges",
            ),
            (
                self.component_largest > self.nodes || self.blocks.largest > self.nodes,
                "a part is larger than the graph",
            ),
            (
                over(&self.in_degree.histogram, self.nodes)
                    || over(&self.out_degree.histogram, self.nodes),
                "degrees of more or fewer nodes than there are",
            ),
            (
                over(&self.spans, self.edges) || over(&self.relation_edges, self.edges),
                "a histogram of more or fewer edges than there are",
            ),
            (
                !self.kind_nodes.is_empty() && over(&self.kind_nodes, self.nodes),
                "kinds of more or fewer nodes than there are",
            ),
            (
                over(&self.communities.histogram, self.communities.count),
                "a histogram of more or fewer communities than there are",
            ),
            (
                self.windows.map(|window| window.rows) != [8, 16],
                "windows of another height than 8 and 16",
            ),
        ];
        rules.into_iter().find_map(|(broken, what)| broken.then_some(what))
    }
}
