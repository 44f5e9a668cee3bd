//! walk_tiers: how many rows of each walk over edges have several blocks, a block or a warp each.
//!
//! promises  counts follow from the offsets of the walk in `partition`, of which a few are read
//! never     opens an edge; counts walks over both directions or over sparse features, whose
//!           offsets no artifact has: a run counts these
use warploom_contract::{Inputs, Kind, StageError, arrow_file::View, kinds::partition::row_lists};
use warploom_cuda::{Emitted, TierCounts, WalkedDegrees, WalkedLists};
use warploom_ir::Direction;

/// The degrees of rows in the order of a GPU.
#[derive(Clone, Debug, Default)]
pub struct WalkTiers {
    /// Of in-edges and of out-edges; none for a CPU, or where offsets have 64 bits.
    offsets: Option<[View<u32>; 2]>,
    sorted_above: u32,
}

impl WalkTiers {
    /// Maps the offsets.
    pub fn read(inputs: &Inputs, is_gpu: bool) -> Result<Self, StageError> {
        if !is_gpu {
            return Ok(WalkTiers::default());
        }
        let artifact = inputs.get(Kind::Partition)?;
        let sorted_above = row_lists::sorted_above(artifact)?;
        Ok(WalkTiers { offsets: row_lists::open_walk_offsets(artifact)?, sorted_above })
    }

    /// Adds the tiers of all walks that they are known for.
    pub fn add_to(&self, emitted: Option<&mut Emitted>) {
        let (Some(emitted), Some([incoming, outgoing])) = (emitted, &self.offsets) else { return };
        let planned = &mut emitted.plan;
        for (walked, cut) in planned.walks_in_tiers() {
            let offsets = match walked {
                WalkedLists::Edges(Direction::In) => incoming,
                WalkedLists::Edges(Direction::Out) => outgoing,
                _ => continue,
            };
            let rows = WalkedDegrees { offsets, sorted_above: self.sorted_above };
            let tiers = TierCounts::choose(rows, cut, planned.processors);
            planned.tiers.insert((walked, cut), tiers);
        }
    }
}
