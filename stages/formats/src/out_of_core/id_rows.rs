//! The rows that ids become.
use crate::raw_graph::NodeIds;

/// The row of a node that is none any more.
pub(super) const GONE: u32 = u32::MAX;

/// How what stands in the file becomes rows.
#[derive(Debug)]
pub(super) enum IdRows {
    Same,
    Ranked {
        bits: Vec<u64>,
        rank: Vec<u32>,
        small: u32,
        large: Vec<u64>,
    },
    /// Rows by these, and what each of them is now.
    Moved(Box<IdRows>, Vec<u32>),
}

impl IdRows {
    pub fn row_of(&self, id: u64) -> u32 {
        match self {
            IdRows::Same => id as u32,
            // What is gone stays so.
            IdRows::Moved(rows, moved) => {
                moved.get(rows.row_of(id) as usize).copied().unwrap_or(GONE)
            }
            IdRows::Ranked { bits, rank, small, large } => match bits.get((id / 64) as usize) {
                Some(word) if word >> (id % 64) & 1 == 1 => {
                    rank[(id / 64) as usize] + (word & ((1 << (id % 64)) - 1)).count_ones()
                }
                _ => small + large.partition_point(|&known| known < id) as u32,
            },
        }
    }
}

/// The row among `nodes` of each id of `ids`; none: it is not there.
pub(crate) fn rows_among(ids: &NodeIds, nodes: &NodeIds) -> Vec<Option<u32>> {
    let number = |row: usize| match ids {
        NodeIds::Numbers(numbers) => numbers[row],
        _ => row as u64,
    };
    let row = |row: usize| match (ids, nodes) {
        (NodeIds::Strings(words), NodeIds::Strings(nodes)) => nodes.binary_search(&words[row]).ok(),
        (NodeIds::Strings(_), _) | (_, NodeIds::Strings(_)) => None,
        (_, NodeIds::Count(nodes)) => {
            usize::try_from(number(row)).ok().filter(|&id| id < *nodes as usize)
        }
        (_, NodeIds::Numbers(nodes)) => nodes.binary_search(&number(row)).ok(),
    };
    (0..ids.len()).map(|id| row(id).map(|row| row as u32)).collect()
}
