//! choice: which method is run.
//!
//! promises  a method that was asked for is run; `auto` runs one only where figures say that it
//!           pays, and tells them; an order never mixes the graphs of a set
use warploom_contract::{
    StageError,
    kinds::{csr::Csr, permutation::Cut, profile::CommunityFigures},
    progress::Progress,
    row_order::AesRule,
};
use warploom_shell::{
    order_choice_cache::{Chosen, FoundOrder},
    requests::ReorderRequest,
};
use warploom_spec::{Method, ReorderSpec};

use crate::{
    auto,
    methods::{self, Order},
};

/// An order that was taken.
pub struct Choice {
    /// Method that was run.
    pub method: String,
    /// `None`: the order stays.
    pub new_of_old: Option<Vec<u32>>,
    /// Communities that the method found beside the order.
    pub communities: Option<CommunityFigures>,
    /// Parts that it cut the graph into.
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

    fn from_order(method: Method, order: Order) -> Self {
        Choice {
            method: method.name().to_owned(),
            new_of_old: Some(order.new_of_old),
            communities: order.communities,
            cut: order.cut,
        }
    }
}

/// Which order pays, for `auto`.
pub fn weigh_orders(
    progress: &dyn Progress,
    request: &ReorderRequest,
    csr: &Csr,
    rule: AesRule,
) -> Result<Chosen, StageError> {
    let verdict = format!(
        "sqrt(AES) {:.1} {} floor(sqrt(nodes) / 100) {}",
        rule.left,
        if rule.worth_it { ">" } else { "<=" },
        rule.right
    );
    if !rule.worth_it {
        return Ok(Chosen {
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
            Chosen { method, why, weighed, order: Some(order) }
        }
        None => Chosen { method: Method::None, why, weighed, order: None },
    })
}

/// Why the method is run that is.
pub fn choice_reason(request: &ReorderRequest) -> String {
    request.chosen.as_ref().map_or_else(|| "asked for".to_owned(), |chosen| chosen.why.clone())
}

/// Runs what was asked for, or chosen.
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
