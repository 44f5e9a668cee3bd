//! A set of many graphs as one graph whose nodes are learned: their disjoint union, as the
//! GNNAdvisor paper trains on the sets of TU Dortmund.
//!
//! promises  nodes, edges, features, the graph of each node, labels and splits of graphs are those
//!           of the set; `target` draws labels of nodes where there are none, so that a program may
//!           learn nodes or graphs of the same artifact

/// What people are told.
pub fn union_notice(name: &str, graphs: usize) -> String {
    format!(
        "`{name}`: its {graphs} graphs are one graph, whose nodes are learned; to learn the \
         graphs, return  linear(pool_sum(v.h), v.classes)"
    )
}
