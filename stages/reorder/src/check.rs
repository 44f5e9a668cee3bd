//! check: the check of reorder: each edge id is looked up in the old csr, and both its ends must
//! have the new numbers.
use warploom_contract::{
    Violation,
    kinds::csr::{Csr, Direction},
};

/// Checks that the new csr has exactly the old edges under the new numbers.
pub fn same_edges(old: &Csr, new: &Csr, new_of_old: &[u32]) -> Result<(), Violation> {
    if (old.nodes(), old.edges()) != (new.nodes(), new.edges()) || new_of_old.len() != old.nodes() {
        return Err(Violation::new(format!(
            "expected {} nodes and {} edges, found {} and {}",
            old.nodes(),
            old.edges(),
            new.nodes(),
            new.edges()
        )));
    }
    let graphs = |csr: &Csr, node: usize| csr.graphs.as_ref().map(|graphs| graphs[node]);
    if let Some(node) =
        (0..old.nodes()).find(|&node| graphs(old, node) != graphs(new, new_of_old[node] as usize))
    {
        return Err(Violation::new(format!(
            "node {node} is not in its own graph under its new number {}",
            new_of_old[node]
        )));
    }
    let mut ends = vec![(u32::MAX, u32::MAX); old.edges()];
    let mut traits = vec![(0u32, 0u16); old.edges()];
    for row in 0..old.nodes() {
        for slot in row_range(&old.incoming, row) {
            let edge = old.incoming.edges[slot] as usize;
            ends[edge] = (old.incoming.neighbours[slot], row as u32);
            traits[edge] = weight_and_type(old, slot);
        }
    }
    let renumbered = |edge: u64| {
        let (source, target) = ends[edge as usize];
        (new_of_old[source as usize], new_of_old[target as usize])
    };
    for (side, direction, flip) in [("in", &new.incoming, false), ("out", &new.outgoing, true)] {
        let mut seen = vec![false; old.edges()];
        for row in 0..new.nodes() {
            for slot in row_range(direction, row) {
                let (edge, other) = (direction.edges[slot], direction.neighbours[slot]);
                let found = if flip { (row as u32, other) } else { (other, row as u32) };
                let expected = renumbered(edge);
                if found != expected {
                    return Err(Violation::new(format!(
                        "{side}-slot {slot}, edge {edge}: expected ends {expected:?}, found \
                         {found:?}"
                    )));
                }
                if std::mem::replace(&mut seen[edge as usize], true) {
                    return Err(Violation::new(format!(
                        "{side}-slot {slot}: edge {edge} occurs twice"
                    )));
                }
                if !flip && weight_and_type(new, slot) != traits[edge as usize] {
                    return Err(Violation::new(format!(
                        "in-slot {slot}, edge {edge}: weight or type changed"
                    )));
                }
            }
        }
    }
    Ok(())
}

fn row_range(direction: &Direction, row: usize) -> std::ops::Range<usize> {
    direction.offsets[row] as usize..direction.offsets[row + 1] as usize
}

fn weight_and_type(csr: &Csr, slot: usize) -> (u32, u16) {
    (
        csr.weights.as_ref().map_or(0, |weights| weights[slot].to_bits()),
        csr.types.as_ref().map_or(0, |types| types[slot]),
    )
}
