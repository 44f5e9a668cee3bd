//! generated_entry: the entry of a generated data set, such as `rmat-20`, that has no file.
use crate::{
    Entry, Generator,
    entry::{
        ExpectedContents, ExpectedCounts, Format, InheritedProvenance, SplitRule, SyntheticData,
        Task,
    },
};

/// Columns of synthetic features and number of synthetic classes of `clique-batch`.
const BATCH_MADE_UP: SyntheticData = SyntheticData { features: 16, classes: 2 };

impl Generator {
    /// The entry of a set of this generator, which no file describes.
    pub fn entry(self, name: &str) -> Entry {
        let many = self.graphs().is_some();
        Entry {
            name: name.to_owned(),
            about: self.description(),
            found_as: Vec::new(),
            files: Vec::new(),
            archive: None,
            format: Format::generated(),
            read: warploom_formats::Options::default(),
            directed: self.is_directed(),
            symmetrize: !self.is_directed(),
            entity_types: None,
            task: if many { Task::GraphClassification } else { Task::None },
            licence: "none needed: it is made here".to_owned(),
            expected: ExpectedCounts {
                nodes: Some(self.nodes()),
                listed: Some(self.edges()),
                ..ExpectedCounts::default()
            },
            holds: ExpectedContents { graphs: self.graphs(), ..ExpectedContents::default() },
            printed: Vec::new(),
            made_up: if many { BATCH_MADE_UP } else { SyntheticData::default() },
            split: if many {
                SplitRule::Fractions { train: 0.6, validation: 0.2, test: 0.2 }
            } else {
                SplitRule::None
            },
            stand_in: None,
            inherited: InheritedProvenance::default(),
            generator: Some(self),
            inferred: false,
            home: None,
            place: "the generators in the binary".to_owned(),
        }
    }
}
