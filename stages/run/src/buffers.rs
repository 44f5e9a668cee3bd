//! buffers: the buffers of a launch list, found by index: in the arena of the list, or separate.
//!
//! promises  elements start at a cache line, so that a row of 16 f32 fills one; pages that are
//!           never written take no memory; a buffer cannot be read while it is written, nor can its
//!           bytes in the arena
//! never     looks up a name; copies a mapped file; chooses an offset in the arena
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut, Range},
};

use arrow_buffer::ArrowNativeType;
use bytemuck::Pod;
use memmap2::MmapMut;
use warploom_contract::{ErrorKind, StageError, arrow_file::View};
use warploom_ir::Half;
use warploom_launch::Rows;

use crate::precision::Precision;

/// From this size on, huge pages are requested; a smaller allocation gains nothing.
const LARGE_PAGES_FROM: usize = 1 << 20;
/// In a debug build, each byte of a buffer before a launch writes it: a NaN, no valid bool. A
/// read of what was not written, or was overwritten, shows in the results.
const UNWRITTEN: u8 = 0xff;

/// Where a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among the reals.
    Real(usize),
    /// Among the reals of 16 bits, with what those are.
    Half(usize, Half),
    /// Among the whole numbers.
    Whole(usize),
    /// Sparse features, which are in no bank: of all nodes, or of those of a kind.
    Sparse(Option<u32>),
}

/// Zeroed elements in pages of their own, huge pages where the system gives them: with small pages,
/// gathers over a large buffer miss the TLB.
#[derive(Debug)]
pub struct Aligned<E> {
    /// None for no elements: an empty mapping is not allowed.
    pages: Option<MmapMut>,
    element: PhantomData<E>,
}

impl<E> Default for Aligned<E> {
    fn default() -> Self {
        Aligned { pages: None, element: PhantomData }
    }
}

impl<E: Pod> Aligned<E> {
    /// Allocates zeros.
    pub fn zeros(count: usize) -> Result<Self, StageError> {
        if count == 0 {
            return Ok(Self::default());
        }
        let refuse = |error: std::io::Error| {
            StageError::new(
                ErrorKind::Memory,
                format!(
                    "cannot get memory for {count} numbers of {} bytes: {error}",
                    size_of::<E>()
                ),
            )
            .hint("free some, or make rows narrower, for example with  --set plan.set.hidden=8")
        };
        let bytes = count
            .checked_mul(size_of::<E>())
            .ok_or_else(|| refuse(std::io::ErrorKind::OutOfMemory.into()))?;
        let pages = MmapMut::map_anon(bytes).map_err(refuse)?;
        #[cfg(target_os = "linux")]
        if bytes >= LARGE_PAGES_FROM {
            let _small_ones_do = pages.advise(memmap2::Advice::HugePage);
        }
        // Small allocations are populated at once, so that no launch page-faults; pages of a large
        // one are faulted in by the threads that touch them first.
        #[cfg(target_os = "linux")]
        if bytes as u64 <= warploom_launch::TOUCHED_AT_ONCE {
            let _later_does = pages.advise(memmap2::Advice::PopulateWrite);
        }
        Ok(Aligned { pages: Some(pages), element: PhantomData })
    }
}

impl<E: Pod> Deref for Aligned<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        self.pages.as_ref().map_or(&[], |pages| bytemuck::cast_slice(pages))
    }
}

impl<E: Pod> DerefMut for Aligned<E> {
    fn deref_mut(&mut self) -> &mut [E] {
        self.pages.as_mut().map_or(&mut [], |pages| bytemuck::cast_slice_mut(pages))
    }
}

/// The elements of a buffer outside the arena.
#[derive(Debug)]
pub enum Contents<E: ArrowNativeType> {
    /// Allocated elements.
    Owned(Aligned<E>),
    /// Elements of a mapped file, read-only.
    Shared(View<E>),
}

impl<E: Pod + ArrowNativeType> Deref for Contents<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        match self {
            Contents::Owned(elements) => elements,
            Contents::Shared(view) => view,
        }
    }
}

/// A buffer that launches read or write.
#[derive(Debug)]
struct Slot<E: ArrowNativeType> {
    rows: Rows,
    columns: usize,
    home: Location<E>,
    /// The slot that had this home at first.
    owner: usize,
}

/// Where the elements of a buffer are.
#[derive(Debug)]
pub enum Location<E: ArrowNativeType> {
    /// Outside the arena.
    Separate(Contents<E>),
    /// In this byte range of the arena.
    Arena(Range<usize>),
}

/// A buffer for reading.
#[derive(Clone, Copy, Debug)]
pub struct BufferView<'a, E> {
    /// What a row stands for.
    pub rows: Rows,
    /// Elements in a row.
    pub columns: usize,
    /// Its elements.
    pub contents: &'a [E],
}

/// The byte ranges of the arena that may be read, each with its start.
#[derive(Clone, Debug)]
struct ReadableSpans<'a>(Vec<(usize, &'a [u8])>);

impl<'a> ReadableSpans<'a> {
    fn get(&self, bytes: &Range<usize>) -> &'a [u8] {
        if bytes.is_empty() {
            return &[];
        }
        let held = |(start, piece): &(usize, &'a [u8])| {
            piece.get(bytes.start.checked_sub(*start)?..bytes.end - start)
        };
        self.0.iter().find_map(held).expect("a validated list reads nothing that the launch writes")
    }
}

/// All buffers of one element type, for reading.
#[derive(Debug)]
pub struct Bank<'a, E: ArrowNativeType> {
    slots: &'a [Slot<E>],
    pieces: ReadableSpans<'a>,
}

/// All buffers, for reading.
#[derive(Debug)]
pub struct Banks<'a, T: Precision> {
    /// Floats of the run's type.
    pub reals: Bank<'a, T>,
    /// 16-bit floats, bf16 or f16.
    pub halves: Bank<'a, u16>,
    /// Integers.
    pub wholes: Bank<'a, i64>,
}

/// The elements of a buffer, for writing.
#[derive(Debug)]
pub enum OutputSlice<'a, T> {
    /// Floats of the run's type.
    Real(&'a mut [T]),
    /// 16-bit floats.
    Half(&'a mut [u16], Half),
    /// Integers.
    Whole(&'a mut [i64]),
}

/// All buffers of a list.
#[derive(Debug)]
pub struct Buffers<T: Precision> {
    reals: Vec<Slot<T>>,
    halves: Vec<Slot<u16>>,
    wholes: Vec<Slot<i64>>,
    arena: Aligned<u8>,
}

impl<'a, E: Pod + ArrowNativeType> Bank<'a, E> {
    /// Row kind and columns, also of a buffer that is being written.
    pub fn shape(&self, index: usize) -> (Rows, usize) {
        (self.slots[index].rows, self.slots[index].columns)
    }

    /// Shape and elements.
    pub fn slot(&self, index: usize) -> BufferView<'a, E> {
        let (rows, columns) = self.shape(index);
        BufferView { rows, columns, contents: self.get(index) }
    }

    /// Elements.
    pub fn get(&self, index: usize) -> &'a [E] {
        match &self.slots[index].home {
            Location::Separate(contents) => contents,
            // An empty range has no elements, whatever its alignment.
            Location::Arena(bytes) if bytes.is_empty() => &[],
            Location::Arena(bytes) => bytemuck::cast_slice(self.pieces.get(bytes)),
        }
    }
}

impl<T: Precision> Buffers<T> {
    /// Makes an arena of so many bytes, without buffers.
    pub fn new(bytes: usize) -> Result<Self, StageError> {
        Ok(Buffers {
            reals: Vec::new(),
            halves: Vec::new(),
            wholes: Vec::new(),
            arena: Aligned::zeros(bytes)?,
        })
    }

    /// Adds a buffer of floats. Each element type is counted from 0.
    pub fn push_real(&mut self, rows: Rows, columns: usize, home: Location<T>) {
        self.reals.push(Slot { rows, columns, home, owner: self.reals.len() });
    }

    /// Adds a buffer of 16-bit floats.
    pub fn push_half(&mut self, rows: Rows, columns: usize, home: Location<u16>) {
        self.halves.push(Slot { rows, columns, home, owner: self.halves.len() });
    }

    /// Adds a buffer of integers.
    pub fn push_whole(&mut self, rows: Rows, columns: usize, home: Location<i64>) {
        self.wholes.push(Slot { rows, columns, home, owner: self.wholes.len() });
    }

    /// All buffers, for reading.
    pub fn read_banks(&self) -> Banks<'_, T> {
        make_banks(&self.reals, &self.halves, &self.wholes, ReadableSpans(vec![(0, &self.arena)]))
    }

    /// Buffers of floats, for reading.
    pub fn reals(&self) -> Bank<'_, T> {
        self.read_banks().reals
    }

    /// Frees the memory of a buffer outside the arena, which is not read any more.
    pub fn release(&mut self, place: Place) {
        fn free_slot<E: ArrowNativeType + Pod>(slot: &mut Slot<E>) {
            if let Location::Separate(contents) = &mut slot.home {
                *contents = Contents::Owned(Aligned::default());
            }
        }
        match place {
            Place::Real(index) => free_slot(&mut self.reals[index]),
            Place::Half(index, _) => free_slot(&mut self.halves[index]),
            Place::Whole(index) => free_slot(&mut self.wholes[index]),
            Place::Sparse(_) => {}
        }
    }

    /// Buffers of integers, for reading.
    pub fn wholes(&self) -> Bank<'_, i64> {
        self.read_banks().wholes
    }

    /// Writes to several buffers, in the order of `outs`, while all others can be read. With
    /// `whole`, a debug build overwrites their old contents first.
    pub fn write_all<R>(
        &mut self,
        outs: &[Place],
        whole: bool,
        work: impl FnOnce(Vec<OutputSlice<'_, T>>, Banks<'_, T>) -> R,
    ) -> R {
        let mut apart: Vec<Option<DetachedElements<T>>> =
            outs.iter().map(|&out| self.detach_elements(out)).collect();
        let Buffers { reals, halves, wholes, arena } = self;
        let bytes = |out: &Place| match *out {
            Place::Real(index) => arena_range(&reals[index]),
            Place::Half(index, _) => arena_range(&halves[index]),
            Place::Whole(index) => arena_range(&wholes[index]),
            Place::Sparse(_) => None,
        };
        let mut ranges: Vec<(usize, Range<usize>)> = outs
            .iter()
            .enumerate()
            .filter_map(|(position, out)| Some((position, bytes(out)?)))
            .collect();
        ranges.sort_by_key(|(_, range)| (range.start, range.end));
        let (mut rest, mut start, mut pieces) =
            (&mut arena[..], 0, Vec::with_capacity(ranges.len() + 1));
        let mut made: Vec<Option<OutputSlice<T>>> =
            apart.iter_mut().map(|taken| taken.as_mut().map(DetachedElements::as_output)).collect();
        for (position, range) in ranges {
            // Buffers that one launch writes do not overlap, which `validate` has checked.
            let (before, from) = std::mem::take(&mut rest).split_at_mut(range.start - start);
            let (out, after) = from.split_at_mut(range.len());
            if cfg!(debug_assertions) && whole {
                out.fill(UNWRITTEN);
            }
            pieces.push((start, &*before));
            made[position] = Some(OutputSlice::from_bytes(outs[position], out));
            (rest, start) = (after, range.end);
        }
        pieces.push((start, &*rest));
        let result = work(
            made.into_iter().flatten().collect(),
            make_banks(reals, halves, wholes, ReadableSpans(pieces)),
        );
        for (out, taken) in outs.iter().zip(apart) {
            self.reattach_elements(*out, taken);
        }
        result
    }

    /// Writes to one buffer of floats.
    pub fn write_real<R>(
        &mut self,
        out: usize,
        work: impl FnOnce(&mut [T], Banks<'_, T>) -> R,
    ) -> R {
        self.write_all(&[Place::Real(out)], true, |mut made, banks| match made.pop() {
            Some(OutputSlice::Real(elements)) => work(elements, banks),
            _ => work(&mut [], banks),
        })
    }

    /// Writes to one buffer of integers.
    pub fn write_whole<R>(
        &mut self,
        out: usize,
        work: impl FnOnce(&mut [i64], Banks<'_, T>) -> R,
    ) -> R {
        self.write_all(&[Place::Whole(out)], true, |mut made, banks| match made.pop() {
            Some(OutputSlice::Whole(elements)) => work(elements, banks),
            _ => work(&mut [], banks),
        })
    }

    /// Swaps the contents of two buffers of one type and shape by swapping their locations.
    pub fn swap(&mut self, first: Place, second: Place) {
        match (first, second) {
            (Place::Real(first), Place::Real(second)) => swap_slots(&mut self.reals, first, second),
            (Place::Whole(first), Place::Whole(second)) => {
                swap_slots(&mut self.wholes, first, second)
            }
            _ => unreachable!("a validated list commits like to like"),
        }
    }

    /// Undoes all swaps: every buffer is where it was at first. The elements are those of the
    /// location.
    pub fn restore_locations(&mut self) {
        restore_slots(&mut self.reals);
        restore_slots(&mut self.halves);
        restore_slots(&mut self.wholes);
    }

    /// Moves the elements of a buffer outside the arena out, for writing. A validated list never
    /// writes to a mapped buffer.
    fn detach_elements(&mut self, out: Place) -> Option<DetachedElements<T>> {
        match out {
            Place::Real(index) => detach_slot(&mut self.reals[index]).map(DetachedElements::Real),
            Place::Half(index, half) => detach_slot(&mut self.halves[index])
                .map(|elements| DetachedElements::Half(elements, half)),
            Place::Whole(index) => {
                detach_slot(&mut self.wholes[index]).map(DetachedElements::Whole)
            }
            Place::Sparse(_) => None,
        }
    }

    fn reattach_elements(&mut self, out: Place, taken: Option<DetachedElements<T>>) {
        match (out, taken) {
            (Place::Real(index), Some(DetachedElements::Real(elements))) => {
                self.reals[index].home = Location::Separate(Contents::Owned(elements))
            }
            (Place::Half(index, _), Some(DetachedElements::Half(elements, _))) => {
                self.halves[index].home = Location::Separate(Contents::Owned(elements))
            }
            (Place::Whole(index), Some(DetachedElements::Whole(elements))) => {
                self.wholes[index].home = Location::Separate(Contents::Owned(elements))
            }
            _ => {}
        }
    }
}

/// Elements of a buffer outside the arena while they are written.
enum DetachedElements<T> {
    Real(Aligned<T>),
    Half(Aligned<u16>, Half),
    Whole(Aligned<i64>),
}

impl<T: Pod> DetachedElements<T> {
    fn as_output(&mut self) -> OutputSlice<'_, T> {
        match self {
            DetachedElements::Real(elements) => OutputSlice::Real(elements),
            DetachedElements::Half(elements, half) => OutputSlice::Half(elements, *half),
            DetachedElements::Whole(elements) => OutputSlice::Whole(elements),
        }
    }
}

impl<'a, T: Pod> OutputSlice<'a, T> {
    fn from_bytes(out: Place, bytes: &'a mut [u8]) -> Self {
        match out {
            Place::Half(_, half) => OutputSlice::Half(cast_elements(bytes), half),
            Place::Whole(_) => OutputSlice::Whole(cast_elements(bytes)),
            Place::Real(_) | Place::Sparse(_) => OutputSlice::Real(cast_elements(bytes)),
        }
    }
}

/// An empty range casts to any type, whatever its alignment.
fn cast_elements<E: Pod>(bytes: &mut [u8]) -> &mut [E] {
    if bytes.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(bytes) }
}

fn make_banks<'a, T: Precision>(
    reals: &'a [Slot<T>],
    halves: &'a [Slot<u16>],
    wholes: &'a [Slot<i64>],
    pieces: ReadableSpans<'a>,
) -> Banks<'a, T> {
    Banks {
        reals: Bank { slots: reals, pieces: pieces.clone() },
        halves: Bank { slots: halves, pieces: pieces.clone() },
        wholes: Bank { slots: wholes, pieces },
    }
}

fn arena_range<E: ArrowNativeType>(slot: &Slot<E>) -> Option<Range<usize>> {
    match &slot.home {
        Location::Arena(bytes) => Some(bytes.clone()),
        Location::Separate(_) => None,
    }
}

fn detach_slot<E: Pod + ArrowNativeType>(slot: &mut Slot<E>) -> Option<Aligned<E>> {
    match &mut slot.home {
        Location::Separate(Contents::Owned(elements)) => Some(std::mem::take(elements)),
        Location::Separate(Contents::Shared(_)) => unreachable!("an input is never written"),
        Location::Arena(_) => None,
    }
}

fn swap_slots<E: ArrowNativeType>(slots: &mut [Slot<E>], first: usize, second: usize) {
    if let Ok([first, second]) = slots.get_disjoint_mut([first, second]) {
        std::mem::swap(&mut first.home, &mut second.home);
        std::mem::swap(&mut first.owner, &mut second.owner);
    }
}

/// Each swap brings at least one home to its owner.
fn restore_slots<E: ArrowNativeType>(slots: &mut [Slot<E>]) {
    for index in 0..slots.len() {
        while slots[index].owner != index {
            let owner = slots[index].owner;
            swap_slots(slots, index, owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_zeros_from_the_start_of_a_page() {
        for count in [0, 1, 15, 16, 17, 1 << 19] {
            let single = Aligned::<f32>::zeros(count).unwrap();
            let mut double = Aligned::<f64>::zeros(count).unwrap();
            assert_eq!((single.len(), double.len()), (count, count));
            assert!(
                count == 0
                    || (single.as_ptr().addr() % 4096, double.as_ptr().addr() % 4096) == (0, 0)
            );
            assert!(double.iter().all(|&value| value == 0.0));
            double.fill(1.5);
            assert_eq!(double.iter().sum::<f64>(), 1.5 * count as f64);
        }
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        let error = Aligned::<f64>::zeros(usize::MAX / 16).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Memory);
    }

    /// Two buffers of floats and one of integers in an arena, and one of floats outside.
    fn buffers() -> Buffers<f32> {
        let mut buffers = Buffers::new(256).unwrap();
        buffers.push_real(Rows::Nodes, 1, Location::Arena(64..72));
        buffers.push_real(Rows::Nodes, 1, Location::Arena(128..136));
        buffers.push_whole(Rows::Nodes, 1, Location::Arena(192..208));
        buffers.push_real(
            Rows::Nodes,
            1,
            Location::Separate(Contents::Owned(Aligned::zeros(2).unwrap())),
        );
        buffers
    }

    #[test]
    fn swapped_buffers_have_each_others_elements() {
        let mut buffers = buffers();
        buffers.write_real(0, |made, _| made.copy_from_slice(&[1.0, 2.0]));
        buffers.write_real(1, |made, _| made.copy_from_slice(&[3.0, 4.0]));
        buffers.swap(Place::Real(0), Place::Real(1));
        assert_eq!(
            (buffers.reals().get(0), buffers.reals().get(1)),
            (&[3.0, 4.0][..], &[1.0, 2.0][..])
        );
    }

    #[test]
    fn buffers_return_to_their_first_locations() {
        let mut buffers = buffers();
        buffers.write_real(0, |made, _| made.copy_from_slice(&[1.0, 2.0]));
        for (first, second) in [(0, 1), (1, 2)] {
            buffers.swap(Place::Real(first), Place::Real(second));
        }
        assert_eq!(buffers.reals().get(2), [1.0, 2.0], "0 to 1, to 2");
        buffers.restore_locations();
        assert_eq!(buffers.reals().get(0), [1.0, 2.0]);
        buffers.restore_locations();
        assert_eq!(buffers.reals().get(0), [1.0, 2.0]);
    }

    #[test]
    fn what_is_not_written_can_be_read_meanwhile() {
        let mut buffers = buffers();
        buffers.write_real(1, |made, _| made.copy_from_slice(&[3.0, 4.0]));
        let outs = [Place::Whole(0), Place::Real(2), Place::Real(0)];
        buffers.write_all(&outs, true, |made, banks| {
            let [OutputSlice::Whole(whole), OutputSlice::Real(apart), OutputSlice::Real(first)] =
                <[OutputSlice<f32>; 3]>::try_from(made).unwrap()
            else {
                panic!("in order")
            };
            assert_eq!(banks.reals.get(1), [3.0, 4.0]);
            whole.copy_from_slice(&[-1, 1 << 40]);
            apart.copy_from_slice(banks.reals.get(1));
            first.copy_from_slice(&[0.5, 0.25]);
        });
        let banks = buffers.read_banks();
        assert_eq!(
            (banks.reals.get(0), banks.reals.get(1), banks.reals.get(2)),
            (&[0.5, 0.25][..], &[3.0, 4.0][..], &[3.0, 4.0][..])
        );
        assert_eq!(banks.wholes.get(0), [-1, 1 << 40]);
    }

    #[test]
    #[should_panic(expected = "reads nothing that the launch writes")]
    fn what_is_written_cannot_be_read() {
        buffers().write_real(0, |_, banks| {
            banks.reals.get(0);
        });
    }
}
