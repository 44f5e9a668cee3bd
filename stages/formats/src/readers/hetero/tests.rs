//! Graphs of several kinds: the published sets, a small one, and every fault.
use super::*;
use crate::raw_graph::{TEST, TRAIN, VALIDATION};
use proptest::prelude::*;

fn shared(name: &str) -> Option<Vec<PathBuf>> {
    let root = std::env::var_os("WARPLOOM_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), Into::into);
    files_in(&root.join("data").join(name)).or_else(|| {
        println!("SKIPPED: {name}: no such folder under WARPLOOM_SHARED");
        None
    })
}

fn files_in(folder: &Path) -> Option<Vec<PathBuf>> {
    let look: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.map(|entry| entry.unwrap().path()).collect();
    recognise(&FileHeads::new(&look))
}

fn named(pairs: &[(&str, &str)]) -> Options {
    Options {
        kinds: pairs.iter().map(|(letter, name)| (letter.to_string(), name.to_string())).collect(),
        ..Options::default()
    }
}

type Counts = Vec<(String, usize)>;

/// Kinds with their counts, relations with their counts, sizes of classes, sizes of the training
/// parts.
fn facts(graph: &RawGraph) -> (Counts, Counts, Vec<usize>, Vec<[usize; 3]>) {
    graph.validate().unwrap();
    let kinds = graph.kinds.as_ref().unwrap();
    let count =
        |kind: usize| kinds.of_node.iter().filter(|&&found| usize::from(found) == kind).count();
    let of_relation = |relation: usize| {
        graph
            .edges
            .relation
            .iter()
            .flatten()
            .filter(|&&found| usize::from(found) == relation)
            .count()
    };
    let Some(Labels::Classes { class, names }) = &graph.labels else { panic!("expected classes") };
    (
        kinds.names.iter().enumerate().map(|(at, name)| (name.clone(), count(at))).collect(),
        graph
            .relations
            .iter()
            .enumerate()
            .map(|(at, name)| (name.clone(), of_relation(at)))
            .collect(),
        (0..names.len())
            .map(|name| class.iter().filter(|&&class| class as usize == name).count())
            .collect(),
        graph
            .splits
            .iter()
            .map(|split| {
                [TRAIN, VALIDATION, TEST]
                    .map(|part| split.iter().filter(|&&found| found == part).count())
            })
            .collect(),
    )
}

fn list(pairs: &[(&str, usize)]) -> Counts {
    pairs.iter().map(|(name, count)| (name.to_string(), *count)).collect()
}

fn entries(features: &Option<Features>) -> (u32, usize) {
    match features {
        Some(Features::Sparse { columns, index, .. }) => (*columns, index.len()),
        _ => panic!("expected sparse features"),
    }
}

#[test]
fn acm_has_the_counts_of_its_source() {
    let Some(files) = shared("hetero_acm") else { return };
    let graph = read(&files, &named(&[("p", "paper"), ("a", "author"), ("s", "subject")])).unwrap();
    let (kinds, relations, classes, splits) = facts(&graph);
    assert_eq!(kinds, list(&[("author", 7_167), ("paper", 4_019), ("subject", 60)]));
    assert_eq!(relations, list(&[("paper_author", 13_407), ("paper_subject", 4_019)]));
    assert_eq!(classes, [1_993, 965, 1_061]);
    assert_eq!(splits, [[60, 1000, 1000], [120, 1000, 1000], [180, 1000, 1000]]);
    let kinds = graph.kinds.unwrap();
    assert_eq!(
        (entries(&kinds.features[1]), kinds.features[2].is_none()),
        ((1_902, 340_377), true)
    );
    let NodeIds::Strings(ids) = &graph.ids else { panic!("expected words") };
    assert_eq!(
        (ids[0].as_str(), ids[7_167].as_str(), ids[7_167 + 12].as_str()),
        ("author:0000", "paper:0000", "paper:0012")
    );
    // The first line of pa.txt: 0 2036.
    assert_eq!((graph.edges.source[0], graph.edges.target[0]), (7_167, 2_036));
}

#[test]
fn dblp_and_the_films_have_the_counts_of_their_sources() {
    let Some(files) = shared("hetero_dblp") else { return };
    let graph = read(&files, &Options::default()).unwrap();
    let (kinds, relations, classes, splits) = facts(&graph);
    assert_eq!(kinds, list(&[("a", 4_057), ("c", 20), ("p", 14_328), ("t", 7_723)]));
    assert_eq!(relations, list(&[("pa", 19_645), ("pc", 14_328), ("pt", 85_810)]));
    assert_eq!(classes, [1_197, 745, 1_109, 1_006]);
    assert_eq!(splits, [[80, 1000, 1000], [160, 1000, 1000], [240, 1000, 1000]]);
    assert_eq!(entries(&graph.kinds.unwrap().features[0]), (334, 48_810));
    let Some(files) = shared("hetero_freebase_movie") else { return };
    let graph = read(&files, &named(&[("m", "movie")])).unwrap();
    let (kinds, relations, classes, splits) = facts(&graph);
    assert_eq!(kinds, list(&[("a", 33_401), ("d", 2_502), ("movie", 3_492), ("w", 4_459)]));
    assert_eq!(relations, list(&[("movie_a", 65_341), ("movie_d", 3_762), ("movie_w", 6_414)]));
    assert_eq!((classes, splits.len()), (vec![1_327, 618, 1_547], 3));
}

fn fixture() -> Vec<PathBuf> {
    files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/arrays/hetero"))
        .unwrap()
}

/// The fixture, with other bytes in place of a file's.
fn changed(name: &str, bytes: &[u8]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    for path in fixture() {
        std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    std::fs::write(folder.path().join(name), bytes).unwrap();
    let files =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    (folder, files)
}

#[test]
fn a_small_set_is_read_whole() {
    let graph = read(&fixture(), &named(&[("p", "paper"), ("a", "author")])).unwrap();
    graph.validate().unwrap();
    assert_eq!(
        graph.ids,
        NodeIds::Strings(
            ["author:0", "author:1", "author:2", "paper:0", "paper:1"].map(str::to_owned).to_vec()
        )
    );
    assert_eq!(
        (&graph.edges.source[..], &graph.edges.target[..], &graph.relations[..]),
        (&[4, 3, 3][..], &[1, 0, 1][..], &["paper_author".to_owned()][..])
    );
    let none = NO_CLASS;
    assert_eq!(
        graph.labels,
        Some(Labels::Classes {
            class: vec![none, none, none, 1, 0],
            names: vec!["0".into(), "3".into()]
        })
    );
    assert_eq!(graph.splits, [vec![0, 0, 0, TRAIN, TEST], vec![0, 0, 0, TEST, TRAIN]]);
    let kinds = graph.kinds.unwrap();
    // Author 2 is known by its features alone.
    assert_eq!(
        kinds.features[0],
        Some(Features::Dense { columns: 2, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] })
    );
    assert_eq!(
        kinds.features[1],
        Some(Features::Sparse {
            columns: 3,
            offsets: vec![0, 1, 2],
            index: vec![2, 0],
            values: vec![1.0, 1.0]
        })
    );
}

#[test]
fn what_does_not_fit_is_named() {
    let what = |name: &str, bytes: &[u8], options: &Options| {
        let (_folder, files) = changed(name, bytes);
        read(&files, options).unwrap_err().to_string()
    };
    let plain = Options::default();
    let one = |name: &str, bytes: &[u8]| what(name, bytes, &plain);
    assert!(
        one("pa.txt", b"0 0\n1 3\n").contains("a node of the kind `a` is beyond the rows of"),
        "{}",
        one("pa.txt", b"0 0\n1 3\n")
    );
    assert!(
        one("pa.txt", b"0 0\n1 x\n").contains("pa.txt:2:3"),
        "{}",
        one("pa.txt", b"0 0\n1 x\n")
    );
    assert!(one("pb.txt", b"0 1000000000000\n").contains("far beyond the number of edges"));
    assert!(
        one("pb.txt", b"1 1\n").contains("several kinds have as many nodes as there are labels"),
        "{}",
        one("pb.txt", b"1 1\n")
    );
    assert!(one("pb.txt", b"0 1 0.5\n").contains("some relations have a third column"));
    assert!(one("x_feat.npy", b"").contains("x_feat.npy"));
    assert!(one("other.npy", b"").contains("this file is no part of a set of several kinds"));
    let labels = |values: &[i64]| {
        crate::readers::npz::tests::array(
            "<i8",
            values.len(),
            values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        )
    };
    assert!(
        one("labels.npy", &labels(&[1; 7])).contains("= expected one of a 3, p 2, found 7 labels"),
        "{}",
        one("labels.npy", &labels(&[1; 7]))
    );
    assert!(
        one("test_20.npy", &labels(&[2])).contains("below 2, found 2"),
        "{}",
        one("test_20.npy", &labels(&[2]))
    );
    assert!(one("test_20.npy", &labels(&[0])).contains("node 0 is in two parts"));
    assert!(
        what("labels.npy", &labels(&[1, 2]), &named(&[("z", "zoo")]))
            .contains("no relation has the kind `z`")
    );
    assert!(
        what("labels.npy", &labels(&[1, 2]), &named(&[("p", "a")]))
            .contains("two kinds have one name")
    );
}

proptest! {
    #[test]
    fn a_changed_set_is_read_or_refused(which in 0usize..6, at in 0usize..2000, to: u8, text in "[0-9 \n]{0,40}") {
        let mut files = fixture();
        files.sort();
        let path = &files[which % files.len()];
        let mut bytes = std::fs::read(path).unwrap();
        let at = at % bytes.len();
        bytes[at] = to;
        let name = path.file_name().unwrap().to_str().unwrap();
        for (name, bytes) in [(name, &bytes[..]), ("pa.txt", text.as_bytes())] {
            let (_folder, files) = changed(name, bytes);
            if let Ok(graph) = read(&files, &Options::default()) {
                graph.validate().unwrap();
            }
        }
    }
}
