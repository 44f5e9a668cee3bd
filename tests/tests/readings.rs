//! Proves what a user is told, from outside, where files may be read in several ways, or hold more than is read.
use std::fs;

use warploom_tests::{Output, Recipe, Scene};

/// A scene with a folder of these files, which no entry describes.
fn folder(files: &[(&str, &str)]) -> Scene {
    let scene = Scene::stand_in();
    for (name, text) in files {
        scene.write(&format!("raw/mine/{name}"), text);
    }
    scene
}

/// Ingests the folder with further settings.
fn ingested(scene: &Scene, settings: &[&str]) -> Output {
    scene.stage("ingest", &settings.iter().fold(Recipe::of("pagerank", "mine"), |recipe, setting| recipe.set(setting)), &[])
}

/// Facts of the only graph in the store.
fn facts(scene: &Scene) -> serde_json::Value {
    let listed = scene.warploom(&["store", "ls", "--format", "json"]).expect(0).lines();
    let graph = listed.iter().find(|line| line["kind"] == "graph").unwrap();
    let text = fs::read_to_string(format!("{}/manifest.json", graph["path"].as_str().unwrap())).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["facts"].clone()
}

#[test]
fn weights_that_are_dropped_need_not_be_numbers() {
    for (name, text) in [("edges.txt", "0 1 nan\n1 2 0.5\n"), ("edges.csv", "source,target,weight\na,b,x\nb,c,1\n")] {
        let scene = folder(&[(name, text)]);
        ingested(&scene, &[]).expect(1).says(&["hint: ", "--set ingest.weights=drop"]);
        for setting in ["ingest.weights=drop", "ingest.weights=one"] {
            ingested(&scene, &[setting]).expect(0);
        }
    }
    // A relation is none of them.
    let scene = folder(&[("kg.txt", "a knows b\nb likes c\n")]);
    ingested(&scene, &["ingest.weights=drop"]).expect(0);
    assert_eq!(scene.warploom(&["store", "ls", "--format", "json"]).expect(0).lines()[0]["dataset"], "mine");
}

#[test]
fn a_folder_is_told_what_it_can_do() {
    let lines: String = (0..20).map(|node| format!("{node} {}\n", (node + 1) % 20)).collect();
    let scene = folder(&[("edges.txt", &format!("20 10\n{lines}"))]);
    let path = scene.path("raw/mine/edges.txt");
    let command = format!("warploom data import NEW --edges {} --read counts=true", path.display());
    ingested(&scene, &[]).expect(1).says(&["disagrees with the count in its first line", "this folder has no entry", &command]);
    // Doing as it says is enough.
    let path = path.to_string_lossy().into_owned();
    let mut scene = scene;
    scene.catalog = Some(scene.path("catalog"));
    let import = |more: &[&str]| scene.warploom(&[&["data", "import", "new", "--edges", &path][..], more].concat());
    import(&[]).expect(1).says(&["hint: was the file cut short", "--read counts=true"]);
    import(&["--read", "counts=true"]).expect(0).prints(&["20 nodes, 20 edges"]);
    scene.stage("ingest", &Recipe::of("pagerank", "new"), &[]).expect(0);
}

#[test]
fn what_was_read_otherwise_stands_on_screen_and_in_the_manifest() {
    let scene = folder(&[("edges.txt", "9 3\n0 1\n1 2\n")]);
    ingested(&scene, &[]).expect(0).says(&["the first line `9 3` is read as an edge", "data import NEW --edges"]);
    let scene = folder(&[("edges.txt", "0 1 16777217\n1 2 1\n"), ("features.csv", "x0\n1\n2\n3\n4\n5\n")]);
    ingested(&scene, &[]).expect(0).says(&["1 weights are whole numbers above 16777216", "`features.csv` has rows for 5 nodes and edges name 3: 2 nodes"]);
    assert_eq!(facts(&scene)["notes"].as_array().unwrap().len(), 2);
}

#[test]
fn files_of_a_folder_that_are_of_no_use_are_named() {
    let scene = folder(&[("edges.txt", "0 1\n1 2\n"), ("page.html", "<html>\n"), ("README.md", "about\n")]);
    std::os::unix::fs::symlink("/nowhere/edges.txt", scene.path("raw/mine/other.txt")).unwrap();
    let said = ingested(&scene, &[])
        .expect(0)
        .says(&["the file `page.html` (a web page)", "the file `other.txt` (a link to `/nowhere/edges.txt`, which is not there)"]);
    assert!(!said.stderr.contains("README"), "{said}");
    let scene = folder(&[("edges.parquet", "0 1\n1 2\n")]);
    ingested(&scene, &[]).expect(1).says(&["edges.parquet", "`PAR1`"]);
    let scene = folder(&[("graph.parquet", "0 1\n1 2\n")]);
    ingested(&scene, &[]).expect(1).says(&["graph.parquet: no .parquet file: expected it to begin with `PAR1`, found `0 1`"]);
}

#[test]
fn parts_that_cannot_be_had_are_told() {
    let nodes = "id,label\n0,a\n1,b\n2,a\n";
    let scene = folder(&[("edges.csv", "source,target\n0,1\n1,2\n"), ("nodes.csv", nodes)]);
    ingested(&scene, &["ingest.split={fractions: {train: 0.8, validation: 0.1, test: 0.1}}"]).expect(0).says(&["is empty: 3 nodes in all parts"]);
    assert!(!facts(&scene)["split_short"].as_array().unwrap().is_empty());
    let scene = folder(&[("edges.txt", "0 1\n1 2\n")]);
    ingested(&scene, &["ingest.split={folds: {count: 3}}"]).expect(0).says(&["there are no labels, so no node is in a part"]);
}

#[test]
fn an_import_of_nothing_says_where_to_look() {
    let scene = folder(&[("edges.txt", "0 1\n")]);
    let near = scene.path("raw/mine/edge.txt").to_string_lossy().into_owned();
    scene.warploom(&["data", "import", "new", "--edges", &near]).expect(1).says(&["no such file", "hint: name a file that is there: in", "is edges.txt"]);
    scene.warploom(&["data", "import", "new", "--edges", "/nope/x.csv"]).expect(1).says(&["hint: name a file that is there: there is no folder  /nope"]);
}
