//! What a pickle holds: values, objects, arrays and matrices.

/// A value, or the index of one that is not a plain number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PickleValue {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Index of an object.
    Object(u32),
}

/// What is not a plain number. Objects name each other by index: a cycle does no harm.
#[derive(Clone, Debug, PartialEq)]
pub enum PickleObject {
    Bytes(Vec<u8>),
    Text(String),
    /// Lists, sets and tuples.
    Sequence(Vec<PickleValue>),
    Dict(Vec<(PickleValue, PickleValue)>),
    Global(Global),
    Dtype(StoredDtype),
    Array(StoredArray),
    /// The attributes of a CSR matrix, once they are set.
    Matrix(Option<PickleValue>),
}

/// Everything that a pickle holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Pickle {
    pub(crate) objects: Vec<PickleObject>,
    pub(super) root: PickleValue,
}

/// A name that a pickle may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// `numpy...multiarray._reconstruct(ndarray, shape, type)`: an empty array, filled by `build`.
    Reconstruct,
    /// `numpy...numeric._frombuffer(bytes, dtype, shape, order)`.
    FromBuffer,
    /// `numpy...multiarray.scalar(dtype, bytes)`.
    Scalar,
    Ndarray,
    Dtype,
    /// `scipy.sparse...csr_matrix` or `csr_array`.
    Csr,
    /// `copy_reg._reconstructor(class, object, None)`.
    Reconstructor,
    /// `_codecs.encode(text, "latin1")`: how Python 3 writes bytes for Python 2.
    Encode,
    Dict,
    List,
    /// Names that are only handed on: the default of a defaultdict, the base of a class.
    Passed,
}

impl Global {
    pub fn named(module: &str, name: &str) -> Result<Global, String> {
        Ok(match (module, name) {
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => {
                Global::Reconstruct
            }
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Global::Scalar,
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Global::FromBuffer,
            ("numpy", "ndarray") => Global::Ndarray,
            ("numpy", "dtype") => Global::Dtype,
            ("scipy.sparse.csr" | "scipy.sparse._csr", "csr_matrix" | "csr_array") => Global::Csr,
            ("copy_reg" | "copyreg", "_reconstructor") => Global::Reconstructor,
            ("_codecs", "encode") => Global::Encode,
            ("collections", "defaultdict" | "OrderedDict")
            | ("__builtin__" | "builtins", "dict") => Global::Dict,
            ("__builtin__" | "builtins", "list" | "tuple" | "set" | "frozenset") => Global::List,
            ("__builtin__" | "builtins", "int" | "long" | "float" | "str" | "object") => {
                Global::Passed
            }
            _ => return Err(format!("it names `{module}.{name}`, which is not read")),
        })
    }
}

/// How one number of an array is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredDtype {
    pub(super) kind: StoredKind,
    pub(super) bytes: u8,
    pub(super) big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredKind {
    Signed,
    Unsigned,
    Real,
    /// Python objects: a list of values instead of bytes.
    Object,
}

/// An array as a pickle has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredArray {
    pub(super) shape: Vec<u64>,
    pub(super) dtype: Option<StoredDtype>,
    pub(super) by_columns: bool,
    /// A `Bytes` object; a `Sequence` where the numbers are Python objects.
    pub(super) data: Option<PickleValue>,
}

/// An array of numbers, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct NumpyArray {
    /// Its extents.
    pub shape: Vec<u64>,
    /// Its numbers; whole ones beyond 2^53 lose their last bits.
    pub values: Vec<f64>,
}

/// A sparse matrix in rows.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrMatrix {
    /// Columns of the matrix.
    pub columns: u32,
    /// Row `r` has the entries `offsets[r]..offsets[r + 1]`.
    pub offsets: Vec<u64>,
    /// Column of each entry, ascending in a row.
    pub index: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f32>,
}

impl CsrMatrix {
    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
}
