//! input_data: everything that launches read and no launch makes: the graph, and what the data set
//! gives of nodes, edges and graphs.
//!
//! promises  row r of everything here belongs to the node that the permutation calls r, unless a
//!           field says otherwise
//! never     reads a file: `upload` does
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use warploom_contract::{
    Artifact, StageError,
    arrow_file::View,
    kinds::{
        csr::{Csr, Direction as Side},
        graph::Ids,
        partition::{
            FeatureWalk,
            row_lists::{RowEdges, RowLists, Side as RowSide, WalkedRows},
        },
        permutation,
    },
};
use warploom_cpu::evaluate::EdgeGraph;
use warploom_cpu::sparse_product::{SparseColumns, SparseRows};
use warploom_cpu::{balanced_units, shortcuts};
use warploom_ir::Direction;
use warploom_launch::{BufferName, ListNeeds, Needs, Rows};

use crate::{
    buffers::{Aligned, Contents},
    inputs::{device_groups::DeviceGroups, edge_lists::EdgeLists, group_division::Division},
    precision::Precision,
};

/// One direction of the graph.
#[derive(Clone, Debug)]
pub struct Neighbours<T: Precision> {
    /// Where the entries of a row start.
    pub offsets: View<u64>,
    /// The row that each entry reads.
    pub neighbours: View<u32>,
    /// Weight of each entry.
    pub weights: Option<View<T>>,
}

impl<T: Precision> Neighbours<T> {
    /// As courses and frontiers see it.
    pub fn neighbour_lists(&self) -> shortcuts::NeighbourLists<'_> {
        shortcuts::NeighbourLists { offsets: &self.offsets, neighbours: &self.neighbours }
    }
}

/// Features kept as what is not 0.
#[derive(Clone, Debug)]
pub struct SparseFeatures<T: Precision> {
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

impl<T: Precision> SparseFeatures<T> {
    /// The same with all that is 0.
    pub fn to_dense(&self) -> Result<Aligned<T>, StageError> {
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
    pub fn as_rows(&self) -> SparseRows<'_, T> {
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
pub enum InputRows<T: Precision> {
    /// Of the run's type.
    Real(Contents<T>),
    /// Bools, ints and ids.
    Whole(Contents<i64>),
}

/// A column that is learned.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedColumn {
    /// Its name.
    pub name: String,
    /// Names of its classes, if they are such.
    pub classes: Vec<String>,
}

impl LearnedColumn {
    /// As a file of parameters says it: whoever applies them elsewhere knows what the classes are.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let classes = (!self.classes.is_empty()).then(|| {
            ("classes".to_owned(), serde_json::Value::from(self.classes.as_slice()).to_string())
        });
        [("target".to_owned(), self.name.clone())].into_iter().chain(classes).collect()
    }
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
    /// Whether both have the same lists, once it was asked.
    symmetric: OnceLock<bool>,
    /// Groups of neighbours that launches on a CPU walk by, where the plan has such.
    pub division: Option<Division>,
    /// The same on a GPU.
    pub device_groups: Option<DeviceGroups>,
    /// Edges by vertex and by id, for evaluated operations.
    pub lists: EdgeLists,
    /// Where these are made from once a loop goes in supersteps after all, or a host runs a launch
    /// of a GPU.
    pub lists_later: Option<(Csr, ListNeeds)>,
    /// Lists of the partition.
    pub row_lists: RowLists,
    /// What the buffers of role `given` hold, by their names.
    pub given: BTreeMap<BufferName, InputRows<T>>,
    /// Dense features.
    pub features: Option<Contents<T>>,
    /// SparseFeatures features.
    pub sparse: Option<SparseFeatures<T>>,
    /// SparseFeatures features of kinds of nodes, in the order of the graph artifact.
    pub sparse_of_kind: BTreeMap<u32, SparseFeatures<T>>,
    /// Entries of these in the order of a GPU, where kernels walk them.
    pub feature_walks: BTreeMap<FeatureWalk, WalkedRows>,
    /// Kind of each node, in the order of the graph artifact; empty: one kind.
    pub kind_of_node: Vec<u16>,
    /// Classes as numbers, or values to fit; not a number where a node, or a graph of many, has
    /// none.
    pub target: Option<Contents<T>>,
    /// The column that is learned, where it is not the data set's label.
    pub learned: Option<LearnedColumn>,
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
    /// A graph alone, in its own order, without features or labels; ids count from 0.
    pub fn from_graph(csr: &Csr, row_lists: RowLists, needs: Needs) -> Self {
        let weights = if needs.weights { csr.weights.as_ref() } else { None };
        let side = |side: &Side, weights: Option<View<T>>| Neighbours {
            offsets: View::clone(&side.offsets),
            neighbours: View::clone(&side.neighbours),
            weights,
        };
        let incoming = needs.incoming.then(|| side(&csr.incoming, weights.map(T::from_view)));
        let outgoing = needs
            .outgoing
            .then(|| side(&csr.outgoing, weights.map(|weights| weights_by_out_edge(csr, weights))));
        Data {
            nodes: csr.nodes(),
            edges: csr.edges(),
            incoming,
            outgoing,
            symmetric: OnceLock::new(),
            division: None,
            device_groups: None,
            lists: EdgeLists::new(csr, &row_lists, needs.lists),
            lists_later: needs.lists_later.map(|lists| (csr.clone(), lists)),
            row_lists,
            given: BTreeMap::new(),
            features: None,
            sparse: None,
            sparse_of_kind: BTreeMap::new(),
            feature_walks: BTreeMap::new(),
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

    /// Lets launches walk by groups of neighbours.
    pub fn divide(&mut self, division: Division, csr: &Csr) {
        if division.in_slot_order {
            self.lists.order_by_slots(csr);
        }
        self.division = Some(division);
    }

    /// Makes the lists that launches on a host walk of those of a GPU.
    pub fn build_host_lists(&mut self) {
        for sparse in self.sparse.iter_mut().chain(self.sparse_of_kind.values_mut()) {
            if sparse.by_columns.is_none() {
                sparse.by_columns = Some(sparse.as_rows().transpose());
            }
        }
        let Some((csr, lists)) = &mut self.lists_later else { return };
        let RowLists { units, incoming, outgoing, walked_in, walked_out, walked_both, .. } =
            &mut self.row_lists;
        let edges = self.edges as u32;
        let of_both = |direction: RowSide| {
            walked_both.as_ref().map(|walked| walked.one_direction(direction, edges))
        };
        if lists.incoming && incoming.is_none() {
            let walked = walked_in.clone().or_else(|| of_both(RowSide::In));
            if let Some((edges, of_rows)) = list_for_host(walked.as_ref(), &mut csr.incoming) {
                (*incoming, units.incoming) = (Some(edges), of_rows);
            }
        }
        if lists.outgoing && outgoing.is_none() {
            let walked = walked_out.clone().or_else(|| of_both(RowSide::Out));
            if let Some((edges, of_rows)) = list_for_host(walked.as_ref(), &mut csr.outgoing) {
                (*outgoing, units.outgoing) = (Some(edges), of_rows);
            }
        }
        self.build_superstep_lists();
    }

    /// Makes the lists that supersteps need.
    pub fn build_superstep_lists(&mut self) {
        if let Some((csr, lists)) = self.lists_later.take() {
            let graphs = self.lists.graphs.take();
            self.lists = EdgeLists::new(&csr, &self.row_lists, lists);
            self.lists.graphs = graphs;
            if let Some(division) = self.division.take() {
                self.divide(division, &csr);
            }
        }
    }

    /// Whether the lists of both directions are the same; they are compared once.
    pub fn is_symmetric(&self) -> bool {
        *self.symmetric.get_or_init(|| match (&self.incoming, &self.outgoing) {
            (Some(one), Some(other)) => one.neighbour_lists().are(&other.neighbour_lists()),
            _ => false,
        })
    }

    /// The graph artifact's row of a row.
    pub fn artifact_row(&self, row: usize) -> usize {
        self.old_of_new.as_ref().map_or(row, |old_of_new| old_of_new[row] as usize)
    }

    /// From a vertex to those that read it along edges, and to those that it reads.
    pub fn push_and_pull(&self, direction: Direction) -> Option<[Vec<&Neighbours<T>>; 2]> {
        let (incoming, outgoing) = (self.incoming.as_ref()?, self.outgoing.as_ref()?);
        Some(match direction {
            Direction::In => [vec![outgoing], vec![incoming]],
            Direction::Out => [vec![incoming], vec![outgoing]],
            Direction::Both => [vec![outgoing, incoming], vec![incoming, outgoing]],
        })
    }

    /// SparseFeatures features of a kind, or of all nodes.
    pub fn sparse_features(&self, kind: Option<u32>) -> Option<&SparseFeatures<T>> {
        kind.map_or(self.sparse.as_ref(), |kind| self.sparse_of_kind.get(&kind))
    }

    /// The data set's own ids of rows.
    pub fn row_ids(&self, rows: Rows) -> &Ids {
        self.graph_ids.as_ref().filter(|_| matches!(rows, Rows::Graphs(_))).unwrap_or(&self.ids)
    }

    /// What a row is, and its own id, as it is shown: node `7`.
    pub fn describe_row(&self, rows: Rows, row: usize) -> String {
        match rows {
            Rows::Graphs(_) => format!("graph `{}`", format_id(self.row_ids(rows), row)),
            _ => format!("node `{}`", format_id(&self.ids, self.artifact_row(row))),
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
pub fn format_id(ids: &Ids, node: usize) -> String {
    match ids {
        Ids::Numbers(ids) => ids[node].to_string(),
        Ids::Strings(ids) => ids[node].clone(),
    }
}

/// The error of a plan that reads what its graph does not have.
pub(crate) fn absent_input_error(artifact: &Artifact, what: &str) -> StageError {
    StageError::defect(format!("the plan reads {what}, and the graph it names has none"))
        .at(artifact.path.display())
}

/// The edges of each row, of those that a GPU walks, with the offsets of the rows; without such, of
/// the csr, whose ends and ids a GPU has where a launch reads them. And units of work over them.
/// None where the run has neither: then kernels alone read the direction.
fn list_for_host(walked: Option<&WalkedRows>, side: &mut Side) -> Option<(RowEdges, View<u32>)> {
    let edges = match walked {
        Some(walked) => {
            let (offsets, edges) = walked.by_number();
            side.offsets = offsets.into();
            edges
        }
        None => {
            let edges = side.offsets.given()?.last().map_or(0, |&end| end as usize);
            let ids = side.edges.given().map(|ids| ids.iter().map(|&edge| edge as u32).collect());
            RowEdges {
                far: side.neighbours.given().cloned().unwrap_or_else(|| vec![0; edges].into()),
                edge: ids,
                path: PathBuf::new(),
            }
        }
    };
    Some((edges, balanced_units(&side.offsets).into()))
}

/// Weights in the order of out-edges, by way of the edge ids.
fn weights_by_out_edge<T: Precision>(csr: &Csr, weights: &View<f32>) -> View<T> {
    csr.to_out_order(|_, slot| T::from_f32(weights[slot])).into()
}
