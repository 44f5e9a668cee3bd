//! labels: synthetic labels: each community gets a class, and a tenth of the nodes a random class.
//!
//! promises  classes of nearly equal size, as far as communities allow; a share of random labels
//!           that no model can learn
//! never     returns a class beyond `classes`
use crate::generate::counter::Counter;
use rayon::prelude::*;
use std::{cmp::Reverse, collections::BinaryHeap};
use warploom_formats::raw_graph::{Labels, NO_CLASS};

/// Share of nodes with a random label: a perfect model reaches slightly more than 0.9.
const NOISE: f64 = 0.1;

/// The class of each node's community: the largest communities first, each to the class with the
/// fewest nodes.
pub fn planted_classes(community: &[u32], classes: u32) -> Vec<u32> {
    let count = community.iter().max().map_or(0, |&most| most as usize + 1);
    let mut sizes = vec![0u64; count];
    community.iter().for_each(|&community| sizes[community as usize] += 1);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&community| (Reverse(sizes[community]), community));
    let mut room: BinaryHeap<Reverse<(u64, u32)>> =
        (0..classes).map(|class| Reverse((0, class))).collect();
    let mut class_of = vec![NO_CLASS; count];
    for community in order {
        let Some(Reverse((filled, class))) = room.pop() else { break };
        class_of[community] = class;
        room.push(Reverse((filled + sizes[community], class)));
    }
    community.par_iter().map(|&community| class_of[community as usize]).collect()
}

/// Labels from planted classes, where a tenth of the nodes get a random class.
pub fn add_label_noise(planted: &[u32], classes: u32, seed: u64) -> Labels {
    let (whether, which) = (Counter::new(seed, "label noise"), Counter::new(seed, "noisy label"));
    let one = |(node, &class): (usize, &u32)| {
        if class == NO_CLASS || whether.unit(node as u64) >= NOISE {
            class
        } else {
            which.below(node as u64, u64::from(classes)) as u32
        }
    };
    let class = planted.par_iter().enumerate().map(one).collect();
    Labels::Classes { class, names: (0..classes).map(|class| class.to_string()).collect() }
}

/// Keeps the labels of `count` nodes, drawn uniformly; the others have none.
pub fn sample_labels(labels: Labels, count: u32, seed: u64) -> Labels {
    let Labels::Classes { mut class, names } = labels else { return labels };
    let counter = Counter::new(seed, "who has a label");
    let mut order: Vec<u32> = (0..class.len() as u32).collect();
    if (count as usize) < order.len() {
        order.select_nth_unstable_by_key(count as usize, |&node| {
            (counter.bits(u64::from(node)), node)
        });
        order[count as usize..].iter().for_each(|&node| class[node as usize] = NO_CLASS);
    }
    Labels::Classes { class, names }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_even_and_a_tenth_is_noise() {
        let community: Vec<u32> = (0..60_000u32).map(|node| node / 7 % 470).collect();
        let planted = planted_classes(&community, 22);
        let Labels::Classes { class, names } = add_label_noise(&planted, 22, 5) else {
            panic!("expected classes")
        };
        let mut sizes = [0; 22];
        class.iter().for_each(|&class| sizes[class as usize] += 1);
        assert!(
            names.len() == 22 && sizes.iter().all(|&size| (2_300..3_200).contains(&size)),
            "{sizes:?}"
        );
        let changed = class.iter().zip(&planted).filter(|(a, b)| a != b).count();
        assert!((5_000..6_500).contains(&changed), "{changed}");
        assert!(
            planted
                .iter()
                .zip(&community)
                .all(|(&class, &community)| class == planted[community as usize * 7])
        );
    }

    #[test]
    fn degenerate_sizes_are_no_fault() {
        assert!(planted_classes(&[], 3).is_empty());
        assert_eq!(planted_classes(&[0, 1], 0), [NO_CLASS, NO_CLASS]);
        assert_eq!(
            add_label_noise(&[NO_CLASS], 0, 1),
            Labels::Classes { class: vec![NO_CLASS], names: vec![] }
        );
        assert_eq!(planted_classes(&[0, 1, 1], 1), [0, 0, 0]);
    }
}
