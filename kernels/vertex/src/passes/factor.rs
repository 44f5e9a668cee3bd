//! factor: what belongs to the vertex that sums stands outside of its sum over edges.
//!
//! reason    `sum(e.w * a_v * b_u * z_u)` is `a_v * sum(e.w * (b_u * z_u))`: a factor (or divisor) of the vertex is applied once a
//!           row and not once an edge, GCN's normalised sum becomes an unweighted one (4 bytes less an edge), and the softmax's
//!           division is done once a vertex; the gradient then follows the better form
//! keeps     the sum as a real number; it is rounded in another order. Sums only: a maximum would turn with a negative factor
//! trap      over no edge a sum is 0, whatever its factors are; `0 * (1 / 0)` is NaN. A divisor that may be 0 at a vertex without edges is
//!           therefore 1 there, and a factor that may be infinite 0. Inputs and parameters are taken as finite, sums and products of
//!           finite values too, as by `autodiff`
//!
//! Where a factor of a vertex with edges is infinite or NaN (or a divisor 0), its row has no finite value before and after; NaN
//! and infinity may then change places. A sum that is 0 may have the other sign.
use super::{
    Choice,
    rebuild::rebuild,
    terms::{Sums, factors},
};
use crate::gir::{Data, Gir, Op, Reduction};

/// The program with its sums factored.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| {
        let Op::Reduce(Reduction::Sum, edges) = site.node.op else { return Ok(None) };
        let term = factors(builder, edges, site.inputs[0])?;
        if term.around.is_empty() && !term.negative {
            return Ok(None);
        }
        let sums = Sums { edges, mask: site.inputs.get(1).copied(), kind: site.node.kind };
        let value = sums.of(builder, &term, &mut Vec::new())?;
        builder.make_shaped(Op::Expand, &[value], &site.node.shape).map(Some)
    })
}
