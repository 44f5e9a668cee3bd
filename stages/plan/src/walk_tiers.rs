//! walk_tiers: how many rows of each walk have several blocks, a block or a warp each.
//!
//! promises  counts follow from the offsets of the walk in `partition`, of which a few are read; a
//!           partition without the tables of a walk, or of a search, is refused
//! never     opens an edge or an entry of a feature
use warploom_contract::{
    Artifact, ErrorKind, Inputs, Kind, StageError,
    arrow_file::View,
    kinds::partition::{
        FeatureWalk,
        row_lists::{self, Side, WalkOffsets},
    },
};
use warploom_cuda::{DecidedKernels, TierCounts, WalkedDegrees, WalkedLists};
use warploom_ir::Direction;
use warploom_launch::LaunchList;
use warploom_shell::graph_reads::{self, OptionalTables};

/// The degrees of rows in the order of a GPU.
#[derive(Clone, Debug, Default)]
pub struct WalkTiers {
    /// The partition; none for a CPU.
    partition: Option<Artifact>,
}

impl WalkTiers {
    /// Finds the partition.
    pub fn read(inputs: &Inputs, is_gpu: bool) -> Result<Self, StageError> {
        let partition = is_gpu.then(|| inputs.get(Kind::Partition).cloned()).transpose()?;
        Ok(WalkTiers { partition })
    }

    /// Adds the tiers of all walks of a list.
    pub fn add_to(
        &self,
        list: &LaunchList,
        decided: Option<&mut DecidedKernels>,
    ) -> Result<(), StageError> {
        let (Some(decided), Some(partition)) = (decided, &self.partition) else { return Ok(()) };
        let planned = &mut decided.plan;
        if OptionalTables::of_kernels(planned).ascending_edges {
            refuse_missing_ascending(partition)?;
        }
        for (walked, cut) in planned.walks_in_tiers() {
            let found = match &walked {
                WalkedLists::Edges(direction) => edge_offsets(partition, *direction)?,
                WalkedLists::Entries(..) => {
                    let walk = graph_reads::feature_walk(list, &walked).ok_or_else(|| {
                        StageError::defect(format!("{walked:?} walks no sparse features"))
                    })?;
                    WalkOffsets { offsets: entry_offsets(partition, walk)?, sorted_above: 0 }
                }
                WalkedLists::CsrEdges(_) | WalkedLists::Ascending(_) => continue,
            };
            let WalkOffsets { offsets, sorted_above } = found;
            let rows = WalkedDegrees { offsets: &offsets, sorted_above };
            let tiers = TierCounts::choose(rows, cut, planned.processors);
            planned.tiers.insert((walked, cut), tiers);
        }
        Ok(())
    }
}

/// Refuses a partition without the edges of each row by far end.
fn refuse_missing_ascending(partition: &Artifact) -> Result<(), StageError> {
    if row_lists::has_ascending_rows(partition)? {
        return Ok(());
    }
    let what = "the program counts common neighbours on a GPU: expected the tables \
                in_ascending_offsets, in_ascending_edges, and those of out, of 32 bits in the \
                partition, found none";
    let error = StageError::new(ErrorKind::Specification, what).at(partition.path.display());
    Err(error.hint(
        "--set partition.ascending_edges=true  builds a partition with the edges of each row in \
         the order of its neighbours",
    ))
}

/// Where the edges of each row start.
fn edge_offsets(partition: &Artifact, direction: Direction) -> Result<WalkOffsets, StageError> {
    let side = match direction {
        Direction::In => Side::In,
        Direction::Out => Side::Out,
        Direction::Both => Side::Both,
    };
    row_lists::open_walk_offsets(partition, side)?.ok_or_else(|| {
        let name = side.name();
        let what = format!(
            "the program walks edges on a GPU: expected the tables {name}_walk_rows, \
             {name}_walk_offsets and {name}_walk_edges of 32 bits in the partition, found none"
        );
        let error = StageError::new(ErrorKind::Specification, what).at(partition.path.display());
        match side {
            Side::Both => error.hint(
                "--set partition.both_directions=true  builds a partition with the edges of both \
                 directions together",
            ),
            Side::In | Side::Out => error,
        }
    })
}

/// Where the entries of each row, or column, of sparse features start.
fn entry_offsets(partition: &Artifact, walk: FeatureWalk) -> Result<View<u32>, StageError> {
    if walk.is_in(partition) {
        return walk.open_offsets(partition);
    }
    let [rows, ..] = walk.files();
    let what = format!(
        "the program walks sparse features on a GPU: expected their entries in the partition \
         ({rows}), found none"
    );
    let error = StageError::new(ErrorKind::Specification, what).at(partition.path.display());
    Err(error.hint("partition for the GPU too: its --device is that of the plan"))
}
