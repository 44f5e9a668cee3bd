//! stand_in_speed: times generators, without reading or writing files, and says how near the
//! graph comes to what was asked. One JSON line for each set.
//!
//! usage: stand_in_speed THREADS NAME...
//!        NAME: a catalogue entry with a stand-in or a generator of planted graphs
use warploom_bench::{start_threads, time};
use warploom_catalog::{Catalog, Generator};
use warploom_ingest::generate::synthetic_source::generate_recipe;

const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let threads = start_threads(&arguments[1]);
    let catalog = Catalog::discover();
    for name in &arguments[2..] {
        let entry = catalog.find(name).expect("an entry");
        let recipe = match (entry.stand_in, entry.generator) {
            (Some(recipe), _) | (None, Some(Generator::Planted(recipe))) => recipe,
            _ => panic!("`{name}` has no recipe"),
        };
        let mut best = f64::INFINITY;
        let mut first = None;
        for _ in 0..ROUNDS {
            let (seconds, made) =
                time(|| generate_recipe(&recipe, recipe.seed).expect("a possible recipe"));
            best = best.min(seconds);
            let kept = first.get_or_insert(made);
            assert_eq!(kept.0.edges.len() as u64, recipe.edges, "the number of edges");
        }
        let Some((graph, community)) = first else { return };
        let edges = &graph.edges;
        let mut keys: Vec<u64> = edges
            .source
            .iter()
            .zip(&edges.target)
            .map(|(&source, &target)| u64::from(source) << 32 | u64::from(target))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len() as u64, recipe.edges, "distinct edges");
        let inside = keys
            .iter()
            .filter(|&&key| community[(key >> 32) as usize] == community[key as u32 as usize])
            .count();
        let mut degrees = vec![0u32; recipe.nodes as usize];
        edges.target.iter().for_each(|&target| degrees[target as usize] += 1);
        let largest = degrees.iter().max().copied().unwrap_or(0);
        let above_one =
            degrees.iter().filter(|&&degree| degree > 1).count() as f64 / f64::from(recipe.nodes);
        let mean = recipe.edges as f64 / f64::from(recipe.nodes);
        let tail: Vec<f64> = degrees
            .iter()
            .map(|&degree| f64::from(degree))
            .filter(|&degree| degree >= 2.0 * mean)
            .collect();
        let exponent = 1.0
            + tail.len() as f64
                / tail.iter().map(|degree| (degree / (2.0 * mean - 0.5)).ln()).sum::<f64>();
        println!(
            "{{\"name\": \"{name}\", \"threads\": {threads}, \"nodes\": {}, \"edges\": {}, \
             \"seconds\": {best:.4}, \"edges_per_second\": {:.0}, \"largest\": {largest}, \
             \"isolated\": {}, \"above_one\": {above_one:.3}, \"exponent\": {exponent:.2}, \
             \"communities\": {}, \"inside\": {:.4}}}",
            recipe.nodes,
            recipe.edges,
            recipe.edges as f64 / best,
            degrees.iter().filter(|&&degree| degree == 0).count(),
            community.iter().max().map_or(0, |&most| most + 1),
            inside as f64 / recipe.edges.max(1) as f64
        );
    }
}
