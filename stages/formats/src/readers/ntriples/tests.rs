//! N-Triples: terms, faults, labels, and the published sets by their counts.
use super::*;
use crate::{
    containers::{tar::tests::archive_of, zip::tests::archive_of as zip_of},
    detect::detect,
    raw_graph::{IN_NO_PART, Labels, NO_CLASS, NodeIds, TEST, TRAIN},
    test_support::both_ways,
    text::lines::tests::{fixture, shared, written},
};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::{fs, io::Write as _, path::Path};

fn read_text(text: &[u8], options: &Options) -> Read<RawGraph> {
    let (_folder, files) = written(&[("a.nt", text)]);
    let graph = both_ways(|limit| read_within(&files, options, limit))?;
    graph.validate().unwrap();
    Ok(graph)
}

fn ids(graph: &RawGraph) -> Vec<&str> {
    let NodeIds::Strings(ids) = &graph.ids else { panic!() };
    ids.iter().map(String::as_str).collect()
}

#[test]
fn a_small_set_with_everything() {
    let (format, files) = detect(Path::new("x"), &fixture("ntriples")).unwrap();
    assert_eq!((format.name, files.len()), ("ntriples", 4));
    let graph = both_ways(|limit| read_within(&files, &Options::default(), limit)).unwrap();
    assert_eq!((graph.validate(), graph.directed), (Ok(()), Some(true)));
    let literals = ["\"7\"^^http://t#int", "\"Tee\"@en", "\"caf\u{e9} \"x\"\""];
    assert_eq!(
        ids(&graph),
        [&literals[..], &["_:b1", "http://a/g", "http://a/x", "http://a/y", "http://a/z"]].concat()
    );
    assert_eq!(
        graph.relations,
        ["http://r#age", "http://r#group", "http://r#knows", "http://r#label", "http://r#name"]
    );
    assert_eq!(
        (&graph.edges.source, &graph.edges.target),
        (&vec![5, 6, 3, 5, 5, 6, 5], &vec![6, 3, 2, 0, 1, 1, 4])
    );
    assert_eq!(graph.edges.relation, Some(vec![2, 2, 4, 0, 3, 3, 1]));
    let class = vec![NO_CLASS, NO_CLASS, NO_CLASS, NO_CLASS, NO_CLASS, 0, 2, 1];
    assert_eq!(
        graph.labels,
        Some(Labels::Classes { class, names: ["0", "2", "10"].map(String::from).to_vec() })
    );
    assert_eq!(graph.splits, [[0, 0, 0, 0, 0, TRAIN, TEST, IN_NO_PART]]);
}

#[test]
fn relations_and_literals_can_be_left_out() {
    for name in ["group", "http://r#group"] {
        let graph = read(
            &fixture("ntriples"),
            &Options { drop_relations: vec![name.into(), "absent".into()], ..Options::default() },
        )
        .unwrap();
        assert!(
            !ids(&graph).contains(&"http://a/g")
                && graph.relations.len() == 4
                && graph.edges.len() == 6
        );
        assert_eq!(graph.validate(), Ok(()));
    }
    let graph =
        read(&fixture("ntriples"), &Options { literals: Literals::Drop, ..Options::default() })
            .unwrap();
    assert_eq!(ids(&graph), ["_:b1", "http://a/g", "http://a/x", "http://a/y", "http://a/z"]);
    assert_eq!((graph.relations.len(), graph.edges.len(), graph.validate()), (2, 3, Ok(())));
}

#[test]
fn one_term_is_one_node_however_it_is_spelled() {
    let text = b"<h:\\u0061> <r:x> <h:a>.\n_:n\t<r:x>\t\"a\\tb\".\r\n_:n <r:\\U00000078> \"a\tb\" \
        .\n<h:a><r:x>\"a\\u0009b\".";
    let graph = read_text(text, &Options::default()).unwrap();
    assert_eq!(
        (ids(&graph), graph.relations.len(), graph.edges.len()),
        (vec!["\"a\tb\"", "_:n", "h:a"], 1, 4)
    );
    let apart = b"<h:a> <r:x> \"a\" .\n<h:a> <r:x> \"a\"@en .\n<h:a> <r:x> \"a\"@de-AT .\n<h:a> \
        <r:x> \"a\"^^<t:s> .\n<h:a> <r:x> \"\" .\n";
    assert_eq!(read_text(apart, &Options::default()).unwrap().nodes(), 6);
}

#[test]
fn an_archive_and_several_files_give_the_same_graph() {
    let files = fixture("ntriples");
    let whole = read(&files, &Options::default()).unwrap();
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let contents: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        .collect();
    let members: Vec<(&str, &[u8])> =
        contents.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
    let packed: Vec<(String, Vec<u8>)> =
        contents.iter().map(|(name, text)| (format!("set/{name}.gz"), gzip(text))).collect();
    let packed: Vec<(&str, &[u8])> =
        packed.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
    for (name, bytes) in [
        ("a.tar", archive_of(&members)),
        ("b.tgz", gzip(&archive_of(&packed))),
        ("c.zip", zip_of(&packed)),
        ("d.tar.gz", gzip(&archive_of(&members))),
    ] {
        let (folder, files) = written(&[(name, &bytes)]);
        let (format, found) = detect(folder.path(), &files).unwrap();
        assert_eq!(
            (format.name, read(&found, &Options::default()).unwrap()),
            ("ntriples", whole.clone()),
            "{name}"
        );
    }
    let cut: Vec<(&str, &[u8])> =
        packed.iter().map(|&(name, text)| (name, &text[..text.len() - 9])).collect();
    let (_folder, files) = written(&[("set.tar", &archive_of(&cut))]);
    let error = read(&files, &Options::default()).unwrap_err();
    assert!(
        error.what.contains("gzip member of an archive is cut short")
            && error.path.ends_with("set.tar/set/tiny.nt.gz"),
        "{error}"
    );
    let text = &contents.iter().find(|(name, _)| name == "tiny.nt").unwrap().1;
    let end = text.windows(2).position(|pair| pair == b".\n").unwrap() + 2;
    let mut halves: Vec<(&str, &[u8])> =
        members.iter().filter(|(name, _)| *name != "tiny.nt").copied().collect();
    halves.extend([("a.nt", &text[..end]), ("b.nt", &text[end..])]);
    let (_folder, paths) = written(&halves);
    assert_eq!(read(&paths, &Options::default()).unwrap(), whole);
}

#[test]
fn every_fault_is_named_with_its_place() {
    for (text, what, place) in [
        ("", "holds no statement", "a.nt"),
        ("# nothing\n\n", "holds no statement", "a.nt"),
        ("<a:b> <r:x> <c:d>\n", "does not end in a full stop", ":1:18"),
        ("<a:b> <r:x> <c:d> <g:h> .\n", "does not end in a full stop", ":1:19"),
        ("<a:b> <r:x> <c:d> . x\n", "goes on behind its full stop", ":1:21"),
        ("<a:b> <r:x> .\n", "the object", ":1:13"),
        ("<a:b> <r:x>\n", "the object", ":1:12"),
        ("<a:b> _:r <c:d> .\n", "the relation", ":1:7"),
        ("\"a\" <r:x> <c:d> .\n", "the subject", ":1:1"),
        ("a:b <r:x> <c:d> .\n", "the subject", ":1:1"),
        ("@prefix a: <b> .\n", "the subject", ":1:1"),
        ("<a:b <r:x> <c:d> .\n", "the subject", ":1:1"),
        ("<> <r:x> <c:d> .\n", "the subject", ":1:1"),
        ("<_:b> <r:x> <c:d> .\n", "the subject", ":1:1"),
        ("<a:b> <r:x> \"no end .\n", "the object", ":1:13"),
        ("<a:b> <r:x> \"ends in \\\n", "the object", ":1:13"),
        ("<a:b> <r:x> \"a\"@ .\n", "the object", ":1:13"),
        ("<a:b> <r:x> \"a\"^^int .\n", "the object", ":1:13"),
        ("<a:b> <r:x> \"a\\x\" .\n", "an escape is none", ":1:15"),
        ("<a:b> <r:x> \"\\ud800\" .\n", "an escape is none", ":1:14"),
        ("<a:b> <r:x> \"\\u12\" .\n", "an escape is none", ":1:14"),
        ("<a:\\t> <r:x> <c:d> .\n", "an escape is none", ":1:4"),
    ] {
        let error = read_text(text.as_bytes(), &Options::default()).unwrap_err();
        assert!(
            error.what.contains(what) && error.location().ends_with(place),
            "{text:?}: {error}"
        );
        if !text.contains("holds") && text.len() > 12 {
            let text = ["<a:b> <r:x> <c:d> .\n", text].concat();
            assert!(
                read_text(text.as_bytes(), &Options::default())
                    .unwrap_err()
                    .location()
                    .ends_with(&place.replace(":1:", ":2:"))
            );
        }
    }
    let error = read_text(b"<a:b> <r:x> \"a\xff\" .\n", &Options::default()).unwrap_err();
    assert!(error.what.contains("not UTF-8") && error.location().ends_with(":1:15"), "{error}");
    let dropped = Options { drop_relations: vec!["x".into()], ..Options::default() };
    assert!(read_text(b"<a:b> <r/x> \"a\\x\" .\n", &dropped).is_err());
}

#[test]
fn tables_of_labels_must_agree() {
    let cases: [(&str, &str, &str, &str); 10] = [
        ("trainingSet.tsv", "person\tid\n", "has not one column of labels", ":1:1"),
        (
            "trainingSet.tsv",
            "person\tlabel_a\tlabel_b\nh\t1\t2\n",
            "has not one column of labels",
            ":1:1",
        ),
        (
            "trainingSet.tsv",
            "person\tname\tlabel_a\nh\t1\t2\n",
            "has not one column of entities",
            ":1:1",
        ),
        ("trainingSet.tsv", "", "has not one column of labels", ":1:1"),
        ("trainingSet.tsv", "person\tlabel_a\n", "names no entity", "trainingSet.tsv"),
        ("trainingSet.tsv", "person\tlabel_a\na:b\n", "without an entity or a label", ":2:1"),
        ("trainingSet.tsv", "person\tlabel_a\na:b\t\n", "without an entity or a label", ":2:1"),
        ("trainingSet.tsv", "person\tlabel_a\na:b\t1\na:b\t2\n", "two labels", ":3:5"),
        (
            "trainingSet.tsv",
            "person\tlabel_a\nz:z\t1\n",
            "to be trained on and tested",
            "trainingSet.tsv:2:1",
        ),
        ("trainingSet.tsv", "person\tlabel_a\nz:z\t7\n", "two labels", "trainingSet.tsv:2:5"),
    ];
    for (name, text, what, place) in cases {
        let test: (&str, &[u8]) = ("testSet.tsv", b"person\tlabel_a\nz:z\t1.0\n");
        let (_folder, files) =
            written(&[("a.nt", b"<a:b> <r:x> <c:d> .\n"), (name, text.as_bytes()), test]);
        let error = read(&files, &Options::default()).unwrap_err();
        assert!(
            error.what.contains(what) && error.location().ends_with(place),
            "{text:?}: {error}"
        );
    }
    let (_folder, files) = written(&[
        ("a.nt", b"<a:b> <r:x> <c:d> .\n"),
        ("completeDataset.tsv", b"\"e\"\tlabel_a\tlabel_b\r\n\"a:b\"\tx\ty\r\n"),
    ]);
    let graph =
        read(&files, &Options { label: Some("label_b".into()), ..Options::default() }).unwrap();
    assert_eq!(
        (graph.labels, graph.splits.len()),
        (Some(Labels::Classes { class: vec![0, NO_CLASS], names: vec!["y".into()] }), 0)
    );
    let error =
        read(&files, &Options { label: Some("c".into()), ..Options::default() }).unwrap_err();
    assert_eq!(error.expected, "a column `c`");
}

#[test]
fn published_sets_have_their_counts() {
    for (name, triples, nodes, relations, parts, classes, leaks) in [
        ("rdf_aifb", 29_043, 8285, 45, [140, 36], 4, ["affiliation", "employs"]),
        ("rdf_mutag", 74_227, 23_644, 23, [272, 68], 2, ["isMutagenic", "isMutagenic"]),
    ] {
        let Some(files) = shared(name) else { continue };
        let (format, found) = detect(Path::new(name), &files).unwrap();
        assert_eq!(format.name, "ntriples");
        let graph = read(&found, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (graph.validate(), graph.nodes(), graph.edges.len(), graph.relations.len()),
            (Ok(()), nodes, triples, relations),
            "{name}"
        );
        let count = |own: u8| graph.splits[0].iter().filter(|&&part| part == own).count();
        assert_eq!([TRAIN, TEST].map(count), parts, "{name}");
        let Some(Labels::Classes { class, names }) = &graph.labels else { panic!() };
        assert_eq!(
            (class.iter().filter(|&&class| class != NO_CLASS).count(), names.len()),
            (parts[0] + parts[1], classes),
            "{name}"
        );
        // These files come without the relations that tell the label.
        let without = read(
            &found,
            &Options { drop_relations: leaks.map(String::from).to_vec(), ..Options::default() },
        )
        .unwrap();
        assert!(without == graph, "{name}");
    }
}

proptest! {
    #[test]
    fn any_terms_are_read_or_refused(text in "(<a:b>|<c:\\\\u0041>|_:n|\"x\"|\"x\\\\n\"@en|\"7\"[\\^]{2}<t:i>|\"|<|\\\\|@|[\\^]| |\t| [.]\n|[.]|\n|#|é){0,30}") {
        for literals in [Literals::Node, Literals::Drop] {
            let _ = read_text(text.as_bytes(), &Options { literals, ..Options::default() });
        }
    }

    #[test]
    fn a_changed_set_is_read_or_refused(file in 0usize..4, at in 0usize..500, bytes in proptest::collection::vec(any::<u8>(), 0..4)) {
        let mut contents: Vec<(String, Vec<u8>)> =
            fixture("ntriples").iter().map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())).collect();
        let text = &mut contents[file].1;
        let at = at % text.len();
        text.splice(at..at + 1, bytes);
        let files: Vec<(&str, &[u8])> = contents.iter().map(|(name, text)| (name.as_str(), &text[..])).collect();
        let (_folder, paths) = written(&files);
        if let Ok(graph) = read(&paths, &Options::default()) {
            prop_assert_eq!(graph.validate(), Ok(()));
        }
    }
}
