//! data_needs: which parts of a data set a program reads, of those that are generated where the set
//! lacks them (features, labels, splits).
//!
//! promises  a part counts as unread only where the program could be traced; generated data are
//!           reported to people only where they are read
//! never     changes a key, a manifest or an output
use std::collections::BTreeMap;

use serde_json::Value;
use warploom_contract::kinds::graph::LearnedRows;
use warploom_ir::{Data, Input, Op};
use warploom_language::trace::{self, Traced};
use warploom_spec::{Pipeline, PlanSpec};

use crate::{
    plan_settings::{pipeline_settings, program_text},
    program, sample_data_sets,
};

/// Whether a program learns nodes or graphs, found by tracing it on sample data sets; none if it
/// learns nothing, or no sample fits it.
pub fn learned_rows(text: &str, spec: &PlanSpec) -> Option<LearnedRows> {
    learned_rows_of_text(text, &spec.program.entry, &pipeline_settings(spec))
}

fn learned_rows_of_text(
    text: &str,
    entry: &str,
    settings: &BTreeMap<String, Value>,
) -> Option<LearnedRows> {
    let learns = |data: &Data| {
        trace::trace(text, entry, settings, &Data { training: true, ..data.clone() }).is_ok()
    };
    let pooled = sample_data_sets::graph_set_sample();
    let further = [Data { labels_of_nodes: true, ..pooled.clone() }, pooled];
    let (of_graphs, of_nodes): (Vec<Data>, Vec<Data>) = sample_data_sets::samples_for_text(text)
        .into_iter()
        .chain(further)
        .partition(|data| data.many_graphs && !data.labels_of_nodes);
    if of_graphs.iter().any(learns) {
        return Some(LearnedRows::Graphs);
    }
    of_nodes.iter().any(learns).then_some(LearnedRows::Nodes)
}

/// What a program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataNeeds {
    /// Features of vertices.
    pub features: bool,
    /// Labels: it learns, or reads them.
    pub labels: bool,
    /// Whether these are labels of nodes: labels of graphs are never generated.
    pub node_labels: bool,
}

/// A column that holds labels.
const LABEL: &str = "label";

impl DataNeeds {
    /// The assumption for a program that cannot be traced, or for none.
    pub const ALL: DataNeeds = DataNeeds { features: true, labels: true, node_labels: true };

    /// The needs of the program of a pipeline.
    pub fn from_pipeline(pipeline: &Pipeline) -> DataNeeds {
        program_text(pipeline).map_or(DataNeeds::ALL, |text| {
            DataNeeds::from_text(
                &text,
                &pipeline.plan.program.entry,
                &pipeline_settings(&pipeline.plan),
            )
        })
    }

    fn from_text(text: &str, entry: &str, settings: &BTreeMap<String, Value>) -> DataNeeds {
        let traced = sample_data_sets::samples_for_text(text)
            .iter()
            .find_map(|data| trace::trace(text, entry, settings, data).ok());
        let Some(mut needs) = traced.map(|traced| DataNeeds::from_trace(&traced)) else {
            return DataNeeds::ALL;
        };
        // A program that learns graphs reads their own labels.
        needs.node_labels |= needs.labels
            && learned_rows_of_text(text, entry, settings) != Some(LearnedRows::Graphs);
        needs
    }

    fn from_trace(traced: &Traced) -> DataNeeds {
        let mut needs = DataNeeds {
            features: false,
            labels: program::has_learned_parameters(traced),
            node_labels: false,
        };
        for node in &traced.gir.nodes {
            match &node.op {
                Op::Input(Input::Features | Input::FeaturesOf(_)) => needs.features = true,
                Op::Input(Input::Target) => needs.labels = true,
                Op::Input(Input::Column(name)) if name == LABEL => {
                    (needs.labels, needs.node_labels) = (true, true)
                }
                _ => {}
            }
        }
        needs
    }

    /// Of these generated parts, by their names in a manifest, those that the program reads.
    pub fn filter_made_up(self, made_up: &[String]) -> Vec<String> {
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

    fn needs(text: &str) -> DataNeeds {
        DataNeeds::from_text(text, "p", &BTreeMap::new())
    }

    #[test]
    fn a_program_needs_what_it_reads() {
        let ranks = "def p(v):\n    v.h = 1.0\n    for k in range(3):\n        v.h = sum(u.h for \
            u in v.innbs)\n    return v.h\n";
        assert_eq!(needs(ranks), DataNeeds { features: false, labels: false, node_labels: false });
        assert_eq!(needs("def p(v):\n    return linear(v.x, v.classes)\n"), DataNeeds::ALL);
        assert_eq!(
            needs("def p(v):\n    return sum(u.x for u in v.innbs)\n"),
            DataNeeds { features: true, labels: false, node_labels: false }
        );
        assert_eq!(
            needs("def p(v):\n    return v.label + 1\n"),
            DataNeeds { features: false, ..DataNeeds::ALL }
        );
        assert_eq!(
            needs("def p(v):\n    return linear(pool_sum(v.x), v.classes)\n"),
            DataNeeds { node_labels: false, ..DataNeeds::ALL }
        );
        let learned = |text: &str| learned_rows_of_text(text, "p", &BTreeMap::new());
        assert_eq!(
            learned("def p(v):\n    return linear(pool_sum(v.x), v.classes)\n"),
            Some(LearnedRows::Graphs)
        );
        assert_eq!(
            learned("def p(v):\n    return linear(v.x, v.classes)\n"),
            Some(LearnedRows::Nodes)
        );
        assert_eq!(
            (
                learned(ranks),
                learned("def p(v):\n    return linear(v.x, v.classes) * v.x[..., 40]\n")
            ),
            (None, None)
        );
        assert_eq!(
            needs("def p(v)\n    return 1\n"),
            DataNeeds::ALL,
            "what is not understood may read anything"
        );
        let made_up = ["features", "node_labels"].map(str::to_owned);
        assert_eq!(needs(ranks).filter_made_up(&made_up), [""; 0]);
        assert_eq!(
            DataNeeds { features: false, ..DataNeeds::ALL }.filter_made_up(&made_up),
            ["node_labels"]
        );
    }
}
