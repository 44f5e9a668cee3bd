//! share_softmax_quotients: a value that is summed over all vertices and otherwise only divided is
//! summed as its quotient times the divisor.
//!
//! reason    an attention's gradient is divided by the softmax's totals, and edges read the
//!           quotient; the gradient itself would be stored in addition, and read again, for the
//!           gradient of the bias alone
//! keeps     the sums up to rounding: the divisor is neither 0 nor infinite
//! never     does so where the gradient is the result of a product of rows so short that its kernel
//!           sums them itself
use std::collections::BTreeSet;

use super::{
    Choice,
    rebuild::rebuild,
    value_ranges::{may_be_infinite, may_be_zero},
};
use warploom_ir::{Binary, Data, Gir, NodeId, Op};
use warploom_tuning as tuning;

/// The program with such sums of quotients.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    let mut readers = vec![Vec::new(); gir.nodes.len()];
    for id in gir.ids() {
        for input in &gir.node(id).inputs {
            readers[input.index()].push(id);
        }
    }
    let roots = gir.roots();
    let divisor = |sum: NodeId| {
        let added = gir.node(sum).inputs[0];
        let quotient = match readers[added.index()].as_slice() {
            [one, other] if *one == sum => *other,
            [one, other] if *other == sum => *one,
            _ => return None,
        };
        let (Op::Binary(Binary::Divide), &[divided, divisor]) =
            (&gir.node(quotient).op, gir.node(quotient).inputs.as_slice())
        else {
            return None;
        };
        let is_seen = readers[quotient.index()]
            .iter()
            .any(|reader| matches!(gir.node(*reader).op, Op::Far(_)));
        let is_narrow = gir.node(divisor).shape.iter().product::<u64>()
            < gir.node(added).shape.iter().product();
        (divided == added
            && is_seen
            && is_narrow
            && !roots.contains(&added)
            && is_of_long_rows(
                &gir,
                added,
                if data.lanes {
                    tuning::attended_inner_least()
                } else {
                    tuning::tensor_inner_least()
                },
            ))
        .then_some(divisor)
    };
    rebuild(&gir, data, None, &mut |builder, site| {
        if site.node.op != Op::SumRows {
            return Ok(None);
        }
        let Some(by) = divisor(site.id).and_then(|by| site.made[by.index()]) else {
            return Ok(None);
        };
        if may_be_zero(builder, by) || may_be_infinite(builder, by) {
            return Ok(None);
        }
        let quotient = builder.binary(Binary::Divide, site.inputs[0], by)?;
        let again = builder.multiply(quotient, by)?;
        builder.make(Op::SumRows, &[again]).map(Some)
    })
}

/// Whether rows are the result of a product of rows of this length, after element-wise operations.
fn is_of_long_rows(gir: &Gir, rows: NodeId, least: u64) -> bool {
    let (mut open, mut seen, mut is_found) = (vec![rows], BTreeSet::new(), false);
    while let Some(id) = open.pop() {
        let node = gir.node(id);
        if !seen.insert(id) {
            continue;
        }
        match node.op {
            Op::Product { .. }
                if gir.node(node.inputs[0]).shape.last().is_none_or(|inner| *inner < least) =>
            {
                return false;
            }
            Op::Product { .. } => is_found = true,
            Op::Unary(_)
            | Op::Binary(_)
            | Op::Select
            | Op::Dropout { .. }
            | Op::Reshape
            | Op::Expand => open.extend(&node.inputs),
            _ => {}
        }
    }
    is_found
}
