//! A table that says which part of a split each node, or graph, is in: what a run may use in place
//! of the splits of its data set.
//!
//! reads     CSV, TSV and other text tables, packed or not, whose first line names the columns;
//!           with `tables` Parquet and Arrow too: `id`, and `split` (train, validation, test, none;
//!           or 1, 2, 3, 0), or `split_0`, `split_1` and so on; further columns are passed over. So
//!           the tables of nodes and graphs that `export` writes are such tables
//! promises  each id is one of those that are known and has one row; what has no row is in no part,
//!           and is counted; an error names the row
//! never     takes a row by its place
//! limits    the table in memory, 16 bytes a field
use crate::{
    containers::decompress::PlainFile,
    options::Options,
    raw_graph::{IN_NO_PART, part_of},
    read_error::{Read, ReadError},
    text::{field_table::FieldTable, numbers},
};
use std::path::Path;

#[cfg(feature = "tables")]
use crate::{raw_graph::NodeIds, readers::tables};

/// What the column of ids is called.
pub(crate) const IDS: &[&str] = &["id", "node", "node_id", "vertex", "graph_id"];
/// Where the ids of a table come from.
pub(crate) const HINT: &str =
    "ids are the data set's own: the column  id  of  warploom export graph -o DIR --as csv";

/// The ids that rows may have, ascending: row i is the i-th of them.
#[derive(Clone, Copy, Debug)]
pub enum KnownIds<'a> {
    /// Numbers.
    Numbers(&'a [u64]),
    /// Words.
    Words(&'a [String]),
}

/// What the table says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitParts {
    /// For each split the part of each known id, in their order.
    pub splits: Vec<Vec<u8>>,
    /// The places of the ids that have no row.
    pub without: Vec<u32>,
}

impl KnownIds<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            KnownIds::Numbers(ids) => ids.len(),
            KnownIds::Words(ids) => ids.len(),
        }
    }

    /// The place of an id as a text has it.
    pub(crate) fn place(&self, id: &str) -> Option<usize> {
        match self {
            KnownIds::Numbers(ids) => {
                // Ids are numbers, so `07` can mean 7 alone: `ids: number` reads such tables.
                let number = numbers::parse_id(id.as_bytes(), false)?;
                ids.binary_search(&number).ok()
            }
            KnownIds::Words(ids) => ids.binary_search_by(|known| known.as_str().cmp(id)).ok(),
        }
    }

    /// The id at a place.
    pub(crate) fn text(&self, place: usize) -> String {
        match self {
            KnownIds::Numbers(ids) => ids[place].to_string(),
            KnownIds::Words(ids) => ids[place].clone(),
        }
    }

    /// What an id should have been.
    pub(crate) fn expected(&self) -> String {
        let first = match self {
            KnownIds::Numbers(ids) => ids.first().map(u64::to_string),
            KnownIds::Words(ids) => ids.first().cloned(),
        };
        first.map_or_else(
            || "no row at all, since the data set has no ids".to_owned(),
            |first| format!("an id of the data set, such as `{first}`"),
        )
    }
}

/// Reads a table.
pub fn read(path: &Path, known: KnownIds<'_>) -> Read<SplitParts> {
    #[cfg(feature = "tables")]
    if tables::begins_as_one(path)? {
        return read_columns(path, known);
    }
    read_text(path, known)
}

/// Bytes of a text that show its columns.
const HEAD_BYTES: usize = 1 << 16;

/// Refuses a table without the columns of parts, by its first lines or its schema alone.
pub fn refuse_other_columns(path: &Path) -> Read<()> {
    #[cfg(feature = "tables")]
    if tables::begins_as_one(path)? {
        return tables::refuse_without_parts(path, IDS);
    }
    let (mut plain, mut head) = (PlainFile::open(path)?, Vec::new());
    if plain.fill(&mut head, HEAD_BYTES)? == HEAD_BYTES {
        head.truncate(head.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
    }
    match head.is_empty() {
        // One line longer than that: the run says what is wrong with it.
        true if plain.size() != Some(0) => Ok(()),
        _ => columns_of(
            &FieldTable::from_text(path.to_path_buf(), head, None, &Options::default())?,
            path,
        )
        .map(drop),
    }
}

/// What was found so far.
struct SplitRows {
    splits: Vec<Vec<u8>>,
    seen: Vec<bool>,
}

impl SplitRows {
    fn new(known: KnownIds<'_>, splits: usize) -> SplitRows {
        SplitRows {
            splits: vec![vec![IN_NO_PART; known.len()]; splits],
            seen: vec![false; known.len()],
        }
    }

    fn parts(self) -> SplitParts {
        let without =
            self.seen.iter().zip(0..).filter(|(seen, _)| !**seen).map(|(_, place)| place).collect();
        SplitParts { splits: self.splits, without }
    }
}

/// Which columns have the ids, and the parts of each split.
fn columns_of(table: &FieldTable, path: &Path) -> Read<(usize, Vec<usize>)> {
    let column =
        |name: &str| table.names().iter().position(|known| known.trim().eq_ignore_ascii_case(name));
    let missing = |name: &str| {
        let error = ReadError::new(path, format!("the table of parts has no column `{name}`"))
            .expected("the columns id and split", table.names().join(", "));
        Box::new(error.hint("its first line names the columns:  id,split"))
    };
    let id = IDS.iter().find_map(|name| column(name)).ok_or_else(|| missing("id"))?;
    let columns: Vec<usize> = match column("split") {
        Some(only) => vec![only],
        None => (0..).map_while(|number| column(&format!("split_{number}"))).collect(),
    };
    if columns.is_empty() {
        return Err(missing("split"));
    }
    Ok((id, columns))
}

fn read_text(path: &Path, known: KnownIds<'_>) -> Read<SplitParts> {
    let table = FieldTable::read(PlainFile::open(path)?, None, &Options::default())?;
    let (id, columns) = columns_of(&table, path)?;
    let mut found = SplitRows::new(known, columns.len());
    for row in 0..table.rows() {
        let text = table.text(row, id)?;
        let place = known.place(&text).ok_or_else(|| {
            table.fault(row, id, "the data set has no such id", &known.expected(), HINT)
        })?;
        if std::mem::replace(&mut found.seen[place], true) {
            return Err(table.fault(
                row,
                id,
                "an id has two rows",
                "ids that differ",
                "keep one row for each id",
            ));
        }
        for (split, &column) in found.splits.iter_mut().zip(&columns) {
            let expected = "train, validation, test or none; or 1, 2, 3, 0";
            let fault =
                || table.fault(row, column, "unknown split name", expected, "write one of these");
            split[place] = part_of(&table.text(row, column)?).ok_or_else(fault)?;
        }
    }
    Ok(found.parts())
}

#[cfg(feature = "tables")]
fn read_columns(path: &Path, known: KnownIds<'_>) -> Read<SplitParts> {
    let (table, ids, splits) = tables::parts(path, IDS)?;
    let mut found = SplitRows::new(known, splits.len());
    for row in 0..ids.len() {
        let id = match &ids {
            NodeIds::Count(_) => row.to_string(),
            NodeIds::Numbers(numbers) => numbers[row].to_string(),
            NodeIds::Strings(words) => words[row].clone(),
        };
        let unknown = || {
            Box::new(
                table
                    .error_at_row(row, "has an id that the data set has not")
                    .expected(known.expected(), format!("`{id}`"))
                    .hint(HINT),
            )
        };
        let place = known.place(&id).ok_or_else(unknown)?;
        // Numbers may stand for the same id in two ways, as `7` and `07`.
        if std::mem::replace(&mut found.seen[place], true) {
            return Err(Box::new(
                table
                    .error_at_row(row, "has an id that another row has too")
                    .expected("ids that differ", format!("`{id}`")),
            ));
        }
        found.splits.iter_mut().zip(&splits).for_each(|(split, parts)| split[place] = parts[row]);
    }
    Ok(found.parts())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        raw_graph::{TEST, TRAIN, VALIDATION},
        read_error::Place,
    };
    use std::fs;

    const NUMBERS: [u64; 4] = [3, 5, 8, 90];

    fn words() -> Vec<String> {
        ["a", "b c", "d"].map(str::to_owned).to_vec()
    }

    fn of(text: &str, known: KnownIds<'_>) -> Read<SplitParts> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parts.csv");
        fs::write(&path, text).unwrap();
        read(&path, known)
    }

    /// What the columns alone say.
    fn columns(text: &str) -> Read<()> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parts.csv");
        fs::write(&path, text).unwrap();
        refuse_other_columns(&path)
    }

    #[test]
    fn columns_are_known_by_the_first_lines() {
        assert!(columns(&format!("id,split\n{}7,", "7,train\n".repeat(HEAD_BYTES))).is_ok());
        assert!(
            columns(&format!("id,part\n{}", "7,train\n".repeat(HEAD_BYTES)))
                .unwrap_err()
                .what
                .contains("`split`")
        );
        assert!(columns(&"x".repeat(HEAD_BYTES * 2)).is_ok());
    }

    #[test]
    fn rows_go_where_their_ids_are() {
        let parts =
            of("split,id,note\ntest,90,x\nTRAIN,3,\n2,5,y\n", KnownIds::Numbers(&NUMBERS)).unwrap();
        assert_eq!(
            parts,
            SplitParts { splits: vec![vec![TRAIN, VALIDATION, 0, TEST]], without: vec![2] }
        );
        let parts = of("id\tsplit\nb c\tval\nd\t\na\tnone\n", KnownIds::Words(&words())).unwrap();
        assert_eq!(parts, SplitParts { splits: vec![vec![0, VALIDATION, 0]], without: vec![] });
        let parts = of("id,split_0,split_1\n8,1,3\n3,0,1\n", KnownIds::Numbers(&NUMBERS)).unwrap();
        assert_eq!(
            parts,
            SplitParts {
                splits: vec![vec![0, 0, TRAIN, 0], vec![TRAIN, 0, TEST, 0]],
                without: vec![1, 3]
            }
        );
        assert_eq!(of("id,split\n", KnownIds::Numbers(&[])).unwrap().splits, [vec![0; 0]]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let cases = [
            ("id,split\n3,train\n4,test\n", (3, 1), "no such id", "found `4`"),
            ("id,split\n3,train\n-3,test\n", (3, 1), "no such id", "such as `3`"),
            ("id,split\n3,train\n5,test\n05,train\n", (4, 1), "two rows", "ids that differ"),
            ("id,split\n3,train\n,test\n", (3, 1), "no such id", "found nothing"),
            ("id,split\n3,train\n5,test\n3,train\n", (4, 1), "two rows", "ids that differ"),
            (
                "id,split\n3,train\n5,tset\n",
                (3, 3),
                "unknown split name",
                "expected train, validation, test or none; or 1, 2, 3, 0, found `tset`",
            ),
            ("id,split\n3,4\n", (2, 3), "unknown split name", "found `4`"),
            ("id,split\n3\n", (2, 2), "lacks the column `split`", "id, split"),
        ];
        for (text, (line, column), what, detail) in cases {
            let error = of(text, KnownIds::Numbers(&NUMBERS)).unwrap_err();
            assert!(
                error.what.contains(what)
                    && error.place == Place::Line { line, column }
                    && !error.hint.is_empty(),
                "{text}: {error}"
            );
            assert!(error.detail().is_some_and(|found| found.contains(detail)), "{text}: {error}");
        }
        for (text, missing) in
            [("node_name,split\n1,train\n", "id"), ("id,part\n1,train\n", "split"), ("", "id")]
        {
            let error = of(text, KnownIds::Numbers(&NUMBERS)).unwrap_err();
            assert!(
                error.what.contains(&format!("no column `{missing}`"))
                    && error.hint.contains("id,split"),
                "{error}"
            );
            let by_head = columns(text).unwrap_err();
            assert_eq!((by_head.what, by_head.hint), (error.what, error.hint), "{text}");
        }
        assert!(
            read(Path::new("/nowhere/parts.csv"), KnownIds::Numbers(&NUMBERS))
                .unwrap_err()
                .io
                .is_some()
        );
    }
}
