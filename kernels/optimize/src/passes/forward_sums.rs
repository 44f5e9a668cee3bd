//! forward_sums: computes sums over edges that the backward pass needs in the forward pass, which
//! already reads the rows.
//!
//! reason    `sum over edges of f_e * dot(a_v, z_u)` is `dot(a_v, sum of f_e * z_u)`: if only `a_v`
//!           is a gradient, the remaining sum is known in the forward pass. The backward pass then
//!           reads a row per vertex instead of a row per edge: GAT's gradient of the destination's
//!           score needs no second pass over the edges
//! keeps     the sum as a real number; it is rounded in another order. Over no edge it is 0 (see
//!           hoist_row_factors)
//! weighs    the edge bytes of the backward sum against the rows of the new sums, written forward
//!           and read backward; a far row or edge value that no forward sum over these edges reads
//!           anyway adds its bytes per edge
//!
//! A value that is no sum of such products (a maximum, a function that is not linear in the
//! gradient) is unchanged.
use super::{
    Choice,
    distribute_over_sum::{EdgeSums, Term, terms},
    loop_invariants, moved_bytes,
    rebuild::{Site, rebuild},
};
use warploom_ir::{Builder, Data, EdgeSet, Gir, Misfit, NodeId, Op, Reduction};

/// The program with such sums computed in the forward pass.
pub(super) fn run(gir: Gir, data: &Data, choices: &mut Vec<Choice>) -> Gir {
    let after_loss = loop_invariants::depends_on_loss(&gir);
    let forward_reads = forward_reads(&gir, &after_loss);
    rebuild(&gir, data, None, &mut |builder, site| {
        let Op::Reduce(Reduction::Sum, edges) = site.node.op else { return Ok(None) };
        if !after_loss[site.id.index()]
            || site.node.inputs.get(1).is_some_and(|mask| after_loss[mask.index()])
        {
            return Ok(None);
        }
        let known = forward_flags(builder);
        let is_known = |id: NodeId| known.get(id.index()).copied().unwrap_or(true);
        let Some(terms) = terms(builder, edges, site.inputs[0], &is_known)? else {
            return Ok(None);
        };
        let read: Vec<NodeId> = forward_reads
            .iter()
            .filter(|(over, _)| *over == edges)
            .filter_map(|(_, leaf)| site.made[leaf.index()])
            .collect();
        let (value, choice) = taken_forward(builder, site, edges, &terms, &read)?;
        let taken = choice.taken;
        choices.push(choice);
        Ok(taken.then_some(value))
    })
}

/// Far rows and edge values that sums of the forward pass read, with the edges that they are summed
/// over. Old ids.
fn forward_reads(gir: &Gir, after_loss: &[bool]) -> Vec<(EdgeSet, NodeId)> {
    let mut reads = Vec::new();
    for id in gir.ids().filter(|id| !after_loss[id.index()]) {
        if let Op::Reduce(_, edges) = gir.node(id).op {
            reads.extend(
                moved_bytes::leaves(gir, edges, &gir.node(id).inputs)
                    .into_iter()
                    .map(|leaf| (edges, leaf)),
            );
        }
    }
    reads
}

/// For each node so far, whether it is independent of the gradient of the loss.
fn forward_flags(builder: &Builder<'_>) -> Vec<bool> {
    loop_invariants::depends_on_loss(&builder.gir).into_iter().map(|depends| !depends).collect()
}

/// The value computed from sums of the forward pass, and whether that moves fewer bytes.
fn taken_forward(
    builder: &mut Builder<'_>,
    site: &Site<'_>,
    edges: EdgeSet,
    terms: &[Term],
    read: &[NodeId],
) -> Result<(NodeId, Choice), Misfit> {
    let data = builder.data;
    let mask = site.inputs.get(1).copied();
    let sums = EdgeSums { edges, mask, kind: site.node.kind };
    let mut made = Vec::new();
    let mut value: Option<NodeId> = None;
    for term in terms {
        let term = sums.sum_term(builder, term, &mut made)?;
        value = Some(match value {
            Some(value) => builder.add(value, term)?,
            None => term,
        });
    }
    let value = value.unwrap_or(site.inputs[0]);
    let value = builder.make_shaped(Op::Expand, &[value], &site.node.shape)?;
    made.sort();
    made.dedup();
    let width = |ids: &[NodeId]| ids.iter().map(|id| builder.node(*id).columns()).sum::<u64>();
    let before = moved_bytes::gather(
        data,
        edges,
        moved_bytes::columns_per_edge(builder, edges, site.inputs),
    ) + moved_bytes::rows(data, site.node.columns());
    let over: Vec<NodeId> = made
        .iter()
        .filter(|sum| matches!(builder.node(**sum).op, Op::Reduce(..)))
        .copied()
        .collect();
    let inputs: Vec<NodeId> =
        over.iter().flat_map(|sum| builder.node(*sum).inputs.clone()).collect();
    let unread: Vec<NodeId> = moved_bytes::leaves(&builder.gir, edges, &inputs)
        .into_iter()
        .filter(|leaf| !read.contains(leaf))
        .collect();
    let again =
        if unread.is_empty() { 0 } else { moved_bytes::gather(data, edges, width(&unread)) };
    let after = again
        + 2 * moved_bytes::rows(data, width(&over))
        + moved_bytes::rows(data, site.node.columns());
    let taken = after < before;
    let columns = width(&over);
    let reason = if taken {
        format!(
            "{columns} columns a vertex are summed going forward: {after} bytes against {before} \
             of a backward sum over edges"
        )
    } else {
        format!(
            "the backward sum over edges stays: {before} bytes against {after} of {columns} \
             columns a vertex, summed going forward"
        )
    };
    let name = site.node.shown(site.id);
    Ok((
        value,
        Choice {
            node: site.id,
            value: name,
            taken,
            reason,
            bytes_before: before,
            bytes_after: after,
        },
    ))
}
