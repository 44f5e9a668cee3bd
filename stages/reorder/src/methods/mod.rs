//! One file per method: from a csr to the new number of each node.
pub mod degree;
