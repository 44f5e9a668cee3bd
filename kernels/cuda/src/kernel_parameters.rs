//! kernel_parameters: the parameters of a kernel: their declarations and their arguments.
//!
//! promises  parameters are in the order of the requests, each once; everything that statements
//!           read is among them
//! never     searches the text of a kernel
use super::statement_text::{self, output, pointer};
use super::statements::{Reads, Source, Stream};
use super::walk_lowering::WalkLowering;
use super::walk_steps::{Step, Walk};
use super::{Argument, Cut, ListPart, Tier, WalkedLists};
use warploom_ir::{Direction, Type};
use warploom_launch::{Element, Rows};

/// A parameter: its declaration, its argument, and whether the kernel writes through it.
struct Parameter {
    declared: String,
    given: Argument,
    is_written: bool,
}

/// Parameters of a kernel, in order, each once.
#[derive(Default)]
pub(super) struct Parameters(Vec<Parameter>);

impl Parameters {
    pub fn new() -> Self {
        Parameters::default()
    }

    /// Adds a parameter that the kernel reads.
    pub fn push(&mut self, declared: impl Into<String>, given: Argument) {
        self.add(declared.into(), given, false);
    }

    /// Adds a pointer that the kernel writes through.
    pub fn push_output(&mut self, declared: impl Into<String>, given: Argument) {
        self.add(declared.into(), given, true);
    }

    fn add(&mut self, declared: String, given: Argument, is_written: bool) {
        if self.0.iter().all(|known| known.declared != declared) {
            self.0.push(Parameter { declared, given, is_written });
        }
    }

    /// Adds the list offsets of each item, and its row.
    pub fn items(&mut self, walked: &WalkedLists) {
        self.push(
            "const unsigned* __restrict__ item_row",
            Argument::Items(walked.clone(), ListPart::Row),
        );
        self.push(
            "const unsigned* __restrict__ item_offset",
            Argument::Items(walked.clone(), ListPart::Offset),
        );
    }

    /// Adds the number of items per row class.
    pub fn tiers(&mut self, walked: &WalkedLists, cut: Cut) {
        if cut.hub_blocks > 0 {
            self.push("const unsigned hub_items", Argument::Count(walked.clone(), cut, Tier::Hub));
            self.push("const unsigned pieces", Argument::Count(walked.clone(), cut, Tier::Pieces));
            self.push_output("double* __restrict__ parts_of_hubs", Argument::Scratch);
            self.push_output("unsigned* ticket", Argument::Ticket);
        }
        for (declared, tier) in [
            ("const unsigned block_items", Tier::Block),
            ("const unsigned warp_items", Tier::Warp),
            ("const unsigned items", Tier::All),
        ] {
            self.push(declared, Argument::Count(walked.clone(), cut, tier));
        }
    }

    /// Adds everything that the statements of a kernel read, as far as this walk provides it.
    pub fn add_reads(&mut self, lowering: &WalkLowering, reads: &Reads) {
        for (number, leaf) in lowering.walk.leaves.iter().enumerate() {
            if lowering.streams.contains(&Stream::Given(number)) {
                let direction = lowering.walk.direction().unwrap_or(Direction::In);
                self.push(
                    format!(
                        "const {}* __restrict__ {}",
                        stored(leaf.element),
                        statement_text::slots(&leaf.name)
                    ),
                    Argument::Slots(leaf.name.clone(), direction.into()),
                );
            }
            let is_declared = lowering.walk.changing.contains(&leaf.name);
            if reads.contains(&Source::Rows(leaf.name.clone())) && !is_declared {
                self.push(
                    format!("const {}* __restrict__ {}", stored(leaf.element), pointer(&leaf.name)),
                    Argument::Buffer(leaf.name.clone()),
                );
            }
        }
        for (source, given) in [
            (Source::Draw, &lowering.seen),
            (Source::Training, &lowering.seen),
            (Source::RowInGraph, reads),
            (Source::Graph, &lowering.seen),
            (Source::EdgeEnds, reads),
        ] {
            if given.contains(&source) {
                self.add_source(&source);
            }
        }
    }

    fn add_source(&mut self, source: &Source) {
        match source {
            Source::Draw => {
                self.push("const Clock* __restrict__ clock", Argument::Clock);
                self.push("const uint2 seed", Argument::Seed);
            }
            Source::Training => self.push("const unsigned training", Argument::Training),
            Source::RowInGraph => {
                self.push("const unsigned* __restrict__ rows_in_graph", Argument::RowInGraph);
            }
            Source::Graph => self.push("const unsigned* __restrict__ graph_of", Argument::GraphOf),
            Source::EdgeEnds => {
                self.push("const unsigned* __restrict__ source", Argument::Source);
                self.push("const unsigned* __restrict__ target", Argument::Target);
                self.push("const unsigned edges_once", Argument::RowCount(Rows::Edges));
            }
            // Edge lists, and results of other statements.
            Source::Rows(_)
            | Source::Stream(_)
            | Source::StreamOfLane(_)
            | Source::Value(_)
            | Source::LaneEdge
            | Source::Begun => {}
        }
    }

    /// Adds the buffers that a walk stores to.
    pub fn stored(&mut self, walk: &Walk) {
        let is_given = |step: &&Step| step.stored && !walk.changing.contains(&step.out);
        for step in walk.steps.iter().filter(is_given) {
            self.push_output(
                format!("{}* __restrict__ {}", stored_kind(step.kind), output(&step.out)),
                Argument::Buffer(step.out.clone()),
            );
        }
    }

    /// Switches to the lists of edges in the order of the csr.
    pub fn take_csr_order(&mut self) {
        self.0.iter_mut().for_each(|known| known.given.take_csr_order());
    }

    pub fn text(&self) -> String {
        let declared: Vec<&str> = self.0.iter().map(|known| known.declared.as_str()).collect();
        declared.join(", ")
    }

    /// Which parameters the kernel writes through.
    pub fn written(&self) -> Vec<bool> {
        self.0.iter().map(|known| known.is_written).collect()
    }

    pub fn arguments(&self) -> Vec<Argument> {
        self.0.iter().map(|known| known.given.clone()).collect()
    }
}

/// The type of an element in memory.
pub(super) fn stored(element: Element) -> &'static str {
    match element {
        Element::Real | Element::Half(_) => "real",
        Element::Whole(kind) => stored_kind(kind),
    }
}

/// The type of a value of this kind in memory.
pub(super) fn stored_kind(kind: Type) -> &'static str {
    match kind {
        Type::Real => "real",
        Type::Int => "whole",
        Type::Id | Type::Bool => "narrow",
    }
}

/// Declares the facts of a row that its statements read.
pub(super) fn emit_row_context(reads: &Reads) -> String {
    let mut about = String::new();
    if reads.contains(&Source::RowInGraph) {
        about.push_str(
            "const unsigned row_in_graph = rows_in_graph ? __ldg(rows_in_graph + v) : v;\n",
        );
    }
    if reads.contains(&Source::Graph) {
        about.push_str("const unsigned graph = graph_of ? __ldg(graph_of + v) : 0;\n");
    }
    if reads.contains(&Source::EdgeEnds) {
        about.push_str(
            "const bool turned = v >= edges_once;\nconst unsigned edge_once = turned ? \
            v - edges_once : v;\n",
        );
        about.push_str(
            "const unsigned near = __ldg((turned ? source : target) + edge_once), far \
            = __ldg((turned ? target : source) + edge_once);\n",
        );
    }
    about
}
