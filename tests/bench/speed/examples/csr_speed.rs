//! csr_speed: times graph -> csr of both directions, without reading or writing files. One JSON
//! line for each order of the edges.
//!
//! usage: csr_speed GRAPH_FOLDER THREADS      (GRAPH_FOLDER: an artifact of kind `graph`)
use warploom_bench::{best_seconds, folder_and_threads};
use warploom_contract::{
    Artifact, Kind,
    kinds::graph::{EdgeTable, read_edges},
};
use warploom_extract::group::build_csr;

const ROUNDS: usize = 7;

fn main() {
    let (folder, threads) = folder_and_threads();
    let artifact = Artifact::from_folder(Kind::Graph, &folder).expect("a graph artifact");
    let nodes = artifact.count("nodes").expect("counted") as usize;
    let table = read_edges(&artifact).expect("edges");
    let sorted = build_csr(nodes, &table);
    let shuffled = shuffle(&table);
    let again = build_csr(nodes, &shuffled);
    assert!(
        sorted.incoming.neighbours == again.incoming.neighbours
            && sorted.outgoing.neighbours == again.outgoing.neighbours,
        "the order of the edges changed the rows"
    );
    for (order, table) in [("sorted", &table), ("shuffled", &shuffled)] {
        let best = best_seconds(ROUNDS, || {
            let parts = build_csr(nodes, table);
            assert_eq!(parts.incoming.edges.len(), table.source.len());
        });
        println!(
            "{{\"order\": \"{order}\", \"threads\": {threads}, \"edges\": {}, \"seconds\": \
             {best}}}",
            table.source.len()
        );
    }
}

/// The edges in another order: a fixed walk with a stride prime to their number.
fn shuffle(table: &EdgeTable) -> EdgeTable {
    let count = table.source.len();
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let stride = (count * 618 / 1000 + 1..).find(|&stride| gcd(stride, count) == 1).unwrap_or(1);
    let walk = |ends: &[u32]| {
        (0..count).map(|at| ends[(at as u128 * stride as u128 % count as u128) as usize]).collect()
    };
    EdgeTable { source: walk(&table.source), target: walk(&table.target), weight: None, kind: None }
}
