//! key: the name of an artifact, which is the hash of a document that a person can read.
//!
//! promises  equal documents give equal keys on every machine; a document holds everything that the
//!           output depends on
//! never     puts a path, a thread count, a host, a time or a log setting in a document
use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Digest, Kind,
    digest::{hexadecimal_error, is_hexadecimal},
};

/// Name of an artifact's directory: the first 32 hexadecimal digits (128 bits) of the BLAKE3 of its
/// key document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Key(String);

/// Digits in a key.
pub const KEY_DIGITS: usize = 32;

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Key::parse(&text).ok_or_else(|| hexadecimal_error(&text, "key", KEY_DIGITS))
    }
}

impl Key {
    /// Reads a key of a path or of the command line; `None` if the text is no key.
    pub fn parse(text: &str) -> Option<Self> {
        is_hexadecimal(text, KEY_DIGITS).then(|| Key(text.to_owned()))
    }

    /// All digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first digits, enough for a table.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where data come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// The data set's own files.
    Real,
    /// A seeded generator with the same counts.
    StandIn,
}

impl Provenance {
    /// As written in manifests and JSON lines.
    pub fn name(self) -> &'static str {
        match self {
            Provenance::Real => "real",
            Provenance::StandIn => "stand-in",
        }
    }
}

/// What an input contributes to a key: its bytes and where they come from. The output of a stand-in
/// never shares a key with the output of real data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputFacts {
    /// Digest of the (name, digest) pairs of the files that the stage reads.
    pub digest: Digest,
    /// Counts of the manifest that the stage reads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Facts of the manifest that the stage reads.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, Value>,
    /// Where its data come from.
    pub provenance: Provenance,
    /// What was generated although the graph is real: `features`, `labels`, `splits`.
    pub made_up: Vec<String>,
}

/// Everything that an output depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyDocument {
    /// Name of the stage.
    pub stage: String,
    /// Version of the stage's results.
    pub version: u32,
    /// Kinds written, with their format versions.
    pub writes: BTreeMap<String, u32>,
    /// The resolved settings, and all else that the stage reads and that is no artifact.
    pub request: Value,
    /// Input artifacts by kind.
    pub inputs: BTreeMap<String, InputFacts>,
}

impl KeyDocument {
    /// Starts the document of a stage that writes these kinds.
    pub fn new(stage: &str, version: u32, writes: &[Kind], request: Value) -> Self {
        let writes = writes.iter().map(|kind| (kind.name().to_owned(), kind.version())).collect();
        KeyDocument { stage: stage.to_owned(), version, writes, request, inputs: BTreeMap::new() }
    }

    /// The canonical text: JSON without spaces, keys of objects in order.
    pub fn canonical(&self) -> String {
        let value = serde_json::to_value(self).expect("a key document is plain JSON");
        let mut text = String::new();
        write_canonical(&value, &mut text);
        text
    }

    /// The key.
    pub fn key(&self) -> Key {
        let digest = Digest::from_bytes(self.canonical().as_bytes());
        Key(digest.as_str()[..KEY_DIGITS].to_owned())
    }

    /// Where two documents differ: dotted path, our value, their value; `null` for a missing one.
    pub fn differences(&self, other: &KeyDocument) -> Vec<(String, Value, Value)> {
        let (ours, theirs) = (serde_json::to_value(self), serde_json::to_value(other));
        let mut found = Vec::new();
        compare("", &ours.unwrap_or_default(), &theirs.unwrap_or_default(), &mut found);
        found
    }
}

/// Writes JSON with the keys of objects in order: the map type of `serde_json` may keep another
/// one.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            text.push('{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                write_canonical(item, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

fn compare(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<(String, Value, Value)>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                compare(
                    &path,
                    a.get(name).unwrap_or(&Value::Null),
                    b.get(name).unwrap_or(&Value::Null),
                    found,
                );
            }
        }
        _ if ours == theirs => {}
        _ => found.push((path.to_owned(), ours.clone(), theirs.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> KeyDocument {
        let mut document = KeyDocument::new(
            "reorder",
            1,
            &[Kind::Permutation, Kind::Csr],
            json!({"method": "none", "seed": 0}),
        );
        let facts = InputFacts {
            digest: Digest::from_bytes(b"in"),
            counts: BTreeMap::new(),
            facts: BTreeMap::new(),
            provenance: Provenance::Real,
            made_up: vec![],
        };
        document.inputs.insert("csr".into(), facts);
        document
    }

    #[test]
    fn every_ingredient_changes_the_key() {
        let base = document().key();
        let changed = |change: fn(&mut KeyDocument)| {
            let mut other = document();
            change(&mut other);
            other.key()
        };
        let keys = [
            changed(|d| d.stage = "extract".into()),
            changed(|d| d.version = 2),
            changed(|d| *d.writes.get_mut("csr").unwrap() = 99),
            changed(|d| d.request["method"] = json!("degree")),
            changed(|d| d.request["seed"] = json!(1)),
            changed(|d| d.inputs.get_mut("csr").unwrap().digest = Digest::from_bytes(b"other")),
            changed(|d| d.inputs.get_mut("csr").unwrap().counts = [("classes".into(), 2)].into()),
            changed(|d| {
                d.inputs.get_mut("csr").unwrap().facts = [("labels".into(), json!("rows"))].into()
            }),
            changed(|d| d.inputs.get_mut("csr").unwrap().provenance = Provenance::StandIn),
            changed(|d| d.inputs.get_mut("csr").unwrap().made_up = vec!["labels".into()]),
            changed(|d| drop(d.inputs.remove("csr"))),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert_ne!(*key, base, "ingredient {index}");
        }
        assert_eq!(document().key(), base);
    }

    #[test]
    fn order_of_keys_in_a_request_does_not_matter() {
        let mut other = document();
        other.request = serde_json::from_str(r#"{"seed": 0, "method": "none"}"#).unwrap();
        assert_eq!(other.key(), document().key());
    }

    #[test]
    fn differences_name_the_path_and_both_values() {
        let mut other = document();
        other.request["seed"] = json!(7);
        assert_eq!(
            other.differences(&document()),
            [("request.seed".to_owned(), json!(7), json!(0))]
        );
    }

    #[test]
    fn only_keys_parse() {
        assert!(Key::parse(document().key().as_str()).is_some());
        for wrong in
            ["", "abc", &"g".repeat(32), &"A".repeat(32), "../../../../../etc/passwd0000000"]
        {
            assert_eq!(Key::parse(wrong), None, "{wrong}");
        }
    }
}
