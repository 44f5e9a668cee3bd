//! autodiff: reverse-mode gradients of a program's loss, added as nodes of the same program; after
//! Seastar (Wu et al., EuroSys 2021, 6.2).
//!
//! promises  existing nodes keep their numbers, gradient nodes follow them; a value used several
//!           times gets one sum, computed once all its users are done; sums over edges run along
//!           the reversed edges, so that they materialise no gradient of a vertex value per edge;
//!           values that a select, a mask or a `min` leaves out get a gradient of exactly 0
//! never     differentiates integers (their gradient is 0), loops, `fold`, `mode` or `hindex`
//!           (refused); computes second derivatives
//!
//! `rules` has one file per family of operations; `active_values` finds the values that carry a
//! gradient, `zero_times_infinity` where a 0 meets an infinity, and `reverse_edges` rewrites edge
//! values for the direction that they are summed in.
mod active_values;
mod reverse_edges;
mod rules;
mod zero_times_infinity;

use std::fmt;

use warploom_ir::{
    Binary, Builder, Data, EdgeRows, EdgeSet, Gir, Gradient, Input, Misfit, NodeId, NodeResult, Op,
    Place, Pooling, Span, Type,
};

use active_values::Active;
use zero_times_infinity::Finite;

/// Why a program has no gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The node; none: the program as a whole.
    pub node: Option<NodeId>,
    /// Its place in the text.
    pub span: Span,
    /// What has no gradient.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Refusal {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { node: None, span: Span::default(), what: what.into(), hint: Some(hint.into()) }
    }

    fn with_location(self, node: NodeId, span: Span) -> Refusal {
        Refusal { node: Some(node), span, ..self }
    }
}

impl From<Misfit> for Refusal {
    fn from(misfit: Misfit) -> Refusal {
        Refusal {
            node: None,
            span: Span::default(),
            what: format!("a gradient does not fit: {misfit}"),
            hint: misfit.hint,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)
    }
}

impl std::error::Error for Refusal {}

/// The learned parameters of a program, in order.
pub fn parameters(gir: &Gir) -> Vec<NodeId> {
    let mut found: Vec<(usize, NodeId)> = Vec::new();
    for id in gir.ids() {
        if let Op::Parameter(index) = gir.node(id).op
            && gir.parameters[index].learned
        {
            found.push((index, id));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, id)| id).collect()
}

/// Adds the gradients of the loss with respect to these leaves (parameters, features, weights, edge
/// features) and lists them in `Gir::gradients`, in this order; each has place and shape of its
/// leaf. Training is assumed: `WhenTraining` is its first input.
pub fn differentiate(gir: Gir, data: &Data, by: &[NodeId]) -> Result<Gir, Refusal> {
    let loss = gir.loss.ok_or_else(|| {
        Refusal::new(
            "a program without a loss has no gradient",
            "compile it for training, on a data set with labels",
        )
    })?;
    for &leaf in by {
        check_leaf(&gir, leaf)
            .map_err(|refusal| refusal.with_location(leaf, gir.node(leaf).span))?;
    }
    if (gir.node(loss).place, gir.node(loss).kind, gir.node(loss).columns())
        != (Place::P, Type::Real, 1)
    {
        return Err(Refusal::new("the loss is not one real number", "sum it over the rows")
            .with_location(loss, gir.node(loss).span));
    }
    let first = gir.nodes.len();
    let active = Active::new(&gir, by, loss)?;
    let finite = Finite::new(&gir);
    let mut walk = GradientWalk {
        slopes: vec![None; first],
        current: loss,
        builder: Builder::resume(gir, data),
        active,
        finite,
    };
    let one = walk.builder.real(1.0);
    walk.slopes[loss.index()] = Some(one);
    for index in (0..=loss.index()).rev() {
        walk.step(NodeId(index as u32))?;
    }
    for &leaf in by {
        let node = walk.gradient(leaf)?;
        walk.builder.gir.gradients.push(Gradient { of: leaf, node });
    }
    Ok(reverse_edges::orient(walk.builder.gir, data, first)?)
}

fn check_leaf(gir: &Gir, leaf: NodeId) -> Result<(), Refusal> {
    let node = gir.node(leaf);
    match &node.op {
        Op::Input(Input::Target) => Err(Refusal::new(
            "no gradient is taken by the target",
            "take it by parameters, features, weights or edge features",
        )),
        Op::Input(_) | Op::Parameter(_) if node.kind == Type::Real => Ok(()),
        _ => Err(Refusal::new(
            format!("no gradient is taken by `{}`", gir.operation(node)),
            "take it by parameters, features, weights or edge features",
        )),
    }
}

/// The backward walk from the loss to the leaves.
struct GradientWalk<'a> {
    builder: Builder<'a>,
    /// For each node, the sum of the gradients from the users visited so far.
    slopes: Vec<Option<NodeId>>,
    /// The node whose rule runs.
    current: NodeId,
    active: Active,
    finite: Finite,
}

impl GradientWalk<'_> {
    /// Propagates the gradient of this node to its inputs. All its users have higher numbers, so
    /// their contributions are complete.
    fn step(&mut self, id: NodeId) -> Result<(), Refusal> {
        if self.slopes[id.index()].is_none() || !self.active.carries(id) {
            return Ok(());
        }
        let node = self.builder.node(id).clone();
        (self.current, self.builder.span) = (id, node.span);
        let slope = self
            .full_gradient(id)
            .map_err(|misfit| Refusal::from(misfit).with_location(id, node.span))?;
        self.slopes[id.index()] = Some(slope);
        if let Some(name) = &node.name
            && slope.index() >= self.slopes.len()
        {
            let made = &mut self.builder.gir.nodes[slope.index()].name;
            made.get_or_insert_with(|| format!("slope of {name}"));
        }
        rules::rule(self, id, &node, slope).map_err(|refusal| refusal.with_location(id, node.span))
    }

    /// Adds a contribution to the gradient of an input; broadcast axes are summed.
    fn give(&mut self, to: NodeId, part: NodeId) -> Result<(), Misfit> {
        if !self.active.carries(to) {
            return Ok(());
        }
        let part = self.shrunk(to, part)?;
        let sum = match self.slopes[to.index()] {
            Some(before) => self.builder.add(before, part)?,
            None => part,
        };
        self.slopes[to.index()] = Some(sum);
        Ok(())
    }

    /// Sums over whatever was broadcast to turn rows of `to` into rows of `part`: axes, then the
    /// vertices of a graph or all rows.
    fn shrunk(&mut self, to: NodeId, part: NodeId) -> NodeResult {
        let (place, shape) = (self.builder.node(to).place, self.builder.node(to).shape.clone());
        let narrow = if self.builder.node(part).columns() > shape.iter().product() {
            self.builder.unbroadcast(part, &shape)?
        } else {
            part
        };
        match (place, self.builder.node(narrow).place) {
            (Place::P | Place::C, Place::G | Place::D | Place::S(_) | Place::E(_)) => {
                self.builder.make(Op::SumRows, &[narrow])
            }
            (Place::G, Place::D) => self.builder.make(Op::Pool(Pooling::Sum), &[narrow]),
            _ => Ok(narrow),
        }
    }

    /// The gradient of a node, broadcast to the node's place and shape.
    fn full_gradient(&mut self, id: NodeId) -> NodeResult {
        let sum = self.slopes[id.index()].expect("a node that is stepped on has a gradient");
        let (place, shape) = (self.builder.node(id).place, self.builder.node(id).shape.clone());
        let placed = self.placed(sum, place)?;
        if self.builder.node(placed).shape.len() > shape.len() {
            return self.builder.make_shaped(Op::Reshape, &[placed], &shape);
        }
        self.builder.make_shaped(Op::Expand, &[placed], &shape)
    }

    /// A row for all, or per graph, broadcast to each row of this place.
    fn placed(&mut self, a: NodeId, place: Place) -> NodeResult {
        match (place, self.builder.node(a).place) {
            (Place::D, Place::C | Place::P | Place::G) => self.builder.broadcast_to_vertices(a),
            (Place::S(rows) | Place::E(rows), Place::C | Place::P) => {
                let edges = if rows == EdgeRows::Once { EdgeSet::IN } else { EdgeSet::BOTH };
                self.builder.broadcast_to_edges(edges, a)
            }
            (Place::G, Place::C | Place::P) => {
                let size = self.builder.make(Op::Input(Input::GraphSize), &[])?;
                let holds = self.builder.make(Op::Binary(Binary::Equal), &[size, size])?;
                self.builder.make(Op::Select, &[holds, a, a])
            }
            _ => Ok(a),
        }
    }

    /// The final gradient of a leaf: in exactly its place, zeros where the loss does not depend on
    /// it.
    fn gradient(&mut self, leaf: NodeId) -> Result<NodeId, Misfit> {
        let place = self.builder.node(leaf).place;
        let known = self.slopes[leaf.index()].is_some();
        if !known {
            let zero = self.builder.real(0.0);
            self.slopes[leaf.index()] = Some(zero);
        }
        let whole = self.full_gradient(leaf)?;
        let node = self.builder.node(whole).clone();
        match (place, node.place) {
            // A row of C summed over its one row is a row of P.
            (Place::P, Place::C) => self.builder.make(Op::SumRows, &[whole]),
            // The source of an in-edge is the owner of an out-edge.
            (Place::E(EdgeRows::Once), Place::S(_)) => match node.op {
                Op::Far(edges) => self.builder.make(Op::Near(edges.reversed()), &[node.inputs[0]]),
                _ => {
                    let zero = self.builder.real(0.0);
                    let zeros = self.builder.broadcast_to_edges(EdgeSet::IN, zero)?;
                    self.builder.add(whole, zeros)
                }
            },
            _ => Ok(whole),
        }
    }

    /// Gradient times derivative. Behind a select a gradient of 0 stays 0, whatever the derivative
    /// (`zero_times_infinity` says where that is needed).
    fn times(&mut self, gradient: NodeId, slope: NodeId) -> NodeResult {
        let gradient = self.peeled(gradient, slope);
        let product = self.builder.multiply(gradient, slope)?;
        if self.finite.is_kept(self.current) && self.finite.may_not_be(&self.builder.gir, slope) {
            return self.select_nonzero(gradient, product);
        }
        Ok(product)
    }

    /// Gradient over a value, with the same rule for 0 as `times`.
    fn divide(&mut self, gradient: NodeId, value: NodeId) -> NodeResult {
        let gradient = self.peeled(gradient, value);
        let quotient = self.builder.divide(gradient, value)?;
        if self.finite.is_kept(self.current) {
            self.select_nonzero(gradient, quotient)
        } else {
            Ok(quotient)
        }
    }

    /// A broadcast row before its broadcast, if meeting the other repeats it anyway.
    fn peeled(&self, a: NodeId, other: NodeId) -> NodeId {
        let node = self.builder.node(a);
        let is_met = matches!(node.op, Op::Expand) && self.builder.node(other).shape == node.shape;
        if is_met { node.inputs[0] } else { a }
    }

    /// The same elements in another shape, reshaped once.
    fn reshaped(&mut self, a: NodeId, shape: &[u64]) -> NodeResult {
        let node = self.builder.node(a);
        let inner = if matches!(node.op, Op::Reshape) { node.inputs[0] } else { a };
        self.builder.make_shaped(Op::Reshape, &[inner], shape)
    }

    /// 0 where this gradient is 0, else that value.
    fn select_nonzero(&mut self, gradient: NodeId, value: NodeId) -> NodeResult {
        let zero = self.builder.real(0.0);
        let still = self.builder.binary(Binary::Equal, gradient, zero)?;
        self.builder.select(still, zero, value)
    }
}
