//! Edge lists: small files line by line, faults, and the same result for every cut.
use super::*;
use crate::{
    Ids,
    raw::{NodeIds, Place},
};
use proptest::prelude::*;
use std::fs;

fn read_text(text: impl AsRef<[u8]>, options: Options, sizes: Sizes) -> Read<RawGraph> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("edges.txt");
    fs::write(&path, text).unwrap();
    let (graph, _) = read_by(Plain::open(&path)?, &options, &Known::default(), sizes)?;
    graph.validate().unwrap();
    Ok(graph)
}

fn numbers(text: &str) -> Read<RawGraph> {
    read_text(text, Options::default(), SIZES)
}

fn by_words() -> Options {
    Options { ids: Ids::String, ..Options::default() }
}

fn two_columns() -> Options {
    Options { weight: Some("none".into()), ..Options::default() }
}

#[test]
fn every_way_to_write_the_same_edges_is_read() {
    let expected = numbers("0 1\n5 0\n5 5\n").unwrap();
    assert_eq!(expected.ids, NodeIds::Numbers(vec![0, 1, 5]));
    assert_eq!((&expected.edges.source, &expected.edges.target), (&vec![0, 2, 2], &vec![1, 0, 2]));
    let others =
        ["\u{feff}0 1\r\n5 0\r\n5 5", "# c\n% c\n0\t1\n\n  \n 5\t \t0 \n5 5\n# end", "0,1\n5, 0\n5 ,5\n", "0;1\r\n5;0\r\n5;5\r\n", "00 01\n05 000\n5 5\n\n\n"];
    for text in others {
        assert_eq!(numbers(text).unwrap(), expected, "{text:?}");
    }
    assert_eq!(read_text("0 1 x\n5 0\n5 5 , ,1\n", two_columns(), SIZES).unwrap(), expected);
}

#[test]
fn a_third_column_is_a_weight() {
    let graph = numbers("# a b w\n0 1 1.5\n1 0 -2e-3\n1,1,.25\n").unwrap();
    assert_eq!((graph.ids, graph.edges.weight), (NodeIds::Count(2), Some(vec![1.5, -2e-3, 0.25])));
}

#[test]
fn large_and_sparse_ids_are_rows_in_order() {
    let text = format!("{} 7\n7 4294967296\n99999999999 {}\n", u64::MAX, u64::MAX);
    let graph = numbers(&text).unwrap();
    assert_eq!(graph.ids, NodeIds::Numbers(vec![7, 4294967296, 99999999999, u64::MAX]));
    assert_eq!((graph.edges.source, graph.edges.target), (vec![3, 0, 2], vec![0, 1, 3]));
    let graph = numbers("4294967295 4294967294\n").unwrap();
    assert_eq!(graph.ids, NodeIds::Numbers(vec![4294967294, 4294967295]));
}

#[test]
fn words_are_sorted_by_bytes() {
    let graph = read_text("b a 1\nÄ b 2\nb Z 3\n-1 b 4", by_words(), SIZES).unwrap();
    assert_eq!(graph.ids, NodeIds::Strings(["-1", "Z", "a", "b", "Ä"].map(String::from).to_vec()));
    assert_eq!((graph.edges.source, graph.edges.target), (vec![3, 4, 3, 0], vec![2, 3, 1, 3]));
}

#[test]
fn every_fault_is_named_with_its_line_and_column() {
    let cases: [(&str, u64, u64, &str); 17] = [
        ("# c\n0 1\n88 x\n", 3, 4, "target that is not a number"),
        ("source,target\n0,1\n", 1, 1, "source that is not a number"),
        ("0 1\n-3 1\n", 2, 1, "negative id"),
        ("0 1\r\n2\r\n", 2, 2, "without a target"),
        ("0 1\n2,,3\n", 2, 3, "without a target"),
        ("0 1\n,3\n", 2, 1, "without a source"),
        ("0 18446744073709551616\n", 1, 3, "too large"),
        ("0 1\n0 99999999999999999999999\n", 2, 3, "too large"),
        ("0 1.5\n", 1, 3, "target that is not a number"),
        ("0 1\n1 2 3\n", 2, 5, "more columns"),
        ("0 1 1\n1 2\n", 2, 4, "without a weight"),
        ("0 1 1\n1 2 nan\n", 2, 5, "not finite"),
        ("0 1 1\n1 2 -inf\n", 2, 5, "not finite"),
        ("0 1 1\n1 2 1e99\n", 2, 5, "not finite"),
        ("0 1 1\n1 2 1,5\n", 2, 7, "more than three columns"),
        ("0 1 one\n", 1, 5, "not a number"),
        ("0 1\n0 1,\n", 2, 5, "more columns"),
    ];
    for (text, line, column, what) in cases {
        for sizes in [SIZES, Sizes { block: 3, piece: 1 }] {
            let error = read_text(text, Options::default(), sizes).unwrap_err();
            assert!(error.what.contains(what), "{text:?}: expected `{what}`, found `{}`", error.what);
            // A trailing carriage return is a blank: the fault stands behind it.
            let column = if text.contains("2\r\n") { 3 } else { column };
            assert_eq!(error.place, Place::Line { line, column }, "{text:?}");
            assert!(!error.hint.is_empty() && !error.expected.is_empty());
        }
    }
}

#[test]
fn files_without_an_edge_or_of_another_kind_are_errors() {
    for text in ["", "\n\n", "# only\n% comments", "\u{feff}"] {
        assert!(numbers(text).unwrap_err().what.contains("no edge"));
    }
    assert!(numbers("%%MatrixMarket matrix coordinate\n1 1 1\n").unwrap_err().what.contains("Matrix Market"));
    assert!(read_text(b"\xff\xfe0\0", Options::default(), SIZES).unwrap_err().what.contains("UTF-16"));
    assert!(read_text(b"\xc3\x28 b\n", by_words(), SIZES).unwrap_err().what.contains("UTF-8"));
}

#[test]
fn a_line_above_the_limit_is_an_error() {
    let mut text = b"0 1\n".to_vec();
    text.resize(LINE_MOST + 100, b' ');
    let error = read_text(&text, Options::default(), SIZES).unwrap_err();
    assert!(error.what.contains("too long") && error.place == Place::Line { line: 2, column: 1 }, "{error}");
    text.resize(LINE_MOST + (9 << 20), b'7');
    text.push(b'\n');
    assert!(read_text(&text, Options::default(), SIZES).unwrap_err().what.contains("too"));
}

#[test]
fn the_result_does_not_depend_on_threads_or_sizes() {
    let edge = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50, i.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 48);
    let mut text = String::from("# head\n");
    (0..20_000).map(edge).for_each(|(source, target)| text += &format!("{source}\t{target} {}\r\n", source as f32 / 8.0));
    for options in [Options::default(), by_words()] {
        let expected = read_text(&text, options.clone(), SIZES).unwrap();
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for sizes in [Sizes { block: 1000, piece: 7 }, Sizes { block: 64_000, piece: 999 }, Sizes { block: 1 << 20, piece: 1 << 14 }] {
                assert_eq!(pool.install(|| read_text(&text, options.clone(), sizes)).unwrap(), expected);
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_graph_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), words in any::<bool>(), block in 1usize..64, piece in 1usize..64) {
        let options = if words { by_words() } else { Options::default() };
        let _ = read_text(&bytes, options, Sizes { block, piece });
    }

    #[test]
    fn nearly_sound_text_gives_the_same_for_every_cut(text in "([0-9]{1,3}[ ,\t]{1,2}[0-9]{1,3}( [0-9.]{1,3})?\r?\n|#x\n|\n|[0-9x, -]{0,6}\n){0,30}", block in 1usize..64, piece in 1usize..64) {
        let cut = |sizes| read_text(&text, Options::default(), sizes).map_err(|error| (error.what, error.place));
        prop_assert_eq!(cut(Sizes { block, piece }), cut(SIZES));
    }

    #[test]
    fn what_is_written_is_read(edges in proptest::collection::vec((any::<u64>(), 0u64..50), 1..50)) {
        let text: String = edges.iter().map(|(source, target)| format!("{source} {target}\n")).collect();
        let graph = numbers(&text).unwrap();
        let id = |row: u32| match &graph.ids { NodeIds::Count(_) => u64::from(row), NodeIds::Numbers(ids) => ids[row as usize], NodeIds::Strings(_) => unreachable!() };
        let read: Vec<_> = graph.edges.source.iter().zip(&graph.edges.target).map(|(&source, &target)| (id(source), id(target))).collect();
        prop_assert_eq!(read, edges);
    }
}
