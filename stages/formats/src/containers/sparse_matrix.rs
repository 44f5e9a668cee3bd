//! Sparse matrices in an archive of arrays: CSR, CSC and COO as scipy writes them, with or without
//! a prefix.
//!
//! promises  offsets, indices and shape are compared with each other; entries keep the order of the
//!           file
//! promises  a shape that nothing stands behind is refused: at most `EMPTY_ROWS_MOST` rows, or
//!           `ROWS_AN_ENTRY` for each entry
//! never     reads block or diagonal forms
use super::{
    npy::{Array, Number, array_parts::ArrayParts, node_values},
    npz::Npz,
};
use crate::{
    f32_rounding::RoundedIntegers,
    raw_graph::{self, Features, NODES_MOST},
    read_error::{Read, ReadError},
};

/// Rows that a matrix without offsets may have in any case.
const EMPTY_ROWS_MOST: u64 = 1 << 22;
/// Rows that a matrix without offsets may have for each of its entries.
const ROWS_AN_ENTRY: u64 = 1 << 10;

/// Entries that are read at once.
const ENTRIES_AT_ONCE: usize = 1 << 18;

/// Arrays by name.
pub trait ArraysByName {
    /// Whether there is an array of this name.
    fn has(&self, name: &str) -> bool;
    /// The array of this name.
    fn array(&self, name: &str) -> Read<Array>;
    /// The array of this name, part by part.
    fn parts(&self, name: &str) -> Read<ArrayParts<'_>> {
        self.array(name).map(ArrayParts::from_array)
    }
    /// An error about all of them.
    fn error(&self, what: String) -> ReadError;
}

impl ArraysByName for Npz {
    fn has(&self, name: &str) -> bool {
        Npz::has(self, name)
    }

    fn array(&self, name: &str) -> Read<Array> {
        Npz::array(self, name)
    }

    fn parts(&self, name: &str) -> Read<ArrayParts<'_>> {
        Npz::parts(self, name)
    }

    fn error(&self, what: String) -> ReadError {
        Npz::error(self, what)
    }
}

/// Entries of a matrix in the order of the file.
#[derive(Default)]
pub struct MatrixEntries {
    /// Its rows.
    pub rows: u32,
    /// Its columns.
    pub columns: u32,
    /// The row of each entry.
    pub row: Vec<u32>,
    /// The column of each entry.
    pub column: Vec<u32>,
    /// The value of each entry.
    pub value: Vec<f32>,
    /// Values that are other whole numbers in the file, by place there.
    pub rounded: RoundedIntegers,
}

/// Whether an array of this name is part of the matrix of this prefix, or says what it is
/// (`_is_array`).
pub fn is_part(prefix: &str, name: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|name| {
        ["data", "shape", "indices", "indptr", "row", "col", "format", "_is_array"].contains(&name)
    })
}

/// Rows and columns as the archive claims them.
pub fn read_shape(npz: &impl ArraysByName, prefix: &str) -> Read<(u64, u64)> {
    let shape = npz.array(&format!("{prefix}shape"))?;
    match shape.u64s()?[..] {
        [rows, columns] => Ok((rows, columns)),
        _ => Err(Box::new(shape.error("the shape of a matrix does not have two extents"))),
    }
}

/// Reads `<prefix>data`, `<prefix>shape` and either `<prefix>indptr` with `<prefix>indices`, or
/// `<prefix>row` with `<prefix>col`; a value that is NaN or infinite is an error.
pub fn read_entries(npz: &impl ArraysByName, prefix: &str) -> Read<MatrixEntries> {
    let mut all = MatrixEntries::default();
    let (rows, columns) = for_each_part(npz, prefix, |part| {
        all.row.extend_from_slice(&part.row);
        all.column.extend_from_slice(&part.column);
        all.value.extend_from_slice(&part.value);
        Ok(())
    })?;
    let all = MatrixEntries { rows, columns, ..all };
    all.refuse_infinite(|what| npz.error(format!("`{prefix}data`: {what}")))?;
    Ok(all)
}

/// The same part by part, whatever the values; rows and columns come back.
pub fn for_each_part(
    npz: &impl ArraysByName,
    prefix: &str,
    mut take: impl FnMut(MatrixEntries) -> Read<()>,
) -> Read<(u32, u32)> {
    let name = |name: &str| format!("{prefix}{name}");
    let (rows, columns) = read_shape(npz, prefix)?;
    let form = if npz.has(&name("format")) {
        npz.array(&name("format"))?.words()?.concat()
    } else if npz.has(&name("row")) {
        "coo".into()
    } else {
        "csr".into()
    };
    let mut values = npz.parts(&name("data"))?;
    let (outer, inner) = if form == "csc" { (columns, rows) } else { (rows, columns) };
    let (mut lines, mut index) = match form.as_str() {
        "coo" => {
            (MatrixLines::Listed(Box::new(npz.parts(&name("row"))?)), npz.parts(&name("col"))?)
        }
        "csr" | "csc" => (
            MatrixLines::Compressed { offsets: Vec::new(), line: 0, at: 0 },
            npz.parts(&name("indices"))?,
        ),
        other => {
            let error = npz
                .error(format!("a sparse matrix of the form `{other}` is not read"))
                .expected("csr, csc or coo", format!("`{other}`"));
            return Err(Box::new(
                error.hint("write it again:  scipy.sparse.save_npz(FILE, MATRIX.tocsr())"),
            ));
        }
    };
    if let MatrixLines::Compressed { offsets, .. } = &mut lines {
        *offsets = read_offsets(npz, prefix, outer, index.count())?;
    }
    let counts = (
        if let MatrixLines::Listed(rows) = &lines { rows.count() } else { index.count() },
        index.count(),
    );
    if counts != (values.count(), values.count()) {
        let error = npz
            .error(format!("the parts of the sparse matrix `{prefix}data` do not fit each other"));
        let error = error.expected(
            format!("{} entries", values.count()),
            format!("{} and {}", counts.0, counts.1),
        );
        return Err(Box::new(
            error.hint("write the matrix again:  scipy.sparse.save_npz(FILE, MATRIX)"),
        ));
    }
    let most =
        EMPTY_ROWS_MOST.max(ROWS_AN_ENTRY.saturating_mul(values.count())).min(u64::from(u32::MAX));
    let claim = |extent: u64, most: u64, what: &str| {
        let error = || {
            Box::new(
                npz.error(format!("a sparse matrix claims too many {what}"))
                    .expected(format!("at most {most}"), extent.to_string()),
            )
        };
        u32::try_from(extent).ok().filter(|_| extent <= most).ok_or_else(error)
    };
    let extents = (
        claim(rows, if form == "csr" { u64::from(u32::MAX) } else { most }, "rows")?,
        claim(columns, u64::from(u32::MAX), "columns")?,
    );
    for _ in 0..values.count().div_ceil(ENTRIES_AT_ONCE as u64).max(1) {
        let value = values.next(ENTRIES_AT_ONCE)?;
        let (value, rounded) = (value.f32s()?, value.rounded()?);
        let line = lines.next(value.len(), outer)?;
        let index = index.next(ENTRIES_AT_ONCE)?.rows_below(inner)?;
        let (row, column) = if form == "csc" { (index, line) } else { (line, index) };
        take(MatrixEntries { rows: extents.0, columns: extents.1, row, column, value, rounded })?;
    }
    Ok(extents)
}

/// The rows of entries (of a matrix in compressed columns: the columns).
enum MatrixLines<'a> {
    Listed(Box<ArrayParts<'a>>),
    Compressed {
        offsets: Vec<u64>,
        line: u32,
        /// Entries so far.
        at: u64,
    },
}

impl MatrixLines<'_> {
    fn next(&mut self, count: usize, below: u64) -> Read<Vec<u32>> {
        match self {
            MatrixLines::Listed(rows) => rows.next(count)?.rows_below(below),
            MatrixLines::Compressed { offsets, line, at } => {
                let mut lines = Vec::with_capacity(count);
                let end = *at + count as u64;
                while *at < end {
                    let last = offsets[*line as usize + 1].min(end);
                    lines.resize(lines.len() + (last - *at) as usize, *line);
                    *at = last;
                    *line += u32::from(*at < end);
                }
                Ok(lines)
            }
        }
    }
}

/// Where each row begins and behind the last, of so many entries.
fn read_offsets(npz: &impl ArraysByName, prefix: &str, rows: u64, entries: u64) -> Read<Vec<u64>> {
    let offsets_from = npz.array(&format!("{prefix}indptr"))?;
    let offsets = offsets_from.u64s()?;
    let hint = "write the matrix again:  scipy.sparse.save_npz(FILE, MATRIX.tocsr())  has offsets \
                that fit";
    let wrong = |what: &str, expected: String, found: String| {
        Err(Box::new(offsets_from.error(what).expected(expected, found).hint(hint)))
    };
    if rows.checked_add(1) != Some(offsets.len() as u64) {
        return wrong(
            "the offsets of a sparse matrix do not fit its shape",
            format!("{rows} rows and one more"),
            offsets.len().to_string(),
        );
    }
    if offsets.first() != Some(&0) || offsets.last() != Some(&entries) {
        let found =
            format!("{} to {}", offsets.first().unwrap_or(&0), offsets.last().unwrap_or(&0));
        return wrong(
            "the offsets of a sparse matrix do not fit its indices",
            format!("0 to {entries}"),
            found,
        );
    }
    if let Some(at) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        return wrong(
            "the offsets of a sparse matrix do not ascend",
            format!("at least {}", offsets[at]),
            format!("{} at {}", offsets[at + 1], at + 1),
        );
    }
    Ok(offsets)
}

impl MatrixEntries {
    /// Refuses values that are NaN or infinite.
    pub fn refuse_infinite(&self, error: impl Fn(String) -> ReadError) -> Read<()> {
        raw_graph::refuse_infinite(
            &self.value,
            |at| (self.row[at] as usize, self.column[at] as usize),
            error,
        )
    }

    /// As features: columns ascend in a row, equal ones are summed, zeros left out.
    pub fn into_features(self) -> Features {
        let rows = self.rows as usize;
        let mut begin = vec![0u64; rows + 1];
        self.row.iter().for_each(|&row| begin[row as usize + 1] += 1);
        (0..rows).for_each(|row| begin[row + 1] += begin[row]);
        let mut next = begin.clone();
        let mut sorted = vec![(0u32, 0f32); self.row.len()];
        for (at, &row) in self.row.iter().enumerate() {
            let slot = &mut next[row as usize];
            sorted[*slot as usize] = (self.column[at], self.value[at]);
            *slot += 1;
        }
        let (mut offsets, mut index, mut values) = (
            Vec::with_capacity(rows + 1),
            Vec::<u32>::with_capacity(sorted.len()),
            Vec::with_capacity(sorted.len()),
        );
        offsets.push(0);
        for row in begin.windows(2) {
            let entries = &mut sorted[row[0] as usize..row[1] as usize];
            entries.sort_by_key(|(column, _)| *column);
            for equal in entries.chunk_by(|a, b| a.0 == b.0) {
                let value: f32 = equal.iter().map(|(_, value)| value).sum();
                if value != 0.0 {
                    index.push(equal[0].0);
                    values.push(value);
                }
            }
            offsets.push(index.len() as u64);
        }
        Features::Sparse { columns: self.columns, offsets, index, values }
    }

    /// An error where the rows are not the nodes.
    pub fn expect_rows(&self, npz: &Npz, nodes: usize, what: &str) -> Read<()> {
        if self.rows as usize == nodes {
            return Ok(());
        }
        let error: ReadError = npz.error(format!("{what} do not have a row for each node"));
        Err(Box::new(
            error
                .expected(format!("{nodes} rows"), self.rows.to_string())
                .hint(node_values::ROWS_HINT),
        ))
    }
}

/// The columns of a sparse matrix.
pub(crate) const ENTRIES: [&str; 3] = ["row", "column", "value"];

/// The entries of a matrix from its three columns.
pub(crate) fn entries_from_columns(
    path: &std::path::Path,
    table: Vec<[Option<Number>; 3]>,
) -> Read<MatrixEntries> {
    let mut entries = MatrixEntries::default();
    for (at, [row, column, value]) in table.into_iter().enumerate() {
        let place = |number: Option<Number>| {
            number
                .and_then(Number::unsigned)
                .filter(|&place| place < NODES_MOST)
                .map(|place| place as u32)
        };
        let (Some(row), Some(column), Some(value)) =
            (place(row), place(column), value.and_then(Number::single))
        else {
            let error =
                ReadError::new(path, format!("row {at} of the table is no entry of a matrix"));
            return Err(Box::new(error.expected(
                format!("row and column from 0, below {NODES_MOST}, and a number"),
                "something else",
            )));
        };
        entries.rows = entries.rows.max(row + 1);
        entries.columns = entries.columns.max(column + 1);
        entries.row.push(row);
        entries.column.push(column);
        entries.value.push(value);
    }
    entries.refuse_infinite(|what| ReadError::new(path, what))?;
    Ok(entries)
}
