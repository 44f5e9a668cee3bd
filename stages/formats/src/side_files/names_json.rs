//! Names of classes, relations and kinds of nodes: `names.json` beside a graph, as the store keeps
//! it and `export` writes it.
//!
//! ```text
//! {"kinds": ["paper", "author"], "relations": ["cites", "wrote"], "classes": ["theory", "systems"]}
//! ```
//! promises  the order of the names is theirs in the graph, and a name that nothing has is kept;
//!           what the file has no names for stays; relations and kinds are looked up by name, and
//!           where one of them is no name, as places in the list; labels that are whole numbers are
//!           places, others are looked up; what is neither is an error that names it
//! never     renames what has no names in the file; takes two labels for one
use crate::{
    containers::decompress::PlainFile,
    out_of_core::Spilled,
    raw_graph::{Column, Labels, NO_CLASS, RawGraph},
    read_error::{Read, ReadError},
};
use serde::Deserialize;
use std::{collections::BTreeMap, fs, path::Path};

/// Its name.
pub const FILE: &str = "names.json";
/// The column of nodes and of graphs that says the names of their labels.
pub(crate) const COLUMN: &str = "class";
/// The longest file that is read.
const BYTES_MOST: u64 = 1 << 28;

/// Names, in the order of what they name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Names {
    /// Kinds of nodes.
    pub kinds: Vec<String>,
    /// Relations of edges.
    pub relations: Vec<String>,
    /// Classes of what is learned.
    pub classes: Vec<String>,
}

/// Reads a file of names.
pub fn read(path: &Path) -> Read<Names> {
    let bytes = fs::metadata(path).map_err(|error| ReadError::from_io(path, &error))?.len();
    if bytes > BYTES_MOST {
        let error = ReadError::new(path, "the file of names is too long")
            .expected(format!("at most {BYTES_MOST} bytes"), bytes.to_string());
        return Err(Box::new(error));
    }
    let text = PlainFile::open(path)?.read_all()?;
    let names: Names = serde_json::from_slice(&text).map_err(|error| {
        let line = text
            .split(|&byte| byte == b'\n')
            .nth(error.line().saturating_sub(1))
            .unwrap_or_default();
        let error = ReadError::new(path, format!("the file holds no names: {error}")).at_line(
            error.line() as u64,
            error.column() as u64,
            line,
        );
        let form = "{\"kinds\": [...], \"relations\": [...], \"classes\": [...]}";
        Box::new(error.hint(format!(
            "it is  {form} , each left out where there are none; a file of something else needs \
             another name"
        )))
    })?;
    for (what, list) in [("kinds", &names.kinds), ("relations", &names.relations)] {
        let mut sorted: Vec<&String> = list.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Box::new(
                ReadError::new(path, format!("two {what} have one name"))
                    .expected("names that differ", format!("`{}` twice", pair[0])),
            ));
        }
        if list.len() > usize::from(u16::MAX) {
            let error = ReadError::new(path, format!("there are too many {what}"))
                .expected(format!("at most {}", u16::MAX), list.len().to_string());
            return Err(Box::new(error));
        }
    }
    Ok(names)
}

/// Gives what the graph counts these names, in their order.
pub fn apply(
    graph: &mut RawGraph,
    spilled: Option<&mut Spilled>,
    names: &Names,
    path: &Path,
) -> Read<()> {
    if !names.classes.is_empty() {
        name_classes(graph, names, path)?;
    }
    if !names.relations.is_empty() {
        let spilled = spilled.filter(|spilled| spilled.typed);
        if graph.edges.relation.is_none() && spilled.is_none() {
            graph
                .passed_over
                .push(format!("{} names of relations: edges have none", names.relations.len()));
        } else {
            let places = order_by_name(&graph.relations, &names.relations)
                .or_else(|| order_by_place(&graph.relations, names.relations.len()));
            let places = places
                .ok_or_else(|| stranger(path, "relation", &graph.relations, &names.relations))?;
            let places: Vec<u16> = places.into_iter().map(|place| place as u16).collect();
            graph
                .edges
                .relation
                .iter_mut()
                .flatten()
                .for_each(|relation| *relation = places[usize::from(*relation)]);
            spilled.into_iter().for_each(|spilled| spilled.name_relations(&places));
            graph.relations.clone_from(&names.relations);
        }
    }
    if !names.kinds.is_empty() {
        match &mut graph.kinds {
            None => graph
                .passed_over
                .push(format!("{} names of kinds: nodes have none", names.kinds.len())),
            Some(kinds) => {
                let places = order_by_name(&kinds.names, &names.kinds)
                    .or_else(|| order_by_place(&kinds.names, names.kinds.len()));
                let places = places
                    .ok_or_else(|| stranger(path, "kind of nodes", &kinds.names, &names.kinds))?;
                kinds.of_node.iter_mut().for_each(|kind| *kind = places[usize::from(*kind)] as u16);
                let mut features = vec![None; names.kinds.len()];
                places
                    .iter()
                    .zip(std::mem::take(&mut kinds.features))
                    .for_each(|(&place, own)| features[place] = own);
                (kinds.names, kinds.features) = (names.kinds.clone(), features);
            }
        }
    }
    Ok(())
}

/// Names the labels of graphs, where these have any, else those of nodes.
fn name_classes(graph: &mut RawGraph, names: &Names, path: &Path) -> Read<()> {
    let classes_told = match &graph.graphs {
        Some(graphs) if graphs.labels.is_some() => graphs.classes_told,
        _ => graph.classes_told,
    };
    let of_graphs = graph.graphs.as_mut().and_then(|graphs| graphs.labels.as_mut());
    let are_nodes = of_graphs.is_none();
    let Some(Labels::Classes { class, names: found }) = of_graphs.or(graph.labels.as_mut()) else {
        graph
            .passed_over
            .push(format!("{} names of classes: there are no classes", names.classes.len()));
        return Ok(());
    };
    // Names that a column told are names, however much they look like places.
    let whole = !classes_told && found.iter().all(|name| name.parse::<u64>().is_ok());
    let places = if whole {
        order_by_place(found, names.classes.len())
    } else {
        order_by_name(found, &names.classes)
    };
    let places = places.ok_or_else(|| stranger(path, "label", found, &names.classes))?;
    class
        .iter_mut()
        .filter(|class| **class != NO_CLASS)
        .for_each(|class| *class = places[*class as usize] as u32);
    found.clone_from(&names.classes);
    // A column that says the same again is no further column.
    let class = class.clone();
    let again = |(name, column): &(String, Column)| match column {
        Column::Texts(words) if are_nodes && name.eq_ignore_ascii_case(COLUMN) => {
            let own = class
                .iter()
                .map(|&class| (class != NO_CLASS).then(|| &names.classes[class as usize]));
            words.iter().map(Option::as_ref).eq(own)
        }
        _ => false,
    };
    graph.columns.retain(|column| !again(column));
    Ok(())
}

/// Gives classes the names of a column, one for each; whether it has one for each.
pub(crate) fn set_class_names(labels: &mut Labels, words: &[Option<String>]) -> bool {
    let Labels::Classes { class, names } = labels else { return false };
    let mut of_class: Vec<Option<&String>> = vec![None; names.len()];
    let fits = class.len() == words.len()
        && class.iter().zip(words).all(|(&class, word)| match word {
            None => class == NO_CLASS,
            Some(word) => {
                class != NO_CLASS && *of_class[class as usize].get_or_insert(word) == word
            }
        });
    let mut told: Vec<&String> = of_class.iter().flatten().copied().collect();
    if !fits || told.len() != names.len() {
        return false;
    }
    let in_order = told.iter().map(|name| (*name).clone()).collect();
    told.sort_unstable();
    let differ = told.windows(2).all(|pair| pair[0] != pair[1]);
    if differ {
        *names = in_order;
    }
    differ
}

/// The place of each word in the list; none: one is not there.
fn order_by_name(found: &[String], names: &[String]) -> Option<Vec<usize>> {
    let place: BTreeMap<&String, usize> = names.iter().zip(0..).collect();
    found.iter().map(|name| place.get(name).copied()).collect()
}

/// Whole numbers as places in a list of this length; none: one is not.
fn order_by_place(found: &[String], count: usize) -> Option<Vec<usize>> {
    found.iter().map(|name| name.parse::<usize>().ok().filter(|&place| place < count)).collect()
}

fn stranger(path: &Path, what: &str, found: &[String], names: &[String]) -> Box<ReadError> {
    let first = found
        .iter()
        .find(|name| {
            !names.contains(name)
                && name.parse::<usize>().map_or(true, |place| place >= names.len())
        })
        .or(found.first());
    let error = ReadError::new(
        path,
        format!("the graph has a {what} that the file of names does not have"),
    );
    Box::new(error.expected(
        format!("one of {} names, or a place from 0 to {}", names.len(), names.len() - 1),
        format!("`{}`", first.map_or("", String::as_str)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw_graph::{Edges, Features, Graphs, Kinds, NodeIds};

    fn listed(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn graph() -> RawGraph {
        RawGraph {
            ids: NodeIds::Count(3),
            edges: Edges {
                source: vec![0, 1],
                target: vec![1, 2],
                relation: Some(vec![0, 1]),
                ..Edges::default()
            },
            relations: listed(&["cites", "wrote"]),
            kinds: Some(Kinds {
                of_node: vec![0, 1, 0],
                names: listed(&["a", "p"]),
                features: vec![None, Some(Features::Dense { columns: 1, values: vec![5.0] })],
            }),
            labels: Some(Labels::Classes {
                class: vec![0, NO_CLASS, 1],
                names: listed(&["0", "2"]),
            }),
            ..RawGraph::default()
        }
    }

    fn applied(mut graph: RawGraph, names: &Names) -> Result<RawGraph, String> {
        apply(&mut graph, None, names, Path::new(FILE)).map_err(|error| error.to_string())?;
        graph.validate()?;
        Ok(graph)
    }

    #[test]
    fn names_keep_their_order_and_those_that_nothing_has() {
        let names = Names {
            kinds: listed(&["p", "x", "a"]),
            relations: listed(&["wrote", "knows", "cites"]),
            classes: listed(&["red", "green", "blue"]),
        };
        let named = applied(graph(), &names).unwrap();
        assert_eq!(
            (named.edges.relation, named.relations),
            (Some(vec![2, 0]), names.relations.clone())
        );
        let kinds = named.kinds.unwrap();
        assert_eq!(
            (kinds.of_node, kinds.names, kinds.features[0].is_some(), kinds.features[2].is_some()),
            (vec![2, 0, 2], names.kinds.clone(), true, false)
        );
        assert_eq!(
            named.labels,
            Some(Labels::Classes { class: vec![0, NO_CLASS, 2], names: names.classes.clone() })
        );
    }

    #[test]
    fn numbers_are_places_and_strangers_are_named() {
        let mut numbered = graph();
        numbered.relations = listed(&["0", "2"]);
        let relations = Names { relations: listed(&["u", "v", "w"]), ..Names::default() };
        assert_eq!(applied(numbered, &relations).unwrap().edges.relation, Some(vec![0, 2]));
        let error = applied(graph(), &relations).unwrap_err();
        assert!(
            error.contains("a relation that the file of names does not have")
                && error.contains("found `cites`"),
            "{error}"
        );
        let classes = Names { classes: listed(&["2", "0"]), ..Names::default() };
        let error = applied(graph(), &classes).unwrap_err();
        assert!(error.contains("a label") && error.contains("a place from 0 to 1"), "{error}");
    }

    #[test]
    fn names_that_a_column_told_are_no_places() {
        let labels = |class: &[u32], names: &[&str]| {
            Some(Labels::Classes { class: class.to_vec(), names: listed(names) })
        };
        let told = |names: &[&str], classes_told| RawGraph {
            labels: labels(&[0, 1, 0], names),
            ids: NodeIds::Count(3),
            classes_told,
            ..RawGraph::default()
        };
        let classes = Names { classes: listed(&["1", "0"]), ..Names::default() };
        assert_eq!(
            applied(told(&["1", "0"], true), &classes).unwrap().labels,
            labels(&[0, 1, 0], &["1", "0"])
        );
        assert_eq!(
            applied(told(&["0", "1"], false), &classes).unwrap().labels,
            labels(&[0, 1, 0], &["1", "0"])
        );
        let missing = Names { classes: listed(&["3", "4", "5"]), ..Names::default() };
        assert_eq!(
            applied(told(&["5", "3"], true), &missing).unwrap().labels,
            labels(&[2, 0, 2], &["3", "4", "5"])
        );
    }

    #[test]
    fn labels_of_graphs_come_first_and_names_of_nothing_are_passed_over() {
        let mut many =
            RawGraph { labels: graph().labels, ids: NodeIds::Count(3), ..RawGraph::default() };
        let labels = Some(Labels::Classes { class: vec![0], names: listed(&["1"]) });
        many.graphs = Some(Graphs {
            of_node: vec![0; 3],
            ids: NodeIds::Count(1),
            labels,
            ..Graphs::default()
        });
        let named =
            applied(many, &Names { classes: listed(&["off", "on"]), ..Names::default() }).unwrap();
        assert_eq!(
            named.graphs.unwrap().labels,
            Some(Labels::Classes { class: vec![1], names: listed(&["off", "on"]) })
        );
        assert_eq!(named.labels, graph().labels);
        let bare = RawGraph { ids: NodeIds::Count(1), ..RawGraph::default() };
        let names =
            Names { kinds: listed(&["k"]), relations: listed(&["r"]), classes: listed(&["c"]) };
        assert_eq!(applied(bare, &names).unwrap().passed_over.len(), 3);
    }

    #[test]
    fn a_column_names_classes_only_one_to_one() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| (!word.is_empty()).then(|| word.to_string()))
                .collect::<Vec<_>>()
        };
        let told = |column: &[&str]| {
            let mut labels =
                Labels::Classes { class: vec![0, NO_CLASS, 1, 0], names: listed(&["0", "2"]) };
            set_class_names(&mut labels, &words(column)).then_some(labels)
        };
        assert_eq!(
            told(&["red", "", "blue", "red"]),
            Some(Labels::Classes {
                class: vec![0, NO_CLASS, 1, 0],
                names: listed(&["red", "blue"])
            })
        );
        for other in [
            &["red", "", "red", "red"][..],
            &["red", "", "blue", "blue"],
            &["red", "x", "blue", "red"],
            &["red", "", "", "red"],
            &["red"],
        ] {
            assert_eq!(told(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_file_that_holds_no_names_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let told = |text: &str| {
            fs::write(&path, text).unwrap();
            read(&path).map_err(|error| error.to_string())
        };
        assert_eq!(told("{\"classes\": [\"a\", \"a\"]}").unwrap().classes.len(), 2);
        assert!(told("{\n  \"classses\": []}").unwrap_err().contains("names.json:2:12"));
        assert!(told("{\"kinds\": [\"a\", \"a\"]}").unwrap_err().contains("`a` twice"));
        assert!(told("\u{feff}").is_err() && told("").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_names_or_an_error(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..64), text in "[\\[\\]{}\":,a-c0-2 ]{0,40}") {
            let folder = tempfile::tempdir().unwrap();
            for contents in [&bytes[..], text.as_bytes()] {
                fs::write(folder.path().join(FILE), contents).unwrap();
                if let Ok(names) = read(&folder.path().join(FILE)) {
                    let _ = applied(graph(), &names);
                }
            }
        }
    }
}
