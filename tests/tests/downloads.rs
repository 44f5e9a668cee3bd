//! Proves what `data fetch` promises to a user, with the program and a server on this machine:
//! files arrive, a connection that breaks is continued, a file that changes is named, proxies are
//! used, and without network or room it is said what to do.
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
};

use warploom_test_support::process::{Output, start};
use warploom_test_support::sandbox::{Recipe, Sandbox};

const EDGES: &str = "0 1\n1 2\n2 0\n";

/// A server that gives one of these answers to each connection, in turn, and hangs up; and the
/// requests that it got. As a proxy it grants every tunnel, and answers what is asked through it.
struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn with(answers: Vec<Vec<u8>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server { address: listener.local_addr().unwrap(), asked: Arc::default() };
        let asked = server.asked.clone();
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut next = || {
                    let mut request = String::new();
                    while reader.read_line(&mut request).is_ok_and(|got| got > 2) {}
                    asked.lock().unwrap().push(request.to_lowercase());
                    request
                };
                if next().starts_with("CONNECT ") {
                    let _gone = stream.write_all(b"HTTP/1.1 200 established\r\n\r\n");
                    next();
                }
                // A client that went away is seen in what it did.
                let _gone = stream.write_all(&answer);
            }
        });
        server
    }

    fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(status: &str, length: usize, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\nETag: \
            \"one\"\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn whole(body: &[u8]) -> Vec<u8> {
    answer("200 OK", body.len(), "", body)
}

/// A sandbox whose catalogue has one set, of one file at this address.
fn sandbox(url: &str) -> Sandbox {
    let mut sandbox = Sandbox::stand_in();
    let entry = format!(
        "name: afar\nabout: made for a test\nfiles: [{{file: edges.txt, url: \"{url}\"}}]\nformat: edge_list\nlicence: none\ndirected: true\n\
         symmetrize: false\ntask: none\nsplit: {{rule: none}}\n"
    );
    sandbox.add_entry("afar", &entry);
    sandbox
}

/// `data fetch afar`, without the proxies of whoever runs the tests.
fn fetch(sandbox: &Sandbox) -> Command {
    without_proxies(sandbox.command("warploom", &["data", "fetch", "afar"]))
}

fn without_proxies(mut command: Command) -> Command {
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    command
}

fn fetched(sandbox: &Sandbox) -> Output {
    start(fetch(sandbox)).wait()
}

fn file(sandbox: &Sandbox) -> PathBuf {
    sandbox.data.join("afar/edges.txt")
}

#[test]
fn a_connection_that_breaks_is_continued_and_the_set_is_read() {
    let rest = answer(
        "206 Partial Content",
        7,
        "Content-Range: bytes 5-11/12\r\n",
        &EDGES.as_bytes()[5..],
    );
    let server = Server::with(vec![
        answer("200 OK", 12, "", &EDGES.as_bytes()[..5]),
        answer("503 Busy", 0, "", b""),
        rest,
    ]);
    let sandbox = sandbox(&server.url("edges.txt"));
    fetched(&sandbox).expect(0).prints(&["afar/edges.txt"]);
    assert_eq!(fs::read_to_string(file(&sandbox)).unwrap(), EDGES);
    let asked = server.asked();
    assert!(
        asked.len() == 3
            && asked[2].contains("range: bytes=5-")
            && asked[2].contains("if-range: \"one\""),
        "{asked:?}"
    );
    let line = sandbox
        .stage("ingest", &Recipe::of("pagerank", "afar"), &["--real"])
        .expect(0)
        .lines()
        .remove(0);
    assert_eq!(line["provenance"], "real");
    // It is here: nobody is asked.
    fetched(&sandbox).expect(0);
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_part_outlives_the_program_and_a_file_that_changed_is_named() {
    let rest = answer(
        "206 Partial Content",
        7,
        "Content-Range: bytes 5-11/12\r\n",
        &EDGES.as_bytes()[5..],
    );
    let mut answers = vec![answer("200 OK", 12, "", &EDGES.as_bytes()[..5])];
    answers.push(answer("404 Not Found", 0, "", b""));
    answers.extend([rest, whole(b"0 2\n1 2\n2 0\n")]);
    let server = Server::with(answers);
    let sandbox = sandbox(&server.url("edges.txt"));
    fetched(&sandbox).expect(1).says(&[
        "cannot fetch `edges.txt` of `afar`",
        "404",
        "curl -L --create-dirs -o",
    ]);
    fetched(&sandbox).expect(0);
    assert!(server.asked()[2].contains("range: bytes=5-"), "{:?}", server.asked());
    // The address gives something else a year later.
    fs::remove_file(file(&sandbox)).unwrap();
    fetched(&sandbox).expect(1).says(&[
        "the file has changed since it was recorded: expected 12 bytes with the digest ",
        "found 12 bytes",
        "hint: the address gives another file now, and what came was thrown away",
    ]);
    assert!(!file(&sandbox).exists());
    fs::write(file(&sandbox), "0 2\n1 2\n2 0\n").unwrap();
    fetched(&sandbox).expect(1).says(&["hint: to have the old one again"]);
    sandbox
        .stage("ingest", &Recipe::of("pagerank", "afar"), &["--real"])
        .expect(1)
        .says(&["the file has changed since it was recorded", "afar/edges.txt"]);
}

#[test]
fn off_line_it_says_which_file_to_copy_where() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sandbox = sandbox(&format!("http://{closed}/edges.txt"));
    let place = file(&sandbox);
    let output = fetched(&sandbox).expect(1);
    let copied = format!(
        "hint: without a network here, copy it to  {0}  by hand:  curl -L --create-dirs -o {0} \
         'http://{closed}/",
        place.display()
    );
    let output = output.says(&[
        "cannot fetch `edges.txt` of `afar`",
        &format!("--> http://{closed}/edges.txt"),
        &copied,
    ]);
    // Two tries tell that there is no network; nobody waits for six.
    assert!(output.took.as_secs() < 10, "{output}");
    // Doing as it says is enough.
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, EDGES).unwrap();
    fetched(&sandbox).expect(0);
    sandbox.stage("ingest", &Recipe::of("pagerank", "afar"), &["--real"]).expect(0);
}

#[test]
fn a_failed_download_leaves_no_trace_among_the_data() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sandbox = sandbox(&format!("http://{closed}/edges.txt"));
    let recipe = Recipe::of("pagerank", "afar");
    let ingested = || {
        start(without_proxies(sandbox.command("warploom-ingest", &recipe.arguments(&[]))))
            .wait()
            .expect(1)
    };
    ingested().says(&[
        "the download failed: `edges.txt`",
        "hint: get them with  warploom data fetch afar",
    ]);
    assert!(!sandbox.data.join("afar").exists());
    ingested().says(&["an earlier download failed (20"]);
    // Asking for it forgets that, whether it comes or not.
    fetched(&sandbox).expect(1);
    ingested().says(&["the download failed: `edges.txt`"]);
}

#[test]
fn a_page_in_the_place_of_a_file_never_gets_its_name() {
    let page = b"<!DOCTYPE html>\n<html><body>Log in to the network</body></html>";
    let server = Server::with(vec![whole(page), whole(page)]);
    let sandbox = sandbox(&server.url("edges.txt"));
    fetched(&sandbox).expect(1).says(&[
        "cannot fetch `edges.txt` of `afar`",
        "expected the file, found a web page; it begins with `<!DOCTYPE html>`",
    ]);
    assert!(!sandbox.data.join("afar").exists());
    let recipe = Recipe::of("pagerank", "afar");
    let output = start(without_proxies(sandbox.command("warploom-ingest", &recipe.arguments(&[]))))
        .wait()
        .expect(1);
    output.says(&["found a web page"]);
    assert!(!sandbox.data.join("afar").exists());
}

/// What `data show` says of the files is what its own attempt found out.
#[test]
fn show_does_not_contradict_itself_after_a_failed_download() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sandbox = sandbox(&format!("http://{closed}/edges.txt"));
    let output = start(without_proxies(sandbox.command("warploom", &["data", "show", "afar"])))
        .wait()
        .expect(1);
    assert!(
        output.stdout.contains("an earlier download failed (20")
            && !output.stdout.contains("no download was tried"),
        "{output}"
    );
    let server = Server::with(vec![whole(EDGES.as_bytes())]);
    let sandbox = self::sandbox(&server.url("edges.txt"));
    let output = start(without_proxies(sandbox.command("warploom", &["data", "show", "afar"])))
        .wait()
        .expect(0);
    assert!(
        output.stdout.contains("data")
            && output.stdout.contains("here: ")
            && !output.stdout.contains("stand-in"),
        "{output}"
    );
}

#[test]
fn files_that_are_here_under_another_name_are_not_fetched() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut sandbox = sandbox(&format!("http://{closed}/edges.txt"));
    let entry = format!(
        "name: afar\nabout: made for a test\nfound_as: [under_another]\nfiles: [{{file: edges.txt, url: \"http://{closed}/edges.txt\"}}]\n\
         format: edge_list\nlicence: none\ndirected: true\nsymmetrize: false\ntask: none\nsplit: {{rule: none}}\n"
    );
    sandbox.add_entry("afar", &entry);
    let place = sandbox.data.join("under_another");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("edges.txt"), EDGES).unwrap();
    let output = fetched(&sandbox).expect(0).prints(&["under_another/edges.txt"]);
    output.says(&[&format!("the files of `afar` are available already: {}", place.display())]);
    assert!(!sandbox.data.join("afar").exists());
}

#[test]
fn proxies_of_the_environment_are_used() {
    for variable in ["http_proxy", "ALL_PROXY", "HTTP_PROXY"] {
        let proxy = Server::with(vec![whole(EDGES.as_bytes())]);
        let sandbox = sandbox("http://nowhere.invalid/edges.txt");
        let mut command = fetch(&sandbox);
        command.env(variable, proxy.url(""));
        start(command).wait().expect(0);
        assert_eq!(fs::read_to_string(file(&sandbox)).unwrap(), EDGES, "{variable}");
        let asked = proxy.asked();
        assert!(
            asked[0].starts_with("connect nowhere.invalid:80")
                && asked[1].starts_with("get /edges.txt"),
            "{variable}: {asked:?}"
        );
    }
    // What is excepted is asked itself.
    let server = Server::with(vec![whole(EDGES.as_bytes())]);
    let sandbox = sandbox(&server.url("edges.txt"));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = fetch(&sandbox);
    command.env("http_proxy", format!("http://{closed}")).env("no_proxy", "127.0.0.1");
    start(command).wait().expect(0);
    assert_eq!(server.asked().len(), 1);
}

/// The address of the file may be fine.
#[test]
fn a_proxy_that_does_not_answer_is_named() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sandbox = sandbox("http://nowhere.invalid/edges.txt");
    let mut command = fetch(&sandbox);
    command.env("https_proxy", format!("http://user:secret@{closed}"));
    let output = start(command)
        .wait()
        .expect(1)
        .says(&[&format!("asked through the proxy {closed} that `https_proxy` names")]);
    assert!(!output.stderr.contains("secret"), "{output}");
}

#[test]
fn a_file_for_which_there_is_no_room_is_an_error_about_room() {
    let large = vec![b'\n'; 1 << 20];
    let server = Server::with(vec![
        whole(&large),
        answer("206 Partial Content", large.len(), "", b""),
        whole(&large),
    ]);
    let sandbox = sandbox(&server.url("edges.txt"));
    // A file beyond the limit is an error of the write, and does not end the process.
    let command = fetch(&sandbox);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 64; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    limited.arg("--format").arg("json").current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let output = start(limited).wait().expect(1).says(&[
        "File too large",
        "hint: files may not be larger here",
        "ulimit -f",
        "--data DIR",
    ]);
    assert_eq!(output.lines().last().unwrap()["error"]["kind"], "disk_full", "{output}");
    assert!(!file(&sandbox).exists() && !output.stderr.contains("curl"), "{output}");
    fetched(&sandbox).expect(0);
    assert_eq!(fs::read(file(&sandbox)).unwrap(), large);
}
