//! The edges of some lines, in the data set's own ids.
use crate::f32_rounding::RoundedIntegers;

/// The edges of some lines.
pub struct ParsedLines {
    pub ends: ParsedEnds,
    /// One an edge, or none at all.
    pub weight: Vec<f32>,
    /// One an edge, or none at all.
    pub relation: WordColumn,
    /// As many an edge as features were asked for.
    pub features: Vec<f32>,
    /// How many lines there were, with and without an edge.
    pub lines: u64,
    /// Of the weights, by line.
    pub rounded: RoundedIntegers,
}

/// Sources and targets in the data set's own ids.
pub enum ParsedEnds {
    Narrow(Vec<[u32; 2]>),
    Wide(Vec<[u64; 2]>),
    /// Distinct words in the order of their first use, and edges by index into them.
    Words {
        words: Vec<String>,
        pairs: Vec<[u32; 2]>,
    },
}

/// Distinct words in the order of their first use, and the use by index into them.
#[derive(Default)]
pub struct WordColumn {
    pub words: Vec<String>,
    pub index: Vec<u32>,
}

impl ParsedLines {
    pub fn new(ends: ParsedEnds) -> ParsedLines {
        ParsedLines {
            ends,
            weight: Vec::new(),
            relation: WordColumn::default(),
            features: Vec::new(),
            lines: 0,
            rounded: RoundedIntegers::default(),
        }
    }

    /// What the edges take.
    pub fn bytes(&self) -> u64 {
        let words: usize = match &self.ends {
            ParsedEnds::Words { words, .. } => {
                words.iter().map(|word| word.len() + size_of::<String>()).sum()
            }
            ParsedEnds::Narrow(_) | ParsedEnds::Wide(_) => 0,
        };
        let ends = self.ends.len() * if matches!(self.ends, ParsedEnds::Wide(_)) { 16 } else { 8 };
        (words + ends + 4 * (self.weight.len() + self.relation.index.len() + self.features.len()))
            as u64
    }
}

impl ParsedEnds {
    pub fn len(&self) -> usize {
        match self {
            ParsedEnds::Narrow(pairs) => pairs.len(),
            ParsedEnds::Wide(pairs) => pairs.len(),
            ParsedEnds::Words { pairs, .. } => pairs.len(),
        }
    }
}
