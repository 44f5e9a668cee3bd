//! Lists of edges as they are published, against what their SOURCE.txt says; skipped, and said so,
//! where they are not.
use std::path::{Path, PathBuf};
use warploom_formats::{
    Options, detect,
    raw_graph::{Column, Features, Labels, NodeIds, RawGraph, TEST, TRAIN},
    readers::{communities, edge_list, road, uai},
};

/// A folder of real data; none, with a line that says so, if it is not there.
fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("WARPLOOM_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let folder = root.join("data").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!(
        "SKIPPED: {name} because {} is not there (WARPLOOM_SHARED names its folder)",
        folder.display()
    );
    None
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file())
        .collect()
}

fn edges(folder: &Path, file: &str) -> RawGraph {
    let graph = edge_list::read(&folder.join(file), &Options::default())
        .unwrap_or_else(|error| panic!("{error}"));
    graph.validate().unwrap();
    graph
}

/// Distinct ordered pairs, self-loops, and unordered pairs without loops.
fn pairs(graph: &RawGraph) -> (usize, usize, usize) {
    let mut ordered: Vec<(u32, u32)> =
        graph.edges.source.iter().copied().zip(graph.edges.target.iter().copied()).collect();
    ordered.sort_unstable();
    ordered.dedup();
    let loops = ordered.iter().filter(|(source, target)| source == target).count();
    let mut unordered: Vec<(u32, u32)> = ordered
        .iter()
        .filter(|(source, target)| source != target)
        .map(|&(a, b)| (a.min(b), a.max(b)))
        .collect();
    unordered.sort_unstable();
    unordered.dedup();
    (ordered.len(), loops, unordered.len())
}

#[test]
fn snap_sets_have_the_counts_of_their_source() {
    // name, file, nodes, listed, loops, unordered pairs without loops
    let sets = [
        ("snap_wiki-Vote", "wiki-Vote.txt", 7_115, 103_689, 0, 100_762),
        ("snap_ca-GrQc", "ca-GrQc.txt", 5_242, 28_980, 12, 14_484),
        ("snap_ca-HepTh", "ca-HepTh.txt.gz", 9_877, 51_971, 25, 25_973),
        ("snap_p2p-Gnutella08", "p2p-Gnutella08.txt", 6_301, 20_777, 0, 20_777),
        ("snap_email-Enron", "email-Enron.txt.gz", 36_692, 367_662, 0, 183_831),
        ("snap_soc-Epinions1", "soc-Epinions1.txt.gz", 75_879, 508_837, 0, 405_740),
        ("snap_soc-Slashdot0902", "soc-Slashdot0902.txt.gz", 82_168, 948_464, 78_303, 504_230),
        ("snap_as20graph", "as20graph.txt", 6_474, 26_467, 1_323, 12_572),
        ("p2p-Gnutella31", "p2p-Gnutella31.txt", 62_586, 147_892, 0, 147_892),
    ];
    for (name, file, nodes, listed, loops, unordered) in sets {
        let Some(folder) = shared(name) else { continue };
        let (format, found) = detect(&folder, &files(&folder)).unwrap();
        assert_eq!((format.name, found), ("edge_list", vec![folder.join(file)]));
        let graph = edges(&folder, file);
        assert_eq!(
            (graph.nodes(), graph.edges.len(), pairs(&graph)),
            (nodes, listed, (listed, loops, unordered)),
            "{name}"
        );
    }
}

#[test]
fn the_count_line_of_gnutella_is_no_edge_and_is_checked() {
    let Some(folder) = shared("p2p-Gnutella31") else { return };
    let graph = edges(&folder, "p2p-Gnutella31.txt");
    assert_eq!(
        (graph.ids, graph.edges.source[0], graph.edges.target[0]),
        (NodeIds::Count(62_586), 0, 1)
    );
    let text = std::fs::read(folder.join("p2p-Gnutella31.txt")).unwrap();
    let cut = tempfile::tempdir().unwrap();
    let path = cut.path().join("cut.txt");
    let end = text[..1_000_000].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    std::fs::write(&path, &text[..end]).unwrap();
    let error = edge_list::read(&path, &Options::default()).unwrap_err();
    assert!(
        error.what.contains("disagrees with the count") && error.location().ends_with(":1:1"),
        "{error}"
    );
}

#[test]
fn small_and_tiny_lists_have_the_counts_of_their_source() {
    // folder, file, nodes, listed, weighted
    let sets = [
        ("karate", "karate.edges", 34, 78, false),
        ("karate", "karate.weighted.edges", 34, 78, true),
        ("lesmis", "lesmis.weighted.edges", 77, 254, true),
        ("tiny_gapbs", "4.el", 14, 256, false),
        ("tiny_gapbs", "4.wel", 14, 256, true),
    ];
    for (name, file, nodes, listed, weighted) in sets {
        let Some(folder) = shared(name) else { continue };
        // Node 5 of tiny_gapbs has no edge: only the catalogue's entry can say that it is there.
        let options = Options { nodes: Some(nodes), ..Options::default() };
        let graph = edge_list::read(&folder.join(file), &options).unwrap();
        assert_eq!(
            (graph.ids, graph.edges.len(), graph.edges.weight.is_some()),
            (NodeIds::Count(nodes), listed, weighted),
            "{file}"
        );
    }
    let Some(folder) = shared("tiny_gapbs") else { return };
    let (mut plain, weighted) = (edges(&folder, "4.el"), edges(&folder, "4.wel"));
    let (distinct, loops, _) = pairs(&plain);
    assert_eq!((distinct - loops, pairs(&weighted)), (53, pairs(&plain)));
    plain.edges.weight = weighted.edges.weight.clone();
    let sorted = |graph: &RawGraph| {
        let mut pairs: Vec<_> =
            graph.edges.source.iter().zip(&graph.edges.target).map(|(&a, &b)| (a, b)).collect();
        pairs.sort_unstable();
        pairs
    };
    assert_eq!(sorted(&plain), sorted(&weighted));
}

#[test]
fn web_graphs_as_lists_have_the_counts_of_their_source() {
    let sets = [
        ("web_cnr-2000", "cnr-2000.arcs.txt.gz", 325_557, 3_216_152, 87_442, 2_738_969),
        (
            "web_uk-2007-05@100000",
            "uk-2007-05@100000.arcs.txt.gz",
            100_000,
            3_050_615,
            15_670,
            2_779_575,
        ),
        // 25,539 of the 326,186 nodes are isolated and are not in this file.
        ("web_dblp-2010", "dblp-2010.arcs.txt.gz", 300_647, 1_615_400, 0, 807_700),
    ];
    for (name, file, nodes, listed, loops, unordered) in sets {
        let Some(folder) = shared(name) else { continue };
        let graph = edges(&folder, file);
        assert_eq!(
            (graph.nodes(), graph.edges.len(), pairs(&graph)),
            (nodes, listed, (listed, loops, unordered)),
            "{name}"
        );
    }
}

#[test]
fn isolated_nodes_are_there_when_the_entry_says_so() {
    let Some(folder) = shared("web_dblp-2010") else { return };
    let options = Options { nodes: Some(326_186), ..Options::default() };
    let graph = edge_list::read(&folder.join("dblp-2010.arcs.txt.gz"), &options).unwrap();
    assert_eq!(
        (&graph.ids, graph.edges.len(), pairs(&graph)),
        (&NodeIds::Count(326_186), 1_615_400, (1_615_400, 0, 807_700))
    );
}

#[test]
fn road_networks_have_the_counts_of_their_source() {
    for (name, nodes, listed, unordered) in [
        ("road_oldenburg", 6_105, 7_029, 7_029),
        ("road_california", 21_048, 21_693, 21_693),
        ("road_san_joaquin", 18_263, 23_874, 23_797),
    ] {
        let Some(folder) = shared(name) else { continue };
        let (format, found) = detect(&folder, &files(&folder)).unwrap();
        assert_eq!((format.name, found.len()), ("road", 2));
        let graph = road::FORMAT
            .read(&found, &Options::default())
            .unwrap_or_else(|error| panic!("{error}"));
        graph.validate().unwrap();
        let (_, loops, found) = pairs(&graph);
        assert_eq!(
            (&graph.ids, graph.edges.len(), loops, found),
            (&NodeIds::Count(nodes), listed, 0, unordered),
            "{name}"
        );
        assert!(graph.edges.weight.unwrap().iter().all(|&length| length >= 0.0));
        if name == "road_oldenburg" {
            let Column::Reals(x) = &graph.columns[0].1 else { panic!("expected numbers") };
            assert_eq!((x[0], x[6_104]), (Some(769.948669), Some(3730.963379)));
            assert_eq!((graph.edges.source[0], graph.edges.target[0]), (1609, 1622));
        }
    }
}

#[test]
fn sets_with_communities_have_the_counts_of_their_source() {
    // name, nodes, listed, loops, labels, memberships
    for (name, nodes, listed, loops, labels, memberships) in [
        ("prone_ppi", 3_890, 38_739, 894, 50, 6_640),
        ("prone_wikipedia", 4_777, 92_517, 222, 40, 6_770),
        ("prone_dblp", 51_264, 127_968, 0, 60, 51_264),
    ] {
        let Some(folder) = shared(name) else { continue };
        let (format, found) = detect(&folder, &files(&folder)).unwrap();
        assert_eq!((format.name, found.len()), ("communities", 2));
        let graph = communities::FORMAT
            .read(&found, &Options::default())
            .unwrap_or_else(|error| panic!("{error}"));
        graph.validate().unwrap();
        assert_eq!(
            (graph.nodes(), graph.edges.len(), pairs(&graph).1),
            (nodes, listed, loops),
            "{name}"
        );
        let found = match graph.labels.unwrap() {
            Labels::Rows { columns, values } => {
                assert!(values.chunks(columns as usize).all(|row| row.contains(&1.0)));
                (columns as usize, values.iter().filter(|&&value| value == 1.0).count(), false)
            }
            Labels::Classes { class, names } => (
                names.len(),
                class.iter().filter(|&&class| (class as usize) < names.len()).count(),
                true,
            ),
            Labels::Values(_) => panic!("expected classes or rows"),
        };
        assert_eq!(found, (labels, memberships, name == "prone_dblp"), "{name}");
    }
}

#[test]
fn uai_has_the_counts_of_its_source() {
    let Some(folder) = shared("uai2010") else { return };
    let (format, found) = detect(&folder, &files(&folder)).unwrap();
    assert_eq!(format.name, "uai");
    let graph =
        uai::FORMAT.read(&found, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    graph.validate().unwrap();
    assert_eq!(
        (&graph.ids, graph.edges.len(), pairs(&graph)),
        (&NodeIds::Count(3_067), 56_622, (56_622, 6, 28_308))
    );
    assert_eq!(graph.features.as_ref().map(Features::columns), Some(4_973));
    let Some(Labels::Classes { class, names }) = &graph.labels else { panic!("expected classes") };
    assert!(names.len() == 19 && class.len() == 3_067);
    let parts = |part: u8| {
        graph
            .splits
            .iter()
            .map(|split| split.iter().filter(|&&found| found == part).count())
            .collect::<Vec<_>>()
    };
    assert_eq!((parts(TRAIN), parts(TEST)), (vec![380, 760, 1_140], vec![1_000; 3]));
    assert_eq!(graph.passed_over.len(), 8);
}
