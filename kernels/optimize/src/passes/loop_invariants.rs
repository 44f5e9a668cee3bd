//! loop_invariants: moves loop-invariant values before the loop; and tells for all values how often
//! they are computed.
//!
//! reason    a loop's degrees, scales and weighted features are the same in every superstep; a
//!           training run's sums of the features are the same in every epoch
//! keeps     every value, bit for bit
//! never     moves a value across a dropout, whose draw is the epoch's
//!
//! `Builder` does the moving: a value of a loop whose inputs are all outside of it is created
//! outside. Other passes may remove the last dependency of a value on its loop, so the program is
//! rebuilt once more here, at the end.
use super::{Choice, rebuild::rebuild};
use warploom_ir::{Data, Gir, NodeId, Op, StopTest};

/// How often a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ComputePhase {
    /// Once per run: it depends on no parameter, dropout or training flag.
    Once,
    /// In each forward pass. Also a sum over edges that only gradients read, if it does not depend
    /// on the loss: the forward pass reads the rows anyway.
    Forward,
    /// In each backward pass: only gradients read it.
    Backward,
    /// In each superstep of this loop.
    Superstep(usize),
}

/// The program without loop-invariant values in loops.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |_, _| Ok(None))
}

/// For each node, how often it is computed. A value that is computed once is stored while it has
/// readers.
pub fn phases(gir: &Gir) -> Vec<ComputePhase> {
    let constant = constant_in_a_run(gir);
    let after_loss = depends_on_loss(gir);
    let forward = read_going_forward(gir, &after_loss);
    let phase = |id: NodeId| match gir.node(id).region {
        Some(number) => ComputePhase::Superstep(number),
        None if constant[id.index()] => ComputePhase::Once,
        None if forward[id.index()] => ComputePhase::Forward,
        None => ComputePhase::Backward,
    };
    gir.ids().map(phase).collect()
}

/// For each node, whether it is the same in every epoch.
pub(super) fn constant_in_a_run(gir: &Gir) -> Vec<bool> {
    // A loop is assumed constant until one of its initial or read values turns out to change.
    let mut changing = vec![false; gir.loops.len()];
    loop {
        let mut constant = vec![true; gir.nodes.len()];
        for id in gir.ids() {
            let node = gir.node(id);
            let changes = match node.op {
                Op::Parameter(_) | Op::Dropout { .. } | Op::WhenTraining => true,
                Op::Ended(number, _) => changing[number],
                Op::State(_) => node.region.is_some_and(|number| changing[number]),
                _ => false,
            };
            constant[id.index()] =
                !changes && node.inputs.iter().all(|input| constant[input.index()]);
        }
        let before = changing.clone();
        for (number, repeated) in gir.loops.iter().enumerate() {
            let tested =
                if let StopTest::Nowhere(node) = repeated.until { Some(node) } else { None };
            let mut reads =
                repeated.states.iter().flat_map(|state| [state.first, state.next]).chain(tested);
            changing[number] |= reads.any(|id| !constant[id.index()]);
        }
        if changing == before {
            return constant;
        }
    }
}

/// For each node, whether it depends on the gradient of the loss: a gradient, or part of one.
pub(super) fn depends_on_loss(gir: &Gir) -> Vec<bool> {
    let mut depends = vec![false; gir.nodes.len()];
    for id in gir.ids() {
        let node = gir.node(id);
        depends[id.index()] = matches!(node.op, Op::LossSlope(_))
            || node.inputs.iter().any(|input| depends[input.index()]);
    }
    depends
}

fn read_going_forward(gir: &Gir, after_loss: &[bool]) -> Vec<bool> {
    let mut read = vec![false; gir.nodes.len()];
    let mut waiting: Vec<NodeId> =
        gir.results.iter().map(|result| result.node).chain(gir.loss).collect();
    waiting.extend(gir.updates.iter().map(|update| update.1));
    waiting.extend(
        gir.loops.iter().flat_map(|repeated| {
            repeated.states.iter().flat_map(|state| [state.first, state.next])
        }),
    );
    waiting.extend(
        gir.ids()
            .filter(|id| matches!(gir.node(*id).op, Op::Reduce(..)) && !after_loss[id.index()]),
    );
    waiting.extend(gir.ids().filter(|id| matches!(gir.node(*id).op, Op::Ended(..))));
    while let Some(id) = waiting.pop() {
        if !std::mem::replace(&mut read[id.index()], true) {
            waiting.extend(&gir.node(id).inputs);
        }
    }
    read
}
