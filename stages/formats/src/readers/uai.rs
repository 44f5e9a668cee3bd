//! Sets of AM-GCN (`uai.zip` and its kin): `NAME.edge`, `NAME.feature`, `NAME.label`,
//! `train20.txt`, `test20.txt`, as files or in a zip archive.
//!
//! promises  nodes are the rows of the features, from 0; the class of each is its line of the
//!           labels; every pair `trainK`, `testK` is a split, by ascending K
//! promises  features stay sparse where less than a quarter of them is not zero
//! never     reads the graphs of nearest neighbours (`knn/c5.txt`) that lie beside: `passed_over`
//!           names them
//! limits    each member as a whole in memory; features have 65,536 columns at most
//! format    X. Wang and others, AM-GCN: Adaptive Multi-channel Graph Convolutional Networks
//!           (2020), github.com/zhumeiqiBUPT/AM-GCN
use super::edge_list::{
    read_edges,
    table_edges::{KnownColumns, move_to_nodes},
};
use crate::{
    containers::{
        decompress::PlainFile,
        zip::{ZipArchive, is_zip_file},
    },
    detect::file_heads::FileHeads,
    format::Format,
    options::{Ids, Options},
    out_of_core::{Limit, LoadedGraph},
    raw_graph::{Features, IN_NO_PART, Labels, NODES_MOST, NodeIds, TEST, TRAIN},
    read_error::{Read, ReadError},
    text::{
        field_fault::{FieldFault, error_at},
        words::{split_filled_lines, split_words},
    },
};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// Sets of AM-GCN.
pub const FORMAT: Format = Format {
    name: "uai",
    about: "NAME.edge, NAME.feature, NAME.label, trainK.txt and testK.txt, as files or in one zip \
            archive",
    recognise,
    read_within,
};

const COLUMNS_MOST: usize = 1 << 16;

/// An archive with such members, or such files.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let has_all = |names: &[&str]| {
        [".edge", ".feature", ".label"]
            .iter()
            .all(|end| names.iter().filter(|name| name.ends_with(end)).count() == 1)
    };
    let names: Vec<&str> = look.files().map(|(_, name)| name).collect();
    if has_all(&names) {
        return Some(
            look.files()
                .filter(|(_, name)| role(name).is_some())
                .map(|(path, _)| path.to_path_buf())
                .collect(),
        );
    }
    let mut archives = look.files().map(|(path, _)| path);
    let archive = archives.find(|path| {
        look.zip(path).is_some_and(|archive| has_all(&archive.names().collect::<Vec<_>>()))
    })?;
    Some(vec![archive.to_path_buf()])
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum UaiRole {
    Edge,
    Feature,
    Label,
    /// The number says which split.
    Train(u32),
    Test(u32),
}

fn role(name: &str) -> Option<UaiRole> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let number = |start: &str| -> Option<u32> {
        name.strip_prefix(start)?.strip_suffix(".txt")?.parse().ok()
    };
    match name.rsplit_once('.') {
        Some((_, "edge")) => Some(UaiRole::Edge),
        Some((_, "feature")) => Some(UaiRole::Feature),
        Some((_, "label")) => Some(UaiRole::Label),
        _ => number("train").map(UaiRole::Train).or(number("test").map(UaiRole::Test)),
    }
}

/// A file, or a member of the archive.
enum UaiSource {
    File(PathBuf),
    Member(Arc<ZipArchive>, String),
}

impl UaiSource {
    fn open(&self) -> Read<PlainFile> {
        match self {
            UaiSource::File(path) => PlainFile::open(path),
            UaiSource::Member(archive, name) => PlainFile::open_member(archive, name),
        }
    }
}

/// The parts of a set, and what lies beside them.
struct UaiFiles {
    place: PathBuf,
    sources: BTreeMap<UaiRole, UaiSource>,
    beside: Vec<String>,
}

impl UaiFiles {
    fn from_files(files: &[PathBuf]) -> Read<UaiFiles> {
        let mut parts = UaiFiles {
            place: files.first().cloned().unwrap_or_default(),
            sources: BTreeMap::new(),
            beside: Vec::new(),
        };
        for path in files {
            let name = FileHeads::new(std::slice::from_ref(path))
                .files()
                .map(|(_, name)| name.to_owned())
                .collect::<String>();
            if is_zip_file(path)? {
                let archive = Arc::new(ZipArchive::open(path)?);
                for name in archive.names() {
                    parts.add(name, UaiSource::Member(archive.clone(), name.to_owned()))?;
                }
            } else {
                parts.add(&name, UaiSource::File(path.clone()))?;
            }
        }
        Ok(parts)
    }

    fn add(&mut self, name: &str, source: UaiSource) -> Read<()> {
        let Some(role) = role(name) else {
            self.beside.push(name.to_owned());
            return Ok(());
        };
        match self.sources.insert(role, source) {
            None => Ok(()),
            Some(_) => {
                let error = ReadError::new(&self.place, format!("two files could be `{name}`"))
                    .expected("one file of each sort", "two");
                Err(Box::new(error.hint("name the files of one set")))
            }
        }
    }

    fn get(&self, role: UaiRole, end: &str) -> Read<&UaiSource> {
        self.sources.get(&role).ok_or_else(|| {
            let error = ReadError::new(&self.place, format!("the set lacks its file `{end}`"))
                .expected(format!("a file whose name ends in `{end}`"), "none");
            Box::new(error.hint("download it again, or copy the file beside the others"))
        })
    }
}

/// Reads a set.
pub fn read_within(files: &[PathBuf], options: &Options, limit: &Limit) -> Read<LoadedGraph> {
    let parts = UaiFiles::from_files(files)?;
    let options = Options { ids: Ids::Number, counts: Some(false), ..options.clone() };
    let edges = parts.get(UaiRole::Edge, ".edge")?;
    let (features, nodes) = read_features(parts.get(UaiRole::Feature, ".feature")?.open()?)?;
    let found = read_edges(edges.open()?, &options, &KnownColumns::default(), limit)?;
    let LoadedGraph { mut graph, spilled } =
        move_to_nodes(found, NodeIds::Count(nodes), &options, &KnownColumns::default(), || {
            edges.open()
        })?;
    graph.features = Some(features);
    graph.labels = Some(read_labels(parts.get(UaiRole::Label, ".label")?.open()?, nodes)?);
    let numbers = parts
        .sources
        .keys()
        .filter_map(|role| if let UaiRole::Train(number) = role { Some(*number) } else { None });
    for number in numbers.collect::<Vec<_>>() {
        let mut split = vec![IN_NO_PART; nodes as usize];
        mark(parts.get(UaiRole::Train(number), "train.txt")?.open()?, TRAIN, &mut split)?;
        if let Some(test) = parts.sources.get(&UaiRole::Test(number)) {
            mark(test.open()?, TEST, &mut split)?;
        }
        graph.splits.push(split);
    }
    graph.passed_over.extend(parts.beside.iter().map(|name| format!("the file `{name}`")));
    Ok(LoadedGraph { graph, spilled })
}

/// Features, and how many rows there are.
fn read_features(plain: PlainFile) -> Read<(Features, u32)> {
    let path = plain.path().to_path_buf();
    let text = plain.read_all()?;
    let (mut offsets, mut index, mut values) = (vec![0u64], Vec::new(), Vec::new());
    let mut columns = None;
    for (at, line) in split_filled_lines(&text) {
        let mut column = 0;
        for (start, word) in split_words(line, at) {
            let value = match word {
                [digit @ b'0'..=b'9'] => f32::from(digit - b'0'),
                _ => match std::str::from_utf8(word)
                    .ok()
                    .and_then(|word| word.parse::<f32>().ok())
                    .filter(|value| value.is_finite())
                {
                    Some(value) => value,
                    None => {
                        let fault = FieldFault::new(
                            start,
                            "a feature is not a finite number",
                            "a line holds the features of one node",
                        );
                        return Err(error_at(&path, &text, &fault.against("a number", word)));
                    }
                },
            };
            if value != 0.0 {
                index.push(column);
                values.push(value);
            }
            column += 1;
        }
        let expected = *columns.get_or_insert(column);
        if column != expected || column as usize > COLUMNS_MOST {
            let fault = FieldFault::new(
                at + line.trim_ascii_end().len(),
                "a line has another number of features than the first",
                "a line holds the features of one node",
            );
            let expected = format!("{} features", (expected as usize).min(COLUMNS_MOST));
            return Err(error_at(
                &path,
                &text,
                &FieldFault { expected, found: column.to_string(), ..fault },
            ));
        }
        offsets.push(index.len() as u64);
    }
    let (rows, columns) = (offsets.len() - 1, columns.unwrap_or(0));
    if rows == 0 || rows as u64 > NODES_MOST {
        let error = ReadError::new(&path, "the file of features has no row, or too many")
            .expected(format!("1 to {NODES_MOST} lines"), rows.to_string());
        return Err(Box::new(
            error.hint("is this the right file? a download that failed may have left it empty"),
        ));
    }
    if index.len() < rows * columns as usize / 4 {
        return Ok((Features::Sparse { columns, offsets, index, values }, rows as u32));
    }
    let mut dense = vec![0.0; rows * columns as usize];
    for (row, ends) in offsets.windows(2).enumerate() {
        for entry in ends[0] as usize..ends[1] as usize {
            dense[row * columns as usize + index[entry] as usize] = values[entry];
        }
    }
    Ok((Features::Dense { columns, values: dense }, rows as u32))
}

/// The class of each node: numbers by value, else words by bytes.
fn read_labels(plain: PlainFile, nodes: u32) -> Read<Labels> {
    let path = plain.path().to_path_buf();
    let text = plain.read_all()?;
    let mut found = Vec::new();
    for (at, line) in split_filled_lines(&text) {
        let word = line.trim_ascii();
        let name = std::str::from_utf8(word).map_err(|_| {
            error_at(
                &path,
                &text,
                &FieldFault::new(at, "a label is not UTF-8", "a line holds one class")
                    .against("text", word),
            )
        })?;
        found.push(name);
    }
    if found.len() != nodes as usize {
        let error = ReadError::new(&path, "there are not as many labels as nodes")
            .expected(format!("{nodes} lines"), found.len().to_string());
        return Err(Box::new(error.hint("a line of labels belongs to the same line of features")));
    }
    let mut names = found.clone();
    names.sort_unstable();
    names.dedup();
    if names.iter().all(|name| name.parse::<i64>().is_ok()) {
        names.sort_by_key(|name| name.parse::<i64>().unwrap_or(0));
    }
    let of_name: BTreeMap<&str, u32> =
        names.iter().zip(0..).map(|(&name, class)| (name, class)).collect();
    let class = found.iter().map(|name| of_name[name]).collect();
    Ok(Labels::Classes { class, names: names.into_iter().map(String::from).collect() })
}

/// Marks the listed nodes as this part of a split.
fn mark(plain: PlainFile, part: u8, split: &mut [u8]) -> Read<()> {
    let path = plain.path().to_path_buf();
    let text = plain.read_all()?;
    for (start, word) in split_filled_lines(&text).flat_map(|(at, line)| split_words(line, at)) {
        let fault = |what: &'static str, expected: String| {
            error_at(
                &path,
                &text,
                &FieldFault::new(start, what, "a split lists the lines of features, from 0")
                    .against(expected, word),
            )
        };
        let row = std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse::<usize>().ok())
            .filter(|&row| row < split.len());
        let row = row.ok_or_else(|| {
            fault("a split names no node", format!("a number below {}", split.len()))
        })?;
        if split[row] != IN_NO_PART && split[row] != part {
            return Err(fault(
                "a node is in two parts of a split",
                "one that is not trained on".into(),
            ));
        }
        split[row] = part;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
