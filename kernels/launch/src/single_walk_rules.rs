//! single_walk_rules: checks that the steps of a fused launch can run in one walk, vertex by vertex
//! or edge by edge.
//!
//! promises  a valid launch reads nothing of another vertex that it computes itself, so that
//!           vertices can run in any order and in parallel; none of its steps reads a total over
//!           all vertices; each step is valid by `operand_shapes`; local values are written before
//!           they are read
//! never     says how many rows run at once
use std::collections::{BTreeMap, BTreeSet};

use super::{Buffer, BufferName, Element, Operand, Operation, Over, Rows, View, operand_shapes};
use warploom_ir::{EdgeSet, Op, Reduction};

use operand_shapes::Unfit;

impl Operation {
    /// Its operations: those of a fused launch, or itself.
    pub fn steps(&self) -> &[Operation] {
        match self {
            Operation::Fused { steps, .. } => steps,
            other => std::slice::from_ref(other),
        }
    }
}

/// Name of a recomputed value, in addition to its stored one.
pub fn name_of_again(name: &str) -> BufferName {
    format!("{name}.again")
}

/// Whether a step can be part of a fused launch, wherever its rows are.
pub fn is_row_wise(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Select
            | Op::Cast(_)
            | Op::Dropout { .. }
            | Op::Detach
            | Op::WhenTraining
            | Op::Give
            | Op::Expand
            | Op::Reshape
            | Op::Axis(..)
            | Op::Concat(_)
            | Op::Slice { .. }
            | Op::Unslice { .. }
            | Op::Product { .. }
    )
}

/// Whether a step of a fused launch sums over all its vertices.
pub fn is_total(op: &Op) -> bool {
    matches!(op, Op::SumRows | Op::Outer)
}

/// The edges that a step reduces in a fused launch; none if it is no such reduction.
pub fn reduced(op: &Op) -> Option<EdgeSet> {
    match op {
        Op::Reduce(Reduction::Mode | Reduction::HIndex, _) => None,
        Op::Reduce(_, edges) => Some(*edges),
        _ => None,
    }
}

/// Checks the steps of a fused launch against its walk and the declared buffers.
pub(super) fn check(index: &BTreeMap<&str, &Buffer>, operation: &Operation) -> Result<(), Unfit> {
    let Operation::Fused { over, locals, steps } = operation else { return Ok(()) };
    let mut index = index.clone();
    for local in locals {
        if index.insert(&local.name, local).is_some() {
            return Err((format!("name `{}`", local.name), "one declaration".into(), "two".into()));
        }
    }
    let (mut made, mut totals): (BTreeSet<&str>, BTreeSet<&str>) =
        (BTreeSet::new(), BTreeSet::new());
    for step in steps {
        let Operation::Evaluate { out, op, inputs, .. } = step else {
            return Err(("a step".into(), "an evaluated operation".into(), "another kind".into()));
        };
        let Some(held) = index.get(out.as_str()) else {
            return Err((
                format!("buffer `{out}`"),
                "a declared buffer".into(),
                "no such name".into(),
            ));
        };
        for rows in inputs.iter().flat_map(Operand::rows) {
            let is_local = locals.iter().any(|local| local.name == rows.buffer);
            if is_local && !made.contains(rows.buffer.as_str()) {
                return Err((
                    format!("local `{}`", rows.buffer),
                    "written by an earlier step".into(),
                    "nothing there yet".into(),
                ));
            }
            if totals.contains(rows.buffer.as_str()) {
                return Err((
                    format!("total `{}`", rows.buffer),
                    "read by another launch".into(),
                    "read in the same walk".into(),
                ));
            }
            let is_made = made.contains(rows.buffer.as_str());
            if is_made && !is_at_hand(*over, rows.view) {
                return Err((
                    format!("`{}`, made in the same walk", rows.buffer),
                    "read at the current vertex or edge".into(),
                    "read at another".into(),
                ));
            }
        }
        if !made.insert(out) {
            return Err((format!("`{out}`"), "written once".into(), "written again".into()));
        }
        if is_total(op) {
            totals.insert(out);
            totalled(*over, held, op, inputs, &index, locals.contains(held))?;
        } else {
            placed(*over, held, op, locals.contains(held))?;
        }
        operand_shapes::check(&index, step)?;
    }
    Ok(())
}

/// Whether a view of a value of the same walk is of the current vertex or edge.
fn is_at_hand(over: Over, view: View) -> bool {
    match (over, view) {
        (_, View::Own) => true,
        (Over::EdgesOf(direction), View::Near(edges)) => edges.direction == direction,
        (Over::EdgesOf(direction), View::Far(edges)) => {
            edges.direction != direction && edges.reversed().direction == direction
        }
        _ => false,
    }
}

/// Whether a total can be computed in the walk: of floats, over rows of its vertices.
fn totalled(
    over: Over,
    made: &Buffer,
    op: &Op,
    inputs: &[Operand],
    index: &BTreeMap<&str, &Buffer>,
    is_local: bool,
) -> Result<(), Unfit> {
    let is_own = |rows: &super::Rowed| {
        rows.view == View::Own
            && index.get(rows.buffer.as_str()).is_some_and(|held| held.rows == Rows::Nodes)
    };
    let fits = made.element == Element::Real
        && matches!(made.rows, Rows::Fixed(_))
        && !is_local
        && !matches!(over, Over::Edges(_));
    if fits
        && inputs
            .iter()
            .all(|input| !input.rows().is_empty() && input.rows().into_iter().all(is_own))
    {
        return Ok(());
    }
    Err((
        format!("step `{}`", made.name),
        "a stored total of floats over rows of the vertices of the walk".into(),
        format!("{} of {}", op.describe(), made.rows),
    ))
}

/// Whether a step belongs to the walk, and its rows too.
fn placed(over: Over, made: &Buffer, op: &Op, is_local: bool) -> Result<(), Unfit> {
    let unfit = |expected: &str| {
        Err((
            format!("step `{}`", made.name),
            expected.to_owned(),
            format!("{} of {}", op.describe(), made.rows),
        ))
    };
    match (over, reduced(op)) {
        (Over::EdgesOf(direction), Some(edges)) if made.rows == Rows::Nodes => {
            if edges.direction == direction {
                Ok(())
            } else {
                unfit("a reduction over the edges of the walk")
            }
        }
        (_, Some(_)) => {
            unfit("a reduction over edges to rows of nodes, in a walk over edges of vertices")
        }
        _ if !is_row_wise(op) => {
            unfit("element-wise work, work within a row, or a reduction over edges")
        }
        (_, None) if matches!(op, Op::Product { .. }) && made.rows != Rows::Nodes => {
            unfit("products of rows of vertices")
        }
        (Over::Vertices, _) if made.rows == Rows::Nodes => Ok(()),
        (Over::EdgesOf(_), _) if made.rows == Rows::Nodes => Ok(()),
        (Over::EdgesOf(direction), _) if made.rows == rows_of(direction) && is_local => Ok(()),
        (Over::Edges(rows), _) if made.rows == rows => Ok(()),
        _ => unfit("rows of the walk; values of edges in a walk over vertices stay local"),
    }
}

fn rows_of(direction: warploom_ir::Direction) -> Rows {
    if direction == warploom_ir::Direction::Both { Rows::EdgesTwice } else { Rows::Edges }
}
