//! self_row_product: a product of a vertex's own row plus sums over its neighbours' same rows: `(a
//! x_v + sum of x_u) W` is `a (x W)_v + sum of (x W)_u`, so that everything after the product has
//! its width, and sparse features are only read by the product.
//!
//! promises  the value as a real number; a single product
//! never     rewrites a value that has another reader
use super::{Chain, NodeFacts, RowFactor};
use crate::passes::rebuild::Site;
use crate::passes::{Choice, moved_bytes};
use warploom_ir::{Binary, Builder, Data, Misfit, NodeId, Op, Reduction};

/// The terms of the left operand of a product, all rows of one value.
pub(super) struct Terms {
    x: NodeId,
    matrix: NodeId,
    transposed: bool,
    terms: Vec<RowTerm>,
}

enum RowTerm {
    /// The vertex's own row.
    Own(Vec<RowFactor>),
    /// A sum over edges.
    Sum(Chain),
}

impl NodeFacts<'_> {
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
        let terms: Vec<(NodeId, RowTerm)> = terms.iter().map(term).collect::<Option<_>>()?;
        let x = terms[0].0;
        let of_one = terms.iter().all(|(of, _)| *of == x);
        let both = [true, false]
            .iter()
            .all(|own| terms.iter().any(|(_, term)| matches!(term, RowTerm::Own(_)) == *own));
        (of_one && both).then(|| Terms {
            x,
            matrix,
            transposed,
            terms: terms.into_iter().map(|(_, term)| term).collect(),
        })
    }

    fn term(&self, at: NodeId, matrix: NodeId, transposed: bool) -> Option<(NodeId, RowTerm)> {
        let mut inner = at;
        let steps = self.peel(&mut inner)?;
        if !matches!(self.gir.node(inner).op, Op::Reduce(Reduction::Sum, _)) {
            return Some((inner, RowTerm::Own(steps)));
        }
        let chain = self.summed(at, matrix, transposed)?;
        Some((chain.x, RowTerm::Sum(chain)))
    }

    pub(super) fn weigh_terms(&self, terms: &Terms, at: NodeId, data: &Data) -> Choice {
        let (wide, narrow) = self.columns(terms.x, terms.matrix, terms.transposed);
        let learned = |steps: &[RowFactor]| {
            steps.iter().filter_map(RowFactor::value).any(|value| self.learned[value.index()])
        };
        let rows = |columns: u64| moved_bytes::rows(data, columns);
        let read = self.bytes_of(terms.x, data);
        let (mut before, mut after) =
            (rows(wide) + rows(wide) + rows(narrow), read + rows(narrow) + rows(narrow));
        let (mut numbers, mut back, mut back_narrow) = (false, rows(wide), 0);
        for term in &terms.terms {
            match term {
                RowTerm::Own(steps) => {
                    before += read;
                    after += rows(narrow);
                    numbers |= learned(steps);
                    back += rows(wide);
                    back_narrow += rows(narrow);
                }
                RowTerm::Sum(chain) => {
                    let columns = chain.columns_of_edges();
                    let sum = |width: u64| moved_bytes::gather(data, chain.edges, width + columns);
                    before += if self.is_free(chain, data) { rows(wide) } else { sum(wide) };
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
        let order = if after < before {
            "product, then own row and sum"
        } else {
            "own row and sum, then product"
        };
        self.choice(at, before, after, data.training, |bytes| {
            format!("{order}: the product makes {narrow} columns of {wide}; {bytes}")
        })
    }
}

impl Terms {
    /// The sum of the terms, as rows of the product.
    pub(super) fn built(
        &self,
        builder: &mut Builder<'_>,
        site: &Site<'_>,
    ) -> Result<NodeId, Misfit> {
        let new = |old: NodeId| site.made[old.index()].expect("a part stands before its product");
        let product = builder
            .make(Op::Product { transposed: self.transposed }, &[new(self.x), new(self.matrix)])?;
        let mut sum = None;
        for term in &self.terms {
            let made = match term {
                RowTerm::Own(steps) => steps
                    .iter()
                    .try_fold(product, |value, step| step.apply(builder, site, value))?,
                RowTerm::Sum(chain) => chain.summed(builder, site, product)?,
            };
            sum = Some(match sum {
                None => made,
                Some(sum) => builder.binary(Binary::Add, sum, made)?,
            });
        }
        Ok(sum.expect("there are two terms at least"))
    }
}
