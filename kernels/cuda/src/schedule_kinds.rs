//! schedule_kinds: the names of the schedules by which kernels walk rows and edges, multiply and
//! add.
//!
//! promises  every schedule that the emitter can choose has a name here; `DevicePlan::schedules`
//!           says which of them each launch got; a test asks whether each of them is emitted for
//!           some program (`tests/source_digests.rs`)
//! never     decides anything

use serde::{Deserialize, Serialize};

/// Declares the names, and the list of all.
macro_rules! schedules {
    ($($(#[doc = $about:literal])+ $name:ident,)+) => {
        /// A schedule of a launch, or of a part of one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ScheduleKind {
            $($(#[doc = $about])+ $name,)+
        }

        impl ScheduleKind {
            /// All of them.
            pub const ALL: &[ScheduleKind] = &[$(ScheduleKind::$name,)+];

            /// What it does, in a sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(ScheduleKind::$name => concat!($($about),+).trim_ascii(),)+
                }
            }
        }
    };
}

schedules! {
    /// Each row by a lane group.
    Rows,
    /// Several rows per lane group, in sequence.
    RowsInTurn,
    /// Edges of a row by a group of lanes; heavy rows by a warp or a block.
    EdgesOfRows,
    /// Plain sums over the edges of low-degree rows: many groups, few edges in flight.
    LowDegreeRows,
    /// Several consecutive rows per lane group, their edges as one list.
    ConsecutiveRows,
    /// Column slices of a row, in different blocks.
    ColumnSlices,
    /// Heavy rows by several blocks each.
    MultiBlockRows,
    /// A softmax whose sums are taken while its maximum is still running (online softmax).
    OnlineSoftmax,
    /// Scalars of an edge that one lane computes and broadcasts.
    LaneBroadcast,
    /// Two vectors per lane, so that half as many lanes compute a head's score.
    HeadScores,
    /// Lanes with overlapping columns, so that a row of any width takes few of them.
    OverlappingLanes,
    /// Rows read and written up to their stride.
    PaddedRows,
    /// A product of the rows of an edge walk, in its kernel.
    ProductAfterWalk,
    /// Neighbour groups of equal size (GNNAdvisor).
    NeighbourGroups,
    /// The argmin or argmax edge of a row, products over the other edges, folds: a thread per
    /// column.
    EdgesAmongRow,
    /// Common neighbours by pairs of adjacent vertices, each kept by the one of lower degree: the
    /// shorter of two rows is searched for in the longer.
    PairsOfNeighbours,
    /// Values of edges, read from the reversed edges.
    ReversedEdges,
    /// Rows of a table by an index.
    TableLookup,
    /// Rows added to a table by an index.
    TableScatter,
    /// Sums over the vertices of each graph.
    GraphPooling,
    /// A loss whose row stays in registers.
    LossInRegisters,
    /// A loss whose row is read again.
    LossReadAgain,
    /// A loss whose gradient is summed over all rows in the same kernel.
    LossWithGradientSum,
    /// An optimiser step for several parameters.
    OptimizerStep,
    /// A product by threads, for types and widths that tensor cores do not take.
    ThreadProduct,
    /// A sum of two short products, by threads.
    ThreadProductPair,
    /// A product by threads whose result is summed over all rows.
    ThreadProductWithSum,
    /// A product by threads with an outer product of the same rows.
    ThreadProductWithOuter,
    /// A product on tensor cores with the matrix in shared memory.
    TensorCoreProduct,
    /// The same for few long rows: each warp streams the matrix.
    TensorCoreFewRows,
    /// The same for long rows: a block streams the matrix.
    TensorCoreLongRows,
    /// A product by warpgroups with the whole matrix in shared memory.
    WarpgroupProduct,
    /// The same with one slab of the matrix at a time.
    WarpgroupSlabs,
    /// The same for few long rows, with split K over several blocks.
    WarpgroupSplitK,
    /// A product on tensor cores with column slices in different blocks.
    ProductSlices,
    /// A sum of two products, in one kernel on tensor cores.
    MergedSum,
    /// A narrow product of the rows of another product, in its kernel.
    MergedNarrow,
    /// The same with a wide product.
    MergedWide,
    /// An outer product by threads.
    OuterByThreads,
    /// An outer product on tensor cores.
    OuterTensorCore,
    /// An outer product by warpgroups.
    OuterWarpgroup,
    /// The same with exchanged sides.
    OuterExchanged,
    /// An outer product whose kernel computes its rows from narrow ones.
    OuterOfRowsMade,
    /// Two outer products that share a side, in one kernel.
    OuterPair,
    /// An outer product that also sums the rows of a side.
    OuterWithSum,
    /// A sum over all rows.
    RowSum,
    /// Sums over the same rows, in one kernel.
    RowSums,
    /// Partial sums that the last block of a kernel merges.
    PartsInKernel,
    /// Partial sums that a separate kernel merges.
    PartsKernel,
    /// A product with the entries of sparse rows.
    SparseProduct,
    /// The gradient of that product's matrix.
    SparseGradient,
}
