//! Real files, when they are there, against what their SOURCE.txt says; and the tiny graph of
//! tests/graphs in every format.
#![allow(clippy::unwrap_used)]
use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};
use warploom_formats::{
    Options,
    raw_graph::{Features, Labels, NO_CLASS, NodeIds, RawGraph, TEST, TRAIN, VALIDATION},
    readers::{edge_list, gml, planetoid},
};
use warploom_ingest::transform::{self, Counts};
use warploom_test_support::{repository, skips::shared_folder};

fn counts(graph: &RawGraph) -> Counts {
    transform::transform(
        graph.edges.clone(),
        graph.nodes(),
        graph.relations.len(),
        &transform::Options { symmetrize: true, ..transform::Options::default() },
    )
    .unwrap()
    .counts
}

#[test]
fn snap_sets_have_the_counts_of_their_source() {
    // name, file, nodes, listed, distinct, loops, symmetric
    let sets = [
        ("snap_wiki-Vote", "wiki-Vote.txt", 7_115, [103_689, 103_689, 0, 2 * 100_762]),
        ("snap_ca-GrQc", "ca-GrQc.txt", 5_242, [28_980, 28_980, 12, 2 * 14_484 + 12]),
        ("snap_email-Enron", "email-Enron.txt.gz", 36_692, [367_662, 367_662, 0, 2 * 183_831]),
        (
            "snap_soc-Slashdot0902",
            "soc-Slashdot0902.txt.gz",
            82_168,
            [948_464, 948_464, 78_303, 2 * 504_230 + 78_303],
        ),
        ("snap_as20graph", "as20graph.txt", 6_474, [26_467, 26_467, 1_323, 2 * 12_572 + 1_323]),
        ("snap_ca-HepTh", "ca-HepTh.txt.gz", 9_877, [51_971, 51_971, 25, 2 * 25_973 + 25]),
        ("snap_p2p-Gnutella08", "p2p-Gnutella08.txt", 6_301, [20_777, 20_777, 0, 2 * 20_777]),
        ("snap_soc-Epinions1", "soc-Epinions1.txt.gz", 75_879, [508_837, 508_837, 0, 2 * 405_740]),
    ];
    for (name, file, nodes, [listed, distinct, loops, symmetric]) in sets {
        let Some(folder) = shared_folder(name) else { continue };
        let graph = edge_list::read(&folder.join(file), &Options::default()).unwrap();
        graph.validate().unwrap();
        assert_eq!(
            (graph.nodes(), counts(&graph)),
            (nodes, Counts { listed, distinct, loops, symmetric: Some(symmetric) }),
            "{name}"
        );
    }
}

#[test]
fn cora_has_the_counts_of_its_source() {
    let Some(folder) = shared_folder("planetoid_cora") else { return };
    let paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    let graph = planetoid::read(&paths).unwrap();
    graph.validate().unwrap();
    assert_eq!(graph.ids, NodeIds::Count(2708));
    assert_eq!(
        counts(&graph),
        Counts { listed: 10_858, distinct: 10_556, loops: 0, symmetric: Some(10_556) }
    );
    let parts = [TRAIN, VALIDATION, TEST]
        .map(|part| graph.splits[0].iter().filter(|&&found| found == part).count());
    assert_eq!(parts, [140, 500, 1000]);
    let Some(Labels::Classes { class, names }) = &graph.labels else { panic!("expected classes") };
    assert!(names.len() == 7 && class.iter().all(|&class| class != NO_CLASS));
    // 20 training nodes of each class.
    (0..7).for_each(|wanted| {
        assert_eq!(
            graph.splits[0]
                .iter()
                .zip(class)
                .filter(|&(&part, &class)| part == TRAIN && class == wanted)
                .count(),
            20
        )
    });
    let Some(Features::Sparse { columns, index, values, .. }) = &graph.features else {
        panic!("expected sparse features")
    };
    assert!((*columns, index.len()) == (1433, 49_216) && values.iter().all(|&value| value == 1.0));
}

#[test]
fn a_planetoid_set_without_a_file_names_the_file() {
    let Some(folder) = shared_folder("planetoid_pubmed_without_allx") else { return };
    let paths: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    let error = planetoid::read(&paths).unwrap_err();
    assert_eq!(error.path, folder.join("ind.pubmed.allx"));
    assert!(error.to_string().contains("lacks its file `allx`"), "{error}");
}

#[test]
fn karate_has_the_counts_of_its_source() {
    let Some(folder) = shared_folder("karate") else { return };
    let graph = gml::read(
        &folder.join("karate.gml"),
        &Options { label: Some("club".into()), ..Options::default() },
    )
    .unwrap();
    assert_eq!((graph.ids.clone(), graph.edges.weight.is_some()), (NodeIds::Count(34), true));
    assert_eq!(counts(&graph), Counts { listed: 78, distinct: 78, loops: 0, symmetric: Some(156) });
    let Some(Labels::Classes { class, names }) = &graph.labels else { panic!("expected classes") };
    assert_eq!(
        (names[0].as_str(), names[1].as_str(), class.iter().filter(|&&class| class == 1).count()),
        ("Mr. Hi", "Officer", 17)
    );
    let same = edge_list::read(&folder.join("karate.weighted.edges"), &Options::default()).unwrap();
    assert_eq!(
        (same.ids, transform::sort(same.edges, 34)),
        (graph.ids, transform::sort(graph.edges, 34))
    );
}

/// The bytes of a file in a zip archive that was stored as a whole.
fn unzip(archive: &[u8], name: &str) -> Vec<u8> {
    let field = |at: usize, width: usize| {
        archive[at..at + width]
            .iter()
            .rev()
            .fold(0usize, |value, &byte| value << 8 | usize::from(byte))
    };
    let directory = archive.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let mut at = directory;
    while archive[at..].starts_with(b"PK\x01\x02") {
        let (packed, length, start) = (field(at + 20, 4), field(at + 28, 2), field(at + 42, 4));
        if &archive[at + 46..at + 46 + length] == name.as_bytes() {
            let data = start + 30 + field(start + 26, 2) + field(start + 28, 2);
            let mut bytes = Vec::new();
            flate2::read::DeflateDecoder::new(&archive[data..data + packed])
                .read_to_end(&mut bytes)
                .unwrap();
            return bytes;
        }
        at += 46 + length + field(at + 30, 2) + field(at + 32, 2);
    }
    panic!("{name} is not in the archive");
}

#[test]
fn newmans_sets_have_the_counts_of_their_source() {
    let Some(folder) = shared_folder("newman_gml") else { return };
    let sets = [
        ("karate", None, 34, 78, false),
        ("celegansneural", None, 297, 2_359, true),
        ("lesmiserables", None, 77, 254, false),
        ("polbooks", Some("value"), 105, 441, false),
        ("football", Some("value"), 115, 613, false),
    ];
    let unpacked = tempfile::tempdir().unwrap();
    for (name, label, nodes, listed, directed) in sets {
        let mut path = folder.join(format!("{name}.gml"));
        if name == "football" {
            path = unpacked.path().join("football.gml");
            fs::write(
                &path,
                unzip(&fs::read(folder.join("football.zip")).unwrap(), "football.gml"),
            )
            .unwrap();
        }
        let graph =
            gml::read(&path, &Options { label: label.map(String::from), ..Options::default() })
                .unwrap();
        graph.validate().unwrap();
        assert_eq!(
            (graph.nodes(), graph.edges.len(), graph.directed),
            (nodes, listed, Some(directed)),
            "{name}"
        );
        if let Some(Labels::Classes { names, .. }) = graph.labels {
            assert_eq!(names.len(), if name == "football" { 12 } else { 3 });
        }
    }
}

/// Five nodes 1, 2, 3, 5, 8; two directions of one pair, a repeat, a self loop, weights.
fn tiny(graph: &RawGraph) {
    graph.validate().unwrap();
    assert_eq!(graph.ids, NodeIds::Numbers(vec![1, 2, 3, 5, 8]));
    assert_eq!(
        (&graph.edges.source, &graph.edges.target),
        (&vec![0, 1, 1, 1, 3, 4], &vec![1, 0, 2, 2, 3, 0])
    );
    assert_eq!(graph.edges.weight, Some(vec![0.5, 0.5, 1.0, 2.0, 3.0, -1.5]));
}

#[test]
fn the_tiny_graph_is_the_same_in_every_format() {
    let folder = repository().join("tests/graphs");
    for file in ["tiny.edges.txt", "tiny.edges.csv", "tiny.edges.txt.gz", "tiny.edges.txt.zst"] {
        tiny(&edge_list::read(&folder.join(file), &Options::default()).unwrap());
    }
    let graph = gml::read(
        &folder.join("tiny.gml"),
        &Options { label: Some("kind".into()), ..Options::default() },
    )
    .unwrap();
    tiny(&graph);
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![0, 1, 0, NO_CLASS, 1],
            names: vec!["even".into(), "odd".into()]
        })
    );
}

fn planetoid_files() -> Vec<PathBuf> {
    ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"]
        .iter()
        .map(|part| repository().join(format!("tests/graphs/ind.tiny.{part}")))
        .collect()
}

#[test]
fn a_gap_in_test_index_is_a_node_without_anything() {
    let graph = planetoid::read(&planetoid_files()).unwrap();
    graph.validate().unwrap();
    assert_eq!(graph.ids, NodeIds::Count(7));
    assert_eq!(
        (&graph.edges.source, &graph.edges.target),
        (&vec![0, 0, 1, 2, 3, 4, 6], &vec![1, 1, 0, 2, 4, 3, 0])
    );
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![0, 1, 1, 0, 1, NO_CLASS, 0],
            names: vec!["0".into(), "1".into()]
        })
    );
    assert_eq!(graph.splits, [[TRAIN, TRAIN, VALIDATION, VALIDATION, TEST, 0, TEST]]);
    let offsets = vec![0, 1, 3, 3, 4, 5, 5, 7];
    assert_eq!(
        graph.features,
        Some(Features::Sparse {
            columns: 3,
            offsets,
            index: vec![0, 0, 2, 1, 2, 0, 1],
            values: vec![1.0, 1.0, 0.5, 2.0, 4.0, 8.0, 8.0]
        })
    );
}

/// Writes a new file: some file systems flush one that is written over, which takes milliseconds.
fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_planetoid_set_is_an_error_or_a_graph() {
    let folder = tempfile::tempdir().unwrap();
    let files = planetoid_files();
    let paths: Vec<PathBuf> =
        files.iter().map(|path| folder.path().join(path.file_name().unwrap())).collect();
    for (damaged, from) in files.iter().enumerate() {
        let bytes = fs::read(from).unwrap();
        for (from, to) in files.iter().zip(&paths) {
            fs::copy(from, to).unwrap();
        }
        for at in 0..bytes.len() {
            for value in [0, 1, b'.', b'(', 0xff, bytes[at] ^ 1, bytes[at].wrapping_add(1)] {
                let mut bytes = bytes.clone();
                bytes[at] = value;
                replace(&paths[damaged], &bytes);
                if let Ok(graph) = planetoid::read(&paths) {
                    graph.validate().unwrap();
                }
            }
            replace(&paths[damaged], &bytes[..at]);
            if let Ok(graph) = planetoid::read(&paths) {
                graph.validate().unwrap();
            }
        }
        fs::write(&paths[damaged], &bytes).unwrap();
    }
}
