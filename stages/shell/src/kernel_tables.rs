//! kernel_tables: the kernels of a plan for a GPU, to and from the tables beside `plan.json`.
//!
//! promises  what is read is what was written; a table that no plan has is named with its row
//! never     decides, emits or measures anything
use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, de::DeserializeOwned};
use warploom_contract::{
    Artifact, StageError,
    kinds::plan::{self, KernelFacts, KernelRow, KernelTables, LaunchRow, Part, Plan, TierRow},
};
use warploom_cuda::{Cut, DevicePlan, Emitted, Kernel, ScheduleKind, TierCounts, WalkedLists};
use warploom_launch::LaunchList;

/// The tables of what was emitted for a list, and what its kernels share.
pub fn to_tables(
    list: &LaunchList,
    emitted: &Emitted,
) -> Result<(KernelFacts, KernelTables), StageError> {
    let facts = KernelFacts {
        processors: emitted.processors,
        scratch_bytes: emitted.scratch_bytes,
        scratch_off_path_bytes: emitted.scratch_aside_bytes,
        unstored: emitted.unmade.clone(),
    };
    let launches = list.launches().into_iter().zip(&emitted.schedules).enumerate();
    let launches = launches.map(|(number, (launch, schedules))| {
        Ok(LaunchRow {
            name: launch.name.clone(),
            bytes: launch.bytes,
            schedules: schedules.iter().map(|kind| name_of(*kind)).collect::<Result<_, _>>()?,
            off_path: emitted.aside.contains(&number),
        })
    });
    let of_launches = emitted.launches.iter().enumerate().flat_map(|(number, kernels)| {
        kernels.iter().map(move |kernel| (number as u32, Part::Launch, kernel))
    });
    let of_part = |part| move |kernel| (0, part, kernel);
    let of_loops = kernels_of_loops(&emitted.loops, Part::Loop);
    let of_shortcuts = kernels_of_loops(&emitted.shortcuts, Part::Shortcut);
    let of_frontiers = kernels_of_loops(&emitted.frontiers, Part::Frontier);
    let kernels = of_launches
        .chain(emitted.clockwork.iter().map(of_part(Part::Clock)))
        .chain(emitted.watch.iter().map(of_part(Part::Watch)))
        .chain(of_loops)
        .chain(of_shortcuts)
        .chain(of_frontiers)
        .map(|(launch, part, kernel)| {
            Ok(KernelRow {
                launch,
                part,
                kernel: kernel.name.clone(),
                grid: to_text(&kernel.blocks)?,
                threads: kernel.threads,
                shared_bytes: kernel.shared_bytes,
                arguments: kernel.arguments.iter().map(to_text).collect::<Result<_, _>>()?,
                writes: emitted.writes.get(&kernel.name).cloned().unwrap_or_default(),
            })
        });
    let tiers = emitted.tiers.iter().map(|((walked, cut), tiers)| {
        let counts = [tiers.hubs, tiers.pieces, tiers.blocks, tiers.warps, tiers.all];
        Ok(TierRow { walk: to_text(walked)?, cut: to_text(cut)?, counts })
    });
    let tables = KernelTables {
        tiers: tiers.collect::<Result<_, StageError>>()?,
        launches: launches.collect::<Result<_, StageError>>()?,
        kernels: kernels.collect::<Result<_, StageError>>()?,
        source: emitted.source.clone(),
    };
    Ok((facts, tables))
}

/// Kernels that loops have, each with the number of its loop.
fn kernels_of_loops(
    loops: &[Vec<Kernel>],
    part: Part,
) -> impl Iterator<Item = (u32, Part, &Kernel)> {
    loops.iter().enumerate().flat_map(move |(number, kernels)| {
        kernels.iter().map(move |kernel| (number as u32, part, kernel))
    })
}

/// The kernels of a plan for a GPU; an error for a plan that has none.
pub fn read_kernels(
    artifact: &Artifact,
    page: &Plan,
    list: &LaunchList,
) -> Result<Emitted, StageError> {
    let facts = page.kernels.as_ref().ok_or_else(|| {
        StageError::damaged(
            &artifact.file(plan::PLAN_FILE),
            "expected `kernels` of a plan for a GPU",
        )
    })?;
    from_tables(facts, plan::open_kernels(artifact)?, list)
        .map_err(|(file, what)| StageError::damaged(&artifact.file(file), what))
}

/// What was emitted, from its tables; else the file at fault, and why.
fn from_tables(
    facts: &KernelFacts,
    tables: KernelTables,
    list: &LaunchList,
) -> Result<Emitted, (&'static str, String)> {
    let [launches_file, kernels_file, _, tiers_file] = plan::KERNEL_FILES;
    let in_list = list.launches();
    let is_same = tables.launches.len() == in_list.len()
        && tables.launches.iter().zip(&in_list).all(|(row, launch)| row.name == launch.name);
    if !is_same {
        let (expected, found) = (in_list.len(), tables.launches.len());
        let what = format!("expected the {expected} launches of plan.json, found {found} others");
        return Err((launches_file, what));
    }
    let mut planned = DevicePlan {
        processors: facts.processors,
        launches: vec![Vec::new(); in_list.len()],
        scratch_bytes: facts.scratch_bytes,
        scratch_aside_bytes: facts.scratch_off_path_bytes,
        unmade: facts.unstored.clone(),
        loops: vec![Vec::new(); list.loops().len()],
        shortcuts: vec![Vec::new(); list.loops().len()],
        frontiers: vec![Vec::new(); list.loops().len()],
        ..DevicePlan::default()
    };
    for (number, row) in tables.launches.iter().enumerate() {
        let schedules = row.schedules.iter().map(|name| kind_of(name)).collect::<Option<_>>();
        let schedules: BTreeSet<ScheduleKind> = schedules.ok_or_else(|| {
            let names = row.schedules.join(", ");
            (launches_file, format!("row {number}: expected known schedules, found {names}"))
        })?;
        planned.schedules.push(schedules);
        if row.off_path {
            planned.aside.insert(number);
        }
    }
    let mut writes = BTreeMap::new();
    for (number, row) in tables.kernels.into_iter().enumerate() {
        let kernel = read_call(&row).map_err(|error| {
            (kernels_file, format!("row {number}: expected a kernel's call, found {error}"))
        })?;
        if !row.writes.is_empty() {
            writes.insert(kernel.name.clone(), row.writes);
        }
        let of = row.launch;
        let found = || format!("row {number}: expected a launch or a loop of the plan, found {of}");
        let room = calls_of(&mut planned, row.part, of as usize);
        room.ok_or_else(|| (kernels_file, found()))?.push(kernel);
    }
    planned.writes = writes;
    for (number, row) in tables.tiers.iter().enumerate() {
        let (walk, tiers) = read_tiers(row).map_err(|error| {
            (tiers_file, format!("row {number}: expected a walk and its cut, found {error}"))
        })?;
        planned.tiers.insert(walk, tiers);
    }
    Ok(Emitted { source: tables.source, plan: planned })
}

/// The kernels that are called for a part, of this launch or loop.
fn calls_of(planned: &mut DevicePlan, part: Part, of: usize) -> Option<&mut Vec<Kernel>> {
    match part {
        Part::Launch => planned.launches.get_mut(of),
        Part::Loop => planned.loops.get_mut(of),
        Part::Shortcut => planned.shortcuts.get_mut(of),
        Part::Frontier => planned.frontiers.get_mut(of),
        Part::Clock => Some(&mut planned.clockwork),
        Part::Watch => Some(&mut planned.watch),
    }
}

/// A kernel and how it is called.
fn read_call(row: &KernelRow) -> Result<Kernel, serde_json::Error> {
    Ok(Kernel {
        name: row.kernel.clone(),
        arguments: row.arguments.iter().map(|text| of_text(text)).collect::<Result<_, _>>()?,
        blocks: of_text(&row.grid)?,
        threads: row.threads,
        shared_bytes: row.shared_bytes,
    })
}

/// A walk, how it is cut, and its tiers.
fn read_tiers(row: &TierRow) -> Result<((WalkedLists, Cut), TierCounts), serde_json::Error> {
    let [hubs, pieces, blocks, warps, all] = row.counts;
    let tiers = TierCounts { hubs, pieces, blocks, warps, all };
    Ok(((of_text(&row.walk)?, of_text(&row.cut)?), tiers))
}

/// The first file whose tables differ from what is expected, and where.
pub fn find_difference(expected: &KernelTables, found: &KernelTables) -> Option<String> {
    let [launches_file, kernels_file, source_file, tiers_file] = plan::KERNEL_FILES;
    let differs = |file: &str, row: Option<usize>| row.map(|row| format!("{file}: row {row}"));
    differs(launches_file, first_difference(&expected.launches, &found.launches))
        .or_else(|| differs(kernels_file, first_difference(&expected.kernels, &found.kernels)))
        .or_else(|| differs(tiers_file, first_difference(&expected.tiers, &found.tiers)))
        .or_else(|| {
            let [expected, found] =
                [expected, found].map(|tables| tables.source.lines().collect::<Vec<_>>());
            first_difference(&expected, &found)
                .map(|line| format!("{source_file}: line {}", line + 1))
        })
}

fn first_difference<T: PartialEq>(expected: &[T], found: &[T]) -> Option<usize> {
    let same = expected.iter().zip(found).take_while(|(one, other)| one == other).count();
    (same < expected.len().max(found.len())).then_some(same)
}

fn to_text<T: Serialize>(value: &T) -> Result<String, StageError> {
    serde_json::to_string(value).map_err(|error| StageError::defect(error.to_string()))
}

fn of_text<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text)
}

/// The name of a schedule in tables.
pub fn name_of(kind: ScheduleKind) -> Result<String, StageError> {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(name)) => Ok(name),
        other => Err(StageError::defect(format!("a schedule without a name: {other:?}"))),
    }
}

fn kind_of(name: &str) -> Option<ScheduleKind> {
    serde_json::from_value(name.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warploom_compiler::compile;
    use warploom_cuda::{GpuTarget, Groups, Matmul, Order, emit_in_groups};
    use warploom_ir::{Data, Loss, Target};

    const TARGET: GpuTarget = GpuTarget {
        bytes_per_real: 4,
        processors: 132,
        shared_bytes: 232_448,
        matmul: Matmul::F32,
        order: Order::Spread,
        warpgroups: true,
    };

    /// What is emitted for a program of the library.
    fn emitted(name: &str, sparse: bool, groups: Option<Groups>) -> (LaunchList, Emitted) {
        let learns_nothing = ["pagerank", "triangles"].contains(&name);
        let data = Data {
            features: (!sparse && !learns_nothing).then_some(9),
            sparse_features: sparse.then_some(600),
            target: (!learns_nothing).then_some(Target { columns: 3, loss: Loss::CrossEntropy }),
            training: !learns_nothing,
            lanes: true,
            relations: vec!["cites".into(), "knows".into()],
            ..Data::bare(3000, 20_000)
        };
        let path = format!("{}/../../pipelines/programs/{name}.py", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let list = compile(&text, name, &BTreeMap::new(), &data).unwrap().list;
        let groups = vec![groups; list.launches().len()];
        let emitted = emit_in_groups(&list, TARGET, &groups).unwrap();
        (list, emitted)
    }

    #[test]
    fn kernels_come_back_from_their_tables() {
        let groups = Groups { neighbours: 16, lanes: 8, threads: 128 };
        let cases = [
            ("gcn", true, None),
            ("gin", false, Some(groups)),
            ("gat", false, None),
            ("sage", false, None),
            ("rgcn", false, None),
            ("pagerank", false, None),
            ("triangles", false, None),
        ];
        for (name, sparse, groups) in cases {
            let (list, emitted) = emitted(name, sparse, groups);
            let (facts, tables) = to_tables(&list, &emitted).unwrap();
            assert_eq!(from_tables(&facts, tables.clone(), &list).unwrap(), emitted, "{name}");
            assert_eq!(find_difference(&tables, &tables), None);
        }
    }

    #[test]
    fn what_no_plan_has_is_named() {
        let (list, emitted) = emitted("gcn", true, None);
        let (facts, tables) = to_tables(&list, &emitted).unwrap();
        let refused = |damage: fn(&mut KernelTables)| {
            let mut other = tables.clone();
            damage(&mut other);
            (find_difference(&tables, &other), from_tables(&facts, other, &list).err())
        };
        let (place, error) = refused(|tables| tables.launches[1].schedules.push("odd".to_owned()));
        assert_eq!(place.unwrap(), "launches.arrow: row 1");
        let (file, what) = error.unwrap();
        assert_eq!(file, "launches.arrow");
        assert!(what.starts_with("row 1: expected known schedules, found "), "{what}");
        let (place, error) = refused(|tables| tables.kernels[2].arguments[0] = "{}".to_owned());
        assert_eq!(place.unwrap(), "kernels.arrow: row 2");
        let (file, what) = error.unwrap();
        assert_eq!(file, "kernels.arrow");
        assert!(what.starts_with("row 2: expected a kernel's call, found "), "{what}");
        let (place, error) = refused(|tables| drop(tables.launches.pop()));
        assert_eq!(place.unwrap(), format!("launches.arrow: row {}", tables.launches.len() - 1));
        assert_eq!(error.unwrap().0, "launches.arrow");
        let (place, error) = refused(|tables| tables.source += "// more\n");
        let lines = tables.source.lines().count();
        assert_eq!((place.unwrap(), error), (format!("kernels.cu: line {}", lines + 1), None));
    }
}
