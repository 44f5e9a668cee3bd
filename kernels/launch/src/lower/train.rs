//! train: programs that train: preparation, forward pass, loss, backward pass, optimiser.
use super::{Lowering, Refusal, RowType, rows_of};
use crate::{
    Body, Commit, Launch, LaunchList, Operand, Operation, ResultColumn, Role, Rowed, Rows, Train,
    View, gradient_buffer, parameter_buffer,
};
use warploom_ir::{Data, EdgeSet, Gir, NodeId, Op, Place, Type};

const PREPARE: usize = 0;
const FORWARD: usize = 1;
const BACKWARD: usize = 2;

pub(super) fn list(gir: &Gir, data: &Data) -> Result<LaunchList, Refusal> {
    if !gir.loops.is_empty() {
        let span = gir
            .nodes
            .iter()
            .find(|node| node.region.is_some())
            .map_or_else(Default::default, |node| node.span);
        let what = "a program that is trained has a `while`".to_owned();
        return Err(Refusal {
            what,
            hint: "use  for k in range(n)  , or make the values of the loop a data set's column"
                .to_owned(),
            span,
        });
    }
    let mut lowering = Lowering::new(gir, data, 3);
    let parameters = lowering.parameters();
    let (mut slope, mut loss) = (None, None);
    for id in gir.ids() {
        match gir.node(id).op {
            Op::LossSlope(_) => slope = Some(id),
            Op::Loss(kind) => loss = Some((id, kind)),
            _ => {}
        }
    }
    let Some((loss, kind)) = loss else {
        return Err(Refusal {
            what: "a program that is trained has no loss".to_owned(),
            hint: "return scores".to_owned(),
            span: Default::default(),
        });
    };
    want_gradients(&mut lowering);
    let phases = Phases::new(gir, slope);
    for id in gir.ids().filter(|id| *id != loss) {
        if Some(id) == slope {
            hold_slope(&mut lowering, id);
        } else if lowering.uses.live[id.index()] {
            lowering.visit(id, phases.node_phase(id));
        }
    }
    let result = lowering.written(gir.node(loss).inputs[0], data.target_place(), "scores", FORWARD);
    let (target, value) = (target(&mut lowering, loss), "loss".to_owned());
    lowering.declare(value.clone(), Rows::Fixed(1), 1, crate::Element::Real, Role::Value);
    let gradient = gradient_of_result(&mut lowering, slope, loss);
    let operation = Operation::Loss { kind, result: result.clone(), target, gradient, value };
    let update = gradients(&mut lowering);
    let statistics = statistics(&mut lowering);
    let switches = |launch: &Launch| match &launch.operation {
        Operation::Evaluate { op, .. } => matches!(op, Op::WhenTraining | Op::Dropout { .. }),
        Operation::SparseProduct { dropout, .. }
        | Operation::SparseProductOverRows { dropout, .. } => dropout.is_some(),
        _ => false,
    };
    let draws = !statistics.is_empty() || lowering.phases.iter().flatten().any(switches);
    let mut phases = std::mem::take(&mut lowering.phases).into_iter();
    let mut next = || phases.next().unwrap_or_default();
    let (prepare, forward, backward) = (next(), next(), next());
    let loss = Launch::unreckoned("loss".to_owned(), operation);
    let body = Body::Train(Train { prepare, forward, loss, backward, update, statistics, draws });
    Ok(lowering.list(
        parameters,
        body,
        vec![ResultColumn { name: "scores".to_owned(), buffer: result, edges: None }],
    ))
}

/// The part in which a value is computed.
struct Phases {
    of: Vec<usize>,
}

impl Phases {
    fn new(gir: &Gir, slope: Option<NodeId>) -> Self {
        let count = gir.nodes.len();
        let (mut moves, mut slopes, mut forward) =
            (vec![false; count], vec![false; count], vec![false; count]);
        for id in gir.ids() {
            let node = gir.node(id);
            let any = |flags: &[bool]| node.inputs.iter().any(|input| flags[input.index()]);
            slopes[id.index()] = Some(id) == slope || any(&slopes);
            moves[id.index()] =
                matches!(node.op, Op::Parameter(_) | Op::Dropout { .. } | Op::WhenTraining)
                    || any(&moves);
        }
        let ends = gir
            .results
            .iter()
            .map(|result| result.node)
            .chain(gir.loss)
            .chain(gir.updates.iter().map(|update| update.1));
        ends.for_each(|end| forward[end.index()] = true);
        mark(gir, slope, &mut forward);
        // A sum over edges that only gradients read is computed in the forward pass, which reads
        // the rows of these edges anyway.
        let edges_of = |id: NodeId| {
            if let Op::Reduce(_, edges) = gir.node(id).op { Some(edges) } else { None }
        };
        let walked: Vec<EdgeSet> = gir
            .ids()
            .filter(|id| forward[id.index()] && moves[id.index()])
            .filter_map(edges_of)
            .collect();
        let early = gir.ids().filter(|id| {
            !slopes[id.index()]
                && moves[id.index()]
                && edges_of(*id).is_some_and(|edges| walked.contains(&edges))
        });
        early.collect::<Vec<_>>().into_iter().for_each(|id| forward[id.index()] = true);
        mark(gir, slope, &mut forward);
        let part = |index: usize| match (slopes[index], moves[index], forward[index]) {
            (true, ..) => BACKWARD,
            (_, false, _) => PREPARE,
            (_, _, true) => FORWARD,
            _ => BACKWARD,
        };
        Phases { of: (0..count).map(part).collect() }
    }

    fn node_phase(&self, id: NodeId) -> usize {
        self.of[id.index()]
    }
}

/// Marks the transitive inputs of marked values.
fn mark(gir: &Gir, slope: Option<NodeId>, marked: &mut [bool]) {
    for id in gir.ids().rev().filter(|id| Some(*id) != slope) {
        if marked[id.index()] {
            gir.node(id).inputs.iter().for_each(|input| marked[input.index()] = true);
        }
    }
}

/// Names the gradients of parameters as the optimiser expects.
fn want_gradients(lowering: &mut Lowering) {
    for gradient in &lowering.gir.gradients {
        let node = lowering.gir.node(gradient.node);
        let Some(name) = parameter_of(lowering.gir, gradient.of) else { continue };
        let is_made = !matches!(
            node.op,
            Op::Constant(_)
                | Op::Parameter(_)
                | Op::Input(_)
                | Op::LossSlope(_)
                | Op::Reshape
                | Op::Detach
                | Op::Expand
        );
        if is_made
            && matches!(node.place, Place::P | Place::C)
            && !lowering.wanted.contains_key(&gradient.node)
        {
            lowering.wanted.insert(gradient.node, (gradient_buffer(name), Role::Gradient));
        }
    }
}

pub(super) fn parameter_of(gir: &Gir, id: NodeId) -> Option<&str> {
    match gir.node(id).op {
        Op::Parameter(index) => Some(&gir.parameters[index].name),
        _ => None,
    }
}

fn hold_slope(lowering: &mut Lowering, id: NodeId) {
    let node = lowering.gir.node(id);
    let name = lowering.buffer_for(
        "slope.result".to_owned(),
        RowType { place: node.place, kind: Type::Real, shape: &node.shape },
        Role::Value,
    );
    lowering.held.insert(id, super::rows(name, &node.shape));
}

fn gradient_of_result(lowering: &mut Lowering, slope: Option<NodeId>, loss: NodeId) -> String {
    let id = slope.unwrap_or_else(|| lowering.gir.node(loss).inputs[0]);
    let node = lowering.gir.node(id);
    lowering.buffer_for(
        "slope.result".to_owned(),
        RowType { place: node.place, kind: Type::Real, shape: &node.shape },
        Role::Value,
    )
}

fn target(lowering: &mut Lowering, loss: NodeId) -> String {
    let id = lowering.gir.node(loss).inputs[1];
    match lowering.read(id, PREPARE) {
        Operand::Rows(Rowed { buffer, .. }) => buffer,
        _ => unreachable!("a target is an input"),
    }
}

/// Copies gradients to their buffers where necessary, fills those of unused parameters with 0, and
/// adds the optimiser steps.
fn gradients(lowering: &mut Lowering) -> Vec<Launch> {
    if lowering.gir.gradients.is_empty() {
        return Vec::new();
    }
    let mut update = Vec::new();
    for (index, parameter) in
        lowering.gir.parameters.iter().enumerate().filter(|(_, parameter)| parameter.learned)
    {
        let wanted = gradient_buffer(&parameter.name);
        let found = lowering
            .gir
            .gradients
            .iter()
            .find(|gradient| lowering.gir.node(gradient.of).op == Op::Parameter(index));
        let operand = found.map_or(Operand::Number(warploom_ir::Number::Real(0.0)), |gradient| {
            lowering.read(gradient.node, BACKWARD)
        });
        let there = matches!(&operand, Operand::Rows(Rowed { buffer, view: View::Own, .. }) if *buffer == wanted);
        if !there {
            lowering.copy(
                operand,
                Op::Detach,
                RowType { place: Place::P, kind: Type::Real, shape: &parameter.shape },
                &wanted,
                BACKWARD,
            );
        }
        let operation = Operation::Optimize { parameter: parameter.name.clone() };
        update.push(Launch::unreckoned(format!("update.{}", parameter.name), operation));
    }
    update
}

fn statistics(lowering: &mut Lowering) -> Vec<Commit> {
    let mut statistics = Vec::new();
    for (index, node) in lowering.gir.updates.clone() {
        let parameter = &lowering.gir.parameters[index];
        let next = lowering.written(node, Place::P, &format!("next.{}", parameter.name), FORWARD);
        debug_assert_eq!(
            rows_of(Place::P, lowering.data, &parameter.shape),
            rows_of(Place::P, lowering.data, &lowering.gir.node(node).shape)
        );
        statistics.push(Commit { state: parameter_buffer(&parameter.name), next });
    }
    statistics
}
