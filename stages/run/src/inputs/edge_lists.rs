//! edge_lists: edges in the order of their ids, by vertex and by edge, for evaluated operations.
//!
//! promises  the edges of a vertex ascend by edge id, so that results do not depend on the order of
//!           the nodes, unless a user's own groups ask for the order of the csr; only lists that
//!           are needed are built
//! limits    fewer than 2^32 edges; memory: 8 bytes an edge for each direction and 8 for the ends
use warploom_contract::kinds::csr::{Csr, Direction as Side};
use warploom_cpu::balanced_units;
use warploom_cpu::evaluate::{EdgeGraph, EdgeList};
use warploom_launch::ListNeeds;

use crate::inputs::graphs::Graphs;

/// The most edges that 32-bit ids can name in a list over both directions.
pub const EDGES_MAX: u64 = u32::MAX as u64 / 2;

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
    /// First row of each work unit over in-edges, and the number of rows; units have similar
    /// numbers of edges.
    pub incoming_units: Vec<u32>,
    /// The same for out-edges.
    pub outgoing_units: Vec<u32>,
    /// The same for both.
    pub both_units: Vec<u32>,
}

#[derive(Clone, Debug)]
struct VertexEdges {
    offsets: Vec<u64>,
    edges: Vec<u32>,
    far: Vec<u32>,
}

impl EdgeLists {
    /// Builds the needed lists of a csr whose edge ids were checked.
    pub fn from_csr(csr: &Csr, wanted: ListNeeds) -> Self {
        let any = wanted.incoming || wanted.outgoing || wanted.ends;
        if !any && !wanted.relations {
            return EdgeLists::default();
        }
        let (source, target) = edge_ends(csr);
        let incoming = wanted.incoming.then(|| list_by_vertex(&csr.incoming, &target, &source));
        let outgoing = wanted.outgoing.then(|| list_by_vertex(&csr.outgoing, &source, &target));
        let relation = if wanted.relations {
            order_by_edge(csr, csr.types.as_deref().unwrap_or(&[]))
        } else {
            Vec::new()
        };
        let units = |side: &Option<VertexEdges>| {
            side.as_ref().map_or_else(Vec::new, |side| balanced_units(&side.offsets))
        };
        let (incoming_units, outgoing_units) = (units(&incoming), units(&outgoing));
        let both = incoming.as_ref().zip(outgoing.as_ref()).map(|(incoming, outgoing)| {
            incoming.offsets.iter().zip(&outgoing.offsets).map(|(a, b)| a + b)
        });
        let both_units =
            both.map_or_else(Vec::new, |offsets| balanced_units(&offsets.collect::<Vec<u64>>()));
        let (source, target) = if wanted.ends { (source, target) } else { Default::default() };
        EdgeLists {
            incoming,
            outgoing,
            source,
            target,
            relation,
            graphs: None,
            incoming_units,
            outgoing_units,
            both_units,
        }
    }

    /// Lists the in-edges of each vertex in the order of the csr, for groups that are ranges of its
    /// slots.
    pub fn order_by_slots(&mut self, csr: &Csr) {
        if let Some(list) = &mut self.incoming {
            list.edges.iter_mut().zip(csr.incoming.edges.iter()).for_each(|(own, &edge)| {
                *own = edge as u32;
            });
            list.far.copy_from_slice(&csr.incoming.neighbours);
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
pub fn order_by_edge<N: Copy + Default>(csr: &Csr, of_slot: &[N]) -> Vec<N> {
    let mut by_edge = vec![N::default(); of_slot.len()];
    csr.incoming
        .edges
        .iter()
        .zip(of_slot)
        .for_each(|(&edge, &number)| by_edge[edge as usize] = number);
    by_edge
}

/// Edges grouped by vertex. One pass in the order of edge ids keeps that order for each vertex.
fn list_by_vertex(side: &Side, near: &[u32], far: &[u32]) -> VertexEdges {
    let mut next: Vec<u64> = side.offsets.to_vec();
    let (mut edges, mut ends) = (vec![0; near.len()], vec![0; near.len()]);
    for (edge, (near, far)) in near.iter().zip(far).enumerate() {
        let slot = next[*near as usize] as usize;
        next[*near as usize] += 1;
        (edges[slot], ends[slot]) = (edge as u32, *far);
    }
    VertexEdges { offsets: side.offsets.to_vec(), edges, far: ends }
}
