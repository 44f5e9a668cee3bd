//! WebGraph's ASCII graph: the number of nodes, then for each node a line with its successors,
//! counted from 0.
//!
//! promises  edges as listed, by source; an empty line is a node without successors
//! refuses   fewer or more lines than nodes, a successor that is no node
//! limits    a line of 64 MiB; 15 bytes an edge at the peak (measured on 5 M edges)
//! format    P. Boldi, S. Vigna, class ASCIIGraph of WebGraph (files named `.graph-txt`)
use crate::{
    detect::file_heads::FileHeads,
    format::{Format, expect_one_file},
    options::Options,
    out_of_core::{EdgeSink, Limit, LoadedGraph},
    raw_graph::{Edges, NODES_MOST, RawGraph},
    read_error::{Read, ReadError},
    text::{
        counted_header::{self, ClaimedCount},
        grammar::{self, BlockSizes, Grammar, SIZES, Scan, ScanFault, first_line},
    },
};
use std::path::{Path, PathBuf};

/// WebGraph's ASCII graphs.
pub const FORMAT: Format = Format {
    name: "ascii_graph",
    about: "WebGraph's ASCII graph, a line of successors a node",
    recognise,
    read_within: |files, options, limit| read_by(expect_one_file(files)?, options, limit, SIZES),
};

fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let files: Vec<PathBuf> =
        look.ending(".graph-txt").into_iter().map(Path::to_path_buf).collect();
    (!files.is_empty()).then_some(files)
}

fn read_by(path: &Path, options: &Options, limit: &Limit, sizes: BlockSizes) -> Read<LoadedGraph> {
    let mut lists = Successors { nodes: None, read: 0, sink: EdgeSink::new(limit) };
    grammar::parse(path, &mut lists, sizes)?;
    let Some(nodes) = &lists.nodes else {
        let error = ReadError::new(path, "the ASCII graph is empty")
            .expected("a line with the number of nodes", "the end of the file");
        return Err(Box::new(error.hint("the file may be cut short: fetch it again")));
    };
    nodes.reached(
        path,
        "lists of successors (an empty line is one, too)",
        u64::from(lists.read),
    )?;
    let ids = counted_header::numbered(lists.read, 0, options);
    let (edges, spilled) = lists.sink.finish()?;
    let graph = RawGraph { ids, edges, nodes_told: true, ..RawGraph::default() };
    Ok(LoadedGraph { graph, spilled })
}

struct Successors<'a> {
    nodes: Option<ClaimedCount>,
    /// Lists so far.
    read: u32,
    sink: EdgeSink<'a>,
}

/// Sources count from the first line of the piece.
#[derive(Default)]
struct SuccessorLines {
    lists: u32,
    edges: Edges,
}

impl Grammar for Successors<'_> {
    type Chunk = SuccessorLines;

    fn header(&mut self, lines: &[u8], before: u64) -> Result<Option<usize>, ScanFault> {
        let mut scan = Scan::new(lines);
        self.nodes = Some(ClaimedCount::read(
            &mut scan,
            lines,
            before,
            "the ASCII graph does not begin with its number of nodes",
            NODES_MOST,
        )?);
        scan.end("the first line of the ASCII graph goes on", "the number of nodes alone", "")?;
        scan.next_line();
        Ok(Some(scan.at.min(lines.len())))
    }

    fn body(&self, scan: &mut Scan<'_>, piece: &mut SuccessorLines) -> Result<(), ScanFault> {
        let nodes = self.nodes.as_ref().map_or(0, |nodes| nodes.count as u32);
        while scan.more() {
            while !scan.line_ends() {
                piece.edges.target.push(scan.row("a successor", 0, nodes)?);
            }
            piece.edges.source.resize(piece.edges.target.len(), piece.lists);
            piece.lists += 1;
            scan.next_line();
        }
        Ok(())
    }

    fn accept(&mut self, mut piece: SuccessorLines, lines: &[u8]) -> Result<(), ScanFault> {
        let claimed = self.nodes.as_ref().map_or(0, |nodes| nodes.count);
        let left = claimed - u64::from(self.read);
        // Empty lines may follow the last node.
        if u64::from(piece.lists) >= left {
            if let Some(byte) = list_behind(lines, left) {
                let fault =
                    ScanFault::new(byte, "the file has more lists of successors than nodes");
                let fault = fault.expected(
                    format!("the end of the file behind {claimed} of them"),
                    first_line(&lines[byte..]),
                );
                return Err(
                    fault.hint("correct the count in the first line, if the lists are whole")
                );
            }
            piece.lists = left as u32;
        }
        piece.edges.source.iter_mut().for_each(|source| *source += self.read);
        self.read += piece.lists;
        self.sink.take(piece.edges);
        Ok(())
    }

    fn settle(&mut self) -> Read<()> {
        self.sink.settle()
    }
}

/// The first line that is not empty behind so many lists.
fn list_behind(lines: &[u8], lists: u64) -> Option<usize> {
    let mut scan = Scan::new(lines);
    let mut seen = 0;
    while scan.more() {
        if !scan.line_ends() && seen >= lists {
            return Some(scan.at);
        }
        seen += 1;
        scan.next_line();
    }
    None
}

#[cfg(test)]
mod tests;
