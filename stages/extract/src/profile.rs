//! profile: graph statistics: exact counts from the csr of both directions, from labels and from
//! features.
//!
//! promises  the same bits for any number of threads: sums are of integers, or of floats in row
//!           order
//! limits    O(edges log degree); memory at most 32 bytes for each edge between two communities and
//!           40 for each node
pub mod communities;
pub mod components;
pub mod degrees;
pub mod features;
pub mod labels;

use rayon::prelude::*;
use warploom_contract::{
    Artifact, StageError,
    kinds::{
        csr::{CsrParts, DirectionParts, Rows},
        graph::{self, Labels},
        profile::{FeatureFigures, GraphFigures, Profile, log_bin},
    },
    progress::{Phase, Progress, advance_by_stride},
    row_order,
};

/// The attributes of nodes and graphs that are measured.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// Labels of nodes.
    pub labels: Option<Labels>,
    /// Kind of each node.
    pub kinds: Option<Vec<u16>>,
    /// Graph of each node.
    pub graph_of: Option<Vec<u32>>,
    /// How many graphs there are, and their labels.
    pub graphs: Option<(usize, Option<Labels>)>,
    /// Feature figures; tables are mapped and measured one at a time.
    pub features: Vec<FeatureFigures>,
}

impl Attributes {
    /// Reads all but the edges.
    pub fn read(artifact: &Artifact) -> Result<Self, StageError> {
        let nodes = graph::read_nodes(artifact)?;
        let graphs = graph::read_graphs(artifact)?.map(|graphs| (graphs.ids.len(), graphs.labels));
        Ok(Attributes {
            labels: nodes.labels,
            kinds: nodes.kind,
            graph_of: nodes.graph,
            graphs,
            features: features::figures(artifact)?,
        })
    }
}

/// Groups of figures in the progress, after degrees and communities.
const GROUPS: u64 = 6;

/// Measures all figures of a graph.
pub fn measure(parts: &CsrParts, attributes: Attributes, progress: &dyn Progress) -> Profile {
    let done = |what: &str| {
        progress.advance(1);
        progress.note(what);
    };
    let (incoming, outgoing) = (parts.incoming.rows(), parts.outgoing.rows());
    let (nodes, edges) = (incoming.len(), incoming.neighbours.len() as u64);
    let measuring = Phase::begin(progress, "measuring degrees", nodes as u64, "nodes").passes(2);
    let isolated = sum_of_rows(&measuring, nodes, |row| {
        u64::from(incoming.row(row).is_empty() && outgoing.row(row).is_empty())
    });
    let self_loops = sum_of_rows(&measuring, nodes, |row| {
        incoming.row(row).iter().filter(|&&source| source as usize == row).count() as u64
    });
    let parallel_edges = incoming.repeats(parts.types.is_some());
    drop(measuring);
    progress.begin("looking for communities", 0, "nodes");
    // One thread finds the components while the others find communities.
    let find = || communities::find(incoming, outgoing, &|nodes| progress.advance(nodes));
    let ((components, component_largest), community) =
        rayon::join(|| components::components(incoming), find);
    progress.begin("measuring", GROUPS, "groups of figures");
    progress.note("spans");
    let spans = span_histogram(incoming);
    let relation_edges = relation_edges(parts);
    let (in_degree, out_degree) =
        (degrees::degree_spread(incoming), degrees::degree_spread(outgoing));
    done("symmetry");
    let symmetric = is_symmetric(parts);
    done("order");
    let order = row_order::measure(incoming);
    done("blocks");
    let (blocks, blocks_nearly) = (
        components::diagonal_blocks(incoming, outgoing, u64::MAX),
        components::diagonal_blocks(incoming, outgoing, components::near_span(&spans)),
    );
    done("communities and windows");
    let communities = warploom_contract::communities::figures(&community, incoming, outgoing);
    let windows = warploom_contract::windows::windows(incoming, edges - parallel_edges);
    done("labels and features");
    let homophily =
        attributes.labels.as_ref().and_then(|labels| labels::homophily(labels, incoming, outgoing));
    progress.advance(1);
    Profile {
        nodes: nodes as u64,
        edges,
        in_degree,
        out_degree,
        isolated,
        self_loops,
        parallel_edges,
        symmetric,
        weighted: parts.weights.is_some(),
        relations: relation_edges.len() as u64,
        relation_edges,
        order,
        blocks,
        blocks_nearly,
        spans,
        components,
        component_largest,
        communities,
        windows,
        kind_nodes: attributes.kinds.map_or_else(Vec::new, |kinds| count_occurrences(&kinds, 0)),
        features: attributes.features,
        homophily,
        labels: attributes.labels.as_ref().map(labels::figures),
        graphs: attributes.graphs.map(|(count, labels)| {
            graph_figures(count, &attributes.graph_of.unwrap_or_default(), labels.as_ref())
        }),
    }
}

/// Sum of `number` over all rows, with progress.
fn sum_of_rows(phase: &Phase<'_>, rows: usize, number: impl Fn(usize) -> u64 + Sync) -> u64 {
    let of_row = |row: usize| {
        advance_by_stride(&|rows| phase.add(rows), row);
        number(row)
    };
    (0..rows).into_par_iter().with_min_len(1 << 12).map(of_row).sum()
}

/// How often each number occurs, from 0 to the largest, with at least `least` counts.
fn count_occurrences(numbers: &[u16], least: usize) -> Vec<u64> {
    let mut counts =
        vec![0; numbers.iter().max().map_or(least, |&most| least.max(usize::from(most) + 1))];
    numbers.iter().for_each(|&number| counts[usize::from(number)] += 1);
    counts
}

/// Number of edges of each relation; without types all edges have one relation.
fn relation_edges(parts: &CsrParts) -> Vec<u64> {
    parts.types.as_ref().map_or_else(
        || vec![parts.incoming.neighbours.len() as u64],
        |types| count_occurrences(types, 0),
    )
}

/// Histogram of edge spans |source - target|, in powers of two.
fn span_histogram(incoming: Rows<'_>) -> Vec<u64> {
    const BINS: usize = u32::BITS as usize + 1;
    let of_row = |mut bins: [u64; BINS], row: usize| {
        incoming
            .row(row)
            .iter()
            .for_each(|&source| bins[log_bin(u64::from(source).abs_diff(row as u64))] += 1);
        bins
    };
    let sums = (0..incoming.len()).into_par_iter().with_min_len(1 << 12).fold(|| [0; BINS], of_row);
    let bins = sums.reduce(|| [0; BINS], |a, b| std::array::from_fn(|bin| a[bin] + b[bin]));
    let used = bins.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    bins[..used].to_vec()
}

/// Figures of graph sizes and graph labels.
fn graph_figures(count: usize, graph_of: &[u32], labels: Option<&Labels>) -> GraphFigures {
    let mut sizes = vec![0u64; count];
    graph_of.iter().for_each(|&graph| sizes[graph as usize] += 1);
    let mean = if count == 0 { 0.0 } else { graph_of.len() as f64 / count as f64 };
    let off: f64 = sizes.iter().map(|&size| (size as f64 - mean).powi(2)).sum();
    GraphFigures {
        count: count as u64,
        least: sizes.iter().copied().min().unwrap_or(0),
        mean,
        most: sizes.iter().copied().max().unwrap_or(0),
        deviation: if count == 0 { 0.0 } else { (off / count as f64).sqrt() },
        labels: labels.map(labels::figures),
    }
}

/// Whether every edge has its reverse with the same multiplicity, weight and type.
fn is_symmetric(parts: &CsrParts) -> bool {
    if parts.incoming.offsets != parts.outgoing.offsets {
        return false;
    }
    let nodes = parts.incoming.offsets.len() - 1;
    let plain = parts.weights.is_none() && parts.types.is_none();
    if plain {
        return parts.incoming.neighbours == parts.outgoing.neighbours;
    }
    // Weight and type by edge id, to read them from the outgoing side.
    let edges = parts.incoming.edges.len();
    let mut traits: Vec<(u16, u32)> = vec![(0, 0); edges];
    for slot in 0..edges {
        let weight = parts.weights.as_ref().map_or(0, |weights| weights[slot].to_bits());
        let kind = parts.types.as_ref().map_or(0, |types| types[slot]);
        traits[parts.incoming.edges[slot] as usize] = (kind, weight);
    }
    let side = |direction: &DirectionParts, row: usize| {
        let mut slots: Vec<(u32, (u16, u32))> = (direction.offsets[row] as usize
            ..direction.offsets[row + 1] as usize)
            .map(|slot| (direction.neighbours[slot], traits[direction.edges[slot] as usize]))
            .collect();
        slots.sort_unstable();
        slots
    };
    (0..nodes)
        .into_par_iter()
        .with_min_len(1 << 10)
        .all(|row| side(&parts.incoming, row) == side(&parts.outgoing, row))
}

#[cfg(test)]
mod tests;
