//! edge_lists: edges in the order of their ids, by vertex and by edge, for evaluated operations.
//!
//! promises  the edges of a vertex ascend by edge id, so that results do not depend on the order of
//!           the nodes, unless a user's own groups ask for the order of the csr; only lists that
//!           are needed are there; lists by vertex are those of the partition, mapped
//! limits    ids of edges have 32 bits, where any are read; memory: 8 bytes an edge for the ends,
//!           where a launch reads them
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use warploom_contract::{
    arrow_file::View,
    kinds::{
        csr::{Csr, Direction as Side},
        partition::row_lists::{RowEdges, RowLists},
    },
};
use warploom_cpu::balanced_units;
use warploom_cpu::evaluate::{EdgeGraph, EdgeList};
use warploom_launch::ListNeeds;

use crate::inputs::graphs::Graphs;

/// Edges that one task reorders, at least.
const TASK_EDGES: usize = 1 << 14;

/// Edges by vertex and by id; lists that are not needed are empty.
#[derive(Clone, Debug, Default)]
pub struct EdgeLists {
    incoming: Option<VertexEdges>,
    outgoing: Option<VertexEdges>,
    /// Source of each edge, where ends are needed.
    pub source: Vec<u32>,
    /// Target of each edge.
    pub target: Vec<u32>,
    relation: Vec<u16>,
    /// The graphs of a set of many, where a launch needs them.
    pub graphs: Option<Graphs>,
    /// First row of each work unit of walks over both directions, and the number of rows; units
    /// have similar numbers of edges. Those of one direction are the partition's.
    pub both_units: Vec<u32>,
}

#[derive(Clone, Debug)]
struct VertexEdges {
    offsets: View<u64>,
    /// Empty where no launch asks for the number of an edge.
    edges: View<u32>,
    far: View<u32>,
}

impl VertexEdges {
    fn new(side: &Side, lists: &RowEdges, ids: bool) -> Self {
        let edges = lists.edge.clone().filter(|_| ids).unwrap_or_default();
        VertexEdges { offsets: side.offsets.clone(), edges, far: lists.far.clone() }
    }
}

impl EdgeLists {
    /// The needed lists: those by vertex, of the partition; those by edge, of a csr whose edge ids
    /// were checked.
    pub fn new(csr: &Csr, lists: &RowLists, wanted: ListNeeds) -> Self {
        let any = wanted.incoming || wanted.outgoing || wanted.ends;
        if !any && !wanted.relations {
            return EdgeLists::default();
        }
        let of = |side: &Side, lists: &Option<RowEdges>| {
            lists.as_ref().map(|lists| VertexEdges::new(side, lists, wanted.ids))
        };
        let incoming = of(&csr.incoming, &lists.incoming).filter(|_| wanted.incoming);
        let outgoing = of(&csr.outgoing, &lists.outgoing).filter(|_| wanted.outgoing);
        let relation = if wanted.relations {
            order_by_edge(csr, csr.types.as_deref().unwrap_or(&[]))
        } else {
            Vec::new()
        };
        let both = incoming.as_ref().zip(outgoing.as_ref()).map(|(incoming, outgoing)| {
            incoming.offsets.iter().zip(&outgoing.offsets).map(|(a, b)| a + b)
        });
        let both_units =
            both.map_or_else(Vec::new, |offsets| balanced_units(&offsets.collect::<Vec<u64>>()));
        let (source, target) = if wanted.ends { edge_ends(csr) } else { Default::default() };
        EdgeLists { incoming, outgoing, source, target, relation, graphs: None, both_units }
    }

    /// Lists the in-edges of each vertex in the order of the csr, for groups that are ranges of its
    /// slots.
    pub fn order_by_slots(&mut self, csr: &Csr) {
        if let Some(list) = &mut self.incoming {
            if !list.edges.is_empty() {
                list.edges = csr.incoming.edges.iter().map(|&edge| edge as u32).collect();
            }
            list.far = csr.incoming.neighbours.clone();
        }
    }

    /// The graph as operations take it.
    pub fn graph(&self, nodes: usize, edge_count: usize) -> EdgeGraph<'_> {
        fn list(side: &VertexEdges) -> EdgeList<'_> {
            EdgeList { offsets: &side.offsets, edges: &side.edges, far: &side.far }
        }
        EdgeGraph {
            nodes,
            edge_count,
            incoming: self.incoming.as_ref().map(list),
            outgoing: self.outgoing.as_ref().map(list),
            source: &self.source,
            target: &self.target,
            relation: &self.relation,
            graphs: self.graphs.as_ref().map(Graphs::list),
        }
    }
}

/// Source and target of each edge.
pub fn edge_ends(csr: &Csr) -> (Vec<u32>, Vec<u32>) {
    let count = csr.edges();
    let (mut source, mut target) = (vec![0; count], vec![0; count]);
    for (vertex, pair) in csr.incoming.offsets.windows(2).enumerate() {
        for slot in pair[0] as usize..pair[1] as usize {
            let edge = csr.incoming.edges[slot] as usize;
            (source[edge], target[edge]) = (csr.incoming.neighbours[slot], vertex as u32);
        }
    }
    (source, target)
}

/// Values in the order of in-edges, reordered by edge id; empty for an empty input.
pub fn order_by_edge<N: Bits>(csr: &Csr, of_slot: &[N]) -> Vec<N> {
    // Each edge is written once: no order of the threads can be seen.
    let by_edge: Vec<AtomicU32> = of_slot.par_iter().map(|_| AtomicU32::new(0)).collect();
    csr.incoming.edges.par_iter().zip(of_slot).with_min_len(TASK_EDGES).for_each(
        |(&edge, &number)| by_edge[edge as usize].store(number.to_bits(), Ordering::Relaxed),
    );
    by_edge.into_par_iter().map(|bits| N::from_bits(bits.into_inner())).collect()
}

/// Numbers of at most 32 bits.
pub trait Bits: Copy + Send + Sync {
    /// Its bits.
    fn to_bits(self) -> u32;
    /// The number of these bits.
    fn from_bits(bits: u32) -> Self;
}

impl Bits for f32 {
    fn to_bits(self) -> u32 {
        f32::to_bits(self)
    }

    fn from_bits(bits: u32) -> Self {
        f32::from_bits(bits)
    }
}

impl Bits for u16 {
    fn to_bits(self) -> u32 {
        u32::from(self)
    }

    fn from_bits(bits: u32) -> Self {
        bits as u16
    }
}
