//! evaluate: one operation on rows. This defines what an operation means.
//!
//! promises  the rows have the node's place, type and shape; the same bits on every run: sums run
//!           in the order of rows and edge ids
//! never     panics on any numbers; checks a world or a node (`World::check` and `Builder` have
//!           done that)
use super::call::{Call, Context};
use super::input_data::World;
use super::rows::ElementRows;
use super::{dense, edges, elementwise, loss, scalar};
use crate::{Input, Node, Op};

/// The value of a node. `input_nodes` give place, type and shape of `inputs`. A value that the
/// caller stores, a parameter, a state or an ended state, is given as the one input of its node.
pub fn evaluate(
    node: &Node,
    inputs: &[&ElementRows],
    input_nodes: &[&Node],
    world: &World,
    context: Context,
) -> ElementRows {
    let call = Call { node, inputs, input_nodes, world, context };
    match &node.op {
        Op::Constant(number) => call.element_by_element(|_, _, _| (*number).into()),
        Op::Input(input) => input_rows(&call, input),
        Op::Parameter(_) | Op::State(_) | Op::Ended(..) => inputs[0].clone(),
        Op::Unary(operator) => call.element_by_element(|[a, ..], _, _| scalar::unary(*operator, a)),
        Op::Binary(operator) => {
            call.element_by_element(|[a, b, _], _, _| scalar::binary(*operator, a, b))
        }
        Op::Select => {
            call.element_by_element(|[is, yes, no], _, _| if is.holds() { yes } else { no })
        }
        Op::Cast(kind) => call.element_by_element(|[a, ..], _, _| scalar::cast(*kind, a)),
        Op::Dropout { probability, site } => elementwise::dropout(&call, *probability, *site),
        Op::Detach | Op::Give | Op::Expand => call.element_by_element(|[a, ..], _, _| a),
        Op::WhenTraining => {
            call.element_by_element(|[a, b, _], _, _| if context.training { a } else { b })
        }
        Op::Far(edges) => edges::view(&call, *edges, |(_, far)| far),
        Op::Near(edges) => edges::view(&call, *edges, |(near, _)| near),
        Op::Turn => edges::turn(&call),
        Op::Reduce(reduction, edges) => edges::reduce(&call, *reduction, *edges),
        Op::Winner(largest, edges) => edges::winner(&call, *largest, *edges),
        Op::Others(edges) => edges::multiply_other_edges(&call, *edges),
        Op::Fold(function, edges) => edges::fold(&call, function, *edges),
        Op::CommonNeighbors => edges::common_neighbors(&call),
        Op::CommonNeighborsSum(edges) => edges::common_neighbors_sum(&call, *edges),
        Op::Pool(pooling) => edges::pool(&call, *pooling),
        Op::SumRows => dense::sum_rows(&call),
        Op::Axis(pooling, axis) => elementwise::axis(&call, *pooling, *axis),
        Op::Reshape => ElementRows { columns: call.columns(), ..inputs[0].clone() },
        Op::Concat(axis) => elementwise::concat(&call, *axis),
        Op::Slice { axis, start, .. } => elementwise::slice(&call, *axis, *start),
        Op::Unslice { axis, start, .. } => elementwise::unslice(&call, *axis, *start),
        Op::Product { transposed } => dense::product(&call, *transposed),
        Op::Outer => dense::outer(&call),
        Op::Lookup { transposed } => dense::lookup(&call, *transposed),
        Op::Scatter { transposed } => dense::scatter(&call, *transposed),
        Op::Loss(kind) => loss::mean(&call, *kind),
        Op::LossSlope(kind) => loss::slope(&call, *kind),
    }
}

/// An input of the data set, which was checked before.
fn input_rows(call: &Call, input: &Input) -> ElementRows {
    let (world, kept) = (call.world, "what a program reads was found in the world");
    match input {
        Input::Features => world.features.clone().expect(kept),
        Input::Kind => call.whole_rows(|vertex| world.kind_of_node[vertex].into()),
        Input::FeaturesOf(kind) => {
            let rows = world.features_of_kind.get(kind).cloned().expect(kept);
            ElementRows { rows: 1, columns: rows.rows * rows.columns, values: rows.values }
        }
        Input::PlaceAmong(kinds) => {
            ElementRows::from_integers(call.rows(), 1, world.places_among(kinds))
        }
        Input::Column(name) => world.columns.get(name).cloned().expect(kept),
        Input::Id => call.whole_rows(|vertex| world.artifact_row(vertex) as i64),
        Input::Chosen(setting) => {
            let rows = world.chosen.get(setting).expect(kept);
            call.whole_rows(|vertex| i64::from(rows.contains(&world.artifact_row(vertex))))
        }
        Input::Degree(edges) => edges::degree(call, *edges),
        Input::Weight => call.element_by_element(|_, edge, _| world.weight_of(edge)),
        Input::EdgeFeatures => world.edge_features.clone().expect(kept),
        Input::EdgeType => call.whole_rows(|edge| world.edge_type[edge].into()),
        Input::Target => world.targets.clone().expect(kept),
        Input::GraphSize => call.whole_rows(|graph| {
            (0..world.nodes).filter(|vertex| world.graph_of(*vertex) == graph).count() as i64
        }),
    }
}
