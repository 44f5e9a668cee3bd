//! What a user reads for each kind of mistake: golden text in `golden/*.txt`, refreshed with
//! `UPDATE=1`.
//!
//! A case is `=== name`, lines `>>> --set KEY=VALUE`, the text of the file, `<<<`, and the message.
//! Add a case by writing it without message.
use std::{fmt::Write, fs, path::Path};

use warploom_spec::{json_schema, read, read_text};
use warploom_test_support::golden_text::{assert_golden, is_update};

struct Case {
    name: String,
    overrides: Vec<String>,
    text: String,
    says: String,
}

fn cases(golden: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for part in golden.split("=== ").skip(1) {
        let (name, rest) = part.split_once('\n').expect("a case has a name");
        let (input, says) = rest.split_once("<<<\n").expect("a case has `<<<` behind the text");
        let sets: Vec<&str> =
            input.lines().take_while(|line| line.starts_with(">>> --set ")).collect();
        let skipped: usize = sets.iter().map(|line| line.len() + 1).sum();
        let overrides =
            sets.iter().map(|line| line[">>> --set ".len()..].replace("\\n", "\n")).collect();
        cases.push(Case {
            name: name.into(),
            overrides,
            text: input[skipped..].into(),
            says: says.trim_end().into(),
        });
    }
    cases
}

fn compare(group: &str, said: impl Fn(&Case) -> String) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{group}.txt"));
    let golden = fs::read_to_string(&path).expect("the golden file is there");
    let cases = cases(&golden);
    assert!(!cases.is_empty());
    let mut fresh = String::new();
    let mut wrong = Vec::new();
    for case in &cases {
        let said = said(case);
        let sets: String = case
            .overrides
            .iter()
            .map(|text| format!(">>> --set {}\n", text.replace('\n', "\\n")))
            .collect();
        write!(fresh, "=== {}\n{sets}{}<<<\n{said}\n\n", case.name, case.text)
            .expect("writing to a string");
        if said != case.says {
            wrong.push(format!("{}\nsays\n{said}\ninstead of\n{}", case.name, case.says));
        }
    }
    if is_update() {
        fs::write(&path, fresh).expect("the golden file can be written");
    } else {
        assert!(
            wrong.is_empty(),
            "{group}: {}\n\nread them, then refresh with UPDATE=1",
            wrong.join("\n\n")
        );
    }
}

fn mistakes(case: &Case) -> String {
    match read_text(&case.text, Path::new("pipelines/try.yaml"), &case.overrides) {
        Ok(_) => panic!("{} is taken", case.name),
        Err(mistakes) => {
            assert!(
                mistakes.iter().all(|mistake| mistake.line >= 1 && mistake.column >= 1),
                "{}",
                case.name
            );
            mistakes.to_string()
        }
    }
}

#[test]
fn syntax() {
    compare("syntax", mistakes);
}

#[test]
fn names() {
    compare("names", mistakes);
}

#[test]
fn values() {
    compare("values", mistakes);
}

#[test]
fn missing() {
    compare("missing", mistakes);
}

#[test]
fn overrides() {
    compare("overrides", mistakes);
}

#[test]
fn matrix() {
    compare("matrix", mistakes);
}

#[test]
fn together() {
    compare("together", mistakes);
}

#[test]
fn a_file_that_is_not_there_is_answered_with_the_nearest() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let says = |name: &str| {
        read(&folder.path().join(name), &[])
            .expect_err("no such file")
            .to_string()
            .replace(&folder.path().display().to_string(), "FOLDER")
    };
    assert_eq!(
        says("gcn.yaml"),
        "error: no such pipeline file\n  --> FOLDER/gcn.yaml\nhint: there is no *.yaml in `FOLDER`"
    );
    fs::create_dir(folder.path().join("pipelines")).expect("a folder");
    fs::write(folder.path().join("pipelines/gcn.yaml"), "").expect("a file");
    fs::write(folder.path().join("sage.yaml"), "").expect("a file");
    for (name, hint) in [
        ("gcn.yaml", "did you mean  FOLDER/pipelines/gcn.yaml"),
        ("sage", "did you mean  FOLDER/sage.yaml"),
        ("sage.yml", "did you mean  FOLDER/sage.yaml"),
        ("pipelines/gnc.yaml", "did you mean  FOLDER/pipelines/gcn.yaml"),
        ("pipelines/triangles.yaml", "there are  FOLDER/pipelines/gcn.yaml"),
        ("pipelines/nope.yaml", "there are  FOLDER/pipelines/gcn.yaml"),
        ("nowhere/gcn.yaml", "there is no folder `FOLDER/nowhere`"),
    ] {
        assert_eq!(
            says(name),
            format!("error: no such pipeline file\n  --> FOLDER/{name}\nhint: {hint}")
        );
    }
}

#[test]
fn a_setting_in_the_place_of_a_file_is_answered_with_set() {
    let says = read(Path::new("dataset=cora"), &[]).expect_err("no such file").to_string();
    assert_eq!(
        says,
        "error: no such pipeline file\n  --> dataset=cora\nhint: a setting is given with  --set \
            dataset=cora"
    );
    assert_eq!(warploom_spec::settings_named("epochs"), ["run.epochs"]);
    assert_eq!(warploom_spec::settings_named("weight-decay")[0], "run.optimizer.adam.weight_decay");
    assert_eq!(warploom_spec::settings_named("seed")[0], "run.seed");
}

#[test]
fn a_file_that_is_no_text_or_too_large_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("try.yaml");
    let says = || {
        read(&path, &[])
            .expect_err("not a pipeline")
            .to_string()
            .replace(&path.display().to_string(), "try.yaml")
    };
    fs::write(&path, b"dataset: a\npipeline: gr\xf6\xdfe # latin\n").expect("a file");
    assert_eq!(
        says(),
        "error: the file is not text\n  --> try.yaml:2:13\n       |  pipeline: \
            gr\u{fffd}\u{fffd}e # latin\n       |              ^ expected UTF-8, found the byte \
            0xf6\nhint: save it as UTF-8"
    );
    fs::write(&path, "# \n".repeat(100_000)).expect("a file");
    assert!(
        says().starts_with("error: `try.yaml` is larger than 256 KiB\n  --> try.yaml\nhint: "),
        "{}",
        says()
    );
    let folder_says = read(folder.path(), &[]).expect_err("a folder").to_string();
    assert!(
        folder_says.contains("is a folder, and a pipeline is a file")
            && folder_says.contains("name a file in it:  ")
            && folder_says.contains("try.yaml")
    );
}

/// The schema beside the pipelines is the one that the code gives.
#[test]
fn the_schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipelines/schema.json");
    let mut fresh = serde_json::to_string_pretty(&json_schema()).expect("a schema is JSON");
    fresh.push('\n');
    assert_golden(&path, &fresh);
}
