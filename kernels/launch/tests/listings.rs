//! listings: the listing of each shipped program as golden text, and the figures in it reckoned by
//! hand.
//!
//! `UPDATE=1 cargo test -p warploom-launch --test all listings::` writes the listings anew; read
//! the difference before keeping it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use warploom_ir::Loss;
use warploom_launch::builtin::{self, Builtin};
use warploom_launch::{GraphFacts, LaunchList, MADE, Memory, Needs, Stored};
use warploom_test_support::golden_text::assert_golden;

fn program(name: &str) -> &'static Builtin {
    builtin::programs().iter().find(|builtin| builtin.name == name).unwrap()
}

/// A graph of 1000 nodes and 8000 edges, f32.
fn facts() -> GraphFacts {
    GraphFacts {
        half: None,
        lanes: false,
        nodes: 1000,
        edges: 8000,
        feature_columns: 96,
        sparse_features: None,
        classes: 22,
        weighted: false,
        symmetric: true,
        training: true,
        loss: Loss::CrossEntropy,
        bytes_per_real: 4,
    }
}

fn compare(name: &str, list: &LaunchList) {
    assert_eq!(list.validate(), Ok(()));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden_text/{name}.txt"));
    assert_golden(&path, &list.render());
}

#[test]
fn gcn_reads_as_it_should() {
    compare("gcn", &program("gcn").build(&BTreeMap::new(), &facts()).unwrap());
}

#[test]
fn gcn_with_weights_and_sparse_features_reads_as_it_should() {
    let facts = GraphFacts {
        weighted: true,
        feature_columns: 1433,
        sparse_features: Some(18_000),
        ..facts()
    };
    compare(
        "gcn_sparse_weighted",
        &program("gcn").build(&[("drop".to_owned(), json!(0.6))].into(), &facts).unwrap(),
    );
}

#[test]
fn gcn_that_predicts_reads_as_it_should() {
    compare(
        "gcn_predict",
        &program("gcn")
            .build(&BTreeMap::new(), &GraphFacts { training: false, ..facts() })
            .unwrap(),
    );
}

#[test]
fn sage_reads_as_it_should() {
    let facts = GraphFacts {
        feature_columns: 12,
        symmetric: false,
        classes: 40,
        loss: Loss::MeanSquares,
        ..facts()
    };
    compare("sage", &program("sage").build(&BTreeMap::new(), &facts).unwrap());
}

#[test]
fn pagerank_reads_as_it_should() {
    let facts = GraphFacts { training: false, symmetric: false, ..facts() };
    compare("pagerank", &program("pagerank").build(&BTreeMap::new(), &facts).unwrap());
}

#[test]
fn components_reads_as_it_should() {
    let facts = GraphFacts { training: false, symmetric: false, ..facts() };
    compare("components", &program("components").build(&BTreeMap::new(), &facts).unwrap());
}

fn bytes(list: &LaunchList, launch: &str) -> u64 {
    list.launches().into_iter().find(|known| known.name == launch).unwrap().bytes
}

#[test]
fn bytes_are_those_reckoned_by_hand() {
    let (nodes, edges, hidden, real) = (1000, 8000, 16, 4);
    let (offsets, neighbours) = (4 * (nodes + 1), 4 * edges);
    let gcn = program("gcn").build(&BTreeMap::new(), &facts()).unwrap();
    assert_eq!(bytes(&gcn, "scale"), offsets + real * nodes);
    let (gathered, made) = (real * hidden * edges, real * hidden * nodes);
    assert_eq!(
        bytes(&gcn, "sum.0"),
        offsets + neighbours + gathered + made + real * (nodes + hidden)
    );
    assert_eq!(
        bytes(&gcn, "product.0"),
        real * (96 * nodes + 96 * hidden + hidden * nodes + nodes)
    );
    assert_eq!(bytes(&gcn, "bias.0"), real * (hidden * nodes + hidden));
    assert_eq!(bytes(&gcn, "update.gcn.gcn.0.bias.0"), 7 * real * hidden);
    let weighted =
        program("gcn").build(&BTreeMap::new(), &GraphFacts { weighted: true, ..facts() }).unwrap();
    assert_eq!(bytes(&weighted, "sum.0"), bytes(&gcn, "sum.0") + real * edges);
    assert_eq!(bytes(&weighted, "scale"), bytes(&gcn, "scale") + real * edges);
    let components = program("components")
        .build(&BTreeMap::new(), &GraphFacts { training: false, symmetric: false, ..facts() })
        .unwrap();
    assert_eq!(
        bytes(&components, "min"),
        2 * (offsets + neighbours + 4 * edges) + 4 * nodes + 4 * nodes
    );
}

/// Bytes of a use; 0 where there is none.
fn of_use(memory: &Memory, name: &str) -> u64 {
    memory.uses.iter().filter(|(used, _)| used == name).map(|(_, bytes)| bytes).sum()
}

#[test]
fn memory_is_that_reckoned_by_hand() {
    // Large, so that what launches make outweighs what is only there while inputs are loaded.
    let (nodes, edges) = (1_000_000, 8_000_000);
    let large = GraphFacts { nodes, edges, ..facts() };
    let analytics = GraphFacts { training: false, symmetric: false, ..large.clone() };
    let (in_order, renumbered) =
        (Stored::default(), Stored { renumbered: true, ..Stored::default() });
    let memory = |name: &str, facts: &GraphFacts, stored| {
        let list = program(name).build(&BTreeMap::new(), facts).unwrap();
        list.memory(facts, stored, Needs::from_list(&list))
    };
    let components = memory("components", &analytics, in_order);
    // Two states, each to the next place; all edges stay where they are mapped.
    assert_eq!(of_use(&components, MADE), 2 * (4 * nodes).next_multiple_of(256));
    assert_eq!(
        (of_use(&components, "lists of edges"), of_use(&components, "weights of edges")),
        (0, 0)
    );
    let csr = 2 * (8 * (nodes + 1) + 12 * edges);
    let code = components.bytes_mapped - csr;
    assert_eq!(
        memory("components", &GraphFacts { nodes: 0, edges: 0, ..analytics }, in_order)
            .bytes_mapped,
        code + 16
    );
    let parameters = 4 * (96 * 16 + 16 + 16 * 22 + 22);
    let [mapped, copied] = [in_order, renumbered].map(|stored| memory("gcn", &large, stored));
    assert_eq!(
        (of_use(&copied, "moments"), of_use(&copied, "best parameters")),
        (2 * parameters, parameters)
    );
    // Rows of features are read where they are mapped, but for a new order or another type.
    let rows = |dtype| 96 * nodes * dtype;
    assert_eq!(
        (of_use(&mapped, "x"), of_use(&copied, "x"), of_use(&copied, "order of nodes")),
        (0, rows(4), 4 * nodes)
    );
    assert_eq!(
        of_use(&memory("gcn", &GraphFacts { bytes_per_real: 8, ..large.clone() }, in_order), "x"),
        rows(8)
    );
    // Copied while all edges are mapped; else read when the ids of edges, once proved, are let go
    // of.
    let walked = 8 * (nodes + 1) + 4 * edges;
    assert_eq!(
        (copied.bytes_mapped, mapped.bytes_mapped),
        (code + csr + rows(4), code + (walked + rows(4)).max(csr))
    );
    let made = of_use(&copied, MADE);
    assert!(made < 4 * nodes * (96 + 1 + 7 * 16 + 2 * 22) && made >= 4 * nodes * 96, "{made}");
    let sparse =
        memory("gcn", &GraphFacts { sparse_features: Some(18_000_000), ..large }, in_order);
    assert_eq!(of_use(&sparse, "x"), 8 * (nodes + 1) + 18_000_000 * 8);
    assert_eq!(of_use(&sparse, "x by columns"), 8 * 97 + 18_000_000 * 8);
}

#[test]
fn sizes_beyond_64_bits_saturate() {
    let huge = GraphFacts { nodes: u64::MAX / 2, edges: u64::MAX / 2, ..facts() };
    let gcn = program("gcn").build(&BTreeMap::new(), &huge).unwrap();
    assert_eq!(gcn.memory(&huge, Stored::default(), Needs::from_list(&gcn)).bytes_peak, u64::MAX);
}
