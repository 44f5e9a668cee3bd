//! components: weakly connected components by the smallest id (the HCC of Pregel-like systems).
//!
//! promises  a vertex ends with the smallest id of its component; ids are rows of the graph
//!           artifact, whatever order the graph runs in
//! never     uses weights or the direction of edges
//! limits    as many supersteps as the longest shortest path to a component's smallest id, and one
//!           to detect convergence
use crate::builtin::Builtin;
use crate::builtin::draft::{Draft, DraftPart};
use crate::builtin::layers::LayerOrder;
use crate::builtin::settings::ChosenSettings;
use crate::{Combine, EdgeFactor, Expression, GraphFacts, LaunchList, Operation, StopCondition};
use warploom_ir::{Binary, Direction};

pub(super) const BUILTIN: Builtin = Builtin {
    name: "components",
    text: include_str!("../../../../pipelines/programs/components.py"),
    doc: "weakly connected components, labelled by the smallest id",
    learns: false,
    settings: &[],
    list,
};

fn list(_: &ChosenSettings, facts: &GraphFacts, _: LayerOrder) -> LaunchList {
    let mut draft = Draft::new(BUILTIN.name, facts);
    let label = draft.ids("label");
    let next = draft.ids("label.next");
    draft.push(
        DraftPart::Prepare,
        "start",
        Operation::Elementwise { out: label.clone(), expression: Expression::Id },
    );
    let reduce = Operation::NeighbourReduce {
        out: next.clone(),
        source: Some(label.clone()),
        // If each in-edge has its reverse, the second half of the neighbours repeats the first.
        direction: if facts.symmetric { Direction::In } else { Direction::Both },
        combine: Combine::Min,
        factor: EdgeFactor::One,
        epilogue: Expression::binary(
            Binary::Minimum,
            Expression::identity(),
            Expression::load(&*label),
        ),
    };
    draft.push(DraftPart::Step, "min", reduce);
    draft.iterate(&label, &next, StopCondition::Unchanged(vec![label.clone()]), Vec::new())
}
