//! Graphs of every family in archives of arrays, and every fault.
use super::*;
use crate::{
    containers::npy,
    raw_graph::{NO_CLASS, TEST, TRAIN, VALIDATION},
};

/// With edges in memory, and in a file.
fn read(path: &Path, options: &Options) -> Read<RawGraph> {
    crate::test_support::both_ways(|limit| super::read(path, options, limit))
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/arrays/npz").join(name)
}

fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("WARPLOOM_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), Into::into);
    let path = root.join("data").join(name);
    if !path.exists() {
        println!("SKIPPED: {name}: no such file under WARPLOOM_SHARED");
    }
    path.exists().then_some(path)
}

fn graph(path: &Path) -> RawGraph {
    let graph = read(path, &Options::default()).unwrap();
    graph.validate().unwrap();
    graph
}

fn sizes(labels: &Option<Labels>) -> Vec<usize> {
    let Some(Labels::Classes { class, names }) = labels else { panic!("expected classes") };
    assert!(!class.contains(&NO_CLASS));
    (0..names.len())
        .map(|name| class.iter().filter(|&&class| class as usize == name).count())
        .collect()
}

fn undirected(graph: &RawGraph) -> usize {
    let ends = graph
        .edges
        .source
        .iter()
        .zip(&graph.edges.target)
        .filter(|(source, target)| source != target);
    ends.map(|(&source, &target)| (source.min(target), source.max(target)))
        .collect::<std::collections::HashSet<_>>()
        .len()
}

#[test]
fn cora_ml_has_the_counts_of_its_source() {
    let Some(path) = shared("cora_ml/cora_ml.npz") else { return };
    let graph = graph(&path);
    assert_eq!((graph.nodes(), graph.edges.len(), undirected(&graph)), (2_995, 8_416, 8_158));
    assert!(graph.edges.weight.is_none() && graph.directed.is_none() && graph.splits.is_empty());
    let Some(Features::Sparse { columns, index, .. }) = &graph.features else {
        panic!("expected sparse features")
    };
    assert_eq!((*columns, index.len()), (2_879, 151_171));
    assert_eq!(sizes(&graph.labels), [354, 402, 452, 442, 857, 193, 295]);
    let [(name, Column::Texts(names))] = &graph.columns[..] else {
        panic!("expected one column of words")
    };
    assert_eq!(graph.passed_over, ["array `attr_names`"]);
    assert!(
        name == "name"
            && names.len() == 2_995
            && names[0].as_deref().is_some_and(|name| !name.is_empty())
    );
}

#[test]
fn amazon_photo_is_the_same_as_npz_and_in_a_zip() {
    let (Some(plain), Some(zipped)) = (
        shared("amazon_photo/amazon_co_buy_photo.npz"),
        shared("amazon_photo/amazon_co_buy_photo.zip"),
    ) else {
        return;
    };
    let photo = graph(&plain);
    assert_eq!((photo.nodes(), photo.edges.len(), undirected(&photo)), (7_650, 143_663, 119_081));
    let Some(Features::Sparse { columns, index, .. }) = &photo.features else {
        panic!("expected sparse features")
    };
    assert_eq!((*columns, index.len()), (745, 1_979_909));
    assert_eq!(sizes(&photo.labels), [369, 1686, 703, 915, 882, 823, 1941, 331]);
    assert_eq!(photo, graph(&zipped));
    let folder = plain.parent().unwrap();
    let look = |files: &[&PathBuf]| {
        recognise(&FileHeads::new(
            &files.iter().copied().cloned().chain([folder.join("SOURCE.txt")]).collect::<Vec<_>>(),
        ))
    };
    assert_eq!(look(&[&plain, &zipped]), Some(vec![plain.clone()]));
    assert_eq!(look(&[&zipped]), Some(vec![zipped.clone()]));
}

#[test]
fn heterophilous_sets_have_the_counts_of_their_sources() {
    type Facts<'a> = (&'a str, u32, usize, u32, &'a [usize], [usize; 3]);
    let sets: [Facts<'_>; 3] = [
        ("minesweeper/minesweeper.npz", 10_000, 39_402, 7, &[8000, 2000], [5_000, 2_500, 2_500]),
        (
            "actor/actor.npz",
            7_600,
            26_659,
            932,
            &[853, 1337, 1630, 1815, 1965],
            [3_648, 2_432, 1_520],
        ),
        ("webkb_wisconsin/wisconsin.npz", 251, 450, 1703, &[10, 70, 118, 32, 21], [120, 80, 51]),
    ];
    for (name, nodes, edges, columns, classes, parts) in sets {
        let Some(path) = shared(name) else { return };
        let graph = graph(&path);
        assert_eq!(
            (graph.nodes(), graph.edges.len(), undirected(&graph), graph.directed),
            (nodes, edges, edges, Some(false)),
            "{name}"
        );
        assert!(
            matches!(&graph.features, Some(Features::Dense { columns: found, .. }) if *found == columns),
            "{name}"
        );
        assert_eq!(sizes(&graph.labels), classes, "{name}");
        assert_eq!(graph.splits.len(), 10, "{name}");
        for split in &graph.splits {
            assert_eq!(
                [TRAIN, VALIDATION, TEST]
                    .map(|part| split.iter().filter(|&&found| found == part).count()),
                parts,
                "{name}"
            );
        }
    }
}

#[test]
fn the_three_forms_of_scipy_and_the_lists_of_gnnadvisor_give_one_graph() {
    let [csr, csc, coo, pairs] =
        ["csr", "csc", "coo", "gnnadvisor"].map(|name| graph(&fixture(&format!("{name}.npz"))));
    assert_eq!(csr.ids, NodeIds::Count(9));
    assert_eq!(
        (&csr.edges.source[..], &csr.edges.target[..]),
        (&[1, 2, 2, 5, 8][..], &[2, 1, 3, 5, 1][..])
    );
    assert_eq!(csr.edges.weight.as_deref(), Some(&[0.5, 0.5, 3.0, 3.0, -1.5][..]));
    let edges = |graph: &RawGraph| {
        let mut edges: Vec<_> = (0..graph.edges.len())
            .map(|at| (graph.edges.source[at], graph.edges.target[at]))
            .collect();
        edges.sort_unstable();
        edges
    };
    for other in [csc, coo] {
        assert_eq!((edges(&other), other.ids), (edges(&csr), csr.ids.clone()));
    }
    // The lists keep the edge that is there twice.
    assert_eq!(
        (pairs.edges.source, pairs.edges.target),
        (vec![1, 2, 2, 2, 5, 8], vec![2, 1, 3, 3, 5, 1])
    );
}

#[test]
fn attributes_labels_and_names_of_a_small_set_are_read() {
    let graph = graph(&fixture("benchmark.npz"));
    assert_eq!(graph.nodes(), 3);
    let Some(Features::Sparse { columns, offsets, index, values }) = graph.features else {
        panic!("expected sparse features")
    };
    // The stored row 1 is (4, 1, 4), (0 stored), and both entries of column 4 are summed.
    assert_eq!(
        (columns, offsets, index, values),
        (5, vec![0, 1, 3, 3], vec![2, 1, 4], vec![1.0, 2.0, 1.5])
    );
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![1, NO_CLASS, 0],
            names: vec!["zebra".into(), "ant".into()]
        })
    );
    assert_eq!(
        graph.columns,
        [(
            "name".into(),
            Column::Texts(vec![Some("a".into()), Some("b".into()), Some("c".into())])
        )]
    );
}

#[test]
fn what_is_wrong_is_said_with_both_numbers() {
    let what = |name: &str| read(&fixture(name), &Options::default()).unwrap_err().to_string();
    for (name, expected) in [
        ("bad-offsets", "the offsets of a sparse matrix do not fit its shape"),
        ("bad-index", "`indices`: value 0 is not usable here"),
        ("bad-claim", "a sparse matrix claims too many rows"),
        ("bad-square", "the adjacency is not square"),
        ("bad-weight", "entry 1 of the adjacency has a weight that is not finite"),
        ("bad-id", "`dst_li`: value 1 is not usable here"),
        ("bad-rows", "attributes do not have a row for each node"),
        ("bad-mask", "node 0 is in two parts of split 0"),
        ("bad-names", "the arrays of this .npz are no graph that is known"),
        ("bad-class", "`labels`: value 1 is a class without a name"),
        ("bad-form", "a sparse matrix of the form `bsr` is not read"),
    ] {
        let found = what(&format!("{name}.npz"));
        assert!(found.contains(expected), "{name}: {found}");
    }
    assert!(
        what("bad-id.npz").contains("= expected whole numbers from 0, below 2, found 5"),
        "{}",
        what("bad-id.npz")
    );
    assert!(
        what("bad-claim.npz").contains("expected at most 4194304, found 1000000000000"),
        "{}",
        what("bad-claim.npz")
    );
}

#[test]
fn features_beside_a_graph_are_not_taken_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let (features, edges) =
        (folder.path().join("features.npz"), folder.path().join("adjacency.npz"));
    std::fs::copy(fixture("csr.npz"), &features).unwrap();
    assert_eq!(recognise(&FileHeads::new(std::slice::from_ref(&features))), None);
    std::fs::copy(fixture("csr.npz"), &edges).unwrap();
    assert_eq!(recognise(&FileHeads::new(&[features, edges.clone()])), Some(vec![edges]));
}

proptest::proptest! {
    #[test]
    fn a_changed_archive_is_read_or_refused(which in 0usize..5, at in 0usize..4000, to: u8, end in 0usize..4000) {
        let name = ["csr", "coo", "gnnadvisor", "benchmark", "masked"][which];
        let mut bytes = std::fs::read(fixture(&format!("{name}.npz"))).unwrap();
        let at = at % bytes.len();
        bytes[at] = to;
        bytes.truncate(end.max(bytes.len() - bytes.len() / 8));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.npz");
        std::fs::write(&path, bytes).unwrap();
        if let Ok(graph) = read(&path, &Options::default()) {
            graph.validate().unwrap();
        }
    }

    /// Checksums guard an archive against nearly every change; so numbers are changed before they
    /// are packed.
    #[test]
    fn any_numbers_in_a_matrix_are_read_or_refused(
        rows in 0u64..5, columns in 0u64..5, huge in proptest::option::of(proptest::num::u64::ANY), coo: bool, prefix in 0usize..2,
        index in proptest::collection::vec(0u64..6, 0..6), offsets in proptest::collection::vec(0u64..6, 0..6), data in proptest::collection::vec(proptest::num::f32::ANY, 0..6)
    ) {
        let prefix = ["", "adj_"][prefix];
        let rows = huge.unwrap_or(rows);
        let numbers = |values: &[u64]| array("<u8", values.len(), values.iter().flat_map(|value| value.to_le_bytes()).collect());
        let data = array("<f4", data.len(), data.iter().flat_map(|value| value.to_le_bytes()).collect());
        let (first, second) = if coo { ("row", "col") } else { ("indptr", "indices") };
        let members = [("data", data), ("shape", numbers(&[rows, columns])), (first, numbers(&offsets)), (second, numbers(&index))];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.npz");
        std::fs::write(&path, stored(&members.map(|(name, bytes)| (format!("{prefix}{name}.npy"), bytes)))).unwrap();
        if let Ok(graph) = read(&path, &Options::default()) {
            graph.validate().unwrap();
        }
    }
}

/// The bytes of a `.npy` file with one extent.
pub(crate) fn array(dtype: &str, length: usize, data: Vec<u8>) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({length},), }}");
    [npy::MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), &data].concat()
}

/// An archive of members that are not packed.
pub(crate) fn stored(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let size = (bytes.len() as u32).to_le_bytes();
        let shared = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &crc.sum().to_le_bytes(),
            &size,
            &size,
            &(name.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        let at = (body.len() as u32).to_le_bytes();
        directory
            .extend([&b"PK\x01\x02\x14\x00"[..], &shared, &[0; 10], &at, name.as_bytes()].concat());
        body.extend([&b"PK\x03\x04"[..], &shared, name.as_bytes(), bytes].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let (size, at) = ((directory.len() as u32).to_le_bytes(), (body.len() as u32).to_le_bytes());
    [&body[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &size, &at, &[0, 0]].concat()
}

/// Lists of ends with more arrays beside them.
fn pairs(more: &[(&str, &[u8])]) -> Read<RawGraph> {
    let [source, target, nodes] = [&[0, 1, 2][..], &[1, 2, 0], &[4]].map(|values| {
        npy(
            "<i8",
            values.len(),
            &values.iter().flat_map(|value: &i64| value.to_le_bytes()).collect::<Vec<_>>(),
        )
    });
    let mut members: Vec<(&str, &[u8])> =
        vec![("src_li.npy", &source), ("dst_li.npy", &target), ("num_nodes.npy", &nodes)];
    members.extend(more);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.npz");
    std::fs::write(&path, crate::containers::zip::tests::archive_of(&members)).unwrap();
    read(&path, &Options::default())
}

fn npy(descr: &str, rows: usize, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows},), }}\n");
    [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), values]
        .concat()
}

fn reals(values: &[f32]) -> Vec<u8> {
    npy(
        "<f4",
        values.len(),
        &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>(),
    )
}

#[test]
fn arrays_beside_the_lists_of_gnnadvisor_are_read_or_named() {
    let labels = npy("|i1", 4, &[1, 0, 1, 1]);
    let more = pairs(&[
        ("features.npy", &reals(&[1.0, 2.0, 3.0, 4.0])),
        ("time.npy", &labels),
        ("weights.npy", &reals(&[0.5, 1.0, 2.0])),
        ("y.npy", &labels),
    ]);
    let graph = more.unwrap();
    graph.validate().unwrap();
    assert_eq!(
        graph.features,
        Some(Features::Dense { columns: 1, values: vec![1.0, 2.0, 3.0, 4.0] })
    );
    assert!(matches!(&graph.labels, Some(Labels::Classes { class, .. }) if *class == [1, 0, 1, 1]));
    assert_eq!(
        (graph.edges.weight.as_deref(), graph.passed_over),
        (Some(&[0.5, 1.0, 2.0][..]), vec!["array `time`".to_owned()])
    );
    let large = npy(
        "<i8",
        3,
        &[1i64, 16_777_217, 1 << 40]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect::<Vec<_>>(),
    );
    let told = "1 weights are whole numbers above 16777216 that f32 does not hold, and were \
                rounded to 24 bits; the first is in edge 1";
    assert_eq!(pairs(&[("weight.npy", &large)]).unwrap().notes, [told]);
    for (name, array, wanted) in [
        ("x.npy", reals(&[1.0; 3]), "expected 4 rows, found 3"),
        ("x.npy", reals(&[1.0; 5]), "expected 4 rows, found 5"),
        (
            "weight.npy",
            reals(&[1.0; 2]),
            "it does not have a weight for each beginning in `src_li`",
        ),
        ("weight.npy", reals(&[1.0, f32::NAN, 1.0]), "edge 1 has a weight that is not finite"),
    ] {
        let said = pairs(&[(name, &array)]).unwrap_err().to_string();
        assert!(said.contains(wanted), "expected `{wanted}` in {said}");
    }
}
