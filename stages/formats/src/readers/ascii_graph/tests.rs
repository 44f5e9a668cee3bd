//! ASCII graphs: small ones, a real one, every fault with its place.
use super::*;
use crate::{
    raw_graph::NodeIds,
    read_error::Place,
    test_support::{CUTS, both_ways, edges_by_id, fixture, read_written, shared, tiny_edges, told},
};
use proptest::prelude::*;

fn text_by(text: impl AsRef<[u8]>, sizes: BlockSizes) -> Read<RawGraph> {
    read_written("a.graph-txt", text.as_ref(), |path| {
        both_ways(|limit| read_by(path, &Options::default(), limit, sizes))
    })
}

#[test]
fn lists_are_read_for_every_cut() {
    for text in ["4\n1 2\n\n0 \n3 0\n", " 4 \r\n1\t2\r\n\r\n0\r\n3 0", "4\n1 2\n\n0\n3 0\n\n\n \n"]
    {
        for sizes in CUTS {
            let graph = text_by(text, sizes).unwrap();
            assert_eq!(
                (graph.ids, graph.edges.source, graph.edges.target),
                (NodeIds::Count(4), vec![0, 0, 2, 3, 3], vec![1, 2, 0, 3, 0]),
                "{text:?}"
            );
        }
    }
    assert_eq!(text_by("0\n", SIZES).unwrap().nodes(), 0);
}

#[test]
fn every_fault_is_named_with_its_line_and_column() {
    let cases = [
        ("x\n", 1, 1, "number of nodes"),
        ("\n1\n", 1, 1, "number of nodes"),
        ("4294967295\n", 1, 1, "number of nodes"),
        ("2 1\n", 1, 3, "goes on"),
        ("2\n1\n", 1, 1, "fewer lists"),
        ("4294967294\n1\n", 1, 1, "fewer lists"),
        ("2\n1\n\n\n 0\n", 5, 2, "more lists"),
        ("2\n1\n\n\nx\n", 5, 1, "more lists"),
        ("2\n2\n\n", 2, 1, "out of range"),
        ("2\n1 -1\n\n", 2, 3, "not a number"),
    ];
    for (text, line, column, what) in cases {
        for sizes in CUTS {
            let error = text_by(text, sizes).unwrap_err();
            assert!(
                error.what.contains(what),
                "{text:?}: expected `{what}`, found `{}`",
                error.what
            );
            assert_eq!(error.place, Place::Line { line, column }, "{text:?}");
        }
    }
    assert!(text_by("", SIZES).unwrap_err().what.contains("empty"));
}

#[test]
fn a_real_graph_has_the_counts_of_its_source() {
    let Some(path) = shared("web_cnr-2000/url_order/cnr-2000.graph-txt.gz") else { return };
    let (format, files) = crate::detect::detect(Path::new(""), &[path]).unwrap();
    let graph = format.read(&files, &Options::default()).unwrap();
    assert_eq!(
        (format.name, graph.nodes(), graph.edges.len(), graph.validate()),
        ("ascii_graph", 325_557, 3_216_152, Ok(()))
    );
    assert_eq!(
        graph
            .edges
            .source
            .iter()
            .zip(&graph.edges.target)
            .filter(|(source, target)| source == target)
            .count(),
        87_442
    );
}

#[test]
fn the_tiny_graph_is_the_same_in_this_format() {
    let path = fixture("tiny.graph-txt");
    let graph = FORMAT.read(std::slice::from_ref(&path), &Options::default()).unwrap();
    let mut expected = tiny_edges(false);
    expected.dedup();
    assert_eq!((graph.nodes(), edges_by_id(&graph, false)), (9, expected));
}

proptest! {
    #[test]
    fn any_bytes_are_a_graph_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200), header in any::<bool>(), cut in 0usize..4) {
        let _ = text_by([if header { &b"3\n"[..] } else { b"" }, &bytes].concat(), CUTS[cut]);
    }

    #[test]
    fn changed_files_are_read_the_same_for_every_cut(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), "[0-9 .\n-]|[\\x00-\\xff]"), 0..4),
        cut in 1usize..4,
    ) {
        let mut bytes = b"4\n1 2\n\n0 \n3 0\n\n".to_vec();
        for (at, change) in changes {
            let at = at.index(bytes.len());
            bytes.splice(at..at + 1, change.bytes());
        }
        prop_assert_eq!(told(text_by(&bytes, CUTS[cut])), told(text_by(&bytes, SIZES)));
    }
}
