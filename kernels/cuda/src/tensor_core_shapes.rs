//! tensor_core_shapes: tiles, shared-memory queues and the assignment of rows to warps, for
//! products and outer products of FP32 on tensor cores.
//!
//! promises  products keep FP32 accuracy unless the plan allows less: each operand is split into
//!           two parts of fewer bits; sums are added in an order that sizes and the device decide;
//!           rows are loaded several steps ahead, by the warp that multiplies them
//! never     is chosen for FP64, or if a block would need more shared memory than the device has
//!
//! The measurements of each shape are in the record `2026-11-25-kernel-laboratory`, section 2.
use std::ops::RangeInclusive;

use super::graph_pooling::{RowValue, start_of_row};
use super::statement_text::pointer;
use super::walk_steps::{At, From, Input, Leaf, Read, Walk};
use super::{GpuTarget, Matmul, TICKETS, warpgroup_products};
use warploom_launch::{Element, Rows};
use warploom_tuning as tuning;

/// Warps per block of a product, as in other kernels.
pub(super) const WARPS: usize = super::THREADS as usize / 32;
/// Column tiles of rows that an outer product computes itself: the threads of a warpgroup then have
/// the same column in all steps.
const MADE_TILES: usize = 8;
/// Shared memory that the device reserves per block.
const KEPT_BYTES: usize = 1024;

/// The number of rows per SM from which on each of `many_warps` warps has several tiles.
fn many_rows() -> u64 {
    (tuning::many_warps_row_tiles() * tuning::many_warps() * 16) as u64
}

/// Elements per row of the left operand (K), and columns of the result.
#[derive(Clone, Copy)]
pub(super) struct ProductSize {
    pub inner: usize,
    pub wide: usize,
}

/// Tiles of 8 columns per block, column slices, and K steps.
struct TileCounts {
    tiles: usize,
    slices: usize,
    steps: usize,
}

/// Columns of the two sides of an outer product.
#[derive(Clone, Copy)]
pub(super) struct SideColumns {
    pub wide: usize,
    pub narrow: usize,
}

/// Where the kernel keeps the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatrixPlacement {
    /// The whole matrix in shared memory.
    Whole,
    /// Each warp streams its own K steps through shared memory: rows are few, and all warps of a
    /// block share 16 of them.
    OfWarps,
    /// All warps of a block stream the same K steps: K is so long that the matrix does not fit.
    InSteps,
    /// In shared memory, split into its parts, for warpgroups that multiply 64 rows at once
    /// (wgmma): this many K steps at a time, one slab after the other for the same rows.
    ForGroups { at_once: usize },
    /// The same with split K: `shares` blocks have this many K steps each, and the last one to
    /// finish adds the sums.
    ForShares { at_once: usize, shares: usize },
}

/// Rows times a matrix: a warp computes 16 rows of `8 * tiles` columns, or several times as many
/// rows, 32 elements of K at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowProductShape {
    /// Tiles of 8 columns per block, and blocks that share a row.
    pub tiles: usize,
    pub slices: usize,
    /// K steps.
    pub steps: usize,
    /// K steps in flight.
    pub ahead: usize,
    /// Whether the matrix is in shared memory as two parts.
    pub split: bool,
    /// Where the matrix is kept.
    pub lies: MatrixPlacement,
    /// Blocks per SM, and warps per block.
    pub blocks: u32,
    pub warps: usize,
    pub shared_bytes: usize,
}

impl RowProductShape {
    /// For few rows with long K. If each block copied the whole matrix, that would be more than the
    /// rows it multiplies.
    pub fn few_rows(
        ProductSize { inner, wide }: ProductSize,
        rows: u64,
        target: GpuTarget,
    ) -> Option<RowProductShape> {
        if !RowProductShape::are_few(inner, rows, target) {
            return None;
        }
        let slices = wide.div_ceil(32);
        let tiles = wide.div_ceil(slices).div_ceil(8);
        let bytes = |ahead: usize| WARPS * ahead * (16 + 8 * tiles) * 32 * 4;
        let fits = |ahead: &usize| {
            2 * (bytes(*ahead) + KEPT_BYTES) <= target.shared_bytes as usize + KEPT_BYTES
        };
        let ahead = [4, 3, 2].into_iter().find(fits)?;
        let slices = wide.div_ceil(8 * tiles);
        Some(RowProductShape {
            tiles,
            slices,
            steps: inner.div_ceil(32),
            ahead,
            split: false,
            lies: MatrixPlacement::OfWarps,
            blocks: 2,
            warps: WARPS,
            shared_bytes: bytes(ahead),
        })
    }

    /// The most tiles per slice, and the number of slices.
    fn widest(wide: usize) -> (usize, usize) {
        let tiles = wide.div_ceil(wide.div_ceil(64)).div_ceil(8);
        (tiles, wide.div_ceil(8 * tiles))
    }

    /// Whether rows are few and K is long.
    fn are_few(inner: usize, rows: u64, target: GpuTarget) -> bool {
        target.bytes_per_real == 4
            && inner >= tuning::few_row_elements()
            && (1..=u64::from(tuning::few_row_tiles() * 16 * target.processors)).contains(&rows)
    }

    /// For few rows with long K, by warpgroups with split K: each block copies a few K steps of the
    /// matrix, for all its rows. Without warpgroups each block reads the whole matrix.
    pub fn split_inner(
        ProductSize { inner, wide }: ProductSize,
        rows: u64,
        target: GpuTarget,
    ) -> Option<RowProductShape> {
        let ((tiles, slices), steps) = (RowProductShape::widest(wide), inner.div_ceil(32));
        let (processors, turns) =
            (target.processors as usize, rows.div_ceil(warpgroup_products::ROWS as u64) as usize);
        if !RowProductShape::are_few(inner, rows, target) || turns * 4 * slices > TICKETS as usize {
            return None;
        }
        let made = |asked: usize| {
            let at_once = steps.div_ceil(asked);
            let shares = steps.div_ceil(at_once);
            let of = |ahead: usize| {
                RowProductShape::warpgroup_shape(
                    TileCounts { tiles, slices, steps },
                    at_once,
                    ahead,
                    1..=tuning::warpgroup_tiles_most(),
                    target,
                )
            };
            let made = RowProductShape {
                lies: MatrixPlacement::ForShares { at_once, shares },
                ..(tuning::split_k_steps_ahead()..=tuning::warpgroup_steps_ahead())
                    .rev()
                    .find_map(of)?
            };
            // The cost in quarters of a K step: steps and sums of a warpgroup, a copy of the
            // matrix, sums of other shares.
            let groups = warpgroup_products::WARPS / 4 * (processors / (shares * slices)).max(1);
            Some((turns.div_ceil(groups) * (at_once * 4 + 2 * tiles) + at_once * 2 + shares, made))
        };
        let each = (2..=steps).take_while(|asked| asked * slices <= processors).filter_map(made);
        each.min_by_key(|(cost, _)| *cost).map(|(_, made)| made)
    }

    /// With the whole matrix in shared memory; none if it does not fit.
    pub fn fit(
        ProductSize { inner, wide }: ProductSize,
        target: GpuTarget,
    ) -> Option<RowProductShape> {
        if target.bytes_per_real != 4 || inner < tuning::tensor_inner_least() as usize {
            return None;
        }
        (wide.div_ceil(64)..=wide.div_ceil(8)).find_map(|slices| {
            RowProductShape::column_slices(ProductSize { inner, wide }, slices, target)
        })
    }

    /// For K so long that the matrix does not fit, or only one slice at a time: rows would be read
    /// once per slice.
    pub fn long_rows(
        ProductSize { inner, wide }: ProductSize,
        whole: Option<RowProductShape>,
        target: GpuTarget,
    ) -> Option<RowProductShape> {
        let least = wide.div_ceil(64);
        if target.bytes_per_real != 4
            || inner < tuning::tensor_inner_least() as usize
            || whole.is_some_and(|whole| whole.slices <= least)
        {
            return None;
        }
        let (tiles, slices) = RowProductShape::widest(wide);
        let long_row_tiles = tuning::long_row_tiles();
        let bytes = |ahead: usize| ahead * (WARPS * long_row_tiles * 16 + 8 * tiles) * 32 * 4;
        let ahead =
            [5, 4, 3].into_iter().find(|ahead| bytes(*ahead) <= target.shared_bytes as usize)?;
        Some(RowProductShape {
            tiles,
            slices,
            steps: inner.div_ceil(32),
            ahead,
            split: false,
            lies: MatrixPlacement::InSteps,
            blocks: 1,
            warps: WARPS,
            shared_bytes: bytes(ahead),
        })
    }

    /// By warpgroups, with as much of the matrix at a time as fits. None if all of it fits: a
    /// product that was not taken for warpgroups is then slower with them.
    pub fn matrix_slabs(
        ProductSize { inner, wide }: ProductSize,
        rows: u64,
        target: GpuTarget,
    ) -> Option<RowProductShape> {
        let ((tiles, slices), steps) = (RowProductShape::widest(wide), inner.div_ceil(32));
        let made = |at_once: usize| {
            RowProductShape::warpgroup_shape(
                TileCounts { tiles, slices, steps },
                at_once,
                tuning::slab_steps_ahead(),
                warpgroup_products::tiles(),
                target,
            )
        };
        if target.bytes_per_real != 4
            || inner < tuning::tensor_inner_least() as usize
            || rows < tuning::warpgroup_rows() * u64::from(target.processors)
            || made(steps).is_some()
        {
            return None;
        }
        let most = (1..steps).rev().find(|at_once| made(*at_once).is_some())?;
        made(steps.div_ceil(steps.div_ceil(most)))
    }

    /// By warpgroups, with the whole matrix, whose columns slightly exceed eight tiles: rows are
    /// read once.
    pub fn unsliced_matrix(
        ProductSize { inner, wide }: ProductSize,
        rows: u64,
        target: GpuTarget,
    ) -> Option<RowProductShape> {
        let (tiles, steps) = (wide.div_ceil(8), inner.div_ceil(32));
        let is_fit = tiles > tuning::warpgroup_tiles_most()
            && target.bytes_per_real == 4
            && inner >= tuning::tensor_inner_least() as usize
            && rows >= tuning::warpgroup_rows() * u64::from(target.processors);
        (2..=tuning::warpgroup_steps_ahead()).rev().filter(|_| is_fit).find_map(|ahead| {
            RowProductShape::warpgroup_shape(
                TileCounts { tiles, slices: 1, steps },
                steps,
                ahead,
                warpgroup_products::row_tiles(),
                target,
            )
        })
    }

    /// By warpgroups, with this many K steps of the matrix in shared memory and this many steps of
    /// rows in flight; none if it does not fit, or if the tiles are not in `worth`.
    fn warpgroup_shape(
        TileCounts { tiles, slices, steps }: TileCounts,
        at_once: usize,
        ahead: usize,
        worth: RangeInclusive<usize>,
        target: GpuTarget,
    ) -> Option<RowProductShape> {
        let (parts, warps) =
            (1 + usize::from(target.matmul == Matmul::F32), warpgroup_products::WARPS);
        let shared_bytes = at_once * 32 * 8 * tiles * 4 * parts + warps * ahead * 2048;
        let is_fit = target.warpgroups
            && worth.contains(&tiles)
            && shared_bytes <= target.shared_bytes as usize;
        let lies = MatrixPlacement::ForGroups { at_once };
        is_fit.then_some(RowProductShape {
            tiles,
            slices,
            steps,
            ahead,
            split: parts == 2,
            lies,
            blocks: 1,
            warps,
            shared_bytes,
        })
    }

    /// Blocks that share the K elements of a row (split K).
    pub fn inner_shares(&self) -> usize {
        if let MatrixPlacement::ForShares { shares, .. } = self.lies { shares } else { 1 }
    }

    /// Bytes of partial sums in memory between slabs, or for the other shares, with this many rows.
    pub fn bytes_between(&self, rows: u64) -> u64 {
        let times = match self.lies {
            MatrixPlacement::ForGroups { at_once } => usize::from(at_once < self.steps),
            MatrixPlacement::ForShares { .. } => self.inner_shares(),
            MatrixPlacement::Whole | MatrixPlacement::OfWarps | MatrixPlacement::InSteps => 0,
        };
        rows.next_multiple_of(64) * (times * self.slices * 8 * self.tiles * 4) as u64
    }

    /// Rows per block.
    pub fn rows(&self) -> usize {
        match self.lies {
            MatrixPlacement::Whole | MatrixPlacement::OfWarps => 16,
            MatrixPlacement::ForGroups { .. } | MatrixPlacement::ForShares { .. } => {
                warpgroup_products::ROWS
            }
            MatrixPlacement::InSteps => WARPS * tuning::long_row_tiles() * 16,
        }
    }

    fn column_slices(
        ProductSize { inner, wide }: ProductSize,
        slices: usize,
        target: GpuTarget,
    ) -> Option<RowProductShape> {
        let shared_most = target.shared_bytes as usize;
        let (steps, tiles) = (inner.div_ceil(32), wide.div_ceil(slices).div_ceil(8));
        let splits =
            inner * wide <= tuning::split_matrix_elements() && target.matmul == Matmul::F32;
        // More tiles take so many registers that only one block fits an SM.
        let two = (tiles <= tuning::two_block_tiles()).then_some((2, splits, 2));
        let one = [4, 3, 2]
            .into_iter()
            .map(|ahead| (1, splits, ahead))
            .chain([4, 3, 2].map(|ahead| (1, false, ahead)));
        let made = |(blocks, split, ahead): (u32, bool, usize)| {
            let shared_bytes =
                steps * 32 * 8 * tiles * 4 * (1 + usize::from(split)) + WARPS * ahead * 16 * 32 * 4;
            let fits = blocks as usize * (shared_bytes + KEPT_BYTES) <= shared_most + KEPT_BYTES;
            fits.then_some(RowProductShape {
                tiles,
                slices: wide.div_ceil(8 * tiles),
                steps,
                ahead,
                split,
                lies: MatrixPlacement::Whole,
                blocks,
                warps: WARPS,
                shared_bytes,
            })
        };
        two.into_iter().chain(one).find_map(made)
    }

    /// The same with more warps, or with warpgroups, if there are enough rows. `vertices` is 0 if
    /// the number is unknown, or if more warps are not wanted.
    pub fn with_warps(self, vertices: u64, target: GpuTarget) -> RowProductShape {
        let is_one = self.lies == MatrixPlacement::Whole && self.blocks == 1;
        let by_groups = |ahead: usize| {
            RowProductShape::warpgroup_shape(
                TileCounts { tiles: self.tiles, slices: self.slices, steps: self.steps },
                self.steps,
                ahead,
                warpgroup_products::row_tiles(),
                target,
            )
        };
        if is_one
            && vertices >= tuning::warpgroup_rows() * u64::from(target.processors)
            && (self.slices == 1 || self.tiles >= tuning::many_warps_tiles())
            && let Some(by_groups) = (2..=tuning::warpgroup_steps_ahead()).rev().find_map(by_groups)
        {
            return by_groups;
        }
        let is_fit = is_one
            && vertices >= many_rows() * u64::from(target.processors)
            && self.tiles >= tuning::many_warps_tiles();
        let bytes = |ahead: usize| {
            self.shared_bytes - self.warps * self.ahead * 2048 + tuning::many_warps() * ahead * 2048
        };
        let fits = |ahead: &usize| is_fit && bytes(*ahead) <= target.shared_bytes as usize;
        let more = (2..=self.ahead).rev().find(fits).map(|ahead| RowProductShape {
            ahead,
            warps: tuning::many_warps(),
            shared_bytes: bytes(ahead),
            ..self
        });
        more.unwrap_or(self)
    }

    /// The same with fewer steps in flight, to make room for this many more bytes of shared memory.
    pub fn with_room(self, more: usize, target: GpuTarget) -> Option<RowProductShape> {
        let bytes =
            |ahead: usize| self.shared_bytes + more - (self.ahead - ahead) * self.warps * 512 * 4;
        let fits = |ahead: &usize| {
            self.blocks as usize * (bytes(*ahead) + KEPT_BYTES)
                <= target.shared_bytes as usize + KEPT_BYTES
        };
        let least = match self.lies {
            MatrixPlacement::Whole | MatrixPlacement::ForGroups { .. } => 2.min(self.ahead),
            MatrixPlacement::ForShares { .. } => tuning::split_k_steps_ahead(),
            MatrixPlacement::OfWarps | MatrixPlacement::InSteps => self.ahead,
        };
        (least..=self.ahead).rev().find(fits).map(|ahead| RowProductShape {
            ahead,
            shared_bytes: bytes(ahead),
            ..self
        })
    }

    /// Vector widths of a lane, widest first, that divide the row and the columns of a lane.
    pub fn vectors(tiles: usize, wide: usize) -> impl Iterator<Item = usize> {
        [4, 2, 1].into_iter().filter(move |vector| {
            wide.is_multiple_of(*vector) && (2 * tiles).is_multiple_of(*vector)
        })
    }

    /// Warps of a block that run the epilogue.
    pub fn finishing_warps(&self) -> usize {
        if self.lies == MatrixPlacement::OfWarps { 1 } else { self.warps }
    }

    /// Maximum warps that share 16 rows, each with some of the K steps.
    pub fn max_team(&self) -> usize {
        [8, 4, 2]
            .into_iter()
            .find(|team| *team <= self.steps && self.warps.is_multiple_of(*team))
            .unwrap_or(1)
    }

    /// The column of a slice at column `n` of tile `i`, so that a lane's columns are adjacent.
    pub fn column(vector: usize) -> &'static str {
        match vector {
            4 => "i / 2 * 16 + n / 2 * 4 + i % 2 * 2 + n % 2",
            2 => "i * 8 + n",
            _ => "i * 8 + n % 2 * 4 + n / 2",
        }
    }

    pub fn describe(&self) -> String {
        let slices = if self.slices > 1 {
            format!(", {} blocks share a row", self.slices)
        } else {
            String::new()
        };
        let (rows, who) = match self.lies {
            MatrixPlacement::Whole => (16, "warp"),
            MatrixPlacement::ForGroups { .. } | MatrixPlacement::ForShares { .. } => {
                (warpgroup_products::ROWS, "warpgroup")
            }
            MatrixPlacement::OfWarps => (16, "block"),
            MatrixPlacement::InSteps => (16 * tuning::long_row_tiles(), "warp"),
        };
        let slabs = match self.lies {
            MatrixPlacement::ForGroups { at_once } if at_once < self.steps => {
                format!(", {at_once} steps of K at a time")
            }
            MatrixPlacement::ForShares { at_once, shares } => {
                format!(", {at_once} steps of K a block, {shares} blocks share K (split K)")
            }
            _ => String::new(),
        };
        format!(
            "on tensor cores: {rows} rows x {} columns a {who}{slices}{slabs}, {} steps of 32 \
             elements in flight",
            8 * self.tiles,
            self.ahead
        )
    }
}

/// Transposed rows times rows: a warp adds `32 * groups` columns of one side times `8 * tiles` of
/// the other, 8 rows at a time. The first side is the wider one unless the sides are exchanged
/// (`turned`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OuterProductShape {
    /// Groups of 32 columns per warp, and tiles of 8 columns of the other side.
    pub groups: usize,
    pub tiles: usize,
    /// Warps across the columns, and warps that alternate along the rows.
    pub across: usize,
    pub along: usize,
    /// Steps in flight, including the one that is multiplied.
    pub ahead: usize,
    /// Blocks along both sides.
    pub blocks: [u32; 2],
    /// Whether warpgroups multiply 16 rows at a time (wgmma), 64 columns of the first side each.
    pub by_warpgroups: bool,
    pub shared_bytes: usize,
}

impl OuterProductShape {
    /// For these side widths; none if the device's shared memory does not suffice.
    pub fn fit(
        SideColumns { wide, narrow }: SideColumns,
        target: GpuTarget,
    ) -> Option<OuterProductShape> {
        if target.bytes_per_real != 4 {
            return None;
        }
        let of_narrow = narrow.div_ceil(64);
        let tiles = narrow.div_ceil(of_narrow).div_ceil(8);
        let all = wide.div_ceil(32);
        let groups = if tiles <= tuning::outer_narrow_tiles() && all > 8 { 2 } else { 1 };
        let across = OuterProductShape::across(all.div_ceil(groups), tiles);
        let along = (tuning::outer_warps() / across).max(1);
        let blocks =
            [wide.div_ceil(32 * groups * across) as u32, narrow.div_ceil(8 * tiles) as u32];
        let made = |(along, ahead): (usize, usize)| {
            let queues = across * along * ahead * (groups * 256 + tiles * 64) * 4;
            let shared_bytes = queues.max(across * groups * 32 * tiles * 8 * 4);
            (shared_bytes <= target.shared_bytes as usize).then_some(OuterProductShape {
                groups,
                tiles,
                across,
                along,
                ahead,
                blocks,
                by_warpgroups: false,
                shared_bytes,
            })
        };
        let deepest = if tiles <= tuning::outer_narrow_tiles() && groups == 1 {
            tuning::outer_steps_ahead_narrow()
        } else {
            tuning::outer_steps_ahead()
        };
        let ways = [along, along.min(2), 1]
            .into_iter()
            .flat_map(|along| [deepest, 4, 3].map(|ahead| (along, ahead)));
        ways.filter(|(_, ahead)| *ahead <= deepest).find_map(made)
    }

    /// The same with warpgroups, if there are enough rows for the columns and both sides are copied
    /// from buffers: computing rows needs registers of its own.
    pub fn with_warpgroups(
        self,
        wide: usize,
        rows: u64,
        are_copied: bool,
        target: GpuTarget,
    ) -> OuterProductShape {
        let all = wide.div_ceil(64);
        let is_fit = target.warpgroups
            && are_copied
            && rows * all as u64 >= many_rows() * u64::from(target.processors)
            && warpgroup_products::tiles().contains(&self.tiles);
        // The warpgroups of a block share the copy of the other side. A few of them may have no
        // columns: that costs no memory traffic.
        let one_in = tuning::outer_idle_groups();
        let across = (1..=warpgroup_products::OUTER_GROUPS)
            .rev()
            .find(|across| (one_in - 1) * all.next_multiple_of(*across) <= one_in * all);
        let Some(across) = across.filter(|_| is_fit) else { return self };
        let (along, blocks) = (
            warpgroup_products::OUTER_GROUPS / across,
            [all.div_ceil(across) as u32, self.blocks[1]],
        );
        let bytes =
            |ahead: usize| warpgroup_products::outer_bytes(across, along, self.tiles, 0, ahead);
        let ahead = (4..=tuning::warpgroup_steps_ahead())
            .rev()
            .find(|ahead| bytes(*ahead) <= target.shared_bytes as usize);
        let made = |ahead: usize| OuterProductShape {
            groups: 2,
            across,
            along,
            ahead,
            blocks,
            by_warpgroups: true,
            shared_bytes: bytes(ahead),
            ..self
        };
        ahead.map_or(self, made)
    }

    /// The same with exchanged sides: one warpgroup has all columns of the narrower side, so that a
    /// wider side of slightly more than 64 columns is not rounded up to 128. Three warpgroups
    /// alternate along the rows, since the sums of so many tiles take registers.
    pub fn turned(
        self,
        SideColumns { wide, narrow }: SideColumns,
        rows: u64,
        target: GpuTarget,
    ) -> Option<OuterProductShape> {
        let (tiles, along) = (wide.div_ceil(8), tuning::turned_groups());
        let is_many = rows >= many_rows() * u64::from(target.processors);
        let is_fit = self.by_warpgroups
            && is_many
            && warpgroup_products::turned_tiles().contains(&tiles)
            && (tuning::turned_columns_least()..=tuning::turned_columns_most()).contains(&narrow);
        let bytes = |ahead: usize| warpgroup_products::outer_bytes(1, along, tiles, 0, ahead);
        let ahead = (4..=tuning::warpgroup_steps_ahead())
            .rev()
            .find(|ahead| is_fit && bytes(*ahead) <= target.shared_bytes as usize)?;
        Some(OuterProductShape {
            tiles,
            across: 1,
            along,
            ahead,
            blocks: [1, 1],
            shared_bytes: bytes(ahead),
            ..self
        })
    }

    /// The same with one block for all columns, where each row of the narrower side is computed
    /// from this many narrow elements; none if it does not fit.
    pub fn with_rows_made(self, narrow: usize, target: GpuTarget) -> Option<OuterProductShape> {
        let bytes = |ahead: usize| {
            warpgroup_products::outer_bytes(self.across, self.along, self.tiles, narrow, ahead)
        };
        let most = if self.threads() <= tuning::made_threads() {
            tuning::made_elements() as usize
        } else {
            tuning::made_elements_large()
        };
        let is_fit = self.by_warpgroups
            && self.blocks == [1, 1]
            && self.tiles == MADE_TILES
            && narrow <= most;
        let ahead = (4..=self.ahead)
            .rev()
            .find(|ahead| is_fit && bytes(*ahead) <= target.shared_bytes as usize)?;
        Some(OuterProductShape { ahead, shared_bytes: bytes(ahead), ..self })
    }

    /// Warps across this many groups of columns. With many sums a warp takes so many registers that
    /// one block fits an SM; that block should have many warps: few across the columns, and several
    /// along the rows, if few of them are idle.
    fn across(all: usize, tiles: usize) -> usize {
        let least = all.div_ceil(all.div_ceil(8));
        // Eight warps are two for each of an SM's four schedulers.
        if tiles <= tuning::outer_two_block_tiles()
            || least == 8
            || tuning::outer_warps() / least > 1
        {
            return least;
        }
        let warps = |across: &usize| across * (tuning::outer_warps() / across);
        let idle = |across: &usize| all.div_ceil(*across) * across - all;
        (4..=6)
            .filter(|across| tuning::outer_idle_warps() * idle(across) <= all)
            .max_by_key(|across| (warps(across), *across))
            .unwrap_or(least)
    }

    /// Columns of both sides that a block reads per row.
    pub fn columns_of_block(&self) -> u64 {
        (self.across * 32 * self.groups + 8 * self.tiles) as u64
    }

    /// Threads per block.
    pub fn threads(&self) -> u32 {
        (self.across * self.along * if self.by_warpgroups { 128 } else { 32 }) as u32
    }

    pub fn describe(&self) -> String {
        let OuterProductShape { groups, tiles, across, along, ahead, .. } = self;
        let (whose, step) = if self.by_warpgroups { ("warpgroup", 16) } else { ("warp", 8) };
        format!(
            "on tensor cores: {} x {} columns a {whose}, {across} of them across the columns, \
             {along} along the rows, {step} rows at a time; {} steps in flight",
            32 * groups,
            8 * tiles,
            ahead - 1
        )
    }
}

/// The buffer of rows that are read as they are stored, if they are.
pub(super) fn stored_leaf<'a>(walk: &'a Walk, input: &Input, is_plain: bool) -> Option<&'a Leaf> {
    let Input::Rows(Read { from: From::Leaf(leaf), at, .. }) = input else { return None };
    let leaf = &walk.leaves[*leaf];
    let is_own = is_plain || (*at == At::Own && !matches!(walk.rows, Rows::Fixed(_)));
    (is_own && leaf.element == Element::Real).then_some(leaf)
}

/// What is read beyond a row's columns, in its last vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowPadding {
    /// The stored padding.
    Any,
    /// Zeros.
    Zeros,
}

/// Statements that write `vector` adjacent elements of a row, from `column` on, to `to`; zeros
/// unless `here`. Rows of a buffer are copied asynchronously while others are multiplied; other
/// rows are computed immediately.
pub(super) fn emit_row_fill(
    lies: Option<(&Leaf, RowPadding)>,
    made: &RowValue,
    vector: usize,
    columns: usize,
) -> String {
    match lies {
        Some((leaf, tail)) => {
            let (bytes, start) = (vector * 4, start_of_row("row", columns as u64, leaf));
            let from = format!("{} + (here ? {start} + column : 0)", pointer(&leaf.name));
            match tail {
                RowPadding::Any => format!("copy_later<{bytes}>(to, {from}, here);\n"),
                RowPadding::Zeros => format!(
                    "copy_first_later<{bytes}>(to, {from}, here ? min({bytes}u, ({columns}u - \
                        column) * 4) : 0);\n"
                ),
            }
        }
        None => format!(
            "[[maybe_unused]] const unsigned v = here ? row : 0, c[1] = {{here ? column : 0}};
constexpr unsigned V = {vector}, Q = 1;
{}real of_row[V]; EACH of_row[j] = here ? {} : (real)0;
store<V>(to, of_row);
",
            made.text(),
            made.at
        ),
    }
}

/// Loads one K step of a tile's rows.
pub(super) const REQUEST: &str = "UNROLL for (int piece = 0; piece < @PIECES@; piece++) {
const unsigned r = (piece * 32 + lane) / (32 / KV), within = lane % (32 / KV) * KV, row = first_row + r, column = @STEP@ * 32 + within;
float* const to = of_rows + r * 32 + (within / 4 ^ r % 2 * 4) * 4 + within % 4;
const bool here = row < rows && column < K;
@LEFT@}
";

/// Copies a matrix to shared memory in the layout that the lanes read.
pub(super) const LAY: &str = "UNROLL_4 for (unsigned place = threadIdx.x; place < @HALVES@ * TILES * 32; place += WARPS * 32) {
const unsigned n = place % 32 / 4, i = place / 32 % TILES, column = slice + (@COLUMN@), first_k = place / 32 / TILES * 16 + place % 4 * 4;
float b[4], rest[4];
UNROLL for (int j = 0; j < 4; j++) {
const unsigned k = first_k + j;
b[j] = @RIGHT@;
if (PARTS == 2) { rest[j] = b[j] - first_bits(b[j]); b[j] = first_bits(b[j]); }
}
float4* const to = @TO@ + place / 32 * (PARTS * 32) + place % 32;
to[0] = make_float4(b[0], b[1], b[2], b[3]);
if (PARTS == 2) to[32] = make_float4(rest[0], rest[1], rest[2], rest[3]);
}
";

/// The rows that a warp computed stay in its shared memory, in the layout of loaded rows, until the
/// consumer has multiplied them. Padding columns are zero.
pub(super) const KEPT: &str = "float* const next = reinterpret_cast<float*>(reinterpret_cast<float4*>(of_block) + @NEXT@) + warp % KEPT * (NEXT_STEPS * 512);
for (unsigned i = lane; warp < KEPT && i < NEXT_STEPS * 512; i += 32) next[i] = 0;
";

/// Stores a row there.
pub(super) const KEEP: &str = "EACH_Q {
const unsigned place = (q * L + part) * V;
float several[V];
UNROLL for (int j = 0; j < V; j++) several[j] = own[q] && (C == WIDE || place + j < WIDE) ? @HELD@ : (real)0;
float* const to = next + place / 32 * 512 + (r * 8 + group) * 32 + (place % 32 / 4 ^ group % 2 * 4) * 4 + place % 4;
store<V>(to, several);
}
";

/// Multiplies the rows that a warp just computed with another matrix.
pub(super) const NEXT: &str = "float sums[TILES][4] = {};
UNROLL_1 for (unsigned half = 0; half < (K + 15) / 16; half++) {
const float4* const from = reinterpret_cast<const float4*>(next + half / 2 * 512) + group * 8 + (half % 2 * 4 + part ^ group % 2 * 4);
multiply_rows<TILES, PARTS == 2>(sums, from[0], from[64], of_next + half * (TILES * PARTS * 32) + lane);
}
";

/// Rows times a matrix. Each warp has its own queue of rows in flight, so that no warp waits for
/// another. If there are fewer row tiles than warps, a team of warps shares a tile: each takes
/// every `team`-th step, and the first adds the sums in order.
pub(super) const ROWS: &str = "extern __shared__ float4 of_block[];
float4* const right = reinterpret_cast<float4*>(of_block);
const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L, slice = blockIdx.y * (8 * TILES);
float* const queue = reinterpret_cast<float*>(right + STEPS * 2 * TILES * PARTS * 32) + warp * (AHEAD * 512);
const unsigned tiles = (rows + 15) / 16;
unsigned team = TEAM;
while (team > 1 && gridDim.x * (WARPS / team) < tiles) team /= 2;
const unsigned member = warp % team, stride = gridDim.x * (WARPS / team);
unsigned tile = blockIdx.x + gridDim.x * (warp / team), coming = tile, coming_step = member, slot = 0;
auto request = [&](const unsigned at) {
if (coming < tiles) {
float* const of_rows = queue + at * 512;
const unsigned first_row = coming * 16;
@REQUEST@coming_step += team;
if (coming_step >= STEPS) { coming_step = member; coming += stride; }
}
copies_asked();
};
UNROLL for (int d = 0; d < AHEAD; d++) request(d);
@LAY@@LAID@__syncthreads();
// A team has at most one tile, and reaches the barrier with all other teams of its block in any
// case.
for (bool joins = team > 1; joins || tile < tiles; tile += stride, joins = false) {
float sums[TILES][4] = {};
UNROLL_1 for (unsigned step = tile < tiles ? member : STEPS; step < STEPS; step += team) {
copies_done<AHEAD - 1>();
__syncwarp();
float4 upper[2], lower[2];
UNROLL for (int h = 0; h < 2; h++) {
UNROLL for (int i = 0; i < 2; i++) {
// Both halves at once, if registers suffice.
if (TILES < 4 ? h > 0 : i != h) continue;
const float4* const from = reinterpret_cast<const float4*>(queue + slot * 512) + group * 8 + (i * 4 + part ^ group % 2 * 4);
upper[i] = from[0];
lower[i] = from[64];
}
if (TILES < 4 ? h == 0 : h == 1) {
__syncwarp();
request(slot);
slot = slot + 1 == AHEAD ? 0 : slot + 1;
}
if (h == 0 || @HALF@) multiply_rows<TILES, PARTS == 2>(sums, upper[h], lower[h], right + (step * 2 + h) * (TILES * PARTS * 32) + lane);
}
}
if (team > 1) {
copies_done<0>();
__syncwarp();
if (member > 0) UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) queue[(n * 4 + j) * 32 + lane] = sums[n][j];
__syncthreads();
if (member > 0) return;
for (unsigned other = 1; other < team; other++)
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += queue[other * (AHEAD * 512) + (n * 4 + j) * 32 + lane];
}
@FINISH@}
";

/// Few rows times a matrix: a block has 16 rows, each warp takes every `WARPS`-th step, and the
/// first adds the sums in order.
pub(super) const FEW_ROWS: &str = "extern __shared__ float4 of_block[];
constexpr unsigned STAGE = 512 + TILES * 256;
const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L, slice = blockIdx.y * (8 * TILES), tile = blockIdx.x;
float* const queue = reinterpret_cast<float*>(of_block) + warp * (AHEAD * STAGE);
unsigned coming_step = warp, slot = 0;
auto request = [&](const unsigned at) {
if (coming_step < STEPS) {
float* const stage = queue + at * STAGE;
float* const of_rows = stage;
const unsigned first_row = tile * 16;
@REQUEST@UNROLL for (int piece = 0; piece < 8 * TILES / MV; piece++) {
const unsigned of = (piece * 32 + lane) / (32 / MV), i = of / 8, n = of % 8, within = lane % (32 / MV) * MV, k = coming_step * 32 + within, column = slice + (@COLUMN@);
float* const to = stage + 512 + ((within / 16 * TILES + i) * 32 + n * 4 + within % 16 / 4) * 4 + within % 4;
const bool here = column < WIDE && k < K;
copy_later<MV * 4>(to, @MATRIX@ + (here ? (offset_t)column * K + k : 0), here);
}
coming_step += WARPS;
}
copies_asked();
};
UNROLL for (int d = 0; d < AHEAD; d++) request(d);
@LAID@float sums[TILES][4] = {};
UNROLL_1 for (unsigned step = warp; step < STEPS; step += WARPS) {
copies_done<AHEAD - 1>();
__syncwarp();
const float4* const from = reinterpret_cast<const float4*>(queue + slot * STAGE);
UNROLL for (int h = 0; h < 2; h++) {
const float4* const of_rows = from + group * 8 + (h * 4 + part ^ group % 2 * 4);
if (h == 0 || @HALF@) multiply_rows<TILES, false>(sums, of_rows[0], of_rows[64], from + 128 + h * (TILES * 32) + lane);
}
__syncwarp();
request(slot);
slot = slot + 1 == AHEAD ? 0 : slot + 1;
}
copies_done<0>();
__syncwarp();
if (warp > 0) UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) queue[(n * 4 + j) * 32 + lane] = sums[n][j];
__syncthreads();
if (warp > 0) return;
for (unsigned other = 1; other < WARPS; other++)
UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++) sums[n][j] += queue[other * (AHEAD * STAGE) + (n * 4 + j) * 32 + lane];
@FINISH@";

/// Rows with long K times a matrix that is streamed in steps. All warps of a block take the same
/// steps; each has MANY tiles of rows.
pub(super) const LONG_ROWS: &str = "extern __shared__ float4 of_block[];
constexpr unsigned OWN = MANY * 512, STAGE = WARPS * OWN + TILES * 256, PIECES = TILES * 256 / MV;
const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / L, part = lane % L, slice = blockIdx.y * (8 * TILES);
float* const queue = reinterpret_cast<float*>(of_block);
const unsigned turns = (rows + WARPS * MANY * 16 - 1) / (WARPS * MANY * 16);
unsigned coming = blockIdx.x, coming_step = 0, slot = 0;
auto request = [&](const unsigned at) {
if (coming < turns) {
float* const stage = queue + at * STAGE;
float* const of_rows = stage + warp * OWN;
const unsigned first_row = (coming * WARPS + warp) * (MANY * 16);
@REQUEST@UNROLL for (int piece = 0; piece < (PIECES + WARPS * 32 - 1) / (WARPS * 32); piece++) {
const unsigned number = piece * (WARPS * 32) + threadIdx.x, of = number / (32 / MV), i = of / 8, n = of % 8, within = number % (32 / MV) * MV;
if (PIECES % (WARPS * 32) != 0 && number >= PIECES) continue;
const unsigned k = coming_step * 32 + within, column = slice + (@COLUMN@);
float* const to = stage + WARPS * OWN + ((within / 16 * TILES + i) * 32 + n * 4 + within % 16 / 4) * 4 + within % 4;
const bool here = column < WIDE && k < K;
copy_later<MV * 4>(to, @MATRIX@ + (here ? (offset_t)column * K + k : 0), here);
}
if (++coming_step == STEPS) { coming_step = 0; coming += gridDim.x; }
}
copies_asked();
};
UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
@LAID@for (unsigned turn = blockIdx.x; turn < turns; turn += gridDim.x) {
float all[MANY][TILES][4] = {};
UNROLL_1 for (unsigned step = 0; step < STEPS; step++) {
copies_done<AHEAD - 2>();
__syncthreads();
request(slot == 0 ? AHEAD - 1 : slot - 1);
const float* const stage = queue + slot * STAGE;
UNROLL for (int h = 0; h < 2; h++) {
if (h == 1 && !(@HALF@)) continue;
float4 upper[MANY], lower[MANY];
UNROLL for (int m = 0; m < MANY; m++) {
const float4* const from = reinterpret_cast<const float4*>(stage + warp * OWN + m * 512) + group * 8 + (h * 4 + part ^ group % 2 * 4);
upper[m] = from[0];
lower[m] = from[64];
}
multiply_many_rows<MANY, TILES>(all, upper, lower, reinterpret_cast<const float4*>(stage + WARPS * OWN) + h * (TILES * 32) + lane);
}
slot = slot + 1 == AHEAD ? 0 : slot + 1;
}
UNROLL for (int m = 0; m < MANY; m++) {
const float (&sums)[TILES][4] = all[m];
const unsigned tile = (turn * WARPS + warp) * MANY + m;
@FINISH@}
}
";

/// The epilogue of a tile's rows.
pub(super) const FINISH: &str = "UNROLL for (int r = 0; r < 2; r++) {
const unsigned row = tile * 16 + r * 8 + group;
const bool live = row < rows;
[[maybe_unused]] const unsigned v = live ? row : 0;
[[maybe_unused]] bool own[Q];
[[maybe_unused]] unsigned c[Q];
@BEFORE@EACH_Q { const unsigned place = slice + (q * L + @PART@) * V; own[q] = live && place < C; c[q] = place < C ? place : C - V; }
@MADE@
@EPILOGUE@}
";

/// Outer products of the rows of a part. The wider side is X, the other Z. A warp's columns are in
/// the layout of the tensor cores.
pub(super) const COLUMNS: &str = "extern __shared__ float4 of_block[];
constexpr unsigned STAGE = GROUPS * 256 + TILES * 64, X_TILE = ACROSS * GROUPS * 32, Z_TILE = TILES * 8;
const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, part = lane % 4, beside = warp % ACROSS, turn = warp / ACROSS;
float* const queue = reinterpret_cast<float*>(of_block) + warp * (AHEAD * STAGE);
const unsigned x0 = blockIdx.y * X_TILE, z0 = blockIdx.z * Z_TILE;
const unsigned each = (rows + gridDim.x - 1) / gridDim.x, begin = min(rows, blockIdx.x * each), end = min(rows, begin + each);
const auto twist = [](const unsigned r) { return TILES == 2 ? r / 2 % 2 * 2 : TILES == 4 ? r % 4 * 2 : TILES == 8 ? r % 2 + r / 2 % 2 * 4 : 0; };
unsigned coming = begin + turn * 8, slot = 0;
auto request = [&](const unsigned at) {
if (coming < end) {
float* const stage = queue + at * STAGE;
UNROLL for (int i = 0; i < GROUPS * 8 / XV; i++) {
const unsigned place = i * 32 + lane, r = place / (32 / XV) % 8, of_group = place / (256 / XV), within = lane % (32 / XV) * XV;
const unsigned row = coming + r, column = x0 + (beside * GROUPS + of_group) * 32 + within;
float* const to = stage + (of_group * 8 + r) * 32 + (within / 4 ^ r % 4 * 2) * 4 + within % 4;
const bool here = row < end && column < X;
@X@}
constexpr unsigned PIECES = Z_TILE * 8 / ZV;
UNROLL for (int i = 0; i < (PIECES + 31) / 32; i++) {
const unsigned place = i * 32 + lane, r = place / (Z_TILE / ZV), within = place % (Z_TILE / ZV) * ZV, row = coming + r, column = z0 + within;
if (PIECES % 32 != 0 && place >= PIECES) continue;
float* const to = stage + GROUPS * 256 + r * Z_TILE + (within / 4 ^ twist(r)) * 4 + within % 4;
const bool here = row < end && column < Z;
@Z@}
coming += 8 * TURNS;
}
copies_asked();
};
UNROLL for (int d = 0; d < AHEAD - 1; d++) request(d);
float sums[GROUPS][2][TILES][4] = {};
[[maybe_unused]] float of_x[GROUPS][4] = {}, of_z[TILES] = {};
UNROLL_1 for (unsigned row = begin + turn * 8; row < end; row += 8 * TURNS) {
copies_done<AHEAD - 2>();
__syncwarp();
request(slot == 0 ? AHEAD - 1 : slot - 1);
const float* const stage = queue + slot * STAGE;
float right[2][TILES];
UNROLL for (int h = 0; h < 2; h++) UNROLL for (int n = 0; n < TILES; n += RV) {
const unsigned within = group * TILES + n;
const float* const from = stage + GROUPS * 256 + (h * 4 + part) * Z_TILE + (within / 4 ^ twist(part)) * 4 + within % 4;
float several[RV];
memcpy(several, __builtin_assume_aligned(from, RV * 4), RV * 4);
UNROLL for (int j = 0; j < RV; j++) right[h][n + j] = several[j];
}
if (SUM_Z) UNROLL for (int n = 0; n < TILES; n++) of_z[n] += right[0][n] + right[1][n];
UNROLL for (int i = 0; i < GROUPS; i++) {
const float4* const from = reinterpret_cast<const float4*>(stage + i * 256) + part * 8 + (group ^ part * 2);
const float4 upper = from[0], lower = from[32];
if (SUM_X) { of_x[i][0] += upper.x + lower.x; of_x[i][1] += upper.y + lower.y; of_x[i][2] += upper.z + lower.z; of_x[i][3] += upper.w + lower.w; }
multiply_turned<TILES>(sums[i], upper, lower, right);
}
slot = slot + 1 == AHEAD ? 0 : slot + 1;
}
copies_done<0>();
__syncwarp();
// Each warp stores its sums where its rows were, consecutive lanes at consecutive addresses.
constexpr unsigned OF_WARP = AHEAD * STAGE, OWN_X = GROUPS * 8 * TILES * 33, OWN_Z = OWN_X + GROUPS * 32;
static_assert(OWN_Z + Z_TILE <= OF_WARP);
UNROLL for (int i = 0; i < GROUPS; i++) UNROLL for (int m = 0; m < 2; m++) UNROLL for (int n = 0; n < TILES; n++) UNROLL for (int j = 0; j < 4; j++)
queue[(((i * 2 + m) * TILES + n) * 4 + j) * 33 + lane] = sums[i][m][n][j];
// Lanes of the same columns are added.
if (SUM_X) UNROLL for (int i = 0; i < GROUPS; i++) UNROLL for (int j = 0; j < 4; j++) {
const float pair = of_x[i][j] + across(of_x[i][j], 1), sum = pair + across(pair, 2);
if (part == j) queue[OWN_X + i * 32 + group * 4 + j] = sum;
}
if (SUM_Z) UNROLL for (int n = 0; n < TILES; n++) {
const float pair = of_z[n] + across(of_z[n], 1), sum = pair + across(pair, 2);
if (part == n % 4) queue[OWN_Z + group * TILES + n] = sum;
}
__syncthreads();
// The sums of the warps along the rows are added in their order.
const float* const first_turn = reinterpret_cast<const float*>(of_block);
auto of_turns = [&](const unsigned at) {
float sum = first_turn[at];
UNROLL for (int t = 1; t < TURNS; t++) sum += first_turn[t * (ACROSS * OF_WARP) + at];
return sum;
};
float* const told = scratch + (offset_t)blockIdx.x * (PRODUCTS + (SUM_X ? X : 0) + (SUM_Z ? Z : 0));
for (unsigned i = threadIdx.x; i < X_TILE * Z_TILE; i += ACROSS * TURNS * 32) {
const unsigned x = X_FIRST ? i / Z_TILE : i % X_TILE, z = X_FIRST ? i % Z_TILE : i / X_TILE, column = z / TILES;
const unsigned number = ((x / 32 % GROUPS * 2 + x / 2 % 2) * TILES + z % TILES) * 4 + x % 2 * 2 + column % 2;
@PLACE@if (is_told) told[place] = of_turns(x / 32 / GROUPS * OF_WARP + number * 33 + x % 32 / 4 * 4 + column / 2);
}
const bool has_x = SUM_X && blockIdx.z == 0, has_z = SUM_Z && blockIdx.y == 0;
for (unsigned x = threadIdx.x; has_x && x < X_TILE && x0 + x < X; x += ACROSS * TURNS * 32) {
told[PRODUCTS + x0 + x] = of_turns(x / 32 / GROUPS * OF_WARP + OWN_X + x % (GROUPS * 32));
}
for (unsigned z = threadIdx.x; has_z && z < Z_TILE && z0 + z < Z; z += ACROSS * TURNS * 32) {
told[PRODUCTS + (SUM_X ? X : 0) + z0 + z] = of_turns(OWN_Z + z);
}
";

/// Adds the parts of a sum, in order, one thread per element.
pub(super) const ADD_PARTS_EACH: &str = "const unsigned element = blockIdx.x * WIDE + threadIdx.x;
if (element >= elements) return;
real sum = 0;
for (unsigned first = 0; first < parts; first += 8) {
real several[8];
UNROLL for (int i = 0; i < 8; i++) several[i] = first + i < parts ? scratch[(offset_t)(first + i) * elements + element] : (real)0;
UNROLL for (int i = 0; i < 8; i++) sum += several[i];
}
";

/// The same with several threads per element: each adds every `SLICES`-th part, and their sums are
/// added, all in order.
pub(super) const ADD_PARTS: &str = "__shared__ real told[WARPS][WIDE];
const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, element = blockIdx.x * WIDE + threadIdx.x % WIDE;
real sum = 0;
if (element < elements) for (unsigned first = threadIdx.x / WIDE; first < parts; first += 8 * SLICES) {
real several[8];
UNROLL for (int i = 0; i < 8; i++) several[i] = first + i * SLICES < parts ? scratch[(offset_t)(first + i * SLICES) * elements + element] : (real)0;
UNROLL for (int i = 0; i < 8; i++) sum += several[i];
}
UNROLL for (int distance = WIDE; distance < 32; distance *= 2) sum += across(sum, distance);
if (lane < WIDE) told[warp][lane] = sum;
__syncthreads();
if (threadIdx.x >= WIDE || element >= elements) return;
UNROLL for (int other = 1; other < WARPS; other++) sum += told[other][lane];
";
