//! programs: what must hold of the shipped programs whatever the numbers: gradients are
//! derivatives, the order of sum and product, the storage of features, the direction of sums and
//! the numbering of nodes change nothing, and no graph is too small or too odd.
//!
//! promises  every comparison is between two routes; draws are fixed functions of their place, so
//!           each run is the same
//! never     compares with stored numbers (`golden` does)

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use warploom_ir::{Direction, Loss};
use warploom_launch::builtin::{self, LayerOrder};
use warploom_launch::reference::{Inputs, Reference, ReferenceGraph};
use warploom_launch::{
    Body, Dropout, GraphFacts, LaunchList, Needs, Operation, Stored, gradient_buffer,
    parameter_buffer,
};
use warploom_test_support::draws::{drawn, mixed};
use warploom_test_support::graphs::degenerate_graphs;

fn draw(dropout: Dropout, row: u64, column: u64) -> f64 {
    let uniform = drawn(u64::from(dropout.site) * 1_000_003 + row, column as usize) / 2.0 + 0.5;
    if uniform < dropout.probability { 0.0 } else { 1.0 / (1.0 - dropout.probability) }
}

/// A training problem with everything that decides its list.
#[derive(Clone, Debug)]
struct Problem {
    program: &'static str,
    graph: ReferenceGraph,
    columns: u64,
    sparse: bool,
    symmetric: bool,
    loss: Loss,
    classes: u64,
    hidden: u64,
    layers: u64,
    drop: f64,
    order: LayerOrder,
}

impl Problem {
    fn new(program: &'static str, graph: ReferenceGraph) -> Problem {
        Problem {
            program,
            graph,
            columns: 5,
            sparse: false,
            symmetric: false,
            loss: Loss::CrossEntropy,
            classes: 3,
            hidden: 4,
            layers: 2,
            drop: 0.4,
            order: LayerOrder::Cheapest,
        }
    }

    fn facts(&self) -> GraphFacts {
        let nonzeros = self.features().iter().filter(|value| **value != 0.0).count() as u64;
        GraphFacts {
            nodes: self.graph.nodes,
            edges: self.graph.source.len() as u64,
            feature_columns: self.columns,
            sparse_features: self.sparse.then_some(nonzeros),
            classes: self.classes,
            weighted: self.graph.weight.is_some(),
            symmetric: self.symmetric,
            training: true,
            loss: self.loss,
            bytes_per_real: 8,
            half: None,
            lanes: false,
        }
    }

    fn list(&self) -> LaunchList {
        let settings: BTreeMap<String, Value> = [
            ("hidden".to_owned(), json!(self.hidden)),
            ("layers".to_owned(), json!(self.layers)),
            ("drop".to_owned(), json!(self.drop)),
        ]
        .into();
        let builtin =
            builtin::programs().iter().find(|builtin| builtin.name == self.program).unwrap();
        builtin.build_in_order(&settings, &self.facts(), self.order).unwrap()
    }

    /// Features with about a third zeros.
    fn features(&self) -> Vec<f64> {
        let count = (self.graph.nodes * self.columns) as usize;
        (0..count)
            .map(|index| drawn(7, index))
            .map(|value| if value.abs() < 0.33 { 0.0 } else { value })
            .collect()
    }

    fn inputs(&self, list: &LaunchList) -> Inputs {
        let nodes = self.graph.nodes as usize;
        let target = match self.loss {
            Loss::CrossEntropy => {
                (0..nodes).map(|row| (mixed(row as u64) % self.classes) as f64).collect()
            }
            Loss::MeanSquares | Loss::Binary => {
                (0..nodes * self.classes as usize).map(|index| drawn(3, index)).collect()
            }
        };
        let draw_parameter = |(number, parameter): (usize, &warploom_launch::Parameter)| {
            let count = parameter.shape.iter().product::<u64>() as usize;
            (
                parameter.name.clone(),
                (0..count).map(|index| drawn(100 + number as u64, index)).collect(),
            )
        };
        Inputs {
            features: self.features(),
            target,
            training_rows: (0..nodes as u32).filter(|row| row % 3 != 2).collect(),
            parameters: list.parameters.iter().enumerate().map(draw_parameter).collect(),
            ..Inputs::default()
        }
    }

    /// Result, loss and gradients of one pass with dropout.
    fn run(&self) -> Vec<(String, Vec<f64>)> {
        let list = self.list();
        let mut reference = Reference::new(&list, &self.graph, self.inputs(&list)).unwrap();
        pass(&list, &mut reference)
    }
}

fn pass(list: &LaunchList, reference: &mut Reference) -> Vec<(String, Vec<f64>)> {
    reference.set_draw(Some(Box::new(draw)));
    reference.prepare();
    reference.forward();
    let loss = reference.loss();
    reference.backward();
    let result = reference.get(&list.results[0].buffer).unwrap().to_vec();
    let mut all = vec![("result".to_owned(), result), ("loss".to_owned(), vec![loss])];
    for parameter in &list.parameters {
        let name = gradient_buffer(&parameter.name);
        all.push((name.clone(), reference.get(&name).unwrap().to_vec()));
    }
    all
}

/// Compares two runs to within rounding.
fn assert_same(first: &[(String, Vec<f64>)], second: &[(String, Vec<f64>)], what: &str) {
    assert_eq!(first.len(), second.len(), "{what}");
    for ((name, first), (other, second)) in first.iter().zip(second) {
        assert_eq!((name, first.len()), (other, second.len()), "{what}");
        let scale = first.iter().fold(1e-3, |largest: f64, value| largest.max(value.abs()));
        for (index, (first, second)) in first.iter().zip(second).enumerate() {
            assert!(
                (first - second).abs() <= 1e-12 * scale,
                "{what}: {name}[{index}]: {first:e} and {second:e}"
            );
        }
    }
}

/// A graph with parallel edges, self loops and vertices without in-edges, out-edges and any.
fn odd_graph(weighted: bool) -> ReferenceGraph {
    let nodes = 13;
    let pick = |seed: u64, count: u64| (mixed(seed) % count) as u32;
    let mut source: Vec<u32> = (0..40).map(|edge| pick(edge, 11)).collect();
    let mut target: Vec<u32> = (0..40).map(|edge| 1 + pick(1000 + edge, 11)).collect();
    source.extend([3, 3, 4, 11]);
    target.extend([5, 5, 4, 11]);
    let weight = weighted.then(|| (0..source.len()).map(|edge| 1.1 + drawn(5, edge)).collect());
    ReferenceGraph { nodes, source, target, weight }
}

/// Each edge and its reverse.
fn both_ways(graph: &ReferenceGraph) -> ReferenceGraph {
    let source = [graph.source.clone(), graph.target.clone()].concat();
    let target = [graph.target.clone(), graph.source.clone()].concat();
    let weight = graph
        .weight
        .as_ref()
        .map(|weight| [weight.clone(), weight.iter().map(|w| w * 0.7).collect()].concat());
    ReferenceGraph { nodes: graph.nodes, source, target, weight }
}

/// The problems that together take every branch of the two builders.
fn problems() -> Vec<Problem> {
    let mut problems = Vec::new();
    for program in ["gcn", "sage"] {
        for order in [LayerOrder::Cheapest, LayerOrder::ProductFirst, LayerOrder::SumFirst] {
            for (sparse, weighted, loss, drop, layers, hidden) in [
                (false, false, Loss::CrossEntropy, 0.0, 2, 4),
                (false, true, Loss::CrossEntropy, 0.4, 2, 9),
                (true, false, Loss::MeanSquares, 0.4, 3, 4),
                (true, true, Loss::CrossEntropy, 0.0, 3, 1),
                (false, false, Loss::MeanSquares, 0.3, 1, 4),
            ] {
                let base = Problem::new(program, odd_graph(weighted));
                problems.push(Problem { sparse, loss, drop, layers, hidden, order, ..base });
            }
        }
    }
    problems
}

#[test]
fn gradients_are_derivatives() {
    let step = 1e-6;
    for problem in problems() {
        let list = problem.list();
        let inputs = problem.inputs(&list);
        let mut reference = Reference::new(&list, &problem.graph, inputs.clone()).unwrap();
        let gradients: BTreeMap<String, Vec<f64>> =
            pass(&list, &mut reference).into_iter().collect();
        let mut loss_at = |parameter: &str, index: usize, shift: f64| {
            let mut moved = inputs.parameters[parameter].clone();
            moved[index] += shift;
            let buffer = parameter_buffer(parameter);
            reference.set(&buffer, &moved).unwrap();
            reference.forward();
            let loss = reference.loss();
            reference.set(&buffer, &inputs.parameters[parameter]).unwrap();
            loss
        };
        let mut largest: f64 = 0.0;
        for parameter in &list.parameters {
            let gradient = &gradients[&gradient_buffer(&parameter.name)];
            for (index, analytic) in gradient.iter().enumerate() {
                let ahead = loss_at(&parameter.name, index, step);
                let behind = loss_at(&parameter.name, index, -step);
                let numeric = (ahead - behind) / (2.0 * step);
                largest = largest.max(analytic.abs());
                let bound = 1e-7 * analytic.abs().max(1.0);
                let name = &parameter.name;
                assert!(
                    (numeric - analytic).abs() <= bound,
                    "{problem:?}: {name}[{index}]: {numeric:e} and {analytic:e}"
                );
            }
        }
        assert!(largest > 1e-3, "{problem:?}: all gradients vanish");
    }
}

#[test]
fn the_order_changes_nothing() {
    for program in ["gcn", "sage"] {
        for hidden in [3, 5, 11] {
            for (weighted, sparse) in [(false, false), (true, false), (false, true)] {
                let base = Problem {
                    hidden,
                    sparse,
                    layers: 3,
                    ..Problem::new(program, odd_graph(weighted))
                };
                let product_first = Problem { order: LayerOrder::ProductFirst, ..base.clone() };
                let sum_first = Problem { order: LayerOrder::SumFirst, ..base.clone() };
                assert_ne!(product_first.list(), sum_first.list(), "both orders are one");
                let wanted = product_first.run();
                assert_same(
                    &wanted,
                    &sum_first.run(),
                    &format!("{program} hidden {hidden}: sum first"),
                );
                assert_same(&wanted, &base.run(), &format!("{program} hidden {hidden}: cheapest"));
            }
        }
    }
}

#[test]
fn sparse_features_change_nothing() {
    for program in ["gcn", "sage"] {
        for drop in [0.0, 0.4] {
            let dense = Problem { drop, ..Problem::new(program, odd_graph(false)) };
            let sparse = Problem { sparse: true, ..dense.clone() };
            let uses_sparse = |list: &LaunchList| {
                list.launches()
                    .iter()
                    .any(|launch| matches!(launch.operation, Operation::SparseProduct { .. }))
            };
            assert!(uses_sparse(&sparse.list()) && !uses_sparse(&dense.list()));
            assert_same(&dense.run(), &sparse.run(), &format!("{program} drop {drop}"));
        }
    }
}

#[test]
fn a_symmetric_graph_needs_in_edges_only() {
    for program in ["gcn", "sage"] {
        for order in [LayerOrder::ProductFirst, LayerOrder::SumFirst] {
            for weighted in [false, true] {
                let plain =
                    Problem { order, ..Problem::new(program, both_ways(&odd_graph(weighted))) };
                let symmetric = Problem { symmetric: true, ..plain.clone() };
                // The weights of an edge and its reverse differ here, so weighted gcn must still
                // walk out-edges.
                let outward = program == "gcn" && weighted;
                assert_eq!(
                    walks_out(&symmetric.list()),
                    outward,
                    "{program} {order:?} weighted {weighted}"
                );
                assert!(walks_out(&plain.list()));
                assert_same(
                    &plain.run(),
                    &symmetric.run(),
                    &format!("{program} {order:?} weighted {weighted}"),
                );
            }
        }
    }
}

fn walks_out(list: &LaunchList) -> bool {
    list.launches().iter().any(|launch| match launch.operation {
        Operation::NeighbourReduce { direction, .. } => direction != Direction::In,
        _ => false,
    })
}

#[test]
fn numbering_the_nodes_otherwise_changes_nothing() {
    let graph = odd_graph(true);
    // Node `old` becomes `new_of_old[old]`; 5 and 13 have no common divisor.
    let new_of_old: Vec<u32> = (0..13).map(|old| old * 5 % 13).collect();
    let old_of_new: Vec<u32> =
        (0..13).map(|new| (0..13).find(|old| new_of_old[*old as usize] == new).unwrap()).collect();
    let renamed = |ids: &[u32]| ids.iter().map(|id| new_of_old[*id as usize]).collect::<Vec<u32>>();
    let permuted = ReferenceGraph {
        source: renamed(&graph.source),
        target: renamed(&graph.target),
        ..graph.clone()
    };
    let rows = |values: &[f64], columns: usize| -> Vec<f64> {
        old_of_new
            .iter()
            .flat_map(|old| values[*old as usize * columns..][..columns].to_vec())
            .collect()
    };
    for program in ["gcn", "sage"] {
        let problem = Problem::new(program, graph.clone());
        let list = problem.list();
        let given = problem.inputs(&list);
        let inputs = Inputs {
            features: rows(&given.features, 5),
            target: rows(&given.target, 1),
            training_rows: renamed(&given.training_rows),
            artifact_rows: old_of_new.clone(),
            parameters: given.parameters,
            ..Inputs::default()
        };
        let mut wanted = problem.run();
        wanted[0].1 = rows(&wanted[0].1, 3);
        let mut reference = Reference::new(&list, &permuted, inputs).unwrap();
        assert_same(&wanted, &pass(&list, &mut reference), program);
    }
    let [plain, moved] =
        [(&graph, Vec::new()), (&permuted, old_of_new.clone())].map(|(graph, artifact_rows)| {
            let list = iterated("components", graph, false);
            let mut reference =
                Reference::new(&list, graph, Inputs { artifact_rows, ..Inputs::default() })
                    .unwrap();
            reference.prepare();
            assert!(reference.iterate(20).converged);
            reference.get("label").unwrap().to_vec()
        });
    assert_eq!(rows(&plain, 1), moved, "labels are ids of the artifact");
}

fn iterated(program: &str, graph: &ReferenceGraph, symmetric: bool) -> LaunchList {
    let facts =
        GraphFacts { training: false, symmetric, ..Problem::new("gcn", graph.clone()).facts() };
    let builtin = builtin::programs().iter().find(|builtin| builtin.name == program).unwrap();
    builtin.build(&BTreeMap::new(), &facts).unwrap()
}

#[test]
fn measuring_is_training_without_draws() {
    for program in ["gcn", "sage"] {
        let problem = Problem::new(program, odd_graph(false));
        let (training, predicting) = (problem.list(), {
            let facts = GraphFacts { training: false, ..problem.facts() };
            let builtin =
                builtin::programs().iter().find(|builtin| builtin.name == program).unwrap();
            builtin.build(&[("hidden".to_owned(), json!(4))].into(), &facts).unwrap()
        });
        let Body::Train(body) = &predicting.body else { panic!("{program} iterates") };
        assert!(body.backward.is_empty() && body.update.is_empty() && !body.draws);
        let [first, second] = [&training, &predicting].map(|list| {
            let mut reference = Reference::new(list, &problem.graph, problem.inputs(list)).unwrap();
            reference.prepare();
            reference.forward();
            vec![
                ("loss".to_owned(), vec![reference.loss()]),
                ("result".to_owned(), reference.get("h.2").unwrap().to_vec()),
            ]
        });
        assert_same(&first, &second, program);
    }
}

/// Small graphs on which careless code divides by zero, reads out of bounds or waits for ever.
fn degenerate() -> impl Iterator<Item = ReferenceGraph> {
    degenerate_graphs().into_iter().map(|graph| {
        let (source, target) = graph.edges.iter().copied().unzip();
        ReferenceGraph { nodes: graph.nodes as u64, source, target, weight: None }
    })
}

#[test]
fn degenerate_graphs_train_without_nan() {
    for graph in degenerate() {
        for weight in [None, Some(vec![0.0; graph.source.len()])] {
            for problem in problems() {
                let graph = ReferenceGraph { weight: weight.clone(), ..graph.clone() };
                let problem = Problem { graph, ..problem };
                for (name, values) in problem.run() {
                    assert!(values.iter().all(|value| value.is_finite()), "{problem:?}: {name}");
                }
            }
        }
    }
}

#[test]
fn degenerate_graphs_iterate_to_an_end() {
    for graph in degenerate() {
        let ranks = iterated("pagerank", &graph, false);
        let mut reference = Reference::new(&ranks, &graph, Inputs::default()).unwrap();
        reference.prepare();
        assert!(reference.iterate(200).converged, "{graph:?}");
        let least = 0.15 / graph.nodes.max(1) as f64;
        assert!(
            reference
                .get("rank")
                .unwrap()
                .iter()
                .all(|rank| *rank >= least - 1e-15 && *rank <= 1.0),
            "{graph:?}"
        );
        let labels = iterated("components", &graph, false);
        let mut reference = Reference::new(&labels, &graph, Inputs::default()).unwrap();
        reference.prepare();
        let ending = reference.iterate(graph.nodes + 1);
        assert!(ending.converged && ending.supersteps >= 1, "{graph:?}");
        for (node, label) in reference.get("label").unwrap().iter().enumerate() {
            assert!(*label <= node as f64, "{graph:?}: label of {node}");
        }
    }
}

#[test]
fn symmetric_graphs_iterate_to_the_same_end() {
    let graph = both_ways(&odd_graph(false));
    for (program, state) in [("pagerank", "rank"), ("components", "label")] {
        let [plain, symmetric] = [false, true].map(|symmetric| {
            let list = iterated(program, &graph, symmetric);
            assert_eq!(walks_out(&list), !symmetric, "{program}");
            let mut reference = Reference::new(&list, &graph, Inputs::default()).unwrap();
            reference.prepare();
            assert!(reference.iterate(200).converged);
            reference.get(state).unwrap().to_vec()
        });
        assert_eq!(plain, symmetric, "{program}");
    }
}

#[test]
fn a_bound_on_supersteps_is_reported() {
    let source: Vec<u32> = (1..10).collect();
    let path = ReferenceGraph { nodes: 10, target: (0..9).collect(), source, weight: None };
    let list = iterated("components", &path, false);
    let mut reference = Reference::new(&list, &path, Inputs::default()).unwrap();
    reference.prepare();
    let short = reference.iterate(9);
    assert!(!short.converged && short.supersteps == 9);
    let last = reference.iterate(9);
    assert!(
        last.converged && last.supersteps == 1,
        "the tenth superstep only sees that nothing changes"
    );
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let problem = Problem::new("gcn", odd_graph(false));
    let list = problem.list();
    let refused = |graph: &ReferenceGraph, change: &dyn Fn(&mut Inputs), word: &str| {
        let mut inputs = problem.inputs(&list);
        change(&mut inputs);
        let error = Reference::new(&list, graph, inputs).err().unwrap().to_string();
        assert!(error.contains(word), "{error} lacks {word}");
    };
    let graph = &problem.graph;
    refused(graph, &|inputs| inputs.features.truncate(3), "elements of `x`");
    refused(graph, &|inputs| inputs.target.clear(), "elements of `target`");
    refused(
        graph,
        &|inputs| inputs.parameters.clear(),
        "elements of `parameter.gcn.gcn.0.linear.0.weight`",
    );
    refused(
        graph,
        &|inputs| inputs.training_rows.push(13),
        "training row: expected a node below 13, found 13",
    );
    refused(
        graph,
        &|inputs| inputs.target[0] = 3.0,
        "class of training row 0: expected 0 to 2, found 3",
    );
    refused(graph, &|inputs| inputs.target[0] = f64::NAN, "class of training row 0");
    refused(graph, &|inputs| inputs.artifact_rows.push(0), "artifact rows");
    let stray = ReferenceGraph { source: vec![99; graph.source.len()], ..graph.clone() };
    refused(&stray, &|_| {}, "source of an edge");
    let short = ReferenceGraph { target: vec![0], ..graph.clone() };
    refused(&short, &|_| {}, "targets of edges");
    let light = ReferenceGraph { weight: Some(vec![1.0]), ..graph.clone() };
    refused(&light, &|_| {}, "weights of edges");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the facts and settings: no flaw, JSON that reads back equal, one reason a layer,
    /// the cheaper order chosen.
    #[test]
    fn lists_have_no_flaws(
        nodes in 0u64..1_000_000, edges in 0u64..10_000_000, columns in 1u64..2000, classes in 1u64..200,
        hidden in 1u64..300, layers in 1u64..6, drop in 0.0f64..0.99,
        flags in proptest::array::uniform6(any::<bool>()),
    ) {
        let [sage, sparse, weighted, symmetric, training, squares] = flags;
        let facts = GraphFacts {
            nodes, edges, feature_columns: columns, sparse_features: sparse.then_some(nodes * 3), classes,
            weighted, symmetric, training, bytes_per_real: 4, half: None, lanes: false,
            loss: if squares { Loss::MeanSquares } else { Loss::CrossEntropy },
        };
        let builtin = builtin::find(if sage { SAGE } else { GCN }, if sage { "sage" } else { "gcn" }).unwrap();
        let settings = [("hidden".to_owned(), json!(hidden)), ("layers".to_owned(), json!(layers)), ("drop".to_owned(), json!(drop))];
        let list = builtin.build(&settings.into(), &facts).unwrap();
        prop_assert_eq!(list.validate(), Ok(()));
        let json = serde_json::to_string(&list).unwrap();
        prop_assert_eq!(&serde_json::from_str::<LaunchList>(&json).unwrap(), &list);
        prop_assert_eq!(list.reasons.len() as u64, layers);
        for reason in &list.reasons {
            prop_assert_eq!(reason.alternatives[&reason.chosen], *reason.alternatives.values().min().unwrap());
        }
        for renumbered in [false, true] {
            let memory = list.memory(&facts, Stored { renumbered, ..Stored::default() }, Needs::from_list(&list));
            prop_assert_eq!(memory.bytes_peak, memory.uses.iter().map(|(_, bytes)| bytes).sum::<u64>());
            prop_assert!(memory.bytes_peak >= list.arena.bytes);
        }
        let apart = list.arena.without_reuse();
        prop_assert!(list.arena.live.iter().all(|live| *live <= list.arena.bytes) && list.arena.bytes <= apart.bytes);
        prop_assert_eq!(LaunchList { arena: apart, ..list.clone() }.validate(), Ok(()));
    }

    /// On any small graph both orders agree and nothing is NaN.
    #[test]
    fn orders_agree_on_any_graph(
        edges in proptest::collection::vec((0u32..8, 0u32..8), 0..30), sage in any::<bool>(), hidden in 1u64..7, drop in 0.0f64..0.9,
    ) {
        let (source, target) = edges.into_iter().unzip();
        let graph = ReferenceGraph { nodes: 8, source, target, weight: None };
        let base = Problem { hidden, drop, ..Problem::new(if sage { "sage" } else { "gcn" }, graph) };
        let product_first = Problem { order: LayerOrder::ProductFirst, ..base.clone() }.run();
        prop_assert!(product_first.iter().all(|(_, values)| values.iter().all(|value| value.is_finite())));
        assert_same(&product_first, &Problem { order: LayerOrder::SumFirst, ..base }.run(), "sum first");
    }
}

const GCN: &str = include_str!("../../../pipelines/programs/gcn.py");
const SAGE: &str = include_str!("../../../pipelines/programs/sage.py");
