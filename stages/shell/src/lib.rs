//! shell: what all binaries share around their stages.
//!
//! holds     options, limits, the chain of keys, hit or build, progress, signals, JSON lines and
//!           the summary table
//! promises  `warploom`, make, a batch job and a person at a prompt decide hit or miss by the same
//!           code; stdout is data, stderr is messages; a signal leaves no partial artifact
//! never     knows how a stage does its work
//!
//! Start with `binary::stage_main`, then `chain` (how keys follow from each other) and `execute`
//! (hit or build).
mod allocation;
pub mod binary;
mod build_claims;
pub mod chain;
pub mod column_names;
pub mod command_line;
pub mod cubin_cache;
pub mod data_needs;
mod data_set;
pub mod device_choice;
pub mod device_errors;
pub mod edge_schedules;
pub mod environment;
pub mod execute;
pub mod explain;
pub mod external_program;
pub mod flags;
pub mod gpu_present;
pub mod graph_reads;
pub mod hints;
pub mod kernel_tables;
pub mod machine_limits;
pub mod memory_budget;
pub mod order_choice_cache;
pub mod outcome;
pub mod parameter_file;
mod plan_settings;
pub mod preflight;
pub mod program;
pub mod program_file;
pub mod progress;
pub mod requests;
pub mod sample_data_sets;
pub mod scheduler;
pub mod search_sources;
pub mod shipped_pipelines;
pub mod signals;
pub mod stage_errors;
pub mod stage_inputs;
pub mod stage_range;
pub mod stages;
pub mod terminal;
pub mod tuning_file;
pub mod vertices;

pub use chain::{Chain, KeyStatus, Step};
pub use environment::Environment;
pub use flags::Options;
pub use outcome::Outcome;
pub use stages::StageName;
