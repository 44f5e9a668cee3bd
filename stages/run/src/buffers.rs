//! buffers: the arrays of a launch list, found by number.
//!
//! promises  owned elements start at a page, so that a row of 16 f32 lies in one cache line; pages that nobody writes take
//!           no memory; a buffer that is being written is out of the bank, so that it cannot be read at the same time
//! never     looks a name up; copies a mapped file
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

use bytemuck::Pod;
use memmap2::MmapMut;
use warploom_contract::{ErrorKind, StageError, arrow_file::View};
use warploom_ops::Scalar;
use warploom_ops::expression::{Bound, Compiled, Operand, OperandRows};
use warploom_ops::random::dropout::Context;
use warploom_vertex::launch::Rows;

/// Bytes from which on large pages are asked for: below, one page more or less is all the same.
const LARGE_PAGES_FROM: usize = 1 << 20;

/// Zeros that become elements: pages of their own, large ones where the system gives them. Rows gathered from all over a
/// buffer miss the cache of page addresses with small ones: an epoch of GCN-16 on the stand-in of amazon0505 then took a
/// tenth to a sixth longer (runs by turns, 2 threads, a busy machine).
#[derive(Debug)]
pub struct Aligned<E> {
    /// None for no elements: there are no empty maps.
    pages: Option<MmapMut>,
    element: PhantomData<E>,
}

impl<E> Default for Aligned<E> {
    fn default() -> Self {
        Aligned { pages: None, element: PhantomData }
    }
}

impl<E: Pod> Aligned<E> {
    /// So many zeros.
    pub fn zeros(count: usize) -> Result<Self, StageError> {
        if count == 0 {
            return Ok(Self::default());
        }
        let refuse = |error: std::io::Error| {
            StageError::new(ErrorKind::Memory, format!("cannot get memory for {count} numbers of {} bytes: {error}", size_of::<E>()))
                .hint("free some, or make rows narrower, for example with  --set plan.set.hidden=8")
        };
        let bytes = count.checked_mul(size_of::<E>()).ok_or_else(|| refuse(std::io::ErrorKind::OutOfMemory.into()))?;
        let pages = MmapMut::map_anon(bytes).map_err(refuse)?;
        #[cfg(target_os = "linux")]
        if bytes >= LARGE_PAGES_FROM {
            let _small_ones_do = pages.advise(memmap2::Advice::HugePage);
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

/// What a buffer holds.
#[derive(Debug)]
pub enum Contents<E: arrow_buffer::ArrowNativeType> {
    /// Elements of our own.
    Owned(Aligned<E>),
    /// Elements of a mapped file; read only.
    Shared(View<E>),
}

impl<E: Pod + arrow_buffer::ArrowNativeType> Deref for Contents<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        match self {
            Contents::Owned(elements) => elements,
            Contents::Shared(view) => view,
        }
    }
}

/// One buffer.
#[derive(Debug)]
pub struct Slot<E: arrow_buffer::ArrowNativeType> {
    /// What a row stands for.
    pub rows: Rows,
    /// Elements in a row.
    pub columns: usize,
    /// Its elements.
    pub contents: Contents<E>,
}

/// All buffers of one element type.
#[derive(Debug)]
pub struct Bank<E: arrow_buffer::ArrowNativeType> {
    slots: Vec<Slot<E>>,
}

impl<E: arrow_buffer::ArrowNativeType> Default for Bank<E> {
    fn default() -> Self {
        Bank { slots: Vec::new() }
    }
}

/// A compiled expression and the buffers that it loads.
#[derive(Clone, Debug)]
pub struct Epilogue<E> {
    /// What to do with an element.
    pub program: Compiled<E>,
    /// Buffer of each operand slot.
    pub loads: Vec<usize>,
}

impl<E: Pod + arrow_buffer::ArrowNativeType> Bank<E> {
    /// Adds a buffer; gives its number.
    pub fn push(&mut self, slot: Slot<E>) -> usize {
        self.slots.push(slot);
        self.slots.len() - 1
    }

    /// Shape and contents.
    pub fn slot(&self, index: usize) -> &Slot<E> {
        &self.slots[index]
    }

    /// Elements.
    pub fn get(&self, index: usize) -> &[E] {
        &self.slots[index].contents
    }

    /// Takes the elements out, to be written. A list that was validated never writes to what is mapped.
    pub fn take(&mut self, index: usize) -> Aligned<E> {
        match &mut self.slots[index].contents {
            Contents::Owned(elements) => std::mem::take(elements),
            Contents::Shared(_) => unreachable!("an input is never written"),
        }
    }

    /// Puts elements in.
    pub fn put(&mut self, index: usize, elements: Aligned<E>) {
        self.slots[index].contents = Contents::Owned(elements);
    }

    /// Copies elements in; as many as there are.
    pub fn fill(&mut self, index: usize, elements: &[E]) {
        let mut held = self.take(index);
        held.copy_from_slice(elements);
        self.put(index, held);
    }

    /// Exchanges the contents of two buffers.
    pub fn swap(&mut self, first: usize, second: usize) {
        let held = self.take(first);
        let other = self.take(second);
        self.put(first, other);
        self.put(second, held);
    }
}

impl<E: Scalar + arrow_buffer::ArrowNativeType> Bank<E> {
    /// What the loads of an expression are.
    pub fn operands(&self, epilogue: &Epilogue<E>) -> Vec<Operand<'_, E>> {
        let operand = |&index: &usize| {
            let slot = &self.slots[index];
            let rows = if slot.rows == Rows::Fixed(1) { OperandRows::One } else { OperandRows::Many };
            Operand { data: &slot.contents, rows, columns: slot.columns }
        };
        epilogue.loads.iter().map(operand).collect()
    }
}

impl<E: Scalar> Epilogue<E> {
    /// Joins program, operands and where the rows lie in the graph artifact.
    pub fn bind<'a>(&'a self, operands: &'a [Operand<'a, E>], context: Context<'a>) -> Bound<'a, E> {
        Bound { program: &self.program, operands, context }
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
            assert!(count == 0 || (single.as_ptr().addr() % 4096, double.as_ptr().addr() % 4096) == (0, 0));
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

    #[test]
    fn swapped_buffers_have_each_others_elements() {
        let mut bank = Bank::<u32>::default();
        let slot = || Slot { rows: Rows::Nodes, columns: 1, contents: Contents::Owned(Aligned::zeros(2).unwrap()) };
        let (first, second) = (bank.push(slot()), bank.push(slot()));
        bank.fill(first, &[1, 2]);
        bank.swap(first, second);
        assert_eq!((bank.get(first), bank.get(second)), (&[0, 0][..], &[1, 2][..]));
    }
}
