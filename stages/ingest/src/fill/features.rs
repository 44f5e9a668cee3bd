//! features: synthetic features, and the normalisation of the data set's own.
//!
//! promises  the same bytes for any number of threads; a row of zeros stays zero
//! never     changes the width of the data set's own features
use crate::generate::counter::Counter;
use rayon::prelude::*;
use warploom_contract::progress::{Advance, advance_by_stride};
use warploom_formats::raw_graph::{Edges, Features, Labels, NO_CLASS};

/// Distance of two class centres in standard deviations of the noise, divided by sqrt(2). With 22
/// classes and 96 columns the nearest centre is right for 0.40 of single rows, and for all means of
/// twelve rows (the test below).
const SIGNAL: f32 = 1.5;

/// Draws a centre for each class plus noise for each node; unlabelled nodes have only noise.
pub fn draw_around_classes(
    class: &[u32],
    columns: u32,
    seed: u64,
    advance: Advance<'_>,
) -> Features {
    let classes =
        class.iter().filter(|&&class| class != NO_CLASS).max().map_or(0, |&most| most as usize + 1);
    let width = columns as usize;
    let scale = SIGNAL / (columns.max(1) as f32).sqrt();
    let (centre, noise) =
        (Counter::new(seed, "centres of classes"), Counter::new(seed, "noise of features"));
    let centres: Vec<f32> =
        (0..classes * width).map(|at| scale * centre.normal(at as u64)).collect();
    let mut values = vec![0.0; class.len() * width];
    values.par_chunks_mut(width.max(1)).zip(class).enumerate().with_min_len(256).for_each(
        |(node, (row, &class))| {
            advance_by_stride(advance, node);
            let first = (node * width) as u64;
            row.iter_mut().zip(first..).for_each(|(value, at)| *value = noise.normal(at));
            if class != NO_CLASS {
                row.iter_mut()
                    .zip(&centres[class as usize * width..])
                    .for_each(|(value, centre)| *value += centre);
            }
        },
    );
    Features::Dense { columns, values }
}

/// Approximately normal numbers.
pub fn random(nodes: u32, columns: u32, seed: u64) -> Features {
    draw_around_classes(&vec![NO_CLASS; nodes as usize], columns, seed, &|_| {})
}

/// Ones.
pub fn constant(nodes: u32, columns: u32) -> Features {
    Features::Dense { columns, values: vec![1.0; nodes as usize * columns as usize] }
}

/// In-degree of each node.
pub fn in_degrees(edges: &Edges, nodes: u32) -> Vec<u32> {
    let mut degrees = vec![0u32; nodes as usize];
    edges
        .target
        .iter()
        .for_each(|&target| degrees[target as usize] = degrees[target as usize].saturating_add(1));
    degrees
}

/// One-hot in-degrees; degrees above `most` count as `most`.
pub fn degree(in_degrees: &[u32], most: u32) -> Features {
    let degree: Vec<u32> = in_degrees.iter().map(|&degree| degree.min(most)).collect();
    let columns = degree.iter().max().map_or(1, |&largest| largest + 1);
    one_hot(&degree, columns)
}

/// One-hot classes; none for labels that are not classes.
pub fn one_hot_label(labels: &Labels) -> Option<Features> {
    match labels {
        Labels::Classes { class, names } => Some(one_hot(class, names.len() as u32)),
        Labels::Values(_) | Labels::Rows { .. } => None,
    }
}

/// Concatenates the columns of two feature tables of the same nodes.
pub fn concat_columns(left: Features, right: Features) -> Features {
    let (nodes, columns) =
        (row_count(&left).max(row_count(&right)), left.columns() + right.columns());
    let (mut offsets, mut index, mut values) =
        (Vec::with_capacity(nodes + 1), Vec::new(), Vec::new());
    offsets.push(0);
    for row in 0..nodes {
        let mut push = |column: u32, value: f32| {
            index.push(column);
            values.push(value);
        };
        for_each_nonzero(&left, row, &mut push);
        for_each_nonzero(&right, row, &mut |column, value| push(left.columns() + column, value));
        offsets.push(index.len() as u64);
    }
    Features::Sparse { columns, offsets, index, values }
}

fn row_count(features: &Features) -> usize {
    match features {
        Features::Dense { columns, values } => {
            values.len().checked_div(*columns as usize).unwrap_or(0)
        }
        Features::Sparse { offsets, .. } => offsets.len() - 1,
    }
}

/// Calls `push` for each nonzero value of a row.
fn for_each_nonzero(features: &Features, row: usize, push: &mut impl FnMut(u32, f32)) {
    match features {
        Features::Dense { columns, values } => {
            let values = &values[row * *columns as usize..][..*columns as usize];
            (0..)
                .zip(values)
                .filter(|(_, value)| **value != 0.0)
                .for_each(|(column, &value)| push(column, value));
        }
        Features::Sparse { offsets, index, values, .. } => {
            let entries = offsets[row] as usize..offsets[row + 1] as usize;
            index[entries.clone()]
                .iter()
                .zip(&values[entries])
                .for_each(|(&column, &value)| push(column, value));
        }
    }
}

/// One-hot rows; `NO_CLASS` gives a row of zeros.
fn one_hot(column: &[u32], columns: u32) -> Features {
    let index: Vec<u32> = column.iter().copied().filter(|&column| column != NO_CLASS).collect();
    let ends = column.iter().scan(0, |end, &column| {
        *end += u64::from(column != NO_CLASS);
        Some(*end)
    });
    Features::Sparse {
        columns,
        offsets: std::iter::once(0).chain(ends).collect(),
        values: vec![1.0; index.len()],
        index,
    }
}

/// Divides each row by its L1 norm; a row of zeros stays.
pub fn normalize_rows(features: &mut Features) {
    let normalize = |row: &mut [f32]| {
        let sum: f64 = row.iter().map(|&value| f64::from(value.abs())).sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|value| *value = (f64::from(*value) / sum) as f32);
        }
    };
    match features {
        Features::Dense { columns, values } => {
            values.par_chunks_mut((*columns).max(1) as usize).with_min_len(256).for_each(normalize)
        }
        Features::Sparse { offsets, values, .. } => {
            let mut rest = &mut values[..];
            for row in offsets.windows(2) {
                let (own, more) = rest.split_at_mut((row[1] - row[0]) as usize);
                normalize(own);
                rest = more;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(features: &Features) -> &[f32] {
        match features {
            Features::Dense { values, .. } => values,
            Features::Sparse { .. } => panic!("expected dense features"),
        }
    }

    /// Share of nodes whose row, averaged over `rows` nodes of the same class, is nearest to its
    /// class mean.
    fn class_separation(features: &Features, class: &[u32], classes: usize, rows: usize) -> f64 {
        let width = features.columns() as usize;
        let values = dense(features);
        let mut means = vec![0.0f64; classes * width];
        let members: Vec<Vec<usize>> = (0..classes)
            .map(|wanted| (0..class.len()).filter(|&node| class[node] as usize == wanted).collect())
            .collect();
        for (class, members) in members.iter().enumerate() {
            members.iter().for_each(|node| {
                (0..width).for_each(|at| {
                    means[class * width + at] +=
                        f64::from(values[node * width + at]) / members.len() as f64
                })
            });
        }
        let mut right = 0;
        let mut all = 0;
        for (class, members) in members.iter().enumerate() {
            for group in members.chunks_exact(rows) {
                let mean: Vec<f64> = (0..width)
                    .map(|at| {
                        group.iter().map(|node| f64::from(values[node * width + at])).sum::<f64>()
                            / rows as f64
                    })
                    .collect();
                let distance = |class: usize| {
                    mean.iter()
                        .zip(&means[class * width..])
                        .map(|(a, b)| (a - b) * (a - b))
                        .sum::<f64>()
                };
                let nearest =
                    (0..classes).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap();
                right += usize::from(nearest == class);
                all += 1;
            }
        }
        right as f64 / all as f64
    }

    #[test]
    fn one_row_tells_its_class_sometimes_and_a_mean_of_rows_nearly_always() {
        let class: Vec<u32> = (0..22 * 300).map(|node| node % 22).collect();
        let features = draw_around_classes(&class, 96, 7, &|_| {});
        let (alone, together) = (
            class_separation(&features, &class, 22, 1),
            class_separation(&features, &class, 22, 12),
        );
        println!("told apart: {alone:.2} alone, {together:.2} together");
        assert!((0.2..0.75).contains(&alone) && together > 0.95, "{alone} {together}");
        for threads in [1, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| draw_around_classes(&class, 96, 7, &|_| {})) == features);
        }
        assert!(draw_around_classes(&class, 96, 8, &|_| {}) != features);
    }

    #[test]
    fn degrees_and_labels_become_columns() {
        let edges =
            Edges { source: vec![0, 1, 2, 3], target: vec![1, 1, 1, 0], ..Edges::default() };
        let expected = |columns, index: Vec<u32>| Features::Sparse {
            columns,
            offsets: vec![0, 1, 2, 3, 4],
            values: vec![1.0; 4],
            index,
        };
        assert_eq!(degree(&in_degrees(&edges, 4), 100), expected(4, vec![1, 3, 0, 0]));
        assert_eq!(degree(&in_degrees(&edges, 4), 2), expected(3, vec![1, 2, 0, 0]));
        let labels =
            Labels::Classes { class: vec![1, NO_CLASS, 0], names: vec!["a".into(), "b".into()] };
        assert_eq!(
            one_hot_label(&labels),
            Some(Features::Sparse {
                columns: 2,
                offsets: vec![0, 1, 1, 2],
                values: vec![1.0; 2],
                index: vec![1, 0]
            })
        );
        assert_eq!(
            degree(&in_degrees(&Edges::default(), 0), 5),
            Features::Sparse { columns: 1, offsets: vec![0], values: vec![], index: vec![] }
        );
        assert_eq!(
            (dense(&constant(2, 1)), dense(&random(0, 3, 1)), dense(&random(3, 0, 1))),
            (&[1.0, 1.0][..], &[][..], &[][..])
        );
    }

    #[test]
    fn features_stand_side_by_side() {
        let left = Features::Dense { columns: 2, values: vec![1.0, 0.0, 2.0, 3.0] };
        let right = one_hot(&[1, NO_CLASS], 3);
        let expected = Features::Sparse {
            columns: 5,
            offsets: vec![0, 2, 4],
            index: vec![0, 3, 0, 1],
            values: vec![1.0, 1.0, 2.0, 3.0],
        };
        assert_eq!(concat_columns(left, right), expected);
    }

    #[test]
    fn rows_sum_to_one_and_zeros_stay() {
        let mut features =
            Features::Dense { columns: 2, values: vec![1.0, 3.0, 0.0, 0.0, -1.0, 1.0] };
        normalize_rows(&mut features);
        assert_eq!(dense(&features), [0.25, 0.75, 0.0, 0.0, -0.5, 0.5]);
        let mut features = Features::Sparse {
            columns: 9,
            offsets: vec![0, 2, 2, 3],
            index: vec![1, 4, 0],
            values: vec![1.0, 1.0, 5.0],
        };
        normalize_rows(&mut features);
        assert_eq!(
            features,
            Features::Sparse {
                columns: 9,
                offsets: vec![0, 2, 2, 3],
                index: vec![1, 4, 0],
                values: vec![0.5, 0.5, 1.0]
            }
        );
    }
}
