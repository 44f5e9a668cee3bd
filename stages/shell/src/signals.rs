//! signals: SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGQUIT end the process; SIGXFSZ does not.
//!
//! promises  SIGINT ends the process with status 130, SIGTERM, SIGHUP and SIGUSR1 with 75: at once,
//!           or after the stage has saved its state if it can; SIGQUIT has its default effect
//!           (a core dump where enabled); drafts and leases of this process are removed; under
//!           `nohup` SIGHUP stays ignored
//! promises  a second Ctrl-C does not wait for the save; another signal within a second of the
//!           first counts as the same request
//! promises  the message says what was saved; a new start resumes from finished stages, checkpoints
//!           and partial downloads
//! promises  a file beyond `ulimit -f` is a write error, like a full disk: SIGXFSZ is caught and
//!           ignored
//! never     leaves an incomplete directory under a final name: publishing is one rename
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

/// Set by SIGINT, SIGTERM, SIGHUP and SIGUSR1.
pub static STOP: StopFlag = StopFlag::new();
/// Whether SIGINT set it first.
static BY_INTERRUPT: StopFlag = StopFlag::new();
/// Number of running stages that save their state when `STOP` is set.
static SAVERS: AtomicU32 = AtomicU32::new(0);

/// Within this time a repeated signal is the same request: a lost terminal sends SIGHUP by the
/// shell and by the kernel, and `timeout` sends SIGTERM to the child and to its group.
const SAME_WISH: Duration = Duration::from_secs(1);
/// Within this time a repeated SIGINT is the same key press, which a launcher has forwarded.
const SAME_PRESS: Duration = Duration::from_millis(50);

/// Set when the process is about to end by a signal: later failures are a consequence of that.
static LEAVING: StopFlag = StopFlag::new();

/// Does not return once a signal has begun to end the process, so that its exit code stands and no
/// error of the interrupted work is shown.
pub fn wait_if_exiting() {
    while LEAVING.is_set() {
        std::thread::park();
    }
}

/// While this lives, stop signals only set `STOP`, and the stage ends its work itself.
#[derive(Debug)]
pub struct StopGuard(());

/// Declares that the running stage watches `STOP` and saves its state.
pub fn defer_stop() -> StopGuard {
    SAVERS.fetch_add(1, Ordering::SeqCst);
    StopGuard(())
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        SAVERS.fetch_sub(1, Ordering::SeqCst);
        // The progress of a stopped run is printed at the end.
        if !STOP.is_set() {
            *lock_progress() = None;
        }
    }
}

/// The progress of the current run, for the message of a signal that ends it.
static REACHED: Mutex<Option<RunProgress>> = Mutex::new(None);

/// Steps of a run: done, and saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// `epoch` or `superstep`.
    pub unit: &'static str,
    /// Steps that are done.
    pub done: u64,
    /// The step that a new start resumes from.
    pub saved: Option<u64>,
}

impl RunProgress {
    /// Whether a stop keeps what is done. Of several searches it keeps nothing.
    pub fn is_kept(&self) -> bool {
        self.unit != SEARCH
    }
}

/// The unit of a run of several searches.
pub const SEARCH: &str = "search";

/// The progress of the run that is at work or was stopped.
pub fn run_progress() -> Option<RunProgress> {
    *lock_progress()
}

/// Begins a run that counts its steps in this unit.
pub fn begin_steps(unit: &'static str) {
    *lock_progress() = Some(RunProgress { unit, done: 0, saved: None });
}

/// Records how many steps of the run are done.
pub fn record_steps_done(done: u64) {
    lock_progress().iter_mut().for_each(|reached| reached.done = done);
}

/// Records that the state after so many steps is saved.
pub fn record_steps_saved(saved: u64) {
    lock_progress()
        .iter_mut()
        .for_each(|reached| (reached.saved, reached.done) = (Some(saved), reached.done.max(saved)));
}

fn lock_progress() -> MutexGuard<'static, Option<RunProgress>> {
    REACHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The error of a run that a signal stopped: `after epoch 790; saved. ...`.
pub fn stop_error(how: &str) -> StageError {
    let kind = if BY_INTERRUPT.is_set() { ErrorKind::Interrupted } else { ErrorKind::Stopped };
    StageError::new(kind, format!("{} {how}", stop_word(kind)))
}

/// The same, after so many steps whose state is saved.
pub fn stop_error_after(unit: &str, done: u64) -> StageError {
    match done {
        0 => stop_error(&format!(
            "in the first {unit}; there is nothing to save yet. The same command begins the run \
             again"
        )),
        done => stop_error(&format!("after {unit} {done}; saved. The same command resumes there")),
    }
}

fn stop_word(kind: ErrorKind) -> &'static str {
    if kind == ErrorKind::Interrupted { "interrupted" } else { "stopped by a signal" }
}

/// The message where a signal ends the process at once: what was saved.
fn describe_immediate_end(kind: ErrorKind, reached: Option<RunProgress>) -> String {
    let what = stop_word(kind);
    match reached {
        Some(RunProgress { unit, done, saved: Some(saved) }) if saved == done => {
            format!("{what} after {unit} {done}; saved. The same command resumes there")
        }
        Some(RunProgress { unit, done, saved: Some(saved) }) => {
            format!(
                "{what} after {unit} {done}; saved up to {unit} {saved}. The same command resumes \
                 there"
            )
        }
        Some(RunProgress { unit, done, saved: None }) => {
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

/// Writes a line to stderr, over a progress bar that may be there; a closed stderr is ignored.
fn write_stderr_line(text: &str) {
    let over = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let _closed = writeln!(std::io::stderr(), "{over}{text}");
}

/// The signals to handle. Those that `nohup` ignores stay ignored.
fn handled_signals() -> Vec<i32> {
    // Without /proc, no signal counts as ignored.
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

/// Whether a signal leaves it to the stage to save and end; `since` is the time since the first
/// signal that did.
fn is_deferred(signal: i32, somebody_saves: bool, since: Option<Duration>) -> bool {
    let same = if signal == SIGINT { SAME_PRESS } else { SAME_WISH };
    signal != SIGQUIT && since.map_or(somebody_saves, |since| since < same)
}

/// Starts the signal listener, first in a program: until then signals have their default effect.
pub fn start_listener() -> Result<(), StageError> {
    let wrong = |error: std::io::Error| thread_error("listen to signals", &error);
    let mut signals = Signals::new(handled_signals()).map_err(wrong)?;
    let listener = move || {
        let mut asked: Option<Instant> = None;
        for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
            if is_deferred(
                signal,
                SAVERS.load(Ordering::SeqCst) > 0,
                asked.map(|asked| asked.elapsed()),
            ) {
                if asked.is_none() && signal == SIGINT {
                    BY_INTERRUPT.set();
                    let keeps = run_progress().is_none_or(|progress| progress.is_kept());
                    let does = if keeps { "saving the state" } else { "nothing is kept" };
                    write_stderr_line(&format!("interrupted: {does}; Ctrl-C again ends at once"));
                }
                asked.get_or_insert_with(Instant::now);
                STOP.set();
                continue;
            }
            let kind = if signal == SIGINT { ErrorKind::Interrupted } else { ErrorKind::Stopped };
            LEAVING.set();
            abandon_drafts();
            if signal == SIGQUIT {
                // Returns only if it fails; the process then exits below.
                let _failed = emulate_default_handler(SIGQUIT);
            }
            write_stderr_line(&describe_immediate_end(kind, run_progress()));
            std::process::exit(i32::from(kind.exit_code()));
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(listener).map(drop).map_err(wrong)
}

/// The error of a thread that the system does not start.
pub fn thread_error(what: &str, error: &std::io::Error) -> StageError {
    let mut shown = StageError::io(&format!("start a thread to {what}"), Path::new(""), error);
    (shown.kind, shown.place) = (ErrorKind::Transient, None);
    shown.hint(
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
            is_deferred(SIGHUP, true, None)
                && is_deferred(SIGHUP, true, later(5))
                && is_deferred(SIGTERM, true, later(900))
        );
        assert!(
            is_deferred(SIGHUP, false, later(5)),
            "what was asked for is saved, and the message says so"
        );
        assert!(!is_deferred(SIGTERM, true, later(1000)) && !is_deferred(SIGTERM, false, None));
        assert!(!is_deferred(SIGQUIT, true, None) && !is_deferred(SIGQUIT, true, later(5)));
    }

    #[test]
    fn a_second_interrupt_ends_at_once() {
        let later = |since: u64| Some(Duration::from_millis(since));
        assert!(
            is_deferred(SIGINT, true, None) && !is_deferred(SIGINT, false, None),
            "the first one is answered by who saves"
        );
        assert!(is_deferred(SIGINT, true, later(5)), "a launcher passed one Ctrl-C on");
        assert!(!is_deferred(SIGINT, true, later(100)) && !is_deferred(SIGINT, true, later(5000)));
    }

    #[test]
    fn what_is_kept_is_told() {
        let message = |done, saved| {
            describe_immediate_end(
                ErrorKind::Interrupted,
                Some(RunProgress { unit: "epoch", done, saved }),
            )
        };
        assert_eq!(
            message(790, Some(778)),
            "interrupted after epoch 790; saved up to epoch 778. The same command resumes there"
        );
        assert_eq!(
            message(790, Some(790)),
            "interrupted after epoch 790; saved. The same command resumes there"
        );
        assert_eq!(
            message(3, None),
            "interrupted after epoch 3; nothing of the run was saved. The same command begins the \
             run again"
        );
        let none = describe_immediate_end(ErrorKind::Stopped, None);
        assert_eq!(
            none,
            "stopped by a signal; the stage at work was not saved, stages that were done are kept. \
             The same command resumes after them"
        );
        let error = stop_error_after("superstep", 7);
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
        let error = thread_error("listen to signals", &std::io::Error::from_raw_os_error(11));
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
