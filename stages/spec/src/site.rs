//! site: a site file: where the stages of a pipeline run as batch jobs, and with which resources;
//! and the description of a scheduler.
//!
//! promises  read as strictly as a pipeline file; nothing of it enters a key
//! never     starts a program
use std::{collections::BTreeMap, path::Path};

use crate::{
    Mistakes,
    declare::spec,
    field::{FieldDoc, Range, Spec},
    matrix::Steps,
    reader::{Reader, SettingContext, Source},
    types::FieldType,
};

spec! {
    /// A site: the scheduler of a cluster, and the resources of its jobs.
    pub SiteSpec {
        /// The scheduler: `slurm`, `pbs`, `lsf`, `local` (processes of this machine), or a file
        /// `NAME.yaml` that describes another one.
        scheduler: String = String::new(), example("slurm");
        /// Most tasks of one job array; if left out, what the scheduler says, else 1000.
        array_size: Option<u64> = None, range(Range::closed(1.0, 1_000_000.0)), unit("tasks");
        /// Time before the limit of a job at which a task saves its state and is queued again.
        margin: u64 = 120, range(Range::at_least(0.0)), unit("seconds");
        /// Lines of shell before every task, for example `module load cuda/12.4`.
        setup: Vec<String> = Vec::new();
        /// Environment variables of every task.
        environment: BTreeMap<String, String> = BTreeMap::new();
        /// An image in which tasks run, started by `container_command`.
        container: Option<String> = None;
        /// How a task is started in the image: `{image}` stands for it.
        container_command: String = "apptainer exec --nv {image}".to_owned();
        /// A folder for temporary files, local to a node; may hold variables such as `$USER`.
        scratch: Option<String> = None;
        /// Where the scheduler sends mail.
        mail: Option<String> = None;
        /// When it sends mail, in the scheduler's words.
        mail_on: String = "FAIL".to_owned();
        /// Resources of the jobs that prepare: `ingest` to `plan`.
        prepare: ResourcesSpec = ResourcesSpec::default();
        /// Resources of the jobs that run.
        run: ResourcesSpec = ResourcesSpec::default();
    }
}

spec! {
    /// The resources of a job.
    pub ResourcesSpec {
        /// Partition or queue.
        partition: Option<String> = None;
        /// Account that is charged.
        account: Option<String> = None;
        /// Quality of service.
        qos: Option<String> = None;
        /// CPU cores of a task.
        cpus: u64 = 1, range(Range::closed(1.0, 4096.0)), unit("cores");
        /// Memory of a task, such as `16GiB`; if left out, what is predicted, with a margin.
        memory: Option<String> = None;
        /// Time limit of a task, such as `2h`; if left out, what is predicted, with a margin.
        time: Option<String> = None;
        /// GPUs of a task.
        gpus: u64 = 0, range(Range::closed(0.0, 64.0)), unit("GPUs");
        /// Type of the GPUs, in the scheduler's words.
        gpu_type: Option<String> = None;
        /// Features that a node must have.
        constraint: Option<String> = None;
        /// Most tasks of an array at once; on the site `local`, most tasks at once.
        at_once: Option<u64> = None, range(Range::closed(1.0, 100_000.0)), unit("tasks");
        /// Further words for the scheduler, each a line of the script's head, for example
        /// `--exclusive`.
        options: Vec<String> = Vec::new();
    }
}

spec! {
    /// A scheduler: the lines of a script's head, and the commands that submit, list and cancel.
    /// `{name}` stands for a value; a line of which a value is not given is left out.
    pub SchedulerSpec {
        /// Name of the scheduler.
        name: String = String::new(), example("slurm");
        /// Lines of the head of every script.
        head: Vec<String> = Vec::new();
        /// The line of one further word of `options`: `{option}`.
        head_option: String = "#{option}".to_owned();
        /// Words of a time limit: `{hours}`, `{minutes}` (two digits), `{seconds}` (two digits),
        /// `{total_minutes}` or `{total_seconds}`.
        time: String = "{hours}:{minutes}:{seconds}".to_owned();
        /// Number of an array's first task.
        first_task: u64 = 0, range(Range::closed(0.0, 1.0));
        /// Variable of the shell that holds the number of a task.
        task_variable: String = String::new(), example("SLURM_ARRAY_TASK_ID");
        /// Name of the job and task in the shell, for its own commands.
        job: String = String::new();
        /// Lines of shell that put the job `$job` into the queue again.
        requeue: Vec<String> = Vec::new();
        /// Shell test that is true where a job that got SIGTERM makes room for another one, and
        /// was not cancelled.
        preempted: String = "false".to_owned();
        /// The command that submits a script: `{script}`, and `{dependency}` where it waits for
        /// other jobs.
        submit: Vec<String> = Vec::new();
        /// The word that makes a job wait until others have ended, well or not: `{jobs}`.
        dependency: String = String::new();
        /// What stands between the jobs of a dependency.
        separator: String = ":".to_owned();
        /// The command that prints a line for each task: job, state, reason and name, with `|`
        /// between them: `{jobs}`. The last two may be left out.
        list: Vec<String> = Vec::new();
        /// Words with which `list` and `cancel` fail where the scheduler does not know a job any
        /// more.
        unknown: Vec<String> = Vec::new();
        /// What stands between the jobs of `list`.
        list_separator: String = ",".to_owned();
        /// States of a job that waits.
        waiting: Vec<String> = Vec::new();
        /// States of a job that runs.
        running: Vec<String> = Vec::new();
        /// The command that cancels an array: `{job}`, and `{name}` as in the head.
        cancel: Vec<String> = Vec::new();
        /// The command that prints the settings of the scheduler.
        settings: Vec<String> = Vec::new();
        /// The setting that says how many tasks an array may have, as `NAME = NUMBER`.
        array_size: Option<String> = None;
    }
}

/// Reads a site file; `overrides` are `KEY=VALUE`, as `--with` gives them.
pub fn read_site(text: &str, file: &Path, overrides: &[String]) -> Result<SiteSpec, Mistakes> {
    read_section(text, file, overrides)
}

/// Reads the description of a scheduler.
pub fn read_scheduler(text: &str, file: &Path) -> Result<SchedulerSpec, Mistakes> {
    read_section(text, file, &[])
}

fn read_section<T: FieldType + Spec + Default>(
    text: &str,
    file: &Path,
    overrides: &[String],
) -> Result<T, Mistakes> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let top = FieldDoc {
        name: "",
        doc: String::new(),
        shape: T::shape(),
        default: serde_json::Value::Null,
        range: None,
        unit: None,
        hint: None,
        example: None,
    };
    let base = file.parent().unwrap_or(Path::new(""));
    let mut sources = vec![Source::new(file.display().to_string(), base, text)];
    sources.extend(overrides.iter().map(|text| Source::new("--with", "", text)));
    let mut reader = Reader::new(sources, top.shape.children());
    let root = crate::tree::parse(text, crate::tree::Origin { source: 0, column: 0 }, &mut reader);
    let numbered = (1..).zip(overrides);
    let assignments: Vec<_> = numbered
        .filter_map(|(number, text)| crate::assign::read_override(text, number, &mut reader))
        .collect();
    let Some(mut root) = root else { return reader.finish(T::default()).map_err(name_option) };
    let steps = Steps::new(&mut root, assignments, &mut reader);
    let variant = steps.variants(&root, &top.shape, &mut reader).next();
    let root = variant.map_or(root, |variant| variant.root);
    let key = crate::node::Span { length: 1, ..root.span };
    let at = SettingContext { path: "".into(), field: &top, key };
    let read = T::decode(&root, &at, &mut reader).unwrap_or_default();
    reader.finish(read).map_err(name_option)
}

/// Mistakes of a site file are mended by `--with`, where those of a pipeline file are by `--set`.
fn name_option(mut mistakes: Mistakes) -> Mistakes {
    for mistake in &mut mistakes.shown {
        // Some hints are about pipeline files.
        let of_pipeline = |hint: &String| {
            ["plan.set", "matrix", "run.epochs"].iter().any(|words| hint.contains(words))
        };
        let hint = mistake.hint.take().filter(|hint| !of_pipeline(hint));
        mistake.hint = hint.map(|hint| hint.replace("--set ", "--with "));
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_read_strictly() {
        let text = "scheduler: slurm\nprepare: {cpus: 4, memory: 8GiB}\nrun: {gpus: 1}\n";
        let read = |text: &str, with: &[&str]| {
            let with: Vec<String> = with.iter().map(|text| (*text).to_owned()).collect();
            read_site(text, Path::new("sites/x.yaml"), &with)
        };
        let site = read(text, &["run.time=2h", "prepare.cpus=8"]).unwrap();
        assert_eq!((site.scheduler.as_str(), site.prepare.cpus, site.run.gpus), ("slurm", 8, 1));
        assert_eq!(site.run.time.as_deref(), Some("2h"));
        let wrong = |text: &str, with: &[&str]| read(text, with).unwrap_err().to_string();
        let said = wrong("scheduler: slurm\nrun: {gpu: 1}\n", &[]);
        assert!(said.contains("gpu") && said.contains("sites/x.yaml:2"), "{said}");
        let said = wrong("run: {gpus: 1}\n", &[]);
        assert!(said.contains("`scheduler` is missing") && !said.contains("--set"), "{said}");
        let said = wrong(text, &["run.cpus=none"]);
        assert!(said.contains("--with"), "{said}");
    }
}
