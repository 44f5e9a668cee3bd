//! tensors: named arrays with metadata, as bytes in the safetensors format.
//!
//! promises  the same tensors and metadata give the same bytes; numbers are read with the bits that
//!           were written
//! never     converts a number
use std::collections::BTreeMap;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use warploom_contract::StageError;

use crate::precision::Precision;

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Type of an element.
    pub dtype: Dtype,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Little-endian elements, row-major.
    pub bytes: Vec<u8>,
}

/// Arrays by name, and metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    /// Arrays.
    pub arrays: BTreeMap<String, Tensor>,
    /// Metadata.
    pub facts: BTreeMap<String, String>,
}

impl Tensor {
    /// An array of the run's type.
    pub fn from_reals<T: Precision>(shape: &[usize], values: &[T]) -> Self {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|value| value.append_bytes(&mut bytes));
        Tensor { dtype: T::TENSOR, shape: shape.to_vec(), bytes }
    }

    /// An array of integers.
    pub fn from_wholes(values: &[i64]) -> Self {
        Tensor {
            dtype: Dtype::I64,
            shape: vec![values.len()],
            bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }

    /// Elements, if they are integers.
    pub fn wholes(&self) -> Option<Vec<i64>> {
        (self.dtype == Dtype::I64).then(|| {
            self.bytes.as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()
        })
    }

    /// Elements, if they have the run's type.
    pub fn reals<T: Precision>(&self) -> Option<Vec<T>> {
        (self.dtype == T::TENSOR).then(|| T::from_bytes(&self.bytes))
    }
}

impl Tensors {
    /// The bytes of a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, StageError> {
        let defect =
            |error: String| StageError::defect(format!("tensors cannot be written: {error}"));
        let mut views = Vec::with_capacity(self.arrays.len());
        for (name, tensor) in &self.arrays {
            let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes);
            views.push((name.clone(), view.map_err(|error| defect(format!("`{name}`: {error}")))?));
        }
        let plain =
            safetensors::serialize(views, None).map_err(|error| defect(error.to_string()))?;
        self.insert_facts(&plain)
            .ok_or_else(|| defect("the header is not what was expected".to_owned()))
    }

    /// Inserts the metadata into the header: the crate would write it in the random order of a hash
    /// map.
    fn insert_facts(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let (length, rest) = plain.split_first_chunk::<8>()?;
        let (header, data) =
            rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let tensors = std::str::from_utf8(header).ok()?.trim_end().strip_prefix('{')?;
        let facts = serde_json::to_string(&self.facts).ok()?;
        let comma = if tensors.starts_with('}') { "" } else { "," };
        let mut text = format!("{{\"__metadata__\":{facts}{comma}{tensors}");
        text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
        Some([&(text.len() as u64).to_le_bytes(), text.as_bytes(), data].concat())
    }

    /// Reads a file; the error says what is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
        let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let array = |(name, view): (&str, TensorView<'_>)| {
            (
                name.to_owned(),
                Tensor {
                    dtype: view.dtype(),
                    shape: view.shape().to_vec(),
                    bytes: view.data().to_vec(),
                },
            )
        };
        let facts = header
            .metadata()
            .iter()
            .flatten()
            .map(|(name, fact)| (name.clone(), fact.clone()))
            .collect();
        Ok(Tensors { arrays: file.iter().map(array).collect(), facts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_same_each_time_and_come_back() {
        let facts =
            ["program", "seed", "a", "b", "c"].map(|name| (name.to_owned(), format!("of {name}")));
        let mut tensors = Tensors { arrays: BTreeMap::new(), facts: facts.into() };
        assert_eq!(Tensors::from_bytes(&tensors.to_bytes().unwrap()).unwrap(), tensors);
        let odd = [f64::NAN, -0.0, f64::MIN_POSITIVE / 2.0, f64::INFINITY, 0.1];
        tensors.arrays.insert("x".to_owned(), Tensor::from_reals(&[5], &odd));
        tensors.arrays.insert("y".to_owned(), Tensor::from_reals::<f32>(&[1, 1], &[0.1]));
        tensors.arrays.insert("z".to_owned(), Tensor::from_wholes(&[7, i64::MIN]));
        let bytes = tensors.to_bytes().unwrap();
        let back = Tensors::from_bytes(&bytes).unwrap();
        assert_eq!(back, tensors);
        assert_eq!(back.arrays["x"].reals::<f64>().unwrap().map_bits(), odd.to_vec().map_bits());
        assert_eq!(
            (back.arrays["z"].wholes(), back.arrays["y"].wholes()),
            (Some(vec![7, i64::MIN]), None)
        );
        assert_eq!(bytes, tensors.clone().to_bytes().unwrap());
    }

    trait Bits {
        fn map_bits(&self) -> Vec<u64>;
    }

    impl Bits for Vec<f64> {
        fn map_bits(&self) -> Vec<u64> {
            self.iter().map(|value| value.to_bits()).collect()
        }
    }
}
