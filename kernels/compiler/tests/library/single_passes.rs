//! single_passes: every program of the library after each single pass, and every model's gradients
//! by differences of its own loss.
//!
//! promises  a pass that keeps numbers keeps every bit of results, loss and gradients, another one
//!           keeps them to 1e-9 of the largest; dropout is on, drawn from its place
use std::collections::BTreeMap;

use serde_json::{Value, json};
use warploom_ir::interpret::{Interpreter, World};
use warploom_ir::{Data, Gir};
use warploom_language::trace::trace;
use warploom_optimize::autodiff;
use warploom_optimize::passes::{Numbers, PASSES, Stage};
use warploom_test_support::golden_cases::Edges;

use super::degenerate::{dropped, of_pipeline, relations};
use warploom_test_support::draws::{drawn, mixed};
use warploom_test_support::library_programs::{
    ANALYTICS, MODELS, Route, bare, chosen, compile, problem, start, text,
};

/// A graph with parallel edges, self loops and vertices without edges.
fn graph() -> Edges {
    let edges: Vec<(u32, u32)> = (0..60)
        .map(|edge| ((mixed(2 * edge) % 15) as u32, (mixed(2 * edge + 1) % 15) as u32))
        .collect();
    Edges {
        weight: Some((0..edges.len()).map(|edge| 1.2 + drawn(5, edge)).collect()),
        ..Edges::new(17, &edges)
    }
}

/// The problem of a program, small enough to be computed often.
fn setting(name: &str) -> (Data, World, Value) {
    let edges = graph();
    let (mut data, mut world) =
        if MODELS.contains(&name) { problem(&edges, 4, 3) } else { bare(&edges) };
    data.relations = relations();
    world.edge_type = (0..edges.source.len() as u32).map(|edge| edge % 2).collect();
    let mut settings = of_pipeline(name);
    let small = [("hidden", 5), ("heads", 2), ("layers", 2)];
    let given = settings.as_object_mut().unwrap();
    small
        .into_iter()
        .filter(|(setting, _)| given.contains_key(*setting))
        .collect::<Vec<_>>()
        .into_iter()
        .for_each(|(setting, value)| {
            given.insert(setting.to_owned(), json!(value));
        });
    world.chosen = chosen(name, &settings.as_object().unwrap().clone().into_iter().collect());
    (data, world, settings)
}

/// Results, loss and gradients, by name.
fn values(gir: &Gir, data: &Data, world: &World) -> Vec<(String, Vec<f64>)> {
    let mut run = Interpreter::new(gir, data, world).unwrap();
    run.training = data.training;
    run.draw = Some(Box::new(dropped));
    for (parameter, values) in start(gir) {
        run.set_parameter(&parameter, &values).unwrap();
    }
    run.run(10_000);
    let mut found: Vec<(String, Vec<f64>)> = gir
        .results
        .iter()
        .map(|result| (result.name.clone(), run.value(result.node).unwrap().values.reals()))
        .collect();
    found.extend(run.loss().map(|loss| ("loss".to_owned(), vec![loss])));
    let gradient = |(number, gradient): (usize, &warploom_ir::Gradient)| {
        (format!("gradient {number}"), run.value(gradient.node).unwrap().values.reals())
    };
    found.extend(gir.gradients.iter().enumerate().map(gradient));
    found
}

fn assert_same(
    what: &str,
    numbers: Numbers,
    before: &[(String, Vec<f64>)],
    after: &[(String, Vec<f64>)],
) {
    assert_eq!(before.len(), after.len(), "{what}");
    // Some gradients are 0 by the mathematics and noise by rounding: the scale is that of all
    // values together.
    let scale = before
        .iter()
        .flat_map(|(_, values)| values)
        .filter(|value| value.is_finite())
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for ((name, before), (_, after)) in before.iter().zip(after) {
        let same = |(a, b): (&f64, &f64)| match numbers {
            Numbers::Kept => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            Numbers::Reordered => a == b || (a - b).abs() <= 1e-9 * scale,
        };
        assert!(
            before.len() == after.len() && before.iter().zip(after).all(same),
            "{what}: {name}: {before:?} and {after:?}"
        );
    }
}

/// Runs the passes of a round one after the other and compares after each.
fn round(name: &str, mut gir: Gir, (data, world): (&Data, &World), left_out: Stage) -> Gir {
    let mut before = values(&gir, data, world);
    for pass in PASSES.iter().filter(|pass| pass.stage != left_out) {
        gir = (pass.run)(gir, data, &mut Vec::new());
        let after = values(&gir, data, world);
        assert_same(&format!("{name} after {}", pass.name), pass.numbers, &before, &after);
        before = after;
    }
    gir
}

#[test]
fn every_program_means_the_same_after_each_pass() {
    for name in MODELS.iter().chain(&ANALYTICS) {
        let (data, world, settings) = setting(name);
        let settings: BTreeMap<String, Value> =
            settings.as_object().unwrap().clone().into_iter().collect();
        let traced = trace(&text(name), name, &settings, &data).unwrap().gir;
        let cleaned = round(name, traced, (&data, &world), Stage::Gradients);
        if cleaned.loss.is_some() {
            let by = autodiff::parameters(&cleaned);
            let differentiated = autodiff::differentiate(cleaned, &data, &by).unwrap();
            round(name, differentiated, (&data, &world), Stage::Program);
        }
    }
}

#[test]
fn gradients_of_every_model_are_central_differences() {
    for name in MODELS {
        let (data, world, settings) = setting(name);
        let compiled = compile(name, &settings, &data, Route::Cleaned);
        let loss_at = |step: f64| {
            let mut run = Interpreter::new(&compiled.gir, &data, &world).unwrap();
            run.training = true;
            run.draw = Some(Box::new(dropped));
            let mut along = 0.0;
            for (number, (parameter, mut values)) in start(&compiled.gir).into_iter().enumerate() {
                let direction: Vec<f64> =
                    (0..values.len()).map(|index| drawn(900 + number as u64, index)).collect();
                values
                    .iter_mut()
                    .zip(&direction)
                    .for_each(|(value, direction)| *value += step * direction);
                run.set_parameter(&parameter, &values).unwrap();
            }
            run.run(1);
            for (number, (parameter, _)) in start(&compiled.gir).iter().enumerate() {
                let gradient = compiled.gradient(&run, parameter).unwrap();
                along += gradient
                    .iter()
                    .enumerate()
                    .map(|(index, slope)| slope * drawn(900 + number as u64, index))
                    .sum::<f64>();
            }
            (run.loss().unwrap(), along)
        };
        let step = 1e-6;
        let (slope, difference) =
            (loss_at(0.0).1, (loss_at(step).0 - loss_at(-step).0) / (2.0 * step));
        assert!(
            (slope - difference).abs() <= 1e-6 * (1.0 + difference.abs()),
            "{name}: {slope} along a direction, central difference {difference}"
        );
        assert!(slope.abs() > 1e-6, "{name}: a slope of {slope} proves nothing");
    }
}
