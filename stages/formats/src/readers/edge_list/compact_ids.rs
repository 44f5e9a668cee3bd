//! From the ids of a file to rows: the sorted distinct ids are the rows.
//!
//! promises  the same rows for any cut into pieces
//! bounds    a bitmap where ids are small (at most 8 bytes an edge, or 8 MiB), else a sort of all
//!           ids
use super::parsed_lines::{ParsedEnds, ParsedLines};
use crate::{
    raw_graph::{NODES_MOST, NodeIds},
    read_error::{Read, ReadError},
};
use rayon::prelude::*;
use std::{
    collections::HashMap,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

/// Ids below this always go through the bitmap.
const SMALL: u64 = 1 << 26;
/// Relations are counted in 16 bits.
const RELATIONS_MOST: usize = 1 << 16;

/// The ids, and the source and target rows of all pieces in their order.
pub fn compact(path: &Path, pieces: Vec<ParsedLines>) -> Read<(NodeIds, Vec<u32>, Vec<u32>)> {
    if pieces.iter().any(|piece| matches!(piece.ends, ParsedEnds::Words { .. })) {
        return compact_words(path, pieces);
    }
    let edges: usize = pieces.iter().map(|piece| piece.ends.len()).sum();
    let most = pieces.par_iter().map(|piece| largest(&piece.ends)).max().unwrap_or(0);
    if most < SMALL || most / 64 < edges as u64 {
        compact_by_bitmap(path, pieces, most)
    } else {
        compact_by_sort(path, pieces)
    }
}

/// Names of the relations, ascending; each piece's index then counts in them.
pub fn relations(path: &Path, pieces: &mut [ParsedLines]) -> Read<Option<Vec<String>>> {
    let names = names_of_relations(
        path,
        pieces.iter().flat_map(|piece| piece.relation.words.iter().cloned()).collect(),
    )?;
    pieces.par_iter_mut().for_each(|piece| {
        let row: Vec<u32> = piece
            .relation
            .words
            .iter()
            .map(|word| names.partition_point(|known| known < word) as u32)
            .collect();
        piece.relation.index.iter_mut().for_each(|index| *index = row[*index as usize]);
    });
    Ok((!names.is_empty()).then_some(names))
}

/// Ascending, each once.
pub fn names_of_relations(path: &Path, mut names: Vec<String>) -> Read<Vec<String>> {
    names.sort_unstable();
    names.dedup();
    if names.len() > RELATIONS_MOST {
        let error = ReadError::new(path, "the edges have too many relations")
            .expected(format!("at most {RELATIONS_MOST}"), names.len().to_string());
        return Err(Box::new(error.hint(
            "name the column of relations in the catalogue's entry:  read: {relation: NAME}  \
             (none: there are none)",
        )));
    }
    Ok(names)
}

fn largest(ends: &ParsedEnds) -> u64 {
    match ends {
        ParsedEnds::Narrow(pairs) => {
            u64::from(pairs.iter().fold(0, |most, [source, target]| most.max(*source).max(*target)))
        }
        ParsedEnds::Wide(pairs) => {
            pairs.iter().fold(0, |most, [source, target]| most.max(*source).max(*target))
        }
        ParsedEnds::Words { .. } => 0,
    }
}

fn too_many(path: &Path, found: u64) -> Box<ReadError> {
    Box::new(
        ReadError::new(path, "the graph has too many nodes")
            .expected(format!("at most {NODES_MOST}"), found.to_string()),
    )
}

/// Rows of all pieces, each end mapped by `row`.
fn rows(pieces: Vec<ParsedLines>, row: impl Fn(usize, u64) -> u32 + Sync) -> (Vec<u32>, Vec<u32>) {
    let edges = pieces.iter().map(|piece| piece.ends.len()).sum();
    let (mut source, mut target) = (vec![0; edges], vec![0; edges]);
    let mut jobs = Vec::with_capacity(pieces.len());
    let (mut sources, mut targets) = (&mut source[..], &mut target[..]);
    for (index, piece) in pieces.into_iter().enumerate() {
        let (own_sources, more_sources) = sources.split_at_mut(piece.ends.len());
        let (own_targets, more_targets) = targets.split_at_mut(piece.ends.len());
        jobs.push((index, piece.ends, own_sources, own_targets));
        (sources, targets) = (more_sources, more_targets);
    }
    jobs.into_par_iter().for_each(|(index, ends, sources, targets)| {
        let out = sources.iter_mut().zip(targets);
        match ends {
            ParsedEnds::Narrow(pairs) | ParsedEnds::Words { pairs, .. } => {
                out.zip(pairs).for_each(|((source, target), pair)| {
                    (*source, *target) =
                        (row(index, u64::from(pair[0])), row(index, u64::from(pair[1])))
                })
            }
            ParsedEnds::Wide(pairs) => out.zip(pairs).for_each(|((source, target), pair)| {
                (*source, *target) = (row(index, pair[0]), row(index, pair[1]))
            }),
        }
    });
    (source, target)
}

fn compact_by_bitmap(
    path: &Path,
    pieces: Vec<ParsedLines>,
    most: u64,
) -> Read<(NodeIds, Vec<u32>, Vec<u32>)> {
    let bits: Vec<AtomicU64> = (0..=most / 64).into_par_iter().map(|_| AtomicU64::new(0)).collect();
    let mark = |id: u64| {
        let (word, bit) = (&bits[(id / 64) as usize], 1 << (id % 64));
        // Most bits are set long before the last edge: reading first keeps the line shared between
        // cores.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    };
    pieces.par_iter().for_each(|piece| match &piece.ends {
        ParsedEnds::Narrow(pairs) => pairs.iter().flatten().for_each(|&id| mark(u64::from(id))),
        ParsedEnds::Wide(pairs) => pairs.iter().flatten().for_each(|&id| mark(id)),
        ParsedEnds::Words { .. } => {}
    });
    let bits: Vec<u64> = bits.into_par_iter().map(AtomicU64::into_inner).collect();
    let nodes: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
    if nodes > NODES_MOST {
        return Err(too_many(path, nodes));
    }
    if nodes == most + 1 {
        let (source, target) = rows(pieces, |_, id| id as u32);
        return Ok((NodeIds::Count(nodes as u32), source, target));
    }
    let count_before = |before: &mut u32, word: &u64| {
        let rank = *before;
        *before += word.count_ones();
        Some(rank)
    };
    let rank: Vec<u32> = bits.iter().scan(0, count_before).collect();
    let ids = bits
        .iter()
        .enumerate()
        .flat_map(|(at, &word)| ones(word).map(move |bit| at as u64 * 64 + bit))
        .collect();
    let row = |_, id: u64| {
        let at = (id / 64) as usize;
        rank[at] + (bits[at] & ((1 << (id % 64)) - 1)).count_ones()
    };
    let (source, target) = rows(pieces, row);
    Ok((NodeIds::from_ascending(ids), source, target))
}

/// The set bits of a word, ascending.
fn ones(mut word: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| u64::from(word.trailing_zeros()));
        word &= word.wrapping_sub(1);
        bit
    })
}

fn compact_by_sort(path: &Path, pieces: Vec<ParsedLines>) -> Read<(NodeIds, Vec<u32>, Vec<u32>)> {
    let distinct = pieces.par_iter().map(|piece| {
        let mut ids: Vec<u64> = match &piece.ends {
            ParsedEnds::Narrow(pairs) => pairs.iter().flatten().map(|&id| u64::from(id)).collect(),
            ParsedEnds::Wide(pairs) => pairs.iter().flatten().copied().collect(),
            ParsedEnds::Words { .. } => Vec::new(),
        };
        ids.sort_unstable();
        ids.dedup();
        ids
    });
    let mut ids: Vec<u64> = distinct.flatten_iter().collect();
    ids.par_sort_unstable();
    ids.dedup();
    if ids.len() as u64 > NODES_MOST {
        return Err(too_many(path, ids.len() as u64));
    }
    let (source, target) = rows(pieces, |_, id| ids.partition_point(|&known| known < id) as u32);
    Ok((NodeIds::from_ascending(ids), source, target))
}

fn compact_words(path: &Path, mut pieces: Vec<ParsedLines>) -> Read<(NodeIds, Vec<u32>, Vec<u32>)> {
    let lists: Vec<Vec<String>> = pieces
        .iter_mut()
        .map(|piece| {
            if let ParsedEnds::Words { words, .. } = &mut piece.ends {
                std::mem::take(words)
            } else {
                Vec::new()
            }
        })
        .collect();
    // Words are hashed before they are sorted: comparing them is what costs, and most are in
    // several pieces.
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut distinct: Vec<&str> = Vec::new();
    let mut firsts: Vec<Vec<u32>> = Vec::with_capacity(lists.len());
    for words in &lists {
        let mut first = |word| {
            *known.entry(word).or_insert_with(|| {
                distinct.push(word);
                distinct.len() as u32 - 1
            })
        };
        firsts.push(words.iter().map(|word| first(word.as_str())).collect());
    }
    drop(known);
    if distinct.len() as u64 > NODES_MOST {
        return Err(too_many(path, distinct.len() as u64));
    }
    // Eight bytes decide most comparisons without a look at the word.
    let mut order: Vec<(u64, u32)> =
        distinct.iter().zip(0..).map(|(word, first)| (beginning(word), first)).collect();
    order.par_sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| distinct[a.1 as usize].cmp(distinct[b.1 as usize]))
    });
    let mut rank = vec![0; distinct.len()];
    order.iter().zip(0..).for_each(|(&(_, first), row)| rank[first as usize] = row);
    let ids = NodeIds::Strings(
        order.iter().map(|&(_, first)| distinct[first as usize].to_owned()).collect(),
    );
    let (source, target) =
        rows(pieces, |piece, index| rank[firsts[piece][index as usize] as usize]);
    Ok((ids, source, target))
}

/// The first eight bytes of a word as a number that is ordered as they are.
fn beginning(word: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = word.len().min(8);
    bytes[..length].copy_from_slice(&word.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}
