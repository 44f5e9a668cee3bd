//! choice: which method is run, and what it was worth.
//!
//! promises  a method that was asked for is run; `auto` runs one only where figures say that it helps, and tells them
use warploom_contract::{
    communities,
    kinds::{csr::Csr, permutation::inverse, profile::CommunityFigures},
    order::{self, AesRule, OrderFigures},
};
use warploom_spec::{Degree, Method, ReorderSpec};

use crate::{
    methods::{approximate_degree, breadth, degree, hubs, rabbit, random, rcm},
    undirected::Undirected,
};

/// An order, and why it was taken.
pub struct Choice {
    /// Method that was run.
    pub method: &'static str,
    /// Why that one.
    pub why: String,
    /// `None`: the order stays.
    pub new_of_old: Option<Vec<u32>>,
    /// What the new order is worth.
    pub after: OrderFigures,
    /// What the method found beside the order.
    pub communities: Option<CommunityFigures>,
}

/// Runs what was asked for, or what helps.
pub fn choose(request: &ReorderSpec, csr: &Csr, before: &OrderFigures, rule: AesRule) -> Choice {
    let stays = |why: String| Choice { method: "none", why, new_of_old: None, after: before.clone(), communities: None };
    let verdict = format!("sqrt(AES) {:.1} {} floor(sqrt(nodes) / 100) {}", rule.left, if rule.worth_it { ">" } else { "<=" }, rule.right);
    match request.method {
        Method::None => stays("asked for".to_owned()),
        Method::Auto if !rule.worth_it => stays(format!("{verdict}: neighbours are close already")),
        Method::Auto => {
            let mut tried = run(&ReorderSpec { method: Method::Degree, ..request.clone() }, csr);
            let lines = format!("{:.2} -> {:.2} lines per 32 edges", before.lines_per_32_edges, tried.after.lines_per_32_edges);
            if tried.after.lines_per_32_edges < before.lines_per_32_edges {
                tried.why = format!("{verdict}, and by degree it is {lines}");
                return tried;
            }
            stays(format!("{verdict}, but the one method tried, degree, would not help: {lines}"))
        }
        _ => run(request, csr),
    }
}

fn run(request: &ReorderSpec, csr: &Csr) -> Choice {
    let degrees = || degrees(request.degree, csr);
    let undirected = || Undirected::of(csr);
    let mut found_communities = None;
    let old_of_new = match request.method {
        Method::Auto | Method::None => unreachable!("`choose` runs methods that make an order"),
        Method::Random => random::order(csr.nodes(), request.seed),
        Method::Degree => degree::order(&degrees(), request.ascending),
        Method::ApproximateDegree => approximate_degree::order(&degrees(), request.buckets, request.ascending),
        Method::HubSort => hubs::order(&degrees(), true),
        Method::HubCluster => hubs::order(&degrees(), false),
        Method::Breadth => breadth::order(&undirected()),
        Method::Rcm => rcm::order(&undirected()),
        Method::Rabbit => {
            let found = rabbit::order(&undirected());
            found_communities = Some(communities::figures(&found.community, csr.incoming.rows(), csr.outgoing.rows()));
            found.old_of_new
        }
    };
    let new_of_old = inverse(&old_of_new);
    let after = order::measure(csr.incoming.rows(), Some(&new_of_old));
    Choice { method: request.method.name(), why: "asked for".to_owned(), new_of_old: Some(new_of_old), after, communities: found_communities }
}

fn degrees(of: Degree, csr: &Csr) -> Vec<u64> {
    let (incoming, outgoing) = (csr.incoming.rows().degrees(), csr.outgoing.rows().degrees());
    match of {
        Degree::In => incoming.collect(),
        Degree::Out => outgoing.collect(),
        Degree::Both => incoming.zip(outgoing).map(|(into, out)| into + out).collect(),
    }
}
