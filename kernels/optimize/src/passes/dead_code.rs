//! dead_code: removes values that nothing reads.
//!
//! reason    code that a setting disabled, leftovers of other passes, and unused gradients cost
//!           time and memory
//! keeps     everything that results, loss, gradients, updates and the loops before them read, bit
//!           for bit; the order of the rest; every parameter with its name and position, even if
//!           unused: names belong to the user, and a saved model has them all
//!
//! A loop whose end nothing reads is removed as a whole, even if it might not terminate; a loop
//! that is read keeps all of its states, because its `until` may test each.
use super::{Choice, rebuild::rebuild};
use warploom_ir::{Data, Gir, NodeId, Op, StopTest};

/// The program without dead values.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    let live = live(&gir);
    rebuild(&gir, data, Some(&live), &mut |_, _| Ok(None))
}

/// For each node, whether it is live.
pub(super) fn live(gir: &Gir) -> Vec<bool> {
    let mut live = vec![false; gir.nodes.len()];
    let mut loops = vec![false; gir.loops.len()];
    let mut waiting: Vec<NodeId> =
        gir.results.iter().map(|result| result.node).chain(gir.loss).collect();
    waiting.extend(gir.gradients.iter().flat_map(|gradient| [gradient.of, gradient.node]));
    waiting.extend(gir.updates.iter().map(|update| update.1));
    while let Some(id) = waiting.pop() {
        if std::mem::replace(&mut live[id.index()], true) {
            continue;
        }
        let node = gir.node(id);
        waiting.extend(&node.inputs);
        let number = if let Op::Ended(number, _) = node.op { Some(number) } else { node.region };
        if let Some(number) = number.filter(|number| !std::mem::replace(&mut loops[*number], true))
        {
            let repeated = &gir.loops[number];
            waiting.extend(
                repeated.states.iter().flat_map(|state| [state.first, state.inside, state.next]),
            );
            waiting.extend(
                gir.ids().filter(|id| matches!(gir.node(*id).op, Op::Ended(of, _) if of == number)),
            );
            if let StopTest::Nowhere(node) = repeated.until {
                waiting.push(node);
            }
        }
    }
    live
}
