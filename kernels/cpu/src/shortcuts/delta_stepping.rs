//! delta_stepping: shortest paths, bucket after bucket of nearly equal distances (delta-stepping,
//! Meyer & Sanders 2003).
//!
//! promises  for every vertex the minimum, over all paths, of the initial value plus the lengths in
//!           path order, each sum rounded: rounding is monotonic, so the result is unique,
//!           whichever path is found first
//! asks      lengths and initial values that are neither negative nor NaN
//! bytes     an edge is read each time the distance of its source falls; buckets as wide as a few
//!           edges make that rare
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::{GoOn, NeighbourLists};
use crate::Real;

/// Width of a bucket in mean edge lengths, for mean degree 1; narrower for higher degrees.
const WIDTH: f64 = 8.0;
/// Separate buckets; vertices beyond wait in one list.
const BUCKETS: usize = 512;
/// Rounds with fewer vertices run on one thread.
const VERTICES_ALONE: usize = 512;
/// Vertices per task.
const TASK_VERTICES: usize = 128;
/// Up to this many vertices beyond the buckets are kept without compaction.
const TIDY_LEAST: usize = 1 << 20;

/// Lengths of the edges of some lists.
#[derive(Clone, Copy, Debug)]
pub enum Lengths<'a, T> {
    /// All equal.
    Same(T),
    /// One per entry.
    Each(&'a [T]),
}

/// Distances that threads lower concurrently: non-negative floats order like their bits.
pub trait Lowered: Real {
    /// An atomic cell of the bits.
    type Cell: Send + Sync;
    /// A number as a cell.
    fn cell(self) -> Self::Cell;
    /// The number.
    fn read(cell: &Self::Cell) -> Self;
    /// Replaces it.
    fn write(cell: &Self::Cell, value: Self);
    /// Atomic minimum; whether the new value was smaller.
    fn lower(cell: &Self::Cell, value: Self) -> bool;
    /// The same without atomicity, where no other thread writes.
    fn lower_alone(cell: &Self::Cell, value: Self) -> bool {
        let falls = value < Self::read(cell);
        if falls {
            Self::write(cell, value);
        }
        falls
    }
}

macro_rules! lowered {
    ($real:ident, $cell:ty) => {
        impl Lowered for $real {
            type Cell = $cell;

            fn cell(self) -> $cell {
                <$cell>::new(self.to_bits())
            }

            #[inline(always)]
            fn read(cell: &$cell) -> $real {
                $real::from_bits(cell.load(Relaxed))
            }

            #[inline(always)]
            fn write(cell: &$cell, value: $real) {
                cell.store(value.to_bits(), Relaxed);
            }

            #[inline(always)]
            fn lower(cell: &$cell, value: $real) -> bool {
                value < Self::read(cell)
                    && cell.fetch_min(value.to_bits(), Relaxed) > value.to_bits()
            }
        }
    };
}

lowered!(f32, std::sync::atomic::AtomicU32);
lowered!(f64, std::sync::atomic::AtomicU64);

/// The graph: from a vertex to its readers, with the length of each edge.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a, T> {
    /// Edges.
    pub lists: NeighbourLists<'a>,
    /// Their lengths.
    pub lengths: Lengths<'a, T>,
}

/// Whether these initial values are valid.
pub fn may_begin<T: Lowered>(first: &[T]) -> bool {
    first.iter().all(|value| *value >= T::ZERO && value.widened().is_sign_positive())
}

/// Whether these lengths are valid.
pub fn may_be<T: Lowered>(lengths: Lengths<T>) -> bool {
    match lengths {
        Lengths::Same(length) => length >= T::ZERO,
        Lengths::Each(lengths) => lengths
            .par_chunks(1 << 16)
            .all(|lengths| lengths.iter().all(|length| *length >= T::ZERO)),
    }
}

/// The distances relaxed from the initial values, and the number of rounds; none if it was stopped.
pub fn paths<T: Lowered>(values: &[T], ways: &[Ways<T>], go_on: GoOn) -> Option<(Vec<T>, u64)> {
    let per_length = 1.0 / width(ways);
    let sums: Vec<T::Cell> = values.iter().map(|value| value.cell()).collect();
    let done: Vec<T::Cell> = values.iter().map(|_| T::LARGEST.cell()).collect();
    let walk = BucketWalk { sums: &sums, done: &done, ways, per_length };
    let mut buckets = Buckets::new();
    for (vertex, value) in values.iter().enumerate() {
        if *value < T::LARGEST {
            buckets.insert(walk.bucket(*value), vertex as u32);
        }
    }
    let mut rounds = 0;
    while let Some((number, mut list)) = buckets.take() {
        // A bucket is finished when nothing falls into it any more.
        while !list.is_empty() {
            if !go_on() {
                return None;
            }
            rounds += 1;
            list = if list.len() < VERTICES_ALONE {
                walk.alone(number, list, &mut buckets)
            } else {
                walk.together(number, &list, &mut buckets)
            };
        }
        buckets.tidy(|vertex| walk.bucket(T::read(&sums[vertex as usize])));
    }
    Some((sums.iter().map(T::read).collect(), rounds))
}

/// The width of a bucket.
fn width<T: Lowered>(ways: &[Ways<T>]) -> f64 {
    let (mut summed, mut counted, mut edges, mut rows) = (0.0, 0u64, 0, 1);
    for way in ways {
        (edges, rows) = (edges + way.lists.neighbours.len(), rows.max(way.lists.rows()));
        match way.lengths {
            Lengths::Same(length) => (summed, counted) = (summed + length.widened(), counted + 1),
            // A sample of a few thousand.
            Lengths::Each(lengths) => {
                let step = (lengths.len() / 4096).max(1);
                let finite = lengths
                    .iter()
                    .step_by(step)
                    .map(|length| length.widened())
                    .filter(|length| length.is_finite());
                let (sum, count) =
                    finite.fold((0.0, 0), |(sum, count), length| (sum + length, count + 1));
                (summed, counted) = (summed + sum, counted + count);
            }
        }
    }
    let (mean, degree) = (summed / counted.max(1) as f64, edges as f64 / rows as f64);
    let width = mean * WIDTH / degree.max(1.0);
    if width > 0.0 && width.is_finite() { width } else { 1.0 }
}

struct BucketWalk<'a, T: Lowered> {
    sums: &'a [T::Cell],
    /// The distance at which a vertex was last expanded: a vertex may be in a bucket twice, and is
    /// expanded once.
    done: &'a [T::Cell],
    ways: &'a [Ways<'a, T>],
    /// Buckets per unit length.
    per_length: f64,
}

impl<T: Lowered> BucketWalk<'_, T> {
    #[inline(always)]
    fn bucket(&self, value: T) -> u64 {
        // Infinity goes to the last bucket.
        (value.widened() * self.per_length) as u64
    }

    /// Relaxes the edges of a vertex of this bucket, unless it was expanded already, and returns
    /// the vertices whose distance fell.
    #[inline(always)]
    fn go(
        &self,
        vertex: u32,
        number: u64,
        lower: impl Fn(&T::Cell, T) -> bool,
        mut fallen: impl FnMut(u32, T),
    ) {
        let sum = T::read(&self.sums[vertex as usize]);
        // It was expanded in an earlier bucket.
        if self.bucket(sum) < number || T::read(&self.done[vertex as usize]) == sum {
            return;
        }
        T::write(&self.done[vertex as usize], sum);
        for way in self.ways {
            let entries = way.lists.offsets[vertex as usize] as usize
                ..way.lists.offsets[vertex as usize + 1] as usize;
            let fars = &way.lists.neighbours[entries.clone()];
            let mut to = |far: u32, length: T| {
                let value = sum.plus(length);
                if lower(&self.sums[far as usize], value) {
                    fallen(far, value);
                }
            };
            match way.lengths {
                Lengths::Same(length) => fars.iter().for_each(|&far| to(far, length)),
                Lengths::Each(lengths) => {
                    fars.iter().zip(&lengths[entries]).for_each(|(&far, &length)| to(far, length))
                }
            }
        }
    }

    /// One thread; vertices that fall into the same bucket are appended to the list itself.
    fn alone(&self, number: u64, mut list: Vec<u32>, buckets: &mut Buckets) -> Vec<u32> {
        let mut at = 0;
        while at < list.len() {
            let vertex = list[at];
            self.ways.iter().for_each(|way| way.lists.prefetch_ahead(&list, at));
            at += 1;
            self.go(vertex, number, T::lower_alone, |far, value| {
                let bucket = self.bucket(value);
                if bucket == number { list.push(far) } else { buckets.insert(bucket, far) }
            });
            if list.len() - at >= VERTICES_ALONE {
                return list.split_off(at);
            }
        }
        Vec::new()
    }

    /// All threads; returns the vertices that fell into the same bucket.
    fn together(&self, number: u64, list: &[u32], buckets: &mut Buckets) -> Vec<u32> {
        let parts: Vec<Vec<(u64, u32)>> = list
            .par_chunks(TASK_VERTICES)
            .fold(Vec::new, |mut fallen, part| {
                for (at, &vertex) in part.iter().enumerate() {
                    self.ways.iter().for_each(|way| way.lists.prefetch_ahead(part, at));
                    self.go(vertex, number, T::lower, |far, value| {
                        fallen.push((self.bucket(value), far))
                    });
                }
                fallen
            })
            .collect();
        let mut same = Vec::new();
        for (bucket, vertex) in parts.into_iter().flatten() {
            // The same bucket or, if another thread was first, an earlier one, which is not
            // revisited.
            if bucket <= number { same.push(vertex) } else { buckets.insert(bucket, vertex) }
        }
        same
    }
}

/// Vertices by bucket; a vertex whose distance falls is in several, and is expanded in the first.
struct Buckets {
    /// Number of the first bucket of `near`.
    first: u64,
    at: usize,
    near: Vec<Vec<u32>>,
    far: Vec<(u64, u32)>,
    /// At this many far vertices, outdated ones are removed.
    tidy_at: usize,
}

impl Buckets {
    fn new() -> Self {
        Buckets {
            first: 0,
            at: 0,
            near: vec![Vec::new(); BUCKETS],
            far: Vec::new(),
            tidy_at: TIDY_LEAST,
        }
    }

    #[inline(always)]
    fn insert(&mut self, number: u64, vertex: u32) {
        match self.near.get_mut(number.saturating_sub(self.first) as usize) {
            Some(bucket) => bucket.push(vertex),
            None => self.far.push((number, vertex)),
        }
    }

    /// The first bucket that is not empty.
    fn take(&mut self) -> Option<(u64, Vec<u32>)> {
        loop {
            if let Some(found) = self.near[self.at..].iter().position(|bucket| !bucket.is_empty()) {
                self.at += found;
                return Some((
                    self.first + self.at as u64,
                    std::mem::take(&mut self.near[self.at]),
                ));
            }
            let first = self.far.iter().map(|(number, _)| *number).min()?;
            (self.first, self.at) = (first, 0);
            for (number, vertex) in std::mem::take(&mut self.far) {
                self.insert(number, vertex);
            }
        }
    }

    fn tidy(&mut self, bucket: impl Fn(u32) -> u64) {
        if self.far.len() > self.tidy_at {
            self.far.retain(|(number, vertex)| bucket(*vertex) == *number);
            self.tidy_at = TIDY_LEAST.max(2 * self.far.len());
        }
    }
}
