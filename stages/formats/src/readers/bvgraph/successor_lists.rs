//! The successor lists of a BVGraph, one after the other.
//!
//! how       a list is part of an earlier one (blocks of it are copied), then intervals, then
//!           single successors (residuals); three ascending sequences without a number in common,
//!           which are merged. Of earlier lists the last are kept, as far as one may refer back
use super::{
    bit_codes::{Bits, BrokenCode, Code, signed},
    properties::Properties,
};
use crate::read_error::{Read, ReadError};
use std::{collections::VecDeque, path::Path};

/// Arcs that a stream may hold whatever its size, and for each of its bits. A clique packs any
/// number of arcs into few bits; real graphs, the most regular too, have about one bit an arc.
const ARCS_FREE: u64 = 1 << 24;
const ARCS_PER_BIT: u64 = 256;
/// A writer may fill its last word.
const BITS_LEFT_MOST: u64 = 63;

/// Hands over every node with its successors.
pub fn decode(
    path: &Path,
    stream: Vec<u8>,
    properties: &Properties,
    take: impl FnMut(u32, &[u32]) -> Read<()>,
) -> Read<()> {
    if properties.little {
        Decoder::<true>::new(stream, properties).run(path, take)
    } else {
        Decoder::<false>::new(stream, properties).run(path, take)
    }
}

/// What is wrong with a list.
enum StreamFault {
    Broken(BrokenCode),
    /// What is wrong, expected and found.
    Wrong(&'static str, String, String),
}

impl From<BrokenCode> for StreamFault {
    fn from(broken: BrokenCode) -> StreamFault {
        StreamFault::Broken(broken)
    }
}

fn wrong<T>(
    what: &'static str,
    expected: impl ToString,
    found: impl ToString,
) -> Result<T, StreamFault> {
    Err(StreamFault::Wrong(what, expected.to_string(), found.to_string()))
}

struct Decoder<'a, const LITTLE: bool> {
    bits: Bits<LITTLE>,
    properties: &'a Properties,
    /// Arcs so far.
    arcs: u64,
    /// The last lists, as many as one may refer to.
    recent: VecDeque<Vec<u32>>,
    /// The list at hand.
    targets: Vec<u32>,
    /// Parts of the list at hand, kept for their memory.
    copied: Vec<u32>,
    intervals: Vec<u32>,
    residuals: Vec<u32>,
}

impl<'a, const LITTLE: bool> Decoder<'a, LITTLE> {
    fn new(stream: Vec<u8>, properties: &'a Properties) -> Self {
        let (copied, intervals, residuals) = Default::default();
        Decoder {
            bits: Bits::new(stream),
            properties,
            arcs: 0,
            recent: VecDeque::new(),
            targets: Vec::new(),
            copied,
            intervals,
            residuals,
        }
    }

    fn run(mut self, path: &Path, mut take: impl FnMut(u32, &[u32]) -> Read<()>) -> Read<()> {
        let Properties { nodes, arcs, .. } = *self.properties;
        let bits = self.bits.length();
        let most = ARCS_FREE.max(bits.saturating_mul(ARCS_PER_BIT));
        if arcs > most {
            let error = ReadError::new(
                path,
                "the properties claim more arcs than a graph of this size can hold",
            );
            return Err(Box::new(
                error
                    .expected(format!("at most {most} arcs in {bits} bits"), arcs.to_string())
                    .hint(FETCH),
            ));
        }
        // Every list has a bit at least.
        if u64::from(nodes) > bits {
            let error =
                ReadError::new(path, "the properties claim more nodes than the graph has bits");
            return Err(Box::new(
                error.expected(format!("at most {bits} nodes"), nodes.to_string()).hint(FETCH),
            ));
        }
        for node in 0..nodes {
            let start = self.bits.at();
            self.list(node).map_err(|fault| self.report(path, node, start, fault))?;
            self.arcs += self.targets.len() as u64;
            take(node, &self.targets)?;
            self.recent.push_back(std::mem::take(&mut self.targets));
            if self.recent.len() as u64 > self.properties.window {
                self.targets = self.recent.pop_front().unwrap_or_default();
                self.targets.clear();
            }
        }
        let (at, found) = (self.bits.at(), self.arcs);
        if found != arcs {
            let error = ReadError::new(path, "the graph has fewer arcs than its properties say");
            return Err(Box::new(
                error.expected(format!("{arcs} arcs"), found.to_string()).hint(FETCH),
            ));
        }
        if bits - at > BITS_LEFT_MOST {
            let error = ReadError::new(path, "the graph goes on behind the list of its last node")
                .at_byte(at / 8);
            return Err(Box::new(
                error
                    .expected("the end of the file", format!("{} more bits", bits - at))
                    .hint(FETCH),
            ));
        }
        Ok(())
    }

    fn report(&self, path: &Path, node: u32, start: u64, fault: StreamFault) -> Box<ReadError> {
        let (what, expected, found) = match fault {
            StreamFault::Broken(BrokenCode::End) => {
                ("the file ends", "the list", "the end of the file")
            }
            StreamFault::Broken(BrokenCode::Large) => {
                ("a number is too large", "a number below 2^63", "more bits")
            }
            StreamFault::Wrong(what, ref expected, ref found) => {
                (what, expected.as_str(), found.as_str())
            }
        };
        let what = format!("the list of node {node} is damaged: {what}");
        Box::new(
            ReadError::new(path, what).at_byte(start / 8).expected(expected, found).hint(FETCH),
        )
    }

    fn number(&mut self, code: Code) -> Result<u64, StreamFault> {
        Ok(self.bits.number(code)?)
    }

    /// Decodes the list of the next node.
    fn list(&mut self, node: u32) -> Result<(), StreamFault> {
        let properties = self.properties;
        let degree = self.number(properties.outdegrees)?;
        let left = properties.arcs - self.arcs;
        if degree > left.min(properties.nodes.into()) {
            return wrong(
                "its outdegree is too large",
                format!("at most {} nodes, and {left} arcs that are left", properties.nodes),
                degree,
            );
        }
        if degree == 0 {
            return Ok(());
        }
        self.copied.clear();
        if properties.window > 0 {
            let back = self.number(properties.references)?;
            if back > properties.window.min(node.into()) {
                return wrong(
                    "it refers too far back",
                    format!("at most {} lists", properties.window.min(node.into())),
                    back,
                );
            }
            if back > 0 {
                self.copy(back, degree)?;
            }
        }
        let mut extra = degree - self.copied.len() as u64;
        self.intervals.clear();
        if extra > 0 && properties.interval_least > 0 {
            self.read_intervals(node, &mut extra)?;
        }
        self.residuals.clear();
        self.read_residuals(node, extra)?;
        self.merge()
    }

    /// Copies blocks of the list so far back.
    fn copy(&mut self, back: u64, degree: u64) -> Result<(), StreamFault> {
        let from = self.recent.len() - back as usize;
        let (mut at, end) = (0, self.recent[from].len() as u64);
        let blocks = self.number(self.properties.block_counts)?;
        if blocks > end - at + 1 {
            return wrong("it copies more blocks than there are successors", end - at + 1, blocks);
        }
        for block in 0..blocks {
            let length = self.number(self.properties.blocks)?;
            let length = length.saturating_add(u64::from(block > 0));
            if length > end - at {
                return wrong(
                    "it copies more than there is",
                    format!("at most {} successors", end - at),
                    length,
                );
            }
            if block % 2 == 0 {
                self.copied
                    .extend_from_slice(&self.recent[from][at as usize..(at + length) as usize]);
            }
            at += length;
        }
        // What follows the last block is copied if that one was not.
        if blocks % 2 == 0 {
            self.copied.extend_from_slice(&self.recent[from][at as usize..end as usize]);
        }
        if self.copied.len() as u64 > degree {
            return wrong("it copies more successors than it has", degree, self.copied.len());
        }
        Ok(())
    }

    /// Reads runs of successors, of the `extra` that were not copied.
    fn read_intervals(&mut self, node: u32, extra: &mut u64) -> Result<(), StreamFault> {
        let Properties { nodes, intervals: code, interval_least: least, .. } = *self.properties;
        let count = self.number(code)?;
        let mut next = 0;
        for interval in 0..count {
            let gap = self.number(code)?;
            let start =
                if interval == 0 { offset_node(node, gap) } else { gap.checked_add(next + 1) };
            let length = self.number(code)?.saturating_add(least);
            if length > *extra {
                return wrong(
                    "its intervals are longer than it is",
                    format!("at most {extra} successors"),
                    length,
                );
            }
            let Some(start) = start.filter(|start| start.saturating_add(length) <= nodes.into())
            else {
                return wrong(
                    "an interval leaves the nodes",
                    format!("successors below {nodes}"),
                    "more or less",
                );
            };
            next = start + length;
            self.intervals.extend(start as u32..next as u32);
            *extra -= length;
        }
        Ok(())
    }

    fn read_residuals(&mut self, node: u32, extra: u64) -> Result<(), StreamFault> {
        let Properties { nodes, residuals: code, .. } = *self.properties;
        let mut next = 0;
        for residual in 0..extra {
            let gap = self.number(code)?;
            let successor =
                if residual == 0 { offset_node(node, gap) } else { gap.checked_add(next) };
            let Some(successor) = successor.filter(|&successor| successor < nodes.into()) else {
                return wrong(
                    "a successor is no node",
                    format!("a node below {nodes}"),
                    "more or less",
                );
            };
            self.residuals.push(successor as u32);
            next = successor + 1;
        }
        Ok(())
    }

    /// Puts copied successors, intervals and residuals together in ascending order.
    fn merge(&mut self) -> Result<(), StreamFault> {
        match (self.copied.is_empty(), self.intervals.is_empty(), self.residuals.is_empty()) {
            (_, true, true) => self.targets.extend_from_slice(&self.copied),
            (true, _, true) => self.targets.extend_from_slice(&self.intervals),
            (true, true, _) => self.targets.extend_from_slice(&self.residuals),
            _ => {
                let (mut copied, mut intervals, mut residuals) =
                    (&self.copied[..], &self.intervals[..], &self.residuals[..]);
                let first = |list: &[u32]| list.first().copied().unwrap_or(u32::MAX);
                for _ in 0..copied.len() + intervals.len() + residuals.len() {
                    let (a, b, c) = (first(copied), first(intervals), first(residuals));
                    let least = a.min(b).min(c);
                    let from = if a == least {
                        &mut copied
                    } else if b == least {
                        &mut intervals
                    } else {
                        &mut residuals
                    };
                    *from = &from[1..];
                    self.targets.push(least);
                }
            }
        }
        match self.targets.windows(2).find(|pair| pair[0] >= pair[1]) {
            None => Ok(()),
            Some(pair) => wrong("a successor comes twice", "each once", pair[1]),
        }
    }
}

const FETCH: &str = "graph and properties must be of one graph, and whole: fetch both again";

/// The number that lies so far before or behind a node.
fn offset_node(node: u32, gap: u64) -> Option<u64> {
    i64::from(node).checked_add(signed(gap)).and_then(|start| u64::try_from(start).ok())
}
