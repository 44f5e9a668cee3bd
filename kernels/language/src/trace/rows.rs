//! rows: operators on the axes of a row, and arguments that are shapes or widths.
//!
//! promises  a number (shape `[]`) counts as a row of one element where a row is needed
use super::calls::Arguments;
use super::constants;
use super::tracer::{TraceResult, Tracer, check_shape, unfit};
use super::value::{End, SpannedValue, Value};
use crate::syntax::Diagnostic;
use warploom_ir::{Direction, Misfit, NodeId, Op, Place, Pooling, Span, Type, Unary};

/// Maximum elements of a tensor.
const ELEMENTS_MOST: u64 = 1 << 40;
/// Maximum values of a range.
const RANGE_MOST: i64 = 10_000;

impl Tracer<'_> {
    pub fn row_operator(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        match arguments.name.as_str() {
            "dot" => {
                let [a, b] = self.required(arguments.take(["a", "b"], 2)?);
                let mut nodes = [self.real(a.span, &a.value)?, self.real(b.span, &b.value)?];
                self.together(span, &mut nodes)?;
                let product = self.make(span, |builder| builder.multiply(nodes[0], nodes[1]))?;
                Ok(Value::Node(self.make(span, |builder| builder.sum_last(product))?))
            }
            "norm" => {
                let [x] = self.required(arguments.take(["x"], 1)?);
                let node = self.real(x.span, &x.value)?;
                let squares = self.make(span, |builder| builder.unary(Unary::Square, node))?;
                let sum = self.make(span, |builder| builder.sum_last(squares))?;
                Ok(Value::Node(self.make(span, |builder| builder.unary(Unary::Sqrt, sum))?))
            }
            "concat" => self.concat(arguments),
            "flatten" => {
                let [x] = self.required(arguments.take(["x"], 1)?);
                let node = self.node(x.span, &x.value)?;
                let columns = self.builder.node(node).columns();
                Ok(Value::Node(
                    self.make(span, |builder| {
                        builder.make_shaped(Op::Reshape, &[node], &[columns])
                    })?,
                ))
            }
            "reshape" => self.reshape(arguments),
            "len" => {
                let [x] = self.required(arguments.take(["x"], 1)?);
                match &x.value {
                    Value::Tuple(values) => Ok(Value::Int(values.len() as i64)),
                    other => {
                        let label = format!("expected a tuple, found {}", self.describe(other));
                        Err(Box::new(
                            Diagnostic::error(
                                x.span,
                                "`len` counts what is known when compiled",
                                label,
                            )
                            .hint(
                                "edges are counted by  v.indegree  or  count(u for u in v.innbs)",
                            ),
                        ))
                    }
                }
            }
            _ => self.range(arguments),
        }
    }

    /// The required arguments, which `take` has checked.
    pub fn required<const N: usize>(&self, taken: [Option<SpannedValue>; N]) -> [SpannedValue; N] {
        taken.map(|argument| argument.unwrap_or(SpannedValue::nothing(Span::default())))
    }

    fn concat(&mut self, mut arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let axis = arguments.remove("axis");
        let values: Vec<SpannedValue> = match arguments.values() {
            Some([SpannedValue { value: Value::Tuple(parts), span: at }]) => {
                parts.iter().map(|part| SpannedValue::new(part.clone(), *at)).collect()
            }
            Some(values) => values.to_vec(),
            None => Vec::new(),
        };
        if values.is_empty() {
            return Err(Box::new(
                Diagnostic::error(span, "`concat` takes values", "expected at least one")
                    .hint("concat(a, b), concat(a, b, axis=0)"),
            ));
        }
        let mut nodes = Vec::new();
        for SpannedValue { value, span: at } in &values {
            let mut node = self.node(*at, value)?;
            if self.shape(node).is_empty() {
                node = self.make(*at, |builder| builder.make_shaped(Op::Reshape, &[node], &[1]))?;
            }
            nodes.push(node);
        }
        let mut kind = self.kind(nodes[0]);
        for node in &nodes[1..] {
            let other =
                self.builder.common_kind(nodes[0], *node).map_err(|misfit| unfit(span, misfit))?;
            kind = kind.max(other);
        }
        for node in &mut nodes {
            let inner = *node;
            *node = self.make(span, |builder| builder.cast(kind, inner))?;
        }
        self.together(span, &mut nodes)?;
        // A row of a graph next to one of a vertex is broadcast to the vertices.
        if nodes.iter().any(|node| self.place(*node) == Place::D) {
            for node in &mut nodes {
                let inner = *node;
                *node = self.make(span, |builder| builder.broadcast_to_vertices(inner))?;
            }
        }
        let axis = match axis {
            Some(axis) => self.axis(&axis, nodes[0])?,
            None => self.shape(nodes[0]).len() - 1,
        };
        if let &[node] = nodes.as_slice() {
            return Ok(Value::Node(node));
        }
        Ok(Value::Node(self.make(span, |builder| builder.make(Op::Concat(axis), &nodes))?))
    }

    /// An axis of a row; negative ones count from the end.
    pub fn axis(&self, axis: &SpannedValue, node: NodeId) -> TraceResult<usize> {
        let SpannedValue { value, span } = axis;
        let axes = self.shape(node).len() as i64;
        let words = if axes == 0 {
            "a row with axes".to_owned()
        } else {
            format!("{} to {}", -axes, axes - 1)
        };
        match constants::integer(value) {
            Some(axis) if (-axes..axes).contains(&axis) => Ok(axis.rem_euclid(axes) as usize),
            _ => {
                let label = format!("expected {words}, found {}", self.describe(value));
                Err(Box::new(
                    Diagnostic::error(*span, "the row has no such axis", label)
                        .hint(format!("the value is {}", self.builder.describe(node))),
                ))
            }
        }
    }

    fn reshape(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let [x, shape] = self.required(arguments.take(["x", "shape"], 2)?);
        let node = self.node(x.span, &x.value)?;
        let columns = self.builder.node(node).columns();
        let wanted: Vec<Value> = match &shape.value {
            Value::Tuple(lengths) => lengths.to_vec(),
            other => vec![other.clone()],
        };
        let open = wanted.iter().filter(|length| matches!(length, Value::Int(-1))).count();
        let known: Vec<Value> =
            wanted.iter().filter(|length| !matches!(length, Value::Int(-1))).cloned().collect();
        let lengths =
            self.lengths(&SpannedValue::new(Value::tuple(known), shape.span), "a shape")?;
        let product: u64 = lengths.iter().product();
        let mut lengths = lengths.into_iter();
        let rest = columns.checked_div(product).unwrap_or(0);
        if open > 1 || (open == 1 && rest * product != columns) {
            let label = format!(
                "expected {columns} numbers in all, found {}",
                wanted.iter().map(|length| length.describe()).collect::<Vec<_>>().join(", ")
            );
            return Err(Box::new(
                Diagnostic::error(shape.span, "the shape does not fit the row", label)
                    .hint(format!("the value is {}", self.builder.describe(node))),
            ));
        }
        let shape: Vec<u64> =
            wanted
                .iter()
                .map(|length| {
                    if matches!(length, Value::Int(-1)) {
                        rest
                    } else {
                        lengths.next().unwrap_or(1)
                    }
                })
                .collect();
        let found = columns;
        if shape.iter().product::<u64>() != found {
            let label =
                format!("expected {found} numbers in all, found {}", shape.iter().product::<u64>());
            return Err(Box::new(
                Diagnostic::error(span, "the shape does not fit the row", label)
                    .hint(format!("the value is {}", self.builder.describe(node))),
            ));
        }
        Ok(Value::Node(
            self.make(span, |builder| builder.make_shaped(Op::Reshape, &[node], &shape))?,
        ))
    }

    /// A width or shape: positive constant integers with a bounded product.
    pub fn lengths(&self, found: &SpannedValue, what: &str) -> TraceResult<Vec<u64>> {
        let SpannedValue { value, span } = found;
        let parts: Vec<&Value> = match value {
            Value::Tuple(parts) => parts.iter().collect(),
            one => vec![one],
        };
        let mut lengths = Vec::new();
        for part in parts {
            match part {
                Value::Int(length @ 1..) => lengths.push(*length as u64),
                other => {
                    let label = format!(
                        "expected whole numbers of at least 1, known when compiled, found {}",
                        self.describe(other)
                    );
                    return Err(Box::new(
                        Diagnostic::error(*span, format!("this is not {what}"), label)
                            .hint("16, (8, 16)  or a setting"),
                    ));
                }
            }
        }
        match check_shape(&lengths, ELEMENTS_MOST) {
            Ok(()) => Ok(lengths),
            Err((expected, found)) => {
                Err(unfit(*span, Misfit::new("size of a tensor", expected, found)))
            }
        }
    }

    fn range(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let count = arguments.count();
        let taken = arguments.take(["start", "stop", "step"], 1)?;
        let mut bounds = Vec::new();
        for SpannedValue { value, span: at } in taken.iter().flatten() {
            let Value::Int(number) = value else {
                let label = format!(
                    "expected a whole number known when compiled, found {}",
                    self.describe(value)
                );
                let found = Diagnostic::error(*at, "a range is unrolled when compiled", label);
                return Err(Box::new(
                    found.hint("make it a setting; to repeat until something holds, use `while`"),
                ));
            };
            bounds.push(*number);
        }
        let (start, stop, step) = match (count, bounds.as_slice()) {
            (1, [stop]) => (0, *stop, 1),
            (2, [start, stop]) => (*start, *stop, 1),
            (3, [start, stop, step]) => (*start, *stop, *step),
            _ => {
                return Err(Box::new(
                    Diagnostic::error(
                        span,
                        "`range` takes numbers without names",
                        "expected one to three numbers",
                    )
                    .hint("range(layers)"),
                ));
            }
        };
        if step == 0 {
            return Err(Box::new(
                Diagnostic::error(span, "a range needs a step", "expected a step other than 0")
                    .hint("range(start, stop, 1)"),
            ));
        }
        let mut values = Vec::new();
        let mut at = Some(start);
        while let Some(number) =
            at.filter(|number| if step > 0 { *number < stop } else { *number > stop })
        {
            values.push(Value::Int(number));
            if values.len() as i64 > RANGE_MOST {
                let found = Diagnostic::error(
                    span,
                    "the range is too long to be unrolled",
                    format!("expected at most {RANGE_MOST} steps"),
                );
                return Err(Box::new(
                    found.hint("`for` is unrolled; use `while` for what is repeated often"),
                ));
            }
            at = number.checked_add(step);
        }
        Ok(Value::tuple(values))
    }

    pub fn pool(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let (name, span) = (arguments.name.clone(), arguments.span);
        self.outside_of_walks(
            span,
            &format!("`{name}` is over all vertices"),
            "compute it before and keep it in a column",
        )?;
        let [x] = self.required(arguments.take(["x"], 1)?);
        let mut node = self.node(x.span, &x.value)?;
        if self.kind(node) == Type::Bool || name == "pool_mean" {
            let kind = if name == "pool_mean" { Type::Real } else { Type::Int };
            node = self.make(span, |builder| builder.cast(kind, node))?;
        }
        node = self.make(span, |builder| builder.broadcast_to_vertices(node))?;
        let pooling = if name == "pool_max" { Pooling::Maximum } else { Pooling::Sum };
        let pooled = self.make(span, |builder| builder.make(Op::Pool(pooling), &[node]))?;
        if name != "pool_mean" {
            return Ok(Value::Node(pooled));
        }
        let size =
            self.make(span, |builder| builder.make(Op::Input(warploom_ir::Input::GraphSize), &[]))?;
        let size = self.clamp_count(span, size)?;
        Ok(Value::Node(self.make(span, |builder| builder.divide(pooled, size))?))
    }

    /// A count as a float, or 1 if it is 0: the divisor of a sum.
    pub fn clamp_count(&mut self, span: Span, count: NodeId) -> TraceResult<NodeId> {
        let one = self.constant(span, warploom_ir::Number::Int(1));
        let count =
            self.make(span, |builder| builder.binary(warploom_ir::Binary::Maximum, count, one))?;
        self.make(span, |builder| builder.cast(Type::Real, count))
    }

    pub fn common_neighbors(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let span = arguments.span;
        let [a, b] = self.required(arguments.take(["u", "v"], 2)?);
        let walk = self.walks.last().copied();
        let end = |value: &Value| match value {
            Value::Vertex => Some(End::Near),
            Value::End(edges, end) if walk.is_some_and(|walk| walk.edges == *edges) => Some(*end),
            _ => None,
        };
        match (walk, end(&a.value), end(&b.value)) {
            (Some(walk), Some(first), Some(second))
                if first != second && walk.edges.direction != Direction::Both =>
            {
                Ok(Value::Node(self.make(span, |builder| builder.make(Op::CommonNeighbors, &[]))?))
            }
            (Some(walk), Some(first), Some(second)) if first != second => {
                let found = Diagnostic::error(
                    span,
                    "common neighbours are counted along one direction",
                    format!("found {}", self.edges_in_words(walk.edges)),
                );
                Err(Box::new(found.hint("use  v.innbs  or  v.outnbs")))
            }
            _ => {
                let label = format!(
                    "expected a neighbour and `v`, found {} and {}",
                    self.describe(&a.value),
                    self.describe(&b.value)
                );
                let found = Diagnostic::error(
                    span,
                    "common neighbours are those of the two ends of an edge",
                    label,
                );
                Err(Box::new(found.hint("sum(common_neighbors(u, v) for u in v.innbs)")))
            }
        }
    }
}
