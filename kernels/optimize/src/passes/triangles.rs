//! triangles: counts common neighbours per vertex if they are only summed over the edges of each
//! vertex.
//!
//! reason    a count for every edge is written, read once and dropped; a triangle that is found
//!           belongs to three vertices at once
//! keeps     every number
//! never     touches a sum under a mask or over one relation, or counts that have another reader
use super::{Choice, rebuild::rebuild};
use warploom_ir::{Data, Direction, Gir, Op, Reduction};

/// The program with such sums counted per vertex.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    let mut users = vec![0; gir.nodes.len()];
    gir.ids().for_each(|id| gir.node(id).inputs.iter().for_each(|input| users[input.index()] += 1));
    rebuild(&gir, data, None, &mut |builder, site| match (&site.node.op, &site.node.inputs[..]) {
        (Op::Reduce(Reduction::Sum, edges), [summed])
            if edges.relation.is_none()
                && edges.direction != Direction::Both
                && users[summed.index()] == 1
                && gir.node(*summed).op == Op::CommonNeighbors =>
        {
            builder.make(Op::CommonNeighborsSum(*edges), &[]).map(Some)
        }
        _ => Ok(None),
    })
}
