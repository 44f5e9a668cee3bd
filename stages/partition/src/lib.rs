//! CSR to work units and device formats.
