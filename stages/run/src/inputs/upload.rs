//! upload: loads what the launches read, in the order of the permuted graph and in the run's type.
//!
//! promises  row r belongs to the node with the new number r; f32 data in the right order that is
//!           never written is the mapped file itself; the permutation, and ids of neighbours that a
//!           GPU gets, are checked, so that damage is an error here and no bad access of a kernel
//! never     makes sparse features dense; loads what no launch needs
//! limits    memory: a copy of the features where order or type differ, sparse features twice when
//!           training, 8 bytes an edge while weights are transposed
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU32, Ordering},
};

use rayon::prelude::*;
use warploom_contract::{
    Artifact, Context, Inputs, Kind, StageError,
    arrow_file::View,
    kinds::{
        csr::Csr,
        graph::{self, Features, Labels, NodeTable, Split},
        partition::{
            FeatureWalk,
            row_lists::{self, RowListNeeds},
        },
        permutation,
    },
    progress::StopFlag,
};
use warploom_cuda::DevicePlan;
pub use warploom_launch::Needs;
use warploom_launch::{Body, Buffer, LaunchList, Role, Rows, Stored};
use warploom_shell::{graph_reads, requests::RunRequest, signals};

use crate::{
    buffers::{Aligned, Contents},
    inputs::graphs,
    inputs::input_data::{Data, SparseFeatures},
    inputs::node_kinds,
    inputs::program_inputs,
    inputs::target_and_splits::{self, DataSetLabels, TargetAndSplits},
    inputs::vertices,
    precision::Precision,
};

/// Rows that one task copies.
const TASK_ROWS: usize = 4096;
/// Elements that one task converts.
const TASK_ELEMENTS: usize = 1 << 16;

/// What a run loads.
#[derive(Clone, Debug, Default)]
pub struct DataNeeds {
    /// What launches read.
    pub launches: Needs,
    /// The tables of the partition that a CPU or the kernels of a GPU walk.
    pub rows: RowListNeeds,
    /// Walks of kernels over entries of sparse features.
    pub features: BTreeSet<FeatureWalk>,
}

impl DataNeeds {
    /// Of launches on a CPU, or as these kernels of a GPU: then the lists of edges that a host
    /// walks, and columns of sparse features, are made only once it runs a launch.
    pub fn new(list: &LaunchList, mut launches: Needs, kernels: Option<&DevicePlan>) -> Self {
        let of_features = |kernels| graph_reads::feature_walks(list, kernels);
        let features = kernels.map(of_features).unwrap_or_default();
        let rows = graph_reads::row_list_needs(launches, kernels);
        if kernels.is_some() {
            launches.lists_later = Some(launches.lists);
            launches.sparse_by_columns = false;
        }
        DataNeeds { launches, rows, features }
    }
}

/// Opens and reorders everything that the launches need; a stop is honoured between two parts. The
/// numbers of the lists of edges that a GPU walks are checked here. The host checks each number
/// where it reads it, so that its start need not read every edge: a wrong one ends the run with the
/// name of the damaged file.
pub fn load_data<T: Precision>(
    context: &Context,
    inputs: &Inputs,
    list: &LaunchList,
    DataNeeds { launches: needs, rows, features }: DataNeeds,
    request: &RunRequest,
) -> Result<Data<T>, StageError> {
    let stop = context.stop;
    let artifact = inputs.get(Kind::Graph)?;
    let mut table = graph::read_nodes(artifact)?;
    let chosen = vertices::find_rows(&request.chosen, &table.ids)?;
    let csr = Csr::open(inputs.get(Kind::Csr)?)?;
    check_stop(stop)?;
    let order = read_order(inputs.get(Kind::Permutation)?, csr.nodes())?;
    check_node_count(inputs, csr.nodes(), table.ids.len())?;
    check_offsets(&csr, inputs.get(Kind::Csr)?)?;
    let (nodes, edges) = (csr.nodes(), csr.edges());
    let lists = row_lists::open_row_lists(inputs.get(Kind::Partition)?, rows, nodes, edges)?;
    check_stop(stop)?;
    let mut data = Data::from_graph(&csr, lists, needs);
    (data.old_of_new, data.chosen) = (order, chosen);
    if needs.symmetry {
        data.is_symmetric();
    }
    check_stop(stop)?;
    let trains = matches!(list.body, Body::Train(_));
    let is_feature = |buffer: &Buffer| matches!(buffer.role, Role::Features | Role::SparseFeatures);
    if trains || list.buffers.iter().any(is_feature) {
        data.load_features(artifact, needs.sparse_by_columns)?;
        check_stop(stop)?;
    }
    let graphs = graphs::read_graph_table(artifact, list)?;
    if let Some(graphs) = &graphs {
        data.list_graphs(artifact, &table, graphs.ids.len())?;
    }
    data.kind_of_node = table.kind.take().unwrap_or_default();
    data.sparse_of_kind =
        node_kinds::open_sparse_features(artifact, list, needs.sparse_by_columns)?;
    data.map_feature_walks(inputs.get(Kind::Partition)?, features)?;
    if trains {
        let labelled = graphs.as_ref().filter(|_| graphs::has_graph_labels(list));
        let own = DataSetLabels::new(&table, labelled);
        let aims = target_and_splits::read_target_and_splits(request, artifact, own)?;
        aims.warning.iter().for_each(|warning| context.progress.warn(warning));
        // Graphs are in the order of their table: they are not permuted.
        let order = if labelled.is_some() { None } else { data.old_of_new.take() };
        data.load_labels(&aims, own.ids.len(), order.as_deref())?;
        data.old_of_new = order.or(data.old_of_new);
        data.learned = aims.column;
    }
    data.graph_ids = graphs.map(|graphs| graphs.ids);
    data.given = program_inputs::load_inputs(&data, list, &csr, artifact)?;
    data.ids = table.ids;
    check_stop(stop)?;
    Ok(data)
}

fn check_stop(stop: &StopFlag) -> Result<(), StageError> {
    if !stop.is_set() {
        return Ok(());
    }
    Err(signals::stop_error("while the graph was loaded. The same command goes on"))
}

/// The old number of each new one; `None` when no number changes.
fn read_order(artifact: &Artifact, nodes: usize) -> Result<Option<Vec<u32>>, StageError> {
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
    let old_of_new: Vec<AtomicU32> =
        (0..nodes).into_par_iter().map(|_| AtomicU32::new(u32::MAX)).collect();
    // Each place may be taken once: no order of the threads can be seen, unless one is taken twice.
    let take = |old: usize, new: u32| {
        let place = old_of_new.get(new as usize);
        place.is_some_and(|place| place.swap(old as u32, Ordering::Relaxed) == u32::MAX)
    };
    let is_taken = |old: usize| take(old, new_of_old[old]);
    if !(0..nodes).into_par_iter().with_min_len(TASK_ROWS).all(is_taken) {
        return Err(StageError::damaged(&path, find_wrong_number(&new_of_old)));
    }
    Ok(Some(old_of_new.into_par_iter().map(AtomicU32::into_inner).collect()))
}

/// The first node of an order whose new number is beyond all, or given twice.
fn find_wrong_number(new_of_old: &[u32]) -> String {
    let nodes = new_of_old.len();
    let mut taken = vec![false; nodes];
    let is_wrong = |&(_, &new): &(usize, &u32)| {
        taken.get_mut(new as usize).is_none_or(|taken| std::mem::replace(taken, true))
    };
    let (old, new) = new_of_old.iter().enumerate().find(is_wrong).unwrap_or((0, &0));
    format!("node {old}: the new number {new} is beyond {nodes} nodes or given twice")
}

fn check_node_count(inputs: &Inputs, expected: usize, found: usize) -> Result<(), StageError> {
    if expected == found {
        return Ok(());
    }
    Err(StageError::damaged(
        &inputs.get(Kind::Graph)?.path,
        format!("expected {expected} nodes, as the csr has, found {found}"),
    ))
}

/// Checks that the offsets of a csr that launches read ascend to the number of edges.
fn check_offsets(csr: &Csr, artifact: &Artifact) -> Result<(), StageError> {
    let edges = artifact.count("edges")?;
    for (name, side) in [("in", &csr.incoming), ("out", &csr.outgoing)] {
        let Some(offsets) = side.offsets.given() else { continue };
        if !offsets.par_windows(2).all(|pair| pair[0] <= pair[1]) || offsets.last() != Some(&edges)
        {
            let what = format!("{name}-edges: offsets do not ascend to {edges}");
            return Err(StageError::damaged(&artifact.path, what));
        }
    }
    Ok(())
}

impl<T: Precision> Data<T> {
    /// Lists the vertices of each graph of a set of many.
    fn list_graphs(
        &mut self,
        artifact: &Artifact,
        table: &NodeTable,
        graphs: usize,
    ) -> Result<(), StageError> {
        let of_nodes = graphs::graph_of_each_node(artifact, table, graphs)?;
        let order = self.old_of_new.as_deref();
        self.lists.graphs = of_nodes.map(|of_nodes| graphs::Graphs::new(&of_nodes, graphs, order));
        Ok(())
    }

    /// Loads the features of the artifact, permuted.
    fn load_features(&mut self, artifact: &Artifact, by_columns: bool) -> Result<(), StageError> {
        match graph::open_features(artifact)? {
            None => {}
            Some(Features::Dense { columns, values }) => {
                self.features = Some(self.permute_features(&values, columns)?)
            }
            Some(Features::Sparse { columns, entries }) => {
                let mut sparse = self.permute_sparse_features(columns, &entries);
                sparse.by_columns = by_columns.then(|| sparse.as_rows().transpose());
                self.sparse = Some(sparse);
            }
        }
        Ok(())
    }

    /// Maps walks over entries of sparse features, and checks that they are within these.
    fn map_feature_walks(
        &mut self,
        artifact: &Artifact,
        walks: BTreeSet<FeatureWalk>,
    ) -> Result<(), StageError> {
        for walk in walks {
            let missing = || {
                StageError::defect(format!(
                    "{walk:?}: the kernels walk features that are not there"
                ))
            };
            let sparse = self.sparse_features(walk.kind).ok_or_else(missing)?;
            let (rows, columns) = (sparse.offsets.len() - 1, sparse.columns);
            let (rows, far) = if walk.by_columns { (columns, rows) } else { (rows, columns) };
            let lists = walk.open(artifact)?;
            lists.check_entries(rows, far, sparse.index.len())?;
            self.feature_walks.insert(walk, lists);
        }
        Ok(())
    }

    /// Loads targets and splits of so many rows, in this order.
    fn load_labels(
        &mut self,
        aims: &TargetAndSplits<'_>,
        rows: usize,
        order: Option<&[u32]>,
    ) -> Result<(), StageError> {
        let not_a_number = || T::rounded(f64::NAN);
        let numbers: Option<Vec<T>> = aims.labels.as_deref().map(|labels| match labels {
            Labels::Classes(classes) => classes
                .par_iter()
                .map(|class| class.map_or_else(not_a_number, |class| T::rounded(f64::from(class))))
                .collect(),
            Labels::Values(values) | Labels::Rows { values, .. } => {
                values.par_iter().map(|&value| T::from_f32(value)).collect()
            }
        });
        if let Some(numbers) = numbers {
            let mut target = Aligned::zeros(numbers.len())?;
            let columns = numbers.len().checked_div(rows).unwrap_or(0);
            match order {
                Some(old_of_new) => {
                    gather_rows(&mut target, &numbers, columns, old_of_new, |&number| number)
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
                .into_par_iter()
                .filter(|&row| aims.parts[old(row)] == part as u8)
                .map(|row| row as u32)
                .collect()
        };
        self.splits = [Split::Train, Split::Validation, Split::Test].map(rows_of);
        Ok(())
    }

    fn permute_features(
        &self,
        values: &View<f32>,
        columns: usize,
    ) -> Result<Contents<T>, StageError> {
        let stored = Stored { renumbered: self.old_of_new.is_some(), ..Stored::default() };
        if stored.is_mapped(Rows::Nodes, size_of::<T>() as u64) {
            return Ok(Contents::Shared(T::from_view(values)));
        }
        let mut out = Aligned::zeros(values.len())?;
        match &self.old_of_new {
            Some(old_of_new) => {
                gather_rows(&mut out, values, columns, old_of_new, |&value| T::from_f32(value))
            }
            None => out
                .par_iter_mut()
                .zip(&values[..])
                .with_min_len(TASK_ELEMENTS)
                .for_each(|(out, &value)| *out = T::from_f32(value)),
        }
        Ok(Contents::Owned(out))
    }

    fn permute_sparse_features(
        &self,
        columns: usize,
        entries: &warploom_contract::arrow_file::SparseColumns,
    ) -> SparseFeatures<T> {
        let count = entries.index.len();
        let (mut offsets, mut index, mut values) =
            (vec![0u64], Vec::with_capacity(count), Vec::with_capacity(count));
        for row in 0..self.nodes {
            let old = self.artifact_row(row);
            let range = entries.offsets[old] as usize..entries.offsets[old + 1] as usize;
            index.extend_from_slice(&entries.index[range.clone()]);
            values.extend(entries.values[range].iter().map(|&value| T::from_f32(value)));
            offsets.push(index.len() as u64);
        }
        SparseFeatures {
            offsets: offsets.into(),
            index: index.into(),
            values: values.into(),
            columns,
            by_columns: None,
        }
    }
}

/// Row r of `out` becomes row `from[r]` of `source`.
fn gather_rows<S: Sync, E: Send>(
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
