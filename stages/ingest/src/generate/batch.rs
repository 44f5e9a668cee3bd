//! batch: many small graphs of random sizes, with exact total numbers of nodes and edges.
//!
//! promises  exact counts of graphs, nodes and distinct edges; no edge between graphs; no repeat;
//!           the same bytes for any number of threads; O(edges)
//! promises  every graph is connected, if there are enough edges for all of them
//! promises  one node has the requested largest degree, and none has more, as far as sizes and
//!           edges allow: exact counts take precedence
//! how       Sizes have a standard deviation of about half their mean. A graph is a tree of edges
//!           between nodes with near numbers, as in a molecule, and further pairs, half of them
//!           near each other; where more than half of all pairs are requested, pairs are removed
//!           instead. The largest graph has the hub.
//! limits    nodes of a graph have consecutive ids, as in the files of such sets: ids are not
//!           shuffled
use rayon::prelude::*;
use warploom_formats::raw_graph::Edges;

use super::{communities::Impossible, counter::Counter, pairs::Pairs};

/// A node is joined to one of this many before it.
const NEAR: u64 = 4;
/// Largest distance of near pairs.
const RING: u64 = 8;
/// Failed draws in sequence, plus four for each node, after which drawing stops.
const TRIES: u64 = 64;
/// Least and largest size of a graph as multiples of the mean.
const SPREAD: (f64, f64) = (0.25, 4.0);

/// The parameters of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Graphs.
    pub graphs: u32,
    /// Nodes of all.
    pub nodes: u32,
    /// Distinct directed edges of all, two for each pair, and the self loops.
    pub edges: u64,
    /// Self loops; one more if the number of other edges is odd.
    pub loops: u64,
    /// The largest degree.
    pub max_degree: u32,
    /// Everything is drawn from it.
    pub seed: u64,
}

/// The generated graphs.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Sorted by (source, target), without weights.
    pub edges: Edges,
    /// The graph of each node, ascending.
    pub graph: Vec<u32>,
}

/// Generates the graphs of a recipe.
pub fn generate(recipe: &Recipe) -> Result<Batch, Impossible> {
    let most = |what, possible, asked| {
        if asked > possible { Err(Impossible { what, possible, asked }) } else { Ok(()) }
    };
    most("graphs of so many nodes", u64::from(recipe.nodes), u64::from(recipe.graphs))?;
    most(
        "nodes without a graph",
        if recipe.graphs == 0 { 0 } else { u64::MAX },
        u64::from(recipe.nodes),
    )?;
    most("self loops among so many edges", recipe.edges, recipe.loops)?;
    let loops = recipe.loops + (recipe.edges - recipe.loops) % 2;
    most("self loops of so many nodes", u64::from(recipe.nodes), loops)?;
    let (sizes, hub) = draw_sizes(recipe);
    let pairs = (recipe.edges - loops) / 2;
    let rooms =
        |cap: u32| -> Vec<u64> { sizes.iter().map(|&size| pairs_most(size, cap)).collect() };
    most("pairs within so many graphs", rooms(u32::MAX).iter().sum(), pairs)?;
    // A degree limit that is too small for the edges is ignored.
    let cap = if recipe.max_degree > 1 && rooms(recipe.max_degree).iter().sum::<u64>() >= pairs {
        recipe.max_degree
    } else {
        u32::MAX
    };
    let rooms = rooms(cap);
    let counts = pair_counts(&sizes, &rooms, pairs);
    let mut first = 0u32;
    let looped = |node: u64| {
        (node + 1) * loops / u64::from(recipe.nodes) - node * loops / u64::from(recipe.nodes)
    };
    let begin = |size: u32| {
        first += size;
        first - size
    };
    let tasks: Vec<(u32, u32, u64)> = sizes
        .iter()
        .copied()
        .map(begin)
        .zip(&sizes)
        .zip(&counts)
        .map(|((first, &size), &count)| (first, size, count))
        .collect();
    let edges_of =
        |&(first, size, count): &(u32, u32, u64)| 2 * count + count_loops(first, size, looped);
    let mut edges = Edges {
        source: vec![0; recipe.edges as usize],
        target: vec![0; recipe.edges as usize],
        ..Edges::default()
    };
    let (mut sources, mut targets) = (&mut edges.source[..], &mut edges.target[..]);
    let mut jobs = Vec::with_capacity(tasks.len());
    for (index, task) in tasks.iter().enumerate() {
        let length = edges_of(task) as usize;
        let (own_sources, more_sources) = sources.split_at_mut(length);
        let (own_targets, more_targets) = targets.split_at_mut(length);
        jobs.push((index, task, own_sources, own_targets));
        (sources, targets) = (more_sources, more_targets);
    }
    let counter = Counter::new(recipe.seed, "batch");
    jobs.into_par_iter().with_min_len(16).for_each_init(
        Default::default,
        |(bits, degrees): &mut (Vec<u64>, Vec<u32>),
         (index, &(first, size, count), sources, targets)| {
            let mut pairs = Pairs::from_bits(std::mem::take(bits), size as usize);
            degrees.clear();
            degrees.extend((0..size).map(|node| looped(u64::from(first + node)) as u32));
            let counter = counter.part(index as u64);
            let mut joined = PairBuilder { pairs: &mut pairs, degrees, cap, left: count };
            joined.add_tree(hub.filter(|&hub| hub == index).map(|_| recipe.max_degree), counter);
            joined.add_further_pairs(counter);
            (0..size).filter(|&node| looped(u64::from(first + node)) == 1).for_each(|node| {
                pairs.insert(node, node);
            });
            let mut at = 0;
            pairs.for_each(|head, tail| {
                (sources[at], targets[at]) = (first + head, first + tail);
                at += 1;
            });
            *bits = pairs.into_bits();
        },
    );
    let graph = tasks
        .iter()
        .enumerate()
        .flat_map(|(index, &(_, size, _))| std::iter::repeat_n(index as u32, size as usize))
        .collect();
    Ok(Batch { edges, graph })
}

fn count_loops(first: u32, size: u32, looped: impl Fn(u64) -> u64) -> u64 {
    (u64::from(first)..u64::from(first) + u64::from(size)).map(looped).sum()
}

/// Most pairs in a graph of `size` nodes with degrees of at most `cap`.
fn pairs_most(size: u32, cap: u32) -> u64 {
    let size = u64::from(size);
    (size * (size - 1) / 2).min(size.saturating_mul(u64::from(cap)) / 2)
}

/// The size of each graph, at least 1, or 2 if possible for all; and the graph of the hub, if its
/// largest degree is possible.
fn draw_sizes(recipe: &Recipe) -> (Vec<u32>, Option<usize>) {
    let counter = Counter::new(recipe.seed, "sizes of graphs");
    let graphs = u64::from(recipe.graphs);
    let mean = f64::from(recipe.nodes) / graphs.max(1) as f64;
    let least = if u64::from(recipe.nodes) >= 2 * graphs { 2 } else { 1 };
    // The mean of exp(x / 2) for a normal x is exp(1 / 8).
    let scale = mean / 0.125f64.exp();
    let draw = |index: u64| {
        ((scale * (f64::from(counter.normal(index)) / 2.0).exp())
            .clamp(mean * SPREAD.0, mean * SPREAD.1)
            .round() as u32)
            .max(least)
    };
    let mut sizes: Vec<u32> = (0..graphs).map(draw).collect();
    let wanted = u64::from(recipe.max_degree) + 1;
    let fits = graphs > 1
        && wanted > 2
        && wanted + u64::from(least) * (graphs - 1) <= u64::from(recipe.nodes);
    let hub = (0..sizes.len())
        .max_by_key(|&graph| (sizes[graph], std::cmp::Reverse(graph)))
        .filter(|_| fits);
    if let Some(hub) = hub {
        sizes[hub] = sizes[hub].max(wanted as u32);
    }
    let mut found: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
    let wanted = u64::from(recipe.nodes);
    while found != wanted {
        let step = (found.abs_diff(wanted) / graphs).max(1) as u32;
        for (graph, size) in sizes.iter_mut().enumerate() {
            let least = if Some(graph) == hub { recipe.max_degree + 1 } else { least };
            let missing = found.abs_diff(wanted).min(u64::from(step)) as u32;
            let old = *size;
            *size = if found < wanted { old + missing } else { old - missing.min(old - least) };
            found = found + u64::from(*size) - u64::from(old);
        }
    }
    (sizes, hub)
}

/// The number of pairs of each graph: enough to be connected, the rest in proportion to its nodes,
/// and pairs without room in proportion to the room of the others.
fn pair_counts(sizes: &[u32], rooms: &[u64], pairs: u64) -> Vec<u64> {
    let trees: Vec<u64> = sizes.iter().map(|&size| u64::from(size) - 1).collect();
    let needed: u64 = trees.iter().sum();
    if pairs <= needed {
        return apportion(&trees, pairs);
    }
    let by_nodes =
        apportion(&sizes.iter().map(|&size| u64::from(size)).collect::<Vec<_>>(), pairs - needed);
    let mut counts: Vec<u64> = trees
        .iter()
        .zip(by_nodes)
        .zip(rooms)
        .map(|((tree, more), &room)| (tree + more).min(room))
        .collect();
    let missing = pairs - counts.iter().sum::<u64>();
    let free: Vec<u64> = rooms.iter().zip(&counts).map(|(room, count)| room - count).collect();
    counts.iter_mut().zip(apportion(&free, missing)).for_each(|(count, more)| *count += more);
    counts
}

/// Integers in proportion to the weights, with this sum; none exceeds its weight if the sum does
/// not exceed theirs.
fn apportion(weights: &[u64], sum: u64) -> Vec<u64> {
    let all: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let mut before = 0u128;
    let share = |&weight: &u64| {
        let begin = before * u128::from(sum) / all.max(1);
        before += u128::from(weight);
        (before * u128::from(sum) / all.max(1) - begin) as u64
    };
    weights.iter().map(share).collect()
}

/// Builds the pairs of one graph, with their degrees.
struct PairBuilder<'a> {
    pairs: &'a mut Pairs,
    degrees: &'a mut [u32],
    cap: u32,
    /// Pairs still missing.
    left: u64,
}

impl PairBuilder<'_> {
    fn has_room(&self, node: u32) -> bool {
        self.degrees[node as usize] < self.cap
    }

    /// Adds a pair in both directions, if its nodes differ and it is new.
    fn join_pair(&mut self, head: u32, tail: u32) -> bool {
        let new = head != tail && self.pairs.insert(head, tail);
        if new {
            self.pairs.insert(tail, head);
            self.degrees[head as usize] += 1;
            self.degrees[tail as usize] += 1;
            self.left -= 1;
        }
        new
    }

    /// Adds a spanning tree: every node is joined to a near one before it, and the first ones to
    /// node 0 until that has degree `hub`.
    fn add_tree(&mut self, hub: Option<u32>, counter: Counter) {
        let size = self.degrees.len() as u64;
        let around =
            hub.map_or(0, |hub| u64::from(hub.saturating_sub(self.degrees[0])).min(size - 1));
        for node in 1..size.min(self.left + 1) {
            let near = node.min(NEAR);
            let drawn = counter.below(node, near);
            let candidates = (0..near)
                .map(|step| node - 1 - (drawn + step) % near)
                .chain((0..node - near).rev());
            let parent = match node <= around {
                true => 0,
                false => candidates
                    .map(|parent| parent as u32)
                    .find(|&parent| self.has_room(parent) && (hub.is_none() || parent != 0))
                    .unwrap_or(node as u32 - 1),
            };
            self.join_pair(node as u32, parent);
        }
    }

    /// Adds the other pairs: drawn if they are few, else selected from all.
    fn add_further_pairs(&mut self, counter: Counter) {
        let size = self.degrees.len() as u64;
        let room = size * (size - 1) / 2;
        let joined = self.degrees.len() as u64 - 1;
        if (self.left + joined) * 2 <= room {
            self.draw_pairs(counter)
        } else {
            self.select_pairs(counter)
        }
        self.complete_pairs();
    }

    fn draw_pairs(&mut self, counter: Counter) {
        let size = self.degrees.len() as u64;
        let (mut drawn, mut failed) = (size, 0);
        while self.left > 0 && failed < 4 * size + TRIES {
            drawn += 2;
            let one = counter.below(drawn, size);
            let near = counter.bits(drawn) & 1 == 1;
            let two = if near {
                (one + 1 + counter.below(drawn + 1, RING)) % size
            } else {
                counter.below(drawn + 1, size)
            };
            let new = self.has_room(one as u32)
                && self.has_room(two as u32)
                && self.join_pair(one as u32, two as u32);
            failed = if new { 0 } else { failed + 1 };
        }
    }

    /// Selection sampling: each free pair is taken with the probability that makes the count exact.
    fn select_pairs(&mut self, counter: Counter) {
        let size = self.degrees.len() as u32;
        let taken: u64 = (0..size)
            .map(|head| {
                (head + 1..size).filter(|&tail| self.pairs.contains(head, tail)).count() as u64
            })
            .sum();
        let mut free = u64::from(size) * (u64::from(size) - 1) / 2 - taken;
        for head in 0..size {
            for tail in head + 1..size {
                if self.pairs.contains(head, tail) {
                    continue;
                }
                if counter.below(u64::from(head) << 32 | u64::from(tail), free) < self.left
                    && self.has_room(head)
                    && self.has_room(tail)
                {
                    self.join_pair(head, tail);
                }
                free -= 1;
            }
        }
    }

    /// Adds pairs that drawing missed wherever there is room, and finally beyond the largest
    /// degree.
    fn complete_pairs(&mut self) {
        let size = self.degrees.len() as u32;
        for cap in [self.cap, u32::MAX] {
            self.cap = cap;
            for head in 0..size {
                let mut tail = head + 1;
                while self.left > 0 && tail < size && self.has_room(head) {
                    if self.has_room(tail) {
                        self.join_pair(head, tail);
                    }
                    tail += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what is promised of any recipe; returns the number of connected parts.
    fn verify(recipe: &Recipe) -> usize {
        let made = generate(recipe).unwrap();
        let edges: Vec<(u32, u32)> =
            made.edges.source.iter().copied().zip(made.edges.target.iter().copied()).collect();
        assert_eq!(
            (edges.len() as u64, made.graph.len()),
            (recipe.edges, recipe.nodes as usize),
            "{recipe:?}"
        );
        assert!(edges.is_sorted_by(|a, b| a < b), "{recipe:?}");
        assert!(
            edges.iter().all(|&(source, target)| edges.binary_search(&(target, source)).is_ok())
        );
        assert!(edges.iter().all(|&(source, target)| made.graph[source as usize] == made.graph[target as usize]));
        let loops = edges.iter().filter(|(source, target)| source == target).count() as u64;
        assert_eq!(loops, recipe.loops + (recipe.edges - recipe.loops) % 2);
        assert!(
            made.graph.is_sorted()
                && made.graph.iter().collect::<std::collections::BTreeSet<_>>().len()
                    == recipe.graphs as usize
        );
        let mut part: Vec<u32> = (0..recipe.nodes).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &(source, target) in &edges {
                let least = part[source as usize].min(part[target as usize]);
                changed |= part[source as usize] != least || part[target as usize] != least;
                (part[source as usize], part[target as usize]) = (least, least);
            }
        }
        (0..recipe.nodes).filter(|&node| part[node as usize] == node).count()
    }

    #[test]
    fn published_sizes_are_exact() {
        for (graphs, nodes, edges, loops) in [
            (1113, 43_471, 162_088, 0),
            (188, 3371, 7442, 0),
            (1000, 19_773, 193_062, 0),
            (500, 37_247, 2_457_499, 283),
        ] {
            let recipe = Recipe { graphs, nodes, edges, loops, max_degree: u32::MAX, seed: 7 };
            let parts = verify(&recipe);
            assert!(parts == graphs as usize, "{recipe:?} has {parts} parts");
        }
    }

    /// Published figures: molecules, proteins, and sets of cliques with a hub.
    #[test]
    fn the_largest_degree_is_the_one_that_is_asked() {
        for (graphs, nodes, edges, loops, max_degree) in [
            (188, 3371, 7442, 0, 4),
            (4337, 131_488, 266_894, 0, 4),
            (600, 19_580, 74_564, 0, 9),
            (1178, 334_925, 1_686_092, 0, 19),
            (1113, 43_471, 162_088, 0, 25),
            (1000, 19_773, 193_062, 0, 135),
            (500, 37_247, 2_457_499, 283, 491),
        ] {
            let recipe = Recipe { graphs, nodes, edges, loops, max_degree, seed: 7 };
            verify(&recipe);
            let made = generate(&recipe).unwrap();
            let mut degrees = vec![0u32; nodes as usize];
            made.edges.target.iter().for_each(|&target| degrees[target as usize] += 1);
            assert_eq!(degrees.iter().max(), Some(&max_degree), "{recipe:?}");
        }
    }

    #[test]
    fn degenerate_sizes_are_exact() {
        for (graphs, nodes, edges, loops) in [
            (0, 0, 0, 0),
            (1, 1, 0, 0),
            (1, 1, 1, 1),
            (3, 3, 0, 0),
            (3, 3, 3, 3),
            (2, 4, 4, 0),
            (1, 5, 20, 0),
            (1, 5, 25, 5),
            (4, 100, 50, 0),
            (1, 9000, 30_000, 0),
        ] {
            verify(&Recipe { graphs, nodes, edges, loops, max_degree: u32::MAX, seed: 1 });
        }
        for (graphs, nodes, edges, loops) in
            [(2, 1, 0, 0), (0, 1, 0, 0), (5, 5, 2, 0), (1, 2, 5, 0), (1, 2, 3, 3)]
        {
            assert!(
                generate(&Recipe { graphs, nodes, edges, loops, max_degree: 3, seed: 1 }).is_err(),
                "{graphs} {nodes} {edges} {loops}"
            );
        }
    }

    #[test]
    fn the_bytes_do_not_depend_on_threads_but_on_the_seed() {
        let recipe = Recipe {
            graphs: 5000,
            nodes: 150_000,
            edges: 400_000,
            loops: 10,
            max_degree: 30,
            seed: 3,
        };
        let expected = generate(&recipe).unwrap();
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| generate(&recipe)).unwrap() == expected);
        }
        assert!(generate(&Recipe { seed: 4, ..recipe }).unwrap() != expected);
    }

    proptest::proptest! {
        #[test]
        fn any_recipe_is_exact_or_impossible(graphs in 0u32..20, nodes in 0u32..100, edges in 0u64..1000, loops in 0u64..30, max_degree in 0u32..40, seed: u64) {
            let recipe = Recipe { graphs, nodes, edges, loops, max_degree, seed };
            if generate(&recipe).is_ok() {
                verify(&recipe);
            }
        }
    }
}
