//! contract: what crosses the disk between stages, and nothing else.
//!
//! holds     ids, kinds of artifact (schema, invariants, `validate`), manifest, key, store,
//!           `Stage`, `Progress`, errors; metrics that several stages state of a graph
//!           (`row_order`, `communities`, `windows`), each defined once
//! promises  a directory under its final name is complete; an artifact passes all of `validate`
//!           before it is published, and its cheap part again when it is opened; a key is the hash
//!           of a readable document
//! never     parses a command line, prints, prompts, or knows a device
//!
//! Start with `stage` (what a stage is), then `store` (where artifacts are) and `kinds` (what is in
//! them; its header says how to add one). Files depend one way: `kind`, `key`, `manifest`, `store`,
//! `stage`, `kinds`, `validation`.
pub mod arrow_file;
pub mod caught_panics;
pub mod communities;
pub mod digest;
pub mod edge_grouping;
pub mod eintr;
pub mod error;
pub mod key;
pub mod kind;
pub mod kinds;
pub mod manifest;
pub mod mapped_file;
#[cfg(feature = "tables")]
pub mod parquet_file;
pub mod process_memory;
pub mod progress;
pub mod regular_file;
pub mod row_order;
pub mod stage;
pub mod stage_record;
pub mod store;
mod validation;
pub mod windows;

pub use digest::Digest;
pub use error::{ErrorKind, StageError};
pub use key::{InputFacts, Key, KeyDocument, Provenance};
pub use kind::Kind;
pub use manifest::Manifest;
pub use stage::{Context, Contract, Inputs, Outputs, Stage, Violation};
pub use store::{
    Store,
    artifact::{Artifact, Names, Reads},
};

/// Largest number of nodes: ids are u32, `u32::MAX` is the sentinel beyond every id and the one
/// before it is kept free.
pub const NODES_MAX: u64 = (1 << 32) - 2;

/// A node: its row in nodes.parquet, or, where a permutation is applied, its new number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// An edge: its row in edges.parquet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeId(pub u64);
