//! order_choice_cache: which order `reorder.method: auto` chose for a graph, kept in the store
//! apart from the order itself.
//!
//! promises  a choice is found by all that it was weighed by: the csr, the device, the walks, the
//!           settings of `auto`; the order that was chosen is found by its method alone, so that
//!           runs of 300 and of 3,000 epochs share it unless they choose differently
//! never     reads an edge: a hit costs a small page
use serde_json::{Value, json};
use warploom_contract::{
    Artifact, Contract, Inputs, KeyDocument, Kind, Outputs, StageError, Store,
    kinds::{profile::CommunityFigures, read_json, write_json},
};
use warploom_spec::Method;

use crate::stage_inputs;

/// The part of the stage `reorder` that chooses. Raising its version makes every choice a miss.
const CHOICE: Contract =
    Contract { name: "order-choice", version: 1, reads: &[Kind::Csr], writes: &[Kind::Tune] };
/// The page of a choice.
const FILE: &str = "choices.json";
/// The fact that a graph which differs in nothing that was weighed has too.
const FACT: &str = "order";

/// The order that `auto` chose.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Its method.
    pub method: Method,
    /// Why that one, in a sentence.
    pub why: String,
    /// All that was weighed.
    pub weighed: String,
    /// The order, where it was found to weigh it.
    pub order: Option<FoundOrder>,
}

/// An order that was found.
#[derive(Clone, Debug)]
pub struct FoundOrder {
    /// The new number of each node.
    pub new_of_old: Vec<u32>,
    /// Communities that the method found beside it.
    pub communities: Option<CommunityFigures>,
}

fn document(inputs: &Inputs, weighed: Value) -> Result<KeyDocument, StageError> {
    let mut document = KeyDocument::new(CHOICE.name, CHOICE.version, CHOICE.writes, weighed);
    for &kind in CHOICE.reads {
        document.inputs.insert(
            kind.name().to_owned(),
            inputs.get(kind)?.restricted(&stage_inputs::reorder(kind)).input_facts(),
        );
    }
    Ok(document)
}

/// What was chosen for these inputs by all that is weighed, if it is in the store.
pub fn find(store: &Store, inputs: &Inputs, weighed: Value) -> Result<Option<Chosen>, StageError> {
    let Some(artifact) = store.find(Kind::Tune, &document(inputs, weighed)?.key())? else {
        return Ok(None);
    };
    store.mark_used(&artifact);
    match read(&artifact) {
        // Collected since it was found: nobody leases a page that is read at once.
        Err(_) if artifact.is_gone() => Ok(None),
        chosen => chosen.map(Some),
    }
}

/// What was chosen for a graph that differs in nothing that was weighed, which `digest` says.
pub fn find_alike(store: &Store, digest: &str) -> Option<Chosen> {
    let is_alike =
        |artifact: &Artifact| artifact.manifest.facts.get(FACT).is_some_and(|fact| fact == digest);
    store
        .list(Kind::Tune)
        .iter()
        .find(|artifact| is_alike(artifact))
        .and_then(|artifact| read(artifact).ok())
}

fn read(artifact: &Artifact) -> Result<Chosen, StageError> {
    artifact.manifest.check_digests(&artifact.path)?;
    let path = artifact.file(FILE);
    let page: Value = read_json(&path)?;
    let method = Method::ALL.iter().copied().find(|method| page["method"] == method.name());
    let method = method.ok_or_else(|| {
        StageError::damaged(
            &path,
            format!("expected the name of a method, found {}", page["method"]),
        )
    })?;
    let words = |name: &str| page[name].as_str().unwrap_or_default().to_owned();
    Ok(Chosen { method, why: words("why"), weighed: words("weighed"), order: None })
}

/// Keeps a choice; one of these inputs whose page is damaged makes way.
pub fn keep(
    store: &Store,
    inputs: &Inputs,
    weighed: Value,
    chosen: &Chosen,
    digest: &str,
) -> Result<(), StageError> {
    let mut outputs = Outputs::begin(store, &CHOICE, document(inputs, weighed)?, inputs)?;
    write_json(
        &outputs.file(Kind::Tune, FILE),
        &json!({"method": chosen.method.name(), "why": chosen.why, "weighed": chosen.weighed}),
    )?;
    outputs.fact(Kind::Tune, FACT, digest);
    outputs.publish_over(store).map(drop)
}
