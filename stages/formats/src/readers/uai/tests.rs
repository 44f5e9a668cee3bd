//! Sets of AM-GCN: as files, as an archive, and every fault.
use super::*;
use crate::{
    containers::zip::tests::archive_of, raw_graph::RawGraph, read_error::Place,
    test_support::changed,
};
use proptest::prelude::*;
use std::fs;

/// With edges in memory, and in a file.
fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    crate::test_support::both_ways(|limit| read_within(files, options, limit))
}

const SET: [(&str, &str); 7] = [
    ("s/a.edge", "0 1\n1 0\n2\t2\n"),
    ("s/a.feature", "1\t0\t0\t0\t0\n0 0 0 0 0\n0 0 0 0 0.5\n0 0 0 0 0\n"),
    ("s/a.label", "10\n9\n10\n9\n"),
    ("s/train40.txt", "0\n3\n"),
    ("s/train5.txt", "3\n"),
    ("s/test5.txt", "1\n2\n"),
    ("s/knn/c2.txt", "0 1\n"),
];

/// The set with one text in another's place.
fn with(name: &str, text: &str) -> Vec<(String, String)> {
    SET.iter()
        .map(|&(found, own)| {
            (found.to_owned(), if found.ends_with(name) { text.to_owned() } else { own.to_owned() })
        })
        .collect()
}

fn read_archive(set: &[(String, String)]) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let members: Vec<(&str, &[u8])> =
        set.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    fs::write(&path, archive_of(&members)).unwrap();
    let graph = read(std::slice::from_ref(&path), &Options::default())?;
    graph.validate().unwrap();
    Ok(graph)
}

#[test]
fn files_and_an_archive_are_one_set() {
    let graph = read_archive(&with("nothing", "")).unwrap();
    assert_eq!(
        (graph.ids.clone(), &graph.edges.source, &graph.edges.target),
        (NodeIds::Count(4), &vec![0, 1, 2], &vec![1, 0, 2])
    );
    assert_eq!(
        graph.features,
        Some(Features::Sparse {
            columns: 5,
            offsets: vec![0, 1, 1, 2, 2],
            index: vec![0, 4],
            values: vec![1.0, 0.5]
        })
    );
    assert_eq!(
        graph.labels,
        Some(Labels::Classes { class: vec![1, 0, 1, 0], names: vec!["9".into(), "10".into()] })
    );
    assert_eq!(graph.splits, [[0, TEST, TEST, TRAIN], [TRAIN, 0, 0, TRAIN]]);
    assert_eq!(graph.passed_over, ["the file `s/knn/c2.txt`"]);
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = SET[..6]
        .iter()
        .map(|(name, text)| {
            let path = folder.path().join(name.trim_start_matches("s/"));
            fs::write(&path, text).unwrap();
            path
        })
        .collect();
    let (format, found) = crate::detect::detect(folder.path(), &files).unwrap();
    assert_eq!((format.name, found.len()), ("uai", 6));
    assert_eq!(
        read(&found, &Options::default()).unwrap(),
        RawGraph { passed_over: Vec::new(), ..graph }
    );
}

#[test]
fn many_features_are_dense() {
    let graph = read_archive(&with(".feature", "1 2\n3 0\n0 1\n1 1\n")).unwrap();
    assert_eq!(
        graph.features,
        Some(Features::Dense { columns: 2, values: vec![1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 1.0, 1.0] })
    );
}

#[test]
fn faults_have_their_member_and_place() {
    for (name, text, (line, column), what) in [
        ("a.edge", "0 1\n0 4\n", (2, 3), "target that is no node"),
        ("a.edge", "0 1\n0 x\n", (2, 3), "not a number"),
        ("a.feature", "1 0\n1\n", (2, 2), "another number of features"),
        ("a.feature", "1 0\n1 nan\n", (2, 3), "not a finite number"),
        ("train5.txt", "1\n4\n", (2, 1), "names no node"),
        ("test5.txt", "1\n3\n", (2, 1), "two parts of a split"),
    ] {
        let error = read_archive(&with(name, text)).unwrap_err();
        assert!(
            error.what.contains(what)
                && error.place == Place::Line { line, column }
                && !error.hint.is_empty(),
            "{error}"
        );
        assert!(error.path.ends_with(format!("a.zip/s/{name}")), "{error}");
    }
    assert!(
        read_archive(&with("a.label", "1\n"))
            .unwrap_err()
            .what
            .contains("not as many labels as nodes")
    );
    assert!(read_archive(&with("a.feature", "\n")).unwrap_err().what.contains("no row"));
    assert!(
        read_archive(&with("nothing", "")[..2])
            .unwrap_err()
            .what
            .contains("lacks its file `.label`")
    );
}

proptest! {
    #[test]
    fn a_changed_byte_gives_a_graph_or_an_error(which in 0usize..6, at in any::<usize>(), byte in any::<u8>()) {
        let (name, text) = SET[which];
        let _ = read_archive(&with(name, &changed(text, at, byte)));
    }

    #[test]
    fn any_text_is_a_graph_or_an_error(which in 0usize..6, text in "([0-9]|[0-9]\n|\n| \
        |\t|x|\\.|-){0,30}") {
        let _ = read_archive(&with(SET[which].0, &text));
    }
}
