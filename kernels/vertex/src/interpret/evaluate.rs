//! evaluate: one operation on rows. This is what an operation means.
//!
//! promises  the rows have the node's place, type and shape; the same bits on every run: sums go in
//!           the order of rows and edge ids
//! never     panics on numbers, whatever they are; checks a world or a node (`World::check` and
//!           `Builder` have done that)
use super::input_data::World;
use super::rows::{Rows, Scalar};
use super::{dense, edges, elementwise, loss, scalar};
use crate::gir::{Input, Node, Op};

/// Factor of one element at a dropout: 0, or 1 / (1 - probability). Arguments: site, probability,
/// row in the graph artifact (of values of edges: their row), column.
pub type Draw<'a> = dyn Fn(u32, f64, u64, u64) -> f64 + 'a;

/// What an operation depends on beside its inputs.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Whether this is a pass of training: dropout draws, and running statistics are not used.
    pub training: bool,
    /// What dropout draws; none: the identity also in training.
    pub draw: Option<&'a Draw<'a>>,
}

/// One operation with all that it needs.
pub(super) struct Call<'a> {
    pub node: &'a Node,
    pub inputs: &'a [&'a Rows],
    pub input_nodes: &'a [&'a Node],
    pub world: &'a World,
    pub context: Context<'a>,
}

/// The value of a node. `input_nodes` say place, type and shape of `inputs`. What a caller holds by
/// itself, a parameter, a state or an ended state, is given as the one input of its node.
pub fn evaluate(
    node: &Node,
    inputs: &[&Rows],
    input_nodes: &[&Node],
    world: &World,
    context: Context,
) -> Rows {
    let call = Call { node, inputs, input_nodes, world, context };
    match &node.op {
        Op::Constant(number) => call.element_by_element(|_, _, _| (*number).into()),
        Op::Input(input) => input_rows(&call, input),
        Op::Parameter(_) | Op::State(_) | Op::Ended(..) => inputs[0].clone(),
        Op::Unary(operator) => call.element_by_element(|[a, ..], _, _| scalar::unary(*operator, a)),
        Op::Binary(operator) => {
            call.element_by_element(|[a, b, _], _, _| scalar::binary(*operator, a, b))
        }
        Op::Select => call.element_by_element(
            |[condition, yes, no], _, _| if condition.holds() { yes } else { no },
        ),
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
        Op::Others(edges) => edges::others(&call, *edges),
        Op::Fold(function, edges) => edges::fold(&call, function, *edges),
        Op::CommonNeighbors => edges::common_neighbors(&call),
        Op::CommonNeighborsSum(edges) => edges::common_neighbors_sum(&call, *edges),
        Op::Pool(pooling) => edges::pool(&call, *pooling),
        Op::SumRows => dense::sum_rows(&call),
        Op::Axis(pooling, axis) => elementwise::axis(&call, *pooling, *axis),
        Op::Reshape => Rows { columns: call.columns(), ..inputs[0].clone() },
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

/// What the data set gives; that it is there was checked before.
fn input_rows(call: &Call, input: &Input) -> Rows {
    let (world, kept) = (call.world, "what a program reads was found in the world");
    match input {
        Input::Features => world.features.clone().expect(kept),
        Input::Kind => call.whole_rows(|vertex| world.kind_of_node[vertex].into()),
        Input::FeaturesOf(kind) => {
            let rows = world.features_of_kind.get(kind).cloned().expect(kept);
            Rows { rows: 1, columns: rows.rows * rows.columns, values: rows.values }
        }
        Input::PlaceAmong(kinds) => Rows::whole(call.rows(), 1, world.places_among(kinds)),
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

impl Call<'_> {
    /// Number of rows of the result.
    pub fn rows(&self) -> usize {
        self.world.rows(self.node.place)
    }

    /// Elements of a row of the result.
    pub fn columns(&self) -> usize {
        self.node.columns() as usize
    }

    /// The row of an input that belongs to this row of the result.
    pub fn input_row(&self, input: usize, row: usize) -> usize {
        self.world.seen_from(self.input_nodes[input].place, self.node.place, row)
    }

    /// Rows of one whole number, made by the row.
    pub fn whole_rows(&self, element: impl Fn(usize) -> i64) -> Rows {
        Rows::whole(self.rows(), 1, (0..self.rows()).map(element).collect())
    }

    /// Each element made of those of up to three inputs, which broadcast as in numpy, its row and
    /// its column.
    pub fn element_by_element(
        &self,
        element: impl Fn([Scalar; 3], usize, usize) -> Scalar,
    ) -> Rows {
        let seen: Vec<Vec<usize>> = self
            .input_nodes
            .iter()
            .map(|input| elementwise::broadcast_columns(&self.node.shape, &input.shape))
            .collect();
        Rows::made(self.node.kind, self.rows(), self.columns(), |row, column| {
            let mut parts = [Scalar::Whole(0); 3];
            for (input, part) in parts.iter_mut().enumerate().take(self.inputs.len()) {
                *part = self.inputs[input].at(self.input_row(input, row), seen[input][column]);
            }
            element(parts, row, column)
        })
    }
}
