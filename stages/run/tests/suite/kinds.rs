//! kinds: several kinds of nodes, dense, sparse and without features, and named relations, through
//! the stages: against the interpreter's gradients, against one kind with all columns side by side,
//! in any order of the nodes and with any number of threads.
use std::collections::BTreeMap;

use warploom_contract::{
    Artifact, ErrorKind,
    kinds::graph::{self, EdgeTable, FeatureRows, Ids, Labels, Names, NodeTable},
    progress::{Silence, StopFlag},
    stage::Stage,
};
use warploom_ir::interpret::{ElementRows, World};
use warploom_launch::Role;
use warploom_launch::reference::{Inputs, Reference, ReferenceGraph};
use warploom_run::{
    RunStage,
    inputs::upload,
    parameters,
    precision::Precision,
    tensors::{Tensor, Tensors},
};
use warploom_spec::RunSpec;

use crate::custom_programs::{descended, own_text, proved};
use crate::differential::{SEED, stepped};
use warploom_test_support::graph_inputs::{random, signed, uniform};
use warploom_test_support::list_runner::{
    cpu_executor, first_difference, largest_magnitude, separate_buffers,
};
use warploom_test_support::stage_runner::{
    Features, GraphTables, StageRunner, entries, finished, list_of,
};

const KINDS: [&str; 3] = ["paper", "venue", "author"];
/// Columns of papers and of authors; venues have none.
const COLUMNS: [usize; 3] = [5, 0, 3];
const RELATIONS: [&str; 3] = ["http://example.org/schema#cites", "written by", "published/in"];
const CLASSES: usize = 3;

const HETERO: &str = r#"
def hetero(v, hidden=4, drop=0.0):
    v.h = relu(layer(v, dropout(v.x, drop), hidden))
    return layer(v, v.h, v.classes)

def layer(v, x, width):
    v.message = x
    return linear(x, width) + sum(linear(mean(u.message for u in v.innbs[r]), width, bias=False) for r in v.graph.relations)
"#;

/// A set before it is an artifact.
struct Hetero {
    given: GraphTables,
    /// Rows of papers and of authors.
    rows: BTreeMap<u32, Vec<f32>>,
    sparse: bool,
}

fn kind_of(node: usize) -> u16 {
    (uniform(21, node) * 3.0) as u16
}

fn of_kind(nodes: usize, kind: u32) -> Vec<usize> {
    (0..nodes).filter(|node| u32::from(kind_of(*node)) == kind).collect()
}

/// Only papers have labels, and a part in the split.
fn hetero(nodes: usize, sparse: bool) -> Hetero {
    let shape = random("hetero", nodes - 3, 4 * nodes, 17);
    let (source, target): (Vec<u32>, Vec<u32>) = shape.edges.iter().copied().unzip();
    let relation = (0..source.len()).map(|edge| (uniform(22, edge) * 3.0) as u16).collect();
    let is_paper = |node: usize| kind_of(node) == 0;
    let class = |node: usize| is_paper(node).then(|| (uniform(23, node) * CLASSES as f64) as u32);
    let rows = [0u32, 2].map(|kind| {
        let values = signed(24 + kind, of_kind(nodes, kind).len() * COLUMNS[kind as usize]);
        (
            kind,
            values
                .into_iter()
                .enumerate()
                .map(|(at, value)| if at % 3 == 0 { 0.0 } else { value as f32 })
                .collect(),
        )
    });
    Hetero {
        given: GraphTables {
            edges: EdgeTable { source, target, weight: None, kind: Some(relation) },
            nodes: NodeTable {
                labels: Some(Labels::Classes((0..nodes).map(class).collect())),
                splits: vec![
                    (0..nodes)
                        .map(|node| if is_paper(node) { [1, 1, 2, 3][node % 4] } else { 0 })
                        .collect(),
                ],
                kind: Some((0..nodes).map(kind_of).collect()),
                ..NodeTable::new(Ids::Strings((0..nodes).map(|id| format!("n{id:05}")).collect()))
            },
            features: Features::None,
            edge_features: None,
            graphs: None,
        },
        rows: rows.into(),
        sparse,
    }
}

fn feature_rows(values: &[f32], columns: usize, sparse: bool) -> FeatureRows {
    if !sparse {
        return FeatureRows::Dense { columns, values: values.to_vec() };
    }
    let (offsets, index, values) = entries(values, columns);
    FeatureRows::Sparse { columns, offsets, index, values }
}

impl Hetero {
    fn artifact(&self, runner: &StageRunner) -> Artifact {
        let names = Names {
            kinds: KINDS.map(str::to_owned).to_vec(),
            relations: RELATIONS.map(str::to_owned).to_vec(),
            classes: Vec::new(),
        };
        let made = runner.try_graph_with(&self.given, |outputs| {
            graph::write_kinds(outputs, &names, &self.given.nodes)?;
            for (kind, values) in &self.rows {
                // Papers may be sparse, authors are dense.
                let rows = feature_rows(values, COLUMNS[*kind as usize], self.sparse && *kind == 0);
                graph::write_features(outputs, Some(KINDS[*kind as usize]), rows)?;
            }
            Ok(())
        });
        made.unwrap_or_else(|error| panic!("{error}"))
    }

    fn nodes(&self) -> usize {
        self.given.nodes.ids.len()
    }

    /// All columns side by side, of one kind: what every kind's row is in a set without kinds.
    fn side_by_side(&self) -> GraphTables {
        let nodes = self.nodes();
        let venues = of_kind(nodes, 1).len();
        let starts = [0, COLUMNS[0], COLUMNS[0] + venues];
        let width = starts[2] + COLUMNS[2];
        let mut values = vec![0.0; nodes * width];
        for kind in 0..3u32 {
            for (place, node) in of_kind(nodes, kind).into_iter().enumerate() {
                let first = node * width + starts[kind as usize];
                match self.rows.get(&kind) {
                    None => values[first + place] = 1.0,
                    Some(rows) => values[first..first + COLUMNS[kind as usize]].copy_from_slice(
                        &rows[place * COLUMNS[kind as usize]..][..COLUMNS[kind as usize]],
                    ),
                }
            }
        }
        let plain = NodeTable { kind: None, ..self.given.nodes.clone() };
        GraphTables {
            nodes: plain,
            features: Features::Dense { columns: width, values },
            ..self.given.clone()
        }
    }

    fn world(&self) -> World {
        let Some(Labels::Classes(classes)) = &self.given.nodes.labels else {
            panic!("with classes")
        };
        let mut world = World::bare(
            self.nodes(),
            self.given.edges.source.clone(),
            self.given.edges.target.clone(),
        );
        world.edge_type =
            self.given.edges.kind.iter().flatten().map(|kind| u32::from(*kind)).collect();
        world.kind_of_node = (0..self.nodes()).map(|node| u32::from(kind_of(node))).collect();
        let real = |kind: &u32, values: &Vec<f32>| {
            let columns = COLUMNS[*kind as usize];
            ElementRows::from_reals(
                values.len() / columns,
                columns,
                values.iter().map(|value| f64::from(*value)).collect(),
            )
        };
        world.features_of_kind =
            self.rows.iter().map(|(kind, values)| (*kind, real(kind, values))).collect();
        world.targets = Some(ElementRows::from_reals(
            self.nodes(),
            1,
            classes.iter().map(|class| class.map_or(f64::NAN, f64::from)).collect(),
        ));
        world.training_rows = (0..self.nodes() as u32)
            .filter(|row| self.given.nodes.splits[0][*row as usize] == 1)
            .collect();
        world
    }
}

fn init(runner: &StageRunner, arrays: BTreeMap<String, Tensor>) -> String {
    runner
        .write("init.safetensors", &Tensors { arrays, facts: BTreeMap::new() }.to_bytes().unwrap())
        .display()
        .to_string()
}

#[test]
fn training_descends_the_interpreters_gradients() {
    let runner = StageRunner::new();
    for sparse in [false, true] {
        let hetero = hetero(60, sparse);
        let graph = hetero.artifact(&runner);
        for (method, dtype) in [("none", "f64"), ("degree", "f64"), ("degree", "f32")] {
            let rest = |more: &str| {
                format!(
                    "reorder: {{method: {method}}}\nrun: {{epochs: 3, dtype: {dtype}, optimizer: \
                        {{sgd: {{lr: 0.5, momentum: 0.0}}}}{more}}}"
                )
            };
            let drawn = finished(&runner, &graph, &own_text(&runner, "hetero", HETERO, &rest("")))
                .parameters();
            let names: Vec<&str> = drawn.arrays.keys().map(String::as_str).collect();
            for name in [
                "linear.0.paper.weight",
                "linear.0.venue.bias",
                "linear.1.cites.author.weight",
                "linear.1.written_by.venue.weight",
                "linear.1.in.paper.weight",
            ] {
                assert!(
                    names.contains(&format!("hetero.layer.0.{name}").as_str()),
                    "{name} of {names:?}"
                );
            }
            let first: BTreeMap<String, Vec<f64>> = drawn
                .arrays
                .iter()
                .enumerate()
                .map(|(seed, (name, tensor))| {
                    (name.clone(), signed(seed as u32, tensor.shape.iter().product()))
                })
                .collect();
            let arrays = drawn
                .arrays
                .iter()
                .map(|(name, tensor)| {
                    (name.clone(), Tensor::from_reals::<f64>(&tensor.shape, &first[name]))
                })
                .collect();
            let pipeline = own_text(
                &runner,
                "hetero",
                HETERO,
                &rest(&format!(", init: {}", init(&runner, arrays))),
            );
            let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
            let has_sparse = list_of(&chain)
                .buffers
                .iter()
                .any(|buffer| matches!(buffer.role, Role::SparseFeaturesOf { .. }));
            assert_eq!(has_sparse, sparse);
            let left = proved(&runner, &graph, &pipeline).parameters();
            let tolerance = if dtype == "f64" { 1e-10 } else { 1e-4 };
            for (name, expected) in descended(&chain, &hetero.world(), 0.5, &first) {
                let found: Vec<f64> = match dtype {
                    "f64" => left.arrays[&name].reals::<f64>().unwrap(),
                    _ => left.arrays[&name]
                        .reals::<f32>()
                        .unwrap()
                        .into_iter()
                        .map(f64::from)
                        .collect(),
                };
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
                        "{name}, {method}, {dtype}: {found}, expected {expected}"
                    );
                }
            }
        }
    }
}

/// Columns of a weight of all that are those of a kind.
fn of_block(hetero: &Hetero, values: &[f64], kind: usize) -> Vec<f64> {
    let venues = of_kind(hetero.nodes(), 1).len();
    let widths = [COLUMNS[0], venues, COLUMNS[2]];
    let start: usize = widths[..kind].iter().sum();
    values
        .chunks(widths.iter().sum())
        .flat_map(|row| row[start..start + widths[kind]].to_vec())
        .collect()
}

/// The library's rgcn, whose first layer has no bias of its own kind when that of all is 0: one
/// loss and one set of scores.
#[test]
fn the_librarys_rgcn_is_that_of_rows_side_by_side() {
    let runner = StageRunner::new();
    let hetero = hetero(60, true);
    let (apart, whole) = (hetero.artifact(&runner), runner.graph(&hetero.side_by_side()));
    for bases in [0, 2] {
        let rest = |more: &str| {
            let still = "optimizer: {sgd: {lr: 1.0e-100, momentum: 0.0}}";
            format!(
                "  set: {{hidden: 4, bases: {bases}}}\nreorder: {{method: degree}}\nrun: \
                    {{epochs: 1, dtype: f64, {still}{more}}}"
            )
        };
        let pipeline = runner.pipeline("rgcn", &rest(""));
        let (drawn, first) = (
            finished(&runner, &apart, &pipeline).parameters(),
            finished(&runner, &whole, &pipeline).parameters(),
        );
        let mut arrays = BTreeMap::new();
        for (name, tensor) in &drawn.arrays {
            // Relations have numbers in the set without names.
            let plain = ["cites", "written_by", "in"]
                .iter()
                .enumerate()
                .fold(name.clone(), |name, (number, label)| {
                    name.replace(&format!(".{label}"), &format!(".{number}"))
                });
            let kind = KINDS.iter().position(|kind| plain.contains(&format!(".{kind}.")));
            let block = kind
                .map_or(plain.clone(), |kind| plain.replace(&format!(".{}.", KINDS[kind]), "."));
            let values = first.arrays[&block].reals::<f64>().unwrap();
            let values = kind
                .filter(|_| block.ends_with("weight"))
                .map_or(values.clone(), |kind| of_block(&hetero, &values, kind));
            arrays.insert(name.clone(), Tensor::from_reals::<f64>(&tensor.shape, &values));
        }
        let pipeline =
            runner.pipeline("rgcn", &rest(&format!(", init: {}", init(&runner, arrays))));
        let (got, want) = (
            proved(&runner, &apart, &pipeline),
            finished(&runner, &whole, &runner.pipeline("rgcn", &rest(""))),
        );
        for (what, got, want) in [
            ("loss", got.metrics("loss"), want.metrics("loss")),
            ("scores", got.predictions("scores"), want.predictions("scores")),
        ] {
            if let Some(apart) = first_difference(&got, &want, 1e-12 * largest_magnitude(&want)) {
                panic!("{what} with {bases} bases{apart}");
            }
        }
    }
}

/// Every buffer of both, with dropout, over three epochs.
fn executed<T: Precision>(runner: &StageRunner, hetero: &Hetero, method: &str) {
    let graph = hetero.artifact(runner);
    let rest =
        format!("  set: {{drop: 0.4}}\nreorder: {{method: {method}}}\nrun: {{dtype: {}}}", T::NAME);
    let pipeline = own_text(runner, "hetero", HETERO, &rest);
    let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
    let (list, step) =
        (list_of(&chain), chain.resolve_step::<<RunStage as Stage>::Request>().unwrap());
    let data = upload::load_data::<T>(
        &runner.context(&Silence, &StopFlag::new()),
        &step.inputs,
        &list,
        upload::DataNeeds::new(&list, upload::Needs::from_list(&list), None),
        &step.request,
    )
    .unwrap();
    let list = separate_buffers(&list);
    let executor = cpu_executor(&list, data, SEED);
    let initial: Vec<Vec<f64>> =
        parameters::initial_parameters(&list, &RunSpec { seed: SEED, ..RunSpec::default() }, None)
            .unwrap();
    let world = hetero.world();
    let edges = ReferenceGraph {
        nodes: hetero.nodes() as u64,
        source: world.source,
        target: world.target,
        weight: None,
    };
    let inputs = Inputs {
        target: world.targets.unwrap().values.reals(),
        training_rows: world.training_rows,
        parameters: list
            .parameters
            .iter()
            .map(|parameter| parameter.name.clone())
            .zip(initial.iter().cloned())
            .collect(),
        edge_type: world.edge_type,
        kind_of_node: world.kind_of_node,
        features_of_kind: world
            .features_of_kind
            .iter()
            .map(|(kind, rows)| (*kind, rows.values.reals()))
            .collect(),
        ..Inputs::default()
    };
    let reference = Reference::new(&list, &edges, inputs).unwrap();
    stepped(
        &format!("hetero, sparse {}, {method}", hetero.sparse),
        &list,
        executor,
        reference,
        &initial,
    );
}

#[test]
fn executor_and_reference_agree_on_every_buffer() {
    let runner = StageRunner::new();
    for sparse in [false, true] {
        for method in ["none", "degree"] {
            executed::<f64>(&runner, &hetero(60, sparse), method);
            executed::<f32>(&runner, &hetero(60, sparse), method);
        }
    }
}

/// Papers alone are learned on and measured; training brings the loss down.
#[test]
fn one_kind_has_labels() {
    let runner = StageRunner::new();
    let hetero = hetero(300, false);
    let graph = hetero.artifact(&runner);
    let left = proved(
        &runner,
        &graph,
        &runner.pipeline(
            "rgcn",
            "  set: {hidden: 8}\nrun: {epochs: 40, optimizer: {adam: {lr: 0.05}}}",
        ),
    );
    let losses = left.metrics("loss");
    assert!(
        losses.iter().all(|loss| loss.is_finite()) && losses[40] < 0.3 * losses[0],
        "{losses:?}"
    );
    assert_eq!(left.predictions("scores").len(), CLASSES * hetero.nodes());
}

#[test]
fn neither_order_nor_threads_change_results() {
    let runner = StageRunner::new();
    for sparse in [false, true] {
        let graph = hetero(3000, sparse).artifact(&runner);
        let run = |rest: &str| {
            finished(
                &runner,
                &graph,
                &own_text(&runner, "hetero", HETERO, &format!("  set: {{drop: 0.4}}\n{rest}")),
            )
        };
        let [plain, ordered] = ["none", "degree"].map(|method| {
            run(&format!("reorder: {{method: {method}}}\nrun: {{epochs: 3, dtype: f64}}"))
        });
        let (got, want) = (ordered.metrics("loss"), plain.metrics("loss"));
        assert!(
            first_difference(&got, &want, 1e-11 * largest_magnitude(&want)).is_none(),
            "{got:?}, {want:?}"
        );
        let (got, want) = (ordered.predictions("scores"), plain.predictions("scores"));
        assert!(first_difference(&got, &want, 1e-9 * largest_magnitude(&want)).is_none());
        let mut first = None;
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let left =
                pool.install(|| run("reorder: {method: degree}\nrun: {epochs: 3, keep: best}"));
            let first = first.get_or_insert_with(|| {
                left.fixed()
                    .into_iter()
                    .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
                    .collect::<Vec<_>>()
            });
            for (name, bytes) in first.iter() {
                assert!(
                    left.fixed()[name.as_str()] == bytes,
                    "{name} differs with {threads} threads"
                );
            }
        }
    }
}

#[test]
fn analytics_read_kinds_and_named_relations() {
    let text = "def p(v):\n    v.papers = count(u for u in v.innbs[\"written by\"] if u.kind == \
        \"paper\")\n    return v.kind, v.papers\n";
    let runner = StageRunner::new();
    let hetero = hetero(60, false);
    let graph = hetero.artifact(&runner);
    let mut papers = vec![0.0; 60];
    let edges = &hetero.given.edges;
    for edge in 0..edges.source.len() {
        if edges.kind.as_ref().unwrap()[edge] == 1 && kind_of(edges.source[edge] as usize) == 0 {
            papers[edges.target[edge] as usize] += 1.0;
        }
    }
    for method in ["none", "degree"] {
        let left = proved(
            &runner,
            &graph,
            &own_text(&runner, "p", text, &format!("reorder: {{method: {method}}}")),
        );
        let ints = |name: &str| {
            crate::custom_programs::ints(&left, name)
                .into_iter()
                .map(|value| value as f64)
                .collect::<Vec<f64>>()
        };
        assert_eq!(
            ints("kind"),
            (0..60).map(|node| f64::from(kind_of(node))).collect::<Vec<f64>>()
        );
        assert_eq!(ints("papers"), papers);
    }
}

/// A number in the features of a kind that is not finite is found at its node.
#[test]
fn a_feature_that_is_not_finite_is_named() {
    let runner = StageRunner::new();
    for (kind, sparse) in [(0, true), (2, false)] {
        let mut hetero = hetero(60, sparse);
        let columns = COLUMNS[kind as usize];
        hetero.rows.get_mut(&kind).unwrap()[4 * columns + 1] = f32::NAN;
        let graph = hetero.artifact(&runner);
        let pipeline = own_text(&runner, "hetero", HETERO, "run: {epochs: 2}");
        let chain = runner.planned(&graph, &pipeline).unwrap();
        let error = runner.run(&chain, &Silence, &StopFlag::new()).err().unwrap();
        assert_eq!(error.kind, ErrorKind::Data);
        let node = format!("n{:05}", of_kind(60, kind)[4]);
        assert!(error.to_string().contains(&format!("the features of node `{node}`")), "{error}");
    }
}

#[test]
fn what_does_not_fit_is_said_with_the_names_of_the_set() {
    let runner = StageRunner::new();
    let graph = hetero(60, false).artifact(&runner);
    let refused = |text: &str| {
        runner
            .planned(&graph, &own_text(&runner, "p", text, ""))
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let error = refused("def p(v):\n    return linear(relu(v.x), v.classes)\n");
    assert!(
        error.contains("rows of a width for each kind: paper 5, venue one-hot, author 3"),
        "{error}"
    );
    let error = refused(
        "def p(v):\n    return linear(v.x, v.classes) + sum(u.degree for u in v.innbs[\"writen \
            by\"])\n",
    );
    assert!(error.contains("did you mean  \"written by\""), "{error}");
    let error = refused(
        "def p(v):\n    return linear(v.x, v.classes) * where(v.kind == \"auther\", 1, 0)\n",
    );
    assert!(error.contains("did you mean  \"author\""), "{error}");
}
