//! What arrays say of nodes: labels, features, splits.
//!
//! promises  the i-th row is the i-th node; a row too many or too few is an error with both numbers
//! never     guesses classes from numbers that are not whole
use super::Array;
use crate::{
    raw_graph::{Features, IN_NO_PART, Labels, NO_CLASS, TEST, TRAIN, VALIDATION, refuse_infinite},
    read_error::{Read, ReadError},
};
use std::fmt::Display;

/// Labels: whole numbers or words are classes, other numbers are values; several in a row are rows
/// of values. Negative numbers and NaN are no label; classes are named by their numbers, ascending,
/// or by their words.
pub fn labels(array: &Array) -> Read<Labels> {
    let (rows, columns) = array.rows()?;
    if columns != 1 && rows > 0 {
        let columns = u32::try_from(columns)
            .map_err(|_| Box::new(array.error("a label has more than 2^32 columns")))?;
        return Ok(Labels::Rows { columns, values: array.f32s()? });
    }
    if array.is_text() {
        return Ok(classes(array.words()?, |word| !word.is_empty()));
    }
    let values = array.f64s()?;
    if values.iter().all(|value| value.is_nan() || value.fract() == 0.0) {
        // NaN becomes a negative number, which is no class.
        let some_are_none = values.iter().any(|value| value.is_nan());
        let whole = if some_are_none {
            values.iter().map(|&value| if value.is_nan() { -1 } else { value as i64 }).collect()
        } else {
            array.i64s()?
        };
        return Ok(classes(whole, |&class| class >= 0));
    }
    Ok(Labels::Values(array.f32s()?))
}

/// Classes of names, in ascending order of the names.
pub fn classes<T: Ord + Clone + Display>(of_node: Vec<T>, is_one: impl Fn(&T) -> bool) -> Labels {
    let mut names: Vec<T> = of_node.iter().filter(|name| is_one(name)).cloned().collect();
    names.sort_unstable();
    names.dedup();
    let class = of_node
        .iter()
        .map(|name| {
            if is_one(name) {
                names.binary_search(name).map_or(NO_CLASS, |class| class as u32)
            } else {
                NO_CLASS
            }
        })
        .collect();
    Labels::Classes { class, names: names.iter().map(T::to_string).collect() }
}

/// Classes that have names of their own, in the order of these names: labels are their positions.
pub fn named_classes(labels: &Array, names: &Array) -> Read<Labels> {
    let (count, _) = names.rows()?;
    let class = labels.i64s()?;
    if let Some(far) = class.iter().position(|&class| class >= count as i64) {
        let error = labels.error(format!("value {far} is a class without a name"));
        return Err(Box::new(
            error.expected(format!("at most {}", count as i64 - 1), class[far].to_string()),
        ));
    }
    let class = class.into_iter().map(|class| u32::try_from(class).unwrap_or(NO_CLASS)).collect();
    Ok(Labels::Classes { class, names: names.words()? })
}

/// Features: a row of finite numbers a node, all stored.
pub fn features(array: &Array) -> Read<Features> {
    let (_, columns) = array.rows()?;
    let values = array.f32s()?;
    refuse_infinite(
        &values,
        |at| (at / columns.max(1), at % columns.max(1)),
        |what| array.error(what),
    )?;
    let columns = u32::try_from(columns)
        .map_err(|_| Box::new(array.error("a row has more than 2^32 numbers")))?;
    Ok(Features::Dense { columns, values })
}

/// What to do about rows that are too many or too few.
pub const ROWS_HINT: &str = "write one row for each, in their order; do both belong to one graph?";

/// Checks that an array has a row for each node.
pub fn expect_rows(array: &Array, nodes: usize) -> Read<()> {
    expect_rows_of(array, nodes, "node")
}

/// Checks that an array has a row for each of so many nodes or edges.
pub fn expect_rows_of(array: &Array, count: usize, of: &str) -> Read<()> {
    let (rows, _) = array.rows()?;
    if rows == count {
        return Ok(());
    }
    let error = array
        .error(format!("an array does not have a row for each {of}"))
        .expected(format!("{count} rows"), rows.to_string());
    Err(Box::new(error.hint(ROWS_HINT)))
}

/// Split and node of a value, from its place, the number of splits and that of nodes.
type Placing = fn(usize, usize, usize) -> (usize, usize);

/// Splits from masks, each one row or several (one a split; either extent may be the nodes), for
/// training, validation and test.
pub fn splits_of_masks(masks: [Option<&Array>; 3], nodes: usize) -> Read<Vec<Vec<u8>>> {
    let mut splits: Vec<Vec<u8>> = Vec::new();
    for (mask, part) in masks.into_iter().zip([TRAIN, VALIDATION, TEST]) {
        let Some(mask) = mask else { continue };
        let (count, of_split): (usize, Placing) = match mask.shape[..] {
            [only] if only == nodes as u64 => (1, |at, _, _| (0, at)),
            [count, all] if all == nodes as u64 => {
                (count as usize, |at, _, nodes| (at / nodes, at % nodes))
            }
            [all, count] if all == nodes as u64 => {
                (count as usize, |at, count, _| (at % count, at / count))
            }
            _ => {
                let error = mask.error("a mask does not have a value for each node");
                return Err(Box::new(error.expected(
                    format!("{nodes}, or {nodes} for each split"),
                    format!("the shape {:?}", mask.shape),
                )));
            }
        };
        let values = mask.bools()?;
        if splits.is_empty() && !values.is_empty() {
            splits = vec![vec![IN_NO_PART; nodes]; count];
        }
        if splits.len() != count && !values.is_empty() {
            return Err(Box::new(
                mask.error("masks differ in their number of splits")
                    .expected(splits.len().to_string(), count.to_string()),
            ));
        }
        for at in values.iter().enumerate().filter_map(|(at, &is_in)| is_in.then_some(at)) {
            let (split, node) = of_split(at, count, nodes);
            put(&mut splits[split][node], part).map_err(|other| {
                two_parts_error(mask, node, other, part, &format!(" of split {split}"))
            })?;
        }
    }
    Ok(splits)
}

/// One split from lists of nodes for training, validation and test.
pub fn split_of_lists(lists: [Option<&Array>; 3], nodes: usize) -> Read<Vec<u8>> {
    let mut split = vec![IN_NO_PART; nodes];
    for (list, part) in lists.into_iter().zip([TRAIN, VALIDATION, TEST]) {
        let Some(list) = list else { continue };
        for node in list.rows_below(nodes as u64)? {
            put(&mut split[node as usize], part)
                .map_err(|other| two_parts_error(list, node as usize, other, part, ""))?;
        }
    }
    Ok(split)
}

/// The error of a node that two masks or lists have.
fn two_parts_error(array: &Array, node: usize, there: u8, here: u8, of: &str) -> Box<ReadError> {
    let name = |part: u8| ["no part", "train", "validation", "test"][usize::from(part.min(TEST))];
    let error = array.error(format!("node {node} is in two parts{of}"));
    let error = error.expected(
        format!("each node in one part at most: it is in {} already", name(there)),
        format!("it is in {} too", name(here)),
    );
    Box::new(
        error.hint(
            "let masks and lists have no node in common, for example  val_mask &= ~train_mask",
        ),
    )
}

/// Puts a node into a part, once; the same part again does no harm, and another one comes back.
fn put(slot: &mut u8, part: u8) -> Result<(), u8> {
    if *slot != IN_NO_PART && *slot != part {
        return Err(*slot);
    }
    *slot = part;
    Ok(())
}

/// Splits from codes: 0 in no part, 1 training, 2 validation, 3 test; several columns are several
/// splits.
pub fn splits_of_codes(array: &Array) -> Read<Vec<Vec<u8>>> {
    let (_, columns) = array.rows()?;
    let codes = array.rows_below(4)?;
    Ok((0..columns)
        .map(|split| {
            codes.iter().skip(split).step_by(columns.max(1)).map(|&code| code as u8).collect()
        })
        .collect())
}
