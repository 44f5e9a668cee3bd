//! Every figure against a slow, obvious one on random graphs, and against other programs on real
//! ones.
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use warploom_contract::kinds::{
    graph::{EdgeTable, Features},
    profile::{Homophily, LabelFigures, Spread, log_bin_start},
};
use warploom_test_support::skips::skipped;

use super::*;
use warploom_contract::progress::Silence;

use crate::{check, group::build_csr};

type Edges = Vec<(u32, u32)>;

fn csr(nodes: usize, edges: &[(u32, u32)], kind: Option<Vec<u16>>) -> CsrParts {
    let (source, target) = edges.iter().copied().unzip();
    build_csr(nodes, &EdgeTable { source, target, weight: None, kind })
}

fn profile(nodes: usize, edges: &[(u32, u32)]) -> Profile {
    measure(&csr(nodes, edges, None), Attributes::default(), &Silence)
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "expected {expected}, found {found}"
    );
}

mod slow {
    //! The same figures from the list of edges, one loop each, as their definitions read.
    use super::*;

    pub fn spread(degrees: &[u64]) -> Spread {
        let number = degrees.len() as f64;
        let mean = degrees.iter().sum::<u64>() as f64 / number;
        let moment = |power: i32| {
            degrees.iter().map(|&degree| (degree as f64 - mean).powi(power)).sum::<f64>() / number
        };
        let deviation = moment(2).sqrt();
        let differences: u64 =
            degrees.iter().flat_map(|a| degrees.iter().map(move |b| a.abs_diff(*b))).sum();
        let mut sorted = degrees.to_vec();
        sorted.sort_unstable();
        Spread {
            min: sorted[0],
            median: sorted[(sorted.len() - 1) / 2],
            mean,
            max: *sorted.last().unwrap(),
            deviation,
            skew: if deviation > 0.0 { moment(3) / deviation.powi(3) } else { 0.0 },
            gini: if mean > 0.0 {
                differences as f64 / (number * number) / (2.0 * mean)
            } else {
                0.0
            },
            histogram: histogram(degrees),
        }
    }

    pub fn histogram(values: &[u64]) -> Vec<u64> {
        let Some(&most) = values.iter().max() else { return Vec::new() };
        let mut bins = Vec::new();
        while bins.is_empty() || log_bin_start(bins.len()) <= most {
            let (from, to) = (log_bin_start(bins.len()), log_bin_start(bins.len() + 1));
            bins.push(values.iter().filter(|&&value| from <= value && value < to).count() as u64);
        }
        bins
    }

    pub fn spans(edges: &[(u32, u32)]) -> Vec<u64> {
        edges.iter().map(|&(source, target)| u64::from(source.abs_diff(target))).collect()
    }

    /// In-edges row after row in groups of 32; bytes that 16 columns of f32 take decide on the
    /// line.
    pub fn lines(edges: &[(u32, u32)]) -> f64 {
        let mut listed: Edges = edges.iter().map(|&(source, target)| (target, source)).collect();
        listed.sort_unstable();
        let groups: Vec<usize> = listed
            .chunks(32)
            .map(|group| {
                group
                    .iter()
                    .map(|edge| u64::from(edge.1) * 16 * 4 / 128)
                    .collect::<BTreeSet<_>>()
                    .len()
            })
            .collect();
        groups.iter().sum::<usize>() as f64 / groups.len().max(1) as f64
    }

    /// Number of nodes in each part of an undirected graph.
    pub fn components(nodes: usize, edges: &[(u32, u32)]) -> Vec<u64> {
        let mut part: Vec<usize> = (0..nodes).collect();
        for _ in 0..nodes {
            for &(a, b) in edges {
                let least = part[a as usize].min(part[b as usize]);
                (part[a as usize], part[b as usize]) = (least, least);
            }
        }
        (0..nodes)
            .map(|root| part.iter().filter(|&&own| own == root).count() as u64)
            .filter(|&size| size > 0)
            .collect()
    }

    /// Sizes of runs: a cut stands before each node that no edge spans.
    pub fn blocks(nodes: usize, edges: &[(u32, u32)]) -> Vec<u64> {
        let whole = |at: usize| {
            edges.iter().all(|&(a, b)| (a.min(b) as usize) >= at || (a.max(b) as usize) < at)
        };
        let cuts: Vec<usize> =
            (0..=nodes).filter(|&at| at == 0 || at == nodes || whole(at)).collect();
        cuts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect()
    }

    /// Edges without those beyond the least power of two below which 99 of 100 are.
    pub fn near(edges: &[(u32, u32)]) -> Edges {
        let below = |limit: u64| {
            edges.iter().copied().filter(move |&(a, b)| u64::from(a.abs_diff(b)) < limit)
        };
        let limit = (0..=32)
            .map(|power| 1 << power)
            .find(|&limit| below(limit).count() * 100 >= 99 * edges.len());
        below(limit.unwrap()).collect()
    }

    /// Vectors, most of a window, tiles.
    pub fn windows(edges: &[(u32, u32)], rows: u32) -> (u64, u64, u64) {
        let mut of_window: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(source, target) in edges {
            of_window.entry(target / rows).or_default().insert(source);
        }
        let sizes = || of_window.values().map(|sources| sources.len() as u64);
        (sizes().sum(), sizes().max().unwrap_or(0), sizes().map(|size| size.div_ceil(8)).sum())
    }

    /// Newman's double sum over all pairs of nodes.
    pub fn modularity(nodes: usize, edges: &[(u32, u32)], community: &[u32]) -> f64 {
        let mut adjacency = vec![vec![0.0; nodes]; nodes];
        for &(a, b) in edges {
            adjacency[a as usize][b as usize] += 1.0;
            adjacency[b as usize][a as usize] += 1.0;
        }
        let degree: Vec<f64> = adjacency.iter().map(|row| row.iter().sum()).collect();
        let twice: f64 = degree.iter().sum();
        let of_pair = |a: usize, b: usize| {
            if community[a] == community[b] {
                adjacency[a][b] - degree[a] * degree[b] / twice
            } else {
                0.0
            }
        };
        if twice == 0.0 {
            0.0
        } else {
            (0..nodes)
                .flat_map(|a| (0..nodes).map(move |b| (a, b)))
                .map(|(a, b)| of_pair(a, b))
                .sum::<f64>()
                / twice
        }
    }

    pub fn homophily(edges: &[(u32, u32)], class: &[Option<u32>]) -> Homophily {
        let pairs: Vec<(u32, u32)> = edges
            .iter()
            .filter(|(a, b)| a != b)
            .filter_map(|&(a, b)| Some((class[a as usize]?, class[b as usize]?)))
            .collect();
        let number = pairs.len() as f64;
        if pairs.is_empty() {
            return Homophily::default();
        }
        let share = pairs.iter().filter(|(a, b)| a == b).count() as f64 / number;
        let ends = |class: u32| {
            pairs.iter().map(|&(a, b)| u32::from(a == class) + u32::from(b == class)).sum::<u32>()
        };
        let classes: BTreeSet<u32> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        let by_chance: f64 =
            classes.iter().map(|&class| (f64::from(ends(class)) / (2.0 * number)).powi(2)).sum();
        let adjusted =
            if classes.len() == 1 { 0.0 } else { (share - by_chance) / (1.0 - by_chance) };
        Homophily { edges: pairs.len() as u64, share, by_chance, adjusted }
    }
}

#[track_caller]
fn same_spread(found: &Spread, expected: &Spread) {
    assert_eq!(
        (found.min, found.median, found.max, &found.histogram),
        (expected.min, expected.median, expected.max, &expected.histogram)
    );
    near(found.mean, expected.mean);
    near(found.deviation, expected.deviation);
    near(found.skew, expected.skew);
    near(found.gini, expected.gini);
}

/// Everything that follows from the edges alone.
#[track_caller]
fn same_as_slow(nodes: usize, edges: &Edges, kind: Option<Vec<u16>>) {
    let parts = csr(nodes, edges, kind.clone());
    let found = measure(&parts, Attributes::default(), &Silence);
    let degrees = |end: fn(&(u32, u32)) -> u32| {
        (0..nodes as u32)
            .map(|node| edges.iter().filter(|edge| end(edge) == node).count() as u64)
            .collect::<Vec<_>>()
    };
    let (ins, outs) = (degrees(|edge| edge.1), degrees(|edge| edge.0));
    same_spread(&found.in_degree, &slow::spread(&ins));
    same_spread(&found.out_degree, &slow::spread(&outs));
    let distinct: Edges = edges.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    assert_eq!(
        (found.nodes, found.edges, found.parallel_edges),
        (nodes as u64, edges.len() as u64, (edges.len() - distinct.len()) as u64)
    );
    assert_eq!(
        found.isolated,
        ins.iter().zip(&outs).filter(|(a, b)| **a + **b == 0).count() as u64
    );
    assert_eq!(found.self_loops, edges.iter().filter(|(a, b)| a == b).count() as u64);
    let spans = slow::spans(edges);
    assert_eq!(
        (found.order.bandwidth, &found.spans),
        (spans.iter().copied().max().unwrap_or(0), &slow::histogram(&spans))
    );
    near(found.order.aes, spans.iter().sum::<u64>() as f64 / edges.len().max(1) as f64);
    if kind.is_none() {
        near(found.order.lines_per_32_edges, slow::lines(edges));
    }
    let components = slow::components(nodes, edges);
    assert_eq!(
        (found.components, found.component_largest),
        (components.len() as u64, components.iter().copied().max().unwrap_or(0))
    );
    for (found, edges) in [(found.blocks, edges.clone()), (found.blocks_nearly, slow::near(edges))]
    {
        let blocks = slow::blocks(nodes, &edges);
        let (count, largest) = (blocks.len() as u64, blocks.iter().copied().max().unwrap_or(0));
        assert_eq!(
            (found.count, found.largest, found.diagonal),
            (count, largest, count >= 8 && largest * 8 <= nodes as u64)
        );
    }
    for window in found.windows {
        let (vectors, most, tiles) = slow::windows(&distinct, window.rows as u32);
        assert_eq!((window.vectors, window.vectors_most, window.tiles), (vectors, most, tiles));
        near(window.density * (window.rows * vectors) as f64, distinct.len() as f64);
        near(window.tile_density * (8 * window.rows * tiles) as f64, distinct.len() as f64);
    }
    let relations: Vec<u64> = kind.as_ref().map_or_else(
        || vec![edges.len() as u64],
        |kind| {
            (0..kind.iter().max().map_or(0, |most| most + 1))
                .map(|one| kind.iter().filter(|&&own| own == one).count() as u64)
                .collect()
        },
    );
    assert_eq!((found.relations, &found.relation_edges), (relations.len() as u64, &relations));
    same_communities(nodes, edges, &parts, &found);
}

/// Their figures follow from the communities, which are never worse than everybody alone.
#[track_caller]
fn same_communities(nodes: usize, edges: &Edges, parts: &CsrParts, found: &Profile) {
    let community = communities::find(parts.incoming.rows(), parts.outgoing.rows(), &|_| {});
    let touched =
        |node: usize| edges.iter().any(|&(a, b)| a as usize == node || b as usize == node);
    let sizes: Vec<u64> = (0..nodes as u32)
        .map(|own| {
            (0..nodes).filter(|&node| community[node] == own && touched(node)).count() as u64
        })
        .filter(|&size| size > 0)
        .collect();
    let figures = &found.communities;
    assert_eq!(
        (figures.count, figures.largest),
        (sizes.len() as u64, sizes.iter().copied().max().unwrap_or(0))
    );
    assert_eq!(figures.histogram, slow::histogram(&sizes));
    if !sizes.is_empty() {
        let spread = slow::spread(&sizes);
        near(figures.mean, spread.mean);
        near(figures.deviation, spread.deviation);
    }
    near(figures.modularity, slow::modularity(nodes, edges, &community));
    let alone: Vec<u32> = (0..nodes as u32).collect();
    assert!(figures.modularity >= slow::modularity(nodes, edges, &alone) - 1e-12);
    // A community holds together at least as far as its component does.
    for &(a, b) in edges {
        assert!(community[a as usize] < nodes as u32 && community[b as usize] < nodes as u32);
    }
}

/// Nodes and edges, some of them symmetric, some with types.
fn graphs() -> impl Strategy<Value = (usize, Edges, Option<Vec<u16>>)> {
    (1usize..70, 0usize..160, any::<bool>(), any::<bool>(), 1u32..70).prop_flat_map(
        |(nodes, edges, symmetric, typed, reach)| {
            let pair = (0..nodes as u32, 0..reach)
                .prop_map(move |(a, step)| (a, (a + step) % nodes as u32));
            (proptest::collection::vec(pair, edges), proptest::collection::vec(0u16..3, 2 * edges))
                .prop_map(move |(mut pairs, mut kinds)| {
                    if symmetric {
                        pairs.extend(pairs.clone().into_iter().map(|(a, b)| (b, a)));
                    }
                    kinds.truncate(pairs.len());
                    (nodes, pairs, typed.then_some(kinds))
                })
        },
    )
}

/// A graph of loops and few nodes, in which whole batches move past each other.
#[test]
fn communities_are_never_worse_than_nodes_alone() {
    let listed = "01 11 01 01 02 20 11 10 31 03 10 23 22 22 03 22 22 31 22 11 33 11 20 33 10 33 11 \
                  20 22 03 20 10 01 10 11 10 10 20 02 11 01 13 30 01 32 22 22 30 22 22 13 22 11 33 \
                  11 02 33 01 33 11 02 22 30 02 01 10";
    let edges: Edges = listed
        .split_whitespace()
        .map(|pair| (u32::from(pair.as_bytes()[0] - b'0'), u32::from(pair.as_bytes()[1] - b'0')))
        .collect();
    same_as_slow(4, &edges, None);
}

proptest! {
    #[test]
    fn figures_of_edges_equal_the_slow_ones((nodes, edges, kind) in graphs()) {
        same_as_slow(nodes, &edges, kind);
    }

    #[test]
    fn figures_of_classes_equal_the_slow_ones((nodes, edges, _) in graphs(), drawn in proptest::collection::vec(proptest::option::of(0u32..5), 70)) {
        let classes: Vec<Option<u32>> = drawn[..nodes].to_vec();
        let parts = csr(nodes, &edges, None);
        let found = measure(&parts, Attributes { labels: Some(Labels::Classes(classes.clone())), ..Attributes::default() }, &Silence);
        let (found_homophily, expected) = (found.homophily.unwrap(), slow::homophily(&edges, &classes));
        prop_assert_eq!(found_homophily.edges, expected.edges);
        near(found_homophily.share, expected.share);
        near(found_homophily.by_chance, expected.by_chance);
        near(found_homophily.adjusted, expected.adjusted);
        let Some(LabelFigures::Classes { classes: width, present, labelled, balance, listed }) = found.labels else { panic!("classes") };
        let count = |class: u32| classes.iter().filter(|own| **own == Some(class)).count() as u64;
        let mut counts: Vec<(u64, u32)> = (0..5).map(|class| (count(class), class)).filter(|pair| pair.0 > 0).collect();
        prop_assert_eq!(width, counts.last().map_or(0, |last| u64::from(last.1) + 1));
        counts.sort_by_key(|&(count, class)| (u64::MAX - count, class));
        prop_assert_eq!(listed.iter().map(|class| (class.count, class.class)).collect::<Vec<_>>(), counts.clone());
        let sum: u64 = counts.iter().map(|pair| pair.0).sum();
        prop_assert_eq!((present, labelled), (counts.len() as u64, sum));
        let shares = counts.iter().map(|pair| pair.0 as f64 / sum as f64);
        let entropy: f64 = shares.map(|share| share * (1.0 / share).log2()).sum();
        near(balance, if counts.len() > 1 { entropy / (counts.len() as f64).log2() } else { 1.0 });
    }

    #[test]
    fn figures_of_features_equal_the_slow_ones(rows in proptest::collection::vec(proptest::collection::vec(-1i8..2, 5), 0..30), columns in 0usize..6) {
        let rows: Vec<Vec<f32>> = rows.iter().map(|row| row.iter().take(columns).map(|&value| f32::from(value)).collect()).collect();
        let columns = columns.min(5);
        let nonzero = |row: &Vec<f32>| row.iter().filter(|value| **value != 0.0).count() as u64;
        let (sum, empty) = (rows.iter().map(nonzero).sum::<u64>(), rows.iter().filter(|row| nonzero(row) == 0).count() as u64);
        let values: Vec<f32> = rows.concat();
        // One of five stored values is 0 and must not count.
        let stored = |row: &Vec<f32>| row.iter().enumerate().filter(|(at, value)| **value != 0.0 || *at == 0).map(|(at, &value)| (at as u32, value)).collect::<Vec<_>>();
        let mut offsets = vec![0i64];
        rows.iter().for_each(|row| offsets.push(offsets.last().unwrap() + stored(row).len() as i64));
        let (index, kept): (Vec<u32>, Vec<f32>) = rows.iter().flat_map(stored).unzip();
        let entries = warploom_contract::arrow_file::SparseColumns { offsets: offsets.into(), index: index.into(), values: kept.into() };
        for (features, sparse) in [(Features::Dense { columns, values: values.into() }, false), (Features::Sparse { columns, entries }, true)] {
            let found = features::measure(None, &features);
            let known = if columns == 0 && !sparse { 0 } else { rows.len() as u64 };
            prop_assert_eq!((found.rows, found.nonzero, found.sparse), (known, sum, sparse));
            prop_assert_eq!(found.empty_rows, if known == 0 { 0 } else { empty });
            near(found.density * (rows.len() * columns) as f64, sum as f64);
        }
    }
}

#[test]
fn the_proof_agrees_and_finds_what_is_wrong() {
    let edges = [(0, 1), (1, 0), (1, 1), (1, 1), (4, 5), (2, 4)];
    let (source, target) = edges.iter().copied().unzip();
    let table = EdgeTable { source, target, ..EdgeTable::default() };
    let labels = Labels::Classes(vec![Some(0), Some(0), Some(2), None, Some(2), Some(0)]);
    let found = measure(
        &build_csr(6, &table),
        Attributes { labels: Some(labels.clone()), ..Attributes::default() },
        &Silence,
    );
    let prove = |profile: &Profile| {
        check::profile_counts(6, profile, &table)
            .and_then(|()| check::profile_labels(profile, Some(&labels), &table))
    };
    prove(&found).unwrap();
    let wrong: [fn(&mut Profile); 8] = [
        |profile| profile.isolated += 1,
        |profile| profile.order.aes += 1e-6,
        |profile| profile.order.bandwidth -= 1,
        |profile| profile.windows[1].vectors += 1,
        |profile| profile.out_degree.gini -= 1e-6,
        |profile| profile.homophily.as_mut().unwrap().share += 1e-6,
        |profile| profile.homophily = None,
        |profile| {
            let Some(LabelFigures::Classes { listed, .. }) = profile.labels.as_mut() else {
                panic!("classes")
            };
            listed[0].count += 1;
        },
    ];
    for (at, change) in wrong.iter().enumerate() {
        let mut changed = found.clone();
        change(&mut changed);
        assert!(prove(&changed).is_err(), "change {at} was not seen");
    }
}

#[test]
fn counts_of_a_small_graph() {
    // 0 <-> 1, 1 -> 1 twice, 3 alone, 4 -> 5.
    let found = profile(6, &[(0, 1), (1, 0), (1, 1), (1, 1), (4, 5)]);
    assert_eq!(
        (found.isolated, found.self_loops, found.parallel_edges, found.symmetric),
        (2, 2, 1, false)
    );
    assert_eq!((found.components, found.component_largest), (4, 2));
    assert_eq!((found.blocks.count, found.blocks.largest, found.blocks.diagonal), (4, 2, false));
    assert_eq!((found.order.aes, found.order.bandwidth), (3.0 / 5.0, 1));
    assert_eq!((found.in_degree.min, found.in_degree.max), (0, 3));
    assert_eq!((found.communities.count, found.communities.largest), (2, 2));
    assert!(profile(2, &[(0, 1), (1, 0), (1, 1)]).symmetric);
}

#[test]
fn nothing_is_not_a_number() {
    for found in [profile(0, &[]), profile(3, &[]), profile(1, &[(0, 0)])] {
        assert_eq!(
            (found.order.aes, found.in_degree.skew, found.communities.modularity),
            (0.0, 0.0, 0.0)
        );
        assert!(found.symmetric);
        let page = serde_json::to_string(&found).unwrap();
        assert_eq!(
            serde_json::from_str::<Profile>(&page).unwrap(),
            found,
            "a number that JSON does not have"
        );
    }
    for labels in [
        Labels::Classes(vec![None; 3]),
        Labels::Values(vec![f32::NAN; 3]),
        Labels::Rows { columns: 0, values: vec![] },
    ] {
        let found = measure(
            &csr(3, &[(0, 1)], None),
            Attributes { labels: Some(labels), ..Attributes::default() },
            &Silence,
        );
        let page = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&page).unwrap(), found);
    }
}

#[test]
fn weights_take_part_in_symmetry() {
    let table = |weight: Vec<f32>| EdgeTable {
        source: vec![0, 1],
        target: vec![1, 0],
        weight: Some(weight),
        kind: None,
    };
    assert!(is_symmetric(&build_csr(2, &table(vec![2.0, 2.0]))));
    assert!(!is_symmetric(&build_csr(2, &table(vec![2.0, 3.0]))));
}

#[test]
fn many_small_graphs_are_block_diagonal_and_a_stray_edge_leaves_them_nearly_so() {
    let mut edges: Edges = (0..400)
        .flat_map(|block| [(3 * block, 3 * block + 2), (3 * block + 1, 3 * block)])
        .collect();
    let found = profile(1200, &edges);
    assert_eq!((found.blocks.count, found.blocks.largest, found.blocks.diagonal), (400, 3, true));
    assert_eq!(found.blocks, found.blocks_nearly);
    edges.extend([(0, 1199), (7, 1000)]);
    let found = profile(1200, &edges);
    assert_eq!((found.blocks.count, found.blocks.diagonal), (1, false));
    assert_eq!(
        (found.blocks_nearly.count, found.blocks_nearly.largest, found.blocks_nearly.diagonal),
        (400, 3, true)
    );
}

#[test]
fn values_and_rows_of_labels() {
    let Some(LabelFigures::Values { labelled, min, mean, max, deviation }) =
        Some(labels::figures(&Labels::Values(vec![1.0, f32::NAN, 4.0, 1.0])))
    else {
        panic!("values")
    };
    assert_eq!((labelled, min, mean, max, deviation), (3, 1.0, 2.0, 4.0, 2f64.sqrt()));
    let rows = |values: Vec<f32>| labels::figures(&Labels::Rows { columns: 2, values });
    let expected = |labelled, binary| LabelFigures::Rows {
        columns: 2,
        labelled,
        binary,
        nonzero_mean: 1.0,
        column_least: 1,
        column_most: 2,
    };
    assert_eq!(rows(vec![1.0, 0.0, 1.0, 1.0, 0.0, 0.0, f32::NAN, 1.0]), expected(3, true));
    assert_eq!(rows(vec![2.5, 0.0, 1.0, 1.0, 0.0, 0.0]), expected(3, false));
}

#[test]
fn graphs_of_a_set_kinds_and_their_labels() {
    let graphs = Some((4, Some(Labels::Classes(vec![Some(1), Some(0), Some(1), None]))));
    let attributes = Attributes {
        graph_of: Some(vec![0, 0, 0, 1, 2, 2]),
        kinds: Some(vec![0, 2, 2, 0, 0, 2]),
        graphs,
        ..Attributes::default()
    };
    let found = measure(&csr(6, &[(0, 1)], None), attributes, &Silence);
    let graphs = found.graphs.unwrap();
    assert_eq!(
        (graphs.count, graphs.least, graphs.mean, graphs.most, graphs.deviation),
        (4, 0, 1.5, 3, 1.25f64.sqrt())
    );
    assert!(matches!(graphs.labels, Some(LabelFigures::Classes { classes: 2, labelled: 3, .. })));
    assert_eq!((found.kind_nodes, found.homophily), (vec![3, 0, 3], None));
}

/// Cliques of so many nodes, each joined to the next by one edge, ids scattered.
fn ring_of_cliques(cliques: u32, size: u32) -> (usize, Edges, Vec<u32>) {
    let nodes = cliques * size;
    let name = |node: u32| (u64::from(node) * 1_000_003 % u64::from(nodes)) as u32;
    let mut edges = Vec::new();
    for clique in 0..cliques {
        let member = |at: u32| name(clique % cliques * size + at);
        for a in 0..size {
            edges.extend((0..size).filter(|&b| b != a).map(|b| (member(a), member(b))));
        }
        edges.push((member(0), name((clique + 1) % cliques * size + 1)));
    }
    let mut planted = vec![0; nodes as usize];
    (0..nodes).for_each(|node| planted[name(node) as usize] = node / size);
    (nodes as usize, edges, planted)
}

/// The reported phases, each with the counts that it reached.
#[derive(Default)]
struct ProgressLog(std::sync::Mutex<Vec<(String, Vec<u64>)>>);

impl Progress for ProgressLog {
    fn begin(&self, what: &str, _: u64, _: &'static str) {
        self.0.lock().unwrap().push((what.to_owned(), vec![0]));
    }

    fn advance(&self, units: u64) {
        let mut heard = self.0.lock().unwrap();
        let counts = &mut heard.last_mut().unwrap().1;
        counts.push(counts.last().unwrap() + units);
    }

    fn note(&self, _: &str) {}
    fn end(&self) {}
    fn warn(&self, _: &str) {}
}

#[test]
fn the_search_for_communities_says_how_far_it_is() {
    let (nodes, edges, _) = ring_of_cliques(200, 12);
    let heard = ProgressLog::default();
    measure(&csr(nodes, &edges, None), Attributes::default(), &heard);
    let heard = heard.0.into_inner().unwrap();
    let counts = |what: &str| {
        heard
            .iter()
            .find(|(told, _)| told == what)
            .map(|(_, counts)| counts.iter().collect::<BTreeSet<_>>())
            .unwrap()
    };
    let looked_at = counts("looking for communities");
    assert!(looked_at.len() >= 4 && **looked_at.last().unwrap() >= nodes as u64, "{looked_at:?}");
    assert_eq!(
        counts("measuring").into_iter().copied().collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5, GROUPS]
    );
}

#[test]
fn planted_communities_are_found_by_any_number_of_threads() {
    let (nodes, edges, planted) = ring_of_cliques(50, 12);
    let parts = csr(nodes, &edges, None);
    let find = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            (
                communities::find(parts.incoming.rows(), parts.outgoing.rows(), &|_| {}),
                measure(&parts, Attributes::default(), &Silence),
            )
        })
    };
    let (community, found) = find(1);
    for &(a, b) in &edges {
        assert_eq!(
            planted[a as usize] == planted[b as usize],
            community[a as usize] == community[b as usize],
            "{a} {b}"
        );
    }
    assert_eq!(
        (found.communities.count, found.communities.largest, found.communities.deviation),
        (50, 12, 0.0)
    );
    near(found.communities.modularity, slow::modularity(nodes, &edges, &planted));
    for threads in [2, 5] {
        assert!(find(threads) == (community.clone(), found.clone()), "{threads} threads");
    }
}

/// The edges of a text in the shared data, ids from 0 in ascending order; none, after saying so,
/// when it is not here.
fn shared(test: &str, path: &str) -> Option<(usize, Edges)> {
    let file = warploom_test_support::shared().join("data").join(path);
    let Ok(text) = std::fs::read_to_string(file) else {
        skipped(test, format!("no {path} in `data` of the folder that WARPLOOM_SHARED names"));
        return None;
    };
    let pair = |line: &str| {
        let mut words = line.split_whitespace().map(|word| word.parse::<u32>().unwrap());
        (words.next().unwrap(), words.next().unwrap())
    };
    let edges: Edges =
        text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(pair).collect();
    let ids: Vec<u32> =
        edges.iter().flat_map(|&(a, b)| [a, b]).collect::<BTreeSet<_>>().into_iter().collect();
    let number = |id: u32| ids.binary_search(&id).unwrap() as u32;
    Some((ids.len(), edges.iter().map(|&(a, b)| (number(a), number(b))).collect()))
}

/// numpy 2.4.6, scipy 1.17.1 (skew, connected_components) and networkx 3.6.1 (modularity of its
/// Louvain, best of three seeds).
#[test]
fn real_graphs_have_the_figures_that_other_programs_find() {
    struct Known {
        path: &'static str,
        gini: [f64; 2],
        skew: [f64; 2],
        deviation: [f64; 2],
        median: [u64; 2],
        order: (f64, u64, f64),
        components: (u64, u64),
        vectors: [(u64, u64, u64); 2],
        modularity: f64,
    }
    let all = [
        Known {
            path: "karate/karate.edges",
            gini: [0.5754147812971342, 0.5595776772247361],
            skew: [3.174031374399838, 2.949124957880293],
            deviation: [3.258738584579892, 3.0537287888040967],
            median: [2, 2],
            order: (10.346153846153847, 31, 8.0),
            components: (1, 34),
            vectors: [(43, 18, 8), (35, 18, 6)],
            modularity: 0.41978961209730437,
        },
        Known {
            path: "snap_ca-GrQc/ca-GrQc.txt",
            gini: [0.5545766410230687; 2],
            skew: [3.8317117985807965; 2],
            deviation: [7.917909911362179; 2],
            median: [3, 3],
            order: (1728.9864734299517, 5198, 31.455849889624723),
            components: (355, 4158),
            vectors: [(28326, 139, 3832), (27901, 197, 3628)],
            modularity: 0.8626328454787373,
        },
        Known {
            path: "snap_wiki-Vote/wiki-Vote.txt",
            gini: [0.8225980704624396, 0.8134277209456434],
            skew: [3.7073885409642373, 7.8514984273793],
            deviation: [31.72872658686329, 42.27911559826222],
            median: [0, 2],
            order: (1205.0612601143805, 7104, 30.29990743597655),
            components: (24, 7066),
            vectors: [(90055, 587, 11630), (80373, 627, 10244)],
            modularity: 0.4276941906708863,
        },
    ];
    for Known { path, gini, skew, deviation, median, order, components, vectors, modularity } in all
    {
        let Some((nodes, edges)) =
            shared("real_graphs_have_the_figures_that_other_programs_find", path)
        else {
            return;
        };
        let found = profile(nodes, &edges);
        for (side, spread) in [&found.in_degree, &found.out_degree].into_iter().enumerate() {
            near(spread.gini, gini[side]);
            near(spread.skew, skew[side]);
            near(spread.deviation, deviation[side]);
            assert_eq!(spread.median, median[side], "{path}");
        }
        near(found.order.aes, order.0);
        near(found.order.lines_per_32_edges, order.2);
        assert_eq!(
            (found.order.bandwidth, found.components, found.component_largest),
            (order.1, components.0, components.1),
            "{path}"
        );
        assert_eq!(
            found.windows.map(|window| (window.vectors, window.vectors_most, window.tiles)),
            vectors,
            "{path}"
        );
        // A heuristic against a heuristic: as good within 2 in 100.
        assert!(
            found.communities.modularity > 0.98 * modularity,
            "{path}: {} against {modularity}",
            found.communities.modularity
        );
        println!("{path}: modularity {} (networkx {modularity})", found.communities.modularity);
    }
}
