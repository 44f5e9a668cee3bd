//! Edges that do not fit the memory that may be used: kept in a nameless file in the data set's own ids until all ids are known.
//!
//! promises  edges come back in the order of the file, as rows; the file goes with the process
//! promises  memory for nodes alone: a bit for each id below `Limit::memory` x 2, and 8 to 16 bytes for each distinct id above
//! never     takes words, relations or features of edges: those sets have to fit
use super::{
    counts::Extremes,
    piece::{Ends, Piece},
};
use crate::raw::{NODES_MOST, NodeIds, Read, ReadError};
use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read as _, Seek, Write},
    path::{Path, PathBuf},
};

/// Ids below this are always bits.
const BITS_LEAST: u64 = 1 << 26;
/// Bytes that are written and read at once.
const BUFFER_BYTES: usize = 1 << 18;
/// Ids that wait to be sorted in.
const PENDING_LEAST: usize = 1 << 16;

/// How much memory edges may take, and where they go beyond it.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Bytes.
    pub memory: u64,
    /// A folder on a disk with room.
    pub folder: PathBuf,
}

/// Edges that are being written.
pub(super) struct Spill {
    path: PathBuf,
    folder: PathBuf,
    file: BufWriter<File>,
    blocks: Vec<Block>,
    edges: u64,
    ids: Collected,
    pub extremes: Extremes,
}

/// Edges that were written together.
struct Block {
    wide: bool,
    weighted: bool,
    edges: usize,
}

/// Distinct ids: bits for small ones, a sorted list for the others.
struct Collected {
    bits: Vec<u64>,
    bits_most: u64,
    large: Vec<u64>,
    pending: Vec<u64>,
}

impl Collected {
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
}

impl Spill {
    pub fn new(path: &Path, limit: &Limit) -> Read<Spill> {
        let file = tempfile::tempfile_in(&limit.folder).map_err(|error| unwritten(&limit.folder, &error))?;
        let bits_most = BITS_LEAST.max(limit.memory.saturating_mul(2));
        let ids = Collected { bits: Vec::new(), bits_most, large: Vec::new(), pending: Vec::new() };
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Spill { path: path.to_path_buf(), folder: limit.folder.clone(), file, blocks: Vec::new(), edges: 0, ids, extremes: Extremes::default() })
    }

    /// Writes pieces in their order.
    pub fn take(&mut self, pieces: Vec<Piece>) -> Read<()> {
        for piece in pieces {
            self.extremes.add(&piece);
            if matches!(piece.ends, Ends::Words { .. }) || !piece.relation.index.is_empty() || !piece.features.is_empty() {
                let error = ReadError::new(
                    &self.path,
                    "the edge list does not fit the memory that may be used, and its ids are words or edges have more than a weight",
                );
                return Err(Box::new(error.hint("allow more with  --memory SIZE")));
            }
            self.write(&piece).map_err(|error| unwritten(&self.folder, &error))?;
        }
        Ok(())
    }

    fn write(&mut self, piece: &Piece) -> io::Result<()> {
        let weighted = !piece.weight.is_empty();
        match &piece.ends {
            Ends::Narrow(pairs) => {
                for id in pairs.iter().flatten() {
                    self.ids.add(u64::from(*id));
                    self.file.write_all(&id.to_le_bytes())?;
                }
            }
            Ends::Wide(pairs) => {
                for id in pairs.iter().flatten() {
                    self.ids.add(*id);
                    self.file.write_all(&id.to_le_bytes())?;
                }
            }
            Ends::Words { .. } => {}
        }
        for weight in &piece.weight {
            self.file.write_all(&weight.to_le_bytes())?;
        }
        self.edges += piece.ends.len() as u64;
        self.blocks.push(Block { wide: matches!(piece.ends, Ends::Wide(_)), weighted, edges: piece.ends.len() });
        Ok(())
    }

    /// All ids, and the edges; `skip_first` leaves the first edge out, which was a line of counts: its ids go, unless others have them.
    pub fn finish(mut self, skip_first: bool) -> Read<(NodeIds, Spilled)> {
        if skip_first {
            // Such a line's ids are told from all others by `first_edge_counts`; whether another edge has them is known from all edges.
            self.ids = self.ids_of_all_but_the_first()?;
        }
        self.ids.settle();
        let Collected { bits, large, .. } = self.ids;
        let small: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        let nodes = small + large.len() as u64;
        if nodes > NODES_MOST {
            return Err(Box::new(ReadError::new(&self.path, "the graph has too many nodes").expected(format!("at most {NODES_MOST}"), nodes.to_string())));
        }
        let mut numbers = Vec::with_capacity(nodes as usize);
        for (at, &word) in bits.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                numbers.push(at as u64 * 64 + u64::from(word.trailing_zeros()));
                word &= word - 1;
            }
        }
        numbers.extend_from_slice(&large);
        let rank = bits.iter().scan(0, |before: &mut u32, word| Some(std::mem::replace(before, *before + word.count_ones()))).collect();
        let ids = NodeIds::from_ascending(numbers);
        let rows = if matches!(ids, NodeIds::Count(_)) { Rows::Same } else { Rows::Ranked { bits, rank, small: small as u32, large } };
        let weighted = self.blocks.iter().any(|block| block.weighted);
        let file = self.file.into_inner().map_err(|error| unwritten(&self.folder, error.error()))?;
        let edges = self.edges - u64::from(skip_first);
        Ok((ids, Spilled { path: self.folder, file, blocks: self.blocks, skip_first, edges, weighted, rows }))
    }

    fn ids_of_all_but_the_first(&mut self) -> Read<Collected> {
        let mut ids = Collected { bits: Vec::new(), bits_most: self.ids.bits_most, large: Vec::new(), pending: Vec::new() };
        let mut at = 0;
        let fault = |error: io::Error| unwritten(&self.folder, &error);
        self.file.flush().map_err(fault)?;
        each(self.file.get_ref(), &self.blocks, |source, target, _| {
            if at > 0 {
                ids.add(source);
                ids.add(target);
            }
            at += 1;
            Ok(())
        })
        .map_err(fault)?;
        self.file.seek(io::SeekFrom::End(0)).map_err(fault)?;
        Ok(ids)
    }
}

/// The disk did not take the edges.
fn unwritten(folder: &Path, error: &io::Error) -> Box<ReadError> {
    let what = format!("cannot keep the edges in a file while they are sorted: {error}");
    let hint = "edges beyond --memory need 20 to 60 bytes each on this disk for a while: make room, allow more memory, or move the store";
    Box::new(ReadError { io: Some(error.kind()), ..ReadError::new(folder, what).hint(hint) })
}

/// Edges in a file, and how ids become rows.
pub struct Spilled {
    /// The folder of the file.
    path: PathBuf,
    file: File,
    blocks: Vec<Block>,
    skip_first: bool,
    /// How many edges there are.
    pub edges: u64,
    /// Whether they have weights.
    pub weighted: bool,
    rows: Rows,
}

enum Rows {
    Same,
    Ranked {
        bits: Vec<u64>,
        rank: Vec<u32>,
        small: u32,
        large: Vec<u64>,
    },
    /// Rows among the ids of the edges, and what these are among all ids.
    Moved(Box<Rows>, Vec<u32>),
}

impl Rows {
    fn of(&self, id: u64) -> u32 {
        match self {
            Rows::Same => id as u32,
            Rows::Moved(rows, moved) => moved[rows.of(id) as usize],
            Rows::Ranked { bits, rank, small, large } => match bits.get((id / 64) as usize) {
                Some(word) if word >> (id % 64) & 1 == 1 => rank[(id / 64) as usize] + (word & ((1 << (id % 64)) - 1)).count_ones(),
                _ => small + large.partition_point(|&known| known < id) as u32,
            },
        }
    }
}

impl Spilled {
    /// The same edges, with rows among more ids than those of the edges.
    pub(super) fn onto(mut self, known: &NodeIds, ids: &NodeIds) -> Spilled {
        let row = |id: u64| match ids {
            NodeIds::Numbers(numbers) => numbers.partition_point(|&known| known < id) as u32,
            NodeIds::Count(_) | NodeIds::Strings(_) => id as u32,
        };
        let rows = match known {
            NodeIds::Count(count) => (0..u64::from(*count)).map(row).collect(),
            NodeIds::Numbers(numbers) => numbers.iter().map(|&id| row(id)).collect(),
            NodeIds::Strings(_) => Vec::new(),
        };
        self.rows = Rows::Moved(Box::new(self.rows), rows);
        self
    }

    /// Hands over source row, target row and weight of every edge; without weights 1.
    pub fn each(&self, mut take: impl FnMut(u32, u32, f32) -> io::Result<()>) -> Read<()> {
        let mut skip = self.skip_first;
        let result = each(
            &self.file,
            &self.blocks,
            |source, target, weight| {
                if std::mem::take(&mut skip) { Ok(()) } else { take(self.rows.of(source), self.rows.of(target), weight) }
            },
        );
        result.map_err(|error| unwritten(&self.path, &error))
    }
}

/// All edges in the ids of the file.
fn each(mut file: &File, blocks: &[Block], mut take: impl FnMut(u64, u64, f32) -> io::Result<()>) -> io::Result<()> {
    file.rewind()?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let (mut ends, mut weights) = (Vec::new(), Vec::new());
    for block in blocks {
        ends.resize(block.edges * if block.wide { 16 } else { 8 }, 0);
        weights.resize(if block.weighted { block.edges * 4 } else { 0 }, 0);
        reader.read_exact(&mut ends)?;
        reader.read_exact(&mut weights)?;
        let weight = |at: usize| weights.get(4 * at..4 * at + 4).map_or(1.0, |bytes| f32::from_le_bytes(std::array::from_fn(|byte| bytes[byte])));
        for at in 0..block.edges {
            if block.wide {
                let id = |first: usize| u64::from_le_bytes(std::array::from_fn(|byte| ends[first + byte]));
                take(id(16 * at), id(16 * at + 8), weight(at))?;
            } else {
                let id = |first: usize| u64::from(u32::from_le_bytes(std::array::from_fn(|byte| ends[first + byte])));
                take(id(8 * at), id(8 * at + 4), weight(at))?;
            }
        }
    }
    Ok(())
}
