//! One file per scheme: from a csr to a division of its work.
pub mod rows;
