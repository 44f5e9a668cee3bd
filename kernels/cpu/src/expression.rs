//! expression: element-wise expressions of a launch, compiled once to a short list of steps over
//! registers.
//!
//! promises  `Compiled` equals `reference::evaluate`, for any partition of the rows; buffers are
//!           operand slots, in the order of `loads`; an expression that its element type does not
//!           support is rejected when compiled
//! never     walks a tree or dispatches on the operator per element; allocates while it evaluates
//!
//! Method: tiles of at most 1024 elements, one vectorised loop over the tile per step, registers in
//! L1.
pub(crate) mod arithmetic;
mod evaluate;
pub mod reference;
#[cfg(test)]
mod tests;

use std::fmt;

pub(crate) use evaluate::Evaluator;
pub use evaluate::{Bound, BufferOperand, OperandRows};
use warploom_ir::{Binary, Unary};
use warploom_launch::{BufferName, Dropout, Expression, binary_name, unary_name};

use crate::Scalar;

/// Why an expression cannot be compiled for an element type.
#[derive(Clone, Debug, PartialEq)]
pub enum CompileError {
    /// Ids do not support this operator, by its name.
    NotForIds(String),
    /// `Expression::Id` in an expression of floats.
    IdInReals,
    /// A constant that is no id.
    NotAnId(f64),
    /// A probability outside of [0, 1).
    Probability(f64),
}

impl fmt::Display for CompileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::NotForIds(operator) => {
                write!(formatter, "ids have `min`, `max` and `select` only, found `{operator}`")
            }
            CompileError::IdInReals => {
                write!(formatter, "an id is no real number: `id` stands in an expression of reals")
            }
            CompileError::NotAnId(number) => {
                write!(
                    formatter,
                    "expected an id (0 to {}) or infinity, found `{number}`",
                    u32::MAX - 1
                )
            }
            CompileError::Probability(probability) => {
                write!(
                    formatter,
                    "expected a probability of dropout in [0, 1), found `{probability}`"
                )
            }
        }
    }
}

impl std::error::Error for CompileError {}

/// Where a step reads an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place<T> {
    /// The element that the launch computed before the epilogue.
    Made,
    /// A constant.
    Number(T),
    /// The operand in this slot.
    Load(usize),
    /// The result of an earlier step.
    Register(usize),
}

impl<T> Place<T> {
    /// The first register that may be overwritten while this one is still needed.
    fn free_after(&self, free: usize) -> usize {
        if let Place::Register(register) = self { free.max(register + 1) } else { free }
    }
}

/// The operation of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action<T> {
    Id,
    Unary(Unary, Place<T>),
    Binary(Binary, Place<T>, Place<T>),
    Select(Place<T>, Place<T>, Place<T>),
    Dropout(Dropout, Place<T>),
}

impl<T: PartialEq> Action<T> {
    /// Whether this is an operand.
    fn reads(&self, place: Place<T>) -> bool {
        let is = |operand: &Place<T>| *operand == place;
        match self {
            Action::Id => false,
            Action::Unary(_, operand) | Action::Dropout(_, operand) => is(operand),
            Action::Binary(_, left, right) => is(left) || is(right),
            Action::Select(condition, yes, no) => is(condition) || is(yes) || is(no),
        }
    }
}

/// One operator applied to a tile.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step<T> {
    action: Action<T>,
    /// The register written; never one that the action reads.
    into: usize,
}

/// An expression as steps over registers, for one element type.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled<T> {
    steps: Vec<Step<T>>,
    result: Place<T>,
    registers: usize,
    loads: Vec<BufferName>,
}

impl<T: Scalar> Compiled<T> {
    /// The identity, `Expression::Made`.
    pub const fn identity() -> Self {
        Compiled { steps: Vec::new(), result: Place::Made, registers: 0, loads: Vec::new() }
    }

    /// Compiles for this element type.
    pub fn compile(expression: &Expression) -> Result<Self, CompileError> {
        let mut compiled = Self::identity();
        compiled.result = compiled.place(expression, 0)?;
        Ok(compiled)
    }

    /// The buffers it reads, each once: operand slot i of a `Bound` is the buffer `loads()[i]`.
    pub fn loads(&self) -> &[BufferName] {
        &self.loads
    }

    /// Whether it is the identity.
    pub fn is_made(&self) -> bool {
        self.result == Place::Made
    }

    /// Adds the steps that compute `expression`; registers below `free` are still needed.
    fn place(&mut self, expression: &Expression, free: usize) -> Result<Place<T>, CompileError> {
        let action = match expression {
            Expression::Made => return Ok(Place::Made),
            Expression::Constant(number) => {
                return T::constant(*number)
                    .map(Place::Number)
                    .ok_or(CompileError::NotAnId(*number));
            }
            Expression::Load(name) => return Ok(Place::Load(self.slot(name))),
            Expression::Id if T::COMPLETE => return Err(CompileError::IdInReals),
            Expression::Id => Action::Id,
            Expression::Unary(operator, operand) => {
                Self::needs_reals(|| unary_name(*operator))?;
                Action::Unary(*operator, self.place(operand, free)?)
            }
            Expression::Binary(operator, left, right) => {
                if !matches!(operator, Binary::Minimum | Binary::Maximum) {
                    Self::needs_reals(|| binary_name(*operator))?;
                }
                let left = self.place(left, free)?;
                Action::Binary(*operator, left, self.place(right, left.free_after(free))?)
            }
            Expression::Select(condition, yes, no) => {
                let condition = self.place(condition, free)?;
                let free = condition.free_after(free);
                let yes = self.place(yes, free)?;
                Action::Select(condition, yes, self.place(no, yes.free_after(free))?)
            }
            Expression::Dropout(dropout, operand) => {
                Self::needs_reals(|| "dropout".to_owned())?;
                if !(0.0..1.0).contains(&dropout.probability) {
                    return Err(CompileError::Probability(dropout.probability));
                }
                Action::Dropout(*dropout, self.place(operand, free)?)
            }
        };
        Ok(self.step(action, free))
    }

    /// Adds a step that writes the first register from `free` on that it does not read.
    fn step(&mut self, action: Action<T>, free: usize) -> Place<T> {
        let mut into = free;
        while action.reads(Place::Register(into)) {
            into += 1;
        }
        self.registers = self.registers.max(into + 1);
        self.steps.push(Step { action, into });
        Place::Register(into)
    }

    fn slot(&mut self, name: &BufferName) -> usize {
        if let Some(slot) = self.loads.iter().position(|load| load == name) {
            return slot;
        }
        self.loads.push(name.clone());
        self.loads.len() - 1
    }

    fn needs_reals(operator: impl Fn() -> String) -> Result<(), CompileError> {
        if T::COMPLETE { Ok(()) } else { Err(CompileError::NotForIds(operator())) }
    }
}
