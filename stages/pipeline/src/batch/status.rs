//! status: `warploom status`: the submissions of the store, or the jobs of one.
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use serde_json::{Value, json};
use warploom_batch::{
    status::{self, Asking, JobStatus, State, Status},
    submission::Opened,
};
use warploom_contract::StageError;
use warploom_shell::{
    Environment, machine_limits::count_with_unit, outcome::error_json, progress::Talk,
};

use super::stores;

/// Prints what has become of a submission, or lists all.
pub fn run(
    environment: &Environment,
    talk: &Talk,
    submission: Option<&str>,
) -> Result<(), StageError> {
    let stores = stores(environment);
    let Some(name) = submission else {
        return list(environment, talk, &Opened::list(&stores));
    };
    let opened = Opened::find(&stores, name)?;
    let found = status::look(&opened)?;
    crate::print_as(
        environment,
        || text(&opened, &found, talk.is_verbose()),
        || found.jobs.iter().map(job_json).collect(),
    );
    Ok(())
}

fn list(environment: &Environment, talk: &Talk, all: &[Opened]) -> Result<(), StageError> {
    let mut lines = Vec::new();
    let mut text = String::new();
    let mut asking = Asking::Scheduler;
    for opened in all {
        let found = match status::look_as(opened, asking) {
            Ok(found) => found,
            // One that is damaged does not hide the others.
            Err(error) => {
                let id = &opened.submission.id;
                let _infallible = writeln!(text, "{id}  cannot be read: {}", error.what);
                lines.push(json!({"submission": id, "error": error_json(&error)}));
                continue;
            }
        };
        if let Some(why) = &found.silence {
            // It is not asked again for each submission.
            asking = Asking::EventsAlone;
            talk.say(&format!("the scheduler does not answer: {why}"));
        }
        let counts = counts(&found.jobs);
        let submission = &opened.submission;
        let told: Vec<String> = State::ALL
            .iter()
            .filter_map(|state| Some(format!("{} {}", counts.get(state)?, state.name())))
            .collect();
        let _infallible =
            writeln!(text, "{}  {}  {}", submission.id, submission.site, told.join(", "));
        let counts: BTreeMap<&str, usize> =
            counts.into_iter().map(|(state, count)| (state.name(), count)).collect();
        lines.push(json!({
            "submission": submission.id, "created": submission.created,
            "site": submission.site, "file": submission.file,
            "pipelines": submission.pipelines, "jobs": found.jobs.len(), "states": counts,
        }));
    }
    if text.is_empty() {
        text = "no submissions; make one with  warploom submit FILE --site NAME\n".to_owned();
    }
    crate::print_as(environment, || text, || lines);
    Ok(())
}

fn counts(jobs: &[JobStatus]) -> BTreeMap<State, usize> {
    let mut counts = BTreeMap::new();
    jobs.iter().for_each(|job| *counts.entry(job.state).or_insert(0) += 1);
    counts
}

/// Most failed jobs that are shown without `--verbose`.
const FAILED_SHOWN: usize = 10;

fn text(opened: &Opened, found: &Status, is_verbose: bool) -> String {
    let submission = &opened.submission;
    let mut text = format!(
        "{}: {}, {} on {}\n",
        submission.id,
        count_with_unit(u64::from(submission.pipelines), "pipeline"),
        count_with_unit(found.jobs.len() as u64, "job"),
        submission.site
    );
    if let Some(why) = &found.silence {
        let _infallible = writeln!(text, "the scheduler does not answer: {why}");
    }
    let present: Vec<State> = {
        let counts = counts(&found.jobs);
        State::ALL.into_iter().filter(|state| counts.contains_key(state)).collect()
    };
    let heads: String = present.iter().map(|state| format!(" {:>9}", state.name())).collect();
    let _infallible =
        writeln!(text, "{:<5} {:<18} {:<10} {:>6}{heads}", "array", "stages", "job", "jobs");
    let mut row = |number: u32, stages: &str, name: &str| {
        let of_array: Vec<JobStatus> =
            found.jobs.iter().filter(|job| job.job.array == number).cloned().collect();
        if of_array.is_empty() {
            return;
        }
        let counts = counts(&of_array);
        let cells: String = present
            .iter()
            .map(|state| match counts.get(state) {
                Some(count) => format!(" {count:>9}"),
                None => format!(" {:>9}", "-"),
            })
            .collect();
        let label = if number == 0 { "-".to_owned() } else { number.to_string() };
        let _infallible =
            writeln!(text, "{label:<5} {stages:<18} {name:<10} {:>6}{cells}", of_array.len());
    };
    row(0, "in the store", "-");
    for array in &submission.arrays {
        let name = found.arrays.get(&array.number).map_or("-", String::as_str);
        row(array.number, &array.stages_text(), name);
    }
    text += &waiting_text(found);
    let shown = |job: &&JobStatus| is_verbose || !job.state.is_done() && job.state.is_final();
    let listed: Vec<&JobStatus> = found.jobs.iter().filter(shown).collect();
    let most = if is_verbose { usize::MAX } else { FAILED_SHOWN };
    // What failed by itself comes before what it blocked.
    let mut ordered = listed.clone();
    if !is_verbose {
        ordered.sort_by_key(|job| (job.state != State::Failed, job.row));
    }
    ordered.iter().take(most).for_each(|job| text += &job_line(job));
    if listed.len() > most {
        let _infallible = writeln!(
            text,
            "and {} more: warploom status {} -v",
            listed.len() - most,
            submission.id
        );
    }
    text
}

/// Why tasks wait, as far as the scheduler says, a line for each array and reason.
fn waiting_text(found: &Status) -> String {
    let mut tasks: BTreeMap<(u32, &str), BTreeSet<u32>> = BTreeMap::new();
    let waits = |job: &&JobStatus| job.state == State::Waiting && !job.reason.is_empty();
    for job in found.jobs.iter().filter(waits) {
        let of = tasks.entry((job.job.array, job.reason.as_str())).or_default();
        of.insert(job.job.task);
    }
    let line = |((array, reason), tasks): ((u32, &str), BTreeSet<u32>)| {
        format!("array {array} waits: {reason} ({})\n", count_with_unit(tasks.len() as u64, "task"))
    };
    tasks.into_iter().map(line).collect()
}

/// A job in a line; its error and hint below it.
pub fn job_line(status: &JobStatus) -> String {
    let job = &status.job;
    let key = status.key.as_deref().map_or("-", |key| &key[..10.min(key.len())]);
    let place = if job.array == 0 { "-".to_owned() } else { format!("{}-{}", job.array, job.task) };
    let mut line = format!(
        "{place:<9} {:<9} {:<9} {key:<10}  {}",
        job.stage.name(),
        status.state.name(),
        job.dataset
    );
    if !job.title.is_empty() {
        line += &format!(" {}", job.title);
    }
    if let Some(seconds) = status.seconds.filter(|_| status.state.is_done()) {
        line += &format!(" ({seconds:.2} s)");
    }
    if let Some(error) = &status.error {
        let of = |name: &str| error[name].as_str();
        line += &format!("\n          error: {}", of("what").unwrap_or_default());
        if let Some(place) = of("place") {
            line += &format!("\n            --> {place}");
        }
        if let Some(hint) = of("hint") {
            line += &format!("\n          hint: {hint}");
        }
    } else if !status.reason.is_empty() && !status.state.is_done() {
        line += &format!(": {}", status.reason);
    }
    line + "\n"
}

/// A job as a JSON line.
pub fn job_json(status: &JobStatus) -> Value {
    let job = &status.job;
    json!({
        "row": status.row, "stage": job.stage.name(), "state": status.state.name(),
        "key": status.key, "dataset": job.dataset, "settings": job.title,
        "pipeline": job.pipeline, "pipelines": job.pipelines, "array": job.array,
        "task": job.task, "job": status.at, "host": status.host, "starts": status.starts,
        "seconds": status.seconds, "reason": status.reason, "error": status.error,
    })
}
