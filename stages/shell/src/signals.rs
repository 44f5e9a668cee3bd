//! SIGINT, SIGTERM and SIGUSR1; SIGXFSZ, which ends nothing here.
//!
//! promises  SIGINT ends the process within a second with 130; SIGTERM and SIGUSR1 with 75, after a stage that said it can
//!           has saved its state; drafts and leases of this process are removed; a second signal does not wait
//! promises  where nothing was saved it is said: stages that were done, checkpoints and parts of downloads are what a new start goes on from
//! promises  a file beyond what `ulimit -f` allows is an error of the write, as a full disk is: SIGXFSZ is heard and passed over
//! never     leaves a directory under a final name that is not complete: publishing is one rename
use std::{
    io::{IsTerminal, Write},
    sync::atomic::{AtomicU32, Ordering},
};

use signal_hook::{
    consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ},
    iterator::Signals,
};
use warploom_contract::{ErrorKind, stage::StopFlag, store::abandon_drafts};

/// Asked for by SIGTERM and SIGUSR1.
pub static STOP: StopFlag = StopFlag::new();
/// How many stages are at work that save their state when `STOP` is set.
static SAVERS: AtomicU32 = AtomicU32::new(0);

/// The process is about to end by a signal: what fails from now on fails because of that.
static LEAVING: StopFlag = StopFlag::new();

/// Does not return once a signal has begun to end the process: its exit code stands, and no error of the work that it
/// broke is shown.
pub fn wait_if_leaving() {
    while LEAVING.is_set() {
        std::thread::park();
    }
}

/// While this lives, SIGTERM and SIGUSR1 only set `STOP`, and the stage ends the process's work itself.
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
    }
}

/// One line, over a bar that may stand there; who has closed stderr is not told.
fn say(kind: ErrorKind) {
    let what = if kind == ErrorKind::Interrupted { "interrupted" } else { "stopped by a signal" };
    let over = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let _closed = writeln!(std::io::stderr(), "{over}{what}: the work in hand was not saved; what was done before it is kept, start again to go on from there");
}

/// Starts listening. Without it (when no thread can be made) signals have their usual effect.
pub fn listen() {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGUSR1, SIGXFSZ]) else { return };
    let listener = move || {
        for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
            let wait = signal != SIGINT && SAVERS.load(Ordering::SeqCst) > 0 && !STOP.is_set();
            if wait {
                STOP.set();
                continue;
            }
            let kind = if signal == SIGINT { ErrorKind::Interrupted } else { ErrorKind::Stopped };
            LEAVING.set();
            abandon_drafts();
            say(kind);
            std::process::exit(i32::from(kind.exit_code()));
        }
    };
    let _thread = std::thread::Builder::new().name("signals".into()).spawn(listener);
}
