//! builtin: hand-written launch lists for programs that are recognised by their text, for graphs of
//! more edges than walks of compiled lists take.
//!
//! promises  a program is recognised only if its text is a shipped one, up to white space at line
//!           ends: an edited program is compiled, never run as the original; a list that `build`
//!           returns has no flaws
//! never     reads a file (the shipped texts are compiled in); parses the language
//! limits    four programs; the order of sum and product is chosen by predicted bytes, not by
//!           measurement
//!
//! # A built-in program's way
//!
//! A program comes as text, and the graph as [`GraphFacts`]:
//!
//! ```
//! use std::collections::BTreeMap;
//! use warploom_launch::{GraphFacts, builtin};
//! use warploom_ir::Loss;
//!
//! let text = r#"def pagerank(v, damping=0.85, tolerance=1e-6):
//!     "PageRank (Brin & Page 1998); the rank of a vertex without out-edges is dropped, so ranks need not sum to 1."
//!     v.rank = 1 / v.graph.nodes
//!     while change(v.rank) > tolerance:
//!         v.rank = (1 - damping) / v.graph.nodes + damping * sum(u.rank / u.outdegree for u in v.innbs)
//!     return v.rank
//! "#;
//! let facts = GraphFacts {
//!     nodes: 4,
//!     edges: 6,
//!     feature_columns: 0,
//!     sparse_features: None,
//!     classes: 0,
//!     weighted: false,
//!     symmetric: false,
//!     training: false,
//!     loss: Loss::CrossEntropy,
//!     bytes_per_real: 4,
//!     half: None,
//!     lanes: false,
//! };
//! let program = builtin::find(text, "pagerank").expect("the shipped text");
//! let settings = BTreeMap::from([("damping".to_owned(), serde_json::json!(0.75))]);
//! let list = program.build(&settings, &facts)?;
//! assert_eq!(list.validate(), Ok(()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The list says everything that an executor does. The division is done once a vertex, in
//! `contribution`; what stands around the sum is its epilogue; `bytes` is what a launch must move
//! at least:
//!
//! ```
//! # use std::collections::BTreeMap;
//! # use warploom_launch::{GraphFacts, builtin};
//! # use warploom_ir::Loss;
//! # let loss = Loss::CrossEntropy;
//! # let facts = GraphFacts { nodes: 4, edges: 6, feature_columns: 0, sparse_features: None, classes: 0, weighted: false, symmetric: false, training: false, loss, bytes_per_real: 4, half: None, lanes: false };
//! # let settings = BTreeMap::from([("damping".to_owned(), serde_json::json!(0.75))]);
//! # let list = builtin::programs().iter().find(|builtin| builtin.name == "pagerank").unwrap().build(&settings, &facts)?;
//! let listing = list.render();
//! let superstep = listing.split("superstep\n").nth(1).unwrap_or_default();
//! assert!(superstep.starts_with("  contribution  contribution[nodes x 1] = rank * share  | 48 bytes, blocks of 4096 rows
//!   sum           rank.next[nodes x 1] = 0.0625 + 0.75 * sum(contribution[u] for u -> v)  | 84 bytes, rows of the partition
//!   commit  rank <-> rank.next
//!   until   the summed change is <= 1e-6
//! "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`crate::reference::Reference`] runs it, as every executor must:
//!
//! ```
//! # use std::collections::BTreeMap;
//! # use warploom_launch::{GraphFacts, builtin};
//! # use warploom_ir::Loss;
//! # let loss = Loss::CrossEntropy;
//! # let facts = GraphFacts { nodes: 4, edges: 6, feature_columns: 0, sparse_features: None, classes: 0, weighted: false, symmetric: false, training: false, loss, bytes_per_real: 4, half: None, lanes: false };
//! # let list = builtin::programs().iter().find(|builtin| builtin.name == "pagerank").unwrap().build(&BTreeMap::new(), &facts)?;
//! use warploom_launch::reference::{Inputs, Reference, ReferenceGraph};
//!
//! let graph = ReferenceGraph { nodes: 4, source: vec![0, 1, 2, 3, 3, 2], target: vec![1, 2, 0, 0, 1, 1], weight: None };
//! let mut run = Reference::new(&list, &graph, Inputs::default())?;
//! run.prepare();
//! assert!(run.iterate(200).converged);
//! assert_eq!(run.get("rank").map(<[f64]>::len), Some(4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use std::collections::BTreeMap;

use serde_json::Value;

use crate::{GraphFacts, LaunchList};

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
