//! learned_columns: a column of nodes.parquet or graphs.parquet as a training target.
//!
//! promises  plan, run and its check read a column the same way: non-negative integers and strings
//!           are names of classes, which ascend (integers by value, strings by bytes); bools are
//!           the classes `false` and `true`; floats are values, lists of floats are rows; null, an
//!           empty string or a negative integer is no class
//! never     reads the data set's own `label` in another form than ingest wrote
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{
        Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
        UInt32Type, UInt64Type,
    },
};
use arrow_schema::{DataType, Schema};

use super::*;
use crate::parquet_file::{describe, read_table};

/// The column that is learned by default.
pub const LABEL: &str = "label";

/// How integers and bools of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeNumbers {
    /// Names of classes.
    Classes,
    /// Values for a regression.
    Values,
}

impl WholeNumbers {
    /// The way that a loss needs.
    pub fn from_loss(fits_numbers: bool) -> Self {
        if fits_numbers { WholeNumbers::Values } else { WholeNumbers::Classes }
    }
}

/// A column as a training target.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Row by row.
    pub labels: Labels,
    /// Names of the classes; empty where there are none.
    pub classes: Vec<String>,
}

/// The rows that have the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearnedRows {
    /// Nodes.
    Nodes,
    /// The graphs of a set of many.
    Graphs,
}

impl LearnedRows {
    /// The rows of an artifact that have labels; none where both have, and a program decides.
    pub fn from_artifact(artifact: &Artifact) -> Option<Self> {
        match artifact.find_fact(TARGET).and_then(|target| target.as_str()) {
            Some("both") => None,
            Some("graphs") => Some(LearnedRows::Graphs),
            _ => Some(LearnedRows::Nodes),
        }
    }

    /// The table of these rows.
    pub fn file(self) -> &'static str {
        match self {
            LearnedRows::Nodes => NODES_FILE,
            LearnedRows::Graphs => GRAPHS_FILE,
        }
    }

    /// The name of a count or fact of the labels in the manifest of an artifact.
    pub fn fact_name(self, artifact: &Artifact, name: &str) -> String {
        let prefix =
            if self == LearnedRows::Graphs && LearnedRows::from_artifact(artifact).is_none() {
                OF_GRAPHS
            } else {
                ""
            };
        format!("{prefix}{name}")
    }
}

/// The columns of that table that can be learned, in its order.
pub fn learnable(artifact: &Artifact, rows: LearnedRows) -> Result<Vec<String>, StageError> {
    let (_, schema): (u64, Arc<Schema>) = describe(&artifact.file(rows.file()))?;
    let names = schema
        .fields()
        .iter()
        .filter(|field| is_learnable(field.data_type()))
        .map(|field| field.name().clone());
    Ok(names.filter(|name| name == LABEL || !NODE_COLUMNS.contains(&name.as_str())).collect())
}

fn is_learnable(found: &DataType) -> bool {
    match found {
        DataType::Boolean | DataType::Utf8 | DataType::Float32 | DataType::Float64 => true,
        DataType::FixedSizeList(item, _) => *item.data_type() == DataType::Float32,
        other => other.is_integer(),
    }
}

/// Reads a column of `learnable`.
pub fn read_learned(
    artifact: &Artifact,
    rows: LearnedRows,
    name: &str,
    whole_numbers: WholeNumbers,
) -> Result<Learned, StageError> {
    let path = artifact.file(rows.file());
    let table = read_table(&path, Some(&[name]))?;
    let column = table.column(name).ok_or_else(|| {
        StageError::damaged(&path, format!("expected a column `{name}`, found none"))
    })?;
    decode_column(column, whole_numbers).ok_or_else(|| {
        StageError::damaged(
            &path,
            format!("column `{name}`: {} cannot be learned", column.data_type()),
        )
    })
}

fn decode_column(column: &ArrayRef, whole_numbers: WholeNumbers) -> Option<Learned> {
    let values = |values: Vec<f32>| Learned { labels: Labels::Values(values), classes: Vec::new() };
    if let Some(words) = column.as_string_opt::<i32>() {
        return Some(classes(
            words
                .iter()
                .map(|word| word.filter(|word| !word.is_empty()).map(str::to_owned))
                .collect(),
        ));
    }
    if let Some(truths) = column.as_boolean_opt() {
        return Some(match whole_numbers {
            WholeNumbers::Classes => {
                let class = truths.iter().map(|truth| truth.map(u32::from)).collect();
                Learned {
                    labels: Labels::Classes(class),
                    classes: vec!["false".to_owned(), "true".to_owned()],
                }
            }
            WholeNumbers::Values => values(
                truths
                    .iter()
                    .map(|truth| truth.map_or(f32::NAN, |truth| f32::from(u8::from(truth))))
                    .collect(),
            ),
        });
    }
    if let Some(reals) = column.as_primitive_opt::<Float32Type>() {
        return Some(values(reals.iter().map(|real| real.unwrap_or(f32::NAN)).collect()));
    }
    if let Some(reals) = column.as_primitive_opt::<Float64Type>() {
        return Some(values(
            reals.iter().map(|real| real.map_or(f32::NAN, |real| real as f32)).collect(),
        ));
    }
    if let Some(rows) = column.as_fixed_size_list_opt() {
        let numbers = rows.values().as_primitive_opt::<Float32Type>()?;
        return Some(Learned {
            labels: Labels::Rows {
                columns: rows.value_length() as usize,
                values: numbers.values().to_vec(),
            },
            classes: Vec::new(),
        });
    }
    let whole = whole_numbers_of(column)?;
    Some(match whole_numbers {
        WholeNumbers::Classes => {
            classes(whole.into_iter().map(|number| number.filter(|number| *number >= 0)).collect())
        }
        WholeNumbers::Values => values(
            whole
                .into_iter()
                .map(|number| number.map_or(f32::NAN, |number| number as f32))
                .collect(),
        ),
    })
}

/// Classes by ascending name.
fn classes<T: Ord + Clone + ToString>(of_row: Vec<Option<T>>) -> Learned {
    let mut names: Vec<T> = of_row.iter().flatten().cloned().collect();
    names.sort_unstable();
    names.dedup();
    let place = |name: Option<T>| {
        name.and_then(|name| names.binary_search(&name).ok()).map(|place| place as u32)
    };
    Learned {
        labels: Labels::Classes(of_row.into_iter().map(place).collect()),
        classes: names.iter().map(T::to_string).collect(),
    }
}

/// Integers of any width.
fn whole_numbers_of(column: &ArrayRef) -> Option<Vec<Option<i128>>> {
    macro_rules! of {
        ($($kind:ty),*) => {$(
            if let Some(numbers) = column.as_primitive_opt::<$kind>() {
                return Some(numbers.iter().map(|number| number.map(i128::from)).collect());
            }
        )*};
    }
    of!(Int64Type, UInt32Type, Int8Type, Int16Type, Int32Type, UInt8Type, UInt16Type, UInt64Type);
    None
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BooleanArray, Float64Array, Int64Array, StringArray, TimestampSecondArray, UInt64Array,
    };

    use super::*;

    fn taken(
        column: impl Array + 'static,
        whole_numbers: WholeNumbers,
    ) -> Option<(Labels, Vec<String>)> {
        let column: ArrayRef = Arc::new(column);
        decode_column(&column, whole_numbers).map(|learned| (learned.labels, learned.classes))
    }

    fn named(class: &[Option<u32>], names: &[&str]) -> Option<(Labels, Vec<String>)> {
        Some((
            Labels::Classes(class.to_vec()),
            names.iter().map(|name| (*name).to_owned()).collect(),
        ))
    }

    #[test]
    fn words_and_whole_numbers_are_classes_in_their_order() {
        let words = StringArray::from(vec![Some("b"), None, Some("a"), Some(""), Some("b")]);
        assert_eq!(
            taken(words, WholeNumbers::Values),
            named(&[Some(1), None, Some(0), None, Some(1)], &["a", "b"])
        );
        let years = || Int64Array::from(vec![Some(2010), Some(-1), None, Some(999), Some(2010)]);
        assert_eq!(
            taken(years(), WholeNumbers::Classes),
            named(&[Some(1), None, None, Some(0), Some(1)], &["999", "2010"])
        );
        assert_eq!(
            taken(UInt64Array::from(vec![u64::MAX, 0]), WholeNumbers::Classes),
            named(&[Some(1), Some(0)], &["0", "18446744073709551615"])
        );
        let truths = || BooleanArray::from(vec![Some(true), None]);
        assert_eq!(
            taken(truths(), WholeNumbers::Classes),
            named(&[Some(1), None], &["false", "true"])
        );
    }

    #[test]
    fn numbers_are_values_and_what_is_none_is_not_a_number() {
        let values = |column: Option<(Labels, Vec<String>)>| match column {
            Some((Labels::Values(values), classes)) if classes.is_empty() => {
                values.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
            }
            other => panic!("expected values, found {other:?}"),
        };
        assert_eq!(
            values(taken(Float64Array::from(vec![Some(0.5), None]), WholeNumbers::Classes)),
            "0.5 NaN"
        );
        assert_eq!(
            values(taken(Int64Array::from(vec![Some(-3), None]), WholeNumbers::Values)),
            "-3 NaN"
        );
        assert_eq!(
            values(taken(
                BooleanArray::from(vec![Some(true), Some(false), None]),
                WholeNumbers::Values
            )),
            "1 0 NaN"
        );
        assert_eq!(taken(TimestampSecondArray::from(vec![1]), WholeNumbers::Classes), None);
    }
}
