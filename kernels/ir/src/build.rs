//! build: creates nodes, and checks that operands fit.
//!
//! promises  every node's place, type and shape follow from its inputs by the rules of
//!           `row_shapes`; a mismatch is refused with expected, found and a hint; element-wise
//!           operations on S alone, or on one vertex's rows seen from edges, are computed once per
//!           vertex; a node equal to an earlier one of the same region is that node
//! never     knows the program's text (the caller sets spans); simplifies (passes do)
use std::collections::HashMap;
use std::fmt;

use super::row::{Row, broadcast};
use super::{
    Binary, Data, EdgeSet, Gir, Input, Node, NodeId, Number, Op, Place, Pooling, Reduction, Span,
    Type, Unary,
};

/// Operands that do not fit together.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// What was checked.
    pub what: String,
    /// What would fit.
    pub expected: String,
    /// What it is.
    pub found: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Misfit {
    /// Without a hint.
    pub fn new(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Misfit {
        Misfit { what: what.into(), expected: expected.into(), found: found.into(), hint: None }
    }

    /// With something to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Misfit {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: expected {}, found {}", self.what, self.expected, self.found)
    }
}

impl std::error::Error for Misfit {}

/// Result of making a node.
pub type NodeResult = Result<NodeId, Misfit>;

/// A program under construction. Nodes are added to the current region.
pub struct Builder<'a> {
    /// What is known of the data set.
    pub data: &'a Data,
    /// The program so far.
    pub gir: Gir,
    /// Region of new nodes.
    pub region: Option<usize>,
    /// Span of new nodes.
    pub span: Span,
    known: HashMap<String, NodeId>,
}

impl<'a> Builder<'a> {
    /// An empty program.
    pub fn new(program: impl Into<String>, data: &'a Data) -> Self {
        let gir = Gir { program: program.into(), ..Gir::default() };
        Builder { data, gir, region: None, span: Span::default(), known: HashMap::new() }
    }

    /// Continues an existing program.
    pub fn resume(gir: Gir, data: &'a Data) -> Self {
        let mut builder =
            Builder { data, gir, region: None, span: Span::default(), known: HashMap::new() };
        for id in builder.gir.ids() {
            let node = builder.gir.node(id);
            if is_repeatable(&node.op) {
                let key = key(&node.op, &node.inputs, &node.shape, node.region);
                builder.known.entry(key).or_insert(id);
            }
        }
        builder
    }

    /// The node of this number.
    pub fn node(&self, id: NodeId) -> &Node {
        self.gir.node(id)
    }

    /// A compile-time constant.
    pub fn constant(&mut self, number: Number) -> NodeId {
        let row = Row { place: Place::C, kind: number.kind(), shape: Vec::new() };
        self.push_node(Op::Constant(number), &[], row)
    }

    /// A float constant.
    pub fn real(&mut self, number: f64) -> NodeId {
        self.constant(Number::Real(number))
    }

    /// Declares a learned tensor or running statistic.
    pub fn parameter(&mut self, parameter: super::Parameter) -> NodeId {
        let shape = parameter.shape.clone();
        self.gir.parameters.push(parameter);
        let row = Row { place: Place::P, kind: Type::Real, shape };
        self.push_node(Op::Parameter(self.gir.parameters.len() - 1), &[], row)
    }

    /// The node of a declared parameter, by its position.
    pub fn declared(&mut self, position: usize) -> NodeId {
        let row = Row {
            place: Place::P,
            kind: Type::Real,
            shape: self.gir.parameters[position].shape.clone(),
        };
        self.push_node(Op::Parameter(position), &[], row)
    }

    /// Begins a loop and makes it the region of new nodes: returns its number and the nodes that
    /// read its states, which are `(name, first value)`. `end_loop` closes it.
    pub fn begin_loop(&mut self, states: &[(String, NodeId)]) -> (usize, Vec<NodeId>) {
        let number = self.gir.loops.len();
        self.gir.loops.push(super::Loop {
            states: Vec::new(),
            until: super::StopTest::Unchanged(Vec::new()),
        });
        self.region = Some(number);
        let mut made = Vec::new();
        for (position, (name, first)) in states.iter().enumerate() {
            let row = Row::like(self.node(*first));
            let inside = self.push_node(Op::State(position), &[], row);
            self.gir.loops[number].states.push(super::State {
                name: name.clone(),
                first: *first,
                inside,
                next: *first,
            });
            made.push(inside);
        }
        (number, made)
    }

    /// Closes a loop: next values of its states, and its stop condition. Returns the nodes of the
    /// states after it.
    pub fn end_loop(
        &mut self,
        number: usize,
        next: &[NodeId],
        until: super::StopTest,
    ) -> Result<Vec<NodeId>, Misfit> {
        for (position, &next) in next.iter().enumerate() {
            let (state, node) = (self.gir.loops[number].states[position].clone(), self.node(next));
            let first = self.node(state.first);
            if (first.place, first.kind, &first.shape) != (node.place, node.kind, &node.shape) {
                let what = format!("`v.{}` after a pass of the loop", state.name);
                let hint = "inside `while` type and shape stay as they were before it";
                return Err(
                    Misfit::new(what, self.describe(state.first), self.describe(next)).hint(hint)
                );
            }
            self.gir.loops[number].states[position].next = next;
        }
        self.gir.loops[number].until = until;
        self.region = None;
        let rows: Vec<Row> = self.gir.loops[number]
            .states
            .iter()
            .map(|state| Row::like(self.node(state.first)))
            .collect();
        Ok(rows
            .into_iter()
            .enumerate()
            .map(|(position, row)| self.push_node(Op::Ended(number, position), &[], row))
            .collect())
    }

    /// Place, type and shape in words: `a row of 16 floats per vertex`.
    pub fn describe(&self, id: NodeId) -> String {
        let node = self.node(id);
        let (one, many) = match node.kind {
            Type::Bool => ("a bool", "bools"),
            Type::Int => ("an integer", "integers"),
            Type::Id => ("an id", "ids"),
            Type::Real => ("a float", "floats"),
        };
        let shape: Vec<String> = node.shape.iter().map(u64::to_string).collect();
        let row = match node.shape.as_slice() {
            [] => one.to_owned(),
            [columns] => format!("a row of {columns} {many}"),
            _ => format!("{} {many}", shape.join(" x ")),
        };
        let place = match node.place {
            Place::C => "known when compiled",
            Place::P => "shared by all vertices",
            Place::G => "per graph",
            Place::D => "per vertex",
            Place::S(_) | Place::E(_) => "per edge",
        };
        format!("{row} {place}")
    }

    /// Creates a node whose row shape follows from its inputs. For `Reshape`, `Expand` and
    /// `Scatter` see `make_shaped`.
    pub fn make(&mut self, op: Op, inputs: &[NodeId]) -> NodeResult {
        if let Some(moved) = self.moved_to_vertices(&op, inputs) {
            return moved;
        }
        let row = self.row(&op, inputs)?;
        Ok(self.push_node(op, inputs, row))
    }

    /// Creates a dropout of this place: dropout of an edge view draws per edge here, where `make`
    /// would draw once per vertex.
    pub fn dropout_at(&mut self, place: Place, dropout: &Op, input: NodeId) -> NodeResult {
        let is_of_edges =
            matches!(place, Place::E(rows) if self.node(input).place.edge_rows() == Some(rows));
        if !is_of_edges {
            return self.make(dropout.clone(), &[input]);
        }
        let row = Row { place, ..self.row(dropout, &[input])? };
        Ok(self.push_node(dropout.clone(), &[input], row))
    }

    /// Creates a node of a given shape: `Reshape`, `Expand` or `Scatter`.
    pub fn make_shaped(&mut self, op: Op, inputs: &[NodeId], shape: &[u64]) -> NodeResult {
        if let (Op::Reshape | Op::Expand, &[input]) = (&op, inputs) {
            if self.node(input).shape == shape {
                return Ok(input);
            }
            if let Op::Far(_) | Op::Near(_) = self.node(input).op {
                let (view, inner) = (self.node(input).op.clone(), self.node(input).inputs[0]);
                let inner = self.make_shaped(op, &[inner], shape)?;
                return self.make(view, &[inner]);
            }
        }
        let row = match (&op, inputs) {
            (Op::Reshape, &[input]) => {
                let node = self.node(input);
                if node.columns() != shape.iter().product::<u64>() {
                    let found = format!("{} of {:?}", node.columns(), node.shape);
                    return Err(Misfit::new(
                        format!("elements of a row reshaped to {shape:?}"),
                        shape.iter().product::<u64>().to_string(),
                        found,
                    ));
                }
                Row::like(node).shaped(shape.to_vec())
            }
            (Op::Expand, &[input]) => {
                let node = self.node(input);
                if broadcast(&node.shape, shape).as_deref() != Some(shape) {
                    return Err(Misfit::new(
                        "row that is repeated",
                        format!("a shape that broadcasts to {shape:?}"),
                        format!("{:?}", node.shape),
                    ));
                }
                Row::like(node).shaped(shape.to_vec())
            }
            (Op::Scatter { .. }, _) if shape.len() != 2 => {
                return Err(Misfit::new(
                    "table that rows are added to",
                    "a shape of 2 axes",
                    format!("{shape:?}"),
                ));
            }
            (Op::Scatter { .. }, _) => {
                Row { place: Place::P, kind: Type::Real, shape: shape.to_vec() }
            }
            _ => self.row(&op, inputs)?,
        };
        Ok(self.push_node(op, inputs, row))
    }

    /// A unary operator.
    pub fn unary(&mut self, operator: Unary, a: NodeId) -> NodeResult {
        self.make(Op::Unary(operator), &[a])
    }

    /// A binary operator; bool and int are cast to float if the other is one, bool to int for
    /// arithmetic.
    pub fn binary(&mut self, operator: Binary, a: NodeId, b: NodeId) -> NodeResult {
        let (a, b) = self.same_kind(operator, a, b)?;
        self.make(Op::Binary(operator), &[a, b])
    }

    /// a + b.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeResult {
        self.binary(Binary::Add, a, b)
    }

    /// a - b.
    pub fn subtract(&mut self, a: NodeId, b: NodeId) -> NodeResult {
        self.binary(Binary::Subtract, a, b)
    }

    /// a * b.
    pub fn multiply(&mut self, a: NodeId, b: NodeId) -> NodeResult {
        self.binary(Binary::Multiply, a, b)
    }

    /// a / b.
    pub fn divide(&mut self, a: NodeId, b: NodeId) -> NodeResult {
        self.binary(Binary::Divide, a, b)
    }

    /// `yes` where the condition holds, else `no`; types are promoted as in `binary`.
    pub fn select(&mut self, condition: NodeId, yes: NodeId, no: NodeId) -> NodeResult {
        let kind = self.common_kind(yes, no)?;
        let (yes, no) = (self.cast(kind, yes)?, self.cast(kind, no)?);
        self.make(Op::Select, &[condition, yes, no])
    }

    /// A cast; the node itself if it has that type.
    pub fn cast(&mut self, kind: Type, a: NodeId) -> NodeResult {
        if self.node(a).kind == kind { Ok(a) } else { self.make(Op::Cast(kind), &[a]) }
    }

    /// A reduction over edges, with or without a mask.
    pub fn reduce(
        &mut self,
        reduction: Reduction,
        edges: EdgeSet,
        a: NodeId,
        mask: Option<NodeId>,
    ) -> NodeResult {
        let inputs: Vec<NodeId> = [a].into_iter().chain(mask).collect();
        self.make(Op::Reduce(reduction, edges), &inputs)
    }

    /// Sums over broadcast axes, so that the value has this shape again: the gradient of `Expand`.
    pub fn unbroadcast(&mut self, mut a: NodeId, shape: &[u64]) -> NodeResult {
        while self.node(a).shape.len() > shape.len() {
            a = self.make(Op::Axis(Pooling::Sum, 0), &[a])?;
        }
        let wide = self.node(a).shape.clone();
        for axis in (0..shape.len()).rev() {
            if shape[axis] == 1 && wide[axis] != 1 {
                a = self.make(Op::Axis(Pooling::Sum, axis), &[a])?;
            }
        }
        self.make_shaped(Op::Reshape, &[a], shape)
    }

    /// Sum over the last axis, which keeps length 1.
    pub fn sum_last(&mut self, a: NodeId) -> NodeResult {
        let mut shape = self.node(a).shape.clone();
        let Some(last) = shape.last_mut() else { return Ok(a) };
        *last = 1;
        let axis = shape.len() - 1;
        let sum = self.make(Op::Axis(Pooling::Sum, axis), &[a])?;
        self.make_shaped(Op::Reshape, &[sum], &shape)
    }

    /// The value broadcast to S or E over these edges: vertex rows are those of the owner.
    pub fn broadcast_to_edges(&mut self, edges: EdgeSet, a: NodeId) -> NodeResult {
        match self.node(a).place {
            Place::S(_) | Place::E(_) => Ok(a),
            Place::G => {
                let given = self.make(Op::Give, &[a])?;
                self.make(Op::Near(edges), &[given])
            }
            Place::C | Place::P => {
                let rows = self.constant_rows(a)?;
                self.make(Op::Near(edges), &[rows])
            }
            Place::D => self.make(Op::Near(edges), &[a]),
        }
    }

    /// The value broadcast to D: shared rows are repeated for every vertex.
    pub fn broadcast_to_vertices(&mut self, a: NodeId) -> NodeResult {
        match self.node(a).place {
            Place::G => self.make(Op::Give, &[a]),
            Place::C | Place::P => self.constant_rows(a),
            Place::D | Place::S(_) | Place::E(_) => Ok(a),
        }
    }

    /// A shared row broadcast to every vertex by a select whose condition is always true: no
    /// arithmetic that could change it.
    fn constant_rows(&mut self, a: NodeId) -> NodeResult {
        let id = self.make(Op::Input(Input::Id), &[])?;
        let holds = self.make(Op::Binary(Binary::Equal), &[id, id])?;
        self.make(Op::Select, &[holds, a, a])
    }

    fn push_node(&mut self, op: Op, inputs: &[NodeId], row: Row) -> NodeId {
        // A node of a loop all of whose inputs are outside is created outside: it is
        // loop-invariant.
        let inside = inputs.iter().any(|input| self.node(*input).region.is_some())
            || matches!(op, Op::State(_));
        let region = if inside {
            self.region.or_else(|| inputs.iter().find_map(|input| self.node(*input).region))
        } else {
            None
        };
        let key = is_repeatable(&op).then(|| key(&op, inputs, &row.shape, region));
        if let Some(known) = key.as_ref().and_then(|key| self.known.get(key)) {
            return *known;
        }
        let id = NodeId(self.gir.nodes.len() as u32);
        let Row { place, kind, shape } = row;
        self.gir.nodes.push(Node {
            op,
            inputs: inputs.to_vec(),
            place,
            kind,
            shape,
            region,
            span: self.span,
            name: None,
        });
        if let Some(key) = key {
            self.known.insert(key, id);
        }
        id
    }

    /// Element-wise operations whose row operands all come from one end of the same edges are
    /// computed once per vertex.
    fn moved_to_vertices(&mut self, op: &Op, inputs: &[NodeId]) -> Option<NodeResult> {
        let rowwise = matches!(
            op,
            Op::Unary(_)
                | Op::Binary(_)
                | Op::Select
                | Op::Cast(_)
                | Op::Detach
                | Op::Dropout { .. }
                | Op::WhenTraining
                | Op::Axis(..)
                | Op::Concat(_)
                | Op::Slice { .. }
                | Op::Unslice { .. }
                | Op::Product { .. }
                | Op::Lookup { .. }
        );
        if !rowwise {
            return None;
        }
        let mut view: Option<Op> = None;
        for input in inputs {
            let node = self.node(*input);
            match (&node.op, node.place) {
                (_, Place::C | Place::P) => {}
                (seen @ (Op::Far(_) | Op::Near(_)), _)
                    if view.as_ref().is_none_or(|view| view == seen) =>
                {
                    view = Some(seen.clone())
                }
                _ => return None,
            }
        }
        let view = view?;
        let inner: Vec<NodeId> =
            inputs
                .iter()
                .map(|input| {
                    if self.node(*input).op == view { self.node(*input).inputs[0] } else { *input }
                })
                .collect();
        Some(self.make(op.clone(), &inner).and_then(|made| self.make(view, &[made])))
    }

    /// Promotes two operands to one type.
    fn same_kind(
        &mut self,
        operator: Binary,
        a: NodeId,
        b: NodeId,
    ) -> Result<(NodeId, NodeId), Misfit> {
        let kind = match operator {
            Binary::And | Binary::Or => Type::Bool,
            Binary::Divide => Type::Real,
            _ => self.common_kind(a, b)?,
        };
        let arithmetic =
            !matches!(operator, Binary::And | Binary::Or | Binary::Equal | Binary::NotEqual);
        let kind = if kind == Type::Bool && arithmetic { Type::Int } else { kind };
        Ok((self.cast(kind, a)?, self.cast(kind, b)?))
    }

    /// The wider of two types; an id is no number.
    pub fn common_kind(&self, a: NodeId, b: NodeId) -> Result<Type, Misfit> {
        let (first, second) = (self.node(a).kind, self.node(b).kind);
        match (first, second) {
            (Type::Id, Type::Id) => Ok(Type::Id),
            (Type::Id, _) | (_, Type::Id) => Err(Misfit::new(
                "type of operands",
                "two ids or two numbers",
                format!("{first} and {second}"),
            )
            .hint("an id can be compared with ids and with a number written in the program")),
            _ => Ok(first.max(second)),
        }
    }
}

/// Whether two nodes with this operation and the same inputs are the same value.
fn is_repeatable(op: &Op) -> bool {
    !matches!(op, Op::Dropout { .. })
}

fn key(op: &Op, inputs: &[NodeId], shape: &[u64], region: Option<usize>) -> String {
    format!("{op:?} {inputs:?} {shape:?} {region:?}")
}
