//! SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGQUIT; SIGXFSZ, which ends nothing here.
//!
//! promises  SIGINT ends the process within a second with 130; SIGTERM, SIGHUP and SIGUSR1 with 75, after a stage that said it can
//!           has saved its state; SIGQUIT with its usual effect, a core where cores are wanted; drafts and leases of this process are
//!           removed; under `nohup` SIGHUP stays ignored
//! promises  a second signal does not wait for the saving, but within a second of the first it is the same wish told twice
//! promises  where nothing was saved it is said: stages that were done, checkpoints and parts of downloads are what a new start goes on from
//! promises  a file beyond what `ulimit -f` allows is an error of the write, as a full disk is: SIGXFSZ is heard and passed over
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
use warploom_contract::{ErrorKind, StageError, stage::StopFlag, store::abandon_drafts};

/// Asked for by SIGTERM, SIGHUP and SIGUSR1.
pub static STOP: StopFlag = StopFlag::new();
/// How many stages are at work that save their state when `STOP` is set.
static SAVERS: AtomicU32 = AtomicU32::new(0);

/// A lost terminal sends SIGHUP by the shell and by the kernel, and `timeout` sends SIGTERM to the child and to its group: what comes
/// again so soon after the first stop is the same wish.
const SAME_WISH: Duration = Duration::from_secs(1);

/// The process is about to end by a signal: what fails from now on fails because of that.
static LEAVING: StopFlag = StopFlag::new();

/// Does not return once a signal has begun to end the process: its exit code stands, and no error of the work that it
/// broke is shown.
pub fn wait_if_leaving() {
    while LEAVING.is_set() {
        std::thread::park();
    }
}

/// While this lives, SIGTERM, SIGHUP and SIGUSR1 only set `STOP`, and the stage ends the process's work itself.
#[derive(Debug)]
pub struct SavesOnStop(());

/// Says that the stage at work looks at `STOP` and saves what can be saved.
pub fn saves_on_stop() -> SavesOnStop {
    SAVERS.fetch_add(1, Ordering::SeqCst);
    SavesOnStop(())
}

impl Drop for SavesOnStop {
    fn drop(&mut self) {
        *reached() = None;
        SAVERS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How far the run at work is, for the word of a signal that ends it.
static REACHED: Mutex<Option<Reached>> = Mutex::new(None);

/// Steps of a run, and those whose state is saved.
struct Reached {
    unit: &'static str,
    done: u64,
    saved: Option<u64>,
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
    reached().iter_mut().for_each(|reached| (reached.saved, reached.done) = (Some(saved), reached.done.max(saved)));
}

fn reached() -> MutexGuard<'static, Option<Reached>> {
    REACHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// One line, over a bar that may stand there; who has closed stderr is not told.
fn say(kind: ErrorKind) {
    let what = if kind == ErrorKind::Interrupted { "interrupted" } else { "stopped by a signal" };
    let over = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let told = match reached().as_ref() {
        Some(Reached { unit, done, saved: Some(saved) }) => {
            format!("{what} at {unit} {done}; the state after {unit} {saved} is saved, and the same command goes on from there")
        }
        Some(Reached { unit, done, saved: None }) => {
            format!(
                "{what} at {unit} {done}; the state of the run was not saved (run.checkpoint.every_epochs=N saves it): the same command begins the run anew"
            )
        }
        None => format!("{what}: the work in hand was not saved; what was done before it is kept, start again to go on from there"),
    };
    let _closed = writeln!(std::io::stderr(), "{over}{told}");
}

/// The signals that are heard. What `nohup` has the kernel ignore stays ignored.
fn heard() -> Vec<i32> {
    // Without /proc nothing is known to be ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok()).unwrap_or(0);
    let is_ignored = |signal: i32| mask >> (signal - 1) & 1 == 1;
    let always = [SIGINT, SIGTERM, SIGUSR1, SIGXFSZ];
    always.into_iter().chain([SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal))).collect()
}

/// Whether a signal leaves the end to a stage that saves; `since` is the time since the first one that did.
fn waits(signal: i32, somebody_saves: bool, since: Option<Duration>) -> bool {
    !matches!(signal, SIGINT | SIGQUIT) && since.map_or(somebody_saves, |since| since < SAME_WISH)
}

/// Starts listening: first thing in a program, for until then signals have their usual effect.
pub fn listen() -> Result<(), StageError> {
    let wrong = |error: std::io::Error| no_thread("listen to signals", &error);
    let mut signals = Signals::new(heard()).map_err(wrong)?;
    let listener = move || {
        let mut asked: Option<Instant> = None;
        for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
            if waits(signal, SAVERS.load(Ordering::SeqCst) > 0, asked.map(|asked| asked.elapsed())) {
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
            say(kind);
            std::process::exit(i32::from(kind.exit_code()));
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(listener).map(drop).map_err(wrong)
}

/// The error where the kernel gives no thread.
pub fn no_thread(what: &str, error: &std::io::Error) -> StageError {
    let mut told = StageError::io(&format!("start a thread to {what}"), Path::new(""), error);
    (told.kind, told.place) = (ErrorKind::Transient, None);
    told.hint("threads or memory are used up: look at  ulimit -u ,  ulimit -v  and the limit `pids.max` of the cgroup, or ask for fewer with  --threads N")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_told_twice_at_once_is_one_stop() {
        let later = |since: u64| Some(Duration::from_millis(since));
        assert!(waits(SIGHUP, true, None) && waits(SIGHUP, true, later(5)) && waits(SIGTERM, true, later(900)));
        assert!(waits(SIGHUP, false, later(5)), "what was asked for is saved, and its end is told");
        assert!(!waits(SIGTERM, true, later(1000)) && !waits(SIGTERM, false, None));
        assert!(!waits(SIGINT, true, None) && !waits(SIGINT, true, later(5)) && !waits(SIGQUIT, true, later(5)));
    }

    #[test]
    fn the_lack_of_threads_is_a_fault_that_may_pass() {
        let error = no_thread("listen to signals", &std::io::Error::from_raw_os_error(11));
        assert_eq!((error.kind.exit_code(), &error.place), (4, &None));
        assert!(error.what.starts_with("cannot start a thread to listen to signals: Resource temporarily unavailable"), "{}", error.what);
    }
}
