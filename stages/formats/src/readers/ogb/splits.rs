//! `split/NAME/{train, valid, test}.csv`: rows of nodes or graphs, one a line.
//!
//! promises  one split a folder, by ascending name; a row in two parts, or twice in one, is an
//!           error
use super::table_names::table_name;
use crate::{
    containers::bundle::Bundle,
    raw_graph::{IN_NO_PART, TEST, TRAIN, VALIDATION},
    read_error::Read,
    text::number_table::NumberTable,
};
use std::collections::BTreeMap;

/// The part of a split that a table of this name lists.
pub(super) fn part_of(table: &str) -> Option<u8> {
    match table {
        "train" => Some(TRAIN),
        "valid" => Some(VALIDATION),
        "test" => Some(TEST),
        _ => None,
    }
}

/// All splits of `rows` rows, which are nodes or graphs.
pub(super) fn read(bundle: &Bundle, rows: usize, what: &str) -> Read<Vec<Vec<u8>>> {
    let mut folders: BTreeMap<&str, Vec<(u8, usize)>> = BTreeMap::new();
    for (index, name) in bundle.names() {
        if let Some(part) = table_name(name).and_then(part_of) {
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            folders.entry(folder).or_default().push((part, index));
        }
    }
    folders.into_values().map(|parts| read_split(bundle, &parts, rows, what)).collect()
}

fn read_split(bundle: &Bundle, parts: &[(u8, usize)], rows: usize, what: &str) -> Read<Vec<u8>> {
    let mut split = vec![IN_NO_PART; rows];
    for &(part, index) in parts {
        let table: NumberTable<u32> =
            NumberTable::read(bundle.text(index)?, "rows of the split", Some(1))?;
        for (row, &member) in table.values.iter().enumerate() {
            match split.get_mut(member as usize) {
                None => {
                    let error =
                        table.error(row, format!("the split lists a {what} that does not exist"));
                    return Err(Box::new(error.expected(
                        format!("a {what} from 0 to {}", rows.saturating_sub(1)),
                        member.to_string(),
                    )));
                }
                Some(free @ &mut IN_NO_PART) => *free = part,
                Some(_) => {
                    let error = table.error(row, format!("the split lists a {what} twice"));
                    return Err(Box::new(
                        error.expected(format!("each {what} in one part"), member.to_string()),
                    ));
                }
            }
        }
    }
    Ok(split)
}
