//! DIMACS: arcs, edges and places, real road networks, every fault with its place.
use super::*;
use crate::{
    raw_graph::{Column, NodeIds},
    read_error::Place,
    test_support::{CUTS, both_ways, edges_by_id, fixture, read_written, shared, tiny_edges, told},
};
use proptest::prelude::*;
use std::fs;

fn text_by(text: impl AsRef<[u8]>, options: &Options, sizes: BlockSizes) -> Read<RawGraph> {
    read_written("a.gr", text.as_ref(), |path| {
        both_ways(|limit| read_by(&[path.to_path_buf()], options, limit, sizes))
    })
}

fn text(text: &str) -> Read<RawGraph> {
    text_by(text, &Options::default(), SIZES)
}

/// A graph of three nodes and this file of places.
fn placed(places: &str, sizes: BlockSizes) -> Read<RawGraph> {
    read_written("a.co", places.as_bytes(), |path| {
        let graph = path.with_file_name("a.gr");
        fs::write(&graph, "p sp 3 1\na 1 3 2\n").unwrap();
        both_ways(|limit| {
            read_by(&[path.to_path_buf(), graph.clone()], &Options::default(), limit, sizes)
        })
    })
}

#[test]
fn arcs_and_edges_are_read_for_every_cut() {
    for sizes in CUTS {
        for written in [
            "c x\nc\np sp 3 2\na 1 3 7\nc a 1 1 1\na 3 3 .5\n",
            "\u{feff}p  sp\t3 2\r\n\r\na 1 3 7\r\n a 3 3 .5",
        ] {
            let graph = text_by(written, &Options::default(), sizes).unwrap();
            assert_eq!((graph.ids, graph.directed), (NodeIds::Numbers(vec![1, 2, 3]), Some(true)));
            assert_eq!(
                (graph.edges.source, graph.edges.target, graph.edges.weight),
                (vec![0, 2], vec![2, 2], Some(vec![7.0, 0.5])),
                "{written:?}"
            );
        }
        for name in ["edge", "col"] {
            let graph =
                text_by(format!("p {name} 3 2\ne 1 3\ne 3 3\n"), &Options::default(), sizes)
                    .unwrap();
            assert_eq!(
                (graph.edges.source, graph.edges.weight, graph.directed),
                (vec![0, 2], None, Some(false))
            );
        }
    }
    let unread = Options { weight: Some("none".into()), ..Options::default() };
    assert_eq!(text_by("p sp 2 1\na 1 2 x y\n", &unread, SIZES).unwrap().edges.weight, None);
    assert_eq!(text("p sp 2 0\n").unwrap().edges.weight, Some(vec![]));
}

#[test]
fn places_are_whole_numbers_if_all_of_them_are() {
    for sizes in CUTS {
        let graph = placed("c x\np aux sp co 3\nv 3 -5 6\nv 1 7 8\nc\nv 2 1 2\n", sizes).unwrap();
        let whole = |values: [i64; 3]| Column::Integers(values.map(Some).to_vec());
        assert_eq!(
            graph.columns,
            [("x".into(), whole([7, 1, -5])), ("y".into(), whole([8, 2, 6]))]
        );
        let graph = placed("p aux sp co 3\nv 3 -5 6\nv 1 7 8.5\nv 2 1 2\n", sizes).unwrap();
        assert_eq!(
            graph.columns[1],
            ("y".into(), Column::Reals([8.5, 2.0, 6.0].map(Some).to_vec()))
        );
    }
}

#[test]
fn every_fault_is_named_with_its_line_and_column() {
    let cases = [
        ("a 1 2 3\n", 1, 1, "before the problem line"),
        ("c\np max 3 2\n", 2, 3, "a problem that is not read"),
        ("p 0 3353 8870\n", 1, 3, "a problem that is not read"),
        ("p sp 3\n", 1, 7, "no sound number of arcs"),
        ("p sp x 2\n", 1, 6, "no sound number of nodes"),
        ("p sp 4294967295 2\n", 1, 6, "no sound number of nodes"),
        ("p sp 3 2 1\n", 1, 10, "a number too many"),
        ("p sp 4000000000 1\na 1 2 3\n", 1, 6, "too many nodes"),
        ("p sp 2 2\na 1 2 3\n", 1, 8, "fewer arcs"),
        ("p sp 2 1\na 1 2 3\nc\n a 2 1 3\n", 4, 2, "more arcs"),
        ("p edge 2 0\ne 1 2\n", 2, 1, "more edges"),
        ("p sp 2 1\ne 1 2\n", 2, 1, "unknown letter"),
        ("p sp 2 1\narc 1 2\n", 2, 1, "unknown letter"),
        ("p sp 2 1\na 0 2 3\n", 2, 3, "source is out of range"),
        ("p sp 2 1\na 1 3 3\n", 2, 5, "target is out of range"),
        ("p sp 2 1\na 1\n", 2, 4, "target is missing"),
        ("p sp 2 1\na 1 2\n", 2, 6, "weight of an arc is missing"),
        ("p sp 2 1\na 1 2 inf\n", 2, 7, "not finite"),
        ("p sp 2 1\na 1 2 3 4\n", 2, 9, "a column too many"),
        ("p edge 2 1\ne 1 2 3\n", 2, 7, "a column too many"),
    ];
    for (written, line, column, what) in cases {
        for sizes in CUTS {
            let error = text_by(written, &Options::default(), sizes).unwrap_err();
            assert!(
                error.what.contains(what),
                "{written:?}: expected `{what}`, found `{}`",
                error.what
            );
            assert_eq!(
                (error.place, error.expected.is_empty()),
                (Place::Line { line, column }, false),
                "{written:?}"
            );
        }
    }
    for written in ["", "c only\n"] {
        assert!(text(written).unwrap_err().what.contains("no problem line"));
    }
}

#[test]
fn faults_of_places_are_named_with_their_line_and_column() {
    let cases = [
        ("p aux sp 3\n", 1, 1, "their problem line"),
        ("p aux sp co 4\nv 1 1 1\n", 1, 13, "not those of the graph"),
        ("p aux sp co 3\nv 1 1 1\n", 1, 13, "fewer places"),
        ("p aux sp co 3\nv 1 1 1\nc\nv 1 2 2\n", 4, 1, "second place"),
        ("p aux sp co 3\nv 4 1 1\n", 2, 3, "node is out of range"),
        ("p aux sp co 3\nv 1 1\n", 2, 6, "coordinate is missing"),
        ("p aux sp co 3\nv 1 1 nan\n", 2, 7, "not a finite number"),
        ("p aux sp co 3\nv 1 1 1 1\n", 2, 9, "a column too many"),
        ("p aux sp co 3\na 1 1 1\n", 2, 1, "unknown letter"),
    ];
    for (written, line, column, what) in cases {
        for sizes in CUTS {
            let error = placed(written, sizes).unwrap_err();
            assert!(
                error.what.contains(what),
                "{written:?}: expected `{what}`, found `{}`",
                error.what
            );
            assert_eq!(error.place, Place::Line { line, column }, "{written:?}");
        }
    }
}

#[test]
fn a_folder_has_one_graph() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, contents: &str| {
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        path
    };
    let files = [
        file("d.gr", "p sp 2 0\n"),
        file("t.gr", "p sp 2 0\n"),
        file("a.co", "p aux sp co 2\nv 1 1 1\nv 2 2 2\n"),
        file("notes.txt", "nothing"),
    ];
    let (format, found) = crate::detect::detect(folder.path(), &files).unwrap();
    assert_eq!((format.name, found.len()), ("dimacs", 3));
    let error = format.read(&found, &Options::default()).unwrap_err();
    assert!(
        error.what.contains("one graph file")
            && error.found == "d.gr, t.gr"
            && error.hint.contains("catalogue"),
        "{error}"
    );
    assert_eq!(
        format
            .read(&[files[2].clone(), files[1].clone()], &Options::default())
            .unwrap()
            .columns
            .len(),
        2
    );
    assert!(
        recognise(&FileHeads::new(&files[2..])).is_none()
            && FORMAT
                .read(&files[2..3], &Options::default())
                .unwrap_err()
                .what
                .contains("one graph file")
    );
}

#[test]
fn real_networks_have_the_counts_of_their_source() {
    if let Some(folder) = shared("dimacs9_NY") {
        let file = |name: &str| folder.join(name);
        let graph = FORMAT
            .read(&[file("USA-road-d.NY.gr.gz"), file("USA-road-d.NY.co.gz")], &Options::default())
            .unwrap();
        assert_eq!(
            (graph.nodes(), graph.edges.len(), graph.validate(), graph.directed),
            (264_346, 733_846, Ok(()), Some(true))
        );
        let range = |graph: &RawGraph| {
            let weight = graph.edges.weight.as_ref().unwrap();
            (
                weight.iter().copied().fold(f32::MAX, f32::min),
                weight.iter().copied().fold(0.0, f32::max),
            )
        };
        assert_eq!(range(&graph), (1.0, 36_946.0));
        let Column::Integers(x) = &graph.columns[0].1 else { panic!("expected whole numbers") };
        assert_eq!(
            (x.len(), x[0], x.iter().all(Option::is_some)),
            (264_346, Some(-73_530_767), true)
        );
        let times = FORMAT.read(&[file("USA-road-t.NY.gr.gz")], &Options::default()).unwrap();
        assert_eq!((times.edges.len(), range(&times)), (733_846, (2.0, 92_366.0)));
    }
    if let Some(folder) = shared("dimacs9_rome99") {
        let graph = FORMAT.read(&[folder.join("rome99.gr")], &Options::default()).unwrap();
        assert_eq!((graph.nodes(), graph.edges.len(), graph.validate()), (3353, 8870, Ok(())));
        let error = FORMAT.read(&[folder.join("rome99.txt")], &Options::default()).unwrap_err();
        assert!(
            error.what.contains("problem that is not read") && error.hint.contains("p sp"),
            "{error}"
        );
    }
    let Some(folder) = shared("tiny_gapbs") else { return };
    let graph = FORMAT
        .read(&[folder.join("4.gr")], &Options { first_id: Some(0), ..Options::default() })
        .unwrap();
    let listed =
        crate::readers::edge_list::read(&folder.join("4.wel"), &Options::default()).unwrap();
    assert_eq!(
        (graph.nodes(), graph.edges.len(), edges_by_id(&graph, true)),
        (14, 256, edges_by_id(&listed, true))
    );
}

#[test]
fn the_tiny_graph_is_the_same_in_this_format() {
    let files = [fixture("tiny.co"), fixture("tiny.gr")];
    let graph = FORMAT.read(&files, &Options::default()).unwrap();
    assert_eq!(
        (graph.nodes(), edges_by_id(&graph, true), graph.columns.len()),
        (8, tiny_edges(true), 2)
    );
    assert_eq!(crate::detect::detect(Path::new(""), &files).unwrap().0.name, "dimacs");
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let Some(path) = shared("dimacs9_rome99/rome99.gr") else { return };
    let expected = FORMAT.read(std::slice::from_ref(&path), &Options::default()).unwrap();
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(
            pool.install(|| both_ways(|limit| read_by(
                std::slice::from_ref(&path),
                &Options::default(),
                limit,
                BlockSizes { block: 5000, piece: 99 }
            )))
            .unwrap(),
            expected
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_graph_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), header in any::<bool>(), cut in 0usize..4) {
        let _ = text_by([if header { &b"p sp 3 2\n"[..] } else { b"" }, &bytes].concat(), &Options::default(), CUTS[cut]);
    }

    #[test]
    fn changed_files_are_read_the_same_for_every_cut(
        places in any::<bool>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), "[0-9 .acev\n-]|[\\x00-\\xff]"), 0..4),
        cut in 1usize..4,
    ) {
        let (graph, of_places) = ("c x\np sp 3 2\na 1 3 7\nc a 1 1 1\na 3 3 .5\n", "c\np aux sp \
            co 3\nv 3 -5 6\nv 1 7 8\nc\nv 2 1 2\n");
        let mut bytes = if places { of_places } else { graph }.as_bytes().to_vec();
        for (at, change) in changes {
            let at = at.index(bytes.len());
            bytes.splice(at..at + 1, change.bytes());
        }
        let read = |sizes| if places { placed(&String::from_utf8_lossy(&bytes), sizes) } else { text_by(&bytes, &Options::default(), sizes) };
        prop_assert_eq!(told(read(CUTS[cut])), told(read(SIZES)));
    }
}
