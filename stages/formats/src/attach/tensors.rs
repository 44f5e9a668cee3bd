//! The tensors of a safetensors file, one after the other: only those that are asked for are read.
//!
//! promises  the values that the file as a whole gives; a file that is packed, or that is not as
//!           its header says, is left to `safetensors_arrays`
//! bounds    the header, and what is asked for
use super::{TENSOR_NAMES_MOST, dtype_of};
use crate::{
    decompress::Plain,
    npy::{Array, Origin, Parts},
    raw::{Read, ReadError},
};
use safetensors::tensor::{Dtype as Theirs, Metadata};
use std::path::{Path, PathBuf};

/// Bytes that are passed over at once.
const BLOCK_BYTES: usize = 1 << 20;

/// A file of tensors.
pub(crate) struct Tensors {
    path: PathBuf,
    about: Metadata,
    /// Where the values begin.
    begin: u64,
}

impl Tensors {
    /// None: it has to be read as a whole, if only to say what is wrong with it.
    pub fn open(path: &Path) -> Read<Option<Tensors>> {
        let mut plain = Plain::open(path)?;
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
        Ok(fits.then(|| Tensors { path: path.to_path_buf(), about, begin }))
    }

    /// Names of the tensors, ascending.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.about.tensors().into_keys().collect();
        names.sort_unstable();
        names
    }

    /// A tensor, part by part.
    pub fn parts(&self, name: &str) -> Read<Parts<'static>> {
        let from = Origin::new(&self.path, Some(name));
        let found = self.about.info(name).and_then(|info| Some((info, dtype_of(info.dtype)?)));
        let Some((info, dtype)) = found else {
            return Err(Box::new(ReadError::new(
                &self.path,
                format!("there is no tensor `{name}`"),
            )));
        };
        let mut plain = Plain::open(&self.path)?;
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
        Ok(Parts::that_follow(
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
