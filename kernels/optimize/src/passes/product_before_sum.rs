//! product_before_sum: moves a sum over edges to the narrower side of a dense product, where that
//! moves fewer bytes.
//!
//! reason    `(sum of x_u) W` is `sum of (x W)_u`: the sum may run over the rows before the product
//!           (type 2 of the GNNA paper) or after it (type 1). The sum reads a row per edge, so its
//!           width decides. A term added to the sum passes through the product with it, if it is
//!           the summing vertex's row of the same value (`self_row_product`)
//! keeps     the value as a real number; it is rounded in another order. Between product and sum
//!           only numbers of a vertex or an edge (rows of shape []) are allowed, as factor, divisor
//!           or condition
//! weighs    all bytes that an epoch (or one prediction) moves for both values. In the backward
//!           pass the sum runs once more along the reversed edges: after the product always, before
//!           it only if a gradient of x is needed. A sum of values that no epoch changes is
//!           computed once, before the first epoch, and counts nothing
//!
//! It runs before `autodiff`, so that the gradient follows the chosen order: each forward sum is
//! one backward sum of the same width. It does not run after it: a backward sum often serves two
//! gradients, and would be computed twice.
mod self_row_product;

use super::{
    Choice, dead_code, loop_invariants, moved_bytes,
    rebuild::{Site, rebuild},
};
use warploom_ir::{
    Binary, Builder, Data, EdgeSet, Gir, Input, Misfit, NodeId, Op, Place, Reduction, Unary,
};

/// The program with its sums on the narrower side.
pub(super) fn run(gir: Gir, data: &Data, choices: &mut Vec<Choice>) -> Gir {
    let facts = NodeFacts::new(&gir);
    rebuild(&gir, data, None, &mut |builder, site| {
        let found = match site.node.op {
            _ if !facts.live[site.id.index()] => None,
            Op::Product { .. } => facts.sum_first(site.id),
            Op::Reduce(Reduction::Sum, _) => facts.product_first(site.id),
            _ => None,
        };
        let Some(chain) = found else {
            let terms =
                if facts.live[site.id.index()] { facts.own_and_sums(site.id) } else { None };
            let Some(terms) = terms else { return Ok(None) };
            let choice = facts.weigh_terms(&terms, site.id, data);
            let taken = choice.taken;
            choices.push(choice);
            return if taken { terms.built(builder, site).map(Some) } else { Ok(None) };
        };
        let choice = facts.weigh(&chain, site.id, data);
        let taken = choice.taken;
        choices.push(choice);
        if taken { chain.built(builder, site, !chain.sum_was_first).map(Some) } else { Ok(None) }
    })
}

/// A factor, divisor or condition of a row.
#[derive(Clone, Copy)]
enum RowFactor {
    Times(NodeId),
    Over(NodeId),
    /// Kept where the condition holds (true) or does not.
    Where(NodeId, bool),
    Negative,
}

/// A product and a sum over edges, with only numbers between them. Ids are those of the old
/// program.
struct Chain {
    sum_was_first: bool,
    edges: EdgeSet,
    mask: Option<NodeId>,
    x: NodeId,
    matrix: NodeId,
    transposed: bool,
    view: Op,
    /// From x outward, the factors of: rows before the view, edges, sums.
    steps: [Vec<RowFactor>; 3],
}

struct NodeFacts<'g> {
    gir: &'g Gir,
    live: Vec<bool>,
    users: Vec<usize>,
    constant: Vec<bool>,
    learned: Vec<bool>,
}

impl<'g> NodeFacts<'g> {
    fn new(gir: &'g Gir) -> NodeFacts<'g> {
        // Dead values of earlier passes are no users.
        let live = dead_code::live(gir);
        let mut users = vec![0; gir.nodes.len()];
        let inputs = gir.ids().filter(|id| live[id.index()]).flat_map(|id| &gir.node(id).inputs);
        for input in inputs.chain(&gir.roots()) {
            users[input.index()] += 1;
        }
        let mut learned = vec![false; gir.nodes.len()];
        for id in gir.ids() {
            let node = gir.node(id);
            let leaf =
                matches!(node.op, Op::Parameter(position) if gir.parameters[position].learned);
            learned[id.index()] = leaf
                || !matches!(node.op, Op::Detach)
                    && node.inputs.iter().any(|input| learned[input.index()]);
        }
        NodeFacts { gir, live, users, constant: loop_invariants::constant_in_a_run(gir), learned }
    }

    fn once(&self, id: NodeId) -> bool {
        self.users[id.index()] == 1
    }

    /// `Product(.. sum(.. Far(x)))`.
    fn sum_first(&self, id: NodeId) -> Option<Chain> {
        let node = self.gir.node(id);
        let Op::Product { transposed } = node.op else { return None };
        self.summed(node.inputs[0], node.inputs[1], transposed)
    }

    /// `.. sum(.. Far(x))`, before a product with the matrix.
    fn summed(&self, mut sum: NodeId, matrix: NodeId, transposed: bool) -> Option<Chain> {
        let outer = self.peel(&mut sum)?;
        let reduce = self.gir.node(sum);
        let Op::Reduce(Reduction::Sum, edges) = reduce.op else { return None };
        if !self.once(sum) {
            return None;
        }
        let mut view = reduce.inputs[0];
        let on_edges = self.peel(&mut view)?;
        let seen = self.gir.node(view);
        if !matches!(seen.op, Op::Far(_)) {
            return None;
        }
        let steps = [Vec::new(), on_edges, outer];
        Some(Chain {
            sum_was_first: true,
            edges,
            mask: reduce.inputs.get(1).copied(),
            x: seen.inputs[0],
            matrix,
            transposed,
            view: seen.op.clone(),
            steps,
        })
    }

    /// `sum(.. Far(.. Product(x)))`.
    fn product_first(&self, id: NodeId) -> Option<Chain> {
        let reduce = self.gir.node(id);
        let Op::Reduce(Reduction::Sum, edges) = reduce.op else { return None };
        let mut view = reduce.inputs[0];
        let on_edges = self.peel(&mut view)?;
        let seen = self.gir.node(view);
        let Op::Far(_) = seen.op else { return None };
        let mut product = seen.inputs[0];
        let rows = self.peel(&mut product)?;
        let node = self.gir.node(product);
        let Op::Product { transposed } = node.op else { return None };
        if !self.once(product) || node.place != Place::D {
            return None;
        }
        let steps = [rows, on_edges, Vec::new()];
        Some(Chain {
            sum_was_first: false,
            edges,
            mask: reduce.inputs.get(1).copied(),
            x: node.inputs[0],
            matrix: node.inputs[1],
            transposed,
            view: seen.op.clone(),
            steps,
        })
    }

    /// Strips numbers that a row is multiplied with and the like; `at` becomes the value beneath.
    /// Fails if a stripped value has another reader.
    fn peel(&self, at: &mut NodeId) -> Option<Vec<RowFactor>> {
        let number = |id: NodeId| self.gir.node(id).shape.is_empty();
        let zero = |id: NodeId| matches!(self.gir.node(id).op, Op::Constant(number) if number.real() == 0.0);
        let (mut steps, mut read_elsewhere) = (Vec::new(), false);
        loop {
            let node = self.gir.node(*at);
            let (step, inner) = match (&node.op, node.inputs.as_slice()) {
                (Op::Binary(Binary::Multiply), &[a, b]) if number(b) => (RowFactor::Times(b), a),
                (Op::Binary(Binary::Multiply), &[a, b]) if number(a) => (RowFactor::Times(a), b),
                (Op::Binary(Binary::Divide), &[a, b]) if number(b) => (RowFactor::Over(b), a),
                (Op::Unary(Unary::Negative), &[a]) => (RowFactor::Negative, a),
                (Op::Select, &[condition, yes, no]) if number(condition) && zero(no) => {
                    (RowFactor::Where(condition, true), yes)
                }
                (Op::Select, &[condition, yes, no]) if number(condition) && zero(yes) => {
                    (RowFactor::Where(condition, false), no)
                }
                _ => break,
            };
            read_elsewhere |= !self.once(*at);
            steps.push(step);
            *at = inner;
        }
        steps.reverse();
        if read_elsewhere && !steps.is_empty() { None } else { Some(steps) }
    }

    fn weigh(&self, chain: &Chain, at: NodeId, data: &Data) -> Choice {
        let (wide, narrow) = self.columns(chain.x, chain.matrix, chain.transposed);
        let free = self.is_free(chain, data);
        let bytes = Bytes {
            read: self.bytes_of(chain.x, data),
            wide: moved_bytes::rows(data, wide),
            narrow: moved_bytes::rows(data, narrow),
            wide_sum: moved_bytes::gather(data, chain.edges, wide + chain.columns_of_edges()),
            narrow_sum: moved_bytes::gather(data, chain.edges, narrow + chain.columns_of_edges()),
        };
        let wanted = self.learned[chain.x.index()];
        let (sum_first, product_first) = (
            bytes.sum_first(free, data.training, wanted),
            bytes.product_first(data.training, wanted),
        );
        let (before, after) = if chain.sum_was_first {
            (sum_first, product_first)
        } else {
            (product_first, sum_first)
        };
        let taken = after < before;
        let order =
            if chain.sum_was_first == taken { "product, then sum" } else { "sum, then product" };
        let aside = if free {
            "; what is summed before the product is the same in every epoch, so that sum is made \
             once"
        } else {
            ""
        };
        self.choice(at, before, after, data.training, |bytes| {
            format!("{order}: the product makes {narrow} columns of {wide}; {bytes}{aside}")
        })
    }

    /// Columns of the rows before a product, and of its result.
    fn columns(&self, x: NodeId, matrix: NodeId, transposed: bool) -> (u64, u64) {
        let matrix = &self.gir.node(matrix).shape;
        let (inner, outer) =
            if transposed { (matrix[1], matrix[0]) } else { (matrix[0], matrix[1]) };
        let wide = self.gir.node(x).columns();
        (wide, wide / inner.max(1) * outer)
    }

    /// Bytes of stored rows: sparse features by their nonzeros.
    fn bytes_of(&self, x: NodeId, data: &Data) -> u64 {
        let node = self.gir.node(x);
        match data.sparse_features {
            Some(nonzeros) if node.op == Op::Input(Input::Features) => {
                nonzeros.saturating_mul(4 + data.bytes_per_real)
            }
            _ => moved_bytes::rows(data, node.columns()),
        }
    }

    /// Whether a sum is the same in every epoch.
    fn is_free(&self, chain: &Chain, data: &Data) -> bool {
        data.training
            && self.constant[chain.x.index()]
            && chain.summed_beside().all(|id| self.constant[id.index()])
    }

    /// A choice by bytes, with the text that `reason` makes of both figures.
    fn choice(
        &self,
        at: NodeId,
        before: u64,
        after: u64,
        training: bool,
        reason: impl Fn(&str) -> String,
    ) -> Choice {
        let period = if training { "an epoch" } else { "a prediction" };
        let reason =
            reason(&format!("{} bytes {period} against {}", after.min(before), after.max(before)));
        let value = self.gir.node(at).shown(at);
        Choice {
            node: at,
            value,
            taken: after < before,
            reason,
            bytes_before: before,
            bytes_after: after,
        }
    }
}

/// The bytes of the parts of a chain.
struct Bytes {
    /// Rows before the product, as stored (sparse features by their nonzeros).
    read: u64,
    wide: u64,
    narrow: u64,
    wide_sum: u64,
    narrow_sum: u64,
}

impl Bytes {
    /// Sum, write its rows, read them for the product, write the product. Backward: the product's
    /// two gradients, and the sum along reversed edges if a gradient of the rows before it is
    /// needed.
    fn sum_first(&self, free: bool, training: bool, wanted: bool) -> u64 {
        let sum = if free { 0 } else { total(&[self.wide_sum, self.wide]) };
        let forward = total(&[sum, self.wide, self.narrow]);
        let by_matrix = total(&[self.narrow, self.wide]);
        let by_rows = total(&[self.narrow, self.wide, self.wide_sum, self.wide]);
        match (training, wanted) {
            (true, true) => total(&[forward, by_matrix, by_rows]),
            (true, false) => total(&[forward, by_matrix]),
            (false, _) => forward,
        }
    }

    /// Read rows for the product, write it, sum, write. Backward: the sum along reversed edges,
    /// then the product's gradient by its matrix (a gradient of the rows moves the same in both
    /// orders except for the sum, and is counted with the other).
    fn product_first(&self, training: bool, wanted: bool) -> u64 {
        let forward = total(&[self.read, self.narrow, self.narrow_sum, self.narrow]);
        let by_matrix = total(&[self.narrow_sum, self.narrow, self.narrow, self.read]);
        let by_rows = total(&[self.narrow, self.wide]);
        match (training, wanted) {
            (true, true) => total(&[forward, by_matrix, by_rows]),
            (true, false) => total(&[forward, by_matrix]),
            (false, _) => forward,
        }
    }
}

/// The sum of bytes, at most the largest number.
fn total(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |sum, &part| sum.saturating_add(part))
}

impl RowFactor {
    fn value(&self) -> Option<NodeId> {
        match *self {
            RowFactor::Times(value) | RowFactor::Over(value) | RowFactor::Where(value, _) => {
                Some(value)
            }
            RowFactor::Negative => None,
        }
    }

    fn apply(
        &self,
        builder: &mut Builder<'_>,
        site: &Site<'_>,
        on: NodeId,
    ) -> Result<NodeId, Misfit> {
        let new = |old: NodeId| site.made[old.index()].expect("a step stands before its chain");
        match *self {
            RowFactor::Times(value) => builder.multiply(on, new(value)),
            RowFactor::Over(value) => builder.divide(on, new(value)),
            RowFactor::Negative => builder.unary(Unary::Negative, on),
            RowFactor::Where(condition, holds) => {
                let zero = builder.real(0.0);
                let (yes, no) = if holds { (on, zero) } else { (zero, on) };
                builder.select(new(condition), yes, no)
            }
        }
    }
}

impl Chain {
    fn columns_of_edges(&self) -> u64 {
        self.steps[1].iter().filter(|step| step.value().is_some()).count() as u64
            + u64::from(self.mask.is_some())
    }

    /// The chain with its product before the sum, or after it.
    fn built(
        &self,
        builder: &mut Builder<'_>,
        site: &Site<'_>,
        sum_first: bool,
    ) -> Result<NodeId, Misfit> {
        let new = |old: NodeId| site.made[old.index()].expect("a part stands before its chain");
        let product = Op::Product { transposed: self.transposed };
        let mut value = new(self.x);
        if !sum_first {
            value = builder.make(product.clone(), &[value, new(self.matrix)])?;
        }
        value = self.summed(builder, site, value)?;
        if sum_first { builder.make(product, &[value, new(self.matrix)]) } else { Ok(value) }
    }

    /// The chain's sum of this value's rows.
    fn summed(
        &self,
        builder: &mut Builder<'_>,
        site: &Site<'_>,
        mut value: NodeId,
    ) -> Result<NodeId, Misfit> {
        let new = |old: NodeId| site.made[old.index()].expect("a part stands before its chain");
        for step in &self.steps[0] {
            value = step.apply(builder, site, value)?;
        }
        value = builder.make(self.view.clone(), &[value])?;
        for step in &self.steps[1] {
            value = step.apply(builder, site, value)?;
        }
        value = builder.reduce(Reduction::Sum, self.edges, value, self.mask.map(new))?;
        for step in &self.steps[2] {
            value = step.apply(builder, site, value)?;
        }
        Ok(value)
    }

    /// Values that are read per edge in addition to the rows.
    fn summed_beside(&self) -> impl Iterator<Item = NodeId> {
        self.steps[0].iter().chain(&self.steps[1]).filter_map(RowFactor::value).chain(self.mask)
    }
}
