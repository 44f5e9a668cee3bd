//! writer: the process that writes a draft or holds a lease, as names in the store state it, and
//! whether it lives; the thread that touches what this process holds.
//!
//! promises  a process number that is reused, or belongs to another process in another PID name
//!           space (a container), is never taken for the writer: boot, name space and start time
//!           of the process decide
//! limits    whether a process of another host or PID name space lives is unknown; names without
//!           boot, name space and start time (of older versions, or where there is no /proc) are
//!           judged by host and process number alone, leases by their age
use std::{
    fmt, fs,
    os::unix::fs::MetadataExt,
    sync::{
        Mutex, MutexGuard, Once, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::Digest;

/// Hexadecimal digits of the hash of a boot id: enough to tell the boots of one host apart.
const BOOT_DIGITS: usize = 8;
/// The start time that stands for a zombie: it has ended, and its parent has not waited for it.
const ENDED: u64 = u64::MAX;

/// The time between two touches of what this process holds.
const TOUCH_EVERY: Duration = Duration::from_secs(600);

/// Functions that touch what this process holds: one for drafts, one for leases.
static TOUCHES: Mutex<Vec<fn()>> = Mutex::new(Vec::new());
static TOUCHER: Once = Once::new();
/// Numbers of names.
static NAME_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Whether a writer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It does.
    Lives,
    /// It has ended.
    Ended,
    /// It is unknown here.
    Unknown,
}

/// Where and when a process began.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    /// Digits of the hash of the boot id.
    boot: String,
    /// Inode of the PID name space.
    space: u64,
    /// Start time of the process in clock ticks since the boot.
    start: u64,
}

/// A process as a name states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    process: i32,
    host: String,
    origin: Option<Origin>,
}

impl Writer {
    /// This process.
    pub(super) fn own() -> &'static Writer {
        static OWN: OnceLock<Writer> = OnceLock::new();
        OWN.get_or_init(|| Writer {
            process: std::process::id() as i32,
            host: host(),
            origin: own_origin(),
        })
    }

    /// Its process number.
    pub(super) fn process(&self) -> i32 {
        self.process
    }

    /// Whether its name says where and when it began.
    pub(super) fn has_origin(&self) -> bool {
        self.origin.is_some()
    }

    /// The place in names: `<host>-<boot>-<name space>-<start>`, or `<host>` in those of older
    /// versions.
    pub(super) fn place(&self) -> String {
        match &self.origin {
            Some(Origin { boot, space, start }) => format!("{}-{boot}-{space}-{start}", self.host),
            None => self.host.clone(),
        }
    }

    /// Reads a process number and a place. A host has no `-` in it.
    pub(super) fn read(process: &str, place: &str) -> Option<Writer> {
        let process = process.parse().ok()?;
        let parts: Vec<&str> = place.split('-').collect();
        let (host, origin) = match parts[..] {
            [host] => (host, None),
            [host, boot, space, start] => (
                host,
                Some(Origin {
                    boot: boot.to_owned(),
                    space: space.parse().ok()?,
                    start: start.parse().ok()?,
                }),
            ),
            _ => return None,
        };
        Some(Writer { process, host: host.to_owned(), origin })
    }

    /// Whether it lives.
    pub(super) fn life(&self) -> Life {
        let own = Writer::own();
        if self.host != own.host {
            return Life::Unknown;
        }
        match (&self.origin, &own.origin) {
            (Some(its), Some(ours)) if its.boot == ours.boot && its.space == ours.space => {
                match start_of(self.process) {
                    Some(start) if start == its.start => Life::Lives,
                    Some(_) => Life::Ended,
                    // /proc hides the process: it exists, but its start time is unknown.
                    None if is_there(self.process) => Life::Unknown,
                    None => Life::Ended,
                }
            }
            (Some(_), _) => Life::Unknown,
            (None, _) if is_there(self.process) => Life::Unknown,
            (None, _) => Life::Ended,
        }
    }
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.process, self.host)
    }
}

/// A unique name: `<start><what>-<process>-<number>@<place>`.
pub(crate) fn unique_name(start: &str, what: &str) -> String {
    let own = Writer::own();
    format!(
        "{start}{what}-{}-{}@{}",
        own.process(),
        NAME_NUMBER.fetch_add(1, Ordering::Relaxed),
        own.place()
    )
}

/// Calls `touch` every ten minutes from now on, as long as this process lives.
pub(super) fn keep_touched(touch: fn()) {
    touches().push(touch);
    // If no thread can be started, nothing is touched: where it is unknown whether this process
    // lives, its leases are valid for an hour only.
    TOUCHER.call_once(|| {
        drop(std::thread::Builder::new().name("leases".into()).spawn(touch_repeatedly))
    });
}

fn touch_repeatedly() {
    loop {
        std::thread::sleep(TOUCH_EVERY);
        let touches = touches().clone();
        touches.into_iter().for_each(|touch| touch());
    }
}

fn touches() -> MutexGuard<'static, Vec<fn()>> {
    TOUCHES.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// This host's name, with only characters that file names can have, and without `-`.
pub fn host() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect();
    if plain.is_empty() { "host".to_owned() } else { plain }
}

/// Boot, name space and start time of this process; none where there is no /proc.
fn own_origin() -> Option<Origin> {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let boot = Digest::from_bytes(boot.trim_ascii()).as_str()[..BOOT_DIGITS].to_owned();
    Some(Origin {
        boot,
        space: fs::metadata("/proc/self/ns/pid").ok()?.ino(),
        start: start_of(std::process::id() as i32)?,
    })
}

/// When a process began, in clock ticks since the boot; `ENDED` for a zombie; none if there is no
/// such process.
pub fn start_of(process: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in parentheses and may hold any character. The state follows; the
    // start time is the 20th field from there.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X");
    let start = fields.nth(18)?.parse().ok()?;
    Some(if ended { ENDED } else { start })
}

/// Whether a process with this number is in this name space.
pub(crate) fn is_there(process: i32) -> bool {
    let Some(process) = rustix::process::Pid::from_raw(process) else { return false };
    !matches!(rustix::process::test_kill_process(process), Err(error) if error == rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_read_back_from_its_name() {
        let own = Writer::own();
        assert!(own.origin.is_some(), "this test needs /proc");
        assert_eq!(Writer::read(&own.process.to_string(), &own.place()).as_ref(), Some(own));
        assert_eq!(
            Writer::read("12", "vm").unwrap(),
            Writer { process: 12, host: "vm".into(), origin: None }
        );
        assert_eq!(
            [Writer::read("x", "vm"), Writer::read("12", "vm-1"), Writer::read("12", "vm-a-b-c")],
            [None, None, None]
        );
    }

    #[test]
    fn boot_name_space_and_start_decide_who_lives() {
        let own = Writer::own();
        let other = |change: fn(&mut Origin)| {
            let mut writer = own.clone();
            writer.origin.iter_mut().for_each(change);
            writer.life()
        };
        assert_eq!(own.life(), Life::Lives);
        assert_eq!(
            other(|origin| origin.start += 1),
            Life::Ended,
            "a process number that was given again"
        );
        assert_eq!(other(|origin| origin.space += 1), Life::Unknown, "another PID name space");
        assert_eq!(
            other(|origin| origin.boot = "00000000".into()),
            Life::Unknown,
            "another boot, or another machine of this name"
        );
        assert_eq!(Writer { host: "elsewhere".into(), ..own.clone() }.life(), Life::Unknown);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = Writer { process: child.id() as i32, ..own.clone() };
        while start_of(dead.process) != Some(ENDED) {}
        assert_eq!(dead.life(), Life::Ended, "not yet waited for");
        child.wait().unwrap();
        assert_eq!(
            [dead.life(), Writer { origin: None, ..dead.clone() }.life()],
            [Life::Ended, Life::Ended]
        );
        assert_eq!(
            Writer { origin: None, ..own.clone() }.life(),
            Life::Unknown,
            "an older version did not say when it began"
        );
    }
}
