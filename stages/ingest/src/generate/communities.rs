//! communities: graphs with planted communities and power-law degrees, with exact numbers of nodes
//! and edges.
//!
//! promises  exact counts of nodes and of distinct edges; the same bytes for any number of threads;
//!           O(edges)
//! promises  no parallel edges; the requested self loops, and one more where a symmetric graph has
//!           an odd number of other edges
//! never     gives a node more than `max_degree` edges in one direction (without self loops),
//!           unless a quarter of all possible edges is requested, or a mean degree near
//!           `max_degree`
//! how       Every node gets a degree from a bounded Pareto distribution (exponent 2.5) and as many
//!           stubs. A share of the stubs is paired inside the node's community
//!           (`intra_community.rs`), the rest between communities (`inter_community.rs`). Dense
//!           graphs select pairs in random order instead.
//! ladder    1. all pairs sorted by random keys, duplicates found by sorting
//!           2. this file: pairs inside communities in bit sets in the cache, only pairs between
//!              them sorted
//! limits    2^32 - 2 nodes; edges are unsorted: `transform` sorts them
mod degrees;
mod inter_community;
mod intra_community;

use std::fmt;

use rayon::prelude::*;
use warploom_contract::progress::Advance;
use warploom_formats::raw_graph::{Edges, NODES_MOST};

use super::counter::Counter;
use inter_community::shuffle;

/// The parameters of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Nodes.
    pub nodes: u32,
    /// Distinct directed edges, self loops included; in a symmetric graph two for each pair.
    pub edges: u64,
    /// Self loops; one more where a symmetric graph has an odd number of other edges.
    pub loops: u64,
    /// Whether each edge has its reverse.
    pub symmetric: bool,
    /// The largest degree; one node reaches it.
    pub max_degree: u32,
    /// Mean size of a community; sizes are from half to one and a half times it.
    pub community: u32,
    /// Share of the edges inside communities, as far as there is room.
    pub inside: f64,
    /// Everything is drawn from it.
    pub seed: u64,
}

/// The generated graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// Unsorted, without weights.
    pub edges: Edges,
    /// The community of each node.
    pub community: Vec<u32>,
}

/// A recipe that no graph fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// The limit that the recipe exceeds.
    pub what: &'static str,
    /// Value of the limit.
    pub possible: u64,
    /// Requested value.
    pub asked: u64,
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no graph fits the recipe: {}: expected at most {}, found {}",
            self.what, self.possible, self.asked
        )
    }
}

impl std::error::Error for Impossible {}

/// Largest share of its community that a node is paired with.
const FULL: f64 = 0.6;
/// Pairs written by one task.
const PIECE_PAIRS: usize = 1 << 16;
const MASK: u64 = u32::MAX as u64;

/// Generates the graph of a recipe.
pub fn generate(recipe: &Recipe) -> Result<Generated, Impossible> {
    generate_with_progress(recipe, &|_| {})
}

/// `generate` with progress; reports edges twice: as drawn pairs and as written edges.
pub fn generate_with_progress(
    recipe: &Recipe,
    advance: Advance<'_>,
) -> Result<Generated, Impossible> {
    let (pairs, loops, possible) = check_recipe(recipe)?;
    let nodes = recipe.nodes;
    let starts = community_starts(recipe);
    let mut community = vec![0; nodes as usize];
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(nodes);
        community[*start as usize..end as usize].fill(index as u32);
    }
    let lists = if pairs == 0 {
        Vec::new()
    } else if possible <= pairs.saturating_mul(4) {
        vec![draw_dense(recipe, pairs, &community)]
    } else {
        pair_sparse(recipe, pairs, &starts, &community)
    };
    advance(recipe.edges);
    let ids = shuffle((0..nodes).collect(), Counter::new(recipe.seed, "ids"));
    let mut planted = vec![0; nodes as usize];
    ids.iter().zip(&community).for_each(|(&id, &community)| planted[id as usize] = community);
    let looped = if loops == 0 {
        Vec::new()
    } else {
        shuffle((0..nodes).collect(), Counter::new(recipe.seed, "loops"))
    };
    Ok(Generated {
        edges: write_edges(recipe, &lists, &ids, &looped[..loops as usize], advance),
        community: planted,
    })
}

/// Writes all edges: pairs of each list under their ids, symmetric ones in both directions, then
/// self loops.
fn write_edges(
    recipe: &Recipe,
    lists: &[Vec<u64>],
    ids: &[u32],
    looped: &[u32],
    advance: Advance<'_>,
) -> Edges {
    let copies = if recipe.symmetric { 2 } else { 1 };
    let total = lists.iter().map(Vec::len).sum::<usize>() * copies + looped.len();
    let (mut source, mut target) = (vec![0u32; total], vec![0u32; total]);
    let (mut sources, mut targets) = (&mut source[..], &mut target[..]);
    let mut jobs = Vec::with_capacity(lists.len());
    for piece in lists.iter().flat_map(|list| list.chunks(PIECE_PAIRS)) {
        let (own_sources, more_sources) = sources.split_at_mut(piece.len() * copies);
        let (own_targets, more_targets) = targets.split_at_mut(piece.len() * copies);
        jobs.push((piece, own_sources, own_targets));
        (sources, targets) = (more_sources, more_targets);
    }
    sources.copy_from_slice(looped);
    targets.copy_from_slice(looped);
    jobs.into_par_iter().with_min_len(16).for_each(|(piece, sources, targets)| {
        advance(sources.len() as u64);
        for (at, &key) in piece.iter().enumerate() {
            let (head, tail) = (ids[(key >> 32) as usize], ids[(key & MASK) as usize]);
            (sources[at], targets[at]) = (head, tail);
            if copies == 2 {
                (sources[piece.len() + at], targets[piece.len() + at]) = (tail, head);
            }
        }
    });
    Edges { source, target, ..Edges::default() }
}

fn pack_pair(head: u32, tail: u32) -> u64 {
    u64::from(head) << 32 | u64::from(tail)
}

/// Requested pairs and self loops, and the number of possible pairs.
fn check_recipe(recipe: &Recipe) -> Result<(u64, u64, u64), Impossible> {
    let nodes = u64::from(recipe.nodes);
    let most = |what, possible, asked| {
        if asked > possible { Err(Impossible { what, possible, asked }) } else { Ok(()) }
    };
    most("nodes", NODES_MOST, nodes)?;
    most("self loops among so many edges", recipe.edges, recipe.loops)?;
    let odd = u64::from(recipe.symmetric && (recipe.edges - recipe.loops) % 2 == 1);
    let loops = recipe.loops + odd;
    most("self loops of so many nodes", nodes, loops)?;
    let all = nodes * nodes.saturating_sub(1);
    most("distinct edges between so many nodes", all + loops, recipe.edges)?;
    most(
        "edges that so many nodes of the largest degree have",
        nodes * u64::from(recipe.max_degree) + loops,
        recipe.edges,
    )?;
    let between = recipe.edges - loops;
    Ok(if recipe.symmetric { (between / 2, loops, all / 2) } else { (between, loops, all) })
}

/// The first position of each community; positions are node numbers before ids are shuffled.
fn community_starts(recipe: &Recipe) -> Vec<u32> {
    let counter = Counter::new(recipe.seed, "sizes");
    let mean = u64::from(recipe.community.max(1));
    let least = mean.div_ceil(2);
    let mut starts = Vec::new();
    let mut start = 0;
    while start < u64::from(recipe.nodes) {
        starts.push(start as u32);
        start += least + counter.below(starts.len() as u64, 2 * (mean - least) + 1);
        // A remainder too small for a community joins the last.
        if u64::from(recipe.nodes).saturating_sub(start) < least {
            break;
        }
    }
    starts
}

/// Selects pairs in random order, those inside communities first until they have their share.
fn draw_dense(recipe: &Recipe, pairs: u64, community: &[u32]) -> Vec<u64> {
    let counter = Counter::new(recipe.seed, "dense");
    let nodes = recipe.nodes;
    let row = |head: u32| {
        let first = if recipe.symmetric { head + 1 } else { 0 };
        (first..nodes).filter(move |&tail| tail != head).map(move |tail| pack_pair(head, tail))
    };
    let drawn = |key: u64| (counter.bits(key), key);
    let all = (0..nodes).into_par_iter().flat_map_iter(row);
    let (mut inside, mut outside): (Vec<_>, Vec<_>) = all.partition_map(|key| {
        if community[(key >> 32) as usize] == community[(key & MASK) as usize] {
            rayon::iter::Either::Left(drawn(key))
        } else {
            rayon::iter::Either::Right(drawn(key))
        }
    });
    let wanted = ((pairs as f64 * recipe.inside).round() as usize)
        .max((pairs as usize).saturating_sub(outside.len()))
        .min(inside.len());
    let take = |list: &mut Vec<(u64, u64)>, count: usize| {
        if count < list.len() {
            list.select_nth_unstable(count);
            list.truncate(count);
        }
        list.iter().map(|&(_, key)| key).collect::<Vec<_>>()
    };
    let mut keys = take(&mut inside, wanted);
    keys.extend(take(&mut outside, pairs as usize - wanted));
    keys
}

/// Pairs stubs inside communities, then between them; returns disjoint lists of pairs.
fn pair_sparse(recipe: &Recipe, pairs: u64, starts: &[u32], community: &[u32]) -> Vec<Vec<u64>> {
    let stubs = if recipe.symmetric { 2 * pairs } else { pairs };
    let degrees = degrees::draw_degrees(
        recipe.nodes,
        recipe.max_degree.min(recipe.nodes - 1),
        stubs,
        Counter::new(recipe.seed, "degrees"),
    );
    let ends = starts.iter().skip(1).copied().chain([recipe.nodes]);
    let communities: Vec<_> = starts.iter().copied().zip(ends).collect();
    let counter = Counter::new(recipe.seed, "inside");
    let share = share_inside(recipe, &degrees, &communities);
    let pair = |scratch: &mut intra_community::Scratch, (start, end): (u32, u32)| {
        let degrees = &degrees[start as usize..end as usize];
        let counter = counter.part(u64::from(start));
        intra_community::pair_stubs(
            scratch,
            &intra_community::Task {
                degrees,
                start,
                share,
                room: neighbours_most(degrees.len()),
                symmetric: recipe.symmetric,
                counter,
            },
        )
    };
    let local: Vec<intra_community::StubPairs> =
        communities.into_par_iter().map_init(intra_community::Scratch::default, pair).collect();
    let (mut lists, mut heads, mut tails) =
        (Vec::with_capacity(local.len() + 2), Vec::new(), Vec::new());
    for community in local {
        lists.push(community.accepted);
        heads.extend(community.heads);
        tails.extend(community.tails);
    }
    let (mut between, changes) = inter_community::pair_stubs(
        inter_community::Task { recipe, community, degrees, inside: &lists },
        heads,
        tails,
    );
    if !changes.removed.is_empty() {
        between.retain(|key| !changes.removed.contains(key));
    }
    if !changes.removed_inside.is_empty() {
        lists
            .par_iter_mut()
            .for_each(|list| list.retain(|key| !changes.removed_inside.contains(key)));
    }
    lists.push(between);
    lists.push(changes.added);
    lists
}

/// Most neighbours of a node in a community of this size.
fn neighbours_most(size: usize) -> f64 {
    ((size - 1) as f64 * FULL).floor()
}

/// The share of each node's stubs to pair inside, so that their total is `recipe.inside` of all,
/// although high-degree nodes find too little room.
fn share_inside(recipe: &Recipe, degrees: &[u32], communities: &[(u32, u32)]) -> f64 {
    // Integer sums: the same for any number of threads.
    let inside = |share: f64| -> u64 {
        let one = |&(start, end): &(u32, u32)| -> u64 {
            let most = neighbours_most((end - start) as usize);
            degrees[start as usize..end as usize]
                .iter()
                .map(|&degree| (64.0 * (f64::from(degree) * share).min(most)) as u64)
                .sum()
        };
        communities.par_iter().map(one).sum()
    };
    let wanted =
        64.0 * recipe.inside * degrees.iter().map(|&degree| f64::from(degree)).sum::<f64>();
    let (mut low, mut high) = (recipe.inside, 1.0);
    for _ in 0..12 {
        let middle = (low + high) / 2.0;
        if (inside(middle) as f64) < wanted { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests;
