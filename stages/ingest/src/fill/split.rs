//! split: seeded splits of nodes into training, validation and test.
//!
//! promises  only labelled nodes are in a split part; no node is in two; the same split for the
//!           same seed
//! never     changes a published split
use crate::generate::counter::Counter;
use warploom_formats::raw_graph::{IN_NO_PART, Labels, NO_CLASS, TEST, TRAIN, VALIDATION};

/// Sets of at most this many nodes are split per class, as in Planetoid.
const SMALL_NODES: usize = 20_000;

/// Training nodes of each class; validation and test nodes of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCounts {
    /// Training nodes of each class.
    pub train: u32,
    /// In all.
    pub validation: u32,
    /// In all.
    pub test: u32,
}

/// Shares of the labelled nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fractions {
    /// From 0 to 1.
    pub train: f64,
    /// From 0 to 1.
    pub validation: f64,
    /// From 0 to 1.
    pub test: f64,
}

/// The public split of Planetoid.
pub const PLANETOID: ClassCounts = ClassCounts { train: 20, validation: 500, test: 1000 };
/// The default split of larger sets.
pub const SIXTY_TWENTY_TWENTY: Fractions = Fractions { train: 0.6, validation: 0.2, test: 0.2 };

/// The default split of sets of many graphs.
pub const EIGHTY_TEN_TEN: Fractions = Fractions { train: 0.8, validation: 0.1, test: 0.1 };

/// The default: Planetoid's split for small sets with enough nodes, else 60, 20 and 20 percent.
pub fn split_by_default(labels: &Labels, nodes: u32, seed: u64) -> Vec<u8> {
    let classes = if let Labels::Classes { names, .. } = labels { names.len() } else { 0 };
    let count = shuffle_labelled(labels, nodes, seed).len();
    let least =
        classes * PLANETOID.train as usize + (PLANETOID.validation + PLANETOID.test) as usize;
    if classes > 0 && count >= least && count <= SMALL_NODES {
        split_per_class(labels, nodes, &PLANETOID, seed)
    } else {
        split_by_fractions(labels, nodes, &SIXTY_TWENTY_TWENTY, seed)
    }
}

/// A split by counts; where nodes are few, training gets its nodes first, then validation.
pub fn split_per_class(labels: &Labels, nodes: u32, rule: &ClassCounts, seed: u64) -> Vec<u8> {
    let mut split = vec![IN_NO_PART; nodes as usize];
    let order = shuffle_labelled(labels, nodes, seed);
    let class = |node: u32| {
        if let Labels::Classes { class, .. } = labels { class[node as usize] as usize } else { 0 }
    };
    let classes = order.iter().map(|&node| class(node) + 1).max().unwrap_or(0);
    let mut taken = vec![0; classes];
    let mut rest = Vec::with_capacity(order.len());
    for &node in &order {
        let taken = &mut taken[class(node)];
        if *taken < rule.train {
            *taken += 1;
            split[node as usize] = TRAIN;
        } else {
            rest.push(node);
        }
    }
    let (validation, test) = rest.split_at(rest.len().min(rule.validation as usize));
    validation.iter().for_each(|&node| split[node as usize] = VALIDATION);
    test.iter().take(rule.test as usize).for_each(|&node| split[node as usize] = TEST);
    split
}

/// Shortages of a split by class, a line each: classes with fewer nodes than training needs, by
/// name, and parts with fewer rows than requested. `of` is what has the labels: nodes or graphs.
pub fn shortages(labels: &Labels, split: &[u8], rule: &ClassCounts, of: &str) -> Vec<String> {
    let mut short = Vec::new();
    if let Labels::Classes { class, names } = labels {
        let mut sizes = vec![0u32; names.len()];
        class
            .iter()
            .filter(|&&class| class != NO_CLASS)
            .for_each(|&class| sizes[class as usize] += 1);
        let few = names.iter().zip(sizes).filter(|(_, size)| *size < rule.train);
        short.extend(few.map(|(name, size)| match size {
            0 => format!("class `{name}` has no {of}: none of {} for training", rule.train),
            size => format!(
                "class `{name}` has {size} {of}s, all of them for training, which wants {}",
                rule.train
            ),
        }));
    }
    for (part, name, wanted) in
        [(VALIDATION, "validation", rule.validation), (TEST, "test", rule.test)]
    {
        let taken = split.iter().filter(|&&found| found == part).count();
        if taken < wanted as usize {
            short.push(format!("{name} has {taken} of {wanted} {of}s: no more are left"));
        }
    }
    short
}

/// The empty parts of drawn splits, a line each, among those requested of train, validation and
/// test. `of` is what has the labels: nodes or graphs.
pub fn empty_parts(splits: &[Vec<u8>], wanted: [bool; 3], of: &str) -> Vec<String> {
    let mut empty = Vec::new();
    for (index, split) in splits.iter().enumerate() {
        let there = split.iter().filter(|&&part| part != IN_NO_PART).count();
        let which = if splits.len() > 1 { format!(" of split {index}") } else { String::new() };
        for (part, name) in [(TRAIN, "train"), (VALIDATION, "validation"), (TEST, "test")] {
            if wanted[usize::from(part) - 1] && !split.contains(&part) {
                empty.push(format!("{name}{which} is empty: {there} {of}s in all parts"));
            }
        }
    }
    empty
}

/// Classes with fewer members than folds, a line each: some folds have none of them.
pub fn small_classes(labels: &Labels, folds: u32, of: &str) -> Vec<String> {
    let Labels::Classes { class, names } = labels else { return Vec::new() };
    let mut sizes = vec![0u32; names.len()];
    class.iter().filter(|&&class| class != NO_CLASS).for_each(|&class| sizes[class as usize] += 1);
    let small = names.iter().zip(sizes).filter(|(_, size)| (1..folds).contains(size));
    small
        .map(|(name, size)| {
            format!(
                "class `{name}` has {size} {of}s for {folds} folds: {} have none of it",
                folds - size
            )
        })
        .collect()
}

/// A split by shares, rounded so that shares with sum 1 use all nodes.
pub fn split_by_fractions(labels: &Labels, nodes: u32, rule: &Fractions, seed: u64) -> Vec<u8> {
    let mut split = vec![IN_NO_PART; nodes as usize];
    let order = shuffle_labelled(labels, nodes, seed);
    let end = |share: f64| ((order.len() as f64 * share).round() as usize).min(order.len());
    let (first, second, third) = (
        end(rule.train),
        end(rule.train + rule.validation),
        end(rule.train + rule.validation + rule.test),
    );
    order[..first].iter().for_each(|&node| split[node as usize] = TRAIN);
    order[first..second].iter().for_each(|&node| split[node as usize] = VALIDATION);
    order[second..third].iter().for_each(|&node| split[node as usize] = TEST);
    split
}

/// Stratified folds: split `i` tests on fold `i`, validates on fold `i + 1` and trains on the
/// others.
pub fn split_into_folds(labels: &Labels, nodes: u32, count: u32, seed: u64) -> Vec<Vec<u8>> {
    let count = count.max(1) as usize;
    let mut order = shuffle_labelled(labels, nodes, seed);
    if let Labels::Classes { class, .. } = labels {
        // Stable: the order inside a class stays random.
        order.sort_by_key(|&node| class[node as usize]);
    }
    let mut fold = vec![usize::MAX; nodes as usize];
    order.iter().enumerate().for_each(|(at, &node)| fold[node as usize] = at % count);
    let part = |of: usize, test: usize| match of {
        usize::MAX => IN_NO_PART,
        of if of == test => TEST,
        of if of == (test + 1) % count => VALIDATION,
        _ => TRAIN,
    };
    (0..count).map(|test| fold.iter().map(|&of| part(of, test)).collect()).collect()
}

/// The labelled nodes, in random order.
fn shuffle_labelled(labels: &Labels, nodes: u32, seed: u64) -> Vec<u32> {
    let has_label = |node: &u32| match labels {
        Labels::Classes { class, .. } => class[*node as usize] != NO_CLASS,
        Labels::Values(values) => !values[*node as usize].is_nan(),
        Labels::Rows { columns, values } => !values[*node as usize * *columns as usize..]
            .iter()
            .take(*columns as usize)
            .any(|value| value.is_nan()),
    };
    let mut order: Vec<u32> = (0..nodes).filter(has_label).collect();
    Counter::new(seed, "split").shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_named() {
        let labels = Labels::Classes {
            class: vec![0, 0, 0, 1, NO_CLASS, 0],
            names: ["a", "b", "c"].map(str::to_owned).to_vec(),
        };
        let rule = ClassCounts { train: 2, validation: 1, test: 3 };
        let short = shortages(&labels, &split_per_class(&labels, 6, &rule, 7), &rule, "node");
        let expected = [
            "class `b` has 1 nodes, all of them for training, which wants 2",
            "class `c` has no node: none of 2 for training",
            "test has 1 of 3 nodes: no more are left",
        ];
        assert_eq!(short, expected);
        let enough = ClassCounts { train: 1, validation: 1, test: 2 };
        let whole =
            Labels::Classes { class: vec![0, 0, 1, 1, 0], names: vec!["a".into(), "b".into()] };
        assert!(
            shortages(&whole, &split_per_class(&whole, 5, &enough, 7), &enough, "node").is_empty()
        );
    }

    #[test]
    fn parts_that_nothing_is_in_are_named() {
        let three = Labels::Classes { class: vec![0, 1, 0], names: vec!["a".into(), "b".into()] };
        let shares = Fractions { train: 0.8, validation: 0.1, test: 0.1 };
        let split = vec![split_by_fractions(&three, 3, &shares, 1)];
        assert_eq!(count(&split[0]).iter().sum::<usize>(), 3);
        let empty = empty_parts(&split, [true; 3], "node");
        assert!(
            !empty.is_empty()
                && empty.iter().all(|line| line.ends_with(" is empty: 3 nodes in all parts")),
            "{empty:?}"
        );
        assert!(empty_parts(&split, [false; 3], "node").is_empty());
        let folded = split_into_folds(&three, 3, 5, 1);
        let empty = empty_parts(&folded, [true; 3], "graph");
        assert!(
            empty.contains(&"test of split 4 is empty: 3 graphs in all parts".to_owned()),
            "{empty:?}"
        );
        let few = small_classes(&three, 3, "graph");
        assert_eq!(
            few,
            [
                "class `a` has 2 graphs for 3 folds: 1 have none of it",
                "class `b` has 1 graphs for 3 folds: 2 have none of it"
            ]
        );
        assert!(
            small_classes(&three, 1, "graph").is_empty()
                && empty_parts(
                    &[split_by_fractions(&labels(10, 2), 10, &SIXTY_TWENTY_TWENTY, 1)],
                    [true; 3],
                    "node"
                )
                .is_empty()
        );
    }

    fn labels(nodes: u32, classes: u32) -> Labels {
        let class =
            (0..nodes).map(|node| if node % 10 == 9 { NO_CLASS } else { node % classes }).collect();
        Labels::Classes { class, names: (0..classes).map(|class| class.to_string()).collect() }
    }

    fn count(split: &[u8]) -> [usize; 4] {
        let mut counts = [0; 4];
        split.iter().for_each(|&part| counts[part as usize] += 1);
        counts
    }

    #[test]
    fn small_sets_are_split_per_class() {
        let labels = labels(3000, 7);
        let split = split_by_default(&labels, 3000, 1);
        assert_eq!(count(&split), [3000 - 140 - 1500, 140, 500, 1000]);
        let Labels::Classes { class, .. } = &labels else { unreachable!() };
        for wanted in 0..7 {
            assert_eq!(
                split
                    .iter()
                    .zip(class)
                    .filter(|&(&part, &class)| part == TRAIN && class == wanted)
                    .count(),
                20
            );
        }
        assert!(
            split.iter().zip(class).all(|(&part, &class)| part == IN_NO_PART || class != NO_CLASS)
        );
        assert!(
            split_by_default(&labels, 3000, 2) != split
                && split_by_default(&labels, 3000, 1) == split
        );
    }

    #[test]
    fn other_sets_are_split_by_share() {
        assert_eq!(
            count(&split_by_default(&labels(100_000, 22), 100_000, 1)),
            [10_000, 54_000, 18_000, 18_000]
        );
        assert_eq!(count(&split_by_default(&labels(100, 7), 100, 1)), [10, 54, 18, 18]);
        assert_eq!(
            count(&split_by_default(
                &Labels::Values(vec![f32::NAN, 1.0, 2.0, 3.0, 4.0, 5.0]),
                6,
                1
            )),
            [1, 3, 1, 1]
        );
        assert_eq!(
            count(&split_by_default(&Labels::Rows { columns: 2, values: vec![0.0; 20] }, 10, 1)),
            [0, 6, 2, 2]
        );
    }

    #[test]
    fn folds_have_even_classes_and_each_node_is_tested_once() {
        let labels = labels(203, 4);
        let splits = split_into_folds(&labels, 203, 10, 1);
        let Labels::Classes { class, .. } = &labels else { unreachable!() };
        for node in 0..203 {
            let tests = splits.iter().filter(|split| split[node] == TEST).count();
            assert_eq!(tests, usize::from(class[node] != NO_CLASS));
        }
        for split in &splits {
            for wanted in 0..4 {
                let count = split
                    .iter()
                    .zip(class)
                    .filter(|&(&part, &class)| part == TEST && class == wanted)
                    .count();
                assert!((3..=6).contains(&count), "{count}");
            }
        }
        assert!(split_into_folds(&labels, 203, 10, 2) != splits);
    }

    #[test]
    fn few_nodes_are_no_fault() {
        assert!(split_by_default(&labels(0, 3), 0, 1).is_empty());
        assert_eq!(count(&split_per_class(&labels(10, 2), 10, &PLANETOID, 1)), [1, 9, 0, 0]);
        assert_eq!(
            count(&split_per_class(
                &labels(40, 2),
                40,
                &ClassCounts { train: 4, validation: 8, test: 100 },
                1
            )),
            [4, 8, 8, 20]
        );
    }
}
