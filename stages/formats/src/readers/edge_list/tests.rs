//! Edge lists: small files line by line, faults, and the same result for every cut.
use super::*;
use crate::{options::Ids, raw_graph::NodeIds, read_error::Place, text::blocks::LINE_MOST};
use proptest::prelude::*;
use std::fs;

fn read_text(text: impl AsRef<[u8]>, options: Options, sizes: BlockSizes) -> Read<RawGraph> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("edges.txt");
    fs::write(&path, text).unwrap();
    let (graph, _) = read_by(PlainFile::open(&path)?, &options, &KnownColumns::default(), sizes)?;
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
    let others = [
        "\u{feff}0 1\r\n5 0\r\n5 5",
        "# c\n% c\n0\t1\n\n  \n 5\t \t0 \n5 5\n# end",
        "0,1\n5, 0\n5 ,5\n",
        "0;1\r\n5;0\r\n5;5\r\n",
        "0 1\n5 0\n5 5\n\n\n",
    ];
    for text in others {
        assert_eq!(numbers(text).unwrap(), expected, "{text:?}");
    }
    assert_eq!(read_text("0 1 x\n5 0\n5 5 , ,1\n", two_columns(), SIZES).unwrap(), expected);
    let by_numbers = Options { ids: Ids::Number, ..Options::default() };
    assert_eq!(read_text("00 01\n05 000\n5 5\n\n\n", by_numbers, SIZES).unwrap(), expected);
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
    let cases: [(&str, u64, u64, &str); 22] = [
        ("# c\n0 1\n88 x\n", 3, 4, "target that is not a number"),
        ("0 1\nx 88\n", 2, 1, "source that is not a number"),
        ("person,friend\n0,1\n", 1, 1, "words above numbers"),
        ("-3 1\n", 1, 1, "negative id"),
        ("a b c d\n", 1, 1, "more than three words: names of columns that are not known"),
        ("p 0 3353 8870\na 2958 2959 535\n", 1, 10, "more than three columns"),
        ("Ann Bob\nAnn\n", 2, 4, "without a target"),
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
        for sizes in [SIZES, BlockSizes { block: 3, piece: 1 }] {
            let error = read_text(text, Options::default(), sizes).unwrap_err();
            assert!(
                error.what.contains(what),
                "{text:?}: expected `{what}`, found `{}`",
                error.what
            );
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
    assert!(
        numbers("%%MatrixMarket matrix coordinate\n1 1 1\n")
            .unwrap_err()
            .what
            .contains("Matrix Market")
    );
    assert!(
        read_text(b"\xff\xfe0\0", Options::default(), SIZES).unwrap_err().what.contains("UTF-16")
    );
    assert!(read_text(b"\xc3\x28 b\n", by_words(), SIZES).unwrap_err().what.contains("UTF-8"));
}

#[test]
fn a_line_above_the_limit_is_an_error() {
    let mut text = b"0 1\n".to_vec();
    text.resize(LINE_MOST + 100, b' ');
    let error = read_text(&text, Options::default(), SIZES).unwrap_err();
    assert!(
        error.what.contains("too long") && error.place == Place::Line { line: 2, column: 1 },
        "{error}"
    );
    text.resize(LINE_MOST + (9 << 20), b'7');
    text.push(b'\n');
    assert!(read_text(&text, Options::default(), SIZES).unwrap_err().what.contains("too"));
}

#[test]
fn the_result_does_not_depend_on_threads_or_sizes() {
    let edge = |i: u64| {
        (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50, i.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 48)
    };
    let mut text = String::from("# head\n");
    (0..20_000).map(edge).for_each(|(source, target)| {
        text += &format!("{source}\t{target} {}\r\n", source as f32 / 8.0)
    });
    let table: String =
        text.lines().skip(1).map(|line| line.replace(['\t', ' '], ",") + ",r\"\n").collect();
    let table = format!("source,target,cost,kind\n{}", table.replace(",r\"", ",\"r, s\""));
    let by_names = Options {
        relation: Some("kind".into()),
        edge_features: vec!["cost".into()],
        ..Options::default()
    };
    for (text, options) in [
        (&text, Options::default()),
        (&text, by_words()),
        (&text, two_columns()),
        (&table, by_names),
    ] {
        let expected = read_text(text, options.clone(), SIZES).unwrap();
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for sizes in [
                BlockSizes { block: 1000, piece: 7 },
                BlockSizes { block: 64_000, piece: 999 },
                BlockSizes { block: 1 << 20, piece: 1 << 14 },
            ] {
                assert_eq!(
                    pool.install(|| read_text(text, options.clone(), sizes)).unwrap(),
                    expected
                );
            }
        }
    }
}

/// `#` and other signs at the beginning, columns by name, one after the other: each text and the
/// edges by id, with weights.
#[test]
fn columns_are_found_by_their_names() {
    let texts = [
        "source,target\n7,3\n3,9\n",
        "\u{feff}Source;Target\r\n7;3\r\n3;9",
        "# c\n\nfrom\tto\n7\t3\n# c\n3\t9\n",
        "src dst\n7 3\n3   9\n",
        "\"src\",\"dst\"\n\"7\",\"3\"\n\"3\", \"9\"\n",
        "id|To_Node|from-node\n0|3|7\n1|9|3\n",
        "FromNodeId,ToNodeId,note\n7,3,\"a, b\"\n3,9,\"say \"\"hi\"\"\"\n",
        ":START_ID,:END_ID\n7,3\n3,9\n",
        "7:3\n3:9\n",
        "7|3\n3|9\n",
        "// c\n7 , 3\n3\t,\t9 \n",
        "\"7\" \"3\"\n3 9\n",
    ];
    for text in texts {
        for sizes in [SIZES, BlockSizes { block: 3, piece: 1 }] {
            let graph = read_text(text, Options::default(), sizes)
                .unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!(
                (&graph.ids, &graph.edges.source, &graph.edges.target),
                (&NodeIds::Numbers(vec![3, 7, 9]), &vec![1, 0], &vec![0, 2]),
                "{text:?}"
            );
            assert_eq!(graph.edges.weight, None);
        }
    }
    let graph = numbers("id|To_Node|from-node\n0|3|7\n").unwrap();
    assert_eq!(graph.passed_over, ["column `id` of the edges"]);
}

/// Signs that stand between numbers are found out, and words between known ones; others are told.
#[test]
fn any_sign_may_separate() {
    let separated =
        |separator: &str| Options { separator: Some(separator.into()), ..Options::default() };
    for sign in ["::", "||", "->", "=>", " -> ", "~", "/", "^", "<->", "--", "@@@", "!"] {
        let text = format!("7{sign}3\n3 {sign} 9\r\n");
        for options in [Options::default(), separated(sign)] {
            let graph = read_text(&text, options, BlockSizes { block: 3, piece: 1 })
                .unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!(
                (&graph.ids, &graph.edges.source, &graph.edges.target),
                (&NodeIds::Numbers(vec![3, 7, 9]), &vec![1, 0], &vec![0, 2]),
                "{text:?}"
            );
        }
        let weighted = format!("7{sign}3{sign}-0.5\n3{sign}9{sign}2\n");
        assert_eq!(
            numbers(&weighted).unwrap_or_else(|error| panic!("{weighted:?}: {error}")).edges.weight,
            Some(vec![-0.5, 2.0])
        );
        let named = format!(
            "source{sign}target{sign}weight{sign}\"kind\"\nAnn \
                Lee{sign}Bob{sign}2{sign}\"a{sign}b\"\n"
        );
        let table =
            read_text(&named, Options { relation: Some("kind".into()), ..separated(sign) }, SIZES)
                .unwrap();
        assert_eq!(
            (table.ids, table.relations),
            (NodeIds::Strings(vec!["Ann Lee".into(), "Bob".into()]), vec![format!("a{sign}b")])
        );
    }
    for text in [
        "Ann::Bob\nBob::Cid\n",
        "Ann->Bob\nBob -> Cid\n",
        "Ann || Bob\nBob||Cid",
        "Ann => Bob\nBob => Cid\n",
    ] {
        assert_eq!(
            numbers(text).unwrap().ids,
            NodeIds::Strings(["Ann", "Bob", "Cid"].map(String::from).to_vec()),
            "{text:?}"
        );
    }
    for (separator, text) in [
        ("-", "7-3\n3-9\n"),
        ("x", "7x3\n3x9\n"),
        (" and ", "7 and 3\n3 and 9\n"),
        ("\t", "7\t3\n3\t 9\n"),
        (" ", "7  3\n3 9\n"),
        (",", "7,3\n3,9"),
    ] {
        assert_eq!(
            read_text(text, separated(separator), SIZES).unwrap().ids,
            NodeIds::Numbers(vec![3, 7, 9]),
            "{text:?}"
        );
    }
    // Signs inside of words do not separate where something else does.
    for text in ["a::b|c::d", "a::b c->d", "a::b,c::d", "a=>b;c::d", "a::b\tc::d"] {
        assert_eq!(numbers(text).unwrap().nodes(), 2, "{text:?}");
        assert!(
            matches!(numbers(text).unwrap().ids, NodeIds::Strings(ids) if ids[1].starts_with("c")),
            "{text:?}"
        );
    }
    for text in ["10.0.0.1 10.0.0.2", "2020/01/02 2020/01/03", "2001:db8::1 2001:db8::2"] {
        assert!(
            matches!(read_text(text, by_words(), SIZES).unwrap().ids, NodeIds::Strings(ids) if ids == text.split(' ').collect::<Vec<_>>()),
            "{text:?}"
        );
    }
    // What is told is the only separator.
    assert_eq!(
        read_text("a,b\tc d\n", separated("\t"), SIZES).unwrap().ids,
        NodeIds::Strings(vec!["a,b".into(), "c d".into()])
    );
    assert_eq!(
        read_text("1 2\t3\n", separated("\t"), SIZES).unwrap().ids,
        NodeIds::Strings(vec!["1 2".into(), "3".into()])
    );
    assert!(
        read_text("1\t3\n1 2\t3\n", separated("\t"), SIZES)
            .unwrap_err()
            .what
            .contains("source that is not a number")
    );
    for bad in ["", "\"", "0123456789abcdef", "a\nb"] {
        assert!(
            read_text("1 2\n", separated(bad), SIZES).unwrap_err().what.contains("no separator"),
            "{bad:?}"
        );
    }
}

#[test]
fn faults_behind_other_separators_are_named_with_their_line_and_column() {
    let cases: [(&str, u64, u64, &str); 8] = [
        ("1::2\n1::x\n", 2, 4, "target that is not a number"),
        ("1::2\n::2\n", 2, 1, "without a source"),
        ("1::2\n1\n", 2, 2, "without a target"),
        ("1::2\n1::2::3\n", 2, 7, "more columns"),
        ("1::2::3\n1::2\n", 2, 5, "without a weight"),
        ("1::1193::5::978300760\n", 1, 13, "more than three columns"),
        ("1::-2\n", 1, 4, "negative id"),
        ("user::movie\n1::2\n", 1, 1, "words above numbers"),
    ];
    for (text, line, column, what) in cases {
        for sizes in [SIZES, BlockSizes { block: 3, piece: 1 }] {
            let error = read_text(text, Options::default(), sizes).unwrap_err();
            assert!(
                error.what.contains(what),
                "{text:?}: expected `{what}`, found `{}`",
                error.what
            );
            assert_eq!(error.place, Place::Line { line, column }, "{text:?}");
        }
    }
}

/// Ratings of MovieLens: four columns without names.
#[test]
fn columns_may_be_named_by_the_entry() {
    let text = "1::1193::5::978300760\n1::661::3.5::978302109\n2::1193::4::978298413\n";
    let of = |columns: &[&str]| Options {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        ..Options::default()
    };
    for sizes in [SIZES, BlockSizes { block: 3, piece: 1 }] {
        let graph = read_text(text, of(&["source", "target", "weight", "time"]), sizes).unwrap();
        assert_eq!(
            (graph.ids, &graph.edges.source),
            (NodeIds::Numbers(vec![1, 2, 661, 1193]), &vec![0, 0, 1])
        );
        assert_eq!(
            (graph.edges.weight, graph.passed_over),
            (Some(vec![5.0, 3.5, 4.0]), vec!["column `time` of the edges".to_owned()])
        );
    }
    let own = Options {
        source: Some("movie".into()),
        target: Some("user".into()),
        edge_features: vec!["time".into()],
        ..of(&["user", "movie", "rating", "time"])
    };
    let graph = read_text("1 7 5 30\n2 7 4 40\n", own, SIZES).unwrap();
    assert_eq!((graph.edges.source, graph.edges.target), (vec![2, 2], vec![0, 1]));
    assert_eq!(graph.edges.features, Some(EdgeFeatures { columns: 1, values: vec![30.0, 40.0] }));
    assert_eq!(read_text(text, two_columns(), SIZES).unwrap().edges.len(), 3);
    for (columns, what) in [
        (&["source", "target", "weight"][..], "more columns than the catalogue's entry names"),
        (
            &["source", "target", "weight", "time", "more"],
            "fewer columns than the catalogue's entry names",
        ),
        (&["user", "movie", "rating", "time"], "no two names of columns"),
    ] {
        let error = read_text(text, of(columns), SIZES).unwrap_err();
        assert!(
            error.what.contains(what) && matches!(error.place, Place::Line { line: 1, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_table_gives_weights_features_relations_and_directions() {
    let text = "Source;Target;Type;Weight;time;kind\nAnn;Bob;Directed;2;1.5;likes\nBob;\"Ann\";directed;3;2.5;knows\nBob;Cid;Directed;4;-1;likes\n";
    let graph = numbers(text).unwrap();
    assert_eq!(graph.ids, NodeIds::Strings(["Ann", "Bob", "Cid"].map(String::from).to_vec()));
    assert_eq!((graph.directed, graph.edges.weight), (Some(true), Some(vec![2.0, 3.0, 4.0])));
    assert_eq!(graph.passed_over, ["column `time` of the edges", "column `kind` of the edges"]);
    let options = Options {
        relation: Some("kind".into()),
        weight: Some("none".into()),
        edge_features: vec!["time".into(), "Weight".into()],
        ..Options::default()
    };
    for sizes in [SIZES, BlockSizes { block: 3, piece: 1 }] {
        let graph = read_text(text, options.clone(), sizes).unwrap();
        assert_eq!(
            (graph.relations, graph.edges.relation),
            (vec!["knows".into(), "likes".into()], Some(vec![1, 0, 1]))
        );
        assert_eq!(
            graph.edges.features,
            Some(EdgeFeatures { columns: 2, values: vec![1.5, 2.0, 2.5, 3.0, -1.0, 4.0] })
        );
        assert_eq!(
            (graph.edges.weight, graph.passed_over),
            (None, vec!["column `Type` of the edges".to_owned()])
        );
    }
    let chosen = Options {
        source: Some("b".into()),
        target: Some("a".into()),
        weight: Some("c".into()),
        ..Options::default()
    };
    let graph = read_text("a,b,c\n1,2,3\n", chosen, SIZES).unwrap();
    assert_eq!(
        (graph.edges.source, graph.edges.target, graph.edges.weight),
        (vec![1], vec![0], Some(vec![3.0]))
    );
}

#[test]
fn the_first_edge_decides_what_ids_are() {
    assert_eq!(
        numbers("Ann\tBob Lee\t2\nBob Lee\tCid\t3\n").unwrap().ids,
        NodeIds::Strings(["Ann", "Bob Lee", "Cid"].map(String::from).to_vec())
    );
    assert_eq!(
        numbers("a 1\n1 2\n").unwrap().ids,
        NodeIds::Strings(["1", "2", "a"].map(String::from).to_vec())
    );
    assert_eq!(numbers("source,target\na,1\n1,2\n").unwrap().nodes(), 3);
    let error = numbers("0 1\n1 Bob\n").unwrap_err();
    assert!(error.hint.contains("--set ingest.ids=string"), "{error}");
    assert_eq!(read_text("0 1\n1 Bob\n", by_words(), SIZES).unwrap().nodes(), 3);
    assert!(
        read_text("a b\n", Options { ids: Ids::Number, ..Options::default() }, SIZES)
            .unwrap_err()
            .what
            .contains("not a number")
    );
}

/// `007` and `7` are two words, and never one node unless the options say that ids are numbers.
#[test]
fn ids_with_zeros_before_them_are_words() {
    let words = |ids: &[&str]| NodeIds::Strings(ids.iter().map(|id| id.to_string()).collect());
    for text in [
        "007 7\n7 1\n",
        "7 007\n1 7\n",
        "1 7\n007 7\n",
        "\"007\" 7\n1 7\n",
        "007,7,2.5\n1,7,1\n",
        "007 -> 7\n1 -> 7\n",
        "source,target\n007,7\n1,7\n",
    ] {
        assert_eq!(numbers(text).unwrap().ids, words(&["007", "1", "7"]), "{text:?}");
    }
    let later = [
        "0 7\n1 2\n3 007\n",
        "0 7\n1 2\n3 000000007\n",
        "0\t7\t2\n1\t2\t2\n3\t007\t2\n",
        "0::7\n1::2\n3::007\n",
    ];
    for text in later {
        for sizes in [SIZES, BlockSizes { block: 5, piece: 2 }] {
            let error = read_text(text, Options::default(), sizes).unwrap_err();
            assert!(
                error.what.contains("an id with zeros before it")
                    && error.place
                        == Place::Line {
                            line: 3,
                            column: text
                                .rfind('3')
                                .map_or(0, |at| text[at..].find("00").unwrap() as u64 + 1)
                        },
                "{error}"
            );
            assert!(
                error.hint.contains("--set ingest.ids=string")
                    && error.hint.contains("--set ingest.ids=number"),
                "{error}"
            );
        }
        assert!(matches!(read_text(text, by_words(), SIZES).unwrap().ids, NodeIds::Strings(_)));
        let told =
            read_text(text, Options { ids: Ids::Number, ..Options::default() }, SIZES).unwrap();
        assert_eq!(told.ids, NodeIds::Numbers(vec![0, 1, 2, 3, 7]), "{text:?}");
    }
    let note =
        ["ids are words, since `007` has a zero before it; as numbers:  --set ingest.ids=number"];
    for text in ["007 7\n1 7\n", "7 1\n7 007\n", "source,target\n7,007\n"] {
        assert_eq!(numbers(text).unwrap().notes, note, "{text:?}");
        assert_eq!(read_text(text, by_words(), SIZES).unwrap().notes, [""; 0], "{text:?}");
    }
    assert_eq!(numbers("a 007\n").unwrap().notes, [""; 0]);
    assert!(
        numbers("source,target\n0,7\n7,00\n")
            .unwrap_err()
            .what
            .contains("an id with zeros before it")
    );
    // A 0 alone is a number, and so is one inside; a weight may begin as it likes.
    for text in ["0 10\n10 100\n", "0 10 00.5\n10 100 007\n", "0,10\n10,100\n"] {
        assert_eq!(numbers(text).unwrap().ids, NodeIds::Numbers(vec![0, 10, 100]), "{text:?}");
    }
}

/// What `networkx.write_edgelist` writes, and a first line with names that are not known.
#[test]
fn lines_of_other_tools_are_told_how_to_be_written() {
    for text in [
        "1 2 {'weight': 4}\n",
        "1 2 {}\n2 3 {}\n",
        "a b {'weight': 4, 'kind': 'x'}\n",
        "1 2 3\n2 3 {'weight': 4}\n",
    ] {
        let error = numbers(text).unwrap_err();
        assert!(
            error.what.contains("a dictionary of attributes")
                && error.hint.contains("nx.write_weighted_edgelist(g, \"g.txt\")"),
            "{error}"
        );
    }
    let target = numbers("x,{'k': 1}\n").unwrap_err();
    assert!(
        target.what.ends_with("where the target should stand") && target.expected == "a target",
        "{target}"
    );
    assert_eq!(read_text("1 2 {}\n2 3 {}\n", two_columns(), SIZES).unwrap().edges.len(), 2);
    assert_eq!(numbers("Set {1}\tSet {2}\n").unwrap().nodes(), 2);
    let hint = |text: &str| numbers(text).unwrap_err().hint;
    let ratings = hint("user,item,rating,ts\n1,10,4.5,978300760\n");
    assert!(
        ratings.contains("such as  read: {source: user, target: item, weight: rating} ;"),
        "{ratings}"
    );
    assert!(
        hint("user,item,ts\n1,10,978300760\n").contains("read: {source: user, target: item} ;")
    );
    assert!(
        hint("a user,item,n\n1,10,2\n")
            .contains("read: {source: NAME, target: NAME, weight: NAME} ;")
    );
    assert!(
        hint("user,item,rating,ts\nu1,i1,4.5,978300760\n")
            .contains("read: {source: user, target: item}")
    );
}

#[test]
fn faults_of_tables_are_named_with_their_line_and_column() {
    let cases: [(&str, u64, u64, &str); 12] = [
        ("source,target,weight\n0,1,2\n0,1\n", 3, 4, "without a weight"),
        ("source,target,note\n0,1,2\n0,1\n", 3, 4, "without its column `note`"),
        ("source,target,a\n0,1,2\n0,1,2,3\n", 3, 7, "more columns than its first"),
        ("source,target,a\n0,1,2\n0,x,2\n", 3, 3, "target that is not a number"),
        ("source,target,a\n0,1,2\n,1,2\n", 3, 1, "without a source"),
        ("source,target,a\nx,y,2\n,1,2\n", 3, 1, "without a source"),
        ("source,target,a,weight\n0,1,2,nan\n", 2, 7, "not finite"),
        ("source,target,a,weight\n0,1,2,\n", 2, 7, "without a weight"),
        ("source,target,a\n0,1,\"2\n", 2, 5, "does not end on its line"),
        ("source,target,a\n0,1,\"2\"3\n", 2, 8, "behind a field in quotes"),
        ("source,target,type\n0,1,Directed\n0,1,Undirected\n", 3, 5, "both directions"),
        ("source,target,a\n0,1,\"2\" \"3\"\n", 2, 9, "behind a field in quotes"),
    ];
    for (text, line, column, what) in cases {
        for sizes in [SIZES, BlockSizes { block: 3, piece: 1 }] {
            let error = read_text(text, Options::default(), sizes).unwrap_err();
            assert!(
                error.what.contains(what),
                "{text:?}: expected `{what}`, found `{}`",
                error.what
            );
            assert_eq!(error.place, Place::Line { line, column }, "{text:?}");
            assert!(!error.hint.is_empty() && !error.expected.is_empty(), "{error}");
        }
    }
    for options in [
        Options { weight: Some("cost".into()), ..Options::default() },
        Options { source: Some("cost".into()), ..Options::default() },
        Options { relation: Some("cost".into()), ..Options::default() },
        Options { edge_features: vec!["cost".into()], ..Options::default() },
    ] {
        let error = read_text("source,target,w\n0,1,2\n", options, SIZES).unwrap_err();
        assert!(
            error.what.contains("no column `cost`") && error.hint.contains("catalogue"),
            "{error}"
        );
    }
    let feature = Options { edge_features: vec!["a".into()], ..Options::default() };
    let error = read_text("source,target,a\n0,1,inf\n", feature, SIZES).unwrap_err();
    assert!(error.what.contains("feature `a` that is not a finite number"), "{error}");
    let relation = Options { relation: Some("a".into()), ..Options::default() };
    assert!(
        read_text("source,target,a\n0,1,\n", relation, SIZES)
            .unwrap_err()
            .what
            .contains("without a relation")
    );
}

/// A ring of so many nodes, with this in front.
fn ring(front: &str, nodes: u64) -> String {
    let lines: String = (0..nodes).map(|node| format!("{node} {}\n", (node + 1) % nodes)).collect();
    format!("{front}{lines}")
}

#[test]
fn a_line_of_counts_is_recognised_and_checked() {
    for sizes in [SIZES, BlockSizes { block: 3, piece: 1 }] {
        let graph = read_text(ring("20 20\n", 20), Options::default(), sizes).unwrap();
        assert_eq!(
            (graph.ids, graph.edges.len(), graph.edges.source[0]),
            (NodeIds::Count(20), 20, 0)
        );
    }
    // Isolated nodes that the count alone knows; from 1 if the last id says so.
    assert_eq!(numbers(&ring("23 20\n", 20)).unwrap().ids, NodeIds::Count(23));
    let from_one = format!("8 20\n{}", "1 8\n1 3\n".repeat(10));
    let graph = numbers(&from_one).unwrap();
    assert_eq!(
        (graph.ids, &graph.edges.target[..2]),
        (NodeIds::Numbers((1..=8).collect()), &[7, 2][..])
    );
    // What follows the second column is left, and the first line is looked at all the same.
    let alone = |text: &str| {
        read_text(
            text,
            Options {
                weight: Some("none".to_owned()),
                weights_dropped: true,
                ..Options::default()
            },
            SIZES,
        )
        .unwrap()
    };
    let weighted: String = ring("", 20).lines().map(|line| format!("{line} 0.5\n")).collect();
    for text in [ring("23 20\n", 20), format!("23 20\n{weighted}")] {
        let graph = alone(&text);
        assert_eq!(
            (graph.ids, graph.edges.len(), graph.edges.weight),
            (NodeIds::Count(23), 20, None)
        );
    }
    assert_eq!(alone(&weighted).edges.len(), 20);
    assert_eq!(
        (alone("3 2\n0 1 0.5\n1 2 1.5\n").ids, alone("1 2\n0 1 0.5\n1 2 1.5\n").edges.len()),
        (NodeIds::Count(3), 3)
    );
    // Two columns above three can only count.
    let graph = numbers("3 2\n0 1 0.5\n1 2 1.5\n").unwrap();
    assert_eq!((graph.ids, graph.edges.weight), (NodeIds::Count(3), Some(vec![0.5, 1.5])));
    let error = numbers("3 4\n0 1 0.5\n1 2 1.5\n").unwrap_err();
    assert!(
        error.what.contains("own count of edges")
            && error.place == Place::Line { line: 1, column: 1 },
        "{error}"
    );
    // A cut file.
    let error = numbers(&ring("100 200\n", 50)).unwrap_err();
    assert!(
        error.what.contains("disagrees with the count in its first line")
            && error.hint.contains("cut short"),
        "{error}"
    );
    // A short list that can be read in two ways is no guess.
    let error = numbers("# c\n3 1\n0 2\n").unwrap_err();
    assert!(
        error.what.contains("may be an edge, or count")
            && error.place == Place::Line { line: 2, column: 1 },
        "{error}"
    );
    let counts = |counts| Options { counts: Some(counts), ..Options::default() };
    assert_eq!(read_text("3 1\n0 2\n", counts(true), SIZES).unwrap().ids, NodeIds::Count(3));
    assert_eq!(read_text("3 1\n0 2\n", counts(false), SIZES).unwrap().edges.len(), 2);
    assert_eq!(read_text(ring("100 200\n", 50), counts(false), SIZES).unwrap().edges.len(), 51);
    assert!(
        read_text("3 2\n0 2\n", counts(true), SIZES)
            .unwrap_err()
            .what
            .contains("own count of edges")
    );
    assert!(
        read_text("3 1\n0 5\n", counts(true), SIZES)
            .unwrap_err()
            .what
            .contains("beyond its own count")
    );
    assert!(
        read_text("1 1\n0 2\n", counts(true), SIZES)
            .unwrap_err()
            .what
            .contains("own count of nodes")
    );
    let nodes = |nodes| Options { nodes: Some(nodes), ..Options::default() };
    let graph = read_text("0 2\n4 2\n", nodes(7), SIZES).unwrap();
    assert_eq!(
        (graph.ids, graph.edges.source, graph.edges.target),
        (NodeIds::Count(7), vec![0, 4], vec![2, 2])
    );
    assert!(read_text("0 2\n4 2\n", nodes(4), SIZES).unwrap_err().hint.contains("read: {nodes"));
    // A count that would cost memory is not believed.
    assert!(numbers(&ring("4000000000 20\n", 20)).unwrap_err().what.contains("believable"));
}

/// A first line that is not quite the count is never taken for an edge in silence.
#[test]
fn a_line_of_counts_that_disagrees_is_refused_or_told() {
    for first in ["100 10", "100 40", "100 19", "100 18", "20 10"] {
        let error = numbers(&ring(&format!("{first}\n"), 20)).unwrap_err();
        assert!(
            error.what.contains("disagrees with the count in its first line")
                && error.hint.contains("read: {counts: true}"),
            "{first}: {error}"
        );
        assert!(error.expected.contains("edges") && error.found.contains("20"), "{error}");
    }
    // Ids with gaps, edges counted exactly.
    let gaps: String = (0..20).map(|node| format!("{} {}\n", node * 7, node * 7 + 7)).collect();
    let error = numbers(&format!("21 20\n{gaps}")).unwrap_err();
    assert!(
        error.what.contains("may be an edge, or count") && error.hint.contains("counts: false"),
        "{error}"
    );
    // What is far from any count is an edge, and is told.
    let noted = numbers(&ring("100 5\n", 20)).unwrap();
    assert_eq!((noted.edges.len(), noted.notes.len()), (21, 1));
    assert!(
        noted.notes[0].contains("`100 5` is read as an edge")
            && noted.notes[0].contains("of which 20 follow"),
        "{:?}",
        noted.notes
    );
    assert_eq!(numbers("5 3\n0 1\n1 2\n").unwrap().notes.len(), 1);
    // One node too few for the ids below it.
    let noted = numbers("3 3\n0 1\n1 2\n2 3\n").unwrap();
    assert_eq!((noted.edges.len(), noted.notes.len()), (4, 1));
    assert!(
        noted.notes[0].contains("`3 3` is read as an edge, but 3 lines follow")
            && noted.notes[0].contains("ids from 0 to 3"),
        "{:?}",
        noted.notes
    );
    assert_eq!(
        read_text(
            "3 3\n0 1\n1 2\n2 3\n",
            Options { counts: Some(false), ..Options::default() },
            SIZES
        )
        .unwrap()
        .notes,
        Vec::<String>::new()
    );
    // Told, it may count each edge once.
    let counts = |counts| Options { counts: Some(counts), ..Options::default() };
    assert_eq!(read_text(ring("20 10\n", 20), counts(true), SIZES).unwrap().edges.len(), 20);
    assert_eq!(
        read_text(ring("100 5\n", 20), counts(false), SIZES).unwrap().notes,
        Vec::<String>::new()
    );
    assert_eq!(numbers(&ring("", 20)).unwrap().notes, Vec::<String>::new());
}

#[test]
fn whole_weights_that_f32_does_not_hold_are_told() {
    let text = "0 1 16777216\n1 2 16777217\n# remark\n2 3 33554435\n3 4 33554436.0\n4 5 1e20\n";
    for sizes in [SIZES, BlockSizes { block: 3, piece: 1 }] {
        let graph = read_text(text, Options::default(), sizes).unwrap();
        assert_eq!(
            graph.notes,
            ["2 weights are whole numbers above 16777216 that f32 does not hold, and were \
                    rounded to 24 bits; the first is in line 2"]
        );
        let graph = read_text(
            format!("source,target,weight\n{}", text.replace(' ', ",")),
            Options { ids: Ids::String, ..Options::default() },
            sizes,
        )
        .unwrap();
        assert!(
            graph.notes[0].starts_with("2 weights") && graph.notes[0].ends_with("line 3"),
            "{:?}",
            graph.notes
        );
    }
    assert_eq!(
        numbers("0 1 16777216\n1 2 -33554432\n2 3 0.1\n").unwrap().notes,
        Vec::<String>::new()
    );
}

#[test]
fn columns_that_two_signs_divide_are_refused() {
    for text in [
        "0 -> 1 0.5\n1 -> 2 0.5\n",
        "0->1 0.5\n1->2 0.5\n",
        "0->1,0.5\n",
        "0:1 0.5\n1:2 0.25\n",
        "a -- b 3\n",
        "a => b 0.5\n",
        "0 -> 1 2\n",
    ] {
        let error = numbers(text).unwrap_err();
        assert!(
            error.what.contains("divided in two ways")
                && error.hint.contains("one sign between all columns"),
            "{text}: {error}"
        );
        assert_eq!(error.place, Place::Line { line: 1, column: 1 });
    }
    for text in [
        "0 -> 1\n1 -> 2\n",
        "0->1->0.5\n1->2->1\n",
        "0,1 0.5\n1,2 0.5\n",
        "chr1:100 chr2:200\n",
        "1:100 2:200\n",
        "10.0.0.1 10.0.0.2 3\n",
    ] {
        assert!(numbers(text).is_ok(), "{text}");
    }
}

#[test]
fn counts_in_comments_are_checked() {
    let head = "# Directed graph\n# Nodes: 20 Edges: 20\n";
    assert_eq!(numbers(&ring(head, 20)).unwrap().edges.len(), 20);
    let error = numbers(&ring("# Nodes: 21 Edges: 21\n", 20)).unwrap_err();
    assert!(
        error.what.contains("own count of edges")
            && error.place == Place::Line { line: 1, column: 1 },
        "{error}"
    );
    let error = numbers(&ring("# c\n# Nodes: 19 Edges: 20\n", 20)).unwrap_err();
    assert!(
        error.what.contains("own count of nodes")
            && error.place == Place::Line { line: 2, column: 1 },
        "{error}"
    );
    // Each edge counted once, listed both ways.
    assert!(numbers("# Nodes: 2 Edges: 1\n0 1\n1 0\n").is_ok());
    assert!(
        read_text(
            ring("# Nodes: 21 Edges: 21\n", 20),
            Options { counts: Some(false), ..Options::default() },
            SIZES
        )
        .is_ok()
    );
}

#[test]
fn a_line_of_separators_alone_costs_no_more_than_its_columns() {
    let error = numbers(&",".repeat(1 << 20)).unwrap_err();
    assert!(
        error.what.contains("too many columns") || error.what.contains("without a source"),
        "{error}"
    );
    let error = numbers(&format!("source,target{}\n", ",a".repeat(1 << 18))).unwrap_err();
    assert!(error.what.contains("too many columns"), "{error}");
}

#[test]
fn packed_and_broken_files_are_read_or_named() {
    use std::io::Write as _;
    let dir = tempfile::tempdir().unwrap();
    assert!(read(dir.path(), &Options::default()).unwrap_err().what.contains("folder"));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(ring("", 5000).as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    assert_eq!(read_text(&packed, Options::default(), SIZES).unwrap().edges.len(), 5000);
    assert!(
        read_text(&packed[..packed.len() / 2], Options::default(), SIZES)
            .unwrap_err()
            .what
            .contains("gzip file is cut short")
    );
    let archive = crate::containers::zip::tests::archive_of(&[("edges.txt", b"0 1\n1 x\n")]);
    let error = read_text(archive, Options::default(), SIZES).unwrap_err();
    assert!(
        error.path.ends_with("edges.txt/edges.txt")
            && error.place == Place::Line { line: 2, column: 3 },
        "{error}"
    );
    let utf16: Vec<u8> = "0 1\n1 2\n".bytes().flat_map(|byte| [byte, 0]).collect();
    assert!(read_text(utf16, Options::default(), SIZES).unwrap_err().what.contains("UTF-16"));
    // No bytes of a pickle are shown.
    let pickle = read_text(b"\x80\x04\x95\n", Options::default(), SIZES).unwrap_err();
    assert!(
        pickle.what.starts_with("the file is a pickle, not an edge list; of pickles only ")
            && pickle.excerpt.is_none(),
        "{pickle}"
    );
    // What an address gives when it does not give the file: each would be read as edges between
    // words.
    let pages: [(&[u8], &str); 4] = [
        (b"<!DOCTYPE html><html><body>404</body></html>\n", "a web page"),
        (b"\n<html>login please</html>\n", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "git LFS"),
        (b"<?xml version=\"1.0\"?>\n", "XML"),
    ];
    for (page, what) in pages {
        let error = read_text(page, Options::default(), SIZES).unwrap_err();
        assert!(error.what.contains(what) && !error.hint.is_empty(), "{error:?}");
    }
}

#[test]
fn an_edge_list_is_recognised_among_other_text() {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = [
        ("README.md", "Read me please\n"),
        ("graph.txt", "# c\n0 1\n1 2\n"),
        ("names.txt", "0 Ann\n1 Bob\n"),
    ]
    .map(|(name, text)| {
        fs::write(dir.path().join(name), text).unwrap();
        dir.path().join(name)
    })
    .to_vec();
    let (format, files) = crate::detect::detect(dir.path(), &paths).unwrap();
    assert_eq!((format.name, files), ("edge_list", vec![dir.path().join("graph.txt")]));
    assert!(crate::detect::detect(dir.path(), &paths[..1]).is_err());
}

/// The words that a number may be.
fn spelled() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<f32>().prop_map(|number| number.to_string()),
        "-?[0-9]{0,9}\\.?[0-9]{0,9}(e-?[0-9])?",
        (0u32..1000).prop_map(|number| number.to_string())
    ]
}

proptest! {
    #[test]
    fn numbers_and_weights_are_those_of_the_standard_library(lines in proptest::collection::vec(("[0-9]{1,22}", "[0-9]{1,10}", spelled()), 1..20)) {
        // Without a single weight it is a list of two columns.
        prop_assume!(lines.iter().any(|(_, _, weight)| !weight.is_empty()));
        let text: String = lines.iter().map(|(source, target, weight)| format!("{source}\t{target} {weight}\n")).collect();
        let expected: Option<Vec<(u64, u64, f32)>> = lines.iter().map(|(source, target, weight)| {
            let weight = weight.parse::<f32>().ok().filter(|weight| weight.is_finite())?;
            Some((source.parse().ok()?, target.parse().ok()?, weight))
        }).collect();
        let read = read_text(&text, Options { ids: Ids::Number, counts: Some(false), ..Options::default() }, SIZES).ok().map(|graph| {
            let id = |row: u32| match &graph.ids { NodeIds::Numbers(ids) => ids[row as usize], _ => u64::from(row) };
            let ends = graph.edges.source.iter().zip(&graph.edges.target).map(|(&source, &target)| (id(source), id(target)));
            ends.zip(graph.edges.weight.iter().flatten()).map(|((source, target), &weight)| (source, target, weight)).collect::<Vec<_>>()
        });
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn a_changed_byte_gives_the_same_for_every_cut(at in any::<usize>(), byte in any::<u8>(), which in 0usize..5, block in 1usize..64, piece in 1usize..64) {
        let texts = [
            "# Nodes: 3 Edges: 2\n0 1 0.5\n1 2 1e2\n",
            "source,target,weight,kind\n1,2,0.5,\"a, b\"\n2,1,1,b\n",
            "Ann\tBob\t1\r\nBob\tCid\t2",
            "\u{feff}3 2\n0 1 4\n12345678 123456789 1234567.5\n",
            "7::3::0.5\n3 :: 9::1\n\"1\"::2::3",
        ];
        let mut text = texts[which].as_bytes().to_vec();
        let at = at % text.len();
        text[at] = byte;
        let options = Options { relation: (which == 1).then(|| "kind".into()), ..Options::default() };
        let cut = |sizes| read_text(&text, options.clone(), sizes).map_err(|error| (error.what, error.place));
        prop_assert_eq!(cut(BlockSizes { block, piece }), cut(SIZES));
    }

    #[test]
    fn nearly_sound_tables_give_the_same_for_every_cut(text in "(source,target,w|from;to|a,b)\r?\n([a-c0-9]{1,2}[,;][a-c0-9]{0,2}(,\"?[0-9a,]{0,3}\"?)?\r?\n|#x\n|\n){0,20}", block in 1usize..64, piece in 1usize..64) {
        let cut = |sizes| read_text(&text, Options { weight: Some("none".into()), ..Options::default() }, sizes).map_err(|error| (error.what, error.place));
        prop_assert_eq!(cut(BlockSizes { block, piece }), cut(SIZES));
    }

    #[test]
    fn any_bytes_are_a_graph_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), words in any::<bool>(), block in 1usize..64, piece in 1usize..64) {
        let options = if words { by_words() } else { Options::default() };
        let _ = read_text(&bytes, options, BlockSizes { block, piece });
    }

    #[test]
    fn nearly_sound_text_gives_the_same_for_every_cut(text in "([0-9]{1,3}[ ,\t]{1,2}[0-9]{1,3}( \
        [0-9.]{1,3})?\r?\n|#x\n|\n|[0-9x, -]{0,6}\n){0,30}", block in 1usize..64, piece in 1usize..64) {
        let cut = |sizes| read_text(&text, Options::default(), sizes).map_err(|error| (error.what, error.place));
        prop_assert_eq!(cut(BlockSizes { block, piece }), cut(SIZES));
    }

    #[test]
    fn what_is_written_is_read(edges in proptest::collection::vec((any::<u64>(), 0u64..50), 1..50)) {
        let text: String = edges.iter().map(|(source, target)| format!("{source} {target}\n")).collect();
        let graph = read_text(&text, Options { counts: Some(false), ..Options::default() }, SIZES).unwrap();
        let id = |row: u32| match &graph.ids { NodeIds::Count(_) => u64::from(row), NodeIds::Numbers(ids) => ids[row as usize], NodeIds::Strings(_) => unreachable!() };
        let read: Vec<_> = graph.edges.source.iter().zip(&graph.edges.target).map(|(&source, &target)| (id(source), id(target))).collect();
        prop_assert_eq!(read, edges);
    }
}

/// A list that is read with no memory for its edges at all.
fn read_spilled(text: &[u8], options: &Options) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges");
    std::fs::write(&path, text).unwrap();
    let known = KnownColumns { type_is_relation: true, ..KnownColumns::default() };
    let limit = Limit { memory: 0, folder: folder.path().to_path_buf() };
    let mut parser =
        EdgeListParser::new(&path, options, &known, &limit, BlockSizes { block: 64, piece: 16 });
    parser.read(PlainFile::open(&path)?)?;
    let found = parser.finish()?;
    assert!(found.spilled.is_some());
    Ok(crate::test_support::held(found))
}

#[test]
fn edges_in_a_file_are_those_in_memory() {
    let mut texts: Vec<String> = vec![
        (0..500u64).map(|edge| format!("{} {}\n", edge * 7 % 90, edge * edge % 83)).collect(),
        (0..300u64)
            .map(|edge| {
                format!("{} {} {}\n", edge % 9 * 1_000_000_007, edge << 33, edge as f32 / 4.0)
            })
            .collect(),
        (0..300u64)
            .map(|edge| format!("{} {}\n", (edge % 50) << 24, edge % 7 + (1 << 27)))
            .collect(),
    ];
    // A first line that counts, with isolated nodes; and one that counts wrongly.
    texts.push(format!(
        "100 200\n{}",
        (0..200).map(|edge| format!("{} {}\n", edge % 80, edge % 31)).collect::<String>()
    ));
    texts.push(format!(
        "100 205\n{}",
        (0..200).map(|edge| format!("{} {}\n", edge % 80, edge % 31)).collect::<String>()
    ));
    // Words, and relations that come one after the other.
    texts.push(
        (0..300).map(|edge| format!("w{} w{} 0.5\n", edge * 7 % 90, edge * edge % 83)).collect(),
    );
    texts.push(format!(
        "source,target,type\n{}",
        (0..300)
            .map(|edge| format!("{},{},r{}\n", edge * 7 % 90, edge % 83, 9 - edge / 40))
            .collect::<String>()
    ));
    for text in texts {
        let known = KnownColumns { type_is_relation: true, ..KnownColumns::default() };
        let held = crate::test_support::read_written("edges", text.as_bytes(), |path| {
            Ok(read_by(PlainFile::open(path)?, &Options::default(), &known, SIZES)?.0)
        });
        let spilled = read_spilled(text.as_bytes(), &Options::default());
        match (held, spilled) {
            (Ok(held), Ok(spilled)) => assert_eq!(spilled, held),
            (Err(held), Err(spilled)) => assert_eq!(
                (held.what, held.place, held.expected),
                (spilled.what, spilled.place, spilled.expected)
            ),
            (held, spilled) => panic!("{held:?} against {spilled:?}"),
        }
    }
    // Features follow their edges.
    let options = Options { edge_features: vec!["x".into(), "y".into()], ..Options::default() };
    let text = format!(
        "source,target,x,y\n{}",
        (0..300)
            .map(|edge| format!("{},{},{edge},-{edge}\n", edge % 9, edge % 7))
            .collect::<String>()
    );
    let spilled = read_spilled(text.as_bytes(), &options).unwrap();
    let values = (0..300).flat_map(|edge| [edge as f32, -edge as f32]).collect();
    assert_eq!(spilled.edges.features, Some(EdgeFeatures { columns: 2, values }));
    let known = KnownColumns { type_is_relation: true, ..KnownColumns::default() };
    assert_eq!(
        spilled,
        crate::test_support::read_written("edges", text.as_bytes(), |path| Ok(read_by(
            PlainFile::open(path)?,
            &options,
            &known,
            SIZES
        )?
        .0))
        .unwrap()
    );
}
