//! features: the share of nonzero feature values.
//!
//! promises  exact counts; a stored 0 counts as 0
//! limits    reads every value once
use rayon::prelude::*;
use warploom_contract::{
    Artifact, StageError,
    kinds::{
        graph::{self, Features},
        profile::FeatureFigures,
    },
};

/// Figures of each feature table of a graph.
pub fn figures(artifact: &Artifact) -> Result<Vec<FeatureFigures>, StageError> {
    let mut all: Vec<FeatureFigures> =
        graph::open_features(artifact)?.iter().map(|features| measure(None, features)).collect();
    for kind in graph::open_names(artifact)?.kinds {
        let features = graph::open_features_of_kind(artifact, &kind)?;
        all.extend(features.iter().map(|features| measure(Some(kind.clone()), features)));
    }
    Ok(all)
}

/// Figures of one feature table.
pub fn measure(kind: Option<String>, features: &Features) -> FeatureFigures {
    let count = |values: &[f32]| values.iter().filter(|&&value| value != 0.0).count() as u64;
    let (columns, sparse, counts) = match features {
        Features::Dense { columns, values } => {
            (*columns, false, tally(values.par_chunks(columns.max(&1).to_owned()).map(count)))
        }
        Features::Sparse { columns, entries } => {
            let row = |pair: &[i64]| count(&entries.values[pair[0] as usize..pair[1] as usize]);
            (*columns, true, tally(entries.offsets.par_windows(2).map(row)))
        }
    };
    let [rows, nonzero, empty_rows] = counts;
    let places = rows as f64 * columns as f64;
    let density = if places > 0.0 { nonzero as f64 / places } else { 0.0 };
    FeatureFigures { kind, rows, columns: columns as u64, sparse, nonzero, density, empty_rows }
}

/// Rows, nonzero values and empty rows, from the nonzero count of each row.
fn tally(counts: impl IndexedParallelIterator<Item = u64>) -> [u64; 3] {
    counts
        .with_min_len(1 << 10)
        .map(|count| [1, count, u64::from(count == 0)])
        .reduce(|| [0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]])
}
