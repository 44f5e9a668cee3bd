//! reverse_edges: rewrites edge values of the backward part for the direction that they are summed
//! in.
//!
//! promises  a sum over out-edges of an expression written for in-edges reads the same rows by
//!           `Far` instead of `Near`, so that it is a gather from vertices: `reduce sum.out (w *
//!           near.in g)` becomes `reduce sum.out (w * far.out g)`; `Turn` is eliminated wherever
//!           its input consists of such views; a sum of what is 0 outside of a relation runs over
//!           that relation; nodes that no gradient needs are removed
//! never     touches the forward part, whose nodes keep their numbers; computes an edge value twice
//!           if it has another user
use std::collections::HashMap;

use warploom_ir::{
    Binary, Builder, Data, Direction, EdgeRows, EdgeSet, Gir, Gradient, Input, Misfit, Node,
    NodeId, NodeResult, Number, Op, Pooling, Reduction, Unary,
};

/// Rebuilds the nodes from `first` on.
pub(super) fn orient(mut gir: Gir, data: &Data, first: usize) -> Result<Gir, Misfit> {
    let uses = uses(&gir);
    let backward = gir.nodes.split_off(first);
    let gradients = std::mem::take(&mut gir.gradients);
    let builder = Builder::resume(gir, data);
    let mut turner = Turner {
        builder,
        old: backward,
        first,
        uses,
        new: (0..first as u32).map(NodeId).collect(),
        turned: HashMap::new(),
        outside: HashMap::new(),
    };
    for index in 0..turner.old.len() {
        let id = NodeId((first + index) as u32);
        let made = if turner.uses[id.index()] == 0 { NodeId(0) } else { turner.rebuild(id)? };
        turner.new.push(made);
    }
    let new = turner.new;
    let mut gir = turner.builder.gir;
    gir.gradients = gradients
        .into_iter()
        .map(|gradient| Gradient { node: new[gradient.node.index()], ..gradient })
        .collect();
    Ok(swept(gir, first))
}

/// The number of live nodes and gradients that read each node.
fn uses(gir: &Gir) -> Vec<u32> {
    let mut uses = vec![0; gir.nodes.len()];
    for root in gir.roots() {
        uses[root.index()] += 1;
    }
    for index in (0..gir.nodes.len()).rev() {
        if uses[index] > 0 {
            for input in &gir.nodes[index].inputs {
                uses[input.index()] += 1;
            }
        }
    }
    uses
}

/// The program without dead nodes from `first` on.
fn swept(mut gir: Gir, first: usize) -> Gir {
    let uses = uses(&gir);
    let mut new: Vec<NodeId> = (0..first as u32).map(NodeId).collect();
    let backward = gir.nodes.split_off(first);
    for (offset, mut node) in backward.into_iter().enumerate() {
        new.push(NodeId(gir.nodes.len() as u32));
        if uses[first + offset] > 0 {
            for input in &mut node.inputs {
                *input = new[input.index()];
            }
            gir.nodes.push(node);
        }
    }
    for gradient in &mut gir.gradients {
        gradient.node = new[gradient.node.index()];
    }
    gir
}

struct Turner<'a> {
    builder: Builder<'a>,
    /// The previous backward part, from `first` on.
    old: Vec<Node>,
    first: usize,
    uses: Vec<u32>,
    /// By old number.
    new: Vec<NodeId>,
    /// Results of `turned`, by old number.
    turned: HashMap<NodeId, NodeId>,
    /// Results of `outside_of`, by old number.
    outside: HashMap<NodeId, Outside>,
}

/// The value of an edge row outside of a relation.
#[derive(Clone, Copy, PartialEq)]
enum Outside {
    /// 0 on all edges.
    Zero,
    /// 0 on all edges but those of this relation.
    ZeroBut(u32),
    /// Anything.
    Any,
}

impl Turner<'_> {
    /// A node of the previous program.
    fn was(&self, id: NodeId) -> Node {
        if id.index() < self.first {
            self.builder.node(id).clone()
        } else {
            self.old[id.index() - self.first].clone()
        }
    }

    /// A node of the backward part, rebuilt with new inputs.
    fn rebuild(&mut self, id: NodeId) -> NodeResult {
        let node = self.was(id);
        self.builder.span = node.span;
        let made = match node.op {
            Op::Reduce(reduction, edges) => {
                let narrow = match self.outside(node.inputs[0]) {
                    Outside::ZeroBut(relation)
                        if reduction == Reduction::Sum && edges.relation.is_none() =>
                    {
                        EdgeSet { relation: Some(relation), ..edges }
                    }
                    _ => edges,
                };
                let (edges, node) =
                    (narrow, Node { op: Op::Reduce(reduction, narrow), ..node.clone() });
                let inputs: Vec<NodeId> = node
                    .inputs
                    .iter()
                    .map(|input| self.rewrite_view(*input, edges))
                    .collect::<Result<_, _>>()?;
                self.remake(&node, &inputs)?
            }
            Op::Turn => self.turned(node.inputs[0])?,
            _ => {
                let inputs: Vec<NodeId> =
                    node.inputs.iter().map(|input| self.new[input.index()]).collect();
                self.remake(&node, &inputs)?
            }
        };
        if made.index() >= self.first && node.name.is_some() {
            self.builder.gir.nodes[made.index()].name = node.name;
        }
        Ok(made)
    }

    fn remake(&mut self, node: &Node, inputs: &[NodeId]) -> NodeResult {
        match &node.op {
            Op::Constant(number) => Ok(self.builder.constant(*number)),
            Op::Reshape | Op::Expand | Op::Scatter { .. } => {
                self.builder.make_shaped(node.op.clone(), inputs, &node.shape)
            }
            Op::Dropout { .. } => self.builder.dropout_at(node.place, &node.op, inputs[0]),
            op => self.builder.make(op.clone(), inputs),
        }
    }

    /// The same rows, as far as edges of this set read them, expressed for it.
    fn rewrite_view(&mut self, id: NodeId, edges: EdgeSet) -> NodeResult {
        let node = self.was(id);
        let first = || self.new[node.inputs[0].index()];
        // Over `Both` the rows contain both directions already.
        let is_turned = |other: EdgeSet| {
            edges.direction != Direction::Both && other.direction == edges.reversed().direction
        };
        match node.op {
            Op::Near(other) if is_turned(other) => {
                let value = first();
                self.builder.make(Op::Far(edges), &[value])
            }
            Op::Far(other) if is_turned(other) => {
                let value = first();
                self.builder.make(Op::Near(edges), &[value])
            }
            Op::Turn => self.rewrite_turned_view(id, edges),
            // A sum over one relation reads no other rows.
            Op::Select
                if edges.relation.is_some()
                    && self.relation_of(node.inputs[0]) == edges.relation =>
            {
                self.rewrite_view(node.inputs[1], edges)
            }
            _ if id.index() >= self.first && self.uses[id.index()] == 1 && is_rowwise(&node.op) => {
                let inputs: Vec<NodeId> = node
                    .inputs
                    .iter()
                    .map(|input| self.rewrite_view(*input, edges))
                    .collect::<Result<_, _>>()?;
                self.remake(&node, &inputs)
            }
            _ => Ok(self.new[id.index()]),
        }
    }

    /// As `rewrite_view`, of a turned value: an edge has the same relation from either end.
    fn rewrite_turned_view(&mut self, turn: NodeId, edges: EdgeSet) -> NodeResult {
        let mut inner = self.was(turn).inputs[0];
        while self.was(inner).op == Op::Select
            && edges.relation.is_some()
            && self.relation_of(self.was(inner).inputs[0]) == edges.relation
        {
            inner = self.was(inner).inputs[1];
        }
        self.turned(inner)
    }

    /// The relation that a condition selects, in the form that the rule of reductions emits.
    fn relation_of(&self, condition: NodeId) -> Option<u32> {
        let node = self.was(condition);
        let &[a, b] = &node.inputs[..] else { return None };
        match (&node.op, self.was(a).op, self.was(b).op) {
            (
                Op::Binary(Binary::Equal),
                Op::Input(Input::EdgeType),
                Op::Constant(Number::Int(number)),
            ) => u32::try_from(number).ok(),
            (Op::Binary(Binary::Less), Op::Constant(Number::Real(0.0)), Op::Others(edges))
                if edges.rows() == EdgeRows::Twice && self.is_one(self.was(b).inputs[0]) =>
            {
                edges.relation
            }
            _ => None,
        }
    }

    /// Whether a value is the constant 1 for every edge.
    fn is_one(&self, id: NodeId) -> bool {
        let node = self.was(id);
        match node.op {
            Op::Constant(number) => number.real() == 1.0,
            Op::Near(_) => self.is_one(node.inputs[0]),
            Op::Select => self.is_one(node.inputs[1]) && self.is_one(node.inputs[2]),
            _ => false,
        }
    }

    fn outside(&mut self, id: NodeId) -> Outside {
        if let Some(known) = self.outside.get(&id) {
            return *known;
        }
        let node = self.was(id);
        let found = self.outside_of(&node);
        self.outside.insert(id, found);
        found
    }

    /// Operations that map 0 to 0. If one factor is infinite where the other is 0, that edge is
    /// masked.
    fn outside_of(&mut self, node: &Node) -> Outside {
        let each: Vec<Outside> = match node.op {
            Op::Constant(number) => {
                return if number.real() == 0.0 { Outside::Zero } else { Outside::Any };
            }
            Op::Unary(Unary::Negative)
            | Op::Axis(Pooling::Sum, _)
            | Op::Reshape
            | Op::Expand
            | Op::Slice { .. }
            | Op::Unslice { .. }
            | Op::Turn
            | Op::Dropout { .. } => {
                return self.outside(node.inputs[0]);
            }
            Op::Binary(Binary::Divide) | Op::Product { .. } => return self.outside(node.inputs[0]),
            Op::Binary(Binary::Multiply) => {
                return match (self.outside(node.inputs[0]), self.outside(node.inputs[1])) {
                    (Outside::Any, other) | (other, _) => other,
                };
            }
            Op::Select => match (self.relation_of(node.inputs[0]), self.outside(node.inputs[2])) {
                (Some(relation), Outside::Zero) => return Outside::ZeroBut(relation),
                _ => node.inputs[1..].iter().map(|input| self.outside(*input)).collect(),
            },
            Op::Binary(Binary::Add | Binary::Subtract) | Op::Concat(_) => {
                node.inputs.iter().map(|input| self.outside(*input)).collect()
            }
            _ => return Outside::Any,
        };
        each.into_iter().fold(Outside::Zero, |sum, next| match (sum, next) {
            (Outside::Zero, other) | (other, Outside::Zero) => other,
            (first, second) if first == second => first,
            _ => Outside::Any,
        })
    }

    /// The rows of in-edges and out-edges exchanged: near becomes far, and element-wise operations
    /// act on exchanged operands. Only operations that depend on a vertex's other edges are
    /// exchanged as a whole.
    fn turned(&mut self, id: NodeId) -> NodeResult {
        if let Some(known) = self.turned.get(&id) {
            return Ok(*known);
        }
        let node = self.was(id);
        let made = match node.op {
            _ if node.place.edge_rows().is_none() => self.new[id.index()],
            Op::Near(edges) => {
                self.builder.make(Op::Far(edges), &[self.new[node.inputs[0].index()]])?
            }
            Op::Far(edges) => {
                self.builder.make(Op::Near(edges), &[self.new[node.inputs[0].index()]])?
            }
            Op::Turn => self.new[node.inputs[0].index()],
            _ if is_rowwise(&node.op) => {
                let inputs: Vec<NodeId> = node
                    .inputs
                    .iter()
                    .map(|input| self.turned(*input))
                    .collect::<Result<_, _>>()?;
                self.remake(&node, &inputs)?
            }
            _ => self.builder.make(Op::Turn, &[self.new[id.index()]])?,
        };
        self.turned.insert(id, made);
        Ok(made)
    }
}

/// Whether a row of the result depends on the same row of the inputs alone, at little cost.
fn is_rowwise(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Select
            | Op::Cast(_)
            | Op::Detach
            | Op::WhenTraining
            | Op::Axis(..)
            | Op::Reshape
            | Op::Expand
            | Op::Concat(_)
            | Op::Slice { .. }
            | Op::Unslice { .. }
    )
}
