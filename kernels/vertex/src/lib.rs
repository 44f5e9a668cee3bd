//! vertex: the vertex language and the launch list that it becomes.
//!
//! holds   the compiler (`compile`: `syntax`, `trace`, `gir`, `passes`, `autodiff`, `lower`),
//!         `interpret` (the slow, obvious interpreter in f64 that says what a program means),
//!         `launch` (what a plan tells an executor to do; device-independent), `reference` (the
//!         slow, obvious executor in f64 that says what a launch list means), `builtin` (launch
//!         lists fused by hand for four shipped programs, recognised by their text) and `facts`
//!         (what they need)
//! never   knows CUDA, files, threads or the store
//!
//! ARCHITECTURE.md shows a compiled program's way.
//!
//! # A built-in program's way
//!
//! A program comes as text, and the graph as [`GraphFacts`]:
//!
//! ```
//! use std::collections::BTreeMap;
//! use warploom_vertex::{GraphFacts, builtin, launch::LossKind};
//!
//! let text = r#"def pagerank(v, damping=0.85, tolerance=1e-6):
//!     "PageRank (Brin & Page 1998); the rank of a vertex without out-edges is dropped, so ranks need not sum to 1."
//!     v.rank = 1 / v.graph.nodes
//!     while change(v.rank) > tolerance:
//!         v.rank = (1 - damping) / v.graph.nodes + damping * sum(u.rank / u.outdegree for u in v.innbs)
//!     return v.rank
//! "#;
//! let facts = GraphFacts {
//!     nodes: 4,
//!     edges: 6,
//!     feature_columns: 0,
//!     sparse_features: None,
//!     classes: 0,
//!     weighted: false,
//!     symmetric: false,
//!     training: false,
//!     loss: LossKind::CrossEntropy,
//!     bytes_per_real: 4,
//!     half: None,
//!     lanes: false,
//! };
//! let program = builtin::find(text, "pagerank").expect("the shipped text");
//! let settings = BTreeMap::from([("damping".to_owned(), serde_json::json!(0.75))]);
//! let list = program.build(&settings, &facts)?;
//! assert_eq!(list.validate(), Ok(()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The list says everything that an executor does. The division is done once a vertex, in
//! `contribution`; what stands around the sum is its epilogue; `bytes` is what a launch must move
//! at least:
//!
//! ```
//! # use std::collections::BTreeMap;
//! # use warploom_vertex::{GraphFacts, builtin, launch::LossKind};
//! # let loss = LossKind::CrossEntropy;
//! # let facts = GraphFacts { nodes: 4, edges: 6, feature_columns: 0, sparse_features: None, classes: 0, weighted: false, symmetric: false, training: false, loss, bytes_per_real: 4, half: None, lanes: false };
//! # let settings = BTreeMap::from([("damping".to_owned(), serde_json::json!(0.75))]);
//! # let list = builtin::programs().iter().find(|builtin| builtin.name == "pagerank").unwrap().build(&settings, &facts)?;
//! let listing = list.render();
//! let superstep = listing.split("superstep\n").nth(1).unwrap_or_default();
//! assert!(superstep.starts_with("  contribution  contribution[nodes x 1] = rank * share  | 48 bytes, blocks of 4096 rows
//!   sum           rank.next[nodes x 1] = 0.0625 + 0.75 * sum(contribution[u] for u -> v)  | 84 bytes, rows of the partition
//!   commit  rank <-> rank.next
//!   until   the summed change is <= 1e-6
//! "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`reference::Reference`] runs it, as every executor must:
//!
//! ```
//! # use std::collections::BTreeMap;
//! # use warploom_vertex::{GraphFacts, builtin, launch::LossKind};
//! # let loss = LossKind::CrossEntropy;
//! # let facts = GraphFacts { nodes: 4, edges: 6, feature_columns: 0, sparse_features: None, classes: 0, weighted: false, symmetric: false, training: false, loss, bytes_per_real: 4, half: None, lanes: false };
//! # let list = builtin::programs().iter().find(|builtin| builtin.name == "pagerank").unwrap().build(&BTreeMap::new(), &facts)?;
//! use warploom_vertex::reference::{Inputs, Reference, ReferenceGraph};
//!
//! let graph = ReferenceGraph { nodes: 4, source: vec![0, 1, 2, 3, 3, 2], target: vec![1, 2, 0, 0, 1, 1], weight: None };
//! let mut run = Reference::new(&list, &graph, Inputs::default())?;
//! run.prepare();
//! assert!(run.iterate(200).converged);
//! assert_eq!(run.get("rank").map(<[f64]>::len), Some(4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
pub mod builtin;
pub mod compile;
pub mod emit;
pub mod facts;
pub mod fuse;
pub mod launch;
pub mod lower;
pub mod reference;

pub use facts::GraphFacts;
