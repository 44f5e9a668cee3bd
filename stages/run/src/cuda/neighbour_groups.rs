//! neighbour_groups: rows divided into neighbour groups, and the rows whose groups are in several
//! blocks (spans).
//!
//! promises  every slot is in one group, in order; a group belongs to one row; a row without edges
//!           has an empty group; groups of a row are consecutive; a span has all blocks with a
//!           group of its row
//! never     changes the order of rows, or of the edges of a row
use warploom_cuda::{Grouped, Groups};

use super::edge_order::Items;

/// The groups of one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupTable {
    row: Vec<u32>,
    start: Vec<u32>,
    end: Vec<u32>,
    span_row: Vec<u32>,
    span_block: Vec<u32>,
    span_blocks: Vec<u32>,
}

impl GroupTable {
    /// Divides rows in the order in which their edges are listed.
    pub fn from_items(items: &Items, groups: Groups) -> GroupTable {
        let mut table = GroupTable::default();
        for (&row, slots) in items.row.iter().zip(items.offset.windows(2)) {
            let first = table.row.len() as u32;
            let mut start = slots[0];
            loop {
                let end = slots[1].min(start.saturating_add(groups.neighbours));
                table.row.push(row);
                table.start.push(start);
                table.end.push(end);
                start = end;
                if start == slots[1] {
                    break;
                }
            }
            let [block, last] =
                [first, table.row.len() as u32 - 1].map(|group| group / groups.per_block());
            if last > block {
                table.span_row.push(row);
                table.span_block.push(block);
                table.span_blocks.push(last - block + 1);
            }
        }
        table
    }

    /// One of its lists; empty where a number is asked for.
    pub fn list(&self, list: Grouped) -> &[u32] {
        match list {
            Grouped::Row => &self.row,
            Grouped::Start => &self.start,
            Grouped::End => &self.end,
            Grouped::SpanRow => &self.span_row,
            Grouped::SpanBlock => &self.span_block,
            Grouped::SpanBlocks => &self.span_blocks,
            Grouped::Count | Grouped::SpanCount => &[],
        }
    }

    /// The number of groups, or of spans.
    pub fn count(&self, of: Grouped) -> u32 {
        match of {
            Grouped::SpanCount => self.span_row.len() as u32,
            _ => self.row.len() as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(degrees: &[u32]) -> Items {
        let offset = std::iter::once(0).chain(degrees.iter().scan(0, |end, degree| {
            *end += degree;
            Some(*end)
        }));
        Items {
            row: (0..degrees.len() as u32).rev().collect(),
            offset: offset.collect::<Vec<u32>>().into(),
            ..Items::default()
        }
    }

    /// Divides rows and checks what is promised; gives the table.
    fn cut(degrees: &[u32], (neighbours, of_block): (u32, u32)) -> GroupTable {
        let (items, groups) =
            (items(degrees), Groups { neighbours, lanes: 32, threads: 32 * of_block });
        let table = GroupTable::from_items(&items, groups);
        let most = groups
            .most(degrees.len() as u64, degrees.iter().map(|degree| u64::from(*degree)).sum());
        assert!(
            table.row.len() as u64 <= most,
            "{degrees:?}: {} groups, {most} at most",
            table.row.len()
        );
        let mut group = 0;
        let mut spans = Vec::new();
        for (&row, slots) in items.row.iter().zip(items.offset.windows(2)) {
            let (first, mut at) = (group, slots[0]);
            while group < table.row.len() && table.row[group] == row {
                assert_eq!(table.start[group], at, "{degrees:?}");
                at = table.end[group];
                assert!(
                    at - table.start[group] <= neighbours
                        && (at > table.start[group] || slots[0] == slots[1]),
                    "{degrees:?}"
                );
                group += 1;
            }
            assert!(
                at == slots[1] && group > first,
                "{degrees:?}: row {row} ends at {at} of {}",
                slots[1]
            );
            let blocks: std::collections::BTreeSet<u32> =
                (first..group).map(|group| group as u32 / of_block).collect();
            if blocks.len() > 1 {
                spans.push((row, *blocks.first().unwrap(), blocks.len() as u32));
            }
        }
        assert_eq!(group, table.row.len(), "{degrees:?}");
        let found = (0..table.span_row.len())
            .map(|span| (table.span_row[span], table.span_block[span], table.span_blocks[span]));
        assert_eq!(found.collect::<Vec<_>>(), spans, "{degrees:?}");
        assert!(
            spans.len() < most.div_ceil(u64::from(of_block)).max(1) as usize,
            "a span crosses from one block to the next"
        );
        table
    }

    #[test]
    fn every_edge_is_in_one_group_and_rows_over_several_blocks_are_listed() {
        let star: Vec<u32> = std::iter::once(99).chain([0; 99]).collect();
        for degrees in
            [&[][..], &[0], &[0; 40], &[1; 40], &[7, 0, 8, 9, 16, 1], &star, &[3, 100_000, 3]]
        {
            for neighbours in [1, 4, 32, 1024] {
                for of_block in [1, 4, 16, 64] {
                    cut(degrees, (neighbours, of_block));
                }
            }
        }
    }

    #[test]
    fn a_row_has_as_many_groups_as_it_fills() {
        let table = cut(&[5, 0, 9], (4, 2));
        assert_eq!(
            (table.list(Grouped::Row), table.list(Grouped::Start)),
            (&[2, 2, 1, 0, 0, 0][..], &[0, 4, 5, 5, 9, 13][..])
        );
        assert_eq!(table.list(Grouped::End), [4, 5, 5, 9, 13, 14]);
        assert_eq!(
            (
                table.list(Grouped::SpanRow),
                table.list(Grouped::SpanBlock),
                table.list(Grouped::SpanBlocks)
            ),
            (&[0][..], &[1][..], &[2][..])
        );
        assert_eq!((table.count(Grouped::Count), table.count(Grouped::SpanCount)), (6, 1));
    }
}
