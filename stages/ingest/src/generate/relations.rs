//! relations: synthetic relations of edges: few are frequent, most are rare, and half depend on the
//! community of the target.
//!
//! promises  every relation occurs if there are enough edges; the same bytes for any number of
//!           threads; O(edges)
//! never     adds or moves an edge
use rayon::prelude::*;
use warploom_formats::raw_graph::Edges;

use super::counter::Counter;

/// Edges in one task.
const PIECE_EDGES: usize = 1 << 14;

/// The relation of each edge: relation `r` is drawn in proportion to 1 / (r + 1).
pub fn draw_relations(edges: &Edges, community: &[u32], relations: u16, seed: u64) -> Vec<u16> {
    let (coin, own, shared) = (
        Counter::new(seed, "whose relation"),
        Counter::new(seed, "relation"),
        Counter::new(seed, "relation of a community"),
    );
    let mut sum = 0.0;
    let ends: Vec<f64> = (0..relations)
        .map(|relation| {
            sum += 1.0 / (f64::from(relation) + 1.0);
            sum
        })
        .collect();
    let pick = |unit: f64| {
        (ends.partition_point(|&end| end <= unit * sum) as u16).min(relations.saturating_sub(1))
    };
    let count = edges.len();
    let mut drawn: Vec<u16> = (0..count)
        .into_par_iter()
        .with_min_len(PIECE_EDGES)
        .map(|edge| {
            let follows = coin.bits(edge as u64) & 1 == 1;
            pick(if follows {
                shared.unit(u64::from(community[edges.target[edge] as usize]))
            } else {
                own.unit(edge as u64)
            })
        })
        .collect();
    // One edge of each relation, spread over the list.
    for relation in 0..usize::from(relations).min(count) {
        drawn[relation * count / usize::from(relations)] = relation as u16;
    }
    drawn
}

/// Names of `relations` relations, in their order.
pub fn relation_names(relations: u16) -> Vec<String> {
    let width = relations.saturating_sub(1).to_string().len();
    (0..relations).map(|relation| format!("relation-{relation:0width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_occurs_and_few_are_frequent() {
        let edges = Edges {
            source: vec![0; 100_000],
            target: (0..100_000).map(|edge| edge % 5000).collect(),
            ..Edges::default()
        };
        let community: Vec<u32> = (0..5000).map(|node| node / 50).collect();
        let drawn = draw_relations(&edges, &community, 133, 1);
        let mut counts = vec![0; 133];
        drawn.iter().for_each(|&relation| counts[usize::from(relation)] += 1);
        assert!(
            counts.iter().all(|&count| count > 0) && counts[0] > 20 * counts[132],
            "{counts:?}"
        );
        for threads in [1, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| draw_relations(&edges, &community, 133, 1)), drawn);
        }
        assert_eq!(draw_relations(&Edges::default(), &[], 3, 1), Vec::<u16>::new());
        assert_eq!(
            draw_relations(
                &Edges { source: vec![0, 0], target: vec![0, 0], ..Edges::default() },
                &[0],
                3,
                1
            )
            .len(),
            2
        );
        assert_eq!(
            (
                relation_names(11)[10].as_str(),
                relation_names(11)[2].as_str(),
                relation_names(1)[0].as_str()
            ),
            ("relation-10", "relation-02", "relation-0")
        );
        assert!(relation_names(133).is_sorted());
    }
}
