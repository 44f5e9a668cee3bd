//! memory: the predicted peak beside the memory that a process takes.
//!
//! promises  a run takes at most the prediction, a tenth of it and `BESIDE` (for threads, tables
//!           and code), and with what the process had before at least half of the prediction.
//!           Where the system does not report memory, nothing is compared, and `SKIPPED` is
//!           printed
use std::process::Command;

use warploom_contract::progress::{Silence, StopFlag};

use warploom_contract::kinds::graph::{EdgeTable, Ids, Labels, NodeTable};
use warploom_test_support::graph_inputs::{random, signed, uniform};
use warploom_test_support::stage_runner::{Features, GraphTables, StageRunner};

const NODES: usize = 60_000;
const COLUMNS: usize = 32;
/// Of a process before it opens a graph: predicted, and not in how far its size rises after.
const BEFORE: u64 = 5 << 20;
/// Bytes that are in no plan.
const BESIDE: u64 = 24 << 20;
/// What a child says before its two numbers.
const SAYS: &str = "predicted and taken:";
/// What begins a peak anew.
const PEAK: &str = "/proc/self/clear_refs";
/// What a child says that cannot begin one.
const SKIPPED: &str = "SKIPPED: memory::what_is_predicted_is_taken:";

fn given() -> GraphTables {
    let shape = random("communities", NODES, 5 * NODES, 41);
    let (source, target) = shape.edges.iter().copied().unzip();
    GraphTables {
        edges: EdgeTable { source, target, weight: None, kind: None },
        nodes: NodeTable {
            labels: Some(Labels::Classes(
                (0..NODES).map(|node| Some((uniform(42, node) * 4.0) as u32)).collect(),
            )),
            splits: vec![(0..NODES).map(|node| [1, 1, 2, 3, 0][node % 5]).collect()],
            ..NodeTable::new(Ids::Numbers((0..NODES as u64).collect()))
        },
        features: Features::Dense {
            columns: COLUMNS,
            values: signed(43, NODES * COLUMNS).into_iter().map(|value| value as f32).collect(),
        },
        edge_features: None,
        graphs: None,
    }
}

/// A line of this process's status, in bytes.
fn status(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// One run, in a process of its own: what was predicted, and how far the resident size rose. The
/// test below starts it, alone in its process and with a program; without one it does nothing.
#[test]
fn child() {
    let Ok(program) = std::env::var("WARPLOOM_TEST_PROGRAM") else { return };
    let runner = StageRunner::new();
    let graph = runner.graph(&given());
    let rest = if program == "pagerank" {
        "run: {max_supersteps: 3, allow_unconverged: true}"
    } else {
        "run: {epochs: 2}"
    };
    let pipeline = runner.pipeline(&program, rest);
    let chain = runner.planned(&graph, &pipeline).unwrap();
    if let Err(error) = std::fs::write(PEAK, "5") {
        return println!("{SKIPPED} {PEAK}: {error}");
    }
    let before = status("VmRSS:").unwrap();
    let left = runner.run(&chain, &Silence, &StopFlag::new()).unwrap();
    let taken = status("VmHWM:").unwrap().saturating_sub(before);
    println!("{SAYS} {} {taken}", left.record().bytes_predicted);
}

#[test]
fn what_is_predicted_is_taken() {
    for program in ["gcn", "gat", "pagerank"] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .args(["memory::child", "--exact", "--nocapture"])
            .env("WARPLOOM_TEST_PROGRAM", program)
            .env("RAYON_NUM_THREADS", "2");
        let output = child.output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        if let Some((_, why)) = text.lines().find_map(|line| line.split_once(SKIPPED)) {
            eprintln!("{SKIPPED} nothing was compared:{why}");
            continue;
        }
        let Some((_, numbers)) = text.lines().find_map(|line| line.split_once(SAYS)) else {
            panic!("{program}: no numbers in `{text}`")
        };
        let numbers: Vec<u64> =
            numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let [predicted, taken] = numbers[..] else { panic!("{text}") };
        assert!(
            taken <= predicted + predicted / 10 + BESIDE && BEFORE + taken >= predicted / 2,
            "{program}: {predicted} bytes were predicted, {taken} taken"
        );
    }
}
