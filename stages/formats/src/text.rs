//! The one place that splits lines into fields and numbers. `text/README.md` says which text
//! reader a format uses.
pub mod blocks;
pub mod comments;
pub mod counted_header;
pub mod fast_numbers;
pub mod field_fault;
pub mod field_table;
pub mod fields;
pub mod grammar;
pub mod lines;
pub mod number_columns;
pub mod number_table;
pub mod numbers;
pub mod statements;
pub mod tab_cells;
pub mod words;
