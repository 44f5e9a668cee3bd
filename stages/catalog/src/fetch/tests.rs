//! Whole sets from a local server: files, archives, digests, and errors.
use std::fs;

use super::*;
use crate::{
    download::tests::{answer, serve, serve_once, short_limits},
    entry::{Archive, RawFile},
    unpack::tests::{tar, zip},
};

fn entry(files: Vec<RawFile>) -> Entry {
    let mut entry = crate::Catalog::default().find("karate").unwrap();
    entry.files = files;
    entry
}

fn file(name: &str, url: Option<String>) -> RawFile {
    RawFile { file: name.into(), url, ..RawFile::default() }
}

fn fetch_files(entry: &Entry, folder: &Path) -> Result<Vec<PathBuf>, CatalogError> {
    fetch_within(entry, &[folder.to_path_buf()], None, &short_limits(), &mut |_| {})
        .map(|found| found.paths)
}

#[test]
fn fetch_forgets_a_failure_and_says_what_to_do_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let mut entry = entry(vec![file(
        "edges.txt",
        Some(format!("http://{}/e", serve_once(answer("404 Not Found", 0, b"")))),
    )]);
    fs::create_dir_all(folder.path().join("karate")).unwrap();
    fs::write(folder.path().join("karate").join(crate::locate::ABSENT), "earlier").unwrap();
    let error = fetch_files(&entry, folder.path()).unwrap_err();
    let copied = format!("copy it to  {}", folder.path().join("karate/edges.txt").display());
    assert!(
        error.to_string().contains("404")
            && error.to_string().contains("curl -L --create-dirs -o")
            && error.to_string().contains(&copied),
        "{error}"
    );
    assert!(!folder.path().join("karate").join(crate::locate::ABSENT).exists());
    entry.files[0].url = Some(format!("http://{}/e", serve_once(answer("200 OK", 4, b"0 1\n"))));
    let mut seen = 0;
    let dirs = [folder.path().to_path_buf()];
    let paths =
        fetch_within(&entry, &dirs, None, &short_limits(), &mut |progress| seen = progress.bytes)
            .unwrap()
            .paths;
    assert_eq!((fs::read(&paths[0]).unwrap(), seen), (b"0 1\n".to_vec(), 4));
    entry.files[0].url = None;
    assert_eq!(fetch_files(&entry, folder.path()).unwrap(), paths);
}

#[test]
fn off_line_the_file_to_copy_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = fetch_files(
        &entry(vec![file("raw/edges.txt", Some(format!("http://{closed}/edges.txt.gz")))]),
        folder.path(),
    )
    .unwrap_err();
    assert!(
        error
            .hint
            .unwrap()
            .contains(&format!("{}", folder.path().join("karate/raw/edges.txt.gz").display()))
    );
    let many = ["a", "b"].map(|name| file(name, Some(format!("http://{closed}/{name}.gz"))));
    let spaced = folder.path().join("a folder");
    fs::create_dir_all(spaced.join("karate")).unwrap();
    fs::write(spaced.join("karate/c"), "").unwrap();
    let error = fetch_files(
        &entry([file("c", Some(format!("http://{closed}/c")))].into_iter().chain(many).collect()),
        &spaced,
    )
    .unwrap_err();
    let place = |name: &str| {
        format!(" -o '{}' 'http://{closed}/{name}'", spaced.join("karate").join(name).display())
    };
    let hint = error.hint.unwrap();
    assert!(
        hint.contains("copy 2 files to ")
            && hint.ends_with(&format!("curl -L --create-dirs{}{}", place("a.gz"), place("b.gz"))),
        "{hint}"
    );
    let error = fetch_files(&entry(vec![file("edges.txt", None)]), folder.path()).unwrap_err();
    assert!(
        error.what.contains("no address") && error.hint.unwrap().ends_with("karate/edges.txt"),
        "{}",
        error.what
    );
}

#[test]
fn a_file_that_changed_since_it_came_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let entry = entry(vec![file(
        "edges.txt",
        Some(format!("http://{}/e", serve_once(answer("200 OK", 4, b"0 1\n")))),
    )]);
    let paths = fetch_files(&entry, folder.path()).unwrap();
    assert_eq!(fetch_files(&entry, folder.path()).unwrap(), paths);
    fs::write(&paths[0], "0 2\n").unwrap();
    let error = fetch_files(&entry, folder.path()).unwrap_err();
    assert!(
        error.what.contains("has changed") && error.place.unwrap().ends_with("edges.txt"),
        "{}",
        error.what
    );
}

#[test]
fn an_address_that_gives_other_bytes_later_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let (address, _) = serve(vec![answer("200 OK", 4, b"0 1\n"), answer("200 OK", 4, b"0 9\n")]);
    let entry = entry(vec![file("edges.txt", Some(format!("http://{address}/e")))]);
    let paths = fetch_files(&entry, folder.path()).unwrap();
    fs::remove_file(&paths[0]).unwrap();
    let error = fetch_files(&entry, folder.path()).unwrap_err();
    assert!(
        error.what.contains("has changed") && error.hint.unwrap().contains("thrown away"),
        "{}",
        error.what
    );
    // Nothing of it lies under the file's name, or beside it.
    assert_eq!(
        fs::read_dir(folder.path().join("karate"))
            .unwrap()
            .map(|file| file.unwrap().file_name())
            .collect::<Vec<_>>(),
        [digests::RECORD_FILE]
    );
}

#[test]
fn what_is_not_as_the_entry_says_never_gets_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let told = |url: Option<String>| RawFile { blake3: Some("0".repeat(64)), ..file("e", url) };
    let alone =
        entry(vec![told(Some(format!("http://{}/e", serve_once(answer("200 OK", 4, b"0 1\n")))))]);
    let mut packed = entry(vec![told(None)]);
    let bytes = zip(&[("e", b"0 1\n")]);
    packed.archive = Some(Archive {
        url: format!("http://{}/e.zip", serve_once(answer("200 OK", bytes.len(), &bytes))),
        folder: String::new(),
    });
    for entry in [alone, packed] {
        let error = fetch_files(&entry, folder.path()).unwrap_err();
        assert!(
            error.what.contains("expected the digest 0000000000000000, found 4 bytes")
                && error.hint.unwrap().contains("remove `bytes`"),
            "{}",
            error.what
        );
        assert!(!folder.path().join("karate").exists());
    }
}

#[test]
fn files_of_an_archive_come_out_and_the_archive_goes() {
    let members: &[(&str, &[u8])] =
        &[("set/raw/edge.csv.gz", b"\x1f\x8b"), ("set/label.csv", b"0\n")];
    for bytes in [zip(members), tar(members)] {
        let folder = tempfile::tempdir().unwrap();
        let mut entry = entry(vec![file("raw/edge.csv", None), file("label.csv", None)]);
        entry.archive = Some(Archive {
            url: format!("http://{}/set.zip", serve_once(answer("200 OK", bytes.len(), &bytes))),
            folder: "set".into(),
        });
        let paths = fetch_files(&entry, folder.path()).unwrap();
        assert!(
            paths[0].ends_with("karate/raw/edge.csv.gz") && paths[1].ends_with("karate/label.csv")
        );
        assert!(!folder.path().join("karate/set.zip").exists());
        assert_eq!(fetch_files(&entry, folder.path()).unwrap(), paths);
        // By hand: the archive lies there, and stays.
        let by_hand = tempfile::tempdir().unwrap();
        fs::create_dir(by_hand.path().join("karate")).unwrap();
        fs::write(by_hand.path().join("karate/set.zip"), &bytes).unwrap();
        assert_eq!(fetch_files(&entry, by_hand.path()).unwrap().len(), 2);
        assert!(by_hand.path().join("karate/set.zip").exists());
        entry.files.push(file("nobody", None));
        let error = fetch_files(&entry, by_hand.path()).unwrap_err();
        assert!(error.what.contains("it holds no nobody"), "{}", error.what);
    }
}

#[test]
fn what_is_made_is_not_fetched() {
    let error =
        fetch(&crate::find("rmat-4").unwrap(), &["none".into()], None, &mut |_| {}).unwrap_err();
    assert!(error.what.contains("is generated, not downloaded"), "{}", error.what);
}

#[test]
fn a_page_or_a_pointer_in_the_place_of_a_file_never_gets_its_name() {
    let bodies: [(&[u8], &str); 3] = [
        (
            b"\n<!DOCTYPE html><html><body>Please log in</body></html>",
            "found a web page; it begins with `<!DOCTYPE html>",
        ),
        (b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "found XML"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
            "found a pointer of git LFS",
        ),
    ];
    for (body, found) in bodies {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("http://{}/e", serve_once(answer("200 OK", body.len(), body)));
        let error =
            fetch_files(&entry(vec![file("raw/edges.txt", Some(url))]), folder.path()).unwrap_err();
        assert!(
            error.what.contains(found) && error.hint.as_ref().unwrap().contains("curl"),
            "{error}"
        );
        assert!(!folder.path().join("karate").exists(), "{found}");
        let mut packed = entry(vec![file("edges.txt", None)]);
        packed.archive = Some(Archive {
            url: format!("http://{}/e.zip", serve_once(answer("200 OK", body.len(), body))),
            folder: String::new(),
        });
        let error = fetch_files(&packed, folder.path()).unwrap_err();
        assert!(error.what.contains(found), "{error}");
        // Put there by hand it is told too.
        fs::create_dir_all(folder.path().join("karate/raw")).unwrap();
        fs::write(folder.path().join("karate/raw/edges.txt"), body).unwrap();
        let error =
            fetch_files(&entry(vec![file("raw/edges.txt", None)]), folder.path()).unwrap_err();
        assert!(
            error.what.contains(found) && error.hint.as_ref().unwrap().contains("rm "),
            "{error}"
        );
    }
}

#[test]
fn files_in_another_place_are_not_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    let dirs = [folder.path().join("own"), folder.path().join("others")];
    let place = dirs[1].join("under_another_name");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("edges.txt"), "0 1\n").unwrap();
    let mut entry = entry(vec![file("edges.txt", Some("http://127.0.0.1:9/e".into()))]);
    entry.found_as = vec!["under_another_name".into(), "sets.zip".into()];
    let fetched = |entry: &Entry| {
        fetch_within(entry, &dirs, Some(&folder.path().join("seen")), &short_limits(), &mut |_| {})
    };
    assert_eq!(
        fetched(&entry).unwrap(),
        FetchedFiles { paths: vec![place.join("edges.txt")], elsewhere: Some(place.clone()) }
    );
    entry.files[0].bytes = Some(5);
    assert!(fetched(&entry).unwrap_err().what.contains("expected 5 bytes"));
    entry.files[0].bytes = None;
    fs::remove_dir_all(&place).unwrap();
    fs::write(dirs[1].join("sets.zip"), zip(&[("edges.txt", b"0 1\n")])).unwrap();
    let packed = fetched(&entry).unwrap();
    assert_eq!(
        (fs::read(&packed.paths[0]).unwrap(), packed.elsewhere),
        (b"0 1\n".to_vec(), Some(dirs[1].join("sets.zip")))
    );
    fs::remove_file(dirs[1].join("sets.zip")).unwrap();
    assert!(fetched(&entry).is_err() && !dirs[0].exists());
}
