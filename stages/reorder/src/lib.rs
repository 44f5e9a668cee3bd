//! reorder: renumber nodes so that neighbours lie close in memory.
//!
//! reads   csr, any order                     keeps   the multiset of edges with weights, types and edge ids
//! writes  permutation (new_of_old), csr      bounds  nodes < 2^32 - 1; memory 24 bytes an edge and 36 a node beyond the mapped input
//! never   drops or merges an edge; reads features or labels
mod choice;
pub mod methods;
pub mod permute;
pub mod prove;
pub mod undirected;

use warploom_contract::{
    Context, Contract, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{
        csr::{self, Csr},
        permutation::{self, Quality},
    },
    order,
};
use warploom_shell::contracts;
use warploom_spec::ReorderSpec;

/// The stage.
pub struct Reorder;

impl Stage for Reorder {
    type Request = ReorderSpec;
    const CONTRACT: Contract = contracts::REORDER;

    fn run(context: &Context, outputs: &mut Outputs, inputs: &Inputs, request: &ReorderSpec) -> Result<(), StageError> {
        let artifact = inputs.get(Kind::Csr)?;
        let csr = Csr::open(artifact)?;
        context.progress.begin("measuring the order", csr.edges() as u64, "edges");
        let before = order::measure(csr.incoming.rows(), None);
        let rule = order::aes_rule(before.aes, csr.nodes());
        let choice = choice::choose(request, &csr, &before, rule);
        let quality =
            Quality { method: choice.method.to_owned(), why: choice.why, aes_rule: rule, communities: choice.communities, before, after: choice.after };
        match choice.new_of_old {
            None => {
                // The order stays, so the files stay: no byte of the csr is copied where links can be made.
                for name in csr::FILES.iter().filter(|name| artifact.has(name)) {
                    outputs.share(Kind::Csr, name, &artifact.file(name))?;
                }
                outputs.count(Kind::Csr, "nodes", csr.nodes() as u64);
                outputs.count(Kind::Csr, "edges", csr.edges() as u64);
                permutation::write(outputs, (0..csr.nodes() as u32).collect(), &quality)
            }
            Some(new_of_old) => {
                csr::write(outputs, permute::permute(&csr, &new_of_old))?;
                permutation::write(outputs, new_of_old, &quality)
            }
        }
    }

    /// Follows every edge id from the new csr to the old one through the permutation.
    fn check(_context: &Context, outputs: &Inputs, inputs: &Inputs, _request: &ReorderSpec) -> Result<(), Violation> {
        let old = Csr::open(inputs.get(Kind::Csr)?)?;
        let new = Csr::open(outputs.get(Kind::Csr)?)?;
        let new_of_old = permutation::open(outputs.get(Kind::Permutation)?)?;
        prove::same_edges(&old, &new, &new_of_old)
    }
}
