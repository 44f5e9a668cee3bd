//! csr: neighbours in both directions.
//!
//! files     `in_offsets` u64 (nodes + 1), `in_sources` u32, `in_edge` u64; `out_offsets`,
//!           `out_targets`, `out_edge`; `weights` f32 and `types` u16 in in-edge order, where the
//!           graph has them; `graphs` u32 for each node, in sets of many graphs
//! promises  offsets ascend from 0 to the number of edges; in each row neighbours ascend, then edge
//!           ids (typed graphs: type first); an edge id is the row of edges.parquet
//! never     drops or merges an edge
use std::{
    ops::Deref,
    path::{Path, PathBuf},
};

use rayon::prelude::*;

use super::{Depth, expect_length, has_file, need_count, need_file};
use crate::{
    Artifact, Kind, Manifest, Outputs, StageError,
    arrow_file::{Number, View, open_numbers, write_numbers},
    progress::{Phase, Progress},
};

/// One direction: for each node the other ends of its edges.
#[derive(Clone, Debug)]
pub struct Direction {
    /// Start of each row, and the number of edges.
    pub offsets: FileView<u64>,
    /// Other end of each edge.
    pub neighbours: FileView<u32>,
    /// Id of each edge.
    pub edges: FileView<u64>,
}

/// The numbers of a file that every csr has. Reading them panics, as `Artifact` does, in a stage
/// that does not get the file.
#[derive(Clone, Debug)]
pub struct FileView<T: Number>(Part<View<T>>);

impl<T: Number> FileView<T> {
    /// The numbers, if the stage gets the file.
    pub fn given(&self) -> Option<&View<T>> {
        if let Part::Given(view) = &self.0 { Some(view) } else { None }
    }
}

impl<T: Number> Deref for FileView<T> {
    type Target = View<T>;

    fn deref(&self) -> &View<T> {
        self.0.as_ref().expect("every csr has the file")
    }
}

impl<T: Number> From<Vec<T>> for FileView<T> {
    fn from(numbers: Vec<T>) -> Self {
        FileView(Part::Given(numbers.into()))
    }
}

/// Data that a csr may have.
#[derive(Clone, Debug)]
pub enum Part<T> {
    /// The graph has it.
    Given(T),
    /// The graph has none.
    Absent,
    /// The stage that reads the csr does not get it: its key does not hold it.
    Withheld(&'static str),
}

impl<T> Part<T> {
    /// The data, if the graph has them. Panics if they are withheld, as `Artifact` does.
    pub fn as_ref(&self) -> Option<&T> {
        match self {
            Part::Given(part) => Some(part),
            Part::Absent => None,
            Part::Withheld(name) => {
                panic!("`{name}` of the csr is read, and the stage's key does not hold it")
            }
        }
    }

    /// The numbers, if the graph has them. Panics if they are withheld.
    pub fn as_deref(&self) -> Option<&T::Target>
    where
        T: Deref,
    {
        self.as_ref().map(T::deref)
    }

    /// Whether the graph has the data.
    pub fn is_some(&self) -> bool {
        self.as_ref().is_some()
    }
}

impl<T> From<Option<T>> for Part<T> {
    fn from(part: Option<T>) -> Self {
        part.map_or(Part::Absent, Part::Given)
    }
}

/// Both directions, mapped.
#[derive(Clone, Debug)]
pub struct Csr {
    /// In-edges of each node: neighbours are sources.
    pub incoming: Direction,
    /// Out-edges of each node: neighbours are targets.
    pub outgoing: Direction,
    /// Weight of each edge in in-edge order.
    pub weights: Part<View<f32>>,
    /// Relation of each edge in in-edge order.
    pub types: Part<View<u16>>,
    /// Graph of each node, as a row of the graph table, in sets of many graphs.
    pub graphs: Part<View<u32>>,
}

/// One direction, to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionParts {
    /// Start of each row, and the number of edges.
    pub offsets: Vec<u64>,
    /// Other end of each edge.
    pub neighbours: Vec<u32>,
    /// Id of each edge.
    pub edges: Vec<u64>,
}

/// The rows of one direction, mapped or in memory.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Start of each row, and the number of edges.
    pub offsets: &'a [u64],
    /// Other end of each edge.
    pub neighbours: &'a [u32],
}

impl<'a> Rows<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// How many edges a row has.
    pub fn degree(self, node: usize) -> u64 {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// Neighbours of a node.
    pub fn row(self, node: usize) -> &'a [u32] {
        &self.neighbours[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    /// How many edges repeat another of the same two nodes. Neighbours ascend in each row, typed
    /// rows by type first.
    pub fn repeats(self, typed: bool) -> u64 {
        let of_row = |node: usize| {
            let repeats =
                |row: &[u32]| row.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
            if !typed {
                return repeats(self.row(node));
            }
            let mut sorted = self.row(node).to_vec();
            sorted.sort_unstable();
            repeats(&sorted)
        };
        (0..self.len()).into_par_iter().with_min_len(1 << 12).map(of_row).sum()
    }

    /// How many neighbours each node has.
    pub fn degrees(self) -> impl Iterator<Item = u64> + 'a {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0])
    }
}

impl Direction {
    /// Without the ids of edges.
    pub fn rows(&self) -> Rows<'_> {
        Rows { offsets: &self.offsets, neighbours: &self.neighbours }
    }
}

impl DirectionParts {
    /// Without the ids of edges.
    pub fn rows(&self) -> Rows<'_> {
        Rows { offsets: &self.offsets, neighbours: &self.neighbours }
    }
}

/// Both directions, to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsrParts {
    /// In-edges.
    pub incoming: DirectionParts,
    /// Out-edges.
    pub outgoing: DirectionParts,
    /// Weights in in-edge order.
    pub weights: Option<Vec<f32>>,
    /// Relations in in-edge order.
    pub types: Option<Vec<u16>>,
    /// Graph of each node.
    pub graphs: Option<Vec<u32>>,
}

const DIRECTIONS: [(&str, &str); 2] = [("in", "sources"), ("out", "targets")];

/// The files of one direction.
#[derive(Clone, Copy, Debug)]
pub struct DirectionFiles {
    /// Start of each row.
    pub offsets: &'static str,
    /// Other end of each edge.
    pub neighbours: &'static str,
    /// Id of each edge.
    pub edges: &'static str,
}

/// The files of in-edges.
pub const IN_FILES: DirectionFiles = DirectionFiles {
    offsets: "in_offsets.arrow",
    neighbours: "in_sources.arrow",
    edges: "in_edge.arrow",
};
/// The files of out-edges.
pub const OUT_FILES: DirectionFiles = DirectionFiles {
    offsets: "out_offsets.arrow",
    neighbours: "out_targets.arrow",
    edges: "out_edge.arrow",
};
/// Weights of edges, where they have some.
pub const WEIGHTS_FILE: &str = "weights.arrow";
/// Relations of edges, where they have some.
pub const TYPES_FILE: &str = "types.arrow";

/// The fact that says whether edges have relations.
pub const TYPED: &str = "typed";

/// Neighbours in both directions, without weights, relations and graphs.
pub const NEIGHBOUR_FILES: [&str; 6] = [
    IN_FILES.offsets,
    IN_FILES.neighbours,
    IN_FILES.edges,
    OUT_FILES.offsets,
    OUT_FILES.neighbours,
    OUT_FILES.edges,
];
/// The other files that a csr may have.
pub const OTHER_FILES: [&str; 3] = [WEIGHTS_FILE, TYPES_FILE, "graphs.arrow"];

/// Names of all files that a csr may have.
pub fn files() -> impl Iterator<Item = &'static str> {
    NEIGHBOUR_FILES.into_iter().chain(OTHER_FILES)
}

impl Csr {
    /// Maps the files of an artifact.
    pub fn open(artifact: &Artifact) -> Result<Self, StageError> {
        open_parts(&Files {
            place: &|name| artifact.file(name),
            manifest: &artifact.manifest,
            withheld: &artifact.withheld,
        })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.incoming.offsets.len() - 1
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.incoming.offsets.last().map_or(0, |&end| end as usize)
    }

    /// Values of in-edges, by row and slot, in the order of out-edges. It goes by edge ids, and
    /// needs the memory of the result twice.
    pub fn to_out_order<T: Copy + Default + Send + Sync>(
        &self,
        of_in_edge: impl Fn(usize, usize) -> T,
    ) -> Vec<T> {
        let mut by_edge = crate::mapped_file::zeros(self.edges());
        for (row, pair) in self.incoming.offsets.windows(2).enumerate() {
            (pair[0] as usize..pair[1] as usize).for_each(|slot| {
                by_edge[self.incoming.edges[slot] as usize] = of_in_edge(row, slot)
            });
        }
        self.outgoing.edges.par_iter().map(|&edge| by_edge[edge as usize]).collect()
    }
}

impl From<DirectionParts> for Direction {
    fn from(parts: DirectionParts) -> Self {
        Direction {
            offsets: parts.offsets.into(),
            neighbours: parts.neighbours.into(),
            edges: parts.edges.into(),
        }
    }
}

/// A csr in memory.
impl From<CsrParts> for Csr {
    fn from(parts: CsrParts) -> Self {
        Csr {
            incoming: parts.incoming.into(),
            outgoing: parts.outgoing.into(),
            weights: parts.weights.map(View::from).into(),
            types: parts.types.map(View::from).into(),
            graphs: parts.graphs.map(View::from).into(),
        }
    }
}

/// Writes a csr into an output.
pub fn write(
    outputs: &mut Outputs,
    parts: CsrParts,
    progress: &dyn Progress,
) -> Result<(), StageError> {
    let file = |name: &str| outputs.file(Kind::Csr, &format!("{name}.arrow"));
    let (nodes, edges) =
        (parts.incoming.offsets.len() as u64 - 1, parts.incoming.neighbours.len() as u64);
    let typed = parts.types.is_some();
    let columns = CsrParts::into_columns(parts);
    let files = Phase::begin(progress, "writing", columns.len() as u64, "files");
    columns.into_par_iter().try_for_each(|(name, column)| {
        column.write(&file(&name), &name)?;
        files.add(1);
        Ok(())
    })?;
    record_counts(outputs, nodes, edges, typed);
    Ok(())
}

/// States the size of the csr in the manifest, and whether its edges have relations.
pub fn record_counts(outputs: &mut Outputs, nodes: u64, edges: u64, typed: bool) {
    outputs.count(Kind::Csr, "nodes", nodes);
    outputs.count(Kind::Csr, "edges", edges);
    outputs.fact(Kind::Csr, TYPED, typed);
}

enum Column {
    Offsets(Vec<u64>),
    Nodes(Vec<u32>),
    Weights(Vec<f32>),
    Types(Vec<u16>),
}

impl Column {
    fn write(self, path: &Path, name: &str) -> Result<(), StageError> {
        match self {
            Column::Offsets(values) => write_numbers(path, name, values),
            Column::Nodes(values) => write_numbers(path, name, values),
            Column::Weights(values) => write_numbers(path, name, values),
            Column::Types(values) => write_numbers(path, name, values),
        }
    }
}

impl CsrParts {
    fn into_columns(self) -> Vec<(String, Column)> {
        let mut columns = Vec::new();
        for ((side, end), direction) in DIRECTIONS.into_iter().zip([self.incoming, self.outgoing]) {
            columns.push((format!("{side}_offsets"), Column::Offsets(direction.offsets)));
            columns.push((format!("{side}_{end}"), Column::Nodes(direction.neighbours)));
            columns.push((format!("{side}_edge"), Column::Offsets(direction.edges)));
        }
        columns
            .extend(self.weights.map(|weights| ("weights".to_owned(), Column::Weights(weights))));
        columns.extend(self.types.map(|types| ("types".to_owned(), Column::Types(types))));
        columns.extend(self.graphs.map(|graphs| ("graphs".to_owned(), Column::Nodes(graphs))));
        columns
    }
}

/// The files of a csr that the reader gets.
struct Files<'a> {
    place: &'a dyn Fn(&str) -> PathBuf,
    manifest: &'a Manifest,
    withheld: &'a [String],
}

impl Files<'_> {
    fn part<T: Number>(
        &self,
        name: &'static str,
        column: &str,
    ) -> Result<Part<View<T>>, StageError> {
        if self.withheld.iter().any(|withheld| withheld == name) {
            return Ok(Part::Withheld(name));
        }
        has_file(self.manifest, name)
            .then(|| open_numbers(&(self.place)(name), column))
            .transpose()
            .map(Part::from)
    }

    /// A file that every csr has; its column has its name.
    fn numbers<T: Number>(&self, name: &'static str) -> Result<FileView<T>, StageError> {
        if self.withheld.iter().any(|withheld| withheld == name) {
            return Ok(FileView(Part::Withheld(name)));
        }
        let column = name.strip_suffix(".arrow").unwrap_or(name);
        open_numbers(&(self.place)(name), column).map(|view| FileView(Part::Given(view)))
    }
}

fn open_parts(files: &Files<'_>) -> Result<Csr, StageError> {
    let side = |side: DirectionFiles| -> Result<Direction, StageError> {
        Ok(Direction {
            offsets: files.numbers(side.offsets)?,
            neighbours: files.numbers(side.neighbours)?,
            edges: files.numbers(side.edges)?,
        })
    };
    Ok(Csr {
        incoming: side(IN_FILES)?,
        outgoing: side(OUT_FILES)?,
        weights: files.part(WEIGHTS_FILE, "weights")?,
        types: files.part(TYPES_FILE, "types")?,
        graphs: files.part("graphs.arrow", "graphs")?,
    })
}

/// Schema and invariants.
pub fn validate(directory: &Path, manifest: &Manifest, depth: Depth) -> Result<(), StageError> {
    for name in NEIGHBOUR_FILES {
        need_file(directory, manifest, name)?;
    }
    let (nodes, edges) =
        (need_count(directory, manifest, "nodes")?, need_count(directory, manifest, "edges")?);
    let csr = open_parts(&Files { place: &|name| directory.join(name), manifest, withheld: &[] })?;
    for ((side, end), direction) in DIRECTIONS.into_iter().zip([&csr.incoming, &csr.outgoing]) {
        let offsets = directory.join(format!("{side}_offsets.arrow"));
        expect_length(&offsets, "offsets", nodes + 1, direction.offsets.len() as u64)?;
        expect_length(
            &directory.join(format!("{side}_{end}.arrow")),
            "edges",
            edges,
            direction.neighbours.len() as u64,
        )?;
        expect_length(
            &directory.join(format!("{side}_edge.arrow")),
            "edges",
            edges,
            direction.edges.len() as u64,
        )?;
        let (first, last) = (direction.offsets[0], direction.offsets[nodes as usize]);
        if (first, last) != (0, edges) {
            return Err(StageError::damaged(
                &offsets,
                format!("expected offsets from 0 to {edges}, found {first} to {last}"),
            ));
        }
        if depth == Depth::Publish {
            validate_rows(&offsets, direction, csr.types.is_some())?;
        }
    }
    if let Some(weights) = csr.weights.as_ref() {
        expect_length(&directory.join(WEIGHTS_FILE), "weights", edges, weights.len() as u64)?;
    }
    if let Some(types) = csr.types.as_ref() {
        expect_length(&directory.join(TYPES_FILE), "types", edges, types.len() as u64)?;
    }
    if let Some(graphs) = csr.graphs.as_ref() {
        expect_length(&directory.join("graphs.arrow"), "nodes", nodes, graphs.len() as u64)?;
    }
    Ok(())
}

fn validate_rows(path: &Path, direction: &Direction, typed: bool) -> Result<(), StageError> {
    let (nodes, edges) = (direction.offsets.len() - 1, direction.neighbours.len() as u64);
    let wrong = |row: usize| -> Option<String> {
        let (start, end) = (direction.offsets[row], direction.offsets[row + 1]);
        if start > end || end > edges {
            return Some(format!(
                "row {row}: offsets {start} to {end} do not ascend within {edges} edges"
            ));
        }
        let range = start as usize..end as usize;
        let (neighbours, ids) = (&direction.neighbours[range.clone()], &direction.edges[range]);
        if let Some(far) = neighbours.iter().find(|&&node| node as usize >= nodes) {
            return Some(format!("row {row}: neighbour {far} of only {nodes} nodes"));
        }
        if let Some(far) = ids.iter().find(|&&edge| edge >= edges) {
            return Some(format!("row {row}: edge id {far} of only {edges} edges"));
        }
        let ascends = |at: usize| (neighbours[at], ids[at]) < (neighbours[at + 1], ids[at + 1]);
        if !typed && !(0..neighbours.len().saturating_sub(1)).all(ascends) {
            return Some(format!("row {row}: neighbours do not ascend"));
        }
        None
    };
    match (0..nodes).into_par_iter().with_min_len(1 << 14).find_map_first(wrong) {
        None => Ok(()),
        Some(what) => Err(StageError::damaged(path, what)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Inputs, KeyDocument, Names, Reads, Store, stage::Contract};

    const CONTRACT: Contract =
        Contract { name: "extract", version: 1, reads: &[], writes: &[Kind::Csr] };

    #[test]
    fn a_part_that_is_withheld_is_never_taken_for_one_that_the_graph_lacks() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let document =
            KeyDocument::new(CONTRACT.name, CONTRACT.version, CONTRACT.writes, json!({}));
        let mut outputs = Outputs::begin(&store, &CONTRACT, document, &Inputs::new()).unwrap();
        let direction =
            || DirectionParts { offsets: vec![0, 1, 2], neighbours: vec![1, 0], edges: vec![1, 0] };
        let parts = CsrParts {
            incoming: direction(),
            outgoing: direction(),
            types: Some(vec![0, 1]),
            ..CsrParts::default()
        };
        write(&mut outputs, parts, &crate::progress::Silence).unwrap();
        let whole = outputs.publish(&store).unwrap().remove(0);
        let csr = Csr::open(&whole).unwrap();
        assert_eq!(
            (csr.types.as_deref(), csr.weights.is_some(), csr.graphs.is_some()),
            (Some(&[0, 1][..]), false, false)
        );
        let neighbours =
            whole.restricted(&Reads { files: Names(NEIGHBOUR_FILES.to_vec()), ..Reads::default() });
        let csr = Csr::open(&neighbours).unwrap();
        assert!(!csr.weights.is_some() && !csr.graphs.is_some(), "the graph has none");
        assert!(std::panic::catch_unwind(|| csr.types.is_some()).is_err());
        assert!(std::panic::catch_unwind(|| csr.types.as_deref().map(<[u16]>::len)).is_err());
        let of_rows =
            whole.restricted(&Reads { files: [IN_FILES.offsets].into(), ..Reads::default() });
        let csr = Csr::open(&of_rows).unwrap();
        assert_eq!((csr.nodes(), csr.edges()), (2, 2));
        assert!(csr.incoming.neighbours.given().is_none());
        assert!(std::panic::catch_unwind(|| csr.incoming.neighbours.len()).is_err());
    }
}
