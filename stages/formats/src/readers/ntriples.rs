//! N-Triples: a statement a line, `<source> <relation> <target> .`, with classes and splits of some
//! nodes in tables beside it.
//!
//! promises  nodes are the distinct subjects and objects, by the bytes of their text: IRIs bare,
//!           `_:name`, literals in quotes with `@language` or `^^type` behind; escapes are
//!           resolved, so that one term has one node however it is spelled
//! promises  `completeDataset*.tsv`, `trainingSet*.tsv` and `testSet*.tsv` (a header with
//!           `label...`) give classes and a split; what they name is a node even if no statement
//!           does; whole numbers as labels are the same with `.0`
//! reads     comments, empty lines, several files, gzip, zstd, or an archive with them
//! never     treats a relation that tells the label by itself: `drop_relations` names those that
//!           are to be read as if they were not there
//! promises  edges beyond a share of the limit go to a file (out_of_core.rs)
//! limits    65,535 relations; memory: each distinct term twice, and 10 bytes a statement as far as
//!           the limit goes
//! format    W3C, RDF 1.1 N-Triples; sets: P. Ristoski et al., A Collection of Benchmark Datasets
//!           for Systematic Evaluations of Machine Learning on the Semantic Web (2016), literals as
//!           nodes as in M. Schlichtkrull et al., Modeling Relational Data with Graph Convolutional
//!           Networks (2018)
mod label_tables;
mod terms;

use crate::{
    containers::bundle::{Bundle, file_name, list_unread},
    detect::file_heads::{FileHeads, names_in_archive},
    format::Format,
    options::{Literals, Options},
    out_of_core::{Limit, LoadedGraph},
    raw_graph::RawGraph,
    read_error::{Read, ReadError},
    text::{
        lines::{LineFault, split_lines},
        statements::{Spellings, StatementLines, Statements},
    },
};
use std::path::{Path, PathBuf};
use terms::{TermKind, Terms};

/// The relation that gives a term its type, in RDF.
pub const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// N-Triples.
pub const FORMAT: Format = Format {
    name: "ntriples",
    about: "RDF as N-Triples, with trainingSet.tsv and testSet.tsv beside it",
    recognise,
    read_within,
};

/// All files `.nt` that begin with a statement, and the tables of labels; else an archive with such
/// a file.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let texts = look
        .ending(".nt")
        .into_iter()
        .filter(|path| is_statement(look.head(path)))
        .map(PathBuf::from);
    let mut files: Vec<PathBuf> = texts.collect();
    if files.is_empty() {
        let holds = |path: &Path| {
            names_in_archive(look, path)
                .iter()
                .any(|name| name.ends_with(".nt") || name.ends_with(".nt.gz"))
        };
        return look
            .files()
            .find(|(path, _)| holds(path))
            .map(|(path, _)| vec![path.to_path_buf()]);
    }
    files.extend(
        look.files()
            .filter(|(_, name)| label_tables::part_of(name).is_some())
            .map(|(path, _)| path.to_path_buf()),
    );
    Some(files)
}

/// Whether the first line that is none of comment and blank begins like a statement.
fn is_statement(head: &[u8]) -> bool {
    let mut lines = split_lines(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head))
        .map(|(_, line)| line.trim_ascii_start());
    lines
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .is_some_and(|line| line.starts_with(b"<") || line.starts_with(b"_:"))
}

/// Reads the statements and the tables.
pub fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    read_within(files, options, &Limit::none()).map(|loaded| loaded.graph)
}

fn read_within(files: &[PathBuf], options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let bundle = Bundle::open(files)?;
    let first = files.first().cloned().unwrap_or_default();
    let mut statements = Statements::new(limit);
    let mut texts = 0;
    for (index, name) in bundle.names() {
        let is_table = label_tables::part_of(file_name(name)).is_some();
        if is_table || files.len() != bundle.names().count() && !name.ends_with(".nt") {
            continue;
        }
        texts += 1;
        statements.read(bundle.text(index)?.lines()?, true, |piece| parse(piece, options))?;
    }
    if texts == 0 {
        return Err(Box::new(
            ReadError::new(&first, "no file with statements was given")
                .expected("a file  NAME.nt", "none"),
        ));
    }
    let labelled = label_tables::read(&bundle, options)?;
    if let Some(labelled) = &labelled {
        labelled.entities().for_each(|entity| statements.add_node(entity));
    }
    let LoadedGraph { mut graph, spilled } = statements.build()?;
    if graph.ids.is_empty() {
        return Err(Box::new(
            ReadError::new(&first, "the file holds no statement")
                .expected("at least one line  <SOURCE> <RELATION> <TARGET> .", "none"),
        ));
    }
    if let Some(labelled) = labelled {
        labelled.put(&mut graph);
    }
    graph.passed_over.extend(list_unread(&bundle, |_| false));
    Ok(LoadedGraph { graph, spilled })
}

/// Parses whole lines.
fn parse(text: &[u8], options: &Options) -> Result<StatementLines, LineFault> {
    let (mut nodes, mut relations) = (Spellings::new(), Spellings::new());
    let mut dropped: Vec<bool> = Vec::new();
    let mut triples = Vec::new();
    for (start, line) in split_lines(text) {
        let behind = |fault: LineFault| LineFault { byte: fault.byte + start, ..fault };
        let mut terms = Terms::new(line);
        if terms.at_end() {
            continue;
        }
        let (subject, predicate, object) = terms.statement().map_err(behind)?;
        // A relation that is to be dropped is still known by its spelling, so that its name is
        // looked at once a piece.
        let relation = relations.number(predicate.spelling, || predicate.word()).map_err(behind)?;
        if relation as usize == dropped.len() {
            dropped.push(is_dropped(&relations.words[relation as usize], &options.drop_relations));
        }
        if dropped[relation as usize]
            || options.literals == Literals::Drop && object.kind == TermKind::Literal
        {
            object.word().map_err(behind)?;
            continue;
        }
        let source = nodes.number(subject.spelling, || subject.word()).map_err(behind)?;
        let target = nodes.number(object.spelling, || object.word()).map_err(behind)?;
        triples.push([source, relation, target]);
    }
    Ok(drop_unused(StatementLines { nodes: nodes.words, relations: relations.words, triples }))
}

/// Whether a relation is named, whole or by its last step.
fn is_dropped(name: &str, dropped: &[String]) -> bool {
    dropped.iter().any(|wanted| wanted == name || wanted == last_step(name))
}

/// What follows the last `#` or `/` of a name.
pub fn last_step(name: &str) -> &str {
    name.rsplit(['#', '/']).next().unwrap_or(name)
}

/// Whether a node of such a set is a literal: no other begins with a quote.
pub fn is_literal(word: &str) -> bool {
    word.starts_with('"')
}

/// Takes out relations of which no statement is left.
fn drop_unused(mut piece: StatementLines) -> StatementLines {
    let mut used = vec![false; piece.relations.len()];
    piece.triples.iter().for_each(|triple| used[triple[1] as usize] = true);
    if used.iter().all(|&used| used) {
        return piece;
    }
    let place_of = |next: &mut u32, &used: &bool| {
        let place = *next;
        *next += u32::from(used);
        Some(place)
    };
    let place: Vec<u32> = used.iter().scan(0, place_of).collect();
    piece.triples.iter_mut().for_each(|triple| triple[1] = place[triple[1] as usize]);
    let mut used = used.into_iter();
    piece.relations.retain(|_| used.next().unwrap_or(false));
    piece
}

#[cfg(test)]
mod tests;
