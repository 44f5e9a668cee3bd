//! registers: values of the steps of a block of rows, in scratch or where they are stored.

/// Values of the steps that are at hand.
#[derive(Debug, Default)]
pub(super) struct Registers<'o, T> {
    pub reals: Vec<Held<'o, T>>,
    pub wholes: Vec<Vec<i64>>,
}

/// Real elements at hand: in scratch, or where they are stored in the end.
#[derive(Debug)]
pub(super) enum Held<'o, T> {
    Scratch(Vec<T>),
    Output(&'o mut [T]),
}

impl<T> Default for Held<'_, T> {
    fn default() -> Self {
        Held::Scratch(Vec::new())
    }
}

impl<T: Copy + Default> Held<'_, T> {
    pub fn elements(&self) -> &[T] {
        match self {
            Held::Scratch(elements) => elements,
            Held::Output(elements) => elements,
        }
    }

    /// Room for so many.
    pub fn room(&mut self, count: usize) -> &mut [T] {
        match self {
            Held::Scratch(elements) => {
                elements.resize(count, T::default());
                elements
            }
            Held::Output(elements) => &mut elements[..count],
        }
    }
}
