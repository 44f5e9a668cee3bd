//! The edges of some lines, and what can be wrong with a line.
use crate::f32_rounding::Rounded;

/// The edges of some lines.
pub struct Piece {
    pub ends: Ends,
    /// One an edge, or none at all.
    pub weight: Vec<f32>,
    /// One an edge, or none at all.
    pub relation: Words,
    /// As many an edge as features were asked for.
    pub features: Vec<f32>,
    /// How many lines there were, with and without an edge.
    pub lines: u64,
    /// Of the weights, by line.
    pub rounded: Rounded,
}

/// Sources and targets in the data set's own ids.
pub enum Ends {
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
pub struct Words {
    pub words: Vec<String>,
    pub index: Vec<u32>,
}

impl Piece {
    pub fn new(ends: Ends) -> Piece {
        Piece {
            ends,
            weight: Vec::new(),
            relation: Words::default(),
            features: Vec::new(),
            lines: 0,
            rounded: Rounded::default(),
        }
    }

    /// What the edges take.
    pub fn bytes(&self) -> u64 {
        let words: usize = match &self.ends {
            Ends::Words { words, .. } => {
                words.iter().map(|word| word.len() + size_of::<String>()).sum()
            }
            Ends::Narrow(_) | Ends::Wide(_) => 0,
        };
        let ends = self.ends.len() * if matches!(self.ends, Ends::Wide(_)) { 16 } else { 8 };
        (words + ends + 4 * (self.weight.len() + self.relation.index.len() + self.features.len()))
            as u64
    }
}

impl Ends {
    pub fn len(&self) -> usize {
        match self {
            Ends::Narrow(pairs) => pairs.len(),
            Ends::Wide(pairs) => pairs.len(),
            Ends::Words { pairs, .. } => pairs.len(),
        }
    }
}
