//! Made-up classes: a class for each community, and for one node in ten any class.
use crate::generate::counter::Counter;
use rayon::prelude::*;

/// Share of the nodes whose class says nothing: it bounds what a model can reach.
const NOISE: f64 = 0.1;

/// The class that a community stands for.
pub fn class_of_community(community: u32, classes: u32, seed: u64) -> u32 {
    Counter::new(seed, "fill.class").below(u64::from(community), u64::from(classes)) as u32
}

/// A class for each node.
pub fn make(community: &[u32], classes: u32, seed: u64) -> Vec<u32> {
    let (noise, other) = (Counter::new(seed, "fill.label.noise"), Counter::new(seed, "fill.label.other"));
    let class = |(node, &community): (usize, &u32)| {
        if noise.unit(node as u64) < NOISE { other.below(node as u64, u64::from(classes)) as u32 } else { class_of_community(community, classes, seed) }
    };
    community.par_iter().enumerate().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_nodes_have_the_class_of_their_community() {
        let community: Vec<u32> = (0..20_000).map(|node| node / 100).collect();
        let classes = make(&community, 7, 3);
        let same = classes.iter().zip(&community).filter(|(class, community)| **class == class_of_community(**community, 7, 3)).count();
        // Nine in ten keep theirs, and one in seven of the rest draws it again.
        assert!((18_000..18_600).contains(&same), "{same}");
        assert!(classes.iter().all(|&class| class < 7));
    }
}
