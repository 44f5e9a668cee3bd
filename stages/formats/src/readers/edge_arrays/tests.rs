//! Edges as arrays: every form and every fault, and what lies beside them in one file.
use super::*;
use crate::{
    containers::{gzip::tests::gzip, zip::tests::archive_of},
    detect::detect,
    raw_graph::{Features, IN_NO_PART, Labels, NodeIds, TEST, TRAIN},
    test_support::both_ways,
};
use std::fs;

/// The bytes of a `.npy` file.
fn npy(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    header += &" ".repeat((64 - (11 + header.len()) % 64) % 64);
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(values);
    bytes
}

/// Whole numbers as a `.npy` file.
pub(crate) fn wholes(shape: &str, values: &[i64]) -> Vec<u8> {
    npy("<i8", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

/// As numpy writes a transposed array.
fn columns_first(shape: &str, values: &[i64]) -> Vec<u8> {
    let text = b"'fortran_order': False";
    let mut bytes = wholes(shape, values);
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    bytes[at..at + text.len()].copy_from_slice(b"'fortran_order': True ");
    bytes
}

fn reals(shape: &str, values: &[f32]) -> Vec<u8> {
    npy("<f4", shape, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

fn tensors(parts: &[(&str, &str, &[u64])]) -> Vec<u8> {
    let (mut header, mut data) = (Vec::new(), Vec::new());
    for (name, shape, values) in parts {
        let begin = data.len();
        values.iter().for_each(|value| data.extend_from_slice(&value.to_le_bytes()));
        header.push(format!(
            "\"{name}\":{{\"dtype\":\"I64\",\"shape\":[{shape}],\"data_offsets\":[{begin},{}]}}",
            data.len()
        ));
    }
    let header = format!("{{{}}}", header.join(","));
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

/// What a folder with one file is read as.
fn folder(name: &str, bytes: &[u8]) -> Read<RawGraph> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let (format, files) = detect(folder.path(), &[path])?;
    assert_eq!(format.name, "arrays", "{name}");
    let graph = both_ways(|limit| (format.read_within)(&files, &Options::default(), limit))?;
    assert_eq!(graph.validate(), Ok(()));
    Ok(graph)
}

fn ends(graph: &RawGraph) -> (&[u32], &[u32]) {
    (&graph.edges.source, &graph.edges.target)
}

#[test]
fn the_same_edges_in_every_form_are_one_graph() {
    let (source, target) = ([0, 1, 2], [1, 2, 0]);
    let by_rows = wholes("2, 3", &[source, target].concat());
    let by_columns = wholes("3, 2", &[0, 1, 1, 2, 2, 0]);
    let (first, second) = (wholes("3,", &source), wholes("3,", &target));
    let pairs = |a: &str, b: &str| {
        archive_of(&[(&format!("{a}.npy"), &first), (&format!("{b}.npy"), &second)])
    };
    let cases = [
        ("edges.npy", by_rows.clone()),
        ("edge_index.npy", by_columns.clone()),
        ("edges.npz", pairs("source", "target")),
        ("mine.npz", pairs("src", "dst")),
        ("edges.npz", pairs("row", "col")),
        ("edges.npz", archive_of(&[("edges.npy", &by_rows)])),
        ("edges.npy", columns_first("3, 2", &[source, target].concat())),
        (
            "mine.npz",
            archive_of(&[("edge_index.npy", &columns_first("2, 3", &[0, 1, 1, 2, 2, 0]))]),
        ),
        ("edges.npy.gz", gzip(&by_rows)),
        ("edges.safetensors.gz", gzip(&tensors(&[("edge_index", "2,3", &[0, 1, 2, 1, 2, 0])]))),
        ("mine.npz", archive_of(&[("edge_index.npy", &by_columns)])),
        ("edges.safetensors", tensors(&[("edge_index", "2,3", &[0, 1, 2, 1, 2, 0])])),
        ("mine.safetensors", tensors(&[("source", "3", &[0, 1, 2]), ("target", "3", &[1, 2, 0])])),
    ];
    for (name, bytes) in cases {
        let graph = folder(name, &bytes).unwrap();
        assert_eq!(
            (&graph.ids, ends(&graph)),
            (&NodeIds::Count(3), (&[0, 1, 2][..], &[1, 2, 0][..])),
            "{name}"
        );
        assert_eq!(graph.passed_over, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn what_lies_beside_the_ends_is_read_or_named() {
    let bytes = archive_of(&[
        ("edge_attr.npy", &reals("3, 2", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ("source.npy", &wholes("3,", &[7, 5, 7])),
        ("target.npy", &wholes("3,", &[5, 9, 9])),
        ("test_mask.npy", &npy("|b1", "3,", &[0, 0, 1])),
        ("time.npy", &wholes("3,", &[1, 2, 3])),
        ("train_mask.npy", &npy("|b1", "3,", &[1, 0, 0])),
        (
            "type.npy",
            &npy(
                "<U1",
                "3,",
                &"bab".chars().flat_map(|sign| u32::from(sign).to_le_bytes()).collect::<Vec<_>>(),
            ),
        ),
        ("weight.npy", &reals("3,", &[0.5, 1.5, 2.5])),
        ("x.npy", &reals("3, 1", &[1.0, 2.0, 3.0])),
        ("y.npy", &wholes("3,", &[1, 0, 1])),
    ]);
    let graph = folder("edges.npz", &bytes).unwrap();
    assert_eq!(
        (&graph.ids, ends(&graph)),
        (&NodeIds::Numbers(vec![5, 7, 9]), (&[1, 0, 1][..], &[0, 2, 2][..]))
    );
    assert_eq!(
        (graph.edges.weight.as_deref(), graph.edges.relation.as_deref()),
        (Some(&[0.5, 1.5, 2.5][..]), Some(&[1, 0, 1][..]))
    );
    assert_eq!(
        (graph.relations.join(" "), graph.edges.features.map(|features| features.columns)),
        ("a b".to_owned(), Some(2))
    );
    assert_eq!(graph.features, Some(Features::Dense { columns: 1, values: vec![1.0, 2.0, 3.0] }));
    assert!(matches!(&graph.labels, Some(Labels::Classes { class, .. }) if *class == [1, 0, 1]));
    assert_eq!(graph.splits, [[TRAIN, IN_NO_PART, TEST]]);
    assert_eq!(graph.passed_over, ["array `time`"]);
}

/// An import copies a file with all that a graph has, and makes a table of one with the columns of
/// edges.
#[test]
fn more_than_a_table_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.npz");
    let more = |names: &[&str]| {
        let members: Vec<String> = ["edge_index", "weight"]
            .iter()
            .chain(names)
            .map(|name| format!("{name}.npy"))
            .collect();
        fs::write(
            &path,
            archive_of(&members.iter().map(|name| (name.as_str(), &b""[..])).collect::<Vec<_>>()),
        )
        .unwrap();
        is_more_than_a_table(&path).unwrap()
    };
    assert!(more(&["x"]) && more(&["y", "num_nodes"]) && more(&["edge_attr"]));
    // What is passed over is none of a table either: it is named, as in a folder.
    assert!(more(&["time"]) && more(&["time", "x"]) && more(&["ids"]));
    assert!(!more(&[]) && !more(&["type"]));
    fs::write(&path, archive_of(&[("weight.npy", b""), ("x.npy", b"")])).unwrap();
    assert!(!is_more_than_a_table(&path).unwrap());
}

/// More edges than are read at once, with everything that edges may have.
#[test]
fn many_edges_are_the_same_in_memory_and_beyond_it() {
    let edges = EDGES_AT_ONCE + 1000;
    let (mut source, mut target, mut kind) = (Vec::new(), Vec::new(), Vec::new());
    (0..edges as i64).for_each(|edge| {
        source.push(edge * 7 % 1013);
        target.push(edge * 11 % 997 + if edge % 5 == 0 { 1 << 40 } else { 0 });
        kind.push([100, 20, 3][(edge % 3) as usize]);
    });
    let words = |ids: &[i64]| {
        npy(
            "<U14",
            &format!("{edges},"),
            &ids.iter().flat_map(|id| word(&id.to_string())).collect::<Vec<_>>(),
        )
    };
    fn word(word: &str) -> Vec<u8> {
        let signs = word.chars().chain(std::iter::repeat('\0')).take(14);
        signs.flat_map(|sign| u32::from(sign).to_le_bytes()).collect()
    }
    let shape = format!("{edges},");
    let kinds = wholes(&shape, &kind);
    let weight = reals(&shape, &(0..edges).map(|edge| edge as f32).collect::<Vec<_>>());
    let of = |source: &[u8], target: &[u8]| {
        archive_of(&[
            ("source.npy", source),
            ("target.npy", target),
            ("type.npy", &kinds),
            ("weight.npy", &weight),
        ])
    };
    let numbers =
        folder("edges.npz", &of(&wholes(&shape, &source), &wholes(&shape, &target))).unwrap();
    assert_eq!(numbers.relations, ["3", "20", "100"]);
    assert_eq!(numbers.edges.weight.as_ref().unwrap()[edges - 1], (edges - 1) as f32);
    let id = |graph: &RawGraph, row: u32| match &graph.ids {
        NodeIds::Numbers(ids) => ids[row as usize].to_string(),
        NodeIds::Strings(ids) => ids[row as usize].clone(),
        NodeIds::Count(_) => row.to_string(),
    };
    let named = folder("edges.npz", &of(&words(&source), &words(&target))).unwrap();
    for graph in [&numbers, &named] {
        for at in [0, 1, 5, edges / 2, edges - 1] {
            let found = (id(graph, graph.edges.source[at]), id(graph, graph.edges.target[at]));
            assert_eq!(found, (source[at].to_string(), target[at].to_string()));
            assert_eq!(
                graph.relations[usize::from(graph.edges.relation.as_ref().unwrap()[at])],
                kind[at].to_string()
            );
        }
    }
    assert_eq!(numbers.edges.weight, named.edges.weight);
    // Two rows in one array: the second is found behind the first.
    let both = folder(
        "edges.npy",
        &wholes(&format!("2, {edges}"), &[source.clone(), target.clone()].concat()),
    )
    .unwrap();
    assert_eq!((&both.ids, ends(&both)), (&numbers.ids, ends(&numbers)));
}

/// Rows first and columns first, in memory and beyond it.
#[test]
fn features_of_edges_follow_their_edges() {
    let edges = wholes("2, 3", &[0, 1, 2, 1, 2, 0]);
    let rows = [1, 2, 3, 4, 5, 6];
    for array in [wholes("3, 2", &rows), columns_first("3, 2", &[1, 3, 5, 2, 4, 6])] {
        let graph =
            folder("edges.npz", &archive_of(&[("edges.npy", &edges), ("edge_attr.npy", &array)]))
                .unwrap();
        assert_eq!(
            graph.edges.features,
            Some(EdgeFeatures { columns: 2, values: rows.map(|value| value as f32).to_vec() })
        );
    }
    let bad = |array: &[u8]| {
        folder("edges.npz", &archive_of(&[("edges.npy", &edges), ("edge_attr.npy", array)]))
            .unwrap_err()
            .to_string()
    };
    assert!(bad(&reals("3, 2", &[0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0])).contains("row 1, column 1"));
    assert!(bad(&reals("2, 2", &[0.0; 4])).contains("does not have a row for each edge"));
}

#[test]
fn nodes_that_are_counted_have_the_ids_from_0() {
    let of = |nodes: i64| {
        let edges = wholes("2, 3", &[0, 1, 2, 1, 2, 0]);
        folder(
            "edges.npz",
            &archive_of(&[
                ("edges.npy", &edges),
                ("num_nodes.npy", &wholes("", &[nodes])),
                ("x.npy", &reals("5, 1", &[0.0; 5])),
            ]),
        )
    };
    let graph = of(5).unwrap();
    assert_eq!((graph.ids, graph.notes), (NodeIds::Count(5), Vec::<String>::new()));
    let said = of(4).unwrap_err().to_string();
    assert!(
        said.contains("expected 4 rows, found 5")
            && said.contains("hint: write a row for each node, or leave the array out"),
        "{said}"
    );
    assert!(of(2).unwrap_err().to_string().contains("the source of edge 2 is beyond `num_nodes`"));
}

#[test]
fn what_is_no_list_of_edges_is_refused() {
    let good = wholes("3,", &[0, 1, 2]);
    let of = |name: &str, array: &[u8]| {
        archive_of(&[("source.npy", &good), (&format!("{name}.npy"), array)])
    };
    let with = |name: &str, array: &[u8]| {
        archive_of(&[("source.npy", &good), ("target.npy", &good), (&format!("{name}.npy"), array)])
    };
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("edges.npy", wholes("2, 2", &[0, 1, 1, 0]), "does not say which extent is the two ends"),
        ("edges.npy", wholes("3,", &[0, 1, 2]), "expected (2, edges) or (edges, 2)"),
        (
            "edges.npy",
            wholes("2, 3", &[0, 1, 2, -1, 2, 0]),
            "expected whole numbers from 0, found -1",
        ),
        ("edges.npz", of("goal", &good), "the arrays do not say both ends of edges"),
        ("edges.npz", of("target", &wholes("2,", &[0, 1])), "not as many targets as sources"),
        (
            "edges.npz",
            with("weight", &reals("3,", &[1.0, f32::NAN, 1.0])),
            "the weight of edge 1 is not finite",
        ),
        (
            "edges.npz",
            with("type", &wholes("2,", &[1, 1])),
            "not as many types of edges as sources",
        ),
        (
            "edges.safetensors",
            b"\x08\0\0\0\0\0\0\0garbage!".to_vec(),
            "this is no safetensors file",
        ),
    ];
    for (name, bytes, wanted) in cases {
        let said = folder(name, &bytes).unwrap_err().to_string();
        assert!(said.contains(wanted), "{name}: expected `{wanted}` in {said}");
    }
}

#[test]
fn weights_that_are_dropped_need_not_be_numbers() {
    let bytes = archive_of(&[
        ("edges.npy", &wholes("2, 3", &[0, 1, 2, 1, 2, 0])),
        ("weight.npy", &reals("3,", &[1.0, f32::NAN, 1.0])),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.npz");
    fs::write(&path, bytes).unwrap();
    let graph =
        read(&path, &Options { weight: Some("none".into()), ..Options::default() }).unwrap();
    assert_eq!((graph.edges.weight, graph.passed_over), (None, Vec::<String>::new()));
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_an_error_or_a_graph(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), form in 0usize..3) {
        let name = ["edges.npy", "edges.npz", "edges.safetensors"][form];
        let _ = folder(name, &bytes);
        let mut array = wholes("2, 3", &[0, 1, 2, 1, 2, 0]);
        let from = array.len().saturating_sub(bytes.len());
        let length = bytes.len().min(array.len() - from);
        array[from..from + length].copy_from_slice(&bytes[..length]);
        let _ = folder("edges.npy", &array);
    }
}
