//! Reads the data in a Python pickle, without Python and without running anything.
//!
//! reads     protocols 0 to 5, as far as they build numpy arrays, scipy CSR matrices, dict,
//!           defaultdict, list, tuple, text, bytes and numbers
//! promises  any bytes give a value or an error that names the byte; memory is a few dozen bytes
//!           for each byte of input
//! never     imports, calls or evaluates what a pickle names: another name than the listed ones is
//!           an error; recurses over values
//! source    CPython's Lib/pickletools.py; `__reduce__` of numpy.ndarray, numpy.dtype and
//!           scipy.sparse
mod numpy;
mod stack_machine;
pub(crate) mod value;

use crate::read_error::{Read, ReadError};
use std::path::Path;
use value::{CsrMatrix, NumpyArray, Pickle, PickleObject, PickleValue};

/// Reads a pickle; `path` is what an error calls it.
pub fn load(path: &Path, bytes: &[u8]) -> Read<Pickle> {
    let refused = |fault: stack_machine::PickleFault| {
        let error =
            ReadError::new(path, format!("pickle: {}", fault.what)).at_byte(fault.byte as u64);
        Box::new(error.hint(
            "only data is read from a pickle: numpy arrays, scipy CSR matrices, dicts, lists and \
             numbers",
        ))
    };
    stack_machine::run(bytes).map(|(objects, root)| Pickle { objects, root }).map_err(refused)
}

impl Pickle {
    /// The value of the whole pickle.
    pub fn root(&self) -> PickleValue {
        self.root
    }

    /// The items of a list, a tuple or a set.
    pub fn sequence(&self, value: PickleValue) -> Option<&[PickleValue]> {
        match self.object(value)? {
            PickleObject::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The pairs of a dict, in its order; a key that is there twice comes twice.
    pub fn dict(&self, value: PickleValue) -> Option<&[(PickleValue, PickleValue)]> {
        match self.object(value)? {
            PickleObject::Dict(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// A text, or bytes that are one.
    pub fn text(&self, value: PickleValue) -> Option<&str> {
        match self.object(value)? {
            PickleObject::Text(text) => Some(text),
            PickleObject::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// A whole number.
    pub fn integer(&self, value: PickleValue) -> Option<i64> {
        match value {
            PickleValue::Integer(value) => Some(value),
            PickleValue::Bool(value) => Some(i64::from(value)),
            _ => None,
        }
    }

    /// A numpy array of numbers.
    pub fn array(&self, value: PickleValue) -> Result<NumpyArray, String> {
        numpy::array(self, value)
    }

    /// The shape and the values of a numpy array of Python objects.
    pub fn objects(&self, value: PickleValue) -> Result<(Vec<u64>, &[PickleValue]), String> {
        numpy::objects(self, value)
    }

    /// A scipy CSR matrix; columns in a row are sorted, values of equal ones summed.
    pub fn matrix(&self, value: PickleValue) -> Result<CsrMatrix, String> {
        numpy::matrix(self, value)
    }

    pub(crate) fn object(&self, value: PickleValue) -> Option<&PickleObject> {
        match value {
            PickleValue::Object(index) => self.objects.get(index as usize),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
