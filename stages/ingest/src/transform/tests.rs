//! Transforms against a slow definition, and for any number of threads.
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use warploom_formats::out_of_core::{Edge, Limit};

fn edges(list: &[(u32, u32, f32)]) -> Edges {
    Edges {
        source: list.iter().map(|edge| edge.0).collect(),
        target: list.iter().map(|edge| edge.1).collect(),
        weight: Some(list.iter().map(|edge| edge.2).collect()),
        ..Edges::default()
    }
}

fn edge_list(edges: &Edges) -> Vec<(u32, u32, f32)> {
    let weight = |at: usize| edges.weight.as_ref().map_or(-1.0, |weight| weight[at]);
    (0..edges.len()).map(|at| (edges.source[at], edges.target[at], weight(at))).collect()
}

/// The definition, by maps of lists of weights.
fn slow_transform(list: &[(u32, u32, f32)], nodes: u32, options: &Options) -> Vec<(u32, u32, f32)> {
    let mut pairs: BTreeMap<(u32, u32), Vec<f32>> = BTreeMap::new();
    let drops = matches!(options.self_loops, SelfLoops::Drop | SelfLoops::Replace);
    for &(source, target, weight) in list.iter().filter(|edge| !drops || edge.0 != edge.1) {
        pairs.entry((source, target)).or_default().push(weight);
    }
    if options.symmetrize {
        for ((source, target), weights) in pairs.clone() {
            let reverse = pairs.entry((target, source)).or_default();
            let missing = weights.iter().skip(reverse.len()).copied().collect::<Vec<_>>();
            reverse.extend(missing);
        }
    }
    for weights in pairs.values_mut() {
        match options.duplicates {
            Duplicates::Keep => {}
            Duplicates::Merge | Duplicates::Sum => {
                *weights = vec![weights.iter().map(|&weight| f64::from(weight)).sum::<f64>() as f32]
            }
            Duplicates::Min => *weights = vec![weights.iter().copied().reduce(f32::min).unwrap()],
            Duplicates::Max => *weights = vec![weights.iter().copied().reduce(f32::max).unwrap()],
            Duplicates::First => weights.truncate(1),
        }
    }
    if matches!(options.self_loops, SelfLoops::Add | SelfLoops::Replace) {
        (0..nodes).for_each(|node| {
            pairs.entry((node, node)).or_insert_with(|| vec![1.0]);
        });
    }
    pairs
        .into_iter()
        .flat_map(|((source, target), weights)| {
            weights.into_iter().map(move |weight| (source, target, weight))
        })
        .collect()
}

fn any_options() -> impl Strategy<Value = Options> {
    let loops = prop_oneof![
        Just(SelfLoops::Keep),
        Just(SelfLoops::Drop),
        Just(SelfLoops::Add),
        Just(SelfLoops::Replace)
    ];
    let duplicates = prop_oneof![
        Just(Duplicates::Keep),
        Just(Duplicates::Merge),
        Just(Duplicates::Sum),
        Just(Duplicates::Min),
        Just(Duplicates::Max),
        Just(Duplicates::First)
    ];
    (any::<bool>(), loops, duplicates).prop_map(|(symmetrize, self_loops, duplicates)| Options {
        symmetrize,
        self_loops,
        duplicates,
    })
}

proptest! {
    #[test]
    fn the_result_is_that_of_the_definition((nodes, list) in (1u32..40).prop_flat_map(|nodes| (Just(nodes), proptest::collection::vec((0..nodes, 0..nodes, (0u8..9).prop_map(f32::from)), 0..120))), options in any_options()) {
        let result = transform(edges(&list), nodes, 0, &options).unwrap();
        prop_assert_eq!(edge_list(&result.edges), slow_transform(&list, nodes, &options));
        let distinct = slow_transform(&list, nodes, &Options { duplicates: Duplicates::Merge, ..Options::default() }).len() as u64;
        let symmetric = slow_transform(&list, nodes, &Options { duplicates: Duplicates::Merge, symmetrize: true, ..Options::default() }).len() as u64;
        prop_assert_eq!((result.counts.listed, result.counts.distinct), (list.len() as u64, distinct));
        prop_assert_eq!(result.counts.symmetric, options.symmetrize.then_some(symmetric));
        let mut bare = edges(&list);
        bare.weight = None;
        let bare = transform(bare, nodes, 0, &options).unwrap().edges;
        prop_assert_eq!((&bare.source, &bare.target), (&result.edges.source, &result.edges.target));
        prop_assert_eq!(bare.weight.is_some(), options.duplicates == Duplicates::Sum);
    }

    #[test]
    fn runs_on_disk_give_the_edges_of_the_transform_in_memory((nodes, list) in (1u32..60).prop_flat_map(|nodes| (Just(nodes), proptest::collection::vec((0..nodes, 0..nodes, (0u8..9).prop_map(f32::from)), 0..400))), options in any_options(), run_edges in 1usize..50) {
        let expected = transform(edges(&list), nodes, 0, &options).unwrap();
        let (layout, limit) = (Layout::new(nodes, 0).unwrap(), Limit { memory: 0, folder: std::env::temp_dir() });
        let edge = |source: u32, target: u32| Edge { source, target, relation: 0, weight: 1.0, at: 0 };
        let mut runs = external_sort::Runs::<f32>::new(layout, nodes, options, &limit).unwrap();
        runs.run_edges = run_edges;
        list.iter().for_each(|&(source, target, weight)| runs.push(edge(source, target), weight).unwrap());
        let mut found = Vec::new();
        let counts = runs.merge::<std::io::Error>(|source, target, _, weight| { found.push((source, target, weight)); Ok(()) }).unwrap();
        prop_assert_eq!(found, edge_list(&expected.edges));
        prop_assert_eq!(counts, expected.counts);
        let mut bare = external_sort::Runs::<()>::new(layout, nodes, options, &limit).unwrap();
        bare.run_edges = run_edges;
        list.iter().for_each(|&(source, target, _)| bare.push(edge(source, target), ()).unwrap());
        let mut ends = Vec::new();
        bare.merge::<std::io::Error>(|source, target, _, ()| { ends.push((source, target)); Ok(()) }).unwrap();
        prop_assert_eq!(ends, expected.edges.source.iter().copied().zip(expected.edges.target.iter().copied()).collect::<Vec<_>>());
    }

    /// Each relation is a graph of its own, and features follow the weight that came with them.
    #[test]
    fn relations_are_apart_and_features_stay_with_their_edges((nodes, list) in (1u32..20).prop_flat_map(|nodes| (Just(nodes), proptest::collection::vec((0..nodes, 0..nodes, 0u16..3), 0..80))), symmetrize in any::<bool>(), drop in any::<bool>(), first in any::<bool>()) {
        let options = Options {
            symmetrize,
            self_loops: if drop { SelfLoops::Drop } else { SelfLoops::Keep },
            duplicates: if first { Duplicates::First } else { Duplicates::Keep },
        };
        let number = |at: usize| at as f32 + 1.0;
        let typed = Edges {
            source: list.iter().map(|edge| edge.0).collect(),
            target: list.iter().map(|edge| edge.1).collect(),
            relation: Some(list.iter().map(|edge| edge.2).collect()),
            weight: Some((0..list.len()).map(number).collect()),
            features: Some(EdgeFeatures { columns: 2, values: (0..list.len()).flat_map(|at| [number(at), -number(at)]).collect() }),
        };
        let result = transform(typed, nodes, 3, &options).unwrap().edges;
        let mut expected = Vec::new();
        for relation in 0..3 {
            let own: Vec<(u32, u32, f32)> = (0..list.len()).filter(|&at| list[at].2 == relation).map(|at| (list[at].0, list[at].1, number(at))).collect();
            expected.extend(slow_transform(&own, nodes, &options).into_iter().map(|(source, target, weight)| (source, target, relation, weight)));
        }
        expected.sort_by_key(|edge| (edge.0, edge.1, edge.2));
        let mut runs = external_sort::Runs::<f32>::new(Layout::new(nodes, 3).unwrap(), nodes, options, &Limit { memory: 0, folder: std::env::temp_dir() }).unwrap();
        runs.run_edges = 7;
        list.iter().enumerate().for_each(|(at, &(source, target, relation))| runs.push(Edge { source, target, relation, weight: 1.0, at: 0 }, number(at)).unwrap());
        let mut merged = Vec::new();
        runs.merge::<std::io::Error>(|source, target, relation, weight| { merged.push((source, target, relation, weight)); Ok(()) }).unwrap();
        prop_assert_eq!(&merged, &expected);
        let (relation, weight, features) = (result.relation.unwrap(), result.weight.unwrap(), result.features.unwrap());
        let found: Vec<_> = (0..weight.len()).map(|at| (result.source[at], result.target[at], relation[at], weight[at])).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(features.values, weight.iter().flat_map(|&weight| [weight, -weight]).collect::<Vec<f32>>());
    }

    #[test]
    fn a_second_symmetrize_adds_nothing(list in proptest::collection::vec((0u32..12, 0u32..12, (0u8..9).prop_map(f32::from)), 0..80)) {
        let once = symmetrize(edges(&list), 12);
        prop_assert_eq!(&symmetrize(once.clone(), 12), &once);
    }
}

#[test]
fn both_directions_listed_add_nothing_and_double_nothing() {
    let list = [(1, 0, 2.5), (0, 1, 2.5), (2, 2, 4.0), (1, 2, 1.0), (2, 1, 1.0)];
    let merged = transform(
        edges(&list),
        3,
        0,
        &Options { symmetrize: true, duplicates: Duplicates::Merge, ..Options::default() },
    )
    .unwrap();
    assert_eq!(
        edge_list(&merged.edges),
        [(0, 1, 2.5), (1, 0, 2.5), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 4.0)]
    );
    assert_eq!(merged.counts, Counts { listed: 5, distinct: 5, loops: 1, symmetric: Some(5) });
}

#[test]
fn the_kth_reverse_carries_the_weight_of_the_kth_that_lacked_one() {
    let list = [(0, 1, 1.0), (0, 1, 2.0), (1, 0, 9.0), (0, 1, 3.0)];
    let both = symmetrize(edges(&list), 2);
    assert_eq!(
        edge_list(&both),
        [(0, 1, 1.0), (0, 1, 2.0), (0, 1, 3.0), (1, 0, 9.0), (1, 0, 2.0), (1, 0, 3.0)]
    );
    let list = [(0, 1, 1.0), (1, 0, 1.0), (0, 1, 2.0)];
    let summed = transform(
        edges(&list),
        2,
        0,
        &Options { symmetrize: true, duplicates: Duplicates::Sum, ..Options::default() },
    )
    .unwrap();
    assert_eq!(edge_list(&summed.edges), [(0, 1, 3.0), (1, 0, 3.0)]);
}

#[test]
fn multiplicities_become_weights_and_loops_have_weight_one() {
    let bare = Edges { source: vec![0, 0, 1, 0], target: vec![1, 1, 1, 1], ..Edges::default() };
    let result = transform(
        bare,
        3,
        0,
        &Options { duplicates: Duplicates::Sum, self_loops: SelfLoops::Add, ..Options::default() },
    )
    .unwrap();
    assert_eq!(edge_list(&result.edges), [(0, 0, 1.0), (0, 1, 3.0), (1, 1, 1.0), (2, 2, 1.0)]);
}

#[test]
fn degenerate_graphs_stay_what_they_are() {
    let all =
        Options { symmetrize: true, self_loops: SelfLoops::Replace, duplicates: Duplicates::Sum };
    assert!(transform(Edges::default(), 0, 0, &all).unwrap().edges.is_empty());
    assert_eq!(
        edge_list(&transform(edges(&[(0, 0, 5.0)]), 1, 0, &all).unwrap().edges),
        [(0, 0, 1.0)]
    );
    assert_eq!(
        edge_list(&transform(edges(&[]), 2, 0, &all).unwrap().edges),
        [(0, 0, 1.0), (1, 1, 1.0)]
    );
    let most = u32::MAX - 2;
    let far = edges(&[(most, 0, 1.0), (0, most, 2.0), (most, most, 3.0)]);
    assert_eq!(
        edge_list(&sort(far, most + 1)),
        [(0, most, 2.0), (most, 0, 1.0), (most, most, 3.0)]
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    let typed =
        || Edges { source: vec![0], target: vec![1], relation: Some(vec![0]), ..Edges::default() };
    let add = Options { self_loops: SelfLoops::Add, ..Options::default() };
    assert_eq!(transform(typed(), 2, 1, &add), Err(TransformError::LoopOfNoRelation));
    assert_eq!(
        transform(typed(), u32::MAX - 1, 2, &Options::default()),
        Err(TransformError::TooMany { nodes: u32::MAX - 1, relations: 2 })
    );
    assert!(transform(typed(), 1 << 24, 1 << 16, &Options::default()).is_ok());
}

/// Edges with a star, repeats and both directions, enough for several chunks, buckets and pieces.
fn large(count: u32, nodes: u32) -> Edges {
    let bits = |i: u32| crate::generate::counter::mix(u64::from(i));
    let source =
        |i: u32| if i.is_multiple_of(5) { 7 } else { (bits(i / 2) % u64::from(nodes)) as u32 };
    let target = |i: u32| (bits(i / 3) >> 32) as u32 % nodes;
    Edges {
        source: (0..count).map(source).collect(),
        target: (0..count).map(target).collect(),
        weight: Some((0..count).map(|i| i as f32).collect()),
        ..Edges::default()
    }
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let options =
        Options { symmetrize: true, self_loops: SelfLoops::Add, duplicates: Duplicates::Keep };
    let (count, nodes) = (1_300_000, 70_000);
    let expected = transform(large(count, nodes), nodes, 0, &options).unwrap();
    assert!(expected.edges.source.is_sorted() && expected.edges.len() > 1_400_000);
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(
            pool.install(|| transform(large(count, nodes), nodes, 0, &options).unwrap())
                == expected
        );
    }
}

#[test]
fn a_large_sort_is_stable() {
    let list = large(1_300_000, 3_000);
    let mut expected = edge_list(&list);
    expected.sort_by_key(|edge| (edge.0, edge.1));
    assert!(edge_list(&sort(list, 3_000)) == expected);
}

#[test]
fn offsets_are_where_rows_begin() {
    assert_eq!(offsets(&[0, 0, 2, 3], 5), [0, 2, 2, 3, 4, 4]);
    assert_eq!(offsets(&[], 0), [0]);
}
