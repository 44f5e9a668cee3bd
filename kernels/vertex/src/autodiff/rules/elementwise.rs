//! elementwise: gradients of functions of one element, and of what passes an element on.
use super::super::{GradientWalk, Refusal};
use crate::gir::{Binary, Misfit, Node, NodeId, NodeResult, Number, Op, Type, Unary};

/// Of one value. `y > 0` stands for `a > 0` where both are the same, so that `a` need not be kept.
pub(super) fn unary(
    walk: &mut GradientWalk<'_>,
    operator: Unary,
    y: NodeId,
    a: NodeId,
    g: NodeId,
) -> Result<(), Refusal> {
    let part = match operator {
        // a += -g
        Unary::Negative => walk.builder.unary(Unary::Negative, g)?,
        // a += g * sign(a), 0 at 0
        Unary::Absolute => {
            let other = walk.builder.unary(Unary::Negative, g)?;
            let zero = walk.builder.real(0.0);
            let below = walk.builder.binary(Binary::Less, a, zero)?;
            let rest = walk.builder.select(below, other, zero)?;
            above_zero(walk, a, g, rest)?
        }
        // a += g * y
        Unary::Exp => walk.times(g, y)?,
        // a += g / a
        Unary::Log => walk.divide(g, a)?,
        // a += g / 2 / y
        Unary::Sqrt => {
            let half = scaled(walk, g, 0.5)?;
            walk.divide(half, y)?
        }
        // a += -g / 2 * y * y^2
        Unary::Rsqrt => {
            let half = scaled(walk, g, -0.5)?;
            let square = walk.builder.unary(Unary::Square, y)?;
            let cube = walk.builder.multiply(square, y)?;
            walk.times(half, cube)?
        }
        // a += -g * y^2
        Unary::Reciprocal => {
            let other = walk.builder.unary(Unary::Negative, g)?;
            let square = walk.builder.unary(Unary::Square, y)?;
            walk.times(other, square)?
        }
        // a += 2 g * a
        Unary::Square => {
            let double = scaled(walk, g, 2.0)?;
            walk.times(double, a)?
        }
        // a += g where a > 0, else 0: relu'(0) = 0
        Unary::Relu => {
            let zero = walk.builder.real(0.0);
            above_zero(walk, y, g, zero)?
        }
        // a += g where a > 0, else g * slope
        Unary::LeakyRelu(slope) => {
            let rest = scaled(walk, g, slope)?;
            above_zero(walk, if slope >= 0.0 { y } else { a }, g, rest)?
        }
        // a += g where a > 0, else g * (y + 1)
        Unary::Elu => {
            let slope = shifted(walk, y, 1.0)?;
            let rest = walk.times(g, slope)?;
            above_zero(walk, y, g, rest)?
        }
        // No gradient: it is constant but for its jumps, and `not` is of bools.
        Unary::Floor | Unary::Not => return Ok(()),
        Unary::Sigmoid | Unary::Tanh | Unary::Gelu | Unary::Silu | Unary::Softplus | Unary::Erf => {
            let slope = smooth(walk, operator, y, a)?;
            walk.times(g, slope)?
        }
    };
    Ok(walk.give(a, part)?)
}

/// Slopes of the smooth functions.
fn smooth(walk: &mut GradientWalk<'_>, operator: Unary, y: NodeId, a: NodeId) -> NodeResult {
    match operator {
        // y (1 - y)
        Unary::Sigmoid => {
            let rest = one_minus(walk, y)?;
            walk.builder.multiply(y, rest)
        }
        // 1 - y^2
        Unary::Tanh => {
            let square = walk.builder.unary(Unary::Square, y)?;
            one_minus(walk, square)
        }
        // Phi(a) + a phi(a), Phi(a) = (1 + erf(a / sqrt 2)) / 2 and phi(a) = e^(-a^2 / 2) / sqrt(2
        // pi)
        Unary::Gelu => {
            let narrow = scaled(walk, a, std::f64::consts::FRAC_1_SQRT_2)?;
            let erf = walk.builder.unary(Unary::Erf, narrow)?;
            let double = shifted(walk, erf, 1.0)?;
            let share = scaled(walk, double, 0.5)?;
            let bell = bell(
                walk,
                a,
                -0.5,
                std::f64::consts::FRAC_1_SQRT_2 * std::f64::consts::FRAC_2_SQRT_PI * 0.5,
            )?;
            let moved = walk.builder.multiply(a, bell)?;
            walk.builder.add(share, moved)
        }
        // s (1 + a (1 - s)), s = sigmoid(a)
        Unary::Silu => {
            let sigmoid = walk.builder.unary(Unary::Sigmoid, a)?;
            let rest = one_minus(walk, sigmoid)?;
            let grown = walk.builder.multiply(a, rest)?;
            let sum = shifted(walk, grown, 1.0)?;
            walk.builder.multiply(sigmoid, sum)
        }
        // 2 / sqrt(pi) e^(-a^2)
        Unary::Erf => bell(walk, a, -1.0, std::f64::consts::FRAC_2_SQRT_PI),
        // softplus: sigmoid(a)
        _ => walk.builder.unary(Unary::Sigmoid, a),
    }
}

/// height * e^(factor * a^2)
fn bell(walk: &mut GradientWalk<'_>, a: NodeId, factor: f64, height: f64) -> NodeResult {
    let square = walk.builder.unary(Unary::Square, a)?;
    let exponent = scaled(walk, square, factor)?;
    let curve = walk.builder.unary(Unary::Exp, exponent)?;
    scaled(walk, curve, height)
}

/// Of two values.
pub(super) fn binary(
    walk: &mut GradientWalk<'_>,
    operator: Binary,
    y: NodeId,
    [a, b]: [NodeId; 2],
    g: NodeId,
) -> Result<(), Refusal> {
    let (of_a, of_b) = (walk.active.carries(a), walk.active.carries(b));
    match operator {
        // a += g, b += g
        Binary::Add => {
            walk.give(a, g)?;
            walk.give(b, g)?;
        }
        // a += g, b += -g
        Binary::Subtract => {
            walk.give(a, g)?;
            if of_b {
                let other = walk.builder.unary(Unary::Negative, g)?;
                walk.give(b, other)?;
            }
        }
        // a += g * b, b += g * a
        Binary::Multiply => {
            for (to, by) in [(a, b), (b, a)] {
                if walk.active.carries(to) {
                    let part = walk.times(g, by)?;
                    walk.give(to, part)?;
                }
            }
        }
        // q = g / b: a += q, b += -q * y
        Binary::Divide => {
            let quotient = walk.divide(g, b)?;
            walk.give(a, quotient)?;
            if of_b {
                let product = walk.times(quotient, y)?;
                let other = walk.builder.unary(Unary::Negative, product)?;
                walk.give(b, other)?;
            }
        }
        // y = a - b * floor(a / b): a += g, b += -g * floor(a / b)
        Binary::Remainder => {
            walk.give(a, g)?;
            if of_b {
                let whole = walk.builder.binary(Binary::FloorDivide, a, b)?;
                let product = walk.times(g, whole)?;
                let other = walk.builder.unary(Unary::Negative, product)?;
                walk.give(b, other)?;
            }
        }
        Binary::Power => {
            if of_a {
                power_base(walk, [a, b], g)?;
            }
            if of_b {
                power_exponent(walk, y, [a, b], g)?;
            }
        }
        // The operand that is the result, the first of equals, gains g; the other gets 0.
        Binary::Minimum | Binary::Maximum => {
            let (low, high) = if operator == Binary::Minimum { (a, b) } else { (b, a) };
            let first = walk.builder.binary(Binary::LessEqual, low, high)?;
            chosen(walk, first, [a, b], g)?;
        }
        // No gradient: whole numbers, bools, and what is constant but for its jumps.
        Binary::FloorDivide
        | Binary::Less
        | Binary::LessEqual
        | Binary::Equal
        | Binary::NotEqual
        | Binary::And
        | Binary::Or => {}
    }
    Ok(())
}

/// a += g * b * a^(b - 1); 0 where b is 0
fn power_base(walk: &mut GradientWalk<'_>, [a, b]: [NodeId; 2], g: NodeId) -> Result<(), Misfit> {
    let zero = walk.builder.real(0.0);
    let known = match walk.builder.node(b).op {
        Op::Constant(Number::Real(number)) => Some(number),
        _ => None,
    };
    let part = match known {
        Some(0.0) => return Ok(()),
        Some(1.0) => g,
        Some(2.0) => {
            let double = scaled(walk, g, 2.0)?;
            walk.times(double, a)?
        }
        _ => {
            let one = walk.builder.real(1.0);
            let less = match known {
                Some(number) => walk.builder.real(number - 1.0),
                None => walk.builder.subtract(b, one)?,
            };
            let lower = walk.builder.binary(Binary::Power, a, less)?;
            let slope = walk.builder.multiply(b, lower)?;
            let product = walk.times(g, slope)?;
            if known.is_some() {
                product
            } else {
                let flat = walk.builder.binary(Binary::Equal, b, zero)?;
                walk.builder.select(flat, zero, product)?
            }
        }
    };
    walk.give(a, part)
}

/// b += g * y * log(a); 0 where a is 0 and b at least 0
fn power_exponent(
    walk: &mut GradientWalk<'_>,
    y: NodeId,
    [a, b]: [NodeId; 2],
    g: NodeId,
) -> Result<(), Misfit> {
    let zero = walk.builder.real(0.0);
    let log = walk.builder.unary(Unary::Log, a)?;
    let slope = walk.builder.multiply(y, log)?;
    let product = walk.times(g, slope)?;
    let nothing = walk.builder.binary(Binary::Equal, a, zero)?;
    let upward = walk.builder.binary(Binary::LessEqual, zero, b)?;
    let flat = walk.builder.binary(Binary::And, nothing, upward)?;
    let part = walk.builder.select(flat, zero, product)?;
    walk.give(b, part)
}

/// What hands an element on, or leaves it out.
pub(super) fn passed(walk: &mut GradientWalk<'_>, node: &Node, g: NodeId) -> Result<(), Refusal> {
    let a = node.inputs[0];
    match &node.op {
        // yes += g where the condition holds, no += g where it does not; 0 else
        Op::Select => chosen(walk, a, [node.inputs[1], node.inputs[2]], g)?,
        // a += the same draws of g: they follow from seed, epoch, site and place alone
        Op::Dropout { .. } => {
            let part = walk.builder.dropout_at(node.place, &node.op, g)?;
            walk.give(a, part)?;
        }
        // a += g: of reals to reals, and of the value in training
        _ => walk.give(a, g)?,
    }
    Ok(())
}

/// g to the first where the condition holds, to the second where it does not.
fn chosen(
    walk: &mut GradientWalk<'_>,
    condition: NodeId,
    [yes, no]: [NodeId; 2],
    g: NodeId,
) -> Result<(), Misfit> {
    let zero = walk.builder.real(0.0);
    if walk.active.carries(yes) {
        let part = walk.builder.select(condition, g, zero)?;
        walk.give(yes, part)?;
    }
    if walk.active.carries(no) {
        let part = walk.builder.select(condition, zero, g)?;
        walk.give(no, part)?;
    }
    Ok(())
}

/// `yes` where the value is above 0, else `no`.
fn above_zero(walk: &mut GradientWalk<'_>, value: NodeId, yes: NodeId, no: NodeId) -> NodeResult {
    let zero = walk.builder.real(0.0);
    let above = walk.builder.binary(Binary::Less, zero, value)?;
    debug_assert_eq!(walk.builder.node(value).kind, Type::Real, "only reals have a gradient");
    walk.builder.select(above, yes, no)
}

fn scaled(walk: &mut GradientWalk<'_>, a: NodeId, factor: f64) -> NodeResult {
    let factor = walk.builder.real(factor);
    walk.builder.multiply(a, factor)
}

fn shifted(walk: &mut GradientWalk<'_>, a: NodeId, by: f64) -> NodeResult {
    let by = walk.builder.real(by);
    walk.builder.add(a, by)
}

/// 1 - a
fn one_minus(walk: &mut GradientWalk<'_>, a: NodeId) -> NodeResult {
    let one = walk.builder.real(1.0);
    walk.builder.subtract(one, a)
}
