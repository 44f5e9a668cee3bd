//! costs: bytes, memory and bounds of compiled lists, reckoned by hand.
use warploom_ir::Data;
use warploom_launch::{
    GraphFacts, LaunchList, ListNeeds, MADE, Memory, Needs, Operation, Over, Stored,
};

use crate::compiled_lists::{list, list_with, training};

const NODES: u64 = 1_000_000;
const EDGES: u64 = 8_000_000;

fn facts(data: &Data) -> GraphFacts {
    GraphFacts::from_data(data)
}

/// Bytes of a use; 0 where there is none.
fn of_use(memory: &Memory, name: &str) -> u64 {
    memory.uses.iter().filter(|(used, _)| used == name).map(|(_, bytes)| bytes).sum()
}

fn memory(list: &LaunchList, data: &Data, stored: Stored) -> Memory {
    list.memory(&facts(data), stored, Needs::from_list(list))
}

#[test]
fn bytes_of_a_walk_are_those_reckoned_by_hand() {
    // Labels of 8 bytes each, read along both directions and written once. A vertex's own label is
    // among those that its neighbours read.
    let data = Data::bare(1000, 8000);
    let components = list("components", &data);
    let walks = components.launches().into_iter().filter(|launch| {
        matches!(launch.operation, Operation::Fused { over: Over::EdgesOf(_), .. })
    });
    let [walk] = walks.collect::<Vec<_>>()[..] else { panic!("one walk a superstep") };
    let (offsets, ends, gathered) = (4 * 1001, 2 * 4 * 8000, 2 * 8 * 8000);
    assert_eq!(walk.bytes, offsets + ends + gathered + 8 * 1000);
}

#[test]
fn memory_is_that_reckoned_by_hand() {
    // Large, so that what launches make outweighs what is only there while inputs are loaded.
    let data = training(NODES, EDGES, 96, 22);
    let gcn = list("gcn", &data);
    let (in_order, renumbered) =
        (Stored::default(), Stored { renumbered: true, ..Stored::default() });
    let [mapped, copied] = [in_order, renumbered].map(|stored| memory(&gcn, &data, stored));
    let parameters = 4 * (96 * 16 + 16 + 16 * 22 + 22);
    assert_eq!(
        (of_use(&copied, "moments"), of_use(&copied, "best parameters")),
        (2 * parameters, parameters)
    );
    // Rows of features are read where they are mapped, but for a new order or another type.
    let rows = |dtype| 96 * NODES * dtype;
    assert_eq!(
        (of_use(&mapped, "x"), of_use(&copied, "x"), of_use(&copied, "order of nodes")),
        (0, rows(4), 4 * NODES)
    );
    let double = Data { bytes_per_real: 8, ..data.clone() };
    assert_eq!(of_use(&memory(&list("gcn", &double), &double, in_order), "x"), rows(8));
    // All edges stay where they are mapped, without their ids.
    assert_eq!((of_use(&mapped, "lists of edges"), of_use(&mapped, "weights of edges")), (0, 0));
    let made = of_use(&copied, MADE);
    let likely = 4 * NODES * 16..4 * NODES * (96 + 1 + 7 * 16 + 2 * 22);
    assert!(likely.contains(&made), "{made}");
    let sparse = Data { sparse_features: Some(18_000_000), ..data };
    let sparse = memory(&list("gcn", &sparse), &sparse, in_order);
    assert_eq!(of_use(&sparse, "x"), 8 * (NODES + 1) + 18_000_000 * 8);
    assert_eq!(of_use(&sparse, "x by columns"), 8 * 97 + 18_000_000 * 8);
}

#[test]
fn sizes_beyond_64_bits_saturate() {
    let huge = training(u64::MAX / 2, u64::MAX / 2, 96, 22);
    let gcn = list("gcn", &huge);
    assert_eq!(memory(&gcn, &huge, Stored::default()).bytes_peak, u64::MAX);
}

#[test]
fn edges_are_bounded_where_they_are_numbered() {
    const MOST: u64 = u32::MAX as u64;
    const ON_GPU: u64 = MOST - (1 << 24);
    let bare = Data::bare(NODES, EDGES);
    let data = training(NODES, EDGES, 96, 22);
    let weighted = Data { weighted: true, ..data.clone() };
    for (what, list, ids, on_cpu, on_gpu) in [
        // Walks without values of edges are not bound on a CPU; components walks both directions.
        ("gcn", list("gcn", &data), false, None, ON_GPU),
        ("sage", list("sage", &data), false, None, ON_GPU),
        ("pagerank", list("pagerank", &bare), false, None, ON_GPU),
        ("components", list("components", &bare), false, None, ON_GPU / 2),
        ("gcn with weights", list("gcn", &weighted), true, Some(MOST), ON_GPU),
        (
            "gat that drops",
            list_with("gat", &[("drop_shares", 0.5)], &data),
            true,
            Some(MOST),
            ON_GPU,
        ),
    ] {
        let needs = ListNeeds::from_list(&list);
        assert_eq!(
            (needs.ids, list.most_edges(false), list.most_edges(true)),
            (ids, on_cpu, Some(on_gpu)),
            "{what}"
        );
    }
}
