//! edge_sums: the sums of passes over edges: their registers, and the statements that initialise,
//! update and merge them, for every edge schedule.
//!
//! promises  parts of a sum are merged in the order of the edges; a sum that is relative to a
//!           maximum score names that score
//! never     assigns edges to threads
use super::lane_layout::{Lanes, Spread, Table};
use super::operators::{join_parts, start};
use super::statement_text::{LoadsOf, declare, define, for_places};
use super::statements::{
    Elements, Reads, RegisterValue, Source, Statement, Statements, SumStatement,
};
use warploom_ir::{Reduction, Type};

/// A reduction over edges, for one layout of its elements.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub step: usize,
    pub table: Table,
    pub held: RegisterValue,
    pub reduction: Reduction,
    /// Running maxima that its terms are relative to.
    pub largest: Vec<Largest>,
}

/// The running maximum of a score, for one layout of its elements.
#[derive(Clone, Debug)]
pub(super) struct Largest {
    /// Its register, and the score of each edge in flight.
    pub held: RegisterValue,
    pub score: RegisterValue,
    /// The value that is subtracted from each score.
    pub shift: RegisterValue,
    /// The factor of earlier sums.
    pub scale: RegisterValue,
}

/// Statements of a pass over edges.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgePass {
    /// Addresses, in row 0, of the buffers whose rows edges read.
    pub places: Statements,
    /// Loads, for edge `k` in flight.
    pub loads: Statements,
    /// What is done with all edges in flight before each of them: values that each lane computes
    /// for its own edge, the running maximum, and the rescaling of sums.
    pub first: Statements,
    /// What is done with each edge.
    pub work: Statements,
    pub sums: Vec<Sum>,
    pub largest: Vec<Largest>,
    /// Merges the sums of single lanes, after the loop.
    pub end: Statements,
}

impl EdgePass {
    /// What its statements read of edges, rows and values, with this rule for absent edges.
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

    /// Elements per lane that are loaded for an edge.
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

    /// Rows that are loaded for an edge by all lanes.
    fn rows_loaded(&self) -> impl Iterator<Item = &RegisterValue> {
        self.loads.0.iter().filter_map(Statement::value).filter(|value| value.many)
    }

    /// The number of these rows.
    pub fn count_of_rows(&self) -> usize {
        self.rows_loaded().count()
    }

    /// Elements per lane that are computed from the loaded ones.
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
    /// Statements that declare and initialise its registers.
    pub fn emit_opening(&self) -> String {
        let begin = start(self.reduction, self.held.kind).unwrap_or_default();
        define(&self.held, &self.for_each(|at| format!("{at} = {begin};")))
    }

    /// Applies other text to each of its elements.
    pub fn for_each(&self, line: impl Fn(&str) -> String) -> String {
        for_places(&self.held, &line(&self.held.at()))
    }

    /// Elements per lane.
    pub fn elements(&self, lanes: &Lanes) -> usize {
        lanes.elements(self.held.spread)
    }

    /// The number of an element among those of a lane, as an expression inside a statement for
    /// each.
    pub fn number(&self) -> &'static str {
        match self.held.spread {
            Spread::All => "0",
            Spread::Group => "q",
            Spread::Run | Spread::Each => "q * V + j",
        }
    }

    /// The type of its elements.
    pub fn kind(&self) -> Type {
        self.held.kind
    }

    /// Whether it is a maximum score that other sums are relative to.
    pub fn is_running(&self, pass: &EdgePass) -> bool {
        pass.largest.iter().any(|largest| self.is_that(largest))
    }

    /// Whether its register is that of this maximum.
    pub fn is_that(&self, largest: &Largest) -> bool {
        largest.held.name == self.held.name
    }

    /// Merges another part, which comes later.
    pub fn join_part(&self, other: &str) -> String {
        join_parts(self.reduction, self.held.kind, &self.held.at(), other)
    }
}

impl Largest {
    /// Statements that save the maximum of a group.
    pub fn store_group_value(&self) -> String {
        let alone = self.alone();
        let line = format!("{} = {};", alone.at(), self.held.at());
        format!("{} {}", declare(&alone), for_places(&alone, &line))
    }

    /// Statements that compute the group's rescaling factor once the common maximum is known.
    pub fn merge_group_values(&self) -> String {
        let alone = self.alone().at();
        for_places(&self.held, &format!("{alone} = grown({alone}, {});", self.held.at()))
    }

    /// The rescaling factor of the group's sums.
    pub fn factor(&self) -> String {
        self.alone().at()
    }

    fn alone(&self) -> RegisterValue {
        RegisterValue { name: format!("alone_{}", self.held.name), ..self.held.clone() }
    }
}
