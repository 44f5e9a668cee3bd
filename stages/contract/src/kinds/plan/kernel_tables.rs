//! kernel_tables: what a plan for a GPU launches, as tables beside `plan.json`.
//!
//! files     `launches.arrow`: one row a launch of the list, in order: `name`, `bytes` (the fewest
//!           that it moves), `schedules` (how it is executed) and `off_path` (whether it is off the
//!           critical path); `kernels.arrow`: one row a call of a kernel, in order: `launch` (its
//!           number), `part` (`launch`, `clock` or `watch`: the last two belong to no launch),
//!           `kernel` (its name in the source), `grid`, `threads` and `shared_bytes` of a block,
//!           `arguments` in order, and `writes` (which of them it may write through; empty if any);
//!           `tiers.arrow`: one row a walk over edges and way of cutting it (`walk` and `cut`, as
//!           JSON): how many rows have several blocks (`hubs`), how many each (`pieces`), how
//!           many have a block (`blocks`) or a warp (`warps`), and how many there are (`rows`);
//!           `kernels.cu`: the source of all kernels
//! promises  a launch without a row in `kernels.arrow` is done by the kernel of another one; grids
//!           and arguments are JSON, whose forms the language's crate defines
//! never     is there in a plan for a CPU, whose kernels are part of the program
use std::{fs, path::Path, sync::Arc};

use arrow_array::{
    Array, BooleanArray, ListArray, RecordBatch, StringArray, UInt32Array, UInt64Array,
    builder::{BooleanBuilder, ListBuilder, StringBuilder},
};
use arrow_schema::{DataType, Field};

use crate::{
    Artifact, StageError,
    arrow_file::{numbers, write_columns},
    mapped_file,
};

/// One row a launch.
pub const LAUNCHES_FILE: &str = "launches.arrow";
/// One row a call of a kernel.
pub const KERNELS_FILE: &str = "kernels.arrow";
/// The source of all kernels.
pub const SOURCE_FILE: &str = "kernels.cu";
/// One row a walk and cut.
pub const TIERS_FILE: &str = "tiers.arrow";
/// These files.
pub const KERNEL_FILES: [&str; 4] = [LAUNCHES_FILE, KERNELS_FILE, SOURCE_FILE, TIERS_FILE];

/// A launch of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchRow {
    /// Its name in the list.
    pub name: String,
    /// The fewest bytes that it moves.
    pub bytes: u64,
    /// How it is executed.
    pub schedules: Vec<String>,
    /// Whether it is off the critical path.
    pub off_path: bool,
}

/// What a kernel is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A launch of the list.
    Launch,
    /// Counting epochs.
    Clock,
    /// Early stopping and the best checkpoint.
    Watch,
    /// The end of a superstep; its launch is the number of the loop.
    Loop,
    /// A loop as a whole, and before it what that needs; its launch is the number of the loop.
    Shortcut,
    /// Supersteps of few vertices, and before it what that needs; its launch is the number of the
    /// loop.
    Frontier,
}

impl Part {
    const ALL: [Part; 6] =
        [Part::Launch, Part::Clock, Part::Watch, Part::Loop, Part::Shortcut, Part::Frontier];

    fn name(self) -> &'static str {
        match self {
            Part::Launch => "launch",
            Part::Clock => "clock",
            Part::Watch => "watch",
            Part::Loop => "loop",
            Part::Shortcut => "shortcut",
            Part::Frontier => "frontier",
        }
    }
}

/// A call of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRow {
    /// The number of its launch; 0 where it belongs to none.
    pub launch: u32,
    /// What it is called for.
    pub part: Part,
    /// Its name in the source.
    pub kernel: String,
    /// Its grid, as JSON.
    pub grid: String,
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// Its arguments, each as JSON.
    pub arguments: Vec<String>,
    /// Which arguments it may write through; empty if any.
    pub writes: Vec<bool>,
}

/// How the rows of a walk are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierRow {
    /// The walk, as JSON.
    pub walk: String,
    /// How it is cut, as JSON.
    pub cut: String,
    /// Rows that several blocks share, blocks of each, rows of a block, rows of a warp, all rows.
    pub counts: [u32; 5],
}

/// Columns of the counts.
const TIERS: [&str; 5] = ["hubs", "pieces", "blocks", "warps", "rows"];

/// The tables of a plan for a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelTables {
    /// The launches of the list.
    pub launches: Vec<LaunchRow>,
    /// The calls of kernels.
    pub kernels: Vec<KernelRow>,
    /// Divisions of walks.
    pub tiers: Vec<TierRow>,
    /// The source of all kernels.
    pub source: String,
}

impl KernelTables {
    /// Writes the tables into the folder of a plan.
    pub(super) fn write(
        &self,
        file: impl Fn(&str) -> std::path::PathBuf,
    ) -> Result<(), StageError> {
        let launches = &self.launches;
        write_columns(
            &file(LAUNCHES_FILE),
            vec![
                ("name", texts(launches.iter().map(|row| row.name.as_str()))),
                ("bytes", numbers(launches.iter().map(|row| row.bytes).collect())),
                ("schedules", text_lists(launches.iter().map(|row| row.schedules.as_slice()))),
                ("off_path", flags(launches.iter().map(|row| row.off_path))),
            ],
        )?;
        let kernels = &self.kernels;
        write_columns(
            &file(KERNELS_FILE),
            vec![
                ("launch", numbers(kernels.iter().map(|row| row.launch).collect())),
                ("part", texts(kernels.iter().map(|row| row.part.name()))),
                ("kernel", texts(kernels.iter().map(|row| row.kernel.as_str()))),
                ("grid", texts(kernels.iter().map(|row| row.grid.as_str()))),
                ("threads", numbers(kernels.iter().map(|row| row.threads).collect())),
                ("shared_bytes", numbers(kernels.iter().map(|row| row.shared_bytes).collect())),
                ("arguments", text_lists(kernels.iter().map(|row| row.arguments.as_slice()))),
                ("writes", flag_lists(kernels.iter().map(|row| row.writes.as_slice()))),
            ],
        )?;
        let tiers = &self.tiers;
        let of_count = |place: usize| numbers(tiers.iter().map(|row| row.counts[place]).collect());
        let counts = TIERS.iter().enumerate().map(|(place, &name)| (name, of_count(place)));
        write_columns(
            &file(TIERS_FILE),
            [
                ("walk", texts(tiers.iter().map(|row| row.walk.as_str()))),
                ("cut", texts(tiers.iter().map(|row| row.cut.as_str()))),
            ]
            .into_iter()
            .chain(counts)
            .collect(),
        )?;
        let path = file(SOURCE_FILE);
        fs::write(&path, &self.source).map_err(|error| StageError::io("write", &path, &error))
    }
}

/// Opens the tables of a plan for a GPU; they are mapped into memory.
pub fn open_kernels(artifact: &Artifact) -> Result<KernelTables, StageError> {
    open_tables(&|file| artifact.file(file))
}

/// Opens the tables in a folder.
pub(super) fn open_tables(
    file: &dyn Fn(&str) -> std::path::PathBuf,
) -> Result<KernelTables, StageError> {
    let path = file(SOURCE_FILE);
    let source = mapped_file::map_file(&path)?;
    let source = std::str::from_utf8(&source)
        .map_err(|error| StageError::damaged(&path, format!("not UTF-8: {error}")))?
        .to_owned();
    let launches = open_launches(&file(LAUNCHES_FILE))?;
    let kernels = open_calls(&file(KERNELS_FILE), launches.len())?;
    let tiers = open_tiers(&file(TIERS_FILE))?;
    Ok(KernelTables { launches, kernels, tiers, source })
}

fn open_launches(path: &Path) -> Result<Vec<LaunchRow>, StageError> {
    let table = Table { path, batch: mapped_file::open_arrow(path)? };
    let (names, bytes) =
        (table.column::<StringArray>("name")?, table.column::<UInt64Array>("bytes")?);
    let (schedules, off_path) =
        (table.column::<ListArray>("schedules")?, table.column::<BooleanArray>("off_path")?);
    (0..table.batch.num_rows())
        .map(|row| {
            Ok(LaunchRow {
                name: names.value(row).to_owned(),
                bytes: bytes.value(row),
                schedules: table.texts("schedules", schedules, row)?,
                off_path: off_path.value(row),
            })
        })
        .collect()
}

fn open_tiers(path: &Path) -> Result<Vec<TierRow>, StageError> {
    let table = Table { path, batch: mapped_file::open_arrow(path)? };
    let (walk, cut) = (table.column::<StringArray>("walk")?, table.column::<StringArray>("cut")?);
    let mut counts = Vec::new();
    for name in TIERS {
        counts.push(table.column::<UInt32Array>(name)?);
    }
    let row_of = |row: usize| TierRow {
        walk: walk.value(row).to_owned(),
        cut: cut.value(row).to_owned(),
        counts: std::array::from_fn(|place| counts[place].value(row)),
    };
    Ok((0..table.batch.num_rows()).map(row_of).collect())
}

fn open_calls(path: &Path, launches: usize) -> Result<Vec<KernelRow>, StageError> {
    let table = Table { path, batch: mapped_file::open_arrow(path)? };
    let (launch, part) =
        (table.column::<UInt32Array>("launch")?, table.column::<StringArray>("part")?);
    let (kernel, grid) =
        (table.column::<StringArray>("kernel")?, table.column::<StringArray>("grid")?);
    let (threads, shared_bytes) =
        (table.column::<UInt32Array>("threads")?, table.column::<UInt32Array>("shared_bytes")?);
    let (arguments, writes) =
        (table.column::<ListArray>("arguments")?, table.column::<ListArray>("writes")?);
    let row_of = |row: usize| {
        let named = part.value(row);
        let part = Part::ALL.into_iter().find(|part| part.name() == named).ok_or_else(|| {
            let expected = Part::ALL.map(Part::name).join(", ");
            table.damaged(row, &format!("`part`: expected one of {expected}, found `{named}`"))
        })?;
        let (launch, arguments) = (launch.value(row), table.texts("arguments", arguments, row)?);
        if part == Part::Launch && launch as usize >= launches {
            let what = format!("`launch`: expected less than {launches}, found {launch}");
            return Err(table.damaged(row, &what));
        }
        let writes = table.flags("writes", writes, row)?;
        if ![0, arguments.len()].contains(&writes.len()) {
            let (expected, found) = (arguments.len(), writes.len());
            let what = format!("`writes`: expected {expected} values or none, found {found}");
            return Err(table.damaged(row, &what));
        }
        Ok(KernelRow {
            launch,
            part,
            kernel: kernel.value(row).to_owned(),
            grid: grid.value(row).to_owned(),
            threads: threads.value(row),
            shared_bytes: shared_bytes.value(row),
            arguments,
            writes,
        })
    };
    (0..table.batch.num_rows()).map(row_of).collect()
}

/// A table that is read.
struct Table<'a> {
    path: &'a Path,
    batch: RecordBatch,
}

impl Table<'_> {
    fn column<T: Array + 'static>(&self, name: &str) -> Result<&T, StageError> {
        let column = self.batch.column_by_name(name).filter(|column| column.null_count() == 0);
        column.and_then(|column| column.as_any().downcast_ref::<T>()).ok_or_else(|| {
            let found = self.batch.schema();
            let found: Vec<String> = found
                .fields()
                .iter()
                .map(|field| format!("{} {}", field.name(), field.data_type()))
                .collect();
            let what = format!(
                "expected a column `{name}` without nulls, of the type that plans have, found {}",
                found.join(", ")
            );
            StageError::damaged(self.path, what)
        })
    }

    fn damaged(&self, row: usize, what: &str) -> StageError {
        StageError::damaged(self.path, format!("row {row}: {what}"))
    }

    fn texts(&self, name: &str, lists: &ListArray, row: usize) -> Result<Vec<String>, StageError> {
        let list = lists.value(row);
        let list =
            list.as_any().downcast_ref::<StringArray>().filter(|list| list.null_count() == 0);
        let list = list.ok_or_else(|| self.damaged(row, &format!("`{name}`: expected texts")))?;
        Ok((0..list.len()).map(|place| list.value(place).to_owned()).collect())
    }

    fn flags(&self, name: &str, lists: &ListArray, row: usize) -> Result<Vec<bool>, StageError> {
        let list = lists.value(row);
        let list =
            list.as_any().downcast_ref::<BooleanArray>().filter(|list| list.null_count() == 0);
        let list = list.ok_or_else(|| self.damaged(row, &format!("`{name}`: expected bools")))?;
        Ok((0..list.len()).map(|place| list.value(place)).collect())
    }
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> Arc<dyn Array> {
    Arc::new(StringArray::from_iter_values(values))
}

fn flags(values: impl Iterator<Item = bool>) -> Arc<dyn Array> {
    Arc::new(BooleanArray::from(values.collect::<Vec<bool>>()))
}

fn text_lists<'a>(rows: impl Iterator<Item = &'a [String]>) -> Arc<dyn Array> {
    let item = Arc::new(Field::new_list_field(DataType::Utf8, false));
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(item);
    for row in rows {
        row.iter().for_each(|text| lists.values().append_value(text));
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn flag_lists<'a>(rows: impl Iterator<Item = &'a [bool]>) -> Arc<dyn Array> {
    let item = Arc::new(Field::new_list_field(DataType::Boolean, false));
    let mut lists = ListBuilder::new(BooleanBuilder::new()).with_field(item);
    for row in rows {
        lists.values().append_slice(row);
        lists.append(true);
    }
    Arc::new(lists.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> KernelTables {
        let launch = |name: &str, schedules: &[&str]| LaunchRow {
            name: name.to_owned(),
            bytes: 4096,
            schedules: schedules.iter().map(ToString::to_string).collect(),
            off_path: name == "second",
        };
        let kernel = |launch, part, arguments: &[&str], writes: &[bool]| KernelRow {
            launch,
            part,
            kernel: format!("k{launch}"),
            grid: "{\"fixed\":[1,1,1]}".to_owned(),
            threads: 256,
            shared_bytes: 0,
            arguments: arguments.iter().map(ToString::to_string).collect(),
            writes: writes.to_vec(),
        };
        KernelTables {
            launches: vec![launch("first", &["rows", "plain"]), launch("second", &[])],
            kernels: vec![
                kernel(0, Part::Launch, &["\"clock\"", "\"seed\""], &[false, true]),
                kernel(1, Part::Launch, &[], &[]),
                kernel(0, Part::Clock, &["\"clock\""], &[]),
            ],
            tiers: vec![TierRow {
                walk: "{\"edges\":\"in\"}".to_owned(),
                cut: "{}".to_owned(),
                counts: [1, 2, 3, 4, 50],
            }],
            source: "typedef float real;\n".to_owned(),
        }
    }

    #[test]
    fn tables_come_back() {
        for tables in [tables(), KernelTables::default()] {
            let folder = tempfile::tempdir().unwrap();
            let file = |name: &str| folder.path().join(name);
            tables.write(file).unwrap();
            assert_eq!(open_tables(&file).unwrap(), tables);
        }
    }

    #[test]
    fn rows_that_cannot_be_are_named() {
        let refused = |damage: fn(&mut KernelTables)| {
            let (folder, mut tables) = (tempfile::tempdir().unwrap(), tables());
            damage(&mut tables);
            let file = |name: &str| folder.path().join(name);
            tables.write(file).unwrap();
            open_tables(&file).unwrap_err().what
        };
        assert_eq!(
            refused(|tables| tables.kernels[1].launch = 2),
            "row 1: `launch`: expected less than 2, found 2"
        );
        assert_eq!(
            refused(|tables| tables.kernels[0].writes.push(true)),
            "row 0: `writes`: expected 2 values or none, found 3"
        );
    }
}
