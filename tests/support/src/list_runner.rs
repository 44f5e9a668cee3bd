//! list_runner: the executor and the reference over the same plain vectors, without a file between.
//!
//! promises  both get the same numbers, exactly where they are given in f64; the executor gets them
//!           in the order of the degrees if asked to
use std::collections::BTreeMap;
use std::sync::LazyLock;

use arrow_buffer::ArrowNativeType;
use warploom_contract::kinds::{
    csr::Csr,
    graph::EdgeTable,
    partition::{
        Column, FeatureTable, FeatureWalk, GroupViews, RowUnits, Table, Tables,
        row_lists::{AscendingRows, RowEdges, RowLists, WalkedRows},
    },
};
use warploom_contract::progress::{Silence, StopFlag};
use warploom_contract::row_order::WalkOrder;
use warploom_contract::{Context, Store};
use warploom_cpu::{balanced_units, sparse_product::SparseRows};
use warploom_cuda::{DevicePlan, Groups, Matmul, Order, TierCounts, WalkedDegrees, WalkedLists};
use warploom_ir::{Data as Known, Direction, EdgeSet, Input, Loss, Target};
use warploom_launch::reference::{Inputs, Reference, ReferenceGraph};
use warploom_launch::{Buffer, Element, LaunchList, Role, Rows};
use warploom_partition::{
    directions::both_sides,
    schemes::{
        ascending_edges,
        feature_entries::{self, SparseFeatures as ListedFeatures},
        neighbour_groups, walked_lists,
    },
};
use warploom_run::{
    backend::Backend,
    buffers::{Aligned, Contents},
    cpu::CpuBackend,
    cuda::{CudaBackend, GpuPlan},
    inputs::device_groups::DeviceGroups,
    inputs::graphs::Graphs,
    inputs::input_data::{Data, InputRows, SparseFeatures},
    inputs::upload::Needs,
    precision::Precision,
    resolved_program::{Part, Pass},
};
use warploom_shell::{graph_reads::feature_walk, program::emit_source};

/// Everything that a program reads.
#[derive(Clone, Debug, Default)]
pub struct ListInputs {
    /// Number of nodes.
    pub nodes: usize,
    /// Source of each edge.
    pub source: Vec<u32>,
    /// Target of each edge.
    pub target: Vec<u32>,
    /// Weight of each edge.
    pub weight: Option<Vec<f64>>,
    /// Relation of each edge; empty without.
    pub relation: Vec<u32>,
    /// Columns of the edge features.
    pub edge_columns: usize,
    /// A row for each edge.
    pub edge_features: Vec<f64>,
    /// Columns of the features.
    pub feature_columns: usize,
    /// Dense rows.
    pub features: Vec<f64>,
    /// Whether the executor gets them sparse.
    pub is_sparse: bool,
    /// Graph of each node of a set of many graphs. Labels and training rows are then of graphs.
    pub graph_of_node: Vec<u32>,
    /// How many graphs there are; 0: no set.
    pub graphs: usize,
    /// Whether labels and training rows are of nodes all the same.
    pub labels_of_nodes: bool,
    /// Further columns of nodes.
    pub columns: BTreeMap<String, Vec<f64>>,
    /// Kind of each node; empty: one kind.
    pub kind_of_node: Vec<u32>,
    /// Rows of the nodes of a kind; the executor gets them sparse where the list has them so.
    pub features_of_kind: BTreeMap<u32, Vec<f64>>,
    /// Classes or values.
    pub labels: Vec<f64>,
    /// Rows with labels that are learned.
    pub training_rows: Vec<u32>,
    /// Whether the executor's graph is renumbered.
    pub reordered: bool,
}

impl ListInputs {
    /// In the order of the executor.
    fn csr(&self) -> (Csr, Option<Vec<u32>>) {
        let weight =
            self.weight.as_ref().map(|weight| weight.iter().map(|&weight| weight as f32).collect());
        let kind = (!self.relation.is_empty())
            .then(|| self.relation.iter().map(|&relation| relation as u16).collect());
        let table =
            EdgeTable { source: self.source.clone(), target: self.target.clone(), weight, kind };
        let csr = Csr::from(warploom_extract::group::build_csr(self.nodes, &table));
        if !self.reordered {
            return (csr, None);
        }
        let degrees: Vec<u64> = csr.incoming.rows().degrees().collect();
        let old_of_new = warploom_reorder::methods::degree::order(&degrees, false);
        let new_of_old = warploom_contract::kinds::permutation::inverse(&old_of_new);
        (Csr::from(warploom_reorder::permute::permute(&csr, &new_of_old)), Some(old_of_new))
    }

    /// What the executor of a list reads.
    pub fn data<T: Precision>(&self, list: &LaunchList) -> Data<T> {
        self.data_with(list, Needs::from_list(list))
    }

    /// The same, where loops may take shortcut algorithms.
    pub fn data_for_shortcuts<T: Precision>(&self, list: &LaunchList) -> Data<T> {
        self.data_with(list, Needs::with_shortcuts(list))
    }

    fn data_with<T: Precision>(&self, list: &LaunchList, needs: Needs) -> Data<T> {
        let (csr, old_of_new) = self.csr();
        let mut data = Data::<T>::from_graph(&csr, row_lists(&csr), needs);
        data.old_of_new = old_of_new;
        data.device_groups = asked_groups().map(|groups| divide(&csr, groups));
        // The csr holds f32; what was given goes in as it is.
        for (side, edges) in
            [(&mut data.incoming, &csr.incoming.edges), (&mut data.outgoing, &csr.outgoing.edges)]
        {
            if let (Some(side), Some(weight)) = (side, &self.weight) {
                side.weights = side
                    .weights
                    .as_ref()
                    .map(|_| edges.iter().map(|&edge| T::rounded(weight[edge as usize])).collect());
            }
        }
        let rows: Vec<usize> = (0..self.nodes).map(|row| data.artifact_row(row)).collect();
        let ordered = |values: &[f64], columns: usize| -> Vec<T> {
            rows.iter()
                .flat_map(|&old| &values[old * columns..(old + 1) * columns])
                .map(|&value| T::rounded(value))
                .collect()
        };
        let dense = ordered(&self.features, self.feature_columns);
        if self.is_sparse {
            let made = sparse(&dense, self.nodes, self.feature_columns);
            data.feature_walks.extend(feature_walks(None, &made));
            data.sparse = Some(made);
        } else {
            data.features = Some(owned(dense));
        }
        if self.graphs > 1 {
            data.lists.graphs =
                Some(Graphs::new(&self.graph_of_node, self.graphs, data.old_of_new.as_deref()));
        }
        let mut training: Vec<u32> = if self.are_of_nodes() {
            data.target = Some(owned(ordered(
                &self.labels,
                self.labels.len().checked_div(self.nodes).unwrap_or(0),
            )));
            (0..self.nodes as u32)
                .filter(|&row| self.training_rows.contains(&(rows[row as usize] as u32)))
                .collect()
        } else {
            data.target = Some(owned(self.labels.iter().map(|&label| T::rounded(label)).collect()));
            self.training_rows.clone()
        };
        training.sort_unstable();
        data.splits[0] = training;
        for buffer in &list.buffers {
            match &buffer.role {
                Role::Given(input) => {
                    data.given.insert(buffer.name.clone(), self.given(&data, (buffer, input)));
                }
                Role::SparseFeaturesOf { kind, .. } => {
                    let dense: Vec<T> = self.features_of_kind[kind]
                        .iter()
                        .map(|&value| T::rounded(value))
                        .collect();
                    let columns = buffer.columns as usize;
                    let made = sparse(&dense, dense.len() / columns, columns);
                    data.feature_walks.extend(feature_walks(Some(*kind), &made));
                    data.sparse_of_kind.insert(*kind, made);
                }
                _ => {}
            }
        }
        data
    }

    fn are_of_nodes(&self) -> bool {
        self.graphs == 0 || self.labels_of_nodes
    }

    /// What a compiled program reads beside features and target.
    fn given<T: Precision>(
        &self,
        data: &Data<T>,
        (buffer, input): (&Buffer, &Input),
    ) -> InputRows<T> {
        let real = |values: &[f64]| {
            InputRows::Real(owned(values.iter().map(|&value| T::rounded(value)).collect()))
        };
        let whole = |values: Vec<i64>| InputRows::Whole(owned(values));
        match input {
            Input::Id => whole((0..self.nodes).map(|row| data.artifact_row(row) as i64).collect()),
            Input::Degree(edges) => {
                let degrees = self.degrees(*edges);
                whole((0..self.nodes).map(|row| degrees[data.artifact_row(row)]).collect())
            }
            Input::Weight => real(self.weight.as_deref().unwrap_or(&vec![1.0; self.source.len()])),
            Input::EdgeType => {
                whole(self.relation.iter().map(|&relation| i64::from(relation)).collect())
            }
            Input::EdgeFeatures => real(&self.edge_features),
            Input::GraphSize => match &data.lists.graphs {
                None => whole(vec![self.nodes as i64]),
                Some(graphs) => whole(graphs.sizes().collect()),
            },
            Input::Column(name) => {
                let ordered = (0..self.nodes).map(|row| self.columns[name][data.artifact_row(row)]);
                if buffer.element == Element::Real {
                    real(&ordered.collect::<Vec<_>>())
                } else {
                    whole(ordered.map(|value| value as i64).collect())
                }
            }
            Input::Kind => whole(
                (0..self.nodes)
                    .map(|row| i64::from(self.kind_of_node[data.artifact_row(row)]))
                    .collect(),
            ),
            Input::PlaceAmong(kinds) => whole(
                (0..self.nodes)
                    .map(|row| self.place_among(kinds, data.artifact_row(row)))
                    .collect(),
            ),
            Input::FeaturesOf(kind) => real(&self.features_of_kind[kind]),
            Input::Chosen(setting) => {
                panic!("`{setting}` names nodes, and no program here has such a setting")
            }
            Input::Features | Input::Target => panic!("{input:?} has a role of its own"),
        }
    }

    /// Which of the nodes of these kinds a node is, the first kind's first; below 0: it is of none.
    fn place_among(&self, kinds: &[u32], node: usize) -> i64 {
        let of = |kind: u32, nodes: &[u32]| nodes.iter().filter(|of| **of == kind).count() as i64;
        let own = self.kind_of_node[node];
        let Some(place) = kinds.iter().position(|kind| *kind == own) else { return -1 };
        kinds[..place].iter().map(|kind| of(*kind, &self.kind_of_node)).sum::<i64>()
            + of(own, &self.kind_of_node[..node])
    }

    /// How many of these edges each node has; all are counted in one pass, since a graph may have a
    /// million nodes and edges.
    fn degrees(&self, edges: EdgeSet) -> Vec<i64> {
        let ends: &[&[u32]] = match edges.direction {
            warploom_ir::Direction::In => &[&self.target],
            warploom_ir::Direction::Out => &[&self.source],
            warploom_ir::Direction::Both => &[&self.target, &self.source],
        };
        let mut degrees = vec![0; self.nodes];
        for (edge, &end) in ends.iter().flat_map(|ends| ends.iter().enumerate()) {
            degrees[end as usize] +=
                i64::from(edges.relation.is_none_or(|relation| self.relation[edge] == relation));
        }
        degrees
    }

    /// What a program may know when it is compiled for training.
    pub fn known(&self, classes: u64, loss: Loss) -> Known {
        let relations = self.relation.iter().max().map_or(0, |last| last + 1);
        Known {
            features: Some(self.feature_columns as u64),
            sparse_features: self
                .is_sparse
                .then(|| self.features.iter().filter(|value| **value != 0.0).count() as u64),
            edge_features: self.edge_columns as u64,
            weighted: self.weight.is_some(),
            relations: (0..relations).map(|relation| relation.to_string()).collect(),
            target: Some(Target { columns: classes, loss }),
            training: true,
            bytes_per_real: 8,
            half: None,
            lanes: gpu().is_some(),
            graphs: self.graphs.max(1) as u64,
            many_graphs: self.graphs > 0,
            labels_of_nodes: self.labels_of_nodes,
            ..Known::bare(self.nodes as u64, self.source.len() as u64)
        }
    }

    /// The graph as the reference reads it.
    pub fn reference_graph(&self) -> ReferenceGraph {
        ReferenceGraph {
            nodes: self.nodes as u64,
            source: self.source.clone(),
            target: self.target.clone(),
            weight: self.weight.clone(),
        }
    }

    /// The reference of a list, with these parameters.
    pub fn reference<'a>(
        &self,
        list: &'a LaunchList,
        graph: &'a ReferenceGraph,
        parameters: &BTreeMap<String, Vec<f64>>,
    ) -> Reference<'a> {
        let inputs = Inputs {
            features: self.features.clone(),
            target: self.labels.clone(),
            training_rows: self.training_rows.clone(),
            parameters: parameters.clone(),
            edge_type: self.relation.clone(),
            edge_features: self.edge_features.clone(),
            graph_of_node: self.graph_of_node.clone(),
            columns: self.columns.clone(),
            kind_of_node: self.kind_of_node.clone(),
            features_of_kind: self.features_of_kind.clone(),
            ..Inputs::default()
        };
        Reference::new(list, graph, inputs).unwrap()
    }
}

/// Asks that lists run on the GPU that is here.
pub const ON_GPU: &str = "WARPLOOM_TEST_GPU";
/// Asks for one type and order of each list.
pub const BRIEF: &str = "WARPLOOM_TEST_BRIEF";

/// Asks for a sample of what `BRIEF` runs: `0/2` takes of each list of cases those at even places.
/// See `sampled_cases`.
pub const SAMPLED: &str = "WARPLOOM_TEST_SAMPLED";

/// Asks that walks cut edges into groups: neighbours, lanes and threads, `4,8,64`.
pub const GROUPS: &str = "WARPLOOM_TEST_GROUPS";

/// Asks that lists are emitted as for an order in which neighbouring rows read near rows.
pub const NEAR: &str = "WARPLOOM_TEST_NEAR";

/// The order that lists are emitted for.
pub fn order() -> Order {
    if std::env::var_os(NEAR).is_some() { Order::Local } else { Order::Spread }
}

/// The groups that are asked for.
fn asked_groups() -> Option<Groups> {
    let asked = std::env::var(GROUPS).ok()?;
    let numbers: Vec<u32> = asked.split(',').map(|number| number.parse().unwrap()).collect();
    let [neighbours, lanes, threads] = numbers[..] else { panic!("{GROUPS} is `{asked}`") };
    Some(Groups { neighbours, lanes, threads })
}

/// The groups of each launch of a list, if these are asked for.
fn groups(list: &LaunchList) -> Vec<Option<Groups>> {
    asked_groups().map_or_else(Vec::new, |groups| vec![Some(groups); list.launches().len()])
}

/// The tables of groups that `partition` makes of a csr.
fn divide(csr: &Csr, groups: Groups) -> DeviceGroups {
    let [incoming, outgoing] = both_sides(csr).map(|side| {
        let tables = neighbour_groups::build(
            side,
            u64::from(groups.neighbours),
            u64::from(groups.per_block()),
        );
        let column = |table: &Table, name: &str| match table.column(name).unwrap() {
            Column::U32(numbers) => numbers.clone(),
            other => panic!("`{name}` is {:?}", other.width()),
        };
        let (groups, spans) = (&tables[0], &tables[2]);
        GroupViews {
            node: column(groups, "node"),
            start: column(groups, "start"),
            end: column(groups, "end"),
            span_node: column(spans, "node"),
            span_block: column(spans, "block"),
            span_blocks: column(spans, "blocks"),
        }
    });
    DeviceGroups::from_views(csr, incoming, outgoing)
}

/// Whether one type and order of each list is enough.
pub fn is_brief() -> bool {
    std::env::var_os(BRIEF).is_some()
}

/// The cases of a list that are run: all of them, or where a sample `PART/PARTS` is asked for those
/// whose place leaves PART when divided by PARTS, and of a shorter list one. A list is of one
/// schedule or family, so that each is run; its cases are widths, rows and settings, in rising or
/// changing order, so that narrow and wide ones are among those that are taken.
pub fn sampled_cases<T: Clone>(cases: &[T]) -> Vec<T> {
    let Ok(asked) = std::env::var(SAMPLED) else { return cases.to_vec() };
    let numbers = asked.split_once('/').and_then(|(part, parts)| {
        Some((part.parse::<usize>().ok()?, parts.parse::<usize>().ok()?))
    });
    let Some((part, parts)) = numbers.filter(|(part, parts)| part < parts) else {
        panic!("{SAMPLED} is `{asked}`, expected PART/PARTS")
    };
    let is_taken = |at: &usize| {
        if part < cases.len() { at % parts == part } else { *at == part % cases.len() }
    };
    (0..cases.len()).filter(is_taken).map(|at| cases[at].clone()).collect()
}

/// Whether a sample was asked for.
pub fn is_sampled() -> bool {
    std::env::var_os(SAMPLED).is_some()
}

/// The GPU that lists are to run on, if one is asked for; looked at once, since a driver takes
/// milliseconds to tell.
pub fn gpu() -> Option<&'static warploom_device::Facts> {
    static FOUND: LazyLock<Option<warploom_device::Facts>> = LazyLock::new(|| {
        std::env::var_os(ON_GPU).map(|_| {
            warploom_device::cuda(0).unwrap_or_else(|fault| panic!("{ON_GPU} is set: {fault}"))
        })
    });
    FOUND.as_ref()
}

/// What executes a list.
pub type Executor<T> = Box<dyn Backend<T>>;

/// An executor on the CPU, whatever device is asked for.
pub fn cpu_executor<T: Precision>(list: &LaunchList, data: Data<T>, seed: u64) -> Executor<T> {
    Box::new(CpuBackend::new(list, data, seed).unwrap())
}

/// An executor, on the device that is asked for.
pub fn executor<T: Precision>(list: &LaunchList, data: Data<T>, seed: u64) -> Executor<T> {
    executor_with_matmul(list, data, (seed, Matmul::F32))
}

/// The same with products of this kind, on a GPU.
pub fn executor_with_matmul<T: Precision>(
    list: &LaunchList,
    data: Data<T>,
    (seed, matmul): (u64, Matmul),
) -> Executor<T> {
    executor_with_order(list, data, (seed, matmul, order()))
}

/// The same, where rows read near rows or do not.
pub fn executor_with_order<T: Precision>(
    list: &LaunchList,
    data: Data<T>,
    (seed, matmul, order): (u64, Matmul, Order),
) -> Executor<T> {
    match gpu() {
        Some(facts) => Box::new(gpu_executor(list, data, seed, facts, matmul, order)),
        None => cpu_executor(list, data, seed),
    }
}

/// An executor on a GPU.
pub fn gpu_executor<T: Precision>(
    list: &LaunchList,
    data: Data<T>,
    seed: u64,
    facts: &warploom_device::Facts,
    matmul: Matmul,
    order: Order,
) -> CudaBackend<T> {
    static STORE: LazyLock<(tempfile::TempDir, Store)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        (folder, store)
    });
    let context = Context {
        store: &STORE.1,
        threads: 1,
        memory: u64::MAX,
        progress: &Silence,
        stop: &StopFlag::new(),
    };
    let bytes = size_of::<T>() as u64;
    let mut kernels = emit_source(list, bytes, matmul, order, &groups(list), facts)
        .unwrap_or_else(|error| panic!("{error}"));
    count_tiers(list, &mut kernels.plan, &data);
    let planned = GpuPlan { facts, kernels: &kernels, host: None };
    CudaBackend::new(&context, list, data, seed, planned).unwrap_or_else(|error| panic!("{error}"))
}

/// Counts the tiers of all walks, as `plan` does.
fn count_tiers<T: Precision>(list: &LaunchList, planned: &mut DevicePlan, data: &Data<T>) {
    let lists = &data.row_lists;
    let of_edges = |edges: usize| WalkOrder::choose(data.nodes, edges as u64);
    for (walked, cut) in planned.walks_in_tiers() {
        let (rows, order) = match walked {
            WalkedLists::Edges(Direction::In) => (lists.walked_in.as_ref(), of_edges(data.edges)),
            WalkedLists::Edges(Direction::Out) => (lists.walked_out.as_ref(), of_edges(data.edges)),
            WalkedLists::Edges(Direction::Both) => {
                (lists.walked_both.as_ref(), of_edges(2 * data.edges))
            }
            WalkedLists::Entries(..) => {
                let walk = feature_walk(list, &walked).unwrap();
                (data.feature_walks.get(&walk), WalkOrder::by_degree(0))
            }
            WalkedLists::CsrEdges(_) | WalkedLists::Ascending(_) => continue,
        };
        let offsets = &rows.unwrap_or_else(|| panic!("{walked:?} is not there")).offsets;
        let degrees = WalkedDegrees { offsets, sorted_above: order.sorted_above as u32 };
        let tiers = TierCounts::choose(degrees, cut, planned.processors);
        planned.tiers.insert((walked, cut), tiers);
    }
}

/// Runs a part; of a GPU's all that it made is fetched.
pub fn run_part<T: Precision>(
    executor: &mut Executor<T>,
    list: &LaunchList,
    part: Part,
    pass: Pass,
) {
    executor.run(part, pass, &StopFlag::new()).unwrap();
    executor.fetch_all(list).unwrap();
}

fn owned<E: bytemuck::Pod + ArrowNativeType>(values: Vec<E>) -> Contents<E> {
    let mut aligned = Aligned::zeros(values.len()).unwrap();
    aligned.copy_from_slice(&values);
    Contents::Owned(aligned)
}

/// The lists that the partition of a csr has.
fn row_lists(csr: &Csr) -> RowLists {
    let order = WalkOrder::choose(csr.nodes(), csr.edges() as u64);
    let both = walked_lists::build_both(csr, walked_lists::order_of_both(csr));
    let of_side = |side| [walked_lists::build(side, order), ascending_edges::build(side)].concat();
    let tables: Tables = both_sides(csr).into_iter().flat_map(of_side).chain(both).collect();
    let column = |name: &str, column: &str| match tables.column(name, column) {
        Ok(Column::U32(numbers)) => numbers.clone(),
        other => panic!("{name}: expected numbers of 32 bits, found {other:?}"),
    };
    let edges = |name: String| RowEdges {
        far: column(&name, "far"),
        edge: Some(column(&name, "edge")),
        path: name.into(),
    };
    let walked = |side: &str| {
        let [rows, offsets] = ["walk_rows", "walk_offsets"].map(|name| format!("{side}_{name}"));
        WalkedRows {
            rows: column(&rows, &rows),
            offsets: column(&offsets, &offsets),
            edges: edges(format!("{side}_walk_edges")),
        }
    };
    let ascending = |side: &str| {
        let offsets = format!("{side}_ascending_offsets");
        let edges = edges(format!("{side}_ascending_edges"));
        Some(AscendingRows { offsets: column(&offsets, &offsets), edges })
    };
    let [incoming, outgoing] = ["in", "out"].map(|side| edges(format!("{side}_edges")));
    let [walked_in, walked_out, walked_both] = ["in", "out", "both"].map(walked);
    RowLists {
        units: RowUnits {
            incoming: balanced_units(&csr.incoming.offsets).into(),
            outgoing: balanced_units(&csr.outgoing.offsets).into(),
        },
        incoming: Some(incoming),
        outgoing: Some(outgoing),
        walked_in: Some(walked_in),
        walked_out: Some(walked_out),
        walked_both: Some(walked_both),
        ascending: ["in", "out"].map(ascending),
    }
}

/// The walks over entries of features that the partition has.
fn feature_walks<T: Precision>(
    kind: Option<u32>,
    features: &SparseFeatures<T>,
) -> Vec<(FeatureWalk, WalkedRows)> {
    let offsets = features.offsets.iter().map(|&offset| offset as i64).collect();
    let (columns, index) = (features.columns, features.index.clone());
    let listed = ListedFeatures::new(kind, columns, offsets, index, None, "features".into());
    let listed = listed.unwrap();
    let tables: Tables = feature_entries::build(&[listed]).into_iter().collect();
    let column = |name: &str, column: &str| match tables.column(name, column) {
        Ok(Column::U32(numbers)) => numbers.clone(),
        other => panic!("{name}: expected numbers of 32 bits, found {other:?}"),
    };
    let walks = [false, true].map(|by_columns| FeatureWalk { kind, by_columns });
    let open = |walk: FeatureWalk| {
        let [rows, offsets, entries] = FeatureTable::ALL.map(|table| walk.table_name(table));
        let edges = RowEdges {
            far: column(&entries, "far"),
            edge: Some(column(&entries, "edge")),
            path: entries.into(),
        };
        let (rows, offsets) = (column(&rows, &rows), column(&offsets, &offsets));
        (walk, WalkedRows { rows, offsets, edges })
    };
    walks.map(open).into()
}

fn sparse<T: Precision>(dense: &[T], nodes: usize, columns: usize) -> SparseFeatures<T> {
    let (mut offsets, mut index, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for row in 0..nodes {
        for (column, &value) in dense[row * columns..(row + 1) * columns].iter().enumerate() {
            if value != T::ZERO {
                index.push(column as u32);
                values.push(value);
            }
        }
        offsets.push(index.len() as u64);
    }
    let by_columns =
        Some(SparseRows { offsets: &offsets, index: &index, values: &values, columns }.transpose());
    SparseFeatures {
        offsets: offsets.into(),
        index: index.into(),
        values: values.into(),
        columns,
        by_columns,
    }
}

/// A list whose buffers are never written over, so that each can be looked at when a part has
/// ended.
pub fn separate_buffers(list: &LaunchList) -> LaunchList {
    LaunchList { arena: list.arena.without_reuse(), ..list.clone() }
}

/// A buffer of the executor in the data set's order.
pub fn buffer_values<T: Precision>(
    executor: &Executor<T>,
    list: &LaunchList,
    name: &str,
) -> Option<Vec<f64>> {
    use warploom_run::buffers::Place;
    let buffer = list.buffers.iter().find(|buffer| buffer.name == name)?;
    let (data, columns) = (&executor.host().data, buffer.columns as usize);
    match executor.host().program.places.get(name)? {
        Place::Real(index) => {
            let elements = executor.host().buffers.reals().get(*index);
            let ordered = if buffer.rows == Rows::Nodes {
                unpermuted(data, elements, columns)
            } else {
                elements.to_vec()
            };
            Some(ordered.iter().map(|element| element.widened()).collect())
        }
        Place::Whole(index) => {
            let elements = executor.host().buffers.wholes().get(*index);
            let ordered = if buffer.rows == Rows::Nodes {
                unpermuted(data, elements, columns)
            } else {
                elements.to_vec()
            };
            Some(ordered.into_iter().map(|value| value as f64).collect())
        }
        Place::Half(..) | Place::Sparse(_) => None,
    }
}

/// The largest magnitude.
pub fn largest_magnitude(values: &[f64]) -> f64 {
    values
        .iter()
        .filter(|value| value.is_finite())
        .fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// Where two arrays differ by more than `tolerance` of `scale`, if anywhere.
pub fn first_difference(got: &[f64], want: &[f64], bound: f64) -> Option<String> {
    if got.len() != want.len() {
        return Some(format!("{} elements, expected {}", got.len(), want.len()));
    }
    let apart = |(got, want): (&f64, &f64)| {
        !(got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= bound)
    };
    let index = got.iter().zip(want).position(apart)?;
    Some(format!("[{index}]: got {:e}, want {:e}, bound {bound:e}", got[index], want[index]))
}

/// Rows of a buffer with one row a node, in the order of the graph artifact.
fn unpermuted<T: Precision, E: Copy>(data: &Data<T>, elements: &[E], columns: usize) -> Vec<E> {
    let Some(new_of_old) = data.new_of_old() else { return elements.to_vec() };
    new_of_old
        .iter()
        .flat_map(|&row| &elements[row as usize * columns..(row as usize + 1) * columns])
        .copied()
        .collect()
}
