//! graphs: the graphs of a set of many: which vertices each has, and their labels.
//!
//! promises  the vertices of a graph are pooled in the order of nodes.parquet, so that the order in
//!           which nodes lie in memory changes no bit of a pooled value; a graph that no vertex is
//!           of has a row like any other; a vertex of no graph is found here, by name
//! never     reads graphs.parquet for a plan that has no rows of graphs
//! limits    memory: 8 bytes a vertex and 8 a graph
use warploom_contract::{
    Artifact, ErrorKind, StageError,
    kinds::graph::{self, GraphTable, NodeTable},
};
use warploom_ops::evaluate::GraphList;
use warploom_vertex::launch::{LaunchList, Role, Rows};

/// Which vertices a graph has, and which graph a vertex.
#[derive(Clone, Debug)]
pub struct Graphs {
    of_vertex: Vec<u32>,
    offsets: Vec<u64>,
    vertices: Vec<u32>,
}

impl Graphs {
    /// Of the graph of each node as the artifact counts them, all below `count`; row r of what is
    /// run is node `old_of_new[r]`.
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

    /// As operations see it.
    pub fn list(&self) -> GraphList<'_> {
        GraphList { of_vertex: &self.of_vertex, offsets: &self.offsets, vertices: &self.vertices }
    }

    /// How many vertices each graph has.
    pub fn sizes(&self) -> impl Iterator<Item = i64> {
        self.offsets.windows(2).map(|pair| (pair[1] - pair[0]) as i64)
    }
}

/// How many graphs a list has rows for; none: it has no rows of graphs.
pub fn graph_count(list: &LaunchList) -> Option<u64> {
    list.buffers
        .iter()
        .find_map(|buffer| if let Rows::Graphs(count) = buffer.rows { Some(count) } else { None })
}

/// Whether what is learned belongs to graphs.
pub fn has_graph_labels(list: &LaunchList) -> bool {
    list.buffers
        .iter()
        .any(|buffer| buffer.role == Role::Target && matches!(buffer.rows, Rows::Graphs(_)))
}

/// The table of graphs, where a list has rows for them and the set has many.
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

/// The graph of each node, every one of them below `count`; none where there is but one graph.
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
