//! The citation sets of Planetoid: `ind.NAME.{x, tx, allx, y, ty, ally, graph, test.index}`.
//!
//! promises  rows are the graph's node numbers: allx rows first, tx rows at the ids in test.index;
//!           a gap there is a node without features, label or part
//! promises  every entry of a neighbour list is one edge, repeats too; a missing file is named
//! never     runs what a pickle names (see `pickle`); adds reverses; drops a repeat
//! source    Z. Yang, W. Cohen, R. Salakhutdinov, Revisiting Semi-Supervised Learning with Graph
//!           Embeddings (2016); github.com/kimiyoung/planetoid
use crate::{
    containers::{
        decompress::PlainFile,
        pickle::{
            self,
            value::{CsrMatrix, Pickle},
        },
    },
    detect::file_heads::FileHeads,
    format::Format,
    out_of_core::LoadedGraph,
    raw_graph::{
        self, Edges, Features, IN_NO_PART, Labels, NO_CLASS, NodeIds, RawGraph, TEST, TRAIN,
        VALIDATION,
    },
    read_error::{Read, ReadError},
};
use std::path::{Path, PathBuf};

/// The files, by the end of their names.
const PARTS: [&str; 8] = ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"];
/// Rows behind those of x that are the published validation part.
const VALIDATION_ROWS: usize = 500;
/// Classes that are still taken for classes, and not for a damaged shape.
const CLASSES_MOST: usize = 1 << 16;

/// The citation sets of Planetoid.
pub const FORMAT: Format = Format {
    name: "planetoid",
    about: "the eight files ind.NAME.{x, tx, allx, y, ty, ally, graph, test.index}",
    recognise,
    read_within: |files, _, _| Ok(LoadedGraph::held(read(files)?)),
};

/// Any of the eight files: what lacks is the reader's to say.
fn recognise(look: &FileHeads) -> Option<Vec<PathBuf>> {
    let part = |name: &str| {
        name.starts_with("ind.")
            && PARTS
                .iter()
                .any(|part| name.strip_suffix(part).is_some_and(|rest| rest.ends_with('.')))
    };
    let files: Vec<PathBuf> =
        look.files().filter(|(_, name)| part(name)).map(|(path, _)| path.to_path_buf()).collect();
    (!files.is_empty()).then_some(files)
}

/// Reads the eight files, given in any order and packing.
pub fn read(paths: &[PathBuf]) -> Read<RawGraph> {
    let files = PlanetoidFiles::find(paths)?;
    let parts = PlanetoidArrays::read(&files)?;
    parts.agree(&files)?;
    let neighbours = neighbours(&files)?;
    let nodes = count_nodes(&files, &parts, &neighbours)?;
    let mut edges = Edges::default();
    for (source, targets) in &neighbours {
        edges.source.extend(std::iter::repeat_n(*source, targets.len()));
        edges.target.extend(targets);
    }
    let row_of = parts.rows_by_node(nodes);
    Ok(RawGraph {
        ids: NodeIds::Count(nodes as u32),
        edges,
        directed: Some(false),
        labels: Some(parts.labels(&row_of)),
        splits: vec![parts.split(nodes)],
        features: Some(parts.features(&row_of)),
        ..RawGraph::default()
    })
}

/// Where each part lies.
struct PlanetoidFiles {
    paths: [PathBuf; 8],
}

impl PlanetoidFiles {
    fn find(paths: &[PathBuf]) -> Read<PlanetoidFiles> {
        let name_of = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.trim_end_matches(".gz").trim_end_matches(".zst").to_string()
        };
        // `ind.NAME.part`: a part's own name may hold a dot, and so may NAME.
        let part_of = |path: &PathBuf| {
            let name = name_of(path);
            PARTS
                .into_iter()
                .find(|part| name.strip_suffix(part).is_some_and(|rest| rest.ends_with('.')))
        };
        let find = |part: &str| {
            let missing = || {
                let known = paths.iter().find_map(|path| {
                    Some((path, name_of(path).strip_suffix(part_of(path)?)?.to_string()))
                });
                let path = known
                    .map_or(PathBuf::from(format!("ind.NAME.{part}")), |(path, stem)| {
                        path.with_file_name(format!("{stem}{part}"))
                    });
                let have = PARTS
                    .into_iter()
                    .filter(|part| paths.iter().any(|path| part_of(path) == Some(part)))
                    .collect::<Vec<_>>()
                    .join(", ");
                let error =
                    ReadError::new(&path, format!("the Planetoid set lacks its file `{part}`"));
                Box::new(
                    error
                        .expected(
                            PARTS.join(", "),
                            if have.is_empty() { "none of them".into() } else { have },
                        )
                        .hint("download it with  warploom data fetch  or put it there by hand"),
                )
            };
            paths.iter().find(|path| part_of(path) == Some(part)).cloned().ok_or_else(missing)
        };
        let mut found: [PathBuf; 8] = Default::default();
        for (slot, part) in found.iter_mut().zip(PARTS) {
            *slot = find(part)?;
        }
        Ok(PlanetoidFiles { paths: found })
    }

    fn path(&self, part: &str) -> &Path {
        let at = PARTS.iter().position(|known| *known == part).unwrap_or_default();
        &self.paths[at]
    }

    fn error(&self, part: &str, what: impl Into<String>) -> Box<ReadError> {
        Box::new(ReadError::new(self.path(part), what))
    }

    fn pickle(&self, part: &str) -> Read<Pickle> {
        pickle::load(self.path(part), &PlainFile::open(self.path(part))?.read_all()?)
    }

    fn matrix(&self, part: &str) -> Read<CsrMatrix> {
        let pickle = self.pickle(part)?;
        let matrix = pickle.matrix(pickle.root()).map_err(|what| self.error(part, what))?;
        let row = |at: usize| matrix.offsets.partition_point(|&offset| offset <= at as u64) - 1;
        raw_graph::refuse_infinite(
            &matrix.values,
            |at| (row(at), matrix.index[at] as usize),
            |what| ReadError::new(self.path(part), what),
        )?;
        Ok(matrix)
    }

    /// The class of each row of a 0/1 array, and how many there are.
    fn classes(&self, part: &str) -> Read<(Vec<u32>, usize)> {
        let pickle = self.pickle(part)?;
        let array = pickle.array(pickle.root()).map_err(|what| self.error(part, what))?;
        let [_, classes] = array.shape[..] else {
            return Err(self.error(
                part,
                format!("expected an array of rows and classes, found the shape {:?}", array.shape),
            ));
        };
        let classes = usize::try_from(classes).unwrap_or(usize::MAX).max(1);
        let class = array
            .values
            .chunks(classes)
            .map(|row| {
                row.iter().position(|&value| value != 0.0).map_or(NO_CLASS, |class| class as u32)
            })
            .collect();
        Ok((class, classes))
    }
}

/// What is read, part by part.
struct PlanetoidArrays {
    x: CsrMatrix,
    tx: CsrMatrix,
    allx: CsrMatrix,
    ally: Vec<u32>,
    ty: Vec<u32>,
    y: Vec<u32>,
    classes: [usize; 3],
    test: Vec<u32>,
    /// The line of each of them.
    test_lines: Vec<u64>,
}

impl PlanetoidArrays {
    fn read(files: &PlanetoidFiles) -> Read<PlanetoidArrays> {
        let (y, y_classes) = files.classes("y")?;
        let (ty, ty_classes) = files.classes("ty")?;
        let (ally, ally_classes) = files.classes("ally")?;
        let (x, tx, allx) = (files.matrix("x")?, files.matrix("tx")?, files.matrix("allx")?);
        let (test, test_lines) = test_index(files)?;
        Ok(PlanetoidArrays {
            x,
            tx,
            allx,
            ally,
            ty,
            y,
            classes: [y_classes, ty_classes, ally_classes],
            test,
            test_lines,
        })
    }

    /// Compares the sizes that must be equal.
    fn agree(&self, files: &PlanetoidFiles) -> Read<()> {
        let rows = [
            ("y", "x", self.y.len(), self.x.rows()),
            ("ally", "allx", self.ally.len(), self.allx.rows()),
            ("ty", "tx", self.ty.len(), self.tx.rows()),
            ("test.index", "tx", self.test.len(), self.tx.rows()),
        ];
        for (part, other, found, expected) in rows {
            if found != expected {
                return Err(files.error(
                    part,
                    format!("it does not fit `{other}`: expected {expected} rows, found {found}"),
                ));
            }
        }
        for (part, columns) in [("x", self.x.columns), ("tx", self.tx.columns)] {
            if columns != self.allx.columns {
                return Err(files.error(
                    part,
                    format!(
                        "it does not fit `allx`: expected {} columns, found {columns}",
                        self.allx.columns
                    ),
                ));
            }
        }
        for (part, classes) in [("y", self.classes[0]), ("ty", self.classes[1])] {
            if classes != self.classes[2] {
                return Err(files.error(
                    part,
                    format!(
                        "it does not fit `ally`: expected {} classes, found {classes}",
                        self.classes[2]
                    ),
                ));
            }
        }
        if self.classes[2] > CLASSES_MOST {
            return Err(files.error(
                "ally",
                format!("expected at most {CLASSES_MOST} classes, found {}", self.classes[2]),
            ));
        }
        if self.x.rows() > self.allx.rows() {
            return Err(files.error(
                "x",
                format!(
                    "it does not fit `allx`: expected at most {} rows, found {}",
                    self.allx.rows(),
                    self.x.rows()
                ),
            ));
        }
        let mut test = self.test.clone();
        test.sort_unstable();
        if let Some(pair) = test.windows(2).find(|pair| pair[0] == pair[1]) {
            let error = files.error("test.index", format!("it lists node {} twice", pair[0]));
            return Err(self.at_test(*error, pair[0], "each node once").into());
        }
        match test.first() {
            Some(&first) if (first as usize) < self.allx.rows() => {
                let error = files.error(
                    "test.index",
                    format!("it lists node {first}, which is a row of `allx`"),
                );
                Err(self
                    .at_test(*error, first, &format!("ids from {} on", self.allx.rows()))
                    .into())
            }
            _ => Ok(()),
        }
    }

    /// An error about the last line of test.index with this node.
    fn at_test(&self, error: ReadError, node: u32, expected: &str) -> ReadError {
        let at = self.test.iter().rposition(|&known| known == node).unwrap_or_default();
        let word = node.to_string();
        let error = error
            .at_line(self.test_lines.get(at).copied().unwrap_or(1), 1, word.as_bytes())
            .expected(expected, word);
        error.hint("do all files belong to one set? download them again with  warploom data fetch")
    }

    /// For each node its row: below `allx`'s number of rows in that, from there on in `tx`; none in
    /// a gap.
    fn rows_by_node(&self, nodes: usize) -> Vec<Option<usize>> {
        let mut rows: Vec<Option<usize>> =
            (0..nodes).map(|node| (node < self.allx.rows()).then_some(node)).collect();
        for (row, &node) in self.test.iter().enumerate() {
            rows[node as usize] = Some(self.allx.rows() + row);
        }
        rows
    }

    fn labels(&self, row_of: &[Option<usize>]) -> Labels {
        let class = |row: &Option<usize>| {
            row.map_or(NO_CLASS, |row| {
                if row < self.ally.len() { self.ally[row] } else { self.ty[row - self.ally.len()] }
            })
        };
        Labels::Classes {
            class: row_of.iter().map(class).collect(),
            names: (0..self.classes[2]).map(|class| class.to_string()).collect(),
        }
    }

    fn split(&self, nodes: usize) -> Vec<u8> {
        let mut split = vec![IN_NO_PART; nodes];
        let (train, validation) =
            (self.x.rows(), (self.x.rows() + VALIDATION_ROWS).min(self.allx.rows()));
        split[..train].fill(TRAIN);
        split[train..validation].fill(VALIDATION);
        self.test.iter().for_each(|&node| split[node as usize] = TEST);
        split
    }

    fn features(&self, row_of: &[Option<usize>]) -> Features {
        let mut offsets = vec![0];
        let (mut index, mut values) = (Vec::new(), Vec::new());
        for row in row_of {
            if let Some(row) = *row {
                let first = self.allx.rows();
                let (matrix, row) =
                    if row < first { (&self.allx, row) } else { (&self.tx, row - first) };
                let range = matrix.offsets[row] as usize..matrix.offsets[row + 1] as usize;
                index.extend(&matrix.index[range.clone()]);
                values.extend(&matrix.values[range]);
            }
            offsets.push(index.len() as u64);
        }
        Features::Sparse { columns: self.allx.columns, offsets, index, values }
    }
}

/// The node ids of test.index, one a line, and these lines.
fn test_index(files: &PlanetoidFiles) -> Read<(Vec<u32>, Vec<u64>)> {
    let path = files.path("test.index");
    let text = PlainFile::open(path)?.read_all()?;
    let (mut ids, mut lines) = (Vec::new(), Vec::new());
    for (line, text) in text.split(|&byte| byte == b'\n').enumerate() {
        let word = String::from_utf8_lossy(text);
        if word.trim().is_empty() {
            continue;
        }
        let bad = || {
            Box::new(
                ReadError::new(path, "test.index has a line that is not a node id")
                    .at_line(line as u64 + 1, 1, text)
                    .expected("a whole number from 0 to 4294967295", format!("`{}`", word.trim()))
                    .hint(
                        "one node a line, counted from 0; download the file again with  warploom \
                         data fetch",
                    ),
            )
        };
        ids.push(word.trim().parse().map_err(|_| bad())?);
        lines.push(line as u64 + 1);
    }
    Ok((ids, lines))
}

/// The neighbour lists by ascending node.
fn neighbours(files: &PlanetoidFiles) -> Read<Vec<(u32, Vec<u32>)>> {
    let pickle = files.pickle("graph")?;
    let error = |what: String| files.error("graph", what);
    let id = |value, of: &dyn Fn() -> String| {
        let number = pickle.integer(value);
        number.and_then(|id| u32::try_from(id).ok()).ok_or_else(|| {
            let found = number.map_or("another object".to_owned(), |number| number.to_string());
            let error = files.error("graph", format!("{} is no node id", of()));
            let hint = "nodes count from 0: a dict from each node to a list of its neighbours, as  \
                        networkx.to_dict_of_lists(graph)  makes it";
            Box::new(error.expected("a whole number from 0 to 4294967295", found).hint(hint))
        })
    };
    let pairs = pickle
        .dict(pickle.root())
        .ok_or_else(|| error("expected a dict from node to neighbours".into()))?;
    let mut lists = Vec::with_capacity(pairs.len());
    // A pickle may name one list many times: what they hold together is bounded by the size of the
    // file.
    let mut room = 64 * pickle.objects.len() + 16 * pairs.len() + (1 << 24);
    for &(node, list) in pairs {
        let node = id(node, &|| format!("the key {} of the dict", lists.len()))?;
        let items = pickle
            .sequence(list)
            .ok_or_else(|| error(format!("the neighbours of node {node} are no list")))?;
        room = room
            .checked_sub(items.len())
            .ok_or_else(|| error("its lists are named again and again".into()))?;
        let neighbour = |(at, &item)| id(item, &|| format!("the neighbour {at} of node {node}"));
        lists.push((node, items.iter().enumerate().map(neighbour).collect::<Read<Vec<u32>>>()?));
    }
    lists.sort_by_key(|(node, _)| *node);
    match lists.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(error(format!("it lists node {} twice", pair[0].0))),
        None => Ok(lists),
    }
}

/// Rows, gaps in test.index included; an id beyond them is an error.
fn count_nodes(
    files: &PlanetoidFiles,
    parts: &PlanetoidArrays,
    neighbours: &[(u32, Vec<u32>)],
) -> Read<usize> {
    let gaps_most = (parts.allx.rows() + parts.tx.rows()) * 2 + 65_536;
    let test = parts.test.iter().max().map_or(0, |&id| id as usize + 1);
    if test > gaps_most {
        let error = files.error("test.index", "a node id is far beyond the number of rows");
        return Err(parts.at_test(*error, test as u32 - 1, &format!("at most {gaps_most}")).into());
    }
    let nodes = parts.allx.rows().max(test);
    match neighbours.iter().flat_map(|(node, list)| list.iter().chain([node])).max() {
        Some(&far) if far as usize >= nodes => {
            let of = neighbours
                .iter()
                .find(|(node, list)| *node == far || list.contains(&far))
                .map_or(far, |(node, _)| *node);
            let what = if of == far {
                format!("it names the node {far}, which no row has")
            } else {
                format!("it names the neighbour {far} of node {of}, which no row has")
            };
            let error = files.error("graph", what).expected(
                format!("ids below {nodes}: allx and test.index have so many rows"),
                far.to_string(),
            );
            Err(Box::new(error.hint(
                "do all files belong to one set? download them again with  warploom data fetch",
            )))
        }
        _ => Ok(nodes),
    }
}
