//! Sets of many graphs as adjacency lists in one text: the number of graphs; for each a line `NODES
//! LABEL`, then for each of its nodes a line `TAG DEGREE NEIGHBOUR... [ATTRIBUTE...]`.
//!
//! promises  nodes and graphs are numbered from 0 in the order of the text; every neighbour in a
//!           list is one edge, repeats and loops too
//! promises  tags are labels of nodes, unless all are the same; each pair `train_idx-K.txt`,
//!           `test_idx-K.txt` is a split of the graphs
//! reads     the text, packed or not, with the splits beside it, or a zip with all of them
//! limits    memory by what is listed, not by what the text claims
//! source    K. Xu et al., How Powerful are Graph Neural Networks? (2019);
//!           github.com/weihua916/powerful-gnns, github.com/yeweiysh/IHGNN
use crate::{
    containers::{
        bundle::{Bundle, file_name, list_unread},
        zip,
    },
    detect::file_heads::FileHeads,
    format::Format,
    options::Options,
    out_of_core::LoadedGraph,
    raw_graph::{Edges, Features, Graphs, IN_NO_PART, NODES_MOST, NodeIds, RawGraph, TEST, TRAIN},
    read_error::{Read, ReadError},
    text::{
        lines::{LineFault, split_lines},
        number_table::{NumberTable, TableNumber, classes, words},
    },
};
use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
};

/// Plain bytes of a member that recognition sees.
const HEAD_BYTES: u64 = 1 << 14;

/// Adjacency lists of many graphs in one text.
pub const FORMAT: Format = Format {
    name: "adjacency_text",
    about: "many graphs as adjacency lists in one text, or in a zip with splits",
    recognise,
    read_within: |files, options, _| Ok(LoadedGraph::held(read(files, options)?)),
};

/// The text with the splits beside it, or a zip with one such text.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let texts: Vec<PathBuf> = look
        .files()
        .filter(|(path, _)| is_such(look.head(path)))
        .map(|(path, _)| path.to_path_buf())
        .collect();
    if let [text] = &texts[..] {
        let folds = look
            .files()
            .filter(|(_, name)| fold_of(name).is_some())
            .map(|(path, _)| path.to_path_buf());
        return Some(folds.chain([text.clone()]).collect());
    }
    let holds = |path: &&Path| {
        let Some(archive) = look.sound(zip::ZipArchive::open(path)) else { return false };
        archive
            .names()
            .filter(|name| is_text(name))
            .any(|name| look.sound(head_of(&archive, name)).is_some_and(|head| is_such(&head)))
    };
    look.ending(".zip").into_iter().find(holds).map(|path| vec![path.to_path_buf()])
}

/// The first plain bytes of a member.
fn head_of(archive: &zip::ZipArchive, name: &str) -> Read<Vec<u8>> {
    let mut head = Vec::new();
    archive
        .reader(name)?
        .take(HEAD_BYTES)
        .read_to_end(&mut head)
        .map_err(|error| archive.fault(name, &error))?;
    Ok(head)
}

/// Whether a name may be that of the text.
fn is_text(name: &str) -> bool {
    name.ends_with(".txt")
        && fold_of(name).is_none()
        && !name.split('/').any(|step| step == "__MACOSX" || step.starts_with('.'))
}

/// The number of a split, and its part.
fn fold_of(name: &str) -> Option<(u32, u8)> {
    let stem = file_name(name).strip_suffix(".txt")?;
    let (number, part) = stem
        .strip_prefix("train_idx-")
        .map(|number| (number, TRAIN))
        .or(stem.strip_prefix("test_idx-").map(|number| (number, TEST)))?;
    Some((number.parse().ok()?, part))
}

/// Whether the first three lines are those of such a text.
fn is_such(head: &[u8]) -> bool {
    let mut lines = split_lines(head).map(|(_, line)| {
        words(line).map(|(_, word)| u32::read(word)).collect::<Option<Vec<u32>>>()
    });
    let one = matches!(lines.next().flatten().as_deref(), Some([graphs]) if *graphs > 0);
    let mut pair = split_lines(head).skip(1).map(|(_, line)| {
        words(line).map(|(_, word)| i64::read(word)).collect::<Option<Vec<i64>>>()
    });
    let Some(Some(graph)) = pair.next() else { return false };
    let [nodes, _] = graph[..] else { return false };
    let Some((_, line)) = split_lines(head).nth(2) else { return false };
    let row: Vec<&[u8]> = words(line).map(|(_, word)| word).collect();
    let Some(degree) = row.get(1).and_then(|word| u32::read(word)).map(|degree| degree as usize)
    else {
        return false;
    };
    let whole = head.iter().filter(|&&byte| byte == b'\n').count() > 2;
    let neighbours = row.iter().skip(2).take(degree);
    one && nodes > 0
        && i64::read(row[0]).is_some()
        && (!whole || row.len() >= degree + 2)
        && neighbours.clone().enumerate().all(|(at, word)| {
            i64::read(word).map_or(!whole && at + 3 == row.len(), |id| (0..nodes).contains(&id))
        })
}

/// Reads the text, or the zip.
pub fn read(files: &[PathBuf], _: &Options) -> Read<RawGraph> {
    let bundle = Bundle::open(files)?;
    let candidates: Vec<usize> = match files.len() {
        1 if bundle.names().count() == 1 => vec![0],
        _ => bundle
            .names()
            .filter(|(_, name)| fold_of(name).is_none() && is_text(file_name(name)))
            .map(|(index, _)| index)
            .collect(),
    };
    let [text] = candidates[..] else {
        let path = candidates.get(1).map_or_else(
            || files.first().cloned().unwrap_or_default(),
            |&index| bundle.path(index).to_path_buf(),
        );
        let error = ReadError::new(&path, "one text with adjacency lists is needed")
            .expected("one", candidates.len().to_string());
        return Err(Box::new(
            error.hint("name the file in the catalogue's entry:  data/catalog/<name>.yaml"),
        ));
    };
    let lines = bundle.text(text)?.lines()?;
    let claimed = match u32::read(lines.first().trim_ascii()) {
        Some(claimed) => claimed,
        None => {
            let fault = LineFault::new(0, "the text does not begin with the number of graphs")
                .expected(u32::EXPECTED, lines.first());
            return Err(lines.fault(&fault.hint("is this a set of adjacency lists?")));
        }
    };
    let mut set = AdjacencySet::default();
    lines.skip_first()?.blocks(|block| {
        split_lines(block).try_for_each(|(start, line)| {
            set.line(line).map_err(|fault| LineFault { byte: fault.byte + start, ..fault })
        })
    })?;
    set.check(bundle.path(text), claimed)?;
    let folds = read_folds(&bundle, claimed)?;
    Ok(RawGraph { passed_over: list_unread(&bundle, |_| false), ..set.build(claimed, folds) })
}

/// What was read so far.
#[derive(Default)]
struct AdjacencySet {
    /// Nodes of the graph at hand that are still to come.
    left: u32,
    /// Nodes of the graph at hand, and the row of its first.
    nodes: u32,
    first: u32,
    /// An empty line was seen: nothing may follow.
    ended: bool,
    labels: Vec<Option<i64>>,
    of_node: Vec<u32>,
    tags: Vec<Option<i64>>,
    source: Vec<u32>,
    target: Vec<u32>,
    attribute_columns: Option<usize>,
    attributes: Vec<f32>,
}

impl AdjacencySet {
    fn line(&mut self, line: &[u8]) -> Result<(), LineFault> {
        let mut words = words(line);
        let Some(first) = words.next() else {
            self.ended = true;
            return Ok(());
        };
        if self.ended {
            return Err(LineFault::new(0, "the text goes on behind an empty line")
                .expected("the end of the text", line)
                .hint("remove the empty line before this one"));
        }
        let (at, word) = first;
        let number = i64::read(word);
        if self.left == 0 {
            let nodes = number.and_then(|nodes| u32::try_from(nodes).ok());
            let nodes = nodes.ok_or_else(|| {
                LineFault::new(at, "a graph does not begin with its number of nodes")
                    .expected(u32::EXPECTED, word)
            })?;
            let (at, word) = words.next().unwrap_or((line.len(), &[]));
            let label = i64::read(word).ok_or_else(|| {
                LineFault::new(at, "a graph has no label")
                    .expected("NODES LABEL, two whole numbers", word)
            })?;
            if let Some((at, word)) = words.next() {
                return Err(LineFault::new(at, "a graph's first line has more than NODES LABEL")
                    .expected("the end of the line", word));
            }
            self.first = self.of_node.len() as u32;
            if u64::from(self.first) + u64::from(nodes) > NODES_MOST {
                return Err(LineFault::new(0, "the set has too many nodes")
                    .expected(format!("at most {NODES_MOST}"), b"more"));
            }
            self.labels.push(Some(label));
            (self.nodes, self.left) = (nodes, nodes);
            return Ok(());
        }
        let tag = number.ok_or_else(|| {
            LineFault::new(at, "a node does not begin with its tag")
                .expected("a whole number", word)
        })?;
        self.node(tag, line, words)
    }

    /// What follows a node's tag.
    fn node<'a>(
        &mut self,
        tag: i64,
        line: &[u8],
        mut words: impl Iterator<Item = (usize, &'a [u8])>,
    ) -> Result<(), LineFault> {
        let (at, word) = words.next().unwrap_or((line.len(), &[]));
        let degree = u32::read(word).ok_or_else(|| {
            LineFault::new(at, "a node has no number of neighbours").expected(u32::EXPECTED, word)
        })?;
        let row = self.of_node.len() as u32;
        for listed in 0..degree {
            let Some((at, word)) = words.next() else {
                let fault = LineFault::new(line.len(), "a node has fewer neighbours than it says");
                return Err(
                    fault.expected(format!("{degree} neighbours"), listed.to_string().as_bytes())
                );
            };
            let neighbour =
                u32::read(word).filter(|&neighbour| neighbour < self.nodes).ok_or_else(|| {
                    let fault = LineFault::new(at, "a neighbour is no node of this graph");
                    fault
                        .expected(format!("a node from 0 to {}", self.nodes - 1), word)
                        .hint("nodes are counted from 0 inside each graph")
                })?;
            self.source.push(row);
            self.target.push(self.first + neighbour);
        }
        let before = self.attributes.len();
        for (at, word) in words {
            self.attributes.push(f32::read(word).ok_or_else(|| {
                LineFault::new(at, "an attribute of a node is no number")
                    .expected(f32::EXPECTED, word)
            })?);
        }
        let found = self.attributes.len() - before;
        let columns = *self.attribute_columns.get_or_insert(found);
        if found != columns {
            let fault = LineFault::new(
                line.len(),
                "a node has another number of attributes than the first one",
            );
            return Err(fault
                .expected(columns.to_string(), found.to_string().as_bytes())
                .hint("is the number of its neighbours right?"));
        }
        self.tags.push(Some(tag));
        self.of_node.push(self.labels.len() as u32 - 1);
        self.left -= 1;
        Ok(())
    }

    /// Whether all that was claimed is there.
    fn check(&self, path: &Path, claimed: u32) -> Read<()> {
        let (what, expected, found) = if self.left > 0 {
            (
                "the text ends inside a graph",
                format!("{} nodes", self.nodes),
                (self.nodes - self.left).to_string(),
            )
        } else if self.labels.len() as u64 != u64::from(claimed) {
            (
                "the text has another number of graphs than its first line says",
                format!("{claimed} graphs"),
                self.labels.len().to_string(),
            )
        } else {
            return Ok(());
        };
        let hint = "download it again: remove the file, then  warploom data fetch";
        Err(Box::new(ReadError::new(path, what).expected(expected, found).hint(hint)))
    }

    fn build(self, graphs: u32, splits: Vec<Vec<u8>>) -> RawGraph {
        let nodes = self.of_node.len() as u32;
        // One tag for all is how sets without labels of nodes are written.
        let told_apart = self.tags.windows(2).any(|pair| pair[0] != pair[1]);
        let features = self.attribute_columns.filter(|&columns| columns > 0);
        RawGraph {
            ids: NodeIds::Count(nodes),
            edges: Edges { source: self.source, target: self.target, ..Edges::default() },
            directed: Some(false),
            features: features.map(|columns| Features::Dense {
                columns: columns as u32,
                values: self.attributes,
            }),
            node_labels: told_apart.then(|| classes(self.tags)),
            graphs: Some(Graphs {
                of_node: self.of_node,
                ids: NodeIds::Count(graphs),
                labels: Some(classes(self.labels)),
                splits,
                ..Graphs::default()
            }),
            ..RawGraph::default()
        }
    }
}

/// The splits by ascending number: training and test, no validation.
fn read_folds(bundle: &Bundle, graphs: u32) -> Read<Vec<Vec<u8>>> {
    let mut folds: Vec<((u32, u8), usize)> =
        bundle.names().filter_map(|(index, name)| Some((fold_of(name)?, index))).collect();
    folds.sort_unstable();
    let mut splits: Vec<(u32, Vec<u8>)> = Vec::new();
    let mut times: BTreeMap<(u32, u8), u32> = BTreeMap::new();
    folds.iter().for_each(|(fold, _)| *times.entry(*fold).or_default() += 1);
    for &((number, part), index) in &folds {
        let twin = [TRAIN, TEST].iter().all(|&part| times.contains_key(&(number, part)));
        let twice = times[&(number, part)] > 1;
        if !twin || twice {
            let error = ReadError::new(
                bundle.path(index),
                "a split is not one file for training and one for testing",
            );
            return Err(Box::new(error.expected(
                format!("train_idx-{number}.txt and test_idx-{number}.txt"),
                if twice { "one twice" } else { "this one alone" },
            )));
        }
        let table: NumberTable<u32> =
            NumberTable::read(bundle.text(index)?, "graphs of the split", Some(1))?;
        if splits.last().is_none_or(|(last, _)| *last != number) {
            splits.push((number, vec![IN_NO_PART; graphs as usize]));
        }
        let Some((_, split)) = splits.last_mut() else { continue };
        for (row, &graph) in table.values.iter().enumerate() {
            match split.get_mut(graph as usize) {
                None => {
                    let error = table.error(row, "a split names a graph that does not exist");
                    return Err(Box::new(error.expected(
                        format!("a graph from 0 to {}", graphs.saturating_sub(1)),
                        graph.to_string(),
                    )));
                }
                Some(&mut IN_NO_PART) => split[graph as usize] = part,
                Some(_) => {
                    return Err(Box::new(
                        table
                            .error(row, "a split names a graph twice")
                            .expected("each graph once", graph.to_string()),
                    ));
                }
            }
        }
    }
    Ok(splits.into_iter().map(|(_, split)| split).collect())
}

#[cfg(test)]
mod tests;
