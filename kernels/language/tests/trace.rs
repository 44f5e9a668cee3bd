//! Every program of the language's page becomes a GIR; two of them as golden text (refresh with
//! `UPDATE=1`), parameters by name.

use std::collections::BTreeMap;
use std::fs;

use warploom_ir::{Data, Loss, Target, Type};
use warploom_language::trace::{Traced, settings_of, trace};
use warploom_test_support::golden_text::assert_golden;

const PROGRAMS: [&str; 6] = ["gcn", "gat", "pagerank", "sssp", "components", "rgcn"];

fn text_of(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/trace_programs/{name}.py", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
}

fn data(training: bool) -> Data {
    let target = training.then_some(Target { columns: 7, loss: Loss::CrossEntropy });
    Data {
        features: Some(12),
        relations: vec!["cites".to_owned(), "likes".to_owned()],
        target,
        training,
        ..Data::bare(100, 400)
    }
}

#[track_caller]
fn traced(text: &str, entry: &str, data: &Data) -> Traced {
    match trace(text, entry, &BTreeMap::new(), data) {
        Ok(traced) => traced,
        Err(found) => {
            panic!("{}", found.iter().map(|found| found.render(entry, text)).collect::<String>())
        }
    }
}

fn learns(name: &str) -> bool {
    ["gcn", "gat", "rgcn"].contains(&name)
}

#[track_caller]
fn golden(name: &str, found: &str) {
    let path = format!("{}/tests/golden_gir/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    assert_golden(path.as_ref(), found);
}

#[test]
fn every_program_of_the_page_is_traced_without_a_warning() {
    for name in PROGRAMS {
        let text = text_of(name);
        let traced = traced(&text, name, &data(learns(name)));
        let warnings: String =
            traced.warnings.iter().map(|warning| warning.render(name, &text)).collect();
        assert_eq!(warnings, "", "{name}");
        assert_eq!(traced.gir.loss.is_some(), learns(name), "{name}");
        assert_eq!(traced.gir.loops.len(), usize::from(!learns(name)), "{name}");
        assert_eq!(traced.gir.results.len(), 1, "{name}");
    }
}

#[test]
fn gcn_and_pagerank_as_text() {
    for name in ["gcn", "pagerank"] {
        let text = text_of(name);
        golden(name, &traced(&text, name, &data(learns(name))).gir.print(Some(&text)));
    }
}

fn names(traced: &Traced) -> Vec<String> {
    traced
        .gir
        .parameters
        .iter()
        .map(|parameter| format!("{} {:?}", parameter.name, parameter.shape))
        .collect()
}

#[test]
fn parameters_are_named_by_function_call_and_kind() {
    let gcn = traced(&text_of("gcn"), "gcn", &data(true));
    assert_eq!(
        names(&gcn),
        [
            "gcn.gcn.0.linear.0.weight [16, 12]",
            "gcn.gcn.0.bias.0 [16]",
            "gcn.gcn.0.linear.1.weight [7, 16]",
            "gcn.gcn.0.bias.1 [7]"
        ]
    );
    let gat = traced(&text_of("gat"), "gat", &data(true));
    let expected = [
        "gat.attend.0.linear.0.weight [64, 12]",
        "gat.attend.0.param.0 [8, 8]",
        "gat.attend.0.param.1 [8, 8]",
        "gat.attend.0.bias.0 [8, 8]",
        "gat.attend.1.linear.0.weight [7, 64]",
        "gat.attend.1.param.0 [1, 7]",
        "gat.attend.1.param.1 [1, 7]",
        "gat.attend.1.bias.0 [1, 7]",
    ];
    assert_eq!(names(&gat), expected);
    let rgcn = traced(&text_of("rgcn"), "rgcn", &data(true));
    let expected = [
        "rgcn.relational.0.linear.0.weight [16, 12]",
        "rgcn.relational.0.linear.0.bias [16]",
        "rgcn.relational.0.linear.1.cites.weight [16, 12]",
        "rgcn.relational.0.linear.1.likes.weight [16, 12]",
        "rgcn.relational.1.linear.0.weight [7, 16]",
        "rgcn.relational.1.linear.0.bias [7]",
        "rgcn.relational.1.linear.1.cites.weight [7, 16]",
        "rgcn.relational.1.linear.1.likes.weight [7, 16]",
    ];
    assert_eq!(names(&rgcn), expected);
}

#[test]
fn results_have_no_name_twice_and_none_that_a_table_has_of_itself() {
    let names = |returned: &str| -> Vec<String> {
        let text = format!(
            "def own(v):\n    id = source = [e.w for e in v.inedges]\n    v.source = \
                v.indegree\n    v.id_1 = 1\n    return {returned}\n"
        );
        traced(&text, "own", &data(false))
            .gir
            .results
            .into_iter()
            .map(|result| result.name)
            .collect()
    };
    assert_eq!(names("v.id, v.id, v.source, 2, 3"), ["id_1", "id_2", "source", "value", "value_1"]);
    assert_eq!(names("v.id_1, v.id"), ["id_1", "id_1_"]);
    assert_eq!(names("source, id"), ["source_1", "id"]);
}

#[test]
fn settings_are_those_of_the_entry() {
    let settings = settings_of(&text_of("gcn"), "gcn").unwrap();
    let shown: Vec<String> =
        settings.iter().map(|setting| format!("{}={}", setting.name, setting.default)).collect();
    assert_eq!(shown, ["hidden=16", "layers=2", "drop=0.5"]);
}

#[test]
fn each_operator_is_traced() {
    let text = text_of("zoo");
    let columns =
        [("age", Type::Real), ("kind", Type::Int)].map(|(name, kind)| (name.to_owned(), kind));
    let data = Data { columns: columns.into(), ..data(false) };
    let zoo = traced(&text, "zoo", &data);
    let warnings: String =
        zoo.warnings.iter().map(|warning| warning.render("zoo", &text)).collect();
    assert_eq!(warnings, "");
    golden("zoo", &zoo.gir.print(Some(&text)));
}
