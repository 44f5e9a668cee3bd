//! pool: the scheduler of the site `local`: tasks as processes of this machine, a bounded number at
//! once.
//!
//! promises  a task starts when the tasks whose outputs it reads have ended, well or not; a task
//!           that ends with 4 starts again, at most three times; a stop ends the tasks, which save
//!           their state
//! never     outlives its tasks; starts a task again that was stopped
use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, Stdio},
    time::Duration,
};

use warploom_contract::{StageError, progress::StopFlag, store::lease};

use crate::{
    event::{self, Event, EventKind},
    job::Job,
    script::TASK_VARIABLE,
    submission::Opened,
};

/// A task of the pool.
struct Task {
    array: u32,
    number: u32,
    /// Tasks that have to end before it starts.
    inputs: Vec<usize>,
    state: Progress,
}

/// How far a task is.
enum Progress {
    Waiting,
    Running(Child),
    Ended,
}

/// Name of the arrays of a pool, for events.
const POOL: &str = "pool";
/// The time between two looks at the tasks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Whether the pool of a submission is at work; none if that is unknown: none was started, or on
/// another host.
pub fn is_at_work(opened: &Opened) -> Option<bool> {
    let own = event::read_of_submission(&opened.events());
    let begun = own.iter().rev().find(|event| event.job.as_deref() == Some(POOL))?;
    let (host, process) = (begun.host.as_deref()?, begun.process?);
    if host != lease::host() {
        return None;
    }
    // A number that was given again belongs to a process that began at another time.
    let began = begun.why.as_deref()?;
    Some(beginning(process).as_deref() == Some(began))
}

/// When a process began, as an event states it; none if there is no such process.
fn beginning(process: u32) -> Option<String> {
    let ticks = lease::start_of(i32::try_from(process).ok()?)?;
    Some(format!("began at tick {ticks}"))
}

/// The process of a task that is at work on this host, whatever has become of its pool.
pub fn task_at_work(opened: &Opened, events: &[Event]) -> Option<u32> {
    let start = events.iter().rev().find(|event| event.event == EventKind::Start)?;
    let process = start.process.filter(|_| start.host.as_deref() == Some(&lease::host()))?;
    // The command line of a task names its submission.
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains(&opened.submission.id).then_some(process)
}

/// The process of a pool at work on this host.
pub fn process(opened: &Opened) -> Option<u32> {
    let own = event::read_of_submission(&opened.events());
    let begun = own.iter().rev().find(|event| event.job.as_deref() == Some(POOL))?;
    begun.process.filter(|_| is_at_work(opened) == Some(true))
}

/// Runs all tasks of a submission, at most so many of each array's at once; returns when all have
/// ended, or when the stop is set and those at work have ended.
pub fn run(opened: &Opened, at_once: u32, stop: &StopFlag) -> Result<(), StageError> {
    let jobs = opened.jobs()?;
    let begun = Event {
        job: Some(POOL.to_owned()),
        host: Some(lease::host()),
        process: Some(std::process::id()),
        why: beginning(std::process::id()),
        ..Event::now(EventKind::Submitted)
    };
    event::append_of_submission(&opened.events(), &begun)?;
    let mut tasks = list_tasks(&jobs);
    let mut is_told = false;
    loop {
        let mut running = 0;
        for task in &mut tasks {
            if let Progress::Running(child) = &mut task.state {
                let ended = child.try_wait().map_err(|error| {
                    StageError::io("wait for a task of", &opened.folder, &error)
                })?;
                match ended {
                    None => running += 1,
                    Some(status) => {
                        let again = status.code() == Some(4) && !stop.is_set();
                        task.state = if again { Progress::Waiting } else { Progress::Ended };
                        note_end(opened, task, status);
                    }
                }
            }
        }
        if stop.is_set() && !std::mem::replace(&mut is_told, true) {
            tasks.iter().for_each(stop_task);
        }
        if !stop.is_set() {
            running = start_tasks(opened, &mut tasks, at_once, running)?;
        }
        if running == 0 {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Starts tasks whose inputs have ended, up to the bound; gives how many run.
fn start_tasks(
    opened: &Opened,
    tasks: &mut [Task],
    at_once: u32,
    mut running: u32,
) -> Result<u32, StageError> {
    for index in 0..tasks.len() {
        if running >= at_once {
            break;
        }
        let is_due = matches!(tasks[index].state, Progress::Waiting)
            && tasks[index]
                .inputs
                .iter()
                .all(|&input| matches!(tasks[input].state, Progress::Ended));
        if is_due {
            let child = start(opened, &tasks[index])?;
            tasks[index].state = Progress::Running(child);
            running += 1;
        }
    }
    Ok(running)
}

/// The tasks of jobs, with the tasks whose outputs they read.
fn list_tasks(jobs: &[Job]) -> Vec<Task> {
    let mut index_of: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let mut tasks: Vec<Task> = Vec::new();
    for job in jobs.iter().filter(|job| job.array > 0) {
        let index = *index_of.entry((job.array, job.task)).or_insert_with(|| {
            tasks.push(Task {
                array: job.array,
                number: job.task,
                inputs: Vec::new(),
                state: Progress::Waiting,
            });
            tasks.len() - 1
        });
        let parent = job.parent.map(|row| &jobs[row as usize]);
        let input = parent.and_then(|parent| index_of.get(&(parent.array, parent.task)));
        if let Some(&input) = input.filter(|&&input| input != index) {
            tasks[index].inputs.push(input);
        }
    }
    // In the order of arrays: what many tasks wait for is done first.
    tasks
}

fn start(opened: &Opened, task: &Task) -> Result<Child, StageError> {
    let path = opened.log(task.array, task.number);
    let log = fs::File::options()
        .append(true)
        .create(true)
        .open(&path)
        .map_err(|error| StageError::io("open the log", &path, &error))?;
    let errors = log.try_clone().map_err(|error| StageError::io("open the log", &path, &error))?;
    let script = opened.script(task.array);
    Command::new("bash")
        .arg(&script)
        .env(TASK_VARIABLE, task.number.to_string())
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        // Ctrl-C reaches the pool alone, which then stops its tasks in order.
        .process_group(0)
        .spawn()
        .map_err(|error| StageError::io("start", &script, &error))
}

/// Asks a task to save its state and end.
fn stop_task(task: &Task) {
    if let Progress::Running(child) = &task.state
        && let Some(process) = rustix::process::Pid::from_raw(child.id() as i32)
    {
        // It may have ended by now.
        let _ended = rustix::process::kill_process(process, rustix::process::Signal::TERM);
    }
}

/// Notes the end of a task that a signal ended, which it could not note itself.
fn note_end(opened: &Opened, task: &Task, status: std::process::ExitStatus) {
    let events = event::read(&opened.events(), task.array, task.number);
    if events.last().is_some_and(|last| last.event == EventKind::End) {
        return;
    }
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    let why = match code {
        75 | 130 => "stopped by a signal".to_owned(),
        129..=192 => format!("killed by signal {}", code - 128),
        _ => format!("ended with {code} without a word"),
    };
    let end = Event {
        exit: Some(u8::try_from(code).unwrap_or(u8::MAX)),
        why: Some(why),
        ..Event::now(EventKind::End)
    };
    // Without it the status says that the task ended without a word.
    let _unimportant = event::append(&opened.events(), task.array, task.number, &end);
}
