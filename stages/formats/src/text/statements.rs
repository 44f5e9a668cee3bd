//! Statements `source relation target` in words, as triples and RDF have them, gathered to a graph.
//!
//! promises  nodes and relations are numbered by the bytes of their words; edges in the order in
//!           which they came
//! promises  edges beyond a share of the limit go to a file (out_of_core.rs)
//! limits    65,535 relations; memory: each distinct word twice, and 10 bytes a statement as far as
//!           the limit goes
use super::lines::{LineFault, TextLines};
use crate::{
    out_of_core::{EdgeSink, Limit, LoadedGraph},
    raw_graph::{Edges, NODES_MOST, NodeIds, RawGraph},
    read_error::Read,
};
use std::{collections::HashMap, hash::Hash};

/// So many relations have numbers in 16 bits, with one to spare.
const RELATIONS_MOST: usize = u16::MAX as usize;

/// Words of some lines by their first use; the key is how the text spells them.
pub(crate) struct Spellings<'a> {
    known: HashMap<&'a [u8], u32>,
    pub words: Vec<String>,
}

impl<'a> Spellings<'a> {
    pub fn new() -> Spellings<'a> {
        Spellings { known: HashMap::new(), words: Vec::new() }
    }

    /// The number of a spelling; a new one is turned into its word by `word`.
    pub fn number<E>(
        &mut self,
        spelling: &'a [u8],
        word: impl FnOnce() -> Result<String, E>,
    ) -> Result<u32, E> {
        if let Some(&number) = self.known.get(spelling) {
            return Ok(number);
        }
        let number = self.words.len() as u32;
        self.words.push(word()?);
        self.known.insert(spelling, number);
        Ok(number)
    }
}

/// The statements of some lines, by numbers of their own words.
#[derive(Default)]
pub(crate) struct StatementLines {
    pub nodes: Vec<String>,
    pub relations: Vec<String>,
    /// Source, relation, target.
    pub triples: Vec<[u32; 3]>,
}

/// Words by their first use in all pieces.
struct WordNumbers<K> {
    known: HashMap<K, u32>,
}

impl<K: Eq + Hash + Ord> WordNumbers<K> {
    fn number(&mut self, word: K) -> u32 {
        let next = self.known.len() as u32;
        *self.known.entry(word).or_insert(next)
    }

    /// All words in order, and the place of each number in it.
    fn ordered(self) -> (Vec<K>, Vec<u32>) {
        let mut words: Vec<(K, u32)> = self.known.into_iter().collect();
        words.sort_unstable();
        let mut place = vec![0; words.len()];
        words.iter().zip(0..).for_each(|((_, number), row)| place[*number as usize] = row);
        (words.into_iter().map(|(word, _)| word).collect(), place)
    }
}

/// All statements so far; those that are edges by the numbers of their words.
pub(crate) struct Statements<'a> {
    nodes: WordNumbers<String>,
    relations: WordNumbers<String>,
    edges: EdgeSink<'a>,
}

impl<'a> Statements<'a> {
    /// None yet.
    pub fn new(limit: &'a Limit) -> Statements<'a> {
        let words = || WordNumbers { known: HashMap::new() };
        Statements { nodes: words(), relations: words(), edges: EdgeSink::new(limit) }
    }

    /// Adds the statements of a text, as `parse` finds them; they become edges only if `as_edges`.
    pub fn read(
        &mut self,
        lines: TextLines,
        as_edges: bool,
        parse: impl Fn(&[u8]) -> Result<StatementLines, LineFault> + Sync + Send,
    ) -> Read<()> {
        lines.pieces_into(
            self,
            parse,
            |statements, piece| statements.add(piece, as_edges),
            |statements| statements.edges.settle(),
        )
    }

    fn add(&mut self, piece: StatementLines, as_edges: bool) -> Result<(), LineFault> {
        let nodes: Vec<u32> = piece.nodes.into_iter().map(|word| self.nodes.number(word)).collect();
        let relations: Vec<u32> =
            piece.relations.into_iter().map(|word| self.relations.number(word)).collect();
        if self.nodes.known.len() as u64 > NODES_MOST {
            return Err(LineFault::new(0, "the graph has too many nodes")
                .expected(format!("at most {NODES_MOST}"), b"more"));
        }
        if self.relations.known.len() > RELATIONS_MOST {
            let fault = LineFault::new(0, "here or soon behind, the graph has too many relations")
                .expected(format!("at most {RELATIONS_MOST}"), b"more");
            return Err(fault.hint("is the relation the second column?"));
        }
        if as_edges {
            let node = |end: usize| {
                piece.triples.iter().map(|triple| nodes[triple[end] as usize]).collect()
            };
            let relation =
                piece.triples.iter().map(|triple| relations[triple[1] as usize] as u16).collect();
            self.edges.take(Edges {
                source: node(0),
                target: node(2),
                relation: Some(relation),
                ..Edges::default()
            });
        }
        Ok(())
    }

    /// Adds a node that may have no statement.
    pub fn add_node(&mut self, word: &str) {
        self.nodes.number(word.to_owned());
    }

    /// Directed edges with relations.
    pub fn build(self) -> Read<LoadedGraph> {
        let (words, row) = self.nodes.ordered();
        let (relations, place) = self.relations.ordered();
        let place: Vec<u16> = place.into_iter().map(|place| place as u16).collect();
        let (mut edges, spilled) = self.edges.finish()?;
        edges
            .source
            .iter_mut()
            .chain(&mut edges.target)
            .for_each(|number| *number = row[*number as usize]);
        edges
            .relation
            .get_or_insert_default()
            .iter_mut()
            .for_each(|number| *number = place[usize::from(*number)]);
        let spilled = spilled.map(|mut spilled| {
            spilled.name_relations(&place);
            spilled.with_rows(row)
        });
        if spilled.is_some() {
            edges = Edges::default();
        }
        Ok(LoadedGraph {
            graph: RawGraph {
                ids: NodeIds::Strings(words),
                edges,
                directed: Some(true),
                relations,
                ..RawGraph::default()
            },
            spilled,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_relations_are_refused() {
        let piece = |count: usize| StatementLines {
            relations: (0..count).map(|number| number.to_string()).collect(),
            ..StatementLines::default()
        };
        let limit = Limit::none();
        let mut statements = Statements::new(&limit);
        statements.add(piece(RELATIONS_MOST), true).unwrap();
        let fault = statements
            .add(
                StatementLines { relations: vec!["one more".into()], ..StatementLines::default() },
                true,
            )
            .unwrap_err();
        assert!(fault.what.contains("too many relations") && fault.expected == "at most 65535");
    }

    #[test]
    fn words_are_ordered_by_bytes_and_edges_are_not() {
        let limit = Limit::none();
        let mut statements = Statements::new(&limit);
        let words = |words: [&str; 2]| words.map(String::from).to_vec();
        statements
            .add(
                StatementLines {
                    nodes: words(["b", "a"]),
                    relations: words(["s", "r"]),
                    triples: vec![[0, 0, 1], [1, 1, 1]],
                },
                true,
            )
            .unwrap();
        statements
            .add(
                StatementLines {
                    nodes: words(["c", "b"]),
                    relations: words(["t", "r"]),
                    triples: vec![[0, 0, 1]],
                },
                false,
            )
            .unwrap();
        statements.add_node("Z");
        let LoadedGraph { graph, .. } = statements.build().unwrap();
        assert_eq!(graph.validate(), Ok(()));
        assert_eq!(graph.ids, NodeIds::Strings(["Z", "a", "b", "c"].map(String::from).to_vec()));
        assert_eq!(
            (graph.edges.source, graph.edges.target, graph.edges.relation),
            (vec![2, 1], vec![1, 1], Some(vec![1, 0]))
        );
        assert_eq!(graph.relations, ["r", "s", "t"]);
    }
}
