//! A table of text as a whole: rows of fields under names, each field with its place.
//!
//! promises  every row has as many fields as there are names; an error names line and column
//! limits    the whole file in memory, and 16 bytes a field
use super::{
    blocks::LINE_MOST,
    comments::is_blank_or_comment,
    field_fault::{FieldFault, error_at},
    fields::{Field, Separator, detect_separator, split_fields},
};
use crate::{
    containers::decompress::PlainFile,
    options::Options,
    raw_graph::Column,
    read_error::{Read, ReadError},
};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// Rows of fields under names.
pub struct FieldTable {
    path: PathBuf,
    text: Vec<u8>,
    names: Vec<String>,
    /// Row by row: first byte, length, whether it stood in quotes.
    cells: Vec<(usize, u32, bool)>,
}

impl FieldTable {
    /// Reads a table; its first line names the columns unless they are given, and shows what
    /// separates them unless the options say it.
    pub fn read(plain: PlainFile, names: Option<&[&str]>, options: &Options) -> Read<FieldTable> {
        let path = plain.path().to_path_buf();
        FieldTable::from_text(path, plain.read_all()?, names, options)
    }

    /// The same of a text that is there.
    pub fn from_text(
        path: PathBuf,
        text: Vec<u8>,
        names: Option<&[&str]>,
        options: &Options,
    ) -> Read<FieldTable> {
        let mut table = FieldTable { path, text, names: Vec::new(), cells: Vec::new() };
        if let Some(names) = names {
            table.names = names.iter().map(|&name| name.to_owned()).collect();
        }
        let FieldTable { path, text, names, cells } = &mut table;
        let mut separator =
            Separator::from_options(options).map_err(|fault| error_at(path, text, &fault))?;
        let mut fields = Vec::new();
        let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        while at < text.len() {
            let end = text[at..]
                .iter()
                .position(|&byte| byte == b'\n')
                .map_or(text.len(), |length| at + length);
            if end - at > LINE_MOST {
                return Err(error_at(path, text, &FieldFault::too_long(at)));
            }
            if !is_blank_or_comment(&text[at..end]) {
                let separator: Separator =
                    *separator.get_or_insert_with(|| detect_separator(&text[at..end]));
                split_fields(text, at, end, separator, &mut fields)
                    .map_err(|fault| error_at(path, text, &fault))?;
                if names.is_empty() {
                    *names = fields
                        .iter()
                        .map(|field| String::from_utf8_lossy(&field.text()).into_owned())
                        .collect();
                } else {
                    check_width(names, end, &fields)
                        .map_err(|fault| error_at(path, text, &fault))?;
                    cells.extend(
                        fields
                            .iter()
                            .map(|field| (field.at, field.bytes.len() as u32, field.quoted)),
                    );
                }
            }
            at = end + 1;
        }
        if let Some(twice) =
            (1..names.len()).find(|&column| names[..column].contains(&names[column]))
        {
            let fault = FieldFault::new(
                0,
                format!("two columns have the name `{}`", names[twice]),
                "give each column a name of its own",
            );
            return Err(error_at(
                path,
                text,
                &fault.against("names that differ", names.join(", ").as_bytes()),
            ));
        }
        Ok(table)
    }

    /// How many rows there are below the names.
    pub fn rows(&self) -> usize {
        self.cells.len() / self.names.len().max(1)
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn field(&self, row: usize, column: usize) -> Field<'_> {
        let (at, length, quoted) = self.cells[row * self.names.len() + column];
        Field { at, bytes: &self.text[at..at + length as usize], quoted }
    }

    /// The bytes of a field, without quotes.
    pub fn bytes(&self, row: usize, column: usize) -> Cow<'_, [u8]> {
        self.field(row, column).text()
    }

    /// A field as text.
    pub fn text(&self, row: usize, column: usize) -> Read<Cow<'_, str>> {
        let fault = || {
            self.fault(
                row,
                column,
                "a field is not UTF-8",
                "text in UTF-8",
                "convert the file:  iconv -f LATIN1 -t UTF-8 FILE > NEW",
            )
        };
        match self.bytes(row, column) {
            Cow::Borrowed(bytes) => {
                std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| fault())
            }
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|_| fault()),
        }
    }

    /// A field as a finite number; none: it is not one.
    pub fn number(&self, row: usize, column: usize) -> Option<f64> {
        let bytes = self.bytes(row, column);
        std::str::from_utf8(&bytes).ok()?.parse::<f64>().ok().filter(|number| number.is_finite())
    }

    /// The error for a field.
    pub fn fault(
        &self,
        row: usize,
        column: usize,
        what: &str,
        expected: &str,
        hint: &'static str,
    ) -> Box<ReadError> {
        let field = self.field(row, column);
        let mut fault =
            FieldFault::new(field.at, what.to_owned(), hint).against(expected, field.bytes);
        if field.bytes.is_empty() {
            fault.found = "nothing".into();
        }
        error_at(&self.path, &self.text, &fault)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A column as the narrowest kind that holds all its fields, in this order of rows; an empty
    /// field is none.
    pub fn column(&self, column: usize, order: &[u32]) -> Read<Column> {
        let fields = || order.iter().map(|&row| self.text(row as usize, column));
        let all = |test: &dyn Fn(&str) -> bool| -> Read<bool> {
            fields().try_fold(true, |all, field| {
                field.map(|text| all && (text.is_empty() || test(&text)))
            })
        };
        let some = fields().any(|field| field.is_ok_and(|text| !text.is_empty()));
        if some && all(&|text| text.parse::<i64>().is_ok())? {
            return Ok(Column::Integers(
                fields().map(|field| field.map(|text| text.parse().ok())).collect::<Read<_>>()?,
            ));
        }
        if some && all(&|text| text.parse::<f64>().is_ok_and(f64::is_finite))? {
            return Ok(Column::Reals(
                fields().map(|field| field.map(|text| text.parse().ok())).collect::<Read<_>>()?,
            ));
        }
        let text = |text: Cow<'_, str>| (!text.is_empty()).then(|| text.into_owned());
        Ok(Column::Texts(fields().map(|field| field.map(text)).collect::<Read<_>>()?))
    }
}

fn check_width(names: &[String], end: usize, fields: &[Field]) -> Result<(), FieldFault> {
    let expected = format!("{} columns: {}", names.len(), names.join(", "));
    if fields.len() < names.len() {
        let what = format!("a line lacks the column `{}`", names[fields.len()]);
        return Err(FieldFault::new(end, what, "every line has the columns of the first")
            .against(expected, b""));
    }
    match fields.get(names.len()) {
        None => Ok(()),
        Some(further) => Err(FieldFault::new(
            further.at,
            "a line has more columns than there are names",
            "a field that holds the separator stands in quotes",
        )
        .against(expected, further.bytes)),
    }
}
