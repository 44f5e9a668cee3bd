//! schema: the JSON Schema of pipeline files, for editors.
//!
//! promises  draft 2020-12, generated from the same declarations as the decoding: names, types,
//!           ranges, words, defaults and explanations agree
//! never     refuses what `read` accepts (except `"true"` in quotes where a choice has the word);
//!           it may accept what `read` refuses: a schema cannot count variants
use serde_json::{Value as Json, json};

use crate::{
    field::{FieldDoc, Shape, sorted_object},
    reader::join_path,
    types::word,
};

/// The schema of a file with these fields.
pub(crate) fn schema(top: &[FieldDoc]) -> Json {
    let mut schema = section(top, top);
    if let Json::Object(map) = &mut schema {
        map.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        map.insert("title".into(), "Warploom pipeline".into());
        map.insert(
            "description".into(),
            "What to compute: a data set, a vertex program, and the settings of every stage."
                .into(),
        );
        map.insert("type".into(), "object".into());
    }
    sort_keys(schema)
}

/// Keys sorted at every level, so that the text is the same in every build.
fn sort_keys(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            sorted_object(map.into_iter().map(|(key, value)| (key, sort_keys(value))))
        }
        Json::Array(items) => items.into_iter().map(sort_keys).collect(),
        other => other,
    }
}

fn section(fields: &[FieldDoc], top: &[FieldDoc]) -> Json {
    let properties = sorted_object(
        fields.iter().map(|field| (field.name.to_string(), describe_field(field, top))),
    );
    // Required fields may come from the command line, so none is required here.
    json!({"type": ["object", "null"], "properties": properties, "additionalProperties": false})
}

fn describe_field(field: &FieldDoc, top: &[FieldDoc]) -> Json {
    let mut schema = shape_schema(&field.shape, field, top);
    let mut text = field.doc.clone();
    if let Some(unit) = field.unit {
        text.push_str(&format!(" Unit: {unit}."));
    }
    if let Shape::Choice(words) = field.shape.element_shape() {
        for word in words {
            text.push_str(&format!("\n- {}: {}", word.name, word.doc));
        }
    }
    if let Json::Object(map) = &mut schema {
        map.insert("description".into(), text.into());
        if field.example.is_none()
            && !matches!(field.shape, Shape::Section(_) | Shape::Matrix)
            && !field.default.is_null()
        {
            map.insert("default".into(), field.default.clone());
        }
        if let Some(example) = field.example {
            map.insert("examples".into(), json!([example]));
        }
    }
    schema
}

fn shape_schema(shape: &Shape, field: &FieldDoc, top: &[FieldDoc]) -> Json {
    match shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Whole => number("integer", field, Some(u64::MAX)),
        Shape::Real => number("number", field, None),
        Shape::Text | Shape::File => {
            json!({"type": ["string", "number", "boolean"], "minLength": 1})
        }
        Shape::Program => json!({"type": "string", "pattern": "\\.py(:[^:\\s]+)?$"}),
        Shape::Scalar => json!({"type": ["number", "string", "boolean", "array"]}),
        Shape::Choice(words) => {
            json!({"enum": words.iter().map(|choice| word(choice.name)).collect::<Vec<_>>()})
        }
        Shape::List(inner) => {
            json!({"type": ["array", "null"], "items": shape_schema(inner, field, top)})
        }
        Shape::OneOrMore(inner) => {
            let one = shape_schema(inner, field, top);
            json!({"anyOf": [one.clone(), {"type": "array", "minItems": 1, "items": one}]})
        }
        Shape::WordOrEntries(word, fields) => {
            let (word, entry) = (shape_schema(word, field, top), section(fields, top));
            json!({"anyOf": [word, {"type": "array", "minItems": 1, "items": entry}]})
        }
        Shape::Map(inner) => {
            let of_values = shape_schema(inner, field, top);
            json!({"type": ["object", "null"], "additionalProperties": of_values})
        }
        Shape::Optional(inner) => {
            json!({"anyOf": [shape_schema(inner, field, top), {"type": "null"}]})
        }
        Shape::Section(fields) => section(fields, top),
        Shape::OneOf(fields) => {
            let properties = sorted_object(
                fields.iter().map(|field| (field.name.to_string(), describe_field(field, top))),
            );
            json!({
                "type": "object",
                "properties": properties,
                "additionalProperties": false,
                "minProperties": 1,
                "maxProperties": 1,
            })
        }
        Shape::Matrix => {
            let axes = sorted_object(axes(top, "", top));
            let free = json!({"^plan\\.set\\..": {"type": "array", "minItems": 1, "items": {"type": ["number", "string", "boolean", "array"]}}});
            json!({"type": ["object", "null"], "properties": axes, "patternProperties": free, "additionalProperties": false})
        }
    }
}

/// Every setting that can be swept, by its dotted path.
fn axes(fields: &[FieldDoc], above: &str, top: &[FieldDoc]) -> Vec<(String, Json)> {
    let mut found = Vec::new();
    for field in fields {
        let path = join_path(above, field.name);
        match &field.shape {
            Shape::Matrix => continue,
            _ if path == "pipeline" => continue,
            Shape::Section(inner) | Shape::OneOf(inner) => found.extend(axes(inner, &path, top)),
            _ => {}
        }
        let items = shape_schema(&field.shape, field, top);
        found.push((
            path,
            json!({"type": "array", "minItems": 1, "items": items, "description": field.doc}),
        ));
    }
    found
}

fn number(name: &str, field: &FieldDoc, most: Option<u64>) -> Json {
    let mut schema = json!({"type": name});
    let Json::Object(map) = &mut schema else { return schema };
    let shown = |bound: f64| if bound.fract() == 0.0 { json!(bound as i64) } else { json!(bound) };
    match field.range {
        Some(range) => {
            map.insert(
                if range.low_open { "exclusiveMinimum" } else { "minimum" }.into(),
                shown(range.low),
            );
            if let Some(high) = range.high {
                map.insert(
                    if range.high_open { "exclusiveMaximum" } else { "maximum" }.into(),
                    shown(high),
                );
            }
        }
        None if most.is_some() => drop(map.insert("minimum".into(), json!(0))),
        None => {}
    }
    if let Some(range) = field.range.filter(|range| range.step > 0) {
        map.insert("multipleOf".into(), range.step.into());
    }
    if let (Some(most), false) = (most, map.contains_key("maximum")) {
        map.insert("maximum".into(), most.into());
    }
    schema
}
