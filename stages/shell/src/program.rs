//! program: a vertex program as a request names it, and what can be said of it without a graph.
//!
//! promises  what is wrong with a text is said with file, line, column and what to do; a refusal
//!           reads the same before the first stage and in `plan`, since both are made here; `auto`
//!           takes a GPU by the same function that makes or refuses a plan for one
//! never     reads an artifact
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use warploom_contract::{ErrorKind, StageError};
use warploom_device::{Facts, Grid};
use warploom_spec::{Dtype, MistakeKind, Mode, PlanSpec, RunSpec};
pub use warploom_vertex::compile::Compilation;
use warploom_vertex::{
    builtin::SettingError,
    compile::compile_with_progress,
    emit::cuda::{self, Emitted, GpuTarget, Groups, Matmul, NoKernel, Order},
    gir::Data,
    launch::{Body, Half, LaunchList},
    syntax::{Diagnostic, Severity},
    trace::{self, Traced},
};

use crate::stage_errors::mistake_error;

/// A program's text and what it is compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The file that it stands in.
    pub file: &'a Path,
    /// Its text.
    pub text: &'a str,
    /// The function that it starts with.
    pub entry: &'a str,
    /// Settings that are given.
    pub settings: &'a BTreeMap<String, Value>,
}

impl Program<'_> {
    /// Whether the program has learned parts. `data` is that of a program that is not trained.
    pub fn learns(&self, data: &Data) -> Result<bool, StageError> {
        Ok(is_learned(&self.trace(data)?))
    }

    /// The program's values as written.
    pub fn trace(&self, data: &Data) -> Result<Traced, StageError> {
        self.try_trace(data).map_err(|wrong| self.error(&wrong))
    }

    /// The same, with all that is wrong.
    pub fn try_trace(&self, data: &Data) -> Result<Traced, Vec<Diagnostic>> {
        trace::trace(self.text, self.entry, self.settings, data)
    }

    /// All forms.
    pub fn compile(&self, data: Data) -> Result<Compilation, StageError> {
        self.compile_with_progress(data, &|| {})
    }

    /// The same; `on_step` is called for each step that is done.
    pub fn compile_with_progress(
        &self,
        data: Data,
        on_step: &dyn Fn(),
    ) -> Result<Compilation, StageError> {
        let compiled = compile_with_progress(self.text, self.entry, self.settings, &data, on_step)
            .map_err(|wrong| self.error(&wrong))?;
        if let Err(flaws) = compiled.list.validate() {
            let all: Vec<String> = flaws.iter().map(ToString::to_string).collect();
            return Err(StageError::defect(format!(
                "the launch list of `{}` does not hold together: {}",
                self.entry,
                all.join("; ")
            )));
        }
        Ok(compiled)
    }

    /// What is wrong, as a stage's error: the first at its place, the others below it.
    pub fn error(&self, wrong: &[Diagnostic]) -> StageError {
        let mut errors = wrong.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        let Some(first) = errors.next().or(wrong.first()) else {
            return StageError::defect("a program was refused without a word");
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

    /// A diagnostic as a person reads it.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        diagnostic.render(&self.file.display().to_string(), self.text)
    }
}

/// Whether a program has parts to learn.
pub fn is_learned(traced: &Traced) -> bool {
    traced.gir.parameters.iter().any(|parameter| parameter.learned)
}

/// An error about a setting stands where the setting does, if it names one that is given.
pub fn at_setting(spec: &PlanSpec, error: StageError) -> StageError {
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

/// What is wrong with a setting of a program whose list is written by hand.
pub fn setting_error(spec: &PlanSpec, error: &SettingError) -> StageError {
    let place = match error {
        SettingError::Unknown { setting, .. } => {
            spec.set.get(setting).map(|setting| setting.name_place.clone())
        }
        SettingError::WrongType { setting, .. } | SettingError::OutOfRange { setting, .. } => {
            spec.set.get(setting).map(|setting| setting.value_place.clone())
        }
        SettingError::Unfit { .. } => None,
    };
    let mut shown = match place {
        Some(place) => {
            mistake_error(&place.mistake(MistakeKind::UnknownValue, error.to_string(), "here"))
        }
        None => StageError::new(ErrorKind::Specification, error.to_string()),
    };
    shown.hint = Some(error.hint());
    shown
}

/// Refuses a mode that this version does not have.
pub fn refuse_links(run: &RunSpec) -> Result<(), StageError> {
    if run.mode != Mode::Link {
        return Ok(());
    }
    let hint = "learn a column of the nodes:  --set run.mode=train --set run.target=COLUMN  ; \
                edges are scored by a column of edges that a program returns";
    Err(StageError::new(ErrorKind::Specification, "links are not learned in this version yet")
        .hint(hint))
}

/// Refuses a mode that a program cannot be run in.
pub fn refuse_other_mode(run: &RunSpec, program: &str, learns: bool) -> Result<(), StageError> {
    let what = match (run.mode, learns) {
        (Mode::Train, false) => "has nothing to learn",
        (Mode::Infer, false) => "has nothing that was learned",
        (Mode::Iterate, true) => "has parts to learn",
        _ => return Ok(()),
    };
    let what =
        format!("`{program}` {what}, so it cannot be run with `run.mode: {}`", run.mode.name());
    Err(StageError::new(ErrorKind::Specification, what)
        .hint("leave  run.mode  out: it follows from the program"))
}

/// Rounded again and again, supersteps would end elsewhere, or never.
pub fn refuse_halves_of_loops(dtype: Dtype, program: &str, learns: bool) -> Result<(), StageError> {
    if half(dtype).is_none() || learns {
        return Ok(());
    }
    let what = format!(
        "`run.dtype: {}` is for programs that learn, and `{program}` has nothing to learn",
        dtype.name()
    );
    Err(StageError::new(ErrorKind::Specification, what)
        .hint("leave  run.dtype  out, or set it to  f32  or  f64"))
}

/// What a GPU is asked to do with a list.
#[derive(Clone, Copy, Debug)]
pub struct OnGpu<'a> {
    /// The program's name.
    pub program: &'a str,
    /// The numbers that are computed with.
    pub dtype: Dtype,
    /// What products multiply.
    pub matmul: Matmul,
    /// Which rows neighbouring rows read.
    pub order: Order,
    /// How launches cut edges into groups of neighbours, if they do.
    pub groups: &'a [Option<Groups>],
}

/// The kernels of a list on a GPU, or why it has none there: what `plan` makes, and what `auto`
/// asks.
pub fn for_gpu(list: &LaunchList, asked: &OnGpu, device: &Facts) -> Result<Emitted, StageError> {
    let has_loops = matches!(&list.body, Body::Iterate(iterate) if !iterate.loops.is_empty());
    refuse_on_gpu(has_loops, asked.dtype, asked.program)?;
    emitted(list, bytes_per_real(asked.dtype), asked.matmul, asked.order, asked.groups, device)
}

/// What this version does on the CPU alone.
pub fn refuse_on_gpu(has_loops: bool, dtype: Dtype, program: &str) -> Result<(), StageError> {
    let refuse = |what: String| {
        Err(StageError::new(ErrorKind::Specification, what).hint("run it on  --device cpu"))
    };
    if has_loops {
        return refuse(format!(
            "`{program}` goes in supersteps, which this version does on the CPU alone"
        ));
    }
    if half(dtype).is_some() {
        return refuse(format!(
            "`run.dtype: {}` is for the CPU alone in this version; a GPU computes in `f32` and \
             `f64`",
            dtype.name()
        ));
    }
    Ok(())
}

/// The source of a GPU's kernels, for reals of so many bytes; launches cut edges into these groups,
/// if any.
pub fn emitted(
    list: &LaunchList,
    bytes_per_real: u64,
    matmul: Matmul,
    order: Order,
    groups: &[Option<Groups>],
    device: &Facts,
) -> Result<Emitted, StageError> {
    let grid = grid_of_source(device)?;
    let warpgroups = device.capability().is_some_and(GpuTarget::has_warpgroups);
    let target = GpuTarget {
        bytes_per_real,
        processors: grid.processors,
        shared_bytes: grid.shared_bytes_most,
        matmul,
        order,
        warpgroups,
    };
    cuda::emit_in_groups(list, target, groups).map_err(|refused| refusal(&refused))
}

/// How many blocks and threads a device has, for which source is made: a CPU has none.
pub fn grid_of_source(device: &Facts) -> Result<&Grid, StageError> {
    let what =
        || format!("`{}` compiles no source: its kernels are part of this program", device.name);
    device.grid.as_ref().ok_or_else(|| {
        StageError::new(ErrorKind::Usage, what()).hint("--device cuda, or look at  --show launches")
    })
}

/// What has no kernel on a GPU.
fn refusal(refused: &NoKernel) -> StageError {
    StageError::new(
        ErrorKind::Specification,
        format!("this version has no kernel for a part of the program on a GPU: {refused}"),
    )
    .hint("run it on  --device cpu")
}

/// What products multiply.
pub fn matmul(spec: &PlanSpec) -> Matmul {
    match spec.matmul {
        warploom_spec::Matmul::F32 => Matmul::F32,
        warploom_spec::Matmul::Tf32 => Matmul::Tf32,
        warploom_spec::Matmul::Bf16 => Matmul::Bf16,
    }
}

/// Bytes of a real of the run.
pub fn bytes_per_real(dtype: Dtype) -> u64 {
    match dtype {
        Dtype::F32 | Dtype::Bf16 | Dtype::F16 => 4,
        Dtype::F64 => 8,
    }
}

/// What wide rows are kept as, if not as reals.
pub fn half(dtype: Dtype) -> Option<Half> {
    match dtype {
        Dtype::F32 | Dtype::F64 => None,
        Dtype::Bf16 => Some(Half::Bf16),
        Dtype::F16 => Some(Half::F16),
    }
}
