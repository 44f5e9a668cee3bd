//! The edges of some lines, and what can be wrong with a line.
use crate::{blocks::LINE_MOST, raw::Rounded};
use std::borrow::Cow;

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

/// What is wrong and where.
pub struct Fault {
    pub byte: usize,
    pub what: Cow<'static, str>,
    pub expected: String,
    pub found: String,
    pub hint: Cow<'static, str>,
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

impl Fault {
    pub fn new(
        byte: usize,
        what: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault {
            byte,
            what: what.into(),
            expected: String::new(),
            found: String::new(),
            hint: hint.into(),
        }
    }

    pub fn against(self, expected: impl Into<String>, found: &[u8]) -> Fault {
        let clipped = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
        let found =
            if found.is_empty() { "the end of the line".into() } else { format!("`{clipped}`") };
        Fault { expected: expected.into(), found, ..self }
    }

    pub fn too_long(byte: usize) -> Fault {
        let fault =
            Fault::new(byte, "a line is too long", "is this a text file with an edge a line?");
        Fault {
            expected: format!("at most {} MiB", LINE_MOST >> 20),
            found: "more".into(),
            ..fault
        }
    }
}

/// Whether the rest of a line from its first byte that is no blank is a comment.
pub fn is_comment(rest: &[u8]) -> bool {
    matches!(rest, [b'#' | b'%', ..] | [b'/', b'/', ..])
}

/// Whether a line holds nothing, or a comment.
pub fn is_blank_or_comment(line: &[u8]) -> bool {
    line.iter()
        .position(|&byte| !super::numbers::is_blank(byte))
        .is_none_or(|start| is_comment(&line[start..]))
}
