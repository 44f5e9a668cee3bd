//! emission: launch lists as CUDA source.
//!
//! promises  every training program of the library, and one for each operation that no walk joins, has kernels in f32 and f64; the text
//!           follows from the list alone; what a kernel is given is what it declares, and is there; four programs' sources are those of
//!           `golden_source/` (`UPDATE=1` writes them anew); what has no kernel is refused with its name
//! never     compiles a source (`stages/plan/tests/nvrtc.rs` does)
#![allow(clippy::unwrap_used)]
#[path = "library/compiled.rs"]
#[allow(dead_code, reason = "a part of what it holds is wanted here")]
mod compiled;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warploom_cases::Edges;
use warploom_vertex::compile::compile;
use warploom_vertex::emit::cuda::{Argument, Blocks, Emitted, Kernel, Refused, Target, emit};
use warploom_vertex::gir::{Data, Op, Type};
use warploom_vertex::launch::{Launch, LaunchList, Operation};

use compiled::{MODELS, problem, text};

const F32: Target = Target { bytes_per_real: 4, processors: 132, shared_bytes: 232_448 };
const F64: Target = Target { bytes_per_real: 8, processors: 132, shared_bytes: 232_448 };
/// Programs of `alone_programs/`, and an operation that each is there for.
const ALONE: [(&str, &[&str]); 5] = [
    ("largest", &["winner maximum", "winner minimum"]),
    ("product", &["others"]),
    ("folded", &["fold"]),
    ("turned", &["turn"]),
    ("tables", &["lookup", "scatter"]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A graph of 300 vertices with everything that a program may ask for.
fn data() -> Data {
    let ring: Vec<(u32, u32)> = (0..300).flat_map(|vertex| [(vertex, (vertex + 1) % 300), (vertex, (vertex * 7 + 3) % 300)]).collect();
    let (data, _) = problem(&Edges::new(300, &ring), 6, 3);
    Data {
        relations: vec!["cites".into(), "knows".into()],
        columns: BTreeMap::from([("age".to_owned(), Type::Int)]),
        edge_features: 3,
        weighted: true,
        lanes: true,
        bytes_per_real: 4,
        ..data
    }
}

fn list(text: &str, name: &str, settings: &Value, data: &Data) -> LaunchList {
    let settings = settings.as_object().unwrap().clone().into_iter().collect();
    let made = compile(text, name, &settings, data).unwrap_or_else(|wrong| {
        let pages: Vec<String> = wrong.iter().map(|diagnostic| diagnostic.render(name, text)).collect();
        panic!("{name}: {}", pages.join("\n"))
    });
    assert_eq!(made.list.validate(), Ok(()), "{name}");
    made.list
}

/// Small rows, and two heads where there are heads.
fn settings(name: &str) -> Value {
    match name {
        "gat" | "gatv2" | "graph_transformer" => json!({"hidden": 8, "heads": 2, "drop": 0.5, "drop_shares": 0.3}),
        "gcnii" | "gin" => json!({"hidden": 8, "layers": 2, "drop": 0.5}),
        "sage_max" => json!({"hidden": 8, "pool": 5, "drop": 0.5}),
        "sgc" => json!({}),
        _ => json!({"hidden": 8, "drop": 0.5}),
    }
}

/// The list of each program that has to have kernels.
fn lists() -> Vec<(String, LaunchList)> {
    let plain = data();
    let of_library = MODELS.iter().map(|name| ((*name).to_owned(), list(&text(name), name, &settings(name), &plain)));
    let alone = ALONE.iter().map(|(name, _)| ((*name).to_owned(), list(&alone_text(name), name, &json!({}), &plain)));
    // Without features the first weight is a table whose columns are looked up.
    let bare = Data { features: None, ..plain.clone() };
    let sparse = Data { sparse_features: Some(900), ..plain.clone() };
    let others = [
        ("gcn of sparse features", list(&text("gcn"), "gcn", &settings("gcn"), &sparse)),
        ("gcn without features", list(&text("gcn"), "gcn", &settings("gcn"), &bare)),
        ("rgcn of bases", list(&text("rgcn"), "rgcn", &json!({"hidden": 8, "bases": 2}), &plain)),
        ("graph_transformer of edges", list(&text("graph_transformer"), "graph_transformer", &json!({"edges": true, "heads": 3, "hidden": 5}), &plain)),
        (
            "gin of graphs",
            list(
                &text("gin"),
                "gin",
                &json!({"hidden": 8, "layers": 2, "graphs": true, "norm": true}),
                &Data { graphs: 7, many_graphs: true, ..plain.clone() },
            ),
        ),
    ];
    of_library.chain(alone).chain(others.map(|(name, list)| (name.to_owned(), list))).collect()
}

fn alone_text(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("alone_programs/{name}.py"))).unwrap()
}

fn made(name: &str, list: &LaunchList, target: Target) -> Emitted {
    emit(list, target).unwrap_or_else(|refused| panic!("{name}: {refused}\n{}", list.render()))
}

/// Kernels that a source defines, and how many parameters each declares.
fn defined(source: &str) -> Vec<(String, usize)> {
    let kernels = source.split("extern \"C\" __global__ void __launch_bounds__(").skip(1);
    let of = |text: &str| {
        let (_, rest) = text.split_once(") ").unwrap();
        let (name, rest) = rest.split_once('(').unwrap();
        let (parameters, _) = rest.split_once(") {").unwrap();
        (name.to_owned(), parameters.split(", ").count())
    };
    kernels.map(of).collect()
}

#[test]
fn every_launch_has_kernels_that_are_given_what_they_declare() {
    for (name, list) in lists() {
        for target in [F32, F64] {
            let emitted = made(&name, &list, target);
            assert_eq!(emitted, made(&name, &list, target), "{name}: another text the second time");
            assert_eq!(emitted.launches.len(), list.launches().len(), "{name}");
            let defined = defined(&emitted.source);
            let names: BTreeSet<&String> = defined.iter().map(|(kernel, _)| kernel).collect();
            assert_eq!(names.len(), defined.len(), "{name}: a kernel is defined twice");
            let launched: BTreeSet<&String> = emitted.launches.iter().flatten().map(|kernel| &kernel.name).collect();
            assert_eq!(names, launched, "{name}: kernels that are defined, and those that are launched");
            for kernel in emitted.launches.iter().flatten() {
                let (_, count) = defined.iter().find(|(defined, _)| *defined == kernel.name).unwrap();
                assert_eq!(kernel.arguments.len(), *count, "{name}: arguments of {}: {:?}", kernel.name, kernel.arguments);
                assert!(kernel.threads.is_multiple_of(32) && kernel.threads <= 1024, "{name}: {} threads of {}", kernel.threads, kernel.name);
                for argument in &kernel.arguments {
                    let (Argument::Buffer(buffer) | Argument::Slots(buffer, _) | Argument::Inverse(buffer, _)) = argument else { continue };
                    assert!(list.buffers.iter().any(|declared| declared.name == *buffer), "{name}: {} is given `{buffer}`", kernel.name);
                }
                assert!(emitted.scratch_bytes > 0 || !kernel.arguments.contains(&Argument::Scratch), "{name}");
            }
        }
    }
}

#[test]
fn every_launch_that_makes_something_has_a_kernel() {
    for (name, list) in lists() {
        let emitted = made(&name, &list, F32);
        // Steps of the optimiser have kernels in common, which stand with the first.
        let is_step = |launch: &Launch| matches!(launch.operation, Operation::Optimize { .. });
        let launches = list.launches();
        let of_steps: Vec<Kernel> =
            launches.iter().zip(&emitted.launches).filter(|(launch, _)| is_step(launch)).flat_map(|(_, kernels)| kernels.clone()).collect();
        for (launch, kernels) in launches.iter().zip(&emitted.launches) {
            let kernels = if is_step(launch) { &of_steps } else { kernels };
            let is_copy = matches!(&launch.operation, Operation::Evaluate { op: Op::Input(_), .. });
            assert!(is_copy || !kernels.is_empty(), "{name}: `{}` has no kernel", launch.name);
            let written: BTreeSet<String> = launch.operation.writes().into_iter().map(std::borrow::Cow::into_owned).collect();
            let given: BTreeSet<&String> = kernels
                .iter()
                .flat_map(|kernel| &kernel.arguments)
                .filter_map(|argument| if let Argument::Buffer(name) = argument { Some(name) } else { None })
                .collect();
            assert!(
                is_copy || written.iter().all(|name| given.contains(name)),
                "{name}: `{}` writes {written:?}, its kernels are given {given:?}",
                launch.name
            );
        }
    }
}

#[test]
fn sources_are_as_they_were() {
    let mut apart = Vec::new();
    for name in ["gcn", "sage", "gin", "gat"] {
        let source = made(name, &list(&text(name), name, &settings(name), &data()), F32).source;
        // What every source begins with is a file of its own, which ends so.
        let (_, own) = source.split_once("__shfl_xor_sync(FULL, a, distance); }\n").unwrap();
        let own = own.trim_start();
        let path = folder().join(format!("golden_source/{name}.cu"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, own).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != own {
            apart.push(name);
        }
    }
    assert!(apart.is_empty(), "sources of {apart:?} are others than in kernels/vertex/tests/golden_source; UPDATE=1 writes them anew");
}

#[test]
fn programs_for_operations_alone_have_them() {
    for (name, wanted) in ALONE {
        let page = list(&alone_text(name), name, &json!({}), &data()).render();
        for wanted in wanted {
            assert!(page.contains(wanted), "{name} has no {wanted}:\n{page}");
        }
    }
}

fn refused(body: &str) -> Refused {
    let text = format!("def p(v):\n    return linear(v.x, v.classes) + {body}\n");
    emit(&list(&text, "p", &json!({}), &data()), F32).unwrap_err()
}

#[test]
fn what_has_no_kernel_is_refused_by_name() {
    let cases = [
        ("mode(u.age for u in v.innbs)", "mode"),
        ("hindex(u.degree for u in v.nbs)", "hindex"),
        ("sum(common_neighbors(u, v) for u in v.innbs)", "common neighbors"),
        ("sum(embedding(v.age // 2, 3, count=4), axis=0)", "computed"),
    ];
    for (body, word) in cases {
        let refused = refused(body);
        assert!(refused.what.contains(word) && !refused.launch.is_empty(), "{body}: {refused}");
    }
}

#[test]
fn sums_of_tables_beyond_the_cache_go_by_slices() {
    let sliced = |nodes: u64, columns: u64| {
        let data = Data { nodes, edges: 12 * nodes, weighted: false, ..data() };
        let list = list(&text("gin"), "gin", &json!({"hidden": columns, "layers": 2}), &data);
        let kernels = made("gin", &list, F32).launches.into_iter().flatten();
        kernels.filter(|kernel| matches!(kernel.blocks, Blocks::Items { slices: 2.., .. })).count()
    };
    assert_eq!(sliced(100_000, 64), 0, "a table of 26 MB stays in the cache");
    assert_ne!(sliced(410_236, 64), 0, "one of 105 MB does not");
    assert_eq!(sliced(410_236, 22), 0, "a row of 22 columns is no slices");
}

#[test]
fn a_softmax_over_edges_is_one_pass() {
    for name in ["gat", "gatv2", "graph_transformer"] {
        let list = list(&text(name), name, &settings(name), &data());
        let source = made(name, &list, F32).source;
        let forward = source.split("extern \"C\"").filter(|kernel| kernel.contains("real score_"));
        let passes: Vec<usize> = forward.map(|kernel| kernel.matches("auto edges = ").count()).collect();
        assert_eq!(passes, vec![1, 1], "{name}: kernels with a running score, and their passes over the edges");
    }
}
