//! Proves what no compiler does: headers, sizes of functions, names, paths that documents name,
//! forgotten files, dependencies that nobody uses, and words that must not stand anywhere.
//!
//! A rule enters with the list of those that break it today (`long_functions.txt`), and the list
//! may only shrink.
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};
use warploom_test_support::golden_text::is_update;

use warploom_test_support::repository;

/// The longest function, in lines and in bytes without indents.
const LINES_MOST: usize = 70;
const BYTES_MOST: usize = 2400;
/// The longest line.
const COLUMNS_MOST: usize = 100;
/// Folders that are not ours to judge, or not in git.
const LEFT_OUT: [&str; 4] = ["target", ".git", "data/raw", "data/store"];
/// Where `unsafe` may stand.
const UNSAFE_ALLOWED: [&str; 14] = [
    "kernels/device/examples/self_check.rs",
    "kernels/device/src/gpu/context.rs",
    "kernels/device/src/gpu/driver.rs",
    "kernels/device/src/gpu/graph.rs",
    "kernels/device/src/gpu/kernel.rs",
    "kernels/device/src/gpu/readback.rs",
    "kernels/device/src/gpu/memory.rs",
    "kernels/device/src/gpu/pinned_memory.rs",
    "kernels/device/src/gpu/transfer.rs",
    "kernels/device/src/nvml.rs",
    "kernels/device/src/nvrtc.rs",
    "kernels/cpu/src/product/gemm.rs",
    "stages/contract/src/mapped_file.rs",
    "stages/shell/src/allocation.rs",
];
/// What a file may not be called.
const NAMELESS: [&str; 6] = ["utils", "util", "common", "helpers", "helper", "misc"];
/// Prepositions, adverbs, pronouns and participles that say nothing by themselves.
const NO_NOUNS: &str = "about above across after again against ahead all alone along also among \
    another any apart around aside away back before behind below beside besides between beyond both \
    by chosen done down drawn during each else elsewhere ever every everywhere far few found from \
    given here hidden how in inside into it its kept known least left less lost made many meant more \
    most much near never next no none not now of off often on once one only other others out outside \
    over own per read said same seen sent several shared shown since so some soon still such taken \
    that then there these they this those through thus to together told too toward under unmade until \
    up upon very what when where which who whole whose why with within without written yet";
/// What ends like a participle and is a noun, or the name of a thing that users type.
const NOUNS_IN_ED: [&str; 4] = ["seed", "speed", "embed", "interleaved"];
/// What runs on any device and names none, below `stages/run/src`: training, its metrics,
/// iteration, checkpoints, and what they share.
const DEVICE_NEUTRAL: [&str; 10] = [
    "buffers",
    "checkpoints",
    "host_state",
    "inputs",
    "iteration",
    "nonfinite_trace",
    "parameters",
    "record",
    "results",
    "training",
];
/// The words by which a source names a device, an emitter or an executor.
const DEVICES: [&str; 6] = ["cpu", "cuda", "gpu", "CpuBackend", "CudaBackend", "warploom_device"];
/// The crates of `kernels/`, and of our crates all that each may depend on, outside tests. Each
/// depends on those above it alone.
const KERNELS: [(&str, &[&str]); 9] = [
    ("tuning", &[]),
    ("ir", &[]),
    ("language", &["ir"]),
    ("optimize", &["ir", "tuning"]),
    ("launch", &["ir", "tuning"]),
    ("compiler", &["ir", "language", "launch", "optimize"]),
    ("cpu", &["ir", "launch"]),
    ("cuda", &["ir", "launch", "tuning"]),
    ("device", &[]),
];
/// The documents whose paths are looked up, besides the READMEs of `KERNELS`.
const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Every file of the repository by its path from the root.
fn files() -> Vec<String> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if LEFT_OUT.contains(&name.as_str()) || name.ends_with("__pycache__") {
                continue;
            }
            match path.is_dir() {
                true => walk(root, &path, found),
                false => found.push(name),
            }
        }
    }
    let mut found = Vec::new();
    walk(&repository(), &repository(), &mut found);
    found.sort();
    found
}

/// The Rust sources, by their path from the root.
pub(crate) fn rust() -> Vec<(String, String)> {
    let sources = files().into_iter().filter(|name| name.ends_with(".rs"));
    sources
        .map(|name| (name.clone(), fs::read_to_string(repository().join(name)).unwrap()))
        .collect()
}

/// A line without its comment. A string that holds `//` is cut too, which no rule here minds.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

#[track_caller]
pub(crate) fn none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn every_source_opens_with_what_it_is() {
    let sources = rust();
    assert!(sources.len() > 100, "only {} sources were found", sources.len());
    none(
        "sources that do not open with `//!`",
        sources
            .iter()
            .filter(|(_, text)| !text.starts_with("//! "))
            .map(|(name, _)| name.clone())
            .collect(),
    );
}

/// A function of a formatted source.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    lines: usize,
    bytes: usize,
}

fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let ends = |line: &&&str| {
            line.starts_with(indent) && line[indent.len()..].starts_with('}')
                || line
                    .strip_prefix(indent)
                    .is_some_and(|rest| rest.starts_with(')') && rest.ends_with(';'))
        };
        let one_line = line.ends_with('}') || line.ends_with(';');
        let end = lines[first + 1..].iter().position(|line| ends(&line));
        let count = if one_line { 1 } else { end.map_or(1, |at| at + 2) };
        let bytes =
            lines[first..first + count].iter().map(|line| line.trim_start().len() + 1).sum();
        found.push(Function { name, lines: count, bytes });
    }
    found
}

/// The name, if a function begins in this line.
fn function_name(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "fn")?;
    let qualifier = |word: &&str| {
        ["pub", "const", "async", "unsafe", "extern", "default"].contains(word)
            || word.starts_with("pub(")
            || word.starts_with("r#")
            || *word == "\"C\""
            || *word == "super)"
            || *word == "crate)"
    };
    words[..at].iter().all(qualifier).then(|| {
        words.get(at + 1).map(|name| name.split(['(', '<']).next().unwrap_or(name).to_owned())
    })?
}

/// The list of those that break a rule: a name, and how often.
pub(crate) fn sinners(file: &str) -> BTreeMap<String, usize> {
    let text = fs::read_to_string(repository().join("tests/tests").join(file)).unwrap();
    let of_line = |line: &str| {
        let (name, count) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), count.parse().unwrap())
    };
    text.lines().filter(|line| !line.starts_with('#')).map(of_line).collect()
}

/// Compares what breaks a rule with the list of what may; with `UPDATE=1` the list shrinks.
#[track_caller]
pub(crate) fn ratchet(file: &str, found: &BTreeMap<String, usize>) {
    let allowed = sinners(file);
    let more = |(name, count): (&String, &usize)| {
        let may = allowed.get(name).copied().unwrap_or(0);
        (*count > may).then(|| format!("{name}: {count}, and {may} may be"))
    };
    none(&format!("more than tests/tests/{file} allows"), found.iter().filter_map(more).collect());
    if is_update() {
        let path = repository().join("tests/tests").join(file);
        let text = fs::read_to_string(&path).unwrap();
        let head =
            text.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n"));
        let rows = found.iter().map(|(name, count)| format!("{name} {count}\n"));
        fs::write(path, head.chain(rows).collect::<String>()).unwrap();
        return;
    }
    let fewer = allowed.iter().filter(|(name, may)| found.get(*name).unwrap_or(&0) < may);
    let fewer =
        fewer.map(|(name, may)| format!("{name}: {} of {may}", found.get(name).unwrap_or(&0)));
    let what = format!("fewer than tests/tests/{file} says: UPDATE=1 lowers it");
    none(&what, fewer.collect());
}

#[test]
fn functions_fit_a_screen() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (path, text) in rust() {
        let is_long = |of: &Function| of.lines > LINES_MOST || of.bytes > BYTES_MOST;
        for function in functions(&text).into_iter().filter(is_long) {
            let largest = found.entry(format!("{path} {}", function.name)).or_default();
            *largest = function.bytes.max(*largest);
        }
    }
    ratchet("long_functions.txt", &found);
}

#[test]
fn lines_fit_a_screen() {
    let mut found = BTreeMap::new();
    for (path, text) in rust() {
        let count = text.lines().filter(|line| line.chars().count() > COLUMNS_MOST).count();
        found.extend((count > 0).then_some((path, count)));
    }
    ratchet("long_lines.txt", &found);
}

/// A text up to its tests, without comments at the end of its lines.
fn production(text: &str) -> String {
    let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    own.lines().flat_map(|line| [code(line), "\n"]).collect()
}

/// What stands between the first bracket of a text and that which closes it, and what follows.
fn bracketed(text: &str, [open, close]: [char; 2]) -> Option<(&str, &str)> {
    let inner = text.strip_prefix(open)?;
    let (mut depth, mut before) = (1, open);
    for (at, c) in inner.char_indices() {
        let is_arrow = c == '>' && "-=".contains(before);
        depth += i32::from(c == open) - i32::from(c == close && !is_arrow);
        if depth == 0 {
            return Some((&inner[..at], &inner[at + c.len_utf8()..]));
        }
        before = c;
    }
    None
}

/// A list cut at the commas that no bracket holds.
fn cut_at_commas(list: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut before) = (0, 0, ' ');
    let mut parts = Vec::new();
    for (at, c) in list.char_indices() {
        let is_arrow = c == '>' && "-=".contains(before);
        depth += i32::from("([{<".contains(c)) - i32::from(")]}>".contains(c) && !is_arrow);
        if c == ',' && depth == 0 {
            parts.push(&list[begin..at]);
            begin = at + 1;
        }
        before = c;
    }
    parts.push(&list[begin..]);
    parts
}

/// A pattern or a type without what borrows it.
fn borrowed(text: &str) -> &str {
    let text = text.trim_start();
    let Some(rest) = text.strip_prefix('&').map(str::trim_start) else {
        return text.strip_prefix("mut ").map_or(text, borrowed);
    };
    let life = rest.strip_prefix('\'').and_then(|rest| rest.split_once(' '));
    borrowed(life.map_or(rest, |(_, rest)| rest))
}

/// Whether a parameter is a tuple, by its pattern or by its type.
fn is_tuple(parameter: &str) -> bool {
    // A type's path has two colons, and a pattern that names a field has braces.
    let is_type = |at: &usize| {
        let (before, after) = (&parameter[..*at], &parameter[at + 1..]);
        !before.ends_with(':')
            && !after.starts_with(':')
            && before.matches('{').count() == before.matches('}').count()
    };
    let colon = parameter.match_indices(':').map(|(at, _)| at).find(is_type);
    // Brackets around one thing, such as `&mut (impl A + B)`, make no tuple.
    let begins_with_tuple = |text: &str| {
        let inner = bracketed(borrowed(text), ['(', ')']);
        inner.is_some_and(|(inner, _)| cut_at_commas(inner).len() > 1)
    };
    begins_with_tuple(parameter) || colon.is_some_and(|at| begins_with_tuple(&parameter[at + 1..]))
}

/// Functions of a source that have a tuple among their parameters.
fn with_tuple_parameters(text: &str) -> Vec<String> {
    let text = production(text);
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let rest = &text[start..];
        start += line.len();
        let Some(name) = function_name(line) else { continue };
        let Some((_, rest)) = rest.split_once(&format!("fn {name}")) else { continue };
        let rest = bracketed(rest, ['<', '>']).map_or(rest, |(_, rest)| rest);
        let Some((parameters, _)) = bracketed(rest, ['(', ')']) else { continue };
        if cut_at_commas(parameters).into_iter().any(is_tuple) {
            found.push(name);
        }
    }
    found
}

/// A list of parameters hides how many there are where some are tuples: each of those is a struct
/// without a name.
#[test]
fn parameters_are_no_tuples() {
    let is_test = |path: &str| {
        ["/tests/", "/tests.rs", "/benches/", "/examples/"].iter().any(|part| path.contains(part))
            || path.starts_with("tests/")
    };
    let mut found = BTreeMap::new();
    for (path, text) in rust().into_iter().filter(|(path, _)| !is_test(path)) {
        let count = with_tuple_parameters(&text).len();
        found.extend((count > 0).then_some((path, count)));
    }
    println!("{} functions have a tuple among their parameters", found.values().sum::<usize>());
    ratchet("tuple_parameters.txt", &found);
}

#[test]
fn tuple_parameters_are_counted() {
    let text = "fn pattern((a, b): (u8, u8)) {}\n\
        pub(crate) fn pair<T: Fn(u8) -> u8>(&self, a: &'a mut (T, u8)) {}\n\
        fn alias(&(a, b): &Pair) {}\nfn wide(\n    mut a: T,\n    (b, c): Pair, // two\n) {}\n\
        fn none(a: impl Fn((u8, u8)) -> u8, b: &mut (impl A + B), Row { c: (d, _), e }: x::Row) {\n    \
        let f = |(a, b): (u8, u8)| a;\n}\n\
        #[cfg(test)]\nmod tests {\n    fn left_out(a: (u8, u8)) {}\n}\n";
    assert_eq!(with_tuple_parameters(text), ["pattern", "pair", "alias", "wide"]);
}

#[test]
fn lengths_of_functions_are_counted() {
    let body = "    let x = 1;\n".repeat(69);
    let text = format!(
        "pub(crate) fn long<T>(\n    a: T,\n) -> u8\nwhere\n    T: Copy,\n{{\n{body}}}\n\n\
         fn short() {{}}\n\ntrait A {{\n    fn b(\n        &self,\n    );\n}}\n"
    );
    let of = |name: &str, lines, bytes| Function { name: name.to_owned(), lines, bytes };
    assert_eq!(functions(&text), [of("long", 76, 815), of("short", 1, 14), of("b", 3, 16)]);
}

#[test]
fn no_file_is_nameless() {
    let is_nameless = |name: &String| {
        Path::new(name).components().any(|part| {
            NAMELESS.contains(&part.as_os_str().to_str().unwrap().split('.').next().unwrap())
        })
    };
    none("name the idea", files().into_iter().filter(is_nameless).collect());
}

/// Whether a file of source is called by a lone word that nobody would search for.
fn is_no_noun(name: &str) -> bool {
    let path = Path::new(name);
    let is_source =
        path.extension().is_some_and(|end| ["rs", "cu", "cuh"].iter().any(|e| end == *e));
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let is_participle = stem.ends_with("ed") && !stem.contains('_') && !NOUNS_IN_ED.contains(&stem);
    is_source && (is_participle || NO_NOUNS.split_whitespace().any(|word| word == stem))
}

#[test]
fn sources_are_called_by_nouns() {
    let found = files().into_iter().filter(|name| is_no_noun(name)).collect();
    none("a noun that a stranger would search for", found);
    assert!(is_no_noun("a/along.rs") && is_no_noun("b/fused.rs") && !is_no_noun("c/heavy_rows.rs"));
}

#[test]
fn no_source_is_forgotten() {
    let sources = rust();
    let mut forgotten = Vec::new();
    for (name, _) in
        sources.iter().filter(|(name, _)| name.contains("/src/") && !name.starts_with("tests/"))
    {
        let path = Path::new(name);
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let module = if stem == "mod" {
            path.parent().unwrap().file_name().unwrap().to_str().unwrap()
        } else {
            stem
        };
        let root = &name[..name.find("/src/").unwrap()];
        let declared = sources.iter().any(|(other, text)| {
            other.starts_with(root)
                && text
                    .lines()
                    .any(|line| code(line).trim_end().ends_with(&format!("mod {module};")))
        });
        if !declared && stem != "lib" && stem != "main" && !name.contains("/src/bin/") {
            forgotten.push(name.clone());
        }
    }
    none("no `mod` names them", forgotten);
}

/// Where cargo looks for no tests by itself, a file that no `mod` names would never be compiled.
#[test]
fn no_test_is_forgotten() {
    let sources = rust();
    let mut forgotten = Vec::new();
    for folder in manifests()
        .into_iter()
        .filter(|(_, manifest)| manifest.contains("autotests = false"))
        .map(|(folder, _)| folder.join("tests"))
    {
        let of_folder: Vec<&(String, String)> =
            sources.iter().filter(|(name, _)| Path::new(name).starts_with(&folder)).collect();
        assert!(!of_folder.is_empty(), "no tests in {}", folder.display());
        for (name, _) in &of_folder {
            let path = Path::new(name);
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let module = if ["mod", "main"].contains(&stem) {
                path.parent().unwrap().file_name().unwrap().to_str().unwrap()
            } else {
                stem
            };
            let is_declared = of_folder.iter().any(|(_, text)| {
                text.lines().any(|line| code(line).trim_end().ends_with(&format!("mod {module};")))
            });
            if !is_declared && path != folder.join("main.rs") {
                forgotten.push(name.clone());
            }
        }
    }
    none("no `mod` names them", forgotten);
}

/// What stands in backticks, in fences and in indented blocks of a document, cut into words.
fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let quoted: String = match fenced || line.starts_with("    ") {
            true => line.split(" #").next().unwrap_or("").to_owned(),
            false => line.split('`').skip(1).step_by(2).collect::<Vec<_>>().join(" "),
        };
        let split = quoted.split(|c: char| c.is_whitespace() || ",;()[]\"'=".contains(c));
        found.extend(
            split
                .map(|word| word.trim_end_matches(['.', ':']).to_owned())
                .filter(|word| !word.is_empty()),
        );
    }
    found
}

/// Whether a word that looks like a path of the repository is one; `None` if it does not look like
/// one.
fn is_there(word: &str, all: &[String]) -> Option<bool> {
    let odd = word.contains(['<', '>', '$', '{', '@', '|'])
        || word.contains("://")
        || word.starts_with('/')
        || word.starts_with('-');
    if odd || LEFT_OUT.iter().any(|left| word.starts_with(left)) || word.contains("...") {
        return None;
    }
    let first = word.split('/').next().unwrap_or(word);
    let stem = Path::new(word).file_stem()?.to_str()?;
    let extension =
        Path::new(word).extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let top = word.contains('/') && all.iter().any(|name| name.split('/').next() == Some(first));
    let source = ["rs", "py", "sh", "yaml", "md", "toml"].contains(&extension)
        && stem.chars().any(char::is_lowercase)
        || extension == "md";
    if !top && !source {
        return None;
    }
    let plain = word.trim_end_matches('/');
    if let Some((before, after)) = plain.split_once('*') {
        return Some(all.iter().any(|name| name.starts_with(before) && name.ends_with(after)));
    }
    let below = |name: &String| {
        name == plain
            || name.starts_with(&format!("{plain}/"))
            || name.ends_with(&format!("/{plain}"))
    };
    Some(all.iter().any(below))
}

#[test]
fn every_path_that_documents_name_is_there() {
    let all = files();
    let mut missing = Vec::new();
    let mut looked_at = 0;
    let of_kernels = KERNELS.map(|(name, _)| format!("kernels/{name}/README.md"));
    for document in DOCUMENTS.into_iter().chain(of_kernels.iter().map(String::as_str)) {
        let text = fs::read_to_string(repository().join(document)).expect(document);
        for word in words(&text) {
            let there = is_there(&word, &all);
            looked_at += usize::from(there.is_some());
            // What no pattern of git keeps is made by a command that the document names.
            if there == Some(false) {
                missing.push(format!("{document}: {word}"));
            }
        }
    }
    none("documents name what is not there", missing);
    assert!(looked_at > 30, "only {looked_at} paths were looked at");
}

#[test]
fn no_source_is_unfinished() {
    let needles = [
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("d", "bg!("),
        concat!("FIX", "ME"),
        concat!("//! ", "stub"),
    ];
    let mut found = Vec::new();
    for (name, text) in rust() {
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| needles.iter().any(|needle| line.contains(needle)));
        found.extend(lines.map(|(line, text)| format!("{name}:{}: {}", line + 1, text.trim())));
    }
    none("unfinished", found);
}

#[test]
fn unsafe_stands_only_where_it_may() {
    let mut found = BTreeSet::new();
    for (name, text) in rust() {
        let dangerous = |line: &str| {
            [
                "unsafe {",
                "unsafe fn",
                "unsafe impl",
                "unsafe extern",
                "unsafe trait",
                "allow(unsafe_code",
            ]
            .iter()
            .any(|needle| line.contains(needle))
        };
        if name != "tests/tests/tidy.rs" && text.lines().any(|line| dangerous(code(line))) {
            found.insert(name);
        }
    }
    assert_eq!(
        found,
        UNSAFE_ALLOWED.map(str::to_owned).into(),
        "expected `unsafe` in exactly these files"
    );
}

#[test]
fn nothing_names_a_place_of_one_machine() {
    let needles = [
        concat!("/wo", "rk/"),
        concat!("/tmp/", "target"),
        concat!("/ro", "ot/"),
        concat!("/ho", "me/"),
    ];
    let mut found = Vec::new();
    for name in files() {
        let Ok(text) = fs::read_to_string(repository().join(&name)) else { continue };
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| needles.iter().any(|needle| line.contains(needle)));
        found.extend(lines.map(|(line, text)| {
            format!("{name}:{}: {}", line + 1, text.chars().take(120).collect::<String>())
        }));
    }
    none("a path of one machine", found);
}

/// Names of the dependencies in a manifest, in all sections whose name ends with `dependencies`.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.trim_end_matches(']').ends_with("dependencies");
        } else if inside && line.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            names.push(line.split(['.', ' ', '=']).next().unwrap_or("").to_owned());
        }
    }
    names
}

/// Whether a word stands in a text as a whole.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

pub(crate) fn manifests() -> Vec<(PathBuf, String)> {
    let all = files().into_iter().filter(|name| name.ends_with("/Cargo.toml"));
    all.map(|name| {
        (
            Path::new(&name).parent().unwrap().to_path_buf(),
            fs::read_to_string(repository().join(name)).unwrap(),
        )
    })
    .collect()
}

#[test]
fn every_dependency_is_used() {
    let sources = rust();
    let mut unused = Vec::new();
    for (folder, manifest) in manifests() {
        let own: String = sources
            .iter()
            .filter(|(name, _)| Path::new(name).starts_with(&folder))
            .flat_map(|(_, text)| text.lines().flat_map(|line| [code(line), "\n"]))
            .collect();
        let names = dependencies(&manifest);
        unused.extend(
            names
                .into_iter()
                .filter(|name| !has_word(&own, &name.replace('-', "_")))
                .map(|name| format!("{}: {name}", folder.display())),
        );
    }
    let workspace = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let taken: BTreeSet<String> =
        manifests().iter().flat_map(|(_, manifest)| dependencies(manifest)).collect();
    unused.extend(
        dependencies(&workspace)
            .into_iter()
            .filter(|name| !taken.contains(name))
            .map(|name| format!("Cargo.toml: {name}")),
    );
    none("dependencies that nobody uses", unused);
}

#[test]
fn stages_do_not_depend_on_each_other() {
    let stages = crate::pipeline::STAGES.map(|stage| format!("warploom-{stage}"));
    let mut wrong = Vec::new();
    for (folder, manifest) in manifests() {
        let Some(stage) = stages
            .iter()
            .find(|stage| folder == Path::new(&format!("stages/{}", &stage["warploom-".len()..])))
        else {
            continue;
        };
        let shipped = manifest.split("[dev-dependencies]").next().unwrap_or("");
        wrong.extend(
            dependencies(shipped)
                .into_iter()
                .filter(|name| stages.contains(name))
                .map(|name| format!("{stage} on {name}")),
        );
    }
    none("a stage depends on another", wrong);
}

#[test]
fn kernels_depend_on_each_other_one_way() {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for (folder, manifest) in manifests() {
        let Ok(name) = folder.strip_prefix("kernels") else { continue };
        let name = name.to_str().unwrap();
        let Some((_, allowed)) = KERNELS.iter().find(|(known, _)| *known == name) else {
            wrong.push(format!("kernels/{name} is not in the table"));
            continue;
        };
        seen.insert(name.to_owned());
        let shipped = manifest.split("[dev-dependencies]").next().unwrap_or("");
        let all = dependencies(shipped);
        let ours: Vec<&str> = all.iter().filter_map(|of| of.strip_prefix("warploom-")).collect();
        if ours != *allowed {
            wrong.push(format!(
                "kernels/{name} depends on {ours:?}, and the table says {allowed:?}"
            ));
        }
    }
    for (place, (name, allowed)) in KERNELS.iter().enumerate() {
        let above: Vec<&str> = KERNELS[..place].iter().map(|(name, _)| *name).collect();
        let below = allowed.iter().filter(|of| !above.contains(of));
        wrong.extend(below.map(|of| format!("the table has {of} not above {name}")));
        if !seen.contains(*name) {
            wrong.push(format!("kernels/{name} is in the table and not there"));
        }
    }
    none("dependencies of kernels that the table does not have", wrong);
}

#[test]
fn run_launches_the_kernels_of_its_plan() {
    let emitter = [
        "emit_in_groups",
        "warploom_cuda::emit",
        "cuda::emit(",
        "cuda::decide",
        "GpuTarget",
        "program::emit",
    ];
    let of_run = rust().into_iter().filter(|(path, _)| path.starts_with("stages/run/src/"));
    let found = of_run.flat_map(|(path, text)| {
        let own = production(&text);
        let named: Vec<&str> = emitter.into_iter().filter(|name| own.contains(name)).collect();
        named.into_iter().map(move |name| format!("{path}: {name}")).collect::<Vec<_>>()
    });
    none("`run` emits kernels, which are the plan's", found.collect());
}

/// Rows of the tuning table that `run` may read: of transfers and of what it replays.
const TUNING_OF_RUN: [&str; 5] =
    ["upload_bytes", "upload_rows", "readback_gap_bytes", "epochs_per_graph", "pinned_state_bytes"];
/// What orders rows or their edges, or divides a walk of a GPU: the orders are made by `partition`,
/// the tiers counted by `plan`, which also says how far frontiers go.
const ORDERS_AND_TIERS: [&str; 11] = [
    "TierCounts::choose",
    "WalkedDegrees",
    "WalkOrder",
    "row_order",
    "order_by_degree",
    "warploom_partition",
    "by_degree(",
    "EdgeOrder",
    "AscendingEdges",
    "PART_CHANGED",
    "PART_READERS",
];

#[test]
fn run_has_no_threshold_of_a_schedule() {
    let of_run = rust().into_iter().filter(|(path, _)| path.starts_with("stages/run/src/"));
    let found = of_run.flat_map(|(path, text)| {
        let own = production(&text);
        let read = own.split("tuning::").skip(1).map(|rest| {
            rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .next()
                .unwrap_or("")
        });
        let rows = read.filter(|row| !TUNING_OF_RUN.contains(row) && *row != "tuning");
        let mut named: Vec<String> = rows.map(|row| format!("{path}: tuning::{row}")).collect();
        let deciding = ORDERS_AND_TIERS.into_iter().filter(|name| own.contains(name));
        named.extend(deciding.map(|name| format!("{path}: {name}")));
        named
    });
    none("`run` decides by a threshold, which is the plan's", found.collect());
}

/// The device names in the code of a source of `run` that has to know none.
fn devices_named(name: &str, text: &str) -> Vec<&'static str> {
    let file = name.strip_prefix("stages/run/src/").unwrap_or("");
    let module = file.split(['/', '.']).next().unwrap_or("");
    if !DEVICE_NEUTRAL.contains(&module) {
        return Vec::new();
    }
    let own = production(text);
    DEVICES.into_iter().filter(|word| has_word(&own, word)).collect()
}

#[test]
fn training_knows_a_device_by_its_backend_alone() {
    let sources = rust();
    for module in DEVICE_NEUTRAL {
        let path = format!("stages/run/src/{module}.rs");
        assert!(sources.iter().any(|(name, _)| *name == path), "{path} is not there");
    }
    let named = |(name, text): &(String, String)| {
        let words = devices_named(name, text);
        (!words.is_empty()).then(|| format!("{name}: {}", words.join(", ")))
    };
    none("use `stages/run/src/backend.rs`", sources.iter().filter_map(named).collect());
    let [epochs, launches] = ["training/pipelined_epochs", "cuda/kernel_arguments"]
        .map(|file| format!("stages/run/src/{file}.rs"));
    let text = "use crate::cuda::GpuExecutor; // a gpu";
    assert_eq!(devices_named(&epochs, text), ["cuda"]);
    assert_eq!(devices_named(&epochs, "use crate::backend::Backend; // cuda"), [""; 0]);
    assert_eq!(devices_named(&launches, text), [""; 0]);
}
