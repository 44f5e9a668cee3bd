//! compiler: the chain, from a program's text to its launch list.
//!
//! promises  text -> `trace` -> `passes` -> `autodiff`, for training -> `passes` again -> `lower`
//!           -> `fuse`; every intermediate form is kept and can be printed; equal texts, settings
//!           and data sets give equal lists; choices by a cost model are listed among the list's
//!           reasons
//! never     reads a file
//! limits    under 50 ms for every program of the library (`tests/library`)
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use warploom_ir::{Data, Gir, Span};
use warploom_language::syntax::Diagnostic;
use warploom_language::trace::{self, Traced};
use warploom_launch::{GraphFacts, LaunchList, Reason, fuse, lower};
use warploom_optimize::autodiff;
use warploom_optimize::passes::{self, Applied};

/// Raised when the same program and facts give another launch list, or other kernels: plans hold
/// both, and their keys hold this number and not what made them.
pub const VERSION: u32 = 23;

/// The steps of a program that trains: text, passes, gradients, passes, launches, fusion.
pub const STEPS: u64 = 6;

/// A compiled program, with each intermediate form.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// What is known of the data set.
    pub data: Data,
    /// The traced program; its settings and warnings.
    pub traced: Traced,
    /// With gradients, for training; else as the passes left it.
    pub with_gradients: Gir,
    /// After all passes: what is lowered.
    pub clean: Gir,
    /// The passes in order, those before gradients first, with their choices.
    pub applied: Vec<Applied>,
    /// One launch per stored value.
    pub apart: LaunchList,
    /// What an executor runs: the same, fused.
    pub list: LaunchList,
}

/// Compiles the function `entry` of a text, with these settings, for a data set.
pub fn compile(
    text: &str,
    entry: &str,
    settings: &BTreeMap<String, Value>,
    data: &Data,
) -> Result<Compilation, Vec<Diagnostic>> {
    compile_with_progress(text, entry, settings, data, &|| {})
}

/// The same; `on_step` is called after each of the `STEPS`. A program that does not train has
/// fewer.
pub fn compile_with_progress(
    text: &str,
    entry: &str,
    settings: &BTreeMap<String, Value>,
    data: &Data,
    on_step: &dyn Fn(),
) -> Result<Compilation, Vec<Diagnostic>> {
    let traced = trace::trace(text, entry, settings, data)?;
    on_step();
    let refused = |span: Span, what: String, hint: Option<String>| {
        vec![Diagnostic::error(span, what, "").hint_if(hint)]
    };
    let (mut clean, mut applied) = passes::clean(traced.gir.clone(), data);
    on_step();
    let mut with_gradients = clean.clone();
    if data.training {
        let leaves = autodiff::parameters(&clean);
        with_gradients = autodiff::differentiate(clean, data, &leaves)
            .map_err(|refusal| refused(refusal.span, refusal.what, refusal.hint))?;
        on_step();
        let again;
        (clean, again) = passes::clean(with_gradients.clone(), data);
        applied.extend(again);
        on_step();
    }
    let mut apart = lower::lower(&clean, data)
        .map_err(|refusal| refused(refusal.span, refusal.what, Some(refusal.hint)))?;
    on_step();
    apart.reasons.extend(applied.iter().flat_map(|pass| pass.choices.iter().map(reason)));
    let held: BTreeSet<&str> = apart.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    apart.lines = lower::lines_of(text, &clean)
        .into_iter()
        .filter(|(name, _)| held.contains(name.as_str()))
        .collect();
    let list = fuse::fuse(&apart, &GraphFacts::from_data(data));
    on_step();
    Ok(Compilation { data: data.clone(), traced, with_gradients, clean, applied, apart, list })
}

fn reason(choice: &passes::Choice) -> Reason {
    let (stays, moves) = ("as written", "the other way");
    Reason {
        what: choice.value.clone(),
        chosen: if choice.taken { moves } else { stays }.to_owned(),
        why: choice.reason.clone(),
        alternatives: [
            (stays.to_owned(), choice.bytes_before),
            (moves.to_owned(), choice.bytes_after),
        ]
        .into(),
    }
}

impl Compilation {
    /// What the passes did and chose, one line each.
    pub fn decisions(&self) -> String {
        let passes = self.applied.iter().map(|pass| {
            let choices: String = pass
                .choices
                .iter()
                .map(|choice| format!("  {}: {}\n", choice.value, choice.reason))
                .collect();
            format!(
                "pass {}: {} -> {} values\n{choices}",
                pass.pass, pass.nodes_before, pass.nodes_after
            )
        });
        passes.collect()
    }
}
