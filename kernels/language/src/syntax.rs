//! syntax: the syntax tree of a program, and diagnostics.
//!
//! promises  every node of the tree knows its bytes of the text; a tree contains only constructs of
//!           the language, so that later stages need not reject any
//! never     knows a data set or a graph; runs anything
mod diagnostic;
mod nesting;
mod parse;
mod unsupported_python;

pub use diagnostic::{Diagnostic, Note, Severity};
pub use parse::parse;

use warploom_ir::Span;

/// A name and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its bytes.
    pub span: Span,
}

/// A source file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// Its functions, in order.
    pub functions: Vec<Definition>,
}

impl File {
    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&Definition> {
        self.functions.iter().find(|function| function.name.text == name)
    }

    /// Whether it has a `while`, which takes as many supersteps as the graph needs.
    pub fn repeats(&self) -> bool {
        fn has_while(body: &[Statement]) -> bool {
            body.iter().any(|statement| match &statement.kind {
                StatementKind::While(..) => true,
                StatementKind::If(branches, otherwise) => {
                    branches.iter().any(|(_, body)| has_while(body)) || has_while(otherwise)
                }
                StatementKind::For(_, _, body) => has_while(body),
                _ => false,
            })
        }
        self.functions.iter().any(|function| has_while(&function.body))
    }
}

/// A `def`.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: Name,
    /// Its parameters, in order.
    pub parameters: Vec<DefParameter>,
    /// Its docstring.
    pub doc: Option<String>,
    /// Its statements.
    pub body: Vec<Statement>,
}

/// A parameter of a `def`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefParameter {
    /// Its name.
    pub name: Name,
    /// Its default value.
    pub default: Option<Expression>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Its bytes.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `a = b = value`.
    Assign(Vec<Expression>, Expression),
    /// `a += value`.
    Augment(Expression, Operator, Expression),
    /// `if`, `elif`, ... and `else`.
    If(Vec<(Expression, Vec<Statement>)>, Vec<Statement>),
    /// `for target in over:`.
    For(Expression, Expression, Vec<Statement>),
    /// `while condition:`.
    While(Expression, Vec<Statement>),
    /// `return value`.
    Return(Option<Expression>),
    /// An expression statement.
    Do(Expression),
    /// `pass`.
    Pass,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Its bytes.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// `True`.
    Bool(bool),
    /// `3`.
    Int(i64),
    /// `0.5`.
    Real(f64),
    /// `"mean"`.
    Text(String),
    /// `...`, in `x[..., i]`.
    Ellipsis,
    /// `(a, b)`, also written `[a, b]`.
    Tuple(Vec<Expression>),
    /// `h`.
    Name(String),
    /// `v.h`.
    Attribute(Box<Expression>, Name),
    /// `a[i]`.
    Index(Box<Expression>, Box<Expression>),
    /// `-a`, `+a`, `not a`.
    Unary(Sign, Box<Expression>),
    /// `a + b`.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `a and b and c` (true) or `a or b` (false).
    Logical(bool, Vec<Expression>),
    /// `a < b <= c`.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    /// Yes, condition, no of `yes if condition else no`.
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `f(a, b=c)`.
    Call(Box<Expression>, Vec<Expression>, Vec<(Name, Expression)>),
    /// `[element for target in over if conditions]`, also without brackets as the only argument of
    /// a call.
    Comprehension(Box<Comprehension>),
}

/// A comprehension with one `for`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The element.
    pub element: Expression,
    /// The loop variables.
    pub target: Expression,
    /// What it iterates over.
    pub over: Expression,
    /// The `if` conditions.
    pub conditions: Vec<Expression>,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `-a`.
    Minus,
    /// `+a`.
    Plus,
    /// `not a`.
    Not,
}

/// Binary arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `//`.
    FloorDivide,
    /// `%`.
    Remainder,
    /// `**`.
    Power,
    /// `@`.
    Product,
}

impl Operator {
    /// Its spelling.
    pub fn sign(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Remainder => "%",
            Operator::Power => "**",
            Operator::Product => "@",
        }
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `in`.
    In,
    /// `not in`.
    NotIn,
}

impl Comparison {
    /// Its spelling.
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
            Comparison::In => "in",
            Comparison::NotIn => "not in",
        }
    }
}
