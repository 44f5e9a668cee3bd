//! padded_rows: rows that are computed up to their stride, so that lanes share them evenly in the
//! widest vectors.
//!
//! promises  a walk is padded only if all rows that it reads and computes have the same number of
//!           columns, or one column, with strides that vectors divide; the padding of a result is
//!           computed from the padding of its operands, and is in no reduction along a row
//! never     changes an element within the columns
use super::lane_layout::widest_vector;
use super::walk_steps::{At, From, Input, Leaf, Level, Read, RowLayout, Step, Walk};
use warploom_ir::Op;
use warploom_launch::{Element, Over, Rows};

/// Pads a walk, if that is allowed.
pub(super) fn pad_walk(walk: &mut Walk) {
    let Some(layout) = fitting(walk) else { return };
    let widened = |shape: &mut Vec<u64>| pad_shape(shape, layout);
    for step in &mut walk.steps {
        widened(&mut step.shape);
        if !is_product(step) {
            step.inputs
                .iter_mut()
                .for_each(|input| for_each_read(input, &mut |read| widened(&mut read.shape)));
        }
    }
    walk.padded = Some(layout);
}

/// Pads rows of a sum over all vertices, if that is allowed. The sum leaves out the padding.
pub(super) fn pad_read_rows(walk: &mut Walk, read: &mut [Input]) {
    let Some(columns) = read.iter().map(|input| input.shape().iter().product::<u64>()).max() else {
        return;
    };
    let stride = columns.next_multiple_of(widest_vector(walk.bytes_per_real) as u64);
    let is_fit = |read: &Read| {
        let elements: u64 = read.shape.iter().product();
        let From::Leaf(leaf) = read.from else { return false };
        let is_wide = read.shape.last() == Some(&columns)
            && elements == columns
            && is_wide(&walk.leaves[leaf], RowLayout { columns, stride });
        matches!(read.at, At::Own | At::One) && (elements == 1 || is_wide)
    };
    if walk.rows != Rows::Nodes
        || columns <= 2
        || stride == columns
        || !read.iter().flat_map(Input::reads).all(is_fit)
    {
        return;
    }
    for input in read {
        for_each_read(input, &mut |read| pad_shape(&mut read.shape, RowLayout { columns, stride }));
    }
    walk.padded = Some(RowLayout { columns, stride });
}

/// Extends a row's shape to its stride.
fn pad_shape(shape: &mut Vec<u64>, RowLayout { columns, stride }: RowLayout) {
    if shape.last() == Some(&columns) {
        shape.pop();
        shape.push(stride);
    }
}

/// Whether rows have these columns and this stride, or are one row for all vertices.
fn is_wide(leaf: &Leaf, RowLayout { columns, stride }: RowLayout) -> bool {
    leaf.element == Element::Real
        && leaf.columns == columns
        && (leaf.stride == stride || leaf.rows == Rows::Fixed(1))
}

/// The common columns and stride of the rows of a walk.
fn fitting(walk: &Walk) -> Option<RowLayout> {
    // A product must be the first step: rows before it have another width.
    if walk.rows != Rows::Nodes
        || !matches!(walk.over, Over::Vertices | Over::EdgesOf(_))
        || walk.steps.iter().skip(1).any(is_product)
    {
        return None;
    }
    let shapes: Vec<Vec<u64>> = walk
        .steps
        .iter()
        .flat_map(|step| {
            row_inputs(step)
                .iter()
                .map(Input::shape)
                .chain([step.shape.clone()])
                .collect::<Vec<_>>()
        })
        .collect();
    let columns = shapes.iter().map(|shape| shape.iter().product::<u64>()).max()?;
    let stride = columns.next_multiple_of(widest_vector(walk.bytes_per_real) as u64);
    let is_fit = |shape: &Vec<u64>| {
        shape.iter().product::<u64>() == 1
            || (shape.last() == Some(&columns) && shape.iter().product::<u64>() == columns)
    };
    let is_whole = columns > 2 && stride != columns && shapes.iter().all(is_fit);
    let layout = RowLayout { columns, stride };
    (is_whole && walk.steps.iter().all(|step| may_be_wide(walk, step, layout))).then_some(layout)
}

fn is_product(step: &Step) -> bool {
    matches!(step.op, Op::Product { .. })
}

/// The row operands of a step; none for a product, whose operands have widths of their own.
fn row_inputs(step: &Step) -> &[Input] {
    if is_product(step) { &[] } else { &step.inputs }
}

fn may_be_wide(walk: &Walk, step: &Step, RowLayout { columns, stride }: RowLayout) -> bool {
    let is_made_of_elements = match &step.op {
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Select
        | Op::Cast(_)
        | Op::Detach
        | Op::WhenTraining
        | Op::Expand
        | Op::Give
        | Op::Reshape => true,
        Op::Dropout { .. } | Op::Reduce(..) | Op::Product { .. } => true,
        Op::Axis(_, axis) => step.inputs[0].shape().len() == axis + 1,
        _ => false,
    };
    let is_one = |shape: &[u64]| shape.iter().product::<u64>() == 1;
    let lies_so =
        !step.stored || is_one(&step.shape) || (step.level == Level::Row && step.stride == stride);
    let fits = |read: &Read| match read.from {
        From::Leaf(leaf) if !is_one(&read.shape) => {
            is_wide(&walk.leaves[leaf], RowLayout { columns, stride })
        }
        _ => true,
    };
    is_made_of_elements && lies_so && row_inputs(step).iter().flat_map(Input::reads).all(fits)
}

/// Applies a change to every row that an input reads.
fn for_each_read(input: &mut Input, change: &mut impl FnMut(&mut Read)) {
    match input {
        Input::Number(_) => {}
        Input::Rows(read) => change(read),
        Input::Times(first, second) => {
            for_each_read(first, change);
            for_each_read(second, change);
        }
    }
}
