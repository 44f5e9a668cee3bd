//! kinds: programs on sets with several kinds of vertices, against the same programs on a set whose
//! rows have all kinds' columns side by side: features of the vertex's own kind, of a kind without
//! features a 1 in the vertex's own column, zeros else.
//!
//! promises  every learned program of the library that takes `v.x` by `linear`: results, loss and
//!           gradients; launch lists, with dense and sparse features, permuted or not; gradients
//!           also against differences; names and messages
//! never     has an expected number that the code under test made

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use warploom_compiler::{Compilation, compile};
use warploom_ir::interpret::{ElementRows, Interpreter, World};
use warploom_ir::{Data, Gir, Loss, NodeKind, Op, Target};
use warploom_language::trace::trace;
use warploom_launch::reference::{Inputs, Reference, ReferenceGraph};
use warploom_launch::{LaunchList, Role, gradient_buffer};

const NODES: usize = 14;
const EDGES: usize = 60;
const CLASSES: u64 = 3;
/// Name, columns, and whether they are kept sparse.
const KINDS: [(&str, Option<usize>); 3] =
    [("paper", Some(4)), ("venue", None), ("author", Some(2))];
const RELATIONS: [&str; 3] = ["http://example.org/schema#cites", "written by", "published/in"];
const LABELS: [&str; 3] = ["cites", "written_by", "in"];

/// In -1 to 1, by a seed and a position.
fn number(seed: u64, at: usize) -> f64 {
    let mixed = (seed.wrapping_mul(0x9e37_79b9) ^ (at as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9))
        .wrapping_add(0x94d0_49bb_1331_11eb);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn below(seed: u64, at: usize, end: usize) -> usize {
    (((number(seed, at) + 1.0) / 2.0 * end as f64) as usize).min(end - 1)
}

/// Kind of each vertex; the last kind has no vertex among the first three.
fn kind_of_node() -> Vec<u32> {
    (0..NODES)
        .map(|node| if node < 3 { (node % 2) as u32 } else { below(1, node, 3) as u32 })
        .collect()
}

fn of_kind(kind: u32) -> Vec<usize> {
    (0..NODES).filter(|node| kind_of_node()[*node] == kind).collect()
}

/// Features of the vertices of a kind; every third is 0.
fn features(kind: u32) -> Option<ElementRows> {
    let columns = KINDS[kind as usize].1?;
    let rows = of_kind(kind).len();
    let value = |at: usize| if at % 3 == 1 { 0.0 } else { number(2 + u64::from(kind), at) };
    Some(ElementRows::from_reals(rows, columns, (0..rows * columns).map(value).collect()))
}

fn plain() -> (Data, World) {
    let data = Data {
        weighted: true,
        relations: RELATIONS.map(str::to_owned).to_vec(),
        target: Some(Target { columns: CLASSES, loss: Loss::CrossEntropy }),
        training: true,
        bytes_per_real: 8,
        half: None,
        lanes: false,
        ..Data::bare(NODES as u64, EDGES as u64)
    };
    let end = |seed: u64| (0..EDGES).map(|edge| below(seed, edge, NODES - 1) as u32).collect();
    let mut world = World::bare(NODES, end(10), end(11));
    world.weight = Some((0..EDGES).map(|edge| 0.5 + number(12, edge).abs()).collect());
    world.edge_type = (0..EDGES).map(|edge| below(13, edge, 3) as u32).collect();
    // Only papers have labels.
    let class =
        |node: usize| if kind_of_node()[node] == 0 { below(14, node, 3) as f64 } else { f64::NAN };
    world.targets = Some(ElementRows::from_reals(NODES, 1, (0..NODES).map(class).collect()));
    world.training_rows =
        of_kind(0).into_iter().filter(|node| node % 4 != 1).map(|node| node as u32).collect();
    (data, world)
}

/// The set with kinds.
fn kinds(sparse: bool) -> (Data, World) {
    let (mut data, mut world) = plain();
    for (number, (name, columns)) in (0u32..).zip(KINDS) {
        let rows = features(number);
        let entries = rows
            .as_ref()
            .map(|rows| rows.values.reals().iter().filter(|value| **value != 0.0).count() as u64);
        data.kinds.push(NodeKind {
            name: name.to_owned(),
            nodes: of_kind(number).len() as u64,
            features: columns.map(|columns| columns as u64),
            sparse_features: entries.filter(|_| sparse),
        });
        world.features_of_kind.extend(rows.map(|rows| (number, rows)));
    }
    world.kind_of_node = kind_of_node();
    (data, world)
}

/// First column of each kind, and their number.
fn starts() -> Vec<usize> {
    let mut starts = vec![0];
    for (kind, (_, columns)) in KINDS.iter().enumerate() {
        starts.push(starts[kind] + columns.unwrap_or(of_kind(kind as u32).len()));
    }
    starts
}

/// The set with all columns side by side.
fn blocks() -> (Data, World) {
    let (mut data, mut world) = plain();
    let (starts, kinds) = (starts(), kind_of_node());
    let width = starts[KINDS.len()];
    let mut rows = vec![0.0; NODES * width];
    for (node, kind) in kinds.into_iter().enumerate() {
        let place = of_kind(kind).iter().position(|other| *other == node).unwrap();
        let first = node * width + starts[kind as usize];
        match features(kind) {
            None => rows[first + place] = 1.0,
            Some(found) => (0..found.columns)
                .for_each(|column| rows[first + column] = found.at(place, column).real()),
        }
    }
    data.features = Some(width as u64);
    world.features = Some(ElementRows::from_reals(NODES, width, rows));
    (data, world)
}

/// A block's parameters; each kind's biases are equal.
fn drawn(gir: &Gir) -> BTreeMap<String, Vec<f64>> {
    let seed = |name: &str| {
        name.bytes().fold(7u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)))
    };
    let of = |name: &str, shape: &[u64]| {
        (0..shape.iter().product::<u64>() as usize).map(|at| 0.5 * number(seed(name), at)).collect()
    };
    gir.parameters
        .iter()
        .map(|parameter| (parameter.name.clone(), of(&parameter.name, &parameter.shape)))
        .collect()
}

/// The kind that a name ends in, and the name without it.
fn split_name(name: &str) -> Option<(usize, String)> {
    KINDS.iter().enumerate().find_map(|(kind, (label, _))| {
        let ends = ["weight", "bias"]
            .into_iter()
            .find(|end| name.ends_with(&format!(".{label}.{end}")))?;
        Some((kind, format!("{}.{ends}", name.strip_suffix(&format!(".{label}.{ends}")).unwrap())))
    })
}

/// Columns of a weight of all that are those of a kind.
fn of_block(values: &[f64], kind: usize) -> Vec<f64> {
    let starts = starts();
    values
        .chunks(starts[KINDS.len()])
        .flat_map(|row| row[starts[kind]..starts[kind + 1]].to_vec())
        .collect()
}

/// What a set with kinds is given where the other has these.
fn split(gir: &Gir, blocks: &BTreeMap<String, Vec<f64>>) -> BTreeMap<String, Vec<f64>> {
    let value = |name: &str| match split_name(name) {
        Some((kind, whole)) if whole.ends_with("weight") => of_block(&blocks[&whole], kind),
        Some((_, whole)) => blocks[&whole].clone(),
        None => blocks[name].clone(),
    };
    gir.parameters
        .iter()
        .map(|parameter| (parameter.name.clone(), value(&parameter.name)))
        .collect()
}

fn text_of(program: &str) -> String {
    std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../../pipelines/programs/{program}.py")),
    )
    .unwrap()
}

fn settings(list: &[(&str, Value)]) -> BTreeMap<String, Value> {
    list.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn compiled(text: &str, entry: &str, given: &[(&str, Value)], data: &Data) -> Compilation {
    compile(text, entry, &settings(given), data).unwrap_or_else(|wrong| {
        panic!(
            "{}",
            wrong.iter().map(|diagnostic| diagnostic.render(entry, text)).collect::<String>()
        )
    })
}

struct Found {
    scores: Vec<f64>,
    loss: f64,
    gradients: BTreeMap<String, Vec<f64>>,
}

fn interpreted(
    gir: &Gir,
    data: &Data,
    world: &World,
    parameters: &BTreeMap<String, Vec<f64>>,
) -> Found {
    let mut run = Interpreter::new(gir, data, world).unwrap();
    parameters.iter().for_each(|(name, values)| run.set_parameter(name, values).unwrap());
    run.training = true;
    run.run(1);
    let gradient = |of: &warploom_ir::Gradient| {
        let Op::Parameter(index) = gir.node(of.of).op else { panic!("by parameters") };
        (gir.parameters[index].name.clone(), run.value(of.node).unwrap().values.reals())
    };
    Found {
        scores: run.value(gir.results[0].node).unwrap().values.reals(),
        loss: run.loss().unwrap(),
        gradients: gir.gradients.iter().map(gradient).collect(),
    }
}

fn near(what: &str, expected: &[f64], found: &[f64]) {
    assert_eq!(expected.len(), found.len(), "{what}");
    let largest = expected.iter().fold(1e-3, |largest: f64, value| largest.max(value.abs()));
    for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
        assert!(
            (expected - found).abs() <= 1e-12 * largest,
            "{what}: element {at} is {found}, expected {expected}"
        );
    }
}

/// Compares what the set with kinds gives with what the other does. A bias of all has the sum of
/// the kinds' gradients.
fn compare(what: &str, blocks: &Found, kinds: &Found) {
    near(&format!("{what}: scores"), &blocks.scores, &kinds.scores);
    near(&format!("{what}: loss"), &[blocks.loss], &[kinds.loss]);
    let mut biases: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, found) in &kinds.gradients {
        match split_name(name) {
            Some((kind, whole)) if whole.ends_with("weight") => near(
                &format!("{what}: gradient of {name}"),
                &of_block(&blocks.gradients[&whole], kind),
                found,
            ),
            Some((_, whole)) => {
                let sum = biases.entry(whole).or_insert_with(|| vec![0.0; found.len()]);
                sum.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
            }
            None => near(&format!("{what}: gradient of {name}"), &blocks.gradients[name], found),
        }
    }
    biases.iter().for_each(|(name, found)| {
        near(&format!("{what}: gradients of {name}"), &blocks.gradients[name], found)
    });
}

/// The list by the reference executor; `order`: which vertex stands in each row.
fn listed(
    list: &LaunchList,
    world: &World,
    parameters: &BTreeMap<String, Vec<f64>>,
    order: &[usize],
) -> Found {
    let row_of = |node: u32| order.iter().position(|other| *other == node as usize).unwrap() as u32;
    let graph = ReferenceGraph {
        nodes: order.len() as u64,
        source: world.source.iter().map(|node| row_of(*node)).collect(),
        target: world.target.iter().map(|node| row_of(*node)).collect(),
        weight: world.weight.clone(),
    };
    let targets = world.targets.as_ref().unwrap();
    let mut training_rows: Vec<u32> =
        world.training_rows.iter().map(|node| row_of(*node)).collect();
    training_rows.sort_unstable();
    let inputs = Inputs {
        target: order.iter().map(|node| targets.at(*node, 0).real()).collect(),
        training_rows,
        parameters: parameters.clone(),
        artifact_rows: order.iter().map(|node| *node as u32).collect(),
        edge_type: world.edge_type.clone(),
        kind_of_node: order.iter().map(|node| world.kind_of_node[*node]).collect(),
        features_of_kind: world
            .features_of_kind
            .iter()
            .map(|(kind, rows)| (*kind, rows.values.reals()))
            .collect(),
        ..Inputs::default()
    };
    let mut run = Reference::new(list, &graph, inputs)
        .unwrap_or_else(|error| panic!("{error}\n{}", list.render()));
    run.prepare();
    run.forward();
    let loss = run.loss();
    run.backward();
    let rows = run.get(&list.results[0].buffer).unwrap();
    let columns = rows.len() / order.len().max(1);
    Found {
        scores: (0..order.len() as u32)
            .flat_map(|node| rows[row_of(node) as usize * columns..][..columns].to_vec())
            .collect(),
        loss,
        gradients: list
            .parameters
            .iter()
            .filter(|parameter| parameter.learned)
            .map(|parameter| {
                (
                    parameter.name.clone(),
                    run.get(&gradient_buffer(&parameter.name)).unwrap().to_vec(),
                )
            })
            .collect(),
    }
}

/// A program on both sets: as written, with gradients, cleaned, as a list of dense and of sparse
/// features, and permuted.
fn both_agree(text: &str, entry: &str, given: &[(&str, Value)]) -> Compilation {
    let ((block_data, block_world), (data, world)) = (blocks(), kinds(false));
    let (whole, apart) =
        (compiled(text, entry, given, &block_data), compiled(text, entry, given, &data));
    let first = drawn(&whole.traced.gir);
    let parameters = split(&apart.traced.gir, &first);
    let expected = interpreted(&whole.with_gradients, &block_data, &block_world, &first);
    assert!(
        expected.loss.is_finite() && expected.scores.iter().any(|score| *score != 0.0),
        "{entry}"
    );
    compare(
        &format!("{entry} {given:?}, with gradients"),
        &expected,
        &interpreted(&apart.with_gradients, &data, &world, &parameters),
    );
    let clean = interpreted(&apart.clean, &data, &world, &parameters);
    compare(&format!("{entry} {given:?}, clean"), &expected, &clean);
    let backwards: Vec<usize> = (0..NODES).rev().collect();
    let shuffled: Vec<usize> = (0..NODES).map(|row| row * 5 % NODES).collect();
    for sparse in [false, true] {
        let (data, _) = kinds(sparse);
        let list = compiled(text, entry, given, &data).list;
        assert_eq!(list.validate(), Ok(()));
        assert_eq!(
            list.buffers.iter().any(|buffer| matches!(buffer.role, Role::SparseFeaturesOf { .. })),
            sparse,
            "{}",
            list.render()
        );
        for order in [(0..NODES).collect(), backwards.clone(), shuffled.clone()] {
            compare(
                &format!("{entry} {given:?}, list, sparse {sparse}, {order:?}"),
                &expected,
                &listed(&list, &world, &parameters, &order),
            );
        }
    }
    apart
}

const HETERO: &str = r#"
def hetero(v, hidden=5):
    v.h = relu(layer(v, v.x, hidden))
    return layer(v, v.h, v.classes)

def layer(v, x, width):
    v.message = x
    return linear(x, width) + sum(linear(mean(u.message for u in v.innbs[r]), width, bias=False) for r in v.graph.relations)
"#;

#[test]
fn a_program_of_kinds_is_that_of_rows_side_by_side() {
    let made = both_agree(HETERO, "hetero", &[]);
    let names: Vec<(&str, &[u64])> = made
        .traced
        .gir
        .parameters
        .iter()
        .map(|parameter| (parameter.name.as_str(), parameter.shape.as_slice()))
        .collect();
    let venues = of_kind(1).len() as u64;
    let mut expected: Vec<(String, Vec<u64>)> = Vec::new();
    for (kind, columns) in [("paper", 4), ("venue", venues), ("author", 2)] {
        expected.push((format!("hetero.layer.0.linear.0.{kind}.weight"), vec![5, columns]));
        expected.push((format!("hetero.layer.0.linear.0.{kind}.bias"), vec![5]));
    }
    for label in LABELS {
        for (kind, columns) in [("paper", 4), ("venue", venues), ("author", 2)] {
            expected
                .push((format!("hetero.layer.0.linear.1.{label}.{kind}.weight"), vec![5, columns]));
        }
    }
    expected.extend([
        ("hetero.layer.1.linear.0.weight".to_owned(), vec![3, 5]),
        ("hetero.layer.1.linear.0.bias".to_owned(), vec![3]),
    ]);
    expected.extend(
        LABELS.map(|label| (format!("hetero.layer.1.linear.1.{label}.weight"), vec![3, 5])),
    );
    let expected: Vec<(&str, &[u64])> =
        expected.iter().map(|(name, shape)| (name.as_str(), shape.as_slice())).collect();
    assert_eq!(names, expected);
}

#[test]
fn the_librarys_programs_take_kinds() {
    for (program, given) in [
        ("rgcn", vec![("hidden", json!(5)), ("bases", json!(0))]),
        ("rgcn", vec![("hidden", json!(5)), ("bases", json!(2))]),
        ("gcn", vec![("hidden", json!(5)), ("drop", json!(0.0))]),
        ("sage", vec![("hidden", json!(5)), ("drop", json!(0.0))]),
        ("gat", vec![("hidden", json!(3)), ("heads", json!(2)), ("drop", json!(0.0))]),
        ("appnp", vec![("hidden", json!(5)), ("drop", json!(0.0))]),
        ("gcnii", vec![("hidden", json!(4)), ("drop", json!(0.0))]),
        ("sgc", vec![]),
    ] {
        both_agree(&text_of(program), program, &given);
    }
}

#[test]
fn sums_scaled_rows_and_edges_take_kinds() {
    let programs = [
        "def p(v):\n    return linear(2 * v.x - sum(e.w * e.src.x for e in v.inedges) / (1 + \
            v.indegree), v.classes)\n",
        "def p(v):\n    return sum(e.w * linear(e.src.x, v.classes) for e in v.inedges)\n",
        "def p(v):\n    return sum(e.w * linear(e.src.x - e.dst.x, v.classes) for e in v.inedges)\n",
        "def p(v):\n    return mlp(sum(u.x for u in v.nbs), (4, v.classes)) + linear(-v.x, \
            v.classes, bias=False)\n",
        "def p(v):\n    return flatten(linear(v.x, (v.classes, 1)))\n",
        "def p(v):\n    v.y = sum(u.x for u in v.outnbs if u.indegree > 2)\n    return \
            linear(mean(u.y for u in v.innbs), v.classes, name=\"last\")\n",
    ];
    for program in programs {
        both_agree(program, "p", &[]);
    }
}

/// Kinds without vertices, sets without vertices or edges: the list gives what the interpreter
/// does, and no gradient is NaN.
#[test]
fn kinds_may_be_empty() {
    for (nodes, edges, only) in [(0, 0, 0), (1, 0, 0), (1, 3, 1), (3, 0, 2), (3, 5, 1), (3, 5, 0)] {
        let count = |kind: u32| if kind == only { nodes } else { 0 };
        let (mut data, _) = plain();
        (data.nodes, data.edges, data.weighted) = (nodes as u64, edges as u64, false);
        data.kinds = (0u32..)
            .zip(KINDS)
            .map(|(number, (name, columns))| NodeKind {
                name: name.to_owned(),
                nodes: count(number) as u64,
                features: columns.map(|columns| columns as u64),
                sparse_features: None,
            })
            .collect();
        let ends: Vec<u32> = (0..edges as u32).map(|edge| edge % nodes.max(1) as u32).collect();
        let mut world = World {
            edge_type: ends.iter().map(|end| end % 3).collect(),
            ..World::bare(nodes, ends.clone(), ends)
        };
        world.kind_of_node = vec![only; nodes];
        world.features_of_kind = [(0, 4), (2, 2)]
            .map(|(kind, columns)| {
                (
                    kind,
                    ElementRows::from_reals(count(kind), columns, vec![0.5; count(kind) * columns]),
                )
            })
            .into();
        world.targets = Some(ElementRows::from_reals(nodes, 1, vec![1.0; nodes]));
        world.training_rows = (0..nodes as u32).collect();
        let made = compiled(HETERO, "hetero", &[], &data);
        let parameters = drawn(&made.traced.gir);
        let expected = interpreted(&made.clean, &data, &world, &parameters);
        assert!(
            expected.loss.is_finite()
                && expected.gradients.values().flatten().all(|slope| slope.is_finite()),
            "{nodes} {edges} {only}"
        );
        let order: Vec<usize> = (0..nodes).rev().collect();
        let found = listed(&made.list, &world, &parameters, &order);
        near("loss", &[expected.loss], &[found.loss]);
        near("scores", &expected.scores, &found.scores);
        expected
            .gradients
            .iter()
            .for_each(|(name, slopes)| near(name, slopes, &found.gradients[name]));
    }
}

/// `linear` by hand: of each vertex its kind's weight and bias.
#[test]
fn each_kind_has_a_weight_and_a_bias() {
    let text = "def p(v):\n    v.h = linear(v.x, 3)\n    v.far = sum(linear(u.x, 3) for u in \
        v.innbs)\n    return v.h, v.far, v.kind, sum(u.kind for u in v.innbs)\n";
    let (mut data, world) = kinds(false);
    data.training = false;
    let gir = trace(text, "p", &BTreeMap::new(), &data).unwrap().gir;
    let parameters = drawn(&gir);
    let mut run = Interpreter::new(&gir, &data, &world).unwrap();
    parameters.iter().for_each(|(name, values)| run.set_parameter(name, values).unwrap());
    run.run(1);
    let kind_of = kind_of_node();
    let row = |layer: usize, node: usize, out: usize| {
        let (kind, place) = (
            kind_of[node],
            of_kind(kind_of[node]).iter().position(|other| *other == node).unwrap(),
        );
        let name = format!("p.p.0.linear.{layer}.{}", KINDS[kind as usize].0);
        let (weight, bias) =
            (&parameters[&format!("{name}.weight")], &parameters[&format!("{name}.bias")]);
        let product = match features(kind) {
            None => weight[out * of_kind(kind).len() + place],
            Some(rows) => (0..rows.columns)
                .map(|column| rows.at(place, column).real() * weight[out * rows.columns + column])
                .sum(),
        };
        product + bias[out]
    };
    let mut expected = [vec![0.0; 3 * NODES], vec![0.0; 3 * NODES]];
    let mut sums = vec![0; NODES];
    (0..3 * NODES).for_each(|at| expected[0][at] = row(0, at / 3, at % 3));
    for (source, target) in world.source.iter().zip(&world.target) {
        (0..3).for_each(|out| {
            expected[1][*target as usize * 3 + out] += row(1, *source as usize, out)
        });
        sums[*target as usize] += i64::from(kind_of[*source as usize]);
    }
    let result = |at: usize| run.value(gir.results[at].node).unwrap();
    near("own", &expected[0], &result(0).values.reals());
    near("neighbours", &expected[1], &result(1).values.reals());
    assert_eq!(
        result(2),
        &ElementRows::from_integers(
            NODES,
            1,
            kind_of.iter().map(|kind| i64::from(*kind)).collect()
        )
    );
    assert_eq!(result(3), &ElementRows::from_integers(NODES, 1, sums));
}

#[test]
fn gradients_are_differences() {
    let (data, world) = kinds(false);
    let made = compiled(HETERO, "hetero", &[], &data);
    let mut parameters = drawn(&made.traced.gir);
    let found = interpreted(&made.clean, &data, &world, &parameters);
    let loss = |parameters: &BTreeMap<String, Vec<f64>>| {
        interpreted(&made.traced.gir, &data, &world, parameters).loss
    };
    for (name, slopes) in &found.gradients {
        for (at, slope) in slopes.iter().enumerate() {
            let (before, step) = (parameters[name][at], 1e-6);
            let mut moved = |by: f64| {
                parameters.get_mut(name).unwrap()[at] = before + by;
                loss(&parameters)
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            moved(0.0);
            assert!(
                (difference - slope).abs() <= 1e-7,
                "{name} at {at}: {slope}, the difference is {difference}"
            );
        }
    }
    assert!(
        found
            .gradients
            .iter()
            .filter(|(name, _)| split_name(name).is_some())
            .any(|(_, slopes)| slopes.iter().any(|slope| slope.abs() > 1e-3))
    );
}

#[test]
fn dropout_draws_for_each_kind_apart_and_lists_draw_the_same() {
    let text = "def p(v):\n    v.d = dropout(v.x, 0.5)\n    return linear(v.d, v.classes, \
        bias=False) + linear(sum(u.d for u in v.innbs), v.classes)\n";
    let draw = |site: u32, probability: f64, row: u64, column: u64| {
        let drawn = number(100 + u64::from(site), (row * 1000 + column) as usize);
        if drawn < 2.0 * probability - 1.0 { 0.0 } else { 1.0 / (1.0 - probability) }
    };
    for sparse in [false, true] {
        let (data, world) = kinds(sparse);
        let made = compiled(text, "p", &[], &data);
        let sites: Vec<u32> = made
            .clean
            .nodes
            .iter()
            .filter_map(
                |node| if let Op::Dropout { site, .. } = node.op { Some(site) } else { None },
            )
            .collect();
        assert_eq!(sites.len(), 3, "{}", made.clean.print(None));
        assert!(sites[0] != sites[1] && sites[1] != sites[2] && sites[0] != sites[2], "{sites:?}");
        let parameters = drawn(&made.traced.gir);
        let mut run = Interpreter::new(&made.clean, &data, &world).unwrap();
        parameters.iter().for_each(|(name, values)| run.set_parameter(name, values).unwrap());
        run.training = true;
        run.draw = Some(Box::new(draw));
        run.run(1);
        let graph = ReferenceGraph {
            nodes: NODES as u64,
            source: world.source.clone(),
            target: world.target.clone(),
            weight: world.weight.clone(),
        };
        let inputs = Inputs {
            target: world.targets.as_ref().unwrap().values.reals(),
            training_rows: world.training_rows.clone(),
            parameters: parameters.clone(),
            edge_type: world.edge_type.clone(),
            kind_of_node: world.kind_of_node.clone(),
            features_of_kind: world
                .features_of_kind
                .iter()
                .map(|(kind, rows)| (*kind, rows.values.reals()))
                .collect(),
            ..Inputs::default()
        };
        let mut list = Reference::new(&made.list, &graph, inputs).unwrap();
        list.set_draw(Some(Box::new(move |dropout, row, column| {
            draw(dropout.site, dropout.probability, row, column)
        })));
        list.prepare();
        list.forward();
        near("loss", &[run.loss().unwrap()], &[list.loss()]);
        list.backward();
        for gradient in &made.clean.gradients {
            let Op::Parameter(index) = made.clean.node(gradient.of).op else {
                panic!("by parameters")
            };
            let name = &made.clean.parameters[index].name;
            near(
                name,
                &run.value(gradient.node).unwrap().values.reals(),
                list.get(&gradient_buffer(name)).unwrap(),
            );
        }
    }
}

/// All kinds as wide: `v.x` is rows, which may be anything's operands.
#[test]
fn kinds_of_one_width_have_rows() {
    let (mut data, mut world) = kinds(false);
    data.training = false;
    for kind in 0..3u32 {
        let rows = of_kind(kind).len();
        data.kinds[kind as usize].features = Some(2);
        world.features_of_kind.insert(
            kind,
            ElementRows::from_reals(
                rows,
                2,
                (0..2 * rows).map(|at| number(50 + u64::from(kind), at)).collect(),
            ),
        );
    }
    let text = "def p(v):\n    v.m = max(u.x for u in v.innbs)\n    return relu(v.x) + 1, v.x * \
        v.x, v.x @ param((2, 3)), v.m, v.x[..., 1], v.x\n";
    let gir = trace(text, "p", &BTreeMap::new(), &data).unwrap().gir;
    let mut plain = (Data { features: Some(2), kinds: Vec::new(), ..data.clone() }, world.clone());
    let mut rows = vec![0.0; 2 * NODES];
    for kind in 0..3u32 {
        for (place, node) in of_kind(kind).into_iter().enumerate() {
            (0..2).for_each(|column| {
                rows[2 * node + column] = world.features_of_kind[&kind].at(place, column).real()
            });
        }
    }
    (plain.1.features, plain.1.kind_of_node) =
        (Some(ElementRows::from_reals(NODES, 2, rows)), Vec::new());
    plain.1.features_of_kind.clear();
    let other = trace(text, "p", &BTreeMap::new(), &plain.0).unwrap().gir;
    let parameters = drawn(&other);
    assert_eq!(parameters, drawn(&gir));
    let results = |gir: &Gir, data: &Data, world: &World| {
        let mut run = Interpreter::new(gir, data, world).unwrap();
        parameters.iter().for_each(|(name, values)| run.set_parameter(name, values).unwrap());
        run.run(1);
        gir.results
            .iter()
            .map(|result| run.value(result.node).unwrap().clone())
            .collect::<Vec<ElementRows>>()
    };
    assert_eq!(results(&gir, &data, &world), results(&other, &plain.0, &plain.1));
}

/// What a program may do with the kinds themselves.
#[test]
fn kinds_are_compared_walked_over_and_counted() {
    let text = r#"
def p(v):
    v.named = where(v.kind == "author", 1, 0)
    v.numbered = sum(k * where(v.kind == k, 1, 0) for k in range(len(v.graph.kinds)))
    v.walked = sum(where(v.kind == k, param(()), 0.0) for k in v.graph.kinds)
    v.papers = count(u for u in v.innbs if u.kind == "paper")
    v.first = 0
    for k in v.graph.kinds:
        if k == "venue":
            v.first = v.first + 10
        if k in ("paper", "author"):
            v.first = v.first + 1
    return v.named, v.numbered, v.walked, v.papers, v.first, embedding(v.kind, 2), count(e for e in v.inedges if e.type == "written by")
"#;
    let (mut data, world) = kinds(false);
    data.training = false;
    let gir = trace(text, "p", &BTreeMap::new(), &data)
        .unwrap_or_else(|wrong| panic!("{}", wrong[0].render("p", text)))
        .gir;
    let names: Vec<&str> = gir.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "p.p.0.param.0.paper",
            "p.p.0.param.0.venue",
            "p.p.0.param.0.author",
            "p.p.0.embedding.0.weight"
        ]
    );
    assert_eq!(gir.parameters[3].shape, [3, 2]);
    let mut run = Interpreter::new(&gir, &data, &world).unwrap();
    let parameters = drawn(&gir);
    parameters.iter().for_each(|(name, values)| run.set_parameter(name, values).unwrap());
    run.run(1);
    let kinds = kind_of_node();
    let result = |at: usize| run.value(gir.results[at].node).unwrap().values.reals();
    assert_eq!(
        result(0),
        kinds.iter().map(|kind| f64::from(u8::from(*kind == 2))).collect::<Vec<f64>>()
    );
    assert_eq!(result(1), kinds.iter().map(|kind| f64::from(*kind)).collect::<Vec<f64>>());
    assert_eq!(
        result(2),
        kinds.iter().map(|kind| parameters[names[*kind as usize]][0]).collect::<Vec<f64>>()
    );
    let count = |passes: &dyn Fn(usize) -> bool| {
        (0..NODES)
            .map(|node| {
                (0..EDGES)
                    .filter(|edge| world.target[*edge] as usize == node && passes(*edge))
                    .count() as f64
            })
            .collect::<Vec<f64>>()
    };
    assert_eq!(result(3), count(&|edge| kinds[world.source[edge] as usize] == 0));
    assert_eq!(result(4), [12.0; NODES]);
    assert_eq!(
        result(5),
        kinds
            .iter()
            .flat_map(|kind| parameters[names[3]][2 * *kind as usize..][..2].to_vec())
            .collect::<Vec<f64>>()
    );
    assert_eq!(result(6), count(&|edge| world.edge_type[edge] == 1));
}

/// With features of all vertices, kinds change nothing of `v.x`.
#[test]
fn features_of_all_come_first() {
    let (mut data, _) = kinds(false);
    (data.features, data.training) = (Some(7), false);
    let gir =
        trace("def p(v):\n    return linear(v.x, 2), v.x + v.kind\n", "p", &BTreeMap::new(), &data)
            .unwrap()
            .gir;
    let names: Vec<&str> = gir.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    assert_eq!(names, ["p.p.0.linear.0.weight", "p.p.0.linear.0.bias"]);
}

#[test]
fn a_relation_has_a_short_name_too() {
    let (mut data, world) = kinds(false);
    data.training = false;
    let text = "def p(v):\n    return count(u for u in \
        v.innbs[\"http://example.org/schema#cites\"]), count(u for u in v.innbs[\"cites\"]), \
        v.indegree\n";
    let gir = trace(text, "p", &BTreeMap::new(), &data).unwrap().gir;
    let mut run = Interpreter::new(&gir, &data, &world).unwrap();
    run.run(1);
    let result = |at: usize| run.value(gir.results[at].node).unwrap();
    assert_eq!(result(0), result(1));
    assert_ne!(result(0), result(2));
}

#[test]
fn worlds_that_do_not_fit_are_refused() {
    let (data, world) = kinds(false);
    let gir = compiled(HETERO, "hetero", &[], &data).traced.gir;
    let refused = |change: &dyn Fn(&mut World)| {
        let mut world = world.clone();
        change(&mut world);
        Interpreter::new(&gir, &data, &world)
            .err()
            .map(|unfit| unfit.to_string())
            .unwrap_or_default()
    };
    assert_eq!(refused(&|_| {}), "");
    assert_eq!(
        refused(&|world| world.kind_of_node.clear()),
        "kinds of nodes: expected 14, found 0"
    );
    assert_eq!(
        refused(&|world| world.kind_of_node[3] = 3),
        "kind of a node: expected a number below 3, found 3"
    );
    assert!(
        refused(&|world| world.kind_of_node[0] = 1).starts_with("nodes of kind `paper`: expected")
    );
    assert_eq!(
        refused(&|world| drop(world.features_of_kind.remove(&2))),
        "features of kind 2: expected some, since the program reads them, found none"
    );
    let found = refused(&|world| world.features_of_kind.get_mut(&2).unwrap().columns = 3);
    assert!(found.starts_with("features of kind `author`: expected"), "{found}");
}
