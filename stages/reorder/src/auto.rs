//! auto: decides which order pays off, by GNNAdvisor's rule (section 3.3.1), then by predicted
//! bytes and the cost of the order.
//!
//! A walk over all edges fetches the rows that miss the device's cache; `cache` predicts how many
//! under each order. The time saved in a walk, times the walks of all runs that share the order, is
//! compared with the seconds that computing the order takes.
//!
//! promises  a decision that depends only on the graph without its self loops, the device's facts,
//!           the width, and the walks; with all numbers in the reason
//! never     tries an order that could not pay off even if it fetched each row once
use warploom_contract::{
    StageError,
    kinds::csr::Csr,
    progress::{Phase, Progress},
};
use warploom_shell::requests::ReorderRequest;
use warploom_spec::{Method, ReorderSpec};

use crate::{
    cache::{MissCurve, Walk},
    methods::{self, Order},
    order_quality::CacheBlock,
};

/// Candidate orders, the cheapest first, each with the nanoseconds per edge to find and apply it
/// with two threads.
const CANDIDATES: [(Method, f64); 3] =
    [(Method::Degree, 80.0), (Method::HubCluster, 80.0), (Method::Rabbit, 180.0)];

/// Benefit and cost of an order, in seconds.
struct CostModel<'a> {
    request: &'a ReorderRequest,
    block: CacheBlock<'a>,
    /// Number of walks of all runs.
    walks: f64,
    /// Bytes of rows per second on a cache miss, and on a hit.
    far: f64,
    near: f64,
    edges: f64,
}

impl<'a> CostModel<'a> {
    fn new(request: &'a ReorderRequest, nodes: u64, edges: u64) -> Self {
        let columns = request.spec.columns;
        let row = 4 * columns;
        let rate = |table: u64| request.device.gathered_per_second(row, table);
        CostModel {
            request,
            block: CacheBlock::new(&request.device, columns),
            walks: (request.walks * request.spec.runs) as f64,
            far: rate(row * nodes),
            near: rate(request.device.cache.bytes / 2),
            edges: edges as f64,
        }
    }

    /// Seconds that all walks save if each fetches `bytes` less.
    fn seconds_saved(&self, bytes: f64) -> f64 {
        self.walks * bytes * (1.0 / self.far - 1.0 / self.near).max(0.0)
    }

    fn cost(&self, nanoseconds: f64) -> f64 {
        nanoseconds * 1e-9 * self.edges
    }

    fn describe_walks(&self) -> String {
        format!(
            "over {} walks ({} of a run, {} runs) at {} columns on {}, whose cache holds {}",
            self.walks,
            self.request.walks,
            self.request.spec.runs,
            self.request.spec.columns,
            self.request.device.name,
            warploom_shell::machine_limits::show_size(self.request.device.cache.bytes)
        )
    }
}

/// The decision and its reason.
pub struct Decision {
    /// The order, if one pays off.
    pub taken: Option<(Method, Order)>,
    /// Why, in a sentence.
    pub why: String,
    /// All figures that were compared.
    pub weighed: String,
}

/// Decides which order pays off, if any.
pub fn decide(
    progress: &dyn Progress,
    request: &ReorderRequest,
    csr: &Csr,
) -> Result<Decision, StageError> {
    let weighing = Phase::begin(progress, "weighing orders", CANDIDATES.len() as u64 + 1, "orders");
    let as_it_stands = new_walk(csr, None);
    let (nodes, edges) = as_it_stands.size();
    let scales = CostModel::new(request, nodes, edges);
    let curve = MissCurve::from_walk(&as_it_stands, scales.block.rows);
    let before = scales.block.fetched_bytes(&curve);
    let least = curve.distinct() as f64 * scales.block.bytes as f64;
    let at_most = scales.seconds_saved(before - least);
    let megabytes = |bytes: f64| format!("{:.2} MB", bytes / 1e6);
    let (mut told, mut tried) = (Vec::<String>::new(), Vec::<Candidate>::new());
    let mut best: Option<(f64, Method, Order)> = None;
    for (method, nanoseconds) in CANDIDATES {
        weighing.add(1);
        progress.note(method.name());
        let cost = scales.cost(nanoseconds);
        if at_most <= cost {
            told.push(format!("{} would cost {cost:.3} s", method.name()));
            continue;
        }
        let order = methods::run(&ReorderSpec { method, ..request.spec.clone() }, csr, &|_| {})?;
        let fetched = scales.block.fetched_bytes(&MissCurve::from_walk(
            &new_walk(csr, Some(&order.new_of_old)),
            scales.block.rows,
        ));
        let saved = scales.seconds_saved(before - fetched);
        told.push(format!(
            "{} fetches {}, which saves {saved:.3} s for {cost:.3} s",
            method.name(),
            megabytes(fetched)
        ));
        tried.push(Candidate { method, saved, cost });
        let gain = saved - cost;
        if gain > best.as_ref().map_or(0.0, |(best, ..)| *best) {
            best = Some((gain, method, order));
        }
    }
    let outset = format!(
        "a walk fetches {} of rows and no order less than {}, worth {at_most:.3} s {}",
        megabytes(before),
        megabytes(least),
        scales.describe_walks()
    );
    let taken = best.map(|(_, method, order)| (method, order));
    let why = decision_reason(
        taken.as_ref().map(|(method, _)| *method),
        &tried,
        at_most,
        request.spec.runs,
    );
    Ok(Decision { why, weighed: format!("{outset}; {}", told.join("; ")), taken })
}

/// A candidate order, with the seconds that it saves and those that it takes.
struct Candidate {
    method: Method,
    saved: f64,
    cost: f64,
}

/// The reason for the method, or for none, in a sentence.
fn decision_reason(taken: Option<Method>, tried: &[Candidate], at_most: f64, runs: u64) -> String {
    let over = if runs == 1 { "over 1 run".to_owned() } else { format!("over {runs} runs") };
    let other =
        |tried: &Candidate| format!("{}: {}", tried.method.name(), format_seconds(tried.saved));
    match tried.iter().find(|tried| Some(tried.method) == taken) {
        Some(of) => {
            let others: Vec<String> =
                tried.iter().filter(|tried| tried.method != of.method).map(other).collect();
            let others =
                if others.is_empty() { String::new() } else { format!(" ({})", others.join("; ")) };
            format!(
                "saves an estimated {} {over} for {}{others}",
                format_seconds(of.saved),
                format_seconds(of.cost)
            )
        }
        None if tried.is_empty() => format!(
            "a perfect order would save {} {over}, less than any takes to find",
            format_seconds(at_most)
        ),
        None => {
            let all: Vec<String> = tried
                .iter()
                .map(|tried| format!("{} for {}", other(tried), format_seconds(tried.cost)))
                .collect();
            format!("no order saves more than it takes, {over} ({})", all.join("; "))
        }
    }
}

/// Seconds with two digits.
fn format_seconds(value: f64) -> String {
    match value.abs() {
        v if v >= 10.0 => format!("{value:.0} s"),
        v if v >= 0.095 => format!("{value:.1} s"),
        v if v >= 0.0005 => format!("{:.0} ms", value * 1e3),
        _ => "0 s".to_owned(),
    }
}

fn new_walk<'a>(csr: &'a Csr, new_of_old: Option<&'a [u32]>) -> Walk<'a> {
    Walk::new(csr.incoming.rows(), csr.outgoing.rows(), new_of_old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_sentence_with_the_seconds_that_decided() {
        let of = |method, saved, cost| Candidate { method, saved, cost };
        let tried = [
            of(Method::Degree, -1.2, 0.4),
            of(Method::HubCluster, 0.96, 0.4),
            of(Method::Rabbit, 173.2, 0.878),
        ];
        assert_eq!(
            decision_reason(Some(Method::Rabbit), &tried, 200.0, 10),
            "saves an estimated 173 s over 10 runs for 0.9 s (degree: -1.2 s; hub-cluster: 1.0 s)"
        );
        assert_eq!(
            decision_reason(None, &[], 0.0002, 1),
            "a perfect order would save 0 s over 1 run, less than any takes to find"
        );
        let wanted = "no order saves more than it takes, over 10 runs (degree: -1.2 s for 0.4 s; \
                      hub-cluster: 1.0 s for 0.4 s)";
        assert_eq!(decision_reason(None, &tried[..2], 2.0, 10), wanted);
    }
}
