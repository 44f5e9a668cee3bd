//! WebGraph's BVGraph: `NAME.graph`, a stream of bits, and `NAME.properties`.
//!
//! promises  the arcs of the graph by source, each list ascending; nodes count from 0. Lists are
//!           decoded one after the other: no offsets are needed
//! promises  nothing is believed: a damaged or hostile stream is an error that names the node and
//!           the byte
//! reads     codes unary, gamma, delta, zeta and nibble for every part that has a choice; both
//!           orders of bits; WebGraph's for Java and for Rust
//! refuses   the codes golomb, omega and pi; other classes of graphs of WebGraph; counts of arcs
//!           that disagree
//! limits    one core; the stream as a whole in memory; 11 bytes an arc at the peak (measured on 3
//!           M arcs); of arcs 2^24, or 256 for each bit of the stream: what no real graph reaches
//! format    P. Boldi, S. Vigna, The WebGraph Framework I: Compression Techniques (WWW 2004); class
//!           BVGraph of WebGraph
mod bit_codes;
mod properties;
mod successor_lists;

use crate::{
    containers::decompress::PlainFile,
    detect::file_heads::FileHeads,
    format::Format,
    options::Options,
    out_of_core::{EdgeSink, Limit, LoadedGraph},
    raw_graph::{Edges, RawGraph},
    read_error::{Read, ReadError},
    text::counted_header,
};
use properties::Properties;
use std::path::{Path, PathBuf};

/// Arcs that are handed on at once.
const ARCS_AT_ONCE: usize = 1 << 16;

/// WebGraph's compressed graphs.
pub const FORMAT: Format = Format {
    name: "bvgraph",
    about: "WebGraph's BVGraph: NAME.graph and NAME.properties",
    recognise,
    read_within,
};

/// Pairs `NAME.graph`, `NAME.properties`, of which the second names its class of WebGraph.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let mut files = Vec::new();
    for (path, name) in look.files() {
        let graph =
            name.strip_suffix(".properties").and_then(|name| look.named(&format!("{name}.graph")));
        if let Some(graph) = graph
            && look.head(path).windows(11).any(|text| text == b"graphclass=")
        {
            files.extend([graph.to_path_buf(), path.to_path_buf()]);
        }
    }
    (!files.is_empty()).then_some(files)
}

/// Reads the pair of files.
pub fn read_within(files: &[PathBuf], options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let look = FileHeads::new(files);
    let one = |end: &str| match look.ending(end)[..] {
        [path] => Ok(path.to_path_buf()),
        ref found => {
            let path = found
                .last()
                .copied()
                .or(files.first().map(PathBuf::as_path))
                .unwrap_or(Path::new(""));
            let error = ReadError::new(path, "a BVGraph is one pair of files")
                .expected(format!("one NAME{end}"), found.len().to_string());
            Err(Box::new(
                error.hint("name the two files in a catalogue entry:  data/catalog/<name>.yaml"),
            ))
        }
    };
    let (graph, properties) = (one(".graph")?, one(".properties")?);
    let properties = Properties::read(&properties)?;
    let stream = PlainFile::open(&graph)?.read_all()?;
    let (mut sink, mut arcs) = (EdgeSink::new(limit), Edges::default());
    successor_lists::decode(&graph, stream, &properties, |node, list| {
        arcs.target.extend_from_slice(list);
        arcs.source.resize(arcs.target.len(), node);
        if arcs.len() < ARCS_AT_ONCE {
            return Ok(());
        }
        sink.take(std::mem::take(&mut arcs));
        sink.settle()
    })?;
    sink.take(arcs);
    let (edges, spilled) = sink.finish()?;
    let ids = counted_header::numbered(properties.nodes, 0, options);
    let graph = RawGraph { ids, edges, nodes_told: true, ..RawGraph::default() };
    Ok(LoadedGraph { graph, spilled })
}

#[cfg(test)]
mod tests;
