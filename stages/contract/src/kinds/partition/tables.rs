//! Tables of whole numbers: how wide each column is, how it is filled, written, mapped and read.
//!
//! promises  a column is as narrow as the largest number that it may have to hold asks; the same
//!           numbers give the same bytes
//! never     says what the numbers mean; that is `invariants`
use std::{path::Path, sync::Arc};

use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::ArrowNativeType;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::expect_length;
use crate::{
    StageError,
    arrow_file::{Number, View, open_numbers, write_columns},
};

/// Numbers that one task looks at, at least.
const NUMBERS_PER_TASK: usize = 1 << 16;

/// Bits of the numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Width {
    /// 8.
    U8,
    /// 16.
    U16,
    /// 32.
    U32,
    /// 64.
    U64,
}

impl Width {
    /// For numbers that may pass 2^32: 32 bits where the largest fits.
    pub fn from_largest(largest: u64) -> Self {
        if largest <= u64::from(u32::MAX) { Width::U32 } else { Width::U64 }
    }

    /// Bytes of a number.
    pub fn bytes(self) -> u64 {
        match self {
            Width::U8 => 1,
            Width::U16 => 2,
            Width::U32 => 4,
            Width::U64 => 8,
        }
    }

    /// As in partition.json.
    pub fn name(self) -> &'static str {
        match self {
            Width::U8 => "u8",
            Width::U16 => "u16",
            Width::U32 => "u32",
            Width::U64 => "u64",
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnFacts {
    /// Its name.
    pub name: String,
    /// How wide its numbers are.
    pub width: Width,
}

/// A table as it is known before it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableFacts {
    /// Its name: that of its file without `.arrow`.
    pub name: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<ColumnFacts>,
    /// Bytes of all its numbers.
    bytes: u64,
}

impl TableFacts {
    /// A table of so many rows.
    pub fn new(name: impl Into<String>, rows: u64, columns: &[(&str, Width)]) -> Self {
        let columns: Vec<ColumnFacts> = columns
            .iter()
            .map(|&(name, width)| ColumnFacts { name: name.to_owned(), width })
            .collect();
        let bytes =
            columns.iter().map(|column| column.width.bytes()).sum::<u64>().saturating_mul(rows);
        TableFacts { name: name.into(), rows, columns, bytes }
    }

    /// A table of one column.
    pub fn single(name: impl Into<String>, rows: u64, width: Width) -> Self {
        let name = name.into();
        TableFacts::new(name.clone(), rows, &[(&name, width)])
    }

    /// Bytes of all its numbers.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// File of a table.
pub(super) fn table_file(table: &str) -> String {
    format!("{table}.arrow")
}

/// Says the same of numbers of each width.
macro_rules! each_width {
    ($value:expr, $numbers:ident => $body:expr) => {
        match $value {
            Self::U8($numbers) => $body,
            Self::U16($numbers) => $body,
            Self::U32($numbers) => $body,
            Self::U64($numbers) => $body,
        }
    };
}

/// Numbers of a column that is being filled. Whoever chose the width saw to it that they fit: a
/// number that does not loses its upper bits, which every check finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Of 8 bits.
    U8(Vec<u8>),
    /// Of 16 bits.
    U16(Vec<u16>),
    /// Of 32 bits.
    U32(Vec<u32>),
    /// Of 64 bits.
    U64(Vec<u64>),
}

impl Cells {
    /// Room for so many numbers, to be pushed.
    pub fn room(width: Width, count: u64) -> Self {
        let count = count as usize;
        match width {
            Width::U8 => Cells::U8(Vec::with_capacity(count)),
            Width::U16 => Cells::U16(Vec::with_capacity(count)),
            Width::U32 => Cells::U32(Vec::with_capacity(count)),
            Width::U64 => Cells::U64(Vec::with_capacity(count)),
        }
    }

    /// So many zeros, to be set.
    pub fn zeros(width: Width, count: u64) -> Self {
        let count = count as usize;
        match width {
            Width::U8 => Cells::U8(crate::mapped_file::zeros(count)),
            Width::U16 => Cells::U16(crate::mapped_file::zeros(count)),
            Width::U32 => Cells::U32(crate::mapped_file::zeros(count)),
            Width::U64 => Cells::U64(crate::mapped_file::zeros(count)),
        }
    }

    /// One more.
    pub fn push(&mut self, number: u64) {
        each_width!(self, numbers => numbers.push(number as _));
    }

    /// In place of the number at a place.
    pub fn set(&mut self, at: usize, number: u64) {
        each_width!(self, numbers => numbers[at] = number as _);
    }

    /// The number at a place.
    pub fn get(&self, at: usize) -> u64 {
        each_width!(self, numbers => numbers[at].as_usize() as u64)
    }
}

/// Numbers of a column, mapped or in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Of 8 bits.
    U8(View<u8>),
    /// Of 16 bits.
    U16(View<u16>),
    /// Of 32 bits.
    U32(View<u32>),
    /// Of 64 bits.
    U64(View<u64>),
}

impl From<Cells> for Column {
    fn from(cells: Cells) -> Self {
        match cells {
            Cells::U8(numbers) => Column::U8(numbers.into()),
            Cells::U16(numbers) => Column::U16(numbers.into()),
            Cells::U32(numbers) => Column::U32(numbers.into()),
            Cells::U64(numbers) => Column::U64(numbers.into()),
        }
    }
}

impl Column {
    /// How many.
    pub fn len(&self) -> usize {
        each_width!(self, numbers => numbers.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at a place.
    pub fn get(&self, at: usize) -> u64 {
        each_width!(self, numbers => numbers[at].as_usize() as u64)
    }

    /// The last one.
    pub fn last(&self) -> Option<u64> {
        self.len().checked_sub(1).map(|at| self.get(at))
    }

    /// The first place of a number that is not below a limit.
    pub fn first_at_least(&self, limit: u64) -> Option<usize> {
        each_width!(self, numbers => numbers
            .par_iter()
            .with_min_len(NUMBERS_PER_TASK)
            .position_first(|number| number.as_usize() as u64 >= limit))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// How wide they are.
    pub fn width(&self) -> Width {
        match self {
            Column::U8(_) => Width::U8,
            Column::U16(_) => Width::U16,
            Column::U32(_) => Width::U32,
            Column::U64(_) => Width::U64,
        }
    }

    fn open(path: &Path, facts: &ColumnFacts) -> Result<Self, StageError> {
        Ok(match facts.width {
            Width::U8 => Column::U8(open_numbers(path, &facts.name)?),
            Width::U16 => Column::U16(open_numbers(path, &facts.name)?),
            Width::U32 => Column::U32(open_numbers(path, &facts.name)?),
            Width::U64 => Column::U64(open_numbers(path, &facts.name)?),
        })
    }

    fn array(&self) -> ArrayRef {
        fn to_array<T: Number>(numbers: &View<T>) -> ArrayRef {
            Arc::new(PrimitiveArray::<T::Arrow>::new(numbers.clone(), None))
        }
        each_width!(self, numbers => to_array(numbers))
    }
}

/// Columns of equal length under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    columns: Vec<(String, Column)>,
}

impl Table {
    /// Of columns that were filled.
    pub fn new(name: impl Into<String>, columns: Vec<(&str, Cells)>) -> Self {
        Table {
            name: name.into(),
            columns: columns
                .into_iter()
                .map(|(name, cells)| (name.to_owned(), cells.into()))
                .collect(),
        }
    }

    /// Of one column.
    pub fn single(name: impl Into<String>, cells: Cells) -> Self {
        let name = name.into();
        Table { columns: vec![(name.clone(), cells.into())], name }
    }

    /// What it takes.
    pub fn facts(&self) -> TableFacts {
        let columns: Vec<(&str, Width)> =
            self.columns.iter().map(|(name, column)| (name.as_str(), column.width())).collect();
        TableFacts::new(self.name.clone(), self.rows() as u64, &columns)
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Names and columns.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    /// A column.
    pub fn column(&self, name: &str) -> Result<&Column, StageError> {
        let found = self.columns.iter().find(|(known, _)| known == name);
        found.map(|(_, column)| column).ok_or_else(|| {
            StageError::defect(format!("table `{}` was asked for a column `{name}`", self.name))
        })
    }

    /// Maps the file of a table in an artifact's folder.
    pub fn open(directory: &Path, facts: &TableFacts) -> Result<Self, StageError> {
        let path = directory.join(table_file(&facts.name));
        let mut columns = Vec::new();
        for column in &facts.columns {
            let opened = Column::open(&path, column)?;
            expect_length(&path, "rows", facts.rows, opened.len() as u64)?;
            columns.push((column.name.clone(), opened));
        }
        Ok(Table { name: facts.name.clone(), columns })
    }

    /// Writes it.
    pub(super) fn write(&self, path: &Path) -> Result<(), StageError> {
        write_columns(
            path,
            self.columns.iter().map(|(name, column)| (name.as_str(), column.array())).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_narrow_up_to_two_to_the_32() {
        let edge = 1u64 << 32;
        assert_eq!([0, edge - 2, edge - 1].map(Width::from_largest), [Width::U32; 3]);
        assert_eq!([edge, edge + 1, u64::MAX].map(Width::from_largest), [Width::U64; 3]);
        let mut wide = Cells::room(Width::from_largest(edge), 2);
        [edge - 1, edge].into_iter().for_each(|number| wide.push(number));
        assert_eq!(Column::from(wide).iter().collect::<Vec<u64>>(), [edge - 1, edge]);
    }

    #[test]
    fn a_table_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let columns = [Width::U8, Width::U16, Width::U32, Width::U64].map(|width| {
            let mut cells = Cells::zeros(width, 3);
            cells.set(1, 200);
            assert_eq!((cells.get(0), cells.get(1)), (0, 200));
            cells
        });
        let table = Table::new("mixed", ["a", "b", "c", "d"].into_iter().zip(columns).collect());
        let facts = table.facts();
        assert_eq!((facts.rows, facts.bytes()), (3, 3 * (1 + 2 + 4 + 8)));
        table.write(&folder.path().join("mixed.arrow")).unwrap();
        assert_eq!(Table::open(folder.path(), &facts).unwrap(), table);
        let longer = TableFacts::new("mixed", 4, &[("a", Width::U8)]);
        assert!(
            Table::open(folder.path(), &longer)
                .unwrap_err()
                .what
                .contains("expected 4 rows, found 3")
        );
        let wider = TableFacts::new("mixed", 3, &[("a", Width::U16)]);
        assert!(
            Table::open(folder.path(), &wider)
                .unwrap_err()
                .what
                .contains("expected UInt16, found UInt8")
        );
    }
}
