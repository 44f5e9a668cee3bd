//! Node types from entity types: rules, removed statements, errors; and the published sets against
//! a count of their lines.
use super::*;
use std::{collections::BTreeMap, io::Read as _, path::PathBuf};
use warploom_formats::{
    Options,
    raw_graph::{Edges, NodeTypes as Table},
    readers::{ntriples, triples},
};
use warploom_test_support::skips::shared_folder;

/// `a` is b and c, `b` is c, `c` knows a literal, `d` knows a; the third relation is the type.
fn graph() -> RawGraph {
    let words =
        |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let edges = Edges {
        source: vec![1, 1, 2, 3, 4],
        target: vec![3, 2, 3, 0, 1],
        relation: Some(vec![2, 2, 2, 0, 3]),
        ..Edges::default()
    };
    RawGraph {
        ids: NodeIds::Strings(words(&["\"x\"", "a", "t#b", "t#c", "z"])),
        edges,
        relations: words(&["has", "never", ntriples::TYPE, "t/knows"]),
        ..RawGraph::default()
    }
}

fn rdf_rule() -> Rule {
    Rule {
        relation: ntriples::TYPE.to_owned(),
        order: Vec::new(),
        keeps_edges: true,
        literals: true,
    }
}

/// The kind of each node, by its name.
fn kinds_of(graph: &RawGraph) -> Vec<&str> {
    let kinds = graph.kinds.as_ref().unwrap();
    kinds.of_node.iter().map(|&kind| kinds.names[usize::from(kind)].as_str()).collect()
}

fn assign(graph: RawGraph, rule: &Rule) -> RawGraph {
    let made = assign_kinds(graph, rule).unwrap();
    assert_eq!(made.validate(), Ok(()));
    made
}

#[test]
fn the_first_of_several_types_is_the_kind() {
    let plain = assign(graph(), &rdf_rule());
    assert_eq!(kinds_of(&plain), ["literal", "t#b", "t#c", "entity", "entity"]);
    assert_eq!(plain.kinds.as_ref().unwrap().names, ["entity", "literal", "t#b", "t#c"]);
    assert_eq!((&plain.edges, &plain.relations), (&graph().edges, &graph().relations));
    for order in [&["c"][..], &["t#c"], &["t#c", "b"]] {
        let ordered = assign(
            graph(),
            &Rule { order: order.iter().map(|name| (*name).to_owned()).collect(), ..rdf_rule() },
        );
        assert_eq!(kinds_of(&ordered), ["literal", "t#c", "t#c", "entity", "entity"], "{order:?}");
    }
    let words = assign(graph(), &Rule { literals: false, ..rdf_rule() });
    assert_eq!(kinds_of(&words), ["entity", "t#b", "t#c", "entity", "entity"]);
    for relation in ["type", "rdf:type"] {
        assert_eq!(assign(graph(), &Rule { relation: relation.to_owned(), ..rdf_rule() }), plain);
    }
    let known = assign(graph(), &Rule { relation: "knows".to_owned(), ..rdf_rule() });
    assert_eq!(kinds_of(&known), ["literal", "entity", "entity", "entity", "a"]);
}

#[test]
fn statements_of_types_can_go_with_what_is_nothing_but_a_type() {
    let dropped = assign(graph(), &Rule { keeps_edges: false, ..rdf_rule() });
    // `t#b` has a type, `t#c` another statement.
    assert_eq!(dropped.ids, graph().ids);
    assert_eq!(
        (&dropped.edges.source, &dropped.edges.target, &dropped.edges.relation),
        (&vec![3, 4], &vec![0, 1], &Some(vec![0, 2]))
    );
    assert_eq!(dropped.relations, ["has", "never", "t/knows"]);
    let mut bare = graph();
    bare.edges = Edges {
        source: vec![1, 4],
        target: vec![3, 1],
        relation: Some(vec![2, 3]),
        ..Edges::default()
    };
    let dropped = assign(bare.clone(), &Rule { keeps_edges: false, ..rdf_rule() });
    // `"x"` and `t#b` had no edge before either: the files name them.
    assert_eq!(
        (dropped.ids.len(), kinds_of(&dropped)),
        (4, vec!["literal", "t#c", "entity", "entity"])
    );
    assert_eq!((&dropped.edges.source, &dropped.edges.target), (&vec![3], &vec![1]));
    bare.labels = Some(Labels::Classes {
        class: vec![NO_CLASS, NO_CLASS, NO_CLASS, 0, NO_CLASS],
        names: vec!["l".to_owned()],
    });
    assert_eq!(assign(bare, &Rule { keeps_edges: false, ..rdf_rule() }).ids.len(), 5);
}

#[test]
fn a_table_of_types_and_statements_go_together() {
    let mut told = graph();
    told.types = Some(Table {
        of_nodes: vec![(3, 1), (4, 0), (4, 1)],
        names: vec!["s".to_owned(), "t#a".to_owned()],
    });
    assert_eq!(kinds_of(&assign(told.clone(), &rdf_rule())), ["literal", "t#b", "t#c", "t#a", "s"]);
    let only_table = RawGraph { relations: vec!["r".into(); 4], ..told };
    assert_eq!(
        kinds_of(&assign(only_table, &rdf_rule())),
        ["literal", "entity", "entity", "t#a", "s"]
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |graph: RawGraph, rule: Rule| assign_kinds(graph, &rule).unwrap_err();
    let named = |relation: &str| Rule { relation: relation.to_owned(), ..rdf_rule() };
    assert!(
        matches!(refused(graph(), named("is")), KindsError::NoRelation(name, known) if name == "is" && known.len() == 4)
    );
    assert!(matches!(refused(RawGraph::default(), rdf_rule()), KindsError::NoRelation(..)));
    let twice =
        RawGraph { relations: ["a#is", "b/is", "c", "d"].map(String::from).to_vec(), ..graph() };
    assert_eq!(
        refused(twice.clone(), named("is")),
        KindsError::SeveralRelations("is".to_owned(), vec!["a#is".to_owned(), "b/is".to_owned()])
    );
    // A table does not make up for a relation that was named.
    let table = RawGraph { types: Some(Table::default()), ..twice };
    assert!(matches!(refused(table, named("was")), KindsError::NoRelation(..)));
    let order = Rule { order: vec!["t#d".to_owned()], ..rdf_rule() };
    assert_eq!(
        refused(graph(), order),
        KindsError::NoType("t#d".to_owned(), vec!["t#b".to_owned(), "t#c".to_owned()])
    );
    let kinds = Kinds { of_node: vec![0; 5], names: vec!["k".to_owned()], features: vec![None] };
    assert_eq!(
        refused(RawGraph { kinds: Some(kinds), ..graph() }, rdf_rule()),
        KindsError::OwnKinds(vec!["k".to_owned()])
    );
}

#[test]
fn kinds_are_named_plainly_and_their_own_names_are_kept() {
    let mut typed = assign(graph(), &rdf_rule());
    let fact = make_names_plain(&mut typed).unwrap();
    assert_eq!(typed.kinds.as_ref().unwrap().names, ["entity", "literal", "b", "c"]);
    assert_eq!(
        fact,
        serde_json::json!({"entity": "entity", "literal": "literal", "b": "t#b", "c": "t#c"})
    );
    assert_eq!((make_names_plain(&mut typed), make_names_plain(&mut graph())), (None, None));
}

/// How many nodes each kind has, by lines and sets alone: N-Triples without escapes that matter
/// here.
fn count_kinds(text: &str) -> BTreeMap<String, usize> {
    let mut types: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let mut words = line.splitn(3, ' ');
        let (subject, relation, object) =
            (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let object = object.strip_suffix('.').unwrap().trim_end();
        types.entry(object).or_default();
        let known = types.entry(subject).or_default();
        if relation == format!("<{}>", ntriples::TYPE) {
            *known = Some(known.map_or(object, |known| known.min(object)));
        }
    }
    let mut counts = BTreeMap::new();
    for (node, kind) in types {
        let usual = if node.starts_with('"') { "literal" } else { "entity" };
        *counts
            .entry(kind.map_or(usual.to_owned(), |kind| kind.trim_matches(['<', '>']).to_owned()))
            .or_default() += 1;
    }
    counts
}

#[test]
fn published_sets_have_the_kinds_that_their_lines_say() {
    // Kinds, nodes of the largest, literals, entities without a type; and nodes and edges without
    // statements of types.
    for (name, file, [kinds, most, literals, entities], without) in [
        ("rdf_aifb", "aifb_stripped.nt.gz", [29, 5450, 5450, 6], [8279, 24_919]),
        ("rdf_mutag", "mutag_stripped.nt.gz", [115, 6781, 1104, 6], [23_640, 51_693]),
    ] {
        let Some(folder) = shared_folder(name) else { continue };
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(std::fs::File::open(folder.join(file)).unwrap())
            .read_to_string(&mut text)
            .unwrap();
        let graph = ntriples::read(&[folder.join(file)], &Options::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let typed = assign(graph.clone(), &rdf_rule());
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        kinds_of(&typed)
            .into_iter()
            .for_each(|kind| *found.entry(kind.to_owned()).or_default() += 1);
        assert_eq!(found, count_kinds(&text), "{name}");
        let figures =
            [found.len(), *found.values().max().unwrap(), found["literal"], found["entity"]];
        assert_eq!(figures, [kinds, most, literals, entities], "{name}");
        assert_eq!((typed.ids, typed.edges), (graph.ids.clone(), graph.edges.clone()));
        let dropped = assign(graph, &Rule { keeps_edges: false, ..rdf_rule() });
        assert_eq!([dropped.ids.len(), dropped.edges.len()], without, "{name}");
    }
}

#[test]
fn a_table_beside_triples_gives_kinds() {
    let Some(folder) = shared_folder("kg_WN18RR") else { return };
    // The names of synsets of WN18RR are numbers of eight digits; the first says something like the
    // part of speech.
    let own = tempfile::tempdir().unwrap();
    let mut files: Vec<PathBuf> =
        ["train.txt", "valid.txt", "test.txt"].map(|file| folder.join(file)).to_vec();
    let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let entities: BTreeSet<&str> = text
        .lines()
        .flat_map(|line| [line.split('\t').next().unwrap(), line.split('\t').nth(2).unwrap()])
        .collect();
    let lines = entities
        .iter()
        .filter(|entity| !entity.starts_with("00"))
        .map(|entity| format!("{entity}\tstarts_{}\n", &entity[..1]));
    files.push(own.path().join("entity2type.txt"));
    std::fs::write(&files[3], lines.collect::<String>() + "elsewhere\tlost\n").unwrap();
    let graph =
        triples::read(&files, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(graph.passed_over[0], "1 entities of entity2type.txt that the set does not have");
    let typed = assign(graph, &rdf_rule());
    let mut expected: BTreeMap<String, usize> = BTreeMap::new();
    for entity in entities {
        let kind = if entity.starts_with("00") {
            "entity".to_owned()
        } else {
            format!("starts_{}", &entity[..1])
        };
        *expected.entry(kind).or_default() += 1;
    }
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    kinds_of(&typed).into_iter().for_each(|kind| *found.entry(kind.to_owned()).or_default() += 1);
    assert_eq!((found.values().sum::<usize>(), found), (40_943, expected));
}

proptest::proptest! {
    #[test]
    fn any_types_get_different_plain_names(names in proptest::collection::btree_set(".{0,4}|[a-c/#_0-3]{0,4}|sparse", 0..20)) {
        let names: Vec<String> = names.into_iter().collect();
        let made = graph::kind_names(&names);
        proptest::prop_assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), names.len());
        proptest::prop_assert!(made.iter().all(|name| graph::is_kind_name(name)));
        // What is plain already stays.
        proptest::prop_assert_eq!(graph::kind_names(&made), made);
        let plain: Vec<String> = names.into_iter().filter(|name| graph::is_kind_name(name)).collect();
        proptest::prop_assert_eq!(graph::kind_names(&plain), plain);
    }
}
