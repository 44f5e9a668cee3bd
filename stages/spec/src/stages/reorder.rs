//! reorder: how nodes are renumbered.
//!
//! promises  every method that can be asked for stands here
//! never     has a setting that changes a result, only where it lies in memory
use crate::declare::{choices, spec};

spec! {
    /// Settings of the stage `reorder`.
    pub ReorderSpec {
        /// How nodes are renumbered.
        method: Method = Method::Auto;
        /// For the methods that draw.
        seed: u64 = 0;
    }
}

choices! {
    /// How nodes are renumbered.
    Method {
        /// By predicted bytes, see quality.json.
        Auto = "auto",
        /// The order of the data set stays.
        None = "none",
        /// By falling degree.
        Degree = "degree",
    }
}
