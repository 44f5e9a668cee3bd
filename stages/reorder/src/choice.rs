//! choice: which method is run.
//!
//! promises  a method that was asked for is run; `auto` runs one only where figures say that it pays, and tells them; an order never
//!           mixes the graphs of a set
use warploom_contract::{
    StageError,
    kinds::{csr::Csr, permutation::Cut, profile::CommunityFigures},
    order::AesRule,
    stage::Progress,
};
use warploom_shell::requests::ReorderRequest;
use warploom_spec::Method;

use crate::{
    auto,
    methods::{self, Order},
};

/// An order, and why it was taken.
pub struct Choice {
    /// Method that was run.
    pub method: String,
    /// Why that one.
    pub why: String,
    /// All that `auto` weighed.
    pub weighed: Option<String>,
    /// `None`: the order stays.
    pub new_of_old: Option<Vec<u32>>,
    /// Communities that the method found beside the order.
    pub communities: Option<CommunityFigures>,
    /// Parts that it cut the graph into.
    pub cut: Option<Cut>,
}

impl Choice {
    fn stays(why: String) -> Self {
        Choice { method: Method::None.name().to_owned(), why, weighed: None, new_of_old: None, communities: None, cut: None }
    }

    fn takes(method: Method, order: Order, why: String) -> Self {
        Choice { method: method.name().to_owned(), why, weighed: None, new_of_old: Some(order.new_of_old), communities: order.communities, cut: order.cut }
    }
}

/// Runs what was asked for, or what pays.
pub fn choose(progress: &dyn Progress, request: &ReorderRequest, csr: &Csr, rule: AesRule) -> Result<Choice, StageError> {
    let asked = "asked for".to_owned();
    match request.spec.method {
        Method::None => Ok(Choice::stays(asked)),
        Method::Auto => {
            let verdict = format!("sqrt(AES) {:.1} {} floor(sqrt(nodes) / 100) {}", rule.left, if rule.worth_it { ">" } else { "<=" }, rule.right);
            if !rule.worth_it {
                return Ok(Choice { weighed: Some(verdict), ..Choice::stays("neighbours are close already".to_owned()) });
            }
            let decision = auto::decide(progress, request, csr)?;
            let choice = match decision.taken {
                Some((method, order)) => Choice::takes(method, order, decision.why),
                None => Choice::stays(decision.why),
            };
            Ok(Choice { weighed: Some(format!("{verdict}; {}", decision.weighed)), ..choice })
        }
        method => {
            progress.begin(&format!("looking for an order: {}", method.name()), 0, "edges");
            methods::run(&request.spec, csr).map(|order| Choice::takes(method, order, asked))
        }
    }
}
