//! Tables of labelled entities beside the statements: tab-separated columns under a header.
//!
//! promises  the column that begins with `label` (or that the options name) is the label, the one
//!           that is neither a label nor `id` the entity
//! promises  an entity has one label and one part; what two files say of it must agree
use crate::{
    containers::{
        bundle::{Bundle, file_name},
        text_source::TextSource,
    },
    options::Options,
    raw_graph::{IN_NO_PART, Labels, NO_CLASS, NodeIds, RawGraph, TEST, TRAIN},
    read_error::{Read, ReadError},
    text::{
        lines::{LineFault, split_lines},
        tab_cells::split_bare_tabs,
    },
};
use std::collections::BTreeMap;

/// The part that the entities of a file belong to; none: all labels, without a part.
pub(super) fn part_of(name: &str) -> Option<u8> {
    // BGS has `trainingSet(lith).tsv` and the like.
    let parts = [("completeDataset", IN_NO_PART), ("trainingSet", TRAIN), ("testSet", TEST)];
    parts
        .into_iter()
        .find(|(begin, _)| name.starts_with(begin) && name.ends_with(".tsv"))
        .map(|(_, part)| part)
}

/// Labels and parts by entity.
pub(super) struct LabelledEntities {
    of: BTreeMap<String, (String, u8)>,
    split: bool,
}

impl LabelledEntities {
    pub fn entities(&self) -> impl Iterator<Item = &str> {
        self.of.keys().map(String::as_str)
    }

    /// Gives the graph classes and split; all entities are nodes of it.
    pub fn put(self, graph: &mut RawGraph) {
        let NodeIds::Strings(ids) = &graph.ids else { return };
        let mut names: Vec<&String> = self.of.values().map(|(label, _)| label).collect();
        // Numbers by value, words by bytes.
        let order = |name: &&String| {
            (name.parse::<i64>().map_or((1, 0), |number| (0, number)), name.to_string())
        };
        names.sort_by_cached_key(order);
        names.dedup();
        let class_of: BTreeMap<&String, u32> = names.iter().copied().zip(0..).collect();
        let mut class = vec![NO_CLASS; ids.len()];
        let mut split = vec![IN_NO_PART; ids.len()];
        for (entity, (label, part)) in &self.of {
            if let Ok(row) = ids.binary_search(entity) {
                class[row] = class_of[label];
                split[row] = *part;
            }
        }
        graph.labels = Some(Labels::Classes { class, names: names.into_iter().cloned().collect() });
        graph.splits = if self.split { vec![split] } else { Vec::new() };
    }
}

/// Reads the tables that are there; none: there are no labels.
pub(super) fn read(bundle: &Bundle, options: &Options) -> Read<Option<LabelledEntities>> {
    let mut labelled = LabelledEntities { of: BTreeMap::new(), split: false };
    let mut any = false;
    for (index, name) in bundle.names() {
        let Some(part) = part_of(file_name(name)) else { continue };
        any = true;
        labelled.split |= part != IN_NO_PART;
        read_table(bundle.text(index)?, part, options, &mut labelled)?;
    }
    Ok(any.then_some(labelled))
}

fn read_table(
    text: TextSource,
    part: u8,
    options: &Options,
    labelled: &mut LabelledEntities,
) -> Read<()> {
    let lines = text.lines()?;
    let header: Vec<String> = split_bare_tabs(lines.first())
        .map(|(_, cell)| String::from_utf8_lossy(cell).into_owned())
        .collect();
    let (entity, label) = columns(&header, options).map_err(|fault| lines.fault(&fault))?;
    let path = lines.path().to_path_buf();
    let mut rows = 0;
    lines.skip_first()?.blocks(|block| {
        for (start, line) in split_lines(block).filter(|(_, line)| !line.is_empty()) {
            rows += 1;
            let row: Vec<(usize, &[u8])> = split_bare_tabs(line).collect();
            let cell =
                |column: usize| row.get(column).filter(|(_, cell)| !cell.is_empty()).copied();
            let (Some(entity), Some(label)) = (cell(entity), cell(label)) else {
                let fault = LineFault::new(
                    start,
                    "the table of labels has a line without an entity or a label",
                );
                return Err(fault.expected(format!("the columns {}", header.join(", ")), line));
            };
            let word = |(at, cell): (usize, &[u8])| match std::str::from_utf8(cell) {
                Ok(word) => Ok(word.to_owned()),
                Err(_) => Err(LineFault::new(start + at, "a word is not UTF-8")
                    .expected("text in UTF-8", cell)),
            };
            let place = |disagreement| match disagreement {
                Disagreement::Label(known) => {
                    let fault = LineFault::new(start + label.0, "an entity has two labels");
                    fault.expected(
                        format!("the label `{known}`, as another line says of it"),
                        label.1,
                    )
                }
                Disagreement::Part => {
                    LineFault::new(start + entity.0, "an entity is to be trained on and tested")
                        .expected("each entity in one part", entity.1)
                }
            };
            add(labelled, word(entity)?, class_name(&word(label)?), part).map_err(place)?;
        }
        Ok(())
    })?;
    if rows == 0 {
        return Err(Box::new(
            ReadError::new(&path, "the table of labels names no entity")
                .expected("a line for each labelled node", "none"),
        ));
    }
    Ok(())
}

/// The entity's column and the label's.
fn columns(header: &[String], options: &Options) -> Result<(usize, usize), LineFault> {
    let shown = header.join(", ");
    let labels: Vec<usize> =
        (0..header.len()).filter(|&column| header[column].starts_with("label")).collect();
    let label = match (&options.label, &labels[..]) {
        (Some(name), _) => header.iter().position(|column| column == name),
        (None, [label]) => Some(*label),
        _ => None,
    };
    let label = label.ok_or_else(|| {
        let expected = options
            .label
            .as_ref()
            .map_or("one column that begins with `label`".to_owned(), |name| {
                format!("a column `{name}`")
            });
        let fault = LineFault::new(0, "the table of labels has not one column of labels")
            .expected(expected, shown.as_bytes());
        fault.hint("name it in the catalogue's entry:  read: {label: NAME}")
    })?;
    let others: Vec<usize> = (0..header.len())
        .filter(|column| *column != label && !labels.contains(column) && header[*column] != "id")
        .collect();
    match others[..] {
        [entity] => Ok((entity, label)),
        _ => Err(LineFault::new(0, "the table of labels has not one column of entities")
            .expected("one column besides `id` and labels", shown.as_bytes())),
    }
}

/// One name for `1`, `1.0` and `1.00`.
fn class_name(label: &str) -> String {
    match label.split_once('.') {
        Some((whole, zeros))
            if !zeros.is_empty()
                && zeros.bytes().all(|byte| byte == b'0')
                && whole.parse::<i64>().is_ok() =>
        {
            whole.to_owned()
        }
        _ => label.to_owned(),
    }
}

/// What two lines do not agree on.
enum Disagreement {
    /// The label that an earlier line gave.
    Label(String),
    Part,
}

fn add(
    labelled: &mut LabelledEntities,
    entity: String,
    label: String,
    part: u8,
) -> Result<(), Disagreement> {
    let Some((known, in_part)) = labelled.of.get_mut(&entity) else {
        labelled.of.insert(entity, (label, part));
        return Ok(());
    };
    if *known != label {
        return Err(Disagreement::Label(known.clone()));
    }
    match (*in_part, part) {
        (_, IN_NO_PART) => {}
        (IN_NO_PART, part) => *in_part = part,
        (one, other) if one == other => {}
        _ => return Err(Disagreement::Part),
    }
    Ok(())
}
