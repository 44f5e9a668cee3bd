//! registers: the values of all steps for a block of rows, in scratch or in place in the outputs.

/// The values of all steps for the current block or tile.
#[derive(Debug, Default)]
pub(super) struct Registers<'o, T> {
    pub reals: Vec<RegisterData<'o, T>>,
    pub wholes: Vec<Vec<i64>>,
}

/// Floats: in scratch, or in place in the output that stores them.
#[derive(Debug)]
pub(super) enum RegisterData<'o, T> {
    Scratch(Vec<T>),
    Output(&'o mut [T]),
}

impl<T> Default for RegisterData<'_, T> {
    fn default() -> Self {
        RegisterData::Scratch(Vec::new())
    }
}

impl<T: Copy + Default> RegisterData<'_, T> {
    pub fn elements(&self) -> &[T] {
        match self {
            RegisterData::Scratch(elements) => elements,
            RegisterData::Output(elements) => elements,
        }
    }

    /// Resizes to this many elements.
    pub fn room(&mut self, count: usize) -> &mut [T] {
        match self {
            RegisterData::Scratch(elements) => {
                elements.resize(count, T::default());
                elements
            }
            RegisterData::Output(elements) => &mut elements[..count],
        }
    }
}
