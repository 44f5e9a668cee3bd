//! build: makes nodes, and says where a node's parts do not fit.
//!
//! promises  every node's place, type and shape follow from its inputs by one rule per operation, here; what does not fit is
//!           refused with expected, found and a hint; element-wise work on S alone, or on one vertex's rows seen from edges,
//!           is done once a vertex; a node equal to an earlier one of the same region is that node
//! never     knows the program's text (spans are set by who builds); simplifies numbers (passes do)
use std::collections::HashMap;
use std::fmt;

use super::{Binary, Data, EdgeSet, Function, Gir, Input, Node, NodeId, Number, Op, Place, Pooling, Reduction, Span, Type, Unary};

/// Parts that do not fit together.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// What was looked at.
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
    pub fn new(what: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Misfit {
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
pub type Made = Result<NodeId, Misfit>;

/// A program while it is being made. Nodes are added to the region that was set last.
pub struct Builder<'a> {
    /// What is known of the data set.
    pub data: &'a Data,
    /// What has been made so far.
    pub gir: Gir,
    /// Region of new nodes.
    pub region: Option<usize>,
    /// Span of new nodes.
    pub span: Span,
    known: HashMap<String, NodeId>,
}

/// Place, type and shape of a node to be.
struct Row {
    place: Place,
    kind: Type,
    shape: Vec<u64>,
}

impl Row {
    fn like(node: &Node) -> Row {
        Row { place: node.place, kind: node.kind, shape: node.shape.clone() }
    }

    fn at(self, place: Place) -> Row {
        Row { place, ..self }
    }

    fn of(self, kind: Type) -> Row {
        Row { kind, ..self }
    }

    fn shaped(self, shape: Vec<u64>) -> Row {
        Row { shape, ..self }
    }
}

impl<'a> Builder<'a> {
    /// An empty program.
    pub fn new(program: impl Into<String>, data: &'a Data) -> Self {
        let gir = Gir { program: program.into(), ..Gir::default() };
        Builder { data, gir, region: None, span: Span::default(), known: HashMap::new() }
    }

    /// Goes on with a program that exists.
    pub fn resume(gir: Gir, data: &'a Data) -> Self {
        let mut builder = Builder { data, gir, region: None, span: Span::default(), known: HashMap::new() };
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

    /// A number known when compiled.
    pub fn constant(&mut self, number: Number) -> NodeId {
        let row = Row { place: Place::C, kind: number.kind(), shape: Vec::new() };
        self.put(Op::Constant(number), &[], row)
    }

    /// A real number known when compiled.
    pub fn real(&mut self, number: f64) -> NodeId {
        self.constant(Number::Real(number))
    }

    /// A learned tensor or running statistic, declared now.
    pub fn parameter(&mut self, parameter: super::Parameter) -> NodeId {
        let shape = parameter.shape.clone();
        self.gir.parameters.push(parameter);
        let row = Row { place: Place::P, kind: Type::Real, shape };
        self.put(Op::Parameter(self.gir.parameters.len() - 1), &[], row)
    }

    /// The node of a parameter that was declared before, by its position.
    pub fn declared(&mut self, position: usize) -> NodeId {
        let row = Row { place: Place::P, kind: Type::Real, shape: self.gir.parameters[position].shape.clone() };
        self.put(Op::Parameter(position), &[], row)
    }

    /// Starts a loop and makes it the region of new nodes: gives its number and the nodes that read its states, which are
    /// `(name, first value)`. `end_loop` closes it.
    pub fn begin_loop(&mut self, states: &[(String, NodeId)]) -> (usize, Vec<NodeId>) {
        let number = self.gir.loops.len();
        self.gir.loops.push(super::Loop { states: Vec::new(), until: super::Until::Unchanged(Vec::new()) });
        self.region = Some(number);
        let mut made = Vec::new();
        for (position, (name, first)) in states.iter().enumerate() {
            let row = Row::like(self.node(*first));
            let inside = self.put(Op::State(position), &[], row);
            self.gir.loops[number].states.push(super::State { name: name.clone(), first: *first, inside, next: *first });
            made.push(inside);
        }
        (number, made)
    }

    /// Closes a loop: next values of its states, and when it stops. Gives the nodes that hold the states after it.
    pub fn end_loop(&mut self, number: usize, next: &[NodeId], until: super::Until) -> Result<Vec<NodeId>, Misfit> {
        for (position, &next) in next.iter().enumerate() {
            let (state, node) = (self.gir.loops[number].states[position].clone(), self.node(next));
            let first = self.node(state.first);
            if (first.place, first.kind, &first.shape) != (node.place, node.kind, &node.shape) {
                let what = format!("`v.{}` after a pass of the loop", state.name);
                let hint = "inside `while` type and shape stay as they were before it";
                return Err(Misfit::new(what, self.describe(state.first), self.describe(next)).hint(hint));
            }
            self.gir.loops[number].states[position].next = next;
        }
        self.gir.loops[number].until = until;
        self.region = None;
        let rows: Vec<Row> = self.gir.loops[number].states.iter().map(|state| Row::like(self.node(state.first))).collect();
        Ok(rows.into_iter().enumerate().map(|(position, row)| self.put(Op::Ended(number, position), &[], row)).collect())
    }

    /// Place, type and shape in words: `D real [16]`.
    pub fn describe(&self, id: NodeId) -> String {
        let node = self.node(id);
        let shape: Vec<String> = node.shape.iter().map(u64::to_string).collect();
        format!("{} {} [{}]", node.place, node.kind, shape.join(", "))
    }

    /// Makes a node whose row follows from its inputs. For `Reshape`, `Expand` and `Scatter` see `make_shaped`.
    pub fn make(&mut self, op: Op, inputs: &[NodeId]) -> Made {
        if let Some(moved) = self.moved_to_vertices(&op, inputs) {
            return moved;
        }
        let row = self.row(&op, inputs)?;
        Ok(self.put(op, inputs, row))
    }

    /// Makes a node of a given shape: `Reshape`, `Expand` or `Scatter`.
    pub fn make_shaped(&mut self, op: Op, inputs: &[NodeId], shape: &[u64]) -> Made {
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
                    return Err(Misfit::new(format!("elements of a row reshaped to {shape:?}"), shape.iter().product::<u64>().to_string(), found));
                }
                Row::like(node).shaped(shape.to_vec())
            }
            (Op::Expand, &[input]) => {
                let node = self.node(input);
                if broadcast(&node.shape, shape).as_deref() != Some(shape) {
                    return Err(Misfit::new("row that is repeated", format!("a shape that broadcasts to {shape:?}"), format!("{:?}", node.shape)));
                }
                Row::like(node).shaped(shape.to_vec())
            }
            (Op::Scatter { .. }, _) if shape.len() != 2 => {
                return Err(Misfit::new("table that rows are added to", "a shape of 2 axes", format!("{shape:?}")));
            }
            (Op::Scatter { .. }, _) => Row { place: Place::P, kind: Type::Real, shape: shape.to_vec() },
            _ => self.row(&op, inputs)?,
        };
        Ok(self.put(op, inputs, row))
    }

    /// Of one value.
    pub fn unary(&mut self, operator: Unary, a: NodeId) -> Made {
        self.make(Op::Unary(operator), &[a])
    }

    /// Of two values; bool and int are made real where the other is, bool is made int for arithmetic.
    pub fn binary(&mut self, operator: Binary, a: NodeId, b: NodeId) -> Made {
        let (a, b) = self.same_kind(operator, a, b)?;
        self.make(Op::Binary(operator), &[a, b])
    }

    /// a + b.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> Made {
        self.binary(Binary::Add, a, b)
    }

    /// a - b.
    pub fn subtract(&mut self, a: NodeId, b: NodeId) -> Made {
        self.binary(Binary::Subtract, a, b)
    }

    /// a * b.
    pub fn multiply(&mut self, a: NodeId, b: NodeId) -> Made {
        self.binary(Binary::Multiply, a, b)
    }

    /// a / b.
    pub fn divide(&mut self, a: NodeId, b: NodeId) -> Made {
        self.binary(Binary::Divide, a, b)
    }

    /// `yes` where the condition holds; types are made equal as in `binary`.
    pub fn select(&mut self, condition: NodeId, yes: NodeId, no: NodeId) -> Made {
        let kind = self.common_kind(yes, no)?;
        let (yes, no) = (self.cast(kind, yes)?, self.cast(kind, no)?);
        self.make(Op::Select, &[condition, yes, no])
    }

    /// The same as another type; itself if it has that type.
    pub fn cast(&mut self, kind: Type, a: NodeId) -> Made {
        if self.node(a).kind == kind { Ok(a) } else { self.make(Op::Cast(kind), &[a]) }
    }

    /// Over edges, with or without a mask.
    pub fn reduce(&mut self, reduction: Reduction, edges: EdgeSet, a: NodeId, mask: Option<NodeId>) -> Made {
        let inputs: Vec<NodeId> = [a].into_iter().chain(mask).collect();
        self.make(Op::Reduce(reduction, edges), &inputs)
    }

    /// The value summed over what broadcasting repeated, so that it has this shape again: the gradient of `Expand`.
    pub fn unbroadcast(&mut self, mut a: NodeId, shape: &[u64]) -> Made {
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

    /// Sum over the last axis, which stays with length 1.
    pub fn sum_last(&mut self, a: NodeId) -> Made {
        let mut shape = self.node(a).shape.clone();
        let Some(last) = shape.last_mut() else { return Ok(a) };
        *last = 1;
        let axis = shape.len() - 1;
        let sum = self.make(Op::Axis(Pooling::Sum, axis), &[a])?;
        self.make_shaped(Op::Reshape, &[sum], &shape)
    }

    /// The value as one of S or E over these edges: rows of vertices are those of the owner.
    pub fn on_edges(&mut self, edges: EdgeSet, a: NodeId) -> Made {
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

    /// The value as one of D: shared rows are given to every vertex.
    pub fn on_vertices(&mut self, a: NodeId) -> Made {
        match self.node(a).place {
            Place::G => self.make(Op::Give, &[a]),
            Place::C | Place::P => self.constant_rows(a),
            Place::D | Place::S(_) | Place::E(_) => Ok(a),
        }
    }

    /// A shared row given to every vertex, without arithmetic that could change it: a select on what always holds.
    fn constant_rows(&mut self, a: NodeId) -> Made {
        let id = self.make(Op::Input(Input::Id), &[])?;
        let holds = self.make(Op::Binary(Binary::Equal), &[id, id])?;
        self.make(Op::Select, &[holds, a, a])
    }

    fn put(&mut self, op: Op, inputs: &[NodeId], row: Row) -> NodeId {
        // A node of a loop whose inputs are all of the outside is made outside: it does not change between supersteps.
        let inside = inputs.iter().any(|input| self.node(*input).region.is_some()) || matches!(op, Op::State(_));
        let region = if inside { self.region.or_else(|| inputs.iter().find_map(|input| self.node(*input).region)) } else { None };
        let key = is_repeatable(&op).then(|| key(&op, inputs, &row.shape, region));
        if let Some(known) = key.as_ref().and_then(|key| self.known.get(key)) {
            return *known;
        }
        let id = NodeId(self.gir.nodes.len() as u32);
        let Row { place, kind, shape } = row;
        self.gir.nodes.push(Node { op, inputs: inputs.to_vec(), place, kind, shape, region, span: self.span, name: None });
        if let Some(key) = key {
            self.known.insert(key, id);
        }
        id
    }

    /// Element-wise work whose row values all come from one end of the same edges is done once a vertex.
    fn moved_to_vertices(&mut self, op: &Op, inputs: &[NodeId]) -> Option<Made> {
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
                (seen @ (Op::Far(_) | Op::Near(_)), _) if view.as_ref().is_none_or(|view| view == seen) => view = Some(seen.clone()),
                _ => return None,
            }
        }
        let view = view?;
        let inner: Vec<NodeId> = inputs.iter().map(|input| if self.node(*input).op == view { self.node(*input).inputs[0] } else { *input }).collect();
        Some(self.make(op.clone(), &inner).and_then(|made| self.make(view, &[made])))
    }

    fn row(&self, op: &Op, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let of = |position: usize| -> Result<&Node, Misfit> {
            inputs
                .get(position)
                .map(|id| self.node(*id))
                .ok_or_else(|| Misfit::new(format!("inputs of {op:?}"), format!("at least {}", position + 1), inputs.len().to_string()))
        };
        match op {
            Op::Constant(_) | Op::Parameter(_) | Op::State(_) | Op::Ended(..) | Op::Reshape | Op::Expand | Op::Scatter { .. } => {
                Err(Misfit::new("way to make a node", "`constant`, `parameter`, `begin_loop`, `end_loop` or `make_shaped`", format!("{op:?}")))
            }
            Op::Input(input) => self.input(input),
            Op::Unary(operator) => unary_row(*operator, of(0)?),
            Op::Binary(operator) => {
                let row = self.together(&format!("operands of {operator:?}").to_lowercase(), inputs)?;
                binary_row(*operator, of(0)?, of(1)?, row)
            }
            Op::Select => {
                expect_kind("condition", of(0)?, &[Type::Bool])?;
                same_kinds("values to choose from", of(1)?, of(2)?)?;
                Ok(self.together("parts of a select", inputs)?.of(of(1)?.kind))
            }
            Op::Cast(kind) => cast_row(*kind, of(0)?),
            Op::Dropout { probability, .. } => {
                if !(0.0..1.0).contains(probability) {
                    return Err(Misfit::new("probability of dropout", "at least 0 and less than 1", probability.to_string()));
                }
                expect_kind("value of dropout", of(0)?, &[Type::Real])?;
                Ok(Row::like(of(0)?))
            }
            Op::Detach => Ok(Row::like(of(0)?)),
            Op::WhenTraining => {
                same_kinds("values in training and out of it", of(0)?, of(1)?)?;
                Ok(self.together("values in training and out of it", inputs)?.of(of(0)?.kind))
            }
            Op::Far(_) | Op::Near(_) | Op::Reduce(..) | Op::Winner(..) | Op::Others(_) | Op::Fold(..) | Op::Turn | Op::CommonNeighbors => {
                self.edge_row(op, inputs)
            }
            Op::Pool(_) | Op::Give | Op::SumRows => pool_row(op, of(0)?),
            Op::Axis(..) | Op::Concat(_) | Op::Slice { .. } | Op::Unslice { .. } => self.axis_row(op, inputs),
            Op::Product { .. } | Op::Outer | Op::Lookup { .. } => self.dense_row(op, inputs),
            Op::Loss(_) | Op::LossSlope(_) => {
                expect_kind("result that is trained", of(0)?, &[Type::Real])?;
                let slope = matches!(op, Op::LossSlope(_));
                Ok(if slope { Row::like(of(0)?) } else { Row { place: Place::P, kind: Type::Real, shape: Vec::new() } })
            }
        }
    }

    fn input(&self, input: &Input) -> Result<Row, Misfit> {
        let data = self.data;
        let row = |place, kind, shape: &[u64]| Ok(Row { place, kind, shape: shape.to_vec() });
        let once = Place::E(super::EdgeRows::Once);
        match input {
            Input::Features => match data.features {
                Some(columns) => row(Place::D, Type::Real, &[columns]),
                None => Err(Misfit::new("features", "a graph with features", "none")),
            },
            Input::Column(name) => match data.columns.get(name) {
                Some(kind) => row(Place::D, *kind, &[]),
                None => Err(Misfit::new(format!("column `{name}`"), "a column of the node table", "no such column")),
            },
            Input::Id => row(Place::D, Type::Id, &[]),
            Input::Degree(_) => row(Place::D, Type::Int, &[]),
            Input::Weight => row(once, Type::Real, &[]),
            Input::EdgeFeatures if data.edge_features == 0 => Err(Misfit::new("edge features", "a graph with edge features", "none")),
            Input::EdgeFeatures => row(once, Type::Real, &[data.edge_features]),
            Input::EdgeType if data.relations.is_empty() => Err(Misfit::new("edge types", "a graph with relations", "none")),
            Input::EdgeType => row(once, Type::Int, &[]),
            Input::Target => {
                let place = if data.many_graphs { Place::G } else { Place::D };
                match data.target {
                    Some(target) if target.loss == super::Loss::CrossEntropy => row(place, Type::Real, &[]),
                    Some(target) => row(place, Type::Real, &[target.columns]),
                    None => Err(Misfit::new("target", "a graph with labels", "none")),
                }
            }
            Input::GraphSize => row(Place::G, Type::Int, &[]),
        }
    }

    /// Place and shape of values that meet element by element.
    fn together(&self, what: &str, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let first = self.node(*inputs.first().ok_or_else(|| Misfit::new(what, "values", "none"))?);
        let mut row = Row::like(first);
        for (position, id) in inputs.iter().enumerate().skip(1) {
            let node = self.node(*id);
            let before = || inputs[..position].iter().map(|id| self.describe(*id)).collect::<Vec<_>>().join(" and ");
            row.place = meet(row.place, node.place).ok_or_else(|| {
                Misfit::new(format!("place of {what}"), format!("one that meets {}", before()), self.describe(*id))
                    .hint("a value of a vertex meets values of edges inside a comprehension only")
            })?;
            row.shape = broadcast(&row.shape, &node.shape).ok_or_else(|| {
                Misfit::new(format!("shape of {what}"), format!("one that broadcasts with {}", before()), self.describe(*id))
                    .hint("shapes are aligned at their last axes; lengths must be equal or 1")
            })?;
        }
        Ok(row)
    }

    fn edge_row(&self, op: &Op, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let node = |position: usize| self.node(inputs[position]);
        let once = Place::E(super::EdgeRows::Once);
        let (edges, mask) = match op {
            Op::CommonNeighbors => return Ok(Row { place: once, kind: Type::Int, shape: Vec::new() }),
            Op::Turn => {
                let twice = Place::E(super::EdgeRows::Twice);
                let fits = node(0).place.edge_rows() == Some(super::EdgeRows::Twice);
                return if fits {
                    Ok(Row::like(node(0)).at(twice))
                } else {
                    Err(Misfit::new("value that is turned", "one over `v.nbs`", self.describe(inputs[0])))
                };
            }
            Op::Far(edges) | Op::Near(edges) => {
                if node(0).place != Place::D {
                    return Err(Misfit::new("value seen from an edge", "one of vertices (D)", self.describe(inputs[0])));
                }
                let place = if matches!(op, Op::Far(_)) { Place::S(edges.rows()) } else { Place::E(edges.rows()) };
                return Ok(Row::like(node(0)).at(place));
            }
            Op::Fold(_, edges) => (edges, 2),
            Op::Reduce(_, edges) | Op::Winner(_, edges) | Op::Others(edges) => (edges, 1),
            _ => return Err(Misfit::new("operation", "one over edges", format!("{op:?}"))),
        };
        for (position, id) in inputs.iter().enumerate() {
            let place = self.node(*id).place;
            let fits = if mask == 2 && position == 1 { matches!(place, Place::C | Place::P) } else { place.edge_rows() == Some(edges.rows()) };
            if !fits {
                return Err(Misfit::new(format!("value reduced over edges ({edges})"), "one of these edges", self.describe(*id)));
            }
        }
        if let Some(mask) = inputs.get(mask).map(|id| self.node(*id))
            && (mask.kind, mask.columns()) != (Type::Bool, 1)
        {
            return Err(Misfit::new("`if` of a comprehension", "bool []", format!("{} {:?}", mask.kind, mask.shape)));
        }
        let row = Row::like(node(0));
        match op {
            Op::Winner(..) => Ok(row.at(Place::E(edges.rows())).of(Type::Bool)),
            Op::Others(_) => Ok(row.at(Place::E(edges.rows()))),
            Op::Fold(function, _) => {
                same_kinds("values and start of a fold", node(0), node(1))?;
                let kind = function_kind(function, node(0).kind)?;
                if kind != node(0).kind {
                    return Err(Misfit::new("result of a fold's function", node(0).kind.to_string(), kind.to_string()));
                }
                Ok(row.at(Place::D))
            }
            Op::Reduce(reduction, _) => reduction_kind(*reduction, node(0)).map(|kind| row.at(Place::D).of(kind)),
            _ => Ok(row.at(Place::D)),
        }
    }

    fn axis_row(&self, op: &Op, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let node = self.node(inputs[0]);
        let (Op::Axis(_, axis) | Op::Concat(axis) | Op::Slice { axis, .. } | Op::Unslice { axis, .. }) = op else {
            return Err(Misfit::new("operation", "one along an axis", format!("{op:?}")));
        };
        let mut row = Row::like(node);
        if *axis >= row.shape.len() {
            let expected = if row.shape.is_empty() { "a row with axes".to_owned() } else { format!("0 to {}", row.shape.len() - 1) };
            return Err(Misfit::new(format!("axis {axis}"), expected, self.describe(inputs[0])));
        }
        match op {
            Op::Axis(Pooling::Sum, _) if node.kind == Type::Bool => return Err(Misfit::new("values summed along an axis", "int or real", "bool")),
            Op::Axis(..) => {
                row.shape.remove(*axis);
            }
            Op::Slice { start, length, .. } => {
                if start.checked_add(*length).is_none_or(|end| end > row.shape[*axis]) {
                    return Err(Misfit::new(format!("place {start} of axis {axis}"), format!("less than {}", row.shape[*axis]), self.describe(inputs[0])));
                }
                row.shape[*axis] = *length;
            }
            Op::Unslice { start, total, .. } => {
                if start.checked_add(row.shape[*axis]).is_none_or(|end| end > *total) {
                    return Err(Misfit::new(
                        format!("places of axis {axis} among {total}, from {start} on"),
                        format!("at most {}", total.saturating_sub(*start)),
                        self.describe(inputs[0]),
                    ));
                }
                row.shape[*axis] = *total;
            }
            _ => {
                let apart = |shape: &[u64]| shape.iter().enumerate().filter(|(index, _)| index != axis).map(|(_, length)| *length).collect::<Vec<_>>();
                for id in &inputs[1..] {
                    let other = self.node(*id);
                    same_kinds("values side by side", node, other)?;
                    if other.shape.len() != row.shape.len() || apart(&other.shape) != apart(&row.shape) {
                        return Err(Misfit::new("shape of values side by side", format!("{:?} but for axis {axis}", node.shape), format!("{:?}", other.shape)));
                    }
                    row.shape[*axis] += other.shape[*axis];
                    row.place = meet(row.place, other.place)
                        .ok_or_else(|| Misfit::new("place of values side by side", self.describe(inputs[0]), self.describe(*id)))?;
                }
            }
        }
        Ok(row)
    }

    fn dense_row(&self, op: &Op, inputs: &[NodeId]) -> Result<Row, Misfit> {
        let [a, b] = inputs else { return Err(Misfit::new(format!("inputs of {op:?}"), "2", inputs.len().to_string())) };
        let (left, right) = (self.node(*a), self.node(*b));
        match op {
            Op::Product { transposed } => {
                expect_kind("left of a product", left, &[Type::Real])?;
                expect_kind("right of a product", right, &[Type::Real])?;
                let shared = matches!(right.place, Place::P | Place::C);
                let (2, true, Some(inner)) = (right.shape.len(), shared, left.shape.last()) else {
                    let hint = "the right side is a parameter, as  param((k, n))";
                    return Err(Misfit::new(
                        "operands of a product",
                        "rows [.., k] and a shared matrix P [k, n]",
                        format!("{} and {}", self.describe(*a), self.describe(*b)),
                    )
                    .hint(hint));
                };
                let (k, n) = if *transposed { (right.shape[1], right.shape[0]) } else { (right.shape[0], right.shape[1]) };
                if *inner != k {
                    return Err(Misfit::new("inner length of a product", k.to_string(), inner.to_string()));
                }
                let mut row = Row::like(left);
                *row.shape.last_mut().expect("it has an inner axis") = n;
                row.place = if row.place == Place::C { Place::P } else { row.place };
                // Rows that were S are no longer a view, but still a function of the far end: `moved_to_vertices` made it.
                Ok(row)
            }
            Op::Outer => {
                let rows = |place: Place| match place {
                    Place::C => Place::P,
                    Place::S(rows) => Place::E(rows),
                    other => other,
                };
                if rows(left.place) != rows(right.place) || left.shape.split_last().map(|(_, rest)| rest) != right.shape.split_last().map(|(_, rest)| rest) {
                    return Err(Misfit::new("rows of an outer product", self.describe(*a), self.describe(*b)));
                }
                let last = |node: &Node| node.shape.last().copied().unwrap_or(1);
                Ok(Row { place: Place::P, kind: Type::Real, shape: vec![last(left), last(right)] })
            }
            Op::Lookup { transposed } => {
                if right.kind != Type::Int && right.kind != Type::Id || right.columns() != 1 {
                    return Err(Misfit::new("index of a table", "int or id []", self.describe(*b)));
                }
                if left.place != Place::P || left.shape.len() != 2 {
                    return Err(Misfit::new("table", "P real [count, k]", self.describe(*a)));
                }
                let columns = if *transposed { left.shape[0] } else { left.shape[1] };
                Ok(Row { place: right.place, kind: left.kind, shape: vec![columns] })
            }
            _ => Err(Misfit::new("operation", "a dense one", format!("{op:?}"))),
        }
    }

    /// Both as one type: what an operator's operands must have.
    fn same_kind(&mut self, operator: Binary, a: NodeId, b: NodeId) -> Result<(NodeId, NodeId), Misfit> {
        let kind = match operator {
            Binary::And | Binary::Or => Type::Bool,
            Binary::Divide => Type::Real,
            _ => self.common_kind(a, b)?,
        };
        let arithmetic = !matches!(operator, Binary::And | Binary::Or | Binary::Equal | Binary::NotEqual);
        let kind = if kind == Type::Bool && arithmetic { Type::Int } else { kind };
        Ok((self.cast(kind, a)?, self.cast(kind, b)?))
    }

    /// The wider of two types; an id is no number.
    pub fn common_kind(&self, a: NodeId, b: NodeId) -> Result<Type, Misfit> {
        let (first, second) = (self.node(a).kind, self.node(b).kind);
        match (first, second) {
            (Type::Id, Type::Id) => Ok(Type::Id),
            (Type::Id, _) | (_, Type::Id) => Err(Misfit::new("type of operands", "two ids or two numbers", format!("{first} and {second}"))
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

/// Where two values meet element by element; none: they do not.
pub(super) fn meet(a: Place, b: Place) -> Option<Place> {
    match (a, b) {
        _ if a == b && !matches!(a, Place::S(_)) => Some(a),
        (Place::C, other) | (other, Place::C) => Some(other),
        (Place::P, other) | (other, Place::P) => Some(other),
        (Place::G, Place::D) | (Place::D, Place::G) => Some(Place::D),
        _ => match (a.edge_rows(), b.edge_rows()) {
            (Some(first), Some(second)) if first == second => Some(Place::E(first)),
            _ => None,
        },
    }
}

/// The shape that two rows have together; none: they do not broadcast.
pub fn broadcast(a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let axes = a.len().max(b.len());
    let at = |shape: &[u64], axis: usize| if axis + shape.len() < axes { 1 } else { shape[axis + shape.len() - axes] };
    (0..axes)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (first, second) if first == second => Some(first),
            (1, other) | (other, 1) => Some(other),
            _ => None,
        })
        .collect()
}

fn expect_kind(what: &str, node: &Node, kinds: &[Type]) -> Result<(), Misfit> {
    if kinds.contains(&node.kind) {
        return Ok(());
    }
    let expected: Vec<String> = kinds.iter().map(Type::to_string).collect();
    Err(Misfit::new(format!("type of the {what}"), expected.join(" or "), node.kind.to_string()))
}

fn same_kinds(what: &str, a: &Node, b: &Node) -> Result<(), Misfit> {
    if a.kind == b.kind { Ok(()) } else { Err(Misfit::new(format!("types of {what}"), a.kind.to_string(), b.kind.to_string())) }
}

fn unary_row(operator: Unary, a: &Node) -> Result<Row, Misfit> {
    let kinds: &[Type] = match operator {
        Unary::Not => &[Type::Bool],
        Unary::Negative | Unary::Absolute | Unary::Square => &[Type::Int, Type::Real],
        _ => &[Type::Real],
    };
    expect_kind(&format!("operand of {operator:?}").to_lowercase(), a, kinds)?;
    Ok(Row::like(a))
}

fn binary_row(operator: Binary, a: &Node, b: &Node, row: Row) -> Result<Row, Misfit> {
    same_kinds("operands", a, b)?;
    let name = format!("operands of {operator:?}").to_lowercase();
    let (kinds, result): (&[Type], Type) = match operator {
        Binary::And | Binary::Or => (&[Type::Bool], Type::Bool),
        Binary::Equal | Binary::NotEqual => (&[Type::Bool, Type::Int, Type::Id, Type::Real], Type::Bool),
        Binary::Less | Binary::LessEqual => (&[Type::Int, Type::Id, Type::Real], Type::Bool),
        Binary::Minimum | Binary::Maximum => (&[Type::Int, Type::Id, Type::Real], a.kind),
        Binary::Divide => (&[Type::Real], Type::Real),
        _ => (&[Type::Int, Type::Real], a.kind),
    };
    expect_kind(&name, a, kinds)?;
    Ok(row.of(result))
}

fn cast_row(kind: Type, a: &Node) -> Result<Row, Misfit> {
    let fits = match (a.kind, kind) {
        (from, to) if from == to => true,
        (Type::Id, _) => false,
        (Type::Int, Type::Id) => a.place == Place::C,
        (_, Type::Id) => false,
        (_, Type::Bool) => false,
        _ => true,
    };
    if fits { Ok(Row::like(a).of(kind)) } else { Err(Misfit::new("type of a value", kind.to_string(), a.kind.to_string())) }
}

fn pool_row(op: &Op, a: &Node) -> Result<Row, Misfit> {
    let (expected, place) = match op {
        Op::Pool(_) => (Place::D, Place::G),
        Op::Give => (Place::G, Place::D),
        _ => (a.place, Place::P),
    };
    if a.place != expected {
        return Err(Misfit::new("place of what is pooled or given", expected.to_string(), a.place.to_string()));
    }
    if !matches!(op, Op::Give) {
        expect_kind("value that is pooled", a, &[Type::Int, Type::Real])?;
    }
    Ok(Row::like(a).at(place))
}

fn reduction_kind(reduction: Reduction, a: &Node) -> Result<Type, Misfit> {
    let kinds: &[Type] = match reduction {
        Reduction::Sum | Reduction::Product => &[Type::Int, Type::Real],
        Reduction::Minimum | Reduction::Maximum | Reduction::Mode => &[Type::Int, Type::Id, Type::Real],
        Reduction::Any | Reduction::All => &[Type::Bool],
        Reduction::HIndex => &[Type::Int],
        Reduction::Count => return Ok(Type::Int),
    };
    expect_kind(&format!("value of {reduction:?}").to_lowercase(), a, kinds)?;
    Ok(a.kind)
}

/// Type of what a fold's function gives for two arguments of this type.
fn function_kind(function: &Function, argument: Type) -> Result<Type, Misfit> {
    match function {
        Function::Left | Function::Right => Ok(argument),
        Function::Number(number) => Ok(number.kind()),
        Function::Unary(_, a) => function_kind(a, argument),
        Function::Cast(kind, _) => Ok(*kind),
        Function::Select(_, yes, _) => function_kind(yes, argument),
        Function::Binary(operator, a, _) => match operator {
            Binary::Less | Binary::LessEqual | Binary::Equal | Binary::NotEqual | Binary::And | Binary::Or => Ok(Type::Bool),
            _ => function_kind(a, argument),
        },
    }
}
