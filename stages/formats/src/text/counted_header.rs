//! Formats that count their nodes and edges in a header instead of naming them.
//!
//! promises  a header that disagrees with the body is an error; what a header claims costs nothing
//!           before the body has shown it
use super::grammar::{Scan, ScanFault, TextPlace, first_line, nth_line};
use crate::{
    options::Options,
    raw_graph::{NODES_MOST, NodeIds},
    read_error::Read,
};
use std::path::Path;

/// Nodes that a file may claim whatever its size, and how many more for each edge that it lists.
/// Nodes without an edge cost eight bytes each: real sets have far fewer, and a damaged header must
/// not cost the memory of a whole machine.
const NODES_FREE: u64 = 1 << 20;
const NODES_PER_EDGE: u64 = 64;

/// A number that a header claims, and where.
#[derive(Clone, Debug, Default)]
pub struct ClaimedCount {
    /// The number.
    pub count: u64,
    /// Its place.
    pub mark: TextPlace,
}

impl ClaimedCount {
    /// Reads the next number of a header in `lines`, before which `before` lie; `what` is wrong if
    /// there is none, or one above `most`.
    pub fn read(
        scan: &mut Scan,
        lines: &[u8],
        before: u64,
        what: &str,
        most: u64,
    ) -> Result<ClaimedCount, ScanFault> {
        scan.skip_blanks();
        let start = scan.at;
        if let Some(count) = scan.whole().filter(|&count| count <= most) {
            return Ok(ClaimedCount { count, mark: TextPlace::new(lines, start, before) });
        }
        scan.at = start;
        Err(ScanFault::new(start, what)
            .expected(format!("a whole number up to {most}"), scan.word()))
    }

    /// Of the `found` items in `lines`, `before` of them before: the first that is too many is a
    /// fault. `counts` knows the lines that are items.
    pub fn admit(
        &self,
        items: &str,
        before: u64,
        found: u64,
        lines: &[u8],
        counts: impl Fn(&[u8]) -> bool,
    ) -> Result<(), ScanFault> {
        if before + found <= self.count {
            return Ok(());
        }
        let byte = nth_line(lines, self.count - before, counts);
        let what = format!("the file has more {items} than its header says");
        let fault = ScanFault::new(byte, what).expected(
            format!("no more than {}, as line {} says", self.count, self.mark.line),
            first_line(&lines[byte..]),
        );
        Err(fault.hint("correct the count in the header, if the body is whole"))
    }

    /// All items were there.
    pub fn reached(&self, path: &Path, items: &str, found: u64) -> Read<()> {
        if found == self.count {
            return Ok(());
        }
        let error =
            self.mark.error(path, format!("the file has fewer {items} than its header says"));
        let error = error.expected(format!("{} {items}", self.count), found.to_string());
        Err(Box::new(error.hint(
            "the file may be cut short: fetch it again; if the body is whole, correct the count",
        )))
    }
}

/// Ids of as many nodes as a header claims, for a body with `edges` edges. `first` is the number of
/// the first node in the format.
pub fn ids(
    path: &Path,
    nodes: &ClaimedCount,
    edges: u64,
    first: u64,
    options: &Options,
) -> Read<NodeIds> {
    let most = NODES_MOST.min(NODES_FREE.max(edges.saturating_mul(NODES_PER_EDGE)));
    if nodes.count > most {
        let error = nodes
            .mark
            .error(path, "the header claims too many nodes for the edges that the file has");
        let error = error
            .expected(format!("at most {most} nodes with {edges} edges"), nodes.count.to_string());
        return Err(Box::new(error.hint(
            "nodes without an edge can be left out: write the edges as an edge list,  SOURCE \
             TARGET  a line",
        )));
    }
    Ok(numbered(nodes.count as u32, first, options))
}

/// `count` ids in a row: from the number that the options name, else from `first`.
pub fn numbered(count: u32, first: u64, options: &Options) -> NodeIds {
    match options.first_id.map_or(first, u64::from) {
        0 => NodeIds::Count(count),
        first => NodeIds::Numbers((first..first + u64::from(count)).collect()),
    }
}
