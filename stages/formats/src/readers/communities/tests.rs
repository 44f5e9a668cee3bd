//! Communities: one a node, several a node, and every fault.
use super::*;
use crate::{raw_graph::RawGraph, read_error::Place, test_support::changed};
use proptest::prelude::*;
use std::fs;

/// With edges in memory, and in a file.
fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    crate::test_support::both_ways(|limit| read_within(files, options, limit))
}

fn read_texts(edges: &str, communities: &str, options: &Options) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let paths = [folder.path().join("a.ungraph.txt"), folder.path().join("a.cmty.txt")];
    fs::write(&paths[0], edges).unwrap();
    fs::write(&paths[1], communities).unwrap();
    let graph = read(&paths, options)?;
    graph.validate().unwrap();
    Ok(graph)
}

fn texts(edges: &str, communities: &str) -> Read<RawGraph> {
    read_texts(edges, communities, &Options::default())
}

#[test]
fn the_small_graph_with_classes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    let files = [folder.join("tiny.cmty"), folder.join("tiny.ungraph")];
    assert_eq!(crate::detect::detect(&folder, &files).unwrap().0.name, "communities");
    let graph = read(&files, &Options::default()).unwrap();
    assert_eq!(graph.ids, NodeIds::Numbers(vec![1, 2, 3, 5, 8]));
    assert_eq!(
        (&graph.edges.source, &graph.edges.target),
        (&vec![0, 1, 1, 1, 3, 4], &vec![1, 0, 2, 2, 3, 0])
    );
    assert_eq!(graph.edges.weight, Some(vec![0.5, 0.5, 1.0, 2.0, 3.0, -1.5]));
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![0, 1, 0, NO_CLASS, 1],
            names: vec!["0".into(), "1".into()]
        })
    );
    assert_eq!(graph.directed, Some(false));
}

#[test]
fn a_member_with_zeros_before_it_is_no_number() {
    let error = texts("0 7\n7 1\n", "0 007\n").unwrap_err();
    assert!(
        error.expected.contains("without zeros before it") && error.found.contains("007"),
        "{error}"
    );
    assert!(error.hint.ends_with("--set ingest.ids=number"), "{error}");
    assert_eq!(texts("007 7\n7 1\n", "007 7\n").unwrap().nodes(), 3);
}

#[test]
fn several_communities_a_node_are_rows() {
    let graph = texts("0 1\n1 2\n", "0 1\r\n# c\n\n1,2\n7\n").unwrap();
    assert_eq!(graph.ids, NodeIds::Numbers(vec![0, 1, 2, 7]));
    assert_eq!(
        graph.labels,
        Some(Labels::Rows {
            columns: 3,
            values: vec![1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
        })
    );
    let graph = texts("Ann\tBob\nBob\tCid\n", "Cid Dee\nAnn").unwrap();
    assert_eq!(
        graph.ids,
        NodeIds::Strings(["Ann", "Bob", "Cid", "Dee"].map(String::from).to_vec())
    );
    assert!(
        graph.notes[0].contains("names 1 nodes that no edge has")
            && graph.notes[0].contains("the first is `Dee` in line 1"),
        "{:?}",
        graph.notes
    );
    let noted = texts("5 6\n6 8\n", "# c\n5 6\n7 8 1\n").unwrap().notes;
    assert!(
        noted[0].contains("`a.cmty.txt` names 2 nodes") && noted[0].contains("`7` in line 3"),
        "{noted:?}"
    );
    assert_eq!(texts("5 6\n6 8\n", "5 6\n8\n").unwrap().notes, Vec::<String>::new());
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![1, NO_CLASS, 0, 0],
            names: vec!["0".into(), "1".into()]
        })
    );
}

#[test]
fn faults_have_their_place() {
    for (communities, (line, column), what) in [
        ("0 1\n1 x\n", (2, 3), "no node id"),
        ("0 -1\n", (1, 3), "no node id"),
        ("0\t1\n\n2 2\n", (3, 3), "lists a node twice"),
        ("\u{e9}\n", (1, 1), "no node id"),
    ] {
        let error = texts("0 1\n1 2\n", communities).unwrap_err();
        assert!(
            error.what.contains(what)
                && error.place == Place::Line { line, column }
                && !error.hint.is_empty(),
            "{error}"
        );
    }
    assert!(texts("0 1\n", "\n# c\n").unwrap_err().what.contains("no community"));
    let many: String = (0..5000).map(|_| "0\n").collect();
    assert!(texts("0 1\n", &many).unwrap_err().what.contains("too many communities"));
    assert!(
        read(&[PathBuf::from("a.cmty")], &Options::default())
            .unwrap_err()
            .what
            .contains("edge list and one file")
    );
}

proptest! {
    #[test]
    fn a_changed_byte_gives_a_graph_or_an_error(at in any::<usize>(), byte in any::<u8>()) {
        let (edges, communities) = ("0\t1\n1\t2\n2\t10\n", "0\t1\n2\t1\n10\n");
        texts(edges, communities).unwrap();
        let _ = texts(&changed(edges, at, byte), communities);
        let _ = texts(edges, &changed(communities, at, byte));
    }

    #[test]
    fn any_text_is_a_graph_or_an_error(edges in "([0-9ab]{1,2}[ \t][0-9ab]{1,2}\n|\n){0,8}", communities in "([0-9]{1,2}|a| |\t|\n|#|,){0,30}", words in any::<bool>()) {
        let ids = if words { Ids::String } else { Ids::Auto };
        let _ = read_texts(&edges, &communities, &Options { ids, ..Options::default() });
    }
}
