//! The counts that some lists carry: a first line `NODES EDGES`, or the comment `# Nodes: N Edges:
//! M` of SNAP.
//!
//! promises  counts that disagree with the body are an error; a first line that may be an edge or
//!           counts is an error, too; an edge that is unusual for one is told in a note
//! never     makes more nodes than 8 an edge from a count: isolated nodes cost memory in every
//!           later stage
use super::parsed_lines::{ParsedEnds, ParsedLines};
use crate::{
    raw_graph::{NODES_MOST, NodeIds, RawGraph},
    read_error::{Place, Read, ReadError},
};
use std::path::Path;

/// Lists that are shorter need more signs before their first line counts.
const LINES_SURE: u64 = 16;
/// Isolated nodes that are believed: this many an edge.
const NODES_AN_EDGE: u64 = 8;

/// What the comments or the first line count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedSize {
    pub nodes: u64,
    pub edges: u64,
    /// The line that says so, from 1.
    pub line: u64,
    pub from_comment: bool,
    /// Whether somebody said that the line counts: then it may count an edge once that is listed
    /// both ways.
    pub told: bool,
}

/// The counts in comments of SNAP.
pub fn find_in_comments(text: &[u8], lines_before: u64) -> Option<ClaimedSize> {
    let number_behind = |line: &str, name: &str| -> Option<u64> {
        let rest = line[line.find(name)? + name.len()..].trim_start();
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
    };
    text.split(|&byte| byte == b'\n').zip(lines_before + 1..).find_map(|(line, number)| {
        let line = std::str::from_utf8(&line[..line.len().min(1 << 12)]).ok()?;
        Some(ClaimedSize {
            nodes: number_behind(line, "Nodes:")?,
            edges: number_behind(line, "Edges:")?,
            line: number,
            from_comment: true,
            told: false,
        })
    })
}

/// The first edge, and the least and the largest id of all others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extremes {
    first: Option<[u64; 2]>,
    /// Of all edges but the first.
    rest: Option<[u64; 2]>,
    edges: u64,
    words: bool,
}

impl Extremes {
    /// Of all these pieces.
    pub fn from_pieces(pieces: &[ParsedLines]) -> Extremes {
        let mut extremes = Extremes::default();
        pieces.iter().for_each(|piece| extremes.add(piece));
        extremes
    }

    /// Takes in the next piece.
    pub fn add(&mut self, piece: &ParsedLines) {
        let skip = usize::from(self.first.is_none());
        self.edges += piece.ends.len() as u64;
        let rest = match &piece.ends {
            ParsedEnds::Narrow(pairs) => {
                self.first = self.first.or(pairs.first().map(|pair| pair.map(u64::from)));
                let rest = pairs.get(skip..).unwrap_or(&[]);
                let (low, high) = rest
                    .iter()
                    .flatten()
                    .fold((u32::MAX, 0), |(low, high), &id| (low.min(id), high.max(id)));
                (!rest.is_empty()).then_some([u64::from(low), u64::from(high)])
            }
            ParsedEnds::Wide(pairs) => {
                self.first = self.first.or(pairs.first().copied());
                let rest = pairs.get(skip..).unwrap_or(&[]);
                let (low, high) = rest
                    .iter()
                    .flatten()
                    .fold((u64::MAX, 0), |(low, high), &id| (low.min(id), high.max(id)));
                (!rest.is_empty()).then_some([low, high])
            }
            ParsedEnds::Words { .. } => {
                self.words = true;
                None
            }
        };
        self.rest = match (self.rest, rest) {
            (Some([low, high]), Some([least, most])) => Some([low.min(least), high.max(most)]),
            (known, None) => known,
            (None, new) => new,
        };
    }
}

/// What the first of all edges is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstLine {
    Edge,
    /// An edge that looks like counts of another list: what to tell.
    Unusual(String),
    Counts(ClaimedSize),
}

const WHICH: &str = "say which in the catalogue's entry:  read: {counts: true}  if it counts,  \
                     read: {counts: false}  if it is an edge";

/// Whether the first of all edges is a line of counts; `line` is where it stands, and `is_narrower`
/// whether the next one has more columns.
///
/// As an edge, such a line would join two nodes, the first of which no other edge knows and has the
/// largest id but for the second.
pub fn first_edge_counts(
    path: &Path,
    extremes: &Extremes,
    line: u64,
    is_narrower: bool,
) -> Read<FirstLine> {
    let (Some([nodes, edges]), Some([least, most]), false) =
        (extremes.first, extremes.rest, extremes.words)
    else {
        return Ok(FirstLine::Edge);
    };
    let rest = extremes.edges - 1;
    let fits = nodes > most || nodes == most && least > 0;
    let found = format!("{nodes} {edges}");
    let refuse = |what: &str, expected: String, told: String, hint: String| {
        Err(Box::new(
            ReadError::new(path, what)
                .at_line(line, 1, found.as_bytes())
                .expected(expected, told)
                .hint(hint),
        ))
    };
    let either = || {
        let what = "the first line of the edge list may be an edge, or count nodes and edges";
        refuse(what, "a list that can be read in one way".into(), "both fit".into(), WHICH.into())
    };
    if nodes > NODES_MOST {
        return Ok(FirstLine::Edge);
    }
    if edges == rest && fits {
        let counts = ClaimedSize { nodes, edges, line, from_comment: false, told: false };
        return if rest >= LINES_SURE || edges > most || is_narrower {
            Ok(FirstLine::Counts(counts))
        } else {
            either()
        };
    }
    // The edges are counted exactly, and ids have gaps: an accident is rarer than a count of nodes.
    if edges == rest && rest >= LINES_SURE && (2..=2 * rest).contains(&nodes) {
        return either();
    }
    if !fits && edges == rest && nodes == most {
        return Ok(FirstLine::Unusual(format!(
            "the first line `{found}` is read as an edge, but {rest} lines follow, and {nodes} is \
             the largest id: if it counts nodes and edges, its number of nodes is one too small \
             for ids from {least} to {most}; {WHICH}"
        )));
    }
    if !fits {
        return Ok(FirstLine::Edge);
    }
    if rest >= LINES_SURE
        && (nodes > most && edges > most && nodes != edges || is_near(edges, rest))
    {
        let hint = format!(
            "was the file cut short, or is each edge counted once and listed twice? {WHICH}"
        );
        return refuse(
            "the edge list disagrees with the count in its first line",
            format!("{edges} edges"),
            rest.to_string(),
            hint,
        );
    }
    Ok(FirstLine::Unusual(format!(
        "the first line `{found}` is read as an edge, and no other line names `{nodes}` or an id \
         above it: if it counts nodes and edges, of which {rest} follow, {WHICH}"
    )))
}

/// Whether the count is that of the lines but for a few, or for each edge that is listed twice or
/// once.
fn is_near(edges: u64, rest: u64) -> bool {
    edges.abs_diff(rest) <= 2.max(rest / 100)
        || edges.checked_mul(2) == Some(rest)
        || rest.checked_mul(2) == Some(edges)
}

/// Takes the first edge out.
pub fn drop_first(pieces: &mut [ParsedLines]) {
    let Some(piece) = pieces.iter_mut().find(|piece| piece.ends.len() > 0) else { return };
    match &mut piece.ends {
        ParsedEnds::Narrow(pairs) | ParsedEnds::Words { pairs, .. } => drop(pairs.remove(0)),
        ParsedEnds::Wide(pairs) => drop(pairs.remove(0)),
    }
}

/// Compares the counts with what was read; isolated nodes that only a first line knows are added.
pub fn check_counts(
    path: &Path,
    counts: ClaimedSize,
    graph: &mut RawGraph,
    edges: u64,
) -> Read<()> {
    let hint = "was the file cut short? if the counts mean something else, put  read: {counts: \
                false}  into the catalogue's entry";
    let refuse = |what: &str, expected: String, found: String| {
        let mut error = ReadError::new(path, what).expected(expected, found).hint(hint);
        error.place = Place::Line { line: counts.line, column: 1 };
        Err(Box::new(error))
    };
    let nodes = graph.ids.len() as u64;
    // Comments may count an edge once that is listed both ways.
    let fits = if counts.from_comment {
        counts.edges <= edges && edges <= counts.edges.saturating_mul(2)
    } else {
        counts.edges == edges || counts.told && counts.edges.checked_mul(2) == Some(edges)
    };
    if !fits {
        return refuse(
            "the edge list disagrees with its own count of edges",
            format!("{} edges", counts.edges),
            edges.to_string(),
        );
    }
    if nodes > counts.nodes {
        return refuse(
            "the edge list disagrees with its own count of nodes",
            format!("{} nodes", counts.nodes),
            nodes.to_string(),
        );
    }
    if nodes == counts.nodes || counts.from_comment {
        return Ok(());
    }
    if counts.nodes > (NODES_AN_EDGE * (edges + 1)).min(NODES_MOST) {
        let expected = format!("at most {} nodes", NODES_AN_EDGE * (edges + 1));
        return refuse(
            "the edge list counts more nodes than its edges make believable",
            expected,
            counts.nodes.to_string(),
        );
    }
    match add_isolated(counts.nodes, graph) {
        Ok(()) => Ok(()),
        Err(most) => refuse(
            "the edge list has an id beyond its own count of nodes",
            format!("ids below {}", counts.nodes),
            most.to_string(),
        ),
    }
}

/// Puts the graph onto so many nodes, as the catalogue's entry says that there are.
pub fn set_node_count(path: &Path, nodes: u32, graph: &mut RawGraph) -> Read<()> {
    add_isolated(u64::from(nodes), graph).map_err(|most| {
        let error = ReadError::new(
            path,
            "the edge list has an id beyond the number of nodes that the catalogue's entry says",
        );
        Box::new(
            error
                .expected(format!("ids below {nodes}"), most.to_string())
                .hint("mend  read: {nodes: NUMBER}  in the catalogue's entry, or take it out"),
        )
    })
}

/// Nodes 0, 1, ... `nodes` - 1, or 1, 2, ... `nodes` if the last id says so, with and without
/// edges; else the id that is too large.
fn add_isolated(nodes: u64, graph: &mut RawGraph) -> Result<(), u64> {
    let (least, most) = match &graph.ids {
        NodeIds::Count(count) => (0, u64::from(*count).saturating_sub(1)),
        NodeIds::Numbers(ids) => {
            (ids.first().copied().unwrap_or(0), ids.last().copied().unwrap_or(0))
        }
        NodeIds::Strings(_) => return Ok(()),
    };
    let base = u64::from(most == nodes);
    if least < base || most - base >= nodes {
        return Err(most);
    }
    if let NodeIds::Numbers(ids) = &graph.ids {
        let row = |row: &mut u32| *row = (ids[*row as usize] - base) as u32;
        graph.edges.source.iter_mut().for_each(row);
        graph.edges.target.iter_mut().for_each(row);
    }
    graph.ids = match base {
        0 => NodeIds::Count(nodes as u32),
        _ => NodeIds::Numbers((1..=nodes).collect()),
    };
    Ok(())
}
