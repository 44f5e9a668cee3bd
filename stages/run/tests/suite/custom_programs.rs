//! custom_programs: programs of a user's own, through the real stages: analytics
//! against other algorithms, training against the interpreter's gradients, values of edges, stops,
//! and checks that find a wrong value.
use std::collections::{BTreeMap, VecDeque};

use arrow_array::{
    Array,
    cast::AsArray,
    types::{Float64Type, Int64Type},
};
use warploom_contract::{
    Artifact, ErrorKind,
    kinds::{
        graph::{EdgeTable, Ids, Labels, NodeTable},
        run::{EDGE_VALUES_FILE, VALUES_FILE},
    },
    progress::{Silence, StopFlag},
};
use warploom_ir::Op;
use warploom_ir::interpret::{ElementRows, Interpreter, World};
use warploom_plan::printed_forms::Program;
use warploom_run::tensors::{Tensor, Tensors};
use warploom_shell::{Chain, requests::PlanRequest};
use warploom_spec::Pipeline;

use warploom_test_support::graph_inputs::{random, signed, uniform};
use warploom_test_support::list_runner::{first_difference, largest_magnitude};
use warploom_test_support::stage_runner::{Features, GraphTables, RunFiles, StageRunner, finished};

const NODES: usize = 60;
const COLUMNS: usize = 5;
const CLASSES: usize = 3;
/// Whether the graph is permuted, and the numbers that are computed with.
const CHOICES: [(&str, &str); 3] = [("none", "f64"), ("degree", "f64"), ("degree", "f32")];

/// A weighted graph with parallel edges, loops and isolated nodes; weights are quarters, so that
/// sums of them are exact.
pub fn weighted() -> GraphTables {
    let shape = random("weighted", NODES - 4, 3 * NODES, 7);
    let (source, target): (Vec<u32>, Vec<u32>) = shape.edges.iter().copied().unzip();
    let weight =
        (0..source.len()).map(|edge| ((uniform(8, edge) * 12.0) as u32 + 1) as f32 / 4.0).collect();
    let kind = (0..source.len()).map(|edge| (edge % 2) as u16).collect();
    GraphTables {
        edges: EdgeTable { source, target, weight: Some(weight), kind: Some(kind) },
        nodes: NodeTable {
            labels: Some(Labels::Classes(
                (0..NODES).map(|node| Some((node % CLASSES) as u32)).collect(),
            )),
            splits: vec![(0..NODES).map(|node| [1, 1, 2, 3][node % 4]).collect()],
            ..NodeTable::new(Ids::Numbers((0..NODES as u64).map(|id| 10 * id + 3).collect()))
        },
        features: Features::Dense {
            columns: COLUMNS,
            values: signed(9, NODES * COLUMNS).into_iter().map(|value| value as f32).collect(),
        },
        edge_features: None,
        graphs: None,
    }
}

/// Each edge both ways, once, and no loops.
pub fn symmetric() -> GraphTables {
    let mut given = weighted();
    let mut pairs: Vec<(u32, u32)> = given
        .edges
        .source
        .iter()
        .copied()
        .zip(given.edges.target.iter().copied())
        .filter(|(a, b)| a != b)
        .collect();
    pairs.extend(pairs.clone().into_iter().map(|(a, b)| (b, a)));
    pairs.sort_unstable();
    pairs.dedup();
    (given.edges.source, given.edges.target) = pairs.into_iter().unzip();
    (given.edges.weight, given.edges.kind) = (None, None);
    given
}

#[test]
fn without_features_rows_are_one_hot_for_every_program() {
    let runner = StageRunner::new();
    let identity =
        (0..NODES * NODES).map(|at| f32::from(u8::from(at % (NODES + 1) == 0))).collect();
    let given = GraphTables {
        features: Features::Dense { columns: NODES, values: identity },
        ..symmetric()
    };
    let with = runner.graph(&given);
    let without = runner.graph(&GraphTables { features: Features::None, ..symmetric() });
    for program in ["gcn", "sage", "gat"] {
        let pipeline =
            runner.pipeline(program, "  set: {hidden: 4, drop: 0.0}\nrun: {epochs: 5, dtype: f64}");
        let [got, want] =
            [&without, &with].map(|graph| proved(&runner, graph, &pipeline).metrics("loss"));
        assert_eq!(got.len(), 6, "{program}");
        if let Some(apart) = first_difference(&got, &want, 1e-12 * largest_magnitude(&want)) {
            panic!("{program}: loss{apart}");
        }
    }
}

/// A pipeline of a text that stands nowhere else.
pub fn own_text(runner: &StageRunner, name: &str, text: &str, rest: &str) -> Pipeline {
    let path = runner.write(&format!("{name}.py"), text.as_bytes());
    let page = format!(
        "pipeline: test\ndataset: none\npartition: {{unit_edges: 64}}\nplan:\n  program: \
            {}\n{rest}\n",
        path.display()
    );
    let read = warploom_spec::read_text(&page, &runner.folder.path().join("test.yaml"), &[]);
    read.unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0)
}

/// Runs, publishes and proves; gives what was left.
pub fn proved(runner: &StageRunner, graph: &Artifact, pipeline: &Pipeline) -> RunFiles {
    let chain = runner.planned(graph, pipeline).unwrap_or_else(|error| panic!("{error}"));
    let left =
        runner.run(&chain, &Silence, &StopFlag::new()).unwrap_or_else(|error| panic!("{error}"));
    runner
        .check(&chain, &runner.published(&chain).unwrap())
        .unwrap_or_else(|error| panic!("{error}"));
    left
}

pub fn ints(left: &RunFiles, name: &str) -> Vec<i64> {
    let table = left.table(VALUES_FILE);
    let column = table.column(name).unwrap();
    assert_eq!(column.null_count(), 0);
    column.as_primitive::<Int64Type>().values().to_vec()
}

/// Distances by relaxing every edge until nothing changes; another order than supersteps.
pub fn distances(given: &GraphTables, source: usize) -> Vec<f64> {
    let mut distance = vec![f64::INFINITY; given.nodes.ids.len()];
    distance[source] = 0.0;
    let mut before = Vec::new();
    while before != distance {
        before.clone_from(&distance);
        for (edge, (from, to)) in given.edges.source.iter().zip(&given.edges.target).enumerate() {
            let weight = given.edges.weight.as_ref().map_or(1.0, |weight| f64::from(weight[edge]));
            distance[*to as usize] = distance[*to as usize].min(distance[*from as usize] + weight);
        }
    }
    distance
}

#[test]
fn shortest_paths() {
    let runner = StageRunner::new();
    let given = weighted();
    let graph = runner.graph(&given);
    for (method, dtype) in CHOICES {
        let rest = format!(
            "  set: {{source: row:5}}\nreorder: {{method: {method}}}\nrun: {{dtype: {dtype}}}"
        );
        let left = proved(&runner, &graph, &runner.pipeline("sssp", &rest));
        assert_eq!(left.values("distance"), distances(&given, 5));
        assert!(left.record().converged && left.record().supersteps > 0);
        assert_eq!(left.record().courses, ["delta-stepping"]);
    }
}

#[test]
fn levels_and_parents() {
    let runner = StageRunner::new();
    let given = weighted();
    let graph = runner.graph(&given);
    let mut levels = vec![-1; NODES];
    levels[5] = 0;
    let mut waiting = VecDeque::from([5]);
    while let Some(node) = waiting.pop_front() {
        for (from, to) in given.edges.source.iter().zip(&given.edges.target) {
            if *from as usize == node && levels[*to as usize] < 0 {
                levels[*to as usize] = levels[node] + 1;
                waiting.push_back(*to as usize);
            }
        }
    }
    let parent = |node: usize| {
        let edges = given
            .edges
            .source
            .iter()
            .zip(&given.edges.target)
            .filter(|(_, to)| **to as usize == node);
        edges
            .map(|(from, _)| *from as usize)
            .filter(|from| levels[node] > 0 && levels[*from] == levels[node] - 1)
            .min()
            .map(|from| 10 * from as u64 + 3)
    };
    let parents: Vec<Option<u64>> = (0..NODES).map(parent).collect();
    for (method, dtype) in CHOICES {
        let rest = format!(
            "  set: {{source: row:5}}\nreorder: {{method: {method}}}\nrun: {{dtype: {dtype}}}"
        );
        let left = proved(&runner, &graph, &runner.pipeline("bfs", &rest));
        assert_eq!(ints(&left, "level"), levels);
        let table = left.table(VALUES_FILE);
        let found: Vec<Option<u64>> = table
            .column("parent")
            .unwrap()
            .as_primitive::<arrow_array::types::UInt64Type>()
            .iter()
            .collect();
        assert_eq!(found, parents);
    }
}

#[test]
fn core_numbers() {
    let runner = StageRunner::new();
    let given = symmetric();
    let graph = runner.graph(&given);
    let (mut left_over, mut cores, mut core) = (vec![true; NODES], vec![0; NODES], 0);
    while left_over.contains(&true) {
        let ends = || {
            given
                .edges
                .source
                .iter()
                .zip(&given.edges.target)
                .map(|(from, to)| (*from as usize, *to as usize))
        };
        let degree =
            |node: usize| ends().filter(|(from, to)| *to == node && left_over[*from]).count();
        match (0..NODES).find(|node| left_over[*node] && degree(*node) <= core) {
            Some(node) => (left_over[node], cores[node]) = (false, core as i64),
            None => core += 1,
        }
    }
    for (method, dtype) in CHOICES {
        let rest = format!("reorder: {{method: {method}}}\nrun: {{dtype: {dtype}}}");
        assert_eq!(ints(&proved(&runner, &graph, &runner.pipeline("kcore", &rest)), "core"), cores);
    }
}

const ATTENTION: &str = r#"
def attention(v, heads=2, width=3, slope=0.2):
    "One layer of attention over in-edges, then a mean over heads."
    v.z = linear(v.x, (heads, width), bias=False)
    v.left, v.right = dot(v.z, param((heads, width))), dot(v.z, param((heads, width)))
    score = [leaky_relu(e.src.left + v.right, slope) for e in v.inedges]
    share = softmax(score)
    v.h = elu(sum(a * e.src.z for a, e in zip(share, v.inedges)) + bias())
    return linear(flatten(v.h), v.classes)
"#;

fn world(given: &GraphTables) -> World {
    let (Features::Dense { columns, values }, Some(Labels::Classes(classes))) =
        (&given.features, &given.nodes.labels)
    else {
        panic!("dense, with classes")
    };
    let mut world = World::bare(NODES, given.edges.source.clone(), given.edges.target.clone());
    world.weight = given
        .edges
        .weight
        .as_ref()
        .map(|weight| weight.iter().map(|weight| f64::from(*weight)).collect());
    world.edge_type = given.edges.kind.iter().flatten().map(|kind| u32::from(*kind)).collect();
    world.features = Some(ElementRows::from_reals(
        NODES,
        *columns,
        values.iter().map(|value| f64::from(*value)).collect(),
    ));
    world.targets = Some(ElementRows::from_reals(
        NODES,
        1,
        classes.iter().map(|class| class.map_or(f64::NAN, f64::from)).collect(),
    ));
    world.training_rows =
        (0..NODES as u32).filter(|row| given.nodes.splits[0][*row as usize] == 1).collect();
    world
}

/// Three steps down the interpreter's gradients, of the program as it was written.
pub fn descended(
    chain: &Chain,
    world: &World,
    rate: f64,
    first: &BTreeMap<String, Vec<f64>>,
) -> BTreeMap<String, Vec<f64>> {
    let step = chain.resolve_step::<PlanRequest>().unwrap();
    let settings = step.request.pipeline_settings();
    let program = Program {
        file: &step.request.spec.program.file,
        text: &step.request.text,
        entry: &step.request.spec.program.entry,
        settings: &settings,
    };
    let data = warploom_plan::describe_data(&step.inputs, &step.request, true).unwrap();
    let compiled = program.compile(data.clone()).unwrap();
    let gir = &compiled.with_gradients;
    let mut parameters = first.clone();
    let mut interpreter = Interpreter::new(gir, &data, world).unwrap();
    for _ in 0..3 {
        parameters
            .iter()
            .for_each(|(name, values)| interpreter.set_parameter(name, values).unwrap());
        interpreter.training = true;
        interpreter.run(1);
        for gradient in &gir.gradients {
            let Op::Parameter(index) = gir.node(gradient.of).op else { continue };
            let slopes = interpreter.value(gradient.node).unwrap().values.reals();
            let values = parameters.get_mut(&gir.parameters[index].name).unwrap();
            values.iter_mut().zip(slopes).for_each(|(value, slope)| *value -= rate * slope);
        }
    }
    parameters
}

#[test]
fn attention_descends_the_interpreters_gradients() {
    let runner = StageRunner::new();
    let given = weighted();
    let graph = runner.graph(&given);
    for (method, dtype) in CHOICES {
        let rest = |more: &str| {
            format!(
                "reorder: {{method: {method}}}\nrun: {{epochs: 3, dtype: {dtype}, optimizer: \
                    {{sgd: {{lr: 0.5, momentum: 0.0}}}}{more}}}"
            )
        };
        let drawn = own_text(&runner, "attention", ATTENTION, &rest(""));
        let drawn = finished(&runner, &graph, &drawn).parameters();
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
        let init = runner.write(
            "init.safetensors",
            &Tensors { arrays, facts: BTreeMap::new() }.to_bytes().unwrap(),
        );
        let pipeline = own_text(
            &runner,
            "attention",
            ATTENTION,
            &rest(&format!(", init: {}", init.display())),
        );
        let chain = runner.planned(&graph, &pipeline).unwrap_or_else(|error| panic!("{error}"));
        let left = proved(&runner, &graph, &pipeline).parameters();
        let tolerance = if dtype == "f64" { 1e-10 } else { 1e-4 };
        for (name, expected) in descended(&chain, &world(&given), 0.5, &first) {
            let found: Vec<f64> = match dtype {
                "f64" => left.arrays[&name].reals::<f64>().unwrap(),
                _ => {
                    left.arrays[&name].reals::<f32>().unwrap().into_iter().map(f64::from).collect()
                }
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

#[test]
fn values_of_edges_stand_under_own_ids() {
    let text = "def shares(v):\n    share = [e.w / (1 + v.indegree) for e in v.inedges]\n    \
        return share, sum(share)\n";
    let runner = StageRunner::new();
    let given = weighted();
    let graph = runner.graph(&given);
    let mut indegree = vec![0.0; NODES];
    given.edges.target.iter().for_each(|target| indegree[*target as usize] += 1.0);
    for (method, _) in CHOICES {
        let pipeline = own_text(
            &runner,
            "shares",
            text,
            &format!("reorder: {{method: {method}}}\nrun: {{dtype: f64}}"),
        );
        let left = proved(&runner, &graph, &pipeline);
        let table = left.table(EDGE_VALUES_FILE);
        let own =
            |ends: &[u32]| ends.iter().map(|end| 10 * u64::from(*end) + 3).collect::<Vec<u64>>();
        assert_eq!(table.numbers::<u64>("source").unwrap(), own(&given.edges.source));
        assert_eq!(table.numbers::<u64>("target").unwrap(), own(&given.edges.target));
        let weight = given.edges.weight.as_ref().unwrap();
        let expected: Vec<f64> = weight
            .iter()
            .zip(&given.edges.target)
            .map(|(weight, target)| f64::from(*weight) / (1.0 + indegree[*target as usize]))
            .collect();
        let columns: Vec<&str> = table
            .batch
            .schema_ref()
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .skip(2)
            .map(|name| name.to_owned().leak() as &str)
            .collect();
        assert_eq!(columns.len(), 1);
        assert_eq!(
            table.column(columns[0]).unwrap().as_primitive::<Float64Type>().values().to_vec(),
            expected
        );
    }
}

#[test]
fn values_of_edges_that_no_operation_computes_have_both_ends_too() {
    let text = "def own(v):\n    source = [e.w for e in v.inedges]\n    return source, [e.w for e \
        in v.outedges[\"1\"]], v.id\n";
    let runner = StageRunner::new();
    let given = weighted();
    let pipeline = own_text(&runner, "own", text, "run: {dtype: f64}");
    let left = proved(&runner, &runner.graph(&given), &pipeline);
    let own = |ends: &[u32]| ends.iter().map(|end| 10 * u64::from(*end) + 3).collect::<Vec<u64>>();
    let edges = left.table(EDGE_VALUES_FILE);
    assert_eq!(edges.numbers::<u64>("source").unwrap(), own(&given.edges.source));
    assert_eq!(edges.numbers::<u64>("target").unwrap(), own(&given.edges.target));
    let weight: Vec<f64> =
        given.edges.weight.as_ref().unwrap().iter().map(|&weight| f64::from(weight)).collect();
    assert_eq!(
        edges.column("source_1").unwrap().as_primitive::<Float64Type>().values().to_vec(),
        weight
    );
    let odd = left.table("edge_values_1.parquet");
    assert_eq!(
        odd.numbers::<u64>("source").unwrap(),
        own(&given.edges.source.iter().copied().skip(1).step_by(2).collect::<Vec<_>>())
    );
    assert_eq!(
        odd.column("value").unwrap().as_primitive::<Float64Type>().values().to_vec(),
        weight.into_iter().skip(1).step_by(2).collect::<Vec<_>>()
    );
    let values = left.table(VALUES_FILE);
    assert_eq!(values.numbers::<u64>("id").unwrap(), values.numbers::<u64>("id_1").unwrap());
}

#[test]
fn what_is_wrong_with_a_program_is_said_with_its_place() {
    let runner = StageRunner::new();
    let graph = runner.graph(&weighted());
    let refused = |text: &str, rest: &str| {
        runner.planned(&graph, &own_text(&runner, "wrong", text, rest)).err().unwrap()
    };
    let error =
        refused("def wrong(v):\n    v.a = sum(u.rnak for u in v.innbs)\n    return v.a\n", "");
    assert_eq!(error.kind, ErrorKind::Specification);
    let page = error.to_string();
    assert!(page.contains("wrong.py:2:") && page.contains("rnak") && page.contains('^'), "{page}");
    let error = refused(
        "def wrong(v):\n    return sum(u.indegree for u in v.innbs)\n",
        "run: {mode: train}",
    );
    assert!(error.to_string().contains("nothing to learn"), "{error}");
    let error =
        refused("def wrong(v):\n    return linear(v.x, v.classes)\n", "run: {mode: iterate}");
    assert!(error.to_string().contains("parameters to learn"), "{error}");
}
