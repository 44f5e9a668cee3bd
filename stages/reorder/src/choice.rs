//! choice: which reorder method runs.
//!
//! promises  a requested method runs; `auto` runs one only where figures show that it pays off, and
//!           states them; an order never mixes the graphs of a set
use warploom_contract::{
    StageError,
    kinds::{csr::Csr, permutation::Cut, profile::CommunityFigures},
    progress::Progress,
    row_order::AesRule,
};
use warploom_shell::{
    order_choice_cache::{FoundOrder, OrderChoice},
    requests::ReorderRequest,
};
use warploom_spec::{Method, ReorderSpec};

use crate::{
    auto,
    methods::{self, Order},
};

/// The order of the run, with its method.
pub struct Choice {
    /// Method that was run.
    pub method: String,
    /// New number of each node; `None`: the order stays.
    pub new_of_old: Option<Vec<u32>>,
    /// Communities that the method found with the order.
    pub communities: Option<CommunityFigures>,
    /// The partition of METIS.
    pub cut: Option<Cut>,
}

impl Choice {
    fn unchanged() -> Self {
        Choice {
            method: Method::None.name().to_owned(),
            new_of_old: None,
            communities: None,
            cut: None,
        }
    }

    /// An order that was given.
    pub fn from_order(method: Method, order: Order) -> Self {
        Choice {
            method: method.name().to_owned(),
            new_of_old: Some(order.new_of_old),
            communities: order.communities,
            cut: order.cut,
        }
    }
}

/// Decides for `auto` which order pays off.
pub fn weigh_orders(
    progress: &dyn Progress,
    request: &ReorderRequest,
    csr: &Csr,
    rule: AesRule,
) -> Result<OrderChoice, StageError> {
    let verdict = format!(
        "sqrt(AES) {:.1} {} floor(sqrt(nodes) / 100) {}",
        rule.left,
        if rule.worth_it { ">" } else { "<=" },
        rule.right
    );
    if !rule.worth_it {
        return Ok(OrderChoice {
            method: Method::None,
            why: "neighbours are close already".to_owned(),
            weighed: verdict,
            order: None,
        });
    }
    let decision = auto::decide(progress, request, csr)?;
    let (why, weighed) = (decision.why, format!("{verdict}; {}", decision.weighed));
    Ok(match decision.taken {
        Some((method, order)) => {
            let order = FoundOrder { new_of_old: order.new_of_old, communities: order.communities };
            OrderChoice { method, why, weighed, order: Some(order) }
        }
        None => OrderChoice { method: Method::None, why, weighed, order: None },
    })
}

/// Why this method runs.
pub fn choice_reason(request: &ReorderRequest) -> String {
    request.chosen.as_ref().map_or_else(|| "asked for".to_owned(), |chosen| chosen.why.clone())
}

/// Runs the requested or chosen method.
pub fn run_choice(
    progress: &dyn Progress,
    request: &ReorderRequest,
    csr: &Csr,
) -> Result<Choice, StageError> {
    let method = request.method();
    if method == Method::None {
        return Ok(Choice::unchanged());
    }
    let order = match request.chosen.as_ref().and_then(|chosen| chosen.order.clone()) {
        Some(FoundOrder { new_of_old, communities }) => {
            Order { new_of_old, communities, cut: None }
        }
        None => {
            progress.begin(&format!("looking for an order: {}", method.name()), 0, "nodes");
            methods::run(&ReorderSpec { method, ..request.spec.clone() }, csr, &|nodes| {
                progress.advance(nodes)
            })?
        }
    };
    Ok(Choice::from_order(method, order))
}
