//! render: the listing of each shipped program as golden text, and the figures in it reckoned by hand.
//!
//! `UPDATE=1 cargo test -p warploom-vertex --test all render::` writes the listings anew; read the difference before keeping it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use warploom_vertex::Facts;
use warploom_vertex::builtin::{self, Builtin};
use warploom_vertex::launch::{LaunchList, LossKind};

fn program(name: &str) -> &'static Builtin {
    builtin::all().iter().find(|builtin| builtin.name == name).unwrap()
}

/// A graph of 1000 nodes and 8000 edges, f32.
fn facts() -> Facts {
    Facts {
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
        loss: LossKind::CrossEntropy,
        bytes_per_real: 4,
    }
}

fn compare(name: &str, list: &LaunchList) {
    assert_eq!(list.validate(), Ok(()));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden_text/{name}.txt"));
    let text = list.render();
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, &text).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == wanted, "{} is stale: run with UPDATE=1 and read the difference; now it is\n{text}", path.display());
}

#[test]
fn gcn_reads_as_it_should() {
    compare("gcn", &program("gcn").build(&BTreeMap::new(), &facts()).unwrap());
}

#[test]
fn gcn_with_weights_and_sparse_features_reads_as_it_should() {
    let facts = Facts { weighted: true, feature_columns: 1433, sparse_features: Some(18_000), ..facts() };
    compare("gcn_sparse_weighted", &program("gcn").build(&[("drop".to_owned(), json!(0.6))].into(), &facts).unwrap());
}

#[test]
fn gcn_that_predicts_reads_as_it_should() {
    compare("gcn_predict", &program("gcn").build(&BTreeMap::new(), &Facts { training: false, ..facts() }).unwrap());
}

#[test]
fn sage_reads_as_it_should() {
    let facts = Facts { feature_columns: 12, symmetric: false, classes: 40, loss: LossKind::MeanSquares, ..facts() };
    compare("sage", &program("sage").build(&BTreeMap::new(), &facts).unwrap());
}

#[test]
fn pagerank_reads_as_it_should() {
    let facts = Facts { training: false, symmetric: false, ..facts() };
    compare("pagerank", &program("pagerank").build(&BTreeMap::new(), &facts).unwrap());
}

#[test]
fn components_reads_as_it_should() {
    let facts = Facts { training: false, symmetric: false, ..facts() };
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
    assert_eq!(bytes(&gcn, "sum.0"), offsets + neighbours + gathered + made + real * (nodes + hidden));
    assert_eq!(bytes(&gcn, "product.0"), real * (96 * nodes + 96 * hidden + hidden * nodes + nodes));
    assert_eq!(bytes(&gcn, "bias.0"), real * (hidden * nodes + hidden));
    assert_eq!(bytes(&gcn, "update.gcn.gcn.0.bias.0"), 7 * real * hidden);
    let weighted = program("gcn").build(&BTreeMap::new(), &Facts { weighted: true, ..facts() }).unwrap();
    assert_eq!(bytes(&weighted, "sum.0"), bytes(&gcn, "sum.0") + real * edges);
    assert_eq!(bytes(&weighted, "scale"), bytes(&gcn, "scale") + real * edges);
    let components = program("components").build(&BTreeMap::new(), &Facts { training: false, symmetric: false, ..facts() }).unwrap();
    assert_eq!(bytes(&components, "min"), 2 * (offsets + neighbours + 4 * edges) + 4 * nodes + 4 * nodes);
}

#[test]
fn memory_is_that_reckoned_by_hand() {
    let analytics = Facts { training: false, symmetric: false, ..facts() };
    let components = program("components").build(&BTreeMap::new(), &analytics).unwrap().memory(&analytics);
    assert_eq!(components.bytes_adjacency, 2 * (4 * 1001 + 4 * 8000));
    // Two states, each to the next place.
    assert_eq!(components.bytes_peak, 2 * 4096 + components.bytes_adjacency);
    let ranks = program("pagerank").build(&BTreeMap::new(), &analytics).unwrap().memory(&analytics);
    assert_eq!(ranks.bytes_adjacency, 4 * 1001 + 4 * 8000 + 4 * 1001, "of the out-edges only the offsets are read");
    let gcn = program("gcn").build(&BTreeMap::new(), &facts()).unwrap().memory(&facts());
    let parameters = 4 * (96 * 16 + 16 + 16 * 22 + 22);
    assert_eq!(gcn.bytes_moments, 2 * parameters);
    assert_eq!(gcn.bytes_adjacency, 4 * 1001 + 4 * 8000);
    // x and target; the arena is smaller than all that is made: h.0, scale; z.0, h.1.scaled, a.1 and four slopes of 16; h.2 and its slope.
    let columns = 96 + 1;
    assert!(gcn.bytes_arena < 4 * 1000 * (96 + 1 + 7 * 16 + 2 * 22) && gcn.bytes_arena >= 4 * 1000 * 96, "{}", gcn.bytes_arena);
    assert_eq!(gcn.bytes_peak, 4 * 1000 * columns + gcn.bytes_arena + parameters + gcn.bytes_moments + gcn.bytes_adjacency);
    let sparse = Facts { sparse_features: Some(18_000), ..facts() };
    let memory = program("gcn").build(&BTreeMap::new(), &sparse).unwrap().memory(&sparse);
    let features = memory.bytes_buffers.iter().find(|(name, _)| name == "x").unwrap();
    assert_eq!(features.1, 4 * 1001 + 18_000 * 8);
}

#[test]
fn sizes_beyond_64_bits_saturate() {
    let huge = Facts { nodes: u64::MAX / 2, edges: u64::MAX / 2, ..facts() };
    let gcn = program("gcn").build(&BTreeMap::new(), &huge).unwrap();
    assert_eq!(gcn.memory(&huge).bytes_peak, u64::MAX);
}
