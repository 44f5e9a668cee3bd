//! fuse: fuses launches that walk the same vertices and edges, so that a row passes through all of
//! them while it is in registers or cache.
//!
//! promises  exactly the values of the input list: each step computes what its launch did; edge
//!           values that are only reduced, or only used by such, are never materialised but
//!           computed where they are read, and recomputed in the backward part; vertex values that
//!           a single fused launch reads are not materialised either; a walk reads no other
//!           vertex's value that it computes itself
//! never     changes what is computed; moves a launch before one that it depends on, or to another
//!           part of the list; knows a device
//!
//! This is the state machine of Seastar (Wu et al., EuroSys 2021): values of sources, edges and
//! destinations chain up to a reduction (S-E, E-E, E-A) and on over rows of destinations (A-D,
//! D-D). A value that returns to the edges of the same vertex begins another pass over them in the
//! same launch; one that goes to the edges of another vertex begins another launch. Independent
//! launches over the same edges are fused as well.
mod fusion_groups;
mod half_precision_rows;
mod inlined_edge_values;
mod keep_input_features;
mod product_into_sum;
mod rematerialize;

use std::collections::BTreeSet;

use crate::{Body, Buffer, GraphFacts, Launch, LaunchList, Operation, Reason, Role};

use fusion_groups::{Group, grouped};
use half_precision_rows::halve;
use inlined_edge_values::ListValues;

/// The list with fused launches.
pub fn fuse(list: &LaunchList, facts: &GraphFacts) -> LaunchList {
    let stands = keep_input_features::multiply_in_place(list, &ListValues::new(list, facts));
    let list = &stands;
    // Otherwise sums over all vertices are fused with the operations on their rows.
    let taken =
        facts.lanes.then(|| product_into_sum::taken_along(list, &ListValues::new(list, facts)));
    let list = taken.as_ref().unwrap_or(list);
    let values = ListValues::new(list, facts);
    let parts: Vec<Vec<Group>> = inlined_edge_values::parts(list)
        .iter()
        .enumerate()
        .map(|(part, launches)| grouped(&values, part, launches))
        .collect();
    let read_outside = |name: &str, by: (usize, usize)| {
        let groups = parts.iter().enumerate().flat_map(|(part, groups)| {
            groups.iter().enumerate().map(move |(number, group)| ((part, number), group))
        });
        groups.filter(|(place, _)| *place != by).any(|(_, group)| group.reads.contains(name))
    };
    let mut fused: Vec<Vec<Launch>> = Vec::new();
    for (part, groups) in parts.iter().enumerate() {
        let launch = |(number, group): (usize, &Group)| {
            group
                .launch(&values, &|name| values.is_kept(name) || read_outside(name, (part, number)))
        };
        fused.push(groups.iter().enumerate().map(launch).collect());
    }
    let mut made = list.clone();
    assign_parts(&mut made.body, fused);
    if facts.lanes {
        rematerialize::make_again(&mut made, &list.index());
    }
    let used: BTreeSet<String> =
        made.launches().iter().flat_map(|launch| names(&launch.operation)).collect();
    let is_needed = |buffer: &Buffer| {
        buffer.role != Role::Value || used.contains(&buffer.name) || values.is_kept(&buffer.name)
    };
    made.buffers.retain(is_needed);
    halve(&mut made, facts);
    made.set_frontiers();
    made.reckon(facts);
    made.weigh_loops();
    let bytes = |list: &LaunchList| {
        list.launches().iter().fold(0u64, |sum, launch| sum.saturating_add(launch.bytes))
    };
    let (apart, together) = (bytes(list), bytes(&made));
    made.reasons.push(Reason {
        what: "fusion".to_owned(),
        chosen: "launches over the same vertices and edges are one".to_owned(),
        why: format!(
            "{} launches instead of {}, {together} bytes instead of {apart}",
            made.launches().len(),
            list.launches().len()
        ),
        alternatives: [
            ("a launch for each value".to_owned(), apart),
            ("launches over the same vertices and edges are one".to_owned(), together),
        ]
        .into(),
    });
    made
}

fn names(operation: &Operation) -> Vec<String> {
    operation
        .reads()
        .into_iter()
        .chain(operation.writes())
        .map(std::borrow::Cow::into_owned)
        .collect()
}

/// Puts the launches of each part back, in the order of `values::parts`.
fn assign_parts(body: &mut Body, parts: Vec<Vec<Launch>>) {
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or_default();
    match body {
        Body::Train(train) => {
            (train.prepare, train.forward, train.backward) = (next(), next(), next())
        }
        Body::Iterate(iterate) => {
            for repeated in &mut iterate.loops {
                (repeated.prepare, repeated.superstep) = (next(), next());
            }
            iterate.finish = next();
        }
    }
}
