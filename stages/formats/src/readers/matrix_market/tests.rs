//! Matrix Market: every kind of header, real matrices, every fault with its place.
use super::*;
use crate::{
    raw_graph::NodeIds,
    read_error::Place,
    test_support::{CUTS, both_ways, edges_by_id, fixture, read_written, shared, tiny_edges, told},
};
use proptest::prelude::*;
use std::fs;

fn text_by(text: impl AsRef<[u8]>, options: &Options, sizes: BlockSizes) -> Read<RawGraph> {
    read_written("a.mtx", text.as_ref(), |path| {
        both_ways(|limit| read_by(path, options, limit, sizes))
    })
}

fn text(text: &str) -> Read<RawGraph> {
    text_by(text, &Options::default(), SIZES)
}

fn unread() -> Options {
    Options { weight: Some("none".into()), ..Options::default() }
}

/// Sources and targets from 1, and weights.
fn entries(graph: &RawGraph) -> Vec<(u32, u32, f32)> {
    let weight = |at: usize| graph.edges.weight.as_ref().map_or(1.0, |weight| weight[at]);
    (0..graph.edges.len())
        .map(|at| (graph.edges.source[at] + 1, graph.edges.target[at] + 1, weight(at)))
        .collect()
}

#[test]
fn every_way_to_write_the_same_entries_is_read() {
    let expected =
        text("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1.5\n3 1 0\n3 1 -2\n")
            .unwrap();
    assert_eq!(
        (expected.ids.clone(), expected.directed),
        (NodeIds::Numbers(vec![1, 2, 3]), Some(true))
    );
    assert_eq!(entries(&expected), [(1, 2, 1.5), (3, 1, 0.0), (3, 1, -2.0)]);
    for other in [
        "\u{feff}%%matrixmarket MATRIX Coordinate REAL General\r\n% c\r\n\r\n3 3 3\r\n1 2 \
            1.5\r\n3 1 0\r\n3 1 -2",
        "%%MatrixMarket matrix coordinate integer general\n%%GraphBLAS type double\n%\n 3\t3 3 \
            \n\n%c\n 1 2 15e-1\n\n3 1 0.\n3 1 -2\n\n%",
    ] {
        for sizes in CUTS {
            assert_eq!(text_by(other, &Options::default(), sizes).unwrap(), expected, "{other:?}");
        }
    }
    let zero = Options { first_id: Some(0), ..Options::default() };
    assert_eq!(
        text_by("%%MatrixMarket matrix coordinate pattern general\n3 3 0\n", &zero, SIZES)
            .unwrap()
            .ids,
        NodeIds::Count(3)
    );
}

#[test]
fn symmetric_matrices_are_listed_as_stored_and_skew_ones_both_ways() {
    let graph =
        text("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 7\n3 3 1\n1 3 5\n")
            .unwrap();
    assert_eq!(
        (entries(&graph), graph.directed),
        (vec![(2, 1, 7.0), (3, 3, 1.0), (1, 3, 5.0)], Some(false))
    );
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 7\n3 1 -.5\n";
    let graph = text(skew).unwrap();
    assert_eq!(
        (entries(&graph), graph.directed),
        (vec![(2, 1, 7.0), (1, 2, -7.0), (3, 1, -0.5), (1, 3, 0.5)], Some(true))
    );
    assert_eq!(
        (graph.edges.len(), text_by(skew, &unread(), SIZES).unwrap().edges.weight),
        (4, None)
    );
    let graph = text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n").unwrap();
    assert_eq!((graph.edges.weight, graph.directed), (None, Some(false)));
}

#[test]
fn arrays_are_read_column_by_column_and_their_zeros_are_no_edges() {
    for sizes in CUTS {
        let array = |header: &str, values: &str| {
            entries(
                &text_by(
                    format!("%%MatrixMarket matrix array {header}\n{values}"),
                    &Options::default(),
                    sizes,
                )
                .unwrap(),
            )
        };
        assert_eq!(
            array("real general", "2 2\n1\n0\n\n%c\n3\n-4\n"),
            [(1, 1, 1.0), (1, 2, 3.0), (2, 2, -4.0)]
        );
        assert_eq!(
            array("integer symmetric", "3 3\n1\n2\n3\n4\n5\n6\n"),
            [(1, 1, 1.0), (2, 1, 2.0), (3, 1, 3.0), (2, 2, 4.0), (3, 2, 5.0), (3, 3, 6.0)]
        );
        let both = [(2, 1, 1.0), (1, 2, -1.0), (3, 2, 2.0), (2, 3, -2.0)];
        assert_eq!(array("real skew-symmetric", "3 3\n1\n0\n2\n"), both);
        assert_eq!(
            (array("real general", "0 0\n"), array("real skew-symmetric", "1 1\n")),
            (vec![], vec![])
        );
    }
    let graph =
        text_by("%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n0\n", &unread(), SIZES)
            .unwrap();
    assert_eq!((entries(&graph), graph.edges.weight), (vec![(1, 1, 1.0), (1, 2, 1.0)], None));
}

#[test]
fn values_that_nobody_asks_for_may_be_anything() {
    for (field, value) in [("real", "nan"), ("complex", "1 2"), ("integer", "1.5"), ("pattern", "")]
    {
        let graph = text_by(
            format!("%%MatrixMarket matrix coordinate {field} general\n2 2 1\n1 2 {value}\n"),
            &unread(),
            SIZES,
        )
        .unwrap();
        assert_eq!((entries(&graph), graph.edges.weight), (vec![(1, 2, 1.0)], None));
    }
    let graph = text_by(
        "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 2\n",
        &unread(),
        SIZES,
    )
    .unwrap();
    assert_eq!((graph.edges.len(), graph.directed), (1, Some(false)));
    // A matrix without entries has weights all the same.
    assert_eq!(
        text("%%MatrixMarket matrix coordinate real general\n2 2 0\n").unwrap().edges.weight,
        Some(vec![])
    );
}

#[test]
fn every_fault_is_named_with_its_line_and_column() {
    let coordinate = |rest: &str| format!("%%MatrixMarket matrix coordinate {rest}");
    let cases: Vec<(String, u64, u64, &str)> = vec![
        ("67 67 1\n1 1 1\n".into(), 1, 1, "no Matrix Market header"),
        (
            "\n%%MatrixMarket matrix coordinate real general\n".into(),
            1,
            1,
            "no Matrix Market header",
        ),
        ("%%MatrixMarket vector coordinate real general\n".into(), 1, 16, "unknown object"),
        ("%%MatrixMarket matrix sparse real general\n".into(), 1, 23, "unknown layout"),
        ("%%MatrixMarket matrix array pattern general\n".into(), 1, 29, "no pattern alone"),
        (coordinate("quaternion general\n"), 1, 34, "unknown field"),
        (coordinate("complex general\n"), 1, 34, "complex"),
        ("%%MatrixMarket matrix array complex general\n".into(), 1, 29, "complex"),
        (coordinate("real\n"), 1, 38, "unknown symmetry"),
        (coordinate("real hermitian\n"), 1, 39, "hermitian"),
        (coordinate("pattern skew-symmetric\n"), 1, 42, "no values to negate"),
        (coordinate("real general extra\n"), 1, 47, "goes on"),
        (coordinate("real general\n%%GraphBLAS type gunk\n"), 2, 18, "unknown type"),
        (coordinate("real general\n%%GraphBLAS type float complex\n"), 2, 18, "complex"),
        (coordinate("integer skew-symmetric\n%%GraphBLAS type uint8_t\n"), 2, 18, "without a sign"),
        (coordinate("real general\n3 3\n"), 2, 4, "lack their number of entries"),
        (coordinate("real general\n3 x 1\n"), 2, 3, "lack their number of columns"),
        (coordinate("real general\n3 3 1 1\n"), 2, 7, "a number too many"),
        (coordinate("real general\n3 4 1\n"), 2, 1, "not square"),
        (coordinate("real general\n4294967295 4294967295 1\n"), 2, 1, "too many rows"),
        (coordinate("real general\n4000000000 4000000000 1\n1 1 1\n"), 2, 1, "too many nodes"),
        (coordinate("real general\n2 2 2\n1 1 1\n"), 2, 5, "fewer entries"),
        (coordinate("real general\n2 2 1\n1 1 1\n\n%c\n 2 2 1\n"), 6, 2, "more entries"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n".into(), 2, 1, "fewer values"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n2\n".into(), 4, 1, "more values"),
        ("%%MatrixMarket matrix array real general\n1 1\n1 2\n".into(), 3, 3, "second value"),
        (coordinate("real general\n2 2 1\n0 1 1\n"), 3, 1, "row of an entry is out of range"),
        (coordinate("real general\n2 2 1\n1 3 1\n"), 3, 3, "column of an entry is out of range"),
        (coordinate("real general\n2 2 1\n1\n"), 3, 2, "column of an entry is missing"),
        (coordinate("real general\n2 2 1\n1 1\n"), 3, 4, "value of an entry is missing"),
        (coordinate("real general\n2 2 1\n1 1 one\n"), 3, 5, "value of an entry is not a number"),
        (coordinate("real general\n2 2 1\n1 1 nan\n"), 3, 5, "not finite"),
        (coordinate("real general\n2 2 1\n1 1 1e300\n"), 3, 5, "not finite"),
        (coordinate("real general\n2 2 1\n1 1 1 2\n"), 3, 7, "a column more"),
        (coordinate("pattern general\n2 2 1\n1 1 1\n"), 3, 5, "a column more"),
        (coordinate("integer general\n2 2 1\n1 1 1.5\n"), 3, 5, "not a whole number"),
        (
            coordinate("integer general\n%%GraphBLAS type int8_t\n2 2 1\n1 1 -129\n"),
            4,
            5,
            "out of range",
        ),
        (
            coordinate("integer general\n%%GraphBLAS type bool\n2 2 1\n1 1 2\n"),
            4,
            5,
            "out of range",
        ),
        (coordinate("real skew-symmetric\n2 2 1\n2 2 1\n"), 3, 1, "on its diagonal"),
    ];
    for (written, line, column, what) in cases {
        for sizes in CUTS {
            let error = text_by(&written, &Options::default(), sizes).unwrap_err();
            assert!(
                error.what.contains(what),
                "{written:?}: expected `{what}`, found `{}`",
                error.what
            );
            // A line that ends before the fault: the caret stands behind its last word.
            let column = if what.ends_with("missing")
                || what.contains("number of entries")
                || what.contains("unknown symmetry")
            {
                column.min(written.lines().nth(line as usize - 1).unwrap().len() as u64 + 1)
            } else {
                column
            };
            assert_eq!(error.place, Place::Line { line, column }, "{written:?}");
            assert!(!error.expected.is_empty(), "{error}");
        }
    }
    for written in ["", "%%MatrixMarket matrix coordinate real general\n% no sizes\n"] {
        assert!(text(written).unwrap_err().what.contains("before the sizes"));
    }
}

#[test]
fn large_claims_cost_nothing() {
    let graph =
        text("%%MatrixMarket matrix coordinate pattern general\n1000000 1000000 1\n1 1000000\n")
            .unwrap();
    assert_eq!(graph.nodes(), 1_000_000);
    for sizes in ["1048577 1048577 1", "4000000000 4000000000 1", "4294967294 4294967294 1"] {
        let error =
            text(&format!("%%MatrixMarket matrix coordinate pattern general\n{sizes}\n1 1\n"))
                .unwrap_err();
        assert!(
            error.what.contains("too many nodes") && error.hint.contains("edge list"),
            "{error}"
        );
    }
    assert!(
        text("%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n")
            .unwrap_err()
            .what
            .contains("fewer values")
    );
}

#[test]
fn files_are_recognised_by_their_banner() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = ["a.txt", "b.txt"].map(|name| folder.path().join(name)).to_vec();
    fs::write(&files[0], "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n").unwrap();
    fs::write(&files[1], "read me").unwrap();
    let (format, found) = crate::detect::detect(folder.path(), &files).unwrap();
    assert_eq!((format.name, found), ("matrix_market", files[..1].to_vec()));
}

#[test]
fn the_tiny_graph_is_the_same_in_this_format() {
    let path = fixture("tiny.mtx");
    let graph = read(&path, &Options::default()).unwrap();
    assert_eq!(
        (graph.nodes(), edges_by_id(&graph, true), graph.directed),
        (8, tiny_edges(true), Some(true))
    );
    assert_eq!(crate::detect::detect(Path::new(""), &[path]).unwrap().0.name, "matrix_market");
}

/// Lines that are entries, counted by another road.
fn body_lines(path: &Path) -> usize {
    let contents = fs::read_to_string(path).unwrap();
    contents.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('%')).count() - 1
}

#[test]
fn real_matrices_have_the_counts_of_their_source() {
    let sets = [
        (
            "mtx_lagraph",
            &[
                ("bcsstk13", 2003, 42_943),
                ("cryg2500", 2500, 12_349),
                ("jagmesh7", 1138, 4294),
                ("olm1000", 1000, 3996),
                ("pushpull", 4000, 99_208),
            ][..],
        ),
        (
            "mtx_lagraph",
            &[
                ("zenios", 2873, 15_032),
                ("karate", 34, 78),
                ("west0067", 67, 294),
                ("west0067_jumbled", 67, 294),
                ("matrix_uint64", 7, 12),
                ("full", 3, 9),
            ],
        ),
        (
            "mtx_suitesparse",
            &[
                ("bcspwr01", 39, 85),
                ("bcspwr09", 1723, 4117),
                ("bcspwr10", 5300, 13_571),
                ("dwt_992", 992, 8868),
                ("G51", 1000, 5909),
            ],
        ),
        (
            "mtx_suitesparse",
            &[
                ("Erdos971", 472, 1314),
                ("chesapeake", 39, 170),
                ("GD97_b", 47, 132),
                ("Pd", 8081, 13_036),
                ("bayer10", 13_436, 94_926),
            ],
        ),
        (
            "mtx_suitesparse",
            &[("rajat19", 1157, 5399), ("watt_2", 1856, 11_550), ("bips98_606", 7135, 34_738)],
        ),
        ("tiny_gapbs", &[("4", 14, 256), ("4w", 14, 256)]),
    ];
    for (folder, files) in sets {
        let Some(folder) = shared(folder) else { continue };
        for &(name, nodes, stored) in files {
            let path = folder.join(format!("{name}.mtx"));
            let graph = read(&path, &Options::default()).unwrap();
            assert_eq!(
                (graph.nodes(), graph.edges.len(), graph.validate()),
                (nodes, stored, Ok(())),
                "{name}"
            );
            assert_eq!(body_lines(&path), stored, "{name}");
        }
    }
    if let Some(folder) = shared("tiny_gapbs") {
        let from_zero = Options { first_id: Some(0), ..Options::default() };
        for (name, list, weights) in [("4.mtx", "4.el", false), ("4w.mtx", "4.wel", true)] {
            let (graph, listed) = (
                read(&folder.join(name), &from_zero).unwrap(),
                crate::readers::edge_list::read(&folder.join(list), &Options::default()).unwrap(),
            );
            assert_eq!(
                (&graph.ids, edges_by_id(&graph, weights)),
                (&NodeIds::Count(14), edges_by_id(&listed, weights)),
                "{name}"
            );
        }
    }
    let Some(path) = shared("mtx_suitesparse/young1c.mtx") else { return };
    assert!(read(&path, &Options::default()).unwrap_err().what.contains("complex"));
    let graph = read(&path, &unread()).unwrap();
    assert_eq!((graph.nodes(), graph.edges.len(), graph.edges.weight), (841, 4089, None));
}

#[test]
fn test_matrices_are_read_or_refused_as_they_should() {
    let Some(folder) = shared("mtx_lagraph") else { return };
    let refused = |name: &str| match name {
        "empty" | "lp_afiro" | "lp_afiro_structure" | "sources_7" => Some("not square"),
        "complex" => Some("complex"),
        "matrix_fp32" | "matrix_fp64" | "skew_fp32" | "skew_fp64" | "comments_west0067" => {
            Some("not finite")
        }
        _ => None,
    };
    let mut read_count = 0;
    for path in fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "mtx"))
    {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match (read(&path, &Options::default()), refused(&name)) {
            (Ok(graph), None) => {
                let times = if fs::read_to_string(&path)
                    .unwrap()
                    .lines()
                    .next()
                    .unwrap()
                    .contains("skew")
                {
                    2
                } else {
                    1
                };
                assert_eq!(
                    (graph.edges.len(), graph.validate()),
                    (times * body_lines(&path), Ok(())),
                    "{name}"
                );
                read_count += 1;
            }
            (Err(error), Some(what)) => {
                assert!(
                    error.what.contains(what)
                        && matches!(error.place, Place::Line { .. })
                        && !error.hint.is_empty(),
                    "{error}"
                );
                if what == "not finite" {
                    assert!(read(&path, &unread()).is_ok(), "{name}");
                }
            }
            (found, expected) => panic!("{name}: expected {expected:?}, found {found:?}"),
        }
    }
    assert_eq!(read_count, 54);
}

#[test]
fn malformed_matrices_are_refused_with_their_line() {
    let Some(folder) = shared("mtx_lagraph") else { return };
    let mut refused = 0;
    for part in ["malformed", "noheader"] {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder.join(part)).unwrap().map(|file| file.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let error = read(&path, &Options::default()).unwrap_err();
            println!("{error}\n");
            assert!(
                matches!(error.place, Place::Line { .. }) && error.location().contains(".mtx:"),
                "{error}"
            );
            refused += 1;
        }
    }
    assert_eq!(refused, 27);
}

#[test]
fn the_result_does_not_depend_on_threads_or_sizes() {
    let entry = |i: u64| {
        (
            i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52,
            i.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 52,
            i as f32 / 8.0,
        )
    };
    let mut written =
        String::from("%%MatrixMarket matrix coordinate real general\n4096 4096 20000\n");
    (0..20_000).map(entry).for_each(|(row, column, value)| {
        written += &format!("{} {} {value}\n", row + 1, column + 1)
    });
    let expected = text(&written).unwrap();
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for sizes in [
            BlockSizes { block: 1000, piece: 7 },
            BlockSizes { block: 64_000, piece: 999 },
            BlockSizes { block: 1 << 20, piece: 1 << 14 },
        ] {
            assert_eq!(
                pool.install(|| text_by(&written, &Options::default(), sizes)).unwrap(),
                expected
            );
        }
    }
}

const SAMPLES: [&str; 4] = [
    "%%MatrixMarket matrix coordinate real general\n% c\n4 4 3\n1 2 1.5\n3 4 -2\n4 4 0\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n\n3 2\n4 4\n",
    "%%MatrixMarket matrix coordinate integer skew-symmetric\n%%GraphBLAS type int8_t\n4 4 2\n2 1 \
        100\n3 2 -7\n",
    "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n0\n3\n",
];

proptest! {
    #[test]
    fn any_bytes_are_a_graph_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), banner in any::<bool>(), cut in 0usize..4) {
        let banner = if banner { &b"%%MatrixMarket matrix coordinate real general\n"[..] } else { b"" };
        let _ = text_by([banner, &bytes].concat(), &Options::default(), CUTS[cut]);
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

    #[test]
    fn what_is_written_is_read(edges in proptest::collection::vec((1u32..=50, 1u32..=50, -1e6f32..1e6), 0..60)) {
        let body: String = edges.iter().map(|(row, column, value)| format!("{row} {column} \
            {value}\n")).collect();
        let graph = text(&format!("%%MatrixMarket matrix coordinate real general\n50 50 {}\n{body}", edges.len())).unwrap();
        prop_assert_eq!(entries(&graph), edges);
    }
}
