//! settings: the entry function, and its parameters after `v`.
//!
//! promises  a setting has the type of its default (an integer may be given for a float); an
//!           unknown name is reported with the nearest known one; the resolved settings include the
//!           value of every setting
use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::tracer::{TraceResult, Tracer};
use super::value::Value;
use super::vertex_settings::several_by_name;
use crate::syntax::{self, Definition, Diagnostic, File};
use warploom_ir::{Data, Span, nearest};

/// A setting of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingOf {
    /// Its name, as in `plan.set.<name>`.
    pub name: String,
    /// Its default value.
    pub default: Json,
    /// Its description in the docstring, in a line `name: ...`; empty if there is none.
    pub doc: String,
}

/// The settings of a program, in the order of its parameters.
pub fn settings_of(text: &str, entry: &str) -> Result<Vec<SettingOf>, Vec<Diagnostic>> {
    let file = syntax::parse(text)?;
    let one = |found: Box<Diagnostic>| vec![*found];
    let function = entry_of(&file, entry).map_err(one)?;
    let data = Data::bare(0, 0);
    let defaults =
        Tracer::new(&file, entry, &data).settings(function, &BTreeMap::new()).map_err(one)?;
    let doc_of = |name: &str| {
        let lines = function.doc.as_deref().unwrap_or("").lines();
        lines
            .filter_map(|line| {
                line.trim().strip_prefix(name)?.strip_prefix(':').map(|doc| doc.trim().to_owned())
            })
            .next()
            .unwrap_or_default()
    };
    let named = function.parameters.iter().skip(1).map(|parameter| &parameter.name.text);
    Ok(named
        .filter_map(|name| {
            defaults.get(name).map(|default| SettingOf {
                name: name.clone(),
                default: default.clone(),
                doc: doc_of(name),
            })
        })
        .collect())
}

/// The entry function of a program.
pub(super) fn entry_of<'a>(file: &'a File, entry: &str) -> TraceResult<&'a Definition> {
    if let Some(function) = file.function(entry) {
        return Ok(function);
    }
    let names: Vec<&str> =
        file.functions.iter().map(|function| function.name.text.as_str()).collect();
    let span = file.functions.first().map(|function| function.name.span).unwrap_or_default();
    let what = format!("there is no function `{entry}`, which the program starts with");
    let (label, hint) = match (nearest(entry, names.iter().copied()), names.as_slice()) {
        (_, []) => ("the file has no function".to_owned(), format!("def {entry}(v): ...")),
        (Some(close), _) => (
            format!("the file has `{}`", names.join("`, `")),
            format!(
                "did you mean  {close}; the entry is named like the file, or as  file.py:{close}"
            ),
        ),
        (None, [first, ..]) => (
            format!("the file has `{}`", names.join("`, `")),
            format!("name the function like the file, or the entry as  file.py:{first}"),
        ),
    };
    Err(Box::new(Diagnostic::error(span, what, label).hint(hint)))
}

/// A setting that names vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexSetting {
    /// Its name, as in `plan.set.<name>`.
    pub name: String,
    /// Its default: rows, counted from 0, or ids as strings.
    pub default: Json,
    /// Whether it may name several: it is compared only by `in`.
    pub several: bool,
}

/// The vertex settings of a program, in the order of its parameters; none if the text is no valid
/// program.
pub fn vertex_settings_of(text: &str, entry: &str) -> Vec<VertexSetting> {
    let (Ok(file), Ok(settings)) = (syntax::parse(text), settings_of(text, entry)) else {
        return Vec::new();
    };
    let found = several_by_name(&file, entry);
    let of = |setting: SettingOf| {
        let several = *found.get(&setting.name)?;
        Some(VertexSetting { name: setting.name, default: setting.default, several })
    };
    settings.into_iter().filter_map(of).collect()
}

impl<'a> Tracer<'a> {
    /// Binds `v` and the settings to the entry's parameters, and returns every setting with its
    /// value.
    pub fn settings(
        &mut self,
        function: &'a Definition,
        given: &BTreeMap<String, Json>,
    ) -> TraceResult<BTreeMap<String, Json>> {
        let name = &function.name;
        let Some((vertex, settings)) = function.parameters.split_first() else {
            let found = Diagnostic::error(
                name.span,
                format!("`{}` has no parameter for the vertex", name.text),
                "expected `v` as the first one",
            );
            return Err(Box::new(found.hint(format!("def {}(v): ...", name.text))));
        };
        if let Some(default) = &vertex.default {
            let found = Diagnostic::error(
                default.span,
                "the first parameter is the vertex",
                "expected no default",
            );
            return Err(Box::new(
                found.hint(format!("def {}({}, ...): ...", name.text, vertex.name.text)),
            ));
        }
        self.check_given(
            name.span,
            &name.text,
            settings.iter().map(|setting| setting.name.text.as_str()).collect(),
            given,
        )?;
        let of_vertices = several_by_name(self.file, &name.text);
        let mut resolved = BTreeMap::new();
        let mut bound = vec![(vertex.name.text.clone(), Value::Vertex)];
        for setting in settings {
            let (setting_name, span) = (&setting.name.text, setting.name.span);
            let Some(default) = &setting.default else {
                let found = Diagnostic::error(
                    span,
                    format!("the setting `{setting_name}` has no default"),
                    "expected a default",
                );
                return Err(Box::new(found.hint(format!(
                    "def {}({}, {setting_name}=16): ...",
                    name.text, vertex.name.text
                ))));
            };
            let default_value = self.default(default)?;
            if !default_value.is_constant() {
                let label = format!(
                    "expected a number, bool, string or a tuple of them, found {}",
                    self.describe(&default_value)
                );
                return Err(Box::new(
                    Diagnostic::error(
                        default.span,
                        format!("the default of `{setting_name}` is not a constant"),
                        label,
                    )
                    .hint(format!("{setting_name}=16")),
                ));
            }
            if let Some(several) = of_vertices.get(setting_name) {
                check_vertices(
                    given.get(setting_name),
                    &default_value,
                    default.span,
                    setting_name,
                    span,
                    *several,
                )?;
                resolved.insert(setting_name.clone(), as_json(&default_value));
                bound.push((setting_name.clone(), Value::Chosen(setting_name.as_str().into())));
                continue;
            }
            let value = match given.get(setting_name) {
                Some(json) => self.fitted(json, &default_value, setting_name, span)?,
                None => default_value,
            };
            resolved.insert(setting_name.clone(), as_json(&value));
            bound.push((setting_name.clone(), value));
        }
        self.open_function();
        for ((name, value), parameter) in bound.into_iter().zip(&function.parameters) {
            let written = (!matches!(value, Value::Vertex)).then(|| {
                self.written.push(super::tracer::Written {
                    span: parameter.name.span,
                    what: format!("the setting `{name}`"),
                    node: None,
                    read: false,
                });
                self.written.len() - 1
            });
            self.bind(&name, value, written);
        }
        Ok(resolved)
    }

    fn check_given(
        &self,
        span: Span,
        program: &str,
        names: Vec<&str>,
        given: &BTreeMap<String, Json>,
    ) -> TraceResult<()> {
        if let Some(name) = given.keys().find(|name| !names.contains(&name.as_str())) {
            let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let label = if names.is_empty() {
                "it has no settings".to_owned()
            } else {
                format!("expected one of {known}")
            };
            let hint = match (nearest(name, names.iter().copied()), names.first()) {
                (Some(close), _) => format!("did you mean  plan.set.{close}"),
                (None, Some(first)) => format!("set, for one,  plan.set.{first}"),
                (None, None) => format!(
                    "leave  plan.set.{name}  out, or make it a parameter:  def {program}(v, \
                     {name}=...)"
                ),
            };
            return Err(Box::new(
                Diagnostic::error(span, format!("`{program}` has no setting `{name}`"), label)
                    .hint(hint),
            ));
        }
        Ok(())
    }

    /// The given value, converted to the default's type.
    fn fitted(&self, json: &Json, default: &Value, name: &str, span: Span) -> TraceResult<Value> {
        let wrong = || {
            let label = format!(
                "expected {}, found `{}`",
                type_in_words(default),
                clipped(&json.to_string())
            );
            Box::new(
                Diagnostic::error(span, format!("the setting `{name}` does not fit"), label).hint(
                    format!(
                        "its default is  plan.set.{name}={}",
                        clipped(&as_json(default).to_string())
                    ),
                ),
            )
        };
        fit(json, default).ok_or_else(wrong)
    }
}

/// Checks a vertex setting: an id of the data set, which the run looks up, or a row; or a list of
/// these, if it may name several.
fn check_vertices(
    given: Option<&Json>,
    default: &Value,
    default_span: Span,
    name: &str,
    span: Span,
    several: bool,
) -> TraceResult<()> {
    let is_row = |value: &Value| matches!(value, Value::Int(0..) | Value::Text(_));
    let fits = match default {
        Value::Tuple(values) => several && values.iter().all(is_row),
        value => is_row(value),
    };
    if !fits {
        let expected = if several {
            "a row, which counts from 0, an id as a string, or a tuple of these"
        } else {
            "a row, which counts from 0, or an id as a string"
        };
        let label = format!("expected {expected}, found {}", default.describe());
        let found = Diagnostic::error(
            default_span,
            format!("the default of `{name}` names no vertex, and it is compared with ids"),
            label,
        );
        return Err(Box::new(found.hint(match default {
            Value::Tuple(_) if !several => {
                format!("several are taken where the program says  v.id in {name}")
            }
            _ => format!("the first row is  {name}=0"),
        })));
    }
    // `1e5` and `true` may be ids as they are spelled; the run looks them up.
    let is_id =
        |json: &Json| json.is_u64() || json.is_f64() || json.is_boolean() || json.is_string();
    let (fits, expected) = match given {
        Some(Json::Array(ids)) => (
            several && !ids.is_empty() && ids.iter().all(is_id),
            if several { "at least one id, each a number or a word" } else { "one id" },
        ),
        Some(id) => (is_id(id), "an id of the data set, a number or a word"),
        None => return Ok(()),
    };
    if fits {
        return Ok(());
    }
    let label = format!(
        "expected {expected}, found `{}`",
        clipped(&given.map(Json::to_string).unwrap_or_default())
    );
    let found = Diagnostic::error(span, format!("the setting `{name}` does not fit"), label);
    Err(Box::new(found.hint(match given {
        Some(Json::Array(_)) if !several => {
            format!("the program takes several where it says  v.id in {name}")
        }
        _ => format!("plan.set.{name}=ID , or  plan.set.{name}=row:0  for the first row"),
    })))
}

fn fit(json: &Json, default: &Value) -> Option<Value> {
    match (default, json) {
        (Value::Bool(_), Json::Bool(value)) => Some(Value::Bool(*value)),
        (Value::Int(_), Json::Number(number)) => number.as_i64().map(Value::Int),
        (Value::Real(_), Json::Number(number)) => number.as_f64().map(Value::Real),
        // JSON has no infinity.
        (Value::Real(_), Json::String(text)) if matches!(text.as_str(), "inf" | "-inf") => {
            text.parse().ok().map(Value::Real)
        }
        (Value::Text(_), Json::String(text)) => Some(Value::text(text)),
        (Value::Tuple(defaults), Json::Array(items))
            if items.len() <= super::constants::TUPLE_MOST =>
        {
            let parts = items.iter().enumerate().map(|(index, item)| {
                match defaults.get(index).or(defaults.last()) {
                    Some(default) => fit(item, default),
                    None => plain(item),
                }
            });
            parts.collect::<Option<Vec<_>>>().map(Value::tuple)
        }
        _ => None,
    }
}

/// A value for which no default gives the type.
fn plain(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::Number(number) => {
            number.as_i64().map(Value::Int).or_else(|| number.as_f64().map(Value::Real))
        }
        Json::String(text) => Some(Value::text(text)),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

fn type_in_words(value: &Value) -> String {
    match value {
        Value::Bool(_) => "true or false".to_owned(),
        Value::Int(_) => "a whole number".to_owned(),
        Value::Real(_) => "a number".to_owned(),
        Value::Text(_) => "a string".to_owned(),
        Value::Tuple(values) => values.first().map_or_else(
            || "a list".to_owned(),
            |first| format!("a list, each {}", type_in_words(first)),
        ),
        other => other.describe(),
    }
}

fn clipped(text: &str) -> String {
    if text.chars().count() <= 60 {
        text.to_owned()
    } else {
        format!("{}...", text.chars().take(57).collect::<String>())
    }
}

fn as_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => Json::from(*value),
        Value::Int(value) => Json::from(*value),
        Value::Real(value) if value.is_finite() => Json::from(*value),
        Value::Real(value) => Json::from(value.to_string()),
        Value::Text(text) => Json::from(&**text),
        Value::Tuple(values) => Json::Array(values.iter().map(as_json).collect()),
        _ => Json::Null,
    }
}
