//! hoist_row_factors: hoists factors of the summing vertex out of its sum over edges.
//!
//! reason    `sum(e.w * a_v * b_u * z_u)` is `a_v * sum(e.w * (b_u * z_u))`: a factor (or divisor)
//!           of either vertex is applied once per row and not once per edge, GCN's normalised sum
//!           becomes an unweighted one (4 bytes less per edge), and the softmax's division is done
//!           once per vertex; the gradient then follows the better form
//! keeps     the sum as a real number; it is rounded in another order. Sums only: a negative factor
//!           would turn a maximum into a minimum
//! trap      over no edge a sum is 0, whatever its factors are; `0 * (1 / 0)` is NaN. A divisor
//!           that may be 0 at a vertex without edges is therefore 1 there, and a factor that may be
//!           infinite is 0. Inputs and parameters are assumed finite, and sums and products of
//!           finite values too, as in `autodiff`
//!
//! Where a factor of a vertex with edges is infinite or NaN (or a divisor 0), its row is not finite
//! before and after; NaN and infinity may then be exchanged. The sign of a zero sum may change.
use super::{
    Choice,
    distribute_over_sum::{EdgeSums, Term, factors},
    rebuild::rebuild,
};
use warploom_ir::{Binary, Builder, Data, Gir, Misfit, NodeId, Op, Reduction};

/// The program with factors hoisted.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| {
        let Op::Reduce(Reduction::Sum, edges) = site.node.op else { return Ok(None) };
        let term = factors(builder, edges, site.inputs[0])?;
        let grouped = grouped(builder, term.rest)?;
        if term.around.is_empty() && !term.negative && grouped == term.rest {
            return Ok(None);
        }
        let term = Term { rest: grouped, ..term };
        let sums = EdgeSums { edges, mask: site.inputs.get(1).copied(), kind: site.node.kind };
        let value = sums.sum_term(builder, &term, &mut Vec::new())?;
        builder.make_shaped(Op::Expand, &[value], &site.node.shape).map(Some)
    })
}

/// The product of edge values with all factors of the far vertex combined into one row: each vertex
/// applies its factor once, where the row is computed. Input features are not copied for that.
fn grouped(builder: &mut Builder<'_>, rest: Option<NodeId>) -> Result<Option<NodeId>, Misfit> {
    let Some(rest) = rest else { return Ok(None) };
    let (mut waiting, mut far, mut others) = (vec![rest], Vec::new(), Vec::new());
    while let Some(id) = waiting.pop() {
        let node = builder.node(id);
        match node.op {
            Op::Binary(Binary::Multiply) => waiting.extend(&node.inputs),
            Op::Far(_) if far.first().is_none_or(|first| builder.node(*first).op == node.op) => {
                far.push(id)
            }
            _ => others.push(id),
        }
    }
    far.sort_by_key(|id| (builder.node(*id).columns(), *id));
    let is_given = |id: NodeId| matches!(builder.node(builder.node(id).inputs[0]).op, Op::Input(_));
    let Some(widest) = far.last().copied().filter(|widest| far.len() > 1 && !is_given(*widest))
    else {
        return Ok(Some(rest));
    };
    others.sort();
    let mut value = widest;
    for factor in far[..far.len() - 1].iter().chain(&others) {
        value = builder.multiply(*factor, value)?;
    }
    Ok(Some(value))
}
