//! lane_layout: which element of a row each place of the frame holds, and the shortest expression
//! for it.
//!
//! promises  a table lists, for every place of the frame in order, the element of one value's row;
//!           the expression of a table, applied to a place, is that element for every place; equal
//!           tables are shared
//! never     knows what a value is
use std::rc::Rc;

use warploom_ir::broadcast;
use warploom_tuning as tuning;

/// The element of a row, for each place of the frame.
pub type Table = Rc<Vec<u32>>;

/// The table in which each place holds its own element.
pub fn identity(places: usize) -> Table {
    Rc::new((0..places as u32).collect())
}

/// The elements of an operand of shape `inner` that the elements of a result of shape `outer` are
/// computed from, by the broadcasting rules of NumPy.
pub fn broadcast_elements(table: &Table, outer: &[u64], inner: &[u64]) -> Table {
    if outer == inner || inner.iter().product::<u64>() == outer.iter().product::<u64>() {
        return table.clone();
    }
    Rc::new(table.iter().map(|&element| broadcast_element(element, outer, inner)).collect())
}

fn broadcast_element(element: u32, outer: &[u64], inner: &[u64]) -> u32 {
    debug_assert!(broadcast(outer, inner).is_some());
    let (mut rest, mut found, mut stride) = (u64::from(element), 0, 1);
    for back in 1..=outer.len() {
        let length = outer[outer.len() - back].max(1);
        let place = rest % length;
        rest /= length;
        if back <= inner.len() {
            let held = inner[inner.len() - back];
            found += if held == 1 { 0 } else { place * stride };
            stride *= held.max(1);
        }
    }
    found as u32
}

/// The input elements at place `at` of an axis, for the elements of a reduction along it.
pub fn axis_elements(table: &Table, input: &[u64], axis: usize, at: u64) -> Table {
    let (length, inner) = axis_of(input, axis);
    Rc::new(
        table
            .iter()
            .map(|&element| {
                (u64::from(element) / inner * inner * length
                    + at * inner
                    + u64::from(element) % inner) as u32
            })
            .collect(),
    )
}

/// The length of an axis, and the elements from one place of it to the next.
pub fn axis_of(shape: &[u64], axis: usize) -> (u64, u64) {
    (shape[axis].max(1), shape[axis + 1..].iter().product::<u64>().max(1))
}

/// How the elements of `width` adjacent places relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// One element for all places.
    All,
    /// One element per group of adjacent places.
    Group,
    /// Consecutive elements, starting at a multiple of the frame's vector alignment.
    Run,
    /// Any other relation.
    Each,
}

impl Spread {
    /// Whether each place has an element of its own.
    pub fn is_run(self) -> bool {
        matches!(self, Spread::Run | Spread::Each)
    }
}

/// The distribution of a frame's places over the lanes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Places of the frame.
    pub places: usize,
    /// Adjacent places per lane (vector width).
    pub vector: usize,
    /// Lanes of a group, a power of two.
    pub lanes: usize,
    /// Vectors per lane of a slice.
    pub chunks: usize,
    /// Blocks that share a row.
    pub slices: usize,
}

impl Lanes {
    /// Places of a row per block.
    pub fn slice(&self) -> usize {
        self.vector * self.lanes * self.chunks
    }

    /// Elements per lane of a value with this spread.
    pub fn elements(&self, spread: Spread) -> usize {
        match spread {
            Spread::All => 1,
            Spread::Group => self.chunks,
            Spread::Run | Spread::Each => self.chunks * self.vector,
        }
    }

    /// Whether lanes that share a row take its edges in turn: then lanes that have a row to
    /// themselves read neighbouring slots together.
    pub fn share_in_turn(&self) -> bool {
        self.lanes == 1
    }

    /// Whether some lanes have no place.
    pub fn has_tail(&self) -> bool {
        self.slice() * self.slices != self.places
    }

    /// Whether the last lane shares places with its neighbour.
    pub fn overlaps(&self) -> bool {
        !self.places.is_multiple_of(self.vector)
    }

    /// The alignment, in elements, with which a lane's vectors are loaded and stored.
    pub fn aligned(&self) -> usize {
        aligned(self.places, self.vector)
    }
}

/// The largest power of two that divides the start of each group of `width` places; the last group
/// ends with the frame.
pub fn aligned(places: usize, width: usize) -> usize {
    1 << places.trailing_zeros().min(width.trailing_zeros())
}

/// Maximum elements per vector.
pub fn widest_vector(bytes_per_real: u64) -> usize {
    (16 / bytes_per_real) as usize
}

/// The widest vector of at most `most` elements that divides this many columns.
pub fn vector_of(columns: usize, most: usize) -> usize {
    [4, 2, 1]
        .into_iter()
        .find(|vector| *vector <= most && columns.is_multiple_of(*vector))
        .unwrap_or(1)
}

/// The spread of a table over groups of `width` places. If `width` does not divide the frame, the
/// last group overlaps the one before.
pub fn spread(table: &[u32], width: usize) -> Spread {
    let first = table.first().copied().unwrap_or(0);
    if table.iter().all(|&element| element == first) {
        return Spread::All;
    }
    let last = table.len().saturating_sub(width);
    let groups = || {
        (0..table.len())
            .step_by(width)
            .map(|place| &table[place.min(last)..(place + width).min(table.len())])
    };
    let aligned = aligned(table.len(), width) as u32;
    if groups().all(|group| group.iter().all(|&element| element == group[0])) {
        return Spread::Group;
    }
    let is_run = |group: &[u32]| {
        group[0].is_multiple_of(aligned)
            && group.iter().zip(group[0]..).all(|(&element, wanted)| element == wanted)
    };
    if groups().all(is_run) { Spread::Run } else { Spread::Each }
}

/// The element as an expression of `place`; none if no short expression is exact.
pub fn text(table: &[u32], place: &str) -> Option<String> {
    let count = table.len() as u32;
    let holds = |of: &dyn Fn(u32) -> u32| {
        table.iter().zip(0..).all(|(&element, place)| element == of(place))
    };
    let first = table.first().copied().unwrap_or(0);
    if holds(&|_| first) {
        return Some(first.to_string());
    }
    if holds(&|place| place + first) {
        return Some(if first == 0 { place.to_owned() } else { format!("({place} + {first})") });
    }
    let last = table.iter().copied().max().unwrap_or(0);
    if holds(&|place| place.min(last)) {
        return Some(format!("min({place}, {last}u)"));
    }
    for divisor in 2..=count {
        if holds(&|place| place / divisor) {
            return Some(format!("({place} / {divisor}u)"));
        }
        if holds(&|place| place % divisor) {
            return Some(format!("({place} % {divisor}u)"));
        }
        if count <= 1024 && count.is_multiple_of(divisor) {
            for inner in (2..divisor).filter(|inner| divisor.is_multiple_of(*inner)) {
                if holds(&|place| place % divisor / inner) {
                    return Some(format!("({place} % {divisor}u / {inner}u)"));
                }
            }
        }
    }
    None
}

/// The condition that a table of 0 and 1 holds a 1 at a place; none if no short expression is
/// exact.
pub fn holding(table: &[u32], place: &str) -> Option<String> {
    let holds = |of: &dyn Fn(u32) -> bool| {
        table.iter().zip(0..).all(|(&element, place)| (element == 1) == of(place))
    };
    let first = table.iter().position(|&element| element == 1)? as u32;
    let end = table.iter().rposition(|&element| element == 1)? as u32 + 1;
    if holds(&|place| (first..end).contains(&place)) {
        return Some(match (first, end as usize == table.len()) {
            (0, _) if end == 1 => format!("{place} == 0"),
            (0, _) => format!("{place} < {end}u"),
            (_, true) => format!("{place} >= {first}u"),
            (_, false) => format!("{place} >= {first}u && {place} < {end}u"),
        });
    }
    (2..=table.len() as u32)
        .find(|&divisor| holds(&|place| place % divisor == 0))
        .map(|divisor| format!("{place} % {divisor}u == 0"))
}

/// Lanes for a row of this many columns. Other blocks take the other slices of a wide row.
pub(super) fn plain_lanes(places: usize, vector: usize, may_slice: bool) -> Lanes {
    if may_slice && places > tuning::slice_columns() {
        let chunks = tuning::slice_columns().div_ceil(32 * vector);
        return Lanes {
            places,
            vector,
            lanes: 32,
            chunks,
            slices: places.div_ceil(32 * vector * chunks),
        };
    }
    let wanted = places.div_ceil(vector);
    let lanes = wanted.next_power_of_two().min(32);
    Lanes { places, vector, lanes, chunks: wanted.div_ceil(lanes), slices: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_is_numpys() {
        let frame = identity(12);
        assert_eq!(
            *broadcast_elements(&frame, &[3, 4], &[3, 1]),
            vec![0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
        );
        assert_eq!(
            *broadcast_elements(&frame, &[3, 4], &[4]),
            vec![0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
        );
        assert_eq!(*broadcast_elements(&frame, &[3, 4], &[]), vec![0; 12]);
        assert_eq!(*broadcast_elements(&frame, &[12], &[3, 4]), (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn axes_come_and_go() {
        let heads = identity(3);
        assert_eq!(*axis_elements(&heads, &[3, 4], 1, 2), vec![2, 6, 10]);
    }

    #[test]
    fn texts_are_short_and_right() {
        let of = |table: Vec<u32>| text(&table, "c");
        assert_eq!(of(vec![0, 1, 2, 3]).as_deref(), Some("c"));
        assert_eq!(of(vec![5, 5, 5]).as_deref(), Some("5"));
        assert_eq!(of(vec![2, 3, 4]).as_deref(), Some("(c + 2)"));
        assert_eq!(of(vec![0, 0, 1, 1, 2, 2]).as_deref(), Some("(c / 2u)"));
        assert_eq!(of(vec![0, 1, 0, 1, 0, 1]).as_deref(), Some("(c % 2u)"));
        assert_eq!(of(vec![0, 1, 2, 2, 2]).as_deref(), Some("min(c, 2u)"));
        assert_eq!(of(vec![0, 0, 1, 1, 0, 0, 1, 1]).as_deref(), Some("(c % 4u / 2u)"));
        assert_eq!(of(vec![3, 1, 2]), None);
        assert_eq!(holding(&[1, 0, 1, 0], "c").as_deref(), Some("c % 2u == 0"));
        assert_eq!(holding(&[1, 0, 0, 0], "c").as_deref(), Some("c == 0"));
        assert_eq!(holding(&[0, 1, 1, 0], "c").as_deref(), Some("c >= 1u && c < 3u"));
        assert_eq!(holding(&[1, 1, 0, 1], "c"), None);
    }

    #[test]
    fn spreads_are_told_apart() {
        assert_eq!(spread(&[1, 1, 1, 1], 2), Spread::All);
        assert_eq!(spread(&[0, 0, 1, 1], 2), Spread::Group);
        assert_eq!(spread(&[0, 1, 2, 3], 2), Spread::Run);
        assert_eq!(spread(&[1, 2, 3, 4], 2), Spread::Each);
        assert_eq!(spread(&[0, 1, 2, 3], 1), Spread::Group);
    }

    #[test]
    fn the_last_group_may_overlap() {
        assert_eq!(
            [(22, 4), (7, 4), (24, 4), (7, 2), (6, 1)]
                .map(|(places, width)| aligned(places, width)),
            [2, 1, 4, 1, 1]
        );
        assert_eq!(spread(&[0, 1, 2, 3, 4, 5], 4), Spread::Run);
        assert_eq!(spread(&[6, 7, 8, 9, 10, 11], 4), Spread::Run);
        assert_eq!(spread(&[1, 2, 3, 4, 5, 6], 4), Spread::Each);
        assert_eq!(spread(&[1, 2, 3, 4, 5], 4), Spread::Run);
        // Without the overlap the last group would be `Spread::Group`.
        assert_eq!(spread(&[0, 0, 0, 0, 1, 1], 4), Spread::Each);
    }
}
