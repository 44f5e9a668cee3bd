//! reorder: renumber nodes so that neighbours lie close in memory.
//!
//! reads   csr, any order                     keeps   the multiset of edges with weights, types and edge ids
//! writes  permutation (new_of_old), csr      bounds  nodes < 2^32 - 1; memory see `need`
//! never   drops or merges an edge; reads features or labels; lets self loops or weights change an order; mixes the graphs of a set
mod apart;
mod auto;
pub mod cache;
mod choice;
mod known;
pub mod methods;
mod need;
pub mod permute;
pub mod prove;
pub mod undirected;
pub mod worth;

use warploom_contract::{
    Artifact, Context, Contract, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{
        csr::{self, Csr, CsrParts},
        permutation::{self, Quality, Standing},
    },
    order,
};
use warploom_device::Facts;
use warploom_shell::{contracts, requests::ReorderRequest};

/// The stage.
pub struct Reorder;

impl Stage for Reorder {
    type Request = ReorderRequest;
    const CONTRACT: Contract = contracts::REORDER;

    fn run(context: &Context, outputs: &mut Outputs, inputs: &Inputs, request: &ReorderRequest) -> Result<(), StageError> {
        let artifact = inputs.get(Kind::Csr)?;
        let csr = Csr::open(artifact)?;
        need::refuse_too_large(&csr, request.spec.method, context.memory)?;
        context.progress.begin("looking whether the order is known", 0, "edges");
        let aes_rule = order::aes_rule(aes_without_loops(&csr), csr.nodes());
        let digest = known::digest(&csr, request);
        let choice = match known::find(context.store, &outputs.key(), &digest, csr.nodes()) {
            Some(choice) => choice,
            None => choice::choose(context.progress, request, &csr, aes_rule)?,
        };
        let devices = devices(request);
        context.progress.begin("measuring the order", 0, "edges");
        let before = worth::standing(csr.incoming.rows(), csr.outgoing.rows(), csr.types.is_some(), &devices);
        let (after, new_of_old) = match choice.new_of_old {
            None => {
                keep(outputs, artifact, &csr)?;
                (before.clone(), (0..csr.nodes() as u32).collect())
            }
            Some(new_of_old) => {
                context.progress.begin("renumbering", 0, "edges");
                let parts = permute::permute(&csr, &new_of_old);
                context.progress.begin("measuring the new order", 0, "edges");
                let after = standing_of(&parts, &devices);
                csr::write(outputs, parts)?;
                (after, new_of_old)
            }
        };
        let (method, why, weighed) = (choice.method, choice.why, choice.weighed);
        let quality = Quality { method, why, weighed, aes_rule, communities: choice.communities, cut: choice.cut, before, after };
        outputs.fact(Kind::Permutation, known::FACT, digest);
        permutation::write(outputs, new_of_old, &quality)
    }

    /// Follows every edge id from the new csr to the old one through the permutation.
    fn check(_context: &Context, outputs: &Inputs, inputs: &Inputs, _request: &ReorderRequest) -> Result<(), Violation> {
        let old = Csr::open(inputs.get(Kind::Csr)?)?;
        let new = Csr::open(outputs.get(Kind::Csr)?)?;
        let new_of_old = permutation::open(outputs.get(Kind::Permutation)?)?;
        prove::same_edges(&old, &new, &new_of_old)
    }
}

/// The order stays, so the files stay: no byte of the csr is copied where links can be made.
fn keep(outputs: &mut Outputs, artifact: &Artifact, csr: &Csr) -> Result<(), StageError> {
    for name in csr::FILES.iter().filter(|name| artifact.has(name)) {
        outputs.share(Kind::Csr, name, &artifact.file(name))?;
    }
    outputs.count(Kind::Csr, "nodes", csr.nodes() as u64);
    outputs.count(Kind::Csr, "edges", csr.edges() as u64);
    Ok(())
}

/// Devices that figures are predicted for: those that come with the program, and what is planned for.
fn devices(request: &ReorderRequest) -> Vec<Facts> {
    let mut devices = warploom_device::shipped();
    if devices.iter().all(|device| device.name != request.device.name) {
        devices.push(request.device.clone());
    }
    devices
}

fn standing_of(parts: &CsrParts, devices: &[Facts]) -> Standing {
    worth::standing(parts.incoming.rows(), parts.outgoing.rows(), parts.types.is_some(), devices)
}

/// Mean distance over all edges that are no self loops.
fn aes_without_loops(csr: &Csr) -> f64 {
    let (sum, edges) = order::distances(csr.incoming.rows());
    if edges == 0 { 0.0 } else { sum as f64 / edges as f64 }
}
