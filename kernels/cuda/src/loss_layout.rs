//! loss_layout: how the kernel of the loss distributes the columns of a row over lanes.
//!
//! promises  follows from the columns, the strides and the width of floats
//! never     prints
use super::GpuTarget;
use super::lane_layout::{vector_of, widest_vector};
use warploom_tuning as tuning;

/// The distribution of a row's columns over lanes.
pub(super) struct LossLayout {
    pub lanes: usize,
    pub vector: usize,
    /// Whether lanes hold a row in registers.
    pub is_held: bool,
}

impl LossLayout {
    /// For rows of this many columns with these strides.
    pub fn new(columns: u64, strides: &[u64], target: GpuTarget) -> LossLayout {
        // Each lane has as many columns as registers allow: the fixed work per row is then done by
        // few lanes.
        let lanes = (columns as usize).div_ceil(tuning::loss_columns()).next_power_of_two().min(32);
        let widest = strides
            .iter()
            .map(|stride| vector_of(*stride as usize, widest_vector(target.bytes_per_real)))
            .min();
        // Work on a column costs more than its load: avoiding padding is worth a narrower vector.
        let of_place = tuning::loss_place_cost();
        let cost =
            |vector: &usize| (columns as usize).div_ceil(lanes * vector) * (of_place * vector + 1);
        let vector = [4, 2, 1]
            .into_iter()
            .filter(|vector| Some(*vector) <= widest)
            .min_by_key(cost)
            .unwrap_or(1);
        LossLayout {
            lanes,
            vector,
            is_held: (columns as usize).div_ceil(lanes * vector) * vector <= tuning::loss_columns(),
        }
    }
}
