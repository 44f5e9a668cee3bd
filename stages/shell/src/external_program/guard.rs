//! guard: a process between this one and a program of the user's, which ends it when this one ends.
//!
//! promises  when this process ends, however that ends, the program gets SIGTERM and after two
//!           seconds SIGKILL, with what it has started; what it leaves when it ends is killed
//! never     runs a program through a shell
use std::{
    ffi::OsStr,
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM};

/// This program, also when an installation has replaced its file since it was started.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// The first argument of a process that becomes the program.
const ROLE: &str = "run-with-parent";
/// The exit code of a child that could not become the program, as of shells.
const NOT_STARTED: i32 = 127;
/// How long a program alone has SIGTERM, before what it has started gets it too.
const TIME_TO_LISTEN: Duration = Duration::from_millis(300);
/// How long they may take to end after that, before SIGKILL.
const TIME_TO_END: Duration = Duration::from_secs(2);
/// The time between two looks at a process.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The command that starts a program by way of a guard.
pub(super) fn command(words: &[String]) -> Command {
    let mut command = Command::new(OWN_PROGRAM);
    command.arg(ROLE).arg(std::process::id().to_string()).args(words);
    command
}

/// To be called first by every binary whose stages run programs: does not return if this process is
/// the guard of one, which ends it when this process' parent ends.
pub fn serve_if_child() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(ROLE)) {
        return;
    }
    let (Some(parent), Some(program)) = (arguments.next(), arguments.next()) else { return };
    let mut command = Command::new(&program);
    // A group of its own, so that what it starts ends with it.
    command.args(arguments).process_group(0);
    std::process::exit(match guard(&parent, command) {
        Ok(status) => status.code().unwrap_or_else(|| end_like(status)),
        Err(error) => {
            eprintln!("{} cannot be started: {error}", program.display());
            NOT_STARTED
        }
    });
}

/// Starts a program, and waits for its end; ends it, with all that it has started, when the parent
/// has ended or a signal asks for it.
fn guard(parent: &OsStr, mut command: Command) -> io::Result<ExitStatus> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, asked.clone())?;
    }
    let mut child = command.spawn()?;
    let group = rustix::process::Pid::from_child(&child);
    let is_over = || {
        let now = rustix::process::getppid().map(|process| process.as_raw_nonzero().to_string());
        asked.load(Ordering::Relaxed) || now.is_none_or(|now| parent != OsStr::new(&now))
    };
    let end = |signal| {
        // An error says that nothing is left of it.
        let _gone = rustix::process::kill_process_group(group, signal);
    };
    let status = loop {
        if let Some(status) = child.try_wait()? {
            // What it leaves behind ends with it.
            end(Signal::KILL);
            return Ok(status);
        }
        if is_over() {
            // It alone first: a shell whose command is killed before its trap runs may end.
            let _ended = rustix::process::kill_process(group, Signal::TERM);
            break wait_at_most(&mut child, TIME_TO_LISTEN)?;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    end(Signal::TERM);
    let status = match status {
        None => wait_at_most(&mut child, TIME_TO_END)?,
        ended => {
            let begun = Instant::now();
            let is_there = || rustix::process::test_kill_process_group(group).is_ok();
            while is_there() && begun.elapsed() < TIME_TO_END {
                std::thread::sleep(LOOK_EVERY);
            }
            ended
        }
    };
    end(Signal::KILL);
    status.map_or_else(|| child.wait(), Ok)
}

/// Waits for the end of a process, so long at most.
fn wait_at_most(child: &mut Child, most: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        match child.try_wait()? {
            None if begun.elapsed() < most => std::thread::sleep(LOOK_EVERY),
            ended => return Ok(ended),
        }
    }
}

/// Ends this process by the signal that ended another.
fn end_like(status: ExitStatus) -> i32 {
    let signal = status.signal().unwrap_or(SIGKILL);
    // Returns only if it fails.
    let _failed = signal_hook::low_level::emulate_default_handler(signal);
    128 + signal
}
