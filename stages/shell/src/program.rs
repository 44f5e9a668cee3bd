//! program: the vertex program of a request: tracing, compilation, refusals, and kernel emission.
//!
//! promises  an error in the text has file, line, column and what to do; a refusal reads the same
//!           before the first stage and in `plan`, since both come from here; `auto` takes a GPU by
//!           the same function that emits or refuses the kernels of a plan
//! never     reads an artifact
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
pub use warploom_compiler::Compilation;
use warploom_compiler::compile_with_progress;
use warploom_contract::{ErrorKind, StageError};
use warploom_cuda::{DecidedKernels, Emitted, GpuTarget, Groups, Matmul, NoKernel, Order};
use warploom_device::{Capability, Facts, Grid};
use warploom_ir::{Data, Half};
use warploom_language::syntax::{Diagnostic, Severity};
use warploom_language::trace::{self, Traced};
use warploom_launch::LaunchList;
use warploom_spec::{Dtype, MistakeKind, Mode, PlanSpec, RunSpec};

use crate::stage_errors::mistake_error;

/// A program's text and what it is compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Its file.
    pub file: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// The function that it starts with.
    pub entry: &'a str,
    /// Settings as written in the pipeline.
    pub settings: &'a BTreeMap<String, Value>,
}

impl Program<'_> {
    /// Whether the program has learned parameters. `data` describes a data set without training.
    pub fn learns(&self, data: &Data) -> Result<bool, StageError> {
        Ok(has_learned_parameters(&self.trace(data)?))
    }

    /// Traces the program on a description of a data set.
    pub fn trace(&self, data: &Data) -> Result<Traced, StageError> {
        self.try_trace(data).map_err(|wrong| self.diagnostics_error(&wrong))
    }

    /// The same, with all diagnostics as the error.
    pub fn try_trace(&self, data: &Data) -> Result<Traced, Vec<Diagnostic>> {
        trace::trace(self.text, self.entry, self.settings, data)
    }

    /// Compiles the program to all its forms.
    pub fn compile(&self, data: Data) -> Result<Compilation, StageError> {
        self.compile_with_progress(data, &|| {})
    }

    /// The same; `on_step` is called after each step.
    pub fn compile_with_progress(
        &self,
        data: Data,
        on_step: &dyn Fn(),
    ) -> Result<Compilation, StageError> {
        let compiled = compile_with_progress(self.text, self.entry, self.settings, &data, on_step)
            .map_err(|wrong| self.diagnostics_error(&wrong))?;
        if let Err(flaws) = compiled.list.validate() {
            let all: Vec<String> = flaws.iter().map(ToString::to_string).collect();
            return Err(StageError::defect(format!(
                "the launch list of `{}` is invalid: {}",
                self.entry,
                all.join("; ")
            )));
        }
        Ok(compiled)
    }

    /// Diagnostics as a stage's error: the first with its place, the others below it.
    pub fn diagnostics_error(&self, wrong: &[Diagnostic]) -> StageError {
        let mut errors = wrong.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        let Some(first) = errors.next().or(wrong.first()) else {
            return StageError::defect("a program was refused without a diagnostic");
        };
        let page = self.render(first);
        let mut lines = page.lines();
        let _first_line = lines.next();
        let place = lines
            .next()
            .and_then(|line| line.trim().strip_prefix("--> "))
            .unwrap_or_default()
            .to_owned();
        let detail: Vec<&str> = lines.filter(|line| !line.starts_with("hint:")).collect();
        let others: String =
            errors.map(|other| format!("\n{}", self.render(other).trim_end())).collect();
        let mut error = StageError::new(ErrorKind::Specification, first.what.clone())
            .at(place)
            .detail(format!("{}{others}", detail.join("\n")));
        error.hint.clone_from(&first.hint);
        error
    }

    /// A diagnostic as text, with the line of the program.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        diagnostic.render(&self.file.display().to_string(), self.text)
    }
}

/// Whether a program has parameters to learn.
pub fn has_learned_parameters(traced: &Traced) -> bool {
    traced.gir.parameters.iter().any(|parameter| parameter.learned)
}

/// Gives an error about a setting the place of that setting in the pipeline, if it has one.
pub fn locate_setting_error(spec: &PlanSpec, error: StageError) -> StageError {
    let named = spec.set.iter().find(|setting| {
        error.what.contains("setting") && error.what.contains(&format!("`{}`", setting.name))
    });
    let Some(setting) = named else { return error };
    let place = if error.what.ends_with("does not fit") {
        &setting.value_place
    } else {
        &setting.name_place
    };
    let label = error.detail.as_deref().and_then(|page| {
        page.lines().find_map(|line| Some(line.split_once('^')?.1.trim_start_matches(['^', ' '])))
    });
    let mut shown = mistake_error(&place.clone().mistake(
        MistakeKind::UnknownValue,
        error.what.clone(),
        label.unwrap_or("this setting"),
    ));
    shown.hint = error.hint;
    shown
}

/// Refuses link prediction, which this version does not support.
pub fn refuse_links(run: &RunSpec) -> Result<(), StageError> {
    if run.mode != Mode::Link {
        return Ok(());
    }
    let hint = "learn a column of the nodes:  --set run.mode=train --set run.target=COLUMN  ; \
                edges are scored by a column of edges that a program returns";
    let what = "link prediction is not supported in this version yet";
    Err(StageError::new(ErrorKind::Specification, what).hint(hint))
}

/// Refuses a mode that a program cannot be run in.
pub fn refuse_other_mode(run: &RunSpec, program: &str, learns: bool) -> Result<(), StageError> {
    let what = match (run.mode, learns) {
        (Mode::Train, false) => "has nothing to learn",
        (Mode::Infer, false) => "has nothing that was learned",
        (Mode::Iterate, true) => "has parameters to learn",
        _ => return Ok(()),
    };
    let what =
        format!("`{program}` {what}, so it cannot be run with `run.mode: {}`", run.mode.name());
    Err(StageError::new(ErrorKind::Specification, what)
        .hint("leave  run.mode  out: it follows from the program"))
}

/// Refuses half precision for loops: rounding in every superstep would move or prevent convergence.
pub fn refuse_half_precision_loops(
    dtype: Dtype,
    program: &str,
    learns: bool,
) -> Result<(), StageError> {
    if half_format(dtype).is_none() || learns {
        return Ok(());
    }
    let what = format!(
        "`run.dtype: {}` is for programs that learn, and `{program}` has nothing to learn",
        dtype.name()
    );
    Err(StageError::new(ErrorKind::Specification, what)
        .hint("leave  run.dtype  out, or set it to  f32  or  f64"))
}

/// How to emit the kernels of a list for a GPU.
#[derive(Clone, Copy, Debug)]
pub struct GpuRequest<'a> {
    /// The program's name.
    pub program: &'a str,
    /// The dtype of the run.
    pub dtype: Dtype,
    /// The precision of matrix products.
    pub matmul: Matmul,
    /// Whether neighbouring rows read nearby rows.
    pub order: Order,
    /// The neighbour groups of each launch, if any.
    pub groups: &'a [Option<Groups>],
}

/// Decides on the kernels of a list for a GPU, or says why it has none: for `plan`, and for
/// `--device auto`. Prints none.
pub fn decide_for_gpu(
    list: &LaunchList,
    asked: &GpuRequest,
    device: &Facts,
) -> Result<DecidedKernels, StageError> {
    refuse_on_gpu(asked.dtype)?;
    let target = gpu_target(bytes_per_real(asked.dtype), asked.matmul, asked.order, device)?;
    warploom_cuda::decide(list, target, asked.groups).map_err(|refused| no_kernel_error(&refused))
}

/// Refuses what this version supports on the CPU only.
pub fn refuse_on_gpu(dtype: Dtype) -> Result<(), StageError> {
    if half_format(dtype).is_none() {
        return Ok(());
    }
    let what = format!(
        "`run.dtype: {}` is supported on the CPU only in this version; a GPU computes in `f32` and \
         `f64`",
        dtype.name()
    );
    Err(StageError::new(ErrorKind::Specification, what).hint("run it on  --device cpu"))
}

/// Emits the CUDA source of a list, for floats of so many bytes; launches use these neighbour
/// groups, if any.
pub fn emit_source(
    list: &LaunchList,
    bytes_per_real: u64,
    matmul: Matmul,
    order: Order,
    groups: &[Option<Groups>],
    device: &Facts,
) -> Result<Emitted, StageError> {
    let target = gpu_target(bytes_per_real, matmul, order, device)?;
    warploom_cuda::emit_in_groups(list, target, groups).map_err(|refused| no_kernel_error(&refused))
}

/// The properties of a device, and the options, that kernels depend on.
fn gpu_target(
    bytes_per_real: u64,
    matmul: Matmul,
    order: Order,
    device: &Facts,
) -> Result<GpuTarget, StageError> {
    let grid = source_grid(device)?;
    let warpgroups = device.capability().is_some_and(Capability::has_warpgroups);
    Ok(GpuTarget {
        bytes_per_real,
        processors: grid.processors,
        shared_bytes: grid.shared_bytes_most,
        matmul,
        order,
        warpgroups,
    })
}

/// The grid of a device that source is emitted for; an error for a CPU, which has none.
pub fn source_grid(device: &Facts) -> Result<&Grid, StageError> {
    let what =
        || format!("`{}` has no CUDA source: its kernels are part of this program", device.name);
    device.grid.as_ref().ok_or_else(|| {
        StageError::new(ErrorKind::Usage, what()).hint("--device cuda, or look at  --show launches")
    })
}

/// The error of an operation without a kernel on a GPU.
fn no_kernel_error(refused: &NoKernel) -> StageError {
    StageError::new(
        ErrorKind::Specification,
        format!("this version has no kernel for a part of the program on a GPU: {refused}"),
    )
    .hint("run it on  --device cpu")
}

/// The precision of matrix products on a GPU.
pub fn matmul_precision(spec: &PlanSpec) -> Matmul {
    match spec.matmul {
        warploom_spec::Matmul::F32 => Matmul::F32,
        warploom_spec::Matmul::Tf32 => Matmul::Tf32,
        warploom_spec::Matmul::Bf16 => Matmul::Bf16,
    }
}

/// Bytes of a float that the run computes with.
pub fn bytes_per_real(dtype: Dtype) -> u64 {
    match dtype {
        Dtype::F32 | Dtype::Bf16 | Dtype::F16 => 4,
        Dtype::F64 => 8,
    }
}

/// The half-precision format of stored wide rows, if any.
pub fn half_format(dtype: Dtype) -> Option<Half> {
    match dtype {
        Dtype::F32 | Dtype::F64 => None,
        Dtype::Bf16 => Some(Half::Bf16),
        Dtype::F16 => Some(Half::F16),
    }
}
