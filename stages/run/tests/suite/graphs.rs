//! graphs: small graphs with everything that breaks kernels, and numbers for them from a counter.
use warploom_ops::random::philox4x32;

/// A graph as a list of edges.
#[derive(Clone, Debug)]
pub struct Shape {
    pub name: &'static str,
    pub nodes: usize,
    pub edges: Vec<(u32, u32)>,
}

/// Number `index` of stream `stream`, in [0, 1).
pub fn uniform(stream: u32, index: usize) -> f64 {
    f64::from(philox4x32::<10>([index as u32, (index >> 32) as u32, stream, 0], [17, 4])[0])
        / 4_294_967_296.0
}

/// Numbers in [-1, 1).
pub fn signed(stream: u32, count: usize) -> Vec<f64> {
    (0..count).map(|index| 2.0 * uniform(stream, index) - 1.0).collect()
}

/// Random edges, skewed at both ends.
pub fn random(name: &'static str, nodes: usize, edges: usize, stream: u32) -> Shape {
    let end = |index: usize| {
        let draw = uniform(stream, index);
        ((draw * draw * nodes as f64) as u32).min(nodes as u32 - 1)
    };
    Shape {
        name,
        nodes,
        edges: (0..edges).map(|edge| (end(2 * edge), end(2 * edge + 1))).collect(),
    }
}

/// The degenerate ones and one that is not.
pub fn zoo() -> Vec<Shape> {
    let shape = |name, nodes, edges| Shape { name, nodes, edges };
    let star =
        |hub: u32, others: u32| (1..=others).map(move |leaf| (leaf, hub)).collect::<Vec<_>>();
    let clique = (0..7u32).flat_map(|source| {
        (0..7u32).filter(move |&target| target != source).map(move |target| (source, target))
    });
    let mut hub: Vec<(u32, u32)> = (0..3000u32).map(|edge| (edge * 7 % 500, 499)).collect();
    hub.extend((0..400u32).map(|edge| (499, edge)));
    vec![
        shape("empty", 0, vec![]),
        shape("one node", 1, vec![]),
        shape("one loop", 1, vec![(0, 0)]),
        shape("no edges", 5, vec![]),
        shape("self loops", 4, vec![(0, 0), (1, 1), (2, 2), (3, 3)]),
        shape("parallel edges", 3, vec![(0, 1), (0, 1), (0, 1), (1, 2), (2, 1), (2, 1)]),
        shape("isolated", 9, vec![(1, 3), (3, 1), (3, 5)]),
        shape("star inwards", 40, star(0, 39)),
        shape(
            "star outwards",
            40,
            star(0, 39).into_iter().map(|(source, target)| (target, source)).collect(),
        ),
        shape("clique", 7, clique.collect()),
        shape("hub", 500, hub),
        shape("path", 30, (0..29).flat_map(|node| [(node, node + 1), (node + 1, node)]).collect()),
        random("random", 300, 2500, 5),
    ]
}

/// The small ones side by side, with a hub of its own and random edges: one graph with every kind
/// of row.
pub fn medley() -> Shape {
    let hub = Shape {
        name: "small hub",
        nodes: 30,
        edges: (0..400)
            .map(|edge| (edge * 7 % 30, 29))
            .chain((0..30).map(|edge| (29, edge)))
            .collect(),
    };
    let parts = zoo()
        .into_iter()
        .filter(|shape| shape.nodes < 40)
        .chain([hub, random("random", 40, 200, 6)]);
    parts.fold(Shape { name: "medley", nodes: 0, edges: vec![] }, |mut all, part| {
        let first = all.nodes as u32;
        all.edges
            .extend(part.edges.iter().map(|(source, target)| (first + source, first + target)));
        all.nodes += part.nodes;
        all
    })
}
