//! program: an order that a program of the user's makes: a child process that is given folders of
//! artifacts and writes one file.
//!
//! reads     `new_of_old.arrow` in the folder WARPLOOM_OUTPUT: one column of u32 of that name, the
//!           new number of each node, in one uncompressed record batch
//! promises  the program is given the folders of what it reads (WARPLOOM_CSR, WARPLOOM_GRAPH), its
//!           output folder (WARPLOOM_OUTPUT), WARPLOOM_THREADS and WARPLOOM_MEMORY in bytes; what
//!           it wrote is checked before it is used; a failure is an error with its exit code and
//!           the end of what it printed, and nothing of it stays; when this process
//!           ends, however that ends, it gets SIGTERM and after two seconds SIGKILL, with what it
//!           has started; what it leaves behind when it ends is killed
//! never     holds what the program prints, but its end; runs it through a shell
//! limits    the limits of memory and threads are passed to the program, and not enforced
use std::{
    ffi::OsStr,
    fs,
    io::{self, Read},
    os::unix::{
        fs::MetadataExt,
        process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGKILL, SIGTERM};

use warploom_contract::{
    Context, ErrorKind, Inputs, Kind, Outputs, StageError,
    arrow_file::{View, open_numbers},
    kinds::{
        csr::Csr,
        permutation::{PERMUTATION_FILE, inverse},
    },
};
use warploom_shell::{external_program::ExternalProgram, requests::ReorderRequest};
use warploom_spec::ProgramInput;

use crate::per_graph::{mixed_error, mixed_row};

/// This program, also when an installation has replaced its file since it was started.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// The first argument of a process that becomes the program.
const ROLE: &str = "run-with-parent";
/// The exit code of a child that could not become the program, as of shells.
const NOT_STARTED: i32 = 127;
/// Bytes of the end of what a program printed that an error shows.
const TAIL_BYTES: usize = 4096;
/// Lines of that.
const TAIL_LINES: usize = 20;
/// How long a program alone has SIGTERM, before what it has started gets it too.
const TIME_TO_LISTEN: Duration = Duration::from_millis(300);
/// How long they may take to end after that, before SIGKILL.
const TIME_TO_END: Duration = Duration::from_secs(2);
/// How long what it printed is waited for after its end.
const TIME_TO_DRAIN: Duration = Duration::from_millis(500);
/// The time between two looks at a process.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// To be called first by every program with this stage: does not return if this process is the
/// guard of a user's program, which ends it when this process' parent ends.
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

/// Runs the program of a request; returns the new number of each node.
pub fn run(
    context: &Context,
    outputs: &Outputs,
    inputs: &Inputs,
    request: &ReorderRequest,
    csr: &Csr,
) -> Result<Vec<u32>, StageError> {
    let program = request.program.as_ref();
    let program = program
        .ok_or_else(|| StageError::defect("method `program` was asked for without a command"))?;
    let file = outputs.file(Kind::Permutation, PERMUTATION_FILE);
    let folder = file.parent().unwrap_or(Path::new(".")).to_path_buf();
    let mut command = command(program);
    for input in &program.inputs {
        let (name, kind) = match input {
            ProgramInput::Csr => ("WARPLOOM_CSR", Kind::Csr),
            ProgramInput::Graph => ("WARPLOOM_GRAPH", Kind::Graph),
        };
        command.env(name, absolute(&inputs.get(kind)?.path)?);
    }
    command
        .env("WARPLOOM_OUTPUT", absolute(&folder)?)
        .env("WARPLOOM_THREADS", context.threads.to_string())
        .env("WARPLOOM_MEMORY", context.memory.to_string());
    let before = look_at(&folder)?;
    context.progress.begin(&format!("running {}", program.command.join(" ")), 0, "");
    let ended = run_to_end(command);
    context.progress.end();
    let (status, tail) = ended.map_err(|error| start_error(program, &error))?;
    if !status.success() {
        return Err(failure(program, status, &tail));
    }
    let after = look_at(&folder)?;
    if (before.dev(), before.ino()) != (after.dev(), after.ino()) {
        return Err(program_error(program, "replaced the folder WARPLOOM_OUTPUT".into(), &tail));
    }
    fs::set_permissions(&folder, before.permissions())
        .map_err(|error| StageError::io("set the mode of", &folder, &error))?;
    program.refuse_changed()?;
    let new_of_old = read_output(program, &folder, csr, &tail)?;
    fs::remove_file(&file).map_err(|error| StageError::io("remove", &file, &error))?;
    Ok(new_of_old)
}

fn look_at(folder: &Path) -> Result<fs::Metadata, StageError> {
    fs::symlink_metadata(folder).map_err(|error| StageError::io("look at", folder, &error))
}

fn absolute(path: &Path) -> Result<PathBuf, StageError> {
    std::path::absolute(path).map_err(|error| StageError::io("look at", path, &error))
}

/// The command that starts the program by way of this one, so that it ends with this process.
fn command(program: &ExternalProgram) -> Command {
    let mut command = Command::new(OWN_PROGRAM);
    command
        .arg(ROLE)
        .arg(std::process::id().to_string())
        .args(&program.command)
        .current_dir(&program.folder)
        .stdin(Stdio::null());
    command
}

/// Runs a command to its end; returns the end of what it printed.
fn run_to_end(mut command: Command) -> io::Result<(ExitStatus, String)> {
    let (mut printed, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The ends of the pipe that this process holds: without them, the program's end is the pipe's.
    drop(command);
    let tail = Arc::new(Mutex::new(Vec::new()));
    let kept = tail.clone();
    let reader = std::thread::Builder::new().name("printed".to_owned()).spawn(move || {
        let mut buffer = [0; 1 << 14];
        while let Ok(read @ 1..) = read_some(&mut printed, &mut buffer) {
            let mut tail = kept.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend_from_slice(&buffer[..read]);
            let excess = tail.len().saturating_sub(TAIL_BYTES);
            tail.drain(..excess);
        }
    })?;
    let status = child.wait()?;
    // A process that the program left, in a group of its own, may hold the pipe.
    let ended = Instant::now();
    while !reader.is_finished() && ended.elapsed() < TIME_TO_DRAIN {
        std::thread::sleep(LOOK_EVERY);
    }
    let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&tail).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(TAIL_LINES);
    Ok((status, lines[first..].join("\n")))
}

fn read_some(printed: &mut io::PipeReader, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match printed.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn start_error(program: &ExternalProgram, error: &io::Error) -> StageError {
    let what = format!("`{}` could not be run: {error}", program.command.join(" "));
    StageError::new(ErrorKind::Transient, what).at("reorder.command")
}

fn failure(program: &ExternalProgram, status: ExitStatus, tail: &str) -> StageError {
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit code {code}"),
        (None, Some(signal)) => format!("by signal {signal}"),
        (None, None) => "in an unknown way".to_owned(),
    };
    program_error(program, format!("ended {how}"), tail)
        .hint("run it alone with the variables WARPLOOM_CSR and WARPLOOM_OUTPUT set to folders")
}

/// An error of the program, with the end of what it printed.
fn program_error(program: &ExternalProgram, what: String, tail: &str) -> StageError {
    let error = StageError::new(
        ErrorKind::Data,
        format!("the program `{}` {what}", program.command.join(" ")),
    )
    .at("reorder.command");
    match tail.is_empty() {
        true => error,
        false => error.detail(format!("  the end of what it printed:\n{}", indented(tail))),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}

/// Reads and checks what the program wrote.
fn read_output(
    program: &ExternalProgram,
    folder: &Path,
    csr: &Csr,
    tail: &str,
) -> Result<Vec<u32>, StageError> {
    const HINT: &str = "new_of_old.arrow is an Arrow file with one uncompressed record batch and \
                        one column, new_of_old of type u32: the new number of each node, from 0";
    let entries = fs::read_dir(folder).map_err(|error| StageError::io("list", folder, &error))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    if names != [PERMUTATION_FILE] {
        let found = if names.is_empty() { "no file".to_owned() } else { names.join(", ") };
        let what = format!("left {found} in WARPLOOM_OUTPUT, expected {PERMUTATION_FILE} alone");
        return Err(program_error(program, what, tail).hint(HINT));
    }
    let path = folder.join(PERMUTATION_FILE);
    let wrong = |what: String| {
        program_error(program, format!("wrote an order that is not valid: {what}"), tail).hint(HINT)
    };
    let view: View<u32> =
        open_numbers(&path, "new_of_old").map_err(|error| wrong(error.what.clone()))?;
    if view.len() != csr.nodes() {
        return Err(wrong(format!("expected {} rows, found {}", csr.nodes(), view.len())));
    }
    let mut seen = vec![false; view.len()];
    for (row, &new) in view.iter().enumerate() {
        let slot = seen.get_mut(new as usize);
        let slot = slot.ok_or_else(|| {
            wrong(format!("row {row}: expected a number below {}, found {new}", csr.nodes()))
        })?;
        if std::mem::replace(slot, true) {
            return Err(wrong(format!(
                "row {row}: expected each number once, found {new}, which a row before has too"
            )));
        }
    }
    let new_of_old = view.to_vec();
    match mixed_row(csr, &inverse(&new_of_old)) {
        None => Ok(new_of_old),
        Some(new) => Err(mixed_error(Path::new(PERMUTATION_FILE), new, &format!("number {new}"))
            .at("reorder.command")),
    }
}
