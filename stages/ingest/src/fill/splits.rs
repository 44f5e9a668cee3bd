//! Seeded splits: by class as Planetoid has them, or by shares.
use crate::{
    generate::counter::Counter,
    raw::{IN_NO_PART, NO_CLASS, TEST, TRAIN, VALIDATION},
};

/// So many nodes of each class for training, so many of the rest for validation and test.
pub fn per_class(class: &[u32], train: u32, validation: u32, test: u32, seed: u64) -> Vec<u8> {
    let classes = class.iter().filter(|&&class| class != NO_CLASS).max().map_or(0, |&most| most as usize + 1);
    let mut taken = vec![0u32; classes];
    let mut split = vec![IN_NO_PART; class.len()];
    let mut rest = Vec::new();
    for node in shuffled(class, seed) {
        let own = &mut taken[class[node as usize] as usize];
        if *own < train {
            *own += 1;
            split[node as usize] = TRAIN;
        } else {
            rest.push(node);
        }
    }
    for (at, node) in rest.into_iter().enumerate().take(validation as usize + test as usize) {
        split[node as usize] = if at < validation as usize { VALIDATION } else { TEST };
    }
    split
}

/// Shares of all nodes that have a class.
pub fn fractions(class: &[u32], train: f64, validation: f64, test: f64, seed: u64) -> Vec<u8> {
    let order = shuffled(class, seed);
    let bound = |share: f64| (share * order.len() as f64).round() as usize;
    let (to_train, to_validation, to_test) = (bound(train), bound(train + validation), bound(train + validation + test));
    let mut split = vec![IN_NO_PART; class.len()];
    for (at, &node) in order.iter().enumerate() {
        split[node as usize] = match at {
            at if at < to_train => TRAIN,
            at if at < to_validation => VALIDATION,
            at if at < to_test => TEST,
            _ => IN_NO_PART,
        };
    }
    split
}

/// Nodes that have a class, in random order.
fn shuffled(class: &[u32], seed: u64) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..class.len() as u32).filter(|&node| class[node as usize] != NO_CLASS).collect();
    Counter::new(seed, "fill.split").shuffle(&mut nodes);
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(split: &[u8], part: u8) -> usize {
        split.iter().filter(|&&entry| entry == part).count()
    }

    #[test]
    fn parts_have_their_sizes() {
        let mut class: Vec<u32> = (0..1000).map(|node| node % 7).collect();
        class[5] = NO_CLASS;
        let split = per_class(&class, 20, 200, 300, 1);
        assert_eq!([TRAIN, VALIDATION, TEST].map(|part| count(&split, part)), [140, 200, 300]);
        assert_eq!(split[5], IN_NO_PART);
        let split = fractions(&class, 0.6, 0.2, 0.2, 1);
        assert_eq!([TRAIN, VALIDATION, TEST, IN_NO_PART].map(|part| count(&split, part)), [599, 200, 200, 1]);
        assert_ne!(split, fractions(&class, 0.6, 0.2, 0.2, 2));
        assert!(fractions(&[], 0.6, 0.2, 0.2, 2).is_empty());
    }
}
