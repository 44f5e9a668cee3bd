//! The header and the neighbour lists of a METIS file, as they stand.
use crate::{
    f32_rounding::RoundedIntegers,
    out_of_core::{EdgeSink, Limit, Spilled},
    raw_graph::{Edges, NODES_MOST},
    read_error::{Read, ReadError},
    text::{
        counted_header::ClaimedCount,
        grammar::{self, BlockSizes, Grammar, Scan, ScanFault},
    },
};
use std::path::Path;

/// What lines hold beside neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// The size of the vertex comes first.
    pub sizes: bool,
    /// So many weights of the vertex follow.
    pub weights: usize,
    /// Each neighbour is followed by the weight of the edge.
    pub edge_weights: bool,
}

impl Flags {
    /// Numbers before the neighbours.
    pub fn numbers(&self) -> usize {
        usize::from(self.sizes) + self.weights
    }
}

/// `n m [fmt [ncon]]`.
#[derive(Clone, Debug, Default)]
pub struct MetisHeader {
    pub vertices: ClaimedCount,
    pub edges: ClaimedCount,
    pub flags: Flags,
}

/// The neighbour lists of a file.
#[derive(Default)]
pub struct NeighbourLists {
    pub header: MetisHeader,
    /// How many lists there are.
    pub vertices: u32,
    /// All neighbours, list after list, as edges from the vertex in whose list they stand.
    pub edges: Edges,
    /// The same, where they do not fit.
    pub spilled: Option<Spilled>,
    /// How many they are, and those among them that are the vertex itself.
    pub count: u64,
    /// Weights that were rounded, by line.
    pub rounded: RoundedIntegers,
    loops: u64,
    /// Sizes and weights of vertices, row after row.
    pub numbers: Vec<i64>,
    /// For each comment line among the lists, how many vertices stand before it.
    comments: Vec<u32>,
}

/// Reads lists.
struct ListGrammar<'a> {
    lists: NeighbourLists,
    sink: EdgeSink<'a>,
    /// The flag 100 means sizes.
    with_sizes: bool,
    read_header: bool,
}

/// Why a reading with sizes may fail where one without does not.
const NO_SIZE: &str = "the size of a vertex";

/// Whether a file with the flag 100 may have no sizes.
pub fn may_be_without_sizes(error: &ReadError) -> bool {
    error.what.starts_with(NO_SIZE)
        || error.what.starts_with("a neighbour")
        || error.what.starts_with("the weight of")
}

impl NeighbourLists {
    /// Reads a file. `with_sizes`: the flag 100 means vertex sizes.
    pub fn read(
        path: &Path,
        with_sizes: bool,
        limit: &Limit,
        sizes: BlockSizes,
    ) -> Read<NeighbourLists> {
        let mut reader = ListGrammar {
            lists: NeighbourLists::default(),
            sink: EdgeSink::new(limit),
            with_sizes,
            read_header: false,
        };
        let rounded = grammar::parse(path, &mut reader, sizes)?;
        let ListGrammar { mut lists, sink, read_header, .. } = reader;
        if !read_header {
            let error = ReadError::new(path, "the METIS file has no header")
                .expected("a line  VERTICES EDGES", "the end of the file");
            return Err(Box::new(error.hint("the file may be cut short: fetch it again")));
        }
        lists.header.vertices.reached(
            path,
            "lists of neighbours (an empty line is one, too)",
            u64::from(lists.vertices),
        )?;
        lists.count = sink.count();
        lists.rounded = rounded;
        (lists.edges, lists.spilled) = sink.finish()?;
        if lists.header.flags.edge_weights {
            lists.edges.weight.get_or_insert_default();
        }
        Ok(lists)
    }

    /// Whether there are as many neighbours as edges claim: two for each, of a self loop perhaps
    /// one.
    pub fn is_count_of_header(&self, directed: bool) -> bool {
        let claimed = self.header.edges.count;
        if directed {
            return self.count == claimed;
        }
        self.count == claimed.saturating_mul(2)
            || self.count + self.loops == claimed.saturating_mul(2)
    }

    /// The line of a vertex's list.
    pub fn line(&self, vertex: u32) -> u64 {
        let comments = self.comments.partition_point(|&before| before <= vertex);
        self.header.vertices.mark.line + 1 + u64::from(vertex) + comments as u64
    }
}

/// The lists of some lines.
#[derive(Default)]
pub struct ListLines {
    vertices: u32,
    /// Sources count from the first line of the piece.
    edges: Edges,
    numbers: Vec<i64>,
    comments: Vec<u32>,
    /// The first empty line where weights or sizes should stand, by vertex and byte: right only
    /// behind the last vertex.
    bare: Option<(u32, usize)>,
}

impl Grammar for ListGrammar<'_> {
    type Chunk = ListLines;

    fn header(&mut self, lines: &[u8], before: u64) -> Result<Option<usize>, ScanFault> {
        let mut scan = Scan::new(lines);
        while scan.more() {
            if !scan.line_ends() && scan.byte() != b'%' {
                self.lists.header = read_header(&mut scan, lines, before)?;
                self.lists.header.flags.sizes &= self.with_sizes;
                self.read_header = true;
                scan.next_line();
                return Ok(Some(scan.at.min(lines.len())));
            }
            scan.next_line();
        }
        Ok(None)
    }

    fn body(&self, scan: &mut Scan<'_>, piece: &mut ListLines) -> Result<(), ScanFault> {
        piece.edges.weight = self.lists.header.flags.edge_weights.then(Vec::new);
        while scan.more() {
            let empty = scan.line_ends();
            if scan.byte() == b'%' {
                piece.comments.push(piece.vertices);
            } else if !empty {
                self.lists.vertex(scan, piece)?;
            } else {
                if self.lists.header.flags.numbers() > 0 && piece.bare.is_none() {
                    piece.bare = Some((piece.vertices, scan.at));
                }
                piece.vertices += 1;
            }
            scan.next_line();
        }
        Ok(())
    }

    fn accept(&mut self, mut piece: ListLines, lines: &[u8]) -> Result<(), ScanFault> {
        let ListGrammar { lists, sink, .. } = self;
        let before = lists.vertices;
        let left = lists.header.vertices.count - u64::from(before);
        if let Some((vertex, byte)) = piece.bare
            && u64::from(vertex) < left
        {
            let fault = ScanFault::new(
                byte,
                if lists.header.flags.sizes {
                    NO_SIZE.to_string() + " is missing"
                } else {
                    "the weight of a vertex is missing".into()
                },
            );
            return Err(fault
                .expected("a whole number", b"")
                .hint("a vertex without neighbours has its weights alone in its line"));
        }
        // Empty lines may follow the last vertex.
        if u64::from(piece.vertices) >= left {
            if let Some(byte) = list_behind(lines, left) {
                let fault = ScanFault::new(
                    byte,
                    "the file has more lines of neighbours than its header says vertices",
                );
                let fault = fault.expected(
                    format!("the end of the file behind {} of them", lists.header.vertices.count),
                    grammar::first_line(&lines[byte..]),
                );
                return Err(fault.hint("correct the count in the header, if the lists are whole"));
            }
            piece.vertices = left as u32;
        }
        lists.comments.extend(piece.comments.iter().map(|&vertex| vertex + before));
        lists.vertices += piece.vertices;
        lists.numbers.append(&mut piece.numbers);
        piece.edges.source.iter_mut().for_each(|source| *source += before);
        let ends = piece.edges.source.iter().zip(&piece.edges.target);
        lists.loops += ends.filter(|(source, target)| source == target).count() as u64;
        sink.take(piece.edges);
        Ok(())
    }

    fn settle(&mut self) -> Read<()> {
        self.sink.settle()
    }
}

impl NeighbourLists {
    fn vertex(&self, scan: &mut Scan, piece: &mut ListLines) -> Result<(), ScanFault> {
        let flags = self.header.flags;
        for number in 0..flags.numbers() {
            let name = if number == 0 && flags.sizes { NO_SIZE } else { "the weight of a vertex" };
            piece.numbers.push(read_integer(scan, name)?);
        }
        while !scan.line_ends() {
            piece.edges.source.push(piece.vertices);
            piece.edges.target.push(scan.row(
                "a neighbour",
                1,
                self.header.vertices.count as u32,
            )?);
            if let Some(weight) = &mut piece.edges.weight {
                let hint = "fmt 1 says that each neighbour is followed by the weight of the edge; \
                            without weights it is 0";
                weight.push(scan.finite("the weight of an edge", hint)?);
            }
        }
        piece.vertices += 1;
        Ok(())
    }
}

fn read_integer(scan: &mut Scan, name: &str) -> Result<i64, ScanFault> {
    let word = scan.word();
    let what = match std::str::from_utf8(word).ok().and_then(|word| word.parse::<i64>().ok()) {
        Some(number) => return Ok(number),
        None if word.is_empty() => "is missing",
        None => "is not a whole number",
    };
    let hint = "the third number of the header says what lines begin with: 10 for weights, 100 for \
                sizes, the fourth how many weights";
    Err(ScanFault::new(scan.at - word.len(), format!("{name} {what}"))
        .expected("a whole number", word)
        .hint(hint))
}

fn read_header(scan: &mut Scan, lines: &[u8], before: u64) -> Result<MetisHeader, ScanFault> {
    let claim = |scan: &mut Scan, name: &str, most: u64| {
        ClaimedCount::read(
            scan,
            lines,
            before,
            &format!("the METIS header has no sound number of {name}"),
            most,
        )
    };
    let vertices = claim(scan, "vertices", NODES_MOST)?;
    if scan.line_ends() {
        let fault = ScanFault::new(
            scan.at.min(lines.len()),
            "the METIS header has one number: this is a mesh, not a graph",
        );
        return Err(fault
            .expected("VERTICES EDGES [FMT [WEIGHTS]]", b"")
            .hint("make a graph of it:  m2gmetis FILE.mesh FILE.graph"));
    }
    let edges = claim(scan, "edges", u64::MAX)?;
    scan.skip_blanks();
    let (start, format) = (scan.at, scan.word());
    if format.len() > 3 || format.iter().any(|digit| !matches!(digit, b'0' | b'1')) {
        let fault = ScanFault::new(start, "the third number of the METIS header is no format")
            .expected("up to three digits 0 or 1: sizes, vertex weights, edge weights", format);
        return Err(fault.hint(
            "is this an edge list? name its format in the catalogue's entry:  format: edge_list",
        ));
    }
    let flag = |place: usize| format.len() >= place && format[format.len() - place] == b'1';
    let weights = if scan.line_ends() {
        u64::from(flag(2))
    } else {
        claim(scan, "vertex weights", u64::MAX)?.count
    };
    let fits = usize::try_from(weights)
        .ok()
        .filter(|&weights| (weights > 0) == flag(2) || weights == 0 && !flag(2));
    let Some(weights) = fits else {
        let fault = ScanFault::new(
            start,
            "the METIS header says vertex weights and how many, and the two disagree",
        );
        return Err(fault.expected(
            "fmt 10 or 11 with a number from 1, or neither",
            format!("fmt {} and {weights}", String::from_utf8_lossy(format)).as_bytes(),
        ));
    };
    scan.end("the METIS header has too many numbers", "VERTICES EDGES [FMT [WEIGHTS]]", "")?;
    Ok(MetisHeader {
        vertices,
        edges,
        flags: Flags { sizes: flag(3), weights, edge_weights: flag(1) },
    })
}

/// The first line that is neither empty nor a comment behind so many lists.
fn list_behind(lines: &[u8], lists: u64) -> Option<usize> {
    let mut scan = Scan::new(lines);
    let mut seen = 0;
    while scan.more() {
        let empty = scan.line_ends();
        let list = scan.byte() != b'%';
        if list && !empty && seen >= lists {
            return Some(scan.at);
        }
        seen += u64::from(list);
        scan.next_line();
    }
    None
}
