//! compile: from the text of a vertex program to its launch list, for the data set that it will run on.
//!
//! promises  a program with learned parts is compiled for training, any other for iteration; what is wrong with a text is said with
//!           file, line, column and what to do; every form on the way can be shown
//! never     reads a file
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use warploom_contract::{ErrorKind, StageError};
use warploom_device::Facts;
use warploom_spec::EdgeSchedule;
pub use warploom_vertex::compile::Compiled;
use warploom_vertex::{
    compile::compile,
    emit::cuda::{self, Emitted, Groups, Matmul, Order, Refused, Target},
    gir::Data,
    launch::LaunchList,
    syntax::{Diagnostic, Severity},
    trace::{self, Traced},
};

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
        let traced = self.trace(data)?;
        Ok(traced.gir.parameters.iter().any(|parameter| parameter.learned))
    }

    /// The program's values as written.
    pub fn trace(&self, data: &Data) -> Result<Traced, StageError> {
        trace::trace(self.text, self.entry, self.settings, data).map_err(|wrong| self.error(&wrong))
    }

    /// All forms.
    pub fn compile(&self, data: Data) -> Result<Compiled, StageError> {
        let compiled = compile(self.text, self.entry, self.settings, &data).map_err(|wrong| self.error(&wrong))?;
        if let Err(flaws) = compiled.list.validate() {
            let all: Vec<String> = flaws.iter().map(ToString::to_string).collect();
            return Err(StageError::defect(format!("the launch list of `{}` does not hold together: {}", self.entry, all.join("; "))));
        }
        Ok(compiled)
    }

    /// What is wrong, as a stage's error: the first at its place, the others below it.
    pub fn error(&self, wrong: &[Diagnostic]) -> StageError {
        let mut errors = wrong.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        let Some(first) = errors.next().or(wrong.first()) else { return StageError::defect("a program was refused without a word") };
        let page = self.render(first);
        let mut lines = page.lines();
        let _first_line = lines.next();
        let place = lines.next().and_then(|line| line.trim().strip_prefix("--> ")).unwrap_or_default().to_owned();
        let detail: Vec<&str> = lines.filter(|line| !line.starts_with("hint:")).collect();
        let others: String = errors.map(|other| format!("\n{}", self.render(other).trim_end())).collect();
        let mut error = StageError::new(ErrorKind::Specification, first.what.clone()).at(place).detail(format!("{}{others}", detail.join("\n")));
        error.hint.clone_from(&first.hint);
        error
    }

    /// A diagnostic as a person reads it.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        diagnostic.render(&self.file.display().to_string(), self.text)
    }
}

/// Forms that can be shown.
pub const FORMS: [&str; 6] = ["gir", "autodiff", "clean", "fused", "launches", "source"];

/// The source of a GPU's kernels, for reals of so many bytes; launches cut edges into these groups, if any.
pub fn emitted(
    list: &LaunchList,
    (bytes_per_real, matmul, order, groups): (u64, Matmul, Order, &[Option<Groups>]),
    device: &Facts,
) -> Result<Emitted, StageError> {
    let Some(grid) = &device.grid else {
        let what = format!("`{}` compiles no source: its kernels are part of this program", device.name);
        return Err(StageError::new(ErrorKind::Usage, what).hint("--device cuda, or look at  --show launches"));
    };
    let warpgroups = device.capability().is_some_and(Target::has_warpgroups);
    let target = Target { bytes_per_real, processors: grid.processors, shared_bytes: grid.shared_bytes_most, matmul, order, warpgroups };
    cuda::emit_in_groups(list, target, groups).map_err(|refused| refusal(&refused))
}

/// What has no kernel on a GPU.
fn refusal(refused: &Refused) -> StageError {
    StageError::new(ErrorKind::Specification, format!("this version has no kernel for a part of the program on a GPU: {refused}"))
        .hint("run it on  --device cpu")
}

/// One of the forms as text.
pub fn show(
    compiled: &Compiled,
    form: &str,
    (text, device, (matmul, schedule, order)): (&str, &Facts, (Matmul, EdgeSchedule, Order)),
) -> Result<String, StageError> {
    match form {
        "gir" => Ok(compiled.traced.gir.print(Some(text))),
        "autodiff" => Ok(compiled.with_gradients.print(Some(text))),
        "clean" => Ok(format!("{}{}", compiled.clean.print(Some(text)), compiled.decisions())),
        "launches" => Ok(compiled.apart.render()),
        "fused" => Ok(compiled.list.render()),
        // As for a graph whose rows have as many edges each: its profile is not at hand.
        _ => {
            let groups = match schedule {
                EdgeSchedule::Rows => Vec::new(),
                EdgeSchedule::NeighbourGroups => crate::predict::groups(&compiled.list, &warploom_vertex::Facts::of(&compiled.data), device, 0.0),
            };
            Ok(emitted(&compiled.list, (compiled.data.bytes_per_real, matmul, order, &groups), device)?.source)
        }
    }
}
