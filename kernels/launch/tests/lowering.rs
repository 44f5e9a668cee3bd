//! Random programs mean the same as programs and as launch lists: results, loss and gradients, by
//! the interpreter and by the reference executor. Both are in f64 and add in the same order, so
//! that values are equal bit for bit, but for sparse products, which leave zeros out. 300 programs;
//! `WARPLOOM_TEST_LONG=1` runs 10,000.
use std::collections::BTreeMap;

use warploom_compiler::compile;
use warploom_ir::interpret::{ElementRows, Ending, Interpreter, World};
use warploom_ir::{Data, EdgeSet, Gir, Op, Place};
use warploom_launch::lower::lower;
use warploom_launch::reference::{Inputs, Reference, ReferenceGraph};
use warploom_launch::{LaunchList, gradient_buffer};
use warploom_optimize::autodiff::{differentiate, parameters};
use warploom_optimize::passes::clean;
use warploom_test_support::draws::Draws;
use warploom_test_support::random_programs::{RandomProgram, SMALL, random_program};
use warploom_test_support::skips::is_long;

const SUPERSTEPS_MAX: u64 = 6;

fn programs() -> u64 {
    if is_long() { 10_000 } else { 300 }
}

fn factor(site: u32, probability: f64, row: u64, column: u64) -> f64 {
    let chance = (Draws::new(u64::from(site) << 40 | row << 20 | column).real() + 1.0) / 2.0;
    if chance < probability { 0.0 } else { 1.0 / (1.0 - probability) }
}

fn first_parameters(gir: &Gir) -> BTreeMap<String, Vec<f64>> {
    let of = |index: usize, count: u64| {
        let mut draws = Draws::new(index as u64);
        (0..count).map(|_| draws.real()).collect()
    };
    gir.parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            (parameter.name.clone(), of(index, parameter.shape.iter().product()))
        })
        .collect()
}

fn inputs(world: &World, gir: &Gir) -> Inputs {
    let reals = |rows: &Option<ElementRows>| {
        rows.as_ref().map_or_else(Vec::new, |rows| rows.values.reals())
    };
    Inputs {
        features: reals(&world.features),
        target: reals(&world.targets),
        training_rows: world.training_rows.clone(),
        parameters: first_parameters(gir),
        artifact_rows: world.artifact_rows.clone(),
        edge_type: world.edge_type.clone(),
        chosen: world.chosen.clone(),
        edge_features: reals(&world.edge_features),
        columns: world
            .columns
            .iter()
            .map(|(name, rows)| (name.clone(), rows.values.reals()))
            .collect(),
        graph_of_node: world.graph_of_node.clone(),
        kind_of_node: world.kind_of_node.clone(),
        features_of_kind: world
            .features_of_kind
            .iter()
            .map(|(kind, rows)| (*kind, rows.values.reals()))
            .collect(),
    }
}

fn graph(world: &World) -> ReferenceGraph {
    ReferenceGraph {
        nodes: world.nodes as u64,
        source: world.source.clone(),
        target: world.target.clone(),
        weight: world.weight.clone(),
    }
}

fn same(what: &str, expected: &[f64], found: &[f64], context: &dyn Fn() -> String) {
    assert_eq!(expected.len(), found.len(), "{what}: number of elements\n{}", context());
    let apart = expected.iter().zip(found).position(|(a, b)| {
        !(a == b
            || (a.is_nan() && b.is_nan())
            || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0))
    });
    if let Some(at) = apart {
        panic!(
            "{what}: element {at} is {:?}, expected {:?}\n{}",
            found[at],
            expected[at],
            context()
        );
    }
}

/// A result as the list has it: one row a node, or one a graph where the table is of graphs, or a
/// row an edge.
fn at_rest(world: &World, (place, of_table): (Place, Place), rows: &ElementRows) -> Vec<f64> {
    let values = rows.values.reals();
    let row = |row: usize| values[row * rows.columns..(row + 1) * rows.columns].to_vec();
    match place {
        Place::C | Place::P => (0..world.rows(of_table)).flat_map(|_| row(0)).collect(),
        Place::G if of_table == Place::D => {
            (0..world.nodes).flat_map(|vertex| row(world.graph_of(vertex))).collect()
        }
        _ => values,
    }
}

/// Compares a program with its list. Gives whether there was something to compare.
fn check(gir: &Gir, data: &Data, world: &World) -> bool {
    let Ok(list) = lower(gir, data) else { return false };
    let context = || format!("{}\n{}", gir.print(None), list.render());
    if let Err(flaws) = list.validate() {
        let shown: Vec<String> = flaws.iter().map(ToString::to_string).collect();
        panic!("{}\n{}", shown.join("\n"), context());
    }
    let text = serde_json::to_string(&list).unwrap();
    assert_eq!(
        serde_json::from_str::<LaunchList>(&text).unwrap(),
        list,
        "the list reads back equal"
    );
    let mut interpreter = Interpreter::new(gir, data, world).unwrap();
    for (name, values) in first_parameters(gir) {
        interpreter.set_parameter(&name, &values).unwrap();
    }
    interpreter.training = data.training;
    interpreter.draw = Some(Box::new(factor));
    let endings = interpreter.run(SUPERSTEPS_MAX);
    if endings.iter().any(|ending| ending.is_none_or(|ending| !ending.converged)) {
        return false;
    }
    let graph = graph(world);
    let mut reference = Reference::new(&list, &graph, inputs(world, gir))
        .unwrap_or_else(|error| panic!("{error}\n{}", context()));
    if data.training {
        reference.set_draw(Some(Box::new(|dropout, row, column| {
            factor(dropout.site, dropout.probability, row, column)
        })));
    }
    reference.prepare();
    if data.training {
        reference.forward();
        let loss = reference.loss();
        same("loss", &[interpreter.loss().unwrap()], &[loss], &context);
        reference.backward();
        for gradient in &gir.gradients {
            let Op::Parameter(index) = gir.node(gradient.of).op else { continue };
            let found = reference.get(&gradient_buffer(&gir.parameters[index].name)).unwrap();
            same(
                &format!("gradient of {}", gir.parameters[index].name),
                &interpreter.value(gradient.node).unwrap().values.reals(),
                found,
                &context,
            );
        }
    } else {
        assert!(
            reference.iterate(SUPERSTEPS_MAX * endings.len() as u64).converged,
            "{}",
            context()
        );
    }
    let places = gir
        .results
        .iter()
        .filter(|result| result.edges.is_none())
        .map(|result| gir.node(result.node).place);
    let of_table = if data.training { data.target_place() } else { data.place_of_results(places) };
    for (result, column) in gir.results.iter().zip(&list.results) {
        let expected = at_rest(
            world,
            (gir.node(result.node).place, of_table),
            interpreter.value(result.node).unwrap(),
        );
        same(
            &format!("result {}", result.name),
            &expected,
            reference.get(&column.buffer).unwrap(),
            &context,
        );
    }
    true
}

/// The forms that a program takes on its way: as it is, cleaned, with gradients, and cleaned again.
fn forms(case: &RandomProgram) -> Vec<(Gir, Data)> {
    let plain = Data { training: case.gir.loss.is_some(), ..case.data.clone() };
    let mut untrained = case.gir.clone();
    // Without the loss, and what is learned held fast, there may be loops.
    (untrained.loss, untrained.updates) = (None, Vec::new());
    let lists = [EdgeSet::IN, EdgeSet::BOTH];
    for result in &mut untrained.results {
        let rows = case.gir.node(result.node).place.edge_rows();
        result.edges = lists.into_iter().find(|edges| Some(edges.rows()) == rows);
    }
    let still = Data { training: false, ..plain.clone() };
    let mut forms = vec![
        (clean(untrained.clone(), &still).0, still.clone()),
        (untrained, still),
        (case.gir.clone(), plain.clone()),
        (clean(case.gir.clone(), &plain).0, plain.clone()),
    ];
    if case.gir.loss.is_some()
        && let Ok(slopes) = differentiate(case.gir.clone(), &plain, &parameters(&case.gir))
    {
        forms.push((clean(slopes.clone(), &plain).0, plain.clone()));
        forms.push((slopes, plain));
    }
    forms
}

#[test]
fn programs_and_their_lists_mean_the_same() {
    let (mut compared, mut with_gradients, mut with_loops) = (0, 0, 0);
    for seed in 0..programs() {
        let mut case = random_program(seed, 1 + (seed % 24) as usize, true, SMALL);
        // The features of a kind may be kept sparse, whatever they are.
        case.data.kinds[0].sparse_features =
            (seed % 3 == 0).then_some(case.data.kinds[0].nodes * 3);
        for (gir, data) in forms(&case) {
            if check(&gir, &data, &case.world) {
                compared += 1;
                with_gradients += u64::from(!gir.gradients.is_empty());
                with_loops += u64::from(!gir.loops.is_empty());
            }
        }
    }
    println!("{compared} lists compared, {with_gradients} with gradients, {with_loops} with loops");
    assert!(
        compared > programs() / 2
            && with_gradients > programs() / 20
            && with_loops > programs() / 50,
        "{compared} {with_gradients} {with_loops}"
    );
}

/// What `active` tests: a state as it was before the pass, exchanged or kept, and what no pass
/// changes once both sides of a choice are known to be equal.
#[test]
fn conditions_are_those_of_the_interpreter() {
    let of_pass = |pass: &str, condition: &str| {
        format!(
            "def ends(v):\n    v.a, v.b, v.count = v.id == 0, v.id == 9, 0\n    \
             while active({condition}):\n        v.count = v.count + 1\n        {pass}\n    \
             return v.count, v.a\n"
        )
    };
    for (text, supersteps, converged) in [
        (of_pass("v.a, v.b = v.b, v.a", "v.a"), 1, true),
        (of_pass("v.kept, v.a = v.a, v.b and v.a", "v.kept"), 2, true),
        (of_pass("v.a = (v.degree if v.a else v.degree) > 2", "v.a"), 1, true),
        (of_pass("v.a = (v.degree if v.a else v.degree) > 1", "v.a"), SUPERSTEPS_MAX, false),
    ] {
        let (data, world) = (Data::bare(4, 3), World::bare(4, vec![0, 1, 2], vec![1, 2, 3]));
        let made = compile(&text, "ends", &BTreeMap::new(), &data).unwrap();
        let graph = graph(&world);
        for list in [&made.apart, &made.list] {
            let mut reference = Reference::new(list, &graph, Inputs::default()).unwrap();
            reference.prepare();
            let ending = reference.iterate(SUPERSTEPS_MAX);
            assert_eq!(ending, Ending { supersteps, converged }, "{text}{}", list.render());
        }
        let mut interpreter = Interpreter::new(&made.traced.gir, &data, &world).unwrap();
        let ending = interpreter.run(SUPERSTEPS_MAX)[0].unwrap();
        assert_eq!(ending, Ending { supersteps, converged }, "{text}");
    }
}
