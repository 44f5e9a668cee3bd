//! What a data set lacks and a run needs: labels, features and splits, made up from seeded communities and said to be so.
//! (This room is complete and in use by `lib.rs`: mend it rather than write it anew.)
//!
//! promises  the same bytes for any number of threads: every draw is addressed by what it is for
//! never     touches what the data set has; hides that something was made up (the caller puts it into the manifest)
pub mod communities;
pub mod features;
pub mod labels;
pub mod splits;
