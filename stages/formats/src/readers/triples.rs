//! Triples of knowledge graphs: `train`, `valid` and `test` with `head relation tail` in words, or
//! the numbered form of OpenKE.
//!
//! promises  edges are the statements of the parts that `parts` names, by default those to train
//!           on, in that order; nodes and relations are those of all parts, so that they are the
//!           same whatever is chosen; head to tail, directed
//! promises  both forms give one graph: nodes and relations go by the bytes of their names; the
//!           number of a node in entity2id is the column `number`
//! reads     words: three columns divided by tabs; numbers: `train2id.txt` and so on with `head
//!           tail relation` behind a line with their number, `entity2id.txt` and `relation2id.txt`;
//!           packed or not, or all in a tar or zip archive
//! promises  parts whose statements are no edges are named as passed over
//! promises  a file of types of entities beside them (`entity2type.txt` with `ENTITY TYPE`, or the
//!           one that `types` names) is told, not made use of
//! promises  edges beyond a share of the limit go to a file (out_of_core.rs)
//! limits    65,535 relations; memory: each distinct word twice, and 10 bytes a statement as far as
//!           the limit goes; of the numbered form one file of numbers, 12 bytes a statement
//! source    A. Bordes et al., Translating Embeddings for Modeling Multi-relational Data (2013);
//!           github.com/thunlp/OpenKE
mod entity_types;
mod id_files;
mod split_files;

use super::edge_list;
use crate::{
    containers::bundle::{Bundle, file_name, list_unread},
    detect::file_heads::{FileHeads, names_in_archive},
    format::Format,
    options::{Options, TriplePart},
    out_of_core::{Limit, LoadedGraph},
    raw_graph::RawGraph,
    read_error::{Read, ReadError},
    text::{
        lines::{LineFault, split_lines},
        number_table::{TableNumber, words},
        numbers::looks_like_number,
        statements::{Spellings, StatementLines, Statements},
        tab_cells::split_tabs,
    },
};
use split_files::{missing_file_error, part_name};
use std::path::{Path, PathBuf};

/// Triples.
pub const FORMAT: Format = Format {
    name: "triples",
    about: "knowledge graphs: train, valid and test with head, relation, tail; or train2id.txt, \
            entity2id.txt, ...",
    recognise,
    read_within,
};

/// The part that a file of words is by its name.
fn part_of(name: &str) -> Option<TriplePart> {
    let name = file_name(name);
    let stem = name
        .strip_suffix(".txt")
        .or(name.strip_suffix(".tsv"))
        .filter(|_| !entity_types::is_type_file(name))?;
    match stem.rsplit(['-', '_', '.']).next().unwrap_or(stem) {
        "train" => Some(TriplePart::Train),
        "valid" | "val" | "dev" => Some(TriplePart::Valid),
        "test" => Some(TriplePart::Test),
        _ => None,
    }
}

/// The numbered form; else words of at least two parts, each with a table of types; else an archive
/// with one of these.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let with_types = |files: Vec<PathBuf>| {
        let types = look
            .files()
            .filter(|(_, name)| entity_types::is_type_file(name))
            .map(|(path, _)| path.to_path_buf());
        Some(files.into_iter().chain(types).collect())
    };
    let of_name = |is: &dyn Fn(&str) -> bool| {
        look.files()
            .filter(|(_, name)| is(name))
            .map(|(path, _)| path.to_path_buf())
            .collect::<Vec<PathBuf>>()
    };
    let numbered_train = of_name(&|name| id_files::is_file_of(name, "train"));
    if numbered_train.iter().any(|path| is_numbered(look.head(path))) {
        return with_types(of_name(&id_files::is_id_file));
    }
    let parts: Vec<PathBuf> = look
        .files()
        .filter(|(path, name)| part_of(name).is_some() && is_words(look.head(path)))
        .map(|(path, _)| path.into())
        .collect();
    let has_train = look.files().any(|(path, name)| {
        part_of(name) == Some(TriplePart::Train) && parts.iter().any(|part| part == path)
    });
    let alone = |path: &PathBuf| are_surely_statements(look.head(path));
    if has_train && (parts.len() > 1 || parts.iter().all(alone)) {
        return with_types(parts);
    }
    let holds = |path: &Path| {
        names_in_archive(look, path).iter().any(|name| {
            part_of(name) == Some(TriplePart::Train) || id_files::is_file_of(name, "train")
        })
    };
    look.files()
        .find(|(path, _)| holds(path) && look.sound(holds_triples(path)) == Some(true))
        .map(|(path, _)| vec![path.to_path_buf()])
}

/// Whether an archive has a set of triples in it.
fn holds_triples(path: &Path) -> Read<bool> {
    let bundle = Bundle::open(&[path.to_path_buf()])?;
    let parts = bundle.names().filter(|(_, name)| part_of(name).is_some()).count();
    for (index, name) in bundle.names() {
        let is_train = part_of(name) == Some(TriplePart::Train) && parts > 1;
        if id_files::is_file_of(name, "train")
            || is_train && is_words(bundle.text(index)?.lines()?.first())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether text begins with a line of three words with tabs between.
fn is_words(head: &[u8]) -> bool {
    let line = split_lines(head).next().map_or(&[][..], |(_, line)| line);
    line.split(|&byte| byte == b'\t').filter(|word| !word.is_empty()).count() == 3
        && line.iter().filter(|&&byte| byte == b'\t').count() == 2
}

/// Whether text is statements also by itself: a third column of numbers may be weights, and a first
/// line may name the columns.
fn are_surely_statements(head: &[u8]) -> bool {
    let lines = || {
        split_lines(head).filter(|(_, line)| !line.is_empty()).filter_map(|(_, line)| {
            <[&[u8]; 3]>::try_from(line.split(|&byte| byte == b'\t').collect::<Vec<_>>()).ok()
        })
    };
    let Some(first) = lines().next() else { return false };
    let between_numbers = [first[0], first[2]].iter().all(|word| looks_like_number(word))
        && !looks_like_number(first[1]);
    let is_tail = edge_list::third_column::ThirdColumn::from_fields(first)
        == edge_list::third_column::ThirdColumn::Tail
        || between_numbers && edge_list::third_column::are_statements(lines());
    is_tail && !edge_list::header::names_statements(head)
}

/// Whether text begins with a number and then three.
fn is_numbered(head: &[u8]) -> bool {
    let mut counts = split_lines(head)
        .take(2)
        .map(|(_, line)| words(line).filter(|(_, word)| u32::read(word).is_some()).count());
    (counts.next(), counts.next()) == (Some(1), Some(3))
}

/// Reads either form.
pub fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    read_within(files, options, &Limit::none()).map(|loaded| loaded.graph)
}

fn read_within(files: &[PathBuf], options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let bundle = Bundle::open(files)?;
    let wanted =
        if options.parts.is_empty() { vec![TriplePart::Train] } else { sort_parts(&options.parts) };
    let LoadedGraph { mut graph, spilled } =
        match bundle.names().any(|(_, name)| id_files::is_id_file(name)) {
            true => id_files::read(&bundle, &wanted, limit)?,
            false => read_words(&bundle, options, &wanted, limit)?,
        };
    entity_types::fill_types(&bundle, options, &mut graph)?;
    let is_there = |part: TriplePart| {
        bundle.names().any(|(_, name)| {
            part_of(name) == Some(part) || id_files::is_file_of(name, part_name(part))
        })
    };
    let left: Vec<&str> = [TriplePart::Train, TriplePart::Valid, TriplePart::Test]
        .into_iter()
        .filter(|part| !wanted.contains(part) && is_there(*part))
        .map(part_name)
        .collect();
    if !left.is_empty() {
        let wanted: Vec<&str> = wanted.into_iter().map(part_name).collect();
        let what = format!(
            "statements of {}: edges are those of {}, because tasks of links come later ( read: \
             {{parts: [train, valid, test]}}  in an entry takes all)",
            left.join(" and "),
            wanted.join(" and ")
        );
        graph.passed_over.push(what);
    }
    graph.passed_over.extend(list_unread(&bundle, |name| {
        [TriplePart::Train, TriplePart::Valid, TriplePart::Test]
            .into_iter()
            .any(|part| part_of(name) == Some(part) || id_files::is_file_of(name, part_name(part)))
    }));
    Ok(LoadedGraph { graph, spilled })
}

fn read_words(
    bundle: &Bundle,
    options: &Options,
    wanted: &[TriplePart],
    limit: &Limit,
) -> Read<LoadedGraph> {
    let mut texts = bundle
        .names()
        .filter(|(_, name)| !entity_types::is_chosen_type_file(name, options))
        .map(|(index, _)| index);
    let alone = texts.next().filter(|_| texts.next().is_none());
    let path = bundle.names().next().map_or(Path::new(""), |(index, _)| bundle.path(index));
    let mut statements = Statements::new(limit);
    for part in [TriplePart::Train, TriplePart::Valid, TriplePart::Test] {
        let found = match alone {
            Some(only) => Some(only).filter(|_| part == TriplePart::Train),
            None => bundle.find_one(&format!("the part `{}`", part_name(part)), |name| {
                part_of(name) == Some(part)
            })?,
        };
        let is_wanted = wanted.contains(&part);
        match found {
            Some(index) => {
                let lines = bundle.text(index)?.lines()?;
                refuse_names(bundle.path(index), lines.first())?;
                statements.read(lines, is_wanted, parse)?;
            }
            None if is_wanted => {
                return Err(missing_file_error(bundle, &format!("{}.txt", part_name(part))));
            }
            None => {}
        }
    }
    let found = statements.build()?;
    if found.graph.ids.is_empty() {
        return Err(Box::new(
            ReadError::new(path, "the set holds no statement")
                .expected("at least one line  HEAD RELATION TAIL", "none"),
        ));
    }
    Ok(found)
}

/// A first line that names the columns is no statement.
fn refuse_names(path: &Path, first: &[u8]) -> Read<()> {
    if !edge_list::header::names_statements(first) {
        return Ok(());
    }
    let error = ReadError::new(
        path,
        "the first line names the columns, and statements are expected from the first line on",
    )
    .at_line(1, 1, first);
    let found = format!("`{}`", String::from_utf8_lossy(first.trim_ascii()));
    Err(Box::new(
        error
            .expected("HEAD, RELATION and TAIL with tabs between", found)
            .hint("take that line out:  sed -i 1d FILE"),
    ))
}

/// Training first; each part once.
fn sort_parts(parts: &[TriplePart]) -> Vec<TriplePart> {
    let mut parts = parts.to_vec();
    parts.sort();
    parts.dedup();
    parts
}

/// Parses whole lines of words.
fn parse(text: &[u8]) -> Result<StatementLines, LineFault> {
    let (mut nodes, mut relations) = (Spellings::new(), Spellings::new());
    let mut triples = Vec::new();
    for (start, line) in split_lines(text) {
        if line.is_empty() {
            continue;
        }
        let mut cells = split_tabs(start, line);
        let mut next = |what: &str| match cells.next() {
            Some((at, cell)) if !cell.is_empty() => Ok((at, cell)),
            Some((at, _)) => Err(LineFault::new(at, format!("a statement has an empty {what}"))
                .expected("HEAD, RELATION and TAIL with tabs between", b"")),
            None => {
                let fault =
                    LineFault::new(start + line.len(), format!("a statement has no {what}"))
                        .expected("HEAD, RELATION and TAIL with tabs between", line);
                Err(fault.hint(
                    "columns are divided by tabs; with blanks between, convert the file:  tr ' ' \
                     '\\t' < FILE > NEW",
                ))
            }
        };
        let (head, relation, tail) = (next("head")?, next("relation")?, next("tail")?);
        if let Some((at, cell)) = cells.next() {
            return Err(LineFault::new(at, "a statement has more than three columns")
                .expected("the end of the line", cell));
        }
        let word = |(at, cell): (usize, &[u8])| match std::str::from_utf8(cell) {
            Ok(word) => Ok(word.to_owned()),
            Err(_) => Err(LineFault::new(at, "a name is not UTF-8")
                .expected("text in UTF-8", cell)
                .hint("convert the file with  iconv")),
        };
        let source = nodes.number(head.1, || word(head))?;
        let relation = relations.number(relation.1, || word(relation))?;
        triples.push([source, relation, nodes.number(tail.1, || word(tail))?]);
    }
    Ok(StatementLines { nodes: nodes.words, relations: relations.words, triples })
}

#[cfg(test)]
mod tests;
