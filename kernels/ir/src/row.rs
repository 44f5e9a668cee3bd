//! row: place, type and shape of a new node, and how two shapes broadcast.
use super::{Node, Place, Type};

/// Place, type and shape of a new node.
pub(super) struct Row {
    pub(super) place: Place,
    pub(super) kind: Type,
    pub(super) shape: Vec<u64>,
}

impl Row {
    pub(super) fn like(node: &Node) -> Row {
        Row { place: node.place, kind: node.kind, shape: node.shape.clone() }
    }

    pub(super) fn with_place(self, place: Place) -> Row {
        Row { place, ..self }
    }

    pub(super) fn with_kind(self, kind: Type) -> Row {
        Row { kind, ..self }
    }

    pub(super) fn shaped(self, shape: Vec<u64>) -> Row {
        Row { shape, ..self }
    }
}

/// The shape that two rows broadcast to; none: they do not broadcast.
pub fn broadcast(a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let axes = a.len().max(b.len());
    let at = |shape: &[u64], axis: usize| {
        if axis + shape.len() < axes { 1 } else { shape[axis + shape.len() - axes] }
    };
    (0..axes)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (first, second) if first == second => Some(first),
            (1, other) | (other, 1) => Some(other),
            _ => None,
        })
        .collect()
}
