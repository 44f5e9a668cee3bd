//! The options of all binaries, as fixed in the interface.
//!
//! promises  every binary takes the same ones
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::limits::parse_size;

/// What to print on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables and sentences.
    #[default]
    Human,
    /// One object a line.
    Json,
}

/// Whether to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Yes.
    Always,
    /// No.
    Never,
}

/// Whether stand-ins will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Real {
    /// A stand-in is an error.
    Yes,
    /// Made-up features or labels of a real graph are an error too.
    Strict,
    /// Stand-ins will do.
    No,
}

/// Options of all binaries.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options of all Warploom programs")]
pub struct Options {
    /// Pipeline file (YAML)
    #[arg(long, value_name = "FILE", global = true)]
    pub pipeline: Option<PathBuf>,
    /// Override one field by its dotted path; VALUE is YAML; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Artifact store
    #[arg(long, value_name = "DIR", env = "WARPLOOM_STORE", hide_env_values = true, default_value = "data/store", global = true)]
    pub store: PathBuf,
    /// Where raw data is looked for, as DIR/DATASET/; may be repeated
    #[arg(long, value_name = "DIR", env = "WARPLOOM_DATA", hide_env_values = true, value_delimiter = ':', default_value = "data/raw", global = true)]
    pub data: Vec<PathBuf>,
    /// Threads [default: what the cgroup or the scheduler allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), global = true)]
    pub threads: Option<u16>,
    /// Memory that may be used, such as 8GiB [default: what the cgroup or the scheduler allows]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, global = true)]
    pub memory: Option<u64>,
    /// Where to run: auto, cpu, cuda, or cuda:N for the GPU of that number
    #[arg(long, value_name = "NAME", global = true)]
    pub device: Option<String>,
    /// A stand-in is an error; with `=strict`, made-up features and labels too [default under a scheduler: yes]
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_name = "HOW", global = true)]
    pub real: Option<Real>,
    /// Rebuild although the key is present
    #[arg(long, global = true)]
    pub force: bool,
    /// Check digests of every file, of hits and raw files too [default in `check` and under a scheduler]
    #[arg(long, global = true, conflicts_with = "no_verify")]
    pub verify: bool,
    /// Do not check digests of the artifacts that a stage reads; what is made of them says so
    #[arg(long, global = true)]
    pub no_verify: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: Format,
    /// Say more on stderr
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Say less on stderr
    #[arg(short, long, conflicts_with = "verbose", global = true)]
    pub quiet: bool,
    /// No progress bars and no progress lines
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Whether to colour stderr
    #[arg(long, value_enum, default_value_t, global = true)]
    pub color: Color,
}
