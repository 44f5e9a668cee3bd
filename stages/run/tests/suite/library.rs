//! library: every program of the library that learns, compiled, against the reference, buffer by
//! buffer, on the device that is asked for.
//!
//! promises  on every degenerate graph, in both types, with weights, sparse features and another
//!           order of the nodes by turns: every buffer after every part of three epochs, of passes
//!           that draw and passes that do not; the same list without gradients, applied once; and
//!           four of them on rows of each width that the source documents name
//! never     iterates (`differential` and `custom_programs` do)
use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value, json};
use warploom_compiler::compile;
use warploom_ir::{Data, Loss};
use warploom_launch::LaunchList;
use warploom_run::{
    parameters,
    precision::Precision,
    resolved_program::{Part, Pass},
};
use warploom_spec::RunSpec;

use crate::differential::{CHOICES, CLASSES, Choice, SEED, compare, direct_of, rounding, train};
use warploom_test_support::graph_inputs::{all_graphs, medley, signed};
use warploom_test_support::graphs::EdgeList;
use warploom_test_support::list_runner::{
    ListInputs, executor, gpu, is_brief, run_part, separate_buffers,
};
use warploom_test_support::stage_runner::program_text;

/// Programs and what they are told; those with `graphs` give scores of graphs.
const MODELS: [(&str, &str); 16] = [
    ("gcn", r#"{"hidden": 5, "layers": 3, "drop": 0.4}"#),
    ("sage", r#"{"hidden": 5, "drop": 0.4}"#),
    ("sage_max", r#"{"hidden": 5, "drop": 0.4}"#),
    ("sage_max", r#"{"hidden": 5, "pool": 7, "drop": 0.4}"#),
    ("gin", r#"{"hidden": 6, "layers": 3, "drop": 0.4}"#),
    ("gin", r#"{"hidden": 5, "layers": 2, "norm": true, "drop": 0.4}"#),
    ("gin", r#"{"hidden": 5, "layers": 2, "graphs": true, "drop": 0.4}"#),
    ("gat", r#"{"hidden": 3, "heads": 2, "drop": 0.4, "drop_shares": 0.3}"#),
    ("gat", r#"{"hidden": 4, "heads": 3, "out_heads": 2, "drop": 0.4}"#),
    ("gatv2", r#"{"hidden": 3, "heads": 2, "drop": 0.4, "drop_shares": 0.3}"#),
    ("appnp", r#"{"hidden": 5, "steps": 3, "drop": 0.4, "drop_edges": 0.3}"#),
    ("rgcn", r#"{"hidden": 5, "drop": 0.4}"#),
    ("rgcn", r#"{"hidden": 5, "bases": 2, "drop": 0.4}"#),
    (
        "graph_transformer",
        r#"{"hidden": 3, "heads": 2, "edges": true, "drop": 0.4, "drop_shares": 0.3}"#,
    ),
    ("sgc", r#"{"hops": 2}"#),
    ("gcnii", r#"{"hidden": 5, "layers": 2, "drop": 0.4}"#),
];

/// What is of a graph beside what is of its vertices.
const CENTRED: &str = r#"
def centred(v, width=5):
    v.h = linear(v.x, width)
    v.h = relu(v.h - pool_mean(v.h)) / v.graph.size
    v.scaled = v.h * pool_max(v.x[..., 0])
    return linear(sum(u.scaled for u in v.innbs), v.classes)
"#;

const RELATIONS: usize = 2;
const GRAPHS: usize = 3;
const EDGE_COLUMNS: usize = 3;
/// Of the source documents.
const WIDTHS: [usize; 13] = [1, 2, 3, 7, 16, 31, 32, 33, 64, 100, 128, 256, 602];
/// Wider rows take the reference seconds an epoch.
const WIDEST_ON_CPU: usize = 128;

/// A program on a graph: what it reads, and what the compiler knows of that.
struct Problem {
    what: String,
    name: &'static str,
    settings: BTreeMap<String, Value>,
    direct: ListInputs,
    known: Data,
}

impl Problem {
    fn new(
        (name, settings): (&'static str, &str),
        shape: &EdgeList,
        (choice, columns): (Choice, usize),
    ) -> Self {
        let what = format!(
            "{name} {settings} on `{}`, weighted, sparse, reordered {choice:?}",
            shape.name
        );
        let settings: BTreeMap<String, Value> = serde_json::from_str::<Value>(settings)
            .unwrap()
            .as_object()
            .unwrap()
            .clone()
            .into_iter()
            .collect();
        let mut direct = direct_of(shape, (choice, columns), Loss::CrossEntropy);
        let edges = direct.source.len();
        if name == "rgcn" {
            direct.relation = (0..edges).map(|edge| (edge % RELATIONS) as u32).collect();
        }
        if settings.contains_key("edges") {
            (direct.edge_columns, direct.edge_features) =
                (EDGE_COLUMNS, signed(5, edges * EDGE_COLUMNS));
        }
        if settings.contains_key("graphs") {
            direct.graphs = GRAPHS;
            direct.graph_of_node = (0..shape.nodes).map(|node| (node % GRAPHS) as u32).collect();
            (direct.labels, direct.training_rows) = (vec![0.0, 2.0, 1.0], vec![0, 2]);
        }
        let mut known = direct.known(CLASSES, Loss::CrossEntropy);
        if name == "rgcn" {
            known.relations = (0..RELATIONS).map(|relation| relation.to_string()).collect();
        }
        Problem { what, name, settings, direct, known }
    }

    fn list(&self, known: &Data) -> LaunchList {
        let text =
            if self.name == "centred" { CENTRED.to_owned() } else { program_text(self.name) };
        let made = compile(&text, self.name, &self.settings, known);
        made.unwrap_or_else(|wrong| panic!("{}: {wrong:?}", self.what)).list
    }

    /// As a plan for this type has it.
    fn learned<T: Precision>(&self) {
        let list = self.list(&Data { bytes_per_real: size_of::<T>() as u64, ..self.known.clone() });
        train::<T>(&self.what, &self.direct, &list);
    }

    /// Parameters that nobody learned, applied.
    fn applied<T: Precision>(&self) {
        let list = self.list(&Data {
            training: false,
            inferring: true,
            bytes_per_real: size_of::<T>() as u64,
            ..self.known.clone()
        });
        let initial: Vec<Vec<f64>> = parameters::initial_parameters(
            &list,
            &RunSpec { seed: SEED, ..RunSpec::default() },
            None,
        )
        .unwrap();
        let named = list
            .parameters
            .iter()
            .map(|parameter| parameter.name.clone())
            .zip(initial.iter().cloned())
            .collect();
        let graph = self.direct.reference_graph();
        let mut reference = self.direct.reference(&list, &graph, &named);
        reference.prepare();
        let list = separate_buffers(&list);
        let mut executor = executor::<T>(&list, self.direct.data(&list), SEED);
        executor
            .set_parameters(
                &initial
                    .iter()
                    .map(|values| values.iter().map(|&value| T::rounded(value)).collect())
                    .collect::<Vec<Vec<T>>>(),
            )
            .unwrap();
        run_part(&mut executor, &list, Part::Finish, Pass { epoch: 0, training: false });
        compare(
            &format!("{}, applied", self.what),
            rounding::<T>(),
            (&list, &executor, &reference),
        );
    }
}

/// Every program on each of these graphs; what is read takes turns.
fn problems(shapes: &[EdgeList]) -> Vec<Problem> {
    let choice = |model: usize, shape: usize| CHOICES[(model + shape) % CHOICES.len()];
    let of = |(number, shape): (usize, &EdgeList)| {
        MODELS
            .into_iter()
            .enumerate()
            .map(|(model, given)| Problem::new(given, shape, (choice(model, number), 6)))
            .collect::<Vec<_>>()
    };
    // In a clique all sums are equal: what is normalised is rounding, and its signs decide what
    // relu lets through.
    let is_rounding = |problem: &Problem| {
        problem.settings.contains_key("norm") && problem.what.contains("`clique`")
    };
    shapes.iter().enumerate().flat_map(of).filter(|problem| !is_rounding(problem)).collect()
}

#[test]
fn programs_agree_on_degenerate_graphs() {
    problems(&all_graphs()).par_iter().for_each(|problem| {
        problem.learned::<f64>();
        problem.learned::<f32>();
    });
}

#[test]
fn programs_agree_on_all_of_them_side_by_side() {
    problems(&[medley()]).par_iter().for_each(|problem| {
        problem.learned::<f32>();
        if !is_brief() {
            problem.learned::<f64>();
        }
    });
}

#[test]
fn programs_that_are_applied_agree() {
    problems(&[medley()]).par_iter().for_each(|problem| {
        problem.applied::<f32>();
        if !is_brief() {
            problem.applied::<f64>();
        }
    });
}

#[test]
fn values_of_the_only_graph_are_given_to_its_vertices() {
    let problem = Problem::new(("centred", r#"{"width": 5}"#), &medley(), (CHOICES[1], 6));
    problem.learned::<f32>();
    problem.learned::<f64>();
    problem.applied::<f32>();
}

/// Features and hidden rows so wide; heads where they divide it.
fn of_width(name: &'static str, width: usize) -> Problem {
    let heads = [8, 2]
        .into_iter()
        .find(|heads| width.is_multiple_of(*heads) && width / heads > 1)
        .unwrap_or(1);
    let settings = match name {
        "gat" => json!({"hidden": width / heads, "heads": heads}),
        "gin" => json!({"hidden": width, "layers": 2}),
        _ => json!({"hidden": width, "drop": 0.0}),
    };
    Problem::new((name, &settings.to_string()), &medley(), (CHOICES[1], width))
}

#[test]
fn every_width_agrees() {
    let wanted = |width: &usize| {
        if is_brief() {
            [3, 33].contains(width)
        } else {
            gpu().is_some() || *width <= WIDEST_ON_CPU
        }
    };
    let widths = WIDTHS.into_iter().filter(wanted);
    let problems: Vec<Problem> = widths
        .flat_map(|width| ["gcn", "sage", "gin", "gat"].map(|name| of_width(name, width)))
        .collect();
    problems.par_iter().for_each(|problem| {
        problem.learned::<f32>();
        problem.learned::<f64>();
    });
}
