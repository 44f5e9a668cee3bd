//! relu_mask_from_dropout: where a slope passes is told by the rows that a dropout left.
//!
//! reason    behind `dropout(relu(x))` the slope passes where the relu is positive, and the dropout
//!           takes out the same elements of it: the relu's rows would be kept from forward to
//!           backward for this choice alone, beside those of the dropout, which the next layer
//!           multiplies or sums
//! keeps     every value, but for the sign of a 0: what was taken out is 0 on both sides, what was
//!           kept is positive where the relu is
//! never     does so where something else reads the relu's rows: they would be kept all the same
use super::{Choice, rebuild::rebuild};
use crate::gir::{Binary, Data, Gir, Node, NodeId, Number, Op};

/// The program with such choices made by a dropout's rows.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| match left(&gir, site.node)
        .and_then(|kept| site.made[kept.index()])
    {
        Some(kept) => {
            let condition = builder.binary(Binary::Less, site.inputs[2], kept)?;
            builder.select(condition, site.inputs[1], site.inputs[2]).map(Some)
        }
        None => Ok(None),
    })
}

/// Of a choice between a slope that a dropout passes on and 0, by rows that are more than 0: what
/// the same dropout left of these rows.
fn left(gir: &Gir, choice: &Node) -> Option<NodeId> {
    let is_zero = |id: NodeId| matches!(gir.node(id).op, Op::Constant(Number::Real(0.0)));
    let (Op::Select, &[condition, slope, zero]) = (&choice.op, choice.inputs.as_slice()) else {
        return None;
    };
    let (tested, dropped) = (gir.node(condition), gir.node(slope));
    let (Op::Binary(Binary::Less), &[bound, rows], Op::Dropout { .. }) =
        (&tested.op, tested.inputs.as_slice(), &dropped.op)
    else {
        return None;
    };
    if !is_zero(zero) || !is_zero(bound) {
        return None;
    }
    let mut kept = None;
    for reader in gir.ids().filter(|id| gir.node(*id).inputs.contains(&rows)) {
        let node = gir.node(reader);
        match &node.op {
            Op::Binary(Binary::Less) => {}
            op if *op == dropped.op
                && (node.place, &node.shape) == (dropped.place, &dropped.shape) =>
            {
                kept = Some(reader)
            }
            _ => return None,
        }
    }
    kept.filter(|_| !gir.roots().contains(&rows))
}
