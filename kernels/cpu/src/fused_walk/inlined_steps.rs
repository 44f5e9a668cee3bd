//! inlined_steps: steps computed inside the one that reads them: a comparison inside a select or
//! inside a reduction that it masks, and a product of two rows inside the sum along them (a dot
//! product). Their results are never stored.
//!
//! promises  selects and masks are bit-exact; sums add in the order of `gather::dots`
//! never     inlines a step that is stored, or that another operator reads
use pulp::{Arch, Simd, WithSimd};
use warploom_ir::{Binary, Op, Pooling, Type};

use super::Level;
use super::operands::{
    Compared, OperandLayout, Origin, Resolved, RowChoice, RowOperand, StepMethod,
};
use crate::Real;
use crate::chunk_arithmetic::Source;

/// Inlines comparisons into selects and products into sums; returns for each step whether it was
/// inlined.
pub(super) fn inline<T: Real>(steps: &mut [Resolved<T>]) -> Vec<bool> {
    let mut left_out: Vec<bool> = (0..steps.len())
        .map(|number| is_for_choices(steps, number) || is_for_masks(steps, number))
        .collect();
    for number in 0..steps.len() {
        if let Some(compared) = condition(&steps[number])
            .or(mask(&steps[number]))
            .filter(|compared| left_out[*compared])
        {
            let Resolved { op: Op::Binary(operator), inputs, .. } = &steps[compared] else {
                continue;
            };
            steps[number].compared = Some(Compared {
                operator: *operator,
                inputs: [inputs[0].clone(), inputs[1].clone()],
            });
        }
    }
    for number in 0..steps.len() {
        if let Some(product) = summed_product(steps, number) {
            let factors = steps[product].inputs.concat();
            steps[number].inputs = vec![factors];
            steps[number].way = StepMethod::Dot;
            left_out[product] = true;
        }
    }
    left_out
}

/// The step that computes the product of two whole rows, if only this step reads it, to sum it
/// along its last axis.
fn summed_product<T>(steps: &[Resolved<T>], number: usize) -> Option<usize> {
    let sum = &steps[number];
    let (Op::Axis(Pooling::Sum, axis), Type::Real) = (&sum.op, sum.input_kind) else { return None };
    let product = own_step(sum.inputs.first()?)?;
    let made = &steps[product];
    let is_last =
        axis + 1 == made.shape.len() && sum.input_shapes[0] == made.shape && sum.columns > 0;
    let is_row = |input: &Vec<RowOperand<T>>| matches!(input.as_slice(), [operand] if operand.layout == OperandLayout::Same && matches!(operand.from, Origin::Step(_) | Origin::Buffer(_)));
    let users = steps
        .iter()
        .flat_map(|step| step.inputs.iter().flatten())
        .filter(|operand| matches!(operand.from, Origin::Step(step) if step == product));
    let fits = made.op == Op::Binary(Binary::Multiply)
        && made.store.is_none()
        && made.level == sum.level
        && made.kind == Type::Real;
    (fits && is_last && made.inputs.iter().all(is_row) && users.count() == 1).then_some(product)
}

fn is_for_choices<T>(steps: &[Resolved<T>], number: usize) -> bool {
    let compared = &steps[number];
    let is_choice = |step: &Resolved<T>| {
        let elsewhere = reads(&step.inputs[1..], number);
        condition(step) == Some(number)
            && !elsewhere
            && (step.level, step.columns, step.kind)
                == (compared.level, compared.columns, Type::Real)
    };
    compared.input_kind == Type::Real && is_comparison_for(steps, number, is_choice)
}

/// Whether its only use is to mask reductions by comparing two elements per edge.
fn is_for_masks<T>(steps: &[Resolved<T>], number: usize) -> bool {
    let compared = &steps[number];
    let is_single =
        |input: &Vec<RowOperand<T>>| matches!(input.as_slice(), [operand] if operand.columns == 1);
    let is_reduction =
        |step: &Resolved<T>| mask(step) == Some(number) && !reads(&step.inputs[..1], number);
    let fits = compared.level == Level::Edge
        && compared.columns == 1
        && compared.inputs.iter().all(is_single);
    fits && is_comparison_for(steps, number, is_reduction)
}

/// Whether it is a comparison that is not stored and that only steps of this kind read.
fn is_comparison_for<T>(
    steps: &[Resolved<T>],
    number: usize,
    is_such: impl Fn(&Resolved<T>) -> bool,
) -> bool {
    let compared = &steps[number];
    let known = matches!(
        compared.op,
        Op::Binary(Binary::Less | Binary::LessEqual | Binary::Equal | Binary::NotEqual)
    );
    let mut users = steps.iter().filter(|step| reads(&step.inputs, number)).peekable();
    known && compared.store.is_none() && users.peek().is_some() && users.all(is_such)
}

fn reads<T>(inputs: &[Vec<RowOperand<T>>], number: usize) -> bool {
    inputs
        .iter()
        .flatten()
        .any(|operand| matches!(operand.from, Origin::Step(step) if step == number))
}

/// The step that computes the condition of a select, element by element.
fn condition<T>(step: &Resolved<T>) -> Option<usize> {
    if step.op == Op::Select { own_step(step.inputs.first()?) } else { None }
}

/// The step that computes the mask of a reduction over all relations.
fn mask<T>(step: &Resolved<T>) -> Option<usize> {
    match (&step.op, step.inputs.as_slice()) {
        (Op::Reduce(_, edges), [_, mask]) if edges.relation.is_none() => own_step(mask),
        _ => None,
    }
}

/// The step that an input is, row for row.
fn own_step<T>(input: &[RowOperand<T>]) -> Option<usize> {
    let [operand] = input else { return None };
    match operand.from {
        Origin::Step(number)
            if operand.at == RowChoice::Own && operand.layout == OperandLayout::Same =>
        {
            Some(number)
        }
        _ => None,
    }
}

/// Element-wise: the third where the first two compare so, else the fourth.
pub(super) fn choose<T: Real>(
    arch: Arch,
    out: &mut [T],
    operator: Binary,
    sources: [Source<T>; 4],
) {
    match operator {
        Binary::Less => arch.dispatch(InlinedSelect { out, sources, holds: |a: T, b: T| a < b }),
        Binary::LessEqual => {
            arch.dispatch(InlinedSelect { out, sources, holds: |a: T, b: T| a <= b })
        }
        Binary::Equal => arch.dispatch(InlinedSelect { out, sources, holds: |a: T, b: T| a == b }),
        Binary::NotEqual => {
            arch.dispatch(InlinedSelect { out, sources, holds: |a: T, b: T| a != b })
        }
        _ => unreachable!("only comparisons are put into choices"),
    }
}

/// Elements per iteration: constants are expanded once to this length.
const AT_ONCE: usize = 64;

struct InlinedSelect<'a, T, F> {
    out: &'a mut [T],
    sources: [Source<'a, T>; 4],
    holds: F,
}

impl<T: Real, F: Fn(T, T) -> bool> WithSimd for InlinedSelect<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let InlinedSelect { out, sources, holds } = self;
        let numbers = sources.map(|source| {
            if let Source::Number(number) = source { [number; AT_ONCE] } else { [T::ZERO; AT_ONCE] }
        });
        let part = |source: usize, first: usize, count: usize| match sources[source] {
            Source::Slice(values) => &values[first..first + count],
            Source::Number(_) => &numbers[source][..count],
        };
        for (number, out) in out.chunks_mut(AT_ONCE).enumerate() {
            let (first, count) = (number * AT_ONCE, out.len());
            let [a, b, yes, no] = [0, 1, 2, 3].map(|source| part(source, first, count));
            if let (Some(out), Some(a), Some(b), Some(yes), Some(no)) = (
                out.as_mut_array::<AT_ONCE>(),
                a.as_array::<AT_ONCE>(),
                b.as_array::<AT_ONCE>(),
                yes.as_array::<AT_ONCE>(),
                no.as_array::<AT_ONCE>(),
            ) {
                for place in 0..AT_ONCE {
                    out[place] = if holds(a[place], b[place]) { yes[place] } else { no[place] };
                }
            } else {
                for place in 0..count {
                    out[place] = if holds(a[place], b[place]) { yes[place] } else { no[place] };
                }
            }
        }
    }
}
