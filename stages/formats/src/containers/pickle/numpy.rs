//! The few classes that a pickle may name, and the arrays and matrices that come of them.
//!
//! promises  a name that is not listed here is an error with that name; an array has exactly the
//!           bytes that its shape asks
//! never     trusts a shape, an offset or an index
use super::value::{
    CsrMatrix, Global, NumpyArray, Pickle, PickleObject, PickleValue, StoredArray, StoredDtype,
    StoredKind,
};

/// What a call gives.
pub enum CallResult {
    Value(PickleValue),
    Object(PickleObject),
}

fn object(objects: &[PickleObject], value: PickleValue) -> Option<&PickleObject> {
    match value {
        PickleValue::Object(index) => objects.get(index as usize),
        _ => None,
    }
}

fn sequence(objects: &[PickleObject], value: PickleValue) -> Option<&[PickleValue]> {
    match object(objects, value)? {
        PickleObject::Sequence(items) => Some(items),
        _ => None,
    }
}

fn text(objects: &[PickleObject], value: PickleValue) -> Option<&str> {
    match object(objects, value)? {
        PickleObject::Text(text) => Some(text),
        PickleObject::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn dtype_of(objects: &[PickleObject], value: PickleValue) -> Result<StoredDtype, String> {
    match object(objects, value) {
        Some(PickleObject::Dtype(dtype)) => Ok(*dtype),
        _ => Err("the type of an array's numbers is missing".into()),
    }
}

fn shape_of(objects: &[PickleObject], value: PickleValue) -> Result<Vec<u64>, String> {
    let extent = |value: &PickleValue| match value {
        PickleValue::Integer(extent) => u64::try_from(*extent).ok(),
        _ => None,
    };
    let shape = match value {
        PickleValue::Integer(_) => extent(&value).map(|extent| vec![extent]),
        _ => sequence(objects, value).and_then(|items| items.iter().map(extent).collect()),
    };
    shape
        .filter(|shape| shape.len() <= 8)
        .ok_or_else(|| "the shape of an array is not a short list of whole numbers".into())
}

/// Calls a known class or function.
pub fn call(
    objects: &[PickleObject],
    function: PickleValue,
    arguments: PickleValue,
) -> Result<CallResult, String> {
    let Some(PickleObject::Global(global)) = object(objects, function) else {
        return Err("it calls something that is no known function".into());
    };
    let arguments = sequence(objects, arguments).ok_or("the arguments of a call are no tuple")?;
    let argument = |at: usize| {
        arguments.get(at).copied().ok_or_else(|| format!("a call lacks its argument {at}"))
    };
    let made = match global {
        Global::Reconstruct => PickleObject::Array(StoredArray::default()),
        Global::FromBuffer => {
            let by_columns = arguments.get(3).and_then(|&order| text(objects, order)) == Some("F");
            PickleObject::Array(StoredArray {
                shape: shape_of(objects, argument(2)?)?,
                dtype: Some(dtype_of(objects, argument(1)?)?),
                by_columns,
                data: Some(argument(0)?),
            })
        }
        Global::Scalar => {
            let dtype = dtype_of(objects, argument(0)?)?;
            let Some(PickleObject::Bytes(bytes)) = object(objects, argument(1)?) else {
                return Err("a number has no bytes".into());
            };
            let value = dtype.numbers(bytes)?.first().copied().ok_or("a number has no bytes")?;
            return Ok(CallResult::Value(if dtype.kind == StoredKind::Real {
                PickleValue::Real(value)
            } else {
                PickleValue::Integer(value as i64)
            }));
        }
        Global::Dtype => PickleObject::Dtype(StoredDtype::named(
            text(objects, argument(0)?).ok_or("a type of numbers has no name")?,
        )?),
        Global::Csr => PickleObject::Matrix(None),
        Global::Reconstructor => return call_class(objects, argument(0)?),
        Global::Encode => {
            let text =
                text(objects, argument(0)?).ok_or("bytes are made of something that is no text")?;
            let byte = |sign: char| {
                u8::try_from(u32::from(sign))
                    .map_err(|_| "bytes are made of a text that is not Latin-1".to_string())
            };
            PickleObject::Bytes(text.chars().map(byte).collect::<Result<_, _>>()?)
        }
        // Items that come as arguments are refused, for a container that lost them would look like
        // an empty one.
        Global::Dict if !has_items(objects, arguments) => PickleObject::Dict(Vec::new()),
        Global::List if !has_items(objects, arguments) => PickleObject::Sequence(Vec::new()),
        Global::Dict | Global::List => {
            return Err("it makes a container from items in a way that is not read".into());
        }
        Global::Ndarray | Global::Passed => {
            return Err("it makes an object in a way that is not read".into());
        }
    };
    Ok(CallResult::Object(made))
}

/// Whether any argument is a container that is not empty.
fn has_items(objects: &[PickleObject], arguments: &[PickleValue]) -> bool {
    arguments.iter().any(|&argument| match object(objects, argument) {
        Some(PickleObject::Sequence(items)) => !items.is_empty(),
        Some(PickleObject::Dict(items)) => !items.is_empty(),
        _ => false,
    })
}

fn call_class(objects: &[PickleObject], class: PickleValue) -> Result<CallResult, String> {
    match object(objects, class) {
        Some(PickleObject::Global(Global::Csr)) => {
            Ok(CallResult::Object(PickleObject::Matrix(None)))
        }
        _ => Err("it makes an object of a class that is not read".into()),
    }
}

/// Sets the state of an object.
pub fn build(
    objects: &mut [PickleObject],
    target: PickleValue,
    state: PickleValue,
) -> Result<(), String> {
    let items = sequence(objects, state);
    let new = match (object(objects, target), items) {
        (Some(PickleObject::Array(_)), Some(items)) if items.len() == 5 => {
            PickleObject::Array(StoredArray {
                shape: shape_of(objects, items[1])?,
                dtype: Some(dtype_of(objects, items[2])?),
                by_columns: matches!(items[3], PickleValue::Bool(true) | PickleValue::Integer(1)),
                data: Some(items[4]),
            })
        }
        (Some(PickleObject::Dtype(dtype)), Some(items)) if items.len() >= 2 => {
            let order =
                text(objects, items[1]).ok_or("the byte order of a type of numbers is no text")?;
            PickleObject::Dtype(StoredDtype { big_endian: order == ">", ..*dtype })
        }
        (Some(PickleObject::Matrix(_)), None)
            if matches!(object(objects, state), Some(PickleObject::Dict(_))) =>
        {
            PickleObject::Matrix(Some(state))
        }
        (Some(PickleObject::Dict(_)), None) => return Ok(()),
        _ => return Err("the state of an object is not what its class asks".into()),
    };
    if let PickleValue::Object(index) = target
        && let Some(slot) = objects.get_mut(index as usize)
    {
        *slot = new;
    }
    Ok(())
}

impl StoredDtype {
    /// `f4`, `<i8`, `|b1`, ...
    fn named(name: &str) -> Result<StoredDtype, String> {
        let plain = name.trim_start_matches(['<', '>', '|', '=']);
        let (kind, bytes) = match plain {
            "b1" | "bool" | "?" => (StoredKind::Unsigned, 1),
            "i1" | "i2" | "i4" | "i8" => (StoredKind::Signed, plain.as_bytes()[1] - b'0'),
            "u1" | "u2" | "u4" | "u8" => (StoredKind::Unsigned, plain.as_bytes()[1] - b'0'),
            "f4" | "f8" => (StoredKind::Real, plain.as_bytes()[1] - b'0'),
            "O" | "O4" | "O8" => (StoredKind::Object, 8),
            _ => {
                return Err(format!(
                    "numbers of the type `{}` are not read",
                    name.chars().take(20).collect::<String>()
                ));
            }
        };
        Ok(StoredDtype { kind, bytes, big_endian: name.starts_with('>') })
    }

    fn numbers(self, bytes: &[u8]) -> Result<Vec<f64>, String> {
        let width = usize::from(self.bytes);
        if self.kind == StoredKind::Object {
            return Err("it has Python objects in place of numbers".into());
        }
        if !bytes.len().is_multiple_of(width) {
            return Err(format!("an array of {width}-byte numbers has {} bytes", bytes.len()));
        }
        let unused = 64 - 8 * u32::from(self.bytes);
        let one = |bytes: &[u8]| {
            let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
            let bits = if self.big_endian {
                bytes.iter().fold(0, fold)
            } else {
                bytes.iter().rev().fold(0, fold)
            };
            match (self.kind, self.bytes) {
                (StoredKind::Real, 4) => f64::from(f32::from_bits(bits as u32)),
                (StoredKind::Real, _) => f64::from_bits(bits),
                (StoredKind::Unsigned, _) => bits as f64,
                (StoredKind::Signed | StoredKind::Object, _) => {
                    (((bits << unused) as i64) >> unused) as f64
                }
            }
        };
        Ok(bytes.chunks_exact(width).map(one).collect())
    }
}

/// An array of numbers, row by row.
pub fn array(pickle: &Pickle, value: PickleValue) -> Result<NumpyArray, String> {
    let Some(PickleObject::Array(stored)) = pickle.object(value) else {
        return Err("expected a numpy array".into());
    };
    let data = stored.data.and_then(|data| pickle.object(data));
    let (Some(dtype), Some(PickleObject::Bytes(bytes))) = (stored.dtype, data) else {
        return Err("an array has no numbers".into());
    };
    let wanted = stored
        .shape
        .iter()
        .try_fold(u64::from(dtype.bytes), |size, extent| size.checked_mul(*extent));
    if wanted != Some(bytes.len() as u64) {
        return Err(format!("an array of shape {:?} has {} bytes", stored.shape, bytes.len()));
    }
    let mut values = dtype.numbers(bytes)?;
    if let (true, [rows, columns]) = (stored.by_columns, &stored.shape[..]) {
        let (rows, columns) = (*rows as usize, *columns as usize);
        values = (0..rows * columns).map(|at| values[at % columns * rows + at / columns]).collect();
    } else if stored.by_columns && stored.shape.len() > 2 {
        return Err("an array of more than two extents is stored by columns".into());
    }
    Ok(NumpyArray { shape: stored.shape.clone(), values })
}

/// The shape and the values of an array of Python objects.
pub fn objects(pickle: &Pickle, value: PickleValue) -> Result<(Vec<u64>, &[PickleValue]), String> {
    let Some(PickleObject::Array(stored)) = pickle.object(value) else {
        return Err("expected a numpy array".into());
    };
    let items = stored.data.and_then(|data| pickle.sequence(data));
    let (Some(StoredDtype { kind: StoredKind::Object, .. }), Some(items)) = (stored.dtype, items)
    else {
        return Err("expected a numpy array of objects".into());
    };
    if stored.shape.iter().try_fold(1u64, |size, extent| size.checked_mul(*extent))
        != Some(items.len() as u64)
    {
        return Err(format!("an array of shape {:?} has {} objects", stored.shape, items.len()));
    }
    if stored.by_columns && stored.shape.len() > 1 {
        return Err("an array of objects is stored by columns".into());
    }
    Ok((stored.shape.clone(), items))
}

/// A sparse matrix in rows.
pub fn matrix(pickle: &Pickle, value: PickleValue) -> Result<CsrMatrix, String> {
    let Some(PickleObject::Matrix(Some(state))) = pickle.object(value) else {
        return Err("expected a scipy CSR matrix".into());
    };
    let attributes = pickle.dict(*state).ok_or("a CSR matrix has no attributes")?;
    let attribute = |names: &[&str]| {
        let found = attributes
            .iter()
            .find(|(name, _)| pickle.text(*name).is_some_and(|name| names.contains(&name)));
        found.map(|(_, value)| *value).ok_or_else(|| format!("a CSR matrix has no `{}`", names[0]))
    };
    let shape = shape_of(&pickle.objects, attribute(&["_shape", "shape"])?)?;
    let [rows, columns] = shape[..] else {
        return Err("the shape of a CSR matrix does not have two extents".into());
    };
    let columns = u32::try_from(columns).map_err(|_| "a CSR matrix has more than 2^32 columns")?;
    let offsets = array(pickle, attribute(&["indptr"])?)?.values;
    let index = array(pickle, attribute(&["indices"])?)?.values;
    let values = array(pickle, attribute(&["data"])?)?.values;
    let sound = offsets.len() as u64 == rows.saturating_add(1)
        && offsets.first() == Some(&0.0)
        && offsets.is_sorted()
        && offsets.last() == Some(&(index.len() as f64));
    if !sound || index.len() != values.len() {
        return Err("the offsets of a CSR matrix do not fit its entries".into());
    }
    if let Some(bad) = index
        .iter()
        .find(|&&index| !(index >= 0.0 && index < f64::from(columns) && index.fract() == 0.0))
    {
        return Err(format!("a CSR matrix of {columns} columns has an entry in column {bad}"));
    }
    let mut matrix = CsrMatrix {
        columns,
        offsets: vec![0],
        index: Vec::with_capacity(index.len()),
        values: Vec::with_capacity(index.len()),
    };
    for row in offsets.windows(2) {
        let range = row[0] as usize..row[1] as usize;
        let mut entries: Vec<(u32, f32)> = index[range.clone()]
            .iter()
            .zip(&values[range])
            .map(|(&index, &value)| (index as u32, value as f32))
            .collect();
        entries.sort_by_key(|(index, _)| *index);
        let begin = matrix.index.len();
        for (index, value) in entries {
            match matrix.index[begin..].last() {
                Some(&last) if last == index => {
                    *matrix.values.last_mut().ok_or("a CSR matrix has a row without values")? +=
                        value
                }
                _ => {
                    matrix.index.push(index);
                    matrix.values.push(value);
                }
            }
        }
        matrix.offsets.push(matrix.index.len() as u64);
    }
    Ok(matrix)
}
