//! A file of types of entities beside triples: `ENTITY TYPE` a line, an entity on several lines or
//! with several types on one.
//!
//! promises  types are numbered by the bytes of their names; an entity's types ascend, each once,
//!           whatever the order of the lines
//! promises  an entity that no statement names is passed over and counted, so that a table of a
//!           larger set serves a smaller one
//! reads     columns divided by tabs; `entity2type.txt`, `entity_types.tsv` and the like, or the
//!           file that `read: {types: NAME}` names
use super::split_files::missing_file_error;
use crate::{
    containers::bundle::{Bundle, file_name},
    options::Options,
    raw_graph::{NodeIds, NodeTypes, RawGraph},
    read_error::{Read, ReadError},
    text::{
        lines::{LineFault, split_lines},
        tab_cells::split_tabs,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// Names without `_`, `-` and the end, in lower case. The last is the part to train on of sets
/// where types are to be foretold.
const STEMS: [&str; 5] =
    ["entity2type", "entity2types", "entitytype", "entitytypes", "entitytypetrain"];

/// Whether a file has the name of such a table.
pub(super) fn is_type_file(name: &str) -> bool {
    let name = file_name(name).to_lowercase();
    let stem = name.strip_suffix(".txt").or(name.strip_suffix(".tsv"));
    stem.is_some_and(|stem| STEMS.contains(&stem.replace(['_', '-'], "").as_str()))
}

/// Whether this file is the table: the one that is named, else one that is called so.
pub(super) fn is_chosen_type_file(name: &str, options: &Options) -> bool {
    options.types.as_ref().map_or_else(|| is_type_file(name), |wanted| file_name(name) == wanted)
}

/// Types of entities, some of which may not be there.
type TypesOfEntities = BTreeMap<String, BTreeSet<String>>;

/// Gives the graph the types of its nodes, if there is a table.
pub(super) fn fill_types(bundle: &Bundle, options: &Options, graph: &mut RawGraph) -> Read<()> {
    let Some(index) =
        bundle.find_one("types of entities", |name| is_chosen_type_file(name, options))?
    else {
        return match &options.types {
            Some(wanted) => Err(missing_file_error(bundle, wanted)),
            None => Ok(()),
        };
    };
    let mut table = TypesOfEntities::new();
    bundle.text(index)?.lines()?.pieces(parse, |lines| {
        lines
            .into_iter()
            .for_each(|(entity, types)| table.entry(entity).or_default().extend(types));
        Ok(())
    })?;
    if table.is_empty() {
        let error = ReadError::new(bundle.path(index), "the table of types names no entity")
            .expected("at least one line  ENTITY TYPE", "none");
        return Err(Box::new(error));
    }
    let NodeIds::Strings(ids) = &graph.ids else { return Ok(()) };
    let entities = table.len();
    let known: Vec<(u32, BTreeSet<String>)> = table
        .into_iter()
        .filter_map(|(entity, types)| Some((ids.binary_search(&entity).ok()? as u32, types)))
        .collect();
    if known.len() < entities {
        let name = file_name(bundle.path(index).to_str().unwrap_or_default()).to_owned();
        graph.passed_over.push(format!(
            "{} entities of {name} that the set does not have",
            entities - known.len()
        ));
    }
    let names: BTreeSet<&String> = known.iter().flat_map(|(_, types)| types).collect();
    let number: BTreeMap<&String, u32> = names.iter().copied().zip(0..).collect();
    let of_nodes = known
        .iter()
        .flat_map(|(node, types)| types.iter().map(|name| (*node, number[name])))
        .collect();
    graph.types = Some(NodeTypes { of_nodes, names: names.into_iter().cloned().collect() });
    Ok(())
}

/// Parses whole lines: each entity with its types.
fn parse(text: &[u8]) -> Result<Vec<(String, Vec<String>)>, LineFault> {
    let mut entities = Vec::new();
    for (start, line) in split_lines(text).filter(|(_, line)| !line.is_empty()) {
        let word = |(at, cell): (usize, &[u8])| match std::str::from_utf8(cell) {
            Ok("") => Err(LineFault::new(at, "a line of types has an empty column")
                .expected("ENTITY and TYPE with a tab between", b"")),
            Ok(word) => Ok(word.to_owned()),
            Err(_) => Err(LineFault::new(at, "a name is not UTF-8")
                .expected("text in UTF-8", cell)
                .hint("convert the file with  iconv")),
        };
        let mut words = split_tabs(start, line).map(word);
        let entity = words.next().transpose()?.unwrap_or_default();
        let types = words.collect::<Result<Vec<String>, LineFault>>()?;
        if types.is_empty() {
            let fault = LineFault::new(start + line.len(), "an entity has no type")
                .expected("ENTITY and TYPE with a tab between", line);
            return Err(
                fault.hint("columns are divided by tabs; leave out entities without a type")
            );
        }
        entities.push((entity, types));
    }
    Ok(entities)
}
