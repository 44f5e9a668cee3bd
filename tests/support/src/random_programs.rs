//! random_programs: random well-typed programs, and worlds to interpret them on.
//!
//! promises  the same program for the same seed and size; every operation of the language can come,
//!           through the builder alone
//! limits    a tame program has no operation that jumps on a computed value, and divides by nothing
//!           near 0, so that another order of rounding moves it little; a wild one has infinities,
//!           NaN, zeros of both signs and whatever else
use std::collections::BTreeMap;

use warploom_ir::interpret::{ElementRows, World};
use warploom_ir::{
    Binary, Builder, Data, EdgeSet, Function, Gir, Init, Input, Loss, NodeId, NodeKind, NodeResult,
    Number, Op, Output, Parameter, Place, Pooling, Reduction, StopTest, Target, Type, Unary,
};

use crate::draws::Draws;

/// A program, what it was told of its data, and the data.
pub struct RandomProgram {
    /// The program.
    pub gir: Gir,
    /// What it was told.
    pub data: Data,
    /// The data.
    pub world: World,
}

const SHAPES: [&[u64]; 6] = [&[], &[1], &[3], &[2, 3], &[2, 1], &[3, 2]];

/// Bounds of what a graph is drawn of.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Most vertices.
    pub nodes: usize,
    /// All edges are fewer.
    pub edges: usize,
    /// One of so many edges ends in vertex 0; none: as any other.
    pub hub: Option<usize>,
}

/// What shows on a page.
pub const SMALL: Extent = Extent { nodes: 6, edges: 20, hub: None };

/// The case of a seed, of about so many steps, on a graph within these bounds.
pub fn random_program(seed: u64, size: usize, tame: bool, extent: Extent) -> RandomProgram {
    let mut draws = Draws::new(seed);
    let (data, world) = world(&mut draws, tame, extent);
    let mut maker = Maker {
        builder: Builder::new("random", &data),
        draws,
        tame,
        values: Vec::new(),
        given: Vec::new(),
        learned: Vec::new(),
        parameters: 0,
        sites: 0,
    };
    maker.begin();
    for _ in 0..size {
        maker.step();
    }
    if !data.training && maker.draws.below(2) == 0 {
        maker.repeat();
        maker.step();
    }
    let gir = maker.finish();
    RandomProgram { gir, data, world }
}

fn world(draws: &mut Draws, tame: bool, extent: Extent) -> (Data, World) {
    let (nodes, edges) = (1 + draws.below(extent.nodes), draws.below(extent.edges));
    let graphs = 1 + draws.below(2);
    let loss = draws.one_of(&[Loss::CrossEntropy, Loss::MeanSquares, Loss::Binary]);
    let odd = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0];
    let table = |rows: usize, columns: usize, draws: &mut Draws| {
        let element = |draws: &mut Draws| {
            if !tame && draws.below(4) == 0 { draws.one_of(&odd) } else { draws.real() }
        };
        ElementRows::from_reals(
            rows,
            columns,
            (0..rows * columns).map(|_| element(draws)).collect(),
        )
    };
    let end = |draws: &mut Draws| draws.below(nodes) as u32;
    let weighted = draws.below(2) == 0;
    let columns =
        BTreeMap::from([("age".to_owned(), Type::Int), ("length".to_owned(), Type::Real)]);
    let ages = ElementRows::from_integers(
        nodes,
        1,
        (0..nodes).map(|_| draws.below(5) as i64 - 2).collect(),
    );
    // Two kinds with features of other widths, one without.
    let kind_of_node: Vec<u32> = (0..nodes).map(|_| draws.below(3) as u32).collect();
    let of_kind = |kind: u32| kind_of_node.iter().filter(|of| **of == kind).count();
    let kinds = [("wide", Some(3)), ("narrow", Some(2)), ("bare", None)]
        .into_iter()
        .zip(0u32..)
        .map(|((name, features), kind)| NodeKind {
            name: name.to_owned(),
            nodes: of_kind(kind) as u64,
            features,
            sparse_features: None,
        });
    let kinds = kinds.collect();
    let features_of_kind =
        BTreeMap::from([(0, table(of_kind(0), 3, draws)), (1, table(of_kind(1), 2, draws))]);
    let world = World {
        kind_of_node,
        features_of_kind,
        nodes,
        source: (0..edges).map(|_| end(draws)).collect(),
        target: (0..edges)
            .map(
                |edge| if extent.hub.is_some_and(|each| edge % each == 0) { 0 } else { end(draws) },
            )
            .collect(),
        weight: weighted.then(|| (0..edges).map(|_| 0.1 + draws.real().abs()).collect()),
        edge_type: (0..edges).map(|_| draws.below(2) as u32).collect(),
        edge_features: Some(table(edges, 3, draws)),
        graph_of_node: (0..nodes).map(|_| draws.below(graphs) as u32).collect(),
        graphs,
        features: Some(table(nodes, 3, draws)),
        columns: BTreeMap::from([
            ("age".to_owned(), ages),
            ("length".to_owned(), table(nodes, 1, draws)),
        ]),
        targets: Some(targets(nodes, loss, draws)),
        training_rows: (0..nodes as u32).filter(|_| draws.below(3) > 0).collect(),
        artifact_rows: Vec::new(),
        chosen: BTreeMap::new(),
    };
    let mut data = Data {
        graphs: graphs as u64,
        features: Some(3),
        edge_features: 3,
        weighted,
        relations: vec!["first".to_owned(), "second".to_owned()],
        columns,
        kinds,
        target: Some(Target { columns: 3, loss }),
        training: draws.below(4) > 0,
        ..Data::bare(nodes as u64, edges as u64)
    };
    let mut world = world;
    label_graphs(&mut data, &mut world, &mut draws.fork());
    (data, world)
}

/// A class a row, or three numbers.
fn targets(rows: usize, loss: Loss, draws: &mut Draws) -> ElementRows {
    match loss {
        Loss::CrossEntropy => {
            ElementRows::from_reals(rows, 1, (0..rows).map(|_| draws.below(3) as f64).collect())
        }
        Loss::MeanSquares | Loss::Binary => {
            ElementRows::from_reals(rows, 3, (0..3 * rows).map(|_| draws.real().abs()).collect())
        }
    }
}

/// Now and then the graphs are a set of many, mostly with labels of their own; now and then some
/// labels of a binary loss are unknown.
fn label_graphs(data: &mut Data, world: &mut World, draws: &mut Draws) {
    (data.many_graphs, data.labels_of_nodes) = (draws.below(2) == 0, draws.below(4) == 0);
    let loss = data.target.expect("there is one").loss;
    if data.many_graphs && !data.labels_of_nodes {
        world.targets = Some(targets(world.graphs, loss, draws));
        world.training_rows = (0..world.graphs as u32).filter(|_| draws.below(3) > 0).collect();
    }
    if let (Loss::Binary, Some(targets), 0) = (loss, &mut world.targets, draws.below(2)) {
        let known = targets
            .values
            .reals()
            .into_iter()
            .map(|target| if draws.below(4) == 0 { f64::NAN } else { target })
            .collect();
        *targets = ElementRows::from_reals(targets.rows, targets.columns, known);
    }
}

struct Maker<'a> {
    builder: Builder<'a>,
    draws: Draws,
    tame: bool,
    values: Vec<NodeId>,
    /// Values of the data set, which no order of rounding moves.
    given: Vec<NodeId>,
    /// Rows of vertices that are finite and depend on a parameter.
    learned: Vec<NodeId>,
    parameters: usize,
    sites: u32,
}

impl Maker<'_> {
    fn begin(&mut self) {
        let inputs = [
            Input::Features,
            Input::Column("length".to_owned()),
            Input::Column("age".to_owned()),
            Input::Id,
            Input::Kind,
            Input::PlaceAmong(vec![1, 0]),
            Input::Degree(EdgeSet::IN),
            Input::Degree(EdgeSet::BOTH),
            Input::Weight,
            Input::EdgeFeatures,
            Input::EdgeType,
            Input::GraphSize,
        ];
        for input in inputs {
            let made = self.builder.make(Op::Input(input), &[]).expect("the data set has it");
            self.given.push(made);
            self.values.push(made);
        }
        let learned = self.product(self.values[0]).expect("features are rows");
        let sum = self.builder.make(Op::Axis(Pooling::Sum, 0), &[learned]).expect("it has columns");
        let bent = self.builder.unary(Unary::Tanh, sum).expect("it is real");
        self.learned = vec![learned, sum, bent];
        self.values.extend([learned, sum, bent]);
        for number in [0.0, -0.0, 1.0, 2.0, -1.0, 0.5] {
            let made = self.builder.real(number);
            self.values.push(made);
        }
        for number in [0, 1, 2] {
            let made = self.builder.constant(Number::Int(number));
            self.values.push(made);
        }
        let shape = self.draws.one_of(&SHAPES);
        self.parameter(shape);
    }

    fn parameter(&mut self, shape: &[u64]) -> NodeId {
        self.parameters += 1;
        let name = format!("random.{}", self.parameters);
        let made = self.builder.parameter(Parameter {
            name,
            shape: shape.to_vec(),
            init: Init::Normal,
            learned: true,
        });
        self.values.push(made);
        made
    }

    /// A value that passes; the later ones more often.
    fn any(&mut self, passes: impl Fn(&Builder<'_>, NodeId) -> bool) -> Option<NodeId> {
        let fitting: Vec<NodeId> =
            self.values.iter().copied().filter(|id| passes(&self.builder, *id)).collect();
        let from = if self.draws.below(2) == 0 { fitting.len() / 2 } else { 0 };
        let later = &fitting[from.min(fitting.len())..];
        (!later.is_empty()).then(|| self.draws.one_of(later))
    }

    fn real(&mut self, place: fn(Place) -> bool) -> Option<NodeId> {
        self.any(|builder, id| builder.node(id).kind == Type::Real && place(builder.node(id).place))
    }

    fn edges(&mut self) -> EdgeSet {
        let relation = EdgeSet { relation: Some(1), ..EdgeSet::IN };
        self.draws.one_of(&[EdgeSet::IN, EdgeSet::IN, EdgeSet::OUT, EdgeSet::BOTH, relation])
    }

    /// One more value, or a few.
    fn step(&mut self) {
        let before = self.builder.gir.nodes.len();
        let made = match self.draws.below(23) {
            0..=2 => self.unary(),
            3..=6 => self.binary(),
            7 => self.choice(),
            8 => self.view(),
            9..=10 => self.reduction(),
            11 => self.rows(),
            12 => self.weighted_sum(),
            13 => self.dots(),
            14 => self.shares(),
            15 => self.dense(),
            16 => self.sum_beside_product(),
            17 => self.pooled(),
            18 => self.trained(),
            19 => self.over_edges(),
            20 => self.neutral(),
            21 => self.of_kinds(),
            _ => self.whole(),
        };
        let made =
            made.filter(|made| self.builder.node(*made).columns() <= 12 && made.index() >= before);
        self.values.extend(made);
    }

    /// Features of kinds, or what they are with weights, in the rows of their vertices: `linear` of
    /// `v.x`, as the tracer writes it.
    fn of_kinds(&mut self) -> Option<NodeId> {
        let out = 1 + self.draws.below(3) as u64;
        if !self.builder.data.training {
            let table = self.builder.make(Op::Input(Input::FeaturesOf(1)), &[]).ok()?;
            let place = self.builder.make(Op::Input(Input::PlaceAmong(vec![1])), &[]).ok()?;
            return self.builder.make(Op::Lookup { transposed: false }, &[table, place]).ok();
        }
        let kinds = self.draws.one_of(&[vec![0, 1], vec![1], vec![1, 0], vec![0]]);
        let mut parts = Vec::new();
        for kind in &kinds {
            let mut table = self.builder.make(Op::Input(Input::FeaturesOf(*kind)), &[]).ok()?;
            if self.draws.below(4) == 0 {
                self.sites += 1;
                table = self
                    .builder
                    .make(Op::Dropout { probability: 0.5, site: self.sites }, &[table])
                    .ok()?;
            }
            let columns = self.builder.node(table).shape[1];
            let weight = self.parameter(&[out, columns]);
            parts.push(self.builder.make(Op::Product { transposed: true }, &[table, weight]).ok()?);
        }
        let table = if parts.len() == 1 {
            parts[0]
        } else {
            self.builder.make(Op::Concat(0), &parts).ok()?
        };
        let place = self.builder.make(Op::Input(Input::PlaceAmong(kinds)), &[]).ok()?;
        let made = self.builder.make(Op::Lookup { transposed: false }, &[table, place]).ok()?;
        let bare = self.builder.data.kinds[2].nodes;
        // No rows where no vertex is of the kind: they are no operands of others.
        let (columns, place) = (
            self.parameter(&[out, bare]),
            self.builder.make(Op::Input(Input::PlaceAmong(vec![2])), &[]).ok()?,
        );
        let others = self.builder.make(Op::Lookup { transposed: true }, &[columns, place]).ok()?;
        let sum = self.builder.add(made, others).ok()?;
        self.values.retain(|value| *value != columns);
        self.learned.push(sum);
        Some(sum)
    }

    fn unary(&mut self) -> Option<NodeId> {
        let a = self.real(|_| true)?;
        let smooth = [
            Unary::Negative,
            Unary::Absolute,
            Unary::Tanh,
            Unary::Sigmoid,
            Unary::Relu,
            Unary::LeakyRelu(0.2),
            Unary::Elu,
            Unary::Gelu,
            Unary::Silu,
            Unary::Softplus,
            Unary::Square,
        ];
        let jumping = [
            Unary::Exp,
            Unary::Log,
            Unary::Sqrt,
            Unary::Rsqrt,
            Unary::Reciprocal,
            Unary::Floor,
            Unary::Erf,
        ];
        if !self.tame && self.draws.below(2) == 0 {
            let operator = self.draws.one_of(&jumping);
            return self.builder.unary(operator, a).ok();
        }
        if self.draws.below(4) == 0 {
            let positive = self.positive(a)?;
            let operator =
                self.draws.one_of(&[Unary::Log, Unary::Sqrt, Unary::Rsqrt, Unary::Reciprocal]);
            return self.builder.unary(operator, positive).ok();
        }
        let operator = self.draws.one_of(&smooth);
        self.builder.unary(operator, a).ok()
    }

    /// 1 + a * a.
    fn positive(&mut self, a: NodeId) -> Option<NodeId> {
        let (one, square) = (self.builder.real(1.0), self.builder.unary(Unary::Square, a).ok()?);
        self.builder.add(square, one).ok()
    }

    fn binary(&mut self) -> Option<NodeId> {
        let smooth = [
            Binary::Add,
            Binary::Subtract,
            Binary::Multiply,
            Binary::Multiply,
            Binary::Divide,
            Binary::Minimum,
            Binary::Maximum,
            Binary::Power,
        ];
        let jumping = [
            Binary::FloorDivide,
            Binary::Remainder,
            Binary::Less,
            Binary::LessEqual,
            Binary::Equal,
            Binary::NotEqual,
        ];
        let operator = if !self.tame && self.draws.below(3) == 0 {
            self.draws.one_of(&jumping)
        } else {
            self.draws.one_of(&smooth)
        };
        let a = self.real(|_| true)?;
        for _ in 0..4 {
            let mut b = self.real(|_| true)?;
            if self.tame && operator == Binary::Divide {
                b = self.positive(b)?;
            }
            let mut a = a;
            if self.tame && operator == Binary::Power {
                (a, b) = (self.positive(a)?, self.builder.real(2.0));
            }
            if let Ok(made) = self.builder.binary(operator, a, b) {
                return Some(made);
            }
        }
        None
    }

    /// A bool that no rounding turns round when the program is tame.
    fn truth(&mut self, place: fn(Place) -> bool) -> Option<NodeId> {
        let operator =
            self.draws.one_of(&[Binary::Less, Binary::LessEqual, Binary::Equal, Binary::NotEqual]);
        let from = if self.tame { self.given.clone() } else { self.values.clone() };
        let fitting: Vec<NodeId> = from
            .into_iter()
            .filter(|id| {
                place(self.builder.node(*id).place) && self.builder.node(*id).shape.is_empty()
            })
            .collect();
        for _ in 0..8 {
            let (a, b) = (
                fitting.get(self.draws.below(fitting.len()))?,
                fitting[self.draws.below(fitting.len())],
            );
            if let Ok(made) = self.builder.binary(operator, *a, b) {
                return if self.draws.below(4) == 0 {
                    self.builder.unary(Unary::Not, made).ok()
                } else {
                    Some(made)
                };
            }
        }
        None
    }

    fn choice(&mut self) -> Option<NodeId> {
        let condition = self.truth(|_| true)?;
        let (yes, no) = (self.real(|_| true)?, self.real(|_| true)?);
        let zero = self.builder.real(0.0);
        let no = if self.draws.below(2) == 0 { zero } else { no };
        self.builder.select(condition, yes, no).ok()
    }

    fn view(&mut self) -> Option<NodeId> {
        let (edges, a) =
            (self.edges(), self.any(|builder, id| builder.node(id).place == Place::D)?);
        let view = if self.draws.below(2) == 0 { Op::Far(edges) } else { Op::Near(edges) };
        self.builder.make(view, &[a]).ok()
    }

    /// A mask of such edges, now and then.
    fn mask(&mut self, edges: EdgeSet) -> Option<NodeId> {
        if self.draws.below(3) > 0 {
            return None;
        }
        let truth = self.truth(|place| place == Place::D || place.edge_rows().is_some())?;
        let view = self.draws.one_of(&[Op::Far(edges), Op::Near(edges)]);
        let truth = if self.builder.node(truth).place == Place::D {
            self.builder.make(view, &[truth]).ok()?
        } else {
            truth
        };
        (self.builder.node(truth).place.edge_rows() == Some(edges.rows())).then_some(truth)
    }

    fn reduction(&mut self) -> Option<NodeId> {
        let edges = self.edges();
        let rows = edges.rows();
        let a = self.any(|builder, id| {
            builder.node(id).place.edge_rows() == Some(rows) && builder.node(id).kind != Type::Bool
        })?;
        let sums = [Reduction::Sum, Reduction::Sum, Reduction::Count];
        let any = [
            Reduction::Sum,
            Reduction::Minimum,
            Reduction::Maximum,
            Reduction::Product,
            Reduction::Count,
            Reduction::Mode,
        ];
        let reduction = if self.tame { self.draws.one_of(&sums) } else { self.draws.one_of(&any) };
        let mask = self.mask(edges);
        self.builder.reduce(reduction, edges, a, mask).ok()
    }

    fn rows(&mut self) -> Option<NodeId> {
        let a = self.real(|_| true)?;
        let (place, shape) = (self.builder.node(a).place, self.builder.node(a).shape.clone());
        let axis = self.draws.below(shape.len());
        match self.draws.below(7) {
            0 => self
                .builder
                .make(
                    Op::Axis(
                        if self.tame {
                            Pooling::Sum
                        } else {
                            self.draws.one_of(&[Pooling::Sum, Pooling::Maximum, Pooling::Minimum])
                        },
                        axis,
                    ),
                    &[a],
                )
                .ok(),
            1 => self.builder.sum_last(a).ok(),
            2 => {
                let flat = [shape.iter().product()];
                self.builder.make_shaped(Op::Reshape, &[a], &flat).ok()
            }
            3 => {
                let wide = self.draws.one_of(&SHAPES);
                self.builder.make_shaped(Op::Expand, &[a], wide).ok()
            }
            4 => {
                let b = self.any(|builder, id| {
                    builder.node(id).kind == Type::Real
                        && builder.node(id).place == place
                        && builder.node(id).shape == shape
                })?;
                self.builder.make(Op::Concat(axis), &[a, b]).ok()
            }
            5 => {
                let length = 1 + self.draws.below(*shape.get(axis)? as usize) as u64;
                let start = self.draws.below((shape[axis] - length + 1) as usize) as u64;
                self.builder.make(Op::Slice { axis, start, length }, &[a]).ok()
            }
            _ => {
                let start = self.draws.below(2) as u64;
                self.builder
                    .make(
                        Op::Unslice {
                            axis,
                            start,
                            total: shape.get(axis)? + start + self.draws.below(2) as u64,
                        },
                        &[a],
                    )
                    .ok()
            }
        }
    }

    /// A sum with factors of both ends and of the edge.
    fn weighted_sum(&mut self) -> Option<NodeId> {
        let edges = self.edges();
        let (a, b) = (self.real(|place| place == Place::D)?, self.real(|place| place == Place::D)?);
        let near = self.builder.make(Op::Near(edges), &[a]).ok()?;
        let mut value = self.builder.make(Op::Far(edges), &[b]).ok()?;
        if let Some(edge) = self.real(|place| matches!(place, Place::E(_)))
            && let Ok(made) = self.builder.multiply(edge, value)
        {
            value = made;
        }
        value = match self.draws.below(5) {
            0 => {
                let positive = self.positive(near)?;
                self.builder.divide(value, positive).ok()?
            }
            1 => {
                let other = self.builder.multiply(near, value).ok()?;
                let again = self
                    .builder
                    .make(Op::Far(edges), &[a])
                    .ok()
                    .and_then(|far| self.builder.multiply(near, far).ok())?;
                self.builder.subtract(other, again).ok()?
            }
            2 => {
                let condition = self.truth(|place| place == Place::D)?;
                let condition = self.builder.make(Op::Near(edges), &[condition]).ok()?;
                let zero = self.builder.real(0.0);
                let kept = self.builder.select(condition, value, zero).ok()?;
                self.builder.multiply(kept, near).ok()?
            }
            _ => self.builder.multiply(near, value).ok()?,
        };
        if self.draws.below(4) == 0 {
            value = self.builder.unary(Unary::Negative, value).ok()?;
        }
        let mask = self.mask(edges);
        self.builder.reduce(Reduction::Sum, edges, value, mask).ok()
    }

    /// A sum of far rows by their product with the own row: attention without softmax.
    fn dots(&mut self) -> Option<NodeId> {
        let edges = self.edges();
        let a = self.any(|builder, id| {
            builder.node(id).place == Place::D
                && builder.node(id).kind == Type::Real
                && !builder.node(id).shape.is_empty()
        })?;
        let shape = self.builder.node(a).shape.clone();
        let b = self.any(|builder, id| {
            builder.node(id).place == Place::D
                && builder.node(id).kind == Type::Real
                && builder.node(id).shape == shape
        })?;
        let (near, far) = (
            self.builder.make(Op::Near(edges), &[a]).ok()?,
            self.builder.make(Op::Far(edges), &[b]).ok()?,
        );
        let product = self.builder.multiply(near, far).ok()?;
        let score = self.builder.sum_last(product).ok()?;
        let score = if self.draws.below(2) == 0 {
            self.builder.unary(Unary::LeakyRelu(0.2), score).ok()?
        } else {
            score
        };
        let value =
            if self.draws.below(2) == 0 { self.builder.multiply(score, far).ok()? } else { score };
        let mask = self.mask(edges);
        self.builder.reduce(Reduction::Sum, edges, value, mask).ok()
    }

    /// Softmax over the edges, and the sum by its shares: as the language has it, and as one may
    /// write it by hand.
    fn shares(&mut self) -> Option<NodeId> {
        let edges = self.edges();
        let mut sides =
            [self.real(|place| place == Place::D)?, self.real(|place| place == Place::D)?];
        if self.draws.below(2) == 0 {
            sides = sides.map(|_| self.draws.one_of(&self.learned));
        }
        let [left, right] = sides;
        let (far, near) = (
            self.builder.make(Op::Far(edges), &[left]).ok()?,
            self.builder.make(Op::Near(edges), &[right]).ok()?,
        );
        let score = self.builder.add(far, near).ok()?;
        let mut score = self.builder.unary(Unary::LeakyRelu(0.2), score).ok()?;
        let mask = self.mask(edges);
        let (zero, one) = (self.builder.real(0.0), self.builder.real(1.0));
        let by_hand = self.draws.below(2) == 0;
        if by_hand {
            score = if self.tame { self.builder.unary(Unary::Tanh, score).ok()? } else { score };
        } else {
            let largest = self.builder.reduce(Reduction::Maximum, edges, score, mask).ok()?;
            let (largest, lowest) = (
                self.builder.make(Op::Detach, &[largest]).ok()?,
                self.builder.real(f64::NEG_INFINITY),
            );
            let nothing = self.builder.binary(Binary::Equal, largest, lowest).ok()?;
            let largest = self.builder.select(nothing, zero, largest).ok()?;
            let largest = self.builder.make(Op::Near(edges), &[largest]).ok()?;
            score = self.builder.subtract(score, largest).ok()?;
        }
        let raised = self.builder.unary(Unary::Exp, score).ok()?;
        let total = self.builder.reduce(Reduction::Sum, edges, raised, mask).ok()?;
        let nothing = self.builder.binary(Binary::Equal, total, zero).ok()?;
        let total = if by_hand { total } else { self.builder.select(nothing, one, total).ok()? };
        let total = self.builder.make(Op::Near(edges), &[total]).ok()?;
        let mut share = self.builder.divide(raised, total).ok()?;
        if by_hand {
            let nothing = self.builder.make(Op::Near(edges), &[nothing]).ok()?;
            share = self.builder.select(nothing, zero, share).ok()?;
        }
        let value = self.builder.multiply(share, far).ok()?;
        self.builder.reduce(Reduction::Sum, edges, value, mask).ok()
    }

    fn dense(&mut self) -> Option<NodeId> {
        let a = self.any(|builder, id| {
            builder.node(id).kind == Type::Real
                && !builder.node(id).shape.is_empty()
                && builder.node(id).place != Place::C
        })?;
        if self.draws.below(6) == 0 {
            let table = self.parameter(&[3, 2]);
            let index = self.any(|builder, id| {
                matches!(builder.node(id).kind, Type::Int | Type::Id)
                    && builder.node(id).shape.is_empty()
            })?;
            return self
                .builder
                .make(Op::Lookup { transposed: self.draws.below(2) == 0 }, &[table, index])
                .ok();
        }
        if self.draws.below(6) == 0 {
            return if self.draws.below(2) == 0 {
                self.builder.make(Op::SumRows, &[a]).ok()
            } else {
                self.builder.make(Op::Outer, &[a, a]).ok()
            };
        }
        self.product(a)
    }

    fn product(&mut self, a: NodeId) -> Option<NodeId> {
        let inner = *self.builder.node(a).shape.last()?;
        let (outer, transposed) = (1 + self.draws.below(4) as u64, self.draws.below(2) == 0);
        let matrix = self.parameter(&if transposed { [outer, inner] } else { [inner, outer] });
        self.builder.make(Op::Product { transposed }, &[a, matrix]).ok()
    }

    /// A product before or after a sum over edges.
    fn sum_beside_product(&mut self) -> Option<NodeId> {
        let edges = self.edges();
        let mut value = self.any(|builder, id| {
            builder.node(id).place == Place::D
                && builder.node(id).kind == Type::Real
                && !builder.node(id).shape.is_empty()
        })?;
        let scale = self.any(|builder, id| {
            builder.node(id).place == Place::D
                && builder.node(id).kind == Type::Real
                && builder.node(id).shape.is_empty()
        })?;
        let first = self.draws.below(2) == 0;
        if first {
            value = self.product(value)?;
        }
        if self.draws.below(2) == 0 {
            value = self.builder.multiply(value, scale).ok()?;
        }
        value = self.builder.make(Op::Far(edges), &[value]).ok()?;
        if edges != EdgeSet::BOTH && self.draws.below(2) == 0 {
            let weight = self.builder.make(Op::Input(Input::Weight), &[]).ok()?;
            value = self.builder.multiply(weight, value).ok()?;
        }
        let mask = self.mask(edges);
        value = self.builder.reduce(Reduction::Sum, edges, value, mask).ok()?;
        if self.draws.below(2) == 0 {
            value = self.builder.multiply(scale, value).ok()?;
        }
        if first { Some(value) } else { self.product(value) }
    }

    fn pooled(&mut self) -> Option<NodeId> {
        if self.draws.below(2) == 0 {
            let a = self.real(|place| place == Place::D)?;
            let pooling = if self.tame {
                Pooling::Sum
            } else {
                self.draws.one_of(&[Pooling::Sum, Pooling::Maximum, Pooling::Minimum])
            };
            return self.builder.make(Op::Pool(pooling), &[a]).ok();
        }
        let a = self.real(|place| place == Place::G)?;
        self.builder.make(Op::Give, &[a]).ok()
    }

    fn trained(&mut self) -> Option<NodeId> {
        let (a, b) = (self.real(|_| true)?, self.real(|_| true)?);
        match self.draws.below(4) {
            0 => self.builder.make(Op::Detach, &[a]).ok(),
            1 => self.builder.make(Op::WhenTraining, &[a, b]).ok(),
            _ => {
                self.sites += 1;
                let probability = self.draws.one_of(&[0.0, 0.5]);
                self.builder.make(Op::Dropout { probability, site: self.sites }, &[a]).ok()
            }
        }
    }

    fn over_edges(&mut self) -> Option<NodeId> {
        let edges = self.edges();
        let rows = edges.rows();
        let a = self.any(|builder, id| {
            builder.node(id).place.edge_rows() == Some(rows) && builder.node(id).kind == Type::Real
        })?;
        let inputs: Vec<NodeId> = [a].into_iter().chain(self.mask(edges)).collect();
        let start = self.builder.real(0.5);
        let both = |operator| {
            Function::Binary(operator, Box::new(Function::Left), Box::new(Function::Right))
        };
        match self.draws.below(3) {
            0 if !self.tame => {
                let winner =
                    self.builder.make(Op::Winner(self.draws.below(2) == 0, edges), &inputs).ok()?;
                self.builder.cast(Type::Real, winner).ok()
            }
            1 => self.builder.make(Op::Others(edges), &inputs).ok(),
            _ if !self.tame => {
                self.builder.make(Op::Fold(both(Binary::Maximum), edges), &[a, start]).ok()
            }
            _ => {
                let common = self.builder.make(Op::CommonNeighbors, &[]).ok()?;
                if self.draws.below(2) == 0 {
                    Some(common)
                } else {
                    self.builder.reduce(Reduction::Sum, edges, common, None).ok()
                }
            }
        }
    }

    /// Work that changes nothing, or nearly.
    fn neutral(&mut self) -> Option<NodeId> {
        let a = self.real(|_| true)?;
        let number = self.draws.one_of(&[0.0, -0.0, 1.0, -1.0, 2.0, f64::INFINITY]);
        let (tame, number) = (self.tame, self.builder.real(number));
        let builder = &mut self.builder;
        let made = match self.draws.below(12) {
            0 if !tame => builder.multiply(a, number),
            1 if !tame => builder.add(number, a),
            2 if !tame => builder.subtract(number, a),
            3 if !tame => builder.binary(Binary::Power, a, number),
            4 if !tame => builder.binary(Binary::Minimum, a, number),
            0 | 1 => builder
                .unary(Unary::Negative, a)
                .and_then(|negative| builder.unary(Unary::Negative, negative)),
            2 => {
                builder.unary(Unary::Negative, a).and_then(|negative| builder.subtract(a, negative))
            }
            3 => builder
                .unary(Unary::Negative, a)
                .and_then(|negative| builder.unary(Unary::Square, negative)),
            4 => {
                builder.unary(Unary::Absolute, a).and_then(|positive| builder.add(positive, number))
            }
            5 => builder.subtract(a, number),
            6 => builder.binary(Binary::Divide, a, number),
            7 => builder.multiply(a, a).and_then(|square| builder.multiply(square, a)),
            8 => builder.multiply(number, number).and_then(|number| builder.multiply(number, a)),
            9 => builder
                .make_shaped(Op::Expand, &[number], &[2, 3])
                .and_then(|wide| builder.add(wide, a)),
            10 => builder
                .make(Op::Unslice { axis: 0, start: 1, total: 4 }, &[a])
                .and_then(|wide| builder.make(Op::Slice { axis: 0, start: 1, length: 2 }, &[wide])),
            _ => builder.multiply(number, a).and_then(|first| {
                builder.multiply(a, number).and_then(|second| builder.add(first, second))
            }),
        };
        let made = made.ok()?;
        // Divided by 0 a tame program would be wild.
        let zero = matches!(self.builder.node(number).op, Op::Constant(Number::Real(number)) if number == 0.0 || number.is_infinite());
        (!tame || !zero).then_some(made)
    }

    fn whole(&mut self) -> Option<NodeId> {
        let whole = |builder: &Builder<'_>, id: NodeId| builder.node(id).kind == Type::Int;
        let (a, b) = (self.any(whole)?, self.any(whole)?);
        let operators = [
            Binary::Add,
            Binary::Subtract,
            Binary::Multiply,
            Binary::FloorDivide,
            Binary::Remainder,
            Binary::Power,
            Binary::Minimum,
            Binary::Maximum,
        ];
        let operator = self.draws.one_of(&operators);
        match self.draws.below(4) {
            0 => self.builder.cast(Type::Real, a).ok(),
            1 => self.truth(|_| true).and_then(|truth| self.builder.cast(Type::Real, truth).ok()),
            2 => self.builder.unary(Unary::Negative, a).ok(),
            _ => self.builder.binary(operator, a, b).ok(),
        }
    }

    /// A loop of a few steps with one or two states.
    fn repeat(&mut self) {
        // What a tame loop's end depends on is no rounded number.
        let fitting = |builder: &Builder<'_>, id: NodeId| {
            builder.node(id).place == Place::D
                && builder.node(id).shape.is_empty()
                && builder.node(id).kind != Type::Bool
        };
        let given: Vec<NodeId> =
            self.given.iter().copied().filter(|id| fitting(&self.builder, *id)).collect();
        let Some(first) =
            (if self.tame { Some(self.draws.one_of(&given)) } else { self.any(fitting) })
        else {
            return;
        };
        let Some(second) = self.any(|builder, id| {
            builder.node(id).place == Place::D && builder.node(id).kind == Type::Real
        }) else {
            return;
        };
        let before = self.values.len();
        let (number, inside) =
            self.builder.begin_loop(&[("first".to_owned(), first), ("second".to_owned(), second)]);
        self.values.extend(&inside);
        for _ in 0..6 {
            self.step();
        }
        let edges = self.edges();
        let tame = self.tame;
        let next = [
            self.next(inside[0], edges, if tame { None } else { Some(first) }),
            self.next(inside[1], edges, Some(second)),
        ];
        let until = match self.draws.below(3) {
            0 if !tame => StopTest::Unchanged(vec![0, 1]),
            1 => StopTest::ChangeAtMost(1, 1e-3),
            _ => match self.builder.binary(Binary::NotEqual, inside[0], next[0]) {
                Ok(node) => StopTest::Nowhere(node),
                Err(_) => StopTest::Unchanged(vec![0]),
            },
        };
        self.values.truncate(before);
        let ended = self.builder.end_loop(number, &next, until).expect("type and shape stay");
        self.values.extend(ended);
    }

    /// The smallest of a state and what its neighbours have; for reals with a bias, now and then,
    /// half of their sum.
    fn next(&mut self, state: NodeId, edges: EdgeSet, bias: Option<NodeId>) -> NodeId {
        let made = (|| {
            let far = self.builder.make(Op::Far(edges), &[state]).ok()?;
            if let (Type::Real, Some(bias), 0) =
                (self.builder.node(state).kind, bias, self.draws.below(2))
            {
                let sum = self.builder.reduce(Reduction::Sum, edges, far, None).ok()?;
                let sum = self.builder.unary(Unary::Tanh, sum).ok()?;
                let half = self.builder.real(0.5);
                let half = self.builder.multiply(half, sum).ok()?;
                return self.builder.add(half, bias).ok();
            }
            let least = self.builder.reduce(Reduction::Minimum, edges, far, None).ok()?;
            self.builder.binary(Binary::Minimum, state, least).ok()
        })();
        made.unwrap_or(state)
    }

    /// Results: scores of the latest values when trained, else the latest values themselves.
    fn finish(mut self) -> Gir {
        let rows = |builder: &Builder<'_>, id: NodeId| {
            matches!(builder.node(id).place, Place::D | Place::E(_) | Place::G)
        };
        let latest: Vec<NodeId> = self
            .values
            .iter()
            .rev()
            .copied()
            .filter(|id| rows(&self.builder, *id))
            .take(4)
            .collect();
        if !self.builder.data.training {
            for (index, node) in latest.into_iter().enumerate() {
                let edges = self.builder.node(node).place.edge_rows().map(|rows| {
                    if rows == EdgeSet::BOTH.rows() { EdgeSet::BOTH } else { EdgeSet::IN }
                });
                self.builder.gir.results.push(Output {
                    name: format!("value_{index}"),
                    node,
                    edges,
                });
            }
            return self.builder.gir;
        }
        let mut score = self.parameter(&[3]);
        for node in latest {
            score = self.scored(score, node).unwrap_or(score);
        }
        let score = self.on_labelled(score).expect("a row is given to every vertex, or pooled");
        let target =
            self.builder.make(Op::Input(Input::Target), &[]).expect("the data set has one");
        let loss = self.builder.data.target.expect("it has one").loss;
        self.builder.gir.results.push(Output {
            name: "value".to_owned(),
            node: score,
            edges: None,
        });
        self.builder.gir.loss = Some(
            self.builder.make(Op::Loss(loss), &[score, target]).expect("scores fit the target"),
        );
        self.builder.gir
    }

    /// Scores as rows of what has labels.
    fn on_labelled(&mut self, score: NodeId) -> NodeResult {
        match (self.builder.data.target_place(), self.builder.node(score).place) {
            (Place::G, Place::D) => self.builder.make(Op::Pool(Pooling::Sum), &[score]),
            (Place::G, Place::P) => {
                let size = self.builder.make(Op::Input(Input::GraphSize), &[])?;
                let size = self.builder.cast(Type::Real, size)?;
                self.builder.add(score, size)
            }
            (Place::G, _) => Ok(score),
            _ => self.builder.broadcast_to_vertices(score),
        }
    }

    fn scored(&mut self, score: NodeId, mut node: NodeId) -> Option<NodeId> {
        while !self.builder.node(node).shape.is_empty() {
            node = self.builder.make(Op::Axis(Pooling::Sum, 0), &[node]).ok()?;
        }
        node = self.builder.cast(Type::Real, node).ok()?;
        if let Some(rows) = self.builder.node(node).place.edge_rows() {
            let edges = if rows == EdgeSet::BOTH.rows() { EdgeSet::BOTH } else { EdgeSet::OUT };
            node = self.builder.reduce(Reduction::Sum, edges, node, None).ok()?;
        }
        let weight = self.parameter(&[3]);
        let weighted = self.builder.multiply(node, weight).ok()?;
        let sum = self.builder.add(score, weighted).ok()?;
        (self.builder.node(sum).place == Place::D
            || matches!(self.builder.node(sum).place, Place::G | Place::P))
        .then_some(sum)
    }
}
