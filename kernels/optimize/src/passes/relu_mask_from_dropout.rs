//! relu_mask_from_dropout: takes the mask of a relu's gradient from the rows after dropout.
//!
//! reason    behind `dropout(relu(x))` the gradient passes where the relu is positive, and the
//!           dropout drops the same elements of it: the relu's rows would be stored from forward to
//!           backward for this mask alone, in addition to those of the dropout, which the next
//!           layer multiplies or sums
//! keeps     every value, except for the sign of a 0: dropped elements are 0 on both sides, kept
//!           ones are positive where the relu is
//! never     does so if the relu's rows have another reader: they would be stored in any case
use super::{Choice, rebuild::rebuild};
use warploom_ir::{Binary, Data, Gir, Node, NodeId, Number, Op};

/// The program with such masks taken from a dropout's rows.
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

/// For a select between a gradient after dropout and 0, by the sign of rows: the same dropout's
/// result for these rows.
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
