//! graphs: the degenerate graphs that every kernel, order, division and program has to survive.
//!
//! promises  the same edges in the same order on every run; counts of nodes are no multiples of 8
//! never     needs another crate: whoever takes a graph brings it into a form of its own
use crate::draws::mixed;

/// A directed graph as a list of edges.
#[derive(Clone, Debug)]
pub struct EdgeList {
    /// What is special about it: a word that can name a data set.
    pub name: &'static str,
    /// Number of nodes; some may have no edge.
    pub nodes: usize,
    /// Source and target of each edge.
    pub edges: Vec<(u32, u32)>,
}

impl EdgeList {
    /// A graph by its name, number of nodes and edges.
    pub fn new(
        name: &'static str,
        nodes: usize,
        edges: impl IntoIterator<Item = (u32, u32)>,
    ) -> EdgeList {
        EdgeList { name, nodes, edges: edges.into_iter().collect() }
    }

    /// Every edge the other way.
    pub fn reversed(self, name: &'static str) -> EdgeList {
        let edges = self.edges.into_iter().map(|(source, target)| (target, source)).collect();
        EdgeList { name, nodes: self.nodes, edges }
    }

    /// The text of an edge list: a line for each edge.
    pub fn text(&self) -> String {
        self.edges.iter().map(|(source, target)| format!("{source} {target}\n")).collect()
    }
}

/// Small graphs that break kernels, orders and divisions: no nodes, one node, no edges, isolated
/// nodes, self loops, parallel edges, stars, a clique, a path, many components, one edge far away.
pub fn degenerate_graphs() -> Vec<EdgeList> {
    let star = EdgeList::new("star_inward", 37, (1..37).map(|leaf| (leaf, 0)));
    vec![
        EdgeList::new("empty", 0, []),
        EdgeList::new("one_node", 1, []),
        EdgeList::new("one_self_loop", 1, [(0, 0)]),
        EdgeList::new("no_edges", 19, []),
        EdgeList::new("isolated_nodes", 11, [(1, 3), (3, 1), (3, 3), (5, 3)]),
        EdgeList::new("self_loops", 9, (0..9).map(|node| (node, node))),
        EdgeList::new(
            "parallel_edges",
            3,
            [(0, 1), (0, 1), (0, 1), (1, 2), (2, 1), (2, 1), (2, 2), (2, 2)],
        ),
        star.clone(),
        star.reversed("star_outward"),
        clique(9),
        EdgeList::new("path", 30, (0..29).flat_map(|node| [(node, node + 1), (node + 1, node)])),
        EdgeList::new("components", 33, (0..30).map(|node| (node, node / 3 * 3))),
        EdgeList::new("far_edge", 100, [(99, 0)]),
    ]
}

/// An edge from every node to every node, itself too.
fn clique(nodes: u32) -> EdgeList {
    let edges = (0..nodes).flat_map(|source| (0..nodes).map(move |target| (source, target)));
    EdgeList::new("clique", nodes as usize, edges)
}

/// 500 nodes, the last of which has most edges of both directions.
pub fn heavy_row() -> EdgeList {
    let inward = (0..3000).map(|edge| (edge * 7 % 500, 499));
    EdgeList::new("heavy_row", 500, inward.chain((0..400).map(|target| (499, target))))
}

/// Random edges between all nodes but the last tenth, which has none.
pub fn random_graph(seed: u64, nodes: usize, edges: usize) -> EdgeList {
    let reached = (nodes - nodes / 10).max(1) as u64;
    let end = |number: usize| (mixed(seed * 1_000_003 + number as u64) % reached) as u32;
    EdgeList::new("random", nodes, (0..edges).map(|edge| (end(2 * edge), end(2 * edge + 1))))
}

/// All graphs side by side as one, with every kind of row.
pub fn disjoint_union(name: &'static str, parts: impl IntoIterator<Item = EdgeList>) -> EdgeList {
    parts.into_iter().fold(EdgeList::new(name, 0, []), |mut all, part| {
        let first = all.nodes as u32;
        all.edges
            .extend(part.edges.iter().map(|(source, target)| (first + source, first + target)));
        all.nodes += part.nodes;
        all
    })
}
