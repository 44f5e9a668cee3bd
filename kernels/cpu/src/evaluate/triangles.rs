//! triangles: common neighbours of the two ends of each edge, per edge, or summed over the edges of
//! each vertex.
//!
//! promises  equals the interpreter: distinct third vertices, adjacent in either direction; the
//!           same for any thread count
//! bytes     every pair of higher-ranked neighbours of a vertex is tested once; ranked by degree,
//!           so that hubs have few
//! limits    4 bytes per edge, 8 per pair of adjacent vertices, and 4 per vertex and pair for each
//!           thread; summed, in a graph whose edges are all reciprocal and simple, 4 per pair, and
//!           9 per vertex for each thread
//!
//! The lowest-ranked of three adjacent vertices finds the other two, and all three pairs count one
//! (Chiba & Nishizeki 1985; ranked by degree as in Schank & Wagner 2005).
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;
use warploom_ir::{Direction, EdgeSet};

use super::EdgeGraph;
use super::source::walk;

/// Vertices per task.
const TASK_VERTICES: usize = 512;
/// Elements per task where no row is heavier than another.
const TASK_ELEMENTS: usize = 1 << 14;

/// Writes the count for every edge.
pub(super) fn common_neighbors(out: &mut [i64], graph: &EdgeGraph) {
    let pairs = Pairs::new(graph);
    let counts = pairs.counts();
    let found: Vec<AtomicU32> = out.iter().map(|_| AtomicU32::new(0)).collect();
    map_tasks(graph.nodes, |vertices, marks: &mut VertexMarks| {
        for vertex in vertices {
            let own = pairs.vertex_range(vertex);
            marks.set(&pairs.far[own.clone()], own.start as u32);
            walk(graph, EdgeSet::BOTH, vertex, |at| {
                // Rows of out-edges follow those of all in-edges.
                let edge = at.row % found.len();
                if at.far == vertex {
                    found[edge].store(adjacent(graph, vertex), Relaxed);
                } else if let Some(pair) = marks.get(at.far) {
                    found[edge].store(counts[pair as usize], Relaxed);
                }
            });
            marks.unset(&pairs.far[own]);
        }
    });
    out.par_iter_mut()
        .zip(&found)
        .with_min_len(TASK_ELEMENTS)
        .for_each(|(out, found)| *out = i64::from(found.load(Relaxed)));
}

/// Writes the sum over the edges of every vertex.
pub(super) fn common_neighbors_sum(out: &mut [i64], graph: &EdgeGraph, edges: EdgeSet) {
    let pairs = Pairs::new(graph);
    if pairs.are_simple && edges.relation.is_none() {
        // Each of the two other vertices has one edge to the vertex and one from it.
        let times = if edges.direction == Direction::Both { 4 } else { 2 };
        let found = pairs.triangles();
        let sum =
            |vertex: usize| found.iter().map(|of_thread| of_thread[vertex]).sum::<u64>() as i64;
        out.par_iter_mut()
            .enumerate()
            .with_min_len(TASK_ELEMENTS)
            .for_each(|(vertex, out)| *out = times * sum(vertex));
        return;
    }
    let mut found = vec![0; graph.edge_count];
    common_neighbors(&mut found, graph);
    out.par_iter_mut().enumerate().with_min_len(TASK_VERTICES).for_each(|(vertex, out)| {
        *out = 0;
        walk(graph, edges, vertex, |at| *out += found[at.row % found.len()]);
    });
}

/// The number of distinct neighbours of a vertex; for self-loops, which are few.
fn adjacent(graph: &EdgeGraph, vertex: usize) -> u32 {
    let mut found = Vec::new();
    walk(graph, EdgeSet::BOTH, vertex, |at| found.push(at.far));
    found.sort_unstable();
    found.dedup();
    found.iter().filter(|&&far| far != vertex).count() as u32
}

/// Pairs of adjacent vertices, each once, stored with the lower-ranked one.
struct Pairs {
    nodes: usize,
    /// Whether every pair has exactly one edge each way, and there are no self-loops.
    are_simple: bool,
    offsets: Vec<u32>,
    far: Vec<u32>,
}

impl Pairs {
    fn new(graph: &EdgeGraph) -> Pairs {
        let mut sides = vec![graph.incoming, graph.outgoing];
        let both_ways = graph
            .incoming
            .zip(graph.outgoing)
            .is_some_and(|(one, other)| one.offsets == other.offsets && one.far == other.far);
        let edges = if both_ways { EdgeSet::IN } else { EdgeSet::BOTH };
        sides.truncate(if both_ways { 1 } else { 2 });
        let entries = |vertex: usize| {
            sides
                .iter()
                .flatten()
                .map(|side| side.offsets[vertex + 1] - side.offsets[vertex])
                .sum::<u64>() as u32
        };
        let ranks: Vec<u32> =
            (0..graph.nodes).into_par_iter().with_min_len(TASK_ELEMENTS).map(entries).collect();
        let is_above = |far: usize, vertex: usize| (ranks[far], far) > (ranks[vertex], vertex);
        let parts = map_tasks(graph.nodes, |vertices, marks: &mut VertexMarks| {
            let (mut far, mut ends, mut are_simple) = (Vec::new(), Vec::new(), both_ways);
            for vertex in vertices {
                let start = far.len();
                walk(graph, edges, vertex, |at| {
                    if is_above(at.far, vertex) {
                        if marks.add(at.far) {
                            far.push(at.far as u32);
                        } else {
                            are_simple = false;
                        }
                    }
                    are_simple &= at.far != vertex;
                });
                marks.unset(&far[start..]);
                ends.push(far.len() as u32);
            }
            (far, ends, are_simple)
        });
        let are_simple = parts.iter().all(|(_, _, are_simple)| *are_simple);
        let (mut offsets, mut far) =
            (vec![0], Vec::with_capacity(parts.iter().map(|(far, _, _)| far.len()).sum()));
        for (part, ends, _) in &parts {
            offsets.extend(ends.iter().map(|end| far.len() as u32 + end));
            far.extend_from_slice(part);
        }
        Pairs { nodes: graph.nodes, are_simple, offsets, far }
    }

    fn vertex_range(&self, vertex: usize) -> std::ops::Range<usize> {
        self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize
    }

    /// The number of triangles of each pair.
    fn counts(&self) -> Vec<u32> {
        let next = AtomicUsize::new(0);
        // A counter array per thread: shared counters would need an atomic operation per triangle.
        let of_threads: Vec<Vec<u32>> = (0..rayon::current_num_threads())
            .into_par_iter()
            .with_max_len(1)
            .map(|_| {
                let (mut counts, mut marks) = (vec![0; self.far.len()], VertexMarks::default());
                marks.fit(self.nodes);
                while let Some(vertices) = task(&next, self.nodes) {
                    vertices.for_each(|vertex| self.count(vertex, &mut counts, &mut marks));
                }
                counts
            })
            .collect();
        let sum = |pair: usize| of_threads.iter().map(|counts| counts[pair]).sum();
        (0..self.far.len()).into_par_iter().with_min_len(TASK_ELEMENTS).map(sum).collect()
    }

    /// The number of triangles of each vertex, as found by each thread.
    fn triangles(&self) -> Vec<Vec<u64>> {
        let next = AtomicUsize::new(0);
        let threads = (0..rayon::current_num_threads()).into_par_iter().with_max_len(1);
        let of_thread = |_| {
            let (mut found, mut is_near) = (vec![0; self.nodes], vec![0u8; self.nodes]);
            while let Some(vertices) = task(&next, self.nodes) {
                vertices.for_each(|vertex| self.close(vertex, &mut found, &mut is_near));
            }
            found
        };
        threads.map(of_thread).collect()
    }

    /// Counts the triangles in which this vertex has the lowest rank, for all three vertices.
    #[inline]
    fn close(&self, vertex: usize, found: &mut [u64], is_near: &mut [u8]) {
        let own = &self.far[self.vertex_range(vertex)];
        if own.len() < 2 {
            return;
        }
        own.iter().for_each(|&far| is_near[far as usize] = 1);
        let mut all = 0;
        for &second in own {
            let mut closed = 0;
            for &third in &self.far[self.vertex_range(second as usize)] {
                if is_near[third as usize] != 0 {
                    closed += 1;
                    found[third as usize] += 1;
                }
            }
            found[second as usize] += closed;
            all += closed;
        }
        found[vertex] += all;
        own.iter().for_each(|&far| is_near[far as usize] = 0);
    }

    /// Visits the triangles in which this vertex has the lowest rank.
    #[inline]
    fn count(&self, vertex: usize, counts: &mut [u32], marks: &mut VertexMarks) {
        let own = self.vertex_range(vertex);
        if own.len() < 2 {
            return;
        }
        marks.set(&self.far[own.clone()], own.start as u32);
        for pair in own.clone() {
            let second = self.vertex_range(self.far[pair] as usize);
            let mut closed = 0;
            for (third, count) in self.far[second.clone()].iter().zip(&mut counts[second]) {
                if let Some(other) = marks.get(*third as usize) {
                    *count += 1;
                    closed += 1;
                    marks.closed.push(other);
                }
            }
            counts[pair] += closed;
            marks.closed.drain(..).for_each(|other| counts[other as usize] += 1);
        }
        marks.unset(&self.far[own]);
    }
}

/// A sparse map from vertices to numbers; 0 for all others.
#[derive(Default)]
struct VertexMarks {
    /// The number plus one.
    of: Vec<u32>,
    /// Pairs that close a triangle with the current vertex.
    closed: Vec<u32>,
}

impl VertexMarks {
    fn fit(&mut self, nodes: usize) {
        self.of.resize(nodes, 0);
    }

    /// Assigns consecutive numbers to these vertices.
    fn set(&mut self, vertices: &[u32], first: u32) {
        vertices
            .iter()
            .zip(first + 1..)
            .for_each(|(&vertex, number)| self.of[vertex as usize] = number);
    }

    fn unset(&mut self, vertices: &[u32]) {
        vertices.iter().for_each(|&vertex| self.of[vertex as usize] = 0);
    }

    /// Marks a vertex; whether it was unmarked before.
    fn add(&mut self, vertex: usize) -> bool {
        std::mem::replace(&mut self.of[vertex], 1) == 0
    }

    #[inline(always)]
    fn get(&self, vertex: usize) -> Option<u32> {
        self.of[vertex].checked_sub(1)
    }
}

/// The vertices of the next task, until there are none.
fn task(next: &AtomicUsize, nodes: usize) -> Option<std::ops::Range<usize>> {
    let start = next.fetch_add(1, Relaxed) * TASK_VERTICES;
    (start < nodes).then(|| start..nodes.min(start + TASK_VERTICES))
}

/// Maps tasks to results, in the order of the vertices; every thread has its own marks.
fn map_tasks<R: Send>(
    nodes: usize,
    work: impl Fn(std::ops::Range<usize>, &mut VertexMarks) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let of_threads: Vec<Vec<(usize, R)>> = (0..rayon::current_num_threads())
        .into_par_iter()
        .with_max_len(1)
        .map(|_| {
            let (mut marks, mut made) = (VertexMarks::default(), Vec::new());
            marks.fit(nodes);
            while let Some(vertices) = task(&next, nodes) {
                made.push((vertices.start, work(vertices, &mut marks)));
            }
            made
        })
        .collect();
    let mut all: Vec<(usize, R)> = of_threads.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(start, _)| *start);
    all.into_iter().map(|(_, made)| made).collect()
}
