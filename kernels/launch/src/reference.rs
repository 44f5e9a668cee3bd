//! reference: the slow, obvious executor in f64. It DEFINES what a launch list means; every other
//! executor is compared with it.
//!
//! promises  one naive loop per operation, in the order of edge ids and rows; the same bits on
//!           every run; any buffer can be read by name at any time; a list with flaws or data that
//!           do not fit are refused before anything runs
//! never     uses threads, blocks or a partition; reorders anything; is fast (it does the work as
//!           written, with 8 bytes per element, ids and sparse features included, which are stored
//!           as dense rows of f64)
//!
//! Special values: NaN propagates through `min`, `max`, `relu` and reductions; an element of a
//! binary loss whose target is NaN does not count; `positive` of NaN is 0; a `select` whose
//! condition is NaN takes its second; the loss over no training rows is 0 with gradient 0; equal
//! infinities have change 0 and NaN always counts as changed.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::{
    Body, Buffer, Commit, Dropout, Element, Flaw, Launch, LaunchList, Loop, Operand, Operation,
    Role, Rows, StopCondition, View, gradient_buffer, parameter_buffer,
};
use warploom_ir::interpret::{self, Adam, Change, Ending, World};
use warploom_ir::{Binary, EdgeSet, Input, Loss, Node, Op, Place, Span, Type};

/// The dropout factor of an element: 0, or 1 / (1 - probability). Arguments: the dropout, row in
/// the graph artifact, column.
pub type Draw = Box<dyn Fn(Dropout, u64, u64) -> f64>;

/// A graph as an edge list; the position is the edge id.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceGraph {
    /// Number of nodes.
    pub nodes: u64,
    /// Source of each edge.
    pub source: Vec<u32>,
    /// Target of each edge.
    pub target: Vec<u32>,
    /// Weight of each edge; none: all 1.
    pub weight: Option<Vec<f64>>,
}

/// The inputs of a program; absent parts are empty.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Dense feature rows, even if the list has sparse features.
    pub features: Vec<f64>,
    /// Target rows: the class as a number, or the regression targets.
    pub target: Vec<f64>,
    /// Rows that the loss is taken over.
    pub training_rows: Vec<u32>,
    /// Parameters by name.
    pub parameters: BTreeMap<String, Vec<f64>>,
    /// Row in the graph artifact of each node, when the graph is permuted; empty: the same.
    pub artifact_rows: Vec<u32>,
    /// Relation of each edge; empty without relations.
    pub edge_type: Vec<u32>,
    /// Features of each edge, row-major; empty without.
    pub edge_features: Vec<f64>,
    /// Further columns of the node table; integers as floats.
    pub columns: BTreeMap<String, Vec<f64>>,
    /// Rows in the graph artifact of the nodes that each vertex setting names.
    pub chosen: BTreeMap<String, BTreeSet<u64>>,
    /// Graph of each node; empty: one graph.
    pub graph_of_node: Vec<u32>,
    /// Kind of each node; empty: one kind.
    pub kind_of_node: Vec<u32>,
    /// Dense feature rows of the nodes of each kind, in the order of the graph artifact, by the
    /// kind's number.
    pub features_of_kind: BTreeMap<u32, Vec<f64>>,
}

/// Why a list cannot be executed.
#[derive(Clone, Debug, PartialEq)]
pub enum ReferenceError {
    /// The list has flaws.
    Flawed(Vec<Flaw>),
    /// An input does not fit the list or the graph.
    Unfit {
        /// What was checked.
        what: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReferenceError::Flawed(flaws) => {
                write!(formatter, "launch list has {} flaws", flaws.len())?;
                flaws.iter().try_for_each(|flaw| write!(formatter, "\n  {flaw}"))
            }
            ReferenceError::Unfit { what, expected, found } => {
                write!(formatter, "{what}: expected {expected}, found {found}")
            }
        }
    }
}

impl std::error::Error for ReferenceError {}

/// One run of a launch list.
pub struct Reference<'a> {
    list: &'a LaunchList,
    graph: &'a ReferenceGraph,
    values: BTreeMap<String, Rectangle>,
    training_rows: Vec<u32>,
    artifact_rows: Vec<u32>,
    moments: BTreeMap<String, [Vec<f64>; 2]>,
    steps: i32,
    draw: Option<Draw>,
    world: World,
    /// The current loop.
    at: usize,
    /// Local values of the current fused launch.
    locals: Vec<Buffer>,
}

/// Rows of one buffer.
#[derive(Clone, Debug, Default)]
struct Rectangle {
    rows: usize,
    columns: usize,
    elements: Vec<f64>,
}

impl<'a> Reference<'a> {
    /// Checks list, graph and inputs, and fills every buffer: inputs as given, all else with NaN.
    pub fn new(
        list: &'a LaunchList,
        graph: &'a ReferenceGraph,
        inputs: Inputs,
    ) -> Result<Self, ReferenceError> {
        list.validate().map_err(ReferenceError::Flawed)?;
        check_graph(graph)?;
        check_training_rows(list, graph, &inputs.training_rows)?;
        let mut artifact_rows = inputs.artifact_rows.clone();
        if artifact_rows.is_empty() {
            artifact_rows = (0..graph.nodes).map(|row| row as u32).collect();
        }
        same("artifact rows", graph.nodes, artifact_rows.len())?;
        let world = world(list, graph, &inputs, &artifact_rows)?;
        let mut reference = Reference {
            list,
            graph,
            values: BTreeMap::new(),
            training_rows: inputs.training_rows.clone(),
            artifact_rows,
            moments: BTreeMap::new(),
            steps: 0,
            draw: None,
            world,
            at: 0,
            locals: Vec::new(),
        };
        for buffer in &list.buffers {
            reference.values.insert(buffer.name.clone(), reference.empty(buffer));
            match &buffer.role {
                Role::Features | Role::SparseFeatures => {
                    reference.set(&buffer.name, &inputs.features)?
                }
                Role::SparseFeaturesOf { kind, .. } => reference.set(
                    &buffer.name,
                    inputs.features_of_kind.get(kind).map_or(&[][..], Vec::as_slice),
                )?,
                Role::Target => reference.set(&buffer.name, &inputs.target)?,
                Role::Given(input) => {
                    let given = reference.input_values(buffer, input);
                    reference.set(&buffer.name, &given)?;
                }
                Role::Parameter | Role::Gradient | Role::Value => {}
            }
        }
        for parameter in &list.parameters {
            let given = inputs.parameters.get(&parameter.name).map_or(&[][..], Vec::as_slice);
            reference.set(&parameter_buffer(&parameter.name), given)?;
        }
        reference.check_classes()?;
        Ok(reference)
    }

    /// Sets the draws of dropout; none: the identity, as in evaluation.
    pub fn set_draw(&mut self, draw: Option<Draw>) {
        self.draw = draw;
    }

    /// Elements of a buffer, row-major; ids as numbers.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        self.values.get(name).map(|rectangle| rectangle.elements.as_slice())
    }

    /// Replaces the elements of a buffer.
    pub fn set(&mut self, name: &str, elements: &[f64]) -> Result<(), ReferenceError> {
        let Some(rectangle) = self.values.get_mut(name) else {
            return Err(unfit(format!("buffer `{name}`"), "a declared name", "no such name"));
        };
        same(&format!("elements of `{name}`"), rectangle.elements.len() as u64, elements.len())?;
        rectangle.elements.copy_from_slice(elements);
        Ok(())
    }

    /// Runs the launches before the first epoch.
    pub fn prepare(&mut self) {
        match &self.list.body {
            Body::Train(train) => self.launches(&train.prepare),
            Body::Iterate(_) => self.enter(0),
        }
    }

    /// Runs a forward pass of training; nothing for an iteration.
    pub fn forward(&mut self) {
        if let Body::Train(train) = &self.list.body {
            self.launches(&train.forward);
        }
    }

    /// Runs the loss after a forward pass and returns its value; NaN for an iteration.
    pub fn loss(&mut self) -> f64 {
        let Body::Train(train) = &self.list.body else { return f64::NAN };
        self.launch(&train.loss);
        match &train.loss.operation {
            Operation::Loss { value, .. } => self.values[value].elements[0],
            _ => f64::NAN,
        }
    }

    /// Runs the backward pass after the loss.
    pub fn backward(&mut self) {
        if let Body::Train(train) = &self.list.body {
            self.launches(&train.backward);
        }
    }

    /// One step of Adam for every parameter that the list updates.
    pub fn update(&mut self, adam: &Adam) {
        let Body::Train(train) = &self.list.body else { return };
        self.steps += 1;
        let statistics = &train.statistics;
        for launch in &train.update {
            if let Operation::Optimize { parameter } = &launch.operation {
                self.optimize(adam, parameter);
            }
        }
        for Commit { state, next } in statistics {
            self.entry(state).elements = self.values[next].elements.clone();
        }
    }

    /// Enters a loop and runs its preparation, or, beyond the last, runs the launches after the
    /// loops.
    fn enter(&mut self, number: usize) {
        let Body::Iterate(iterate) = &self.list.body else { return };
        self.at = number;
        match iterate.loops.get(number) {
            Some(repeated) => self.launches(&repeated.prepare),
            None => self.launches(&iterate.finish),
        }
    }

    fn repeated(&self) -> Option<&'a Loop> {
        let Body::Iterate(iterate) = &self.list.body else { return None };
        iterate.loops.get(self.at)
    }

    /// One superstep of the current loop: launches, change of the tested states, commit.
    pub fn superstep(&mut self) -> Change {
        let mut change = Change { summed: 0.0, changed: 0 };
        let Some(repeated) = self.repeated() else { return change };
        self.launches(&repeated.superstep);
        let is_watched = |commit: &&Commit| match &repeated.until {
            StopCondition::ChangeAtMost(state, _) => commit.state == *state,
            StopCondition::Unchanged(states) => states.contains(&commit.state),
            StopCondition::Nowhere(_) => false,
        };
        for commit in repeated.commit.iter().filter(is_watched) {
            let (state, next) =
                (&self.values[&commit.state].elements, &self.values[&commit.next].elements);
            for (before, after) in state.iter().zip(next) {
                // Equal infinities have change 0, though their difference is NaN.
                if before != after {
                    change.summed += (after - before).abs();
                    change.changed += 1;
                }
            }
        }
        if let StopCondition::Nowhere(buffer) = &repeated.until {
            change.changed =
                self.values[buffer].elements.iter().filter(|element| **element != 0.0).count()
                    as u64;
        }
        for commit in &repeated.commit {
            let state = std::mem::take(self.entry(&commit.state));
            let next = std::mem::replace(self.entry(&commit.next), state);
            *self.entry(&commit.state) = next;
        }
        change
    }

    /// Enters the next loop, or runs the launches after the last.
    pub fn enter_next(&mut self) {
        self.enter(self.at + 1);
    }

    /// Runs supersteps of all loops until their conditions hold, at most this many in all.
    /// `prepare` comes first.
    pub fn iterate(&mut self, supersteps_max: u64) -> Ending {
        let mut supersteps = 0;
        while let Some(repeated) = self.repeated() {
            if supersteps == supersteps_max {
                return Ending { supersteps, converged: false };
            }
            supersteps += 1;
            let change = self.superstep();
            let is_met = match repeated.until {
                StopCondition::ChangeAtMost(_, bound) => change.summed <= bound,
                StopCondition::Unchanged(_) | StopCondition::Nowhere(_) => change.changed == 0,
            };
            if is_met {
                self.enter_next();
            }
        }
        Ending { supersteps, converged: matches!(self.list.body, Body::Iterate(_)) }
    }

    fn launches(&mut self, launches: &[Launch]) {
        for launch in launches {
            self.launch(launch);
        }
    }

    fn launch(&mut self, launch: &Launch) {
        self.operation(&launch.operation);
    }

    /// Runs one step after the other, each for all rows.
    fn fused(&mut self, locals: &[Buffer], steps: &[Operation]) {
        self.locals = locals.to_vec();
        for local in locals {
            let empty = self.empty(local);
            self.values.insert(local.name.clone(), empty);
        }
        steps.iter().for_each(|step| self.operation(step));
        for local in std::mem::take(&mut self.locals) {
            self.values.remove(&local.name);
        }
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::SparseProduct { out, left, right, dropout } => {
                self.sparse_product(out, left, *dropout, right);
            }
            Operation::SparseProductOverRows { out, left, right, dropout } => {
                self.sparse_product_over_rows(out, left, right, *dropout);
            }
            Operation::Evaluate { out, shape, op, inputs } => {
                self.evaluated(out, shape, op, inputs)
            }
            Operation::Fused { locals, steps, .. } => self.fused(locals, steps),
            Operation::Loss { kind, result, target, gradient, value } => {
                self.mean_loss(*kind, result, target, gradient, value);
            }
            // `update` has the optimiser; validation keeps it out of every other part.
            Operation::Optimize { .. } => {}
        }
    }

    /// Of a sparse matrix zeros are not stored: dropout draws nothing for them.
    fn sparse_product(&mut self, out: &str, left: &str, dropout: Option<Dropout>, right: &str) {
        let mut made = std::mem::take(self.entry(out));
        made.elements.fill(0.0);
        let (across, weights) = (&self.values[left], &self.values[right]);
        for row in 0..made.rows {
            for inner in (0..across.columns).filter(|&inner| across.at(row, inner) != 0.0) {
                let drawn = dropout.map_or(1.0, |dropout| self.factor(dropout, left, row, inner));
                let element = drawn * across.at(row, inner);
                for column in 0..made.columns {
                    made.elements[row * made.columns + column] +=
                        element * weights.at(column, inner);
                }
            }
        }
        *self.entry(out) = made;
    }

    fn sparse_product_over_rows(
        &mut self,
        out: &str,
        left: &str,
        right: &str,
        dropout: Option<Dropout>,
    ) {
        let mut made = std::mem::take(self.entry(out));
        made.elements.fill(0.0);
        let (first, second) = (&self.values[left], &self.values[right]);
        for row in 0..second.rows {
            for column in (0..second.columns).filter(|&column| second.at(row, column) != 0.0) {
                let drawn = dropout.map_or(1.0, |dropout| self.factor(dropout, right, row, column));
                let element = drawn * second.at(row, column);
                for line in 0..made.rows {
                    made.elements[line * made.columns + column] += first.at(row, line) * element;
                }
            }
        }
        *self.entry(out) = made;
    }

    fn mean_loss(&mut self, kind: Loss, result: &str, target: &str, gradient: &str, value: &str) {
        let mut made = std::mem::take(self.entry(gradient));
        made.elements.fill(0.0);
        let (result, target) = (&self.values[result], &self.values[target]);
        let columns = result.columns;
        let known = |row: &u32| {
            (0..columns).filter(|column| !target.at(*row as usize, *column).is_nan()).count()
        };
        let count = match kind {
            Loss::CrossEntropy => self.training_rows.len(),
            Loss::MeanSquares => self.training_rows.len() * columns,
            Loss::Binary => self.training_rows.iter().map(known).sum(),
        } as f64;
        let mut total = 0.0;
        for &row in &self.training_rows {
            let row = row as usize;
            let scores = &result.elements[row * columns..(row + 1) * columns];
            let slopes = &mut made.elements[row * columns..(row + 1) * columns];
            match kind {
                Loss::CrossEntropy => {
                    let class = target.at(row, 0) as usize;
                    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let sum: f64 = scores.iter().map(|score| (score - largest).exp()).sum();
                    total += (sum.ln() + largest - scores[class]) / count;
                    for (column, (slope, score)) in slopes.iter_mut().zip(scores).enumerate() {
                        let hit = if column == class { 1.0 } else { 0.0 };
                        *slope += ((score - largest).exp() / sum - hit) / count;
                    }
                }
                Loss::Binary => {
                    for (column, (slope, score)) in slopes.iter_mut().zip(scores).enumerate() {
                        let wanted = target.at(row, column);
                        if wanted.is_nan() {
                            continue;
                        }
                        total += (score.max(0.0) - score * wanted + (-score.abs()).exp().ln_1p())
                            / count;
                        *slope += (1.0 / (1.0 + (-score).exp()) - wanted) / count;
                    }
                }
                Loss::MeanSquares => {
                    for (column, (slope, score)) in slopes.iter_mut().zip(scores).enumerate() {
                        let difference = score - target.at(row, column);
                        total += difference * difference / count;
                        *slope += 2.0 * difference / count;
                    }
                }
            }
        }
        *self.entry(gradient) = made;
        self.entry(value).elements[0] = total;
    }

    fn optimize(&mut self, adam: &Adam, parameter: &str) {
        let gradient = self.values[&gradient_buffer(parameter)].elements.clone();
        let count = gradient.len();
        let mut moments =
            self.moments.remove(parameter).unwrap_or_else(|| [vec![0.0; count], vec![0.0; count]]);
        let (unbias1, unbias2) =
            (1.0 - adam.beta1.powi(self.steps), 1.0 - adam.beta2.powi(self.steps));
        let values = &mut self.entry(&parameter_buffer(parameter)).elements;
        for index in 0..count {
            let slope = gradient[index] + adam.weight_decay * values[index];
            let [first, second] = &mut moments;
            first[index] = adam.beta1 * first[index] + (1.0 - adam.beta1) * slope;
            second[index] = adam.beta2 * second[index] + (1.0 - adam.beta2) * slope * slope;
            let step = (first[index] / unbias1) / ((second[index] / unbias2).sqrt() + adam.epsilon);
            values[index] -= adam.learning_rate * step;
        }
        self.moments.insert(parameter.to_owned(), moments);
    }

    /// Dropout factor of an element in a buffer whose rows are those of `like`.
    fn factor(&self, dropout: Dropout, like: &str, row: usize, column: usize) -> f64 {
        let Some(draw) = &self.draw else { return 1.0 };
        let row = match self.buffer(like).rows {
            Rows::Nodes => u64::from(self.artifact_rows[row]),
            Rows::Edges | Rows::EdgesTwice | Rows::Graphs(_) | Rows::Fixed(_) => row as u64,
        };
        draw(dropout, row, column as u64)
    }

    /// Runs an operation by the interpreter, which defines it.
    fn evaluated(&mut self, out: &str, shape: &[u64], op: &Op, inputs: &[Operand]) {
        let made = self.buffer(out).clone();
        if let (Op::Input(Input::Features | Input::FeaturesOf(_)), [Operand::Rows(rows)]) =
            (op, inputs)
        {
            *self.entry(out) = self.values[&rows.buffer].clone();
            return;
        }
        let parts: Vec<(Node, interpret::ElementRows)> =
            inputs.iter().map(|input| self.part(input)).collect();
        let (nodes, rows): (Vec<&Node>, Vec<&interpret::ElementRows>) =
            parts.iter().map(|(node, rows)| (node, rows)).unzip();
        let node = node(op.clone(), made.rows.place(), made.element.kind(), shape);
        let values = self.interpreted(&node, &nodes, &rows).values.reals();
        self.entry(out).elements = values;
    }

    fn interpreted(
        &self,
        node: &Node,
        nodes: &[&Node],
        rows: &[&interpret::ElementRows],
    ) -> interpret::ElementRows {
        let draw = |site, probability, row, column| {
            self.draw.as_ref().map_or(1.0, |draw| draw(Dropout { probability, site }, row, column))
        };
        let context = interpret::Context { training: self.draw.is_some(), draw: Some(&draw) };
        interpret::evaluate(node, rows, nodes, &self.world, context)
    }

    /// The value of an operand, and a node of its place, type and shape.
    fn part(&self, operand: &Operand) -> (Node, interpret::ElementRows) {
        match operand {
            Operand::Number(number) => {
                let node = node(Op::Constant(*number), Place::C, number.kind(), &[]);
                let rows = self.interpreted(&node, &[], &[]);
                (node, rows)
            }
            Operand::Rows(rows) => {
                let (buffer, held) = (self.buffer(&rows.buffer), &self.values[&rows.buffer]);
                let place = buffer.rows.place();
                let columns = rows.shape.iter().product::<u64>() as usize;
                let count = if place == Place::P { 1 } else { held.rows };
                let read = whole_or_real(buffer.element, count, columns, &held.elements);
                let own = node(Op::State(0), place, buffer.element.kind(), &rows.shape);
                let seen = |op: Op, edges: EdgeSet| {
                    node(op, Place::E(edges.rows()), buffer.element.kind(), &rows.shape)
                };
                let view = match rows.view {
                    View::Own => return (own, read),
                    View::Far(edges) => seen(Op::Far(edges), edges),
                    View::Near(edges) => seen(Op::Near(edges), edges),
                };
                let made = self.interpreted(&view, &[&own], &[&read]);
                (view, made)
            }
            Operand::Times(first, second) => {
                let ((first, first_rows), (second, second_rows)) =
                    (self.part(first), self.part(second));
                let place =
                    if first.place.edge_rows().is_some() { first.place } else { second.place };
                let product =
                    node(Op::Binary(Binary::Multiply), place, first.kind, &operand.shape());
                let made =
                    self.interpreted(&product, &[&first, &second], &[&first_rows, &second_rows]);
                (product, made)
            }
        }
    }

    /// The input of a buffer.
    fn input_values(&self, buffer: &Buffer, input: &Input) -> Vec<f64> {
        let shape = if buffer.columns == 1 { Vec::new() } else { vec![buffer.columns] };
        let node =
            node(Op::Input(input.clone()), buffer.rows.place(), buffer.element.kind(), &shape);
        self.interpreted(&node, &[], &[]).values.reals()
    }

    fn buffer(&self, name: &str) -> &Buffer {
        let found = self.locals.iter().chain(&self.list.buffers).find(|buffer| buffer.name == name);
        found.expect("a validated list declares every name that it uses")
    }

    fn entry(&mut self, name: &str) -> &mut Rectangle {
        self.values.get_mut(name).expect("a validated list declares every name that it uses")
    }

    fn empty(&self, buffer: &Buffer) -> Rectangle {
        let rows = match buffer.rows {
            Rows::Nodes => self.graph.nodes as usize,
            Rows::Edges => self.graph.source.len(),
            Rows::EdgesTwice => 2 * self.graph.source.len(),
            Rows::Graphs(count) => count as usize,
            Rows::Fixed(count) => count as usize,
        };
        let columns = buffer.columns as usize;
        Rectangle { rows, columns, elements: vec![f64::NAN; rows * columns] }
    }

    /// A class without a column would be read out of bounds.
    fn check_classes(&self) -> Result<(), ReferenceError> {
        let Body::Train(train) = &self.list.body else { return Ok(()) };
        let Operation::Loss { kind: Loss::CrossEntropy, result, target, .. } =
            &train.loss.operation
        else {
            return Ok(());
        };
        let classes = self.buffer(result).columns;
        for &row in &self.training_rows {
            let class = self.values[target].at(row as usize, 0);
            if !(class >= 0.0 && class < classes as f64 && class.fract() == 0.0) {
                return Err(unfit(
                    format!("class of training row {row}"),
                    format!("0 to {}", classes.saturating_sub(1)),
                    class,
                ));
            }
        }
        Ok(())
    }
}

impl Rectangle {
    fn at(&self, row: usize, column: usize) -> f64 {
        self.elements[row * self.columns + column]
    }
}

fn node(op: Op, place: Place, kind: Type, shape: &[u64]) -> Node {
    Node {
        op,
        inputs: Vec::new(),
        place,
        kind,
        shape: shape.to_vec(),
        region: None,
        span: Span::default(),
        name: None,
    }
}

fn whole_or_real(
    element: Element,
    rows: usize,
    columns: usize,
    values: &[f64],
) -> interpret::ElementRows {
    match element {
        Element::Real | Element::Half(_) => {
            interpret::ElementRows::from_reals(rows, columns, values.to_vec())
        }
        Element::Whole(_) => interpret::ElementRows::from_integers(
            rows,
            columns,
            values.iter().map(|value| *value as i64).collect(),
        ),
    }
}

/// The interpreter's world of a graph and inputs, with everything that the list reads.
fn world(
    list: &LaunchList,
    graph: &ReferenceGraph,
    inputs: &Inputs,
    artifact_rows: &[u32],
) -> Result<World, ReferenceError> {
    let graphs = list.buffers.iter().find_map(|buffer| {
        if let Rows::Graphs(count) = buffer.rows { Some(count as usize) } else { None }
    });
    if crate::ListNeeds::from_list(list).graphs {
        same("graphs of nodes", graph.nodes, inputs.graph_of_node.len())?;
        let count = graphs.unwrap_or(1);
        if let Some(far) = inputs.graph_of_node.iter().find(|far| **far as usize >= count) {
            return Err(unfit("graph of a node", format!("one below {count}"), far));
        }
    }
    let mut world = World::bare(graph.nodes as usize, graph.source.clone(), graph.target.clone());
    world.graphs = graphs.unwrap_or(1);
    world.weight.clone_from(&graph.weight);
    world.edge_type.clone_from(&inputs.edge_type);
    world.graph_of_node.clone_from(&inputs.graph_of_node);
    world.kind_of_node.clone_from(&inputs.kind_of_node);
    world.chosen.clone_from(&inputs.chosen);
    world.artifact_rows = artifact_rows.to_vec();
    let edges = graph.source.len() as u64;
    for buffer in &list.buffers {
        let Role::Given(input) = &buffer.role else { continue };
        match input {
            Input::Column(name) => {
                let given = inputs.columns.get(name).map_or(&[][..], Vec::as_slice);
                same(&format!("rows of the column `{name}`"), graph.nodes, given.len())?;
                world
                    .columns
                    .insert(name.clone(), whole_or_real(buffer.element, given.len(), 1, given));
            }
            Input::Chosen(setting) if !inputs.chosen.contains_key(setting) => {
                return Err(unfit(
                    format!("nodes that `{setting}` names"),
                    "rows of the graph",
                    "none",
                ));
            }
            Input::Kind | Input::PlaceAmong(_) => {
                same("kinds of nodes", graph.nodes, inputs.kind_of_node.len())?
            }
            Input::FeaturesOf(kind) => {
                let given = inputs.features_of_kind.get(kind).map_or(&[][..], Vec::as_slice);
                same(
                    &format!("features of kind {kind}"),
                    table_rows(buffer).saturating_mul(buffer.columns),
                    given.len(),
                )?;
                world.features_of_kind.insert(
                    *kind,
                    interpret::ElementRows::from_reals(
                        table_rows(buffer) as usize,
                        buffer.columns as usize,
                        given.to_vec(),
                    ),
                );
            }
            Input::EdgeFeatures => {
                let columns = buffer.columns as usize;
                same("features of edges", edges * buffer.columns, inputs.edge_features.len())?;
                world.edge_features = Some(interpret::ElementRows::from_reals(
                    edges as usize,
                    columns,
                    inputs.edge_features.clone(),
                ));
            }
            _ => {}
        }
    }
    if !inputs.edge_type.is_empty() || list_reads_relations(list) {
        same("relations of edges", edges, inputs.edge_type.len())?;
    }
    Ok(world)
}

/// Rows of a table.
fn table_rows(buffer: &Buffer) -> u64 {
    if let Rows::Fixed(rows) = buffer.rows { rows } else { 0 }
}

fn list_reads_relations(list: &LaunchList) -> bool {
    let given = |role: &Role| matches!(role, Role::Given(Input::EdgeType));
    crate::ListNeeds::from_list(list).relations
        || list.buffers.iter().any(|buffer| given(&buffer.role))
}

fn check_graph(graph: &ReferenceGraph) -> Result<(), ReferenceError> {
    same("targets of edges", graph.source.len() as u64, graph.target.len())?;
    if let Some(weight) = &graph.weight {
        same("weights of edges", graph.source.len() as u64, weight.len())?;
    }
    check_rows("source of an edge", &graph.source, graph.nodes)?;
    check_rows("target of an edge", &graph.target, graph.nodes)
}

/// Training rows must be rows of the target, if there is one.
fn check_training_rows(
    list: &LaunchList,
    graph: &ReferenceGraph,
    rows: &[u32],
) -> Result<(), ReferenceError> {
    let of_target =
        list.buffers.iter().find(|buffer| buffer.role == Role::Target).map(|buffer| buffer.rows);
    match of_target {
        Some(Rows::Graphs(count)) => match rows.iter().find(|row| u64::from(**row) >= count) {
            Some(row) => Err(unfit("training row", format!("a graph below {count}"), row)),
            None => Ok(()),
        },
        Some(_) => check_rows("training row", rows, graph.nodes),
        None => Ok(()),
    }
}

fn check_rows(what: &str, rows: &[u32], nodes: u64) -> Result<(), ReferenceError> {
    match rows.iter().find(|row| u64::from(**row) >= nodes) {
        Some(row) => Err(unfit(what, format!("a node below {nodes}"), row)),
        None => Ok(()),
    }
}

fn same(what: &str, expected: u64, found: usize) -> Result<(), ReferenceError> {
    if found as u64 == expected { Ok(()) } else { Err(unfit(what, expected, found)) }
}

fn unfit(what: impl Into<String>, expected: impl ToString, found: impl ToString) -> ReferenceError {
    ReferenceError::Unfit {
        what: what.into(),
        expected: expected.to_string(),
        found: found.to_string(),
    }
}
