//! partition: how the graph is cut into units of work and into shards.
//!
//! promises  every scheme that can be asked for stands here, and which settings it reads
//! never     has a setting that changes a result, only how the work is shared out
use std::path::PathBuf;

use crate::{
    declare::{choices, spec},
    field::Range,
    types::OneOrMore,
};

/// Rows, edges or neighbours that a piece of work may have: far more than any block works on, and
/// times all rows still below 2^64.
const PIECE_MOST: f64 = 16_777_216.0;

spec! {
    /// Settings of the stage `partition`.
    pub PartitionSpec {
        /// How the graph is cut into units of work, one way or several: `rows`, which every run on
        /// a CPU reads, is always among them.
        scheme: OneOrMore<Scheme> = OneOrMore::from_values([Scheme::Auto]);
        /// How many nonzeros a unit of rows aims at.
        unit_edges: u64 = 16_384, range(Range::closed(64.0, 4_294_967_296.0)), unit("nonzeros");
        /// `neighbour-groups`: how many neighbours a group has at most.
        ngs: u64 = 32, range(Range::closed(1.0, PIECE_MOST)), unit("neighbours");
        /// `neighbour-groups`: how many threads of a warp share the columns of a group's row.
        dw: u64 = 32, range(Range::closed(1.0, 32.0)), unit("threads");
        /// `neighbour-groups` and `warp-tiles`: how many threads a block has.
        block_threads: u64 = 128, range(Range::closed(32.0, 1024.0).multiple_of(32)), unit("threads");
        /// `merge-path`: how many rows and nonzeros together a chunk has.
        merge_items: u64 = 1024, range(Range::closed(1.0, PIECE_MOST)), unit("rows and nonzeros");
        /// `warp-tiles`: how many nonzeros a warp stages at once.
        warp_tile: u64 = 32, range(Range::closed(1.0, PIECE_MOST)), unit("nonzeros");
        /// `block-tiles`: how many nonzeros a block stages at once.
        block_tile: u64 = 64, range(Range::closed(1.0, PIECE_MOST)), unit("nonzeros");
        /// `warp-tiles` and `block-tiles`: how much shared memory a block has for its tiles, 8
        /// bytes a nonzero.
        shared_bytes: u64 = 49_152, range(Range::closed(1024.0, 232_448.0)), unit("bytes");
        /// `interleaved`: how many vertices a group has, each a lane.
        lanes: u64 = 32, range(Range::closed(1.0, 1024.0)), unit("vertices");
        /// `packed-graphs`: how many nodes a block of graphs has at most; a larger graph has a
        /// block of its own.
        block_nodes: u64 = 256, range(Range::closed(1.0, PIECE_MOST)), unit("nodes");
        /// `file`: a Parquet table with the columns `node`, `start` and `end`, a group of a node's
        /// in-neighbours in each row; in YAML relative to the file, on the command line to the
        /// current folder.
        groups: Option<PathBuf> = None;
        /// How many shards the graph is cut into, one per GPU.
        parts: u64 = 1, range(Range::closed(1.0, 1.0)), unit("shards"), hint("leave it at 1: more \
            parts come with several GPUs");
    }
}

choices! {
    /// How the graph is cut into units of work.
    Scheme {
        /// Whatever the profile asks for; `rows` as long as nothing reads another.
        Auto = "auto",
        /// Runs of whole rows with about the same number of nonzeros, and rows by falling degree.
        Rows = "rows",
        /// Groups of at most `ngs` neighbours of a node, with places in shared memory and leaders
        /// (GNNAdvisor).
        NeighbourGroups = "neighbour-groups",
        /// Chunks of `merge_items` rows and nonzeros together, wherever rows end.
        MergePath = "merge-path",
        /// Tiles of `warp_tile` nonzeros of a row, each staged by a warp (GE-SpMM).
        WarpTiles = "warp-tiles",
        /// Tiles of `block_tile` nonzeros of a row, each staged by a block.
        BlockTiles = "block-tiles",
        /// Rows by powers of two of their degree.
        DegreeBins = "degree-bins",
        /// Nonzeros as coordinates by column, then row.
        SortedColumns = "sorted-columns",
        /// Messages lane by lane in groups of `lanes` vertices (PregelGPU).
        Interleaved = "interleaved",
        /// Messages row by row (Medusa).
        RowMajor = "row-major",
        /// Edges by relation, then row.
        RelationMajor = "relation-major",
        /// Relations inside each row, for each edge or by runs, whichever is shorter (Seastar).
        RowRelation = "row-relation",
        /// Whole graphs of a set of many in blocks of `block_nodes` nodes.
        PackedGraphs = "packed-graphs",
        /// The groups of the table `groups`.
        File = "file",
    }
}

impl Scheme {
    /// The settings that it reads and no other scheme need.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Scheme::NeighbourGroups => &["ngs", "dw", "block_threads"],
            Scheme::MergePath => &["merge_items"],
            Scheme::WarpTiles => &["warp_tile", "block_threads", "shared_bytes"],
            Scheme::BlockTiles => &["block_tile", "shared_bytes"],
            Scheme::Interleaved => &["lanes"],
            Scheme::PackedGraphs => &["block_nodes"],
            Scheme::File => &["groups"],
            Scheme::Auto
            | Scheme::Rows
            | Scheme::DegreeBins
            | Scheme::SortedColumns
            | Scheme::RowMajor
            | Scheme::RelationMajor
            | Scheme::RowRelation => &[],
        }
    }
}
