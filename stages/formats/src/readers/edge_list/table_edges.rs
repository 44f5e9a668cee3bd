//! Edges of other formats: lists whose columns are known beforehand, and edges whose nodes a table
//! names.
//!
//! promises  an edge that names a node which is none is an error with its line
use super::{field_lines::EdgeColumns, header};
use crate::{
    containers::decompress::PlainFile,
    options::Options,
    out_of_core::{self, LoadedGraph, rows_among},
    raw_graph::NodeIds,
    read_error::{Read, ReadError},
    text::comments::{is_blank_or_comment, leading_comments},
};

/// What another format knows of its lists of edges.
#[derive(Clone, Debug, Default)]
pub struct KnownColumns {
    /// Where the parts stand, where no line says so.
    pub layout: Option<EdgeColumns>,
    /// A column `type` names relations.
    pub type_is_relation: bool,
}

/// Puts the edges onto the rows of these nodes. `again` opens the edges once more, to find the line
/// of an edge that names no node.
pub fn move_to_nodes(
    found: LoadedGraph,
    nodes: NodeIds,
    options: &Options,
    known: &KnownColumns,
    again: impl FnOnce() -> Read<PlainFile>,
) -> Read<LoadedGraph> {
    let LoadedGraph { mut graph, spilled } = found;
    if graph.ids == nodes {
        return Ok(LoadedGraph { graph, spilled });
    }
    let rows = rows_among(&graph.ids, &nodes);
    let missing = |row: u32| rows[row as usize].is_none();
    if rows.contains(&None)
        && let Some((at, edge)) = out_of_core::find_edge(&graph.edges, spilled.as_ref(), |edge| {
            missing(edge.source) || missing(edge.target)
        })?
    {
        let (end, row) =
            if missing(edge.source) { ("source", edge.source) } else { ("target", edge.target) };
        let id = match &graph.ids {
            NodeIds::Count(_) => row.to_string(),
            NodeIds::Numbers(numbers) => numbers[row as usize].to_string(),
            NodeIds::Strings(words) => words[row as usize].clone(),
        };
        return Err(no_node(again()?, options, known, at as usize, end, &id, &nodes));
    }
    let rows: Vec<u32> =
        rows.into_iter().zip(0..).map(|(row, known)| row.unwrap_or(known)).collect();
    let move_row = |row: &mut u32| *row = rows[*row as usize];
    graph.edges.source.iter_mut().for_each(move_row);
    graph.edges.target.iter_mut().for_each(move_row);
    graph.ids = nodes;
    Ok(LoadedGraph { graph, spilled: spilled.map(|spilled| spilled.with_rows(rows)) })
}

fn no_node(
    plain: PlainFile,
    options: &Options,
    known: &KnownColumns,
    edge: usize,
    end: &str,
    id: &str,
    nodes: &NodeIds,
) -> Box<ReadError> {
    let path = plain.path().to_path_buf();
    let text = match plain.read_all() {
        Ok(text) => text,
        Err(error) => return error,
    };
    let has_names = known.layout.is_none()
        && header::decide_format(&text[leading_comments(&text)..], options, known.type_is_relation)
            .is_ok_and(|head| head.skip > 0);
    let lines =
        text.split(|&byte| byte == b'\n').zip(1..).filter(|(line, _)| !is_blank_or_comment(line));
    let error = ReadError::new(&path, format!("an edge has a {end} that is no node"));
    let error = match lines.skip(usize::from(has_names)).nth(edge) {
        Some((line, number)) => {
            error.at_line(number, place_of(id.as_bytes(), line) as u64 + 1, line)
        }
        None => error,
    };
    let known = match nodes {
        NodeIds::Count(count) => {
            format!("an id of the table of nodes, 0 to {}", count.saturating_sub(1))
        }
        _ => format!("an id of the table of nodes, of which there are {}", nodes.len()),
    };
    Box::new(
        error
            .expected(known, format!("`{id}`"))
            .hint("add the node to the table of nodes, or take the edge out"),
    )
}

/// Where a word stands in a line, with nothing of a longer word around it; the beginning, where it
/// does not.
fn place_of(word: &[u8], line: &[u8]) -> usize {
    let is_apart = |at: usize| line.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let stands = |at: &usize| {
        line[*at..].starts_with(word) && (*at == 0 || is_apart(at - 1)) && is_apart(at + word.len())
    };
    (0..line.len()).find(stands).unwrap_or(0)
}
