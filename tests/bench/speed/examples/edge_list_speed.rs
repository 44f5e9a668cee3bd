//! edge_list_speed: times the reader of edge lists.
//!
//! usage: edge_list_speed FILE [REPEATS]
//!        edge_list_speed make EDGES FILE
//!
//! With `make` it writes a list first: seeded, ids below a fifth of the edges, as SNAP
//! prints them.
use std::{
    error::Error,
    fs,
    io::{BufWriter, Write},
    path::Path,
};

use warploom_bench::time;
use warploom_formats::{Options, raw_graph::RawGraph, readers::edge_list};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", edges, file] => make(edges.parse()?, Path::new(file)),
        [file] => measure(Path::new(file), 5),
        [file, repeats] => measure(Path::new(file), repeats.parse()?),
        _ => Err("expected  FILE [REPEATS]  or  make EDGES FILE".into()),
    }
}

fn make(edges: u64, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(fs::File::create(file)?);
    let nodes = (edges / 5).max(2);
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % nodes
    };
    writeln!(out, "# Directed graph: generated\n# FromNodeId\tToNodeId")?;
    for _ in 0..edges {
        writeln!(out, "{}\t{}", next(), next())?;
    }
    Ok(out.flush()?)
}

fn measure(file: &Path, repeats: u32) -> Result<(), Box<dyn Error>> {
    let bytes = fs::metadata(file)?.len();
    for _ in 0..repeats {
        let (all, read) = time(|| edge_list::read_measured(file, &Options::default()));
        let (graph, phases): (RawGraph, _) = read.map_err(|error| error.to_string())?;
        let edges = graph.edges.len() as f64;
        let rate = |seconds: f64| {
            format!(
                "{:.4} s  {:.0} MB/s  {:.1} M edges/s",
                seconds,
                bytes as f64 / seconds / 1e6,
                edges / seconds / 1e6
            )
        };
        println!(
            "{} nodes, {edges} edges   parse {}   whole {}",
            graph.nodes(),
            rate(phases.parse.as_secs_f64()),
            rate(all)
        );
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or(" unknown");
    println!("peak memory{peak}");
    Ok(())
}
