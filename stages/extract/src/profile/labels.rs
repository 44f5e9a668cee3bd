//! labels: figures of labels: class balance, value distribution, and homophily.
//!
//! promises  counts are exact; floats are summed in row order, by one thread
//! never     counts an unlabelled row in a class; measures homophily of labels that are not classes
//! limits    O(nodes log nodes + edges) time, 12 bytes for each node beside the labels
use rayon::prelude::*;
use warploom_contract::kinds::{
    csr::Rows,
    graph::Labels,
    profile::{CLASSES_LISTED, ClassCount, Homophily, LabelFigures},
};

/// Figures of the labels of all nodes, or of all graphs.
pub fn figures(labels: &Labels) -> LabelFigures {
    match labels {
        Labels::Classes(classes) => class_figures(classes),
        Labels::Values(values) => value_figures(values),
        Labels::Rows { columns, values } => vector_figures(*columns, values),
    }
}

/// Members of each nonempty class, ascending by class.
fn count_classes(classes: &[Option<u32>]) -> Vec<ClassCount> {
    let mut sorted: Vec<u32> = classes.iter().flatten().copied().collect();
    sorted.par_sort_unstable();
    sorted
        .chunk_by(|a, b| a == b)
        .map(|run| ClassCount { class: run[0], count: run.len() as u64 })
        .collect()
}

fn class_figures(classes: &[Option<u32>]) -> LabelFigures {
    let mut listed = count_classes(classes);
    let labelled: u64 = listed.iter().map(|class| class.count).sum();
    let present = listed.len();
    let entropy: f64 = listed
        .iter()
        .map(|class| class.count as f64 / labelled as f64)
        .map(|share| -share * share.ln())
        .sum();
    let balance = if present > 1 { entropy / (present as f64).ln() } else { 1.0 };
    let classes = listed.last().map_or(0, |class| u64::from(class.class) + 1);
    listed.sort_by_key(|class| (std::cmp::Reverse(class.count), class.class));
    listed.truncate(CLASSES_LISTED);
    LabelFigures::Classes { classes, present: present as u64, labelled, balance, listed }
}

fn value_figures(values: &[f32]) -> LabelFigures {
    let finite = || values.iter().filter(|value| value.is_finite()).map(|&value| f64::from(value));
    let labelled = finite().count();
    if labelled == 0 {
        return LabelFigures::Values { labelled: 0, min: 0.0, mean: 0.0, max: 0.0, deviation: 0.0 };
    }
    let mean = finite().sum::<f64>() / labelled as f64;
    let deviation =
        (finite().map(|value| (value - mean).powi(2)).sum::<f64>() / labelled as f64).sqrt();
    let (min, max) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| {
        (min.min(value), max.max(value))
    });
    LabelFigures::Values { labelled: labelled as u64, min, mean, max, deviation }
}

fn vector_figures(columns: usize, values: &[f32]) -> LabelFigures {
    let (mut labelled, mut binary, mut nonzero) = (0u64, true, 0u64);
    let mut of_column = vec![0u64; columns];
    for row in
        values.chunks_exact(columns.max(1)).filter(|row| row.iter().all(|value| value.is_finite()))
    {
        labelled += 1;
        for (count, &value) in of_column.iter_mut().zip(row) {
            binary &= value == 0.0 || value == 1.0;
            *count += u64::from(value != 0.0);
            nonzero += u64::from(value != 0.0);
        }
    }
    let nonzero_mean = if labelled == 0 { 0.0 } else { nonzero as f64 / labelled as f64 };
    let (column_least, column_most) = (
        of_column.iter().copied().min().unwrap_or(0),
        of_column.iter().copied().max().unwrap_or(0),
    );
    LabelFigures::Rows {
        columns: columns as u64,
        labelled,
        binary,
        nonzero_mean,
        column_least,
        column_most,
    }
}

/// The share of edges between nodes of one class; none for labels that are not classes.
pub fn homophily(labels: &Labels, incoming: Rows<'_>, outgoing: Rows<'_>) -> Option<Homophily> {
    let Labels::Classes(classes) = labels else { return None };
    let class_of = |node: usize| classes[node];
    let counted = |node: usize, other: &&u32| {
        **other as usize != node && class_of(**other as usize).is_some()
    };
    let nodes = || (0..classes.len()).into_par_iter().with_min_len(1 << 12);
    let same_into = |node: usize| {
        let class = class_of(node)?;
        Some(
            incoming
                .row(node)
                .iter()
                .filter(|other| counted(node, other))
                .filter(|&&other| class_of(other as usize) == Some(class))
                .count() as u64,
        )
    };
    let same: u64 = nodes().filter_map(same_into).sum();
    let ends_of = |node: usize| {
        let both = || incoming.row(node).iter().chain(outgoing.row(node));
        class_of(node).map_or(0, |_| both().filter(|other| counted(node, other)).count() as u64)
    };
    let mut ends: Vec<(u32, u64)> =
        nodes().filter_map(|node| Some((class_of(node)?, ends_of(node)))).collect();
    ends.par_sort_unstable();
    let of_class =
        ends.chunk_by(|a, b| a.0 == b.0).map(|run| run.iter().map(|end| end.1).sum::<u64>());
    let (sum, squares) = of_class.fold((0u64, 0u128), |(sum, squares), ends| {
        (sum + ends, squares + u128::from(ends) * u128::from(ends))
    });
    let edges = sum / 2;
    if edges == 0 {
        return Some(Homophily::default());
    }
    let share = same as f64 / edges as f64;
    let by_chance = squares as f64 / (sum as f64 * sum as f64);
    let one_class = squares == u128::from(sum) * u128::from(sum);
    let adjusted = if one_class { 0.0 } else { (share - by_chance) / (1.0 - by_chance) };
    Some(Homophily { edges, share, by_chance, adjusted })
}
