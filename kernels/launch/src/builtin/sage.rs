//! sage: GraphSAGE with mean aggregation (Hamilton, Ying & Leskovec, Inductive Representation
//! Learning on Large Graphs, NeurIPS 2017), full batch, no sampling.
//!
//! Layer k is
//!   h' = relu(mean over in-edges u -> v of h[u] Wl^T + b + h[v] Wr^T)
//! The mean is a sum whose epilogue multiplies with the inverse in-degree, 0 for a vertex without
//! in-edges; edge weights are not used, so a sum reads 4 bytes per edge and the gathered rows.
//!
//! promises  parameters `sage.sage.0.linear.2K.weight`, `.bias` (of the mean) and
//!           `sage.sage.0.linear.2K+1.weight` (of the vertex itself), weights [out, in]; the mean
//!           over no edges is 0
//! never     adds self loops; computes gradients of features; stores a mask of relu or dropout
use crate::builtin::Builtin;
use crate::builtin::draft::{Draft, DraftPart};
use crate::builtin::layers::{LayerOrder, Stack, build_in_best_order};
use crate::builtin::settings::{ChosenSettings, Domain, Setting};
use crate::{
    BufferName, EdgeFactor, Expression, GraphFacts, LaunchList, Operation, gradient_buffer,
    parameter_buffer,
};
use warploom_ir::{Direction, Unary};

pub(super) const BUILTIN: Builtin = Builtin {
    name: "sage",
    text: include_str!("../../../../pipelines/programs/sage.py"),
    doc: "GraphSAGE with mean aggregation (Hamilton, Ying & Leskovec 2017)",
    learns: true,
    settings: &[
        Setting {
            name: "hidden",
            domain: Domain::Whole { default: 16, least: 1, most: 65536 },
            doc: "columns between layers",
        },
        Setting {
            name: "layers",
            domain: Domain::Whole { default: 2, least: 1, most: 64 },
            doc: "number of layers",
        },
        Setting {
            name: "drop",
            domain: Domain::Real { default: 0.5, least: 0.0, bound: 1.0, inclusive: false },
            doc: "probability of dropout on each layer's input",
        },
    ],
    list,
};

const SHARE: &str = "share";

fn list(settings: &ChosenSettings, facts: &GraphFacts, order: LayerOrder) -> LaunchList {
    let stack = Stack::new(
        settings.integer("hidden"),
        settings.integer("layers"),
        settings.real("drop"),
        facts,
    );
    build_in_best_order(&stack, order, |orders| Program { stack: &stack, facts, orders }.list())
}

struct Program<'a> {
    stack: &'a Stack,
    facts: &'a GraphFacts,
    orders: &'a [LayerOrder],
}

/// The buffer names of a layer.
struct Layer {
    index: usize,
    input: BufferName,
    /// Mean of the input, sum first only.
    mean: BufferName,
    /// Weight and bias of the mean.
    mean_weight: String,
    bias: String,
    /// Weight of the vertex's own row.
    own_weight: String,
}

impl Program<'_> {
    fn list(&self) -> LaunchList {
        let mut draft = Draft::new(BUILTIN.name, self.facts);
        draft.value(SHARE, 1);
        let inverse = Expression::identity()
            .if_positive(Expression::unary(Unary::Reciprocal, Expression::identity()));
        draft.push(
            DraftPart::Prepare,
            SHARE,
            Operation::degree(SHARE, Direction::In, EdgeFactor::One, inverse),
        );
        let mut input = self.stack.first_input(&mut draft, None);
        let mut layers = Vec::new();
        for index in 0..self.stack.layers() {
            let layer = Layer {
                index,
                input,
                mean: format!("mean.{index}"),
                mean_weight: format!("sage.sage.0.linear.{}.weight", 2 * index),
                bias: format!("sage.sage.0.linear.{}.bias", 2 * index),
                own_weight: format!("sage.sage.0.linear.{}.weight", 2 * index + 1),
            };
            input = self.forward(&mut draft, &layer);
            layers.push(layer);
        }
        let mut slope = draft.slope_of_result(&input);
        for layer in layers.iter().rev().filter(|_| self.facts.training) {
            slope = self.backward(&mut draft, layer, &slope);
        }
        draft.train(&input, self.stack.draws())
    }

    /// Computes the next layer's input, or the result.
    fn forward(&self, draft: &mut Draft<'_>, layer: &Layer) -> BufferName {
        let Layer { index, input, mean, mean_weight, bias, own_weight } = layer;
        let (inner, out) = (self.stack.widths[*index], self.stack.widths[index + 1]);
        draft.weight(mean_weight, out, inner);
        draft.bias(bias, out);
        draft.weight(own_weight, out, inner);
        let own = draft.value(format!("own.{index}"), out);
        let next = draft.value(format!("h.{}", index + 1), out);
        let bias = Expression::load(parameter_buffer(bias));
        let own_product =
            self.stack.product(*index, &own, input, own_weight, Expression::identity().plus(bias));
        draft.push(DraftPart::Step, format!("own.{index}"), own_product);
        let finish =
            |made: Expression| self.stack.activated(*index, made.plus(Expression::load(&*own)));
        if self.orders[*index] == LayerOrder::SumFirst {
            draft.value(mean, inner);
            let sum = Operation::sum(mean, input, Direction::In, EdgeFactor::One, shared());
            draft.push(DraftPart::Step, format!("sum.{index}"), sum);
            let product = self.stack.product(
                *index,
                &next,
                mean,
                mean_weight,
                finish(Expression::identity()),
            );
            draft.push(DraftPart::Step, format!("product.{index}"), product);
        } else {
            let z = draft.value(format!("z.{index}"), out);
            let product =
                self.stack.product(*index, &z, input, mean_weight, Expression::identity());
            draft.push(DraftPart::Step, format!("product.{index}"), product);
            let sum = Operation::sum(&next, &z, Direction::In, EdgeFactor::One, finish(shared()));
            draft.push(DraftPart::Step, format!("sum.{index}"), sum);
        }
        next
    }

    /// From the gradient of the layer's pre-activations to those of its parameters and, except for
    /// the first layer, of the previous layer.
    fn backward(&self, draft: &mut Draft<'_>, layer: &Layer, slope: &str) -> BufferName {
        let Layer { index, input, bias, own_weight, .. } = layer;
        let bias_gradient =
            Operation::SumOverRows { out: gradient_buffer(bias), source: slope.to_owned() };
        draft.push(DraftPart::Backward, format!("bias.{index}"), bias_gradient);
        let own_gradient = self.stack.weight_gradient(*index, slope, input, own_weight);
        draft.push(DraftPart::Backward, format!("own.weight.{index}"), own_gradient);
        let previous = format!("slope.h.{index}");
        let own = format!("slope.own.{index}");
        if *index > 0 {
            let inner = self.stack.widths[*index];
            draft.value(&own, inner);
            draft.value(&previous, inner);
            draft.push(
                DraftPart::Backward,
                format!("back.own.{index}"),
                Operation::input_gradient(&own, slope, own_weight, Expression::identity()),
            );
        }
        let finish = self.stack.deactivated(
            *index,
            input,
            Expression::identity().plus(Expression::load(&*own)),
        );
        match self.orders[*index] {
            LayerOrder::SumFirst => self.backward_of_mean(draft, layer, slope, &previous, finish),
            _ => self.backward_of_product(draft, layer, slope, &previous, finish),
        }
        previous
    }

    fn backward_of_mean(
        &self,
        draft: &mut Draft<'_>,
        layer: &Layer,
        slope: &str,
        previous: &str,
        finish: Expression,
    ) {
        let Layer { index, mean, mean_weight, .. } = layer;
        let gradient = Operation::ProductOverRows {
            out: gradient_buffer(mean_weight),
            left: slope.to_owned(),
            right: mean.clone(),
        };
        draft.push(DraftPart::Backward, format!("weight.{index}"), gradient);
        if *index > 0 {
            let spread = draft.value(format!("slope.mean.{index}"), self.stack.widths[*index]);
            draft.push(
                DraftPart::Backward,
                format!("back.product.{index}"),
                Operation::input_gradient(&spread, slope, mean_weight, shared()),
            );
            let sum = Operation::sum(previous, &spread, self.reversed(), EdgeFactor::One, finish);
            draft.push(DraftPart::Backward, format!("back.sum.{index}"), sum);
        }
    }

    fn backward_of_product(
        &self,
        draft: &mut Draft<'_>,
        layer: &Layer,
        slope: &str,
        previous: &str,
        finish: Expression,
    ) {
        let Layer { index, input, mean_weight, .. } = layer;
        let out = self.stack.widths[index + 1];
        let spread = draft.value(format!("slope.h.{}.shared", index + 1), out);
        let expression = Expression::load(slope).times(Expression::load(SHARE));
        draft.push(
            DraftPart::Backward,
            format!("back.share.{index}"),
            Operation::Elementwise { out: spread.clone(), expression },
        );
        let z = draft.value(format!("slope.z.{index}"), out);
        let sum =
            Operation::sum(&z, &spread, self.reversed(), EdgeFactor::One, Expression::identity());
        draft.push(DraftPart::Backward, format!("back.sum.{index}"), sum);
        let gradient = self.stack.weight_gradient(*index, &z, input, mean_weight);
        draft.push(DraftPart::Backward, format!("weight.{index}"), gradient);
        if *index > 0 {
            draft.push(
                DraftPart::Backward,
                format!("back.product.{index}"),
                Operation::input_gradient(previous, &z, mean_weight, finish),
            );
        }
    }

    fn reversed(&self) -> Direction {
        if self.facts.symmetric { Direction::In } else { Direction::Out }
    }
}

fn shared() -> Expression {
    Expression::identity().times(Expression::load(SHARE))
}
