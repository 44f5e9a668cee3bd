//! extract: from the graph to its rows, in both directions, and its profile.
//!
//! promises  nothing to choose: the same graph gives the same rows
//! never     has a setting that changes what later stages compute
use crate::declare::spec;

spec! {
    /// Settings of the stage `extract`: none yet, an empty section is allowed.
    pub ExtractSpec {}
}
