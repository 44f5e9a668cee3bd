//! gather: sums and products of whole rows, read where they lie.
//!
//!   rows laid out by the edge, then summed       writes and reads a row an edge more
//!   rows read where they lie, sum in memory      loads and stores the sum once an edge
//!   sum of a vertex in registers                 one load an edge and register, no store                                  <- this file
//!
//! promises  a sum goes in the order of the edges; no fused multiply-add, so that its bits are the same on every CPU; a dot product
//!           adds in eight lanes and then pairwise, whatever the CPU
use pulp::Arch;

use super::fetch::RowsOf;
use crate::Real;

/// Edges of neighbouring rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges<'a> {
    /// Where the edges of each row start; one more than there are rows.
    pub starts: &'a [u32],
    /// Row at the far end of each.
    pub far: &'a [u32],
    /// Place of each among the edges that weights were made for; none: its own.
    pub places: Option<&'a [u32]>,
}

/// Factors of parts of a row: so many an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights<'a, T> {
    /// For each edge, one after the other.
    pub values: &'a [T],
    /// How many an edge has.
    pub parts: usize,
}

/// Adds to each row of `out` those of `values` at the far ends of its edges, each part times its factor.
pub(super) fn sums<T: Real>(arch: Arch, out: &mut [T], (values, columns): (&[T], usize), edges: Edges, weights: Option<Weights<T>>) {
    match weights {
        Some(weights) if weights.parts > 1 => arch.dispatch(|| by_parts(out, (values, columns), edges, weights)),
        weights => {
            let mut first = 0;
            while first < columns {
                let left = columns - first;
                let weights = weights.map(|weights| weights.values);
                let at = (columns, first);
                first += match left {
                    64.. => arch.dispatch(|| tile::<T, 64>(out, values, at, edges, weights)),
                    32.. => arch.dispatch(|| tile::<T, 32>(out, values, at, edges, weights)),
                    16.. => arch.dispatch(|| tile::<T, 16>(out, values, at, edges, weights)),
                    8.. => arch.dispatch(|| tile::<T, 8>(out, values, at, edges, weights)),
                    4.. => arch.dispatch(|| tile::<T, 4>(out, values, at, edges, weights)),
                    2.. => arch.dispatch(|| tile::<T, 2>(out, values, at, edges, weights)),
                    _ => arch.dispatch(|| tile::<T, 1>(out, values, at, edges, weights)),
                };
            }
        }
    }
}

/// `WIDTH` columns of every row, in registers.
#[inline(always)]
fn tile<T: Real, const WIDTH: usize>(out: &mut [T], values: &[T], (columns, first): (usize, usize), edges: Edges, weights: Option<&[T]>) -> usize {
    for (row, ends) in edges.starts.windows(2).enumerate() {
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        if start == end {
            continue;
        }
        let held = &mut out[row * columns + first..][..WIDTH];
        let mut made = [T::ZERO; WIDTH];
        made.copy_from_slice(held);
        match (weights, edges.places) {
            (None, _) => {
                for &far in &edges.far[start..end] {
                    let read = &values[far as usize * columns + first..][..WIDTH];
                    for column in 0..WIDTH {
                        made[column] = made[column] + read[column];
                    }
                }
            }
            (Some(weights), None) => {
                for (&far, &weight) in edges.far[start..end].iter().zip(&weights[start..end]) {
                    let read = &values[far as usize * columns + first..][..WIDTH];
                    for column in 0..WIDTH {
                        made[column] = made[column] + weight * read[column];
                    }
                }
            }
            (Some(weights), Some(places)) => {
                for (&far, &place) in edges.far[start..end].iter().zip(&places[start..end]) {
                    let (weight, read) = (weights[place as usize], &values[far as usize * columns + first..][..WIDTH]);
                    for column in 0..WIDTH {
                        made[column] = made[column] + weight * read[column];
                    }
                }
            }
        }
        held.copy_from_slice(&made);
    }
    WIDTH
}

#[inline(always)]
fn by_parts<T: Real>(out: &mut [T], (values, columns): (&[T], usize), edges: Edges, weights: Weights<T>) {
    match (columns, columns / weights.parts) {
        (64, 8) => of_parts::<T, 64, 8>(out, values, edges, weights),
        (64, 16) => of_parts::<T, 64, 16>(out, values, edges, weights),
        (64, 32) => of_parts::<T, 64, 32>(out, values, edges, weights),
        (32, 8) => of_parts::<T, 32, 8>(out, values, edges, weights),
        (32, 16) => of_parts::<T, 32, 16>(out, values, edges, weights),
        (16, 8) => of_parts::<T, 16, 8>(out, values, edges, weights),
        _ => any_parts(out, (values, columns), edges, weights),
    }
}

/// Rows of `COLUMNS` in parts of `WIDTH`, in registers.
#[inline(always)]
fn of_parts<T: Real, const COLUMNS: usize, const WIDTH: usize>(out: &mut [T], values: &[T], edges: Edges, weights: Weights<T>) {
    let parts = COLUMNS / WIDTH;
    for (row, ends) in edges.starts.windows(2).enumerate() {
        let held = &mut out[row * COLUMNS..][..COLUMNS];
        let mut made = [T::ZERO; COLUMNS];
        made.copy_from_slice(held);
        for edge in ends[0] as usize..ends[1] as usize {
            let place = edges.places.map_or(edge, |places| places[edge] as usize);
            let read = &values[edges.far[edge] as usize * COLUMNS..][..COLUMNS];
            let factors = &weights.values[place * parts..][..parts];
            for part in 0..parts {
                for column in part * WIDTH..(part + 1) * WIDTH {
                    made[column] = made[column] + factors[part] * read[column];
                }
            }
        }
        held.copy_from_slice(&made);
    }
}

#[inline(always)]
fn any_parts<T: Real>(out: &mut [T], (values, columns): (&[T], usize), edges: Edges, weights: Weights<T>) {
    let width = columns / weights.parts;
    for (row, ends) in edges.starts.windows(2).enumerate() {
        let made = &mut out[row * columns..][..columns];
        for edge in ends[0] as usize..ends[1] as usize {
            let place = edges.places.map_or(edge, |places| places[edge] as usize);
            let read = &values[edges.far[edge] as usize * columns..][..columns];
            let factors = &weights.values[place * weights.parts..][..weights.parts];
            for ((made, read), factor) in made.chunks_exact_mut(width).zip(read.chunks_exact(width)).zip(factors) {
                made.iter_mut().zip(read).for_each(|(made, read)| *made = *made + *factor * *read);
            }
        }
    }
}

/// Rows of an operand: all elements that they lie among, and which they are.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    pub values: &'a [T],
    pub which: RowsOf<'a>,
}

/// For each row of `out`, of so many parts, the sums of products of the parts of two rows.
pub(super) fn dots<T: Real>(arch: Arch, out: &mut [T], (a, b): (Rows<T>, Rows<T>), (parts, width): (usize, usize)) {
    match width {
        8 => arch.dispatch(|| dots_of::<T, 8>(out, (a, b), parts)),
        16 => arch.dispatch(|| dots_of::<T, 16>(out, (a, b), parts)),
        32 => arch.dispatch(|| dots_of::<T, 32>(out, (a, b), parts)),
        64 => arch.dispatch(|| dots_of::<T, 64>(out, (a, b), parts)),
        _ => arch.dispatch(|| {
            let columns = parts * width;
            for (place, out) in out.chunks_exact_mut(parts.max(1)).enumerate() {
                let (a, b) = (&a.values[a.which.at(place) * columns..][..columns], &b.values[b.which.at(place) * columns..][..columns]);
                for (part, out) in out.iter_mut().enumerate() {
                    *out = dot(&a[part * width..][..width], &b[part * width..][..width]);
                }
            }
        }),
    }
}

#[inline(always)]
fn dots_of<T: Real, const WIDTH: usize>(out: &mut [T], (a, b): (Rows<T>, Rows<T>), parts: usize) {
    let columns = parts * WIDTH;
    for (place, out) in out.chunks_exact_mut(parts.max(1)).enumerate() {
        let (a, b) = (&a.values[a.which.at(place) * columns..][..columns], &b.values[b.which.at(place) * columns..][..columns]);
        for ((out, a), b) in out.iter_mut().zip(a.chunks_exact(WIDTH)).zip(b.chunks_exact(WIDTH)) {
            *out = dot(a, b);
        }
    }
}

#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    const LANES: usize = 8;
    let mut lanes = [T::ZERO; LANES];
    let (a_whole, b_whole) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_whole.remainder().iter().zip(b_whole.remainder()).fold(T::ZERO, |sum, (a, b)| sum + *a * *b);
    for (a, b) in a_whole.zip(b_whole) {
        for lane in 0..LANES {
            lanes[lane] = lanes[lane] + a[lane] * b[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h)) + rest
}
