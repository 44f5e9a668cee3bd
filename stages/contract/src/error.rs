//! error: errors of stages, and the mapping of error kinds to exit codes.
//!
//! promises  every error says what, where (path, row or span) and, where there is a remedy, a hint
//!           that can be pasted
//! never     panics; carries a backtrace or a type of another crate
use std::{borrow::Cow, fmt, io, path::Path};

use crate::regular_file::Refusal;

/// The kinds of errors that callers distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A requested file is missing or unreadable.
    Input,
    /// The contents of a file violate its format.
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
    /// A check found a wrong output.
    CheckFailed,
    /// A limit was reached: an iteration that did not converge.
    LimitReached,
    /// A transient fault of device, node or file system.
    Transient,
    /// A batch job whose input is missing, since an earlier job failed.
    EarlierJob,
    /// SIGTERM or SIGUSR1, after saving what can be saved.
    Stopped,
    /// SIGINT.
    Interrupted,
    /// A bug of Warploom.
    Defect,
}

impl ErrorKind {
    /// All of them.
    pub const ALL: [ErrorKind; 14] = {
        use ErrorKind::*;
        [
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
            EarlierJob,
            Stopped,
            Interrupted,
            Defect,
        ]
    };

    /// The kind of this name in JSON output.
    pub fn from_name(name: &str) -> Option<ErrorKind> {
        ErrorKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The exit code of the process.
    pub fn exit_code(self) -> u8 {
        use ErrorKind::*;
        match self {
            Input | Data | Specification | Damaged | Memory | DiskFull => 1,
            Usage => 2,
            CheckFailed | LimitReached => 3,
            Transient => 4,
            EarlierJob => 5,
            Stopped => 75,
            Interrupted => 130,
            Defect => 255,
        }
    }

    /// Whether a user or a scheduler stopped the process.
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
            EarlierJob => "earlier_job",
            Stopped => "stopped",
            Interrupted => "interrupted",
            Defect => "defect",
        }
    }
}

/// An error for users: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageError {
    /// The kind, which gives the exit code.
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

    /// A bug of Warploom: a violated invariant.
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

    /// Replaces `--store DIR` in the hint by another option that chooses the place.
    pub fn replace_store_option(mut self, by: &str) -> Self {
        self.hint = self.hint.map(|hint| hint.replace("--store DIR", by));
        self
    }

    /// Replaces a path, such as that of a draft, which users do not know, by another one.
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
            return StageError::passing(doing, path, error);
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
            // A place such as /proc, where no folder can be created.
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
                StageError::passing(doing, path, error)
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

    /// An error of the operating system that is gone when the same is done again later.
    pub fn passing(doing: &str, path: &Path, error: &io::Error) -> Self {
        let error = StageError::new(ErrorKind::Transient, format!("cannot {doing}: {error}"));
        error.at(path.display()).hint(PASSING_HINT)
    }

    /// An artifact whose bytes are not what its manifest says.
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        StageError::new(ErrorKind::Damaged, what).at(path.display())
    }
}

/// A path quoted for a shell.
pub fn shell_quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// Text that is safe for a terminal: control characters other than line ends and tabs, which may
/// come from file names and input and could move the cursor or change earlier text, become `\u001b`
/// and the like, as in JSON.
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

/// The hint for a transient fault of the file system.
const PASSING_HINT: &str = "the file system answered with a fault that may pass; start again";
/// The hint for a limit on file sizes.
pub const FILE_SIZE_HINT: &str = "files may not be larger here: raise the limit on their size, as  \
    ulimit -f  shows it, or choose a place whose file system takes larger ones with  --store DIR";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_interface() {
        let codes = ErrorKind::ALL.map(ErrorKind::exit_code);
        assert_eq!(codes, [1, 1, 1, 1, 1, 1, 2, 3, 3, 4, 5, 75, 130, 255]);
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
