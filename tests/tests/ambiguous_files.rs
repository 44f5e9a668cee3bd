//! Proves what a user is told, from outside, where files may be read in several ways, or hold more
//! than is read.
use std::fs;

use warploom_test_support::process::Output;
use warploom_test_support::sandbox::{Recipe, Sandbox};

/// A sandbox with a folder of these files, which no entry describes.
fn folder(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::stand_in();
    for (name, text) in files {
        sandbox.write(&format!("raw/mine/{name}"), text);
    }
    sandbox
}

/// Ingests the folder with further settings.
fn ingested(sandbox: &Sandbox, settings: &[&str]) -> Output {
    sandbox.stage(
        "ingest",
        &settings
            .iter()
            .fold(Recipe::of("pagerank", "mine"), |recipe, setting| recipe.set(setting)),
        &[],
    )
}

/// Facts of the only graph in the store.
fn facts(sandbox: &Sandbox) -> serde_json::Value {
    let listed = sandbox.warploom(&["store", "ls", "--format", "json"]).expect(0).lines();
    let graph = listed.iter().find(|line| line["kind"] == "graph").unwrap();
    let text =
        fs::read_to_string(format!("{}/manifest.json", graph["path"].as_str().unwrap())).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["facts"].clone()
}

#[test]
fn weights_that_are_dropped_need_not_be_numbers() {
    for (name, text) in
        [("edges.txt", "0 1 nan\n1 2 0.5\n"), ("edges.csv", "source,target,weight\na,b,x\nb,c,1\n")]
    {
        let sandbox = folder(&[(name, text)]);
        ingested(&sandbox, &[]).expect(1).says(&["hint: ", "--set ingest.weights=drop"]);
        for setting in ["ingest.weights=drop", "ingest.weights=one"] {
            ingested(&sandbox, &[setting]).expect(0);
        }
    }
    // A relation is none of them.
    let sandbox = folder(&[("kg.txt", "a knows b\nb likes c\n")]);
    ingested(&sandbox, &["ingest.weights=drop"]).expect(0);
    assert_eq!(
        sandbox.warploom(&["store", "ls", "--format", "json"]).expect(0).lines()[0]["dataset"],
        "mine"
    );
}

#[test]
fn a_folder_is_told_what_it_can_do() {
    let lines: String = (0..20).map(|node| format!("{node} {}\n", (node + 1) % 20)).collect();
    let sandbox = folder(&[("edges.txt", &format!("20 10\n{lines}"))]);
    let path = sandbox.path("raw/mine/edges.txt");
    let command = format!("warploom data import NEW --edges {} --read counts=true", path.display());
    ingested(&sandbox, &[]).expect(1).says(&[
        "disagrees with the count in its first line",
        "this folder has no entry",
        &command,
    ]);
    // Doing as it says is enough.
    let path = path.to_string_lossy().into_owned();
    let mut sandbox = sandbox;
    sandbox.catalog = Some(sandbox.path("catalog"));
    let import = |more: &[&str]| {
        sandbox.warploom(&[&["data", "import", "new", "--edges", &path][..], more].concat())
    };
    import(&[]).expect(1).says(&["hint: was the file cut short", "--read counts=true"]);
    import(&["--read", "counts=true"]).expect(0).prints(&["20 nodes, 20 listed edges"]);
    sandbox.stage("ingest", &Recipe::of("pagerank", "new"), &[]).expect(0);
}

#[test]
fn what_was_read_otherwise_stands_on_screen_and_in_the_manifest() {
    let sandbox = folder(&[("edges.txt", "9 3\n0 1\n1 2\n")]);
    ingested(&sandbox, &[])
        .expect(0)
        .says(&["the first line `9 3` is read as an edge", "data import NEW --edges"]);
    let sandbox =
        folder(&[("edges.txt", "0 1 16777217\n1 2 1\n"), ("features.csv", "x0\n1\n2\n3\n4\n5\n")]);
    ingested(&sandbox, &[]).expect(0).says(&[
        "1 weights are whole numbers above 16777216",
        "`features.csv` has rows for 5 nodes and edges name 3: 2 nodes",
    ]);
    assert_eq!(facts(&sandbox)["notes"].as_array().unwrap().len(), 2);
}

#[test]
fn files_of_a_folder_that_are_of_no_use_are_named() {
    let sandbox =
        folder(&[("edges.txt", "0 1\n1 2\n"), ("page.html", "<html>\n"), ("README.md", "about\n")]);
    std::os::unix::fs::symlink("/nowhere/edges.txt", sandbox.path("raw/mine/other.txt")).unwrap();
    let said = ingested(&sandbox, &[]).expect(0).says(&[
        "the file `page.html` (a web page)",
        "the file `other.txt` (a link to `/nowhere/edges.txt`, which is not there)",
    ]);
    assert!(!said.stderr.contains("README"), "{said}");
    let sandbox = folder(&[("edges.parquet", "0 1\n1 2\n")]);
    ingested(&sandbox, &[]).expect(1).says(&["edges.parquet", "`PAR1`"]);
    let sandbox = folder(&[("graph.parquet", "0 1\n1 2\n")]);
    ingested(&sandbox, &[])
        .expect(1)
        .says(&["graph.parquet: no .parquet file: expected it to begin with `PAR1`, found `0 1`"]);
}

/// A header that says `symmetric` says that both entries are there: no setting takes one of them
/// away. Of other edges without a direction one way is told.
#[test]
fn half_of_a_symmetric_matrix_is_the_whole_matrix() {
    let matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n2 1\n3 2\n4 3\n4 4\n";
    for settings in
        [&["ingest.symmetrize=false"][..], &["ingest.symmetrize=auto"], &["ingest.symmetrize=true"]]
    {
        let sandbox = folder(&[("g.mtx", matrix)]);
        let output = ingested(&sandbox, settings).expect(0);
        assert!(!output.stderr.contains("one way"), "{output}");
        assert_eq!(
            sandbox.warploom(&["store", "ls", "--format", "json"]).expect(0).lines()[0]["counts"]["edges"],
            7,
            "{settings:?}"
        );
        // The same by way of the disk.
        let recipe = settings
            .iter()
            .fold(Recipe::of("pagerank", "mine"), |recipe, setting| recipe.set(setting));
        let small = sandbox.with_store("small");
        small.stage("ingest", &recipe, &["--memory", "64"]).expect(0);
        assert_eq!(small.view().digests(), sandbox.view().digests());
    }
    let sandbox =
        folder(&[("g.gml", "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]\n")]);
    ingested(&sandbox, &["ingest.symmetrize=false"])
        .expect(0)
        .says(&["lets each lead one way", "--set ingest.symmetrize=true"]);
    assert_eq!(facts(&sandbox)["notes"].as_array().unwrap().len(), 1);
    // Neighbour lists have both ways.
    let sandbox = folder(&[("g.graph", "2 1\n2\n1\n")]);
    assert!(!ingested(&sandbox, &["ingest.symmetrize=false"]).expect(0).stderr.contains("one way"));
}

/// What numpy writes with one line is a data set, beside nothing or beside features.
#[test]
fn a_folder_with_edges_as_an_array_is_a_data_set() {
    let array = |shape: &str, values: &[i64]| {
        let header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &values]
            .concat()
    };
    let sandbox = folder(&[]);
    fs::create_dir_all(sandbox.path("raw/mine")).unwrap();
    fs::write(sandbox.path("raw/mine/edges.npy"), array("2, 3", &[0, 1, 2, 1, 2, 0])).unwrap();
    ingested(&sandbox, &[]).expect(0);
    fs::write(sandbox.path("raw/mine/labels.npy"), array("4,", &[0, 1, 0, 1])).unwrap();
    ingested(&sandbox, &[]).expect(0).says(&["`labels.npy` has rows for 4 nodes and edges name 3"]);
    fs::write(sandbox.path("raw/mine/edges.npy"), array("2, 2", &[0, 1, 2, 1])).unwrap();
    ingested(&sandbox, &[]).expect(1).says(&[
        "which extent is the two ends",
        "hint: write them as  numpy.savez('edges.npz', source=..., target=...)",
    ]);
}

/// One file with all that PyG keeps of a graph, as a folder and imported.
#[test]
fn a_file_with_edges_features_and_labels_is_a_data_set() {
    let tensors = [
        ("edge_index", "2,3", [0i64, 1, 2, 1, 2, 0].as_slice()),
        ("num_nodes", "1", &[4]),
        ("y", "4", &[0, 1, 0, 1]),
    ];
    let (mut header, mut data) = (Vec::new(), Vec::new());
    for (name, shape, values) in tensors {
        let begin = data.len();
        values.iter().for_each(|value| data.extend_from_slice(&value.to_le_bytes()));
        header.push(format!(
            "\"{name}\":{{\"dtype\":\"I64\",\"shape\":[{shape}],\"data_offsets\":[{begin},{}]}}",
            data.len()
        ));
    }
    let header = format!("{{{}}}", header.join(","));
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    let mut sandbox = Sandbox::stand_in();
    let path = sandbox.write("raw/mine/data.safetensors", bytes).to_string_lossy().into_owned();
    ingested(&sandbox, &[]).expect(0);
    assert_eq!(facts(&sandbox)["task"], "node_classification");
    sandbox.catalog = Some(sandbox.path("catalog"));
    sandbox.warploom(&["data", "import", "new", "--edges", &path]).expect(0).prints(&[
        "4 nodes, 3 listed edges",
        "format `arrays`",
        "2 classes",
    ]);
}

#[test]
fn columns_of_edges_that_are_not_known_are_told_how_to_be_named() {
    let sandbox = folder(&[("edges.csv", "a,b,c\n0,1,x\n1,2,y\n")]);
    let command = format!(
        "warploom data import NEW --edges {} --read source=a --read target=b",
        sandbox.path("raw/mine/edges.csv").display()
    );
    ingested(&sandbox, &[]).expect(1).says(&["hint: ", &command]);
}

#[test]
fn a_store_that_is_a_file_is_told_so() {
    let sandbox = folder(&[("edges.txt", "0 1\n")]);
    let file = sandbox.write("a-file", "x");
    let said = format!("`{}` is a file: name a folder with  --store DIR", file.display());
    ingested(&sandbox.with_store("a-file"), &[])
        .expect(1)
        .says(&["expected a folder, found a file", &said]);
}

#[test]
fn a_limit_that_cannot_be_kept_is_told() {
    let lines: String =
        (0..40_000).map(|edge| format!("{} {}\n", edge % 200, edge / 200)).collect();
    let sandbox = folder(&[("edges.txt", &lines)]);
    let recipe = Recipe::of("pagerank", "mine");
    sandbox
        .stage("ingest", &recipe, &["--memory", "1MiB"])
        .expect(0)
        .says(&["--memory is less than ingest takes for itself: up to 48 MiB"]);
    let enough =
        sandbox.with_store("enough").stage("ingest", &recipe, &["--memory", "48MiB"]).expect(0);
    assert!(!enough.stderr.contains("--memory"), "{enough}");
}

/// An import says what an ingest says of the same file.
#[test]
fn weights_that_are_rounded_are_told_by_an_import_too() {
    let mut sandbox = folder(&[(
        "g.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 16777217\n",
    )]);
    let said = "1 weights are whole numbers above 16777216 that f32 does not hold, and were \
                rounded to 24 bits; the first is in line 3";
    ingested(&sandbox, &[]).expect(0).says(&[said]);
    sandbox.catalog = Some(sandbox.path("catalog"));
    let path = sandbox.path("raw/mine/g.mtx").to_string_lossy().into_owned();
    sandbox.warploom(&["data", "import", "new", "--edges", &path]).expect(0).prints(&[said]);
}

#[test]
fn parts_that_cannot_be_had_are_told() {
    let nodes = "id,label\n0,a\n1,b\n2,a\n";
    let sandbox = folder(&[("edges.csv", "source,target\n0,1\n1,2\n"), ("nodes.csv", nodes)]);
    ingested(&sandbox, &["ingest.split={fractions: {train: 0.8, validation: 0.1, test: 0.1}}"])
        .expect(0)
        .says(&["is empty: 3 nodes in all parts"]);
    assert!(!facts(&sandbox)["split_short"].as_array().unwrap().is_empty());
    let sandbox = folder(&[("edges.txt", "0 1\n1 2\n")]);
    ingested(&sandbox, &["ingest.split={folds: {count: 3}}"])
        .expect(0)
        .says(&["there are no labels, so no node is in a part"]);
}

#[test]
fn an_import_of_nothing_says_where_to_look() {
    let sandbox = folder(&[("edges.txt", "0 1\n")]);
    let near = sandbox.path("raw/mine/edge.txt").to_string_lossy().into_owned();
    sandbox.warploom(&["data", "import", "new", "--edges", &near]).expect(1).says(&[
        "no such file",
        "hint: name an existing file: in",
        "is edges.txt",
    ]);
    sandbox
        .warploom(&["data", "import", "new", "--edges", "/nope/x.csv"])
        .expect(1)
        .says(&["hint: name an existing file: there is no folder  /nope"]);
}
