//! relations: inverse relations: the reverse of every edge under a relation of its own, as R-GCN
//! needs.
//!
//! promises  the inverse of relation r is called `inverse_<r>` and numbered after all others;
//!           weights and features are those of the edge
//! never     drops a self loop: it also becomes an edge of the inverse relation
use warploom_formats::raw_graph::{EdgeFeatures, RawGraph};

/// Why there are no inverse relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InverseError {
    /// Edges have no relations.
    NoRelations,
    /// Twice as many relations exceed 16 bits.
    TooMany(usize),
}

/// Names the inverse of every relation; returns the number of the first.
pub fn name_inverses(names: &mut Vec<String>) -> Result<u16, InverseError> {
    let count = names.len();
    if count == 0 {
        return Err(InverseError::NoRelations);
    }
    let first = u16::try_from(count)
        .ok()
        .filter(|first| first.checked_mul(2).is_some())
        .ok_or(InverseError::TooMany(count))?;
    let inverse: Vec<String> = names.iter().map(|name| format!("inverse_{name}")).collect();
    names.extend(inverse);
    Ok(first)
}

/// Adds the inverse of every edge.
pub fn add_inverses(graph: &mut RawGraph) -> Result<(), InverseError> {
    let Some(relation) = &mut graph.edges.relation else { return Err(InverseError::NoRelations) };
    let first = name_inverses(&mut graph.relations)?;
    let inverse: Vec<u16> = relation.iter().map(|relation| relation + first).collect();
    relation.extend(inverse);
    let (source, target) = (graph.edges.source.clone(), graph.edges.target.clone());
    graph.edges.source.extend(target);
    graph.edges.target.extend(source);
    if let Some(weight) = &mut graph.edges.weight {
        weight.extend_from_within(..);
    }
    if let Some(EdgeFeatures { values, .. }) = &mut graph.edges.features {
        values.extend_from_within(..);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warploom_formats::raw_graph::{Edges, NodeIds};

    #[test]
    fn every_edge_has_its_inverse() {
        let edges = Edges {
            source: vec![0, 1],
            target: vec![1, 1],
            relation: Some(vec![0, 1]),
            weight: Some(vec![2.0, 3.0]),
            ..Edges::default()
        };
        let mut graph = RawGraph {
            ids: NodeIds::Count(2),
            edges,
            relations: vec!["cites".into(), "is".into()],
            ..RawGraph::default()
        };
        add_inverses(&mut graph).unwrap();
        graph.validate().unwrap();
        assert_eq!(
            (&graph.edges.source[..], &graph.edges.target[..]),
            (&[0, 1, 1, 1][..], &[1, 1, 0, 1][..])
        );
        assert_eq!(graph.edges.relation, Some(vec![0, 1, 2, 3]));
        assert_eq!(graph.relations, ["cites", "is", "inverse_cites", "inverse_is"]);
        assert_eq!(graph.edges.weight, Some(vec![2.0, 3.0, 2.0, 3.0]));
        let mut bare = RawGraph::default();
        assert_eq!(add_inverses(&mut bare), Err(InverseError::NoRelations));
    }
}
