//! Proves that divisions of the work are built, found again, proved, told and exported, that none
//! changes a result, that damage is found, and that what cannot be is refused with the way out.
use std::fs;

use serde_json::Value;
use warploom_contract::arrow_file::{numbers, open_numbers, write_columns};
use warploom_test_support::draws::Draws;
use warploom_test_support::sandbox::{Recipe, Sandbox};
use warploom_test_support::store_view::folder;

/// Those that any graph has.
const SCHEMES: &str = "[rows, neighbour-groups, merge-path, warp-tiles, block-tiles, degree-bins, \
                       sorted-columns, interleaved, row-major]";

fn sandbox() -> Sandbox {
    let text = Draws::seeded(7).edge_list(2000, 300.0);
    Sandbox::edge_lists(&[("drawn", &text)], "symmetrize: false\nsplit: {rule: none}")
}

fn recipe() -> Recipe {
    Recipe::of("components", "drawn")
}

#[test]
fn divisions_are_built_found_proved_and_change_no_result() {
    let sandbox = sandbox();
    let values = |lines: &[serde_json::Value]| {
        fs::read(folder(&lines[5], "run").join("values.parquet")).unwrap()
    };
    let plain = sandbox.build(&recipe());
    let divided = recipe()
        .set(&format!("partition.scheme={SCHEMES}"))
        .set("partition.ngs=4")
        .set("partition.unit_edges=64");
    let lines = sandbox.build(&divided);
    assert_ne!(plain[3]["key"], lines[3]["key"]);
    assert!(values(&plain) == values(&lines), "a scheme changed a result");
    let again = sandbox.build(&divided);
    assert!(again.iter().all(|line| line["status"] == "hit"), "{again:?}");
    // A setting that no asked scheme reads is no ingredient, nor is the order of the list.
    let other = recipe().set("partition.lanes=8");
    assert_eq!(sandbox.build(&other)[3]["key"], plain[3]["key"]);
    let turned = recipe().set("partition.scheme=[merge-path, rows]");
    assert_eq!(
        sandbox.build(&turned)[3]["key"],
        sandbox.build(&recipe().set("partition.scheme=[rows, merge-path]"))[3]["key"]
    );
    sandbox.front("check", &divided, &[]).expect(0);
    sandbox.stage("partition", &divided, &["check"]).expect(0);
    let told = sandbox.warploom(&divided.arguments(&["explain", "-v"])).expect(0);
    told.prints(&[
        "partition: rows (asked for), ",
        "partition: neighbour-groups (asked for)",
        "in_groups: ",
        "places empty",
        "(row u32, start u32)",
    ]);
    let out = sandbox.path("exported");
    sandbox
        .warploom(&["export", lines[3]["key"].as_str().unwrap(), "-o", out.to_str().unwrap()])
        .expect(0);
    for file in ["in_walk_rows.npy", "in_groups.npz", "interleaved_places.npy", "partition.json"] {
        assert!(
            out.join(file).is_file() || out.join("partition").join(file).is_file(),
            "{file} in {:?}",
            fs::read_dir(&out).unwrap().flatten().collect::<Vec<_>>()
        );
    }
}

#[test]
fn edges_of_both_directions_are_listed_where_they_are_walked() {
    let sandbox = sandbox();
    let file = |partition: &Value| folder(partition, "partition").join("both_walk_edges.arrow");
    // The order of the nodes is the same for both devices.
    let of = |program: &str| Recipe::of(program, "drawn").set("reorder.method=none");
    // On a CPU no program has them, nor does one on a GPU that walks one direction.
    let on_gpu = |program: &str| {
        let recipe = of(program);
        let until_plan = ["--device", "h200", "--until", "plan"];
        sandbox.front("pipeline", &recipe, &until_plan).expect(0).stages().remove(3)
    };
    let plain = sandbox.build(&of("components")).remove(3);
    assert!(!file(&plain).exists());
    assert_eq!(on_gpu("pagerank")["key"], plain["key"]);
    let both = on_gpu("components");
    assert!(file(&both).is_file());
    // A partition without them that is named is refused before a plan is made.
    let named = plain["key"].as_str().unwrap();
    let range = ["--from", named, "--device", "h200", "--until", "plan"];
    sandbox.front("pipeline", &of("components"), &range).expect(1).says(&[
        "both_walk_rows",
        "found none",
        "--set partition.both_directions=true",
    ]);
    // The setting gives the same partition, whose tables `check` expands.
    let by_hand = of("components").set("partition.both_directions=true");
    assert_eq!(sandbox.build(&by_hand)[3]["key"], both["key"]);
    sandbox.stage("partition", &by_hand, &["check"]).expect(0);
    let path = file(&both);
    let column = |name: &str| open_numbers::<u32>(&path, name).unwrap().to_vec();
    let (mut far, edge) = (column("far"), column("edge"));
    far[10] ^= 1;
    fs::remove_file(&path).unwrap();
    write_columns(&path, vec![("far", numbers(far)), ("edge", numbers(edge))]).unwrap();
    sandbox.stage("partition", &by_hand, &["check"]).expect(3).says(&["both_walk_edges"]);
    // A file that is too short is damage.
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let again = sandbox.front("pipeline", &by_hand, &[]);
    again.expect(1).says(&[path.to_str().unwrap(), "hint:"]);
}

#[test]
fn edges_are_listed_by_far_end_where_kernels_search_them() {
    let sandbox = sandbox();
    let of = |program: &str| Recipe::of(program, "drawn").set("reorder.method=none");
    let on_gpu = |recipe: &Recipe| {
        let until_plan = ["--device", "h200", "--until", "plan"];
        sandbox.front("pipeline", recipe, &until_plan).expect(0).stages().remove(3)
    };
    let files = ["in_ascending_offsets", "in_ascending_edges", "out_ascending_edges"];
    let file = |partition: &Value, name: &str| {
        folder(partition, "partition").join(format!("{name}.arrow"))
    };
    let plain = sandbox.build(&of("triangles")).remove(3);
    assert!(files.iter().all(|name| !file(&plain, name).exists()));
    let listed = on_gpu(&of("triangles"));
    assert!(files.iter().all(|name| file(&listed, name).is_file()));
    // A partition without them that is named is refused before a plan is made.
    let named = plain["key"].as_str().unwrap();
    let range = ["--from", named, "--device", "h200", "--until", "plan"];
    sandbox.front("pipeline", &of("triangles"), &range).expect(1).says(&[
        "in_ascending_offsets",
        "found none",
        "--set partition.ascending_edges=true",
    ]);
    // The setting gives the same partition, whose tables `check` expands.
    let by_hand = of("triangles").set("partition.ascending_edges=true");
    assert_eq!(sandbox.build(&by_hand)[3]["key"], listed["key"]);
    sandbox.stage("partition", &by_hand, &["check"]).expect(0);
    for name in ["in_ascending_edges", "out_ascending_edges"] {
        let path = file(&listed, name);
        let before = fs::read(&path).unwrap();
        let column = |name: &str| open_numbers::<u32>(&path, name).unwrap().to_vec();
        let (mut far, edge) = (column("far"), column("edge"));
        far[10] ^= 1;
        fs::remove_file(&path).unwrap();
        write_columns(&path, vec![("far", numbers(far)), ("edge", numbers(edge))]).unwrap();
        sandbox.stage("partition", &by_hand, &["check"]).expect(3).says(&[name]);
        // A file that is too short is damage.
        fs::write(&path, &before[..before.len() / 2]).unwrap();
        let again = sandbox.front("pipeline", &by_hand, &[]);
        again.expect(1).says(&[path.to_str().unwrap(), "hint:"]);
        fs::write(&path, before).unwrap();
    }
}

/// A symmetric graph has each edge in both directions: a minimum over one is that over both.
#[test]
fn minima_over_a_symmetric_graph_need_no_edges_of_both_directions() {
    let text = Draws::seeded(7).edge_list(2000, 300.0);
    let settings = "symmetrize: true\nsplit: {rule: none}";
    let sandbox = Sandbox::edge_lists(&[("drawn", &text)], settings);
    let until_plan = ["--device", "h200", "--until", "plan"];
    let lines = sandbox.front("pipeline", &recipe(), &until_plan).expect(0).stages();
    assert!(!folder(&lines[3], "partition").join("both_walk_edges.arrow").exists());
}

#[test]
fn no_number_of_threads_changes_a_division() {
    let sandbox = sandbox();
    let mut digests = std::collections::BTreeSet::new();
    for threads in ["1", "2", "8"] {
        let sandbox = sandbox.with_store(format!("store-{threads}"));
        let divided = recipe()
            .set(&format!("partition.scheme={SCHEMES}"))
            .set("partition.both_directions=true")
            .set("partition.ascending_edges=true");
        for stage in ["ingest", "extract", "reorder", "partition"] {
            sandbox.stage(stage, &divided, &["--threads", threads]).expect(0);
        }
        digests.extend(
            sandbox
                .view()
                .of_kind("partition")
                .iter()
                .map(|found| found.manifest["digest"].as_str().unwrap().to_owned()),
        );
    }
    assert_eq!(digests.len(), 1);
}

/// A number of a table is changed on disk: the artifact still opens, and `check` says which entry
/// is wrong.
#[test]
fn a_changed_number_is_found() {
    let sandbox = sandbox();
    let divided = recipe().set("partition.scheme=sorted-columns");
    let lines = sandbox.build(&divided);
    let path = folder(&lines[3], "partition").join("in_sorted_columns.arrow");
    let column = |name: &str| open_numbers::<u32>(&path, name).unwrap().to_vec();
    let (columns, mut rows, slots) = (column("column"), column("row"), column("slot"));
    rows[10] ^= 1;
    fs::remove_file(&path).unwrap();
    write_columns(
        &path,
        vec![("column", numbers(columns)), ("row", numbers(rows)), ("slot", numbers(slots))],
    )
    .unwrap();
    sandbox.stage("partition", &divided, &["check"]).expect(3).says(&["in_sorted_columns"]);
}

#[test]
fn what_cannot_be_is_refused_with_the_way_out() {
    let sandbox = sandbox();
    sandbox.build(&recipe());
    let refused = |sets: &[&str], texts: &[&str]| {
        let recipe = sets.iter().fold(recipe(), |recipe, set| recipe.set(set));
        sandbox.front("pipeline", &recipe, &[]).expect(1).says(texts);
    };
    refused(
        &["partition.ngs=0"],
        &["`partition.ngs` is out of range", "expected 1 to 16777216, found `0`"],
    );
    refused(
        &["partition.block_threads=48"],
        &["expected a multiple of 32, 32 to 1024, found `48`"],
    );
    refused(
        &["partition.scheme=warp-tiles", "partition.warp_tile=2048"],
        &[
            "4 x `warp_tile` of 2048 nonzeros takes 65536 bytes of shared memory",
            "expected 1 to 1536",
            "--set partition.warp_tile=1536",
        ],
    );
    refused(
        &["partition.scheme=block-tiles", "partition.block_tile=6145"],
        &["a block has 49152: expected 1 to 6144"],
    );
    refused(
        &["partition.scheme=relation-major"],
        &["this graph has no relations", "hint: leave `relation-major` out of  partition.scheme"],
    );
    refused(&["partition.scheme=packed-graphs"], &["this data set is one graph"]);
    refused(
        &["partition.scheme=file"],
        &["scheme `file` needs a table of groups", "--set partition.groups=GROUPS.parquet"],
    );
    refused(
        &["partition.groups=groups.parquet"],
        &["a table of groups is named, and no scheme reads it"],
    );
    refused(
        &["partition.scheme=file", "partition.groups=none.parquet"],
        &["no such file", "columns  node, start  and  end"],
    );
    // Scheme `rows` is built too, and needs more.
    let small = recipe().set("partition.scheme=sorted-columns");
    sandbox.stage("partition", &small, &["--memory", "20KiB"]).expect(1).says(&[
        "scheme `rows` needs",
        "may be used",
        "hint: --memory",
    ]);
    let rows = recipe().set("partition.unit_edges=128");
    sandbox.stage("partition", &rows, &["--memory", "10KiB"]).expect(1).says(&[
        "scheme `rows` needs",
        "may be used",
        "hint: --memory",
    ]);
}

/// A set of many graphs and a graph with relations have the schemes that are theirs.
#[test]
fn graphs_of_many_and_relations_are_divided() {
    let Some(sandbox) = Sandbox::real("graphs_of_many_and_relations_are_divided") else { return };
    for (pipeline, dataset, schemes) in [
        ("components", "tu_ENZYMES", "packed-graphs"),
        ("components", "rdf_aifb", "[relation-major, row-relation]"),
    ] {
        let divided = Recipe::of(pipeline, dataset).set(&format!("partition.scheme={schemes}"));
        for stage in ["ingest", "extract", "reorder", "partition"] {
            sandbox.stage(stage, &divided, &[]).expect(0);
        }
        sandbox.stage("partition", &divided, &["check"]).expect(0);
    }
}
