//! needs: which parts of a data set a program reads, of those that are made up where the set lacks them.
//!
//! promises  a part is said not to be read only where the program was understood; people are told of made-up data only where they are read
//! never     changes a key, a manifest or what is made
use std::collections::BTreeMap;

use serde_json::Value;
use warploom_spec::Pipeline;
use warploom_vertex::{
    gir::{Data, Input, Op, Place},
    trace::{self, Traced},
};

use crate::{
    program,
    requests::{given_settings, program_text},
    samples,
};

/// What a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Features of vertices.
    pub features: bool,
    /// Labels: it learns, or reads them.
    pub labels: bool,
    /// These are labels of nodes: those of the graphs of a set of many are never made up.
    pub node_labels: bool,
}

/// A column that holds labels.
const LABEL: &str = "label";

impl Needs {
    /// What is taken for granted of a program that is not understood, or of none.
    pub const ALL: Needs = Needs { features: true, labels: true, node_labels: true };

    /// Of the program of a pipeline.
    pub fn of_pipeline(pipeline: &Pipeline) -> Needs {
        program_text(pipeline).map_or(Needs::ALL, |text| Needs::of_text(&text, &pipeline.plan.program.entry, &given_settings(&pipeline.plan)))
    }

    fn of_text(text: &str, entry: &str, settings: &BTreeMap<String, Value>) -> Needs {
        let traced = |data: &Data| trace::trace(text, entry, settings, data).ok();
        let samples = samples::of_text(text);
        let Some(mut needs) = samples.iter().find_map(|data| Some(Needs::of_traced(&traced(data)?))) else { return Needs::ALL };
        // What scores the graphs of a set of many learns their own labels.
        let of_graphs = |traced: Traced| traced.gir.results.iter().all(|result| traced.gir.nodes[result.node.index()].place == Place::G);
        let scores_graphs = || samples.iter().filter(|data| data.many_graphs).filter_map(traced).any(of_graphs);
        needs.node_labels |= needs.labels && !scores_graphs();
        needs
    }

    fn of_traced(traced: &Traced) -> Needs {
        let mut needs = Needs { features: false, labels: program::is_learned(traced), node_labels: false };
        for node in &traced.gir.nodes {
            match &node.op {
                Op::Input(Input::Features | Input::FeaturesOf(_)) => needs.features = true,
                Op::Input(Input::Target) => needs.labels = true,
                Op::Input(Input::Column(name)) if name == LABEL => (needs.labels, needs.node_labels) = (true, true),
                _ => {}
            }
        }
        needs
    }

    /// Those of these parts that are read, by their names in a manifest.
    pub fn of_made_up(self, made_up: &[String]) -> Vec<String> {
        let is_read = |name: &str| match name {
            "features" => self.features,
            "splits" | "labels" => self.labels,
            "node_labels" => self.node_labels,
            _ => true,
        };
        made_up.iter().filter(|name| is_read(name)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(text: &str) -> Needs {
        Needs::of_text(text, "p", &BTreeMap::new())
    }

    #[test]
    fn a_program_needs_what_it_reads() {
        let ranks = "def p(v):\n    v.h = 1.0\n    for k in range(3):\n        v.h = sum(u.h for u in v.innbs)\n    return v.h\n";
        assert_eq!(needs(ranks), Needs { features: false, labels: false, node_labels: false });
        assert_eq!(needs("def p(v):\n    return linear(v.x, v.classes)\n"), Needs::ALL);
        assert_eq!(needs("def p(v):\n    return sum(u.x for u in v.innbs)\n"), Needs { features: true, labels: false, node_labels: false });
        assert_eq!(needs("def p(v):\n    return v.label + 1\n"), Needs { features: false, ..Needs::ALL });
        assert_eq!(needs("def p(v):\n    return linear(pool_sum(v.x), v.classes)\n"), Needs { node_labels: false, ..Needs::ALL });
        assert_eq!(needs("def p(v)\n    return 1\n"), Needs::ALL, "what is not understood may read anything");
        let made_up = ["features", "node_labels"].map(str::to_owned);
        assert_eq!(needs(ranks).of_made_up(&made_up), [""; 0]);
        assert_eq!(Needs { features: false, ..Needs::ALL }.of_made_up(&made_up), ["node_labels"]);
    }
}
