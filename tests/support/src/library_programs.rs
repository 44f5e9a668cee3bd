//! library_programs: the programs of the library, made ready for the interpreter, by either of two
//! routes.
//!
//! promises  both routes start from the file's text; neither lowers it
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use warploom_ir::interpret::{ElementRows, Interpreter, World};
use warploom_ir::{Data, Gir, Input, Loss, NodeId, Op, Target};
use warploom_language::trace::{trace, vertex_settings_of};
use warploom_optimize::{autodiff, passes};

use crate::draws::{drawn, mixed};
use crate::golden_cases::Edges;

/// How a program comes to the interpreter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Route {
    /// Trace, autodiff.
    Plain,
    /// Trace, passes, autodiff, passes.
    Cleaned,
}

/// Both.
pub const ROUTES: [Route; 2] = [Route::Plain, Route::Cleaned];

/// What the loss has gradients by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum By {
    /// The parameters, as in a run.
    Parameters,
    /// Also features, weights and features of edges, where the program reads them.
    Everything,
}

/// Training programs of the library.
pub const MODELS: [&str; 11] = [
    "gcn",
    "gin",
    "sage",
    "sage_max",
    "gat",
    "gatv2",
    "appnp",
    "rgcn",
    "graph_transformer",
    "sgc",
    "gcnii",
];

/// Programs of the library that learn nothing.
pub const ANALYTICS: [&str; 10] = [
    "pagerank",
    "pagerank_spread",
    "personalized_pagerank",
    "sssp",
    "bfs",
    "components",
    "kcore",
    "label_propagation",
    "triangles",
    "hits",
];

/// A program ready to run.
pub struct Compiled {
    /// The program, with gradients where it is trained.
    pub gir: Gir,
    /// What it was compiled for.
    pub data: Data,
    /// Rows that each vertex setting names.
    pub chosen: BTreeMap<String, BTreeSet<u64>>,
    /// Warnings as a person reads them.
    pub warnings: Vec<String>,
    /// How long it took to compile.
    pub took: Duration,
}

/// The text of a program of the library.
pub fn text(name: &str) -> String {
    let path = folder().join(format!("programs/{name}.py"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folder of pipelines.
pub fn folder() -> PathBuf {
    crate::repository().join("pipelines")
}

/// Compiles a program; when it is trained, with the gradients by all parameters and by everything
/// real that it reads.
pub fn compile(name: &str, settings: &Value, data: &Data, route: Route) -> Compiled {
    compile_by(name, settings, data, route, By::Everything)
}

/// Compiles a program; when it is trained, with these gradients.
pub fn compile_by(name: &str, settings: &Value, data: &Data, route: Route, by: By) -> Compiled {
    let text = text(name);
    let settings: BTreeMap<String, Value> =
        settings.as_object().unwrap().clone().into_iter().collect();
    let begin = Instant::now();
    let traced = trace(&text, name, &settings, data).unwrap_or_else(|found| {
        let pages: Vec<String> = found
            .iter()
            .map(|diagnostic| diagnostic.render(&format!("{name}.py"), &text))
            .collect();
        panic!("{name}: {}", pages.join("\n"))
    });
    let warnings = traced
        .warnings
        .iter()
        .map(|warning| warning.render(&format!("{name}.py"), &text))
        .collect();
    let clean = |gir: Gir| if route == Route::Cleaned { passes::clean(gir, data).0 } else { gir };
    let mut gir = clean(traced.gir);
    if gir.loss.is_some() {
        let by = leaves(&gir, by);
        let differentiated = autodiff::differentiate(gir, data, &by)
            .unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"));
        gir = clean(differentiated);
    }
    Compiled {
        gir,
        data: data.clone(),
        chosen: chosen(name, &settings),
        warnings,
        took: begin.elapsed(),
    }
}

/// The rows that each vertex setting of a program names, a number or a list of them: no data set is
/// here that had other ids.
pub fn chosen(name: &str, settings: &BTreeMap<String, Value>) -> BTreeMap<String, BTreeSet<u64>> {
    let rows = |value: &Value| match value {
        Value::Array(rows) => rows.iter().map(|row| row.as_u64().unwrap()).collect(),
        Value::String(row) => BTreeSet::from([row.strip_prefix("row:").unwrap().parse().unwrap()]),
        row => BTreeSet::from([row.as_u64().unwrap()]),
    };
    let of_vertices = vertex_settings_of(&text(name), name).into_iter();
    of_vertices
        .map(|setting| {
            (setting.name.clone(), rows(settings.get(&setting.name).unwrap_or(&setting.default)))
        })
        .collect()
}

fn leaves(gir: &Gir, by: By) -> Vec<NodeId> {
    let mut leaves = autodiff::parameters(gir);
    if by == By::Parameters {
        return leaves;
    }
    let read = |id: &NodeId| {
        matches!(gir.node(*id).op, Op::Input(Input::Features | Input::Weight | Input::EdgeFeatures))
    };
    leaves.extend(gir.ids().filter(read));
    leaves
}

impl Compiled {
    /// The gradient by a parameter, or by an input by this name: `x`, `weight` or `edge_x`; none:
    /// the program does not read it.
    pub fn gradient(&self, run: &Interpreter<'_>, name: &str) -> Option<Vec<f64>> {
        let is = |op: &Op| match op {
            Op::Parameter(index) => self.gir.parameters[*index].name == name,
            Op::Input(Input::Features) => name == "x",
            Op::Input(Input::Weight) => name == "weight",
            Op::Input(Input::EdgeFeatures) => name == "edge_x",
            _ => false,
        };
        let gradient =
            self.gir.gradients.iter().find(|gradient| is(&self.gir.node(gradient.of).op))?;
        run.value(gradient.node).map(|rows| rows.values.reals())
    }

    /// All values of an analytics program, and whether its loops ended by themselves.
    pub fn iterate(
        &self,
        world: &World,
        supersteps_max: u64,
    ) -> (BTreeMap<String, ElementRows>, bool) {
        let world = World { chosen: self.chosen.clone(), ..world.clone() };
        let mut run = Interpreter::new(&self.gir, &self.data, &world).unwrap();
        let endings = run.run(supersteps_max);
        let results = self
            .gir
            .results
            .iter()
            .map(|result| (result.name.clone(), run.value(result.node).unwrap().clone()))
            .collect();
        (results, endings.iter().flatten().all(|ending| ending.converged))
    }
}

/// The world of a list of edges and nothing else, and its facts.
pub fn bare(edges: &Edges) -> (Data, World) {
    let data = Data {
        weighted: edges.weight.is_some(),
        bytes_per_real: 8,
        ..Data::bare(edges.nodes as u64, edges.source.len() as u64)
    };
    let world = World {
        weight: edges.weight.clone(),
        ..World::bare(edges.nodes, edges.source.clone(), edges.target.clone())
    };
    (data, world)
}

/// A training problem on a list of edges: so many features and classes, all drawn from their place.
pub fn problem(edges: &Edges, features: u64, classes: u64) -> (Data, World) {
    let (mut data, mut world) = bare(edges);
    let nodes = edges.nodes;
    data.features = Some(features);
    data.target = Some(Target { columns: classes, loss: Loss::CrossEntropy });
    data.training = true;
    world.features = Some(ElementRows::from_reals(
        nodes,
        features as usize,
        (0..nodes * features as usize).map(|index| drawn(1, index)).collect(),
    ));
    world.targets = Some(ElementRows::from_reals(
        nodes,
        1,
        (0..nodes).map(|node| (mixed(node as u64) % classes) as f64).collect(),
    ));
    world.training_rows = (0..nodes as u32).filter(|row| row % 3 != 2).collect();
    (data, world)
}

/// Values for all parameters, drawn from their number and place.
pub fn start(gir: &Gir) -> Vec<(String, Vec<f64>)> {
    let drawn_of = |(number, parameter): (usize, &warploom_ir::Parameter)| {
        let count = parameter.shape.iter().product::<u64>() as usize;
        (
            parameter.name.clone(),
            (0..count).map(|index| drawn(100 + number as u64, index)).collect(),
        )
    };
    gir.parameters.iter().enumerate().map(drawn_of).collect()
}
