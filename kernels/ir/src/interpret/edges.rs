//! edges: gathers along edges, and reductions over the edges of a vertex.
//!
//! promises  the edges of a vertex come in the order of their rows (edge ids; `Both`: in-edges,
//!           then out-edges); an edge that a mask or the relation excludes counts nowhere
//! limits    stores a row number per edge
use std::collections::BTreeSet;

use super::call::{Call, broadcast_columns};
use super::input_data::World;
use super::rows::{ElementRows, Scalar};
use super::scalar;
use crate::{EdgeSet, Function, Place, Pooling, Reduction};

/// For each edge the row of the vertex at one end.
pub(super) fn view(
    call: &Call,
    edges: EdgeSet,
    end: impl Fn((usize, usize)) -> usize,
) -> ElementRows {
    ElementRows::from_fn(call.node.kind, call.rows(), call.columns(), |row, column| {
        call.inputs[0].at(end(call.world.ends(edges, row)), column)
    })
}

/// The rows of in-edges and of out-edges exchanged.
pub(super) fn turn(call: &Call) -> ElementRows {
    let (rows, edges) = (call.rows(), call.world.edges());
    ElementRows::from_fn(call.node.kind, rows, call.columns(), |row, column| {
        call.inputs[0].at((row + edges) % rows, column)
    })
}

/// Rows of the edges of each vertex, in order; a mask is an edge value with one column.
fn rows_of_vertices(call: &Call, edges: EdgeSet, mask: Option<&ElementRows>) -> Vec<Vec<usize>> {
    let mut rows_of = vec![Vec::new(); call.world.nodes];
    for row in 0..call.world.rows(Place::E(edges.rows())) {
        if call.world.has_relation(edges, row) && mask.is_none_or(|mask| mask.at(row, 0).holds()) {
            rows_of[call.world.ends(edges, row).0].push(row);
        }
    }
    rows_of
}

/// Number of edges of each vertex.
pub(super) fn degree(call: &Call, edges: EdgeSet) -> ElementRows {
    let rows_of = rows_of_vertices(call, edges, None);
    call.whole_rows(|vertex| rows_of[vertex].len() as i64)
}

/// Reduces the edges of each vertex, column by column.
pub(super) fn reduce(call: &Call, reduction: Reduction, edges: EdgeSet) -> ElementRows {
    let rows_of = rows_of_vertices(call, edges, call.inputs.get(1).copied());
    ElementRows::from_fn(call.node.kind, call.rows(), call.columns(), |vertex, column| {
        let values: Vec<Scalar> =
            rows_of[vertex].iter().map(|row| call.inputs[0].at(*row, column)).collect();
        scalar::reduce(reduction, call.node.kind, &values)
    })
}

/// Whether an edge attains the extremum of its vertex: the first of ties; if the extremum is NaN,
/// the first NaN.
pub(super) fn winner(call: &Call, largest: bool, edges: EdgeSet) -> ElementRows {
    let (rows_of, kind) =
        (rows_of_vertices(call, edges, call.inputs.get(1).copied()), call.input_nodes[0].kind);
    let reduction = if largest { Reduction::Maximum } else { Reduction::Minimum };
    let mut wins = vec![0; call.rows() * call.columns()];
    for rows in &rows_of {
        for column in 0..call.columns() {
            let values: Vec<Scalar> =
                rows.iter().map(|row| call.inputs[0].at(*row, column)).collect();
            let best = scalar::reduce(reduction, kind, &values);
            let holds =
                |value: &Scalar| *value == best || (value.real().is_nan() && best.real().is_nan());
            if let Some(position) = values.iter().position(holds) {
                wins[rows[position] * call.columns() + column] = 1;
            }
        }
    }
    ElementRows::from_integers(call.rows(), call.columns(), wins)
}

/// Product over all other edges of the vertex; 0 on an excluded edge, since the product does not
/// depend on it.
pub(super) fn multiply_other_edges(call: &Call, edges: EdgeSet) -> ElementRows {
    let (rows_of, kind) =
        (rows_of_vertices(call, edges, call.inputs.get(1).copied()), call.node.kind);
    let mut made = vec![scalar::cast(kind, Scalar::Whole(0)); call.rows() * call.columns()];
    for rows in &rows_of {
        for (position, row) in rows.iter().enumerate() {
            for column in 0..call.columns() {
                let rest = rows.iter().enumerate().filter(|(other, _)| *other != position);
                let values: Vec<Scalar> =
                    rest.map(|(_, other)| call.inputs[0].at(*other, column)).collect();
                made[row * call.columns() + column] =
                    scalar::reduce(Reduction::Product, kind, &values);
            }
        }
    }
    ElementRows::from_fn(kind, call.rows(), call.columns(), |row, column| {
        made[row * call.columns() + column]
    })
}

/// The start, then the edges in order.
pub(super) fn fold(call: &Call, function: &Function, edges: EdgeSet) -> ElementRows {
    let rows_of = rows_of_vertices(call, edges, call.inputs.get(2).copied());
    let start_of = broadcast_columns(&call.node.shape, &call.input_nodes[1].shape);
    ElementRows::from_fn(call.node.kind, call.rows(), call.columns(), |vertex, column| {
        let mut made = call.inputs[1].at(0, start_of[column]);
        for row in &rows_of[vertex] {
            made = scalar::cast(
                call.node.kind,
                scalar::apply(function, made, call.inputs[0].at(*row, column)),
            );
        }
        made
    })
}

/// Distinct third vertices adjacent, in either direction, to both ends of each edge.
pub(super) fn common_neighbors(call: &Call) -> ElementRows {
    let common = common_of_edges(call.world);
    call.whole_rows(|edge| common[edge])
}

/// The same summed over the edges of each vertex.
pub(super) fn common_neighbors_sum(call: &Call, edges: EdgeSet) -> ElementRows {
    let common = common_of_edges(call.world);
    let rows_of = rows_of_vertices(call, edges, None);
    call.whole_rows(|vertex| {
        rows_of[vertex].iter().map(|row| common[row % common.len().max(1)]).sum()
    })
}

fn common_of_edges(world: &World) -> Vec<i64> {
    let mut adjacent = vec![BTreeSet::new(); world.nodes];
    for (source, target) in world.source.iter().zip(&world.target) {
        adjacent[*source as usize].insert(*target);
        adjacent[*target as usize].insert(*source);
    }
    let common = |(source, target): (&u32, &u32)| {
        let both = adjacent[*source as usize].intersection(&adjacent[*target as usize]);
        both.filter(|third| **third != *source && **third != *target).count() as i64
    };
    world.source.iter().zip(&world.target).map(common).collect()
}

/// Reduces the vertices of each graph, column by column.
pub(super) fn pool(call: &Call, pooling: Pooling) -> ElementRows {
    let mut vertices_of = vec![Vec::new(); call.world.graphs];
    for vertex in 0..call.world.nodes {
        vertices_of[call.world.graph_of(vertex)].push(vertex);
    }
    ElementRows::from_fn(call.node.kind, call.rows(), call.columns(), |graph, column| {
        let values: Vec<Scalar> =
            vertices_of[graph].iter().map(|vertex| call.inputs[0].at(*vertex, column)).collect();
        scalar::pool(pooling, call.node.kind, &values)
    })
}
