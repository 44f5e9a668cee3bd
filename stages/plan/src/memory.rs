//! memory: the peak memory of a run on a CPU, by use.
//!
//! promises  follows from counts, facts and the schema of the table of nodes, so that `check` can
//!           recompute it
//! never     reads a row; knows how many threads a run will have: each further one takes
//!           `bytes_per_thread` more
use std::collections::BTreeMap;

use arrow_schema::DataType;
use warploom_contract::{
    Inputs, Kind, StageError,
    kinds::{graph, permutation, plan::Memory},
    parquet_file::describe,
};
use warploom_launch::{BYTES_PER_THREAD, GraphFacts, LaunchList, MADE, Needs, Stored};

/// Memory of a launch list while it is read, resolved and reported, for each byte of its JSON;
/// fitted to deep programs.
const BYTES_OF_JSON: u64 = 24;
/// The name of that use in `bytes_by_use`.
const LIST: &str = "list of launches";
/// The use of groups of neighbours.
const GROUPS: &str = "groups of neighbours";
/// The use that holds the gaps between buffers at the peak.
const ROOM: &str = "room between values";

/// The memory that a run needs at its peak, by use; `groups` are the bytes of a division.
pub fn predict_on_cpu(
    list: &LaunchList,
    facts: &GraphFacts,
    stored: Stored,
    groups: u64,
) -> Memory {
    let predicted = list.memory(facts, stored, Needs::with_shortcuts(list));
    let by_supersteps = list.memory(facts, stored, Needs::from_list(list));
    let mut bytes_by_use: BTreeMap<String, u64> = BTreeMap::new();
    let mut take = |name: &str, bytes: u64| {
        let taken = bytes_by_use.entry(name.to_owned()).or_default();
        *taken = taken.saturating_add(bytes);
    };
    for (name, bytes) in &predicted.uses {
        if name != MADE {
            take(name, *bytes);
            continue;
        }
        let wanted = list.peak().map(|peak| peak.buffers).unwrap_or_default();
        take(ROOM, wanted.iter().fold(*bytes, |room, (_, bytes)| room.saturating_sub(*bytes)));
        wanted.into_iter().for_each(|(name, bytes)| take(name, bytes));
    }
    let of_list = list_bytes(list);
    take(LIST, of_list);
    if groups > 0 {
        take(GROUPS, groups);
    }
    let besides = of_list.saturating_add(groups);
    Memory {
        bytes_peak: predicted.bytes_peak.saturating_add(besides),
        bytes_mapped: predicted.bytes_mapped,
        bytes_peak_by_supersteps: Some(by_supersteps.bytes_peak)
            .filter(|bytes| *bytes != predicted.bytes_peak)
            .map_or(0, |bytes| bytes.saturating_add(besides)),
        bytes_per_thread: BYTES_PER_THREAD,
        bytes_by_use,
        smaller: Vec::new(),
    }
}

/// Bytes of the list itself, without its buffers: whole MiB, so that the number of digits in the
/// JSON does not count. `plan.json` holds no reasons.
fn list_bytes(list: &LaunchList) -> u64 {
    let json = serde_json::to_vec(&(&list.buffers, &list.body, &list.arena));
    json.map_or(0, |json| json.len() as u64).saturating_mul(BYTES_OF_JSON) >> 20 << 20
}

/// How the data set is stored. A permutation that does not say whether it renumbers is taken to.
pub fn describe_storage(inputs: &Inputs) -> Result<Stored, StageError> {
    let renumbered = inputs.get(Kind::Permutation)?.find_fact(permutation::RENUMBERED);
    let artifact = inputs.get(Kind::Graph)?;
    let (_, schema) = describe(&artifact.file(graph::NODES_FILE))?;
    let splits = artifact.find_count("splits").unwrap_or(0);
    let mut stored = Stored {
        renumbered: renumbered.is_none_or(|renumbered| renumbered != false),
        ..Stored::default()
    };
    for field in schema.fields() {
        let [decoded, held, kept] = node_column_bytes(field.name(), field.data_type(), splits);
        stored.node_bytes = stored.node_bytes.saturating_add(decoded).saturating_add(held);
        stored.node_bytes_kept = stored.node_bytes_kept.saturating_add(kept);
    }
    Ok(stored)
}

/// Bytes of a node in a column: decoded, in the vectors built from it, and kept by the run.
fn node_column_bytes(name: &str, kind: &DataType, splits: u64) -> [u64; 3] {
    // A `String`, with the overhead of the allocator.
    const TEXT: u64 = 56;
    let width = |kind: &DataType| kind.primitive_width().unwrap_or(1) as u64;
    match (name, kind) {
        ("id", DataType::UInt64) => [8, 8, 8],
        ("id", _) => [16, TEXT, TEXT],
        ("label", DataType::UInt32) => [4, 8, 0],
        ("split", _) => [splits.saturating_mul(5).saturating_add(4), splits.saturating_add(4), 4],
        ("kind" | "graph", kind) => [width(kind), width(kind), width(kind)],
        (_, DataType::FixedSizeList(item, columns)) => {
            let bytes = u64::from(columns.unsigned_abs()) * width(item.data_type());
            [bytes, if name == "label" { bytes } else { 0 }, 0]
        }
        (name, kind) => [width(kind), if name == "label" { width(kind) } else { 0 }, 0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_splits_out_of_a_manifest_does_not_overflow() {
        assert_eq!(node_column_bytes("split", &DataType::UInt8, 3), [19, 7, 4]);
        assert_eq!(node_column_bytes("split", &DataType::UInt8, u64::MAX), [u64::MAX, u64::MAX, 4]);
    }
}
