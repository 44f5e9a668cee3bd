//! Arrays with a row a node, found by name, and how they are put into a graph.
use crate::{
    column_roles::FEATURE_LISTS,
    containers::{
        npy::{self, Array, node_values},
        npz::Npz,
        pickle::value::CsrMatrix,
        safetensors::{self, TensorMatrix},
        sparse_matrix::{self, MatrixEntries},
    },
    raw_graph::{Features, NODES_MOST, NodeIds, RawGraph},
    read_error::{Read, ReadError},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What an array is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ArrayRole {
    Ids,
    Features,
    Labels,
    Split,
    /// 0 training, 1 validation, 2 test.
    Mask(usize),
    List(usize),
}

/// An array that was found.
pub(super) struct FoundArray {
    pub from: PathBuf,
    pub values: ArrayValues,
}

pub(super) enum ArrayValues {
    Array(Array),
    Sparse(MatrixEntries),
    /// Entries of a matrix that does not say how many rows it has.
    Entries(MatrixEntries),
}

/// The name of a file up to its last dot, and what follows, in small letters; without what it is
/// packed in.
pub(super) fn stem_and_end(path: &Path) -> (String, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    (stem.to_owned(), end.to_lowercase())
}

/// An array that is passed over, as people are told of it.
pub(super) fn describe_array(name: &str, path: &Path) -> String {
    format!("array `{name}` of `{}`", path.file_name().unwrap_or_default().to_string_lossy())
}

pub(super) fn role_name(role: ArrayRole) -> &'static str {
    match role {
        ArrayRole::Ids => "ids",
        ArrayRole::Features => "features",
        ArrayRole::Labels => "labels",
        ArrayRole::Split => "split",
        ArrayRole::Mask(part) => ["training mask", "validation mask", "test mask"][part],
        ArrayRole::List(part) => ["training list", "validation list", "test list"][part],
    }
}

pub(super) fn find_role(name: &str) -> Option<ArrayRole> {
    let name = name.to_lowercase();
    match name.as_str() {
        "ids" | "node_ids" => return Some(ArrayRole::Ids),
        list if FEATURE_LISTS.contains(&list) => return Some(ArrayRole::Features),
        "labels" | "label" | "y" | "node_labels" | "node_label" => return Some(ArrayRole::Labels),
        "split" | "splits" => return Some(ArrayRole::Split),
        _ => {}
    }
    let (part, what) = name.split_once('_')?;
    let part = match part {
        "train" => 0,
        "val" | "valid" | "validation" => 1,
        "test" => 2,
        _ => return None,
    };
    match what {
        "mask" | "masks" => Some(ArrayRole::Mask(part)),
        "idx" | "index" | "indices" | "ids" | "nodes" => Some(ArrayRole::List(part)),
        _ => None,
    }
}

/// The arrays of a file.
#[derive(Default)]
pub(super) struct FileArrays {
    /// Those that have a role.
    pub known: Vec<(ArrayRole, ArrayValues)>,
    /// Names of the others, which are not unpacked.
    pub others: Vec<String>,
}

impl FileArrays {
    pub fn single(role: ArrayRole, values: ArrayValues) -> FileArrays {
        FileArrays { known: vec![(role, values)], others: Vec::new() }
    }
}

/// The arrays of a file; the only one has the role of the file.
pub(super) fn read_arrays_as(path: &Path, end: &str, own: Option<ArrayRole>) -> Read<FileArrays> {
    match (end, own) {
        ("npy", Some(role)) => {
            dense_or_matrix(npy::read(path)?).map(|values| FileArrays::single(role, values))
        }
        ("npz", _) => read_archive(&Npz::open(path)?, own),
        ("safetensors", _) => read_safetensors(path, own),
        _ => Ok(FileArrays::default()),
    }
}

pub(super) fn dense_or_matrix(array: Array) -> Read<ArrayValues> {
    match array.matrix() {
        Some(matrix) => {
            let entries = entries_of(matrix?);
            entries.refuse_infinite(|what| array.error(what))?;
            Ok(ArrayValues::Sparse(entries))
        }
        None => Ok(ArrayValues::Array(array)),
    }
}

fn entries_of(matrix: CsrMatrix) -> MatrixEntries {
    let row = matrix
        .offsets
        .windows(2)
        .enumerate()
        .flat_map(|(row, ends)| std::iter::repeat_n(row as u32, (ends[1] - ends[0]) as usize));
    MatrixEntries {
        rows: matrix.rows() as u32,
        columns: matrix.columns,
        row: row.collect(),
        column: matrix.index,
        value: matrix.values,
        ..MatrixEntries::default()
    }
}

/// An archive of one array or of one matrix has the role of its own name, else its arrays have
/// theirs.
fn read_archive(npz: &Npz, own: Option<ArrayRole>) -> Read<FileArrays> {
    let names: Vec<&str> = npz.names().collect();
    match (own, &names[..]) {
        (Some(role), _) if npz.is_scipy() => {
            let others = names
                .into_iter()
                .filter(|name| !sparse_matrix::is_part("", name))
                .map(str::to_owned)
                .collect();
            Ok(FileArrays {
                known: vec![(role, ArrayValues::Sparse(sparse_matrix::read_entries(npz, "")?))],
                others,
            })
        }
        (Some(role), [only]) => {
            dense_or_matrix(npz.array(only)?).map(|values| FileArrays::single(role, values))
        }
        _ => {
            let mut arrays = FileArrays::default();
            for name in names {
                match find_role(name) {
                    Some(role) => arrays.known.push((role, dense_or_matrix(npz.array(name)?)?)),
                    None => arrays.others.push(name.to_owned()),
                }
            }
            Ok(arrays)
        }
    }
}

fn read_safetensors(path: &Path, own: Option<ArrayRole>) -> Read<FileArrays> {
    let arrays = safetensors::read_arrays(path)?;
    if let (Some(role), Some(matrix)) = (own, TensorMatrix::matrix(path, &arrays)) {
        let values = ArrayValues::Sparse(sparse_matrix::read_entries(&matrix, "")?);
        let others = arrays
            .iter()
            .filter(|(name, _)| !sparse_matrix::is_part("", name))
            .map(|(name, _)| name.clone())
            .collect();
        return Ok(FileArrays { known: vec![(role, values)], others });
    }
    let own = own.filter(|_| arrays.len() == 1);
    let mut found = FileArrays::default();
    for (name, array) in arrays {
        match own.or(find_role(&name)) {
            Some(role) => found.known.push((role, ArrayValues::Array(array))),
            None => found.others.push(name),
        }
    }
    Ok(found)
}

/// Nothing that the graph has is replaced.
pub(super) fn refuse_second(graph: &RawGraph, found: &BTreeMap<ArrayRole, FoundArray>) -> Read<()> {
    for (role, array) in found {
        let there = match role {
            ArrayRole::Ids => false,
            ArrayRole::Features => graph.features.is_some(),
            ArrayRole::Labels => graph.labels.is_some(),
            ArrayRole::Split | ArrayRole::Mask(_) | ArrayRole::List(_) => !graph.splits.is_empty(),
        };
        if there {
            let error = ReadError::new(
                &array.from,
                format!("the graph has {} of its own", role_name(*role)),
            );
            return Err(Box::new(
                error
                    .expected("them in one place", "this file too")
                    .hint("name the files to be read in the catalogue, or move this one"),
            ));
        }
    }
    let ways = found.keys().map(|role| match role {
        ArrayRole::Split => 1,
        ArrayRole::Mask(_) => 2,
        ArrayRole::List(_) => 4,
        _ => 0,
    });
    if ways.fold(0u8, |all, way| all | way).count_ones() > 1
        && let Some((_, array)) =
            found.iter().find(|(role, _)| matches!(role, ArrayRole::List(_) | ArrayRole::Mask(_)))
    {
        return Err(Box::new(
            ReadError::new(&array.from, "the split is said in two ways")
                .expected("`split`, masks or lists", "two of them"),
        ));
    }
    Ok(())
}

impl FoundArray {
    /// Rows, where it has one for each node.
    pub fn rows(&self, role: ArrayRole, nodes: u64) -> Read<Option<u64>> {
        match (&self.values, role) {
            (ArrayValues::Sparse(entries), _) => Ok(Some(u64::from(entries.rows))),
            (ArrayValues::Entries(_), _) => Ok(None),
            (_, ArrayRole::List(_)) => Ok(None),
            (ArrayValues::Array(array), ArrayRole::Mask(_)) => match array.shape[..] {
                // Several splits: either extent may be the nodes.
                [splits, all] if all == nodes || splits < all => Ok(Some(all)),
                _ => Ok(Some(array.rows()?.0 as u64)),
            },
            (ArrayValues::Array(array), _) => Ok(Some(array.rows()?.0 as u64)),
        }
    }

    /// Lets entries that do not say how many rows there are have these.
    pub fn expect_rows(&mut self, rows: usize) -> Read<()> {
        match &mut self.values {
            ArrayValues::Entries(entries) if entries.rows as usize > rows => {
                let error = ReadError::new(&self.from, "an entry is in a row that there is not");
                Err(Box::new(error.expected(
                    format!("rows from 0, below {rows}"),
                    format!("row {}", entries.rows - 1),
                )))
            }
            ArrayValues::Entries(entries) => {
                entries.rows = rows as u32;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// As features; a row for each of what they are of.
    pub fn into_features(self) -> Read<Features> {
        match self.values {
            ArrayValues::Sparse(entries) | ArrayValues::Entries(entries) => {
                Ok(entries.into_features())
            }
            ArrayValues::Array(array) => node_values::features(&array),
        }
    }

    fn array(&self) -> Read<&Array> {
        match &self.values {
            ArrayValues::Array(array) => Ok(array),
            ArrayValues::Sparse(_) | ArrayValues::Entries(_) => Err(Box::new(
                ReadError::new(&self.from, "a sparse matrix is read as features alone")
                    .expected("an array of numbers", "a sparse matrix"),
            )),
        }
    }
}

/// Lets the graph have a node for each row; gives the node of each row, unless rows are nodes.
pub(super) fn assign_rows(
    graph: &mut RawGraph,
    found: &BTreeMap<ArrayRole, FoundArray>,
) -> Read<Option<Vec<u32>>> {
    let mut rows: Option<(u64, &Path)> = None;
    for (role, array) in found {
        let Some(count) = array.rows(*role, graph.ids.len() as u64)? else { continue };
        match rows {
            Some((other, path)) if other != count => {
                let error = ReadError::new(
                    &array.from,
                    format!(
                        "the number of rows ({}) differs from that of {}",
                        role_name(*role),
                        path.display()
                    ),
                );
                return Err(Box::new(
                    error
                        .expected(other.to_string(), count.to_string())
                        .hint("write as many rows in every array that stands beside the graph"),
                ));
            }
            _ => rows = Some((count, &array.from)),
        }
    }
    let Some((rows, path)) = rows else { return Ok(None) };
    if rows > NODES_MOST {
        return Err(Box::new(
            ReadError::new(path, "there are too many rows")
                .expected(format!("at most {NODES_MOST}"), rows.to_string()),
        ));
    }
    if let Some(ids) = found.get(&ArrayRole::Ids) {
        return assign_rows_by_ids(graph, ids).map(Some);
    }
    let nodes = graph.ids.len() as u64;
    let beyond = match &graph.ids {
        NodeIds::Count(count) => u64::from(*count) < rows,
        NodeIds::Numbers(numbers) => numbers.last().is_none_or(|&last| last < rows),
        NodeIds::Strings(_) => false,
    };
    if beyond && graph.nodes_told {
        let error = ReadError::new(
            path,
            "there are rows for nodes that there are not: the graph's own file says how many nodes \
             it has",
        );
        return Err(Box::new(
            error
                .expected(format!("{nodes} rows"), rows.to_string())
                .hint("mend the number of nodes in the graph's file, or take the rows out"),
        ));
    }
    if beyond {
        add_nodes(graph, NodeIds::Count(rows as u32), path)?;
    } else if rows != nodes {
        let error = ReadError::new(path, "there is not a row for each node")
            .expected(format!("{nodes} rows"), rows.to_string());
        return Err(Box::new(error.hint("add ids.npy with the id of each row")));
    }
    Ok(None)
}

/// The node of each row, which `ids` names.
fn assign_rows_by_ids(graph: &mut RawGraph, found: &FoundArray) -> Read<Vec<u32>> {
    let array = found.array()?;
    let twice = |id: String| {
        Box::new(
            array
                .error("two rows have one id")
                .expected("ids that differ", format!("`{id}` twice")),
        )
    };
    let order = match &graph.ids {
        NodeIds::Strings(words) => {
            let named = array.words()?;
            let mut all: Vec<&String> = named.iter().collect();
            all.sort_unstable();
            if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(twice(pair[0].clone()));
            }
            all.extend(words);
            all.sort_unstable();
            all.dedup();
            let all: Vec<String> = all.into_iter().cloned().collect();
            let order =
                named.iter().map(|word| all.partition_point(|known| known < word) as u32).collect();
            add_nodes(graph, NodeIds::Strings(all), &found.from)?;
            order
        }
        numbers => {
            let named = array.u64s()?;
            let mut all = named.clone();
            all.sort_unstable();
            if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(twice(pair[0].to_string()));
            }
            match numbers {
                NodeIds::Numbers(numbers) => all.extend(numbers),
                other => all.extend(0..other.len() as u64),
            }
            all.sort_unstable();
            all.dedup();
            let order = named
                .iter()
                .map(|number| all.partition_point(|known| known < number) as u32)
                .collect();
            add_nodes(graph, NodeIds::from_ascending(all), &found.from)?;
            order
        }
    };
    let order: Vec<u32> = order;
    if order.len() != graph.ids.len() {
        let error = array
            .error("not every node has a row")
            .expected(format!("{} ids", graph.ids.len()), order.len().to_string());
        return Err(Box::new(error.hint(
            "write an id for each node that an edge names, and as many rows in every array beside \
             it",
        )));
    }
    Ok(order)
}

/// Adds nodes that no edge has; `ids` holds those of the graph and more.
fn add_nodes(graph: &mut RawGraph, ids: NodeIds, path: &Path) -> Read<()> {
    if ids == graph.ids {
        return Ok(());
    }
    let bare = RawGraph {
        ids: graph.ids.clone(),
        directed: graph.directed,
        halved: graph.halved,
        nodes_told: graph.nodes_told,
        relations: graph.relations.clone(),
        roles: graph.roles.clone(),
        passed_over: graph.passed_over.clone(),
        notes: graph.notes.clone(),
        ..RawGraph::default()
    };
    let edges = std::mem::take(&mut graph.edges);
    if *graph != bare {
        let error = ReadError::new(path, "it has rows for nodes that the graph does not have");
        return Err(Box::new(
            error.expected(format!("{} rows", graph.ids.len()), ids.len().to_string()),
        ));
    }
    let row_of: Option<Vec<u32>> = match (&graph.ids, &ids) {
        (NodeIds::Numbers(old), NodeIds::Numbers(new)) => {
            Some(old.iter().map(|id| new.partition_point(|known| known < id) as u32).collect())
        }
        (NodeIds::Numbers(old), _) => Some(old.iter().map(|&id| id as u32).collect()),
        (NodeIds::Strings(old), NodeIds::Strings(new)) => {
            Some(old.iter().map(|id| new.partition_point(|known| known < id) as u32).collect())
        }
        // The first rows stay as they are.
        _ => None,
    };
    let (before, after) = (graph.ids.len(), ids.len());
    if after > before {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        graph.notes.push(format!(
            "`{name}` has rows for {after} nodes and edges name {before}: {} nodes without an edge \
             were added",
            after - before
        ));
    }
    (graph.edges, graph.ids) = (edges, ids);
    if let Some(row_of) = row_of {
        graph
            .edges
            .source
            .iter_mut()
            .chain(&mut graph.edges.target)
            .for_each(|row| *row = row_of[*row as usize]);
    }
    Ok(())
}

/// Puts the arrays into the graph; `order` is the node of each row.
pub(super) fn fill_graph(
    graph: &mut RawGraph,
    mut found: BTreeMap<ArrayRole, FoundArray>,
    order: Option<&[u32]>,
) -> Read<()> {
    let nodes = graph.ids.len();
    found.values_mut().try_for_each(|found| found.expect_rows(nodes))?;
    if let Some(order) = order {
        for (role, array) in &mut found {
            match &mut array.values {
                ArrayValues::Sparse(entries) | ArrayValues::Entries(entries) => {
                    entries.row.iter_mut().for_each(|row| *row = order[*row as usize])
                }
                ArrayValues::Array(array)
                    if matches!(role, ArrayRole::Mask(_))
                        && array.shape.first() != Some(&(nodes as u64)) =>
                {
                    array.reorder_columns(order)
                }
                ArrayValues::Array(array)
                    if !matches!(role, ArrayRole::List(_) | ArrayRole::Ids) =>
                {
                    array.reorder_rows(order)
                }
                ArrayValues::Array(_) => {}
            }
        }
    }
    if let Some(features) = found.remove(&ArrayRole::Features) {
        graph.features = Some(features.into_features()?);
    }
    graph.labels = match found.get(&ArrayRole::Labels) {
        Some(labels) => Some(node_values::labels(labels.array()?)?),
        None => graph.labels.take(),
    };
    if let Some(split) = found.get(&ArrayRole::Split) {
        graph.splits = node_values::splits_of_codes(split.array()?)?;
    }
    let of = |role: fn(usize) -> ArrayRole, part: usize| {
        found.get(&role(part)).map(FoundArray::array).transpose()
    };
    let masks = [of(ArrayRole::Mask, 0)?, of(ArrayRole::Mask, 1)?, of(ArrayRole::Mask, 2)?];
    if masks.iter().any(Option::is_some) {
        graph.splits = node_values::splits_of_masks(masks, nodes)?;
    }
    let lists = [of(ArrayRole::List, 0)?, of(ArrayRole::List, 1)?, of(ArrayRole::List, 2)?];
    if lists.iter().any(Option::is_some) {
        let split = node_values::split_of_lists(lists, nodes)?;
        // Lists number the rows of the arrays, as everything else beside the graph does.
        let mut of_node = split.clone();
        order
            .unwrap_or_default()
            .iter()
            .zip(&split)
            .for_each(|(&node, &part)| of_node[node as usize] = part);
        graph.splits = vec![of_node];
    }
    Ok(())
}
