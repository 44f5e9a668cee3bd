//! arrays: converts arrays of PyG, numpy and `export` to tables and archives.
//!
//! reads     edges: `.npy` of shape (2, edges) or (edges, 2); `.npz`, `.safetensors` or a file for
//!           each array, with `edge_index` or `edges` of such a shape, or with `source` and
//!           `target` (`src`, `dst`; `row`, `col`); beside them `weight` (`edge_weight`) and `type`
//!           (`edge_type`)
//! reads     nodes and graphs: an array for each column, `NAME_missing` where values of `NAME` are
//!           missing
//! promises  rows in array order; an edge array of another name is an error that names it (a file
//!           with further arrays beside its edges is converted only if there is a table of nodes:
//!           else it is copied); numeric relations and node types get the given names
//! never     guesses the edge axis where both extents are 2
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{
    Array as _, ArrayRef, Float32Array, Float64Array, Int64Array, StringArray, UInt64Array,
};
use arrow_schema::Field;
use warploom_contract::{
    ErrorKind, StageError,
    arrow_file::open_sparse_rows,
    kinds::graph::FEATURES_COLUMN,
    manifest::MANIFEST_FILE,
    parquet_file::{ROW_GROUP, TableWriter},
    regular_file,
};
use warploom_formats::{
    containers::{
        npy::{self, Array, ValueKind},
        npz::Npz,
        safetensors,
    },
    read_error::{Read, ReadError},
    readers::edge_arrays,
    side_files::names_json::Names,
};
use warploom_shell::requests::read_error;

use super::given_files::{GraphPart, PlacedFile};
use crate::export::{self, Dense};

/// Array names of a sparse matrix in scipy.
const MATRIX: [&str; 4] = ["indices", "indptr", "shape", "data"];

/// Largest manifest.
const MANIFEST_BYTES_MOST: u64 = 16 << 20;

/// Writes arrays as a table.
pub fn write_table(placed: &PlacedFile, names: &Names, to: &Path) -> Result<(), StageError> {
    let columns = named_arrays(placed).and_then(|arrays| match placed.thing {
        GraphPart::Edges => edge_columns(placed.first(), arrays, names),
        _ => node_columns(placed.first(), arrays, names),
    });
    let columns = columns.map_err(|error| read_error(&error))?;
    let fields = columns
        .iter()
        .map(|(name, column)| Field::new(name, column.data_type().clone(), column.null_count() > 0))
        .collect();
    let mut writer = TableWriter::create_for_others(to, fields)?;
    let count = columns.first().map_or(0, |(_, column)| column.len());
    for first in (0..count).step_by(ROW_GROUP) {
        writer.write(
            columns
                .iter()
                .map(|(_, column)| column.slice(first, ROW_GROUP.min(count - first)))
                .collect(),
        )?;
    }
    writer.finish()
}

/// Writes the arrays of a sparse matrix, from one file each, as one archive.
pub fn write_matrix(placed: &PlacedFile, to: &Path) -> Result<(), StageError> {
    let read = || -> Read<Vec<Dense>> {
        let arrays = named_arrays(placed)?;
        let found: Vec<&str> = arrays.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(lacking) = MATRIX.iter().find(|name| !found.contains(name)) {
            let error = ReadError::new(
                placed.first(),
                format!("a sparse matrix lacks its array `{lacking}`"),
            );
            return Err(Box::new(error.expected(MATRIX.join(", "), found.join(", "))));
        }
        let dense = |(name, array): &(String, Array)| match name.as_str() {
            "data" => Ok(export::dense_floats(name, &array.f32s()?)),
            _ => Ok(export::dense_integers(name, &array.u64s()?)),
        };
        arrays.iter().filter(|(name, _)| MATRIX.contains(&name.as_str())).map(dense).collect()
    };
    export::archive(to, &read().map_err(|error| read_error(&error))?)
}

/// Writes sparse rows of an artifact as an archive; the manifest beside them has their width.
pub fn write_sparse_rows(placed: &PlacedFile, to: &Path) -> Result<(), StageError> {
    let path = placed.first();
    let GraphPart::Beside(name) = &placed.thing else {
        return Err(StageError::defect("sparse rows that are not features"));
    };
    let counted = name
        .strip_prefix("features-")
        .map_or_else(|| "feature_columns".to_owned(), |kind| format!("feature_columns.{kind}"));
    let manifest = path.with_file_name(MANIFEST_FILE);
    let text = regular_file::read_text(&manifest, MANIFEST_BYTES_MOST)
        .map_err(|error| StageError::io("read", &manifest, &error))?;
    let page: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(columns) = page["counts"][&counted].as_u64() else {
        let what = format!(
            "the width of these sparse rows is unknown: expected `{counted}` in manifest.json \
             beside them"
        );
        let hint = "export the graph once more, with its manifest:  warploom export graph -o DIR";
        return Err(StageError::new(ErrorKind::Input, what).at(path.display()).hint(hint));
    };
    let entries = open_sparse_rows(path, FEATURES_COLUMN)?;
    export::archive(to, &export::scipy_csr(columns as usize, &entries, true))
}

/// Arrays with their names: of an archive, or of files called `THING.NAME.npy`.
fn named_arrays(placed: &PlacedFile) -> Read<Vec<(String, Array)>> {
    if let [only] = &placed.from[..] {
        let name = only.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        if name.ends_with(".npz") {
            let npz = Npz::open(only)?;
            return npz.names().map(|name| Ok((name.to_owned(), npz.array(name)?))).collect();
        } else if name.ends_with(".safetensors") {
            return safetensors::read_arrays(only);
        } else if placed.thing == GraphPart::Edges && array_name(only).is_none() {
            return Ok(vec![("edge_index".to_owned(), npy::read(only)?)]);
        }
    }
    let named =
        |path: &PathBuf| {
            let unnamed = || {
                ReadError::new(path, "an array without a column name cannot be a table")
                    .expected("NAME.COLUMN.npy", "no column")
            };
            Ok((
                array_name(path).ok_or_else(|| {
                    Box::new(unnamed().hint(
                        "write all columns into one file:  numpy.savez(FILE, id=..., label=...)",
                    ))
                })?,
                npy::read(path)?,
            ))
        };
    placed.from.iter().map(named).collect()
}

/// The part of a file name between its first dot and its extension.
fn array_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let (_, rest) = name.split_once('.')?;
    let (own, _) = rest.split_once(".npy")?;
    Some(own.to_owned())
}

/// A column with its name.
type Column = (String, ArrayRef);

fn edge_columns(path: &Path, arrays: Vec<(String, Array)>, names: &Names) -> Read<Vec<Column>> {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    let found: Vec<String> = arrays.iter().map(|(name, _)| name.clone()).collect();
    let lacks_ends = || {
        let error = ReadError::new(
            path,
            "expected exactly one array of edge sources and one of edge targets",
        )
        .expected(edge_arrays::READ, found.join(", "));
        Box::new(error.hint("write them as  numpy.savez('edges.npz', source=..., target=...)"))
    };
    let lower: Vec<String> = found.iter().map(|name| name.to_lowercase()).collect();
    if !edge_arrays::may_say_ends(lower.iter().map(String::as_str)) {
        return Err(lacks_ends());
    }
    for (name, array) in &arrays {
        match name.to_lowercase().as_str() {
            "edge_index" | "edges" => columns.extend(edge_ends(array)?),
            "source" | "src" | "row" => columns.push(("source", id_column(array)?)),
            "target" | "dst" | "col" => columns.push(("target", id_column(array)?)),
            "weight" | "edge_weight" => {
                columns.push(("weight", Arc::new(Float32Array::from(array.f32s()?)) as ArrayRef))
            }
            "type" | "edge_type" => {
                columns.push(("type", name_numbers(array, &names.relations, "relation")?))
            }
            _ => {
                let error = array.error("an array of this name is not read as part of edges here");
                let hint = "keep it in a file of its own:  --features FILE,  --labels FILE;  x, y, \
                            num_nodes and the like are read without  --nodes";
                return Err(Box::new(
                    error.expected(edge_arrays::READ, format!("`{name}`")).hint(hint),
                ));
            }
        }
    }
    columns.sort_by_key(|(name, _)| {
        ["source", "target", "weight", "type"].iter().position(|known| known == name)
    });
    let ends =
        ["source", "target"].map(|end| columns.iter().filter(|(name, _)| *name == end).count());
    if ends != [1, 1] || columns.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(lacks_ends());
    }
    check_equal_lengths(
        path,
        columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect(),
    )
}

fn node_columns(path: &Path, arrays: Vec<(String, Array)>, names: &Names) -> Read<Vec<Column>> {
    let masks: Vec<(String, Array)> = arrays
        .iter()
        .filter_map(|(name, array)| {
            Some((name.strip_suffix("_missing")?.to_owned(), array.clone()))
        })
        .collect();
    let is_mask = |name: &str| {
        name.strip_suffix("_missing").is_some_and(|of| arrays.iter().any(|(known, _)| known == of))
    };
    let columns = arrays.iter().filter(|(name, _)| !is_mask(name)).map(|(name, array)| {
        let column = match name.as_str() {
            "kind" => name_numbers(array, &names.kinds, "kind of nodes")?,
            _ => {
                array_column(array, masks.iter().find(|(of, _)| of == name).map(|(_, mask)| mask))?
            }
        };
        Ok((name.clone(), column))
    });
    check_equal_lengths(path, columns.collect::<Read<_>>()?)
}

fn check_equal_lengths(path: &Path, columns: Vec<Column>) -> Read<Vec<Column>> {
    let Some((first, count)) = columns.first().map(|(name, column)| (name, column.len())) else {
        return Err(Box::new(
            ReadError::new(path, "there is no array").expected("an array for each column", "none"),
        ));
    };
    match columns.iter().find(|(_, column)| column.len() != count) {
        None => Ok(columns),
        Some((name, column)) => {
            let error = ReadError::new(path, format!("`{name}` and `{first}` differ in length"));
            let error = error.expected(format!("{count} values"), column.len().to_string());
            Err(Box::new(error.hint("write all columns with equal lengths")))
        }
    }
}

/// An array as a column: a list of values, or rows of numbers, with nulls by the mask.
fn array_column(array: &Array, mask: Option<&Array>) -> Read<ArrayRef> {
    let (rows, width) = array.rows()?;
    if array.shape.len() > 1 {
        return Ok(export::lists(width, Arc::new(Float32Array::from(array.f32s()?))));
    }
    let missing = match mask {
        None => vec![false; rows],
        Some(mask) => mask.bools()?,
    };
    if missing.len() != rows {
        let error =
            array.error("the array of missing values does not have one value for each of its");
        return Err(Box::new(error.expected(rows.to_string(), missing.len().to_string())));
    }
    fn mask_missing<T>(values: Vec<T>, missing: &[bool]) -> impl Iterator<Item = Option<T>> {
        values.into_iter().zip(missing).map(|(value, &missing)| (!missing).then_some(value))
    }
    Ok(match array.dtype.kind {
        _ if array.is_text() => {
            Arc::new(StringArray::from_iter(mask_missing(array.words()?, &missing)))
        }
        ValueKind::Bool | ValueKind::Unsigned => {
            Arc::new(UInt64Array::from_iter(mask_missing(array.u64s()?, &missing)))
        }
        ValueKind::Signed => Arc::new(Int64Array::from_iter(mask_missing(array.i64s()?, &missing))),
        _ => Arc::new(Float64Array::from_iter(mask_missing(array.f64s()?, &missing))),
    })
}

/// A list of nonnegative integers or strings.
fn id_column(array: &Array) -> Read<ArrayRef> {
    if array.shape.len() != 1 {
        let error = array
            .error("ends of edges are not a list")
            .expected("one extent", format!("{} extents", array.shape.len()));
        return Err(Box::new(error));
    }
    Ok(if array.is_text() {
        Arc::new(StringArray::from(array.words()?))
    } else {
        Arc::new(UInt64Array::from(array.u64s()?))
    })
}

/// Replaces numbers by names; without names numbers stay.
fn name_numbers(array: &Array, names: &[String], what: &str) -> Read<ArrayRef> {
    if names.is_empty() || array.is_text() {
        return id_column(array);
    }
    let numbers = array.u64s()?;
    let name = |(at, &number): (usize, &u64)| {
        let unnamed = || {
            let error = array.error(format!("value {at} is a {what} without a name"));
            Box::new(error.expected(format!("at most {}", names.len() - 1), number.to_string()))
        };
        usize::try_from(number).ok().and_then(|number| names.get(number)).ok_or_else(unnamed)
    };
    let words: Vec<&String> = numbers.iter().enumerate().map(name).collect::<Read<_>>()?;
    Ok(Arc::new(StringArray::from_iter_values(words)))
}

/// The two rows, or the two columns, of an array.
fn edge_ends(array: &Array) -> Read<[(&'static str, ArrayRef); 2]> {
    let [source, target] =
        edge_arrays::both_ends(array)?.map(|ends| Arc::new(UInt64Array::from(ends)) as ArrayRef);
    Ok([("source", source), ("target", target)])
}
