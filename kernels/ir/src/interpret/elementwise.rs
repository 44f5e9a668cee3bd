//! elementwise: operations within a row: dropout, axes.
//!
//! promises  a row's elements are in row-major order, the last axis varying fastest
//! never     mixes rows
use super::call::Call;
use super::rows::{ElementRows, Scalar};
use super::scalar;
use crate::{Place, Pooling};

/// The identity in evaluation; in training an element whose factor is 0 is 0, even if it was
/// infinite.
pub(super) fn dropout(call: &Call, probability: f64, site: u32) -> ElementRows {
    let Some(draw) = call.context.draw.filter(|_| call.context.training) else {
        return call.inputs[0].clone();
    };
    call.element_by_element(|[a, ..], row, column| {
        let (own_row, column) = match (call.node.place, call.node.shape.as_slice()) {
            (Place::D, _) => (call.world.artifact_row(row), column as u64),
            // A table draws for its own rows.
            (Place::P | Place::C, [_, columns]) => {
                (column as u64 / columns, column as u64 % columns)
            }
            _ => (row as u64, column as u64),
        };
        let factor = draw(site, probability, own_row, column);
        Scalar::Real(if factor == 0.0 { 0.0 } else { a.real() * factor })
    })
}

/// A row's elements as `[before, length, after]`: the axes before an axis, the axis, the axes after
/// it.
struct AxisLengths {
    before: usize,
    length: usize,
    after: usize,
}

impl AxisLengths {
    fn new(shape: &[u64], axis: usize) -> AxisLengths {
        let product = |lengths: &[u64]| lengths.iter().product::<u64>() as usize;
        AxisLengths {
            before: product(&shape[..axis]),
            length: shape[axis] as usize,
            after: product(&shape[axis + 1..]),
        }
    }

    /// Column of an element.
    fn column(&self, before: usize, place: usize, after: usize) -> usize {
        (before * self.length + place) * self.after + after
    }

    /// The position of an element: before, along and after the axis.
    fn place(&self, column: usize) -> (usize, usize, usize) {
        (column / self.after / self.length, column / self.after % self.length, column % self.after)
    }

    /// Number of elements.
    fn count(&self) -> usize {
        self.before * self.length * self.after
    }
}

/// Reduces the elements along an axis.
pub(super) fn axis(call: &Call, pooling: Pooling, axis: usize) -> ElementRows {
    let around = AxisLengths::new(&call.input_nodes[0].shape, axis);
    ElementRows::from_fn(call.node.kind, call.rows(), call.columns(), |row, column| {
        let (before, after) = (column / around.after, column % around.after);
        let line: Vec<Scalar> = (0..around.length)
            .map(|place| call.inputs[0].at(row, around.column(before, place, after)))
            .collect();
        scalar::pool(pooling, call.node.kind, &line)
    })
}

/// Concatenates rows.
pub(super) fn concat(call: &Call, axis: usize) -> ElementRows {
    let whole = AxisLengths::new(&call.node.shape, axis);
    ElementRows::from_fn(call.node.kind, call.rows(), whole.count(), |row, column| {
        let (before, mut place, after) = whole.place(column);
        for (input, node) in call.input_nodes.iter().enumerate() {
            let part = AxisLengths::new(&node.shape, axis);
            if place < part.length {
                return call.inputs[input]
                    .at(call.input_row(input, row), part.column(before, place, after));
            }
            place -= part.length;
        }
        unreachable!("the lengths of the parts sum up to the axis")
    })
}

/// A slice of an axis.
pub(super) fn slice(call: &Call, axis: usize, start: u64) -> ElementRows {
    let (part, whole) = (
        AxisLengths::new(&call.node.shape, axis),
        AxisLengths::new(&call.input_nodes[0].shape, axis),
    );
    ElementRows::from_fn(call.node.kind, call.rows(), part.count(), |row, column| {
        let (before, place, after) = part.place(column);
        call.inputs[0].at(row, whole.column(before, place + start as usize, after))
    })
}

/// A slice padded with zeros.
pub(super) fn unslice(call: &Call, axis: usize, start: u64) -> ElementRows {
    let (whole, part) = (
        AxisLengths::new(&call.node.shape, axis),
        AxisLengths::new(&call.input_nodes[0].shape, axis),
    );
    ElementRows::from_fn(call.node.kind, call.rows(), whole.count(), |row, column| {
        let (before, place, after) = whole.place(column);
        match place.checked_sub(start as usize).filter(|place| *place < part.length) {
            Some(place) => call.inputs[0].at(row, part.column(before, place, after)),
            None => scalar::cast(call.node.kind, Scalar::Whole(0)),
        }
    })
}
