//! gathered_rows: sums, minima and maxima over rows of a table that lists of entries name.
//!
//! promises  rows are combined one after another in the order of the entries (of the first list,
//!           then of the second); a single column in four lanes, entries round-robin, by blocks of
//!           512: neither threads nor instruction set change a bit; over no entries: sum 0, minimum
//!           infinity, maximum minus infinity; a NaN makes the result NaN
//! never     uses fused multiply-add; keeps the rows that it reads
//! bytes     4 an entry, and a row of the table an entry
//!
//!   a row at a time, in memory        loads and stores the row once per entry
//!   a tile of the row in registers    one load per entry and tile, no store           <- here
//!   two tiles of 64, 32, 16 ...       the second overlaps the first: no width has a scalar tail
//!   one column: four sums at once     breaks the dependency chain; heavy rows in blocks, as exact
//!                                     as short ones
//!   prefetch                          about ten cache misses in flight instead of one
//!   one column of one list            only sums: rows of four entries (grids, roads) take two
//!                                     fifths of the time
#[cfg(test)]
mod tests;

use prefetch_index::prefetch_index;
use pulp::{Simd, WithSimd};

use crate::Real;

/// Elements that are reduced at once, about: 4 KiB of f32 stay in L1.
const BLOCK_ELEMENTS: usize = 1024;

/// Prefetch distance in bytes. Of 8, 16, 32 and 64 rows, 32 of 16 columns and 8 to 16 of 64 were
/// fastest: 1.3 to 2.3 times as fast as no prefetch, for tables of 26 to 105 MiB (Xeon at 2.8 GHz,
/// 2 threads, the forms of `gather_speed`).
const BYTES_AHEAD: usize = 4096;

/// Up to this size a source stays in a core's own cache, where prefetching only costs.
const BYTES_NEAR: usize = 512 * 1024;
/// The same for a single column: the far elements of a few rows are in flight at once anyway, and a
/// prefetch costs as much as an addition.
const BYTES_NEAR_SINGLE: usize = 8 * 1024 * 1024;

/// Bytes of a cache line.
const BYTES_OF_LINE: usize = 64;

/// Independent sums of a single column.
const LANES: usize = 4;
/// Entries of a row whose lanes are combined before the next block begins.
const BLOCK_ENTRIES: usize = 512;

/// Rows of fewer entries are not prefetched for.
const SHORT: usize = 16;

/// Rows that are reduced at once.
pub fn rows_per_block(columns: usize) -> usize {
    (BLOCK_ELEMENTS / columns.max(1)).max(1)
}

/// How messages are combined.
pub trait Join<T>: Copy + Send + Sync {
    /// The value over no messages.
    const START: T;
    /// Adds a message.
    fn join(made: T, message: T) -> T;
}

/// Sum.
#[derive(Clone, Copy)]
pub struct SumOf;

/// Minimum.
#[derive(Clone, Copy)]
pub struct MinOf;

/// Maximum.
#[derive(Clone, Copy)]
pub struct MaxOf;

impl<T: Real> Join<T> for SumOf {
    const START: T = T::ZERO;

    #[inline(always)]
    fn join(made: T, message: T) -> T {
        made.plus(message)
    }
}

impl<T: Real> Join<T> for MinOf {
    const START: T = T::LARGEST;

    #[inline(always)]
    fn join(made: T, message: T) -> T {
        made.smaller(message)
    }
}

impl<T: Real> Join<T> for MaxOf {
    const START: T = T::SMALLEST;

    #[inline(always)]
    fn join(made: T, message: T) -> T {
        made.larger(message)
    }
}

/// A list from some entry on.
#[derive(Clone, Copy)]
pub struct Entries<'a, T> {
    /// Where the entries of each row start, and their end.
    pub offsets: &'a [u64],
    /// Entries from `first_entry` on.
    pub neighbours: &'a [u32],
    /// Factors of these entries; `None` where all are 1.
    pub weights: Option<&'a [T]>,
    /// The number of the first of these entries.
    pub first_entry: u64,
}

impl<'a, T: Real> Entries<'a, T> {
    /// The entries of a list without weights.
    pub fn of_list(offsets: &'a [u64], neighbours: &'a [u32]) -> Self {
        Entries { offsets, neighbours, weights: None, first_entry: 0 }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> (&'a [u32], Option<&'a [T]>) {
        let start = (self.offsets[row] - self.first_entry) as usize;
        let end = (self.offsets[row + 1] - self.first_entry) as usize;
        (&self.neighbours[start..end], self.weights.map(|weights| &weights[start..end]))
    }

    /// The neighbours `ahead` entries after those of the row, even beyond its end.
    #[inline(always)]
    fn neighbours_ahead(&self, row: usize, ahead: Option<usize>) -> &'a [u32] {
        let start = (self.offsets[row] - self.first_entry) as usize;
        ahead.and_then(|ahead| self.neighbours.get(start + ahead..)).unwrap_or_default()
    }
}

/// Reduces rows `first_row ..` into `out`.
#[inline]
pub fn reduce_rows<T: Real, J: Join<T>>(
    arch: pulp::Arch,
    out: &mut [T],
    lists: &[Entries<T>],
    first_row: usize,
    source: &[T],
    columns: usize,
) {
    let bytes_of_row = size_of::<T>() * columns.max(1);
    let near = if columns == 1 { BYTES_NEAR_SINGLE } else { BYTES_NEAR };
    let ahead = (size_of_val(source) > near).then_some((BYTES_AHEAD / bytes_of_row).clamp(8, 32));
    arch.dispatch(Rows::<T, J> {
        out,
        lists,
        first_row,
        source,
        columns,
        ahead,
        join: std::marker::PhantomData,
    });
}

struct Rows<'w, 'a, T, J> {
    out: &'w mut [T],
    lists: &'w [Entries<'a, T>],
    first_row: usize,
    source: &'w [T],
    columns: usize,
    /// The prefetch distance in entries; `None` for a source that stays in cache.
    ahead: Option<usize>,
    join: std::marker::PhantomData<J>,
}

impl<T: Real, J: Join<T>> WithSimd for Rows<'_, '_, T, J> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.columns {
            0 => {}
            1 => self.single(),
            2 => self.exact::<2>(),
            3 => self.pairs::<2>(),
            4 => self.exact::<4>(),
            5..8 => self.pairs::<4>(),
            8 => self.exact::<8>(),
            9..16 => self.pairs::<8>(),
            16 => self.exact::<16>(),
            17..32 => self.pairs::<16>(),
            32 => self.exact::<32>(),
            33..64 => self.pairs::<32>(),
            64 => self.exact::<64>(),
            _ => self.pairs::<64>(),
        }
    }
}

impl<T: Real, J: Join<T>> Rows<'_, '_, T, J> {
    /// Rows of exactly one tile.
    #[inline(always)]
    fn exact<const WIDTH: usize>(mut self) {
        for (row, out) in std::mem::take(&mut self.out).chunks_exact_mut(WIDTH).enumerate() {
            let [made] = self.tiles::<WIDTH, 1>(row, WIDTH, [0]);
            out.copy_from_slice(&made);
        }
    }

    /// Rows of at least a tile, two tiles at a time; the last tile ends with the row and overlaps
    /// columns of the previous one.
    #[inline(always)]
    fn pairs<const WIDTH: usize>(mut self) {
        let columns = self.columns;
        for (row, out) in std::mem::take(&mut self.out).chunks_exact_mut(columns).enumerate() {
            let mut first = 0;
            while first < columns {
                let at = [first, first + WIDTH].map(|at| at.min(columns - WIDTH));
                let made = self.tiles::<WIDTH, 2>(row, columns, at);
                for (at, made) in at.iter().zip(&made) {
                    out[*at..at + WIDTH].copy_from_slice(made);
                }
                first += 2 * WIDTH;
            }
        }
    }

    /// Rows of one column.
    #[inline(always)]
    fn single(mut self) {
        let out = std::mem::take(&mut self.out);
        match self.lists {
            [Entries { weights: None, .. }] => self.single_of_list(out),
            _ => self.single_of_lists(out),
        }
    }

    /// Rows of one column of one list without factors: what a loop over short rows costs is what
    /// it does for each row.
    #[inline(always)]
    fn single_of_list(&self, out: &mut [T]) {
        let [list, ..] = self.lists else { return };
        let offsets = &list.offsets[self.first_row..][..out.len() + 1];
        let mut start = (offsets[0] - list.first_entry) as usize;
        for (out, end) in out.iter_mut().zip(&offsets[1..]) {
            let end = (end - list.first_entry) as usize;
            let neighbours = &list.neighbours[start..end];
            if let Some(ahead) = self.ahead.filter(|_| neighbours.len() >= SHORT) {
                let after = list.neighbours.get(start + ahead..).unwrap_or_default();
                let after = after.iter().take(neighbours.len());
                after.for_each(|&later| prefetch_index(self.source, later as usize));
            }
            *out = match neighbours.len() {
                ..=BLOCK_ENTRIES => self.short(neighbours),
                _ => self.column(neighbours, None),
            };
            start = end;
        }
    }

    /// A row without factors, in the order of `block`.
    #[inline(always)]
    fn short(&self, neighbours: &[u32]) -> T {
        let (whole, rest) = neighbours.as_chunks::<LANES>();
        let mut made = J::START;
        if !whole.is_empty() {
            let mut lanes = [J::START; LANES];
            for entries in whole {
                let read = entries.map(|entry| self.source[entry as usize]);
                for (made, read) in lanes.iter_mut().zip(read) {
                    *made = J::join(*made, read);
                }
            }
            made = joined::<T, J>(lanes);
        }
        rest.iter().fold(made, |made, &entry| J::join(made, self.source[entry as usize]))
    }

    #[inline(always)]
    fn single_of_lists(&self, out: &mut [T]) {
        for (row, out) in out.iter_mut().enumerate() {
            let row = self.first_row + row;
            let of_side = |list: &Entries<'_, T>| {
                let (neighbours, weights) = list.row(row);
                list.neighbours_ahead(row, self.ahead)
                    .iter()
                    .take(neighbours.len())
                    .for_each(|&later| prefetch_index(self.source, later as usize));
                self.column(neighbours, weights)
            };
            *out = match self.lists {
                [only] => of_side(only),
                sides => sides.iter().fold(J::START, |made, side| J::join(made, of_side(side))),
            };
        }
    }

    /// One row: entries go to lanes round-robin; long rows in blocks of entries, whose results go
    /// to lanes likewise.
    #[inline(always)]
    fn column(&self, neighbours: &[u32], weights: Option<&[T]>) -> T {
        if neighbours.len() <= BLOCK_ENTRIES {
            return self.block(neighbours, weights);
        }
        let mut lanes = [J::START; LANES];
        for (block, part) in neighbours.chunks(BLOCK_ENTRIES).enumerate() {
            let start = block * BLOCK_ENTRIES;
            let made = self.block(part, weights.map(|weights| &weights[start..start + part.len()]));
            lanes[block % LANES] = J::join(lanes[block % LANES], made);
        }
        joined::<T, J>(lanes)
    }

    #[inline(always)]
    fn block(&self, neighbours: &[u32], weights: Option<&[T]>) -> T {
        let message = |entry: usize| {
            let read = self.source[neighbours[entry] as usize];
            weights.map_or(read, |weights| weights[entry].times(read))
        };
        let whole = neighbours.len() / LANES * LANES;
        let mut made = J::START;
        if whole > 0 {
            let mut lanes = [J::START; LANES];
            for first in (0..whole).step_by(LANES) {
                for (lane, made) in lanes.iter_mut().enumerate() {
                    *made = J::join(*made, message(first + lane));
                }
            }
            made = joined::<T, J>(lanes);
        }
        (whole..neighbours.len()).fold(made, |made, entry| J::join(made, message(entry)))
    }

    /// Tiles of one row that begin at each of `firsts`, `WIDTH` columns each, in registers.
    #[inline(always)]
    fn tiles<const WIDTH: usize, const COUNT: usize>(
        &self,
        row: usize,
        columns: usize,
        firsts: [usize; COUNT],
    ) -> [[T; WIDTH]; COUNT] {
        let (row, source) = (self.first_row + row, self.source);
        let mut made = [[J::START; WIDTH]; COUNT];
        for list in self.lists {
            let (neighbours, weights) = list.row(row);
            let after = list.neighbours_ahead(row, self.ahead);
            for (entry, &neighbour) in neighbours.iter().enumerate() {
                if let Some(&later) = after.get(entry) {
                    prefetch_row::<T, WIDTH, COUNT>(source, later as usize * columns, firsts);
                }
                let start = neighbour as usize * columns;
                match weights {
                    None => add::<T, J, WIDTH, COUNT>(
                        &mut made,
                        source,
                        firsts.map(|first| start + first),
                        |message| message,
                    ),
                    Some(weights) => add::<T, J, WIDTH, COUNT>(
                        &mut made,
                        source,
                        firsts.map(|first| start + first),
                        |message| weights[entry].times(message),
                    ),
                }
            }
        }
        made
    }
}

/// Combines all lanes.
#[inline(always)]
fn joined<T: Real, J: Join<T>>(lanes: [T; LANES]) -> T {
    let [a, b, c, d] = lanes;
    J::join(J::join(a, b), J::join(c, d))
}

/// Combines the columns at each of `starts` with the accumulators.
#[inline(always)]
fn add<T: Real, J: Join<T>, const WIDTH: usize, const COUNT: usize>(
    made: &mut [[T; WIDTH]; COUNT],
    source: &[T],
    starts: [usize; COUNT],
    message: impl Fn(T) -> T,
) {
    for (made, start) in made.iter_mut().zip(starts) {
        for (made, &read) in made.iter_mut().zip(&source[start..start + WIDTH]) {
            *made = J::join(*made, message(read));
        }
    }
}

/// Prefetches the cache lines of the tiles of a row.
#[inline(always)]
fn prefetch_row<T, const WIDTH: usize, const COUNT: usize>(
    source: &[T],
    start: usize,
    firsts: [usize; COUNT],
) {
    let in_line = BYTES_OF_LINE / size_of::<T>();
    for first in firsts {
        for column in (0..WIDTH).step_by(in_line) {
            prefetch_index(source, start + first + column);
        }
    }
    if COUNT > 1 {
        // A row that does not end on a line boundary touches one more line.
        prefetch_index(source, start + firsts[COUNT - 1] + WIDTH - 1);
    }
}
