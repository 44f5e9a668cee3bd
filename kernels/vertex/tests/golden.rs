//! golden: the shipped programs, as launch lists run by the reference, against numbers that other software made in f64.
//!
//! promises  every tensor that a launch list makes is compared, to the tolerance that case.json states for it
//! never     compares `grad.x` and `grad.graph.weight`: a launch list makes no gradient for features or weights of edges
//! limits    cases too large for the repository are read from `WARPLOOM_SHARED` (or `shared` beside the workspace) and
//!           skipped with a line when that is absent
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use warploom_vertex::Facts;
use warploom_vertex::builtin::{self, Builtin, Order};
use warploom_vertex::launch::{Body, LaunchList, LossKind, gradient_buffer, parameter_buffer};
use warploom_vertex::reference::{Adam, Inputs, Reference, ReferenceGraph};

struct Case {
    name: String,
    text: Value,
    tensors: BTreeMap<String, Vec<f64>>,
    widths: BTreeMap<String, usize>,
}

impl Case {
    /// Reads a case; none, with a line that says why, when it is not in the repository and the shared folder is absent.
    fn read(name: &str) -> Option<Case> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let shared = std::env::var_os("WARPLOOM_SHARED").map_or_else(|| workspace.join("../shared"), PathBuf::from);
        let places = [workspace.join("tests/golden").join(name), shared.join("golden").join(name)];
        let Some(folder) = places.iter().find(|place| place.join("case.json").is_file()) else {
            println!("SKIPPED: {name} because neither {} nor {} is there", places[0].display(), places[1].display());
            return None;
        };
        let text = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
        let bytes = std::fs::read(folder.join("tensors.safetensors")).unwrap();
        let (mut tensors, mut widths) = (BTreeMap::new(), BTreeMap::new());
        for (tensor, view) in SafeTensors::deserialize(&bytes).unwrap().tensors() {
            widths.insert(tensor.clone(), view.shape().get(1).copied().unwrap_or(1));
            let values = match view.dtype() {
                Dtype::F64 => view.data().chunks(8).map(|part| f64::from_le_bytes(part.try_into().unwrap())).collect(),
                Dtype::I32 => view.data().chunks(4).map(|part| f64::from(i32::from_le_bytes(part.try_into().unwrap()))).collect(),
                other => panic!("{name}: tensor {tensor} has type {other:?}"),
            };
            tensors.insert(tensor, values);
        }
        Some(Case { name: name.to_owned(), text, tensors, widths })
    }

    fn tensor(&self, name: &str) -> &[f64] {
        self.tensors.get(name).unwrap_or_else(|| panic!("{}: no tensor {name}", self.name))
    }

    fn ids(&self, name: &str) -> Vec<u32> {
        self.tensor(name).iter().map(|value| *value as u32).collect()
    }

    fn nodes(&self) -> u64 {
        self.text["graph"]["nodes"].as_u64().unwrap()
    }

    fn graph(&self, weighted: bool) -> ReferenceGraph {
        ReferenceGraph {
            nodes: self.nodes(),
            source: self.ids("graph.source"),
            target: self.ids("graph.target"),
            weight: weighted.then(|| self.tensor("graph.weight").to_vec()),
        }
    }

    /// Features as dense rows, their width, and their nonzeros where the case has them sparse.
    fn features(&self) -> (Vec<f64>, u64, Option<u64>) {
        if !self.tensors.contains_key("x.row") {
            return (self.tensor("x").to_vec(), self.widths["x"] as u64, None);
        }
        let shape = self.ids("x.shape");
        let (rows, columns) = (shape[0] as usize, shape[1] as usize);
        let mut dense = vec![0.0; rows * columns];
        let places = self.ids("x.row").into_iter().zip(self.ids("x.column"));
        places.for_each(|(row, column)| dense[row as usize * columns + column as usize] = 1.0);
        (dense, columns as u64, Some(self.tensor("x.row").len() as u64))
    }

    fn tolerance(&self, group: &str) -> f64 {
        self.text["tolerance"]["f64"][group].as_f64().unwrap_or(1e-9)
    }

    /// Largest magnitude among the tensors of a group, for those whose true value is 0 everywhere.
    fn scale_of(&self, prefix: &str) -> f64 {
        let group = self.tensors.iter().filter(|(name, _)| name.starts_with(prefix));
        group.flat_map(|(_, values)| values).fold(0.0, |largest: f64, value| largest.max(value.abs()))
    }

    fn compare(&self, name: &str, got: &[f64], (group, prefix): (&str, &str)) {
        let want = self.tensor(name);
        assert_eq!(got.len(), want.len(), "{}: elements of {name}", self.name);
        let mut scale = want.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        if scale == 0.0 {
            scale = self.scale_of(prefix);
        }
        let bound = self.tolerance(group) * scale;
        for (index, (got, want)) in got.iter().zip(want).enumerate() {
            let close = got == want || (got - want).abs() <= bound;
            assert!(close, "{}: {name}[{index}]: got {got:e}, want {want:e}, bound {bound:e}", self.name);
        }
    }
}

/// A program by its text in `pipelines/programs`, as a user's run finds it.
fn shipped(name: &str) -> &'static Builtin {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../pipelines/programs/{name}.py"));
    builtin::find(&std::fs::read_to_string(path).unwrap(), name).unwrap()
}

/// Adds a self loop of weight 1 to each node without one, as ingest does with `self_loops: add`.
fn with_self_loops(mut graph: ReferenceGraph) -> ReferenceGraph {
    let mut looped = vec![false; graph.nodes as usize];
    for (source, target) in graph.source.iter().zip(&graph.target) {
        looped[*source as usize] |= source == target;
    }
    for node in (0..graph.nodes as u32).filter(|node| !looped[*node as usize]) {
        graph.source.push(node);
        graph.target.push(node);
        if let Some(weight) = &mut graph.weight {
            weight.push(1.0);
        }
    }
    graph
}

fn is_symmetric(graph: &ReferenceGraph) -> bool {
    let edges = || graph.source.iter().copied().zip(graph.target.iter().copied());
    let mut forward: Vec<(u32, u32)> = edges().collect();
    let mut backward: Vec<(u32, u32)> = edges().map(|(source, target)| (target, source)).collect();
    forward.sort_unstable();
    backward.sort_unstable();
    forward == backward
}

/// Our name of a parameter by the golden one: `conv1.lin.weight` -> `gcn.gcn.0.linear.0.weight`.
fn our_name(model: &str, theirs: &str) -> String {
    let (layer, kind) = theirs.strip_prefix("conv").unwrap().split_once('.').unwrap();
    let layer = layer.parse::<usize>().unwrap() - 1;
    let tail = match kind {
        "lin.weight" => format!("linear.{layer}.weight"),
        "bias" => format!("bias.{layer}"),
        "lin_l.weight" => format!("linear.{}.weight", 2 * layer),
        "lin_l.bias" => format!("linear.{}.bias", 2 * layer),
        "lin_r.weight" => format!("linear.{}.weight", 2 * layer + 1),
        other => panic!("unknown parameter {other}"),
    };
    format!("{model}.{model}.0.{tail}")
}

/// Golden names of the parameters with ours.
fn parameters(case: &Case, model: &str) -> Vec<(String, String)> {
    let theirs = case.tensors.keys().filter_map(|name| name.strip_prefix("param."));
    theirs.map(|theirs| (theirs.to_owned(), our_name(model, theirs))).collect()
}

fn model(name: &str, order: Order) {
    let Some(case) = Case::read(name) else { return };
    let model = case.text["model"].as_str().unwrap();
    let mut graph = case.graph(case.text["options"]["weighted"].as_bool().unwrap());
    if model == "gcn" {
        graph = with_self_loops(graph);
    }
    let (features, feature_columns, sparse_features) = case.features();
    let regression = case.text["loss"].as_str().unwrap().starts_with("mean squared");
    let hyper = &case.text["hyperparameters"];
    let facts = Facts {
        nodes: graph.nodes,
        edges: graph.source.len() as u64,
        feature_columns,
        sparse_features,
        classes: hyper["outputs"].as_u64().unwrap(),
        weighted: graph.weight.is_some(),
        symmetric: is_symmetric(&graph),
        training: true,
        loss: if regression { LossKind::MeanSquares } else { LossKind::CrossEntropy },
        bytes_per_real: 8,
    };
    let settings = [("hidden", &hyper["hidden"]), ("layers", &hyper["layers"]), ("drop", &hyper["dropout"])];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.clone())).into();
    let builtin = shipped(model);
    let list = builtin.build_in_order(&settings, &facts, order).unwrap();
    let names = parameters(&case, model);
    assert_eq!(names.len(), list.parameters.len(), "{name}: parameters");
    let initial = names.iter().map(|(theirs, ours)| (ours.clone(), case.tensor(&format!("param.{theirs}")).to_vec()));
    let inputs = Inputs { features, target: case.tensor("y").to_vec(), training_rows: case.ids("train"), parameters: initial.collect(), ..Inputs::default() };
    let mut reference = Reference::new(&list, &graph, inputs).unwrap();
    first_step(&case, &list, &mut reference, &names);
    training(&case, &list, &mut reference, &names);
}

fn first_step(case: &Case, list: &LaunchList, reference: &mut Reference, names: &[(String, String)]) {
    reference.prepare();
    reference.forward();
    let loss = reference.loss();
    reference.backward();
    case.compare("out", reference.get(&list.results[0].buffer).unwrap(), ("forward", "hidden."));
    for hidden in case.tensors.keys().filter(|name| name.starts_with("hidden.")) {
        let buffer = hidden.replace("hidden", "h");
        // Where the next layer sums first, gcn stores its input scaled: nothing to compare.
        match reference.get(&buffer) {
            Some(got) => case.compare(hidden, got, ("forward", "hidden.")),
            None => assert!(reference.get(&format!("{buffer}.scaled")).is_some(), "{}: no buffer {buffer}", case.name),
        }
    }
    case.compare("loss", &[loss], ("loss", "loss"));
    for (theirs, ours) in names {
        let got = reference.get(&gradient_buffer(ours)).unwrap();
        case.compare(&format!("grad.{theirs}"), got, ("gradient", "grad."));
    }
}

fn training(case: &Case, list: &LaunchList, reference: &mut Reference, names: &[(String, String)]) {
    let given = |name: &str| case.text["optimizer"]["adam"][name].as_f64().unwrap();
    let adam = Adam { learning_rate: given("lr"), beta1: given("beta1"), beta2: given("beta2"), epsilon: given("eps"), weight_decay: given("weight_decay") };
    let mut losses = Vec::new();
    for _ in 0..case.text["optimizer"]["steps"].as_u64().unwrap() {
        reference.forward();
        losses.push(reference.loss());
        reference.backward();
        reference.update(&adam);
    }
    reference.forward();
    losses.push(reference.loss());
    case.compare("adam.losses", &losses, ("adam_losses", "adam."));
    case.compare("final.out", reference.get(&list.results[0].buffer).unwrap(), ("final", "final."));
    for (theirs, ours) in names {
        let got = reference.get(&parameter_buffer(ours)).unwrap();
        case.compare(&format!("final.{theirs}"), got, ("final", "final."));
    }
}

#[test]
fn gcn_agrees_on_every_case_in_every_order() {
    for order in [Order::Cheapest, Order::ProductFirst, Order::SumFirst] {
        for name in ["gcn_tiny", "gcn_odd", "gcn_odd_weighted"] {
            model(name, order);
        }
    }
}

#[test]
fn gcn_agrees_on_a_citation_graph_with_sparse_features() {
    model("gcn_planetoid", Order::Cheapest);
}

#[test]
fn sage_agrees_on_every_case_in_every_order() {
    for order in [Order::Cheapest, Order::ProductFirst, Order::SumFirst] {
        for name in ["sage_tiny", "sage_odd", "sage_odd_regression"] {
            model(name, order);
        }
    }
}

fn analytics_facts(graph: &ReferenceGraph) -> Facts {
    Facts {
        nodes: graph.nodes,
        edges: graph.source.len() as u64,
        feature_columns: 0,
        sparse_features: None,
        classes: 0,
        weighted: false,
        symmetric: is_symmetric(graph),
        training: false,
        loss: LossKind::CrossEntropy,
        bytes_per_real: 8,
    }
}

fn analytics_list(program: &str, graph: &ReferenceGraph, settings: &[(&str, Value)]) -> LaunchList {
    let builtin = shipped(program);
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let list = builtin.build(&settings, &analytics_facts(graph)).unwrap();
    assert!(matches!(list.body, Body::Iterate(_)));
    list
}

fn pagerank(name: &str) {
    let Some(case) = Case::read(name) else { return };
    let graph = case.graph(false);
    let list = analytics_list("pagerank", &graph, &[("tolerance", Value::from(1e-15))]);
    let mut compared = 0;
    for tensor in case.tensors.keys().filter(|tensor| tensor.starts_with("pagerank.ignored.")) {
        let mut reference = Reference::new(&list, &graph, Inputs::default()).unwrap();
        reference.prepare();
        match tensor.trim_start_matches("pagerank.ignored.").parse::<u64>() {
            Ok(supersteps) => (0..supersteps).for_each(|_| {
                reference.superstep();
            }),
            Err(_) => assert!(reference.iterate(10_000).converged, "{name}: {tensor}"),
        }
        case.compare(tensor, reference.get("rank").unwrap(), ("pagerank.ignored", "pagerank.ignored"));
        compared += 1;
    }
    assert!(compared >= 4, "{name}: {compared} rank vectors");
}

fn components(name: &str) {
    let Some(case) = Case::read(name) else { return };
    let graph = case.graph(false);
    let list = analytics_list("components", &graph, &[]);
    let mut reference = Reference::new(&list, &graph, Inputs::default()).unwrap();
    reference.prepare();
    assert!(reference.iterate(graph.nodes + 1).converged);
    let got = reference.get("label").unwrap();
    assert_eq!(got, case.tensor("components.weak"), "{name}: smallest id of each component");
    let mut labels = got.to_vec();
    labels.sort_by(f64::total_cmp);
    labels.dedup();
    assert_eq!(labels.len() as u64, case.text["values"]["components.weak"].as_u64().unwrap(), "{name}: components");
}

#[test]
fn pagerank_agrees_after_each_number_of_supersteps_and_converged() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        pagerank(name);
    }
}

#[test]
fn components_agree() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        components(name);
    }
}
