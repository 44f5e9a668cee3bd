//! normalise: `layer_norm` and `batch_norm`.
//!
//! promises  as in PyTorch: epsilon 1e-5, momentum 0.1, the running variance is unbiased, the one
//!           that normalises is biased
use super::calls::Arguments;
use super::tracer::{TraceResult, Tracer};
use super::value::{SpannedValue, Value};
use crate::syntax::Diagnostic;
use warploom_ir::{Init, NodeId, Op, Place, Pooling, Span, Unary};

const EPSILON: f64 = 1e-5;
const MOMENTUM: f64 = 0.1;

impl Tracer<'_> {
    pub fn normalised(&mut self, arguments: Arguments) -> TraceResult<Value> {
        let (kind, span) = (arguments.name.clone(), arguments.span);
        if self.repeating.is_some() {
            let found = Diagnostic::error(
                span,
                format!("`{kind}` inside `while`"),
                "a loop has no parameters of its own",
            );
            return Err(Box::new(found.hint(
                "compute it before the loop, or run a fixed number of steps:  for step in \
                 range(10)",
            )));
        }
        let [x, name] = arguments.take(["x", "name"], 1)?;
        let SpannedValue { value: x, span: at } = x.unwrap_or(SpannedValue::nothing(span));
        let given = self.checked_name(name.as_ref())?;
        let row = self.row(at, &x)?;
        let name = self.next_name(span, &kind, given.as_deref())?;
        if kind == "layer_norm" {
            return self.layer_norm(span, row, &name).map(Value::Node);
        }
        self.once_a_vertex(span, row, |tracer, row| tracer.batch_norm(span, row, &name))
            .map(Value::Node)
    }

    /// Over the last axis.
    fn layer_norm(&mut self, span: Span, row: NodeId, name: &str) -> TraceResult<NodeId> {
        let shape = self.shape(row).to_vec();
        let axis = shape.len() - 1;
        let (mut kept, length) = (shape.clone(), shape[axis]);
        kept[axis] = 1;
        let count = self.number(span, length as f64);
        let mean_last = |tracer: &mut Self, node: NodeId| {
            let sum =
                tracer.make(span, |builder| builder.make(Op::Axis(Pooling::Sum, axis), &[node]))?;
            let sum =
                tracer.make(span, |builder| builder.make_shaped(Op::Reshape, &[sum], &kept))?;
            tracer.make(span, |builder| builder.divide(sum, count))
        };
        let mean = mean_last(self, row)?;
        let centred = self.make(span, |builder| builder.subtract(row, mean))?;
        let squares = self.make(span, |builder| builder.unary(Unary::Square, centred))?;
        let variance = mean_last(self, squares)?;
        self.scaled(span, centred, variance, name, &[length])
    }

    /// Divides by the standard deviation, then applies a learned scale and shift.
    fn scaled(
        &mut self,
        span: Span,
        centred: NodeId,
        variance: NodeId,
        name: &str,
        shape: &[u64],
    ) -> TraceResult<NodeId> {
        let epsilon = self.number(span, EPSILON);
        let above = self.make(span, |builder| builder.add(variance, epsilon))?;
        let inverse = self.make(span, |builder| builder.unary(Unary::Rsqrt, above))?;
        let unit = self.make(span, |builder| builder.multiply(centred, inverse))?;
        let mut tensors = [unit; 2];
        for (tensor, (part, init)) in
            tensors.iter_mut().zip([("weight", Init::One), ("bias", Init::Zero)])
        {
            let name = format!("{name}.{part}");
            self.declare(span, &name)?;
            *tensor = self.parameter(span, name, shape.to_vec(), init, true);
        }
        let grown = self.make(span, |builder| builder.multiply(unit, tensors[0]))?;
        self.make(span, |builder| builder.add(grown, tensors[1]))
    }

    /// Over all rows in training, by the running mean and variance in evaluation.
    fn batch_norm(&mut self, span: Span, row: NodeId, name: &str) -> TraceResult<NodeId> {
        let rows = match self.place(row) {
            Place::D => self.data.nodes,
            Place::G => self.data.graphs,
            Place::S(warploom_ir::EdgeRows::Once) | Place::E(warploom_ir::EdgeRows::Once)
                if self.walks.last().is_none_or(|walk| walk.edges.relation.is_none()) =>
            {
                self.data.edges
            }
            Place::C | Place::P | Place::S(_) | Place::E(_) => {
                let label = format!(
                    "expected rows of vertices, graphs or all edges, found {}",
                    self.builder.describe(row)
                );
                return Err(Box::new(
                    Diagnostic::error(span, "`batch_norm` is over all rows", label)
                        .hint("normalise columns of the vertex:  v.h = batch_norm(v.h)"),
                ));
            }
        };
        let shape = self.shape(row).to_vec();
        let count = self.number(span, rows.max(1) as f64);
        let mean_rows = |tracer: &mut Self, node: NodeId| {
            let sum = tracer.make(span, |builder| builder.make(Op::SumRows, &[node]))?;
            tracer.make(span, |builder| builder.divide(sum, count))
        };
        let mean = mean_rows(self, row)?;
        let from_mean = self.make(span, |builder| builder.subtract(row, mean))?;
        let squares = self.make(span, |builder| builder.unary(Unary::Square, from_mean))?;
        let variance = mean_rows(self, squares)?;
        let unbiased = self.number(span, rows.max(1) as f64 / (rows.max(2) - 1) as f64);
        let unbiased = self.make(span, |builder| builder.multiply(variance, unbiased))?;
        let mut used = [mean, variance];
        for (position, (part, init, now)) in
            [("running_mean", Init::Zero, mean), ("running_var", Init::One, unbiased)]
                .into_iter()
                .enumerate()
        {
            let name = format!("{name}.{part}");
            self.declare(span, &name)?;
            let running = self.parameter(span, name, shape.clone(), init, false);
            let parameter = self.builder.gir.parameters.len() - 1;
            if self.data.training {
                let next = self.moved(span, running, now)?;
                self.builder.gir.updates.push((parameter, next));
            }
            used[position] = self
                .make(span, |builder| builder.make(Op::WhenTraining, &[used[position], running]))?;
        }
        let centred = self.make(span, |builder| builder.subtract(row, used[0]))?;
        self.scaled(span, centred, used[1], name, &shape)
    }

    /// The next value of a running statistic.
    fn moved(&mut self, span: Span, running: NodeId, now: NodeId) -> TraceResult<NodeId> {
        let now = self.make(span, |builder| builder.make(Op::Detach, &[now]))?;
        let (kept, taken) = (self.number(span, 1.0 - MOMENTUM), self.number(span, MOMENTUM));
        let old = self.make(span, |builder| builder.multiply(running, kept))?;
        let new = self.make(span, |builder| builder.multiply(now, taken))?;
        self.make(span, |builder| builder.add(old, new))
    }
}
