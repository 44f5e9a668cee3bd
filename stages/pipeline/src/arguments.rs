//! arguments: the command line of `warploom` and its sub-commands.
//!
//! promises  the error of a sub-command that is not in this version names it, with exit code 2
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use warploom_contract::StageError;
use warploom_plan::printed_forms::FORMS;
use warploom_shell::{
    Options,
    flags::Format,
    machine_limits::{parse_age, parse_size},
    stage_range::RangeOptions,
};

/// The command line.
#[derive(Parser, Debug)]
#[command(name = "warploom", version, about = ABOUT, after_help = crate::surroundings::below_help(), disable_help_subcommand = true)]
pub struct Arguments {
    /// The sub-command.
    #[command(subcommand)]
    pub command: Command,
    /// Options of all programs.
    #[command(flatten)]
    pub options: Options,
}

/// The description of `warploom --help`.
const ABOUT: &str = "Train graph neural networks and run graph analytics from a pipeline file";

/// The sub-commands.
#[derive(Subcommand, Clone, Debug)]
pub enum Command {
    /// Run all stages of a pipeline file in order; artifacts in the store are reused
    Pipeline {
        /// Pipeline file (YAML)
        file: Option<PathBuf>,
        /// Its stages
        #[command(flatten)]
        range: RangeOptions,
    },
    /// Show for each stage whether it is a cache hit, which key input differs, and the plan's
    /// choices with reasons
    Explain {
        /// Pipeline file (YAML)
        file: Option<PathBuf>,
        /// Its stages
        #[command(flatten)]
        range: RangeOptions,
    },
    /// Verify every stage's output with an independent method; or check a program without running
    /// it
    Check {
        /// Pipeline file (YAML), or a program (.py), whose shapes, names and settings are checked
        /// without running it
        file: Option<PathBuf>,
        /// Data set to check a program against, if its graph is in the store
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
        /// Print a form of the program: as written, with gradients, after all passes, as launches,
        /// as CUDA source
        #[arg(long, value_name = "FORM", value_parser = FORMS)]
        show: Option<String>,
        /// Its stages
        #[command(flatten)]
        range: RangeOptions,
    },
    /// Export an artifact to files for other programs: edges, nodes, features, results, parameters
    Export {
        /// Key or its first digits, KIND/DIGITS, `last` for the last run, or a kind, if
        /// the store has one artifact of it or `--pipeline` names one
        key: String,
        /// Export the newest artifact of a KIND of this data set
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
        /// Output format [default: tables as parquet, arrays as npy, sparse ones and csr as npz,
        /// parameters as safetensors]
        #[arg(long = "as", value_enum, value_name = "FORM")]
        form: Option<ExportForm>,
        /// Output folder, created if needed; existing files are replaced only with `--force`
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Create a program and its pipeline, NAME.py and NAME.yaml, which run as they are
    New {
        /// Name of the function and of both files
        name: String,
        /// The shipped program to copy: gcn, gat, sage, pagerank, and all others of `pipelines/`
        #[arg(long, value_name = "PROGRAM", default_value = "gcn")]
        like: String,
    },
    /// List runs, newest first: pipeline, program, data set, changed settings, device, metrics
    Runs {
        /// Those of this data set
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
        /// Sort by this metric, such as test, test_f1 or loss; the best run first
        #[arg(long, value_name = "METRIC")]
        sort: Option<String>,
        /// Output format on stdout
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// List, verify and clean the store
    Store {
        /// What to do
        #[command(subcommand)]
        action: StoreAction,
    },
    /// List, show, download, generate, import or remove data sets
    Data {
        /// What to do
        #[command(subcommand)]
        action: DataAction,
    },
    /// Report what this machine has, what is missing, and how to fix it
    Doctor {
        /// Measure the rates of all GPUs, or of the one that `--device` names, and store them for
        /// plans
        #[arg(long)]
        measure: bool,
    },
    /// Print the JSON Schema of pipeline files, for editors
    Schema,
    /// Print a shell completion script, or write those of all Warploom programs
    Completions {
        /// Shell
        shell: clap_complete::Shell,
        /// Write the scripts of all programs into this folder, under the names that the shell
        /// looks up
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Print the manual page, or write those of all Warploom programs
    Man {
        /// Write a page for each program and sub-command into this folder
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Submit the stages of a pipeline file as batch jobs of a site; what is in the store is left
    /// out, so submitting again goes on
    Submit {
        /// Pipeline file (YAML)
        file: Option<PathBuf>,
        /// Its stages
        #[command(flatten)]
        range: RangeOptions,
        /// Site: slurm, pbs, local (processes of this machine), or a file like
        /// pipelines/sites/slurm.yaml
        #[arg(long, value_name = "NAME")]
        site: String,
        /// Override one field of the site, such as run.time=2h; may be repeated
        #[arg(long, value_name = "KEY=VALUE")]
        with: Vec<String>,
        /// Show the arrays and their scripts, and submit nothing
        #[arg(long)]
        dry_run: bool,
        /// Write a Snakefile or a Nextflow script of the tasks, and submit nothing
        #[arg(long, value_enum, value_name = "SYSTEM", conflicts_with_all = ["dry_run", "wait"])]
        workflow: Option<WorkflowSystem>,
        /// Follow the jobs to their end, with a line for each
        #[arg(long)]
        wait: bool,
    },
    /// Run one task of a submission, as its scripts do
    Task {
        /// Folder or id of the submission
        submission: String,
        /// Number of the array
        #[arg(long, value_name = "N")]
        array: u32,
        /// Number of the task in the array
        #[arg(long, value_name = "N")]
        number: u32,
        /// Save the state and stop after this long, such as 2h, with exit code 75
        #[arg(long, value_name = "SPAN", value_parser = parse_age)]
        stop_after: Option<std::time::Duration>,
    },
    /// Run the tasks of a submission as processes of this machine
    #[command(hide = true)]
    Pool {
        /// Folder or id of the submission
        submission: String,
        /// Most tasks at once
        #[arg(long, value_name = "N", default_value_t = 1)]
        at_once: u32,
    },
    /// Show what has become of a submission's jobs, or list all submissions
    Status {
        /// Id of the submission or its first letters, its folder, or `last`
        submission: Option<String>,
    },
    /// Cancel the jobs of a submission that have not ended; tasks at work save their state
    Cancel {
        /// Id of the submission or its first letters, its folder, or `last`
        submission: String,
    },
    /// Not in this version: an HTML report of a run
    #[command(hide = true)]
    Report(IgnoredArguments),
    /// Not in this version: compare two runs
    #[command(hide = true)]
    Compare(IgnoredArguments),
    /// Not in this version: tune by measurements
    #[command(hide = true)]
    Tune(IgnoredArguments),
}

/// Arguments of a sub-command that does not exist yet.
#[derive(clap::Args, Clone, Debug)]
pub struct IgnoredArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

/// Workflow systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorkflowSystem {
    /// A Snakefile
    Snakemake,
    /// A Nextflow script
    Nextflow,
}

/// Output formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// One archive for the arrays of a table; sparse features in the format of scipy's save_npz
    Npz,
    /// One file for each array or column
    Npy,
    /// Text with column names in the first line
    Csv,
    /// Tables
    Parquet,
    /// All arrays in one file; without strings
    Safetensors,
    /// The stored files, unchanged
    Files,
}

impl ExportForm {
    /// Whether it is a table of columns.
    pub fn is_table(self) -> bool {
        matches!(self, ExportForm::Csv | ExportForm::Parquet)
    }
}

/// Actions of `warploom store`.
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
    /// Compare every file of all artifacts, or of one, with its digest
    Verify {
        /// Key, the first digits of one, or `last` for the last run
        key: Option<String>,
    },
    /// Remove artifacts by key; refuses, unless `--force`, artifacts that a process uses or that a
    /// stored plan or run was made from
    Rm {
        /// Keys, or the first digits of them
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
    },
    /// Remove files of killed processes, and artifacts by age, size and reachability
    Gc {
        /// Remove artifacts not used for this long, such as 30d; uses are recorded to the hour, and
        /// what may have been used since is kept
        #[arg(long, value_name = "AGE", value_parser = parse_age)]
        older_than: Option<std::time::Duration>,
        /// Remove the least recently used until this size is left, such as 50GiB
        #[arg(long, value_name = "SIZE", value_parser = parse_size)]
        keep: Option<u64>,
        /// Remove artifacts that no run was made from
        #[arg(long)]
        unreachable: bool,
        /// Remove artifacts of older formats, which this version does not read
        #[arg(long)]
        older_formats: bool,
        /// Remove results of runs too, which are otherwise kept
        #[arg(long)]
        runs: bool,
        /// Only show what would be removed
        #[arg(long)]
        dry_run: bool,
    },
}

/// Actions of `warploom data`.
#[derive(Subcommand, Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a command line has one action")]
pub enum DataAction {
    /// List the catalogue: which data sets are available, which would be stand-ins
    Ls,
    /// Show a data set: its catalogue entry and the statistics of its graph; builds graph and
    /// profile if needed
    Show {
        /// Its name
        name: String,
    },
    /// Download the raw files of a data set
    Fetch {
        /// Its name
        name: String,
    },
    /// Generate the stand-in of a data set, as a graph in the store
    Generate {
        /// Its name
        name: String,
    },
    /// Remove an imported data set; with --force, the raw files of a set of the catalogue
    Rm {
        /// Its name
        name: String,
    },
    /// Import your own files as a data set: copy them to the data folder and write their entry
    /// beside them; --force replaces an imported set
    Import(Import),
}

/// Files of a data set to import.
#[derive(clap::Args, Clone, Debug)]
pub struct Import {
    /// Name of the new data set
    pub name: String,
    /// Edges: Parquet, Arrow, CSV, TSV, npy, npz, safetensors, or any other supported format
    #[arg(long, value_name = "FILE", required_unless_present = "from")]
    pub edges: Option<PathBuf>,
    /// Folder with a graph that `warploom export` wrote, in any format
    #[arg(long, value_name = "DIR", conflicts_with_all = ["edges", "nodes", "graphs", "features", "labels", "split", "ids", "names"])]
    pub from: Option<PathBuf>,
    /// Nodes, by column names: CSV or TSV if the edges are text, else Parquet, Arrow, npz,
    /// safetensors
    #[arg(long, value_name = "FILE")]
    pub nodes: Option<PathBuf>,
    /// Graphs of a set of many, in the formats of nodes
    #[arg(long, value_name = "FILE", requires = "nodes")]
    pub graphs: Option<PathBuf>,
    /// Features, one row for each node: npy, npz, safetensors, CSV, TSV, Parquet, Arrow
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// Labels, one for each node: npy, npz, safetensors
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Split, one number for each node (0 none, 1 train, 2 validation, 3 test): npy, npz,
    /// safetensors
    #[arg(long, value_name = "FILE")]
    pub split: Option<PathBuf>,
    /// Node id of each row of features, labels and split: npy, npz, safetensors [default: in order
    /// of ids]
    #[arg(long, value_name = "FILE")]
    pub ids: Option<PathBuf>,
    /// Names of classes, relations and node types, in their order: a names.json as `warploom
    /// export` writes it
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// Mark the edges as undirected: ingest adds reverses
    #[arg(long)]
    pub undirected: bool,
    /// Parser options, as `read:` of a catalogue entry: source=COLUMN, label=COLUMN, weight=none;
    /// may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub read: Vec<String>,
}

impl Command {
    /// The error of a sub-command that is not in this version.
    pub fn unavailable_error(&self) -> Option<StageError> {
        let (name, instead) = match self {
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
            _ => return None,
        };
        Some(crate::usage_error(format!("`warploom {name}` is not in this version"), instead))
    }
}
