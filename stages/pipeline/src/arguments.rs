//! The command line of `warploom`: the sub-commands of the interface.
//!
//! promises  a sub-command that this version does not have is named, and says so with exit code 2
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use warploom_contract::StageError;
use warploom_plan::printed_forms::FORMS;
use warploom_shell::{
    Options,
    flags::Format,
    machine_limits::{parse_age, parse_size},
};

/// The command line.
#[derive(Parser, Debug)]
#[command(name = "warploom", version, about = ABOUT, after_help = crate::manual::below_help(), disable_help_subcommand = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of all programs.
    #[command(flatten)]
    pub options: Options,
}

/// What the front door does.
const ABOUT: &str = "Train graph neural networks and run graph analytics from a pipeline file";

/// The sub-commands.
#[derive(Subcommand, Clone, Debug)]
pub enum Command {
    /// Run all stages of a pipeline file in order; what is in the store is not built again
    Pipeline {
        /// Pipeline file (YAML)
        file: Option<PathBuf>,
    },
    /// Say for each stage hit or miss, which ingredient differs, and what the plan chose and why
    Explain {
        /// Pipeline file (YAML)
        file: Option<PathBuf>,
    },
    /// Verify every stage's output with an independent method; or check a program without running
    /// it
    Check {
        /// Pipeline file (YAML), or a program (.py): its shapes, names and settings, without
        /// running it
        file: Option<PathBuf>,
        /// Data set that a program is checked against, if its graph is in the store
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
        /// Print the program on its way: as written, with gradients, after all passes, as launches
        #[arg(long, value_name = "FORM", value_parser = FORMS)]
        show: Option<String>,
    },
    /// Write what an artifact holds for other programs: edges, nodes, features, results, parameters
    Export {
        /// Key, the first digits of one, KIND/DIGITS, `last` for the last run, or a kind: the only
        /// one in the store, or that of `--pipeline`
        key: String,
        /// Of this data set: the newest artifact of a KIND
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
        /// How [default: tables as parquet, arrays as npy, sparse ones and csr as npz, parameters
        /// as safetensors]
        #[arg(long = "as", value_enum, value_name = "FORM")]
        form: Option<ExportForm>,
        /// Folder, made if needed; files in it are replaced with `--force` alone
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Write a program and its pipeline of one's own, NAME.py and NAME.yaml, that run as they are
    New {
        /// Name of the function and of both files
        name: String,
        /// The shipped program that they begin as: gcn, gat, sage, pagerank, and all others of
        /// `pipelines/`
        #[arg(long, value_name = "PROGRAM", default_value = "gcn")]
        like: String,
    },
    /// List runs, newest first: pipeline, program, data set, what was set, device, metrics
    Runs {
        /// Those of this data set
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
        /// The best first by this metric, such as test, test_f1 or loss
        #[arg(long, value_name = "METRIC")]
        sort: Option<String>,
        /// What to print on stdout
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// List the store, verify it, collect garbage
    Store {
        /// What to do
        #[command(subcommand)]
        action: StoreAction,
    },
    /// Look at data sets, fetch, generate, import or remove them
    Data {
        /// What to do
        #[command(subcommand)]
        action: DataAction,
    },
    /// Say what this machine has, what is missing, and how to mend it
    Doctor {
        /// Measure the rates of the GPUs that are here, or of the one that `--device` names, and
        /// keep them for plans
        #[arg(long)]
        measure: bool,
    },
    /// Print the JSON Schema of pipeline files, for editors
    Schema,
    /// Print a completion script
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
    /// Not in this version: submit the stages as batch jobs
    #[command(hide = true)]
    Submit(IgnoredArguments),
    /// Not in this version: one HTML page about a run
    #[command(hide = true)]
    Report(IgnoredArguments),
    /// Not in this version: two runs side by side
    #[command(hide = true)]
    Compare(IgnoredArguments),
    /// Not in this version: measure choices
    #[command(hide = true)]
    Tune(IgnoredArguments),
    /// Not in this version: jobs of a site
    #[command(hide = true)]
    Status(IgnoredArguments),
    /// Not in this version: end jobs of a site
    #[command(hide = true)]
    Cancel(IgnoredArguments),
}

/// Arguments of a sub-command that does not exist yet.
#[derive(clap::Args, Clone, Debug)]
pub struct IgnoredArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

/// How things are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// Arrays of a table in one archive; sparse features as scipy's save_npz writes them
    Npz,
    /// A file for each array or column
    Npy,
    /// Text with the names of its columns in the first line
    Csv,
    /// Tables
    Parquet,
    /// Arrays in one file; no words
    Safetensors,
    /// As the files lie in the store
    Files,
}

impl ExportForm {
    /// Whether columns stand side by side in it.
    pub fn is_table(self) -> bool {
        matches!(self, ExportForm::Csv | ExportForm::Parquet)
    }
}

/// Of `warploom store`.
#[derive(Subcommand, Clone, Debug)]
pub enum StoreAction {
    /// List artifacts: kind, key, data set, program, size, time
    Ls {
        /// Those of this data set
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
    },
    /// Print the folder of an artifact
    Path {
        /// Key, the first digits of one, or `last` for the last run
        key: String,
    },
    /// Check the digest of every file of every artifact, or of one
    Verify {
        /// Key, the first digits of one, or `last` for the last run
        key: Option<String>,
    },
    /// Remove artifacts by key; refuses what a process uses and what a kept plan or run was made
    /// from, unless `--force`
    Rm {
        /// Keys, or the first digits of them
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
    },
    /// Remove what killed writers left, and artifacts by age, size and reachability
    Gc {
        /// Artifacts not used for so long, such as 30d; uses are noted to the hour, and what may
        /// have been used since stays
        #[arg(long, value_name = "AGE", value_parser = parse_age)]
        older_than: Option<std::time::Duration>,
        /// The least recently used, until so much is left, such as 50GiB
        #[arg(long, value_name = "SIZE", value_parser = parse_size)]
        keep: Option<u64>,
        /// What no run was made from
        #[arg(long)]
        unreachable: bool,
        /// Artifacts of formats that this version replaced, which it does not read
        #[arg(long)]
        older_formats: bool,
        /// Results of runs too; without it they are never removed
        #[arg(long)]
        runs: bool,
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
    },
}

/// Of `warploom data`.
#[derive(Subcommand, Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a command line has one action")]
pub enum DataAction {
    /// List the catalogue: what is here, what would be a stand-in
    Ls,
    /// What the catalogue knows of a data set, and what its graph is like; makes graph and profile
    /// if need be
    Show {
        /// Its name
        name: String,
    },
    /// Download the raw files of a data set
    Fetch {
        /// Its name
        name: String,
    },
    /// Make the stand-in of a data set, as a graph in the store
    Generate {
        /// Its name
        name: String,
    },
    /// Remove a data set that was imported; with --force, the raw files of one of the catalogue
    Rm {
        /// Its name
        name: String,
    },
    /// Make a data set of files of one's own: copy them to the data folder and write their entry
    /// beside them; --force replaces an imported one
    Import(Import),
}

/// Files that become a data set.
#[derive(clap::Args, Clone, Debug)]
pub struct Import {
    /// Name of the new data set
    pub name: String,
    /// Edges: Parquet, Arrow, CSV, TSV, npy, npz, safetensors, or a file of any other format that
    /// is read
    #[arg(long, value_name = "FILE", required_unless_present = "from")]
    pub edges: Option<PathBuf>,
    /// All files of a graph that `warploom export` wrote, in any form
    #[arg(long, value_name = "DIR", conflicts_with_all = ["edges", "nodes", "graphs", "features", "labels", "split", "ids", "names"])]
    pub from: Option<PathBuf>,
    /// Nodes, by name of columns: CSV or TSV where the edges are text, else Parquet, Arrow, npz,
    /// safetensors
    #[arg(long, value_name = "FILE")]
    pub nodes: Option<PathBuf>,
    /// Graphs of a set of many, in the forms of nodes
    #[arg(long, value_name = "FILE", requires = "nodes")]
    pub graphs: Option<PathBuf>,
    /// Features, a row for each node: npy, npz, safetensors, CSV, TSV, Parquet, Arrow
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// Labels, one for each node: npy, npz, safetensors
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Parts of a split, one for each node (0 none, 1 train, 2 validation, 3 test): npy, npz,
    /// safetensors
    #[arg(long, value_name = "FILE")]
    pub split: Option<PathBuf>,
    /// The node that each row of features, labels and split is of: npy, npz, safetensors [default:
    /// in order of ids]
    #[arg(long, value_name = "FILE")]
    pub ids: Option<PathBuf>,
    /// Names of classes, relations and kinds, in their order: a names.json as `warploom export`
    /// writes it
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// Every edge stands for both directions
    #[arg(long)]
    pub undirected: bool,
    /// What the format leaves open, as `read:` of a catalogue entry: source=COLUMN, label=COLUMN,
    /// weight=none; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub read: Vec<String>,
}

impl Command {
    /// The error of a sub-command that is not in this version.
    pub fn unavailable_error(&self) -> Option<StageError> {
        let (name, instead) = match self {
            Command::Submit(_) => (
                "submit",
                "run  warploom pipeline FILE  inside a batch job: it stops and resumes on signals",
            ),
            Command::Report(_) => (
                "report",
                "look at record.json and metrics.parquet of the run:  warploom export KEY -o DIR",
            ),
            Command::Compare(_) => {
                ("compare", "look at the record.json of both runs:  warploom export KEY -o DIR")
            }
            Command::Tune(_) => {
                ("tune", "choices are made by predicted bytes:  warploom explain FILE")
            }
            Command::Status(_) => ("status", "ask the scheduler itself"),
            Command::Cancel(_) => ("cancel", "ask the scheduler itself"),
            _ => return None,
        };
        Some(crate::usage_error(format!("`warploom {name}` is not in this version"), instead))
    }
}
