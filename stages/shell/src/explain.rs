//! explain: why a stage is a hit or a miss: which part of its key differs from the nearest artifact
//! in the store.
//!
//! promises  names the dotted path of each difference with both values
//! never     opens a payload
use serde_json::{Value, json};
use warploom_contract::{KeyDocument, StageError};

use crate::{Chain, KeyStatus, StageName, stage_range::StageRange};

/// How many manifests are compared, the newest first.
const NEAREST_OF: usize = 200;
/// An artifact with more differences is not shown as near.
const TELLING_MOST: usize = 6;

/// A stage's state.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Which stage.
    pub stage: StageName,
    /// `hit`, `miss`, or `unknown` while a stage before it is missing.
    pub status: &'static str,
    /// Its key, once known.
    pub key: Option<String>,
    /// The reason, in one line.
    pub why: String,
    /// Parts of the key that differ from the nearest artifact: path, ours, theirs.
    pub differences: Vec<(String, Value, Value)>,
}

impl Explanation {
    /// One JSON line.
    pub fn to_json(&self) -> Value {
        let differences: Vec<Value> = self
            .differences
            .iter()
            .map(|(path, ours, theirs)| json!({"ingredient": path, "now": ours, "nearest": theirs}))
            .collect();
        json!({"stage": self.stage.name(), "status": self.status, "key": self.key, "why": self.why, "differences": differences})
    }

    /// A line for a person; with `is_verbose`, a further line for each difference.
    pub fn to_text(&self, is_verbose: bool) -> String {
        let key = self.key.as_deref().map_or("-", |key| &key[..10]);
        let mut text = format!("{:<10} {:<8} {key:<12} {}\n", self.stage, self.status, self.why);
        // A single difference is already in `why`.
        let lines = describe_differences(self.stage.name(), &self.differences);
        for line in lines.iter().take(12).filter(|_| is_verbose && lines.len() > 1) {
            text += &format!("{:>21}{line}\n", "");
        }
        text
    }
}

/// Explains one stage; a hit becomes available to the next.
pub fn explain_stage(chain: &mut Chain<'_>, stage: StageName) -> Result<Explanation, StageError> {
    let ready = stage.contract().reads.iter().all(|&kind| chain.available(kind).is_some());
    if !ready {
        let why = "unknown until the stages before it have run".to_owned();
        return Ok(Explanation {
            stage,
            status: "unknown",
            key: None,
            why,
            differences: Vec::new(),
        });
    }
    let document = match chain.key_status(stage)? {
        KeyStatus::Document(document) => document,
        KeyStatus::Undecided(what) => {
            let why = format!("not decided yet: {what}");
            return Ok(Explanation {
                stage,
                status: "miss",
                key: None,
                why,
                differences: Vec::new(),
            });
        }
    };
    let key = document.key();
    if let Some(artifacts) = chain.find_artifacts(stage, &key)? {
        chain.add_available(&artifacts);
        let why = "in the store, nothing it depends on has changed".to_owned();
        return Ok(Explanation {
            stage,
            status: "hit",
            key: Some(key.to_string()),
            why,
            differences: Vec::new(),
        });
    }
    let differences = nearest_differences(chain, stage, &document).unwrap_or_default();
    let why = miss_reason(chain, stage, &document);
    Ok(Explanation { stage, status: "miss", key: Some(key.to_string()), why, differences })
}

/// Explains a range of stages in order. After a miss all later stages are unknown: the csr of
/// `extract` must not be taken for that of `reorder`.
pub fn explain_range(
    chain: &mut Chain<'_>,
    range: &StageRange,
) -> Result<Vec<Explanation>, StageError> {
    range.prepare_given(chain)?;
    let mut all: Vec<Explanation> = Vec::new();
    for &stage in range.stages_to_look_up() {
        let broken = all.iter().any(|explanation| explanation.status != "hit");
        if broken {
            let why = "unknown until the stages before it have run".to_owned();
            all.push(Explanation {
                stage,
                status: "unknown",
                key: None,
                why,
                differences: Vec::new(),
            });
        } else {
            all.push(explain_stage(chain, stage)?);
        }
    }
    all.retain(|explanation| range.includes(explanation.stage));
    Ok(all)
}

/// One line for the summary table: what differs from the nearest artifact.
pub fn miss_reason(chain: &Chain<'_>, stage: StageName, document: &KeyDocument) -> String {
    let Some(differences) = nearest_differences(chain, stage, document) else {
        return "not in the store yet".to_owned();
    };
    let (inputs, own): (Vec<_>, Vec<_>) =
        differences.iter().partition(|(path, ..)| path.starts_with(INPUTS));
    let (inputs, own) =
        (describe_differences(stage.name(), inputs), describe_differences(stage.name(), own));
    match (own.as_slice(), inputs.as_slice()) {
        // Another data set or program: its differences explain nothing.
        (many, _) if many.len() > TELLING_MOST => "not in the store yet".to_owned(),
        ([], [first, ..]) | ([first], _) => first.clone(),
        ([], []) => "one of its artifacts was missing".to_owned(),
        ([first, second], _) => format!("{first}; {second}"),
        ([first, rest @ ..], _) => format!("{first}, and {} more differences", rest.len()),
    }
}

/// The sections of a key document: inputs of the stage, and its request.
const INPUTS: &str = "inputs.";
const REQUEST: &str = "request.";

/// Differences as sentences, each once.
fn describe_differences<'a>(
    stage: &str,
    differences: impl IntoIterator<Item = &'a (String, Value, Value)>,
) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (path, ours, theirs) in differences {
        let words = describe_difference(stage, path, ours, theirs);
        if !all.contains(&words) {
            all.push(words);
        }
    }
    all
}

/// One difference: what it is now, and what it was in the nearest artifact.
fn describe_difference(stage: &str, path: &str, ours: &Value, theirs: &Value) -> String {
    let values = |what: &str| {
        format!("{what} is {} (nearest earlier run: {})", clip_value(ours), clip_value(theirs))
    };
    let file = |setting: &str| match (ours, theirs) {
        (Value::Null, _) => format!("{setting}: none now, a file before"),
        (_, Value::Null) => format!("{setting}: a file now, none before"),
        _ => format!("{setting}: another file"),
    };
    if let Some(input) = path.strip_prefix(INPUTS) {
        return format!("its input `{}` has changed", input.split('.').next().unwrap_or(input));
    }
    let Some(request) = path.strip_prefix(REQUEST) else {
        return if path == "version" {
            "another version of the stage".to_owned()
        } else {
            values(path)
        };
    };
    let (first, rest) = request.split_once('.').unwrap_or((request, ""));
    match (first, rest) {
        ("device", _) => "device differs".to_owned(),
        ("program", _) => "the program's text has changed".to_owned(),
        ("entry", _) => values("the program's entry"),
        ("compiler", _) => "another version of the compiler".to_owned(),
        ("catalog", _) => "what the catalogue says of the data set has changed".to_owned(),
        ("source", _) => "the raw files have changed".to_owned(),
        ("walks", _) => values("the number of walks over the graph"),
        ("init" | "splits", _) => file(&format!("run.{first}")),
        ("groups", _) => file("partition.groups"),
        ("settings", "") | ("run", "") => values(stage),
        ("settings", setting) => values(&format!("{stage}.{setting}")),
        ("run", setting) => values(&format!("run.{setting}")),
        _ => values(request),
    }
}

/// Differences from the artifact of this stage whose document has the fewest.
fn nearest_differences(
    chain: &Chain<'_>,
    stage: StageName,
    document: &KeyDocument,
) -> Option<Vec<(String, Value, Value)>> {
    let kind = stage.contract().writes[0];
    let mut artifacts = chain.environment.store.list(kind);
    artifacts.retain(|artifact| artifact.manifest.key_document.stage == stage.name());
    artifacts.sort_by(|a, b| b.manifest.created.cmp(&a.manifest.created));
    let differences = artifacts
        .iter()
        .take(NEAREST_OF)
        .map(|artifact| document.differences(&artifact.manifest.key_document));
    differences.min_by_key(Vec::len)
}

fn clip_value(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 {
        text
    } else {
        text.chars().take(37).chain("...".chars()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_said_as_a_person_would() {
        let device = json!({"cache": {"bytes": 2097152}});
        let cases = [
            (
                "ingest",
                "request.settings.features",
                json!("none"),
                json!("auto"),
                "ingest.features is \"none\" (nearest earlier run: \"auto\")",
            ),
            ("plan", "request.device", json!(null), device, "device differs"),
            (
                "run",
                "request.init",
                json!("4475a1"),
                json!(null),
                "run.init: a file now, none before",
            ),
            (
                "plan",
                "request.run.dtype",
                json!("f64"),
                json!("f32"),
                "run.dtype is \"f64\" (nearest earlier run: \"f32\")",
            ),
            (
                "extract",
                "inputs.graph.digest",
                json!("a"),
                json!("b"),
                "its input `graph` has changed",
            ),
            ("plan", "request.program", json!("a"), json!("b"), "the program's text has changed"),
        ];
        for (stage, path, ours, theirs, wanted) in cases {
            assert_eq!(describe_difference(stage, path, &ours, &theirs), wanted);
        }
        let twice = [
            ("inputs.csr.digest".to_owned(), json!(1), json!(2)),
            ("inputs.csr.provenance".to_owned(), json!(1), json!(2)),
        ];
        assert_eq!(describe_differences("plan", &twice), ["its input `csr` has changed"]);
    }
}
