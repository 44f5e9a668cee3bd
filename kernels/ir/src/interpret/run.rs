//! run: interprets a whole program, node by node; its loops, parameters and running statistics.
//!
//! promises  a node is computed after its inputs, those of a loop anew in each superstep; a loop
//!           runs when one of its ended states is needed; parameters keep their values until they
//!           are set, updated or stepped
//! never     computes what no result, loss, gradient, update or loop needs
use std::collections::BTreeMap;

use super::call::{Context, Draw};
use super::evaluate::evaluate;
use super::input_data::{Unfit, World};
use super::rows::{ElementRows, Values};
use crate::{Data, Gir, Init, Input, Loss, Node, NodeId, Op, Place, StopTest};

/// Adam as in PyTorch: weight decay is added to the gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Learning rate.
    pub learning_rate: f64,
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Weight decay: times the parameter, added to the gradient.
    pub weight_decay: f64,
}

/// The change of the states in a superstep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Sum of absolute differences.
    pub summed: f64,
    /// Number of elements that differ.
    pub changed: u64,
}

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ending {
    /// Supersteps done.
    pub supersteps: u64,
    /// Whether the condition was met, not only the bound.
    pub converged: bool,
}

/// A program on one world.
pub struct Interpreter<'a> {
    gir: &'a Gir,
    world: &'a World,
    /// Whether `run` is a training pass.
    pub training: bool,
    /// The draws of dropout in training; none: the identity.
    pub draw: Option<Box<Draw<'a>>>,
    needed: Vec<bool>,
    parameters: Vec<Vec<f64>>,
    moments: Vec<Option<[Vec<f64>; 2]>>,
    steps: i32,
    values: Vec<Option<ElementRows>>,
    states: Vec<Vec<ElementRows>>,
    endings: Vec<Option<Ending>>,
    supersteps_max: u64,
}

impl<'a> Interpreter<'a> {
    /// Checks that the world matches the program. Parameters initialised with zeros or ones have
    /// these, others are NaN until they are set.
    pub fn new(gir: &'a Gir, data: &Data, world: &'a World) -> Result<Self, Unfit> {
        world.check(data)?;
        let needed = needed(gir);
        for id in gir.ids().filter(|id| needed[id.index()]) {
            check_node(gir, gir.node(id), world)?;
        }
        let start = |init| match init {
            Init::Zero => 0.0,
            Init::One => 1.0,
            Init::GlorotUniform | Init::Normal => f64::NAN,
        };
        let parameters = gir.parameters.iter().map(|parameter| {
            vec![start(parameter.init); parameter.shape.iter().product::<u64>() as usize]
        });
        Ok(Interpreter {
            gir,
            world,
            training: false,
            draw: None,
            needed,
            parameters: parameters.collect(),
            moments: vec![None; gir.parameters.len()],
            steps: 0,
            values: vec![None; gir.nodes.len()],
            states: vec![Vec::new(); gir.loops.len()],
            endings: vec![None; gir.loops.len()],
            supersteps_max: 0,
        })
    }

    /// Replaces a parameter or running statistic.
    pub fn set_parameter(&mut self, name: &str, values: &[f64]) -> Result<(), Unfit> {
        let Some(index) = self.gir.parameters.iter().position(|parameter| parameter.name == name)
        else {
            return Err(Unfit::new(
                format!("parameter `{name}`"),
                "a name that the program declares",
                "no such name",
            ));
        };
        if values.len() != self.parameters[index].len() {
            return Err(Unfit::new(
                format!("elements of parameter `{name}`"),
                self.parameters[index].len(),
                values.len(),
            ));
        }
        self.parameters[index].copy_from_slice(values);
        Ok(())
    }

    /// All parameters and running statistics by name.
    pub fn parameters(&self) -> BTreeMap<&'a str, &[f64]> {
        self.gir
            .parameters
            .iter()
            .zip(&self.parameters)
            .map(|(parameter, values)| (parameter.name.as_str(), values.as_slice()))
            .collect()
    }

    /// Computes everything that is needed, each loop with at most this many supersteps. Returns how
    /// each loop ended, by its number; none: nothing needs it.
    pub fn run(&mut self, supersteps_max: u64) -> Vec<Option<Ending>> {
        self.supersteps_max = supersteps_max;
        self.values.fill(None);
        self.endings.fill(None);
        for id in self.gir.ids() {
            if self.needed[id.index()] && self.gir.node(id).region.is_none() {
                self.require(id);
            }
        }
        self.endings.clone()
    }

    /// The value of a node after a run; of a loop's node its value in the last superstep.
    pub fn value(&self, id: NodeId) -> Option<&ElementRows> {
        self.values.get(id.index())?.as_ref()
    }

    /// The returned value of this name.
    pub fn result(&self, name: &str) -> Option<&ElementRows> {
        let result = self.gir.results.iter().find(|result| result.name == name)?;
        self.value(result.node)
    }

    /// The loss after a run.
    pub fn loss(&self) -> Option<f64> {
        Some(self.value(self.gir.loss?)?.at(0, 0).real())
    }

    /// Writes the next values of the running statistics, as after a forward pass of training.
    pub fn apply_updates(&mut self) {
        for (parameter, node) in &self.gir.updates {
            if let Some(rows) = &self.values[node.index()] {
                self.parameters[*parameter] = rows.values.reals();
            }
        }
    }

    /// One step of Adam for every learned parameter that the program has a gradient of.
    pub fn step(&mut self, adam: &Adam) {
        self.steps += 1;
        for gradient in &self.gir.gradients {
            let Op::Parameter(index) = self.gir.node(gradient.of).op else { continue };
            if let (true, Some(rows)) =
                (self.gir.parameters[index].learned, &self.values[gradient.node.index()])
            {
                let slopes = rows.values.reals();
                let moments = self.moments[index]
                    .get_or_insert_with(|| [vec![0.0; slopes.len()], vec![0.0; slopes.len()]]);
                step_of_adam(adam, self.steps, moments, &mut self.parameters[index], &slopes);
            }
        }
    }

    /// Computes a node outside of loops, or of the running loop, if it has no value yet.
    fn require(&mut self, id: NodeId) {
        if self.values[id.index()].is_some() {
            return;
        }
        let gir = self.gir;
        let node = gir.node(id);
        for input in &node.inputs {
            self.require(*input);
        }
        let held = match node.op {
            Op::Parameter(index) => Some(ElementRows::from_reals(
                1,
                self.parameters[index].len(),
                self.parameters[index].clone(),
            )),
            Op::State(position) => node.region.map(|number| self.states[number][position].clone()),
            Op::Ended(number, position) => {
                if self.endings[number].is_none() {
                    self.run_loop(number);
                }
                Some(self.states[number][position].clone())
            }
            _ => None,
        };
        let value = match held {
            Some(rows) => rows,
            None => self.compute(node),
        };
        self.values[id.index()] = Some(value);
    }

    fn compute(&self, node: &Node) -> ElementRows {
        let input = |id: &NodeId| {
            self.values[id.index()].as_ref().expect("inputs are computed before their users")
        };
        let inputs: Vec<&ElementRows> = node.inputs.iter().map(input).collect();
        let input_nodes: Vec<&Node> = node.inputs.iter().map(|id| self.gir.node(*id)).collect();
        let context = Context { training: self.training, draw: self.draw.as_deref() };
        evaluate(node, &inputs, &input_nodes, self.world, context)
    }

    /// Runs supersteps until the loop's condition holds, at most this many.
    fn run_loop(&mut self, number: usize) {
        let gir = self.gir;
        let repeated = &gir.loops[number];
        self.states[number] =
            repeated.states.iter().map(|state| self.required(state.first)).collect();
        let mut ending = Ending { supersteps: 0, converged: false };
        while ending.supersteps < self.supersteps_max && !ending.converged {
            for id in gir.ids().filter(|id| gir.node(*id).region == Some(number)) {
                self.values[id.index()] = None;
            }
            for id in gir.ids().filter(|id| gir.node(*id).region == Some(number)) {
                if self.needed[id.index()] {
                    self.require(id);
                }
            }
            let next: Vec<ElementRows> =
                repeated.states.iter().map(|state| self.required(state.next)).collect();
            let change_of =
                |position: usize| change(&self.states[number][position], &next[position]);
            ending.converged = match &repeated.until {
                StopTest::Unchanged(states) => {
                    states.iter().all(|position| change_of(*position).changed == 0)
                }
                StopTest::ChangeAtMost(position, bound) => change_of(*position).summed <= *bound,
                StopTest::Nowhere(node) => {
                    self.required(*node).values.reals().iter().all(|holds| *holds == 0.0)
                }
            };
            ending.supersteps += 1;
            self.states[number] = next;
        }
        self.endings[number] = Some(ending);
    }

    fn required(&mut self, id: NodeId) -> ElementRows {
        self.require(id);
        self.values[id.index()].clone().expect("it was computed just now")
    }
}

/// The change of elements: sum of absolute differences, and how many differ. Equal values, also
/// infinities, have change 0; NaN always counts as changed. Integers are compared exactly.
pub fn change(before: &ElementRows, after: &ElementRows) -> Change {
    let mut change = Change { summed: 0.0, changed: 0 };
    match (&before.values, &after.values) {
        (Values::Whole(before), Values::Whole(after)) => {
            for (before, after) in
                before.iter().zip(after).filter(|(before, after)| before != after)
            {
                change.summed += before.abs_diff(*after) as f64;
                change.changed += 1;
            }
        }
        (before, after) => {
            for (before, after) in
                before.reals().iter().zip(after.reals()).filter(|(before, after)| *before != after)
            {
                change.summed += (after - before).abs();
                change.changed += 1;
            }
        }
    }
    change
}

/// Whether each node is a root, or a direct or indirect input of one.
fn needed(gir: &Gir) -> Vec<bool> {
    let mut needed = vec![false; gir.nodes.len()];
    let mut open = gir.roots();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut needed[id.index()], true) {
            open.extend(&gir.node(id).inputs);
        }
    }
    needed
}

/// Checks that the world has what a node reads.
fn check_node(gir: &Gir, node: &Node, world: &World) -> Result<(), Unfit> {
    let there = |what: String, found: Option<&ElementRows>| match found {
        None => Err(Unfit::new(what, "some, since the program reads it", "none")),
        Some(rows) if rows.columns as u64 != node.columns() => {
            Err(Unfit::new(format!("columns of {what}"), node.columns(), rows.columns))
        }
        Some(rows) if !rows.values.fit(node.kind) => {
            Err(Unfit::new(format!("type of {what}"), node.kind, "another"))
        }
        Some(_) => Ok(()),
    };
    match &node.op {
        Op::Input(Input::Features) => there("features".to_owned(), world.features.as_ref()),
        Op::Input(Input::FeaturesOf(kind)) => match world.features_of_kind.get(kind) {
            Some(_) => Ok(()),
            None => Err(Unfit::new(
                format!("features of kind {kind}"),
                "some, since the program reads them",
                "none",
            )),
        },
        Op::Input(Input::EdgeFeatures) => {
            there("edge features".to_owned(), world.edge_features.as_ref())
        }
        Op::Input(Input::Target) => there("targets".to_owned(), world.targets.as_ref()),
        Op::Input(Input::Chosen(setting)) if !world.chosen.contains_key(setting) => {
            Err(Unfit::new(
                format!("vertices that `{setting}` names"),
                "some, since the program reads them",
                "none",
            ))
        }
        Op::Input(Input::Column(name)) => {
            there(format!("column `{name}`"), world.columns.get(name))
        }
        Op::Loss(kind) | Op::LossSlope(kind) => {
            check_loss(*kind, gir.node(node.inputs[0]), gir.node(node.inputs[1]), world)
        }
        _ => Ok(()),
    }
}

/// Checks that each training row has a row of the result and a target.
fn check_loss(kind: Loss, result: &Node, target: &Node, world: &World) -> Result<(), Unfit> {
    let meets = result.place == target.place
        || matches!((result.place, target.place), (Place::C | Place::P, _) | (Place::G, Place::D));
    if !meets {
        return Err(Unfit::new("place of the result that is trained", target.place, result.place));
    }
    let rows = world.rows(target.place);
    if let Some(row) = world.training_rows.iter().find(|row| **row as usize >= rows) {
        return Err(Unfit::new("training row", format!("a number below {rows}"), row));
    }
    let (columns, wanted) = (result.columns(), target.columns());
    match kind {
        Loss::CrossEntropy => world.check_classes(columns),
        Loss::MeanSquares | Loss::Binary if wanted == columns || wanted == 1 => Ok(()),
        Loss::MeanSquares | Loss::Binary => {
            Err(Unfit::new("columns of the result that is trained", wanted, columns))
        }
    }
}

fn step_of_adam(
    adam: &Adam,
    steps: i32,
    [first, second]: &mut [Vec<f64>; 2],
    values: &mut [f64],
    slopes: &[f64],
) {
    let (unbias1, unbias2) = (1.0 - adam.beta1.powi(steps), 1.0 - adam.beta2.powi(steps));
    for (index, value) in values.iter_mut().enumerate() {
        let slope = slopes[index] + adam.weight_decay * *value;
        first[index] = adam.beta1 * first[index] + (1.0 - adam.beta1) * slope;
        second[index] = adam.beta2 * second[index] + (1.0 - adam.beta2) * slope * slope;
        let step = (first[index] / unbias1) / ((second[index] / unbias2).sqrt() + adam.epsilon);
        *value -= adam.learning_rate * step;
    }
}
