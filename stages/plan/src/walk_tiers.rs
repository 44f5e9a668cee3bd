//! walk_tiers: how many rows of each walk over edges have several blocks, a block or a warp each.
//!
//! promises  counts follow from the offsets of the walk in `partition`, of which a few are read; a
//!           partition without the tables of a walk is refused
//! never     opens an edge
use warploom_contract::{
    Artifact, ErrorKind, Inputs, Kind, StageError,
    kinds::partition::row_lists::{self, Side, WalkOffsets},
};
use warploom_cuda::{DecidedKernels, TierCounts, WalkedDegrees, WalkedLists};
use warploom_ir::Direction;

/// The degrees of rows in the order of a GPU; none for a CPU, or where offsets have 64 bits.
#[derive(Clone, Debug, Default)]
pub struct WalkTiers {
    incoming: Option<WalkOffsets>,
    outgoing: Option<WalkOffsets>,
    /// Those of both directions together, where the partition has them.
    both: Option<WalkOffsets>,
    /// The partition, for messages.
    place: String,
}

impl WalkTiers {
    /// Maps the offsets.
    pub fn read(inputs: &Inputs, is_gpu: bool) -> Result<Self, StageError> {
        if !is_gpu {
            return Ok(WalkTiers::default());
        }
        let artifact: &Artifact = inputs.get(Kind::Partition)?;
        let [incoming, outgoing, both] =
            Side::ALL.map(|side| row_lists::open_walk_offsets(artifact, side));
        let place = artifact.path.display().to_string();
        Ok(WalkTiers { incoming: incoming?, outgoing: outgoing?, both: both?, place })
    }

    /// Adds the tiers of all walks over edges.
    pub fn add_to(&self, decided: Option<&mut DecidedKernels>) -> Result<(), StageError> {
        let Some(decided) = decided else { return Ok(()) };
        let planned = &mut decided.plan;
        for (walked, cut) in planned.walks_in_tiers() {
            let offsets = match walked {
                WalkedLists::Edges(Direction::In) => self.incoming.as_ref(),
                WalkedLists::Edges(Direction::Out) => self.outgoing.as_ref(),
                WalkedLists::Edges(Direction::Both) => {
                    Some(self.both.as_ref().ok_or_else(|| self.absent_tables())?)
                }
                _ => None,
            };
            let Some(WalkOffsets { offsets, sorted_above }) = offsets else { continue };
            let rows = WalkedDegrees { offsets, sorted_above: *sorted_above };
            let tiers = TierCounts::choose(rows, cut, planned.processors);
            planned.tiers.insert((walked, cut), tiers);
        }
        Ok(())
    }

    /// The error of a program that walks both directions, where the partition has no tables of it.
    fn absent_tables(&self) -> StageError {
        let what = "the program walks the edges of both directions together on a GPU: expected the \
                    tables both_walk_rows, both_walk_offsets and both_walk_edges of the partition, \
                    found none";
        StageError::new(ErrorKind::Specification, what)
            .at(&self.place)
            .hint("--set partition.both_directions=true  builds a partition with them")
    }
}
