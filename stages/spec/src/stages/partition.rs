//! partition: settings of the stage that divides the graph into units of work and into shards.
//!
//! promises  every scheme is here, with the settings that it reads
//! never     has a setting that changes a result: settings only distribute the work
use std::path::PathBuf;

use crate::{
    declare::{choices, spec},
    field::Range,
    stages::reorder::ProgramInput,
    types::OneOrMore,
};

/// Most rows, edges or neighbours of a unit of work: far more than a block needs, and times all
/// rows still below 2^64.
const PIECE_MOST: f64 = 16_777_216.0;

spec! {
    /// Settings of the stage `partition`.
    pub PartitionSpec {
        /// The partitioning schemes, one or several: `rows`, which every run on a CPU reads, is
        /// always among them. Launches that support groups of neighbours walk by those of `file` or
        /// `program`, else of `neighbour-groups`, where one is named; `plan.schedule` says
        /// otherwise.
        scheme: OneOrMore<Scheme> = OneOrMore::from_values([Scheme::Auto]);
        /// Most nonzeros in a unit of several rows; units of small graphs have fewer.
        unit_edges: u64 = 16_384, range(Range::closed(64.0, 4_294_967_296.0)), unit("nonzeros");
        /// `rows`: also the edges of both directions together in the order of a GPU, 16 bytes an
        /// edge. A program that walks them on a GPU sets it by itself.
        both_directions: bool = false;
        /// Also the edges of each row in the order of its neighbours, which kernels of a GPU
        /// search, 16 bytes an edge. A program that counts common neighbours on a GPU sets it by
        /// itself.
        ascending_edges: bool = false;
        /// `neighbour-groups`: most neighbours in a group.
        ngs: u64 = 32, range(Range::closed(1.0, PIECE_MOST)), unit("neighbours");
        /// `neighbour-groups`, `file` and `program`: lanes of a GPU that share the columns of a
        /// group's row, a power of two. A CPU divides no columns.
        dw: u64 = 32, range(Range::closed(1.0, 32.0)), unit("lanes");
        /// `neighbour-groups`, `file`, `program` and `warp-tiles`: threads in a block of a GPU; a
        /// block has as many groups as `dw` divides it. A CPU has no blocks.
        block_threads: u64 = 128, range(Range::closed(32.0, 1024.0).multiple_of(32)),
            unit("threads");
        /// `merge-path`: rows plus nonzeros in a chunk.
        merge_items: u64 = 1024, range(Range::closed(1.0, PIECE_MOST)), unit("rows and nonzeros");
        /// `warp-tiles`: nonzeros that a warp stages at once.
        warp_tile: u64 = 32, range(Range::closed(1.0, PIECE_MOST)), unit("nonzeros");
        /// `block-tiles`: nonzeros that a block stages at once.
        block_tile: u64 = 64, range(Range::closed(1.0, PIECE_MOST)), unit("nonzeros");
        /// `warp-tiles` and `block-tiles`: shared memory of a block for its tiles, 8 bytes for each
        /// nonzero.
        shared_bytes: u64 = 49_152, range(Range::closed(1024.0, 232_448.0)), unit("bytes");
        /// `interleaved`: vertices in a group, one for each lane.
        lanes: u64 = 32, range(Range::closed(1.0, 1024.0)), unit("vertices");
        /// `packed-graphs`: most nodes in a block of graphs; a larger graph has its own block.
        block_nodes: u64 = 256, range(Range::closed(1.0, PIECE_MOST)), unit("nodes");
        /// `file`: a Parquet table with the columns `node`, `start` and `end`, with one group of a
        /// node's in-neighbours in each row; the path is relative to the YAML file, on the command
        /// line to the current folder.
        groups: Option<PathBuf> = None;
        /// `program`: a program of one's own and its arguments, a list of words; it runs in the
        /// folder of the YAML file, and files that the words name are in the key.
        command: Vec<String> = Vec::new();
        /// `program`: the artifacts that the program is given.
        inputs: OneOrMore<ProgramInput> = OneOrMore::from_values([ProgramInput::Csr]);
        /// Number of shards of the graph, one for each GPU.
        parts: u64 = 1, range(Range::closed(1.0, 1.0)), unit("shards"), hint("leave it at 1: more \
            parts come with several GPUs");
    }
}

choices! {
    /// A partitioning scheme.
    Scheme {
        /// Chosen by the profile; at present always `rows`.
        Auto = "auto",
        /// Ranges of whole rows with about equal numbers of nonzeros, and rows by descending
        /// degree.
        Rows = "rows",
        /// Groups of at most `ngs` neighbours of a node, with places in shared memory and leaders
        /// (GNNAdvisor). Launches that walk edges once go by them.
        NeighbourGroups = "neighbour-groups",
        /// Chunks of `merge_items` rows plus nonzeros, across row ends. No run reads it yet.
        MergePath = "merge-path",
        /// Tiles of `warp_tile` nonzeros of a row, each staged by a warp (GE-SpMM). No run reads it
        /// yet.
        WarpTiles = "warp-tiles",
        /// Tiles of `block_tile` nonzeros of a row, each staged by a block. No run reads it yet.
        BlockTiles = "block-tiles",
        /// Rows binned by powers of two of their degree. No run reads it yet.
        DegreeBins = "degree-bins",
        /// Nonzeros as coordinates (COO) by column, then row. No run reads it yet.
        SortedColumns = "sorted-columns",
        /// Messages lane by lane in groups of `lanes` vertices (PregelGPU). No run reads it yet.
        Interleaved = "interleaved",
        /// Messages row by row (Medusa). No run reads it yet.
        RowMajor = "row-major",
        /// Edges by relation, then row. No run reads it yet.
        RelationMajor = "relation-major",
        /// Relations inside each row, for each edge or run-length coded, whichever is shorter
        /// (Seastar). No run reads it yet.
        RowRelation = "row-relation",
        /// Whole graphs of a set of many, packed into blocks of `block_nodes` nodes. No run reads
        /// it yet.
        PackedGraphs = "packed-graphs",
        /// The groups of the table `groups`. Launches that walk in-edges once go by them.
        File = "file",
        /// The groups of the table that the program `command` writes, which is then as one of
        /// `file`.
        Program = "program",
    }
}

impl Scheme {
    /// Whether a run divides its work by the scheme.
    pub fn has_reader(self) -> bool {
        use Scheme::{Auto, File, NeighbourGroups, Program, Rows};
        matches!(self, Auto | Rows | NeighbourGroups | File | Program)
    }

    /// The settings that the scheme reads.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Scheme::NeighbourGroups => &["ngs", "dw", "block_threads"],
            Scheme::MergePath => &["merge_items"],
            Scheme::WarpTiles => &["warp_tile", "block_threads", "shared_bytes"],
            Scheme::BlockTiles => &["block_tile", "shared_bytes"],
            Scheme::Interleaved => &["lanes"],
            Scheme::PackedGraphs => &["block_nodes"],
            Scheme::File => &["groups", "dw", "block_threads"],
            Scheme::Program => &["command", "inputs", "dw", "block_threads"],
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

impl PartitionSpec {
    /// One line about the requested schemes that no run reads, if there are such.
    pub fn unread_schemes(&self) -> Option<String> {
        let list = |schemes: &mut dyn Iterator<Item = &Scheme>| {
            schemes.map(|scheme| format!("`{}`", scheme.name())).collect::<Vec<_>>().join(", ")
        };
        let unread = list(&mut self.scheme.iter().filter(|scheme| !scheme.has_reader()));
        let read = list(
            &mut Scheme::ALL
                .iter()
                .filter(|scheme| **scheme != Scheme::Auto && scheme.has_reader()),
        );
        (!unread.is_empty()).then(|| {
            format!(
                "partition.scheme: {unread} will be built and checked, and no run reads it yet; \
                 schemes with readers: {read}"
            )
        })
    }
}
