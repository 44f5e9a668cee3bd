//! failure: where the first number that is not finite came from.
//!
//! promises  names what was looked at in the order in which it was made (features, then launches), and the node by the data
//!           set's own id, the first in the data set's order
//! never     runs before something has gone wrong: it reads every buffer
use rayon::prelude::*;
use warploom_contract::{ErrorKind, StageError};
use warploom_spec::Optimizer;
use warploom_vertex::gir::Input;
use warploom_vertex::launch::{LaunchList, Role, Rows};

use crate::{
    executor::Executor,
    optimizers::name_and_rate,
    precision::Precision,
    upload::{Sparse, shown_id},
};

/// The error for a loss that is not finite.
pub fn of_loss<T: Precision>(executor: &Executor<T>, list: &LaunchList, epoch: u64, optimizer: &Optimizer) -> StageError {
    let loss = executor.machine.loss;
    let (name, rate) = name_and_rate(optimizer);
    let smaller = format!("--set run.optimizer.{name}.lr={:?}", short(rate / 10.0));
    let base = |what: String| StageError::new(ErrorKind::Data, format!("epoch {epoch}: the loss is `{loss}`; {what}"));
    if let Some((_, node)) = in_inputs(executor, list) {
        return base(format!("the features of node `{node}` hold a number that is not finite"))
            .hint(format!("look at the features of node `{node}`: the data set, or  ingest.normalize"));
    }
    let learned = executor.program.parameters.iter().find(|learned| executor.machine.reals.get(learned.buffer).iter().any(|value| is_odd(*value)));
    let mut error = match in_launches(executor, list) {
        Some((launch, Some(row))) => base(format!("the first launch that made a number that is not finite is `{launch}`, at {row}")),
        Some((launch, None)) => base(format!("the first launch that made a number that is not finite is `{launch}`")),
        None => base("every number before it is finite".to_owned()),
    };
    if let Some(learned) = learned {
        error = error.detail(format!("  the parameter `{}` is not finite after {epoch} updates: its steps were too large", learned.name));
    }
    error.hint(format!("take smaller steps:  {smaller}  ; or look at the features, which  --set ingest.normalize=row  makes small"))
}

/// A number with three digits.
fn short(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// The error for states that became NaN.
pub fn of_superstep<T: Precision>(executor: &Executor<T>, list: &LaunchList, superstep: u64) -> StageError {
    let place = match in_launches(executor, list) {
        Some((launch, Some(row))) => format!("first made by `{launch}`, at {row}"),
        _ => "made by no single launch".to_owned(),
    };
    StageError::new(ErrorKind::Data, format!("superstep {superstep}: a value is not a number, {place}")).hint("look at the edges of that node and at  plan.set")
}

/// The features that are not finite, if any: buffer and node.
fn in_inputs<T: Precision>(executor: &Executor<T>, list: &LaunchList) -> Option<(String, String)> {
    let features = list.buffers.iter().find(|buffer| buffer.role == Role::Features);
    if let Some(buffer) = features {
        let node = first_node(executor, executor.real(&buffer.name)?, buffer.columns as usize)?;
        return Some((buffer.name.clone(), node));
    }
    if let Some(found) = in_kinds(executor, list) {
        return Some(found);
    }
    let sparse = executor.machine.data.sparse.as_ref()?;
    let data = &executor.machine.data;
    Some(("features".to_owned(), shown_id(&data.ids, data.old(first_row(sparse)?))))
}

/// The row of the first value of sparse features that is not finite.
fn first_row<T: Precision>(sparse: &Sparse<T>) -> Option<usize> {
    let entry = sparse.values.iter().position(|value| is_odd(*value))?;
    Some(sparse.offsets.partition_point(|&offset| offset <= entry as u64) - 1)
}

/// As `in_inputs`, of features of kinds, whose rows stand in the order of the graph artifact.
fn in_kinds<T: Precision>(executor: &Executor<T>, list: &LaunchList) -> Option<(String, String)> {
    let data = &executor.machine.data;
    list.buffers.iter().find_map(|buffer| {
        let (kind, row) = match buffer.role {
            Role::Given(Input::FeaturesOf(kind)) => {
                let odd = executor.real(&buffer.name)?.iter().position(|value| is_odd(*value))?;
                (kind, odd / buffer.columns.max(1) as usize)
            }
            Role::SparseFeaturesOf { kind, .. } => (kind, first_row(data.sparse_of(Some(kind))?)?),
            _ => return None,
        };
        let node = data.kind_of_node.iter().enumerate().filter(|(_, of)| u32::from(**of) == kind).map(|(node, _)| node).nth(row)?;
        Some((format!("features of kind {kind}"), shown_id(&data.ids, node)))
    })
}

/// The first launch whose output is not finite, and the node, or graph, where it has rows for such.
fn in_launches<T: Precision>(executor: &Executor<T>, list: &LaunchList) -> Option<(String, Option<String>)> {
    for launch in list.launches() {
        for name in launch.operation.writes() {
            let Some(buffer) = list.buffers.iter().find(|buffer| buffer.name == *name && buffer.role == Role::Value) else { continue };
            let Some(elements) = executor.real(&buffer.name) else { continue };
            if !elements.par_iter().any(|value| is_odd(*value)) {
                continue;
            }
            let row = match buffer.rows {
                Rows::Nodes => first_node(executor, elements, buffer.columns as usize).map(|node| format!("node `{node}`")),
                Rows::Graphs(_) => {
                    let odd = elements.chunks(buffer.columns.max(1) as usize).position(|row| row.iter().any(|value| is_odd(*value)));
                    odd.map(|row| executor.machine.data.shown(buffer.rows, row))
                }
                _ => None,
            };
            return Some((launch.name.clone(), row));
        }
    }
    None
}

/// The first node, as the data set counts and calls it, with an odd number in its row.
fn first_node<T: Precision>(executor: &Executor<T>, elements: &[T], columns: usize) -> Option<String> {
    let data = &executor.machine.data;
    let odd = |(row, elements): (usize, &[T])| elements.iter().any(|value| is_odd(*value)).then(|| data.old(row));
    let first = elements.par_chunks(columns.max(1)).enumerate().filter_map(odd).min()?;
    Some(shown_id(&data.ids, first))
}

fn is_odd<T: Precision>(value: T) -> bool {
    !value.widened().is_finite()
}
