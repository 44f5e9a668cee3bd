//! trace: a program's tree to its GIR, by walking it once with values that stand for rows.
//!
//! promises  what is known when compiled is decided here: `if`, `for`, functions, settings, widths,
//!           relations; the GIR has none of them. Every node knows its bytes of the text, every
//!           parameter its name. A text that is wrong gives a diagnostic that says where, what was
//!           expected and what was found
//! never     panics, whatever the text; takes unbounded time or memory (`STEPS_MOST`,
//!           `NODES_MOST`); simplifies (passes do); holds rows
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

use crate::gir::{Data, Gir};
use crate::syntax::{self, Diagnostic};

/// Steps of the walk: expressions and statements, each time they are reached.
const STEPS_MOST: usize = 2_000_000;
/// Values of a program.
const NODES_MOST: usize = 20_000;
/// Statements, expressions and calls within each other.
const LEVELS_MOST: usize = 160;

/// A program for a data set.
#[derive(Clone, Debug)]
pub struct Traced {
    /// Its values.
    pub gir: Gir,
    /// Its settings, given ones and defaults.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// Docstring of the entry.
    pub doc: Option<String>,
    /// What is hardly meant.
    pub warnings: Vec<Diagnostic>,
}

/// Traces the function `entry` of a text with these settings.
///
/// With `data.training`, the loss of what it returns is made too, and the only result are the
/// scores.
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
