//! check: the check of extract: every slot is looked up in the edge table by its edge id, and every
//! id occurs once.
use std::collections::BTreeMap;

use warploom_contract::{
    Violation,
    kinds::{
        csr::{Csr, Direction},
        graph::{EdgeTable, Labels},
        profile::{LabelFigures, Profile},
    },
};

/// Checks that both directions hold exactly the edges of the table.
pub fn csr_holds_edges(nodes: u64, csr: &Csr, table: &EdgeTable) -> Result<(), Violation> {
    if csr.nodes() as u64 != nodes || csr.edges() != table.source.len() {
        let what = format!(
            "expected {nodes} nodes and {} edges, found {} and {}",
            table.source.len(),
            csr.nodes(),
            csr.edges()
        );
        return Err(Violation::new(what));
    }
    check_direction("in", &csr.incoming, &table.target, &table.source)?;
    check_direction("out", &csr.outgoing, &table.source, &table.target)?;
    for (slot, &edge) in csr.incoming.edges.iter().enumerate() {
        let weight = (
            csr.weights.as_ref().map(|weights| weights[slot].to_bits()),
            table.weight.as_ref().map(|weight| weight[edge as usize].to_bits()),
        );
        let kind = (
            csr.types.as_ref().map(|types| types[slot]),
            table.kind.as_ref().map(|kind| kind[edge as usize]),
        );
        if weight.0 != weight.1 || kind.0 != kind.1 {
            return Err(Violation::new(format!(
                "in-slot {slot}: weight or type is not that of edge {edge}"
            )));
        }
    }
    Ok(())
}

fn check_direction(
    side: &str,
    direction: &Direction,
    keys: &[u32],
    others: &[u32],
) -> Result<(), Violation> {
    let mut seen = vec![false; keys.len()];
    for row in 0..direction.offsets.len() - 1 {
        for slot in direction.offsets[row] as usize..direction.offsets[row + 1] as usize {
            let edge = direction.edges[slot] as usize;
            let expected = (keys.get(edge).copied(), others.get(edge).copied());
            let found = (Some(row as u32), Some(direction.neighbours[slot]));
            if expected != found {
                return Err(Violation::new(format!(
                    "{side}-slot {slot}, edge {edge}: expected ends {expected:?}, found {found:?}"
                )));
            }
            if std::mem::replace(&mut seen[edge], true) {
                return Err(Violation::new(format!(
                    "{side}-slot {slot}: edge {edge} occurs twice"
                )));
            }
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(edge) => Err(Violation::new(format!("edge {edge} has no {side}-slot"))),
        None => Ok(()),
    }
}

/// Compares the counts of the profile with a recount from the edge table with sets.
pub fn profile_counts(nodes: u64, profile: &Profile, table: &EdgeTable) -> Result<(), Violation> {
    let pairs = || table.source.iter().copied().zip(table.target.iter().copied());
    let (mut in_degrees, mut out_degrees) =
        (vec![0u64; nodes as usize], vec![0u64; nodes as usize]);
    let (mut span_sum, mut bandwidth) = (0u128, 0);
    for (source, target) in pairs() {
        out_degrees[source as usize] += 1;
        in_degrees[target as usize] += 1;
        let span = u64::from(source.abs_diff(target));
        (span_sum, bandwidth) = (span_sum + u128::from(span), bandwidth.max(span));
    }
    let mut distinct: Vec<(u32, u32)> = pairs().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let vectors = |rows: u32| {
        let mut windows: Vec<(u32, u32)> =
            distinct.iter().map(|&(source, target)| (target / rows, source)).collect();
        windows.sort_unstable();
        windows.dedup();
        windows.len() as u64
    };
    let most = |degrees: &[u64]| degrees.iter().copied().max().unwrap_or(0);
    compare_counts(&[
        ("nodes", nodes, profile.nodes),
        ("edges", table.source.len() as u64, profile.edges),
        (
            "isolated",
            in_degrees.iter().zip(&out_degrees).filter(|&(a, b)| a + b == 0).count() as u64,
            profile.isolated,
        ),
        (
            "self_loops",
            pairs().filter(|(source, target)| source == target).count() as u64,
            profile.self_loops,
        ),
        ("parallel_edges", (table.source.len() - distinct.len()) as u64, profile.parallel_edges),
        ("in_degree.max", most(&in_degrees), profile.in_degree.max),
        ("out_degree.max", most(&out_degrees), profile.out_degree.max),
        ("order.bandwidth", bandwidth, profile.order.bandwidth),
        ("windows of 8: vectors", vectors(8), profile.windows[0].vectors),
        ("windows of 16: vectors", vectors(16), profile.windows[1].vectors),
    ])?;
    let edges = (table.source.len() as f64).max(1.0);
    compare_floats("order.aes", span_sum as f64 / edges, profile.order.aes)?;
    compare_floats("in_degree.gini", gini(in_degrees), profile.in_degree.gini)?;
    compare_floats("out_degree.gini", gini(out_degrees), profile.out_degree.gini)
}

/// Compares the label figures of the profile with a recount from the edge table, class by class.
pub fn profile_labels(
    profile: &Profile,
    labels: Option<&Labels>,
    table: &EdgeTable,
) -> Result<(), Violation> {
    let Some(Labels::Classes(classes)) = labels else {
        return compare_counts(&[("homophily", 0, u64::from(profile.homophily.is_some()))]);
    };
    let (Some(LabelFigures::Classes { labelled, listed, .. }), Some(homophily)) =
        (&profile.labels, &profile.homophily)
    else {
        return Err(Violation::new("profile `labels`: expected classes, found none"));
    };
    let mut members = BTreeMap::new();
    classes.iter().flatten().for_each(|&class| *members.entry(class).or_insert(0u64) += 1);
    compare_counts(&[("labels.labelled", members.values().sum(), *labelled)])?;
    for class in listed {
        compare_counts(&[(
            "labels.listed",
            members.get(&class.class).copied().unwrap_or(0),
            class.count,
        )])?;
    }
    let pairs = table.source.iter().zip(&table.target).filter(|(source, target)| source != target);
    let joined: Vec<(u32, u32)> = pairs
        .filter_map(|(&source, &target)| {
            Some((classes[source as usize]?, classes[target as usize]?))
        })
        .collect();
    let equal = joined.iter().filter(|(source, target)| source == target).count() as f64;
    compare_counts(&[("homophily.edges", joined.len() as u64, homophily.edges)])?;
    compare_floats(
        "homophily.share",
        if joined.is_empty() { 0.0 } else { equal / joined.len() as f64 },
        homophily.share,
    )
}

/// Gini coefficient: twice the area between the Lorenz curve of degrees and the diagonal, by
/// trapezia.
fn gini(mut degrees: Vec<u64>) -> f64 {
    degrees.sort_unstable();
    let all: u64 = degrees.iter().sum();
    if all == 0 {
        return 0.0;
    }
    let mut below = 0u128;
    let mut area = 0u128;
    for &degree in &degrees {
        area += 2 * below + u128::from(degree);
        below += u128::from(degree);
    }
    1.0 - area as f64 / (all as f64 * degrees.len() as f64)
}

fn compare_counts(counts: &[(&str, u64, u64)]) -> Result<(), Violation> {
    match counts.iter().find(|(_, expected, found)| expected != found) {
        None => Ok(()),
        Some((name, expected, found)) => {
            Err(Violation::new(format!("profile `{name}`: expected {expected}, found {found}")))
        }
    }
}

/// Compares two floats up to rounding, since their sums have different orders.
fn compare_floats(name: &str, expected: f64, found: f64) -> Result<(), Violation> {
    if (expected - found).abs() <= 1e-9 * expected.abs().max(1.0) {
        return Ok(());
    }
    Err(Violation::new(format!("profile `{name}`: expected {expected}, found {found}")))
}
