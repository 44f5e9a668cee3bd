//! task: `warploom task`: one task of a submission, as its script starts it.
//!
//! promises  each stage asks the store first; a task whose input is missing ends with exit code 5
//!           and names the job before it that failed; what happens is told by events, one line each
//! never     goes by the number of starts alone: exit code 4 is given three times, then 1
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use warploom_batch::{
    event::{self, Event, EventKind},
    job::Job,
    submission::{Opened, Submission},
};
use warploom_contract::{ErrorKind, StageError, kinds::run::SchedulerJob, store::lease};
use warploom_shell::{
    Chain, Environment, Options, Outcome, StageName,
    environment::Verify,
    flags::Real,
    outcome::{Status, error_json},
    progress::Talk,
    scheduler, signals,
    stage_range::RangeOptions,
};
use warploom_spec::Pipeline;

use super::{error_of_json, stores};
use crate::run_all;

/// Which task, as the command line says.
#[derive(Clone, Debug)]
pub struct TaskRequest<'a> {
    /// The submission: its folder or id.
    pub submission: &'a str,
    /// The array.
    pub array: u32,
    /// The task in the array.
    pub number: u32,
    /// When the task has to stop and save its state.
    pub stop_after: Option<Duration>,
}

/// How often the time limit may come without any progress.
const LIMITS_IN_VAIN: usize = 2;
/// How often a task may end with exit code 4.
const TRANSIENT_ENDS_MOST: usize = 3;

/// Runs a task.
pub fn run(
    environment: &Environment,
    options: &Options,
    talk: &Talk,
    request: &TaskRequest<'_>,
) -> Result<(), StageError> {
    let begun = Instant::now();
    let opened = Opened::find(&stores(environment), request.submission)?;
    let jobs = opened.jobs()?;
    let own: Vec<Job> = jobs
        .iter()
        .filter(|job| job.array == request.array && job.task == request.number)
        .cloned()
        .collect();
    if own.is_empty() {
        return Err(no_task(&opened, request));
    }
    let task = Task { opened: &opened, jobs: &jobs, own: &own, request };
    task.append(&Event {
        job: scheduler_job(),
        host: Some(lease::host()),
        process: Some(std::process::id()),
        ..Event::now(EventKind::Start)
    });
    let done = task.refuse_cancelled().and_then(|()| task.refuse_short_limit()).and_then(|()| {
        if let Some(after) = request.stop_after {
            stop_after(after, opened.events(), request);
        }
        let environment = task_environment(options, &opened);
        let pipeline = opened.pipeline(own[0].pipeline)?;
        task.run_stages(&environment, talk, &pipeline)
    });
    let done =
        done.map_err(|error| task.give_up(error)).inspect_err(|error| task.tell_failure(error));
    let exit = done.as_ref().err().map_or(0, |error| error.kind.exit_code());
    let why = done.as_ref().err().map(|error| error.what.clone());
    task.append(&Event {
        exit: Some(exit),
        why,
        seconds: Some(begun.elapsed().as_secs_f64()),
        ..Event::now(EventKind::End)
    });
    done
}

fn no_task(opened: &Opened, request: &TaskRequest<'_>) -> StageError {
    let TaskRequest { array, number, .. } = request;
    let arrays: Vec<String> = opened
        .submission
        .arrays
        .iter()
        .map(|array| format!("{} has {}", array.number, array.tasks))
        .collect();
    StageError::new(
        ErrorKind::Usage,
        format!("no task {number} in array {array}: of the arrays, {} tasks", arrays.join(", ")),
    )
    .at(opened.folder.display())
    .hint(format!("list its jobs:  warploom status {} -v", opened.submission.id))
}

/// What a task does when its time limit has come.
const SAVES: &str = "saves";
const SAVES_NOTHING: &str = "saves nothing";

/// Sends this process the signal of a time limit after a while.
fn stop_after(after: Duration, events: PathBuf, request: &TaskRequest<'_>) {
    let TaskRequest { array, number, .. } = *request;
    let wait = move || {
        std::thread::sleep(after);
        let saves = signals::run_progress().is_some_and(|progress| progress.is_kept());
        let limit = Event {
            status: Some(if saves { SAVES } else { SAVES_NOTHING }.to_owned()),
            ..Event::now(EventKind::Limit)
        };
        // Without it a limit that is too short is met once more.
        let _unimportant = event::append(&events, array, number, &limit);
        // Its handler saves what can be saved.
        let _sent =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR1);
    };
    // Without the thread the scheduler's own signal has to do.
    let _clock = std::thread::Builder::new().name("clock".to_owned()).spawn(wait);
}

/// The scheduler's name of this job and task.
fn scheduler_job() -> Option<String> {
    let SchedulerJob { name, job, array_job, task, .. } = scheduler::batch_job()?.job;
    // The name of a job of PBS has the task in it.
    let task = task.filter(|_| name != "pbs");
    Some(task.map_or(job.clone(), |task| format!("{}_{task}", array_job.unwrap_or(job))))
}

/// The options of the submission, with the limits of this process.
fn task_environment(options: &Options, opened: &Opened) -> Environment {
    let submission = &opened.submission;
    let options = Options {
        store: submission.stores.clone(),
        data: submission.data.clone(),
        device: submission.device.clone(),
        real: Some(match submission.real.as_str() {
            "strict" => Real::Strict,
            "no" => Real::No,
            _ => Real::Yes,
        }),
        ..options.clone()
    };
    let mut environment = Environment::new(&options);
    if !options.verify {
        // A task that finds its output leaves at once; the stage that reads it compares digests.
        environment.verify = Verify::Inputs;
    }
    environment
}

/// A task at work.
struct Task<'a> {
    opened: &'a Opened,
    /// All jobs of the submission.
    jobs: &'a [Job],
    /// The jobs of this task, in the order of stages.
    own: &'a [Job],
    request: &'a TaskRequest<'a>,
}

impl Task<'_> {
    fn append(&self, event: &Event) {
        let TaskRequest { array, number, .. } = self.request;
        // The work goes on: what is lost is a line of the status.
        let _lost = event::append(&self.opened.events(), *array, *number, event);
    }

    /// Refuses a task of a submission that was cancelled.
    fn refuse_cancelled(&self) -> Result<(), StageError> {
        let own = event::read_of_submission(&self.opened.events());
        if own.iter().all(|event| event.event != EventKind::Cancelled) {
            return Ok(());
        }
        Err(StageError::new(ErrorKind::Interrupted, "the submission was cancelled"))
    }

    /// Refuses a task that has met its time limit twice without any progress: it would do so for
    /// ever.
    fn refuse_short_limit(&self) -> Result<(), StageError> {
        let TaskRequest { array, number, .. } = self.request;
        let events = event::read(&self.opened.events(), *array, *number);
        let starts: Vec<&[Event]> =
            events.split(|event| event.event == EventKind::Start).skip(1).collect();
        // The last one is this start.
        let before = starts.iter().rev().skip(1);
        let is_in_vain = |events: &&&[Event]| {
            let has_ended = events.iter().any(|event| event.event == EventKind::Stage);
            let of_limit = events.iter().find(|event| event.event == EventKind::Limit);
            !has_ended
                && of_limit.is_some_and(|event| event.status.as_deref() == Some(SAVES_NOTHING))
        };
        if before.take_while(is_in_vain).count() < LIMITS_IN_VAIN {
            return Ok(());
        }
        let stage = self.own[0].stage;
        let group = self.opened.submission.arrays.iter().find(|known| known.number == *array);
        let group = group.map_or("prepare", |array| array.group.as_str());
        let what = format!(
            "the time limit came {LIMITS_IN_VAIN} times before `{stage}` was done or had saved \
             anything"
        );
        Err(StageError::new(ErrorKind::Input, what)
            .hint(format!("submit again with a longer one:  --with {group}.time=12h")))
    }

    /// Runs the stages of the task, after it found or, where an earlier job did its work elsewhere,
    /// built those before.
    fn run_stages(
        &self,
        environment: &Environment,
        talk: &Talk,
        pipeline: &Pipeline,
    ) -> Result<(), StageError> {
        let Submission { from, until, .. } = &self.opened.submission;
        let options = RangeOptions { from: from.clone(), until: until.clone() };
        let range = crate::read_range(environment, &options)?;
        let mut chain = Chain::new(environment, pipeline);
        // What is before the range was there at submission, and is built by no task.
        range.prepare(&mut chain)?;
        let first = self.own[0].stage;
        let mut from = first;
        if let Err(missing) = range.look_up_before(&mut chain, first) {
            if missing.kind != ErrorKind::Input {
                return Err(missing);
            }
            self.refuse_blocked()?;
            // It was there once, or its key is another on this node: it is built here.
            talk.say(&format!("{}; it is built here", missing.what));
            (chain, from) = (Chain::new(environment, pipeline), range.first());
            range.prepare(&mut chain)?;
        }
        let last = self.own.last().map_or(first, |job| job.stage);
        for stage in StageName::ALL.into_iter().filter(|stage| (from..=last).contains(stage)) {
            let outcome = run_all::run_stage(&mut chain, talk, stage);
            let found = run_all::check_graph(&chain, &outcome, &range);
            self.tell(&outcome);
            if let Some(error) = outcome.error {
                return Err(error);
            }
            if let Some(found) = found {
                self.tell(&found.outcome());
                return Err(found.error);
            }
            if stage == StageName::Run
                && let Some(artifact) = outcome.artifacts.first()
            {
                environment.store.note_last_run(&pipeline.file, &artifact.manifest.key);
            }
        }
        Ok(())
    }

    /// Writes the event of a stage.
    fn tell(&self, outcome: &Outcome) {
        if outcome.status.is_done() && self.own.iter().all(|job| job.stage != outcome.stage) {
            return;
        }
        let status = match &outcome.error {
            Some(error) if error.kind == ErrorKind::EarlierJob => "blocked",
            _ => outcome.status.name(),
        };
        self.append(&Event {
            stage: Some(outcome.stage.name().to_owned()),
            key: outcome.key.clone(),
            status: Some(status.to_owned()),
            seconds: Some(outcome.seconds),
            why: Some(outcome.why.clone()).filter(|why| !why.is_empty()),
            error: outcome.error.as_ref().map(error_json),
            ..Event::now(EventKind::Stage)
        });
    }

    /// Tells an error that no stage has told, as one of the first stage that is not done.
    fn tell_failure(&self, error: &StageError) {
        if error.kind == ErrorKind::EarlierJob || error.kind.is_stop() {
            return;
        }
        let TaskRequest { array, number, .. } = self.request;
        let events = event::read(&self.opened.events(), *array, *number);
        let start = events.iter().rposition(|event| event.event == EventKind::Start);
        let recent = &events[start.unwrap_or(0)..];
        let is_told = |event: &Event| event.status.as_deref() == Some("failed");
        if recent.iter().any(is_told) {
            return;
        }
        let is_done = |stage: StageName| {
            events.iter().any(|event| {
                event.stage.as_deref() == Some(stage.name())
                    && matches!(event.status.as_deref(), Some("built" | "hit"))
            })
        };
        let stage = self.own.iter().map(|job| job.stage).find(|stage| !is_done(*stage));
        self.tell(&Outcome {
            stage: stage.unwrap_or(self.own[0].stage),
            status: Status::Failed,
            key: None,
            artifacts: Vec::new(),
            seconds: 0.0,
            why: String::new(),
            error: Some(error.clone()),
        });
    }

    /// An error if the job whose output this task reads did not end well.
    fn refuse_blocked(&self) -> Result<(), StageError> {
        let Some(parent) = self.own[0].parent.map(|row| &self.jobs[row as usize]) else {
            return Ok(());
        };
        let (culprit, said) = match self.find_failure(parent) {
            Failure::None => return Ok(()),
            Failure::Silent(job) => (job, None),
            Failure::Told(job, error) => (job, Some(error)),
        };
        let which = format!(
            "`{}` of {}{} (array {}, task {})",
            culprit.stage,
            culprit.dataset,
            if culprit.title.is_empty() { String::new() } else { format!(", {}", culprit.title) },
            culprit.array,
            culprit.task
        );
        let what = match &said {
            Some(error) => format!("nothing to do: the job {which} failed: {}", error.what),
            None if event::read(&self.opened.events(), culprit.array, culprit.task).is_empty() => {
                format!("nothing to do: the job {which} has not run yet")
            }
            None => format!("nothing to do: the job {which} has not ended well"),
        };
        let error = StageError {
            place: said.as_ref().and_then(|error| error.place.clone()),
            hint: said.and_then(|error| error.hint),
            ..StageError::new(ErrorKind::EarlierJob, what)
        };
        let log = self.opened.log(culprit.array, culprit.task);
        let error = error.detail(format!("  its log: {}", log.display()));
        for job in self.own {
            let outcome = Outcome {
                stage: job.stage,
                status: Status::Failed,
                key: job.key.clone(),
                artifacts: Vec::new(),
                seconds: 0.0,
                why: String::new(),
                error: Some(error.clone()),
            };
            self.tell(&outcome);
        }
        Err(error)
    }

    /// Why the output of a job is missing.
    fn find_failure<'j>(&'j self, job: &'j Job) -> Failure<'j> {
        if job.is_hit {
            return Failure::None;
        }
        let events = event::read(&self.opened.events(), job.array, job.task);
        let of_stage = |event: &&Event| event.stage.as_deref() == Some(job.stage.name());
        match events.iter().rev().find(of_stage) {
            Some(event) if matches!(event.status.as_deref(), Some("built" | "hit")) => {
                return Failure::None;
            }
            Some(event) if event.status.as_deref() == Some("failed") => {
                let error = event.error.as_ref().map(error_of_json);
                return error.map_or(Failure::Silent(job), |error| Failure::Told(job, error));
            }
            _ => {}
        }
        // The failure is in an earlier job, if that tells of one.
        let parent = job.parent.map(|row| &self.jobs[row as usize]);
        match parent.map(|parent| self.find_failure(parent)) {
            None | Some(Failure::None) => Failure::Silent(job),
            Some(found) => found,
        }
    }

    /// Gives exit code 1 instead of 4 once a fault that may pass has come too often.
    fn give_up(&self, error: StageError) -> StageError {
        let TaskRequest { array, number, .. } = self.request;
        if error.kind != ErrorKind::Transient {
            return error;
        }
        let earlier = event::read(&self.opened.events(), *array, *number)
            .iter()
            .filter(|event| event.event == EventKind::End && event.exit == Some(4))
            .count();
        if earlier < TRANSIENT_ENDS_MOST {
            return error;
        }
        let what = format!("{} ({earlier} starts before ended so too)", error.what);
        StageError { kind: ErrorKind::Input, what, ..error }
    }
}

/// Why the output of a job is missing.
enum Failure<'a> {
    /// It did not fail.
    None,
    /// It has not ended well, and does not say why.
    Silent(&'a Job),
    /// It failed with this error.
    Told(&'a Job, StageError),
}
