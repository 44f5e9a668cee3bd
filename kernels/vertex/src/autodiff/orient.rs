//! orient: turns edge values of the backward part round, to the direction that they are summed in.
//!
//! promises  a sum over out-edges of what was written for in-edges reads the same rows by `Far` instead of `Near`, so that it is a gather
//!           from vertices: `reduce sum.out (w * near.in g)` becomes `reduce sum.out (w * far.out g)`; `Turn` is gone wherever what it turns is
//!           made of such views; nodes that no gradient needs are gone
//! never     touches the forward part, whose nodes keep their numbers; computes an edge value a second time that has another user
use std::collections::HashMap;

use crate::gir::{Binary, Builder, Data, EdgeSet, Gir, Gradient, Input, Made, Misfit, Node, NodeId, Number, Op};

/// Rebuilds the nodes from `first` on.
pub(super) fn orient(mut gir: Gir, data: &Data, first: usize) -> Result<Gir, Misfit> {
    let uses = uses(&gir);
    let backward = gir.nodes.split_off(first);
    let gradients = std::mem::take(&mut gir.gradients);
    let builder = Builder::resume(gir, data);
    let mut turner = Turner { builder, old: backward, first, uses, new: (0..first as u32).map(NodeId).collect(), turned: HashMap::new() };
    for index in 0..turner.old.len() {
        let id = NodeId((first + index) as u32);
        let made = if turner.uses[id.index()] == 0 { NodeId(0) } else { turner.again(id)? };
        turner.new.push(made);
    }
    let new = turner.new;
    let mut gir = turner.builder.gir;
    gir.gradients = gradients.into_iter().map(|gradient| Gradient { node: new[gradient.node.index()], ..gradient }).collect();
    Ok(swept(gir, first))
}

/// How many live nodes and gradients read each node.
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

/// The program without the nodes from `first` on that nothing needs.
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
    /// The backward part as it was, from `first` on.
    old: Vec<Node>,
    first: usize,
    uses: Vec<u32>,
    /// By old number.
    new: Vec<NodeId>,
    /// What `turned` made, by old number.
    turned: HashMap<NodeId, NodeId>,
}

impl Turner<'_> {
    /// A node of the program as it was.
    fn was(&self, id: NodeId) -> Node {
        if id.index() < self.first { self.builder.node(id).clone() } else { self.old[id.index() - self.first].clone() }
    }

    /// A node of the backward part, made again of new inputs.
    fn again(&mut self, id: NodeId) -> Made {
        let node = self.was(id);
        self.builder.span = node.span;
        let made = match node.op {
            Op::Reduce(_, edges) => {
                let inputs: Vec<NodeId> = node.inputs.iter().map(|input| self.seen(*input, edges)).collect::<Result<_, _>>()?;
                self.remake(&node, &inputs)?
            }
            Op::Turn => self.turned(node.inputs[0])?,
            _ => {
                let inputs: Vec<NodeId> = node.inputs.iter().map(|input| self.new[input.index()]).collect();
                self.remake(&node, &inputs)?
            }
        };
        if made.index() >= self.first && node.name.is_some() {
            self.builder.gir.nodes[made.index()].name = node.name;
        }
        Ok(made)
    }

    fn remake(&mut self, node: &Node, inputs: &[NodeId]) -> Made {
        match &node.op {
            Op::Constant(number) => Ok(self.builder.constant(*number)),
            Op::Reshape | Op::Expand | Op::Scatter { .. } => self.builder.make_shaped(node.op.clone(), inputs, &node.shape),
            op => self.builder.make(op.clone(), inputs),
        }
    }

    /// The same rows as far as edges of this set read them, written for it.
    fn seen(&mut self, id: NodeId, edges: EdgeSet) -> Made {
        let node = self.was(id);
        let first = || self.new[node.inputs[0].index()];
        match node.op {
            // Over `Both` the two directions are in the rows already.
            Op::Near(other) if other == edges.reversed() && other != edges => {
                let value = first();
                self.builder.make(Op::Far(edges), &[value])
            }
            Op::Far(other) if other == edges.reversed() && other != edges => {
                let value = first();
                self.builder.make(Op::Near(edges), &[value])
            }
            // A sum over one relation reads no other rows.
            Op::Select if edges.relation.is_some() && self.is_of_relation(node.inputs[0], edges) => self.seen(node.inputs[1], edges),
            _ if id.index() >= self.first && self.uses[id.index()] == 1 && is_rowwise(&node.op) => {
                let inputs: Vec<NodeId> = node.inputs.iter().map(|input| self.seen(*input, edges)).collect::<Result<_, _>>()?;
                self.remake(&node, &inputs)
            }
            _ => Ok(self.new[id.index()]),
        }
    }

    /// Whether a condition says that an edge is of this set's relation.
    fn is_of_relation(&self, condition: NodeId, edges: EdgeSet) -> bool {
        let node = self.was(condition);
        let (Op::Binary(Binary::Equal), &[kind, number]) = (&node.op, &node.inputs[..]) else { return false };
        let relation = edges.relation.map(|relation| Op::Constant(Number::Int(i64::from(relation))));
        self.was(kind).op == Op::Input(Input::EdgeType) && Some(self.was(number).op) == relation
    }

    /// Rows of in-edges and of out-edges in each other's place: what is near is far, element-wise work is done on turned values. Only what
    /// depends on a vertex's other edges is turned as a whole.
    fn turned(&mut self, id: NodeId) -> Made {
        if let Some(known) = self.turned.get(&id) {
            return Ok(*known);
        }
        let node = self.was(id);
        let made = match node.op {
            _ if node.place.edge_rows().is_none() => self.new[id.index()],
            Op::Near(edges) => self.builder.make(Op::Far(edges), &[self.new[node.inputs[0].index()]])?,
            Op::Far(edges) => self.builder.make(Op::Near(edges), &[self.new[node.inputs[0].index()]])?,
            Op::Turn => self.new[node.inputs[0].index()],
            _ if is_rowwise(&node.op) => {
                let inputs: Vec<NodeId> = node.inputs.iter().map(|input| self.turned(*input)).collect::<Result<_, _>>()?;
                self.remake(&node, &inputs)?
            }
            _ => self.builder.make(Op::Turn, &[self.new[id.index()]])?,
        };
        self.turned.insert(id, made);
        Ok(made)
    }
}

/// Whether a row of the result follows from the same row of the inputs alone, at little cost.
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
