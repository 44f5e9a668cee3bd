//! random_programs: gradients of programs put together by chance, against central differences.
//!
//! Each program starts from the leaves of vertices, edges and parameters, adds operations on what
//! is there, and bounds what grows by `tanh`, so that differences stay exact. Operations with jumps
//! are left to `differences`.
use warploom_ir::{
    Binary, Builder, EdgeSet, Input, Misfit, NodeId, NodeResult, Op, Place, Pooling, Reduction,
    Type, Unary,
};

use warploom_test_support::draws::Draws;
use warploom_test_support::gradient_check::{
    FEATURES, GradientCase, compare, input, parameter, summed, where_above,
};

const SMOOTH: [Unary; 8] = [
    Unary::Negative,
    Unary::Sigmoid,
    Unary::Tanh,
    Unary::Gelu,
    Unary::Silu,
    Unary::Softplus,
    Unary::Erf,
    Unary::Square,
];

struct Growing<'a, 'b> {
    builder: &'a mut Builder<'b>,
    draws: Draws,
    values: Vec<NodeId>,
    parameters: u32,
}

impl Growing<'_, '_> {
    fn any(&mut self) -> NodeId {
        // The latest values more often, so that programs grow deep.
        let count = self.values.len();
        let back = self.draws.below(count).min(self.draws.below(count));
        self.values[self.values.len() - 1 - back]
    }

    fn of(&mut self, place: impl Fn(Place) -> bool) -> Option<NodeId> {
        let found: Vec<NodeId> =
            self.values.iter().copied().filter(|id| place(self.builder.node(*id).place)).collect();
        if found.is_empty() { None } else { Some(found[self.draws.below(found.len())]) }
    }

    fn edges(&mut self) -> EdgeSet {
        let relation = [None, None, Some(0), Some(1)][self.draws.below(4)];
        EdgeSet { relation, ..[EdgeSet::IN, EdgeSet::OUT, EdgeSet::BOTH][self.draws.below(3)] }
    }

    fn parameter(&mut self, shape: &[u64]) -> NodeId {
        self.parameters += 1;
        parameter(self.builder, &format!("w{}", self.parameters), shape)
    }

    fn bounded(&mut self, a: NodeId) -> NodeResult {
        self.builder.unary(Unary::Tanh, a)
    }

    /// One more value; what does not fit is tried another time.
    fn grow(&mut self) -> Result<Option<NodeId>, Misfit> {
        let a = self.any();
        let made = match self.draws.below(15) {
            0 => {
                let operator = SMOOTH[self.draws.below(8)];
                self.builder.unary(operator, a)?
            }
            1 | 2 => {
                let b = self.any();
                let operator =
                    [Binary::Add, Binary::Subtract, Binary::Multiply][self.draws.below(3)];
                match self.builder.binary(operator, a, b) {
                    Ok(made) => self.bounded(made)?,
                    Err(_) => return Ok(None),
                }
            }
            3 => self.quotient(a)?,
            4 | 5 => {
                let Some(a) = self.of(|place| place == Place::D) else { return Ok(None) };
                let edges = self.edges();
                self.builder.make(Op::Far(edges), &[a])?
            }
            6 => {
                let Some(a) = self.of(|place| place == Place::D) else { return Ok(None) };
                let edges = self.edges();
                self.builder.make(Op::Near(edges), &[a])?
            }
            7..=9 => return self.reduced(),
            10 => self.pooled(a)?,
            11 => {
                let shape = self.builder.node(a).shape.clone();
                let Some(last) = shape.last() else { return Ok(None) };
                let matrix = self.parameter(&[2, *last]);
                let product = self.builder.make(Op::Product { transposed: true }, &[a, matrix])?;
                self.bounded(product)?
            }
            12 => {
                let Some(axis) = self.builder.node(a).shape.len().checked_sub(1) else {
                    return Ok(None);
                };
                let twice = self.builder.make(Op::Concat(axis), &[a, a])?;
                self.builder.make(
                    Op::Slice { axis, start: 1, length: self.builder.node(a).shape[axis] },
                    &[twice],
                )?
            }
            13 => {
                let site = self.draws.below(1000) as u32;
                self.builder.make(Op::Dropout { probability: 0.25, site }, &[a])?
            }
            _ => self.chosen(a)?,
        };
        Ok(Some(made))
    }

    /// a / (1 + b^2)
    fn quotient(&mut self, a: NodeId) -> NodeResult {
        let b = self.any();
        let (square, one) = (self.builder.unary(Unary::Square, b)?, self.builder.real(1.0));
        let above = self.builder.add(square, one)?;
        self.builder.divide(a, above).or(Ok(above))
    }

    fn reduced(&mut self) -> Result<Option<NodeId>, Misfit> {
        let edges = self.edges();
        let Some(a) = self.of(|place| place.edge_rows() == Some(edges.rows())) else {
            return Ok(None);
        };
        let height = input(self.builder, Input::Column("kind".to_owned()));
        let one = self.builder.constant(warploom_ir::Number::Int(1));
        let tall = self.builder.binary(Binary::Less, height, one)?;
        let mask = self.builder.make(Op::Far(edges), &[tall])?;
        let mask = self.draws.bits().is_multiple_of(3).then_some(mask);
        let reduction =
            if self.draws.bits().is_multiple_of(4) { Reduction::Product } else { Reduction::Sum };
        let made = self.builder.reduce(reduction, edges, a, mask)?;
        Ok(Some(self.bounded(made)?))
    }

    fn pooled(&mut self, a: NodeId) -> NodeResult {
        let made = match self.builder.node(a).place {
            Place::D => self.builder.make(Op::Pool(Pooling::Sum), &[a])?,
            Place::G => self.builder.make(Op::Give, &[a])?,
            _ => self.builder.make(Op::SumRows, &[a])?,
        };
        self.bounded(made)
    }

    /// By a whole number, which no difference moves: where it is above 0, 1 / it times the value.
    fn chosen(&mut self, a: NodeId) -> NodeResult {
        let kind = input(self.builder, Input::Column("kind".to_owned()));
        let real = self.builder.cast(Type::Real, kind)?;
        let share = self
            .builder
            .divide(a, real)
            .or_else(|_| self.builder.unary(Unary::Reciprocal, real))?;
        where_above(self.builder, kind, 0.0, share)
    }
}

fn program(builder: &mut Builder, seed: u64) -> Result<NodeId, Misfit> {
    let mut leaves = vec![
        input(builder, Input::Features),
        input(builder, Input::Weight),
        input(builder, Input::EdgeFeatures),
    ];
    leaves.push(input(builder, Input::Column("height".to_owned())));
    leaves.push(parameter(builder, "row", &[FEATURES]));
    leaves.push(parameter(builder, "table", &[2, 1]));
    let mut growing =
        Growing { builder, draws: Draws::spread(seed), values: leaves, parameters: 0 };
    for _ in 0..24 {
        if let Some(made) = growing.grow()?
            && growing.builder.node(made).kind == Type::Real
            && growing.builder.node(made).columns() <= 12
        {
            growing.values.push(made);
        }
    }
    let last: Vec<NodeId> = growing.values.iter().rev().take(4).copied().collect();
    let mut loss = builder.real(0.0);
    for value in last {
        let part = summed(builder, value)?;
        loss = builder.add(loss, part)?;
    }
    if builder.node(loss).place == Place::C { builder.make(Op::SumRows, &[loss]) } else { Ok(loss) }
}

#[test]
fn gradients_of_programs_put_together_by_chance() {
    for seed in 0..240 {
        let (nodes, edges) = [(5, 9), (4, 10), (6, 5), (2, 6)][(seed % 4) as usize];
        compare(
            &format!("program {seed}"),
            seed,
            &mut GradientCase::new(seed + 50, nodes, edges),
            &|builder| program(builder, seed),
        );
    }
}
