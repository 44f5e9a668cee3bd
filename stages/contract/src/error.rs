//! Errors of stages, and the one place where a kind of error becomes an exit code.
//!
//! promises  every error says what, where (path, row or span) and, if anything helps, a hint that
//!           can be pasted
//! never     panics; carries a backtrace or a type of another crate
use std::{borrow::Cow, fmt, io, path::Path};

use crate::regular_file::Refusal;

/// What went wrong, as far as a caller must tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file that was asked for is missing or cannot be read.
    Input,
    /// Contents of a file are not what its format asks.
    Data,
    /// The pipeline file or a setting.
    Specification,
    /// An artifact in the store is damaged.
    Damaged,
    /// The device or the machine has too little memory.
    Memory,
    /// The disk is full.
    DiskFull,
    /// Wrong flags.
    Usage,
    /// A check found that an output is not what it should be.
    CheckFailed,
    /// A limit was reached: an iteration that did not converge.
    LimitReached,
    /// A fault of device, node or file system that may pass.
    Transient,
    /// SIGTERM or SIGUSR1, after saving what can be saved.
    Stopped,
    /// SIGINT.
    Interrupted,
    /// A defect of ours.
    Defect,
}

impl ErrorKind {
    /// The process exit code, as fixed in the interface.
    pub fn exit_code(self) -> u8 {
        use ErrorKind::*;
        match self {
            Input | Data | Specification | Damaged | Memory | DiskFull => 1,
            Usage => 2,
            CheckFailed | LimitReached => 3,
            Transient => 4,
            Stopped => 75,
            Interrupted => 130,
            Defect => 255,
        }
    }

    /// Whether nothing went wrong: a person or a scheduler ended it.
    pub fn is_stop(self) -> bool {
        matches!(self, ErrorKind::Stopped | ErrorKind::Interrupted)
    }

    /// Its name in JSON output.
    pub fn name(self) -> &'static str {
        use ErrorKind::*;
        match self {
            Input => "input",
            Data => "data",
            Specification => "specification",
            Damaged => "damaged",
            Memory => "memory",
            DiskFull => "disk_full",
            Usage => "usage",
            CheckFailed => "check_failed",
            LimitReached => "limit_reached",
            Transient => "transient",
            Stopped => "stopped",
            Interrupted => "interrupted",
            Defect => "defect",
        }
    }
}

/// An error as it reaches the person: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageError {
    /// Which kind, hence which exit code.
    pub kind: ErrorKind,
    /// One line: what is wrong, expected against found.
    pub what: String,
    /// Path, row, span: `data/raw/g/edges.txt:1204:7`.
    pub place: Option<String>,
    /// Further lines, such as the offending source line with a caret.
    pub detail: Option<String>,
    /// What to type or change.
    pub hint: Option<String>,
}

impl StageError {
    /// An error of a kind.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        StageError { kind, what: what.into(), place: None, detail: None, hint: None }
    }

    /// A defect of ours: an invariant that did not hold.
    pub fn defect(what: impl Into<String>) -> Self {
        StageError::new(ErrorKind::Defect, what)
            .hint("this is a defect of Warploom: please report it with the command that led here")
    }

    /// Where.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = Some(place.to_string());
        self
    }

    /// Further lines.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// What to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, about a place that is chosen by other means than `--store DIR`.
    pub fn replace_store_option(mut self, by: &str) -> Self {
        self.hint = self.hint.map(|hint| hint.replace("--store DIR", by));
        self
    }

    /// The same, speaking of a path by another name: a draft is nothing that a person knows.
    pub fn replace_path(mut self, path: &Path, shown: &Path) -> Self {
        let (path, shown) = (path.display().to_string(), shown.display().to_string());
        self.what = self.what.replace(&path, &shown);
        for text in [&mut self.place, &mut self.detail, &mut self.hint].into_iter().flatten() {
            *text = text.replace(&path, &shown);
        }
        self
    }

    /// An error of the operating system while doing `doing` to `path`.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        let shown = path.display();
        let base = |kind, what: String| StageError::new(kind, what).at(shown);
        if let Some(Refusal::CutShort(..)) = Refusal::from_io_error(error) {
            return base(ErrorKind::Transient, format!("cannot {doing}: {error}"))
                .hint(PASSING_HINT);
        }
        match error.kind() {
            io::ErrorKind::FileTooLarge => {
                base(ErrorKind::DiskFull, format!("cannot {doing}: {error}")).hint(FILE_SIZE_HINT)
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                base(ErrorKind::DiskFull, format!("cannot {doing}: {error}")).hint(
                    "free some space, for example with  warploom store gc --keep 10GiB , or choose \
                     another place with  --store DIR",
                )
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                base(ErrorKind::Input, format!("cannot {doing}: {error}")).hint(
                    "choose a place that can be written with  --store DIR , or change its \
                     permissions",
                )
            }
            // A place such as /proc, where nobody makes a folder.
            io::ErrorKind::NotFound if doing.starts_with("make a folder") => {
                base(ErrorKind::Input, format!("cannot {doing}: no such file or directory"))
                    .hint("choose a place that can be written with  --store DIR")
            }
            io::ErrorKind::NotFound => {
                base(ErrorKind::Input, format!("cannot {doing}: no such file or directory"))
            }
            io::ErrorKind::NotADirectory => {
                let file = path.ancestors().find(|step| step.is_file()).unwrap_or(path).display();
                base(ErrorKind::Input, format!("cannot {doing}: expected a folder, found a file"))
                    .hint(format!("`{file}` is a file: name a folder with  --store DIR"))
            }
            io::ErrorKind::OutOfMemory => {
                base(ErrorKind::Memory, format!("cannot {doing}: {error}")).hint(
                    "free some memory, or raise the limit on it, as  ulimit -v  or the scheduler \
                     shows it",
                )
            }
            _ if error.raw_os_error() == Some(5) || error.raw_os_error() == Some(116) => {
                base(ErrorKind::Transient, format!("cannot {doing}: {error}")).hint(PASSING_HINT)
            }
            // EMFILE, ENFILE.
            _ if error.raw_os_error() == Some(24) || error.raw_os_error() == Some(23) => {
                base(ErrorKind::Input, format!("cannot {doing}: {error}")).hint(
                    "more files have to be open at once: raise the limit, as  ulimit -n  shows it, \
                     for example with  ulimit -n 1024",
                )
            }
            _ => base(ErrorKind::Input, format!("cannot {doing}: {error}")),
        }
    }

    /// An artifact whose bytes are not what its manifest says.
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        StageError::new(ErrorKind::Damaged, what).at(path.display())
    }
}

/// A path as a shell takes it: in quotes, whatever it holds.
pub fn shell_quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// Text as a terminal may get it: control characters but line ends and tabs, which names of files
/// and contents of input may hold and which could move the cursor or change what was said before,
/// become `\u001b` and the like, as JSON writes them.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_control(c) {
            true => plain += &format!("\\u{:04x}", u32::from(c)),
            false => plain.push(c),
        }
    }
    Cow::Owned(plain)
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", escape_controls(&self.what))?;
        if let Some(place) = &self.place {
            write!(f, "\n  --> {}", escape_controls(place))?;
        }
        if let Some(detail) = &self.detail {
            write!(f, "\n{}", escape_controls(detail))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {}", escape_controls(hint))?;
        }
        Ok(())
    }
}

impl std::error::Error for StageError {}

/// What helps where the file system answers with a fault.
const PASSING_HINT: &str = "the file system answered with a fault that may pass; start again";
/// What helps where a file may not grow, however much space there is.
pub const FILE_SIZE_HINT: &str = "files may not be larger here: raise the limit on their size, as  \
    ulimit -f  shows it, or choose a place whose file system takes larger ones with  --store DIR";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_interface() {
        use ErrorKind::*;
        let all = [
            Input,
            Data,
            Specification,
            Damaged,
            Memory,
            DiskFull,
            Usage,
            CheckFailed,
            LimitReached,
            Transient,
            Stopped,
            Interrupted,
            Defect,
        ];
        let codes: Vec<u8> = all.iter().map(|kind| kind.exit_code()).collect();
        assert_eq!(codes, [1, 1, 1, 1, 1, 1, 2, 3, 3, 4, 75, 130, 255]);
    }

    #[test]
    fn control_characters_reach_no_terminal() {
        assert_eq!(
            escape_controls("a\u{1b}[31m\u{9b}2J\r\n\tb\u{7f}ü"),
            "a\\u001b[31m\\u009b2J\\u000d\n\tb\\u007fü"
        );
        let error = StageError::new(ErrorKind::Data, "w\u{1b}c")
            .at("/d/\u{1b}[2J")
            .detail("x\u{7}")
            .hint("rm '\u{1b}'");
        assert!(!error.to_string().contains(|c: char| c.is_control() && c != '\n'), "{error:?}");
    }

    #[test]
    fn a_full_disk_is_named_with_the_way_out() {
        let error = StageError::io("write", Path::new("/s/x"), &io::Error::from_raw_os_error(28));
        assert_eq!(error.kind, ErrorKind::DiskFull);
        assert!(error.to_string().contains("--> /s/x"));
        assert!(error.to_string().contains("hint: free some space"));
        // However much space there is.
        let limited = StageError::io("write", Path::new("/s/x"), &io::Error::from_raw_os_error(27));
        assert_eq!(limited.kind, ErrorKind::DiskFull);
        assert!(
            limited.to_string().contains("raise the limit on their size, as  ulimit -f  shows it"),
            "{limited}"
        );
    }
}
