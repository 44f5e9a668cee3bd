//! process: starting a program the way a script does, and what came of it.
//!
//! promises  stdin is empty, stdout and stderr are pipes; whatever runs longer than the limit, or
//!           than its test, is killed with its whole process group
use std::{
    fmt, fs,
    io::Read,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitStatus, Stdio},
    sync::LazyLock,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

/// No program of a test takes longer.
const LIMIT: Duration = Duration::from_secs(120);
/// How often a running program is looked at.
const GLANCE: Duration = Duration::from_millis(1);

/// A program that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    shown: String,
    begun: Instant,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

/// What a program did.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
    /// How long it ran.
    pub took: Duration,
    shown: String,
}

/// Whether whoever started the tests ignores signals that a terminal sends, as `nohup` and a
/// shell's `&` do: programs inherit that.
fn are_signals_ignored() -> bool {
    static IGNORED: LazyLock<bool> = LazyLock::new(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let bit = |signal: Signal| 1u64 << (signal.as_raw() - 1);
        mask.unwrap_or(0) & (bit(Signal::HUP) | bit(Signal::INT) | bit(Signal::QUIT)) != 0
    });
    *IGNORED
}

/// Starts a command in a process group of its own, with the usual effect of signals.
pub fn start(command: Command) -> Running {
    let mut command = if are_signals_ignored() {
        started_by("env", &["--default-signal=HUP,INT,QUIT"], &command)
    } else {
        command
    };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let shown = format!("{command:?}");
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {shown}: {error}"));
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    Running { child, shown, begun: Instant::now(), stdout, stderr }
}

/// The same command, started by another program such as `nohup`, whose own arguments come first.
pub fn started_by(program: &str, arguments: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(program);
    outer.args(arguments).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        outer.current_dir(folder);
    }
    outer
}

fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks has nothing more to tell.
        let _broken = pipe.read_to_end(&mut bytes);
        bytes
    })
}

impl Running {
    fn pid(&self) -> Pid {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process has a number")
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: Signal) {
        // One that has ended already needs none.
        let _ended = kill_process(self.pid(), signal);
    }

    /// Its process number.
    pub fn number(&self) -> u32 {
        self.child.id()
    }

    /// Looks at it until `condition` holds; a program that ends before is a failure, with what it
    /// said.
    pub fn until(mut self, what: &str, mut condition: impl FnMut() -> bool) -> Self {
        while !condition() {
            if self.glance().is_some() {
                panic!("it ended before {what}:\n{}", self.wait());
            }
        }
        self
    }

    /// Looks at it until `condition` holds; none if it ended before: on a busy machine whoever
    /// looks may come late.
    pub fn caught(mut self, mut condition: impl FnMut() -> bool) -> Option<Self> {
        while !condition() {
            if self.glance().is_some() {
                return None;
            }
        }
        Some(self)
    }

    /// Waits for `span`, or for its end if that comes first.
    pub fn for_at_most(mut self, span: Duration) -> Self {
        let begun = Instant::now();
        while begun.elapsed() < span && self.glance().is_none() {}
        self
    }

    /// Its status if it has ended; else waits for a moment.
    fn glance(&mut self) -> Option<ExitStatus> {
        let status = self
            .child
            .try_wait()
            .unwrap_or_else(|error| panic!("cannot wait for {}: {error}", self.shown));
        if status.is_none() {
            if self.begun.elapsed() > LIMIT {
                let _gone = kill_process_group(self.pid(), Signal::KILL);
                panic!("killed after {LIMIT:?}: {}", self.shown);
            }
            std::thread::sleep(GLANCE);
        }
        status
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Output {
        let status = loop {
            if let Some(status) = self.glance() {
                break status;
            }
        };
        let took = self.begun.elapsed();
        let text = |pipe: Option<JoinHandle<Vec<u8>>>| {
            let bytes = pipe
                .map(|reader| reader.join().expect("a reader of a pipe does not panic"))
                .unwrap_or_default();
            String::from_utf8(bytes).expect("what a program says is UTF-8")
        };
        let (stdout, stderr) = (text(self.stdout.take()), text(self.stderr.take()));
        Output {
            code: status.code(),
            signal: status.signal(),
            stdout,
            stderr,
            took,
            shown: self.shown.clone(),
        }
    }
}

/// A test that fails leaves no program at work behind it.
impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _gone = kill_process_group(self.pid(), Signal::KILL);
            let _status = self.child.wait();
        }
    }
}

impl Output {
    /// Fails, with everything it said, unless it ended with this code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "expected exit code {code} of\n{self}");
        assert!(!self.stderr.contains("panicked at"), "it panicked:\n{self}");
        self
    }

    /// Fails unless stderr has all of these texts.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "expected `{text}` on stderr of\n{self}");
        }
        self
    }

    /// Fails unless stdout has all of these texts.
    #[track_caller]
    pub fn prints(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stdout.contains(text), "expected `{text}` on stdout of\n{self}");
        }
        self
    }

    /// The JSON objects on stdout, one a line; fails if there is anything else.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let read = |line: &str| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("not JSON ({error}): `{line}`, of\n{self}"))
        };
        self.stdout.lines().map(read).collect()
    }
}

impl Output {
    /// The JSON objects on stdout that are of a stage: not the summary of a run, nor what is told
    /// of several.
    #[track_caller]
    pub fn stages(&self) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line.get("stage").is_some()).collect()
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Output { shown, code, signal, took, stdout, stderr } = self;
        write!(
            f,
            "  {shown}\n  code {code:?}, signal {signal:?}, after {took:?}\n--- \
                stdout\n{stdout}\n--- stderr\n{stderr}\n---"
        )
    }
}
