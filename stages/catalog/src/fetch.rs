//! Downloads the files of a data set.
//!
//! promises  a file under its final name is complete: it is written beside as `.part` and renamed; a failure leaves no part behind
//! promises  every try ends: 5 s to connect, 20 s without a byte, and a limit on the whole
//! never     overwrites a file that is there; asks a question; runs unless `fetch` or `locate` with `Attempt::Once` is called
use crate::{
    CatalogError, Entry,
    entry::RawFile,
    locate::{ABSENT, found_file},
};
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The bytes that are moved at once.
const BUFFER_BYTES: usize = 1 << 16;

/// How far a download has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file.
    pub file: &'a str,
    /// Bytes so far.
    pub bytes: u64,
    /// Bytes in all, if the server says so.
    pub total: Option<u64>,
}

/// Downloads every file of a set that `<data_dir>/<name>/` lacks, forgets an earlier failure first, and returns all paths.
pub fn fetch(entry: &Entry, data_dir: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Vec<PathBuf>, CatalogError> {
    let folder = data_dir.join(&entry.name);
    match fs::remove_file(folder.join(ABSENT)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(CatalogError::new(format!("cannot forget the earlier failure: {error}")).at(folder.join(ABSENT).display()));
        }
        _ => {}
    }
    let limits = Limits { whole: Duration::from_secs(6 * 3600), ..Limits::default() };
    let one = |file: &RawFile| match found_file(&folder, file) {
        Some(path) => Ok(path),
        None => download(file, &folder, &limits, progress).map_err(|what| by_hand(entry, file, &folder, &what)),
    };
    entry.files.iter().map(one).collect()
}

/// The error of a download, with the way to do it by hand.
fn by_hand(entry: &Entry, file: &RawFile, folder: &Path, what: &str) -> CatalogError {
    let error = CatalogError::new(format!("cannot download `{}` of `{}`: {what}", file.file, entry.name));
    match &file.url {
        Some(url) => error.at(url).hint(format!(
            "put it there by hand:  mkdir -p {0} && curl -L -o {1} {url}",
            folder.display(),
            folder.join(kept_as(file, url)).display()
        )),
        None => error.hint(format!("put it there by hand as  {}", folder.join(&file.file).display())),
    }
}

/// How long a try may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// To connect, name look-up included twice.
    pub connect: Duration,
    /// Without a byte.
    pub silence: Duration,
    /// For one file.
    pub whole: Duration,
    /// Whether the proxy variables of the environment count.
    pub proxy: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { connect: Duration::from_secs(5), silence: Duration::from_secs(20), whole: Duration::from_secs(900), proxy: true }
    }
}

/// The name under which a download is kept: plain, or with the URL's `.gz` or `.zst`.
fn kept_as(file: &RawFile, url: &str) -> String {
    let packed = [".gz", ".zst"].into_iter().find(|end| url.ends_with(end) && !file.file.ends_with(end));
    format!("{}{}", file.file, packed.unwrap_or_default())
}

/// Downloads one file into `folder`; the error is one line without a place.
pub(crate) fn download(file: &RawFile, folder: &Path, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, String> {
    let url = file.url.as_ref().ok_or("the catalogue knows no address for it")?;
    let path = folder.join(kept_as(file, url));
    let part = folder.join(format!("{}.{}.part", file.file, std::process::id()));
    let mut out = fs::create_dir_all(folder).and_then(|()| File::create(&part)).map_err(|error| format!("cannot write `{}`: {error}", part.display()))?;
    let done = stream(&mut out, url, file, limits, progress).and_then(|()| {
        let kept = out.sync_all().and_then(|()| fs::rename(&part, &path));
        kept.map_err(|error| format!("cannot write `{}`: {error}", path.display()))
    });
    if done.is_err() {
        // A part that cannot be removed either does no harm: its name is never looked for.
        let _ = fs::remove_file(&part);
    }
    done.map(|()| path)
}

/// Moves the bytes of a URL into a file.
fn stream(out: &mut File, url: &str, file: &RawFile, limits: &Limits, progress: &mut dyn FnMut(Progress)) -> Result<(), String> {
    let began = Instant::now();
    let mut config = ureq::Agent::config_builder()
        .timeout_global(Some(limits.whole))
        .timeout_resolve(Some(limits.connect))
        .timeout_connect(Some(limits.connect))
        .timeout_recv_response(Some(limits.silence))
        .timeout_per_read(Some(limits.silence));
    if !limits.proxy {
        config = config.proxy(None);
    }
    let mut response = ureq::Agent::new_with_config(config.build()).get(url).call().map_err(|error| plain(&error))?;
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/html") {
        return Err("the server answered with a web page, not with the file".into());
    }
    let total = response.body().content_length();
    let mut body = response.body_mut().as_reader();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut bytes = 0;
    loop {
        let got = match body.read(&mut buffer) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("the connection broke after {bytes} bytes: {error}")),
        };
        if bytes == 0 && url.ends_with(".gz") && !buffer[..got].starts_with(&[0x1f, 0x8b]) {
            return Err("the server's answer is not a gzip file".into());
        }
        if got == 0 {
            break;
        }
        out.write_all(&buffer[..got]).map_err(|error| format!("cannot write: {error}"))?;
        bytes += got as u64;
        progress(Progress { file: &file.file, bytes, total });
        if began.elapsed() > limits.whole {
            return Err(format!("it took longer than {} s", limits.whole.as_secs()));
        }
    }
    match total {
        Some(total) if total != bytes => Err(format!("the connection broke: expected {total} bytes, found {bytes}")),
        _ => Ok(()),
    }
}

/// An error of the HTTP client in one line.
fn plain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::StatusCode(code) => format!("the server answered {code}"),
        ureq::Error::Timeout(stage) => format!("no answer in time ({stage})"),
        other => other.to_string().replace('\n', " "),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::{
        io::{BufRead, BufReader},
        net::{SocketAddr, TcpListener},
        thread,
    };

    /// Answers one request on 127.0.0.1 with these bytes and hangs up.
    pub(crate) fn serve_once(answer: Vec<u8>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|got| got > 2) {
                line.clear();
            }
            let _ = stream.write_all(&answer);
        });
        address
    }

    /// An answer with a length that may be larger than what follows.
    pub(crate) fn answer(status: &str, length: usize, body: &[u8]) -> Vec<u8> {
        let mut answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n").into_bytes();
        answer.extend(body);
        answer
    }

    fn quick() -> Limits {
        Limits { connect: Duration::from_secs(1), silence: Duration::from_millis(300), whole: Duration::from_secs(5), proxy: false }
    }

    fn try_one(address: SocketAddr, ending: &str) -> (Result<PathBuf, String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let file = RawFile { file: "edges.txt".into(), url: Some(format!("http://{address}/edges.txt{ending}")), ..RawFile::default() };
        let result = download(&file, &folder.path().join("set"), &quick(), &mut |_| {});
        let left = fs::read_dir(folder.path().join("set")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        (result.map(|path| path.strip_prefix(folder.path()).unwrap().to_path_buf()), left)
    }

    #[test]
    fn a_whole_answer_becomes_the_file() {
        let (result, left) = try_one(serve_once(answer("200 OK", 4, b"0 1\n")), "");
        assert_eq!((result, left), (Ok("set/edges.txt".into()), vec!["edges.txt".to_string()]));
        let (result, left) = try_one(serve_once(answer("200 OK", 3, b"\x1f\x8b\x08")), ".gz");
        assert_eq!((result, left), (Ok("set/edges.txt.gz".into()), vec!["edges.txt.gz".to_string()]));
    }

    #[test]
    fn everything_else_is_an_error_and_leaves_nothing() {
        let html = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nhi!\n".to_vec();
        let refused = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap()
        };
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let cases = [
            (serve_once(answer("404 Not Found", 0, b"")), "", "the server answered 404"),
            (serve_once(answer("200 OK", 4000, b"0 1\n")), "", "the connection broke"),
            (serve_once(answer("200 OK", 4, b"0 1\n")), ".gz", "not a gzip file"),
            (serve_once(html), "", "a web page"),
            (serve_once(b"nonsense".to_vec()), "", ""),
            (refused, "", "onnection refused"),
            (silent.local_addr().unwrap(), "", "no answer in time"),
        ];
        for (address, ending, expected) in cases {
            let (result, left) = try_one(address, ending);
            let what = result.unwrap_err();
            assert!(what.contains(expected), "expected `{expected}`, found `{what}`");
            assert!(left.is_empty(), "{left:?}");
        }
    }

    #[test]
    fn fetch_forgets_a_failure_and_says_what_to_do_by_hand() {
        let folder = tempfile::tempdir().unwrap();
        let mut entry = crate::Catalog::default().find("karate").unwrap();
        entry.files = vec![RawFile { file: "edges.txt".into(), url: Some(format!("http://{}/e", serve_once(answer("404 Not Found", 0, b"")))), ..RawFile::default() }];
        fs::create_dir_all(folder.path().join("karate")).unwrap();
        fs::write(folder.path().join("karate").join(ABSENT), "earlier").unwrap();
        let error = fetch(&entry, folder.path(), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("404") && error.to_string().contains("curl -L -o"), "{error}");
        assert!(!folder.path().join("karate").join(ABSENT).exists());
        entry.files[0].url = Some(format!("http://{}/e", serve_once(answer("200 OK", 4, b"0 1\n"))));
        let mut seen = 0;
        let paths = fetch(&entry, folder.path(), &mut |progress| seen = progress.bytes).unwrap();
        assert_eq!((fs::read(&paths[0]).unwrap(), seen), (b"0 1\n".to_vec(), 4));
        entry.files[0].url = None;
        assert_eq!(fetch(&entry, folder.path(), &mut |_| {}).unwrap(), paths);
    }
}
