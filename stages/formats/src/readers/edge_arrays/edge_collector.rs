//! Edges that come as parts of arrays, gathered to a graph: held as far as the limit goes, then in
//! a file.
//!
//! promises  the same graph either way: nodes by ascending id, relations by name (numbers by
//!           value), edges in the order of the arrays
//! never     holds more than a part of what lies in a file
use crate::{
    containers::npy::Array,
    f32_rounding::RoundedIntegers,
    out_of_core::{EdgeAttributes, Limit, LoadedGraph, OriginalIds, Spilled},
    raw_graph::{Edges, NODES_MOST, NodeIds, RawGraph},
    read_error::{Read, ReadError},
};
use rayon::prelude::*;
use std::{collections::HashMap, path::Path};

/// The array that says how many nodes there are.
pub const NODES: &str = "num_nodes";
/// So many relations have numbers in 16 bits, with one to spare.
const RELATIONS_MOST: usize = u16::MAX as usize;

/// Ids of one end.
pub(super) enum EndIds {
    Numbers(Vec<u64>),
    Words(Vec<String>),
}

/// Some edges; weights and types of all of them, or of none of any block.
pub(super) struct EdgeArrays {
    pub ends: [EndIds; 2],
    pub weight: Option<Array>,
    pub kind: Option<Array>,
}

/// What edges have beside their ends.
#[derive(Clone, Copy)]
pub(super) struct EdgeArrayTypes {
    pub weighted: bool,
    pub types: RelationTypes,
}

/// What types of edges are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RelationTypes {
    /// Not told.
    None,
    Numbers,
    Words,
}

/// Words by their first use.
#[derive(Default)]
struct RelationWords {
    known: HashMap<String, u32>,
    list: Vec<String>,
}

impl RelationWords {
    fn number(&mut self, word: String) -> u32 {
        if let Some(&number) = self.known.get(&word) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(word.clone());
        self.known.insert(word, number);
        number
    }
}

/// All edges so far.
pub(super) struct EdgeCollector<'a> {
    path: &'a Path,
    limit: &'a Limit,
    /// How many nodes the file says that there are.
    nodes: Option<u32>,
    beside: EdgeArrayTypes,
    /// Ids, or numbers of `words`.
    held: [Vec<u64>; 2],
    words: Option<RelationWords>,
    weight: Vec<f32>,
    /// Relations by their first use.
    relation: Vec<u32>,
    relations: RelationWords,
    rounded: RoundedIntegers,
    spill: Option<OriginalIds>,
    count: u64,
    /// What all edges would take.
    bytes: u64,
}

impl<'a> EdgeCollector<'a> {
    /// No edges yet; those that come have so many features together.
    pub fn new(
        path: &'a Path,
        limit: &'a Limit,
        nodes: Option<u32>,
        beside: EdgeArrayTypes,
        features: u64,
    ) -> EdgeCollector<'a> {
        EdgeCollector {
            path,
            limit,
            nodes,
            beside,
            held: Default::default(),
            words: None,
            weight: Vec::new(),
            relation: Vec::new(),
            relations: RelationWords::default(),
            rounded: RoundedIntegers::default(),
            spill: None,
            count: 0,
            bytes: 4 * features,
        }
    }

    /// How many edges there are so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the edges so far are in a file: their features are to go there too, once all edges
    /// are.
    pub fn is_in_file(&self) -> bool {
        self.spill.is_some()
    }

    /// Takes in the features of the next edges.
    pub fn take_features(&mut self, columns: u32, values: &[f32]) -> Read<()> {
        self.spill.iter_mut().try_for_each(|spill| spill.take_features(columns, values))
    }

    /// Takes in the next edges.
    pub fn take(&mut self, block: EdgeArrays) -> Read<()> {
        if let Some(weight) = block.weight {
            let numbers = weights(&weight, self.count)?;
            self.rounded.join(weight.rounded()?, 0);
            self.weight.extend(numbers);
        }
        if let Some(kind) = block.kind {
            self.relate(&kind)?;
        }
        let edges = match block.ends {
            [EndIds::Numbers(source), EndIds::Numbers(target)] => {
                self.take_numbers([source, target])?
            }
            ends => self.take_words(ends)?,
        };
        self.count += edges;
        let beside = 16
            + 4 * u64::from(self.beside.weighted)
            + 4 * u64::from(self.beside.types != RelationTypes::None);
        self.bytes += edges * beside;
        if self.spill.is_some() || !self.limit.admits(self.bytes) {
            self.settle()?;
        }
        Ok(())
    }

    fn take_numbers(&mut self, ends: [Vec<u64>; 2]) -> Read<u64> {
        let edges = ends[0].len() as u64;
        for ((held, ids), what) in self.held.iter_mut().zip(ends).zip(["source", "target"]) {
            if let Some((nodes, at)) = self
                .nodes
                .and_then(|nodes| Some((nodes, ids.iter().position(|&id| id >= u64::from(nodes))?)))
            {
                let error = ReadError::new(
                    self.path,
                    format!("the {what} of edge {} is beyond `{NODES}`", self.count + at as u64),
                );
                let error = error.expected(format!("a node below {nodes}"), ids[at].to_string());
                return Err(Box::new(error.hint(format!(
                    "nodes count from 0; write the right number as `{NODES}`, or leave it out"
                ))));
            }
            if held.is_empty() { *held = ids } else { held.extend(ids) }
        }
        Ok(edges)
    }

    fn take_words(&mut self, ends: [EndIds; 2]) -> Read<u64> {
        if self.nodes.is_some() {
            let error = ReadError::new(
                self.path,
                format!("nodes have words for ids, and `{NODES}` counts them"),
            );
            let error = error.expected("whole numbers from 0", "words");
            return Err(Box::new(
                error.hint(format!("leave `{NODES}` out, or write whole numbers from 0")),
            ));
        }
        let words = self.words.get_or_insert_default();
        let mut edges = 0;
        for (held, ids) in self.held.iter_mut().zip(ends) {
            let EndIds::Words(ids) = ids else { continue };
            edges = ids.len() as u64;
            held.extend(ids.into_iter().map(|word| u64::from(words.number(word))));
        }
        Ok(edges)
    }

    /// Takes in the types of the next edges.
    fn relate(&mut self, kind: &Array) -> Read<()> {
        let names: Vec<String> = match kind.is_text() {
            true => kind.words()?,
            false => {
                let numbers = kind.i64s()?;
                // A number is written once, not for every edge.
                let mut number: HashMap<i64, u32> = HashMap::new();
                for kind in numbers {
                    let relations = &mut self.relations;
                    self.relation.push(
                        *number.entry(kind).or_insert_with(|| relations.number(kind.to_string())),
                    );
                }
                Vec::new()
            }
        };
        for name in names {
            let number = self.relations.number(name);
            self.relation.push(number);
        }
        if self.relations.list.len() > RELATIONS_MOST {
            let error = kind
                .error("the edges have too many relations")
                .expected(format!("at most {RELATIONS_MOST}"), "more");
            return Err(Box::new(error.hint(
                "is this array the type of the edges?  leave it out, or give it another name",
            )));
        }
        Ok(())
    }

    /// Writes away what is held.
    fn settle(&mut self) -> Read<()> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(OriginalIds::new(self.path, self.limit)?),
        };
        let told = EdgeAttributes {
            weight: &self.weight,
            relation: &self.relation,
            relations: &self.relations.list,
        };
        let [source, target] = &self.held;
        let pairs = source.iter().zip(target);
        match &self.words {
            Some(words) => spill.take_words(
                &words.list,
                pairs.map(|(&source, &target)| [source as u32, target as u32]),
                told,
            )?,
            None => {
                let wide = self.held.iter().flatten().any(|&id| u32::try_from(id).is_err());
                spill.take_numbers(wide, pairs.map(|(&source, &target)| [source, target]), told)?;
            }
        }
        self.held.iter_mut().for_each(Vec::clear);
        self.weight.clear();
        self.relation.clear();
        if let Some(words) = &mut self.words {
            *words = RelationWords::default();
        }
        Ok(())
    }

    /// All edges.
    pub fn finish(mut self) -> Read<LoadedGraph> {
        let EdgeArrayTypes { weighted, types } = self.beside;
        let (relations, place) = ordered(std::mem::take(&mut self.relations.list), types);
        let notes = self.rounded.note("weights", "edge").into_iter().collect();
        let mut graph =
            RawGraph { relations, notes, nodes_told: self.nodes.is_some(), ..RawGraph::default() };
        if let Some(spill) = self.spill {
            let (ids, _, mut spilled) = spill.finish(false)?;
            spilled.name_relations(&place);
            let told = self.nodes.map_or_else(|| ids.clone(), NodeIds::Count);
            let spilled: Spilled = spilled.move_to_ids(&ids, &told);
            graph.ids = told;
            return Ok(LoadedGraph { graph, spilled: Some(spilled) });
        }
        let (ids, [source, target]) = rows(self.path, self.held, self.words, self.nodes)?;
        let relation = (types != RelationTypes::None)
            .then(|| self.relation.iter().map(|&number| place[number as usize]).collect());
        graph.ids = ids;
        graph.edges = Edges {
            source,
            target,
            weight: weighted.then_some(self.weight),
            relation,
            features: None,
        };
        Ok(LoadedGraph::held(graph))
    }
}

fn weights(array: &Array, before: u64) -> Read<Vec<f32>> {
    let weights = array.f32s()?;
    match weights.iter().position(|weight| !weight.is_finite()) {
        None => Ok(weights),
        Some(at) => {
            let error =
                array.error(format!("the weight of edge {} is not finite", before + at as u64));
            let error = error.expected("a finite number", weights[at].to_string());
            Err(Box::new(
                error.hint("write finite weights, or read none:  --set ingest.weights=drop"),
            ))
        }
    }
}

/// Names in ascending order, numbers by value, and the place of each name there.
fn ordered(names: Vec<String>, types: RelationTypes) -> (Vec<String>, Vec<u16>) {
    let mut order: Vec<usize> = (0..names.len()).collect();
    match types {
        RelationTypes::Numbers => {
            order.sort_by_key(|&at| names[at].parse::<i64>().unwrap_or(i64::MAX))
        }
        _ => order.sort_by(|&a, &b| names[a].cmp(&names[b])),
    }
    let mut place = vec![0; names.len()];
    order.iter().zip(0..).for_each(|(&at, row)| place[at] = row);
    (order.into_iter().map(|at| names[at].clone()).collect(), place)
}

/// The nodes, and both ends by row.
fn rows(
    path: &Path,
    ends: [Vec<u64>; 2],
    words: Option<RelationWords>,
    nodes: Option<u32>,
) -> Read<(NodeIds, [Vec<u32>; 2])> {
    if let Some(nodes) = nodes {
        return Ok((
            NodeIds::Count(nodes),
            ends.map(|ids| ids.into_iter().map(|id| id as u32).collect()),
        ));
    }
    if let Some(RelationWords { list, .. }) = words {
        refuse_too_many(path, list.len())?;
        let mut order: Vec<u32> = (0..list.len() as u32).collect();
        order.par_sort_unstable_by(|&a, &b| list[a as usize].cmp(&list[b as usize]));
        let mut row = vec![0; list.len()];
        order.iter().zip(0..).for_each(|(&at, place)| row[at as usize] = place);
        let words = order.into_iter().map(|at| list[at as usize].clone()).collect();
        return Ok((
            NodeIds::Strings(words),
            ends.map(|ids| ids.into_par_iter().map(|id| row[id as usize]).collect()),
        ));
    }
    let mut all: Vec<u64> = ends[0].par_iter().chain(&ends[1]).copied().collect();
    all.par_sort_unstable();
    all.dedup();
    refuse_too_many(path, all.len())?;
    let row = |id: u64| all.partition_point(|&known| known < id) as u32;
    let ends = ends.map(|ids| ids.into_par_iter().map(row).collect());
    Ok((NodeIds::from_ascending(all), ends))
}

fn refuse_too_many(path: &Path, nodes: usize) -> Read<()> {
    if nodes as u64 <= NODES_MOST {
        return Ok(());
    }
    Err(Box::new(
        ReadError::new(path, "the graph has too many nodes")
            .expected(format!("at most {NODES_MOST}"), nodes.to_string()),
    ))
}
