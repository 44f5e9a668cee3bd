//! Mutants of programs: whatever a text is, tracing it ends, in bounded time, with a GIR or with
//! messages, and never panics.
//!
//! Tokens and bytes are deleted, doubled, swapped and taken from other programs by a fixed
//! generator, so that each run does the same. `WARPLOOM_TEST_LONG=1` makes fifty times as many.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{env, fs};

use warploom_ir::{Data, Loss, NodeKind, Target, Type};
use warploom_language::syntax::parse;
use warploom_language::trace::trace;

/// Mutants of a run without `WARPLOOM_TEST_LONG`.
const MUTANTS: u64 = 2000;
/// What one text may take, a debug build and a busy machine considered: ten times the slowest seen.
const SECONDS_MOST: u64 = 60;

/// xorshift64* (Marsaglia 2003, Vigna 2016).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound.max(1)
    }
}

fn data(training: bool, features: Option<u64>) -> Data {
    let target = Some(Target { columns: 7, loss: Loss::CrossEntropy });
    let columns = [("age", Type::Real), ("kind", Type::Int), ("label", Type::Int)]
        .map(|(name, kind)| (name.to_owned(), kind));
    Data {
        features,
        relations: vec!["cites".to_owned(), "likes".to_owned()],
        columns: columns.into(),
        target,
        training,
        ..Data::bare(100, 400)
    }
}

/// Kinds of these widths; none: without features.
fn kinds(widths: [Option<u64>; 2]) -> Data {
    let kind = |(name, features): (&str, Option<u64>)| NodeKind {
        name: name.to_owned(),
        nodes: 50,
        features,
        sparse_features: None,
    };
    Data {
        kinds: ["paper", "author"].into_iter().zip(widths).map(kind).collect(),
        ..data(true, None)
    }
}

fn programs() -> Vec<(String, String)> {
    let of = |folder: &str| -> Vec<(String, String)> {
        let entries =
            fs::read_dir(format!("{}/tests/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let files = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "py"));
        files
            .map(|path| {
                (
                    path.file_stem().unwrap().to_str().unwrap().to_owned(),
                    fs::read_to_string(&path).unwrap(),
                )
            })
            .collect()
    };
    let wrong: Vec<(String, String)> =
        of("diagnostics").into_iter().map(|(_, text)| ("program".to_owned(), text)).collect();
    // Right programs are drawn as often as wrong ones, which are many; those that run into a bound
    // take long already.
    let wrong: Vec<(String, String)> =
        wrong.into_iter().filter(|(_, text)| !text.contains("range(1000")).collect();
    let right = of("trace_programs");
    let mut programs: Vec<(String, String)> =
        right.iter().cycle().take(wrong.len()).cloned().chain(wrong.clone()).collect();
    programs.sort();
    programs
}

/// Words, signs and spaces of a text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut kind = 0;
    for letter in text.chars() {
        let now = if letter.is_alphanumeric() || letter == '_' {
            1
        } else if letter == ' ' {
            2
        } else {
            0
        };
        match tokens.last_mut() {
            Some(last) if now != 0 && now == kind => last.push(letter),
            _ => tokens.push(letter.to_string()),
        }
        kind = now;
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Most mutants take a word for a word, which the parser lets pass; the rest break the text itself.
fn mutated(text: &str, words: &[String], draw: &mut Draw) -> String {
    let mut tokens = tokens(text);
    for _ in 0..=draw.below(2) {
        let places: Vec<usize> = (0..tokens.len()).filter(|at| is_word(&tokens[*at])).collect();
        if places.is_empty() {
            break;
        }
        let (any, other) = (draw.below(tokens.len()), draw.below(tokens.len()));
        let (place, second) = (places[draw.below(places.len())], places[draw.below(places.len())]);
        match draw.below(12) {
            0 => {
                tokens.remove(any);
            }
            1 => tokens.insert(other, tokens[any].clone()),
            2 => tokens.swap(any, other),
            3 => tokens.insert(any, words[draw.below(words.len())].clone()),
            4 => return with_bytes(&tokens.concat(), draw),
            5 | 6 => tokens.swap(place, second),
            7 | 8 => tokens[place] = tokens[second].clone(),
            9 => tokens.insert(place, ["-", "not ", "+"][draw.below(3)].to_owned()),
            _ => tokens[place] = words[draw.below(words.len())].clone(),
        }
    }
    tokens.concat()
}

fn with_bytes(text: &str, draw: &mut Draw) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = draw.below(bytes.len());
    match draw.below(3) {
        0 => {
            bytes.remove(at);
        }
        1 => bytes.insert(at, draw.below(256) as u8),
        _ => bytes[at] = draw.below(128) as u8,
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether the text came past the parser.
fn check(name: &str, text: &str, data: &Data) -> bool {
    let started = Instant::now();
    match trace(text, name, &BTreeMap::new(), data) {
        Ok(traced) => {
            let page = traced.gir.print(Some(text));
            assert!(page.contains("return "), "{page}");
            traced
                .warnings
                .iter()
                .for_each(|warning| assert!(warning.render(name, text).contains('^')));
        }
        Err(found) => {
            assert!(!found.is_empty(), "refused without a word:\n{text}");
            found.iter().for_each(|found| assert!(found.render(name, text).contains('^')));
        }
    }
    assert!(
        started.elapsed() < Duration::from_secs(SECONDS_MOST),
        "took {:?}:\n{text}",
        started.elapsed()
    );
    parse(text).is_ok()
}

#[test]
fn mutants_are_traced_or_refused() {
    let programs = programs();
    let mut words: Vec<String> = programs.iter().flat_map(|(_, text)| tokens(text)).collect();
    words.extend(
        [
            "99999",
            "-1",
            "0",
            "range",
            "while",
            "True",
            "lambda",
            "'''",
            "\n",
            "\n    ",
            "\u{e4}",
            "1e400",
            "v.x",
            "v.nbs",
            "range(3)",
            "v.id",
            "bias()",
            "e.src",
            "u",
            "batch_norm(v.x)",
            "[e.w for e in v.inedges]",
            "2 ** 62",
            "...",
            "**",
            "@",
        ]
        .map(str::to_owned),
    );
    words.sort();
    words.dedup();
    let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
    words.retain(|word| word.len() > 1 || is_word(word) || "+-*/@<>%=".contains(word.as_str()));
    let count = if warploom_test_support::skips::is_long() { 50 * MUTANTS } else { MUTANTS };
    let sets = [
        data(false, Some(12)),
        data(true, Some(12)),
        data(false, None),
        data(true, None),
        kinds([Some(12), None]),
        kinds([Some(12); 2]),
    ];
    let mut parsed = 0;
    for step in 0..count {
        let (name, text) = &programs[draw.below(programs.len())];
        let mutant = mutated(text, &words, &mut draw);
        let outcome =
            std::panic::catch_unwind(|| check(name, &mutant, &sets[step as usize % sets.len()]));
        assert!(outcome.is_ok(), "mutant {step} of {name} panicked:\n{mutant}");
        parsed += u64::from(outcome.unwrap_or(false));
    }
    assert!(
        parsed * 3 > count,
        "only {parsed} of {count} mutants came past the parser, so little was tried"
    );
}

/// Texts that are nested as deeply, or are as long, as texts can be.
#[test]
fn nesting_is_bounded() {
    let long = |part: &str, count: usize| part.repeat(count);
    let calls: String = (0..2000)
        .map(|index| format!("def f{index}(v):\n    return f{}(v)\n", index + 1))
        .collect();
    let texts = [
        format!("def f(v):\n    return {}1{}\n", long("(", 90), long(")", 90)),
        format!("def f(v):\n    return {}1{}\n", long("(", 100_000), long(")", 100_000)),
        format!("def f(v):\n    return {}v.degree{}\n", long("abs(", 90), long(")", 90)),
        format!("def f(v):\n    return {}1\n", long("-", 1900)),
        format!("def f(v):\n    return {}1\n", long("not ", 100_000)),
        format!("def f(v):\n    return 1{}\n", long(" + 1", 95)),
        format!("def f(v):\n    return 1{}\n", long(" + 1", 900)),
        format!("def f(v):\n    return v{}\n", long(".a", 900)),
        format!("def f(v):\n    return v{}\n", long("[0]", 600)),
        format!("def f(v):\n    return {}1\n", long("1 if v.degree > 0 else ", 90)),
        format!("def f(v):\n    return {}1\n", long("lambda: ", 900)),
        format!("def f(v):\n{}    return 1\n", (1..200).map(|level| format!("{}if True:\n", " ".repeat(4 * level))).collect::<String>()),
        format!("def f(v):\n{}{}return v.degree\n", (1..90).map(|level| format!("{}if True:\n", " ".repeat(level))).collect::<String>(), " ".repeat(90)),
        format!("def f(v):\n    x = 1\n{}    return x\n", long("    x = (x, x)\n", 1000)),
        "def f(v):\n    x = 1\n    for k in range(100000):\n        x = (x,)\n    return v.degree\n".to_owned(),
        "def f(v):\n    v.h = v.x\n    for k in range(1000):\n        v.h = v.h + v.h\n    return \
            linear(v.h, 3)\n".to_owned(),
        "def f(v):\n    x = 1\n    for k in range(100000):\n        x = x + 1\n    for k in \
            range(100000):\n        x = x + 1\n    return v.degree\n"
            .to_owned(),
        "def f(v):\n    x = v.degree\n    for k in range(100000):\n        x = x * 2.5 + k\n    \
            return x\n".to_owned(),
        calls.replace("f2000", "f0") + "def f(v):\n    return f0(v)\n",
        "def f(v):\n    l = [e.w for e in v.inedges]\n    for k in range(1000):\n        l = [(a, \
            b) for a, b in zip(l, l)]\n    return sum(l)\n".to_owned(),
        "def f(v):\n    return param((1000000, 1000000, 1000000))\n".to_owned(),
        "def f(v):\n    x = reshape(param((1000000, 1)), (1000000, 1)) + reshape(param((1, \
            1000000)), (1, 1000000))\n    return x * reshape(x, (1, 1, -1))\n"
            .to_owned(),
        "def f(v):\n    return 2 ** 62 * 3 + -9223372036854775807 // -1\n".to_owned(),
        "x".repeat(2 << 20),
        "\"".repeat(100_001),
        "\u{feff}def f(v):\n\treturn v.degree\n".to_owned(),
    ];
    for text in texts {
        for features in [Some(12), None] {
            check("f", &text, &data(false, features));
        }
    }
}
