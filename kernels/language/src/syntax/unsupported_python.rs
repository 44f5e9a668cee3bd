//! unsupported_python: the names of Python constructs that the language lacks, and what to write
//! instead.
//!
//! promises  a name for every construct, and a practical hint
use ruff_python_ast::{Expr, Operator, Stmt};

/// A construct of Python that the language lacks.
pub(super) struct Construct {
    /// Its name, with its article.
    pub name: &'static str,
    /// What to write instead.
    pub hint: &'static str,
}

/// The statement's name and hint; none: the language has it.
pub(super) fn statement(statement: &Stmt) -> Option<Construct> {
    let (name, hint) = match statement {
        Stmt::FunctionDef(function) if function.is_async => {
            ("`async def`", "write `def`; all vertices run at once anyway")
        }
        Stmt::FunctionDef(_) => {
            ("a `def` inside a `def`", "move it to the top of the file and pass it what it needs")
        }
        Stmt::ClassDef(_) => ("`class`", "a program is functions of a vertex:  def name(v): ..."),
        Stmt::Delete(_) => ("`del`", "leave it out; a value that nobody reads takes no memory"),
        Stmt::TypeAlias(_) => ("`type`", "leave it out; types follow from values"),
        Stmt::AnnAssign(_) => ("a type annotation", "leave it out; types follow from values"),
        Stmt::With(_) => ("`with`", "leave it out; gradients and devices are decided by the run"),
        Stmt::Match(_) => ("`match`", "use `if` and `elif` on values known when compiled"),
        Stmt::Raise(_) => ("`raise`", "leave it out; a program has no errors once it is compiled"),
        Stmt::Try(_) => ("`try`", "leave it out; a program has no errors once it is compiled"),
        Stmt::Assert(_) => {
            ("`assert`", "leave it out; shapes and places are checked by the compiler")
        }
        Stmt::Import(_) | Stmt::ImportFrom(_) => {
            ("`import`", "leave it out; all operators are known without it")
        }
        Stmt::Global(_) => ("`global`", "keep values in columns of the vertex:  v.name = ..."),
        Stmt::Nonlocal(_) => ("`nonlocal`", "keep values in columns of the vertex:  v.name = ..."),
        Stmt::Break(_) => (
            "`break`",
            "a `for` runs all its steps; use `while changed(...)` to stop when nothing changes",
        ),
        Stmt::Continue(_) => ("`continue`", "put the rest of the body under an `if`"),
        Stmt::IpyEscapeCommand(_) => ("a notebook command", "leave it out"),
        Stmt::For(each) if each.is_async => ("`async for`", "write `for`"),
        Stmt::For(each) if !each.orelse.is_empty() => {
            ("`else` after `for`", "write its statements after the loop")
        }
        Stmt::While(repeat) if !repeat.orelse.is_empty() => {
            ("`else` after `while`", "write its statements after the loop")
        }
        Stmt::Return(_)
        | Stmt::Assign(_)
        | Stmt::AugAssign(_)
        | Stmt::For(_)
        | Stmt::While(_)
        | Stmt::If(_)
        | Stmt::Expr(_)
        | Stmt::Pass(_) => return None,
    };
    Some(Construct { name, hint })
}

/// The expression's name and hint; none: the language has it.
pub(super) fn expression(expression: &Expr) -> Option<Construct> {
    let (name, hint) = match expression {
        Expr::Named(_) => ("`:=`", "assign in a statement of its own"),
        Expr::Lambda(_) => ("`lambda`", "write a `def` at the top of the file and use its name"),
        Expr::Dict(_) => ("a dict", "use an own name for each value"),
        Expr::Set(_) => ("a set", "use a tuple:  (a, b)"),
        Expr::SetComp(_) => ("a set comprehension", "use a list:  [... for u in v.innbs]"),
        Expr::DictComp(_) => ("a dict comprehension", "use a list:  [... for u in v.innbs]"),
        Expr::Await(_) => ("`await`", "leave it out; statements wait for each other anyway"),
        Expr::Yield(_) | Expr::YieldFrom(_) => {
            ("`yield`", "use `return` with all results:  return a, b")
        }
        Expr::FString(_) | Expr::TString(_) => {
            ("an f-string", "strings only name things, as in  init=\"zero\"")
        }
        Expr::BytesLiteral(_) => ("a bytes string", "leave out the  b"),
        Expr::NoneLiteral(_) => {
            ("`None`", "use a number, a bool or a string for what is not given")
        }
        Expr::Starred(_) => ("`*` before a value", "write the values one by one"),
        Expr::Slice(_) => ("a slice", "take one place of the last axis:  x[..., i]"),
        Expr::IpyEscapeCommand(_) => ("a notebook command", "leave it out"),
        _ => return None,
    };
    Some(Construct { name, hint })
}

/// The operator's name and hint; none: the language has it.
pub(super) fn operator(operator: Operator) -> Option<Construct> {
    let (name, hint) = match operator {
        Operator::LShift => ("`<<`", "use  a * 2 ** n"),
        Operator::RShift => ("`>>`", "use  a // 2 ** n"),
        Operator::BitOr => ("`|`", "use `or`, which works vertex by vertex"),
        Operator::BitXor => ("`^`", "use  a != b  on bools, or `**` for a power"),
        Operator::BitAnd => ("`&`", "use `and`, which works vertex by vertex"),
        _ => return None,
    };
    Some(Construct { name, hint })
}
