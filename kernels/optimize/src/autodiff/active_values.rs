//! active_values: which values carry a gradient, and which values between leaf and loss have none.
//!
//! promises  a value carries a gradient if it is a float and depends on a leaf through floats
//!           alone; `mode`, `hindex`, `fold` and loops between a leaf and the loss are refused, not
//!           skipped
//! never     adds nodes
use warploom_ir::{Gir, NodeId, Op, Property, Reduction, Type};

use super::Refusal;

/// By node: whether it carries a gradient.
pub(super) struct Active {
    carries: Vec<bool>,
}

impl Active {
    /// For gradients of `loss` by these leaves.
    pub(super) fn new(gir: &Gir, by: &[NodeId], loss: NodeId) -> Result<Active, Refusal> {
        let depends = depends(gir, by);
        let wanted = ancestors(gir, loss);
        for id in gir.ids().filter(|id| depends[id.index()] && wanted[id.index()]) {
            refused(gir, id)
                .map_or(Ok(()), |refusal| Err(refusal.with_location(id, gir.node(id).span)))?;
        }
        let mut carries = vec![false; gir.nodes.len()];
        for id in gir.ids() {
            let node = gir.node(id);
            let through = match node.op {
                Op::Detach => false,
                Op::Unary(operator) if operator.has(Property::Flat) => false,
                Op::WhenTraining => carries[node.inputs[0].index()],
                _ => node.inputs.iter().any(|input| carries[input.index()]),
            };
            carries[id.index()] = node.kind == Type::Real && (through || by.contains(&id));
        }
        Ok(Active { carries })
    }

    /// Whether this node carries a gradient; nodes that the walk added carry none.
    pub(super) fn carries(&self, id: NodeId) -> bool {
        self.carries.get(id.index()).copied().unwrap_or(false)
    }
}

/// Which nodes depend on a leaf at all, integers and loops included; not through `Detach`.
fn depends(gir: &Gir, by: &[NodeId]) -> Vec<bool> {
    let mut depends = vec![false; gir.nodes.len()];
    // A state depends on its next value, which has a higher number: repeated until nothing is
    // added.
    loop {
        let mut grown = false;
        for id in gir.ids() {
            let node = gir.node(id);
            let state = match node.op {
                Op::State(position) => node.region.map(|region| (region, position)),
                Op::Ended(number, position) => Some((number, position)),
                _ => None,
            };
            let through = state.is_some_and(|(number, position)| {
                let state = &gir.loops[number].states[position];
                depends[state.first.index()] || depends[state.next.index()]
            });
            let direct = !matches!(node.op, Op::Detach)
                && node.inputs.iter().any(|input| depends[input.index()]);
            if !depends[id.index()] && (through || direct || by.contains(&id)) {
                (depends[id.index()], grown) = (true, true);
            }
        }
        if !grown {
            return depends;
        }
    }
}

/// The nodes that this one is computed from; values of a loop through its end.
fn ancestors(gir: &Gir, of: NodeId) -> Vec<bool> {
    let mut found = vec![false; gir.nodes.len()];
    let mut open = vec![of];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut found[id.index()], true) {
            continue;
        }
        let node = gir.node(id);
        open.extend(node.inputs.iter().copied().filter(|_| !matches!(node.op, Op::Detach)));
        if let Op::Ended(number, position) = node.op {
            let state = &gir.loops[number].states[position];
            open.extend([state.first, state.next]);
        }
    }
    found
}

fn refused(gir: &Gir, id: NodeId) -> Option<Refusal> {
    let node = gir.node(id);
    let (what, hint) = match &node.op {
        Op::Ended(..) | Op::State(_) => (
            "no gradient goes through `while`",
            "a `for` over `range(n)` has one; so has a value that is computed before the loop",
        ),
        Op::Fold(..) => (
            "no gradient goes through `fold`",
            "`sum`, `prod`, `min` and `max` over edges have one",
        ),
        Op::Reduce(Reduction::Mode, _) => {
            ("no gradient goes through `mode`", "`max`, `min` and `mean` have one")
        }
        Op::Reduce(Reduction::HIndex, _) => {
            ("no gradient goes through `hindex`", "`sum`, `max` and `mean` have one")
        }
        Op::Winner(..) | Op::Others(_) | Op::LossSlope(_) => {
            ("no second gradient is taken", "differentiate a program once")
        }
        _ => return None,
    };
    Some(Refusal::new(what, hint))
}
