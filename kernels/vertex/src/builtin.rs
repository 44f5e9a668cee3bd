//! builtin: hand-written launch lists for programs that are recognised by their text.
//!
//! promises  a program is recognised only if its text is a shipped one, up to white space at line
//!           ends: an edited program is compiled, never run as the original; a list that `build`
//!           returns has no flaws
//! never     reads a file (the shipped texts are compiled in); parses the language
//! limits    four programs; the order of sum and product is chosen by predicted bytes, not by
//!           measurement
use std::collections::BTreeMap;

use serde_json::Value;

use crate::facts::GraphFacts;
use crate::launch::LaunchList;

mod components;
mod draft;
mod gcn;
mod layers;
mod pagerank;
mod sage;
mod settings;

pub use layers::LayerOrder;
pub use settings::{Domain, Setting, SettingError};

use settings::ChosenSettings;

/// A shipped program.
#[derive(Debug)]
pub struct Builtin {
    /// Name of its entry function and file.
    pub name: &'static str,
    /// The program itself.
    pub text: &'static str,
    /// What it computes, in one sentence.
    pub doc: &'static str,
    /// Whether it learns parameters; if not, it iterates to a fixed point.
    pub learns: bool,
    /// Its settings, in the order of the entry's parameters.
    pub settings: &'static [Setting],
    list: fn(&ChosenSettings, &GraphFacts, LayerOrder) -> LaunchList,
}

/// Every shipped program, by name.
pub fn programs() -> &'static [Builtin] {
    static ALL: [Builtin; 4] =
        [components::BUILTIN, gcn::BUILTIN, pagerank::BUILTIN, sage::BUILTIN];
    &ALL
}

/// The shipped program with this text and this entry name (the name of its file, without `.py`).
/// Any other is compiled.
pub fn find(text: &str, name: &str) -> Option<&'static Builtin> {
    programs().iter().find(|builtin| builtin.name == name && lines(builtin.text) == lines(text))
}

/// Lines without trailing white space, without empty lines at the end of the text.
fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

impl Builtin {
    /// Every setting with its value, given or default: what a key or a record contains.
    pub fn resolve(
        &self,
        settings: &BTreeMap<String, Value>,
    ) -> Result<BTreeMap<String, Value>, SettingError> {
        settings::resolve(self.name, self.settings, settings)
    }

    /// The launch list for these settings and facts, with each layer in the order that moves fewer
    /// bytes.
    pub fn build(
        &self,
        settings: &BTreeMap<String, Value>,
        facts: &GraphFacts,
    ) -> Result<LaunchList, SettingError> {
        self.build_in_order(settings, facts, LayerOrder::Cheapest)
    }

    /// `build` with a fixed order of sum and product, for comparisons; it has no effect where the
    /// order does not exist (sums of sparse features) or means nothing (programs that do not
    /// learn).
    pub fn build_in_order(
        &self,
        settings: &BTreeMap<String, Value>,
        facts: &GraphFacts,
        order: LayerOrder,
    ) -> Result<LaunchList, SettingError> {
        let chosen = ChosenSettings(self.resolve(settings)?);
        self.check_facts(facts)?;
        Ok((self.list)(&chosen, facts, order))
    }

    fn check_facts(&self, facts: &GraphFacts) -> Result<(), SettingError> {
        let unfit = |what: &str, expected: &str, found: &str, hint: &str| {
            let [what, expected, found, hint] = [what, expected, found, hint].map(str::to_owned);
            Err(SettingError::Unfit { program: self.name, what, expected, found, hint })
        };
        if self.learns && facts.feature_columns == 0 {
            return unfit(
                "node features",
                "at least one column",
                "none",
                "set  ingest.features: random",
            );
        }
        if self.learns && facts.classes == 0 {
            return unfit(
                "width of the target",
                "at least 1",
                "0",
                "name a column of the node table with  run.target",
            );
        }
        if !self.learns && facts.training {
            return unfit(
                "mode",
                "iterate, since it has no parameters",
                "train",
                "set  run.mode: iterate",
            );
        }
        if !matches!(facts.bytes_per_real, 4 | 8) {
            return unfit(
                "bytes of a real",
                "4 or 8",
                &facts.bytes_per_real.to_string(),
                "set  run.dtype: f32",
            );
        }
        Ok(())
    }
}
