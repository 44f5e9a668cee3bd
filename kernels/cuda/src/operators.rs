//! operators: literals, casts, fold functions and reductions as CUDA expressions; the element-wise
//! operators are rows of `ir/src/operators.rs`.
//!
//! promises  the same results as `interpret`, in the type at hand; a float is rounded once
//! never     emits a statement
use warploom_ir::{Function, Number, Pooling, Reduction, Type, cuda_real};

/// The register type of a value.
pub fn register(kind: Type) -> &'static str {
    match kind {
        Type::Real => "real",
        Type::Bool => "bool",
        Type::Int | Type::Id => "whole",
    }
}

/// A number as a literal of a type.
pub fn literal(number: Number, kind: Type) -> String {
    match kind {
        Type::Real => cuda_real(number.real()),
        Type::Bool => (number.real() != 0.0).to_string(),
        Type::Int | Type::Id => match number {
            Number::Int(i64::MAX) => "ABOVE".to_owned(),
            Number::Int(i64::MIN) => "BELOW".to_owned(),
            Number::Int(value) => format!("{value}LL"),
            other => format!("{}LL", other.real()),
        },
    }
}

/// Casts a value of one type to another.
pub fn cast(from: Type, to: Type, a: &str) -> String {
    match (from, to) {
        (Type::Real, Type::Real) => a.to_owned(),
        (Type::Bool, Type::Real) => format!("(real)({a})"),
        (_, Type::Real) => format!("(real)widened({a})"),
        (Type::Real, Type::Int) => format!("as_whole({a})"),
        (Type::Real, Type::Id) => format!("as_id(as_whole({a}))"),
        (Type::Bool, Type::Bool) => a.to_owned(),
        (Type::Real, Type::Bool) => format!("({a}) != (real)0"),
        (_, Type::Bool) => format!("({a}) != 0"),
        (Type::Int | Type::Id, Type::Int) => a.to_owned(),
        (Type::Bool, Type::Int | Type::Id) => format!("(whole)({a})"),
        (_, Type::Id) => format!("as_id({a})"),
    }
}

/// The expression of a value, and its type.
#[derive(Clone, Copy)]
pub struct TypedText<'a> {
    pub text: &'a str,
    pub kind: Type,
}

/// Applies a fold's function to two named values; returns the expression and its type.
pub fn apply_fold(
    function: &Function,
    left: TypedText<'_>,
    right: TypedText<'_>,
) -> (String, Type) {
    let part = |part: &Function| apply_fold(part, left, right);
    let (text, kind) = match function {
        Function::Left => return (left.text.to_owned(), left.kind),
        Function::Right => return (right.text.to_owned(), right.kind),
        Function::Number(number) => (literal(*number, number.kind()), number.kind()),
        Function::Unary(operator, a) => {
            let (a, from) = part(a);
            let kind = operator.operand_type(from);
            (operator.cuda(&cast(from, kind, &a)), kind)
        }
        Function::Binary(operator, a, b) => {
            let ((a, first), (b, second)) = (part(a), part(b));
            let of = match operator.takes() {
                [only] => *only,
                _ if first == Type::Real || second == Type::Real => Type::Real,
                _ => Type::Int,
            };
            let (a, b) = (cast(first, of, &a), cast(second, of, &b));
            let kind = if operator.is_condition() { Type::Bool } else { of };
            (operator.cuda(of == Type::Real, &a, &b), kind)
        }
        Function::Select(condition, yes, no) => {
            let ((condition, of), (yes, first), (no, second)) =
                (part(condition), part(yes), part(no));
            let kind = if first == second {
                first
            } else if first == Type::Real || second == Type::Real {
                Type::Real
            } else {
                Type::Int
            };
            (
                format!(
                    "({}) ? {} : {}",
                    cast(of, Type::Bool, &condition),
                    cast(first, kind, &yes),
                    cast(second, kind, &no)
                ),
                kind,
            )
        }
        Function::Cast(kind, a) => {
            let (a, from) = part(a);
            (cast(from, *kind, &a), *kind)
        }
    };
    (format!("({text})"), kind)
}

/// The dropout threshold in 65536ths, and the scale of kept values; none if nothing is dropped.
pub fn dropout_threshold(probability: f64) -> Option<(u32, String)> {
    let threshold = ((probability * 65536.0).round() as u32).min(65535);
    (threshold > 0).then(|| {
        (threshold, literal(Number::Real(65536.0 / f64::from(65536 - threshold)), Type::Real))
    })
}

/// The initial value of a reduction, which is also its result over nothing.
pub fn start(reduction: Reduction, kind: Type) -> Option<String> {
    Some(match (reduction, kind) {
        (Reduction::Sum | Reduction::Count, _) => "0".to_owned(),
        (Reduction::Product, _) => "1".to_owned(),
        (Reduction::Minimum, Type::Real) => "(real)INFINITE".to_owned(),
        (Reduction::Maximum, Type::Real) => "(real)-INFINITE".to_owned(),
        (Reduction::Minimum, Type::Int) => "ABOVE".to_owned(),
        (Reduction::Maximum, Type::Int) => "BELOW".to_owned(),
        (Reduction::Minimum, Type::Id) => "0xffffffffLL".to_owned(),
        (Reduction::Any, _) => "false".to_owned(),
        (Reduction::All, _) => "true".to_owned(),
        _ => return None,
    })
}

/// Joins two parts of a reduction, the earlier first. Both are evaluated, always: one may be a
/// shuffle, in which all lanes take part.
pub fn join_parts(reduction: Reduction, kind: Type, a: &str, b: &str) -> String {
    match reduction {
        Reduction::Sum | Reduction::Count if kind == Type::Real => format!("{a} + {b}"),
        Reduction::Sum | Reduction::Count => format!("plus({a}, {b})"),
        Reduction::Product => format!("times({a}, {b})"),
        Reduction::Minimum => format!("least({a}, {b})"),
        Reduction::Maximum => format!("most({a}, {b})"),
        Reduction::Any => format!("either({a}, {b})"),
        Reduction::All => format!("both({a}, {b})"),
        Reduction::Mode | Reduction::HIndex => unreachable!("no fused launch has it"),
    }
}

/// The reduction of a sum, minimum or maximum along an axis.
pub fn axis_reduction(pooling: Pooling) -> Reduction {
    match pooling {
        Pooling::Sum => Reduction::Sum,
        Pooling::Maximum => Reduction::Maximum,
        Pooling::Minimum => Reduction::Minimum,
    }
}
