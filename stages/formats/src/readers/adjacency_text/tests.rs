//! Adjacency lists of many graphs: a small set, its faults, and the published ones by their counts.
use super::*;
use crate::{
    containers::zip::tests::archive_of,
    detect::detect,
    raw_graph::Labels,
    text::lines::tests::{fixture, shared, written},
};
use proptest::prelude::*;
use std::fs;

fn read_text(text: &[u8]) -> Read<RawGraph> {
    let (_folder, files) = written(&[("S.txt", text)]);
    let graph = read(&files, &Options::default())?;
    graph.validate().unwrap();
    Ok(graph)
}

fn tiny() -> RawGraph {
    read(&fixture("adjacency_text"), &Options::default()).unwrap()
}

#[test]
fn a_small_set_with_everything() {
    let (format, files) = detect(Path::new("x"), &fixture("adjacency_text")).unwrap();
    assert_eq!((format.name, files.len()), ("adjacency_text", 5));
    let graph = read(&files, &Options::default()).unwrap();
    assert_eq!((graph.validate(), &graph), (Ok(()), &tiny()));
    assert_eq!((graph.ids, graph.directed), (NodeIds::Count(5), Some(false)));
    assert_eq!(
        (graph.edges.source, graph.edges.target),
        (vec![0, 1, 1, 2, 3, 4], vec![1, 0, 2, 1, 4, 3])
    );
    assert_eq!(
        graph.features,
        Some(Features::Dense { columns: 1, values: vec![0.5, -1.25, 0.0, 0.01, 8.0] })
    );
    assert_eq!(
        graph.node_labels,
        Some(Labels::Classes { class: vec![1, 0, 1, 0, 0], names: vec!["2".into(), "7".into()] })
    );
    let graphs = graph.graphs.unwrap();
    assert_eq!((graphs.of_node, graphs.ids), (vec![0, 0, 0, 1, 1], NodeIds::Count(2)));
    assert_eq!(
        graphs.labels,
        Some(Labels::Classes { class: vec![1, 0], names: vec!["-1".into(), "1".into()] })
    );
    assert_eq!(graphs.splits, [[TRAIN, TEST], [TEST, TRAIN]]);
}

#[test]
fn a_zip_gives_the_same_graph() {
    let files: Vec<(String, Vec<u8>)> = fixture("adjacency_text")
        .into_iter()
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())
        })
        .map(|(name, text)| {
            (
                if name.contains("idx") {
                    format!("TINY/10fold_idx/{name}")
                } else {
                    format!("TINY/{name}")
                },
                text,
            )
        })
        .collect();
    let junk: [(&str, &[u8]); 2] =
        [("TINY/.DS_Store", b"\0\0"), ("__MACOSX/TINY/._TINY.txt", b"\0")];
    let members: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), &text[..])).chain(junk).collect();
    let (folder, paths) = written(&[("TINY.zip", &archive_of(&members))]);
    let (format, found) = detect(folder.path(), &paths).unwrap();
    assert_eq!(
        (format.name, read(&found, &Options::default()).unwrap()),
        ("adjacency_text", tiny())
    );
}

#[test]
fn one_tag_for_all_is_no_label() {
    let graph = read_text(b"2\n1 0\n0 0\n2 5\n0 1 1\n0 2 1 0\n\n\n").unwrap();
    assert_eq!((graph.node_labels, graph.features), (None, None));
    assert_eq!((graph.edges.source, graph.edges.target), (vec![1, 2, 2], vec![2, 2, 1]));
}

#[test]
fn every_fault_is_named_with_its_place() {
    for (text, what, place) in [
        ("", "does not begin with the number of graphs", ":1:1"),
        ("x\n", "does not begin with the number of graphs", ":1:1"),
        ("2\n1 0\n0 0\n", "another number of graphs", "S.txt"),
        ("99999999999\n1 0\n0 0\n", "does not begin with the number of graphs", ":1:1"),
        ("4000000000\n1 0\n0 0\n", "another number of graphs", "S.txt"),
        ("1\n4000000000 0\n0 0\n", "ends inside a graph", "S.txt"),
        ("2\n4000000000 0\n0 0\n1 1\n", "fewer neighbours", ":4:4"),
        ("1\n1 0\n0 1 1\n", "no node of this graph", ":3:5"),
        ("1\n1 0\n0 1 -1\n", "no node of this graph", ":3:5"),
        ("1\n1 0\n0 2 0\n", "fewer neighbours", ":3:6"),
        ("1\n2 0\n0 1 1\n0 1 0 7\n", "another number of attributes", ":4:8"),
        ("1\n1 0\n0 0 nan\n", "attribute of a node is no number", ":3:5"),
        ("1\n1 0 3\n0 0\n", "more than NODES LABEL", ":2:5"),
        ("1\n1\n0 0\n", "has no label", ":2:2"),
        ("1\n-1 0\n0 0\n", "its number of nodes", ":2:1"),
        ("1\n1 0\nx 0\n", "begin with its tag", ":3:1"),
        ("1\n1 0\n0\n", "no number of neighbours", ":3:2"),
        ("1\n1 0\n\n0 0\n", "goes on behind an empty line", ":4:1"),
    ] {
        let error = read_text(text.as_bytes()).unwrap_err();
        assert!(
            error.what.contains(what) && error.location().ends_with(place),
            "{text:?}: {error}"
        );
    }
    for (train, test, what) in [
        ("0\n", "2\n", "does not exist"),
        ("0\n1\n", "1\n", "twice"),
        ("0\n", "x\n", "not a whole number"),
    ] {
        let (_folder, files) = written(&[
            ("S.txt", b"2\n0 1\n0 2\n"),
            ("train_idx-3.txt", train.as_bytes()),
            ("test_idx-3.txt", test.as_bytes()),
        ]);
        let error = read(&files, &Options::default()).unwrap_err();
        assert!(error.what.contains(what) && error.path.ends_with("test_idx-3.txt"), "{error}");
    }
    let (_folder, files) = written(&[("S.txt", b"1\n0 1\n"), ("train_idx-3.txt", b"0\n")]);
    assert!(read(&files, &Options::default()).unwrap_err().found == "this one alone");
    let (_folder, files) = written(&[("S.txt", b"1\n0 1\n"), ("T.txt", b"1\n0 1\n")]);
    assert!(read(&files, &Options::default()).unwrap_err().what.contains("one text"));
}

#[test]
fn published_sets_have_their_counts() {
    if let Some(files) = shared("tu_COLLAB") {
        let (format, found) = detect(Path::new("tu_COLLAB"), &files).unwrap();
        assert_eq!(format.name, "adjacency_text");
        let graph = read(&found, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (graph.validate(), graph.nodes(), graph.edges.len()),
            (Ok(()), 372_474, 24_574_995)
        );
        let loops = graph
            .edges
            .source
            .iter()
            .zip(&graph.edges.target)
            .filter(|(source, target)| source == target)
            .count();
        assert_eq!((loops, graph.node_labels), (2837, None));
        let graphs = graph.graphs.unwrap();
        let Some(Labels::Classes { class, names }) = &graphs.labels else { panic!() };
        let count = |own: u32| class.iter().filter(|&&class| class == own).count();
        assert_eq!((graphs.len(), names.len(), [0, 1, 2].map(count)), (5000, 3, [2600, 775, 1625]));
        assert_eq!(graphs.splits.len(), 10);
        for split in &graphs.splits {
            assert!(
                !split.contains(&IN_NO_PART)
                    && split.iter().filter(|&&part| part == TEST).count().abs_diff(500) <= 5
            );
        }
    }
    if let Some(files) = shared("tu_DD") {
        let zip: Vec<PathBuf> =
            files.iter().filter(|path| path.ends_with("DD_adjacency_lists.zip")).cloned().collect();
        let graph = read(&zip, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        let tables = crate::readers::tu::read(
            &detect(Path::new("tu_DD"), &files).unwrap().1,
            &Options::default(),
        )
        .unwrap();
        assert_eq!((graph.nodes(), graph.edges.len()), (334_925, 1_686_092));
        let mut own: Vec<_> = graph.edges.source.iter().zip(&graph.edges.target).collect();
        let mut others: Vec<_> = tables.edges.source.iter().zip(&tables.edges.target).collect();
        own.sort_unstable();
        others.sort_unstable();
        assert!(own == others && graph.graphs.unwrap().of_node == tables.graphs.unwrap().of_node);
    }
}

proptest! {
    #[test]
    fn any_numbers_are_read_or_refused(text in "([0-4]|[0-4] [0-4]|0 1 [0-2]|1 2 [0-2] \
        [0-2]|-1|x|0.5| |\n|\n\n){0,20}") {
        if let Ok(graph) = read_text(text.as_bytes()) {
            prop_assert_eq!(graph.validate(), Ok(()));
        }
    }

    #[test]
    fn a_changed_set_is_read_or_refused(at in 0usize..70, bytes in proptest::collection::vec(any::<u8>(), 0..4)) {
        let mut text = fs::read(fixture("adjacency_text").into_iter().find(|path| path.ends_with("TINY.txt")).unwrap()).unwrap();
        let at = at % text.len();
        text.splice(at..at + 1, bytes);
        let _ = read_text(&text);
    }
}
