//! Road networks: the small graph, and every fault.
use super::*;
use crate::{raw_graph::RawGraph, read_error::Place, test_support::changed};
use proptest::prelude::*;
use std::fs;

/// With edges in memory, and in a file.
fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    crate::test_support::both_ways(|limit| read_within(files, options, limit))
}

fn read_texts(nodes: &str, edges: &str) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join("a.cedge"), folder.path().join("a.cnode")];
    fs::write(&paths[0], edges).unwrap();
    fs::write(&paths[1], nodes).unwrap();
    let graph = read(&paths, &Options::default())?;
    graph.validate().unwrap();
    Ok(graph)
}

#[test]
fn the_small_graph_with_coordinates() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    let files = [folder.join("tiny.cnode"), folder.join("tiny.cedge")];
    assert_eq!(crate::detect::detect(&folder, &files).unwrap().0.name, "road");
    let graph = read(&files, &Options::default()).unwrap();
    assert_eq!(graph.ids, NodeIds::Numbers(vec![1, 2, 3, 5, 8]));
    assert_eq!(
        (&graph.edges.source, &graph.edges.target),
        (&vec![0, 1, 1, 1, 3, 4], &vec![1, 0, 2, 2, 3, 0])
    );
    assert_eq!(graph.edges.weight, Some(vec![0.5, 0.5, 1.0, 2.0, 3.0, -1.5]));
    let x = [0.5, 1.0, 2.0, -7.25, 0.0].map(Some).to_vec();
    assert_eq!(graph.columns[0], ("x".to_owned(), Column::Reals(x)));
    assert_eq!((graph.columns[1].0.as_str(), graph.directed), ("y", Some(false)));
}

#[test]
fn a_node_without_roads_stays_and_rows_follow_ids() {
    let graph = read_texts("7,1,2\n3,3,4\n5,5,6", "0,3,7,1\r\n").unwrap();
    assert_eq!((graph.ids, graph.edges.source), (NodeIds::Numbers(vec![3, 5, 7]), vec![0]));
    assert_eq!(graph.columns[0].1, Column::Reals([3.0, 5.0, 1.0].map(Some).to_vec()));
}

#[test]
fn faults_have_their_file_and_place() {
    for (nodes, edges, file, (line, column), what) in [
        ("0 1 1\n1 2 2\n", "0 0 1 1\n1 0 9 1\n", "a.cedge", (2, 5), "target that is no node"),
        ("0 1 1\n1 2 2\n", "0 0 1 1\n1 0 1\n", "a.cedge", (2, 6), "without its column `length`"),
        ("0 1 1\n1 2 2\n", "0 0 1 1\n1 0 1 nan\n", "a.cedge", (2, 7), "not finite"),
        ("0 1 1\n1 2 2\n", "0 0 -1 1\n", "a.cedge", (1, 5), "negative id"),
        ("0 1 1\n1 2\n", "0 0 1 1\n", "a.cnode", (2, 4), "lacks the column `y`"),
        ("0 1 1\n1 2 inf\n", "0 0 1 1\n", "a.cnode", (2, 5), "coordinate is not a finite number"),
        ("0 1 1\n0 2 2\n", "0 0 0 1\n", "a.cnode", (2, 1), "two nodes have one id"),
        ("0 1 1\nx 2 2\n", "0 0 0 1\n", "a.cnode", (2, 1), "no whole number"),
    ] {
        let error = read_texts(nodes, edges).unwrap_err();
        assert!(
            error.what.contains(what)
                && error.path.ends_with(file)
                && error.place == Place::Line { line, column },
            "{error}"
        );
        assert!(!error.hint.is_empty());
    }
    assert!(
        read(&[PathBuf::from("a.cnode")], &Options::default())
            .unwrap_err()
            .what
            .contains("a file of nodes and one of edges")
    );
}

proptest! {
    #[test]
    fn a_changed_byte_gives_a_graph_or_an_error(at in any::<usize>(), byte in any::<u8>()) {
        let (nodes, edges) = ("0 1.5 1\n1 2 2\n2 -3 3\n", "0 0 1 1\n1 1 2 0.5\n");
        read_texts(nodes, edges).unwrap();
        let _ = read_texts(&changed(nodes, at, byte), edges);
        let _ = read_texts(nodes, &changed(edges, at, byte));
    }

    #[test]
    fn any_text_is_a_graph_or_an_error(nodes in "([0-9]|[0-9] |\n|-|\\.|,|x){0,30}", edges in "([0-9] [0-4] [0-4] [0-9]\n|[0-9x]|\n| ){0,12}") {
        let _ = read_texts(&nodes, &edges);
        let _ = read_texts("0 1 1\n1 2 2\n2 3 3\n3 4 4\n4 5 5\n", &edges);
    }
}
