//! Ids in tables, and the rows that they become.
//!
//! promises  the same rows for any cut into pieces; an id that no node has is an error with its
//!           place
//! bounds    8 bytes an id, words once in each piece; a bitmap where ids are small (at most 8 bytes
//!           for each end of an edge, or 8 MiB)
use crate::{
    containers::{
        arrow_columns::{self, ColumnSort},
        arrow_tables::TableSource,
        npy::Number,
    },
    raw_graph::{NODES_MOST, NodeIds},
    read_error::{Read, ReadError},
};
use arrow_array::{
    Array,
    cast::AsArray,
    types::{Int64Type, UInt32Type, UInt64Type},
};
use rayon::prelude::*;
use std::{collections::HashMap, path::Path};

/// Ids below this always go through a bitmap.
const SMALL: u64 = 1 << 26;

/// Distinct words of a piece, in the order in which they came.
#[derive(Default)]
pub struct WordList {
    pub list: Vec<String>,
    places: HashMap<String, u32>,
}

impl WordList {
    /// The place of a word.
    pub fn place(&mut self, word: &str) -> u32 {
        if let Some(&place) = self.places.get(word) {
            return place;
        }
        let place = self.list.len() as u32;
        self.list.push(word.to_owned());
        self.places.insert(word.to_owned(), place);
        place
    }
}

/// Ids of one column of a piece.
pub enum IdColumn {
    Numbers(Vec<u64>),
    /// Places in the words of the piece.
    Words(Vec<u32>),
}

impl IdColumn {
    pub fn empty(sort: ColumnSort) -> IdColumn {
        if sort == ColumnSort::Words {
            IdColumn::Words(Vec::new())
        } else {
            IdColumn::Numbers(Vec::new())
        }
    }

    /// What they take.
    pub fn bytes(&self) -> usize {
        match self {
            IdColumn::Numbers(numbers) => 8 * numbers.len(),
            IdColumn::Words(places) => 4 * places.len(),
        }
    }

    /// Appends a batch; `first` is the number of its first row in the file.
    pub fn extend(
        &mut self,
        source: &TableSource,
        name: &str,
        first: u64,
        array: &dyn Array,
        words: &mut WordList,
    ) -> Read<()> {
        let wrong = |row: usize, found: String| {
            let hint = match found.as_str() {
                "null" => "drop rows without ids:  table.dropna()".to_owned(),
                negative if negative.starts_with('-') => {
                    format!(
                        "if the ids are names, write them as words:  table['{name}'].astype(str) ; \
                         else take such rows out"
                    )
                }
                _ => format!("write whole numbers as integers:  table['{name}'].astype('int64')"),
            };
            let error =
                source.error(format!("the column `{name}` of row {} is no id", first + row as u64));
            Box::new(error.expected("a whole number from 0, or a word", found).hint(hint))
        };
        match self {
            IdColumn::Numbers(numbers) => {
                if array.null_count() == 0 && extend_plain(numbers, array) {
                    return Ok(());
                }
                for (row, number) in arrow_columns::numbers(array)
                    .map_err(|what| source.error(format!("the column `{name}`: {what}")))?
                    .into_iter()
                    .enumerate()
                {
                    let id = number.and_then(Number::unsigned);
                    numbers.push(id.ok_or_else(|| {
                        wrong(row, number.map_or("null".into(), |number| number.to_string()))
                    })?);
                }
                Ok(())
            }
            IdColumn::Words(places) => {
                let mut null = None;
                let done = arrow_columns::each_word(array, &mut |row, word| {
                    match word {
                        Some(word) => places.push(words.place(word)),
                        None => null = null.or(Some(row)),
                    }
                    Ok(())
                });
                done.map_err(|what| source.error(format!("the column `{name}`: {what}")))?;
                null.map_or(Ok(()), |row| Err(wrong(row, "null".into())))
            }
        }
    }
}

/// The types that ids mostly have, without a look at each value but its sign.
fn extend_plain(numbers: &mut Vec<u64>, array: &dyn Array) -> bool {
    if let Some(values) = array.as_primitive_opt::<UInt32Type>() {
        numbers.extend(values.values().iter().map(|&value| u64::from(value)));
    } else if let Some(values) = array.as_primitive_opt::<UInt64Type>() {
        numbers.extend_from_slice(values.values());
    } else if let Some(values) = array
        .as_primitive_opt::<Int64Type>()
        .filter(|values| values.values().iter().all(|&value| value >= 0))
    {
        numbers.extend(values.values().iter().map(|&value| value as u64));
    } else {
        return false;
    }
    true
}

/// Rows of ids that ascend.
pub struct NodeIndex<'a> {
    ids: &'a NodeIds,
    /// Bits of the numbers that are ids, and how many are set before each word.
    bitmap: Option<(Vec<u64>, Vec<u32>)>,
}

impl<'a> NodeIndex<'a> {
    pub fn new(ids: &'a NodeIds) -> NodeIndex<'a> {
        let bitmap = match ids {
            NodeIds::Numbers(numbers) => {
                numbers.last().filter(|&&last| is_small(last, numbers.len())).map(|&last| {
                    let bits = bits(last, numbers.iter().copied());
                    let before = bits
                        .iter()
                        .scan(0, |before, word| {
                            Some(std::mem::replace(before, *before + word.count_ones()))
                        })
                        .collect();
                    (bits, before)
                })
            }
            _ => None,
        };
        NodeIndex { ids, bitmap }
    }

    /// The row of a number.
    pub fn number(&self, id: u64) -> Option<u32> {
        match (self.ids, &self.bitmap) {
            (NodeIds::Count(count), _) => (id < u64::from(*count)).then_some(id as u32),
            (_, Some((bits, before))) => {
                let word = bits.get((id / 64) as usize)?;
                let bit = 1u64 << (id % 64);
                (word & bit != 0)
                    .then(|| before[(id / 64) as usize] + (word & (bit - 1)).count_ones())
            }
            (NodeIds::Numbers(numbers), None) => {
                numbers.binary_search(&id).ok().map(|row| row as u32)
            }
            (NodeIds::Strings(_), _) => None,
        }
    }

    /// The row of a word.
    pub fn word(&self, word: &str) -> Option<u32> {
        match self.ids {
            NodeIds::Strings(words) => {
                words.binary_search_by(|known| known.as_str().cmp(word)).ok().map(|row| row as u32)
            }
            _ => None,
        }
    }
}

fn is_small(most: u64, ids: usize) -> bool {
    most < SMALL || most / 64 < ids as u64
}

fn bits(most: u64, numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut bits = vec![0u64; (most / 64) as usize + 1];
    numbers.for_each(|number| bits[(number / 64) as usize] |= 1 << (number % 64));
    bits
}

/// The ids of all nodes that these columns name.
pub fn distinct_numbers(path: &Path, columns: &[&[u64]]) -> Read<NodeIds> {
    let most = columns.par_iter().filter_map(|numbers| numbers.iter().max()).max();
    let Some(&most) = most else { return Ok(NodeIds::Count(0)) };
    let all = || columns.iter().flat_map(|numbers| numbers.iter().copied());
    let ids = if is_small(most, columns.iter().map(|numbers| numbers.len()).sum()) {
        let bits = bits(most, all());
        let count: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        within(path, count)?;
        let ones = |(at, &word): (usize, &u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u64 * 64 + bit)
        };
        bits.iter().enumerate().flat_map(ones).collect()
    } else {
        let mut ids: Vec<u64> = all().collect();
        ids.par_sort_unstable();
        ids.dedup();
        within(path, ids.len() as u64)?;
        ids
    };
    Ok(NodeIds::from_ascending(ids))
}

/// The words of all pieces, sorted by bytes.
pub fn distinct_words(path: &Path, lists: &[&[String]]) -> Read<NodeIds> {
    let mut all: Vec<&String> = lists.iter().copied().flatten().collect();
    all.par_sort_unstable();
    all.dedup();
    within(path, all.len() as u64)?;
    Ok(NodeIds::Strings(all.into_iter().cloned().collect()))
}

/// A number of nodes that rows can have.
pub fn within(path: &Path, nodes: u64) -> Read<()> {
    if nodes <= NODES_MOST {
        return Ok(());
    }
    Err(Box::new(
        ReadError::new(path, "the graph has too many nodes")
            .expected(format!("at most {NODES_MOST}"), nodes.to_string()),
    ))
}
