//! masks: where a slope passes is told by the rows that a dropout left, which are wanted anyway.
//!
//! reason    behind `dropout(relu(x))` the slope passes where the relu is positive, and the dropout takes out the same elements of it: the relu's rows
//!           would be kept from forward to backward for this choice alone, beside those of the dropout, which the next layer multiplies or sums
//! keeps     every value, but for the sign of a 0: what was taken out is 0 on both sides, what was kept is positive where the relu is
use super::{Choice, finite::is_zero, rebuild::rebuild};
use crate::gir::{Binary, Builder, Data, Gir, NodeId, Op};

/// The program with such choices made by a dropout's rows.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| match (&site.node.op, site.inputs) {
        (Op::Select, &[condition, slope, zero]) if is_zero(builder, zero) => match left(builder, condition, slope) {
            Some(kept) => {
                let condition = builder.binary(Binary::Less, zero, kept)?;
                builder.select(condition, slope, zero).map(Some)
            }
            None => Ok(None),
        },
        _ => Ok(None),
    })
}

/// The rows that the slope's own dropout left of those that are tested for more than 0.
fn left(builder: &Builder<'_>, condition: NodeId, slope: NodeId) -> Option<NodeId> {
    let (tested, dropped) = (builder.node(condition), builder.node(slope));
    let (Op::Binary(Binary::Less), &[zero, rows]) = (&tested.op, tested.inputs.as_slice()) else { return None };
    let is_dropout = matches!(dropped.op, Op::Dropout { probability, .. } if probability < 1.0) && is_zero(builder, zero);
    let of_rows = |id: &NodeId| builder.node(*id).op == dropped.op && builder.node(*id).inputs == [rows];
    builder.gir.ids().filter(|_| is_dropout).find(of_rows)
}
