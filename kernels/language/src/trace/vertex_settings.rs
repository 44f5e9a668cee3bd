//! vertex settings: which settings of a program name vertices of the data set.
//!
//! promises  the answer follows from the text alone, so that a key can be computed without a graph;
//!           a setting whose value is compared with an id is a vertex setting, also through
//!           functions, other names and columns that hold ids
//! never     looks at a setting's value
use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{
    Comparison, Definition, Expression, ExpressionKind, File, Statement, StatementKind,
};

/// The names of the vertex settings, and whether each may name several.
pub(super) fn several_by_name(file: &File, entry: &str) -> BTreeMap<String, bool> {
    let mut flow = SettingFlow {
        file,
        ids: BTreeSet::from(["id"]),
        id_names: BTreeSet::new(),
        holds: BTreeMap::new(),
    };
    let Some(function) = file.function(entry) else { return BTreeMap::new() };
    for parameter in function.parameters.iter().skip(1) {
        let name = parameter.name.text.as_str();
        flow.holds.insert((entry, name), BTreeSet::from([name]));
    }
    let parts: Vec<FunctionParts> = file.functions.iter().map(FunctionParts::new).collect();
    // Each round only adds names, and there are finitely many: a fixed point.
    let mut grows = true;
    while grows {
        grows = false;
        for parts in &parts {
            grows |= flow.pass(parts);
        }
    }
    let mut found = BTreeMap::new();
    parts.iter().for_each(|parts| flow.compared(parts, &mut found));
    found
}

/// The parts of a function, however deeply nested.
struct FunctionParts<'a> {
    function: &'a str,
    expressions: Vec<&'a Expression>,
    /// Targets and their values: assignments, `for`, comprehensions.
    given: Vec<(&'a Expression, &'a Expression)>,
    returned: Vec<&'a Expression>,
}

impl<'a> FunctionParts<'a> {
    fn new(function: &'a Definition) -> FunctionParts<'a> {
        let mut parts = FunctionParts {
            function: &function.name.text,
            expressions: Vec::new(),
            given: Vec::new(),
            returned: Vec::new(),
        };
        function.body.iter().for_each(|statement| parts.statement(statement));
        parts
    }

    fn statement(&mut self, statement: &'a Statement) {
        let body = |parts: &mut Self, body: &'a [Statement]| {
            body.iter().for_each(|statement| parts.statement(statement))
        };
        match &statement.kind {
            StatementKind::Assign(targets, value) => {
                self.given.extend(targets.iter().map(|target| (target, value)));
                self.expression(value);
            }
            StatementKind::Augment(_, _, value) | StatementKind::Do(value) => {
                self.expression(value)
            }
            StatementKind::If(branches, otherwise) => {
                for (condition, inside) in branches {
                    self.expression(condition);
                    body(self, inside);
                }
                body(self, otherwise);
            }
            StatementKind::For(target, over, inside) => {
                self.given.push((target, over));
                self.expression(over);
                body(self, inside);
            }
            StatementKind::While(condition, inside) => {
                self.expression(condition);
                body(self, inside);
            }
            StatementKind::Return(value) => {
                self.returned.extend(value);
                value.iter().for_each(|value| self.expression(value));
            }
            StatementKind::Pass => {}
        }
    }

    fn expression(&mut self, expression: &'a Expression) {
        self.expressions.push(expression);
        if let ExpressionKind::Comprehension(comprehension) = &expression.kind {
            self.given.push((&comprehension.target, &comprehension.over));
        }
        parts_of(expression).into_iter().for_each(|part| self.expression(part));
    }
}

/// The direct subexpressions of an expression.
fn parts_of(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::Bool(_)
        | ExpressionKind::Int(_)
        | ExpressionKind::Real(_)
        | ExpressionKind::Text(_)
        | ExpressionKind::Ellipsis
        | ExpressionKind::Name(_) => Vec::new(),
        ExpressionKind::Attribute(base, _) | ExpressionKind::Unary(_, base) => vec![base],
        ExpressionKind::Index(a, b) | ExpressionKind::Binary(_, a, b) => vec![a, b],
        ExpressionKind::Choice(a, b, c) => vec![a, b, c],
        ExpressionKind::Tuple(parts) | ExpressionKind::Logical(_, parts) => parts.iter().collect(),
        ExpressionKind::Compare(first, others) => {
            std::iter::once(&**first).chain(others.iter().map(|(_, other)| other)).collect()
        }
        ExpressionKind::Call(function, arguments, named) => {
            let named = named.iter().map(|(_, value)| value);
            std::iter::once(&**function).chain(arguments).chain(named).collect()
        }
        ExpressionKind::Comprehension(inside) => {
            [&inside.element, &inside.over].into_iter().chain(&inside.conditions).collect()
        }
    }
}

/// Where ids and settings flow.
struct SettingFlow<'a> {
    file: &'a File,
    /// Names of columns that hold ids.
    ids: BTreeSet<&'a str>,
    /// Functions and their local names that hold ids; the empty name: what the function returns.
    id_names: BTreeSet<(&'a str, &'a str)>,
    /// Settings of the entry that flow into a local name of a function.
    holds: BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>,
}

impl<'a> SettingFlow<'a> {
    /// Follows every assignment and call once; returns whether anything is new.
    fn pass(&mut self, parts: &FunctionParts<'a>) -> bool {
        let function = parts.function;
        let mut grown = false;
        for (target, value) in &parts.given {
            grown |= self.give(function, target, value);
        }
        if parts.returned.iter().any(|value| self.is_id(function, value)) {
            grown |= self.id_names.insert((function, ""));
        }
        for expression in &parts.expressions {
            let ExpressionKind::Call(called, arguments, named) = &expression.kind else { continue };
            let ExpressionKind::Name(called) = &called.kind else { continue };
            let Some(definition) = self.file.function(called) else { continue };
            let by_place = arguments
                .iter()
                .zip(&definition.parameters)
                .map(|(value, parameter)| (parameter.name.text.as_str(), value));
            let by_name = named.iter().map(|(name, value)| (name.text.as_str(), value));
            for (parameter, value) in by_place.chain(by_name) {
                grown |= self.bind(&definition.name.text, parameter, function, value);
            }
        }
        grown
    }

    fn give(&mut self, function: &'a str, target: &'a Expression, value: &'a Expression) -> bool {
        match (&target.kind, &value.kind) {
            (ExpressionKind::Name(name), _) => self.bind(function, name, function, value),
            (ExpressionKind::Attribute(_, name), _) if self.is_id(function, value) => {
                self.ids.insert(&name.text)
            }
            (ExpressionKind::Tuple(targets), ExpressionKind::Tuple(values)) => {
                self.give_each(function, targets.iter().zip(values))
            }
            (ExpressionKind::Tuple(targets), _) => {
                self.give_each(function, targets.iter().map(|target| (target, value)))
            }
            _ => false,
        }
    }

    /// All pairs; returns whether one of them was new.
    fn give_each(
        &mut self,
        function: &'a str,
        pairs: impl Iterator<Item = (&'a Expression, &'a Expression)>,
    ) -> bool {
        let mut grown = false;
        for (target, value) in pairs {
            grown |= self.give(function, target, value);
        }
        grown
    }

    /// A local name of a function takes the value of an expression of a function.
    fn bind(
        &mut self,
        function: &'a str,
        name: &'a str,
        from: &'a str,
        value: &'a Expression,
    ) -> bool {
        let is_new = self.is_id(from, value) && self.id_names.insert((function, name));
        let mut settings = BTreeSet::new();
        self.settings_in(from, value, &mut settings);
        let held = self.holds.entry((function, name)).or_default();
        let before = held.len();
        held.extend(settings);
        is_new || held.len() > before
    }

    /// Whether an expression is an id, as far as the text shows.
    fn is_id(&self, function: &'a str, expression: &'a Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Attribute(_, name) => self.ids.contains(name.text.as_str()),
            ExpressionKind::Name(name) => self.id_names.contains(&(function, name.as_str())),
            ExpressionKind::Choice(yes, _, no) => {
                self.is_id(function, yes) || self.is_id(function, no)
            }
            ExpressionKind::Comprehension(inside) => self.is_id(function, &inside.element),
            ExpressionKind::Call(called, arguments, named) => match &called.kind {
                ExpressionKind::Name(called) if self.file.function(called).is_some() => {
                    self.id_names.contains(&(called.as_str(), ""))
                }
                ExpressionKind::Name(called)
                    if matches!(called.as_str(), "min" | "max" | "mode" | "where" | "fold") =>
                {
                    arguments
                        .iter()
                        .chain(named.iter().map(|(_, value)| value))
                        .any(|value| self.is_id(function, value))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The settings that flow into an expression's value.
    fn settings_in(
        &self,
        function: &'a str,
        expression: &'a Expression,
        found: &mut BTreeSet<&'a str>,
    ) {
        match &expression.kind {
            ExpressionKind::Name(name) => {
                found.extend(self.holds.get(&(function, name.as_str())).into_iter().flatten())
            }
            ExpressionKind::Choice(yes, _, no) => {
                [yes, no].into_iter().for_each(|side| self.settings_in(function, side, found))
            }
            ExpressionKind::Index(base, _) => self.settings_in(function, base, found),
            ExpressionKind::Comprehension(inside) => {
                self.settings_in(function, &inside.element, found)
            }
            // The value of a column, a condition or a count is no setting's value.
            ExpressionKind::Attribute(..)
            | ExpressionKind::Compare(..)
            | ExpressionKind::Logical(..) => {}
            ExpressionKind::Call(called, arguments, _) => match &called.kind {
                ExpressionKind::Name(called) if matches!(called.as_str(), "min" | "max") => {
                    arguments.iter().for_each(|value| self.settings_in(function, value, found));
                }
                _ => {}
            },
            _ => parts_of(expression)
                .into_iter()
                .for_each(|part| self.settings_in(function, part, found)),
        }
    }

    /// Collects the settings that a function compares with ids.
    fn compared(&self, parts: &FunctionParts<'a>, found: &mut BTreeMap<String, bool>) {
        for expression in &parts.expressions {
            let ExpressionKind::Compare(first, others) = &expression.kind else { continue };
            let mut left: &Expression = first;
            for (comparison, right) in others {
                let is_member = matches!(comparison, Comparison::In | Comparison::NotIn);
                for (setting, id, several) in [(left, right, false), (right, left, is_member)] {
                    let mut settings = BTreeSet::new();
                    if self.is_id(parts.function, id) {
                        self.settings_in(parts.function, setting, &mut settings);
                    }
                    for name in settings {
                        *found.entry(name.to_owned()).or_insert(true) &=
                            several && matches!(setting.kind, ExpressionKind::Name(_));
                    }
                }
                left = right;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::trace::{VertexSetting, trace, vertex_settings_of};
    use warploom_ir::Data;

    fn shown_settings(body: &str) -> Vec<String> {
        let text = format!("def own(v, a=0, b=(0, 1), c=0.5, d=3):\n{body}");
        let shown = |setting: VertexSetting| {
            format!("{}{}", setting.name, if setting.several { " several" } else { "" })
        };
        vertex_settings_of(&text, "own").into_iter().map(shown).collect()
    }

    #[test]
    fn what_is_compared_with_an_id_names_vertices() {
        assert_eq!(shown_settings("    return c if v.id == a else d\n"), ["a"]);
        assert_eq!(
            shown_settings("    return sum(c for e in v.inedges if a != e.src.id)\n"),
            ["a"]
        );
        assert_eq!(shown_settings("    return v.id in b and v.degree > d\n"), ["b several"]);
        assert_eq!(
            shown_settings("    return v.id not in b or v.id == a + d\n"),
            ["a", "b several", "d"]
        );
        assert_eq!(shown_settings("    return v.id in (a, 3)\n"), ["a"]);
        assert_eq!(shown_settings("    return v.id in a or v.id == a\n"), ["a"]);
        assert_eq!(shown_settings("    return v.x * d if v.degree == a else c\n"), [""; 0]);
        assert_eq!(shown_settings("    return v.id == 3 or v.degree == d\n"), [""; 0]);
        assert_eq!(vertex_settings_of("def own(v, a=0) return", "own"), []);
    }

    #[test]
    fn ids_and_settings_are_followed_through_names_columns_and_functions() {
        assert_eq!(shown_settings("    start, other = a, d\n    return v.id == start\n"), ["a"]);
        assert_eq!(shown_settings("    v.own = v.id\n    return v.own == a\n"), ["a"]);
        assert_eq!(
            shown_settings(
                "    v.label = min(v.id, min(u.id for u in v.nbs))\n    return v.label == a\n"
            ),
            ["a"]
        );
        assert_eq!(
            shown_settings(
                "    return near(v, who=a) and far(d, v.id)\n\ndef near(v, who):\n    return v.id \
                    == who\n\ndef far(who, one):\n    return who != one\n"
            ),
            ["a", "d"]
        );
        assert_eq!(shown_settings("    return me(v) == a\n\ndef me(v):\n    return v.id\n"), ["a"]);
        assert_eq!(
            shown_settings(
                "    for k in range(d):\n        v.near = v.id == k\n    return v.near\n"
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_program_is_the_same_whatever_its_vertices_are() {
        let text = "def own(v, source=0, sinks=(1,)):\n    v.near = v.id == source or any(u.id in \
            sinks for u in v.innbs)\n    return v.near\n";
        let with = |given: &[(&str, Json)]| {
            let given: BTreeMap<String, Json> =
                given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            trace(text, "own", &given, &Data::bare(10, 20))
                .map(|traced| (traced.gir, traced.settings, traced.warnings))
                .unwrap()
        };
        let plain = with(&[]);
        assert_eq!(plain.2, []);
        assert_eq!(with(&[("source", "ann".into()), ("sinks", vec![3, 99].into())]), plain);
        assert_eq!(with(&[("source", 999_999.into()), ("sinks", "row:3".into())]), plain);
        assert_eq!(
            with(&[
                ("source", 1e5.into()),
                ("sinks", vec![Json::from(true), Json::from(0.5)].into())
            ]),
            plain
        );
        let refused = |given: Json| {
            trace(text, "own", &BTreeMap::from([("source".to_owned(), given)]), &Data::bare(10, 20))
                .unwrap_err()
                .remove(0)
                .label
        };
        assert!(refused(vec![1, 2].into()).starts_with("expected one id"));
        assert!(refused((-3).into()).starts_with("expected an id of the data set"));
    }
}
