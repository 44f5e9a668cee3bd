//! input_data: the data that a program is interpreted on.
//!
//! promises  `check` finds every wrong length and every number out of range, before anything is
//!           computed
//! never     reads files; changes its data
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::rows::{ElementRows, Scalar, Values};
use crate::{Data, Direction, EdgeRows, EdgeSet, Place};

/// A graph as an edge list, in which the position of an edge is its id, with everything that a
/// program can read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct World {
    /// Number of vertices.
    pub nodes: usize,
    /// Source of each edge.
    pub source: Vec<u32>,
    /// Target of each edge.
    pub target: Vec<u32>,
    /// Weight of each edge; none: all 1.
    pub weight: Option<Vec<f64>>,
    /// Relation of each edge; empty: edges have none.
    pub edge_type: Vec<u32>,
    /// Features of each edge.
    pub edge_features: Option<ElementRows>,
    /// Graph of each vertex; empty: all of graph 0.
    pub graph_of_node: Vec<u32>,
    /// Number of graphs.
    pub graphs: usize,
    /// Features of each vertex, dense even if the data set stores them sparse.
    pub features: Option<ElementRows>,
    /// Kind of each vertex; empty: a single kind.
    pub kind_of_node: Vec<u32>,
    /// Features of the vertices of a kind, in the order of the graph artifact, by its number; for
    /// kinds that have features.
    pub features_of_kind: BTreeMap<u32, ElementRows>,
    /// Further columns of the node table.
    pub columns: BTreeMap<String, ElementRows>,
    /// Rows in the graph artifact of the vertices that each vertex setting names.
    pub chosen: BTreeMap<String, BTreeSet<u64>>,
    /// For each vertex (or graph, in a data set of many) the class as a float, or the regression
    /// targets.
    pub targets: Option<ElementRows>,
    /// Vertices (or graphs) that the loss is taken over.
    pub training_rows: Vec<u32>,
    /// Row in the graph artifact of each vertex, when the graph is permuted; empty: the same. Ids
    /// are rows of the artifact.
    pub artifact_rows: Vec<u32>,
}

/// An input that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// What was checked.
    pub what: String,
    /// What it should be.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl Unfit {
    pub(super) fn new(
        what: impl Into<String>,
        expected: impl ToString,
        found: impl ToString,
    ) -> Unfit {
        Unfit { what: what.into(), expected: expected.to_string(), found: found.to_string() }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: expected {}, found {}", self.what, self.expected, self.found)
    }
}

impl std::error::Error for Unfit {}

impl World {
    /// A graph of one graph and nothing else.
    pub fn bare(nodes: usize, source: Vec<u32>, target: Vec<u32>) -> World {
        World { nodes, source, target, graphs: 1, ..World::default() }
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.source.len()
    }

    /// How many rows a value of this place has.
    pub fn rows(&self, place: Place) -> usize {
        match place {
            Place::C | Place::P => 1,
            Place::G => self.graphs,
            Place::D => self.nodes,
            Place::S(EdgeRows::Once) | Place::E(EdgeRows::Once) => self.edges(),
            Place::S(EdgeRows::Twice) | Place::E(EdgeRows::Twice) => 2 * self.edges(),
        }
    }

    /// The row of a value of place `from` that this row of place `to` reads.
    pub fn map_row(&self, from: Place, to: Place, row: usize) -> usize {
        match (from, to) {
            (Place::C | Place::P, _) => 0,
            (Place::G, Place::D) => self.graph_of(row),
            _ => row,
        }
    }

    /// Graph of a vertex.
    pub fn graph_of(&self, vertex: usize) -> usize {
        self.graph_of_node.get(vertex).map_or(0, |graph| *graph as usize)
    }

    /// Row in the graph artifact of a vertex.
    pub fn artifact_row(&self, vertex: usize) -> u64 {
        self.artifact_rows.get(vertex).map_or(vertex as u64, |row| u64::from(*row))
    }

    /// For each vertex its position among those of these kinds, as `Input::PlaceAmong` counts.
    pub fn places_among(&self, kinds: &[u32]) -> Vec<i64> {
        let mut places = vec![-1; self.nodes];
        let mut by_artifact: Vec<usize> = (0..self.nodes).collect();
        by_artifact.sort_by_key(|vertex| self.artifact_row(*vertex));
        let mut next = 0;
        for kind in kinds {
            for vertex in &by_artifact {
                if self.kind_of_node[*vertex] == *kind {
                    places[*vertex] = next;
                    next += 1;
                }
            }
        }
        places
    }

    /// Vertices at the near and the far end of the edge of this row, in a list over these edges.
    pub fn ends(&self, edges: EdgeSet, row: usize) -> (usize, usize) {
        let count = self.edges();
        let (edge, incoming) = match edges.direction {
            Direction::In => (row, true),
            Direction::Out => (row, false),
            Direction::Both => (row % count, row < count),
        };
        let (source, target) = (self.source[edge] as usize, self.target[edge] as usize);
        if incoming { (target, source) } else { (source, target) }
    }

    /// Whether the edge of this row has the relation of these edges. Without relations no edge has
    /// any.
    pub fn has_relation(&self, edges: EdgeSet, row: usize) -> bool {
        let Some(relation) = edges.relation else { return true };
        !self.edge_type.is_empty() && self.edge_type[row % self.edges()] == relation
    }

    /// Checks that every length and number is valid, and matches what the program was compiled for.
    pub fn check(&self, data: &Data) -> Result<(), Unfit> {
        same("nodes", data.nodes, self.nodes)?;
        same("sources of edges", data.edges, self.source.len())?;
        same("targets of edges", data.edges, self.target.len())?;
        same("graphs", data.graphs, self.graphs)?;
        below("source of an edge", &self.source, self.nodes)?;
        below("target of an edge", &self.target, self.nodes)?;
        if data.weighted != self.weight.is_some() {
            let named = |given: bool| if given { "some" } else { "none" };
            return Err(Unfit::new(
                "weights of edges",
                named(data.weighted),
                named(self.weight.is_some()),
            ));
        }
        if let Some(weight) = &self.weight {
            same("weights of edges", data.edges, weight.len())?;
        }
        if !data.relations.is_empty() || !self.edge_type.is_empty() {
            same("types of edges", data.edges, self.edge_type.len())?;
            below("type of an edge", &self.edge_type, data.relations.len())?;
        }
        if !self.graph_of_node.is_empty() {
            same("graphs of nodes", data.nodes, self.graph_of_node.len())?;
            below("graph of a node", &self.graph_of_node, self.graphs)?;
        } else if self.nodes > 0 && self.graphs == 0 {
            return Err(Unfit::new("graphs", "at least 1", 0));
        }
        self.check_kinds(data)?;
        let of_graphs = data.target_place() == Place::G;
        let (what, trained) =
            if of_graphs { ("training graph", self.graphs) } else { ("training row", self.nodes) };
        below(what, &self.training_rows, trained)?;
        self.check_permutation()?;
        self.check_tables(data)
    }

    fn check_kinds(&self, data: &Data) -> Result<(), Unfit> {
        if !data.kinds.is_empty() || !self.kind_of_node.is_empty() {
            same("kinds of nodes", data.nodes, self.kind_of_node.len())?;
            below("kind of a node", &self.kind_of_node, data.kinds.len())?;
        }
        for (number, kind) in data.kinds.iter().enumerate() {
            let found = self.kind_of_node.iter().filter(|of| **of as usize == number).count();
            same(&format!("nodes of kind `{}`", kind.name), kind.nodes, found)?;
            if let (Some(columns), Some(features)) =
                (kind.features, self.features_of_kind.get(&(number as u32)))
            {
                table(&format!("features of kind `{}`", kind.name), features, found, columns)?;
            }
        }
        Ok(())
    }

    fn check_permutation(&self) -> Result<(), Unfit> {
        if self.artifact_rows.is_empty() {
            return Ok(());
        }
        same("artifact rows", self.nodes as u64, self.artifact_rows.len())?;
        below("artifact row", &self.artifact_rows, self.nodes)?;
        let mut taken = vec![false; self.nodes];
        for row in &self.artifact_rows {
            if std::mem::replace(&mut taken[*row as usize], true) {
                return Err(Unfit::new("artifact rows", "each row once", format!("{row} twice")));
            }
        }
        Ok(())
    }

    fn check_tables(&self, data: &Data) -> Result<(), Unfit> {
        if let (Some(columns), Some(features)) = (data.features, &self.features) {
            table("features", features, self.nodes, columns)?;
        }
        if let (true, Some(features)) = (data.edge_features > 0, &self.edge_features) {
            table("edge features", features, self.edges(), data.edge_features)?;
        }
        for (name, kind) in &data.columns {
            let Some(column) = self.columns.get(name) else { continue };
            table(&format!("column `{name}`"), column, self.nodes, 1)?;
            if !column.values.fit(*kind) {
                return Err(Unfit::new(
                    format!("type of column `{name}`"),
                    kind,
                    if column.values.fit(crate::Type::Real) { "real" } else { "whole" },
                ));
            }
        }
        let Some(targets) = &self.targets else { return Ok(()) };
        let rows = self.rows(data.target_place());
        table("targets", targets, rows, targets.columns as u64)
    }

    /// Whether the classes of the training rows are below this number.
    pub(super) fn check_classes(&self, classes: u64) -> Result<(), Unfit> {
        let Some(targets) = &self.targets else { return Ok(()) };
        for &row in &self.training_rows {
            let class = targets.at(row as usize, 0).real();
            if !(class >= 0.0 && class < classes as f64 && class.fract() == 0.0) {
                return Err(Unfit::new(
                    format!("class of training row {row}"),
                    format!("a whole number below {classes}"),
                    class,
                ));
            }
        }
        Ok(())
    }

    /// Weight of an edge.
    pub(super) fn weight_of(&self, edge: usize) -> Scalar {
        Scalar::Real(self.weight.as_ref().map_or(1.0, |weight| weight[edge]))
    }
}

fn same(what: &str, expected: u64, found: usize) -> Result<(), Unfit> {
    if found as u64 == expected { Ok(()) } else { Err(Unfit::new(what, expected, found)) }
}

fn below(what: &str, numbers: &[u32], end: usize) -> Result<(), Unfit> {
    match numbers.iter().find(|number| **number as usize >= end) {
        Some(number) => Err(Unfit::new(what, format!("a number below {end}"), number)),
        None => Ok(()),
    }
}

fn table(what: &str, found: &ElementRows, rows: usize, columns: u64) -> Result<(), Unfit> {
    if (found.rows, found.columns as u64) == (rows, columns) && found.is_whole_rectangle() {
        return Ok(());
    }
    let kind = if matches!(found.values, Values::Real(_)) { "real" } else { "whole" };
    Err(Unfit::new(
        what,
        format!("{rows} x {columns}"),
        format!("{} x {} with {} {kind} elements", found.rows, found.columns, found.values.len()),
    ))
}
