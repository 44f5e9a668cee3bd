//! host_reads: what kernels read over the bus, where given rows stay in the host's memory.
//!
//! promises  which rows may stay there, and bytes by launch: rows that kernels walk in order once
//!           for each kernel and each slice of what it makes, rows of far ends once for each edge;
//!           an epoch is a measurement and a step, as a run does them
//! never     measures; foresees what a cache keeps of rows that edges share, or what hubs are read
//!           again
use super::outer_products::paired_columns;
use super::{Argument, Blocks, Emitted, Kernel};
use crate::facts::GraphFacts;
use crate::gir::{Input, Op};
use crate::launch::{
    Body, Buffer, BufferName, Element, Launch, LaunchList, MergedLaunches, Operand, Operation, Role,
};

/// Bytes that are read over the bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// By each launch when it runs, in the order of `LaunchList::launches`.
    pub by_launch: Vec<u64>,
    /// Before the first epoch.
    pub once: u64,
    /// In an epoch; in a pass of what is computed once.
    pub step: u64,
    /// Launches that an epoch, or a pass, has for it.
    pub launches: u64,
    /// The part of `once` and `step` that edges gather.
    pub by_edges: u64,
}

/// Given rows that a run can do without in the device's memory: features of vertices, of kinds and
/// of edges, kept dense.
pub fn may_stay(list: &LaunchList) -> impl Iterator<Item = &Buffer> {
    let is_given = |role: &Role| {
        matches!(role, Role::Features | Role::Given(Input::FeaturesOf(_) | Input::EdgeFeatures))
    };
    list.buffers
        .iter()
        .filter(move |buffer| is_given(&buffer.role) && buffer.element == Element::Real)
}

/// What kernels read of these buffers.
pub fn traffic(
    list: &LaunchList,
    emitted: &Emitted,
    facts: &GraphFacts,
    on_host: &[BufferName],
) -> Traffic {
    let (launches, joined, times) = (list.launches(), MergedLaunches::from_list(list), times(list));
    let mut traffic = Traffic { by_launch: vec![0; launches.len()], ..Traffic::default() };
    for (number, launch) in launches.iter().enumerate() {
        // What another launch's kernel makes reads its rows there.
        let is_twin = joined.twins.contains_key(&number) && emitted.launches[number].is_empty();
        let makers =
            [&joined.followers, &joined.walked, &joined.firsts, &joined.twins, &joined.outers];
        let elsewhere = makers.iter().find_map(|makers| makers.get(&number));
        let at =
            elsewhere.filter(|_| emitted.launches[number].is_empty()).copied().unwrap_or(number);
        let widths = widths(&launches, &joined, at, emitted);
        let (mut in_order, mut by_edges) = (0u64, 0u64);
        // What two outer products have in common is read once.
        for name in on_host.iter().filter(|name| {
            !is_twin || !launches[at].operation.reads().iter().any(|read| read == *name)
        }) {
            let seen = list.buffer_reads(launch, name, facts);
            for kernel in emitted.launches[at]
                .iter()
                .filter(|kernel| kernel.arguments.contains(&Argument::Buffer(name.clone())))
            {
                in_order = in_order.saturating_add(
                    seen.in_order.saturating_mul(count_passes(launch, kernel, widths, name)),
                );
                by_edges = by_edges.saturating_add(seen.by_edges);
            }
        }
        let bytes = in_order.saturating_add(by_edges);
        traffic.by_launch[at] = traffic.by_launch[at].saturating_add(bytes);
        traffic.by_edges =
            traffic.by_edges.saturating_add(by_edges.saturating_mul(times[number].max(1)));
        match times[number] {
            0 => traffic.once = traffic.once.saturating_add(bytes),
            times => traffic.step = traffic.step.saturating_add(bytes.saturating_mul(times)),
        }
    }
    traffic.launches = traffic
        .by_launch
        .iter()
        .zip(times)
        .filter(|(bytes, _)| **bytes > 0)
        .map(|(_, times)| times)
        .sum();
    traffic
}

/// How often an epoch, or a pass, has each launch: 0 for what is only done before the first.
fn times(list: &LaunchList) -> Vec<u64> {
    let Body::Train(train) = &list.body else { return vec![1; list.launches().len()] };
    // Measured, and then done again with what is drawn.
    let passes = if train.draws { 2 } else { 1 };
    let parts = [
        (train.prepare.len(), 0),
        (train.forward.len() + 1, passes),
        (train.backward.len() + train.update.len(), 1),
    ];
    parts.into_iter().flat_map(|(count, times)| std::iter::repeat_n(times, count)).collect()
}

/// How often a kernel goes over rows of a buffer: once for each block that shares what is made of
/// them.
fn count_passes(launch: &Launch, kernel: &Kernel, widths: [u64; 2], name: &str) -> u64 {
    let is_product =
        |step: &Operation| matches!(step, Operation::Evaluate { op: Op::Product { .. }, .. });
    match (&launch.operation, &kernel.blocks) {
        (Operation::Evaluate { op: Op::Outer, inputs, .. }, Blocks::Parts { tiles, .. }) => {
            count_outer_passes(
                inputs,
                *tiles,
                kernel.shared_bytes > 0 && widths[1] > widths[0],
                name,
            )
        }
        (operation, Blocks::Rows { slices, .. }) if operation.steps().iter().any(is_product) => {
            u64::from(*slices)
        }
        (operation, Blocks::Parts { tiles: [slices, _], .. })
            if operation.steps().iter().any(is_product) =>
        {
            u64::from(*slices)
        }
        _ => 1,
    }
}

/// Columns of both sides of an outer product, with what its kernel makes beside it.
fn widths(
    launches: &[&Launch],
    joined: &MergedLaunches,
    number: usize,
    emitted: &Emitted,
) -> [u64; 2] {
    let operands = |number: usize| {
        if let Operation::Evaluate { op: Op::Outer, inputs, .. } = &launches[number].operation {
            inputs.as_slice()
        } else {
            &[]
        }
    };
    let twin = joined
        .twins
        .iter()
        .find(|(first, later)| **later == number && emitted.launches[**first].is_empty());
    let (own, theirs) = (operands(number), twin.map_or(&[][..], |(first, _)| operands(*first)));
    let columns = |operand: Option<&Operand>| {
        operand.and_then(|operand| operand.shape().last().copied()).unwrap_or(1)
    };
    let is_other =
        |side: &usize| theirs.get(*side).is_some_and(|other| own.get(*side) != Some(other));
    [0, 1].map(|side| {
        if is_other(&side) {
            paired_columns(columns(own.get(side)), columns(theirs.get(side)))
        } else {
            columns(own.get(side))
        }
    })
}

/// A side of an outer product is read by the blocks along the other. On tensor cores, which ask for
/// shared memory, blocks lie along the wider side first (one block has all of both where they are
/// turned round), else along the first.
fn count_outer_passes(inputs: &[Operand], tiles: [u32; 2], is_turned: bool, name: &str) -> u64 {
    let is_of = |operand: &Operand| operand.rows().iter().any(|rows| rows.buffer == name);
    let [first, second] = inputs else { return 1 };
    let [of_first, of_second] = if is_turned { [tiles[1], tiles[0]] } else { tiles };
    let of_side = |is_read: bool, across: u32| if is_read { u64::from(across) } else { 0 };
    (of_side(is_of(first), of_second) + of_side(is_of(second), of_first)).max(1)
}

#[cfg(test)]
mod tests;
