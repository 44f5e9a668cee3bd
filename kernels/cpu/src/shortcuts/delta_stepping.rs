//! delta_stepping: shortest paths, bucket after bucket of nearly equal distances (delta-stepping,
//! Meyer & Sanders 2003).
//!
//! promises  for every vertex the minimum, over all paths, of the initial value plus the lengths in
//!           path order, each sum rounded: rounding is monotonic, so the result is unique,
//!           whichever path is found first
//! asks      lengths and initial values that are neither negative nor NaN
//! bytes     an edge is read each time the distance of its source falls; buckets as wide as a few
//!           edges make that rare
//!
//! Each thread sorts what it lowers into buckets of its own, and goes on with what falls into the
//! bucket that is being emptied while it is short (bucket fusion, Zhang et al. 2020).
use std::sync::{
    Mutex, MutexGuard, RwLock,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use rayon::prelude::*;

use super::{
    AT_LEAST, GoOn, NeighbourLists,
    thread_team::{self, Leader, held},
};
use crate::Real;

/// Width of a bucket in mean edge lengths, for mean degree 1; narrower for higher degrees.
const WIDTH: f64 = 8.0;
/// Separate buckets; vertices beyond wait in one list.
const BUCKETS: usize = 512;
/// Rounds with fewer vertices run on one thread.
const VERTICES_ALONE: usize = 256;
/// Vertices that a thread takes at once.
const VERTICES_AT_ONCE: usize = 64;
/// A thread goes on with its own part of a bucket while it has fewer vertices.
const FUSED: usize = 1000;
/// Up to this many vertices beyond the buckets are kept without compaction.
const TIDY_LEAST: usize = 1 << 16;

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
    first.par_chunks(1 << 16).all(|first| {
        first.iter().all(|value| *value >= T::ZERO && value.widened().is_sign_positive())
    })
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
    let walk = BucketWalk::new(values, ways);
    let begun = values.par_iter().with_min_len(AT_LEAST).enumerate();
    let begun = begun.filter(|(_, value)| **value < T::LARGEST);
    let begun: Vec<u32> = begun.map(|(vertex, _)| vertex as u32).collect();
    for vertex in begun {
        walk.lock(0).insert(walk.bucket(values[vertex as usize]), vertex);
    }
    let round = |_, task: usize| walk.relax(task);
    let rounds = thread_team::lead(&round, |leader| walk.run(leader, go_on))?;
    Some((walk.sums.par_iter().with_min_len(AT_LEAST).map(T::read).collect(), rounds))
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
    /// The distances.
    sums: Vec<T::Cell>,
    /// The distance at which a vertex was last expanded: a vertex may be in a bucket twice, and is
    /// expanded once.
    done: Vec<T::Cell>,
    ways: &'a [Ways<'a, T>],
    /// Buckets per unit length.
    per_length: f64,
    /// Vertices of the round, and how many are taken.
    list: RwLock<Vec<u32>>,
    taken: AtomicUsize,
    /// The bucket that is being emptied.
    number: AtomicU64,
    /// Those of each thread; all have one window.
    buckets: Vec<Mutex<Buckets>>,
}

impl<'a, T: Lowered> BucketWalk<'a, T> {
    fn new(values: &[T], ways: &'a [Ways<'a, T>]) -> Self {
        let rows = values.par_iter().with_min_len(AT_LEAST);
        BucketWalk {
            sums: rows.clone().map(|value| value.cell()).collect(),
            done: rows.map(|_| T::LARGEST.cell()).collect(),
            ways,
            per_length: 1.0 / width(ways),
            list: RwLock::default(),
            taken: AtomicUsize::new(0),
            number: AtomicU64::new(0),
            buckets: (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect(),
        }
    }

    fn lock(&self, thread: usize) -> MutexGuard<'_, Buckets> {
        held(self.buckets[thread].lock())
    }

    /// Bucket after bucket; the number of rounds.
    fn run(&self, leader: &Leader, go_on: GoOn) -> Option<u64> {
        let (mut rounds, mut list) = (0, Vec::new());
        while self.next_list(&mut list) {
            if !go_on() {
                return None;
            }
            rounds += 1;
            if leader.gains(list.len() as u64, VERTICES_ALONE as u64) {
                let mut round = held(self.list.write());
                std::mem::swap(&mut *round, &mut list);
                drop(round);
                self.taken.store(0, Relaxed);
                leader.run(0, self.buckets.len());
            } else {
                let most = if leader.threads() > 1 { VERTICES_ALONE * 4 } else { usize::MAX };
                self.relax_alone(&mut list, most);
            }
        }
        Some(rounds)
    }

    /// Takes the first bucket that is not empty of all threads: it is finished when nothing falls
    /// into it any more.
    fn next_list(&self, list: &mut Vec<u32>) -> bool {
        list.clear();
        let mut all: Vec<_> = (0..self.buckets.len()).map(|thread| self.lock(thread)).collect();
        for own in &mut all {
            own.tidy(|vertex| self.bucket(T::read(&self.sums[vertex as usize])));
        }
        let Some(first) = all.first().map(|buckets| buckets.first) else { return false };
        let from = self.number.load(Relaxed).saturating_sub(first) as usize;
        let found = (from..BUCKETS).find(|&at| all.iter().any(|own| !own.near[at].is_empty()));
        let number = match found {
            Some(at) => first + at as u64,
            None => {
                let far = all.iter().flat_map(|own| own.far.iter().map(|(number, _)| *number));
                let Some(number) = far.min() else { return false };
                for own in &mut all {
                    own.move_window(number);
                }
                number
            }
        };
        self.number.store(number, Relaxed);
        for own in &mut all {
            let first = own.first;
            list.append(&mut own.near[(number - first) as usize]);
        }
        true
    }

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

    /// One thread; vertices that fall into the same bucket are appended to the list itself, up to
    /// what others can help with.
    fn relax_alone(&self, list: &mut Vec<u32>, most: usize) {
        let number = self.number.load(Relaxed);
        let mut own = self.lock(0);
        let (mut at, given) = (0, list.len());
        while at < given || at < list.len() && list.len() - at < most {
            let vertex = list[at];
            self.ways.iter().for_each(|way| way.lists.prefetch_ahead(list, at));
            at += 1;
            self.go(vertex, number, T::lower_alone, |far, value| {
                let bucket = self.bucket(value);
                if bucket == number { list.push(far) } else { own.insert(bucket, far) }
            });
        }
        for &vertex in &list[at..] {
            own.insert(number, vertex);
        }
    }

    /// A thread's part of a round: vertices of the list as long as there are any, then those that
    /// it made fall into the bucket itself.
    fn relax(&self, thread: usize) {
        let number = self.number.load(Relaxed);
        let list = held(self.list.read());
        let mut own = self.lock(thread);
        loop {
            let at = self.taken.fetch_add(VERTICES_AT_ONCE, Relaxed).min(list.len());
            let part = &list[at..list.len().min(at + VERTICES_AT_ONCE)];
            if part.is_empty() {
                break;
            }
            self.relax_part(part, number, &mut own);
        }
        let at = (number - own.first) as usize;
        while (1..FUSED).contains(&own.near[at].len()) {
            let part = std::mem::take(&mut own.near[at]);
            self.relax_part(&part, number, &mut own);
        }
    }

    fn relax_part(&self, part: &[u32], number: u64, own: &mut Buckets) {
        for (at, &vertex) in part.iter().enumerate() {
            self.ways.iter().for_each(|way| way.lists.prefetch_ahead(part, at));
            self.go(vertex, number, T::lower, |far, value| {
                // In an earlier bucket only if another thread was first, which goes on with it.
                own.insert(self.bucket(value).max(number), far)
            });
        }
    }
}

/// Vertices by bucket; a vertex whose distance falls is in several, and is expanded in the first.
struct Buckets {
    /// Number of the first bucket of `near`.
    first: u64,
    near: Vec<Vec<u32>>,
    far: Vec<(u64, u32)>,
    /// At this many far vertices, outdated ones are removed.
    tidy_at: usize,
}

impl Default for Buckets {
    fn default() -> Self {
        Buckets { first: 0, near: vec![Vec::new(); BUCKETS], far: Vec::new(), tidy_at: TIDY_LEAST }
    }
}

impl Buckets {
    #[inline(always)]
    fn insert(&mut self, number: u64, vertex: u32) {
        match self.near.get_mut(number.saturating_sub(self.first) as usize) {
            Some(bucket) => bucket.push(vertex),
            None => self.far.push((number, vertex)),
        }
    }

    /// Has `near` begin at another bucket, when it is empty.
    fn move_window(&mut self, first: u64) {
        self.first = first;
        for (number, vertex) in std::mem::take(&mut self.far) {
            self.insert(number, vertex);
        }
    }

    fn tidy(&mut self, bucket: impl Fn(u32) -> u64) {
        if self.far.len() > self.tidy_at {
            self.far.retain(|(number, vertex)| bucket(*vertex) == *number);
            self.tidy_at = TIDY_LEAST.max(2 * self.far.len());
        }
    }
}

/// Bytes of the arrays that have an element of each vertex, the results among them.
#[cfg(test)]
pub fn bytes_of_arrays<T: Lowered>(values: &[T], ways: &[Ways<T>]) -> usize {
    let walk = BucketWalk::new(values, ways);
    let cells = walk.sums.capacity() + walk.done.capacity();
    size_of::<T::Cell>() * cells + size_of_val(values)
}
