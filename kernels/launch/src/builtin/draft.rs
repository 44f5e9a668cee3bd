//! draft: a builder for launch lists.
//!
//! promises  a buffer is declared where its launch is added; bytes and schedules are filled in at
//!           the end, all by one rule
//! never     decides what is computed
use crate::{
    Arena, Body, Buffer, BufferName, Commit, Element, GraphFacts, Iterate, Launch, LaunchList,
    Loop, Operation, Parameter, Reason, ResultColumn, Role, Rows, StopCondition, Train,
    gradient_buffer, parameter_buffer,
};
use warploom_ir::{Init, Loss};

/// Buffer of the features.
pub(super) const FEATURES: &str = "x";
/// Buffer of the target.
const TARGET: &str = "target";

/// A launch list under construction.
pub(super) struct Draft<'a> {
    pub facts: &'a GraphFacts,
    program: &'static str,
    buffers: Vec<Buffer>,
    parameters: Vec<Parameter>,
    prepare: Vec<Launch>,
    steps: Vec<Launch>,
    backward: Vec<Launch>,
}

/// The part of a list that a launch is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DraftPart {
    /// Once.
    Prepare,
    /// Forward pass or superstep.
    Step,
    /// Backward pass.
    Backward,
}

impl<'a> Draft<'a> {
    pub fn new(program: &'static str, facts: &'a GraphFacts) -> Self {
        let (prepare, steps, backward) = (Vec::new(), Vec::new(), Vec::new());
        Draft {
            facts,
            program,
            buffers: Vec::new(),
            parameters: Vec::new(),
            prepare,
            steps,
            backward,
        }
    }

    /// Declares a float buffer with a row per node, written by launches.
    pub fn value(&mut self, name: impl Into<BufferName>, columns: u64) -> BufferName {
        self.buffer(name.into(), Rows::Nodes, columns, Role::Value)
    }

    /// Declares a buffer of ids, one per node.
    pub fn ids(&mut self, name: &str) -> BufferName {
        let name = self.value(name, 1);
        if let Some(buffer) = self.buffers.last_mut() {
            buffer.element = Element::Id;
        }
        name
    }

    /// Declares the features, dense or sparse as the facts say.
    pub fn features(&mut self) -> BufferName {
        let role = if self.facts.sparse_features.is_some() {
            Role::SparseFeatures
        } else {
            Role::Features
        };
        self.buffer(FEATURES.to_owned(), Rows::Nodes, self.facts.feature_columns, role)
    }

    /// Declares a weight `[out, in]`, and its gradient when training.
    pub fn weight(&mut self, name: &str, out: u64, inner: u64) {
        self.parameter(name, vec![out, inner], Init::GlorotUniform);
    }

    /// Declares a bias, and its gradient when training.
    pub fn bias(&mut self, name: &str, columns: u64) {
        self.parameter(name, vec![columns], Init::Zero);
    }

    /// Adds a launch.
    pub fn push(&mut self, part: DraftPart, name: impl Into<String>, operation: Operation) {
        let launches = match part {
            DraftPart::Prepare => &mut self.prepare,
            DraftPart::Step => &mut self.steps,
            DraftPart::Backward => &mut self.backward,
        };
        launches.push(Launch::unreckoned(name.into(), operation));
    }

    /// Declares what the loss needs; returns the name of the result's gradient.
    pub fn slope_of_result(&mut self, result: &str) -> BufferName {
        let columns = match self.facts.loss {
            Loss::CrossEntropy => 1,
            Loss::MeanSquares | Loss::Binary => self.facts.classes,
        };
        self.buffer(TARGET.to_owned(), Rows::Nodes, columns, Role::Target);
        self.buffer("loss".to_owned(), Rows::Fixed(1), 1, Role::Value);
        self.value(format!("slope.{result}"), self.facts.classes)
    }

    /// The list of a program that learns.
    pub fn train(self, result: &str, draws: bool) -> LaunchList {
        let operation = Operation::Loss {
            kind: self.facts.loss,
            result: result.to_owned(),
            target: TARGET.to_owned(),
            gradient: format!("slope.{result}"),
            value: "loss".to_owned(),
        };
        let learned = if self.facts.training { self.parameters.as_slice() } else { &[] };
        let optimize = |parameter: &Parameter| {
            let operation = Operation::Optimize { parameter: parameter.name.clone() };
            Launch::unreckoned(format!("update.{}", parameter.name), operation)
        };
        let update = learned.iter().map(optimize).collect();
        let loss = Launch::unreckoned("loss".to_owned(), operation);
        let body = Train {
            prepare: self.prepare,
            forward: self.steps,
            loss,
            backward: self.backward,
            update,
            statistics: Vec::new(),
            draws,
        };
        let results = vec![ResultColumn {
            name: "scores".to_owned(),
            buffer: result.to_owned(),
            edges: None,
        }];
        let mut list = LaunchList {
            program: self.program.to_owned(),
            buffers: self.buffers,
            parameters: self.parameters,
            body: Body::Train(body),
            results,
            arena: Arena::default(),
            reasons: Vec::new(),
            lines: std::collections::BTreeMap::new(),
        };
        list.reckon(self.facts);
        list
    }

    /// The list of a program that iterates one state.
    pub fn iterate(
        self,
        state: &str,
        next: &str,
        until: StopCondition,
        reasons: Vec<Reason>,
    ) -> LaunchList {
        let commit = vec![Commit { state: state.to_owned(), next: next.to_owned() }];
        let mut list = LaunchList {
            program: self.program.to_owned(),
            buffers: self.buffers,
            parameters: self.parameters,
            body: Body::Iterate(Iterate {
                loops: vec![Loop {
                    prepare: self.prepare,
                    superstep: self.steps,
                    commit,
                    until,
                    course: None,
                    frontier: None,
                }],
                finish: Vec::new(),
            }),
            results: vec![ResultColumn {
                name: state.to_owned(),
                buffer: state.to_owned(),
                edges: None,
            }],
            arena: Arena::default(),
            reasons,
            lines: std::collections::BTreeMap::new(),
        };
        list.set_courses();
        list.set_frontiers();
        list.reckon(self.facts);
        list.weigh_loops();
        list
    }

    fn parameter(&mut self, name: &str, shape: Vec<u64>, init: Init) {
        let columns = shape.last().copied().unwrap_or(1);
        let rows = if shape.len() == 2 { shape[0] } else { 1 };
        self.buffer(parameter_buffer(name), Rows::Fixed(rows), columns, Role::Parameter);
        if self.facts.training {
            self.buffer(gradient_buffer(name), Rows::Fixed(rows), columns, Role::Gradient);
        }
        self.parameters.push(Parameter { name: name.to_owned(), shape, init, learned: true });
    }

    fn buffer(&mut self, name: BufferName, rows: Rows, columns: u64, role: Role) -> BufferName {
        self.buffers.push(Buffer {
            name: name.clone(),
            rows,
            columns,
            element: Element::Real,
            role,
        });
        name
    }
}
