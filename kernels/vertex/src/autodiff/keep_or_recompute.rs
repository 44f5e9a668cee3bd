//! keep_or_recompute: which forward values the backward part keeps, and which it computes again.
//!
//! promises  a value is computed again only by element-wise work and views, of values that are
//!           there anyway or are kept instead, and only when that reads at most as many bytes as
//!           keeping the value holds; says why for each
//! never     computes reductions, products or tables again; changes a result: the same operations
//!           run on the same values, dropout draws by its counter
//!
//! The backward part is what gradients need and results, loss, updates and loops do not. A value
//! computed again is a copy of its nodes, before their first reader in the backward part, so that
//! the forward value ends with its last forward reader. The copies equal their originals: a pass
//! that makes equal nodes one would undo this, so that `remember` comes after all of them.
use std::collections::{BTreeMap, BTreeSet};

use crate::gir::{Data, EdgeRows, Gir, Node, NodeId, Op, Place, Type, Until};

/// What was decided of a forward value that the backward part reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The forward node, in the program that comes with this.
    pub node: NodeId,
    /// Its name in the program, or its operation.
    pub what: String,
    /// Whether it is kept; else it is computed again.
    pub saved: bool,
    /// Bytes that keeping it holds from its forward to its backward use.
    pub bytes: u64,
    /// Bytes that computing it again reads; what has to be kept for that alone counts twice. None:
    /// it is not of a kind that is.
    pub read_again: Option<u64>,
}

/// Decides for each forward value that the backward part reads, and gives the program in which the
/// latter computes its own copies.
pub fn remember(gir: Gir, data: &Data) -> (Gir, Vec<Remembered>) {
    let backward = backward(&gir);
    if !backward.contains(&true) {
        return (gir, Vec::new());
    }
    let (plan, mut reasons) = plan(&gir, data, &backward);
    let (gir, new) = copied(gir, &backward, plan);
    for reason in &mut reasons {
        reason.node = new[reason.node.index()];
    }
    (gir, reasons)
}

/// By node: whether gradients alone need it.
fn backward(gir: &Gir) -> Vec<bool> {
    let of = |roots: Vec<NodeId>| {
        let mut found = vec![false; gir.nodes.len()];
        for root in roots {
            found[root.index()] = true;
        }
        for index in (0..gir.nodes.len()).rev() {
            if found[index] {
                gir.nodes[index].inputs.iter().for_each(|input| found[input.index()] = true);
            }
        }
        found
    };
    let forward = of(Gir { gradients: Vec::new(), ..gir.clone() }.roots());
    let wanted = of(gir.gradients.iter().map(|gradient| gradient.node).collect());
    wanted.into_iter().zip(forward).map(|(wanted, forward)| wanted && !forward).collect()
}

/// What is to be done.
struct Plan {
    /// Forward values that are computed again.
    again: BTreeSet<NodeId>,
    /// Forward values that are there in the backward part, but for leaves.
    kept: BTreeSet<NodeId>,
}

/// Decides in the order of the program, so that what a value is made of is decided before it.
fn plan(gir: &Gir, data: &Data, backward: &[bool]) -> (Plan, Vec<Remembered>) {
    let read: BTreeSet<NodeId> = gir
        .ids()
        .filter(|id| backward[id.index()])
        .flat_map(|id| gir.node(id).inputs.clone())
        .filter(|id| !backward[id.index()])
        .collect();
    // What is kept whatever is decided: leaves, and values that are never computed again.
    let mut kept: BTreeSet<NodeId> =
        read.iter().copied().filter(|id| !is_repeatable(gir.node(*id))).collect();
    let (mut again, mut reasons) = (BTreeSet::new(), Vec::new());
    for &id in read.iter().filter(|id| !is_leaf(&gir.node(**id).op)) {
        let node = gir.node(id);
        let held = bytes(node, node.place, data);
        let cost = is_repeatable(node).then(|| cost(gir, data, id, &kept));
        let saved = cost.as_ref().is_none_or(|(cost, _)| *cost > held);
        if saved {
            kept.insert(id);
        } else {
            again.insert(id);
            kept.extend(cost.iter().flat_map(|(_, bases)| bases.iter().copied()));
        }
        let what = node.name.clone().unwrap_or_else(|| gir.operation(node));
        reasons.push(Remembered {
            node: id,
            what,
            saved,
            bytes: held,
            read_again: cost.map(|(cost, _)| cost),
        });
    }
    (Plan { again, kept }, reasons)
}

/// Bytes read to compute a value again, and of which values.
fn cost(gir: &Gir, data: &Data, id: NodeId, kept: &BTreeSet<NodeId>) -> (u64, BTreeSet<NodeId>) {
    let mut read: BTreeMap<NodeId, u64> = BTreeMap::new();
    let mut open: Vec<(NodeId, Place)> =
        gir.node(id).inputs.iter().map(|input| (*input, gir.node(id).place)).collect();
    let mut done = BTreeSet::new();
    while let Some((id, place)) = open.pop() {
        if !done.insert(id) {
            continue;
        }
        let node = gir.node(id);
        if is_repeatable(node) && !kept.contains(&id) {
            open.extend(node.inputs.iter().map(|input| (*input, node.place)));
        } else {
            // Through a view, no more rows are read than there are edges.
            let rows = if rows(place, data) < rows(node.place, data) { place } else { node.place };
            let once = bytes(node, rows, data);
            let is_there = is_leaf(&node.op) || kept.contains(&id);
            read.insert(
                id,
                if is_there { once } else { once.saturating_add(bytes(node, node.place, data)) },
            );
        }
    }
    let sum = read.values().fold(0u64, |sum, bytes| sum.saturating_add(*bytes));
    (sum, read.into_keys().collect())
}

/// The program with the backward part behind the rest, and copies before their first reader there;
/// and the new number of each node.
fn copied(gir: Gir, backward: &[bool], plan: Plan) -> (Gir, Vec<NodeId>) {
    let mut new = vec![NodeId(0); gir.nodes.len()];
    let mut nodes: Vec<Node> = Vec::new();
    for id in gir.ids().filter(|id| !backward[id.index()]) {
        new[id.index()] = push(&mut nodes, gir.node(id), |input| new[input.index()]);
    }
    let mut copies = Copies { gir: &gir, plan, made: BTreeMap::new() };
    for id in gir.ids().filter(|id| backward[id.index()]) {
        let node = gir.node(id);
        let inputs: Vec<NodeId> = node
            .inputs
            .iter()
            .map(|input| {
                if copies.plan.again.contains(input) {
                    copies.copy(&mut nodes, &new, *input)
                } else {
                    new[input.index()]
                }
            })
            .collect();
        let mut inputs = inputs.into_iter();
        new[id.index()] = push(&mut nodes, node, |input| inputs.next().unwrap_or(input));
    }
    let moved = renumbered(Gir { nodes, ..gir }, &new);
    (moved, new)
}

fn push(nodes: &mut Vec<Node>, node: &Node, input: impl FnMut(NodeId) -> NodeId) -> NodeId {
    let id = NodeId(nodes.len() as u32);
    nodes.push(Node { inputs: node.inputs.iter().copied().map(input).collect(), ..node.clone() });
    id
}

/// The copies made so far, by the forward node that they are of.
struct Copies<'a> {
    gir: &'a Gir,
    plan: Plan,
    made: BTreeMap<NodeId, NodeId>,
}

impl Copies<'_> {
    fn copy(&mut self, nodes: &mut Vec<Node>, new: &[NodeId], id: NodeId) -> NodeId {
        if let Some(made) = self.made.get(&id) {
            return *made;
        }
        let node = self.gir.node(id);
        let inputs: Vec<NodeId> = node
            .inputs
            .iter()
            .map(|input| {
                if is_repeatable(self.gir.node(*input)) && !self.plan.kept.contains(input) {
                    self.copy(nodes, new, *input)
                } else {
                    new[input.index()]
                }
            })
            .collect();
        let mut inputs = inputs.into_iter();
        let made = push(nodes, node, |input| inputs.next().unwrap_or(input));
        self.made.insert(id, made);
        made
    }
}

fn renumbered(gir: Gir, new: &[NodeId]) -> Gir {
    let Gir {
        program,
        nodes,
        parameters,
        mut loops,
        mut results,
        loss,
        mut gradients,
        mut updates,
    } = gir;
    let at = |id: NodeId| new[id.index()];
    for repeated in &mut loops {
        for state in &mut repeated.states {
            (state.first, state.inside, state.next) =
                (at(state.first), at(state.inside), at(state.next));
        }
        if let Until::Nowhere(node) = &mut repeated.until {
            *node = at(*node);
        }
    }
    results.iter_mut().for_each(|result| result.node = at(result.node));
    gradients
        .iter_mut()
        .for_each(|gradient| (gradient.of, gradient.node) = (at(gradient.of), at(gradient.node)));
    updates.iter_mut().for_each(|update| update.1 = at(update.1));
    Gir { program, nodes, parameters, loops, results, loss: loss.map(at), gradients, updates }
}

fn is_leaf(op: &Op) -> bool {
    matches!(op, Op::Constant(_) | Op::Input(_) | Op::Parameter(_))
}

/// Whether a value may be computed again: row by row, and once for all.
fn is_repeatable(node: &Node) -> bool {
    let rowwise = matches!(
        node.op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Select
            | Op::Cast(_)
            | Op::Dropout { .. }
            | Op::Detach
            | Op::WhenTraining
            | Op::Far(_)
            | Op::Near(_)
            | Op::Give
            | Op::Expand
            | Op::Reshape
    );
    rowwise && node.region.is_none()
}

fn rows(place: Place, data: &Data) -> u64 {
    match place {
        Place::C => 0,
        Place::P => 1,
        Place::G => data.graphs,
        Place::D => data.nodes,
        Place::S(EdgeRows::Once) | Place::E(EdgeRows::Once) => data.edges,
        Place::S(EdgeRows::Twice) | Place::E(EdgeRows::Twice) => data.edges.saturating_mul(2),
    }
}

/// Bytes of a value with the rows of this place. What is known when compiled costs nothing.
fn bytes(node: &Node, place: Place, data: &Data) -> u64 {
    let element = match node.kind {
        Type::Bool => 1,
        Type::Id => 4,
        Type::Int => 8,
        Type::Real => data.bytes_per_real,
    };
    rows(place, data).saturating_mul(node.columns()).saturating_mul(element)
}
