//! zero_times_infinity: where an exact 0 of a gradient could meet an infinite derivative.
//!
//! promises  a select, a mask, a relation or a `min` that leaves a value out sends it exactly 0;
//!           this 0 stays 0 through the derivatives of the operations before it, also where these
//!           are inf or NaN (`where(degree > 0, rsqrt(degree), 0)` at degree 0)
//! never     protects anything else: outside of such a choice the gradient is what IEEE 754 gives
//!           for the formula
//!
//! The rules multiply a gradient by a derivative. Where both hold,
//!   kept          a choice stands between the value and the loss, so that an exact 0 can come, and
//!   may_not_be    the derivative can be inf or NaN though all inputs are finite,
//! the product is `where(gradient == 0, 0, gradient * derivative)`. Neither holds for most nodes,
//! which keep the plain product. Inputs are assumed finite, except columns of the node table; sums
//! and products of finite values too.
use warploom_ir::{
    Binary, Gir, Input, NodeId, Number, Op, Pooling, Property, Reduction, Type, Unary,
};

/// Which nodes of a program need the protection.
pub(super) struct Finite {
    kept: Vec<bool>,
    /// By node, as far as it was computed.
    wild: Vec<bool>,
}

impl Finite {
    /// For a program without its backward part.
    pub(super) fn new(gir: &Gir) -> Finite {
        let mut kept = vec![false; gir.nodes.len()];
        for id in gir.ids().collect::<Vec<_>>().into_iter().rev() {
            for (position, input) in gir.node(id).inputs.iter().enumerate() {
                kept[input.index()] |= kept[id.index()] || chooses(gir, id, position);
            }
        }
        Finite { kept, wild: Vec::new() }
    }

    /// Whether exact zeros of a choice may reach this node.
    pub(super) fn is_kept(&self, id: NodeId) -> bool {
        self.kept.get(id.index()).copied().unwrap_or(false)
    }

    /// Whether this value may be inf or NaN.
    pub(super) fn may_not_be(&mut self, gir: &Gir, id: NodeId) -> bool {
        for index in self.wild.len()..gir.nodes.len() {
            let wild = is_wild(gir, &self.wild, NodeId(index as u32));
            self.wild.push(wild);
        }
        self.wild[id.index()]
    }
}

/// Whether this operation drops rows or elements of its input at this position.
fn chooses(gir: &Gir, id: NodeId, position: usize) -> bool {
    let node = gir.node(id);
    match &node.op {
        Op::Select => position > 0,
        Op::Reduce(reduction, edges) => {
            position == 0
                && (node.inputs.len() > 1
                    || edges.relation.is_some()
                    || matches!(reduction, Reduction::Minimum | Reduction::Maximum))
        }
        Op::Binary(Binary::Minimum | Binary::Maximum)
        | Op::Pool(Pooling::Minimum | Pooling::Maximum)
        | Op::Axis(Pooling::Minimum | Pooling::Maximum, _) => true,
        _ => false,
    }
}

fn is_wild(gir: &Gir, wild: &[bool], id: NodeId) -> bool {
    let node = gir.node(id);
    if node.kind != Type::Real {
        return false;
    }
    let inherited = node.inputs.iter().any(|input| wild[input.index()]);
    match &node.op {
        Op::Constant(Number::Real(number)) => !number.is_finite(),
        Op::Input(Input::Column(_)) | Op::State(_) | Op::Ended(..) => true,
        // A difference from a detached value is the exponent of a softmax: at most 0.
        Op::Unary(Unary::Exp) => inherited || !is_shifted(gir, node.inputs[0]),
        Op::Unary(operator) if operator.has(Property::PoleAtZero) => true,
        Op::Binary(Binary::Divide | Binary::Power | Binary::FloorDivide | Binary::Remainder) => {
            true
        }
        Op::Reduce(Reduction::Minimum | Reduction::Maximum, _)
        | Op::Pool(Pooling::Minimum | Pooling::Maximum) => true,
        Op::Select => {
            let guard = guarded(gir, node.inputs[0]);
            node.inputs[1..].iter().any(|branch| {
                wild[branch.index()]
                    && !guard.is_some_and(|guard| is_tame(gir, wild, *branch, guard, DEPTH))
            })
        }
        _ => inherited,
    }
}

fn is_shifted(gir: &Gir, id: NodeId) -> bool {
    let node = gir.node(bare(gir, id).1);
    matches!(node.op, Op::Binary(Binary::Subtract)) && is_detached(gir, node.inputs[1])
}

fn is_detached(gir: &Gir, id: NodeId) -> bool {
    let node = gir.node(bare(gir, id).1);
    match node.op {
        Op::Detach | Op::Constant(_) => true,
        Op::Select => node.inputs[1..].iter().all(|branch| is_detached(gir, *branch)),
        _ => false,
    }
}

/// A value and the end of the edges that it is viewed from, if any.
type ViewedValue<'a> = (Option<&'a Op>, NodeId);

/// What a condition excludes for a number.
#[derive(Clone, Copy)]
struct Guard<'a> {
    value: ViewedValue<'a>,
    /// 0; else infinities.
    zero: bool,
}

fn guarded(gir: &Gir, condition: NodeId) -> Option<Guard<'_>> {
    let (view, condition) = bare(gir, condition);
    let node = gir.node(condition);
    let (Op::Binary(Binary::Less | Binary::Equal | Binary::NotEqual), &[a, b]) =
        (&node.op, &node.inputs[..])
    else {
        return None;
    };
    let limit = |id: NodeId| match gir.node(bare(gir, id).1).op {
        Op::Constant(number) if number.real() == 0.0 || number.real().is_infinite() => {
            Some(number.real() == 0.0)
        }
        _ => None,
    };
    let (zero, value) = match (limit(a), limit(b)) {
        (Some(zero), None) => (zero, b),
        (None, Some(zero)) => (zero, a),
        _ => return None,
    };
    let (inner, value) = bare(gir, value);
    Some(Guard { value: (view.or(inner), value), zero })
}

/// How deep a guarded expression is searched; anything deeper counts as not finite.
const DEPTH: u32 = 8;

/// Whether a value is finite where the guard holds.
fn is_tame(gir: &Gir, wild: &[bool], id: NodeId, guard: Guard<'_>, depth: u32) -> bool {
    let seen = bare(gir, id);
    let node = gir.node(seen.1);
    if !wild[seen.1.index()] || (seen == guard.value && !guard.zero) {
        return true;
    }
    let kept = |position: usize| {
        let (view, value) = bare(gir, node.inputs[position]);
        guard.zero && (seen.0.or(view), value) == guard.value
    };
    let tame =
        |position: usize| depth > 0 && is_tame(gir, wild, node.inputs[position], guard, depth - 1);
    match &node.op {
        Op::Unary(operator) if operator.has(Property::PoleAtZero) => kept(0),
        Op::Binary(Binary::Divide) => kept(1) && tame(0),
        Op::Binary(Binary::Add | Binary::Subtract | Binary::Multiply) => tame(0) && tame(1),
        _ => false,
    }
}

/// The value beneath views, broadcasts and reshapes.
fn bare(gir: &Gir, mut id: NodeId) -> ViewedValue<'_> {
    let mut view = None;
    loop {
        let node = gir.node(id);
        match node.op {
            Op::Near(_) | Op::Far(_) => view = Some(&node.op),
            Op::Cast(_) | Op::Reshape | Op::Expand | Op::Give => {}
            _ => return (view, id),
        }
        id = node.inputs[0];
    }
}
