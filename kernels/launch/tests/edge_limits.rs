//! edge_limits: how many edges the graph of a list may have, and which lists number them.
//!
//! promises  a list is bound where it reads or makes a row of an edge, draws for one or asks for
//!           its relation, and on a GPU where it walks edges at all

use warploom_ir::Data;
use warploom_launch::{LaunchList, ListNeeds};

use crate::compiled_lists::{list, shipped, shipped_with, training};

/// Numbers of 32 bits; a GPU counts some edges beyond the last.
const NUMBERED: u64 = u32::MAX as u64;
const NUMBERED_ON_GPU: u64 = NUMBERED - (1 << 24);

fn model() -> Data {
    training(100, 500, 30, 4)
}

fn bare() -> Data {
    Data::bare(100, 500)
}

fn typed(data: Data) -> Data {
    Data { relations: vec!["cites".to_owned(), "knows".to_owned()], ..data }
}

fn weighted(data: Data) -> Data {
    Data { weighted: true, ..data }
}

/// On a CPU and on a GPU.
fn most_edges(list: &LaunchList) -> (Option<u64>, Option<u64>) {
    (list.most_edges(false), list.most_edges(true))
}

fn numbers_edges(list: &LaunchList) -> bool {
    ListNeeds::from_list(list).ids
}

#[test]
fn a_cpu_has_no_bound_where_no_edge_is_numbered() {
    for program in ["gcn", "sage", "gat"] {
        let list = shipped(program, &model());
        assert!(!numbers_edges(&list), "{program}");
        // Forward along in-edges, backward along out-edges: each direction has numbers of its own.
        assert_eq!(most_edges(&list), (None, Some(NUMBERED_ON_GPU)), "{program}");
    }
    let pagerank = shipped("pagerank", &bare());
    assert!(!numbers_edges(&pagerank));
    assert_eq!(most_edges(&pagerank), (None, Some(NUMBERED_ON_GPU)));
    // Along both directions at once, out-edges are numbered after in-edges.
    let components = shipped("components", &bare());
    assert!(!numbers_edges(&components));
    assert_eq!(most_edges(&components), (None, Some(NUMBERED_ON_GPU / 2)));
    // Both directions of a symmetric graph are one.
    let symmetric = shipped("components", &Data { symmetric: true, ..bare() });
    assert_eq!(most_edges(&symmetric), (None, Some(NUMBERED_ON_GPU)));
}

#[test]
fn nothing_is_bound_where_no_edge_is_walked() {
    let alone = list("def p(v):\n    return linear(v.x, v.classes)\n", "p", &[], &model());
    assert!(!numbers_edges(&alone));
    assert_eq!(most_edges(&alone), (None, None));
}

#[test]
fn values_of_edges_are_numbered() {
    let bound = (Some(NUMBERED), Some(NUMBERED_ON_GPU));
    for (what, list) in [
        ("weights of a training", shipped("gcn", &weighted(model()))),
        ("weights of a loop", shipped("sssp", &weighted(bare()))),
        ("draws for edges", shipped_with("gat", &[("drop_shares", 0.5)], &model())),
        ("relations", shipped("rgcn", &typed(model()))),
        ("an operation alone", shipped("label_propagation", &bare())),
    ] {
        assert!(numbers_edges(&list), "{what}");
        assert_eq!(most_edges(&list), bound, "{what}");
    }
    // Rows of edges that are stored are bound whether or not a walk over nodes numbers any.
    let stored = shipped("gatv2", &model());
    assert!(!numbers_edges(&stored));
    assert_eq!(most_edges(&stored), bound);
}

#[test]
fn values_of_edges_in_both_directions_are_half_as_many() {
    let text = "def p(v):\n    return sum(count(u for u in v.nbs[r] if u.id > v.id) for r in \
                v.graph.relations)\n";
    let both = list(text, "p", &[], &typed(bare()));
    assert!(numbers_edges(&both));
    assert_eq!(most_edges(&both), (Some(NUMBERED / 2), Some(NUMBERED_ON_GPU / 2)));
    let mode = "def p(v):\n    return mode((u.id for u in v.nbs), default=v.id)\n";
    let mode = list(mode, "p", &[], &bare());
    assert_eq!(most_edges(&mode), (Some(NUMBERED / 2), Some(NUMBERED_ON_GPU / 2)));
}
