//! row_stores: which lane stores which element of a row, and the statements that store it.
//!
//! promises  each element is stored by the lanes that hold its first place, with the same bits
//! never     decides how rows are assigned to threads, or prints
use std::rc::Rc;

use super::NoKernel;
use super::lane_layout::{Table, identity};
use super::statement_text;
use super::statements::{Scope, Statement, Store, StoreHow};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Level, Walk};
use warploom_ir::{Op, Type};
use warploom_launch::Rows;

/// The shape whose elements are distributed over the lanes: that of the widest value.
pub(super) fn frame_shape(walk: &Walk) -> Vec<u64> {
    let of_step = |number: usize| {
        let step = &walk.steps[number];
        let inputs = matches!(step.op, Op::Axis(..)).then(|| step.inputs[0].shape());
        [Some(step.shape.clone()), inputs]
            .into_iter()
            .flatten()
            .max_by_key(|shape| shape.iter().product::<u64>())
    };
    let is_frame = |number: &usize| {
        walk.steps[*number].level == Level::Row || matches!(walk.steps[*number].op, Op::Axis(..))
    };
    let shapes = (0..walk.steps.len()).filter(is_frame).filter_map(of_step);
    // Of equally wide shapes, the one with most axes: it distinguishes heads.
    shapes.max_by_key(|shape| (shape.iter().product::<u64>(), shape.len())).unwrap_or_default()
}

/// The element of a value that each place of the frame stores.
fn store_table(shape: &[u64], frame: &[u64]) -> Table {
    let (columns, places) =
        (shape.iter().product::<u64>().max(1), frame.iter().product::<u64>().max(1));
    if columns == places {
        return identity(places as usize);
    }
    let trimmed: &[u64] = if shape.last() == Some(&1) { &shape[..shape.len() - 1] } else { shape };
    let each =
        |of: &dyn Fn(u64) -> u64| Table::new((0..places).map(|place| of(place) as u32).collect());
    if places.is_multiple_of(columns) && frame.starts_with(trimmed) {
        return each(&|place| place / (places / columns));
    }
    if places.is_multiple_of(columns) && frame.ends_with(shape) {
        return each(&|place| place % columns);
    }
    each(&|place| place.min(columns - 1))
}

/// The places that are the first to hold their element: those store it.
fn owners(table: &Table) -> Table {
    let mut seen = vec![false; table.len().max(1)];
    let first = table
        .iter()
        .map(|&element| u32::from(!std::mem::replace(&mut seen[element as usize], true)));
    Table::new(first.collect())
}

/// The statement that stores a step's value.
pub(super) fn emit_store(
    lowering: &mut WalkLowering,
    number: usize,
    frame: &[u64],
) -> Result<Statement, NoKernel> {
    let walk = Rc::clone(&lowering.walk);
    let step = &walk.steps[number];
    let table = store_table(&step.shape, frame);
    let value = lowering.step_value(number, &table, Scope::Row(step.passes))?;
    let is_whole_row = step.columns() == lowering.lanes.places;
    let how = if is_whole_row && step.kind == Type::Real && value.is_run() && !value.many {
        StoreHow::Vectors(statement_text::vectors(&lowering.lanes))
    } else {
        let owner = if is_whole_row {
            "own[q]".to_owned()
        } else {
            format!("own[q] && {}", lowering.holds(&owners(&table)))
        };
        StoreHow::Elements { index: lowering.element(&table), owner }
    };
    Ok(Statement::Store(Store {
        buffer: step.out.clone(),
        value,
        stride: (!matches!(walk.rows, Rows::Fixed(_))).then_some(step.stride),
        how,
    }))
}
