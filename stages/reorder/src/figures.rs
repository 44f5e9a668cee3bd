//! What an order is worth: figures of the graph under a numbering, without permuting it.
//!
//! promises  exact, and the same bits for any number of threads
use rayon::prelude::*;
use warploom_contract::kinds::{
    csr::Csr,
    permutation::{AesRule, OrderFigures},
};

/// Rows of 16 f32 values in a line of 128 bytes.
const ROWS_PER_LINE: u32 = 2;
const EDGES_PER_GROUP: usize = 32;

/// Figures under the numbering `new_of_old`, or as it stands.
pub fn measure(csr: &Csr, new_of_old: Option<&[u32]>) -> OrderFigures {
    let number = |node: u32| new_of_old.map_or(node, |numbers| numbers[node as usize]);
    let row = |row: usize| &csr.incoming.neighbours[csr.incoming.offsets[row] as usize..csr.incoming.offsets[row + 1] as usize];
    let spans = (0..csr.nodes()).into_par_iter().with_min_len(1 << 12).map(|node| {
        let own = number(node as u32);
        row(node).iter().fold((0u128, 0u64), |(sum, most), &source| {
            let span = u64::from(own.abs_diff(number(source)));
            (sum + u128::from(span), most.max(span))
        })
    });
    let (sum, bandwidth) = spans.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
    let edges = csr.edges();
    OrderFigures { aes: if edges == 0 { 0.0 } else { sum as f64 / edges as f64 }, bandwidth, lines_per_32_edges: lines(csr, new_of_old) }
}

/// Distinct lines per 32 consecutive in-edges, walking rows in the new order.
fn lines(csr: &Csr, new_of_old: Option<&[u32]>) -> f64 {
    let edges = csr.edges();
    if edges == 0 {
        return 0.0;
    }
    let mut walk: Vec<u32> = (0..csr.nodes() as u32).collect();
    if let Some(numbers) = new_of_old {
        for (old, &new) in numbers.iter().enumerate() {
            walk[new as usize] = old as u32;
        }
    }
    let mut stream: Vec<u32> = Vec::with_capacity(edges);
    for &node in &walk {
        let range = csr.incoming.offsets[node as usize] as usize..csr.incoming.offsets[node as usize + 1] as usize;
        let line = |&source: &u32| new_of_old.map_or(source, |numbers| numbers[source as usize]) / ROWS_PER_LINE;
        stream.extend(csr.incoming.neighbours[range].iter().map(line));
    }
    let groups = edges.div_ceil(EDGES_PER_GROUP);
    let distinct = |group: &[u32]| {
        let mut lines = [0u32; EDGES_PER_GROUP];
        let lines = &mut lines[..group.len()];
        lines.copy_from_slice(group);
        lines.sort_unstable();
        1 + lines.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
    };
    stream.par_chunks(EDGES_PER_GROUP).map(distinct).sum::<u64>() as f64 / groups as f64
}

/// Document 000's rule.
pub fn aes_rule(aes: f64, nodes: usize) -> AesRule {
    let (left, right) = (aes.sqrt(), ((nodes as f64).sqrt() / 100.0).floor());
    AesRule { left, right, worth_it: left > right }
}
