//! Features: made up from communities, or simple ones; and row normalisation.
//!
//! promises  made-up rows are a centre of the community's class plus noise, so that neither a model without the graph nor
//!           one without features does as well as one with both; all are at least 0, as counts are
use super::labels::class_of_community;
use crate::{generate::counter::Counter, raw::Features};
use rayon::prelude::*;

/// How far a class's centre lies from the others', in deviations of the noise.
const SIGNAL: f32 = 0.5;

/// A row of `columns` numbers for each node.
pub fn make(community: &[u32], classes: u32, columns: u32, seed: u64) -> Features {
    let centre = Counter::new(seed, "fill.feature.centre");
    let noise = Counter::new(seed, "fill.feature.noise");
    let centres: Vec<f32> = (0..u64::from(classes.max(1)) * u64::from(columns)).map(|at| SIGNAL * centre.normal(at)).collect();
    let width = columns as usize;
    let mut values = vec![0f32; community.len() * width];
    values.par_chunks_mut(width.max(1)).with_min_len(256).enumerate().for_each(|(node, row)| {
        let class = if classes == 0 { 0 } else { class_of_community(community[node], classes, seed) as usize };
        for (column, value) in row.iter_mut().enumerate() {
            let drawn = noise.normal(node as u64 * u64::from(columns) + column as u64);
            *value = (1.0 + centres[class * width + column] + drawn).max(0.0);
        }
    });
    Features::Dense { columns, values }
}

/// One column: the number of in-edges.
pub fn degree(nodes: u32, target: &[u32]) -> Features {
    let mut values = vec![0f32; nodes as usize];
    target.iter().for_each(|&target| values[target as usize] += 1.0);
    Features::Dense { columns: 1, values }
}

/// One column of ones.
pub fn constant(nodes: u32) -> Features {
    Features::Dense { columns: 1, values: vec![1.0; nodes as usize] }
}

/// Divides each row by the sum of its absolute values; a row of zeros stays.
pub fn normalize_rows(features: &mut Features) {
    let scale = |row: &mut [f32]| {
        let sum: f32 = row.iter().map(|value| value.abs()).sum();
        if sum > 0.0 {
            row.iter_mut().for_each(|value| *value /= sum);
        }
    };
    match features {
        Features::Dense { columns, values } => values.par_chunks_mut((*columns as usize).max(1)).with_min_len(256).for_each(scale),
        Features::Sparse { offsets, values, .. } => {
            for row in offsets.windows(2) {
                scale(&mut values[row[0] as usize..row[1] as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_sum_to_one_and_zeros_stay() {
        let mut dense = Features::Dense { columns: 2, values: vec![1.0, 3.0, 0.0, 0.0, -1.0, 1.0] };
        normalize_rows(&mut dense);
        assert_eq!(dense, Features::Dense { columns: 2, values: vec![0.25, 0.75, 0.0, 0.0, -0.5, 0.5] });
        let mut sparse = Features::Sparse { columns: 9, offsets: vec![0, 2, 2], index: vec![1, 5], values: vec![1.0, 1.0] };
        normalize_rows(&mut sparse);
        assert_eq!(sparse, Features::Sparse { columns: 9, offsets: vec![0, 2, 2], index: vec![1, 5], values: vec![0.5, 0.5] });
    }

    #[test]
    fn nodes_of_one_class_are_alike() {
        let community: Vec<u32> = (0..2000).map(|node| node / 1000).collect();
        let (seed, classes) = ((0..).find(|&seed| class_of_community(0, 2, seed) != class_of_community(1, 2, seed)).unwrap(), 2);
        let Features::Dense { values, .. } = make(&community, classes, 8, seed) else { panic!("expected dense rows") };
        let mean = |rows: std::ops::Range<usize>, column: usize| rows.clone().map(|row| values[row * 8 + column]).sum::<f32>() / rows.len() as f32;
        let apart: f32 = (0..8).map(|column| (mean(0..1000, column) - mean(1000..2000, column)).abs()).sum();
        let noise: f32 = (0..8).map(|column| (mean(0..500, column) - mean(500..1000, column)).abs()).sum();
        assert!(apart > 3.0 * noise, "{apart} {noise}");
        assert!(values.iter().all(|&value| value >= 0.0));
    }

    #[test]
    fn no_nodes_and_no_columns() {
        assert_eq!(make(&[], 3, 4, 1), Features::Dense { columns: 4, values: vec![] });
        assert_eq!(degree(3, &[1, 1]), Features::Dense { columns: 1, values: vec![0.0, 2.0, 0.0] });
    }
}
