//! Recipes of every size: exact counts, statistics, the same bytes for any number of threads.
use super::*;

fn amazon() -> Recipe {
    Recipe {
        nodes: 410_236,
        edges: 4_878_875,
        symmetric: true,
        loops: 0,
        max_degree: 2760,
        community: 128,
        inside: 0.7,
        seed: 505,
    }
}

fn small(nodes: u32, edges: u64, symmetric: bool) -> Recipe {
    Recipe {
        nodes,
        edges,
        loops: 0,
        symmetric,
        max_degree: u32::MAX,
        community: 16,
        inside: 0.7,
        seed: 1,
    }
}

/// Out-degrees.
fn degrees(made: &Generated) -> Vec<u64> {
    let mut degrees = vec![0; made.community.len()];
    made.edges.source.iter().for_each(|&source| degrees[source as usize] += 1);
    degrees
}

/// Checks what is promised of any recipe; returns the largest out-degree and the share of edges
/// inside communities.
fn verify(recipe: &Recipe) -> (u64, f64) {
    generate_and_verify(recipe).1
}

/// `verify`, with what was made.
fn generate_and_verify(recipe: &Recipe) -> (Generated, (u64, f64)) {
    let made = generate(recipe).unwrap();
    let edges = &made.edges;
    assert_eq!(
        (edges.len() as u64, made.community.len()),
        (recipe.edges, recipe.nodes as usize),
        "{recipe:?}"
    );
    let mut keys: Vec<u64> = edges
        .source
        .iter()
        .zip(&edges.target)
        .map(|(&source, &target)| pack_pair(source, target))
        .collect();
    keys.par_sort_unstable();
    assert!(keys.is_sorted_by(|a, b| a < b), "{recipe:?}");
    let loops = keys.iter().filter(|&&key| key >> 32 == key & MASK).count();
    assert_eq!(
        loops as u64,
        recipe.loops + u64::from(recipe.symmetric && (recipe.edges - recipe.loops) % 2 == 1)
    );
    if recipe.symmetric {
        let mut reverses: Vec<u64> = keys.iter().map(|key| key.rotate_left(32)).collect();
        reverses.par_sort_unstable();
        assert!(reverses == keys, "{recipe:?}");
    }
    let largest = degrees(&made).into_iter().max().unwrap_or(0);
    let inside = edges
        .source
        .iter()
        .zip(&edges.target)
        .filter(|&(&source, &target)| {
            made.community[source as usize] == made.community[target as usize]
        })
        .count();
    let share = inside as f64 / edges.len().max(1) as f64;
    (made, (largest, share))
}

#[test]
fn the_stand_in_of_amazon0505_is_as_its_recipe_says() {
    let recipe = amazon();
    let (made, (largest, inside)) = generate_and_verify(&recipe);
    assert!((2760..=2761).contains(&largest), "{largest}");
    assert!((0.69..0.71).contains(&inside), "{inside}");
    let degrees: Vec<f64> = degrees(&made).into_iter().map(|degree| degree as f64).collect();
    // Hill's estimate of the exponent, over degrees from 16 on.
    let tail: Vec<f64> = degrees.iter().copied().filter(|&degree| degree >= 16.0).collect();
    let slope =
        1.0 + tail.len() as f64 / tail.iter().map(|degree| (degree / 15.5).ln()).sum::<f64>();
    assert!((2.2..2.9).contains(&slope), "{slope}");
    println!(
        "largest {largest} inside {inside:.3} exponent {slope:.2} isolated {}",
        degrees.iter().filter(|&&degree| degree == 0.0).count()
    );
}

/// Half of all nodes are the hub's neighbours: pairs that find no home must not be the hub's.
#[test]
fn a_hub_among_few_nodes_keeps_its_degree() {
    let wisconsin = Recipe {
        nodes: 251,
        edges: 900,
        symmetric: true,
        loops: 0,
        max_degree: 122,
        community: 62,
        inside: 0.7,
        seed: 251,
    };
    for seed in [251, 1, 2, 3] {
        assert_eq!(verify(&Recipe { seed, ..wisconsin }).0, 122, "{seed}");
    }
}

#[test]
fn directed_graphs_are_exact_too() {
    let recipe =
        Recipe { nodes: 50_000, edges: 600_001, symmetric: false, max_degree: 900, ..amazon() };
    let (largest, inside) = verify(&recipe);
    assert!(largest == 900 && (0.69..0.71).contains(&inside), "{largest} {inside}");
}

#[test]
fn degenerate_sizes_are_exact() {
    for symmetric in [true, false] {
        for (nodes, edges) in [
            (0, 0),
            (1, 0),
            (2, 0),
            (2, 2),
            (5, 20),
            (5, 18),
            (64, 64 * 63),
            (64, 200),
            (64, 2000),
            (300, 20_000),
            (1000, 2),
            (1000, 400),
            (3000, 1_200_000),
        ] {
            verify(&small(nodes, edges, symmetric));
        }
    }
    verify(&small(1, 1, true));
    verify(&small(5, 21, true));
    verify(&small(100, 101, true));
    verify(&Recipe { loops: 100, ..small(100, 500, true) });
    verify(&Recipe { loops: 99, ..small(100, 500, true) });
    verify(&Recipe { loops: 7, ..small(100, 500, false) });
    verify(&Recipe { loops: 4, ..small(4, 4, true) });
    verify(&Recipe { max_degree: 3, ..small(1000, 3000, true) });
    verify(&Recipe { max_degree: 300, community: 1, ..small(5_000, 100_000, true) });
    verify(&Recipe { inside: 1.0, community: 4, ..small(5_000, 100_000, false) });
    verify(&Recipe { inside: 0.0, community: 50_000, ..small(5_000, 100_000, true) });
}

#[test]
fn what_cannot_be_is_an_error() {
    for recipe in [
        small(0, 1, true),
        small(0, 2, false),
        small(1, 1, false),
        small(1, 2, true),
        small(5, 22, true),
        small(5, 21, false),
    ] {
        assert!(generate(&recipe).is_err(), "{recipe:?}");
    }
    let error = generate(&Recipe { max_degree: 2, ..small(100, 300, true) }).unwrap_err();
    assert!(error.to_string().contains("at most 200, found 300"), "{error}");
    assert!(generate(&small(u32::MAX, 0, false)).is_err());
}

#[test]
fn the_bytes_do_not_depend_on_threads_but_on_the_seed() {
    let recipe = Recipe { nodes: 60_000, edges: 1_500_000, max_degree: 2000, ..amazon() };
    let expected = generate(&recipe).unwrap();
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| generate(&recipe)).unwrap() == expected);
    }
    assert!(generate(&Recipe { seed: 1, ..recipe }).unwrap() != expected);
}

proptest::proptest! {
    #[test]
    fn any_recipe_is_exact_or_impossible(nodes in 0u32..60, edges in 0u64..1000, symmetric: bool, max_degree in 0u32..80, community in 0u32..80, inside in 0.0..1.0, loops in 0u64..60, seed: u64) {
        let recipe = Recipe { nodes, edges, loops, symmetric, max_degree, community, inside, seed };
        if generate(&recipe).is_ok() {
            verify(&recipe);
        }
    }
}
