//! nonfinite_trace: finds where the first NaN or infinity came from.
//!
//! promises  looks at features first, then at launches in their order; names the node by its own
//!           id, the first one in the data set's order
//! never     runs before something has gone wrong: later launches overwrite earlier values, so
//!           that launches are run again, one by one
use std::borrow::Cow;

use rayon::prelude::*;
use warploom_contract::{ErrorKind, StageError};
use warploom_ir::{Half, Input};
use warploom_launch::{Body, Element, LaunchList, Role, Rows};
use warploom_spec::Optimizer;

use crate::{
    backend::Backend,
    host_state::HostState,
    inputs::input_data::{SparseFeatures, format_id},
    precision::Precision,
    resolved_program::{Part, Pass},
    training::optimizers::name_and_rate,
};

/// A learning rate that is seldom too large.
const RATE_USUAL: f64 = 0.01;

/// A launch with a non-finite value, and its first such row, where rows have names.
type NonfiniteSource = (String, Option<String>);

/// The error for a loss that is not finite.
pub fn loss_error<T: Precision>(
    backend: &mut dyn Backend<T>,
    list: &LaunchList,
    pass: Pass,
    optimizer: &Optimizer,
) -> StageError {
    let epoch = pass.epoch;
    let loss = backend.host().loss;
    let (name, rate) = name_and_rate(optimizer);
    let smaller = format!(
        "--set run.optimizer.{name}.lr={:?}",
        round_to_three_digits((rate / 10.0).min(RATE_USUAL))
    );
    let base = |what: String| {
        StageError::new(ErrorKind::Data, format!("epoch {epoch}: the loss is `{loss}`; {what}"))
    };
    let further = if list.buffers.iter().any(|buffer| buffer.element == Element::Half(Half::F16)) {
        "set  --set run.dtype=bf16  , which goes beyond 65504 as f32 does; or "
    } else {
        ""
    };
    if let Some((_, node)) = find_in_features(backend.host(), list) {
        return base(format!("the features of node `{node}` hold a number that is not finite"))
            .hint(format!(
                "{further}look at the features of node `{node}`: the data set, or  ingest.normalize"
            ));
    }
    let data = &backend.host().data;
    if let Err(damage) = data.row_lists.check_bounds(data.nodes, data.edges) {
        return damage;
    }
    let steps = [Part::Prepare, Part::Forward, Part::Loss]
        .into_iter()
        .flat_map(|part| backend.host().program.part(part))
        .collect();
    let found = find_in_launches(backend, list, steps, pass, is_nonfinite);
    let host = backend.host();
    let reals = host.buffers.reals();
    let learned = host
        .program
        .parameters
        .iter()
        .find(|learned| reals.get(learned.buffer).iter().any(|value| is_nonfinite(*value)));
    let mut error = match found {
        Some((launch, Some(row))) => base(format!(
            "the first launch that made a number that is not finite is `{launch}`, at {row}"
        )),
        Some((launch, None)) => {
            base(format!("the first launch that made a number that is not finite is `{launch}`"))
        }
        None => base("every number before it is finite".to_owned()),
    };
    if let Some(learned) = learned {
        error = error.detail(format!(
            "  the parameter `{}` is not finite after {epoch} updates: the learning rate is too \
             large",
            learned.name
        ));
    }
    if epoch == 0 {
        return error.hint(format!(
            "{further}no update was made yet: look at the features, which  --set \
             ingest.normalize=row  makes small, at weights of edges and at  plan.set"
        ));
    }
    error.hint(format!(
        "{further}lower the learning rate:  {smaller}  ; or look at the features, which  --set \
         ingest.normalize=row  makes small"
    ))
}

/// Rounds to three digits, for a hint.
fn round_to_three_digits(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// The error for states that became NaN in this superstep of a loop, before its commits.
pub fn superstep_error<T: Precision>(
    backend: &mut dyn Backend<T>,
    list: &LaunchList,
    number: usize,
    superstep: u64,
) -> StageError {
    let is_nan = |value: T| value.widened().is_nan();
    let found = find_in_first_values(backend.host(), list, number, is_nan).or_else(|| {
        let steps = backend.host().program.part(Part::Superstep(number)).collect();
        find_in_launches(backend, list, steps, Pass { epoch: 0, training: false }, is_nan)
    });
    let place = match found {
        Some((launch, Some(row))) => format!("first made by `{launch}`, at {row}"),
        _ => "made by no single launch".to_owned(),
    };
    StageError::new(
        ErrorKind::Data,
        format!("superstep {superstep}: a value is not a number, {place}"),
    )
    .hint("look at the edges of that node and at  plan.set")
}

/// The launch of the first value of a state, if that value is not finite: then no superstep is to
/// blame.
fn find_in_first_values<T: Precision>(
    host: &HostState<T>,
    list: &LaunchList,
    number: usize,
    is_odd: impl Fn(T) -> bool + Copy + Sync,
) -> Option<NonfiniteSource> {
    let Body::Iterate(iterate) = &list.body else { return None };
    let repeated = iterate.loops.get(number)?;
    repeated.commit.iter().find_map(|commit| {
        let row = find_in_buffer(host, list, &commit.state, is_odd)?;
        let made = repeated
            .prepare
            .iter()
            .rfind(|launch| launch.operation.writes().contains(&Cow::from(&commit.state)))?;
        Some((made.name.clone(), row))
    })
}

/// The features that are not finite, if any: buffer and node.
fn find_in_features<T: Precision>(
    host: &HostState<T>,
    list: &LaunchList,
) -> Option<(String, String)> {
    let features = list.buffers.iter().find(|buffer| buffer.role == Role::Features);
    if let Some(buffer) = features {
        let node = first_nonfinite_node(
            host,
            &host.real_elements(&buffer.name)?,
            buffer.columns as usize,
            is_nonfinite,
        )?;
        return Some((buffer.name.clone(), node));
    }
    if let Some(found) = find_in_kind_features(host, list) {
        return Some(found);
    }
    let sparse = host.data.sparse.as_ref()?;
    let data = &host.data;
    Some((
        "features".to_owned(),
        format_id(&data.ids, data.artifact_row(first_nonfinite_row(sparse)?)),
    ))
}

/// The row of the first value of sparse features that is not finite.
fn first_nonfinite_row<T: Precision>(sparse: &SparseFeatures<T>) -> Option<usize> {
    let entry = sparse.values.iter().position(|value| is_nonfinite(*value))?;
    Some(sparse.offsets.partition_point(|&offset| offset <= entry as u64) - 1)
}

/// The same for features of kinds, whose rows are in the order of the graph artifact.
fn find_in_kind_features<T: Precision>(
    host: &HostState<T>,
    list: &LaunchList,
) -> Option<(String, String)> {
    let data = &host.data;
    list.buffers.iter().find_map(|buffer| {
        let (kind, row) = match buffer.role {
            Role::Given(Input::FeaturesOf(kind)) => {
                let odd = host
                    .real_elements(&buffer.name)?
                    .iter()
                    .position(|value| is_nonfinite(*value))?;
                (kind, odd / buffer.columns.max(1) as usize)
            }
            Role::SparseFeaturesOf { kind, .. } => {
                (kind, first_nonfinite_row(data.sparse_features(Some(kind))?)?)
            }
            _ => return None,
        };
        let node = data
            .kind_of_node
            .iter()
            .enumerate()
            .filter(|(_, of)| u32::from(**of) == kind)
            .map(|(node, _)| node)
            .nth(row)?;
        Some((format!("features of kind {kind}"), format_id(&data.ids, node)))
    })
}

/// Runs these steps again; gives the first that computes a bad value.
fn find_in_launches<T: Precision>(
    backend: &mut dyn Backend<T>,
    list: &LaunchList,
    steps: Vec<usize>,
    pass: Pass,
    is_odd: impl Fn(T) -> bool + Copy + Sync,
) -> Option<NonfiniteSource> {
    let launches = list.launches();
    steps.into_iter().find_map(|step| {
        backend.launch_on_host(step, pass);
        let writes = launches.get(step)?.operation.writes();
        let row =
            writes.iter().find_map(|name| find_in_buffer(backend.host(), list, name, is_odd))?;
        Some((launches[step].name.clone(), row))
    })
}

/// The first bad row of a buffer that launches write.
fn find_in_buffer<T: Precision>(
    host: &HostState<T>,
    list: &LaunchList,
    name: &str,
    is_odd: impl Fn(T) -> bool + Copy + Sync,
) -> Option<Option<String>> {
    let buffer =
        list.buffers.iter().find(|buffer| buffer.name == *name && buffer.role == Role::Value)?;
    let elements = host.real_elements(&buffer.name)?;
    if !elements.par_iter().any(|value| is_odd(*value)) {
        return None;
    }
    let columns = buffer.columns as usize;
    Some(match buffer.rows {
        Rows::Nodes => first_nonfinite_node(host, &elements, columns, is_odd)
            .map(|node| format!("node `{node}`")),
        Rows::Graphs(_) => {
            let odd = elements
                .chunks(columns.max(1))
                .position(|row| row.iter().any(|value| is_odd(*value)));
            odd.map(|row| host.data.describe_row(buffer.rows, row))
        }
        _ => None,
    })
}

/// The node of the first bad row in the data set's order, by its own id.
fn first_nonfinite_node<T: Precision>(
    host: &HostState<T>,
    elements: &[T],
    columns: usize,
    is_odd: impl Fn(T) -> bool + Copy + Sync,
) -> Option<String> {
    let data = &host.data;
    let odd = |(row, elements): (usize, &[T])| {
        elements.iter().any(|value| is_odd(*value)).then(|| data.artifact_row(row))
    };
    let first = elements.par_chunks(columns.max(1)).enumerate().filter_map(odd).min()?;
    Some(format_id(&data.ids, first))
}

fn is_nonfinite<T: Precision>(value: T) -> bool {
    !value.widened().is_finite()
}
