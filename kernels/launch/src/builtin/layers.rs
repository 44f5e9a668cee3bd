//! layers: shared code of programs with several learned layers, and the choice between sum first
//! and product first.
//!
//! A layer is a sum over neighbours and a product with a weight, which commute:
//!   product first   z = h W^T, then the sum: rows of `out` columns are gathered, forward and
//!                   backward
//!   sum first       a = sum of h, then a W^T: rows of `in` columns are gathered; in the first
//!                   layer only forward, since features need no gradient
//!
//! promises  the order of each layer is the one whose launches move fewer bytes per epoch; the
//!           reasons list both figures
//! never     hoists a sum out of the epoch, although the sum of features without dropout is the
//!           same in each: an epoch does the work that other systems do in one; sums sparse
//!           features over neighbours (the sum is dense)
use crate::builtin::draft::{Draft, DraftPart, FEATURES};
use crate::{
    Body, BufferName, Combine, Dropout, EdgeFactor, Expression, GraphFacts, LaunchList, Operation,
    Reason, gradient_buffer, parameter_buffer,
};
use warploom_ir::{Direction, Unary};

/// The order of sum and product in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerOrder {
    /// The one that moves fewer bytes, per layer; product first on a tie.
    Cheapest,
    /// The product with the weight, then the sum over neighbours.
    ProductFirst,
    /// The sum over neighbours, then the product with the weight.
    SumFirst,
}

/// Widths and dropout of a stack of layers. Buffer `h.k` is the input of layer k after its dropout;
/// `slope.h.k` is the gradient of the loss with respect to it, before dropout and relu; the last
/// `h` is the result.
pub(super) struct Stack {
    /// Columns of `h.0` to `h.layers`.
    pub widths: Vec<u64>,
    /// Dropout probability in training; none without dropout.
    drop: Option<f64>,
    /// Whether the features are sparse, and products with them too.
    sparse: bool,
    training: bool,
}

impl Stack {
    pub fn new(hidden: u64, layers: u64, drop: f64, facts: &GraphFacts) -> Self {
        let hidden = std::iter::repeat_n(hidden, layers.saturating_sub(1) as usize);
        let widths =
            std::iter::once(facts.feature_columns).chain(hidden).chain([facts.classes]).collect();
        let drop = (facts.training && drop > 0.0).then_some(drop);
        Stack { widths, drop, sparse: facts.sparse_features.is_some(), training: facts.training }
    }

    pub fn layers(&self) -> usize {
        self.widths.len() - 1
    }

    pub fn is_last(&self, layer: usize) -> bool {
        layer + 1 == self.layers()
    }

    pub fn draws(&self) -> bool {
        self.drop.is_some()
    }

    /// Dropout of a layer's input.
    pub fn dropout(&self, layer: usize) -> Option<Dropout> {
        self.drop.map(|probability| Dropout { probability, site: layer as u32 })
    }

    /// The epilogue of a layer: relu and the next layer's dropout, so that `h` is stored once,
    /// ready for use.
    pub fn activated(&self, layer: usize, expression: Expression) -> Expression {
        if self.is_last(layer) {
            return expression;
        }
        Expression::unary(Unary::Relu, expression).dropped(self.dropout(layer + 1))
    }

    /// The backward pass of `activated`: dropout is drawn again, relu follows from the sign of the
    /// stored value. Where dropout or a scale made a stored element 0, the factor of dropout or
    /// scale makes the gradient 0 as well.
    pub fn deactivated(&self, layer: usize, input: &str, expression: Expression) -> Expression {
        let positive = Expression::unary(Unary::Positive, Expression::load(input));
        expression.dropped(self.dropout(layer)).times(positive)
    }

    /// Forward product of a layer's input with a weight; the first layer's input may be sparse.
    pub fn product(
        &self,
        layer: usize,
        out: &str,
        input: &str,
        weight: &str,
        epilogue: Expression,
    ) -> Operation {
        let [out, left, right] = [out.to_owned(), input.to_owned(), parameter_buffer(weight)];
        if layer == 0 && self.sparse {
            return Operation::SparseProduct {
                out,
                left,
                right,
                dropout: self.dropout(0),
                epilogue,
            };
        }
        Operation::Product { out, left, right, right_transposed: true, epilogue }
    }

    /// Gradient of a weight.
    pub fn weight_gradient(
        &self,
        layer: usize,
        slope: &str,
        input: &str,
        weight: &str,
    ) -> Operation {
        let [out, left, right] = [gradient_buffer(weight), slope.to_owned(), input.to_owned()];
        if layer == 0 && self.sparse {
            return Operation::SparseProductOverRows { out, left, right, dropout: self.dropout(0) };
        }
        Operation::ProductOverRows { out, left, right }
    }

    /// Dense features for the first layer: with new dropout each epoch, or `scaled` once without;
    /// the features themselves if there is nothing to do.
    pub fn first_input(&self, draft: &mut Draft<'_>, scale: Option<&str>) -> BufferName {
        let features = draft.features();
        if self.sparse || (scale.is_none() && !self.draws()) {
            return features;
        }
        let dropped = Expression::load(FEATURES).dropped(self.dropout(0));
        let (name, expression) = match scale {
            Some(scale) => ("h.0.scaled", dropped.times(Expression::load(scale))),
            None => ("h.0", dropped),
        };
        let out = draft.value(name, self.widths[0]);
        let part = if self.draws() { DraftPart::Step } else { DraftPart::Prepare };
        draft.push(part, "input.0", Operation::Elementwise { out: out.clone(), expression });
        out
    }
}

impl Operation {
    /// A sum over neighbours.
    pub(super) fn sum(
        out: &str,
        source: &str,
        direction: Direction,
        factor: EdgeFactor,
        epilogue: Expression,
    ) -> Self {
        let (out, source) = (out.to_owned(), Some(source.to_owned()));
        Operation::NeighbourReduce {
            out,
            source,
            direction,
            combine: Combine::Sum,
            factor,
            epilogue,
        }
    }

    /// The number of edges of each vertex, or the sum of their weights.
    pub(super) fn degree(
        out: &str,
        direction: Direction,
        factor: EdgeFactor,
        epilogue: Expression,
    ) -> Self {
        let out = out.to_owned();
        Operation::NeighbourReduce {
            out,
            source: None,
            direction,
            combine: Combine::Sum,
            factor,
            epilogue,
        }
    }

    /// Gradient of a product's input: the gradient of its result times the weight.
    pub(super) fn input_gradient(
        out: &str,
        slope: &str,
        weight: &str,
        epilogue: Expression,
    ) -> Self {
        let [out, left, right] = [out.to_owned(), slope.to_owned(), parameter_buffer(weight)];
        Operation::Product { out, left, right, right_transposed: false, epilogue }
    }
}

/// Builds with each layer in the better order, and adds the reasons.
pub(super) fn build_in_best_order(
    stack: &Stack,
    wanted: LayerOrder,
    list: impl Fn(&[LayerOrder]) -> LaunchList,
) -> LaunchList {
    let fixed = |layer: usize, order: LayerOrder| {
        if layer == 0 && stack.sparse { LayerOrder::ProductFirst } else { order }
    };
    let uniform = |order: LayerOrder| -> Vec<LayerOrder> {
        (0..stack.layers()).map(|layer| fixed(layer, order)).collect()
    };
    let product_first = bytes_by_layer(&list(&uniform(LayerOrder::ProductFirst)), stack.layers());
    let sum_first = bytes_by_layer(&list(&uniform(LayerOrder::SumFirst)), stack.layers());
    let choose = |layer: usize| match wanted {
        LayerOrder::Cheapest if sum_first[layer] < product_first[layer] => LayerOrder::SumFirst,
        LayerOrder::Cheapest => LayerOrder::ProductFirst,
        forced => fixed(layer, forced),
    };
    let orders: Vec<LayerOrder> = (0..stack.layers()).map(choose).collect();
    let mut chosen = list(&orders);
    chosen.reasons = (0..stack.layers())
        .map(|layer| {
            reason(stack, layer, orders[layer], wanted, product_first[layer], sum_first[layer])
        })
        .collect();
    chosen
}

/// Bytes of an epoch's launches per layer, whose number ends their names.
fn bytes_by_layer(list: &LaunchList, layers: usize) -> Vec<u64> {
    let Body::Train(train) = &list.body else { return vec![0; layers] };
    let mut bytes = vec![0; layers];
    for launch in train.forward.iter().chain(&train.backward) {
        let number = launch.name.rsplit('.').next().and_then(|number| number.parse::<usize>().ok());
        if let Some(total) = number.and_then(|layer| bytes.get_mut(layer)) {
            *total = launch.bytes.saturating_add(*total);
        }
    }
    bytes
}

fn reason(
    stack: &Stack,
    layer: usize,
    order: LayerOrder,
    wanted: LayerOrder,
    product: u64,
    sum: u64,
) -> Reason {
    let name = |order: LayerOrder| {
        if order == LayerOrder::SumFirst { "sum first" } else { "product first" }
    };
    let (inner, out) = (stack.widths[layer], stack.widths[layer + 1]);
    let only = layer == 0 && stack.sparse;
    let gathered = if order == LayerOrder::SumFirst { inner } else { out };
    let cause = match order {
        _ if only => "sparse features cannot be summed over neighbours".to_owned(),
        _ if wanted != LayerOrder::Cheapest => "prescribed".to_owned(),
        LayerOrder::SumFirst if layer == 0 && stack.training => {
            format!(
                "fewer bytes an epoch: rows of {inner} columns are gathered forward only, features \
                 need no gradient"
            )
        }
        _ => format!("fewer bytes an epoch: rows of {gathered} columns are gathered"),
    };
    let why = format!("{inner} columns in, {out} out; {cause}");
    let mut alternatives = vec![(name(LayerOrder::ProductFirst).to_owned(), product)];
    if !only {
        alternatives.push((name(LayerOrder::SumFirst).to_owned(), sum));
    }
    Reason {
        what: format!("order of layer {layer}"),
        chosen: name(order).to_owned(),
        why,
        alternatives: alternatives.into_iter().collect(),
    }
}
