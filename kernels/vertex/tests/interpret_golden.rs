//! interpret_golden: single operations and analytics, made node by node and interpreted, against numbers that other software made in
//! f64.
//!
//! promises  every tensor of a case is compared, gradients as the formulas of case.json written as nodes, to the tolerance that case.json
//!           states for it; infinities must be the same
//! limits    cases too large for the repository are read from `WARPLOOM_SHARED` (or `shared` beside the workspace) and skipped with a
//!           line when that is absent
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use warploom_cases::Case;
use warploom_vertex::gir::{Binary, Builder, Data, EdgeSet, Input, NodeId, Number, Op, Output, Pooling, Reduction, Type, Unary, Until};
use warploom_vertex::interpret::{Interpreter, Rows, World};

/// Shape of a row of a tensor.
fn row_shape(case: &Case, name: &str) -> Vec<u64> {
    case.tensor(name).shape[1..].iter().map(|length| *length as u64).collect()
}

/// Tensors of a case given as features of vertices and of edges, side by side.
struct Given<'a> {
    case: &'a Case,
    vertex: &'a [&'a str],
    edge: &'a [&'a str],
    world: World,
    data: Data,
}

impl<'a> Given<'a> {
    fn new(case: &'a Case, vertex: &'a [&'a str], edge: &'a [&'a str]) -> Given<'a> {
        let nodes = case.nodes();
        let mut world = World::bare(nodes, case.ids("graph.source"), case.ids("graph.target"));
        let mut data = Data::bare(nodes as u64, world.edges() as u64);
        world.weight = case.find("graph.weight").map(|weight| weight.values.clone());
        data.weighted = world.weight.is_some();
        if !vertex.is_empty() {
            world.features = Some(beside(case, vertex, nodes));
            data.features = world.features.as_ref().map(|rows| rows.columns as u64);
        }
        if !edge.is_empty() {
            let rows = beside(case, edge, world.edges());
            data.edge_features = rows.columns as u64;
            world.edge_features = Some(rows);
        }
        Given { case, vertex, edge, world, data }
    }

    /// The node of a given tensor, with its shape.
    fn node(&self, builder: &mut Builder, name: &str) -> NodeId {
        let of_vertices = self.vertex.contains(&name);
        let (input, names) = if of_vertices { (Input::Features, self.vertex) } else { (Input::EdgeFeatures, self.edge) };
        let all = builder.make(Op::Input(input), &[]).unwrap();
        let width = |name: &str| row_shape(self.case, name).iter().product::<u64>();
        let start = names.iter().take_while(|other| **other != name).map(|other| width(other)).sum();
        let part = builder.make(Op::Slice { axis: 0, start, length: width(name) }, &[all]).unwrap();
        builder.make_shaped(Op::Reshape, &[part], &row_shape(self.case, name)).unwrap()
    }

    /// Builds, runs once, and gives the value of each name.
    fn run(&self, build: impl FnOnce(&mut Builder) -> Vec<(String, NodeId)>) -> BTreeMap<String, Rows> {
        let mut builder = Builder::new("golden", &self.data);
        let made = build(&mut builder);
        let mut gir = builder.gir;
        gir.results = made.into_iter().map(|(name, node)| Output { name, node, edges: None }).collect();
        let mut interpreter = Interpreter::new(&gir, &self.data, &self.world).unwrap();
        interpreter.run(0);
        gir.results.iter().map(|result| (result.name.clone(), interpreter.value(result.node).unwrap().clone())).collect()
    }
}

fn beside(case: &Case, names: &[&str], rows: usize) -> Rows {
    let width = |name: &str| row_shape(case, name).iter().product::<u64>() as usize;
    let mut values = Vec::new();
    for row in 0..rows {
        names.iter().for_each(|name| values.extend(&case.tensor(name).values[row * width(name)..(row + 1) * width(name)]));
    }
    Rows::real(rows, names.iter().map(|name| width(name)).sum(), values)
}

fn first_places(builder: &mut Builder, node: NodeId, axis: usize, length: u64) -> NodeId {
    if builder.node(node).shape[axis] == length { node } else { builder.make(Op::Slice { axis, start: 0, length }, &[node]).unwrap() }
}

fn sum_axis(builder: &mut Builder, node: NodeId, axis: usize) -> NodeId {
    builder.make(Op::Axis(Pooling::Sum, axis), &[node]).unwrap()
}

fn near(builder: &mut Builder, node: NodeId) -> NodeId {
    builder.make(Op::Near(EdgeSet::IN), &[node]).unwrap()
}

fn far(builder: &mut Builder, node: NodeId) -> NodeId {
    builder.make(Op::Far(EdgeSet::IN), &[node]).unwrap()
}

/// Messages, reduced; then the gradient of one edge's message, and from it those by features and weights.
fn spmm(given: &Given, builder: &mut Builder, tag: &str) -> Vec<(String, NodeId)> {
    let (reduction, variant) = tag.split_once('.').unwrap();
    let x = given.node(builder, if variant == "ties" { "x_ties" } else { "x" });
    let width = builder.node(x).shape[0];
    let dout = given.node(builder, "dout");
    let dout = first_places(builder, dout, 0, width);
    let (source, weight) = (far(builder, x), builder.make(Op::Input(Input::Weight), &[]).unwrap());
    let weighted = variant == "weighted";
    let message = if weighted { builder.multiply(weight, source).unwrap() } else { source };
    let (zero, none) = (builder.real(0.0), builder.constant(Number::Int(0)));
    let degree = builder.make(Op::Input(Input::Degree(EdgeSet::IN)), &[]).unwrap();
    let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None).unwrap();
    let mut made = Vec::new();
    let slope = match reduction {
        "sum" => {
            made.push((format!("out.{tag}"), sum));
            near(builder, dout)
        }
        "mean" => {
            let (share, some) = (builder.divide(sum, degree).unwrap(), builder.binary(Binary::Less, none, degree).unwrap());
            // A condition of one number chooses a whole row.
            made.push((format!("out.{tag}"), builder.select(some, share, zero).unwrap()));
            let share = builder.divide(dout, degree).unwrap();
            near(builder, share)
        }
        _ => {
            let largest = reduction == "max";
            let reduction = if largest { Reduction::Maximum } else { Reduction::Minimum };
            made.push((format!("out.{tag}"), builder.reduce(reduction, EdgeSet::IN, message, None).unwrap()));
            let winner = builder.make(Op::Winner(largest, EdgeSet::IN), &[message]).unwrap();
            made.push((format!("arg.{tag}"), winner));
            let slope = near(builder, dout);
            builder.select(winner, slope, zero).unwrap()
        }
    };
    let back = if weighted { builder.multiply(weight, slope).unwrap() } else { slope };
    made.push((format!("dx.{tag}"), builder.reduce(Reduction::Sum, EdgeSet::OUT, back, None).unwrap()));
    for wide in given.case.names(&format!("dweight.{tag}.d")) {
        let product = builder.multiply(slope, source).unwrap();
        let product = first_places(builder, product, 0, wide.parse().unwrap());
        made.push((format!("dweight.{tag}.d{wide}"), sum_axis(builder, product, 0)));
    }
    made
}

/// `arg` names the winning edge of each vertex, -1 without edges; `Winner` marks it among the edges.
fn compare_winners(case: &Case, name: &str, winners: &Rows) {
    let (arg, target) = (case.tensor(name), case.ids("graph.target"));
    let width = arg.shape[1];
    let mut marked = vec![-1.0; arg.values.len()];
    for (edge, vertex) in target.iter().enumerate() {
        for column in 0..width {
            if winners.at(edge, column).holds() {
                let place = &mut marked[*vertex as usize * width + column];
                assert_eq!(*place, -1.0, "{}: {name}: two winners at vertex {vertex}, column {column}", case.name);
                *place = edge as f64;
            }
        }
    }
    assert_eq!(marked, arg.values, "{}: {name}", case.name);
}

#[test]
fn sums_means_and_extrema_over_edges_agree_with_their_gradients() {
    for name in ["ops_spmm_tiny", "ops_spmm_odd"] {
        let Some(case) = Case::read(name) else { continue };
        let given = Given::new(&case, &["x", "x_ties", "dout"], &[]);
        let tags = case.names("out.");
        assert_eq!(tags.len(), 10, "{name}: {tags:?}");
        let mut compared = 0;
        for tag in &tags {
            for (tensor, rows) in given.run(|builder| spmm(&given, builder, tag)) {
                if tensor.starts_with("arg.") {
                    compare_winners(&case, &tensor, &rows);
                } else {
                    case.compare(&tensor, &rows.values.reals(), tag);
                }
                compared += 1;
            }
        }
        let inputs = ["graph.source", "graph.target", "graph.weight", "x", "x_ties", "dout"];
        assert_eq!(compared + inputs.len(), case.names("").len(), "{name}: every tensor is compared");
    }
}

fn sddmm(given: &Given, builder: &mut Builder, width: u64) -> Vec<(String, NodeId)> {
    let (q, k, dout) = (given.node(builder, "q"), given.node(builder, "k"), given.node(builder, "dout"));
    let (q, k) = (first_places(builder, q, 1, width), first_places(builder, k, 1, width));
    let (q, k) = (near(builder, q), far(builder, k));
    let product = builder.multiply(q, k).unwrap();
    let heads = builder.node(dout).shape[0];
    let slope = builder.make_shaped(Op::Reshape, &[dout], &[heads, 1]).unwrap();
    let (to_q, to_k) = (builder.multiply(slope, k).unwrap(), builder.multiply(slope, q).unwrap());
    vec![
        (format!("out.d{width}"), sum_axis(builder, product, 1)),
        (format!("dq.d{width}"), builder.reduce(Reduction::Sum, EdgeSet::IN, to_q, None).unwrap()),
        (format!("dk.d{width}"), builder.reduce(Reduction::Sum, EdgeSet::OUT, to_k, None).unwrap()),
    ]
}

#[test]
fn dot_products_on_edges_agree_with_their_gradients() {
    for name in ["ops_sddmm_tiny", "ops_sddmm_odd"] {
        let Some(case) = Case::read(name) else { continue };
        let given = Given::new(&case, &["q", "k"], &["dout"]);
        let mut compared = 0;
        for width in case.names("out.d") {
            for (tensor, rows) in given.run(|builder| sddmm(&given, builder, width.parse().unwrap())) {
                case.compare(&tensor, &rows.values.reals(), &format!("d{width}"));
                compared += 1;
            }
        }
        assert_eq!(compared + 5, case.names("").len(), "{name}: every tensor is compared");
    }
}

/// Softmax over in-edges with the largest score taken out: shares, and the logarithm of the sum.
fn softmax(builder: &mut Builder, score: NodeId) -> (NodeId, NodeId) {
    let largest = builder.reduce(Reduction::Maximum, EdgeSet::IN, score, None).unwrap();
    let seen = near(builder, largest);
    let lower = builder.subtract(score, seen).unwrap();
    let raised = builder.unary(Unary::Exp, lower).unwrap();
    let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, raised, None).unwrap();
    let logarithm = builder.unary(Unary::Log, sum).unwrap();
    let seen = near(builder, sum);
    (builder.divide(raised, seen).unwrap(), builder.add(largest, logarithm).unwrap())
}

fn softmax_with_slope(given: &Given, builder: &mut Builder) -> Vec<(String, NodeId)> {
    let (score, slope) = (given.node(builder, "s"), given.node(builder, "dp"));
    let (share, lse) = softmax(builder, score);
    let product = builder.multiply(share, slope).unwrap();
    let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, product, None).unwrap();
    let seen = near(builder, sum);
    let rest = builder.subtract(slope, seen).unwrap();
    let back = builder.multiply(share, rest).unwrap();
    [("p", share), ("lse", lse), ("ds", back)].map(|(name, node)| (name.to_owned(), node)).to_vec()
}

#[test]
fn softmax_over_edges_agrees_with_its_gradient() {
    for name in ["ops_segment_softmax_tiny", "ops_segment_softmax_odd"] {
        let Some(case) = Case::read(name) else { continue };
        let given = Given::new(&case, &[], &["s", "dp"]);
        let made = given.run(|builder| softmax_with_slope(&given, builder));
        for (tensor, group) in [("p", "p"), ("lse", "lse"), ("ds", "p")] {
            case.compare(tensor, &made[tensor].values.reals(), group);
        }
    }
}

fn attention(given: &Given, builder: &mut Builder, tag: &str) -> Vec<(String, NodeId)> {
    let biased = tag.ends_with(".bias");
    let width: u64 = tag.trim_end_matches(".bias").trim_start_matches('d').parse().unwrap();
    let [q, k, v, dout] = ["q", "k", "v", "dout"].map(|name| {
        let whole = given.node(builder, name);
        first_places(builder, whole, 1, width)
    });
    let heads = builder.node(q).shape[0];
    let scale = builder.real(1.0 / (width as f64).sqrt());
    let [q, dout_seen] = [q, dout].map(|node| near(builder, node));
    let [k, v] = [k, v].map(|node| far(builder, node));
    let product = builder.multiply(q, k).unwrap();
    let product = sum_axis(builder, product, 1);
    let mut score = builder.multiply(product, scale).unwrap();
    if biased {
        let bias = given.node(builder, "bias");
        score = builder.add(score, bias).unwrap();
    }
    let (share, lse) = softmax(builder, score);
    let share = builder.make_shaped(Op::Reshape, &[share], &[heads, 1]).unwrap();
    let message = builder.multiply(share, v).unwrap();
    let out = builder.reduce(Reduction::Sum, EdgeSet::IN, message, None).unwrap();
    let hit = builder.multiply(dout_seen, v).unwrap();
    let hit = sum_axis(builder, hit, 1);
    let mean = builder.multiply(dout, out).unwrap();
    let mean = sum_axis(builder, mean, 1);
    let mean = near(builder, mean);
    let rest = builder.subtract(hit, mean).unwrap();
    let rest = builder.make_shaped(Op::Reshape, &[rest], &[heads, 1]).unwrap();
    let slope = builder.multiply(share, rest).unwrap();
    let scaled = builder.multiply(slope, scale).unwrap();
    let [to_q, to_k, to_v] = [(scaled, k), (scaled, q), (share, dout_seen)].map(|(a, b)| builder.multiply(a, b).unwrap());
    let mut made = vec![("out", out), ("lse", lse)];
    made.push(("dq", builder.reduce(Reduction::Sum, EdgeSet::IN, to_q, None).unwrap()));
    made.push(("dk", builder.reduce(Reduction::Sum, EdgeSet::OUT, to_k, None).unwrap()));
    made.push(("dv", builder.reduce(Reduction::Sum, EdgeSet::OUT, to_v, None).unwrap()));
    if biased {
        made.push(("dbias", slope));
    }
    made.into_iter().map(|(name, node)| (format!("{name}.{tag}"), node)).collect()
}

#[test]
fn attention_agrees_with_its_gradients() {
    for name in ["ops_attention_tiny", "ops_attention_odd"] {
        let Some(case) = Case::read(name) else { continue };
        let given = Given::new(&case, &["q", "k", "v", "dout"], &["bias"]);
        let mut compared = 0;
        for tag in case.names("out.") {
            for (tensor, rows) in given.run(|builder| attention(&given, builder, &tag)) {
                let group = if tensor.starts_with('d') { "gradient" } else { "forward" };
                case.compare(&tensor, &rows.values.reals(), &format!("{tag}.{group}"));
                compared += 1;
            }
        }
        assert_eq!(compared + 7, case.names("").len(), "{name}: every tensor is compared");
    }
}

/// A loop with one state of vertices. `pass` makes its next value of the current one.
fn repeat(builder: &mut Builder, name: &str, first: NodeId, until: Until, pass: impl FnOnce(&mut Builder, NodeId) -> NodeId) {
    let first = builder.on_vertices(first).unwrap();
    let (number, inside) = builder.begin_loop(&[(name.to_owned(), first)]);
    let next = pass(builder, inside[0]);
    let ended = builder.end_loop(number, &[next], until).unwrap();
    builder.gir.results.push(Output { name: name.to_owned(), node: ended[0], edges: None });
}

fn pagerank(builder: &mut Builder, spread: bool) {
    let nodes = builder.data.nodes as f64;
    let first = builder.real(1.0 / nodes);
    repeat(builder, "rank", first, Until::ChangeAtMost(0, 1e-15), |builder, rank| {
        let degree = builder.make(Op::Input(Input::Degree(EdgeSet::OUT)), &[]).unwrap();
        let share = builder.divide(rank, degree).unwrap();
        let share = builder.make(Op::Far(EdgeSet::IN), &[share]).unwrap();
        let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, share, None).unwrap();
        let (damping, base) = (builder.real(0.85), builder.real(0.15 / nodes));
        let kept = builder.multiply(damping, sum).unwrap();
        let next = builder.add(base, kept).unwrap();
        if !spread {
            return next;
        }
        let (none, zero) = (builder.constant(Number::Int(0)), builder.real(0.0));
        let dangling = builder.binary(Binary::Equal, degree, none).unwrap();
        let lost = builder.select(dangling, rank, zero).unwrap();
        let lost = builder.make(Op::Pool(Pooling::Sum), &[lost]).unwrap();
        let each = builder.real(0.85 / nodes);
        let lost = builder.multiply(each, lost).unwrap();
        builder.add(next, lost).unwrap()
    });
}

#[test]
fn pagerank_agrees_after_each_number_of_supersteps_and_converged() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        let Some(case) = Case::read(name) else { continue };
        let given = Given::new(&case, &[], &[]);
        for (variant, spread) in [("pagerank.ignored", false), ("pagerank.spread", true)] {
            let mut builder = Builder::new("pagerank", &given.data);
            pagerank(&mut builder, spread);
            let gir = builder.gir;
            let mut interpreter = Interpreter::new(&gir, &given.data, &given.world).unwrap();
            let tags = case.names(&format!("{variant}."));
            assert!(tags.len() >= 4, "{name}: {tags:?}");
            for tag in tags {
                let supersteps = tag.parse::<u64>();
                let ending = interpreter.run(supersteps.clone().unwrap_or(10_000))[0].unwrap();
                match supersteps {
                    Ok(supersteps) => assert!(ending.supersteps == supersteps || ending.converged, "{name}: {ending:?}"),
                    Err(_) => assert!(ending.converged, "{name}: {variant} did not converge"),
                }
                case.compare(&format!("{variant}.{tag}"), &interpreter.result("rank").unwrap().values.reals(), variant);
            }
        }
    }
}

#[test]
fn components_agree() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        let Some(case) = Case::read(name) else { continue };
        let given = Given::new(&case, &[], &[]);
        let mut builder = Builder::new("components", &given.data);
        let id = builder.make(Op::Input(Input::Id), &[]).unwrap();
        repeat(&mut builder, "label", id, Until::Unchanged(vec![0]), |builder, label| {
            let seen = builder.make(Op::Far(EdgeSet::BOTH), &[label]).unwrap();
            let smallest = builder.reduce(Reduction::Minimum, EdgeSet::BOTH, seen, None).unwrap();
            builder.binary(Binary::Minimum, label, smallest).unwrap()
        });
        let gir = builder.gir;
        let mut interpreter = Interpreter::new(&gir, &given.data, &given.world).unwrap();
        assert!(interpreter.run(given.data.nodes + 1)[0].unwrap().converged);
        assert_eq!(interpreter.result("label").unwrap().values.reals(), case.tensor("components.weak").values, "{name}");
    }
}

#[test]
fn shortest_paths_agree() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        let Some(case) = Case::read(name) else { continue };
        let given = Given::new(&case, &[], &[]);
        let mut found = Vec::new();
        for start in case.ids("distance.source") {
            let mut builder = Builder::new("sssp", &given.data);
            let [zero, endless] = [0.0, f64::INFINITY].map(|number| builder.real(number));
            let (id, start) = (builder.make(Op::Input(Input::Id), &[]).unwrap(), builder.constant(Number::Int(start.into())));
            let start = builder.cast(Type::Id, start).unwrap();
            let here = builder.binary(Binary::Equal, id, start).unwrap();
            let first = builder.select(here, zero, endless).unwrap();
            repeat(&mut builder, "distance", first, Until::Unchanged(vec![0]), |builder, distance| {
                let (seen, weight) = (far(builder, distance), builder.make(Op::Input(Input::Weight), &[]).unwrap());
                let path = builder.add(seen, weight).unwrap();
                let shortest = builder.reduce(Reduction::Minimum, EdgeSet::IN, path, None).unwrap();
                builder.binary(Binary::Minimum, distance, shortest).unwrap()
            });
            let gir = builder.gir;
            let mut interpreter = Interpreter::new(&gir, &given.data, &given.world).unwrap();
            assert!(interpreter.run(given.data.nodes + 1)[0].unwrap().converged);
            found.extend(interpreter.result("distance").unwrap().values.reals());
        }
        case.compare("sssp.distance", &found, "sssp");
    }
}
