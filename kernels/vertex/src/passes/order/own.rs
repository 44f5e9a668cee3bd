//! own: a product of what is added up of a vertex's own row and of sums over its neighbours' same rows: `(a x_v + sum of x_u) W` is
//! `a (x W)_v + sum of (x W)_u`, so that everything behind the product has its width, and sparse features meet nothing but the product.
//!
//! promises  the value as a real number; that the product is done once
//! never     takes apart what another value reads
use super::{Chain, Facts, Step};
use crate::gir::{Binary, Builder, Data, Input, Misfit, NodeId, Op, Reduction};
use crate::passes::{Choice, bytes, rebuild::Site};

/// Terms of the left side of a product, all of one value's rows.
pub(super) struct Terms {
    x: NodeId,
    matrix: NodeId,
    transposed: bool,
    terms: Vec<Term>,
}

enum Term {
    /// The vertex's own row.
    Own(Vec<Step>),
    /// A sum over edges.
    Sum(Chain),
}

impl Facts<'_> {
    /// `Product(.. x + .. sum(.. Far(x)))`.
    pub(super) fn own_and_sums(&self, id: NodeId) -> Option<Terms> {
        let node = self.gir.node(id);
        let Op::Product { transposed } = node.op else { return None };
        let matrix = node.inputs[1];
        let mut waiting = vec![node.inputs[0]];
        let mut terms = Vec::new();
        while let Some(at) = waiting.pop() {
            match (&self.gir.node(at).op, self.gir.node(at).inputs.as_slice()) {
                (Op::Binary(Binary::Add), &[a, b]) if self.once(at) => waiting.extend([b, a]),
                _ => terms.push(at),
            }
        }
        if terms.len() < 2 {
            return None;
        }
        let term = |at: &NodeId| self.term(*at, matrix, transposed);
        let terms: Vec<(NodeId, Term)> = terms.iter().map(term).collect::<Option<_>>()?;
        let x = terms[0].0;
        let of_one = terms.iter().all(|(of, _)| *of == x);
        let both = [true, false].iter().all(|own| terms.iter().any(|(_, term)| matches!(term, Term::Own(_)) == *own));
        (of_one && both).then(|| Terms { x, matrix, transposed, terms: terms.into_iter().map(|(_, term)| term).collect() })
    }

    fn term(&self, at: NodeId, matrix: NodeId, transposed: bool) -> Option<(NodeId, Term)> {
        let mut inner = at;
        let outer = self.peel(&mut inner)?;
        let node = self.gir.node(inner);
        let Op::Reduce(Reduction::Sum, edges) = node.op else { return Some((inner, Term::Own(outer))) };
        if !self.once(inner) {
            return None;
        }
        let mut view = node.inputs[0];
        let on_edges = self.peel(&mut view)?;
        let seen = self.gir.node(view);
        let Op::Far(_) = seen.op else { return None };
        let (mask, view) = (node.inputs.get(1).copied(), seen.op.clone());
        let steps = [Vec::new(), on_edges, outer];
        Some((seen.inputs[0], Term::Sum(Chain { sum_was_first: true, edges, mask, x: seen.inputs[0], matrix, transposed, view, steps })))
    }

    pub(super) fn weigh_terms(&self, terms: &Terms, at: NodeId, data: &Data) -> Choice {
        let matrix = &self.gir.node(terms.matrix).shape;
        let (inner, outer) = if terms.transposed { (matrix[1], matrix[0]) } else { (matrix[0], matrix[1]) };
        let wide = self.gir.node(terms.x).columns();
        let narrow = wide / inner.max(1) * outer;
        let learned = |steps: &[Step]| steps.iter().filter_map(Step::value).any(|value| self.learned[value.index()]);
        let features = matches!(self.gir.node(terms.x).op, Op::Input(Input::Features));
        let rows = |columns: u64| bytes::rows(data, columns);
        let read = match data.sparse_features {
            Some(nonzeros) if features => nonzeros.saturating_mul(4 + data.bytes_per_real),
            _ => rows(wide),
        };
        let (mut before, mut after) = (rows(wide) + rows(wide) + rows(narrow), read + rows(narrow) + rows(narrow));
        let (mut numbers, mut back, mut back_narrow) = (false, rows(wide), 0);
        for term in &terms.terms {
            match term {
                Term::Own(steps) => {
                    before += read;
                    after += rows(narrow);
                    numbers |= learned(steps);
                    back += rows(wide);
                    back_narrow += rows(narrow);
                }
                Term::Sum(chain) => {
                    let columns = chain.columns_of_edges();
                    let sum = |width: u64| bytes::gather(data, chain.edges, width + columns);
                    let free = data.training && self.constant[terms.x.index()] && chain.summed_beside().all(|id| self.constant[id.index()]);
                    before += if free { rows(wide) } else { sum(wide) };
                    after += sum(narrow);
                    back += sum(wide);
                    back_narrow += sum(narrow);
                }
            }
        }
        if data.training {
            let wanted = self.learned[terms.x.index()];
            before += rows(narrow) + rows(wide);
            before += if wanted || numbers { rows(narrow) + rows(wide) } else { 0 };
            before += if numbers { rows(wide) + read } else { 0 };
            before += if wanted { back } else { 0 };
            after += rows(narrow) + back_narrow + rows(narrow) + read;
            after += if numbers { 2 * rows(narrow) } else { 0 };
            after += if wanted { rows(narrow) + rows(wide) } else { 0 };
        }
        let taken = after < before;
        let order = if taken { "product, then own row and sum" } else { "own row and sum, then product" };
        let period = if data.training { "an epoch" } else { "a prediction" };
        let reason = format!("{order}: the product makes {narrow} columns of {wide}; {} bytes {period} against {}", after.min(before), after.max(before));
        let value = self.gir.node(at).name.clone().unwrap_or_else(|| format!("%{}", at.0));
        Choice { node: at, value, taken, reason, bytes_before: before, bytes_after: after }
    }
}

impl Terms {
    /// The terms of the product's rows, added up.
    pub(super) fn built(&self, builder: &mut Builder<'_>, site: &Site<'_>) -> Result<NodeId, Misfit> {
        let new = |old: NodeId| site.made[old.index()].expect("a part stands before its product");
        let product = builder.make(Op::Product { transposed: self.transposed }, &[new(self.x), new(self.matrix)])?;
        let mut sum = None;
        for term in &self.terms {
            let made = match term {
                Term::Own(steps) => steps.iter().try_fold(product, |value, step| step.put(builder, site, value))?,
                Term::Sum(chain) => chain.summed(builder, site, product)?,
            };
            sum = Some(match sum {
                None => made,
                Some(sum) => builder.binary(Binary::Add, sum, made)?,
            });
        }
        Ok(sum.expect("there are two terms at least"))
    }
}
