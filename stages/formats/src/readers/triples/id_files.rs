//! The numbered form of OpenKE: `entity2id.txt` and `relation2id.txt` name what the statements
//! count.
//!
//! promises  numbers are 0, 1, 2, ... each once, in any order of lines; the line with their number
//!           agrees with what follows
use super::split_files::{missing_file_error, part_name};
use crate::{
    containers::bundle::{Bundle, file_name},
    options::TriplePart,
    out_of_core::{EdgeSink, Limit, LoadedGraph},
    raw_graph::{Column, Edges, NODES_MOST, NodeIds, RawGraph},
    read_error::{Read, ReadError},
    text::{
        lines::{LineFault, TextLines, split_lines},
        number_table::{NumberTable, TableNumber},
    },
};
use std::path::PathBuf;

/// So many relations have numbers in 16 bits, with one to spare.
const RELATIONS_MOST: usize = u16::MAX as usize;
/// Statements that are handed on together.
const STATEMENTS_AT_ONCE: usize = 1 << 18;
const FILES: [&str; 5] = ["train", "valid", "test", "entity", "relation"];

pub(super) fn is_file_of(name: &str, file: &str) -> bool {
    file_name(name).strip_suffix("2id.txt") == Some(file)
}

pub(super) fn is_id_file(name: &str) -> bool {
    FILES.iter().any(|file| is_file_of(name, file))
}

/// Names in ascending order, and for each number its place there.
struct IdNames {
    path: PathBuf,
    words: Vec<String>,
    place: Vec<u32>,
}

pub(super) fn read(bundle: &Bundle, wanted: &[TriplePart], limit: &Limit) -> Read<LoadedGraph> {
    let entities = names(bundle, "entity", NODES_MOST as usize)?;
    let relations = names(bundle, "relation", RELATIONS_MOST)?;
    let mut sink = EdgeSink::new(limit);
    for &part in wanted {
        add(bundle, part_name(part), &entities, &relations, &mut sink)?;
    }
    let (mut edges, spilled) = sink.finish()?;
    if spilled.is_none() {
        edges.relation.get_or_insert_default();
    }
    let mut ids: Vec<Option<i64>> = vec![None; entities.words.len()];
    entities.place.iter().zip(0..).for_each(|(&row, number)| ids[row as usize] = Some(number));
    let columns = vec![("number".into(), Column::Integers(ids))];
    let ids = NodeIds::Strings(entities.words);
    Ok(LoadedGraph {
        graph: RawGraph {
            ids,
            edges,
            directed: Some(true),
            columns,
            relations: relations.words,
            ..RawGraph::default()
        },
        spilled,
    })
}

fn open<'a>(bundle: &'a Bundle, file: &str) -> Read<(TextLines<'a>, u32)> {
    let index = bundle
        .find_one(&format!("`{file}2id`"), |name| is_file_of(name, file))?
        .ok_or_else(|| missing_file_error(bundle, &format!("{file}2id.txt")))?;
    let lines = bundle.text(index)?.lines()?;
    match u32::read(lines.first().trim_ascii()) {
        Some(count) => Ok((lines.skip_first()?, count)),
        None => {
            let fault =
                LineFault::new(0, format!("{file}2id does not begin with the number of its lines"));
            Err(lines.fault(&fault.expected(u32::EXPECTED, lines.first())))
        }
    }
}

fn disagrees(path: &std::path::Path, claimed: u32, found: usize) -> Box<ReadError> {
    let error = ReadError::new(path, "the first line says another number of lines than follow")
        .at_line(1, 1, claimed.to_string().as_bytes());
    Box::new(
        error
            .expected(format!("{claimed} lines"), found.to_string())
            .hint("download it again: remove the file, then  warploom data fetch"),
    )
}

fn add(
    bundle: &Bundle,
    part: &str,
    entities: &IdNames,
    relations: &IdNames,
    sink: &mut EdgeSink,
) -> Read<()> {
    let (lines, claimed) = open(bundle, part)?;
    let table: NumberTable<u32> = NumberTable::read_lines(lines, 1, "statements", Some(3))?;
    if table.rows() != claimed as usize {
        return Err(disagrees(table.path(), claimed, table.rows()));
    }
    let place = |names: &IdNames, row: usize, number: u32| {
        names.place.get(number as usize).copied().ok_or_else(|| {
            let error = table.error(
                row,
                format!("a statement has a number that `{}` does not name", names.path.display()),
            );
            let error = error.expected(
                format!("a number from 0 to {}", names.place.len().saturating_sub(1)),
                number.to_string(),
            );
            Box::new(error.hint("the order of columns is  HEAD TAIL RELATION"))
        })
    };
    for (block, triples) in table.values.chunks(3 * STATEMENTS_AT_ONCE).enumerate() {
        let (mut source, mut target, mut relation) = (Vec::new(), Vec::new(), Vec::new());
        for (triple, row) in triples.chunks_exact(3).zip(block * STATEMENTS_AT_ONCE..) {
            source.push(place(entities, row, triple[0])?);
            target.push(place(entities, row, triple[1])?);
            relation.push(place(relations, row, triple[2])? as u16);
        }
        sink.take(Edges { source, target, relation: Some(relation), ..Edges::default() });
        sink.settle()?;
    }
    Ok(())
}

/// Reads `NAME number` lines.
fn names(bundle: &Bundle, file: &str, most: usize) -> Read<IdNames> {
    let (lines, claimed) = open(bundle, file)?;
    let path = lines.path().to_path_buf();
    let mut found: Vec<(String, u32)> = Vec::new();
    lines.pieces(parse_names, |piece| {
        found.extend(piece);
        match found.len() > most {
            true => Err(LineFault::new(0, "here or soon behind, there are too many names")
                .expected(format!("at most {most}"), b"more")),
            false => Ok(()),
        }
    })?;
    if found.len() != claimed as usize {
        return Err(disagrees(&path, claimed, found.len()));
    }
    found.sort_unstable();
    if let Some(pair) = found.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(Box::new(
            ReadError::new(&path, "a name stands twice")
                .expected("names that differ", format!("`{}`", pair[0].0)),
        ));
    }
    let mut place = vec![u32::MAX; found.len()];
    for ((name, number), row) in found.iter().zip(0..) {
        match place.get_mut(*number as usize) {
            Some(free @ &mut u32::MAX) => *free = row,
            taken => {
                let what =
                    if taken.is_some() { "a number stands twice" } else { "a number is too large" };
                let error = ReadError::new(&path, what).expected(
                    format!("each number from 0 to {} once", found.len() - 1),
                    format!("`{name}` with {number}"),
                );
                return Err(Box::new(error));
            }
        }
    }
    Ok(IdNames { path, words: found.into_iter().map(|(name, _)| name).collect(), place })
}

fn parse_names(text: &[u8]) -> Result<Vec<(String, u32)>, LineFault> {
    let mut names = Vec::new();
    for (start, line) in split_lines(text).filter(|(_, line)| !line.is_empty()) {
        let end = line.trim_ascii_end();
        // The last column is the number: names may hold blanks.
        let split = end.iter().rposition(|byte| matches!(byte, b'\t' | b' '));
        let pair = split
            .and_then(|at| Some((end[..at].trim_ascii(), u32::read(&end[at + 1..])?)))
            .filter(|(name, _)| !name.is_empty());
        let Some((name, number)) = pair else {
            return Err(LineFault::new(start, "a line does not give a name its number")
                .expected("NAME NUMBER", line));
        };
        let name = std::str::from_utf8(name).map_err(|_| {
            LineFault::new(start, "a name is not UTF-8").expected("text in UTF-8", name)
        })?;
        names.push((name.to_owned(), number));
    }
    Ok(names)
}
