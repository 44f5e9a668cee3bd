//! partition: how the work over a permuted csr is divided.
//!
//! files     `partition.json` (each scheme with its settings, tables, bytes and padding) and one
//!           Arrow file per table. Tables over in-edges begin with `in_`, those over out-edges with
//!           `out_`; a table of one column has the column's name;
//!           those of `row_lists` (`*_edges`: far end and id of each edge, by row, then id;
//!           `*_walk_rows`, `*_walk_offsets`, `*_walk_edges`: rows in the order of a GPU, the start
//!           of each, and their edges) are of scheme `rows`, whose tables over both directions
//!           together (in-edges of a row by id, then its out-edges, whose ids follow those of all
//!           in-edges) begin with `both_` and are there where they were asked for
//! promises  scheme `rows` is there; every table has the columns, widths and length that the page
//!           says; a slot is a place among the edges of its direction in the csr; numbers that may
//!           pass 2^32 are u32 where they fit and u64 where not
//! never     copies weights or features; holds a division of edges that leaves one out or has one
//!           twice
//!
//! | scheme | tables (`*`: once with `in_`, once with `out_`) |
//! |---|---|
//! | `rows` | `*_rows`: first row of each unit, and the number of rows; and `row_lists` |
//! | `neighbour-groups` | `*_groups`: node, start and end slot, place in shared memory and whether it leads (GNNAdvisor, algorithm 3-1); `*_group_first`: first group of each node, and their number; `*_group_spans`: node, first block and number of blocks of each node whose groups lie in several blocks, and, with 0 blocks, of each without a group |
//! | `merge-path` | `*_merge_path`: row and slot where each chunk starts, and the ends |
//! | `warp-tiles` | `*_warp_tiles`: row and start slot; `*_warp_tile_first`: first tile of each row, and their number |
//! | `block-tiles` | `*_block_tiles`, `*_block_tile_first`: the same |
//! | `degree-bins` | `*_bins`: start of each bin among `*_bin_rows`, and their number; bin 0 has degree 0, bin b degrees 2^(b-1) to 2^b - 1 |
//! | `sorted-columns` | `*_sorted_columns`: column, row, slot of each edge by column, then row |
//! | `interleaved` | `interleaved_groups`: first place of each group of vertices, and their number; `interleaved_places`: place of the message of each out-slot |
//! | `row-major` | `row_major_places`: in-slot, hence place of the message, of each out-slot |
//! | `relation-major` | `*_relations`: start of each relation, and the number of edges; `*_relation_edges`: row, neighbour, slot by relation, then row |
//! | `row-relation` | `*_row_types`: relation of each slot; or `*_row_runs`: first run of each row, and their number, with `*_runs`: relation and start slot |
//! | `packed-graphs` | `graph_blocks`: first graph and first row of each block, and the ends; `block_graphs`: graph and its first row; `block_rows`: rows by block, graph, number |
//! | `feature-entries` | `feature_walk_*`: entries of sparse features (`feature_walks`) |
//! | `ascending-edges` | `*_ascending_*`: edges of each row by far end (`row_lists`) |
//! | `file` | `file_groups`: node, start and end slot, by slot; `file_group_spans`: as `*_group_spans` |
use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{Depth, need_count, need_file, read_json, write_json};
use crate::{
    Artifact, Kind, Manifest, Outputs, StageError,
    arrow_file::{View, open_numbers},
    row_order::WalkOrder,
};

pub mod feature_walks;
mod invariants;
pub mod row_lists;
mod tables;

pub use feature_walks::{
    FEATURE_FILES, FEATURE_OFFSETS_FILES, FeatureSize, FeatureTable, FeatureWalk,
};
pub use tables::{Cells, Column, ColumnFacts, Table, TableFacts, Width};

/// File that lists the schemes.
pub const PARTITION_FILE: &str = "partition.json";

/// Count of scheme `rows`: rows of more edges come first in the order of a GPU.
pub const SORTED_ABOVE: &str = "walk_sorted_above";
/// The same of walks over both directions together, where their tables are there.
pub const SORTED_ABOVE_OF_BOTH: &str = "both_walk_sorted_above";
/// Counts of scheme `rows`: edges aimed at, units of in-edges, and edges of the fullest.
pub const UNITS: [&str; 3] = ["unit_edges", "units", "unit_edges_max"];
/// Files of scheme `rows`, over in-edges and out-edges: units of work of a CPU.
pub const UNITS_FILES: [&str; 2] = ["in_rows.arrow", "out_rows.arrow"];
/// The edges of each row, in the order of the rows' numbers.
pub const EDGES_FILES: [&str; 2] = ["in_edges.arrow", "out_edges.arrow"];
/// Where rows start in the order of a GPU: of in-edges, of out-edges and of both together.
pub const OFFSETS_FILES: [&str; 3] =
    ["in_walk_offsets.arrow", "out_walk_offsets.arrow", "both_walk_offsets.arrow"];
/// Rows in the order of a GPU, where they start, and their edges.
pub const WALK_FILES: [[&str; 3]; 3] = [
    ["in_walk_rows.arrow", OFFSETS_FILES[0], "in_walk_edges.arrow"],
    ["out_walk_rows.arrow", OFFSETS_FILES[1], "out_walk_edges.arrow"],
    ["both_walk_rows.arrow", OFFSETS_FILES[2], "both_walk_edges.arrow"],
];

/// Rows by number, where they start and their edges by far end, over in-edges and out-edges.
pub const ASCENDING_FILES: [[&str; 2]; 2] = [
    ["in_ascending_offsets.arrow", "in_ascending_edges.arrow"],
    ["out_ascending_offsets.arrow", "out_ascending_edges.arrow"],
];

/// Scheme `ascending-edges`, by name: it is there where it is asked for.
pub const ASCENDING_EDGES: &str = "ascending-edges";
/// Scheme `feature-entries`, by name: it is there where the graph has sparse features.
pub const FEATURE_ENTRIES: &str = "feature-entries";
/// Scheme `neighbour-groups`, by name.
pub const NEIGHBOUR_GROUPS: &str = "neighbour-groups";
/// Scheme `file`, by name.
pub const FILE: &str = "file";
/// Counts of the schemes by groups, where one was asked for: most neighbours of a group of
/// `neighbour-groups`, lanes of a group and threads of a block.
pub const GROUP_SETTINGS: [&str; 3] = ["ngs", "dw", "block_threads"];
/// Tables of groups: of scheme `neighbour-groups` over in-edges and out-edges, and of `file`. The
/// rows of each are a count under its name.
pub const GROUP_TABLES: [&str; 3] = ["in_groups", "out_groups", "file_groups"];
/// Tables of the rows that no block of groups finishes alone, in the same order.
pub const SPAN_TABLES: [&str; 3] = ["in_group_spans", "out_group_spans", "file_group_spans"];
/// The files of the tables of groups.
pub const GROUP_FILES: [&str; 3] = ["in_groups.arrow", "out_groups.arrow", "file_groups.arrow"];
/// The files of the tables of rows.
pub const SPAN_FILES: [&str; 3] =
    ["in_group_spans.arrow", "out_group_spans.arrow", "file_group_spans.arrow"];

/// Threads of a warp.
pub const WARP: u64 = 32;
/// Bytes of a nonzero that is staged in shared memory: its column and its value.
pub const STAGED_BYTES: u64 = 8;

/// What partition.json says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Parts, for as many devices.
    pub parts: u64,
    /// The divisions that are here.
    pub schemes: Vec<Division>,
}

/// One division and what it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Division {
    /// Which, with its settings.
    pub scheme: Scheme,
    /// Why it is here.
    pub why: String,
    /// Its tables.
    pub tables: Vec<TableFacts>,
    /// What lies empty, where a scheme has places that hold nothing.
    pub padding: Option<Padding>,
}

/// Places that a scheme sets up, in all directions it has, and those of them that hold nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Padding {
    /// All of them.
    pub places: u64,
    /// Those that hold nothing.
    pub empty: u64,
}

/// A way to divide, with its settings; where there are two numbers, of in-edges and of out-edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name", deny_unknown_fields)]
pub enum Scheme {
    /// Runs of rows with about equal numbers of edges; and the edges of each row as executors walk
    /// them.
    Rows {
        /// Edges aimed at.
        unit_edges: u64,
        /// Units.
        units: [u64; 2],
        /// Most edges of a unit: one heavy row may exceed the aim.
        unit_edges_max: u64,
        /// The order in which a GPU takes rows.
        walk: WalkOrder,
        /// The same for walks over both directions together, where their tables are there.
        both_walk: Option<WalkOrder>,
    },
    /// Groups of at most so many neighbours of one node (GNNAdvisor, section 3.2.1).
    NeighbourGroups {
        /// Neighbours of a group, at most.
        ngs: u64,
        /// Lanes that share the columns of a group's row.
        dw: u64,
        /// Threads of a block: so many times `dw`, so many groups.
        block_threads: u64,
        /// Nodes that no block finishes alone: their groups lie in several, or they have none.
        spanning: [u64; 2],
    },
    /// Equal numbers of rows and edges together, wherever rows end.
    MergePath {
        /// Rows and edges of a chunk.
        merge_items: u64,
    },
    /// Tiles of a row's nonzeros, each staged by a warp (SpMM study, step 4).
    WarpTiles {
        /// Nonzeros of a tile, at most.
        warp_tile: u64,
        /// Threads of a block.
        block_threads: u64,
        /// Shared memory of a block that stages a tile in every warp.
        shared_bytes: u64,
    },
    /// Tiles of a row's nonzeros, each staged by a block (SpMM study, steps 5 and 6).
    BlockTiles {
        /// Nonzeros of a tile, at most.
        block_tile: u64,
        /// Shared memory of a block.
        shared_bytes: u64,
    },
    /// Rows by powers of two of their degree.
    DegreeBins {
        /// Bins, with those that are empty.
        bins: [u64; 2],
    },
    /// Coordinates by column, then row (SpMM study, step 3).
    SortedColumns {},
    /// Messages lane by lane in groups of vertices (PregelGPU, section 4.2.2).
    Interleaved {
        /// Vertices of a group.
        lanes: u64,
    },
    /// Messages row by row (Medusa's; PregelGPU, section 2.2.2).
    RowMajor {},
    /// Edges by relation, then row.
    RelationMajor {
        /// Relations, with those that have no edge.
        relations: u64,
    },
    /// Relations inside each row, which lists them in order (Seastar, section 6.3.5).
    RowRelation {
        /// Edges, relations of each row added up, and what follows of them.
        forms: [RelationForm; 2],
    },
    /// Whole graphs of a set of many in blocks.
    PackedGraphs {
        /// Nodes of a block, at most.
        block_nodes: u64,
        /// Blocks.
        blocks: u64,
        /// Blocks of one graph that is larger.
        oversize: u64,
    },
    /// Entries of sparse features, by row and by column.
    FeatureEntries {
        /// The features, of all nodes or of kinds.
        features: Vec<FeatureSize>,
    },
    /// The edges of each row by far end, for kernels that search them.
    AscendingEdges {},
    /// A user's own groups of in-neighbours.
    File {
        /// The digest of the file.
        blake3: String,
        /// Lanes that share the columns of a group's row.
        dw: u64,
        /// Threads of a block: so many times `dw`, so many groups.
        block_threads: u64,
        /// Nodes that no block finishes alone.
        spanning: u64,
    },
}

/// How the relations inside rows are kept: as Seastar says, section 6.3.5, offsets where edges /
/// relations of all rows > 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationForm {
    /// Edges (Ne).
    pub edges: u64,
    /// Distinct relations of each row, summed over rows (Nt).
    pub distinct: u64,
    /// Whether runs are kept, not a relation for each edge.
    pub runs: bool,
}

impl RelationForm {
    /// The form that the rule chooses.
    pub fn choose(edges: u64, distinct: u64) -> Self {
        RelationForm { edges, distinct, runs: edges > distinct.saturating_mul(2) }
    }
}

impl Scheme {
    /// As a pipeline file calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Scheme::Rows { .. } => "rows",
            Scheme::NeighbourGroups { .. } => NEIGHBOUR_GROUPS,
            Scheme::MergePath { .. } => "merge-path",
            Scheme::WarpTiles { .. } => "warp-tiles",
            Scheme::BlockTiles { .. } => "block-tiles",
            Scheme::DegreeBins { .. } => "degree-bins",
            Scheme::SortedColumns {} => "sorted-columns",
            Scheme::Interleaved { .. } => "interleaved",
            Scheme::RowMajor {} => "row-major",
            Scheme::RelationMajor { .. } => "relation-major",
            Scheme::RowRelation { .. } => "row-relation",
            Scheme::PackedGraphs { .. } => "packed-graphs",
            Scheme::FeatureEntries { .. } => FEATURE_ENTRIES,
            Scheme::AscendingEdges {} => ASCENDING_EDGES,
            Scheme::File { .. } => FILE,
        }
    }
}

impl Division {
    /// The counts that a plan by groups needs: settings, and rows of its tables.
    fn group_counts(&self) -> Vec<(&str, u64)> {
        let [ngs, dw, block_threads] = GROUP_SETTINGS;
        let mut counts = match self.scheme {
            Scheme::NeighbourGroups { ngs: most, dw: lanes, block_threads: threads, .. } => {
                vec![(ngs, most), (dw, lanes), (block_threads, threads)]
            }
            Scheme::File { dw: lanes, block_threads: threads, .. } => {
                vec![(dw, lanes), (block_threads, threads)]
            }
            _ => return Vec::new(),
        };
        let is_counted =
            |table: &&TableFacts| [GROUP_TABLES, SPAN_TABLES].concat().contains(&&*table.name);
        let tables = self.tables.iter().filter(is_counted);
        counts.extend(tables.map(|table| (table.name.as_str(), table.rows)));
        counts
    }

    /// Bytes of all its tables.
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(TableFacts::bytes).sum()
    }
}

/// Tables of a division by their names.
#[derive(Clone, Debug, Default)]
pub struct Tables(BTreeMap<String, Table>);

impl FromIterator<Table> for Tables {
    fn from_iter<I: IntoIterator<Item = Table>>(tables: I) -> Self {
        Tables(tables.into_iter().map(|table| (table.name.clone(), table)).collect())
    }
}

impl Tables {
    /// Maps the tables of a division.
    pub fn open(directory: &Path, division: &Division) -> Result<Self, StageError> {
        division.tables.iter().map(|facts| Table::open(directory, facts)).collect()
    }

    /// A table.
    pub fn get(&self, name: &str) -> Result<&Table, StageError> {
        self.0.get(name).ok_or_else(|| {
            StageError::defect(format!(
                "a division was asked for a table `{name}` that it does not have"
            ))
        })
    }

    /// A column of a table.
    pub fn column(&self, table: &str, column: &str) -> Result<&Column, StageError> {
        self.get(table)?.column(column)
    }

    /// The column of a table that has one.
    pub fn only_column(&self, table: &str) -> Result<&Column, StageError> {
        self.column(table, table)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.0.values()
    }
}

/// Groups of neighbours of one direction, in the order of their table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeighbourGroups {
    /// Node of each.
    pub node: Vec<u32>,
    /// First slot of each.
    pub start: Vec<u64>,
    /// The slot behind the last.
    pub end: Vec<u64>,
}

/// Groups of one direction as a GPU takes them, mapped: numbers of 32 bits.
#[derive(Clone, Debug)]
pub struct GroupViews {
    /// Node of each group.
    pub node: View<u32>,
    /// First slot of each.
    pub start: View<u32>,
    /// The slot behind the last.
    pub end: View<u32>,
    /// Each node that no block finishes alone.
    pub span_node: View<u32>,
    /// The first block with a group of it.
    pub span_block: View<u32>,
    /// Number of blocks with a group of it.
    pub span_blocks: View<u32>,
}

/// Units of scheme `rows`, mapped; empty where no launch goes by them.
#[derive(Clone, Debug, Default)]
pub struct RowUnits {
    /// First row of each unit over in-edges, and the number of rows.
    pub incoming: View<u32>,
    /// The same over out-edges.
    pub outgoing: View<u32>,
}

/// Writes a table.
pub fn write_table(outputs: &Outputs, table: &Table) -> Result<(), StageError> {
    table.write(&outputs.file(Kind::Partition, &tables::table_file(&table.name)))
}

/// Writes the page, after all tables.
pub fn write(
    outputs: &mut Outputs,
    partition: &Partition,
    nodes: u64,
    edges: u64,
) -> Result<(), StageError> {
    write_json(&outputs.file(Kind::Partition, PARTITION_FILE), partition)?;
    outputs.count(Kind::Partition, "nodes", nodes);
    outputs.count(Kind::Partition, "edges", edges);
    for (name, count) in partition.schemes.iter().flat_map(Division::group_counts) {
        outputs.count(Kind::Partition, name, count);
    }
    let of_rows = |division: &Division| match &division.scheme {
        Scheme::Rows { unit_edges, units, unit_edges_max, walk, both_walk } => {
            let counts = [*unit_edges, units[0], *unit_edges_max, walk.sorted_above];
            Some(counts.into_iter().chain(both_walk.map(|walk| walk.sorted_above)))
        }
        _ => None,
    };
    for (name, count) in UNITS
        .into_iter()
        .chain([SORTED_ABOVE, SORTED_ABOVE_OF_BOTH])
        .zip(partition.schemes.iter().find_map(of_rows).into_iter().flatten())
    {
        outputs.count(Kind::Partition, name, count);
    }
    Ok(())
}

/// The page of an artifact.
pub fn open(artifact: &Artifact) -> Result<Partition, StageError> {
    read_json(&artifact.file(PARTITION_FILE))
}

/// Maps the units of scheme `rows` of the directions that are needed.
pub fn open_rows(artifact: &Artifact, needs: [bool; 2]) -> Result<RowUnits, StageError> {
    let open = |side: usize, column: &str| {
        let opened = || open_numbers(&artifact.file(UNITS_FILES[side]), column);
        needs[side].then(opened).transpose().map(Option::unwrap_or_default)
    };
    Ok(RowUnits { incoming: open(0, "in_rows")?, outgoing: open(1, "out_rows")? })
}

/// Reads a table of groups over so many edges.
pub fn open_groups(
    artifact: &Artifact,
    table: &str,
    edges: u64,
) -> Result<NeighbourGroups, StageError> {
    let path = artifact.file(&tables::table_file(table));
    let slots = |column: &str| -> Result<Vec<u64>, StageError> {
        Ok(if Width::from_largest(edges) == Width::U32 {
            open_numbers::<u32>(&path, column)?.iter().map(|&slot| u64::from(slot)).collect()
        } else {
            open_numbers::<u64>(&path, column)?.to_vec()
        })
    };
    Ok(NeighbourGroups {
        node: open_numbers::<u32>(&path, "node")?.to_vec(),
        start: slots("start")?,
        end: slots("end")?,
    })
}

/// Maps a table of groups and the rows that no block finishes alone, for fewer than 2^32 edges.
pub fn open_group_views(
    artifact: &Artifact,
    groups: &str,
    spans: &str,
) -> Result<GroupViews, StageError> {
    let [groups, spans] = [groups, spans].map(|table| artifact.file(&tables::table_file(table)));
    Ok(GroupViews {
        node: open_numbers(&groups, "node")?,
        start: open_numbers(&groups, "start")?,
        end: open_numbers(&groups, "end")?,
        span_node: open_numbers(&spans, "node")?,
        span_block: open_numbers(&spans, "block")?,
        span_blocks: open_numbers(&spans, "blocks")?,
    })
}

/// Schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
    need_file(directory, manifest, PARTITION_FILE)?;
    let page = directory.join(PARTITION_FILE);
    let partition: Partition = read_json(&page)?;
    let (nodes, edges) =
        (need_count(directory, manifest, "nodes")?, need_count(directory, manifest, "edges")?);
    let mut names: Vec<&str> =
        partition.schemes.iter().map(|division| division.scheme.name()).collect();
    if !names.contains(&"rows") {
        return Err(StageError::damaged(
            &page,
            "expected scheme `rows` among the schemes, found none",
        ));
    }
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(StageError::damaged(&page, format!("scheme `{}` stands there twice", pair[0])));
    }
    for division in &partition.schemes {
        for table in &division.tables {
            need_file(directory, manifest, &tables::table_file(&table.name))?;
        }
        invariants::Look { directory, depth, nodes, edges }.check(division)?;
    }
    Ok(())
}
