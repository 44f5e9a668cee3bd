//! device_groups: the groups of neighbours that `partition` made, mapped as a GPU takes them, and
//! the edges that they are ranges of.
//!
//! promises  every edge of a direction is in one group, and every group in one row: damage is an
//!           error; what is uploaded is what the artifact has
//! never     divides, sorts or copies
//! limits    fewer than 2^32 edges
use warploom_contract::{
    Artifact, Inputs, Kind, StageError,
    arrow_file::View,
    kinds::{
        csr::{Csr, Direction as Side},
        partition::{self, FILE, GROUP_TABLES, GroupViews, NEIGHBOUR_GROUPS, SPAN_TABLES},
        plan::GroupDivision,
    },
};
use warploom_cuda::Groups;
use warploom_cuda::memory_estimate::{GroupRows, TableRows};
use warploom_ir::Direction;

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
    /// Maps the tables that a plan's launches walk by.
    pub fn open(inputs: &Inputs, csr: &Csr, planned: &GroupDivision) -> Result<Self, StageError> {
        let artifact = inputs.get(Kind::Partition)?;
        let is_used = |scheme: &str| planned.launches.iter().flatten().any(|used| used == scheme);
        let open = |scheme: &str, table: usize, side: &Side| {
            is_used(scheme).then(|| open_table(artifact, table, side)).transpose()
        };
        Ok(DeviceGroups {
            incoming: open(NEIGHBOUR_GROUPS, 0, &csr.incoming)?,
            outgoing: open(NEIGHBOUR_GROUPS, 1, &csr.outgoing)?,
            own: open(FILE, 2, &csr.incoming)?,
            csr: csr.clone(),
        })
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

/// Maps one table with the rows that no block finishes alone, and checks both.
fn open_table(artifact: &Artifact, table: usize, side: &Side) -> Result<GroupViews, StageError> {
    let (groups, spans) = (GROUP_TABLES[table], SPAN_TABLES[table]);
    let views = partition::open_group_views(artifact, groups, spans)?;
    let lengths = [views.node.len(), views.start.len(), views.end.len()];
    check_groups(artifact, groups, side.rows(), lengths, |group| CheckedGroup {
        node: views.node[group],
        slots: u64::from(views.start[group])..u64::from(views.end[group]),
    })?;
    let nodes = side.rows().len();
    match views.span_node.iter().position(|&node| node as usize >= nodes) {
        Some(entry) => Err(StageError::damaged(
            &artifact.file(&format!("{spans}.arrow")),
            format!("entry {entry}: expected a node of {nodes}, found {}", views.span_node[entry]),
        )),
        None => Ok(views),
    }
}
