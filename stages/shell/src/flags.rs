//! flags: the common options of all binaries.
//!
//! promises  every binary takes the same common options
use std::{ffi::OsString, path::PathBuf};

use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};

use crate::machine_limits::parse_size;

/// What to print on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables and sentences.
    #[default]
    Human,
    /// One object a line.
    Json,
    /// Comma-separated values with a header line, for commands that print a table.
    Csv,
}

/// The formats of every command; a command with a table has its own `--format`, which takes `csv`
/// too.
fn format_parser() -> impl TypedValueParser<Value = Format> {
    let named = |format: Format| format.to_possible_value().expect("no format is skipped");
    PossibleValuesParser::new([Format::Human, Format::Json].map(named))
        .map(|name| Format::from_str(&name, false).expect("it is one of those"))
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

/// Whether generated data are accepted in place of real data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Real {
    /// A stand-in for a missing graph is an error.
    Yes,
    /// Made-up features or labels of a real graph are an error too.
    Strict,
    /// Stand-ins are accepted.
    No,
}

/// The stores that the environment names, else the one of the current folder. They are declared as
/// a default, not with `env`: clap would show an option with a value from the environment in every
/// usage line.
pub fn default_stores() -> Vec<OsString> {
    folders_of_variable(STORE_VARIABLE, "data/store")
}

/// The folders of raw data that the environment names, else that of the current folder.
fn default_data() -> Vec<OsString> {
    folders_of_variable(DATA_VARIABLE, "data/raw")
}

/// Folders that a variable names, with colons between them.
fn folders_of_variable(variable: &str, default: &str) -> Vec<OsString> {
    let named = std::env::var_os(variable).filter(|value| !value.is_empty());
    named.map_or_else(
        || vec![default.into()],
        |value| std::env::split_paths(&value).map(PathBuf::into_os_string).collect(),
    )
}

/// Variable that names stores, with colons between them.
pub const STORE_VARIABLE: &str = "WARPLOOM_STORE";
/// Variable that names folders of raw data, with colons between them.
const DATA_VARIABLE: &str = "WARPLOOM_DATA";

/// Options of all binaries.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Common options")]
pub struct Options {
    /// Pipeline file (YAML)
    #[arg(long, value_name = "FILE", global = true)]
    pub pipeline: Option<PathBuf>,
    /// Override one field by its dotted path; VALUE is YAML; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Artifact store; may be repeated: the first is written, the others are only read [env:
    /// WARPLOOM_STORE] [default: data/store]
    #[arg(long, value_name = "DIR", default_values = default_stores(), hide_default_value = true, global = true)]
    pub store: Vec<PathBuf>,
    /// Folder of raw data, searched as DIR/DATASET/; may be repeated; WARPLOOM_CATALOG names a
    /// folder of further entries [env: WARPLOOM_DATA] [default: data/raw]
    #[arg(long, value_name = "DIR", value_delimiter = ':', default_values = default_data(), hide_default_value = true, global = true)]
    pub data: Vec<PathBuf>,
    /// Threads [default: what the cgroup or the scheduler allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), global = true)]
    pub threads: Option<u16>,
    /// Memory that may be used, such as 8GiB [default: what the cgroup or the scheduler allows]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, global = true)]
    pub memory: Option<u64>,
    /// Device to run on: auto, cpu, cuda, or cuda:N for GPU number N
    #[arg(long, value_name = "NAME", global = true)]
    pub device: Option<String>,
    /// Fail instead of generating a stand-in graph; `=strict` also rejects made-up features and
    /// labels [default under a scheduler: yes]
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_name = "HOW", global = true)]
    pub real: Option<Real>,
    /// Rebuild even if the output is in the store
    #[arg(long, global = true)]
    pub force: bool,
    /// Check digests of every file, including hits and raw files [default in `check` and under a
    /// scheduler]
    #[arg(long, global = true, conflicts_with = "no_verify")]
    pub verify: bool,
    /// Do not check digests of the artifacts that a stage reads; its outputs are marked so
    #[arg(long, global = true)]
    pub no_verify: bool,
    /// What to print on stdout
    #[arg(long, value_parser = format_parser(), default_value = "human", global = true)]
    pub format: Format,
    /// Print more on stderr
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Print less on stderr
    #[arg(short, long, conflicts_with = "verbose", global = true)]
    pub quiet: bool,
    /// No progress bars and no progress lines
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Whether to colour stderr
    #[arg(long, value_enum, default_value_t, global = true)]
    pub color: Color,
    /// File of rows `name,value` that replace rows of the tuning table
    #[arg(long, value_name = "FILE", global = true, hide = true)]
    pub tuning: Option<PathBuf>,
}
