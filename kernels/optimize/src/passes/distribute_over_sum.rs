//! distribute_over_sum: writes an edge value as a sum of products of values of the summing vertex
//! and values of the edges.
//!
//! promises  the terms add up to the value in the real numbers; the factors `around` a term are
//!           values of the vertex (or shared), its `rest` is an edge value
//! never     decides whether that pays
use warploom_ir::{
    Binary, Builder, Direction, EdgeRows, EdgeSet, Input, Misfit, Node, NodeId, Number, Op, Place,
    Pooling, Reduction, Type, Unary,
};

use super::value_ranges::{is_zero, may_be_infinite, may_be_zero};

/// A factor, divisor or condition of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TermFactor {
    /// Times this value.
    Times(NodeId),
    /// Divided by this value.
    Over(NodeId),
    /// 0 unless this condition holds.
    Where(NodeId),
    /// 0 if this condition holds.
    Unless(NodeId),
}

/// A product of vertex values and edge values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Term {
    pub negative: bool,
    pub around: Vec<TermFactor>,
    /// None: 1.
    pub rest: Option<NodeId>,
    pub dot: Option<Dot>,
    /// A dropout applied to all of it: a factor of each element, 0 or one number.
    pub dropout: Option<Box<Node>>,
}

/// A factor that is the sum of another term along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dot {
    pub axis: usize,
    /// Shape of the term before its axis is summed.
    pub shape: Vec<u64>,
    /// Whether the axis is kept with length 1.
    pub kept: bool,
    pub term: Box<Term>,
}

/// Whether this view reads, on the edges of the set, the row of the vertex that sums over them.
pub(super) fn is_own_row(op: &Op, edges: EdgeSet) -> bool {
    let once = edges.rows() == EdgeRows::Once;
    match *op {
        Op::Near(view) => {
            view.direction == edges.direction
                && (view.relation.is_none() || view.relation == edges.relation)
        }
        Op::Far(view) if once && view.direction != Direction::Both => {
            let view = view.reversed();
            view.direction == edges.direction
                && (view.relation.is_none() || view.relation == edges.relation)
        }
        _ => false,
    }
}

/// The value as one term, with as large a rest as necessary.
pub(super) fn factors(
    builder: &mut Builder<'_>,
    edges: EdgeSet,
    id: NodeId,
) -> Result<Term, Misfit> {
    let node = builder.node(id).clone();
    let whole = Term { rest: Some(id), ..Term::default() };
    if let Some(term) = vertex_term(&node, edges, id) {
        return Ok(term);
    }
    match (&node.op, node.inputs.as_slice()) {
        (Op::Unary(Unary::Negative), &[a]) => {
            let term = factors(builder, edges, a)?;
            Ok(Term { negative: !term.negative, ..term })
        }
        (Op::Binary(Binary::Multiply), &[a, b]) => {
            let (first, second) = (factors(builder, edges, a)?, factors(builder, edges, b)?);
            if first.is_bare() && second.is_bare() {
                Ok(whole)
            } else {
                first.times(builder, second).map(|term| term.unwrap_or(whole))
            }
        }
        (Op::Binary(Binary::Divide), &[a, b]) => {
            let (first, second) = (factors(builder, edges, a)?, factors(builder, edges, b)?);
            if first.is_bare() && second.is_bare() {
                Ok(whole)
            } else {
                first.divide(builder, second).map(|term| term.unwrap_or(whole))
            }
        }
        (Op::Binary(operator @ (Binary::Add | Binary::Subtract)), &[a, b]) => {
            let (mut first, mut second) =
                (factors(builder, edges, a)?, factors(builder, edges, b)?);
            first.around.sort();
            second.around.sort();
            let (Some(left), Some(right)) = (first.rest, second.rest) else { return Ok(whole) };
            if first.around != second.around || first.is_bare() {
                return Ok(whole);
            }
            let adds = (first.negative == second.negative) == (*operator == Binary::Add);
            first.rest = Some(builder.binary(
                if adds { Binary::Add } else { Binary::Subtract },
                left,
                right,
            )?);
            Ok(first)
        }
        (Op::Select, &[condition, yes, no]) => match gate(builder, edges, condition, yes, no) {
            Some((around, kept)) => {
                let mut term = factors(builder, edges, kept)?;
                term.around.push(around);
                Ok(term)
            }
            None => Ok(whole),
        },
        // A dropout keeps or drops each element, so that a factor common to all elements commutes
        // with it.
        (Op::Dropout { .. }, &[a]) => {
            let term = factors(builder, edges, a)?;
            match term.rest.filter(|_| !term.is_bare()) {
                Some(rest) => Ok(dropped(builder, &node, rest)?
                    .map_or(whole, |rest| Term { rest: Some(rest), ..term })),
                None => Ok(whole),
            }
        }
        _ => Ok(whole),
    }
}

/// The same dropout of another value; none where that would draw for other rows.
fn dropped(
    builder: &mut Builder<'_>,
    like: &Node,
    value: NodeId,
) -> Result<Option<NodeId>, Misfit> {
    if builder.node(value).place != like.place {
        return Ok(None);
    }
    let whole = builder.make_shaped(Op::Expand, &[value], &like.shape)?;
    let made = builder.make(like.op.clone(), &[whole])?;
    let node = builder.node(made);
    Ok(Some(made).filter(|_| node.op == like.op && node.place == like.place))
}

/// The value as a sum of terms whose rests pass a test (`is_known`); none if it is no such sum.
pub(super) fn terms(
    builder: &mut Builder<'_>,
    edges: EdgeSet,
    id: NodeId,
    is_known: &dyn Fn(NodeId) -> bool,
) -> Result<Option<Vec<Term>>, Misfit> {
    let node = builder.node(id).clone();
    if let Some(term) = vertex_term(&node, edges, id) {
        return Ok(Some(vec![term]));
    }
    if is_known(id) {
        return Ok(Some(vec![Term { rest: Some(id), ..Term::default() }]));
    }
    match (&node.op, node.inputs.as_slice()) {
        (Op::Unary(Unary::Negative), &[a]) => Ok(terms(builder, edges, a, is_known)?.map(negated)),
        (Op::Binary(operator @ (Binary::Add | Binary::Subtract)), &[a, b]) => {
            let (Some(mut first), Some(second)) =
                (terms(builder, edges, a, is_known)?, terms(builder, edges, b, is_known)?)
            else {
                return Ok(None);
            };
            first.extend(if *operator == Binary::Add { second } else { negated(second) });
            Ok(Some(first))
        }
        (Op::Binary(operator @ (Binary::Multiply | Binary::Divide)), &[a, b]) => {
            let (Some(first), Some(second)) =
                (terms(builder, edges, a, is_known)?, terms(builder, edges, b, is_known)?)
            else {
                return Ok(None);
            };
            if *operator == Binary::Divide && second.len() != 1 {
                return Ok(None);
            }
            let mut all = Vec::new();
            for left in &first {
                for right in &second {
                    let (left, right) = (left.clone(), right.clone());
                    let made = if *operator == Binary::Multiply {
                        left.times(builder, right)?
                    } else {
                        left.divide(builder, right)?
                    };
                    let Some(made) = made else { return Ok(None) };
                    all.push(made);
                }
            }
            Ok(Some(all))
        }
        (Op::Axis(Pooling::Sum, axis), &[a]) => dots(builder, edges, a, *axis, false, is_known),
        (Op::Reshape, &[a]) => {
            match (builder.node(a).op.clone(), builder.node(a).inputs.first().copied()) {
                (Op::Axis(Pooling::Sum, axis), Some(inner)) => {
                    let mut kept = builder.node(a).shape.clone();
                    kept.insert(axis, 1);
                    if kept == node.shape {
                        dots(builder, edges, inner, axis, true, is_known)
                    } else {
                        Ok(None)
                    }
                }
                _ => Ok(None),
            }
        }
        (Op::Select, &[condition, yes, no]) => match gate(builder, edges, condition, yes, no) {
            Some((around, kept)) => Ok(terms(builder, edges, kept, is_known)?
                .map(|terms| terms.into_iter().map(|term| term.push_factor(around)).collect())),
            None if is_known(condition) => chosen(builder, edges, [condition, yes, no], is_known),
            None => Ok(None),
        },
        (Op::Dropout { .. }, &[a]) => {
            let inner = terms(builder, edges, a, is_known)?;
            let is_free = |term: &Term| {
                term.dropout.is_none()
                    && term
                        .around
                        .iter()
                        .all(|around| matches!(around, TermFactor::Times(_) | TermFactor::Over(_)))
            };
            let dropout = Some(Box::new(node));
            Ok(inner.filter(|terms| terms.iter().all(is_free)).map(|terms| {
                terms.into_iter().map(|term| Term { dropout: dropout.clone(), ..term }).collect()
            }))
        }
        _ => Ok(None),
    }
}

impl Term {
    fn is_bare(&self) -> bool {
        !self.negative
            && self.around.is_empty()
            && self.rest.is_some()
            && self.dot.is_none()
            && self.dropout.is_none()
    }

    fn push_factor(mut self, around: TermFactor) -> Term {
        self.around.push(around);
        self
    }

    /// With its dropout moved into the rest, which has a row for each edge.
    fn drawn(&self, builder: &mut Builder<'_>) -> Result<Term, Misfit> {
        let Some(dropout) = &self.dropout else { return Ok(self.clone()) };
        let rest = self.rest.map_or(Ok(None), |rest| dropped(builder, dropout, rest))?;
        let rest =
            rest.ok_or_else(|| Misfit::new("factor of a dropout", "a row of each edge", "none"))?;
        Ok(Term { rest: Some(rest), dropout: None, ..self.clone() })
    }

    fn times(mut self, builder: &mut Builder<'_>, other: Term) -> Result<Option<Term>, Misfit> {
        if (self.dot.is_some() && other.dot.is_some())
            || (self.dropout.is_some() && other.dropout.is_some())
        {
            return Ok(None);
        }
        self.negative ^= other.negative;
        self.around.extend(other.around);
        self.dot = self.dot.or(other.dot);
        self.dropout = self.dropout.or(other.dropout);
        self.rest = match (self.rest, other.rest) {
            (Some(a), Some(b)) => Some(builder.multiply(a, b)?),
            (a, b) => a.or(b),
        };
        Ok(Some(self))
    }

    fn divide(mut self, builder: &mut Builder<'_>, other: Term) -> Result<Option<Term>, Misfit> {
        if other.dot.is_some() || other.dropout.is_some() {
            return Ok(None);
        }
        self.negative ^= other.negative;
        for around in other.around {
            self.around.push(match around {
                TermFactor::Times(value) => TermFactor::Over(value),
                TermFactor::Over(value) => TermFactor::Times(value),
                TermFactor::Where(_) | TermFactor::Unless(_) => return Ok(None),
            });
        }
        self.rest = match (self.rest, other.rest) {
            (Some(a), Some(b)) => Some(builder.divide(a, b)?),
            (None, Some(b)) => Some(builder.unary(Unary::Reciprocal, b)?),
            (a, None) => a,
        };
        Ok(Some(self))
    }
}

/// A select on a condition that passes the test. If one side is the other times a number, the
/// number is selected (both slopes of a leaky relu); else each side is 0 where it is not selected.
fn chosen(
    builder: &mut Builder<'_>,
    edges: EdgeSet,
    [condition, yes, no]: [NodeId; 3],
    is_known: &dyn Fn(NodeId) -> bool,
) -> Result<Option<Vec<Term>>, Misfit> {
    let factor_over = |builder: &Builder<'_>, side: NodeId, other: NodeId| {
        let node = builder.node(side);
        match (&node.op, node.inputs.as_slice()) {
            (Op::Binary(Binary::Multiply), &[a, b]) if a == other && is_known(b) => Some(b),
            (Op::Binary(Binary::Multiply), &[a, b]) if b == other && is_known(a) => Some(a),
            _ => None,
        }
    };
    let (one, zero) = (builder.real(1.0), builder.real(0.0));
    let sides = match (factor_over(builder, no, yes), factor_over(builder, yes, no)) {
        (Some(factor), _) => vec![(yes, one, factor)],
        (None, Some(factor)) => vec![(no, factor, one)],
        (None, None) => vec![(yes, one, zero), (no, zero, one)],
    };
    let mut all = Vec::new();
    for (side, where_it_holds, else_where) in sides {
        if is_zero(builder, side) {
            continue;
        }
        let Some(terms) = terms(builder, edges, side, is_known)? else { return Ok(None) };
        let factor = builder.select(condition, where_it_holds, else_where)?;
        for term in terms {
            let rest = Term { rest: Some(factor), ..Term::default() };
            let Some(term) = term.times(builder, rest)? else { return Ok(None) };
            all.push(term);
        }
    }
    Ok(Some(all))
}

fn negated(terms: Vec<Term>) -> Vec<Term> {
    terms.into_iter().map(|term| Term { negative: !term.negative, ..term }).collect()
}

fn vertex_term(node: &Node, edges: EdgeSet, id: NodeId) -> Option<Term> {
    let value = match node.place {
        Place::C | Place::P => id,
        _ if is_own_row(&node.op, edges) => node.inputs[0],
        _ => return None,
    };
    Some(Term { around: vec![TermFactor::Times(value)], ..Term::default() })
}

/// A select between 0 and a value, on a condition of the vertex.
fn gate(
    builder: &Builder<'_>,
    edges: EdgeSet,
    condition: NodeId,
    yes: NodeId,
    no: NodeId,
) -> Option<(TermFactor, NodeId)> {
    let node = builder.node(condition);
    let condition = if is_own_row(&node.op, edges) { node.inputs[0] } else { return None };
    if is_zero(builder, no) {
        Some((TermFactor::Where(condition), yes))
    } else if is_zero(builder, yes) {
        Some((TermFactor::Unless(condition), no))
    } else {
        None
    }
}

fn dots(
    builder: &mut Builder<'_>,
    edges: EdgeSet,
    a: NodeId,
    axis: usize,
    kept: bool,
    is_known: &dyn Fn(NodeId) -> bool,
) -> Result<Option<Vec<Term>>, Misfit> {
    let shape = builder.node(a).shape.clone();
    let Some(terms) = terms(builder, edges, a, is_known)? else { return Ok(None) };
    if terms.iter().any(|term| term.dot.is_some() || term.dropout.is_some()) {
        return Ok(None);
    }
    let dot = |term: Term| {
        let (negative, term) = (term.negative, Term { negative: false, ..term });
        Term {
            negative,
            dot: Some(Dot { axis, shape: shape.clone(), kept, term: Box::new(term) }),
            ..Term::default()
        }
    };
    Ok(Some(terms.into_iter().map(dot).collect()))
}

impl Dot {
    /// A factor of the dot product as a factor of its summands: with an axis of length 1 where the
    /// sum runs. Refused if the factor varies along that axis, or broadcasts the dot product along
    /// axes that it does not have.
    fn reshape_factor(&self, builder: &mut Builder<'_>, factor: NodeId) -> Result<NodeId, Misfit> {
        let mut shape = builder.node(factor).shape.clone();
        let behind = self.shape.len() - self.axis;
        let axes = if self.kept { self.shape.len() } else { self.shape.len() - 1 };
        if shape.len() > axes {
            return Err(Misfit::new(
                "axes of a factor of a dot product",
                axes.to_string(),
                shape.len().to_string(),
            ));
        }
        if self.kept && shape.len() >= behind && shape[shape.len() - behind] != 1 {
            return Err(Misfit::new(
                "length of a factor where a dot product sums",
                "1",
                format!("{shape:?}"),
            ));
        }
        if !self.kept && shape.len() >= behind {
            shape.insert(shape.len() + 1 - behind, 1);
        }
        builder.make_shaped(Op::Reshape, &[factor], &shape)
    }
}

/// A sum over edges with the vertex factors of its terms hoisted.
pub(super) struct EdgeSums {
    pub edges: EdgeSet,
    pub mask: Option<NodeId>,
    pub kind: Type,
}

impl EdgeSums {
    /// The sum of one term. New sums over edges are added to the list.
    pub fn sum_term(
        &self,
        builder: &mut Builder<'_>,
        term: &Term,
        made: &mut Vec<NodeId>,
    ) -> Result<NodeId, Misfit> {
        let term = &term.drawn(builder)?;
        let Some(dot) = &term.dot else {
            let sum = self.sum_edges(builder, term.rest, made)?;
            return self.apply_factors(builder, sum, term);
        };
        let rest = match (dot.term.rest, term.rest) {
            (inner, Some(outer)) => {
                let outer = dot.reshape_factor(builder, outer)?;
                Some(inner.map_or(Ok(outer), |inner| builder.multiply(outer, inner))?)
            }
            (inner, None) => inner,
        };
        let sum = self.sum_edges(builder, rest, made)?;
        let product = self.apply_factors(builder, sum, &dot.term)?;
        let product = builder.make_shaped(Op::Expand, &[product], &dot.shape)?;
        let mut value = builder.make(Op::Axis(Pooling::Sum, dot.axis), &[product])?;
        if dot.kept {
            let mut shape = dot.shape.clone();
            shape[dot.axis] = 1;
            value = builder.make_shaped(Op::Reshape, &[value], &shape)?;
        }
        self.apply_factors(builder, value, term)
    }

    fn zero(&self, builder: &mut Builder<'_>) -> NodeId {
        builder.constant(if self.kind == Type::Real { Number::Real(0.0) } else { Number::Int(0) })
    }

    fn sum_edges(
        &self,
        builder: &mut Builder<'_>,
        rest: Option<NodeId>,
        made: &mut Vec<NodeId>,
    ) -> Result<NodeId, Misfit> {
        let sum = match (rest, self.mask) {
            (Some(rest), mask) => builder.reduce(Reduction::Sum, self.edges, rest, mask)?,
            (None, Some(mask)) => {
                let count = builder.reduce(Reduction::Count, self.edges, mask, Some(mask))?;
                builder.make_shaped(Op::Reshape, &[count], &[])?
            }
            (None, None) => builder.make(Op::Input(Input::Degree(self.edges)), &[])?,
        };
        made.push(sum);
        builder.cast(self.kind, sum)
    }

    fn apply_factors(
        &self,
        builder: &mut Builder<'_>,
        value: NodeId,
        term: &Term,
    ) -> Result<NodeId, Misfit> {
        let zero = self.zero(builder);
        let (mut plain, mut careful) = (value, value);
        for around in &term.around {
            plain = apply(builder, plain, zero, *around)?;
        }
        let stays_zero = matches!(self.value_without_edges(builder, plain), Some(number) if number.real() == 0.0);
        for around in &term.around {
            let around = match *around {
                _ if stays_zero => *around,
                TermFactor::Times(factor) if may_be_infinite(builder, factor) => {
                    TermFactor::Times(self.select_with_edges(builder, factor, 0.0)?)
                }
                TermFactor::Over(divisor) if may_be_zero(builder, divisor) => {
                    TermFactor::Over(self.select_with_edges(builder, divisor, 1.0)?)
                }
                around => around,
            };
            careful = apply(builder, careful, zero, around)?;
        }
        let mut value = careful;
        if term.negative {
            value = builder.subtract(zero, value)?;
        }
        Ok(value)
    }

    /// The factor at a vertex that has an edge (under the mask), and this number at others.
    fn select_with_edges(
        &self,
        builder: &mut Builder<'_>,
        factor: NodeId,
        other: f64,
    ) -> Result<NodeId, Misfit> {
        let has_edges = match self.mask {
            Some(mask) => {
                let any = builder.reduce(Reduction::Any, self.edges, mask, None)?;
                builder.make_shaped(Op::Reshape, &[any], &[])?
            }
            None => {
                let (none, degree) = (
                    builder.constant(Number::Int(0)),
                    builder.make(Op::Input(Input::Degree(self.edges)), &[])?,
                );
                builder.binary(Binary::Less, none, degree)?
            }
        };
        let other = builder.real(other);
        builder.select(has_edges, factor, other)
    }

    /// The constant that a vertex value has in all of its row at a vertex without an edge (under
    /// the mask); none: it varies.
    fn value_without_edges(&self, builder: &Builder<'_>, id: NodeId) -> Option<Number> {
        let node = builder.node(id);
        let part = |position: usize| self.value_without_edges(builder, node.inputs[position]);
        match &node.op {
            Op::Constant(number) => Some(*number),
            Op::Input(Input::Degree(edges)) if *edges == self.edges && self.mask.is_none() => {
                Some(Number::Int(0))
            }
            Op::Reduce(reduction, edges)
                if *edges == self.edges && node.inputs.get(1).copied() == self.mask =>
            {
                let number = match reduction {
                    Reduction::Any => return Some(Number::Bool(false)),
                    Reduction::All => return Some(Number::Bool(true)),
                    Reduction::Sum | Reduction::Count => 0.0,
                    Reduction::Product => 1.0,
                    Reduction::Minimum if node.kind == Type::Real => f64::INFINITY,
                    Reduction::Maximum if node.kind == Type::Real => f64::NEG_INFINITY,
                    _ => return None,
                };
                Some(if node.kind == Type::Real {
                    Number::Real(number)
                } else {
                    Number::Int(number as i64)
                })
            }
            Op::Unary(operator) => super::constant_folding::unary(*operator, part(0)?),
            Op::Binary(operator) => super::constant_folding::binary(*operator, part(0)?, part(1)?),
            Op::Select => match part(0)? {
                Number::Bool(true) => part(1),
                _ => part(2),
            },
            Op::Cast(kind) => super::constant_folding::cast(*kind, part(0)?),
            Op::Detach
            | Op::Reshape
            | Op::Expand
            | Op::Slice { .. }
            | Op::Axis(Pooling::Maximum | Pooling::Minimum, _) => part(0),
            Op::Axis(Pooling::Sum, _) => part(0).filter(|number| number.real() == 0.0),
            _ => None,
        }
    }
}

fn apply(
    builder: &mut Builder<'_>,
    value: NodeId,
    zero: NodeId,
    around: TermFactor,
) -> Result<NodeId, Misfit> {
    match around {
        TermFactor::Times(factor) => builder.multiply(value, factor),
        TermFactor::Over(divisor) => builder.divide(value, divisor),
        TermFactor::Where(condition) => builder.select(condition, value, zero),
        TermFactor::Unless(condition) => builder.select(condition, zero, value),
    }
}
