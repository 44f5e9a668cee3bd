//! frontier: the rows that a superstep has to recompute: those that changed, and those that read
//! one that did.
//!
//! promises  contains every such row; the same runs of rows for any thread count
//! never     skips a row because a change rounds to nothing: zeros of different sign differ
//! bytes     a bit per row, the entries of changed rows once, and the offsets of their readers
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::Real;
use crate::shortcuts::NeighbourLists;

/// First row, and how many.
pub type Run = (u32, u32);

/// Unchanged rows between two runs: up to this many it is cheaper to recompute them than to start a
/// new run.
const GAP: u32 = 8;

/// Maximum rows of a run, so that tasks balance.
const RUN_ROWS: u32 = 512;

/// Rows per task.
const TASK_ROWS: usize = 1 << 10;

const BITS: usize = u64::BITS as usize;

/// A bit for every row.
#[derive(Debug)]
pub struct Marks {
    words: Vec<AtomicU64>,
}

impl Marks {
    /// None marked, for this many rows.
    pub fn empty(rows: usize) -> Self {
        Marks { words: (0..rows.div_ceil(BITS)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Clears all marks.
    pub fn clear(&mut self) {
        self.words.iter_mut().for_each(|word| *word.get_mut() = 0);
    }

    /// Marks a row.
    pub fn mark(&self, row: usize) {
        let (word, bit) = (&self.words[row / BITS], 1 << (row % BITS));
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// The marked rows, ascending.
    pub fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(number, word)| {
            let mut left = word.load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some((number * BITS) as u32 + bit)
            })
        })
    }

    /// All marked rows as ascending runs; runs with small gaps are merged.
    pub fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for row in self.rows() {
            match runs.last_mut() {
                Some((first, count))
                    if row - (*first + *count) < GAP && row - *first < RUN_ROWS =>
                {
                    *count = row - *first + 1
                }
                _ => runs.push((row, 1)),
            }
        }
        runs
    }
}

/// Marks the rows, of this many columns, in which two contents of floats differ.
pub fn mark_reals<T: Real>(marks: &Marks, before: &[T], after: &[T], columns: usize, runs: &[Run]) {
    mark(marks, columns, runs, |element| {
        before[element].widened().to_bits() != after[element].widened().to_bits()
    });
}

/// The same for integers or ids.
pub fn mark_wholes<N: PartialEq + Sync>(
    marks: &Marks,
    before: &[N],
    after: &[N],
    columns: usize,
    runs: &[Run],
) {
    mark(marks, columns, runs, |element| before[element] != after[element]);
}

fn mark(marks: &Marks, columns: usize, runs: &[Run], differs: impl Fn(usize) -> bool + Sync) {
    runs.par_iter().with_min_len(16).for_each(|&(first, count)| {
        for row in first as usize..(first + count) as usize {
            if (row * columns..(row + 1) * columns).any(&differs) {
                marks.mark(row);
            }
        }
    });
}

/// One run over this many rows.
pub fn all_rows(rows: usize) -> Vec<Run> {
    let rows = rows as u32;
    (0..rows).step_by(RUN_ROWS as usize).map(|first| (first, RUN_ROWS.min(rows - first))).collect()
}

/// Marks these rows and all that read one of them; `push` leads from a row to its readers.
pub fn mark_readers(marks: &Marks, changed: &[u32], push: &[NeighbourLists]) {
    changed.par_chunks(TASK_ROWS).for_each(|rows| {
        for (at, &row) in rows.iter().enumerate() {
            marks.mark(row as usize);
            for lists in push {
                lists.prefetch_ahead(rows, at);
                lists
                    .neighbours(row as usize)
                    .iter()
                    .for_each(|&reader| marks.mark(reader as usize));
            }
        }
    });
}

/// The total entries of these rows.
pub fn entries(rows: impl Iterator<Item = u32>, lists: &[NeighbourLists]) -> usize {
    rows.map(|row| lists.iter().map(|lists| lists.degree(row as usize)).sum::<usize>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_rows_lie_in_one_run() {
        let marks = Marks::empty(3000);
        for row in [0, 1, 3, 70, 78, 87, 2999] {
            marks.mark(row);
        }
        assert_eq!(marks.rows().collect::<Vec<_>>(), [0, 1, 3, 70, 78, 87, 2999]);
        assert_eq!(marks.runs(), [(0, 4), (70, 9), (87, 1), (2999, 1)]);
        let mut all = Marks::empty(1300);
        (0..1300).for_each(|row| all.mark(row));
        assert_eq!(all.runs(), all_rows(1300));
        assert_eq!(all_rows(1300), [(0, 512), (512, 512), (1024, 276)]);
        all.clear();
        assert_eq!((all.runs(), all_rows(0)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_differs_in_any_column_is_marked_and_only_within_runs() {
        let (before, mut after) = (vec![0.0f32; 40], vec![0.0f32; 40]);
        (after[3], after[20], after[39]) = (-0.0, 1.0, f32::NAN);
        let found = |runs: &[Run]| {
            let marks = Marks::empty(20);
            mark_reals(&marks, &before, &after, 2, runs);
            marks.rows().collect::<Vec<_>>()
        };
        assert_eq!((found(&all_rows(20)), found(&[(2, 9)])), (vec![1, 10, 19], vec![10]));
        let marks = Marks::empty(3);
        mark_wholes(&marks, &[1, 2, 3], &[1, 0, 3], 1, &all_rows(3));
        assert_eq!(marks.runs(), [(1, 1)]);
    }

    #[test]
    fn readers_of_a_change_are_found_by_any_number_of_threads() {
        let rows = 5000usize;
        let offsets: Vec<u64> = (0..=rows as u64).map(|row| row * 3).collect();
        let neighbours: Vec<u32> =
            (0..rows * 3).map(|entry| (entry * 7919 % rows) as u32).collect();
        let lists = NeighbourLists { offsets: &offsets, neighbours: &neighbours };
        let changed: Vec<u32> = (0..rows as u32).step_by(3).collect();
        let mut expected: Vec<u32> = changed
            .iter()
            .flat_map(|&row| lists.neighbours(row as usize).iter().copied().chain([row]))
            .collect();
        expected.sort_unstable();
        expected.dedup();
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let marks = Marks::empty(rows);
            pool.install(|| mark_readers(&marks, &changed, &[lists]));
            assert_eq!(marks.rows().collect::<Vec<_>>(), expected);
        }
        assert_eq!(entries(changed.iter().copied(), &[lists, lists]), changed.len() * 6);
    }
}
