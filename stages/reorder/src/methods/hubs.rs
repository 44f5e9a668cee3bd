//! hubs: hubs, nodes of more than mean degree, come first: sorted by descending degree, or in their
//! old order. All others keep their order, and with it the locality of the data set (Zhang et al.
//! 2017, Balaji and Lucia 2018).
//!
//! limits    O(nodes log hubs); 4 bytes a node
/// The old number of each new one.
pub fn order(degrees: &[u64], sorted: bool) -> Vec<u32> {
    let (nodes, edges) =
        (degrees.len() as u128, degrees.iter().map(|&degree| u128::from(degree)).sum::<u128>());
    let is_hub = |&node: &u32| u128::from(degrees[node as usize]) * nodes > edges;
    let (mut hubs, others): (Vec<u32>, Vec<u32>) = (0..degrees.len() as u32).partition(is_hub);
    if sorted {
        hubs.sort_by_key(|&node| std::cmp::Reverse(degrees[node as usize]));
    }
    hubs.extend(others);
    hubs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hubs_stand_first() {
        let degrees = [1, 5, 0, 9, 1, 5];
        assert_eq!(order(&degrees, false), [1, 3, 5, 0, 2, 4]);
        assert_eq!(order(&degrees, true), [3, 1, 5, 0, 2, 4]);
        assert_eq!(order(&[2, 2, 2], true), [0, 1, 2], "none has more than the mean");
        assert_eq!(order(&[], true), [] as [u32; 0]);
    }
}
