//! column_names: which columns of a node table a vertex program can read, with names and types.
//!
//! promises  plan and run agree on the type of a column
//! never     reads a row
use arrow_schema::{DataType, Schema};
use warploom_ir::Type;

/// The type of such a column in the vertex language; none if it holds no numbers.
pub fn column_type(found: &DataType) -> Option<Type> {
    match found {
        DataType::Boolean => Some(Type::Bool),
        DataType::Float32 | DataType::Float64 => Some(Type::Real),
        whole if whole.is_integer() => Some(Type::Int),
        _ => None,
    }
}

/// Names and types of the columns of a node table that a program can read: not ids, graphs or
/// splits and, while something is learned, neither the label nor the learned column.
pub fn readable_columns(
    schema: &Schema,
    learned: Option<&str>,
) -> impl Iterator<Item = (String, Type)> {
    let hidden = |name: &str| {
        matches!(name, "id" | "graph" | "split")
            || learned.is_some_and(|learned| name == learned || name == "label")
    };
    let fields = schema.fields().iter().filter(move |field| !hidden(field.name()));
    fields
        .filter_map(|field| Some((field.name().clone(), column_type(field.data_type())?)))
        .collect::<Vec<_>>()
        .into_iter()
}
