//! The header and the neighbour lists of a METIS file, as they stand.
use crate::{
    counted::Claim,
    raw::{NODES_MOST, Read, ReadError},
    text::{self, Fault, Grammar, Scan, Sizes},
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
pub struct Header {
    pub vertices: Claim,
    pub edges: Claim,
    pub flags: Flags,
}

/// The neighbour lists of a file.
#[derive(Default)]
pub struct Lists {
    pub header: Header,
    /// Neighbours of each vertex.
    pub degree: Vec<u32>,
    /// All neighbours, list after list.
    pub target: Vec<u32>,
    /// Weights of the edges to them.
    pub weight: Option<Vec<f32>>,
    /// Sizes and weights of vertices, row after row.
    pub numbers: Vec<i64>,
    /// For each comment line among the lists, how many vertices stand before it.
    comments: Vec<u32>,
    /// The flag 100 means sizes.
    with_sizes: bool,
    read_header: bool,
}

/// Why a reading with sizes may fail where one without does not.
const NO_SIZE: &str = "the size of a vertex";

/// Whether a file with the flag 100 may have no sizes.
pub fn may_be_without_sizes(error: &ReadError) -> bool {
    error.what.starts_with(NO_SIZE) || error.what.starts_with("a neighbour") || error.what.starts_with("the weight of")
}

impl Lists {
    /// Reads a file. `with_sizes`: the flag 100 means vertex sizes.
    pub fn read(path: &Path, with_sizes: bool, sizes: Sizes) -> Read<Lists> {
        let mut lists = Lists { with_sizes, ..Lists::default() };
        text::parse(path, &mut lists, sizes)?;
        if !lists.read_header {
            let error = ReadError::new(path, "the METIS file has no header").expected("a line  VERTICES EDGES", "the end of the file");
            return Err(Box::new(error.hint("the file may be cut short: fetch it again")));
        }
        let found = lists.degree.len() as u64;
        lists.header.vertices.reached(path, "lists of neighbours (an empty line is one, too)", found)?;
        Ok(lists)
    }

    /// Whether there are as many neighbours as edges claim: two for each, of a self loop perhaps one.
    pub fn is_count_of_header(&self, directed: bool) -> bool {
        let (found, claimed) = (self.target.len() as u64, self.header.edges.count);
        if directed {
            return found == claimed;
        }
        found == claimed.saturating_mul(2) || found + self.loops() == claimed.saturating_mul(2)
    }

    fn loops(&self) -> u64 {
        self.rows().enumerate().map(|(vertex, row)| row.iter().filter(|&&target| target as usize == vertex).count() as u64).sum()
    }

    fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.degree.iter().scan(0, |start, &degree| {
            let row = &self.target[*start..*start + degree as usize];
            *start += degree as usize;
            Some(row)
        })
    }

    /// The vertex in whose list each neighbour stands.
    pub fn sources(&self) -> Vec<u32> {
        let mut source = Vec::with_capacity(self.target.len());
        for (vertex, &degree) in self.degree.iter().enumerate() {
            source.resize(source.len() + degree as usize, vertex as u32);
        }
        source
    }

    /// The line of a vertex's list.
    pub fn line(&self, vertex: u32) -> u64 {
        let comments = self.comments.partition_point(|&before| before <= vertex);
        self.header.vertices.mark.line + 1 + u64::from(vertex) + comments as u64
    }
}

/// The lists of some lines.
#[derive(Default)]
pub struct Piece {
    degree: Vec<u32>,
    target: Vec<u32>,
    weight: Vec<f32>,
    numbers: Vec<i64>,
    comments: Vec<u32>,
    /// The first empty line where weights or sizes should stand, by vertex and byte: right only behind the last vertex.
    bare: Option<(u32, usize)>,
}

impl Grammar for Lists {
    type Piece = Piece;

    fn header(&mut self, lines: &[u8], before: u64) -> Result<Option<usize>, Fault> {
        let mut scan = Scan::new(lines);
        while scan.more() {
            if !scan.line_ends() && scan.byte() != b'%' {
                self.header = read_header(&mut scan, lines, before)?;
                self.header.flags.sizes &= self.with_sizes;
                self.read_header = true;
                scan.next_line();
                return Ok(Some(scan.at.min(lines.len())));
            }
            scan.next_line();
        }
        Ok(None)
    }

    fn body(&self, lines: &[u8], piece: &mut Piece) -> Result<(), Fault> {
        let mut scan = Scan::new(lines);
        while scan.more() {
            let empty = scan.line_ends();
            if scan.byte() == b'%' {
                piece.comments.push(piece.degree.len() as u32);
            } else if !empty {
                self.vertex(&mut scan, piece)?;
            } else {
                if self.header.flags.numbers() > 0 && piece.bare.is_none() {
                    piece.bare = Some((piece.degree.len() as u32, scan.at.min(lines.len())));
                }
                piece.degree.push(0);
            }
            scan.next_line();
        }
        Ok(())
    }

    fn accept(&mut self, mut piece: Piece, lines: &[u8]) -> Result<(), Fault> {
        let before = self.degree.len() as u64;
        let left = self.header.vertices.count - before;
        if let Some((vertex, byte)) = piece.bare
            && u64::from(vertex) < left
        {
            let fault =
                Fault::new(byte, if self.header.flags.sizes { NO_SIZE.to_string() + " is missing" } else { "the weight of a vertex is missing".into() });
            return Err(fault.expected("a whole number", b"").hint("a vertex without neighbours has its weights alone in its line"));
        }
        // Empty lines may follow the last vertex.
        if piece.degree.len() as u64 >= left {
            if let Some(byte) = list_behind(lines, left) {
                let fault = Fault::new(byte, "the file has more lines of neighbours than its header says vertices");
                let fault = fault.expected(format!("the end of the file behind {} of them", self.header.vertices.count), text::first_line(&lines[byte..]));
                return Err(fault.hint("correct the count in the header, if the lists are whole"));
            }
            piece.degree.truncate(left as usize);
        }
        self.comments.extend(piece.comments.iter().map(|&vertex| vertex + before as u32));
        self.degree.append(&mut piece.degree);
        self.target.append(&mut piece.target);
        self.numbers.append(&mut piece.numbers);
        if self.header.flags.edge_weights {
            self.weight.get_or_insert_default().append(&mut piece.weight);
        }
        Ok(())
    }
}

impl Lists {
    fn vertex(&self, scan: &mut Scan, piece: &mut Piece) -> Result<(), Fault> {
        let flags = self.header.flags;
        for number in 0..flags.numbers() {
            let name = if number == 0 && flags.sizes { NO_SIZE } else { "the weight of a vertex" };
            piece.numbers.push(read_integer(scan, name)?);
        }
        let start = piece.target.len();
        while !scan.line_ends() {
            piece.target.push(scan.row("a neighbour", 1, self.header.vertices.count as u32)?);
            if flags.edge_weights {
                let hint = "fmt 1 says that each neighbour is followed by the weight of the edge; without weights it is 0";
                piece.weight.push(scan.finite("the weight of an edge", hint)?);
            }
        }
        piece.degree.push((piece.target.len() - start) as u32);
        Ok(())
    }
}

fn read_integer(scan: &mut Scan, name: &str) -> Result<i64, Fault> {
    let word = scan.word();
    let what = match std::str::from_utf8(word).ok().and_then(|word| word.parse::<i64>().ok()) {
        Some(number) => return Ok(number),
        None if word.is_empty() => "is missing",
        None => "is not a whole number",
    };
    let hint = "the third number of the header says what lines begin with: 10 for weights, 100 for sizes, the fourth how many weights";
    Err(Fault::new(scan.at - word.len(), format!("{name} {what}")).expected("a whole number", word).hint(hint))
}

fn read_header(scan: &mut Scan, lines: &[u8], before: u64) -> Result<Header, Fault> {
    let claim = |scan: &mut Scan, name: &str, most: u64| Claim::read(scan, lines, before, &format!("the METIS header has no sound number of {name}"), most);
    let vertices = claim(scan, "vertices", NODES_MOST)?;
    if scan.line_ends() {
        let fault = Fault::new(scan.at.min(lines.len()), "the METIS header has one number: this is a mesh, not a graph");
        return Err(fault.expected("VERTICES EDGES [FMT [WEIGHTS]]", b"").hint("make a graph of it:  m2gmetis FILE.mesh FILE.graph"));
    }
    let edges = claim(scan, "edges", u64::MAX)?;
    scan.skip_blanks();
    let (start, format) = (scan.at, scan.word());
    if format.len() > 3 || format.iter().any(|digit| !matches!(digit, b'0' | b'1')) {
        let fault = Fault::new(start, "the third number of the METIS header is no format")
            .expected("up to three digits 0 or 1: sizes, vertex weights, edge weights", format);
        return Err(fault.hint("is this an edge list? name its format in the catalogue's entry:  format: edge_list"));
    }
    let flag = |place: usize| format.len() >= place && format[format.len() - place] == b'1';
    let weights = if scan.line_ends() { u64::from(flag(2)) } else { claim(scan, "vertex weights", u64::MAX)?.count };
    let fits = usize::try_from(weights).ok().filter(|&weights| (weights > 0) == flag(2) || weights == 0 && !flag(2));
    let Some(weights) = fits else {
        let fault = Fault::new(start, "the METIS header says vertex weights and how many, and the two disagree");
        return Err(
            fault.expected("fmt 10 or 11 with a number from 1, or neither", format!("fmt {} and {weights}", String::from_utf8_lossy(format)).as_bytes())
        );
    };
    scan.end("the METIS header has too many numbers", "VERTICES EDGES [FMT [WEIGHTS]]", "")?;
    Ok(Header { vertices, edges, flags: Flags { sizes: flag(3), weights, edge_weights: flag(1) } })
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
