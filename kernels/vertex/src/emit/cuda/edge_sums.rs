//! edge_sums: what passes over edges add up: registers, and the statements that open, change and
//! join them, in whichever way a schedule deals out edges.
//!
//! promises  parts of a sum are joined in the order of the edges; a sum that is relative to a
//!           largest score says to which
//! never     says who has which edges
use super::lane_layout::{Lanes, Spread, Table};
use super::operators::{join_parts, start};
use super::statement_text::{LoadsOf, declare, define, for_places};
use super::statements::{
    Elements, Reads, RegisterValue, Source, Statement, Statements, SumStatement,
};
use crate::gir::{Reduction, Type};

/// What a reduction adds up, for one way in which its elements lie.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub step: usize,
    pub table: Table,
    pub held: RegisterValue,
    pub reduction: Reduction,
    /// Largest scores so far that its terms are taken relative to.
    pub largest: Vec<Largest>,
}

/// The largest score so far, for one way in which its elements lie.
#[derive(Clone, Debug)]
pub(super) struct Largest {
    /// Where it is held, and the score of each edge at hand.
    pub held: RegisterValue,
    pub score: RegisterValue,
    /// What is taken off each score.
    pub shift: RegisterValue,
    /// What sums so far are multiplied with.
    pub scale: RegisterValue,
}

/// Statements of a pass over edges.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgePass {
    /// Where lanes' places of all rows lie that are read of edges.
    pub places: Statements,
    /// Loads, for edge `k` of those at hand.
    pub loads: Statements,
    /// What is done with all edges at hand before each of them: what each lane makes of an edge of
    /// its own, the largest score so far, and sums relative to it.
    pub first: Statements,
    /// What is done with each edge.
    pub work: Statements,
    pub sums: Vec<Sum>,
    pub largest: Vec<Largest>,
    /// What joins lanes' own sums, behind it.
    pub end: Statements,
}

impl EdgePass {
    /// What its statements read of edges, rows and values, where loads are of these edges.
    pub fn reads(&self, loads: LoadsOf) -> Reads {
        let mut reads = Reads::new();
        [&self.loads, &self.first, &self.work]
            .into_iter()
            .for_each(|statements| statements.add_reads(&mut reads));
        if loads == LoadsOf::PresentEdges && self.loads_of_lanes() {
            reads.insert(Source::LaneEdge);
        }
        reads
    }

    /// All statements, in order.
    pub fn statements(&self) -> [&Statements; 5] {
        [&self.places, &self.loads, &self.first, &self.work, &self.end]
    }

    fn loads_of_lanes(&self) -> bool {
        self.loads
            .0
            .iter()
            .any(|statement| matches!(statement, Statement::Load(load) if !load.value.many))
    }

    /// Elements of a lane that are loaded of an edge.
    pub fn loaded(&self, lanes: &Lanes) -> Elements {
        let mut loaded = Elements::default();
        let mut add = |value: &RegisterValue| {
            loaded.add(value.kind, lanes.elements(value.spread));
        };
        self.rows_loaded().for_each(&mut add);
        for statement in &self.first.0 {
            if let Statement::Sum(SumStatement::ScoreEdges { score, .. }) = statement {
                add(score);
            }
        }
        loaded
    }

    /// Rows that are loaded of an edge for all lanes.
    fn rows_loaded(&self) -> impl Iterator<Item = &RegisterValue> {
        self.loads.0.iter().filter_map(Statement::value).filter(|value| value.many)
    }

    /// How many of them.
    pub fn count_of_rows(&self) -> usize {
        self.rows_loaded().count()
    }

    /// Elements of a lane that are made of what is loaded.
    pub fn made(&self, lanes: &Lanes) -> Elements {
        let mut made = Elements::default();
        self.first.add_made(lanes, &mut made);
        self.work.add_made(lanes, &mut made);
        for value in self.loads.0.iter().filter_map(Statement::value).filter(|value| !value.many) {
            made.add(value.kind, lanes.elements(value.spread));
        }
        made
    }
}

impl Sum {
    /// Statements that open its registers.
    pub fn emit_opening(&self) -> String {
        let begin = start(self.reduction, self.held.kind).unwrap_or_default();
        define(&self.held, &self.for_each(|at| format!("{at} = {begin};")))
    }

    /// What other text does with each of its elements.
    pub fn for_each(&self, line: impl Fn(&str) -> String) -> String {
        for_places(&self.held, &line(&self.held.at()))
    }

    /// Elements of a lane.
    pub fn elements(&self, lanes: &Lanes) -> usize {
        lanes.elements(self.held.spread)
    }

    /// The number of an element among those of a lane, as a text within a statement for each.
    pub fn number(&self) -> &'static str {
        match self.held.spread {
            Spread::All => "0",
            Spread::Group => "q",
            Spread::Run | Spread::Each => "q * V + j",
        }
    }

    /// Type of what is added up.
    pub fn kind(&self) -> Type {
        self.held.kind
    }

    /// Whether it is a largest score that others are relative to.
    pub fn is_running(&self, pass: &EdgePass) -> bool {
        pass.largest.iter().any(|largest| self.is_that(largest))
    }

    /// Whether it is this one.
    pub fn is_that(&self, largest: &Largest) -> bool {
        largest.held.name == self.held.name
    }

    /// Joins another part, which comes later.
    pub fn join_part(&self, other: &str) -> String {
        join_parts(self.reduction, self.held.kind, &self.held.at(), other)
    }
}

impl Largest {
    /// Statements that take down what a group found.
    pub fn store_group_value(&self) -> String {
        let alone = self.alone();
        let line = format!("{} = {};", alone.at(), self.held.at());
        format!("{} {}", declare(&alone), for_places(&alone, &line))
    }

    /// Statements that make of that what the group's sums are multiplied with, when all is found.
    pub fn merge_group_values(&self) -> String {
        let alone = self.alone().at();
        for_places(&self.held, &format!("{alone} = grown({alone}, {});", self.held.at()))
    }

    /// What the group's sums are multiplied with.
    pub fn factor(&self) -> String {
        self.alone().at()
    }

    fn alone(&self) -> RegisterValue {
        RegisterValue { name: format!("alone_{}", self.held.name), ..self.held.clone() }
    }
}
