//! loop_programs: random programs with `while`, as texts of the language.
//!
//! promises  the same text for the same seed; every text compiles; up to three loops, each with
//!           vertex states of every type and with edge columns; no bool, integer, id or `exact`
//!           float depends on how a sum is rounded; values stay small, and no state is NaN
//! limits    `smooth` floats are rounded, so that a test compares them with a tolerance. A loop
//!           whose condition is their change may end a superstep later elsewhere: the test looks
//!           whether the change is near the bound
use std::fmt::Write;

use crate::draws::Draws;

/// The function of every text.
pub const ENTRY: &str = "looped";
/// Columns of `v.x`.
pub const FEATURES: usize = 3;

/// A type of values. Exact floats are small multiples of 1/4, and no operation on them rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Id,
    Bool,
    Exact,
    /// A path length: exact, or infinite.
    Length,
    Smooth,
    ExactRow,
    SmoothRow,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Int,
        Kind::Id,
        Kind::Bool,
        Kind::Exact,
        Kind::Length,
        Kind::Smooth,
        Kind::ExactRow,
        Kind::SmoothRow,
    ];

    /// Its letter in templates and, in lower case, in names of columns.
    fn letter(self) -> char {
        match self {
            Kind::Int => 'I',
            Kind::Id => 'D',
            Kind::Bool => 'B',
            Kind::Exact => 'X',
            Kind::Length => 'L',
            Kind::Smooth => 'S',
            Kind::ExactRow => 'Q',
            Kind::SmoothRow => 'R',
        }
    }

    fn of_letter(letter: char) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.letter() == letter)
    }
}

/// Whether values of a column are rounded; from its name, of edges with `e.m` before it.
pub fn is_rounded(column: &str) -> bool {
    column.trim_start_matches("e.m").starts_with(['s', 'r'])
}

/// Whether a text names a column.
fn names(text: &str, column: &str) -> bool {
    text.match_indices(column)
        .any(|(at, _)| !text[at + column.len()..].starts_with(|next: char| next.is_ascii_digit()))
}

/// A list of edges: its variable, and how a text names its ends.
#[derive(Clone, Copy, Debug)]
struct Walk {
    variable: &'static str,
    list: &'static str,
    far: &'static str,
    near: &'static str,
}

const fn walk(list: &'static str) -> Walk {
    Walk { variable: "u", list, far: "u", near: "v" }
}

const IN_EDGES: Walk = Walk { variable: "e", list: "v.inedges", far: "e.src", near: "v" };

const WALKS: [Walk; 8] = [
    walk("v.innbs"),
    walk("v.outnbs"),
    walk("v.nbs"),
    IN_EDGES,
    IN_EDGES,
    Walk { variable: "e", list: "v.outedges", far: "e.dst", near: "v" },
    walk("v.innbs[\"0\"]"),
    Walk { variable: "e", list: "v.inedges[\"1\"]", far: "e.src", near: "e.dst" },
];

/// `for e in v.inedges:`, which names no vertex `v`.
const EDGE_LOOP: Walk = Walk { variable: "e", list: "v.inedges", far: "e.src", near: "e.dst" };

/// Functions for `fold`. All are associative.
const FOLDS: &str = "
def larger(a, b):
    return max(a, b)

def plus(a, b):
    return a + b

def times_mod(a, b):
    return a * b % 7

def farther(a, b):
    return a if a * a > b * b else b

def last(a, b):
    return b

def joined(a, b):
    return a + b - a * b

def both(a, b):
    return a and b
";

/// Expressions of a type. A capital is an expression of that type in the same scope.
fn templates(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Int => INT,
        Kind::Id => ID,
        Kind::Bool => BOOL,
        Kind::Exact => EXACT,
        Kind::Length => LENGTH,
        Kind::Smooth => SMOOTH,
        Kind::ExactRow => EXACT_ROW,
        Kind::SmoothRow => SMOOTH_ROW,
    }
}

const INT: &[&str] = &[
    "({I} + {I})",
    "({I} - {I})",
    "({I} * {I} % 97)",
    "min({I}, {I})",
    "max({I}, {I})",
    "abs({I})",
    "(-{I})",
    "({I} // 3)",
    "({I} // -2)",
    "({I} % 5)",
    "({I} % -3)",
    "({I} ** 2 % 11)",
    "({I} if {B} else {I})",
    "where({B}, 1, 0)",
    "clamp({I}, -3, 9)",
];
const ID: &[&str] = &["min({D}, {D})", "max({D}, {D})", "({D} if {B} else {D})"];
const BOOL: &[&str] = &[
    "({I} < {I})",
    "({I} == {I})",
    "({D} == {D})",
    "({D} <= {D})",
    "({X} < {X})",
    "({X} != {X})",
    "({L} < 2.0)",
    "({B} and {B})",
    "({B} or {B})",
    "(not {B})",
    "({I} in (0, 1, 5))",
    "(0 < {I} <= 7)",
];
const EXACT: &[&str] = &[
    "({X} + {X})",
    "({X} - {X})",
    "min({X}, {X})",
    "max({X}, {X})",
    "abs({X})",
    "relu({X})",
    "floor({X})",
    "floor({X} * {X})",
    "clamp({X}, -4.0, 4.0)",
    "({X} if {B} else {X})",
    "(0.25 * clamp({I}, -8, 8))",
    "where({B}, 1.0, -0.5)",
    "clamp({L}, 0.0, 6.0)",
    "max({Q}, axis=0)",
    "({Q})[..., 2]",
];
const LENGTH: &[&str] = &["min({L}, {L})", "({L} + 0.25)", "({L} if {B} else {L})"];
const SMOOTH: &[&str] = &[
    "(0.5 * {S} + 0.5 * {S})",
    "({S} * tanh({S}))",
    "({S} - {S})",
    "tanh({S})",
    "sigmoid({S})",
    "min({S}, {S})",
    "max({S}, {S})",
    "abs({S})",
    "({S} / (1.0 + square({S})))",
    "leaky_relu({S}, 0.2)",
    "gelu({S})",
    "softplus({S})",
    "exp(-square({S}))",
    "log(1.0 + square({S}))",
    "rsqrt(1.0 + square({S}))",
    "({S} if {B} else {S})",
    "tanh({X})",
    "(0.3 * dot(tanh({R}), {R}))[..., 0]",
];
const EXACT_ROW: &[&str] = &[
    "({Q} + {Q})",
    "min({Q}, {Q})",
    "max({Q}, {Q})",
    "clamp({Q}, -2.0, 2.0)",
    "floor({Q})",
    "({Q} if {B} else {Q})",
    "({Q} - {X})",
];
const SMOOTH_ROW: &[&str] = &[
    "tanh({R})",
    "(0.5 * {R} + 0.5 * {R})",
    "({R} - {R})",
    "({S} * {R})",
    "max({R}, {R})",
    "({R} if {B} else {R})",
];

/// Expressions that reduce a list of edges or all vertices. A small letter is an expression of the
/// list's scope, `W` the list with its mask, `V` its variable and `N` the list itself.
fn reductions(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Int => INT_REDUCED,
        Kind::Id => ID_REDUCED,
        Kind::Bool => BOOL_REDUCED,
        Kind::Exact => EXACT_REDUCED,
        Kind::Length => LENGTH_REDUCED,
        Kind::Smooth => SMOOTH_REDUCED,
        Kind::ExactRow => EXACT_ROW_REDUCED,
        Kind::SmoothRow => SMOOTH_ROW_REDUCED,
    }
}

const INT_REDUCED: &[&str] = &[
    "sum({i} for {W})",
    "sum({i} for {W})",
    "count({V} for {W})",
    "min({i} for {W})",
    "max({i} for {W})",
    "min(({i} for {W}), default={I})",
    "mode({i} for {W})",
    "hindex({i} for {W})",
    "prod(1 - 2 * ({i} % 2) for {W})",
    "fold(larger, [{i} for {W}], -9)",
    "fold(plus, [{i} for {W}], 1)",
    "fold(times_mod, [{i} for {W}], 3)",
    "fold(last, [{i} for {W}], 2)",
    "sum(max((u.indegree for u in v.innbs[r]), default=0) for r in v.graph.relations)",
    "pool_max({I})",
    "pool_sum({I} % 31)",
    "pool_sum({B})",
];
const ID_REDUCED: &[&str] = &[
    "min({d} for {W})",
    "max({d} for {W})",
    "mode({d} for {W})",
    "max(({d} for {W}), default={D})",
    "fold(larger, [{d} for {W}], 0)",
];
const BOOL_REDUCED: &[&str] = &[
    "any({b} for {W})",
    "all({b} for {W})",
    "(not any({b} for {W}))",
    "fold(both, [{b} for {W}], True)",
];
const EXACT_REDUCED: &[&str] = &[
    "sum(clamp({x}, -4.0, 4.0) for {W})",
    "sum(clamp({x}, -4.0, 4.0) for {W})",
    "min(({x} for {W}), default={X})",
    "max(({x} for {W}), default=0.5)",
    "mode(({x} for {W}), default=-0.5)",
    "fold(farther, [{x} for {W}], 0.0)",
    "clamp(pool_max({X}), -4.0, 4.0)",
    "clamp(pool_sum(clamp({X}, -4.0, 4.0)), -6.0, 6.0)",
];
const LENGTH_REDUCED: &[&str] = &["min({l} + 0.5 for {W})", "min({l} for {W})"];
const SMOOTH_REDUCED: &[&str] = &[
    "mean({s} for {W})",
    "(sum({s} for {W}) / (1 + v.degree))",
    "max(({s} for {W}), default=0.25)",
    "min(({s} for {W}), default={S})",
    "prod(sigmoid({s}) for {W})",
    "(0.2 * logsumexp(({s} for {W}), default=0.0))",
    "fold(joined, [sigmoid({s}) for {W}], 0.0)",
    "sum(share * {s} for share, {V} in zip(softmax([{s} for {V} in {N}]), {N}))",
    "pool_mean({S})",
];
const EXACT_ROW_REDUCED: &[&str] = &[
    "sum(clamp({q}, -2.0, 2.0) for {W})",
    "max(({q} for {W}), default=0.0)",
    "min(({q} for {W}), default=1.0)",
];
const SMOOTH_ROW_REDUCED: &[&str] = &[
    "mean({r} for {W})",
    "(sum({r} for {W}) / (1 + v.degree))",
    "max(({r} for {W}), default=0.0)",
    "pool_mean({R})",
];

/// A text with at least one loop.
pub fn loop_program(seed: u64) -> String {
    let mut writer = Writer {
        draws: Draws::spread(seed),
        columns: Vec::new(),
        edge_columns: Vec::new(),
        is_narrow: false,
        walk: None,
        states: Vec::new(),
        text: format!("def {ENTRY}(v):\n"),
    };
    writer.first_values();
    for _ in 0..[1, 1, 1, 2, 2, 3][writer.draws.below(6)] {
        writer.any_loop();
        if writer.draws.below(2) == 0 {
            writer.new_column("    ");
        }
    }
    writer.results();
    writer.text + FOLDS
}

struct Writer {
    draws: Draws,
    columns: Vec<(Kind, String)>,
    edge_columns: Vec<(Kind, String)>,
    /// Whether all reductions go over one list, so that a superstep is one walk.
    is_narrow: bool,
    /// The list of a narrow loop.
    walk: Option<Walk>,
    /// Columns that the current loop changes.
    states: Vec<String>,
    text: String,
}

impl Writer {
    fn line(&mut self, indent: &str, line: &str) {
        writeln!(self.text, "{indent}{line}").expect("a string takes any line");
    }

    /// Columns that loops may change, and columns of edges.
    fn first_values(&mut self) {
        for _ in 0..2 + self.draws.below(4) {
            self.new_column("    ");
        }
        for _ in 0..self.draws.below(3) {
            let kind =
                self.draws.one_of(&[Kind::Int, Kind::Exact, Kind::Bool, Kind::Id, Kind::Smooth]);
            let name = format!("m{}{}", kind.letter().to_ascii_lowercase(), self.text.len());
            let value = self.expression(kind, 2, Some(EDGE_LOOP));
            self.assign_edges("    ", kind, &name, &value);
            self.edge_columns.push((kind, name));
        }
    }

    fn assign_edges(&mut self, indent: &str, kind: Kind, name: &str, value: &str) {
        self.line(indent, "for e in v.inedges:");
        let value = self.bounded(kind, value, None);
        self.line(&format!("{indent}    "), &format!("e.{name} = {value}"));
    }

    /// A column that was not there before.
    fn new_column(&mut self, indent: &str) -> usize {
        let kind = self.draws.one_of(&Kind::ALL);
        // The position in the text makes names different.
        let name = format!("{}{}", kind.letter().to_ascii_lowercase(), self.text.len());
        let value = match kind {
            Kind::Length => format!("0.0 if {} else inf", self.expression(Kind::Bool, 1, None)),
            _ => {
                let value = self.expression(kind, 2, None);
                self.bounded(kind, &value, None)
            }
        };
        self.line(indent, &format!("v.{name} = {value}"));
        self.columns.push((kind, name));
        self.columns.len() - 1
    }

    /// A loop as random as its body, or one of a form that a plan may know an algorithm for.
    fn any_loop(&mut self) {
        if self.draws.below(4) == 0 {
            return self.known_loop();
        }
        self.is_narrow = self.draws.below(2) == 0;
        self.walk = self.is_narrow.then(|| self.draws.one_of(&WALKS));
        let is_state = |(kind, _): &&(Kind, String)| *kind != Kind::Length;
        let mut states: Vec<(Kind, String)> =
            self.columns.iter().filter(is_state).cloned().collect();
        while states.len() > 1 + self.draws.below(3) {
            states.remove(self.draws.below(states.len()));
        }
        if states.is_empty() {
            return self.known_loop();
        }
        self.states = states.iter().map(|(_, name)| name.clone()).collect();
        let (outside, head) = (self.columns.len(), self.text.len());
        let edges = self.edge_columns.clone();
        if let (false, Some((kind, name))) = (self.is_narrow, edges.first()) {
            let value = self.expression(*kind, 2, Some(EDGE_LOOP));
            self.assign_edges("        ", *kind, name, &value);
        }
        if !self.is_narrow && self.draws.below(2) == 0 {
            self.new_column("        ");
        }
        for (number, (kind, name)) in states.iter().enumerate() {
            // One walk: the first state reads neighbours, the others their own vertex.
            let depth = if self.is_narrow { 2 } else { 2 + self.draws.below(2) };
            let value = if self.is_narrow && number == 0 {
                self.reduction(*kind, depth)
            } else if self.is_narrow {
                self.row_expression(*kind, depth)
            } else {
                self.expression(*kind, depth, None)
            };
            let value = self.bounded(*kind, &value, Some(name));
            self.line("        ", &format!("v.{name} = {value}"));
        }
        let condition = self.condition(&states);
        self.text.insert_str(head, &format!("    while {condition}:\n"));
        self.columns.truncate(outside);
        (self.is_narrow, self.walk) = (false, None);
    }

    /// What is tested after each pass. Nothing that is rounded may decide whether it is equal.
    fn condition(&mut self, states: &[(Kind, String)]) -> String {
        let exact: Vec<&(Kind, String)> =
            states.iter().filter(|(_, name)| !is_rounded(name)).collect();
        let numbers: Vec<&(Kind, String)> =
            states.iter().filter(|(kind, _)| !matches!(kind, Kind::Id | Kind::Bool)).collect();
        match self.draws.below(4) {
            0 if !numbers.is_empty() => self.change_above(&numbers),
            1 | 2 if !exact.is_empty() => {
                let names: Vec<String> =
                    exact.iter().map(|(_, name)| format!("v.{name}")).collect();
                let count = 1 + self.draws.below(names.len());
                format!("changed({})", names[..count].join(", "))
            }
            _ if exact.is_empty() => self.change_above(&numbers),
            _ => {
                let (kind, name) = self.draws.one_of(&exact);
                let test = truth_of(*kind, name);
                let more = if self.is_narrow {
                    self.row_expression(Kind::Bool, 1)
                } else {
                    self.expression(Kind::Bool, 2, None)
                };
                let joined = self.draws.one_of(&["T", "(not T)", "T or M", "T and M"]);
                format!("active({})", joined.replace('T', &test).replace('M', &more))
            }
        }
    }

    fn change_above(&mut self, states: &[&(Kind, String)]) -> String {
        let (_, name) = self.draws.one_of(states);
        let bounds: &[f64] =
            if is_rounded(name) { &[0.05, 0.3, 1.0, 10.0] } else { &[0.0, 0.5, 3.0, 40.0] };
        format!("change(v.{name}) > {:?}", self.draws.one_of(bounds))
    }

    /// The loops of `launch/src/shortcut_algorithms.rs`, and their neighbours.
    fn known_loop(&mut self) {
        let walk = self.draws.one_of(&WALKS[..6]);
        let (far, list) = (walk.far, format!("for {} in {}", walk.variable, walk.list));
        let weight = if walk.variable == "e" { "e.w" } else { "0.5" };
        let number = self.text.len();
        let source = self.expression(Kind::Bool, 1, None);
        let (name, first, next) = match self.draws.below(8) {
            0 => ("d", "v.id".into(), format!("min(A, min({far}.A {list}))")),
            1 => ("i", "v.age".into(), format!("min(min({far}.A {list}), A)")),
            2 => (
                "i",
                format!("3 if {source} else 2000"),
                format!("min(A, min({far}.A + 2 {list}))"),
            ),
            3 | 4 => (
                "l",
                format!("0.0 if {source} else inf"),
                format!("min(A, min({far}.A + {weight} {list}))"),
            ),
            5 => (
                "l",
                format!("inf if {source} else 0.0"),
                format!("max(A, max(min({far}.A, {weight}) {list}))"),
            ),
            6 => ("i", degree(walk.list).into(), format!("hindex({far}.A {list})")),
            _ => ("b", source.clone(), format!("A or any({far}.A {list})")),
        };
        let name = format!("{name}{number}");
        let next = next.replace(".A", &format!(".{name}")).replace('A', &format!("v.{name}"));
        self.line("    ", &format!("v.{name} = {first}"));
        self.line("    ", &format!("while changed(v.{name}):"));
        self.line("        ", &format!("v.{name} = {next}"));
        let kind = Kind::of_letter(name.chars().next().expect("a letter").to_ascii_uppercase());
        self.columns.push((kind.expect("the letter of a type"), name));
    }

    /// Returns the newest columns, and now and then a list over edges.
    fn results(&mut self) {
        let newest = self.columns.iter().rev().take(8).map(|(_, name)| format!("v.{name}"));
        let mut names: Vec<String> = newest.collect();
        if let (Some((_, name)), 0) = (self.edge_columns.first(), self.draws.below(3)) {
            names = vec![format!("[e.{name} for e in v.inedges]")];
        }
        self.line("    ", &format!("return {}", names.join(", ")));
    }

    /// An expression of a type, of the vertex or within a walk.
    fn expression(&mut self, kind: Kind, depth: usize, walk: Option<Walk>) -> String {
        if depth == 0 || self.draws.below(5) == 0 {
            return self.leaf(kind, walk);
        }
        if walk.is_none() && self.draws.below(2) == 0 {
            return self.reduction(kind, depth);
        }
        let template = self.draws.one_of(templates(kind));
        self.fill(template, depth - 1, (walk, None))
    }

    /// An expression of the values of a vertex itself.
    fn row_expression(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.draws.below(5) == 0 {
            return self.leaf(kind, None);
        }
        let template = self.draws.one_of(templates(kind));
        self.fill(template, 0, (None, None))
    }

    fn reduction(&mut self, kind: Kind, depth: usize) -> String {
        let mut template = self.draws.one_of(reductions(kind));
        while self.is_narrow && (template.contains("pool") || template.contains("relations")) {
            template = self.draws.one_of(reductions(kind));
        }
        let over = self.walk.unwrap_or_else(|| self.draws.one_of(&WALKS));
        let depth = if self.is_narrow { 0 } else { depth.saturating_sub(1) };
        self.fill(template, depth, (None, Some(over)))
    }

    /// Replaces the letters of a template: capitals in the scope that it stands in, small ones in
    /// that of its list.
    fn fill(
        &mut self,
        template: &str,
        depth: usize,
        (walk, over): (Option<Walk>, Option<Walk>),
    ) -> String {
        let mut made = String::new();
        let mut parts = template.split('{');
        made += parts.next().unwrap_or_default();
        for part in parts {
            let (letter, rest) = part.split_once('}').expect("a letter in braces");
            let letter = letter.chars().next().expect("one letter");
            let list = || over.expect("a reduction has a list");
            made += &match (letter, Kind::of_letter(letter.to_ascii_uppercase())) {
                ('W', _) => self.masked(list()),
                ('V', _) => list().variable.to_owned(),
                ('N', _) => list().list.to_owned(),
                (_, Some(kind)) if letter.is_ascii_lowercase() => {
                    self.expression(kind, depth.min(1), Some(list()))
                }
                (_, Some(kind)) => self.expression(kind, depth, walk),
                _ => panic!("`{letter}` in `{template}`"),
            };
            made += rest;
        }
        made
    }

    /// `u in v.innbs`, now and then with a mask.
    fn masked(&mut self, walk: Walk) -> String {
        let Walk { variable, list, .. } = walk;
        if self.draws.below(4) > 0 {
            return format!("{variable} in {list}");
        }
        format!("{variable} in {list} if {}", self.expression(Kind::Bool, 1, Some(walk)))
    }

    /// A column, or what the data set or the text has.
    fn leaf(&mut self, kind: Kind, walk: Option<Walk>) -> String {
        let of_kind = |columns: &[(Kind, String)]| -> Vec<String> {
            columns.iter().filter(|(of, _)| *of == kind).map(|(_, name)| name.clone()).collect()
        };
        let ends = walk.map_or(vec!["v"], |walk| vec![walk.far, walk.far, walk.near]);
        let end = self.draws.one_of(&ends);
        let mut leaves: Vec<String> =
            of_kind(&self.columns).iter().map(|name| format!("{end}.{name}")).collect();
        // Columns of the program come more often than what follows.
        leaves.extend(leaves.clone());
        if walk.is_some_and(|walk| walk.variable == "e") {
            let edges = of_kind(&self.edge_columns);
            leaves.extend(edges.iter().map(|name| format!("e.{name}")));
            let of_edges: &[&str] = match kind {
                Kind::Int => &["e.type"],
                Kind::Bool => &["(e.type == 1)", "(e.w > 0.75)"],
                Kind::Exact => &["e.w", "e.w"],
                Kind::Smooth => &["(0.2 * e.w)", "e.x[..., 0]"],
                _ => &[],
            };
            leaves.extend(of_edges.iter().map(|&leaf| leaf.to_owned()));
        }
        leaves.extend(given(kind).iter().map(|leaf| leaf.replace('@', end)));
        self.draws.one_of(&leaves)
    }

    /// An expression as a value of a column, which stays small.
    fn bounded(&mut self, kind: Kind, value: &str, own: Option<&str>) -> String {
        let own = own.map(|own| format!("v.{own}"));
        let bounds: &[&str] = match kind {
            Kind::Int => &["E % 23", "clamp(E, -9, 40)"],
            Kind::Exact => &["clamp(E, -8.0, 8.0)"],
            Kind::ExactRow => &["clamp(E, -4.0, 4.0)"],
            Kind::Smooth | Kind::SmoothRow => &["tanh(E)", "(0.5 * tanh(E))"],
            Kind::Id | Kind::Bool | Kind::Length => &["E"],
        };
        let bounded = self.draws.one_of(bounds).replace('E', value);
        let Some(own) = own else { return bounded };
        // A pass has to change a state.
        let changes = bounded != own && self.states.iter().any(|state| names(&bounded, state));
        match (kind, self.draws.below(if changes { 4 } else { 2 })) {
            (Kind::Bool, 0) => format!("{own} or {bounded}"),
            (Kind::Bool, 1) => format!("{own} and {bounded}"),
            (Kind::Bool, _) => bounded,
            (Kind::Smooth | Kind::SmoothRow, 0 | 1) => format!("0.5 * {own} + 0.5 * {bounded}"),
            (_, 0) => format!("min({own}, {bounded})"),
            (_, 1) => format!("max({own}, {bounded})"),
            _ => bounded,
        }
    }
}

/// Whether a state has a value that a loop may wait for.
fn truth_of(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Int => format!("(v.{name} > 2)"),
        Kind::Id => format!("(v.{name} != v.id)"),
        Kind::Exact | Kind::Length => format!("(v.{name} < 1.0)"),
        Kind::ExactRow => format!("(max(v.{name}, axis=0) > 0.75)"),
        _ => format!("v.{name}"),
    }
}

/// The number of edges of a list.
fn degree(list: &str) -> &'static str {
    match list {
        "v.outnbs" | "v.outedges" => "v.outdegree",
        "v.nbs" => "v.degree",
        _ => "v.indegree",
    }
}

/// What the data set and the text have of a type; `@` is the vertex.
fn given(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Int => &["-2", "0", "1", "7", "@.age", "@.indegree", "@.degree", "v.graph.nodes"],
        Kind::Id => &["@.id"],
        Kind::Bool => &["(@.id == 0)", "(@.id == 3)", "(@.age > 1)", "(@.degree < 3)"],
        Kind::Exact => &["0.0", "1.5", "-0.25", "(0.25 * @.age)", "@.x[..., 0]"],
        Kind::Length => &["0.75", "inf"],
        Kind::Smooth => &["0.3", "-0.6", "@.x[..., 1]"],
        Kind::ExactRow | Kind::SmoothRow => &["@.x"],
    }
}
