//! order_choice_cache: which order `reorder.method: auto` chose for a graph, stored apart from the
//! order itself.
//!
//! promises  the key of a choice has everything that `auto` weighs: the csr, the device, the number
//!           of walks and the settings; the key of the order has only its method, so that runs of
//!           300 and of 3,000 epochs share an order unless they choose differently
//! never     reads an edge: a hit reads one small page
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
/// The file of a choice.
const FILE: &str = "choices.json";
/// The fact in the manifest that is equal for graphs with equal figures for `auto`.
const FACT: &str = "order";

/// The order that `auto` chose.
#[derive(Clone, Debug)]
pub struct OrderChoice {
    /// Its method.
    pub method: Method,
    /// The reason, in a sentence.
    pub why: String,
    /// The candidates that were weighed.
    pub weighed: String,
    /// The order, where weighing it computed it.
    pub order: Option<FoundOrder>,
}

/// An order that weighing computed.
#[derive(Clone, Debug)]
pub struct FoundOrder {
    /// The new number of each node.
    pub new_of_old: Vec<u32>,
    /// Communities that the method found with it.
    pub communities: Option<CommunityFigures>,
}

fn choice_document(inputs: &Inputs, weighed: Value) -> Result<KeyDocument, StageError> {
    let mut document = KeyDocument::new(CHOICE.name, CHOICE.version, CHOICE.writes, weighed);
    for &kind in CHOICE.reads {
        document.inputs.insert(
            kind.name().to_owned(),
            inputs
                .get(kind)?
                .restricted(&stage_inputs::reorder_inputs(kind, Method::Auto))
                .input_facts(),
        );
    }
    Ok(document)
}

/// The choice for these inputs and everything weighed, if it is in the store.
pub fn find_choice(
    store: &Store,
    inputs: &Inputs,
    weighed: Value,
) -> Result<Option<OrderChoice>, StageError> {
    let Some(artifact) = store.find(Kind::Tune, &choice_document(inputs, weighed)?.key())? else {
        return Ok(None);
    };
    store.mark_used(&artifact);
    match read_choice(&artifact) {
        // `gc` collected it since it was found: a page that is read at once is not leased.
        Err(_) if artifact.is_gone() => Ok(None),
        chosen => chosen.map(Some),
    }
}

/// The choice for another graph with equal figures, which have this `digest`.
pub fn find_equivalent(store: &Store, digest: &str) -> Option<OrderChoice> {
    let is_alike =
        |artifact: &Artifact| artifact.manifest.facts.get(FACT).is_some_and(|fact| fact == digest);
    store
        .list(Kind::Tune)
        .iter()
        .find(|artifact| is_alike(artifact))
        .and_then(|artifact| read_choice(artifact).ok())
}

fn read_choice(artifact: &Artifact) -> Result<OrderChoice, StageError> {
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
    Ok(OrderChoice { method, why: words("why"), weighed: words("weighed"), order: None })
}

/// Stores a choice; replaces one of the same inputs whose page is damaged.
pub fn store_choice(
    store: &Store,
    inputs: &Inputs,
    weighed: Value,
    chosen: &OrderChoice,
    digest: &str,
) -> Result<(), StageError> {
    let mut outputs = Outputs::begin(store, &CHOICE, choice_document(inputs, weighed)?, inputs)?;
    write_json(
        &outputs.file(Kind::Tune, FILE),
        &json!({"method": chosen.method.name(), "why": chosen.why, "weighed": chosen.weighed}),
    )?;
    outputs.fact(Kind::Tune, FACT, digest);
    outputs.publish_over(store).map(drop)
}
