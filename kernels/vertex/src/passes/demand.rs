//! demand: which rows of each value a training epoch needs, going back from the training rows.
//!
//! reason    only rows that reach a training row have a gradient: at the last layer of cora 140 of
//!           2,708; edge lists and products of the backward pass can be that much shorter, exactly
//! promises  rows outside of a value's demand are 0 (in the real numbers: of products with 0 and
//!           sums of them), or are read by no one, or only to be multiplied with such a 0. Leaving
//!           them out changes no result, loss or gradient while all values are finite; a NaN or
//!           infinity that would have met such a 0 is then not seen
//! never     removes anything (dead removes what nothing reads, gradients that nobody asked for
//!           among it); results are read in all rows, for every split is measured, so values going
//!           forward are demanded whole
//!
//! Steps along edges are counted in either direction; the bound is one step too large where an edge
//! value is read at both ends.
use crate::gir::{Binary, EdgeSet, Gir, NodeId, Op, Place, Pooling, Reduction, Unary};
use crate::launch::Direction;

/// Which rows of a value are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// None: it is 0 everywhere (and no constant), or nothing reads it.
    Nothing,
    /// Vertices (or graphs) that reach a training row in at most so many steps along edges; 0: the
    /// training rows. Of edge values: those at one of whose ends is such a vertex. Of shared
    /// values: their row.
    Hops(u32),
    /// Every row.
    All,
}

/// For each node, the rows that are needed.
pub fn demand(gir: &Gir) -> Vec<Demand> {
    let support = support(gir);
    let mut demand = vec![Demand::Nothing; gir.nodes.len()];
    for root in forward_roots(gir) {
        demand[root.index()] = Demand::All;
    }
    for gradient in &gir.gradients {
        demand[gradient.node.index()] = support[gradient.node.index()].rows();
    }
    for id in gir.ids().collect::<Vec<_>>().into_iter().rev() {
        // What is 0 outside of some rows is needed in those at most.
        let one_for_all = gir.node(id).place == Place::C;
        let own = if one_for_all {
            demand[id.index()]
        } else {
            demand[id.index()].smaller(support[id.index()].rows())
        };
        demand[id.index()] = own;
        let node = gir.node(id);
        for (position, input) in node.inputs.iter().enumerate() {
            let asked = asked(gir, id, position, own, &support);
            demand[input.index()] = demand[input.index()].larger(asked);
        }
    }
    demand
}

/// Everything that is read in all rows: what is not there for gradients alone.
fn forward_roots(gir: &Gir) -> Vec<NodeId> {
    let mut roots: Vec<NodeId> =
        gir.results.iter().map(|result| result.node).chain(gir.loss).collect();
    roots.extend(gir.updates.iter().map(|update| update.1));
    roots.extend(gir.roots().into_iter().filter(|root| gir.node(*root).region.is_some()));
    roots.extend(
        gir.loops.iter().flat_map(|repeated| {
            repeated.states.iter().flat_map(|state| [state.first, state.next])
        }),
    );
    roots
}

/// Rows of an input that a node needs, for so many of its own.
fn asked(gir: &Gir, id: NodeId, position: usize, own: Demand, support: &[Support]) -> Demand {
    let node = gir.node(id);
    let own = if own != Demand::Nothing && node.region.is_some() { Demand::All } else { own };
    match node.op {
        _ if own == Demand::Nothing => Demand::Nothing,
        Op::Loss(_) | Op::LossSlope(_) if position == 0 => Demand::Hops(0),
        // Rows that meet a 0 of the other side count for nothing.
        Op::Outer => support[node.inputs[1 - position].index()].rows(),
        Op::SumRows | Op::Scatter { .. } => support[node.inputs[0].index()].rows(),
        Op::Pool(_) | Op::Give => {
            if own == Demand::Nothing {
                own
            } else {
                Demand::All
            }
        }
        Op::Far(_) | Op::Near(_) | Op::Winner(..) | Op::Others(_) => own.further(),
        _ => own,
    }
}

/// Rows outside of which a value is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    Nowhere,
    /// Of vertices: within so many steps. Of edges: that end is.
    Within(u32, End),
    Everywhere,
}

/// End of an edge; of lists over both directions, where an edge has two rows: near is `Target`, far
/// is `Source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Target,
    Source,
}

impl Support {
    fn rows(self) -> Demand {
        match self {
            Support::Nowhere => Demand::Nothing,
            Support::Within(hops, _) => Demand::Hops(hops),
            Support::Everywhere => Demand::All,
        }
    }

    fn hops(self) -> u32 {
        match self {
            Support::Nowhere => 0,
            Support::Within(hops, _) => hops,
            Support::Everywhere => u32::MAX,
        }
    }

    /// 0 where either is.
    fn both(self, other: Support) -> Support {
        match (self, other) {
            (Support::Nowhere, _) | (_, Support::Nowhere) => Support::Nowhere,
            _ => {
                if other.hops() < self.hops() {
                    other
                } else {
                    self
                }
            }
        }
    }

    /// 0 where both are.
    fn either(self, other: Support) -> Support {
        match (self, other) {
            (Support::Nowhere, support) | (support, Support::Nowhere) => support,
            (Support::Within(a, first), Support::Within(b, second)) if first == second => {
                Support::Within(a.max(b), first)
            }
            (Support::Within(a, first), Support::Within(b, _)) => {
                Support::Within(a.max(b.saturating_add(1)), first)
            }
            _ => Support::Everywhere,
        }
    }
}

impl Demand {
    fn hops(self) -> u64 {
        match self {
            Demand::Nothing => 0,
            Demand::Hops(hops) => 1 + u64::from(hops),
            Demand::All => u64::MAX,
        }
    }

    fn smaller(self, other: Demand) -> Demand {
        if other.hops() < self.hops() { other } else { self }
    }

    fn larger(self, other: Demand) -> Demand {
        if other.hops() > self.hops() { other } else { self }
    }

    fn further(self) -> Demand {
        match self {
            Demand::Hops(hops) => Demand::Hops(hops.saturating_add(1)),
            demand => demand,
        }
    }
}

fn support(gir: &Gir) -> Vec<Support> {
    let mut support = vec![Support::Everywhere; gir.nodes.len()];
    for id in gir.ids() {
        support[id.index()] = support_of(gir, id, &support);
    }
    support
}

fn support_of(gir: &Gir, id: NodeId, support: &[Support]) -> Support {
    let node = gir.node(id);
    let of = |position: usize| support[node.inputs[position].index()];
    match &node.op {
        // The state of another superstep is not known here.
        _ if node.region.is_some() => Support::Everywhere,
        Op::Constant(number) if number.real() == 0.0 => Support::Nowhere,
        Op::LossSlope(_) => Support::Within(0, End::Target),
        Op::Binary(Binary::Multiply | Binary::And) => of(0).both(of(1)),
        Op::Binary(Binary::Add | Binary::Subtract) => of(0).either(of(1)),
        Op::Binary(Binary::Divide) => of(0),
        Op::Select => of(1).either(of(2)),
        Op::Unary(
            Unary::Negative
            | Unary::Absolute
            | Unary::Sqrt
            | Unary::Square
            | Unary::Relu
            | Unary::LeakyRelu(_)
            | Unary::Elu
            | Unary::Gelu
            | Unary::Silu
            | Unary::Tanh
            | Unary::Floor
            | Unary::Erf,
        ) => of(0),
        Op::Cast(_)
        | Op::Dropout { .. }
        | Op::Detach
        | Op::Axis(Pooling::Sum, _)
        | Op::Reshape
        | Op::Expand
        | Op::Slice { .. }
        | Op::Unslice { .. }
        | Op::Product { .. } => of(0),
        Op::Concat(_) => node
            .inputs
            .iter()
            .map(|input| support[input.index()])
            .fold(Support::Nowhere, Support::either),
        Op::Far(edges) => seen(of(0), end(*edges, false)),
        Op::Near(edges) => seen(of(0), end(*edges, true)),
        Op::Reduce(Reduction::Sum, edges) => match of(0) {
            Support::Within(hops, at) if at == end(*edges, true) => {
                Support::Within(hops, End::Target)
            }
            Support::Within(hops, _) => Support::Within(hops.saturating_add(1), End::Target),
            support => support,
        },
        Op::SumRows | Op::Scatter { .. } | Op::Pool(_) | Op::Give if of(0) == Support::Nowhere => {
            Support::Nowhere
        }
        Op::Outer if of(0).both(of(1)) == Support::Nowhere => Support::Nowhere,
        _ => Support::Everywhere,
    }
}

/// Which end of an edge a view shows.
fn end(edges: EdgeSet, near: bool) -> End {
    let incoming = edges.direction != Direction::Out;
    if near == incoming { End::Target } else { End::Source }
}

fn seen(rows: Support, end: End) -> Support {
    match rows {
        Support::Within(hops, _) => Support::Within(hops, end),
        support => support,
    }
}
