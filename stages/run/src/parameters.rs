//! parameters: initial parameters, and the file of learned ones.
//!
//! promises  without a file each parameter is drawn from (seed, name); with one, every parameter is
//!           found in it under its own name, its name in `run.init_map`, or its name under the
//!           file's entry function, with the same shape (apart from merged neighbouring axes and
//!           axes of length 1); otherwise nothing is loaded, and the error lists both sides
//! never     fills a parameter that a file lacks; ignores an entry of `run.init_map`
use std::{collections::BTreeMap, path::Path};

use safetensors::Dtype;
use warploom_contract::{Digest, ErrorKind, StageError};
use warploom_cpu::random::{glorot_uniform, normal};
use warploom_ir::{Init, Loss};
use warploom_launch::{LaunchList, Parameter};
use warploom_shell::parameter_file;
use warploom_spec::{RunSpec, nearest};

use crate::{
    checkpoints::collect_facts,
    precision::Precision,
    tensors::{Tensor, Tensors},
};

/// Initial values of each parameter, in the order of the list; `digest` is that of the file of
/// `run.init`.
pub fn initial_parameters<T: Precision>(
    list: &LaunchList,
    spec: &RunSpec,
    digest: Option<&Digest>,
) -> Result<Vec<Vec<T>>, StageError> {
    if let Some(path) = &spec.init {
        return read_parameters(list, path, digest, &spec.init_map);
    }
    parameter_file::refuse_missing_file(spec, &list.program)?;
    Ok(list.parameters.iter().map(|parameter| draw_parameter(parameter, spec.seed)).collect())
}

/// The parameters of `run.init`, which must be given, in the order of the list.
pub fn required_parameters<T: Precision>(
    list: &LaunchList,
    spec: &RunSpec,
    digest: Option<&Digest>,
) -> Result<Vec<Vec<T>>, StageError> {
    parameter_file::refuse_missing_file(spec, &list.program)?;
    initial_parameters(list, spec, digest)
}

fn draw_parameter<T: Precision>(parameter: &Parameter, seed: u64) -> Vec<T> {
    match parameter.init {
        Init::GlorotUniform => glorot_uniform(seed, &parameter.name, &parameter.shape),
        Init::Normal => normal(seed, &parameter.name, &parameter.shape),
        Init::Zero => vec![T::ZERO; parameter.shape.iter().product::<u64>() as usize],
        Init::One => vec![T::rounded(1.0); parameter.shape.iter().product::<u64>() as usize],
    }
}

fn read_parameters<T: Precision>(
    list: &LaunchList,
    path: &Path,
    digest: Option<&Digest>,
    map: &BTreeMap<String, String>,
) -> Result<Vec<Vec<T>>, StageError> {
    let bytes = std::fs::read(path)
        .map_err(|error| StageError::io("read initial parameters", path, &error))?;
    if digest != Some(&Digest::from_bytes(&bytes)) {
        let what = "the file of initial parameters has changed since this run began";
        return Err(StageError::new(ErrorKind::Input, what)
            .at(path.display())
            .hint("start again: its digest is in the key"));
    }
    let file = Tensors::from_bytes(&bytes)
        .map_err(|error| parameter_file::safetensors_error(path, error))?;
    let refuse = |what: String, hint: Option<String>| {
        let mut error = StageError::new(ErrorKind::Data, what)
            .at(path.display())
            .detail(list_expected_and_found(list, &file));
        error.hint = hint;
        error
    };
    if let Some(unknown) =
        map.keys().find(|ours| !list.parameters.iter().any(|parameter| parameter.name == **ours))
    {
        let near =
            nearest(unknown, list.parameters.iter().map(|parameter| parameter.name.as_str()));
        let hint = near.map(|near| {
            format!(
                "did you mean `{near}`?  keys of  run.init_map  are parameters of the program, \
                 values are tensors of the file"
            )
        });
        return Err(refuse(
            format!(
                "`run.init_map` names `{unknown}`, which is no parameter of `{}`",
                list.program
            ),
            hint,
        ));
    }
    let load = |parameter: &Parameter| {
        let of_entry = name_under_file_entry(list, &file, parameter);
        let theirs = map.get(&parameter.name).or(of_entry.as_ref()).unwrap_or(&parameter.name);
        let tensor = file.arrays.get(theirs).ok_or_else(|| {
            let near =
                nearest(theirs, file.arrays.keys().map(String::as_str)).unwrap_or("NAME_IN_FILE");
            refuse(
                format!("no tensor `{theirs}` for the parameter `{}`", parameter.name),
                Some(format!("add  run.init_map: {{{}: {near}}}", parameter.name)),
            )
        })?;
        convert_tensor(parameter, tensor)
            .map_err(|(what, hint)| refuse(format!("tensor `{theirs}`: {what}"), Some(hint)))
    };
    list.parameters.iter().map(load).collect()
}

/// The name of a parameter under the entry function that the file was learned with, if the file has
/// that name and not our own.
fn name_under_file_entry(
    list: &LaunchList,
    file: &Tensors,
    parameter: &Parameter,
) -> Option<String> {
    if file.arrays.contains_key(&parameter.name) {
        return None;
    }
    let theirs = file.facts.get("program")?;
    // The entry comes first, and again if it is the function that has the parameter.
    let part = |(at, part): (usize, &str)| {
        if at < 2 && part == list.program { theirs.clone() } else { part.to_owned() }
    };
    let name = parameter.name.split('.').enumerate().map(part).collect::<Vec<_>>().join(".");
    file.arrays.contains_key(&name).then_some(name)
}

/// The numbers of a tensor, rounded to the run's type; else what is wrong, and a hint.
fn convert_tensor<T: Precision>(
    parameter: &Parameter,
    tensor: &Tensor,
) -> Result<Vec<T>, (String, String)> {
    let found: Vec<u64> = tensor.shape.iter().map(|&axis| axis as u64).collect();
    if !has_joined_axes(&parameter.shape, &found) && !has_joined_axes(&found, &parameter.shape) {
        let what = format!(
            "expected shape {:?} for `{}`, found {found:?}",
            parameter.shape, parameter.name
        );
        let turned = found.iter().rev().eq(&parameter.shape);
        let hint = if turned {
            "weights are [out, in]: transpose it before saving"
        } else {
            "widths follow from  plan.set , from the features and from the classes: take those \
             that the file was made with"
        };
        return Err((what, hint.to_owned()));
    }
    match tensor.dtype {
        Dtype::F32 => Ok(f32::from_bytes(&tensor.bytes).into_iter().map(T::from_f32).collect()),
        Dtype::F64 => Ok(f64::from_bytes(&tensor.bytes).into_iter().map(T::rounded).collect()),
        other => {
            Err((format!("expected F32 or F64, found {other}"), "save it as float32".to_owned()))
        }
    }
}

/// Whether `joined` is `fine` with neighbouring axes merged, as `[heads * width]` is `[heads,
/// width]`; axes of length 1 do not count.
fn has_joined_axes(fine: &[u64], joined: &[u64]) -> bool {
    let long =
        |shape: &[u64]| shape.iter().copied().filter(|axis| *axis != 1).collect::<Vec<u64>>();
    let (fine, joined) = (long(fine), long(joined));
    if fine == joined {
        return true;
    }
    let mut axes = fine.iter();
    let each = joined.iter().all(|&axis| {
        let mut product = 1u64;
        while product < axis {
            let Some(next) = axes.next() else { return false };
            product = product.saturating_mul(*next);
        }
        product == axis
    });
    each && axes.next().is_none()
}

fn list_expected_and_found(list: &LaunchList, file: &Tensors) -> String {
    let expected = list
        .parameters
        .iter()
        .map(|parameter| format!("    {} {:?}", parameter.name, parameter.shape));
    let found = file.arrays.iter().map(|(name, tensor)| format!("    {name} {:?}", tensor.shape));
    let lines = |heading: &str, lines: Vec<String>| {
        format!(
            "  {heading}\n{}",
            if lines.is_empty() { "    nothing".to_owned() } else { lines.join("\n") }
        )
    };
    format!(
        "{}\n{}",
        lines("expected:", expected.collect()),
        lines("in the file:", found.collect())
    )
}

/// The file of learned parameters; with the loss and the width of a row of scores, if they make
/// scores.
pub fn parameter_tensors<T: Precision>(
    list: &LaunchList,
    scores: Option<(Loss, usize)>,
    seed: u64,
    parameters: &[Vec<T>],
) -> Tensors {
    let shape = |parameter: &Parameter| {
        parameter.shape.iter().map(|&axis| axis as usize).collect::<Vec<_>>()
    };
    let arrays = list.parameters.iter().zip(parameters);
    let mut facts = collect_facts([("program", list.program.clone()), ("seed", seed.to_string())]);
    if let Some((kind, columns)) = scores {
        facts.extend([
            ("loss".to_owned(), loss_name(kind).to_owned()),
            ("columns".to_owned(), columns.to_string()),
        ]);
    }
    Tensors {
        arrays: arrays
            .map(|(parameter, values)| {
                (parameter.name.clone(), Tensor::from_reals(&shape(parameter), values))
            })
            .collect(),
        facts,
    }
}

/// The name of a loss in a plan.
fn loss_name(kind: Loss) -> &'static str {
    match kind {
        Loss::CrossEntropy => "cross_entropy",
        Loss::MeanSquares => "mean_squares",
        Loss::Binary => "binary",
    }
}

#[cfg(test)]
mod tests {
    use warploom_ir::Loss;

    use super::{has_joined_axes, loss_name};

    #[test]
    fn a_loss_has_the_name_that_a_plan_gives_it() {
        for kind in [Loss::CrossEntropy, Loss::MeanSquares, Loss::Binary] {
            assert_eq!(serde_json::to_value(kind).unwrap(), loss_name(kind));
        }
    }

    #[test]
    fn neighbouring_axes_may_be_one_and_nothing_else_may_differ() {
        for (fine, joined) in [
            (&[8, 8][..], &[64][..]),
            (&[8, 8], &[8, 8]),
            (&[1, 8, 4], &[8, 4]),
            (&[2, 3, 4], &[6, 4]),
            (&[2, 3, 4], &[2, 12]),
            (&[1], &[]),
        ] {
            assert!(has_joined_axes(fine, joined), "{fine:?} {joined:?}");
        }
        for (fine, joined) in [
            (&[16, 30][..], &[30, 16][..]),
            (&[8, 8], &[32]),
            (&[64], &[8, 8]),
            (&[2, 3, 4], &[8, 3]),
            (&[4], &[4, 2]),
            (&[0], &[1]),
        ] {
            assert!(!has_joined_axes(fine, joined), "{fine:?} {joined:?}");
        }
    }
}
