//! expression_names: the names of operators in expressions of hand-written lists.
//!
//! promises  plans and printed lists keep these names, some of which are shorter than those of
//!           `ir`; an operator without a name here is in no list
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serializer};

use warploom_ir::{Binary, Unary};

const UNARY: [(&str, Unary); 9] = [
    ("negate", Unary::Negative),
    ("abs", Unary::Absolute),
    ("relu", Unary::Relu),
    ("positive", Unary::Positive),
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("sqrt", Unary::Sqrt),
    ("rsqrt", Unary::Rsqrt),
    ("reciprocal", Unary::Reciprocal),
];
const UNARY_NAMES: [&str; 9] =
    ["negate", "abs", "relu", "positive", "exp", "log", "sqrt", "rsqrt", "reciprocal"];

const BINARY: [(&str, Binary); 6] = [
    ("add", Binary::Add),
    ("subtract", Binary::Subtract),
    ("multiply", Binary::Multiply),
    ("divide", Binary::Divide),
    ("min", Binary::Minimum),
    ("max", Binary::Maximum),
];
const BINARY_NAMES: [&str; 6] = ["add", "subtract", "multiply", "divide", "min", "max"];

/// The name of a unary operator; if no expression has it, its name in `ir`.
pub fn unary_name(operator: Unary) -> String {
    known_unary(operator).map_or_else(|| format!("{operator:?}").to_lowercase(), str::to_owned)
}

fn known_unary(operator: Unary) -> Option<&'static str> {
    UNARY.iter().find(|(_, known)| *known == operator).map(|(name, _)| *name)
}

/// The name of a binary operator; if no expression has it, its name in `ir`.
pub fn binary_name(operator: Binary) -> String {
    known_binary(operator).map_or_else(|| format!("{operator:?}").to_lowercase(), str::to_owned)
}

fn known_binary(operator: Binary) -> Option<&'static str> {
    BINARY.iter().find(|(_, known)| *known == operator).map(|(name, _)| *name)
}

/// A unary operator, as plans spell it.
pub(super) mod unary {
    use super::*;

    pub fn serialize<S: Serializer>(operator: &Unary, serializer: S) -> Result<S::Ok, S::Error> {
        let name = known_unary(*operator)
            .ok_or_else(|| S::Error::custom(format!("no expression has {operator:?}")))?;
        serializer.serialize_str(name)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Unary, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = UNARY.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, operator)| *operator)
            .ok_or_else(|| D::Error::unknown_variant(&name, &UNARY_NAMES))
    }
}

/// A binary operator, as plans spell it.
pub(super) mod binary {
    use super::*;

    pub fn serialize<S: Serializer>(operator: &Binary, serializer: S) -> Result<S::Ok, S::Error> {
        let name = known_binary(*operator)
            .ok_or_else(|| S::Error::custom(format!("no expression has {operator:?}")))?;
        serializer.serialize_str(name)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Binary, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = BINARY.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, operator)| *operator)
            .ok_or_else(|| D::Error::unknown_variant(&name, &BINARY_NAMES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expression;

    #[test]
    fn plans_keep_their_names() {
        for ((name, operator), known) in UNARY.iter().zip(UNARY_NAMES) {
            assert_eq!(*name, known);
            let expression = Expression::unary(*operator, Expression::Made);
            let text = serde_json::to_string(&expression).unwrap();
            assert_eq!(text, format!(r#"{{"unary":["{name}","made"]}}"#));
            assert_eq!(serde_json::from_str::<Expression>(&text).unwrap(), expression);
        }
        for ((name, operator), known) in BINARY.iter().zip(BINARY_NAMES) {
            assert_eq!(*name, known);
            let expression = Expression::binary(*operator, Expression::Made, Expression::Id);
            let text = serde_json::to_string(&expression).unwrap();
            assert_eq!(text, format!(r#"{{"binary":["{name}","made","id"]}}"#));
            assert_eq!(serde_json::from_str::<Expression>(&text).unwrap(), expression);
        }
        let unknown = serde_json::from_str::<Expression>(r#"{"unary":["tanh","made"]}"#);
        assert!(unknown.unwrap_err().to_string().starts_with("unknown variant `tanh`, expected"));
    }
}
