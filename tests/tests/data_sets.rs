//! Proves that data sets of every shape go from raw files to results: folders without an entry,
//! sets of many graphs, relations, kinds of nodes, several labels a node; and that memory, threads
//! and repetition change no byte of a graph.
use std::{
    fs,
    path::{Path, PathBuf},
};

use warploom_contract::parquet_file::read_table;
use warploom_test_support::process::Output;
use warploom_test_support::repository;
use warploom_test_support::safetensors_file::tensors;
use warploom_test_support::sandbox::shared_data;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;
use warploom_test_support::skips::skipped;

fn folder_of(line: &serde_json::Value) -> PathBuf {
    PathBuf::from(line["artifacts"][0]["path"].as_str().unwrap())
}

fn digest(sandbox: &Sandbox, key: &str) -> String {
    let graph = sandbox
        .view()
        .artifacts()
        .into_iter()
        .find(|found| found.kind == "graph" && found.key == key)
        .unwrap();
    graph.manifest["digest"].as_str().unwrap().to_owned()
}

#[test]
fn a_folder_without_an_entry_is_a_data_set() {
    let sandbox = Sandbox::stand_in();
    let folder = sandbox.data.join("mine");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("edges.csv"), "from,to,weight\nann,bob,2\nbob,eve,1\neve,ann,0.5\n")
        .unwrap();
    fs::write(folder.join("nodes.csv"), "id,label,age\nann,x,30\nbob,y,40\neve,x,50\n").unwrap();
    let lines = sandbox.build(&Recipe::of("pagerank", "mine"));
    let table = read_table(&folder_of(&lines[5]).join("values.parquet"), None).unwrap();
    assert_eq!(table.batch.num_rows(), 3);
    let graph = &sandbox
        .view()
        .artifacts()
        .into_iter()
        .find(|found| found.kind == "graph")
        .unwrap()
        .manifest;
    assert_eq!(
        (graph["facts"]["format"].as_str(), graph["facts"]["task"].as_str()),
        (Some("csv"), Some("node_classification"))
    );
    assert_eq!(
        (graph["provenance"].as_str(), graph["made_up"].as_array().map(Vec::len)),
        (Some("real"), Some(0))
    );
    sandbox.front("check", &Recipe::of("pagerank", "mine"), &[]).expect(0);
    // Nothing is made up for it: training needs features only where the program reads them.
    fs::create_dir_all(sandbox.data.join("none")).unwrap();
    fs::write(sandbox.data.join("none/readme.bin"), [0u8; 64]).unwrap();
    sandbox
        .front("pipeline", &Recipe::of("pagerank", "none"), &[])
        .expect(1)
        .says(&["`none` is a folder without a catalogue entry", "no format was recognised"]);
}

#[test]
fn memory_and_threads_change_no_byte_of_a_graph() {
    let mut sandbox = Sandbox::stand_in();
    // Pairs by themselves, and a graph behind them that is the largest component.
    let mut list = String::from("# a list that does not fit 1 MiB\n2 4 1\n4 2 7\n1 7 1\n");
    let mut state = 7u64;
    for _ in 0..150_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (source, target) = (state >> 33 & 0x3fff, state >> 50);
        list += &format!("{}\t{}\t{}\n", 3 * source, 5 * target, state >> 60);
    }
    sandbox.add_edge_list("large", &list, "symmetrize: false\nsplit: {rule: none}");
    for sets in [
        vec![],
        vec!["ingest.symmetrize=true", "ingest.duplicates=sum", "ingest.self_loops=add"],
        vec!["ingest.weights=drop", "ingest.duplicates=merge", "ingest.features=degree"],
        vec![
            "ingest.largest_component=true",
            "ingest.features=degree",
            "ingest.symmetrize=true",
            "ingest.relabel=true",
        ],
        // What is made of communities goes through the edges in rounds.
        vec!["ingest.features=random"],
    ] {
        let recipe =
            sets.iter().fold(Recipe::of("pagerank", "large"), |recipe, set| recipe.set(set));
        let mut digests = Vec::new();
        for (at, further) in [
            &["--threads", "1"][..],
            &["--threads", "8"],
            &["--memory", "1MiB"],
            &["--memory", "3MiB", "--threads", "2"],
        ]
        .into_iter()
        .enumerate()
        {
            let sandbox = sandbox.with_store(format!("store-{}-{at}", sets.join("-")));
            let line = sandbox.stage("ingest", &recipe, further).expect(0).lines().remove(0);
            digests.push(digest(&sandbox, line["key"].as_str().unwrap()));
        }
        digests.dedup();
        assert_eq!(digests.len(), 1, "{sets:?}");
    }
}

/// Small sets of every format: files and folders of tests/graphs.
const SETS: [&[&str]; 20] = [
    &["tiny.edges.txt"],
    &["tiny.named.csv"],
    &["csv"],
    &["tiny.mtx"],
    &["tiny.gr", "tiny.co"],
    &["tiny.gml"],
    &["tiny.graph-txt"],
    &["tiny.graph", "tiny.properties"],
    &["tiny.cnode", "tiny.cedge"],
    &["tiny.ungraph", "tiny.cmty"],
    &["adjacency_text"],
    &["ntriples"],
    &["triples/words"],
    &["triples/numbered"],
    &["arrays/npz/csr.npz"],
    &["arrays/npz/gnnadvisor.npz"],
    &["arrays/npz/masked.npz"],
    &["arrays/tables/tiny/groups.parquet"],
    &["arrays/tables/nodes"],
    &["arrays/hetero"],
];

/// Copies a file, or what lies in a folder.
fn place(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    match from.is_dir() {
        true => fs::read_dir(from).unwrap().for_each(|entry| {
            let path = entry.unwrap().path();
            place(
                &path,
                &if path.is_dir() { to.join(path.file_name().unwrap()) } else { to.to_path_buf() },
            );
        }),
        false => drop(fs::copy(from, to.join(from.file_name().unwrap())).unwrap()),
    }
}

/// Without memory for edges every format goes through files, to the same bytes; what cannot says
/// why.
#[test]
fn memory_changes_no_byte_of_any_format() {
    let sandbox = Sandbox::stand_in();
    let mut wrong = Vec::new();
    for (number, names) in SETS.iter().enumerate() {
        let set = format!("set-{number}");
        names.iter().for_each(|name| {
            place(&repository().join("tests/graphs").join(name), &sandbox.data.join(&set))
        });
        let parts =
            ["ingest.features=degree", "ingest.largest_component=true", "ingest.self_loops=drop"];
        let features = if ["arrays/hetero", "arrays/tables/nodes"].contains(&names[0]) {
            "ingest.features=none"
        } else {
            parts[0]
        };
        for sets in [
            vec![features, parts[1], parts[2]],
            vec!["ingest.features=none"],
            vec![
                "ingest.features=none",
                "ingest.symmetrize=true",
                "ingest.duplicates=sum",
                "ingest.weights=one",
            ],
        ] {
            let recipe =
                sets.iter().fold(Recipe::of("pagerank", &set), |recipe, set| recipe.set(set));
            let digests = [
                &[][..],
                &["--memory", "1", "--threads", "1"],
                &["--memory", "1", "--threads", "8"],
            ]
            .map(|further: &[&str]| {
                let sandbox = sandbox.with_store(format!(
                    "store-{}-{}",
                    further.len(),
                    further.last().unwrap_or(&"")
                ));
                let line = sandbox.stage("ingest", &recipe, further).expect(0).lines().remove(0);
                digest(&sandbox, line["key"].as_str().unwrap())
            });
            if digests.iter().any(|digest| *digest != digests[0]) {
                wrong.push(format!("{names:?} {sets:?}: {digests:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Features of edges are rows of a file of their own, gathered while edges are merged: the same
/// bytes whatever becomes of the edges.
#[test]
fn memory_changes_no_byte_of_features_of_edges() {
    let mut sandbox = Sandbox::stand_in();
    place(&repository().join("tests/graphs/tu"), &sandbox.data.join("tu"));
    let edge = |edge: u32| (edge * 7 % 301, edge * 11 % 171);
    let lines: String =
        (0..4000).map(|at| format!("{},{},{},{}\n", edge(at).0, edge(at).1, at, at % 3)).collect();
    sandbox.write("raw/inside/edges.csv", format!("source,target,x,weight\n{lines}"));
    sandbox.add_entry(
        "inside",
        "name: inside\nabout: made for a test\nfiles: [{file: edges.csv, url: null}]\nformat: csv\nread: {edge_features: [x]}\nlicence: none\n\
         directed: true\nsymmetrize: false\ntask: none\nsplit: {rule: none}\n",
    );
    let lists = [
        (0..4000).map(|at| edge(at).0.into()).collect(),
        (0..4000).map(|at| edge(at).1.into()).collect(),
        (0..4000).collect::<Vec<i64>>(),
    ];
    let names = ["source", "target", "edge_attr"];
    sandbox.write(
        "raw/arrays/edges.safetensors",
        tensors(&[0, 1, 2].map(|list| (names[list], &lists[list][..]))),
    );
    for (set, sets) in [
        ("tu", &[][..]),
        ("tu", &["ingest.symmetrize=true", "ingest.duplicates=merge"]),
        ("inside", &["ingest.symmetrize=true"]),
        ("inside", &["ingest.duplicates=sum", "ingest.self_loops=replace"]),
        ("inside", &["ingest.duplicates=min", "ingest.weights=drop", "ingest.self_loops=add"]),
        (
            "inside",
            &[
                "ingest.largest_component=true",
                "ingest.duplicates=max",
                "ingest.symmetrize=true",
                "ingest.features=degree",
            ],
        ),
        ("arrays", &[]),
        ("arrays", &["ingest.duplicates=sum", "ingest.self_loops=drop"]),
    ] {
        let recipe = sets.iter().fold(Recipe::of("pagerank", set), |recipe, set| recipe.set(set));
        let recipe = if sets.contains(&"ingest.features=degree") {
            recipe
        } else {
            recipe.set("ingest.features=none")
        };
        let digests = [
            ("whole", &[][..]),
            ("files", &["--memory", "1"]),
            ("eight", &["--memory", "1", "--threads", "8"]),
        ]
        .map(|(store, further): (&str, &[&str])| {
            let sandbox = sandbox.with_store(store);
            let line = sandbox.stage("ingest", &recipe, further).expect(0).lines().remove(0);
            run_check(&sandbox, "ingest", &recipe);
            assert!(folder_of(&line).join("edge-features.arrow").is_file(), "{set} {sets:?}");
            digest(&sandbox, line["key"].as_str().unwrap())
        });
        assert_eq!(digests, [0; 3].map(|_| digests[0].clone()), "{set} {sets:?}");
    }
}

/// Relations go through files with their edges: named by a file beside, with inverses, and as types
/// of entities.
#[test]
fn memory_changes_no_byte_of_relations() {
    let sandbox = Sandbox::stand_in();
    sandbox.write(
        "raw/typed/edges.csv",
        "source,target,type\n1,2,wrote\n2,3,cites\n3,1,knows\n1,2,wrote\n3,3,cites\n",
    );
    sandbox.write("raw/typed/nodes.csv", "id,label\n1,a\n2,b\n3,a\n4,b\n");
    sandbox.write(
        "raw/typed/names.json",
        "{\"relations\": [\"knows\", \"sees\", \"cites\", \"wrote\"], \"classes\": [\"b\", \"a\"]}",
    );
    sandbox.write("raw/rdf/types.nt", RDF);
    for (set, sets) in [
        ("typed", &["ingest.inverse_relations=true"][..]),
        ("typed", &["ingest.symmetrize=true", "ingest.duplicates=first", "ingest.self_loops=drop"]),
        (
            "typed",
            &[
                "ingest.keep_classes=[a]",
                "ingest.largest_component=true",
                "ingest.inverse_relations=true",
            ],
        ),
        ("typed", &["ingest.entity_types={relation: wrote}", "ingest.inverse_relations=true"]),
        ("typed", &["ingest.entity_types={relation: cites, edges: drop}"]),
        ("rdf", &["ingest.inverse_relations=true", "ingest.entity_types={edges: drop}"]),
        // A stand-in: its communities are known without a look at its edges.
        ("cora", &["ingest.features=random"]),
    ] {
        let recipe = sets.iter().fold(Recipe::of("rgcn", set), |recipe, set| recipe.set(set));
        let digests = [("whole", &[][..]), ("files", &["--memory", "1"])].map(
            |(store, further): (&str, &[&str])| {
                let sandbox = sandbox.with_store(store);
                let line = sandbox.stage("ingest", &recipe, further).expect(0).lines().remove(0);
                run_check(&sandbox, "ingest", &recipe);
                digest(&sandbox, line["key"].as_str().unwrap())
            },
        );
        assert_eq!(digests[0], digests[1], "{set} {sets:?}");
    }
}

/// What features of edges in a file of their own need is said to a tenth: so much is enough, and
/// less is not.
#[test]
fn the_memory_that_is_advised_is_the_least_that_works() {
    let sandbox = Sandbox::stand_in();
    let lines: String =
        (0..60_000u32).map(|edge| format!("{} {}\n", edge % 3001, edge % 1709)).collect();
    sandbox.write("raw/beside/edges.txt", &lines);
    sandbox.write("raw/beside/edge-features.csv", format!("x0,x1\n{}", "1,2\n".repeat(60_000)));
    let recipe = Recipe::of("pagerank", "beside").set("ingest.features=none");
    let ingest = |memory: &str| {
        sandbox.with_store(format!("beside-{memory}")).stage(
            "ingest",
            &recipe,
            &["--memory", memory],
        )
    };
    let told = |output: &Output| -> u64 {
        let advice = output
            .stderr
            .split("allow at least  --memory ")
            .nth(1)
            .unwrap_or_else(|| panic!("no advice: {output}"));
        advice.split("KiB").next().unwrap().parse().unwrap()
    };
    let advised = told(&ingest("1KiB").expect(1));
    assert_eq!(told(&ingest(&format!("{}KiB", advised / 2)).expect(1)), advised);
    ingest(&format!("{}KiB", advised * 9 / 10)).expect(1);
    ingest(&format!("{advised}KiB")).expect(0);
}

/// What a set has and is not taken, and what a split could not take, is said on screen and in the
/// manifest.
#[test]
fn what_is_left_out_is_said() {
    let sandbox = Sandbox::stand_in();
    sandbox.write("raw/links/raw/edge.csv", "0,1\n1,2\n2,3\n");
    sandbox.write("raw/links/raw/num-node-list.csv", "4\n");
    sandbox.write("raw/links/raw/num-edge-list.csv", "3\n");
    sandbox.write("raw/links/split/target/valid_edge.csv", "0,3\n");
    sandbox.write("raw/links/split/target/test.pt", "pickle");
    sandbox.write("raw/facts/train.txt", "a\tr\tb\n");
    sandbox.write("raw/facts/valid.txt", "b\tr\tc\n");
    sandbox.write("raw/small/edges.csv", "source,target\n1,2\n2,3\n3,4\n4,1\n");
    sandbox.write("raw/small/nodes.csv", "id,label,x0\n1,owl,1\n2,owl,2\n3,owl,3\n4,cat,4\n");
    let cases: [(&str, &[&str], &str, &str); 4] = [
        (
            "links",
            &[],
            "passed_over",
            "split/target/test.pt, split/target/valid_edge.csv: parts of links, because tasks of \
             links come later",
        ),
        (
            "facts",
            &[],
            "passed_over",
            "statements of valid: edges are those of train, because tasks of links come later",
        ),
        (
            "small",
            &["ingest.split={per_class: {train: 2, validation: 1, test: 0}}"],
            "split_short",
            "class `cat` has 1 nodes, all of them for training",
        ),
        (
            "small",
            &["ingest.features=random"],
            "",
            "`small` has features, and they are ignored: those of `ingest.features: random` \
             are MADE UP",
        ),
    ];
    for (set, sets, fact, said) in cases {
        let recipe = sets.iter().fold(Recipe::of("pagerank", set), |recipe, set| recipe.set(set));
        let output = sandbox.stage("ingest", &recipe, &[]).expect(0).says(&[said]);
        let manifest =
            fs::read_to_string(folder_of(&output.lines()[0]).join("manifest.json")).unwrap();
        assert!(
            fact.is_empty() || manifest.contains(&format!("\"{fact}\"")) && manifest.contains(said),
            "{set}: {manifest}"
        );
    }
    let unknown = Recipe::of("pagerank", "small").set("ingest.keep_classes=[dog]");
    sandbox.stage("ingest", &unknown, &[]).expect(1).says(&[
        "no class is called `dog`",
        "hint: name classes as the data have them:  --set 'ingest.keep_classes=[\"cat\",\"owl\"]'",
    ]);
}

/// Graphs are parted by shares, also where as many nodes would be parted as those of Planetoid are.
#[test]
fn a_set_of_many_graphs_without_an_entry_is_parted_by_shares() {
    let sandbox = Sandbox::stand_in();
    let lines = |text: &dyn Fn(usize) -> String| (1..=2000).map(text).collect::<String>();
    sandbox.write(
        "raw/many/many_A.txt",
        lines(&|graph| format!("{0}, {1}\n{1}, {0}\n", 2 * graph - 1, 2 * graph)),
    );
    sandbox
        .write("raw/many/many_graph_indicator.txt", lines(&|graph| format!("{graph}\n{graph}\n")));
    sandbox.write("raw/many/many_graph_labels.txt", lines(&|graph| format!("{}\n", graph % 2)));
    let line = sandbox
        .stage("ingest", &Recipe::of("gin", "many").set("plan.set.graphs=true"), &[])
        .expect(0)
        .lines()
        .remove(0);
    let out = sandbox.path("out");
    sandbox
        .warploom(&[
            "export",
            line["key"].as_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
            "--as",
            "csv",
        ])
        .expect(0);
    let graphs = fs::read_to_string(out.join("graphs.csv")).unwrap();
    let parts = ["train", "validation", "test"]
        .map(|part| graphs.lines().filter(|line| line.split(',').any(|word| word == part)).count());
    assert_eq!(parts, [1600, 200, 200], "{}", &graphs[..200]);
}

#[test]
fn parts_of_a_graph_are_graphs() {
    let Some(sandbox) = Sandbox::real("data_sets::parts_of_a_graph_are_graphs") else { return };
    let rows = |recipe: &Recipe| {
        let line = sandbox.stage("ingest", recipe, &[]).expect(0).lines().remove(0);
        run_check(&sandbox, "ingest", recipe);
        read_table(&folder_of(&line).join("nodes.parquet"), None).unwrap().batch.num_rows()
    };
    assert_eq!(rows(&Recipe::of("gcn", "karate").set("ingest.keep_classes=[Officer]")), 17);
    assert_eq!(
        rows(
            &Recipe::of("components", "ca-GrQc")
                .set("ingest.largest_component=true")
                .set("ingest.relabel=true")
        ),
        4158
    );
    sandbox
        .stage("ingest", &Recipe::of("gcn", "karate").set("ingest.keep_classes=[Offiser]"), &[])
        .expect(1)
        .says(&["no class is called `Offiser`", "Mr. Hi, Officer"]);
}

fn run_check(sandbox: &Sandbox, stage: &str, recipe: &Recipe) {
    sandbox.run(&format!("warploom-{stage}"), &recipe.arguments(&["check"])).expect(0);
}

/// From raw files to predictions, every output proved.
fn trained(sandbox: &Sandbox, recipe: &Recipe) -> usize {
    let lines = sandbox.build(recipe);
    sandbox.front("check", recipe, &[]).expect(0);
    read_table(&folder_of(&lines[5]).join("predictions.parquet"), None).unwrap().batch.num_rows()
}

#[test]
fn sets_of_many_graphs_are_learned_by_graph() {
    let Some(sandbox) = Sandbox::real("data_sets::sets_of_many_graphs_are_learned_by_graph") else {
        return;
    };
    let short = |name: &str| {
        Recipe::of("gin", name)
            .set("plan.set.graphs=true")
            .set("run.epochs=2")
            .set("plan.set.hidden=8")
    };
    assert_eq!(
        trained(
            &sandbox,
            &short("tu-mutag").set("ingest.split={folds: {count: 10}}").set("run.split=3")
        ),
        188
    );
    assert_eq!(trained(&sandbox, &short("ogbg-molesol")), 1128);
}

/// What the program returns decides what is learned, nodes or graphs, and no stage before `plan` is
/// built twice.
#[test]
fn nodes_and_graphs_are_learned_from_one_union() {
    let Some(sandbox) = Sandbox::real("data_sets::nodes_and_graphs_are_learned_from_one_union")
    else {
        return;
    };
    let recipe = |graphs: bool| {
        let recipe = Recipe::of("gin", "tu-mutag")
            .set("run.epochs=2")
            .set("plan.set.hidden=8")
            .set("ingest.split={fractions: {}}");
        recipe.set(&format!("plan.set.graphs={graphs}"))
    };
    assert_eq!(trained(&sandbox, &recipe(false)), 3371);
    let of_graphs = recipe(true).set("ingest.graphs=union");
    let lines = sandbox.front("pipeline", &of_graphs, &[]).expect(0).lines();
    let statuses: Vec<&str> =
        lines.iter().filter_map(|line| line["status"].as_str()).take(6).collect();
    assert_eq!(statuses, ["hit", "hit", "hit", "hit", "built", "built"]);
    assert_eq!(lines[0]["made_up"][0], "node_labels");
    assert_eq!(trained(&sandbox, &of_graphs), 188);
    // Alone, graphs need no labels of nodes, and what is learned of them is the same.
    let separate = sandbox.build(&recipe(true));
    assert_eq!(
        (separate[0]["status"].as_str(), &separate[0]["made_up"]),
        (Some("built"), &serde_json::json!([]))
    );
    let bytes =
        |line: &serde_json::Value| fs::read(folder_of(line).join("predictions.parquet")).unwrap();
    assert!(bytes(&separate[5]) == bytes(&lines[5]));
    // Labels of nodes that are made up are refused where they are read, and nowhere else.
    sandbox.front("pipeline", &of_graphs, &["--real=strict"]).expect(0);
    sandbox
        .front("pipeline", &recipe(false), &["--real=strict"])
        .expect(1)
        .says(&["node_labels are made up"]);
    // Scores of vertices that no sample data set fits are scores of vertices.
    let program =
        sandbox.write("wide.py", "def wide(v):\n    return linear(v.x, v.classes) * v.x[..., 6]\n");
    let yaml = format!(
        "dataset: tu-mutag\ningest: {{graphs: union, split: {{fractions: {{}}}}}}\nplan: \
            {{program: {}}}\nrun: {{epochs: 2}}\n",
        program.display()
    );
    assert_eq!(trained(&sandbox, &Recipe::file(sandbox.write("wide.yaml", yaml))), 3371);
}

/// Labels of nodes that are made up for a union are no business of a program that learns its
/// graphs.
#[test]
fn graphs_of_a_union_are_learned_without_a_word_on_its_nodes() {
    let Some(sandbox) =
        Sandbox::real("data_sets::graphs_of_a_union_are_learned_without_a_word_on_its_nodes")
    else {
        return;
    };
    let recipe = |graphs: bool| {
        let recipe = Recipe::of("gin", "tu-mutag")
            .set("ingest.split={fractions: {}}")
            .set("ingest.graphs=union");
        recipe.set(&format!("plan.set.graphs={graphs}"))
    };
    let of_graphs = sandbox.stage("ingest", &recipe(true), &["--real=strict"]).expect(0);
    assert!(!of_graphs.stderr.contains("whose nodes are learned"), "{of_graphs}");
    assert_eq!(of_graphs.stages()[0]["made_up"][0], "node_labels");
    sandbox
        .stage("ingest", &recipe(false), &["--real=strict"])
        .expect(1)
        .says(&["node_labels", "--real=strict refuses"]);
    let of_nodes = sandbox.with_store("other").stage("ingest", &recipe(false), &[]).expect(0);
    of_nodes.says(&["188 graphs are one graph, whose nodes are learned"]);
}

/// Whether nodes or graphs are learned is asked of a program, and here is none.
#[test]
fn a_set_of_many_graphs_is_shown_and_generated_without_a_pipeline() {
    let Some(sandbox) =
        Sandbox::real("data_sets::a_set_of_many_graphs_is_shown_and_generated_without_a_pipeline")
    else {
        return;
    };
    sandbox.warploom(&["data", "show", "tu-mutag"]).expect(0).prints(&["188"]);
    sandbox.warploom(&["data", "generate", "tu-mutag"]).expect(0).prints(&["STAND-IN"]);
}

#[test]
fn relations_kinds_and_several_labels_are_learned() {
    let Some(sandbox) = Sandbox::real("data_sets::relations_kinds_and_several_labels_are_learned")
    else {
        return;
    };
    assert_eq!(
        trained(
            &sandbox,
            &Recipe::of("rgcn", "aifb").set("run.epochs=2").set("ingest.inverse_relations=true")
        ),
        8285
    );
    assert_eq!(
        trained(
            &sandbox,
            &Recipe::of("rgcn", "aifb")
                .set("run.epochs=2")
                .set("ingest.entity_types={edges: drop}")
        ),
        8285 - 6
    );
    assert_eq!(trained(&sandbox, &Recipe::of("rgcn", "acm").set("run.epochs=2")), 4019 + 7167 + 60);
    assert_eq!(trained(&sandbox, &Recipe::of("gcn", "prone-ppi").set("run.epochs=2")), 3890);
}

const RDF: &str = "<h:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://t#Person> .
<h:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://t#Agent> .
<h:b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://t#Person> .
<h:c> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://t#Person> .
<h:a> <http://r#knows> <h:b> .
<h:b> <http://r#knows> <h:c> .
<h:c> <http://r#wrote> <h:d> .
<h:d> <http://r#title> \"T\" .
";

/// Types of entities are relations unless they are to be kinds; then a program has weights for
/// each.
#[test]
fn types_of_entities_become_kinds() {
    let sandbox = Sandbox::stand_in();
    let folder = sandbox.data.join("typed");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.nt"), RDF).unwrap();
    fs::write(folder.join("trainingSet.tsv"), "person\tlabel_x\nh:a\t0\nh:b\t1\n").unwrap();
    fs::write(folder.join("testSet.tsv"), "person\tlabel_x\nh:c\t1\n").unwrap();
    let recipe = |types: &str| {
        Recipe::of("rgcn", "typed").set("run.epochs=2").set(&format!("ingest.entity_types={types}"))
    };
    let kinds = |recipe: &Recipe| {
        let line = sandbox.stage("ingest", recipe, &[]).expect(0).lines().remove(0);
        run_check(&sandbox, "ingest", recipe);
        let names: serde_json::Value =
            serde_json::from_slice(&fs::read(folder_of(&line).join("names.json")).unwrap())
                .unwrap();
        let table = read_table(&folder_of(&line).join("nodes.parquet"), None).unwrap();
        let of_node = table.numbers::<u16>("kind").map_or(Vec::new(), |kinds| {
            kinds.iter().map(|&kind| names["kinds"][usize::from(kind)].clone()).collect()
        });
        (of_node, names["relations"].as_array().unwrap().len())
    };
    // Ids ascend: the literal, h:a to h:d, the two types.
    assert_eq!(kinds(&Recipe::of("rgcn", "typed")), (vec![], 4));
    assert_eq!(
        kinds(&recipe("{}")),
        (
            ["literal", "Agent", "Person", "Person", "entity", "entity", "entity"]
                .map(Into::into)
                .to_vec(),
            4
        )
    );
    assert_eq!(
        kinds(&recipe("{order: [Person], edges: drop}")),
        (["literal", "Person", "Person", "Person", "entity"].map(Into::into).to_vec(), 3)
    );
    let graph = sandbox
        .view()
        .of_kind("graph")
        .into_iter()
        .find(|found| found.manifest["counts"]["nodes.Agent"] == 1)
        .unwrap();
    assert_eq!(graph.manifest["facts"]["kinds"]["Agent"], "http://t#Agent");
    assert_eq!(trained(&sandbox, &recipe("{}")), 7);
    let parameters = sandbox
        .view()
        .of_kind("run")
        .into_iter()
        .find(|run| run.manifest["facts"].is_object())
        .map(|run| fs::read(run.path.join("parameters.safetensors")));
    assert!(
        String::from_utf8_lossy(&parameters.unwrap().unwrap())
            .contains("linear.0.knows.Person.weight"),
        "no weight of a kind"
    );
    for (types, says) in [
        ("{relation: is}", "no relation is called `is`"),
        (
            "{order: [Dog]}",
            "no node has the type `Dog` of `order`: expected some of http://t#Agent",
        ),
    ] {
        sandbox
            .stage("ingest", &recipe(types), &[])
            .expect(1)
            .says(&["`ingest.entity_types` of `typed`", says]);
    }
    let absent = Recipe::of("rgcn", "karate").set("ingest.entity_types={}");
    sandbox
        .stage("ingest", &absent, &[])
        .expect(1)
        .says(&["its stand-in has no types of entities", "a copy of karate.gml"]);
}

/// Counts, graphs, features, classes and relations are compared with the catalogue by ingest
/// itself.
#[test]
fn every_set_that_is_here_is_ingested() {
    let Some(sandbox) = Sandbox::real("data_sets::every_set_that_is_here_is_ingested") else {
        return;
    };
    let listed = sandbox.warploom(&["data", "ls", "--format", "json"]).expect(0).lines();
    let here: Vec<&str> = listed
        .iter()
        .filter(|line| line["status"] == "here")
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    assert!(here.len() > 85, "only {} sets are here", here.len());
    for name in here {
        sandbox
            .stage(
                "ingest",
                &Recipe::of("pagerank", name).set("ingest.duplicates=keep"),
                &["--real"],
            )
            .expect(0);
    }
}

/// The same graph in seven formats, brought to the same ids and without weights and repeats.
#[test]
fn one_graph_in_every_format_gives_one_digest() {
    let Some(shared) = shared_data() else {
        skipped("data_sets::one_graph_in_every_format_gives_one_digest", "no shared data");
        return;
    };
    let mut sandbox = Sandbox::stand_in();
    let files = [
        ("el", "4.el", "edge_list", "{nodes: 14}"),
        ("wel", "4.wel", "edge_list", "{nodes: 14}"),
        ("mtx", "4.mtx", "matrix_market", "{first_id: 0}"),
        ("wmtx", "4w.mtx", "matrix_market", "{first_id: 0}"),
        ("gr", "4.gr", "dimacs", "{first_id: 0}"),
        ("metis", "4.graph", "metis", "{first_id: 0, directed: true}"),
        ("wmetis", "4w.graph", "metis", "{first_id: 0, directed: true}"),
    ];
    let mut digests = Vec::new();
    for (name, file, format, read) in files {
        let from = shared.join("tiny_gapbs").join(file);
        if !from.is_file() {
            continue;
        }
        fs::create_dir_all(sandbox.data.join(name)).unwrap();
        fs::copy(from, sandbox.data.join(name).join(file)).unwrap();
        sandbox.add_entry(
            name,
            &format!(
                "name: {name}\nabout: made for a test\nfiles: [{{file: {file}, url: null}}]\nformat: {format}\nread: {read}\nlicence: none\n\
                 directed: true\nsymmetrize: false\ntask: none\nsplit: {{rule: none}}\n"
            ),
        );
        let recipe = Recipe::of("pagerank", name)
            .set("ingest.duplicates=merge")
            .set("ingest.weights=drop")
            .set("ingest.self_loops=drop");
        let line = sandbox.stage("ingest", &recipe, &[]).expect(0).lines().remove(0);
        digests.push((file, digest(&sandbox, line["key"].as_str().unwrap())));
    }
    assert!(
        digests.len() > 3 && digests.iter().all(|(_, digest)| *digest == digests[0].1),
        "{digests:#?}"
    );
}

/// Every set of the shared data, from its files to an order and divisions of its work, proved. Sets
/// of more edges wait for `make test-long`.
#[test]
fn every_real_set_is_ordered_and_divided() {
    const EDGES_MOST: u64 = 1_000_000;
    let Some(sandbox) = Sandbox::real("every_real_set_is_ordered_and_divided") else { return };
    let listed = sandbox
        .warploom(&["data", "ls", "--format", "json", "--data", sandbox.data.to_str().unwrap()])
        .expect(0)
        .lines();
    let here: Vec<_> = listed.iter().filter(|line| line["status"] == "here").collect();
    assert!(here.len() > 80, "{} sets", here.len());
    let mut waiting = Vec::new();
    for line in here {
        let name = line["name"].as_str().unwrap();
        if line["expected"]["listed"].as_u64().is_none_or(|edges| edges > EDGES_MOST) && !is_long()
        {
            waiting.push(name);
            continue;
        }
        let recipe = Recipe::of("pagerank", name)
            .set("reorder.method=rabbit")
            .set("partition.scheme=[rows, neighbour-groups, interleaved]");
        let sandbox = sandbox.with_store(format!("store-{name}"));
        for stage in ["ingest", "extract", "reorder", "partition"] {
            sandbox.stage(stage, &recipe, &["-q"]).expect(0);
        }
        for stage in ["reorder", "partition"] {
            sandbox.stage(stage, &recipe, &["check"]).expect(0);
        }
        fs::remove_dir_all(&sandbox.store).unwrap();
    }
    println!("not without WARPLOOM_TEST_LONG: {}", waiting.join(", "));
    assert!(waiting.len() < 20, "{waiting:?}");
}
