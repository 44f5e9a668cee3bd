//! Proves that a stand-in, and whatever was made up for a real graph, says so wherever a person or
//! a program looks, that real data say `real`, and that `--real` refuses in the degrees that it
//! promises.
use warploom_test_support::process::start;
use warploom_test_support::sandbox::{Recipe, Sandbox};

use crate::pipeline::each;

#[test]
fn a_stand_in_is_loud() {
    let sandbox = Sandbox::stand_in();
    let first = sandbox.warploom(&Recipe::small().arguments(&["pipeline"])).expect(0);
    assert!(first.stdout.lines().next().unwrap().contains("STAND-IN"), "{first}");
    let notice: Vec<&str> = first.stderr.lines().collect();
    assert!(
        notice.len() == 2
            && notice[0].starts_with("warning: `karate` is a STAND-IN")
            && notice[1].contains("get them with  a copy of karate.gml"),
        "{first}"
    );
    let again = sandbox.warploom(&Recipe::small().arguments(&["pipeline"])).expect(0);
    assert!(
        again.stdout.lines().next().unwrap().contains("STAND-IN"),
        "a hit must say it too: {again}"
    );
    assert_eq!(
        each(&sandbox.build(&Recipe::small()), "provenance"),
        ["stand-in"; crate::pipeline::STAGES.len()]
    );
    for artifact in sandbox.view().artifacts() {
        assert_eq!(artifact.manifest["provenance"], "stand-in", "{}", artifact.path.display());
    }
    sandbox.warploom(&["store", "ls"]).expect(0).prints(&["stand-in"]);
    let listed = sandbox.warploom(&["data", "ls", "--format", "json"]).expect(0).lines();
    let karate = listed.iter().find(|line| line["name"] == "karate").unwrap();
    assert_eq!(karate["status"], "stand-in");
}

#[test]
fn a_stand_in_is_refused_when_real_data_are_asked_for() {
    let sandbox = Sandbox::stand_in();
    sandbox.front("pipeline", &Recipe::small(), &["--real"]).expect(1).says(&[
        "a stand-in was refused",
        "get them with  a copy of karate.gml in a folder `karate`",
    ]);
    assert!(sandbox.view().artifacts().is_empty());
    sandbox.build(&Recipe::small());
    for how in ["--real", "--real=yes", "--real=strict"] {
        let line = sandbox.front("pipeline", &Recipe::small(), &[how]).expect(1).lines().remove(0);
        assert_eq!(
            (line["status"].as_str(), line["error"]["kind"].as_str()),
            (Some("failed"), Some("input")),
            "a hit is no way around {how}"
        );
    }
    sandbox.front("pipeline", &Recipe::small(), &["--real=no"]).expect(0);
    let mut batch = sandbox.command("warploom", &Recipe::small().arguments(&["pipeline"]));
    batch.env("SLURM_JOB_ID", "1");
    start(batch).wait().expect(1).says(&["a stand-in was refused"]);
}

#[test]
fn real_data_say_so() {
    let Some(sandbox) = Sandbox::real("provenance::real_data_say_so") else { return };
    let recipe = Recipe::of("gcn", "cora").set("run.epochs=2");
    let lines = sandbox.front("pipeline", &recipe, &["--real=strict"]).expect(0).stages();
    assert_eq!(each(&lines, "provenance"), ["real"; crate::pipeline::STAGES.len()]);
    assert!(lines.iter().all(|line| line["made_up"].as_array().unwrap().is_empty()), "{lines:?}");
    let text = sandbox.warploom(&recipe.arguments(&["pipeline"])).expect(0);
    assert!(
        !text.stdout.contains("STAND-IN")
            && !text.stdout.contains("made up")
            && text.stderr.is_empty(),
        "{text}"
    );
    let graph = sandbox.view().of_kind("graph").remove(0);
    assert_eq!(
        (graph.manifest["provenance"].as_str(), graph.manifest["counts"]["nodes"].as_u64()),
        (Some("real"), Some(2708))
    );
}

#[test]
fn features_made_up_for_a_real_graph_are_named() {
    let Some(sandbox) = Sandbox::real("provenance::features_made_up_for_a_real_graph_are_named")
    else {
        return;
    };
    let text = sandbox.warploom(&Recipe::small().arguments(&["pipeline"])).expect(0);
    assert!(text.stdout.lines().next().unwrap().contains("made up: features"), "{text}");
    let lines = sandbox.front("pipeline", &Recipe::small(), &["--real"]).expect(0).stages();
    assert_eq!(each(&lines, "provenance"), ["real"; crate::pipeline::STAGES.len()]);
    for line in &lines {
        assert_eq!(
            line["made_up"],
            serde_json::json!(["features", "splits"][..line["made_up"].as_array().unwrap().len()]),
            "{line}"
        );
        assert_eq!(line["made_up"][0], "features");
    }
    for artifact in sandbox.view().artifacts() {
        assert_eq!(artifact.manifest["made_up"][0], "features", "{}", artifact.path.display());
    }
    let strict = sandbox.front("pipeline", &Recipe::small(), &["--real=strict"]).expect(1).says(&[
        "features",
        "made up",
        "--real=strict",
    ]);
    assert_eq!(strict.lines().len(), 1, "stages after the refusal were tried");
    // Structure alone needs nothing that is made up.
    let plain = sandbox
        .front("pipeline", &Recipe::of("pagerank", "karate"), &["--real=strict"])
        .expect(0)
        .stages();
    assert!(plain.iter().all(|line| line["made_up"].as_array().unwrap().is_empty()), "{plain:?}");
}

#[test]
fn made_up_features_that_no_program_reads_are_not_told() {
    let Some(sandbox) =
        Sandbox::real("provenance::made_up_features_that_no_program_reads_are_not_told")
    else {
        return;
    };
    for program in ["pagerank", "components"] {
        let recipe =
            Recipe::of(program, "karate").set("ingest.features=auto").set("ingest.symmetrize=true");
        let text = sandbox.with_store(program).warploom(&recipe.arguments(&["pipeline"])).expect(0);
        assert!(!text.stdout.contains("made up") && !text.stderr.contains("MADE UP"), "{text}");
        // Manifests and JSON lines say what the graph holds, whoever reads it.
        let lines = sandbox.with_store(program).front("pipeline", &recipe, &[]).expect(0).stages();
        assert!(lines.iter().all(|line| line["made_up"][0] == "features"), "{lines:?}");
    }
}

#[test]
fn what_is_made_from_a_stand_in_shares_no_key_with_what_is_real() {
    let Some(real) =
        Sandbox::real("provenance::what_is_made_from_a_stand_in_shares_no_key_with_what_is_real")
    else {
        return;
    };
    let stand_in = Sandbox::stand_in();
    let (real, made) = (real.build(&Recipe::small()), stand_in.build(&Recipe::small()));
    for (real, made) in each(&real, "key").iter().zip(each(&made, "key")) {
        assert_ne!(*real, made);
    }
}
