//! SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGQUIT; SIGXFSZ, which ends nothing here.
//!
//! promises  SIGINT ends the process with 130, SIGTERM, SIGHUP and SIGUSR1 with 75: at once, or
//!           after a stage that said it can has saved its state; SIGQUIT has its usual effect, a
//!           core where cores are wanted; drafts and leases of this process are removed; under
//!           `nohup` SIGHUP stays ignored
//! promises  a second Ctrl-C does not wait for the saving; another signal that comes within a
//!           second of the first is the same wish told twice
//! promises  where nothing was saved it is said: stages that were done, checkpoints and parts of
//!           downloads are what a new start goes on from
//! promises  a file beyond what `ulimit -f` allows is an error of the write, as a full disk is:
//!           SIGXFSZ is heard and passed over
//! never     leaves a directory under a final name that is not complete: publishing is one rename
use std::{
    io::{IsTerminal, Write},
    path::Path,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGXFSZ},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use warploom_contract::{ErrorKind, StageError, progress::StopFlag, store::abandon_drafts};

/// Asked for by SIGINT, SIGTERM, SIGHUP and SIGUSR1.
pub static STOP: StopFlag = StopFlag::new();
/// Whether it was SIGINT that asked first.
static BY_INTERRUPT: StopFlag = StopFlag::new();
/// How many stages are at work that save their state when `STOP` is set.
static SAVERS: AtomicU32 = AtomicU32::new(0);

/// A lost terminal sends SIGHUP by the shell and by the kernel, and `timeout` sends SIGTERM to the
/// child and to its group: what comes again so soon after the first stop is the same wish.
const SAME_WISH: Duration = Duration::from_secs(1);
/// One Ctrl-C reaches a process twice where a launcher passes it on; nobody presses it twice so
/// fast.
const SAME_PRESS: Duration = Duration::from_millis(50);

/// The process is about to end by a signal: what fails from now on fails because of that.
static LEAVING: StopFlag = StopFlag::new();

/// Does not return once a signal has begun to end the process: its exit code stands, and no error
/// of the work that it broke is shown.
pub fn wait_if_leaving() {
    while LEAVING.is_set() {
        std::thread::park();
    }
}

/// While this lives, the signals that stop only set `STOP`, and the stage ends the process's work
/// itself.
#[derive(Debug)]
pub struct SavesOnStop(());

/// Says that the stage at work looks at `STOP` and saves what can be saved.
pub fn saves_on_stop() -> SavesOnStop {
    SAVERS.fetch_add(1, Ordering::SeqCst);
    SavesOnStop(())
}

impl Drop for SavesOnStop {
    fn drop(&mut self) {
        SAVERS.fetch_sub(1, Ordering::SeqCst);
        // How far a run was that was stopped is told at the end.
        if !STOP.is_set() {
            *reached() = None;
        }
    }
}

/// How far the run at work is, for the word of a signal that ends it.
static REACHED: Mutex<Option<Reached>> = Mutex::new(None);

/// Steps of a run, and those whose state is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// `epoch` or `superstep`.
    pub unit: &'static str,
    /// Steps that are done.
    pub done: u64,
    /// The step that a new start goes on from.
    pub saved: Option<u64>,
}

/// How far the run is that is at work or was stopped.
pub fn run_reached() -> Option<Reached> {
    *reached()
}

/// A run begins that counts its steps in this unit.
pub fn begin_steps(unit: &'static str) {
    *reached() = Some(Reached { unit, done: 0, saved: None });
}

/// So many steps of the run are done.
pub fn steps_done(done: u64) {
    reached().iter_mut().for_each(|reached| reached.done = done);
}

/// The state after so many steps is saved.
pub fn steps_saved(saved: u64) {
    reached()
        .iter_mut()
        .for_each(|reached| (reached.saved, reached.done) = (Some(saved), reached.done.max(saved)));
}

fn reached() -> MutexGuard<'static, Option<Reached>> {
    REACHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The error of a run that ends as a signal asked: `after epoch 790; saved. ...`.
pub fn stopped(how: &str) -> StageError {
    let kind = if BY_INTERRUPT.is_set() { ErrorKind::Interrupted } else { ErrorKind::Stopped };
    StageError::new(kind, format!("{} {how}", word_of(kind)))
}

/// The same, after so many steps whose state is saved now.
pub fn stopped_after(unit: &str, done: u64) -> StageError {
    match done {
        0 => stopped(&format!(
            "in the first {unit}; there is nothing to save yet. The same command begins the run \
             again"
        )),
        done => stopped(&format!("after {unit} {done}; saved. The same command resumes there")),
    }
}

fn word_of(kind: ErrorKind) -> &'static str {
    if kind == ErrorKind::Interrupted { "interrupted" } else { "stopped by a signal" }
}

/// What is kept where a signal ends the process at once.
fn told_at_once(kind: ErrorKind, reached: Option<Reached>) -> String {
    let what = word_of(kind);
    match reached {
        Some(Reached { unit, done, saved: Some(saved) }) if saved == done => {
            format!("{what} after {unit} {done}; saved. The same command resumes there")
        }
        Some(Reached { unit, done, saved: Some(saved) }) => {
            format!(
                "{what} after {unit} {done}; saved up to {unit} {saved}. The same command resumes \
                 there"
            )
        }
        Some(Reached { unit, done, saved: None }) => {
            format!(
                "{what} after {unit} {done}; nothing of the run was saved. The same command begins \
                 the run again"
            )
        }
        None => format!(
            "{what}; the stage at work was not saved, stages that were done are kept. The same \
             command resumes after them"
        ),
    }
}

/// One line, over a bar that may stand there; who has closed stderr is not told.
fn say(text: &str) {
    let over = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let _closed = writeln!(std::io::stderr(), "{over}{text}");
}

/// The signals that are heard. What `nohup` has the kernel ignore stays ignored.
fn heard() -> Vec<i32> {
    // Without /proc nothing is known to be ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok())
        .unwrap_or(0);
    let is_ignored = |signal: i32| mask >> (signal - 1) & 1 == 1;
    let always = [SIGINT, SIGTERM, SIGUSR1, SIGXFSZ];
    always
        .into_iter()
        .chain([SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal)))
        .collect()
}

/// Whether a signal leaves the end to a stage that saves; `since` is the time since the first one
/// that did.
fn waits(signal: i32, somebody_saves: bool, since: Option<Duration>) -> bool {
    let same = if signal == SIGINT { SAME_PRESS } else { SAME_WISH };
    signal != SIGQUIT && since.map_or(somebody_saves, |since| since < same)
}

/// Starts listening: first thing in a program, for until then signals have their usual effect.
pub fn listen() -> Result<(), StageError> {
    let wrong = |error: std::io::Error| no_thread("listen to signals", &error);
    let mut signals = Signals::new(heard()).map_err(wrong)?;
    let listener = move || {
        let mut asked: Option<Instant> = None;
        for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
            if waits(signal, SAVERS.load(Ordering::SeqCst) > 0, asked.map(|asked| asked.elapsed()))
            {
                if asked.is_none() && signal == SIGINT {
                    BY_INTERRUPT.set();
                    say("interrupted: saving the state; Ctrl-C again ends at once");
                }
                asked.get_or_insert_with(Instant::now);
                STOP.set();
                continue;
            }
            let kind = if signal == SIGINT { ErrorKind::Interrupted } else { ErrorKind::Stopped };
            LEAVING.set();
            abandon_drafts();
            if signal == SIGQUIT {
                // Does not come back, but where it fails, which is then the end all the same.
                let _failed = emulate_default_handler(SIGQUIT);
            }
            say(&told_at_once(kind, run_reached()));
            std::process::exit(i32::from(kind.exit_code()));
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(listener).map(drop).map_err(wrong)
}

/// The error where the kernel gives no thread.
pub fn no_thread(what: &str, error: &std::io::Error) -> StageError {
    let mut told = StageError::io(&format!("start a thread to {what}"), Path::new(""), error);
    (told.kind, told.place) = (ErrorKind::Transient, None);
    told.hint(
        "threads or memory are used up: look at  ulimit -u ,  ulimit -v  and the limit `pids.max` \
         of the cgroup, or ask for fewer with  --threads N",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_told_twice_at_once_is_one_stop() {
        let later = |since: u64| Some(Duration::from_millis(since));
        assert!(
            waits(SIGHUP, true, None)
                && waits(SIGHUP, true, later(5))
                && waits(SIGTERM, true, later(900))
        );
        assert!(waits(SIGHUP, false, later(5)), "what was asked for is saved, and its end is told");
        assert!(!waits(SIGTERM, true, later(1000)) && !waits(SIGTERM, false, None));
        assert!(!waits(SIGQUIT, true, None) && !waits(SIGQUIT, true, later(5)));
    }

    #[test]
    fn a_second_interrupt_ends_at_once() {
        let later = |since: u64| Some(Duration::from_millis(since));
        assert!(
            waits(SIGINT, true, None) && !waits(SIGINT, false, None),
            "the first one is answered by who saves"
        );
        assert!(waits(SIGINT, true, later(5)), "a launcher passed one Ctrl-C on");
        assert!(!waits(SIGINT, true, later(100)) && !waits(SIGINT, true, later(5000)));
    }

    #[test]
    fn what_is_kept_is_told() {
        let told = |done, saved| {
            told_at_once(ErrorKind::Interrupted, Some(Reached { unit: "epoch", done, saved }))
        };
        assert_eq!(
            told(790, Some(778)),
            "interrupted after epoch 790; saved up to epoch 778. The same command resumes there"
        );
        assert_eq!(
            told(790, Some(790)),
            "interrupted after epoch 790; saved. The same command resumes there"
        );
        assert_eq!(
            told(3, None),
            "interrupted after epoch 3; nothing of the run was saved. The same command begins the \
             run again"
        );
        let none = told_at_once(ErrorKind::Stopped, None);
        assert_eq!(
            none,
            "stopped by a signal; the stage at work was not saved, stages that were done are kept. \
             The same command resumes after them"
        );
        let error = stopped_after("superstep", 7);
        assert_eq!(
            (error.kind, error.what.as_str()),
            (
                ErrorKind::Stopped,
                "stopped by a signal after superstep 7; saved. The same command resumes there"
            )
        );
    }

    #[test]
    fn the_lack_of_threads_is_a_fault_that_may_pass() {
        let error = no_thread("listen to signals", &std::io::Error::from_raw_os_error(11));
        assert_eq!((error.kind.exit_code(), &error.place), (4, &None));
        assert!(
            error.what.starts_with(
                "cannot start a thread to listen to signals: Resource temporarily unavailable"
            ),
            "{}",
            error.what
        );
    }
}
