//! dense_comparison: programs without a golden case, or with more than it says, against
//! `dense_implementations`.
//!
//! promises  forward to 1e-12 of the largest value, gradients to central differences of the
//!           independent loss; graphs are drawn from a number, so that each run is the same
use serde_json::{Value, json};
use warploom_ir::Data;
use warploom_ir::interpret::{ElementRows, Interpreter, World};
use warploom_test_support::golden_cases::Edges;
use warploom_test_support::graphs::random_graph;

use super::dense_implementations::{self, Matrix, Parameters};
use warploom_test_support::draws::drawn;
use warploom_test_support::library_programs::{
    By, MODELS, ROUTES, Route, bare, compile, compile_by, problem, start,
};

/// Random graphs with self loops, parallel edges and vertices without edges.
fn graphs() -> Vec<Edges> {
    let shapes = [(1, 1), (2, 1), (7, 9), (20, 70), (33, 40)];
    shapes
        .into_iter()
        .enumerate()
        .map(|(seed, (nodes, count))| Edges::from(&random_graph(seed as u64, nodes, count)))
        .collect()
}

fn weighted(mut edges: Edges) -> Edges {
    edges.weight = Some((0..edges.source.len()).map(|edge| 1.1 + drawn(5, edge)).collect());
    edges
}

#[track_caller]
fn close(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    let scale = want
        .iter()
        .filter(|value| value.is_finite())
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        assert!(
            got == want || (got - want).abs() <= tolerance * scale,
            "{what}[{index}]: got {got:e}, want {want:e}"
        );
    }
}

/// A model and the same by other means.
type Forward = dyn Fn(&Edges, &Matrix, &Parameters) -> Matrix;

/// Forward, loss, and gradients along each of some coordinates of every parameter and of the
/// features.
fn model(name: &str, settings: &Value, edges: &Edges, forward: &Forward) {
    let (data, world) = problem(edges, 5, 3);
    let features = Matrix::new(edges.nodes, 5, world.features.as_ref().unwrap().values.reals());
    for route in ROUTES {
        let compiled = compile(name, settings, &data, route);
        let mut run = Interpreter::new(&compiled.gir, &data, &world).unwrap();
        run.training = true;
        let mut parameters = Parameters::new();
        for ((parameter, values), declared) in
            start(&compiled.gir).into_iter().zip(&compiled.gir.parameters)
        {
            run.set_parameter(&parameter, &values).unwrap();
            let columns = declared.shape.last().copied().unwrap_or(1) as usize;
            parameters.insert(parameter, Matrix::new(values.len() / columns, columns, values));
        }
        run.run(1);
        let want = forward(edges, &features, &parameters);
        close(
            &format!("{name}: scores"),
            &run.value(compiled.gir.results[0].node).unwrap().values.reals(),
            &want.values,
            1e-12,
        );
        let loss = loss_of(&want, &world);
        close(&format!("{name}: loss"), &[run.loss().unwrap()], &[loss], 1e-12);
        for (parameter, values) in &parameters {
            let slopes = compiled.gradient(&run, parameter).unwrap();
            let moved = |index: usize, by: f64| {
                let mut parameters = parameters.clone();
                parameters.get_mut(parameter).unwrap().values[index] += by;
                loss_of(&forward(edges, &features, &parameters), &world)
            };
            slopes_agree(
                &format!("{name}: gradient by {parameter}"),
                &slopes,
                values.values.len(),
                &moved,
            );
        }
        let moved = |index: usize, by: f64| {
            let mut features = features.clone();
            features.values[index] += by;
            loss_of(&forward(edges, &features, &parameters), &world)
        };
        slopes_agree(
            &format!("{name}: gradient by x"),
            &compiled.gradient(&run, "x").unwrap(),
            features.values.len(),
            &moved,
        );
    }
}

fn loss_of(scores: &Matrix, world: &World) -> f64 {
    dense_implementations::cross_entropy(
        scores,
        &world.targets.as_ref().unwrap().values.reals(),
        &world.training_rows,
    )
}

/// Central differences at up to a dozen places spread over all of them.
#[track_caller]
fn slopes_agree(what: &str, slopes: &[f64], count: usize, moved: &dyn Fn(usize, f64) -> f64) {
    assert_eq!(slopes.len(), count, "{what}");
    let step = 1e-6;
    for index in (0..count).step_by((count / 12).max(1)) {
        let want = (moved(index, step) - moved(index, -step)) / (2.0 * step);
        assert!(
            (slopes[index] - want).abs() <= 1e-7 * (1.0 + want.abs()),
            "{what}[{index}]: got {}, central difference {want}",
            slopes[index]
        );
    }
}

#[test]
fn sgc_is_the_dense_formula() {
    for edges in graphs() {
        for hops in [0, 1, 2, 5] {
            let forward = move |edges: &Edges, x: &Matrix, parameters: &Parameters| {
                dense_implementations::sgc(edges, x, parameters, hops)
            };
            model(
                "sgc",
                &json!({"hops": hops}),
                &weighted(edges.clone()).with_self_loops(),
                &forward,
            );
        }
    }
}

#[test]
fn gcnii_is_the_dense_formula() {
    for edges in graphs() {
        for layers in [0, 1, 4] {
            let forward = move |edges: &Edges, x: &Matrix, parameters: &Parameters| {
                dense_implementations::gcnii(edges, x, parameters, (layers, 0.2, 0.7))
            };
            let settings = json!({"hidden": 4, "layers": layers, "alpha": 0.2, "strength": 0.7});
            model("gcnii", &settings, &weighted(edges.clone()).with_self_loops(), &forward);
        }
    }
}

#[test]
fn sage_max_is_the_dense_formula_with_and_without_a_pool() {
    for edges in graphs() {
        for pool in [0, 6] {
            let forward = move |edges: &Edges, x: &Matrix, parameters: &Parameters| {
                dense_implementations::sage_max(edges, x, parameters, (2, pool > 0))
            };
            model("sage_max", &json!({"hidden": 4, "pool": pool}), &edges, &forward);
        }
    }
}

/// Scores, loss and gradients by the parameters.
fn trained(
    name: &str,
    settings: &Value,
    data: &Data,
    world: &World,
    route: Route,
) -> Vec<Vec<f64>> {
    let compiled = compile_by(name, settings, data, route, By::Parameters);
    let mut run = Interpreter::new(&compiled.gir, data, world).unwrap();
    run.training = true;
    start(&compiled.gir)
        .iter()
        .for_each(|(parameter, values)| run.set_parameter(parameter, values).unwrap());
    run.run(1);
    let scores = run.value(compiled.gir.results[0].node).unwrap().values.reals();
    let slopes = compiled
        .gir
        .gradients
        .iter()
        .map(|gradient| run.value(gradient.node).unwrap().values.reals());
    [scores, vec![run.loss().unwrap()]].into_iter().chain(slopes).collect()
}

#[test]
fn without_features_models_read_the_identity() {
    for edges in graphs().into_iter().map(Edges::with_self_loops) {
        for name in MODELS {
            // The largest of one-hot rows is no `linear` of them; with a pool it is.
            let settings = match name {
                "sage_max" => vec![json!({"pool": 4})],
                "rgcn" => vec![json!({}), json!({"bases": 2})],
                _ => vec![json!({})],
            };
            for settings in settings {
                let (mut data, mut world) = problem(&edges, edges.nodes as u64, 3);
                data.relations = vec!["cites".into(), "knows".into()];
                world.edge_type = (0..edges.source.len() as u32).map(|edge| edge % 2).collect();
                let identity = (0..edges.nodes * edges.nodes)
                    .map(|index| if index % (edges.nodes + 1) == 0 { 1.0 } else { 0.0 });
                world.features =
                    Some(ElementRows::from_reals(edges.nodes, edges.nodes, identity.collect()));
                let want = trained(name, &settings, &data, &world, Route::Plain);
                (data.features, world.features) = (None, None);
                for route in ROUTES {
                    let got = trained(name, &settings, &data, &world, route);
                    // As one: some gradients are 0 by the mathematics, and noise.
                    close(&format!("{name} without features"), &got.concat(), &want.concat(), 1e-9);
                }
            }
        }
    }
}

/// The results of a program that learns nothing, by both routes.
fn analytics(name: &str, settings: &Value, edges: &Edges, test: impl Fn(&[Vec<f64>])) {
    let (data, world) = bare(edges);
    for route in ROUTES {
        let compiled = compile(name, settings, &data, route);
        let (results, converged) = compiled.iterate(&world, 10_000);
        assert!(converged, "{name}: {settings}");
        test(
            &compiled
                .gir
                .results
                .iter()
                .map(|result| results[&result.name].values.reals())
                .collect::<Vec<_>>(),
        );
    }
}

fn whole(values: &[i64]) -> Vec<f64> {
    values.iter().map(|value| *value as f64).collect()
}

#[test]
fn personalized_pagerank_is_the_dense_fixed_point() {
    for edges in graphs() {
        let last = edges.nodes - 1;
        let several = if last > 0 { vec![0, last] } else { vec![0] };
        for sources in [vec![0], vec![last], vec![edges.nodes / 2], several] {
            let want = dense_implementations::personalized_pagerank(&edges, &sources, 0.85, 400);
            analytics(
                "personalized_pagerank",
                &json!({"source": sources, "tolerance": 1e-14}),
                &edges,
                |got| {
                    close("ranks", &got[0], &want, 1e-12);
                    close("sum of ranks", &[got[0].iter().sum()], &[1.0], 1e-12);
                },
            );
        }
    }
}

#[test]
fn hits_is_the_dense_fixed_point() {
    for edges in graphs() {
        let want = dense_implementations::hits(&edges, 20_000);
        analytics("hits", &json!({"tolerance": 1e-15}), &edges, |got| {
            close("hubs", &got[0], &want.0, 1e-9);
            close("authorities", &got[1], &want.1, 1e-9);
        });
    }
}

#[test]
fn label_propagation_votes_as_counted_by_hand() {
    for edges in graphs()
        .into_iter()
        .flat_map(|edges| [edges.clone().without_self_loops().symmetric(), edges])
    {
        for steps in [0, 1, 2, 10] {
            let want = whole(&dense_implementations::label_propagation(&edges, steps));
            analytics("label_propagation", &json!({"steps": steps}), &edges, |got| {
                assert_eq!(got[0], want, "{steps} steps")
            });
        }
    }
}

#[test]
fn bfs_finds_levels_and_the_smallest_parent() {
    for edges in graphs() {
        for source in 0..edges.nodes {
            let (levels, parents) = dense_implementations::bfs(&edges, source);
            let parents: Vec<i64> =
                parents.into_iter().map(|parent| parent.unwrap_or(i64::from(u32::MAX))).collect();
            analytics("bfs", &json!({"source": source}), &edges, |got| {
                assert_eq!(got, [whole(&levels), whole(&parents)], "from {source}")
            });
        }
    }
}

#[test]
fn sssp_finds_the_shortest_paths() {
    for edges in graphs().into_iter().flat_map(|edges| [weighted(edges.clone()), edges]) {
        for source in 0..edges.nodes {
            let want = dense_implementations::sssp(&edges, source);
            analytics("sssp", &json!({"source": source}), &edges, |got| {
                close("distances", &got[0], &want, 1e-14)
            });
        }
    }
}

#[test]
fn components_cores_and_triangles_agree_on_random_graphs() {
    for edges in graphs() {
        let want = whole(&dense_implementations::components(&edges));
        analytics("components", &json!({}), &edges, |got| assert_eq!(got[0], want));
        let simple = edges.without_self_loops().symmetric();
        let want = whole(&dense_implementations::cores(&simple));
        analytics("kcore", &json!({}), &simple, |got| assert_eq!(got[0], want));
        let want = whole(&dense_implementations::triangles(&simple));
        analytics("triangles", &json!({}), &simple, |got| assert_eq!(got[0], want));
    }
}
