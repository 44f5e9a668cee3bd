//! Coordinates of nodes: `p aux sp co n`, then `v id x y`.
use super::item_lines::{no_problem_error, skip_to_item};
use crate::{
    raw_graph::{Column, NODES_MOST},
    read_error::Read,
    text::{
        counted_header::ClaimedCount,
        grammar::{self, BlockSizes, Grammar, Scan, ScanFault},
    },
};
use std::path::Path;

/// Reads the places of `nodes` nodes as columns `x` and `y`.
pub fn read(path: &Path, nodes: u32, sizes: BlockSizes) -> Read<Vec<(String, Column)>> {
    let mut places =
        Places { rows: nodes, x: Axis::new(nodes), y: Axis::new(nodes), ..Places::default() };
    grammar::parse(path, &mut places, sizes)?;
    let Some(claimed) = &places.nodes else {
        return Err(no_problem_error(path, "p aux sp co NODES"));
    };
    if claimed.count != u64::from(nodes) {
        let error = claimed
            .mark
            .error(path, "the coordinates are not those of the graph beside them")
            .expected(format!("{nodes} nodes, as the graph has"), claimed.count.to_string());
        return Err(Box::new(error.hint("take graph and coordinates of one data set")));
    }
    claimed.reached(path, "places", places.read)?;
    Ok(vec![("x".into(), places.x.column()), ("y".into(), places.y.column())])
}

/// A column, of whole numbers as long as no other came.
#[derive(Default)]
struct Axis {
    whole: Vec<Option<i64>>,
    real: Vec<Option<f64>>,
}

#[derive(Clone, Copy)]
enum Coordinate {
    Whole(i64),
    Real(f64),
}

impl Axis {
    fn new(nodes: u32) -> Axis {
        Axis { whole: vec![None; nodes as usize], real: Vec::new() }
    }

    fn set(&mut self, row: u32, number: Coordinate) {
        let row = row as usize;
        match number {
            Coordinate::Whole(whole) if self.real.is_empty() => self.whole[row] = Some(whole),
            Coordinate::Whole(whole) => self.real[row] = Some(whole as f64),
            Coordinate::Real(real) => {
                if self.real.is_empty() {
                    self.real = std::mem::take(&mut self.whole)
                        .into_iter()
                        .map(|whole| whole.map(|whole| whole as f64))
                        .collect();
                }
                self.real[row] = Some(real);
            }
        }
    }

    fn is_set(&self, row: u32) -> bool {
        if self.real.is_empty() {
            self.whole[row as usize].is_some()
        } else {
            self.real[row as usize].is_some()
        }
    }

    fn column(self) -> Column {
        if self.real.is_empty() { Column::Integers(self.whole) } else { Column::Reals(self.real) }
    }
}

#[derive(Default)]
struct Places {
    /// Nodes of the graph.
    rows: u32,
    nodes: Option<ClaimedCount>,
    read: u64,
    x: Axis,
    y: Axis,
}

/// Row, x and y, and the byte of the id.
type CoordinateLine = (u32, Coordinate, Coordinate, usize);

impl Grammar for Places {
    type Chunk = Vec<CoordinateLine>;

    fn header(&mut self, lines: &[u8], before: u64) -> Result<Option<usize>, ScanFault> {
        let mut scan = Scan::new(lines);
        if !skip_to_item(&mut scan) {
            return Ok(None);
        }
        let start = scan.at;
        for expected in ["p", "aux", "sp", "co"] {
            let word = scan.word();
            if word != expected.as_bytes() {
                return Err(ScanFault::new(
                    start,
                    "the coordinates do not begin with their problem line",
                )
                .expected("p aux sp co NODES", grammar::first_line(&lines[start..])));
            }
        }
        self.nodes = Some(ClaimedCount::read(
            &mut scan,
            lines,
            before,
            "the problem line has no sound number of nodes",
            NODES_MOST,
        )?);
        scan.end("the problem line has a number too many", "p aux sp co NODES", "")?;
        scan.next_line();
        Ok(Some(scan.at.min(lines.len())))
    }

    fn body(&self, scan: &mut Scan<'_>, places: &mut Vec<CoordinateLine>) -> Result<(), ScanFault> {
        while skip_to_item(scan) {
            let (start, letter) = (scan.at, scan.word());
            if letter != b"v" {
                return Err(ScanFault::new(
                    start,
                    "a line of coordinates begins with an unknown letter",
                )
                .expected("v NODE X Y, or c and a comment", letter));
            }
            let row = scan.row("the node", 1, self.rows)?;
            let (x, y) = (read_number(scan)?, read_number(scan)?);
            scan.end("a line of coordinates has a column too many", "v NODE X Y", "")?;
            places.push((row, x, y, start));
            scan.next_line();
        }
        Ok(())
    }

    fn accept(&mut self, piece: Vec<CoordinateLine>, lines: &[u8]) -> Result<(), ScanFault> {
        for (row, x, y, start) in piece {
            if self.x.is_set(row) {
                let line = grammar::first_line(&lines[start..]);
                return Err(ScanFault::new(start, "a node has a second place")
                    .expected("each node once", line)
                    .hint("remove one of the two lines"));
            }
            self.x.set(row, x);
            self.y.set(row, y);
            self.read += 1;
        }
        Ok(())
    }
}

fn read_number(scan: &mut Scan) -> Result<Coordinate, ScanFault> {
    let word = scan.word();
    let text = std::str::from_utf8(word).unwrap_or_default();
    if let Ok(whole) = text.parse() {
        return Ok(Coordinate::Whole(whole));
    }
    match text.parse() {
        Ok(real) if f64::is_finite(real) => Ok(Coordinate::Real(real)),
        _ => {
            let what = if word.is_empty() {
                "a coordinate is missing"
            } else {
                "a coordinate is not a finite number"
            };
            Err(ScanFault::new(scan.at - word.len(), what).expected("v NODE X Y", word))
        }
    }
}
