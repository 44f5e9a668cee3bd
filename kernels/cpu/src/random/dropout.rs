//! dropout: which elements are dropped, as a function of (seed, epoch, site, row in the graph
//! artifact, column) alone.
//!
//! promises  independent of device, threads, node order and partition; kept elements are scaled so
//!           that the expectation is exact for the probability rounded to 1/65536
//! never     stores a mask; draws when the run only evaluates
//!
//! The block of row r and columns 8 j .. 8 j + 7 is Philox4x32-7 with key (seed low, seed high) and
//! counter (r, j, epoch, site). Its eight 16-bit draws, in the order of columns, are the low and
//! then the high half of words 0 to 3. An element is dropped if its draw is below round(probability
//! * 65536), else it is divided by (1 - that / 65536).
use pulp::Simd;
use warploom_launch::Dropout;

use super::{LANES, key, philox4x32, philox4x32_lanes};
use crate::Real;

/// Rounds for dropout.
const ROUNDS: usize = 7;

/// Columns of one block.
pub(crate) const BLOCK_COLUMNS: usize = 8;

/// What dropout draws from, and which rows of the graph artifact a launch computes.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrawContext<'a> {
    /// Seed of the run.
    pub seed: u64,
    /// Epoch, counted from 0.
    pub epoch: u32,
    /// Whether the run is training; in evaluation, dropout is the identity.
    pub active: bool,
    /// The row in the graph artifact (node or edge id) of each row of the launch; `None` is the
    /// identity.
    pub row_in_graph: Option<&'a [u32]>,
}

impl DrawContext<'_> {
    /// The row in the graph artifact of a row of the launch.
    #[inline(always)]
    pub fn graph_row(&self, row: usize) -> u32 {
        match self.row_in_graph {
            Some(rows) => rows[row],
            None => row as u32,
        }
    }
}

/// Dropout at one site, ready to draw.
#[derive(Clone, Copy, Debug)]
pub struct Drops {
    key: [u32; 2],
    epoch: u32,
    site: u32,
    /// Draws below this are dropped; at most 65535.
    threshold: u32,
}

/// The position of a tile: whole rows from `first_row` on, or columns of that row from
/// `first_column` on, a multiple of 8.
#[derive(Clone, Copy, Debug)]
pub struct TilePlace<'a> {
    pub(crate) first_row: usize,
    pub(crate) first_column: usize,
    pub(crate) row_in_graph: Option<&'a [u32]>,
}

/// Scratch of dropout: one per task.
#[derive(Debug, Default)]
pub struct Draws {
    /// Row and block within the row of each block of a tile: the same for all tiles of one width.
    rows: Vec<u32>,
    blocks: Vec<u32>,
    in_row: usize,
    /// The words of each block, little-endian.
    words: Vec<[u32; 4]>,
    /// The draws of each element, where the row length is no multiple of a block.
    dense: Vec<u16>,
}

impl Draws {
    /// Prepares `count` blocks of rows with `in_row` blocks each.
    fn prepare(&mut self, count: usize, in_row: usize) {
        let needed = count.next_multiple_of(LANES);
        if self.in_row == in_row && self.rows.len() >= needed {
            return;
        }
        self.in_row = in_row;
        self.rows = (0..needed).map(|block| (block / in_row) as u32).collect();
        self.blocks = (0..needed).map(|block| (block % in_row) as u32).collect();
        self.words = vec![[0; 4]; needed];
    }
}

impl Drops {
    /// `None` where nothing is dropped: in evaluation, or if the probability rounds to 0.
    pub fn new(dropout: Dropout, context: &DrawContext) -> Option<Self> {
        let threshold = ((dropout.probability * 65536.0).round() as u32).min(65535);
        (context.active && threshold > 0).then(|| Drops {
            key: key(context.seed),
            epoch: context.epoch,
            site: dropout.site,
            threshold,
        })
    }

    /// The scale of kept elements.
    pub fn scale(&self) -> f64 {
        65536.0 / f64::from(65536 - self.threshold)
    }

    /// Whether one element is kept: the definition, one block for one element.
    pub fn keeps(&self, graph_row: u32, column: usize) -> bool {
        let block = (column / BLOCK_COLUMNS) as u32;
        let words = philox4x32::<ROUNDS>([graph_row, block, self.epoch, self.site], self.key);
        let within = column % BLOCK_COLUMNS;
        let draw = words[within / 2] >> (16 * (within % 2)) & 0xffff;
        draw >= self.threshold
    }

    /// The draws of `LANES` blocks: four little-endian words each.
    #[inline(always)]
    fn draw<S: Simd>(
        &self,
        simd: S,
        rows_and_blocks: [[u32; LANES]; 2],
        draws: &mut [[u32; 4]; LANES],
    ) {
        let [graph_rows, blocks] = rows_and_blocks;
        let counter = [graph_rows, blocks, [self.epoch; LANES], [self.site; LANES]];
        let words = philox4x32_lanes::<S, ROUNDS>(simd, &counter, self.key);
        for lane in 0..LANES {
            for word in 0..4 {
                draws[lane][word] = words[word][lane].to_le();
            }
        }
    }

    /// Dropout of a tile of whole rows or of part of one row, `columns` wide.
    #[inline(always)]
    pub(crate) fn drop_tile<S: Simd, T: Real>(
        &self,
        simd: S,
        values: &mut [T],
        draws: &mut Draws,
        columns: usize,
        place: TilePlace,
    ) {
        debug_assert!(place.first_column.is_multiple_of(BLOCK_COLUMNS));
        if columns == 0 {
            return;
        }
        let in_row = columns.div_ceil(BLOCK_COLUMNS);
        let count = values.len() / columns * in_row;
        draws.prepare(count, in_row);
        let first_block = (place.first_column / BLOCK_COLUMNS) as u32;
        let (rows, blocks) =
            (draws.rows.as_chunks::<LANES>().0, draws.blocks.as_chunks::<LANES>().0);
        let places = rows.iter().zip(blocks).take(count.div_ceil(LANES));
        for ((rows, blocks), words) in places.zip(draws.words.as_chunks_mut::<LANES>().0) {
            let mut graph_rows = [0; LANES];
            for lane in 0..LANES {
                let row = place.first_row as u32 + rows[lane];
                graph_rows[lane] = match place.row_in_graph {
                    // Lanes beyond the last block of the tile may be out of range.
                    Some(map) => map.get(row as usize).copied().unwrap_or(0),
                    None => row,
                };
            }
            self.draw(simd, [graph_rows, blocks.map(|block| first_block + block)], words);
        }
        if columns.is_multiple_of(BLOCK_COLUMNS) {
            self.drop_run(values, bytemuck::cast_slice(draws.words.as_flattened()));
            return;
        }
        // Each block is copied whole; draws beyond its row are overwritten by the next row.
        draws.dense.resize(values.len() + BLOCK_COLUMNS, 0);
        for (row, of_row) in draws.words[..count].chunks_exact(in_row).enumerate() {
            for (block, words) in of_row.iter().enumerate() {
                let at = row * columns + block * BLOCK_COLUMNS;
                draws.dense[at..at + BLOCK_COLUMNS].copy_from_slice(bytemuck::cast_slice(words));
            }
        }
        self.drop_run(values, &draws.dense);
    }

    /// Dropout of contiguous elements by their (little-endian) draws.
    #[inline(always)]
    fn drop_run<T: Real>(&self, values: &mut [T], draws: &[u16]) {
        let scale = T::rounded(self.scale());
        for (value, &draw) in values.iter_mut().zip(draws) {
            let dropped = u32::from(u16::from_le(draw)) < self.threshold;
            *value = if dropped { T::ZERO } else { *value * scale };
        }
    }

    /// Dropout of scattered elements: `place` gives (row in the graph artifact, column) of each.
    #[inline(always)]
    pub(crate) fn drop_entries<S: Simd, T: Real>(
        &self,
        simd: S,
        values: &mut [T],
        place: impl Fn(usize) -> (u32, u32),
    ) {
        let scale = T::rounded(self.scale());
        let mut draws = [[0; 4]; LANES];
        for (chunk, values) in values.chunks_mut(LANES).enumerate() {
            let (mut rows, mut blocks, mut within) = ([0; LANES], [0; LANES], [0usize; LANES]);
            for lane in 0..values.len() {
                let (row, column) = place(chunk * LANES + lane);
                rows[lane] = row;
                blocks[lane] = column / BLOCK_COLUMNS as u32;
                within[lane] = column as usize % BLOCK_COLUMNS;
            }
            self.draw(simd, [rows, blocks], &mut draws);
            for (lane, value) in values.iter_mut().enumerate() {
                let word = u32::from_le(draws[lane][within[lane] / 2]);
                let dropped = word >> (16 * (within[lane] % 2)) & 0xffff < self.threshold;
                *value = if dropped { T::ZERO } else { *value * scale };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drops(probability: f64) -> Drops {
        let context = DrawContext { seed: 11, epoch: 3, active: true, row_in_graph: None };
        Drops::new(Dropout { probability, site: 2 }, &context).expect("draws")
    }

    #[test]
    fn tiles_follow_the_definition() {
        let (drops, mut draws) = (drops(0.4), Draws::default());
        let map: Vec<u32> = (0..40).map(|row| row * 3 + 1).collect();
        for columns in [1, 2, 7, 8, 9, 15, 16, 17, 96, 130] {
            for rows in [1usize, 2, 5, 16, 33] {
                for first_column in [0, 8, 1024] {
                    let mut values = vec![1.0f64; rows * columns];
                    let place = TilePlace { first_row: 7, first_column, row_in_graph: Some(&map) };
                    drops.drop_tile(pulp::Scalar::new(), &mut values, &mut draws, columns, place);
                    for (at, &value) in values.iter().enumerate() {
                        let keeps = drops.keeps(map[7 + at / columns], first_column + at % columns);
                        assert_eq!(
                            value,
                            if keeps { drops.scale() } else { 0.0 },
                            "{rows} x {columns} at {at}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn entries_follow_the_definition() {
        let drops = drops(0.7);
        let mut values = vec![2.0f32; 77];
        let place = |entry: usize| ((entry * 5 % 13) as u32, (entry * 31 % 200) as u32);
        drops.drop_entries(pulp::Scalar::new(), &mut values, place);
        for (entry, &value) in values.iter().enumerate() {
            let (row, column) = place(entry);
            let kept = 2.0 * drops.scale() as f32;
            assert_eq!(value, if drops.keeps(row, column as usize) { kept } else { 0.0 });
        }
    }

    #[test]
    fn the_share_kept_is_the_probability() {
        for probability in [0.01, 0.5, 0.9] {
            let mut values = vec![1.0f64; 1000 * 96];
            let place = TilePlace { first_row: 0, first_column: 0, row_in_graph: None };
            let drops = drops(probability);
            drops.drop_tile(pulp::Scalar::new(), &mut values, &mut Draws::default(), 96, place);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let tolerance = 5.0 * (probability / (1.0 - probability) / values.len() as f64).sqrt();
            assert!((mean - 1.0).abs() < tolerance, "probability {probability}: mean {mean}");
        }
    }

    #[test]
    fn nothing_is_dropped_when_measuring_or_at_probability_zero() {
        let mut context = DrawContext { seed: 1, epoch: 0, active: false, row_in_graph: None };
        assert!(Drops::new(Dropout { probability: 0.5, site: 0 }, &context).is_none());
        context.active = true;
        assert!(Drops::new(Dropout { probability: 0.0, site: 0 }, &context).is_none());
        assert!(Drops::new(Dropout { probability: 1e-9, site: 0 }, &context).is_none());
        let almost_all =
            Drops::new(Dropout { probability: 0.999_999_9, site: 0 }, &context).expect("draws");
        assert_eq!(almost_all.scale(), 65536.0);
    }

    #[test]
    fn each_part_of_the_place_matters() {
        let mask = |seed, epoch, site, row: u32| -> Vec<bool> {
            let context = DrawContext { seed, epoch, active: true, row_in_graph: None };
            let drops = Drops::new(Dropout { probability: 0.5, site }, &context).expect("draws");
            (0..64).map(|column| drops.keeps(row, column)).collect()
        };
        let base = mask(1, 1, 1, 1);
        assert_eq!(base, mask(1, 1, 1, 1));
        for other in [
            mask(2, 1, 1, 1),
            mask(1 << 40 | 1, 1, 1, 1),
            mask(1, 2, 1, 1),
            mask(1, 1, 2, 1),
            mask(1, 1, 1, 2),
        ] {
            assert_ne!(base, other);
        }
    }
}
