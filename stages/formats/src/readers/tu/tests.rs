//! TU collections: a small set, its faults, and the published ones by their counts.
use super::*;
use crate::{
    containers::zip::tests::archive_of,
    detect::detect,
    raw_graph::NO_CLASS,
    text::lines::tests::{fixture, shared, written},
};
use proptest::prelude::*;
use std::fs;

fn contents() -> Vec<(String, Vec<u8>)> {
    fixture("tu")
        .into_iter()
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())
        })
        .collect()
}

fn read_with(edit: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) -> Read<RawGraph> {
    let kept: Vec<(String, Vec<u8>)> = contents()
        .into_iter()
        .filter_map(|(name, text)| Some((name.clone(), edit(&name, text)?)))
        .collect();
    let files: Vec<(&str, &[u8])> =
        kept.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
    let (_folder, paths) = written(&files);
    let graph = read(&paths, &Options::default())?;
    graph.validate().unwrap();
    Ok(graph)
}

#[test]
fn a_small_set_with_everything() {
    let files = fixture("tu");
    let (format, found) = detect(Path::new("tu"), &files).unwrap();
    assert_eq!((format.name, found.len()), ("tu", 8));
    let graph = read(&found, &Options::default()).unwrap();
    assert_eq!(graph.validate(), Ok(()));
    assert_eq!((graph.ids, graph.directed), (NodeIds::Numbers(vec![1, 2, 3, 4, 5]), Some(false)));
    assert_eq!(
        (graph.edges.source, graph.edges.target),
        (vec![0, 1, 1, 2, 3, 4], vec![1, 0, 2, 1, 4, 3])
    );
    let values = [
        [0.0, 1.0, 0.5],
        [0.0, 1.0, 0.5],
        [1.0, 0.0, 1.5],
        [1.0, 0.0, 1.5],
        [0.0, 1.0, 2.5],
        [0.0, 1.0, 2.5],
    ]
    .concat();
    assert_eq!(graph.edges.features, Some(EdgeFeatures { columns: 3, values }));
    assert_eq!(
        graph.node_labels,
        Some(Labels::Classes { class: vec![1, 0, 1, 0, 0], names: vec!["2".into(), "7".into()] })
    );
    let values = vec![0.5, 1.0, -1.25, 2.0, 0.0, 3.0, 0.01, 4.0, 8.0, 5.0];
    assert_eq!(graph.features, Some(Features::Dense { columns: 2, values }));
    let graphs = graph.graphs.unwrap();
    assert_eq!(
        (graphs.of_node, graphs.ids),
        (vec![0, 0, 0, 2, 2], NodeIds::Numbers(vec![1, 2, 3]))
    );
    assert_eq!(
        graphs.labels,
        Some(Labels::Classes { class: vec![1, 0, 1], names: vec!["-1".into(), "1".into()] })
    );
}

#[test]
fn targets_are_values_where_there_are_no_classes_or_where_they_are_asked_for() {
    let without = read_with(|name, text| (!name.contains("graph_labels")).then_some(text)).unwrap();
    let asked = read(
        &fixture("tu"),
        &Options { label: Some("graph_attributes".into()), ..Options::default() },
    )
    .unwrap();
    for graph in [without, asked] {
        assert_eq!(graph.graphs.unwrap().labels, Some(Labels::Values(vec![0.5, -2.0, 1e3])));
    }
    let neither = read_with(|name, text| {
        (!name.contains("graph_labels") && !name.contains("graph_att")).then_some(text)
    })
    .unwrap();
    assert_eq!(neither.graphs.map(|graphs| (graphs.len(), graphs.labels)), Some((3, None)));
    let several = read_with(|name, text| {
        Some(if name.contains("graph_labels") { b"1,0\n0,\n1,1\n".to_vec() } else { text })
    })
    .unwrap();
    assert!(
        matches!(several.graphs.unwrap().labels, Some(Labels::Rows { columns: 2, values }) if values[3].is_nan())
    );
    let error =
        read(&fixture("tu"), &Options { label: Some("colour".into()), ..Options::default() })
            .unwrap_err();
    assert!(error.what.contains("no part") && error.found == "`colour`");
}

#[test]
fn several_columns_of_labels_are_one_hot_side_by_side() {
    let graph = read_with(|name, text| {
        Some(if name.contains("node_labels") {
            b"0, 5\n1, 5\n0, 6\n0, 5\n0, 5\n".to_vec()
        } else {
            text
        })
    })
    .unwrap();
    let values =
        [[1., 0., 1., 0.], [0., 1., 1., 0.], [1., 0., 0., 1.], [1., 0., 1., 0.], [1., 0., 1., 0.]]
            .concat();
    assert_eq!(graph.node_labels, Some(Labels::Rows { columns: 4, values }));
}

#[test]
fn a_zip_gives_the_same_graph() {
    let contents = contents();
    let members: Vec<(String, &[u8])> =
        contents.iter().map(|(name, text)| (format!("TINY/{name}"), &text[..])).collect();
    let members: Vec<(&str, &[u8])> = members
        .iter()
        .map(|(name, text)| (name.as_str(), *text))
        .chain([("__MACOSX/TINY/._TINY_A.txt", &b"x"[..])])
        .collect();
    let (folder, files) = written(&[("TINY.zip", &archive_of(&members))]);
    let (format, found) = detect(folder.path(), &files).unwrap();
    assert_eq!(format.name, "tu");
    assert_eq!(
        read(&found, &Options::default()).unwrap(),
        read(&fixture("tu"), &Options::default()).unwrap()
    );
    let broken: Vec<(&str, &[u8])> = members
        .iter()
        .map(|&(name, text)| (name, if name.ends_with("_A.txt") { &b"1, x\n"[..] } else { text }))
        .collect();
    let (_folder, files) = written(&[("TINY.zip", &archive_of(&broken))]);
    assert!(
        read(&files, &Options::default())
            .unwrap_err()
            .location()
            .ends_with("TINY.zip/TINY/TINY_A.txt:1:4")
    );
}

#[test]
fn every_fault_is_named_with_its_place() {
    for (part, text, what, place) in [
        ("_A", "1, 2\n2, 6\n", "names a node that does not exist", "_A.txt:2:1"),
        ("_A", "1, 2\n0, 1\n", "names a node that does not exist", "_A.txt:2:1"),
        ("_A", "1, 2\n1, 4\n", "joins nodes of two graphs", "_A.txt:2:1"),
        ("_A", "1, 2\n1 x\n", "not a whole number", "_A.txt:2:3"),
        ("_A", "1, 2, 3\n", "too many columns", "_A.txt:1:7"),
        ("_A", "1, 2\n-1, 2\n", "not a whole number from 0", "_A.txt:2:1"),
        ("_A", "1, 2\n", "the edge labels do not fit A", "_edge_labels.txt"),
        (
            "graph_indicator",
            "1\n1\n1\n4\n3\n",
            "in a graph that does not exist",
            "graph_indicator.txt:4:1",
        ),
        (
            "graph_indicator",
            "1\n1\n0\n1\n3\n",
            "in a graph that does not exist",
            "graph_indicator.txt:3:1",
        ),
        ("graph_indicator", "1\n\n1\n3\n3\n", "empty line", "graph_indicator.txt:2:1"),
        ("graph_labels", "1\n", "in a graph that does not exist", "graph_indicator.txt:4:1"),
        ("node_labels", "1\n", "the node labels do not fit graph_indicator", "node_labels.txt"),
        ("node_labels", "1\n1\n1.5\n1\n1\n", "not a whole number", "node_labels.txt:3:1"),
        ("node_attributes", "1\n1\nnan\n1\n1\n", "not a finite number", "node_attributes.txt:3:1"),
        ("edge_attributes", "1\n1\n", "the edge attributes do not fit A", "edge_attributes.txt"),
    ] {
        let error = read_with(|name, old| {
            Some(if name.ends_with(&format!("{part}.txt")) { text.into() } else { old })
        })
        .unwrap_err();
        assert!(error.what.contains(what) && error.location().ends_with(place), "{part}: {error}");
    }
    let error = read_with(|name, text| (!name.ends_with("_A.txt")).then_some(text)).unwrap_err();
    assert!(
        error.what.contains("lacks its part `A`")
            && error.path.ends_with("TINY_A.txt")
            && error.found.contains("graph_indicator"),
        "{error}"
    );
    let error = read_with(|name, text| {
        if name.contains("graph_l") || name.contains("graph_a") {
            None
        } else {
            Some(if name.contains("indicator") { b"1\n9999\n".to_vec() } else { text })
        }
    });
    assert!(error.unwrap_err().what.contains("larger than the number of nodes"));
    let (_folder, files) =
        written(&[("A_graph_indicator.txt", b"1\n"), ("B_graph_indicator.txt", b"1\n")]);
    assert!(
        read(&files, &Options::default())
            .unwrap_err()
            .what
            .contains("two files of the part `graph_indicator`")
    );
    let labels = (0..300).map(|label| format!("{label}\n")).collect::<String>();
    let pairs = "1, 1\n".repeat(300);
    let (_folder, files) = written(&[
        ("S_A.txt", pairs.as_bytes()),
        ("S_graph_indicator.txt", b"1\n"),
        ("S_edge_labels.txt", labels.as_bytes()),
    ]);
    assert!(
        read(&files, &Options::default()).unwrap_err().what.contains("too many distinct values")
    );
}

/// Graphs, nodes, edges, smallest and largest class of graphs, node labels, columns of node and
/// edge features.
type Counts = (usize, u32, usize, &'static [(&'static str, usize)], usize, u32, u32);

#[test]
fn published_sets_have_their_counts() {
    let sets: [(&str, Counts); 10] = [
        ("tu_DBLP_v1", (19_456, 203_954, 764_512, &[("0", 9530), ("1", 9926)], 41_325, 0, 3)),
        ("tu_DD", (1178, 334_925, 1_686_092, &[("1", 691), ("2", 487)], 82, 0, 0)),
        (
            "tu_ENZYMES",
            (
                600,
                19_580,
                74_564,
                &[("1", 100), ("2", 100), ("3", 100), ("4", 100), ("5", 100), ("6", 100)],
                3,
                18,
                0,
            ),
        ),
        ("tu_IMDB-BINARY", (1000, 19_773, 386_124, &[("0", 500), ("1", 500)], 0, 0, 0)),
        ("tu_MUTAG", (188, 3371, 7442, &[("-1", 63), ("1", 125)], 7, 0, 4)),
        ("tu_Mutagenicity", (4337, 131_488, 266_894, &[("0", 2401), ("1", 1936)], 14, 0, 3)),
        ("tu_PROTEINS", (1113, 43_471, 162_088, &[("1", 663), ("2", 450)], 3, 1, 0)),
        ("tu_PROTEINS_full", (1113, 43_471, 162_088, &[("1", 663), ("2", 450)], 3, 29, 0)),
        ("tu_PTC_MR", (344, 4915, 10_108, &[("-1", 192), ("1", 152)], 18, 0, 4)),
        ("tu_COLLAB", (0, 0, 0, &[], 0, 0, 0)),
    ];
    for (name, (graphs, nodes, edges, classes, node_labels, features, edge_features)) in sets {
        let Some(files) = shared(name) else { continue };
        let (format, found) = detect(Path::new(name), &files).unwrap();
        assert_eq!(format.name, if graphs > 0 { "tu" } else { "adjacency_text" }, "{name}");
        if graphs == 0 {
            continue;
        }
        let graph = read(&found, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(graph.validate(), Ok(()), "{name}");
        assert_eq!((graph.nodes(), graph.edges.len()), (nodes, edges), "{name}");
        let set = graph.graphs.unwrap();
        let Some(Labels::Classes { class, names }) = set.labels.clone() else { panic!("{name}") };
        let counted: Vec<(&str, usize)> = names
            .iter()
            .zip(0..)
            .map(|(name, own)| (name.as_str(), class.iter().filter(|&&class| class == own).count()))
            .collect();
        assert_eq!((set.len(), &counted[..]), (graphs, classes), "{name}");
        let labels = graph.node_labels.map_or(0, |labels| {
            if let Labels::Classes { class, names } = labels {
                assert!(!class.contains(&NO_CLASS));
                names.len()
            } else {
                0
            }
        });
        assert_eq!(
            (labels, graph.features.map_or(0, |features| features.columns())),
            (node_labels, features),
            "{name}"
        );
        assert_eq!(
            graph.edges.features.map_or(0, |features| features.columns),
            edge_features,
            "{name}"
        );
    }
}

proptest! {
    #[test]
    fn a_changed_set_is_read_or_refused(part in 0usize..8, at in 0usize..40, bytes in proptest::collection::vec(any::<u8>(), 0..4), cut in any::<bool>()) {
        let mut contents = contents();
        let text = &mut contents[part].1;
        let at = at % text.len();
        let end = if cut { text.len() } else { at + 1 };
        text.splice(at..end, bytes);
        let _ = read_with(|name, _| contents.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone()));
    }

    #[test]
    fn any_numbers_are_read_or_refused(edges in "([0-5], ?[0-5]\n){0,6}", graphs in "([0-3]\n){0,6}", labels in "(-?[0-3](\\.5)?\n){0,4}") {
        let files = [("S_A.txt", edges.as_bytes()), ("S_graph_indicator.txt", graphs.as_bytes()), ("S_graph_labels.txt", labels.as_bytes())];
        let (_folder, paths) = written(&files);
        if let Ok(graph) = read(&paths, &Options::default()) {
            prop_assert_eq!(graph.validate(), Ok(()));
        }
    }
}
