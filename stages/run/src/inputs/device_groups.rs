//! device_groups: the groups of neighbours that `partition` made, mapped as a GPU takes them, and
//! the edges that they are ranges of.
//!
//! promises  every edge of a direction is in one group, and every group in one row: damage is an
//!           error, and so is a row in blocks that there are not; what is uploaded is what the
//!           artifact has
//! never     divides, sorts or copies
//! limits    fewer than 2^32 edges
use std::path::Path;

use rayon::prelude::*;
use warploom_contract::{
    Artifact, Inputs, Kind, StageError,
    arrow_file::View,
    kinds::{
        csr::{Csr, Direction as Side},
        partition::{self, FILE, GROUP_TABLES, GroupViews, NEIGHBOUR_GROUPS, SPAN_TABLES},
        plan::GroupDivision,
    },
};
use warploom_cuda::memory_estimate::{GroupRows, TableRows};
use warploom_cuda::{Argument, DevicePlan, Grouped, Groups};
use warploom_ir::Direction;
use warploom_shell::graph_reads::uses_groups;

use crate::inputs::group_division::{CheckedGroup, check_groups};

/// Groups of the directions that launches walk, and the csr's edges.
#[derive(Clone, Debug)]
pub struct DeviceGroups {
    /// Over in-edges.
    pub incoming: Option<GroupViews>,
    /// Over out-edges.
    pub outgoing: Option<GroupViews>,
    /// A user's own, over in-edges.
    pub own: Option<GroupViews>,
    csr: Csr,
}

impl DeviceGroups {
    /// Maps the tables that a plan's launches walk by with these kernels.
    pub fn open(
        inputs: &Inputs,
        csr: &Csr,
        planned: &GroupDivision,
        kernels: &DevicePlan,
    ) -> Result<Self, StageError> {
        let artifact = inputs.get(Kind::Partition)?;
        let is_used = |scheme: &str| uses_groups(Some(planned), scheme);
        let open = |scheme: &str, table: usize, side: &Side| {
            is_used(scheme).then(|| open_table(artifact, table, side)).transpose()
        };
        let path = &inputs.get(Kind::Csr)?.path;
        if is_used(NEIGHBOUR_GROUPS) || is_used(FILE) {
            check_side(&csr.incoming, csr, path)?;
        }
        if is_used(NEIGHBOUR_GROUPS) {
            check_side(&csr.outgoing, csr, path)?;
        }
        let opened = DeviceGroups {
            incoming: open(NEIGHBOUR_GROUPS, 0, &csr.incoming)?,
            outgoing: open(NEIGHBOUR_GROUPS, 1, &csr.outgoing)?,
            own: open(FILE, 2, &csr.incoming)?,
            csr: csr.clone(),
        };
        opened.check_spans(artifact, kernels)?;
        Ok(opened)
    }

    /// Checks that rows of several blocks have blocks that there are.
    fn check_spans(&self, artifact: &Artifact, kernels: &DevicePlan) -> Result<(), StageError> {
        for argument in kernels.arguments() {
            let Argument::Groups(direction, groups, Grouped::SpanBlock) = argument else {
                continue;
            };
            let Some(table) = self.table(*direction, *groups) else { continue };
            let blocks = table.node.len().div_ceil(groups.per_block() as usize);
            if let Some(entry) = span_beyond(table, blocks) {
                let name = match direction {
                    _ if groups.is_own() => SPAN_TABLES[2],
                    Direction::Out => SPAN_TABLES[1],
                    _ => SPAN_TABLES[0],
                };
                let (first, count) = (table.span_block[entry], table.span_blocks[entry]);
                let what = format!(
                    "entry {entry}: expected blocks of {blocks}, found {count} from {first} on"
                );
                return Err(StageError::damaged(&artifact.file(&format!("{name}.arrow")), what));
            }
        }
        Ok(())
    }

    /// Of tables that are not in a store.
    pub fn from_views(csr: &Csr, incoming: GroupViews, outgoing: GroupViews) -> Self {
        let csr = csr.clone();
        DeviceGroups { incoming: Some(incoming), outgoing: Some(outgoing), own: None, csr }
    }

    /// The table that groups are in.
    pub fn table(&self, direction: Direction, groups: Groups) -> Option<&GroupViews> {
        match direction {
            _ if groups.is_own() => self.own.as_ref(),
            Direction::Out => self.outgoing.as_ref(),
            _ => self.incoming.as_ref(),
        }
    }

    /// Rows of the tables.
    pub fn rows(&self) -> GroupRows {
        let rows = |table: &Option<GroupViews>| {
            table.as_ref().map_or_else(TableRows::default, |table| TableRows {
                groups: table.node.len() as u64,
                spans: table.span_node.len() as u64,
            })
        };
        GroupRows {
            incoming: rows(&self.incoming),
            outgoing: rows(&self.outgoing),
            own: rows(&self.own),
        }
    }

    /// The far end of each slot of a direction.
    pub fn far(&self, direction: Direction) -> &View<u32> {
        &self.side(direction).neighbours
    }

    /// The edge of each slot of a direction.
    pub fn edges(&self, direction: Direction) -> &View<u64> {
        &self.side(direction).edges
    }

    fn side(&self, direction: Direction) -> &Side {
        if direction == Direction::Out { &self.csr.outgoing } else { &self.csr.incoming }
    }
}

/// The first row of several blocks that has one beyond so many.
fn span_beyond(table: &GroupViews, blocks: usize) -> Option<usize> {
    let mut spans = table.span_block.iter().zip(table.span_blocks.iter());
    spans.position(|(&first, &count)| first as usize + count as usize > blocks)
}

/// Checks that far ends and ids of a csr's edges, where kernels read them, are within it.
fn check_side(side: &Side, csr: &Csr, path: &Path) -> Result<(), StageError> {
    let (nodes, edges) = (csr.nodes(), csr.edges());
    let damaged = |what: String| Err(StageError::damaged(path, what));
    let (far, ids) = (side.neighbours.given(), side.edges.given());
    let lengths = [far.map(|far| far.len()), ids.map(|ids| ids.len())];
    if let Some(found) = lengths.into_iter().flatten().find(|&found| found != edges) {
        return damaged(format!("expected {edges} edges, found {found}"));
    }
    let is_beyond = |&&node: &&u32| node as usize >= nodes;
    if let Some(far) = far.and_then(|far| far.par_iter().find_any(is_beyond)) {
        return damaged(format!("neighbour {far} of only {nodes} nodes"));
    }
    let is_beyond = |&&edge: &&u64| edge as usize >= edges;
    if let Some(edge) = ids.and_then(|ids| ids.par_iter().find_any(is_beyond)) {
        return damaged(format!("edge id {edge} of only {edges} edges"));
    }
    Ok(())
}

/// Maps one table with the rows that no block finishes alone, and checks both.
fn open_table(artifact: &Artifact, table: usize, side: &Side) -> Result<GroupViews, StageError> {
    let (groups, spans) = (GROUP_TABLES[table], SPAN_TABLES[table]);
    let views = partition::open_group_views(artifact, groups, spans)?;
    let lengths = [views.node.len(), views.start.len(), views.end.len()];
    check_groups(artifact, groups, &side.offsets, lengths, |group| CheckedGroup {
        node: views.node[group],
        slots: u64::from(views.start[group])..u64::from(views.end[group]),
    })?;
    let nodes = side.offsets.len() - 1;
    match views.span_node.iter().position(|&node| node as usize >= nodes) {
        Some(entry) => Err(StageError::damaged(
            &artifact.file(&format!("{spans}.arrow")),
            format!("entry {entry}: expected a node of {nodes}, found {}", views.span_node[entry]),
        )),
        None => Ok(views),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_in_blocks_that_there_are_not_is_found() {
        let table = |block: [u32; 3], blocks: [u32; 3]| GroupViews {
            node: vec![0; 9].into(),
            start: (0..9).collect(),
            end: (1..10).collect(),
            span_node: vec![0, 1, 2].into(),
            span_block: block.to_vec().into(),
            span_blocks: blocks.to_vec().into(),
        };
        assert_eq!(span_beyond(&table([0, 0, 2], [3, 0, 1]), 3), None);
        assert_eq!(span_beyond(&table([0, 1, 2], [3, 3, 1]), 3), Some(1));
        assert_eq!(span_beyond(&table([0, 0, u32::MAX], [3, 0, u32::MAX]), 3), Some(2));
    }
}
