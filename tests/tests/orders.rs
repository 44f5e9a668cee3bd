//! Proves that an order of nodes changes no result, whichever method made it, that no number of
//! threads changes an order, and that orders are as good as those of the systems that are known for
//! them.
use std::{collections::BTreeMap, fs};

use warploom_test_support::draws::Draws;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

const METHODS: [&str; 12] = [
    "none",
    "random",
    "degree",
    "approx-degree",
    "hub-sort",
    "hub-cluster",
    "bfs",
    "rcm",
    "rabbit",
    "metis",
    "first-column",
    "columns-then-rows",
];

fn quality(line: &serde_json::Value) -> serde_json::Value {
    serde_json::from_slice(&fs::read(folder(line, "permutation").join("quality.json")).unwrap())
        .unwrap()
}

#[test]
fn no_order_changes_a_result() {
    let graphs = [
        ("star", "0 1\n0 2\n0 3\n0 4\n5 0\n6 0\n".to_owned()),
        ("parts", "0 1\n2 3\n3 4\n4 2\n7 7\n9 8\n9 8\n".to_owned()),
        ("drawn", Draws::seeded(11).edge_list(3000, 700.0)),
    ];
    let lists: Vec<(&str, &str)> =
        graphs.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let sandbox = Sandbox::edge_lists(&lists, "symmetrize: false\nsplit: {rule: none}");
    for (name, _) in &lists {
        for pipeline in ["components", "bfs"] {
            let mut first = None;
            for method in METHODS {
                let recipe = Recipe::of(pipeline, name).set(&format!("reorder.method={method}"));
                let lines = sandbox.build(&recipe);
                sandbox.front("check", &recipe, &[]).expect(0);
                assert_eq!(quality(&lines[2])["method"], method);
                let values = fs::read(folder(&lines[5], "run").join("values.parquet")).unwrap();
                assert!(
                    *first.get_or_insert_with(|| values.clone()) == values,
                    "{pipeline} on {name} by {method}"
                );
            }
        }
    }
}

#[test]
fn no_number_of_threads_changes_an_order() {
    let text = Draws::seeded(11).edge_list(60_000, 20_000.0);
    let sandbox =
        Sandbox::edge_lists(&[("drawn", &text)], "symmetrize: false\nsplit: {rule: none}");
    let mut first: BTreeMap<&str, String> = BTreeMap::new();
    for threads in ["1", "2", "8"] {
        let sandbox = sandbox.with_store(format!("store-{threads}"));
        for method in METHODS {
            // So few classes that they are not single degrees, which another method sorts by.
            let recipe = Recipe::of("pagerank", "drawn")
                .set(&format!("reorder.method={method}"))
                .set("reorder.buckets=4");
            for stage in ["ingest", "extract", "reorder"] {
                sandbox.stage(stage, &recipe, &["--threads", threads]).expect(0);
            }
        }
        for found in sandbox.view().of_kind("permutation") {
            let method = METHODS
                .iter()
                .find(|method| found.manifest["facts"]["method"] == **method)
                .unwrap();
            let digest = found.manifest["digest"].as_str().unwrap().to_owned();
            assert_eq!(
                *first.entry(method).or_insert_with(|| digest.clone()),
                digest,
                "{method} with {threads} threads"
            );
        }
    }
    assert_eq!(first.len(), METHODS.len());
    let different: std::collections::BTreeSet<&String> = first.values().collect();
    assert_eq!(different.len(), METHODS.len(), "each method has an order of its own");
}

#[test]
fn settings_of_an_order() {
    let sandbox = Sandbox::edge_lists(
        &[("star", "1 0\n2 0\n3 0\n0 4\n2 4\n")],
        "symmetrize: false\nsplit: {rule: none}",
    );
    let order = |sets: &[&str]| {
        let recipe =
            sets.iter().fold(Recipe::of("pagerank", "star"), |recipe, set| recipe.set(set));
        let lines = sandbox.build(&recipe);
        let file = folder(&lines[2], "permutation").join("new_of_old.arrow");
        warploom_contract::arrow_file::open_numbers::<u32>(&file, "new_of_old").unwrap().to_vec()
    };
    assert_eq!(order(&["reorder.method=degree"]), [0, 2, 3, 4, 1]);
    assert_eq!(order(&["reorder.method=degree", "reorder.ascending=true"]), [4, 0, 1, 2, 3]);
    assert_eq!(order(&["reorder.method=degree", "reorder.degree=out"]), [1, 2, 0, 3, 4]);
    assert_eq!(order(&["reorder.method=degree", "reorder.degree=both"]), [0, 3, 1, 4, 2]);
    assert_eq!(order(&["reorder.method=approx-degree", "reorder.buckets=2"]), [0, 1, 2, 3, 4]);
    let none =
        Recipe::of("pagerank", "star").set("reorder.method=approx-degree").set("reorder.buckets=0");
    sandbox.front("pipeline", &none, &[]).expect(1).says(&["buckets", "1048576"]);
}

/// Figures of wiki-Vote: its order and scipy's reverse Cuthill-McKee (golden case `orders_medium`).
#[test]
fn orders_are_as_good_as_others() {
    let Some(sandbox) = Sandbox::real("orders_are_as_good_as_others") else { return };
    let of = |method: &str| {
        quality(
            &sandbox.build(
                &Recipe::of("pagerank", "wiki-Vote").set(&format!("reorder.method={method}")),
            )[2],
        )
    };
    let rcm = of("rcm");
    assert_eq!(
        (rcm["before"]["aes"].as_f64(), rcm["before"]["bandwidth"].as_u64()),
        (Some(1205.0612601143805), Some(7104))
    );
    let band = rcm["after"]["bandwidth"].as_u64().unwrap();
    assert!(band as f64 <= 1.05 * 4808.0, "{band}");
    // networkit's Louvain finds 0.415 to 0.427.
    let modularity = of("rabbit")["communities"]["modularity"].as_f64().unwrap();
    assert!(modularity >= 0.95 * 0.427, "{modularity}");
}

/// Pairs of neighbours that pymetis 2025.2.2 cuts, in the mean over its own seed and 1 to 3 (its
/// own alone: golden cases `orders_tiny` and `orders_medium`). One seed does not mean the same
/// draws in both: METIS takes them from the C library it was built with, and its cuts of wiki-Vote
/// in 8 parts go from 47,064 to 48,901.
#[test]
fn parts_are_as_good_as_those_of_pymetis() {
    let Some(sandbox) = Sandbox::real("parts_are_as_good_as_those_of_pymetis") else { return };
    let karate = [(2, 10.0, 1.0), (4, 27.0, 1.06), (8, 47.0, 1.18), (16, 58.0, 1.89)];
    let votes =
        [(2, 15_700.0, 1.001), (4, 32_503.0, 1.001), (8, 48_133.0, 1.002), (16, 64_230.0, 1.03)];
    for (name, cuts) in [("karate", karate), ("wiki-Vote", votes)] {
        for (parts, expected, imbalance) in cuts {
            let of_seed = |seed: u32| {
                let sets = [
                    "reorder.method=metis".to_owned(),
                    format!("reorder.parts={parts}"),
                    format!("reorder.seed={seed}"),
                ];
                let recipe =
                    sets.iter().fold(Recipe::of("pagerank", name), |recipe, set| recipe.set(set));
                let cut = quality(&reordered(&sandbox, &recipe))["cut"].clone();
                assert_eq!(cut["parts"].as_u64(), Some(parts));
                (cut["pairs"].as_f64().unwrap(), cut["imbalance"].as_f64().unwrap())
            };
            let found = [0, 1, 2, 3].map(of_seed);
            let mean = found.iter().map(|cut| cut.0).sum::<f64>() / 4.0;
            let worst = found.iter().fold(0.0, |worst: f64, cut| worst.max(cut.1));
            // Of 34 nodes in 16 parts pymetis leaves one part empty and overfills others: a better
            // balance may cut a pair more.
            let is_fairer = worst < imbalance - 0.4;
            assert!(
                mean <= 1.01 * expected + f64::from(u8::from(is_fairer)),
                "{name} in {parts}: {mean} pairs, pymetis cuts {expected}"
            );
            assert!(
                worst <= imbalance + 0.005,
                "{name} in {parts}: {worst} of the mean, pymetis {imbalance}"
            );
        }
    }
}

fn reordered(sandbox: &Sandbox, recipe: &Recipe) -> serde_json::Value {
    for stage in ["ingest", "extract"] {
        sandbox.stage(stage, recipe, &[]).expect(0);
    }
    sandbox.stage("reorder", recipe, &[]).expect(0).lines()[0].clone()
}

fn manifest(line: &serde_json::Value) -> serde_json::Value {
    serde_json::from_slice(&fs::read(folder(line, "permutation").join("manifest.json")).unwrap())
        .unwrap()
}

#[test]
fn self_loops_and_weights_share_an_order() {
    let loops = "0 1\n1 1\n2 0\n3 0\n3 3\n4 2\n1 4\n";
    let weights = "0 1 2.5\n2 0 1\n3 0 1\n4 2 1\n1 4 1\n";
    let sandbox = Sandbox::edge_lists(
        &[("loops", loops), ("weights", weights)],
        "symmetrize: false\nsplit: {rule: none}",
    );
    for method in ["auto", "degree", "rabbit", "metis", "first-column", "columns-then-rows"] {
        let of = |name: &str, handling: &str| {
            let recipe = Recipe::of("pagerank", name)
                .set(&format!("reorder.method={method}"))
                .set(&format!("ingest.self_loops={handling}"));
            let line = reordered(&sandbox, &recipe);
            let manifest = manifest(&line);
            (manifest["facts"]["order"].clone(), manifest["digest"].clone(), line["key"].clone())
        };
        let (kept, dropped, added, weighted) =
            (of("loops", "keep"), of("loops", "drop"), of("loops", "add"), of("weights", "keep"));
        for other in [&dropped, &added, &weighted] {
            assert_eq!((&kept.0, &kept.1), (&other.0, &other.1), "{method}");
            assert_ne!(kept.2, other.2, "another csr has another key");
        }
    }
}

#[test]
fn the_graphs_of_a_set_stay_apart() {
    let Some(sandbox) = Sandbox::real("the_graphs_of_a_set_stay_apart") else { return };
    for method in ["random", "degree", "rabbit", "metis"] {
        let line = reordered(
            &sandbox,
            &Recipe::of("gin", "tu-mutag").set(&format!("reorder.method={method}")),
        );
        let graphs = warploom_contract::arrow_file::open_numbers::<u32>(
            &folder(&line, "csr").join("graphs.arrow"),
            "graphs",
        )
        .unwrap();
        let runs: Vec<&[u32]> = graphs.chunk_by(|left, right| left == right).collect();
        assert_eq!(runs.len(), 188, "{method} mixes graphs");
        assert!(
            runs.windows(2).all(|pair| pair[0].len() >= pair[1].len()),
            "{method}: graphs by size"
        );
    }
}

#[test]
fn memory_that_is_not_there_is_told_early() {
    let text = Draws::seeded(11).edge_list(60_000, 20_000.0);
    let sandbox =
        Sandbox::edge_lists(&[("drawn", &text)], "symmetrize: false\nsplit: {rule: none}");
    let recipe = Recipe::of("pagerank", "drawn").set("reorder.method=rabbit");
    for stage in ["ingest", "extract"] {
        sandbox.stage(stage, &recipe, &[]).expect(0);
    }
    sandbox.stage("reorder", &recipe, &["--memory", "1MiB"]).expect(1).says(&[
        "an order by `rabbit` needs",
        "nodes and 5",
        "(1048576 bytes) may be used",
        "--memory",
    ]);
    assert!(
        sandbox.view().of_kind("permutation").is_empty() && sandbox.view().leftovers().is_empty()
    );
}

/// A device whose cache holds little, so that a small graph is worth an order; communities of 64 in
/// shuffled order.
#[test]
fn auto_weighs_bytes_against_seconds() {
    let mut draws = Draws::seeded(3);
    let mut node = |below: u64| (draws.unit() * below as f64) as u64;
    let mut edge = || {
        let target = node(20_000);
        (target / 64 * 64 + node(64), target)
    };
    let shuffled = |node: u64| node * 7919 % 20_011;
    let text: String = (0..100_000)
        .map(|_| edge())
        .map(|(source, target)| format!("{} {}\n", shuffled(source), shuffled(target)))
        .collect();
    let room = Sandbox::edge_lists(&[("hidden", &text)], "symmetrize: false\nsplit: {rule: none}");
    let facts = "{name: tiny, kind: cpu, bytes_per_second: 1e9, flops_per_second: {f32: 1e9, f64: 1e9}, launch_nanoseconds: 1, \
                 cache: {bytes: 65536, line_bytes: 64}, gather: [{row_bytes: 64, tables: [[32768, 1e10], [1e7, 4e9]]}]}";
    let device = room.write("tiny.yaml", facts);
    let device = device.to_str().unwrap();
    let run = |sets: &[&str]| {
        let recipe = sets
            .iter()
            .fold(Recipe::of("gcn", "hidden").set("reorder.method=auto"), |recipe, set| {
                recipe.set(set)
            });
        for stage in ["ingest", "extract"] {
            room.stage(stage, &recipe, &[]).expect(0);
        }
        room.stage("reorder", &recipe, &["--device", device]).expect(0).lines()[0].clone()
    };
    let once = run(&["reorder.runs=1", "run.mode=train", "run.epochs=1"]);
    let found = quality(&once);
    assert_eq!(found["method"], "none", "{found}");
    assert!(
        found["weighed"].as_str().unwrap().contains(
            "over 4 walks (4 of a run, 1 runs) at 64 columns on tiny, whose cache holds 64.0 KiB"
        ),
        "{found}"
    );
    let often = run(&["reorder.runs=100", "run.mode=train", "run.epochs=200"]);
    let found = quality(&often);
    assert_eq!(found["method"], "rabbit", "{found}");
    let moved = |side: &str| {
        let predicted = found[side]["predicted"].as_array().unwrap();
        predicted.iter().find(|moved| moved["device"] == "tiny" && moved["columns"] == 64).unwrap()
            ["memory_bytes"]
            .as_u64()
            .unwrap()
    };
    assert!(moved("after") * 2 < moved("before"), "{found}");
    // A power of ten of the epochs is in the key of the choice; runs that choose alike share the
    // order.
    let more = run(&["reorder.runs=100", "run.mode=train", "run.epochs=999"]);
    assert_eq!((&more["status"], &more["key"]), (&serde_json::json!("hit"), &often["key"]));
    assert_eq!(room.view().of_kind("tune").len(), 2);
    let most = run(&["reorder.runs=100", "run.mode=train", "run.epochs=1000"]);
    assert_eq!((&most["status"], &most["key"]), (&serde_json::json!("hit"), &often["key"]));
    assert_eq!(room.view().of_kind("tune").len(), 3);
}
