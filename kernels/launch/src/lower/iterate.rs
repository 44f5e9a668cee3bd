//! iterate: programs that do not train: loops in sequence, or none; without any, learned tensors
//! may be given (inference).
use std::collections::BTreeSet;

use super::{Lowering, Refusal, RowType};
use crate::{
    Body, BufferName, Commit, Iterate, LaunchList, Loop, Operand, ResultColumn, Role, Rowed,
    StopCondition, View,
};
use warploom_ir::{Data, Gir, NodeId, Op, Place};

/// The phases: of loop k, 2 k runs once and 2 k + 1 is the superstep; the last one follows all
/// loops.
pub(super) fn list(gir: &Gir, data: &Data) -> Result<LaunchList, Refusal> {
    let count = gir.loops.len();
    let mut lowering = Lowering::new(gir, data, 2 * count + 1);
    let parameters = if data.inferring && count == 0 { lowering.parameters() } else { Vec::new() };
    if let Some((index, span)) = learned(gir, &lowering).filter(|_| parameters.is_empty()) {
        let what = format!(
            "the program learns `{}`, and nothing is trained here",
            gir.parameters[index].name
        );
        return Err(Refusal {
            what,
            hint: "give the data set labels, or take the learned parts out".to_owned(),
            span,
        });
    }
    let states = states(gir);
    for (number, repeated) in gir.loops.iter().enumerate() {
        for (state, name) in repeated.states.iter().zip(&states[number]) {
            let node = gir.node(state.next);
            let made_here = node.region == Some(number)
                && !is_held_elsewhere(&node.op)
                && !lowering.wanted.contains_key(&state.next);
            if made_here {
                lowering.wanted.insert(state.next, (format!("{name}.next"), Role::Value));
            }
        }
    }
    let mut after = vec![0; gir.nodes.len()];
    for id in gir.ids() {
        let node = gir.node(id);
        after[id.index()] = match node.op {
            Op::Ended(number, _) => number + 1,
            _ => node.inputs.iter().map(|input| after[input.index()]).max().unwrap_or(0),
        };
        if let Op::State(position) | Op::Ended(_, position) = node.op {
            let number = node.region.unwrap_or_else(|| after[id.index()] - 1);
            hold_state(&mut lowering, id, &states[number][position]);
        } else if lowering.uses.live[id.index()] {
            let phase = node.region.map_or(2 * after[id.index()], |number| 2 * number + 1);
            lowering.visit(id, phase);
        }
    }
    let loops = (0..count).map(|number| close(&mut lowering, number, &states[number])).collect();
    let results = results(&mut lowering);
    let mut phases = std::mem::take(&mut lowering.phases).into_iter();
    let mut loops: Vec<Loop> = loops;
    for repeated in &mut loops {
        repeated.prepare = phases.next().unwrap_or_default();
        repeated.superstep = phases.next().unwrap_or_default();
    }
    let finish = phases.next().unwrap_or_default();
    Ok(lowering.list(parameters, Body::Iterate(Iterate { loops, finish }), results))
}

/// A learned parameter that a value needs.
fn learned(gir: &Gir, lowering: &Lowering) -> Option<(usize, warploom_ir::Span)> {
    gir.ids().filter(|id| lowering.uses.live[id.index()]).find_map(|id| match gir.node(id).op {
        Op::Parameter(index) => Some((index, gir.node(id).span)),
        _ => None,
    })
}

/// Names of the states of each loop.
fn states(gir: &Gir) -> Vec<Vec<BufferName>> {
    // Names of inputs of the data set.
    let mut taken = BTreeSet::from(["x", "x.dense"].map(str::to_owned));
    let mut name = |name: &str, number: usize, position: usize| {
        let free = [name.to_owned(), format!("{name}.loop{number}")]
            .into_iter()
            .find(|name| !taken.contains(name));
        let chosen = free.unwrap_or_else(|| format!("{name}.loop{number}.{position}"));
        taken.insert(chosen.clone());
        chosen
    };
    let of_loop = |(number, repeated): (usize, &warploom_ir::Loop)| {
        repeated
            .states
            .iter()
            .enumerate()
            .map(|(position, state)| name(&state.name, number, position))
            .collect()
    };
    gir.loops.iter().enumerate().map(of_loop).collect()
}

fn is_held_elsewhere(op: &Op) -> bool {
    matches!(op, Op::State(_) | Op::Ended(..) | Op::Constant(_) | Op::Parameter(_) | Op::Input(_))
}

fn hold_state(lowering: &mut Lowering, id: NodeId, name: &str) {
    let node = lowering.gir.node(id);
    let buffer = lowering.buffer_for(
        name.to_owned(),
        RowType { place: stored_place(node.place), kind: node.kind, shape: &node.shape },
        Role::Value,
    );
    lowering.held.insert(id, super::rows(buffer, &node.shape));
}

/// Compile-time constants are stored like shared values.
fn stored_place(place: Place) -> Place {
    if place == Place::C { Place::P } else { place }
}

/// Initial states, successors and stop condition of a loop; its launches are inserted later.
fn close(lowering: &mut Lowering, number: usize, names: &[BufferName]) -> Loop {
    let repeated = lowering.gir.loops[number].clone();
    let mut commit = Vec::new();
    for (state, name) in repeated.states.iter().zip(names) {
        let inside = lowering.gir.node(state.inside);
        let shape = inside.shape.clone();
        let row = RowType { place: stored_place(inside.place), kind: inside.kind, shape: &shape };
        hold_state(lowering, state.inside, name);
        let first = lowering.read(state.first, 2 * number);
        lowering.copy(first, Op::Detach, row, name, 2 * number);
        let next = format!("{name}.next");
        let made = matches!(lowering.operand(state.next), Some(Operand::Rows(Rowed { buffer, view: View::Own, .. })) if buffer == next);
        if !made {
            let value = lowering.read(state.next, 2 * number + 1);
            lowering.copy(value, Op::Detach, row, &next, 2 * number + 1);
        }
        commit.push(Commit { state: name.clone(), next });
    }
    let until = match &repeated.until {
        warploom_ir::StopTest::Unchanged(states) => {
            StopCondition::Unchanged(states.iter().map(|state| names[*state].clone()).collect())
        }
        warploom_ir::StopTest::ChangeAtMost(state, bound) => {
            StopCondition::ChangeAtMost(names[*state].clone(), *bound)
        }
        warploom_ir::StopTest::Nowhere(node) => {
            StopCondition::Nowhere(tested(lowering, *node, number))
        }
    };
    Loop { prepare: Vec::new(), superstep: Vec::new(), commit, until, course: None, frontier: None }
}

/// The buffer of a condition: one that the superstep writes. The condition may be a state as it was
/// before the pass, or a value that passes moved out of the loop: then a superstep copies it.
fn tested(lowering: &mut Lowering, condition: NodeId, number: usize) -> BufferName {
    let (name, phase) = (format!("active.{number}"), 2 * number + 1);
    let node = lowering.gir.node(condition);
    let place = stored_place(node.place);
    let buffer = lowering.written(condition, place, &name, phase);
    let mut launches = lowering.phases[phase].iter();
    if launches.any(|launch| launch.operation.writes().iter().any(|name| *name == buffer)) {
        return buffer;
    }
    let value = lowering.read(condition, phase);
    lowering.copy(
        value,
        Op::Detach,
        RowType { place, kind: node.kind, shape: &node.shape },
        &name,
        phase,
    )
}

fn results(lowering: &mut Lowering) -> Vec<ResultColumn> {
    let last = lowering.phases.len() - 1;
    let of_rows = lowering.gir.results.iter().filter(|result| result.edges.is_none());
    let rows =
        lowering.data.place_of_results(of_rows.map(|result| lowering.gir.node(result.node).place));
    let mut columns = Vec::new();
    for result in lowering.gir.results.clone() {
        let place =
            if result.edges.is_some() { lowering.gir.node(result.node).place } else { rows };
        let name = format!("result.{}", result.name);
        let buffer = lowering.written(result.node, place, &name, last);
        columns.push(ResultColumn { name: result.name, buffer, edges: result.edges });
    }
    columns
}
