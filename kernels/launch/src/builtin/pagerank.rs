//! pagerank: rank of vertices by the rank of who points at them (Brin & Page, The Anatomy of a
//! Large-Scale Hypertextual Web Search Engine, 1998).
//!
//! A superstep is two launches: `contribution = rank / outdegree` once per vertex, not once per
//! edge, then the sum over in-edges with `base + damping * sum` as its epilogue.
//!
//! promises  rank starts at 1/N; parallel edges and self loops count individually; ranks of
//!           vertices without out-edges are dropped, so that the ranks need not sum to 1
//! never     uses edge weights; reads a rank of the current superstep
use crate::builtin::Builtin;
use crate::builtin::draft::{Draft, DraftPart};
use crate::builtin::layers::LayerOrder;
use crate::builtin::settings::{ChosenSettings, Domain, Setting};
use crate::{EdgeFactor, Expression, GraphFacts, LaunchList, Operation, Reason, StopCondition};
use warploom_ir::{Direction, Unary};

pub(super) const BUILTIN: Builtin = Builtin {
    name: "pagerank",
    text: include_str!("../../../../pipelines/programs/pagerank.py"),
    doc: "PageRank (Brin & Page 1998), the rank of vertices without out-edges dropped",
    learns: false,
    settings: &[
        Setting {
            name: "damping",
            domain: Domain::Real { default: 0.85, least: 0.0, bound: 1.0, inclusive: true },
            doc: "share of the rank that follows edges",
        },
        Setting {
            name: "tolerance",
            domain: Domain::Real {
                default: 1e-6,
                least: 0.0,
                bound: f64::INFINITY,
                inclusive: false,
            },
            doc: "summed change of all ranks at which it stops",
        },
    ],
    list,
};

fn list(settings: &ChosenSettings, facts: &GraphFacts, _: LayerOrder) -> LaunchList {
    let (damping, tolerance) = (settings.real("damping"), settings.real("tolerance"));
    let nodes = facts.nodes.max(1) as f64;
    let mut draft = Draft::new(BUILTIN.name, facts);
    let share = draft.value("share", 1);
    let rank = draft.value("rank", 1);
    let contribution = draft.value("contribution", 1);
    let next = draft.value("rank.next", 1);
    // If each in-edge has its reverse, the in-degree is the out-degree, and one set of offsets is
    // enough.
    let direction = if facts.symmetric { Direction::In } else { Direction::Out };
    let inverse = Expression::identity()
        .if_positive(Expression::unary(Unary::Reciprocal, Expression::identity()));
    draft.push(
        DraftPart::Prepare,
        "share",
        Operation::degree(&share, direction, EdgeFactor::One, inverse),
    );
    let start =
        Operation::Elementwise { out: rank.clone(), expression: Expression::Constant(1.0 / nodes) };
    draft.push(DraftPart::Prepare, "start", start);
    let expression = Expression::load(&*rank).times(Expression::load(share));
    draft.push(
        DraftPart::Step,
        "contribution",
        Operation::Elementwise { out: contribution.clone(), expression },
    );
    let damped = Expression::Constant(damping).times(Expression::identity());
    let epilogue = Expression::Constant((1.0 - damping) / nodes).plus(damped);
    draft.push(
        DraftPart::Step,
        "sum",
        Operation::sum(&next, &contribution, Direction::In, EdgeFactor::One, epilogue),
    );
    draft.iterate(
        &rank,
        &next,
        StopCondition::ChangeAtMost(rank.clone(), tolerance),
        vec![reason(facts)],
    )
}

fn reason(facts: &GraphFacts) -> Reason {
    let (nodes, edges, real) = (facts.nodes, facts.edges, facts.bytes_per_real);
    let by_vertex = nodes.saturating_mul(3 * real).saturating_add(edges.saturating_mul(real));
    let by_edge = edges.saturating_mul(2 * real);
    Reason {
        what: "division by the out-degree".to_owned(),
        chosen: "once a vertex".to_owned(),
        why: "an edge then gathers one number; bytes a superstep beyond offsets, neighbours and \
              the result"
            .to_owned(),
        alternatives: [
            ("once a vertex".to_owned(), by_vertex),
            ("once an edge".to_owned(), by_edge),
        ]
        .into(),
    }
}
