//! group_division: the groups of neighbours that `partition` made, for launches of a CPU that the
//! plan lets walk by them.
//!
//! promises  every edge of a direction is in one group, and every group in one row: damage is an
//!           error
//! never     divides: what the artifact does not have is walked by rows
//! limits    memory: 8 bytes a group, 28 while a direction is read
use std::ops::Range;

use warploom_contract::{
    Artifact, Inputs, Kind, StageError,
    kinds::{
        csr::{Csr, Direction as Side},
        partition::{self, FILE, GROUP_TABLES, NEIGHBOUR_GROUPS, NeighbourGroups},
        plan::GroupDivision,
    },
};
use warploom_ir::Direction;
use warploom_shell::graph_reads::uses_groups;

/// Groups of both directions, and which launches walk by them.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// First slot of each group of `neighbour-groups`, ascending, and the number of slots.
    incoming: Option<Vec<u64>>,
    /// The same over out-edges.
    outgoing: Option<Vec<u64>>,
    /// The same of a user's own over in-edges.
    own: Option<Vec<u64>>,
    /// The scheme by which each launch walks.
    launches: Vec<Option<String>>,
    /// Whether a group is a range of the csr's slots, so that edges have to be listed as there.
    pub in_slot_order: bool,
}

impl Division {
    /// Reads the groups of a plan's division.
    pub fn read(inputs: &Inputs, csr: &Csr, planned: &GroupDivision) -> Result<Self, StageError> {
        let artifact = inputs.get(Kind::Partition)?;
        let is_used = |scheme: &str| uses_groups(Some(planned), scheme);
        let read = |scheme: &str, table: &str, side: &Side| {
            let starts = || {
                let groups = partition::open_groups(artifact, table, csr.edges() as u64)?;
                group_starts(artifact, table, &side.offsets, groups)
            };
            is_used(scheme).then(starts).transpose()
        };
        let [in_groups, out_groups, file_groups] = GROUP_TABLES;
        Ok(Division {
            incoming: read(NEIGHBOUR_GROUPS, in_groups, &csr.incoming)?,
            outgoing: read(NEIGHBOUR_GROUPS, out_groups, &csr.outgoing)?,
            own: read(FILE, file_groups, &csr.incoming)?,
            launches: planned.launches.clone(),
            in_slot_order: is_used(FILE),
        })
    }

    /// The groups by which a launch walks the edges of a direction.
    pub fn starts(&self, launch: usize, direction: Direction) -> Option<&[u64]> {
        let scheme = self.launches.get(launch)?.as_deref()?;
        let groups = match direction {
            Direction::In if scheme == FILE => &self.own,
            Direction::In => &self.incoming,
            Direction::Out if scheme == NEIGHBOUR_GROUPS => &self.outgoing,
            Direction::Out | Direction::Both => &None,
        };
        groups.as_deref()
    }
}

/// The first slot of each group, ascending, and the number of slots.
fn group_starts(
    artifact: &Artifact,
    table: &str,
    offsets: &[u64],
    groups: NeighbourGroups,
) -> Result<Vec<u64>, StageError> {
    let NeighbourGroups { node, start, end } = groups;
    let lengths = [node.len(), start.len(), end.len()];
    check_groups(artifact, table, offsets, lengths, |group| CheckedGroup {
        node: node[group],
        slots: start[group]..end[group],
    })?;
    let mut starts = start;
    starts.reserve_exact(1);
    starts.push(offsets.last().copied().unwrap_or(0));
    Ok(starts)
}

/// An entry of a table of groups.
pub(crate) struct CheckedGroup {
    /// Its node.
    pub node: u32,
    /// Its slots.
    pub slots: Range<u64>,
}

/// Checks that groups have the slots of their rows, which start at `offsets`, one behind the other.
/// `lengths` are those of
/// nodes, starts and ends.
pub(crate) fn check_groups(
    artifact: &Artifact,
    table: &str,
    offsets: &[u64],
    lengths: [usize; 3],
    group_at: impl Fn(usize) -> CheckedGroup,
) -> Result<(), StageError> {
    let damaged =
        |what: String| Err(StageError::damaged(&artifact.file(&format!("{table}.arrow")), what));
    let [groups, starts, ends] = lengths;
    if starts != groups || ends != groups {
        return damaged(format!(
            "expected a node, a start and an end of each group, found {groups}, {starts} and {ends}"
        ));
    }
    let mut next = 0;
    for group in 0..groups {
        let CheckedGroup { node, slots } = group_at(group);
        let row = node as usize;
        let is_within = |offsets: &[u64]| offsets[0] <= slots.start && slots.end <= offsets[1];
        if slots.is_empty()
            || slots.start != next
            || !offsets.get(row..row + 2).is_some_and(is_within)
        {
            return damaged(format!(
                "entry {group}: expected slots of node {row} from {next} on, found {slots:?}"
            ));
        }
        next = slots.end;
    }
    let edges = offsets.last().copied().unwrap_or(0);
    if next != edges {
        return damaged(format!("expected groups of {edges} edges, found {next}"));
    }
    Ok(())
}
