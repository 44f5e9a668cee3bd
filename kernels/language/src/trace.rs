//! trace: translates a program's tree to its GIR, by executing it once with symbolic rows.
//!
//! promises  everything known at compile time is evaluated here: `if`, `for`, functions, settings,
//!           widths, relations; the GIR has none of them. Every node knows its bytes of the text,
//!           every parameter its name. An invalid program gives a diagnostic with its place, what
//!           was expected and what was found
//! never     panics on any text; takes unbounded time or memory (`STEPS_MOST`, `NODES_MOST`);
//!           simplifies (passes do); contains rows
mod assign;
mod calls;
mod constants;
mod edges;
mod elementwise;
mod expressions;
mod fold_operator;
mod implicit_features;
mod labels;
mod learned_layers;
mod loops;
mod names;
mod normalise;
mod program_result;
mod reductions;
mod rows;
mod settings;
mod statements;
mod tracer;
mod value;
mod vertex_settings;
mod vertices;

use std::collections::BTreeMap;

pub(crate) use calls::SORTED;
pub use settings::{SettingOf, VertexSetting, settings_of, vertex_settings_of};

use crate::syntax::{self, Diagnostic};
use warploom_ir::{Data, Gir};

/// Maximum steps of the walk: expressions and statements, each time they are reached.
const STEPS_MOST: usize = 2_000_000;
/// Maximum values of a program.
const NODES_MOST: usize = 20_000;
/// Maximum nesting of statements, expressions and calls.
const LEVELS_MOST: usize = 160;

/// A program traced for a data set.
#[derive(Clone, Debug)]
pub struct Traced {
    /// Its values.
    pub gir: Gir,
    /// All its settings, given or default.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// Docstring of the entry.
    pub doc: Option<String>,
    /// Probable mistakes.
    pub warnings: Vec<Diagnostic>,
}

/// Traces the function `entry` of a text with these settings.
///
/// With `data.training` it also creates the loss of the returned value, and the only results are
/// the scores.
pub fn trace(
    text: &str,
    entry: &str,
    settings: &BTreeMap<String, serde_json::Value>,
    data: &Data,
) -> Result<Traced, Vec<Diagnostic>> {
    let file = syntax::parse(text)?;
    let one = |found: Box<Diagnostic>| vec![*found];
    let function = settings::entry_of(&file, entry).map_err(one)?;
    let mut tracer = tracer::Tracer::new(&file, entry, data);
    let resolved = tracer.settings(function, settings).map_err(one)?;
    tracer.entry(function).map_err(one)?;
    let (gir, warnings) = tracer.into_parts();
    Ok(Traced { gir, settings: resolved, doc: function.doc.clone(), warnings })
}
