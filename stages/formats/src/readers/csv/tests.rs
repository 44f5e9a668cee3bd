//! Tables: the small graph, every column, every fault.
use super::*;
use crate::{
    raw_graph::{Column, Features, Labels, NO_CLASS, NodeIds, RawGraph, TEST, TRAIN, VALIDATION},
    read_error::Place,
    test_support::changed,
};
use proptest::prelude::*;
use std::fs;

/// With edges in memory, and in a file.
fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    crate::test_support::both_ways(|limit| read_within(files, options, limit))
}

fn read_texts(edges: &str, nodes: &str, options: &Options) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join("nodes.csv"), folder.path().join("edges.csv")];
    fs::write(&paths[0], nodes).unwrap();
    fs::write(&paths[1], edges).unwrap();
    let graph = read(&paths, options)?;
    graph.validate().unwrap();
    Ok(graph)
}

const EDGES: &str = "source,target\n1,2\n2,3\n";

#[test]
fn the_small_graph_with_every_column() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/csv");
    let files = [folder.join("edges.csv"), folder.join("nodes.csv")];
    let (format, found) = crate::detect::detect(&folder, &files).unwrap();
    assert_eq!((format.name, &found[..]), ("csv", &files[..]));
    let graph = read(&found, &Options::default()).unwrap();
    graph.validate().unwrap();
    assert_eq!(graph.ids, NodeIds::Numbers(vec![1, 2, 3, 5, 8]));
    assert_eq!(
        (&graph.edges.source, &graph.edges.target),
        (&vec![0, 1, 1, 1, 3, 4], &vec![1, 0, 2, 2, 3, 0])
    );
    assert_eq!(graph.edges.weight, Some(vec![0.5, 0.5, 1.0, 2.0, 3.0, -1.5]));
    assert_eq!(
        (graph.relations, graph.edges.relation),
        (vec!["even".into(), "odd".into()], Some(vec![1, 1, 1, 1, 0, 1]))
    );
    assert_eq!(graph.passed_over, ["column `note` of the edges"]);
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![0, 1, 0, NO_CLASS, 1],
            names: vec!["even".into(), "odd".into()]
        })
    );
    assert_eq!(graph.splits, [[TRAIN, TRAIN, VALIDATION, 0, TEST]]);
    assert_eq!(
        graph.features,
        Some(Features::Dense {
            columns: 2,
            values: vec![0.5, 1.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0]
        })
    );
    let names =
        ["Ann", "Bob", "Dee", "Eve", "Cid \"C\" Lee"].map(|name| Some(name.to_owned())).to_vec();
    let ages = vec![Some(30), Some(31), None, Some(7), None];
    assert_eq!(
        graph.columns,
        [("name".to_owned(), Column::Texts(names)), ("age".to_owned(), Column::Integers(ages))]
    );
    assert!(read(&files[..1], &Options::default()).unwrap().labels.is_none());
}

/// One id with zeros before it makes words of all; numbers in the table of nodes leave none in that
/// of edges.
#[test]
fn ids_with_zeros_before_them_are_words_in_both_tables() {
    let read = |edges: &str, nodes: &str| {
        read_texts(&format!("source,target\n{edges}"), &format!("id\n{nodes}"), &Options::default())
    };
    let words = NodeIds::Strings(["0", "007", "7"].map(String::from).to_vec());
    for nodes in ["007\n7\n0\n", "0\n7\n007\n"] {
        let graph = read("7,007\n0,7\n", nodes).unwrap();
        assert_eq!(
            (&graph.ids, &graph.edges.source, &graph.edges.target),
            (&words, &vec![2, 0], &vec![1, 2])
        );
    }
    let error = read("0,7\n007,0\n", "0\n7\n").unwrap_err();
    assert!(
        error.what.contains("an id with zeros before it")
            && error.place == Place::Line { line: 3, column: 1 },
        "{error}"
    );
    let options = Options { ids: crate::options::Ids::Number, ..Options::default() };
    assert_eq!(
        read_texts("source,target\n0,7\n007,0\n", "id\n0\n7\n", &options).unwrap().nodes(),
        2
    );
    assert!(
        read_texts("source,target\n0,7\n", "id\n7\n007\n0\n", &options)
            .unwrap_err()
            .what
            .contains("two nodes have one id")
    );
    // Graphs are named alike.
    let graphs = read_texts(EDGES, "id,graph\n1,07\n2,07\n3,07\n", &Options::default())
        .unwrap()
        .graphs
        .unwrap();
    assert_eq!(graphs.ids, NodeIds::Strings(vec!["07".into()]));
}

/// Where numbers stand in the first table, a later one has zeros only if it is told that ids are
/// numbers, and the hint says so.
#[test]
fn zeros_before_ids_of_a_second_table_are_read_as_numbers_where_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let read = |graphs: &str, options: &Options| {
        let tables = [
            ("edges.csv", EDGES),
            ("nodes.csv", "id,graph\n1,1\n2,1\n3,1\n4,2\n5,3\n"),
            ("graphs.csv", graphs),
        ];
        let paths = tables.map(|(name, text)| (folder.path().join(name), text));
        paths.iter().for_each(|(path, text)| fs::write(path, text).unwrap());
        read(&paths.map(|(path, _)| path), options)
    };
    let (numbers, words) = (
        Options { ids: crate::options::Ids::Number, ..Options::default() },
        Options { ids: crate::options::Ids::String, ..Options::default() },
    );
    let graph = read("id,label\n02,a\n01,b\n3,b\n", &numbers).unwrap();
    let expected =
        Some(Labels::Classes { class: vec![1, 0, 1], names: vec!["a".into(), "b".into()] });
    assert_eq!(graph.graphs.unwrap().labels, expected);
    for options in [&Options::default(), &words] {
        let error = read("id,label\n01,b\n02,a\n3,b\n", options).unwrap_err();
        assert!(
            error.what.contains("zeros before it")
                && error.place == Place::Line { line: 2, column: 1 },
            "{error}"
        );
        assert!(error.hint.contains("--set ingest.ids=number"), "{error}");
    }
    let late =
        read_texts("source,target\n0,7\n007,0\n", "id\n0\n7\n", &Options::default()).unwrap_err();
    assert!(
        late.expected.ends_with("as those of the table of nodes are")
            && !late.hint.contains("ingest.ids=string"),
        "{late}"
    );
    let one =
        read_texts(EDGES, "id,graph\n1,01\n2,1\n3,1\n4,02\n", &numbers).unwrap().graphs.unwrap();
    assert_eq!((one.of_node, one.ids), (vec![0, 0, 0, 1], NodeIds::Numbers(vec![1, 2])));
}

/// What is told of graphs and of nodes alike says of which it is.
#[test]
fn labels_and_splits_of_nodes_and_of_graphs_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let tables = [
        ("edges.csv", EDGES),
        (
            "nodes.csv",
            "id,graph,label,split\n1,1,a,train\n2,1,b,test\n3,1,a,\n4,2,b,train\n5,3,b,\n",
        ),
        ("graphs.csv", "id,label,split\n1,u,train\n2,v,test\n3,u,\n"),
    ];
    let paths = tables.map(|(name, text)| (folder.path().join(name), text));
    paths.iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    let graph = read(&paths.map(|(path, _)| path), &Options::default()).unwrap();
    let expected = [
        ("labels", "2 classes (of graphs)"),
        ("split", "1 train, 0 validation, 1 test (of graphs)"),
        ("labels", "2 classes (of nodes): label"),
        ("split", "2 train, 0 validation, 1 test (of nodes): split"),
    ];
    assert_eq!(
        crate::column_report::report(&graph, 0),
        expected.map(|(name, text)| (name, text.to_owned()))
    );
}

#[test]
fn an_end_that_is_no_node_is_shown_where_it_stands() {
    for (edges, nodes, expected) in [
        ("source,target\n1,2\n2,7\n", "id\n1\n2\n", "of which there are 2"),
        ("source,target\n1,0\n1,7\n", "id\n0\n1\n", "0 to 1"),
    ] {
        let error = read_texts(edges, nodes, &Options::default()).unwrap_err();
        assert_eq!(
            (error.place, error.found.as_str()),
            (Place::Line { line: 3, column: 3 }, "`7`"),
            "{error}"
        );
        assert!(
            error.expected.starts_with("an id of the table of nodes")
                && error.expected.ends_with(expected),
            "{error}"
        );
    }
}

#[test]
fn nodes_without_edges_words_kinds_graphs_and_numbers_as_labels() {
    let graph = read_texts(
        "from;to\nb;a\n",
        "id\tkind\ty\nc\tuser\t1\nb\tuser\t0.5\na\titem\t\n",
        &Options::default(),
    )
    .unwrap();
    assert_eq!(graph.ids, NodeIds::Strings(["a", "b", "c"].map(String::from).to_vec()));
    let kinds = graph.kinds.unwrap();
    assert_eq!((kinds.of_node, kinds.names), (vec![0, 1, 1], vec!["item".into(), "user".into()]));
    let Some(Labels::Values(values)) = graph.labels else { panic!("expected numbers") };
    assert!(values[0].is_nan() && values[1..] == [0.5, 1.0]);
    let graph = read_texts(EDGES, "id,graph\n1,10\n2,10\n3,10\n4,9\n", &Options::default())
        .unwrap()
        .graphs
        .unwrap();
    assert_eq!((graph.of_node, graph.ids), (vec![1, 1, 1, 0], NodeIds::Numbers(vec![9, 10])));
    let graph = read_texts(EDGES, "id,graph\n1,b\n2,b\n3,b\n4,a\n", &Options::default())
        .unwrap()
        .graphs
        .unwrap();
    assert_eq!(
        (graph.of_node, graph.ids),
        (vec![1, 1, 1, 0], NodeIds::Strings(vec!["a".into(), "b".into()]))
    );
    // Gephi's `Label` is a name.
    let graph = read_texts(
        "Source;Target;Type\n1;2;Undirected\n",
        "Id;Label\n1;Ann\n2;Bob\n",
        &Options::default(),
    )
    .unwrap();
    assert_eq!((graph.labels, graph.columns.len(), graph.directed), (None, 1, Some(false)));
    let options = Options {
        id: Some("who".into()),
        label: Some("team".into()),
        node_features: vec!["age".into()],
        ..Options::default()
    };
    let graph =
        read_texts("source,target\n1,2\n", "team,who,age,x1\n20,2,3,4\n3,1,5,6\n", &options)
            .unwrap();
    assert_eq!(
        graph.labels,
        Some(Labels::Classes { class: vec![0, 1], names: vec!["3".into(), "20".into()] })
    );
    assert_eq!(
        (graph.features, graph.columns.len()),
        (Some(Features::Dense { columns: 1, values: vec![5.0, 3.0] }), 1)
    );
}

#[test]
fn features_labels_and_splits_are_found_by_name() {
    let nodes = "node_id,f1,age,f0,y,city,train_mask,val_mask\n1,1,30,2,a,x,1,0\n2,3,31,4,b,y,0,True\n3,5,32,6,a,z,0,0\n";
    let graph = read_texts(EDGES, nodes, &Options::default()).unwrap();
    assert_eq!(
        graph.features,
        Some(Features::Dense { columns: 2, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] })
    );
    assert_eq!(
        (&graph.roles.features[..], &graph.roles.labels[..]),
        (&["f1".to_owned(), "f0".to_owned()][..], &["y".to_owned()][..])
    );
    assert_eq!(
        (graph.splits.clone(), &graph.roles.splits[..]),
        (vec![vec![TRAIN, VALIDATION, 0]], &["train_mask".to_owned(), "val_mask".to_owned()][..])
    );
    let told = crate::column_report::report(&graph, 0);
    let expected = [
        ("features", "2 columns: f1, f0"),
        (
            "not features",
            "age (numbers), city (words); use them:  read: {node_features: [f1, f0, age]}  in the \
             catalogue's entry",
        ),
        ("labels", "2 classes: y"),
        ("split", "1 train, 1 validation, 0 test: train_mask, val_mask"),
    ];
    assert_eq!(told, expected.map(|(name, text)| (name, text.to_owned())));
    // In the order in which they are asked for; a place is no label.
    let options = Options { node_features: vec!["age".into(), "f0".into()], ..Options::default() };
    let graph = read_texts(EDGES, nodes, &options).unwrap();
    assert!(
        matches!(graph.features, Some(Features::Dense { values, .. }) if values[..2] == [30.0, 2.0])
    );
    assert!(
        read_texts(EDGES, "id,x,y\n1,0.5,1\n2,1,2\n3,2,2\n", &Options::default())
            .unwrap()
            .labels
            .is_none()
    );
    let error =
        read_texts(EDGES, "id,train_mask,test_mask\n1,1,1\n2,0,0\n3,0,0\n", &Options::default())
            .unwrap_err();
    assert!(
        error.what.contains("in two parts") && error.place == Place::Line { line: 2, column: 5 },
        "{error}"
    );
}

#[test]
fn every_fault_is_named_with_its_file_and_place() {
    let cases = [
        (EDGES, "id\n1\n2\n", "edges.csv", (3, 3), "target that is no node"),
        ("# c\n9,1\n1,2\n", "id\n1\n2\n", "edges.csv", (2, 1), "source that is no node"),
        (EDGES, "id,x0\n1,1\n2,2\n3\n", "nodes.csv", (4, 2), "lacks the column `x0`"),
        (EDGES, "id,x0\n1,1\n2,2,3\n", "nodes.csv", (3, 5), "more columns than there are names"),
        (EDGES, "id,x0\n1,1\n2,nan\n3,1\n", "nodes.csv", (3, 3), "feature is not a finite number"),
        (EDGES, "id,x0\n1,1\n2,\n3,1\n", "nodes.csv", (3, 3), "feature is not a finite number"),
        (EDGES, "id\n1\n2\n1\n", "nodes.csv", (4, 1), "two nodes have one id"),
        (EDGES, "id\n1\nx\n", "nodes.csv", (3, 1), "not a whole number"),
        (EDGES, "id\n1\n-4\n", "nodes.csv", (3, 1), "not a whole number"),
        (EDGES, "id,split\n1,train\n2,exam\n3,\n", "nodes.csv", (3, 3), "unknown split name"),
        (EDGES, "id,kind\n1,a\n2,\n3,a\n", "nodes.csv", (3, 3), "no kind"),
        (EDGES, "id,id\n1,2\n", "nodes.csv", (1, 1), "two columns have the name"),
        (EDGES, "id,y\n1,0.5\n2,inf\n3,1\n", "nodes.csv", (3, 3), "not finite"),
    ];
    for (edges, nodes, file, (line, column), what) in cases {
        let error = read_texts(edges, nodes, &Options::default()).unwrap_err();
        assert!(
            error.what.contains(what) && !error.hint.is_empty() && !error.found.is_empty(),
            "{nodes:?}: {error}"
        );
        assert!(
            error.path.ends_with(file) && error.place == Place::Line { line, column },
            "{nodes:?}: {error}"
        );
    }
    assert!(
        read_texts(EDGES, "name\n1\n", &Options::default())
            .unwrap_err()
            .hint
            .contains("read: {id: NAME}")
    );
    assert!(
        read_texts(EDGES, "", &Options::default()).unwrap_err().what.contains("no column of ids")
    );
    assert!(
        read_texts(EDGES, "id,graph\n1,0\n2,0\n3,1\n", &Options::default())
            .unwrap_err()
            .what
            .contains("two graphs")
    );
    let options = Options { label: Some("class".into()), ..Options::default() };
    assert!(
        read_texts(EDGES, "id\n1\n2\n3\n", &options)
            .unwrap_err()
            .what
            .contains("no column `class`")
    );
    assert!(
        read(&[PathBuf::from("a"), PathBuf::from("b")], &Options::default())
            .unwrap_err()
            .hint
            .contains("nodes.csv")
    );
}

#[test]
fn graphs_have_a_table_and_classes_have_names() {
    let folder = tempfile::tempdir().unwrap();
    let read_with = |nodes: &str, graphs: &str| {
        let files = [("edges.csv", EDGES), ("nodes.csv", nodes), ("graphs.csv", graphs)].map(
            |(name, text)| {
                fs::write(folder.path().join(name), text).unwrap();
                folder.path().join(name)
            },
        );
        let (format, found) = crate::detect::detect(folder.path(), &files).unwrap();
        assert_eq!((format.name, found.len()), ("csv", 3));
        let graph = read(&found, &Options::default()).map_err(|error| error.to_string())?;
        graph.validate().map(|()| graph)
    };
    let nodes = "id,graph,label,class\n1,10,5,red\n2,10,7,blue\n3,10,,\n4,30,5,red\n";
    let graph =
        read_with(nodes, "id,label_0,label_1,split_0,split_1\n30,1,,test,none\n10,0,NaN,train,\n")
            .unwrap();
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![0, 1, NO_CLASS, 0],
            names: vec!["red".into(), "blue".into()]
        })
    );
    let graphs = graph.graphs.unwrap();
    assert_eq!(
        (graphs.of_node, graphs.ids, graphs.splits),
        (vec![0, 0, 0, 1], NodeIds::Numbers(vec![10, 30]), vec![vec![TRAIN, TEST], vec![0, 0]])
    );
    let Some(Labels::Rows { columns: 2, values }) = graphs.labels else {
        panic!("expected two labels")
    };
    assert!(values[0] == 0.0 && values[1].is_nan() && values[2] == 1.0 && values[3].is_nan());
    assert!(graph.columns.is_empty());
    let further = read_with(nodes, "id,label,year,maker\n30,1,2001,\n10,0,1999,Ann\n")
        .unwrap()
        .graphs
        .unwrap()
        .columns;
    let expected = [
        ("year", Column::Integers(vec![Some(1999), Some(2001)])),
        ("maker", Column::Texts(vec![Some("Ann".into()), None])),
    ];
    assert_eq!(further, expected.map(|(name, column)| (name.to_owned(), column)));
    // A graph without nodes is one; a node without its graph is a fault.
    assert_eq!(
        read_with(nodes, "id,label\n10,0\n20,1\n30,1\n").unwrap().graphs.unwrap().of_node,
        [0, 0, 0, 2]
    );
    assert!(
        read_with(nodes, "id,label\n10,0\n")
            .unwrap_err()
            .contains("a graph that the table of graphs does not have")
    );
    assert!(
        read_with("id\n1\n2\n3\n", "id\n1\n").unwrap_err().contains("nodes do not say their graph")
    );
}

proptest! {
    #[test]
    fn a_changed_byte_gives_a_graph_or_an_error(at in any::<usize>(), byte in any::<u8>()) {
        let edges = "source,target,weight,type\n1,2,0.5,a\n2,1,1,\"b\"\n";
        let nodes = "id,label,split,kind,graph,x0,name\n1,a,train,u,0,1,Ann\n2,b,test,u,0,2,\"B \
            \"\"o\"\" b\"\n";
        read_texts(edges, nodes, &Options::default()).unwrap();
        let _ = read_texts(&changed(edges, at, byte), nodes, &Options::default());
        let _ = read_texts(edges, &changed(nodes, at, byte), &Options::default());
    }

    #[test]
    fn any_bytes_are_a_graph_or_an_error(text in "(id|label|split|kind|graph|x0|y|,|\n|\"|[0-9]|a|train|\r\n|é){0,40}", nodes in "(id,label,x0,split|id)\n([0-9a]{1,2},[a-c1-9.]{0,2},[0-9.]{0,2},(train|test|)?\n|[0-9]\n){0,8}") {
        let _ = read_texts(&text, &nodes, &Options::default());
        let _ = read_texts("source,target\n1,2\n", &text, &Options::default());
        let _ = read_texts("source,target,type\n1,2,a\n2,1,b\n", &nodes, &Options::default());
    }
}

#[test]
fn a_negative_label_is_none_as_in_all_tables() {
    let labels =
        |nodes: &str| read_texts(EDGES, nodes, &Options::default()).map(|graph| graph.labels);
    let expected =
        Some(Labels::Classes { class: vec![NO_CLASS, 1, 0], names: vec!["0".into(), "2".into()] });
    assert_eq!(labels("id,label\n1,-1\n2,2\n3,0\n").unwrap(), expected);
    assert_eq!(
        labels("id,label\n1,-2\n2,2\n3,0\n4,-1\n").unwrap().map(|labels| labels
            == Labels::Classes {
                class: vec![NO_CLASS, 1, 0, NO_CLASS],
                names: vec!["0".into(), "2".into()]
            }),
        Some(true)
    );
    for (nodes, classes) in [
        ("id,label\n1,1\n2,-1\n3,1\n", "there are 1 classes"),
        ("id,label\n1,-1\n2,-1\n3,-1\n", "there are 0 classes"),
    ] {
        let error = labels(nodes).unwrap_err().to_string();
        assert!(
            ["nodes.csv:", "without it", classes, "write 0 and 1"]
                .iter()
                .all(|part| error.contains(part)),
            "{error}"
        );
    }
    // Reals are values, whatever their sign.
    let Some(Labels::Values(values)) = labels("id,label\n1,-1\n2,0.5\n3,1\n").unwrap() else {
        panic!("expected numbers")
    };
    assert_eq!(values, [-1.0, 0.5, 1.0]);
}

#[test]
fn names_of_columns_alone_are_a_graph_without_edges() {
    let graph = read_texts("source,target,weight\n", "id\n7\n9\n", &Options::default()).unwrap();
    assert_eq!((graph.nodes(), graph.edges.len(), graph.ids), (2, 0, NodeIds::Numbers(vec![7, 9])));
    // Without nodes there is nothing at all.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.csv");
    fs::write(&path, "source,target,weight\n").unwrap();
    for format in [FORMAT, crate::readers::edge_list::FORMAT] {
        let error = format.read(std::slice::from_ref(&path), &Options::default()).unwrap_err();
        assert!(error.what == "the edge list holds no edge" && !error.hint.is_empty(), "{error}");
    }
}
