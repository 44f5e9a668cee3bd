//! Random programs mean the same before and after each pass, and after the whole list: results,
//! loss, endings of loops, and gradients.
//!
//! Passes that keep every value are compared bit for bit (NaN with NaN), on programs with
//! infinities, NaN and zeros of both signs. Passes that round in another order are compared on tame
//! programs: 1e-9 of the value, and 1e-12 of the largest number that the program computes anywhere
//! (a small difference of large numbers has their error). 300 programs of each sort, the same every
//! time; `WARPLOOM_TEST_LONG=1` runs 10,000, others each time. A failure prints seed and size of
//! its program, and the program before and after.
use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use warploom_ir::interpret::{ElementRows, Ending, Interpreter, Values, World};
use warploom_ir::{Data, Gir, Op};
use warploom_optimize::autodiff::{differentiate, parameters};
use warploom_optimize::passes::{Numbers, PASSES, Pass, Stage, clean};
use warploom_test_support::draws::Draws;
use warploom_test_support::random_programs::{RandomProgram, SMALL, random_program};
use warploom_test_support::skips::is_long;

const SUPERSTEPS_MAX: u64 = 6;

fn programs() -> u32 {
    if is_long() { 10_000 } else { 300 }
}

/// What a program gives.
struct Given {
    results: Vec<ElementRows>,
    loss: Option<f64>,
    endings: Vec<Option<Ending>>,
    gradients: BTreeMap<String, ElementRows>,
    /// Largest finite number that it computes, and whether one is NaN. (Infinities come: the
    /// largest over nothing.)
    largest: f64,
    has_nan: bool,
}

fn given(gir: &Gir, data: &Data, world: &World, training: bool) -> Given {
    let draw = |site: u32, probability: f64, row: u64, column: u64| {
        let chance = (Draws::new(u64::from(site) << 40 | row << 20 | column).real() + 1.0) / 2.0;
        if chance < probability { 0.0 } else { 1.0 / (1.0 - probability) }
    };
    let mut run = Interpreter::new(gir, data, world).expect("program and world fit");
    for (index, parameter) in gir.parameters.iter().enumerate() {
        let mut draws = Draws::new(index as u64);
        let values: Vec<f64> =
            (0..parameter.shape.iter().product::<u64>()).map(|_| draws.real()).collect();
        run.set_parameter(&parameter.name, &values).expect("the program declares it");
    }
    run.training = training;
    run.draw = Some(Box::new(draw));
    let endings = run.run(SUPERSTEPS_MAX);
    let value = |id| run.value(id).cloned().unwrap_or_default();
    let name = |of| match gir.node(of).op {
        Op::Parameter(position) => gir.parameters[position].name.clone(),
        ref op => format!("{op:?}"),
    };
    let reals: Vec<f64> =
        gir.ids()
            .filter_map(|id| run.value(id))
            .flat_map(|rows| {
                if let Values::Real(values) = &rows.values { values.clone() } else { Vec::new() }
            })
            .collect();
    Given {
        results: gir.results.iter().map(|result| value(result.node)).collect(),
        loss: run.loss(),
        endings: endings.into_iter().flatten().map(Some).collect(),
        gradients: gir
            .gradients
            .iter()
            .map(|gradient| (name(gradient.of), value(gradient.node)))
            .collect(),
        largest: reals
            .iter()
            .filter(|value| value.is_finite())
            .fold(0.0, |largest, value| value.abs().max(largest)),
        has_nan: reals.iter().any(|value| value.is_nan()),
    }
}

/// How near two values must be.
#[derive(Clone, Copy)]
enum Near {
    Exact,
    Rounded { largest: f64 },
}

fn equal(near: Near, a: f64, b: f64) -> bool {
    let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    match near {
        Near::Exact => same,
        Near::Rounded { largest } => {
            same || a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-12 * largest
        }
    }
}

fn compare_rows(
    near: Near,
    what: &str,
    before: &ElementRows,
    after: &ElementRows,
) -> Result<(), String> {
    if (before.rows, before.columns) != (after.rows, after.columns) {
        return Err(format!(
            "{what} had {} x {} elements, and has {} x {}",
            before.rows, before.columns, after.rows, after.columns
        ));
    }
    for (index, (a, b)) in before.values.reals().into_iter().zip(after.values.reals()).enumerate() {
        if !equal(near, a, b) {
            return Err(format!("element {index} of {what} was {a:?}, and is {b:?}"));
        }
    }
    Ok(())
}

fn compare(near: Near, before: &Given, after: &Given) -> Result<(), String> {
    for (index, (a, b)) in before.results.iter().zip(&after.results).enumerate() {
        compare_rows(near, &format!("result {index}"), a, b)?;
    }
    if let (Some(a), Some(b)) = (before.loss, after.loss)
        && !equal(near, a, b)
    {
        return Err(format!("the loss was {a:?}, and is {b:?}"));
    }
    if (before.results.len(), before.loss.is_some()) != (after.results.len(), after.loss.is_some())
    {
        return Err("results or loss are others".to_owned());
    }
    for (name, a) in &before.gradients {
        match after.gradients.get(name) {
            Some(b) => compare_rows(near, &format!("gradient of {name}"), a, b)?,
            // A parameter that nothing reads has no leaf, once dead has run, and its gradient was
            // 0.
            None if a.values.reals().iter().all(|value| *value == 0.0) => {}
            None => return Err(format!("there is no gradient of {name}, which was {a:?}")),
        }
    }
    Ok(())
}

/// Compares two programs while training and while measuring.
fn check(
    what: &str,
    near: Numbers,
    case: &RandomProgram,
    before: &Gir,
    after: &Gir,
) -> Result<(), TestCaseError> {
    for training in [true, false] {
        if !training && !before.gradients.is_empty() {
            continue;
        }
        let (old, new) = (
            given(before, &case.data, &case.world, training),
            given(after, &case.data, &case.world, training),
        );
        let near = if near == Numbers::Kept {
            Near::Exact
        } else {
            Near::Rounded { largest: old.largest }
        };
        compare(near, &old, &new).map_err(|difference| {
            TestCaseError::fail(format!(
                "{what}, training {training}: {difference}\nbefore\n{}\nafter\n{}\nworld {:?}",
                before.print(None),
                after.print(None),
                case.world
            ))
        })?;
        // Unread loops are dropped, so the endings that are left are compared when their number is
        // the same.
        if old.endings.len() == new.endings.len() && old.endings != new.endings {
            return Err(TestCaseError::fail(format!(
                "{what}: loops ended {:?}, and end {:?}\nbefore\n{}\nafter\n{}",
                old.endings,
                new.endings,
                before.print(None),
                after.print(None)
            )));
        }
    }
    Ok(())
}

/// The program after the pass, and whether the pass did anything: took a choice, or left another
/// program when what is unread is swept.
fn passed(pass: &Pass, gir: &Gir, data: &Data) -> (Gir, bool) {
    let sweep = PASSES.iter().find(|pass| pass.name == "dead").expect("the list has it").run;
    let mut choices = Vec::new();
    let after = (pass.run)(gir.clone(), data, &mut choices);
    let swept = pass.name != "dead";
    let swept =
        |gir: &Gir| if swept { sweep(gir.clone(), data, &mut Vec::new()) } else { gir.clone() };
    let has_changed = if choices.is_empty() {
        swept(gir) != swept(&after)
    } else {
        choices.iter().any(|choice| choice.taken)
    };
    (after, has_changed)
}

/// Programs that each pass changed.
type Changed = RefCell<BTreeMap<&'static str, u32>>;

fn note(changed: &Changed, name: &'static str, has_changed: bool) {
    *changed.borrow_mut().entry(name).or_default() += u32::from(has_changed);
}

fn runs(pass: &Pass, gir: &Gir) -> bool {
    pass.stage != if gir.gradients.is_empty() { Stage::Gradients } else { Stage::Program }
}

fn with_gradients(case: &RandomProgram, gir: &Gir) -> Option<Gir> {
    gir.loss?;
    differentiate(gir.clone(), &case.data, &parameters(gir)).ok()
}

fn run_cases(
    test: impl Fn(u64, usize, &Changed) -> Result<(), TestCaseError>,
) -> BTreeMap<&'static str, u32> {
    let config = Config {
        cases: programs(),
        failure_persistence: None,
        max_global_rejects: 20 * programs(),
        ..Config::default()
    };
    let changed = Changed::default();
    let seeds = (proptest::num::u64::ANY, 1usize..24);
    // The short run has the same programs every time, the long one others each time.
    let mut runner = if is_long() {
        TestRunner::new(config)
    } else {
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    };
    let done = runner.run(&seeds, |(seed, size)| test(seed, size, &changed));
    if let Err(error) = done {
        panic!("{error}");
    }
    changed.into_inner()
}

fn check_that_all_changed(changed: &BTreeMap<&'static str, u32>, expected: &[&str]) {
    println!("of {} programs changed: {changed:?}", programs());
    for name in expected {
        let count = changed.get(name).copied().unwrap_or(0);
        assert!(
            count >= 2,
            "`{name}` changed {count} of {} programs: the generator does not reach it; all: \
             {changed:?}",
            programs()
        );
    }
}

#[test]
fn passes_that_keep_values_keep_every_bit() {
    let changed = run_cases(|seed, size, changed| {
        let case = random_program(seed, size, false, SMALL);
        for gir in [Some(case.gir.clone()), with_gradients(&case, &case.gir)].into_iter().flatten()
        {
            let mut chained = gir.clone();
            for pass in
                PASSES.iter().filter(|pass| pass.numbers == Numbers::Kept && runs(pass, &gir))
            {
                let (after, has_changed) = passed(pass, &gir, &case.data);
                note(changed, pass.name, has_changed);
                check(pass.name, Numbers::Kept, &case, &gir, &after)?;
                chained = passed(pass, &chained, &case.data).0;
            }
            check("all passes that keep values", Numbers::Kept, &case, &gir, &chained)?;
        }
        Ok(())
    });
    check_that_all_changed(&changed, &["fold", "simplify", "equal", "dead"]);
}

#[test]
fn all_passes_keep_meaning_and_gradients() {
    let changed = run_cases(|seed, size, changed| {
        let case = random_program(seed, size, true, SMALL);
        let sizes = given(&case.gir, &case.data, &case.world, true);
        let differentiated = with_gradients(&case, &case.gir);
        let slopes = differentiated.as_ref().map(|gir| given(gir, &case.data, &case.world, true));
        let tame = |given: &Given| given.largest < 1e6;
        if sizes.has_nan
            || !tame(&sizes)
            || slopes.is_some_and(|slopes| slopes.has_nan || !tame(&slopes))
        {
            return Err(TestCaseError::reject("numbers grow too large to be compared"));
        }
        for gir in [Some(&case.gir), differentiated.as_ref()].into_iter().flatten() {
            for pass in PASSES.iter().filter(|pass| runs(pass, gir)) {
                let (after, has_changed) = passed(pass, gir, &case.data);
                note(changed, pass.name, has_changed);
                check(pass.name, pass.numbers, &case, gir, &after)?;
                if let (true, Some(before), Some(after)) =
                    (gir.gradients.is_empty(), &differentiated, with_gradients(&case, &after))
                {
                    check(
                        &format!("gradients after {}", pass.name),
                        Numbers::Reordered,
                        &case,
                        before,
                        &after,
                    )?;
                }
            }
        }
        let (cleaned, _) = clean(case.gir.clone(), &case.data);
        check("the whole list", Numbers::Reordered, &case, &case.gir, &cleaned)?;
        if let (Some(before), Some(after)) = (&differentiated, with_gradients(&case, &cleaned)) {
            let (after, _) = clean(after, &case.data);
            check(
                "the whole list, gradients and the list again",
                Numbers::Reordered,
                &case,
                before,
                &after,
            )?;
        }
        Ok(())
    });
    check_that_all_changed(
        &changed,
        &[
            "fold",
            "simplify",
            "powers",
            "equal",
            "dead",
            "factor",
            "order",
            "guards",
            "forward_sums",
        ],
    );
}
