//! Edge lists as SNAP and many others publish them: an edge a line, `source target [weight]`, or a
//! table whose first line names its columns.
//!
//! promises  the same graph for any number of threads and any size of block; edges in the order of
//!           the file
//! promises  an error names the first bad line and the column in it; counts in the file that
//!           disagree with its body are an error; what may have been meant otherwise, and weights
//!           that f32 does not hold, are told in `notes`
//! reads     comments `#`, `%` and `//`; blanks, tabs, `,`, `;`, `|` or (where nothing else
//!           separates) `:` between columns, other signs and several together (`::`, `->`) as the
//!           first line has them or `separator` says; fields in quotes, CRLF, a byte-order mark, a
//!           last line without end, gzip, zstd, a zip archive of one member; a first line `NODES
//!           EDGES`
//! never     changes its mind: the first two lines decide what ids and columns are; a third column
//!           is a weight in every line or in none, or else ends a statement `HEAD RELATION TAIL` in
//!           each
//! limits    a line of 64 MiB; 20 bytes an edge at the peak (measured on 5 M edges; more with
//!           weights, words and ids above 2^32)
mod compact_ids;
mod counts;
pub(crate) mod field_lines;
pub(crate) mod header;
mod number_lines;
mod parsed_lines;
pub(crate) mod table_edges;
pub(crate) mod third_column;

use crate::{
    column_roles::unread_of_edges,
    containers::{bundle::is_about, decompress::PlainFile},
    detect::{
        file_heads::FileHeads,
        signatures::{self, lacks_magic},
    },
    f32_rounding::RoundedIntegers,
    format::{Format, expect_one_file},
    options::Options,
    out_of_core::{EdgeAttributes, Limit, LoadedGraph, OriginalIds},
    raw_graph::{ColumnRoles, EdgeFeatures, Edges, RawGraph},
    read_error::{Read, ReadError},
    text::{
        blocks::{BlockMessage, count, cut, stream},
        comments::{first_lines, leading_comments},
        field_fault::FieldFault,
        grammar::BlockSizes,
    },
};
use counts::{ClaimedSize, Extremes, FirstLine};
use header::{LineFormat, ListHeader, TIME_LEAST, is_surely};
use number_lines::NumberColumns;
use parsed_lines::{ParsedEnds, ParsedLines};
use rayon::prelude::*;
use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    time::{Duration, Instant},
};
use table_edges::KnownColumns;

/// Bytes that are read at once, and those that one task parses: eight tasks a block; three blocks
/// are there at a time.
const SIZES: BlockSizes = BlockSizes { block: 4 << 20, piece: 1 << 19 };

const TIME_NOTE: &str = "the third column is read as weights, and may be a time: all of it are \
                         whole numbers from 100000000 on; to pass it over:  read: {columns: \
                         [source, target, time]}  in the catalogue's entry";

/// Edge lists.
pub const FORMAT: Format = Format {
    name: "edge_list",
    about: "text with an edge a line: source target [weight]",
    recognise,
    read_within: |files, options, limit| {
        let path = expect_one_file(files)?;
        read_edges(PlainFile::open(path)?, options, &KnownColumns::default(), limit)
            .and_then(|found| refuse_no_edges(path, found))
    },
};

/// Refuses a list that names columns and no edge, where nothing else says that there are nodes: a
/// query that found nothing writes that.
pub(crate) fn refuse_no_edges(path: &Path, found: LoadedGraph) -> Read<LoadedGraph> {
    if found.graph.nodes() > 0 {
        return Ok(found);
    }
    let error = ReadError::new(path, "the edge list holds no edge")
        .expected("at least one edge", "none, below names of columns");
    Err(Box::new(error.hint(
        "write the edges; nodes without edges come from a table of nodes beside them:  --nodes \
         FILE",
    )))
}

/// The one file that is an edge list beyond doubt; else the one file that is text.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let files: Vec<&Path> =
        look.files().filter(|(path, _)| !is_about(path)).map(|(path, _)| path).collect();
    // What is called Parquet and is none is damaged, not a list.
    let is_text = |path: &Path| {
        !look.head(path).is_empty()
            && !look.head(path).contains(&0)
            && lacks_magic(path, look.head(path)).is_none()
    };
    let text: Vec<&Path> = files.into_iter().filter(|path| is_text(path)).collect();
    let sure: Vec<&Path> = text.iter().copied().filter(|path| is_surely(look.head(path))).collect();
    match (&sure[..], &text[..]) {
        ([file], _) | ([], [file]) => Some(vec![file.to_path_buf()]),
        _ => None,
    }
}

/// How long the phases of a read took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// From bytes to edges in the data set's own ids.
    pub parse: Duration,
    /// From there to rows.
    pub compact: Duration,
}

/// Reads an edge list.
pub fn read(path: &Path, options: &Options) -> Read<RawGraph> {
    read_measured(path, options).map(|(graph, _)| graph)
}

/// Reads an edge list, and says how long the phases took.
pub fn read_measured(path: &Path, options: &Options) -> Read<(RawGraph, Phases)> {
    read_by(PlainFile::open(path)?, options, &KnownColumns::default(), SIZES)
}

/// Reads the edges of a file, of another format too.
pub(crate) fn read_edges(
    plain: PlainFile,
    options: &Options,
    known: &KnownColumns,
    limit: &Limit,
) -> Read<LoadedGraph> {
    let path = plain.path().to_path_buf();
    let mut parser = EdgeListParser::new(&path, options, known, limit, SIZES);
    parser.read(plain)?;
    parser.finish()
}

fn read_by(
    plain: PlainFile,
    options: &Options,
    known: &KnownColumns,
    sizes: BlockSizes,
) -> Read<(RawGraph, Phases)> {
    let path = plain.path().to_path_buf();
    let begun = Instant::now();
    let limit = Limit::none();
    let mut parser = EdgeListParser::new(&path, options, known, &limit, sizes);
    parser.read(plain)?;
    let parse = begun.elapsed();
    let begun = Instant::now();
    let LoadedGraph { graph, .. } = parser.finish()?;
    Ok((graph, Phases { parse, compact: begun.elapsed() }))
}

/// Turns blocks into pieces, in order.
struct EdgeListParser<'a> {
    path: &'a Path,
    options: &'a Options,
    known: &'a KnownColumns,
    sizes: BlockSizes,
    pieces: Vec<ParsedLines>,
    /// Lines before those that are being parsed.
    lines: u64,
    /// Text from the first line that is no comment, until two such lines are there.
    pending: Vec<u8>,
    head: Option<ListHeader>,
    counts: Option<ClaimedSize>,
    /// The line of the first edge.
    first_line: u64,
    /// Above a share of this, edges go to a file.
    limit: &'a Limit,
    /// Bytes that the pieces take.
    held: u64,
    /// Of the edges in the file.
    extremes: Extremes,
    rounded: RoundedIntegers,
    spill: Option<OriginalIds>,
}

impl<'a> EdgeListParser<'a> {
    fn new(
        path: &'a Path,
        options: &'a Options,
        known: &'a KnownColumns,
        limit: &'a Limit,
        sizes: BlockSizes,
    ) -> Self {
        EdgeListParser {
            path,
            options,
            known,
            sizes,
            pieces: Vec::new(),
            lines: 0,
            pending: Vec::new(),
            head: None,
            counts: None,
            first_line: 1,
            limit,
            held: 0,
            extremes: Extremes::default(),
            rounded: RoundedIntegers::default(),
            spill: None,
        }
    }

    fn read(&mut self, mut plain: PlainFile) -> Read<()> {
        stream(
            self.path,
            Vec::new(),
            self.sizes.block,
            move |buffer, most| plain.fill(buffer, most),
            |blocks| self.parse_all(blocks),
        )
    }

    /// Writes the pieces away, if they take more than they may.
    fn spill(&mut self) -> Read<()> {
        if self.spill.is_none() && self.limit.admits(self.held) {
            return Ok(());
        }
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(OriginalIds::new(self.path, self.limit)?),
        };
        for piece in self.pieces.drain(..) {
            self.extremes.add(&piece);
            if !piece.features.is_empty() {
                spill.take_features(
                    (piece.features.len() / piece.ends.len().max(1)) as u32,
                    &piece.features,
                )?;
            }
            let told = EdgeAttributes {
                weight: &piece.weight,
                relation: &piece.relation.index,
                relations: &piece.relation.words,
            };
            match &piece.ends {
                ParsedEnds::Narrow(pairs) => {
                    spill.take_numbers(false, pairs.iter().map(|pair| pair.map(u64::from)), told)?
                }
                ParsedEnds::Wide(pairs) => spill.take_numbers(true, pairs.iter().copied(), told)?,
                ParsedEnds::Words { words, pairs } => {
                    spill.take_words(words, pairs.iter().copied(), told)?
                }
            }
        }
        Ok(())
    }

    fn parse_all(&mut self, blocks: mpsc::Receiver<BlockMessage>) -> Read<()> {
        let mut first = true;
        for message in blocks {
            let mut block = match message {
                BlockMessage::Block(block) => block,
                BlockMessage::Endless(start) => {
                    return Err(report(
                        self.path,
                        self.lines + count(&self.pending),
                        &start,
                        &FieldFault::too_long(0),
                    ));
                }
                BlockMessage::Failed(error) => return Err(error),
            };
            if std::mem::take(&mut first) {
                if block.starts_with(b"\xef\xbb\xbf") {
                    block.drain(..3);
                }
                refuse_other_formats(self.path, &block)?;
            }
            if self.head.is_some() {
                self.parse(&block, 0)?;
                drop(block);
                self.spill()?;
                continue;
            }
            if self.pending.is_empty() {
                self.pending = block
            } else {
                self.pending.extend_from_slice(&block)
            }
            self.pass_comments();
            // A last line without end is there as a whole only at the end of the file.
            if first_lines(&self.pending)
                .get(1)
                .is_some_and(|(start, line)| start + line.len() < self.pending.len())
            {
                self.begin()?;
            }
        }
        if self.head.is_none() && !self.pending.is_empty() {
            self.begin()?;
        }
        self.spill()?;
        // Names of columns, or counts, without an edge below them are a graph without edges, as in
        // every other form.
        let is_told = self.head.as_ref().is_some_and(|head| head.skip > 0);
        if !is_told && self.spill.is_none() && self.pieces.iter().all(|piece| piece.ends.len() == 0)
        {
            let error = ReadError::new(self.path, "the edge list holds no edge")
                .expected("at least one line  SOURCE TARGET", "none");
            return Err(Box::new(
                error.hint("is this the right file? a download that failed may have left it empty"),
            ));
        }
        Ok(())
    }

    /// Takes whole lines of comments from the beginning.
    fn pass_comments(&mut self) {
        let passed = leading_comments(&self.pending);
        if self.options.counts != Some(false) {
            self.counts = self
                .counts
                .or_else(|| counts::find_in_comments(&self.pending[..passed], self.lines));
        }
        self.lines += count(&self.pending[..passed]);
        self.pending.drain(..passed);
    }

    /// Decides how lines are read, and parses what waited for that.
    fn begin(&mut self) -> Read<()> {
        let text = std::mem::take(&mut self.pending);
        self.first_line = self.lines + 1;
        let head = match &self.known.layout {
            Some(layout) => ListHeader::from_layout(layout.clone()),
            None => header::decide_format(&text, self.options, self.known.type_is_relation)
                .map_err(|fault| report(self.path, self.lines, &text, &fault))?,
        };
        let skip = head.skip;
        if let Some([nodes, edges]) = head.counted {
            self.counts = Some(ClaimedSize {
                nodes,
                edges,
                line: self.first_line,
                from_comment: false,
                told: self.options.counts == Some(true),
            });
        }
        self.head = Some(head);
        self.parse(&text, skip)
    }

    /// Parses whole lines from byte `skip` on; all pieces at once.
    fn parse(&mut self, text: &[u8], skip: usize) -> Read<()> {
        let Some(head) = &self.head else { return Ok(()) };
        let parse = |piece: &[u8]| match &head.how {
            LineFormat::Numbers(shape) => number_lines::parse(piece, *shape),
            LineFormat::Fields(layout) => field_lines::parse(piece, layout, head.directed),
        };
        let lines = count(&text[..skip]);
        // The line end of the first line goes with it.
        let skip = if text.get(skip) == Some(&b'\n') && skip > 0 { skip + 1 } else { skip };
        let parsed: Vec<_> = cut(&text[skip..], self.sizes.piece)
            .into_par_iter()
            .map(|(start, piece)| (start, parse(piece)))
            .collect();
        self.pieces.reserve(parsed.len());
        let mut read = 0;
        for (start, result) in parsed {
            let piece = result
                .map_err(|fault| number_lines::with_table_hint(fault, self.options))
                .map_err(|fault| {
                    report(
                        self.path,
                        self.lines,
                        text,
                        &FieldFault { byte: fault.byte + start + skip, ..fault },
                    )
                })?;
            self.rounded.join(piece.rounded, self.lines + lines + read);
            read += piece.lines;
            self.held += piece.bytes();
            self.pieces.push(piece);
        }
        self.lines += lines + read;
        Ok(())
    }

    fn finish(self) -> Read<LoadedGraph> {
        let EdgeListParser {
            path,
            options,
            mut pieces,
            head,
            mut counts,
            first_line,
            known,
            extremes,
            spill,
            rounded,
            ..
        } = self;
        let Some(head) = head else { return Ok(LoadedGraph::held(RawGraph::default())) };
        let (mut skip_first, mut notes) = (false, Vec::new());
        if head.is_pair && counts.is_none() && options.counts.is_none() && known.layout.is_none() {
            let extremes = if spill.is_some() { extremes } else { Extremes::from_pieces(&pieces) };
            match counts::first_edge_counts(path, &extremes, first_line, head.is_narrower)? {
                FirstLine::Edge => {}
                FirstLine::Unusual(note) => notes.push(note),
                FirstLine::Counts(found) => (counts, skip_first) = (Some(found), true),
            }
        }
        let passed_over = head.passed_over.iter().map(|name| unread_of_edges(name)).collect();
        notes.extend(head.padded.as_deref().map(padded_note));
        notes.extend(rounded.note("weights", "line"));
        let roles =
            ColumnRoles { edge_features: options.edge_features.clone(), ..ColumnRoles::default() };
        let mut graph =
            RawGraph { directed: head.directed, passed_over, notes, roles, ..RawGraph::default() };
        let mut spilled = None;
        if let Some(spill) = spill {
            let (ids, seen, mut edges) = spill.finish(skip_first)?;
            let names = compact_ids::names_of_relations(path, seen.clone())?;
            edges.name_relations(
                &seen
                    .iter()
                    .map(|name| names.partition_point(|known| known < name) as u16)
                    .collect::<Vec<_>>(),
            );
            (graph.ids, graph.relations, spilled) = (ids, names, Some(edges));
        } else {
            if skip_first {
                counts::drop_first(&mut pieces);
            }
            gather(path, &head, pieces, &mut graph)?;
        }
        let edges = spilled.as_ref().map_or(graph.edges.len() as u64, |spilled| spilled.edges);
        if let Some(third) = head.third {
            third_column::refuse_doubtful(path, first_line, third, &graph, spilled.as_ref())?;
        }
        let is_shaped =
            matches!(&head.how, LineFormat::Numbers(NumberColumns { columns: Some(3), .. }))
                && head.skip == 0;
        let is_time = |&weight: &f32| weight >= TIME_LEAST && weight.fract() == 0.0;
        if is_shaped
            && graph
                .edges
                .weight
                .as_ref()
                .is_some_and(|weights| !weights.is_empty() && weights.iter().all(is_time))
        {
            graph.notes.push(TIME_NOTE.to_owned());
        }
        let known_ids = graph.ids.clone();
        graph.nodes_told =
            options.nodes.is_some() || counts.is_some_and(|counts| !counts.from_comment);
        if let Some(counts) = counts {
            counts::check_counts(path, counts, &mut graph, edges)?;
        }
        if let Some(nodes) = options.nodes {
            counts::set_node_count(path, nodes, &mut graph)?;
        }
        let spilled = spilled.map(|spilled| spilled.move_to_ids(&known_ids, &graph.ids));
        Ok(LoadedGraph { graph, spilled })
    }
}

/// Ids, edges and relations of all pieces.
fn gather(
    path: &Path,
    head: &ListHeader,
    mut pieces: Vec<ParsedLines>,
    graph: &mut RawGraph,
) -> Read<()> {
    let relations = compact_ids::relations(path, &mut pieces)?;
    let relation = relations.as_ref().map(|_| {
        pieces
            .iter()
            .flat_map(|piece| piece.relation.index.iter().map(|&index| index as u16))
            .collect()
    });
    let weighted = pieces.iter().any(|piece| !piece.weight.is_empty());
    let weight = weighted.then(|| joined(&mut pieces, |piece| std::mem::take(&mut piece.weight)));
    let columns =
        if let LineFormat::Fields(layout) = &head.how { layout.features.len() as u32 } else { 0 };
    let features = (columns > 0).then(|| EdgeFeatures {
        columns,
        values: joined(&mut pieces, |piece| std::mem::take(&mut piece.features)),
    });
    let (ids, source, target) = compact_ids::compact(path, pieces)?;
    (graph.ids, graph.edges, graph.relations) =
        (ids, Edges { source, target, weight, relation, features }, relations.unwrap_or_default());
    Ok(())
}

/// The numbers of all pieces in order, each piece's let go as soon as they are taken.
fn joined(
    pieces: &mut [ParsedLines],
    mut take: impl FnMut(&mut ParsedLines) -> Vec<f32>,
) -> Vec<f32> {
    let lists: Vec<Vec<f32>> = pieces.iter_mut().map(&mut take).collect();
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    lists.into_iter().for_each(|list| all.extend_from_slice(&list));
    all
}

/// Files that begin like another format are named, rather than a number in them.
fn refuse_other_formats(path: &Path, text: &[u8]) -> Read<()> {
    let refuse = |name: &str, hint: &str| {
        Err(Box::new(
            ReadError::new(path, format!("the file is {name}, not an edge list"))
                .at_line(1, 1, first_line(text))
                .hint(hint),
        ))
    };
    if let Some(hint) = signatures::find_pickle_hint(path, text) {
        let what = "the file is a pickle, not an edge list; of pickles only Planetoid's \
                    `ind.NAME.*` are read";
        return Err(Box::new(ReadError::new(path, what).hint(hint)));
    }
    // A page that was downloaded in the place of a file, a pointer of git LFS.
    if let Some((what, hint)) = signatures::find_signature(
        path,
        text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start(),
    ) {
        return refuse(what, &hint);
    }
    match text {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            refuse("text in UTF-16", "convert it:  iconv -f UTF-16 -t UTF-8 FILE > NEW")
        }
        _ if text.iter().take(64).skip(1).step_by(2).filter(|&&byte| byte == 0).count() > 1 => {
            refuse(
                "text in UTF-16 without a byte-order mark",
                "convert it:  iconv -f UTF-16LE -t UTF-8 FILE > NEW",
            )
        }
        _ if text.starts_with(b"%%MatrixMarket") => refuse(
            "a Matrix Market file",
            "name its format, or write its entries as  SOURCE TARGET  lines",
        ),
        _ => Ok(()),
    }
}

/// Told where the first lines make ids words.
fn padded_note(id: &str) -> String {
    format!(
        "ids are words, since `{id}` has a zero before it; as numbers:  --set ingest.ids=number"
    )
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'\n').next().unwrap_or(text)
}

/// The error for a fault in `text`, of which `lines` lines lie before.
fn report(path: &Path, lines: u64, text: &[u8], fault: &FieldFault) -> Box<ReadError> {
    let start =
        text[..fault.byte].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
    let line = lines + 1 + count(&text[..start]);
    let error = ReadError::new(path, fault.what.clone()).at_line(
        line,
        (fault.byte - start) as u64 + 1,
        first_line(&text[start..]),
    );
    Box::new(error.expected(fault.expected.clone(), fault.found.clone()).hint(fault.hint.clone()))
}

#[cfg(test)]
mod tests;
