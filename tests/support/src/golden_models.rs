//! golden_models: which of our parameters is which golden one, model by model. This is what
//! `run.init_map` does for a user.
//!
//! promises  every golden parameter is named, in whole or in parts, and every one of ours exactly
//!           once
use serde_json::{Value, json};

use crate::golden_cases::{Edges, GoldenCase, Tensor};

/// Where the numbers of one of our parameters lie in a golden tensor.
#[derive(Clone, Copy, Debug)]
pub enum ParameterPart {
    /// The same numbers in the same order, whatever the shape.
    Whole,
    /// `[heads * width]` there, `[heads, width]` here: so many heads.
    Heads(usize),
    /// `[in, out]` there.
    Transposed,
    /// `[count, in, out]` there: this one of them, transposed.
    OneTransposed(usize),
    /// `[count, ..]` there: this one of them.
    One(usize),
    /// `[count, in, out]` there; `[count * out, in]` here.
    EachTransposed,
}

/// A parameter under both names.
pub struct ParameterPair {
    /// Name in a program of the library.
    pub ours: String,
    /// Name in the case, without `param.`.
    pub theirs: String,
    /// Where the numbers lie.
    pub part: ParameterPart,
}

impl ParameterPart {
    /// The shape of ours, axes of length 1 apart.
    pub fn shape(self, tensor: &Tensor) -> Vec<usize> {
        let shape = &tensor.shape;
        match self {
            ParameterPart::Whole => shape.clone(),
            ParameterPart::Heads(heads) => vec![heads, shape[0] / heads],
            ParameterPart::Transposed => vec![shape[1], shape[0]],
            ParameterPart::One(_) => shape[1..].to_vec(),
            ParameterPart::OneTransposed(_) => vec![shape[2], shape[1]],
            ParameterPart::EachTransposed => vec![shape[0] * shape[2], shape[1]],
        }
    }

    /// The numbers of a golden tensor in our order.
    pub fn of(self, tensor: &Tensor) -> Vec<f64> {
        let Tensor { shape, values } = tensor;
        let transposed = |values: &[f64], rows: usize, columns: usize| -> Vec<f64> {
            (0..columns)
                .flat_map(|column| (0..rows).map(move |row| (row, column)))
                .map(|(row, column)| values[row * columns + column])
                .collect()
        };
        match self {
            ParameterPart::Whole | ParameterPart::Heads(_) => values.clone(),
            ParameterPart::Transposed => transposed(values, shape[0], shape[1]),
            ParameterPart::One(number) => {
                values[number * shape[1]..(number + 1) * shape[1]].to_vec()
            }
            ParameterPart::OneTransposed(number) => {
                let size = shape[1] * shape[2];
                transposed(&values[number * size..(number + 1) * size], shape[1], shape[2])
            }
            ParameterPart::EachTransposed => values
                .chunks(shape[1] * shape[2])
                .flat_map(|one| transposed(one, shape[1], shape[2]))
                .collect(),
        }
    }
}

/// The names of the relations of a case: their numbers, as a graph artifact gives them.
pub fn relations(case: &GoldenCase) -> Vec<String> {
    let count = case.text["hyperparameters"]["relations"].as_u64().unwrap_or(0);
    (0..count).map(|relation| relation.to_string()).collect()
}

/// The program's file and the settings that give the case's model.
pub fn program(case: &GoldenCase) -> (&'static str, Value) {
    let hyper = &case.text["hyperparameters"];
    let (hidden, drop) = (&hyper["hidden"], &hyper["dropout"]);
    match case.text["model"].as_str().unwrap() {
        "gcn" => ("gcn", json!({"hidden": hidden, "layers": hyper["layers"], "drop": drop})),
        "sage" => ("sage", json!({"hidden": hidden, "layers": hyper["layers"], "drop": drop})),
        "gin" => (
            "gin",
            json!({"hidden": hidden, "layers": hyper["layers"], "drop": drop, "graphs": is_batch(case)}),
        ),
        "gat" => (
            "gat",
            json!({"heads": hyper["heads"][0], "out_heads": hyper["heads"][1], "hidden": hidden, "slope": hyper["slope"], "drop": drop}),
        ),
        "gatv2" => (
            "gatv2",
            json!({"heads": hyper["heads"][0], "out_heads": hyper["heads"][1], "hidden": hidden, "slope": hyper["slope"], "drop": drop}),
        ),
        "appnp" => (
            "appnp",
            json!({"hidden": hidden, "steps": hyper["steps"], "alpha": hyper["alpha"], "drop": drop}),
        ),
        "rgcn" => (
            "rgcn",
            json!({"hidden": hidden, "bases": case.text["options"]["bases"].as_u64().unwrap_or(0), "drop": drop}),
        ),
        "transformer" => (
            "graph_transformer",
            json!({"heads": hyper["heads"][0], "hidden": hidden, "edges": case.text["options"]["edge_features"], "drop": drop}),
        ),
        other => panic!("{}: unknown model {other}", case.name),
    }
}

/// Whether the case is of many graphs.
pub fn is_batch(case: &GoldenCase) -> bool {
    case.find("graph.graph_of_node").is_some()
}

/// The edges as the formulas of the model want them.
pub fn edges(case: &GoldenCase) -> Edges {
    let edges = case.edges(case.text["options"]["weighted"].as_bool().unwrap());
    match case.text["model"].as_str().unwrap() {
        "gcn" | "appnp" => edges.with_self_loops(),
        "gat" | "gatv2" => edges.without_self_loops().with_self_loops(),
        _ => edges,
    }
}

/// Our parameters with the golden ones they are.
pub fn twins(case: &GoldenCase) -> Vec<ParameterPair> {
    use ParameterPart::Whole;
    let mut twins = Vec::new();
    let mut put = |ours: String, theirs: String, part: ParameterPart| {
        twins.push(ParameterPair { ours, theirs, part })
    };
    let model = case.text["model"].as_str().unwrap();
    let layers = case.text["hyperparameters"]["layers"].as_u64().unwrap_or(2) as usize;
    if model == "appnp" {
        for (ours, theirs) in [(0, 1), (1, 2)] {
            put(
                format!("appnp.appnp.0.linear.{ours}.weight"),
                format!("lin{theirs}.weight"),
                Whole,
            );
            put(format!("appnp.appnp.0.linear.{ours}.bias"), format!("lin{theirs}.bias"), Whole);
        }
        return twins;
    }
    for layer in 0..layers {
        let theirs = format!("conv{}", layer + 1);
        match model {
            "gcn" => {
                put(
                    format!("gcn.gcn.0.linear.{layer}.weight"),
                    format!("{theirs}.lin.weight"),
                    Whole,
                );
                put(format!("gcn.gcn.0.bias.{layer}"), format!("{theirs}.bias"), Whole);
            }
            "sage" => {
                let (left, right) = (
                    format!("sage.sage.0.linear.{}", 2 * layer),
                    format!("sage.sage.0.linear.{}", 2 * layer + 1),
                );
                put(format!("{left}.weight"), format!("{theirs}.lin_l.weight"), Whole);
                put(format!("{left}.bias"), format!("{theirs}.lin_l.bias"), Whole);
                put(format!("{right}.weight"), format!("{theirs}.lin_r.weight"), Whole);
            }
            "gin" => {
                put(format!("gin.gin.0.param.{layer}"), format!("{theirs}.eps"), Whole);
                for (linear, golden) in [(0, "nn.0"), (1, "nn.2")] {
                    put(
                        format!("gin.gin.0.mlp.{layer}.{linear}.weight"),
                        format!("{theirs}.{golden}.weight"),
                        Whole,
                    );
                    put(
                        format!("gin.gin.0.mlp.{layer}.{linear}.bias"),
                        format!("{theirs}.{golden}.bias"),
                        Whole,
                    );
                }
            }
            "gat" => {
                let ours = format!("gat.attend.{layer}");
                put(format!("{ours}.linear.0.weight"), format!("{theirs}.lin.weight"), Whole);
                put(format!("{ours}.param.0"), format!("{theirs}.att_src"), Whole);
                put(format!("{ours}.param.1"), format!("{theirs}.att_dst"), Whole);
                put(format!("{ours}.bias.0"), format!("{theirs}.bias"), heads(case, layer));
            }
            "gatv2" => {
                let ours = format!("gatv2.attend.{layer}");
                for (linear, golden) in [(0, "lin_l"), (1, "lin_r")] {
                    put(
                        format!("{ours}.linear.{linear}.weight"),
                        format!("{theirs}.{golden}.weight"),
                        Whole,
                    );
                    put(
                        format!("{ours}.linear.{linear}.bias"),
                        format!("{theirs}.{golden}.bias"),
                        Whole,
                    );
                }
                put(format!("{ours}.param.0"), format!("{theirs}.att"), Whole);
                put(format!("{ours}.bias.0"), format!("{theirs}.bias"), heads(case, layer));
            }
            "rgcn" => relational(case, layer, &mut put),
            "transformer" => transformer(case, layer, &mut put),
            other => panic!("{}: unknown model {other}", case.name),
        }
    }
    if model == "gin" && is_batch(case) {
        put("gin.gin.0.linear.0.weight".into(), "readout.weight".into(), Whole);
        put("gin.gin.0.linear.0.bias".into(), "readout.bias".into(), Whole);
    }
    twins
}

fn heads(case: &GoldenCase, layer: usize) -> ParameterPart {
    ParameterPart::Heads(case.text["hyperparameters"]["heads"][layer].as_u64().unwrap() as usize)
}

fn relational(case: &GoldenCase, layer: usize, put: &mut dyn FnMut(String, String, ParameterPart)) {
    let (ours, theirs) = (format!("rgcn.relational.{layer}"), format!("conv{}", layer + 1));
    let bases = case.text["options"]["bases"].is_u64();
    for (number, relation) in relations(case).iter().enumerate() {
        match bases {
            true => put(
                format!("{ours}.param.0.{relation}"),
                format!("{theirs}.comp"),
                ParameterPart::One(number),
            ),
            false => put(
                format!("{ours}.linear.0.{relation}.weight"),
                format!("{theirs}.weight"),
                ParameterPart::OneTransposed(number),
            ),
        }
    }
    if bases {
        put(
            format!("{ours}.linear.0.weight"),
            format!("{theirs}.weight"),
            ParameterPart::EachTransposed,
        );
    }
    put(format!("{ours}.linear.1.weight"), format!("{theirs}.root"), ParameterPart::Transposed);
    put(format!("{ours}.linear.1.bias"), format!("{theirs}.bias"), ParameterPart::Whole);
}

fn transformer(
    case: &GoldenCase,
    layer: usize,
    put: &mut dyn FnMut(String, String, ParameterPart),
) {
    let (ours, theirs) =
        (format!("graph_transformer.attend.{layer}"), format!("conv{}", layer + 1));
    let mut linears = vec!["lin_query", "lin_key", "lin_value"];
    if case.text["options"]["edge_features"] == true {
        linears.push("lin_edge");
    }
    linears.push("lin_skip");
    for (number, golden) in linears.into_iter().enumerate() {
        put(
            format!("{ours}.linear.{number}.weight"),
            format!("{theirs}.{golden}.weight"),
            ParameterPart::Whole,
        );
        if golden != "lin_edge" {
            put(
                format!("{ours}.linear.{number}.bias"),
                format!("{theirs}.{golden}.bias"),
                ParameterPart::Whole,
            );
        }
    }
}
