//! golden: gradients of whole models by parameters, features, weights and edge features, against
//! numbers that other software made in f64.
//!
//! promises  each `grad.` tensor of a case is compared, to the tolerance that case.json states for
//!           gradients; so are the losses of 20 steps
//! limits    cases too large for the repository are read from `WARPLOOM_SHARED` (or `shared` beside
//!           the workspace) and skipped with a line when that is absent
use warploom_ir::interpret::{Adam, ElementRows, Interpreter, World};
use warploom_ir::{
    Builder, Data, EdgeSet, Gir, Input, Loss, NodeId, NodeResult, Op, Pooling, Reduction, Target,
    Unary,
};
use warploom_optimize::autodiff::differentiate;
use warploom_test_support::golden_cases::GoldenCase;

use super::forms::softmax;
use warploom_test_support::gradient_check::{input, parameter, where_above};

fn rows(case: &GoldenCase, name: &str) -> Option<ElementRows> {
    let tensor = case.find(name)?;
    Some(ElementRows::from_reals(
        tensor.shape[0],
        tensor.shape[1..].iter().product(),
        tensor.values.clone(),
    ))
}

/// The data set, and its edges as stored.
fn world(case: &GoldenCase) -> World {
    let mut world = World::bare(case.nodes(), case.ids("graph.source"), case.ids("graph.target"));
    world.features = rows(case, "x");
    world.weight = case.find("graph.weight").map(|weight| weight.values.clone());
    world.edge_features = rows(case, "graph.edge_x");
    let classes = case.tensor("y").values.clone();
    if case.find("graph.graph_of_node").is_some() {
        world.graph_of_node = case.ids("graph.graph_of_node");
        world.graphs = classes.len();
    }
    world.targets = Some(ElementRows::from_reals(classes.len(), 1, classes));
    world.training_rows = case.ids("train");
    world
}

/// Builds a model, trains it for 20 steps and compares its gradients before the first.
fn check(
    case: &GoldenCase,
    world: &World,
    make: impl Fn(&mut Builder, &GoldenCase, NodeId) -> NodeResult,
) {
    let edge_features = world.edge_features.as_ref().map_or(0, |rows| rows.columns as u64);
    let target = Target { columns: case.tensor("out").shape[1] as u64, loss: Loss::CrossEntropy };
    let data = Data {
        features: Some(case.tensor("x").shape[1] as u64),
        edge_features,
        weighted: world.weight.is_some(),
        target: Some(target),
        training: true,
        graphs: world.graphs as u64,
        many_graphs: !world.graph_of_node.is_empty(),
        bytes_per_real: 8,
        half: None,
        lanes: false,
        ..Data::bare(world.nodes as u64, world.edges() as u64)
    };
    let mut builder = Builder::new(&case.name, &data);
    let features = input(&mut builder, Input::Features);
    let scores = make(&mut builder, case, features).unwrap();
    let target = input(&mut builder, Input::Target);
    builder.gir.loss = Some(builder.make(Op::Loss(Loss::CrossEntropy), &[scores, target]).unwrap());
    let by: Vec<NodeId> = warploom_test_support::gradient_check::leaves(&builder.gir)
        .into_iter()
        .filter(|leaf| name_of(&builder.gir, *leaf).is_some_and(|name| case.find(&name).is_some()))
        .collect();
    let gradients = case.names("grad.").len();
    assert_eq!(by.len(), gradients, "{}: each gradient of the case is taken", case.name);
    let full = differentiate(builder.gir, &data, &by).unwrap();
    check_run(case, &full, &data, world);
}

fn check_run(case: &GoldenCase, gir: &Gir, data: &Data, world: &World) {
    let mut interpreter = Interpreter::new(gir, data, world).unwrap();
    interpreter.training = true;
    for parameter in &gir.parameters {
        interpreter
            .set_parameter(
                &parameter.name,
                &case.tensor(&format!("param.{}", parameter.name)).values,
            )
            .unwrap();
    }
    interpreter.run(1);
    for gradient in &gir.gradients {
        let name = name_of(gir, gradient.of).unwrap();
        // Self loops that the model adds stand behind the edges of the case.
        let found = interpreter.value(gradient.node).unwrap().values.reals();
        case.compare(&name, &found[..case.tensor(&name).values.len()], "gradient");
    }
    let mut losses = vec![interpreter.loss().unwrap()];
    for _ in 0..20 {
        interpreter.step(&Adam {
            learning_rate: 0.01,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 5e-4,
        });
        interpreter.run(1);
        losses.push(interpreter.loss().unwrap());
    }
    case.compare("adam.losses", &losses, "adam_losses");
}

/// The golden name of a leaf's gradient.
fn name_of(gir: &Gir, leaf: NodeId) -> Option<String> {
    match &gir.node(leaf).op {
        Op::Parameter(index) => Some(format!("grad.{}", gir.parameters[*index].name)),
        Op::Input(Input::Features) => Some("grad.x".to_owned()),
        Op::Input(Input::Weight) => Some("grad.graph.weight".to_owned()),
        Op::Input(Input::EdgeFeatures) => Some("grad.graph.edge_x".to_owned()),
        _ => None,
    }
}

/// A parameter of a case, by its name there.
fn learned(builder: &mut Builder, case: &GoldenCase, name: &str) -> NodeId {
    let shape: Vec<u64> =
        case.tensor(&format!("param.{name}")).shape.iter().map(|length| *length as u64).collect();
    parameter(builder, name, &shape)
}

fn product(builder: &mut Builder, case: &GoldenCase, name: &str, a: NodeId) -> NodeResult {
    let weight = learned(builder, case, &format!("{name}.weight"));
    builder.make(Op::Product { transposed: true }, &[a, weight])
}

fn linear(builder: &mut Builder, case: &GoldenCase, name: &str, a: NodeId) -> NodeResult {
    let y = product(builder, case, name, a)?;
    let bias = learned(builder, case, &format!("{name}.bias"));
    builder.add(y, bias)
}

/// A self loop of weight 1 for each vertex that has none.
fn with_loops(mut world: World) -> World {
    let missing = (0..world.nodes as u32).filter(|vertex| {
        !world
            .source
            .iter()
            .zip(&world.target)
            .any(|(source, target)| source == vertex && target == vertex)
    });
    let missing: Vec<u32> = missing.collect();
    if let Some(weight) = &mut world.weight {
        weight.extend(vec![1.0; missing.len()]);
    }
    world.source.extend(&missing);
    world.target.extend(&missing);
    world
}

#[test]
fn gcn_by_its_weights() {
    for name in ["gcn_tiny", "gcn_odd", "gcn_odd_weighted"] {
        let Some(case) = GoldenCase::read(name) else { continue };
        check(&case, &with_loops(world(&case)), |builder, case, features| {
            let weight = input(builder, Input::Weight);
            let degree = builder.reduce(Reduction::Sum, EdgeSet::IN, weight, None)?;
            let scale = builder.unary(Unary::Rsqrt, degree)?;
            let scale = where_above(builder, degree, 0.0, scale)?;
            let mut h = features;
            for layer in 1..=2 {
                let z = product(builder, case, &format!("conv{layer}.lin"), h)?;
                let scaled = builder.multiply(scale, z)?;
                let far = builder.make(Op::Far(EdgeSet::IN), &[scaled])?;
                let message = builder.multiply(weight, far)?;
                let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None)?;
                let scaled = builder.multiply(scale, sum)?;
                let bias = learned(builder, case, &format!("conv{layer}.bias"));
                h = builder.add(scaled, bias)?;
                h = if layer == 1 { builder.unary(Unary::Relu, h)? } else { h };
            }
            Ok(h)
        });
    }
}

#[test]
fn sage_by_its_features() {
    for name in ["sage_tiny", "sage_odd"] {
        let Some(case) = GoldenCase::read(name) else { continue };
        check(&case, &world(&case), |builder, case, features| {
            let mut h = features;
            for layer in 1..=2 {
                let far = builder.make(Op::Far(EdgeSet::IN), &[h])?;
                let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, far, None)?;
                let count = input(builder, Input::Degree(EdgeSet::IN));
                let mean = builder.divide(sum, count)?;
                let mean = where_above(builder, count, 0.0, mean)?;
                let other = linear(builder, case, &format!("conv{layer}.lin_l"), mean)?;
                let own = product(builder, case, &format!("conv{layer}.lin_r"), h)?;
                h = builder.add(other, own)?;
                h = if layer == 1 { builder.unary(Unary::Relu, h)? } else { h };
            }
            Ok(h)
        });
    }
}

/// Rows of heads side by side.
fn heads(builder: &mut Builder, a: NodeId, heads: u64) -> NodeResult {
    let columns = builder.node(a).columns();
    builder.make_shaped(Op::Reshape, &[a], &[heads, columns / heads])
}

fn flat(builder: &mut Builder, a: NodeId) -> NodeResult {
    let columns = builder.node(a).columns();
    builder.make_shaped(Op::Reshape, &[a], &[columns])
}

#[test]
fn gat_by_its_scores() {
    for name in ["gat_tiny", "gat_odd"] {
        let Some(case) = GoldenCase::read(name) else { continue };
        let mut world = world(&case);
        let kept: Vec<(u32, u32)> = world
            .source
            .iter()
            .copied()
            .zip(world.target.iter().copied())
            .filter(|(source, target)| source != target)
            .collect();
        (world.source, world.target) = kept.into_iter().unzip();
        check(&case, &with_loops(world), |builder, case, features| {
            let mut h = features;
            for layer in 1..=2 {
                let count = case.tensor(&format!("param.conv{layer}.att_src")).shape[1] as u64;
                let z = product(builder, case, &format!("conv{layer}.lin"), h)?;
                let z = heads(builder, z, count)?;
                let mut sides = Vec::new();
                for side in ["att_src", "att_dst"] {
                    let by = learned(builder, case, &format!("conv{layer}.{side}"));
                    let shape = builder.node(z).shape.clone();
                    let by = builder.make_shaped(Op::Reshape, &[by], &shape)?;
                    let product = builder.multiply(z, by)?;
                    sides.push(builder.sum_last(product)?);
                }
                let (far, near) = (
                    builder.make(Op::Far(EdgeSet::IN), &[sides[0]])?,
                    builder.make(Op::Near(EdgeSet::IN), &[sides[1]])?,
                );
                let score = builder.add(far, near)?;
                let score = builder.unary(Unary::LeakyRelu(0.2), score)?;
                let share = softmax(builder, EdgeSet::IN, score)?;
                let values = builder.make(Op::Far(EdgeSet::IN), &[z])?;
                let message = builder.multiply(share, values)?;
                let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None)?;
                let sum = flat(builder, sum)?;
                let bias = learned(builder, case, &format!("conv{layer}.bias"));
                h = builder.add(sum, bias)?;
                h = if layer == 1 { builder.unary(Unary::Elu, h)? } else { h };
            }
            Ok(h)
        });
    }
}

#[test]
fn graph_transformer_by_its_edge_features() {
    for name in ["transformer_tiny", "transformer_odd", "transformer_odd_edges"] {
        let Some(case) = GoldenCase::read(name) else { continue };
        let counts: Vec<u64> = case.text["hyperparameters"]["heads"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_u64().unwrap())
            .collect();
        check(&case, &world(&case), |builder, case, features| {
            let edges = EdgeSet::IN;
            let mut h = features;
            for (layer, &count) in (1..).zip(&counts) {
                let mut parts = Vec::new();
                for part in ["query", "key", "value"] {
                    let part = linear(builder, case, &format!("conv{layer}.lin_{part}"), h)?;
                    parts.push(heads(builder, part, count)?);
                }
                let query = builder.make(Op::Near(edges), &[parts[0]])?;
                let (mut key, mut value) = (
                    builder.make(Op::Far(edges), &[parts[1]])?,
                    builder.make(Op::Far(edges), &[parts[2]])?,
                );
                if case.find("graph.edge_x").is_some() {
                    let seen = input(builder, Input::EdgeFeatures);
                    let moved = product(builder, case, &format!("conv{layer}.lin_edge"), seen)?;
                    let moved = heads(builder, moved, count)?;
                    (key, value) = (builder.add(key, moved)?, builder.add(value, moved)?);
                }
                let width = builder.node(key).shape[1] as f64;
                let product_of_both = builder.multiply(query, key)?;
                let dot = builder.sum_last(product_of_both)?;
                let root = builder.real(width.sqrt());
                let score = builder.divide(dot, root)?;
                let share = softmax(builder, edges, score)?;
                let message = builder.multiply(share, value)?;
                let sum = builder.reduce(Reduction::Sum, edges, message, None)?;
                let sum = flat(builder, sum)?;
                let own = linear(builder, case, &format!("conv{layer}.lin_skip"), h)?;
                h = builder.add(sum, own)?;
                h = if layer == 1 { builder.unary(Unary::Relu, h)? } else { h };
            }
            Ok(h)
        });
    }
}

#[test]
fn gin_of_many_graphs() {
    let Some(case) = GoldenCase::read("gin_batch") else { return };
    check(&case, &world(&case), |builder, case, features| {
        let mut h = features;
        for layer in 1..=5 {
            let far = builder.make(Op::Far(EdgeSet::IN), &[h])?;
            let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, far, None)?;
            let (one, eps) =
                (builder.real(1.0), learned(builder, case, &format!("conv{layer}.eps")));
            let own = builder.add(one, eps)?;
            let own = builder.multiply(own, h)?;
            let both = builder.add(own, sum)?;
            let inner = linear(builder, case, &format!("conv{layer}.nn.0"), both)?;
            let inner = builder.unary(Unary::Relu, inner)?;
            let outer = linear(builder, case, &format!("conv{layer}.nn.2"), inner)?;
            h = builder.unary(Unary::Relu, outer)?;
        }
        let pooled = builder.make(Op::Pool(Pooling::Sum), &[h])?;
        linear(builder, case, "readout", pooled)
    });
}
