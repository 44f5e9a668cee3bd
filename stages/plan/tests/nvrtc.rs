//! Proves that the kernels of every training program, and of each operation that has a kernel of
//! its own, compile for the architectures that are supported, without a register that spills, on a
//! machine without a GPU.
//!
//! `make test-long` compiles the whole product of cases and architectures; in `make test`
//! architectures take turns (`is_taken`), and so do graphs that are large and numbers of
//! f64. What is asked of a source is asked of all of them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use warploom_compiler::compile;
use warploom_cuda::{GpuTarget, Groups, Matmul, Order, emit, emit_in_groups};
use warploom_device::{Capability, Nvrtc, nvrtc::Source};
use warploom_ir::{Data, Loss, Target as Wanted, Type, Unary};
use warploom_launch::LaunchList;
use warploom_test_support::nvrtc::{CAPABILITIES, is_taken, nvrtc};
use warploom_test_support::repository;
use warploom_test_support::skips::is_long;

/// Registers of a processor.
const REGISTERS: u32 = 65536;

fn text(path: &str) -> String {
    let path: PathBuf = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A program, its settings, classes that are learned, its features.
type Case = (&'static str, Value, u64, Features);

/// What is known of nodes.
#[derive(Clone, Copy, PartialEq)]
enum Features {
    None,
    Dense,
    Sparse,
}

/// Capabilities that each program is compiled for, and the one that takes all else: other
/// settings, f64, operations alone.
const ALL: &[Capability] = &CAPABILITIES;
const ONE: &[Capability] = &[HOPPER];
const HOPPER: Capability = Capability::new(9, 0);

/// Every training program of the library, with rows of odd and even columns, and outer products of
/// as many columns as a block takes.
fn library() -> Vec<Case> {
    vec![
        ("gcn", json!({"hidden": 8, "drop": 0.5}), 3, Features::Dense),
        ("sage", json!({"hidden": 8, "drop": 0.5}), 4, Features::Dense),
        ("sage_max", json!({"hidden": 8, "pool": 5, "drop": 0.5}), 3, Features::Dense),
        ("gin", json!({"hidden": 8, "layers": 2, "drop": 0.5}), 5, Features::Dense),
        ("gin", json!({"hidden": 64, "layers": 2}), 22, Features::Dense),
        (
            "gat",
            json!({"hidden": 8, "heads": 2, "drop": 0.5, "drop_shares": 0.3}),
            3,
            Features::Dense,
        ),
        ("gatv2", json!({"hidden": 6, "heads": 3, "drop": 0.5}), 3, Features::Dense),
        (
            "graph_transformer",
            json!({"hidden": 8, "heads": 2, "edges": true, "drop_shares": 0.3}),
            3,
            Features::Dense,
        ),
        ("appnp", json!({"hidden": 8, "drop": 0.5}), 3, Features::Dense),
        ("sgc", json!({}), 40, Features::Dense),
        ("gcnii", json!({"hidden": 8, "layers": 2, "drop": 0.5}), 3, Features::Dense),
        ("rgcn", json!({"hidden": 8}), 3, Features::Dense),
    ]
}

/// Other settings: no features, or what of them is not 0, sets of graphs, one column.
fn others() -> Vec<Case> {
    vec![
        ("gcn", json!({"hidden": 16}), 2, Features::None),
        ("gcn", json!({"hidden": 16, "drop": 0.5}), 7, Features::Sparse),
        ("gat", json!({"hidden": 8, "heads": 8}), 7, Features::Sparse),
        (
            "gat",
            json!({"hidden": 8, "heads": 8, "drop": 0.5, "drop_shares": 0.5}),
            22,
            Features::Dense,
        ),
        ("gat", json!({"hidden": 8, "heads": 8}), 47, Features::Dense),
        ("sage", json!({"hidden": 33}), 2, Features::Sparse),
        (
            "gin",
            json!({"hidden": 8, "layers": 1, "graphs": true, "norm": true}),
            2,
            Features::Dense,
        ),
        ("rgcn", json!({"hidden": 8, "bases": 2}), 1, Features::Dense),
    ]
}

/// Programs of the operations that no walk joins.
const ALONE: [&str; 5] = ["largest", "product", "folded", "turned", "tables"];

fn data(classes: u64, features: Features, settings: &Value) -> Data {
    let of_graphs = settings.get("graphs").is_some();
    Data {
        features: (features != Features::None).then_some(7),
        sparse_features: (features == Features::Sparse).then_some(600),
        target: Some(Wanted {
            columns: classes,
            loss: if classes == 1 { Loss::MeanSquares } else { Loss::CrossEntropy },
        }),
        training: true,
        weighted: true,
        lanes: true,
        edge_features: 3,
        relations: vec!["cites".into(), "knows".into()],
        columns: BTreeMap::from([("age".to_owned(), Type::Int)]),
        graphs: if of_graphs { 7 } else { 1 },
        many_graphs: of_graphs,
        ..Data::bare(300, 2000)
    }
}

fn target(capability: Capability) -> GpuTarget {
    let warpgroups = capability.has_warpgroups();
    GpuTarget {
        bytes_per_real: 4,
        processors: 132,
        shared_bytes: 232_448,
        matmul: Matmul::F32,
        order: Order::Spread,
        warpgroups,
    }
}

fn list((file, name): (&str, &str), settings: &Value, data: &Data) -> LaunchList {
    let given = settings.as_object().unwrap().clone().into_iter().collect();
    compile(&text(file), name, &given, data)
        .unwrap_or_else(|wrong| panic!("{name}: {wrong:?}"))
        .list
}

fn source(file_and_name: (&str, &str), settings: &Value, data: &Data, target: GpuTarget) -> String {
    let target = GpuTarget { bytes_per_real: data.bytes_per_real, ..target };
    emit(&list(file_and_name, settings, data), target)
        .unwrap_or_else(|refused| panic!("{file_and_name:?}: {refused}"))
        .source
}

/// Columns of features, hidden and last ones: the matrix does not fit beside rows on their way.
const LONG: [(u64, u64, u64); 2] = [(1323, 64, 22), (1100, 128, 3)];

#[test]
fn products_of_long_rows_compile_without_spills() {
    let Some(nvrtc) = nvrtc("products_of_long_rows_compile_without_spills") else { return };
    let mut found = Vec::new();
    for (number, (columns, hidden, classes)) in LONG.into_iter().enumerate() {
        let settings = json!({"hidden": hidden, "layers": 2});
        let known = Data {
            nodes: 100_000,
            features: Some(columns),
            ..data(classes, Features::Dense, &settings)
        };
        for capability in CAPABILITIES {
            let source =
                source(("pipelines/programs/gin.py", "gin"), &settings, &known, target(capability));
            let has = capability.has_warpgroups();
            assert_eq!(
                source.contains("multiply_many_rows<MANY, TILES>(all"),
                !has,
                "a matrix of {columns} x {hidden} comes in steps"
            );
            assert_eq!(
                source.contains("so_far"),
                has,
                "a matrix of {columns} x {hidden} comes in slabs"
            );
            assert_eq!(
                source.contains("multiply_group<TILES, PARTS>(of_step"),
                capability.has_warpgroups()
            );
            found.extend(wrong_in_turn(
                (nvrtc, (number, LONG.len())),
                &format!("gin of {columns} columns"),
                &source,
                capability,
            ));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Programs, rows, columns of features and hidden ones: few and long rows, whose elements blocks
/// share, of one, two, three and eight tiles of columns and of two slices; with a product that
/// follows in the same kernel, too.
const FEW: [(&str, u64, u64, u64); 6] = [
    ("gin", 3_327, 3_703, 64),
    ("gcn", 3_327, 3_703, 16),
    ("gcn", 2_708, 1_433, 8),
    ("gcn", 2_708, 1_433, 21),
    ("sage", 2_708, 1_433, 64),
    ("gin", 4_200, 515, 100),
];

#[test]
fn products_of_few_long_rows_compile_without_spills() {
    let Some(nvrtc) = nvrtc("products_of_few_long_rows_compile_without_spills") else { return };
    let mut found = Vec::new();
    for (number, (name, nodes, columns, hidden)) in FEW.into_iter().enumerate() {
        let settings = json!({"hidden": hidden, "drop": 0.0});
        let known = Data { nodes, features: Some(columns), ..data(7, Features::Dense, &settings) };
        for capability in CAPABILITIES {
            let source = source(
                (&format!("pipelines/programs/{name}.py"), name),
                &settings,
                &known,
                target(capability),
            );
            assert_eq!(
                source.contains("own_ticket"),
                capability.has_warpgroups(),
                "{name}: {nodes} rows of {columns} by {hidden} are shared"
            );
            found.extend(wrong_in_turn(
                (nvrtc, (number, FEW.len())),
                &format!("{name}, {nodes} rows of {columns} by {hidden}"),
                &source,
                capability,
            ));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Programs, columns of features, hidden and last ones: products with others in their kernels, on
/// both sides of what has room for two blocks.
const JOINED: [(&str, u64, u64, u64); 6] = [
    ("gin", 96, 64, 22),
    ("gin", 77, 64, 5),
    ("gin", 66, 32, 2),
    ("sage", 96, 64, 22),
    ("sage", 66, 32, 7),
    ("sage", 160, 64, 5),
];

#[test]
fn products_that_one_kernel_makes_compile_without_spills() {
    let Some(nvrtc) = nvrtc("products_that_one_kernel_makes_compile_without_spills") else {
        return;
    };
    let mut found = Vec::new();
    for (number, (name, columns, hidden, classes)) in JOINED.into_iter().enumerate() {
        for (dropped, drop) in [0.0, 0.5].into_iter().enumerate() {
            let mut settings = json!({"hidden": hidden, "drop": drop});
            if name == "gin" {
                settings["layers"] = json!(3);
            }
            let known = Data {
                nodes: 100_000,
                features: Some(columns),
                ..data(classes, Features::Dense, &settings)
            };
            for capability in CAPABILITIES {
                let source = source(
                    (&format!("pipelines/programs/{name}.py"), name),
                    &settings,
                    &known,
                    target(capability),
                );
                assert!(
                    source.contains("of_next + half") || source.contains("nothing[q][j] = 0"),
                    "{name} of {columns} columns joins products"
                );
                let by_warpgroups = ["of_half", "of_step"]
                    .map(|sums| source.contains(&format!("multiply_group<TILES, PARTS>({sums}")));
                let has = hidden > 32 && capability.has_warpgroups();
                assert!(
                    by_warpgroups == [has; 2] || drop > 0.0,
                    "{name} of {columns} columns: {by_warpgroups:?}"
                );
                assert!(
                    drop > 0.0 || source.contains("right_of_next + half") == (has && name == "gin"),
                    "{name} of {columns} columns joins wide products"
                );
                let turn = (number + dropped, JOINED.len());
                found.extend(wrong_in_turn(
                    (nvrtc, turn),
                    &format!("{name} of {columns} x {hidden} x {classes}, drop {drop}"),
                    &source,
                    capability,
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Columns of features and last ones of SAGE: rows that are made where they are multiplied, beside
/// one, two, three and four groups of columns, of narrow elements as many as there may be, and
/// whether they are.
const MADE: [(u64, u64, bool); 8] = [
    (40, 2, true),
    (60, 6, true),
    (66, 2, true),
    (96, 11, true),
    (89, 12, true),
    (100, 6, true),
    (100, 7, false),
    (96, 22, false),
];

#[test]
fn outer_products_that_make_their_rows_compile_without_spills() {
    let Some(nvrtc) = nvrtc("outer_products_that_make_their_rows_compile_without_spills") else {
        return;
    };
    let mut found = Vec::new();
    for (number, (columns, classes, are_made)) in MADE.into_iter().enumerate() {
        let settings = json!({"hidden": 64, "drop": 0.0});
        let known = Data {
            nodes: 100_000,
            features: Some(columns),
            weighted: false,
            ..data(classes, Features::Dense, &settings)
        };
        for capability in CAPABILITIES {
            let source = source(
                ("pipelines/programs/sage.py", "sage"),
                &settings,
                &known,
                target(capability),
            );
            assert_eq!(
                source.contains("float matrix["),
                are_made && capability.has_warpgroups(),
                "{columns} columns, {classes} classes"
            );
            found.extend(wrong_in_turn(
                (nvrtc, (number, MADE.len())),
                &format!("sage of {columns} x 64 x {classes}"),
                &source,
                capability,
            ));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn sums_of_near_rows_compile_without_spills() {
    let Some(nvrtc) = nvrtc("sums_of_near_rows_compile_without_spills") else { return };
    let mut found = Vec::new();
    let cases = [
        ("gin", json!({"hidden": 64, "layers": 2})),
        ("gin", json!({"hidden": 64, "layers": 2, "drop": 0.5})),
    ];
    for (number, (name, settings)) in cases.iter().enumerate() {
        for capability in CAPABILITIES {
            let near = GpuTarget { order: Order::Local, ..target(capability) };
            let known =
                Data { nodes: 500_000, edges: 1_500_000, ..data(22, Features::Dense, settings) };
            let source =
                source((&format!("pipelines/programs/{name}.py"), name), settings, &known, near);
            assert!(source.contains("L = 8, Q = 2"), "{name} has a row of half as many lanes");
            found.extend(wrong_in_turn(
                (nvrtc, (number, cases.len())),
                &format!("{name} {settings} of near rows"),
                &source,
                capability,
            ));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Sums over edges of which nothing of a row is read before.
const SUMS: &str = include_str!("../../../kernels/cuda/tests/near_programs/sums.py");

/// The same with rows of their own before and after.
const OWN: &str = include_str!("../../../kernels/cuda/tests/near_programs/own.py");

/// What is wrong with sums of many rows of few edges, in an order, whose kernels say how they are
/// gone about.
fn wrong_of_many_rows(
    nvrtc: &Nvrtc,
    (program, name): (&str, &str),
    widths: &[u64],
    (order, says): (Order, &str),
) -> Vec<String> {
    let mut found = Vec::new();
    for (number, width) in widths.iter().enumerate() {
        let settings = json!({"width": width});
        let known =
            Data { nodes: 500_000, edges: 1_500_000, ..data(3, Features::Dense, &settings) };
        let given = settings.as_object().unwrap().clone().into_iter().collect();
        let list = compile(program, name, &given, &known)
            .unwrap_or_else(|wrong| panic!("{width}: {wrong:?}"))
            .list;
        for capability in CAPABILITIES {
            let target =
                GpuTarget { order, bytes_per_real: known.bytes_per_real, ..target(capability) };
            let source =
                emit(&list, target).unwrap_or_else(|refused| panic!("{width}: {refused}")).source;
            assert!(source.contains(says), "{name} of {width} columns");
            found.extend(wrong_in_turn(
                (nvrtc, (number, widths.len())),
                &format!("{name} of {width} columns, {order:?}"),
                &source,
                capability,
            ));
        }
    }
    found
}

#[test]
fn sums_of_rows_one_after_the_other_compile_without_spills() {
    let Some(nvrtc) = nvrtc("sums_of_rows_one_after_the_other_compile_without_spills") else {
        return;
    };
    let found =
        wrong_of_many_rows(nvrtc, (SUMS, "sums"), &[66, 128, 200, 256], (Order::Local, "ROWS = 4"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn sums_of_few_edges_compile_without_spills() {
    let Some(nvrtc) = nvrtc("sums_of_few_edges_compile_without_spills") else { return };
    let mut found = wrong_of_many_rows(
        nvrtc,
        (SUMS, "sums"),
        &[2, 3, 8, 22, 64],
        (Order::Local, "2 edges in flight"),
    );
    found.extend(wrong_of_many_rows(
        nvrtc,
        (OWN, "own"),
        &[2, 8, 16, 32, 47, 64, 100, 128],
        (Order::Local, "2 edges in flight"),
    ));
    found.extend(wrong_of_many_rows(
        nvrtc,
        (SUMS, "sums"),
        &[16, 32, 100, 128, 256],
        (Order::Spread, "2 edges in flight"),
    ));
    found.extend(wrong_of_many_rows(
        nvrtc,
        (OWN, "own"),
        &[16, 32, 100],
        (Order::Spread, "2 edges in flight"),
    ));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Features that no whole vector divides, wider than a group of lanes, and summed before their
/// product: cora's, citeseer's, and those in front of a layer that is wider still.
#[test]
fn sums_of_wide_odd_rows_compile_without_spills() {
    let Some(nvrtc) = nvrtc("sums_of_wide_odd_rows_compile_without_spills") else { return };
    let mut found = Vec::new();
    let (few, many) = ((2_708, 10_556), (400_000, 1_600_000));
    let cases = [
        ("sgc", json!({}), 1433, few, Order::Spread),
        ("sgc", json!({}), 3703, few, Order::Local),
        ("sgc", json!({}), 1323, many, Order::Spread),
        ("sgc", json!({}), 1323, many, Order::Local),
        ("gcn", json!({"hidden": 4099}), 602, few, Order::Spread),
        ("gcn", json!({"hidden": 4099}), 602, many, Order::Spread),
    ];
    for (number, (name, settings, columns, (nodes, edges), order)) in cases.iter().enumerate() {
        let known = Data {
            features: Some(*columns),
            nodes: *nodes,
            edges: *edges,
            ..data(7, Features::Dense, settings)
        };
        for capability in CAPABILITIES {
            let source = source(
                (&format!("pipelines/programs/{name}.py"), name),
                settings,
                &known,
                GpuTarget { order: *order, ..target(capability) },
            );
            assert!(source.contains("slices"), "{name} of {columns} columns");
            let what = format!("{name} {settings} of {columns} columns, {nodes} rows, {order:?}");
            found.extend(wrong_in_turn((nvrtc, (number, cases.len())), &what, &source, capability));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Sums by groups of neighbours: of so many neighbours, lanes and threads.
const CUTS: [(u32, u32, u32); 4] = [(4, 4, 32), (32, 16, 128), (32, 32, 256), (256, 8, 512)];

#[test]
fn sums_by_groups_of_neighbours_compile_without_spills() {
    let Some(nvrtc) = nvrtc("sums_by_groups_of_neighbours_compile_without_spills") else { return };
    let mut found = Vec::new();
    for (name, settings) in [
        ("gcn", json!({"hidden": 16, "drop": 0.5})),
        ("gin", json!({"hidden": 64, "layers": 2})),
        ("sage", json!({"hidden": 256})),
    ] {
        let made = list(
            (&format!("pipelines/programs/{name}.py"), name),
            &settings,
            &data(3, Features::Dense, &settings),
        );
        for ((number, (neighbours, lanes, threads)), capability) in CUTS
            .into_iter()
            .enumerate()
            .flat_map(|cut| CAPABILITIES.map(|capability| (cut, capability)))
        {
            let groups = vec![Some(Groups { neighbours, lanes, threads }); made.launches().len()];
            let source = emit_in_groups(&made, target(capability), &groups).unwrap().source;
            assert!(source.contains("told_groups"), "{name} has a sum by groups");
            let what =
                format!("{name} by groups of {neighbours}, {lanes} lanes, {threads} threads");
            found.extend(wrong_in_turn((nvrtc, (number, CUTS.len())), &what, &source, capability));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Blocks of a processor that kernels ask for; those that are left out ask for one.
fn asked(source: &str, capability: Capability) -> BTreeMap<String, u32> {
    let kernels = source.split("__launch_bounds__(256, ").skip(1);
    let of = |text: &str| {
        let (blocks, rest) = text.split_once(") ").unwrap();
        let of_hopper = blocks
            .strip_prefix("ON_HOPPER(")
            .map(|blocks| blocks.trim_end_matches(')').parse::<u32>().unwrap());
        let fewer =
            |blocks: u32| blocks - if capability == HOPPER { 0 } else { 1 + u32::from(blocks > 6) };
        let blocks = of_hopper.map_or_else(|| blocks.parse().unwrap(), fewer);
        (rest.split('(').next().unwrap().to_owned(), blocks)
    };
    kernels.map(of).collect()
}

/// What of a source spills, takes more registers than it asks for, or puts products of groups of
/// warps one behind the other.
fn wrong(nvrtc: &Nvrtc, name: &str, source: &str, capability: Capability) -> Vec<String> {
    let cubin = match nvrtc.compile(&Source { name, text: source, capability, options: &[] }) {
        Ok(cubin) => cubin,
        Err(fault) => return vec![format!("{name} for {capability}: {fault}")],
    };
    let asked = asked(source, capability);
    assert!(
        cubin.kernels.len() >= asked.len() && asked.len() > 1,
        "{name}: the compiler tells of {} kernels of {}",
        cubin.kernels.len(),
        asked.len()
    );
    let blocks = |name: &str| asked.get(name).copied().unwrap_or(1);
    let is_wrong = |kernel: &&warploom_device::CompiledKernel| {
        let most = (REGISTERS / 256 / blocks(&kernel.name)).min(255);
        kernel.spill_stores + kernel.spill_loads + kernel.stack > 0 || kernel.registers > most
    };
    let behind = cubin
        .log
        .lines()
        .filter(|line| line.contains("wgmma") && line.contains("serialized"))
        .map(|line| format!("{name} for {capability}: {line}"));
    let spilled = cubin.kernels.iter().filter(is_wrong).map(|kernel| {
        format!("{name} for {capability}, {} blocks: {kernel:?}", blocks(&kernel.name))
    });
    spilled.chain(behind).collect()
}

/// The same, if it is this architecture's turn to have the case of a number.
fn wrong_in_turn(
    (nvrtc, (case, cases)): (&Nvrtc, (usize, usize)),
    name: &str,
    source: &str,
    capability: Capability,
) -> Vec<String> {
    if is_taken(case, cases, capability) {
        wrong(nvrtc, name, source, capability)
    } else {
        Vec::new()
    }
}

/// What is wrong with any of these sources, compiled by two threads.
fn wrong_of_all(nvrtc: &Nvrtc, work: &[(String, String, Capability)]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut found = Vec::new();
        while let Some((name, source, capability)) = work.get(next.fetch_add(1, Ordering::Relaxed))
        {
            found.extend(wrong(nvrtc, name, source, *capability));
        }
        found
    };
    std::thread::scope(|scope| {
        [scope.spawn(some), scope.spawn(some)].map(|worker| worker.join().unwrap()).concat()
    })
}

/// In the short form each program is compiled in f32 for one of its architectures, and either of a
/// large graph or in f64.
#[test]
fn kernels_of_all_programs_compile_without_spills() {
    let Some(nvrtc) = nvrtc("kernels_of_all_programs_compile_without_spills") else { return };
    let of = |capabilities: &'static [Capability]| {
        move |(name, settings, classes, features): Case| {
            let file = format!("pipelines/programs/{name}.py");
            (file, name, (settings, classes, features), capabilities)
        }
    };
    let alone = ALONE.into_iter().map(|name| {
        (
            format!("kernels/cuda/tests/alone_programs/{name}.py"),
            name,
            (json!({}), 3, Features::Dense),
            ONE,
        )
    });
    let all: Vec<_> = library()
        .into_iter()
        .map(of(ALL))
        .chain(others().into_iter().map(of(ONE)))
        .chain(alone)
        .collect();
    let mut work = Vec::new();
    for (number, (file, name, (settings, classes, features), capabilities)) in
        all.iter().enumerate()
    {
        let data = data(*classes, *features, settings);
        let (hopper, is_even) = (target(HOPPER), number % 2 == 0);
        let taken = capabilities.iter().filter(|capability| {
            capabilities.len() == 1 || is_taken(number, all.len(), **capability)
        });
        work.extend(taken.map(|capability| {
            (
                format!("{name} in f32"),
                source((file, name), settings, &data, target(*capability)),
                *capability,
            )
        }));
        // Of a large graph wide rows are summed by slices, and multiplied by groups of warps.
        let large = Data { nodes: 500_000, edges: 5_000_000, ..data.clone() };
        let single = source((file, name), settings, &large, hopper);
        if *name == "gin" || *name == "gcn" {
            let fewer = single.replace("ALL_BITS = true", "ALL_BITS = false");
            assert_ne!(fewer, single);
            work.push((format!("{name} with products of tf32"), fewer, HOPPER));
        }
        if is_even || is_long() {
            work.push((format!("{name} in f32 of a large graph"), single, HOPPER));
        }
        if !is_even || is_long() {
            let double = Data { bytes_per_real: 8, ..data };
            work.push((
                format!("{name} in f64"),
                source((file, name), settings, &double, hopper),
                HOPPER,
            ));
        }
    }
    let found = wrong_of_all(nvrtc, &work);
    assert!(
        found.is_empty(),
        "{} of {} sources' kernels:\n{}",
        found.len(),
        work.len(),
        found.join("\n")
    );
}

/// Programs that learn nothing, and have loops or reductions that no walk joins.
const ANALYTICS: [&str; 10] = [
    "bfs",
    "components",
    "hits",
    "kcore",
    "label_propagation",
    "pagerank",
    "pagerank_spread",
    "personalized_pagerank",
    "sssp",
    "triangles",
];

/// In f32 and f64, and for the architectures in turn.
#[test]
fn kernels_of_analytics_compile_without_spills() {
    let Some(nvrtc) = nvrtc("kernels_of_analytics_compile_without_spills") else { return };
    let work = ANALYTICS.iter().enumerate().flat_map(|(number, name)| {
        let file = format!("pipelines/programs/{name}.py");
        let single = Data { weighted: true, ..Data::bare(300, 2000) };
        let double = Data { bytes_per_real: 8, ..single.clone() };
        let capability = CAPABILITIES[number % CAPABILITIES.len()];
        [(single, capability), (double, HOPPER)].map(|(data, capability)| {
            let source = source((&file, name), &json!({}), &data, target(capability));
            (format!("{name} with {} bytes a float", data.bytes_per_real), source, capability)
        })
    });
    let found = wrong_of_all(nvrtc, &work.collect::<Vec<_>>());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Every element-wise operator of the table, in one program: a row whose CUDA form is none fails
/// here.
#[test]
fn forms_of_all_operators_compile() {
    let Some(nvrtc) = nvrtc("forms_of_all_operators_compile") else { return };
    let mut lines = vec!["def every(v):".to_owned(), "    v.h = v.x".to_owned()];
    let of_reals = Unary::ALL.iter().filter(|operator| operator.takes().contains(&Type::Real));
    for (name, call) in of_reals.filter_map(|operator| Some((operator.name()?, operator.call()?))) {
        let more = if call.contains(',') { ", 0.2" } else { "" };
        lines.push(format!("    v.h = v.h + {name}(v.x{more})"));
    }
    let binary = ["/", "//", "%", "**", "-", "*"];
    lines.extend(binary.map(|operator| format!("    v.h = v.h + v.x {operator} (v.h + 2)")));
    let conditions = ["<", "<=", ">", ">=", "==", "!="];
    lines.extend(
        conditions.map(|operator| format!("    v.h = v.h + where(v.x {operator} v.h, v.x, -v.h)")),
    );
    lines.push("    v.h = min(v.h, v.x) + max(v.h, v.x)".to_owned());
    lines.push("    return linear(v.h, v.classes)\n".to_owned());
    let known = data(3, Features::Dense, &json!({}));
    for bytes_per_real in [4, 8] {
        let known = Data { bytes_per_real, ..known.clone() };
        let list = compile(&lines.join("\n"), "every", &BTreeMap::new(), &known)
            .unwrap_or_else(|wrong| panic!("{wrong:?}\n{}", lines.join("\n")))
            .list;
        let target = GpuTarget { bytes_per_real, ..target(HOPPER) };
        let text = emit(&list, target).unwrap_or_else(|refused| panic!("{refused}")).source;
        let source =
            Source { name: "every operator", text: &text, capability: HOPPER, options: &[] };
        assert!(nvrtc.compile(&source).is_ok(), "{:?}", nvrtc.compile(&source).err());
    }
}
