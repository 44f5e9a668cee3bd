//! open_speed: makes a large csr artifact, and times opening one in a fresh process.
//!
//! usage: open_speed make STORE EDGES      prints the key
//!        open_speed open STORE KEY        prints one JSON line: milliseconds,
//!        megabytes by which the process grew
use warploom_bench::time;
use warploom_contract::{
    Contract, Inputs, Key, KeyDocument, Kind, Outputs, Store,
    kinds::csr::{Csr, CsrParts, DirectionParts, write},
    progress::Silence,
};

const CONTRACT: Contract =
    Contract { name: "extract", version: 0, reads: &[], writes: &[Kind::Csr] };
const DEGREE: u64 = 16;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let store = Store::new(&arguments[2]);
    match arguments[1].as_str() {
        "make" => make(&store, arguments[3].parse().expect("a number of edges")),
        _ => open(&store, &Key::parse(&arguments[3]).expect("a key")),
    }
}

fn make(store: &Store, edges: u64) {
    let nodes = edges / DEGREE;
    let side = || DirectionParts {
        offsets: (0..=nodes).map(|node| node * DEGREE).collect(),
        neighbours: (0..nodes * DEGREE)
            .map(|slot| ((slot / DEGREE) % (nodes - DEGREE) + slot % DEGREE) as u32)
            .collect(),
        edges: (0..nodes * DEGREE).collect(),
    };
    let document = KeyDocument::new(
        CONTRACT.name,
        CONTRACT.version,
        CONTRACT.writes,
        serde_json::json!({"edges": edges}),
    );
    let key = document.key();
    let mut outputs = Outputs::begin(store, &CONTRACT, document, &Inputs::new()).expect("a draft");
    write(
        &mut outputs,
        CsrParts { incoming: side(), outgoing: side(), weights: None, types: None, graphs: None },
        &Silence,
    )
    .expect("written");
    outputs.publish(store).expect("published");
    println!("{key}");
}

fn open(store: &Store, key: &Key) {
    let before = resident();
    let (seconds, (artifact, csr)) = time(|| {
        let artifact = store.open(Kind::Csr, key, false).expect("opened");
        let csr = Csr::open(&artifact).expect("mapped");
        (artifact, csr)
    });
    let milliseconds = seconds * 1e3;
    let grown = resident() - before;
    let (edges, nodes) = (csr.edges(), csr.nodes());
    assert_eq!((csr.incoming.neighbours[0], csr.incoming.offsets[nodes]), (0, edges as u64));
    println!(
        "{{\"milliseconds\": {milliseconds}, \"megabytes_resident\": {}, \"bytes\": {}, \"nodes\": \
         {nodes}, \"edges\": {edges}}}",
        grown / 1e6,
        artifact.manifest.bytes()
    );
}

/// Bytes of this process that are in memory.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(0.0)
        * 4096.0
}
