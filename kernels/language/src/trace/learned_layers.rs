//! learned_layers: layers with parameters, and dropout.
//!
//! promises  weights are `[product of width, in]`, head-major; layers applied to a vertex row seen
//!           from edges are computed once per vertex
//! never     allows a parameter inside `while`
use super::calls::Arguments;
use super::constants;
use super::tracer::{PendingBias, TraceResult, Tracer};
use super::value::{End, Matrix, SpannedValue, Value};
use crate::syntax::Diagnostic;
use warploom_ir::{Init, NodeId, Number, Op, Parameter, Place, Span, Type, Unary, nearest};

/// The initialisers of `param`.
const INITS: [(&str, Init); 4] = [
    ("glorot_uniform", Init::GlorotUniform),
    ("zero", Init::Zero),
    ("one", Init::One),
    ("normal", Init::Normal),
];

impl Tracer<'_> {
    pub fn learned(&mut self, arguments: Arguments) -> TraceResult<Value> {
        if self.repeating.is_some() {
            let found = Diagnostic::error(
                arguments.span,
                format!("`{}` inside `while`", arguments.name),
                "a loop has no parameters of its own",
            );
            return Err(Box::new(found.hint(
                "compute it before the loop, or run a fixed number of steps:  for step in \
                 range(10)",
            )));
        }
        match arguments.name.as_str() {
            "linear" => self.linear_call(arguments),
            "bias" => {
                let span = arguments.span;
                let [name] = arguments.take(["name"], 0)?;
                let given = self.checked_name(name.as_ref())?;
                let name = self.next_name(span, "bias", given.as_deref())?;
                self.declare(span, &name)?;
                self.biases.push(PendingBias { span, name, made: None });
                Ok(Value::Bias(self.biases.len() - 1))
            }
            "param" => self.param(arguments),
            "mlp" => self.mlp(arguments),
            _ => self.embedding(arguments),
        }
    }

    /// `name="..."`.
    pub fn checked_name(&self, name: Option<&SpannedValue>) -> TraceResult<Option<String>> {
        let Some(SpannedValue { value, span }) = name else { return Ok(None) };
        match value {
            Value::Text(text)
                if !text.is_empty()
                    && text
                        .chars()
                        .all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter)) =>
            {
                Ok(Some(text.to_string()))
            }
            other => {
                let label = format!(
                    "expected a string of letters, digits, `_`, `-` and `.`, found {}",
                    self.describe(other)
                );
                Err(Box::new(
                    Diagnostic::error(*span, "this is not a name of a parameter", label)
                        .hint("name=\"first\""),
                ))
            }
        }
    }

    /// A new tensor.
    pub fn parameter(
        &mut self,
        span: Span,
        name: String,
        shape: Vec<u64>,
        init: Init,
        learned: bool,
    ) -> NodeId {
        self.builder.span = span;
        self.builder.parameter(Parameter { name, shape, init, learned })
    }

    fn constant_bool(
        &self,
        argument: Option<SpannedValue>,
        what: &str,
        default: bool,
    ) -> TraceResult<bool> {
        match argument {
            None => Ok(default),
            Some(SpannedValue { value: Value::Bool(value), .. }) => Ok(value),
            Some(SpannedValue { value: other, span }) => {
                let label = format!("expected `True` or `False`, found {}", self.describe(&other));
                Err(Box::new(
                    Diagnostic::error(span, format!("`{what}` is known when compiled"), label)
                        .hint(format!("{what}=False")),
                ))
            }
        }
    }

    fn linear_call(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let [x, width, bias, name] = arguments.take(["x", "width", "bias", "name"], 2)?;
        let [x, width] = self.required([x, width]);
        let bias = self.constant_bool(bias, "bias", true)?;
        let given = self.checked_name(name.as_ref())?;
        let width = self.lengths(&width, "a width")?;
        let name = self.next_name(span, "linear", given.as_deref())?;
        self.linear(span, &x, &width, bias, name).map(Value::Node)
    }

    /// `x` times a weight, plus a bias.
    fn linear(
        &mut self,
        span: Span,
        x: &SpannedValue,
        width: &[u64],
        bias: bool,
        name: String,
    ) -> TraceResult<NodeId> {
        let out: u64 = width.iter().product();
        if let (Value::Unmade(rows), false) = (&x.value, self.data.kinds.is_empty()) {
            let rows = rows.clone();
            let made = self.linear_of_kinds(span, &rows, out, bias, &name)?;
            return self.reshape_last_axis(span, made, width);
        }
        let weight_name = format!("{name}.weight");
        self.declare(span, &weight_name)?;
        let product = match &x.value {
            Value::Unmade(rows) => {
                let rows = rows.clone();
                let weight = self.parameter(
                    span,
                    weight_name,
                    vec![out, self.data.nodes],
                    Init::GlorotUniform,
                    true,
                );
                self.unmade_product(span, &rows, Matrix::Whole(weight, true))?
            }
            value => {
                let node = self.row(x.span, value)?;
                let inner = self.shape(node).last().copied().unwrap_or(1);
                let weight =
                    self.parameter(span, weight_name, vec![out, inner], Init::GlorotUniform, true);
                self.make(span, |builder| {
                    builder.make(Op::Product { transposed: true }, &[node, weight])
                })?
            }
        };
        let mut made = product;
        if bias {
            let bias_name = format!("{name}.bias");
            self.declare(span, &bias_name)?;
            let bias = self.parameter(span, bias_name, vec![out], Init::Zero, true);
            made = self.make(span, |builder| builder.add(made, bias))?;
        }
        self.reshape_last_axis(span, made, width)
    }

    /// Splits the last axis into these.
    fn reshape_last_axis(
        &mut self,
        span: Span,
        made: NodeId,
        width: &[u64],
    ) -> TraceResult<NodeId> {
        let mut shape = self.shape(made).to_vec();
        shape.pop();
        shape.extend(width);
        self.make(span, |builder| builder.make_shaped(Op::Reshape, &[made], &shape))
    }

    /// A float row with at least one axis.
    pub fn row(&mut self, span: Span, value: &Value) -> TraceResult<NodeId> {
        let node = self.node(span, value)?;
        if self.kind(node) == Type::Id {
            let found = Diagnostic::error(
                span,
                "an id is no number",
                format!("expected rows of numbers, found {}", self.builder.describe(node)),
            );
            return Err(Box::new(
                found.hint("learn a row for each vertex:  embedding(v.id, width)"),
            ));
        }
        let node = self.real(span, &Value::Node(node))?;
        if self.shape(node).is_empty() {
            self.make(span, |builder| builder.make_shaped(Op::Reshape, &[node], &[1]))
        } else {
            Ok(node)
        }
    }

    /// `other + bias()`; `left` and `right` are the places of its operands.
    pub fn add_bias(
        &mut self,
        span: Span,
        number: usize,
        other: &Value,
        left: Span,
        right: Span,
    ) -> TraceResult<Value> {
        let bias_at = self.biases[number].span;
        let is_left = (left.start..left.end.max(left.start + 1)).contains(&bias_at.start);
        let other_at = if is_left { right } else { left };
        let rows = self.real(other_at, other)?;
        let shape = self.shape(rows).to_vec();
        let name = self.biases[number].name.clone();
        let bias = self.parameter(bias_at, name, shape, Init::Zero, true);
        self.biases[number].made = Some(bias);
        Ok(Value::Node(self.make(span, |builder| builder.add(rows, bias))?))
    }

    fn param(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let [shape, init, name] = arguments.take(["shape", "init", "name"], 1)?;
        let given = self.checked_name(name.as_ref())?;
        let shape = self.lengths(&shape.unwrap_or(SpannedValue::nothing(span)), "a shape")?;
        let init = match init {
            None if shape.len() >= 2 => Init::GlorotUniform,
            None => Init::Zero,
            Some(SpannedValue { value: Value::Text(name), span: at }) => {
                match INITS.iter().find(|(known, _)| *known == &*name) {
                    Some((_, Init::GlorotUniform)) if shape.len() < 2 => {
                        let found = Diagnostic::error(
                            at,
                            "`glorot_uniform` is for tensors of two axes or more",
                            format!("found shape {shape:?}"),
                        );
                        return Err(Box::new(found.hint("init=\"normal\"  or  init=\"zero\"")));
                    }
                    Some((_, init)) => *init,
                    None => {
                        let known = INITS.map(|(name, _)| format!("`{name}`")).join(", ");
                        let hint = INITS
                            .iter()
                            .map(|(known, _)| *known)
                            .find(|known| known.starts_with(&*name))
                            .or(nearest(&name, INITS.map(|(name, _)| name)))
                            .unwrap_or("zero");
                        let found = Diagnostic::error(
                            at,
                            format!("no tensor starts as `{name}`"),
                            format!("expected one of {known}"),
                        );
                        return Err(Box::new(found.hint(format!("init=\"{hint}\""))));
                    }
                }
            }
            Some(SpannedValue { value: other, span: at }) => {
                let label = format!("expected a string, found {}", self.describe(&other));
                return Err(Box::new(
                    Diagnostic::error(at, "`init` names how a tensor starts", label)
                        .hint("init=\"zero\""),
                ));
            }
        };
        let name = self.next_name(span, "param", given.as_deref())?;
        self.declare(span, &name)?;
        Ok(Value::Node(self.parameter(span, name, shape, init, true)))
    }

    fn mlp(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let [x, widths, name] = arguments.take(["x", "widths", "name"], 2)?;
        let [x, widths] = self.required([x, widths]);
        let given = self.checked_name(name.as_ref())?;
        let widths = self.lengths(&widths, "a tuple of widths")?;
        if widths.is_empty() {
            return Err(Box::new(
                Diagnostic::error(span, "`mlp` needs a width", "expected at least one")
                    .hint("mlp(x, (16, 16))"),
            ));
        }
        let name = self.next_name(span, "mlp", given.as_deref())?;
        let mut made = x;
        for (index, width) in widths.iter().enumerate() {
            if index > 0 {
                let node = self.node(span, &made.value)?;
                made.value =
                    Value::Node(self.make(span, |builder| builder.unary(Unary::Relu, node))?);
            }
            let layer = self.linear(span, &made, &[*width], true, format!("{name}.{index}"))?;
            made = SpannedValue::new(Value::Node(layer), span);
        }
        Ok(made.value)
    }

    fn embedding(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let [index, width, count, name] = arguments.take(["index", "width", "count", "name"], 2)?;
        let [index, width] = self.required([index, width]);
        let given = self.checked_name(name.as_ref())?;
        let node = self.node(index.span, &index.value)?;
        if !matches!(self.kind(node), Type::Int | Type::Id) || !self.shape(node).is_empty() {
            let label = format!("expected an int or an id, found {}", self.builder.describe(node));
            return Err(Box::new(
                Diagnostic::error(index.span, "an embedding is looked up by a whole number", label)
                    .hint("embedding(v.id, width)"),
            ));
        }
        let named = self.names_of(node).map(<[String]>::len);
        let count = match count {
            Some(count) => {
                let count = SpannedValue::new(Value::tuple(vec![count.value]), count.span);
                self.lengths(&count, "a number of rows")?[0]
            }
            None if self.kind(node) == Type::Id => self.data.nodes.max(1),
            None if named.is_some() => named.unwrap_or(0) as u64,
            None => {
                let found = Diagnostic::error(
                    span,
                    "the number of rows of this embedding is not known",
                    "expected `count`, since the index is not an id",
                );
                return Err(Box::new(found.hint("embedding(index, width, count=100)")));
            }
        };
        let width = self.lengths(&width, "a width")?;
        let columns: u64 = width.iter().product();
        let name = format!("{}.weight", self.next_name(span, "embedding", given.as_deref())?);
        self.declare(span, &name)?;
        let table = self.parameter(span, name, vec![count, columns], Init::Normal, true);
        let rows = self
            .make(span, |builder| builder.make(Op::Lookup { transposed: false }, &[table, node]))?;
        Ok(Value::Node(
            self.make(span, |builder| builder.make_shaped(Op::Reshape, &[rows], &width))?,
        ))
    }

    pub fn dropout(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let [x, probability] = self.required(arguments.take(["x", "p"], 2)?);
        let p = match constants::real(&probability.value) {
            Some(p) if (0.0..1.0).contains(&p) => p,
            _ => {
                let label = format!(
                    "expected a constant of at least 0 and below 1, found {}",
                    self.describe(&probability.value)
                );
                return Err(Box::new(
                    Diagnostic::error(
                        probability.span,
                        "this is not a probability of dropout",
                        label,
                    )
                    .hint("dropout(x, 0.5)"),
                ));
            }
        };
        let site = self.dropouts;
        self.dropouts += 1;
        if let Value::Unmade(rows) = &x.value {
            let rows = rows.clone();
            // Tables of kinds have dropout sites of their own.
            self.dropouts += self.data.kinds.len() as u32;
            return if p == 0.0 { Ok(x.value) } else { self.unmade_dropout(span, &rows, p, site) };
        }
        let node = self.real(x.span, &x.value)?;
        if p == 0.0 {
            return Ok(Value::Node(node));
        }
        self.once_a_vertex(span, node, |tracer, node| {
            tracer.make(span, |builder| builder.make(Op::Dropout { probability: p, site }, &[node]))
        })
        .map(Value::Node)
    }

    /// Applies a layer to vertex rows instead of their view from edges.
    pub fn once_a_vertex(
        &mut self,
        span: Span,
        node: NodeId,
        apply: impl FnOnce(&mut Self, NodeId) -> TraceResult<NodeId>,
    ) -> TraceResult<NodeId> {
        let seen = self.builder.node(node);
        let (op, inner) = (seen.op.clone(), seen.inputs.first().copied());
        match (&op, inner) {
            (Op::Far(edges), Some(inner)) => {
                let made = apply(self, inner)?;
                self.view_node_from_end(span, made, *edges, End::Far)
            }
            (Op::Near(edges), Some(inner)) => {
                let made = apply(self, inner)?;
                self.view_node_from_end(span, made, *edges, End::Near)
            }
            _ => apply(self, node),
        }
    }

    /// A column of ones for each vertex, to which dropout can be applied.
    pub fn ones(&mut self, span: Span) -> TraceResult<NodeId> {
        let one = self.constant(span, Number::Real(1.0));
        let ones = self.make(span, |builder| builder.broadcast_to_vertices(one))?;
        debug_assert_eq!(self.place(ones), Place::D, "a row for each vertex");
        Ok(ones)
    }
}
