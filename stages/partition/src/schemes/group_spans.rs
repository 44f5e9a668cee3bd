//! group_spans: the rows that no block of a GPU finishes alone, for schemes by groups of
//! neighbours: their groups are in several blocks, or they have none.
//!
//! promises  rows ascend; a row without a group has 0 blocks, from block 0 on; a block has so many
//!           consecutive groups
//! never     looks at an edge
use warploom_contract::{
    Violation,
    kinds::partition::{Cells, Table, TableFacts, Tables, Width},
};
use warploom_spec::PartitionSpec;

use crate::check::expect_equal;

/// Groups of a block: a group has `dw` of its lanes.
pub fn groups_per_block(dw: u64, block_threads: u64) -> u64 {
    block_threads / dw
}

/// Groups of a block by these settings.
pub fn groups_per_block_of(spec: &PartitionSpec) -> u64 {
    groups_per_block(spec.dw, spec.block_threads)
}

/// Whether no block finishes a row of these groups alone.
pub fn is_listed(from: u64, to: u64, of_block: u64) -> bool {
    to == from || from / of_block != (to - 1) / of_block
}

/// The table, while it is filled.
pub struct Spans {
    of_block: u64,
    node: Cells,
    block: Cells,
    blocks: Cells,
}

impl Spans {
    /// Room for so many rows, where there are so many groups.
    pub fn room(rows: u64, groups: u64, of_block: u64) -> Spans {
        let width = Width::from_largest(groups);
        Spans {
            of_block,
            node: Cells::room(Width::U32, rows),
            block: Cells::room(width, rows),
            blocks: Cells::room(width, rows),
        }
    }

    /// Adds a row with these groups, if no block finishes it alone.
    pub fn add(&mut self, row: u64, from: u64, to: u64) {
        if !is_listed(from, to, self.of_block) {
            return;
        }
        let [first, behind] =
            if to == from { [0, 0] } else { [from / self.of_block, (to - 1) / self.of_block + 1] };
        self.node.push(row);
        self.block.push(first);
        self.blocks.push(behind - first);
    }

    /// The table.
    pub fn into_table(self, name: impl Into<String>) -> Table {
        Table::new(name, vec![("node", self.node), ("block", self.block), ("blocks", self.blocks)])
    }
}

/// The size of the table.
pub fn facts(name: impl Into<String>, rows: u64, groups: u64) -> TableFacts {
    let width = Width::from_largest(groups);
    TableFacts::new(name, rows, &[("node", Width::U32), ("block", width), ("blocks", width)])
}

/// Checks independently: marks the blocks that each row has groups in, block by block.
pub fn prove(
    tables: &Tables,
    name: &str,
    node_of_group: impl Iterator<Item = u64>,
    of_block: u64,
    rows: usize,
) -> Result<(), Violation> {
    // The first block of each row, and how many blocks have it.
    let mut found: Vec<(u64, u64)> = vec![(0, 0); rows];
    let mut last_block = vec![u64::MAX; rows];
    for (row, group) in node_of_group.zip(0u64..) {
        let (row, block) = (row as usize, group / of_block);
        if last_block[row] != block {
            let first = if found[row].1 == 0 { block } else { found[row].0 };
            found[row] = (first, found[row].1 + 1);
            last_block[row] = block;
        }
    }
    let spans = tables.get(name)?;
    let (node, block, blocks) =
        (spans.column("node")?, spans.column("block")?, spans.column("blocks")?);
    let mut at = 0;
    for (row, (first, count)) in found.into_iter().enumerate().filter(|(_, (_, count))| *count != 1)
    {
        if at == node.len() {
            return Err(Violation::new(format!("{name}: expected row {row}, found the end")));
        }
        let entry = |what: &str| format!("{name}, entry {at}: {what}");
        expect_equal(|| entry("node"), row as u64, node.get(at))?;
        expect_equal(|| entry("block"), first, block.get(at))?;
        expect_equal(|| entry("blocks"), count, blocks.get(at))?;
        at += 1;
    }
    expect_equal(|| format!("{name}: rows"), at as u64, node.len() as u64)
}
