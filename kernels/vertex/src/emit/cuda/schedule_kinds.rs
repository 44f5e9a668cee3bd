//! schedule_kinds: the ways in which kernels walk rows and edges, multiply and add up, by name.
//!
//! promises  every way that the emitter can choose has a name here, and `Emitted::schedules` says
//!           which of them each launch got: a test can ask whether each of them is emitted for some
//!           program (`tests/source_digests.rs`)
//! never     decides anything

/// Declares the names, and the list of all.
macro_rules! schedules {
    ($($(#[doc = $about:literal])+ $name:ident,)+) => {
        /// A way to do a launch, or a part of one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ScheduleKind {
            $($(#[doc = $about])+ $name,)+
        }

        impl ScheduleKind {
            /// All of them.
            pub const ALL: &[ScheduleKind] = &[$(ScheduleKind::$name,)+];
        }
    };
}

schedules! {
    /// Rows, each by a group of lanes.
    Rows,
    /// The same, several rows a group, one after the other.
    RowsInTurn,
    /// Edges of a row by a group of lanes; heavy rows by a warp or a block.
    EdgesOfRows,
    /// Plain sums over the edges of rows that have few: many groups, few edges in flight.
    LowDegreeRows,
    /// Several consecutive rows a group, their edges as one list.
    ConsecutiveRows,
    /// A row's columns in slices, each of other blocks.
    ColumnSlices,
    /// Very heavy rows by several blocks each.
    MultiBlockRows,
    /// A softmax whose sums are taken while its largest score is still looked for.
    OnlineSoftmax,
    /// Numbers of an edge that one lane computes and broadcasts.
    LaneBroadcast,
    /// Lanes of two vectors, so that half as many compute a head's score.
    HeadScores,
    /// Lanes whose columns overlap, so that a row of any width takes few of them.
    OverlappingLanes,
    /// Rows read and written to the end of their stride.
    PaddedRows,
    /// A product of the rows that a walk over edges makes, in its kernel.
    ProductAfterWalk,
    /// Edges in groups of neighbours of equal size (GNNAdvisor).
    NeighbourGroups,
    /// The extreme edge of a row, products over the other edges, folds: a thread a column.
    EdgesAmongRow,
    /// Values of edges seen from their other end.
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
    /// A loss that adds its gradient up over all rows.
    LossWithGradientSum,
    /// A step of the optimizer for several parameters.
    OptimizerStep,
    /// A product by threads, for types and widths that tensor cores do not take.
    ThreadProduct,
    /// Two short products that are added up, by threads.
    ThreadProductPair,
    /// A product by threads whose result is added up over all rows.
    ThreadProductWithSum,
    /// A product by threads with an outer product of the same rows.
    ThreadProductWithOuter,
    /// A product on tensor cores with the matrix in shared memory.
    TensorCoreProduct,
    /// The same of few long rows: each warp streams the matrix.
    TensorCoreFewRows,
    /// The same of long rows: a block streams the matrix.
    TensorCoreLongRows,
    /// A product by warpgroups with the whole matrix.
    WarpgroupProduct,
    /// The same with a part of the matrix at a time.
    WarpgroupSlabs,
    /// The same of few long rows, whose elements several blocks share.
    WarpgroupSplitK,
    /// A product on tensor cores whose columns are slices of other blocks.
    ProductSlices,
    /// Two products that are added up, in one kernel on tensor cores.
    MergedSum,
    /// A narrow product of the rows that a product makes, in its kernel.
    MergedNarrow,
    /// The same of a wide one.
    MergedWide,
    /// An outer product by threads.
    OuterByThreads,
    /// An outer product on tensor cores.
    OuterTensorCore,
    /// An outer product by warpgroups.
    OuterWarpgroup,
    /// The same with its sides exchanged.
    OuterExchanged,
    /// An outer product that computes its rows of narrow ones.
    OuterOfRowsMade,
    /// Two outer products that have a side in common.
    OuterPair,
    /// An outer product that adds the rows of a side up.
    OuterWithSum,
    /// A sum over all rows.
    RowSum,
    /// Sums over the same rows, in one kernel.
    RowSums,
    /// Parts that the last block of a kernel joins.
    PartsInKernel,
    /// Parts that a kernel of its own joins.
    PartsKernel,
    /// A product with the entries of sparse rows.
    SparseProduct,
    /// The gradient of its matrix.
    SparseGradient,
}
