//! reorder: renumber nodes so that neighbours lie close in memory.
//!
//! reads   csr, any order                     keeps   the multiset of edges with weights, types and edge ids
//! writes  permutation (new_of_old), csr      bounds  nodes < 2^32 - 1; memory 24 bytes an edge and 8 a node beyond the mapped input
//! never   drops or merges an edge; reads features or labels
pub mod methods;
pub mod permute;
pub mod prove;

use warploom_contract::{
    Context, Contract, Inputs, Kind, Outputs, Stage, StageError, Violation,
    kinds::{
        csr::{self, Csr},
        permutation::{self, Quality},
    },
    order::{self, AesRule, OrderFigures},
};
use warploom_shell::contracts;
use warploom_spec::{Method, ReorderSpec};

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
        let choice = choose(request.method, &csr, &before, rule);
        let quality = Quality { method: choice.method.to_owned(), why: choice.why, aes_rule: rule, before, after: choice.after };
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

struct Choice {
    method: &'static str,
    why: String,
    /// `None`: the order stays.
    new_of_old: Option<Vec<u32>>,
    after: OrderFigures,
}

fn choose(method: Method, csr: &Csr, before: &OrderFigures, rule: AesRule) -> Choice {
    let stays = |why: String| Choice { method: "none", why, new_of_old: None, after: before.clone() };
    let degree = |why: &dyn Fn(&OrderFigures) -> String| {
        let new_of_old = methods::degree::order(csr);
        let after = order::measure(csr.incoming.rows(), Some(&new_of_old));
        Choice { method: "degree", why: why(&after), new_of_old: Some(new_of_old), after }
    };
    let verdict = format!("sqrt(AES) {:.1} {} floor(sqrt(nodes) / 100) {}", rule.left, if rule.worth_it { ">" } else { "<=" }, rule.right);
    match method {
        Method::None => stays("asked for".into()),
        Method::Degree => degree(&|_| "asked for".into()),
        Method::Auto if !rule.worth_it => stays(format!("{verdict}: neighbours are close already")),
        Method::Auto => {
            let lines = |after: &OrderFigures| format!("{:.2} -> {:.2} lines per 32 edges", before.lines_per_32_edges, after.lines_per_32_edges);
            let tried = degree(&|after| format!("{verdict}, and by degree it is {}", lines(after)));
            if tried.after.lines_per_32_edges < before.lines_per_32_edges {
                return tried;
            }
            stays(format!("{verdict}, but the one method tried, degree, would not help: {}", lines(&tried.after)))
        }
    }
}
