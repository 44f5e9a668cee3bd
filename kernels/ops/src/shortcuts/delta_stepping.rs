//! delta_stepping: the least sum along any way, bucket after bucket of nearly equal sums
//! (delta-stepping, Meyer & Sanders 2003).
//!
//! promises  for every vertex the least, over all ways, of the first value plus the lengths in
//!           their order, each sum rounded: rounding keeps order, so that is one number, whichever
//!           way is found first
//! asks      lengths and first values that are not negative and are numbers
//! bytes     an edge is read each time the sum of its source falls; buckets as wide as a few edges
//!           make that seldom
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::{GoOn, NeighbourLists};
use crate::Real;

/// A bucket is so many mean lengths wide, for a vertex of one edge; the more edges, the narrower.
const WIDTH: f64 = 8.0;
/// Buckets that are kept apart; what lies beyond waits together.
const BUCKETS: usize = 512;
/// Rounds with fewer vertices are done by one thread.
const VERTICES_ALONE: usize = 512;
/// Vertices of one task.
const TASK_VERTICES: usize = 128;
/// So many vertices of far buckets are always kept.
const TIDY_LEAST: usize = 1 << 20;

/// Lengths of the edges of some lists.
#[derive(Clone, Copy, Debug)]
pub enum Lengths<'a, T> {
    /// All the same.
    Same(T),
    /// One for each entry.
    Each(&'a [T]),
}

/// Sums that threads lower together: reals that are not negative have the order of their bits.
pub trait Lowered: Real {
    /// The bits.
    type Cell: Send + Sync;
    /// A number as bits.
    fn cell(self) -> Self::Cell;
    /// The number.
    fn read(cell: &Self::Cell) -> Self;
    /// Replaces it.
    fn write(cell: &Self::Cell, value: Self);
    /// Keeps the smaller; whether that was the new one.
    fn lower(cell: &Self::Cell, value: Self) -> bool;
    /// The same, where no other thread writes.
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

/// The graph: from a vertex to those that read it, with the length of each edge.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a, T> {
    /// Edges.
    pub lists: NeighbourLists<'a>,
    /// Their lengths.
    pub lengths: Lengths<'a, T>,
}

/// Whether sums may begin so.
pub fn may_begin<T: Lowered>(first: &[T]) -> bool {
    first.iter().all(|value| *value >= T::ZERO && value.widened().is_sign_positive())
}

/// Whether edges may be so long.
pub fn may_be<T: Lowered>(lengths: Lengths<T>) -> bool {
    match lengths {
        Lengths::Same(length) => length >= T::ZERO,
        Lengths::Each(lengths) => lengths
            .par_chunks(1 << 16)
            .all(|lengths| lengths.iter().all(|length| *length >= T::ZERO)),
    }
}

/// The sums as far as they go down from the first values, and in how many rounds; nothing where it
/// was told to stop.
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
        // A bucket is done when nothing falls into it any more.
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

/// How wide a bucket is.
fn width<T: Lowered>(ways: &[Ways<T>]) -> f64 {
    let (mut summed, mut counted, mut edges, mut rows) = (0.0, 0u64, 0, 1);
    for way in ways {
        (edges, rows) = (edges + way.lists.neighbours.len(), rows.max(way.lists.rows()));
        match way.lengths {
            Lengths::Same(length) => (summed, counted) = (summed + length.widened(), counted + 1),
            // A few thousand of them tell.
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
    /// The sum with which a vertex was done last: standing in a bucket twice, it is done once.
    done: &'a [T::Cell],
    ways: &'a [Ways<'a, T>],
    /// Buckets in a length of 1.
    per_length: f64,
}

impl<T: Lowered> BucketWalk<'_, T> {
    #[inline(always)]
    fn bucket(&self, value: T) -> u64 {
        // What is beyond all numbers is in the last.
        (value.widened() * self.per_length) as u64
    }

    /// Lowers what a vertex of this bucket leads to, if it was not done, and hands over what has
    /// fallen.
    #[inline(always)]
    fn go(
        &self,
        vertex: u32,
        number: u64,
        lower: impl Fn(&T::Cell, T) -> bool,
        mut fallen: impl FnMut(u32, T),
    ) {
        let sum = T::read(&self.sums[vertex as usize]);
        // In a smaller bucket it was done there.
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

    /// One thread; what falls into the same bucket waits in the list itself.
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

    /// All threads; gives what fell into the same bucket.
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
            // Of the same bucket or, where another thread was first, of one before it, which is not
            // entered again.
            if bucket <= number { same.push(vertex) } else { buckets.insert(bucket, vertex) }
        }
        same
    }
}

/// Vertices by number of bucket; a vertex that falls stands in several, and is done in the first.
struct Buckets {
    /// Number of the first of `near`.
    first: u64,
    at: usize,
    near: Vec<Vec<u32>>,
    far: Vec<(u64, u32)>,
    /// When there are so many far ones, those that have fallen since are forgotten.
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

    /// The first bucket that holds something.
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
