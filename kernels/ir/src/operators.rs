//! operators: the element-wise operators, one row each: its call syntax, operand types, value,
//! gradient and CUDA text.
//!
//! promises  a row that lacks one of these does not compile; all other code takes them from the
//!           row, so that a new operator is a row here and an arm of the CPU loops in
//!           `kernels/cpu/src/operators.rs`
//! never     defines how a node is created or executed
//!
//! A row of `unary_operators!`, in this order:
//!
//! - `call`: how a program calls it; none: it has a sign, or other operators' gradients need it;
//! - `takes`: its operand types; the result has the same;
//! - `has`: further properties (`Property`);
//! - `value`: for floats, and, `integers`, for integers;
//! - `gradient`: what `a` gains, where `y` is the value and `g` the gradient of the value;
//! - `cuda`: an expression for floats or integers; `prelude.cuh` has the functions.
use serde::{Deserialize, Serialize};

use super::{NodeId, Type};
use crate::interpret::integer_arithmetic as integers;

/// Properties of a unary operator that its value does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The function of a `fold` may call it.
    InFold,
    /// It folds constants.
    OfConstants,
    /// Its value is never -0.
    NeverMinusZero,
    /// Infinite at 0.
    PoleAtZero,
    /// Piecewise constant: its gradient is 0.
    Flat,
    /// A GPU computes it in few instructions.
    FewInstructions,
}

use Property::{FewInstructions, Flat, InFold, NeverMinusZero, OfConstants, PoleAtZero};

/// The operations that gradients of the rows are built from.
pub trait GradientSteps {
    /// Why a node cannot be created.
    type Misfit;
    /// A real number.
    fn real(&mut self, number: f64) -> NodeId;
    /// An operator of one value.
    fn unary(&mut self, operator: Unary, a: NodeId) -> Result<NodeId, Self::Misfit>;
    /// An operator of two values.
    fn binary(&mut self, operator: Binary, a: NodeId, b: NodeId) -> Result<NodeId, Self::Misfit>;
    /// `yes` where the condition holds, else `no`.
    fn select(
        &mut self,
        condition: NodeId,
        yes: NodeId,
        no: NodeId,
    ) -> Result<NodeId, Self::Misfit>;
    /// Gradient times a derivative; 0 where the gradient is 0.
    fn times(&mut self, gradient: NodeId, slope: NodeId) -> Result<NodeId, Self::Misfit>;
    /// Gradient over a value; 0 where the gradient is 0.
    fn divide(&mut self, gradient: NodeId, value: NodeId) -> Result<NodeId, Self::Misfit>;
    /// The number, if a node is a float constant.
    fn constant(&self, id: NodeId) -> Option<f64>;
    /// Whether a gradient of it is needed.
    fn carries(&self, id: NodeId) -> bool;
    /// Adds a contribution to the gradient of an operand.
    fn give(&mut self, to: NodeId, part: NodeId) -> Result<(), Self::Misfit>;
}

/// The value of a row at an integer, if it has one.
macro_rules! of_integers {
    ($arguments:expr,) => {{
        let _ = $arguments;
        None
    }};
    ($arguments:expr, |$($argument:ident),+| $value:expr) => {{
        let ($($argument,)+) = $arguments;
        Some($value)
    }};
}

macro_rules! unary_operators {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $(($setting:ident: $kind:ty = $default:expr))? {
            call: $call:expr,
            takes: $takes:expr,
            has: $has:expr,
            value: |$x:ident| $value:expr,
            $(integers: |$i:ident| $integer:expr,)?
            gradient: |$steps:ident, $y:ident, $a:ident, $g:ident| $gradient:expr,
            cuda: |$text:ident| $cuda:expr,
        }
    )+) => {
        /// Element-wise functions of one operand.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Unary {
            $($(#[doc = $doc])+ $name $(($kind))?,)+
        }

        // A row need not use every argument of its closures: many gradients need only `a`.
        #[allow(unused_variables)]
        impl Unary {
            /// Every operator, with its default parameter.
            pub const ALL: &[Unary] = &[$(Unary::$name $(($default))?),+];

            /// Its call syntax, if a program can call it.
            pub fn call(self) -> Option<&'static str> {
                match self { $(Unary::$name $(($setting))? => $call,)+ }
            }

            /// Its operand types.
            pub fn takes(self) -> &'static [Type] {
                match self { $(Unary::$name $(($setting))? => $takes,)+ }
            }

            /// Whether it has this property.
            pub fn has(self, property: Property) -> bool {
                let properties: &[Property] =
                    match self { $(Unary::$name $(($setting))? => $has,)+ };
                properties.contains(&property)
            }

            /// Its value at a real number.
            pub fn value(self, a: f64) -> f64 {
                match self { $(Unary::$name $(($setting))? => { let $x = a; $value })+ }
            }

            /// Its value at an integer, if it takes any.
            pub fn integer_value(self, a: i64) -> Option<i64> {
                match self {
                    $(Unary::$name $(($setting))? => of_integers!((a,), $(|$i| $integer)?),)+
                }
            }

            /// What the gradient of the operand `a` gains, of the gradient `g` of the value `y`.
            pub fn gradient<S: GradientSteps>(
                self,
                steps: &mut S,
                [y, a]: [NodeId; 2],
                g: NodeId,
            ) -> Result<Option<NodeId>, S::Misfit> {
                match self {
                    $(Unary::$name $(($setting))? => {
                        let ($steps, $y, $a, $g) = (steps, y, a, g);
                        $gradient
                    })+
                }
            }

            /// Its value as a CUDA expression.
            pub fn cuda(self, a: &str) -> String {
                match self { $(Unary::$name $(($setting))? => { let $text = a; $cuda })+ }
            }
        }
    };
}

const BOOL: &[Type] = &[Type::Bool];
const REAL: &[Type] = &[Type::Real];
const NUMBERS: &[Type] = &[Type::Int, Type::Real];
const ORDERED: &[Type] = &[Type::Int, Type::Id, Type::Real];
const EVERY: &[Type] = &[Type::Bool, Type::Int, Type::Id, Type::Real];

unary_operators! {
    /// -a.
    Negative {
        call: None,
        takes: NUMBERS,
        has: &[FewInstructions],
        value: |a| -a,
        integers: |a| integers::negative(a),
        gradient: |steps, y, a, g| steps.unary(Unary::Negative, g).map(Some),
        cuda: |a| format!("negative({a})"),
    }
    /// |a|.
    Absolute {
        call: Some("abs(x)"),
        takes: NUMBERS,
        has: &[InFold, OfConstants, NeverMinusZero, FewInstructions],
        value: |a| a.abs(),
        integers: |a| integers::absolute(a),
        // a += g * sign(a), 0 at 0
        gradient: |steps, y, a, g| {
            let other = steps.unary(Unary::Negative, g)?;
            let zero = steps.real(0.0);
            let below = steps.binary(Binary::Less, a, zero)?;
            let rest = steps.select(below, other, zero)?;
            where_positive(steps, a, g, rest).map(Some)
        },
        cuda: |a| format!("absolute({a})"),
    }
    /// e^a.
    Exp {
        call: Some("exp(x)"),
        takes: REAL,
        has: &[InFold, OfConstants, NeverMinusZero],
        value: |a| a.exp(),
        gradient: |steps, y, a, g| steps.times(g, y).map(Some),
        cuda: |a| format!("exponential({a})"),
    }
    /// Natural logarithm.
    Log {
        call: Some("log(x)"),
        takes: REAL,
        has: &[InFold, OfConstants, PoleAtZero],
        value: |a| a.ln(),
        gradient: |steps, y, a, g| steps.divide(g, a).map(Some),
        cuda: |a| format!("logarithm({a})"),
    }
    /// Square root.
    Sqrt {
        call: Some("sqrt(x)"),
        takes: REAL,
        has: &[InFold, OfConstants],
        value: |a| a.sqrt(),
        // a += g / 2 / y
        gradient: |steps, y, a, g| {
            let half = scaled(steps, g, 0.5)?;
            steps.divide(half, y).map(Some)
        },
        cuda: |a| format!("root({a})"),
    }
    /// 1 / square root.
    Rsqrt {
        call: Some("rsqrt(x)"),
        takes: REAL,
        has: &[OfConstants, PoleAtZero],
        value: |a| 1.0 / a.sqrt(),
        // a += -g / 2 * y * y^2
        gradient: |steps, y, a, g| {
            let half = scaled(steps, g, -0.5)?;
            let square = steps.unary(Unary::Square, y)?;
            let cube = steps.binary(Binary::Multiply, square, y)?;
            steps.times(half, cube).map(Some)
        },
        cuda: |a| format!("(real)1 / root({a})"),
    }
    /// 1 / a.
    Reciprocal {
        call: None,
        takes: REAL,
        has: &[PoleAtZero],
        value: |a| 1.0 / a,
        // a += -g * y^2
        gradient: |steps, y, a, g| {
            let other = steps.unary(Unary::Negative, g)?;
            let square = steps.unary(Unary::Square, y)?;
            steps.times(other, square).map(Some)
        },
        cuda: |a| format!("(real)1 / ({a})"),
    }
    /// a * a.
    Square {
        call: Some("square(x)"),
        takes: NUMBERS,
        has: &[InFold, OfConstants, NeverMinusZero, FewInstructions],
        value: |a| a * a,
        integers: |a| integers::times(a, a),
        // a += 2 g * a
        gradient: |steps, y, a, g| {
            let double = scaled(steps, g, 2.0)?;
            steps.times(double, a).map(Some)
        },
        cuda: |a| format!("times({a}, {a})"),
    }
    /// 1 / (1 + e^-a), without overflow.
    Sigmoid {
        call: Some("sigmoid(x)"),
        takes: REAL,
        has: &[InFold, NeverMinusZero],
        value: |a| sigmoid(a),
        // a += g * y (1 - y)
        gradient: |steps, y, a, g| {
            let rest = one_less(steps, y)?;
            let slope = steps.binary(Binary::Multiply, y, rest)?;
            steps.times(g, slope).map(Some)
        },
        cuda: |a| format!("sigmoid({a})"),
    }
    /// Hyperbolic tangent.
    Tanh {
        call: Some("tanh(x)"),
        takes: REAL,
        has: &[InFold],
        value: |a| a.tanh(),
        // a += g * (1 - y^2)
        gradient: |steps, y, a, g| {
            let square = steps.unary(Unary::Square, y)?;
            let slope = one_less(steps, square)?;
            steps.times(g, slope).map(Some)
        },
        cuda: |a| format!("tangent({a})"),
    }
    /// a where a > 0, else 0; NaN stays.
    Relu {
        call: Some("relu(x)"),
        takes: REAL,
        has: &[InFold, OfConstants, NeverMinusZero, FewInstructions],
        value: |a| if a <= 0.0 { 0.0 } else { a },
        // a += g where y > 0, as a is there, which need not be kept; else 0: relu'(0) = 0
        gradient: |steps, y, a, g| {
            let zero = steps.real(0.0);
            where_positive(steps, y, g, zero).map(Some)
        },
        cuda: |a| format!("relu({a})"),
    }
    /// a where a > 0, else slope * a.
    LeakyRelu(slope: f64 = 0.01) {
        call: Some("leaky_relu(x, 0.2)"),
        takes: REAL,
        has: &[FewInstructions],
        value: |a| if a > 0.0 { a } else { slope * a },
        // a += g where a > 0, else g * slope
        gradient: |steps, y, a, g| {
            let rest = scaled(steps, g, slope)?;
            where_positive(steps, if slope >= 0.0 { y } else { a }, g, rest).map(Some)
        },
        cuda: |a| format!("leaky_relu({a}, {})", cuda_real(slope)),
    }
    /// a where a > 0, else e^a - 1.
    Elu {
        call: Some("elu(x)"),
        takes: REAL,
        has: &[],
        value: |a| if a > 0.0 { a } else { a.exp_m1() },
        // a += g where a > 0, else g * (y + 1)
        gradient: |steps, y, a, g| {
            let slope = shifted(steps, y, 1.0)?;
            let rest = steps.times(g, slope)?;
            where_positive(steps, y, g, rest).map(Some)
        },
        cuda: |a| format!("elu({a})"),
    }
    /// a * Phi(a), Phi the normal distribution, by erf.
    Gelu {
        call: Some("gelu(x)"),
        takes: REAL,
        has: &[],
        // Phi(a) by the complement, which keeps its digits where a is far below 0.
        value: |a| a * (0.5 * libm::erfc(-a * std::f64::consts::FRAC_1_SQRT_2)),
        gradient: |steps, y, a, g| {
            let slope = gelu_slope(steps, a)?;
            steps.times(g, slope).map(Some)
        },
        cuda: |a| format!("({a}) * normal({a})"),
    }
    /// a * sigmoid(a).
    Silu {
        call: Some("silu(x)"),
        takes: REAL,
        has: &[],
        value: |a| a * sigmoid(a),
        // a += g * s (1 + a (1 - s)), s = sigmoid(a)
        gradient: |steps, y, a, g| {
            let sigmoid = steps.unary(Unary::Sigmoid, a)?;
            let rest = one_less(steps, sigmoid)?;
            let grown = steps.binary(Binary::Multiply, a, rest)?;
            let sum = shifted(steps, grown, 1.0)?;
            let slope = steps.binary(Binary::Multiply, sigmoid, sum)?;
            steps.times(g, slope).map(Some)
        },
        cuda: |a| format!("({a}) * sigmoid({a})"),
    }
    /// log(1 + e^a), without overflow.
    Softplus {
        call: Some("softplus(x)"),
        takes: REAL,
        has: &[NeverMinusZero],
        value: |a| softplus(a),
        // a += g * sigmoid(a)
        gradient: |steps, y, a, g| {
            let slope = steps.unary(Unary::Sigmoid, a)?;
            steps.times(g, slope).map(Some)
        },
        cuda: |a| format!("softplus({a})"),
    }
    /// Largest whole number that is not larger.
    Floor {
        call: Some("floor(x)"),
        takes: REAL,
        has: &[InFold, OfConstants, Flat, FewInstructions],
        value: |a| a.floor(),
        gradient: |steps, y, a, g| Ok(None),
        cuda: |a| format!("floored({a})"),
    }
    /// Error function; the gradient of gelu needs it.
    Erf {
        call: None,
        takes: REAL,
        has: &[],
        value: |a| libm::erf(a),
        // a += g * 2 / sqrt(pi) e^(-a^2)
        gradient: |steps, y, a, g| {
            let slope = bell(steps, a, -1.0, std::f64::consts::FRAC_2_SQRT_PI)?;
            steps.times(g, slope).map(Some)
        },
        cuda: |a| format!("error_of({a})"),
    }
    /// Logical not, of bools.
    Not {
        call: None,
        takes: BOOL,
        has: &[FewInstructions],
        value: |a| f64::from(a == 0.0),
        integers: |a| i64::from(a == 0),
        gradient: |steps, y, a, g| Ok(None),
        cuda: |a| format!("!({a})"),
    }
}

macro_rules! binary_operators {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident {
            takes: $takes:expr,
            is_condition: $is_condition:expr,
            value: |$x:ident, $z:ident| $value:expr,
            $(integers: |$i:ident, $k:ident| $integer:expr,)?
            gradient: |$steps:ident, $y:ident, $a:ident, $b:ident, $g:ident| $gradient:expr,
            cuda: |$is_real:ident, $first:ident, $second:ident| $cuda:expr,
        }
    )+) => {
        /// Element-wise functions of two operands of one type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Binary {
            $($(#[doc = $doc])+ $name,)+
        }

        // As for `Unary`: a row need not use every argument.
        #[allow(unused_variables)]
        impl Binary {
            /// Every operator.
            pub const ALL: &[Binary] = &[$(Binary::$name),+];

            /// Its operand types.
            pub fn takes(self) -> &'static [Type] {
                match self { $(Binary::$name => $takes,)+ }
            }

            /// Whether the result is a bool; else it has the type of the operands.
            pub fn is_condition(self) -> bool {
                match self { $(Binary::$name => $is_condition,)+ }
            }

            /// Its value for floats; for a condition 0 or 1.
            pub fn value(self, a: f64, b: f64) -> f64 {
                match self { $(Binary::$name => { let ($x, $z) = (a, b); $value })+ }
            }

            /// Its value for integers, ids or bools, if it takes any.
            pub fn integer_value(self, a: i64, b: i64) -> Option<i64> {
                match self { $(Binary::$name => of_integers!((a, b), $(|$i, $k| $integer)?),)+ }
            }

            /// Propagates the gradient `g` of the value `y` to the operands.
            pub fn gradient<S: GradientSteps>(
                self,
                steps: &mut S,
                y: NodeId,
                [a, b]: [NodeId; 2],
                g: NodeId,
            ) -> Result<(), S::Misfit> {
                match self {
                    $(Binary::$name => {
                        let ($steps, $y, $a, $b, $g) = (steps, y, a, b, g);
                        $gradient
                    })+
                }
            }

            /// Its value as a CUDA expression, for floats or other types.
            pub fn cuda(self, is_real: bool, a: &str, b: &str) -> String {
                match self {
                    $(Binary::$name => {
                        let ($is_real, $first, $second) = (is_real, a, b);
                        $cuda
                    })+
                }
            }
        }
    };
}

binary_operators! {
    /// a + b; int, real.
    Add {
        takes: NUMBERS,
        is_condition: false,
        value: |a, b| a + b,
        integers: |a, b| integers::plus(a, b),
        // a += g, b += g
        gradient: |steps, y, a, b, g| {
            steps.give(a, g)?;
            steps.give(b, g)
        },
        cuda: |is_real, a, b| {
            if is_real { format!("{a} + {b}") } else { format!("plus({a}, {b})") }
        },
    }
    /// a - b; int, real.
    Subtract {
        takes: NUMBERS,
        is_condition: false,
        value: |a, b| a - b,
        integers: |a, b| integers::minus(a, b),
        // a += g, b += -g
        gradient: |steps, y, a, b, g| {
            steps.give(a, g)?;
            give_negative(steps, b, g)
        },
        cuda: |is_real, a, b| {
            if is_real { format!("{a} - {b}") } else { format!("minus({a}, {b})") }
        },
    }
    /// a * b; int, real.
    Multiply {
        takes: NUMBERS,
        is_condition: false,
        value: |a, b| a * b,
        integers: |a, b| integers::times(a, b),
        // a += g * b, b += g * a
        gradient: |steps, y, a, b, g| {
            for (to, by) in [(a, b), (b, a)] {
                if steps.carries(to) {
                    let part = steps.times(g, by)?;
                    steps.give(to, part)?;
                }
            }
            Ok(())
        },
        cuda: |is_real, a, b| {
            if is_real { format!("{a} * {b}") } else { format!("times({a}, {b})") }
        },
    }
    /// a / b; real.
    Divide {
        takes: REAL,
        is_condition: false,
        value: |a, b| a / b,
        // q = g / b: a += q, b += -q * y
        gradient: |steps, y, a, b, g| {
            let quotient = steps.divide(g, b)?;
            steps.give(a, quotient)?;
            give_negative_product(steps, b, quotient, y)
        },
        cuda: |is_real, a, b| {
            if is_real {
                format!("{a} / {b}")
            } else {
                format!("(real)widened({a}) / (real)widened({b})")
            }
        },
    }
    /// Python's //: rounded down; int (0 when b is 0), real.
    FloorDivide {
        takes: NUMBERS,
        is_condition: false,
        value: |a, b| floor_and_rest(a, b).0,
        integers: |a, b| integers::quotient(a, b),
        // None: piecewise constant.
        gradient: |steps, y, a, b, g| Ok(()),
        cuda: |is_real, a, b| format!("quotient({a}, {b})"),
    }
    /// Python's %: the sign of b; int (0 when b is 0), real.
    Remainder {
        takes: NUMBERS,
        is_condition: false,
        value: |a, b| floor_and_rest(a, b).1,
        integers: |a, b| integers::rest(a, b),
        // y = a - b * floor(a / b): a += g, b += -g * floor(a / b)
        gradient: |steps, y, a, b, g| {
            steps.give(a, g)?;
            if steps.carries(b) {
                let whole = steps.binary(Binary::FloorDivide, a, b)?;
                give_negative_product(steps, b, g, whole)?;
            }
            Ok(())
        },
        cuda: |is_real, a, b| format!("rest({a}, {b})"),
    }
    /// a ** b; real; int when the exponent is not negative (negative: 0).
    Power {
        takes: NUMBERS,
        is_condition: false,
        value: |a, b| a.powf(b),
        integers: |a, b| integers::power(a, b),
        gradient: |steps, y, a, b, g| {
            if steps.carries(a) {
                power_base(steps, [a, b], g)?;
            }
            if steps.carries(b) {
                power_exponent(steps, y, [a, b], g)?;
            }
            Ok(())
        },
        cuda: |is_real, a, b| format!("raised({a}, {b})"),
    }
    /// Smaller, NaN if either is; int, id, real.
    Minimum {
        takes: ORDERED,
        is_condition: false,
        value: |a, b| if a.is_nan() || a < b { a } else { b },
        integers: |a, b| a.min(b),
        // The operand that is the result, the left one of ties, gains g; the other gets 0.
        gradient: |steps, y, a, b, g| {
            let first = steps.binary(Binary::LessEqual, a, b)?;
            give_chosen(steps, first, [a, b], g)
        },
        cuda: |is_real, a, b| format!("least({a}, {b})"),
    }
    /// Larger, NaN if either is; int, id, real.
    Maximum {
        takes: ORDERED,
        is_condition: false,
        value: |a, b| if a.is_nan() || a > b { a } else { b },
        integers: |a, b| a.max(b),
        // The operand that is the result, the left one of ties, gains g; the other gets 0.
        gradient: |steps, y, a, b, g| {
            let first = steps.binary(Binary::LessEqual, b, a)?;
            give_chosen(steps, first, [a, b], g)
        },
        cuda: |is_real, a, b| format!("most({a}, {b})"),
    }
    /// a < b; to bool.
    Less {
        takes: ORDERED,
        is_condition: true,
        value: |a, b| f64::from(a < b),
        integers: |a, b| i64::from(a < b),
        gradient: |steps, y, a, b, g| Ok(()),
        cuda: |is_real, a, b| format!("{a} < {b}"),
    }
    /// a <= b; to bool.
    LessEqual {
        takes: ORDERED,
        is_condition: true,
        value: |a, b| f64::from(a <= b),
        integers: |a, b| i64::from(a <= b),
        gradient: |steps, y, a, b, g| Ok(()),
        cuda: |is_real, a, b| format!("{a} <= {b}"),
    }
    /// a == b; to bool; any type.
    Equal {
        takes: EVERY,
        is_condition: true,
        value: |a, b| f64::from(a == b),
        integers: |a, b| i64::from(a == b),
        gradient: |steps, y, a, b, g| Ok(()),
        cuda: |is_real, a, b| format!("{a} == {b}"),
    }
    /// a != b; to bool; any type.
    NotEqual {
        takes: EVERY,
        is_condition: true,
        value: |a, b| f64::from(a != b),
        integers: |a, b| i64::from(a != b),
        gradient: |steps, y, a, b, g| Ok(()),
        cuda: |is_real, a, b| format!("{a} != {b}"),
    }
    /// Logical; bool.
    And {
        takes: BOOL,
        is_condition: true,
        value: |a, b| f64::from(a != 0.0 && b != 0.0),
        integers: |a, b| i64::from(a != 0 && b != 0),
        gradient: |steps, y, a, b, g| Ok(()),
        cuda: |is_real, a, b| format!("{a} && {b}"),
    }
    /// Logical; bool.
    Or {
        takes: BOOL,
        is_condition: true,
        value: |a, b| f64::from(a != 0.0 || b != 0.0),
        integers: |a, b| i64::from(a != 0 || b != 0),
        gradient: |steps, y, a, b, g| Ok(()),
        cuda: |is_real, a, b| format!("{a} || {b}"),
    }
}

impl Unary {
    /// The operator that a program calls by this name.
    pub fn of_name(name: &str) -> Option<Unary> {
        Unary::ALL.iter().copied().find(|operator| operator.name() == Some(name))
    }

    /// The name that a program calls it by.
    pub fn name(self) -> Option<&'static str> {
        self.call()?.split('(').next()
    }

    /// The type that an operand of this type is cast to.
    pub fn operand_type(self, from: Type) -> Type {
        match self.takes() {
            [only] => *only,
            takes if takes.contains(&from) => from,
            _ => Type::Int,
        }
    }

    /// Whether it maps 0 to 0.
    pub fn keeps_zero(self) -> bool {
        self.value(0.0) == 0.0
    }
}

/// 1 / (1 + e^-a), without overflow.
pub(crate) fn sigmoid(a: f64) -> f64 {
    if a >= 0.0 { 1.0 / (1.0 + (-a).exp()) } else { a.exp() / (1.0 + a.exp()) }
}

/// log(1 + e^a), without overflow.
pub(crate) fn softplus(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

/// `a // b` and `a % b` as Python has them, from the exact remainder; by 0: `a / b` and NaN, as in
/// numpy.
fn floor_and_rest(a: f64, b: f64) -> (f64, f64) {
    if b == 0.0 {
        return (a / b, f64::NAN);
    }
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest == 0.0 {
        rest = 0.0_f64.copysign(b);
    } else if (rest < 0.0) != (b < 0.0) {
        rest += b;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0_f64.copysign(a / b), rest);
    }
    let below = quotient.floor();
    (if quotient - below > 0.5 { below + 1.0 } else { below }, rest)
}

/// A float as a CUDA literal.
pub fn cuda_real(value: f64) -> String {
    if value.is_nan() {
        "(real)ODD".to_owned()
    } else if value == f64::INFINITY {
        "(real)INFINITE".to_owned()
    } else if value == f64::NEG_INFINITY {
        "(real)-INFINITE".to_owned()
    } else {
        format!("(real){value:?}")
    }
}

/// Phi(a) + a phi(a), Phi(a) = (1 + erf(a / sqrt 2)) / 2 and phi(a) = e^(-a^2 / 2) / sqrt(2 pi).
fn gelu_slope<S: GradientSteps>(steps: &mut S, a: NodeId) -> Result<NodeId, S::Misfit> {
    let narrow = scaled(steps, a, std::f64::consts::FRAC_1_SQRT_2)?;
    let erf = steps.unary(Unary::Erf, narrow)?;
    let double = shifted(steps, erf, 1.0)?;
    let share = scaled(steps, double, 0.5)?;
    let height = std::f64::consts::FRAC_1_SQRT_2 * std::f64::consts::FRAC_2_SQRT_PI * 0.5;
    let bell = bell(steps, a, -0.5, height)?;
    let moved = steps.binary(Binary::Multiply, a, bell)?;
    steps.binary(Binary::Add, share, moved)
}

/// height * e^(factor * a^2).
fn bell<S: GradientSteps>(
    steps: &mut S,
    a: NodeId,
    factor: f64,
    height: f64,
) -> Result<NodeId, S::Misfit> {
    let square = steps.unary(Unary::Square, a)?;
    let exponent = scaled(steps, square, factor)?;
    let curve = steps.unary(Unary::Exp, exponent)?;
    scaled(steps, curve, height)
}

/// a += g * b * a^(b - 1); 0 where b is 0.
fn power_base<S: GradientSteps>(
    steps: &mut S,
    [a, b]: [NodeId; 2],
    g: NodeId,
) -> Result<(), S::Misfit> {
    let zero = steps.real(0.0);
    let known = steps.constant(b);
    let part = match known {
        Some(0.0) => return Ok(()),
        Some(1.0) => g,
        Some(2.0) => {
            let double = scaled(steps, g, 2.0)?;
            steps.times(double, a)?
        }
        _ => {
            let one = steps.real(1.0);
            let less = match known {
                Some(number) => steps.real(number - 1.0),
                None => steps.binary(Binary::Subtract, b, one)?,
            };
            let lower = steps.binary(Binary::Power, a, less)?;
            let slope = steps.binary(Binary::Multiply, b, lower)?;
            let product = steps.times(g, slope)?;
            if known.is_some() {
                product
            } else {
                let flat = steps.binary(Binary::Equal, b, zero)?;
                steps.select(flat, zero, product)?
            }
        }
    };
    steps.give(a, part)
}

/// b += g * y * log(a); 0 where a is 0 and b at least 0.
fn power_exponent<S: GradientSteps>(
    steps: &mut S,
    y: NodeId,
    [a, b]: [NodeId; 2],
    g: NodeId,
) -> Result<(), S::Misfit> {
    let zero = steps.real(0.0);
    let log = steps.unary(Unary::Log, a)?;
    let slope = steps.binary(Binary::Multiply, y, log)?;
    let product = steps.times(g, slope)?;
    let nothing = steps.binary(Binary::Equal, a, zero)?;
    let upward = steps.binary(Binary::LessEqual, zero, b)?;
    let flat = steps.binary(Binary::And, nothing, upward)?;
    let part = steps.select(flat, zero, product)?;
    steps.give(b, part)
}

/// Gives -g.
fn give_negative<S: GradientSteps>(steps: &mut S, to: NodeId, g: NodeId) -> Result<(), S::Misfit> {
    if steps.carries(to) {
        let other = steps.unary(Unary::Negative, g)?;
        steps.give(to, other)?;
    }
    Ok(())
}

/// Gives -(g * slope).
fn give_negative_product<S: GradientSteps>(
    steps: &mut S,
    to: NodeId,
    g: NodeId,
    slope: NodeId,
) -> Result<(), S::Misfit> {
    if steps.carries(to) {
        let product = steps.times(g, slope)?;
        let other = steps.unary(Unary::Negative, product)?;
        steps.give(to, other)?;
    }
    Ok(())
}

/// g to the first where the condition holds, to the second where it does not.
pub fn give_chosen<S: GradientSteps>(
    steps: &mut S,
    condition: NodeId,
    [yes, no]: [NodeId; 2],
    g: NodeId,
) -> Result<(), S::Misfit> {
    let zero = steps.real(0.0);
    if steps.carries(yes) {
        let part = steps.select(condition, g, zero)?;
        steps.give(yes, part)?;
    }
    if steps.carries(no) {
        let part = steps.select(condition, zero, g)?;
        steps.give(no, part)?;
    }
    Ok(())
}

/// `yes` where the value is above 0, else `no`.
fn where_positive<S: GradientSteps>(
    steps: &mut S,
    value: NodeId,
    yes: NodeId,
    no: NodeId,
) -> Result<NodeId, S::Misfit> {
    let zero = steps.real(0.0);
    let above = steps.binary(Binary::Less, zero, value)?;
    steps.select(above, yes, no)
}

fn scaled<S: GradientSteps>(steps: &mut S, a: NodeId, factor: f64) -> Result<NodeId, S::Misfit> {
    let factor = steps.real(factor);
    steps.binary(Binary::Multiply, a, factor)
}

fn shifted<S: GradientSteps>(steps: &mut S, a: NodeId, by: f64) -> Result<NodeId, S::Misfit> {
    let by = steps.real(by);
    steps.binary(Binary::Add, a, by)
}

/// 1 - a.
fn one_less<S: GradientSteps>(steps: &mut S, a: NodeId) -> Result<NodeId, S::Misfit> {
    let one = steps.real(1.0);
    steps.binary(Binary::Subtract, one, a)
}
