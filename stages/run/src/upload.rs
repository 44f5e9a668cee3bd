//! upload: what the launches read, in the order of the permuted graph and in the run's type.
//!
//! promises  row r of everything here belongs to the node that the permutation calls r; what is f32
//!           on disk, in the wanted order and never written is the mapped file itself; ids of
//!           neighbours and of the permutation are proved to lie within the graph, so that damage
//!           is named here and not found by a kernel
//! never     makes sparse features dense; loads what no launch asks for
//! limits    memory: features once more where order or type differ, sparse features twice when
//!           training, 8 bytes an edge while weights are turned round
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use warploom_contract::{
    Artifact, Context, Inputs, Kind, StageError,
    arrow_file::View,
    kinds::{
        csr::{Csr, Direction as Side},
        graph::{self, Features, Ids, Labels, LearnedRows, Split},
        partition::{self, RowUnits},
        permutation,
    },
    progress::StopFlag,
};
use warploom_ops::evaluate::EdgeGraph;
use warploom_ops::sparse_product::{SparseColumns, SparseRows};
use warploom_ops::{Adjacency, balanced_units, shortcuts};
use warploom_shell::{requests::RunRequest, signals};
pub use warploom_vertex::launch::Needs;
use warploom_vertex::launch::{
    Body, BufferName, Direction, LaunchList, ListNeeds, Role, Rows, Stored,
};

use crate::{
    buffers::{Aligned, Contents},
    edge_lists::EdgeLists,
    graphs, node_kinds,
    precision::Precision,
    program_inputs,
    target_and_splits::{self, Aims, Column, Own},
    vertices,
};

/// Rows that one task copies.
const TASK_ROWS: usize = 4096;
/// Elements that one task converts.
const TASK_ELEMENTS: usize = 1 << 16;

/// One direction of the graph.
#[derive(Clone, Debug)]
pub struct Neighbours<T: Precision> {
    /// Where the entries of a row start.
    pub offsets: View<u64>,
    /// The row that each entry reads.
    pub neighbours: View<u32>,
    /// Weight of each entry.
    pub weights: Option<View<T>>,
    /// First row of each unit of work, and the number of rows.
    pub units: View<u32>,
}

impl<T: Precision> Neighbours<T> {
    /// As operations on reals see it.
    pub fn weighted(&self) -> Adjacency<'_, T> {
        Adjacency {
            offsets: &self.offsets,
            neighbours: &self.neighbours,
            weights: self.weights.as_deref(),
        }
    }

    /// As operations on ids see it.
    pub fn plain(&self) -> Adjacency<'_, u32> {
        Adjacency { offsets: &self.offsets, neighbours: &self.neighbours, weights: None }
    }

    /// As courses and frontiers see it.
    pub fn lists(&self) -> shortcuts::NeighbourLists<'_> {
        shortcuts::NeighbourLists { offsets: &self.offsets, neighbours: &self.neighbours }
    }
}

/// Features kept as what is not 0.
#[derive(Clone, Debug)]
pub struct Sparse<T: Precision> {
    /// Where the entries of a row start.
    pub offsets: View<u64>,
    /// Column of each entry.
    pub index: View<u32>,
    /// Value of each entry.
    pub values: View<T>,
    /// Number of columns.
    pub columns: usize,
    /// The same by columns, for gradients.
    pub by_columns: Option<SparseColumns<T>>,
}

impl<T: Precision> Sparse<T> {
    /// The same with all that is 0.
    pub fn dense(&self) -> Result<Aligned<T>, StageError> {
        let mut dense = Aligned::zeros((self.offsets.len() - 1) * self.columns)?;
        self.write_dense(&mut dense);
        Ok(dense)
    }

    /// Writes down all of it, with all that is 0.
    pub fn write_dense(&self, made: &mut [T]) {
        made.fill(T::ZERO);
        for (row, made) in made.chunks_exact_mut(self.columns.max(1)).enumerate() {
            for entry in self.offsets[row] as usize..self.offsets[row + 1] as usize {
                let column = self.index[entry] as usize;
                made[column] = made[column] + self.values[entry];
            }
        }
    }

    /// As operations see it.
    pub fn rows(&self) -> SparseRows<'_, T> {
        SparseRows {
            offsets: &self.offsets,
            index: &self.index,
            values: &self.values,
            columns: self.columns,
        }
    }
}

/// Rows of something that the data set gives.
#[derive(Debug)]
pub enum Given<T: Precision> {
    /// Of the run's type.
    Real(Contents<T>),
    /// Bools, ints and ids.
    Whole(Contents<i64>),
}

/// Everything that launches read and no launch makes.
#[derive(Debug)]
pub struct Data<T: Precision> {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of edges.
    pub edges: usize,
    /// In-edges, if any launch walks them.
    pub incoming: Option<Neighbours<T>>,
    /// Out-edges, if any launch walks them.
    pub outgoing: Option<Neighbours<T>>,
    /// Units of work where a launch walks both.
    pub both_units: Vec<u32>,
    /// Edges by vertex and by id, for evaluated operations.
    pub lists: EdgeLists,
    /// Where these are made from once a loop goes in supersteps after all.
    pub lists_later: Option<(Csr, ListNeeds)>,
    /// What the buffers of role `given` hold, by their names.
    pub given: BTreeMap<BufferName, Given<T>>,
    /// Dense features.
    pub features: Option<Contents<T>>,
    /// Sparse features.
    pub sparse: Option<Sparse<T>>,
    /// Sparse features of kinds of nodes, in the order of the graph artifact.
    pub sparse_of_kind: BTreeMap<u32, Sparse<T>>,
    /// Kind of each node, in the order of the graph artifact; empty: one kind.
    pub kind_of_node: Vec<u16>,
    /// Classes as numbers, or values to fit; not a number where a node, or a graph of many, has
    /// none.
    pub target: Option<Contents<T>>,
    /// The column that is learned, where it is not the data set's label.
    pub learned: Option<Column>,
    /// Rows of the target of the training, validation and test part, ascending.
    pub splits: [Vec<u32>; 3],
    /// The node, as the graph artifact counts, of each row; `None`: the same.
    pub old_of_new: Option<Vec<u32>>,
    /// Rows of the graph artifact that each vertex setting names.
    pub chosen: BTreeMap<String, BTreeSet<u64>>,
    /// The data set's own ids, in the graph artifact's order.
    pub ids: Ids,
    /// Those of the graphs of a set of many, where the list has rows of graphs.
    pub graph_ids: Option<Ids>,
}

impl<T: Precision> Data<T> {
    /// The graph artifact's row of a row.
    pub fn old(&self, row: usize) -> usize {
        self.old_of_new.as_ref().map_or(row, |old_of_new| old_of_new[row] as usize)
    }

    /// From a vertex to those that read it along edges, and to those that it reads.
    pub fn ways(&self, direction: Direction) -> Option<[Vec<&Neighbours<T>>; 2]> {
        let (incoming, outgoing) = (self.incoming.as_ref()?, self.outgoing.as_ref()?);
        Some(match direction {
            Direction::In => [vec![outgoing], vec![incoming]],
            Direction::Out => [vec![incoming], vec![outgoing]],
            Direction::Both => [vec![outgoing, incoming], vec![incoming, outgoing]],
        })
    }

    /// Sparse features of a kind, or of all nodes.
    pub fn sparse_of(&self, kind: Option<u32>) -> Option<&Sparse<T>> {
        kind.map_or(self.sparse.as_ref(), |kind| self.sparse_of_kind.get(&kind))
    }

    /// The data set's own ids of rows.
    pub fn ids_of(&self, rows: Rows) -> &Ids {
        self.graph_ids.as_ref().filter(|_| matches!(rows, Rows::Graphs(_))).unwrap_or(&self.ids)
    }

    /// What a row is, and its own id, as it is shown: node `7`.
    pub fn shown(&self, rows: Rows, row: usize) -> String {
        match rows {
            Rows::Graphs(_) => format!("graph `{}`", shown_id(self.ids_of(rows), row)),
            _ => format!("node `{}`", shown_id(&self.ids, self.old(row))),
        }
    }

    /// The graph as evaluated operations see it.
    pub fn edge_graph(&self) -> EdgeGraph<'_> {
        self.lists.graph(self.nodes, self.edges)
    }

    /// The row of each row of the graph artifact; nothing where they are the same.
    pub fn new_of_old(&self) -> Option<Vec<u32>> {
        self.old_of_new.as_deref().map(permutation::inverse)
    }
}

/// The data set's own id of a node, as it is shown.
pub fn shown_id(ids: &Ids, node: usize) -> String {
    match ids {
        Ids::Numbers(ids) => ids[node].to_string(),
        Ids::Strings(ids) => ids[node].clone(),
    }
}

/// Opens and orders everything that the launches need, or stops between two parts.
pub fn load<T: Precision>(
    context: &Context,
    inputs: &Inputs,
    list: &LaunchList,
    needs: Needs,
    request: &RunRequest,
) -> Result<Data<T>, StageError> {
    let stop = context.stop;
    let artifact = inputs.get(Kind::Graph)?;
    let table = graph::read_nodes(artifact)?;
    let chosen = vertices::rows(&request.chosen, &table.ids)?;
    let csr = Csr::open(inputs.get(Kind::Csr)?)?;
    let units = partition::open_rows(inputs.get(Kind::Partition)?)?;
    go_on(stop)?;
    let order = order(inputs.get(Kind::Permutation)?, csr.nodes())?;
    same_nodes(inputs, csr.nodes(), table.ids.len())?;
    prove(&csr, &inputs.get(Kind::Csr)?.path)?;
    go_on(stop)?;
    let mut data = Data::of_graph(&csr, units, needs);
    (data.old_of_new, data.chosen) = (order, chosen);
    go_on(stop)?;
    let trains = matches!(list.body, Body::Train(_));
    if trains
        || list
            .buffers
            .iter()
            .any(|buffer| matches!(buffer.role, Role::Features | Role::SparseFeatures))
    {
        data.load_features(artifact, needs.sparse_by_columns)?;
        go_on(stop)?;
    }
    let graphs = graphs::read(artifact, list)?;
    if let Some(graphs) = &graphs {
        let of_nodes = graphs::of_nodes(artifact, &table, graphs.ids.len())?;
        data.lists.graphs = of_nodes.map(|of_nodes| {
            graphs::Graphs::of(&of_nodes, graphs.ids.len(), data.old_of_new.as_deref())
        });
    }
    data.kind_of_node = table.kind.unwrap_or_default();
    data.sparse_of_kind = node_kinds::sparse(artifact, list, needs.sparse_by_columns)?;
    if trains {
        let labelled = graphs.as_ref().filter(|_| graphs::are_labelled(list));
        let own = match labelled {
            Some(graphs) => Own {
                ids: &graphs.ids,
                labels: graphs.labels.as_ref(),
                splits: &graphs.splits,
                rows: LearnedRows::Graphs,
            },
            None => Own {
                ids: &table.ids,
                labels: table.labels.as_ref(),
                splits: &table.splits,
                rows: LearnedRows::Nodes,
            },
        };
        let aims = target_and_splits::of(request, artifact, own)?;
        aims.warning.iter().for_each(|warning| context.progress.warn(warning));
        // Graphs lie as their table has them.
        let order = if labelled.is_some() { None } else { data.old_of_new.take() };
        data.load_labels(&aims, own.ids.len(), order.as_deref())?;
        data.old_of_new = order.or(data.old_of_new);
        data.learned = aims.column;
    }
    data.graph_ids = graphs.map(|graphs| graphs.ids);
    data.given = program_inputs::load(&data, list, &csr, artifact)?;
    data.ids = table.ids;
    go_on(stop)?;
    Ok(data)
}

fn go_on(stop: &StopFlag) -> Result<(), StageError> {
    if !stop.is_set() {
        return Ok(());
    }
    Err(signals::stopped("while the graph was loaded. The same command goes on"))
}

/// The old number of each new one; `None` when all stay.
fn order(artifact: &Artifact, nodes: usize) -> Result<Option<Vec<u32>>, StageError> {
    let new_of_old = permutation::open(artifact)?;
    let path = artifact.file(permutation::PERMUTATION_FILE);
    if new_of_old.len() != nodes {
        return Err(StageError::damaged(
            &path,
            format!("expected {nodes} nodes, as the csr has, found {}", new_of_old.len()),
        ));
    }
    if !permutation::is_renumbered(&new_of_old) {
        return Ok(None);
    }
    let mut old_of_new = vec![u32::MAX; nodes];
    for (old, &new) in new_of_old.iter().enumerate() {
        match old_of_new.get_mut(new as usize) {
            Some(slot) if *slot == u32::MAX => *slot = old as u32,
            _ => {
                return Err(StageError::damaged(
                    &path,
                    format!(
                        "node {old}: the new number {new} is beyond {nodes} nodes or given twice"
                    ),
                ));
            }
        }
    }
    Ok(Some(old_of_new))
}

fn same_nodes(inputs: &Inputs, expected: usize, found: usize) -> Result<(), StageError> {
    if expected == found {
        return Ok(());
    }
    Err(StageError::damaged(
        &inputs.get(Kind::Graph)?.path,
        format!("expected {expected} nodes, as the csr has, found {found}"),
    ))
}

/// Proves that every walk stays within the graph.
fn prove(csr: &Csr, path: &std::path::Path) -> Result<(), StageError> {
    for (name, side) in [("in", &csr.incoming), ("out", &csr.outgoing)] {
        let nodes = csr.nodes();
        let largest = side.neighbours.par_iter().copied().max();
        if let Some(far) = largest.filter(|&node| node as usize >= nodes) {
            return Err(StageError::damaged(
                path,
                format!("{name}-edges: neighbour {far} of only {nodes} nodes"),
            ));
        }
        if !side.offsets.par_windows(2).all(|pair| pair[0] <= pair[1])
            || side.offsets.last() != Some(&(side.neighbours.len() as u64))
        {
            return Err(StageError::damaged(
                path,
                format!("{name}-edges: offsets do not ascend to {}", side.neighbours.len()),
            ));
        }
        if side.edges.par_iter().any(|&edge| edge as usize >= side.neighbours.len()) {
            return Err(StageError::damaged(
                path,
                format!("{name}-edges: an edge id is beyond {} edges", side.neighbours.len()),
            ));
        }
    }
    Ok(())
}

impl<T: Precision> Data<T> {
    /// A graph alone, in its own order, without features or labels; ids count from 0.
    pub fn of_graph(csr: &Csr, units: RowUnits, needs: Needs) -> Self {
        let weights = csr.weights.as_ref().filter(|_| needs.weights);
        let side = |side: &Side, weights: Option<View<T>>, units: View<u32>| Neighbours {
            offsets: side.offsets.clone(),
            neighbours: side.neighbours.clone(),
            weights,
            units,
        };
        let incoming =
            needs.incoming.then(|| side(&csr.incoming, weights.map(T::of_view), units.incoming));
        let outgoing = needs.outgoing.then(|| {
            side(&csr.outgoing, weights.map(|weights| turned(csr, weights)), units.outgoing)
        });
        let both_units = if needs.both {
            let sums = csr
                .incoming
                .offsets
                .iter()
                .zip(csr.outgoing.offsets.iter())
                .map(|(into, out)| into + out);
            balanced_units(&sums.collect::<Vec<u64>>())
        } else {
            Vec::new()
        };
        Data {
            nodes: csr.nodes(),
            edges: csr.edges(),
            incoming,
            outgoing,
            both_units,
            lists: EdgeLists::of(csr, needs.lists),
            lists_later: needs.lists_later.map(|lists| (csr.clone(), lists)),
            given: BTreeMap::new(),
            features: None,
            sparse: None,
            sparse_of_kind: BTreeMap::new(),
            kind_of_node: Vec::new(),
            target: None,
            learned: None,
            splits: Default::default(),
            old_of_new: None,
            chosen: BTreeMap::new(),
            ids: Ids::Numbers((0..csr.nodes() as u64).collect()),
            graph_ids: None,
        }
    }

    /// Makes the lists that supersteps need.
    pub fn go_in_supersteps(&mut self) {
        if let Some((csr, lists)) = self.lists_later.take() {
            let graphs = self.lists.graphs.take();
            self.lists = EdgeLists::of(&csr, lists);
            self.lists.graphs = graphs;
        }
    }

    /// Takes the artifact's features, permuted.
    fn load_features(&mut self, artifact: &Artifact, by_columns: bool) -> Result<(), StageError> {
        match graph::open_features(artifact)? {
            None => {}
            Some(Features::Dense { columns, values }) => {
                self.features = Some(self.permuted(&values, columns)?)
            }
            Some(Features::Sparse { columns, entries }) => {
                let mut sparse = self.permuted_sparse(columns, &entries);
                sparse.by_columns = by_columns.then(|| sparse.rows().transpose());
                self.sparse = Some(sparse);
            }
        }
        Ok(())
    }

    /// Takes targets and the rows of each part of the split, of so many rows, which stand in this
    /// order.
    fn load_labels(
        &mut self,
        aims: &Aims<'_>,
        rows: usize,
        order: Option<&[u32]>,
    ) -> Result<(), StageError> {
        let not_a_number = || T::rounded(f64::NAN);
        let numbers: Option<Vec<T>> = aims.labels.as_deref().map(|labels| match labels {
            Labels::Classes(classes) => classes
                .iter()
                .map(|class| class.map_or_else(not_a_number, |class| T::rounded(f64::from(class))))
                .collect(),
            Labels::Values(values) | Labels::Rows { values, .. } => {
                values.iter().map(|&value| T::of_f32(value)).collect()
            }
        });
        if let Some(numbers) = numbers {
            let mut target = Aligned::zeros(numbers.len())?;
            let columns = numbers.len().checked_div(rows).unwrap_or(0);
            match order {
                Some(old_of_new) => {
                    gather(&mut target, &numbers, columns, old_of_new, |&number| number)
                }
                None => target.copy_from_slice(&numbers),
            }
            self.target = Some(Contents::Owned(target));
        }
        if aims.parts.is_empty() {
            return Ok(());
        }
        let old = |row: usize| order.map_or(row, |order| order[row] as usize);
        let rows_of = |part: Split| {
            (0..rows)
                .filter(|&row| aims.parts[old(row)] == part as u8)
                .map(|row| row as u32)
                .collect()
        };
        self.splits = [Split::Train, Split::Validation, Split::Test].map(rows_of);
        Ok(())
    }

    fn permuted(&self, values: &View<f32>, columns: usize) -> Result<Contents<T>, StageError> {
        let stored = Stored { renumbered: self.old_of_new.is_some(), ..Stored::default() };
        if stored.is_mapped(Rows::Nodes, size_of::<T>() as u64) {
            return Ok(Contents::Shared(T::of_view(values)));
        }
        let mut out = Aligned::zeros(values.len())?;
        match &self.old_of_new {
            Some(old_of_new) => {
                gather(&mut out, values, columns, old_of_new, |&value| T::of_f32(value))
            }
            None => out
                .par_iter_mut()
                .zip(&values[..])
                .with_min_len(TASK_ELEMENTS)
                .for_each(|(out, &value)| *out = T::of_f32(value)),
        }
        Ok(Contents::Owned(out))
    }

    fn permuted_sparse(
        &self,
        columns: usize,
        entries: &warploom_contract::arrow_file::SparseColumns,
    ) -> Sparse<T> {
        let count = entries.index.len();
        let (mut offsets, mut index, mut values) =
            (vec![0u64], Vec::with_capacity(count), Vec::with_capacity(count));
        for row in 0..self.nodes {
            let old = self.old(row);
            let range = entries.offsets[old] as usize..entries.offsets[old + 1] as usize;
            index.extend_from_slice(&entries.index[range.clone()]);
            values.extend(entries.values[range].iter().map(|&value| T::of_f32(value)));
            offsets.push(index.len() as u64);
        }
        Sparse {
            offsets: offsets.into(),
            index: index.into(),
            values: values.into(),
            columns,
            by_columns: None,
        }
    }
}

/// Weights in the order of out-edges, by way of the edge ids.
fn turned<T: Precision>(csr: &Csr, weights: &View<f32>) -> View<T> {
    csr.in_order_of_out(|_, slot| T::of_f32(weights[slot])).into()
}

/// Row r of `out` becomes row `from[r]` of `source`.
fn gather<S: Sync, E: Send>(
    out: &mut [E],
    source: &[S],
    columns: usize,
    from: &[u32],
    convert: impl Fn(&S) -> E + Sync,
) {
    if columns == 0 {
        return;
    }
    out.par_chunks_mut(TASK_ROWS * columns).enumerate().for_each(|(task, out)| {
        for (row, out) in out.chunks_mut(columns).enumerate() {
            let start = from[task * TASK_ROWS + row] as usize * columns;
            out.iter_mut()
                .zip(&source[start..start + columns])
                .for_each(|(out, element)| *out = convert(element));
        }
    });
}
