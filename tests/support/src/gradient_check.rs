//! gradient_check: small random graphs with everything that a program can read, and how a loss is
//! compared with its differences.
//!
//! promises  the same seed gives the same world; every graph of `all` has self loops or parallel
//!           edges or isolated vertices, among them one vertex without edges and no vertex at all
use std::collections::BTreeMap;

use warploom_ir::interpret::{ElementRows, Interpreter, World};
use warploom_ir::{
    Binary, Builder, Data, Gir, Init, Input, Loss, Misfit, NodeId, NodeResult, Op, Parameter,
    Place, Pooling, Target, Type, Unary,
};
use warploom_optimize::autodiff::differentiate;
use warploom_optimize::passes::clean;

use crate::draws::Draws;

/// A data set and its shape.
pub struct GradientCase {
    /// What the compiler knows.
    pub data: Data,
    /// What the interpreter reads.
    pub world: World,
    /// Values by name.
    pub parameters: BTreeMap<String, Vec<f64>>,
}

/// Columns of features.
pub const FEATURES: u64 = 3;
/// Columns of features of edges.
pub const EDGE_FEATURES: u64 = 2;

impl GradientCase {
    /// A graph of this size, by its seed. Half of the edges repeat an edge or are self loops; the
    /// last vertices may be isolated.
    pub fn new(seed: u64, nodes: usize, edges: usize) -> GradientCase {
        let mut draws = Draws::spread(seed);
        let (mut source, mut target): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let reach = nodes.div_ceil(4).max(nodes * 3 / 4);
        for edge in 0..edges {
            let (from, to) = match draws.below(6) {
                0 if edge > 0 => (source[edge - 1], target[edge - 1]),
                1 => {
                    let vertex = draws.below(reach) as u32;
                    (vertex, vertex)
                }
                _ => (draws.below(reach) as u32, draws.below(reach) as u32),
            };
            source.push(from);
            target.push(to);
        }
        let mut data = Data::bare(nodes as u64, edges as u64);
        data.graphs = 4;
        data.many_graphs = true;
        data.features = Some(FEATURES);
        data.edge_features = EDGE_FEATURES;
        data.weighted = true;
        data.relations = ["a", "b", "c"].map(str::to_owned).to_vec();
        data.columns =
            BTreeMap::from([("height".to_owned(), Type::Real), ("kind".to_owned(), Type::Int)]);
        data.target = Some(Target { columns: 3, loss: Loss::CrossEntropy });
        let mut world = World::bare(nodes, source, target);
        world.weight = Some(draws.nonzero_reals(edges).iter().map(|weight| weight.abs()).collect());
        world.edge_type = (0..edges).map(|_| draws.below(3) as u32).collect();
        world.edge_features = Some(ElementRows::from_reals(
            edges,
            EDGE_FEATURES as usize,
            draws.nonzero_reals(edges * EDGE_FEATURES as usize),
        ));
        // Graph 2 has no vertex.
        world.graph_of_node = (0..nodes).map(|_| [0, 1, 3][draws.below(3)]).collect();
        world.graphs = 4;
        world.features = Some(ElementRows::from_reals(
            nodes,
            FEATURES as usize,
            draws.nonzero_reals(nodes * FEATURES as usize),
        ));
        world.columns.insert(
            "height".to_owned(),
            ElementRows::from_reals(nodes, 1, draws.nonzero_reals(nodes)),
        );
        world.columns.insert(
            "kind".to_owned(),
            ElementRows::from_integers(
                nodes,
                1,
                (0..nodes).map(|_| draws.below(5) as i64 - 1).collect(),
            ),
        );
        world.targets =
            Some(ElementRows::from_reals(4, 1, (0..4).map(|_| draws.below(3) as f64).collect()));
        world.training_rows = vec![0, 1, 3];
        GradientCase { data, world, parameters: BTreeMap::new() }
    }

    /// Graphs that break what is not careful.
    pub fn all() -> Vec<GradientCase> {
        [(7, 15), (5, 9), (9, 30), (1, 0), (1, 3), (4, 0), (6, 2), (0, 0)]
            .into_iter()
            .enumerate()
            .map(|(seed, (nodes, edges))| GradientCase::new(seed as u64 + 1, nodes, edges))
            .collect()
    }
}

/// A learned tensor.
pub fn parameter(builder: &mut Builder, name: &str, shape: &[u64]) -> NodeId {
    builder.parameter(Parameter {
        name: name.to_owned(),
        shape: shape.to_vec(),
        init: Init::Zero,
        learned: true,
    })
}

/// What the data set gives.
pub fn input(builder: &mut Builder, input: Input) -> NodeId {
    builder.make(Op::Input(input), &[]).unwrap()
}

/// One number of a value of any place, to which each element counts otherwise: the sum of a *
/// tanh(a + 0.3 + 0.1 column).
pub fn summed(builder: &mut Builder, a: NodeId) -> NodeResult {
    let columns = builder.node(a).columns();
    let mut flat = builder.make_shaped(Op::Reshape, &[a], &[columns])?;
    let mut shifts = Vec::new();
    for column in 0..columns {
        let shift = builder.real(0.3 + 0.1 * column as f64);
        shifts.push(builder.make_shaped(Op::Reshape, &[shift], &[1])?);
    }
    let shift = if shifts.len() == 1 { shifts[0] } else { builder.make(Op::Concat(0), &shifts)? };
    let moved = builder.add(flat, shift)?;
    let bent = builder.unary(Unary::Tanh, moved)?;
    flat = builder.multiply(flat, bent)?;
    let number = builder.make(Op::Axis(Pooling::Sum, 0), &[flat])?;
    if builder.node(number).place == Place::C {
        Ok(number)
    } else {
        builder.make(Op::SumRows, &[number])
    }
}

/// Real leaves that a program reads.
pub fn leaves(gir: &Gir) -> Vec<NodeId> {
    gir.ids()
        .filter(|id| {
            gir.node(*id).kind == Type::Real
                && matches!(
                    gir.node(*id).op,
                    Op::Parameter(_)
                        | Op::Input(
                            Input::Features
                                | Input::Weight
                                | Input::EdgeFeatures
                                | Input::Column(_)
                        )
                )
        })
        .collect()
}

/// What dropout draws in these tests.
pub fn draw(site: u32, probability: f64, row: u64, column: u64) -> f64 {
    let drawn =
        Draws::spread(u64::from(site) << 40 | row << 8 | column).bits() as f64 / u64::MAX as f64;
    if drawn < probability { 0.0 } else { 1.0 / (1.0 - probability) }
}

/// A run in training.
pub fn run<'a>(gir: &'a Gir, case: &'a GradientCase) -> Interpreter<'a> {
    let mut interpreter = Interpreter::new(gir, &case.data, &case.world).unwrap();
    interpreter.training = true;
    interpreter.draw = Some(Box::new(draw));
    for (name, values) in &case.parameters {
        interpreter.set_parameter(name, values).unwrap();
    }
    interpreter.run(100);
    interpreter
}

/// Draws values for all parameters.
pub fn start(case: &mut GradientCase, gir: &Gir, seed: u64) {
    let mut draws = Draws::spread(seed + 1000);
    for parameter in &gir.parameters {
        case.parameters.insert(
            parameter.name.clone(),
            draws.nonzero_reals(parameter.shape.iter().product::<u64>() as usize),
        );
    }
}

/// The values of a leaf, to be changed.
fn elements<'a>(case: &'a mut GradientCase, gir: &Gir, leaf: NodeId) -> &'a mut [f64] {
    use warploom_ir::interpret::Values;
    let rows = |rows: Option<&'a mut ElementRows>| match &mut rows.unwrap().values {
        Values::Real(values) => values.as_mut_slice(),
        Values::Whole(_) => panic!("a leaf of reals"),
    };
    match &gir.node(leaf).op {
        Op::Parameter(index) => case.parameters.get_mut(&gir.parameters[*index].name).unwrap(),
        Op::Input(Input::Features) => rows(case.world.features.as_mut()),
        Op::Input(Input::EdgeFeatures) => rows(case.world.edge_features.as_mut()),
        Op::Input(Input::Column(name)) => rows(case.world.columns.get_mut(name)),
        _ => case.world.weight.as_mut().unwrap(),
    }
}

/// Makes the gradients of a program by all its leaves, runs it and compares each element with a
/// central difference.
pub fn compare(
    name: &str,
    seed: u64,
    case: &mut GradientCase,
    make: &dyn Fn(&mut Builder) -> Result<NodeId, Misfit>,
) {
    let data = case.data.clone();
    let mut builder = Builder::new(name, &data);
    let loss = make(&mut builder).unwrap_or_else(|misfit| panic!("{name}: {misfit}"));
    builder.gir.loss = Some(loss);
    let gir = builder.gir;
    let by = leaves(&gir);
    start(case, &gir, seed);
    let full = differentiate(gir.clone(), &data, &by)
        .unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    let values = |gir: &Gir, case: &_| -> Vec<Vec<f64>> {
        let interpreter = run(gir, case);
        gir.gradients
            .iter()
            .map(|gradient| interpreter.value(gradient.node).unwrap().values.reals())
            .collect()
    };
    let gradients = values(&full, case);
    // What passes make of them is what is run.
    let (cleaned, _) = clean(full.clone(), &data);
    for ((gradient, found), wanted) in
        full.gradients.iter().zip(values(&cleaned, case)).zip(&gradients)
    {
        let largest = wanted.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let is_near = found
            .iter()
            .zip(wanted)
            .all(|(found, wanted)| (found - wanted).abs() <= 1e-9 * largest || !wanted.is_finite());
        let leaf = &full.node(gradient.of).op;
        assert!(
            is_near,
            "{name}, graph {seed}: cleaned, the gradient of {leaf:?} is {found:?} for \
                {wanted:?}\n{}",
            cleaned.print(None)
        );
    }
    for (gradient, found) in full.gradients.iter().zip(&gradients) {
        let (leaf, node) = (full.node(gradient.of), full.node(gradient.node));
        assert_eq!(
            (leaf.place, leaf.kind, &leaf.shape),
            (node.place, node.kind, &node.shape),
            "{name}: the gradient of {:?}\n{}",
            leaf.op,
            full.print(None)
        );
        assert_eq!(
            &full.nodes[..gir.nodes.len()],
            &gir.nodes[..],
            "{name}: the forward part changed"
        );
        let step = 1e-5;
        let wanted: Vec<f64> = (0..found.len())
            .map(|index| {
                let before = elements(case, &gir, gradient.of)[index];
                let [above, below] = [before + step, before - step].map(|value| {
                    elements(case, &gir, gradient.of)[index] = value;
                    run(&gir, case).loss().unwrap()
                });
                elements(case, &gir, gradient.of)[index] = before;
                (above - below) / (2.0 * step)
            })
            .collect();
        let largest =
            wanted.iter().chain(found).fold(0.0, |largest: f64, value| largest.max(value.abs()));
        for (index, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            let is_near = largest.is_finite() && (found - wanted).abs() <= 1e-6 * largest + 1e-8;
            assert!(
                is_near,
                "{name}, graph {seed}: gradient of {:?} at {index} is {found}, the difference is \
                    {wanted}\n{}",
                leaf.op,
                full.print(None)
            );
        }
    }
}

/// `compare` on every graph.
pub fn compare_all(name: &str, make: &dyn Fn(&mut Builder) -> Result<NodeId, Misfit>) {
    for (seed, mut case) in GradientCase::all().into_iter().enumerate() {
        compare(name, seed as u64, &mut case, make);
    }
}

/// a where the condition `limit < b` holds, else 0.
pub fn where_above(builder: &mut Builder, b: NodeId, limit: f64, a: NodeId) -> NodeResult {
    let (limit, zero) = (builder.real(limit), builder.real(0.0));
    let condition = builder.binary(Binary::Less, limit, b)?;
    builder.select(condition, a, zero)
}
