//! golden: the shipped models against numbers that other software made in f64, through the real
//! stages.
//!
//! promises  in both types, in the data set's order and by degree: the loss of every epoch, final
//!           parameters and final scores. The artifact holds f32, so f64 is there compared with the
//!           golden numbers to the tolerance of f32, and to 1e-9 with the reference on the same
//!           rounded inputs; where every input is exact in f32, to the tolerance of f64. What
//!           case.json says cannot be compared in f32 is not, and what training itself moves is
//!           held to that (`rounding_sensitivity`)
//! limits    cases too large for the repository are read from `WARPLOOM_SHARED` (or `shared` beside
//!           the workspace) and skipped with a line when that is absent
use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
};

use warploom_contract::{
    Artifact,
    kinds::graph::{EdgeTable, GraphTable, Ids, Labels, NodeTable},
    progress::{Silence, StopFlag},
};
use warploom_launch::{LaunchList, parameter_buffer};
use warploom_run::tensors::{Tensor, Tensors};
use warploom_test_support::golden_cases::GoldenCase;
use warploom_test_support::golden_models::{self, ParameterPair, ParameterPart};

use crate::rounding_sensitivity::Moves;
use warploom_test_support::list_runner::{ListInputs, first_difference, largest_magnitude};
use warploom_test_support::stage_runner::{
    Features, GraphTables, RunFiles, StageRunner, entries, list_of,
};

/// Numbers held against those of a case, to the tolerance of a type.
pub struct Comparison<'a> {
    case: &'a GoldenCase,
    dtype: &'a str,
    /// The largest difference by the largest magnitude of its tensor, and which tensor that was.
    worst: (f64, String),
}

impl<'a> Comparison<'a> {
    pub fn new(case: &'a GoldenCase, dtype: &'a str) -> Self {
        Comparison { case, dtype, worst: (0.0, "nothing".to_owned()) }
    }

    pub fn with(&mut self, group: &str, name: &str, got: &[f64]) {
        self.with_part(group, name, (got, &self.case.tensor(name).values));
    }

    /// Compares with a part, or another layout, of a tensor; not at all where case.json says that
    /// it cannot be compared.
    pub fn with_part(&mut self, group: &str, name: &str, (got, want): (&[f64], &[f64])) {
        self.within((group, name), self.case.scale(name), (got, want));
    }

    fn within(&mut self, (group, name): (&str, &str), scale: f64, (got, want): (&[f64], &[f64])) {
        let Some(tolerance) = self.case.tolerance(self.dtype, group) else { return };
        if let Some(apart) = first_difference(got, want, tolerance * scale) {
            panic!("{} ({}): {name}{apart}", self.case.name, self.dtype);
        }
        let differing = got.iter().zip(want).filter(|(got, want)| got != want);
        let furthest = differing
            .fold(0.0, |furthest: f64, (got, want)| furthest.max((got - want).abs() / scale));
        if furthest > self.worst.0 {
            self.worst = (furthest, name.to_owned());
        }
    }

    /// Compares final parameters; those outside of the tolerance with how far training moves them
    /// (`rounding_sensitivity`).
    pub fn with_final(&mut self, twin: &ParameterPair, got: &[f64], moves: &Moves) {
        let name = format!("final.{}", twin.theirs);
        let want = twin.part.of(self.case.tensor(&name));
        let held = match self.case.tolerance(self.dtype, "final") {
            Some(tolerance) if self.dtype == "f32" => {
                moves.excused(twin, (got, &want), tolerance * self.case.scale(&name))
            }
            _ => got.to_vec(),
        };
        self.with_part("final", &name, (&held, &want));
    }

    /// The loss before the first step and after each; the first six where rounding decides the
    /// later ones.
    pub fn with_losses(&mut self, losses: &[f64]) {
        let (name, first) = ("adam.losses", losses.len().min(6));
        let want = &self.case.tensor(name).values;
        assert_eq!(losses.len(), want.len(), "{}: losses", self.case.name);
        self.within(
            ("adam_losses_first_6", name),
            largest_magnitude(&want[..first]),
            (&losses[..first], &want[..first]),
        );
        self.with("adam_losses", name, losses);
    }

    pub fn with_parameter(&mut self, group: &str, twin: &ParameterPair, got: &[f64]) {
        let name = format!("{}.{}", if group == "gradient" { "grad" } else { group }, twin.theirs);
        self.with_part(group, &name, (got, &twin.part.of(self.case.tensor(&name))));
    }

    pub fn told(&self, how: &str) {
        println!(
            "{}, {how}, to the tolerance of {}: at most {:.1e} apart, {}",
            self.case.name, self.dtype, self.worst.0, self.worst.1
        );
    }
}

/// What a case gives to a program, with the loops that ingest adds.
pub fn direct(case: &GoldenCase) -> ListInputs {
    let edges = golden_models::edges(case);
    let (features, _) = case.features();
    let edge_features = case.find("graph.edge_x");
    ListInputs {
        nodes: edges.nodes,
        source: edges.source,
        target: edges.target,
        weight: edges.weight,
        relation: if case.find("graph.edge_type").is_some() {
            case.ids("graph.edge_type")
        } else {
            Vec::new()
        },
        edge_columns: edge_features.map_or(0, |rows| rows.shape[1]),
        edge_features: edge_features.map_or_else(Vec::new, |rows| rows.values.clone()),
        feature_columns: features.shape[1],
        features: features.values,
        graph_of_node: if golden_models::is_batch(case) {
            case.ids("graph.graph_of_node")
        } else {
            Vec::new()
        },
        graphs: if golden_models::is_batch(case) { case.tensor("y").values.len() } else { 0 },
        labels: case.tensor("y").values.clone(),
        training_rows: case.ids("train"),
        ..ListInputs::default()
    }
}

/// The golden parameters under our names and in our layout.
pub fn initial(case: &GoldenCase, twins: &[ParameterPair]) -> BTreeMap<String, Vec<f64>> {
    twins
        .iter()
        .map(|twin| {
            (twin.ours.clone(), twin.part.of(case.tensor(&format!("param.{}", twin.theirs))))
        })
        .collect()
}

/// Our parameters with the golden ones; every golden one is among them.
pub fn twins(case: &GoldenCase) -> Vec<ParameterPair> {
    let twins = golden_models::twins(case);
    let named: BTreeSet<String> = twins.iter().map(|twin| twin.theirs.clone()).collect();
    assert_eq!(
        case.names("param.").into_iter().collect::<BTreeSet<_>>(),
        named,
        "{}: golden parameters",
        case.name
    );
    twins
}

fn narrow(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// The artifact's tables.
pub fn given(direct: &ListInputs, is_regression: bool, sparse: bool) -> GraphTables {
    let labels = match is_regression {
        true => Labels::Rows {
            columns: direct.labels.len()
                / if direct.graph_of_node.is_empty() { direct.nodes } else { direct.graphs },
            values: narrow(&direct.labels),
        },
        false => Labels::Classes(direct.labels.iter().map(|&class| Some(class as u32)).collect()),
    };
    let many = !direct.graph_of_node.is_empty();
    // Training nodes, or graphs, as the case says; the others by turns, so that every part has
    // some.
    let mut split: Vec<u8> = (0..if many { direct.graphs } else { direct.nodes })
        .map(|row| 2 + (row % 2) as u8)
        .collect();
    direct.training_rows.iter().for_each(|&row| split[row as usize] = 1);
    let features = match (direct.features.is_empty(), sparse) {
        (true, _) => Features::None,
        (_, false) => {
            Features::Dense { columns: direct.feature_columns, values: narrow(&direct.features) }
        }
        (_, true) => sparse_features(direct),
    };
    let has_labels = !direct.labels.is_empty();
    let kind = (!direct.relation.is_empty())
        .then(|| direct.relation.iter().map(|&relation| relation as u16).collect());
    let splits = if has_labels { vec![split] } else { Vec::new() };
    let own_ids = |count: usize| Ids::Numbers((0..count as u64).map(|id| 10 * id + 3).collect());
    let nodes = NodeTable::new(own_ids(direct.nodes));
    let (nodes, graphs) = match many {
        true => {
            let graphs = GraphTable {
                ids: own_ids(direct.graphs),
                labels: Some(labels),
                splits,
                columns: Vec::new(),
            };
            (NodeTable { graph: Some(direct.graph_of_node.clone()), ..nodes }, Some(graphs))
        }
        false => (NodeTable { labels: has_labels.then_some(labels), splits, ..nodes }, None),
    };
    GraphTables {
        edges: EdgeTable {
            source: direct.source.clone(),
            target: direct.target.clone(),
            weight: direct.weight.as_deref().map(narrow),
            kind,
        },
        nodes,
        graphs,
        features,
        edge_features: (direct.edge_columns > 0)
            .then(|| (direct.edge_columns, narrow(&direct.edge_features))),
    }
}

fn sparse_features(direct: &ListInputs) -> Features {
    let columns = direct.feature_columns;
    let (offsets, index, values) = entries(&narrow(&direct.features), columns);
    Features::Sparse { columns, offsets, index, values }
}

/// A case as an artifact.
struct Problem<'a> {
    case: &'a GoldenCase,
    twins: Vec<ParameterPair>,
    direct: ListInputs,
    runner: StageRunner,
    graph: Artifact,
    /// The same training by the reference, on what the artifact holds.
    reference: OnceCell<Trained>,
}

/// What training leaves.
pub struct Trained {
    losses: Vec<f64>,
    scores: Vec<f64>,
    pub parameters: BTreeMap<String, Vec<f64>>,
}

impl Problem<'_> {
    fn new(case: &GoldenCase, sparse: bool) -> Problem<'_> {
        let (direct, runner) = (direct(case), StageRunner::new());
        let graph = runner.graph(&given(&direct, case.is_regression(), sparse));
        Problem { case, twins: twins(case), direct, runner, graph, reference: OnceCell::new() }
    }

    /// Trains through the stages and compares.
    fn through_the_stages(&self, (dtype, method): (&str, &str)) {
        let case = self.case;
        let (program, settings) = golden_models::program(case);
        let optimizer = ["lr", "beta1", "beta2", "eps", "weight_decay"]
            .map(|name| format!("{name}: {:?}", case.adam(name)));
        let (path, map) = self.initial_file();
        let rest = format!(
            "  set: {settings}\nreorder: {{method: {method}}}\nrun:\n  epochs: {}\n  dtype: {dtype}\n  init: {path}\n  init_map: {{{map}}}\n  \
             optimizer: {{adam: {{{}}}}}",
            case.steps(),
            optimizer.join(", "),
        );
        let pipeline = self.runner.pipeline(program, &rest);
        let chain = self
            .runner
            .planned(&self.graph, &pipeline)
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let left = self
            .runner
            .run(&chain, &Silence, &StopFlag::new())
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let column = if case.is_regression() { "value" } else { "scores" };
        let found = Trained {
            losses: left.metrics("loss"),
            scores: left.predictions(column),
            parameters: self
                .twins
                .iter()
                .map(|twin| (twin.ours.clone(), parameter(&left, &twin.ours, dtype)))
                .collect(),
        };
        let is_exact = self.is_exact_in_f32();
        let mut golden =
            Comparison::new(case, if dtype == "f64" && is_exact { "f64" } else { "f32" });
        golden.with_losses(&found.losses);
        golden.with("final", "final.out", &found.scores);
        let list = list_of(&chain);
        let moves = Moves::new(case, &self.twins, (&self.direct, &list));
        self.twins
            .iter()
            .for_each(|twin| golden.with_final(twin, &found.parameters[&twin.ours], &moves));
        golden.told(&format!("{dtype} through the stages, order {method}"));
        if dtype == "f64" && !is_exact {
            self.same_as_reference(&list, &found);
        }
        if method == "degree" {
            let published = self.runner.published(&chain).unwrap();
            self.runner
                .check(&chain, &published)
                .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        }
    }

    /// A file of the golden parameters, and the map of names for it: a tensor that is ours as it is
    /// stands under its golden name; what we lay out otherwise, or hold as several, under our names
    /// in our layout.
    fn initial_file(&self) -> (String, String) {
        let (mut arrays, mut map) = (BTreeMap::new(), Vec::new());
        for ParameterPair { ours, theirs, part } in &self.twins {
            let tensor = self.case.tensor(&format!("param.{theirs}"));
            let is_whole = matches!(part, ParameterPart::Whole);
            let name = if is_whole { theirs } else { ours };
            arrays.insert(
                name.clone(),
                Tensor::from_reals::<f64>(&part.shape(tensor), &part.of(tensor)),
            );
            if is_whole {
                map.push(format!("{ours}: {theirs}"));
            }
        }
        let file = Tensors { arrays, facts: BTreeMap::new() };
        let path = self.runner.write("init.safetensors", &file.to_bytes().unwrap());
        (path.display().to_string(), map.join(", "))
    }

    /// Whether the artifact, which holds f32, holds exactly what the case says.
    fn is_exact_in_f32(&self) -> bool {
        let ListInputs { features, weight, labels, edge_features, .. } = &self.direct;
        let mut all =
            features.iter().chain(weight.iter().flatten()).chain(labels).chain(edge_features);
        all.all(|&value| f64::from(value as f32) == value)
    }

    fn same_as_reference(&self, list: &LaunchList, found: &Trained) {
        let want = self.reference.get_or_init(|| self.by_reference(list));
        let mut furthest: f64 = 0.0;
        let mut same = |what: &str, got: &[f64], want: &[f64]| {
            if let Some(apart) = first_difference(got, want, 1e-9 * largest_magnitude(want)) {
                panic!("{}: {what} against the reference: {apart}", self.case.name);
            }
            let scale = largest_magnitude(want).max(f64::MIN_POSITIVE);
            furthest = got
                .iter()
                .zip(want)
                .fold(furthest, |furthest, (got, want)| furthest.max((got - want).abs() / scale));
        };
        same("losses", &found.losses, &want.losses);
        same("scores", &found.scores, &want.scores);
        found
            .parameters
            .iter()
            .for_each(|(name, values)| same(name, values, &want.parameters[name]));
        println!(
            "{}, f64 through the stages, by the reference on rounded inputs: at most \
             {furthest:.1e} apart",
            self.case.name
        );
    }

    /// The same training by the reference, on what the artifact holds.
    fn by_reference(&self, list: &LaunchList) -> Trained {
        let mut rounded = self.direct.clone();
        let round = |values: &mut Vec<f64>| {
            values.iter_mut().for_each(|value| *value = f64::from(*value as f32))
        };
        [&mut rounded.features, &mut rounded.labels, &mut rounded.edge_features]
            .into_iter()
            .for_each(round);
        rounded.weight.iter_mut().for_each(round);
        by_reference(self.case, &self.twins, (&rounded, list), &initial(self.case, &self.twins))
    }
}

/// Training by the reference, from these parameters.
pub fn by_reference(
    case: &GoldenCase,
    twins: &[ParameterPair],
    (direct, list): (&ListInputs, &LaunchList),
    first: &BTreeMap<String, Vec<f64>>,
) -> Trained {
    let graph = direct.reference_graph();
    let mut reference = direct.reference(list, &graph, first);
    let given = |name: &str| case.adam(name);
    let adam = warploom_ir::interpret::Adam {
        learning_rate: given("lr"),
        beta1: given("beta1"),
        beta2: given("beta2"),
        epsilon: given("eps"),
        weight_decay: given("weight_decay"),
    };
    reference.prepare();
    let mut losses = Vec::new();
    for _ in 0..case.steps() {
        reference.forward();
        losses.push(reference.loss());
        reference.backward();
        reference.update(&adam);
    }
    reference.forward();
    losses.push(reference.loss());
    let held = |name: &str| {
        reference
            .get(name)
            .unwrap_or_else(|| panic!("{}: the reference has no {name}", case.name))
            .to_vec()
    };
    let parameters =
        twins.iter().map(|twin| (twin.ours.clone(), held(&parameter_buffer(&twin.ours)))).collect();
    Trained { losses, scores: held(&list.results[0].buffer), parameters }
}

fn parameter(left: &RunFiles, name: &str, dtype: &str) -> Vec<f64> {
    let tensor = left.parameters().arrays[name].clone();
    match dtype {
        "f64" => tensor.reals::<f64>().unwrap(),
        _ => tensor.reals::<f32>().unwrap().into_iter().map(f64::from).collect(),
    }
}

/// Every case in both types and both orders.
fn train(names: &[&str], sparse: &[bool]) {
    for case in names.iter().filter_map(|name| GoldenCase::read(name)) {
        for &sparse in sparse {
            let problem = Problem::new(&case, sparse);
            for choice in [("f32", "none"), ("f32", "degree"), ("f64", "none"), ("f64", "degree")] {
                problem.through_the_stages(choice);
            }
        }
    }
}

#[test]
fn gcn_trains_as_others_do() {
    train(&["gcn_tiny", "gcn_odd", "gcn_odd_weighted"], &[false]);
}

#[test]
fn gcn_trains_as_others_do_on_a_citation_graph_with_sparse_and_dense_features() {
    train(&["gcn_planetoid"], &[true, false]);
}

#[test]
fn sage_trains_as_others_do() {
    train(&["sage_tiny", "sage_odd", "sage_odd_regression"], &[false]);
}

#[test]
fn gin_trains_as_others_do() {
    train(&["gin_tiny", "gin_odd"], &[false]);
}

#[test]
fn gin_trains_as_others_do_on_many_graphs() {
    train(&["gin_batch"], &[false, true]);
}

#[test]
fn gat_trains_as_others_do() {
    train(&["gat_tiny", "gat_odd"], &[false]);
}

#[test]
fn gat_trains_as_others_do_on_a_citation_graph() {
    train(&["gat_planetoid"], &[true]);
}

#[test]
fn gatv2_trains_as_others_do() {
    train(&["gatv2_tiny", "gatv2_odd"], &[false]);
}

#[test]
fn appnp_trains_as_others_do() {
    train(&["appnp_tiny", "appnp_odd", "appnp_odd_weighted"], &[false]);
}

#[test]
fn rgcn_trains_as_others_do_with_and_without_bases() {
    train(&["rgcn_hetero", "rgcn_hetero_bases"], &[false]);
}

#[test]
fn graph_transformer_trains_as_others_do() {
    train(&["transformer_tiny", "transformer_odd"], &[false]);
}

#[test]
fn graph_transformer_trains_as_others_do_with_features_of_edges() {
    train(&["transformer_odd_edges"], &[false]);
}
