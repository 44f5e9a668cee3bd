//! Triples: both forms of a small set, faults, and the published sets by their counts.
use super::*;
use crate::{
    containers::{tar::tests::archive_of, zip::tests::archive_of as zip_of},
    detect::detect,
    raw_graph::{Column, NodeIds},
    test_support::both_ways,
    text::lines::tests::{fixture, shared, written},
};
use proptest::prelude::*;
use std::{fs, path::Path};

fn contents(name: &str) -> Vec<(String, Vec<u8>)> {
    fixture(name)
        .iter()
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        .collect()
}

/// A small set with one file replaced, added, or taken out (`-`).
fn read_with(set: &str, name: &str, text: &[u8]) -> Read<RawGraph> {
    let mut files = contents(set);
    files.retain(|(known, _)| known != name);
    if text != b"-" {
        files.push((name.to_owned(), text.to_vec()));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
    let (_folder, paths) = written(&files);
    let graph = both_ways(|limit| read_within(&paths, &Options::default(), limit))?;
    graph.validate().unwrap();
    Ok(graph)
}

fn of_parts(parts: &[TriplePart]) -> Options {
    Options { parts: parts.to_vec(), ..Options::default() }
}

#[test]
fn both_forms_give_one_graph() {
    let (format, files) = detect(Path::new("x"), &fixture("triples/words")).unwrap();
    assert_eq!((format.name, files.len()), ("triples", 3));
    let words = read(&files, &Options::default()).unwrap();
    assert_eq!((words.validate(), words.directed), (Ok(()), Some(true)));
    assert_eq!(words.ids, NodeIds::Strings(["a", "b", "c", "d e"].map(String::from).to_vec()));
    assert_eq!(words.relations, ["knows", "likes", "made by"]);
    assert_eq!(
        (&words.edges.source, &words.edges.target, &words.edges.relation),
        (&vec![1, 0, 1], &vec![0, 2, 1], &Some(vec![1, 2, 1]))
    );
    let (format, files) = detect(Path::new("x"), &fixture("triples/numbered")).unwrap();
    assert_eq!((format.name, files.len()), ("triples", 5));
    for parts in [
        &[][..],
        &[TriplePart::Test],
        &[TriplePart::Valid, TriplePart::Train],
        &[TriplePart::Test, TriplePart::Valid, TriplePart::Train, TriplePart::Test],
    ] {
        let words =
            both_ways(|limit| read_within(&fixture("triples/words"), &of_parts(parts), limit))
                .unwrap();
        let mut numbered = both_ways(|limit| read_within(&files, &of_parts(parts), limit)).unwrap();
        assert_eq!(numbered.validate(), Ok(()));
        assert_eq!(
            numbered.columns,
            [("number".into(), Column::Integers([1, 2, 0, 3].map(Some).to_vec()))]
        );
        numbered.columns.clear();
        assert_eq!(numbered, words);
        // Parts whose statements are no edges are named.
        let left = words.passed_over.first().map_or("", |what| what.split(':').next().unwrap());
        let named = [
            "statements of valid and test",
            "statements of train and valid",
            "statements of test",
            "",
        ];
        assert_eq!(
            (left, words.passed_over.len()),
            (
                named[if parts.is_empty() { 0 } else { parts.len().min(3) }],
                usize::from(parts.len() < 3)
            )
        );
        assert_eq!(
            words.edges.len(),
            [3, 1, 4, 5][if parts.is_empty() { 0 } else { parts.len().min(3) }]
        );
    }
}

#[test]
fn archives_give_the_same_graph() {
    for set in ["triples/words", "triples/numbered"] {
        let contents = contents(set);
        let members: Vec<(&str, &[u8])> =
            contents.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
        for (name, bytes) in [("set.tar", archive_of(&members)), ("set.zip", zip_of(&members))] {
            let (folder, files) = written(&[(name, &bytes)]);
            let (format, found) = detect(folder.path(), &files).unwrap();
            assert_eq!(
                (format.name, read(&found, &Options::default()).unwrap()),
                ("triples", read(&fixture(set), &Options::default()).unwrap())
            );
        }
    }
    let (folder, files) = written(&[(
        "set.tar",
        &archive_of(&[("../train.txt", b"a\tr\tb\n"), ("test.txt", b"a\tr\tb\n")]),
    )]);
    assert!(detect(folder.path(), &files).is_err());
    assert!(
        read(&files, &Options::default()).unwrap_err().what.contains("leads out of the archive")
    );
}

/// Node and type, by name.
fn typed(graph: &RawGraph) -> Vec<(String, String)> {
    let (NodeIds::Strings(ids), Some(types)) = (&graph.ids, &graph.types) else {
        panic!("expected words and types")
    };
    types
        .of_nodes
        .iter()
        .map(|&(node, name)| (ids[node as usize].clone(), types.names[name as usize].clone()))
        .collect()
}

#[test]
fn a_table_gives_types_in_both_forms() {
    let table: &[u8] =
        "d e\tthing\r\na\tperson\n\nb\tperson\tking\nb\tking\nelsewhere\tä\na\tact or".as_bytes();
    let expected =
        [("a", "act or"), ("a", "person"), ("b", "king"), ("b", "person"), ("d e", "thing")]
            .map(|(node, name)| (node.to_owned(), name.to_owned()));
    for set in ["triples/words", "triples/numbered"] {
        for name in
            ["entity2type.txt", "Entity_Types.tsv", "entityType.txt", "Entity_Type_train.txt"]
        {
            let graph = read_with(set, name, table).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(typed(&graph), expected, "{set} {name}");
            assert_eq!(
                graph.passed_over[0],
                format!("1 entities of {name} that the set does not have")
            );
            let without = read(&fixture(set), &Options::default()).unwrap();
            assert_eq!((graph.ids, graph.edges), (without.ids, without.edges));
        }
    }
    // In an archive, recognised in a folder, and under a name of its own.
    let mut contents = contents("triples/words");
    contents.push(("entity2type.txt".to_owned(), table.to_vec()));
    let members: Vec<(&str, &[u8])> =
        contents.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
    let (folder, files) = written(&members);
    let (format, found) = detect(folder.path(), &files).unwrap();
    assert_eq!(
        (format.name, found.len(), typed(&read(&found, &Options::default()).unwrap())),
        ("triples", 4, expected.to_vec())
    );
    let (_folder, files) = written(&[("set.zip", &zip_of(&members))]);
    assert_eq!(typed(&read(&files, &Options::default()).unwrap()), expected);
    contents[3].0 = "kinds.txt".to_owned();
    let members: Vec<(&str, &[u8])> =
        contents.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
    let (_folder, files) = written(&members);
    let named = |name: &str| Options { types: Some(name.into()), ..Options::default() };
    assert_eq!(read(&files, &Options::default()).unwrap().types, None);
    assert_eq!(typed(&read(&files, &named("kinds.txt")).unwrap()), expected);
    assert!(
        read(&files, &named("none.txt")).unwrap_err().what.contains("lacks its file `none.txt`")
    );
    // One file of statements, and the table.
    let (_folder, files) = written(&[("facts", b"a\tr\tb\n"), ("entity2type.txt", b"b\tking\n")]);
    assert_eq!(
        typed(&read(&files, &Options::default()).unwrap()),
        [("b".to_owned(), "king".to_owned())]
    );
}

#[test]
fn one_file_is_to_be_trained_on() {
    let (_folder, files) = written(&[("facts", "ä\tr\tb\r\n\nb\tr\tä".as_bytes())]);
    let graph = read(&files, &Options::default()).unwrap();
    assert_eq!((graph.edges.source, graph.edges.target), (vec![1, 0], vec![0, 1]));
    assert!(
        read(&files, &of_parts(&[TriplePart::Test]))
            .unwrap_err()
            .what
            .contains("lacks its file `test.txt`")
    );
}

#[test]
fn a_lone_train_is_a_set_unless_its_numbers_may_be_weights() {
    let found = |text: &str| {
        let (folder, mut paths) =
            written(&[("train.txt", text.as_bytes()), ("entity2type.txt", b"a person\n")]);
        paths.truncate(1);
        let (format, files) = detect(folder.path(), &paths).unwrap();
        (format.name, format.read(&files, &Options::default()))
    };
    let (format, graph) = found("/m/02\t/film/actor\t/m/01\n/m/01\t/film/genre\t/m/02\n");
    assert_eq!((format, graph.unwrap().relations.len()), ("triples", 2));
    let (format, graph) = found("00260881\t_hypernym\t00260622\n");
    assert_eq!(
        (format, graph.unwrap().ids),
        ("triples", NodeIds::Strings(vec!["00260622".into(), "00260881".into()]))
    );
    let (format, graph) = found("1\t_hypernym\t2\n2\t_hypernym\t3\n");
    assert_eq!((format, graph.unwrap().relations.len()), ("triples", 1));
    let (format, graph) = found("17\tbook\t5\n17\tfilm\t4\n18\tbook\t4\n");
    assert_eq!((format, graph.unwrap().edges.weight), ("edge_list", Some(vec![5.0, 4.0, 4.0])));
    let (format, graph) = found("head\trelation\ttail\na\tr\tb\n");
    assert_eq!((format, graph.unwrap().relations), ("edge_list", vec!["r".to_owned()]));
    // Of several parts a first line of names is refused, and not taken for a statement.
    let error = read_with("triples/words", "train.txt", b"head\trelation\ttail\na\tknows\tb\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the first line names the columns")
            && error.contains("train.txt:1:1")
            && error.contains("sed -i 1d"),
        "{error}"
    );
}

#[test]
fn every_fault_is_named_with_its_place() {
    let words: [(&str, &[u8], &str, &str); 8] = [
        ("train.txt", b"a\tr\n", "no tail", "train.txt:1:4"),
        ("train.txt", b"a\tr\tb\na r b\n", "no relation", "train.txt:2:6"),
        ("train.txt", b"a\t\tb\n", "empty relation", "train.txt:1:3"),
        ("train.txt", b"a\tr\tb\tc\n", "more than three columns", "train.txt:1:7"),
        ("train.txt", b"a\tr\t\xff\n", "not UTF-8", "train.txt:1:5"),
        ("valid.txt", b"a\tr\t\n", "empty tail", "valid.txt:1:5"),
        ("train.txt", b"-", "lacks its file `train.txt`", "train.txt"),
        ("x-train.txt", b"a\tr\tb\n", "two files of the part `train`", "train.txt"),
    ];
    let numbered: [(&str, &[u8], &str, &str); 16] = [
        (
            "train2id.txt",
            b"4\n2 1 0\n1 0 1\n2 2 0\n",
            "another number of lines",
            "train2id.txt:1:1",
        ),
        ("train2id.txt", b"1\n2 1 3\n", "does not name", "train2id.txt:2:1"),
        ("train2id.txt", b"1\n4 1 0\n", "does not name", "train2id.txt:2:1"),
        ("train2id.txt", b"1\n2 x 0\n", "not a whole number", "train2id.txt:2:3"),
        (
            "train2id.txt",
            b"2 1 0\n",
            "does not begin with the number of its lines",
            "train2id.txt:1:1",
        ),
        ("train2id.txt", b"1\n2 1\n", "too few columns", "train2id.txt:2:4"),
        ("train2id.txt", b"1\n2 1 0 0\n", "too many columns", "train2id.txt:2:7"),
        ("train2id.txt", b"-", "lacks its file `train2id.txt`", "train2id.txt"),
        ("entity2id.txt", b"-", "lacks its file `entity2id.txt`", "entity2id.txt"),
        ("relation2id.txt", b"-", "lacks its file `relation2id.txt`", "relation2id.txt"),
        ("entity2id.txt", b"5\na\t0\n", "another number of lines", "entity2id.txt:1:1"),
        (
            "entity2id.txt",
            b"1152921504606846976\na\t0\n",
            "does not begin with the number",
            "entity2id.txt:1:1",
        ),
        ("entity2id.txt", b"2\na\t0\na\t1\n", "a name stands twice", "entity2id.txt"),
        ("entity2id.txt", b"2\na\t0\nb\t0\n", "a number stands twice", "entity2id.txt"),
        ("entity2id.txt", b"2\na\t0\nb\t2\n", "a number is too large", "entity2id.txt"),
        ("entity2id.txt", b"2\na\t0\nb\n", "does not give a name its number", "entity2id.txt:3:1"),
    ];
    let cases = words
        .into_iter()
        .map(|case| ("triples/words", case))
        .chain(numbered.into_iter().map(|case| ("triples/numbered", case)));
    for (set, (name, text, what, place)) in cases {
        let error = read_with(set, name, text).unwrap_err();
        assert!(
            error.what.contains(what) && error.location().ends_with(place),
            "{name} {:?}: {error}",
            String::from_utf8_lossy(text)
        );
    }
    let types: [(&[u8], &str, &str); 6] = [
        (b"a\n", "an entity has no type", "entity2type.txt:1:2"),
        (b"a\tx\nb y\n", "an entity has no type", "entity2type.txt:2:4"),
        (b"a\t\n", "an empty column", "entity2type.txt:1:3"),
        (b"\tx\n", "an empty column", "entity2type.txt:1:1"),
        (b"a\t\xff\n", "not UTF-8", "entity2type.txt:1:3"),
        (b"\n", "names no entity", "entity2type.txt"),
    ];
    for (text, what, place) in types {
        let error = read_with("triples/words", "entity2type.txt", text).unwrap_err();
        assert!(
            error.what.contains(what) && error.location().ends_with(place),
            "{:?}: {error}",
            String::from_utf8_lossy(text)
        );
    }
    let (_folder, files) = written(&[
        ("train.txt", b"a\tr\tb\n"),
        ("entity2type.txt", b"a\tx\n"),
        ("entity_types.txt", b"a\tx\n"),
    ]);
    assert!(
        read(&files, &Options::default())
            .unwrap_err()
            .what
            .contains("two files of types of entities")
    );
    let (_folder, files) = written(&[("facts", b"\n")]);
    assert!(read(&files, &Options::default()).unwrap_err().what.contains("no statement"));
}

#[test]
fn published_sets_have_their_counts() {
    let all = of_parts(&[TriplePart::Train, TriplePart::Valid, TriplePart::Test]);
    if let Some(files) = shared("kg_WN18RR") {
        let (format, found) = detect(Path::new("x"), &files).unwrap();
        let graph = read(&found, &Options::default()).unwrap();
        assert_eq!(
            (
                format.name,
                graph.validate(),
                graph.nodes(),
                graph.relations.len(),
                graph.edges.len()
            ),
            ("triples", Ok(()), 40_943, 11, 86_835)
        );
        let edges = |parts: &[TriplePart]| read(&found, &of_parts(parts)).unwrap().edges.len();
        assert_eq!(
            (edges(&[TriplePart::Valid]), edges(&[TriplePart::Test]), edges(&all.parts)),
            (3034, 3134, 86_835 + 3034 + 3134)
        );
    }
    if let Some(files) = shared("kg_FB15k-237") {
        let (format, found) = detect(Path::new("x"), &files).unwrap();
        assert_eq!((format.name, found.len()), ("triples", 5));
        let archive: Vec<PathBuf> =
            files.iter().filter(|path| path.ends_with("FB15k-237.tar.gz")).cloned().collect();
        assert_eq!(
            detect(Path::new("x"), &archive).map(|(format, files)| (format.name, files)).unwrap(),
            ("triples", archive.clone())
        );
        for (parts, edges) in
            [(vec![], 272_115), (vec![TriplePart::Valid], 17_535), (vec![TriplePart::Test], 20_466)]
        {
            let numbered = read(&found, &of_parts(&parts)).unwrap();
            let words = read(&archive, &of_parts(&parts)).unwrap();
            assert_eq!(
                (
                    numbered.validate(),
                    numbered.nodes(),
                    numbered.relations.len(),
                    numbered.edges.len()
                ),
                (Ok(()), 14_541, 237, edges)
            );
            assert_eq!(
                (words.validate(), &words.ids, &words.relations),
                (Ok(()), &numbered.ids, &numbered.relations)
            );
            let sorted = |graph: &RawGraph| {
                let ends = graph.edges.source.iter().zip(&graph.edges.target);
                let mut edges: Vec<_> = ends
                    .zip(graph.edges.relation.iter().flatten())
                    .map(|((&source, &target), &relation)| (source, target, relation))
                    .collect();
                edges.sort_unstable();
                edges
            };
            assert!(sorted(&words) == sorted(&numbered));
        }
    }
}

proptest! {
    #[test]
    fn any_words_are_read_or_refused(text in "(a|b|é|\t|\t\t|\n|\r\n| ){0,30}") {
        let _ = read_with("triples/words", "train.txt", text.as_bytes());
    }

    #[test]
    fn any_types_are_read_or_refused(text in "(a|b|d e|x|é|\t|\t\t|\n|\r\n| ){0,30}") {
        let _ = read_with("triples/words", "entity2type.txt", text.as_bytes());
    }

    #[test]
    fn a_changed_set_is_read_or_refused(numbered in any::<bool>(), file in 0usize..5, at in 0usize..60, bytes in proptest::collection::vec(any::<u8>(), 0..4)) {
        let set = if numbered { "triples/numbered" } else { "triples/words" };
        let files = contents(set);
        let (name, mut text) = files[file % files.len()].clone();
        let at = at % text.len();
        text.splice(at..at + 1, bytes);
        let _ = read_with(set, &name, &text);
    }
}
