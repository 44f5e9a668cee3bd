//! group_division: which launches walk by the groups of neighbours that `partition` made: what
//! `plan.schedule` asks for, and what a launch and a device support.
//!
//! promises  without a word of `plan.schedule` a launch that supports groups, over a direction that
//!           a scheme has, walks by them, by a user's own before others; all other launches walk by
//!           rows, which the reason says; an entry of the list that has no effect is an error
//! never     reads a group; divides: what the partition does not have is named with its setting
use std::collections::BTreeMap;

use warploom_contract::{
    Artifact, ErrorKind, Inputs, Kind, StageError,
    kinds::{
        partition::{FILE, GROUP_SETTINGS, GROUP_TABLES, NEIGHBOUR_GROUPS, SPAN_TABLES},
        plan::GroupDivision,
    },
};
use warploom_cuda::memory_estimate::{GroupRows, TableRows};
use warploom_cuda::{Blocks, DevicePlan, Groups};
use warploom_ir::Direction;
use warploom_launch::{
    Launch, LaunchList, Reason, edge_visits, groups_direction, sees_edge_order, walked_direction,
    walks_rows,
};
use warploom_shell::stage_errors::mistake_error;
use warploom_spec::{EdgeSchedule, LaunchSchedule, LaunchSchedules, MistakeKind};

/// Bytes of a group while a CPU reads its table: its node, slots, and its start.
const BYTES_OF_GROUP: u64 = 28;
/// The word of launches that walk edges once, and of those that walk them several times.
const SUM: &str = "sum";
const ATTENTION: &str = "attention";

/// A division by groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupScheme {
    /// A user's own.
    File,
    /// Those of `neighbour-groups`.
    NeighbourGroups,
}

impl GroupScheme {
    const ALL: [GroupScheme; 2] = [GroupScheme::File, GroupScheme::NeighbourGroups];

    fn name(self) -> &'static str {
        match self {
            GroupScheme::File => FILE,
            GroupScheme::NeighbourGroups => NEIGHBOUR_GROUPS,
        }
    }
}

/// The divisions by groups of a partition, without a group of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Divisions {
    /// Those that are there.
    schemes: Vec<GroupScheme>,
    /// Most neighbours of a group of `neighbour-groups`.
    ngs: u32,
    /// Lanes of a group.
    dw: u32,
    /// Threads of a block.
    block_threads: u32,
    /// Rows of their tables.
    pub rows: GroupRows,
}

/// What each launch walks by, in the order of the list; none: by rows.
pub type LaunchDivisions = Vec<Option<GroupScheme>>;

impl Divisions {
    /// Those of the partition.
    pub fn read(inputs: &Inputs) -> Result<Self, StageError> {
        let artifact = inputs.get(Kind::Partition)?;
        let [in_groups, _, file_groups] = GROUP_TABLES;
        let mut schemes = Vec::new();
        let tables = [(GroupScheme::File, file_groups), (GroupScheme::NeighbourGroups, in_groups)];
        for (scheme, table) in tables {
            if artifact.find_count(table).is_some() {
                schemes.push(scheme);
            }
        }
        let setting = |name| artifact.find_count(name).unwrap_or(0) as u32;
        let [ngs, dw, block_threads] = GROUP_SETTINGS.map(setting);
        let [incoming, outgoing, own] =
            [0, 1, 2].map(|table| table_rows(artifact, GROUP_TABLES[table], SPAN_TABLES[table]));
        let rows = GroupRows { incoming, outgoing, own };
        Ok(Divisions { schemes, ngs, dw, block_threads, rows })
    }

    /// What each launch is to walk by; `entries` has the entry that counts for each.
    pub fn choose(
        &self,
        asked: &LaunchSchedules,
        entries: &[Option<usize>],
        list: &LaunchList,
        is_gpu: bool,
    ) -> Result<LaunchDivisions, StageError> {
        // A CPU lists the edges of a row once for all launches, and own groups in the csr's order.
        let allows_own = is_gpu || !sees_edge_order(list);
        // What kernels of a GPU support is seen when they are emitted.
        let direction = if is_gpu { walked_direction } else { groups_direction };
        let supports = |launch: &Launch, scheme: GroupScheme| {
            direction(&launch.operation).is_some_and(|direction| match scheme {
                GroupScheme::File => allows_own && direction == Direction::In,
                GroupScheme::NeighbourGroups => true,
            })
        };
        let mut chosen = Vec::with_capacity(entries.len());
        for (launch, entry) in list.launches().into_iter().zip(entries) {
            let (schedule, entry) = match (asked, entry) {
                (LaunchSchedules::All(schedule), _) => (*schedule, None),
                (_, Some(place)) => {
                    let entry = &asked.entries()[*place];
                    (entry.schedule, Some(entry))
                }
                (_, None) => (EdgeSchedule::Rows, None),
            };
            let wanted: &[GroupScheme] = match schedule {
                EdgeSchedule::Auto => &self.schemes,
                EdgeSchedule::Rows => &[],
                EdgeSchedule::NeighbourGroups => &[GroupScheme::NeighbourGroups],
                EdgeSchedule::File => &[GroupScheme::File],
            };
            if let Some(absent) = wanted.iter().find(|scheme| !self.schemes.contains(*scheme)) {
                return Err(absent_division(*absent, entry));
            }
            chosen.push(wanted.iter().copied().find(|scheme| supports(launch, *scheme)));
        }
        Ok(chosen)
    }

    /// The groups of each launch, for a GPU.
    pub fn gpu_groups(&self, chosen: &[Option<GroupScheme>]) -> Vec<Option<Groups>> {
        let groups = |scheme: GroupScheme| Groups {
            neighbours: if scheme == GroupScheme::File { 0 } else { self.ngs },
            lanes: self.dw,
            threads: self.block_threads,
        };
        chosen.iter().map(|scheme| scheme.map(groups)).collect()
    }

    /// Bytes that a run on a CPU takes for them.
    pub fn bytes(&self, chosen: &[Option<GroupScheme>]) -> u64 {
        let of = |scheme: GroupScheme| match scheme {
            GroupScheme::File => self.rows.own.groups,
            GroupScheme::NeighbourGroups => {
                self.rows.incoming.groups.saturating_add(self.rows.outgoing.groups)
            }
        };
        let used = GroupScheme::ALL.into_iter().filter(|scheme| chosen.contains(&Some(*scheme)));
        used.map(of).fold(0, u64::saturating_add).saturating_mul(BYTES_OF_GROUP)
    }

    /// Which launches walk by groups, and which by rows, where the partition has groups.
    pub fn reason(
        &self,
        asked: &LaunchSchedules,
        list: &LaunchList,
        chosen: &[Option<GroupScheme>],
        is_gpu: bool,
    ) -> Option<Reason> {
        if self.schemes.is_empty() {
            return None;
        }
        let by = |wanted: Option<GroupScheme>| {
            let launches = list.launches().into_iter().zip(chosen);
            let named = launches
                .filter(|(launch, scheme)| walks_rows(&launch.operation) && **scheme == wanted)
                .map(|(launch, _)| format!("`{}`", launch.name));
            Some(named.collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty())
        };
        let used: Vec<GroupScheme> =
            self.schemes.iter().copied().filter(|scheme| by(Some(*scheme)).is_some()).collect();
        let whose = match asked {
            LaunchSchedules::All(EdgeSchedule::Auto) => "`partition.scheme`".to_owned(),
            LaunchSchedules::All(schedule) => format!("`plan.schedule: {schedule}`"),
            LaunchSchedules::Entries(_) => "`plan.schedule`".to_owned(),
        };
        let mut why = format!("{whose} says so; there are {}", self.describe());
        for scheme in &used {
            let names = by(Some(*scheme)).unwrap_or_default();
            why += &format!("; by `{}` go {names}", scheme.name());
        }
        let condition = match asked {
            LaunchSchedules::All(EdgeSchedule::Rows) => "since they are asked to",
            _ if is_gpu => {
                "since they do not walk edges once and only add up in a direction that has groups, \
                 need more shared memory than a block has, or are asked to"
            }
            _ => {
                "since they do not walk edges once in a direction that has groups, or are asked to"
            }
        };
        why +=
            &format!("; by rows, {condition}: {}", by(None).unwrap_or_else(|| "none".to_owned()));
        let names: Vec<&str> = used.iter().map(|scheme| scheme.name()).collect();
        let chosen = if names.is_empty() { "rows".to_owned() } else { names.join(", ") };
        let alternatives = BTreeMap::new();
        Some(Reason { what: "groups of neighbours".to_owned(), chosen, why, alternatives })
    }

    /// The divisions that are there, with their settings.
    fn describe(&self) -> String {
        let Divisions { ngs, dw, block_threads, rows, .. } = self;
        let one = |scheme: &GroupScheme| match scheme {
            GroupScheme::File => format!("{} groups of `file`", rows.own.groups),
            GroupScheme::NeighbourGroups => format!(
                "{} groups of `neighbour-groups` (ngs {ngs})",
                rows.incoming.groups + rows.outgoing.groups
            ),
        };
        let all: Vec<String> = self.schemes.iter().map(one).collect();
        format!("{}, dw {dw}, block_threads {block_threads}", all.join(" and "))
    }
}

/// Rows of a table of groups, and of the rows that no block finishes alone.
fn table_rows(artifact: &Artifact, groups: &str, spans: &str) -> TableRows {
    let count = |name| artifact.find_count(name).unwrap_or(0);
    TableRows { groups: count(groups), spans: count(spans) }
}

/// What launches walk by on a GPU: of what was chosen, what its kernels do.
pub fn emitted_divisions(chosen: &[Option<GroupScheme>], planned: &DevicePlan) -> LaunchDivisions {
    let by_groups = planned
        .launches
        .iter()
        .map(|kernels| kernels.iter().any(|kernel| matches!(kernel.blocks, Blocks::Groups { .. })));
    chosen.iter().zip(by_groups).map(|(scheme, is_so)| scheme.filter(|_| is_so)).collect()
}

/// As `plan.json` has them; none where all go by rows.
pub fn to_page(chosen: &[Option<GroupScheme>]) -> Option<GroupDivision> {
    let launches: Vec<Option<String>> =
        chosen.iter().map(|scheme| scheme.map(|scheme| scheme.name().to_owned())).collect();
    launches.iter().any(Option::is_some).then_some(GroupDivision { launches })
}

/// Refuses an entry that asks for groups, and of whose launches none walks by them.
pub fn refuse_idle_entries(
    asked: &LaunchSchedules,
    counts: &[Option<usize>],
    list: &LaunchList,
    chosen: &[Option<GroupScheme>],
) -> Result<(), StageError> {
    for (place, entry) in asked.entries().iter().enumerate() {
        let asks = matches!(entry.schedule, EdgeSchedule::NeighbourGroups | EdgeSchedule::File);
        let of_entry = || counts.iter().zip(chosen).filter(|(counts, _)| **counts == Some(place));
        if !asks || of_entry().next().is_none() || of_entry().any(|(_, scheme)| scheme.is_some()) {
            continue;
        }
        let able: Vec<String> = list
            .launches()
            .into_iter()
            .filter(|launch| edge_visits(&launch.operation) == 1)
            .map(|launch| format!("`{}`", launch.name))
            .collect();
        let able = if able.is_empty() { "none".to_owned() } else { able.join(", ") };
        let what = format!(
            "entry {} of `plan.schedule`: no launch of `{}` can walk by `{}`",
            place + 1,
            entry.target,
            entry.schedule
        );
        let label = format!("launches that walk edges once: {able}");
        return Err(entry_error(entry, what, label, "use: rows".to_owned()));
    }
    Ok(())
}

/// The place of the entry that counts for each launch: of the last that fits.
pub fn entries_of_launches(
    asked: &LaunchSchedules,
    list: &LaunchList,
) -> Result<Vec<Option<usize>>, StageError> {
    let (entries, launches) = (asked.entries(), list.launches());
    for (number, entry) in (1..).zip(entries) {
        if !launches.iter().any(|launch| fits(&entry.target, list, launch)) {
            return Err(unfit_entry(number, entry, &launches));
        }
    }
    let of = |launch: &&Launch| entries.iter().rposition(|entry| fits(&entry.target, list, launch));
    Ok(launches.iter().map(of).collect())
}

/// Whether an entry is for a launch.
fn fits(target: &str, list: &LaunchList, launch: &Launch) -> bool {
    if !walks_rows(&launch.operation) {
        return false;
    }
    match target {
        SUM | ATTENTION => is_of_class(target, launch),
        _ => match target.parse::<u32>() {
            Ok(line) => {
                let written = launch.operation.writes();
                written.iter().any(|name| list.lines.get(&**name) == Some(&line))
            }
            Err(_) => warploom_spec::glob_fits(target, &launch.name),
        },
    }
}

/// Whether a launch that walks edges is of the class of this word.
fn is_of_class(word: &str, launch: &Launch) -> bool {
    (word == SUM) == (edge_visits(&launch.operation) == 1)
}

/// The error of an entry that fits no launch, with the launches there are and the nearest.
fn unfit_entry(number: usize, entry: &LaunchSchedule, launches: &[&Launch]) -> StageError {
    let walks = launches.iter().filter(|launch| walks_rows(&launch.operation));
    let names: Vec<&str> = walks.clone().map(|launch| launch.name.as_str()).collect();
    let is_there = |word: &&str| walks.clone().any(|launch| is_of_class(word, launch));
    let classes: Vec<&str> = [SUM, ATTENTION].into_iter().filter(is_there).collect();
    let what = format!(
        "entry {number} of `plan.schedule`: `{}` is no launch that walks edges",
        entry.target
    );
    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    let near = warploom_spec::nearest(&entry.target, names.iter().copied());
    let hint = near.or(names.first().copied()).map_or_else(
        || "the program walks no edges: leave `plan.schedule` out".to_owned(),
        |name| format!("for: {name}"),
    );
    entry_error(
        entry,
        what,
        format!("expected {}, a line, a pattern or {listed}", classes.join(", ")),
        hint,
    )
}

fn entry_error(entry: &LaunchSchedule, what: String, label: String, hint: String) -> StageError {
    mistake_error(&entry.place.clone().mistake(MistakeKind::UnknownValue, what, label).hint(hint))
}

/// The error of a division that is asked for and is not there: a given partition lacks it.
fn absent_division(scheme: GroupScheme, entry: Option<&LaunchSchedule>) -> StageError {
    let name = scheme.name();
    let what = format!("`plan.schedule` asks for `{name}`, and the partition has no such division");
    let hint = format!("--set partition.scheme={name}");
    match entry {
        Some(entry) => entry_error(entry, what, "asked for here".to_owned(), hint),
        None => StageError::new(ErrorKind::Specification, what).at("plan.schedule").hint(hint),
    }
}
