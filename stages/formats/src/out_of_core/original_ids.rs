//! Edges in the data set's own ids on their way into a file: the rows of their ends are known once
//! all ids are.
//!
//! promises  the nodes and edges that the reader makes in memory, in the same order
//! promises  memory for nodes alone: a bit for each id below `Limit::memory` x 2, 8 to 16 bytes for
//!           each distinct id above, words once
use super::{
    edge_file::{EdgeWriter, Spilled, for_each_stored, unwritten},
    id_rows::IdRows,
    limit::Limit,
};
use crate::{
    raw_graph::{NODES_MOST, NodeIds},
    read_error::{Read, ReadError},
};
use rayon::prelude::*;
use std::{
    collections::HashMap,
    io::{self, Seek, Write},
    path::{Path, PathBuf},
};

/// Ids below this are always bits.
const BITS_LEAST: u64 = 1 << 26;
/// Ids that wait to be sorted in.
const PENDING_LEAST: usize = 1 << 16;

/// What edges have beside their ends: one an edge, or none at all.
#[derive(Clone, Copy, Default)]
pub(crate) struct EdgeAttributes<'a> {
    pub weight: &'a [f32],
    /// Relations by their places in `relations`.
    pub relation: &'a [u32],
    pub relations: &'a [String],
}

/// Edges that are being written.
pub(crate) struct OriginalIds {
    path: PathBuf,
    spill: EdgeWriter,
    ids: IdSet,
    words: WordPlaces,
    relations: WordPlaces,
}

/// Distinct words in the order in which they came.
#[derive(Default)]
struct WordPlaces(HashMap<String, u32>);

impl WordPlaces {
    fn place(&mut self, word: &str) -> u32 {
        if let Some(&place) = self.0.get(word) {
            return place;
        }
        let place = self.0.len() as u32;
        self.0.insert(word.to_owned(), place);
        place
    }

    /// All words in the order in which they came.
    fn into_list(self) -> Vec<String> {
        let mut list: Vec<(u32, String)> =
            self.0.into_iter().map(|(word, place)| (place, word)).collect();
        list.sort_unstable();
        list.into_iter().map(|(_, word)| word).collect()
    }
}

/// Distinct ids: bits for small ones, a sorted list for the others.
struct IdSet {
    bits: Vec<u64>,
    bits_most: u64,
    large: Vec<u64>,
    pending: Vec<u64>,
}

impl IdSet {
    fn new(bits_most: u64) -> IdSet {
        IdSet { bits: Vec::new(), bits_most, large: Vec::new(), pending: Vec::new() }
    }

    fn add(&mut self, id: u64) {
        if id < self.bits_most {
            let word = (id / 64) as usize;
            if word >= self.bits.len() {
                self.bits.resize((word + 1).next_power_of_two(), 0);
            }
            self.bits[word] |= 1 << (id % 64);
        } else if self.pending.last() != Some(&id) {
            self.pending.push(id);
            if self.pending.len() >= PENDING_LEAST.max(self.large.len()) {
                self.settle();
            }
        }
    }

    fn settle(&mut self) {
        self.large.append(&mut self.pending);
        self.large.sort_unstable();
        self.large.dedup();
    }

    /// All ids, and the rows that they are.
    fn finish(mut self, path: &Path) -> Read<(NodeIds, IdRows)> {
        self.settle();
        let IdSet { bits, large, .. } = self;
        let small: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        let nodes = small + large.len() as u64;
        refuse_too_many(path, nodes)?;
        let mut numbers = Vec::with_capacity(nodes as usize);
        for (at, &word) in bits.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                numbers.push(at as u64 * 64 + u64::from(word.trailing_zeros()));
                word &= word - 1;
            }
        }
        numbers.extend_from_slice(&large);
        let rank = bits
            .iter()
            .scan(0, |before: &mut u32, word| {
                Some(std::mem::replace(before, *before + word.count_ones()))
            })
            .collect();
        let ids = NodeIds::from_ascending(numbers);
        let rows = if matches!(ids, NodeIds::Count(_)) {
            IdRows::Same
        } else {
            IdRows::Ranked { bits, rank, small: small as u32, large }
        };
        Ok((ids, rows))
    }
}

fn refuse_too_many(path: &Path, nodes: u64) -> Read<()> {
    if nodes <= NODES_MOST {
        return Ok(());
    }
    Err(Box::new(
        ReadError::new(path, "the graph has too many nodes")
            .expected(format!("at most {NODES_MOST}"), nodes.to_string()),
    ))
}

impl OriginalIds {
    /// For edges of this file.
    pub fn new(path: &Path, limit: &Limit) -> Read<OriginalIds> {
        let ids = IdSet::new(BITS_LEAST.max(limit.memory.saturating_mul(2)));
        Ok(OriginalIds {
            path: path.to_path_buf(),
            spill: EdgeWriter::new(limit)?,
            ids,
            words: WordPlaces::default(),
            relations: WordPlaces::default(),
        })
    }

    /// More edges whose ends are numbers; `wide`: some need more than 32 bits.
    pub fn take_numbers(
        &mut self,
        wide: bool,
        pairs: impl ExactSizeIterator<Item = [u64; 2]>,
        told: EdgeAttributes,
    ) -> Read<()> {
        let relation = self.relation(told);
        let pairs = pairs.inspect(|pair| pair.iter().for_each(|&id| self.ids.add(id)));
        self.spill.write(wide, pairs, told.weight, &relation)
    }

    /// More edges whose ends are words, by their places in `words`.
    pub fn take_words(
        &mut self,
        words: &[String],
        pairs: impl ExactSizeIterator<Item = [u32; 2]>,
        told: EdgeAttributes,
    ) -> Read<()> {
        let relation = self.relation(told);
        let place: Vec<u64> = words.iter().map(|word| u64::from(self.words.place(word))).collect();
        self.spill.write(
            false,
            pairs.map(|pair| pair.map(|word| place[word as usize])),
            told.weight,
            &relation,
        )
    }

    /// Features of edges, behind those of all edges before.
    pub fn take_features(&mut self, columns: u32, values: &[f32]) -> Read<()> {
        self.spill.write_features(columns, values)
    }

    /// Relations by the order in which they came; too many of them are refused once all are there.
    fn relation(&mut self, told: EdgeAttributes) -> Vec<u16> {
        let place: Vec<u16> =
            told.relations.iter().map(|name| self.relations.place(name) as u16).collect();
        told.relation.iter().map(|&relation| place[relation as usize]).collect()
    }

    /// All ids, the names of relations in the order in which they came, and the edges. `skip_first`
    /// leaves the first edge out, which was a line of counts: its ids go, unless others have them.
    pub fn finish(mut self, skip_first: bool) -> Read<(NodeIds, Vec<String>, Spilled)> {
        if skip_first {
            // Such a line's ids are told from all others by `first_edge_counts`; whether another
            // edge has them is known from all edges.
            self.ids = self.ids_of_all_but_the_first()?;
        }
        let (ids, rows) = if self.words.0.is_empty() {
            self.ids.finish(&self.path)?
        } else {
            sort_words(&self.path, self.words)?
        };
        let mut spilled = self.spill.finish(rows)?;
        spilled.skip_first = skip_first;
        spilled.edges -= u64::from(skip_first);
        Ok((ids, self.relations.into_list(), spilled))
    }

    fn ids_of_all_but_the_first(&mut self) -> Read<IdSet> {
        let mut ids = IdSet::new(self.ids.bits_most);
        let mut at = 0;
        let EdgeWriter { folder, file, blocks, .. } = &mut self.spill;
        let fault = |error: io::Error| unwritten(folder, &error);
        file.flush().map_err(fault)?;
        for_each_stored(file.get_ref(), blocks, |source, target, _, _| {
            if at > 0 {
                ids.add(source);
                ids.add(target);
            }
            at += 1;
            Ok(())
        })
        .map_err(fault)?;
        file.seek(io::SeekFrom::End(0)).map_err(fault)?;
        Ok(ids)
    }
}

/// Words by bytes, and the row of each by the order in which they came.
fn sort_words(path: &Path, words: WordPlaces) -> Read<(NodeIds, IdRows)> {
    refuse_too_many(path, words.0.len() as u64)?;
    let mut words: Vec<(String, u32)> = words.0.into_iter().collect();
    words.par_sort_unstable();
    let mut rows = vec![0; words.len()];
    words.iter().zip(0..).for_each(|(&(_, place), row)| rows[place as usize] = row);
    let ids = NodeIds::Strings(words.into_iter().map(|(word, _)| word).collect());
    Ok((ids, IdRows::Moved(Box::new(IdRows::Same), rows)))
}
