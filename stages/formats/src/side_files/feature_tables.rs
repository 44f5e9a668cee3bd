//! Features that stand beside a graph as a table, in text, Parquet or Arrow.
//!
//! ```text
//! x0,x1,x2        row,column,value
//! 0.5,0,1         0,2,1.0            rows and columns from 0; the widest column and row say how many there are at least
//! ```
//! reads     x0, x1, x2, ... (column_roles.rs) or one column of lists; or the entries of a sparse
//!           matrix
//! never     takes a column of another name for a feature: a table of nodes may have those
use super::node_arrays::ArrayValues;
use crate::{
    column_roles::is_feature,
    containers::{
        decompress::PlainFile,
        npy::{Array, Dtype, Number, Origin, ValueKind},
        sparse_matrix::{self, ENTRIES},
    },
    options::Options,
    read_error::{Read, ReadError},
    text::field_table::FieldTable,
};
use std::path::Path;

const HINT: &str = "name the columns  x0, x1, ... , or  row, column, value ; columns of other \
                    names stand in the table of nodes";

/// Whether tables come in files that end so.
pub(super) fn reads(end: &str) -> bool {
    #[cfg(feature = "tables")]
    if crate::readers::tables::is_end(end) {
        return true;
    }
    ["csv", "tsv"].contains(&end)
}

/// Reads a table of features.
pub(super) fn read(path: &Path) -> Read<ArrayValues> {
    #[cfg(feature = "tables")]
    if crate::readers::tables::is_table(path) {
        return match crate::readers::tables::features_of(path)? {
            crate::readers::tables::TableFeatures::Rows { columns, values } => {
                rows(path, columns, &values).map(ArrayValues::Array)
            }
            crate::readers::tables::TableFeatures::Entries(entries) => {
                Ok(ArrayValues::Entries(entries))
            }
        };
    }
    let table = FieldTable::read(PlainFile::open(path)?, None, &Options::default())?;
    let names: Vec<&str> = table.names().iter().map(String::as_str).collect();
    if names == ENTRIES {
        let whole = |row: usize, column: usize| {
            table.text(row, column).map(|text| text.parse().ok().map(Number::Unsigned))
        };
        let number = |row: usize| match table.number(row, 2) {
            Some(number) => Ok(Number::Real(number)),
            None => Err(table.fault(
                row,
                2,
                "a feature is not a finite number",
                "a number",
                "features are finite numbers",
            )),
        };
        let all =
            (0..table.rows()).map(|row| Ok([whole(row, 0)?, whole(row, 1)?, Some(number(row)?)]));
        return sparse_matrix::entries_from_columns(path, all.collect::<Read<Vec<_>>>()?)
            .map(ArrayValues::Entries);
    }
    if names.is_empty() || !names.iter().all(|name| is_feature(name)) {
        let error =
            ReadError::new(path, "the columns of this table do not say that they are features");
        return Err(Box::new(
            error.expected("x0, x1, ..., or row, column, value", names.join(", ")).hint(HINT),
        ));
    }
    let mut values = Vec::with_capacity(table.rows() * names.len());
    for row in 0..table.rows() {
        for column in 0..names.len() {
            let number = table
                .number(row, column)
                .map(|number| number as f32)
                .filter(|number| number.is_finite());
            let fault = || {
                table.fault(
                    row,
                    column,
                    "a feature is not a finite number",
                    "a number",
                    "features are finite numbers: write 0 where there is none",
                )
            };
            values.push(number.ok_or_else(fault)?);
        }
    }
    rows(path, names.len(), &values).map(ArrayValues::Array)
}

/// Rows of numbers as an array.
fn rows(path: &Path, columns: usize, values: &[f32]) -> Read<Array> {
    let shape = vec![(values.len() / columns.max(1)) as u64, columns as u64];
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Array::new(
        Origin::new(path, None),
        shape,
        Dtype { kind: ValueKind::Real, width: 4, big_endian: false },
        bytes,
    )
}
