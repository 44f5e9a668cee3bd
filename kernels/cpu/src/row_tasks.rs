//! row_tasks: splits rows into parallel tasks.
//!
//! promises  every split depends on sizes and offsets only, never on the number of threads
//! never     copies a row; assigns tasks to threads (rayon does)
use crate::Real;

/// Elements per task where rows have no skew: 128 KiB of f32, of which an L2 holds several.
const TASK_ELEMENTS: usize = 32 * 1024;

/// Rows per task for rows of this many elements.
pub(crate) fn rows_per_task(columns: usize) -> usize {
    (TASK_ELEMENTS / columns.max(1)).max(16)
}

/// Blocks of rows whose partial results are stored and added in order: `(rows per block, blocks)`.
/// At most 64 blocks, and fewer for a large partial result, so that all partial results together
/// stay near 4 million elements.
pub(crate) fn partial_blocks(rows: usize, partial_elements: usize) -> (usize, usize) {
    let most = partials_most(partial_elements);
    let in_block = rows.div_ceil(most).max(1024);
    (in_block, rows.div_ceil(in_block))
}

/// The maximum number of stored partial results of this size.
pub(crate) fn partials_most(partial_elements: usize) -> usize {
    (4 * 1024 * 1024 / partial_elements.max(1)).clamp(4, 64)
}

/// A part of an output: the index of its first row, and its elements.
pub(crate) type RowPart<'o, T> = (usize, &'o mut [T]);

/// Splits `out` at the given rows. Panics unless the starts rise from 0 to the number of rows.
pub(crate) fn split_rows<'o, T>(
    out: &'o mut [T],
    starts: &[u32],
    columns: usize,
) -> Vec<RowPart<'o, T>> {
    assert!(starts.first().is_none_or(|&first| first == 0), "units start at row 0");
    let mut parts = Vec::with_capacity(starts.len());
    let mut rest = out;
    for pair in starts.windows(2) {
        assert!(pair[0] <= pair[1], "units rise: found {} before {}", pair[0], pair[1]);
        let (part, after) = rest.split_at_mut((pair[1] - pair[0]) as usize * columns);
        parts.push((pair[0] as usize, part));
        rest = after;
    }
    assert!(rest.is_empty(), "units end at the last row: {} elements are in none", rest.len());
    parts
}

/// Row boundaries such that each unit has about the same number of entries plus rows.
///
/// For rows that the partition stage did not split: sparse features and their columns.
pub fn balanced_units(offsets: &[u64]) -> Vec<u32> {
    // Small graphs are split too, into as many units as a desktop has cores; a smaller unit costs
    // more to schedule than to run.
    const UNITS: u64 = 32;
    const LEAST_WORK: u64 = 2 * 1024;
    const MOST_WORK: u64 = 16 * 1024;
    let rows = offsets.len().saturating_sub(1);
    if rows == 0 {
        return vec![0];
    }
    let first = offsets[0];
    let total = offsets[rows] - first + rows as u64;
    let unit_work = (total / UNITS).clamp(LEAST_WORK, MOST_WORK);
    let units = total.div_ceil(unit_work).clamp(1, 4096);
    let mut starts: Vec<u32> = Vec::with_capacity(units as usize + 1);
    starts.push(0);
    for unit in 1..units {
        let target = (u128::from(total) * u128::from(unit) / u128::from(units)) as u64;
        let row = first_row_at(offsets, target).min(rows) as u32;
        if starts.last().is_some_and(|&last| row > last) {
            starts.push(row);
        }
    }
    if starts.last().is_some_and(|&last| (last as usize) < rows) {
        starts.push(rows as u32);
    }
    starts
}

/// The first row before which entries plus rows reach `target`.
fn first_row_at(offsets: &[u64], target: u64) -> usize {
    let (mut low, mut high) = (0, offsets.len());
    while low < high {
        let middle = (low + high) / 2;
        if offsets[middle] - offsets[0] + (middle as u64) < target {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Panics unless `slice` has `rows * columns` elements; `what` names it.
pub(crate) fn assert_shape<T: Real>(slice: &[T], rows: usize, columns: usize, what: &str) {
    assert!(
        rows.checked_mul(columns) == Some(slice.len()),
        "{what} has {rows} rows x {columns} columns, found {} elements",
        slice.len()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_cover_all_rows_and_balance() {
        let mut offsets = vec![0u64];
        for row in 0..100_000u64 {
            let degree = if row == 5 { 500_000 } else { row % 7 };
            offsets.push(offsets[row as usize] + degree);
        }
        let starts = balanced_units(&offsets);
        assert_eq!((starts[0], starts[starts.len() - 1]), (0, 100_000));
        assert!(starts.windows(2).all(|pair| pair[0] < pair[1]));
        for pair in starts.windows(2).filter(|pair| !(pair[0]..pair[1]).contains(&5)) {
            let work = offsets[pair[1] as usize] - offsets[pair[0] as usize]
                + u64::from(pair[1] - pair[0]);
            assert!(work < 3 * 16 * 1024, "unit {pair:?} has work {work}");
        }
    }

    #[test]
    fn units_of_nothing() {
        assert_eq!(balanced_units(&[]), [0]);
        assert_eq!(balanced_units(&[0]), [0]);
        assert_eq!(balanced_units(&[0, 0]), [0, 1]);
    }

    #[test]
    fn partial_blocks_cover_the_rows() {
        for rows in [0, 1, 1023, 1024, 1025, 70_000, 1_000_000] {
            for elements in [0, 1, 1000, 10_000_000] {
                let (in_block, blocks) = partial_blocks(rows, elements);
                assert!(
                    in_block * blocks >= rows && (blocks == 0 || in_block * (blocks - 1) < rows)
                );
                assert!(blocks <= 64);
            }
        }
    }
}
