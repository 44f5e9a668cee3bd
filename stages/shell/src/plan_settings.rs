//! plan_settings: the text and the settings of the program that a pipeline names.
use std::collections::BTreeMap;

use serde_json::{Value, json};
use warploom_contract::StageError;
use warploom_spec::{Pipeline, PlanSpec, Scalar};

use crate::program_file;

/// Text of the program that a pipeline names.
pub(crate) fn program_text(pipeline: &Pipeline) -> Result<String, StageError> {
    let path = &pipeline.plan.program.file;
    program_file::read_program(path).map_err(|error| match error.hint {
        Some(_) => error,
        None => error.hint(
            "set  plan.program  to a file of  pipelines/programs , relative to the pipeline file",
        ),
    })
}

/// The settings of a program as written in the pipeline.
pub fn pipeline_settings(spec: &PlanSpec) -> BTreeMap<String, Value> {
    spec.set.iter().map(|setting| (setting.name.clone(), to_json(&setting.value))).collect()
}

fn to_json(value: &Scalar) -> Value {
    match value {
        Scalar::Bool(value) => json!(value),
        Scalar::Whole(value) => json!(value),
        Scalar::Real(value) => json!(value),
        Scalar::Text(value) => json!(value),
        Scalar::List(items) => items.iter().map(to_json).collect(),
    }
}
