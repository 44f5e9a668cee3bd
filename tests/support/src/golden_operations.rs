//! golden_operations: the golden cases of single operations, written as nodes: sums, means,
//! extrema, dot products, softmax and attention over edges.
//!
//! promises  every tensor of a case is made, gradients as the formulas of case.json written as
//!           nodes; whoever runs the nodes, by the interpreter or on a device, compares with the
//!           tolerance that case.json states for a tensor's group
use std::collections::BTreeSet;

use warploom_ir::interpret::{ElementRows, World};
use warploom_ir::{
    Binary, Builder, Data, EdgeSet, Gir, Input, NodeId, Number, Op, Output, Place, Pooling,
    Reduction, Unary,
};

use crate::golden_cases::GoldenCase;

/// Some tensors of a case as results of one program.
pub struct Problem<'a> {
    /// What it reads.
    pub given: CaseInputs<'a>,
    /// Which of the case's tensors they are: a width, a reduction.
    pub tag: String,
    /// The nodes; each result has the name of a tensor.
    pub gir: Gir,
}

/// All problems of a case, whose tensors together are all that it does not give.
pub fn problems(case: &GoldenCase) -> Vec<Problem<'_>> {
    type Build = fn(&CaseInputs, &mut Builder, &str) -> Vec<(String, NodeId)>;
    let (vertex, edge, build): (&[&str], &[&str], Build) =
        match case.text["operation"].as_str().unwrap() {
            "spmm" => (&["x", "x_ties", "dout"], &[], spmm),
            "sddmm" => (&["q", "k"], &["dout"], sddmm),
            "segment_softmax" => (&[], &["s", "dp"], softmax_with_slope),
            "attention" => (&["q", "k", "v", "dout"], &["bias"], attention),
            other => panic!("{}: unknown operation {other}", case.name),
        };
    let tags = case.names("out.");
    let of = |tag: &String| {
        let given = CaseInputs::new(case, vertex, edge);
        let mut builder = Builder::new("golden", &given.data);
        let made = build(&given, &mut builder, tag);
        let mut gir = builder.gir;
        let edges = |node: NodeId| {
            matches!(gir.node(node).place, Place::S(_) | Place::E(_)).then_some(EdgeSet::IN)
        };
        let results = made
            .into_iter()
            .map(|(name, node)| Output { name, node, edges: edges(node) })
            .collect();
        gir.results = results;
        Problem { given, tag: tag.clone(), gir }
    };
    if tags.is_empty() { vec![of(&String::new())] } else { tags.iter().map(of).collect() }
}

/// The group of case.json whose tolerance is that of a tensor.
pub fn group(case: &GoldenCase, tag: &str, tensor: &str) -> String {
    match case.text["operation"].as_str().unwrap() {
        "segment_softmax" if tensor == "ds" => "p".to_owned(),
        "segment_softmax" => tensor.to_owned(),
        "attention" => {
            format!("{tag}.{}", if tensor.starts_with('d') { "gradient" } else { "forward" })
        }
        _ => tag.to_owned(),
    }
}

/// Panics where a tensor of a case is neither given nor among those that were compared.
pub fn all_are_compared(case: &GoldenCase, compared: &BTreeSet<String>) {
    let given = problems(case).remove(0).given;
    let is_given = |name: &String| {
        name.starts_with("graph.")
            || given.vertex.iter().chain(given.edge).any(|other| other == name)
    };
    let rest: Vec<String> = case
        .names("")
        .into_iter()
        .filter(|name| !is_given(name) && !compared.contains(name))
        .collect();
    assert!(rest.is_empty() && !compared.is_empty(), "{}: {rest:?} are not compared", case.name);
}

/// Shape of a row of a tensor.
fn row_shape(case: &GoldenCase, name: &str) -> Vec<u64> {
    case.tensor(name).shape[1..].iter().map(|length| *length as u64).collect()
}

/// Tensors of a case given as features of vertices and of edges, side by side.
pub struct CaseInputs<'a> {
    case: &'a GoldenCase,
    vertex: &'a [&'a str],
    edge: &'a [&'a str],
    /// The graph and what belongs to it.
    pub world: World,
    /// What the compiler knows of that.
    pub data: Data,
}

impl<'a> CaseInputs<'a> {
    /// The case's graph, with these tensors.
    pub fn new(case: &'a GoldenCase, vertex: &'a [&'a str], edge: &'a [&'a str]) -> CaseInputs<'a> {
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
        CaseInputs { case, vertex, edge, world, data }
    }

    /// The node of a given tensor, with its shape.
    fn node(&self, builder: &mut Builder, name: &str) -> NodeId {
        let of_vertices = self.vertex.contains(&name);
        let (input, names) = if of_vertices {
            (Input::Features, self.vertex)
        } else {
            (Input::EdgeFeatures, self.edge)
        };
        let all = builder.make(Op::Input(input), &[]).unwrap();
        let width = |name: &str| row_shape(self.case, name).iter().product::<u64>();
        let start =
            names.iter().take_while(|other| **other != name).map(|other| width(other)).sum();
        let part = builder.make(Op::Slice { axis: 0, start, length: width(name) }, &[all]).unwrap();
        builder.make_shaped(Op::Reshape, &[part], &row_shape(self.case, name)).unwrap()
    }
}

fn beside(case: &GoldenCase, names: &[&str], rows: usize) -> ElementRows {
    let width = |name: &str| row_shape(case, name).iter().product::<u64>() as usize;
    let mut values = Vec::new();
    for row in 0..rows {
        names.iter().for_each(|name| {
            values.extend(&case.tensor(name).values[row * width(name)..(row + 1) * width(name)])
        });
    }
    ElementRows::from_reals(rows, names.iter().map(|name| width(name)).sum(), values)
}

fn first_places(builder: &mut Builder, node: NodeId, axis: usize, length: u64) -> NodeId {
    if builder.node(node).shape[axis] == length {
        node
    } else {
        builder.make(Op::Slice { axis, start: 0, length }, &[node]).unwrap()
    }
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

/// Messages, reduced; then the gradient of one edge's message, and from it those by features and
/// weights.
fn spmm(given: &CaseInputs, builder: &mut Builder, tag: &str) -> Vec<(String, NodeId)> {
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
            let (share, some) = (
                builder.divide(sum, degree).unwrap(),
                builder.binary(Binary::Less, none, degree).unwrap(),
            );
            // A condition of one number chooses a whole row.
            made.push((format!("out.{tag}"), builder.select(some, share, zero).unwrap()));
            let share = builder.divide(dout, degree).unwrap();
            near(builder, share)
        }
        _ => {
            let largest = reduction == "max";
            let reduction = if largest { Reduction::Maximum } else { Reduction::Minimum };
            made.push((
                format!("out.{tag}"),
                builder.reduce(reduction, EdgeSet::IN, message, None).unwrap(),
            ));
            let winner = builder.make(Op::Winner(largest, EdgeSet::IN), &[message]).unwrap();
            made.push((format!("arg.{tag}"), winner));
            let slope = near(builder, dout);
            builder.select(winner, slope, zero).unwrap()
        }
    };
    let back = if weighted { builder.multiply(weight, slope).unwrap() } else { slope };
    made.push((
        format!("dx.{tag}"),
        builder.reduce(Reduction::Sum, EdgeSet::OUT, back, None).unwrap(),
    ));
    for wide in given.case.names(&format!("dweight.{tag}.d")) {
        let product = builder.multiply(slope, source).unwrap();
        let product = first_places(builder, product, 0, wide.parse().unwrap());
        made.push((format!("dweight.{tag}.d{wide}"), sum_axis(builder, product, 0)));
    }
    made
}

/// `arg` names the winning edge of each vertex, -1 without edges; `Winner` marks it among the
/// edges: whether it marks a column of an edge.
pub fn compare_winners(case: &GoldenCase, name: &str, is_marked: impl Fn(usize, usize) -> bool) {
    let (arg, target) = (case.tensor(name), case.ids("graph.target"));
    let width = arg.shape[1];
    let mut marked = vec![-1.0; arg.values.len()];
    for (edge, vertex) in target.iter().enumerate() {
        for column in 0..width {
            if is_marked(edge, column) {
                let place = &mut marked[*vertex as usize * width + column];
                assert_eq!(
                    *place, -1.0,
                    "{}: {name}: two winners at vertex {vertex}, column {column}",
                    case.name
                );
                *place = edge as f64;
            }
        }
    }
    assert_eq!(marked, arg.values, "{}: {name}", case.name);
}

fn sddmm(given: &CaseInputs, builder: &mut Builder, tag: &str) -> Vec<(String, NodeId)> {
    let width: u64 = tag.trim_start_matches('d').parse().unwrap();
    let (q, k, dout) =
        (given.node(builder, "q"), given.node(builder, "k"), given.node(builder, "dout"));
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

fn softmax_with_slope(given: &CaseInputs, builder: &mut Builder, _: &str) -> Vec<(String, NodeId)> {
    let (score, slope) = (given.node(builder, "s"), given.node(builder, "dp"));
    let (share, lse) = softmax(builder, score);
    let product = builder.multiply(share, slope).unwrap();
    let sum = builder.reduce(Reduction::Sum, EdgeSet::IN, product, None).unwrap();
    let seen = near(builder, sum);
    let rest = builder.subtract(slope, seen).unwrap();
    let back = builder.multiply(share, rest).unwrap();
    [("p", share), ("lse", lse), ("ds", back)].map(|(name, node)| (name.to_owned(), node)).to_vec()
}

fn attention(given: &CaseInputs, builder: &mut Builder, tag: &str) -> Vec<(String, NodeId)> {
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
    let [to_q, to_k, to_v] = [(scaled, k), (scaled, q), (share, dout_seen)]
        .map(|(a, b)| builder.multiply(a, b).unwrap());
    let mut made = vec![("out", out), ("lse", lse)];
    made.push(("dq", builder.reduce(Reduction::Sum, EdgeSet::IN, to_q, None).unwrap()));
    made.push(("dk", builder.reduce(Reduction::Sum, EdgeSet::OUT, to_k, None).unwrap()));
    made.push(("dv", builder.reduce(Reduction::Sum, EdgeSet::OUT, to_v, None).unwrap()));
    if biased {
        made.push(("dbias", slope));
    }
    made.into_iter().map(|(name, node)| (format!("{name}.{tag}"), node)).collect()
}
