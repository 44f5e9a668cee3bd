//! Proves the ways in and out: what `export` writes is read back by `data import` as the same graph, and every snippet of
//! `docs/artifacts.md` runs on a small store.
//!
//! Python is that of `tests/peers/setup.sh`, or the interpreter that `WARPLOOM_PYTHON` names; what it lacks is said as SKIPPED.
use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use warploom_tests::{Recipe, Scene, repository, shared_data, skipped, start};

use crate::peers::python;

/// Classes are called by their numbers: tables that are exported say numbers and names in two columns.
const NODES: &str = "id,label,split,kind_of,x0,x1\n7,0,train,p,0.5,1\n3,1,validation,q,0,1\n5,0,test,,2,1\n9,,none,q,0,0\n";
const EDGES: &str = "source,target,weight,type\n3,5,0.5,likes\n5,7,2,knows\n7,3,1,likes\n3,5,0.25,knows\n";

fn scene_with_catalog() -> Scene {
    let mut scene = Scene::stand_in();
    let catalog = scene.path("catalog");
    fs::create_dir_all(&catalog).unwrap();
    scene.catalog = Some(catalog);
    scene
}

fn text(path: &std::path::Path) -> &str {
    path.to_str().unwrap()
}

/// The input digest of the graph of a data set: the same for the same graph.
fn digest_of(scene: &Scene, name: &str) -> String {
    let store = scene.with_store(format!("store-{name}"));
    store.warploom(&["data", "show", name]).expect(0);
    store.view().of_kind("graph").remove(0).manifest["digest"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_exported_is_imported_as_the_same_graph() {
    let scene = scene_with_catalog();
    let (edges, nodes) = (scene.write("given/e.csv", EDGES), scene.write("given/n.csv", NODES));
    let said = scene.warploom(&["data", "import", "mine", "--edges", text(&edges), "--nodes", text(&nodes)]).expect(0);
    said.prints(&["4 nodes, 4 edges as listed", "warploom data show mine"]);
    let first = digest_of(&scene, "mine");
    let from = scene.with_store("store-mine");
    for form in ["csv", "parquet"] {
        let folder = scene.path(&format!("out-{form}"));
        from.warploom(&["export", "graph", "-o", text(&folder), "--as", form]).expect(0);
        let file = |name: &str| text(&folder.join(format!("{name}.{form}"))).to_owned();
        let mut arguments = vec!["data".to_owned(), "import".into(), format!("from-{form}"), "--edges".into(), file("edges"), "--nodes".into(), file("nodes")];
        from.warploom(&["export", "graph", "-o", text(&scene.path("arrays")), "--force", "--as", "npy"]).expect(0);
        arguments.extend(["--features".to_owned(), text(&scene.path("arrays/features.npy")).to_owned()]);
        scene.warploom(&arguments).expect(0);
        assert_eq!(digest_of(&scene, &format!("from-{form}")), first, "{form}");
    }
}

#[test]
fn arrays_become_a_data_set() {
    let scene = scene_with_catalog();
    let edges = scene.write("given/e.csv", EDGES);
    scene.warploom(&["data", "import", "mine", "--edges", text(&edges)]).expect(0);
    digest_of(&scene, "mine");
    let from = scene.with_store("store-mine");
    for form in ["npz", "safetensors"] {
        let folder = scene.path(&format!("out-{form}"));
        from.warploom(&["export", "graph", "-o", text(&folder), "--as", form]).expect(0);
        let file = folder.join(format!("edges.{form}"));
        let line = scene.warploom(&["data", "import", &format!("of-{form}"), "--edges", text(&file), "--format", "json"]).expect(0).lines().remove(0);
        assert_eq!((line["nodes"].as_u64(), line["listed"].as_u64(), line["format"].as_str()), (Some(3), Some(4), Some("tables")));
    }
    assert_eq!(digest_of(&scene, "of-npz"), digest_of(&scene, "of-safetensors"));
}

#[test]
fn an_import_that_fails_leaves_nothing() {
    let scene = scene_with_catalog();
    let bad = scene.write("given/bad.csv", "source,target\n1,2\n3,x\n");
    let before = (fs::read_dir(&scene.data).unwrap().count(), fs::read_dir(scene.catalog.as_ref().unwrap()).unwrap().count());
    let import = |name: &str, further: &[&str]| scene.warploom(&[&["data", "import", name, "--edges", text(&bad)], further].concat());
    import("mine", &[]).expect(1).says(&["bad.csv:3:3", "found `x`", "--read ids=string"]);
    import("karate", &[]).expect(1).says(&["an entry of the catalogue called `karate`"]);
    import("../mine", &[]).expect(2).says(&["cannot be the name"]);
    import("mine", &["--read", "sorce=a"]).expect(2).says(&["unknown field `sorce`"]);
    import("mine", &["--features", text(&bad)]).expect(1).says(&["features of nodes are not read from `.csv`"]);
    let after = (fs::read_dir(&scene.data).unwrap().count(), fs::read_dir(scene.catalog.as_ref().unwrap()).unwrap().count());
    assert_eq!(after, before, "a draft was left");
    import("mine", &["--read", "ids=string"]).expect(0).prints(&["4 nodes, 2 edges as listed"]);
    import("mine", &["--read", "ids=string"]).expect(1).says(&["called `mine` already", "hint:"]);
}

#[test]
fn export_finds_by_kind_and_pipeline_and_names_candidates() {
    let scene = Scene::stand_in();
    let (one, other) = (Recipe::small(), Recipe::of("pagerank", "karate").set("ingest.seed=3"));
    scene.build(&one);
    scene.build(&other);
    let target = scene.path("out");
    let error = scene.warploom(&["export", "run", "-o", text(&target)]).expect(1);
    let runs = scene.view().of_kind("run");
    error.says(&["2 artifacts are `run`", &runs[0].key, &runs[1].key, "--pipeline FILE"]);
    scene.warploom(&["export", "zz", "-o", text(&target)]).expect(1).says(&["no artifact has a key that starts with `zz`", "warploom store ls"]);
    assert!(!target.exists(), "an error made a folder");
    let line = scene.front("export", &one, &["run", "-o", text(&target)]).expect(0).lines().remove(0);
    assert_eq!(line["provenance"], "stand-in");
    let files: Vec<&str> = line["files"].as_array().unwrap().iter().filter_map(|file| file.as_str()).collect();
    assert_eq!(files, ["manifest.json", "metrics.parquet", "parameters.safetensors", "predictions.parquet", "record.json"]);
    scene.warploom(&["export", &format!("run/{}", &runs[0].key[..9]), "-o", text(&scene.path("other")), "--as", "csv"]).expect(0);
}

/// The `python` blocks of a page: those before the first heading, then those of each section with its name.
fn blocks(page: &str) -> (String, Vec<(String, String)>) {
    let of = |section: &str| -> String { section.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next()).collect::<Vec<_>>().join("\n") };
    let mut sections = page.split("\n## ");
    let head = of(sections.next().unwrap_or_default());
    (head, sections.map(|section| (section.lines().next().unwrap_or_default().to_owned(), of(section))).collect())
}

/// Packages that a program imports, as far as they are not Python's own.
fn packages(program: &str) -> BTreeSet<String> {
    let named = program
        .lines()
        .filter_map(|line| line.strip_prefix("import ").map(str::to_owned).or_else(|| Some(line.strip_prefix("from ")?.split(' ').next()?.to_owned())));
    let all: BTreeSet<String> =
        named.flat_map(|names| names.split(", ").map(|name| name.split('.').next().unwrap_or(name).to_owned()).collect::<Vec<_>>()).collect();
    all.into_iter().filter(|name| !["json", "pathlib"].contains(&name.as_str())).collect()
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
    let mut scenes = vec![("karate", Scene::stand_in())];
    scenes.extend(shared_data().map(|data| ("cora", Scene::stand_in().with_data(data))));
    let page = fs::read_to_string(repository().join("docs/artifacts.md")).unwrap();
    let (head, sections) = blocks(&page);
    assert!(sections.len() >= 6 && head.contains("def artifact"));
    for (dataset, scene) in scenes {
        let scene = scene.with_store("data/store");
        scene.build(&Recipe::of("gcn", dataset).set("run.epochs=3"));
        for line in page.lines().filter_map(|line| line.strip_prefix("warploom ")) {
            scene.warploom(&line.split(' ').collect::<Vec<_>>()).expect(0);
        }
        for (name, program) in sections.iter().filter(|(_, program)| !program.is_empty()) {
            let needed = packages(&format!("{head}\n{program}"));
            let lacking = needed.iter().find(|package| {
                let looked =
                    Command::new(&python).args(["-c", &format!("import importlib.util as u, sys; sys.exit(u.find_spec('{package}') is None)")]).status();
                !looked.is_ok_and(|status| status.success())
            });
            if let Some(package) = lacking {
                skipped(TEST, &format!("section `{name}` of docs/artifacts.md: Python has no package `{package}`"));
                continue;
            }
            let mut command = Command::new(&python);
            command.args(["-c", &format!("{head}\n{program}")]).current_dir(scene.path(""));
            let output = start(command).wait();
            assert_eq!(output.code, Some(0), "section `{name}` on {dataset}: {output}");
            println!("ran: section `{name}` on {dataset}");
        }
    }
}
