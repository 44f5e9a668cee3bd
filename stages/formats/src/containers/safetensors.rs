//! The tensors of a safetensors file: one after the other, only those that are asked for, or all.
//!
//! promises  the values that the file as a whole gives; a file that is packed, or that is not as
//!           its header says, is left to `read_arrays`
//! bounds    the header, and what is asked for
use super::{
    decompress::PlainFile,
    npy::{Array, Dtype, Origin, ValueKind, array_parts::ArrayParts},
    sparse_matrix,
};
use crate::read_error::{Read, ReadError};
use safetensors::tensor::{Dtype as Theirs, Metadata};
use std::path::{Path, PathBuf};

/// Bytes that are passed over at once.
const BLOCK_BYTES: usize = 1 << 20;

/// A file of tensors.
pub(crate) struct TensorFile {
    path: PathBuf,
    about: Metadata,
    /// Where the values begin.
    begin: u64,
}

impl TensorFile {
    /// None: it has to be read as a whole, if only to say what is wrong with it.
    pub fn open(path: &Path) -> Read<Option<TensorFile>> {
        let mut plain = PlainFile::open(path)?;
        let Some(size) = plain.size() else { return Ok(None) };
        let mut head = Vec::new();
        plain.fill(&mut head, 8)?;
        let length = <[u8; 8]>::try_from(&head[..]).map_or(u64::MAX, u64::from_le_bytes);
        if length > TENSOR_NAMES_MOST {
            return Ok(None);
        }
        head.clear();
        plain.fill(&mut head, length as usize)?;
        let Ok(about) = serde_json::from_slice::<Metadata>(&head) else { return Ok(None) };
        let begin = 8 + length;
        let is_sound = |name: &String| {
            let Some(info) = about.info(name).filter(|info| info.dtype != Theirs::BF16) else {
                return false;
            };
            let bytes = dtype_of(info.dtype).and_then(|dtype| {
                info.shape.iter().try_fold(dtype.width, |bytes, &extent| bytes.checked_mul(extent))
            });
            bytes.is_some()
                && info.data_offsets.1.checked_sub(info.data_offsets.0) == bytes
                && info.data_offsets.1 <= about.data_len()
        };
        let names = about.tensors();
        let fits =
            begin.checked_add(about.data_len() as u64) == Some(size) && names.keys().all(is_sound);
        Ok(fits.then(|| TensorFile { path: path.to_path_buf(), about, begin }))
    }

    /// Names of the tensors, ascending.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.about.tensors().into_keys().collect();
        names.sort_unstable();
        names
    }

    /// A tensor, part by part.
    pub fn parts(&self, name: &str) -> Read<ArrayParts<'static>> {
        let from = Origin::new(&self.path, Some(name));
        let found = self.about.info(name).and_then(|info| Some((info, dtype_of(info.dtype)?)));
        let Some((info, dtype)) = found else {
            return Err(Box::new(ReadError::new(
                &self.path,
                format!("there is no tensor `{name}`"),
            )));
        };
        let mut plain = PlainFile::open(&self.path)?;
        let (mut left, mut passed) =
            ((self.begin + info.data_offsets.0 as u64) as usize, Vec::new());
        while left > 0 {
            passed.clear();
            let got = plain.fill(&mut passed, left.min(BLOCK_BYTES))?;
            if got == 0 {
                return Err(Box::new(
                    from.error("the file ends before this tensor")
                        .hint("is it being written? read it again once it is whole"),
                ));
            }
            left -= got;
        }
        Ok(ArrayParts::from_rest_of_file(
            plain,
            from,
            info.shape.iter().map(|&extent| extent as u64).collect(),
            dtype,
        ))
    }

    /// A whole tensor.
    pub fn array(&self, name: &str) -> Read<Array> {
        self.parts(name)?.rest()
    }
}

/// Bytes of a header with names of tensors that are looked at.
const TENSOR_NAMES_MOST: u64 = 1 << 24;

/// The tensors of a file, by ascending name.
pub fn read_arrays(path: &Path) -> Read<Vec<(String, Array)>> {
    let bytes = PlainFile::open(path)?.read_all()?;
    let wrong = |error: safetensors::SafeTensorError| {
        let start =
            String::from_utf8_lossy(&bytes[..bytes.len().min(16)]).replace(char::is_control, ".");
        let error = ReadError::new(path, format!("this is no safetensors file: {error}"));
        let error = error.expected(
            "the length of a header, the header, and the tensors that it names",
            format!("{} bytes from `{start}` on", bytes.len()),
        );
        Box::new(error.hint("write it again:  safetensors.numpy.save_file({'features': x}, FILE)"))
    };
    let tensors = safetensors::SafeTensors::deserialize(&bytes).map_err(wrong)?;
    let mut names = tensors.names();
    names.sort_unstable();
    let array =
        |name: &str| tensor(Origin::new(path, Some(name)), &tensors.tensor(name).map_err(wrong)?);
    names.into_iter().map(|name| Ok((name.to_owned(), array(name)?))).collect()
}

/// The names of the tensors of a file, from its header alone.
pub fn read_names(path: &Path) -> Read<Vec<String>> {
    let mut head = Vec::new();
    let mut file = PlainFile::open(path)?;
    file.fill(&mut head, 8)?;
    let length =
        <[u8; 8]>::try_from(&head[..]).map_or(0, u64::from_le_bytes).min(TENSOR_NAMES_MOST);
    file.fill(&mut head, length as usize)?;
    let header: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(head.get(8..).unwrap_or_default()).unwrap_or_default();
    Ok(header.keys().filter(|name| *name != "__metadata__").cloned().collect())
}

/// The parts of one sparse matrix, as scipy calls them, in a file of tensors.
pub(crate) struct TensorMatrix<'a> {
    path: &'a Path,
    arrays: &'a [(String, Array)],
}

impl TensorMatrix<'_> {
    pub fn matrix<'a>(path: &'a Path, arrays: &'a [(String, Array)]) -> Option<TensorMatrix<'a>> {
        let loose = TensorMatrix { path, arrays };
        ["data", "indices", "indptr", "shape"]
            .iter()
            .all(|name| sparse_matrix::ArraysByName::has(&loose, name))
            .then_some(loose)
    }
}

impl sparse_matrix::ArraysByName for TensorMatrix<'_> {
    fn has(&self, name: &str) -> bool {
        self.arrays.iter().any(|(known, _)| known == name)
    }

    fn array(&self, name: &str) -> Read<Array> {
        let found =
            self.arrays.iter().find(|(known, _)| known == name).map(|(_, array)| array.clone());
        found.ok_or_else(|| {
            Box::new(ReadError::new(self.path, format!("there is no tensor `{name}`")))
        })
    }

    fn error(&self, what: String) -> ReadError {
        ReadError::new(self.path, what)
    }
}

/// A tensor as an array.
fn tensor(from: Origin, view: &safetensors::tensor::TensorView<'_>) -> Read<Array> {
    let Some(dtype) = dtype_of(view.dtype()) else {
        let error = from.error(format!("values of the type {:?} are not read", view.dtype()));
        let hint = "write numbers of a type that numpy has:  tensor.float()";
        return Err(Box::new(
            error
                .expected(
                    "bool, whole numbers or reals of 16 to 64 bits",
                    format!("{:?}", view.dtype()),
                )
                .hint(hint),
        ));
    };
    // The upper half of a 32-bit real is what BF16 keeps.
    let bytes = match view.dtype() {
        safetensors::Dtype::BF16 => {
            view.data().chunks_exact(2).flat_map(|half| [0, 0, half[0], half[1]]).collect()
        }
        _ => view.data().to_vec(),
    };
    let shape = view.shape().iter().map(|&extent| extent as u64).collect();
    Array::new(from, shape, dtype, bytes)
}

/// How numpy stores values of a type of tensors, BF16 as 32 bits; none: it does not have it.
fn dtype_of(theirs: safetensors::Dtype) -> Option<Dtype> {
    use safetensors::Dtype as Theirs;
    let (kind, width) = match theirs {
        Theirs::BOOL => (ValueKind::Bool, 1),
        Theirs::I8 => (ValueKind::Signed, 1),
        Theirs::I16 => (ValueKind::Signed, 2),
        Theirs::I32 => (ValueKind::Signed, 4),
        Theirs::I64 => (ValueKind::Signed, 8),
        Theirs::U8 => (ValueKind::Unsigned, 1),
        Theirs::U16 => (ValueKind::Unsigned, 2),
        Theirs::U32 => (ValueKind::Unsigned, 4),
        Theirs::U64 => (ValueKind::Unsigned, 8),
        Theirs::F16 => (ValueKind::Real, 2),
        Theirs::F32 | Theirs::BF16 => (ValueKind::Real, 4),
        Theirs::F64 => (ValueKind::Real, 8),
        _ => return None,
    };
    Some(Dtype { kind, width, big_endian: false })
}
