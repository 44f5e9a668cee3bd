//! group_division: which launches on a CPU walk by the groups of neighbours that `partition` made.
//!
//! promises  a launch that supports groups, over a direction that the scheme has, walks by them;
//!           all others walk by rows, which the reason says
//! never     reads a group
use std::collections::BTreeMap;

use warploom_contract::{
    Inputs, Kind, StageError,
    kinds::{
        partition::{self, Scheme},
        plan::GroupDivision,
    },
};
use warploom_ir::Direction;
use warploom_launch::{LaunchList, Reason, groups_direction, sees_edge_order, walks_rows};

/// Bytes of a group while its table is read: its node, slots, place in the order, and its start.
const BYTES_OF_GROUP: u64 = 32;

/// A division by groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    scheme: String,
    groups: u64,
}

impl Division {
    /// That of the partition, where it has one and the device is a CPU.
    pub fn read(inputs: &Inputs, is_gpu: bool) -> Result<Option<Self>, StageError> {
        if is_gpu {
            return Ok(None);
        }
        let artifact = inputs.get(Kind::Partition)?;
        let scheme = artifact.find_fact(partition::GROUPED).and_then(|scheme| scheme.as_str());
        scheme
            .map(|scheme| {
                Ok(Division {
                    scheme: scheme.to_owned(),
                    groups: artifact.count(partition::GROUPS)?,
                })
            })
            .transpose()
    }

    /// Whether each launch walks by it; none if no launch does.
    pub fn planned(&self, list: &LaunchList) -> Option<GroupDivision> {
        // Ranges of slots of a user's own ask for the order of the csr.
        let own = self.scheme == Scheme::File { blake3: String::new() }.name();
        let is_refused = own && sees_edge_order(list);
        let walks = |direction: Direction| direction == Direction::In || !own;
        let launches: Vec<bool> = list
            .launches()
            .into_iter()
            .map(|launch| !is_refused && groups_direction(&launch.operation).is_some_and(walks))
            .collect();
        launches.contains(&true).then(|| GroupDivision { scheme: self.scheme.clone(), launches })
    }

    /// Bytes that a run takes for it.
    pub fn bytes(&self, list: &LaunchList) -> u64 {
        self.planned(list).map_or(0, |_| self.groups.saturating_mul(BYTES_OF_GROUP))
    }
}

/// Which launches walk by groups, and which by rows, where the partition has groups.
pub fn reason(list: &LaunchList, division: Option<&Division>) -> Option<Reason> {
    let division = division?;
    let planned = division.planned(list);
    let launches = list.launches();
    let named = |by_groups: bool| {
        let is_so = |number: usize| {
            planned.as_ref().is_some_and(|planned| planned.launches[number]) == by_groups
        };
        let names: Vec<String> = launches
            .iter()
            .enumerate()
            .filter(|(number, launch)| walks_rows(&launch.operation) && is_so(*number))
            .map(|(_, launch)| format!("`{}`", launch.name))
            .collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let chosen = if planned.is_some() { division.scheme.as_str() } else { "rows" };
    Some(Reason {
        what: "groups of neighbours".to_owned(),
        chosen: chosen.to_owned(),
        why: format!(
            "`partition.scheme: {}` asks for them, {} groups; so go {}; by rows, since they do not \
             walk edges once in a direction that has groups: {}",
            division.scheme,
            division.groups,
            named(true),
            named(false)
        ),
        alternatives: BTreeMap::new(),
    })
}
