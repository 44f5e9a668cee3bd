//! OGB tables: a small set, its faults, and the published ones by their counts.
use super::*;
use crate::{
    containers::zip::tests::archive_of,
    detect::detect,
    raw_graph::{IN_NO_PART, Labels, TEST, TRAIN, VALIDATION},
    text::lines::tests::{fixture, shared, written},
};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::{fs, io::Write as _, path::Path};

/// The small set, by names from its folder.
fn contents() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/ogb");
    fixture("ogb")
        .into_iter()
        .map(|path| {
            (
                path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(),
                fs::read(&path).unwrap(),
            )
        })
        .collect()
}

fn read_files(files: &[(String, Vec<u8>)]) -> Read<RawGraph> {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
    let (_folder, paths) = written(&files);
    let graph = read(&paths, &Options::default())?;
    graph.validate().unwrap();
    Ok(graph)
}

/// The small set with one file replaced, added, or taken out (`-`).
fn read_with(name: &str, text: &str) -> Read<RawGraph> {
    let mut files = contents();
    files.retain(|(known, _)| known != name);
    if text != "-" {
        files.push((name.to_owned(), text.into()));
    }
    read_files(&files)
}

#[test]
fn a_small_set_of_two_graphs() {
    let (format, files) = detect(Path::new("ogb"), &fixture("ogb")).unwrap();
    assert_eq!((format.name, files.len()), ("ogb", 10));
    let graph = read(&files, &Options::default()).unwrap();
    assert_eq!(
        (graph.validate(), graph.ids, graph.directed),
        (Ok(()), NodeIds::Count(5), Some(false))
    );
    assert_eq!((graph.edges.source, graph.edges.target), (vec![0, 1, 3], vec![1, 2, 4]));
    assert_eq!(
        graph.edges.features,
        Some(EdgeFeatures { columns: 2, values: vec![0., 1., 1., 0., 0., 0.] })
    );
    assert_eq!(
        graph.features,
        Some(Features::Dense { columns: 2, values: vec![7., 0., 2., 1., 7., 0., 2., 2., 2., 0.] })
    );
    let graphs = graph.graphs.unwrap();
    assert_eq!((graphs.of_node, graphs.ids), (vec![0, 0, 0, 1, 1], NodeIds::Count(2)));
    assert_eq!(graphs.splits, [[TRAIN, TEST], [VALIDATION, TRAIN]]);
    let Some(Labels::Rows { columns: 2, values }) = graphs.labels else { panic!() };
    assert!(values[0] == 1.0 && values[1].is_nan() && values[2] == 0.0 && values[3].is_nan());
}

#[test]
fn one_graph_has_labels_splits_and_columns_of_nodes() {
    let files: [(&str, &[u8]); 9] = [
        ("edge.csv", b"0,1\n2,0\n"),
        ("num-node-list.csv", b"3\n"),
        ("num-edge-list.csv", b"2\n"),
        ("node-label.csv", b"4\nnan\n2\n"),
        ("node_year.csv", b"2010\n2011\n\n"),
        ("edge_weight.csv", b"0.5\n2\n"),
        ("edge_year.csv", b"1999\n2000\n"),
        ("train.csv", b"2\n"),
        ("valid.csv", b"0\n"),
    ];
    let (_folder, paths) = written(&files);
    let error = read(&paths, &Options::default()).unwrap_err();
    assert!(error.what.contains("rows of `node_year` do not fit the number of nodes"), "{error}");
    fs::write(&paths[4], "2010\nnan\n1990\n").unwrap();
    let graph = read(&paths, &Options::default()).unwrap();
    assert_eq!((graph.validate(), graph.graphs), (Ok(()), None));
    assert_eq!(
        graph.labels,
        Some(Labels::Classes { class: vec![1, u32::MAX, 0], names: vec!["2".into(), "4".into()] })
    );
    assert_eq!(
        graph.columns,
        [("node_year".into(), Column::Integers(vec![Some(2010), None, Some(1990)]))]
    );
    assert_eq!(
        (graph.edges.weight, graph.edges.features),
        (Some(vec![0.5, 2.0]), Some(EdgeFeatures { columns: 1, values: vec![1999.0, 2000.0] }))
    );
    assert_eq!(graph.splits, [[VALIDATION, IN_NO_PART, TRAIN]]);
}

/// As wikikg2 has them.
#[test]
fn relations_of_edges_are_called_by_their_numbers() {
    let typed: [(&str, &[u8]); 4] = [
        ("raw/edge.csv", b"0,1\n2,0\n1,1\n"),
        ("raw/num-node-list.csv", b"3\n"),
        ("raw/edge_reltype.csv", b"12\n3\n12\n"),
        ("raw/edge_year.csv", b"1\n2\n3\n"),
    ];
    let (folder, paths) = written(&typed);
    let (format, found) = detect(folder.path(), &paths).unwrap();
    let graph = read(&found, &Options::default()).unwrap();
    assert_eq!((format.name, graph.validate()), ("ogb", Ok(())));
    assert_eq!(
        (graph.edges.relation, graph.relations),
        (Some(vec![1, 0, 1]), vec!["3".to_owned(), "12".to_owned()])
    );
    assert_eq!(
        graph.edges.features,
        Some(EdgeFeatures { columns: 1, values: vec![1.0, 2.0, 3.0] })
    );
    for (text, what) in [
        ("1\n2\n", "the relations of edges do not fit"),
        ("1\nx\n2\n", "not a whole number"),
        ("1,2\n1,2\n1,2\n", "too many columns"),
    ] {
        fs::write(&paths[2], text).unwrap();
        assert!(read(&paths, &Options::default()).unwrap_err().what.contains(what), "{text:?}");
    }
}

#[test]
fn the_published_zip_gives_the_same_graph() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let packed: Vec<(String, Vec<u8>)> = contents()
        .into_iter()
        .map(|(name, text)| (format!("tiny/{name}.gz"), gzip(&text)))
        .collect();
    let members: Vec<(&str, &[u8])> =
        packed.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
    let (folder, files) = written(&[("tiny.zip", &archive_of(&members))]);
    let (format, found) = detect(folder.path(), &files).unwrap();
    // NaN is not equal to itself.
    let read = |files: &[PathBuf]| format!("{:?}", read(files, &Options::default()).unwrap());
    assert_eq!((format.name, read(&found)), ("ogb", read(&fixture("ogb"))));
    let cut: Vec<(&str, &[u8])> = members
        .iter()
        .map(|&(name, text)| {
            (name, if name.contains("raw/edge.csv") { &text[..text.len() - 9] } else { text })
        })
        .collect();
    let (_folder, files) = written(&[("tiny.zip", &archive_of(&cut))]);
    assert!(super::read(&files, &Options::default()).unwrap_err().what.contains("cut short"));
}

#[test]
fn every_fault_is_named_with_its_place() {
    for (name, text, what, place) in [
        ("raw/edge.csv", "-", "lacks its table `edge`", "raw/edge.csv.gz"),
        (
            "raw/num-node-list.csv",
            "-",
            "lacks its table `num-node-list`",
            "raw/num-node-list.csv.gz",
        ),
        (
            "raw/num-edge-list.csv",
            "-",
            "lacks its table `num-edge-list`",
            "raw/num-edge-list.csv.gz",
        ),
        (
            "raw/edge.csv",
            "0,1\n1,3\n0,1\n",
            "names a node that its graph does not have",
            "edge.csv:2:1",
        ),
        (
            "raw/edge.csv",
            "0,1\n1,2\n0,2\n",
            "names a node that its graph does not have",
            "edge.csv:3:1",
        ),
        ("raw/edge.csv", "0,1\n1,2\n", "the edges do not fit the sum of num-edge-list", "edge.csv"),
        ("raw/edge.csv", "0,1\n1,x\n0,1\n", "not a whole number", "edge.csv:2:3"),
        ("raw/num-node-list.csv", "", "no graph", "num-node-list.csv"),
        (
            "raw/num-node-list.csv",
            "3\n2\n0\n",
            "the numbers of edges do not fit num-node-list",
            "num-edge-list.csv",
        ),
        ("raw/num-node-list.csv", "3\n3\n", "the features of nodes do not fit", "node-feat.csv"),
        (
            "raw/num-node-list.csv",
            "1152921504606846976\n2\n",
            "not a whole number from 0 to 4294967295",
            "num-node-list.csv:1:1",
        ),
        ("raw/edge-feat.csv", "0,1\n", "the features of edges do not fit", "edge-feat.csv"),
        ("raw/edge_weight.csv", "1\n", "the rows of `edge_weight` do not fit", "edge_weight.csv"),
        ("raw/graph-label.csv", "1\n", "the labels of graphs do not fit", "graph-label.csv"),
        ("raw/node-label.csv", "1\n", "the labels of nodes do not fit", "node-label.csv"),
        ("raw/node-feat.csv", "7,0\n2,1\n7\n2,2\n2,0\n", "too few columns", "node-feat.csv:3:2"),
        ("split/random/test.csv", "2\n", "a graph that does not exist", "test.csv:1:1"),
        ("split/random/test.csv", "1\n1\n", "a graph twice", "test.csv:2:1"),
        ("split/random/test.csv", "0\n", "a graph twice", ".csv:1:1"),
        ("other/edge.csv", "0,1\n", "two files of the table `edge`", "edge.csv"),
    ] {
        let error = read_with(name, text).unwrap_err();
        assert!(error.what.contains(what) && error.location().ends_with(place), "{name}: {error}");
    }
    let claims: [(&str, &[u8]); 2] =
        [("edge.csv", b"0,1\n"), ("num-node-list.csv", b"4000000000\n")];
    let (_folder, paths) = written(&claims);
    let error = read(&paths, &Options::default()).unwrap_err();
    assert!(
        error.what.contains("claims more nodes") && error.expected == "at most 65568",
        "{error}"
    );
}

#[test]
fn published_sets_have_their_counts() {
    for (name, graphs, nodes, edges, parts) in [
        ("ogbg_molbace", 1513, 51_577, 55_768, [1210, 151, 152]),
        ("ogbg_molbbbp", 2039, 49_068, 52_921, [1631, 204, 204]),
        ("ogbg_molesol", 1128, 14_991, 15_428, [902, 113, 113]),
    ] {
        let Some(files) = shared(name) else { continue };
        let (format, found) = detect(Path::new(name), &files).unwrap();
        assert_eq!(format.name, "ogb");
        let graph = read(&found, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (graph.validate(), graph.nodes(), graph.edges.len()),
            (Ok(()), nodes, edges),
            "{name}"
        );
        assert_eq!(graph.features.map(|features| features.columns()), Some(9));
        assert_eq!(graph.edges.features.map(|features| features.columns), Some(3));
        let set = graph.graphs.unwrap();
        let count = |own: u8| set.splits[0].iter().filter(|&&part| part == own).count();
        assert_eq!(
            (set.len(), set.splits.len(), [TRAIN, VALIDATION, TEST].map(count)),
            (graphs, 1, parts),
            "{name}"
        );
        match set.labels {
            Some(Labels::Values(values)) if name == "ogbg_molesol" => {
                assert!(values.iter().all(|value| value.is_finite()))
            }
            Some(Labels::Classes { class, names }) => {
                assert!(names == ["0", "1"] && !class.contains(&u32::MAX))
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    let Some(files) = shared("ogbl_ddi") else { return };
    let (format, found) = detect(Path::new("ogbl_ddi"), &files).unwrap();
    let graph = read(&found, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (format.name, graph.validate(), graph.nodes(), graph.edges.len()),
        ("ogb", Ok(()), 4267, 1_067_911)
    );
    assert_eq!((graph.graphs, graph.splits.len(), graph.labels), (None, 0, None));
}

#[test]
fn parts_of_links_are_named() {
    let names = [
        "split/target/valid_edge.csv.gz",
        "split/time/train.pt",
        "split/random/test.csv.gz",
        "raw/edge.csv",
        "mapping/valid_x.csv",
    ];
    let said = passed_over(names.into_iter()).unwrap();
    assert_eq!(
        said,
        "split/target/valid_edge.csv.gz, split/time/train.pt: parts of links, because tasks of \
         links come later"
    );
    assert_eq!(passed_over(names[2..].iter().copied()), None);
    let many: Vec<String> =
        (0..10).map(|number| format!("split/{number}/test_edge_neg.csv")).collect();
    assert!(
        passed_over(many.iter().map(String::as_str))
            .unwrap()
            .contains("split/7/test_edge_neg.csv and 2 more: parts of links")
    );
}

proptest! {
    #[test]
    fn a_changed_set_is_read_or_refused(file in 0usize..10, at in 0usize..20, bytes in proptest::collection::vec(any::<u8>(), 0..4), cut in any::<bool>()) {
        let mut files = contents();
        let text = &mut files[file].1;
        let at = at % text.len();
        let end = if cut { text.len() } else { at + 1 };
        text.splice(at..end, bytes);
        let _ = read_files(&files);
    }

    #[test]
    fn any_numbers_are_read_or_refused(edges in "([0-3],[0-3]\n){0,5}", nodes in "([0-4]\n){0,3}", counts in "([0-4]\n){0,3}", train in "([0-3]\n){0,3}") {
        let files = [("edge.csv", edges), ("num-node-list.csv", nodes), ("num-edge-list.csv", counts), ("train.csv", train)];
        let _ = read_files(&files.map(|(name, text)| (name.to_owned(), text.into_bytes())));
    }
}
