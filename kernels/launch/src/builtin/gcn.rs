//! gcn: graph convolution (Kipf & Welling, Semi-Supervised Classification with Graph Convolutional
//! Networks, ICLR 2017).
//!
//! With s = degree^-1/2 and w the weights of edges u -> v, layer k is
//!   h' = relu(b + s[v] sum w s[u] (h W^T)[u])
//!   source side        s[u] is applied once per row, in the epilogue of the launch that computes
//!                      the gathered rows, not once per edge
//!   destination side   s[v], bias, relu and the next dropout are the epilogue of the sum (product
//!                      first) or partly of the product (sum first); an unweighted graph so reads
//!                      4 bytes per edge and the gathered rows
//!   backward           the same sum along reversed edges; forward ones where the graph is
//!                      symmetric and unweighted
//!
//! promises  parameters `gcn.gcn.0.linear.K.weight` [out, in] and `gcn.gcn.0.bias.K` [out];
//!           isolated vertices get the bias
//! never     adds self loops (ingest does, `self_loops: add`); computes gradients of features or
//!           edge weights; stores a mask of relu or dropout
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
    name: "gcn",
    text: include_str!("../../../../pipelines/programs/gcn.py"),
    doc: "graph convolution (Kipf & Welling 2017)",
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
            doc: "number of convolutions",
        },
        Setting {
            name: "drop",
            domain: Domain::Real { default: 0.5, least: 0.0, bound: 1.0, inclusive: false },
            doc: "probability of dropout on each layer's input",
        },
    ],
    list,
};

const SCALE: &str = "scale";

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
    /// The input of the product (product first) or of the sum (sum first).
    input: BufferName,
    /// Sum of the input, sum first only.
    summed: BufferName,
    weight: String,
    bias: String,
}

impl Program<'_> {
    fn list(&self) -> LaunchList {
        let mut draft = Draft::new(BUILTIN.name, self.facts);
        draft.value(SCALE, 1);
        let inverse_root = Expression::identity()
            .if_positive(Expression::unary(Unary::Rsqrt, Expression::identity()));
        draft.push(
            DraftPart::Prepare,
            SCALE,
            Operation::degree(SCALE, Direction::In, self.factor(), inverse_root),
        );
        let scale = (self.orders[0] == LayerOrder::SumFirst).then_some(SCALE);
        let mut input = self.stack.first_input(&mut draft, scale);
        let mut layers = Vec::new();
        for index in 0..self.stack.layers() {
            let layer = Layer {
                index,
                input,
                summed: format!("a.{index}"),
                weight: format!("gcn.gcn.0.linear.{index}.weight"),
                bias: format!("gcn.gcn.0.bias.{index}"),
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
        let Layer { index, input, summed, weight, bias } = layer;
        let (inner, out) = (self.stack.widths[*index], self.stack.widths[index + 1]);
        draft.weight(weight, out, inner);
        draft.bias(bias, out);
        let next_sums = self.orders.get(index + 1) == Some(&LayerOrder::SumFirst);
        let next =
            if next_sums { format!("h.{}.scaled", index + 1) } else { format!("h.{}", index + 1) };
        let next = draft.value(next, out);
        let finish = |made: Expression| {
            let biased = made.plus(Expression::load(parameter_buffer(bias)));
            let active = self.stack.activated(*index, biased);
            if next_sums { active.times(Expression::load(SCALE)) } else { active }
        };
        if self.orders[*index] == LayerOrder::SumFirst {
            draft.value(summed, inner);
            draft.push(
                DraftPart::Step,
                format!("sum.{index}"),
                Operation::sum(summed, input, Direction::In, self.factor(), scaled()),
            );
            let product =
                self.stack.product(*index, &next, summed, weight, finish(Expression::identity()));
            draft.push(DraftPart::Step, format!("product.{index}"), product);
        } else {
            let z = draft.value(format!("z.{index}"), out);
            let product = self.stack.product(*index, &z, input, weight, scaled());
            draft.push(DraftPart::Step, format!("product.{index}"), product);
            let sum = Operation::sum(&next, &z, Direction::In, self.factor(), finish(scaled()));
            draft.push(DraftPart::Step, format!("sum.{index}"), sum);
        }
        next
    }

    /// From the gradient of the layer's pre-activations to those of its parameters and, except for
    /// the first layer, of the previous layer.
    fn backward(&self, draft: &mut Draft<'_>, layer: &Layer, slope: &str) -> BufferName {
        let Layer { index, input, summed, weight, bias } = layer;
        let (inner, out) = (self.stack.widths[*index], self.stack.widths[index + 1]);
        let bias_gradient =
            Operation::SumOverRows { out: gradient_buffer(bias), source: slope.to_owned() };
        draft.push(DraftPart::Backward, format!("bias.{index}"), bias_gradient);
        let previous = format!("slope.h.{index}");
        if self.orders[*index] == LayerOrder::SumFirst {
            let gradient = Operation::ProductOverRows {
                out: gradient_buffer(weight),
                left: slope.to_owned(),
                right: summed.clone(),
            };
            draft.push(DraftPart::Backward, format!("weight.{index}"), gradient);
            if *index == 0 {
                return previous;
            }
            let spread = draft.value(format!("slope.a.{index}"), inner);
            draft.push(
                DraftPart::Backward,
                format!("back.product.{index}"),
                Operation::input_gradient(&spread, slope, weight, scaled()),
            );
            draft.value(&previous, inner);
            let epilogue = self.stack.deactivated(*index, input, scaled());
            let sum = Operation::sum(&previous, &spread, self.reversed(), self.factor(), epilogue);
            draft.push(DraftPart::Backward, format!("back.sum.{index}"), sum);
            return previous;
        }
        let spread = draft.value(format!("slope.h.{}.scaled", index + 1), out);
        let expression = Expression::load(slope).times(Expression::load(SCALE));
        draft.push(
            DraftPart::Backward,
            format!("back.scale.{index}"),
            Operation::Elementwise { out: spread.clone(), expression },
        );
        let z = draft.value(format!("slope.z.{index}"), out);
        let sum = Operation::sum(&z, &spread, self.reversed(), self.factor(), scaled());
        draft.push(DraftPart::Backward, format!("back.sum.{index}"), sum);
        let gradient = self.stack.weight_gradient(*index, &z, input, weight);
        draft.push(DraftPart::Backward, format!("weight.{index}"), gradient);
        if *index > 0 {
            draft.value(&previous, inner);
            let epilogue = self.stack.deactivated(*index, input, Expression::identity());
            draft.push(
                DraftPart::Backward,
                format!("back.product.{index}"),
                Operation::input_gradient(&previous, &z, weight, epilogue),
            );
        }
        previous
    }

    fn factor(&self) -> EdgeFactor {
        if self.facts.weighted { EdgeFactor::Weight } else { EdgeFactor::One }
    }

    /// Weights of a symmetric graph need not be symmetric.
    fn reversed(&self) -> Direction {
        if self.facts.symmetric && !self.facts.weighted { Direction::In } else { Direction::Out }
    }
}

fn scaled() -> Expression {
    Expression::identity().times(Expression::load(SCALE))
}
