//! rounding_sensitivity: final parameters that rounding decides.
//!
//! promises  an element outside of the tolerance of f32 is excused only where training in f64 moves
//!           it as far, when the first parameters move by what f32 rounds; few of a tensor are.
//!           These trainings are the CPU's executor in f64, which `exact` and `golden` hold to the
//!           golden numbers: the reference takes twenty times as long
//!
//! In training a sum may come so near to 0 that its sign is rounding's: a leaky relu then has one
//! slope or the other, and the weights of that one column end elsewhere. In gatv2_odd this is row
//! 56 of both matrices: in f64, moved by at most 2^-21, they end just where they end in f32, 6.7e-5
//! away, while all others stay within 1.2e-5 of their tensor's largest.
use std::{cell::RefCell, collections::BTreeMap};

use warploom_launch::{Arena, LaunchList, parameter_buffer};
use warploom_run::resolved_program::{Part, Pass};
use warploom_test_support::golden_cases::GoldenCase;
use warploom_test_support::golden_models::ParameterPair;

use crate::golden::initial;
use crate::golden_lists::adam;
use warploom_test_support::list_runner::{ListInputs, buffer_values, cpu_executor, run_part};

/// One of so many elements of a tensor at most may be steep, and be so many times as far away as it
/// moves in f64.
const ONE_OF: usize = 50;
const TIMES: f64 = 2.0;
/// By how much of themselves first parameters are moved: what a sum of a few terms rounds in f32.
const MOVED_BY: [f64; 3] = [1.2e-7, 2.4e-7, 4.8e-7];
/// Draws of each.
const DRAWS: u32 = 6;

/// How far final parameters move: the furthest of the draws until now. A draw is a training in f64,
/// so that there are no more than are asked for.
pub struct Moves<'a> {
    case: &'a GoldenCase,
    twins: &'a [ParameterPair],
    given: (&'a ListInputs, &'a LaunchList),
    drawn: RefCell<Drawn>,
}

#[derive(Default)]
struct Drawn {
    /// Trainings that began with moved parameters.
    count: usize,
    /// Final parameters of the one that did not; empty before the first draw.
    still: BTreeMap<String, Vec<f64>>,
    moves: BTreeMap<String, Vec<f64>>,
}

impl<'a> Moves<'a> {
    pub fn new(
        case: &'a GoldenCase,
        twins: &'a [ParameterPair],
        given: (&'a ListInputs, &'a LaunchList),
    ) -> Self {
        Moves { case, twins, given, drawn: RefCell::default() }
    }

    /// What was got, with what was wanted in the place of steep elements.
    pub fn excused(
        &self,
        twin: &ParameterPair,
        (got, want): (&[f64], &[f64]),
        bound: f64,
    ) -> Vec<f64> {
        let outside: Vec<usize> = (0..want.len().min(got.len()))
            .filter(|at| (got[*at] - want[*at]).abs() > bound)
            .collect();
        let mut held = got.to_vec();
        if outside.is_empty() || outside.len() * ONE_OF > want.len().max(ONE_OF) {
            return held;
        }
        let drawn = &mut *self.drawn.borrow_mut();
        // The furthest only grows: who is excused already stays so.
        let is_excused = |drawn: &Drawn, at: usize| {
            drawn
                .moves
                .get(&twin.ours)
                .is_some_and(|moved| (got[at] - want[at]).abs() <= TIMES * moved[at])
        };
        while !outside.iter().all(|at| is_excused(drawn, *at)) && self.draw(drawn) {}
        for at in outside.into_iter().filter(|at| is_excused(drawn, *at)) {
            let (apart, moved) = ((got[at] - want[at]).abs(), drawn.moves[&twin.ours][at]);
            println!(
                "{} (f32): {}[{at}] is steep: {apart:.1e} apart, in f64 it moves {moved:.1e}",
                self.case.name, twin.ours
            );
            held[at] = want[at];
        }
        held
    }

    /// One more training; whether there was one.
    fn draw(&self, drawn: &mut Drawn) -> bool {
        let first = initial(self.case, self.twins);
        if drawn.still.is_empty() {
            drawn.still = self.trained(&first);
            drawn.moves = drawn
                .still
                .iter()
                .map(|(name, values)| (name.clone(), vec![0.0; values.len()]))
                .collect();
        }
        let mut all = (0..DRAWS).flat_map(|draw| MOVED_BY.map(|by| (draw, by)));
        let Some((draw, by)) = all.nth(drawn.count) else { return false };
        drawn.count += 1;
        let mut count = 0u32;
        let mut chance = || {
            count += 1;
            let word = count.wrapping_add(draw << 20).wrapping_mul(0x9e37_79b9);
            f64::from((word ^ (word >> 15)).wrapping_mul(0x85eb_ca6b)) / f64::from(u32::MAX) - 0.5
        };
        let near = first.iter().map(|(name, values)| {
            (name.clone(), values.iter().map(|value| value * (1.0 + 2.0 * by * chance())).collect())
        });
        for (name, values) in self.trained(&near.collect()) {
            let furthest = drawn.moves.get_mut(&name).expect("the same parameters").iter_mut();
            furthest.zip(values.iter().zip(&drawn.still[&name])).for_each(
                |(furthest, (near, still))| *furthest = furthest.max((near - still).abs()),
            );
        }
        true
    }

    /// Final parameters of a training in f64 that begins with these.
    fn trained(&self, first: &BTreeMap<String, Vec<f64>>) -> BTreeMap<String, Vec<f64>> {
        let (direct, list) = self.given;
        // Its arena may be of f32: here every buffer lies by itself.
        let list = &LaunchList { arena: Arena::default(), ..list.clone() };
        let mut executor = cpu_executor::<f64>(list, direct.data(list), 0);
        executor
            .set_parameters(
                &list
                    .parameters
                    .iter()
                    .map(|parameter| first[&parameter.name].clone())
                    .collect::<Vec<_>>(),
            )
            .unwrap();
        executor.set_optimizers(vec![adam(self.case); list.parameters.len()]).unwrap();
        let mut run = |part: Part, epoch: u64| {
            run_part(&mut executor, list, part, Pass { epoch, training: true })
        };
        run(Part::Prepare, 0);
        for epoch in 0..self.case.steps() {
            [Part::Forward, Part::Loss, Part::Backward, Part::Update]
                .into_iter()
                .for_each(|part| run(part, epoch));
        }
        let values = |twin: &ParameterPair| {
            buffer_values(&executor, list, &parameter_buffer(&twin.ours)).unwrap()
        };
        self.twins.iter().map(|twin| (twin.ours.clone(), values(twin))).collect()
    }
}
