//! Tables with a row a node, or a graph: ids, labels, splits, kinds, features, further columns.
//!
//! promises  rows are sorted by id; ids that come twice, or are null, are errors with their place
//! promises  whole numbers and words as labels are classes, reals are values, lists are rows; null
//!           (or a negative class) is no label
//! never     drops a column: one that is not read is an error that names its type
//! bounds    16 bytes a number while it is read
use super::node_ids::within;
use crate::{
    column_roles::{FEATURE_LISTS, LABELS, MASKS, is_feature, is_split},
    containers::{
        arrow_columns::{self, ColumnSort},
        arrow_tables::{TableSource, find_column},
        npy::{Number, node_values},
        sparse_matrix::{self, MatrixEntries},
    },
    raw_graph::{
        Column, ColumnRoles, FEATURE_HINT, Features, IN_NO_PART, Labels, NodeIds, part_of,
    },
    read_error::{Read, ReadError},
    side_files::names_json,
};
use arrow_array::Array;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// How the fault of lists that are not all as long begins.
const UNEQUAL: &str = "lists differ in length";

/// A table of nodes or graphs, column by column, rows in the order of the file until they are
/// sorted.
pub struct NodeTable {
    pub rows: usize,
    columns: Vec<(String, ColumnValues)>,
    /// Files with the number of rows in each, for errors.
    files: Vec<(PathBuf, usize)>,
    /// The row of the files that became row i; empty: as it is.
    order: Vec<u32>,
    /// Whether labels that were taken have names of a column `class`.
    pub classes_told: bool,
    /// The columns that were taken.
    pub roles: ColumnRoles,
}

/// The columns of a row group, or of a file.
struct NodeRows {
    /// Which of the files.
    of: usize,
    columns: Vec<(String, ColumnValues)>,
    rows: usize,
}

/// The values of a column.
enum ColumnValues {
    Numbers(Vec<Option<Number>>),
    Words(Vec<Option<String>>),
    /// Lists of one length; rows without one are zeros.
    Lists {
        width: Option<usize>,
        values: Vec<f32>,
        present: Vec<bool>,
    },
}

impl ColumnValues {
    fn empty(sort: ColumnSort) -> ColumnValues {
        match sort {
            ColumnSort::Numbers => ColumnValues::Numbers(Vec::new()),
            ColumnSort::Words => ColumnValues::Words(Vec::new()),
            ColumnSort::Lists => {
                ColumnValues::Lists { width: None, values: Vec::new(), present: Vec::new() }
            }
        }
    }

    fn extend(&mut self, array: &dyn Array) -> Result<(), String> {
        match self {
            ColumnValues::Numbers(numbers) => numbers.extend(arrow_columns::numbers(array)?),
            ColumnValues::Words(words) => words.extend(arrow_columns::words(array)?),
            ColumnValues::Lists { width, values, present } => {
                let (items, ranges) = arrow_columns::lists(array)?;
                let items = arrow_columns::numbers(&items)?;
                for range in ranges {
                    present.push(range.is_some());
                    let Some((begin, end)) = range else { continue };
                    let own = *width.get_or_insert(end - begin);
                    if own != end - begin {
                        return Err(format!(
                            "{UNEQUAL}: expected {own}, found {} in row {}",
                            end - begin,
                            present.len() - 1
                        ));
                    }
                    for number in &items[begin..end] {
                        values.push(number.and_then(Number::single).ok_or_else(|| {
                            format!("a list in row {} has no usable number", present.len() - 1)
                        })?);
                    }
                }
            }
        }
        Ok(())
    }

    fn is_other_than(&self, other: &ColumnValues) -> bool {
        std::mem::discriminant(self) != std::mem::discriminant(other)
    }

    fn append(&mut self, other: ColumnValues) -> Result<(), String> {
        match (self, other) {
            (ColumnValues::Numbers(all), ColumnValues::Numbers(more)) => all.extend(more),
            (ColumnValues::Words(all), ColumnValues::Words(more)) => all.extend(more),
            (
                ColumnValues::Lists { width, values, present },
                ColumnValues::Lists { width: other, values: more, present: more_present },
            ) => {
                if let (Some(own), Some(other)) = (*width, other)
                    && own != other
                {
                    return Err(format!("{UNEQUAL}: expected {own}, found {other}"));
                }
                *width = width.or(other);
                values.extend(more);
                present.extend(more_present);
            }
            _ => return Err("its type is not the same in all parts".into()),
        }
        Ok(())
    }

    fn reorder(&mut self, order: &[u32]) {
        match self {
            ColumnValues::Numbers(numbers) => {
                *numbers = order.iter().map(|&row| numbers[row as usize]).collect()
            }
            ColumnValues::Words(words) => {
                *words = order.iter().map(|&row| words[row as usize].take()).collect()
            }
            ColumnValues::Lists { width, values, present } => {
                let width = width.unwrap_or(0);
                let begins: Vec<usize> = present
                    .iter()
                    .scan(0, |at, &is_there| {
                        Some(std::mem::replace(at, *at + if is_there { width } else { 0 }))
                    })
                    .collect();
                let rows = order.iter().filter(|&&row| present[row as usize]);
                *values = rows
                    .flat_map(|&row| values[begins[row as usize]..][..width].iter().copied())
                    .collect();
                *present = order.iter().map(|&row| present[row as usize]).collect();
            }
        }
    }
}

/// Reads all columns of all parts.
pub fn read(sources: &[TableSource]) -> Read<NodeTable> {
    let mut table = NodeTable {
        rows: 0,
        columns: Vec::new(),
        files: Vec::new(),
        order: Vec::new(),
        classes_told: false,
        roles: ColumnRoles::default(),
    };
    let jobs: Vec<(usize, usize)> = sources
        .iter()
        .enumerate()
        .flat_map(|(of, source)| (0..source.pieces()).map(move |piece| (of, piece)))
        .collect();
    let pieces: Vec<Read<NodeRows>> =
        jobs.into_par_iter().map(|(of, piece)| read_piece(&sources[of], of, piece)).collect();
    for piece in pieces {
        let NodeRows { of, columns, rows } = piece?;
        let source = &sources[of];
        table.rows += rows;
        table.files.push((source.path.clone(), rows));
        if table.columns.is_empty() {
            table.columns = columns;
            continue;
        }
        let names = |columns: &[(String, ColumnValues)]| {
            columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(", ")
        };
        if table.columns.len() != columns.len() {
            let error = source.error(format!(
                "the parts of the table differ in their columns: {} has others",
                sources[0].path.display()
            ));
            return Err(Box::new(
                error.expected(names(&table.columns), names(&columns)).hint(PARTS_HINT),
            ));
        }
        for (name, more) in columns {
            let Some((_, all)) = table.columns.iter_mut().find(|(known, _)| *known == name) else {
                let expected = names(&table.columns);
                let error = source.error(format!(
                    "the parts of the table differ in their columns: {} has others",
                    sources[0].path.display()
                ));
                return Err(Box::new(
                    error.expected(expected, format!("`{name}`")).hint(PARTS_HINT),
                ));
            };
            if all.is_other_than(&more) {
                return Err(type_mismatch(&sources[0], source, &name));
            }
            all.append(more).map_err(|what| unequal(source, &name, &what))?;
        }
    }
    if let Some(source) = sources.first() {
        within(&source.path, table.rows as u64)?;
    }
    Ok(table)
}

/// What to do about parts that are not alike.
pub(super) const PARTS_HINT: &str = "write all parts with the same columns and types, or take the \
    one away that does not belong to the table";

/// The error of a column that has another type in this part than in the first.
pub(super) fn type_mismatch(
    first: &TableSource,
    source: &TableSource,
    name: &str,
) -> Box<ReadError> {
    let type_of = |source: &TableSource| match find_column(source, &[name]) {
        Some(column) => source.schema.field(column).data_type().to_string(),
        None => "words, in the name of its folder".to_owned(),
    };
    let error = source
        .error(format!("the column `{name}` has another type than in {}", first.path.display()));
    Box::new(error.expected(type_of(first), type_of(source)).hint(PARTS_HINT))
}

/// The error of a column whose values do not go together.
fn unequal(source: &TableSource, name: &str, what: &str) -> Box<ReadError> {
    let error = source.error(format!("the column `{name}`: {what}"));
    let hint = if what.starts_with(UNEQUAL) {
        "fill all lists up to one length, or write each place as a column of its own:  x0, x1, x2, \
         ..."
    } else {
        "write numbers in all rows and parts, or leave the column out"
    };
    Box::new(error.hint(hint))
}

fn read_piece(source: &TableSource, of: usize, piece: usize) -> Read<NodeRows> {
    let mut columns = Vec::new();
    for field in source.schema.fields() {
        let refused = || {
            let error =
                source.error(format!("the column `{}` has a type that is not read", field.name()));
            let error =
                error.expected("numbers, words or lists of numbers", field.data_type().to_string());
            Box::new(error.hint("write the table without this column, or as numbers or words"))
        };
        columns.push((
            field.name().clone(),
            ColumnValues::empty(arrow_columns::sort(field.data_type()).ok_or_else(refused)?),
        ));
    }
    let all: Vec<usize> = (0..columns.len()).collect();
    let mut rows = 0;
    source.read(piece, &all, &mut |_, batch| {
        rows += batch.num_rows();
        for (name, values) in &mut columns {
            let array = batch.column_by_name(name).ok_or_else(|| {
                Box::new(source.error(format!("a part of the table has no column `{name}`")))
            })?;
            values.extend(array).map_err(|what| unequal(source, name, &what))?;
        }
        Ok(())
    })?;
    for (name, value) in &source.constants {
        if find_column(source, &[name]).is_none() {
            columns.push((
                name.clone(),
                ColumnValues::Words(vec![(!value.is_empty()).then(|| value.clone()); rows]),
            ));
        }
    }
    Ok(NodeRows { of, columns, rows })
}

impl NodeTable {
    /// An error about the column of this name.
    fn error(&self, what: impl Into<String>) -> ReadError {
        ReadError::new(&self.files.first().map(|(path, _)| path.clone()).unwrap_or_default(), what)
    }

    /// For each row, in its present order, the row of the files that it was.
    pub fn file_rows(&self) -> Vec<u32> {
        match self.order.is_empty() {
            true => (0..self.rows as u32).collect(),
            false => self.order.clone(),
        }
    }

    /// An error about a row, by its place in the present order.
    pub fn error_at_row(&self, row: usize, what: &str) -> ReadError {
        self.error_of_file_row(self.order.get(row).map_or(row, |&row| row as usize), what)
    }

    /// An error about a row, by its place in the files.
    pub fn error_of_file_row(&self, mut row: usize, what: &str) -> ReadError {
        for (path, rows) in &self.files {
            if row < *rows {
                return ReadError::new(path, format!("row {row} {what}"));
            }
            row -= rows;
        }
        self.error(what)
    }

    /// Takes the column of one of these names, in any case of letters.
    fn take(&mut self, names: &[&str]) -> Option<(String, ColumnValues)> {
        let at = names.iter().find_map(|name| {
            self.columns.iter().position(|(known, _)| known.eq_ignore_ascii_case(name))
        })?;
        Some(self.columns.remove(at))
    }

    /// Takes the ids and sorts all rows by them; none: the table has no ids.
    pub fn take_ids(&mut self, names: &[&str]) -> Read<Option<NodeIds>> {
        let Some((name, values)) = self.take(names) else { return Ok(None) };
        let null = |table: &NodeTable, row: usize, found: String| {
            let error = table.error_at_row(row, &format!("has no id in the column `{name}`"));
            Err(Box::new(error.expected("a whole number from 0, or a word", found)))
        };
        let (ids, order) = match values {
            ColumnValues::Numbers(numbers) => {
                let mut ids = Vec::with_capacity(numbers.len());
                for (row, number) in numbers.iter().enumerate() {
                    match number.and_then(Number::unsigned) {
                        Some(id) => ids.push(id),
                        None => {
                            return null(
                                self,
                                row,
                                number.map_or("null".into(), |number| number.to_string()),
                            );
                        }
                    }
                }
                let order = self.ascending(&ids)?;
                (
                    NodeIds::from_ascending(order.iter().map(|&row| ids[row as usize]).collect()),
                    order,
                )
            }
            ColumnValues::Words(words) => {
                if let Some(row) = words.iter().position(Option::is_none) {
                    return null(self, row, "null".into());
                }
                let order = self.ascending(&words.iter().flatten().collect::<Vec<_>>())?;
                let mut words = words;
                (
                    NodeIds::Strings(
                        order.iter().filter_map(|&row| words[row as usize].take()).collect(),
                    ),
                    order,
                )
            }
            ColumnValues::Lists { .. } => {
                return Err(Box::new(
                    self.error(format!("the column `{name}` has lists in place of ids")),
                ));
            }
        };
        if !order.is_sorted() {
            self.columns.iter_mut().for_each(|(_, values)| values.reorder(&order));
            self.order = order;
        }
        Ok(Some(ids))
    }

    /// Rows by ascending id.
    fn ascending<T: Ord + Sync + std::fmt::Display>(&self, ids: &[T]) -> Read<Vec<u32>> {
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.par_sort_by(|&a, &b| ids[a as usize].cmp(&ids[b as usize]));
        match order.windows(2).find(|pair| ids[pair[0] as usize] == ids[pair[1] as usize]) {
            None => Ok(order),
            Some(pair) => {
                let error = self.error_at_row(
                    pair[1] as usize,
                    &format!("has an id that row {} has too", pair[0]),
                );
                let hint = "keep one row for each node:  table.drop_duplicates(subset='id')";
                Err(Box::new(
                    error
                        .expected("ids that differ", format!("`{}` twice", ids[pair[0] as usize]))
                        .hint(hint),
                ))
            }
        }
    }

    /// Whether a column has one number a row.
    fn has_numbers(&self, wanted: &str) -> bool {
        self.columns.iter().any(|(name, values)| {
            name.eq_ignore_ascii_case(wanted) && matches!(values, ColumnValues::Numbers(_))
        })
    }

    /// Whether a column holds another word in every row.
    fn differs_everywhere(&self, wanted: &str) -> bool {
        let column = self.columns.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let Some((_, ColumnValues::Words(words))) = column else { return false };
        let mut words: Vec<&String> =
            words.iter().flatten().filter(|word| !word.is_empty()).collect();
        words.par_sort_unstable();
        words.len() > 1 && words.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Takes the labels.
    pub fn take_labels(&mut self, asked: Option<&str>) -> Read<Option<Labels>> {
        // With an `x` beside it, `y` is a place.
        let is_place = self.has_numbers("x") && self.has_numbers("y");
        let usual = LABELS.iter().copied().filter(|name| {
            asked.is_none() && !(is_place && *name == "y") && !self.differs_everywhere(name)
        });
        let names = asked.as_slice().iter().copied().chain(usual).collect::<Vec<_>>();
        let Some((name, values)) = self.take(&names) else {
            return match asked {
                None => self.take_label_rows(),
                Some("none") => Ok(None),
                Some(name) => Err(self.missing(name)),
            };
        };
        self.roles.labels.push(name.clone());
        let mut labels = match values {
            ColumnValues::Words(words) => node_values::classes(
                words.into_iter().map(Option::unwrap_or_default).collect(),
                |word: &String| !word.is_empty(),
            ),
            ColumnValues::Numbers(numbers)
                if numbers.iter().flatten().any(|number| matches!(number, Number::Real(_))) =>
            {
                let value = |(row, number): (usize, Option<Number>)| match number {
                    None => Ok(f32::NAN),
                    Some(number) => number.single().ok_or_else(|| {
                        Box::new(self.error_at_row(
                            row,
                            &format!("has a label in `{name}` that is beyond 32 bits"),
                        ))
                    }),
                };
                Labels::Values(numbers.into_iter().enumerate().map(value).collect::<Read<_>>()?)
            }
            ColumnValues::Numbers(numbers) => {
                let class = |(row, number): (usize, Option<Number>)| match number {
                    None => Ok(-1),
                    Some(number) => number.signed().ok_or_else(|| {
                        Box::new(self.error_at_row(
                            row,
                            &format!("has a label in `{name}` that is beyond 64 bits"),
                        ))
                    }),
                };
                node_values::classes(
                    numbers.into_iter().enumerate().map(class).collect::<Read<Vec<i64>>>()?,
                    |&class| class >= 0,
                )
            }
            ColumnValues::Lists { width, values, present } => {
                if let Some(row) = present.iter().position(|is_there| !is_there) {
                    return Err(Box::new(
                        self.error_at_row(row, &format!("has no list in the column `{name}`")),
                    ));
                }
                Labels::Rows { columns: width.unwrap_or(0) as u32, values }
            }
        };
        if asked.is_none() {
            self.name_classes(&mut labels);
        }
        Ok(Some(labels))
    }

    /// Takes `label_0`, `label_1` and so on: several numbers a row.
    fn take_label_rows(&mut self) -> Read<Option<Labels>> {
        let has = |number: &usize| self.has_numbers(&format!("label_{number}"));
        let names: Vec<String> =
            (0..).take_while(has).map(|number| format!("label_{number}")).collect();
        let mut columns = Vec::with_capacity(names.len());
        for name in &names {
            let Some((_, ColumnValues::Numbers(numbers))) = self.take(&[name]) else {
                return Err(self.missing(name));
            };
            columns.push(
                numbers
                    .into_iter()
                    .map(|number| number.and_then(Number::single).unwrap_or(f32::NAN))
                    .collect::<Vec<_>>(),
            );
        }
        let values =
            (0..self.rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        self.roles.labels.extend(names);
        Ok((!columns.is_empty()).then_some(Labels::Rows { columns: columns.len() as u32, values }))
    }

    /// Labels that are numbers may have their names in a column `class` beside them, which then
    /// says nothing else.
    fn name_classes(&mut self, labels: &mut Labels) {
        let is_class =
            |(name, _): &(String, ColumnValues)| name.eq_ignore_ascii_case(names_json::COLUMN);
        if let Some(at) = self.columns.iter().position(is_class)
            && let (_, ColumnValues::Words(words)) = &self.columns[at]
            && names_json::set_class_names(labels, words)
        {
            self.columns.remove(at);
            self.classes_told = true;
        }
    }

    /// Takes the splits: `split`, `split_0`, `split_NAME` and so on, or masks.
    pub fn take_splits(&mut self) -> Read<Vec<Vec<u8>>> {
        let names: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| is_split(name))
            .collect();
        let mut splits = Vec::new();
        for name in names {
            let Some((name, values)) = self.take(&[&name]) else { continue };
            splits.extend(self.splits(&name, values)?);
            self.roles.splits.push(name);
        }
        if !splits.is_empty() {
            return Ok(splits);
        }
        let mut split = Vec::new();
        for (names, part) in MASKS {
            let Some((name, values)) = self.take(names) else { continue };
            self.roles.splits.push(name.clone());
            let ColumnValues::Numbers(numbers) = values else {
                return Err(Box::new(
                    self.error(format!("the column `{name}` is no mask"))
                        .expected("bool, or 0 and 1", "words or lists"),
                ));
            };
            split.resize(self.rows, IN_NO_PART);
            for (row, number) in numbers.into_iter().enumerate() {
                match number.map_or(Some(0), Number::unsigned) {
                    Some(0) => {}
                    Some(1) if split[row] == IN_NO_PART => split[row] = part,
                    Some(1) => {
                        return Err(Box::new(
                            self.error_at_row(row, "is in two parts of the split"),
                        ));
                    }
                    _ => {
                        return Err(Box::new(self.error_at_row(
                            row,
                            &format!("has neither 0 nor 1 in the column `{name}`"),
                        )));
                    }
                }
            }
        }
        Ok(if split.is_empty() { Vec::new() } else { vec![split] })
    }

    fn splits(&self, name: &str, values: ColumnValues) -> Read<Vec<Vec<u8>>> {
        let wrong = |row: usize, found: String| {
            let error =
                self.error_at_row(row, &format!("has no part of a split in the column `{name}`"));
            Box::new(error.expected(
                "train, validation, test, none or null; or 0 none, 1 train, 2 validation, 3 test",
                found,
            ))
        };
        match values {
            ColumnValues::Words(words) => {
                let part = |(row, word): (usize, Option<String>)| {
                    let word = word.unwrap_or_default();
                    part_of(&word).ok_or_else(|| wrong(row, format!("`{word}`")))
                };
                Ok(vec![words.into_iter().enumerate().map(part).collect::<Read<_>>()?])
            }
            ColumnValues::Numbers(numbers) => {
                let part = |(row, number): (usize, Option<Number>)| match number
                    .map_or(Some(0), Number::unsigned)
                {
                    Some(part @ 0..=3) => Ok(part as u8),
                    _ => Err(wrong(row, number.map_or("null".into(), |number| number.to_string()))),
                };
                Ok(vec![numbers.into_iter().enumerate().map(part).collect::<Read<_>>()?])
            }
            ColumnValues::Lists { width, values, present } => {
                let width = width.unwrap_or(0);
                if let Some(row) = present.iter().position(|is_there| !is_there) {
                    return Err(wrong(row, "null".into()));
                }
                let is_part = |value: &f32| [0.0, 1.0, 2.0, 3.0].contains(value);
                if let Some(at) = values.iter().position(|value| !is_part(value)) {
                    return Err(wrong(at / width.max(1), values[at].to_string()));
                }
                Ok((0..width)
                    .map(|split| {
                        values.iter().skip(split).step_by(width).map(|&part| part as u8).collect()
                    })
                    .collect())
            }
        }
    }

    /// Takes names that many rows share, such as kinds and graphs: the place of each row's name
    /// among the sorted names, and these.
    pub fn take_shared(&mut self, names: &[&str]) -> Read<Option<(Vec<u32>, NodeIds)>> {
        let Some((name, values)) = self.take(names) else { return Ok(None) };
        let missing = |row: usize| {
            Box::new(
                self.error_at_row(row, &format!("has nothing usable in the column `{name}`"))
                    .expected("a whole number from 0, or a word", "none"),
            )
        };
        fn places<T: Ord + Clone + Sync + Send>(of_row: &[T]) -> (Vec<u32>, Vec<T>) {
            let mut names = of_row.to_vec();
            names.par_sort_unstable();
            names.dedup();
            (
                of_row
                    .iter()
                    .map(|name| names.partition_point(|known| known < name) as u32)
                    .collect(),
                names,
            )
        }
        match values {
            ColumnValues::Numbers(numbers) => {
                let number = |(row, number): (usize, Option<Number>)| {
                    number.and_then(Number::unsigned).ok_or_else(|| missing(row))
                };
                let (of_row, names) = places(
                    &numbers.into_iter().enumerate().map(number).collect::<Read<Vec<u64>>>()?,
                );
                Ok(Some((of_row, NodeIds::from_ascending(names))))
            }
            ColumnValues::Words(words) => {
                let (of_row, names) = places(
                    &words
                        .into_iter()
                        .enumerate()
                        .map(|(row, word)| word.ok_or_else(|| missing(row)))
                        .collect::<Read<Vec<String>>>()?,
                );
                Ok(Some((of_row, NodeIds::Strings(names))))
            }
            ColumnValues::Lists { .. } => Err(missing(0)),
        }
    }

    /// Takes the features: one column of lists, or those whose names say that they are.
    pub fn take_features(&mut self) -> Read<Option<Features>> {
        let is_lists = |name: &&&str| {
            self.columns.iter().any(|(known, values)| {
                known.eq_ignore_ascii_case(name) && matches!(values, ColumnValues::Lists { .. })
            })
        };
        if let Some(name) = FEATURE_LISTS.iter().find(is_lists) {
            return self.take_list(name);
        }
        let names: Vec<String> = self
            .columns
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| is_feature(name))
            .collect();
        if names.is_empty() { Ok(None) } else { self.take_columns(&names) }
    }

    /// Takes a column of lists as features.
    fn take_list(&mut self, name: &str) -> Read<Option<Features>> {
        let Some((name, ColumnValues::Lists { width, values, present })) = self.take(&[name])
        else {
            return Err(self.missing(name));
        };
        if let Some(row) = present.iter().position(|is_there| !is_there) {
            return Err(Box::new(
                self.error_at_row(row, &format!("has no list in the column `{name}`"))
                    .expected("a list in every row", "null"),
            ));
        }
        let columns = width.unwrap_or(0).max(1);
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let error = self.error_at_row(
                at / columns,
                &format!(
                    "has a feature in the column `{name}` that is not finite: place {}, from 0",
                    at % columns
                ),
            );
            return Err(Box::new(
                error.expected("a finite number", values[at].to_string()).hint(FEATURE_HINT),
            ));
        }
        self.roles.features.push(name);
        Ok(Some(Features::Dense { columns: width.unwrap_or(0) as u32, values }))
    }

    /// Takes the only column, if it has lists.
    pub fn take_only_lists(&mut self) -> Read<Option<Features>> {
        match &mut self.columns[..] {
            [(name, ColumnValues::Lists { .. })] => {
                "features".clone_into(name);
                self.take_features()
            }
            _ => Ok(None),
        }
    }

    /// Takes the entries of a sparse matrix: the columns `row`, `column` and `value`, if there are
    /// no others.
    pub fn take_entries(&mut self, path: &Path) -> Read<Option<MatrixEntries>> {
        let named = self.columns.len() == 3
            && self
                .columns
                .iter()
                .zip(sparse_matrix::ENTRIES)
                .all(|((name, _), known)| name == known);
        let [
            (_, ColumnValues::Numbers(row)),
            (_, ColumnValues::Numbers(column)),
            (_, ColumnValues::Numbers(value)),
        ] = &self.columns[..]
        else {
            return Ok(None);
        };
        if !named {
            return Ok(None);
        }
        let all = row
            .iter()
            .zip(column)
            .zip(value)
            .map(|((&row, &column), &value)| [row, column, value])
            .collect();
        sparse_matrix::entries_from_columns(path, all).map(Some)
    }

    /// Takes columns of numbers as features, in this order.
    pub fn take_columns(&mut self, names: &[String]) -> Read<Option<Features>> {
        if let [name] = names
            && self.columns.iter().any(|(known, values)| {
                known.eq_ignore_ascii_case(name) && matches!(values, ColumnValues::Lists { .. })
            })
        {
            return self.take_list(name);
        }
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let (name, values) = self.take(&[name]).ok_or_else(|| self.missing(name))?;
            let ColumnValues::Numbers(numbers) = values else {
                let hint = "name those that are, in their order:  read: {node_features: [NAME, \
                            NAME]}  in the catalogue's entry";
                return Err(Box::new(
                    self.error(format!("the feature `{name}` is no column of numbers")).hint(hint),
                ));
            };
            let value = |(row, number): (usize, Option<Number>)| {
                number.and_then(Number::single).filter(|value| value.is_finite()).ok_or_else(|| {
                    let error = self.error_at_row(
                        row,
                        &format!("has no usable number in the feature `{name}`"),
                    );
                    Box::new(
                        error
                            .expected(
                                "a finite number",
                                number.map_or("null".into(), |number| number.to_string()),
                            )
                            .hint(FEATURE_HINT),
                    )
                })
            };
            columns.push(numbers.into_iter().enumerate().map(value).collect::<Read<Vec<f32>>>()?);
            self.roles.features.push(name.clone());
        }
        let values =
            (0..self.rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        Ok(Some(Features::Dense { columns: columns.len() as u32, values }))
    }

    /// An error about a column that was asked for.
    pub fn missing(&self, name: &str) -> Box<ReadError> {
        let found: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        Box::new(
            self.error(format!("the table has no column `{name}`"))
                .expected(format!("`{name}`"), found.join(", ")),
        )
    }

    /// What is left: further columns.
    pub fn take_rest(&mut self) -> Read<Vec<(String, Column)>> {
        let mut rest = Vec::new();
        for (name, values) in std::mem::take(&mut self.columns) {
            let column = match values {
                ColumnValues::Words(words) => Column::Texts(words),
                ColumnValues::Numbers(numbers)
                    if numbers.iter().flatten().all(|number| {
                        !matches!(number, Number::Real(_)) && number.signed().is_some()
                    }) =>
                {
                    Column::Integers(
                        numbers.into_iter().map(|number| number.and_then(Number::signed)).collect(),
                    )
                }
                ColumnValues::Numbers(numbers) => Column::Reals(
                    numbers.into_iter().map(|number| number.map(Number::real)).collect(),
                ),
                ColumnValues::Lists { .. } => {
                    let error = self.error(format!(
                        "the column `{name}` has lists, which only features, labels and splits may"
                    ));
                    return Err(Box::new(
                        error.hint("call it `features`, or write the table without it"),
                    ));
                }
            };
            rest.push((name, column));
        }
        Ok(rest)
    }
}
