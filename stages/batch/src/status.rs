//! status: what has become of the jobs of a submission: from the events of its tasks, and from what
//! the scheduler says of those that have not ended.
//!
//! promises  a scheduler that does not answer costs the reasons of waiting, not the rest
//! never     changes anything
use std::collections::BTreeMap;

use warploom_contract::StageError;

use crate::{
    command::{self, Values},
    event::{self, Event, EventKind},
    job::Job,
    pool,
    submission::Opened,
};

/// What has become of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Its output was in the store.
    Hit,
    /// It was built.
    Built,
    /// It waits in the queue, or for other jobs.
    Waiting,
    /// It is at work.
    Running,
    /// It was stopped after saving its state, and will go on.
    Stopped,
    /// It failed by itself.
    Failed,
    /// It did not begin, since an earlier job had failed.
    Blocked,
    /// It was cancelled.
    Cancelled,
    /// It ended without a word: the scheduler no longer knows it, or says why.
    Lost,
}

impl State {
    /// All of them, in the order of tables.
    pub const ALL: [State; 9] = [
        State::Hit,
        State::Built,
        State::Waiting,
        State::Running,
        State::Stopped,
        State::Failed,
        State::Blocked,
        State::Cancelled,
        State::Lost,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            State::Hit => "hit",
            State::Built => "built",
            State::Waiting => "waiting",
            State::Running => "running",
            State::Stopped => "stopped",
            State::Failed => "failed",
            State::Blocked => "blocked",
            State::Cancelled => "cancelled",
            State::Lost => "lost",
        }
    }

    /// Whether it will not change by itself.
    pub fn is_final(self) -> bool {
        !matches!(self, State::Waiting | State::Running | State::Stopped)
    }

    /// Whether its output is in the store.
    pub fn is_done(self) -> bool {
        matches!(self, State::Hit | State::Built)
    }
}

/// A job and what has become of it.
#[derive(Clone, Debug)]
pub struct JobStatus {
    /// Its row in the list.
    pub row: u32,
    /// The job.
    pub job: Job,
    /// What has become of it.
    pub state: State,
    /// Its key, where it is known.
    pub key: Option<String>,
    /// The scheduler's name of job and task, or the process.
    pub at: Option<String>,
    /// Where it ran.
    pub host: Option<String>,
    /// How often its task began.
    pub starts: usize,
    /// Wall time.
    pub seconds: Option<f64>,
    /// Why it waits, was built, or did not begin.
    pub reason: String,
    /// Its error, as in the JSON lines of stages.
    pub error: Option<serde_json::Value>,
}

/// The jobs of a submission, and what could not be asked.
pub struct Status {
    /// In the order of the list.
    pub jobs: Vec<JobStatus>,
    /// Why the scheduler was not asked or did not answer.
    pub silence: Option<String>,
    /// The scheduler's name of each array.
    pub arrays: BTreeMap<u32, String>,
}

/// What the scheduler says of tasks, by array and task.
type SaidOfTasks = BTreeMap<(u32, u32), Said>;

/// What the scheduler says of a task.
#[derive(Clone, Debug)]
struct Said {
    state: String,
    reason: String,
}

/// What has become of all jobs.
pub fn look(opened: &Opened) -> Result<Status, StageError> {
    look_as(opened, Asking::Scheduler)
}

/// Whether the scheduler is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// It is.
    Scheduler,
    /// It is not, since it did not answer a moment ago: events alone decide.
    EventsAlone,
}

/// The same, with the scheduler or without.
pub fn look_as(opened: &Opened, asking: Asking) -> Result<Status, StageError> {
    let jobs = opened.jobs()?;
    let own = event::read_of_submission(&opened.events());
    let is_cancelled = own.iter().any(|event| event.event == EventKind::Cancelled);
    let arrays: BTreeMap<u32, String> =
        own.into_iter().filter_map(|event| Some((event.array?, event.job?))).collect();
    let mut events = event::read_all(&opened.events())?;
    let is_open = |job: &Job| job.array > 0 && !has_ended(&events, job);
    let (mut silence, mut said) = (None, None);
    if asking == Asking::Scheduler && jobs.iter().any(is_open) {
        match ask(opened, &arrays) {
            Ok(answer) => said = answer,
            Err(error) => silence = Some(error.what),
        }
        // What ended meanwhile has told so: the answer is older than the events.
        events = event::read_all(&opened.events())?;
    }
    let judge = Judge { opened, said, is_cancelled, arrays: &arrays };
    let statuses = jobs
        .into_iter()
        .enumerate()
        .map(|(row, job)| {
            let of_task = events.get(&(job.array, job.task)).map_or(&[][..], Vec::as_slice);
            judge.status(row as u32, job, of_task)
        })
        .collect();
    Ok(Status { jobs: statuses, silence, arrays })
}

/// The events of a task since it began for the last time.
fn last_start(events: &[Event]) -> &[Event] {
    let at = events.iter().rposition(|event| event.event == EventKind::Start);
    &events[at.unwrap_or(0)..]
}

fn has_ended(events: &BTreeMap<(u32, u32), Vec<Event>>, job: &Job) -> bool {
    let last = events.get(&(job.array, job.task)).and_then(|events| events.last());
    last.is_some_and(|event| event.event == EventKind::End && !is_queued_again(event))
}

/// Whether a task that ended so is put into the queue again by its script.
fn is_queued_again(end: &Event) -> bool {
    matches!(end.exit, Some(75 | 4))
}

/// Asks the scheduler, or looks at the pool: what it says by array and task; none if it cannot say.
fn ask(opened: &Opened, arrays: &BTreeMap<u32, String>) -> Result<Option<SaidOfTasks>, StageError> {
    let submitted = opened.submission.workflow.is_none();
    let Some(scheduler) = opened.scheduler()?.filter(|_| submitted) else {
        // A pool that has ended runs nothing: what has not ended is lost.
        return Ok((pool::is_at_work(opened) == Some(false)).then(BTreeMap::new));
    };
    if scheduler.list.is_empty() || arrays.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = arrays.values().map(String::as_str).collect();
    let values: Values = [("jobs", Some(names.join(&scheduler.list_separator)))].into();
    let listed = command::run_once(&command::fill_words(&scheduler.list, &values)?);
    let text = match listed {
        // It forgets jobs that have ended, or lost its memory.
        Err(error) if is_unknown(&scheduler, &error) => String::new(),
        listed => listed?,
    };
    let number_of: BTreeMap<&str, u32> =
        arrays.iter().map(|(number, name)| (digits(name), *number)).collect();
    let mut said = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.trim().split('|');
        let (Some(job), Some(state)) = (fields.next(), fields.next()) else { continue };
        // `12_3` or `12[3]`.
        let mut parts = job.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        let (Some(name), Some(Ok(task))) = (parts.next(), parts.next().map(str::parse::<u32>))
        else {
            continue;
        };
        let first = u32::try_from(scheduler.first_task).unwrap_or(0);
        if let Some(&array) = number_of.get(name) {
            let reason = fields.next().unwrap_or_default().to_owned();
            // Another cluster may have given the same number to another job.
            let is_other = |name: &str| name != opened.submission.job_name(array);
            if fields.next().map(str::trim).is_some_and(is_other) {
                continue;
            }
            let task = task.saturating_sub(first);
            said.insert((array, task), Said { state: kind_of(&scheduler, state), reason });
        }
    }
    Ok(Some(said))
}

/// Whether a command failed because the scheduler does not know the job any more.
pub fn is_unknown(scheduler: &warploom_spec::site::SchedulerSpec, error: &StageError) -> bool {
    let detail = error.detail.as_deref().unwrap_or_default();
    scheduler.unknown.iter().any(|words| detail.contains(words.as_str()))
}

/// `waiting`, `running`, or the scheduler's own word.
fn kind_of(scheduler: &warploom_spec::site::SchedulerSpec, state: &str) -> String {
    let is_one = |words: &[String]| words.iter().any(|word| word == state);
    if is_one(&scheduler.waiting) {
        WAITING.to_owned()
    } else if is_one(&scheduler.running) {
        RUNNING.to_owned()
    } else {
        state.to_owned()
    }
}

const WAITING: &str = "waiting";
const RUNNING: &str = "running";

/// The first number of a job's name.
fn digits(name: &str) -> &str {
    let start = name.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let rest = &name[start..];
    &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())]
}

/// What decides on the state of a job.
struct Judge<'a> {
    opened: &'a Opened,
    said: Option<SaidOfTasks>,
    is_cancelled: bool,
    arrays: &'a BTreeMap<u32, String>,
}

impl Judge<'_> {
    fn status(&self, row: u32, job: Job, events: &[Event]) -> JobStatus {
        let mut status = JobStatus {
            row,
            key: job.key.clone(),
            state: if job.is_hit { State::Hit } else { State::Waiting },
            at: None,
            host: None,
            starts: events.iter().filter(|event| event.event == EventKind::Start).count(),
            seconds: None,
            reason: String::new(),
            error: None,
            job,
        };
        if status.job.is_hit {
            status.reason = "was in the store at submission".to_owned();
            return status;
        }
        let recent = last_start(events);
        if let Some(start) = recent.first() {
            (status.at, status.host) = (start.job.clone(), start.host.clone());
        }
        let name = status.job.stage.name();
        // What an earlier start has done stays done.
        let of_stage = |events: &[Event]| {
            events.iter().rev().find(|event| event.stage.as_deref() == Some(name)).cloned()
        };
        let told = of_stage(recent).or_else(|| {
            of_stage(events)
                .filter(|event| matches!(event.status.as_deref(), Some("built" | "hit")))
        });
        match told {
            Some(event) => self.take_stage(&mut status, &event, recent),
            None => self.take_task(&mut status, recent),
        }
        status
    }

    /// The state of a job of which a stage event tells.
    fn take_stage(&self, status: &mut JobStatus, event: &Event, recent: &[Event]) {
        status.key = event.key.clone().or(status.key.take());
        (status.seconds, status.error) = (event.seconds, event.error.clone());
        status.reason = event.why.clone().unwrap_or_default();
        status.state = match event.status.as_deref() {
            Some("built") => State::Built,
            Some("hit") => State::Hit,
            Some("blocked") => State::Blocked,
            Some("stopped") => State::Stopped,
            _ => State::Failed,
        };
        let queued = recent.last().is_some_and(is_queued_again);
        match status.state {
            State::Stopped => self.take_task(status, recent),
            // Exit code 4: it is tried again.
            State::Failed if queued => self.take_task(status, recent),
            _ => {}
        }
    }

    /// The state of a job of whose stage nothing is told: it waits, is at work, or was lost.
    fn take_task(&self, status: &mut JobStatus, recent: &[Event]) {
        let place = (status.job.array, status.job.task);
        let ended = recent.last().filter(|event| event.event == EventKind::End);
        if let Some(end) = ended.filter(|end| !is_queued_again(end)) {
            // The task ended before this stage.
            status.state = match end.exit {
                Some(130) => State::Cancelled,
                Some(129..=192) if self.is_cancelled => State::Cancelled,
                Some(129..=192) => State::Lost,
                _ => State::Blocked,
            };
            let why = || "an earlier stage of this task failed".to_owned();
            status.reason = end.why.clone().unwrap_or_else(why);
            return;
        }
        let has_begun = !recent.is_empty();
        if ended.is_none() && pool::task_at_work(self.opened, recent).is_some() {
            status.state = State::Running;
            return;
        }
        let is_of_pool = self.arrays.is_empty();
        let said = self.said.as_ref().map(|said| said.get(&place));
        status.state = match said {
            None if self.is_cancelled && !has_begun => State::Cancelled,
            Some(None) if is_of_pool && ended.is_some() => State::Stopped,
            None if ended.is_some() => State::Stopped,
            None if has_begun => State::Running,
            None => State::Waiting,
            Some(Some(said)) if said.state == WAITING && ended.is_some() => State::Stopped,
            Some(Some(said)) if said.state == WAITING => State::Waiting,
            Some(Some(said)) if said.state == RUNNING => State::Running,
            Some(Some(said)) if said.state.contains("CANCEL") => State::Cancelled,
            Some(_) if self.is_cancelled => State::Cancelled,
            Some(_) => State::Lost,
        };
        status.reason = match (said, status.state) {
            (Some(Some(said)), State::Waiting | State::Stopped) => said.reason.clone(),
            (Some(Some(said)), State::Lost) => format!("the scheduler says {}", said.state),
            (Some(None), State::Lost) => "it ended without a word, and its scheduler does not \
                 know it any more"
                .to_owned(),
            _ => String::new(),
        };
        if status.at.is_none() {
            let array = self.arrays.get(&place.0);
            status.at = array.map(|name| format!("{name}_{}", place.1));
        }
        if status.state == State::Lost {
            let log = self.opened.log(place.0, place.1);
            status.reason += &format!("; its log: {}", log.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_job_is_found_in_its_name() {
        assert_eq!(digits("1234[].server"), "1234");
        assert_eq!(digits("Job <77>"), "77");
        assert_eq!(digits(""), "");
    }
}
