//! golden: the shipped programs against numbers that other software made in f64.
//!
//! promises  through the real stages, in both types, in the data set's order and by degree: the loss of every epoch, final
//!           parameters and final scores, PageRank after 1, 2, 50 and all supersteps, components. The artifact holds f32,
//!           so f64 is there compared with the golden numbers to the tolerance of f32, and to 1e-9 with the reference on
//!           the same rounded inputs. Without files, on exact inputs, everything that a list makes to the tolerance of f64
//! limits    cases too large for the repository are read from `WARPLOOM_SHARED` (or `shared` beside the workspace) and
//!           skipped with a line when that is absent
use std::{collections::BTreeMap, path::Path, path::PathBuf};

use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use warploom_contract::{
    Artifact,
    kinds::graph::{EdgeTable, Ids, Labels, NodeTable},
    stage::{Silence, StopFlag},
};
use warploom_ops::optimizer::{Adam, Optimizer};
use warploom_run::{
    executor::{Executor, Pass},
    precision::Precision,
    program::Part,
    tensors::{Tensor, Tensors},
};
use warploom_vertex::builtin::{self, Order};
use warploom_vertex::launch::{LaunchList, LossKind, gradient_buffer};
use warploom_vertex::reference;

use crate::direct::{Direct, first_apart, held, scale_of};
use crate::workshop::{Features, Given, Left, Workshop, finished, list_of};

struct Case {
    name: String,
    text: Value,
    tensors: BTreeMap<String, Vec<f64>>,
    shapes: BTreeMap<String, Vec<usize>>,
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
        let (mut tensors, mut shapes) = (BTreeMap::new(), BTreeMap::new());
        for (tensor, view) in SafeTensors::deserialize(&bytes).unwrap().tensors() {
            shapes.insert(tensor.clone(), view.shape().to_vec());
            let values = match view.dtype() {
                Dtype::F64 => view.data().chunks(8).map(|part| f64::from_le_bytes(part.try_into().unwrap())).collect(),
                Dtype::I32 => view.data().chunks(4).map(|part| f64::from(i32::from_le_bytes(part.try_into().unwrap()))).collect(),
                other => panic!("{name}: tensor {tensor} has type {other:?}"),
            };
            tensors.insert(tensor, values);
        }
        Some(Case { name: name.to_owned(), text, tensors, shapes })
    }

    fn tensor(&self, name: &str) -> &[f64] {
        self.tensors.get(name).unwrap_or_else(|| panic!("{}: no tensor {name}", self.name))
    }

    fn ids(&self, name: &str) -> Vec<u32> {
        self.tensor(name).iter().map(|value| *value as u32).collect()
    }

    fn model(&self) -> &str {
        self.text["model"].as_str().unwrap()
    }

    fn is_regression(&self) -> bool {
        self.text["loss"].as_str().unwrap().starts_with("mean squared")
    }

    fn adam(&self, name: &str) -> f64 {
        self.text["optimizer"]["adam"][name].as_f64().unwrap()
    }

    /// The graph, with loops as ingest adds them for gcn.
    fn direct(&self) -> Direct {
        let mut direct = Direct {
            nodes: self.text["graph"]["nodes"].as_u64().unwrap() as usize,
            source: self.ids("graph.source"),
            target: self.ids("graph.target"),
            ..Direct::default()
        };
        let Some(model) = self.text["model"].as_str() else { return direct };
        let weighted = self.text["options"]["weighted"].as_bool().unwrap();
        direct.weight = weighted.then(|| self.tensor("graph.weight").to_vec());
        if model == "gcn" {
            add_loops(&mut direct);
        }
        direct.labels = self.tensor("y").to_vec();
        direct.training_rows = self.ids("train");
        (direct.features, direct.feature_columns) = self.features();
        direct
    }

    fn features(&self) -> (Vec<f64>, usize) {
        if !self.tensors.contains_key("x.row") {
            return (self.tensor("x").to_vec(), self.shapes["x"][1]);
        }
        let shape = self.ids("x.shape");
        let columns = shape[1] as usize;
        let mut dense = vec![0.0; shape[0] as usize * columns];
        let places = self.ids("x.row").into_iter().zip(self.ids("x.column"));
        places.for_each(|(row, column)| dense[row as usize * columns + column as usize] = 1.0);
        (dense, columns)
    }

    fn tolerance(&self, dtype: &str, group: &str) -> f64 {
        self.text["tolerance"][dtype][group].as_f64().unwrap_or(1e-9)
    }

    fn compare(&self, name: &str, got: &[f64], (dtype, group, prefix): (&str, &str, &str)) {
        let want = self.tensor(name);
        let group_scale =
            || scale_of(&self.tensors.iter().filter(|(name, _)| name.starts_with(prefix)).flat_map(|(_, values)| values.clone()).collect::<Vec<_>>());
        let scale = Some(scale_of(want)).filter(|scale| *scale > 0.0).unwrap_or_else(group_scale);
        if let Some(apart) = first_apart(got, want, self.tolerance(dtype, group) * scale) {
            panic!("{} ({dtype}): {name}{apart}", self.name);
        }
    }

    /// Our name of each parameter by the golden one: `conv1.lin.weight` -> `gcn.gcn.0.linear.0.weight`.
    fn names(&self) -> Vec<(String, String)> {
        let theirs = self.tensors.keys().filter_map(|name| name.strip_prefix("param."));
        theirs.map(|theirs| (theirs.to_owned(), our_name(self.model(), theirs))).collect()
    }

    fn initial(&self) -> BTreeMap<String, Vec<f64>> {
        self.names().into_iter().map(|(theirs, ours)| (ours, self.tensor(&format!("param.{theirs}")).to_vec())).collect()
    }

    /// Whether the artifact, which holds f32, holds exactly what the case says.
    fn is_exact_in_f32(&self, direct: &Direct) -> bool {
        let all = direct.features.iter().chain(direct.weight.iter().flatten()).chain(&direct.labels);
        all.into_iter().all(|&value| f64::from(value as f32) == value)
    }
}

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

fn add_loops(direct: &mut Direct) {
    let mut looped = vec![false; direct.nodes];
    direct.source.iter().zip(&direct.target).for_each(|(source, target)| looped[*source as usize] |= source == target);
    for node in (0..direct.nodes as u32).filter(|node| !looped[*node as usize]) {
        direct.source.push(node);
        direct.target.push(node);
        direct.weight.iter_mut().for_each(|weight| weight.push(1.0));
    }
}

/// The artifact's tables.
fn given(direct: &Direct, is_regression: bool, sparse: bool) -> Given {
    let narrow = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
    let labels = match is_regression {
        true => Labels::Rows { columns: direct.labels.len() / direct.nodes, values: narrow(&direct.labels) },
        false => Labels::Classes(direct.labels.iter().map(|&class| Some(class as u32)).collect()),
    };
    // Training nodes as the case says; the others by turns, so that every part has some.
    let mut split: Vec<u8> = (0..direct.nodes).map(|node| 2 + (node % 2) as u8).collect();
    direct.training_rows.iter().for_each(|&row| split[row as usize] = 1);
    let columns = direct.feature_columns;
    let features = match (direct.features.is_empty(), sparse) {
        (true, _) => Features::None,
        (_, false) => Features::Dense { columns, values: narrow(&direct.features) },
        (_, true) => {
            let entries = |row: &[f64]| {
                row.iter().enumerate().filter(|(_, value)| **value != 0.0).map(|(column, &value)| (column as u32, value as f32)).collect::<Vec<_>>()
            };
            let rows: Vec<Vec<(u32, f32)>> = direct.features.chunks(columns).map(entries).collect();
            let offsets = std::iter::once(0).chain(rows.iter().scan(0, |end, row| {
                *end += row.len() as u64;
                Some(*end)
            }));
            let (index, values) = rows.iter().flatten().copied().unzip();
            Features::Sparse { columns, offsets: offsets.collect(), index, values }
        }
    };
    let has_labels = !direct.labels.is_empty();
    Given {
        edges: EdgeTable { source: direct.source.clone(), target: direct.target.clone(), weight: direct.weight.as_deref().map(narrow), kind: None },
        nodes: NodeTable {
            ids: Ids::Numbers((0..direct.nodes as u64).map(|id| 10 * id + 3).collect()),
            labels: has_labels.then_some(labels),
            splits: if has_labels { vec![split] } else { Vec::new() },
        },
        features,
        edge_features: None,
    }
}

/// Trains a case through the stages and compares.
fn through_the_stages(case: &Case, workshop: &Workshop, graph: &Artifact, direct: &Direct, (dtype, method): (&str, &str)) {
    let hyper = &case.text["hyperparameters"];
    let init = Tensors { arrays: case.names().iter().map(|(theirs, _)| (theirs.clone(), initial_tensor(case, theirs))).collect(), facts: BTreeMap::new() };
    let path = workshop.write("init.safetensors", &init.to_bytes().unwrap());
    let map: Vec<String> = case.names().iter().map(|(theirs, ours)| format!("{ours}: {theirs}")).collect();
    let rest = format!(
        "  set: {{hidden: {}, layers: {}, drop: 0.0}}\nreorder: {{method: {method}}}\nrun:\n  epochs: {}\n  dtype: {dtype}\n  init: {}\n  init_map: {{{}}}\n  \
         optimizer: {{adam: {{lr: {}, beta1: {}, beta2: {}, eps: {:?}, weight_decay: {:?}}}}}",
        hyper["hidden"],
        hyper["layers"],
        case.text["optimizer"]["steps"],
        path.display(),
        map.join(", "),
        case.adam("lr"),
        case.adam("beta1"),
        case.adam("beta2"),
        case.adam("eps"),
        case.adam("weight_decay"),
    );
    let pipeline = workshop.pipeline(case.model(), &rest);
    let chain = workshop.planned(graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    let left = workshop.run(&chain, &Silence, &StopFlag::new()).unwrap_or_else(|error| panic!("{error}"));
    let column = if case.is_regression() { "value" } else { "scores" };
    let tolerance = if dtype == "f64" && case.is_exact_in_f32(direct) { "f64" } else { "f32" };
    case.compare("adam.losses", &left.metrics("loss"), (tolerance, "adam_losses", "adam."));
    case.compare("final.out", &left.predictions(column), (tolerance, "final", "final."));
    for (theirs, ours) in case.names() {
        case.compare(&format!("final.{theirs}"), &parameter(&left, &ours, dtype), (tolerance, "final", "final."));
    }
    if dtype == "f64" && tolerance == "f32" {
        same_as_reference(case, direct, &list_of(&chain), &left);
    }
    if method == "degree" {
        let published = workshop.published(&chain).unwrap();
        workshop.check(&chain, &published).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    }
}

fn initial_tensor(case: &Case, theirs: &str) -> Tensor {
    let name = format!("param.{theirs}");
    Tensor::of_reals::<f64>(&case.shapes[&name], case.tensor(&name))
}

fn parameter(left: &Left, name: &str, dtype: &str) -> Vec<f64> {
    let tensor = left.parameters().arrays[name].clone();
    match dtype {
        "f64" => tensor.reals::<f64>().unwrap(),
        _ => tensor.reals::<f32>().unwrap().into_iter().map(f64::from).collect(),
    }
}

/// The same training by the reference, on what the artifact holds.
fn same_as_reference(case: &Case, direct: &Direct, list: &LaunchList, left: &Left) {
    let mut rounded = direct.clone();
    let round = |values: &mut Vec<f64>| values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
    round(&mut rounded.features);
    round(&mut rounded.labels);
    rounded.weight.iter_mut().for_each(round);
    let graph = rounded.reference_graph();
    let mut reference = rounded.reference(list, &graph, &case.initial());
    let given = |name: &str| case.adam(name);
    let adam = reference::Adam {
        learning_rate: given("lr"),
        beta1: given("beta1"),
        beta2: given("beta2"),
        epsilon: given("eps"),
        weight_decay: given("weight_decay"),
    };
    reference.prepare();
    let mut losses = Vec::new();
    for _ in 0..case.text["optimizer"]["steps"].as_u64().unwrap() {
        reference.forward();
        losses.push(reference.loss());
        reference.backward();
        reference.update(&adam);
    }
    reference.forward();
    losses.push(reference.loss());
    let same = |what: &str, got: &[f64], want: &[f64]| {
        if let Some(apart) = first_apart(got, want, 1e-9 * scale_of(want)) {
            panic!("{}: {what} against the reference: {apart}", case.name);
        }
    };
    same("losses", &left.metrics("loss"), &losses);
    let column = if case.is_regression() { "value" } else { "scores" };
    same("scores", &left.predictions(column), reference.get(&list.results[0].buffer).unwrap());
}

fn model(name: &str, sparse: &[bool]) {
    let Some(case) = Case::read(name) else { return };
    let direct = case.direct();
    let workshop = Workshop::new();
    for &sparse in sparse {
        let graph = workshop.graph(&given(&direct, case.is_regression(), sparse));
        for choice in [("f32", "none"), ("f32", "degree"), ("f64", "none"), ("f64", "degree")] {
            through_the_stages(&case, &workshop, &graph, &direct, choice);
        }
    }
}

#[test]
fn gcn_trains_as_others_do() {
    for name in ["gcn_tiny", "gcn_odd", "gcn_odd_weighted"] {
        model(name, &[false]);
    }
}

#[test]
fn gcn_trains_as_others_do_on_a_citation_graph_with_sparse_and_dense_features() {
    model("gcn_planetoid", &[true, false]);
}

#[test]
fn sage_trains_as_others_do() {
    for name in ["sage_tiny", "sage_odd", "sage_odd_regression"] {
        model(name, &[false]);
    }
}

/// One case on exact inputs: everything that the list makes, before the first step and after the last.
fn exactly<T: Precision>(case: &Case, order: Order, reordered: bool) {
    let direct = Direct { reordered, ..case.direct() };
    let hyper = &case.text["hyperparameters"];
    let settings = [("hidden", &hyper["hidden"]), ("layers", &hyper["layers"]), ("drop", &hyper["dropout"])];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.clone())).into();
    let loss = if case.is_regression() { LossKind::MeanSquares } else { LossKind::CrossEntropy };
    let facts = direct.facts(hyper["outputs"].as_u64().unwrap(), loss);
    let builtin = builtin::all().iter().find(|builtin| builtin.name == case.model()).unwrap();
    let list = builtin.build_in_order(&settings, &facts, order).unwrap();
    let mut executor = Executor::<T>::new(&list, direct.data(&list), 0).unwrap();
    let initial = case.initial();
    let first: Vec<Vec<T>> = list.parameters.iter().map(|parameter| initial[&parameter.name].iter().map(|&value| T::rounded(value)).collect()).collect();
    executor.set_parameters(&first);
    let given = |name: &str| case.adam(name);
    let adam = Adam { rate: given("lr"), beta_first: given("beta1"), beta_second: given("beta2"), epsilon: given("eps"), weight_decay: given("weight_decay") };
    executor.set_optimizers(vec![Optimizer::Adam(adam); first.len()]);
    let go = |executor: &mut Executor<T>, part: Part, epoch: u64| executor.run(part, Pass { epoch, training: true }, &StopFlag::new()).unwrap();
    go(&mut executor, Part::Prepare, 0);
    let mut losses = Vec::new();
    let steps = case.text["optimizer"]["steps"].as_u64().unwrap();
    for epoch in 0..=steps {
        go(&mut executor, Part::Forward, epoch);
        go(&mut executor, Part::Loss, epoch);
        losses.push(executor.machine.loss);
        go(&mut executor, Part::Backward, epoch);
        if epoch == 0 {
            first_step(case, &list, &executor);
        }
        if epoch < steps {
            go(&mut executor, Part::Update, epoch);
        }
    }
    case.compare("adam.losses", &losses, (T::NAME, "adam_losses", "adam."));
    case.compare("final.out", &held(&executor, &list, &list.results[0].buffer).unwrap(), (T::NAME, "final", "final."));
    for (theirs, ours) in case.names() {
        let got = held(&executor, &list, &format!("parameter.{ours}")).unwrap();
        case.compare(&format!("final.{theirs}"), &got, (T::NAME, "final", "final."));
    }
}

fn first_step<T: Precision>(case: &Case, list: &LaunchList, executor: &Executor<T>) {
    case.compare("out", &held(executor, list, &list.results[0].buffer).unwrap(), (T::NAME, "forward", "hidden."));
    case.compare("loss", &[executor.machine.loss], (T::NAME, "loss", "loss"));
    for hidden in case.tensors.keys().filter(|name| name.starts_with("hidden.")) {
        // Where the next layer sums first, gcn stores its input scaled: nothing to compare.
        if let Some(got) = held(executor, list, &hidden.replace("hidden", "h")) {
            case.compare(hidden, &got, (T::NAME, "forward", "hidden."));
        }
    }
    for (theirs, ours) in case.names() {
        let got = held(executor, list, &gradient_buffer(&ours)).unwrap();
        case.compare(&format!("grad.{theirs}"), &got, (T::NAME, "gradient", "grad."));
    }
}

#[test]
fn every_gradient_agrees_on_exact_inputs() {
    for name in ["gcn_tiny", "gcn_odd", "gcn_odd_weighted", "sage_tiny", "sage_odd", "sage_odd_regression"] {
        let Some(case) = Case::read(name) else { continue };
        for order in [Order::Cheapest, Order::ProductFirst, Order::SumFirst] {
            for reordered in [false, true] {
                exactly::<f64>(&case, order, reordered);
                exactly::<f32>(&case, order, reordered);
            }
        }
    }
}

fn analytics(name: &str) {
    let Some(case) = Case::read(name) else { return };
    let direct = case.direct();
    let workshop = Workshop::new();
    let graph = workshop.graph(&given(&direct, false, false));
    for (dtype, method) in [("f32", "none"), ("f64", "degree")] {
        for tensor in case.tensors.keys().filter(|tensor| tensor.starts_with("pagerank.ignored.")) {
            let run = match (tensor.trim_start_matches("pagerank.ignored.").parse::<u64>(), dtype) {
                (Ok(supersteps), _) => format!("max_supersteps: {supersteps}, allow_unconverged: true"),
                // What f32 can reach; the sum of all changes below that is rounding.
                (Err(_), "f32") => "max_supersteps: 300, allow_unconverged: true".to_owned(),
                (Err(_), _) => "max_supersteps: 10000".to_owned(),
            };
            let rest = format!("  set: {{tolerance: 1.0e-15}}\nreorder: {{method: {method}}}\nrun: {{dtype: {dtype}, {run}}}");
            let left = finished(&workshop, &graph, &workshop.pipeline("pagerank", &rest));
            case.compare(tensor, &left.values("rank"), (dtype, "pagerank.ignored", "pagerank.ignored"));
        }
        let pipeline = workshop.pipeline("components", &format!("reorder: {{method: {method}}}\nrun: {{dtype: {dtype}}}"));
        let chain = workshop.planned(&graph, &pipeline).unwrap();
        let left = workshop.run(&chain, &Silence, &StopFlag::new()).unwrap();
        let own: Vec<f64> = case.tensor("components.weak").iter().map(|row| 10.0 * row + 3.0).collect();
        assert_eq!(left.values("label"), own, "{name}: own id of the smallest node of each component");
        assert!(left.record().converged && left.record().supersteps > 0);
        workshop.check(&chain, &workshop.published(&chain).unwrap()).unwrap();
    }
}

#[test]
fn ranks_and_components_are_those_of_others() {
    for name in ["analytics_tiny", "analytics_odd", "analytics_medium"] {
        analytics(name);
    }
}
