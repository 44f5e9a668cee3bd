//! Every format of text, in every packing and with every line end, is the same graph; and what is
//! wrong with any file is an error.
use flate2::{Compression, write::GzEncoder};
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};
use warploom_formats::{
    Options, detect, find,
    out_of_core::{Limit, LoadedGraph},
};

/// Formats with a small set of each in tests/graphs: files, or folders of them.
const SETS: [(&str, &[&str]); 16] = [
    ("edge_list", &["tiny.edges.txt"]),
    ("edge_list", &["tiny.named.csv"]),
    ("csv", &["csv"]),
    ("matrix_market", &["tiny.mtx"]),
    ("metis", &["tiny.metis"]),
    ("dimacs", &["tiny.gr", "tiny.co"]),
    ("gml", &["tiny.gml"]),
    ("ascii_graph", &["tiny.graph-txt"]),
    ("road", &["tiny.cnode", "tiny.cedge"]),
    ("communities", &["tiny.ungraph", "tiny.cmty"]),
    ("tu", &["tu"]),
    ("adjacency_text", &["adjacency_text"]),
    ("ogb", &["ogb"]),
    ("ntriples", &["ntriples"]),
    ("triples", &["triples/words"]),
    ("triples", &["triples/numbered"]),
];

/// A way to write the same text once more, and what it adds to a name.
type Way = (&'static str, fn(&[u8]) -> Vec<u8>);

const WAYS: [Way; 6] = [
    ("", |text| text.to_vec()),
    (".gz", |text| gzip(text)),
    (".zst", |text| zstd::encode_all(text, 1).unwrap()),
    ("", |text| plain(text).replace('\n', "\r\n").into_bytes()),
    ("", |text| format!("\u{feff}{}", plain(text)).into_bytes()),
    ("", |text| plain(text).trim_end_matches('\n').to_owned().into_bytes()),
];

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Without a byte-order mark and carriage returns.
fn plain(text: &[u8]) -> String {
    String::from_utf8(text.to_vec()).unwrap().trim_start_matches('\u{feff}').replace('\r', "")
}

fn options(format: &str) -> Options {
    Options { directed: Some(format == "metis"), ..Options::default() }
}

/// Names below the folder, and contents.
fn contents(names: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    let mut open: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        match path.is_dir() {
            true => open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
            false => {
                found.push((path.strip_prefix(&root).unwrap().to_owned(), fs::read(&path).unwrap()))
            }
        }
    }
    found.sort();
    found
}

/// Writes a set into a folder of its own.
fn written(files: &[(PathBuf, Vec<u8>)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, bytes): &(PathBuf, Vec<u8>)| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    };
    let paths = files.iter().map(write).collect();
    (folder, paths)
}

/// Formats of these whose edges go to a file as they are read.
const STREAMED: [&str; 8] =
    ["edge_list", "csv", "matrix_market", "metis", "dimacs", "ascii_graph", "road", "communities"];

/// Further sets that do.
const BEYOND_MEMORY: [(&str, &[&str]); 8] = [
    ("bvgraph", &["tiny.graph", "tiny.properties"]),
    ("tables", &["arrays/tables/tiny/groups.parquet"]),
    ("tables", &["arrays/tables/nodes/edges.parquet", "arrays/tables/nodes/nodes.parquet"]),
    ("npz", &["arrays/npz/csr.npz"]),
    ("npz", &["arrays/npz/csc.npz"]),
    ("npz", &["arrays/npz/coo.npz"]),
    ("npz", &["arrays/npz/gnnadvisor.npz"]),
    ("npz", &["arrays/npz/masked.npz"]),
];

/// With no memory for edges at all, they are in a file and the same, for any number of threads.
#[test]
fn edges_beyond_memory_are_those_in_memory() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    let streamed = SETS.into_iter().filter(|(format, _)| STREAMED.contains(format));
    for (format, names) in streamed.chain(BEYOND_MEMORY) {
        let mut paths: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
        if paths[0].is_dir() {
            paths = fs::read_dir(&paths[0]).unwrap().map(|entry| entry.unwrap().path()).collect();
        }
        let found = find(format).unwrap();
        let whole = found
            .read(&paths, &options(format))
            .unwrap_or_else(|error| panic!("{names:?}: {error}"));
        let folder = tempfile::tempdir().unwrap();
        for (threads, memory) in [(1, 0), (2, 8), (8, 0)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let limit = Limit { memory, folder: folder.path().to_path_buf() };
            let LoadedGraph { mut graph, spilled } =
                pool.install(|| (found.read_within)(&paths, &options(format), &limit)).unwrap();
            assert!(graph.edges.is_empty(), "{names:?}");
            spilled
                .unwrap_or_else(|| panic!("{names:?}: edges are in memory"))
                .hold(&mut graph)
                .unwrap();
            assert_eq!(format!("{graph:?}"), format!("{whole:?}"), "{names:?}");
        }
        // Nameless files leave nothing behind.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn packings_line_ends_and_marks_change_nothing() {
    let mut wrong = Vec::new();
    for (format, names) in SETS {
        // As text: a label that is not a number is not equal to itself.
        let mut first: Option<String> = None;
        for (number, (end, way)) in WAYS.iter().enumerate() {
            let files: Vec<_> = contents(names)
                .into_iter()
                .map(|(name, text)| (PathBuf::from(format!("{}{end}", name.display())), way(&text)))
                .collect();
            let (folder, paths) = written(&files);
            let graph = detect(folder.path(), &paths).and_then(|(found, chosen)| {
                let graph = found.read(&chosen, &options(format))?;
                assert_eq!(graph.validate(), Ok(()));
                Ok(format!("{} of {}: {graph:?}", found.name, chosen.len()))
            });
            let graph = graph.unwrap_or_else(|error| error.to_string());
            let expected = first.get_or_insert_with(|| graph.clone());
            if graph != *expected || !graph.starts_with(&format!("{format} of {}", paths.len())) {
                wrong.push(format!(
                    "{names:?}, way {number}: {}",
                    graph.chars().take(200).collect::<String>()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A packed file that ends early, a folder in its place, a file that is not there: each file of
/// each set in turn.
#[test]
fn a_file_that_cannot_be_read_is_named() {
    let mut wrong = Vec::new();
    for (format, names) in SETS {
        let files = contents(names);
        for place in 0..files.len() {
            let packed = gzip(&files[place].1);
            let mut cut = files.clone();
            cut[place].1 = packed[..packed.len() - 6].to_vec();
            let (_folder, paths) = written(&cut);
            let mut expect = |says: &[&str]| {
                let told = find(format)
                    .unwrap()
                    .read(&paths, &options(format))
                    .err()
                    .map_or("no error".to_owned(), |error| error.to_string());
                let name = paths[place].file_name().unwrap().to_str().unwrap();
                if !told.contains(name) || !says.iter().any(|says| told.contains(says)) {
                    wrong.push(format!(
                        "{}: expected one of {says:?}: {told}",
                        files[place].0.display()
                    ));
                }
            };
            expect(&["gzip file is cut short"]);
            fs::remove_file(&paths[place]).unwrap();
            expect(&["No such file", "lacks"]);
            fs::create_dir(&paths[place]).unwrap();
            expect(&["folder"]);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Nothing, blanks and line ends alone are a graph nowhere, where they are all that there is.
#[test]
fn a_set_of_empty_files_is_an_error() {
    let mut wrong = Vec::new();
    for (format, names) in SETS {
        for text in ["", "\n", " \r\n\n", "\u{feff}"] {
            let files: Vec<_> = contents(names)
                .into_iter()
                .map(|(name, _)| (name, text.as_bytes().to_vec()))
                .collect();
            let (_folder, paths) = written(&files);
            match find(format).unwrap().read(&paths, &options(format)) {
                Err(error) if paths.contains(&error.path) => {}
                Err(error) => {
                    wrong.push(format!("{names:?} of {text:?} is an error of no file: {error}"))
                }
                Ok(graph) => wrong
                    .push(format!("{names:?} of {text:?} is a graph of {} nodes", graph.nodes())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
