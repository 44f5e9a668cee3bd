//! common_subexpressions: computes values once that are equal up to the order of operands, or that
//! draw the same random numbers.
//!
//! reason    `Builder` shares nodes that are written alike; it does not know that a + b is b + a,
//!           nor that a dropout of the same site draws the same numbers (a gradient repeats its
//!           mask)
//! keeps     every value, bit for bit: sums and products of two IEEE numbers are commutative.
//!           Minimum and maximum of floats stay as written, since of 0 and -0 either may be the
//!           result, and a gradient goes to the first of ties
use std::collections::HashMap;

use super::{
    Choice,
    rebuild::{rebuild, remake},
};
use warploom_ir::{Binary, Data, Gir, NodeId, Op, Type};

/// The program with such values shared.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    let mut known: HashMap<(String, Vec<NodeId>, Option<usize>), NodeId> = HashMap::new();
    rebuild(&gir, data, None, &mut |builder, site| {
        let mut inputs = site.inputs.to_vec();
        match site.node.op {
            Op::Binary(operator) if commutes(operator, builder.node(inputs[0]).kind) => {
                inputs.sort()
            }
            Op::Dropout { .. } => {}
            _ => return Ok(None),
        }
        let key = (format!("{:?}", site.node.op), inputs, site.node.region);
        if let Some(shared) = known.get(&key) {
            return Ok(Some(*shared));
        }
        let made = remake(builder, site.node, site.inputs)?;
        known.insert(key, made);
        Ok(Some(made))
    })
}

/// Whether an operator is commutative, bit for bit.
fn commutes(operator: Binary, kind: Type) -> bool {
    match operator {
        Binary::Add
        | Binary::Multiply
        | Binary::Equal
        | Binary::NotEqual
        | Binary::And
        | Binary::Or => true,
        Binary::Minimum | Binary::Maximum => kind != Type::Real,
        _ => false,
    }
}
