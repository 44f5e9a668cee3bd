//! metis: order by the partition of METIS (Karypis and Kumar 1998): balanced parts with a small
//! edge cut follow each other; in a part the old order stays.
//!
//! promises  the same parts in every run: METIS draws from a seed, where 0 is its default; the best
//!           of four cuts by recursive bisection and one by k-way. K-way alone is worse: METIS 5.2
//!           stops coarsening at half the nodes of METIS 5.1 (in pymetis) and cuts up to 1.39 times
//!           its pairs (the roads of New York in 64 parts; the best of all cuts has 0.92 of them,
//!           for two to six times the time)
//! never     reads weights, relations, directions, parallel edges or self loops; exceeds its time
//!           limit
//! limits    2^31 - 1 edge ends (METIS counts in 32 bits); one thread
pub mod child;

use metis::{
    Graph, Idx,
    option::{NCuts, Seed},
};
use warploom_contract::{ErrorKind, StageError, kinds::permutation::Cut};

use crate::undirected_neighbours::Undirected;

/// Recursive bisections of which METIS takes the best.
const CUTS_BY_HALVES: Idx = 4;
/// Up to so many parts k-way is not tried, as in other front ends of METIS.
const FEW_PARTS: u64 = 8;

/// Parameters of METIS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutRequest {
    /// Parts.
    pub parts: u64,
    /// 0: METIS's own.
    pub seed: u64,
}

/// A graph in METIS's form: start of each row, and neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    starts: Vec<Idx>,
    neighbours: Vec<Idx>,
}

/// The order and its partition.
#[derive(Clone, Debug, PartialEq)]
pub struct MetisOrder {
    /// The old number of each new one.
    pub old_of_new: Vec<u32>,
    /// The parts.
    pub cut: Cut,
}

/// Orders nodes by the parts that `cut` finds, which is `cut_parts` in a child process.
pub fn order(
    graph: &Undirected,
    wish: CutRequest,
    cut: impl FnOnce(Pairs, CutRequest) -> Result<Vec<Idx>, StageError>,
) -> Result<MetisOrder, StageError> {
    let parts = wish.parts.min(graph.nodes() as u64).max(1);
    let part = if parts == 1 {
        vec![0; graph.nodes()]
    } else {
        cut(build_pairs(graph)?, CutRequest { parts, ..wish })?
    };
    if part.len() != graph.nodes() || part.iter().any(|&part| part < 0 || part as u64 >= parts) {
        return Err(StageError::defect(format!(
            "METIS gave parts that are not 0 to {} for each of {} nodes",
            parts - 1,
            graph.nodes()
        )));
    }
    let mut old_of_new: Vec<u32> = (0..graph.nodes() as u32).collect();
    old_of_new.sort_by_key(|&node| part[node as usize]);
    Ok(MetisOrder { old_of_new, cut: measure_cut(graph, &part, parts) })
}

/// Calls METIS in this process: it cannot be interrupted, and handles SIGTERM itself while it
/// works.
pub fn cut_parts(pairs: &Pairs, wish: CutRequest) -> Result<Vec<Idx>, StageError> {
    let wrong = |error: &dyn std::fmt::Display| {
        StageError::new(ErrorKind::Memory, format!("METIS could not cut the graph: {error}"))
    };
    let cut = |by_halves: bool| {
        let graph = Graph::new(1, wish.parts as Idx, &pairs.starts, &pairs.neighbours)
            .map_err(|error| wrong(&error))?;
        let graph = graph.set_option(NCuts(if by_halves { CUTS_BY_HALVES } else { 1 }));
        let graph = if wish.seed == 0 {
            graph
        } else {
            graph.set_option(Seed((wish.seed & Idx::MAX as u64) as Idx))
        };
        let mut part = vec![0; pairs.starts.len() - 1];
        let cut =
            if by_halves { graph.part_recursive(&mut part) } else { graph.part_kway(&mut part) };
        cut.map(|pairs| (pairs, part)).map_err(|error| wrong(&error))
    };
    let by_halves = cut(true)?;
    if wish.parts <= FEW_PARTS {
        // Bisection is better balanced; with few parts k-way cuts less only because it is not.
        return Ok(by_halves.1);
    }
    let at_once = cut(false)?;
    Ok(if at_once.0 < by_halves.0 { at_once.1 } else { by_halves.1 })
}

fn build_pairs(graph: &Undirected) -> Result<Pairs, StageError> {
    let rows = graph.rows();
    if rows.neighbours.len() >= Idx::MAX as usize {
        let what = format!(
            "METIS counts up to {} edge ends, and this graph has {}",
            Idx::MAX,
            rows.neighbours.len()
        );
        return Err(StageError::new(ErrorKind::Specification, what)
            .hint("use  --set reorder.method=rabbit"));
    }
    Ok(Pairs {
        starts: rows.offsets.iter().map(|&start| start as Idx).collect(),
        neighbours: rows.neighbours.iter().map(|&far| far as Idx).collect(),
    })
}

fn measure_cut(graph: &Undirected, part: &[Idx], parts: u64) -> Cut {
    let across = |node: usize| {
        graph
            .neighbours(node as u32)
            .iter()
            .filter(|&&far| part[far as usize] != part[node])
            .count() as u64
    };
    let mut sizes = vec![0u64; parts as usize];
    part.iter().for_each(|&part| sizes[part as usize] += 1);
    let largest = sizes.into_iter().max().unwrap_or(0);
    let imbalance =
        if part.is_empty() { 1.0 } else { (largest * parts) as f64 / part.len() as f64 };
    Cut { parts, pairs: (0..graph.nodes()).map(across).sum::<u64>() / 2, imbalance }
}
