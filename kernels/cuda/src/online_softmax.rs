//! online_softmax: sums that are taken while the maximum score is still running.
//!
//! promises  a maximum is online only if every reduction of its pass that depends on it adds terms
//!           with `exp(score - maximum)` as a factor exactly once, so that a larger score found
//!           later is one factor of the partial sum; for each such sum, which of its elements is
//!           multiplied with which score's factor
//! never     changes a step; accepts a sum that needs the maximum in any other way (that sum waits
//!           for the pass)
//!
//! This is the one-pass softmax of Milakov & Gimelshein (2018): edges are read once instead of
//! three times.
use std::collections::BTreeSet;

use super::GpuTarget;
use super::walk_steps::{At, From, Input, Level, Read, Step, Walk};
use warploom_ir::{Binary, Number, Op, Reduction, Type, Unary, broadcast};
use warploom_launch::{LaunchList, reduced};

use super::lane_layout::broadcast_elements;

/// A maximum score that sums do not wait for.
#[derive(Clone, Debug)]
pub(super) struct OnlineMaximum {
    /// The reduction that finds it.
    pub largest: usize,
    /// The score of an edge.
    pub score: Read,
    /// The step that is `exp(score - largest)`.
    pub exponential: usize,
    /// Sums with that factor, and for each of their elements the element of the score.
    pub sums: Vec<(usize, Vec<u32>)>,
}

/// How a term depends on the factor.
enum Factor {
    /// The term does not depend on the maximum score.
    Free,
    /// The factor occurs once: its element, for each requested element.
    Once(Vec<u32>),
    /// Any other dependence.
    Other,
}

/// Finds online maxima, and recounts the passes that each step waits for.
pub(super) fn find_online_maxima(walk: &mut Walk) {
    let largest: Vec<usize> = (0..walk.steps.len())
        .filter(|number| matches!(walk.steps[*number].op, Op::Reduce(Reduction::Maximum, _)))
        .collect();
    for number in largest {
        let Some(found) = match_softmax(walk, number) else { continue };
        let mut tried = walk.clone();
        tried.running.push(found);
        count_passes(&mut tried);
        let last = tried.running.len() - 1;
        if let Some(sums) = find_rescalable_sums(&tried, &tried.running[last]) {
            tried.running[last].sums = sums;
            *walk = tried;
        }
    }
}

/// The names of exponentials that belong to an online maximum. Other launches that recompute them
/// know by this that the argument is at most 0.
pub(super) fn find_softmax_exponentials(list: &LaunchList, target: GpuTarget) -> BTreeSet<String> {
    let walks = list
        .launches()
        .into_iter()
        .filter_map(|launch| Walk::from_operation(list, target.bytes_per_real, &launch.operation));
    let of_walk = |walk: Walk| {
        walk.running
            .iter()
            .map(|running| plain(&walk.steps[running.exponential].out).to_owned())
            .collect::<Vec<String>>()
    };
    walks.flat_map(of_walk).collect()
}

/// Marks the steps that are softmax exponentials.
pub(super) fn mark_softmax_exponentials(walk: &mut Walk, shares: &BTreeSet<String>) {
    walk.steps.iter_mut().for_each(|step| {
        step.is_share = step.op == Op::Unary(Unary::Exp) && shares.contains(plain(&step.out))
    });
}

/// The name of a value without the suffix of a recomputed copy.
fn plain(name: &str) -> &str {
    name.strip_suffix(".again").unwrap_or(name)
}

/// The step that a read refers to.
fn step_of(input: &Input) -> Option<usize> {
    match input {
        Input::Rows(Read { from: From::Step(number), .. }) => Some(*number),
        _ => None,
    }
}

fn is_number(input: &Input, wanted: f64) -> bool {
    matches!(input, Input::Number(number) if number.real() == wanted)
}

/// The score and the exponential that belong to a maximum, if the steps are a softmax as the
/// language lowers it.
fn match_softmax(walk: &Walk, largest: usize) -> Option<OnlineMaximum> {
    let step = &walk.steps[largest];
    let [input @ Input::Rows(score)] = step.inputs.as_slice() else { return None };
    let of = step_of(input)?;
    let is_plain =
        step.kind == Type::Real && walk.steps[of].level == Level::Edge && score.at == At::Own;
    let relation = if let Op::Reduce(_, edges) = step.op { edges.relation } else { None };
    if !is_plain || relation.is_some() || walk.steps[of].columns() != step.columns() {
        return None;
    }
    let readers = |of: usize| {
        (0..walk.steps.len()).filter(move |number| {
            walk.steps[*number]
                .inputs
                .iter()
                .flat_map(Input::reads)
                .any(|read| read.from == From::Step(of))
        })
    };
    let is_none = |number: &usize| {
        let Step { op, inputs, level, .. } = &walk.steps[*number];
        *level == Level::Row
            && *op == Op::Binary(Binary::Equal)
            && inputs.iter().any(|input| is_number(input, f64::NEG_INFINITY))
    };
    let is_empty = readers(largest).find(is_none)?;
    let is_shift = |number: &usize| {
        let Step { op, inputs, level, .. } = &walk.steps[*number];
        *level == Level::Row
            && *op == Op::Select
            && step_of(&inputs[0]) == Some(is_empty)
            && is_number(&inputs[1], 0.0)
            && step_of(&inputs[2]) == Some(largest)
    };
    let shift = readers(largest).find(is_shift)?;
    let is_difference = |number: &usize| {
        let Step { op, inputs, level, shape, .. } = &walk.steps[*number];
        *level == Level::Edge
            && *op == Op::Binary(Binary::Subtract)
            && step_of(&inputs[0]) == Some(of)
            && step_of(&inputs[1]) == Some(shift)
            && shape.iter().product::<u64>() as usize == step.columns()
    };
    let difference = readers(shift).find(is_difference)?;
    let is_exponential = |number: &usize| {
        walk.steps[*number].op == Op::Unary(Unary::Exp) && walk.steps[*number].level == Level::Edge
    };
    let exponential = readers(difference).find(is_exponential)?;
    (readers(difference).count() == 1).then(|| OnlineMaximum {
        largest,
        score: score.clone(),
        exponential,
        sums: Vec::new(),
    })
}

/// Counts the passes that each step waits for. The exponential of an online maximum waits only for
/// what its score waits for.
fn count_passes(walk: &mut Walk) {
    for number in 0..walk.steps.len() {
        let step = &walk.steps[number];
        let waits = step.inputs.iter().flat_map(Input::reads).filter_map(|read| {
            if let From::Step(number) = read.from { Some(number) } else { None }
        });
        let mut passes = waits.map(|number| walk.steps[number].passes).max().unwrap_or(0)
            + usize::from(reduced(&step.op).is_some());
        if let Some(running) = walk.running.iter().find(|running| running.exponential == number)
            && let From::Step(score) = running.score.from
        {
            passes = walk.steps[score].passes;
        }
        walk.steps[number].passes = passes;
    }
}

/// The sums of the pass that have the factor once; none if another reduction of the pass depends on
/// the maximum.
fn find_rescalable_sums(walk: &Walk, running: &OnlineMaximum) -> Option<Vec<(usize, Vec<u32>)>> {
    let pass = walk.steps[running.largest].passes;
    let mut depends = vec![false; walk.steps.len()];
    for number in 0..walk.steps.len() {
        let reads = walk.steps[number].inputs.iter().flat_map(Input::reads);
        depends[number] = number == running.largest
            || reads.into_iter().any(|read| matches!(read.from, From::Step(of) if depends[of]));
    }
    let mut found = Vec::new();
    let in_pass = |number: &usize| {
        *number != running.largest && depends[*number] && walk.steps[*number].passes == pass
    };
    for number in (0..walk.steps.len()).filter(in_pass) {
        let step = &walk.steps[number];
        let Op::Reduce(reduction, _) = step.op else { continue };
        let is_sum = reduction == Reduction::Sum && step.kind == Type::Real;
        let is_masked_by_it = step.inputs[1..]
            .iter()
            .flat_map(Input::reads)
            .any(|read| matches!(read.from, From::Step(of) if depends[of]));
        let elements: Vec<u32> = (0..step.columns() as u32).collect();
        let message = broadcast_elements(&elements.into(), &step.shape, &step.inputs[0].shape());
        match find_factor(walk, running, &depends, &step.inputs[0], &message) {
            Factor::Once(elements) if is_sum && !is_masked_by_it => found.push((number, elements)),
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The factor in the elements of an operand.
fn find_factor(
    walk: &Walk,
    running: &OnlineMaximum,
    depends: &[bool],
    input: &Input,
    elements: &[u32],
) -> Factor {
    let part = |outer: &[u64], inner: &Input| {
        let elements = broadcast_elements(&elements.to_vec().into(), outer, &inner.shape());
        find_factor(walk, running, depends, inner, &elements)
    };
    let number = match input {
        Input::Number(_) => return Factor::Free,
        Input::Times(first, second) => {
            let outer = broadcast(&first.shape(), &second.shape()).unwrap_or_default();
            return multiply_factors(part(&outer, first), part(&outer, second));
        }
        Input::Rows(Read { from: From::Leaf(_), .. }) => return Factor::Free,
        Input::Rows(Read { from: From::Step(number), .. }) => *number,
    };
    let step = &walk.steps[number];
    if number == running.exponential {
        return Factor::Once(elements.to_vec());
    }
    if !depends[number] {
        return Factor::Free;
    }
    if step.level == Level::Row {
        return Factor::Other;
    }
    let of_input = |number: usize| part(&step.shape, &step.inputs[number]);
    match &step.op {
        Op::Unary(Unary::Negative) | Op::Dropout { .. } | Op::Reshape | Op::Expand | Op::Detach => {
            of_input(0)
        }
        Op::Binary(Binary::Multiply) => multiply_factors(of_input(0), of_input(1)),
        Op::Binary(Binary::Divide) => match (of_input(0), of_input(1)) {
            (once, Factor::Free) => once,
            _ => Factor::Other,
        },
        Op::Binary(Binary::Add | Binary::Subtract) => require_equal(of_input(0), of_input(1)),
        Op::Select if matches!(of_input(0), Factor::Free) => {
            let is_zero =
                |number: usize| matches!(&step.inputs[number], Input::Number(Number::Real(0.0)));
            match (is_zero(1), is_zero(2)) {
                (true, _) => of_input(2),
                (_, true) => of_input(1),
                _ => require_equal(of_input(1), of_input(2)),
            }
        }
        _ => Factor::Other,
    }
}

fn multiply_factors(first: Factor, second: Factor) -> Factor {
    match (first, second) {
        (Factor::Free, other) | (other, Factor::Free) => other,
        _ => Factor::Other,
    }
}

/// Both operands with the same factor.
fn require_equal(first: Factor, second: Factor) -> Factor {
    match (first, second) {
        (Factor::Once(first), Factor::Once(second)) if first == second => Factor::Once(first),
        (Factor::Free, Factor::Free) => Factor::Free,
        _ => Factor::Other,
    }
}
