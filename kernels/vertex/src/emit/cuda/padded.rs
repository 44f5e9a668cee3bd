//! padded: rows that are made to the end of their stride, so that lanes share them evenly and in the widest vectors.
//!
//! promises  a walk is widened only where all rows that it reads and makes have one number of columns, or one column, and lie at strides
//!           that vectors divide; what then lies beyond the columns is made of what lay there, and is in no sum along a row
//! never     changes an element within the columns
use super::kernel::widest_vector;
use super::walk::{From, Input, Leaf, Level, Read, Step, Walk};
use crate::gir::Op;
use crate::launch::{Element, Over, Rows};

/// Widens a walk, where it may be.
pub(super) fn widen(walk: &mut Walk) {
    let Some((columns, stride)) = fitting(walk) else { return };
    let first = of_rows(walk);
    let widened = |shape: &mut Vec<u64>| {
        if shape.last() == Some(&columns) {
            shape.pop();
            shape.push(stride);
        }
    };
    for step in &mut walk.steps[first..] {
        widened(&mut step.shape);
        if !matches!(step.op, Op::Product { .. }) {
            step.inputs.iter_mut().for_each(|input| each(input, &mut |read| widened(&mut read.shape)));
        }
    }
    walk.padded = Some((columns, stride));
}

/// The columns and the stride of the rows of a walk.
fn fitting(walk: &Walk) -> Option<(u64, u64)> {
    if walk.rows != Rows::Nodes || !matches!(walk.over, Over::Vertices | Over::EdgesOf(_)) {
        return None;
    }
    let steps = &walk.steps[of_rows(walk)..];
    let read = |step: &Step| if matches!(step.op, Op::Product { .. }) { Vec::new() } else { step.inputs.iter().map(Input::shape).collect::<Vec<_>>() };
    let shapes: Vec<Vec<u64>> = steps.iter().flat_map(|step| [vec![step.shape.clone()], read(step)].concat()).collect();
    let columns = shapes.iter().map(|shape| shape.iter().product::<u64>()).max()?;
    let stride = columns.next_multiple_of(widest_vector(walk.bytes_per_real) as u64);
    let is_fit = |shape: &Vec<u64>| shape.iter().product::<u64>() == 1 || (shape.last() == Some(&columns) && shape.iter().product::<u64>() == columns);
    let is_whole = columns > 2 && stride != columns && shapes.iter().all(is_fit);
    (is_whole && steps.iter().all(|step| may_be_wide(walk, step, (columns, stride)))).then_some((columns, stride))
}

/// The first step that has rows of the walk: a product and what follows it, or all.
fn of_rows(walk: &Walk) -> usize {
    walk.steps.iter().position(|step| matches!(step.op, Op::Product { .. })).unwrap_or(0)
}

fn may_be_wide(walk: &Walk, step: &Step, (columns, stride): (u64, u64)) -> bool {
    let is_made_of_elements = match &step.op {
        Op::Unary(_) | Op::Binary(_) | Op::Select | Op::Cast(_) | Op::Detach | Op::WhenTraining | Op::Expand | Op::Give | Op::Reshape => true,
        Op::Dropout { .. } | Op::Reduce(..) | Op::Product { .. } => true,
        Op::Axis(_, axis) => step.inputs[0].shape().len() == axis + 1,
        _ => false,
    };
    let is_one = |shape: &[u64]| shape.iter().product::<u64>() == 1;
    let lies_so = !step.stored || is_one(&step.shape) || (step.level == Level::Row && step.stride == stride);
    let reads = if matches!(step.op, Op::Product { .. }) { Vec::new() } else { step.inputs.iter().flat_map(Input::reads).collect::<Vec<&Read>>() };
    let is_wide = |leaf: &Leaf| leaf.element == Element::Real && leaf.columns == columns && (leaf.stride == stride || leaf.rows == Rows::Fixed(1));
    let fits = |read: &&Read| match read.from {
        From::Leaf(leaf) if !is_one(&read.shape) => is_wide(&walk.leaves[leaf]),
        _ => true,
    };
    is_made_of_elements && lies_so && reads.iter().all(fits)
}

/// Every row that an input reads.
fn each(input: &mut Input, change: &mut impl FnMut(&mut Read)) {
    match input {
        Input::Number(_) => {}
        Input::Rows(read) => change(read),
        Input::Times(first, second) => {
            each(first, change);
            each(second, change);
        }
    }
}
