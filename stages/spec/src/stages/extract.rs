//! extract: settings of the stage that builds the CSR of the graph in both directions, and its
//! profile.
//!
//! promises  no settings: the same graph gives the same rows
//! never     has a setting that changes what later stages compute
use crate::declare::spec;

spec! {
    /// Settings of the stage `extract`: none yet, an empty section is allowed.
    pub ExtractSpec {}
}
