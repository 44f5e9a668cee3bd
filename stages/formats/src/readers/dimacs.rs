//! DIMACS: `p sp n m` and arcs `a u v w`, with coordinates `v id x y` in a file beside it; or `p
//! edge n m` and edges `e u v`.
//!
//! promises  edges as listed, parallel ones too; arcs are directed, edges are not (each listed
//!           once). Ids count from 1 as the file does (`first_id` says otherwise); coordinates are
//!           the columns `x` and `y`, whole numbers if all of them are
//! reads     comments c, blank lines, `col` for `edge`, gzip, zstd
//! refuses   counts that disagree with the body, lines of other problems, two graphs at once, a
//!           node with two places
//! limits    weights are rounded to 32 bits; 19 bytes an arc at the peak (measured on 5 M arcs);
//!           nodes: see text/counted_header.rs
//! format    9th DIMACS Implementation Challenge (.gr, .co); DIMACS graph coloring instances (.col)
mod coordinates;
mod item_lines;

use crate::{
    detect::file_heads::FileHeads,
    format::Format,
    options::Options,
    out_of_core::{EdgeSink, Limit, LoadedGraph},
    raw_graph::{Edges, NODES_MOST, RawGraph},
    read_error::{Read, ReadError},
    text::{
        counted_header::{self, ClaimedCount},
        grammar::{self, BlockSizes, Grammar, SIZES, Scan, ScanFault},
    },
};
use item_lines::{no_problem_error, skip_to_item};
use std::path::{Path, PathBuf};

/// DIMACS graphs.
pub const FORMAT: Format = Format {
    name: "dimacs",
    about: "DIMACS graph: arcs (.gr) with coordinates (.co), or edges (.col)",
    recognise,
    read_within: |files, options, limit| read_by(files, options, limit, SIZES),
};

/// Files whose first line that is no comment is `p sp`, `p edge`, `p col` or `p aux sp co`, or that
/// are named as such.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let kinds: Vec<(&Path, Option<ProblemKind>)> =
        look.files().map(|(path, name)| (path, kind(look.head(path), name))).collect();
    let graph = kinds.iter().any(|(_, kind)| *kind == Some(ProblemKind::Graph));
    graph.then(|| {
        kinds
            .into_iter()
            .filter(|(_, kind)| kind.is_some())
            .map(|(path, _)| path.to_path_buf())
            .collect()
    })
}

#[derive(Clone, Copy, PartialEq)]
enum ProblemKind {
    Graph,
    Places,
}

fn kind(head: &[u8], name: &str) -> Option<ProblemKind> {
    let mut scan = Scan::new(head);
    while scan.more() {
        if !scan.line_ends() {
            match (scan.word(), scan.word()) {
                (b"p", b"sp" | b"edge" | b"col") => return Some(ProblemKind::Graph),
                (b"p", b"aux") => return Some(ProblemKind::Places),
                (b"c", _) => {}
                _ => break,
            }
        }
        scan.next_line();
    }
    // Comments may be longer than the beginning that is looked at, and a file may be empty.
    (head.is_empty() || head.starts_with(b"c") || head.starts_with(b"p ")).then_some(())?;
    [(".gr", ProblemKind::Graph), (".col", ProblemKind::Graph), (".co", ProblemKind::Places)]
        .into_iter()
        .find(|(end, _)| name.ends_with(end))
        .map(|(_, kind)| kind)
}

/// Reads a graph and its coordinates, if they are among the files. With `weight: none` weights of
/// arcs are not looked at.
fn read_by(
    files: &[PathBuf],
    options: &Options,
    limit: &Limit,
    sizes: BlockSizes,
) -> Read<LoadedGraph> {
    let look = FileHeads::new(files);
    let of_kind = |wanted: ProblemKind| -> Vec<&Path> {
        look.files()
            .filter(|(path, name)| {
                (kind(look.head(path), name) == Some(ProblemKind::Places))
                    == (wanted == ProblemKind::Places)
            })
            .map(|(path, _)| path)
            .collect()
    };
    let graphs = of_kind(ProblemKind::Graph);
    let one =
        |files: &[&Path], what: &str| {
            let names: Vec<_> = files
                .iter()
                .map(|path| path.file_name().unwrap_or_default().to_string_lossy())
                .collect();
            let error = ReadError::new(
                files.last().copied().unwrap_or(Path::new("")),
                format!("DIMACS data has one {what} file"),
            )
            .expected("one", if names.is_empty() { "none".into() } else { names.join(", ") });
            Box::new(error.hint(
                "name the files of the data set in a catalogue entry:  data/catalog/<name>.yaml",
            ))
        };
    let [path] = graphs[..] else { return Err(one(&graphs, "graph")) };
    let places = of_kind(ProblemKind::Places);
    if places.len() > 1 {
        return Err(one(&places, "coordinate"));
    }
    let LoadedGraph { mut graph, spilled } = read_graph(path, options, limit, sizes)?;
    if let [places] = places[..] {
        graph.columns = coordinates::read(places, graph.nodes(), sizes)?;
    }
    Ok(LoadedGraph { graph, spilled })
}

fn read_graph(
    path: &Path,
    options: &Options,
    limit: &Limit,
    sizes: BlockSizes,
) -> Read<LoadedGraph> {
    let mut arcs = Arcs {
        unread: options.weight.as_deref() == Some("none"),
        problem: None,
        sink: EdgeSink::new(limit),
    };
    let rounded = grammar::parse(path, &mut arcs, sizes)?;
    let Some(problem) = arcs.problem else { return Err(no_problem_error(path, "p sp NODES ARCS")) };
    let read = arcs.sink.count();
    problem.items.reached(path, problem.name(), read)?;
    let ids = counted_header::ids(path, &problem.nodes, read, 1, options)?;
    let (mut edges, spilled) = arcs.sink.finish()?;
    if problem.arcs && !arcs.unread {
        edges.weight.get_or_insert_default();
    }
    let notes = rounded.note("weights", "line").into_iter().collect();
    Ok(LoadedGraph {
        graph: RawGraph {
            ids,
            edges,
            directed: Some(problem.arcs),
            nodes_told: true,
            notes,
            ..RawGraph::default()
        },
        spilled,
    })
}

/// The line that begins with `p`.
struct Problem {
    nodes: ClaimedCount,
    items: ClaimedCount,
    /// `a u v w` rather than `e u v`.
    arcs: bool,
}

impl Problem {
    fn name(&self) -> &'static str {
        if self.arcs { "arcs" } else { "edges" }
    }
}

struct Arcs<'a> {
    unread: bool,
    problem: Option<Problem>,
    sink: EdgeSink<'a>,
}

impl Grammar for Arcs<'_> {
    type Chunk = Edges;

    fn header(&mut self, lines: &[u8], before: u64) -> Result<Option<usize>, ScanFault> {
        let mut scan = Scan::new(lines);
        if !skip_to_item(&mut scan) {
            return Ok(None);
        }
        let (start, letter, name) = (scan.at, scan.word(), scan.word());
        let arcs = match (letter, name) {
            (b"p", b"sp") => true,
            (b"p", b"edge" | b"col") => false,
            (b"p", _) => {
                let fault = ScanFault::new(
                    scan.at - name.len(),
                    "the problem line names a problem that is not read",
                )
                .expected("sp, edge or col", name);
                return Err(
                    fault.hint("if its lines are  a SOURCE TARGET WEIGHT , write  p sp NODES ARCS")
                );
            }
            _ => {
                return Err(ScanFault::new(start, "a line stands before the problem line")
                    .expected("p sp NODES ARCS", letter));
            }
        };
        let mut claim = |name: &str, most: u64| {
            ClaimedCount::read(
                &mut scan,
                lines,
                before,
                &format!("the problem line has no sound number of {name}"),
                most,
            )
        };
        self.problem = Some(Problem {
            nodes: claim("nodes", NODES_MOST)?,
            items: claim("arcs", u64::MAX)?,
            arcs,
        });
        scan.end("the problem line has a number too many", "p sp NODES ARCS", "")?;
        scan.next_line();
        Ok(Some(scan.at.min(lines.len())))
    }

    fn body(&self, scan: &mut Scan<'_>, edges: &mut Edges) -> Result<(), ScanFault> {
        let Some(problem) = &self.problem else { return Ok(()) };
        let nodes = problem.nodes.count as u32;
        edges.weight = (problem.arcs && !self.unread).then(Vec::new);
        let (letter, form) = if problem.arcs {
            (&b"a"[..], "a SOURCE TARGET WEIGHT")
        } else {
            (&b"e"[..], "e SOURCE TARGET")
        };
        while skip_to_item(scan) {
            let (start, found) = (scan.at, scan.word());
            if found != letter {
                return Err(ScanFault::new(
                    start,
                    "a line of a DIMACS graph begins with an unknown letter",
                )
                .expected(format!("{form}, or c and a comment"), found));
            }
            edges.source.push(scan.row("the source", 1, nodes)?);
            edges.target.push(scan.row("the target", 1, nodes)?);
            if let Some(weight) = &mut edges.weight {
                weight.push(scan.finite(
                    "the weight of an arc",
                    "to read arcs without weights, add  --set ingest.weights=drop",
                )?);
            }
            if !self.unread || !problem.arcs {
                scan.end("a line of a DIMACS graph has a column too many", form, "")?;
            }
            scan.next_line();
        }
        Ok(())
    }

    fn accept(&mut self, piece: Edges, lines: &[u8]) -> Result<(), ScanFault> {
        if let Some(problem) = &self.problem {
            problem.items.admit(
                problem.name(),
                self.sink.count(),
                piece.len() as u64,
                lines,
                |line| matches!(line.first(), Some(b'a' | b'e')),
            )?;
        }
        self.sink.take(piece);
        Ok(())
    }

    fn settle(&mut self) -> Read<()> {
        self.sink.settle()
    }
}

#[cfg(test)]
mod tests;
