//! graphs: the graphs of a set of many: the vertices of each, and their labels.
//!
//! promises  vertices of a graph are pooled in the order of nodes.parquet, so that the order of
//!           nodes in memory changes no bit of a pooled value; a graph without vertices has a row
//!           like any other; a vertex without a graph is an error here, by name
//! never     reads graphs.parquet for a plan without rows of graphs
//! limits    memory: 8 bytes a vertex and 8 a graph
use warploom_contract::{
    Artifact, ErrorKind, StageError,
    kinds::graph::{self, GraphTable, NodeTable},
};
use warploom_cpu::evaluate::GraphList;
use warploom_launch::{LaunchList, Role, Rows};

/// The vertices of each graph, and the graph of each vertex.
#[derive(Clone, Debug)]
pub struct Graphs {
    of_vertex: Vec<u32>,
    offsets: Vec<u64>,
    vertices: Vec<u32>,
}

impl Graphs {
    /// From the graph of each node in the artifact's order, all below `count`; row r of the run is
    /// node `old_of_new[r]`.
    pub fn new(graph_of_node: &[u32], count: usize, old_of_new: Option<&[u32]>) -> Self {
        let mut offsets = vec![0u64; count + 1];
        graph_of_node.iter().for_each(|&graph| offsets[graph as usize + 1] += 1);
        (0..count).for_each(|graph| offsets[graph + 1] += offsets[graph]);
        let mut row_of_node: Vec<u32> = (0..graph_of_node.len() as u32).collect();
        for (row, &node) in old_of_new.unwrap_or_default().iter().enumerate() {
            row_of_node[node as usize] = row as u32;
        }
        let (mut next, mut vertices, mut of_vertex) =
            (offsets.clone(), vec![0; graph_of_node.len()], vec![0; graph_of_node.len()]);
        for (&graph, &row) in graph_of_node.iter().zip(&row_of_node) {
            vertices[next[graph as usize] as usize] = row;
            next[graph as usize] += 1;
            of_vertex[row as usize] = graph;
        }
        Graphs { of_vertex, offsets, vertices }
    }

    /// The graphs as operations take them.
    pub fn list(&self) -> GraphList<'_> {
        GraphList { of_vertex: &self.of_vertex, offsets: &self.offsets, vertices: &self.vertices }
    }

    /// The number of vertices of each graph.
    pub fn sizes(&self) -> impl Iterator<Item = i64> {
        self.offsets.windows(2).map(|pair| (pair[1] - pair[0]) as i64)
    }
}

/// The number of graphs that a list has rows for; none if it has no rows of graphs.
pub fn graph_count(list: &LaunchList) -> Option<u64> {
    list.buffers
        .iter()
        .find_map(|buffer| if let Rows::Graphs(count) = buffer.rows { Some(count) } else { None })
}

/// Whether graphs, not nodes, are learned.
pub fn has_graph_labels(list: &LaunchList) -> bool {
    list.buffers
        .iter()
        .any(|buffer| buffer.role == Role::Target && matches!(buffer.rows, Rows::Graphs(_)))
}

/// The table of graphs, where the list has rows of graphs and the set has many.
pub fn read_graph_table(
    artifact: &Artifact,
    list: &LaunchList,
) -> Result<Option<GraphTable>, StageError> {
    let Some(count) = graph_count(list) else { return Ok(None) };
    let table = graph::read_graphs(artifact)?;
    let found = table.as_ref().map_or(1, |table| table.ids.len() as u64);
    if found != count {
        return Err(StageError::new(
            ErrorKind::Damaged,
            format!("the plan was made for {count} graphs, and the set has {found}"),
        ));
    }
    Ok(table)
}

/// The graph of each node, all below `count`; none where there is only one graph.
pub fn graph_of_each_node(
    artifact: &Artifact,
    nodes: &NodeTable,
    count: usize,
) -> Result<Option<Vec<u32>>, StageError> {
    let damaged = |what: String| Err(StageError::damaged(&artifact.file(graph::NODES_FILE), what));
    match &nodes.graph {
        _ if count == 1 => Ok(None),
        None => damaged(format!(
            "expected a column `graph`, since there are {count} graphs, found none"
        )),
        Some(graphs) => match graphs.iter().position(|&graph| graph as usize >= count) {
            Some(row) => {
                damaged(format!("row {row}: its graph is {}, and there are {count}", graphs[row]))
            }
            None => Ok(Some(graphs.clone())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_of_a_graph_stand_in_the_order_of_the_nodes() {
        let graphs = Graphs::new(&[2, 0, 2, 3, 0], 5, Some(&[4, 2, 0, 3, 1]));
        let list = graphs.list();
        assert_eq!(list.of_vertex, [0, 2, 2, 3, 0]);
        assert_eq!(list.offsets, [0, 2, 2, 4, 5, 5]);
        assert_eq!(
            list.vertices,
            [4, 0, 2, 1, 3],
            "nodes 1, 4 of graph 0; 0, 2 of graph 2; 3 of graph 3"
        );
        assert_eq!(graphs.sizes().collect::<Vec<_>>(), [2, 0, 2, 1, 0]);
        let plain = Graphs::new(&[1, 0, 1], 2, None);
        assert_eq!(
            (plain.list().of_vertex, plain.list().vertices),
            (&[1, 0, 1][..], &[1, 0, 2][..])
        );
        assert!(Graphs::new(&[], 0, None).list().vertices.is_empty());
    }
}
