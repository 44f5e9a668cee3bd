//! Proves that the smallest and oddest graphs go through the whole front door: results are those of
//! a plain loop in f64, and every stage's output is proved. Files that hold no graph are errors
//! with a place.
use std::{collections::BTreeMap, fs};

use warploom_contract::parquet_file::read_table;
use warploom_test_support::graphs::degenerate_graphs;
use warploom_test_support::sandbox::{Recipe, Sandbox};

const FURTHER: &str = "symmetrize: false\nmade_up: {features: 3, classes: 2}\nsplit: {rule: \
    per_class, train: 1, validation: 1, test: 1}";

/// Lists of edges that are odd as text: name and contents.
const ODD_TEXTS: [(&str, &str); 6] = [
    ("pair", "0 1\n"),
    ("both_ways", "0 1\n1 0\n"),
    ("weights", "0 1 0.5\n1 2 2.0\n2 0 0.25\n"),
    ("weights_zero", "0 1 0\n1 2 0.0\n"),
    ("far_ids", "7 1000000007\n1000000007 18446744073709551615\n"),
    ("no_last_end", "# a remark\n0\t1\r\n1\t2"),
];

/// Name and edge list of each degenerate graph that has an edge, and of the odd texts.
fn graphs() -> Vec<(&'static str, String)> {
    let lists = degenerate_graphs().into_iter().filter(|graph| !graph.edges.is_empty());
    let lists = lists.map(|graph| (graph.name, graph.text()));
    lists.chain(ODD_TEXTS.map(|(name, text)| (name, text.to_owned()))).collect()
}

struct Edges {
    ids: Vec<u64>,
    pairs: Vec<(usize, usize)>,
}

/// What the list says, each pair once.
fn edges(text: &str) -> Edges {
    let listed = text.lines().filter(|line| !line.starts_with('#'));
    let pairs: Vec<(u64, u64)> = listed
        .map(|line| {
            let mut numbers = line.split_whitespace().map(|word| word.parse().unwrap_or(0));
            (numbers.next().unwrap(), numbers.next().unwrap())
        })
        .collect();
    let mut ids: Vec<u64> = pairs.iter().flat_map(|&(source, target)| [source, target]).collect();
    ids.sort_unstable();
    ids.dedup();
    let row: BTreeMap<u64, usize> = ids.iter().enumerate().map(|(row, &id)| (id, row)).collect();
    let mut pairs: Vec<(usize, usize)> =
        pairs.iter().map(|(source, target)| (row[source], row[target])).collect();
    pairs.sort_unstable();
    pairs.dedup();
    Edges { ids, pairs }
}

/// The program's text, executed by hand: until the summed change is at most the tolerance.
fn ranks(edges: &Edges) -> Vec<f64> {
    let nodes = edges.ids.len();
    let mut outdegree = vec![0.0; nodes];
    edges.pairs.iter().for_each(|&(source, _)| outdegree[source] += 1.0);
    let mut rank = vec![1.0 / nodes as f64; nodes];
    loop {
        let mut next = vec![0.15 / nodes as f64; nodes];
        edges
            .pairs
            .iter()
            .for_each(|&(source, target)| next[target] += 0.85 * rank[source] / outdegree[source]);
        let change: f64 = next.iter().zip(&rank).map(|(new, old)| (new - old).abs()).sum();
        rank = next;
        if change <= 1e-6 {
            return rank;
        }
    }
}

/// The smallest id that each node reaches either way.
fn labels(edges: &Edges) -> Vec<u64> {
    let mut label = edges.ids.clone();
    for _ in 0..edges.ids.len() {
        for &(source, target) in &edges.pairs {
            let least = label[source].min(label[target]);
            (label[source], label[target]) = (least, least);
        }
    }
    label
}

fn sandbox() -> Sandbox {
    let graphs = graphs();
    let lists: Vec<(&str, &str)> = graphs.iter().map(|(name, text)| (*name, &text[..])).collect();
    Sandbox::edge_lists(&lists, FURTHER)
}

/// The one run of a recipe, whose outputs are all proved.
fn values(
    sandbox: &Sandbox,
    recipe: &Recipe,
    column: &str,
) -> (Vec<u64>, warploom_contract::parquet_file::Table) {
    let lines = sandbox.build(recipe);
    sandbox.front("check", recipe, &[]).expect(0);
    let folder = std::path::PathBuf::from(lines[5]["artifacts"][0]["path"].as_str().unwrap());
    let table = read_table(&folder.join("values.parquet"), None).unwrap();
    assert!(table.column(column).is_some(), "no column `{column}` in {:?}", table.batch.schema());
    (table.numbers::<u64>("id").unwrap(), table)
}

#[test]
fn pagerank_is_that_of_a_plain_loop() {
    let sandbox = sandbox();
    for (name, text) in graphs() {
        let edges = edges(&text);
        for method in ["none", "degree"] {
            let recipe = Recipe::of("pagerank", name).set(&format!("reorder.method={method}"));
            let (ids, table) = values(&sandbox, &recipe, "rank");
            assert_eq!(ids, edges.ids, "{name}");
            let expected = ranks(&edges);
            for ((found, expected), id) in
                table.numbers::<f32>("rank").unwrap().iter().zip(&expected).zip(&ids)
            {
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-6,
                    "{name}, {method}: rank of {id}: expected {expected}, found {found}"
                );
            }
        }
    }
}

#[test]
fn components_are_those_of_a_plain_loop() {
    let sandbox = sandbox();
    for (name, text) in graphs() {
        let edges = edges(&text);
        for method in ["none", "degree"] {
            let (ids, table) = values(
                &sandbox,
                &Recipe::of("components", name).set(&format!("reorder.method={method}")),
                "label",
            );
            assert_eq!(
                (ids, table.numbers::<u64>("label").unwrap()),
                (edges.ids.clone(), labels(&edges)),
                "{name}, {method}"
            );
        }
    }
}

#[test]
fn training_takes_every_graph() {
    let sandbox = sandbox();
    for (name, text) in graphs() {
        for pipeline in ["gcn", "sage"] {
            let recipe = Recipe::of(pipeline, name).set("run.epochs=3");
            let lines = sandbox.build(&recipe);
            sandbox.front("check", &recipe, &[]).expect(0);
            let folder =
                std::path::PathBuf::from(lines[5]["artifacts"][0]["path"].as_str().unwrap());
            let table = read_table(&folder.join("predictions.parquet"), None).unwrap();
            assert_eq!(
                table.numbers::<u64>("id").unwrap(),
                edges(&text).ids,
                "{pipeline} on {name}"
            );
            assert!(
                table.numbers::<u32>("class").unwrap().iter().all(|class| *class < 2),
                "{pipeline} on {name}"
            );
        }
    }
}

/// Ids, edges by row, and weights.
type Ingested = (Vec<u64>, Vec<(u32, u32)>, Option<Vec<f32>>);

/// Ids, pairs and weights of the graph that these settings make of a list.
fn ingested(sandbox: &Sandbox, name: &str, sets: &[&str]) -> Ingested {
    let recipe = Recipe::of("gcn", name)
        .set("ingest.duplicates=keep")
        .set("ingest.self_loops=keep")
        .set("ingest.symmetrize=false");
    let recipe = sets.iter().fold(recipe, |recipe, set| recipe.set(&format!("ingest.{set}")));
    let line = sandbox.stage("ingest", &recipe, &[]).expect(0).lines().remove(0);
    let folder = std::path::PathBuf::from(line["artifacts"][0]["path"].as_str().unwrap());
    let table = read_table(&folder.join("edges.parquet"), None).unwrap();
    let pairs = table
        .numbers::<u32>("source")
        .unwrap()
        .into_iter()
        .zip(table.numbers::<u32>("target").unwrap())
        .collect();
    (
        read_table(&folder.join("nodes.parquet"), None).unwrap().numbers("id").unwrap(),
        pairs,
        table.numbers::<f32>("weight").ok(),
    )
}

#[test]
fn every_setting_does_what_it_says() {
    let sandbox = Sandbox::edge_lists(
        &[
            ("weights", "0 1 0.5\n1 2 2.0\n2 0 0.25\n"),
            ("parallel", "0 1\n0 1\n0 1\n1 2\n2 2\n2 2\n"),
            ("repeats", "7 9 2\n7 9 0.5\n9 30 1\n7 9 1\n"),
        ],
        FURTHER,
    );
    let edges = |name: &str, sets: &[&str]| {
        let (_, pairs, weights) = ingested(&sandbox, name, sets);
        (pairs, weights)
    };
    let ring = vec![(0, 1), (1, 2), (2, 0)];
    assert_eq!(edges("weights", &[]), (ring.clone(), Some(vec![0.5, 2.0, 0.25])));
    assert_eq!(edges("weights", &["weights=one"]), (ring.clone(), Some(vec![1.0; 3])));
    assert_eq!(edges("weights", &["weights=drop"]), (ring, None));
    let both = vec![(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
    assert_eq!(
        edges("weights", &["symmetrize=true"]),
        (both, Some(vec![0.5, 0.25, 0.5, 2.0, 0.25, 2.0]))
    );
    let once = vec![(0, 1), (1, 2), (2, 2)];
    assert_eq!(
        edges("parallel", &[]),
        (vec![(0, 1), (0, 1), (0, 1), (1, 2), (2, 2), (2, 2)], None)
    );
    assert_eq!(edges("parallel", &["duplicates=merge"]), (once.clone(), None));
    assert_eq!(edges("parallel", &["duplicates=sum"]), (once, Some(vec![3.0, 1.0, 2.0])));
    assert_eq!(
        edges("parallel", &["self_loops=drop"]),
        (vec![(0, 1), (0, 1), (0, 1), (1, 2)], None)
    );
    assert_eq!(
        edges("parallel", &["self_loops=add"]),
        (vec![(0, 0), (0, 1), (0, 1), (0, 1), (1, 1), (1, 2), (2, 2), (2, 2)], None)
    );
    assert_eq!(
        edges("parallel", &["self_loops=replace"]),
        (vec![(0, 0), (0, 1), (0, 1), (0, 1), (1, 1), (1, 2), (2, 2)], None)
    );
    for (duplicates, weight) in
        [("merge", 3.5), ("sum", 3.5), ("min", 0.5), ("max", 2.0), ("first", 2.0)]
    {
        assert_eq!(
            edges("repeats", &[format!("duplicates={duplicates}").as_str()]),
            (vec![(0, 1), (1, 2)], Some(vec![weight, 1.0])),
            "{duplicates}"
        );
    }
    assert_eq!(ingested(&sandbox, "repeats", &[]).0, [7, 9, 30]);
    assert_eq!(ingested(&sandbox, "repeats", &["relabel=true"]).0, [0, 1, 2]);
}

#[test]
fn a_file_without_a_graph_is_an_error() {
    let empty = [("empty", ""), ("remarks", "# nothing\n% at all\n\n"), ("blank", "\n\n\n")];
    let sandbox = Sandbox::edge_lists(&empty, FURTHER);
    for (name, _) in empty {
        let output = sandbox
            .front("pipeline", &Recipe::of("pagerank", name), &[])
            .expect(1)
            .says(&["error:", "edges.txt"]);
        assert_eq!(output.lines()[0]["error"]["kind"], "data", "{output}");
        assert!(sandbox.view().artifacts().is_empty());
    }
}

#[test]
fn a_line_that_is_no_edge_is_shown_with_a_caret() {
    let bad: [(&str, &str, &str); 5] = [
        ("word", "0 1\n1 x\n", "edges.txt:2:3"),
        ("one_column", "0 1\n1\n", "edges.txt:2:"),
        ("negative", "0 1\n-1 2\n", "edges.txt:2:1"),
        ("weights_missing", "0 1 0.5\n1 2\n", "edges.txt:2:"),
        ("too_large", "0 18446744073709551616\n", "edges.txt:1:3"),
    ];
    for (name, text, place) in bad {
        let sandbox = Sandbox::edge_lists(&[(name, text)], FURTHER);
        let output = sandbox
            .front("pipeline", &Recipe::of("pagerank", name), &[])
            .expect(1)
            .says(&["error:", place, "^"]);
        assert_eq!(output.lines()[0]["error"]["kind"], "data", "{output}");
    }
    // The first edge decides: words are read by themselves, and a word among numbers is shown with
    // the way out.
    let sandbox = Sandbox::edge_lists(
        &[("words", "anna ben\nben clara\n"), ("late", "0 1\n1 ben\n")],
        FURTHER,
    );
    sandbox.build(&Recipe::of("components", "words"));
    sandbox
        .front("pipeline", &Recipe::of("pagerank", "late"), &[])
        .expect(1)
        .says(&["hint:", "--set ingest.ids=string"]);
    sandbox.build(&Recipe::of("components", "late").set("ingest.ids=string"));
}

/// A gzip file of one stored block, without its last bytes.
fn cut_gzip(text: &str) -> Vec<u8> {
    let length = text.len() as u16;
    let block = [
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1][..],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        text.as_bytes(),
    ]
    .concat();
    block[..block.len() - 3].to_vec()
}

/// A zip archive of one stored member without contents.
fn zip_of_nothing(name: &str) -> Vec<u8> {
    let about = [
        &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &[0; 12],
        &(name.len() as u16).to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    let local = [&b"PK\x03\x04"[..], &about, name.as_bytes()].concat();
    let entry = [&b"PK\x01\x02\x14\x03"[..], &about, &[0; 14], name.as_bytes()].concat();
    let end = [
        &b"PK\x05\x06"[..],
        &[0; 4],
        &[1, 0, 1, 0],
        &(entry.len() as u32).to_le_bytes(),
        &(local.len() as u32).to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    [local, entry, end].concat()
}

/// Parts of a case, as they are named where it is taken apart.
type Case<'a> = (&'a str, &'a str, &'a str, Vec<u8>, &'a [&'a str]);

/// What each mistake says, what to do about it, and that the store stays as empty as it was.
#[test]
fn bad_input_publishes_nothing() {
    let pickle: &[u8] = b"cos\nsystem\n(S'true'\ntR.";
    let cases: [Case; 13] = [
        (
            "gzip",
            "edge_list",
            "edges.txt.gz",
            cut_gzip("0 1\n1 2\n"),
            &["edges.txt.gz", "gzip file is cut short"],
        ),
        (
            "nan",
            "edge_list",
            "edges.txt",
            b"0 1 0.5\n1 2 nan\n".to_vec(),
            &["edges.txt:2:5", "not finite", "hint:"],
        ),
        (
            "infinite",
            "edge_list",
            "edges.txt",
            b"0 1 0.5\n1 2 inf\n".to_vec(),
            &["edges.txt:2:5", "not finite", "hint:"],
        ),
        (
            "range",
            "matrix_market",
            "a.mtx",
            b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n".to_vec(),
            &["a.mtx:3:3", "out of range"],
        ),
        (
            "negative",
            "edge_list",
            "edges.txt",
            b"0 1\n-1 2\n".to_vec(),
            &["edges.txt:2:1", "negative id", "hint:"],
        ),
        (
            "fewer",
            "dimacs",
            "a.gr",
            b"p sp 2 2\na 1 2 3\n".to_vec(),
            &["a.gr:1:8", "fewer arcs", "expected"],
        ),
        (
            "more",
            "matrix_market",
            "a.mtx",
            b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n2 1\n".to_vec(),
            &["a.mtx:4:1", "more entries"],
        ),
        (
            "header",
            "metis",
            "a.graph",
            b"3 2\n2\n1\n\n".to_vec(),
            &["a.graph:1:3", "as many edges as the header says", "hint:"],
        ),
        (
            "complex",
            "matrix_market",
            "a.mtx",
            b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n".to_vec(),
            &["a.mtx:1:34", "complex", "hint:"],
        ),
        ("empty", "metis", "a.graph", Vec::new(), &["a.graph", "no header"]),
        ("import", "planetoid", "ind.a.y", pickle.to_vec(), &["ind.a.y", "os.system"]),
        (
            "leading_out",
            "edge_list",
            "edges.txt",
            zip_of_nothing("../edges.txt"),
            &["edges.txt", "leads out of the archive", "hint:"],
        ),
        (
            "utf16",
            "edge_list",
            "edges.txt",
            b"\xff\xfe0\0 \x001\0\n\0".to_vec(),
            &["edges.txt", "UTF-16", "iconv"],
        ),
    ];
    let mut sandbox = Sandbox::stand_in();
    let data = sandbox.data.clone();
    for (name, format, file, bytes, says) in cases {
        // The other files of a Planetoid set are there, and never come to be read.
        let parts: Vec<String> = ["x", "tx", "allx", "ty", "ally", "graph", "test.index"]
            .map(|part| format!("ind.a.{part}"))
            .to_vec();
        let rest = if format == "planetoid" { parts } else { Vec::new() };
        fs::create_dir_all(data.join(name)).unwrap();
        fs::write(data.join(name).join(file), bytes).unwrap();
        rest.iter().for_each(|part| fs::write(data.join(name).join(part), b"N.").unwrap());
        let files: String = rest
            .iter()
            .map(String::as_str)
            .chain([file.trim_end_matches(".gz")])
            .map(|file| format!("{{file: {file}, url: null}}, "))
            .collect();
        let entry = format!(
            "name: {name}\nabout: made for a test\nfiles: [{files}]\nformat: {format}\nlicence: \
                none\ndirected: true\nsymmetrize: false\ntask: none\nsplit: {{rule: none}}\n"
        );
        sandbox.add_entry(name, &entry);
        let said = sandbox
            .front("pipeline", &Recipe::of("pagerank", name), &[])
            .expect(1)
            .says(&["error:"])
            .says(says);
        assert_eq!(said.lines()[0]["error"]["kind"], "data", "{name}: {said}");
        assert!(
            sandbox.view().artifacts().is_empty() && sandbox.view().leftovers().is_empty(),
            "{name}"
        );
    }
    // A folder under the name of a file, with and without an entry.
    sandbox.add_edge_list("nested", "", FURTHER);
    fs::remove_file(data.join("nested/edges.txt")).unwrap();
    fs::create_dir(data.join("nested/edges.txt")).unwrap();
    fs::create_dir_all(data.join("bare/edges.txt")).unwrap();
    for (name, says) in [
        ("nested", "the file `edges.txt` of `nested` is a folder: expected a file"),
        ("bare", "edges.txt: a folder without files in it"),
    ] {
        let said = sandbox
            .front("pipeline", &Recipe::of("pagerank", name), &[])
            .expect(1)
            .says(&[says, "hint: put the file itself"]);
        assert_eq!(said.lines()[0]["error"]["kind"], "input", "{name}: {said}");
    }
    assert!(sandbox.view().artifacts().is_empty());
}

/// A folder without an entry names each of its files, and what keeps it from being one.
#[test]
fn a_folder_of_bad_files_names_each() {
    let sandbox = Sandbox::stand_in();
    let bad: [(&str, Vec<u8>); 4] = [
        ("a.txt", Vec::new()),
        ("b.zip", zip_of_nothing("../x")),
        ("c.npz", zip_of_nothing("src_li.npy")[..30].to_vec()),
        ("d.txt", b"\xff\xfe0\0 \x001\0\n\0".to_vec()),
    ];
    bad.iter().for_each(|(name, bytes)| drop(sandbox.write(&format!("raw/bad/{name}"), bytes)));
    let output = sandbox.front("pipeline", &Recipe::of("pagerank", "bad"), &[]).expect(1);
    let output = output.says(&[
        "no format was recognised",
        "a.txt: empty",
        "b.zip: the member `../x` of the zip archive leads out of the archive",
        "c.npz: the zip archive is cut short",
    ]);
    output.says(&["d.txt: text in UTF-16", "hint:"]);
    assert!(sandbox.view().artifacts().is_empty());
}

#[test]
fn counts_that_are_not_those_of_the_catalogue_are_an_error() {
    let further = format!("{FURTHER}\nexpected: {{nodes: 2, listed: 2}}");
    let sandbox = Sandbox::edge_lists(&[("few", "0 1\n")], &further);
    let output = sandbox.front("pipeline", &Recipe::of("pagerank", "few"), &[]).expect(1);
    output.says(&[
        "`few` is not the data set of the catalogue: expected 2 listed edges, found 1",
        "hint:",
    ]);
    assert!(sandbox.view().artifacts().is_empty());
}
