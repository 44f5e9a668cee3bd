//! generator: generated data sets: parameters of each generator, and names that hold them, such as
//! `rmat-20`.
//!
//! promises  a name of a known kind is a generator, or an error with the number that is wrong and
//!           why
//! never     generates an edge (`ingest` does)
use crate::CatalogError;
use serde::{Deserialize, Serialize};

/// Most nodes of a graph: row numbers and one sentinel fit in `u32`.
const NODES_MOST: u64 = u32::MAX as u64 - 1;
/// Most edges of a generated set: 128 GiB as a list.
const EDGES_MOST: u64 = 1 << 34;
/// Edges per node of `rmat-<scale>`, as in Graph500.
const RMAT_EDGES_A_NODE: u64 = 16;
/// A generator and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Generator {
    /// R-MAT with a 0.57, b 0.19, c 0.19, d 0.05; edges as drawn: repeats and self loops stay
    /// unless options remove them.
    Rmat {
        /// Nodes; a pair beyond them is drawn again.
        nodes: u64,
        /// Edges as drawn.
        edges: u64,
        /// Everything is drawn from it.
        seed: u64,
    },
    /// Pairs of different nodes, drawn uniformly; repeats stay unless options remove them.
    Random {
        /// Nodes.
        nodes: u64,
        /// Edges as drawn.
        edges: u64,
        /// Everything is drawn from it.
        seed: u64,
    },
    /// 2D grid: each node has edges to its neighbours left, right, above and below, in both
    /// directions.
    Grid {
        /// Nodes in a row.
        width: u64,
        /// Rows.
        height: u64,
    },
    /// Star: edges between node 0 and all others, in both directions.
    Star {
        /// Nodes, with the centre.
        nodes: u64,
    },
    /// Many complete graphs of equal size.
    CliqueBatch {
        /// Graphs.
        count: u64,
        /// Nodes of each.
        size: u64,
    },
    /// Communities and power-law degrees, or many small graphs: the generator of stand-ins.
    Planted(Recipe),
}

impl Generator {
    /// The generator of a name such as `rmat-20`; none if the name has no known kind.
    pub fn from_name(name: &str) -> Option<Result<Generator, CatalogError>> {
        let (kind, form) = FORMS.iter().find(|(kind, _)| {
            name == *kind || name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('-'))
        })?;
        let rest = name[kind.len()..].strip_prefix('-').unwrap_or_default();
        let numbers: Result<Vec<u64>, &str> =
            rest.split('-').map(|word| word.parse().map_err(|_| word)).collect();
        let wrong = |what: String| {
            CatalogError::new(format!("`{name}` is no data set: {what}"))
                .hint(format!("write it as  {form}"))
        };
        let made = match numbers {
            Err(word) => Err(format!("expected whole numbers after `{kind}`, found `{word}`")),
            Ok(numbers) => match (*kind, &numbers[..]) {
                ("rmat", &[scale]) => rmat(scale, RMAT_EDGES_A_NODE),
                ("rmat", &[scale, edges_a_node]) => rmat(scale, edges_a_node),
                ("random", &[nodes, edges]) => Ok(Generator::Random { nodes, edges, seed: 0 }),
                ("grid", &[width, height]) => Ok(Generator::Grid { width, height }),
                ("star", &[nodes]) => Ok(Generator::Star { nodes }),
                ("clique-batch", &[count, size]) => Ok(Generator::CliqueBatch { count, size }),
                (_, numbers) => Err(format!(
                    "found {} after `{kind}`",
                    if numbers.len() == 1 {
                        "1 number".to_owned()
                    } else {
                        format!("{} numbers", numbers.len())
                    }
                )),
            },
        };
        Some(made.and_then(|made| made.check().map(|()| made)).map_err(wrong))
    }

    /// Checks that such a graph is possible.
    pub fn check(&self) -> Result<(), String> {
        let (nodes, edges) = (self.nodes(), self.edges());
        if nodes > NODES_MOST {
            return Err(format!("expected at most {NODES_MOST} nodes, found {nodes}"));
        }
        if edges > EDGES_MOST {
            return Err(format!("expected at most {EDGES_MOST} edges, found {edges}"));
        }
        match self {
            Generator::Rmat { .. } | Generator::Random { .. } if edges > 0 && nodes < 2 => {
                Err(format!("expected at least 2 nodes for edges between them, found {nodes}"))
            }
            _ if nodes == 0 => Err("expected at least one node, found 0".to_owned()),
            _ => Ok(()),
        }
    }

    /// Nodes; the largest number where there would be more.
    pub fn nodes(&self) -> u64 {
        match *self {
            Generator::Rmat { nodes, .. }
            | Generator::Random { nodes, .. }
            | Generator::Star { nodes } => nodes,
            Generator::Grid { width, height } => width.saturating_mul(height),
            Generator::CliqueBatch { count, size } => count.saturating_mul(size),
            Generator::Planted(recipe) => u64::from(recipe.nodes),
        }
    }

    /// Edges as listed; the largest number where there would be more.
    pub fn edges(&self) -> u64 {
        match *self {
            Generator::Rmat { edges, .. } | Generator::Random { edges, .. } => edges,
            Generator::Star { nodes } => nodes.saturating_sub(1).saturating_mul(2),
            Generator::Grid { width, height } => {
                let along = |one: u64, other: u64| one.saturating_sub(1).saturating_mul(other);
                along(width, height).saturating_add(along(height, width)).saturating_mul(2)
            }
            Generator::CliqueBatch { count, size } => {
                count.saturating_mul(size).saturating_mul(size.saturating_sub(1))
            }
            Generator::Planted(recipe) => recipe.edges,
        }
    }

    /// Number of graphs, in a set of many.
    pub fn graphs(&self) -> Option<u64> {
        match *self {
            Generator::CliqueBatch { count, .. } => Some(count),
            Generator::Planted(recipe) if recipe.graphs > 0 => Some(u64::from(recipe.graphs)),
            _ => None,
        }
    }

    /// Whether edges are directed.
    pub(crate) fn is_directed(&self) -> bool {
        match self {
            Generator::Rmat { .. } | Generator::Random { .. } => true,
            Generator::Planted(recipe) => !recipe.symmetric,
            _ => false,
        }
    }

    /// Description of the graph, in a sentence.
    pub(crate) fn description(&self) -> String {
        match self {
            Generator::Rmat { nodes, edges, .. } => {
                format!(
                    "R-MAT graph (0.57, 0.19, 0.19, 0.05) of {nodes} nodes; {edges} edges as \
                     drawn, repeats and self loops among them."
                )
            }
            Generator::Random { nodes, edges, .. } => {
                format!("{edges} edges between {nodes} nodes, drawn evenly; repeats among them.")
            }
            Generator::Grid { width, height } => format!(
                "Grid of {width} by {height} nodes, each joined with its neighbours in both \
                 directions."
            ),
            Generator::Star { nodes } => {
                format!("Star of {nodes} nodes: node 0 joined with all others in both directions.")
            }
            Generator::CliqueBatch { count, size } => {
                format!("{count} complete graphs of {size} nodes each.")
            }
            Generator::Planted(recipe) => {
                format!("Planted communities: {} nodes, {} edges.", recipe.nodes, recipe.edges)
            }
        }
    }
}

/// A seeded graph that replaces a data set whose files are missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Nodes.
    pub nodes: u32,
    /// Distinct directed edges, self loops included; in a symmetric graph two for each pair, and an
    /// odd one is a self loop.
    pub edges: u64,
    /// Whether each edge has its reverse.
    pub symmetric: bool,
    /// The largest degree, in each direction.
    pub max_degree: u32,
    /// Edges that are self loops, where the set has them.
    #[serde(default)]
    pub loops: u64,
    /// Number of graphs in a set of many; 0: one graph.
    #[serde(default)]
    pub graphs: u32,
    /// Relations; 0: edges have no types.
    #[serde(default)]
    pub relations: u16,
    /// Labelled nodes; 0: all.
    #[serde(default)]
    pub labelled: u32,
    /// Mean number of nodes in a community.
    #[serde(default = "community_default")]
    pub community: u32,
    /// Share of the edges inside communities.
    #[serde(default = "inside_default")]
    pub inside: f64,
    /// Feature width.
    pub features: u32,
    /// Classes.
    pub classes: u32,
    /// Everything is drawn from it.
    pub seed: u64,
}

fn community_default() -> u32 {
    128
}

fn inside_default() -> f64 {
    0.7
}

fn rmat(scale: u64, edges_a_node: u64) -> Result<Generator, String> {
    if scale > 31 {
        return Err(format!("expected a scale of at most 31 (2^scale nodes), found {scale}"));
    }
    let nodes = 1 << scale;
    Ok(Generator::Rmat { nodes, edges: edges_a_node.saturating_mul(nodes), seed: 0 })
}

/// Kinds of names, the longer first where one begins with another, and the form of each.
pub const FORMS: &[(&str, &str)] = &[
    (
        "rmat",
        "rmat-<scale>  or  rmat-<scale>-<edges a node>,  such as rmat-20 (2^20 nodes, 16 edges a \
         node)",
    ),
    ("random", "random-<nodes>-<edges>,  such as random-1000000-16000000"),
    ("grid", "grid-<width>-<height>,  such as grid-1000-1000"),
    ("star", "star-<nodes>,  such as star-1000000"),
    ("clique-batch", "clique-batch-<graphs>-<nodes of each>,  such as clique-batch-1000-32"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn generator_of(name: &str) -> Generator {
        Generator::from_name(name).unwrap().unwrap()
    }

    #[test]
    fn names_say_what_is_made() {
        assert_eq!(
            generator_of("rmat-20"),
            Generator::Rmat { nodes: 1 << 20, edges: 1 << 24, seed: 0 }
        );
        assert_eq!(
            generator_of("rmat-10-3"),
            Generator::Rmat { nodes: 1024, edges: 3072, seed: 0 }
        );
        assert_eq!(
            generator_of("random-10-20"),
            Generator::Random { nodes: 10, edges: 20, seed: 0 }
        );
        assert_eq!((generator_of("grid-3-4").nodes(), generator_of("grid-3-4").edges()), (12, 34));
        assert_eq!((generator_of("star-1").edges(), generator_of("star-5").edges()), (0, 8));
        assert_eq!(
            (
                generator_of("clique-batch-7-3").nodes(),
                generator_of("clique-batch-7-3").edges(),
                generator_of("clique-batch-7-3").graphs()
            ),
            (21, 42, Some(7))
        );
        assert!(
            ["karate", "gridlock", "rmats-3", "starfish", "r"]
                .iter()
                .all(|name| Generator::from_name(name).is_none())
        );
        let entry = generator_of("clique-batch-7-3").entry("clique-batch-7-3");
        assert!(
            entry.expected.nodes == Some(21)
                && entry.holds.graphs == Some(7)
                && entry.symmetrize
                && !entry.directed
        );
    }

    #[test]
    fn a_number_that_cannot_be_is_named() {
        for (name, what) in [
            ("rmat", "expected whole numbers after `rmat`, found ``"),
            ("rmat-x", "found `x`"),
            ("rmat-40", "a scale of at most 31 (2^scale nodes), found 40"),
            ("rmat-31-9999", "at most 17179869184 edges, found 21472"),
            ("rmat-1-2-3", "found 3 numbers after `rmat`"),
            ("random-10", "found 1 number after `random`"),
            ("random-1-5", "at least 2 nodes"),
            ("grid-0-5", "at least one node"),
            ("grid-100000-100000", "at most 4294967294 nodes, found 10000000000"),
            ("grid-99999999999-99999999999", "at most 4294967294 nodes"),
            ("star--5", "expected whole numbers after `star`, found ``"),
            ("star-5000000000", "at most 4294967294 nodes"),
            ("clique-batch-3", "found 1 number after `clique-batch`"),
            ("clique-batch-1-1000000", "at most 17179869184 edges"),
        ] {
            match Generator::from_name(name) {
                Some(Err(error)) => assert!(
                    error.what.contains(what) && error.hint.as_ref().unwrap().contains("such as"),
                    "{error}"
                ),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_name_is_no_generator_or_a_sound_one_or_an_error(kind in "rmat|random|grid|star|clique-batch|x", rest in "(-?[0-9a-z]{0,20}){0,4}") {
            if let Some(Ok(generator)) = Generator::from_name(&format!("{kind}{rest}")) {
                assert!(generator.check().is_ok() && generator.nodes() <= NODES_MOST && generator.edges() <= EDGES_MOST);
            }
        }
    }
}
