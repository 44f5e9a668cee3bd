//! group_tasks: tasks of whole groups of neighbours, and the rows whose groups are in several of
//! them.
//!
//! promises  a group is in one task; every row is in the task of its first group; what is divided
//!           depends on offsets and groups alone, never on the number of threads
//! never     reorders rows, groups or edges
use std::ops::Range;

/// Tasks that a small graph has.
const TASKS: u64 = 32;
/// Edges of a task, at least and at most; its last group may exceed them.
const LEAST_EDGES: u64 = 256;
const MOST_EDGES: u64 = 16 * 1024;

/// A task: consecutive groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupTask {
    /// The slots of its groups.
    pub slots: Range<u64>,
    /// Rows that have no group in another task.
    pub rows: Range<usize>,
    /// The row whose first groups are in earlier tasks.
    pub continued: Option<usize>,
    /// The row whose last groups are in later tasks.
    pub begun: Option<usize>,
}

/// Divides groups into tasks. `starts` has the first slot of each group, ascending, and the number
/// of slots; every row with edges begins with a group.
pub(crate) fn divide_groups(offsets: &[u64], starts: &[u64]) -> Vec<GroupTask> {
    let rows = offsets.len() - 1;
    let edges = offsets[rows];
    let wanted = (edges / TASKS).clamp(LEAST_EDGES, MOST_EDGES);
    let (mut slot, mut first, mut tasks) = (0, 0, Vec::new());
    loop {
        let next = starts.partition_point(|&start| start < slot + wanted);
        let end = starts.get(next).map_or(edges, |&start| start.min(edges));
        // The row with the first slot of the next task, where it begins before that slot.
        let (after, begun) = if end == edges {
            (rows, None)
        } else {
            let row = offsets.partition_point(|&offset| offset <= end) - 1;
            if offsets[row] < end { (row + 1, Some(row)) } else { (row, None) }
        };
        let begun = begun.filter(|&row| row >= first);
        let continued = (first > 0 && offsets[first] > slot).then(|| first - 1);
        let own = first..after - usize::from(begun.is_some());
        tasks.push(GroupTask { slots: slot..end, rows: own, continued, begun });
        if end == edges {
            return tasks;
        }
        (slot, first) = (end, after);
    }
}

impl GroupTask {
    /// The slots of a row in this task.
    pub fn slots_of_row(&self, offsets: &[u64], row: usize) -> Range<u64> {
        self.slots.start.max(offsets[row])..self.slots.end.min(offsets[row + 1])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The starts of groups of at most so many edges, and the number of edges.
    pub(crate) fn group_starts(offsets: &[u64], most: u64) -> Vec<u64> {
        let rows = offsets.windows(2);
        let mut starts: Vec<u64> =
            rows.flat_map(|row| (row[0]..row[1]).step_by(most as usize)).collect();
        starts.extend(offsets.last());
        starts
    }

    #[test]
    fn every_row_and_every_slot_is_in_tasks_once() {
        let star = || std::iter::once(5000).chain([0; 9]).chain([40_000, 1, 0]);
        let all: [Vec<u64>; 7] = [
            vec![],
            vec![0],
            vec![0; 40],
            vec![1; 4000],
            star().collect(),
            std::iter::once(0).chain(star()).collect(),
            (0..3000).map(|row| row % 50).collect(),
        ];
        for degrees in all {
            let mut offsets = vec![0];
            for degree in &degrees {
                offsets.push(offsets[offsets.len() - 1] + degree);
            }
            for most in [1, 3, 32, 1024, 100_000] {
                let starts = group_starts(&offsets, most);
                let tasks = divide_groups(&offsets, &starts);
                let mut slots = vec![0..0; degrees.len()];
                let (mut next_slot, mut open) = (0, None);
                let mut rows = Vec::new();
                for task in &tasks {
                    assert_eq!(task.slots.start, next_slot);
                    assert!(starts.contains(&task.slots.start) || degrees.is_empty());
                    next_slot = task.slots.end;
                    if let Some(row) = task.continued {
                        assert_eq!(open, Some(row), "{degrees:?}");
                        assert_eq!(slots[row].end, task.slots_of_row(&offsets, row).start);
                        slots[row].end = task.slots_of_row(&offsets, row).end;
                    }
                    rows.extend(task.rows.clone().chain(task.begun));
                    for row in task.rows.clone().chain(task.begun) {
                        slots[row] = task.slots_of_row(&offsets, row);
                    }
                    let is_over =
                        task.continued.is_none_or(|row| slots[row].end == offsets[row + 1]);
                    assert!(is_over || task.rows.is_empty() && task.begun.is_none());
                    open = task.begun.or(if is_over { None } else { open });
                }
                assert!(rows.iter().copied().eq(0..degrees.len()), "{degrees:?}: {rows:?}");
                let whole = offsets.windows(2).map(|row| row[0]..row[1]);
                let found = slots.iter().cloned();
                assert!(
                    found.zip(whole).all(|(found, whole)| found == whole || whole.is_empty()),
                    "{degrees:?}, {most}"
                );
            }
        }
    }
}
