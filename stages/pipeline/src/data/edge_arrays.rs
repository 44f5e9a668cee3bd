//! Edges in arrays, as PyG and numpy keep them, to a table of edges.
//!
//! reads     `.npy` of shape (2, edges) or (edges, 2); `.npz` and `.safetensors` with `edge_index` or `edges` of such a shape, or with
//!           `source` and `target` (`src`, `dst`; `row`, `col`); beside them `weight` (`edge_weight`) and `type` (`edge_type`)
//! promises  edges in the order of the arrays; an array of another name is an error that names it
//! never     guesses which extent is the edges where both are 2
use std::{path::Path, sync::Arc};

use arrow_array::{ArrayRef, Float32Array, StringArray, UInt64Array};
use arrow_schema::Field;
use warploom_contract::{
    ErrorKind, StageError,
    parquet_file::{ROW_GROUP, TableWriter},
};
use warploom_formats::{
    attach,
    npy::{self, Array},
    npz::Npz,
    raw::{Read, ReadError},
};

/// Writes the arrays of a file as a table of edges.
pub fn convert(from: &Path, to: &Path) -> Result<(), StageError> {
    let columns = arrays_of(from).and_then(|arrays| columns(from, arrays)).map_err(|error| {
        let mut converted = StageError::new(if error.io.is_some() { ErrorKind::Input } else { ErrorKind::Data }, error.what.clone()).at(error.location());
        converted.detail = error.detail();
        converted.hint = (!error.hint.is_empty()).then(|| error.hint.clone());
        converted
    })?;
    let fields = columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), false)).collect();
    let mut writer = TableWriter::create_for_others(to, fields)?;
    let count = columns.first().map_or(0, |(_, column)| column.len());
    for first in (0..count).step_by(ROW_GROUP) {
        writer.write(columns.iter().map(|(_, column)| column.slice(first, ROW_GROUP.min(count - first))).collect())?;
    }
    writer.finish()
}

fn arrays_of(path: &Path) -> Read<Vec<(String, Array)>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    if name.ends_with(".npz") {
        let npz = Npz::open(path)?;
        npz.names().map(|name| Ok((name.to_owned(), npz.array(name)?))).collect()
    } else if name.ends_with(".safetensors") {
        attach::safetensors_arrays(path)
    } else {
        Ok(vec![("edge_index".to_owned(), npy::read(path)?)])
    }
}

fn columns(path: &Path, arrays: Vec<(String, Array)>) -> Read<Vec<(&'static str, ArrayRef)>> {
    let mut columns = Vec::new();
    let names: Vec<String> = arrays.iter().map(|(name, _)| name.clone()).collect();
    for (name, array) in &arrays {
        match name.to_lowercase().as_str() {
            "edge_index" | "edges" => columns.extend(both_ends(array)?),
            "source" | "src" | "row" => columns.push(("source", ids(array)?)),
            "target" | "dst" | "col" => columns.push(("target", ids(array)?)),
            "weight" | "edge_weight" => columns.push(("weight", Arc::new(Float32Array::from(array.f32s()?)) as ArrayRef)),
            "type" | "edge_type" => columns.push(("type", ids(array)?)),
            _ => {
                let error = array.error("an array of this name is not read as part of edges");
                let error = error.expected("edge_index, or source and target; weight; type", format!("`{name}`"));
                return Err(Box::new(error.hint("keep it in a file of its own:  --features FILE,  --labels FILE")));
            }
        }
    }
    columns.sort_by_key(|(name, _)| ["source", "target", "weight", "type"].iter().position(|known| known == name));
    let ends = ["source", "target"].map(|end| columns.iter().filter(|(name, _)| *name == end).count());
    if ends != [1, 1] || columns.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        let error = ReadError::new(path, "the arrays do not say both ends of edges, once").expected("edge_index, or source and target", names.join(", "));
        return Err(Box::new(error));
    }
    let count = columns[0].1.len();
    match columns.iter().find(|(_, column)| column.len() != count) {
        None => Ok(columns),
        Some((name, column)) => {
            let error = ReadError::new(path, format!("`{name}` has not as many values as `source`"));
            Err(Box::new(error.expected(count.to_string(), column.len().to_string())))
        }
    }
}

/// Numbers from 0, or words; a list.
fn ids(array: &Array) -> Read<ArrayRef> {
    if array.shape.len() != 1 {
        let error = array.error("ends of edges are not a list").expected("one extent", format!("{} extents", array.shape.len()));
        return Err(Box::new(error));
    }
    Ok(if array.is_text() { Arc::new(StringArray::from(array.words()?)) } else { Arc::new(UInt64Array::from(array.u64s()?)) })
}

/// The two rows, or the two columns, of an array.
fn both_ends(array: &Array) -> Read<[(&'static str, ArrayRef); 2]> {
    let by_rows = match array.shape[..] {
        [2, 2] => None,
        [2, _] => Some(true),
        [_, 2] => Some(false),
        _ => None,
    };
    let Some(by_rows) = by_rows else {
        let shape: Vec<String> = array.shape.iter().map(u64::to_string).collect();
        let error = array.error("the shape of the edges does not say which extent is the two ends");
        let error = error.expected("(2, edges) or (edges, 2), of other than 2 edges", format!("({})", shape.join(", ")));
        return Err(Box::new(error.hint("write them as  numpy.savez(FILE, source=..., target=...)")));
    };
    let all = array.u64s()?;
    let end = |side: usize| -> ArrayRef {
        let half = all.len() / 2;
        let values: Vec<u64> = if by_rows { all[side * half..][..half].to_vec() } else { all.iter().skip(side).step_by(2).copied().collect() };
        Arc::new(UInt64Array::from(values))
    };
    Ok([("source", end(0)), ("target", end(1))])
}
