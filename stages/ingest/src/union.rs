//! A set of many graphs as one graph whose nodes are learned: their disjoint union, as the GNNAdvisor paper trains on the sets of TU Dortmund.
//!
//! promises  nodes, edges, features and the graph of each node are those of the set; labels of graphs stay, as a column of the graphs that
//!           nothing learns
//! never     makes a label up (`target` draws those of nodes, and says so)
use warploom_formats::raw::{Column, Labels, NO_CLASS, RawGraph};

/// The column of graphs.parquet that holds what was their label.
const COLUMN: &str = "label_of_graph";

/// Takes the labels of graphs out of the way.
pub fn set_labels_aside(graph: &mut RawGraph) {
    let Some(graphs) = &mut graph.graphs else { return };
    (graphs.splits, graphs.classes_told) = (Vec::new(), false);
    let number = |value: &f32| (!value.is_nan()).then_some(f64::from(*value));
    match graphs.labels.take() {
        None => {}
        Some(Labels::Classes { class, names }) => {
            let name = |&class: &u32| (class != NO_CLASS).then(|| names[class as usize].clone());
            graphs.columns.push((COLUMN.to_owned(), Column::Texts(class.iter().map(name).collect())));
        }
        Some(Labels::Values(values)) => graphs.columns.push((COLUMN.to_owned(), Column::Reals(values.iter().map(number).collect()))),
        Some(Labels::Rows { columns, values }) => {
            let columns = columns as usize;
            graphs.columns.extend((0..columns).map(|column| {
                let values = values.iter().skip(column).step_by(columns);
                (format!("{COLUMN}_{column}"), Column::Reals(values.map(number).collect()))
            }));
        }
    }
}

/// What people are told.
pub fn told(name: &str, graphs: usize) -> String {
    format!(
        "`{name}`: its {graphs} graphs are one graph, whose nodes are learned; to learn the graphs, return  linear(pool_sum(v.h), v.classes) ,  or  \
         --set ingest.graphs=separate"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warploom_formats::raw::{Graphs, NodeIds};

    #[test]
    fn labels_of_graphs_become_a_column() {
        let labels = |labels: Labels| {
            let graphs = Graphs { of_node: vec![0, 1], ids: NodeIds::Count(2), labels: Some(labels), splits: vec![vec![1, 3]], ..Graphs::default() };
            let mut graph = RawGraph { ids: NodeIds::Count(2), graphs: Some(graphs), ..RawGraph::default() };
            set_labels_aside(&mut graph);
            graph.validate().unwrap();
            let graphs = graph.graphs.unwrap();
            assert!(graphs.labels.is_none() && graphs.splits.is_empty() && graphs.of_node == [0, 1]);
            graphs.columns
        };
        let named = labels(Labels::Classes { class: vec![1, NO_CLASS], names: vec!["a".into(), "b".into()] });
        assert_eq!(named, [("label_of_graph".to_owned(), Column::Texts(vec![Some("b".into()), None]))]);
        let values = labels(Labels::Values(vec![0.5, f32::NAN]));
        assert_eq!(values, [("label_of_graph".to_owned(), Column::Reals(vec![Some(0.5), None]))]);
        assert_eq!(labels(Labels::Rows { columns: 2, values: vec![1.0, 0.0, 0.0, 1.0] }).len(), 2);
    }
}
