//! child_process: runs a program of the user to its end, and judges how it ended and what it left.
//!
//! promises  the program is given the folders of what it reads (WARPLOOM_CSR, WARPLOOM_GRAPH and so
//!           on; WARPLOOM_RAW for `ingest`), its output folder (WARPLOOM_OUTPUT), WARPLOOM_THREADS
//!           and WARPLOOM_MEMORY in bytes; a failure is an error with its exit code and the end of
//!           what it printed
//! never     holds what the program prints, but its end; reads what it wrote: the stage does
//! limits    the limits of memory and threads are passed to the program, and not enforced
use std::{
    fs,
    io::{self, Read},
    os::unix::{fs::MetadataExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use warploom_contract::{Context, ErrorKind, Inputs, Kind, StageError};
use warploom_spec::ProgramInput;

use crate::StageName;

use super::{
    ExternalProgram,
    guard::{self, LOOK_EVERY},
};

/// The variable with the folder of the raw data.
const RAW_VARIABLE: &str = "WARPLOOM_RAW";
/// Bytes of the end of what a program printed that an error shows.
const TAIL_BYTES: usize = 4096;
/// Lines of that.
const TAIL_LINES: usize = 20;
/// How long what it printed is waited for after its end.
const TIME_TO_DRAIN: Duration = Duration::from_millis(500);

/// The end of what a program printed.
#[derive(Clone, Debug)]
pub struct Printed(String);

/// The kind of artifact that a program is given.
pub(crate) fn kind_of(input: ProgramInput) -> Kind {
    match input {
        ProgramInput::Csr => Kind::Csr,
        ProgramInput::Graph => Kind::Graph,
        ProgramInput::Profile => Kind::Profile,
        ProgramInput::Permutation => Kind::Permutation,
    }
}

impl Printed {
    fn detail(&self) -> String {
        format!("  the end of what it printed:\n{}", indented(&self.0))
    }
}

impl ExternalProgram {
    /// Runs it to its end, to write a file into a folder that is empty. The file is then there,
    /// alone and unread; `form` says what it has to be.
    pub fn write_file(
        &self,
        context: &Context,
        inputs: &Inputs,
        file: &Path,
        form: &str,
    ) -> Result<Printed, StageError> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let mut given = Vec::new();
        for &input in &self.inputs {
            let name = format!("WARPLOOM_{}", input.name().to_uppercase());
            given.push((name, absolute(&inputs.get(kind_of(input))?.path)?));
        }
        let printed = self.run(context, given, folder)?;
        self.refuse_other_files(file, folder, &printed).map_err(|error| error.hint(form))?;
        Ok(printed)
    }

    /// Runs it to its end, to write files of a graph into a folder that is empty; it is given the
    /// folder of the raw data, if there are any.
    pub fn write_graph(
        &self,
        context: &Context,
        raw: Option<&Path>,
        folder: &Path,
    ) -> Result<Printed, StageError> {
        let raw = raw.map(absolute).transpose()?;
        let given = raw.map(|raw| (RAW_VARIABLE.to_owned(), raw)).into_iter().collect();
        self.run(context, given, folder)
    }

    /// Runs it to its end, with the paths of what it is given as variables.
    fn run(
        &self,
        context: &Context,
        given: Vec<(String, PathBuf)>,
        folder: &Path,
    ) -> Result<Printed, StageError> {
        let mut command = guard::command(&self.command);
        command.current_dir(&self.folder).stdin(Stdio::null());
        // One that this process was started with is not the program's.
        command.env_remove(RAW_VARIABLE);
        command
            .envs(given)
            .env("WARPLOOM_OUTPUT", absolute(folder)?)
            .env("WARPLOOM_THREADS", context.threads.to_string())
            .env("WARPLOOM_MEMORY", context.memory.to_string());
        let before = look_at(folder)?;
        context.progress.begin(&format!("running {}", self.command.join(" ")), 0, "");
        let ended = run_to_end(command);
        context.progress.end();
        let (status, printed) = ended.map_err(|error| {
            let what = format!("`{}` could not be run: {error}", self.command.join(" "));
            StageError::new(ErrorKind::Transient, what).at(self.setting())
        })?;
        if !status.success() {
            return Err(self.failure(status, &printed));
        }
        let after = look_at(folder)?;
        if (before.dev(), before.ino()) != (after.dev(), after.ino()) {
            return Err(self.error("replaced the folder WARPLOOM_OUTPUT".into(), &printed));
        }
        fs::set_permissions(folder, before.permissions())
            .map_err(|error| StageError::io("set the mode of", folder, &error))?;
        self.refuse_changed()?;
        Ok(printed)
    }

    /// Refuses anything but the file in a folder.
    fn refuse_other_files(
        &self,
        file: &Path,
        folder: &Path,
        printed: &Printed,
    ) -> Result<(), StageError> {
        let list = || -> io::Result<Vec<String>> {
            fs::read_dir(folder)?
                .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
                .collect()
        };
        let mut names = list().map_err(|error| StageError::io("list", folder, &error))?;
        names.sort();
        let expected = file.file_name().unwrap_or_default().to_string_lossy();
        if names != [expected.as_ref()] {
            let found = if names.is_empty() { "no file".to_owned() } else { names.join(", ") };
            let what = format!("left {found} in WARPLOOM_OUTPUT, expected {expected} alone");
            return Err(self.error(what, printed));
        }
        if !look_at(file)?.is_file() {
            let what = format!("made {expected} a link or a device, expected a plain file");
            return Err(self.error(what, printed));
        }
        Ok(())
    }

    fn failure(&self, status: ExitStatus, printed: &Printed) -> StageError {
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("with exit code {code}"),
            (None, Some(signal)) => format!("by signal {signal}"),
            (None, None) => "in an unknown way".to_owned(),
        };
        let given = if self.stage == StageName::Ingest { RAW_VARIABLE } else { "WARPLOOM_CSR" };
        let variables = format!("{given} and WARPLOOM_OUTPUT");
        self.error(format!("ended {how}"), printed)
            .hint(format!("run it alone with the variables {variables} set to folders"))
    }

    /// An error of the program, with the end of what it printed.
    pub fn error(&self, what: String, printed: &Printed) -> StageError {
        let what = format!("the program `{}` {what}", self.command.join(" "));
        let error = StageError::new(ErrorKind::Data, what).at(self.setting());
        match printed.0.is_empty() {
            true => error,
            false => error.detail(printed.detail()),
        }
    }

    /// A reader's error about what the program wrote into a folder, as one of the program: with
    /// the file, the place in it, and the end of what was printed.
    pub fn error_of_reader(
        &self,
        error: StageError,
        folder: &Path,
        printed: &Printed,
    ) -> StageError {
        let error = error.replace_path(&folder.join(""), Path::new(""));
        let place = error.place.map(|place| format!("{place}: ")).unwrap_or_default();
        let what = format!("wrote a graph that is not valid: {place}{}", error.what);
        let made = self.error(what, printed);
        let detail: Vec<String> = error.detail.into_iter().chain(made.detail).collect();
        StageError {
            detail: (!detail.is_empty()).then(|| detail.join("\n")),
            hint: error.hint,
            ..made
        }
    }
}

fn look_at(folder: &Path) -> Result<fs::Metadata, StageError> {
    fs::symlink_metadata(folder).map_err(|error| StageError::io("look at", folder, &error))
}

fn absolute(path: &Path) -> Result<PathBuf, StageError> {
    std::path::absolute(path).map_err(|error| StageError::io("look at", path, &error))
}

/// Runs a command to its end; returns the end of what it printed.
fn run_to_end(mut command: Command) -> io::Result<(ExitStatus, Printed)> {
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
    Ok((status, Printed(lines[first..].join("\n"))))
}

fn read_some(printed: &mut io::PipeReader, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match printed.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}
