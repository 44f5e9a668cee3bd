//! language_examples: every example of docs/language.md, compiled and run; what it prints is what
//! the page says.
//!
//! promises  each ```python block is followed by a ```text block, which is its result; `UPDATE=1`
//!           writes the results anew
//! never     has a result that nobody ran

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::Value;
use warploom_ir::interpret::{ElementRows, Interpreter, Scalar, World};
use warploom_ir::{Data, Gir, Init, Loss, NodeKind, Output, Place, Target, Type, Unary};
use warploom_language::trace::{trace, vertex_settings_of};
use warploom_optimize::passes;
use warploom_test_support::golden_text::is_update;

const EDGES: [(u32, u32); 5] = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 0)];

/// The graph at the top of the page.
fn graph() -> (Data, World) {
    let data = Data {
        features: Some(2),
        edge_features: 1,
        weighted: true,
        relations: vec!["knows".into(), "cites".into()],
        columns: BTreeMap::from([("age".to_owned(), Type::Int)]),
        target: Some(Target { columns: 2, loss: Loss::CrossEntropy }),
        bytes_per_real: 8,
        half: None,
        lanes: false,
        ..Data::bare(5, 5)
    };
    let (source, target) = EDGES.into_iter().unzip();
    let world = World {
        weight: Some(vec![1.0, 4.0, 2.0, 1.0, 0.5]),
        edge_type: vec![0, 0, 1, 1, 0],
        edge_features: Some(ElementRows::from_reals(5, 1, vec![1.0, 2.0, 3.0, 4.0, 5.0])),
        features: Some(ElementRows::from_reals(
            5,
            2,
            vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0],
        )),
        columns: BTreeMap::from([(
            "age".to_owned(),
            ElementRows::from_integers(5, 1, vec![20, 31, 20, 45, 7]),
        )]),
        targets: Some(ElementRows::from_reals(5, 1, vec![0.0, 1.0, 0.0, 1.0, 0.0])),
        ..World::bare(5, source, target)
    };
    (data, world)
}

/// The vertices of the part about kinds: two people, two papers, and a venue without features.
fn with_kinds() -> (Data, World) {
    let (mut data, mut world) = graph();
    let kind = |name: &str, nodes, features| NodeKind {
        name: name.to_owned(),
        nodes,
        features,
        sparse_features: None,
    };
    data.kinds =
        vec![kind("person", 2, Some(1)), kind("paper", 2, Some(3)), kind("venue", 1, None)];
    (data.features, world.features) = (None, None);
    world.kind_of_node = vec![0, 0, 1, 1, 2];
    let features = [
        (0, ElementRows::from_reals(2, 1, vec![2.0, 3.0])),
        (1, ElementRows::from_reals(2, 3, vec![1.0, 0.0, 1.0, 0.0, 5.0, 0.0])),
    ];
    world.features_of_kind = features.into();
    (data, world)
}

/// What the page says of a program: its mistakes, or its result, with and without the passes.
fn answer(program: &str) -> String {
    let entry =
        program.trim_start().strip_prefix("def ").and_then(|rest| rest.split('(').next()).unwrap();
    let (data, mut world) = if entry.contains("kind") { with_kinds() } else { graph() };
    // By default, rows alone are named here.
    let rows = |default: &Value| {
        default
            .as_array()
            .map_or_else(|| std::slice::from_ref(default), Vec::as_slice)
            .iter()
            .map(|row| row.as_u64().unwrap())
            .collect()
    };
    world.chosen = vertex_settings_of(program, entry)
        .iter()
        .map(|setting| (setting.name.clone(), rows(&setting.default)))
        .collect();
    let traced = match trace(program, entry, &BTreeMap::new(), &data) {
        Ok(traced) => traced,
        Err(found) => {
            return found
                .iter()
                .map(|diagnostic| diagnostic.render(&format!("{entry}.py"), program))
                .collect();
        }
    };
    let mut page: String = traced
        .warnings
        .iter()
        .map(|warning| warning.render(&format!("{entry}.py"), program))
        .collect();
    let plain = run(&traced.gir, &data, &world);
    let cleaned = run(&passes::clean(traced.gir.clone(), &data).0, &data, &world);
    assert_eq!(plain, cleaned, "{entry}: the passes change what it gives");
    page.push_str(&plain);
    page
}

fn run(gir: &Gir, data: &Data, world: &World) -> String {
    let mut run = Interpreter::new(gir, data, world).unwrap();
    for parameter in &gir.parameters {
        let start = if parameter.init == Init::Zero { 0.0 } else { 1.0 };
        run.set_parameter(
            &parameter.name,
            &vec![start; parameter.shape.iter().product::<u64>() as usize],
        )
        .unwrap();
    }
    let endings = run.run(1000);
    let columns: Vec<(&Output, &ElementRows)> =
        gir.results.iter().map(|result| (result, run.value(result.node).unwrap())).collect();
    let mut page = table(gir, &columns);
    for ending in endings.iter().flatten() {
        let _ = writeln!(
            page,
            "after {} supersteps{}",
            ending.supersteps,
            if ending.converged { "" } else { ", unfinished" }
        );
    }
    for parameter in gir.parameters.iter().filter(|parameter| parameter.learned) {
        let _ = writeln!(page, "learned: {} {:?}", parameter.name, parameter.shape);
    }
    page
}

/// The results side by side: a line for each vertex, edge or graph.
fn table(gir: &Gir, columns: &[(&Output, &ElementRows)]) -> String {
    let rows = columns.iter().map(|(_, rows)| rows.rows).max().unwrap_or(0);
    let place = columns.iter().map(|(result, _)| gir.node(result.node).place).max().unwrap();
    let first = |row: usize| match place {
        Place::D => row.to_string(),
        Place::E(_) | Place::S(_) => format!("{} -> {}", EDGES[row].0, EDGES[row].1),
        Place::G | Place::P | Place::C => "all".to_owned(),
    };
    let title = match place {
        Place::D => "vertex",
        Place::E(_) | Place::S(_) => "edge",
        Place::G | Place::P | Place::C => "",
    };
    let mut lines = vec![vec![title.to_owned()]];
    lines[0].extend(columns.iter().map(|(result, _)| result.name.clone()));
    for row in 0..rows {
        let mut line = vec![first(row)];
        for (result, values) in columns {
            let node = gir.node(result.node);
            line.push(shown(
                values,
                if values.rows == 1 { 0 } else { row },
                node.kind,
                &node.shape,
            ));
        }
        lines.push(line);
    }
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=columns.len()).map(width).collect();
    let aligned = |line: &Vec<String>| {
        line.iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect::<Vec<_>>()
            .join("  ")
            .trim_end()
            .to_owned()
    };
    lines.iter().map(|line| aligned(line) + "\n").collect()
}

/// A row as Python would print it.
fn shown(rows: &ElementRows, row: usize, kind: Type, shape: &[u64]) -> String {
    let elements: Vec<String> =
        (0..rows.columns).map(|column| element(rows.at(row, column), kind)).collect();
    shape
        .iter()
        .rev()
        .fold(elements, |parts, length| {
            parts
                .chunks((*length).max(1) as usize)
                .map(|part| format!("[{}]", part.join(", ")))
                .collect()
        })
        .join(", ")
}

fn element(value: Scalar, kind: Type) -> String {
    match (kind, value) {
        (Type::Bool, value) => value.holds().to_string(),
        (Type::Id, Scalar::Whole(id)) if id == i64::from(u32::MAX) => "null".to_owned(),
        (Type::Int, Scalar::Whole(i64::MAX | i64::MIN)) => "null".to_owned(),
        (_, Scalar::Whole(number)) => number.to_string(),
        (_, Scalar::Real(number)) => {
            let text = format!("{number:.4}");
            let text = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.')
            } else {
                &text
            };
            (if text == "-0" { "0" } else { text }).to_owned()
        }
    }
}

/// The page with every result written anew, and how many examples it has.
fn refreshed(page: &str) -> (String, usize) {
    let (mut fresh, mut rest, mut examples) = (String::new(), page, 0);
    while let Some(start) = rest.find("```python\n") {
        let (before, block) = rest.split_at(start + "```python\n".len());
        let (program, after) = block.split_once("```\n").unwrap();
        let after = after
            .strip_prefix("```text\n")
            .unwrap_or_else(|| panic!("no ```text block follows\n{program}"));
        let end = if after.starts_with("```\n") { 0 } else { after.find("\n```\n").unwrap() + 1 };
        let _ = write!(fresh, "{before}{program}```\n```text\n{}", answer(program));
        rest = &after[end..];
        examples += 1;
    }
    (fresh + rest, examples)
}

#[test]
fn the_page_names_every_element_wise_operator() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let list = page.split("Element by element there are").nth(1).unwrap();
    let list = list.split("`inf` and `pi`").next().unwrap();
    let words: Vec<&str> =
        list.split(|letter: char| letter.is_whitespace() || "`.,".contains(letter)).collect();
    for name in Unary::ALL.iter().filter_map(|operator| operator.name()) {
        assert!(words.contains(&name), "docs/language.md lacks `{name}` in its list of operators");
    }
}

#[test]
fn the_page_says_what_its_examples_give() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (fresh, examples) = refreshed(&page);
    assert!(examples >= 30, "{examples} examples");
    if is_update() {
        std::fs::write(&path, &fresh).unwrap();
        return;
    }
    for (number, (was, is)) in page.lines().zip(fresh.lines()).enumerate() {
        assert_eq!(
            was,
            is,
            "line {} of docs/language.md; UPDATE=1 writes what the examples give",
            number + 1
        );
    }
    assert_eq!(page.len(), fresh.len());
}

#[test]
fn numbers_are_written_as_a_reader_wants_them() {
    let real = |number| element(Scalar::Real(number), Type::Real);
    assert_eq!(
        [1.0, 0.5, -0.0, 1.0 / 3.0, 100.0, f64::INFINITY].map(real),
        ["1", "0.5", "0", "0.3333", "100", "inf"]
    );
    assert_eq!(
        shown(&ElementRows::from_reals(1, 4, vec![1.0, 2.0, 3.0, 4.5]), 0, Type::Real, &[2, 2]),
        "[[1, 2], [3, 4.5]]"
    );
    assert_eq!(
        shown(&ElementRows::from_integers(2, 1, vec![3, i64::MAX]), 1, Type::Int, &[]),
        "null"
    );
}
