//! registers: values of the steps of a block of rows, in scratch or where they are stored.

/// Values of the steps of the current tile.
#[derive(Debug, Default)]
pub(super) struct Registers<'o, T> {
    pub reals: Vec<RegisterData<'o, T>>,
    pub wholes: Vec<Vec<i64>>,
}

/// Real elements: in scratch, or in the buffer that stores them.
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

    /// Room for so many.
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
