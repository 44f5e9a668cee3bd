//! The few classes that a pickle may name, and the arrays and matrices that come of them.
//!
//! promises  a name that is not listed here is an error with that name; an array has exactly the
//!           bytes that its shape asks
//! never     trusts a shape, an offset or an index
use super::value::{Array, Dtype, Global, Kind, Matrix, Object, Pickle, StoredArray, Value};

/// What a call gives.
pub enum Made {
    Value(Value),
    Object(Object),
}

fn object(objects: &[Object], value: Value) -> Option<&Object> {
    match value {
        Value::Object(index) => objects.get(index as usize),
        _ => None,
    }
}

fn sequence(objects: &[Object], value: Value) -> Option<&[Value]> {
    match object(objects, value)? {
        Object::Sequence(items) => Some(items),
        _ => None,
    }
}

fn text(objects: &[Object], value: Value) -> Option<&str> {
    match object(objects, value)? {
        Object::Text(text) => Some(text),
        Object::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn dtype_of(objects: &[Object], value: Value) -> Result<Dtype, String> {
    match object(objects, value) {
        Some(Object::Dtype(dtype)) => Ok(*dtype),
        _ => Err("the type of an array's numbers is missing".into()),
    }
}

fn shape_of(objects: &[Object], value: Value) -> Result<Vec<u64>, String> {
    let extent = |value: &Value| match value {
        Value::Integer(extent) => u64::try_from(*extent).ok(),
        _ => None,
    };
    let shape = match value {
        Value::Integer(_) => extent(&value).map(|extent| vec![extent]),
        _ => sequence(objects, value).and_then(|items| items.iter().map(extent).collect()),
    };
    shape
        .filter(|shape| shape.len() <= 8)
        .ok_or_else(|| "the shape of an array is not a short list of whole numbers".into())
}

/// Calls a known class or function.
pub fn call(objects: &[Object], function: Value, arguments: Value) -> Result<Made, String> {
    let Some(Object::Global(global)) = object(objects, function) else {
        return Err("it calls something that is no known function".into());
    };
    let arguments = sequence(objects, arguments).ok_or("the arguments of a call are no tuple")?;
    let argument = |at: usize| {
        arguments.get(at).copied().ok_or_else(|| format!("a call lacks its argument {at}"))
    };
    let made = match global {
        Global::Reconstruct => Object::Array(StoredArray::default()),
        Global::FromBuffer => {
            let by_columns = arguments.get(3).and_then(|&order| text(objects, order)) == Some("F");
            Object::Array(StoredArray {
                shape: shape_of(objects, argument(2)?)?,
                dtype: Some(dtype_of(objects, argument(1)?)?),
                by_columns,
                data: Some(argument(0)?),
            })
        }
        Global::Scalar => {
            let dtype = dtype_of(objects, argument(0)?)?;
            let Some(Object::Bytes(bytes)) = object(objects, argument(1)?) else {
                return Err("a number has no bytes".into());
            };
            let value = dtype.numbers(bytes)?.first().copied().ok_or("a number has no bytes")?;
            return Ok(Made::Value(if dtype.kind == Kind::Real {
                Value::Real(value)
            } else {
                Value::Integer(value as i64)
            }));
        }
        Global::Dtype => Object::Dtype(Dtype::named(
            text(objects, argument(0)?).ok_or("a type of numbers has no name")?,
        )?),
        Global::Csr => Object::Matrix(None),
        Global::Reconstructor => return call_class(objects, argument(0)?),
        Global::Encode => {
            let text =
                text(objects, argument(0)?).ok_or("bytes are made of something that is no text")?;
            let byte = |sign: char| {
                u8::try_from(u32::from(sign))
                    .map_err(|_| "bytes are made of a text that is not Latin-1".to_string())
            };
            Object::Bytes(text.chars().map(byte).collect::<Result<_, _>>()?)
        }
        // Items that come as arguments are refused, for a container that lost them would look like
        // an empty one.
        Global::Dict if !has_items(objects, arguments) => Object::Dict(Vec::new()),
        Global::List if !has_items(objects, arguments) => Object::Sequence(Vec::new()),
        Global::Dict | Global::List => {
            return Err("it makes a container from items in a way that is not read".into());
        }
        Global::Ndarray | Global::Passed => {
            return Err("it makes an object in a way that is not read".into());
        }
    };
    Ok(Made::Object(made))
}

/// Whether any argument is a container that is not empty.
fn has_items(objects: &[Object], arguments: &[Value]) -> bool {
    arguments.iter().any(|&argument| match object(objects, argument) {
        Some(Object::Sequence(items)) => !items.is_empty(),
        Some(Object::Dict(items)) => !items.is_empty(),
        _ => false,
    })
}

fn call_class(objects: &[Object], class: Value) -> Result<Made, String> {
    match object(objects, class) {
        Some(Object::Global(Global::Csr)) => Ok(Made::Object(Object::Matrix(None))),
        _ => Err("it makes an object of a class that is not read".into()),
    }
}

/// Sets the state of an object.
pub fn build(objects: &mut [Object], target: Value, state: Value) -> Result<(), String> {
    let items = sequence(objects, state);
    let new = match (object(objects, target), items) {
        (Some(Object::Array(_)), Some(items)) if items.len() == 5 => Object::Array(StoredArray {
            shape: shape_of(objects, items[1])?,
            dtype: Some(dtype_of(objects, items[2])?),
            by_columns: matches!(items[3], Value::Bool(true) | Value::Integer(1)),
            data: Some(items[4]),
        }),
        (Some(Object::Dtype(dtype)), Some(items)) if items.len() >= 2 => {
            let order =
                text(objects, items[1]).ok_or("the byte order of a type of numbers is no text")?;
            Object::Dtype(Dtype { big_endian: order == ">", ..*dtype })
        }
        (Some(Object::Matrix(_)), None)
            if matches!(object(objects, state), Some(Object::Dict(_))) =>
        {
            Object::Matrix(Some(state))
        }
        (Some(Object::Dict(_)), None) => return Ok(()),
        _ => return Err("the state of an object is not what its class asks".into()),
    };
    if let Value::Object(index) = target
        && let Some(slot) = objects.get_mut(index as usize)
    {
        *slot = new;
    }
    Ok(())
}

impl Dtype {
    /// `f4`, `<i8`, `|b1`, ...
    fn named(name: &str) -> Result<Dtype, String> {
        let plain = name.trim_start_matches(['<', '>', '|', '=']);
        let (kind, bytes) = match plain {
            "b1" | "bool" | "?" => (Kind::Unsigned, 1),
            "i1" | "i2" | "i4" | "i8" => (Kind::Signed, plain.as_bytes()[1] - b'0'),
            "u1" | "u2" | "u4" | "u8" => (Kind::Unsigned, plain.as_bytes()[1] - b'0'),
            "f4" | "f8" => (Kind::Real, plain.as_bytes()[1] - b'0'),
            "O" | "O4" | "O8" => (Kind::Object, 8),
            _ => {
                return Err(format!(
                    "numbers of the type `{}` are not read",
                    name.chars().take(20).collect::<String>()
                ));
            }
        };
        Ok(Dtype { kind, bytes, big_endian: name.starts_with('>') })
    }

    fn numbers(self, bytes: &[u8]) -> Result<Vec<f64>, String> {
        let width = usize::from(self.bytes);
        if self.kind == Kind::Object {
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
                (Kind::Real, 4) => f64::from(f32::from_bits(bits as u32)),
                (Kind::Real, _) => f64::from_bits(bits),
                (Kind::Unsigned, _) => bits as f64,
                (Kind::Signed | Kind::Object, _) => (((bits << unused) as i64) >> unused) as f64,
            }
        };
        Ok(bytes.chunks_exact(width).map(one).collect())
    }
}

/// An array of numbers, row by row.
pub fn array(pickle: &Pickle, value: Value) -> Result<Array, String> {
    let Some(Object::Array(stored)) = pickle.object(value) else {
        return Err("expected a numpy array".into());
    };
    let data = stored.data.and_then(|data| pickle.object(data));
    let (Some(dtype), Some(Object::Bytes(bytes))) = (stored.dtype, data) else {
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
    Ok(Array { shape: stored.shape.clone(), values })
}

/// The shape and the values of an array of Python objects.
pub fn objects(pickle: &Pickle, value: Value) -> Result<(Vec<u64>, &[Value]), String> {
    let Some(Object::Array(stored)) = pickle.object(value) else {
        return Err("expected a numpy array".into());
    };
    let items = stored.data.and_then(|data| pickle.sequence(data));
    let (Some(Dtype { kind: Kind::Object, .. }), Some(items)) = (stored.dtype, items) else {
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
pub fn matrix(pickle: &Pickle, value: Value) -> Result<Matrix, String> {
    let Some(Object::Matrix(Some(state))) = pickle.object(value) else {
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
    let mut matrix = Matrix {
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
