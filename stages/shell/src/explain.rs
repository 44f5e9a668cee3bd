//! Why a stage is a hit or a miss: which ingredient differs from the nearest artifact in the store.
//!
//! promises  names the dotted path of each difference with both values
//! never     opens a payload
use serde_json::{Value, json};
use warploom_contract::{Contract, KeyDocument, StageError};

use crate::{Chain, contracts};

/// Manifests looked at, the most recently used first.
const NEAREST_OF: usize = 200;
/// Differences beyond which an artifact is not near at all.
const TELLING_MOST: usize = 6;

/// A stage's state.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Which stage.
    pub stage: &'static str,
    /// `hit`, `miss`, or `unknown` while a stage before it is missing.
    pub status: &'static str,
    /// Its key, once known.
    pub key: Option<String>,
    /// One line.
    pub why: String,
    /// Ingredients that differ from the nearest artifact: path, ours, theirs.
    pub differences: Vec<(String, Value, Value)>,
}

impl Explanation {
    /// One JSON line.
    pub fn to_json(&self) -> Value {
        let differences: Vec<Value> = self.differences.iter().map(|(path, ours, theirs)| json!({"ingredient": path, "now": ours, "nearest": theirs})).collect();
        json!({"stage": self.stage, "status": self.status, "key": self.key, "why": self.why, "differences": differences})
    }

    /// Lines for a person.
    pub fn to_text(&self) -> String {
        let key = self.key.as_deref().map_or("-", |key| &key[..10]);
        let mut text = format!("{:<10} {:<8} {key:<12} {}\n", self.stage, self.status, self.why);
        // One alone stands behind `why` already.
        for (path, ours, theirs) in self.differences.iter().take(12).filter(|_| self.differences.len() > 1) {
            text += &format!("{:>21}{path}: {} now, {} there\n", "", clip(ours), clip(theirs));
        }
        text
    }
}

/// Explains one stage; a hit becomes available to the next.
pub fn explain(chain: &mut Chain<'_>, contract: &Contract) -> Result<Explanation, StageError> {
    let ready = contract.reads.iter().all(|&kind| chain.available(kind).is_some());
    if !ready {
        let why = "its key depends on the stages before it, of which one is missing".to_owned();
        return Ok(Explanation { stage: contract.name, status: "unknown", key: None, why, differences: Vec::new() });
    }
    let document = chain.document(contract)?;
    let key = document.key();
    if let Some(artifacts) = chain.find(contract, &key)? {
        chain.accept(&artifacts);
        let why = "in the store, nothing it depends on has changed".to_owned();
        return Ok(Explanation { stage: contract.name, status: "hit", key: Some(key.to_string()), why, differences: Vec::new() });
    }
    let differences = nearest(chain, contract, &document).unwrap_or_default();
    let why = why_missing(chain, contract, &document);
    Ok(Explanation { stage: contract.name, status: "miss", key: Some(key.to_string()), why, differences })
}

/// Explains all stages in order. A missing csr of `reorder` does not let the plain one of `extract` stand in for it.
pub fn explain_all(chain: &mut Chain<'_>) -> Result<Vec<Explanation>, StageError> {
    let mut all: Vec<Explanation> = Vec::new();
    for contract in &contracts::ALL {
        let broken = all.iter().any(|explanation| explanation.status != "hit");
        if broken {
            let why = "its key depends on the stages before it, of which one is missing".to_owned();
            all.push(Explanation { stage: contract.name, status: "unknown", key: None, why, differences: Vec::new() });
        } else {
            all.push(explain(chain, contract)?);
        }
    }
    Ok(all)
}

/// One line for the table: what differs from the nearest artifact.
pub fn why_missing(chain: &Chain<'_>, contract: &Contract, document: &KeyDocument) -> String {
    let Some(differences) = nearest(chain, contract, document) else { return "not in the store yet".to_owned() };
    let (inputs, own): (Vec<_>, Vec<_>) = differences.iter().partition(|(path, ..)| path.starts_with("inputs."));
    match own.as_slice() {
        // Another data set or program altogether: its differences explain nothing.
        many if many.len() > TELLING_MOST => "not in the store yet".to_owned(),
        [] => match inputs.first().and_then(|(path, ..)| path.split('.').nth(1)) {
            Some(kind) => format!("its input `{kind}` is another one"),
            None => "one of its artifacts was missing".to_owned(),
        },
        [(path, ours, theirs)] => format!("{path}: {} now, {} there", clip(ours), clip(theirs)),
        [(path, ours, theirs), rest @ ..] => format!("{path}: {} now, {} there, and {} more", clip(ours), clip(theirs), rest.len()),
    }
}

/// Differences from the artifact of this stage whose document has the fewest.
fn nearest(chain: &Chain<'_>, contract: &Contract, document: &KeyDocument) -> Option<Vec<(String, Value, Value)>> {
    let kind = contract.writes[0];
    let mut artifacts = chain.environment.store.list(kind);
    artifacts.retain(|artifact| artifact.manifest.key_document.stage == contract.name);
    artifacts.sort_by(|a, b| b.manifest.created.cmp(&a.manifest.created));
    let differences = artifacts.iter().take(NEAREST_OF).map(|artifact| document.differences(&artifact.manifest.key_document));
    differences.min_by_key(Vec::len)
}

fn clip(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 { text } else { text.chars().take(37).chain("...".chars()).collect() }
}
