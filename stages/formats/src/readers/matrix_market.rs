//! Matrix Market: a square matrix whose entry (row, column) is an edge from row to column,
//! coordinate or array.
//!
//! promises  edges as stored: one triangle of a symmetric matrix (each edge once, not directed, and
//!           said to be half of all: `halved`); a skew-symmetric one lists the reverse with the
//!           negated weight right behind each entry, so it has twice as many edges as its header
//!           says. Repeats stay
//! promises  ids count from 1, as the file does (`first_id` says otherwise). An explicit 0 of a
//!           coordinate file is an edge of weight 0; a 0 of an array is no edge
//! reads     real, integer, pattern; `%%GraphBLAS type` lines, whose ranges hold; comments and
//!           blank lines anywhere; gzip, zstd
//! refuses   complex values (unless `weight: none`), rectangles, a header that disagrees with the
//!           body, values that are not finite
//! limits    weights are rounded to 32 bits; 16 bytes an edge at the peak, 21 with weights
//!           (measured on 5 M edges); nodes: see text/counted_header.rs
//! format    R. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats (1996)
mod header;

use crate::{
    detect::file_heads::FileHeads,
    format::{Format, expect_one_file},
    options::Options,
    out_of_core::{EdgeSink, Limit, LoadedGraph},
    raw_graph::{Edges, RawGraph},
    read_error::{Read, ReadError},
    text::{
        counted_header,
        grammar::{self, BlockSizes, Grammar, SIZES, Scan, ScanFault},
    },
};
use header::{MatrixHeader, MatrixLayout, Symmetry, ValueField};
use std::path::{Path, PathBuf};

/// Matrix Market.
pub const FORMAT: Format = Format {
    name: "matrix_market",
    about: "Matrix Market, coordinate or array, one square matrix",
    recognise,
    read_within: |files, options, limit| read_by(expect_one_file(files)?, options, limit, SIZES),
};

/// Files that begin with the banner, or are named as if they did.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let is_matrix = |&(path, name): &(&Path, &str)| {
        let head = look.head(path);
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        name.ends_with(".mtx")
            || head.get(..14).is_some_and(|start| start.eq_ignore_ascii_case(b"%%MatrixMarket"))
    };
    let files: Vec<PathBuf> =
        look.files().filter(is_matrix).map(|(path, _)| path.to_path_buf()).collect();
    (!files.is_empty()).then_some(files)
}

/// Reads a Matrix Market file. With `weight: none` values of coordinate files are not looked at.
pub fn read(path: &Path, options: &Options) -> Read<RawGraph> {
    read_by(path, options, &Limit::none(), SIZES).map(|loaded| loaded.graph)
}

fn read_by(path: &Path, options: &Options, limit: &Limit, sizes: BlockSizes) -> Read<LoadedGraph> {
    let unread = options.weight.as_deref() == Some("none");
    let mut matrix = MatrixGrammar {
        reader: header::HeaderReader::new(unread),
        header: None,
        sink: EdgeSink::new(limit),
        entries: 0,
        next: MatrixCell { row: 0, column: 0 },
    };
    let rounded = grammar::parse(path, &mut matrix, sizes)?;
    let Some(header) = matrix.header else {
        let error = ReadError::new(path, "the file ends before the sizes of the matrix")
            .expected("a Matrix Market header and sizes", "the end of the file");
        return Err(Box::new(error.hint("the file may be cut short: fetch it again")));
    };
    header.entries.reached(path, items(header.layout), matrix.entries)?;
    let (mut edges, mut spilled) = matrix.sink.finish()?;
    if unread {
        edges.weight = None;
        spilled.iter_mut().for_each(|spilled| spilled.weighted = false);
    } else if header.values != ValueField::Pattern {
        edges.weight.get_or_insert_default();
    }
    let ids = counted_header::ids(path, &header.nodes, matrix.entries, 1, options)?;
    let halved = header.symmetry == Symmetry::Symmetric;
    let notes = rounded.note("weights", "line").filter(|_| !unread).into_iter().collect();
    Ok(LoadedGraph {
        graph: RawGraph {
            ids,
            edges,
            directed: Some(!halved),
            halved,
            nodes_told: true,
            notes,
            ..RawGraph::default()
        },
        spilled,
    })
}

fn items(layout: MatrixLayout) -> &'static str {
    if layout == MatrixLayout::Coordinate { "entries" } else { "values" }
}

struct MatrixGrammar<'a> {
    reader: header::HeaderReader,
    header: Option<MatrixHeader>,
    sink: EdgeSink<'a>,
    /// Entries or values so far, as the header counts them.
    entries: u64,
    /// Where the next value of an array stands.
    next: MatrixCell,
}

/// Entries of some lines; of an array the values alone.
#[derive(Default)]
struct EntryLines {
    edges: Edges,
    entries: u64,
}

impl Grammar for MatrixGrammar<'_> {
    type Chunk = EntryLines;

    fn header(&mut self, lines: &[u8], before: u64) -> Result<Option<usize>, ScanFault> {
        let read = self.reader.read(lines, before)?;
        Ok(read.map(|(header, begins)| {
            self.next = MatrixCell { row: u32::from(header.symmetry == Symmetry::Skew), column: 0 };
            self.header = Some(header);
            begins
        }))
    }

    fn body(&self, scan: &mut Scan<'_>, piece: &mut EntryLines) -> Result<(), ScanFault> {
        let Some(header) = &self.header else { return Ok(()) };
        if !matches!(header.values, ValueField::Pattern | ValueField::Unread) {
            piece.edges.weight = Some(Vec::new());
        }
        while scan.more() {
            scan.skip_blanks();
            if !matches!(scan.byte(), b'\n' | b'%') {
                match header.layout {
                    MatrixLayout::Coordinate => read_entry(scan, header, &mut piece.edges)?,
                    MatrixLayout::Array => read_array_value(scan, header, &mut piece.edges)?,
                }
                piece.entries += 1;
            }
            scan.next_line();
        }
        Ok(())
    }

    fn accept(&mut self, piece: EntryLines, lines: &[u8]) -> Result<(), ScanFault> {
        let Some(header) = &self.header else { return Ok(()) };
        let is_entry = |line: &[u8]| !matches!(line.first(), None | Some(b'\n' | b'%'));
        header.entries.admit(items(header.layout), self.entries, piece.entries, lines, is_entry)?;
        match header.layout {
            MatrixLayout::Coordinate => self.sink.take(piece.edges),
            MatrixLayout::Array => {
                self.sink.take(take_array_values(&mut self.next, header, &piece.edges))
            }
        }
        self.entries += piece.entries;
        Ok(())
    }

    fn settle(&mut self) -> Read<()> {
        self.sink.settle()
    }
}

fn read_entry(scan: &mut Scan, header: &MatrixHeader, edges: &mut Edges) -> Result<(), ScanFault> {
    let nodes = header.nodes.count as u32;
    let start = scan.at;
    let row = scan.row("the row of an entry", 1, nodes)?;
    let column = scan.row("the column of an entry", 1, nodes)?;
    edges.source.push(row);
    edges.target.push(column);
    let mut value = 0.0;
    if let Some(weight) = &mut edges.weight {
        value = header::read_value(scan, header.values)?;
        weight.push(value);
    }
    if header.values != ValueField::Unread {
        let expected =
            if header.values == ValueField::Pattern { "ROW COLUMN" } else { "ROW COLUMN VALUE" };
        scan.end(
            "an entry has a column more than the header says",
            expected,
            "a pattern has no values; real and integer have one, complex two",
        )?;
    }
    if header.symmetry == Symmetry::Skew {
        if row == column {
            let fault = ScanFault::new(
                start,
                "a skew-symmetric matrix has an entry on its diagonal, where every value is 0",
            );
            let fault = fault.expected(
                "row and column that differ",
                format!("{} {}", row + 1, column + 1).as_bytes(),
            );
            return Err(fault.hint(
                "take the line out, and count it off in the line of sizes; or write  general  or  \
                 symmetric  in the first line",
            ));
        }
        edges.source.push(column);
        edges.target.push(row);
        edges.weight.iter_mut().for_each(|weight| weight.push(-value));
    }
    Ok(())
}

fn read_array_value(
    scan: &mut Scan,
    header: &MatrixHeader,
    edges: &mut Edges,
) -> Result<(), ScanFault> {
    let value = header::read_value(scan, header.values)?;
    scan.end(
        "a line of an array has a second value",
        "one value a line",
        "complex values are two, and are not read",
    )?;
    edges.weight.iter_mut().for_each(|weight| weight.push(value));
    Ok(())
}

/// A place in a matrix.
#[derive(Clone, Copy)]
struct MatrixCell {
    row: u32,
    column: u32,
}

/// Edges of the values that are not 0, from the row and column `next` on.
fn take_array_values(next: &mut MatrixCell, header: &MatrixHeader, values: &Edges) -> Edges {
    let nodes = header.nodes.count as u32;
    let mut edges = Edges { weight: Some(Vec::new()), ..Edges::default() };
    let mut push = |row: u32, column: u32, value: f32| {
        edges.source.push(row);
        edges.target.push(column);
        edges.weight.iter_mut().for_each(|weight| weight.push(value));
    };
    for &value in values.weight.iter().flatten() {
        let MatrixCell { row, column } = *next;
        if value != 0.0 {
            push(row, column, value);
            if header.symmetry == Symmetry::Skew {
                push(column, row, -value);
            }
        }
        next.row += 1;
        if next.row == nodes {
            next.column += 1;
            next.row = match header.symmetry {
                Symmetry::General => 0,
                Symmetry::Symmetric => next.column,
                Symmetry::Skew => next.column + 1,
            };
        }
    }
    edges
}

#[cfg(test)]
mod tests;
