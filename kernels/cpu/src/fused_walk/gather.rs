//! gather: sums and dot products of whole rows of far vertices, read in place.
//!
//!   rows copied per edge, then summed     writes and reads one more row per edge
//!   rows in place, sum in memory          loads and stores the sum once per edge
//!   sum of a vertex in registers          one load per edge and register, no store
//!   with prefetch                         several cache misses in flight at once   <- here
//!
//! promises  a sum runs in the order of the edges, without fused multiply-add, so that its bits are
//!           the same on every CPU; a dot product adds in eight lanes and then pairwise, on every
//!           CPU
use prefetch_index::prefetch_index;
use pulp::{Arch, Simd, WithSimd};

use crate::Real;
use crate::half_precision::Kept;

/// Prefetch distance, in edges.
const AHEAD: usize = 16;
/// Bytes of a cache line.
const BYTES_OF_LINE: usize = 64;

/// The edges of consecutive rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges<'a> {
    /// Where the edges of each row start; one more than there are rows.
    pub starts: &'a [u32],
    /// The row at the far end of each edge.
    pub far: &'a [u32],
    /// The index of each edge among those that weights were computed for; none: the same index.
    pub places: Option<&'a [u32]>,
}

/// Factors per part of a row: this many per edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights<'a, T> {
    /// Edge-major.
    pub values: &'a [T],
    /// Factors per edge.
    pub parts: usize,
}

/// Prefetches a row of a table.
#[inline(always)]
pub(super) fn prefetch_row<T>(values: &[T], row: usize, columns: usize) {
    for column in (0..columns).step_by(BYTES_OF_LINE / size_of::<T>()) {
        prefetch_index(values, row * columns + column);
    }
}

/// Adds to each row of `out` the rows of `values` at the far ends of its edges, each part times its
/// factor.
pub(super) fn sums<T: Real, V: Kept<T>>(
    arch: Arch,
    out: &mut [T],
    values: &[V],
    columns: usize,
    edges: Edges,
    weights: Option<Weights<T>>,
) {
    match weights {
        Some(weights) if weights.parts > 1 => {
            arch.dispatch(WeightedParts { out, values, columns, edges, weights })
        }
        weights => arch.dispatch(Whole {
            out,
            values,
            columns,
            edges,
            weights: weights.map(|weights| weights.values),
        }),
    }
}

/// Sums of rows with one factor per edge, or none.
struct Whole<'a, T, V> {
    out: &'a mut [T],
    values: &'a [V],
    columns: usize,
    edges: Edges<'a>,
    weights: Option<&'a [T]>,
}

impl<T: Real, V: Kept<T>> WithSimd for Whole<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        let mut first = 0;
        while first < self.columns {
            first += match self.columns - first {
                64.. => self.tile::<64>(first),
                32.. => self.tile::<32>(first),
                16.. => self.tile::<16>(first),
                8.. => self.tile::<8>(first),
                4.. => self.tile::<4>(first),
                2.. => self.tile::<2>(first),
                _ => self.tile::<1>(first),
            };
        }
    }
}

impl<T: Real, V: Kept<T>> Whole<'_, T, V> {
    /// `WIDTH` columns of every row, accumulated in registers.
    #[inline(always)]
    fn tile<const WIDTH: usize>(&mut self, first: usize) -> usize {
        let (columns, edges) = (self.columns, self.edges);
        for (row, ends) in edges.starts.windows(2).enumerate() {
            let (start, end) = (ends[0] as usize, ends[1] as usize);
            if start == end {
                continue;
            }
            let held = &mut self.out[row * columns + first..][..WIDTH];
            let mut made = [T::ZERO; WIDTH];
            made.copy_from_slice(held);
            for edge in start..end {
                if let Some(&later) = edges.far.get(edge + AHEAD) {
                    for column in (0..WIDTH).step_by(BYTES_OF_LINE / size_of::<V>()) {
                        prefetch_index(self.values, later as usize * columns + first + column);
                    }
                }
                let read = &self.values[edges.far[edge] as usize * columns + first..][..WIDTH];
                match self.weights {
                    None => (0..WIDTH)
                        .for_each(|column| made[column] = made[column] + read[column].read()),
                    Some(weights) => {
                        let weight =
                            weights[edges.places.map_or(edge, |places| places[edge] as usize)];
                        (0..WIDTH).for_each(|column| {
                            made[column] = made[column] + weight * read[column].read()
                        });
                    }
                }
            }
            held.copy_from_slice(&made);
        }
        WIDTH
    }
}

/// Sums of rows with a factor per part (attention heads).
struct WeightedParts<'a, T, V> {
    out: &'a mut [T],
    values: &'a [V],
    columns: usize,
    edges: Edges<'a>,
    weights: Weights<'a, T>,
}

impl<T: Real, V: Kept<T>> WithSimd for WeightedParts<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match (self.weights.parts, self.columns / self.weights.parts) {
            (8, 8) => self.parts::<8, 8>(),
            (4, 16) => self.parts::<4, 16>(),
            (2, 32) => self.parts::<2, 32>(),
            (4, 8) => self.parts::<4, 8>(),
            (2, 16) => self.parts::<2, 16>(),
            (2, 8) => self.parts::<2, 8>(),
            _ => self.sum_any_width(),
        }
    }
}

impl<T: Real, V: Kept<T>> WeightedParts<'_, T, V> {
    /// `PARTS` of `WIDTH` columns, accumulated in registers.
    #[inline(always)]
    fn parts<const PARTS: usize, const WIDTH: usize>(self) {
        let (columns, edges) = (PARTS * WIDTH, self.edges);
        for (row, ends) in edges.starts.windows(2).enumerate() {
            let held = &mut self.out[row * columns..][..columns];
            let mut made = [[T::ZERO; WIDTH]; PARTS];
            made.as_flattened_mut().copy_from_slice(held);
            for edge in ends[0] as usize..ends[1] as usize {
                if let Some(&later) = edges.far.get(edge + AHEAD) {
                    prefetch_row(self.values, later as usize, columns);
                }
                let place = edges.places.map_or(edge, |places| places[edge] as usize);
                let read = self.values[edges.far[edge] as usize * columns..][..columns]
                    .as_chunks::<WIDTH>()
                    .0;
                let factors = &self.weights.values[place * PARTS..][..PARTS];
                for part in 0..PARTS {
                    let (factor, read) = (factors[part], &read[part]);
                    for column in 0..WIDTH {
                        made[part][column] = made[part][column] + factor * read[column].read();
                    }
                }
            }
            held.copy_from_slice(made.as_flattened());
        }
    }

    #[inline(always)]
    fn sum_any_width(self) {
        let (columns, edges, parts) = (self.columns, self.edges, self.weights.parts);
        let width = columns / parts;
        for (row, ends) in edges.starts.windows(2).enumerate() {
            let made = &mut self.out[row * columns..][..columns];
            for edge in ends[0] as usize..ends[1] as usize {
                if let Some(&later) = edges.far.get(edge + AHEAD) {
                    prefetch_row(self.values, later as usize, columns);
                }
                let place = edges.places.map_or(edge, |places| places[edge] as usize);
                let read = &self.values[edges.far[edge] as usize * columns..][..columns];
                let factors = &self.weights.values[place * parts..][..parts];
                for ((made, read), factor) in
                    made.chunks_exact_mut(width).zip(read.chunks_exact(width)).zip(factors)
                {
                    made.iter_mut()
                        .zip(read)
                        .for_each(|(made, read)| *made = *made + *factor * read.read());
                }
            }
        }
    }
}

/// A sequence of row numbers.
#[derive(Clone, Copy)]
pub(super) enum RowIndices<'h> {
    /// The only row, repeated.
    One,
    /// Consecutive rows from this one on.
    From(usize),
    /// These rows, relative to the first.
    By(usize, &'h [u32]),
}

impl RowIndices<'_> {
    /// The row at this position of the sequence.
    #[inline(always)]
    pub fn row_index(&self, place: usize) -> usize {
        match self {
            RowIndices::One => 0,
            RowIndices::From(first) => first + place,
            RowIndices::By(first, index) => first + index[place] as usize,
        }
    }
}

/// Rows of an operand: the elements that they are part of, and the row numbers.
#[derive(Clone, Copy)]
pub(super) struct GatheredRows<'a, T> {
    pub values: &'a [T],
    pub which: RowIndices<'a>,
}

impl<'a, T> GatheredRows<'a, T> {
    #[inline(always)]
    fn row(&self, place: usize, columns: usize) -> &'a [T] {
        &self.values[self.which.row_index(place) * columns..][..columns]
    }

    #[inline(always)]
    fn prefetch_ahead(&self, place: usize, columns: usize) {
        if let RowIndices::By(first, index) = self.which
            && let Some(&later) = index.get(place + AHEAD)
        {
            prefetch_row(self.values, first + later as usize, columns);
        }
    }
}

/// For each row of `out`, dot products of two rows per part.
pub(super) fn dots<T: Real>(
    arch: Arch,
    out: &mut [T],
    a: GatheredRows<T>,
    b: GatheredRows<T>,
    parts: usize,
    width: usize,
) {
    arch.dispatch(Dots { out, a, b, parts, width });
}

struct Dots<'a, T> {
    out: &'a mut [T],
    a: GatheredRows<'a, T>,
    b: GatheredRows<'a, T>,
    parts: usize,
    width: usize,
}

impl<T: Real> WithSimd for Dots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.width {
            8 => self.dot_rows::<8>(),
            16 => self.dot_rows::<16>(),
            32 => self.dot_rows::<32>(),
            64 => self.dot_rows::<64>(),
            width => {
                let columns = self.parts * width;
                for (place, out) in self.out.chunks_exact_mut(self.parts.max(1)).enumerate() {
                    self.a.prefetch_ahead(place, columns);
                    self.b.prefetch_ahead(place, columns);
                    let (a, b) = (self.a.row(place, columns), self.b.row(place, columns));
                    for (part, out) in out.iter_mut().enumerate() {
                        *out = dot(&a[part * width..][..width], &b[part * width..][..width]);
                    }
                }
            }
        }
    }
}

impl<T: Real> Dots<'_, T> {
    #[inline(always)]
    fn dot_rows<const WIDTH: usize>(self) {
        let columns = self.parts * WIDTH;
        for (place, out) in self.out.chunks_exact_mut(self.parts.max(1)).enumerate() {
            self.a.prefetch_ahead(place, columns);
            self.b.prefetch_ahead(place, columns);
            let (a, b) = (
                self.a.row(place, columns).as_chunks::<WIDTH>().0,
                self.b.row(place, columns).as_chunks::<WIDTH>().0,
            );
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out = dot(a, b);
            }
        }
    }
}

#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let ((a_whole, a_rest), (b_whole, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let rest = a_rest.iter().zip(b_rest).fold(T::ZERO, |sum, (a, b)| sum + *a * *b);
    for (a, b) in a_whole.iter().zip(b_whole) {
        for lane in 0..LANES {
            lanes[lane] = lanes[lane] + a[lane] * b[lane];
        }
    }
    joined(lanes) + rest
}

/// Lanes of a sum along a row.
pub(super) const LANES: usize = 8;

/// The sum of all lanes, pairwise.
#[inline(always)]
pub(super) fn joined<T: Real>([a, b, c, d, e, f, g, h]: [T; LANES]) -> T {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}
