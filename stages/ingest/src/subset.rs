//! subset: an induced subgraph: some nodes and the edges between them.
//!
//! promises  nodes, edges and graphs keep their order and data set ids; all data of a node is kept
//!           or removed with it
//! never     changes a value
use rayon::prelude::*;
use warploom_formats::raw_graph::{
    Column, EdgeFeatures, Edges, Features, Graphs, Kinds, Labels, NodeIds, RawGraph,
};

const GONE: u32 = u32::MAX;

/// The subgraph of the nodes in `stays`.
pub fn keep_nodes(graph: RawGraph, stays: &[bool]) -> RawGraph {
    if stays.iter().all(|&stays| stays) {
        return graph;
    }
    let new_of_old = new_rows(stays);
    RawGraph {
        ids: keep_ids(graph.ids, stays),
        edges: keep_edges_between(graph.edges, &new_of_old),
        labels: graph.labels.map(|labels| keep_labels(labels, stays)),
        splits: graph.splits.into_iter().map(|split| keep_rows(split, stays, 1)).collect(),
        features: graph.features.map(|features| keep_features(features, stays)),
        node_labels: graph.node_labels.map(|labels| keep_labels(labels, stays)),
        columns: graph
            .columns
            .into_iter()
            .map(|(name, column)| (name, keep_column(column, stays)))
            .collect(),
        kinds: graph.kinds.map(|kinds| keep_kinds(kinds, stays)),
        graphs: graph.graphs.map(|graphs| keep_graphs(graphs, stays)),
        ..graph
    }
}

/// The new row of each kept node, `u32::MAX` for the others.
pub fn new_rows(stays: &[bool]) -> Vec<u32> {
    let mut count = 0;
    let number = |&stays: &bool| {
        count += u32::from(stays);
        if stays { count - 1 } else { GONE }
    };
    stays.iter().map(number).collect()
}

/// The values of kept rows, `width` in each.
fn keep_rows<T>(values: Vec<T>, stays: &[bool], width: usize) -> Vec<T> {
    let mut at = 0;
    let mut values = values;
    values.retain(|_| {
        at += 1;
        stays[(at - 1) / width.max(1)]
    });
    values
}

fn keep_ids(ids: NodeIds, stays: &[bool]) -> NodeIds {
    match ids {
        NodeIds::Count(count) => {
            NodeIds::from_ascending(keep_rows((0..u64::from(count)).collect(), stays, 1))
        }
        NodeIds::Numbers(numbers) => NodeIds::from_ascending(keep_rows(numbers, stays, 1)),
        NodeIds::Strings(words) => NodeIds::Strings(keep_rows(words, stays, 1)),
    }
}

fn keep_edges_between(edges: Edges, new_of_old: &[u32]) -> Edges {
    let new = |old: &u32| new_of_old[*old as usize];
    let stays: Vec<bool> = edges
        .source
        .par_iter()
        .zip(&edges.target)
        .map(|(source, target)| new(source) != GONE && new(target) != GONE)
        .collect();
    let left = keep_edges(edges, &stays);
    Edges {
        source: left.source.par_iter().map(new).collect(),
        target: left.target.par_iter().map(new).collect(),
        ..left
    }
}

/// The edges in `stays`, between the same rows.
pub fn keep_edges(edges: Edges, stays: &[bool]) -> Edges {
    Edges {
        source: keep_rows(edges.source, stays, 1),
        target: keep_rows(edges.target, stays, 1),
        weight: edges.weight.map(|weight| keep_rows(weight, stays, 1)),
        relation: edges.relation.map(|relation| keep_rows(relation, stays, 1)),
        features: edges.features.map(|features| EdgeFeatures {
            values: keep_rows(features.values, stays, features.columns as usize),
            ..features
        }),
    }
}

/// Classes keep their numbers, also those without a node left.
fn keep_labels(labels: Labels, stays: &[bool]) -> Labels {
    match labels {
        Labels::Classes { class, names } => {
            Labels::Classes { class: keep_rows(class, stays, 1), names }
        }
        Labels::Values(values) => Labels::Values(keep_rows(values, stays, 1)),
        Labels::Rows { columns, values } => {
            Labels::Rows { columns, values: keep_rows(values, stays, columns as usize) }
        }
    }
}

fn keep_features(features: Features, stays: &[bool]) -> Features {
    match features {
        Features::Dense { columns, values } => {
            Features::Dense { columns, values: keep_rows(values, stays, columns as usize) }
        }
        Features::Sparse { columns, offsets, index, values } => {
            let mut left = (vec![0], Vec::new(), Vec::new());
            for row in (0..stays.len()).filter(|&row| stays[row]) {
                let entries = offsets[row] as usize..offsets[row + 1] as usize;
                left.1.extend_from_slice(&index[entries.clone()]);
                left.2.extend_from_slice(&values[entries]);
                left.0.push(left.1.len() as u64);
            }
            Features::Sparse { columns, offsets: left.0, index: left.1, values: left.2 }
        }
    }
}

fn keep_column(column: Column, stays: &[bool]) -> Column {
    match column {
        Column::Integers(values) => Column::Integers(keep_rows(values, stays, 1)),
        Column::Reals(values) => Column::Reals(keep_rows(values, stays, 1)),
        Column::Texts(values) => Column::Texts(keep_rows(values, stays, 1)),
    }
}

/// Node types without a kept node are removed too.
fn keep_kinds(kinds: Kinds, stays: &[bool]) -> Kinds {
    let mut left = vec![false; kinds.names.len()];
    kinds
        .of_node
        .iter()
        .zip(stays)
        .filter(|(_, stays)| **stays)
        .for_each(|(&kind, _)| left[usize::from(kind)] = true);
    let number = renumber(&left);
    let of_kind = |kind: usize| -> Vec<bool> {
        kinds
            .of_node
            .iter()
            .zip(stays)
            .filter(|(of_node, _)| usize::from(**of_node) == kind)
            .map(|(_, stays)| *stays)
            .collect()
    };
    let features = kinds.features.iter().enumerate().map(|(kind, features)| {
        features.clone().map(|features| keep_features(features, &of_kind(kind)))
    });
    Kinds {
        features: keep_rows(features.collect(), &left, 1),
        of_node: keep_rows(kinds.of_node.clone(), stays, 1)
            .iter()
            .map(|&kind| number[usize::from(kind)] as u16)
            .collect(),
        names: keep_rows(kinds.names, &left, 1),
    }
}

/// Consecutive numbers of those that are left.
fn renumber(left: &[bool]) -> Vec<u32> {
    left.iter()
        .scan(0, |next, &left| Some(std::mem::replace(next, *next + u32::from(left))))
        .collect()
}

/// Graphs without a kept node are removed too.
fn keep_graphs(graphs: Graphs, stays: &[bool]) -> Graphs {
    let mut left = vec![false; graphs.len()];
    graphs
        .of_node
        .iter()
        .zip(stays)
        .filter(|(_, stays)| **stays)
        .for_each(|(&graph, _)| left[graph as usize] = true);
    let number = renumber(&left);
    Graphs {
        classes_told: graphs.classes_told,
        of_node: keep_rows(graphs.of_node, stays, 1)
            .iter()
            .map(|&graph| number[graph as usize])
            .collect(),
        ids: keep_ids(graphs.ids, &left),
        labels: graphs.labels.map(|labels| keep_labels(labels, &left)),
        splits: graphs.splits.into_iter().map(|split| keep_rows(split, &left, 1)).collect(),
        columns: graphs
            .columns
            .into_iter()
            .map(|(name, column)| (name, keep_column(column, &left)))
            .collect(),
    }
}

/// Which nodes are in the largest weakly connected component; ties go to the one with the first
/// node.
pub fn largest_component(edges: &Edges, nodes: u32) -> Vec<bool> {
    let mut components = Components::new(nodes);
    edges
        .source
        .iter()
        .zip(&edges.target)
        .for_each(|(&source, &target)| components.join(source, target));
    components.largest()
}

/// Weakly connected components by union-find, edge by edge; 8 bytes for each node, without holding
/// edges.
pub struct Components {
    parent: Vec<u32>,
}

impl Components {
    /// Each node is a component.
    pub fn new(nodes: u32) -> Components {
        Components { parent: (0..nodes).collect() }
    }

    /// Joins the components of an edge.
    pub fn join(&mut self, source: u32, target: u32) {
        let (one, other) =
            (find_root(&mut self.parent, source), find_root(&mut self.parent, target));
        // The smaller number is the root, so that a component is identified by its first node.
        self.parent[one.max(other) as usize] = one.min(other);
    }

    /// Which nodes are in the largest component; ties go to the one with the first node.
    pub fn largest(mut self) -> Vec<bool> {
        let nodes = self.parent.len() as u32;
        let mut size = vec![0u32; nodes as usize];
        for node in 0..nodes {
            size[find_root(&mut self.parent, node) as usize] += 1;
        }
        let largest = (0..nodes).max_by_key(|&node| (size[node as usize], std::cmp::Reverse(node)));
        (0..nodes).map(|node| Some(find_root(&mut self.parent, node)) == largest).collect()
    }
}

fn find_root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let above = parent[parent[node as usize] as usize];
        parent[node as usize] = above;
        node = above;
    }
    node
}

/// Which nodes have one of these classes; the error of an unknown name has all names.
pub fn nodes_of_classes(labels: Option<&Labels>, wanted: &[String]) -> Result<Vec<bool>, String> {
    let Some(Labels::Classes { class, names }) = labels else {
        return Err("the nodes of this set have no classes".to_owned());
    };
    if let Some(unknown) = wanted.iter().find(|wanted| !names.contains(wanted)) {
        return Err(format!(
            "no class is called `{unknown}`: expected some of {}",
            names.join(", ")
        ));
    }
    Ok(class
        .iter()
        .map(|&class| names.get(class as usize).is_some_and(|name| wanted.contains(name)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warploom_formats::raw_graph::NO_CLASS;

    fn graph() -> RawGraph {
        let features = Features::Sparse {
            columns: 3,
            offsets: vec![0, 1, 1, 3, 3, 4],
            index: vec![0, 1, 2, 2],
            values: vec![1.0, 2.0, 3.0, 4.0],
        };
        RawGraph {
            ids: NodeIds::Count(5),
            edges: Edges {
                source: vec![0, 1, 3, 4, 2],
                target: vec![1, 2, 4, 3, 0],
                weight: Some(vec![1.0, 2.0, 3.0, 4.0, 5.0]),
                relation: Some(vec![0, 1, 0, 1, 0]),
                features: Some(EdgeFeatures {
                    columns: 2,
                    values: (0..10).map(|value| value as f32).collect(),
                }),
            },
            labels: Some(Labels::Classes {
                class: vec![0, 1, 0, NO_CLASS, 1],
                names: vec!["a".into(), "b".into()],
            }),
            splits: vec![vec![1, 2, 3, 0, 1]],
            features: Some(features),
            columns: vec![(
                "age".into(),
                Column::Integers(vec![Some(1), None, Some(3), Some(4), Some(5)]),
            )],
            relations: vec!["r".into(), "s".into()],
            graphs: Some(Graphs {
                classes_told: false,
                of_node: vec![1, 1, 1, 0, 0],
                ids: NodeIds::Count(2),
                labels: Some(Labels::Values(vec![0.5, 1.5])),
                splits: vec![],
                columns: vec![("year".into(), Column::Integers(vec![Some(1999), Some(2001)]))],
            }),
            ..RawGraph::default()
        }
    }

    #[test]
    fn what_stays_stays_whole() {
        let part = keep_nodes(graph(), &[true, false, true, false, false]);
        part.validate().unwrap();
        assert_eq!(part.ids, NodeIds::Numbers(vec![0, 2]));
        assert_eq!((&part.edges.source[..], &part.edges.target[..]), (&[1][..], &[0][..]));
        assert_eq!(part.edges.features, Some(EdgeFeatures { columns: 2, values: vec![8.0, 9.0] }));
        assert_eq!(
            part.features,
            Some(Features::Sparse {
                columns: 3,
                offsets: vec![0, 1, 3],
                index: vec![0, 1, 2],
                values: vec![1.0, 2.0, 3.0]
            })
        );
        let graphs = part.graphs.unwrap();
        assert_eq!(
            (graphs.of_node, graphs.ids, graphs.labels),
            (vec![0, 0], NodeIds::Numbers(vec![1]), Some(Labels::Values(vec![1.5])))
        );
        assert_eq!(graphs.columns, [("year".to_owned(), Column::Integers(vec![Some(2001)]))]);
    }

    #[test]
    fn the_largest_component_is_the_first_of_equals() {
        assert_eq!(largest_component(&graph().edges, 5), [true, true, true, false, false]);
        let two = Edges { source: vec![3, 0], target: vec![2, 1], ..Edges::default() };
        assert_eq!(largest_component(&two, 5), [true, true, false, false, false]);
        assert!(largest_component(&Edges::default(), 0).is_empty());
    }

    #[test]
    fn classes_are_known_by_name() {
        let graph = graph();
        assert_eq!(
            nodes_of_classes(graph.labels.as_ref(), &["b".into()]).unwrap(),
            [false, true, false, false, true]
        );
        assert!(
            nodes_of_classes(graph.labels.as_ref(), &["c".into()])
                .unwrap_err()
                .contains("expected some of a, b")
        );
        assert!(nodes_of_classes(None, &[]).is_err());
    }
}
