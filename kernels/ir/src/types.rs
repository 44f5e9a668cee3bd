//! types: places, types, numbers, edge sets, losses and initial values of parameters.
use std::fmt;

use serde::{Deserialize, Serialize};

/// What a row of a value corresponds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// A compile-time constant: one row.
    C,
    /// Shared by all: one row.
    P,
    /// A row for each graph.
    G,
    /// A row for each vertex.
    D,
    /// A row for each edge, a function of the vertex at its far end.
    S(EdgeRows),
    /// A row for each edge, by edge id.
    E(EdgeRows),
}

/// How many rows an edge has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeRows {
    /// One: lists over in-edges or over out-edges.
    Once,
    /// Two, all edges as in-edges and then all again as out-edges: lists over `v.nbs`.
    Twice,
}

impl Place {
    /// How many rows an edge has, for edge values.
    pub fn edge_rows(self) -> Option<EdgeRows> {
        match self {
            Place::S(rows) | Place::E(rows) => Some(rows),
            Place::C | Place::P | Place::G | Place::D => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Place::C => "C",
            Place::P => "P",
            Place::G => "G",
            Place::D => "D",
            Place::S(EdgeRows::Once) => "S",
            Place::S(EdgeRows::Twice) => "SS",
            Place::E(EdgeRows::Once) => "E",
            Place::E(EdgeRows::Twice) => "EE",
        })
    }
}

/// Type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// False or true.
    Bool,
    /// 64-bit, signed; arithmetic wraps, except for the largest and the smallest, which stand for
    /// infinities (`interpret::integer_arithmetic`).
    Int,
    /// A vertex, by its row in nodes.parquet; u32::MAX is the sentinel, larger than every vertex.
    Id,
    /// The run's dtype.
    Real,
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Id => "id",
            Type::Real => "real",
        })
    }
}

/// A compile-time constant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Number {
    /// False or true.
    Bool(bool),
    /// Integer.
    Int(i64),
    /// Float. Infinities are written as text, since JSON has none.
    Real(#[serde(with = "real_text")] f64),
}

impl Number {
    /// Its type.
    pub fn kind(self) -> Type {
        match self {
            Number::Bool(_) => Type::Bool,
            Number::Int(_) => Type::Int,
            Number::Real(_) => Type::Real,
        }
    }

    /// As a float; bool is 0 or 1.
    pub fn real(self) -> f64 {
        match self {
            Number::Bool(value) => f64::from(u8::from(value)),
            Number::Int(value) => value as f64,
            Number::Real(value) => value,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Bool(value) => write!(formatter, "{value}"),
            Number::Int(value) => write!(formatter, "{value}"),
            Number::Real(value) => write!(formatter, "{value:?}"),
        }
    }
}

mod real_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:?}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| serde::de::Error::custom(format!("expected a number, found `{text}`")))
    }
}

/// A set of edges per vertex, and which of their ends is near and which far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EdgeSet {
    /// In-edges (near: target, far: source), out-edges (near: source, far: target), or both,
    /// in-edges first.
    pub direction: Direction,
    /// Only edges of this relation.
    pub relation: Option<u32>,
}

impl EdgeSet {
    /// How many rows an edge has in a list over this set.
    pub fn rows(self) -> EdgeRows {
        if self.direction == Direction::Both { EdgeRows::Twice } else { EdgeRows::Once }
    }

    /// The same edges seen from their other end.
    pub fn reversed(self) -> EdgeSet {
        let direction = match self.direction {
            Direction::In => Direction::Out,
            Direction::Out => Direction::In,
            Direction::Both => Direction::Both,
        };
        EdgeSet { direction, ..self }
    }
}

impl fmt::Display for EdgeSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.direction {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::Both => "both",
        })?;
        self.relation.map_or(Ok(()), |relation| write!(formatter, "[{relation}]"))
    }
}

/// 16-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Half {
    /// bfloat16: the upper half of an f32.
    Bf16,
    /// IEEE 754 binary16.
    F16,
}

/// The initial values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Init {
    /// Uniform in +-sqrt(6 / (fan in + fan out)), for `[out, in]`.
    GlorotUniform,
    /// All zero.
    Zero,
    /// All one.
    One,
    /// Normal distribution, mean 0, deviation 1.
    Normal,
}

/// The direction of an edge walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// In-edges u -> v, reading u.
    In,
    /// Out-edges v -> u, reading u.
    Out,
    /// In-edges, then out-edges.
    Both,
}

/// Losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Mean over training rows of `-log softmax(result)[class]`; natural logarithm.
    CrossEntropy,
    /// Mean over training rows and columns of (result - target)^2.
    MeanSquares,
    /// Mean over training rows and columns of the binary cross entropy with logits, with targets in
    /// 0 to 1; elements whose target is NaN are unknown and do not count.
    Binary,
}
