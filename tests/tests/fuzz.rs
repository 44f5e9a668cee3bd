//! Proves that no file of a data set, however it is damaged, makes a program panic, blame itself,
//! be killed or take more than 4 GiB: samples of every format, with bytes flipped, cut, doubled,
//! put in and taken from elsewhere.
//!
//! promises  the same mutants every time in `make test`, a few of each sample; 40,000 in `make
//!           test-long`, which prints its seed
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use warploom_test_support::draws::Draws;
use warploom_test_support::process::start;
use warploom_test_support::repository;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::skips::is_long;

use crate::disk::wrapped;
use crate::faults::{fault_of, sum_up};

/// Data sets of `tests/graphs`: files, or what a folder holds, put together into a folder.
const SAMPLES: [&[&str]; 49] = [
    &["tiny.edges.txt"],
    &["tiny.named.csv"],
    &["tiny.edges.csv"],
    &["tiny.edges.txt.gz"],
    &["tiny.edges.txt.zst"],
    &["csv"],
    &["tiny.mtx"],
    &["tiny.metis"],
    &["tiny.gr", "tiny.co"],
    &["tiny.gml"],
    &["tiny.graph-txt"],
    &["tiny.cnode", "tiny.cedge"],
    &["tiny.ungraph", "tiny.cmty"],
    &["tu"],
    &["adjacency_text"],
    &["ogb"],
    &["ntriples"],
    &["triples/words"],
    &["triples/numbered"],
    &["tiny.graph", "tiny.properties"],
    &[
        "ind.tiny.allx",
        "ind.tiny.ally",
        "ind.tiny.graph",
        "ind.tiny.test.index",
        "ind.tiny.tx",
        "ind.tiny.ty",
        "ind.tiny.x",
        "ind.tiny.y",
    ],
    &["arrays/hetero"],
    &["arrays/npz/benchmark.npz"],
    &["arrays/npz/coo.npz"],
    &["arrays/npz/csc.npz"],
    &["arrays/npz/csr.npz"],
    &["arrays/npz/gnnadvisor.npz"],
    &["arrays/npz/masked.npz"],
    &["arrays/tables/tiny/decimal128.parquet"],
    &["arrays/tables/tiny/duckdb.parquet"],
    &["arrays/tables/tiny/gzip.parquet"],
    &["arrays/tables/tiny/int16.parquet"],
    &["arrays/tables/tiny/lz4.feather"],
    &["arrays/tables/tiny/lz4.parquet"],
    &["arrays/tables/tiny/none.parquet"],
    &["arrays/tables/tiny/packed.arrows"],
    &["arrays/tables/tiny/plain.arrow"],
    &["arrays/tables/tiny/polars.arrow"],
    &["arrays/tables/tiny/polars.parquet"],
    &["arrays/tables/tiny/snappy.parquet"],
    &["arrays/tables/tiny/stream.arrows"],
    &["arrays/tables/tiny/uint16.parquet"],
    &["arrays/tables/tiny/uint64.parquet"],
    &["arrays/tables/tiny/zstd.feather"],
    &["arrays/tables/tiny/zstd.parquet"],
    &["arrays/tables/words/bytes.parquet"],
    &["arrays/tables/words/dictionary.feather"],
    &["arrays/tables/words/dictionary.parquet"],
    &["arrays/tables/words/views.arrow"],
];

/// What is put in: numbers beyond every bound, signs, ends of lines and of texts, and marks of
/// other formats.
const TOKENS: [&[u8]; 14] = [
    b"-1",
    b"18446744073709551616",
    b"4294967295",
    b"1e999",
    b"nan",
    b"\0",
    b"\n",
    b"\r",
    b"\t",
    b"\"",
    b"\xff\xfe",
    b"PAR1",
    b"PK\x03\x04",
    b"\x80\x04",
];

/// A file by its name, or those below a folder by their paths from it.
fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    if !path.is_dir() {
        return vec![(path.file_name().unwrap().into(), fs::read(path).unwrap())];
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let below = |entry: PathBuf| {
        let folder =
            if entry.is_dir() { PathBuf::from(entry.file_name().unwrap()) } else { PathBuf::new() };
        files(&entry).into_iter().map(move |(name, bytes)| (folder.join(name), bytes))
    };
    entries.into_iter().flat_map(below).collect()
}

/// A place in so many.
fn below(draws: &mut Draws, end: usize) -> usize {
    (draws.unit() * end as f64) as usize
}

/// The same bytes with one to four changes.
fn mutant(bytes: &[u8], draws: &mut Draws) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + below(draws, 4) {
        let at = below(draws, bytes.len());
        let end = (at + 1 + below(draws, 16)).min(bytes.len());
        match below(draws, 7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << below(draws, 8),
            1 if at < bytes.len() => bytes[at] = below(draws, 256) as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            4 => {
                let token = TOKENS[below(draws, TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            5 => bytes.truncate(at),
            _ => {
                let from = below(draws, bytes.len());
                let part = bytes[from..(from + 8).min(bytes.len())].to_vec();
                let end = (at + part.len()).min(bytes.len());
                bytes.splice(at..end, part);
            }
        }
    }
    bytes
}

#[test]
fn mutants_of_every_format_are_read_or_refused() {
    let mut draws = Draws::seeded(21);
    let rounds = if is_long() { 40_000usize.div_ceil(SAMPLES.len()) } else { 2 };
    let sandbox = Sandbox::stand_in();
    let graphs = repository().join("tests/graphs");
    let kept = std::env::temp_dir().join("warploom-mutants");
    let (mut endings, mut wrong) = (BTreeMap::<String, usize>::new(), Vec::new());
    for sample in SAMPLES {
        let all: Vec<(PathBuf, Vec<u8>)> =
            sample.iter().flat_map(|name| files(&graphs.join(name))).collect();
        for round in 0..rounds {
            let (raw, sandbox) = (sandbox.data.join("mutant"), sandbox.with_store("mutants"));
            let chosen = below(&mut draws, all.len());
            for (number, (name, bytes)) in all.iter().enumerate() {
                let path = raw.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(
                    path,
                    if number == chosen { mutant(bytes, &mut draws) } else { bytes.clone() },
                )
                .unwrap();
            }
            let recipe = Recipe::of("pagerank", "mutant").set("ingest.features=auto");
            let program = sandbox.command(
                "warploom-ingest",
                &recipe.arguments(&["--threads", "1", "--format", "json"]),
            );
            let output =
                start(wrapped(&program, &["sh", "-c", "ulimit -v 4194304; exec \"$@\"", "sh"]))
                    .wait();
            *endings
                .entry(output.code.map_or_else(|| "killed".to_owned(), |code| format!("rc {code}")))
                .or_default() += 1;
            if let Some(fault) = fault_of(&output, "mutant") {
                // Kept for whoever looks for the cause.
                let place = kept.join(format!("{}-{round}", sample[0].replace('/', "-")));
                let _there = fs::remove_dir_all(&place);
                let _kept = fs::create_dir_all(&kept).and_then(|()| fs::rename(&raw, &place));
                wrong.push(format!("{}: {fault}", place.display()));
            }
            let _gone = (fs::remove_dir_all(&raw), fs::remove_dir_all(&sandbox.store));
        }
    }
    assert!(endings.len() >= 2, "all ended alike: {endings:?}");
    sum_up("mutants of files", &endings, &wrong);
}
