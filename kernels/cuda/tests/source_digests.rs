//! source_digests: what is emitted, for programs and sizes of graphs that people train, as digests.
//!
//! promises  `source_digests/digests.txt` has a digest for each training program of the library on
//!           the counts of the 15 graphs of GNNAdvisor's evaluation, and for cases that other
//!           schedules need, each by near and far rows, in f32, f64 and tf32, for 8.0, 9.0 and
//!           10.0; each `ScheduleKind` is emitted for one of them at least
//! promises  a digest is of the source without comments, with names numbered as they come, and of
//!           how its kernels are launched: words may change, code may not
//! promises  the digest of a source that was there changes with the compiler's version alone
//! never     compiles a source; needs a graph, or a GPU
//! limits    `make test` emits one of `SAMPLE` combinations, `make test-long` all: 3,474 sources in
//!           47 s on two cores (EPYC, dev build); `UPDATE=1` writes the file anew
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::{Value, json};
use warploom_compiler::{VERSION, compile};
use warploom_cuda::{
    DevicePlan, Emitted, GpuTarget, Groups, Matmul, Order, ScheduleKind, emit_in_groups,
};
use warploom_ir::{Data, Loss, Target as Wanted, Type};
use warploom_launch::LaunchList;

use warploom_test_support::golden_text::is_update;
use warploom_test_support::library_programs::{MODELS, text};
use warploom_test_support::skips;

/// `make test` emits each of so many combinations.
const SAMPLE: usize = 18;

/// Nodes, edges, columns of features and classes of a data set.
type Counts = (u64, u64, u64, u64);

/// The graphs of GNNAdvisor's evaluation, with the counts of the catalogue.
const GRAPHS: [(&str, Counts); 15] = [
    ("citeseer", (3_327, 9_104, 3_703, 6)),
    ("cora", (2_708, 10_556, 1_433, 7)),
    ("pubmed", (19_717, 88_651, 500, 3)),
    ("ppi", (56_944, 818_716, 50, 121)),
    ("PROTEINS_full", (43_471, 162_088, 29, 2)),
    ("OVCAR-8H", (1_890_931, 3_946_402, 66, 2)),
    ("Yeast", (1_714_644, 3_636_546, 74, 2)),
    ("DD", (334_925, 1_686_092, 89, 2)),
    ("TWITTER-Partial", (580_768, 1_435_116, 1_323, 2)),
    ("SW-620H", (1_889_971, 3_944_206, 66, 2)),
    ("amazon0505", (410_236, 4_878_875, 96, 22)),
    ("artist", (50_515, 1_638_396, 100, 12)),
    ("com-amazon", (334_863, 1_851_744, 96, 22)),
    ("soc-BlogCatalog", (88_784, 2_093_195, 128, 39)),
    ("amazon0601", (403_394, 3_387_388, 96, 22)),
];

/// What a program of the library is trained with (`pipelines/`).
fn settings(name: &str) -> Value {
    match name {
        "gcn" | "sage" => json!({"hidden": 16, "drop": 0.5}),
        "gin" => json!({"hidden": 64, "layers": 5, "drop": 0.5}),
        "gat" | "gatv2" => {
            json!({"heads": 8, "hidden": 8, "out_heads": 1, "slope": 0.2, "drop": 0.6, "drop_shares": 0.6})
        }
        "sage_max" => json!({"hidden": 16, "pool": 64, "drop": 0.5}),
        "appnp" => json!({"hidden": 64, "steps": 10, "alpha": 0.1, "drop": 0.5, "drop_edges": 0.5}),
        "gcnii" => json!({"hidden": 64, "layers": 64, "alpha": 0.1, "strength": 0.5, "drop": 0.6}),
        "graph_transformer" => {
            json!({"heads": 4, "hidden": 8, "edges": false, "drop": 0.3, "drop_shares": 0.3})
        }
        "rgcn" => json!({"hidden": 16, "bases": 0, "drop": 0.0}),
        _ => json!({}),
    }
}

/// A program, its settings, and what it is trained on.
struct Case {
    label: String,
    text: String,
    entry: &'static str,
    settings: Value,
    data: Data,
    in_groups: bool,
}

fn data((nodes, edges, features, classes): Counts) -> Data {
    let loss = if classes == 1 { Loss::MeanSquares } else { Loss::CrossEntropy };
    Data {
        features: (features > 0).then_some(features),
        target: Some(Wanted { columns: classes, loss }),
        training: true,
        lanes: true,
        ..Data::bare(nodes, edges)
    }
}

fn program(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Cases that schedules need which no program of the library has on those graphs.
fn others() -> Vec<Case> {
    let library = |label: &str, entry: &'static str, settings: Value, data: Data| Case {
        label: format!("{entry} {label}"),
        text: text(entry),
        entry,
        settings,
        data,
        in_groups: false,
    };
    let (amazon, dd) = (GRAPHS[10].1, GRAPHS[7].1);
    let rich = Data {
        relations: vec!["cites".into(), "knows".into()],
        columns: BTreeMap::from([("age".to_owned(), Type::Int)]),
        edge_features: 3,
        weighted: true,
        ..data((100_000, 700_000, 96, 5))
    };
    let mut cases = vec![
        library(
            "graphs",
            "gin",
            json!({"hidden": 64, "layers": 5, "graphs": true, "norm": true}),
            Data { graphs: 1_178, many_graphs: true, ..data(dd) },
        ),
        library(
            "sparse",
            "gcn",
            settings("gcn"),
            Data { sparse_features: Some(49_216), ..data(GRAPHS[1].1) },
        ),
        library("one-hot", "gcn", settings("gcn"), Data { features: None, ..data(dd) }),
        library(
            "sparse",
            "gat",
            settings("gat"),
            Data { sparse_features: Some(49_216), ..data(GRAPHS[1].1) },
        ),
        library("relations", "rgcn", json!({"hidden": 16}), rich.clone()),
        library("bases", "rgcn", json!({"hidden": 16, "bases": 2}), rich.clone()),
        library(
            "edges",
            "graph_transformer",
            json!({"heads": 4, "hidden": 8, "edges": true}),
            rich.clone(),
        ),
        library("plain", "gin", json!({"hidden": 64, "layers": 5}), data(amazon)),
        library(
            "plain",
            "sage",
            json!({"hidden": 64, "drop": 0.0}),
            data((100_000, 700_000, 96, 11)),
        ),
        library("wide", "gcn", json!({"hidden": 256}), data(amazon)),
        library(
            "long",
            "gin",
            json!({"hidden": 128, "layers": 2}),
            data((100_000, 700_000, 1_100, 3)),
        ),
        library(
            "bits",
            "gcn",
            json!({"hidden": 16}),
            Data { target: Some(Wanted { columns: 121, loss: Loss::Binary }), ..data(GRAPHS[3].1) },
        ),
        library("plain", "gat", json!({"heads": 8, "hidden": 8}), data(GRAPHS[5].1)),
        library("classes", "gcn", json!({"hidden": 16}), data((100_000, 700_000, 96, 3_000))),
        library("value", "gcn", json!({"hidden": 16}), data((56_944, 818_716, 50, 1))),
    ];
    for (label, width) in [("66", 66), ("128", 128), ("256", 256)] {
        for (entry, file) in [("sums", "near_programs/sums.py"), ("own", "near_programs/own.py")] {
            let data = Data { weighted: true, ..data((500_000, 1_500_000, 7, 3)) };
            cases.push(Case {
                label: format!("{entry} {label}"),
                text: program(file),
                entry,
                settings: json!({"width": width}),
                data,
                in_groups: false,
            });
        }
    }
    for entry in ["largest", "product", "folded", "turned", "tables"] {
        let text = program(&format!("alone_programs/{entry}.py"));
        cases.push(Case {
            label: format!("{entry} alone"),
            text,
            entry,
            settings: json!({}),
            data: rich.clone(),
            in_groups: false,
        });
    }
    for name in ["gcn", "gin"] {
        cases.push(Case {
            in_groups: true,
            ..library("groups", name, settings(name), data(amazon))
        });
    }
    cases
}

fn cases() -> Vec<Case> {
    let of_library = MODELS.iter().flat_map(|entry| {
        GRAPHS.iter().map(move |(graph, counts)| Case {
            label: format!("{entry} {graph}"),
            text: text(entry),
            entry,
            settings: settings(entry),
            data: data(*counts),
            in_groups: false,
        })
    });
    of_library.chain(others()).chain([triangles()]).collect()
}

/// Launches that only programs have which learn nothing.
fn triangles() -> Case {
    Case {
        label: "triangles plain".to_owned(),
        text: text("triangles"),
        entry: "triangles",
        settings: json!({}),
        data: Data { lanes: true, ..Data::bare(410_236, 4_878_875) },
        in_groups: false,
    }
}

/// A number type, a capability and an order of rows.
#[derive(Clone, Copy, Debug)]
struct Combination {
    order: (&'static str, Order),
    reals: (&'static str, u64, Matmul),
    device: (&'static str, u32, u32, bool),
}

/// Multiprocessors and shared memory of a block of an A100, an H200 and a B200, and whether
/// warpgroups multiply.
const DEVICES: [(&str, u32, u32, bool); 3] =
    [("8.0", 108, 166_912, false), ("9.0", 132, 232_448, true), ("10.0", 148, 232_448, false)];
const REALS: [(&str, u64, Matmul); 3] =
    [("f32", 4, Matmul::F32), ("f64", 8, Matmul::F32), ("tf32", 4, Matmul::Tf32)];
const ORDERS: [(&str, Order); 2] = [("near", Order::Local), ("far", Order::Spread)];

impl Combination {
    fn all() -> Vec<Combination> {
        let of_order = |order| {
            REALS
                .into_iter()
                .flat_map(move |reals| DEVICES.map(|device| Combination { order, reals, device }))
        };
        ORDERS.into_iter().flat_map(of_order).collect()
    }

    fn words(&self) -> String {
        format!("{} {} {}", self.order.0, self.reals.0, self.device.0)
    }

    fn target(&self) -> GpuTarget {
        let (_, bytes_per_real, matmul) = self.reals;
        let (_, processors, shared_bytes, warpgroups) = self.device;
        GpuTarget {
            bytes_per_real,
            processors,
            shared_bytes,
            matmul,
            order: self.order.1,
            warpgroups,
        }
    }
}

impl Case {
    fn list(&self, bytes_per_real: u64) -> LaunchList {
        let settings = self.settings.as_object().unwrap().clone().into_iter().collect();
        let data = Data { bytes_per_real, ..self.data.clone() };
        let made = compile(&self.text, self.entry, &settings, &data).unwrap_or_else(|wrong| {
            let pages: Vec<String> =
                wrong.iter().map(|diagnostic| diagnostic.render(self.entry, &self.text)).collect();
            panic!("{}: {}", self.label, pages.join("\n"))
        });
        made.list
    }

    fn emitted(&self, list: &LaunchList, target: GpuTarget) -> Emitted {
        let groups = Groups { neighbours: 16, lanes: 8, threads: 256 };
        let groups =
            if self.in_groups { vec![Some(groups); list.launches().len()] } else { Vec::new() };
        emit_in_groups(list, target, &groups)
            .unwrap_or_else(|refused| panic!("{}: {refused}", self.label))
    }
}

/// Names that stay: those of C++ and CUDA. All others are ours, and are numbered.
const KEPT: &str = include_str!("source_digests/kept_names.txt");

/// The source without comments and the launches, with our names numbered as they come.
fn numbered(emitted: &Emitted) -> String {
    let DevicePlan {
        launches,
        scratch_bytes,
        scratch_aside_bytes,
        aside,
        clockwork,
        watch,
        unmade,
        writes,
        ..
    } = &emitted.plan;
    let mut numbering = Numbering {
        kept: KEPT.split_whitespace().collect(),
        numbers: HashMap::new(),
        out: String::with_capacity(emitted.source.len()),
    };
    // What stands in quotes in a source is PTX, and in launches the names of buffers.
    for (place, piece) in without_comments(&emitted.source).split('"').enumerate() {
        if place % 2 == 1 { numbering.out.push_str(piece) } else { numbering.add(piece) }
    }
    numbering.add(&format!(
        "{launches:?} {scratch_bytes} {scratch_aside_bytes} {aside:?} {clockwork:?} {watch:?} \
         {unmade:?}"
    ));
    for kernel in launches.iter().flatten() {
        numbering.add(&format!("{:?}", writes.get(&kernel.name)));
    }
    numbering.out
}

/// Text in which names of ours are numbers.
struct Numbering<'a> {
    kept: BTreeSet<&'a str>,
    numbers: HashMap<String, usize>,
    out: String,
}

impl Numbering<'_> {
    fn add(&mut self, mut rest: &str) {
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|letter: char| !is_of_name(letter)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(if end == 0 { first.len_utf8() } else { end });
            rest = behind;
            if end == 0 || first.is_ascii_digit() || self.kept.contains(word) {
                self.out.push_str(word);
                continue;
            }
            let next = self.numbers.len();
            let number = *self.numbers.entry(word.to_owned()).or_insert(next);
            self.out.push_str(&format!("@{number}"));
        }
    }
}

/// Without comments, and without spaces at the ends of lines and empty lines.
fn without_comments(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    for line in source.lines() {
        let code = line.split("//").next().unwrap_or_default().trim();
        if !code.is_empty() {
            text.push_str(code);
            text.push('\n');
        }
    }
    text
}

/// FNV-1a, twice with other starts: no adversary writes these sources.
fn digest(text: &str) -> String {
    let hash = |start: u64| {
        text.bytes()
            .fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    };
    format!("{:08x}{:08x}", hash(0xcbf2_9ce4_8422_2325) >> 32, hash(0x9ae1_6a3b_2f90_404f) >> 32)
}

/// A folder for the sources as they are and as they are digested, for whoever looks for what
/// differs.
const SOURCES_GO_TO: &str = "WARPLOOM_SOURCES";

/// What was emitted for a case in a combination.
struct Line {
    name: String,
    digest: String,
    schedules: BTreeSet<ScheduleKind>,
}

/// Emits the cases in the combinations that are asked for, in their order, on all cores.
fn lines(cases: &[Case], is_wanted: impl Fn(usize, usize) -> bool + Sync) -> Vec<Line> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Relaxed);
            let Some(case) = cases.get(number) else { return };
            let mut lists: BTreeMap<u64, LaunchList> = BTreeMap::new();
            for (place, combination) in
                Combination::all().iter().enumerate().filter(|(place, _)| is_wanted(number, *place))
            {
                let bytes = combination.reals.1;
                let list = lists.entry(bytes).or_insert_with(|| case.list(bytes));
                let emitted = case.emitted(list, combination.target());
                let name = format!("{} {}", case.label, combination.words());
                let schedules = emitted.schedules.iter().flatten().copied().collect();
                let text = numbered(&emitted);
                if let Some(folder) = std::env::var_os(SOURCES_GO_TO) {
                    let file = PathBuf::from(folder).join(name.replace(' ', "_"));
                    std::fs::write(file.with_added_extension("cu"), &emitted.source).unwrap();
                    std::fs::write(file, &text).unwrap();
                }
                found
                    .lock()
                    .unwrap()
                    .push(((number, place), Line { name, digest: digest(&text), schedules }));
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get().min(8));
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, line)| line).collect()
}

/// The first line of the page, before the number.
const VERSION_LINE: &str = "# Of version ";

/// Refuses other kernels of the same version: plans of before would stay hits, with theirs.
fn assert_raised(known: &str, found: &[Line]) {
    let version = known.lines().find_map(|line| line.strip_prefix(VERSION_LINE));
    let digests = digests(known);
    let differs =
        |line: &&Line| digests.get(line.name.as_str()).is_some_and(|digest| *digest != line.digest);
    let other = found.iter().find(differs).map_or("none", |line| line.name.as_str());
    assert!(
        other == "none" || version != Some(VERSION.to_string().as_str()),
        "`{other}` and perhaps more have other kernels: raise `VERSION` in \
         kernels/compiler/src/lib.rs"
    );
}

fn digests(page: &str) -> HashMap<&str, &str> {
    page.lines().filter_map(|line| line.rsplit_once(' ')).collect()
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/source_digests/digests.txt")
}

/// The page: schedules with how many sources have them and the first of these, then a digest a
/// line.
fn page(lines: &[Line]) -> String {
    let mut page = format!(
        "{VERSION_LINE}{VERSION}\n# Schedules: sources that have them, and the first of these.\n"
    );
    for schedule in ScheduleKind::ALL {
        let with: Vec<&Line> =
            lines.iter().filter(|line| line.schedules.contains(schedule)).collect();
        let first = with.first().map_or("none", |line| line.name.as_str());
        let _infallible = writeln!(page, "{schedule:?} {} {first}", with.len());
    }
    page.push_str("# Sources: program, data set, order of rows, numbers, capability, digest.\n");
    lines.iter().for_each(|line| page.push_str(&format!("{} {}\n", line.name, line.digest)));
    page
}

#[test]
fn what_is_emitted_is_what_was_emitted() {
    let cases = cases();
    let is_long = skips::is_long() || is_update();
    let begun = std::time::Instant::now();
    let found = lines(&cases, |case, combination| is_long || (case + combination) % SAMPLE == 0);
    println!("{} sources in {:.1} s", found.len(), begun.elapsed().as_secs_f64());
    if is_update() {
        assert_raised(&std::fs::read_to_string(file()).unwrap(), &found);
        std::fs::write(file(), page(&found)).unwrap();
    }
    let known = std::fs::read_to_string(file()).unwrap();
    let digests = digests(&known);
    let differ: Vec<&str> = found
        .iter()
        .filter(|line| digests.get(line.name.as_str()) != Some(&line.digest.as_str()))
        .map(|line| line.name.as_str())
        .collect();
    assert!(
        differ.is_empty(),
        "{} sources of {} are others than in {}: {}",
        differ.len(),
        found.len(),
        file().display(),
        differ.join("; ")
    );
    if is_long {
        assert!(
            known == page(&found),
            "{} is not what is emitted:  UPDATE=1 cargo test -p warploom-cuda --test all \
             source_digests",
            file().display()
        );
    }
}

#[test]
fn each_schedule_is_emitted_for_some_program() {
    let known = std::fs::read_to_string(file()).unwrap();
    let covered = |schedule: &ScheduleKind| {
        let name = format!("{schedule:?} ");
        known
            .lines()
            .find_map(|line| line.strip_prefix(&name))
            .is_some_and(|rest| !rest.starts_with("0 "))
    };
    let missing: Vec<&ScheduleKind> =
        ScheduleKind::ALL.iter().filter(|schedule| !covered(schedule)).collect();
    assert!(missing.is_empty(), "no case of source_digests is emitted by {missing:?}");
}

#[test]
fn words_may_change_and_code_may_not() {
    let kept = |source: &str| {
        numbered(&Emitted { source: source.to_owned(), plan: DevicePlan::default() })
    };
    let one = kept("// a comment\nfloat sum = first + second; // another\n");
    assert_eq!(one, kept("float total = left + right;\n\n"));
    assert_ne!(one, kept("float sum = first + first;\n"));
    assert_ne!(one, kept("double sum = first + second;\n"));
    assert_ne!(one, kept("float sum = first - second;\n"));
    assert_ne!(digest("a"), digest("b"));
}
