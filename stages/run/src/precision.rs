//! precision: what a run needs of f32 and f64 beyond arithmetic: their names and conversions on
//! disk.
//!
//! promises  a number is read back with the bits that were written
//! never     rounds silently: rounding is only in functions that say so
use std::sync::Arc;

use arrow_array::{
    ArrayRef, PrimitiveArray,
    types::{ArrowPrimitiveType, Float32Type, Float64Type},
};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use safetensors::Dtype;
use warploom_contract::arrow_file::View;
use warploom_cpu::{evaluate::Element, shortcuts::delta_stepping::Lowered};

/// f32 or f64: the type that a run computes with.
pub trait Precision: Lowered + Element + ArrowNativeType {
    /// The name in plans and records.
    const NAME: &'static str;
    /// The dtype in safetensors.
    const TENSOR: Dtype;
    /// Relative difference between this type and the reference that `check` allows for rounding.
    const TOLERANCE: f64;
    /// The type in Arrow.
    type Arrow: ArrowPrimitiveType<Native = Self>;

    /// A column of a graph artifact in this type; f32 shares the mapped file.
    fn from_view(view: &View<f32>) -> View<Self>;

    /// Appends the little-endian bytes.
    fn append_bytes(self, bytes: &mut Vec<u8>);

    /// Numbers from little-endian bytes; incomplete trailing bytes are ignored.
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;

    /// A number of a graph artifact.
    fn from_f32(number: f32) -> Self {
        Self::rounded(f64::from(number))
    }

    /// A column of a result table.
    fn array(values: Vec<Self>) -> ArrayRef {
        Arc::new(PrimitiveArray::<Self::Arrow>::new(ScalarBuffer::from(values), None))
    }
}

impl Precision for f32 {
    const NAME: &'static str = "f32";
    const TENSOR: Dtype = Dtype::F32;
    const TOLERANCE: f64 = 1e-3;
    type Arrow = Float32Type;

    fn from_view(view: &View<f32>) -> View<f32> {
        view.clone()
    }

    fn append_bytes(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn from_bytes(bytes: &[u8]) -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    }
}

impl Precision for f64 {
    const NAME: &'static str = "f64";
    const TENSOR: Dtype = Dtype::F64;
    const TOLERANCE: f64 = 1e-9;
    type Arrow = Float64Type;

    fn from_view(view: &View<f32>) -> View<f64> {
        view.iter().map(|&number| f64::from(number)).collect()
    }

    fn append_bytes(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn from_bytes(bytes: &[u8]) -> Vec<f64> {
        bytes.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
    }
}
