//! Downloads from a scripted server on 127.0.0.1.
use super::*;
use std::{
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
};

/// The requests that the server got, each as its header lines in lower case.
pub(crate) type Requests = Arc<Mutex<Vec<Vec<String>>>>;

/// Gives one of these answers to each connection, in turn, and closes it.
pub(crate) fn serve(answers: Vec<Vec<u8>>) -> (SocketAddr, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Requests::default();
    let told = asked.clone();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut lines) = (String::new(), Vec::new());
            while reader.read_line(&mut line).is_ok_and(|got| got > 2) {
                lines.push(line.trim().to_lowercase());
                line.clear();
            }
            told.lock().unwrap().push(lines);
            let _ = stream.write_all(&answer);
        }
    });
    (address, asked)
}

/// As `serve`, for one connection.
pub(crate) fn serve_once(answer: Vec<u8>) -> SocketAddr {
    serve(vec![answer]).0
}

/// An answer with a length that may be larger than what follows.
pub(crate) fn answer(status: &str, length: usize, body: &[u8]) -> Vec<u8> {
    answer_with(status, length, "", body)
}

fn answer_with(status: &str, length: usize, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
    )
    .into_bytes();
    answer.extend(body);
    answer
}

pub(crate) fn short_limits() -> Limits {
    Limits {
        connect: Duration::from_secs(1),
        silence: Duration::from_millis(300),
        whole: Duration::from_secs(20),
        tries: 1,
        pause: Duration::from_millis(10),
        proxy: false,
    }
}

struct Outcome {
    result: Result<Vec<u8>, String>,
    asked: Vec<Vec<String>>,
    left: Vec<String>,
    folder: tempfile::TempDir,
}

/// Downloads `edges.txt` from such a server in three tries.
fn download_from(answers: Vec<Vec<u8>>, ending: &str) -> Outcome {
    download_into(
        tempfile::tempdir().unwrap(),
        |address| format!("http://{address}/edges.txt{ending}"),
        answers,
    )
}

fn download_into(
    folder: tempfile::TempDir,
    url: impl Fn(SocketAddr) -> String,
    answers: Vec<Vec<u8>>,
) -> Outcome {
    let (address, asked) = serve(answers);
    let path = folder.path().join("set/edges.txt");
    let limits = Limits { tries: 3, ..short_limits() };
    let result = download("edges.txt", &url(address), &path, &limits, &mut |_| {}, &|_| Ok(()))
        .map(|()| fs::read(&path).unwrap())
        .map_err(|trouble| trouble.what);
    let mut left: Vec<String> = fs::read_dir(folder.path().join("set"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let asked = asked.lock().unwrap().clone();
    Outcome { result, asked, left, folder }
}

fn has(lines: &[String], line: &str) -> bool {
    lines.iter().any(|found| found == line)
}

const TAG: &str = "ETag: \"one\"\r\n";
const WHOLE: &[u8] = b"0 1\n1 2\n2 3\n";

fn partial_answer(from: usize, tag: &str) -> Vec<u8> {
    answer_with(
        "206 Partial Content",
        WHOLE.len() - from,
        &format!("{tag}Content-Range: bytes {from}-{}/{}\r\n", WHOLE.len() - 1, WHOLE.len()),
        &WHOLE[from..],
    )
}

#[test]
fn a_whole_answer_becomes_the_file() {
    let done = download_from(vec![answer("200 OK", 4, b"0 1\n")], "");
    assert_eq!((done.result, done.left), (Ok(b"0 1\n".to_vec()), vec!["edges.txt".to_string()]));
    let done = download_from(vec![answer("200 OK", 3, b"\x1f\x8b\x08")], ".gz");
    assert!(done.result.is_ok() && !done.asked[0].iter().any(|line| line.starts_with("range")));
}

#[test]
fn a_dropped_connection_is_continued_where_it_broke() {
    let done = download_from(
        vec![answer_with("200 OK", 12, TAG, &WHOLE[..5]), partial_answer(5, TAG)],
        "",
    );
    assert_eq!((done.result.as_deref(), done.left), (Ok(WHOLE), vec!["edges.txt".to_string()]));
    assert!(
        has(&done.asked[1], "range: bytes=5-") && has(&done.asked[1], "if-range: \"one\""),
        "{:?}",
        done.asked[1]
    );
}

#[test]
fn a_date_of_change_will_do_where_there_is_no_tag() {
    let date = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n";
    let done = download_from(
        vec![answer_with("200 OK", 12, date, &WHOLE[..5]), partial_answer(5, date)],
        "",
    );
    assert_eq!(done.result.as_deref(), Ok(WHOLE));
    assert!(has(&done.asked[1], "if-range: sat, 01 jan 2000 00:00:00 gmt"), "{:?}", done.asked[1]);
}

#[test]
fn without_a_proof_that_it_is_the_same_file_it_begins_anew() {
    for headers in ["", "ETag: W/\"weak\"\r\n"] {
        let done = download_from(
            vec![
                answer_with("200 OK", 12, headers, b"old!!"),
                answer_with("200 OK", 12, headers, WHOLE),
            ],
            "",
        );
        assert_eq!(done.result.as_deref(), Ok(WHOLE));
        assert!(!done.asked[1].iter().any(|line| line.starts_with("range")));
    }
}

#[test]
fn a_server_that_ignores_the_range_or_changed_the_file_is_taken_at_its_word() {
    let done = download_from(
        vec![answer_with("200 OK", 12, TAG, &WHOLE[..5]), answer_with("200 OK", 12, TAG, WHOLE)],
        "",
    );
    assert_eq!(done.result.as_deref(), Ok(WHOLE));
    let done = download_from(
        vec![
            answer_with("200 OK", 12, TAG, b"old!!"),
            answer_with("200 OK", 4, "ETag: \"two\"\r\n", b"new\n"),
        ],
        "",
    );
    assert_eq!(done.result.as_deref(), Ok(&b"new\n"[..]));
}

#[test]
fn a_server_that_continues_another_file_is_not_believed() {
    let other_size =
        answer_with("206 Partial Content", 4, "Content-Range: bytes 5-8/9\r\n", b"more");
    let other_start =
        answer_with("206 Partial Content", 4, "Content-Range: bytes 6-11/12\r\n", b"3456");
    let no_range = answer_with("206 Partial Content", 7, "", b"3456789");
    for bad in [partial_answer(5, "ETag: \"two\"\r\n"), other_size, other_start, no_range] {
        let done = download_from(
            vec![
                answer_with("200 OK", 12, TAG, &WHOLE[..5]),
                bad,
                answer_with("200 OK", 12, TAG, WHOLE),
            ],
            "",
        );
        assert_eq!((done.result.as_deref(), done.asked.len()), (Ok(WHOLE), 3));
        assert!(!done.asked[2].iter().any(|line| line.starts_with("range")));
    }
}

#[test]
fn a_part_that_is_the_whole_or_too_long_is_found_out() {
    let lie = answer_with("200 OK", 12, TAG, WHOLE);
    let mut cut = answer_with("200 OK", 99, TAG, WHOLE);
    cut.truncate(cut.len());
    let full = answer_with("416 Range Not Satisfiable", 0, "Content-Range: bytes */12\r\n", b"");
    let done = download_from(vec![cut.clone(), full], "");
    assert_eq!(done.result.as_deref(), Ok(WHOLE));
    let shorter = answer_with("416 Range Not Satisfiable", 0, "Content-Range: bytes */4\r\n", b"");
    let done = download_from(vec![cut, shorter, lie], "");
    assert_eq!((done.result.as_deref(), done.asked.len()), (Ok(WHOLE), 3));
}

#[test]
fn a_server_that_recovers_is_tried_again_and_one_that_does_not_is_left() {
    let done = download_from(
        vec![answer("503 Busy", 0, b""), answer("429 Slowly", 0, b""), answer("200 OK", 12, WHOLE)],
        "",
    );
    assert_eq!(done.result.as_deref(), Ok(WHOLE));
    let done = download_from(vec![answer("503 Busy", 0, b""); 3], "");
    assert_eq!(
        (done.result.unwrap_err().as_str(), done.asked.len(), done.left.len()),
        ("the server answered 503 (tried 3 times)", 3, 0)
    );
    let done = download_from(vec![answer("404 Not Found", 0, b"")], "");
    assert_eq!(
        (done.result.unwrap_err().as_str(), done.asked.len()),
        ("the server answered 404", 1)
    );
}

#[test]
fn a_part_outlives_the_program() {
    let lying = vec![
        answer_with("200 OK", 12, TAG, &WHOLE[..5]),
        answer_with(
            "206 Partial Content",
            7,
            &format!("{TAG}Content-Range: bytes 5-11/12\r\n"),
            b"",
        ),
        answer("503 Busy", 0, b""),
    ];
    let url = |_| "http://127.0.0.1:1/fixed".to_string();
    let first = download_into(
        tempfile::tempdir().unwrap(),
        |address| format!("http://{address}/edges.txt"),
        lying,
    );
    assert!(first.result.is_err());
    assert_eq!(first.left, ["edges.txt.part", "edges.txt.part.json"]);
    // Of another address it is not continued, and not lost by trying.
    let elsewhere = download_into(first.folder, url, Vec::new());
    assert!(elsewhere.result.is_err());
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("set")).unwrap();
    let (address, asked) = serve(vec![partial_answer(5, TAG)]);
    let address = format!("http://{address}/edges.txt");
    fs::write(folder.path().join("set/edges.txt.part"), &WHOLE[..5]).unwrap();
    let of = PartSource {
        url: address.clone(),
        etag: Some("\"one\"".into()),
        modified: None,
        total: Some(12),
    };
    fs::write(folder.path().join("set/edges.txt.part.json"), serde_json::to_vec(&of).unwrap())
        .unwrap();
    let path = folder.path().join("set/edges.txt");
    download("edges.txt", &address, &path, &short_limits(), &mut |_| {}, &|_| Ok(())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), WHOLE);
    assert!(has(&asked.lock().unwrap()[0], "range: bytes=5-"));
}

#[test]
fn two_at_once_do_not_write_into_one_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set/edges.txt");
    let mut first = Part::open(&path).unwrap();
    first.file.write_all(b"first").unwrap();
    let (address, _) = serve(vec![answer("200 OK", 12, WHOLE)]);
    download(
        "edges.txt",
        &format!("http://{address}/edges.txt"),
        &path,
        &short_limits(),
        &mut |_| {},
        &|_| Ok(()),
    )
    .unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), fs::read(&first.path).unwrap()),
        (WHOLE.to_vec(), b"first".to_vec())
    );
}

#[test]
fn everything_else_is_an_error_and_leaves_nothing() {
    let html =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nhi!\n".to_vec();
    let cases = [
        (vec![answer("404 Not Found", 0, b"")], "", "the server answered 404"),
        (vec![answer("200 OK", 4000, b"0 1\n"); 3], "", "the connection broke"),
        (vec![answer("200 OK", 4, b"0 1\n")], ".gz", "not a gzip file"),
        (vec![html], "", "a web page"),
        (vec![b"nonsense".to_vec(); 3], "", ""),
        (Vec::new(), "", ""),
    ];
    for (answers, ending, expected) in cases {
        let done = download_from(answers, ending);
        let what = done.result.unwrap_err();
        assert!(what.contains(expected), "expected `{expected}`, found `{what}`");
        assert!(done.left.is_empty(), "{:?}", done.left);
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}/edges.txt", silent.local_addr().unwrap());
    let DownloadError { what, disk, .. } = download(
        "edges.txt",
        &url,
        &folder.path().join("edges.txt"),
        &short_limits(),
        &mut |_| {},
        &|_| Ok(()),
    )
    .unwrap_err();
    assert_eq!(disk, None);
    assert!(what.contains("no answer in time"), "{what}");
}

/// A request that an https address leads to is refused where it is not encrypted; an address that
/// is http itself may lead anywhere.
#[test]
fn https_leads_to_https_alone() {
    let (address, asked) = serve(vec![answer("200 OK", 4, b"0 1\n")]);
    let (first, other) = ("HTTPS://127.0.0.1/edges.txt", format!("http://{address}/edges.txt"));
    let error = agent(&short_limits(), first).get(&other).call().unwrap_err();
    assert!(asked.lock().unwrap().is_empty());
    let failure = connection_failure(&error, first, &short_limits());
    assert!(
        !failure.again
            && failure.trouble.what.contains(&format!("`{first}` redirects to `{other}`")),
        "{}",
        failure.trouble.what
    );
    assert!(failure.trouble.hint.is_some_and(|hint| hint.contains(&format!("url: \"{other}\""))));
    assert_eq!(
        agent(&short_limits(), "http://127.0.0.1").get(&other).call().unwrap().status(),
        200
    );
}
