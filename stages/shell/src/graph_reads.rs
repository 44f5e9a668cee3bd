//! graph_reads: which files of csr and partition a run of a launch list reads: `plan` records them,
//! the run's key holds their digests, and `run` opens no other.
//!
//! promises  one answer for `plan` and `run`: a file that a launch reads and that is not here is
//!           withheld from the run, which then ends with a defect
//! never     opens a file; looks at a graph
use std::collections::BTreeSet;

use warploom_contract::Names;
use warploom_contract::kinds::{
    csr::{self, IN_FILES, OUT_FILES, TYPES_FILE, WEIGHTS_FILE},
    partition::{
        ASCENDING_FILES, EDGES_FILES, FEATURE_FILES, FILE, FeatureWalk, GROUP_FILES,
        NEIGHBOUR_GROUPS, SPAN_FILES, UNITS_FILES, WALK_FILES, row_lists::RowListNeeds,
    },
    plan::{GraphFiles, GroupDivision, RunReads},
};
use warploom_cuda::{Argument, DevicePlan, ListPart, WalkedLists};
use warploom_ir::{Direction, EdgeSet, Input};
use warploom_launch::{LaunchList, ListNeeds, Needs, Role};

/// The files that a run of a list reads, by whether its loops may take shortcut algorithms.
/// `kernels` are those of a GPU.
pub fn run_reads(
    list: &LaunchList,
    kernels: Option<&DevicePlan>,
    division: Option<&GroupDivision>,
) -> RunReads {
    let files = |needs| GraphFiles {
        csr: owned(&csr_files(list, needs, kernels, division)),
        partition: partition_files(list, needs, kernels, division).into_iter().collect(),
    };
    let by_supersteps = files(Needs::from_list(list));
    // A GPU takes none.
    let with_shortcuts = kernels.is_none().then(|| files(Needs::with_shortcuts(list)));
    RunReads {
        with_shortcuts: with_shortcuts.filter(|files| *files != by_supersteps),
        by_supersteps,
    }
}

/// The tables of rows that a run opens: on a GPU those that its kernels walk.
pub fn row_list_needs(needs: Needs, kernels: Option<&DevicePlan>) -> RowListNeeds {
    let Some(kernels) = kernels else {
        let walks = |walks: fn(ListNeeds) -> bool| all_lists(needs).any(walks);
        let by_host = [walks(|lists| lists.incoming), walks(|lists| lists.outgoing)];
        let ids_by_host = walks(|lists| lists.ids);
        return RowListNeeds { by_host, ids_by_host, units: by_host, ..RowListNeeds::default() };
    };
    let mut rows = RowListNeeds::default();
    for argument in kernels.arguments() {
        match walked(argument) {
            Some(WalkedLists::Edges(Direction::In)) => rows.walked[0] = true,
            Some(WalkedLists::Edges(Direction::Out)) => rows.walked[1] = true,
            Some(WalkedLists::Edges(Direction::Both)) => rows.walked[2] = true,
            Some(WalkedLists::Ascending(direction)) => {
                let side = usize::from(*direction == Direction::Out);
                rows.ascending[side] = true;
                rows.ascending_ids[side] |= matches!(argument, Argument::Items(_, ListPart::Edge));
            }
            // The csr has them, or they are over features.
            Some(WalkedLists::CsrEdges(_) | WalkedLists::Entries(..)) | None => {}
        }
    }
    rows
}

/// The walks over entries of sparse features that kernels take.
pub fn feature_walks(list: &LaunchList, kernels: &DevicePlan) -> BTreeSet<FeatureWalk> {
    let walks = kernels.arguments().filter_map(walked);
    walks.filter_map(|walked| feature_walk(list, walked)).collect()
}

/// A walk over entries of sparse features; none where edges are walked.
pub fn feature_walk(list: &LaunchList, walked: &WalkedLists) -> Option<FeatureWalk> {
    let WalkedLists::Entries(features, by_columns) = walked else { return None };
    let kind = match list.buffers.iter().find(|buffer| buffer.name == *features)?.role {
        Role::SparseFeaturesOf { kind, .. } => Some(kind),
        Role::SparseFeatures => None,
        _ => return None,
    };
    Some(FeatureWalk { kind, by_columns: *by_columns })
}

/// Tables that a partition has only for kernels that read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionalTables {
    /// The edges of both directions together, for walks over them.
    pub both_directions: bool,
    /// The edges of each row by far end, for searches.
    pub ascending_edges: bool,
}

impl OptionalTables {
    /// All of them.
    pub const ALL: OptionalTables = OptionalTables { both_directions: true, ascending_edges: true };

    /// Those that these kernels read.
    pub fn of_kernels(kernels: &DevicePlan) -> Self {
        let reads =
            |is_such: fn(&WalkedLists) -> bool| kernels.arguments().filter_map(walked).any(is_such);
        OptionalTables {
            both_directions: reads(|walked| *walked == WalkedLists::Edges(Direction::Both)),
            ascending_edges: reads(|walked| matches!(walked, WalkedLists::Ascending(_))),
        }
    }

    /// Those of either.
    pub fn union(self, other: Self) -> Self {
        OptionalTables {
            both_directions: self.both_directions || other.both_directions,
            ascending_edges: self.ascending_edges || other.ascending_edges,
        }
    }
}

/// Whether launches walk by groups of a scheme.
pub fn uses_groups(division: Option<&GroupDivision>, scheme: &str) -> bool {
    division.is_some_and(|planned| planned.launches.iter().flatten().any(|used| used == scheme))
}

/// The lists of edges of launches, and those that only supersteps need.
fn all_lists(needs: Needs) -> impl Iterator<Item = ListNeeds> {
    [needs.lists].into_iter().chain(needs.lists_later)
}

/// The lists that an argument is of.
fn walked(argument: &Argument) -> Option<&WalkedLists> {
    match argument {
        Argument::Items(walked, _) | Argument::Count(walked, ..) | Argument::Slots(_, walked) => {
            Some(walked)
        }
        _ => None,
    }
}

/// The files of the csr. The offsets of in-edges say how many nodes and edges there are.
fn csr_files(
    list: &LaunchList,
    needs: Needs,
    kernels: Option<&DevicePlan>,
    division: Option<&GroupDivision>,
) -> BTreeSet<&'static str> {
    let mut files = BTreeSet::from([IN_FILES.offsets]);
    let mut add = |some: &[&'static str]| files.extend(some);
    if needs.incoming {
        add(&[IN_FILES.neighbours]);
    }
    if needs.outgoing {
        add(&[OUT_FILES.offsets, OUT_FILES.neighbours]);
    }
    if needs.weights {
        add(&[WEIGHTS_FILE]);
    }
    // By the ids of edges, weights get the order of out-edges.
    if needs.weights && needs.outgoing {
        add(&[IN_FILES.edges, OUT_FILES.edges]);
    }
    let rows = row_list_needs(needs, kernels);
    if rows.by_host[1] || uses_groups(division, NEIGHBOUR_GROUPS) {
        add(&[OUT_FILES.offsets]);
    }
    if all_lists(needs).any(|lists| lists.ends) {
        add(&[IN_FILES.neighbours, IN_FILES.edges]);
    }
    if all_lists(needs).any(|lists| lists.relations) {
        add(&[IN_FILES.edges, TYPES_FILE]);
    }
    list.buffers.iter().for_each(|buffer| add(input_files(&buffer.role)));
    match kernels {
        Some(kernels) => kernels.arguments().for_each(|argument| add(slot_files(argument))),
        // Edges get the order of the csr, of whose slots a user's groups are ranges.
        None if uses_groups(division, FILE) => add(&[IN_FILES.neighbours, IN_FILES.edges]),
        None => {}
    }
    files
}

/// The files of the csr that an input of a program is made of.
fn input_files(role: &Role) -> &'static [&'static str] {
    match role {
        Role::Given(Input::Weight) => &[IN_FILES.edges, WEIGHTS_FILE],
        Role::Given(Input::EdgeType) => &[IN_FILES.edges, TYPES_FILE],
        Role::Given(Input::Degree(EdgeSet { relation: Some(_), .. })) => {
            &[IN_FILES.neighbours, TYPES_FILE]
        }
        Role::Given(Input::Degree(EdgeSet {
            direction: Direction::Out | Direction::Both, ..
        })) => &[OUT_FILES.offsets],
        _ => &[],
    }
}

/// The files of the csr that kernels take in the order of its slots.
fn slot_files(argument: &Argument) -> &'static [&'static str] {
    match argument {
        Argument::Items(WalkedLists::CsrEdges(Direction::Out), ListPart::Far) => {
            &[OUT_FILES.neighbours]
        }
        Argument::Items(WalkedLists::CsrEdges(_), ListPart::Far) => &[IN_FILES.neighbours],
        Argument::Items(WalkedLists::CsrEdges(Direction::Out), _)
        | Argument::Slots(_, WalkedLists::CsrEdges(Direction::Out)) => &[OUT_FILES.edges],
        Argument::Items(WalkedLists::CsrEdges(_), _)
        | Argument::Slots(_, WalkedLists::CsrEdges(_)) => &[IN_FILES.edges],
        _ => &[],
    }
}

/// The files of the partition: tables of rows, of the groups that launches walk by, and of entries
/// of features.
fn partition_files(
    list: &LaunchList,
    needs: Needs,
    kernels: Option<&DevicePlan>,
    division: Option<&GroupDivision>,
) -> BTreeSet<String> {
    let rows = row_list_needs(needs, kernels).files().into_iter();
    let schemes = [NEIGHBOUR_GROUPS, NEIGHBOUR_GROUPS, FILE];
    let groups = schemes.into_iter().zip(GROUP_FILES.into_iter().zip(SPAN_FILES));
    let used = groups.filter(|(scheme, _)| uses_groups(division, scheme));
    let tables = used.flat_map(|(_, (groups, spans))| {
        [Some(groups), kernels.map(|_| spans)].into_iter().flatten()
    });
    let walks = kernels.map(|kernels| feature_walks(list, kernels)).unwrap_or_default();
    let of_features = walks.into_iter().flat_map(FeatureWalk::files);
    rows.chain(tables).map(str::to_owned).chain(of_features).collect()
}

fn owned(files: &BTreeSet<&'static str>) -> Vec<String> {
    files.iter().map(|&file| file.to_owned()).collect()
}

/// The name of a file of csr or partition that a run may read; of files over features, how all
/// their names begin.
pub fn known_name(name: &str) -> Option<&'static str> {
    if Names::from([FEATURE_FILES]).has(name) {
        return Some(FEATURE_FILES);
    }
    let rows = UNITS_FILES.into_iter().chain(EDGES_FILES).chain(WALK_FILES.into_iter().flatten());
    let ascending = ASCENDING_FILES.into_iter().flatten();
    let groups = GROUP_FILES.into_iter().chain(SPAN_FILES);
    csr::files().chain(rows).chain(ascending).chain(groups).find(|known| *known == name)
}
