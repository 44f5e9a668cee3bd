//! METIS: all formats of lines, real graphs, every fault with its place.
use super::*;
use crate::{
    raw_graph::NodeIds,
    readers::matrix_market,
    test_support::{CUTS, both_ways, edges_by_id, fixture, read_written, shared, tiny_edges, told},
};
use proptest::prelude::*;
use std::fs;

fn text_by(text: impl AsRef<[u8]>, options: &Options, sizes: BlockSizes) -> Read<RawGraph> {
    read_written("a.graph", text.as_ref(), |path| {
        both_ways(|limit| read_by(path, options, limit, sizes))
    })
}

fn text(text: &str) -> Read<RawGraph> {
    text_by(text, &Options::default(), SIZES)
}

fn directed() -> Options {
    Options { directed: Some(true), ..Options::default() }
}

fn integers(values: &[i64]) -> Column {
    Column::Integers(values.iter().copied().map(Some).collect())
}

#[test]
fn every_format_of_lines_is_read() {
    let (source, target) = (vec![0, 1, 1, 2], vec![1, 0, 2, 1]);
    let cases = [
        ("4 2\n2\n1 3\n2\n\n", None, vec![]),
        ("% c\n\n4 2 0\r\n%c\n 2\r\n1 3\n% c\n\t2 \n\n\n\n", None, vec![]),
        ("4 2 1\n2 5\n1 5 3 -.5\n2 -.5\n\n", Some(vec![5.0, 5.0, -0.5, -0.5]), vec![]),
        ("4 2 010\n7 2\n8 1 3\n9 2\n10\n", None, vec![("weight", [7, 8, 9, 10])]),
        (
            "4 2 10 2\n7 1 2\n8 2 1 3\n9 3 2\n10 4",
            None,
            vec![("weight_1", [7, 8, 9, 10]), ("weight_2", [1, 2, 3, 4])],
        ),
        ("4 2 100\n7 2\n8 1 3\n9 2\n10\n\n", None, vec![("size", [7, 8, 9, 10])]),
        ("4 2 000\n2\n1 3\n2\n\n", None, vec![]),
        ("4 2 001 0\n2 5\n1 5 3 -.5\n2 -.5\n\n", Some(vec![5.0, 5.0, -0.5, -0.5]), vec![]),
        (
            "4 2 011\n7 2 1\n8 1 1 3 2\n9 2 2\n10\n",
            Some(vec![1.0, 1.0, 2.0, 2.0]),
            vec![("weight", [7, 8, 9, 10])],
        ),
        (
            "4 2 101\n7 2 1\n8 1 1 3 2\n9 2 2\n10\n",
            Some(vec![1.0, 1.0, 2.0, 2.0]),
            vec![("size", [7, 8, 9, 10])],
        ),
        (
            "4 2 110\n3 7 2\n3 8 1 3\n3 9 2\n3 10\n",
            None,
            vec![("size", [3, 3, 3, 3]), ("weight", [7, 8, 9, 10])],
        ),
        (
            "4 2 111 1\n3 7 2 1\n3 8 1 1 3 2\n3 9 2 2\n3 10\n",
            Some(vec![1.0, 1.0, 2.0, 2.0]),
            vec![("size", [3, 3, 3, 3]), ("weight", [7, 8, 9, 10])],
        ),
    ];
    for (written, weight, columns) in cases {
        for sizes in CUTS {
            let graph = text_by(written, &Options::default(), sizes).unwrap();
            assert_eq!(
                (graph.ids, graph.directed),
                (NodeIds::Numbers(vec![1, 2, 3, 4]), Some(false))
            );
            assert_eq!(
                (&graph.edges.source, &graph.edges.target, &graph.edges.weight),
                (&source, &target, &weight),
                "{written:?}"
            );
            let expected: Vec<_> =
                columns.iter().map(|(name, values)| (name.to_string(), integers(values))).collect();
            assert_eq!(graph.columns, expected, "{written:?}");
        }
    }
    let unread = Options { weight: Some("none".into()), ..Options::default() };
    assert_eq!(text_by("2 1 1\n2 5\n1 5\n", &unread, SIZES).unwrap().edges.weight, None);
}

#[test]
fn loops_and_repeats_are_kept() {
    // Each loop listed once or twice; 100 for "may have loops and repeats".
    for written in ["2 2\n1 2\n1\n", "2 2\n1 1 2\n1\n", "2 2 100\n1 2\n1\n", "2 2 100\n1 1 2\n1\n"]
    {
        assert_eq!(text(written).unwrap().edges.target[0], 0, "{written:?}");
    }
    assert_eq!(text("2 2 1\n2 1 2 5\n1 5 1 1\n").unwrap().edges.len(), 4);
}

#[test]
fn lists_that_disagree_name_the_vertex() {
    let cases = [
        (
            "3 1\n2\n3\n\n",
            "vertex 2 does not list 1 as a neighbour, but 1 lists 2",
            3,
            "it in both lists",
            "it in one",
        ),
        (
            "% c\n3 2\n2\n% c\n% c\n3 1\n1\n",
            "vertex 1 does not list 3 as a neighbour, but 3 lists 1",
            3,
            "it in both lists",
            "it in one",
        ),
        (
            "3 2\n% c\n2\n% c\n3 1\n1\n",
            "vertex 1 does not list 3 as a neighbour, but 3 lists 1",
            3,
            "it in both lists",
            "it in one",
        ),
        (
            "2 1 1\n2 5\n1 6\n",
            "vertex 1 does not list its edge to 2 as 2 does",
            2,
            "weight 6",
            "weight 5",
        ),
        (
            "2 2 1\n2 1 2 5\n1 1 1 1\n",
            "vertex 1 does not list its edge to 2 as 2 does",
            2,
            "weight 1, 1",
            "weight 1, 5",
        ),
        (
            "3 2\n2 2\n1\n2\n",
            "vertex 1 does not list its edge to 2 as 2 does",
            2,
            "it 1 times",
            "it 2 times",
        ),
    ];
    for (written, what, line, expected, found) in cases {
        for sizes in CUTS {
            let mut error = text_by(written, &Options::default(), sizes).unwrap_err();
            assert_eq!(
                (&*error.what, &*error.expected, &*error.found),
                (what, expected, found),
                "{written:?}"
            );
            assert_eq!(
                (
                    std::mem::replace(&mut error.place, Place::File),
                    error.hint.contains("directed: true")
                ),
                (Place::Line { line, column: 1 }, true),
                "{written:?}"
            );
        }
    }
}

#[test]
fn every_fault_is_named_with_its_line_and_column() {
    let cases = [
        ("x 2\n", 1, 1, "no sound number of vertices"),
        ("2 x\n", 1, 3, "number of edges"),
        ("7434 \n 1 2 3\n", 1, 6, "this is a mesh"),
        ("4294967295 1\n", 1, 1, "no sound number of vertices"),
        ("2 1 7\n", 1, 5, "no format"),
        ("2 1 1111\n", 1, 5, "no format"),
        ("2 1 1 2\n", 1, 5, "disagree"),
        ("2 1 10 0\n", 1, 5, "disagree"),
        ("2 1 10 1 1\n", 1, 10, "too many numbers"),
        ("2 1\n2\n", 1, 1, "fewer lists"),
        ("2 1\n2\n1\n\n% c\n1\n", 6, 1, "more lines of neighbours"),
        ("2 1\n2\n1\n\nx\n", 5, 1, "more lines of neighbours"),
        ("2 2\n2\n1\n", 1, 3, "as many edges"),
        ("2 1\n2\n3\n", 3, 1, "neighbour is out of range"),
        ("2 1\n2\n0\n", 3, 1, "neighbour is out of range"),
        ("2 1\n2 x\n1\n", 2, 3, "neighbour is not a number"),
        ("2 1 1\n2\n1 1\n", 2, 2, "weight of an edge is missing"),
        ("2 1 1\n2 nan\n1 1\n", 2, 3, "not finite"),
        ("2 1 10\n1.5 2\n1 1\n", 2, 1, "weight of a vertex is not a whole number"),
        ("2 1 10\n1 2\n\n1 1\n", 3, 1, "weight of a vertex is missing"),
        ("2 1 10 3\n1 2\n1 1\n", 2, 4, "weight of a vertex is missing"),
        ("2 1 110\n1 1 2\n\n1 1 1\n", 3, 1, "size of a vertex is missing"),
    ];
    for (written, line, column, what) in cases {
        for sizes in CUTS {
            let error = text_by(written, &Options::default(), sizes).unwrap_err();
            assert!(
                error.what.contains(what),
                "{written:?}: expected `{what}`, found `{}`",
                error.what
            );
            assert_eq!(error.place, Place::Line { line, column }, "{written:?}");
            assert!(!error.expected.is_empty(), "{error}");
        }
    }
    for written in ["", "% c\n\n"] {
        assert!(text(written).unwrap_err().what.contains("no header"));
    }
    assert!(text("4294967294 1\n2\n1\n").unwrap_err().what.contains("fewer lists"));
    assert!(text("0 0 10 4000000000\n").unwrap().columns.is_empty());
}

#[test]
fn real_graphs_have_the_counts_of_their_source() {
    let Some(folder) = shared("metis_graphs") else { return };
    let sets = [
        ("4elt.graph", 15_606, 45_878, 0),
        ("delaunay_n15.graph", 32_768, 98_274, 0),
        ("rgg_n_2_15_s0.graph", 32_768, 160_240, 0),
        ("example_weighted.graph", 132, 328, 1),
        ("test.mgraph", 766, 1_314, 2),
        ("astro-ph.graph", 16_706, 121_251, 0),
        ("PGPgiantcompo.graph", 10_680, 24_316, 0),
        ("power.graph", 4_941, 6_594, 0),
        ("hep-th.graph", 8_361, 15_751, 0),
        ("wing.graph", 62_032, 121_544, 0),
        ("celegans_metabolic.graph", 453, 2_025, 0),
        ("jazz.graph", 198, 2_742, 0),
        ("airfoil1.graph", 4_253, 12_289, 0),
        ("tiny_01.graph", 7, 11, 0),
        ("tiny_02.graph", 7, 11, 0),
        ("tiny_03.graph", 7, 11, 1),
        ("tiny_04.graph", 7, 11, 3),
    ];
    for (name, nodes, edges, columns) in sets {
        let path = folder.join(name);
        let graph = read(&path, &Options::default()).unwrap();
        assert_eq!(
            (graph.nodes(), graph.edges.len(), graph.columns.len(), graph.validate()),
            (nodes, 2 * edges, columns, Ok(())),
            "{name}"
        );
        assert_eq!(
            graph.edges.weight.is_some(),
            ["example_weighted.graph", "tiny_02.graph", "tiny_03.graph"].contains(&name)
        );
        assert_eq!(crate::detect::detect(&folder, &[path]).unwrap().0.name, "metis", "{name}");
    }
    let mesh = folder.join("metis.mesh");
    let (format, files) = crate::detect::detect(&folder, std::slice::from_ref(&mesh)).unwrap();
    let error = format.read(&files, &Options::default()).unwrap_err();
    assert!(error.what.contains("mesh") && error.hint.contains("m2gmetis"), "{error}");
    // Of a graph and its mesh the graph is read.
    assert_eq!(
        crate::detect::detect(&folder, &[folder.join("4elt.graph"), mesh]).unwrap().1,
        [folder.join("4elt.graph")]
    );
}

#[test]
fn lists_of_successors_are_read_when_they_are_said_to_be() {
    let Some(folder) = shared("tiny_gapbs") else { return };
    for (name, weighted) in [("4.graph", false), ("4w.graph", true)] {
        let error = read(&folder.join(name), &Options::default()).unwrap_err();
        assert!(
            error.what.contains("as many edges") && error.hint.contains("directed: true"),
            "{error}"
        );
        let graph = read(&folder.join(name), &directed()).unwrap();
        assert_eq!(
            (graph.nodes(), graph.edges.len(), graph.edges.weight.is_some(), graph.directed),
            (14, 53, weighted, Some(true))
        );
        // 4.mtx holds the same edges, some more than once, and loops.
        let mut others = edges_by_id(
            &matrix_market::read(&folder.join("4.mtx"), &Options::default()).unwrap(),
            false,
        );
        others.retain(|(source, target, _)| source != target);
        others.dedup();
        assert_eq!(edges_by_id(&graph, false), others, "{name}");
    }
}

#[test]
fn the_tiny_graph_is_the_same_in_this_format() {
    let path = fixture("tiny.metis");
    let graph = read(&path, &directed()).unwrap();
    assert_eq!((graph.nodes(), edges_by_id(&graph, true)), (8, tiny_edges(true)));
    assert_eq!(crate::detect::detect(Path::new(""), &[path]).unwrap().0.name, "metis");
}

#[test]
fn the_result_does_not_depend_on_threads_or_sizes() {
    let Some(path) = shared("metis_graphs/hep-th.graph") else { return };
    let expected = read(&path, &Options::default()).unwrap();
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for sizes in
            [BlockSizes { block: 1000, piece: 7 }, BlockSizes { block: 64_000, piece: 999 }]
        {
            assert_eq!(
                pool.install(|| both_ways(|limit| read_by(
                    &path,
                    &Options::default(),
                    limit,
                    sizes
                )))
                .unwrap(),
                expected
            );
        }
    }
}

const SAMPLES: [&str; 4] = [
    "4 2\n2\n% c\n1 3\n2\n\n",
    "3 2 11\n7 2 1\n8 1 1 3 2\n9 2 2\n\n",
    "3 2 100 \n1 2\n1 1 3\n1 2\n",
    "3 3 100\n1 2\n1 3\n2\n",
];

proptest! {
    #[test]
    fn any_bytes_are_a_graph_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), header in 0usize..3, cut in 0usize..4) {
        let _ = text_by([["", "3 2\n", "3 2 111 2\n"][header].as_bytes(), &bytes].concat(), &Options::default(), CUTS[cut]);
    }

    #[test]
    fn changed_files_are_read_the_same_for_every_cut(
        sample in 0usize..4,
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), "[0-9 .%\n-]|[\\x00-\\xff]"), 0..4),
        cut in 1usize..4,
    ) {
        let mut bytes = SAMPLES[sample].as_bytes().to_vec();
        for (at, change) in changes {
            let at = at.index(bytes.len());
            bytes.splice(at..at + 1, change.bytes());
        }
        prop_assert_eq!(told(text_by(&bytes, &Options::default(), CUTS[cut])), told(text_by(&bytes, &Options::default(), SIZES)));
    }

    /// Random pairs, listed at both ends, are read; when one entry is taken away, they are not.
    #[test]
    fn what_is_written_is_read(pairs in proptest::collection::vec((1usize..20, 1usize..20, 1u8..9), 1..60), lost in any::<proptest::sample::Index>()) {
        let mut lists = vec![Vec::new(); 20];
        let pairs: Vec<_> = pairs.into_iter().filter(|(a, b, _)| a != b).collect();
        for &(a, b, weight) in &pairs {
            lists[a].push((b, weight));
            lists[b].push((a, weight));
        }
        let written = |lists: &[Vec<(usize, u8)>], edges: usize| {
            let line = |list: &Vec<(usize, u8)>| list.iter().map(|(end, weight)| format!("{end} {weight} ")).collect::<String>() + "\n";
            format!("20 {edges} 1\n\n{}", lists[1..].iter().map(line).collect::<String>())
        };
        // Vertex 1 of the file is empty, so that all others are one further.
        let shifted: Vec<Vec<(usize, u8)>> = lists.iter().map(|list| list.iter().map(|&(end, weight)| (end + 1, weight)).collect()).collect();
        let graph = text(&written(&shifted, pairs.len())).unwrap();
        prop_assert_eq!(graph.edges.len(), 2 * pairs.len());
        if let Some(&(a, ..)) = pairs.get(lost.index(pairs.len().max(1))) {
            let mut broken = shifted;
            let (end, weight) = broken[a].pop().unwrap();
            broken[a].push((if end == a + 1 { 2 } else { end }, weight + 10));
            prop_assert!(text(&written(&broken, pairs.len())).unwrap_err().what.contains("does not list"));
        }
    }
}

#[test]
fn binary_files_named_so_are_not_metis() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graph");
    fs::write(&path, b"\x80\x02}q\x01").unwrap();
    assert!(recognise(&FileHeads::new(&[path])).is_none());
}
