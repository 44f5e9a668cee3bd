//! follow: follows a submission to its end, with a line for each job that has ended; and the pool
//! of the site `local`.
use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use warploom_batch::{
    pool,
    status::{self, JobStatus, State},
    submission::Opened,
};
use warploom_contract::StageError;
use warploom_shell::{Environment, progress::Talk, signals};

use super::error_of_json;

/// The time between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The same, of a pool: only files of events are read.
const LOOK_EVERY_LOCAL: Duration = Duration::from_millis(200);

/// Runs the tasks of a submission on this machine: here, or in a process that outlives this one.
pub fn run_pool(
    environment: &Environment,
    talk: &Talk,
    opened: &Opened,
    at_once: u32,
    wait: bool,
) -> Result<(), StageError> {
    let id = &opened.submission.id;
    if !wait {
        let process = start_pool(opened, at_once)?;
        talk.say(&format!(
            "process {process} runs it, {at_once} tasks at once; follow it with  \
             warploom status {id}{}",
            environment.store_option()
        ));
        return Ok(());
    }
    let _deferred = signals::defer_stop();
    let ended = std::thread::scope(|scope| {
        let pool = scope.spawn(|| pool::run(opened, at_once, &signals::STOP));
        let mut told = BTreeSet::new();
        while !pool.is_finished() {
            std::thread::sleep(LOOK_EVERY_LOCAL);
            tell_ended(environment, opened, &mut told)?;
        }
        let ended = pool.join().unwrap_or_else(|_| Err(StageError::defect("the pool panicked")));
        ended.and_then(|()| tell_ended(environment, opened, &mut told))
    })?;
    if signals::STOP.is_set() {
        return Err(signals::stop_error(
            "after its tasks had saved what can be saved. The same command goes on",
        ));
    }
    conclude(&ended)
}

/// Starts the pool of a submission as a process of its own, which outlives this one.
fn start_pool(opened: &Opened, at_once: u32) -> Result<u32, StageError> {
    use std::os::unix::process::CommandExt;
    let path = opened.folder.join("logs").join("pool.txt");
    let log = std::fs::File::create(&path)
        .map_err(|error| StageError::io("create the log", &path, &error))?;
    let errors = log.try_clone().map_err(|error| StageError::io("open", &path, &error))?;
    let child = Command::new(&opened.submission.program)
        .args(["pool", &opened.folder.to_string_lossy(), "--at-once", &at_once.to_string()])
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .process_group(0)
        .spawn()
        .map_err(|error| StageError::io("start", Path::new(&opened.submission.program), &error))?;
    Ok(child.id())
}

/// Runs the pool of a submission, as `start_pool` starts it.
pub fn run_detached_pool(
    environment: &Environment,
    submission: &str,
    at_once: u32,
) -> Result<(), StageError> {
    let opened = Opened::find(&super::stores(environment), submission)?;
    let _deferred = signals::defer_stop();
    pool::run(&opened, at_once, &signals::STOP)
}

/// Follows a submission until every job has ended.
pub fn follow(environment: &Environment, talk: &Talk, opened: &Opened) -> Result<(), StageError> {
    // A signal ends the following, not the jobs.
    let _deferred = signals::defer_stop();
    let mut told = BTreeSet::new();
    let mut is_silent = false;
    while !signals::STOP.is_set() {
        let found = status::look(opened)?;
        if let Some(why) = &found.silence
            && !std::mem::replace(&mut is_silent, true)
        {
            talk.say(&format!("the scheduler does not answer ({why}); the events are followed"));
        }
        tell(environment, &found.jobs, &mut told);
        if found.jobs.iter().all(|job| job.state.is_final()) {
            return conclude(&found.jobs);
        }
        let looked = Instant::now();
        while !signals::STOP.is_set() && looked.elapsed() < LOOK_EVERY {
            std::thread::sleep(LOOK_EVERY_LOCAL);
        }
    }
    let (id, place) = (&opened.submission.id, environment.store_option());
    Err(signals::stop_error(&format!(
        "while it followed the jobs, which go on:  warploom status {id}{place}  or  warploom \
         cancel {id}{place}"
    )))
}

fn tell_ended(
    environment: &Environment,
    opened: &Opened,
    told: &mut BTreeSet<u32>,
) -> Result<Vec<JobStatus>, StageError> {
    let found = status::look(opened)?;
    tell(environment, &found.jobs, told);
    Ok(found.jobs)
}

/// A line for each job that has ended since the last look.
fn tell(environment: &Environment, jobs: &[JobStatus], told: &mut BTreeSet<u32>) {
    for job in jobs.iter().filter(|job| job.state.is_final() && job.job.array > 0) {
        if told.insert(job.row) {
            crate::print_as(
                environment,
                || super::status::job_line(job),
                || vec![super::status::job_json(job)],
            );
        }
    }
}

/// The first error of jobs that have ended.
fn conclude(jobs: &[JobStatus]) -> Result<(), StageError> {
    let bad: Vec<&JobStatus> = jobs.iter().filter(|job| !job.state.is_done()).collect();
    let Some(first) = bad.iter().min_by_key(|job| (job.state != State::Failed, job.row)) else {
        return Ok(());
    };
    let told = first.error.as_ref().map(error_of_json);
    let error = told.unwrap_or_else(|| {
        let what = format!("a job was {}: {}", first.state.name(), first.reason);
        StageError::new(warploom_contract::ErrorKind::Input, what)
    });
    let of = format!("{} of {} jobs did not end well; the first: ", bad.len(), jobs.len());
    Err(StageError { what: of + &error.what, ..error })
}
