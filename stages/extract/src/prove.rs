//! The proof of extract: every slot is looked up in the edge table by its edge id, and every id is met once.
use warploom_contract::{
    Violation,
    kinds::{
        csr::{Csr, Direction},
        graph::EdgeTable,
        profile::Profile,
    },
};

/// Both directions hold exactly the edges of the table.
pub fn csr_holds_edges(nodes: u64, csr: &Csr, table: &EdgeTable) -> Result<(), Violation> {
    if csr.nodes() as u64 != nodes || csr.edges() != table.source.len() {
        let what = format!("expected {nodes} nodes and {} edges, found {} and {}", table.source.len(), csr.nodes(), csr.edges());
        return Err(Violation::new(what));
    }
    one_direction("in", &csr.incoming, &table.target, &table.source)?;
    one_direction("out", &csr.outgoing, &table.source, &table.target)?;
    for (slot, &edge) in csr.incoming.edges.iter().enumerate() {
        let weight = (csr.weights.as_ref().map(|weights| weights[slot].to_bits()), table.weight.as_ref().map(|weight| weight[edge as usize].to_bits()));
        let kind = (csr.types.as_ref().map(|types| types[slot]), table.kind.as_ref().map(|kind| kind[edge as usize]));
        if weight.0 != weight.1 || kind.0 != kind.1 {
            return Err(Violation::new(format!("in-slot {slot}: weight or type is not that of edge {edge}")));
        }
    }
    Ok(())
}

fn one_direction(side: &str, direction: &Direction, keys: &[u32], others: &[u32]) -> Result<(), Violation> {
    let mut seen = vec![false; keys.len()];
    for row in 0..direction.offsets.len() - 1 {
        for slot in direction.offsets[row] as usize..direction.offsets[row + 1] as usize {
            let edge = direction.edges[slot] as usize;
            let expected = (keys.get(edge).copied(), others.get(edge).copied());
            let found = (Some(row as u32), Some(direction.neighbours[slot]));
            if expected != found {
                return Err(Violation::new(format!("{side}-slot {slot}, edge {edge}: expected ends {expected:?}, found {found:?}")));
            }
            if std::mem::replace(&mut seen[edge], true) {
                return Err(Violation::new(format!("{side}-slot {slot}: edge {edge} stands there twice")));
            }
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(edge) => Err(Violation::new(format!("edge {edge} has no {side}-slot"))),
        None => Ok(()),
    }
}

/// The counts of the profile, recounted from the edge table with sets.
pub fn profile_counts(nodes: u64, profile: &Profile, table: &EdgeTable) -> Result<(), Violation> {
    let pairs = || table.source.iter().copied().zip(table.target.iter().copied());
    let mut touched = vec![false; nodes as usize];
    let mut in_degrees = vec![0u64; nodes as usize];
    for (source, target) in pairs() {
        touched[source as usize] = true;
        touched[target as usize] = true;
        in_degrees[target as usize] += 1;
    }
    let mut distinct: Vec<(u32, u32)> = pairs().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let counts = [
        ("nodes", nodes, profile.nodes),
        ("edges", table.source.len() as u64, profile.edges),
        ("isolated", touched.iter().filter(|&&touched| !touched).count() as u64, profile.isolated),
        ("self_loops", pairs().filter(|(source, target)| source == target).count() as u64, profile.self_loops),
        ("parallel_edges", (table.source.len() - distinct.len()) as u64, profile.parallel_edges),
        ("in_degree.max", in_degrees.iter().copied().max().unwrap_or(0), profile.in_degree.max),
    ];
    for (name, expected, found) in counts {
        if expected != found {
            return Err(Violation::new(format!("profile `{name}`: expected {expected}, found {found}")));
        }
    }
    Ok(())
}
