//! A table that lists the nodes in the order that a user wants: what `reorder.method: file` takes.
//!
//! reads     CSV, TSV and other text tables, packed or not, whose first line names the columns;
//!           with `tables` Parquet and Arrow too: `id`, further columns are passed over; or an
//!           array of ids, `.npy`
//! promises  each id is one of those that are known, has one row, and none is missing; an error
//!           names the row
//! never     takes a number for a row of the node table
//! limits    the table in memory, 16 bytes a field
use crate::{
    containers::{decompress::PlainFile, npy},
    options::Options,
    read_error::{Read, ReadError},
    side_files::split_table::{HINT, IDS, KnownIds},
    text::field_table::FieldTable,
};
use std::path::Path;

#[cfg(feature = "tables")]
use crate::{raw_graph::NodeIds, readers::tables};

/// How an array file begins.
const ARRAY: &[u8] = b"\x93NUMPY";
/// Bytes of a text that show its columns.
const HEAD_BYTES: usize = 1 << 16;
const COLUMN_HINT: &str = "its first line names the columns:  id";

/// Reads a table; returns the place of each row's id among those that are known, ascending.
pub fn read(path: &Path, known: KnownIds<'_>) -> Read<Vec<u32>> {
    if is_array(path)? {
        return read_array(path, known);
    }
    #[cfg(feature = "tables")]
    if tables::begins_as_one(path)? {
        return read_column(path, known);
    }
    read_text(path, known)
}

/// Refuses a table without a column of ids, by its first lines or its schema alone.
pub fn refuse_other_columns(path: &Path) -> Read<()> {
    if is_array(path)? {
        return Ok(());
    }
    #[cfg(feature = "tables")]
    if tables::begins_as_one(path)? {
        return tables::refuse_without_ids(path, IDS);
    }
    let (mut plain, mut head) = (PlainFile::open(path)?, Vec::new());
    if plain.fill(&mut head, HEAD_BYTES)? == HEAD_BYTES {
        head.truncate(head.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
    }
    match head.is_empty() {
        // One line longer than that: the stage says what is wrong with it.
        true if plain.size() != Some(0) => Ok(()),
        _ => id_column(
            &FieldTable::from_text(path.to_path_buf(), head, None, &Options::default())?,
            path,
        )
        .map(drop),
    }
}

fn is_array(path: &Path) -> Read<bool> {
    let mut head = Vec::new();
    PlainFile::open(path)?.fill(&mut head, ARRAY.len())?;
    Ok(head == ARRAY)
}

/// The rows so far.
struct OrderRows<'a> {
    known: KnownIds<'a>,
    seen: Vec<bool>,
    places: Vec<u32>,
}

/// Why an id has no place of its own.
enum Refused {
    Unknown,
    Twice,
}

impl<'a> OrderRows<'a> {
    fn new(known: KnownIds<'a>) -> OrderRows<'a> {
        OrderRows { known, seen: vec![false; known.len()], places: Vec::new() }
    }

    fn add(&mut self, id: &str) -> Result<(), Refused> {
        let place = self.known.place(id).ok_or(Refused::Unknown)?;
        if std::mem::replace(&mut self.seen[place], true) {
            return Err(Refused::Twice);
        }
        self.places.push(place as u32);
        Ok(())
    }

    /// What is wrong with an id, and what was expected in its place.
    fn fault(&self, refused: &Refused) -> (&'static str, String) {
        match refused {
            Refused::Unknown => ("the data set has no such id", self.known.expected()),
            Refused::Twice => ("an id has two rows", "one row for each id".to_owned()),
        }
    }

    /// The places, if no id is missing.
    fn finish(self, path: &Path) -> Read<Vec<u32>> {
        let Some(missing) = self.seen.iter().position(|seen| !seen) else {
            return Ok(self.places);
        };
        let error = ReadError::new(path, "the order does not have all nodes of the data set");
        let (expected, rows) = (self.known.len(), self.places.len());
        let found = format!("{rows}; the first id without a row is `{}`", self.known.text(missing));
        Err(Box::new(error.expected(format!("{expected} rows, one for each id"), found).hint(HINT)))
    }
}

/// Characters of the names of columns that an error shows.
const SHOWN: usize = 200;

/// The column of ids of a text table.
fn id_column(table: &FieldTable, path: &Path) -> Read<usize> {
    let column =
        |name: &str| table.names().iter().position(|known| known.trim().eq_ignore_ascii_case(name));
    IDS.iter().find_map(|name| column(name)).ok_or_else(|| {
        let error = ReadError::new(path, "the table of an order has no column `id`");
        let mut found = table.names().join(", ");
        if let Some((end, _)) = found.char_indices().nth(SHOWN) {
            found.truncate(end);
            found += "...";
        }
        Box::new(error.expected("the column id", found).hint(COLUMN_HINT))
    })
}

fn read_text(path: &Path, known: KnownIds<'_>) -> Read<Vec<u32>> {
    let table = FieldTable::read(PlainFile::open(path)?, None, &Options::default())?;
    let id = id_column(&table, path)?;
    let mut rows = OrderRows::new(known);
    for row in 0..table.rows() {
        let text = table.text(row, id)?;
        if let Err(refused) = rows.add(&text) {
            let (what, expected) = rows.fault(&refused);
            return Err(table.fault(row, id, what, &expected, HINT));
        }
    }
    rows.finish(path)
}

fn read_array(path: &Path, known: KnownIds<'_>) -> Read<Vec<u32>> {
    let array = npy::read(path)?;
    let (_, width) = array.rows()?;
    if width != 1 {
        let error = array.error("an order has one id in each row");
        return Err(Box::new(
            error.expected("an array of one dimension", format!("{width} columns")),
        ));
    }
    let ids: Vec<String> = match array.is_text() {
        true => array.words()?,
        false => array.u64s()?.iter().map(u64::to_string).collect(),
    };
    let mut rows = OrderRows::new(known);
    for (row, id) in ids.iter().enumerate() {
        if let Err(refused) = rows.add(id) {
            let (what, expected) = rows.fault(&refused);
            let error = array.error(format!("row {row}: {what}"));
            return Err(Box::new(error.expected(expected, format!("`{id}`")).hint(HINT)));
        }
    }
    rows.finish(path)
}

#[cfg(feature = "tables")]
fn read_column(path: &Path, known: KnownIds<'_>) -> Read<Vec<u32>> {
    let (table, ids, order) = tables::ids_in_order(path, IDS)?;
    let mut words = vec![String::new(); ids.len()];
    for (sorted, &row) in order.iter().enumerate() {
        words[row as usize] = match &ids {
            NodeIds::Count(_) => sorted.to_string(),
            NodeIds::Numbers(numbers) => numbers[sorted].to_string(),
            NodeIds::Strings(words) => words[sorted].clone(),
        };
    }
    let mut rows = OrderRows::new(known);
    for (row, id) in words.iter().enumerate() {
        if let Err(refused) = rows.add(id) {
            let (what, expected) = rows.fault(&refused);
            let error = table.error_of_file_row(row, &format!("is no row of an order: {what}"));
            return Err(Box::new(error.expected(expected, format!("`{id}`")).hint(HINT)));
        }
    }
    rows.finish(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_error::Place;
    use std::fs;

    const NUMBERS: [u64; 4] = [3, 5, 8, 90];

    fn of(name: &str, bytes: &[u8], known: KnownIds<'_>) -> Read<Vec<u32>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        if let Err(error) = refuse_other_columns(&path) {
            assert_eq!(read(&path, known).unwrap_err().what, error.what);
        }
        read(&path, known)
    }

    /// An array file.
    fn array(dtype: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
        let header = format!("{header:<117}\n");
        let length = (header.len() as u16).to_le_bytes();
        [ARRAY, &[1, 0], &length, header.as_bytes(), values].concat()
    }

    #[test]
    fn rows_are_the_new_order() {
        let known = KnownIds::Numbers(&NUMBERS);
        assert_eq!(of("o.csv", b"id\n8\n3\n90\n5\n", known).unwrap(), [2, 0, 3, 1]);
        assert_eq!(
            of("o.tsv", b"x\tNode\na\t90\nb\t8\nc\t5\nd\t3\n", known).unwrap(),
            [3, 2, 1, 0]
        );
        let values: Vec<u8> = [5i64, 3, 90, 8].iter().flat_map(|id| id.to_le_bytes()).collect();
        assert_eq!(of("o.npy", &array("<i8", "(4,)", &values), known).unwrap(), [1, 0, 3, 2]);
        let words = ["a", "b c", "d"].map(str::to_owned);
        assert_eq!(
            of("o.csv", b"id,x\nd,1\na,2\nb c,3\n", KnownIds::Words(&words)).unwrap(),
            [2, 0, 1]
        );
        assert_eq!(of("o.csv", b"id\n", KnownIds::Numbers(&[])).unwrap(), [0u32; 0]);
    }

    #[cfg(feature = "tables")]
    #[test]
    fn rows_of_a_parquet_table_keep_their_order() {
        use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("order.parquet");
        let write = |column: &str, array: ArrayRef| {
            let batch = RecordBatch::try_from_iter([(column, array)]).unwrap();
            let file = fs::File::create(&path).unwrap();
            let mut writer =
                parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
        };
        let numbers = |ids: &[i32]| std::sync::Arc::new(Int32Array::from(ids.to_vec())) as ArrayRef;
        let known = KnownIds::Numbers(&NUMBERS);
        write("id", numbers(&[90, 3, 8, 5]));
        assert_eq!(read(&path, known).unwrap(), [3, 0, 2, 1]);
        refuse_other_columns(&path).unwrap();
        let words = ["a", "b c", "d"].map(str::to_owned);
        write("node", std::sync::Arc::new(StringArray::from(vec!["d", "a", "b c"])));
        assert_eq!(read(&path, KnownIds::Words(&words)).unwrap(), [2, 0, 1]);
        write("id", numbers(&[90, 4, 8, 5]));
        let error = read(&path, known).unwrap_err();
        assert!(error.what.contains("row 1 is no row of an order: the data set has no such id"));
        assert!(error.to_string().contains("found `4`") && !error.hint.is_empty(), "{error}");
        write("id", numbers(&[90, 3, 90, 5]));
        let error = read(&path, known).unwrap_err();
        assert!(error.to_string().contains("row 2 has an id that row 0 has too"), "{error}");
        write("id", numbers(&[90, 3, 5]));
        assert!(read(&path, known).unwrap_err().to_string().contains("is `8`"));
        write("place", numbers(&[1]));
        assert!(refuse_other_columns(&path).unwrap_err().what.contains("no column `id`"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_row() {
        let known = KnownIds::Numbers(&NUMBERS);
        let cases = [
            ("id\n3\n4\n8\n90\n", Some(3), "no such id", "found `4`"),
            ("id\n3\n5\n3\n90\n", Some(4), "two rows", "one row for each id"),
            ("id\n3\n5\n8\n90\n5\n", Some(6), "two rows", "found `5`"),
            (
                "id\n3\n5\n90\n",
                None,
                "all nodes",
                "expected 4 rows, one for each id, found 3; the first id without a row is `8`",
            ),
            ("3\n5\n8\n90\n", None, "no column `id`", "expected the column id, found 3"),
            ("", None, "no column `id`", "expected the column id"),
        ];
        for (text, line, what, detail) in cases {
            let error = of("o.csv", text.as_bytes(), known).unwrap_err();
            assert!(error.what.contains(what) && !error.hint.is_empty(), "{text}: {error}");
            assert!(error.detail().is_some_and(|found| found.contains(detail)), "{text}: {error}");
            if let Some(line) = line {
                assert_eq!(error.place, Place::Line { line, column: 1 }, "{text}");
            }
        }
        let wide: Vec<u8> = [3i64, 5, 8, 90].iter().flat_map(|id| id.to_le_bytes()).collect();
        let error = of("o.npy", &array("<i8", "(2, 2)", &wide), known).unwrap_err();
        assert!(error.to_string().contains("one dimension"), "{error}");
        let twice: Vec<u8> = [3i64, 5, 5, 90].iter().flat_map(|id| id.to_le_bytes()).collect();
        let error = of("o.npy", &array("<i8", "(4,)", &twice), known).unwrap_err();
        assert!(error.what.contains("row 2: an id has two rows"), "{error}");
        assert!(read(Path::new("/nowhere/o.csv"), known).unwrap_err().io.is_some());
    }
}
