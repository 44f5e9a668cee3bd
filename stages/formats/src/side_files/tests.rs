//! Arrays beside a graph: every role, order and fault.
use super::*;
use crate::raw_graph::{Edges, Features, Labels, NO_CLASS, NodeIds, TEST, TRAIN, VALIDATION};
use proptest::prelude::*;

fn fixtures(names: &[&str]) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/arrays/attach");
    names.iter().map(|name| folder.join(name)).collect()
}

/// Edges 1 -> 3, 3 -> 4 under these ids, in this order of rows.
fn graph(ids: NodeIds) -> RawGraph {
    RawGraph {
        ids,
        edges: Edges { source: vec![0, 1], target: vec![1, 2], ..Edges::default() },
        ..RawGraph::default()
    }
}

fn words(words: &[&str]) -> NodeIds {
    NodeIds::Strings(words.iter().map(|word| word.to_string()).collect())
}

fn attached(ids: NodeIds, names: &[&str]) -> Read<RawGraph> {
    let mut graph = graph(ids);
    attach(&mut graph, &fixtures(names)).map(|used| {
        assert_eq!(used.len(), names.len());
        graph.validate().unwrap();
        graph
    })
}

fn classes(graph: &RawGraph) -> &[u32] {
    match &graph.labels {
        Some(Labels::Classes { class, .. }) => class,
        other => panic!("expected classes, found {other:?}"),
    }
}

#[test]
fn rows_beyond_the_largest_id_are_nodes_of_that_number() {
    let graph = attached(
        NodeIds::Numbers(vec![1, 3, 4]),
        &["features.npy", "labels.npy", "train_mask.npy", "val_mask.npy", "test_mask.npy"],
    )
    .unwrap();
    assert_eq!(
        (graph.ids.clone(), &graph.edges.source[..], &graph.edges.target[..]),
        (NodeIds::Count(6), &[1, 3][..], &[3, 4][..])
    );
    assert_eq!(
        graph.features,
        Some(Features::Dense { columns: 2, values: (0..12).map(|value| value as f32).collect() })
    );
    assert_eq!(classes(&graph), [0, 1, NO_CLASS, 0, 1, 1]);
    assert_eq!(graph.splits, [[TRAIN, TRAIN, VALIDATION, VALIDATION, TEST, 0]]);
    let same = attached(NodeIds::Count(6), &["all.npz"]).unwrap();
    assert_eq!(
        (same.features, same.labels, same.splits),
        (graph.features, graph.labels, graph.splits)
    );
}

/// Nodes that only the rows beside the graph have are told; where the graph's file counts its nodes
/// they are an error.
#[test]
fn nodes_that_rows_add_are_told_or_refused() {
    let rows = ["features.npy", "labels.npy"];
    let graph = attached(NodeIds::Numbers(vec![1, 3, 4]), &rows).unwrap();
    assert_eq!(
        graph.notes,
        ["`labels.npy` has rows for 6 nodes and edges name 3: 3 nodes without an edge were added"]
    );
    assert_eq!(attached(NodeIds::Count(6), &rows).unwrap().notes, Vec::<String>::new());
    let named = attached(words(&["a", "b", "c"]), &["words/ids.npy", "words/x.npy"]).unwrap();
    assert_eq!(
        named.notes,
        ["`ids.npy` has rows for 4 nodes and edges name 3: 1 nodes without an edge were added"]
    );
    // What was passed over before does not stand in the way.
    let before = RawGraph {
        passed_over: vec!["column `x` of the edges".into()],
        ..self::graph(NodeIds::Count(5))
    };
    let mut more = before.clone();
    attach(&mut more, &fixtures(&rows)).unwrap();
    assert_eq!(
        (more.ids, more.passed_over, more.notes.len()),
        (NodeIds::Count(6), before.passed_over, 1)
    );
    let mut told = RawGraph { nodes_told: true, ..self::graph(NodeIds::Count(5)) };
    let error = attach(&mut told, &fixtures(&rows)).unwrap_err();
    assert!(
        error.what.contains("the graph's own file says how many nodes it has")
            && error.hint.contains("mend"),
        "{error}"
    );
    assert_eq!((error.expected.as_str(), error.found.as_str()), ("5 rows", "6"));
}

#[test]
fn ids_say_which_node_a_row_is() {
    let graph = attached(
        words(&["a", "b", "c"]),
        &[
            "words/ids.npy",
            "words/x.npy",
            "words/y.npy",
            "words/train_idx.npy",
            "words/test_idx.npy",
        ],
    )
    .unwrap();
    // Rows are c, a, d, b; d is in no edge.
    assert_eq!(
        (graph.ids.clone(), &graph.edges.target[..]),
        (words(&["a", "b", "c", "d"]), &[1, 2][..])
    );
    assert_eq!(
        graph.features,
        Some(Features::Dense { columns: 1, values: vec![20.0, 40.0, 10.0, 30.0] })
    );
    assert_eq!(
        graph.labels,
        Some(Labels::Classes { class: vec![1, 0, 0, 1], names: vec!["blue".into(), "red".into()] })
    );
    assert_eq!(graph.splits, [[TEST, 0, TRAIN, 0]]);
    let graph = attached(
        NodeIds::Numbers(vec![10, 20, 30]),
        &["numbers/ids.npy", "numbers/features.npz", "numbers/train_mask.npy"],
    )
    .unwrap();
    assert_eq!(graph.ids, NodeIds::Numbers(vec![5, 10, 20, 30]));
    assert_eq!((&graph.edges.source[..], &graph.edges.target[..]), (&[1, 2][..], &[2, 3][..]));
    // Rows are 30, 5, 10, 20.
    assert_eq!(
        graph.features,
        Some(Features::Sparse {
            columns: 3,
            offsets: vec![0, 1, 2, 2, 3],
            index: vec![1, 2, 0],
            values: vec![2.0, 3.0, 1.0]
        })
    );
    assert_eq!(graph.splits, [[0, TRAIN, 0, TRAIN], [TRAIN, 0, 0, 0]]);
}

#[test]
fn tensors_and_codes_are_read() {
    let graph = attached(NodeIds::Count(3), &["tensors.safetensors"]).unwrap();
    assert_eq!(
        graph.features,
        Some(Features::Dense { columns: 2, values: vec![1.0, -2.0, 0.5, 4.0, 0.0, 8.0] })
    );
    assert_eq!(
        (classes(&graph), &graph.splits[..]),
        (&[0, 1, 1][..], &[vec![TRAIN, TEST, VALIDATION]][..])
    );
    let half = attached(NodeIds::Count(3), &["x.safetensors"]).unwrap();
    assert_eq!(half.features, graph.features);
    let pickled =
        attached(NodeIds::Count(3), &["pickled/features.npy", "pickled/split.npy"]).unwrap();
    assert_eq!(
        pickled.features,
        Some(Features::Sparse {
            columns: 2,
            offsets: vec![0, 1, 1, 2],
            index: vec![1, 0],
            values: vec![3.0, 4.0]
        })
    );
    assert_eq!(pickled.splits, [[1, 2, 3], [3, 2, 1]]);
}

#[test]
fn what_does_not_fit_is_said() {
    let what = |ids: NodeIds, names: &[&str]| attached(ids, names).unwrap_err().to_string();
    let five = NodeIds::Numbers((0..5).map(|id| id * 10).collect());
    let found = what(five, &["features.npy"]);
    assert!(
        found.contains("there is not a row for each node\n")
            && found.contains("= expected 5 rows, found 6\nhint: add ids.npy"),
        "{found}"
    );
    assert!(what(words(&["a", "b", "c"]), &["features.npy"]).contains("expected 3 rows, found 6"));
    assert!(
        what(NodeIds::Count(3), &["features.npy", "pickled/split.npy"])
            .contains("expected 6, found 3")
    );
    assert!(
        what(NodeIds::Count(3), &["features.npy", "words/x.npy"])
            .contains("two files have the features of the nodes")
    );
    assert!(
        what(NodeIds::Count(6), &["train_mask.npy", "words/train_idx.npy"])
            .contains("the split is said in two ways")
    );
    assert!(
        what(words(&["a", "b", "zz"]), &["words/ids.npy", "words/x.npy"])
            .contains("not every node has a row")
    );
    assert!(
        what(NodeIds::Count(3), &["words/ids.npy", "words/x.npy"])
            .contains("expected whole numbers from 0, found text (U1)")
    );
    let mut full = graph(NodeIds::Count(6));
    full.labels = Some(Labels::Values(vec![0.0; 6]));
    let error = attach(&mut full, &fixtures(&["labels.npy"])).unwrap_err().to_string();
    assert!(error.contains("the graph has labels of its own"), "{error}");
    let mut full = graph(NodeIds::Count(3));
    full.labels = Some(Labels::Values(vec![0.0; 3]));
    let error = attach(&mut full, &fixtures(&["features.npy"])).unwrap_err().to_string();
    assert!(error.contains("it has rows for nodes that the graph does not have"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("features.safetensors");
    std::fs::write(&path, b"\xff\xff\xff\xff\xff\xff\xff\x7f{}").unwrap();
    assert!(
        attach(&mut graph(NodeIds::Count(3)), &[path])
            .unwrap_err()
            .to_string()
            .contains("this is no safetensors file")
    );
}

/// An array of f32 as numpy writes it.
fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    header += &" ".repeat((64 - (header.len() + 11) % 64) % 64);
    header.push('\n');
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()]
        .concat()
        .into_iter()
        .chain(bytes)
        .collect()
}

#[test]
fn features_that_are_no_numbers_are_named_with_row_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let whole = |values: &[i32], shape: &str| {
        npy(shape, &values.iter().map(|&value| value as f32).collect::<Vec<_>>())
    };
    let sparse = [
        ("data.npy", npy("(2,)", &[1.0, f32::INFINITY])),
        ("indices.npy", whole(&[0, 2], "(2,)")),
        ("indptr.npy", whole(&[0, 1, 1, 2], "(4,)")),
    ];
    let sparse = sparse
        .into_iter()
        .chain([("shape.npy", whole(&[3, 3], "(2,)")), ("format.npy", whole(&[0], "(1,)"))])
        .take(4);
    let sparse: Vec<(&str, Vec<u8>)> = sparse.collect();
    let members: Vec<(&str, &[u8])> =
        sparse.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
    let cases: [(&str, Vec<u8>, &str, &str); 3] = [
        (
            "features.npy",
            npy("(3, 2)", &[1.0, 2.0, 3.0, f32::NAN, 5.0, 6.0]),
            "row 1, column 1",
            "NaN",
        ),
        ("x.npy", npy("(3, 1)", &[1.0, 2.0, f32::NEG_INFINITY]), "row 2, column 0", "-inf"),
        (
            "features.npz",
            crate::containers::zip::tests::archive_of(&members),
            "row 2, column 2",
            "inf",
        ),
    ];
    for (name, bytes, place, found) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = attach(&mut graph(NodeIds::Count(3)), &[path]).unwrap_err().to_string();
        let said = [
            name,
            "a feature is not a finite number",
            place,
            &format!("found {found}"),
            "hint: features are finite numbers: write 0",
        ];
        said.iter()
            .for_each(|text| assert!(error.contains(text), "{name}: expected `{text}` in {error}"));
    }
}

#[test]
fn other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        ["edges.npy", "notes.txt", "README", "weights.npy"].map(|name| folder.path().join(name));
    files.iter().for_each(|path| std::fs::write(path, b"?").unwrap());
    let mut graph = graph(NodeIds::Count(3));
    let before = graph.clone();
    assert_eq!((attach(&mut graph, &files).unwrap(), graph), (vec![], before));
}

/// A graph with two kinds of nodes and two edges, and these files beside it.
fn attached_to_kinds(files: &[(&str, &str)]) -> Result<RawGraph, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut graph = graph(NodeIds::Count(3));
    graph.kinds = Some(crate::raw_graph::Kinds {
        of_node: vec![0, 1, 0],
        names: vec!["a".into(), "p".into()],
        features: vec![None, None],
    });
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    paths.iter().zip(files).for_each(|(path, (_, text))| std::fs::write(path, text).unwrap());
    assert!(paths.iter().all(|path| may_stand_beside(path)));
    let used = attach(&mut graph, &paths).map_err(|error| error.to_string())?;
    assert_eq!(used.len(), files.len());
    graph.validate().map(|()| graph)
}

#[test]
fn kinds_and_edges_have_features_of_their_own() {
    let names = ("names.json", "{\"kinds\": [\"p\", \"a\"]}");
    let edges = ("edge-features.csv", "x0,x1\n1,2\n3,4\n");
    let graph = attached_to_kinds(&[
        ("features-a.csv", "x0\n5\n6\n"),
        ("features-p.tsv", "row\tcolumn\tvalue\n0\t2\t7\n"),
        edges,
        names,
    ])
    .unwrap();
    let kinds = graph.kinds.unwrap();
    assert_eq!((kinds.names, kinds.of_node), (vec!["p".to_owned(), "a".into()], vec![1, 0, 1]));
    let sparse =
        Features::Sparse { columns: 3, offsets: vec![0, 1], index: vec![2], values: vec![7.0] };
    assert_eq!(
        kinds.features,
        [Some(sparse), Some(Features::Dense { columns: 1, values: vec![5.0, 6.0] })]
    );
    assert_eq!(
        graph.edges.features,
        Some(crate::raw_graph::EdgeFeatures { columns: 2, values: vec![1.0, 2.0, 3.0, 4.0] })
    );
    let nodes = attached_to_kinds(&[("features.csv", "row,column,value\n2,1,0.5\n0,0,1\n0,3,0\n")])
        .unwrap();
    assert_eq!(
        nodes.features,
        Some(Features::Sparse {
            columns: 4,
            offsets: vec![0, 1, 1, 2],
            index: vec![0, 1],
            values: vec![1.0, 0.5]
        })
    );
}

#[test]
fn features_of_a_part_that_do_not_fit_are_named() {
    let told = |name: &str, text: &str| attached_to_kinds(&[(name, text)]).unwrap_err();
    assert!(
        told("features-b.csv", "x0\n1\n")
            .contains("a kind of nodes that the graph does not have\n"),
        "{}",
        told("features-b.csv", "x0\n1\n")
    );
    assert!(told("features-a.csv", "x0\n1\n").contains("not a row for each node of the kind `a`"));
    assert!(
        told("features-a.csv", "row,column,value\n2,0,1\n")
            .contains("an entry is in a row that there is not")
    );
    assert!(told("edge-features.csv", "x0\n1\n2\n3\n").contains("expected 2 rows, found 3"));
    assert!(
        told("edge-features.csv", "row,column,value\n0,4000000000,1\n")
            .contains("kept with all their zeros")
    );
    assert!(told("features.csv", "age,x0\n1,1\n").contains("do not say that they are features"));
    assert!(told("features.csv", "x0\n1\nnan\n3\n").contains("features.csv:3:1"));
    assert!(told("names.json", "{\"classes\": 3}").contains("the file holds no names"));
    let twice =
        attached_to_kinds(&[("features-a.csv", "x0\n1\n2\n"), ("features-a.tsv", "x0\n1\n2\n")])
            .unwrap_err();
    assert!(twice.contains("two files have the features of the same part"), "{twice}");
}

proptest! {
    #[test]
    fn changed_files_are_read_or_refused(which in 0usize..6, at in 0usize..2000, to: u8, nodes in 0u32..7) {
        let name = ["features.npy", "labels.npy", "tensors.safetensors", "x.safetensors", "train_mask.npy", "pickled/features.npy"][which];
        let path = &fixtures(&[name])[0];
        let mut bytes = std::fs::read(path).unwrap();
        let at = at % bytes.len();
        bytes[at] = to;
        let folder = tempfile::tempdir().unwrap();
        let changed = folder.path().join(path.file_name().unwrap());
        std::fs::write(&changed, bytes).unwrap();
        let mut graph = RawGraph { ids: NodeIds::Count(nodes), ..RawGraph::default() };
        if attach(&mut graph, &[changed]).is_ok() {
            graph.validate().unwrap();
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(end in 0usize..6, bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), text in "(x0|x1|row,column,value|[0-9]{1,10}|,|-|\\.|\n){0,30}") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(["x.npy", "x.npz", "x.safetensors", "features.csv", "edge-features.parquet", "names.json"][end]);
        for contents in [&bytes[..], text.as_bytes()] {
            std::fs::write(&path, contents).unwrap();
            let mut graph = graph(NodeIds::Count(3));
            if attach(&mut graph, std::slice::from_ref(&path)).is_ok() {
                graph.validate().unwrap();
            }
        }
    }
}
