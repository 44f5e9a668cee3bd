//! buffers: the arrays of a launch list, found by number.
//!
//! promises  owned elements start at a cache line, so that a row of 16 f32 lies in one; pages that nobody writes take no
//!           memory; a buffer that is being written is out of the bank, so that it cannot be read at the same time
//! never     looks a name up; copies a mapped file
use std::ops::{Deref, DerefMut};

use warploom_contract::arrow_file::View;
use warploom_ops::Scalar;
use warploom_ops::expression::{Bound, Compiled, Operand, OperandRows};
use warploom_ops::random::dropout::Context;
use warploom_vertex::launch::Rows;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Elements that start at a cache line.
#[derive(Debug)]
pub struct Aligned<E> {
    elements: Vec<E>,
    start: usize,
    count: usize,
}

impl<E> Default for Aligned<E> {
    fn default() -> Self {
        Aligned { elements: Vec::new(), start: 0, count: 0 }
    }
}

impl<E: Scalar> Aligned<E> {
    /// So many zeros.
    pub fn zeros(count: usize) -> Self {
        let spare = LINE / size_of::<E>();
        let elements = vec![E::ZERO; count + spare];
        let start = elements.as_ptr().align_offset(LINE).min(spare);
        Aligned { elements, start, count }
    }
}

impl<E> Deref for Aligned<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        &self.elements[self.start..self.start + self.count]
    }
}

impl<E> DerefMut for Aligned<E> {
    fn deref_mut(&mut self) -> &mut [E] {
        &mut self.elements[self.start..self.start + self.count]
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

impl<E: Scalar + arrow_buffer::ArrowNativeType> Deref for Contents<E> {
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

impl<E: Scalar + arrow_buffer::ArrowNativeType> Bank<E> {
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
    fn elements_start_at_a_cache_line() {
        for count in [0, 1, 15, 16, 17, 1000] {
            let single = Aligned::<f32>::zeros(count);
            let double = Aligned::<f64>::zeros(count);
            assert_eq!((single.len(), double.len()), (count, count));
            assert_eq!((single.as_ptr().addr() % LINE, double.as_ptr().addr() % LINE), (0, 0));
        }
    }

    #[test]
    fn swapped_buffers_have_each_others_elements() {
        let mut bank = Bank::<u32>::default();
        let slot = || Slot { rows: Rows::Nodes, columns: 1, contents: Contents::Owned(Aligned::zeros(2)) };
        let (first, second) = (bank.push(slot()), bank.push(slot()));
        bank.fill(first, &[1, 2]);
        bank.swap(first, second);
        assert_eq!((bank.get(first), bank.get(second)), (&[0, 0][..], &[1, 2][..]));
    }
}
