//! settings: what a user reads when a program or a setting is not taken.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warploom_ir::Loss;
use warploom_launch::GraphFacts;
use warploom_launch::builtin::{self, Builtin, SettingError};

fn program(name: &str) -> &'static Builtin {
    builtin::programs().iter().find(|builtin| builtin.name == name).unwrap()
}

fn facts() -> GraphFacts {
    GraphFacts {
        nodes: 100,
        edges: 500,
        feature_columns: 10,
        sparse_features: None,
        classes: 4,
        weighted: false,
        symmetric: false,
        training: true,
        loss: Loss::CrossEntropy,
        bytes_per_real: 4,
        half: None,
        lanes: false,
    }
}

fn refused(name: &str, setting: &str, value: Value) -> SettingError {
    program(name).build(&[(setting.to_owned(), value)].into(), &facts()).unwrap_err()
}

#[test]
fn a_program_is_known_by_its_text() {
    for shipped in builtin::programs() {
        assert_eq!(builtin::find(shipped.text, shipped.name).unwrap().name, shipped.name);
        let windows = shipped.text.replace('\n', " \t\r\n") + "\r\n \r\n";
        assert_eq!(builtin::find(&windows, shipped.name).unwrap().name, shipped.name);
        let entry = format!("def {}(v", shipped.name);
        assert!(shipped.text.starts_with(&entry), "the entry is named like the file");
        for setting in shipped.settings {
            let default = setting.domain.default().to_string();
            let written = shipped.text.lines().next().unwrap();
            assert!(
                written.contains(&format!("{}={default}", setting.name)),
                "{}: {} in {written}",
                shipped.name,
                default
            );
        }
    }
}

#[test]
fn an_edited_or_renamed_program_is_another_one() {
    let gcn = program("gcn").text;
    for edited in [
        gcn.replace("relu", "tanh"),
        gcn.replace("    return", "   return"),
        format!("# mine\n{gcn}"),
        String::new(),
    ] {
        assert!(builtin::find(&edited, "gcn").is_none(), "{edited}");
    }
    assert!(builtin::find(gcn, "mine").is_none() && builtin::find(gcn, "sage").is_none());
}

#[test]
fn an_unknown_setting_names_the_nearest() {
    let error = refused("gcn", "hiden", json!(16));
    assert_eq!(
        error.to_string(),
        "`gcn` has no setting `hiden`: expected one of `hidden`, `layers`, `drop`"
    );
    assert_eq!(error.hint(), "did you mean  plan.set.hidden");
    let none = program("components").build(
        &[("source".to_owned(), json!(0))].into(),
        &GraphFacts { training: false, ..facts() },
    );
    assert_eq!(none.unwrap_err().to_string(), "`components` has no settings, found `source`");
}

#[test]
fn a_wrong_value_names_type_range_and_default() {
    let error = refused("gcn", "hidden", json!("16"));
    assert_eq!(
        error.to_string(),
        "setting `hidden` of `gcn`: expected a whole number (1 to 65536), found `\"16\"`"
    );
    assert_eq!(error.hint(), "its default is  plan.set.hidden=16");
    for value in [json!(16.5), json!(16.0), json!(true), json!(null), json!([16])] {
        assert!(matches!(refused("sage", "hidden", value), SettingError::WrongType { .. }));
    }
    for (setting, value) in [
        ("hidden", json!(0)),
        ("hidden", json!(65537)),
        ("hidden", json!(-1)),
        ("layers", json!(65)),
        ("drop", json!(1)),
    ] {
        assert!(
            matches!(refused("gcn", setting, value), SettingError::OutOfRange { .. }),
            "{setting}"
        );
    }
    let text = refused("sage", "drop", json!(1.0)).to_string();
    assert_eq!(
        text,
        "setting `drop` of `sage` out of range: expected a number, at least 0 and below 1, found \
         `1.0`"
    );
    for (setting, value) in
        [("damping", json!(1.5)), ("damping", json!(-0.1)), ("tolerance", json!(-1e-9))]
    {
        assert!(
            matches!(refused("pagerank", setting, value), SettingError::OutOfRange { .. }),
            "{setting}"
        );
    }
}

#[test]
fn bounds_themselves_are_taken() {
    for (name, value) in [
        ("hidden", json!(1)),
        ("hidden", json!(65536)),
        ("layers", json!(64)),
        ("drop", json!(0)),
        ("drop", json!(0.999)),
    ] {
        program("gcn").build(&[(name.to_owned(), value)].into(), &facts()).unwrap();
    }
}

#[test]
fn resolved_settings_are_complete_and_of_one_spelling() {
    let gcn = program("gcn");
    let resolved = gcn.resolve(&BTreeMap::new()).unwrap();
    assert_eq!(
        resolved,
        [("hidden", json!(16)), ("layers", json!(2)), ("drop", json!(0.5))]
            .map(|(n, v)| (n.to_owned(), v))
            .into()
    );
    let [whole, real] = [json!(0), json!(0.0)]
        .map(|drop| gcn.resolve(&[("drop".to_owned(), drop)].into()).unwrap());
    assert_eq!(serde_json::to_string(&whole).unwrap(), serde_json::to_string(&real).unwrap());
}

#[test]
fn facts_that_do_not_fit_are_refused() {
    let none = BTreeMap::new();
    let error = |name: &str, facts: GraphFacts| program(name).build(&none, &facts).unwrap_err();
    let no_features = error("gcn", GraphFacts { feature_columns: 0, ..facts() });
    assert!(
        no_features.to_string().contains("node features")
            && no_features.hint().contains("ingest.features")
    );
    assert!(
        error("sage", GraphFacts { classes: 0, ..facts() })
            .to_string()
            .contains("width of the target")
    );
    assert!(error("pagerank", facts()).hint().contains("iterate"));
    assert!(
        error("gcn", GraphFacts { bytes_per_real: 2, ..facts() })
            .to_string()
            .contains("bytes of a real")
    );
}
