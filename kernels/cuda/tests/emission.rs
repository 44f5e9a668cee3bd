//! emission: launch lists as CUDA source.
//!
//! promises  kernels are decided before any of them is printed, and printing changes names alone
//! promises  every training program of the library, and one for each operation that no walk joins,
//!           has kernels in f32 and f64; the text follows from the list alone; what a kernel is
//!           given is what it declares, and is there; their sources are those of `golden_source/`
//!           (`UPDATE=1` writes them anew); what has no kernel is refused with its name
//! never     compiles a source (`stages/plan/tests/nvrtc.rs` does)
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warploom_compiler::compile;
use warploom_cuda::{
    Argument, Blocks, DevicePlan, Emitted, GpuTarget, Groups, Kernel, Matmul, NoKernel, Order,
    decide, emit, emit_in_groups,
};
use warploom_ir::{Data, Op, Target as Wanted, Type};
use warploom_launch::{
    Body, Buffer, Element, Launch, LaunchList, MergedLaunches, Operand, Operation, Role, Rowed,
    Rows, View,
};
use warploom_test_support::golden_cases::Edges;
use warploom_test_support::golden_text::golden_difference;

use warploom_test_support::library_programs::{MODELS, problem, text};

const F32: GpuTarget = GpuTarget {
    bytes_per_real: 4,
    processors: 132,
    shared_bytes: 232_448,
    matmul: Matmul::F32,
    order: Order::Spread,
    warpgroups: true,
};
const F64: GpuTarget = GpuTarget { bytes_per_real: 8, ..F32 };
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
    let ring: Vec<(u32, u32)> = (0..300)
        .flat_map(|vertex| [(vertex, (vertex + 1) % 300), (vertex, (vertex * 7 + 3) % 300)])
        .collect();
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
        let pages: Vec<String> =
            wrong.iter().map(|diagnostic| diagnostic.render(name, text)).collect();
        panic!("{name}: {}", pages.join("\n"))
    });
    assert_eq!(made.list.validate(), Ok(()), "{name}");
    made.list
}

/// Small rows, and two heads where there are heads.
fn settings(name: &str) -> Value {
    match name {
        "gat" | "gatv2" | "graph_transformer" => {
            json!({"hidden": 8, "heads": 2, "drop": 0.5, "drop_shares": 0.3})
        }
        "gcnii" => json!({"hidden": 8, "layers": 2, "drop": 0.5}),
        "gin" => json!({"hidden": 16, "layers": 2, "drop": 0.5}),
        "sage_max" => json!({"hidden": 8, "pool": 5, "drop": 0.5}),
        "sgc" => json!({}),
        _ => json!({"hidden": 8, "drop": 0.5}),
    }
}

/// The list of each program that has to have kernels.
fn lists() -> Vec<(String, LaunchList)> {
    let plain = data();
    let of_library = MODELS
        .iter()
        .map(|name| ((*name).to_owned(), list(&text(name), name, &settings(name), &plain)));
    let alone = ALONE
        .iter()
        .map(|(name, _)| ((*name).to_owned(), list(&alone_text(name), name, &json!({}), &plain)));
    // Without features the first weight is a table whose columns are looked up.
    let bare = Data { features: None, ..plain.clone() };
    let sparse = Data { sparse_features: Some(900), ..plain.clone() };
    let others = [
        ("gcn of sparse features", list(&text("gcn"), "gcn", &settings("gcn"), &sparse)),
        ("gcn without features", list(&text("gcn"), "gcn", &settings("gcn"), &bare)),
        ("rgcn of bases", list(&text("rgcn"), "rgcn", &json!({"hidden": 8, "bases": 2}), &plain)),
        (
            "graph_transformer of edges",
            list(
                &text("graph_transformer"),
                "graph_transformer",
                &json!({"edges": true, "heads": 3, "hidden": 5}),
                &plain,
            ),
        ),
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

fn made(name: &str, list: &LaunchList, target: GpuTarget) -> Emitted {
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
            let launched: BTreeSet<&String> =
                emitted.launches.iter().flatten().map(|kernel| &kernel.name).collect();
            assert_eq!(
                names, launched,
                "{name}: kernels that are defined, and those that are launched"
            );
            for kernel in emitted.launches.iter().flatten() {
                let (_, count) =
                    defined.iter().find(|(defined, _)| *defined == kernel.name).unwrap();
                assert_eq!(
                    kernel.arguments.len(),
                    *count,
                    "{name}: arguments of {}: {:?}",
                    kernel.name,
                    kernel.arguments
                );
                assert!(
                    kernel.threads.is_multiple_of(32) && kernel.threads <= 1024,
                    "{name}: {} threads of {}",
                    kernel.threads,
                    kernel.name
                );
                for argument in &kernel.arguments {
                    let (Argument::Buffer(buffer)
                    | Argument::Slots(buffer, _)
                    | Argument::Inverse(buffer, _)) = argument
                    else {
                        continue;
                    };
                    assert!(
                        list.buffers.iter().any(|declared| declared.name == *buffer),
                        "{name}: {} is given `{buffer}`",
                        kernel.name
                    );
                }
                assert!(
                    emitted.scratch_bytes > 0 || !kernel.arguments.contains(&Argument::Scratch),
                    "{name}"
                );
                assert!(
                    emitted.scratch_aside_bytes > 0
                        || !kernel.arguments.contains(&Argument::ScratchAside),
                    "{name}"
                );
                assert_eq!(
                    emitted.writes[&kernel.name].len(),
                    kernel.arguments.len(),
                    "{name}: what {} writes through",
                    kernel.name
                );
            }
        }
    }
}

#[test]
fn what_only_the_optimiser_reads_goes_aside_where_rows_are_few() {
    for (name, list) in lists() {
        let (emitted, launches) = (made(&name, &list, F32), list.launches());
        let Body::Train(train) = &list.body else { continue };
        for number in &emitted.aside {
            let (launch, kernels) = (launches[*number], &emitted.launches[*number]);
            assert!(launch.name.starts_with("gradient."), "{name}: {}", launch.name);
            let made = launch.operation.writes();
            assert!(
                train.backward.iter().all(|other| other
                    .operation
                    .reads()
                    .iter()
                    .all(|read| !made.contains(read))),
                "{name}: {}",
                launch.name
            );
            let shares =
                |argument: &Argument| matches!(argument, Argument::Scratch | Argument::Ticket);
            assert!(
                !kernels.iter().flat_map(|kernel| &kernel.arguments).any(shares),
                "{name}: {}",
                launch.name
            );
        }
    }
    let many = |nodes: u64| {
        let list = list(&text("gin"), "gin", &settings("gin"), &Data { nodes, ..data() });
        let peak = list.arena.bytes;
        (emit(&list, F32).unwrap().aside.len(), peak)
    };
    let (few, of_few) = many(30_000);
    let (none, of_many) = many(40_000);
    assert!(few >= 4 && none == 0, "{few} {none}");
    // What goes aside lies there for longer.
    assert!(of_few * 4 > of_many * 3, "{of_few} {of_many}");
}

#[test]
fn what_decides_between_epochs_keeps_each_parameter_that_is_not_large() {
    let kept = |name: &str, settings: &Value, data: &Data| {
        let list = list(&text(name), name, settings, data);
        let emitted = emit(&list, F32).unwrap();
        let of = |kernel: &Kernel| {
            kernel.arguments.iter().filter(|argument| matches!(argument, Argument::Kept(_))).count()
        };
        (list.parameters.len(), emitted.watch.iter().map(of).collect::<Vec<_>>(), emitted)
    };
    let (parameters, of_kernels, _) = kept("gcn", &settings("gcn"), &data());
    assert_eq!(of_kernels, [parameters]);
    // What a kernel is given has to fit in 4 KiB; the first of several tells what is decided.
    let (parameters, of_kernels, emitted) =
        kept("gcnii", &json!({"hidden": 4, "layers": 110}), &data());
    assert_eq!((of_kernels.len(), of_kernels.iter().sum()), (2, parameters));
    assert!(
        emitted
            .watch
            .iter()
            .zip([1, 0])
            .all(|(kernel, tells)| kernel.arguments.contains(&Argument::Number(tells)))
    );
    // A second copy of 64 MiB and more is too much.
    let wide = Data { features: Some(1 << 20), ..data() };
    let (_, of_kernels, emitted) = kept("gcn", &json!({"hidden": 16}), &wide);
    assert!(
        of_kernels.is_empty()
            && !emitted.source.contains("struct Watch")
            && !emitted.clockwork.is_empty()
    );
}

#[test]
fn every_launch_that_makes_something_has_a_kernel() {
    for (name, list) in lists() {
        let emitted = made(&name, &list, F32);
        // Steps of the optimiser have kernels in common, which stand with the first.
        let is_step = |launch: &Launch| matches!(launch.operation, Operation::Optimize { .. });
        let is_sum = |launch: &Launch| {
            matches!(launch.operation, Operation::Evaluate { op: Op::SumRows, .. })
        };
        let makes_sums = |launch: &Launch| {
            matches!(
                launch.operation,
                Operation::Evaluate { op: Op::Outer | Op::SumRows, .. }
                    | Operation::Loss { .. }
                    | Operation::Fused { .. }
            )
        };
        let (launches, joined) = (list.launches(), MergedLaunches::from_list(&list));
        let of = |is_wanted: &dyn Fn(&Launch) -> bool| -> Vec<Kernel> {
            launches
                .iter()
                .zip(&emitted.launches)
                .filter(|(launch, _)| is_wanted(launch))
                .flat_map(|(_, kernels)| kernels.clone())
                .collect()
        };
        let (of_steps, of_makers) = (of(&is_step), of(&makes_sums));
        let is_unmade = |argument: &Argument| matches!(argument, Argument::Buffer(name) if emitted.unmade.contains(name));
        let mut reader = emitted
            .launches
            .iter()
            .flatten()
            .filter(|kernel| kernel.arguments.iter().any(is_unmade));
        assert_eq!(reader.next(), None, "{name}: it is given what nobody puts down");
        for (number, (launch, kernels)) in launches.iter().zip(&emitted.launches).enumerate() {
            // A product may be made with who makes its rows, or adds it; one of all rows with
            // another.
            let makers =
                [&joined.followers, &joined.walked, &joined.firsts, &joined.twins, &joined.outers];
            let kernels = match makers.iter().find_map(|makers| makers.get(&number)) {
                Some(other) if kernels.is_empty() => &emitted.launches[*other],
                _ => kernels,
            };
            // A sum of rows may be made beside an outer product of them, beside the loss, by the
            // product that makes them, or by another sum.
            let kernels = if is_step(launch) {
                &of_steps
            } else if is_sum(launch) && kernels.is_empty() {
                &of_makers
            } else {
                kernels
            };
            let is_copy = matches!(&launch.operation, Operation::Evaluate { op: Op::Input(_), .. });
            assert!(is_copy || !kernels.is_empty(), "{name}: `{}` has no kernel", launch.name);
            let written: BTreeSet<String> =
                launch.operation.writes().into_iter().map(std::borrow::Cow::into_owned).collect();
            let given: BTreeSet<&String> =
                kernels
                    .iter()
                    .flat_map(|kernel| &kernel.arguments)
                    .filter_map(|argument| {
                        if let Argument::Buffer(name) = argument { Some(name) } else { None }
                    })
                    .collect();
            // Rows that only their sum asks for are put down by nobody, nor is a product that
            // another's kernel adds to its own.
            let is_at_hand = |name: &String| {
                !joined.followers.contains_key(&number) && emitted.unmade.contains(name)
            };
            assert!(
                is_copy || written.iter().all(|name| given.contains(name) || is_at_hand(name)),
                "{name}: `{}` writes {written:?}, its kernels are given {given:?}",
                launch.name
            );
        }
    }
}

/// Each kernel says which file and function made its text, and these are there.
#[test]
fn kernels_say_who_made_their_text() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut makers = BTreeSet::new();
    for entry in std::fs::read_dir(crate_folder.join("tests/golden_source")).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let lines = source.lines().filter_map(|line| line.trim().strip_prefix("//   (text: "));
        makers.extend(lines.map(|maker| maker.trim_end_matches(')').to_owned()));
    }
    assert!(makers.len() > 5, "{makers:?}");
    for maker in makers {
        let (file, function) = maker.split_once(", ").unwrap();
        let path = crate_folder.join("src").join(file.trim_start_matches("cuda/src/"));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("fn {function}(")), "{maker}");
    }
}

#[test]
fn sources_are_as_they_were() {
    let mut apart = Vec::new();
    for name in MODELS {
        let source = made(name, &list(&text(name), name, &settings(name), &data()), F32).source;
        // What every source begins with stands in files of its own, in front of the first launch.
        let start =
            source.find(" bytes at least").and_then(|at| source[..at].rfind('\n')).unwrap() + 1;
        let own = &source[start..];
        let path = folder().join(format!("golden_source/{name}.cu"));
        if golden_difference(&path, own).is_some() {
            apart.push(name);
        }
    }
    assert!(
        apart.is_empty(),
        "sources of {apart:?} are others than in kernels/cuda/tests/golden_source; UPDATE=1 \
         writes them anew"
    );
}

#[test]
fn lines_of_the_program_stand_in_sources_and_in_no_plan() {
    let plain = text("gcn");
    let below = format!("# A comment.\n\n{plain}");
    let lists = [&plain, &below].map(|text| list(text, "gcn", &settings("gcn"), &data()));
    let [first, second] = lists.each_ref().map(|list| made("gcn", list, F32).source);
    let line = |source: &str| {
        source.lines().find_map(|line| {
            line.split_once(" bytes at least, line ")?.1.split(' ').next()?.parse::<u32>().ok()
        })
    };
    assert_eq!(line(&first).map(|line| line + 2), line(&second));
    let [first, second] = lists.map(|list| serde_json::to_string(&list).unwrap());
    assert_eq!(first, second);
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

fn refused(body: &str) -> NoKernel {
    let text = format!("def p(v):\n    return linear(v.x, v.classes) + {body}\n");
    emit(&list(&text, "p", &json!({}), &data()), F32).unwrap_err()
}

#[test]
fn what_has_no_kernel_is_refused_by_name() {
    let body = "sum(embedding(v.age // 2, 3, count=4), axis=0)";
    let refused = refused(body);
    assert!(refused.what.contains("computed") && !refused.launch.is_empty(), "{refused}");
}

#[test]
fn sums_of_tables_beyond_the_cache_go_by_slices() {
    let sliced = |nodes: u64, columns: u64| {
        let data = Data { nodes, edges: 12 * nodes, weighted: false, ..data() };
        let list = list(&text("gin"), "gin", &json!({"hidden": columns, "layers": 2}), &data);
        let kernels = made("gin", &list, F32).plan.launches.into_iter().flatten();
        kernels.filter(|kernel| matches!(kernel.blocks, Blocks::Items { slices: 2.., .. })).count()
    };
    assert_eq!(sliced(100_000, 64), 0, "a table of 26 MB stays in the cache");
    assert_ne!(sliced(410_236, 64), 0, "one of 105 MB does not");
    assert_eq!(sliced(410_236, 22), 0, "a row of 22 columns is no slices");
}

#[test]
fn sums_go_by_groups_of_neighbours_where_that_is_asked_for() {
    for (name, list) in lists() {
        let asked =
            vec![Some(Groups { neighbours: 32, lanes: 16, threads: 128 }); list.launches().len()];
        let emitted = emit_in_groups(&list, F32, &asked)
            .unwrap_or_else(|refused| panic!("{name}: {refused}"));
        let defined: BTreeMap<String, usize> = defined(&emitted.source).into_iter().collect();
        let plain = made(&name, &list, F32);
        for ((launch, kernels), of_rows) in
            list.launches().into_iter().zip(&emitted.launches).zip(&plain.launches)
        {
            let spans: Vec<bool> = kernels
                .iter()
                .filter_map(|kernel| {
                    if let Blocks::Groups { spans, .. } = kernel.blocks {
                        Some(spans)
                    } else {
                        None
                    }
                })
                .collect();
            let walks = of_rows
                .iter()
                .filter(|kernel| matches!(kernel.blocks, Blocks::Items { .. }))
                .count();
            assert!(
                spans.is_empty() || (spans == [false, true] && walks == 1),
                "{name}, {}: {kernels:?}",
                launch.name
            );
            kernels.iter().for_each(|kernel| {
                assert_eq!(
                    kernel.arguments.len(),
                    defined[&kernel.name],
                    "{name}: arguments of {}",
                    kernel.name
                )
            });
        }
    }
    let cut = |name: &str| {
        let list = list(&text(name), name, &settings(name), &data());
        let asked =
            vec![Some(Groups { neighbours: 32, lanes: 32, threads: 128 }); list.launches().len()];
        let kernels =
            emit_in_groups(&list, F32, &asked).unwrap().plan.launches.into_iter().flatten();
        kernels.fold([0, 0], |[groups, rows], kernel| match kernel.blocks {
            Blocks::Groups { .. } => [groups + 1, rows],
            Blocks::Items { .. } => [groups, rows + 1],
            _ => [groups, rows],
        })
    };
    assert_eq!(cut("gcn")[1], 0, "all walks of gcn only add up");
    assert_eq!(cut("sage_max")[1], 0, "extremes have parts, too");
    assert!(cut("gat")[1] > 0, "a softmax keeps rows");
}

/// A plan's kernels without their names: kernels of equal text share one once they are printed.
fn nameless(plan: &DevicePlan) -> DevicePlan {
    let mut plan = DevicePlan { writes: BTreeMap::new(), ..plan.clone() };
    plan.launches.iter_mut().flatten().for_each(|kernel| kernel.name.clear());
    plan
}

#[test]
fn what_is_printed_is_what_was_decided() {
    let groups = Groups { neighbours: 32, lanes: 16, threads: 128 };
    for (name, list) in lists() {
        for (target, groups) in [(F32, None), (F64, None), (F32, Some(groups))] {
            let asked = vec![groups; list.launches().len()];
            let decided = decide(&list, target, &asked).unwrap();
            let plan = (*decided).clone();
            let emitted = decided.render(&list);
            assert_eq!(nameless(&plan), nameless(&emitted.plan), "{name}");
            let of_launches = plan.launches.iter().flatten().zip(emitted.launches.iter().flatten());
            for (decided, printed) in of_launches {
                assert_eq!(
                    plan.writes[&decided.name], emitted.writes[&printed.name],
                    "{name}: what {} writes",
                    decided.name
                );
            }
        }
    }
}

#[test]
fn a_softmax_over_edges_is_one_pass() {
    for name in ["gat", "gatv2", "graph_transformer"] {
        let list = list(&text(name), name, &settings(name), &data());
        let source = made(name, &list, F32).source;
        let forward = source.split("extern \"C\"").filter(|kernel| kernel.contains("real score_"));
        let passes: Vec<usize> =
            forward.map(|kernel| kernel.matches("auto edges = ").count()).collect();
        assert_eq!(
            passes,
            vec![1, 1],
            "{name}: kernels with a running score, and their passes over the edges"
        );
    }
}

/// The launches whose kernels are given a buffer.
fn makers(list: &LaunchList, buffer: &str) -> Vec<String> {
    let emitted = made(buffer, list, F32);
    let is_given = |kernels: &&Vec<Kernel>| {
        kernels.iter().any(|kernel| kernel.arguments.contains(&Argument::Buffer(buffer.to_owned())))
    };
    let launches = list.launches();
    let of = launches
        .iter()
        .zip(&emitted.launches)
        .filter(|(_, kernels)| is_given(kernels))
        .map(|(launch, _)| launch.name.clone());
    of.filter(|name| !name.starts_with("update.")).collect()
}

fn backward(list: &mut LaunchList) -> &mut Vec<Launch> {
    let Body::Train(train) = &mut list.body else { panic!("a list that trains") };
    &mut train.backward
}

#[test]
fn a_sum_is_made_beside_an_outer_product_of_its_rows() {
    let of_program = |name: &str| list(&text(name), name, &settings(name), &data());
    // The product comes after the sum, and before it.
    let [gin, sage] = ["gin", "sage"].map(of_program);
    assert_eq!(
        makers(&gin, "gradient.gin.gin.0.mlp.0.0.bias"),
        ["gradient.gin.gin.0.mlp.0.0.weight"]
    );
    // Of two outer products that one kernel makes the later has it.
    assert_eq!(
        makers(&sage, "gradient.sage.sage.0.linear.3.weight"),
        ["gradient.sage.sage.0.linear.2.weight"]
    );
    assert_eq!(
        makers(&sage, "gradient.sage.sage.0.linear.2.bias"),
        ["gradient.sage.sage.0.linear.2.weight"]
    );
    // The loss makes these rows, and no product reads them; or a product without tensor cores makes
    // them.
    let (gcn, gat) = (of_program("gcn"), of_program("gat"));
    assert_eq!(makers(&gcn, "gradient.gcn.gcn.0.bias.1"), ["loss"]);
    let product = &makers(&gcn, "gradient.gcn.gcn.0.bias.0")[0];
    assert!(
        gcn.launches().iter().any(|launch| launch.name == *product
            && launch.operation.described().contains("product(slope of z")),
        "{product}"
    );
    // Two sums of products with the same rows.
    assert_eq!(makers(&gat, "gradient.gat.attend.0.param.1"), ["gradient.gat.attend.0.param.0"]);
    // What has no tensor cores for its numbers has a kernel for each, but of the loss's own rows,
    // of those of products, and of two that are short.
    let emitted = made("gin", &gin, F64);
    let without = emitted
        .launches
        .iter()
        .zip(gin.launches())
        .filter(|(kernels, launch)| kernels.is_empty() && !launch.name.starts_with("update."));
    let without: Vec<&str> = without.map(|(_, launch)| launch.name.as_str()).collect();
    assert_eq!(
        without,
        [
            "gradient.gin.gin.0.mlp.1.1.bias",
            "gradient.gin.gin.0.mlp.1.0.bias",
            "gradient.gin.gin.0.param.1",
            "gradient.gin.gin.0.mlp.0.0.bias"
        ]
    );
}

#[test]
fn work_behind_products_has_kernels_whatever_its_shapes() {
    let last =
        "linear(concat(sum(flatten(u.t) for u in v.innbs), sum(u.z for u in v.innbs)), v.classes)";
    // Sums that are seen along another axis, behind an axis of 1, on the trailing one, of rows of
    // two shapes; behind short rows, and behind longer ones.
    let programs = [
        (
            "v.z = linear(v.h, 16)\nv.s = sum(reshape(v.z, (2, 8)), axis=1)\nv.t = v.s + \
                param((4, 2))",
            last,
        ),
        (
            "v.z = linear(v.h, 16)\nv.s = reshape(sum(reshape(v.z, (2, 8)), axis=1), (1, 2))\nv.t \
                = v.s * param((1, 2))",
            last,
        ),
        (
            "v.q = linear(v.y, (4, 4))\nv.z = linear(v.h, (4, 4))\nv.s = sum(v.z * v.q, \
                axis=1)\nv.t = v.z * v.s",
            "linear(flatten(v.t), v.classes)",
        ),
        (
            "v.g = sum(u.y for u in v.innbs) * param((16,))\nv.a = reshape(v.g, (2, 8))\nv.b = \
                reshape(v.g, (8, 2))",
            "linear(flatten(v.a * norm(v.a) * param((2, 1))) + flatten(v.b * norm(v.b) * param((8, \
             1))), v.classes)",
        ),
        (
            "v.z = linear(v.y, 16)\nv.t = sum(reshape(v.z, (2, 8)), axis=1)\nv.s = \
                sum(reshape(v.z, (4, 4)), axis=1)",
            "linear(concat(sum(u.t for u in v.innbs), sum(u.s for u in v.innbs)), v.classes)",
        ),
        (
            "v.z = relu(linear(v.y, 16))\nv.a = reshape(v.z, (2, 8))\nv.b = reshape(v.z, (8, 2))",
            "linear(flatten(v.a * norm(v.a) * param((2, 1))) + flatten(v.b * norm(v.b) * param((8, \
             1))), v.classes)",
        ),
    ];
    for (number, (work, end)) in programs.iter().enumerate() {
        let work = work.replace('\n', "\n    ");
        let text = format!(
            "def shapes(v):\n    v.y = relu(linear(v.x, 16))\n    v.h = relu(linear(v.y, 4))\n    \
                {work}\n    return {end}\n"
        );
        let list = self::list(&text, "shapes", &json!({}), &data());
        for target in [F32, F64] {
            made(&format!("{number}: {text}"), &list, target);
        }
    }
}

#[test]
fn heads_of_many_rows_of_few_edges_are_a_lane_each() {
    let schedules = |nodes: u64, edges: u64, drop: f64| {
        let data = Data { nodes, edges, ..data() };
        let source = made(
            "gat",
            &list(&text("gat"), "gat", &json!({"drop": drop, "drop_shares": drop}), &data),
            F32,
        )
        .source;
        source.matches("(8 lanes of 8 columns a row, 4 rows a warp, 2 edges in flight").count()
    };
    // Forward and backward; not of few rows, of many edges, or where lanes draw for their edges.
    assert_eq!(
        [
            schedules(40_000, 90_000, 0.0),
            schedules(4_000, 9_000, 0.0),
            schedules(40_000, 900_000, 0.0),
            schedules(40_000, 90_000, 0.5)
        ],
        [2, 0, 0, 0]
    );
}

#[test]
fn rows_are_made_again_where_what_they_are_made_of_is_read() {
    let list = list(&text("gat"), "gat", &json!({}), &data());
    let behind = list
        .launches()
        .into_iter()
        .find(|launch| launch.operation.described().contains("h.34.again"))
        .unwrap();
    assert!(
        !behind.operation.reads().iter().any(|name| name == "h.34"),
        "{}",
        behind.operation.described()
    );
    // Where the slope is the product alone, nothing that h is made of is at hand.
    let of_others = |launch: &Launch| launch.operation.described().contains(".again");
    assert!(
        !self::list(&text("gcn"), "gcn", &settings("gcn"), &data())
            .launches()
            .into_iter()
            .any(of_others)
    );
}

/// GAT with so many classes and such a dropout.
fn gat_of(columns: u64, drop: f64) -> LaunchList {
    let data = Data {
        target: data().target.map(|target| warploom_ir::Target { columns, ..target }),
        ..data()
    };
    list(
        &text("gat"),
        "gat",
        &json!({"hidden": 8, "heads": 2, "drop": drop, "drop_shares": drop}),
        &data,
    )
}

#[test]
fn products_of_few_columns_are_made_where_their_rows_are() {
    for (columns, drop) in [(2, 0.0), (3, 0.0), (3, 0.5), (7, 0.0), (9, 0.0)] {
        for target in [F32, F64] {
            let (list, what) =
                (gat_of(columns, drop), format!("{columns} classes, dropout {drop}"));
            let (emitted, joined) = (made("gat", &list, target), MergedLaunches::from_list(&list));
            let are_elsewhere = |joined: &BTreeMap<usize, usize>| {
                joined.iter().all(|(made, by)| {
                    emitted.launches[*made].is_empty() && !emitted.launches[*by].is_empty()
                })
            };
            // The second layer's, and the gradient of its weight where the hidden rows are at hand
            // behind the product of its slopes.
            let counts = (joined.walked.len(), joined.outers.len());
            assert_eq!(
                counts,
                (usize::from(columns <= 8), usize::from(columns <= 4 && drop == 0.0)),
                "{what}"
            );
            assert!(
                are_elsewhere(&joined.walked) && are_elsewhere(&joined.outers),
                "{what}: {}",
                emitted.source
            );
            let follower =
                joined.walked.keys().next().map(|follower| &list.launches()[*follower].operation);
            let rows =
                follower.map(|operation| operation.steps()[0].reads()[0].clone().into_owned());
            let is_nowhere = rows.is_some_and(|rows| emitted.unmade.contains(&rows));
            assert_eq!(is_nowhere, columns <= 4 && drop == 0.0, "{what}: {:?}", emitted.unmade);
        }
    }
}

/// Sums over edges of which nothing of a row is read before.
const SUMS: &str = include_str!("near_programs/sums.py");

/// Their source, of so many columns and of a graph of so many vertices and edges.
fn of_sums(width: u64, (nodes, edges): (u64, u64), target: GpuTarget) -> String {
    let data = Data { nodes, edges, bytes_per_real: target.bytes_per_real, ..data() };
    made("sums", &list(SUMS, "sums", &json!({"width": width}), &data), target).source
}

#[test]
fn many_near_rows_of_few_edges_are_summed_one_after_the_other() {
    let near = GpuTarget { order: Order::Local, ..F32 };
    let along = |width: u64, graph: (u64, u64), target: GpuTarget| {
        let source = of_sums(width, graph, target);
        let kernels = source.split("extern \"C\"").filter(|kernel| kernel.contains("slot_far"));
        let [plain, weighted] = ["o_plain", "slots_given_weight"].map(|out| {
            kernels.clone().find(|kernel| kernel.contains(out)).unwrap().contains("ROWS = 4")
        });
        (plain, weighted)
    };
    let (many, dense, few) = ((500_000, 1_500_000), (500_000, 6_000_000), (30_000, 90_000));
    for width in [66, 128, 256] {
        assert_eq!(along(width, many, near), (true, true), "{width} columns");
    }
    assert_eq!(along(128, many, F32), (false, false), "rows that read any rows");
    assert_eq!(
        along(128, many, GpuTarget { order: Order::Local, ..F64 }),
        (false, false),
        "of 64 bits"
    );
    assert_eq!(along(128, dense, near), (false, false), "rows of many edges");
    assert_eq!(along(128, few, near), (false, false), "few rows");
    assert_eq!(along(64, many, near), (false, false), "few lanes");
}

#[test]
fn many_rows_of_few_edges_have_two_at_hand() {
    let near = GpuTarget { order: Order::Local, ..F32 };
    let of_plain = |width: u64, graph: (u64, u64), target: GpuTarget| {
        let source = of_sums(width, graph, target);
        let schedule = source
            .split("// plain")
            .nth(1)
            .and_then(|text| text.split("//   (").nth(1))
            .map(|text| text.split(';').next().unwrap().to_owned());
        schedule.unwrap()
    };
    let (many, dense, few) = ((500_000, 1_500_000), (500_000, 10_000_000), (10_000, 30_000));
    let of_four = "4 lanes of 4 columns a row, 8 rows a warp, 2 edges in flight";
    assert_eq!([F32, near].map(|target| of_plain(16, many, target)), [of_four; 2]);
    assert_eq!(
        of_plain(64, many, near),
        "8 lanes of 8 columns a row, 4 rows a warp, 2 edges in flight",
        "lanes have two pieces"
    );
    assert_eq!(
        of_plain(64, many, F32),
        "8 lanes of 4 columns a row of one of 2 slices, 4 rows a warp, 2 edges in flight",
        "of a table that no cache holds"
    );
    assert_eq!(
        of_plain(8, many, near),
        "2 lanes of 4 columns a row, 16 rows a warp, 2 edges in flight"
    );
    for (width, graph, target) in [
        (8, many, F32),
        (16, dense, near),
        (16, few, near),
        (16, many, GpuTarget { order: Order::Local, ..F64 }),
    ] {
        let schedule = of_plain(width, graph, target);
        assert!(!schedule.contains(" 2 edges in flight"), "{width} columns, {graph:?}: {schedule}");
    }
    // Of many edges, and rows that the second cache holds, in slices of 64 columns.
    assert!(
        of_plain(256, (4000, 2_000_000), F32)
            .starts_with("16 lanes of 4 columns a row of one of 4 slices")
    );
}

#[test]
fn a_product_that_is_only_added_up_is_made_there() {
    let list = list(&text("gat"), "gat", &settings("gat"), &data());
    let launches = list.launches();
    let sum =
        launches.iter().find(|launch| launch.name == "gradient.gat.attend.0.param.0").unwrap();
    let Operation::Evaluate { op: Op::SumRows, inputs, .. } = &sum.operation else {
        panic!("{sum:?}")
    };
    let [Operand::Times(slope, rows)] = inputs.as_slice() else { panic!("{inputs:?}") };
    let columns = |operand: &Operand| operand.shape().iter().product::<u64>();
    assert_eq!(
        [columns(slope), columns(rows)],
        [2, 16],
        "a number a head, and the rows that scores are made of"
    );
    // What is divided for edges is added up as its quotient: it lies nowhere. Behind a product of
    // short rows, whose kernel adds it up, it is as it was.
    let of_columns = |columns| Data {
        target: data().target.map(|target| Wanted { columns, ..target }),
        ..data()
    };
    for (columns, factors) in [(50, 2), (22, 1), (3, 1)] {
        let list = self::list(&text("gat"), "gat", &settings("gat"), &of_columns(columns));
        let sum = list
            .launches()
            .into_iter()
            .find(|launch| launch.name == "gradient.gat.attend.0.bias.0")
            .unwrap();
        let Operation::Evaluate { op: Op::SumRows, inputs, .. } = &sum.operation else {
            panic!("{sum:?}")
        };
        assert_eq!(inputs[0].rows().len(), factors, "{inputs:?}");
    }
    // A product whose factors would both have to be laid down for it stays where they are made.
    let norm = "def scaled(v, classes=3):\n    v.h = relu(linear(v.x, 8))\n    v.h = \
        layer_norm(v.h)\n    return linear(v.h, classes)\n";
    let kept = self::list(norm, "scaled", &json!({}), &data());
    let takes = |launch: &&Launch| matches!(&launch.operation, Operation::Evaluate { op: Op::SumRows, inputs, .. } if inputs[0].rows().len() > 1);
    let products: Vec<&str> =
        kept.launches().into_iter().filter(takes).map(|launch| launch.name.as_str()).collect();
    assert!(products.is_empty(), "{products:?}");
}

#[test]
fn a_sum_that_is_read_before_the_outer_product_stays_apart() {
    let bias = "gradient.gin.gin.0.mlp.0.0.bias";
    let mut list = list(&text("gin"), "gin", &settings("gin"), &data());
    let launches = backward(&mut list);
    let at = launches.iter().position(|launch| launch.name == bias).unwrap();
    let (sum, product) = (launches[at].clone(), launches[at + 1].clone());
    let Operation::Evaluate { shape, .. } = &sum.operation else { panic!("{sum:?}") };
    let rows =
        Operand::Rows(Rowed { buffer: bias.to_owned(), shape: shape.clone(), view: View::Own });
    let looks = Operation::Evaluate {
        out: "looked".to_owned(),
        shape: shape.clone(),
        op: Op::Detach,
        inputs: vec![rows],
    };
    let look = Launch { name: "look".to_owned(), operation: looks, ..sum };
    launches.insert(at + 1, look);
    let columns = shape_columns(&list, bias);
    list.buffers.push(Buffer {
        name: "looked".to_owned(),
        rows: Rows::Fixed(1),
        columns,
        element: Element::Real,
        role: Role::Value,
    });
    assert_eq!(makers(&list, bias), [bias, "look"]);
    // Whoever looks afterwards finds it.
    let launches = backward(&mut list);
    launches.swap(at + 1, at + 2);
    assert_eq!(makers(&list, bias), [product.name.as_str(), "look"]);
}

fn shape_columns(list: &LaunchList, buffer: &str) -> u64 {
    list.buffers.iter().find(|declared| declared.name == buffer).unwrap().columns
}

#[test]
fn a_sum_is_not_made_where_something_else_lies() {
    let bias = "gradient.sage.sage.0.linear.0.bias";
    let mut list = list(&text("sage"), "sage", &settings("sage"), &data());
    let (before, after) =
        ("gradient.sage.sage.0.linear.1.weight", "gradient.sage.sage.0.linear.0.weight");
    assert_eq!(makers(&list, bias), [after]);
    // The product before the sum is made with the one behind it, so that its rows lie there until
    // then, and the sum lies at their end.
    let launches = list.launches();
    let Operation::Evaluate { inputs, .. } =
        &launches.iter().find(|launch| launch.name == before).unwrap().operation
    else {
        panic!("no {before}")
    };
    let dropped = inputs[1].rows()[0].buffer.clone();
    let (bytes, rows) =
        (list.arena.place(bias).unwrap().bytes, list.arena.place(&dropped).unwrap());
    let offset = rows.offset + rows.bytes - bytes;
    list.arena.places.iter_mut().find(|place| place.buffer == bias).unwrap().offset = offset;
    assert_eq!(makers(&list, bias), [bias]);
}

/// The kernel of the second of GAT's layers, of one head and this many columns, that makes its
/// scores.
fn of_one_head(columns: u64, target: GpuTarget) -> String {
    let data = Data {
        target: data().target.map(|target| warploom_ir::Target { columns, ..target }),
        bytes_per_real: target.bytes_per_real,
        ..data()
    };
    let source = made("gat", &list(&text("gat"), "gat", &settings("gat"), &data), target).source;
    let mut kernels = source.split("extern \"C\"").filter(|kernel| kernel.contains("real score_"));
    let places = columns.next_multiple_of(16 / target.bytes_per_real);
    kernels
        .find(|kernel| kernel.contains(&format!("constexpr unsigned C = {places}, ")))
        .unwrap()
        .to_owned()
}

#[test]
fn rows_are_made_to_the_end_of_their_stride() {
    for (columns, target, lanes) in [
        (22, F32, "C = 24, V = 4, L = 8, Q = 1"),
        (47, F32, "C = 48, V = 4, L = 16, Q = 1"),
        (24, F32, "C = 24, V = 4, L = 8, Q = 1"),
        (47, F64, "C = 48, V = 2, L = 32, Q = 1"),
    ] {
        let kernel = of_one_head(columns, target);
        assert!(
            kernel.contains(lanes) && kernel.contains("load<V>(") && kernel.contains("store<V>("),
            "{columns}: {kernel}"
        );
        assert!(!kernel.contains("min(place, C - V)"), "{columns}: {kernel}");
    }
}

#[test]
fn a_dear_function_of_an_edge_is_made_by_one_lane() {
    let kernel = of_one_head(24, F32);
    assert_eq!(kernel.matches("exponential_of_share(").count(), 1, "{kernel}");
    let (once, each) = kernel.split_once("exponential_of_share(").unwrap();
    assert!(once.contains("here_mine ? ") && each.contains("from_lane(exp_"), "{kernel}");
    assert!(
        !of_one_head(6, F32).contains("here_mine"),
        "2 lanes have not one for each edge at hand"
    );
}
