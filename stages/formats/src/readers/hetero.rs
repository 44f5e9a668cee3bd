//! Graphs of several kinds of nodes, as HeCo and its heirs lay them out: a text file for each
//! relation, arrays beside.
//!
//! reads     `pa.txt` (row column a line; the letters are the two kinds), `p_feat.npz` or `.npy`,
//!           `labels.npy`, `train_20.npy`, `val_20.npy`, `test_20.npy`
//! promises  a node's id is `kind:number` with the number filled up with zeros to the width of its
//!           kind's last one (`p:0042`), so that ids ascend by kind and number; the number is that
//!           of the files, from 0
//! promises  labels and splits belong to the one kind that has as many nodes; all others have
//!           neither
//! never     reads the entries of meta-path graphs (`pap.npz`): they follow from the relations;
//!           only their sizes are compared, and `passed_over` names them
//! limits    kinds are single letters, which `read: {kinds: {p: paper}}` names; a node beyond all
//!           edges and features is an error
//! source    X. Wang et al., Self-supervised Heterogeneous Graph Neural Network with Co-contrastive
//!           Learning (2021); github.com/liun-online/HeCo
use super::edge_list;
use crate::{
    containers::{
        npy::{self, Array, node_values},
        npz::Npz,
        sparse_matrix,
    },
    detect::file_heads::FileHeads,
    format::Format,
    options::{Ids, Options},
    out_of_core::LoadedGraph,
    raw_graph::{
        Edges, Features, IN_NO_PART, Kinds, Labels, NO_CLASS, NODES_MOST, NodeIds, RawGraph,
    },
    read_error::{Read, ReadError},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Nodes that a kind may have in any case.
const NODES_ALWAYS: u64 = 1 << 22;
/// Nodes that a kind may have for each edge.
const NODES_AN_EDGE: u64 = 1 << 10;

/// Graphs of several kinds.
pub const FORMAT: Format = Format {
    name: "hetero",
    about: "kinds of nodes: pa.txt for each relation, p_feat.npz, labels.npy, train_20.npy and so \
            on",
    recognise,
    read_within: |files, options, _| Ok(LoadedGraph::held(read(files, options)?)),
};

/// What a file is, by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum HeteroFile {
    Relation(char, char),
    Features(char),
    /// The kind at its ends, and its name.
    MetaPath(char, String),
    Labels,
    /// 0 training, 1 validation, 2 test; the name of the split.
    List(usize, u64),
}

/// The name of a file without `.gz` and `.zst`.
fn plain_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name).to_owned()
}

fn part_of(name: &str) -> Option<HeteroFile> {
    let (stem, end) = name.rsplit_once('.')?;
    let letters: Vec<char> = stem.chars().collect();
    let only_letters = letters.iter().all(char::is_ascii_lowercase);
    match (end, &letters[..]) {
        ("txt", [row, column]) if only_letters => Some(HeteroFile::Relation(*row, *column)),
        ("npy" | "npz", [kind, ..]) if stem[1..] == *"_feat" && kind.is_ascii_lowercase() => {
            Some(HeteroFile::Features(*kind))
        }
        ("npz", [first, .., last])
            if only_letters
                && letters.len() % 2 == 1
                && first == last
                && letters.iter().eq(letters.iter().rev()) =>
        {
            Some(HeteroFile::MetaPath(*first, stem.to_owned()))
        }
        ("npy", _) if stem == "labels" => Some(HeteroFile::Labels),
        ("npy", _) => {
            let (part, split) = stem.split_once('_')?;
            Some(HeteroFile::List(
                ["train", "val", "test"].iter().position(|known| *known == part)?,
                split.parse().ok()?,
            ))
        }
        _ => None,
    }
}

/// Labels, and at least one relation that begins as a pair of numbers.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let parts: Vec<(&Path, HeteroFile)> =
        look.files().filter_map(|(path, name)| Some((path, part_of(name)?))).collect();
    let is_pairs = |path: &Path| {
        look.head(path)
            .iter()
            .take_while(|&&byte| byte != b'\n')
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace())
    };
    let relations = parts
        .iter()
        .filter(|(path, part)| {
            matches!(part, HeteroFile::Relation(..))
                && is_pairs(path)
                && !look.head(path).is_empty()
        })
        .count();
    let enough = relations > 0 && parts.iter().any(|(_, part)| *part == HeteroFile::Labels);
    enough.then(|| parts.into_iter().map(|(path, _)| path.to_path_buf()).collect())
}

/// Reads the files, given in any order. `options.kinds` names the letters.
pub fn read(files: &[PathBuf], options: &Options) -> Read<RawGraph> {
    let mut parts = BTreeMap::new();
    for path in files {
        let name = plain_name(path);
        let Some(part) = part_of(&name) else {
            let error =
                ReadError::new(path, "this file is no part of a set of several kinds of nodes");
            return Err(Box::new(error.expected(
                "pa.txt, p_feat.npz, pap.npz, labels.npy, train_20.npy, val_20.npy or test_20.npy",
                format!("`{name}`"),
            )));
        };
        if let Some(other) = parts.insert(part, path.as_path()) {
            return Err(Box::new(
                ReadError::new(path, "two files are the same part of the set")
                    .expected("one", format!("`{}` too", plain_name(other))),
            ));
        }
    }
    let mut notes = Vec::new();
    let relations = relations(&parts, &mut notes)?;
    let mut kinds = Census::new(&relations, options)?;
    let mut features = BTreeMap::new();
    let mut passed_over = Vec::new();
    for (part, path) in &parts {
        match part {
            HeteroFile::Features(letter) => {
                let read = read_features(path, &mut passed_over)?;
                kinds.exactly(*letter, read.0, path)?;
                features.insert(*letter, read.1);
            }
            HeteroFile::MetaPath(letter, name) => {
                kinds.exactly(
                    *letter,
                    sparse_matrix::read_shape(&Npz::open(path)?, "")?.0,
                    path,
                )?;
                passed_over.push(format!(
                    "the graph of paths `{name}.npz`, which follows from the relations"
                ));
            }
            _ => {}
        }
    }
    let labels = parts.get(&HeteroFile::Labels).map(|path| npy::read(path)).transpose()?;
    let labelled = labels.as_ref().map(|labels| kinds.labelled(labels, &parts)).transpose()?;
    let graph = kinds.build(relations, features, labels.zip(labelled), &parts)?;
    Ok(RawGraph { passed_over, notes, ..graph })
}

/// A relation: its file, its kinds, its pairs by the numbers of the files.
struct RelationFile<'a> {
    path: &'a Path,
    ends: [char; 2],
    source: Vec<u64>,
    target: Vec<u64>,
    weight: Option<Vec<f32>>,
}

fn relations<'a>(
    parts: &BTreeMap<HeteroFile, &'a Path>,
    notes: &mut Vec<String>,
) -> Read<Vec<RelationFile<'a>>> {
    let mut relations = Vec::new();
    for (part, path) in parts {
        let HeteroFile::Relation(row, column) = part else { continue };
        let mut graph = edge_list::read(path, &Options { ids: Ids::Number, ..Options::default() })?;
        notes.extend(graph.notes.drain(..).map(|note| format!("`{}`: {note}", plain_name(path))));
        let ids = |rows: Vec<u32>| match &graph.ids {
            NodeIds::Numbers(ids) => rows.into_iter().map(|row| ids[row as usize]).collect(),
            _ => rows.into_iter().map(u64::from).collect(),
        };
        let (source, target) = (ids(graph.edges.source), ids(graph.edges.target));
        relations.push(RelationFile {
            path,
            ends: [*row, *column],
            source,
            target,
            weight: graph.edges.weight,
        });
    }
    if let [first, .., last] = &relations[..]
        && let Some(other) =
            relations.iter().find(|relation| relation.weight.is_some() != first.weight.is_some())
    {
        let odd = if other.weight.is_some() { other } else { last };
        return Err(Box::new(
            ReadError::new(odd.path, "some relations have a third column and others have none")
                .expected("weights in all or in none", "both"),
        ));
    }
    Ok(relations)
}

/// Rows and features of a kind; arrays beside them are passed over.
fn read_features(path: &Path, passed_over: &mut Vec<String>) -> Read<(u64, Features)> {
    if plain_name(path).ends_with(".npz") {
        let npz = Npz::open(path)?;
        let others = npz.names().filter(|name| !sparse_matrix::is_part("", name));
        passed_over.extend(others.map(|name| format!("array `{name}` of `{}`", plain_name(path))));
        let entries = sparse_matrix::read_entries(&npz, "")?;
        return Ok((u64::from(entries.rows), entries.into_features()));
    }
    let array = npy::read(path)?;
    Ok((array.rows()?.0 as u64, node_values::features(&array)?))
}

/// How many nodes each kind has.
struct Census {
    kinds: BTreeMap<char, NodeKind>,
    /// Nodes that stand for themselves in edges allow so many in a kind.
    most: u64,
}

struct NodeKind {
    name: String,
    /// One more than the largest number in a relation, and where.
    seen: u64,
    seen_in: PathBuf,
    /// As an array has it.
    exact: Option<u64>,
}

impl NodeKind {
    fn count(&self) -> u64 {
        self.exact.unwrap_or(self.seen)
    }
}

impl Census {
    fn new(relations: &[RelationFile<'_>], options: &Options) -> Read<Census> {
        let mut kinds: BTreeMap<char, NodeKind> = BTreeMap::new();
        for relation in relations {
            for (letter, numbers) in relation.ends.iter().zip([&relation.source, &relation.target])
            {
                let name = options
                    .kinds
                    .get(&letter.to_string())
                    .cloned()
                    .unwrap_or_else(|| letter.to_string());
                let seen = numbers.iter().max().map_or(0, |most| most.saturating_add(1));
                let kind = kinds.entry(*letter).or_insert_with(|| NodeKind {
                    name,
                    seen: 0,
                    seen_in: PathBuf::new(),
                    exact: None,
                });
                if seen > kind.seen {
                    (kind.seen, kind.seen_in) = (seen, relation.path.to_path_buf());
                }
            }
        }
        let Some(first) = relations.first() else {
            return Err(Box::new(
                ReadError::new(Path::new("pa.txt"), "the set has no relation")
                    .expected("a file of two letters such as pa.txt", "none"),
            ));
        };
        if let Some(unknown) = options
            .kinds
            .keys()
            .find(|letter| !kinds.keys().any(|known| known.to_string() == **letter))
        {
            let letters: Vec<String> = kinds.keys().map(char::to_string).collect();
            return Err(Box::new(
                ReadError::new(first.path, format!("no relation has the kind `{unknown}`"))
                    .expected(letters.join(", "), format!("`{unknown}`")),
            ));
        }
        let edges: u64 = relations.iter().map(|relation| relation.source.len() as u64).sum();
        let census = Census {
            kinds,
            most: NODES_ALWAYS.max(edges.saturating_mul(NODES_AN_EDGE)).min(NODES_MOST),
        };
        census.kinds.values().try_for_each(|kind| census.bounded(kind.seen, &kind.seen_in))?;
        Ok(census)
    }

    fn bounded(&self, count: u64, path: &Path) -> Read<()> {
        if count <= self.most {
            return Ok(());
        }
        let error = ReadError::new(path, "a node's number is far beyond the number of edges");
        Err(Box::new(error.expected(format!("at most {}", self.most - 1), (count - 1).to_string())))
    }

    /// An array says how many nodes there are.
    fn exactly(&mut self, letter: char, count: u64, path: &Path) -> Read<()> {
        self.bounded(count, path)?;
        let letters: Vec<String> = self.kinds.keys().map(char::to_string).collect();
        let Some(kind) = self.kinds.get_mut(&letter) else {
            return Err(Box::new(
                ReadError::new(path, format!("no relation has the kind `{letter}`"))
                    .expected(letters.join(", "), format!("`{letter}`")),
            ));
        };
        if let Some(other) = kind.exact.filter(|&other| other != count) {
            let error = ReadError::new(
                path,
                format!("files disagree on the number of nodes of the kind `{letter}`"),
            );
            return Err(Box::new(error.expected(other.to_string(), count.to_string())));
        }
        if kind.seen > count {
            let error = ReadError::new(
                &kind.seen_in,
                format!("a node of the kind `{letter}` is beyond the rows of {}", path.display()),
            );
            return Err(Box::new(
                error.expected(format!("numbers below {count}"), (kind.seen - 1).to_string()),
            ));
        }
        kind.exact = Some(count);
        Ok(())
    }

    /// The kind that the labels belong to: the one with as many nodes; of several, the one at the
    /// ends of meta-paths.
    fn labelled(&self, labels: &Array, parts: &BTreeMap<HeteroFile, &Path>) -> Read<char> {
        let rows = labels.rows()?.0 as u64;
        let fitting: Vec<char> = self
            .kinds
            .iter()
            .filter(|(_, kind)| kind.count() == rows)
            .map(|(letter, _)| *letter)
            .collect();
        let ends_one = |letter: char| {
            parts.keys().any(|part| matches!(part, HeteroFile::MetaPath(end, _) if *end == letter))
        };
        let at_ends: Vec<char> = fitting
            .iter()
            .copied()
            .filter(|&letter| fitting.len() == 1 || ends_one(letter))
            .collect();
        match at_ends[..] {
            [letter] => Ok(letter),
            _ => {
                let counts: Vec<String> = self
                    .kinds
                    .iter()
                    .map(|(letter, kind)| format!("{letter} {}", kind.count()))
                    .collect();
                let what = if fitting.is_empty() {
                    "no kind of nodes has as many nodes as there are labels"
                } else {
                    "several kinds have as many nodes as there are labels"
                };
                Err(Box::new(
                    labels.error(what).expected(
                        format!("one of {}", counts.join(", ")),
                        format!("{rows} labels"),
                    ),
                ))
            }
        }
    }

    fn build(
        self,
        relations: Vec<RelationFile<'_>>,
        mut features: BTreeMap<char, Features>,
        labels: Option<(Array, char)>,
        parts: &BTreeMap<HeteroFile, &Path>,
    ) -> Read<RawGraph> {
        // `a-b:` comes before `a:` by bytes, so the sign behind a name takes part in the order.
        let mut order: Vec<(String, char)> =
            self.kinds.iter().map(|(letter, kind)| (format!("{}:", kind.name), *letter)).collect();
        order.sort();
        let first = relations.first().map(|relation| relation.path).unwrap_or(Path::new(""));
        if let Some(pair) = order.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let error = ReadError::new(first, "two kinds have one name").expected(
                "names that differ",
                format!("`{}` twice", pair[0].0.trim_end_matches(':')),
            );
            return Err(Box::new(error));
        }
        let total: u64 = self.kinds.values().map(NodeKind::count).sum();
        if total > NODES_MOST {
            return Err(Box::new(
                ReadError::new(first, "the graph has too many nodes")
                    .expected(format!("at most {NODES_MOST}"), total.to_string()),
            ));
        }
        let mut begin = BTreeMap::new();
        let (mut ids, mut kinds) = (Vec::with_capacity(total as usize), Kinds::default());
        for (index, (prefix, letter)) in order.iter().enumerate() {
            let count = self.kinds[letter].count();
            begin.insert(*letter, ids.len() as u32);
            let width = count.saturating_sub(1).to_string().len();
            ids.extend((0..count).map(|number| format!("{prefix}{number:0width$}")));
            kinds.of_node.resize(ids.len(), index as u16);
            kinds.names.push(prefix.trim_end_matches(':').to_owned());
            kinds.features.push(features.remove(letter));
        }
        let nodes = ids.len();
        let (mut edges, mut names) = (Edges::default(), Vec::new());
        edges.weight =
            relations.first().and_then(|relation| relation.weight.as_ref()).map(|_| Vec::new());
        for relation in &relations {
            let [source, target] = relation.ends.map(|letter| begin[&letter]);
            edges.source.extend(relation.source.iter().map(|&number| source + number as u32));
            edges.target.extend(relation.target.iter().map(|&number| target + number as u32));
            edges
                .weight
                .iter_mut()
                .for_each(|weight| weight.extend(relation.weight.iter().flatten()));
            edges.relation.get_or_insert_default().resize(edges.source.len(), names.len() as u16);
            names.push(self.relation_name(relation.ends));
        }
        let mut graph = RawGraph {
            ids: NodeIds::Strings(ids),
            edges,
            kinds: Some(kinds),
            relations: names,
            ..RawGraph::default()
        };
        if let Some((array, letter)) = labels {
            let (first, count) = (begin[&letter] as usize, self.kinds[&letter].count() as usize);
            graph.labels = Some(spread(node_values::labels(&array)?, first, nodes));
            graph.splits = splits(parts, first, count, nodes)?;
        }
        Ok(graph)
    }

    /// The file's name, or the names of the kinds.
    fn relation_name(&self, ends: [char; 2]) -> String {
        let [row, column] = ends.map(|letter| &self.kinds[&letter].name);
        if row.chars().count() == 1 && column.chars().count() == 1 {
            format!("{row}{column}")
        } else {
            format!("{row}_{column}")
        }
    }
}

/// Labels of the rows from `first` on as labels of all nodes.
fn spread(labels: Labels, first: usize, nodes: usize) -> Labels {
    fn pad_values<T: Copy>(values: &[T], none: T, first: usize, count: usize) -> Vec<T> {
        let mut all = vec![none; count];
        all[first..first + values.len()].copy_from_slice(values);
        all
    }
    match labels {
        Labels::Classes { class, names } => {
            Labels::Classes { class: pad_values(&class, NO_CLASS, first, nodes), names }
        }
        Labels::Values(values) => Labels::Values(pad_values(&values, f32::NAN, first, nodes)),
        Labels::Rows { columns, values } => Labels::Rows {
            columns,
            values: pad_values(
                &values,
                f32::NAN,
                first * columns as usize,
                nodes * columns as usize,
            ),
        },
    }
}

/// The published splits by the numbers in their names.
fn splits(
    parts: &BTreeMap<HeteroFile, &Path>,
    first: usize,
    count: usize,
    nodes: usize,
) -> Read<Vec<Vec<u8>>> {
    let mut names: Vec<u64> = parts
        .keys()
        .filter_map(|part| if let HeteroFile::List(_, split) = part { Some(*split) } else { None })
        .collect();
    names.sort_unstable();
    names.dedup();
    let mut splits = Vec::new();
    for name in names {
        let list =
            |part| parts.get(&HeteroFile::List(part, name)).map(|path| npy::read(path)).transpose();
        let (train, validation, test) = (list(0)?, list(1)?, list(2)?);
        let own = node_values::split_of_lists(
            [train.as_ref(), validation.as_ref(), test.as_ref()],
            count,
        )?;
        let mut split = vec![IN_NO_PART; nodes];
        split[first..first + count].copy_from_slice(&own);
        splits.push(split);
    }
    Ok(splits)
}

#[cfg(test)]
mod tests;
