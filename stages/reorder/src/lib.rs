//! reorder: the stage that renumbers nodes so that neighbours are close in memory.
//!
//! reads     csr, in any order; the graph where ids say the order or a program is given it
//! writes    permutation (new_of_old), csr
//! promises  the same multiset of edges, with weights, types and edge ids
//! never     drops or merges an edge; reads features or labels itself; lets self loops or weights
//!           change an order; mixes the graphs of a set
//! limits    nodes < 2^32 - 1; memory as `memory_estimate` says
mod auto;
pub mod cache;
pub mod check;
mod choice;
mod given_order;
mod memory_estimate;
pub mod methods;
pub mod order_quality;
mod per_graph;
pub mod permute;
pub mod program;
mod reuse;
pub mod undirected_neighbours;

use warploom_contract::{
    Artifact, Context, Contract, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{
        csr::{self, Csr, Rows},
        permutation::{self, Moved, Quality, Standing},
    },
    progress::{Phase, Progress},
    row_order,
};
use warploom_device::Facts;
use warploom_shell::{
    StageName, external_program, order_choice_cache,
    requests::{ReorderRequest, Request},
};
use warploom_spec::Method;

/// The description in the help of its binary.
pub const ABOUT: &str = "Renumber nodes so that neighbours are close in memory";

/// To be called first by every program with this stage: does not return if this process is a child
/// that the stage started.
pub fn serve_if_child() {
    methods::metis::child::serve_if_child();
    external_program::serve_if_child();
}

/// The stage.
pub struct Reorder;

impl Stage for Reorder {
    type Request = ReorderRequest;
    const CONTRACT: Contract = StageName::Reorder.contract();

    /// The choice of `auto` is stored apart from the order: runs with different figures and the
    /// same choice share the order.
    fn decide(
        context: &Context,
        inputs: &Inputs,
        request: &mut ReorderRequest,
    ) -> Result<(), StageError> {
        let csr = Csr::open(inputs.get(Kind::Csr)?)?;
        memory_estimate::refuse_too_large(&csr, Method::Auto, context.memory)?;
        let looking = Phase::begin(
            context.progress,
            "looking whether the choice is known",
            csr.nodes() as u64,
            "nodes",
        )
        .passes(reuse::PASSES);
        let digest = reuse::digest(&csr, request.auto_inputs(), &|nodes| looking.add(nodes));
        drop(looking);
        let chosen = match order_choice_cache::find_equivalent(context.store, &digest) {
            Some(chosen) => chosen,
            None => choice::weigh_orders(
                context.progress,
                request,
                &csr,
                row_order::aes_rule(aes_without_loops(&csr), csr.nodes()),
            )?,
        };
        order_choice_cache::store_choice(
            context.store,
            inputs,
            request.auto_inputs(),
            &chosen,
            &digest,
        )?;
        request.chosen = Some(chosen);
        Ok(())
    }

    fn run(
        context: &Context,
        outputs: &mut Outputs,
        inputs: &Inputs,
        request: &ReorderRequest,
    ) -> Result<(), StageError> {
        let artifact = inputs.get(Kind::Csr)?;
        let csr = Csr::open(artifact)?;
        memory_estimate::refuse_too_large(&csr, request.method(), context.memory)?;
        let aes_rule = row_order::aes_rule(aes_without_loops(&csr), csr.nodes());
        let digest = digest_for_reuse(context, request, &csr);
        let choice = match request.method() {
            Method::File | Method::Program => {
                given_order::read_choice(context, outputs, inputs, request, &csr)?
            }
            _ => match reuse::find_order(context.store, &outputs.key(), &digest, csr.nodes()) {
                Some(choice) => choice,
                None => choice::run_choice(context.progress, request, &csr)?,
            },
        };
        let devices = predicted_devices(request);
        let before = measure_order(
            "measuring the order",
            csr.incoming.rows(),
            csr.outgoing.rows(),
            csr.types.is_some(),
            &devices,
            context.progress,
        );
        let (after, new_of_old) = match choice.new_of_old {
            None => {
                link_unchanged_csr(outputs, artifact, &csr)?;
                (before.clone(), (0..csr.nodes() as u32).collect())
            }
            Some(new_of_old) => {
                let parts = permute::permute_with_progress(&csr, &new_of_old, context.progress);
                let after = measure_order(
                    "measuring the new order",
                    parts.incoming.rows(),
                    parts.outgoing.rows(),
                    parts.types.is_some(),
                    &devices,
                    context.progress,
                );
                csr::write(outputs, parts, context.progress)?;
                (after, new_of_old)
            }
        };
        if let Some(bytes) = least_moved(&after) {
            outputs.count(Kind::Permutation, permutation::WALK_BYTES, bytes);
        }
        let quality = Quality {
            method: choice.method,
            why: choice::choice_reason(request),
            weighed: request.chosen.as_ref().map(|chosen| chosen.weighed.clone()),
            aes_rule,
            communities: choice.communities,
            cut: choice.cut,
            before,
            after,
        };
        outputs.fact(Kind::Permutation, reuse::FACT, digest);
        permutation::write(outputs, new_of_old, &quality)
    }

    /// Looks up every edge id of the new csr in the old one through the permutation; compares this
    /// with the user's table, where one says the order.
    fn check(
        _context: &Context,
        outputs: &Inputs,
        inputs: &Inputs,
        request: &ReorderRequest,
    ) -> Result<(), Violation> {
        let old = Csr::open(inputs.get(Kind::Csr)?)?;
        let new = Csr::open(outputs.get(Kind::Csr)?)?;
        let new_of_old = permutation::open(outputs.get(Kind::Permutation)?)?;
        check::same_edges(&old, &new, &new_of_old)?;
        match request.method() {
            Method::File => given_order::check_file(inputs, request, &old, &new_of_old),
            _ => Ok(()),
        }
    }
}

/// Digest of all that an order depends on, but ids and programs.
fn digest_for_reuse(context: &Context, request: &ReorderRequest, csr: &Csr) -> String {
    let (nodes, what) = (csr.nodes() as u64, "looking whether the order is known");
    let looking = Phase::begin(context.progress, what, nodes, "nodes").passes(reuse::PASSES);
    reuse::digest(csr, request.document(), &|nodes| looking.add(nodes))
}

/// Links the csr files where the order stays: no byte is copied if the file system has hard links.
fn link_unchanged_csr(
    outputs: &mut Outputs,
    artifact: &Artifact,
    csr: &Csr,
) -> Result<(), StageError> {
    for name in csr::files().filter(|name| artifact.has(name)) {
        outputs.share(Kind::Csr, name, &artifact.file(name))?;
    }
    csr::record_counts(outputs, csr.nodes() as u64, csr.edges() as u64, csr.types.is_some());
    Ok(())
}

/// The devices of predicted figures: the shipped ones, and the target of the plan.
fn predicted_devices(request: &ReorderRequest) -> Vec<Facts> {
    let mut devices = warploom_device::shipped();
    if devices.iter().all(|device| device.name != request.device.name) {
        devices.push(request.device.clone());
    }
    devices
}

/// The least bytes that a walk moves on any shipped device; figures of these are in every store.
fn least_moved(standing: &Standing) -> Option<u64> {
    let shipped = warploom_device::shipped();
    let is_known = |moved: &&Moved| {
        moved.columns == permutation::WALK_COLUMNS
            && shipped.iter().any(|device| device.name == moved.device)
    };
    standing.predicted.iter().filter(is_known).map(|moved| moved.memory_bytes).min()
}

/// Measures the figures of an order; reports each.
fn measure_order(
    what: &str,
    incoming: Rows<'_>,
    outgoing: Rows<'_>,
    typed: bool,
    devices: &[Facts],
    progress: &dyn Progress,
) -> Standing {
    let measuring = Phase::begin(progress, what, order_quality::figure_count(devices), "figures");
    order_quality::measure_standing(incoming, outgoing, typed, devices, &|count| {
        measuring.add(count)
    })
}

/// Mean edge span (AES) without self loops.
fn aes_without_loops(csr: &Csr) -> f64 {
    let (sum, edges) = row_order::distances(csr.incoming.rows());
    if edges == 0 { 0.0 } else { sum as f64 / edges as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figure is in plan's key, and the facts that it follows from are in no key of an order:
    /// the stage's version stands for them.
    #[test]
    fn other_caches_of_shipped_devices_are_another_version_of_the_stage() {
        let caches: Vec<_> = warploom_device::shipped()
            .into_iter()
            .map(|device| (device.name, device.cache.bytes, device.cache.line_bytes))
            .collect();
        let expected = [("cpu".to_owned(), 2 << 20, 64), ("h200".to_owned(), 60_000_000, 128)];
        assert_eq!(
            (Reorder::CONTRACT.version, &caches[..]),
            (4, &expected[..]),
            "raise the version with them, and change this test"
        );
    }
}
