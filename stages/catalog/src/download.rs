//! download: one file from one address, streamed, resumed and retried.
//!
//! promises  a file under its final name is complete and is the expected one: it is written as
//!           `.part`, checked and renamed
//! promises  a part is resumed only if the server says that it is still the same file (`ETag` or
//!           `Last-Modified`, and its size); else the download restarts
//! promises  each try is limited: 5 s to connect, 20 s without a byte, and a limit for all tries;
//!           between tries it waits 1, 2, 4, ... s
//! never     follows a redirect from https to http; overwrites an existing file; retries a
//!           permanent error (404, a full disk)
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::download_error::DownloadError;

/// Bytes of the copy buffer.
const BUFFER_BYTES: usize = 1 << 16;
/// Tries without an answer of a server after which the download fails.
const UNREACHABLE_TRIES_MOST: u32 = 2;
/// Environment variables that name a proxy, in order of precedence.
const PROXY_VARIABLES: &[&str] =
    &["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];
/// HTTP statuses that are retried: time-out, too many requests, and server errors.
const RETRY_STATUSES: &[u16] = &[408, 429, 500, 502, 503, 504];

/// Progress of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file.
    pub file: &'a str,
    /// Bytes so far.
    pub bytes: u64,
    /// Bytes in all, if the server says so.
    pub total: Option<u64>,
}

/// Time limits of a download.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// To connect, with two DNS look-ups.
    pub connect: Duration,
    /// Longest time without a byte.
    pub silence: Duration,
    /// For one file, all tries together.
    pub whole: Duration,
    /// Tries.
    pub tries: u32,
    /// Wait before the second try; it doubles before each further one.
    pub pause: Duration,
    /// Whether the proxy variables of the environment count.
    pub proxy: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(5),
            silence: Duration::from_secs(20),
            whole: Duration::from_secs(900),
            tries: 1,
            pause: Duration::from_secs(1),
            proxy: true,
        }
    }
}

/// The source of a part: address, validator and size, stored beside it as `.part.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct PartSource {
    url: String,
    etag: Option<String>,
    modified: Option<String>,
    total: Option<u64>,
}

impl PartSource {
    /// The validator that proves that the server still has the same file; a weak tag does not.
    fn validator(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/")).or(self.modified.as_deref())
    }
}

/// Why a try failed, and whether it is retried.
struct Failure {
    trouble: DownloadError,
    again: bool,
    /// Whether a server answered at all: without a network not all tries are made.
    reached: bool,
}

impl Failure {
    fn permanent(what: impl Into<String>) -> Self {
        Failure { trouble: DownloadError::new(what), again: false, reached: true }
    }

    fn transient(what: impl Into<String>) -> Self {
        Failure { trouble: DownloadError::new(what), again: true, reached: true }
    }

    fn disk(error: &io::Error) -> Self {
        Failure { trouble: DownloadError::disk("cannot write", error), again: false, reached: true }
    }
}

/// A partial file on disk; a second process that downloads the same file has its own.
struct Part {
    path: PathBuf,
    beside: PathBuf,
    file: File,
    shared: bool,
}

impl Part {
    fn open(path: &Path) -> io::Result<Part> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let named = |end: String| {
            path.with_file_name(format!(
                "{}{end}",
                path.file_name().unwrap_or_default().to_string_lossy()
            ))
        };
        let shared = named(".part".into());
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&shared)?;
        // Another process may have finished and renamed it between the two lines above: then this
        // is no longer a part.
        let still_named = || {
            fs::metadata(&shared)
                .is_ok_and(|named| file.metadata().is_ok_and(|own| own.ino() == named.ino()))
        };
        if file.try_lock().is_ok() && still_named() {
            return Ok(Part {
                path: shared,
                beside: named(".part.json".into()),
                file,
                shared: true,
            });
        }
        let own = named(format!(".{}.part", std::process::id()));
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&own)?;
        Ok(Part {
            path: own,
            beside: named(format!(".{}.part.json", std::process::id())),
            file,
            shared: false,
        })
    }

    /// Bytes already downloaded of the file that `.part.json` describes, and that description.
    fn resumable_bytes(&self, url: &str) -> (u64, PartSource) {
        let of: PartSource = fs::read(&self.beside)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        let bytes = self.file.metadata().map_or(0, |facts| facts.len());
        if of.url == url && of.validator().is_some() && bytes > 0 {
            (bytes, of)
        } else {
            (0, PartSource::default())
        }
    }

    /// Truncates the part and records its source `of`.
    fn restart(&mut self, of: &PartSource) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        fs::write(&self.beside, serde_json::to_vec(of)?)
    }

    /// Removes the part unless it can be resumed.
    fn remove_unless_resumable(self, url: &str) {
        if !self.shared || self.resumable_bytes(url).0 == 0 {
            // A part that cannot be removed does no harm: it is truncated before it is used again.
            let _ = fs::remove_file(&self.path);
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// Decides whether a complete file, not yet renamed, is the expected one.
pub(crate) type Judge<'a> = &'a dyn Fn(&Path) -> Result<(), DownloadError>;

/// Downloads a file to `path`; one that `judge` refuses is removed.
pub(crate) fn download(
    name: &str,
    url: &str,
    path: &Path,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
    judge: Judge,
) -> Result<(), DownloadError> {
    let began = Instant::now();
    let unwritten = |error: io::Error| {
        DownloadError::disk(format!("cannot write `{}`", path.display()), &error)
    };
    let mut part = Part::open(path).map_err(unwritten)?;
    let mut pause = limits.pause;
    let (mut tried, mut unreached) = (0, 0);
    loop {
        tried += 1;
        let left = limits.whole.saturating_sub(began.elapsed());
        match run_attempt(&mut part, name, url, &Limits { whole: left, ..*limits }, progress) {
            Ok(()) => break,
            Err(failure) => {
                unreached = if failure.reached { 0 } else { unreached + 1 };
                if failure.again
                    && tried < limits.tries
                    && unreached < UNREACHABLE_TRIES_MOST
                    && began.elapsed() + pause < limits.whole
                {
                    thread::sleep(pause);
                    pause *= 2;
                    continue;
                }
                part.remove_unless_resumable(url);
                let DownloadError { what, disk, hint } = failure.trouble;
                return Err(DownloadError {
                    what: if tried > 1 { format!("{what} (tried {tried} times)") } else { what },
                    disk,
                    hint,
                });
            }
        }
    }
    if let Err(refused) = judge(&part.path) {
        let _ = fs::remove_file(&part.path);
        let _ = fs::remove_file(&part.beside);
        return Err(refused);
    }
    let kept = part.file.sync_all().and_then(|()| fs::rename(&part.path, path));
    let _ = fs::remove_file(&part.beside);
    kept.map_err(unwritten)
}

/// One try: requests the missing bytes and appends them.
fn run_attempt(
    part: &mut Part,
    name: &str,
    url: &str,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Failure> {
    let began = Instant::now();
    let disk = |error: io::Error| Failure::disk(&error);
    let (mut have, known) = part.resumable_bytes(url);
    let mut request = agent(limits, url).get(url).header("accept-encoding", "identity");
    if let (true, Some(validator)) = (have > 0, known.validator()) {
        request = request.header("range", format!("bytes={have}-")).header("if-range", validator);
    }
    let mut response = request.call().map_err(|error| connection_failure(&error, url, limits))?;
    let header = |name: &str| {
        response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let range = header("content-range").as_deref().and_then(parse_content_range);
    let mut of = PartSource {
        url: url.to_owned(),
        etag: header("etag"),
        modified: header("last-modified"),
        total: response.body().content_length(),
    };
    match response.status().as_u16() {
        206 if have > 0 => {
            let same = range == Some((Some(have), known.total))
                && (of.etag.is_none() || of.etag == known.etag);
            if !same {
                part.restart(&PartSource::default()).map_err(disk)?;
                return Err(Failure::transient("the server resumed another file"));
            }
            of = known;
            part.file.seek(SeekFrom::End(0)).map_err(disk)?;
        }
        200 => {
            let kind = header("content-type").unwrap_or_default();
            if kind.starts_with("text/html") {
                return Err(Failure::permanent(
                    "the server answered with a web page, not with the file",
                ));
            }
            have = 0;
            part.restart(&of).map_err(disk)?;
        }
        416 if have > 0 => {
            // The part is complete, or longer than the file.
            if range == Some((None, Some(have))) {
                return Ok(());
            }
            part.restart(&PartSource::default()).map_err(disk)?;
            return Err(Failure::transient(
                "the server's file differs from the part that was kept",
            ));
        }
        code => {
            return Err(Failure {
                again: RETRY_STATUSES.contains(&code),
                ..Failure::permanent(format!("the server answered {code}"))
            });
        }
    }
    let total = of.total;
    let mut body = response.body_mut().as_reader();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let got = match body.read(&mut buffer) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Failure::transient(format!(
                    "the connection broke after {have} bytes: {error}"
                )));
            }
        };
        if have == 0 && is_gzip_name(url) && !buffer[..got].starts_with(&[0x1f, 0x8b]) {
            part.restart(&PartSource::default()).map_err(disk)?;
            return Err(Failure::permanent(format!(
                "the server's answer is not a gzip file: it begins with `{}`",
                first_line(&buffer[..got])
            )));
        }
        if got == 0 {
            break;
        }
        part.file.write_all(&buffer[..got]).map_err(disk)?;
        have += got as u64;
        progress(Progress { file: name, bytes: have, total });
        if began.elapsed() > limits.whole {
            return Err(Failure::permanent(format!(
                "it took longer than {} s",
                limits.whole.as_secs()
            )));
        }
    }
    match total {
        Some(total) if total != have => Err(Failure::transient(format!(
            "the connection broke: expected {total} bytes, found {have}"
        ))),
        _ => Ok(()),
    }
}

/// The first characters of an answer, up to the end of its first line.
fn first_line(bytes: &[u8]) -> String {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes);
    let shown = line[..line.len().min(40)]
        .iter()
        .map(|byte| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '.' });
    shown.collect()
}

fn is_gzip_name(url: &str) -> bool {
    [".gz", ".tgz"].iter().any(|end| url.ends_with(end))
}

/// Whether an address is of https.
fn is_https(url: &str) -> bool {
    url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
}

fn agent(limits: &Limits, url: &str) -> ureq::Agent {
    let mut config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        // Redirects are requests too.
        .https_only(is_https(url))
        .timeout_global(Some(limits.whole))
        .timeout_resolve(Some(limits.connect))
        .timeout_connect(Some(limits.connect))
        .timeout_recv_response(Some(limits.silence))
        .timeout_per_read(Some(limits.silence));
    if !limits.proxy {
        config = config.proxy(None);
    }
    ureq::Agent::new_with_config(config.build())
}

/// First byte and total size in `bytes 5-9/10`; `bytes */10` has no first byte, `/*` no size.
fn parse_content_range(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let first = match range {
        "*" => None,
        range => Some(range.split_once('-')?.0.trim().parse().ok()?),
    };
    let total = match total {
        "*" => None,
        total => Some(total.trim().parse().ok()?),
    };
    Some((first, total))
}

/// The environment variable that names the proxy for an address, and host and port of that proxy.
fn proxy_of(url: &str, limits: &Limits) -> Option<(&'static str, String)> {
    if !limits.proxy {
        return None;
    }
    let proxy = ureq::Proxy::try_from_env()
        .filter(|proxy| !url.parse().is_ok_and(|url| proxy.is_no_proxy(&url)))?;
    // The first that is a proxy at all is the one that is used.
    let is_one =
        |name: &&&str| std::env::var(name).is_ok_and(|address| ureq::Proxy::new(&address).is_ok());
    let name = PROXY_VARIABLES.iter().find(is_one)?;
    Some((*name, format!("{}:{}", proxy.host(), proxy.port())))
}

/// Why no answer came, as a failure with one line.
fn connection_failure(error: &ureq::Error, url: &str, limits: &Limits) -> Failure {
    if let ureq::Error::RequireHttpsOnly(other) = error {
        let what = format!(
            "`{url}` redirects to `{other}`, which is not encrypted: anybody on the way may put \
             another file there"
        );
        let hint = format!(
            "is there a login page in between? to take the file from there all the same, write the \
             address into the set's entry:  url: \"{other}\""
        );
        return Failure {
            trouble: DownloadError { hint: Some(hint.into()), ..DownloadError::new(what) },
            again: false,
            reached: true,
        };
    }
    let (what, again) = match error {
        ureq::Error::Timeout(stage) => (format!("no answer in time ({stage})"), true),
        other => {
            let passing = matches!(
                other,
                ureq::Error::Io(_)
                    | ureq::Error::ConnectionFailed
                    | ureq::Error::HostNotFound
                    | ureq::Error::Protocol(_)
            );
            (other.to_string().replace('\n', " "), passing)
        }
    };
    let through = proxy_of(url, limits).map_or_else(String::new, |(name, address)| {
        format!(", asked through the proxy {address} that `{name}` names")
    });
    Failure { trouble: DownloadError::new(what + &through), again, reached: false }
}

#[cfg(test)]
pub(crate) mod tests;
