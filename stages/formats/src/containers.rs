//! What bytes are wrapped in: packed files, archives, arrays, pickles and columns.
//!
//! promises  a damaged or hostile file is an error with its place; what a file claims costs nothing
//!           before its bytes have shown it
//! never     knows which graph is in the bytes: that is `readers`
#[cfg(feature = "tables")]
pub(crate) mod arrow_columns;
#[cfg(feature = "tables")]
pub(crate) mod arrow_tables;
pub(crate) mod bundle;
pub mod decompress;
pub(crate) mod gzip;
pub mod npy;
pub mod npz;
#[cfg(feature = "tables")]
mod parquet_pages;
pub mod pickle;
pub mod raw_file;
pub mod safetensors;
pub mod sparse_matrix;
pub mod tar;
pub(crate) mod text_source;
pub mod zip;
