//! Proves the ways in and out: what `export` writes is read back by `data import` as the same
//! graph, whatever the graph has and in every form; what was killed leaves nothing; and every
//! snippet of `docs/artifacts.md` runs on a small store.
//!
//! Python is that of `tests/peers/setup.sh`, or the interpreter that `WARPLOOM_PYTHON` names; what
//! it lacks is said as SKIPPED.
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::Signal;
use warploom_contract::parquet_file::read_table;
use warploom_test_support::process::{Running, start};
use warploom_test_support::repository;
use warploom_test_support::safetensors_file::tensors;
use warploom_test_support::sandbox::{Recipe, Sandbox, shared_data};
use warploom_test_support::skips::skipped;
use warploom_test_support::store_view::StoredArtifact;

use crate::peers::python;

const EDGES: &str =
    "source,target,weight,type\n3,5,0.5,likes\n5,7,2,knows\n7,3,1,likes\n3,5,0.25,knows\n";

fn sandbox_with_catalog() -> Sandbox {
    let mut sandbox = Sandbox::stand_in();
    let catalog = sandbox.path("catalog");
    fs::create_dir_all(&catalog).unwrap();
    sandbox.catalog = Some(catalog);
    sandbox
}

/// The files of `karate`, as its entry lists them.
const KARATE: [&str; 1] = ["karate.gml"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The input digest of the graph of a data set: the same for the same graph.
fn digest_of(sandbox: &Sandbox, name: &str) -> String {
    let store = sandbox.with_store(format!("store-{name}"));
    store.warploom(&["data", "show", name]).expect(0);
    store.view().of_kind("graph").remove(0).manifest["digest"].as_str().unwrap().to_owned()
}

/// Every form of an export; none: as it is usual for each thing.
const FORMS: [Option<&str>; 7] = [
    None,
    Some("npz"),
    Some("npy"),
    Some("csv"),
    Some("parquet"),
    Some("safetensors"),
    Some("files"),
];

/// A set's graph with all that it has, in a store of its own.
#[track_caller]
fn ingested(sandbox: &Sandbox, name: &str) -> (Sandbox, StoredArtifact) {
    let sandbox = sandbox.with_store(format!("store-{name}"));
    sandbox
        .stage("ingest", &Recipe::of("pagerank", name).set("ingest.features=auto"), &[])
        .expect(0);
    let graph = sandbox.view().of_kind("graph").remove(0);
    (sandbox, graph)
}

/// Whether a column of the nodes, their ids too, holds words.
fn has_words(graph: &StoredArtifact) -> bool {
    let nodes = read_table(&graph.path.join("nodes.parquet"), None).unwrap().batch;
    nodes.schema().fields().iter().any(|field| field.data_type().to_string().contains("Utf8"))
}

/// The graph of a store, exported, imported and read again: its digest, names and further facts are
/// those that it had.
#[track_caller]
fn comes_back(
    sandbox: &Sandbox,
    (from, graph): &(Sandbox, StoredArtifact),
    name: &str,
    form: Option<&str>,
) {
    let what = form.unwrap_or("usual");
    let folder = sandbox.path(&format!("out-{name}-{what}"));
    let mut export = vec!["export", "graph", "-o", text(&folder)];
    export.extend(form.iter().flat_map(|form| ["--as", *form]));
    if form == Some("safetensors") && has_words(graph) {
        from.warploom(&export).expect(1).says(&["safetensors hold only numbers", "--as parquet"]);
        return;
    }
    from.warploom(&export).expect(0);
    let again = format!("{name}-{what}");
    sandbox.warploom(&["data", "import", &again, "--from", text(&folder)]).expect(0);
    let (_, back) = ingested(sandbox, &again);
    let names = |path: &Path| fs::read_to_string(path.join("names.json")).ok();
    assert_eq!(names(&back.path), names(&graph.path), "names of {again}");
    assert_eq!(
        back.manifest["digest"], graph.manifest["digest"],
        "{again}: {:#} is not {:#}",
        back.manifest["files"], graph.manifest["files"]
    );
    let facts = |found: &StoredArtifact| {
        ["provenance", "made_up", "counts"].map(|fact| found.manifest[fact].clone())
    };
    assert_eq!(facts(&back), facts(graph), "{again}");
}

#[test]
fn what_is_exported_is_imported_as_the_same_graph() {
    let sandbox = sandbox_with_catalog();
    // Classes have names and gaps, and not all names of the list are used.
    let nodes = "id,label,split,kind_of,kind,x0,x1,seen,score\n7,owl,train,p,bird,0.5,1,3,0.25\n3,cat,validation,q,beast,0,1,,\n5,owl,test,,bird,2,1,1,NaN\n9,,none,q,beast,0,0,2,1\n";
    let names = r#"{"kinds": ["fish", "bird", "beast"], "relations": ["knows", "hates", "likes"], "classes": ["owl", "bee", "cat"]}"#;
    let [edges, nodes, names] = [("e.csv", EDGES), ("n.csv", nodes), ("names.json", names)]
        .map(|(name, text)| sandbox.write(&format!("given/{name}"), text));
    let given = [
        "data",
        "import",
        "mine",
        "--edges",
        text(&edges),
        "--nodes",
        text(&nodes),
        "--names",
        text(&names),
    ];
    sandbox.warploom(&given).expect(0).prints(&[
        "4 nodes, 4 listed edges",
        "labels    3 classes",
        "warploom data show mine",
    ]);
    let from = ingested(&sandbox, "mine");
    assert!(has_words(&from.1));
    for form in FORMS {
        comes_back(&sandbox, &from, "mine", form);
    }
    // Without words, in tensors too.
    let nodes = sandbox.write(
        "given/numbers.csv",
        "id,label,split,kind,x0,x1,seen,score\n7,owl,train,bird,0.5,1,3,0.25\n3,cat,validation,beast,0,1,,\n5,owl,test,bird,2,1,1,2\n9,,none,beast,0,0,2,1\n",
    );
    sandbox
        .warploom(&[
            "data",
            "import",
            "numbers",
            "--edges",
            text(&edges),
            "--nodes",
            text(&nodes),
            "--names",
            text(&names),
        ])
        .expect(0);
    let from = ingested(&sandbox, "numbers");
    assert!(!has_words(&from.1));
    for form in FORMS {
        comes_back(&sandbox, &from, "numbers", form);
    }
}

#[test]
fn real_sets_come_back_with_all_that_they_have() {
    let Some(real) = Sandbox::real("interchange::real_sets_come_back_with_all_that_they_have")
    else {
        return;
    };
    // Sparse features; words as classes; several kinds with features of their own; many graphs with
    // features of edges; numbers to be predicted; several labels; words as ids with relations;
    // classes called 1 to 6; places of nodes, `x` and `y`.
    let sets = [
        "cora",
        "karate",
        "acm",
        "tu-mutag",
        "ogbg-molesol",
        "prone-ppi",
        "aifb",
        "FB15k-237",
        "ENZYMES",
        "road-oldenburg",
    ];
    for name in sets {
        let from = ingested(&real, name);
        let mut sandbox = real.clone();
        (sandbox.data, sandbox.catalog) = (real.path("raw"), Some(real.path("catalog")));
        fs::create_dir_all(real.path("catalog")).unwrap();
        for form in FORMS {
            // karate's nodes have words that are all numbers, which text does not tell from
            // numbers; one of AIFB's words has thousands of letters, and words of an array are as
            // wide as the widest; others have line ends, which tables in text do not hold.
            let words =
                name == "aifb" && matches!(form, Some("npz" | "npy" | "csv" | "safetensors"));
            let cannot = words || form == Some("csv") && name == "karate";
            if !cannot {
                comes_back(&sandbox, &from, name, form);
            }
        }
    }
}

#[test]
fn names_of_an_export_without_the_list_of_names_survive_in_tables() {
    let sandbox = sandbox_with_catalog();
    let nodes = "id,label,kind,x0\n7,owl,bird,1\n3,cat,beast,2\n5,owl,bird,3\n";
    let (edges, nodes) = (sandbox.write("given/e.csv", EDGES), sandbox.write("given/n.csv", nodes));
    sandbox
        .warploom(&["data", "import", "mine", "--edges", text(&edges), "--nodes", text(&nodes)])
        .expect(0);
    let first = digest_of(&sandbox, "mine");
    for form in ["csv", "parquet"] {
        let (folder, name) = (sandbox.path(&format!("out-{form}")), format!("of-{form}"));
        sandbox
            .with_store("store-mine")
            .warploom(&["export", "graph", "-o", text(&folder), "--as", form])
            .expect(0);
        let file = |name: &str| text(&folder.join(format!("{name}.{form}"))).to_owned();
        let (edges, nodes, features) = (file("edges"), file("nodes"), file("features"));
        sandbox
            .warploom(&[
                "data",
                "import",
                &name,
                "--edges",
                &edges,
                "--nodes",
                &nodes,
                "--features",
                &features,
            ])
            .expect(0);
        assert_eq!(digest_of(&sandbox, &name), first, "{form}");
    }
}

#[test]
fn a_stand_in_stays_one_through_export_and_import() {
    let sandbox = sandbox_with_catalog();
    sandbox.stage("ingest", &Recipe::of("gcn", "karate"), &[]).expect(0);
    let folder = sandbox.path("out");
    sandbox.warploom(&["export", "graph", "-o", text(&folder)]).expect(0);
    sandbox
        .warploom(&["data", "import", "copy", "--from", text(&folder)])
        .expect(0)
        .prints(&["STAND-IN"]);
    let recipe = Recipe::of("gcn", "copy").set("run.epochs=1");
    let again = sandbox.with_store("again");
    let output = again.front("pipeline", &recipe, &[]).expect(0).says(&["files of a STAND-IN"]);
    assert!(output.stages().iter().all(|line| line["provenance"] == "stand-in"), "{output}");
    again
        .with_store("real")
        .front("pipeline", &recipe, &["--real"])
        .expect(1)
        .says(&["came out of a stand-in, and a stand-in was refused"]);
    // So it does in a folder that nobody imported.
    fs::rename(&folder, sandbox.data.join("by-hand")).unwrap();
    let line = sandbox
        .with_store("by-hand")
        .stage("ingest", &Recipe::of("gcn", "by-hand"), &[])
        .expect(0)
        .lines()
        .remove(0);
    assert_eq!(line["provenance"], "stand-in");
}

#[test]
fn imported_files_are_compared_with_their_digests() {
    let sandbox = sandbox_with_catalog();
    let edges = sandbox.write("given/e.csv", EDGES);
    sandbox.warploom(&["data", "import", "mine", "--edges", text(&edges)]).expect(0);
    digest_of(&sandbox, "mine");
    let file = sandbox.data.join("mine/edges.csv");
    let changed = EDGES.replace("5,7,2", "5,3,2");
    fs::write(&file, &changed).unwrap();
    let what = format!(
        "differs from the catalogue's entry: expected {} bytes with the digest ",
        EDGES.len()
    );
    let told = [
        what.as_str(),
        "found 79 bytes with ",
        "mine/edges.csv",
        "hint: restore the old one",
        "mine/warploom.yaml",
    ];
    sandbox.warploom(&["data", "show", "mine"]).expect(1).says(&told);
    sandbox.stage("ingest", &Recipe::of("pagerank", "mine"), &[]).expect(1).says(&told);
    fs::write(&file, EDGES).unwrap();
    sandbox.warploom(&["data", "show", "mine"]).expect(0);
    // The hint does what it says.
    fs::write(&file, &changed).unwrap();
    let entry = sandbox.data.join("mine/warploom.yaml");
    let told = fs::read_to_string(&entry).unwrap();
    let line = told.lines().find(|line| line.contains("blake3")).unwrap();
    fs::write(&entry, told.replace(line, "  - {file: edges.csv, url: null}")).unwrap();
    sandbox.warploom(&["data", "show", "mine"]).expect(0);
}

/// Names in a folder that are hidden.
fn hidden(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

/// Lets a command work until there is a file of this name in a draft of the folder.
fn at_work(sandbox: &Sandbox, arguments: &[&str], folder: &Path, file: &str) -> Running {
    let running = start(sandbox.command("warploom", arguments));
    running.until("it wrote a draft", || {
        hidden(folder).iter().any(|name| folder.join(name).join(file).exists())
    })
}

#[test]
fn an_import_that_was_killed_is_cleared_away_by_the_next_and_one_that_was_stopped_leaves_nothing() {
    let sandbox = sandbox_with_catalog();
    let list: String = (0..400_000u32)
        .map(|edge| format!("{},{}\n", edge % 9973, edge.wrapping_mul(2_654_435_761) % 10_007))
        .collect();
    let large = sandbox.write("given/large.csv", format!("source,target\n{list}"));
    let small = sandbox.write("given/e.csv", EDGES);
    let data = sandbox.data.clone();
    let import = |name: &'static str| {
        at_work(&sandbox, &["data", "import", name, "--edges", text(&large)], &data, "edges.csv")
    };
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 75)] {
        let running = import("stopped");
        running.signal(signal);
        running.wait().expect(code);
        assert_eq!(hidden(&data), Vec::<String>::new(), "{signal:?}");
    }
    let running = import("killed");
    running.signal(Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
    assert_eq!(
        (hidden(&data).len(), data.join("killed").exists()),
        (1, false),
        "it was not killed in the middle"
    );
    sandbox.warploom(&["data", "import", "other", "--edges", text(&small)]).expect(0);
    assert_eq!(hidden(&data), Vec::<String>::new());
    sandbox.warploom(&["data", "import", "killed", "--edges", text(&small)]).expect(0);
}

#[test]
fn an_export_that_was_killed_is_cleared_away_by_the_next_and_one_that_was_stopped_leaves_nothing() {
    let sandbox = Sandbox::stand_in();
    sandbox.warploom(&["data", "generate", "rmat-14-24"]).expect(0);
    let (fresh, there) = (sandbox.path("above/out"), sandbox.path("there"));
    fs::create_dir(&there).unwrap();
    fs::write(there.join("notes.txt"), "mine").unwrap();
    let names = |folder: &Path| {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect::<BTreeSet<_>>()
    };
    let before = names(&sandbox.path(""));
    for (target, home) in [(&fresh, sandbox.path("")), (&there, there.clone())] {
        let export = || {
            at_work(
                &sandbox,
                &["export", "graph", "-o", text(target), "--as", "csv"],
                &home,
                "edges.csv",
            )
        };
        let running = export();
        running.signal(Signal::INT);
        running.wait().expect(130);
        assert_eq!((hidden(&home), fresh.parent().unwrap().exists()), (Vec::new(), false));
        let running = export();
        running.signal(Signal::KILL);
        assert_eq!(running.wait().signal, Some(9));
        assert_eq!(hidden(&home).len(), 1, "it was not killed in the middle");
        assert!(!target.join("edges.csv").exists());
    }
    assert_eq!(names(&there).len(), 2);
    for target in [&fresh, &there] {
        sandbox.warploom(&["export", "graph", "-o", text(target), "--as", "csv"]).expect(0);
        let files = BTreeSet::from(["edges.csv", "manifest.json", "nodes.csv"].map(str::to_owned));
        assert!(
            names(target).is_superset(&files) && hidden(target).is_empty(),
            "{:?}",
            names(target)
        );
    }
    let after = names(&sandbox.path(""));
    assert_eq!(after.difference(&before).collect::<Vec<_>>(), ["above"]);
    assert_eq!(fs::read_to_string(there.join("notes.txt")).unwrap(), "mine");
}

#[test]
fn arrays_become_a_data_set() {
    let sandbox = sandbox_with_catalog();
    let edges = sandbox.write("given/e.csv", EDGES);
    sandbox.warploom(&["data", "import", "mine", "--edges", text(&edges)]).expect(0);
    digest_of(&sandbox, "mine");
    let from = sandbox.with_store("store-mine");
    for form in ["npz", "safetensors"] {
        let folder = sandbox.path(&format!("out-{form}"));
        from.warploom(&["export", "graph", "-o", text(&folder), "--as", form]).expect(0);
        let file = folder.join(format!("edges.{form}"));
        let line = sandbox
            .warploom(&[
                "data",
                "import",
                &format!("of-{form}"),
                "--edges",
                text(&file),
                "--format",
                "json",
            ])
            .expect(0)
            .lines()
            .remove(0);
        assert_eq!(
            (line["nodes"].as_u64(), line["listed"].as_u64(), line["format"].as_str()),
            (Some(3), Some(4), Some("tables"))
        );
    }
    assert_eq!(digest_of(&sandbox, "of-npz"), digest_of(&sandbox, "of-safetensors"));
}

/// An archive of edges is the same in a data folder and through an import: what is not read is
/// named, and nothing else.
#[test]
fn an_archive_with_a_foreign_array_is_imported_as_a_folder_reads_it() {
    let sandbox = sandbox_with_catalog();
    let archive = |name: &str, lists: &[(&str, &[i64])]| sandbox.write(name, tensors(lists));
    let members: &[(&str, &[i64])] = &[
        ("source", &[0, 1, 2]),
        ("target", &[1, 2, 0]),
        ("time", &[7, 8, 9]),
        ("num_nodes", &[3]),
    ];
    let given = archive("given/g.safetensors", members);
    archive("raw/mine/edges.safetensors", members);
    sandbox
        .warploom(&["data", "import", "copied", "--edges", text(&given)])
        .expect(0)
        .prints(&["ignored: array `time`", "3 nodes, 3 listed edges"]);
    sandbox
        .stage("ingest", &Recipe::of("pagerank", "mine"), &[])
        .expect(0)
        .says(&["ignored: array `time`"]);
    assert_eq!(digest_of(&sandbox, "copied"), digest_of(&sandbox, "mine"));
    // Where it is no list of edges, the error says all that is read.
    let bad = archive("given/bad.safetensors", &[("source", &[0]), ("time", &[1])]);
    let said = sandbox.warploom(&["data", "import", "bad", "--edges", text(&bad)]).expect(1);
    said.says(&[
        "expected exactly one array of edge sources and one of edge targets",
        "num_nodes; x, y",
        "found source, time",
        "hint: write them as  numpy.savez",
    ]);
    let nodes = archive("given/nodes.safetensors", &[("id", &[0, 1, 2])]);
    let said = sandbox
        .warploom(&["data", "import", "both", "--edges", text(&given), "--nodes", text(&nodes)])
        .expect(1);
    said.says(&[
        "`num_nodes`: an array of this name is not read as part of edges here",
        "num_nodes; x, y",
    ]);
}

#[test]
fn an_import_that_fails_leaves_nothing() {
    let sandbox = sandbox_with_catalog();
    let bad = sandbox.write("given/bad.csv", "source,target\n1,2\n3,x\n");
    let before = (
        fs::read_dir(&sandbox.data).unwrap().count(),
        fs::read_dir(sandbox.catalog.as_ref().unwrap()).unwrap().count(),
    );
    let import = |name: &str, further: &[&str]| {
        sandbox.warploom(&[&["data", "import", name, "--edges", text(&bad)], further].concat())
    };
    import("mine", &[]).expect(1).says(&["bad.csv:3:3", "found `x`", "--read ids=string"]);
    import("karate", &[]).expect(1).says(&["an entry of the catalogue called `karate`"]);
    import("../mine", &[]).expect(2).says(&["cannot be the name"]);
    import("mine", &["--read", "sorce=a"]).expect(2).says(&[
        "unknown field `sorce`",
        "`source`",
        "hint: did you mean  --read source=a",
    ]);
    let inner = import("mine", &["--read", "ids_exact=true"])
        .expect(2)
        .says(&["unknown field `ids_exact`", "fields are those of `read:`"]);
    assert!(!inner.stderr.contains("ids=true"), "{inner}");
    import("mine", &["--read", "ids=words"])
        .expect(2)
        .says(&["`--read ids=words`", "`auto`, `number`, `string`"]);
    import("mine", &["--read", "edge_features=dist"])
        .expect(2)
        .says(&["`--read edge_features=dist`", "a list:  --read 'edge_features=[\"dist\"]'"]);
    import("mine", &["--labels", text(&bad)])
        .expect(1)
        .says(&["labels of nodes are not read from `.csv`"]);
    let good = sandbox.write("given/good.csv", "source,target\n1,2\n");
    let features = ["data", "import", "mine", "--edges", text(&good), "--features", text(&bad)];
    sandbox.warploom(&features).expect(1).says(&[
        "the columns of this table do not say that they are features",
        "given/bad.csv",
        "x0, x1",
    ]);
    let after = (
        fs::read_dir(&sandbox.data).unwrap().count(),
        fs::read_dir(sandbox.catalog.as_ref().unwrap()).unwrap().count(),
    );
    assert_eq!(after, before, "a draft was left");
    import("mine", &["--read", "ids=string"]).expect(0).prints(&["4 nodes, 2 listed edges"]);
    import("mine", &["--read", "ids=string"]).expect(1).says(&[
        "called `mine` already",
        "hint:",
        "--force",
        "warploom data rm mine",
    ]);
}

/// What an import was told holds wherever the folder is found, and whichever folder is the current
/// one.
#[test]
fn an_imported_set_means_the_same_from_every_folder() {
    let sandbox = Sandbox::stand_in();
    let edges = sandbox.write("given/e.csv", "source,target\n1,2\n2,3\n1,4\n");
    sandbox
        .warploom(&["data", "import", "mine", "--edges", text(&edges), "--undirected"])
        .expect(0)
        .prints(&["raw/mine/warploom.yaml"]);
    assert!(!sandbox.path("data").exists(), "a catalogue was made in the current folder");
    let elsewhere = sandbox.path("elsewhere");
    fs::create_dir_all(elsewhere.join("data/catalog")).unwrap();
    let digest = |folder: &Path, name: &str| {
        let sandbox = sandbox.with_store(format!("store-{name}"));
        let mut command =
            sandbox.command("warploom-ingest", &Recipe::of("components", "mine").arguments(&[]));
        command.current_dir(folder).env_remove("WARPLOOM_CATALOG");
        start(command).wait().expect(0);
        let graph = sandbox.view().of_kind("graph").remove(0);
        (graph.manifest["digest"].clone(), graph.manifest["counts"]["edges"].clone())
    };
    let (here, there) = (digest(&sandbox.path(""), "here"), digest(&elsewhere, "there"));
    assert_eq!((here.1.as_u64(), &here), (Some(6), &there));
    // Without its entry it is no set at all.
    fs::write(sandbox.data.join("mine/.imported"), "").unwrap();
    fs::remove_file(sandbox.data.join("mine/warploom.yaml")).unwrap();
    sandbox
        .stage("ingest", &Recipe::of("components", "mine"), &[])
        .expect(1)
        .says(&["`mine` was imported, and its entry", "data import mine --force"]);
}

/// `--force` replaces a set that was imported, `data rm` removes it; what no import made stays.
#[test]
fn an_imported_set_is_replaced_and_removed() {
    let room = Sandbox::stand_in();
    let (edges, bad) = (
        room.write("given/e.csv", "source,target\n1,2\n"),
        room.write("given/bad.csv", "source,target\n1,2\n3,x\n"),
    );
    let import = |file: &Path, further: &[&str]| {
        room.warploom(&[&["data", "import", "mine", "--edges", text(file)], further].concat())
    };
    let entry = || fs::read_to_string(room.data.join("mine/warploom.yaml")).unwrap();
    import(&edges, &[]).expect(0);
    assert!(entry().contains("symmetrize: false"));
    let own = entry().replace("Imported from", "Written for");
    // What cannot be read replaces nothing.
    import(&bad, &["--force"]).expect(1).says(&["bad.csv:3:3"]);
    import(&edges, &["--undirected"]).expect(1).says(&["an imported set called `mine`"]);
    import(&edges, &["--undirected", "--force"]).expect(0);
    assert!(entry().contains("symmetrize: true") && hidden(&room.data).is_empty());
    // What somebody else put beside its files is not taken with them.
    let notes = room.write("raw/mine/notes.txt", "mine");
    import(&edges, &["--force"]).expect(1).says(&["does not belong to it", "notes.txt"]);
    room.warploom(&["data", "rm", "mine"]).expect(1).says(&[
        "does not belong to it",
        "notes.txt",
        "hint: move it away",
    ]);
    fs::remove_file(notes).unwrap();
    room.warploom(&["data", "rm", "mine"]).expect(0).prints(&["removed ", "raw/mine\n"]);
    assert!(!room.data.join("mine").exists() && hidden(&room.data).is_empty());
    room.warploom(&["data", "rm", "mine"]).expect(1).says(&["no data set is called `mine`"]);
    // A folder that somebody made, with an entry or without, and raw files of the catalogue.
    room.write("raw/mine/edges.csv", "source,target\n1,2\n");
    let written = room.write("raw/mine/warploom.yaml", &own);
    import(&edges, &["--force"]).expect(1).says(&["a folder called `mine`", "no import wrote it"]);
    room.warploom(&["data", "rm", "mine", "--force"])
        .expect(1)
        .says(&["no import wrote", "hint: rm -r"]);
    fs::remove_file(written).unwrap();
    import(&edges, &["--force"]).expect(1).says(&["a folder called `mine`", "no import wrote it"]);
    room.warploom(&["data", "rm", "mine", "--force"])
        .expect(1)
        .says(&["no import wrote", "hint: rm -r"]);
    KARATE.iter().for_each(|file| drop(room.write(&format!("raw/karate/{file}"), "x")));
    room.write("raw/karate/notes.txt", "mine");
    room.warploom(&["data", "rm", "karate"])
        .expect(1)
        .says(&["`karate` is a set of the catalogue", "data rm karate --force"]);
    room.warploom(&["data", "rm", "karate", "--force"]).expect(0).prints(&["removed "]);
    assert!(
        room.data.join("karate/notes.txt").exists()
            && KARATE.iter().all(|file| !room.data.join("karate").join(file).exists())
    );
    room.warploom(&["data", "rm", "rmat-10-16"])
        .expect(1)
        .says(&["no file of `rmat-10-16` is here"]);
}

/// A set that an earlier version imported has its entry in the catalogue's folder: it is replaced
/// and removed with that.
#[test]
fn a_set_of_an_earlier_import_makes_way_with_its_entry() {
    let sandbox = sandbox_with_catalog();
    let edges = sandbox.write("given/e.csv", "source,target\n1,2\n");
    let import = |further: &[&str]| {
        sandbox.warploom(&[&["data", "import", "mine", "--edges", text(&edges)], further].concat())
    };
    let old = sandbox.catalog.as_ref().unwrap().join("mine.yaml");
    let moved = || fs::rename(sandbox.data.join("mine/warploom.yaml"), &old).unwrap();
    import(&["--undirected"]).expect(0);
    moved();
    let told = sandbox.stage("ingest", &Recipe::of("pagerank", "mine"), &[]).expect(0);
    told.says(&["the entry of `mine` is found from this folder only", "mine/warploom.yaml"]);
    import(&[]).expect(1).says(&["an imported set called `mine`"]);
    import(&["--force"]).expect(0);
    assert!(!old.exists() && sandbox.data.join("mine/warploom.yaml").exists());
    moved();
    sandbox.warploom(&["data", "rm", "mine"]).expect(0).prints(&["raw/mine", "catalog/mine.yaml"]);
    assert!(!old.exists() && !sandbox.data.join("mine").exists());
}

/// The name of a generator, and that of a set of the catalogue whose folder somebody brought.
#[test]
fn no_set_hides_another_of_its_name() {
    let sandbox = Sandbox::stand_in();
    let edges = sandbox.write("given/e.csv", "source,target\n1,2\n");
    for further in [&[][..], &["--force"]] {
        let said = sandbox
            .warploom(
                &[&["data", "import", "rmat-10-16", "--edges", text(&edges)], further].concat(),
            )
            .expect(2);
        said.says(&[
            "`rmat-10-16` is the name of a graph that is generated",
            "hint: choose another name",
            "warploom data generate rmat-10-16",
        ]);
    }
    assert!(!sandbox.data.join("rmat-10-16").exists());
    sandbox.warploom(&["data", "import", "random-walks", "--edges", text(&edges)]).expect(0);
    sandbox.warploom(&["data", "import", "mine", "--edges", text(&edges)]).expect(0);
    sandbox
        .warploom(&["data", "import", "citeseer", "--edges", text(&edges)])
        .expect(1)
        .says(&["an entry of the catalogue called `citeseer`"]);
    let moved = sandbox.data.join("citeseer");
    fs::rename(sandbox.data.join("mine"), &moved).unwrap();
    let entry = fs::read_to_string(moved.join("warploom.yaml")).unwrap();
    fs::write(moved.join("warploom.yaml"), entry.replace("name: \"mine\"", "name: \"citeseer\""))
        .unwrap();
    let told = sandbox.stage("ingest", &Recipe::of("components", "citeseer"), &[]).expect(0);
    told.says(&[&format!(
        "`citeseer`: its entry is  {} , not the catalogue's",
        moved.join("warploom.yaml").display()
    )]);
}

/// A pipe among the files of an export is named, and nobody waits for its writer.
#[test]
fn a_pipe_in_a_folder_is_not_imported() {
    let sandbox = Sandbox::stand_in();
    let edges = sandbox.write("given/edges.csv", "source,target\n1,2\n");
    let pipe = sandbox.path("given/nodes.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = sandbox
        .warploom(&["data", "import", "mine", "--from", text(edges.parent().unwrap())])
        .expect(1);
    said.says(&[
        "expected a file, found a pipe, a socket or a device",
        "given/nodes.csv",
        "hint: write what comes out of it to a file",
    ]);
}

#[test]
fn export_finds_by_kind_and_pipeline_and_names_candidates() {
    let sandbox = Sandbox::stand_in();
    let (one, other) = (Recipe::small(), Recipe::of("pagerank", "karate").set("ingest.seed=3"));
    sandbox.build(&one);
    sandbox.build(&other);
    let target = sandbox.path("out");
    let error = sandbox.warploom(&["export", "run", "-o", text(&target)]).expect(1);
    let runs = sandbox.view().of_kind("run");
    error.says(&[
        "2 artifacts are `run`",
        &runs[0].key,
        &runs[1].key,
        "gcn on karate, STAND-IN, ",
        "pagerank on karate, STAND-IN, ingest.seed=3, ",
        "--pipeline FILE",
    ]);
    sandbox
        .warploom(&["export", "zz", "-o", text(&target)])
        .expect(1)
        .says(&["no artifact has a key that starts with `zz`", "warploom store ls"]);
    assert!(!target.exists(), "an error made a folder");
    let line =
        sandbox.front("export", &one, &["run", "-o", text(&target)]).expect(0).lines().remove(0);
    assert_eq!(line["provenance"], "stand-in");
    let files: Vec<&str> =
        line["files"].as_array().unwrap().iter().filter_map(|file| file.as_str()).collect();
    assert_eq!(
        files,
        [
            "manifest.json",
            "metrics.parquet",
            "parameters.safetensors",
            "predictions.parquet",
            "record.json"
        ]
    );
    sandbox
        .warploom(&[
            "export",
            &format!("run/{}", &runs[0].key[..9]),
            "-o",
            text(&sandbox.path("other")),
            "--as",
            "csv",
        ])
        .expect(0);
}

/// The `python` blocks of a page: those before the first heading, then those of each section with
/// its name.
fn blocks(page: &str) -> (String, Vec<(String, String)>) {
    let of = |section: &str| -> String {
        section
            .split("```python\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let mut sections = page.split("\n## ");
    let head = of(sections.next().unwrap_or_default());
    (
        head,
        sections
            .map(|section| (section.lines().next().unwrap_or_default().to_owned(), of(section)))
            .collect(),
    )
}

/// Packages that a program imports, as far as they are not Python's own.
fn packages(program: &str) -> BTreeSet<String> {
    let named = program.lines().filter_map(|line| {
        line.strip_prefix("import ")
            .map(str::to_owned)
            .or_else(|| Some(line.strip_prefix("from ")?.split(' ').next()?.to_owned()))
    });
    let all: BTreeSet<String> = named
        .flat_map(|names| {
            names
                .split(", ")
                .map(|name| name.split('.').next().unwrap_or(name).to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    all.into_iter().filter(|name| !["json", "pathlib"].contains(&name.as_str())).collect()
}

/// The last lines of a program of ours: a marker, then the end without what its packages do at
/// exit. Threads that pyarrow or pandas leave behind can abort an interpreter that has printed
/// everything right ("terminate called without an active exception"), and that says nothing about
/// our files.
const LAST_LINES: &str =
    "import os, sys\nprint('all of it ran')\nsys.stdout.flush()\nsys.stderr.flush()\nos._exit(0)\n";

/// Runs a program to its last line; one that raises ends with 1, before the marker.
#[track_caller]
fn runs_to_its_end(python: &Path, program: &str, folder: &Path, what: &str) {
    let mut command = Command::new(python);
    command.args(["-c", &format!("{program}\n{LAST_LINES}")]).current_dir(folder);
    let output = start(command).wait();
    assert_eq!(
        (output.code, output.stdout.lines().last()),
        (Some(0), Some("all of it ran")),
        "{what}: {output}"
    );
}

#[test]
fn every_snippet_of_the_page_runs() {
    const TEST: &str = "interchange::every_snippet_of_the_page_runs";
    let python: PathBuf = match std::env::var_os("WARPLOOM_PYTHON") {
        Some(own) => own.into(),
        None => match python(TEST) {
            Some(python) => python,
            None => return,
        },
    };
    // Real data have sparse features; stand-ins of `karate` have dense ones.
    let mut rooms = vec![("karate", Sandbox::stand_in())];
    rooms.extend(shared_data().map(|data| ("cora", Sandbox::stand_in().with_data(data))));
    let page = fs::read_to_string(repository().join("docs/artifacts.md")).unwrap();
    let (head, sections) = blocks(&page);
    assert!(sections.len() >= 6 && head.contains("def inputs"));
    for (dataset, room) in rooms {
        let room = room.with_store("data/store");
        // What was made last is not what is newest: another set came after this one, which is then
        // a hit.
        let recipe = Recipe::of("gcn", dataset).set("run.epochs=3");
        room.build(&recipe);
        room.build(
            &Recipe::of("gcn", if dataset == "karate" { "cora" } else { "karate" })
                .set("run.epochs=2"),
        );
        let key = room.build(&recipe)[5]["key"].as_str().unwrap().to_owned();
        // The page's commands, for this set and with all that the run was asked for.
        let sets = format!("--set dataset={dataset} --set run.epochs=3");
        let file = recipe.file.to_str().unwrap().to_owned();
        for line in page.lines().filter_map(|line| line.strip_prefix("warploom ")) {
            let line =
                line.replace("--set dataset=cora", &sets).replace("pipelines/gcn.yaml", &file);
            room.warploom(&line.split(' ').collect::<Vec<_>>()).expect(0);
        }
        let checked = format!(
            "{head}\nassert manifest_of(run)['key'] == '{key}' and \
                manifest_of(graph)['key_document']['request']['dataset'] == '{dataset}'"
        );
        let mut command = Command::new(&python);
        command.args(["-c", &checked]).current_dir(room.path(""));
        start(command).wait().expect(0);
        for (name, program) in sections.iter().filter(|(_, program)| !program.is_empty()) {
            let needed = packages(&format!("{head}\n{program}"));
            let lacking = needed.iter().find(|package| {
                let looked = Command::new(&python)
                    .args([
                        "-c",
                        &format!(
                            "import importlib.util as u, sys; sys.exit(u.find_spec('{package}') is \
                             None)"
                        ),
                    ])
                    .status();
                !looked.is_ok_and(|status| status.success())
            });
            if let Some(package) = lacking {
                skipped(
                    TEST,
                    format!(
                        "section `{name}` of docs/artifacts.md: Python has no package `{package}`"
                    ),
                );
                continue;
            }
            runs_to_its_end(
                &python,
                &format!("{head}\n{program}"),
                &room.path(""),
                &format!("section `{name}` on {dataset}"),
            );
            println!("ran: section `{name}` on {dataset}");
        }
    }
}
