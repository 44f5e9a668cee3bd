//! communities: communities of a graph by Louvain's method with batched moves.
//!
//! promises  the same communities for any number of threads: nodes move in batches, each from the
//!           state before its batch; all sums are of integers
//! never     reads weights; finds the optimum (NP-hard)
//! limits    O(edges log degree) for each round, a bounded number of rounds and levels; memory
//!           about 40 bytes for each node and, for the graph of communities, 16 for each edge
//!           between two of them, twice that while it is built
//! paper     Blondel et al., Fast unfolding of communities in large networks (2008); batched moves
//!           and the rule for two singleton communities: Lu, Halappanavar, Kalyanaraman, Parallel
//!           heuristics for scalable community detection (2015); only neighbours of moved nodes are
//!           visited again: Ozaki et al. (2016)
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;
use warploom_contract::{kinds::csr::Rows, progress::Advance};

/// Batches of a round: neighbours in one batch do not see each other move.
const BATCHES: u32 = 4;
/// Rounds of a level, at most.
const ROUNDS_MOST: usize = 8;
/// A level ends with a round in which fewer than one of this many nodes moved: the levels above
/// move the others.
const MOVERS_LEAST: usize = 12;
/// Levels, at most.
const LEVELS_MOST: usize = 16;
/// A level that raises the modularity by less is the last.
const GAIN_LEAST: f64 = 1e-4;
/// Nodes, or communities, in one task.
const TASK: usize = 1 << 9;
/// Seed of the random batch of each node.
const SEED: u32 = 0x9e37_79b9;

/// The community of each node: numbers from 0 without gaps; an isolated node is a community of its
/// own. Reports visited nodes; a node may be visited in each round.
pub fn find(incoming: Rows<'_>, outgoing: Rows<'_>, advance: Advance<'_>) -> Vec<u32> {
    // In a symmetric graph one direction has all neighbours.
    let same = incoming.offsets == outgoing.offsets && incoming.neighbours == outgoing.neighbours;
    let given = Level::Given { incoming, outgoing: (!same).then_some(outgoing) };
    let mut community: Vec<u32> = (0..incoming.len() as u32).collect();
    // Nodes of one batch may swap places: a level with lower modularity than its start is dropped.
    let (mut best, mut coarse) = (given.modularity_of_nodes(), None);
    for _ in 0..LEVELS_MOST {
        let level = coarse.as_ref().unwrap_or(&given);
        let (moved, count) = renumber(&move_nodes(level, advance));
        let next = merge_communities(level, &moved, count);
        let reached = next.modularity_of_nodes();
        if reached <= best {
            break;
        }
        community.par_iter_mut().with_min_len(1 << 14).for_each(|own| *own = moved[*own as usize]);
        let done = reached - best < GAIN_LEAST || count == moved.len();
        best = reached;
        coarse = Some(next);
        if done {
            break;
        }
    }
    community
}

/// The graph of one level: the input graph, or one node for each community of the level below.
enum Level<'a> {
    /// Each edge weighs 1.
    Given { incoming: Rows<'a>, outgoing: Option<Rows<'a>> },
    /// Symmetric, without loops; weights of loops are stored separately.
    Joined { offsets: Vec<u64>, links: Vec<(u32, u64)>, loops: Vec<u64> },
}

impl Level<'_> {
    fn len(&self) -> usize {
        match self {
            Level::Given { incoming, .. } => incoming.len(),
            Level::Joined { loops, .. } => loops.len(),
        }
    }

    fn links(&self, node: usize) -> &[(u32, u64)] {
        match self {
            Level::Given { .. } => &[],
            Level::Joined { offsets, links, .. } => {
                &links[offsets[node] as usize..offsets[node + 1] as usize]
            }
        }
    }

    fn input_neighbours(&self, node: usize) -> (&[u32], &[u32]) {
        match self {
            Level::Given { incoming, outgoing } => {
                (incoming.row(node), outgoing.map_or(&[], |rows| rows.row(node)))
            }
            Level::Joined { .. } => (&[], &[]),
        }
    }

    /// Neighbours of a node, with multiplicity.
    fn neighbours(&self, node: usize) -> impl Iterator<Item = u32> {
        let (sources, targets) = self.input_neighbours(node);
        sources.iter().chain(targets).copied().chain(self.links(node).iter().map(|link| link.0))
    }

    /// Weighted degree of a node; a loop counts as often as it is listed.
    fn strength(&self, node: usize) -> u64 {
        let (sources, targets) = self.input_neighbours(node);
        let own = if let Level::Joined { loops, .. } = self { loops[node] } else { 0 };
        (sources.len() + targets.len()) as u64
            + self.links(node).iter().map(|link| link.1).sum::<u64>()
            + own
    }

    /// Modularity with each node as a community.
    fn modularity_of_nodes(&self) -> f64 {
        let loops = |node: usize| match self {
            Level::Given { .. } => {
                self.neighbours(node).filter(|&other| other as usize == node).count() as u64
            }
            Level::Joined { loops, .. } => loops[node],
        };
        let strengths: Vec<u64> = (0..self.len())
            .into_par_iter()
            .with_min_len(TASK)
            .map(|node| self.strength(node))
            .collect();
        let total = strengths.iter().sum::<u64>() as f64;
        let squares: u128 =
            strengths.iter().map(|&strength| u128::from(strength) * u128::from(strength)).sum();
        let inside: u64 = (0..self.len()).into_par_iter().with_min_len(TASK).map(loops).sum();
        if total > 0.0 { inside as f64 / total - squares as f64 / (total * total) } else { 0.0 }
    }

    /// Adds the communities adjacent to nodes, each with the weight of the edges to it, to `found`,
    /// ascending; without loops of the level, and without loops of the input graph at node
    /// `without`.
    fn gather_weights(
        &self,
        nodes: &[u32],
        community: &[u32],
        without: Option<u32>,
        room: &mut Scratch,
    ) {
        room.found.clear();
        match self {
            Level::Given { .. } => {
                room.plain.clear();
                for &node in nodes {
                    let others =
                        self.neighbours(node as usize).filter(|&other| Some(other) != without);
                    room.plain.extend(others.map(|other| community[other as usize]));
                }
                room.plain.sort_unstable();
                room.found.extend(
                    room.plain.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)),
                );
            }
            Level::Joined { .. } => {
                room.weighted.clear();
                for &node in nodes {
                    room.weighted.extend(
                        self.links(node as usize)
                            .iter()
                            .map(|&(other, weight)| (community[other as usize], weight)),
                    );
                }
                room.weighted.sort_unstable();
                room.found.extend(
                    room.weighted
                        .chunk_by(|a, b| a.0 == b.0)
                        .map(|run| (run[0].0, run.iter().map(|link| link.1).sum())),
                );
            }
        }
    }
}

/// Scratch memory of a thread.
#[derive(Default)]
struct Scratch {
    plain: Vec<u32>,
    weighted: Vec<(u32, u64)>,
    found: Vec<(u32, u64)>,
}

/// Communities of one level while nodes move.
struct State {
    community: Vec<u32>,
    /// Sum of the strengths of a community's nodes.
    strength: Vec<u64>,
    members: Vec<u32>,
}

/// Moves the nodes of a level, each a community at first, to the neighbouring community with the
/// largest gain in modularity.
fn move_nodes(level: &Level<'_>, advance: Advance<'_>) -> Vec<u32> {
    let nodes = level.len();
    let own: Vec<u64> =
        (0..nodes).into_par_iter().with_min_len(TASK).map(|node| level.strength(node)).collect();
    let total = own.iter().sum::<u64>() as f64;
    let mut state = State {
        community: (0..nodes as u32).collect(),
        strength: own.clone(),
        members: vec![1; nodes],
    };
    let waiting: Vec<AtomicBool> =
        own.iter().map(|&strength| AtomicBool::new(strength > 0)).collect();
    let tasks = nodes.div_ceil(TASK);
    for round in 0..ROUNDS_MOST {
        let mut movers = 0;
        for batch in 0..BATCHES {
            let look = |room: &mut Scratch, task: usize| -> Vec<(u32, u32)> {
                let of_task = (task * TASK) as u32..nodes.min((task + 1) * TASK) as u32;
                let (mut moves, mut looked_at) = (Vec::new(), 0);
                for node in of_task.filter(|&node| {
                    batch_of(node, round as u32) == batch && waiting[node as usize].load(Relaxed)
                }) {
                    waiting[node as usize].store(false, Relaxed);
                    level.gather_weights(&[node], &state.community, Some(node), room);
                    moves.extend(
                        better_community(&state, node, own[node as usize], total, &room.found)
                            .map(|to| (node, to)),
                    );
                    looked_at += 1;
                }
                advance(looked_at);
                moves
            };
            let moves: Vec<Vec<(u32, u32)>> =
                (0..tasks).into_par_iter().map_init(Scratch::default, look).collect();
            for &(node, to) in moves.iter().flatten() {
                let from = std::mem::replace(&mut state.community[node as usize], to) as usize;
                let strength = own[node as usize];
                (state.strength[from], state.strength[to as usize]) =
                    (state.strength[from] - strength, state.strength[to as usize] + strength);
                (state.members[from], state.members[to as usize]) =
                    (state.members[from] - 1, state.members[to as usize] + 1);
            }
            // A neighbour of a moved node in another community may gain by moving too.
            moves.par_iter().flatten().for_each(|&(node, to)| {
                let beside = level
                    .neighbours(node as usize)
                    .filter(|&other| state.community[other as usize] != to);
                beside.for_each(|other| waiting[other as usize].store(true, Relaxed));
            });
            movers += moves.iter().map(Vec::len).sum::<usize>();
        }
        if movers * MOVERS_LEAST < nodes || movers == 0 {
            break;
        }
    }
    state.community
}

/// The batch of a node in a round.
fn batch_of(node: u32, round: u32) -> u32 {
    let mixed = (node ^ round.wrapping_mul(0x85eb_ca6b)).wrapping_mul(SEED);
    (mixed >> 16) % BATCHES
}

/// The community with the largest gain for a node; ties go to its own, then to the smallest number.
fn better_community(
    state: &State,
    node: u32,
    strength: u64,
    total: f64,
    found: &[(u32, u64)],
) -> Option<u32> {
    let own = state.community[node as usize];
    let expected = |community: u32, without: u64| {
        strength as f64 * (state.strength[community as usize] - without) as f64 / total
    };
    let here = found.iter().find(|link| link.0 == own).map_or(0, |link| link.1) as f64
        - expected(own, strength);
    let mut best = (here, None);
    // The weight of the edges to a community bounds its gain: most are skipped without a look-up.
    for &(community, weight) in found.iter().filter(|link| link.0 != own) {
        if weight as f64 <= best.0 {
            continue;
        }
        let there = weight as f64 - expected(community, 0);
        // Two singleton communities would only swap: the one with the larger number moves.
        let swap = || {
            community > own
                && state.members[own as usize] == 1
                && state.members[community as usize] == 1
        };
        if there > best.0 && !swap() {
            best = (there, Some(community));
        }
    }
    best.1
}

/// Numbers from 0 without gaps, in the order of the old ones, and how many.
fn renumber(community: &[u32]) -> (Vec<u32>, usize) {
    let mut number = vec![0u32; community.len()];
    community.iter().for_each(|&used| number[used as usize] = 1);
    let mut count = 0;
    for slot in &mut number {
        count += std::mem::replace(slot, count);
    }
    (
        community.par_iter().with_min_len(1 << 14).map(|&old| number[old as usize]).collect(),
        count as usize,
    )
}

/// The merged communities of one task.
struct MergeTask {
    lengths: Vec<u64>,
    links: Vec<(u32, u64)>,
    loops: Vec<u64>,
}

/// The graph whose nodes are the communities of a level.
fn merge_communities(level: &Level<'_>, community: &[u32], count: usize) -> Level<'static> {
    let mut starts = vec![0u32; count + 1];
    community.iter().for_each(|&own| starts[own as usize + 1] += 1);
    (0..count).for_each(|at| starts[at + 1] += starts[at]);
    let (mut members, mut heads) = (vec![0u32; community.len()], starts.clone());
    for (node, &own) in community.iter().enumerate() {
        members[heads[own as usize] as usize] = node as u32;
        heads[own as usize] += 1;
    }
    let parts: Vec<MergeTask> = (0..count.div_ceil(TASK))
        .into_par_iter()
        .map_init(Scratch::default, |room, task| {
            let (mut lengths, mut links, mut loops) = (Vec::new(), Vec::new(), Vec::new());
            for own in task * TASK..count.min((task + 1) * TASK) {
                let inside = &members[starts[own] as usize..starts[own + 1] as usize];
                level.gather_weights(inside, community, None, room);
                let before = links.len();
                links.extend(room.found.iter().filter(|link| link.0 as usize != own));
                lengths.push((links.len() - before) as u64);
                let kept = if let Level::Joined { loops, .. } = level {
                    inside.iter().map(|&node| loops[node as usize]).sum()
                } else {
                    0
                };
                loops.push(
                    kept + room
                        .found
                        .iter()
                        .find(|link| link.0 as usize == own)
                        .map_or(0, |link| link.1),
                );
            }
            MergeTask { lengths, links, loops }
        })
        .collect();
    let mut offsets = Vec::with_capacity(count + 1);
    offsets.push(0);
    for length in parts.iter().flat_map(|part| &part.lengths) {
        offsets.push(offsets.last().copied().unwrap_or(0) + length);
    }
    let mut links = Vec::with_capacity(offsets.last().copied().unwrap_or(0) as usize);
    let mut loops = Vec::with_capacity(count);
    for part in parts {
        links.extend_from_slice(&part.links);
        loops.extend_from_slice(&part.loops);
    }
    Level::Joined { offsets, links, loops }
}
