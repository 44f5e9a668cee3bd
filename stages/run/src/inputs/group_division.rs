//! group_division: the groups of neighbours that `partition` made, for launches that the plan lets
//! walk by them.
//!
//! promises  every edge of a direction is in one group, and every group in one row: damage is an
//!           error; groups of a row are taken in the order of their slots
//! never     divides: what the artifact does not have is walked by rows
//! limits    memory: 8 bytes a group, 36 while a direction is read
use warploom_contract::{
    Artifact, Inputs, Kind, StageError,
    kinds::{
        csr::{Csr, Rows},
        partition::{self, GROUP_TABLES, NeighbourGroups, Scheme},
        plan::GroupDivision,
    },
};
use warploom_ir::Direction;

/// Groups of both directions, and which launches walk by them.
#[derive(Clone, Debug, Default)]
pub struct Division {
    /// First slot of each group, ascending, and the number of slots.
    incoming: Option<Vec<u64>>,
    /// The same over out-edges.
    outgoing: Option<Vec<u64>>,
    /// For each launch, whether it walks by groups.
    launches: Vec<bool>,
    /// Whether a group is a range of the csr's slots, so that edges have to be listed as there.
    pub in_slot_order: bool,
}

impl Division {
    /// Reads the groups of a plan's division.
    pub fn read(inputs: &Inputs, csr: &Csr, planned: &GroupDivision) -> Result<Self, StageError> {
        let artifact = inputs.get(Kind::Partition)?;
        let read = |table: &str, rows: Rows<'_>| -> Result<Option<Vec<u64>>, StageError> {
            let groups = partition::open_groups(artifact, table, csr.edges() as u64)?;
            group_starts(artifact, table, rows, groups).map(Some)
        };
        let [in_groups, out_groups, file_groups] = GROUP_TABLES;
        let own = planned.scheme == Scheme::File { blake3: String::new() }.name();
        let (incoming, outgoing) = if own {
            (read(file_groups, csr.incoming.rows())?, None)
        } else {
            (read(in_groups, csr.incoming.rows())?, read(out_groups, csr.outgoing.rows())?)
        };
        let launches = planned.launches.clone();
        Ok(Division { incoming, outgoing, launches, in_slot_order: own })
    }

    /// The groups by which a launch walks the edges of a direction.
    pub fn starts(&self, launch: usize, direction: Direction) -> Option<&[u64]> {
        let groups = match direction {
            Direction::In => &self.incoming,
            Direction::Out => &self.outgoing,
            Direction::Both => &None,
        };
        groups.as_deref().filter(|_| self.launches.get(launch) == Some(&true))
    }
}

/// The first slot of each group, ascending, and the number of slots.
fn group_starts(
    artifact: &Artifact,
    table: &str,
    rows: Rows<'_>,
    groups: NeighbourGroups,
) -> Result<Vec<u64>, StageError> {
    let damaged =
        |what: String| Err(StageError::damaged(&artifact.file(&format!("{table}.arrow")), what));
    let NeighbourGroups { node, start, end } = groups;
    if start.len() != node.len() || end.len() != node.len() {
        return damaged(format!(
            "expected a node, a start and an end of each group, found {}, {} and {}",
            node.len(),
            start.len(),
            end.len()
        ));
    }
    let mut order: Vec<u32> = (0..node.len() as u32).collect();
    if !start.is_sorted() {
        order.sort_unstable_by_key(|&group| start[group as usize]);
    }
    let (mut starts, mut next) = (Vec::with_capacity(node.len() + 1), 0);
    for group in order {
        let group = group as usize;
        let row = node[group] as usize;
        let slots = start[group]..end[group];
        let is_within = |offsets: &[u64]| offsets[0] <= slots.start && slots.end <= offsets[1];
        if slots.is_empty()
            || slots.start != next
            || !rows.offsets.get(row..row + 2).is_some_and(is_within)
        {
            return damaged(format!(
                "entry {group}: expected slots of node {row} from {next} on, found {slots:?}"
            ));
        }
        starts.push(slots.start);
        next = slots.end;
    }
    if next != rows.neighbours.len() as u64 {
        return damaged(format!(
            "expected groups of {} edges, found {next}",
            rows.neighbours.len()
        ));
    }
    starts.push(next);
    Ok(starts)
}
