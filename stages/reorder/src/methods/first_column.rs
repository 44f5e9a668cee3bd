//! first_column: step 7 of the SpMM study: nodes are sorted by their lowest in-neighbour, those
//! without one last.
//!
//! limits    O(nodes log nodes + edges); 12 bytes a node
use warploom_contract::kinds::csr::Rows;

/// The old number of each new one.
pub fn order(incoming: Rows<'_>) -> Vec<u32> {
    let lowest = |node: u32| {
        incoming
            .row(node as usize)
            .iter()
            .filter(|&&far| far != node)
            .min()
            .map_or(u64::MAX, |&far| u64::from(far))
    };
    let mut nodes: Vec<u32> = (0..incoming.len() as u32).collect();
    nodes.sort_by_cached_key(|&node| lowest(node));
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_lowest_source() {
        // 0 <- 3, 1 <- 0 2, 2 <- 2 (itself alone), 3 <- nobody, 4 <- 0
        let incoming = Rows { offsets: &[0, 1, 3, 4, 4, 5], neighbours: &[3, 0, 2, 2, 0] };
        assert_eq!(order(incoming), [1, 4, 0, 2, 3]);
    }
}
