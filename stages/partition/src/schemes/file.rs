//! file: schemes `file` and `program`: a user's own groups of in-edges, in the order of slots.
//!
//! reads     a Parquet table with the columns `node` (a row of the csr that this stage reads),
//!           `start` and `end` (neighbours of the node, 0 to its degree), integers of any width;
//!           further columns are ignored
//! promises  every in-edge is in exactly one group, or an error has file, row, expected and found
//! never     merges or divides groups
//! limits    56 bytes for each group and one bit for each edge beside the tables
use std::path::Path;

use arrow_array::{Array, ArrayRef, cast::AsArray, types};
use arrow_schema::DataType;
use warploom_contract::{
    Digest, ErrorKind, StageError, Violation,
    kinds::{
        csr::Csr,
        partition::{
            Cells, Division, FILE, Padding, Partition, Scheme, Table, TableFacts, Tables, Width,
        },
    },
    parquet_file::{describe, read_table},
};
use warploom_shell::requests::PartitionRequest;
use warploom_spec::PartitionSpec;

use crate::{
    check::Cover,
    schemes::group_spans::{self, Spans, groups_per_block_of, is_listed},
    size_estimate::{Outline, Room},
};

/// Scheme `program`, by name: its division is one of `file`.
pub const PROGRAM: &str = "program";
const NAME: &str = "file_groups";
const SPANS: &str = "file_group_spans";
const COLUMNS: [&str; 3] = ["node", "start", "end"];
const HINT: &str = "a group is a row of whole numbers: node, a row of the csr (as reorder left it: \
                    --set reorder.method=none keeps the data set's), and start and end, the first \
                    of its in-neighbours and the one behind the last, counted from 0";

/// The file and its digest, both present where the scheme is requested.
fn groups_file(request: &PartitionRequest) -> Result<(&Path, &str), StageError> {
    let pair = request.spec.groups.as_deref().zip(request.groups_digest.as_deref());
    pair.ok_or_else(|| StageError::defect("scheme `file` was asked for without a table of groups"))
}

/// An error in the file's contents.
fn file_error(path: &Path, row: Option<usize>, what: String) -> StageError {
    let place = row
        .map_or_else(|| path.display().to_string(), |row| format!("{}, row {row}", path.display()));
    StageError::new(ErrorKind::Data, what).at(place).hint(HINT)
}

fn reader_error(path: &Path, error: StageError) -> StageError {
    file_error(path, None, error.what)
}

/// The size of the scheme; reads the file, if there is room for it.
pub fn outline(request: &PartitionRequest, csr: &Csr, room: Room) -> Result<Outline, StageError> {
    let (path, digest) = groups_file(request)?;
    let (rows, _) = describe(path).map_err(|error| reader_error(path, error))?;
    let scratch_bytes = rows.saturating_mul(56).saturating_add(csr.edges() as u64 / 8);
    let name = if request.program.is_some() { PROGRAM } else { FILE };
    room.refuse_beyond(name, scratch_bytes)?;
    let (groups, of_block) = (SlotGroups::read(path, csr)?, groups_per_block_of(&request.spec));
    let mut spanning = 0;
    groups.for_each_row(csr.nodes() as u64, |_, from, to| {
        spanning += u64::from(is_listed(from, to, of_block));
    });
    let PartitionSpec { dw, block_threads, .. } = request.spec;
    let scheme = Scheme::File { blake3: digest.to_owned(), dw, block_threads, spanning };
    let tables = table_facts(csr, rows, spanning);
    Ok(Outline { scheme, tables, padding: None, scratch_bytes })
}

/// The tables of so many groups.
fn table_facts(csr: &Csr, groups: u64, spanning: u64) -> Vec<TableFacts> {
    let slots = Width::from_largest(csr.edges() as u64);
    let columns = [("node", Width::U32), ("start", slots), ("end", slots)];
    let spans = group_spans::facts(SPANS, spanning, groups);
    vec![TableFacts::new(NAME, groups, &columns), spans]
}

/// The size of a stored division, by the numbers of groups and spans that it has; what these say of
/// the graph is for `prove`.
pub fn stored_outline(page: &Partition, csr: &Csr, spec: &PartitionSpec) -> Outline {
    let stored = page.schemes.iter().find_map(|division| match &division.scheme {
        Scheme::File { blake3, spanning, .. } => Some((division, blake3.clone(), *spanning)),
        _ => None,
    });
    let rows = |division: &Division| {
        division.tables.iter().find(|table| table.name == NAME).map_or(0, |table| table.rows)
    };
    let (groups, blake3, spanning) = stored
        .map_or_else(Default::default, |(division, blake3, spanning)| {
            (rows(division), blake3, spanning)
        });
    let PartitionSpec { dw, block_threads, .. } = *spec;
    let scheme = Scheme::File { blake3, dw, block_threads, spanning };
    let tables = table_facts(csr, groups, spanning);
    Outline { scheme, tables, padding: None, scratch_bytes: 0 }
}

/// Builds the tables, with slots in place of neighbours.
pub fn build(csr: &Csr, request: &PartitionRequest, spans: u64) -> Result<Vec<Table>, StageError> {
    let (path, digest) = groups_file(request)?;
    let groups = SlotGroups::read(path, csr)?;
    let now = Digest::from_file(path)
        .map_err(|error| StageError::io("read the groups of `partition.groups`", path, &error))?;
    if now.as_str() != digest {
        let what = "the table of groups has changed since this stage began";
        return Err(StageError::new(ErrorKind::Input, what)
            .at(path.display())
            .hint("start again; with  --verify  its digest is recomputed"));
    }
    let count = groups.of.len() as u64;
    let mut spans = Spans::room(spans, count, groups_per_block_of(&request.spec));
    groups.for_each_row(csr.nodes() as u64, |row, from, to| spans.add(row, from, to));
    Ok(vec![groups.into_table(csr), spans.into_table(SPANS)])
}

/// A group: a node, and slots of its row.
struct SlotGroup {
    node: u64,
    start: u64,
    end: u64,
}

/// Groups that have every slot once, in the order of slots.
struct SlotGroups {
    of: Vec<SlotGroup>,
}

impl SlotGroups {
    /// Reads the file, or returns its error.
    fn read(path: &Path, csr: &Csr) -> Result<SlotGroups, StageError> {
        let table = read_table(path, Some(&COLUMNS)).map_err(|error| reader_error(path, error))?;
        let column = |name: &str| {
            let found = table
                .batch
                .schema()
                .fields()
                .iter()
                .map(|field| format!("`{}`", field.name()))
                .collect::<Vec<_>>()
                .join(", ");
            let missing = || {
                let what = format!(
                    "expected the columns `node`, `start` and `end`, found no `{name}` beside \
                     {found}"
                );
                file_error(path, None, what)
            };
            integer_column(path, name, table.column(name).ok_or_else(missing)?)
        };
        let mut of =
            slot_groups(path, csr, [&column("node")?, &column("start")?, &column("end")?])?;
        of.sort_unstable_by_key(|group| group.start);
        Ok(SlotGroups { of })
    }

    /// Calls a function for each row, with its first group and the one behind its last.
    fn for_each_row(&self, rows: u64, mut each: impl FnMut(u64, u64, u64)) {
        let mut from = 0;
        for row in 0..rows {
            let own = self.of[from..].iter().take_while(|group| group.node == row).count();
            each(row, from as u64, (from + own) as u64);
            from += own;
        }
    }

    fn into_table(self, csr: &Csr) -> Table {
        let (count, slots) = (self.of.len() as u64, Width::from_largest(csr.edges() as u64));
        let (mut nodes, mut starts, mut ends) =
            (Cells::room(Width::U32, count), Cells::room(slots, count), Cells::room(slots, count));
        for SlotGroup { node, start, end } in self.of {
            nodes.push(node);
            starts.push(start);
            ends.push(end);
        }
        Table::new(NAME, vec![("node", nodes), ("start", starts), ("end", ends)])
    }
}

/// Converts groups of neighbours to groups of slots, in the file's order, or returns the error.
fn slot_groups(
    path: &Path,
    csr: &Csr,
    [node, start, end]: [&[u64]; 3],
) -> Result<Vec<SlotGroup>, StageError> {
    let rows = csr.incoming.rows();
    let mut groups = Vec::with_capacity(node.len());
    let mut told = vec![0u64; csr.edges().div_ceil(64)];
    for row in 0..node.len() {
        let (own, from, to) = (node[row], start[row], end[row]);
        if own >= csr.nodes() as u64 {
            return Err(file_error(
                path,
                Some(row),
                format!(
                    "`node`: expected a row of the csr, 0 to {}, found {own}",
                    csr.nodes() as i64 - 1
                ),
            ));
        }
        let (first, degree) = (rows.offsets[own as usize], rows.row(own as usize).len() as u64);
        if from >= to || to > degree {
            let what = format!(
                "expected `start` below `end`, and both within the {degree} in-neighbours of node \
                 {own}, found {from} to {to}"
            );
            return Err(file_error(path, Some(row), what));
        }
        for slot in first + from..first + to {
            let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
            if told[word] & bit != 0 {
                let what = format!(
                    "expected in-neighbour {} of node {own} in one group, found it in a row before \
                     too",
                    slot - first
                );
                return Err(file_error(path, Some(row), what));
            }
            told[word] |= bit;
        }
        groups.push(SlotGroup { node: own, start: first + from, end: first + to });
    }
    if let Some(slot) = (0..csr.edges()).find(|&slot| told[slot / 64] & (1 << (slot % 64)) == 0) {
        let own = rows.offsets.partition_point(|&offset| offset <= slot as u64) - 1;
        let (neighbour, degree) = (slot as u64 - rows.offsets[own], rows.row(own).len());
        let what = format!(
            "expected each of {} in-edges in one group, found in-neighbour {neighbour} of the \
             {degree} of node {own} in none",
            csr.edges()
        );
        return Err(file_error(path, None, what));
    }
    Ok(groups)
}

/// A column of nonnegative integers of any width.
fn integer_column(path: &Path, name: &str, column: &ArrayRef) -> Result<Vec<u64>, StageError> {
    macro_rules! of {
        ($type:ty) => {{
            let numbers = column.as_primitive::<$type>();
            let number = |row: usize| {
                let found = numbers.is_valid(row).then(|| numbers.value(row));
                let shown =
                    found.map_or_else(|| "nothing".to_owned(), |found| format!("`{found}`"));
                found.and_then(|found| u64::try_from(found).ok()).ok_or_else(|| {
                    file_error(
                        path,
                        Some(row),
                        format!("`{name}`: expected a whole number from 0 on, found {shown}"),
                    )
                })
            };
            (0..numbers.len()).map(number).collect()
        }};
    }
    match column.data_type() {
        DataType::Int8 => of!(types::Int8Type),
        DataType::Int16 => of!(types::Int16Type),
        DataType::Int32 => of!(types::Int32Type),
        DataType::Int64 => of!(types::Int64Type),
        DataType::UInt8 => of!(types::UInt8Type),
        DataType::UInt16 => of!(types::UInt16Type),
        DataType::UInt32 => of!(types::UInt32Type),
        DataType::UInt64 => of!(types::UInt64Type),
        other => Err(file_error(
            path,
            None,
            format!("column `{name}`: expected whole numbers, found {other}"),
        )),
    }
}

/// Checks independently: expands groups to edges of the csr, in their order.
pub fn prove(csr: &Csr, tables: &Tables, of_block: u64) -> Result<Option<Padding>, Violation> {
    let column = |column: &str| tables.column(NAME, column);
    let (node, start, end) = (column("node")?, column("start")?, column("end")?);
    let mut cover = Cover::new(NAME, csr.incoming.rows());
    for group in 0..node.len() {
        if start.get(group) >= end.get(group) {
            return Err(cover.violation(
                group,
                format!("the slots {} to {} are not a range", start.get(group), end.get(group)),
            ));
        }
        cover.mark_run(group, node.get(group), start.get(group)..end.get(group))?;
    }
    cover.finish()?;
    if let Some(at) = (1..start.len()).find(|&at| start.get(at - 1) > start.get(at)) {
        return Err(Violation::new(format!("{NAME}, entry {at}: it starts before the one before")));
    }
    group_spans::prove(tables, SPANS, node.iter(), of_block, csr.nodes())?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, sync::Arc};

    use super::*;
    use arrow_array::{Float64Array, Int64Array, UInt8Array, UInt32Array};
    use arrow_schema::Field;
    use tempfile::TempDir;
    use warploom_contract::{kinds::graph::EdgeTable, parquet_file::write_table};
    use warploom_extract::group::build_csr;

    /// 0 has the in-neighbours 1, 2, 2; 2 has 0.
    fn graph() -> Csr {
        build_csr(
            3,
            &EdgeTable {
                source: vec![1, 2, 2, 0],
                target: vec![0, 0, 0, 2],
                ..EdgeTable::default()
            },
        )
        .into()
    }

    fn written(folder: &TempDir, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
        let path = folder.path().join("groups.parquet");
        let fields = columns
            .into_iter()
            .map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array));
        write_table(&path, fields.collect()).unwrap();
        path
    }

    /// Both tables, for blocks of two groups.
    fn both(columns: Vec<(&str, ArrayRef)>) -> Result<[Table; 2], StageError> {
        let folder = tempfile::tempdir().unwrap();
        let path = written(&folder, columns);
        let digest = Digest::from_file(&path).unwrap().as_str().to_owned();
        let request = PartitionRequest {
            spec: PartitionSpec {
                groups: Some(path),
                dw: 16,
                block_threads: 32,
                ..PartitionSpec::default()
            },
            groups_digest: Some(digest),
            ..PartitionRequest::default()
        };
        let outline = outline(&request, &graph(), Room(u64::MAX))?;
        let tables = build(&graph(), &request, outline.tables[1].rows)?;
        assert_eq!(outline.tables, [tables[0].facts(), tables[1].facts()]);
        prove(&graph(), &tables.iter().cloned().collect(), 2).unwrap();
        Ok(tables.try_into().unwrap())
    }

    fn divided(columns: Vec<(&str, ArrayRef)>) -> Result<Table, StageError> {
        both(columns).map(|[groups, _]| groups)
    }

    fn wide(numbers: &[i64]) -> ArrayRef {
        Arc::new(Int64Array::from(numbers.to_vec()))
    }

    fn divide(node: &[i64], start: &[i64], end: &[i64]) -> Result<Table, StageError> {
        divided(vec![("node", wide(node)), ("start", wide(start)), ("end", wide(end))])
    }

    #[test]
    fn groups_of_neighbours_are_groups_of_slots_in_their_order() {
        let narrow: Vec<(&str, ArrayRef)> = vec![
            ("name", wide(&[7, 8, 9])),
            ("end", Arc::new(UInt32Array::from(vec![3, 1, 1]))),
            ("start", Arc::new(UInt8Array::from(vec![1, 0, 0]))),
            ("node", wide(&[0, 2, 0])),
        ];
        for table in [divide(&[0, 2, 0], &[1, 0, 0], &[3, 1, 1]).unwrap(), divided(narrow).unwrap()]
        {
            let column = |name: &str| table.column(name).unwrap().iter().collect::<Vec<u64>>();
            assert_eq!(
                [column("node"), column("start"), column("end")],
                [vec![0, 0, 2], vec![0, 1, 3], vec![1, 3, 4]]
            );
        }
    }

    #[test]
    fn rows_over_several_blocks_and_rows_without_groups_are_listed() {
        let number = |numbers: &[i64]| wide(numbers);
        let [_, spans] = both(vec![
            ("node", number(&[0, 0, 0, 2])),
            ("start", number(&[0, 1, 2, 0])),
            ("end", number(&[1, 2, 3, 1])),
        ])
        .unwrap();
        let column = |name: &str| spans.column(name).unwrap().iter().collect::<Vec<u64>>();
        assert_eq!(
            [column("node"), column("block"), column("blocks")],
            [vec![0, 1], vec![0, 0], vec![2, 0]]
        );
    }

    #[test]
    fn no_number_can_be_changed_unseen() {
        let tables = both(vec![
            ("node", wide(&[0, 2, 0])),
            ("start", wide(&[1, 0, 0])),
            ("end", wide(&[3, 1, 1])),
        ])
        .unwrap();
        for (number_of_table, table) in tables.iter().enumerate() {
            let cells = (0..3).flat_map(|column| (0..table.rows()).map(move |row| (column, row)));
            for (column, row) in cells {
                let own = table.columns()[column].1.get(row);
                for number in (0..6).filter(|&number| number != own) {
                    let mut changed = tables.clone();
                    changed[number_of_table] =
                        super::super::tests::change_cell(table, column, row, number);
                    assert!(
                        prove(&graph(), &changed.into_iter().collect(), 2).is_err(),
                        "{}, column {column}, row {row}: {number}",
                        table.name
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_file_row_expected_and_found() {
        let left_out: Result<Table, StageError> = divide(&[0, 2], &[0, 0], &[2, 1]);
        let reals: ArrayRef = Arc::new(Float64Array::from(vec![0.0]));
        for (found, place, what) in [
            (
                divide(&[0, 3], &[0, 0], &[3, 1]),
                "groups.parquet, row 1",
                "`node`: expected a row of the csr, 0 to 2, found 3",
            ),
            (
                divide(&[0, -1], &[0, 0], &[3, 1]),
                "groups.parquet, row 1",
                "`node`: expected a whole number from 0 on, found `-1`",
            ),
            (
                divide(&[0, 2], &[0, 0], &[4, 1]),
                "groups.parquet, row 0",
                "within the 3 in-neighbours of node 0, found 0 to 4",
            ),
            (
                divide(&[0, 2], &[0, 1], &[3, 1]),
                "groups.parquet, row 1",
                "expected `start` below `end`, and both within the 1 in-neighbours of node 2, \
                 found 1 to 1",
            ),
            (
                divide(&[0, 2, 0], &[0, 0, 2], &[3, 1, 3]),
                "groups.parquet, row 2",
                "expected in-neighbour 2 of node 0 in one group, found it in a row before too",
            ),
            (
                left_out,
                "groups.parquet",
                "expected each of 4 in-edges in one group, found in-neighbour 2 of the 3 of node 0 \
                 in none",
            ),
            (
                divide(&[], &[], &[]),
                "groups.parquet",
                "found in-neighbour 0 of the 3 of node 0 in none",
            ),
            (
                divided(vec![("node", wide(&[0])), ("start", wide(&[0]))]),
                "groups.parquet",
                "expected the columns `node`, `start` and `end`, found no `end`",
            ),
            (
                divided(vec![("node", reals), ("start", wide(&[0])), ("end", wide(&[1]))]),
                "groups.parquet",
                "column `node`: expected whole numbers, found Float64",
            ),
        ] {
            let error = found.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Data, "{error}");
            assert!(
                error.place.as_ref().is_some_and(|found| found.ends_with(place))
                    && error.what.contains(what)
                    && error.hint.is_some(),
                "{error}"
            );
        }
    }

    #[test]
    fn what_is_no_table_or_has_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups.parquet");
        std::fs::write(&path, "node,start,end\n").unwrap();
        let spec = PartitionSpec { groups: Some(path.clone()), ..PartitionSpec::default() };
        let digest = Some("0".repeat(64));
        let request =
            PartitionRequest { spec, groups_digest: digest, ..PartitionRequest::default() };
        let error = outline(&request, &graph(), Room(u64::MAX)).unwrap_err();
        assert!(
            error.kind == ErrorKind::Data
                && error.place.as_ref().is_some_and(|place| place.ends_with("groups.parquet")),
            "{error}"
        );
        std::fs::remove_file(&path).unwrap();
        written(
            &folder,
            vec![("node", wide(&[0, 2])), ("start", wide(&[0, 0])), ("end", wide(&[3, 1]))],
        );
        assert!(
            build(&graph(), &request, 1)
                .unwrap_err()
                .what
                .contains("has changed since this stage began")
        );
    }
}
