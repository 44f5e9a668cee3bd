//! aims: what is learned, and which rows are in which part: the data set's own, or what `run.target` names.
//!
//! promises  who trains and who proves a training see the same; rows stand in the order of nodes.parquet, or of graphs.parquet where graphs
//!           have the labels
//! never     is asked by a plan that trains nothing
use std::{borrow::Cow, collections::BTreeMap};

use warploom_contract::{
    Artifact, StageError,
    kinds::graph::{self, Labels, WholeNumbers},
};
use warploom_shell::requests::RunRequest;
use warploom_spec::Loss;

/// The data set's own.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    /// Labels, if it has any.
    pub labels: Option<&'a Labels>,
    /// Published splits.
    pub splits: &'a [Vec<u8>],
}

/// What is learned, on which rows.
pub struct Aims<'a> {
    /// What is to be learned of each row.
    pub labels: Option<Cow<'a, Labels>>,
    /// The part of each row; empty: there is no such split.
    pub parts: Cow<'a, [u8]>,
    /// The column that is learned, where it is not the data set's label.
    pub column: Option<Column>,
}

/// A column that is learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Names of its classes, if they are such.
    pub classes: Vec<String>,
}

impl Column {
    /// As a file of parameters says it: whoever applies them elsewhere knows what the classes are.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let classes = (!self.classes.is_empty()).then(|| ("classes".to_owned(), serde_json::Value::from(self.classes.as_slice()).to_string()));
        [("target".to_owned(), self.name.clone())].into_iter().chain(classes).collect()
    }
}

/// What a request asks for.
pub fn of<'a>(request: &RunRequest, artifact: &Artifact, own: Own<'a>) -> Result<Aims<'a>, StageError> {
    let spec = &request.spec;
    let parts = Cow::Borrowed(own.splits.get(spec.split as usize).map_or(&[][..], Vec::as_slice));
    if spec.target == graph::LABEL {
        return Ok(Aims { labels: own.labels.map(Cow::Borrowed), parts, column: None });
    }
    let whole_numbers = if matches!(spec.loss, Loss::Mse | Loss::Bce) { WholeNumbers::Values } else { WholeNumbers::Classes };
    let graph::Learned { labels, classes } = graph::read_learned(artifact, &spec.target, whole_numbers)?;
    Ok(Aims { labels: Some(Cow::Owned(labels)), parts, column: Some(Column { name: spec.target.clone(), classes }) })
}
