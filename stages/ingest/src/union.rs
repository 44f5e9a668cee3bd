//! union: a set of many graphs as one graph for node-level learning: their disjoint union, as
//! GNNAdvisor trains on the sets of TU Dortmund.
//!
//! promises  nodes, edges, features, the graph of each node, labels and splits of graphs are those
//!           of the set; `requested_graph` draws missing node labels, so that a program may learn
//!           nodes or graphs of the same artifact

/// The notice for users.
pub fn union_notice(name: &str, graphs: usize) -> String {
    format!(
        "`{name}`: its {graphs} graphs are one graph, whose nodes are learned; to learn the \
         graphs, return  linear(pool_sum(v.h), v.classes)"
    )
}
