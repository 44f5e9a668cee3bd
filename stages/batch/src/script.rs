//! script: the script of a job array.
//!
//! promises  a person can read it, and submit it by hand; it asks for resources in its head, runs
//!           one task, and puts the task into the queue again after exit codes 75 and 4 alone
use std::path::Path;

use warploom_contract::StageError;
use warploom_spec::site::SchedulerSpec;

use crate::{
    array::JobArray,
    command::{Values, fill},
    site::{Resources, Site},
    submission::Submission,
};

/// Name of the variable that holds the number of a task where no scheduler sets one.
pub const TASK_VARIABLE: &str = "WARPLOOM_TASK";

/// The text of an array's script.
pub fn text(
    site: &Site,
    submission: &Submission,
    folder: &Path,
    array: &JobArray,
    resources: Resources,
) -> Result<String, StageError> {
    let mut lines = vec!["#!/usr/bin/env bash".to_owned()];
    if let Some(scheduler) = &site.scheduler {
        lines.extend(head(site, scheduler, submission, folder, array, resources)?);
    }
    lines.extend(explanation(site, submission, folder, array));
    lines.push("set -u".to_owned());
    // It may be gone, and then no path is relative to it.
    lines.push(format!("cd {} 2>/dev/null", quoted(&submission.started_in.to_string_lossy())));
    lines.extend(environment(site, submission));
    lines.extend(body(site, submission, folder, array, resources));
    Ok(lines.join("\n") + "\n")
}

/// The lines for the scheduler.
fn head(
    site: &Site,
    scheduler: &SchedulerSpec,
    submission: &Submission,
    folder: &Path,
    array: &JobArray,
    resources: Resources,
) -> Result<Vec<String>, StageError> {
    let group = site.group(array.group);
    let (first, last) = (scheduler.first_task, scheduler.first_task + u64::from(array.tasks) - 1);
    let tasks = Some(if last > first { format!("{first}-{last}") } else { first.to_string() });
    // Some schedulers take no array of one task.
    let range = tasks.clone().filter(|_| last > first);
    let time = time_values(resources.seconds);
    let logs = folder.join("logs");
    let at_once = group.at_once.map(|count| count.to_string());
    let gpus = (group.gpus > 0).then(|| group.gpus.to_string());
    let with_type = |value: Option<String>| group.gpu_type.as_ref().and(value);
    let without = |value: Option<String>, other: bool| if other { None } else { value };
    let values: Values = [
        ("name", Some(submission.job_name(array.number))),
        ("all_tasks", without(tasks.clone(), at_once.is_some())),
        ("all_range", without(range.clone(), at_once.is_some())),
        ("tasks", tasks),
        ("range", range),
        ("at_once", at_once),
        ("logs", Some(logs.display().to_string())),
        ("log", Some(format!("{}/{}-%a.txt", logs.display(), array.number))),
        ("margin", Some(site.spec.margin.to_string()).filter(|_| site.spec.margin > 0)),
        ("time", fill(&scheduler.time, &time)?),
        ("memory_mib", Some(resources.bytes.div_ceil(1 << 20).to_string())),
        ("cpus", Some(group.cpus.to_string())),
        ("gpus", with_type(gpus.clone())),
        ("any_gpus", without(gpus.clone(), group.gpu_type.is_some())),
        ("no_gpus", without(Some(String::new()), gpus.is_some())),
        ("gpu_type", group.gpu_type.clone()),
        ("partition", group.partition.clone()),
        ("account", group.account.clone()),
        ("qos", group.qos.clone()),
        ("constraint", group.constraint.clone()),
        ("mail", site.spec.mail.clone()),
        ("mail_on", site.spec.mail.as_ref().map(|_| site.spec.mail_on.clone())),
    ]
    .into();
    let mut lines = Vec::new();
    for template in &scheduler.head {
        lines.extend(fill(template, &values)?);
    }
    for option in &group.options {
        let values: Values = [("option", Some(option.clone()))].into();
        lines.extend(fill(&scheduler.head_option, &values)?);
    }
    Ok(lines)
}

/// The parts of a time limit.
fn time_values(seconds: u64) -> Values {
    [
        ("hours", format!("{:02}", seconds / 3600)),
        ("minutes", format!("{:02}", seconds / 60 % 60)),
        ("seconds", format!("{:02}", seconds % 60)),
        ("total_minutes", seconds.div_ceil(60).to_string()),
        ("total_seconds", seconds.to_string()),
    ]
    .map(|(name, value)| (name, Some(value)))
    .into()
}

/// What the script is, for its reader.
fn explanation(
    site: &Site,
    submission: &Submission,
    folder: &Path,
    array: &JobArray,
) -> Vec<String> {
    let stages: Vec<&str> = array.stages.iter().map(|stage| stage.name()).collect();
    let after = match array.after.as_slice() {
        [] => "It waits for no other array.".to_owned(),
        [one] => format!("It waits for array {one}."),
        several => format!("It waits for arrays {several:?}."),
    };
    let by_hand = match &site.scheduler {
        Some(scheduler) if scheduler.name == "slurm" => {
            format!("By hand:  sbatch {}", quoted(&folder.join(file_name(array)).to_string_lossy()))
        }
        scheduler => {
            let first = scheduler.as_ref().map_or(0, |known| known.first_task);
            format!("By hand, its first task:  {TASK_VARIABLE}={first} bash {}", file_name(array))
        }
    };
    vec![
        String::new(),
        format!(
            "# Array {} of the submission {}: {}, {} task(s).",
            array.number,
            submission.id,
            stages.join(", "),
            array.tasks
        ),
        format!("# {after} {by_hand}"),
        "# A task asks the store first: submitted again, it does only what is missing.".to_owned(),
        "# What has become of it:".to_owned(),
        format!("#   {} status {}", submission.program, folder.display()),
        String::new(),
    ]
}

/// The name of an array's script.
pub fn file_name(array: &JobArray) -> String {
    format!("array-{}.sh", array.number)
}

/// Lines that set the environment.
fn environment(site: &Site, submission: &Submission) -> Vec<String> {
    let mut lines = Vec::new();
    if !site.spec.setup.is_empty() {
        lines.push("set -e".to_owned());
        lines.extend(site.spec.setup.iter().cloned());
        lines.push("set +e".to_owned());
    }
    let given = site.spec.environment.iter().chain(&submission.environment);
    lines.extend(given.map(|(name, value)| format!("export {name}={}", quoted(value))));
    if let Some(scratch) = &site.spec.scratch {
        // Variables such as $USER are those of the node.
        lines.push(format!("export TMPDIR=\"{}\"", scratch.replace('"', "")));
        lines.push("mkdir -p \"$TMPDIR\"".to_owned());
    }
    lines
}

/// Lines that run a task, pass signals on, and queue it again.
fn body(
    site: &Site,
    submission: &Submission,
    folder: &Path,
    array: &JobArray,
    resources: Resources,
) -> Vec<String> {
    let (variable, first) = match &site.scheduler {
        Some(scheduler) => (scheduler.task_variable.as_str(), scheduler.first_task),
        None => (TASK_VARIABLE, 0),
    };
    let number = if first == 0 { "$task".to_owned() } else { format!("$((task - {first}))") };
    let container = match &site.spec.container {
        Some(image) => site.spec.container_command.replace("{image}", &quoted(image)) + " ",
        None => String::new(),
    };
    // A scheduler sets cores and limits itself.
    let limits = match site.is_local() {
        true => format!(" --threads {}", site.group(array.group).cpus),
        false => format!(" --stop-after {}s", resources.seconds.saturating_sub(site.spec.margin)),
    };
    let missing = match array.tasks {
        1 => format!(":-{first}"),
        _ => format!(":?set {TASK_VARIABLE} to a task"),
    };
    let command = format!(
        "{container}{} task {} --array {} --number \"{number}\"{limits}",
        quoted(&submission.program),
        quoted(&folder.to_string_lossy()),
        array.number
    );
    let mut lines = vec![format!("task=\"${{{variable}:-${{{TASK_VARIABLE}{missing}}}}}\"")];
    lines.extend(passing_signals(&command));
    let Some(scheduler) = site.scheduler.as_ref().filter(|known| !known.requeue.is_empty()) else {
        lines.push("exit \"$code\"".to_owned());
        return lines;
    };
    lines.extend([
        "# 75: stopped, its state is saved. 4: a fault that may pass; the task itself gives"
            .to_owned(),
        "# another code when it has come three times. SIGTERM: it was cancelled, or makes room."
            .to_owned(),
        "case $code in".to_owned(),
        "75|4)".to_owned(),
        format!("  job=\"{}\"", scheduler.job),
        format!("  if [ \"$ended\" = 0 ] || {}; then", scheduler.preempted),
    ]);
    lines.extend(scheduler.requeue.iter().map(|line| format!("    {line}")));
    lines.extend(["  fi;;".to_owned(), "esac".to_owned(), "exit \"$code\"".to_owned()]);
    lines
}

/// Lines that run a command, pass signals to it, and set `code` when it has ended.
fn passing_signals(command: &str) -> Vec<String> {
    let text = format!(
        "# Signals are passed to the task, which saves its state first. Its exit code\n\
         # comes through a pipe: where a signal and the end of the task meet, `wait` may give -1.\n\
         child= signal= code= ended=0\n\
         pass() {{ signal=$1; [ -z \"$child\" ] || kill \"-$1\" \"$child\" 2>/dev/null; }}\n\
         trap 'pass USR1' USR1\n\
         trap 'ended=1; pass TERM' TERM\n\
         exec 3>&1 4< <(\n  \
           trap '' TERM USR1\n  \
           (\n    \
             trap - TERM USR1\n    \
             exec {command} >&3 3>&-\n  \
           ) &\n  \
           echo \"$!\"; wait \"$!\"; echo \"$?\"\n\
         )\n\
         read -r child <&4\n\
         [ -z \"$signal\" ] || pass \"$signal\"\n\
         until read -r -t 5 code <&4 || [ \"$?\" -le 128 ]; do :; done\n\
         code=${{code:-137}}"
    );
    text.lines().map(str::to_owned).collect()
}

/// A word for a shell.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
