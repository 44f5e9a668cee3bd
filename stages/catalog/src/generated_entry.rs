//! generated_entry: the entry of a data set that a generator makes and that no file describes.
use crate::{
    Entry, Generator,
    entry::{Expected, Format, Holds, Inherited, MadeUp, SplitRule, Task},
};

/// Width of made-up features and number of made-up classes of `clique-batch`.
const BATCH_MADE_UP: MadeUp = MadeUp { features: 16, classes: 2 };

impl Generator {
    /// The entry of a set that is made this way and that no file describes.
    pub fn entry(self, name: &str) -> Entry {
        let many = self.graphs().is_some();
        Entry {
            name: name.to_owned(),
            about: self.about(),
            found_as: Vec::new(),
            files: Vec::new(),
            archive: None,
            format: Format::generated(),
            read: warploom_formats::Options::default(),
            directed: self.directed(),
            symmetrize: !self.directed(),
            entity_types: None,
            task: if many { Task::GraphClassification } else { Task::None },
            licence: "none needed: it is made here".to_owned(),
            expected: Expected {
                nodes: Some(self.nodes()),
                listed: Some(self.edges()),
                ..Expected::default()
            },
            holds: Holds { graphs: self.graphs(), ..Holds::default() },
            printed: Vec::new(),
            made_up: if many { BATCH_MADE_UP } else { MadeUp::default() },
            split: if many {
                SplitRule::Fractions { train: 0.6, validation: 0.2, test: 0.2 }
            } else {
                SplitRule::None
            },
            stand_in: None,
            inherited: Inherited::default(),
            generator: Some(self),
            inferred: false,
            home: None,
            place: "the generators in the binary".to_owned(),
        }
    }
}
