//! uses: the users of each value, and what they allow.
//!
//! promises  only users that lead to a result, a loss, a gradient, a statistic or a loop count
use warploom_ir::{
    Binary, Data, Gir, Input, Node, NodeId, Op, Place, Pooling, Reduction, broadcast,
};

/// Users of each value.
pub(super) struct Uses {
    /// Whether a value is needed.
    pub live: Vec<bool>,
    users: Vec<Vec<NodeId>>,
    roots: Vec<bool>,
    sparse: bool,
}

/// Maximum factors of a product that is computed where it is summed.
const FACTORS_MAX: usize = 3;

impl Uses {
    pub fn new(gir: &Gir, data: &Data) -> Self {
        let count = gir.nodes.len();
        let (mut live, mut roots) = (vec![false; count], vec![false; count]);
        for root in gir.roots() {
            (live[root.index()], roots[root.index()]) = (true, true);
        }
        let mut users = vec![Vec::new(); count];
        for id in gir.ids().rev().filter(|id| data.training || !is_training_only(&gir.node(*id).op))
        {
            if !live[id.index()] {
                continue;
            }
            for input in inputs(gir, id) {
                live[input.index()] = true;
                users[input.index()].push(id);
            }
        }
        Uses {
            live,
            users,
            roots,
            sparse: data.sparse_features.is_some()
                || data.kinds.iter().any(|kind| kind.sparse_features.is_some()),
        }
    }

    /// Whether a value is dropout of the sparse features and only multiplied with weights.
    pub fn is_sparse_only(&self, id: NodeId) -> bool {
        self.sparse && !self.roots[id.index()]
    }

    /// Whether every user of a broadcast row would broadcast it itself.
    pub fn is_broadcast(&self, gir: &Gir, id: NodeId) -> bool {
        let small = &gir.node(gir.node(id).inputs[0]).shape;
        let repeats = |user: &NodeId| {
            let node = gir.node(*user);
            let other = node
                .inputs
                .iter()
                .map(|other| gir.node(*other))
                .find(|other| !matches!(other.op, Op::Expand))
                .map(|other| &other.shape);
            matches!(node.op, Op::Binary(_))
                && other.and_then(|other| broadcast(small, other)).as_ref() == Some(&node.shape)
                && other == Some(&node.shape)
        };
        !self.roots[id.index()] && self.users[id.index()].iter().all(repeats)
    }

    /// Whether an edge product is only summed, over edges or along an axis, as often as it would be
    /// computed.
    pub fn is_only_summed(&self, gir: &Gir, id: NodeId) -> bool {
        let node = gir.node(id);
        let summed = |user: &NodeId| {
            let by = gir.node(*user);
            by.region == node.region
                && match by.op {
                    Op::Reduce(Reduction::Sum, _) => {
                        by.inputs[0] == id && by.inputs.get(1) != Some(&id)
                    }
                    Op::Axis(Pooling::Sum, _) => true,
                    _ => false,
                }
        };
        let of_edges =
            matches!(node.place, Place::S(_) | Place::E(_)) && node.kind == warploom_ir::Type::Real;
        of_edges
            && !self.roots[id.index()]
            && self.users[id.index()].iter().all(summed)
            && factors(gir, id) <= FACTORS_MAX
    }
}

/// The number of factors of a product, if those of its inputs are inlined too.
fn factors(gir: &Gir, id: NodeId) -> usize {
    let node = gir.node(id);
    match node.op {
        Op::Binary(Binary::Multiply) => node.inputs.iter().map(|input| factors(gir, *input)).sum(),
        _ => 1,
    }
}

fn is_training_only(op: &Op) -> bool {
    matches!(op, Op::Loss(_) | Op::LossSlope(_) | Op::Input(Input::Target))
}

/// The value that a select between equal values copies. A broadcast from graphs to vertices is more
/// than a copy.
pub fn copied(gir: &Gir, node: &Node) -> Option<NodeId> {
    let equal = node.op == Op::Select && node.inputs[1] == node.inputs[2];
    (equal
        && (gir.node(node.inputs[1]).place == node.place
            || gir.node(node.inputs[1]).place != Place::G))
        .then(|| node.inputs[1])
}

/// The actual inputs of a value.
fn inputs(gir: &Gir, id: NodeId) -> Vec<NodeId> {
    let node = gir.node(id);
    copied(gir, node).map_or_else(|| node.inputs.clone(), |copied| vec![copied])
}
