//! host_reads: the bytes that kernels read over the bus if input rows stay in host memory.
//!
//! promises  names the buffers that may stay there, and counts bytes per launch: rows that kernels
//!           visit in order once per kernel and per slice of the result, rows of far ends once per
//!           edge; an epoch is an evaluation and a training pass, as in a run
//! never     measures; models a cache for rows that edges share, or the repeated reads of heavy
//!           rows
use super::outer_products::paired_columns;
use super::{Argument, Blocks, DevicePlan, Kernel};
use warploom_ir::{Input, Op};
use warploom_launch::{
    Body, Buffer, BufferName, Element, GraphFacts, Launch, LaunchList, MergedLaunches, Operand,
    Operation, Role,
};

/// Bytes that are read over the bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes of each execution of a launch, in the order of `LaunchList::launches`.
    pub by_launch: Vec<u64>,
    /// Bytes before the first epoch.
    pub once: u64,
    /// Bytes of an epoch, or of a pass without training.
    pub step: u64,
    /// Launches per epoch, or per pass, that read over the bus.
    pub launches: u64,
    /// The part of `once` and `step` that edges gather.
    pub by_edges: u64,
}

/// Input rows that may stay in host memory: dense features of vertices, of node types and of edges.
pub fn may_stay(list: &LaunchList) -> impl Iterator<Item = &Buffer> {
    let is_given = |role: &Role| {
        matches!(role, Role::Features | Role::Given(Input::FeaturesOf(_) | Input::EdgeFeatures))
    };
    list.buffers
        .iter()
        .filter(move |buffer| is_given(&buffer.role) && buffer.element == Element::Real)
}

/// The bytes that kernels read of these buffers.
pub fn traffic(
    list: &LaunchList,
    planned: &DevicePlan,
    facts: &GraphFacts,
    on_host: &[BufferName],
) -> Traffic {
    let (launches, joined, times) = (list.launches(), MergedLaunches::from_list(list), times(list));
    let mut traffic = Traffic { by_launch: vec![0; launches.len()], ..Traffic::default() };
    for (number, launch) in launches.iter().enumerate() {
        // A launch that is merged into another launch's kernel reads its rows there.
        let is_twin = joined.twins.contains_key(&number) && planned.launches[number].is_empty();
        let makers =
            [&joined.followers, &joined.walked, &joined.firsts, &joined.twins, &joined.outers];
        let elsewhere = makers.iter().find_map(|makers| makers.get(&number));
        let at =
            elsewhere.filter(|_| planned.launches[number].is_empty()).copied().unwrap_or(number);
        let widths = widths(&launches, &joined, at, planned);
        let (mut in_order, mut by_edges) = (0u64, 0u64);
        // The side that two outer products share is read once.
        for name in on_host.iter().filter(|name| {
            !is_twin || !launches[at].operation.reads().iter().any(|read| read == *name)
        }) {
            let seen = list.buffer_reads(launch, name, facts);
            for kernel in planned.launches[at]
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

/// How often an epoch, or a pass, executes each launch; 0 if only before the first epoch.
fn times(list: &LaunchList) -> Vec<u64> {
    let Body::Train(train) = &list.body else { return vec![1; list.launches().len()] };
    // An evaluation pass, and then a training pass with dropout.
    let passes = if train.draws { 2 } else { 1 };
    let parts = [
        (train.prepare.len(), 0),
        (train.forward.len() + 1, passes),
        (train.backward.len() + train.update.len(), 1),
    ];
    parts.into_iter().flat_map(|(count, times)| std::iter::repeat_n(times, count)).collect()
}

/// How often a kernel reads the rows of a buffer: once per block that shares a row of the result.
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

/// Columns of both sides of an outer product, including those of a second product in its kernel.
fn widths(
    launches: &[&Launch],
    joined: &MergedLaunches,
    number: usize,
    planned: &DevicePlan,
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
        .find(|(first, later)| **later == number && planned.launches[**first].is_empty());
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

/// A side of an outer product is read by the blocks along the other side. The kernels on tensor
/// cores, which use dynamic shared memory, put the blocks of the wider side first (with exchanged
/// sides one block has all of both); other kernels put those of the first side first.
fn count_outer_passes(inputs: &[Operand], tiles: [u32; 2], is_turned: bool, name: &str) -> u64 {
    let is_of = |operand: &Operand| operand.rows().iter().any(|rows| rows.buffer == name);
    let [first, second] = inputs else { return 1 };
    let [of_first, of_second] = if is_turned { [tiles[1], tiles[0]] } else { tiles };
    let of_side = |is_read: bool, across: u32| if is_read { u64::from(across) } else { 0 };
    (of_side(is_of(first), of_second) + of_side(is_of(second), of_first)).max(1)
}

#[cfg(test)]
mod tests;
