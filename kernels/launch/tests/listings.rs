//! listings: figures of compiled lists reckoned by hand, and the printed form of a loop.
//!
//! The printed form of a training is in ARCHITECTURE.md (`compiler/tests/architecture.rs`).
//! `UPDATE=1 cargo test -p warploom-launch --test all listings::` writes the loop's anew; read the
//! difference before keeping it.

use std::path::Path;

use warploom_ir::Data;
use warploom_launch::fuse::fuse;
use warploom_launch::{GraphFacts, LaunchList, MADE, Memory, Needs, Stored};
use warploom_test_support::golden_text::assert_golden;

use crate::compiled_lists::{plain_names, shipped, training};

const COLUMNS: u64 = 96;
const HIDDEN: u64 = 16;
const CLASSES: u64 = 22;
/// Of an f32, an id of a node, and an integer.
const REAL: u64 = 4;
const INDEX: u64 = 4;
const WHOLE: u64 = 8;

#[test]
fn components_reads_as_it_should() {
    let list = shipped("components", &Data::bare(1000, 8000));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden_text/components.txt");
    assert_golden(&path, &list.render());
}

fn bytes(list: &LaunchList, launch: &str) -> u64 {
    list.launches().into_iter().find(|known| known.name == launch).unwrap().bytes
}

#[test]
fn bytes_are_those_reckoned_by_hand() {
    let (nodes, edges) = (1000, 8000);
    let (offsets, neighbours) = (INDEX * (nodes + 1), INDEX * edges);
    let data = training(nodes, edges, COLUMNS, CLASSES);
    let gcn = plain_names(&shipped("gcn", &data));
    // Dropped features and their products are stored; the weight and the scale are read.
    assert_eq!(
        bytes(&gcn, "multiply.0"),
        REAL * (2 * COLUMNS * nodes + COLUMNS * HIDDEN + HIDDEN * nodes + nodes)
    );
    // A walk gathers a row an edge, reads scale and bias, and stores two rows a node.
    let (gathered, stored) = (REAL * HIDDEN * edges, 2 * REAL * HIDDEN * nodes);
    let walk = offsets + neighbours + gathered + stored + REAL * (nodes + HIDDEN);
    assert_eq!(bytes(&gcn, "multiply.2"), walk);
    assert_eq!(bytes(&gcn, "loss"), REAL * (2 * CLASSES * nodes + nodes + 1));
    assert_eq!(bytes(&gcn, "update.gcn.gcn.0.bias.0"), 7 * REAL * HIDDEN);
    // Weights are read once by each walk, and summed for the scale in place of the degree.
    let weighted = plain_names(&shipped("gcn", &Data { weighted: true, ..data }));
    assert_eq!(bytes(&gcn, "scale"), (WHOLE + REAL) * nodes);
    assert_eq!(bytes(&weighted, "scale"), offsets + neighbours + REAL * (edges + nodes));
    assert_eq!(bytes(&weighted, "multiply.2"), walk + REAL * edges);
    // Each edge is walked from both ends; labels are integers.
    let components = shipped("components", &Data::bare(nodes, edges));
    assert_eq!(
        bytes(&components, "label.next"),
        offsets + 2 * (neighbours + WHOLE * edges) + WHOLE * nodes
    );
}

/// Large, so that what launches make outweighs what is only there while inputs are loaded.
const NODES: u64 = 1_000_000;
const EDGES: u64 = 8_000_000;

fn model() -> Data {
    training(NODES, EDGES, COLUMNS, CLASSES)
}

fn facts(data: &Data) -> GraphFacts {
    GraphFacts::from_data(data)
}

fn memory(program: &str, data: &Data, renumbered: bool) -> Memory {
    let list = shipped(program, data);
    let stored = Stored { renumbered, ..Stored::default() };
    list.memory(&facts(data), stored, Needs::from_list(&list))
}

/// Bytes of a use; 0 where there is none.
fn of_use(memory: &Memory, name: &str) -> u64 {
    memory.uses.iter().filter(|(used, _)| used == name).map(|(_, bytes)| bytes).sum()
}

/// Lists of edges by node, in two directions.
fn lists(nodes: u64, bytes_of_edge: u64) -> u64 {
    2 * (8 * (nodes + 1) + bytes_of_edge * EDGES)
}

/// What loading maps in addition: both directions, with sources, targets and ids.
fn loading() -> u64 {
    lists(NODES, 3 * INDEX)
}

/// Pages of the program.
fn code() -> u64 {
    let empty = memory("components", &Data::bare(0, 0), false);
    empty.bytes_mapped - 4 * 8
}

#[test]
fn memory_of_a_loop_is_that_reckoned_by_hand() {
    let components = memory("components", &Data::bare(NODES, EDGES), false);
    // Two states, each to the next place.
    assert_eq!(of_use(&components, MADE), 2 * (WHOLE * NODES).next_multiple_of(256));
    // All edges stay where they are mapped.
    assert_eq!(of_use(&components, "lists of edges"), 0);
    assert_eq!(of_use(&components, "weights of edges"), 0);
    assert_eq!(components.bytes_mapped, code() + loading() + lists(NODES, INDEX));
    // A mode is taken by an operation alone, which numbers edges and reads their ends.
    let labels = memory("label_propagation", &Data::bare(NODES, EDGES), false);
    assert_eq!(of_use(&labels, "lists of edges"), 2 * INDEX * EDGES);
}

#[test]
fn memory_of_a_training_is_that_reckoned_by_hand() {
    let [mapped, copied] = [false, true].map(|renumbered| memory("gcn", &model(), renumbered));
    let parameters = REAL * (COLUMNS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES);
    assert_eq!(of_use(&copied, "moments"), 2 * parameters);
    assert_eq!(of_use(&copied, "best parameters"), parameters);
    assert_eq!(of_use(&copied, "target"), REAL * NODES);
    assert_eq!(of_use(&mapped, "order of nodes"), 0);
    assert_eq!(of_use(&copied, "order of nodes"), INDEX * NODES);
    // Rows of features are read where they are mapped, but for a new order or another type.
    let rows = |bytes_of_real| COLUMNS * NODES * bytes_of_real;
    let double = memory("gcn", &Data { bytes_per_real: 8, ..model() }, false);
    assert_eq!(of_use(&mapped, "x"), 0);
    assert_eq!(of_use(&copied, "x"), rows(4));
    assert_eq!(of_use(&double, "x"), rows(8));
    // They are copied while all edges are mapped; else they are mapped after loading, and are more.
    let walked = code() + lists(NODES, INDEX);
    assert!(rows(4) > loading());
    assert_eq!(copied.bytes_mapped, walked + loading() + rows(4));
    assert_eq!(mapped.bytes_mapped, walked + rows(4));
    // Launches that read weights read the ids of their edges.
    let weighted = Data { weighted: true, ..model() };
    let with_ids = code() + lists(NODES, 2 * INDEX);
    assert_eq!(memory("gcn", &weighted, false).bytes_mapped, with_ids + rows(4));
    let copied_weights = memory("gcn", &weighted, true);
    assert_eq!(copied_weights.bytes_mapped, with_ids + loading() + rows(4));
    assert_eq!(of_use(&copied_weights, "given.weight"), REAL * EDGES);
    assert_eq!(of_use(&copied, "given.weight"), 0);
}

#[test]
fn memory_of_values_is_that_reckoned_by_hand() {
    let list = shipped("gcn", &model());
    // During the loss: dropped features, scores and their gradient, rows of the hidden layer before
    // and after the sum, and the scale, a row a node each; the loss itself.
    let peak = list.peak().unwrap();
    let values = REAL * NODES * (COLUMNS + 2 * CLASSES + 2 * HIDDEN + 1);
    assert_eq!((peak.launch, peak.bytes), ("loss", values + 256));
    assert!((peak.bytes..peak.bytes + peak.bytes / 100).contains(&list.arena.bytes));
    assert_eq!(of_use(&memory("gcn", &model(), false), MADE), list.arena.bytes);
}

#[test]
fn memory_of_sparse_features_is_that_reckoned_by_hand() {
    let entries = 18_000_000;
    let sparse = memory("gcn", &Data { sparse_features: Some(entries), ..model() }, false);
    assert_eq!(of_use(&sparse, "x"), 8 * (NODES + 1) + entries * (INDEX + REAL));
    // The gradient of the first weight reads them by columns.
    assert_eq!(of_use(&sparse, "x by columns"), 8 * (COLUMNS + 1) + entries * (INDEX + REAL));
    assert_eq!(of_use(&memory("gcn", &model(), true), "x by columns"), 0);
}

#[test]
fn sizes_beyond_64_bits_saturate() {
    let huge = GraphFacts { nodes: u64::MAX / 2, edges: u64::MAX / 2, ..facts(&model()) };
    let gcn = shipped("gcn", &model());
    let memory = gcn.memory(&huge, Stored::default(), Needs::from_list(&gcn));
    assert_eq!((memory.bytes_peak, memory.bytes_mapped), (u64::MAX, u64::MAX));
    // Bytes of launches and the arena are set by fusion.
    let fused = fuse(&plain_names(&gcn), &huge);
    assert_eq!((bytes(&fused, "multiply.0"), fused.arena.bytes), (u64::MAX, u64::MAX));
}
